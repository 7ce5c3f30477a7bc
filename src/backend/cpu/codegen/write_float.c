#include "backend/cpu/codegen/write_parts.h"
#include "ir/cases.h"
#include "ir/lookup.h"

/* Of f16 and bf16 as their bits. */
static uint64_t infinity_of(vyre_type type) {
    return type == VYRE_TYPE_F16 ? 0x7c00 : 0x7f80;
}

static uint64_t nan_of(vyre_type type) {
    return type == VYRE_TYPE_F16 ? 0x7e00 : 0x7fc0;
}

/* Bits of f16 and bf16 to integers in the order of the numbers, -0 before +0, and back. */
static uint32_t order_key(cpu_site s, uint32_t a) {
    uint32_t sign = cpu_put_with(s, "ashr", VYRE_TYPE_I16, a, 15);
    uint32_t flip = cpu_put_with(s, "and", VYRE_TYPE_I16, sign, 0x7fff);
    return cpu_put_two(s, "xor", VYRE_TYPE_I16, a, flip);
}

static uint32_t order_key_or(cpu_site s, vyre_type type, uint32_t a, uint32_t if_nan) {
    uint32_t magnitude = cpu_put_with(s, "and", VYRE_TYPE_I16, a, 0x7fff);
    uint32_t is_nan = cpu_put_with(s, "icmp sgt", VYRE_TYPE_I16, magnitude, infinity_of(type));
    return cpu_put_select(s, VYRE_TYPE_I16, is_nan, if_nan, order_key(s, a));
}

/* A NaN takes the place behind all numbers. For min that is its own; for max it is given back after
 * the choice. */
static uint32_t narrow_extreme(cpu_site s, vyre_op op, vyre_type type, uint32_t a, uint32_t b) {
    const vyre_type i16 = VYRE_TYPE_I16;
    uint32_t canonical = cpu_put_const(s, i16, nan_of(type));
    if (op == VYRE_OP_MIN) {
        uint32_t x = order_key_or(s, type, a, canonical), y = order_key_or(s, type, b, canonical);
        return order_key(s, cpu_put_call(s, "smin", i16, 2, x, y, 0));
    }
    uint32_t last = cpu_put_const(s, i16, 0x8000);
    uint32_t x = order_key_or(s, type, a, last), y = order_key_or(s, type, b, last);
    uint32_t key = cpu_put_call(s, "smax", i16, 2, x, y, 0);
    uint32_t both_nan = cpu_put_two(s, "icmp eq", i16, key, last);
    return cpu_put_select(s, i16, both_nan, canonical, order_key(s, key));
}

/* The better one of b and a, and a where they are equal or one is NaN: an instruction of x86. Equal
 * ones differ at most in the sign of zero; the bits of both together have the right one. */
static uint32_t wide_extreme(cpu_site s, vyre_op op, vyre_type type, uint32_t a, uint32_t b) {
    bool least = op == VYRE_OP_MIN;
    vyre_type bits = cpu_bits_type(type);
    uint32_t better = cpu_put_two(s, least ? "fcmp olt" : "fcmp ogt", type, b, a);
    uint32_t chosen = cpu_put_bits(s, type, cpu_put_select(s, type, better, b, a));
    uint32_t b_bits = cpu_put_bits(s, type, b);
    uint32_t equal = cpu_put_two(s, "fcmp oeq", type, a, b);
    uint32_t neutral = cpu_put_const(s, bits, least ? 0 : ~(uint64_t)0);
    uint32_t other = cpu_put_select(s, bits, equal, b_bits, neutral);
    chosen = cpu_put_two(s, least ? "or" : "and", bits, chosen, other);
    uint32_t is_nan = cpu_put_two(s, "fcmp uno", type, a, a);
    return cpu_put_from_bits(s, type, cpu_put_select(s, bits, is_nan, b_bits, chosen));
}

/* On integers, so that no payload is ever touched. */
static uint32_t sign_op(cpu_site s, vyre_op op, vyre_type type, uint32_t a, uint32_t b) {
    vyre_type bits = cpu_bits_type(type);
    bool wide = vyre_type_bytes(type) > 2;
    uint64_t sign = (uint64_t)1 << (vyre_type_bytes(type) * 8 - 1);
    uint32_t x = wide ? cpu_put_bits(s, type, a) : a;
    if (op == VYRE_OP_NEG) {
        x = cpu_put_with(s, "xor", bits, x, sign);
    } else {
        x = cpu_put_with(s, "and", bits, x, sign - 1);
    }
    if (op == VYRE_OP_COPYSIGN) {
        uint32_t y = wide ? cpu_put_bits(s, type, b) : b;
        x = cpu_put_two(s, "or", bits, x, cpu_put_with(s, "and", bits, y, sign));
    }
    return wide ? cpu_put_from_bits(s, type, x) : x;
}

