/* Random programs of nested branches, loops, calls and jumps, run by the reference backend for many
 * invocations at once, and here for one after the other, statement by statement. */
#include "base/strbuf.h"
#include "tests/unit/random_programs.h"
#include "tests/unit/reference_check.h"

enum { PROGRAMS = 400, INVOCATIONS = 150, TURNS = 40 };

/* Text. Jumps hide behind a condition that holds, so that what follows is not refused. */

static void write_block(vyre_strbuf *text, const random_source *s, uint32_t *at) {
    for (;; ++*at) {
        const random_statement *row = &s->statements[*at];
        switch (row->kind) {
        case DECLARE: vyre_strbuf_printf(text, "var v%u = v%u;\n", row->variable, row->from); break;
        case ASSIGN:
            vyre_strbuf_printf(text, "v%u = v%u * 3 + v%u + %u;\n", row->variable, row->variable,
                               row->from, row->number);
            break;
        case LOG: vyre_strbuf_printf(text, "h = h * 31 + v%u;\ny[i] = h;\n", row->variable); break;
        case IF:
            vyre_strbuf_printf(text, "if v%u %% 4 == %u {\n", row->variable, row->number);
            ++*at;
            write_block(text, s, at);
            if (s->statements[*at].kind == ELSE) {
                vyre_strbuf_puts(text, "} else {\n");
                ++*at;
                write_block(text, s, at);
            }
            vyre_strbuf_puts(text, "}\n");
            break;
        case LOOP:
        case FOR:
            if (row->kind == LOOP) {
                vyre_strbuf_puts(text, "loop {\n");
            } else if (row->number) {
                vyre_strbuf_printf(text, "for k in 0..%uu {\nh += k;\n", row->number);
            } else {
                vyre_strbuf_printf(text, "for k in v%u %% 3..v%u %% 9 step v%u %% 5 {\nh += k;\n",
                                   row->variable, row->variable, row->variable);
            }
            vyre_strbuf_printf(text, "turns += 1;\nif turns > %d { break; }\n", TURNS);
            ++*at;
            write_block(text, s, at);
            vyre_strbuf_puts(text, "}\n");
            break;
        case CALL:
            vyre_strbuf_puts(text, "inline {\n");
            ++*at;
            write_block(text, s, at);
            vyre_strbuf_puts(text, "}\n");
            break;
        case BREAK: vyre_strbuf_puts(text, "if h == h { break; }\n"); break;
        case CONTINUE: vyre_strbuf_puts(text, "if h == h { continue; }\n"); break;
        case RETURN: vyre_strbuf_puts(text, "if h == h { return; }\n"); break;
        case ELSE:
        case END: return;
        }
    }
}

/* What one invocation does */

typedef struct invocation {
    const random_source *source;
    uint32_t variables[RANDOM_VARIABLES];
    uint32_t h, turns, out;
} invocation;

/* Behind the block that starts at a statement: the ELSE or END that closes it. */
static uint32_t skip_block(const random_source *s, uint32_t at) {
    for (uint32_t depth = 0;; at++) {
        switch (s->statements[at].kind) {
        case IF:
        case LOOP:
        case FOR:
        case CALL: depth++; break;
        case ELSE:
            if (!depth) {
                return at;
            }
            break;
        case END:
            if (!depth) {
                return at;
            }
            depth--;
            break;
        default: break;
        }
    }
}

static random_kind run_block(invocation *v, uint32_t at);

static random_kind run_loop(invocation *v, uint32_t at) {
    const random_statement *row = &v->source->statements[at];
    uint32_t x = v->variables[row->variable];
    uint32_t first = row->number ? 0 : x % 3, end = row->number ? row->number : x % 9;
    uint32_t step = row->number ? 1 : x % 5;
    for (uint32_t k = first; row->kind == LOOP || (k < end && step); k += step) {
        v->h += row->kind == FOR ? k : 0;
        if (++v->turns > TURNS) {
            return END;
        }
        random_kind left = run_block(v, at + 1);
        if (left == RETURN) {
            return left;
        }
        if (left == BREAK) {
            return END;
        }
    }
    return END;
}

/* Runs a block; gives what left it. */
static random_kind run_block(invocation *v, uint32_t at) {
    const random_source *s = v->source;
    for (;; at++) {
        const random_statement *row = &s->statements[at];
        uint32_t *x = &v->variables[row->variable];
        random_kind left = END;
        uint32_t other;
        switch (row->kind) {
        case DECLARE: *x = v->variables[row->from]; break;
        case ASSIGN: *x = *x * 3 + v->variables[row->from] + row->number; break;
        case LOG:
            v->h = v->h * 31 + *x;
            v->out = v->h;
            break;
        case IF:
            other = skip_block(s, at + 1);
            if (*x % 4 == row->number) {
                left = run_block(v, at + 1);
            } else if (s->statements[other].kind == ELSE) {
                left = run_block(v, other + 1);
            }
            at = s->statements[other].kind == ELSE ? skip_block(s, other + 1) : other;
            break;
        case LOOP:
        case FOR:
            left = run_loop(v, at);
            at = skip_block(s, at + 1);
            break;
        case CALL:
            run_block(v, at + 1);
            at = skip_block(s, at + 1);
            break;
        case BREAK:
        case CONTINUE:
        case RETURN: return row->kind;
        case ELSE:
        case END: return END;
        }
        if (left != END) {
            return left;
        }
    }
}

static void random_programs_do_what_their_statements_say(void **state) {
    (void)state;
    uint32_t different = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        random_source source;
        random_make(&source, seed * 7919);
        vyre_strbuf text = {0};
        vyre_strbuf_printf(&text, "program random(n: u32, y: out buffer<u32>[%d]) over %d%s {\n",
                           INVOCATIONS, INVOCATIONS, seed % 2 ? " workgroup 50" : "");
        vyre_strbuf_puts(&text, "let i = gid;\nvar h = 0u;\nvar turns = 0u;\n"
                                "var v0 = i;\nvar v1 = i / 32;\nvar v2 = i % 50;\nvar v3 = n;\n");
        uint32_t at = 0;
        write_block(&text, &source, &at);
        vyre_strbuf_puts(&text, "}\n");
        assert_false(text.failed);

        uint32_t n[1] = {(uint32_t)seed}, y[INVOCATIONS];
        for (uint32_t i = 0; i < INVOCATIONS; i++) {
            invocation v = {.source = &source, .variables = {i, i / 32, i % 50, n[0]}};
            run_block(&v, 0);
            y[i] = v.out;
        }
        different += memcmp(y, y + 1, sizeof y - sizeof *y) != 0;
        vyre_program *program = check_parse(vyre_strbuf_string(&text));
        vyre_outputs outputs = check_run_seed(program, LIST(BYTES(n)), seed % 3);
        vyre_input expected = BYTES(y);
        check_bytes(program, seed, 0, &outputs.items[0], &expected);
        vyre_outputs_free(&outputs);
        vyre_program_release(program);
        vyre_strbuf_free(&text);
    }
    assert_true(different > PROGRAMS / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_do_what_their_statements_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
