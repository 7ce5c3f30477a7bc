/* Random texts in which the same few variables, constants, elements and conditions come again and
 * again, so that what passes look for is there: values computed before, loads that may or may not
 * have changed, conditions decided already, values that loops carry for nobody.
 *
 * Each is free of data races: invocations keep to elements of their own, and look at those of a
 * neighbour between two barriers. Each ends: loops count. */
#ifndef VYRE_TESTS_DENSE_PROGRAMS_H
#define VYRE_TESTS_DENSE_PROGRAMS_H

#include "base/random.h"
#include "base/strbuf.h"

enum { DENSE_INVOCATIONS = 32, DENSE_ELEMENTS = 4 /* of each */ };

typedef struct dense {
    vyre_strbuf text;
    uint64_t random;
    uint32_t depth, loops; /* of blocks; of those, in the same function */
    uint32_t counters;     /* how many names were given */
    bool has_groups;
    bool in_function;
    int budget; /* statements still to come */
} dense;

static inline uint32_t dense_draw(dense *d, uint32_t bound) {
    return (uint32_t)vyre_random_below(&d->random, bound);
}

static inline void dense_puts(dense *d, const char *text) {
    vyre_strbuf_puts(&d->text, text);
}

static inline const char *dense_variable(dense *d) {
    static const char *const names[] = {"a", "b", "c"};
    return names[dense_draw(d, 3)];
}

/* An element that the invocation may touch. */
static inline void dense_place(dense *d) {
    uint32_t kind = d->in_function ? 1 : dense_draw(d, d->has_groups ? 5 : 4);
    uint32_t element = dense_draw(d, 2);
    switch (kind) {
    case 0: vyre_strbuf_printf(&d->text, "y[gid * %d + %u]", DENSE_ELEMENTS, element); break;
    case 1: vyre_strbuf_printf(&d->text, "%s[%u]", d->in_function ? "x" : "p", element); break;
    case 2: vyre_strbuf_printf(&d->text, "p[%s & 3]", dense_variable(d)); break;
    case 3: vyre_strbuf_printf(&d->text, "r[%u]", element); break;
    default: vyre_strbuf_printf(&d->text, "s[lid * %d + %u]", DENSE_ELEMENTS, element); break;
    }
}

static inline void dense_value(dense *d, int depth) {
    static const char *const operators[] = {"+", "-", "*", "&", "|", "^", "/", "%", ">>", "<<"};
    static const char *const numbers[] = {"0", "1", "2", "7", "0xffffffff"};
    uint32_t kind = dense_draw(d, depth ? 12 : 6);
    if (kind < 3) {
        dense_puts(d, dense_variable(d));
    } else if (kind == 3) {
        vyre_strbuf_printf(&d->text, "x[%s & 7]", dense_variable(d));
    } else if (kind == 4) {
        dense_place(d);
    } else if (kind == 5) {
        dense_puts(d, numbers[dense_draw(d, 5)]);
        dense_puts(d, "u");
    } else if (kind == 11 && !d->in_function) {
        vyre_strbuf_printf(&d->text, "f%u(", dense_draw(d, 2));
        dense_value(d, 0);
        dense_puts(d, ", ");
        dense_value(d, 0);
        dense_puts(d, ", x)");
    } else {
        dense_puts(d, "(");
        dense_value(d, depth - 1);
        vyre_strbuf_printf(&d->text, " %s ", operators[dense_draw(d, 10)]);
        dense_value(d, depth - 1);
        dense_puts(d, ")");
    }
}

static inline void dense_condition(dense *d, int depth) {
    static const char *const operators[] = {"<", "==", "!=", "<="};
    switch (dense_draw(d, depth ? 7 : 3)) {
    case 0: dense_puts(d, "q"); break;
    case 1: dense_puts(d, "a < b"); break;
    case 3:
        dense_puts(d, "!(");
        dense_condition(d, depth - 1);
        dense_puts(d, ")");
        break;
    case 4:
    case 5:
        dense_puts(d, "(");
        dense_condition(d, depth - 1);
        dense_puts(d, dense_draw(d, 2) ? ") && (" : ") || (");
        dense_condition(d, depth - 1);
        dense_puts(d, ")");
        break;
    default:
        dense_puts(d, dense_variable(d));
        vyre_strbuf_printf(&d->text, " %s ", operators[dense_draw(d, 4)]);
        dense_value(d, 0);
        break;
    }
}

static inline void dense_block(dense *d);

