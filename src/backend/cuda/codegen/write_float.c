#include "backend/cuda/codegen/write.h"
#include "ir/cases.h"

/* On the bits, so that no payload is ever touched. */
static cuda_reg sign_op(cuda_writer *w, vyre_op op, vyre_type type, cuda_reg a, cuda_reg b) {
    uint64_t sign = (uint64_t)1 << (cuda_width(type) - 1);
    bool wide = cuda_width(type) == 64;
    cuda_class kind = wide ? CUDA_B64 : CUDA_B32;
    const char *and = wide ? "and.b64" : "and.b32";
    cuda_reg x = cuda_to_bits(w, a);
    if (op == VYRE_OP_NEG) {
        x = cuda_two(w, wide ? "xor.b64" : "xor.b32", kind, x, cuda_number(kind, sign));
    } else {
        x = cuda_two(w, and, kind, x, cuda_number(kind, sign - 1));
    }
    if (op == VYRE_OP_COPYSIGN) {
        cuda_reg y = cuda_two(w, and, kind, cuda_to_bits(w, b), cuda_number(kind, sign));
        x = cuda_two(w, wide ? "or.b64" : "or.b32", kind, x, y);
    }
    return cuda_from_bits(w, type, x);
}

/* The better one of b and a, and a where they are equal or one is NaN. Equal ones differ at most in
 * the sign of zero; the bits of both together have the right one. */
static cuda_reg wide_extreme(cuda_writer *w, vyre_op op, cuda_reg a, cuda_reg b) {
    bool least = op == VYRE_OP_MIN;
    cuda_reg better = cuda_two(w, least ? "setp.lt.f64" : "setp.gt.f64", CUDA_PRED, b, a);
    cuda_reg b_bits = cuda_to_bits(w, b);
    cuda_reg chosen = cuda_choose(w, better, b_bits, cuda_to_bits(w, a));
    cuda_reg equal = cuda_two(w, "setp.eq.f64", CUDA_PRED, a, b);
    cuda_reg other = cuda_choose(w, equal, b_bits, cuda_u64(least ? 0 : UINT64_MAX));
    chosen = cuda_two(w, least ? "or.b64" : "and.b64", CUDA_B64, chosen, other);
    cuda_reg is_nan = cuda_two(w, "setp.nan.f64", CUDA_PRED, a, a);
    return cuda_from_bits(w, VYRE_TYPE_F64, cuda_choose(w, is_nan, b_bits, chosen));
}

/* Rounded to nearest and subnormals kept; a rounding that is written is never fused with another.
 */
