/* Floats. The compiler must not contract, reassociate or skip subnormals here; the build turns
 * contraction off and a test checks that it did. */
#include "ir/eval.h"

#include <math.h>

#include "ir/eval_half.h"

/* Wide formats compute in themselves, narrow ones in f32. X(suffix, name in vyre_type, bits in
 * memory, C type to compute in, to memory, from memory, sign bit) */
#define FLOAT_TYPES(X)                                                                             \
    X(f16, F16, uint16_t, float, f16_from_f32, f16_to_f32, 0x8000u)                                \
    X(bf16, BF16, uint16_t, float, bf16_from_f32, bf16_to_f32, 0x8000u)                            \
    X(f32, F32, uint32_t, float, f32_from_f32, eval_f32, 0x80000000u)                              \
    X(f64, F64, uint64_t, double, f64_from_f64, f64_to_f64, 0x8000000000000000u)

/* The C library's functions by type. All are exact or correctly rounded by the C standard's Annex
 * F. */
#define FN(type, name, ...) _Generic((type)0, float : name##f, double : name)(__VA_ARGS__)

/* -0 comes before +0, and a NaN loses against a number. */
#define MIN(x, y)                                                                                  \
    ((x) != (x)   ? (y)                                                                            \
     : (y) != (y) ? (x)                                                                            \
     : (x) < (y)  ? (x)                                                                            \
     : (y) < (x)  ? (y)                                                                            \
     : signbit(x) ? (x)                                                                            \
                  : (y))
#define MAX(x, y)                                                                                  \
    ((x) != (x)   ? (y)                                                                            \
     : (y) != (y) ? (x)                                                                            \
     : (x) > (y)  ? (x)                                                                            \
     : (y) > (x)  ? (y)                                                                            \
     : signbit(x) ? (y)                                                                            \
                  : (x))

#define UNARY(name, memory, type, from, to_type, expression)                                       \
    static void name(void *to, const void *a, const void *b, const void *c, size_t count) {        \
        (void)b, (void)c;                                                                          \
        memory *r = to;                                                                            \
        const memory *xs = a;                                                                      \
        for (size_t i = 0; i < count; i++) {                                                       \
            type x = to_type(xs[i]);                                                               \
            r[i] = from(expression);                                                               \
        }                                                                                          \
    }

#define BINARY(name, memory, type, from, to_type, expression)                                      \
    static void name(void *to, const void *a, const void *b, const void *c, size_t count) {        \
        (void)c;                                                                                   \
        memory *r = to;                                                                            \
        const memory *xs = a, *ys = b;                                                             \
        for (size_t i = 0; i < count; i++) {                                                       \
            type x = to_type(xs[i]), y = to_type(ys[i]);                                           \
            r[i] = from(expression);                                                               \
        }                                                                                          \
    }

#define COMPARE(name, memory, type, to_type, sign)                                                 \
    static void name(void *to, const void *a, const void *b, const void *c, size_t count) {        \
        (void)c;                                                                                   \
        uint8_t *r = to;                                                                           \
        const memory *xs = a, *ys = b;                                                             \
        for (size_t i = 0; i < count; i++) {                                                       \
            r[i] = to_type(xs[i]) sign to_type(ys[i]);                                             \
        }                                                                                          \
    }

/* Operations on the bits alone. */
#define BITS(name, memory, expression)                                                             \
    static void name(void *to, const void *a, const void *b, const void *c, size_t count) {        \
        (void)b, (void)c;                                                                          \
        memory *r = to;                                                                            \
        const memory *xs = a, *ys = b ? b : a;                                                     \
        for (size_t i = 0; i < count; i++) {                                                       \
            memory x = xs[i], y = ys[i];                                                           \
            (void)y;                                                                               \
            r[i] = (memory)(expression);                                                           \
        }                                                                                          \
    }

#define OPERATIONS(t, T, memory, type, from, to_type, sign)                                        \
    BINARY(add_##t, memory, type, from, to_type, x + y)                                            \
    BINARY(sub_##t, memory, type, from, to_type, x - y)                                            \
    BINARY(mul_##t, memory, type, from, to_type, x *y)                                             \
    BINARY(div_##t, memory, type, from, to_type, x / y)                                            \
    BINARY(min_##t, memory, type, from, to_type, MIN(x, y))                                        \
    BINARY(max_##t, memory, type, from, to_type, MAX(x, y))                                        \
    UNARY(sqrt_##t, memory, type, from, to_type, FN(type, sqrt, x))                                \
    UNARY(floor_##t, memory, type, from, to_type, FN(type, floor, x))                              \
    UNARY(ceil_##t, memory, type, from, to_type, FN(type, ceil, x))                                \
    UNARY(trunc_##t, memory, type, from, to_type, FN(type, trunc, x))                              \
    UNARY(round_##t, memory, type, from, to_type, FN(type, nearbyint, x))                          \
    COMPARE(eq_##t, memory, type, to_type, ==)                                                     \
    COMPARE(ne_##t, memory, type, to_type, !=)                                                     \
    COMPARE(lt_##t, memory, type, to_type, <)                                                      \
    COMPARE(le_##t, memory, type, to_type, <=)                                                     \
    BITS(neg_##t, memory, x ^ sign)                                                                \
    BITS(abs_##t, memory, x &(sign - 1))                                                           \
    BITS(copysign_##t, memory, (x & (sign - 1)) | (y & sign))                                      \
    static void fma_##t(void *to, const void *a, const void *b, const void *c, size_t count) {     \
        memory *r = to;                                                                            \
        const memory *xs = a, *ys = b, *zs = c;                                                    \
        for (size_t i = 0; i < count; i++) {                                                       \
            r[i] = from(FN(type, fma, to_type(xs[i]), to_type(ys[i]), to_type(zs[i])));            \
        }                                                                                          \
    }

FLOAT_TYPES(OPERATIONS)

enum { FIRST = VYRE_OP_ADD, COUNT = VYRE_OP_LE - VYRE_OP_ADD + 1 };

#define AT(name) [VYRE_OP_##name - FIRST]
#define ROW(t, T, memory, type, from, to_type, sign)                                               \
    [VYRE_TYPE_##T] = {AT(ADD) = add_##t,     AT(SUB) = sub_##t,     AT(MUL) = mul_##t,            \
                       AT(DIV) = div_##t,     AT(MIN) = min_##t,     AT(MAX) = max_##t,            \
                       AT(NEG) = neg_##t,     AT(ABS) = abs_##t,     AT(FMA) = fma_##t,            \
                       AT(SQRT) = sqrt_##t,   AT(FLOOR) = floor_##t, AT(CEIL) = ceil_##t,          \
                       AT(TRUNC) = trunc_##t, AT(ROUND) = round_##t, AT(COPYSIGN) = copysign_##t,  \
                       AT(EQ) = eq_##t,       AT(NE) = ne_##t,       AT(LT) = lt_##t,              \
                       AT(LE) = le_##t},

static const vyre_evaluator rows[VYRE_TYPE_COUNT][COUNT] = {FLOAT_TYPES(ROW)};

vyre_evaluator vyre_eval_float(vyre_op op, vyre_type type) {
    uint32_t index = (uint32_t)op - FIRST;
    return index < COUNT && (uint32_t)type < VYRE_TYPE_COUNT ? rows[type][index] : NULL;
}
