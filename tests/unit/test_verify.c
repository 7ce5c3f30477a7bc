/* The verifier against arrays that no builder makes: each fault gets its code, its words and its
 * place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ir/program.h"
#include "ir/section.h"
#include "tests/unit/build_check.h"

/* A program with a bit of everything, to be patched. Its instructions by name: */
enum {
    I_GID,
    I_PARAM,
    I_LOAD,
    I_ADD,
    I_LT,
    I_IF,
    I_YIELD_THEN,
    I_YIELD_ELSE,
    I_RESULT,
    I_FOR,
    I_COUNTER,
    I_ARG,
    I_CONTINUE,
    I_FOR_RESULT,
    I_LOOP,
    I_LOOP_ARG,
    I_BREAK,
    I_LOOP_RESULT,
    I_INLINE,
    I_RETURN,
    I_INLINE_RESULT,
    I_CONVERT,
    I_SIN,
    I_STORE,
    I_CLEAR,
    I_ATOMIC,
    I_CAS,
    I_LANE,
    I_ANY,
    I_UNIFORM,
    I_BARRIER,
    I_END,
};

/* Resources: x (in u32), y (inout u32), f (out f32), kept (scratch u32), s (shared u32), p
 * (private) */
enum { R_X, R_Y, R_F, R_KEPT, R_SHARED, R_PRIVATE };

static void build_base(vyre_builder *b) {
    uint32_t n = vyre_build_scalar(b, "n", VYRE_TYPE_U32);
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32);
    uint32_t y = build_buffer(b, "y", VYRE_ACCESS_INOUT, VYRE_TYPE_U32);
    uint32_t f = build_buffer(b, "f", VYRE_ACCESS_OUT, VYRE_TYPE_F32);
    vyre_build_scratch(b, "kept", VYRE_TYPE_U32, vyre_build_size_param(b, n));
    vyre_build_repeat(b, "again", vyre_build_size_const(b, 2));
    vyre_build_phase(b,
                     &(vyre_phase_desc){.domain = {vyre_build_size_len(b, x)}, .workgroup = {64}});
    uint32_t s = vyre_build_shared(b, "s", VYRE_TYPE_U32, 64);
    uint32_t p = vyre_build_private(b, "p", VYRE_TYPE_U32, 4);
    uint32_t i = build_gid(b), one = vyre_build_u32(b, 1);
    uint32_t param = vyre_build_param(b, n);
    uint32_t loaded = vyre_build_load(b, x, i);
    uint32_t sum = build_op2(b, VYRE_OP_ADD, loaded, param);
    uint32_t result, arg;
    vyre_build_if(b, build_op2(b, VYRE_OP_LT, sum, one));
    vyre_build_yield(b, 1, &sum);
    vyre_build_else(b);
    vyre_build_yield(b, 1, &one);
    vyre_build_if_end(b, 1, &result);
    vyre_build_for(b, one, result, one, 1, &result, &arg);
    vyre_build_continue(b, 1, &arg);
    vyre_build_loop_end(b, 1, &result);
    vyre_build_loop(b, 1, &result, &arg);
    vyre_build_break(b, 1, &arg);
    vyre_build_loop_end(b, 1, &result);
    vyre_build_inline(b);
    vyre_build_return(b, 1, &result);
    vyre_build_inline_end(b, 1, &result);
    uint32_t real = vyre_build_convert(b, VYRE_TYPE_F32, result);
    uint32_t sine = build_op2(b, VYRE_OP_SIN, real, VYRE_NONE);
    vyre_build_store(b, f, i, sine);
    vyre_build_clear(b, p);
    vyre_build_atomic(b, VYRE_OP_ATOMIC_ADD, y, i, one, VYRE_NONE, VYRE_ORDERING_RELAXED,
                      VYRE_SCOPE_DEVICE);
    vyre_build_atomic(b, VYRE_OP_ATOMIC_CAS, s, i, one, one, VYRE_ORDERING_ACQ_REL,
                      VYRE_SCOPE_WORKGROUP);
    vyre_build_position(b, VYRE_OP_LANE, 0);
    build_op2(b, VYRE_OP_ANY, vyre_build_bool(b, true), VYRE_NONE);
    vyre_build_uniform_load(b, y, one);
    vyre_build_barrier(b, VYRE_OP_BARRIER);
    vyre_build_phase_end(b);
    vyre_build_repeat_end(b);
}

