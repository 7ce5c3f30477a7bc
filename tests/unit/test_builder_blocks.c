/* Blocks and variables: what the builder refuses, what becomes of dead code, and the limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/build_check.h"

#define NONE VYRE_NONE

static uint32_t condition(vyre_builder *b) {
    return build_is(b, build_gid(b), 3);
}

static void if_on_a_number(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_if(b, build_gid(b));
    vyre_build_if_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void if_on_nothing(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_if(b, NONE);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void if_outside_of_a_phase(vyre_builder *b) {
    vyre_build_if(b, vyre_build_bool(b, true));
}

static void if_left_open(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_if(b, condition(b));
    vyre_build_phase_end(b);
}

static void if_closed_twice(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_if(b, condition(b));
    vyre_build_if_end(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void else_without_an_if(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_else(b);
    vyre_build_phase_end(b);
}

static void else_twice(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_if(b, condition(b));
    vyre_build_else(b);
    vyre_build_else(b);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void loop_closed_as_an_if(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_loop(b, 0, NULL, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_break(b, 0, NULL);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void inline_closed_as_a_loop(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_inline(b);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_inline_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void yield_outside_of_an_if(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_yield(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void yield_out_of_a_loop_in_an_if(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_if(b, condition(b));
    vyre_build_loop(b, 0, NULL, NULL);
    vyre_build_yield(b, 0, NULL);
    vyre_build_break(b, 0, NULL);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void break_outside_of_a_loop(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_if(b, condition(b));
    vyre_build_break(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void break_out_of_a_call(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_loop(b, 0, NULL, NULL);
    vyre_build_inline(b);
    vyre_build_break(b, 0, NULL);
    vyre_build_inline_end(b, 0, NULL);
    vyre_build_break(b, 0, NULL);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void continue_outside_of_a_loop(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_continue(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void branches_that_give_different_numbers_of_values(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t results[2], one = vyre_build_u32(b, 1);
    vyre_build_if(b, condition(b));
    vyre_build_yield(b, 2, (uint32_t[]){one, one});
    vyre_build_else(b);
    vyre_build_yield(b, 1, &one);
    vyre_build_if_end(b, 2, results);
    vyre_build_phase_end(b);
}

static void branches_that_give_different_types(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t result, one = vyre_build_u32(b, 1), other = vyre_build_i32(b, 1);
    vyre_build_if(b, condition(b));
    vyre_build_yield(b, 1, &one);
    vyre_build_else(b);
    vyre_build_yield(b, 1, &other);
    vyre_build_if_end(b, 1, &result);
    vyre_build_phase_end(b);
}

static void branch_without_the_value_of_the_other(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t result, one = vyre_build_u32(b, 1);
    vyre_build_if(b, condition(b));
    vyre_build_yield(b, 1, &one);
    vyre_build_if_end(b, 1, &result);
    vyre_build_phase_end(b);
}

static void values_taken_from_an_if_that_gives_none(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t results[2] = {0, 0};
    vyre_build_if(b, condition(b));
    vyre_build_if_end(b, 2, results);
    assert_int_equal(results[0], NONE);
    assert_int_equal(results[1], NONE);
    vyre_build_phase_end(b);
}

static void breaks_that_give_different_types(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t result, one = vyre_build_u32(b, 1), other = vyre_build_f32(b, 1);
    vyre_build_loop(b, 0, NULL, NULL);
    vyre_build_if(b, condition(b));
    vyre_build_break(b, 1, &one);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_break(b, 1, &other);
    vyre_build_loop_end(b, 1, &result);
    vyre_build_phase_end(b);
}

static void break_of_a_for_with_another_number_of_values(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t result, arg, one = vyre_build_u32(b, 1);
    vyre_build_for(b, one, one, one, 1, &one, &arg);
    vyre_build_if(b, condition(b));
    vyre_build_break(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_continue(b, 1, &arg);
    vyre_build_loop_end(b, 1, &result);
    vyre_build_phase_end(b);
}

static void continue_with_too_few_values(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t args[2], results[2], one = vyre_build_u32(b, 1);
    vyre_build_for(b, one, one, one, 2, (uint32_t[]){one, one}, args);
    vyre_build_continue(b, 1, &one);
    vyre_build_loop_end(b, 2, results);
    vyre_build_phase_end(b);
}

static void continue_with_another_type(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t arg, result, one = vyre_build_u32(b, 1), other = vyre_build_f32(b, 1);
    vyre_build_for(b, one, one, one, 1, &one, &arg);
    vyre_build_continue(b, 1, &other);
    vyre_build_loop_end(b, 1, &result);
    vyre_build_phase_end(b);
}

static void loop_with_values_that_reaches_its_end(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t arg, result, one = vyre_build_u32(b, 1);
    vyre_build_for(b, one, one, one, 1, &one, &arg);
    vyre_build_loop_end(b, 1, &result);
    vyre_build_phase_end(b);
}

static void for_over_floats(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t one = vyre_build_f32(b, 1);
    vyre_build_for(b, one, one, one, 0, NULL, NULL);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void for_over_two_types(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t one = vyre_build_u32(b, 1);
    vyre_build_for(b, one, vyre_build_i32(b, 7), one, 0, NULL, NULL);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void for_with_a_step_of_another_type(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t one = vyre_build_u32(b, 1);
    vyre_build_for(b, one, one, vyre_build_const(b, VYRE_TYPE_U64, 1), 0, NULL, NULL);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void call_that_ends_without_its_value(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t result, one = vyre_build_u32(b, 1);
    vyre_build_inline(b);
    vyre_build_if(b, condition(b));
    vyre_build_return(b, 1, &one);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_inline_end(b, 1, &result);
    vyre_build_phase_end(b);
}

static void returns_that_give_different_types(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t result, one = vyre_build_u32(b, 1), other = vyre_build_bool(b, true);
    vyre_build_inline(b);
    vyre_build_if(b, condition(b));
    vyre_build_return(b, 1, &one);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_return(b, 1, &other);
    vyre_build_inline_end(b, 1, &result);
    vyre_build_phase_end(b);
}

static void return_of_a_value_from_a_phase(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t one = vyre_build_u32(b, 1);
    vyre_build_return(b, 1, &one);
    vyre_build_phase_end(b);
}

static void variable_without_a_value(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_var(b, "v", NONE);
    vyre_build_phase_end(b);
}

static void variable_outside_of_a_phase(vyre_builder *b) {
    vyre_build_var(b, "v", vyre_build_u32(b, 1));
}

static void variable_set_to_another_type(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_set(b, vyre_build_var(b, "v", vyre_build_u32(b, 1)), vyre_build_f32(b, 1));
    vyre_build_phase_end(b);
}

static void variable_from_nowhere(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_get(b, 3);
    vyre_build_phase_end(b);
}

static void variable_that_is_none(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_get(b, NONE);
    vyre_build_phase_end(b);
}

static void variable_after_its_block(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_if(b, condition(b));
    uint32_t v = vyre_build_var(b, "v", vyre_build_u32(b, 1));
    vyre_build_if_end(b, 0, NULL);
    vyre_build_get(b, v);
    vyre_build_phase_end(b);
}

static void variable_of_the_other_branch(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_if(b, condition(b));
    uint32_t v = vyre_build_var(b, "v", vyre_build_u32(b, 1));
    vyre_build_else(b);
    vyre_build_set(b, v, vyre_build_u32(b, 1));
    vyre_build_if_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void variable_of_another_phase(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t v = vyre_build_var(b, "v", vyre_build_u32(b, 1));
    vyre_build_phase_end(b);
    build_phase(b, 0);
    vyre_build_get(b, v);
    vyre_build_phase_end(b);
}

static void nested(vyre_builder *b, uint32_t depth) {
    build_phase(b, 0);
    uint32_t one = vyre_build_u32(b, 1), holds = condition(b);
    for (uint32_t i = 0; i < depth; i++) {
        switch (i % 4) {
        case 0: vyre_build_if(b, holds); break;
        case 1: vyre_build_for(b, one, one, one, 0, NULL, NULL); break;
        case 2: vyre_build_loop(b, 0, NULL, NULL); break;
        default: vyre_build_inline(b); break;
        }
    }
    for (uint32_t i = depth; i-- > 0;) {
        switch (i % 4) {
        case 0: vyre_build_if_end(b, 0, NULL); break;
        case 2:
            vyre_build_break(b, 0, NULL);
            vyre_build_loop_end(b, 0, NULL);
            break;
        case 1: vyre_build_loop_end(b, 0, NULL); break;
        default: vyre_build_inline_end(b, 0, NULL); break;
        }
    }
    vyre_build_phase_end(b);
}

static void blocks_nested_128_deep(vyre_builder *b) {
    nested(b, VYRE_LIMIT_NESTING);
}

static void blocks_nested_129_deep(vyre_builder *b) {
    nested(b, VYRE_LIMIT_NESTING + 1);
}

static void carry(vyre_builder *b, uint32_t count, bool is_for) {
    uint32_t *values = malloc(count * sizeof *values), one = vyre_build_u32(b, 1);
    assert_non_null(values);
    build_phase(b, 0);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = vyre_build_u32(b, i);
    }
    if (is_for) {
        vyre_build_for(b, one, one, one, count, values, values);
        vyre_build_continue(b, count, values);
    } else {
        vyre_build_loop(b, count, values, values);
        vyre_build_break(b, count, values);
    }
    vyre_build_loop_end(b, count, values);
    vyre_build_phase_end(b);
    free(values);
}

static void loop_that_carries_4096(vyre_builder *b) {
    carry(b, VYRE_LIMIT_CARRIED, false);
}

static void loop_that_carries_4097(vyre_builder *b) {
    carry(b, VYRE_LIMIT_CARRIED + 1, false);
}

static void for_that_carries_4096(vyre_builder *b) {
    carry(b, VYRE_LIMIT_CARRIED, true);
}

static void for_that_carries_4097(vyre_builder *b) {
    carry(b, VYRE_LIMIT_CARRIED + 1, true);
}

/* A count that cannot be right: no list is as long, so none is read or written. */

