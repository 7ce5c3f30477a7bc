#include "backend/spirv/write.h"

#include "ir/cases.h"

spv_id spirv_constant(spirv_builder *b, vyre_type type, uint64_t bits) {
    const vyre_const row = {.bits = bits, .type = (uint32_t)type};
    uint64_t extended =
        spirv_is_signed(type) && spirv_width(type) < 32 ? vyre_const_extended(&row) : bits;
    spirv_kind kind = spirv_kind_of(type);
    return spirv_number_of(b, kind, kind == SPIRV_U32 ? (uint32_t)extended : extended);
}

spv_id spirv_to_bits(spirv_builder *b, vyre_type type, spirv_slot slot) {
    return slot.is_real ? spirv_one(b, SPV_Bitcast, spirv_kind_of(type), slot.id) : slot.id;
}

spv_id spirv_to_real(spirv_builder *b, vyre_type type, spirv_slot slot) {
    return slot.is_real ? slot.id : spirv_one(b, SPV_Bitcast, spirv_real_kind(type), slot.id);
}

spv_id spirv_narrow(spirv_builder *b, vyre_type type, spv_id word) {
    uint32_t width = spirv_width(type);
    if (width >= 32) {
        return word;
    }
    if (!spirv_is_signed(type)) {
        return spirv_two(b, SPV_BitwiseAnd, SPIRV_U32, word, spirv_u32(b, (1u << width) - 1));
    }
    spv_id by = spirv_u32(b, 32 - width);
    spv_id up = spirv_two(b, SPV_ShiftLeftLogical, SPIRV_U32, word, by);
    return spirv_two(b, SPV_ShiftRightArithmetic, SPIRV_U32, up, by);
}

spv_id spirv_widen(spirv_builder *b, spv_id word, bool is_signed) {
    if (!is_signed) {
        return spirv_one(b, SPV_UConvert, SPIRV_U64, word);
    }
    spv_id sign = spirv_two(b, SPV_ShiftRightArithmetic, SPIRV_U32, word, spirv_u32(b, 31));
    spv_id both = SPIRV_VALUE(b, SPV_CompositeConstruct, SPIRV_PAIR, word, sign);
    return spirv_one(b, SPV_Bitcast, SPIRV_U64, both);
}

spv_id spirv_from_narrow(spirv_builder *b, vyre_type type, spv_id loaded) {
    spv_id word = spirv_one(b, SPV_UConvert, SPIRV_U32, loaded);
    return spirv_is_signed(type) ? spirv_narrow(b, type, word) : word;
}

spv_id spirv_is_nan(spirv_builder *b, vyre_type type, spv_id bits) {
    bool wide = type == VYRE_TYPE_F64;
    spirv_kind kind = spirv_kind_of(type);
    uint64_t all = wide ? INT64_MAX : INT32_MAX;
    uint64_t infinity = wide ? UINT64_C(0x7ff0000000000000) : 0x7f800000;
    spv_id magnitude = spirv_two(b, SPV_BitwiseAnd, kind, bits, spirv_number_of(b, kind, all));
    return spirv_two(b, SPV_UGreaterThan, SPIRV_BOOL, magnitude,
                     spirv_number_of(b, kind, infinity));
}

spv_id spirv_canonical(spirv_builder *b, vyre_type type, spv_id bits) {
    uint64_t nan = type == VYRE_TYPE_F64 ? UINT64_C(0x7ff8000000000000) : 0x7fc00000;
    return spirv_choose(b, spirv_kind_of(type), spirv_is_nan(b, type, bits),
                        spirv_constant(b, type, nan), bits);
}

spirv_slot spirv_op(spirv_builder *b, vyre_op op, vyre_type type, vyre_type result, spirv_slot x,
                    spirv_slot y, spirv_slot z) {
    spirv_slot out = {0};
    switch (op) {
    case VYRE_OP_SELECT:
        out.id = spirv_choose(b, spirv_kind_of(result), x.id, spirv_to_bits(b, result, y),
                              spirv_to_bits(b, result, z));
        return out;
    case VYRE_OP_CONVERT: return spirv_convert(b, type, result, x);
    case VYRE_OP_BITCAST: out.id = spirv_bitcast(b, type, result, x); return out;
    case VYRE_ANY_OF(ARITHMETIC, INTEGER, LOGIC, BITS, FLOAT, COMPARE):
        if (vyre_lookup_class(type) == VYRE_CLASS_FLOAT) {
            return spirv_float_op(b, op, type, x, y, z);
        }
        out.id = spirv_integer_op(b, op, type, x.id, y.id);
        return out;
    case VYRE_ANY_OF(SURROUNDINGS, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    return out;
}