/* LLVM 20 and later drop the select that replaces a NaN root by the canonical NaN, because both are
 * NaN; but their signs may differ. LLVM does not see through a fence. */
static uint32_t square_root(cpu_site s, vyre_type type, uint32_t a) {
    uint32_t root = cpu_put_call(s, "sqrt", type, 1, a, 0, 0);
    return cpu_put_call(s, "arithmetic.fence", type, 1, root, 0, 0);
}

/* f32 and f64. */
static uint32_t wide_op(cpu_site s, vyre_op op, vyre_type type, uint32_t a, uint32_t b,
                        uint32_t c) {
    switch (op) {
    case VYRE_OP_ADD: return cpu_put_two(s, "fadd", type, a, b);
    case VYRE_OP_SUB: return cpu_put_two(s, "fsub", type, a, b);
    case VYRE_OP_MUL: return cpu_put_two(s, "fmul", type, a, b);
    case VYRE_OP_DIV: return cpu_put_two(s, "fdiv", type, a, b);
    case VYRE_ONE_OF(MIN, MAX): return wide_extreme(s, op, type, a, b);
    case VYRE_ONE_OF(NEG, ABS, COPYSIGN): return sign_op(s, op, type, a, b);
    case VYRE_OP_FMA: return cpu_put_call(s, "fma", type, 3, a, b, c);
    case VYRE_OP_SQRT: return square_root(s, type, a);
    case VYRE_OP_FLOOR: return cpu_put_call(s, "floor", type, 1, a, 0, 0);
    case VYRE_OP_CEIL: return cpu_put_call(s, "ceil", type, 1, a, 0, 0);
    case VYRE_OP_TRUNC: return cpu_put_call(s, "trunc", type, 1, a, 0, 0);
    case VYRE_OP_ROUND: return cpu_put_call(s, "roundeven", type, 1, a, 0, 0);
    case VYRE_OP_EQ: return cpu_put_two(s, "fcmp oeq", type, a, b);
    case VYRE_OP_NE: return cpu_put_two(s, "fcmp une", type, a, b);
    case VYRE_OP_LT: return cpu_put_two(s, "fcmp olt", type, a, b);
    case VYRE_OP_LE: return cpu_put_two(s, "fcmp ole", type, a, b);
    case VYRE_OP_REM:
    case VYRE_ANY_OF(SURROUNDINGS, INTEGER, LOGIC, BITS, CHOICE, ELEMENTARY, ACCESS, BARRIER,
                     SUBGROUP, CONTROL, NONE):
        break;
    }
    return cpu_put_unknown(s, op);
}

/* f16 and bf16, by f32; fma by narrow_fma. */
static uint32_t widened_op(cpu_site s, vyre_op op, vyre_type type, uint32_t a, uint32_t b,
                           uint32_t c) {
    uint8_t shape = vyre_lookup_op(op)->shape;
    a = cpu_widen(s, type, a);
    b = shape == VYRE_SHAPE_V2 || shape == VYRE_SHAPE_V3 ? cpu_widen(s, type, b) : 0;
    c = shape == VYRE_SHAPE_V3 ? cpu_widen(s, type, c) : 0;
    return wide_op(s, op, VYRE_TYPE_F32, a, b, c);
}

/* What a b + c is above `sum`, the f32 nearest to it, or an f64 of the same sign where it decides
 * between two bf16. */

/* f16: the product is exact in f32, and so is what the sum leaves over (Knuth). */
static uint32_t error_f16(cpu_site s, uint32_t a, uint32_t b, uint32_t c, uint32_t sum) {
    const vyre_type f32 = VYRE_TYPE_F32;
    uint32_t product = cpu_put_two(s, "fmul", f32, a, b);
    uint32_t part = cpu_put_two(s, "fsub", f32, sum, product);
    uint32_t rest = cpu_put_two(s, "fsub", f32, sum, part);
    uint32_t left = cpu_put_two(s, "fsub", f32, product, rest);
    return cpu_put_two(s, "fadd", f32, left, cpu_put_two(s, "fsub", f32, c, part));
}

/* bf16: the product may leave the range of f32. Where `sum` lies in the middle of two bf16, its
 * difference with the product is exact in f64: the smaller of a b and c is then at least 2^-10 of
 * the other, or c is small and both have few digits. Elsewhere a wrong sign does no harm. */
