/* Determinism classes: proven, claimed or not, and why not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/build_check.h"

typedef struct scene {
    uint32_t x, y, out, i, one, two;
} scene;

static scene open_scene(vyre_builder *b) {
    scene s;
    s.x = build_buffer(b, "x", VYRE_ACCESS_INOUT, VYRE_TYPE_U32);
    s.y = build_buffer(b, "y", VYRE_ACCESS_INOUT, VYRE_TYPE_U32);
    s.out = build_buffer(b, "out", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 64);
    s.i = build_gid(b);
    s.one = vyre_build_u32(b, 1);
    s.two = vyre_build_u32(b, 2);
    return s;
}

static uint32_t atomic(vyre_builder *b, vyre_op op, uint32_t array, uint32_t value) {
    return vyre_build_atomic(b, op, array, vyre_build_u32(b, 0), value,
                             op == VYRE_OP_ATOMIC_CAS ? value : VYRE_NONE, VYRE_ORDERING_RELAXED,
                             VYRE_SCOPE_DEVICE);
}

#define SCENE(name, ...)                                                                           \
    static void name(vyre_builder *b) {                                                            \
        scene s = open_scene(b);                                                                   \
        (void)s;                                                                                   \
        __VA_ARGS__                                                                                \
        vyre_build_phase_end(b);                                                                   \
    }

SCENE(no_atomics, vyre_build_store(b, s.out, s.i, s.i);)
SCENE(sum, atomic(b, VYRE_OP_ATOMIC_ADD, s.x, s.i);)
SCENE(sum_and_difference, {
    atomic(b, VYRE_OP_ATOMIC_ADD, s.x, s.i);
    atomic(b, VYRE_OP_ATOMIC_SUB, s.x, s.one);
})
SCENE(every_kind_on_its_own_array, {
    uint32_t shared[7];
    for (uint32_t i = 0; i < 7; i++) {
        shared[i] = vyre_build_shared(b, NULL, VYRE_TYPE_U32, 1);
    }
    for (uint32_t i = 0; i < 7; i++) {
        atomic(b, (vyre_op)(VYRE_OP_ATOMIC_ADD + i), shared[i], s.i);
        atomic(b, (vyre_op)(VYRE_OP_ATOMIC_ADD + i), shared[i], s.one);
    }
})
SCENE(old_value_is_stored,
      vyre_build_store(b, s.out, s.i, atomic(b, VYRE_OP_ATOMIC_ADD, s.x, s.one));)
SCENE(old_value_is_an_index,
      vyre_build_store(b, s.out, atomic(b, VYRE_OP_ATOMIC_MAX, s.x, s.one), s.i);)
SCENE(old_value_is_a_condition, {
    vyre_build_if(b, build_is(b, atomic(b, VYRE_OP_ATOMIC_OR, s.x, s.one), 1));
    vyre_build_if_end(b, 0, NULL);
})
SCENE(old_value_of_a_chain, {
    uint32_t old = atomic(b, VYRE_OP_ATOMIC_XOR, s.x, s.one);
    old = build_op2(b, VYRE_OP_ADD, old, s.i);
    old = build_op2(b, VYRE_OP_MUL, old, old);
    vyre_build_store(b, s.out, s.i, old);
})
SCENE(old_value_that_goes_nowhere, {
    uint32_t old = atomic(b, VYRE_OP_ATOMIC_ADD, s.x, s.one);
    old = build_op2(b, VYRE_OP_ADD, old, s.i);
    build_op2(b, VYRE_OP_MUL, old, old);
})
SCENE(old_value_passed_to_another_atomic,
      atomic(b, VYRE_OP_ATOMIC_ADD, s.y, atomic(b, VYRE_OP_ATOMIC_ADD, s.x, s.one));)
SCENE(old_value_read_as_an_index,
      vyre_build_load(b, s.out, atomic(b, VYRE_OP_ATOMIC_ADD, s.x, s.one));)
SCENE(compare_and_swap, atomic(b, VYRE_OP_ATOMIC_CAS, s.x, s.one);)
SCENE(store_of_a_constant, {
    atomic(b, VYRE_OP_ATOMIC_STORE, s.x, s.one);
    atomic(b, VYRE_OP_ATOMIC_STORE, s.x, s.one);
})
SCENE(store_of_two_constants, {
    atomic(b, VYRE_OP_ATOMIC_STORE, s.x, s.one);
    atomic(b, VYRE_OP_ATOMIC_STORE, s.x, s.two);
})
SCENE(store_of_a_value, atomic(b, VYRE_OP_ATOMIC_STORE, s.x, s.i);)
SCENE(exchange_of_a_constant, {
    atomic(b, VYRE_OP_ATOMIC_EXCHANGE, s.x, s.one);
    atomic(b, VYRE_OP_ATOMIC_STORE, s.x, s.one);
})
SCENE(exchange_of_a_value, atomic(b, VYRE_OP_ATOMIC_EXCHANGE, s.x, s.i);)
SCENE(two_kinds, {
    atomic(b, VYRE_OP_ATOMIC_MIN, s.x, s.i);
    atomic(b, VYRE_OP_ATOMIC_MAX, s.x, s.i);
})
SCENE(two_kinds_on_two_arrays, {
    atomic(b, VYRE_OP_ATOMIC_MIN, s.x, s.i);
    atomic(b, VYRE_OP_ATOMIC_MAX, s.y, s.i);
})
SCENE(two_kinds_in_two_phases, {
    atomic(b, VYRE_OP_ATOMIC_MIN, s.x, s.i);
    vyre_build_phase_end(b);
    build_phase(b, 64);
    atomic(b, VYRE_OP_ATOMIC_MAX, s.x, s.one);
})
SCENE(sum_and_a_store_of_a_value, {
    atomic(b, VYRE_OP_ATOMIC_ADD, s.x, s.i);
    atomic(b, VYRE_OP_ATOMIC_STORE, s.x, s.i);
})
SCENE(load_alone, vyre_build_store(b, s.out, s.i, atomic(b, VYRE_OP_ATOMIC_LOAD, s.x, VYRE_NONE));)
SCENE(load_of_a_sum, {
    atomic(b, VYRE_OP_ATOMIC_ADD, s.x, s.one);
    vyre_build_store(b, s.out, s.i, atomic(b, VYRE_OP_ATOMIC_LOAD, s.x, VYRE_NONE));
})
SCENE(sum_of_a_load, {
    vyre_build_store(b, s.out, s.i, atomic(b, VYRE_OP_ATOMIC_LOAD, s.x, VYRE_NONE));
    atomic(b, VYRE_OP_ATOMIC_ADD, s.x, s.one);
})
SCENE(load_of_a_sum_that_goes_nowhere, {
    atomic(b, VYRE_OP_ATOMIC_ADD, s.x, s.one);
    atomic(b, VYRE_OP_ATOMIC_LOAD, s.x, VYRE_NONE);
})
SCENE(second_phase_is_at_fault, {
    atomic(b, VYRE_OP_ATOMIC_ADD, s.x, s.one);
    vyre_build_phase_end(b);
    build_phase(b, 0);
    vyre_build_at(b, 17, 3, 1);
    vyre_build_store(b, s.out, s.one, atomic(b, VYRE_OP_ATOMIC_ADD, s.y, s.one));
})

static const struct {
    const char *name;
    build_function build;
    const char *reason; /* NULL: proven */
} cases[] = {
#define CASE(name, reason)                                                                         \
    { #name, name, reason }
    CASE(no_atomics, NULL),
    CASE(sum, NULL),
    CASE(sum_and_difference, NULL),
    CASE(every_kind_on_its_own_array, NULL),
    CASE(old_value_is_stored,
         "`atomic_add` at instruction 1 returns an old value that may reach an "
         "output"),
    CASE(old_value_is_an_index, "`atomic_max` at instruction 1 returns an old value"),
    CASE(old_value_is_a_condition, "`atomic_or` at instruction 1 returns an old value"),
    CASE(old_value_of_a_chain, "`atomic_xor` at instruction 1 returns an old value"),
    CASE(old_value_that_goes_nowhere, NULL),
    CASE(old_value_passed_to_another_atomic, "`atomic_add` at instruction 1 returns an old value"),
    CASE(old_value_read_as_an_index, NULL),
    CASE(compare_and_swap,
         "`atomic_cas` at instruction 1 succeeds or fails depending on what other invocations did "
         "before"),
    CASE(store_of_a_constant, NULL),
    CASE(store_of_two_constants,
         "`atomic_store` at instruction 2 leaves the value of whichever invocation runs last"),
    CASE(store_of_a_value, "`atomic_store` at instruction 1 leaves the value of whichever"),
    CASE(exchange_of_a_constant, NULL),
    CASE(exchange_of_a_value, "`atomic_exchange` at instruction 1 leaves the value of whichever"),
    CASE(two_kinds,
         "`atomic_max` at instruction 2 is mixed with another kind of atomic on the same array in "
         "the same phase"),
    CASE(two_kinds_on_two_arrays, NULL),
    CASE(two_kinds_in_two_phases, NULL),
    CASE(sum_and_a_store_of_a_value,
         "`atomic_store` at instruction 2 is mixed with another kind of atomic on the same array "
         "in the same phase"),
    CASE(load_alone, NULL),
    CASE(load_of_a_sum, "`atomic_load` at instruction 2 is mixed with another kind"),
    CASE(sum_of_a_load, "`atomic_add` at instruction 3 is mixed with another kind"),
    CASE(load_of_a_sum_that_goes_nowhere, NULL),
    CASE(second_phase_is_at_fault, "`atomic_add` in line 17 returns an old value"),
#undef CASE
};

static build_function claimed_build;

static void build_claimed(vyre_builder *b) {
    vyre_build_deterministic(b);
    claimed_build(b);
}

static void determinism_is_classified_with_its_reason(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int claimed = 0; claimed < 2; claimed++) {
            claimed_build = cases[i].build;
            vyre_program *program = build_valid(claimed ? build_claimed : cases[i].build);
            vyre_determinism wanted = !cases[i].reason ? VYRE_DETERMINISTIC
                                      : claimed        ? VYRE_CLAIMED
                                                       : VYRE_SCHEDULE_DEPENDENT;
            vyre_determinism found = vyre_program_determinism(program);
            const char *reason = vyre_program_determinism_reason(program);
            /* One reason, not several run together. */
            const char *again = strchr(reason, '`') ? strstr(reason + 1, " at instruction ") : NULL;
            bool twice = again && strstr(again + 1, " at instruction ");
            if (found != wanted ||
                strncmp(reason, cases[i].reason ? cases[i].reason : "",
                        cases[i].reason ? strlen(cases[i].reason) : 1) != 0 ||
                twice) {
                fail_msg("%s: found %s, \"%s\"", cases[i].name, vyre_determinism_name(found),
                         reason);
            }
            vyre_program_release(program);
        }
    }
}

static void determinism_classes_have_names(void **state) {
    (void)state;
    assert_string_equal(vyre_determinism_name(VYRE_DETERMINISTIC), "deterministic");
    assert_string_equal(vyre_determinism_name(VYRE_CLAIMED), "claimed deterministic");
    assert_string_equal(vyre_determinism_name(VYRE_SCHEDULE_DEPENDENT), "schedule-dependent");
    assert_string_equal(vyre_determinism_name((vyre_determinism)9), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(determinism_is_classified_with_its_reason),
        cmocka_unit_test(determinism_classes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