static void loop_that_carries_too_many_of_no_list(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_loop(b, UINT32_MAX, NULL, NULL);
    vyre_build_if(b, condition(b));
    vyre_build_continue(b, UINT32_MAX, NULL);
    vyre_build_else(b);
    vyre_build_break(b, UINT32_MAX, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_loop_end(b, UINT32_MAX, NULL);
    vyre_build_phase_end(b);
}

static void for_that_carries_too_many_of_no_list(vyre_builder *b) {
    uint32_t one = vyre_build_u32(b, 1);
    build_phase(b, 0);
    assert_int_not_equal(vyre_build_for(b, one, one, one, UINT32_MAX, NULL, NULL), VYRE_NONE);
    vyre_build_loop_end(b, UINT32_MAX, NULL);
    vyre_build_phase_end(b);
}

static void yield_of_too_many(vyre_builder *b) {
    build_phase(b, 64);
    vyre_build_if(b, condition(b));
    vyre_build_yield(b, 1000000, NULL);
    vyre_build_else(b);
    vyre_build_yield(b, 1000000, NULL);
    vyre_build_if_end(b, 1000000, NULL);
    vyre_build_phase_end(b);
}

static void break_of_too_many(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_loop(b, 0, NULL, NULL);
    vyre_build_break(b, 1000000, NULL);
    vyre_build_loop_end(b, 1000000, NULL);
    vyre_build_phase_end(b);
}

static void continue_with_too_many(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_loop(b, 0, NULL, NULL);
    vyre_build_continue(b, 1000000, NULL);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void call_that_returns_too_many(vyre_builder *b) {
    build_phase(b, 0);
    vyre_build_inline(b);
    vyre_build_return(b, 1000000, NULL);
    vyre_build_inline_end(b, 1000000, NULL);
    vyre_build_phase_end(b);
}

static void take_from_an_empty_if(vyre_builder *b, uint32_t count, uint32_t *results) {
    build_phase(b, 64);
    vyre_build_if(b, condition(b));
    vyre_build_if_end(b, count, results);
    vyre_build_phase_end(b);
}

static void too_many_values_taken_from_an_if(vyre_builder *b) {
    take_from_an_empty_if(b, 1000000, NULL);
}

static void one_value_taken_from_an_if_that_gives_none(vyre_builder *b) {
    uint32_t result = 0;
    take_from_an_empty_if(b, 1, &result);
    assert_int_equal(result, VYRE_NONE);
}

/* The number of variables is what counts in the end. */
static void loop_that_assigns(vyre_builder *b, uint32_t count) {
    uint32_t *variables = malloc(count * sizeof *variables), one = vyre_build_u32(b, 1);
    assert_non_null(variables);
    build_phase(b, 0);
    for (uint32_t i = 0; i < count; i++) {
        variables[i] = vyre_build_var(b, NULL, one);
    }
    vyre_build_for(b, one, one, one, 0, NULL, NULL);
    for (uint32_t i = 0; i < count; i++) {
        vyre_build_set(b, variables[i], vyre_build_u32(b, i));
    }
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_phase_end(b);
    free(variables);
}

static void loop_that_assigns_4096_variables(vyre_builder *b) {
    loop_that_assigns(b, VYRE_LIMIT_CARRIED);
}

static void loop_that_assigns_4097_variables(vyre_builder *b) {
    loop_that_assigns(b, VYRE_LIMIT_CARRIED + 1);
}

static void name_of_256_bytes(vyre_builder *b) {
    char name[257];
    memset(name, 'a', 256);
    name[256] = '\0';
    build_phase(b, 0);
    vyre_build_name(b, build_gid(b), name);
    vyre_build_phase_end(b);
}

static const build_case cases[] = {
    BUILD_CASE(if_on_a_number, 301, "the condition of `if` is u32, expected bool"),
    BUILD_CASE(if_on_nothing, 309, "`if` has no operand 1"),
    BUILD_CASE(if_outside_of_a_phase, 108, "`if` is outside a phase"),
    BUILD_CASE(if_left_open, 507, "a phase ends with 1 block still open"),
    BUILD_CASE(if_closed_twice, 507, "the end of an if does not match"),
    BUILD_CASE(else_without_an_if, 507, "else does not match"),
    BUILD_CASE(else_twice, 507, "else does not match"),
    BUILD_CASE(loop_closed_as_an_if, 507, "the end of an if does not match"),
    BUILD_CASE(inline_closed_as_a_loop, 507, "the end of a loop does not match"),
    BUILD_CASE(yield_outside_of_an_if, 507, "a yield does not match"),
    BUILD_CASE(yield_out_of_a_loop_in_an_if, 507, "a yield does not match"),
    BUILD_CASE(break_outside_of_a_loop, 504, "`break` is outside a loop"),
    BUILD_CASE(break_out_of_a_call, 504, "`break` is outside a loop"),
    BUILD_CASE(continue_outside_of_a_loop, 504, "`continue` is outside a loop"),
    BUILD_CASE(branches_that_give_different_numbers_of_values, 506,
               "`yield` gives 1 value, and another"),
    BUILD_CASE(branches_that_give_different_types, 506, "value 1 of `yield` is i32"),
    BUILD_CASE(branch_without_the_value_of_the_other, 505, "without the 1 value"),
    BUILD_CASE(values_taken_from_an_if_that_gives_none, 506, "2 values are taken"),
    BUILD_CASE(breaks_that_give_different_types, 506, "value 1 of `break` is f32"),
    BUILD_CASE(break_of_a_for_with_another_number_of_values, 506,
               "`break` gives 0 values, and another path gives 1"),
    BUILD_CASE(continue_with_too_few_values, 506, "`continue` gives 1 value, the loop"),
    BUILD_CASE(continue_with_another_type, 506, "value 1 of `continue` is f32"),
    BUILD_CASE(loop_with_values_that_reaches_its_end, 505, "reaches its end without the next ones"),
    BUILD_CASE(for_over_floats, 301, "the first number of `for` is f32, expected an integer"),
    BUILD_CASE(for_over_two_types, 302, "the end of `for` is i32, expected u32"),
    BUILD_CASE(for_with_a_step_of_another_type, 302, "the step of `for` is u64, expected u32"),
    BUILD_CASE(call_that_ends_without_its_value, 505,
               "reaches the end of a call without the 1 "
               "value it returns"),
    BUILD_CASE(returns_that_give_different_types, 506, "value 1 of `return` is bool"),
    BUILD_CASE(return_of_a_value_from_a_phase, 506, "a program returns no values"),
    BUILD_CASE(variable_without_a_value, 309, "`var` has no operand 1"),
    BUILD_CASE(variable_outside_of_a_phase, 108, "`var` is outside a phase"),
    BUILD_CASE(variable_set_to_another_type, 302, "the value for `v` is f32, the variable is u32"),
    BUILD_CASE(variable_from_nowhere, 309, "the variable of `get` does not exist here"),
    BUILD_CASE(variable_that_is_none, 309, "`get` has no variable"),
    BUILD_CASE(variable_after_its_block, 309, "the variable of `get` does not exist here"),
    BUILD_CASE(variable_of_the_other_branch, 309, "the variable of `set` does not exist here"),
    BUILD_CASE(variable_of_another_phase, 309, "the variable of `get` does not exist here"),
    BUILD_CASE(blocks_nested_128_deep, 0, ""),
    BUILD_CASE(blocks_nested_129_deep, 701, "more than 128 blocks are nested"),
    BUILD_CASE(loop_that_carries_4096, 0, ""),
    BUILD_CASE(loop_that_carries_4097, 701, "`loop` has 4097 values, and at most 4096"),
    BUILD_CASE(for_that_carries_4097, 701, "`for` has 4097 values, and at most 4096"),
    BUILD_CASE(loop_that_carries_too_many_of_no_list, 701, "`loop` has 4294967295 values"),
    BUILD_CASE(for_that_carries_too_many_of_no_list, 701, "`for` has 4294967295 values"),
    BUILD_CASE(yield_of_too_many, 701, "`yield` has 1000000 values"),
    BUILD_CASE(break_of_too_many, 701, "`break` has 1000000 values"),
    BUILD_CASE(continue_with_too_many, 506, "`continue` gives 1000000 values"),
    BUILD_CASE(call_that_returns_too_many, 701, "`return` has 1000000 values"),
    BUILD_CASE(too_many_values_taken_from_an_if, 506, "1000000 values are taken"),
    BUILD_CASE(one_value_taken_from_an_if_that_gives_none, 506, "1 value is taken"),
    BUILD_CASE(for_that_carries_4096, 0, ""),
    BUILD_CASE(loop_that_assigns_4096_variables, 0, ""),
    BUILD_CASE(loop_that_assigns_4097_variables, 701, "carries 4100 values, and at most 4099"),
    BUILD_CASE(name_of_256_bytes, 701, "does not fit"),
};

static void builder_checks_blocks(void **state) {
    (void)state;
    build_cases_check(cases, sizeof cases / sizeof *cases);
}

/* Dead code */

static uint32_t count_ops(const vyre_program *program, vyre_op op) {
    const vyre_ir *ir = vyre_program_ir(program);
    uint32_t count = 0;
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        count += ir->insts[i].op == op;
    }
    return count;
}

static void code_behind_a_return(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 64);
    assert_true(vyre_build_reachable(b));
    vyre_build_return(b, 0, NULL);
    assert_false(vyre_build_reachable(b));
    uint32_t i = build_gid(b);
    vyre_build_name(b, i, "i");
    vyre_build_store(b, x, i, vyre_build_u32(b, 12345));
    vyre_build_if(b, condition(b));
    assert_false(vyre_build_reachable(b));
    vyre_build_barrier(b, VYRE_OP_BARRIER);
    vyre_build_else(b);
    vyre_build_return(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_loop(b, 0, NULL, NULL);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_phase_end(b);
}

static void builder_cuts_code_behind_a_return(void **state) {
    (void)state;
    vyre_program *program = build_valid(code_behind_a_return);
    const vyre_ir *ir = vyre_program_ir(program);
    assert_int_equal(ir->inst_count, 1);
    assert_int_equal(ir->insts[0].op, VYRE_OP_RETURN);
    assert_int_equal(ir->const_count, 0);
    assert_int_equal(ir->value_name_count, 0);
    vyre_program_release(program);
}

static void loop_that_never_ends(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 0);
    vyre_build_if(b, condition(b));
    vyre_build_loop(b, 0, NULL, NULL);
    vyre_build_loop_end(b, 0, NULL);
    assert_false(vyre_build_reachable(b));
    vyre_build_store(b, x, build_gid(b), vyre_build_u32(b, 1));
    vyre_build_else(b);
    assert_true(vyre_build_reachable(b));
    vyre_build_if_end(b, 0, NULL);
    assert_true(vyre_build_reachable(b));
    vyre_build_phase_end(b);
}

