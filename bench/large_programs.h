/* Large programs for the benchmarks, made through the builder: each kind leans on another part of
 * the verifier. */
#ifndef VYRE_BENCH_LARGE_PROGRAMS_H
#define VYRE_BENCH_LARGE_PROGRAMS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <vyre/builder.h>

typedef struct large_program_state {
    vyre_builder *b;
    uint32_t x, y, part; /* arrays of f32; the last one is shared */
    uint32_t gid, lid, value;
    uint32_t serial;
} large_program_state;

static inline uint32_t large_op(large_program_state *s, vyre_op op, uint32_t left, uint32_t right) {
    return vyre_build_op(s->b, op, left, right, VYRE_NONE);
}

/* Eight instructions of plain code, with a constant that nobody else has. */
static inline void large_plain(large_program_state *s) {
    vyre_builder *b = s->b;
    uint32_t index = large_op(s, VYRE_OP_ADD, s->gid, vyre_build_u32(b, s->serial++));
    uint32_t loaded = vyre_build_load(b, s->x, index);
    uint32_t sum = vyre_build_op(b, VYRE_OP_FMA, loaded, s->value, vyre_build_f32(b, 0.5f));
    uint32_t less = large_op(s, VYRE_OP_LT, sum, loaded);
    uint32_t chosen = vyre_build_op(b, VYRE_OP_SELECT, less, sum, s->value);
    uint32_t root = vyre_build_op(b, VYRE_OP_SQRT, chosen, VYRE_NONE, VYRE_NONE);
    s->value = large_op(s, VYRE_OP_MUL, root, sum);
    vyre_build_store(b, s->y, index, s->value);
}

static inline void large_straight(large_program_state *s, uint32_t insts) {
    for (uint32_t i = 0; i < insts / 8; i++) {
        large_plain(s);
    }
}

/* Ifs and loops, a hundred deep. */
static inline void large_nested(large_program_state *s, uint32_t insts) {
    vyre_builder *b = s->b;
    uint32_t kept = s->value, zero = vyre_build_u32(b, 0), one = vyre_build_u32(b, 1);
    for (uint32_t i = 0; i < insts / 880; i++) {
        for (uint32_t depth = 0; depth < 100; depth++) {
            large_op(s, VYRE_OP_ADD, s->value, s->value);
            if (depth % 2) {
                vyre_build_if(b, large_op(s, VYRE_OP_EQ, s->gid, vyre_build_u32(b, depth)));
            } else {
                vyre_build_for(b, zero, s->gid, one, 0, NULL, NULL);
            }
            s->value = large_op(s, VYRE_OP_MUL, s->value, s->value);
            vyre_build_store(b, s->y, s->gid, s->value);
        }
        for (uint32_t depth = 100; depth-- > 0;) {
            s->value = kept;
            large_op(s, VYRE_OP_SUB, s->value, s->value);
            if (depth % 2) {
                vyre_build_if_end(b, 0, NULL);
            } else {
                vyre_build_loop_end(b, 0, NULL);
            }
        }
    }
}

/* Loops that carry eight values each. */
static inline void large_loops(large_program_state *s, uint32_t insts) {
    vyre_builder *b = s->b;
    uint32_t zero = vyre_build_u32(b, 0), one = vyre_build_u32(b, 1);
    for (uint32_t i = 0; i < insts / 32; i++) {
        uint32_t values[8], next[8];
        for (uint32_t k = 0; k < 8; k++) {
            values[k] = k % 2 ? s->value : vyre_build_f32(b, (float)k);
        }
        vyre_build_for(b, zero, s->gid, one, 8, values, values);
        for (uint32_t k = 0; k < 8; k++) {
            next[k] = large_op(s, VYRE_OP_ADD, values[k], values[(k + 1) % 8]);
        }
        vyre_build_if(b, large_op(s, VYRE_OP_LT, values[0], values[1]));
        vyre_build_break(b, 8, values);
        vyre_build_if_end(b, 0, NULL);
        vyre_build_continue(b, 8, next);
        vyre_build_loop_end(b, 8, values);
        s->value = values[7];
    }
}

/* Barriers in loops that everybody takes alike, so that the uniformity of everything is
 * computed. */
static inline void large_barriers(large_program_state *s, uint32_t insts) {
    vyre_builder *b = s->b;
    uint32_t zero = vyre_build_u32(b, 0), one = vyre_build_u32(b, 1);
    for (uint32_t i = 0; i < insts / 18; i++) {
        uint32_t value = s->value;
        uint32_t k = vyre_build_for(b, zero, vyre_build_u32(b, 64), one, 1, &value, &value);
        uint32_t index = large_op(s, VYRE_OP_ADD, s->lid, k);
        vyre_build_store(b, s->part, s->lid, value);
        vyre_build_barrier(b, VYRE_OP_BARRIER);
        vyre_build_if(b, large_op(s, VYRE_OP_LT, s->lid, k));
        vyre_build_store(b, s->y, s->gid, vyre_build_load(b, s->part, index));
        vyre_build_if_end(b, 0, NULL);
        vyre_build_barrier(b, VYRE_OP_BARRIER);
        uint32_t sum = large_op(s, VYRE_OP_ADD, value, vyre_build_load(b, s->part, index));
        vyre_build_continue(b, 1, &sum);
        vyre_build_loop_end(b, 1, &s->value);
    }
}

typedef struct large_program_kind {
    const char *name;
    void (*build)(large_program_state *s, uint32_t insts);
} large_program_kind;

static const large_program_kind large_program_kinds[] = {
    {"straight code", large_straight},
    {"nested 100 deep", large_nested},
    {"loops carrying 8", large_loops},
    {"uniform barriers", large_barriers},
};

#define LARGE_PROGRAM_KINDS (sizeof large_program_kinds / sizeof *large_program_kinds)

static inline void large_check(vyre_status status) {
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
        exit(1);
    }
}

/* A program of about `insts` instructions with names and places. */
static inline vyre_program *large_program(size_t kind, uint32_t insts) {
    large_program_state s = {0};
    vyre_program *program;
    large_check(vyre_builder_create("large", &s.b));
    vyre_builder *b = s.b;
    vyre_build_file(b, "large.vyre");
    vyre_build_at(b, 3, 5, 1);
    s.x = vyre_build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_F32, VYRE_NONE);
    s.y = vyre_build_buffer(b, "y", VYRE_ACCESS_INOUT, VYRE_TYPE_F32, VYRE_NONE);
    vyre_build_phase(
        b, &(vyre_phase_desc){.domain = {vyre_build_size_len(b, s.y)}, .workgroup = {256}});
    s.part = vyre_build_shared(b, "part", VYRE_TYPE_F32, 256);
    s.gid = vyre_build_position(b, VYRE_OP_GID, 0);
    s.lid = vyre_build_position(b, VYRE_OP_LID, 0);
    s.value = vyre_build_load(b, s.x, s.gid);
    large_program_kinds[kind].build(&s, insts);
    vyre_build_phase_end(b);
    large_check(vyre_builder_finish(b, NULL, &program));
    vyre_builder_free(b);
    return program;
}

#endif
