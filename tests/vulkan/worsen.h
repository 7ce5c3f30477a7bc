/* A Vulkan device made worse on purpose: modules are changed before the driver gets them, so that
 * f32 arithmetic flushes subnormal operands and results, divides by a product with an estimate, or
 * takes roots that are one off. */
#ifndef VYRE_TESTS_VULKAN_WORSEN_H
#define VYRE_TESTS_VULKAN_WORSEN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

enum { WORSE_FLUSH = 1, WORSE_DIVIDE = 2, WORSE_ROOT = 4 };

static uint32_t worsen_how;

typedef struct worsening {
    uint32_t *out;
    size_t count, room;
    uint32_t bound;                       /* of ids */
    uint32_t f32, u32, boolean, extended; /* types, and the set of instructions; 0: not there */
    uint32_t magnitude, least, sign, one, root; /* constants */
} worsening;

static inline void worsen_put(worsening *w, uint32_t op, uint32_t count, const uint32_t *words) {
    if (w->count + count + 1 <= w->room) {
        w->out[w->count++] = (count + 1) << 16 | op;
        memcpy(w->out + w->count, words, count * sizeof *words);
        w->count += count;
    }
}

static inline uint32_t worsen_value(worsening *w, uint32_t op, uint32_t type, uint32_t a,
                                    uint32_t b) {
    const uint32_t words[] = {type, w->bound++, a, b};
    worsen_put(w, op, b ? 4 : 3, words);
    return words[1];
}

static inline uint32_t worsen_constant(worsening *w, uint32_t type, uint32_t bits) {
    const uint32_t words[] = {type, w->bound++, bits};
    worsen_put(w, 43, 3, words);
    return words[1];
}

/* Before the first function: what is there no type of yet, and the constants. */
static inline void worsen_declare(worsening *w) {
    if (!w->boolean) {
        w->boolean = w->bound++;
        worsen_put(w, 20, 1, &w->boolean);
    }
    w->magnitude = worsen_constant(w, w->u32, 0x7fffffff);
    w->least = worsen_constant(w, w->u32, 0x00800000);
    w->sign = worsen_constant(w, w->u32, 0x80000000);
    w->one = worsen_constant(w, w->f32, 0x3f800000);
    w->root = worsen_constant(w, w->u32, 1);
}

/* Subnormal: the zero of its sign. */
static inline uint32_t worsen_flush(worsening *w, uint32_t value) {
    if (!(worsen_how & WORSE_FLUSH)) {
        return value;
    }
    uint32_t bits = worsen_value(w, 124, w->u32, value, 0);
    uint32_t size = worsen_value(w, 199, w->u32, bits, w->magnitude);
    uint32_t small = worsen_value(w, 176, w->boolean, size, w->least);
    uint32_t zero = worsen_value(w, 199, w->u32, bits, w->sign);
    const uint32_t choose[] = {w->u32, w->bound++, small, zero, bits};
    worsen_put(w, 169, 5, choose);
    return worsen_value(w, 124, w->f32, choose[1], 0);
}

/* Gives an id of its own to what was computed, and the old one to what is made of it. */
static inline void worsen_finish(worsening *w, uint32_t value, uint32_t result) {
    uint32_t bits = worsen_value(w, 124, w->u32, worsen_flush(w, value), 0);
    const uint32_t back[] = {w->f32, result, bits};
    worsen_put(w, 124, 3, back);
}

static inline void worsen_binary(worsening *w, const uint32_t *at) {
    uint32_t op = at[0] & 0xffff, a = worsen_flush(w, at[3]), b = worsen_flush(w, at[4]);
    if (op == 136 && worsen_how & WORSE_DIVIDE) {
        b = worsen_value(w, 136, w->f32, w->one, b);
        op = 133;
    }
    worsen_finish(w, worsen_value(w, op, w->f32, a, b), at[2]);
}

static inline void worsen_root(worsening *w, const uint32_t *at) {
    const uint32_t words[] = {w->f32, w->bound++, at[3], at[4], worsen_flush(w, at[5])};
    worsen_put(w, 12, 5, words);
    if (!(worsen_how & WORSE_ROOT)) {
        worsen_finish(w, words[1], at[2]);
        return;
    }
    uint32_t bits = worsen_value(w, 124, w->u32, words[1], 0);
    uint32_t odd = worsen_value(w, 199, w->u32, bits, w->root);
    uint32_t off = worsen_value(w, 128, w->u32, bits, odd); /* infinities and NaNs, too, if odd */
    worsen_finish(w, worsen_value(w, 124, w->f32, off, 0), at[2]);
}

static inline void worsen_one(worsening *w, const uint32_t *at) {
    uint32_t op = at[0] & 0xffff, count = at[0] >> 16;
    bool known = w->f32 && w->u32;
    if (known && (op == 129 || op == 131 || op == 133 || op == 136) && at[1] == w->f32) {
        worsen_binary(w, at);
    } else if (known && op == 12 && at[1] == w->f32 && at[3] == w->extended && at[4] == 31) {
        worsen_root(w, at);
    } else {
        worsen_put(w, op, count - 1, at + 1);
    }
}

/* For vulkan_drill.worsen: replaces the words by others, from the allocator. */
static inline void worsen_module(uint32_t **words, size_t *count) {
    const uint32_t *from = *words;
    worsening w = {.room = *count * 12 + 64, .bound = from[3]};
    w.out = vyre_alloc_array(w.room, sizeof *w.out);
    if (!w.out) {
        return;
    }
    memcpy(w.out, from, 5 * sizeof *from);
    w.count = 5;
    bool declared = false;
    for (size_t i = 5; i < *count; i += from[i] >> 16) {
        const uint32_t *at = from + i;
        uint32_t op = at[0] & 0xffff;
        w.f32 = op == 22 && at[2] == 32 ? at[1] : w.f32;
        w.u32 = op == 21 && at[2] == 32 && !at[3] ? at[1] : w.u32;
        w.boolean = op == 20 ? at[1] : w.boolean;
        w.extended = op == 11 ? at[1] : w.extended;
        if (op == 54 && !declared && w.f32 && w.u32) {
            worsen_declare(&w);
        }
        declared |= op == 54;
        worsen_one(&w, at);
    }
    w.out[3] = w.bound;
    vyre_free(*words);
    *words = w.out;
    *count = w.count;
}

#endif