static void builder_ends_a_block_behind_a_loop_that_never_ends(void **state) {
    (void)state;
    vyre_program *program = build_valid(loop_that_never_ends);
    assert_int_equal(count_ops(program, VYRE_OP_UNREACHABLE), 1);
    assert_int_equal(count_ops(program, VYRE_OP_STORE), 0);
    vyre_program_release(program);
}

static void both_branches_leave(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t one = vyre_build_u32(b, 1), result = 0;
    vyre_build_inline(b);
    vyre_build_if(b, condition(b));
    vyre_build_return(b, 1, &one);
    vyre_build_else(b);
    vyre_build_if(b, condition(b));
    vyre_build_return(b, 1, &one);
    vyre_build_else(b);
    vyre_build_loop(b, 0, NULL, NULL);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    assert_false(vyre_build_reachable(b));
    vyre_build_inline_end(b, 1, &result);
    assert_int_not_equal(result, NONE);
    assert_true(vyre_build_reachable(b));
    vyre_build_phase_end(b);
}

static void builder_ends_blocks_whose_branches_all_leave(void **state) {
    (void)state;
    vyre_program *program = build_valid(both_branches_leave);
    assert_int_equal(count_ops(program, VYRE_OP_UNREACHABLE), 3);
    assert_int_equal(count_ops(program, VYRE_OP_RESULT), 1);
    vyre_program_release(program);
}

