/* Size expressions: as text, and what an operator gives. */
#ifndef VYRE_IR_SIZE_H
#define VYRE_IR_SIZE_H

#include <vyre/program.h>

#include "base/strbuf.h"

void vyre_size_print(vyre_strbuf *text, const vyre_ir *ir, uint32_t size);

/* The same, with names for repeats whose counters it uses. */
typedef void (*vyre_size_step_name)(void *user, vyre_strbuf *text, uint32_t step);
void vyre_size_print_named(vyre_strbuf *text, const vyre_ir *ir, uint32_t size,
                           vyre_size_step_name name, void *user);

/* Whether it has two operands. */
static inline bool vyre_size_is_operator(uint32_t op) {
    return op >= VYRE_SIZE_ADD && op <= VYRE_SIZE_CEIL_DIV;
}

/* The first node of a size. */
static inline uint32_t vyre_size_first(const vyre_ir *ir, uint32_t size) {
    uint32_t first = size;
    for (uint32_t open = vyre_size_is_operator(ir->sizes[size].op) ? 2 : 0; open; open--) {
        first--;
        open += vyre_size_is_operator(ir->sizes[first].op) ? 2 : 0;
    }
    return first;
}

/* Whether it uses the counter of a repeat. */
bool vyre_size_counts(const vyre_ir *ir, uint32_t size);

/* Whether a size uses a counter that has no end known before the run: that of a `repeat while`, or
 * of a repeat whose count is such a size. */
bool vyre_size_is_open(const vyre_ir *ir, uint32_t size);
/* The same for the counter of a repeat. */
bool vyre_repeat_is_open(const vyre_ir *ir, uint32_t step);

/* vyre_size_eval with the counters of repeats, by step; NULL: all 0. */
VYRE_MUST_USE vyre_status vyre_size_eval_at(const vyre_program *program, uint32_t size,
                                            const uint64_t *arguments, const uint32_t *iterations,
                                            uint64_t *out_value);

/* A size during a run: `iterations` has the counter of each repeat, by step. It was checked before
 * the run; in an open one a difference below zero is 0. */
uint64_t vyre_size_now(const vyre_ir *ir, uint32_t size, const uint64_t *arguments,
                       const uint32_t *iterations);

/* Applies an operator; false with what went wrong. */
bool vyre_size_apply(uint32_t op, uint64_t left, uint64_t right, uint64_t *out,
                     const char **problem);

#endif
