/* matrix_mad: each lane gets the words of A and B that its four elements take, and adds up their
 * products. docs/semantics.md says which lane holds what. */
#include "pass/subgroup_share.h"

static uint32_t op2(vyre_rebuild *r, vyre_op op, uint32_t a, uint32_t b) {
    return vyre_build_op(r->to, op, a, b, VYRE_NONE);
}

static uint32_t number(vyre_rebuild *r, uint32_t value) {
    return vyre_build_u32(r->to, value);
}

/* A word's four bytes with their signs. */
static void unpack(vyre_rebuild *r, uint32_t word, uint32_t bytes[4]) {
    uint32_t bits = vyre_build_bitcast(r->to, VYRE_TYPE_I32, word);
    for (uint32_t j = 0; j < 4; j++) {
        uint32_t left = op2(r, VYRE_OP_SHL, bits, number(r, 24 - 8 * j));
        bytes[j] = op2(r, VYRE_OP_SHR, left, number(r, 24));
    }
}

/* The words `value` of four lanes, `first` and those behind it. */
static void load_four(vyre_rebuild *r, uint32_t first, uint32_t bytes[4][4]) {
    for (uint32_t t = 0; t < 4; t++) {
        unpack(r, share_load(r, VYRE_TYPE_U32, op2(r, VYRE_OP_ADD, first, number(r, t))), bytes[t]);
    }
}

static uint32_t add_products(vyre_rebuild *r, uint32_t sum, uint32_t a[4][4], uint32_t b[4][4]) {
    for (uint32_t t = 0; t < 4; t++) {
        for (uint32_t j = 0; j < 4; j++) {
            sum = op2(r, VYRE_OP_ADD, sum, op2(r, VYRE_OP_MUL, a[t][j], b[t][j]));
        }
    }
    return sum;
}

void share_matrix_mad(vyre_rebuild *r, const vyre_phase *phase, uint32_t at) {
    vyre_list list = vyre_inst_operands(r->ir, &r->ir->insts[at]);
    uint32_t words[VYRE_MATRIX_OPERANDS], sums[VYRE_MATRIX_C];
    for (uint32_t i = 0; i < VYRE_MATRIX_OPERANDS; i++) {
        words[i] = vyre_rebuild_operand(r, list.items[i]);
    }
    for (uint32_t k = 0; k < VYRE_MATRIX_C; k++) {
        sums[k] = words[VYRE_MATRIX_A + VYRE_MATRIX_B + k];
    }
    uint32_t base = share_base(r, phase), lane = share_lane(r, phase);
    uint32_t row = op2(r, VYRE_OP_OR, base, op2(r, VYRE_OP_AND, lane, number(r, 28)));
    /* Columns 2 t and 2 t + 1 of B start in lanes 8 t and 8 t + 4. */
    uint32_t column = op2(r, VYRE_OP_SHL, op2(r, VYRE_OP_AND, lane, number(r, 3)), number(r, 3));
    column = op2(r, VYRE_OP_OR, base, column);
    for (uint32_t far = 0; far < 2; far++) {
        uint32_t b[2][4][4], a[4][4];
        share_begin(r, phase, words[VYRE_MATRIX_A + far]);
        load_four(r, column, b[0]);
        load_four(r, op2(r, VYRE_OP_ADD, column, number(r, 4)), b[1]);
        share_end(r);
        for (uint32_t upper = 0; upper < 2; upper++) {
            share_begin(r, phase, words[2 * far + upper]);
            load_four(r, row, a);
            share_end(r);
            uint32_t *pair = sums + (size_t)2 * upper;
            pair[0] = add_products(r, pair[0], a, b[0]);
            pair[1] = add_products(r, pair[1], a, b[1]);
        }
    }
    for (uint32_t k = 0; k < VYRE_MATRIX_C; k++) {
        r->values[vyre_result(r->ir, at, k)] = sums[k];
    }
}
