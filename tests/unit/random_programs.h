/* Random structured programs: made as source statements, which can be run directly, then built.
 * And a machine that runs the instructions that came out. For tests of what must hold for any
 * program. */
#ifndef VYRE_TESTS_RANDOM_PROGRAMS_H
#define VYRE_TESTS_RANDOM_PROGRAMS_H

#include <stdlib.h>

#include "tests/unit/build_check.h"

enum {
    RANDOM_STATEMENTS = 60,
    RANDOM_VARIABLES = 32,
    RANDOM_FIRST_VARIABLES = 4 /* these exist from the start */
};

/* A statement of the source. Blocks are runs of statements that end with END (or ELSE). */
typedef enum random_kind {
    DECLARE, /* variable = from */
    ASSIGN,  /* variable = variable * 3 + from + number */
    LOG,     /* writes variable at place number */
    IF,      /* whether variable % 4 == number */
    ELSE,
    LOOP,
    FOR, /* from 0 to number, or to variable % 4 if number is 0 */
    CALL,
    BREAK,
    CONTINUE,
    RETURN,
    END
} random_kind;

typedef struct random_statement {
    random_kind kind;
    uint32_t variable, from, number;
} random_statement;

typedef struct random_source {
    random_statement statements[RANDOM_STATEMENTS * 3];
    uint32_t count, budget, variables;
    uint64_t random;
} random_source;

static inline uint32_t random_draw(random_source *s, uint32_t below) {
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(s->random >> 33) % below;
}

static inline void random_add(random_source *s, random_kind kind, uint32_t variable, uint32_t from,
                              uint32_t number) {
    s->statements[s->count++] = (random_statement){kind, variable, from, number};
}

/* Writes a block; variables declared in it go away at its end. */
static inline void random_make_block(random_source *s, uint32_t depth, bool in_loop) {
    uint32_t outer = s->variables, length = 1 + random_draw(s, 6);
    for (uint32_t i = 0; i < length && s->budget; i++) {
        s->budget--;
        uint32_t variable = random_draw(s, s->variables), from = random_draw(s, s->variables);
        switch (random_draw(s, depth < 6 ? 16 : 9)) {
        case 0:
        case 1:
            if (s->variables < RANDOM_VARIABLES) {
                random_add(s, DECLARE, s->variables++, from, 0);
            }
            break;
        case 2:
        case 3:
        case 4:
        case 5: random_add(s, ASSIGN, variable, from, random_draw(s, 5)); break;
        case 6:
        case 7: random_add(s, LOG, variable, 0, s->count); break;
        case 8:
            if (random_draw(s, 2)) {
                bool jumps = in_loop && random_draw(s, 3);
                random_add(s, !jumps ? RETURN : random_draw(s, 2) ? BREAK : CONTINUE, 0, 0, 0);
            }
            break;
        case 9:
        case 10:
        case 11:
        case 12:
            random_add(s, IF, variable, 0, random_draw(s, 4));
            random_make_block(s, depth + 1, in_loop);
            if (random_draw(s, 2)) {
                s->statements[s->count - 1].kind = ELSE;
                random_make_block(s, depth + 1, in_loop);
            }
            break;
        case 13:
            random_add(s, LOOP, 0, 0, 0);
            random_make_block(s, depth + 1, true);
            break;
        case 14:
            random_add(s, FOR, variable, 0, random_draw(s, 5));
            random_make_block(s, depth + 1, true);
            break;
        default:
            random_add(s, CALL, 0, 0, 0);
            random_make_block(s, depth + 1, false);
            break;
        }
    }
    s->variables = outer;
    random_add(s, END, 0, 0, 0);
}

static inline void random_make(random_source *s, uint64_t seed) {
    *s = (random_source){
        .budget = RANDOM_STATEMENTS, .variables = RANDOM_FIRST_VARIABLES, .random = seed};
    random_make_block(s, 0, false);
}

