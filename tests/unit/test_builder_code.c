/* The builder refuses wrong values, accesses and blocks with the code, the operand and a fix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/rule.h"
#include "tests/unit/build_check.h"

#define NONE VYRE_NONE

/* Values */

static void value_outside_of_a_phase(vyre_builder *b) {
    build_gid(b);
}

static void operation_outside_of_a_phase(vyre_builder *b) {
    uint32_t one = vyre_build_u32(b, 1);
    build_op2(b, VYRE_OP_ADD, one, one);
}

static void operand_that_is_none(vyre_builder *b) {
    build_phase(b, 0);
    build_op2(b, VYRE_OP_ADD, build_gid(b), NONE);
    vyre_build_phase_end(b);
}

static void operand_from_nowhere(vyre_builder *b) {
    build_phase(b, 0);
    build_op2(b, VYRE_OP_ADD, build_gid(b), 1000);
    vyre_build_phase_end(b);
}

static void operand_that_is_a_constant_from_nowhere(vyre_builder *b) {
    build_phase(b, 0);
    build_op2(b, VYRE_OP_ADD, 5 | VYRE_CONSTANT, build_gid(b));
    vyre_build_phase_end(b);
}

static void operand_that_is_a_store(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_INOUT, VYRE_TYPE_U32);
    build_phase(b, 0);
    uint32_t i = build_gid(b);
    vyre_build_store(b, x, i, i);
    build_op2(b, VYRE_OP_ADD, i, i + 1);
    vyre_build_phase_end(b);
}

static void operand_of_another_phase(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t i = build_gid(b);
    vyre_build_phase_end(b);
    build_phase(b, 0);
    build_op2(b, VYRE_OP_ADD, i, vyre_build_u32(b, 1));
    vyre_build_phase_end(b);
}

static void operand_out_of_a_block_that_ended(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t i = build_gid(b);
    vyre_build_if(b, build_is(b, i, 1));
    uint32_t inner = build_op2(b, VYRE_OP_ADD, i, i);
    vyre_build_if_end(b, 0, NULL);
    build_op2(b, VYRE_OP_ADD, inner, i);
    vyre_build_phase_end(b);
}

