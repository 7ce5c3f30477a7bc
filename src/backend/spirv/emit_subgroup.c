/* Subgroups of the width that the program declares, which the device was asked for: lanes exchange
 * words by shuffles. Phases of other widths do not come here (pass/subgroup.h). */
#include "backend/spirv/emit_state.h"
#include "ir/cases.h"
#include "ir/eval.h"

static spv_id lane_of(emit *e) {
    return spirv_two(&e->b, SPV_BitwiseAnd, SPIRV_U32, e->thread,
                     spirv_u32(&e->b, e->phase->subgroup - 1));
}

static spv_id word_of(emit *e, uint32_t number) {
    return spirv_u32(&e->b, number);
}

static spv_id shuffle_word(emit *e, spv_id value, spv_id from) {
    spirv_need(&e->b, SPV_C_GroupNonUniformShuffle);
    return SPIRV_VALUE(&e->b, SPV_GroupNonUniformShuffle, SPIRV_U32, word_of(e, SPV_SCOPE_SUBGROUP),
                       value, from);
}

/* The value of lane `from`, which exists. Not every device shuffles more than words. */
static spv_id fetch(emit *e, vyre_type type, spv_id bits, spv_id from) {
    spirv_builder *b = &e->b;
    if (type == VYRE_TYPE_BOOL) {
        spv_id word = spirv_choose(b, SPIRV_U32, bits, word_of(e, 1), word_of(e, 0));
        return spirv_two(b, SPV_INotEqual, SPIRV_BOOL, shuffle_word(e, word, from), word_of(e, 0));
    }
    if (spirv_kind_of(type) == SPIRV_U32) {
        return shuffle_word(e, bits, from);
    }
    spv_id word = word_of(e, 32);
    spv_id high = spirv_two(b, SPV_ShiftRightLogical, SPIRV_U64, bits, word);
    high = shuffle_word(e, spirv_one(b, SPV_UConvert, SPIRV_U32, high), from);
    spv_id low = shuffle_word(e, spirv_one(b, SPV_UConvert, SPIRV_U32, bits), from);
    high = spirv_one(b, SPV_UConvert, SPIRV_U64, high);
    high = spirv_two(b, SPV_ShiftLeftLogical, SPIRV_U64, high, word);
    return spirv_two(b, SPV_BitwiseOr, SPIRV_U64, high, spirv_one(b, SPV_UConvert, SPIRV_U64, low));
}

/* A lane that each names for itself; one that does not exist gives 0. */
static spv_id shuffled(emit *e, const vyre_inst *i) {
    spirv_builder *b = &e->b;
    vyre_type type = vyre_inst_type(i);
    spv_id width = word_of(e, e->phase->subgroup), lane = lane_of(e);
    spv_id value = spirv_emit_bits(e, i->a), index = spirv_emit_bits(e, i->b), from = index;
    spv_id exists = 0;
    if (i->op == VYRE_OP_SHUFFLE_XOR) {
        from = spirv_two(b, SPV_BitwiseXor, SPIRV_U32, lane, index);
    } else if (i->op == VYRE_OP_SHUFFLE_UP) {
        exists = spirv_two(b, SPV_ULessThanEqual, SPIRV_BOOL, index, lane);
        from = spirv_two(b, SPV_ISub, SPIRV_U32, lane, index);
    } else if (i->op == VYRE_OP_SHUFFLE_DOWN) {
        exists = spirv_two(b, SPV_ULessThan, SPIRV_BOOL, index, width);
        from = spirv_two(b, SPV_IAdd, SPIRV_U32, lane, index);
    }
    spv_id inside = spirv_two(b, SPV_ULessThan, SPIRV_BOOL, from, width);
    exists = exists ? spirv_two(b, SPV_LogicalAnd, SPIRV_BOOL, exists, inside) : inside;
    spv_id safe = spirv_two(b, SPV_BitwiseAnd, SPIRV_U32, from, word_of(e, e->phase->subgroup - 1));
    spv_id got = fetch(e, type, value, safe);
    return spirv_choose(b, spirv_kind_of(type), exists, got, spirv_constant(b, type, 0));
}