/* Builds the statements from `*at` on to the end of their block. */
static inline void random_build_block(vyre_builder *b, const random_source *s, uint32_t *at,
                                      uint32_t *variables, uint32_t out) {
    for (;; ++*at) {
        const random_statement *row = &s->statements[*at];
        uint32_t number = vyre_build_u32(b, row->number);
        uint32_t low = VYRE_NONE;
        if (row->kind == IF || (row->kind == FOR && !row->number)) {
            low = build_op2(b, VYRE_OP_REM, vyre_build_get(b, variables[row->variable]),
                            vyre_build_u32(b, 4));
        }
        switch (row->kind) {
        case DECLARE:
            variables[row->variable] =
                vyre_build_var(b, "v", vyre_build_get(b, variables[row->from]));
            break;
        case ASSIGN: {
            uint32_t old = vyre_build_get(b, variables[row->variable]);
            uint32_t sum = build_op2(b, VYRE_OP_MUL, old, vyre_build_u32(b, 3));
            sum = build_op2(b, VYRE_OP_ADD, sum, vyre_build_get(b, variables[row->from]));
            sum = build_op2(b, VYRE_OP_ADD, sum, number);
            vyre_build_set(b, variables[row->variable], sum);
            break;
        }
        case LOG:
            vyre_build_store(b, out, number, vyre_build_get(b, variables[row->variable]));
            break;
        case IF:
            vyre_build_if(b, build_op2(b, VYRE_OP_EQ, low, number));
            ++*at;
            random_build_block(b, s, at, variables, out);
            if (s->statements[*at].kind == ELSE) {
                vyre_build_else(b);
                ++*at;
                random_build_block(b, s, at, variables, out);
            }
            vyre_build_if_end(b, 0, NULL);
            break;
        case LOOP:
        case FOR:
            if (row->kind == LOOP) {
                vyre_build_loop(b, 0, NULL, NULL);
            } else {
                vyre_build_for(b, vyre_build_u32(b, 0), row->number ? number : low,
                               vyre_build_u32(b, 1), 0, NULL, NULL);
            }
            ++*at;
            random_build_block(b, s, at, variables, out);
            vyre_build_loop_end(b, 0, NULL);
            break;
        case CALL:
            vyre_build_inline(b);
            ++*at;
            random_build_block(b, s, at, variables, out);
            vyre_build_inline_end(b, 0, NULL);
            break;
        case BREAK: vyre_build_break(b, 0, NULL); break;
        case CONTINUE: vyre_build_continue(b, 0, NULL); break;
        case RETURN: vyre_build_return(b, 0, NULL); break;
        case ELSE:
        case END: return;
        }
    }
}

/* The program of a source. Its first variables start as gid, subgroup_id, wid and the argument
 * `n`. */
static inline vyre_program *random_program(const random_source *s) {
    vyre_builder *b;
    vyre_program *program;
    assert_null(vyre_builder_create("random", &b));
    uint32_t n = vyre_build_scalar(b, "n", VYRE_TYPE_U32);
    uint32_t out = build_buffer(b, "out", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    uint32_t variables[RANDOM_VARIABLES], at = 0;
    build_phase(b, 64);
    variables[0] = vyre_build_var(b, "gid", build_gid(b));
    variables[1] = vyre_build_var(b, "sub", vyre_build_position(b, VYRE_OP_SUBGROUP_ID, 0));
    variables[2] = vyre_build_var(b, "wid", vyre_build_position(b, VYRE_OP_WID, 0));
    variables[3] = vyre_build_var(b, "n", vyre_build_param(b, n));
    random_build_block(b, s, &at, variables, out);
    vyre_build_phase_end(b);
    vyre_status status = vyre_builder_finish(b, NULL, &program);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    vyre_builder_free(b);
    return program;
}

/* A machine for one invocation of such a program. `observe` is told each value as it comes to be
 * and each store, with the number of turns of the loops around as one number. */
typedef struct random_machine random_machine;
struct random_machine {
    const vyre_ir *ir;
    uint32_t gid, subgroup_id, wid, n;
    uint32_t *values; /* by instruction */
    uint32_t steps, most_steps;
    uint64_t turns; /* which turns of which loops we are in */
    void (*observe)(random_machine *m, uint32_t inst, uint32_t value);
    void *user;
    uint32_t passed[RANDOM_VARIABLES + 1]; /* what the last terminator gave */
};

static inline uint32_t random_operand(const random_machine *m, uint32_t operand) {
    return operand & VYRE_CONSTANT ? (uint32_t)m->ir->consts[operand & ~VYRE_CONSTANT].bits
                                   : m->values[operand];
}

static inline void random_give(random_machine *m, uint32_t inst, uint32_t value) {
    m->values[inst] = value;
    m->observe(m, inst, value);
}

static inline void random_receive(random_machine *m, uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        random_give(m, first + i, m->passed[i]);
    }
}

static inline uint32_t random_result_count(const random_machine *m, uint32_t owner) {
    const vyre_inst *first = &m->ir->insts[m->ir->insts[owner].c];
    uint32_t count = 0;
    while (first[count].op == VYRE_OP_RESULT && first[count].a == owner) {
        count++;
    }
    return count;
}

static inline uint32_t random_run_block(random_machine *m, uint32_t at);