static void operand_of_the_other_branch(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t i = build_gid(b);
    vyre_build_if(b, build_is(b, i, 1));
    uint32_t inner = build_op2(b, VYRE_OP_ADD, i, i);
    vyre_build_else(b);
    build_op2(b, VYRE_OP_ADD, inner, i);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void operands_of_two_types(vyre_builder *b) {
    build_phase(b, 0);
    build_op2(b, VYRE_OP_ADD, build_gid(b), vyre_build_i32(b, 1));
    vyre_build_phase_end(b);
}

static void sum_of_bools(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t yes = vyre_build_bool(b, true);
    build_op2(b, VYRE_OP_ADD, yes, yes);
    vyre_build_phase_end(b);
}

static void remainder_of_floats(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t one = vyre_build_f32(b, 1);
    build_op2(b, VYRE_OP_REM, one, one);
    vyre_build_phase_end(b);
}

static void negation_of_unsigned(vyre_builder *b) {
    build_phase(b, 0);
    build_op2(b, VYRE_OP_NEG, build_gid(b), NONE);
    vyre_build_phase_end(b);
}

static void and_of_floats(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t one = vyre_build_f32(b, 1);
    build_op2(b, VYRE_OP_AND, one, one);
    vyre_build_phase_end(b);
}

static void shift_by_a_signed_count(vyre_builder *b) {
    build_phase(b, 0);
    build_op2(b, VYRE_OP_SHL, build_gid(b), vyre_build_i32(b, 1));
    vyre_build_phase_end(b);
}

static void order_of_bools(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t yes = vyre_build_bool(b, true);
    build_op2(b, VYRE_OP_LT, yes, yes);
    vyre_build_phase_end(b);
}

static void select_by_a_number(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t i = build_gid(b);
    vyre_build_op(b, VYRE_OP_SELECT, i, i, i);
    vyre_build_phase_end(b);
}

static void select_of_two_types(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t i = build_gid(b);
    vyre_build_op(b, VYRE_OP_SELECT, build_is(b, i, 0), i, vyre_build_i32(b, 0));
    vyre_build_phase_end(b);
}

static void third_operand_of_fma_of_another_type(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t one = vyre_build_f32(b, 1);
    vyre_build_op(b, VYRE_OP_FMA, one, one, vyre_build_const(b, VYRE_TYPE_F64, 0));
    vyre_build_phase_end(b);
}

static void sine_of_f64(vyre_builder *b) {
    build_phase(b, 0);
    build_op2(b, VYRE_OP_SIN, vyre_build_const(b, VYRE_TYPE_F64, 0), NONE);
    vyre_build_phase_end(b);
}

static void square_root_of_f64(vyre_builder *b) {
    build_phase(b, 0);
    build_op2(b, VYRE_OP_SQRT, vyre_build_const(b, VYRE_TYPE_F64, 0), NONE);
    vyre_build_phase_end(b);
}

static void sine_of_an_integer(vyre_builder *b) {
    build_phase(b, 0);
    build_op2(b, VYRE_OP_SIN, build_gid(b), NONE);
    vyre_build_phase_end(b);
}

static void bitcast_to_another_size(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_bitcast(b, VYRE_TYPE_F64, build_gid(b));
    vyre_build_phase_end(b);
}

static void bitcast_of_bool(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_bitcast(b, VYRE_TYPE_U8, vyre_build_bool(b, true));
    vyre_build_phase_end(b);
}

static void conversion_to_void(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_convert(b, VYRE_TYPE_VOID, build_gid(b));
    vyre_build_phase_end(b);
}

static void conversion_to_no_type(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_convert(b, (vyre_type)77, build_gid(b));
    vyre_build_phase_end(b);
}

static void constant_of_void(vyre_builder *b) {
    vyre_build_const(b, VYRE_TYPE_VOID, 0);
}

static void constant_bool_of_2(vyre_builder *b) {
    vyre_build_const(b, VYRE_TYPE_BOOL, 2);
}

static void operation_that_needs_its_own_call(vyre_builder *b) {
    build_phase(b, 0);
    build_op2(b, VYRE_OP_LOAD, 0, 0);
    vyre_build_phase_end(b);
}

static void operation_that_needs_to_be_told_more(vyre_builder *b) {
    build_phase(b, 0);
    build_op2(b, VYRE_OP_CONVERT, build_gid(b), NONE);
    vyre_build_phase_end(b);
}

static void operation_that_is_none(vyre_builder *b) {
    build_phase(b, 0);
    build_op2(b, (vyre_op)11, build_gid(b), NONE);
    vyre_build_phase_end(b);
}

static void operation_beyond_the_last(vyre_builder *b) {
    build_phase(b, 0);
    build_op2(b, (vyre_op)70000, build_gid(b), NONE);
    vyre_build_phase_end(b);
}

static void position_that_is_none(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_position(b, VYRE_OP_ADD, 0);
    vyre_build_phase_end(b);
}

static void position_beyond_the_domain(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_position(b, VYRE_OP_GID, 1);
    vyre_build_phase_end(b);
}

static void component_of_something_without(vyre_builder *b) {
    build_phase(b, 64);
    vyre_build_position(b, VYRE_OP_LANE, 1);
    vyre_build_phase_end(b);
}

static void lid_without_a_workgroup(vyre_builder *b) {
    build_phase(b, 0);
    build_lid(b);
    vyre_build_phase_end(b);
}

static void in_domain_without_a_workgroup(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_position(b, VYRE_OP_IN_DOMAIN, 0);
    vyre_build_phase_end(b);
}

static void num_workgroups_without_a_workgroup(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_position(b, VYRE_OP_NUM_WORKGROUPS, 0);
    vyre_build_phase_end(b);
}

static void param_that_is_a_buffer(vyre_builder *b) {
    vyre_build_scalar(b, "n", VYRE_TYPE_U32);
    build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32);
    build_phase(b, 0);
    vyre_build_param(b, 1);
    vyre_build_phase_end(b);
}

