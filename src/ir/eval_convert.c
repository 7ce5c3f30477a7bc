#include "ir/eval.h"

#include "base/number.h"
#include "ir/eval_half.h"

/* X(suffix, name in vyre_type, memory, smallest, largest, first above) */
#define INTEGERS(X, ...)                                                                           \
    X(i8, I8, int8_t, INT8_MIN, INT8_MAX, 0x1p7, __VA_ARGS__)                                      \
    X(u8, U8, uint8_t, 0, UINT8_MAX, 0x1p8, __VA_ARGS__)                                           \
    X(i16, I16, int16_t, INT16_MIN, INT16_MAX, 0x1p15, __VA_ARGS__)                                \
    X(u16, U16, uint16_t, 0, UINT16_MAX, 0x1p16, __VA_ARGS__)                                      \
    X(i32, I32, int32_t, INT32_MIN, INT32_MAX, 0x1p31, __VA_ARGS__)                                \
    X(u32, U32, uint32_t, 0, UINT32_MAX, 0x1p32, __VA_ARGS__)                                      \
    X(i64, I64, int64_t, INT64_MIN, INT64_MAX, 0x1p63, __VA_ARGS__)                                \
    X(u64, U64, uint64_t, 0, UINT64_MAX, 0x1p64, __VA_ARGS__)

#define LOOP(name, from_memory, to_memory, expression)                                             \
    static void name(void *to, const void *a, const void *b, const void *c, size_t count) {        \
        (void)b, (void)c;                                                                          \
        to_memory *r = to;                                                                         \
        const from_memory *xs = a;                                                                 \
        for (size_t i = 0; i < count; i++) {                                                       \
            from_memory x = xs[i];                                                                 \
            r[i] = (to_memory)(expression);                                                        \
        }                                                                                          \
    }

/* From f64 to the narrow formats in one rounding. */
static uint16_t f16_from_f64(double value) {
    return (uint16_t)vyre_float_convert(VYRE_FLOAT_F64, VYRE_FLOAT_F16, f64_from_f64(value));
}

static uint16_t bf16_from_f64(double value) {
    return (uint16_t)vyre_float_convert(VYRE_FLOAT_F64, VYRE_FLOAT_BF16, f64_from_f64(value));
}

/* An integer as an f64 that rounds to a narrower format as the integer itself would: bits that do
 * not fit are folded into the lowest one kept. */
static double sticky_unsigned(uint64_t x) {
    return x >> 53 ? (double)(x >> 11 | ((x & 0x7ff) != 0)) * 2048.0 : (double)x;
}

static double sticky_signed(int64_t x) {
    return x < 0 ? -sticky_unsigned(0 - (uint64_t)x) : sticky_unsigned((uint64_t)x);
}

#define STICKY(x) ((x) > 0 ? sticky_unsigned((uint64_t)(x)) : sticky_signed((int64_t)(x)))

/* Towards zero, clamped, NaN gives 0. Both bounds are exact in f32 and f64. */
#define CLAMP(x, memory, low, high, above)                                                         \
    ((x) != (x) ? (memory)0 : (x) >= (above) ? (high) : (x) < (low) ? (low) : (memory)(x))

