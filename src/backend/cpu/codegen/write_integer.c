#include "backend/cpu/codegen/write_parts.h"

#include "ir/cases.h"

/* abs, ctlz and cttz take a flag: whether one operand may give anything. Never here. */
static uint32_t call_with_flag(cpu_site s, const char *name, vyre_type type, uint32_t a) {
    cpu_type_text t = cpu_type(type, s.lanes);
    cpu_intrinsic_text full = cpu_intrinsic(name, type, s.lanes);
    cpu_write_declare(s.w, "declare %s @%s(%s, i1)", t.text, full.text, t.text);
    return cpu_put(s, "call %s @%s(%s %%t%u, i1 false)", t.text, full.text, t.text, a);
}

/* A divisor for which the instruction is defined and gives what the rules say: x / 1 stands for
 * x / 0 and for MIN / -1. */
static uint32_t safe_divisor(cpu_site s, vyre_type type, uint32_t x, uint32_t y) {
    uint32_t bad = cpu_put_with(s, "icmp eq", type, y, 0);
    if (cpu_is_signed(type)) {
        uint64_t min = (uint64_t)1 << (cpu_width(type) - 1);
        uint32_t least = cpu_put_with(s, "icmp eq", type, x, min);
        uint32_t minus_one = cpu_put_with(s, "icmp eq", type, y, ~(uint64_t)0);
        uint32_t wraps = cpu_put_two(s, "and", VYRE_TYPE_BOOL, least, minus_one);
        bad = cpu_put_two(s, "or", VYRE_TYPE_BOOL, bad, wraps);
    }
    return cpu_put_select(s, type, bad, cpu_put_const(s, type, 1), y);
}

/* Vectors have no integer division, but one of floats. The quotient of two integers that is no
 * integer is further from one than a float with a third more bits than they have can fail to tell,
 * so rounding never reaches the next one. */
static uint32_t quotient_by_float(cpu_site s, vyre_type type, uint32_t x, uint32_t y) {
    vyre_type wide = cpu_width(type) == 32 ? VYRE_TYPE_F64 : VYRE_TYPE_F32;
    uint32_t q =
        cpu_put_two(s, "fdiv", wide, cpu_convert(s, type, wide, x), cpu_convert(s, type, wide, y));
    if (type == VYRE_TYPE_U32) {
        return cpu_put_cast(s, "fptoui", wide, type, q);
    }
    q = cpu_put_cast(s, "fptosi", wide, VYRE_TYPE_I32, q);
    return type == VYRE_TYPE_I32 ? q : cpu_put_cast(s, "trunc", VYRE_TYPE_I32, type, q);
}

/* Division by a constant is left to the compiler, which knows better; whether it is one shows only
 * when everything is folded. */
static uint32_t divide(cpu_site s, vyre_op op, vyre_type type, uint32_t x, uint32_t y) {
    const char *name = op == VYRE_OP_DIV ? (cpu_is_signed(type) ? "sdiv" : "udiv")
                                         : (cpu_is_signed(type) ? "srem" : "urem");
    uint32_t divisor = safe_divisor(s, type, x, y);
    uint32_t direct = cpu_put_two(s, name, type, x, divisor);
    if (s.lanes == 1 || cpu_width(type) == 64) {
        return direct;
    }
    uint32_t other = quotient_by_float(s, type, x, divisor);
    if (op == VYRE_OP_REM) {
        other = cpu_put_two(s, "sub", type, x, cpu_put_two(s, "mul", type, other, divisor));
    }
    cpu_type_text t = cpu_type(type, s.lanes);
    cpu_intrinsic_text full = cpu_intrinsic("is.constant", type, s.lanes);
    cpu_write_declare(s.w, "declare i1 @%s(%s)", full.text, t.text);
    uint32_t fixed = cpu_put(s, "call i1 @%s(%s %%t%u)", full.text, t.text, y);
    return cpu_put(s, "select i1 %%t%u, %s %%t%u, %s %%t%u", fixed, t.text, direct, t.text, other);
}

/* A count of 32 bits for a type of another width. */
static uint32_t shift_count(cpu_site s, vyre_type type, uint32_t count) {
    if (cpu_width(type) == 32) {
        return count;
    }
    return cpu_put_cast(s, cpu_width(type) < 32 ? "trunc" : "zext", VYRE_TYPE_U32, type, count);
}

static uint32_t shift(cpu_site s, const char *name, vyre_type type, uint32_t a, uint32_t count) {
    count = cpu_put_with(s, "and", type, shift_count(s, type, count), cpu_width(type) - 1);
    return cpu_put_two(s, name, type, a, count);
}