static void param_that_is_none(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_param(b, NONE);
    vyre_build_phase_end(b);
}

static void iteration_of_no_repeat(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_iteration(b, 0);
    vyre_build_phase_end(b);
}

static void iteration_of_a_repeat_that_ended(vyre_builder *b) {
    uint32_t repeat = vyre_build_repeat(b, NULL, vyre_build_size_const(b, 2));
    build_phase(b, 0);
    vyre_build_phase_end(b);
    vyre_build_repeat_end(b);
    build_phase(b, 0);
    vyre_build_iteration(b, repeat);
    vyre_build_phase_end(b);
}

static void combination_of_another_operation(vyre_builder *b) {
    build_phase(b, 64);
    vyre_build_combine(b, VYRE_OP_ADD, VYRE_COMBINE_ADD, build_gid(b));
    vyre_build_phase_end(b);
}

static void combination_that_is_none(vyre_builder *b) {
    build_phase(b, 64);
    vyre_build_combine(b, VYRE_OP_REDUCE, VYRE_COMBINE_COUNT, build_gid(b));
    vyre_build_phase_end(b);
}

static void combination_by_xor_of_floats(vyre_builder *b) {
    build_phase(b, 64);
    vyre_build_combine(b, VYRE_OP_SCAN, VYRE_COMBINE_XOR, vyre_build_f32(b, 1));
    vyre_build_phase_end(b);
}

static void combination_by_addition_of_bools(vyre_builder *b) {
    build_phase(b, 64);
    vyre_build_combine(b, VYRE_OP_REDUCE, VYRE_COMBINE_ADD, vyre_build_bool(b, true));
    vyre_build_phase_end(b);
}

static void subgroup_operation_without_a_workgroup(vyre_builder *b) {
    build_phase(b, 0);
    build_op2(b, VYRE_OP_SHUFFLE, build_gid(b), vyre_build_u32(b, 0));
    vyre_build_phase_end(b);
}

static void vote_on_a_number(vyre_builder *b) {
    build_phase(b, 64);
    build_op2(b, VYRE_OP_ANY, build_gid(b), NONE);
    vyre_build_phase_end(b);
}

static void shuffle_from_a_signed_lane(vyre_builder *b) {
    build_phase(b, 64);
    build_op2(b, VYRE_OP_SHUFFLE, build_gid(b), vyre_build_i32(b, 0));
    vyre_build_phase_end(b);
}

static void operation_with_an_operand_too_many(vyre_builder *b) {
    uint32_t one = vyre_build_f32(b, 1);
    build_phase(b, 0);
    vyre_build_op(b, VYRE_OP_SQRT, one, one, NONE);
    vyre_build_phase_end(b);
}

static void operation_with_a_third_operand_too_many(vyre_builder *b) {
    uint32_t one = vyre_build_f32(b, 1);
    build_phase(b, 0);
    vyre_build_op(b, VYRE_OP_ADD, one, one, 12345);
    vyre_build_phase_end(b);
}

