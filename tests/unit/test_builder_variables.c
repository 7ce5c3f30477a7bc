/* Variables become values: random structured programs, run once as they were written and once as
 * the instructions that the builder made of them, must do the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/random_programs.h"

enum { PROGRAMS = 4000, LOGS = 400, STEPS = 4000 };

/* What a run writes, in order. */
typedef struct log {
    uint32_t places[LOGS], values[LOGS];
    uint32_t count, steps;
} log;

static bool record(log *out, uint32_t place, uint32_t value) {
    if (out->count == LOGS) {
        return false;
    }
    out->places[out->count] = place;
    out->values[out->count++] = value;
    return true;
}

/* Where the block that starts at `at` ends: its END or ELSE. */
static uint32_t find_end(const random_source *s, uint32_t at) {
    for (uint32_t open = 0;; at++) {
        random_kind found = s->statements[at].kind;
        if (!open && (found == END || found == ELSE)) {
            return at;
        }
        open += found == IF || found == LOOP || found == FOR || found == CALL;
        open -= found == END;
    }
}

static random_kind run_source(const random_source *s, uint32_t at, uint32_t *values, log *out);

/* How a loop is left: by its own end, or with the call around it. */
static random_kind run_turns(const random_source *s, uint32_t at, uint32_t turns, uint32_t *values,
                             log *out) {
    for (uint32_t i = 0; i < turns; i++) {
        random_kind end = run_source(s, at, values, out);
        if (end == BREAK || end == RETURN) {
            return end == BREAK ? END : RETURN;
        }
    }
    return END;
}

static random_kind run_if(const random_source *s, uint32_t *at, uint32_t *values, log *out) {
    const random_statement *row = &s->statements[*at];
    uint32_t then = *at + 1, otherwise = find_end(s, then);
    bool has_else = s->statements[otherwise].kind == ELSE;
    *at = has_else ? find_end(s, otherwise + 1) : otherwise;
    if (values[row->variable] % 4 == row->number) {
        return run_source(s, then, values, out);
    }
    return has_else ? run_source(s, otherwise + 1, values, out) : END;
}

/* How the block ended: END, BREAK, CONTINUE or RETURN. Out of steps everything returns. */
static random_kind run_source(const random_source *s, uint32_t at, uint32_t *values, log *out) {
    for (;; at++) {
        const random_statement *row = &s->statements[at];
        random_kind end = END;
        uint32_t *variable = &values[row->variable];
        if (out->steps++ > STEPS) {
            return RETURN;
        }
        switch (row->kind) {
        case DECLARE: *variable = values[row->from]; break;
        case ASSIGN: *variable = *variable * 3 + values[row->from] + row->number; break;
        case LOG:
            if (!record(out, row->number, *variable)) {
                out->steps = STEPS + 1;
            }
            break;
        case IF: end = run_if(s, &at, values, out); break;
        case LOOP:
            end = run_turns(s, at + 1, UINT32_MAX, values, out);
            at = find_end(s, at + 1);
            break;
        case FOR:
            end = run_turns(s, at + 1, row->number ? row->number : *variable % 4, values, out);
            at = find_end(s, at + 1);
            break;
        case CALL:
            run_source(s, at + 1, values, out);
            if (out->steps > STEPS) {
                return RETURN;
            }
            at = find_end(s, at + 1);
            break;
        case ELSE:
        case END: return END;
        case BREAK:
        case CONTINUE:
        case RETURN: return row->kind;
        }
        if (end != END) {
            return end;
        }
    }
}

static void observe_store(random_machine *m, uint32_t inst, uint32_t value) {
    const vyre_inst *row = &m->ir->insts[inst];
    if (row->op == VYRE_OP_STORE && !record(m->user, random_operand(m, row->b), value)) {
        m->steps = m->most_steps + 1;
    }
}

static void check_program(uint64_t seed) {
    static random_source s;
    static log wanted, found;
    random_make(&s, seed);
    wanted.count = wanted.steps = found.count = found.steps = 0;
    uint32_t values[RANDOM_VARIABLES] = {5, 6, 7, 8};
    run_source(&s, 0, values, &wanted);

    vyre_program *program = random_program(&s);
    random_machine m = {
        .gid = 5, .subgroup_id = 6, .wid = 7, .n = 8, .observe = observe_store, .user = &found};
    random_run(&m, vyre_program_ir(program), 20 * STEPS);
    /* A run that was cut off is compared as far as both got. */
    uint32_t count = wanted.count < found.count ? wanted.count : found.count;
    if (wanted.steps <= STEPS && m.steps <= m.most_steps) {
        assert_int_equal(wanted.count, found.count);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (wanted.places[i] != found.places[i] || wanted.values[i] != found.values[i]) {
            fail_msg("seed %llu: write %u is %u at %u, expected %u at %u", (unsigned long long)seed,
                     i, found.values[i], found.places[i], wanted.values[i], wanted.places[i]);
        }
    }
    vyre_program_release(program);
}

static void variables_of_random_programs_keep_their_values(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        check_program(seed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_of_random_programs_keep_their_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