/* Returns the terminator that leaves the loop's surroundings, or YIELD if the run goes on behind
 * it. */
static inline uint32_t random_run_loop(random_machine *m, uint32_t at) {
    const vyre_inst *inst = &m->ir->insts[at];
    bool is_for = inst->op == VYRE_OP_FOR;
    uint32_t head = is_for ? 3 : 0, carried = inst->b - head, first_arg = at + 1 + is_for;
    const uint32_t *list;
    vyre_inst_values(m->ir, inst, &list);
    for (uint32_t i = 0; i < carried; i++) {
        m->passed[i] = random_operand(m, list[head + i]);
    }
    uint32_t counter = is_for ? random_operand(m, list[0]) : 0;
    uint32_t end = is_for ? random_operand(m, list[1]) : UINT32_MAX, left = VYRE_OP_YIELD;
    uint64_t outside = m->turns;
    for (uint32_t turn = 1; counter < end; counter++, turn++) {
        m->turns = (outside ^ at) * 0x9e3779b97f4a7c15u + turn;
        random_receive(m, first_arg, carried);
        if (is_for) {
            random_give(m, at + 1, counter);
        }
        left = random_run_block(m, first_arg + carried);
        if (left == VYRE_OP_RETURN || left == VYRE_OP_BREAK) {
            break;
        }
    }
    m->turns = outside;
    if (left == VYRE_OP_RETURN) {
        return left;
    }
    random_receive(m, inst->c, random_result_count(m, at));
    return VYRE_OP_YIELD;
}

/* Runs to the end of a block and gives its terminator. Out of steps everything returns. */
static inline uint32_t random_run_block(random_machine *m, uint32_t at) {
    for (;;) {
        const vyre_inst *inst = &m->ir->insts[at];
        uint32_t left = VYRE_OP_YIELD, next = at + 1, x = 0, y = 0;
        if (m->steps++ > m->most_steps) {
            return VYRE_OP_RETURN;
        }
        const uint32_t *values;
        uint32_t count = vyre_inst_values(m->ir, inst, &values);
        if (count && count <= 2 && !(vyre_op_info_of(inst->op)->effects & VYRE_EFFECT_END)) {
            x = random_operand(m, values[0]);
            y = random_operand(m, values[count - 1]);
        }
        switch (inst->op) {
        case VYRE_OP_ADD: random_give(m, at, x + y); break;
        case VYRE_OP_MUL: random_give(m, at, x * y); break;
        case VYRE_OP_REM: random_give(m, at, x % y); break;
        case VYRE_OP_EQ: random_give(m, at, x == y); break;
        case VYRE_OP_GID: random_give(m, at, m->gid); break;
        case VYRE_OP_SUBGROUP_ID: random_give(m, at, m->subgroup_id); break;
        case VYRE_OP_WID: random_give(m, at, m->wid); break;
        case VYRE_OP_PARAM: random_give(m, at, m->n); break;
        case VYRE_OP_STORE: m->observe(m, at, y); break;
        case VYRE_OP_IF:
            left = random_run_block(m, x ? at + 1 : inst->b);
            random_receive(m, inst->c, left == VYRE_OP_YIELD ? random_result_count(m, at) : 0);
            next = inst->c + random_result_count(m, at);
            break;
        case VYRE_OP_FOR:
        case VYRE_OP_LOOP:
            left = random_run_loop(m, at);
            next = inst->c + random_result_count(m, at);
            break;
        case VYRE_OP_INLINE:
            random_run_block(m, at + 1);
            if (m->steps > m->most_steps) {
                return VYRE_OP_RETURN;
            }
            random_receive(m, inst->c, random_result_count(m, at));
            next = inst->c + random_result_count(m, at);
            break;
        case VYRE_OP_YIELD:
        case VYRE_OP_BREAK:
        case VYRE_OP_CONTINUE:
        case VYRE_OP_RETURN:
            for (uint32_t i = 0; i < inst->b; i++) {
                m->passed[i] = random_operand(m, values[i]);
            }
            return inst->op;
        default: fail_msg("instruction %u is not expected", at);
        }
        if (left != VYRE_OP_YIELD) {
            return left;
        }
        at = next;
    }
}

/* Runs one invocation; `values` has room for every instruction. */
static inline void random_run(random_machine *m, const vyre_ir *ir, uint32_t most_steps) {
    m->ir = ir;
    m->steps = 0;
    m->most_steps = most_steps;
    m->turns = 0;
    m->values = calloc(ir->inst_count, sizeof *m->values);
    assert_non_null(m->values);
    random_run_block(m, 0);
    free(m->values);
}

#endif
