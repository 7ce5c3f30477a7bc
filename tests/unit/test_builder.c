/* The builder refuses what is wrong with the code, the operand and a fix, and only that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/build_check.h"

#define NONE VYRE_NONE

/* Interface */

static void argument_without_a_name(vyre_builder *b) {
    vyre_build_scalar(b, "", VYRE_TYPE_U32);
}

static void argument_with_null_for_a_name(vyre_builder *b) {
    build_buffer(b, NULL, VYRE_ACCESS_IN, VYRE_TYPE_U32);
}

static void argument_with_a_name_of_256_bytes(vyre_builder *b) {
    char name[257];
    memset(name, 'a', 256);
    name[256] = '\0';
    vyre_build_scalar(b, name, VYRE_TYPE_U32);
}

static void argument_with_a_name_of_255_bytes(vyre_builder *b) {
    char name[256];
    memset(name, 'a', 255);
    name[255] = '\0';
    vyre_build_scalar(b, name, VYRE_TYPE_U32);
    build_phase(b, 0);
    vyre_build_phase_end(b);
}

static void argument_with_a_space_in_its_name(vyre_builder *b) {
    vyre_build_scalar(b, "a b", VYRE_TYPE_U32);
    build_phase(b, 0);
    vyre_build_phase_end(b);
}

static void argument_declared_twice(vyre_builder *b) {
    vyre_build_scalar(b, "n", VYRE_TYPE_U32);
    build_buffer(b, "n", VYRE_ACCESS_IN, VYRE_TYPE_U32);
}

static void argument_number_257(vyre_builder *b) {
    for (uint32_t i = 0; i <= VYRE_LIMIT_ARGUMENTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "a%u", i);
        vyre_build_scalar(b, name, VYRE_TYPE_U32);
    }
}

static void argument_number_256(vyre_builder *b) {
    for (uint32_t i = 0; i < VYRE_LIMIT_ARGUMENTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "a%u", i);
        vyre_build_scalar(b, name, VYRE_TYPE_U32);
    }
    build_phase(b, 0);
    vyre_build_phase_end(b);
}

static void scalar_of_void(vyre_builder *b) {
    vyre_build_scalar(b, "n", VYRE_TYPE_VOID);
}

static void scalar_of_no_type(vyre_builder *b) {
    vyre_build_scalar(b, "n", VYRE_TYPE_COUNT);
}

static void buffer_of_bool(vyre_builder *b) {
    build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_BOOL);
}

static void buffer_of_void(vyre_builder *b) {
    build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_VOID);
}

static void out_buffer_without_a_size(vyre_builder *b) {
    vyre_build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32, NONE);
}

static void scratch_without_a_size(vyre_builder *b) {
    vyre_build_scratch(b, "x", VYRE_TYPE_U32, NONE);
}

static void scratch_of_bool(vyre_builder *b) {
    vyre_build_scratch(b, "x", VYRE_TYPE_BOOL, vyre_build_size_const(b, 1));
    build_phase(b, 0);
    vyre_build_phase_end(b);
}

static void resource_number_4097(vyre_builder *b) {
    for (uint32_t i = 0; i <= VYRE_LIMIT_RESOURCES; i++) {
        vyre_build_scratch(b, NULL, VYRE_TYPE_U8, vyre_build_size_const(b, 1));
    }
}

/* Sizes */

static void size_used_twice(vyre_builder *b) {
    uint32_t size = vyre_build_size_const(b, 4);
    vyre_build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32, size);
    vyre_build_buffer(b, "y", VYRE_ACCESS_OUT, VYRE_TYPE_U32, size);
}

static void size_used_as_both_operands(vyre_builder *b) {
    uint32_t size = vyre_build_size_const(b, 4);
    vyre_build_size_op(b, VYRE_SIZE_ADD, size, size);
}

static void size_from_nowhere(vyre_builder *b) {
    vyre_build_scratch(b, "x", VYRE_TYPE_U32, 17);
}

static void size_with_an_operator_that_is_none(vyre_builder *b) {
    vyre_build_size_op(b, VYRE_SIZE_LEN, vyre_build_size_const(b, 1), vyre_build_size_const(b, 1));
}