static const build_case value_cases[] = {
    BUILD_CASE(operation_with_an_operand_too_many, 303, "`sqrt` takes no operand 2"),
    BUILD_CASE(operation_with_a_third_operand_too_many, 303, "`add` takes no operand 3"),
    BUILD_CASE(value_outside_of_a_phase, 108, "`gid` is outside a phase"),
    BUILD_CASE(operation_outside_of_a_phase, 108, "`add` is outside a phase"),
    BUILD_CASE(operand_that_is_none, 309, "`add` has no operand 2"),
    BUILD_CASE(operand_from_nowhere, 309, "operand 2 of `add` is not a value"),
    BUILD_CASE(operand_that_is_a_constant_from_nowhere, 309, "operand 1 of `add` is not a value"),
    BUILD_CASE(operand_that_is_a_store, 309, "operand 2 of `add` is not a value"),
    BUILD_CASE(operand_of_another_phase, 309, "operand 1 of `add` is not a value"),
    BUILD_CASE(operand_out_of_a_block_that_ended, 309, "`add` uses value 3, which does not exist"),
    BUILD_CASE(operand_of_the_other_branch, 309, "`add` uses value 3, which does not exist"),
    BUILD_CASE(operands_of_two_types, 302, "operand 2 of `+` is i32, expected u32 as operand 1"),
    BUILD_CASE(sum_of_bools, 301, "operand 1 of `+` is bool, expected an integer or a float"),
    BUILD_CASE(remainder_of_floats, 301, "operand 1 of `%` is f32, expected an integer"),
    BUILD_CASE(negation_of_unsigned, 301, "operand 1 of `-` is u32, expected a signed integer"),
    BUILD_CASE(and_of_floats, 301, "operand 1 of `&` is f32, expected an integer or bool"),
    BUILD_CASE(shift_by_a_signed_count, 301, "operand 2 of `<<` is i32, expected u32"),
    BUILD_CASE(order_of_bools, 301, "operand 1 of `<` is bool"),
    BUILD_CASE(select_by_a_number, 301, "operand 1 of `select` is u32, expected bool"),
    BUILD_CASE(select_of_two_types, 302, "operand 3 of `select` is i32, expected u32 as operand 2"),
    BUILD_CASE(third_operand_of_fma_of_another_type, 302,
               "operand 3 of `fma` is f64, expected f32"),
    BUILD_CASE(sine_of_f64, 0, ""),
    BUILD_CASE(square_root_of_f64, 0, ""),
    BUILD_CASE(sine_of_an_integer, 301, "operand 1 of `sin` is u32, expected a float"),
    BUILD_CASE(bitcast_to_another_size, 305, "`bitcast` from u32 to f64 is not possible"),
    BUILD_CASE(bitcast_of_bool, 305, "`bitcast` from bool to u8 is not possible"),
    BUILD_CASE(conversion_to_void, 305, "`convert` from u32 to void is not possible"),
    BUILD_CASE(conversion_to_no_type, 305, "`convert` from u32 to ? is not possible"),
    BUILD_CASE(constant_of_void, 304, "no constant of type void"),
    BUILD_CASE(constant_bool_of_2, 304, "no constant of type bool has the bits 0x2"),
    BUILD_CASE(operation_that_needs_its_own_call, 206, "`load` is not an operation on values"),
    BUILD_CASE(operation_that_needs_to_be_told_more, 206, "`convert` needs more than operands"),
    BUILD_CASE(operation_that_is_none, 206, "`?` is not an operation"),
    BUILD_CASE(operation_beyond_the_last, 206, "`?` is not an operation"),
    BUILD_CASE(position_that_is_none, 206, "16 is not a position"),
    BUILD_CASE(position_beyond_the_domain, 607, "`gid` has no component .y: the domain has 1"),
    BUILD_CASE(component_of_something_without, 607, "`lane` has no component .y"),
    BUILD_CASE(lid_without_a_workgroup, 603, "`lid` needs a workgroup"),
    BUILD_CASE(in_domain_without_a_workgroup, 603, "`in_domain` needs a workgroup clause"),
    BUILD_CASE(num_workgroups_without_a_workgroup, 603,
               "`num_workgroups` needs a workgroup clause"),
    BUILD_CASE(param_that_is_a_buffer, 309, "operand 1 of `param` is not a scalar argument"),
    BUILD_CASE(param_that_is_none, 309, "`param` has no argument"),
    BUILD_CASE(iteration_of_no_repeat, 309, "is not a repeat around this phase"),
    BUILD_CASE(iteration_of_a_repeat_that_ended, 309, "is not a repeat around this phase"),
    BUILD_CASE(combination_of_another_operation, 206, "16 is not a subgroup combination"),
    BUILD_CASE(combination_that_is_none, 206, "is not a subgroup combination"),
    BUILD_CASE(combination_by_xor_of_floats, 301, "operand 1 of `subgroup_inclusive_xor` is f32"),
    BUILD_CASE(combination_by_addition_of_bools, 301, "operand 1 of `subgroup_add` is bool"),
    BUILD_CASE(subgroup_operation_without_a_workgroup, 603,
               "`subgroup_shuffle` needs a workgroup "
               "clause"),
    BUILD_CASE(vote_on_a_number, 301, "operand 1 of `subgroup_any` is u32, expected bool"),
    BUILD_CASE(shuffle_from_a_signed_lane, 301, "operand 2 of `subgroup_shuffle` is i32"),
};

