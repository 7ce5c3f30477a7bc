/* Inputs: which operands a function is proven with, each by its number, so that threads can share
 * the work and a run can be repeated. */
#ifndef PROVE_MATH_INPUTS_H
#define PROVE_MATH_INPUTS_H

#include <stdbool.h>

#include "format.h"
#include "function.h"

typedef enum input_extent {
    INPUTS_SPECIAL, /* f32, f64: special values, all exponents, hard cases; of two operands pairs */
    INPUTS_RANDOM,  /* a million */
    INPUTS_FULL     /* all; for two f32 2^32 samples, a quarter of them hard cases; f64: 2^28 */
} input_extent;

uint64_t inputs_count(const math_function *function, const math_format *format,
                      input_extent extent);

/* Operands number `first` to `first + count`. */
void inputs_make(const math_function *function, const math_format *format, input_extent extent,
                 uint64_t first, size_t count, uint64_t *x, uint64_t *y);

/* The same for f64. */
uint64_t inputs_f64_count(const math_function *function, input_extent extent);
void inputs_f64_make(const math_function *function, input_extent extent, uint64_t number,
                     uint64_t *x, uint64_t *y);

/* A number that looks random; always the same for the same one. */
uint64_t inputs_scramble(uint64_t number);

#endif