static void size_with_an_operator_beyond_the_last(vyre_builder *b) {
    vyre_build_size_op(b, VYRE_SIZE_COUNT, vyre_build_size_const(b, 1),
                       vyre_build_size_const(b, 1));
}

static void size_from_a_float_argument(vyre_builder *b) {
    vyre_build_size_param(b, vyre_build_scalar(b, "n", VYRE_TYPE_F32));
}

static void size_from_a_bool_argument(vyre_builder *b) {
    vyre_build_size_param(b, vyre_build_scalar(b, "n", VYRE_TYPE_BOOL));
}

static void size_from_a_buffer_as_an_argument(vyre_builder *b) {
    vyre_build_size_param(b, build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32));
}

static void size_from_no_argument(vyre_builder *b) {
    vyre_build_size_param(b, NONE);
}

static void size_from_the_length_of_scratch(vyre_builder *b) {
    vyre_build_size_len(b, vyre_build_scratch(b, "s", VYRE_TYPE_U32, vyre_build_size_const(b, 1)));
}

static void size_nested_257_deep(vyre_builder *b) {
    uint32_t size = vyre_build_size_const(b, 1);
    for (uint32_t i = 0; i < VYRE_LIMIT_EXPRESSION_NESTING; i++) {
        size = vyre_build_size_op(b, VYRE_SIZE_ADD, size, vyre_build_size_const(b, 1));
    }
}

static void size_nested_256_deep(vyre_builder *b) {
    uint32_t size = vyre_build_size_const(b, 1);
    for (uint32_t i = 1; i < VYRE_LIMIT_EXPRESSION_NESTING; i++) {
        size = vyre_build_size_op(b, VYRE_SIZE_ADD, vyre_build_size_const(b, 1), size);
    }
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {size}});
    vyre_build_phase_end(b);
}

static void size_terms_65537(vyre_builder *b) {
    for (uint32_t i = 0; i <= VYRE_LIMIT_SIZE_NODES; i++) {
        vyre_build_size_const(b, i);
    }
}

/* Steps */

static void no_phase_at_all(vyre_builder *b) {
    (void)b;
}

static void phase_left_open(vyre_builder *b) {
    build_phase(b, 0);
}

static void phase_inside_a_phase(vyre_builder *b) {
    build_phase(b, 0);
    build_phase(b, 0);
    vyre_build_phase_end(b);
}

static void phase_that_never_started_ends(vyre_builder *b) {
    vyre_build_phase_end(b);
}

static void phase_of_four_dimensions(vyre_builder *b) {
    vyre_build_phase(b,
                     &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 1)}, .dimensions = 4});
    vyre_build_phase_end(b);
}

static void phase_from_memory_in_two_dimensions(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32);
    vyre_build_phase(
        b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 1), vyre_build_size_const(b, 1)},
                              .dimensions = 2,
                              .from_memory = true,
                              .from_resource = x,
                              .from_index = vyre_build_size_const(b, 0)});
    vyre_build_phase_end(b);
}

static void phase_from_floats_in_memory(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_F32);
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 1)},
                                           .from_memory = true,
                                           .from_resource = x,
                                           .from_index = vyre_build_size_const(b, 0)});
    vyre_build_phase_end(b);
}

static void phase_from_no_memory(vyre_builder *b) {
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 1)},
                                           .from_memory = true,
                                           .from_resource = 5,
                                           .from_index = vyre_build_size_const(b, 0)});
    vyre_build_phase_end(b);
}

static void phase_from_memory_without_an_index(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32);
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 1)},
                                           .from_memory = true,
                                           .from_resource = x,
                                           .from_index = NONE});
    vyre_build_phase_end(b);
}

static void phase_without_a_domain(vyre_builder *b) {
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {NONE}});
    vyre_build_phase_end(b);
}

static void workgroup_of_1025(vyre_builder *b) {
    build_phase(b, 1025);
    vyre_build_phase_end(b);
}

static void workgroup_of_33_times_32(vyre_builder *b) {
    vyre_build_phase(
        b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 1), vyre_build_size_const(b, 1)},
                              .dimensions = 2,
                              .workgroup = {33, 32}});
    vyre_build_phase_end(b);
}