/* A copy whose arrays may be written. */
static vyre_ir copy_ir(const vyre_ir *from) {
    vyre_ir ir = *from;
    for (uint32_t id = 0; id < VYRE_SECTION_COUNT; id++) {
        size_t bytes = vyre_section_count(from, id) * vyre_section_item_bytes(id);
        void *items = malloc(bytes ? bytes : 1);
        assert_non_null(items);
        if (bytes) {
            memcpy(items, vyre_section_items(from, id), bytes);
        }
        vyre_section_set(&ir, id, items, vyre_section_count(from, id));
    }
    return ir;
}

static void free_ir(vyre_ir *ir) {
    for (uint32_t id = 0; id < VYRE_SECTION_COUNT; id++) {
        free((void *)vyre_section_items(ir, id));
    }
}

/* An item of a table of `ir`, to be written. */
#define ITEM(type, table, index) ((type *)ir->table)[index]
#define INST(index) ITEM(vyre_inst, insts, index)

typedef struct fault_case {
    const char *name;
    void (*patch)(vyre_ir *ir);
    uint32_t code;
    uint32_t section, item;
    const char *words;
} fault_case;

#define PATCH(name, ...)                                                                           \
    static void name(vyre_ir *ir) {                                                                \
        __VA_ARGS__;                                                                               \
    }

/* Instructions */
PATCH(index_of_a_load_is_float, INST(I_LOAD).b = I_SIN)
PATCH(operand_comes_later, INST(I_ADD).b = I_CONVERT)
PATCH(operand_is_itself, INST(I_ADD).b = I_ADD)
PATCH(operand_has_no_value, INST(I_CONVERT).a = I_INLINE)
PATCH(operand_is_in_a_block_that_ended, INST(I_CONVERT).a = I_ARG)
PATCH(operand_is_huge, INST(I_ADD).b = 0x7fffffff)
PATCH(operand_is_a_constant_too_many, INST(I_ADD).b = 0x80000002)
PATCH(operand_is_none, INST(I_ADD).b = VYRE_NONE)
PATCH(result_of_an_addition_is_float, INST(I_ADD).type = VYRE_TYPE_F32)
PATCH(operands_differ_in_type, INST(I_SIN).op = VYRE_OP_POW; INST(I_SIN).b = I_GID)
PATCH(sine_of_an_integer, INST(I_SIN).a = I_GID)
PATCH(sine_of_f64, INST(I_CONVERT).type = VYRE_TYPE_F64)
PATCH(conversion_to_itself, INST(I_CONVERT).type = VYRE_TYPE_U32)
PATCH(conversion_to_void, INST(I_CONVERT).type = VYRE_TYPE_VOID)
PATCH(bitcast_to_another_size, INST(I_CONVERT).op = VYRE_OP_BITCAST;
      INST(I_CONVERT).type = VYRE_TYPE_U8)
PATCH(condition_is_a_number, INST(I_IF).a = I_ADD)
PATCH(vote_on_a_number, INST(I_ANY).a = I_GID)
PATCH(component_beyond_the_domain, INST(I_GID).a = 2)
PATCH(lane_with_a_component, INST(I_LANE).a = 1)
PATCH(param_is_a_buffer, INST(I_PARAM).a = 1)
PATCH(param_beyond_the_last, INST(I_PARAM).a = 4)
PATCH(iteration_of_a_phase, INST(I_PARAM).op = VYRE_OP_ITERATION; INST(I_PARAM).a = 1)
PATCH(iteration_of_nothing, INST(I_PARAM).op = VYRE_OP_ITERATION; INST(I_PARAM).a = VYRE_NONE)

