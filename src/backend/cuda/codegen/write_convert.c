#include "backend/cuda/codegen/write.h"

#include <stdio.h>

#include "ir/eval.h"
#include "ir/lookup.h"

/* f16 and bf16 to f32, exact. */
cuda_reg cuda_half_widen(cuda_writer *w, vyre_type type, cuda_reg a) {
    if (type == VYRE_TYPE_BF16) {
        cuda_reg bits = a.immediate ? cuda_u32((uint32_t)a.bits << 16)
                                    : cuda_two(w, "shl.b32", CUDA_B32, a, cuda_u32(16));
        return cuda_from_bits(w, VYRE_TYPE_F32, bits);
    }
    cuda_reg half = cuda_one(w, "cvt.u16.u32", CUDA_B16, cuda_in_register(w, a));
    return cuda_one(w, "cvt.f32.f16", CUDA_F32, half);
}

/* An f32 to f16 or bf16, rounded to nearest, with the canonical NaN. */
cuda_reg cuda_half_narrow(cuda_writer *w, vyre_type type, cuda_reg a) {
    a = cuda_in_register(w, a);
    cuda_reg is_nan = cuda_two(w, "setp.nan.f32", CUDA_PRED, a, a), bits;
    if (type == VYRE_TYPE_F16) {
        cuda_reg half = cuda_one(w, "cvt.rn.f16.f32", CUDA_B16, a);
        bits = cuda_one(w, "cvt.u32.u16", CUDA_B32, half);
        return cuda_choose(w, is_nan, cuda_u32(0x7e00), bits);
    }
    /* Ties to even: half of the lowest kept bit is added, less one if that bit is even. */
    bits = cuda_to_bits(w, a);
    cuda_reg even = cuda_three(w, "bfe.u32", CUDA_B32, bits, cuda_u32(16), cuda_u32(1));
    cuda_reg sum = cuda_two(w, "add.u32", CUDA_B32, bits, cuda_u32(0x7fff));
    sum = cuda_two(w, "add.u32", CUDA_B32, sum, even);
    sum = cuda_two(w, "shr.u32", CUDA_B32, sum, cuda_u32(16));
    return cuda_choose(w, is_nan, cuda_u32(0x7fc0), sum);
}

/* `narrow` is `exact` rounded towards zero; an odd last bit stands for what was cut off, so that
 * rounding once more to half the bits gives what rounding once would have. */
static cuda_reg made_odd(cuda_writer *w, cuda_reg narrow, cuda_reg differs) {
    cuda_reg bits = cuda_to_bits(w, narrow);
    cuda_reg odd = cuda_two(w, "or.b32", CUDA_B32, bits, cuda_u32(1));
    return cuda_from_bits(w, VYRE_TYPE_F32, cuda_choose(w, differs, odd, bits));
}

static cuda_reg half_from_double(cuda_writer *w, vyre_type to, cuda_reg a) {
    cuda_reg cut = cuda_one(w, "cvt.rz.f32.f64", CUDA_F32, a);
    cuda_reg back = cuda_one(w, "cvt.f64.f32", CUDA_F64, cut);
    cuda_reg differs = cuda_two(w, "setp.neu.f64", CUDA_PRED, back, a);
    return cuda_half_narrow(w, to, made_odd(w, cut, differs));
}

static const char *integer_suffix(vyre_type type) {
    bool wide = cuda_width(type) == 64;
    return cuda_is_signed(type) ? (wide ? "s64" : "s32") : (wide ? "u64" : "u32");
}

static cuda_reg float_from_integer(cuda_writer *w, vyre_type from, vyre_type to, cuda_reg a) {
    const char *suffix = integer_suffix(from);
    char op[24], back_op[24];
    if (to == VYRE_TYPE_F32 || to == VYRE_TYPE_F64) {
        snprintf(op, sizeof op, "cvt.rn.%s.%s", to == VYRE_TYPE_F32 ? "f32" : "f64", suffix);
        return cuda_one(w, op, cuda_class_of(to), a);
    }
    if (cuda_width(from) < 32) { /* exact in f32 */
        snprintf(op, sizeof op, "cvt.rn.f32.%s", suffix);
        return cuda_half_narrow(w, to, cuda_one(w, op, CUDA_F32, a));
    }
    bool wide = cuda_width(from) == 64;
    snprintf(op, sizeof op, "cvt.rz.f32.%s", suffix);
    snprintf(back_op, sizeof back_op, "cvt.rzi.%s.f32", suffix);
    cuda_reg cut = cuda_one(w, op, CUDA_F32, a);
    cuda_reg back = cuda_one(w, back_op, wide ? CUDA_B64 : CUDA_B32, cut);
    cuda_reg differs = cuda_two(w, wide ? "setp.ne.u64" : "setp.ne.u32", CUDA_PRED, back, a);
    return cuda_half_narrow(w, to, made_odd(w, cut, differs));
}

