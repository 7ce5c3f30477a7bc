/* Barriers and subgroup operations: who must arrive together does, or the program is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/build_check.h"

#define NONE VYRE_NONE

/* A phase with everything a condition may come from. */
typedef struct scene {
    uint32_t n;      /* an argument */
    uint32_t x, y;   /* a buffer that is read, one that is written */
    uint32_t shared; /* an array that is written */
    uint32_t lid, wid, one;
} scene;

static scene open_scene(vyre_builder *b) {
    scene s;
    s.n = vyre_build_scalar(b, "n", VYRE_TYPE_U32);
    s.x = build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32);
    s.y = build_buffer(b, "y", VYRE_ACCESS_INOUT, VYRE_TYPE_U32);
    build_phase(b, 64);
    s.shared = vyre_build_shared(b, "s", VYRE_TYPE_U32, 64);
    s.lid = build_lid(b);
    s.wid = vyre_build_position(b, VYRE_OP_WID, 0);
    s.one = vyre_build_u32(b, 1);
    vyre_build_store(b, s.y, s.lid, s.lid);
    vyre_build_store(b, s.shared, s.lid, s.lid);
    return s;
}

static void barrier(vyre_builder *b) {
    vyre_build_barrier(b, VYRE_OP_BARRIER);
}

static void grid_barrier(vyre_builder *b) {
    vyre_build_barrier(b, VYRE_OP_GRID_BARRIER);
}

/* if value == 1 { barrier } */
static void barrier_if(vyre_builder *b, uint32_t value, void (*sync)(vyre_builder *b)) {
    vyre_build_if(b, build_is(b, value, 1));
    sync(b);
    vyre_build_if_end(b, 0, NULL);
}

