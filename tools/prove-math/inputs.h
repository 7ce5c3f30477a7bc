/* Inputs: which operands a function is proven with, each by its number, so that threads can share
 * the work and a run can be repeated. */
#ifndef PROVE_MATH_INPUTS_H
#define PROVE_MATH_INPUTS_H

#include <stdbool.h>

#include "format.h"
#include "function.h"

typedef enum input_extent {
    INPUTS_SPECIAL, /* f32: special values, all exponents, hard cases; for two operands all pairs */
    INPUTS_RANDOM,  /* a million */
    INPUTS_FULL     /* all; for two f32 2^32 samples, a quarter of them hard cases */
} input_extent;

uint64_t inputs_count(const math_function *function, const math_format *format,
                      input_extent extent);

/* Operands number `first` to `first + count`, as bits of an f32. */
void inputs_make(const math_function *function, const math_format *format, input_extent extent,
                 uint64_t first, size_t count, uint32_t *x, uint32_t *y);

#endif
