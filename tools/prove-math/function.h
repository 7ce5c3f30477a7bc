/* The functions to prove: the C library's version in a wider type, which is nearly always enough to
 * know the answer, and MPFR's, which is asked otherwise. */
#ifndef PROVE_MATH_FUNCTION_H
#define PROVE_MATH_FUNCTION_H

#include <mpfr.h>
#include <stddef.h>
#include <stdint.h>

/* X(name), as the operation, the C library and MPFR call it; NAME_f32 and NAME_half are in
 * math.vyre, NAME_f64 is in math_f64.vyre. */
#define UNARY_FUNCTIONS(X)                                                                         \
    X(exp)                                                                                         \
    X(exp2)                                                                                        \
    X(exp10)                                                                                       \
    X(log)                                                                                         \
    X(log2)                                                                                        \
    X(log10)                                                                                       \
    X(sin)                                                                                         \
    X(cos)                                                                                         \
    X(tan)                                                                                         \
    X(asin)                                                                                        \
    X(acos)                                                                                        \
    X(atan)                                                                                        \
    X(sinh)                                                                                        \
    X(cosh)                                                                                        \
    X(tanh)                                                                                        \
    X(erf)                                                                                         \
    X(cbrt)

#define BINARY_FUNCTIONS(X)                                                                        \
    X(pow)                                                                                         \
    X(atan2)                                                                                       \
    X(hypot)

typedef struct math_function {
    const char *name;
    uint32_t operands;    /* 1 or 2; the members of the other number are NULL */
    uint32_t allowed_ulp; /* how far off the nearest f32 a result may be */
    double (*host1)(double x);
    double (*host2)(double x, double y);
    long double (*wide1)(long double x); /* for f64 */
    long double (*wide2)(long double x, long double y);
    int (*exact1)(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding);
    int (*exact2)(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rounding);
} math_function;

extern const math_function math_functions[];
extern const size_t math_function_count;

/* NULL if there is none of that name. */
const math_function *math_function_find(const char *name);

#endif
