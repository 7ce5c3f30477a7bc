#include "backend/spirv/write.h"
#include "ir/cases.h"

static spirv_slot of_bits(spv_id id) {
    return (spirv_slot){id, false};
}

static spirv_slot of_real(spv_id id) {
    return (spirv_slot){id, true};
}

/* On the bits, so that no payload is ever touched. */
static spirv_slot sign_op(spirv_builder *b, vyre_op op, vyre_type type, spirv_slot x,
                          spirv_slot y) {
    uint64_t sign = (uint64_t)1 << (spirv_width(type) - 1);
    spirv_kind kind = spirv_kind_of(type);
    spv_id bits = spirv_to_bits(b, type, x), mask = spirv_number_of(b, kind, sign - 1);
    if (op == VYRE_OP_NEG) {
        return of_bits(spirv_two(b, SPV_BitwiseXor, kind, bits, spirv_number_of(b, kind, sign)));
    }
    bits = spirv_two(b, SPV_BitwiseAnd, kind, bits, mask);
    if (op == VYRE_OP_COPYSIGN) {
        spv_id other = spirv_two(b, SPV_BitwiseAnd, kind, spirv_to_bits(b, type, y),
                                 spirv_number_of(b, kind, sign));
        bits = spirv_two(b, SPV_BitwiseOr, kind, bits, other);
    }
    return of_bits(bits);
}

/* The better one of y and x, and x where they are equal or one is NaN. Equal ones differ at most in
 * the sign of zero; the bits of both together have the right one. */
static spirv_slot extreme(spirv_builder *b, bool least, vyre_type type, spirv_slot x,
                          spirv_slot y) {
    spirv_kind kind = spirv_kind_of(type);
    spv_id left = spirv_to_real(b, type, x), right = spirv_to_real(b, type, y);
    spv_id x_bits = spirv_to_bits(b, type, x), y_bits = spirv_to_bits(b, type, y);
    spv_id better =
        spirv_two(b, SPV_FOrdLessThan, SPIRV_BOOL, least ? right : left, least ? left : right);
    spv_id equal = spirv_two(b, SPV_FOrdEqual, SPIRV_BOOL, left, right);
    spv_id both = spirv_two(b, least ? SPV_BitwiseOr : SPV_BitwiseAnd, kind, x_bits, y_bits);
    spv_id chosen = spirv_choose(b, kind, better, y_bits, x_bits);
    chosen = spirv_choose(b, kind, equal, both, chosen);
    return of_bits(spirv_choose(b, kind, spirv_is_nan(b, type, x_bits), y_bits, chosen));
}

/* Each rounding that is written stays one: nothing is contracted. */
static spirv_slot rounded(spirv_builder *b, spv_op op, spirv_kind kind, spv_id x, spv_id y) {
    spv_id id = spirv_two(b, op, kind, x, y);
    if (b->block) {
        SPIRV_PUT(b, &b->decorations, SPV_Decorate, id, SPV_D_NoContraction);
    }
    return of_real(id);
}

static spirv_slot extended(spirv_builder *b, uint32_t number, spirv_kind kind, spv_id x) {
    return of_real(spirv_extended(b, number, kind, &x, 1));
}

spirv_slot spirv_float_op(spirv_builder *b, vyre_op op, vyre_type type, spirv_slot x, spirv_slot y,
                          spirv_slot z) {
    if (op == VYRE_OP_COPYSIGN || op == VYRE_OP_NEG || op == VYRE_OP_ABS) {
        return sign_op(b, op, type, x, y);
    }
    if (!spirv_is_real(type)) {
        return of_bits(0);
    }
    if (op == VYRE_OP_MIN || op == VYRE_OP_MAX) {
        return extreme(b, op == VYRE_OP_MIN, type, x, y);
    }
    spirv_kind kind = spirv_real_kind(type);
    spv_id ids[3] = {spirv_to_real(b, type, x), y.id ? spirv_to_real(b, type, y) : 0,
                     z.id ? spirv_to_real(b, type, z) : 0};
    switch (op) {
    case VYRE_OP_ADD: return rounded(b, SPV_FAdd, kind, ids[0], ids[1]);
    case VYRE_OP_SUB: return rounded(b, SPV_FSub, kind, ids[0], ids[1]);
    case VYRE_OP_MUL: return rounded(b, SPV_FMul, kind, ids[0], ids[1]);
    case VYRE_OP_DIV: return rounded(b, SPV_FDiv, kind, ids[0], ids[1]);
    case VYRE_OP_FMA: return of_real(spirv_extended(b, SPV_x_Fma, kind, ids, 3));
    case VYRE_OP_SQRT: return extended(b, SPV_x_Sqrt, kind, ids[0]);
    case VYRE_OP_FLOOR: return extended(b, SPV_x_Floor, kind, ids[0]);
    case VYRE_OP_CEIL: return extended(b, SPV_x_Ceil, kind, ids[0]);
    case VYRE_OP_TRUNC: return extended(b, SPV_x_Trunc, kind, ids[0]);
    case VYRE_OP_ROUND: return extended(b, SPV_x_RoundEven, kind, ids[0]);
    case VYRE_OP_EQ: return of_bits(spirv_two(b, SPV_FOrdEqual, SPIRV_BOOL, ids[0], ids[1]));
    case VYRE_OP_NE: return of_bits(spirv_two(b, SPV_FUnordNotEqual, SPIRV_BOOL, ids[0], ids[1]));
    case VYRE_OP_LT: return of_bits(spirv_two(b, SPV_FOrdLessThan, SPIRV_BOOL, ids[0], ids[1]));
    case VYRE_OP_LE:
        return of_bits(spirv_two(b, SPV_FOrdLessThanEqual, SPIRV_BOOL, ids[0], ids[1]));
    case VYRE_ONE_OF(REM, MIN, MAX, NEG, ABS, COPYSIGN):
    case VYRE_ANY_OF(SURROUNDINGS, INTEGER, LOGIC, BITS, CHOICE, ELEMENTARY, ACCESS, BARRIER,
                     SUBGROUP, CONTROL, NONE):
        break;
    }
    return of_bits(0);
}
