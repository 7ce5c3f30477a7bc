/* Random programs about indices: positions, sizes, loops and branches put together so that many
 * accesses stay inside their arrays, many just miss, and many are far out. */
#ifndef VYRE_TESTS_INDEX_PROGRAMS_H
#define VYRE_TESTS_INDEX_PROGRAMS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/dispatch.h>
#include <vyre/text.h>

#include "base/random.h"
#include "base/strbuf.h"

enum { INDEX_INPUTS = 9, INDEX_LONGEST = 1400 };

typedef struct index_program {
    vyre_strbuf text;
    uint64_t random;
    uint32_t k;     /* records have so many elements */
    bool is_flat;   /* one dimension */
    uint32_t loops; /* open */
    uint32_t lets;
    uint32_t n, m;
    int32_t s;
    uint32_t length; /* of a */
    uint32_t data[6][INDEX_LONGEST];
    vyre_input inputs[INDEX_INPUTS];
} index_program;

static inline uint32_t index_below(index_program *p, uint32_t bound) {
    return (uint32_t)vyre_random_below(&p->random, bound);
}

static inline void index_put(index_program *p, const char *format, ...) VYRE_PRINTF(2, 3);
static inline void index_put(index_program *p, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&p->text, format, arguments);
    va_end(arguments);
}

static inline void index_constant(index_program *p) {
    static const char *const hostile[] = {"4294967295", "4294967294", "2147483648", "65536",
                                          "4294967280", "268435456",  "1000000007"};
    if (index_below(p, 6)) {
        index_put(p, "%uu", index_below(p, 20));
    } else {
        index_put(p, "%su", hostile[index_below(p, 7)]);
    }
}

static inline void index_leaf(index_program *p) {
    switch (index_below(p, 11)) {
    case 0:
    case 1: index_put(p, "gid.x"); return;
    case 2: index_put(p, p->is_flat ? "gid" : "gid.y"); return;
    case 3: index_put(p, "n"); return;
    case 4: index_put(p, "m"); return;
    case 5: index_put(p, "len(a)"); return;
    case 6: index_put(p, "len(%s)", index_below(p, 2) ? "b" : "c"); return;
    case 7:
    case 8:
        if (p->loops) {
            index_put(p, "i%u", index_below(p, p->loops));
            return;
        }
        break;
    case 9:
        if (p->lets) {
            index_put(p, "v%u", index_below(p, p->lets));
            return;
        }
        break;
    default: break;
    }
    index_constant(p);
}

static inline void index_condition(index_program *p, uint32_t depth);

static inline void index_value(index_program *p, uint32_t depth) {
    static const char *const signs[] = {" + ", " + ", " - ", " * ", " * ",
                                        " / ", " % ", " & ", " | ", " ^ "};
    if (!depth || !index_below(p, 3)) {
        index_leaf(p);
        return;
    }
    switch (index_below(p, 14)) {
    case 0:
    case 1:
        index_put(p, "%s(", index_below(p, 3) ? "min" : "max");
        index_value(p, depth - 1);
        index_put(p, ", ");
        index_value(p, depth - 1);
        index_put(p, ")");
        return;
    case 2:
        index_put(p, "select(");
        index_condition(p, depth - 1);
        index_put(p, ", ");
        index_value(p, depth - 1);
        index_put(p, ", ");
        index_value(p, depth - 1);
        index_put(p, ")");
        return;
    case 3:
        index_put(p, "(");
        index_value(p, depth - 1);
        index_put(p, " %s %u)", index_below(p, 2) ? ">>" : "<<", index_below(p, 32));
        return;
    case 4:
        index_put(p, "u32(i32(");
        index_value(p, depth - 1);
        index_put(p, ") - s)");
        return;
    default:
        index_put(p, "(");
        index_value(p, depth - 1);
        index_put(p, "%s", signs[index_below(p, 10)]);
        index_value(p, depth - 1);
        index_put(p, ")");
        return;
    }
}

