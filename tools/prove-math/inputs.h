/* Inputs: which operands a function is proven with, each by its number, so that threads can share
 * the work and a run can be repeated. */
#ifndef PROVE_MATH_INPUTS_H
#define PROVE_MATH_INPUTS_H

#include <stdbool.h>

#include "function.h"

typedef enum input_extent {
    INPUTS_SPECIAL, /* special values and all exponents, hard cases; for two operands all pairs */
    INPUTS_RANDOM,  /* a million */
    INPUTS_FULL     /* all 2^32; for two operands as many samples, a quarter of them hard cases */
} input_extent;

uint64_t inputs_count(const math_function *function, input_extent extent);

/* Operands number `first` to `first + count`. */
void inputs_make(const math_function *function, input_extent extent, uint64_t first, size_t count,
                 uint32_t *x, uint32_t *y);

#endif
