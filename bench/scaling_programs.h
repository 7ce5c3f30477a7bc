/* Texts of programs of any size, for measurements of how stages grow: each kind leans on another
 * part of them. A text has about as many instructions as are asked for; `functions` once they are
 * expanded. */
#ifndef VYRE_BENCH_SCALING_PROGRAMS_H
#define VYRE_BENCH_SCALING_PROGRAMS_H

#include <stdint.h>

#include "base/strbuf.h"

static const char scaling_head[] = "program large(x: buffer<u32>, y: inout buffer<u32>) over y";

static inline void scaling_stores(vyre_strbuf *out, uint32_t insts) {
    vyre_strbuf_printf(out, "%s {\n    let v = x[gid];\n", scaling_head);
    for (uint32_t i = 0; i < insts / 4; i++) {
        vyre_strbuf_printf(out, "    y[gid + %u] = v + %u;\n", i, i);
    }
    vyre_strbuf_puts(out, "}\n");
}

static inline void scaling_loads(vyre_strbuf *out, uint32_t insts) {
    vyre_strbuf_printf(out, "%s {\n    var s = x[gid];\n", scaling_head);
    for (uint32_t i = 0; i < insts / 5; i++) {
        vyre_strbuf_printf(out, "    s += x[gid * %u + %u];\n", 2 * i + 3, i);
    }
    vyre_strbuf_puts(out, "    y[gid] = s;\n}\n");
}

static inline void scaling_chain(vyre_strbuf *out, uint32_t insts) {
    vyre_strbuf_printf(out, "%s {\n    var s = x[gid];\n", scaling_head);
    for (uint32_t i = 0; i < insts / 4; i++) {
        vyre_strbuf_printf(out, "    s = (s ^ %u) * %u + (s >> 3);\n", i, 2 * i + 1);
    }
    vyre_strbuf_puts(out, "    y[gid] = s;\n}\n");
}

/* Loops that stay, each with a load. */
static inline void scaling_loops(vyre_strbuf *out, uint32_t insts) {
    vyre_strbuf_printf(out, "%s {\n    var s = x[gid];\n    var t = s;\n", scaling_head);
    for (uint32_t i = 0; i < insts / 18; i++) {
        vyre_strbuf_printf(
            out, "    for i in 0..x[%u] { s = s * 3 + x[s ^ i]; if s > t { t ^= s; } }\n", i);
    }
    vyre_strbuf_puts(out, "    y[gid] = s + t;\n}\n");
}

/* Loops of 16 that may become straight code. */
static inline void scaling_unrolled(vyre_strbuf *out, uint32_t insts) {
    vyre_strbuf_printf(out, "%s {\n    var s = x[gid];\n", scaling_head);
    for (uint32_t i = 0; i < insts / 9; i++) {
        vyre_strbuf_printf(out, "    for i in 0..16 { s = s * %u + x[s ^ i]; }\n", i + 3);
    }
    vyre_strbuf_puts(out, "    y[gid] = s;\n}\n");
}

static inline void scaling_ifs(vyre_strbuf *out, uint32_t insts) {
    enum { DEPTH = 100 };
    vyre_strbuf_printf(out, "%s {\n    var s = x[gid];\n", scaling_head);
    for (uint32_t i = 0; i < insts / (7 * DEPTH) + 1; i++) {
        for (uint32_t depth = 0; depth < DEPTH; depth++) {
            vyre_strbuf_printf(out, "if s > %u { s = s * 5 + 1; ", depth * 1000 + i);
        }
        for (uint32_t depth = 0; depth < DEPTH; depth++) {
            vyre_strbuf_puts(out, "}\n");
        }
    }
    vyre_strbuf_puts(out, "    y[gid] = s;\n}\n");
}

/* Private arrays, half of which can be values. */
static inline void scaling_private(vyre_strbuf *out, uint32_t insts) {
    vyre_strbuf_printf(out, "%s {\n    var s = x[gid];\n", scaling_head);
    uint32_t arrays = insts / 16 < 4000 ? insts / 16 : 4000; /* a program has no more */
    for (uint32_t i = 0; i < arrays; i++) {
        vyre_strbuf_printf(out,
                           "    { var a: u32[4]; for i in 0..4 { a[i] = s + i; }\n"
                           "      if s > %u { a[1] = s; } s += a[0] ^ a[3] + a[%s]; }\n",
                           i, i % 64 == 0 ? "s % 4" : "1");
    }
    vyre_strbuf_puts(out, "    y[gid] = s;\n}\n");
}

static inline void scaling_calls(vyre_strbuf *out, uint32_t insts) {
    vyre_strbuf_puts(out, "fn f(v: u32, k: u32) -> u32 { if v > k { return v * 3; } "
                          "return v ^ k; }\n");
    vyre_strbuf_printf(out, "%s {\n    var s = x[gid];\n", scaling_head);
    for (uint32_t i = 0; i < insts / 9; i++) {
        vyre_strbuf_printf(out, "    s = f(s, %u);\n", i);
    }
    vyre_strbuf_puts(out, "    y[gid] = s;\n}\n");
}