static uint32_t error_bf16(cpu_site s, uint32_t a, uint32_t b, uint32_t c, uint32_t sum) {
    const vyre_type f32 = VYRE_TYPE_F32, f64 = VYRE_TYPE_F64;
    uint32_t minus_sum = cpu_put_cast(s, "fpext", f32, f64, sign_op(s, VYRE_OP_NEG, f32, sum, 0));
    a = cpu_put_cast(s, "fpext", f32, f64, a);
    b = cpu_put_cast(s, "fpext", f32, f64, b);
    uint32_t left = cpu_put_call(s, "fma", f64, 3, a, b, minus_sum);
    return cpu_put_two(s, "fadd", f64, left, cpu_put_cast(s, "fpext", f32, f64, c));
}

/* One rounding: the f32 sum is rounded to odd. Where it is not exact and its last bit is even, it
 * moves to the neighbour on the other side of the exact sum, so that narrowing it gives what
 * rounding the exact sum would have. */
static uint32_t narrow_fma(cpu_site s, vyre_type type, uint32_t a, uint32_t b, uint32_t c) {
    const vyre_type u32 = VYRE_TYPE_U32, f32 = VYRE_TYPE_F32;
    bool is_f16 = type == VYRE_TYPE_F16;
    a = cpu_widen(s, type, a);
    b = cpu_widen(s, type, b);
    c = cpu_widen(s, type, c);
    uint32_t sum = cpu_put_call(s, "fma", f32, 3, a, b, c);
    uint32_t error = is_f16 ? error_f16(s, a, b, c, sum) : error_bf16(s, a, b, c, sum);
    vyre_type error_type = is_f16 ? f32 : VYRE_TYPE_F64;
    uint32_t bits = cpu_put_bits(s, f32, sum);
    /* A NaN, as infinities give, is no error. */
    uint32_t above = cpu_put_with(s, "fcmp ogt", error_type, error, 0);
    uint32_t below = cpu_put_with(s, "fcmp olt", error_type, error, 0);
    uint32_t step = cpu_put_two(s, "sub", u32, cpu_put_cast(s, "zext", VYRE_TYPE_BOOL, u32, above),
                                cpu_put_cast(s, "zext", VYRE_TYPE_BOOL, u32, below));
    /* Away from zero or towards it, by the sign of the sum: x ^ -1 + 1 is -x. */
    uint32_t sign = cpu_put_with(s, "ashr", u32, bits, 31);
    step = cpu_put_two(s, "sub", u32, cpu_put_two(s, "xor", u32, step, sign), sign);
    uint32_t even = cpu_put_with(s, "icmp eq", u32, cpu_put_with(s, "and", u32, bits, 1), 0);
    step = cpu_put_select(s, u32, even, step, cpu_put_const(s, u32, 0));
    bits = cpu_put_two(s, "add", u32, bits, step);
    return cpu_narrow(s, type, cpu_put_from_bits(s, f32, bits));
}

static uint32_t narrow_op(cpu_site s, vyre_op op, vyre_type type, uint32_t a, uint32_t b,
                          uint32_t c) {
    switch (op) {
    case VYRE_ONE_OF(MIN, MAX): return narrow_extreme(s, op, type, a, b);
    case VYRE_ONE_OF(NEG, ABS, COPYSIGN): return sign_op(s, op, type, a, b);
    case VYRE_ANY_OF(COMPARE): return widened_op(s, op, type, a, b, c);
    case VYRE_ONE_OF(FLOOR, CEIL, TRUNC, ROUND):
        return cpu_narrow_exact(s, type, widened_op(s, op, type, a, b, c));
    case VYRE_OP_FMA: return narrow_fma(s, type, a, b, c);
    case VYRE_ONE_OF(DIV, SQRT):
    case VYRE_ONE_OF(ADD, SUB, MUL): return cpu_narrow(s, type, widened_op(s, op, type, a, b, c));
    case VYRE_OP_REM:
    case VYRE_ANY_OF(SURROUNDINGS, INTEGER, LOGIC, BITS, CHOICE, ELEMENTARY, ACCESS, BARRIER,
                     SUBGROUP, CONTROL, NONE):
        break;
    }
    return cpu_put_unknown(s, op);
}

uint32_t cpu_float_op(cpu_site s, vyre_op op, vyre_type type, uint32_t a, uint32_t b, uint32_t c) {
    bool is_wide = vyre_type_bytes(type) > 2;
    return is_wide ? wide_op(s, op, type, a, b, c) : narrow_op(s, op, type, a, b, c);
}