/* Memory */
PATCH(load_from_no_array, INST(I_LOAD).a = 6)
PATCH(store_to_what_is_only_read, INST(I_ATOMIC).a = R_X)
PATCH(store_of_another_type, INST(I_STORE).c = I_GID)
PATCH(store_with_a_type, INST(I_STORE).type = VYRE_TYPE_F32)
PATCH(clear_of_a_buffer, INST(I_CLEAR).a = R_Y)
PATCH(atomic_on_a_private_array, INST(I_ATOMIC).a = R_PRIVATE)
PATCH(atomic_on_floats, INST(I_ATOMIC).a = R_F; INST(I_ATOMIC).c = I_SIN)
PATCH(atomic_with_an_ordering_too_many, INST(I_ATOMIC).aux = 5)
PATCH(atomic_with_a_scope_too_many, INST(I_ATOMIC).aux = 16)
PATCH(atomic_on_shared_for_the_device, INST(I_CAS).aux = VYRE_ORDERING_ACQ_REL)
PATCH(cas_with_two_operands, INST(I_CAS).c = 2)
PATCH(cas_with_operands_of_others, INST(I_CAS).b = 0)
PATCH(uniform_load_of_a_private_array, INST(I_UNIFORM).a = R_PRIVATE)
PATCH(uniform_load_at_an_own_index, INST(I_UNIFORM).b = I_GID)

/* Structure */
PATCH(no_operation, INST(I_ADD).op = 0)
PATCH(operation_in_a_gap, INST(I_ADD).op = 11)
PATCH(operation_beyond_the_last, INST(I_ADD).op = VYRE_OP_COUNT)
PATCH(block_that_ends_before_it_starts, INST(I_IF).b = I_IF)
PATCH(block_that_ends_beyond_the_phase, INST(I_INLINE).c = I_END + 1)
PATCH(block_without_an_end, INST(I_YIELD_THEN).op = VYRE_OP_BARRIER; INST(I_YIELD_THEN).b = 0)
PATCH(end_inside_of_a_block, INST(I_BARRIER) = (vyre_inst){.op = VYRE_OP_UNREACHABLE})
PATCH(unreachable_that_is_reached, INST(I_END) = (vyre_inst){.op = VYRE_OP_UNREACHABLE})
PATCH(yield_from_a_loop, INST(I_BREAK).op = VYRE_OP_YIELD)
PATCH(break_from_a_call, INST(I_RETURN).op = VYRE_OP_BREAK)
PATCH(break_with_no_value, INST(I_BREAK).b = 0)
PATCH(result_of_another_type, INST(I_RESULT).type = VYRE_TYPE_I32)
PATCH(result_of_another_owner, INST(I_RESULT).a = I_FOR)
PATCH(result_that_nobody_gives,
      INST(I_LANE) = (vyre_inst){.op = VYRE_OP_RESULT, .type = VYRE_TYPE_U32})
PATCH(arg_of_another_loop, INST(I_LOOP_ARG).a = I_FOR)
PATCH(arg_out_of_place,
      INST(I_LANE) = (vyre_inst){.op = VYRE_OP_ARG, .type = VYRE_TYPE_U32, .a = I_FOR})
PATCH(for_without_a_range, INST(I_FOR).b = 1)
PATCH(for_over_bools, ITEM(uint32_t, operands, INST(I_FOR).a) = I_LT)
PATCH(list_beyond_the_last, ITEM(uint32_t, operands, 0) = 0x7ffffffe)
PATCH(loop_that_continues_for_ever, INST(I_BREAK).op = VYRE_OP_CONTINUE)
PATCH(width_of_a_subgroup_left_out, ITEM(vyre_phase, phases, 0).subgroup = 0)
PATCH(operand_list_entry_too_many, ir->operand_count--)

