#include "backend/spirv/write.h"
#include "ir/eval.h"

/* The power of two as a number of a float type. */
static spv_id power(spirv_builder *b, vyre_type type, uint32_t exponent, bool negative) {
    bool wide = type == VYRE_TYPE_F64;
    uint64_t bits = wide ? (uint64_t)(exponent + 1023) << 52 : (uint64_t)(exponent + 127) << 23;
    bits |= negative ? (uint64_t)1 << (wide ? 63 : 31) : 0;
    return spirv_number_of(b, spirv_real_kind(type), bits);
}

/* A number from 0 to 2^64 in two halves. Each step is exact. Drivers take as long for 64 bits; and
 * where only the lower half is used, an H200 (driver 580) converts to 32 bits at once, which gives
 * the largest number instead of the lower bits. */
static spv_id wide_from_real(spirv_builder *b, vyre_type from, spv_id x) {
    spirv_kind real = spirv_real_kind(from);
    uint64_t down = from == VYRE_TYPE_F64 ? (uint64_t)(1023 - 32) << 52 : (127 - 32) << 23;
    spv_id whole = spirv_extended(b, SPV_x_Trunc, real, &x, 1);
    spv_id high = spirv_two(b, SPV_FMul, real, whole, spirv_number_of(b, real, down));
    high = spirv_extended(b, SPV_x_Floor, real, &high, 1);
    spv_id rest = spirv_two(b, SPV_FMul, real, high, power(b, from, 32, false));
    spv_id low = spirv_two(b, SPV_FSub, real, whole, rest);
    low = spirv_one(b, SPV_ConvertFToU, SPIRV_U32, low);
    high = spirv_one(b, SPV_ConvertFToU, SPIRV_U32, high);
    spv_id both = SPIRV_VALUE(b, SPV_CompositeConstruct, SPIRV_PAIR, low, high);
    return spirv_one(b, SPV_Bitcast, SPIRV_U64, both);
}

static spv_id signed_wide_from_real(spirv_builder *b, vyre_type from, spv_id x, spv_id bits) {
    spirv_kind kind = spirv_kind_of(from);
    uint64_t sign = (uint64_t)1 << (spirv_width(from) - 1);
    spv_id magnitude = spirv_two(b, SPV_BitwiseAnd, kind, bits, spirv_number_of(b, kind, sign - 1));
    magnitude = spirv_one(b, SPV_Bitcast, spirv_real_kind(from), magnitude);
    spv_id whole = wide_from_real(b, from, magnitude), zero = spirv_u64(b, 0);
    spv_id negative =
        spirv_two(b, SPV_FOrdLessThan, SPIRV_BOOL, x, spirv_number_of(b, spirv_real_kind(from), 0));
    return spirv_choose(b, SPIRV_U64, negative, spirv_two(b, SPV_ISub, SPIRV_U64, zero, whole),
                        whole);
}

/* Numbers beyond the range have no meaning for the instruction, nor has a NaN: it gets a 0 instead
 * of them. */
static spv_id integer_from_real(spirv_builder *b, vyre_type from, vyre_type to, spirv_slot slot) {
    bool is_signed = spirv_is_signed(to);
    spirv_kind kind = spirv_kind_of(to), bits_kind = spirv_kind_of(from);
    uint32_t bits = spirv_width(to) - (is_signed ? 1 : 0);
    uint64_t most = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    spv_id x = spirv_to_real(b, from, slot), x_bits = spirv_to_bits(b, from, slot);
    spv_id low =
        is_signed ? power(b, from, bits, true) : spirv_number_of(b, spirv_real_kind(from), 0);
    spv_id high = power(b, from, bits, false);
    spv_id above = spirv_two(b, SPV_FOrdGreaterThanEqual, SPIRV_BOOL, x, high);
    spv_id below = spirv_two(b, SPV_FOrdLessThan, SPIRV_BOOL, x, low);
    spv_id outside = spirv_two(b, SPV_LogicalOr, SPIRV_BOOL, above, below);
    outside = spirv_two(b, SPV_LogicalOr, SPIRV_BOOL, outside, spirv_is_nan(b, from, x_bits));
    spv_id safe_bits =
        spirv_choose(b, bits_kind, outside, spirv_number_of(b, bits_kind, 0), x_bits);
    spv_id safe = spirv_one(b, SPV_Bitcast, spirv_real_kind(from), safe_bits);
    spv_id whole;
    if (kind == SPIRV_U64) {
        whole = is_signed ? signed_wide_from_real(b, from, safe, safe_bits)
                          : wide_from_real(b, from, safe);
    } else {
        whole = spirv_one(b, is_signed ? SPV_ConvertFToS : SPV_ConvertFToU, kind, safe);
    }
    whole = spirv_choose(b, kind, above, spirv_constant(b, to, most), whole);
    uint64_t least = is_signed ? (uint64_t)1 << bits : 0;
    return spirv_choose(b, kind, below, spirv_constant(b, to, least), whole);
}

