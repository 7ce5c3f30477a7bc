/* Oracle: the value of a format nearest to a function's true value, for certain.
 *
 * The C library's double result is within a few ULP of the true value (glibc documents at most 4
 * for these functions), a relative error below 2^-50. If all numbers within 2^-40 of it, a thousand
 * times as much, round to the same value, that is the answer. Otherwise, about once in 2^15 for
 * f32, MPFR computes it: its functions round correctly to any precision, so it is asked for the
 * bits and the range of the format. */
#ifndef PROVE_MATH_ORACLE_H
#define PROVE_MATH_ORACLE_H

#include <stdbool.h>

#include "format.h"
#include "function.h"

#define CANONICAL_NAN 0x7fc00000u

/* Belongs to one thread. */
typedef struct oracle {
    const math_function *function;
    const math_format *format;
    bool doubt_all;     /* ask MPFR always */
    uint64_t uncertain; /* how often MPFR was asked */
    mpfr_t x, y, result;
} oracle;

void oracle_init(oracle *self, const math_function *function, const math_format *format,
                 bool doubt_all);
void oracle_deinit(oracle *self);

/* Operands and result as bits of an f32; `y` counts for two operands alone. NaN is 0x7fc00000. */
uint32_t oracle_truth(oracle *self, uint32_t x, uint32_t y);

#endif
