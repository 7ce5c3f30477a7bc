#include "backend/spirv/write.h"
#include "ir/cases.h"

typedef struct integer {
    spirv_builder *b;
    vyre_type type;
    spirv_kind kind;
    uint32_t width;
    bool is_signed;
} integer;

static spv_id two(const integer *t, spv_op op, spv_id x, spv_id y) {
    return spirv_two(t->b, op, t->kind, x, y);
}

static spv_id test(const integer *t, spv_op op, spv_id x, spv_id y) {
    return spirv_two(t->b, op, SPIRV_BOOL, x, y);
}

static spv_id choose(const integer *t, spv_id condition, spv_id x, spv_id y) {
    return spirv_choose(t->b, t->kind, condition, x, y);
}

/* A number, extended as the type has it. */
static spv_id number(const integer *t, uint64_t bits) {
    return spirv_number_of(t->b, t->kind, t->kind == SPIRV_U64 ? bits : (uint32_t)bits);
}

static spv_id narrow(const integer *t, spv_id x) {
    return spirv_narrow(t->b, t->type, x);
}

static uint64_t smallest(const integer *t) {
    return t->is_signed ? ~(uint64_t)0 << (t->width - 1) : 0;
}

static uint64_t largest(const integer *t) {
    uint32_t width = t->width - (t->is_signed ? 1 : 0);
    return width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

static spv_id less(const integer *t, spv_id x, spv_id y) {
    return test(t, t->is_signed ? SPV_SLessThan : SPV_ULessThan, x, y);
}

/* A divisor for which the instruction is defined and gives what the rules say: x / 1 stands for
 * x / 0 and for MIN / -1. In a type of 8 or 16 bits the latter fits, and wraps when it is narrowed.
 */
static spv_id safe_divisor(const integer *t, spv_id x, spv_id y) {
    spv_id bad = test(t, SPV_IEqual, y, number(t, 0));
    if (t->is_signed && t->width >= 32) {
        spv_id least = test(t, SPV_IEqual, x, number(t, smallest(t)));
        spv_id other = test(t, SPV_IEqual, y, number(t, UINT64_MAX));
        spv_id both = spirv_two(t->b, SPV_LogicalAnd, SPIRV_BOOL, least, other);
        bad = spirv_two(t->b, SPV_LogicalOr, SPIRV_BOOL, bad, both);
    }
    return choose(t, bad, number(t, 1), y);
}

static spv_id quotient(const integer *t, spv_id x, spv_id y) {
    return narrow(t, two(t, t->is_signed ? SPV_SDiv : SPV_UDiv, x, safe_divisor(t, x, y)));
}

/* What an instruction makes of two signs is not the same on all devices where one is negative, so
 * the remainder is what the quotient leaves. */
static spv_id remainder_of(const integer *t, spv_id x, spv_id y) {
    spv_id by = safe_divisor(t, x, y);
    if (!t->is_signed) {
        return two(t, SPV_UMod, x, by);
    }
    spv_id whole = two(t, SPV_IMul, two(t, SPV_SDiv, x, by), by);
    return two(t, SPV_ISub, x, whole);
}

static spv_id low_word(spirv_builder *b, spv_id x) {
    return spirv_one(b, SPV_UConvert, SPIRV_U32, x);
}

static spv_id high_word(spirv_builder *b, spv_id x) {
    return low_word(b, spirv_two(b, SPV_ShiftRightLogical, SPIRV_U64, x, spirv_u32(b, 32)));
}

static spv_id pair(spirv_builder *b, spv_id low, spv_id high) {
    spv_id up = spirv_two(b, SPV_ShiftLeftLogical, SPIRV_U64, spirv_widen(b, high, false),
                          spirv_u32(b, 32));
    return spirv_two(b, SPV_BitwiseOr, SPIRV_U64, up, spirv_widen(b, low, false));
}

/* The upper half of 128 bits, by words. */
static spv_id high_of_longs(const integer *t, spv_id x, spv_id y) {
    spirv_builder *b = t->b;
    spv_id mask = spirv_u64(b, UINT32_MAX), word = spirv_u32(b, 32);
    spv_id x0 = two(t, SPV_BitwiseAnd, x, mask), x1 = two(t, SPV_ShiftRightLogical, x, word);
    spv_id y0 = two(t, SPV_BitwiseAnd, y, mask), y1 = two(t, SPV_ShiftRightLogical, y, word);
    spv_id low = two(t, SPV_ShiftRightLogical, two(t, SPV_IMul, x0, y0), word);
    spv_id first = two(t, SPV_IAdd, two(t, SPV_IMul, x1, y0), low);
    spv_id second = two(t, SPV_IAdd, two(t, SPV_IMul, x0, y1), two(t, SPV_BitwiseAnd, first, mask));
    spv_id high =
        two(t, SPV_IAdd, two(t, SPV_IMul, x1, y1), two(t, SPV_ShiftRightLogical, first, word));
    high = two(t, SPV_IAdd, high, two(t, SPV_ShiftRightLogical, second, word));
    if (t->is_signed) {
        spv_id sign = spirv_u32(b, 63);
        spv_id from_x = two(t, SPV_BitwiseAnd, two(t, SPV_ShiftRightArithmetic, x, sign), y);
        spv_id from_y = two(t, SPV_BitwiseAnd, two(t, SPV_ShiftRightArithmetic, y, sign), x);
        high = two(t, SPV_ISub, two(t, SPV_ISub, high, from_x), from_y);
    }
    return high;
}

static spv_id high_product(const integer *t, spv_id x, spv_id y) {
    spirv_builder *b = t->b;
    if (t->width == 64) {
        return high_of_longs(t, x, y);
    }
    if (t->width == 32) {
        spv_id product = spirv_two(b, SPV_IMul, SPIRV_U64, spirv_widen(b, x, t->is_signed),
                                   spirv_widen(b, y, t->is_signed));
        return high_word(b, product);
    }
    return two(t, t->is_signed ? SPV_ShiftRightArithmetic : SPV_ShiftRightLogical,
               two(t, SPV_IMul, x, y), spirv_u32(b, t->width));
}

/* Between the ends of an unsigned narrow type. */
static spv_id clamped(const integer *t, spv_id x) {
    spv_id low = number(t, 0), high = number(t, largest(t));
    x = choose(t, test(t, SPV_SLessThan, x, low), low, x);
    return choose(t, test(t, SPV_SLessThan, high, x), high, x);
}

/* The highest bit of what carries out of the sum, or is borrowed by the difference, as a mask. That
 * is computed from bits: where the result was compared with an operand, an H200 gave wrong sums of
 * 64 bits (docs/vulkan.md). */
static spv_id carry_of(const integer *t, bool adds, spv_id x, spv_id y, spv_id sum) {
    spv_id from = adds ? x : spirv_one(t->b, SPV_Not, t->kind, x);
    spv_id rest = adds ? spirv_one(t->b, SPV_Not, t->kind, sum) : sum;
    spv_id passed = two(t, SPV_BitwiseAnd, two(t, SPV_BitwiseOr, from, y), rest);
    spv_id carry = two(t, SPV_BitwiseOr, two(t, SPV_BitwiseAnd, from, y), passed);
    return two(t, SPV_ShiftRightArithmetic, carry, spirv_u32(t->b, t->width - 1));
}

static spv_id saturated(const integer *t, bool adds, spv_id x, spv_id y) {
    spv_id sum = two(t, adds ? SPV_IAdd : SPV_ISub, x, y);
    if (!t->is_signed && t->width < 32) {
        return clamped(t, sum);
    }
    if (!t->is_signed) {
        spv_id carry = carry_of(t, adds, x, y, sum);
        return adds ? two(t, SPV_BitwiseOr, sum, carry)
                    : two(t, SPV_BitwiseAnd, sum, spirv_one(t->b, SPV_Not, t->kind, carry));
    }
    spv_id left;
    if (t->width < 32) {
        left = test(t, SPV_INotEqual, narrow(t, sum), sum);
    } else {
        /* It left the range if the sign is another than that of both operands; of a difference,
         * than that of the first, which differs from the second's. */
        spv_id from_x = two(t, SPV_BitwiseXor, x, sum);
        spv_id from_y = two(t, SPV_BitwiseXor, adds ? y : x, adds ? sum : y);
        left = less(t, two(t, SPV_BitwiseAnd, from_x, from_y), number(t, 0));
    }
    spv_id sign =
        two(t, SPV_ShiftRightArithmetic, x, spirv_u32(t->b, t->kind == SPIRV_U64 ? 63 : 31));
    spv_id limit = two(t, SPV_BitwiseXor, sign, number(t, largest(t)));
    return choose(t, left, limit, sum);
}

static spv_id shift_count(const integer *t, spv_id count) {
    return spirv_two(t->b, SPV_BitwiseAnd, SPIRV_U32, count, spirv_u32(t->b, t->width - 1));
}

/* The bits of a number without what its sign put above them. */
static spv_id own_bits(const integer *t, spv_id x) {
    return t->width < 32 && t->is_signed
               ? two(t, SPV_BitwiseAnd, x, number(t, (1u << t->width) - 1))
               : x;
}

/* A narrow number stands in a word twice, side by side, so that one shift brings all bits. In
 * others a shift by the whole width has no meaning, so the far count is taken modulo the width as
 * well: 0 then, which gives the same bits twice. */
static spv_id rotated(const integer *t, bool left, spv_id x, spv_id count) {
    spv_id bits = own_bits(t, x), near = shift_count(t, count);
    spv_id far = spirv_two(t->b, SPV_ISub, SPIRV_U32, spirv_u32(t->b, t->width), near);
    if (t->width < 32) {
        spv_id up = two(t, SPV_ShiftLeftLogical, bits, spirv_u32(t->b, t->width));
        spv_id twice = two(t, SPV_BitwiseOr, up, bits);
        return narrow(t, two(t, SPV_ShiftRightLogical, twice, left ? far : near));
    }
    far = shift_count(t, far);
    spv_id up = two(t, SPV_ShiftLeftLogical, bits, left ? near : far);
    spv_id down = two(t, SPV_ShiftRightLogical, bits, left ? far : near);
    return two(t, SPV_BitwiseOr, up, down);
}

/* Counts, of 32 bits. */

static spv_id leading_zeros(spirv_builder *b, spv_id word) {
    /* The highest bit's number is -1 where there is none. */
    spv_id highest = spirv_extended(b, SPV_x_FindUMsb, SPIRV_U32, &word, 1);
    return spirv_two(b, SPV_ISub, SPIRV_U32, spirv_u32(b, 31), highest);
}

static spv_id trailing_zeros(spirv_builder *b, spv_id word) {
    spv_id lowest = spirv_extended(b, SPV_x_FindILsb, SPIRV_U32, &word, 1);
    spv_id none = spirv_two(b, SPV_IEqual, SPIRV_BOOL, word, spirv_u32(b, 0));
    return spirv_choose(b, SPIRV_U32, none, spirv_u32(b, 32), lowest);
}

static spv_id count_long(const integer *t, vyre_op op, spv_id x) {
    spirv_builder *b = t->b;
    spv_id low = low_word(b, x), high = high_word(b, x), count;
    if (op == VYRE_OP_POPCOUNT) {
        count = spirv_two(b, SPV_IAdd, SPIRV_U32, spirv_one(b, SPV_BitCount, SPIRV_U32, low),
                          spirv_one(b, SPV_BitCount, SPIRV_U32, high));
    } else {
        bool leads = op == VYRE_OP_CLZ;
        spv_id near = leads ? high : low, far = leads ? low : high;
        spv_id first = leads ? leading_zeros(b, near) : trailing_zeros(b, near);
        spv_id second = leads ? leading_zeros(b, far) : trailing_zeros(b, far);
        spv_id none = spirv_two(b, SPV_IEqual, SPIRV_BOOL, near, spirv_u32(b, 0));
        second = spirv_two(b, SPV_IAdd, SPIRV_U32, second, spirv_u32(b, 32));
        count = spirv_choose(b, SPIRV_U32, none, second, first);
    }
    return spirv_widen(b, count, false);
}

static spv_id counted(const integer *t, vyre_op op, spv_id x) {
    spirv_builder *b = t->b;
    if (t->width == 64) {
        return count_long(t, op, x);
    }
    spv_id bits = own_bits(t, x);
    if (op == VYRE_OP_POPCOUNT) {
        return spirv_one(b, SPV_BitCount, SPIRV_U32, bits);
    }
    if (op == VYRE_OP_CLZ) {
        spv_id zeros = leading_zeros(b, bits);
        return t->width < 32 ? two(t, SPV_ISub, zeros, number(t, 32 - t->width)) : zeros;
    }
    if (t->width < 32) { /* a bit behind the last one ends the count */
        bits = two(t, SPV_BitwiseOr, bits, number(t, (uint64_t)1 << t->width));
    }
    return trailing_zeros(b, bits);
}

static spv_id reversed(const integer *t, spv_id x) {
    spirv_builder *b = t->b;
    if (t->width == 64) {
        spv_id low = spirv_one(b, SPV_BitReverse, SPIRV_U32, low_word(b, x));
        spv_id high = spirv_one(b, SPV_BitReverse, SPIRV_U32, high_word(b, x));
        return pair(b, high, low);
    }
    spv_id turned = spirv_one(b, SPV_BitReverse, SPIRV_U32, own_bits(t, x));
    return t->width < 32
               ? narrow(t, two(t, SPV_ShiftRightLogical, turned, spirv_u32(b, 32 - t->width)))
               : turned;
}

static spv_id bool_op(spirv_builder *b, vyre_op op, spv_id x, spv_id y) {
    switch (op) {
    case VYRE_OP_AND: return spirv_two(b, SPV_LogicalAnd, SPIRV_BOOL, x, y);
    case VYRE_OP_OR: return spirv_two(b, SPV_LogicalOr, SPIRV_BOOL, x, y);
    case VYRE_ONE_OF(XOR, NE): return spirv_two(b, SPV_LogicalNotEqual, SPIRV_BOOL, x, y);
    case VYRE_OP_NOT: return spirv_one(b, SPV_LogicalNot, SPIRV_BOOL, x);
    case VYRE_OP_EQ: return spirv_two(b, SPV_LogicalEqual, SPIRV_BOOL, x, y);
    case VYRE_ONE_OF(LT, LE):
    case VYRE_ANY_OF(SURROUNDINGS, ARITHMETIC, INTEGER, SHIFT, BITS, FLOAT, CHOICE, ELEMENTARY,
                     ACCESS, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    }
    return 0;
}

spv_id spirv_integer_op(spirv_builder *b, vyre_op op, vyre_type type, spv_id x, spv_id y) {
    const integer integer_type = {b, type, spirv_kind_of(type), spirv_width(type),
                                  spirv_is_signed(type)};
    const integer *t = &integer_type;
    if (type == VYRE_TYPE_BOOL) {
        return bool_op(b, op, x, y);
    }
    switch (op) {
    case VYRE_OP_ADD: return narrow(t, two(t, SPV_IAdd, x, y));
    case VYRE_OP_SUB: return narrow(t, two(t, SPV_ISub, x, y));
    case VYRE_OP_MUL: return narrow(t, two(t, SPV_IMul, x, y));
    case VYRE_OP_DIV: return quotient(t, x, y);
    case VYRE_OP_REM: return remainder_of(t, x, y);
    case VYRE_OP_MIN: return choose(t, less(t, x, y), x, y);
    case VYRE_OP_MAX: return choose(t, less(t, x, y), y, x);
    case VYRE_OP_NEG: return narrow(t, two(t, SPV_ISub, number(t, 0), x));
    case VYRE_OP_ABS: {
        spv_id other = narrow(t, two(t, SPV_ISub, number(t, 0), x));
        return choose(t, less(t, x, number(t, 0)), other, x);
    }
    case VYRE_OP_MUL_HIGH: return high_product(t, x, y);
    case VYRE_OP_ADD_SAT: return saturated(t, true, x, y);
    case VYRE_OP_SUB_SAT: return saturated(t, false, x, y);
    case VYRE_OP_AND: return two(t, SPV_BitwiseAnd, x, y);
    case VYRE_OP_OR: return two(t, SPV_BitwiseOr, x, y);
    case VYRE_OP_XOR: return two(t, SPV_BitwiseXor, x, y);
    case VYRE_OP_NOT: return narrow(t, spirv_one(b, SPV_Not, t->kind, x));
    case VYRE_OP_SHL: return narrow(t, two(t, SPV_ShiftLeftLogical, x, shift_count(t, y)));
    case VYRE_OP_SHR:
        return two(t, t->is_signed ? SPV_ShiftRightArithmetic : SPV_ShiftRightLogical, x,
                   shift_count(t, y));
    case VYRE_OP_ROTL: return rotated(t, true, x, y);
    case VYRE_OP_ROTR: return rotated(t, false, x, y);
    case VYRE_ONE_OF(CLZ, CTZ, POPCOUNT): return counted(t, op, x);
    case VYRE_OP_REVERSE_BITS: return reversed(t, x);
    case VYRE_OP_EQ: return test(t, SPV_IEqual, x, y);
    case VYRE_OP_NE: return test(t, SPV_INotEqual, x, y);
    case VYRE_OP_LT: return less(t, x, y);
    case VYRE_OP_LE: return test(t, t->is_signed ? SPV_SLessThanEqual : SPV_ULessThanEqual, x, y);
    case VYRE_ANY_OF(FLOAT, CHOICE, SURROUNDINGS, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL,
                     NONE):
        break;
    }
    return 0;
}
