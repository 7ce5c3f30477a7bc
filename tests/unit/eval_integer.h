/* Operations on integers and bool in arithmetic of twice the width, written from docs/semantics.md.
 */
#ifndef VYRE_TESTS_EVAL_INTEGER_H
#define VYRE_TESTS_EVAL_INTEGER_H

#include "tests/unit/eval_check.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

static inline bool is_signed(vyre_type type) {
    return vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
}

static inline int width_of(vyre_type type) {
    return type == VYRE_TYPE_BOOL ? 1 : (int)vyre_type_bytes(type) * 8;
}

/* The number that the bits stand for. */
static inline wide value_of(vyre_type type, uint64_t bits) {
    bool negative = is_signed(type) && bits >> (width_of(type) - 1) & 1;
    return (wide)bits - (negative ? (wide)1 << width_of(type) : 0);
}

/* Modulo 2^width. */
static inline uint64_t wrap(vyre_type type, wide value) {
    return (uint64_t)(unsigned_wide)value & eval_mask(type);
}

static inline uint64_t clamp(vyre_type type, wide value) {
    wide high = ((wide)1 << (width_of(type) - is_signed(type))) - 1;
    wide low = is_signed(type) ? -high - 1 : 0;
    return wrap(type, value < low ? low : value > high ? high : value);
}

static inline bool bit(uint64_t bits, int at) {
    return bits >> at & 1;
}

static inline uint64_t expect_add(const eval_case *c, const uint64_t *x) {
    vyre_type type = c->types[0];
    return wrap(type, value_of(type, x[0]) + value_of(type, x[1]));
}

static inline uint64_t expect_sub(const eval_case *c, const uint64_t *x) {
    vyre_type type = c->types[0];
    return wrap(type, value_of(type, x[0]) - value_of(type, x[1]));
}

/* The product of two words of 64 bits without a sign does not fit into a `wide`. */
static inline unsigned_wide product(vyre_type type, const uint64_t *x) {
    return (unsigned_wide)value_of(type, x[0]) * (unsigned_wide)value_of(type, x[1]);
}

static inline uint64_t expect_mul(const eval_case *c, const uint64_t *x) {
    return (uint64_t)product(c->types[0], x) & eval_mask(c->types[0]);
}

static inline uint64_t expect_mul_high(const eval_case *c, const uint64_t *x) {
    return (uint64_t)(product(c->types[0], x) >> width_of(c->types[0])) & eval_mask(c->types[0]);
}

static inline uint64_t expect_div(const eval_case *c, const uint64_t *x) {
    vyre_type type = c->types[0];
    wide left = value_of(type, x[0]), right = value_of(type, x[1]);
    return wrap(type, right == 0 ? left : left / right);
}

static inline uint64_t expect_rem(const eval_case *c, const uint64_t *x) {
    vyre_type type = c->types[0];
    wide left = value_of(type, x[0]), right = value_of(type, x[1]);
    return wrap(type, right == 0 ? 0 : left - left / right * right);
}

static inline uint64_t expect_min(const eval_case *c, const uint64_t *x) {
    return value_of(c->types[0], x[0]) < value_of(c->types[0], x[1]) ? x[0] : x[1];
}

static inline uint64_t expect_max(const eval_case *c, const uint64_t *x) {
    return value_of(c->types[0], x[0]) > value_of(c->types[0], x[1]) ? x[0] : x[1];
}

static inline uint64_t expect_neg(const eval_case *c, const uint64_t *x) {
    return wrap(c->types[0], -value_of(c->types[0], x[0]));
}

static inline uint64_t expect_abs(const eval_case *c, const uint64_t *x) {
    wide value = value_of(c->types[0], x[0]);
    return wrap(c->types[0], value < 0 ? -value : value);
}

static inline uint64_t expect_add_sat(const eval_case *c, const uint64_t *x) {
    vyre_type type = c->types[0];
    return clamp(type, value_of(type, x[0]) + value_of(type, x[1]));
}

static inline uint64_t expect_sub_sat(const eval_case *c, const uint64_t *x) {
    vyre_type type = c->types[0];
    return clamp(type, value_of(type, x[0]) - value_of(type, x[1]));
}

/* Operations bit by bit: `from` gives the bit of the result at a place. */
static inline uint64_t each_bit(const eval_case *c, const uint64_t *x,
                         bool (*from)(const eval_case *c, const uint64_t *x, int at)) {
    uint64_t result = 0;
    for (int at = 0; at < width_of(c->types[0]); at++) {
        result |= (uint64_t)from(c, x, at) << at;
    }
    return result;
}

static inline bool and_bit(const eval_case *c, const uint64_t *x, int at) {
    (void)c;
    return bit(x[0], at) && bit(x[1], at);
}

static inline bool or_bit(const eval_case *c, const uint64_t *x, int at) {
    (void)c;
    return bit(x[0], at) || bit(x[1], at);
}

static inline bool xor_bit(const eval_case *c, const uint64_t *x, int at) {
    (void)c;
    return bit(x[0], at) != bit(x[1], at);
}

static inline bool not_bit(const eval_case *c, const uint64_t *x, int at) {
    (void)c;
    return !bit(x[0], at);
}