static void workgroup_beyond_its_domain(vyre_builder *b) {
    vyre_build_phase(
        b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 1)}, .workgroup = {8, 8}});
    vyre_build_phase_end(b);
}

static void workgroup_without_a_first_dimension(vyre_builder *b) {
    vyre_build_phase(
        b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 1), vyre_build_size_const(b, 1)},
                              .dimensions = 2,
                              .workgroup = {0, 8}});
    vyre_build_phase_end(b);
}

static void workgroup_of_1024(vyre_builder *b) {
    build_phase(b, 1024);
    vyre_build_phase_end(b);
}

static void subgroup_without_a_workgroup(vyre_builder *b) {
    vyre_build_phase(b,
                     &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 1)}, .subgroup = 32});
    vyre_build_phase_end(b);
}

static void subgroup_of_12(vyre_builder *b) {
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 1)},
                                           .workgroup = {48},
                                           .subgroup = 12});
    vyre_build_phase_end(b);
}

static void subgroup_that_does_not_divide_its_workgroup(vyre_builder *b) {
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 1)},
                                           .workgroup = {40},
                                           .subgroup = 16});
    vyre_build_position(b, VYRE_OP_LANE, 0);
    vyre_build_phase_end(b);
}

/* 32 by default, and 40 is no multiple of it. */
static void subgroup_of_the_default_width_that_does_not_divide(vyre_builder *b) {
    build_phase(b, 40);
    vyre_build_position(b, VYRE_OP_LANE, 0);
    vyre_build_phase_end(b);
}

static void repeat_left_open(vyre_builder *b) {
    vyre_build_repeat(b, NULL, vyre_build_size_const(b, 2));
    build_phase(b, 0);
    vyre_build_phase_end(b);
}

static void repeat_of_nothing(vyre_builder *b) {
    vyre_build_repeat(b, NULL, vyre_build_size_const(b, 2));
    vyre_build_repeat_end(b);
    build_phase(b, 0);
    vyre_build_phase_end(b);
}

static void repeat_inside_a_phase(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_repeat(b, NULL, vyre_build_size_const(b, 2));
    vyre_build_phase_end(b);
}

static void repeat_that_never_started_ends(vyre_builder *b) {
    vyre_build_repeat_end(b);
    build_phase(b, 0);
    vyre_build_phase_end(b);
}

static void repeat_ends_before_its_phase(vyre_builder *b) {
    vyre_build_repeat(b, NULL, vyre_build_size_const(b, 2));
    build_phase(b, 0);
    vyre_build_repeat_end(b);
    vyre_build_phase_end(b);
    vyre_build_repeat_end(b);
}

static void repeat_without_a_count(vyre_builder *b) {
    vyre_build_repeat(b, NULL, NONE);
    build_phase(b, 0);
    vyre_build_phase_end(b);
    vyre_build_repeat_end(b);
}

static void repeat_while_an_element_of_floats(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_INOUT, VYRE_TYPE_F32);
    vyre_build_repeat_while(b, NULL, x, vyre_build_size_const(b, 0));
    build_phase(b, 0);
    vyre_build_phase_end(b);
    vyre_build_repeat_end(b);
}

static void repeat_while_an_element_of_nothing(vyre_builder *b) {
    vyre_build_repeat_while(b, NULL, 3, vyre_build_size_const(b, 0));
    build_phase(b, 0);
    vyre_build_phase_end(b);
    vyre_build_repeat_end(b);
}

static void repeats_nested(vyre_builder *b, uint32_t depth) {
    for (uint32_t i = 0; i < depth; i++) {
        vyre_build_repeat(b, NULL, vyre_build_size_const(b, 2));
    }
    build_phase(b, 0);
    vyre_build_phase_end(b);
    for (uint32_t i = 0; i < depth && i < VYRE_LIMIT_REPEATS; i++) {
        vyre_build_repeat_end(b);
    }
}

static void repeats_nested_8_deep(vyre_builder *b) {
    repeats_nested(b, 8);
}