/* Memory */

static void load_from_nothing(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_load(b, 9, vyre_build_u32(b, 0));
    vyre_build_phase_end(b);
}

static void load_from_none(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_load(b, NONE, vyre_build_u32(b, 0));
    vyre_build_phase_end(b);
}

static void load_at_a_float(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32);
    build_phase(b, 0);
    vyre_build_load(b, x, vyre_build_f32(b, 0));
    vyre_build_phase_end(b);
}

static void load_at_a_bool(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32);
    build_phase(b, 0);
    vyre_build_load(b, x, vyre_build_bool(b, false));
    vyre_build_phase_end(b);
}

static void store_to_what_is_only_read(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32);
    build_phase(b, 0);
    vyre_build_store(b, x, vyre_build_u32(b, 0), vyre_build_u32(b, 0));
    vyre_build_phase_end(b);
}

static void store_of_another_type(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 0);
    vyre_build_store(b, x, vyre_build_u32(b, 0), vyre_build_i32(b, 0));
    vyre_build_phase_end(b);
}

static void store_of_nothing(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 0);
    vyre_build_store(b, x, vyre_build_u32(b, 0), NONE);
    vyre_build_phase_end(b);
}

static void clear_of_a_buffer(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 0);
    vyre_build_clear(b, x);
    vyre_build_phase_end(b);
}

static void uniform_load_of_a_private_array(vyre_builder *b) {
    build_phase(b, 64);
    vyre_build_uniform_load(b, vyre_build_private(b, "p", VYRE_TYPE_U32, 4), vyre_build_u32(b, 0));
    vyre_build_phase_end(b);
}

static void uniform_load_without_a_workgroup(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32);
    build_phase(b, 0);
    vyre_build_uniform_load(b, x, vyre_build_u32(b, 0));
    vyre_build_phase_end(b);
}

static uint32_t atomic_on(vyre_builder *b, vyre_op op, uint32_t array, uint32_t value,
                          vyre_ordering ordering, vyre_scope scope) {
    return vyre_build_atomic(b, op, array, vyre_build_u32(b, 0), value, NONE, ordering, scope);
}

static void atomic_on_a_private_array(vyre_builder *b) {
    build_phase(b, 64);
    atomic_on(b, VYRE_OP_ATOMIC_ADD, vyre_build_private(b, "p", VYRE_TYPE_U32, 4),
              vyre_build_u32(b, 1), VYRE_ORDERING_RELAXED, VYRE_SCOPE_DEVICE);
    vyre_build_phase_end(b);
}

static void atomic_load_of_what_is_only_read(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32);
    build_phase(b, 0);
    atomic_on(b, VYRE_OP_ATOMIC_LOAD, x, NONE, VYRE_ORDERING_RELAXED, VYRE_SCOPE_DEVICE);
    vyre_build_phase_end(b);
}

static void atomic_add_to_what_is_only_read(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32);
    build_phase(b, 0);
    atomic_on(b, VYRE_OP_ATOMIC_ADD, x, vyre_build_u32(b, 0), VYRE_ORDERING_RELAXED,
              VYRE_SCOPE_DEVICE);
    vyre_build_phase_end(b);
}

static void atomic_on_floats(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_F32);
    build_phase(b, 0);
    atomic_on(b, VYRE_OP_ATOMIC_ADD, x, vyre_build_f32(b, 1), VYRE_ORDERING_RELAXED,
              VYRE_SCOPE_DEVICE);
    vyre_build_phase_end(b);
}

static void atomic_on_bytes(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U8);
    build_phase(b, 0);
    atomic_on(b, VYRE_OP_ATOMIC_ADD, x, vyre_build_const(b, VYRE_TYPE_U8, 1), VYRE_ORDERING_RELAXED,
              VYRE_SCOPE_DEVICE);
    vyre_build_phase_end(b);
}