/* Two values combined, with the canonical NaN where somebody sees the bits. */
static spv_id combine(emit *e, uint32_t inst, vyre_type type, spv_id x, spv_id y) {
    spirv_builder *b = &e->b;
    spirv_slot sum = spirv_op(b, vyre_eval_combining(e->ir->insts[inst].aux), type, type,
                              (spirv_slot){x, false}, (spirv_slot){y, false}, (spirv_slot){0});
    if (!sum.id) {
        spirv_emit_unknown(e, inst);
    }
    spv_id bits = spirv_to_bits(b, type, sum);
    return spirv_is_real(type) && vyre_nan_is_observed(&e->facts.nans, inst)
               ? spirv_canonical(b, type, bits)
               : bits;
}

static spv_id reduced(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = vyre_inst_type(i);
    spv_id value = spirv_emit_bits(e, i->a), lane = lane_of(e);
    for (uint32_t d = e->phase->subgroup / 2; d; d /= 2) {
        spv_id from = spirv_two(&e->b, SPV_BitwiseXor, SPIRV_U32, lane, word_of(e, d));
        value = combine(e, inst, type, value, fetch(e, type, value, from));
    }
    return value;
}

/* The value of the lane so far below; of any lane, if there is none. */
static spv_id fetch_below(emit *e, vyre_type type, spv_id value, spv_id lane, uint32_t distance) {
    spv_id from = spirv_two(&e->b, SPV_ISub, SPIRV_U32, lane, word_of(e, distance));
    from = spirv_two(&e->b, SPV_BitwiseAnd, SPIRV_U32, from, word_of(e, e->phase->subgroup - 1));
    return fetch(e, type, value, from);
}

/* A lane that has none below it at a distance keeps its value, bit for bit. */
static spv_id scanned(emit *e, uint32_t inst) {
    spirv_builder *b = &e->b;
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = vyre_inst_type(i);
    spirv_kind kind = spirv_kind_of(type);
    spv_id value = spirv_emit_bits(e, i->a), lane = lane_of(e);
    for (uint32_t d = 1; d < e->phase->subgroup; d *= 2) {
        spv_id sum = combine(e, inst, type, fetch_below(e, type, value, lane, d), value);
        spv_id alone = spirv_two(b, SPV_ULessThan, SPIRV_BOOL, lane, word_of(e, d));
        value = spirv_choose(b, kind, alone, value, sum);
    }
    if (i->op == VYRE_OP_SCAN) {
        return value;
    }
    spv_id below = fetch_below(e, type, value, lane, 1);
    spv_id is_first = spirv_two(b, SPV_IEqual, SPIRV_BOOL, lane, word_of(e, 0));
    spv_id identity = spirv_constant(b, type, vyre_eval_identity(i->aux, type));
    return spirv_choose(b, kind, is_first, identity, below);
}

/* A bit a lane of the subgroup, in 32 bits, or in 64 for the widest. */
static spv_id ballot(emit *e, spv_id condition) {
    spirv_builder *b = &e->b;
    spirv_need(b, SPV_C_GroupNonUniformBallot);
    spv_id words = SPIRV_VALUE(b, SPV_GroupNonUniformBallot, SPIRV_WORDS,
                               word_of(e, SPV_SCOPE_SUBGROUP), condition);
    spv_id low = SPIRV_VALUE(b, SPV_CompositeExtract, SPIRV_U32, words, 0);
    if (e->phase->subgroup <= 32) {
        return low;
    }
    spv_id high = SPIRV_VALUE(b, SPV_CompositeExtract, SPIRV_U32, words, 1);
    high = spirv_one(b, SPV_UConvert, SPIRV_U64, high);
    high = spirv_two(b, SPV_ShiftLeftLogical, SPIRV_U64, high, word_of(e, 32));
    return spirv_two(b, SPV_BitwiseOr, SPIRV_U64, high, spirv_one(b, SPV_UConvert, SPIRV_U64, low));
}

static spv_id vote(emit *e, spv_id condition, bool all) {
    spirv_need(&e->b, SPV_C_GroupNonUniformVote);
    return SPIRV_VALUE(&e->b, all ? SPV_GroupNonUniformAll : SPV_GroupNonUniformAny, SPIRV_BOOL,
                       word_of(e, SPV_SCOPE_SUBGROUP), condition);
}

