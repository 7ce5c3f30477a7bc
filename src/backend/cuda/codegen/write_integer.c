#include "backend/cuda/codegen/write.h"

#include <stdio.h>

#include "ir/cases.h"

/* Arithmetic on a type of ours: in 32 or 64 bits, `name` with the suffix of its sign. */
static const char *suffix_of(vyre_type type) {
    bool wide = cuda_width(type) == 64;
    return cuda_is_signed(type) ? (wide ? "s64" : "s32") : (wide ? "u64" : "u32");
}

typedef struct op_name {
    char text[24];
} op_name;

static op_name named(const char *name, const char *suffix) {
    op_name op;
    snprintf(op.text, sizeof op.text, "%s.%s", name, suffix);
    return op;
}

static cuda_reg arithmetic(cuda_writer *w, const char *name, vyre_type type, cuda_reg a,
                           cuda_reg b) {
    return cuda_two(w, named(name, suffix_of(type)).text, cuda_class_of(type), a, b);
}

static cuda_reg bitwise(cuda_writer *w, const char *name, vyre_type type, cuda_reg a, cuda_reg b) {
    return cuda_two(w, named(name, cuda_width(type) == 64 ? "b64" : "b32").text,
                    cuda_class_of(type), a, b);
}

static cuda_reg compare(cuda_writer *w, const char *name, vyre_type type, cuda_reg a, cuda_reg b) {
    return cuda_two(w, named(name, suffix_of(type)).text, CUDA_PRED, a, b);
}

static cuda_reg number_of(vyre_type type, uint64_t bits) {
    return cuda_number(cuda_class_of(type), cuda_width(type) == 64 ? bits : bits & 0xffffffff);
}

static uint64_t smallest(vyre_type type) {
    return cuda_is_signed(type) ? ~(uint64_t)0 << (cuda_width(type) - 1) : 0;
}