static inline void scaling_buffers(vyre_strbuf *out, uint32_t insts) {
    enum { BUFFERS = 200 };
    vyre_strbuf_puts(out, "program large(y: inout buffer<u32>");
    for (uint32_t i = 0; i < BUFFERS; i++) {
        vyre_strbuf_printf(out, ", b%u: inout buffer<u32>", i);
    }
    vyre_strbuf_puts(out, ") over y {\n");
    for (uint32_t i = 0; i < insts / 5; i++) {
        vyre_strbuf_printf(out, "    b%u[gid] = b%u[gid] + %u;\n", i % BUFFERS,
                           (7 * i + 1) % BUFFERS, i);
    }
    vyre_strbuf_puts(out, "    y[gid] = 1;\n}\n");
}

/* Loops that carry many values. */
static inline void scaling_carried(vyre_strbuf *out, uint32_t insts) {
    enum { VALUES = 64 };
    vyre_strbuf_printf(out, "%s {\n", scaling_head);
    for (uint32_t k = 0; k < VALUES; k++) {
        vyre_strbuf_printf(out, "    var v%u = x[gid + %u];\n", k, k);
    }
    for (uint32_t i = 0; i < insts / (3 * VALUES) + 1; i++) {
        vyre_strbuf_printf(out, "    for i in 0..x[%u] {\n", i);
        for (uint32_t k = 0; k < VALUES; k++) {
            vyre_strbuf_printf(out, "        v%u += v%u;\n", k, (k + i + 1) % VALUES);
        }
        vyre_strbuf_puts(out, "    }\n");
    }
    for (uint32_t k = 0; k < VALUES; k++) {
        vyre_strbuf_printf(out, "    y[gid + %u] = v%u;\n", k, k);
    }
    vyre_strbuf_puts(out, "}\n");
}

static inline void scaling_subgroups(vyre_strbuf *out, uint32_t insts) {
    vyre_strbuf_printf(out, "%s workgroup 64 subgroup 32 {\n    var s = x[gid];\n", scaling_head);
    for (uint32_t i = 0; i < insts / 4; i++) {
        vyre_strbuf_printf(out, "    s = subgroup_shuffle_xor(s, %u) + subgroup_add(s ^ %u);\n",
                           i % 31 + 1, i);
    }
    vyre_strbuf_puts(out, "    y[gid] = s;\n}\n");
}

static inline void scaling_barriers(vyre_strbuf *out, uint32_t insts) {
    vyre_strbuf_printf(out, "%s workgroup 64 {\n    shared a: u32[64];\n    var s = x[gid];\n",
                       scaling_head);
    for (uint32_t i = 0; i < insts / 9; i++) {
        vyre_strbuf_printf(out, "    a[lid] = s; barrier; s += a[(lid + %u) %% 64]; barrier;\n",
                           i + 1);
    }
    vyre_strbuf_puts(out, "    y[gid] = s;\n}\n");
}

static inline void scaling_atomics(vyre_strbuf *out, uint32_t insts) {
    vyre_strbuf_printf(out, "%s {\n    let v = x[gid];\n", scaling_head);
    for (uint32_t i = 0; i < insts / 2; i++) {
        vyre_strbuf_printf(out, "    atomic_add(y[v ^ %u], v);\n", i);
    }
    vyre_strbuf_puts(out, "}\n");
}

static inline void scaling_functions(vyre_strbuf *out, uint32_t insts) {
    vyre_strbuf_puts(out, "program large(x: buffer<f32>, y: inout buffer<f32>) over y {\n"
                          "    var s = x[gid];\n");
    for (uint32_t i = 0; i < insts / 91; i++) {
        vyre_strbuf_printf(out, "    s = sin(s + %u.0);\n", i);
    }
    vyre_strbuf_puts(out, "    y[gid] = s;\n}\n");
}

static inline void scaling_phases(vyre_strbuf *out, uint32_t insts) {
    uint32_t phases = insts / 8 < 4000 ? insts / 8 : 4000, each = insts / phases / 4;
    vyre_strbuf_puts(out, "program large(x: buffer<u32>, y: inout buffer<u32>) {\n");
    for (uint32_t i = 0; i < phases; i++) {
        vyre_strbuf_printf(out, "    phase over y { var s = x[gid];");
        for (uint32_t k = 0; k < each; k++) {
            vyre_strbuf_printf(out, " s = s * 3 ^ %u;", i + k);
        }
        vyre_strbuf_puts(out, " y[gid] += s; }\n");
    }
    vyre_strbuf_puts(out, "}\n");
}

typedef struct scaling_kind {
    const char *name;
    void (*write)(vyre_strbuf *out, uint32_t insts);
} scaling_kind;

static const scaling_kind scaling_kinds[] = {
    {"stores", scaling_stores},   {"loads", scaling_loads},         {"chain", scaling_chain},
    {"loops", scaling_loops},     {"unrolled", scaling_unrolled},   {"ifs", scaling_ifs},
    {"private", scaling_private}, {"calls", scaling_calls},         {"buffers", scaling_buffers},
    {"carried", scaling_carried}, {"subgroups", scaling_subgroups}, {"barriers", scaling_barriers},
    {"atomics", scaling_atomics}, {"functions", scaling_functions}, {"phases", scaling_phases},
};

#define SCALING_KINDS (sizeof scaling_kinds / sizeof *scaling_kinds)

#endif