static void values_of_a_block_nobody_leaves(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 0);
    uint32_t results[2] = {7, 7};
    vyre_build_inline(b);
    vyre_build_loop(b, 0, NULL, NULL);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_inline_end(b, 2, results);
    assert_int_equal(results[0], NONE);
    assert_int_equal(results[1], NONE);
    vyre_build_store(b, x, vyre_build_u32(b, 0), vyre_build_u32(b, 0));
    vyre_build_phase_end(b);
}

static void builder_gives_nothing_from_a_block_nobody_leaves(void **state) {
    (void)state;
    vyre_program *program = build_valid(values_of_a_block_nobody_leaves);
    assert_int_equal(count_ops(program, VYRE_OP_STORE), 0);
    vyre_program_release(program);
}

/* Handles are set even where nothing could be opened. */
static void builder_sets_handles_of_blocks_that_are_none(void **state) {
    (void)state;
    vyre_builder *b;
    vyre_program *program;
    assert_null(vyre_builder_create("handles", &b));
    uint32_t handles[3] = {1, 2, 3}, one = vyre_build_u32(b, 1);
    vyre_build_loop(b, 3, handles, handles);
    assert_int_equal(handles[2], NONE);
    handles[0] = 5;
    vyre_build_for(b, one, one, one, 1, &one, handles);
    assert_int_equal(handles[0], NONE);
    for (int i = 0; i < 3; i++) {
        handles[i] = 5;
        (i == 0   ? vyre_build_if_end
         : i == 1 ? vyre_build_loop_end
                  : vyre_build_inline_end)(b, 1, &handles[i]);
        assert_int_equal(handles[i], NONE);
    }
    vyre_status_free(vyre_builder_finish(b, NULL, &program));
    assert_null(program);
    vyre_builder_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builder_checks_blocks),
        cmocka_unit_test(builder_cuts_code_behind_a_return),
        cmocka_unit_test(builder_ends_a_block_behind_a_loop_that_never_ends),
        cmocka_unit_test(builder_ends_blocks_whose_branches_all_leave),
        cmocka_unit_test(builder_gives_nothing_from_a_block_nobody_leaves),
        cmocka_unit_test(builder_sets_handles_of_blocks_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