/* Byte j of a word, with its sign. */
static spv_id byte_of(emit *e, spv_id word, uint32_t j) {
    spv_id up = spirv_two(&e->b, SPV_ShiftLeftLogical, SPIRV_U32, word, word_of(e, 24 - 8 * j));
    return spirv_two(&e->b, SPV_ShiftRightArithmetic, SPIRV_U32, up, word_of(e, 24));
}

static void split(emit *e, spv_id word, spv_id out_bytes[4]) {
    for (uint32_t j = 0; j < 4; j++) {
        out_bytes[j] = byte_of(e, word, j);
    }
}

static spv_id add_products(emit *e, spv_id sum, const spv_id x[4], const spv_id y[4]) {
    for (uint32_t j = 0; j < 4; j++) {
        spv_id product = spirv_two(&e->b, SPV_IMul, SPIRV_U32, x[j], y[j]);
        sum = spirv_two(&e->b, SPV_IAdd, SPIRV_U32, sum, product);
    }
    return sum;
}

/* Products of matrices: each lane fetches the words of its rows and columns. */
static void multiply(emit *e, uint32_t inst) {
    spirv_builder *b = &e->b;
    vyre_list values = vyre_inst_operands(e->ir, &e->ir->insts[inst]);
    spv_id ids[VYRE_MATRIX_OPERANDS], *of_b = ids + VYRE_MATRIX_A, *sums = of_b + VYRE_MATRIX_B;
    for (uint32_t k = 0; k < VYRE_MATRIX_OPERANDS; k++) {
        ids[k] = spirv_emit_bits(e, values.items[k]);
    }
    spv_id lane = lane_of(e);
    spv_id row = spirv_two(b, SPV_BitwiseAnd, SPIRV_U32, lane, word_of(e, VYRE_MATRIX_LANES - 4));
    spv_id columns = spirv_two(b, SPV_BitwiseAnd, SPIRV_U32, lane, word_of(e, 3));
    columns = spirv_two(b, SPV_ShiftLeftLogical, SPIRV_U32, columns, word_of(e, 3));
    for (uint32_t step = 0; step < 8; step++) {
        uint32_t far = step / 4, t = step % 4;
        spv_id of_row = spirv_two(b, SPV_IAdd, SPIRV_U32, row, word_of(e, t)), bytes[2][4];
        for (uint32_t k = 0; k < 2; k++) {
            spv_id of_column = spirv_two(b, SPV_IAdd, SPIRV_U32, columns, word_of(e, 4 * k + t));
            split(e, shuffle_word(e, of_b[far], of_column), bytes[k]);
        }
        for (uint32_t k = 0; k < VYRE_MATRIX_C; k += 2) {
            spv_id row_bytes[4];
            split(e, shuffle_word(e, ids[2 * far + k / 2], of_row), row_bytes);
            sums[k] = add_products(e, sums[k], row_bytes, bytes[0]);
            sums[k + 1] = add_products(e, sums[k + 1], row_bytes, bytes[1]);
        }
    }
    for (uint32_t k = 0; k < VYRE_MATRIX_C; k++) {
        spirv_emit_set(e, vyre_result(e->ir, inst, k), sums[k]);
    }
}

void spirv_emit_subgroup(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    spv_id result = 0;
    switch (vyre_inst_op(i)) {
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, CONTROL, NONE):
        spirv_emit_unknown(e, inst);
        break;
    case VYRE_OP_MATRIX_MAD: multiply(e, inst); return;
    case VYRE_OP_BALLOT: result = ballot(e, spirv_emit_bits(e, i->a)); break;
    case VYRE_OP_ANY: result = vote(e, spirv_emit_bits(e, i->a), false); break;
    case VYRE_OP_ALL: result = vote(e, spirv_emit_bits(e, i->a), true); break;
    case VYRE_OP_REDUCE: result = reduced(e, inst); break;
    case VYRE_ONE_OF(SCAN, SCAN_EXCLUSIVE): result = scanned(e, inst); break;
    case VYRE_ONE_OF(SHUFFLE, SHUFFLE_XOR, SHUFFLE_UP, SHUFFLE_DOWN, BROADCAST):
        result = shuffled(e, i);
        break;
    }
    spirv_emit_set(e, inst, result);
}
