/* Vectors for the evaluators of src/ir/eval.h: goes through the operation table, runs an evaluator
 * on batches of operands and holds every result against oracles that know nothing of it.
 *
 *     eval_case c = {0};
 *     while (eval_next(&c)) {                        every pure operation, every type it takes
 *         eval_batch *batch = eval_batch_start(&c, oracle, second);
 *         eval_add(batch, (uint64_t[]){x, y, z});    as often as wanted
 *         eval_batch_end(batch);
 *     }
 *
 * Operands and results travel as bits, extended by zeros to 64. */
#ifndef VYRE_TESTS_EVAL_CHECK_H
#define VYRE_TESTS_EVAL_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/eval.h"
#include "ir/rule.h"

/* An operation together with the types of its operands and its result. */
typedef struct eval_case {
    uint32_t op;
    uint32_t step; /* which choice of types it is */
    uint32_t operands;
    vyre_type types[3];
    vyre_type result;
    vyre_evaluator evaluate;
} eval_case;

/* What the result must be. */
typedef uint64_t (*eval_oracle)(const eval_case *c, const uint64_t *operands);

static inline bool eval_is_pure(uint32_t op) {
    const vyre_op_info *info = vyre_op_info_of(op);
    return info->name && !info->effects && info->rule != VYRE_RULE_NONE &&
           info->rule != VYRE_RULE_OWN;
}

static inline bool eval_is_elementary(uint32_t op) {
    return vyre_op_info_of(op)->rule == VYRE_RULE_ELEMENTARY;
}

static inline void eval_describe(const eval_case *c, char *text, size_t size) {
    int used = snprintf(text, size, "%s(", vyre_op_info_of(c->op)->name);
    for (uint32_t i = 0; i < c->operands; i++) {
        used += snprintf(text + used, size - (size_t)used, "%s%s", i ? ", " : "",
                         vyre_type_name(c->types[i]));
    }
    snprintf(text + used, size - (size_t)used, ") -> %s", vyre_type_name(c->result));
}

/* Whether the choice of types number `c->step` exists for the operation; fills it in. A choice is
 * the types of three operands, or of the operand and the result of a conversion. */
static inline bool eval_choose(eval_case *c) {
    const uint32_t count = VYRE_TYPE_COUNT;
    c->operands = vyre_rule_arity((vyre_op)c->op);
    c->types[0] = (vyre_type)(c->step % count);
    c->types[1] = (vyre_type)(c->step / count % count);
    c->types[2] = (vyre_type)(c->step / count / count);
    vyre_type wanted = c->types[1];
    vyre_rule_error error;
    bool converts = vyre_op_info_of(c->op)->rule == VYRE_RULE_CONVERT ||
                    vyre_op_info_of(c->op)->rule == VYRE_RULE_BITCAST;
    if ((c->operands < 3 && c->types[2]) || (c->operands < 2 && !converts && wanted)) {
        return false;
    }
    return vyre_rule_check((vyre_op)c->op, 0, wanted, 0, c->types, &c->result, &error);
}

/* Goes on to the next operation and types; false behind the last. Elementary functions are left
 * out, they are expansions and proved elsewhere. Fails where an evaluator is missing. */
static inline bool eval_next(eval_case *c) {
    const uint32_t count = VYRE_TYPE_COUNT;
    for (c->step++; c->op < VYRE_OP_COUNT; c->op++, c->step = 0) {
        for (; eval_is_pure(c->op) && !eval_is_elementary(c->op) && c->step < count * count * count;
             c->step++) {
            if (!eval_choose(c)) {
                continue;
            }
            c->evaluate = vyre_eval_find((vyre_op)c->op, c->types[0], c->result);
            if (!c->evaluate) {
                char text[160];
                eval_describe(c, text, sizeof text);
                fail_msg("no evaluator for %s", text);
            }
            return true;
        }
    }
    return false;
}

/* splitmix64 */
static uint64_t eval_random_state = 1;

