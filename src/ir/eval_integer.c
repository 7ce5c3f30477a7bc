#include "ir/eval.h"

/* X(suffix, name in vyre_type, C type, unsigned C type, bits) */
#define SIGNED_TYPES(X)                                                                            \
    X(i8, I8, int8_t, uint8_t, 8)                                                                  \
    X(i16, I16, int16_t, uint16_t, 16)                                                             \
    X(i32, I32, int32_t, uint32_t, 32)                                                             \
    X(i64, I64, int64_t, uint64_t, 64)
#define UNSIGNED_TYPES(X)                                                                          \
    X(u8, U8, uint8_t, uint8_t, 8)                                                                 \
    X(u16, U16, uint16_t, uint16_t, 16)                                                            \
    X(u32, U32, uint32_t, uint32_t, 32)                                                            \
    X(u64, U64, uint64_t, uint64_t, 64)

#define UNARY(name, type, expression)                                                              \
    static void name(void *to, const void *a, const void *b, const void *c, size_t count) {        \
        (void)b, (void)c;                                                                          \
        type *r = to;                                                                              \
        const type *xs = a;                                                                        \
        for (size_t i = 0; i < count; i++) {                                                       \
            type x = xs[i];                                                                        \
            r[i] = (type)(expression);                                                             \
        }                                                                                          \
    }

#define BINARY(name, result, type, second, expression)                                             \
    static void name(void *to, const void *a, const void *b, const void *c, size_t count) {        \
        (void)c;                                                                                   \
        result *r = to;                                                                            \
        const type *xs = a;                                                                        \
        const second *ys = b;                                                                      \
        for (size_t i = 0; i < count; i++) {                                                       \
            type x = xs[i];                                                                        \
            second y = ys[i];                                                                      \
            r[i] = (result)(expression);                                                           \
        }                                                                                          \
    }

/* Arithmetic that may wrap is done unsigned, in at least 32 bits so that promotion cannot make it
 * signed again; the cast back is the two's complement value. */
#define WIDE(unsigned_type, x) ((unsigned_type)(x) + (uint32_t)0)

static uint64_t popcount(uint64_t x) {
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return x * 0x0101010101010101u >> 56;
}

/* Ones at and below the highest bit set. */
static uint64_t fill_down(uint64_t x) {
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    return x | x >> 32;
}

static uint64_t reverse(uint64_t x) {
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ff00ff00ffu) | (x & 0x00ff00ff00ff00ffu) << 8;
    x = (x >> 16 & 0x0000ffff0000ffffu) | (x & 0x0000ffff0000ffffu) << 16;
    return x >> 32 | x << 32;
}

static uint64_t high_product(uint64_t x, uint64_t y) {
    uint64_t x_low = (uint32_t)x, x_high = x >> 32, y_low = (uint32_t)y, y_high = y >> 32;
    uint64_t low = x_low * y_low, mid = x_high * y_low + (low >> 32);
    uint64_t mid2 = x_low * y_high + (uint32_t)mid;
    return x_high * y_high + (mid >> 32) + (mid2 >> 32);
}

static int64_t high_product_signed(int64_t x, int64_t y) {
    uint64_t high = high_product((uint64_t)x, (uint64_t)y);
    high -= x < 0 ? (uint64_t)y : 0;
    high -= y < 0 ? (uint64_t)x : 0;
    return (int64_t)high;
}