static void atomic_load_with_release(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 0);
    atomic_on(b, VYRE_OP_ATOMIC_LOAD, x, NONE, VYRE_ORDERING_RELEASE, VYRE_SCOPE_DEVICE);
    vyre_build_phase_end(b);
}

static void atomic_store_with_acq_rel(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 0);
    atomic_on(b, VYRE_OP_ATOMIC_STORE, x, vyre_build_u32(b, 1), VYRE_ORDERING_ACQ_REL,
              VYRE_SCOPE_DEVICE);
    vyre_build_phase_end(b);
}

static void atomic_with_an_ordering_that_is_none(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 0);
    atomic_on(b, VYRE_OP_ATOMIC_ADD, x, vyre_build_u32(b, 1), VYRE_ORDERING_COUNT,
              VYRE_SCOPE_DEVICE);
    vyre_build_phase_end(b);
}

static void atomic_with_a_scope_that_is_none(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 64);
    atomic_on(b, VYRE_OP_ATOMIC_ADD, x, vyre_build_u32(b, 1), VYRE_ORDERING_RELAXED, (vyre_scope)2);
    vyre_build_phase_end(b);
}

static void atomic_at_workgroup_scope_without_a_workgroup(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 0);
    atomic_on(b, VYRE_OP_ATOMIC_ADD, x, vyre_build_u32(b, 1), VYRE_ORDERING_RELAXED,
              VYRE_SCOPE_WORKGROUP);
    vyre_build_phase_end(b);
}

static void atomic_cas_without_what_is_desired(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 0);
    atomic_on(b, VYRE_OP_ATOMIC_CAS, x, vyre_build_u32(b, 1), VYRE_ORDERING_RELAXED,
              VYRE_SCOPE_DEVICE);
    vyre_build_phase_end(b);
}

static void atomic_that_is_none(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 0);
    atomic_on(b, VYRE_OP_ADD, x, vyre_build_u32(b, 1), VYRE_ORDERING_RELAXED, VYRE_SCOPE_DEVICE);
    vyre_build_phase_end(b);
}

static void barrier_without_a_workgroup(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_barrier(b, VYRE_OP_BARRIER);
    vyre_build_phase_end(b);
}

static void grid_barrier_without_a_workgroup(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_barrier(b, VYRE_OP_GRID_BARRIER);
    vyre_build_phase_end(b);
}

static void barrier_that_is_none(vyre_builder *b) {
    build_phase(b, 64);
    vyre_build_barrier(b, VYRE_OP_ADD);
    vyre_build_phase_end(b);
}

static void barrier_outside_of_a_phase(vyre_builder *b) {
    vyre_build_barrier(b, VYRE_OP_BARRIER);
}

static void atomic_with_operands(vyre_builder *b, vyre_op op, bool has_value, bool has_desired) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_INOUT, VYRE_TYPE_U32);
    uint32_t one = vyre_build_u32(b, 1);
    build_phase(b, 0);
    vyre_build_atomic(b, op, x, one, has_value ? one : NONE, has_desired ? one : NONE,
                      VYRE_ORDERING_RELAXED, VYRE_SCOPE_DEVICE);
    vyre_build_phase_end(b);
}

static void atomic_load_with_a_value(vyre_builder *b) {
    atomic_with_operands(b, VYRE_OP_ATOMIC_LOAD, true, false);
}

static void atomic_load_with_what_is_desired(vyre_builder *b) {
    atomic_with_operands(b, VYRE_OP_ATOMIC_LOAD, false, true);
}

static void atomic_add_with_what_is_desired(vyre_builder *b) {
    atomic_with_operands(b, VYRE_OP_ATOMIC_ADD, true, true);
}