static cuda_reg wide_op(cuda_writer *w, vyre_op op, vyre_type type, cuda_reg a, cuda_reg b,
                        cuda_reg c) {
    bool is_double = type == VYRE_TYPE_F64;
    cuda_class kind = cuda_class_of(type);
    switch (op) {
    case VYRE_OP_ADD: return cuda_two(w, is_double ? "add.rn.f64" : "add.rn.f32", kind, a, b);
    case VYRE_OP_SUB: return cuda_two(w, is_double ? "sub.rn.f64" : "sub.rn.f32", kind, a, b);
    case VYRE_OP_MUL: return cuda_two(w, is_double ? "mul.rn.f64" : "mul.rn.f32", kind, a, b);
    case VYRE_OP_DIV:
        if (a.immediate && a.bits == (is_double ? UINT64_C(0x3ff0000000000000) : 0x3f800000)) {
            return cuda_one(w, is_double ? "rcp.rn.f64" : "rcp.rn.f32", kind, b);
        }
        return cuda_two(w, is_double ? "div.rn.f64" : "div.rn.f32", kind, a, b);
    case VYRE_OP_FMA: return cuda_three(w, is_double ? "fma.rn.f64" : "fma.rn.f32", kind, a, b, c);
    case VYRE_OP_SQRT: return cuda_one(w, is_double ? "sqrt.rn.f64" : "sqrt.rn.f32", kind, a);
    case VYRE_OP_FLOOR:
        return cuda_one(w, is_double ? "cvt.rmi.f64.f64" : "cvt.rmi.f32.f32", kind, a);
    case VYRE_OP_CEIL:
        return cuda_one(w, is_double ? "cvt.rpi.f64.f64" : "cvt.rpi.f32.f32", kind, a);
    case VYRE_OP_TRUNC:
        return cuda_one(w, is_double ? "cvt.rzi.f64.f64" : "cvt.rzi.f32.f32", kind, a);
    case VYRE_OP_ROUND:
        return cuda_one(w, is_double ? "cvt.rni.f64.f64" : "cvt.rni.f32.f32", kind, a);
    case VYRE_OP_EQ: return cuda_two(w, is_double ? "setp.eq.f64" : "setp.eq.f32", CUDA_PRED, a, b);
    case VYRE_OP_NE:
        return cuda_two(w, is_double ? "setp.neu.f64" : "setp.neu.f32", CUDA_PRED, a, b);
    case VYRE_OP_LT: return cuda_two(w, is_double ? "setp.lt.f64" : "setp.lt.f32", CUDA_PRED, a, b);
    case VYRE_OP_LE: return cuda_two(w, is_double ? "setp.le.f64" : "setp.le.f32", CUDA_PRED, a, b);
    /* A number beats a NaN, and -0 comes before +0: the instruction's own rules. */
    case VYRE_OP_MIN:
        return is_double ? wide_extreme(w, op, a, b) : cuda_two(w, "min.f32", kind, a, b);
    case VYRE_OP_MAX:
        return is_double ? wide_extreme(w, op, a, b) : cuda_two(w, "max.f32", kind, a, b);
    case VYRE_OP_NEG: return cuda_one(w, is_double ? "neg.f64" : "neg.f32", kind, a);
    case VYRE_OP_ABS: return cuda_one(w, is_double ? "abs.f64" : "abs.f32", kind, a);
    case VYRE_OP_COPYSIGN: return sign_op(w, op, type, a, b);
    case VYRE_OP_REM:
    case VYRE_ANY_OF(SURROUNDINGS, INTEGER, LOGIC, BITS, CHOICE, ELEMENTARY, ACCESS, BARRIER,
                     SUBGROUP, CONTROL, NONE):
        break;
    }
    return cuda_unknown(w, op);
}

/* One rounding: a b + c in f32, rounded to odd, gives in f16 and bf16 what the exact sum would. Of
 * the f32 below and above, one is odd where they differ. Below, an exact zero of two signs is -0;
 * it is even, so that the one above counts. */
static cuda_reg odd_fma(cuda_writer *w, cuda_reg a, cuda_reg b, cuda_reg c) {
    cuda_reg below = cuda_to_bits(w, cuda_three(w, "fma.rm.f32", CUDA_F32, a, b, c));
    cuda_reg above = cuda_to_bits(w, cuda_three(w, "fma.rp.f32", CUDA_F32, a, b, c));
    cuda_reg last = cuda_two(w, "and.b32", CUDA_B32, below, cuda_u32(1));
    cuda_reg is_odd = cuda_two(w, "setp.ne.u32", CUDA_PRED, last, cuda_u32(0));
    return cuda_from_bits(w, VYRE_TYPE_F32, cuda_choose(w, is_odd, below, above));
}

static cuda_reg narrow_op(cuda_writer *w, vyre_op op, vyre_type type, cuda_reg a, cuda_reg b,
                          cuda_reg c) {
    a = cuda_half_widen(w, type, a);
    b = b.kind ? cuda_half_widen(w, type, b) : b;
    c = c.kind ? cuda_half_widen(w, type, c) : c;
    cuda_reg wide =
        op == VYRE_OP_FMA ? odd_fma(w, a, b, c) : wide_op(w, op, VYRE_TYPE_F32, a, b, c);
    return wide.kind == CUDA_PRED ? wide : cuda_half_narrow(w, type, wide);
}

cuda_reg cuda_float_op(cuda_writer *w, vyre_op op, vyre_type type, bool bits_seen, cuda_reg a,
                       cuda_reg b, cuda_reg c) {
    bool wide = cuda_width(type) > 16;
    bool on_bits = op == VYRE_OP_COPYSIGN || op == VYRE_OP_NEG || op == VYRE_OP_ABS;
    if (on_bits && (bits_seen || !wide)) {
        return sign_op(w, op, type, a, b);
    }
    return wide ? wide_op(w, op, type, a, b, c) : narrow_op(w, op, type, a, b, c);
}