static const fault_case inst_cases[] = {
#define CASE(name, code, item, words)                                                              \
    { #name, name, code, VYRE_SECTION_INSTS, item, words }
    CASE(index_of_a_load_is_float, 309, I_LOAD, "uses value"),
    CASE(operand_comes_later, 309, I_ADD, "`add` uses value 21, which does not exist"),
    CASE(operand_is_itself, 309, I_ADD, "`add` uses value 3"),
    CASE(operand_has_no_value, 309, I_CONVERT, "`convert` uses value 18"),
    CASE(operand_is_in_a_block_that_ended, 309, I_CONVERT, "`convert` uses value 11"),
    CASE(operand_is_huge, 309, I_ADD, "uses value 2147483647"),
    CASE(operand_is_a_constant_too_many, 703, I_ADD, "uses constants out of order"),
    CASE(operand_is_none, 703, I_ADD, "uses constants out of order"),
    CASE(result_of_an_addition_is_float, 703, I_ADD, "has the wrong type"),
    CASE(operands_differ_in_type, 302, I_SIN, "operand 2 of `pow` is u32, expected f32"),
    CASE(sine_of_an_integer, 301, I_SIN, "operand 1 of `sin` is u32, expected a float"),
    CASE(sine_of_f64, 703, I_SIN, "has the wrong type"),
    CASE(conversion_to_itself, 305, I_CONVERT, "`convert` from u32 to u32"),
    CASE(conversion_to_void, 305, I_CONVERT, "`convert` from u32 to void"),
    CASE(bitcast_to_another_size, 305, I_CONVERT, "`bitcast` from u32 to u8"),
    CASE(condition_is_a_number, 301, I_IF, "the condition of `if` is u32"),
    CASE(vote_on_a_number, 301, I_ANY, "operand 1 of `subgroup_any` is u32"),
    CASE(component_beyond_the_domain, 607, I_GID, "`gid` has no component .z"),
    CASE(lane_with_a_component, 703, I_LANE, "has a word set that it does not use"),
    CASE(param_is_a_buffer, 703, I_PARAM, "is not a scalar argument"),
    CASE(param_beyond_the_last, 703, I_PARAM, "is not a scalar argument"),
    CASE(iteration_of_a_phase, 703, I_PARAM, "counts a repeat that is not around it"),
    CASE(iteration_of_nothing, 703, I_PARAM, "counts a repeat that is not around it"),
    CASE(load_from_no_array, 703, I_LOAD, "uses an array that does not exist in its phase"),
    CASE(store_to_what_is_only_read, 401, I_ATOMIC, "buffer `x` is read-only"),
    CASE(store_of_another_type, 302, I_STORE,
         "the value is u32, the elements of the array are f32"),
    CASE(store_with_a_type, 703, I_STORE, "(`store`) has a type"),
    CASE(clear_of_a_buffer, 703, I_CLEAR, "clears an array that is not private"),
    CASE(atomic_on_a_private_array, 402, I_ATOMIC, "`p` is private"),
    CASE(atomic_on_floats, 404, I_ATOMIC, "the elements are f32"),
    CASE(atomic_with_an_ordering_too_many, 403, I_ATOMIC, "`atomic_add` cannot have that ordering"),
    CASE(atomic_with_a_scope_too_many, 703, I_ATOMIC, "has a wrong scope"),
    CASE(atomic_on_shared_for_the_device, 703, I_CAS, "has a wrong scope"),
    CASE(cas_with_two_operands, 703, I_CAS, "has the wrong number of operands"),
    CASE(cas_with_operands_of_others, 703, I_CAS, "has its operands out of order"),
    CASE(uniform_load_of_a_private_array, 703, I_UNIFORM, "reads a private array"),
    CASE(uniform_load_at_an_own_index, 503, I_UNIFORM, "depends on `gid`"),
    CASE(no_operation, 703, I_ADD, "(`?`) is not an operation"),
    CASE(operation_in_a_gap, 703, I_ADD, "(`?`) is not an operation"),
    CASE(operation_beyond_the_last, 703, I_ADD, "(`?`) is not an operation"),
    CASE(block_that_ends_before_it_starts, 703, I_IF, "has blocks that do not lie inside its own"),
    CASE(block_that_ends_beyond_the_phase, 703, I_INLINE, "has blocks that do not lie inside"),
    CASE(block_without_an_end, 703, I_YIELD_THEN, "instruction 6"),
    CASE(end_inside_of_a_block, 703, I_BARRIER, "ends inside its block"),
    CASE(unreachable_that_is_reached, 703, I_END, "can be reached"),
    CASE(yield_from_a_loop, 703, I_BREAK, "is where there is no block to leave"),
    CASE(break_from_a_call, 703, I_RETURN, "is where there is no block to leave"),
    CASE(break_with_no_value, 506, I_BREAK, "`break` gives 0 values"),
    CASE(result_of_another_type, 506, I_YIELD_THEN, "value 1 of `yield` is u32, expected i32"),
    CASE(result_of_another_owner, 506, I_YIELD_THEN, "`yield` gives 1 value"),
    CASE(result_that_nobody_gives, 703, I_LANE, "does not follow its owner"),
    CASE(arg_of_another_loop, 703, I_LOOP, "does not match its args"),
    CASE(arg_out_of_place, 703, I_LANE, "does not follow its owner"),
    CASE(for_without_a_range, 703, I_FOR, "has no range"),
    CASE(for_over_bools, 301, I_FOR, "the range of `for` has a bound of type bool"),
    CASE(list_beyond_the_last, 309, I_YIELD_THEN, "`yield` uses value 2147483646"),
    CASE(loop_that_continues_for_ever, 703, I_LOOP_RESULT, "follows an instruction that never"),
    CASE(width_of_a_subgroup_left_out, 703, I_GID, "declares a subgroup width and does not use it"),
    CASE(operand_list_entry_too_many, 703, I_CAS, "has its operands out of order"),
#undef CASE
};

/* Tables */
PATCH(workgroup_clause_missing,
      ITEM(vyre_phase, phases, 0).workgroup[0] = ITEM(vyre_phase, phases, 0).workgroup[1] =
          ITEM(vyre_phase, phases, 0).workgroup[2] = 0;
      ITEM(vyre_phase, phases, 0).subgroup = 0)
PATCH(shared_array_too_long, ITEM(vyre_resource, resources, R_SHARED).length = 70000)
PATCH(private_array_too_long, ITEM(vyre_resource, resources, R_PRIVATE).length = 16385)
PATCH(shared_array_of_length_0, ITEM(vyre_resource, resources, R_SHARED).length = 0)
PATCH(shared_array_with_a_size, ITEM(vyre_resource, resources, R_SHARED).size = 0)
PATCH(buffer_of_bool, ITEM(vyre_resource, resources, R_X).type = VYRE_TYPE_BOOL;
      ITEM(vyre_arg, args, 1).type = VYRE_TYPE_BOOL)
PATCH(buffer_behind_scratch, ITEM(vyre_resource, resources, R_KEPT).kind = VYRE_RESOURCE_BUFFER)
PATCH(scratch_among_buffers, ITEM(vyre_resource, resources, R_F).kind = VYRE_RESOURCE_SCRATCH)
PATCH(array_that_no_phase_has, ITEM(vyre_phase, phases, 0).end_resource = R_PRIVATE)
PATCH(size_that_nobody_uses, ITEM(vyre_resource, resources, R_KEPT).kind = VYRE_RESOURCE_SCRATCH;
      ITEM(vyre_phase, phases, 0).domain[0] = 1)
PATCH(size_that_depends_on_itself, ITEM(vyre_size_node, sizes, 0).op = VYRE_SIZE_LEN;
      ITEM(vyre_size_node, sizes, 0).a = 3; ITEM(vyre_size_node, sizes, 0).b = 0)
PATCH(size_with_an_operator_in_front, ITEM(vyre_size_node, sizes, 0).op = VYRE_SIZE_MUL)
PATCH(constant_that_nobody_uses, INST(I_ANY).a = I_LT)
PATCH(constant_twice, ITEM(vyre_const, consts, 1) = ITEM(vyre_const, consts, 0))
PATCH(constant_wider_than_its_type, ITEM(vyre_const, consts, 0).bits = 0x100000001)
PATCH(constant_with_a_spare_word, ITEM(vyre_const, consts, 0).zero = 1)
PATCH(bool_that_is_2, ITEM(vyre_const, consts, 1).bits = 2)
PATCH(repeat_of_nothing, ITEM(vyre_step, steps, 0).end = 1)
PATCH(repeat_beyond_the_end, ITEM(vyre_step, steps, 0).end = 3)
PATCH(step_of_no_kind, ITEM(vyre_step, steps, 1).kind = 9)
PATCH(phase_without_a_step, ir->step_count = 1; ITEM(vyre_step, steps, 0).kind = VYRE_STEP_PHASE)
PATCH(no_step_at_all, ir->step_count = 0; ir->step_name_count = 0)
PATCH(phase_of_no_dimension, ITEM(vyre_phase, phases, 0).dimensions = 0)
PATCH(phase_that_starts_late, ITEM(vyre_phase, phases, 0).first = 1)
PATCH(phase_that_ends_early, ITEM(vyre_phase, phases, 0).end--)
PATCH(workgroup_too_large, ITEM(vyre_phase, phases, 0).workgroup[0] = 2048)
PATCH(subgroup_of_24, ITEM(vyre_phase, phases, 0).subgroup = 24)
PATCH(argument_named_twice, ITEM(char, strings, 7) = 'n')
PATCH(name_with_a_space, ITEM(char, strings, 0) = ' ')
PATCH(unknown_flag, ir->flags = 8)
PATCH(resource_names_too_few, ir->resource_name_count--)
PATCH(place_in_no_call, ITEM(vyre_place, places, 3) = VYRE_PLACE(1, 1, 7))
PATCH(debug_strings_without_an_end, ITEM(char, debug_strings, ir->debug_string_bytes - 1) = 'x')
PATCH(too_many_instructions, ir->inst_count = VYRE_LIMIT_INSTRUCTIONS + 1)
PATCH(too_many_constants, ir->const_count = VYRE_LIMIT_CONSTANTS + 1)
PATCH(too_many_operands, ir->operand_count = VYRE_LIMIT_OPERANDS + 1)
PATCH(too_many_bytes_of_names, ir->debug_string_bytes = VYRE_LIMIT_STRING_BYTES + 1)
PATCH(too_many_calls, ir->scope_count = VYRE_LIMIT_SCOPES + 1)

static const fault_case table_cases[] = {
#define CASE(name, code, section, item, words)                                                     \
    { #name, name, code, VYRE_SECTION_##section, item, words }
    CASE(workgroup_clause_missing, 603, RESOURCES, R_SHARED, "shared array `s` has no workgroup"),
    CASE(shared_array_too_long, 701, PHASES, 0, "280000 bytes"),
    CASE(private_array_too_long, 701, PHASES, 0, "65540 bytes of private arrays"),
    CASE(shared_array_of_length_0, 703, RESOURCES, R_SHARED, "has no length of its own"),
    CASE(shared_array_with_a_size, 703, RESOURCES, R_SHARED, "has no length of its own"),
    CASE(buffer_of_bool, 306, RESOURCES, R_X, "buffer `x` has elements of bool"),
    CASE(buffer_behind_scratch, 703, RESOURCES, R_KEPT, "is a buffer without an argument"),
    CASE(scratch_among_buffers, 703, ARGS, 3, "does not match its buffer"),
    CASE(array_that_no_phase_has, 703, RESOURCES, R_PRIVATE, "is not used by any phase"),
    CASE(size_that_nobody_uses, 703, PHASES, 0, "has a size out of order"),
    CASE(size_that_depends_on_itself, 604, SIZES, 0,
         "the size of `f` depends on `f`, which is not declared before"),
    CASE(size_with_an_operator_in_front, 703, SIZES, 0, "is not a number"),
    CASE(constant_that_nobody_uses, 703, CONSTS, 1, "is never used"),
    CASE(constant_twice, 703, CONSTS, 1, "is listed twice"),
    CASE(constant_wider_than_its_type, 703, CONSTS, 0, "does not fit its type"),
    CASE(constant_with_a_spare_word, 703, CONSTS, 0, "does not fit its type"),
    CASE(bool_that_is_2, 703, CONSTS, 1, "does not fit its type"),
    CASE(repeat_of_nothing, 703, STEPS, 0, "contains no phase"),
    CASE(repeat_beyond_the_end, 703, STEPS, 0, "contains no phase, or extends"),
    CASE(step_of_no_kind, 703, STEPS, 1, "contains no phase"),
    CASE(phase_without_a_step, 703, STEP_NAMES, 1, "does not fit the program"),
    CASE(no_step_at_all, 606, PHASES, 0, "the program has no phase"),
    CASE(phase_of_no_dimension, 703, PHASES, 0, "has no dimensions"),
    CASE(phase_that_starts_late, 703, PHASES, 0, "does not follow the one before"),
    CASE(phase_that_ends_early, 703, INSTS, I_END, "is not used by any phase"),
    CASE(workgroup_too_large, 602, PHASES, 0, "a workgroup of 2048 x 1 x 1"),
    CASE(subgroup_of_24, 602, PHASES, 0, "in subgroups of 24"),
    CASE(argument_named_twice, 202, ARGS, 1, "argument `n` is declared twice"),
    CASE(name_with_a_space, 204, STRINGS, 0, "has a character that is not allowed in names"),
    CASE(unknown_flag, 703, COUNT, 0, "unknown flags 0x8"),
    CASE(resource_names_too_few, 703, RESOURCE_NAMES, 5, "does not fit the program"),
    CASE(place_in_no_call, 703, PLACES, 3, "does not fit the program"),
    CASE(debug_strings_without_an_end, 703, DEBUG_STRINGS, 21, "does not fit the program"),
    CASE(too_many_instructions, 701, INSTS, VYRE_LIMIT_INSTRUCTIONS, "4194305 instructions"),
    CASE(too_many_constants, 701, CONSTS, VYRE_LIMIT_CONSTANTS, "1048577 constants"),
    CASE(too_many_operands, 701, OPERANDS, VYRE_LIMIT_OPERANDS, "16777217 operands"),
    CASE(too_many_bytes_of_names, 701, DEBUG_STRINGS, VYRE_LIMIT_STRING_BYTES, "16777217"),
    CASE(too_many_calls, 701, SCOPES, VYRE_LIMIT_SCOPES, "1048577 calls"),
#undef CASE
};

static void check_faults(const fault_case *cases, size_t count) {
    vyre_program *program = build_valid(build_base);
    assert_int_equal(vyre_program_ir(program)->inst_count, I_END + 1);
    for (size_t i = 0; i < count; i++) {
        const fault_case *row = &cases[i];
        vyre_ir ir = copy_ir(vyre_program_ir(program));
        vyre_diagnostics *diagnostics;
        vyre_fault fault = {0, 0};
        assert_null(vyre_diagnostics_create(&diagnostics));
        row->patch(&ir);
        vyre_status status = vyre_verify(&ir, diagnostics, &fault);
        const vyre_diagnostic *error = build_first_error(diagnostics);
        if (!status || !error || error->code != row->code || !strstr(error->message, row->words) ||
            fault.section != row->section || fault.item != row->item) {
            fail_msg(
                "%s: expected V%04u \"%s\" at %u of section %u, found at %u of section %u \"%s\"",
                row->name, row->code, row->words, row->item, row->section, fault.item,
                fault.section, vyre_status_text(status));
        } else {
            assert_true(error->fix && *error->fix);
        }
        vyre_status_free(status);
        vyre_diagnostics_free(diagnostics);
        free_ir(&ir);
    }
    vyre_program_release(program);
}

static void verify_finds_faults_of_instructions(void **state) {
    (void)state;
    check_faults(inst_cases, sizeof inst_cases / sizeof *inst_cases);
}

static void verify_finds_faults_of_tables(void **state) {
    (void)state;
    check_faults(table_cases, sizeof table_cases / sizeof *table_cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verify_finds_faults_of_instructions),
        cmocka_unit_test(verify_finds_faults_of_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