static void repeats_nested_9_deep(vyre_builder *b) {
    repeats_nested(b, 9);
}

static void steps_8193(vyre_builder *b) {
    for (uint32_t i = 0; i < VYRE_LIMIT_PHASES; i++) {
        vyre_build_repeat(b, NULL, vyre_build_size_const(b, 2));
        build_phase(b, 0);
        vyre_build_phase_end(b);
        vyre_build_repeat_end(b);
    }
    build_phase(b, 0);
}

static void phases_4097(vyre_builder *b) {
    for (uint32_t i = 0; i <= VYRE_LIMIT_PHASES; i++) {
        build_phase(b, 0);
        vyre_build_phase_end(b);
    }
}

static void phases_4096(vyre_builder *b) {
    for (uint32_t i = 0; i < VYRE_LIMIT_PHASES; i++) {
        build_phase(b, 0);
        vyre_build_phase_end(b);
    }
}

/* Arrays of a phase */

static void shared_array_outside_of_a_phase(vyre_builder *b) {
    vyre_build_shared(b, "s", VYRE_TYPE_U32, 4);
}

static void private_array_outside_of_a_phase(vyre_builder *b) {
    vyre_build_private(b, "p", VYRE_TYPE_U32, 4);
}

static void shared_array_without_a_workgroup(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_shared(b, "s", VYRE_TYPE_U32, 4);
    vyre_build_phase_end(b);
}

static void shared_array_of_no_elements(vyre_builder *b) {
    build_phase(b, 64);
    vyre_build_shared(b, "s", VYRE_TYPE_U32, 0);
    vyre_build_phase_end(b);
}

static void private_array_of_no_elements(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_private(b, "p", VYRE_TYPE_U32, 0);
    vyre_build_phase_end(b);
}

static void private_array_of_void(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_private(b, "p", VYRE_TYPE_VOID, 4);
    vyre_build_phase_end(b);
}

static void shared_array_too_large(vyre_builder *b) {
    build_phase(b, 64);
    vyre_build_shared(b, "s", VYRE_TYPE_U8, VYRE_LIMIT_SHARED_BYTES + 1);
    vyre_build_phase_end(b);
}

static void shared_array_too_large_for_32_bits(vyre_builder *b) {
    build_phase(b, 64);
    vyre_build_shared(b, "s", VYRE_TYPE_F64, 0x20000001);
    vyre_build_phase_end(b);
}

static void shared_array_as_large_as_can_be(vyre_builder *b) {
    build_phase(b, 64);
    vyre_build_shared(b, "s", VYRE_TYPE_U64, VYRE_LIMIT_SHARED_BYTES / 8);
    vyre_build_phase_end(b);
}

static void shared_arrays_too_large_together(vyre_builder *b) {
    build_phase(b, 64);
    vyre_build_shared(b, "s", VYRE_TYPE_U64, VYRE_LIMIT_SHARED_BYTES / 8);
    vyre_build_shared(b, "t", VYRE_TYPE_U8, 1);
    vyre_build_phase_end(b);
}

static void shared_arrays_65(vyre_builder *b) {
    build_phase(b, 64);
    for (uint32_t i = 0; i <= VYRE_LIMIT_SHARED_ARRAYS; i++) {
        vyre_build_shared(b, NULL, VYRE_TYPE_U8, 1);
    }
    vyre_build_phase_end(b);
}

static void private_arrays_too_large_together(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_private(b, "p", VYRE_TYPE_F64, VYRE_LIMIT_PRIVATE_BYTES / 8);
    vyre_build_private(b, "q", VYRE_TYPE_BOOL, 1);
    vyre_build_phase_end(b);
}

static void array_of_another_phase(vyre_builder *b) {
    build_phase(b, 64);
    uint32_t s = vyre_build_shared(b, "s", VYRE_TYPE_U32, 4);
    vyre_build_phase_end(b);
    build_phase(b, 64);
    vyre_build_load(b, s, vyre_build_u32(b, 0));
    vyre_build_phase_end(b);
}

