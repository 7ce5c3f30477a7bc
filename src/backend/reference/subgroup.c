#include <string.h>

#include "backend/reference/machine.h"
#include "ir/cases.h"

/* One element of a value. */
static void move(uint8_t *to, uint32_t to_lane, const uint8_t *from, uint32_t from_lane,
                 uint32_t bytes) {
    memcpy(to + (size_t)to_lane * bytes, from + (size_t)from_lane * bytes, bytes);
}

/* Which lane of the subgroup a lane reads from; the width or more if that lane is absent. */
static uint64_t source_lane(uint32_t op, uint32_t lane, uint32_t operand) {
    return op == VYRE_OP_SHUFFLE_XOR    ? (uint64_t)(lane ^ operand)
           : op == VYRE_OP_SHUFFLE_UP   ? operand <= lane ? lane - operand : UINT64_MAX
           : op == VYRE_OP_SHUFFLE_DOWN ? (uint64_t)lane + operand
                                        : operand; /* the lane itself */
}

static void shuffle(machine *m, fiber *f, uint32_t at, uint32_t base, uint32_t width) {
    const vyre_inst *inst = &m->ir->insts[at];
    const uint8_t *from = value_of(m, f, inst->a);
    const uint32_t *operands = (const void *)value_of(m, f, inst->b);
    uint8_t *to = value_of(m, f, at);
    uint32_t bytes = vyre_type_bytes(vyre_inst_type(inst));
    for (uint32_t lane = 0; lane < width; lane++) {
        uint64_t source = source_lane(inst->op, lane, operands[base + lane]);
        if (source < width) {
            move(to, base + lane, from, base + (uint32_t)source, bytes);
        } else {
            memset(to + (size_t)(base + lane) * bytes, 0, bytes);
        }
    }
}

static void vote(machine *m, fiber *f, uint32_t at, uint32_t base, uint32_t width) {
    const vyre_inst *inst = &m->ir->insts[at];
    const uint8_t *conditions = value_of(m, f, inst->a) + base;
    uint8_t *to = value_of(m, f, at);
    uint64_t ballot = 0;
    for (uint32_t lane = 0; lane < width; lane++) {
        ballot |= (uint64_t)conditions[lane] << lane;
    }
    uint64_t all = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    uint64_t answer = inst->op == VYRE_OP_BALLOT ? ballot
                      : inst->op == VYRE_OP_ANY  ? ballot != 0
                                                 : ballot == all;
    uint32_t bytes = vyre_type_bytes(vyre_inst_type(inst));
    for (uint32_t lane = 0; lane < width; lane++) {
        for (uint32_t k = 0; k < bytes; k++) {
            to[(size_t)(base + lane) * bytes + k] = (uint8_t)(answer >> (k * 8));
        }
    }
}

/* A round of a reduction or scan: each lane takes in the one at a distance, all at once. */
static void combine_round(machine *m, vyre_evaluator combine, uint8_t *values, uint32_t distance,
                          uint32_t width, uint32_t bytes, bool is_scan) {
    uint8_t *before = m->copies;
    memcpy(before, values, (size_t)width * bytes);
    for (uint32_t lane = 0; lane < width; lane++) {
        uint8_t *to = values + (size_t)lane * bytes;
        const uint8_t *own = before + (size_t)lane * bytes;
        if (!is_scan) {
            combine(to, own, before + (size_t)(lane ^ distance) * bytes, NULL, 1);
        } else if (lane >= distance) {
            combine(to, before + (size_t)(lane - distance) * bytes, own, NULL, 1);
        }
    }
}

static void combine(machine *m, fiber *f, uint32_t at, uint32_t base, uint32_t width) {
    const vyre_inst *inst = &m->ir->insts[at];
    vyre_type type = vyre_inst_type(inst);
    uint32_t bytes = vyre_type_bytes(type);
    vyre_evaluator evaluate = vyre_eval_find(vyre_eval_combining(inst->aux), type, type);
    uint8_t *values = value_of(m, f, at) + (size_t)base * bytes;
    memcpy(values, value_of(m, f, inst->a) + (size_t)base * bytes, (size_t)width * bytes);
    if (inst->op == VYRE_OP_REDUCE) {
        for (uint32_t distance = width / 2; distance; distance /= 2) {
            combine_round(m, evaluate, values, distance, width, bytes, false);
        }
        return;
    }
    for (uint32_t distance = 1; distance < width; distance *= 2) {
        combine_round(m, evaluate, values, distance, width, bytes, true);
    }
    if (inst->op == VYRE_OP_SCAN_EXCLUSIVE) {
        memmove(values + bytes, values, (size_t)(width - 1) * bytes);
        uint64_t bits = vyre_eval_identity(inst->aux, type);
        for (uint32_t k = 0; k < bytes; k++) {
            values[k] = (uint8_t)(bits >> (k * 8));
        }
    }
}

/* Byte j of a lane's word, with its sign. */
static int32_t part(const uint32_t *words, uint32_t lane, uint32_t j) {
    return (int8_t)(words[lane] >> (8 * j));
}

/* Row and column of the tiles, as docs/semantics.md spreads them: the four lanes 4 r + t hold row r
 * of A and of C, the lanes 4 n + t column n of B. */
static void multiply(machine *m, fiber *f, uint32_t at, uint32_t base) {
    vyre_list operands = vyre_inst_operands(m->ir, &m->ir->insts[at]);
    const uint32_t *words[VYRE_MATRIX_OPERANDS];
    for (uint32_t i = 0; i < VYRE_MATRIX_OPERANDS; i++) {
        words[i] = (const uint32_t *)(const void *)value_of(m, f, operands.items[i]) + base;
    }
    const uint32_t *const *a = words, *const *b = words + VYRE_MATRIX_A;
    for (uint32_t k = 0; k < VYRE_MATRIX_C; k++) {
        uint32_t *to = (uint32_t *)(void *)value_of(m, f, vyre_result(m->ir, at, k)) + base;
        for (uint32_t lane = 0; lane < VYRE_MATRIX_LANES; lane++) {
            uint32_t upper = k / 2, row = lane / 4, column = lane % 4 * 2 + k % 2;
            uint32_t sum = words[VYRE_MATRIX_A + VYRE_MATRIX_B + k][lane];
            for (uint32_t depth = 0; depth < 32; depth++) {
                uint32_t far = depth / 16, t = depth % 16 / 4, j = depth % 4;
                sum += (uint32_t)(part(a[2 * far + upper], 4 * row + t, j) *
                                  part(b[far], 4 * column + t, j));
            }
            to[lane] = sum;
        }
    }
}

bool subgroup_exchange(machine *m, fiber *f, uint32_t at) {
    uint32_t width = m->phase->subgroup;
    for (uint32_t base = 0; base < m->layout.lanes; base += width) {
        switch (vyre_inst_op(&m->ir->insts[at])) {
        case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, CONTROL, NONE):
            return machine_unknown(m, at);
        case VYRE_ONE_OF(SHUFFLE, SHUFFLE_XOR, SHUFFLE_UP, SHUFFLE_DOWN, BROADCAST):
            shuffle(m, f, at, base, width);
            break;
        case VYRE_ONE_OF(BALLOT, ANY, ALL): vote(m, f, at, base, width); break;
        case VYRE_ONE_OF(REDUCE, SCAN, SCAN_EXCLUSIVE): combine(m, f, at, base, width); break;
        case VYRE_OP_MATRIX_MAD: multiply(m, f, at, base); break;
        }
    }
    return true;
}
