/* What invocations know of one another, against a table with one entry a lane. */
#include "backend/reference/machine.h"
#include "tests/unit/reference_check.h"

enum { GROUPS = 5, LANES = 12, LISTS = 6, STEPS = 60000 };

/* Of workgroups. */
static const uint32_t numbers[GROUPS] = {0, 1, 6, 0x80000001, 0xfffffffe};

/* Entry LANES of a group is the group as a whole. */
typedef struct table {
    uint32_t times[GROUPS][LANES + 1];
} table;

static uint64_t random_state = 7;

static uint32_t draw(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

static void compare(const knowledge *known, const table *expected) {
    for (uint32_t group = 0; group < GROUPS; group++) {
        for (uint32_t lane = 0; lane < LANES; lane++) {
            const uint32_t *times = expected->times[group];
            uint32_t time = draw(8), barriers = draw(8);
            stamp access = {numbers[group], lane, barriers, time};
            assert_int_equal(knowledge_has(known, &access),
                             time < times[lane] || barriers < times[LANES]);
        }
    }
    stamp access = {12345, 0, 0, 0};
    assert_false(knowledge_has(known, &access));
}

/* Trees are shared, so all of them are looked at after a step, not only the one that changed. */
static void trees_say_what_a_table_says(void **state) {
    (void)state;
    static const vyre_reference_options options;
    machine m = {.options = &options};
    knowledge lists[LISTS] = {0};
    table tables[LISTS] = {0};
    for (int step = 0; step < STEPS; step++) {
        uint32_t to = draw(LISTS), from = draw(LISTS), what = draw(20);
        if (what == 0) {
            knowledge_clear(&m, &lists[to]);
            memset(&tables[to], 0, sizeof tables[to]);
        } else if (what < 5 && to != from) {
            assert_true(knowledge_join(&m, &lists[to], &lists[from]));
            for (uint32_t i = 0; i < GROUPS * (LANES + 1); i++) {
                uint32_t *mine = &tables[to].times[0][0] + i,
                         other = (&tables[from].times[0][0])[i];
                *mine = *mine > other ? *mine : other;
            }
        } else {
            uint32_t group = draw(GROUPS), lane = draw(LANES + 1), time = draw(3) + 1 + draw(3);
            mark added = lane == LANES ? (mark){numbers[group], 0, 0, time}
                                       : (mark){numbers[group], lane, time, 0};
            assert_true(knowledge_add(&m, &lists[to], added));
            uint32_t *mine = &tables[to].times[group][lane];
            *mine = *mine > time ? *mine : time;
        }
        for (int i = 0; i < LISTS; i++) {
            compare(&lists[i], &tables[i]);
        }
    }
    for (int i = 0; i < LISTS; i++) {
        knowledge_clear(&m, &lists[i]);
    }
    assert_int_equal(m.memory_bytes, 0);
    assert_null(m.status);
}

/* Whoever learns from others in turn, each of which knows one more, costs the same each time. */
static void what_is_shared_is_not_copied(void **state) {
    (void)state;
    static const vyre_reference_options options;
    enum { MANY = 20000 };
    machine m = {.options = &options};
    knowledge left = {0}, reader = {0};
    for (uint32_t i = 0; i < MANY; i++) {
        assert_true(knowledge_add(&m, &left, (mark){i, i % 7, 1, 0}));
        assert_true(knowledge_join(&m, &reader, &left));
        assert_ptr_equal(reader.root, left.root);
    }
    assert_true(m.joined < (uint64_t)MANY * 100);
    assert_true(m.memory_bytes < (uint64_t)MANY * 200);
    knowledge_clear(&m, &left);
    knowledge_clear(&m, &reader);
    assert_int_equal(m.memory_bytes, 0);
}

/* Lanes in a row of which the same is known take the room of one. */
static void rows_of_lanes_take_one_place(void **state) {
    (void)state;
    static const vyre_reference_options options;
    machine m = {.options = &options};
    knowledge forwards = {0}, backwards = {0};
    uint64_t one = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(knowledge_add(&m, &forwards, (mark){3, i, 1, 1}));
        assert_true(knowledge_add(&m, &backwards, (mark){3, 999 - i, 1, 0}));
        one = i ? one : m.memory_bytes;
    }
    assert_int_equal(m.memory_bytes, one);
    assert_true(knowledge_join(&m, &backwards, &forwards));
    assert_ptr_equal(backwards.root, forwards.root);
    assert_int_equal(m.memory_bytes, one / 2);
    knowledge_free(&forwards);
    knowledge_free(&backwards);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_say_what_a_table_says),
        cmocka_unit_test(what_is_shared_is_not_copied),
        cmocka_unit_test(rows_of_lanes_take_one_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