static void arrays_of_two_phases_as_large_as_can_be(vyre_builder *b) {
    for (int i = 0; i < 2; i++) {
        build_phase(b, 64);
        vyre_build_shared(b, "s", VYRE_TYPE_U64, VYRE_LIMIT_SHARED_BYTES / 8);
        vyre_build_private(b, "p", VYRE_TYPE_U64, VYRE_LIMIT_PRIVATE_BYTES / 8);
        vyre_build_phase_end(b);
    }
}

static void buffer_with_an_access_that_is_none(vyre_builder *b) {
    vyre_build_buffer(b, "x", (vyre_access)3, VYRE_TYPE_U32, NONE);
    build_phase(b, 0);
    vyre_build_phase_end(b);
}

/* As a byte it would be VYRE_ACCESS_IN. */
static void buffer_with_an_access_beyond_a_byte(vyre_builder *b) {
    vyre_build_buffer(b, "x", (vyre_access)256, VYRE_TYPE_U32, NONE);
    build_phase(b, 0);
    vyre_build_phase_end(b);
}

static void scalar_without_name_and_type(vyre_builder *b) {
    vyre_build_scalar(b, "n", VYRE_TYPE_U32);
    vyre_build_scalar(b, NULL, VYRE_TYPE_VOID);
}

static void out_buffer_without_name_and_size(vyre_builder *b) {
    vyre_build_buffer(b, NULL, VYRE_ACCESS_OUT, VYRE_TYPE_U32, NONE);
}

static void scratch_without_name_and_size(vyre_builder *b) {
    vyre_build_scratch(b, "", VYRE_TYPE_U32, NONE);
}

static const build_case declaration_cases[] = {
    BUILD_CASE(buffer_with_an_access_that_is_none, 402, "buffer `x` has the access 3"),
    BUILD_CASE(buffer_with_an_access_beyond_a_byte, 402, "buffer `x` has the access 256"),
    BUILD_CASE(scalar_without_name_and_type, 306, "argument `argument 1` has no type"),
    BUILD_CASE(out_buffer_without_name_and_size, 604,
               "out buffer `array 0` has no declared length"),
    BUILD_CASE(scratch_without_name_and_size, 309, "`array 0` has no size"),
    BUILD_CASE(argument_without_a_name, 204, "no name"),
    BUILD_CASE(argument_with_null_for_a_name, 204, "no name"),
    BUILD_CASE(argument_with_a_name_of_256_bytes, 204, "too long a name"),
    BUILD_CASE(argument_with_a_name_of_255_bytes, 0, ""),
    BUILD_CASE(argument_with_a_space_in_its_name, 204,
               "has a character that is not allowed in names"),
    BUILD_CASE(argument_declared_twice, 202, "argument `n` is declared twice"),
    BUILD_CASE(argument_number_257, 701, "more than 256 arguments"),
    BUILD_CASE(argument_number_256, 0, ""),
    BUILD_CASE(scalar_of_void, 306, "argument `n` has no type"),
    BUILD_CASE(scalar_of_no_type, 306, "argument `n` has no type"),
    BUILD_CASE(buffer_of_bool, 306, "buffer `x` has elements of bool"),
    BUILD_CASE(buffer_of_void, 306, "array `x` has no element type"),
    BUILD_CASE(out_buffer_without_a_size, 604, "out buffer `x` has no declared length"),
    BUILD_CASE(scratch_without_a_size, 309, "`x` has no size"),
    BUILD_CASE(scratch_of_bool, 0, ""),
    BUILD_CASE(resource_number_4097, 701, "more than 4096 arrays"),
    BUILD_CASE(size_used_twice, 604, "the size of `y` is already used elsewhere"),
    BUILD_CASE(size_used_as_both_operands, 604, "already used elsewhere"),
    BUILD_CASE(size_from_nowhere, 604, "the size of `x` is from another builder"),
    BUILD_CASE(size_with_an_operator_that_is_none, 604, "1 is not a size operation"),
    BUILD_CASE(size_with_an_operator_beyond_the_last, 604, "12 is not a size operation"),
    BUILD_CASE(size_from_a_float_argument, 604, "only integer arguments"),
    BUILD_CASE(size_from_a_bool_argument, 604, "only integer arguments"),
    BUILD_CASE(size_from_a_buffer_as_an_argument, 604, "only integer arguments"),
    BUILD_CASE(size_from_no_argument, 309, "has no argument"),
    BUILD_CASE(size_from_the_length_of_scratch, 604, "only lengths of the program's buffers"),
    BUILD_CASE(size_nested_257_deep, 701, "size expressions are too large"),
    BUILD_CASE(size_nested_256_deep, 0, ""),
    BUILD_CASE(size_terms_65537, 701, "size expressions are too large"),
};