static void return_if(vyre_builder *b, uint32_t value) {
    vyre_build_if(b, build_is(b, value, 1));
    vyre_build_return(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
}

static void break_if(vyre_builder *b, uint32_t value) {
    vyre_build_if(b, build_is(b, value, 1));
    vyre_build_break(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
}

static void continue_if(vyre_builder *b, uint32_t value) {
    vyre_build_if(b, build_is(b, value, 1));
    vyre_build_continue(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
}

static uint32_t for_to(vyre_builder *b, uint32_t end) {
    return vyre_build_for(b, vyre_build_u32(b, 0), end, vyre_build_u32(b, 1), 0, NULL, NULL);
}

static void loop_end(vyre_builder *b) {
    vyre_build_loop_end(b, 0, NULL);
}

static void close(vyre_builder *b) {
    vyre_build_phase_end(b);
}

#define SCENE(name, ...)                                                                           \
    static void name(vyre_builder *b) {                                                            \
        scene s = open_scene(b);                                                                   \
        (void)s;                                                                                   \
        __VA_ARGS__                                                                                \
        close(b);                                                                                  \
    }

/* Conditions */

SCENE(under_lid, barrier_if(b, s.lid, barrier);)
SCENE(under_gid, barrier_if(b, build_gid(b), barrier);)
SCENE(under_lane, barrier_if(b, vyre_build_position(b, VYRE_OP_LANE, 0), barrier);)
SCENE(under_in_domain, {
    vyre_build_if(b, vyre_build_position(b, VYRE_OP_IN_DOMAIN, 0));
    barrier(b);
    vyre_build_if_end(b, 0, NULL);
})
SCENE(under_wid, barrier_if(b, s.wid, barrier);)
SCENE(under_subgroup_id, barrier_if(b, vyre_build_position(b, VYRE_OP_SUBGROUP_ID, 0), barrier);)
SCENE(under_an_argument, barrier_if(b, vyre_build_param(b, s.n), barrier);)
SCENE(under_a_constant, barrier_if(b, s.one, barrier);)
SCENE(under_a_length, barrier_if(b, vyre_build_len(b, s.x), barrier);)
SCENE(under_num_workgroups,
      barrier_if(b, vyre_build_position(b, VYRE_OP_NUM_WORKGROUPS, 0), grid_barrier);)
SCENE(under_a_load, barrier_if(b, vyre_build_load(b, s.x, s.one), barrier);)
SCENE(under_a_load_at_lid, barrier_if(b, vyre_build_load(b, s.x, s.lid), barrier);)
SCENE(under_a_load_of_what_is_written, barrier_if(b, vyre_build_load(b, s.y, s.one), barrier);)
SCENE(under_a_load_of_shared, barrier_if(b, vyre_build_load(b, s.shared, s.one), barrier);)
SCENE(under_a_uniform_load, barrier_if(b, vyre_build_uniform_load(b, s.y, s.one), barrier);)
SCENE(under_a_uniform_load_of_shared,
      barrier_if(b, vyre_build_uniform_load(b, s.shared, s.one), barrier);)
SCENE(under_a_uniform_load_at_wid, barrier_if(b, vyre_build_uniform_load(b, s.y, s.wid), barrier);)
SCENE(under_an_atomic, {
    uint32_t old = vyre_build_atomic(b, VYRE_OP_ATOMIC_ADD, s.y, s.one, s.one, NONE,
                                     VYRE_ORDERING_RELAXED, VYRE_SCOPE_DEVICE);
    barrier_if(b, old, barrier);
})
SCENE(under_an_atomic_load, {
    uint32_t old = vyre_build_atomic(b, VYRE_OP_ATOMIC_LOAD, s.y, s.one, NONE, NONE,
                                     VYRE_ORDERING_RELAXED, VYRE_SCOPE_DEVICE);
    barrier_if(b, old, barrier);
})
SCENE(under_a_private_array, {
    uint32_t p = vyre_build_private(b, "p", VYRE_TYPE_U32, 2);
    vyre_build_store(b, p, s.one, s.one);
    barrier_if(b, vyre_build_load(b, p, s.one), barrier);
})
SCENE(under_arithmetic_of_lid, {
    uint32_t value = build_op2(b, VYRE_OP_MUL, build_op2(b, VYRE_OP_ADD, s.wid, s.lid), s.one);
    barrier_if(b, value, barrier);
})
SCENE(under_a_selection_by_lid, {
    uint32_t value = vyre_build_op(b, VYRE_OP_SELECT, build_is(b, s.lid, 3), s.one, s.wid);
    barrier_if(b, value, barrier);
})
SCENE(under_a_reduction, {
    uint32_t sum = vyre_build_combine(b, VYRE_OP_REDUCE, VYRE_COMBINE_ADD, s.lid);
    barrier_if(b, sum, barrier);
})
SCENE(under_a_reduction_of_wid, {
    uint32_t sum = vyre_build_combine(b, VYRE_OP_REDUCE, VYRE_COMBINE_ADD, s.wid);
    barrier_if(b, sum, barrier);
})
SCENE(under_a_scan_of_wid, {
    uint32_t sum = vyre_build_combine(b, VYRE_OP_SCAN, VYRE_COMBINE_ADD, s.wid);
    barrier_if(b, sum, barrier);
})
SCENE(under_a_shuffle_of_wid, barrier_if(b, build_op2(b, VYRE_OP_SHUFFLE, s.wid, s.one), barrier);)

static const build_case condition_cases[] = {
    BUILD_CASE(under_lid, 501,
               "`barrier` must be reached by the whole workgroup together, but whether an "
               "invocation gets there depends on `lid` (instruction 0)"),
    BUILD_CASE(under_gid, 501, "`gid`"),
    BUILD_CASE(under_lane, 501, "`lane`"),
    BUILD_CASE(under_in_domain, 501, "`in_domain`"),
    BUILD_CASE(under_wid, 0, ""),
    BUILD_CASE(under_subgroup_id, 501, "`subgroup_id`"),
    BUILD_CASE(under_an_argument, 0, ""),
    BUILD_CASE(under_a_constant, 0, ""),
    BUILD_CASE(under_a_length, 0, ""),
    BUILD_CASE(under_num_workgroups, 0, ""),
    BUILD_CASE(under_a_load, 0, ""),
    BUILD_CASE(under_a_load_at_lid, 501, "`lid`"),
    BUILD_CASE(under_a_load_of_what_is_written, 501,
               "an element of `y`, which the phase also writes"),
    BUILD_CASE(under_a_load_of_shared, 501, "an element of `s`, which the phase also writes"),
    BUILD_CASE(under_a_uniform_load, 0, ""),
    BUILD_CASE(under_a_uniform_load_of_shared, 0, ""),
    BUILD_CASE(under_a_uniform_load_at_wid, 0, ""),
    BUILD_CASE(under_an_atomic, 501, "`atomic_add`"),
    BUILD_CASE(under_an_atomic_load, 501, "`atomic_load`"),
    BUILD_CASE(under_a_private_array, 501, "an element of `p`"),
    BUILD_CASE(under_arithmetic_of_lid, 501, "`lid`"),
    BUILD_CASE(under_a_selection_by_lid, 501, "`lid`"),
    BUILD_CASE(under_a_reduction, 501, "`lid`"),
    BUILD_CASE(under_a_reduction_of_wid, 0, ""),
    BUILD_CASE(under_a_scan_of_wid, 501, "`subgroup_inclusive_add`"),
    BUILD_CASE(under_a_shuffle_of_wid, 501, "`subgroup_shuffle`"),
};

/* Branches and returns */

SCENE(behind_a_branch, {
    vyre_build_if(b, build_is(b, s.lid, 1));
    vyre_build_store(b, s.y, s.lid, s.one);
    vyre_build_if_end(b, 0, NULL);
    barrier(b);
})
SCENE(in_the_else_branch, {
    vyre_build_if(b, build_is(b, s.lid, 1));
    vyre_build_else(b);
    barrier(b);
    vyre_build_if_end(b, 0, NULL);
})
SCENE(in_both_branches, {
    vyre_build_if(b, build_is(b, s.lid, 1));
    barrier(b);
    vyre_build_else(b);
    vyre_build_if_end(b, 0, NULL);
    barrier(b);
})
SCENE(behind_a_return, {
    return_if(b, s.lid);
    barrier(b);
})
SCENE(behind_a_return_by_wid, {
    return_if(b, s.wid);
    barrier(b);
})
SCENE(behind_a_return_in_the_else_branch, {
    vyre_build_if(b, build_is(b, s.lid, 1));
    vyre_build_else(b);
    vyre_build_return(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    barrier(b);
})
SCENE(behind_a_nested_return, {
    vyre_build_if(b, build_is(b, vyre_build_param(b, s.n), 1));
    vyre_build_if(b, build_is(b, s.lid, 1));
    vyre_build_return(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    barrier(b);
})
SCENE(before_a_return, {
    barrier(b);
    return_if(b, s.lid);
})
SCENE(in_the_other_branch_of_a_nested_return, {
    vyre_build_if(b, build_is(b, vyre_build_param(b, s.n), 1));
    return_if(b, s.lid);
    vyre_build_else(b);
    barrier(b);
    vyre_build_if_end(b, 0, NULL);
})
SCENE(behind_a_return_by_all, {
    vyre_build_if(b, build_is(b, vyre_build_param(b, s.n), 1));
    vyre_build_return(b, 0, NULL);
    vyre_build_else(b);
    barrier(b);
    vyre_build_if_end(b, 0, NULL);
    barrier(b);
})
SCENE(behind_a_call_that_returns_early, {
    vyre_build_inline(b);
    vyre_build_if(b, build_is(b, s.lid, 1));
    vyre_build_return(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_store(b, s.y, s.lid, s.one);
    vyre_build_inline_end(b, 0, NULL);
    barrier(b);
})
SCENE(in_a_call_behind_a_return, {
    vyre_build_inline(b);
    vyre_build_if(b, build_is(b, s.lid, 1));
    vyre_build_return(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    barrier(b);
    vyre_build_inline_end(b, 0, NULL);
})
SCENE(in_a_call_in_a_branch, {
    vyre_build_if(b, build_is(b, s.lid, 1));
    vyre_build_inline(b);
    barrier(b);
    vyre_build_inline_end(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
})
SCENE(in_a_uniform_branch_of_a_divergent_one, {
    vyre_build_if(b, build_is(b, s.lid, 1));
    barrier_if(b, s.one, barrier);
    vyre_build_if_end(b, 0, NULL);
})

/* Loops */

SCENE(in_a_loop_over_an_argument, {
    for_to(b, vyre_build_param(b, s.n));
    barrier(b);
    loop_end(b);
})
SCENE(in_a_loop_over_lid, {
    for_to(b, s.lid);
    barrier(b);
    loop_end(b);
})
SCENE(behind_a_loop_over_lid, {
    for_to(b, s.lid);
    loop_end(b);
    barrier(b);
})
SCENE(in_a_loop_that_starts_at_lid, {
    vyre_build_for(b, s.lid, vyre_build_u32(b, 99), s.one, 0, NULL, NULL);
    barrier(b);
    loop_end(b);
})
SCENE(in_a_loop_that_steps_by_lid, {
    vyre_build_for(b, s.one, vyre_build_u32(b, 99), s.lid, 0, NULL, NULL);
    barrier(b);
    loop_end(b);
})
SCENE(behind_a_break_by_lid, {
    for_to(b, vyre_build_param(b, s.n));
    break_if(b, s.lid);
    barrier(b);
    loop_end(b);
})
SCENE(before_a_break_by_lid, {
    for_to(b, vyre_build_param(b, s.n));
    barrier(b);
    break_if(b, s.lid);
    loop_end(b);
})
SCENE(behind_a_loop_with_a_break_by_lid, {
    for_to(b, vyre_build_param(b, s.n));
    break_if(b, s.lid);
    loop_end(b);
    barrier(b);
})
SCENE(behind_a_break_by_all, {
    uint32_t k = for_to(b, vyre_build_param(b, s.n));
    break_if(b, k);
    barrier(b);
    loop_end(b);
})
SCENE(behind_a_continue_by_lid, {
    for_to(b, vyre_build_param(b, s.n));
    continue_if(b, s.lid);
    barrier(b);
    loop_end(b);
})
SCENE(before_a_continue_by_lid, {
    for_to(b, vyre_build_param(b, s.n));
    barrier(b);
    continue_if(b, s.lid);
    vyre_build_store(b, s.y, s.lid, s.one);
    loop_end(b);
})
SCENE(behind_a_loop_with_a_continue_by_lid, {
    for_to(b, vyre_build_param(b, s.n));
    continue_if(b, s.lid);
    vyre_build_store(b, s.y, s.lid, s.one);
    loop_end(b);
    barrier(b);
})
SCENE(behind_a_continue_by_all, {
    uint32_t k = for_to(b, vyre_build_param(b, s.n));
    continue_if(b, k);
    barrier(b);
    loop_end(b);
})
SCENE(behind_a_loop_with_a_return_by_lid, {
    for_to(b, vyre_build_param(b, s.n));
    return_if(b, s.lid);
    loop_end(b);
    barrier(b);
})
SCENE(behind_a_loop_with_a_return_by_all, {
    uint32_t k = for_to(b, vyre_build_param(b, s.n));
    return_if(b, k);
    loop_end(b);
    barrier(b);
})
SCENE(in_an_outer_loop_behind_an_inner_break_by_lid, {
    for_to(b, vyre_build_param(b, s.n));
    for_to(b, vyre_build_param(b, s.n));
    break_if(b, s.lid);
    loop_end(b);
    barrier(b);
    loop_end(b);
})
SCENE(in_an_inner_loop_of_an_outer_break_by_lid, {
    for_to(b, vyre_build_param(b, s.n));
    for_to(b, vyre_build_param(b, s.n));
    barrier(b);
    loop_end(b);
    break_if(b, s.lid);
    loop_end(b);
})
SCENE(in_an_endless_loop, {
    vyre_build_loop(b, 0, NULL, NULL);
    barrier(b);
    loop_end(b);
})
SCENE(in_an_endless_loop_with_a_return_by_lid, {
    vyre_build_loop(b, 0, NULL, NULL);
    barrier(b);
    return_if(b, s.lid);
    loop_end(b);
})

static const build_case flow_cases[] = {
    BUILD_CASE(behind_a_branch, 0, ""),
    BUILD_CASE(in_the_else_branch, 501, "`lid`"),
    BUILD_CASE(in_both_branches, 501, "`lid`"),
    BUILD_CASE(behind_a_return, 501, "`lid`"),
    BUILD_CASE(behind_a_return_by_wid, 0, ""),
    BUILD_CASE(behind_a_return_in_the_else_branch, 501, "`lid`"),
    BUILD_CASE(behind_a_nested_return, 501, "`lid`"),
    BUILD_CASE(before_a_return, 0, ""),
    BUILD_CASE(in_the_other_branch_of_a_nested_return, 0, ""),
    BUILD_CASE(behind_a_return_by_all, 0, ""),
    BUILD_CASE(behind_a_call_that_returns_early, 0, ""),
    BUILD_CASE(in_a_call_behind_a_return, 501, "`lid`"),
    BUILD_CASE(in_a_call_in_a_branch, 501, "`lid`"),
    BUILD_CASE(in_a_uniform_branch_of_a_divergent_one, 501, "`lid`"),
    BUILD_CASE(in_a_loop_over_an_argument, 0, ""),
    BUILD_CASE(in_a_loop_over_lid, 501, "`lid`"),
    BUILD_CASE(behind_a_loop_over_lid, 0, ""),
    BUILD_CASE(in_a_loop_that_starts_at_lid, 501, "`lid`"),
    BUILD_CASE(in_a_loop_that_steps_by_lid, 501, "`lid`"),
    BUILD_CASE(behind_a_break_by_lid, 501, "`lid`"),
    BUILD_CASE(before_a_break_by_lid, 501, "`lid`"),
    BUILD_CASE(behind_a_loop_with_a_break_by_lid, 0, ""),
    BUILD_CASE(behind_a_break_by_all, 0, ""),
    BUILD_CASE(behind_a_continue_by_lid, 501, "`lid`"),
    BUILD_CASE(before_a_continue_by_lid, 501, "`lid`"),
    BUILD_CASE(behind_a_loop_with_a_continue_by_lid, 0, ""),
    BUILD_CASE(behind_a_continue_by_all, 0, ""),
    BUILD_CASE(behind_a_loop_with_a_return_by_lid, 501, "`lid`"),
    BUILD_CASE(behind_a_loop_with_a_return_by_all, 0, ""),
    BUILD_CASE(in_an_outer_loop_behind_an_inner_break_by_lid, 0, ""),
    BUILD_CASE(in_an_inner_loop_of_an_outer_break_by_lid, 501, "`lid`"),
    BUILD_CASE(in_an_endless_loop, 0, ""),
    BUILD_CASE(in_an_endless_loop_with_a_return_by_lid, 501, "`lid`"),
};

/* Values out of blocks */

SCENE(by_a_value_of_a_branch, {
    uint32_t result;
    vyre_build_if(b, build_is(b, s.lid, 1));
    vyre_build_yield(b, 1, &s.one);
    vyre_build_else(b);
    vyre_build_yield(b, 1, &s.wid);
    vyre_build_if_end(b, 1, &result);
    barrier_if(b, result, barrier);
})
SCENE(by_a_value_of_a_uniform_branch, {
    uint32_t result;
    vyre_build_if(b, build_is(b, s.wid, 1));
    vyre_build_yield(b, 1, &s.one);
    vyre_build_else(b);
    vyre_build_yield(b, 1, &s.wid);
    vyre_build_if_end(b, 1, &result);
    barrier_if(b, result, barrier);
})
SCENE(by_a_value_of_the_branch_that_is_left, {
    uint32_t result;
    vyre_build_if(b, build_is(b, s.wid, 1));
    vyre_build_return(b, 0, NULL);
    vyre_build_else(b);
    vyre_build_yield(b, 1, &s.wid);
    vyre_build_if_end(b, 1, &result);
    barrier_if(b, result, barrier);
})
SCENE(by_a_variable_set_in_a_branch, {
    uint32_t v = vyre_build_var(b, "v", s.wid);
    vyre_build_if(b, build_is(b, s.lid, 1));
    vyre_build_set(b, v, s.one);
    vyre_build_if_end(b, 0, NULL);
    barrier_if(b, vyre_build_get(b, v), barrier);
})
SCENE(by_the_turn_of_a_break_by_lid, {
    uint32_t result, zero = vyre_build_u32(b, 0), arg;
    vyre_build_loop(b, 1, &zero, &arg);
    vyre_build_if(b, build_op2(b, VYRE_OP_EQ, arg, s.lid));
    vyre_build_break(b, 1, &arg);
    vyre_build_if_end(b, 0, NULL);
    uint32_t next = build_op2(b, VYRE_OP_ADD, arg, s.one);
    vyre_build_continue(b, 1, &next);
    vyre_build_loop_end(b, 1, &result);
    barrier_if(b, result, barrier);
})
SCENE(by_a_constant_of_a_break_by_lid, {
    uint32_t result, zero = vyre_build_u32(b, 0);
    uint32_t k = vyre_build_for(b, zero, vyre_build_param(b, s.n), s.one, 1, &zero, &result);
    vyre_build_if(b, build_op2(b, VYRE_OP_EQ, k, s.lid));
    vyre_build_break(b, 1, &s.one);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_continue(b, 1, &zero);
    vyre_build_loop_end(b, 1, &result);
    barrier_if(b, result, barrier);
})
SCENE(by_the_turn_of_a_break_by_all, {
    uint32_t result, zero = vyre_build_u32(b, 0), arg;
    vyre_build_loop(b, 1, &zero, &arg);
    vyre_build_if(b, build_op2(b, VYRE_OP_EQ, arg, s.wid));
    vyre_build_break(b, 1, &arg);
    vyre_build_if_end(b, 0, NULL);
    uint32_t next = build_op2(b, VYRE_OP_ADD, arg, s.one);
    vyre_build_continue(b, 1, &next);
    vyre_build_loop_end(b, 1, &result);
    barrier_if(b, result, barrier);
})
SCENE(by_the_turns_of_a_loop_over_lid, {
    uint32_t v = vyre_build_var(b, "v", s.one);
    for_to(b, s.lid);
    vyre_build_set(b, v, build_op2(b, VYRE_OP_ADD, vyre_build_get(b, v), s.one));
    loop_end(b);
    barrier_if(b, vyre_build_get(b, v), barrier);
})
SCENE(by_the_turns_of_a_loop_over_wid, {
    uint32_t v = vyre_build_var(b, "v", s.one);
    for_to(b, s.wid);
    vyre_build_set(b, v, build_op2(b, VYRE_OP_ADD, vyre_build_get(b, v), s.one));
    loop_end(b);
    barrier_if(b, vyre_build_get(b, v), barrier);
})
SCENE(by_which_continue_was_taken, {
    uint32_t v = vyre_build_var(b, "v", s.one);
    for_to(b, vyre_build_param(b, s.n));
    vyre_build_if(b, build_is(b, s.lid, 1));
    vyre_build_set(b, v, s.wid);
    vyre_build_continue(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_set(b, v, s.one);
    loop_end(b);
    barrier_if(b, vyre_build_get(b, v), barrier);
})
/* Only in the third turn it arrives at the last of them. */
SCENE(by_a_value_passed_on_from_turn_to_turn, {
    uint32_t values[4] = {s.one, s.one, s.one, s.one};
    uint32_t args[4];
    vyre_build_for(b, s.one, vyre_build_param(b, s.n), s.one, 4, values, args);
    vyre_build_continue(b, 4, (uint32_t[]){s.lid, args[0], args[1], args[2]});
    vyre_build_loop_end(b, 4, values);
    barrier_if(b, values[3], barrier);
})
SCENE(in_a_loop_by_a_value_passed_on, {
    uint32_t values[2] = {s.one, s.one};
    uint32_t args[2];
    vyre_build_for(b, s.one, vyre_build_param(b, s.n), s.one, 2, values, args);
    barrier_if(b, args[1], barrier);
    vyre_build_continue(b, 2, (uint32_t[]){s.lid, args[0]});
    vyre_build_loop_end(b, 2, values);
})
SCENE(by_the_value_of_an_early_return, {
    uint32_t result;
    vyre_build_inline(b);
    vyre_build_if(b, build_is(b, s.lid, 1));
    vyre_build_return(b, 1, &s.one);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_return(b, 1, &s.wid);
    vyre_build_inline_end(b, 1, &result);
    barrier_if(b, result, barrier);
})
SCENE(by_the_value_of_one_return, {
    uint32_t result;
    vyre_build_inline(b);
    vyre_build_return(b, 1, &s.wid);
    vyre_build_inline_end(b, 1, &result);
    barrier_if(b, result, barrier);
})
/* One return alone, taken in a turn of each invocation's own. */
SCENE(by_the_turn_of_a_return_by_lid, {
    uint32_t result, zero = vyre_build_u32(b, 0), arg;
    vyre_build_inline(b);
    vyre_build_loop(b, 1, &zero, &arg);
    vyre_build_if(b, build_op2(b, VYRE_OP_EQ, arg, s.lid));
    vyre_build_return(b, 1, &arg);
    vyre_build_if_end(b, 0, NULL);
    uint32_t next = build_op2(b, VYRE_OP_ADD, arg, s.one);
    vyre_build_continue(b, 1, &next);
    loop_end(b);
    vyre_build_inline_end(b, 1, &result);
    barrier_if(b, result, barrier);
})
SCENE(by_the_turn_of_a_return_by_all, {
    uint32_t result, zero = vyre_build_u32(b, 0), arg;
    vyre_build_inline(b);
    vyre_build_loop(b, 1, &zero, &arg);
    vyre_build_if(b, build_op2(b, VYRE_OP_EQ, arg, s.wid));
    vyre_build_return(b, 1, &arg);
    vyre_build_if_end(b, 0, NULL);
    uint32_t next = build_op2(b, VYRE_OP_ADD, arg, s.one);
    vyre_build_continue(b, 1, &next);
    loop_end(b);
    vyre_build_inline_end(b, 1, &result);
    barrier_if(b, result, barrier);
})

static const build_case value_cases[] = {
    BUILD_CASE(by_a_value_of_a_branch, 501, "`lid`"),
    BUILD_CASE(by_a_value_of_a_uniform_branch, 0, ""),
    BUILD_CASE(by_a_value_of_the_branch_that_is_left, 0, ""),
    BUILD_CASE(by_a_variable_set_in_a_branch, 501, "`lid`"),
    BUILD_CASE(by_the_turn_of_a_break_by_lid, 501, "`lid`"),
    BUILD_CASE(by_a_constant_of_a_break_by_lid, 501, "`lid`"),
    BUILD_CASE(by_the_turn_of_a_break_by_all, 0, ""),
    BUILD_CASE(by_the_turns_of_a_loop_over_lid, 501, "`lid`"),
    BUILD_CASE(by_the_turns_of_a_loop_over_wid, 0, ""),
    BUILD_CASE(by_which_continue_was_taken, 501, "`lid`"),
    BUILD_CASE(by_a_value_passed_on_from_turn_to_turn, 501, "`lid`"),
    BUILD_CASE(in_a_loop_by_a_value_passed_on, 501, "`lid`"),
    BUILD_CASE(by_the_value_of_an_early_return, 501, "`lid`"),
    BUILD_CASE(by_the_value_of_one_return, 0, ""),
    BUILD_CASE(by_the_turn_of_a_return_by_lid, 501, "`lid`"),
    BUILD_CASE(by_the_turn_of_a_return_by_all, 0, ""),
};

/* Whole grid, uniform loads, subgroups */

SCENE(grid_under_wid, barrier_if(b, s.wid, grid_barrier);)
SCENE(grid_under_an_argument, barrier_if(b, vyre_build_param(b, s.n), grid_barrier);)
SCENE(grid_under_lid, barrier_if(b, s.lid, grid_barrier);)
SCENE(grid_behind_a_return_by_wid, {
    return_if(b, s.wid);
    grid_barrier(b);
})
SCENE(grid_in_a_loop_over_wid, {
    for_to(b, s.wid);
    grid_barrier(b);
    loop_end(b);
})
SCENE(grid_behind_a_loop_over_wid, {
    for_to(b, s.wid);
    loop_end(b);
    grid_barrier(b);
})
SCENE(grid_under_a_uniform_load_of_shared,
      barrier_if(b, vyre_build_uniform_load(b, s.shared, s.one), grid_barrier);)
SCENE(grid_under_a_uniform_load,
      barrier_if(b, vyre_build_uniform_load(b, s.y, s.one), grid_barrier);)
SCENE(grid_under_a_uniform_load_at_wid,
      barrier_if(b, vyre_build_uniform_load(b, s.y, s.wid), grid_barrier);)
SCENE(grid_under_a_uniform_load_under_wid, {
    uint32_t v = vyre_build_var(b, "v", s.one);
    vyre_build_if(b, build_is(b, s.wid, 1));
    vyre_build_set(b, v, vyre_build_uniform_load(b, s.y, s.one));
    vyre_build_if_end(b, 0, NULL);
    barrier_if(b, vyre_build_get(b, v), grid_barrier);
})
SCENE(grid_in_a_persistent_loop, {
    vyre_build_loop(b, 0, NULL, NULL);
    grid_barrier(b);
    uint32_t left = vyre_build_uniform_load(b, s.y, s.one);
    break_if(b, left);
    grid_barrier(b);
    loop_end(b);
})
SCENE(uniform_load_under_lid, {
    vyre_build_if(b, build_is(b, s.lid, 1));
    vyre_build_uniform_load(b, s.y, s.one);
    vyre_build_if_end(b, 0, NULL);
})
SCENE(uniform_load_under_wid, {
    vyre_build_if(b, build_is(b, s.wid, 1));
    vyre_build_uniform_load(b, s.y, s.one);
    vyre_build_if_end(b, 0, NULL);
})
SCENE(uniform_load_at_lid, vyre_build_uniform_load(b, s.y, s.lid);)
SCENE(uniform_load_at_wid, vyre_build_uniform_load(b, s.y, s.wid);)
SCENE(uniform_load_at_a_load, vyre_build_uniform_load(b, s.y, vyre_build_load(b, s.y, s.one));)
SCENE(subgroup_under_lid, {
    vyre_build_if(b, build_is(b, s.lid, 1));
    build_op2(b, VYRE_OP_SHUFFLE_XOR, s.lid, s.one);
    vyre_build_if_end(b, 0, NULL);
})
SCENE(subgroup_under_subgroup_id, {
    vyre_build_if(b, build_is(b, vyre_build_position(b, VYRE_OP_SUBGROUP_ID, 0), 1));
    build_op2(b, VYRE_OP_SHUFFLE_XOR, s.lid, s.one);
    vyre_build_if_end(b, 0, NULL);
})
SCENE(subgroup_under_a_vote, {
    vyre_build_if(b, build_op2(b, VYRE_OP_ANY, build_is(b, s.lid, 1), NONE));
    vyre_build_combine(b, VYRE_OP_SCAN_EXCLUSIVE, VYRE_COMBINE_ADD, s.lid);
    vyre_build_if_end(b, 0, NULL);
})
SCENE(subgroup_under_a_ballot, {
    uint32_t mask = build_op2(b, VYRE_OP_BALLOT, build_is(b, s.lid, 1), NONE);
    vyre_build_if(b, build_is(b, mask, 0));
    build_op2(b, VYRE_OP_ALL, build_is(b, s.lid, 1), NONE);
    vyre_build_if_end(b, 0, NULL);
})
SCENE(subgroup_behind_a_return_by_lid, {
    return_if(b, s.lid);
    vyre_build_combine(b, VYRE_OP_REDUCE, VYRE_COMBINE_MAX, s.lid);
})
SCENE(subgroup_behind_a_return_by_a_vote, {
    vyre_build_if(b, build_op2(b, VYRE_OP_ALL, build_is(b, s.lid, 1), NONE));
    vyre_build_return(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_combine(b, VYRE_OP_REDUCE, VYRE_COMBINE_MAX, s.lid);
})
SCENE(subgroup_in_a_loop_until_a_vote, {
    vyre_build_loop(b, 0, NULL, NULL);
    uint32_t done = build_op2(b, VYRE_OP_ALL, build_is(b, vyre_build_load(b, s.y, s.lid), 1), NONE);
    vyre_build_if(b, done);
    vyre_build_break(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    loop_end(b);
})
SCENE(subgroup_in_a_loop_until_a_break_by_lid, {
    vyre_build_loop(b, 0, NULL, NULL);
    vyre_build_combine(b, VYRE_OP_REDUCE, VYRE_COMBINE_MAX, s.lid);
    break_if(b, s.lid);
    loop_end(b);
})
SCENE(barrier_under_a_vote, {
    vyre_build_if(b, build_op2(b, VYRE_OP_ANY, build_is(b, s.lid, 1), NONE));
    barrier(b);
    vyre_build_if_end(b, 0, NULL);
})
SCENE(broadcast_from_lid, build_op2(b, VYRE_OP_BROADCAST, s.wid, s.lid);)
SCENE(broadcast_from_a_constant, build_op2(b, VYRE_OP_BROADCAST, s.lid, s.one);)
SCENE(broadcast_from_subgroup_id,
      build_op2(b, VYRE_OP_BROADCAST, s.lid, vyre_build_position(b, VYRE_OP_SUBGROUP_ID, 0));)
SCENE(lane_under_lid, {
    vyre_build_if(b, build_is(b, s.lid, 1));
    vyre_build_position(b, VYRE_OP_LANE, 0);
    vyre_build_if_end(b, 0, NULL);
})

static const build_case group_cases[] = {
    BUILD_CASE(grid_under_wid, 501,
               "by the whole grid together, but whether an invocation gets there depends on `wid`"),
    BUILD_CASE(grid_under_an_argument, 0, ""),
    BUILD_CASE(grid_under_lid, 501, "`lid`"),
    BUILD_CASE(grid_behind_a_return_by_wid, 501, "`wid`"),
    BUILD_CASE(grid_in_a_loop_over_wid, 501, "`wid`"),
    BUILD_CASE(grid_behind_a_loop_over_wid, 0, ""),
    BUILD_CASE(grid_under_a_uniform_load_of_shared, 501, "`uniform_load`"),
    BUILD_CASE(grid_under_a_uniform_load, 0, ""),
    BUILD_CASE(grid_under_a_uniform_load_at_wid, 501, "`wid`"),
    BUILD_CASE(grid_under_a_uniform_load_under_wid, 501, "`wid`"),
    BUILD_CASE(grid_in_a_persistent_loop, 0, ""),
    BUILD_CASE(uniform_load_under_lid, 501,
               "`uniform_load` must be reached by the whole workgroup"),
    BUILD_CASE(uniform_load_under_wid, 0, ""),
    BUILD_CASE(uniform_load_at_lid, 503, "must be the same for the whole workgroup"),
    BUILD_CASE(uniform_load_at_wid, 0, ""),
    BUILD_CASE(uniform_load_at_a_load, 503, "an element of `y`"),
    BUILD_CASE(subgroup_under_lid, 502,
               "`subgroup_shuffle_xor` must be reached by the whole subgroup"),
    BUILD_CASE(subgroup_under_subgroup_id, 0, ""),
    BUILD_CASE(subgroup_under_a_vote, 0, ""),
    BUILD_CASE(subgroup_under_a_ballot, 0, ""),
    BUILD_CASE(subgroup_behind_a_return_by_lid, 502, "`lid`"),
    BUILD_CASE(subgroup_behind_a_return_by_a_vote, 0, ""),
    BUILD_CASE(subgroup_in_a_loop_until_a_vote, 0, ""),
    BUILD_CASE(subgroup_in_a_loop_until_a_break_by_lid, 502, "`lid`"),
    BUILD_CASE(barrier_under_a_vote, 501, "`lid`"),
    BUILD_CASE(broadcast_from_lid, 503, "operand 2 of `subgroup_broadcast` must be the same"),
    BUILD_CASE(broadcast_from_a_constant, 0, ""),
    BUILD_CASE(broadcast_from_subgroup_id, 0, ""),
    BUILD_CASE(lane_under_lid, 0, ""),
};

#define CHECK(cases) build_cases_check(cases, sizeof(cases) / sizeof *(cases))

static void uniformity_of_conditions(void **state) {
    (void)state;
    CHECK(condition_cases);
}

static void uniformity_of_control_flow(void **state) {
    (void)state;
    CHECK(flow_cases);
}

static void uniformity_of_values_out_of_blocks(void **state) {
    (void)state;
    CHECK(value_cases);
}

static void uniformity_for_grids_and_subgroups(void **state) {
    (void)state;
    CHECK(group_cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniformity_of_conditions),
        cmocka_unit_test(uniformity_of_control_flow),
        cmocka_unit_test(uniformity_of_values_out_of_blocks),
        cmocka_unit_test(uniformity_for_grids_and_subgroups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