/* The place that the bit at `at` comes from if bits move up by the count. */
static inline int origin(const eval_case *c, const uint64_t *x, int at) {
    return at - (int)(x[1] % (uint64_t)width_of(c->types[0]));
}

static inline int origin_down(const eval_case *c, const uint64_t *x, int at) {
    return at + (int)(x[1] % (uint64_t)width_of(c->types[0]));
}

static inline bool shl_bit(const eval_case *c, const uint64_t *x, int at) {
    int from = origin(c, x, at);
    return from >= 0 && bit(x[0], from);
}

static inline bool shr_bit(const eval_case *c, const uint64_t *x, int at) {
    int from = origin_down(c, x, at), top = width_of(c->types[0]) - 1;
    return from <= top ? bit(x[0], from) : is_signed(c->types[0]) && bit(x[0], top);
}

static inline bool rotl_bit(const eval_case *c, const uint64_t *x, int at) {
    int from = origin(c, x, at);
    return bit(x[0], from < 0 ? from + width_of(c->types[0]) : from);
}

static inline bool rotr_bit(const eval_case *c, const uint64_t *x, int at) {
    return bit(x[0], origin_down(c, x, at) % width_of(c->types[0]));
}

static inline bool reverse_bit(const eval_case *c, const uint64_t *x, int at) {
    return bit(x[0], width_of(c->types[0]) - 1 - at);
}

#define BY_BIT(name)                                                                               \
    static uint64_t expect_##name(const eval_case *c, const uint64_t *x) {                         \
        return each_bit(c, x, name##_bit);                                                         \
    }
BY_BIT(and)
BY_BIT(or)
BY_BIT(xor)
BY_BIT(not )
BY_BIT(shl)
BY_BIT(shr)
BY_BIT(rotl)
BY_BIT(rotr)
BY_BIT(reverse)

static inline uint64_t expect_clz(const eval_case *c, const uint64_t *x) {
    uint64_t count = 0;
    for (int at = width_of(c->types[0]) - 1; at >= 0 && !bit(x[0], at); at--) {
        count++;
    }
    return count;
}

static inline uint64_t expect_ctz(const eval_case *c, const uint64_t *x) {
    uint64_t count = 0;
    for (int at = 0; at < width_of(c->types[0]) && !bit(x[0], at); at++) {
        count++;
    }
    return count;
}

static inline uint64_t expect_popcount(const eval_case *c, const uint64_t *x) {
    uint64_t count = 0;
    for (int at = 0; at < width_of(c->types[0]); at++) {
        count += bit(x[0], at);
    }
    return count;
}

static inline uint64_t expect_eq(const eval_case *c, const uint64_t *x) {
    return value_of(c->types[0], x[0]) == value_of(c->types[0], x[1]);
}

static inline uint64_t expect_ne(const eval_case *c, const uint64_t *x) {
    return value_of(c->types[0], x[0]) != value_of(c->types[0], x[1]);
}

static inline uint64_t expect_lt(const eval_case *c, const uint64_t *x) {
    return value_of(c->types[0], x[0]) < value_of(c->types[0], x[1]);
}

static inline uint64_t expect_le(const eval_case *c, const uint64_t *x) {
    return value_of(c->types[0], x[0]) <= value_of(c->types[0], x[1]);
}

static inline uint64_t expect_select(const eval_case *c, const uint64_t *x) {
    (void)c;
    return x[0] ? x[1] : x[2];
}

static const eval_oracle integer_oracles[VYRE_OP_COUNT] = {
    [VYRE_OP_ADD] = expect_add,
    [VYRE_OP_SUB] = expect_sub,
    [VYRE_OP_MUL] = expect_mul,
    [VYRE_OP_DIV] = expect_div,
    [VYRE_OP_REM] = expect_rem,
    [VYRE_OP_MIN] = expect_min,
    [VYRE_OP_MAX] = expect_max,
    [VYRE_OP_NEG] = expect_neg,
    [VYRE_OP_ABS] = expect_abs,
    [VYRE_OP_MUL_HIGH] = expect_mul_high,
    [VYRE_OP_ADD_SAT] = expect_add_sat,
    [VYRE_OP_SUB_SAT] = expect_sub_sat,
    [VYRE_OP_AND] = expect_and,
    [VYRE_OP_OR] = expect_or,
    [VYRE_OP_XOR] = expect_xor,
    [VYRE_OP_NOT] = expect_not,
    [VYRE_OP_SHL] = expect_shl,
    [VYRE_OP_SHR] = expect_shr,
    [VYRE_OP_ROTL] = expect_rotl,
    [VYRE_OP_ROTR] = expect_rotr,
    [VYRE_OP_CLZ] = expect_clz,
    [VYRE_OP_CTZ] = expect_ctz,
    [VYRE_OP_POPCOUNT] = expect_popcount,
    [VYRE_OP_REVERSE_BITS] = expect_reverse,
    [VYRE_OP_EQ] = expect_eq,
    [VYRE_OP_NE] = expect_ne,
    [VYRE_OP_LT] = expect_lt,
    [VYRE_OP_LE] = expect_le,
    [VYRE_OP_SELECT] = expect_select,
};

#endif