static spv_id integer_from_integer(spirv_builder *b, vyre_type from, vyre_type to, spv_id x) {
    bool from_wide = spirv_width(from) == 64, to_wide = spirv_width(to) == 64;
    if (from_wide && !to_wide) {
        x = spirv_one(b, SPV_UConvert, SPIRV_U32, x);
    } else if (to_wide && !from_wide) {
        return spirv_widen(b, x, spirv_is_signed(from));
    }
    return spirv_narrow(b, to, x);
}

static spv_id to_bool(spirv_builder *b, vyre_type from, spirv_slot x) {
    if (spirv_is_real(from)) {
        spv_id zero = spirv_number_of(b, spirv_real_kind(from), 0);
        return spirv_two(b, SPV_FUnordNotEqual, SPIRV_BOOL, spirv_to_real(b, from, x), zero);
    }
    spirv_kind kind = spirv_kind_of(from);
    spv_id bits = x.id;
    if (vyre_lookup_class(from) == VYRE_CLASS_FLOAT) {
        bits = spirv_two(b, SPV_BitwiseAnd, kind, bits, spirv_u32(b, 0x7fff));
    }
    return spirv_two(b, SPV_INotEqual, SPIRV_BOOL, bits, spirv_number_of(b, kind, 0));
}

static spv_id from_bool(spirv_builder *b, vyre_type to, spv_id x) {
    uint64_t one = vyre_eval_identity(VYRE_COMBINE_MUL, to);
    return spirv_choose(b, spirv_kind_of(to), x, spirv_constant(b, to, one),
                        spirv_constant(b, to, 0));
}

spirv_slot spirv_convert(spirv_builder *b, vyre_type from, vyre_type to, spirv_slot x) {
    bool from_float = vyre_lookup_class(from) == VYRE_CLASS_FLOAT;
    bool to_float = vyre_lookup_class(to) == VYRE_CLASS_FLOAT;
    spirv_slot out = {0};
    if (from == to) {
        return x;
    }
    if (to == VYRE_TYPE_BOOL) {
        out.id = to_bool(b, from, x);
    } else if (from == VYRE_TYPE_BOOL) {
        out.id = from_bool(b, to, x.id);
    } else if (!from_float && !to_float) {
        out.id = integer_from_integer(b, from, to, x.id);
    } else if ((from_float && !spirv_is_real(from)) || (to_float && !spirv_is_real(to))) {
        return out; /* the corrections do these */
    } else if (!to_float) {
        out.id = integer_from_real(b, from, to, x);
    } else {
        spv_op op = from_float              ? SPV_FConvert
                    : spirv_is_signed(from) ? SPV_ConvertSToF
                                            : SPV_ConvertUToF;
        spv_id source = from_float ? spirv_to_real(b, from, x) : x.id;
        out = (spirv_slot){spirv_one(b, op, spirv_real_kind(to), source), true};
    }
    return out;
}

spv_id spirv_bitcast(spirv_builder *b, vyre_type from, vyre_type to, spirv_slot x) {
    return spirv_narrow(b, to, spirv_to_bits(b, from, x));
}