static const build_case memory_cases[] = {
    BUILD_CASE(atomic_load_with_a_value, 303, "`atomic_load` takes no operand 3"),
    BUILD_CASE(atomic_load_with_what_is_desired, 303, "`atomic_load` takes no operand 4"),
    BUILD_CASE(atomic_add_with_what_is_desired, 303, "`atomic_add` takes no operand 4"),
    BUILD_CASE(load_from_nothing, 309, "the array of `load` does not exist here"),
    BUILD_CASE(load_from_none, 309, "`load` has no array"),
    BUILD_CASE(load_at_a_float, 301, "the index of `x` is f32, expected an integer"),
    BUILD_CASE(load_at_a_bool, 301, "the index of `x` is bool, expected an integer"),
    BUILD_CASE(store_to_what_is_only_read, 401, "buffer `x` is read-only, and `store` writes it"),
    BUILD_CASE(store_of_another_type, 302, "the value for `x` is i32, its elements are u32"),
    BUILD_CASE(store_of_nothing, 309, "`store` has no operand 3"),
    BUILD_CASE(clear_of_a_buffer, 402, "`x` is not a private array"),
    BUILD_CASE(uniform_load_of_a_private_array, 402, "`p` is private"),
    BUILD_CASE(uniform_load_without_a_workgroup, 603, "`uniform_load` needs a workgroup clause"),
    BUILD_CASE(atomic_on_a_private_array, 402, "`p` is private, which needs no `atomic_add`"),
    BUILD_CASE(atomic_load_of_what_is_only_read, 402, "`x` is only read, which needs no"),
    BUILD_CASE(atomic_add_to_what_is_only_read, 401, "buffer `x` is read-only"),
    BUILD_CASE(atomic_on_floats, 404, "the elements of `x` are f32"),
    BUILD_CASE(atomic_on_bytes, 404, "the elements of `x` are u8"),
    BUILD_CASE(atomic_load_with_release, 403, "`atomic_load` cannot have the ordering release"),
    BUILD_CASE(atomic_store_with_acq_rel, 403, "`atomic_store` cannot have the ordering acq_rel"),
    BUILD_CASE(atomic_with_an_ordering_that_is_none, 403,
               "`atomic_add` has the ordering 5, which does not exist"),
    BUILD_CASE(atomic_with_a_scope_that_is_none, 403, "`atomic_add` cannot have the scope 2"),
    BUILD_CASE(atomic_at_workgroup_scope_without_a_workgroup, 603, "the scope `workgroup`"),
    BUILD_CASE(atomic_cas_without_what_is_desired, 309, "`atomic_cas` has no operand 4"),
    BUILD_CASE(atomic_that_is_none, 206, "16 is not an atomic operation"),
    BUILD_CASE(barrier_without_a_workgroup, 603, "`barrier` needs a workgroup clause"),
    BUILD_CASE(grid_barrier_without_a_workgroup, 0, ""),
    BUILD_CASE(barrier_that_is_none, 206, "16 is not a barrier"),
    BUILD_CASE(barrier_outside_of_a_phase, 108, "`barrier` is outside a phase"),
};

#define CHECK(cases) build_cases_check(cases, sizeof(cases) / sizeof *(cases))

static void builder_checks_values(void **state) {
    (void)state;
    CHECK(value_cases);
}

static void builder_checks_memory(void **state) {
    (void)state;
    CHECK(memory_cases);
}