/* Instructions clamp to 32 and 64 bits; what they make of a NaN depends on the type. */
static cuda_reg integer_from_float(cuda_writer *w, vyre_type from, vyre_type to, cuda_reg a) {
    if (cuda_width(from) == 16) {
        a = cuda_half_widen(w, from, a);
        from = VYRE_TYPE_F32;
    }
    const char *source = from == VYRE_TYPE_F32 ? "f32" : "f64";
    bool narrow = cuda_width(to) < 32;
    char op[24], test[24];
    snprintf(op, sizeof op, "cvt.rzi.%s.%s", narrow ? "s32" : integer_suffix(to), source);
    snprintf(test, sizeof test, "setp.nan.%s", source);
    cuda_class kind = cuda_class_of(to);
    cuda_reg number = cuda_one(w, op, kind, a);
    if (narrow) {
        uint32_t bits = cuda_width(to), span = ((uint32_t)1 << bits) - 1;
        uint32_t low = cuda_is_signed(to) ? ~(span >> 1) : 0,
                 high = cuda_is_signed(to) ? span >> 1 : span;
        number = cuda_two(w, "max.s32", CUDA_B32, number, cuda_u32(low));
        number = cuda_two(w, "min.s32", CUDA_B32, number, cuda_u32(high));
    }
    cuda_reg is_nan = cuda_two(w, test, CUDA_PRED, a, a);
    return cuda_choose(w, is_nan, cuda_number(kind, 0), number);
}

static cuda_reg float_from_float(cuda_writer *w, vyre_type from, vyre_type to, cuda_reg a) {
    bool half = cuda_width(to) == 16;
    if (from == VYRE_TYPE_F64) {
        return half ? half_from_double(w, to, a) : cuda_one(w, "cvt.rn.f32.f64", CUDA_F32, a);
    }
    cuda_reg wide = cuda_width(from) == 16 ? cuda_half_widen(w, from, a) : a;
    if (half) {
        return cuda_half_narrow(w, to, wide);
    }
    return to == VYRE_TYPE_F64 ? cuda_one(w, "cvt.f64.f32", CUDA_F64, wide) : wide;
}

static cuda_reg integer_from_integer(cuda_writer *w, vyre_type from, vyre_type to, cuda_reg a) {
    bool from_wide = cuda_width(from) == 64, to_wide = cuda_width(to) == 64;
    if (from_wide && !to_wide) {
        a = cuda_one(w, "cvt.u32.u64", CUDA_B32, a);
    } else if (to_wide && !from_wide) {
        return cuda_one(w, cuda_is_signed(from) ? "cvt.s64.s32" : "cvt.u64.u32", CUDA_B64, a);
    }
    return cuda_narrow(w, to, a);
}

static cuda_reg to_bool(cuda_writer *w, vyre_type from, cuda_reg a) {
    if (from == VYRE_TYPE_F32) {
        return cuda_two(w, "setp.neu.f32", CUDA_PRED, a, cuda_number(CUDA_F32, 0));
    }
    if (from == VYRE_TYPE_F64) {
        return cuda_two(w, "setp.neu.f64", CUDA_PRED, a, cuda_number(CUDA_F64, 0));
    }
    if (vyre_lookup_class(from) == VYRE_CLASS_FLOAT) {
        a = cuda_two(w, "and.b32", CUDA_B32, a, cuda_u32(0x7fff));
    }
    return cuda_width(from) == 64 ? cuda_two(w, "setp.ne.u64", CUDA_PRED, a, cuda_u64(0))
                                  : cuda_two(w, "setp.ne.u32", CUDA_PRED, a, cuda_u32(0));
}

static cuda_reg from_bool(cuda_writer *w, vyre_type to, cuda_reg a) {
    uint64_t one = vyre_eval_identity(VYRE_COMBINE_MUL, to);
    cuda_class kind = cuda_class_of(to);
    return cuda_choose(w, a, cuda_number(kind, one), cuda_number(kind, 0));
}

cuda_reg cuda_convert(cuda_writer *w, vyre_type from, vyre_type to, cuda_reg a) {
    bool from_float = vyre_lookup_class(from) == VYRE_CLASS_FLOAT;
    bool to_float = vyre_lookup_class(to) == VYRE_CLASS_FLOAT;
    a = cuda_in_register(w, a);
    if (to == VYRE_TYPE_BOOL) {
        return to_bool(w, from, a);
    }
    if (from == VYRE_TYPE_BOOL) {
        return from_bool(w, to, a);
    }
    if (from_float) {
        return to_float ? float_from_float(w, from, to, a) : integer_from_float(w, from, to, a);
    }
    return to_float ? float_from_integer(w, from, to, a) : integer_from_integer(w, from, to, a);
}
