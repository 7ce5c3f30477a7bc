/* Oracle: the value of a format nearest to a function's true value, for certain.
 *
 * The C library's double result is within a few ULP of the true value (glibc documents at most 4
 * for these functions), a relative error below 2^-50. If all numbers within 2^-40 of it, a thousand
 * times as much, round to the same value, that is the answer. Otherwise, about once in 2^15 for
 * f32, MPFR computes it: its functions round correctly to any precision, so it is asked for the
 * bits and the range of the format.
 *
 * For f64 the C library's long double result takes the place of the double one. glibc documents at
 * most 4 ULP for these, a relative error below 2^-61; the margin is 2^-59. */
#ifndef PROVE_MATH_ORACLE_H
#define PROVE_MATH_ORACLE_H

#include <stdbool.h>

#include "format.h"
#include "function.h"

#define CANONICAL_NAN 0x7fc00000u
#define CANONICAL_NAN_F64 0x7ff8000000000000u

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

/* Operands and result as words of the format; `y` counts for two operands alone. NaN is the
 * canonical one, of f32 for narrower types. */
uint64_t oracle_truth(oracle *self, uint64_t x, uint64_t y);

#endif