static inline void dense_loop(dense *d) {
    static const char *const ends[] = {"3u", "5u", "(a & 3)", "(b & 3)", "2u"};
    uint32_t counter = d->counters++;
    d->loops++;
    if (dense_draw(d, 2)) {
        vyre_strbuf_printf(&d->text, "for i%u_ in bits<u32>(%u)..%s step %uu ", counter,
                           dense_draw(d, 4), ends[dense_draw(d, 5)], 1 + dense_draw(d, 2));
        dense_block(d);
    } else {
        vyre_strbuf_printf(&d->text,
                           "var t%u_ = 0u;\nloop {\nif t%u_ == %uu { break; }\nt%u_ += 1;\n",
                           counter, counter, 1 + dense_draw(d, 3), counter);
        dense_block(d);
        dense_puts(d, "}\n");
    }
    d->loops--;
}

static inline void dense_statement(dense *d) {
    uint32_t kind = dense_draw(d, 16);
    bool nests = d->depth < 4 && d->budget > 2;
    d->budget--;
    if (kind < 5) {
        vyre_strbuf_printf(&d->text, "%s = ", dense_variable(d));
        dense_value(d, 2);
        dense_puts(d, ";\n");
    } else if (kind < 8 && !d->in_function) {
        dense_place(d);
        dense_puts(d, " = ");
        dense_value(d, 1);
        dense_puts(d, ";\n");
    } else if (kind == 8) {
        dense_puts(d, "q = ");
        dense_condition(d, 1);
        dense_puts(d, ";\n");
    } else if (kind < 11 && nests) {
        dense_puts(d, "if ");
        dense_condition(d, 2);
        dense_puts(d, " ");
        dense_block(d);
        if (dense_draw(d, 2)) {
            dense_puts(d, "else ");
            dense_block(d);
        }
    } else if (kind < 13 && nests) {
        dense_loop(d);
    } else if (kind == 13 && d->depth > 1) {
        bool returns = dense_draw(d, 4) == 0 && (d->in_function || !d->has_groups);
        if (returns || d->loops) {
            dense_puts(d, "if ");
            dense_condition(d, 1);
            dense_puts(d, returns ? d->in_function ? " { return c; }\n" : " { return; }\n"
                          : dense_draw(d, 2) ? " { break; }\n"
                                             : " { continue; }\n");
        }
    } else if (kind == 14 && !d->in_function && dense_draw(d, 3) == 0) {
        dense_puts(d, "clear(r);\n");
    } else if (kind == 14 && !d->in_function) {
        vyre_strbuf_printf(&d->text, "atomic_add(h[%u], %s);\n", dense_draw(d, 2),
                           dense_variable(d));
    } else if (d->depth == 1 && d->has_groups && !d->in_function) {
        vyre_strbuf_printf(&d->text, "barrier;\n%s += s[(lid ^ 1) * %d + %u];\nbarrier;\n",
                           dense_variable(d), DENSE_ELEMENTS, dense_draw(d, 2));
    }
}

static inline void dense_block(dense *d) {
    d->depth++;
    dense_puts(d, "{\n");
    for (uint32_t count = 1 + dense_draw(d, 4); count && d->budget > 0; count--) {
        dense_statement(d);
    }
    dense_puts(d, "}\n");
    d->depth--;
}

/* The text of a program `dense(x: buffer<u32>, y, h: inout buffer<u32>)`; free it. */
static inline vyre_strbuf dense_program(uint64_t seed) {
    dense d = {.random = seed * 0x9e3779b97f4a7c15u, .in_function = true};
    for (uint32_t i = 0; i < 2; i++) {
        vyre_strbuf_printf(
            &d.text,
            "fn f%u(first: u32, second: u32, x: buffer<u32>) -> u32 {\n"
            "var a = first;\nvar b = second;\nvar c = 3u;\nvar q = first < second;\n",
            i);
        d.budget = 6;
        dense_block(&d);
        dense_puts(&d, "return select(q, a + b, c);\n}\n");
    }
    d.in_function = false;
    d.has_groups = dense_draw(&d, 2);
    vyre_strbuf_printf(&d.text,
                       "program dense(x: buffer<u32>, y: inout buffer<u32>, h: inout buffer<u32>) "
                       "over %d%s {\n%svar p: u32[%d];\nvar r: u32[2];\nvar a = x[gid];\n"
                       "var b = x[gid + 1];\nvar c = gid & 3;\nvar q = a < b;\n",
                       DENSE_INVOCATIONS, d.has_groups ? " workgroup 16" : "",
                       d.has_groups ? "shared s: u32[64];\n" : "", DENSE_ELEMENTS);
    d.budget = 40;
    d.depth = 1;
    while (d.budget > 0) {
        dense_statement(&d);
    }
    vyre_strbuf_printf(
        &d.text, "y[gid * %d + 3] += a ^ b * 3 ^ c * 5 ^ p[0] ^ p[1] ^ r[0] ^ r[1] ^ u32(q);\n}\n",
        DENSE_ELEMENTS);
    return d.text;
}

#endif