static inline uint64_t eval_random(void) {
    uint64_t z = eval_random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* From low to high, both included. */
static inline int eval_random_in(int low, int high) {
    return low + (int)((eval_random() >> 32) * (uint64_t)(high - low + 1) >> 32);
}

/* How many random vectors to take; a build for debugging is slow and takes a sample. */
static inline uint32_t eval_share(uint32_t count) {
#ifdef __OPTIMIZE__
    return count;
#else
    return count / 8;
#endif
}

static inline uint64_t eval_mask(vyre_type type) {
    return ~(uint64_t)0 >> (64 - vyre_type_bytes(type) * 8);
}

/* A prime, so that loops of any width end in the middle. */
enum { EVAL_BATCH = 1021, EVAL_GUARD = 8 };

typedef struct eval_batch {
    eval_case c;
    uint64_t masks[3];     /* of the operands' bits */
    eval_oracle oracle;    /* asked for every vector */
    eval_oracle second;    /* asked for one of `stride`; may be NULL */
    uint64_t stride;       /* starts with 1 */
    uint64_t vectors;      /* so far */
    uint64_t second_asked; /* so far */
    size_t count;
    uint64_t operands[EVAL_BATCH][3];
    uint64_t memory[4][EVAL_BATCH + EVAL_GUARD]; /* three operands and the result */
} eval_batch;

static inline void eval_put(void *memory, size_t at, uint32_t bytes, uint64_t bits) {
    switch (bytes) {
    case 1: ((uint8_t *)memory)[at] = (uint8_t)bits; break;
    case 2: ((uint16_t *)memory)[at] = (uint16_t)bits; break;
    case 4: ((uint32_t *)memory)[at] = (uint32_t)bits; break;
    default: ((uint64_t *)memory)[at] = bits; break;
    }
}

static inline uint64_t eval_get(const void *memory, size_t at, uint32_t bytes) {
    switch (bytes) {
    case 1: return ((const uint8_t *)memory)[at];
    case 2: return ((const uint16_t *)memory)[at];
    case 4: return ((const uint32_t *)memory)[at];
    default: return ((const uint64_t *)memory)[at];
    }
}

static inline void eval_compare(const eval_batch *batch, size_t at, uint64_t found,
                                eval_oracle oracle) {
    const uint64_t *operands = batch->operands[at];
    uint64_t expected = oracle(&batch->c, operands);
    if (found != expected) {
        char text[160];
        eval_describe(&batch->c, text, sizeof text);
        fail_msg("%s of %llx %llx %llx is %llx, the %s oracle expects %llx", text,
                 (unsigned long long)operands[0], (unsigned long long)operands[1],
                 (unsigned long long)operands[2], (unsigned long long)found,
                 oracle == batch->oracle ? "first" : "second", (unsigned long long)expected);
    }
}

static inline void eval_flush(eval_batch *batch) {
    const eval_case *c = &batch->c;
    uint32_t bytes = vyre_type_bytes(c->result), first_bytes = vyre_type_bytes(c->types[0]);
    for (uint32_t i = 0; i < c->operands; i++) {
        uint32_t size = vyre_type_bytes(c->types[i]);
        for (size_t k = 0; k < batch->count; k++) {
            eval_put(batch->memory[i], k, size, batch->operands[k][i]);
        }
    }
    void *to = batch->memory[3];
    const void *b = c->operands > 1 ? batch->memory[1] : NULL;
    const void *d = c->operands > 2 ? batch->memory[2] : NULL;
    memset(to, 0xa5, sizeof batch->memory[3]);
    c->evaluate(to, batch->memory[0], b, d, batch->count);
    for (size_t k = 0; k < batch->count; k++) {
        uint64_t found = eval_get(to, k, bytes);
        eval_compare(batch, k, found, batch->oracle);
        if (batch->second && (batch->vectors + k) % batch->stride == 0) {
            eval_compare(batch, k, found, batch->second);
            batch->second_asked++;
        }
    }
    for (size_t k = batch->count; k < EVAL_BATCH + EVAL_GUARD; k++) {
        if (eval_get(to, k, bytes) != (0xa5a5a5a5a5a5a5a5 & eval_mask(c->result))) {
            fail_msg("%s writes past the end", vyre_op_info_of(c->op)->name);
        }
    }
    /* The result may lie where an operand does. */
    if (bytes == first_bytes && batch->vectors / EVAL_BATCH % 16 == 0) {
        c->evaluate(batch->memory[0], batch->memory[0], b, d, batch->count);
        assert_memory_equal(batch->memory[0], to, batch->count * bytes);
    }
    batch->vectors += batch->count;
    batch->count = 0;
}

static inline eval_batch *eval_batch_start(const eval_case *c, eval_oracle oracle,
                                           eval_oracle second) {
    if (!oracle) {
        char text[160];
        eval_describe(c, text, sizeof text);
        fail_msg("no vectors for %s", text);
    }
    eval_batch *batch = malloc(sizeof *batch);
    assert_non_null(batch);
    *batch = (eval_batch){.c = *c, .oracle = oracle, .second = second, .stride = 1};
    for (uint32_t i = 0; i < c->operands; i++) {
        batch->masks[i] = eval_mask(c->types[i]);
    }
    return batch;
}

static inline void eval_add(eval_batch *batch, const uint64_t *operands) {
    for (uint32_t i = 0; i < 3; i++) {
        batch->operands[batch->count][i] = operands[i] & batch->masks[i];
    }
    if (++batch->count == EVAL_BATCH) {
        eval_flush(batch);
    }
}

/* Returns how many vectors there were. */
static inline uint64_t eval_batch_end(eval_batch *batch) {
    eval_flush(batch);
    uint64_t vectors = batch->vectors;
    free(batch);
    return vectors;
}

/* All combinations of the values in `lists`, one a operand. */
static inline void eval_add_all(eval_batch *batch, const uint64_t *const lists[3],
                                const size_t counts[3]) {
    size_t n1 = batch->c.operands > 1 ? counts[1] : 1, n2 = batch->c.operands > 2 ? counts[2] : 1;
    for (size_t i = 0; i < counts[0]; i++) {
        for (size_t j = 0; j < n1; j++) {
            for (size_t k = 0; k < n2; k++) {
                eval_add(batch, (uint64_t[]){lists[0][i], lists[1][j], lists[2][k]});
            }
        }
    }
}

#endif