/* Operations that read the same for signed and unsigned types. */
#define COMMON(t, T, type, utype, bits)                                                            \
    BINARY(add_##t, type, type, type, (utype)(WIDE(utype, x) + WIDE(utype, y)))                    \
    BINARY(sub_##t, type, type, type, (utype)(WIDE(utype, x) - WIDE(utype, y)))                    \
    BINARY(mul_##t, type, type, type, (utype)(WIDE(utype, x) * WIDE(utype, y)))                    \
    BINARY(min_##t, type, type, type, x < y ? x : y)                                               \
    BINARY(max_##t, type, type, type, x > y ? x : y)                                               \
    BINARY(and_##t, type, type, type, x &y)                                                        \
    BINARY(or_##t, type, type, type, x | y)                                                        \
    BINARY(xor_##t, type, type, type, x ^ y)                                                       \
    UNARY(not_##t, type, ~x)                                                                       \
    BINARY(shl_##t, type, type, uint32_t, (utype)(WIDE(utype, x) << (y & (bits - 1))))             \
    BINARY(rotl_##t, type, type, uint32_t,                                                         \
           (utype)(WIDE(utype, x) << (y & (bits - 1)) |                                            \
                   WIDE(utype, x) >> ((bits - (y & (bits - 1))) & (bits - 1))))                    \
    BINARY(rotr_##t, type, type, uint32_t,                                                         \
           (utype)(WIDE(utype, x) >> (y & (bits - 1)) |                                            \
                   WIDE(utype, x) << ((bits - (y & (bits - 1))) & (bits - 1))))                    \
    UNARY(clz_##t, type, bits - popcount(fill_down((utype)x)))                                     \
    UNARY(ctz_##t, type, popcount((utype)(~WIDE(utype, x) & (WIDE(utype, x) - 1))))                \
    UNARY(popcount_##t, type, popcount((utype)x))                                                  \
    UNARY(reverse_##t, type, reverse((utype)x) >> (64 - bits))                                     \
    BINARY(eq_##t, uint8_t, type, type, x == y)                                                    \
    BINARY(ne_##t, uint8_t, type, type, x != y)                                                    \
    BINARY(lt_##t, uint8_t, type, type, x < y)                                                     \
    BINARY(le_##t, uint8_t, type, type, x <= y)

#define SIGNED_ONLY(t, T, type, utype, bits)                                                       \
    BINARY(div_##t, type, type, type,                                                              \
           y == 0    ? (utype)x                                                                    \
           : y == -1 ? (utype)(0 - WIDE(utype, x))                                                 \
                     : (utype)(x / y))                                                             \
    BINARY(rem_##t, type, type, type, y == 0 || y == -1 ? 0 : x % y)                               \
    UNARY(neg_##t, type, (utype)(0 - WIDE(utype, x)))                                              \
    UNARY(abs_##t, type, x < 0 ? (utype)(0 - WIDE(utype, x)) : (utype)x)                           \
    BINARY(shr_##t, type, type, uint32_t,                                                          \
           x < 0 ? ~(~x >> (y & (bits - 1))) : x >> (y & (bits - 1)))                              \
    BINARY(add_sat_##t, type, type, type,                                                          \
           y > 0 && x > INT##bits##_MAX - y   ? INT##bits##_MAX                                    \
           : y < 0 && x < INT##bits##_MIN - y ? INT##bits##_MIN                                    \
                                              : x + y)                                             \
    BINARY(sub_sat_##t, type, type, type,                                                          \
           y<0 && x> INT##bits##_MAX + y      ? INT##bits##_MAX                                    \
           : y > 0 && x < INT##bits##_MIN + y ? INT##bits##_MIN                                    \
                                              : x - y)                                             \
    BINARY(mul_high_##t, type, type, type,                                                         \
           bits == 64 ? high_product_signed(x, y)                                                  \
                      : (type)((uint64_t)((int64_t)x * (bits == 64 ? 1 : y)) >> (bits & 63)))

#define UNSIGNED_ONLY(t, T, type, utype, bits)                                                     \
    BINARY(div_##t, type, type, type, y ? x / y : x)                                               \
    BINARY(rem_##t, type, type, type, y ? x % y : 0)                                               \
    BINARY(shr_##t, type, type, uint32_t, x >> (y & (bits - 1)))                                   \
    BINARY(add_sat_##t, type, type, type, x > UINT##bits##_MAX - y ? UINT##bits##_MAX : x + y)     \
    BINARY(sub_sat_##t, type, type, type, x < y ? 0 : x - y)                                       \
    BINARY(mul_high_##t, type, type, type,                                                         \
           bits == 64 ? high_product(x, y) : (uint64_t)x * y >> (bits & 63))

SIGNED_TYPES(COMMON)
UNSIGNED_TYPES(COMMON)
SIGNED_TYPES(SIGNED_ONLY)
UNSIGNED_TYPES(UNSIGNED_ONLY)

/* A bool is a byte that is 0 or 1, so the operations on u8 serve, except `not`. */
UNARY(not_bool, uint8_t, !x)

/* One row a type: the evaluator of each operation, by its number from ADD on. */
enum { FIRST = VYRE_OP_ADD, COUNT = VYRE_OP_LE - VYRE_OP_ADD + 1 };

#define AT(name) [VYRE_OP_##name - FIRST]
#define COMMON_ROW(t)                                                                              \
    AT(ADD) = add_##t, AT(SUB) = sub_##t, AT(MUL) = mul_##t, AT(DIV) = div_##t, AT(REM) = rem_##t, \
    AT(MIN) = min_##t, AT(MAX) = max_##t, AT(MUL_HIGH) = mul_high_##t, AT(ADD_SAT) = add_sat_##t,  \
    AT(SUB_SAT) = sub_sat_##t, AT(AND) = and_##t, AT(OR) = or_##t, AT(XOR) = xor_##t,              \
    AT(NOT) = not_##t, AT(SHL) = shl_##t, AT(SHR) = shr_##t, AT(ROTL) = rotl_##t,                  \
    AT(ROTR) = rotr_##t, AT(CLZ) = clz_##t, AT(CTZ) = ctz_##t, AT(POPCOUNT) = popcount_##t,        \
    AT(REVERSE_BITS) = reverse_##t, AT(EQ) = eq_##t, AT(NE) = ne_##t, AT(LT) = lt_##t,             \
    AT(LE) = le_##t
#define SIGNED_ROW(t, T, type, utype, bits)                                                        \
    [VYRE_TYPE_##T] = {COMMON_ROW(t), AT(NEG) = neg_##t, AT(ABS) = abs_##t},
#define UNSIGNED_ROW(t, T, type, utype, bits) [VYRE_TYPE_##T] = {COMMON_ROW(t)},

static const vyre_evaluator rows[VYRE_TYPE_COUNT][COUNT] = {
    SIGNED_TYPES(SIGNED_ROW) UNSIGNED_TYPES(
        UNSIGNED_ROW)[VYRE_TYPE_BOOL] = {AT(AND) = and_u8, AT(OR) = or_u8, AT(XOR) = xor_u8,
                                         AT(NOT) = not_bool, AT(EQ) = eq_u8, AT(NE) = ne_u8},
};

vyre_evaluator vyre_eval_integer(vyre_op op, vyre_type type) {
    uint32_t index = (uint32_t)op - FIRST;
    return index < COUNT && (uint32_t)type < VYRE_TYPE_COUNT ? rows[type][index] : NULL;
}