/* From four products of halves: vectors have no wider one. */
static uint32_t high_product_in_halves(cpu_site s, vyre_type type, uint32_t x, uint32_t y) {
    const vyre_type u64 = VYRE_TYPE_U64;
    const uint64_t low_half = 0xffffffff;
    uint32_t x_low = cpu_put_with(s, "and", u64, x, low_half);
    uint32_t y_low = cpu_put_with(s, "and", u64, y, low_half);
    uint32_t x_high = cpu_put_with(s, "lshr", u64, x, 32);
    uint32_t y_high = cpu_put_with(s, "lshr", u64, y, 32);
    uint32_t low = cpu_put_two(s, "mul", u64, x_low, y_low);
    uint32_t mid = cpu_put_two(s, "mul", u64, x_high, y_low);
    mid = cpu_put_two(s, "add", u64, mid, cpu_put_with(s, "lshr", u64, low, 32));
    uint32_t mid2 = cpu_put_two(s, "mul", u64, x_low, y_high);
    mid2 = cpu_put_two(s, "add", u64, mid2, cpu_put_with(s, "and", u64, mid, low_half));
    uint32_t high = cpu_put_two(s, "mul", u64, x_high, y_high);
    high = cpu_put_two(s, "add", u64, high, cpu_put_with(s, "lshr", u64, mid, 32));
    high = cpu_put_two(s, "add", u64, high, cpu_put_with(s, "lshr", u64, mid2, 32));
    if (cpu_is_signed(type)) {
        uint32_t x_sign = cpu_put_with(s, "ashr", u64, x, 63);
        uint32_t y_sign = cpu_put_with(s, "ashr", u64, y, 63);
        high = cpu_put_two(s, "sub", u64, high, cpu_put_two(s, "and", u64, x_sign, y));
        high = cpu_put_two(s, "sub", u64, high, cpu_put_two(s, "and", u64, y_sign, x));
    }
    return high;
}

static uint32_t high_product(cpu_site s, vyre_type type, uint32_t x, uint32_t y) {
    const char *extend = cpu_is_signed(type) ? "sext" : "zext";
    if (cpu_width(type) < 64) {
        /* Twice the width is the next type but one. */
        vyre_type wide = (vyre_type)(type + 2);
        uint32_t product = cpu_put_two(s, "mul", wide, cpu_put_cast(s, extend, type, wide, x),
                                       cpu_put_cast(s, extend, type, wide, y));
        product = cpu_put_with(s, "lshr", wide, product, cpu_width(type));
        return cpu_put_cast(s, "trunc", wide, type, product);
    }
    if (s.lanes > 1) {
        return high_product_in_halves(s, type, x, y);
    }
    uint32_t a = cpu_put(s, "%s i64 %%t%u to i128", extend, x);
    uint32_t b = cpu_put(s, "%s i64 %%t%u to i128", extend, y);
    uint32_t product = cpu_put(s, "mul i128 %%t%u, %%t%u", a, b);
    uint32_t high = cpu_put(s, "lshr i128 %%t%u, 64", product);
    return cpu_put(s, "trunc i128 %%t%u to i64", high);
}

uint32_t cpu_integer_op(cpu_site s, vyre_op op, vyre_type type, uint32_t a, uint32_t b) {
    bool sign = cpu_is_signed(type);
    switch (op) {
    case VYRE_ANY_OF(FLOAT, CHOICE, SURROUNDINGS, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL,
                     NONE):
        break;
    case VYRE_OP_ADD: return cpu_put_two(s, "add", type, a, b);
    case VYRE_OP_SUB: return cpu_put_two(s, "sub", type, a, b);
    case VYRE_OP_MUL: return cpu_put_two(s, "mul", type, a, b);
    case VYRE_ONE_OF(DIV, REM): return divide(s, op, type, a, b);
    case VYRE_OP_MIN: return cpu_put_call(s, sign ? "smin" : "umin", type, 2, a, b, 0);
    case VYRE_OP_MAX: return cpu_put_call(s, sign ? "smax" : "umax", type, 2, a, b, 0);
    case VYRE_OP_NEG: return cpu_put_two(s, "sub", type, cpu_put_const(s, type, 0), a);
    case VYRE_OP_ABS: return call_with_flag(s, "abs", type, a);
    case VYRE_OP_MUL_HIGH: return high_product(s, type, a, b);
    case VYRE_OP_ADD_SAT: return cpu_put_call(s, sign ? "sadd.sat" : "uadd.sat", type, 2, a, b, 0);
    case VYRE_OP_SUB_SAT: return cpu_put_call(s, sign ? "ssub.sat" : "usub.sat", type, 2, a, b, 0);
    case VYRE_OP_AND: return cpu_put_two(s, "and", type, a, b);
    case VYRE_OP_OR: return cpu_put_two(s, "or", type, a, b);
    case VYRE_OP_XOR: return cpu_put_two(s, "xor", type, a, b);
    case VYRE_OP_NOT: return cpu_put_with(s, "xor", type, a, ~(uint64_t)0);
    case VYRE_OP_SHL: return shift(s, "shl", type, a, b);
    case VYRE_OP_SHR: return shift(s, sign ? "ashr" : "lshr", type, a, b);
    case VYRE_OP_ROTL: return cpu_put_call(s, "fshl", type, 3, a, a, shift_count(s, type, b));
    case VYRE_OP_ROTR: return cpu_put_call(s, "fshr", type, 3, a, a, shift_count(s, type, b));
    case VYRE_OP_CLZ: return call_with_flag(s, "ctlz", type, a);
    case VYRE_OP_CTZ: return call_with_flag(s, "cttz", type, a);
    case VYRE_OP_POPCOUNT: return cpu_put_call(s, "ctpop", type, 1, a, 0, 0);
    case VYRE_OP_REVERSE_BITS: return cpu_put_call(s, "bitreverse", type, 1, a, 0, 0);
    case VYRE_OP_EQ: return cpu_put_two(s, "icmp eq", type, a, b);
    case VYRE_OP_NE: return cpu_put_two(s, "icmp ne", type, a, b);
    case VYRE_OP_LT: return cpu_put_two(s, sign ? "icmp slt" : "icmp ult", type, a, b);
    case VYRE_OP_LE: return cpu_put_two(s, sign ? "icmp sle" : "icmp ule", type, a, b);
    }
    return cpu_put_unknown(s, op);
}
