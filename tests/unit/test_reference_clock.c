/* What invocations know of one another, against a table with one entry a lane. */
#include "backend/reference/machine.h"
#include "tests/unit/reference_check.h"

enum { GROUPS = 5, LANES = 12, LISTS = 6, STEPS = 60000 };

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
            stamp access = {group, lane, barriers, time};
            assert_int_equal(knowledge_has(known, &access),
                             time < times[lane] || barriers < times[LANES]);
        }
    }
    for (uint32_t i = 0; i < known->count; i++) {
        const mark *at = &known->marks[i], *before = i ? at - 1 : NULL;
        assert_true(at->first <= at->last);
        assert_true(!before || before->group < at->group ||
                    (before->group == at->group && before->last < at->first));
    }
}

static void lists_of_marks_say_what_a_table_says(void **state) {
    (void)state;
    static const vyre_reference_options options;
    machine m = {.options = &options};
    knowledge lists[LISTS] = {0};
    table tables[LISTS] = {0};
    for (int step = 0; step < STEPS; step++) {
        uint32_t to = draw(LISTS), from = draw(LISTS), what = draw(20);
        if (what == 0) {
            knowledge_clear(&lists[to]);
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
            uint32_t written = lane == LANES ? WHOLE_GROUP : lane;
            assert_true(knowledge_add(&m, &lists[to], (mark){group, written, written, time}));
            uint32_t *mine = &tables[to].times[group][lane];
            *mine = *mine > time ? *mine : time;
        }
        compare(&lists[to], &tables[to]);
    }
    uint64_t held = 0;
    for (int i = 0; i < LISTS; i++) {
        held += lists[i].capacity * sizeof(mark);
        knowledge_free(&lists[i]);
    }
    assert_int_equal(m.memory_bytes, held);
    assert_null(m.status);
}

/* Lanes in a row that know the same take one mark. */
static void rows_of_lanes_are_one_mark(void **state) {
    (void)state;
    static const vyre_reference_options options;
    machine m = {.options = &options};
    knowledge forwards = {0}, backwards = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t back = 999 - i;
        assert_true(knowledge_add(&m, &forwards, (mark){3, i, i, 1}));
        assert_true(knowledge_add(&m, &backwards, (mark){3, back, back, 1}));
        assert_true(knowledge_add(&m, &forwards, (mark){3, WHOLE_GROUP, WHOLE_GROUP, 1}));
    }
    assert_int_equal(forwards.count, 2);
    assert_int_equal(backwards.count, 1);
    assert_true(knowledge_join(&m, &forwards, &backwards));
    assert_int_equal(forwards.count, 2);
    knowledge_free(&forwards);
    knowledge_free(&backwards);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_marks_say_what_a_table_says),
        cmocka_unit_test(rows_of_lanes_are_one_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