/* The advice names what is allowed, no more and no less. */
static void builder_advises_the_orderings_that_are_allowed(void **state) {
    (void)state;
    static const struct {
        vyre_op op;
        const char *fix;
    } rows[] = {
        {VYRE_OP_ATOMIC_LOAD, "use relaxed, acquire or seq_cst"},
        {VYRE_OP_ATOMIC_STORE, "use relaxed, release or seq_cst"},
        {VYRE_OP_ATOMIC_ADD, "use relaxed, acquire, release, acq_rel or seq_cst"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_builder *b;
        vyre_program *program;
        assert_null(vyre_builder_create("test", &b));
        uint32_t x = build_buffer(b, "x", VYRE_ACCESS_INOUT, VYRE_TYPE_U32);
        build_phase(b, 0);
        atomic_on(b, rows[i].op, x, rows[i].op == VYRE_OP_ATOMIC_LOAD ? NONE : vyre_build_u32(b, 1),
                  VYRE_ORDERING_COUNT, VYRE_SCOPE_DEVICE);
        vyre_build_phase_end(b);
        vyre_status status = vyre_builder_finish(b, NULL, &program);
        assert_string_equal(vyre_status_fix(status), rows[i].fix);
        vyre_status_free(status);
        vyre_builder_free(b);
    }
}

/* What the rule table of an operation allows is built, anything else is refused: for all operations
 * and all types of the first two operands. */
static void builder_agrees_with_the_rules(void **state) {
    (void)state;
    for (uint32_t number = 1; number < VYRE_OP_COUNT; number++) {
        vyre_op op = (vyre_op)number;
        uint8_t rule = vyre_op_info_of(op)->rule;
        if (!vyre_op_info_of(op)->name || !vyre_rule_arity(op) || rule == VYRE_RULE_CONVERT ||
            rule == VYRE_RULE_BITCAST || rule == VYRE_RULE_COMBINE) {
            continue;
        }
        for (uint32_t pair = 0; pair < VYRE_TYPE_COUNT * VYRE_TYPE_COUNT; pair++) {
            vyre_type first = (vyre_type)(pair / VYRE_TYPE_COUNT);
            vyre_type second = (vyre_type)(pair % VYRE_TYPE_COUNT);
            if (first == VYRE_TYPE_VOID || second == VYRE_TYPE_VOID) {
                continue;
            }
            vyre_type types[3] = {first, second, second}, wanted;
            vyre_rule_error error;
            bool allowed = vyre_rule_check(op, 0, VYRE_TYPE_VOID, 32, types, &wanted, &error);
            vyre_builder *b;
            vyre_program *program;
            assert_null(vyre_builder_create("rules", &b));
            build_phase(b, 64);
            uint32_t operands[3] = {vyre_build_const(b, first, 0), vyre_build_const(b, second, 0),
                                    vyre_build_const(b, second, 0)};
            uint32_t arity = vyre_rule_arity(op);
            uint32_t value = vyre_build_op(b, op, operands[0], arity > 1 ? operands[1] : NONE,
                                           arity > 2 ? operands[2] : NONE);
            vyre_build_phase_end(b);
            assert_int_equal(value != NONE, allowed);
            assert_int_equal(vyre_build_type(b, value), allowed ? wanted : VYRE_TYPE_VOID);
            vyre_status status = vyre_builder_finish(b, NULL, &program);
            assert_int_equal(status == VYRE_OK, allowed);
            vyre_status_free(status);
            vyre_program_release(program);
            vyre_builder_free(b);
        }
    }
}

static void builder_ignores_bits_beyond_the_type(void **state) {
    (void)state;
    vyre_builder *b;
    assert_null(vyre_builder_create("bits", &b));
    assert_int_equal(vyre_build_const(b, VYRE_TYPE_U8, 0x1ff),
                     vyre_build_const(b, VYRE_TYPE_U8, 0xff));
    assert_int_equal(vyre_build_i32(b, -1), vyre_build_const(b, VYRE_TYPE_I32, UINT64_MAX));
    assert_int_not_equal(vyre_build_u32(b, 1), vyre_build_i32(b, 1));
    assert_int_not_equal(vyre_build_f32(b, 0.0f), vyre_build_f32(b, -0.0f));
    vyre_builder_free(b);
}

static void builder_gives_back_a_value_that_needs_no_conversion(void **state) {
    (void)state;
    vyre_builder *b;
    assert_null(vyre_builder_create("same", &b));
    build_phase(b, 0);
    uint32_t i = build_gid(b);
    assert_int_equal(vyre_build_convert(b, VYRE_TYPE_U32, i), i);
    assert_int_equal(vyre_build_bitcast(b, VYRE_TYPE_U32, i), i);
    assert_int_not_equal(vyre_build_convert(b, VYRE_TYPE_U64, i), i);
    vyre_builder_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builder_checks_values),
        cmocka_unit_test(builder_checks_memory),
        cmocka_unit_test(builder_advises_the_orderings_that_are_allowed),
        cmocka_unit_test(builder_agrees_with_the_rules),
        cmocka_unit_test(builder_ignores_bits_beyond_the_type),
        cmocka_unit_test(builder_gives_back_a_value_that_needs_no_conversion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