/* Nothing in its body is blamed for what nobody knows. */
static void phase_without_a_description(vyre_builder *b) {
    vyre_build_phase(b, NULL);
    vyre_build_position(b, VYRE_OP_GID, 2);
    vyre_build_shared(b, "s", VYRE_TYPE_U32, 4);
    vyre_build_barrier(b, VYRE_OP_BARRIER);
    vyre_build_phase_end(b);
}

static void private_array_without_name_and_elements(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_private(b, "p", VYRE_TYPE_U32, 4);
    vyre_build_private(b, NULL, VYRE_TYPE_U32, 0);
    vyre_build_phase_end(b);
}

static void private_array_without_name_and_type(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_private(b, NULL, VYRE_TYPE_VOID, 4);
    vyre_build_phase_end(b);
}

static const build_case step_cases[] = {
    BUILD_CASE(phase_without_a_description, 601, "the description of a phase is NULL"),
    BUILD_CASE(private_array_without_name_and_elements, 604,
               "private array `array 1` has no elements"),
    BUILD_CASE(private_array_without_name_and_type, 306, "array `array 0` has no element type"),
    BUILD_CASE(no_phase_at_all, 606, "program `test` has no phase"),
    BUILD_CASE(phase_left_open, 507, "a phase is still open"),
    BUILD_CASE(phase_inside_a_phase, 507, "a phase starts inside a phase"),
    BUILD_CASE(phase_that_never_started_ends, 507, "a phase is closed that was never opened"),
    BUILD_CASE(phase_of_four_dimensions, 601, "a domain cannot have 4 dimensions"),
    BUILD_CASE(phase_from_memory_in_two_dimensions, 0, ""),
    BUILD_CASE(phase_from_floats_in_memory, 601,
               "the domain comes from `x`, whose elements are f32"),
    BUILD_CASE(phase_from_no_memory, 309, "the array of `over` does not exist here"),
    BUILD_CASE(phase_from_memory_without_an_index, 309, "`over` has no size"),
    BUILD_CASE(phase_without_a_domain, 309, "`over` has no size"),
    BUILD_CASE(workgroup_of_1025, 602, "a workgroup of 1025 x 1 x 1 is too large"),
    BUILD_CASE(workgroup_of_33_times_32, 602, "a workgroup of 33 x 32 x 1 is too large"),
    BUILD_CASE(workgroup_beyond_its_domain, 602, "a workgroup of 8 x 8 x 1 is not valid here"),
    BUILD_CASE(workgroup_without_a_first_dimension, 602, "needs a workgroup clause"),
    BUILD_CASE(workgroup_of_1024, 0, ""),
    BUILD_CASE(subgroup_without_a_workgroup, 602, "needs a workgroup clause"),
    BUILD_CASE(subgroup_of_12, 602, "a subgroup of 12"),
    BUILD_CASE(subgroup_that_does_not_divide_its_workgroup, 602,
               "40 invocations in subgroups of 16"),
    BUILD_CASE(subgroup_of_the_default_width_that_does_not_divide, 602,
               "40 invocations in subgroups of 32"),
    BUILD_CASE(repeat_left_open, 507, "a repeat is still open"),
    BUILD_CASE(repeat_of_nothing, 605, "a repeat contains no phase"),
    BUILD_CASE(repeat_inside_a_phase, 507, "a repeat starts inside a phase"),
    BUILD_CASE(repeat_that_never_started_ends, 507, "a repeat is closed that never started"),
    BUILD_CASE(repeat_ends_before_its_phase, 507, "a repeat is closed that has an open phase"),
    BUILD_CASE(repeat_without_a_count, 309, "`repeat` has no size"),
    BUILD_CASE(repeat_while_an_element_of_floats, 605, "depends on `x`, whose elements are f32"),
    BUILD_CASE(repeat_while_an_element_of_nothing, 309,
               "the array of `repeat` does not exist here"),
    BUILD_CASE(repeats_nested_8_deep, 0, ""),
    BUILD_CASE(repeats_nested_9_deep, 701, "more than 8 repeats are nested"),
    BUILD_CASE(steps_8193, 701, "more than 8192 phases and repeats"),
    BUILD_CASE(phases_4097, 701, "4097 phases"),
    BUILD_CASE(phases_4096, 0, ""),
    BUILD_CASE(shared_array_outside_of_a_phase, 108,
               "shared array `s` is declared outside a phase"),
    BUILD_CASE(private_array_outside_of_a_phase, 108,
               "private array `p` is declared outside a phase"),
    BUILD_CASE(shared_array_without_a_workgroup, 603, "shared array `s` needs a workgroup"),
    BUILD_CASE(shared_array_of_no_elements, 604, "shared array `s` has no elements"),
    BUILD_CASE(private_array_of_no_elements, 604, "private array `p` has no elements"),
    BUILD_CASE(private_array_of_void, 306, "array `p` has no element type"),
    BUILD_CASE(shared_array_too_large, 701, "shared array `s` takes 262145 bytes"),
    BUILD_CASE(shared_array_too_large_for_32_bits, 701, "shared array `s` takes 4294967304 bytes"),
    BUILD_CASE(shared_array_as_large_as_can_be, 0, ""),
    BUILD_CASE(shared_arrays_too_large_together, 701, "2 shared arrays of 262145 bytes"),
    BUILD_CASE(shared_arrays_65, 701, "65 shared arrays"),
    BUILD_CASE(private_arrays_too_large_together, 701, "65537 bytes of private arrays"),
    BUILD_CASE(array_of_another_phase, 309, "the array of `load` does not exist here"),
    BUILD_CASE(arrays_of_two_phases_as_large_as_can_be, 0, ""),
};