static uint64_t largest(vyre_type type) {
    uint32_t width = cuda_width(type) - (cuda_is_signed(type) ? 1 : 0);
    return width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

/* A divisor for which the instruction is defined and gives what the rules say: x / 1 stands for
 * x / 0 and for MIN / -1. In a type of 8 or 16 bits the latter fits, and wraps when it is narrowed.
 */
static cuda_reg safe_divisor(cuda_writer *w, vyre_type type, cuda_reg x, cuda_reg y) {
    bool wraps = cuda_is_signed(type) && cuda_width(type) >= 32;
    uint64_t minus_one = cuda_width(type) == 64 ? UINT64_MAX : 0xffffffff;
    if (y.immediate && y.bits && (!wraps || y.bits != minus_one)) {
        return y;
    }
    cuda_reg bad = compare(w, "setp.eq", type, y, number_of(type, 0));
    if (wraps) {
        cuda_reg least = compare(w, "setp.eq", type, x, number_of(type, smallest(type)));
        cuda_reg other = compare(w, "setp.eq", type, y, number_of(type, UINT64_MAX));
        cuda_reg both = cuda_two(w, "and.pred", CUDA_PRED, least, other);
        bad = cuda_two(w, "or.pred", CUDA_PRED, bad, both);
    }
    return cuda_choose(w, bad, number_of(type, 1), y);
}

/* By a constant. Unsigned: a product with its reciprocal, rounded up, whose upper half is shifted;
 * of 33 bits where 32 are not enough. Signed: towards zero, by a power of 2 alone. */
static bool divided(cuda_writer *w, vyre_type type, cuda_reg x, cuda_reg y, cuda_reg *out) {
    uint64_t by = y.bits, rest = cuda_is_signed(type) ? by >> (cuda_width(type) - 1) : 0;
    bool wide = cuda_width(type) == 64, is_power = by && !(by & (by - 1));
    uint32_t bits = 0;
    if (!y.immediate || x.immediate || by < 2 || rest || (wide && !is_power)) {
        return false;
    }
    while ((uint64_t)1 << bits < by && bits < 63) {
        bits++;
    }
    if (is_power && cuda_is_signed(type)) {
        uint32_t width = wide ? 64 : 32;
        cuda_reg sign = arithmetic(w, "shr", type, x, cuda_u32(width - 1));
        cuda_reg up = cuda_two(w, wide ? "shr.u64" : "shr.u32", cuda_class_of(type), sign,
                               cuda_u32(width - bits));
        *out = arithmetic(w, "shr", type, arithmetic(w, "add", type, x, up), cuda_u32(bits));
        return true;
    }
    if (is_power) {
        *out = arithmetic(w, "shr", type, x, cuda_u32(bits));
        return true;
    }
    if (cuda_is_signed(type)) {
        return false;
    }
    uint64_t scale = (uint64_t)1 << bits; /* 2^32 * scale / by, without the highest bit */
    uint32_t factor = (uint32_t)((((scale - by) << 32) / by) + 1);
    cuda_reg high = cuda_two(w, "mul.hi.u32", CUDA_B32, x, cuda_u32(factor));
    cuda_reg half =
        cuda_two(w, "shr.u32", CUDA_B32, cuda_two(w, "sub.u32", CUDA_B32, x, high), cuda_u32(1));
    cuda_reg sum = cuda_two(w, "add.u32", CUDA_B32, half, high);
    *out = cuda_two(w, "shr.u32", CUDA_B32, sum, cuda_u32(bits - 1));
    return true;
}

static cuda_reg quotient(cuda_writer *w, vyre_type type, cuda_reg x, cuda_reg y) {
    cuda_reg out;
    return divided(w, type, x, y, &out)
               ? out
               : cuda_narrow(w, type, arithmetic(w, "div", type, x, safe_divisor(w, type, x, y)));
}

static cuda_reg remainder_of(cuda_writer *w, vyre_type type, cuda_reg x, cuda_reg y) {
    cuda_reg out;
    if (divided(w, type, x, y, &out)) {
        cuda_reg whole = arithmetic(w, "mul.lo", type, out, y);
        return arithmetic(w, "sub", type, x, whole);
    }
    return arithmetic(w, "rem", type, x, safe_divisor(w, type, x, y));
}

static cuda_reg high_product(cuda_writer *w, vyre_type type, cuda_reg a, cuda_reg b) {
    if (cuda_width(type) >= 32) {
        return arithmetic(w, "mul.hi", type, a, b);
    }
    cuda_reg product = arithmetic(w, "mul.lo", type, a, b);
    return arithmetic(w, "shr", type, product, cuda_u32(cuda_width(type)));
}

static cuda_reg clamped(cuda_writer *w, vyre_type type, cuda_reg a) {
    cuda_reg low = cuda_two(w, "max.s32", CUDA_B32, a, number_of(type, smallest(type)));
    return cuda_two(w, "min.s32", CUDA_B32, low, number_of(type, largest(type)));
}

static cuda_reg saturated(cuda_writer *w, vyre_op op, vyre_type type, cuda_reg a, cuda_reg b) {
    bool add = op == VYRE_OP_ADD_SAT;
    if (type == VYRE_TYPE_I32) {
        return cuda_two(w, add ? "add.sat.s32" : "sub.sat.s32", CUDA_B32, a, b);
    }
    if (cuda_width(type) < 32) {
        return clamped(w, type, cuda_two(w, add ? "add.s32" : "sub.s32", CUDA_B32, a, b));
    }
    cuda_reg sum = arithmetic(w, add ? "add" : "sub", type, a, b);
    if (!cuda_is_signed(type)) {
        cuda_reg wrapped =
            add ? compare(w, "setp.lt", type, sum, a) : compare(w, "setp.lt", type, a, b);
        return cuda_choose(w, wrapped, number_of(type, add ? UINT64_MAX : 0), sum);
    }
    /* It left the range if the sign is another than that of both operands; of a difference, than
     * that of the first, which differs from the second's. */
    cuda_reg from_a = cuda_two(w, "xor.b64", CUDA_B64, a, sum);
    cuda_reg from_b =
        add ? cuda_two(w, "xor.b64", CUDA_B64, b, sum) : cuda_two(w, "xor.b64", CUDA_B64, a, b);
    cuda_reg both = cuda_two(w, "and.b64", CUDA_B64, from_a, from_b);
    cuda_reg left = cuda_two(w, "setp.lt.s64", CUDA_PRED, both, cuda_u64(0));
    cuda_reg sign = cuda_two(w, "shr.s64", CUDA_B64, a, cuda_u32(63));
    cuda_reg limit = cuda_two(w, "xor.b64", CUDA_B64, sign, cuda_u64(INT64_MAX));
    return cuda_choose(w, left, limit, sum);
}

/* PTX clamps counts; ours are taken modulo the width. */
static cuda_reg shift_count(cuda_writer *w, vyre_type type, cuda_reg count) {
    uint32_t most = cuda_width(type) - 1;
    return count.immediate ? cuda_u32((uint32_t)count.bits & most)
                           : cuda_two(w, "and.b32", CUDA_B32, count, cuda_u32(most));
}

/* The bits of a number without what its sign put above them. */
static cuda_reg plain_bits(cuda_writer *w, vyre_type type, cuda_reg a) {
    return cuda_width(type) < 32 && cuda_is_signed(type)
               ? cuda_two(w, "and.b32", CUDA_B32, a,
                          cuda_u32(((uint32_t)1 << cuda_width(type)) - 1))
               : a;
}

/* Shifts by the whole width give 0, in 32 bits because there is room, in 64 because PTX clamps. */
static cuda_reg rotated(cuda_writer *w, vyre_op op, vyre_type type, cuda_reg a, cuda_reg count) {
    bool left = op == VYRE_OP_ROTL;
    if (cuda_width(type) == 32) {
        return cuda_three(w, left ? "shf.l.wrap.b32" : "shf.r.wrap.b32", CUDA_B32, a, a, count);
    }
    bool wide = cuda_width(type) == 64;
    cuda_class kind = wide ? CUDA_B64 : CUDA_B32;
    cuda_reg bits = plain_bits(w, type, a), near = shift_count(w, type, count);
    cuda_reg far = cuda_two(w, "sub.u32", CUDA_B32, cuda_u32(cuda_width(type)), near);
    cuda_reg up = cuda_two(w, wide ? "shl.b64" : "shl.b32", kind, bits, left ? near : far);
    cuda_reg down = cuda_two(w, wide ? "shr.u64" : "shr.u32", kind, bits, left ? far : near);
    cuda_reg both = cuda_two(w, wide ? "or.b64" : "or.b32", kind, up, down);
    return cuda_narrow(w, type, both);
}

/* A count that an instruction gives in 32 bits. */
static cuda_reg counted(cuda_writer *w, vyre_type type, cuda_reg count) {
    return cuda_width(type) == 64 ? cuda_one(w, "cvt.u64.u32", CUDA_B64, count) : count;
}

static cuda_reg leading_zeros(cuda_writer *w, vyre_type type, cuda_reg bits) {
    uint32_t width = cuda_width(type);
    cuda_reg zeros = cuda_one(w, width == 64 ? "clz.b64" : "clz.b32", CUDA_B32, bits);
    return width < 32 ? cuda_two(w, "sub.u32", CUDA_B32, zeros, cuda_u32(32 - width))
                      : counted(w, type, zeros);
}

static cuda_reg reversed(cuda_writer *w, vyre_type type, cuda_reg bits) {
    return cuda_one(w, cuda_width(type) == 64 ? "brev.b64" : "brev.b32", cuda_class_of(type), bits);
}

static cuda_reg trailing_zeros(cuda_writer *w, vyre_type type, cuda_reg bits) {
    uint32_t width = cuda_width(type);
    if (width < 32) { /* a bit behind the last one ends the count */
        bits = cuda_two(w, "or.b32", CUDA_B32, bits, cuda_u32((uint32_t)1 << width));
    }
    return counted(
        w, type,
        cuda_one(w, width == 64 ? "clz.b64" : "clz.b32", CUDA_B32, reversed(w, type, bits)));
}

static cuda_reg reverse_bits(cuda_writer *w, vyre_type type, cuda_reg bits) {
    uint32_t width = cuda_width(type);
    cuda_reg turned = reversed(w, type, bits);
    return width < 32 ? cuda_narrow(w, type,
                                    cuda_two(w, "shr.u32", CUDA_B32, turned, cuda_u32(32 - width)))
                      : turned;
}

/* The bits of a number in a register, without what its sign put above them. */
static cuda_reg own_bits(cuda_writer *w, vyre_type type, cuda_reg a) {
    return cuda_in_register(w, plain_bits(w, type, a));
}

static cuda_reg bool_op(cuda_writer *w, vyre_op op, cuda_reg a, cuda_reg b) {
    switch (op) {
    case VYRE_OP_AND: return cuda_two(w, "and.pred", CUDA_PRED, a, b);
    case VYRE_OP_OR: return cuda_two(w, "or.pred", CUDA_PRED, a, b);
    case VYRE_ONE_OF(XOR, NE): return cuda_two(w, "xor.pred", CUDA_PRED, a, b);
    case VYRE_OP_NOT: return cuda_one(w, "not.pred", CUDA_PRED, a);
    case VYRE_OP_EQ:
        return cuda_one(w, "not.pred", CUDA_PRED, cuda_two(w, "xor.pred", CUDA_PRED, a, b));
    case VYRE_ONE_OF(LT, LE):
    case VYRE_ANY_OF(SURROUNDINGS, ARITHMETIC, INTEGER, SHIFT, BITS, FLOAT, CHOICE, ELEMENTARY,
                     ACCESS, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    }
    return cuda_unknown(w, op);
}

/* What is made of two numbers, as in the iterations of a loop that is written out; false if that is
 * left to the driver's compiler. */
static bool fold(vyre_op op, vyre_type type, cuda_reg a, cuda_reg b, cuda_reg *out) {
    uint64_t x = a.bits, y = b.bits;
    if (!a.immediate || !b.immediate || (type != VYRE_TYPE_U32 && type != VYRE_TYPE_I32)) {
        return false;
    }
    switch (op) {
    case VYRE_OP_ADD: *out = number_of(type, x + y); return true;
    case VYRE_OP_SUB: *out = number_of(type, x - y); return true;
    case VYRE_OP_MUL: *out = number_of(type, x * y); return true;
    case VYRE_OP_SHL: *out = number_of(type, x << (y & 31)); return true;
    case VYRE_OP_AND: *out = number_of(type, x & y); return true;
    case VYRE_OP_OR: *out = number_of(type, x | y); return true;
    case VYRE_ONE_OF(XOR, NOT, SHR):
    case VYRE_ANY_OF(SURROUNDINGS, QUOTIENT, EXTREME, SIGN, INTEGER, BITS, FLOAT, COMPARE, CHOICE,
                     ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    }
    return false;
}

cuda_reg cuda_integer_op(cuda_writer *w, vyre_op op, vyre_type type, cuda_reg a, cuda_reg b) {
    cuda_reg folded;
    if (type == VYRE_TYPE_BOOL) {
        return bool_op(w, op, a, b);
    }
    if (fold(op, type, a, b, &folded)) {
        return folded;
    }
    cuda_class kind = cuda_class_of(type);
    switch (op) {
    case VYRE_OP_ADD: return cuda_narrow(w, type, arithmetic(w, "add", type, a, b));
    case VYRE_OP_SUB: return cuda_narrow(w, type, arithmetic(w, "sub", type, a, b));
    case VYRE_OP_MUL: return cuda_narrow(w, type, arithmetic(w, "mul.lo", type, a, b));
    case VYRE_OP_DIV: return quotient(w, type, a, b);
    case VYRE_OP_REM: return remainder_of(w, type, a, b);
    case VYRE_OP_MIN: return arithmetic(w, "min", type, a, b);
    case VYRE_OP_MAX: return arithmetic(w, "max", type, a, b);
    case VYRE_OP_NEG:
        return cuda_narrow(w, type, arithmetic(w, "sub", type, number_of(type, 0), a));
    case VYRE_OP_ABS: {
        cuda_reg other = arithmetic(w, "sub", type, number_of(type, 0), a);
        return cuda_narrow(w, type, arithmetic(w, "max", type, a, other));
    }
    case VYRE_OP_MUL_HIGH: return high_product(w, type, a, b);
    case VYRE_ONE_OF(ADD_SAT, SUB_SAT): return saturated(w, op, type, a, b);
    case VYRE_OP_AND: return bitwise(w, "and", type, a, b);
    case VYRE_OP_OR: return bitwise(w, "or", type, a, b);
    case VYRE_OP_XOR: return bitwise(w, "xor", type, a, b);
    case VYRE_OP_NOT:
        return cuda_narrow(w, type, cuda_one(w, kind == CUDA_B64 ? "not.b64" : "not.b32", kind, a));
    case VYRE_OP_SHL:
        return cuda_narrow(w, type, bitwise(w, "shl", type, a, shift_count(w, type, b)));
    case VYRE_OP_SHR: return arithmetic(w, "shr", type, a, shift_count(w, type, b));
    case VYRE_ONE_OF(ROTL, ROTR): return rotated(w, op, type, a, b);
    case VYRE_OP_CLZ: return leading_zeros(w, type, own_bits(w, type, a));
    case VYRE_OP_CTZ: return trailing_zeros(w, type, own_bits(w, type, a));
    case VYRE_OP_POPCOUNT:
        return counted(w, type,
                       cuda_one(w, kind == CUDA_B64 ? "popc.b64" : "popc.b32", CUDA_B32,
                                own_bits(w, type, a)));
    case VYRE_OP_REVERSE_BITS: return reverse_bits(w, type, own_bits(w, type, a));
    case VYRE_OP_EQ: return compare(w, "setp.eq", type, a, b);
    case VYRE_OP_NE: return compare(w, "setp.ne", type, a, b);
    case VYRE_OP_LT: return compare(w, "setp.lt", type, a, b);
    case VYRE_OP_LE: return compare(w, "setp.le", type, a, b);
    case VYRE_ANY_OF(FLOAT, CHOICE, SURROUNDINGS, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL,
                     NONE):
        break;
    }
    return cuda_unknown(w, op);
}