static inline void index_condition(index_program *p, uint32_t depth) {
    static const char *const signs[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
    if (depth && !index_below(p, 4)) {
        index_put(p, "(");
        index_condition(p, depth - 1);
        index_put(p, index_below(p, 2) ? " && " : " || ");
        index_condition(p, depth - 1);
        index_put(p, ")");
        return;
    }
    index_value(p, depth ? 1 : 0);
    index_put(p, "%s", signs[index_below(p, 6)]);
    index_value(p, depth ? 1 : 0);
}

static inline const char *index_array(index_program *p) {
    static const char *const names[] = {"a", "b", "c", "d", "own", "t"};
    return names[index_below(p, 6)];
}

/* An index that has something to do with the array. */
static inline void index_likely(index_program *p, const char *array) {
    uint32_t little = index_below(p, 3);
    switch (index_below(p, 12)) {
    case 0: index_put(p, "gid.x"); return;
    case 1: index_put(p, "gid.x * %u + %s", p->k, p->loops ? "i0" : "1"); return;
    case 2: index_put(p, "gid.x * %u + %u", p->k, little); return;
    case 3: index_put(p, p->is_flat ? "gid.x + %u" : "gid.y * n + gid.x + %u", little); return;
    case 4:
        index_put(p, "min(");
        index_value(p, 1);
        index_put(p, ", len(%s) - %u)", array, little);
        return;
    case 5:
        index_put(p, "(");
        index_value(p, 1);
        index_put(p, ") %% len(%s)", array);
        return;
    case 6:
        index_put(p, "(");
        index_value(p, 2);
        index_put(p, ") & %u", 15 + little);
        return;
    case 7:
        index_put(p, "(");
        index_value(p, 2);
        index_put(p, ") >> %u", 27 + little);
        return;
    case 8: index_put(p, "gid.x - %u", little); return;
    case 9: index_put(p, "i32(gid.x) - %u", little); return;
    case 10: index_put(p, "u64(gid.x) + %u", little); return;
    default:
        index_put(p, p->loops ? "i%u * %u + gid.x" : "%u + %u * gid.x",
                  p->loops ? index_below(p, p->loops) : little, 1 + little);
        return;
    }
}

static inline void index_statement(index_program *p, uint32_t depth);

static inline void index_block(index_program *p, uint32_t depth, uint32_t statements) {
    uint32_t lets = p->lets;
    index_put(p, " {\n");
    for (uint32_t i = 0; i < statements; i++) {
        index_statement(p, depth);
    }
    index_put(p, "}\n");
    p->lets = lets;
}

static inline void index_loop(index_program *p, uint32_t depth) {
    index_put(p, "for i%u in ", p->loops);
    switch (index_below(p, 5)) {
    case 0: index_put(p, "0..m"); break;
    case 1: index_put(p, "0..%u", p->k); break;
    case 2:
        index_put(p, "%u..len(b) & 15 step %u", index_below(p, 4), 1 + index_below(p, 3));
        break;
    case 3:
        index_put(p, "0..min(");
        index_value(p, 1);
        index_put(p, ", %u)", 1 + index_below(p, 20));
        break;
    default: index_put(p, "1..n step %u", 1 + index_below(p, 2)); break;
    }
    p->loops++;
    index_block(p, depth - 1, 1 + index_below(p, 3));
    p->loops--;
}

static inline void index_load(index_program *p) {
    const char *array = index_array(p);
    index_put(p, "sum = sum * 31 + %s[", array);
    if (index_below(p, 3)) {
        index_likely(p, array);
    } else {
        index_value(p, 3);
    }
    index_put(p, "];\n");
}

static inline void index_statement(index_program *p, uint32_t depth) {
    static const char *const words[] = {"a", "b", "d"};
    switch (index_below(p, depth ? 10 : 5)) {
    case 0: /* neighbours */
        for (uint32_t i = 0, count = 2 + index_below(p, 7), which = index_below(p, 3); i < count;
             i++) {
            index_put(p, "sum = sum * 31 + %s[gid.x * %u + %u];\n", words[which], p->k, i);
        }
        return;
    case 1:
        for (uint32_t i = 0; i < 4; i++) {
            index_put(p, "sum = sum * 31 + u32(e[gid.x * 4 + %u]);\n", i);
        }
        return;
    case 2:
        index_put(p, "own[");
        index_value(p, 2);
        index_put(p, "] = sum;\n");
        return;
    case 5:
    case 6:
        index_put(p, "if ");
        index_condition(p, 2);
        index_block(p, depth - 1, 1 + index_below(p, 3));
        return;
    case 7:
        index_put(p, "let v%u = ", p->lets);
        index_value(p, 3);
        index_put(p, ";\n");
        p->lets++;
        return;
    case 8: index_loop(p, depth); return;
    case 9:
        if (!p->loops && !index_below(p, 3)) {
            index_put(p, "if ");
            index_condition(p, 1);
            index_put(p, " { return; }\n");
            return;
        }
        break;
    default: break;
    }
    index_load(p);
}

/* The text of a program, and inputs for it. Free the text. */
static inline void index_generate(index_program *p, uint64_t seed) {
    static const uint32_t lengths[] = {0, 1, 7, 16, 33, 64, 100, 128, 257};
    static const uint32_t records[] = {1, 2, 3, 4, 8, 16, 16, 5};
    *p = (index_program){.random = seed * 0x9e3779b97f4a7c15u + 1};
    p->k = records[index_below(p, 8)];
    p->is_flat = index_below(p, 3) != 0;
    p->n = index_below(p, 20);
    p->m = index_below(p, 10);
    p->s = (int32_t)index_below(p, 9) - 4;
    p->length = lengths[index_below(p, 9)];
    bool grouped = !index_below(p, 3);
    static const char *const domains[] = {"len(a)", "len(b)", "len(a) / 2", "n", "n * m"};
    const char *domain = p->is_flat ? domains[index_below(p, 5)] : "(n, m)";
    index_put(p,
              "program indices(n: u32, m: u32, s: i32, a: buffer<u32>, b: buffer<u32>[len(a) / "
              "%u], c: buffer<u32>[n * m], t: buffer<u32>[16], d: buffer<u32>[len(a)], e: "
              "buffer<u8>[len(a) * 4], out_one: out buffer<u32>[%s + 64], out_two: out "
              "buffer<u32>[(%s) * 2 + 3]) over %s%s {\n",
              p->k, p->is_flat ? domain : "n * m", p->is_flat ? domain : "n * m", domain,
              !grouped     ? ""
              : p->is_flat ? " workgroup 32"
                           : " workgroup 8, 4");
    index_put(p, "var sum = 1u;\nvar own: u32[5];\n");
    index_put(p, grouped && index_below(p, 2) ? "if in_domain" : "if true");
    index_block(p, 3, 3 + index_below(p, 6));
    const char *at = p->is_flat ? "gid.x" : "(gid.y * n + gid.x)";
    index_put(p, "%sout_one[%s] = sum + own[1];\nout_two[%s * 2 + 1] = sum;\n",
              p->is_flat ? "" : "if gid.x < n {\n", at, at);
    index_put(p, "out_two[%s * 2] = 7;\n%s}\n", at, p->is_flat ? "" : "}\n");
    for (uint32_t k = 0; k < 6; k++) {
        for (uint32_t i = 0; i < INDEX_LONGEST; i++) {
            p->data[k][i] = (uint32_t)vyre_random(&p->random);
        }
    }
    p->inputs[0] = (vyre_input){&p->n, 4};
    p->inputs[1] = (vyre_input){&p->m, 4};
    p->inputs[2] = (vyre_input){&p->s, 4};
    p->inputs[3] = (vyre_input){p->data[0], p->length * 4};
    p->inputs[4] = (vyre_input){p->data[1], p->length / p->k * 4};
    p->inputs[5] = (vyre_input){p->data[2], p->n * p->m * 4};
    p->inputs[6] = (vyre_input){p->data[3], 64};
    p->inputs[7] = (vyre_input){p->data[4], p->length * 4};
    p->inputs[8] = (vyre_input){p->data[5], p->length * 4};
}

#endif