#define CHECK(cases) build_cases_check(cases, sizeof(cases) / sizeof *(cases))

static void builder_checks_declarations(void **state) {
    (void)state;
    CHECK(declaration_cases);
}

static void builder_checks_steps(void **state) {
    (void)state;
    CHECK(step_cases);
}

static void builder_is_spent_after_finish(void **state) {
    (void)state;
    vyre_builder *b;
    vyre_program *program, *again = (vyre_program *)(void *)&b;
    assert_null(vyre_builder_create("twice", &b));
    build_phase(b, 0);
    vyre_build_phase_end(b);
    assert_null(vyre_builder_finish(b, NULL, &program));
    vyre_status status = vyre_builder_finish(b, NULL, &again);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
    assert_null(again);
    vyre_status_free(status);
    /* Calls after the end do no harm. */
    build_phase(b, 0);
    vyre_build_load(b, 0, 0);
    vyre_build_phase_end(b);
    vyre_build_repeat(b, NULL, 0);
    vyre_builder_free(b);
    vyre_builder_free(NULL);
    assert_string_equal(vyre_program_name(program), "twice");
    vyre_program_release(program);
}

static void builder_refuses_a_program_name_that_is_none(void **state) {
    (void)state;
    static const char *const names[] = {NULL, "", "7up", "a-b", "a b", "\xc3\xa9"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        vyre_builder *b;
        vyre_program *program;
        assert_null(vyre_builder_create(names[i], &b));
        build_phase(b, 0);
        vyre_build_phase_end(b);
        vyre_status status = vyre_builder_finish(b, NULL, &program);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_PROGRAM);
        assert_non_null(strstr(vyre_status_text(status), "V0204: the name of the program"));
        vyre_status_free(status);
        vyre_builder_free(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builder_checks_declarations),
        cmocka_unit_test(builder_checks_steps),
        cmocka_unit_test(builder_is_spent_after_finish),
        cmocka_unit_test(builder_refuses_a_program_name_that_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