/* An integer type's conversions to and from floats and bool. */
#define WITH_FLOATS(t, T, memory, low, high, above, ...)                                           \
    LOOP(t##_f16, memory, uint16_t, f16_from_f64(STICKY(x)))                                       \
    LOOP(t##_bf16, memory, uint16_t, bf16_from_f64(STICKY(x)))                                     \
    LOOP(t##_f32, memory, uint32_t, f32_from_f32((float)x))                                        \
    LOOP(t##_f64, memory, uint64_t, f64_from_f64((double)x))                                       \
    LOOP(t##_flag, memory, uint8_t, x != 0)                                                        \
    LOOP(flag_##t, uint8_t, memory, x)                                                             \
    LOOP(f16_##t, uint16_t, memory, CLAMP(f16_to_f32(x), memory, low, high, (float)above))         \
    LOOP(bf16_##t, uint16_t, memory, CLAMP(bf16_to_f32(x), memory, low, high, (float)above))       \
    LOOP(f32_##t, uint32_t, memory, CLAMP(eval_f32(x), memory, low, high, (float)above))           \
    LOOP(f64_##t, uint64_t, memory, CLAMP(f64_to_f64(x), memory, low, high, above))

INTEGERS(WITH_FLOATS, )

/* Integers of one size differ in name only; others wrap or extend by their own sign. */
#define FROM_INTEGER(t, T, memory, low, high, above, from, from_memory)                            \
    LOOP(from##_##t, from_memory, memory, x)
INTEGERS(FROM_INTEGER, i8, int8_t)
INTEGERS(FROM_INTEGER, u8, uint8_t)
INTEGERS(FROM_INTEGER, i16, int16_t)
INTEGERS(FROM_INTEGER, u16, uint16_t)
INTEGERS(FROM_INTEGER, i32, int32_t)
INTEGERS(FROM_INTEGER, u32, uint32_t)
INTEGERS(FROM_INTEGER, i64, int64_t)
INTEGERS(FROM_INTEGER, u64, uint64_t)

/* Between floats, and between floats and bool. */
LOOP(f16_bf16, uint16_t, uint16_t, bf16_from_f32(f16_to_f32(x)))
LOOP(f16_f32, uint16_t, uint32_t, f32_from_f32(f16_to_f32(x)))
LOOP(f16_f64, uint16_t, uint64_t, f64_from_f64((double)f16_to_f32(x)))
LOOP(bf16_f16, uint16_t, uint16_t, f16_from_f32(bf16_to_f32(x)))
LOOP(bf16_f32, uint16_t, uint32_t, f32_from_f32(bf16_to_f32(x)))
LOOP(bf16_f64, uint16_t, uint64_t, f64_from_f64((double)bf16_to_f32(x)))
LOOP(f32_f16, uint32_t, uint16_t, f16_from_f32(eval_f32(x)))
LOOP(f32_bf16, uint32_t, uint16_t, bf16_from_f32(eval_f32(x)))
LOOP(f32_f64, uint32_t, uint64_t, f64_from_f64((double)eval_f32(x)))
LOOP(f64_f16, uint64_t, uint16_t, f16_from_f64(f64_to_f64(x)))
LOOP(f64_bf16, uint64_t, uint16_t, bf16_from_f64(f64_to_f64(x)))
LOOP(f64_f32, uint64_t, uint32_t, f32_from_f32((float)f64_to_f64(x)))
LOOP(f16_flag, uint16_t, uint8_t, (x & 0x7fff) != 0)
LOOP(bf16_flag, uint16_t, uint8_t, (x & 0x7fff) != 0)
LOOP(f32_flag, uint32_t, uint8_t, (x & 0x7fffffff) != 0)
LOOP(f64_flag, uint64_t, uint8_t, (x & 0x7fffffffffffffff) != 0)
LOOP(flag_f16, uint8_t, uint16_t, x ? 0x3c00 : 0)
LOOP(flag_bf16, uint8_t, uint16_t, x ? 0x3f80 : 0)
LOOP(flag_f32, uint8_t, uint32_t, x ? 0x3f800000 : 0)
LOOP(flag_f64, uint8_t, uint64_t, x ? 0x3ff0000000000000 : 0)

#define TO(t, T, from) [VYRE_TYPE_##T] = from##_##t,
#define TO_INTEGER(t, T, memory, low, high, above, from) TO(t, T, from)
#define TO_FLOATS(from)                                                                            \
    TO(f16, F16, from) TO(bf16, BF16, from) TO(f32, F32, from) TO(f64, F64, from)
#define INTEGER_ROW(t, T, memory, low, high, above, ...)                                           \
    [VYRE_TYPE_##T] = {TO(flag, BOOL, t) TO_FLOATS(t)},

/* By source and target; equal types need no conversion and have none. */
static const vyre_evaluator with_floats[VYRE_TYPE_COUNT][VYRE_TYPE_COUNT] = {
    INTEGERS(INTEGER_ROW, )[VYRE_TYPE_BOOL] = {INTEGERS(TO_INTEGER, flag) TO_FLOATS(flag)},
    [VYRE_TYPE_F16] = {INTEGERS(TO_INTEGER, f16) TO(flag, BOOL, f16) TO(bf16, BF16, f16)
                           TO(f32, F32, f16) TO(f64, F64, f16)},
    [VYRE_TYPE_BF16] = {INTEGERS(TO_INTEGER, bf16) TO(flag, BOOL, bf16) TO(f16, F16, bf16)
                            TO(f32, F32, bf16) TO(f64, F64, bf16)},
    [VYRE_TYPE_F32] = {INTEGERS(TO_INTEGER, f32) TO(flag, BOOL, f32) TO(f16, F16, f32)
                           TO(bf16, BF16, f32) TO(f64, F64, f32)},
    [VYRE_TYPE_F64] = {INTEGERS(TO_INTEGER, f64) TO(flag, BOOL, f64) TO(f16, F16, f64)
                           TO(bf16, BF16, f64) TO(f32, F32, f64)},
};

static const vyre_evaluator between_integers[VYRE_TYPE_COUNT][VYRE_TYPE_COUNT] = {
    [VYRE_TYPE_I8] = {INTEGERS(TO_INTEGER, i8)},   [VYRE_TYPE_U8] = {INTEGERS(TO_INTEGER, u8)},
    [VYRE_TYPE_I16] = {INTEGERS(TO_INTEGER, i16)}, [VYRE_TYPE_U16] = {INTEGERS(TO_INTEGER, u16)},
    [VYRE_TYPE_I32] = {INTEGERS(TO_INTEGER, i32)}, [VYRE_TYPE_U32] = {INTEGERS(TO_INTEGER, u32)},
    [VYRE_TYPE_I64] = {INTEGERS(TO_INTEGER, i64)}, [VYRE_TYPE_U64] = {INTEGERS(TO_INTEGER, u64)},
};

vyre_evaluator vyre_eval_convert(vyre_type from, vyre_type to) {
    if ((uint32_t)from >= VYRE_TYPE_COUNT || (uint32_t)to >= VYRE_TYPE_COUNT) {
        return NULL;
    }
    vyre_evaluator found = between_integers[from][to];
    return found ? found : with_floats[from][to];
}
