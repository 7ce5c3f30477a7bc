/* Oracle: the f32 nearest to a function's true value, for certain.
 *
 * The C library's double result is within a few ULP of the true value (glibc documents at most 4
 * for these functions), a relative error below 2^-50. If all numbers within 2^-40 of it, a thousand
 * times as much, round to the same f32, that is the answer. Otherwise, about once in 2^15, MPFR
 * computes it: its functions round correctly to any precision, so it is asked for 24 bits in the
 * range of f32. */
#ifndef PROVE_MATH_ORACLE_H
#define PROVE_MATH_ORACLE_H

#include <stdbool.h>

#include "function.h"

/* Belongs to one thread. */
typedef struct oracle {
    const math_function *function;
    bool doubt_all;     /* ask MPFR always */
    uint64_t uncertain; /* how often MPFR was asked */
    mpfr_t x, y, result;
} oracle;

void oracle_init(oracle *self, const math_function *function, bool doubt_all);
void oracle_deinit(oracle *self);

/* Operands and result as bits; `y` counts for two operands alone. NaN is 0x7fc00000. */
uint32_t oracle_truth(oracle *self, uint32_t x, uint32_t y);

float float_of(uint32_t bits);
uint32_t bits_of(float value);

#endif
