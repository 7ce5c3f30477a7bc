/* Random kernels of loads, stores, relaxed atomics and barriers: the sanitizer reports a race if
 * and only if two accesses of the kernel, all compared with all, are one. */
#include "base/strbuf.h"
#include "tests/unit/reference_check.h"

enum { PROGRAMS = 1500, GROUPS = 3, LANES = 6, ELEMENTS = 4, STATEMENTS = 7 };

typedef enum what { LOAD, STORE, ATOMIC, ATOMIC_LOAD, BARRIER } what;

typedef struct statement {
    what what;
    bool shared;
    uint32_t factor, offset; /* the element is (lid * factor + offset) % ELEMENTS */
    uint32_t from, to;       /* the lanes that do it, from <= lid < to */
    uint32_t group;          /* the workgroup that does it; GROUPS for all */
} statement;

static uint64_t random_state;

static uint32_t draw(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

static void make(statement *s) {
    *s = (statement){.what = (what)draw(5),
                     .shared = draw(2),
                     .factor = draw(3) ? 0 : 1 + draw(2),
                     .offset = draw(ELEMENTS),
                     .from = draw(3) ? 0 : draw(LANES),
                     .group = draw(3) ? draw(GROUPS) : GROUPS};
    s->to = draw(2) ? LANES : s->from + 1;
}

static void put(vyre_strbuf *text, const statement *s) {
    if (s->what == BARRIER) {
        vyre_strbuf_puts(text, "    barrier;\n");
        return;
    }
    vyre_strbuf_printf(text, "    if lid >= %u && lid < %u", s->from, s->to);
    if (s->group < GROUPS) {
        vyre_strbuf_printf(text, " && wid == %u", s->group);
    }
    char place[64];
    snprintf(place, sizeof place, "%s[(lid * %u + %u) %% %d]", s->shared ? "s" : "y", s->factor,
             s->offset, ELEMENTS);
    switch (s->what) {
    case LOAD: vyre_strbuf_printf(text, " { v += %s; }\n", place); break;
    case STORE: vyre_strbuf_printf(text, " { %s = 1; }\n", place); break;
    case ATOMIC: vyre_strbuf_printf(text, " { atomic_add(%s, 1); }\n", place); break;
    default: vyre_strbuf_printf(text, " { v += atomic_load(%s); }\n", place); break;
    }
}

static bool does(const statement *s, uint32_t group, uint32_t lane) {
    return s->what != BARRIER && lane >= s->from && lane < s->to &&
           (s->group == GROUPS || s->group == group);
}

/* Whether statement `a` of one invocation and `b` of another are a race. */
static bool is_race(const statement *a, const statement *b, uint32_t a_interval,
                    uint32_t b_interval, bool same_group, uint32_t a_lane, uint32_t b_lane) {
    bool writes = a->what == STORE || a->what == ATOMIC || b->what == STORE || b->what == ATOMIC;
    bool atomic = a->what >= ATOMIC && b->what >= ATOMIC;
    if (a->shared != b->shared || (a->shared && !same_group) || !writes || atomic ||
        (same_group && a_interval != b_interval)) {
        return false;
    }
    return (a_lane * a->factor + a->offset) % ELEMENTS ==
           (b_lane * b->factor + b->offset) % ELEMENTS;
}

static bool has_race(const statement *list) {
    uint32_t intervals[STATEMENTS], interval = 0;
    for (uint32_t i = 0; i < STATEMENTS; i++) {
        intervals[i] = interval += list[i].what == BARRIER;
    }
    for (uint32_t x = 0; x < GROUPS * LANES; x++) {
        for (uint32_t y = 0; y < x; y++) {
            for (uint32_t k = 0; k < STATEMENTS * STATEMENTS; k++) {
                const statement *a = &list[k / STATEMENTS], *b = &list[k % STATEMENTS];
                if (does(a, x / LANES, x % LANES) && does(b, y / LANES, y % LANES) &&
                    is_race(a, b, intervals[k / STATEMENTS], intervals[k % STATEMENTS],
                            x / LANES == y / LANES, x % LANES, y % LANES)) {
                    return true;
                }
            }
        }
    }
    return false;
}

static void races_are_reported_if_there_are_any(void **state) {
    (void)state;
    uint32_t races = 0;
    for (uint32_t number = 0; number < PROGRAMS; number++) {
        random_state = number;
        draw(2);
        statement list[STATEMENTS];
        vyre_strbuf text = {0};
        vyre_strbuf_printf(&text,
                           "program p(y: inout buffer<u32>, z: out buffer<u32>[%d])\n"
                           "over %d workgroup %d {\n    shared s: u32[%d];\n    var v = 0u;\n",
                           GROUPS * LANES, GROUPS * LANES, LANES, ELEMENTS);
        for (int i = 0; i < STATEMENTS; i++) {
            make(&list[i]);
            put(&text, &list[i]);
        }
        vyre_strbuf_puts(&text, "    z[gid] = v;\n}\n");
        assert_false(text.failed);
        vyre_program *program = check_parse(vyre_strbuf_string(&text));
        bool expected = has_race(list);
        races += expected;
        for (uint64_t seed = 0; seed < 4; seed++) {
            uint32_t y[ELEMENTS] = {0};
            vyre_input input = BYTES(y);
            vyre_findings *findings;
            vyre_sanitize_options options = {.seed = seed, .max_steps = CHECK_STEPS};
            vyre_status status = vyre_sanitize(program, &input, 1, &options, &findings);
            assert_null(status);
            bool found = false;
            for (size_t i = 0; i < vyre_findings_count(findings); i++) {
                found |= vyre_findings_get(findings, i)->kind == VYRE_FINDING_RACE;
            }
            if (found != expected) {
                fail_msg("seed %llu: a race is %s in\n%s", (unsigned long long)seed,
                         found ? "found that is not" : "not found", vyre_strbuf_string(&text));
            }
            vyre_findings_free(findings);
        }
        vyre_program_release(program);
        vyre_strbuf_free(&text);
    }
    assert_true(races > PROGRAMS / 10 && races < PROGRAMS * 9 / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(races_are_reported_if_there_are_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
