#include "pass/walk.h"

#include "ir/lookup.h"

void vyre_walk_begin(vyre_walk *walk, const vyre_ir *ir, const vyre_phase *phase) {
    walk->ir = ir;
    walk->phase = phase;
    walk->next = phase->first;
    walk->depth = 1;
    walk->stack[0] = (vyre_walk_block){VYRE_NONE, phase->end, false};
}

/* Opens the block of the instruction that was there before. */
static void open_block(vyre_walk *walk, uint32_t inst) {
    const vyre_inst *i = &walk->ir->insts[inst];
    if (vyre_lookup_op(i->op)->effects & VYRE_EFFECT_BLOCK) {
        bool is_if = i->op == VYRE_OP_IF;
        walk->stack[walk->depth++] = (vyre_walk_block){inst, is_if ? i->b : i->c, is_if};
    }
}

static void close_blocks(vyre_walk *walk) {
    while (walk->stack[walk->depth - 1].end == walk->next) {
        vyre_walk_block *top = &walk->stack[walk->depth - 1];
        if (top->in_then) { /* the else block follows */
            top->in_then = false;
            top->end = walk->ir->insts[top->owner].c;
            if (top->end != walk->next) {
                break;
            }
        }
        walk->depth--;
    }
}

bool vyre_walk_next(vyre_walk *walk, uint32_t *out_inst) {
    if (walk->next > walk->phase->first) {
        open_block(walk, walk->next - 1);
    }
    if (walk->next == walk->phase->end) {
        return false;
    }
    close_blocks(walk);
    *out_inst = walk->next++;
    return true;
}

uint32_t vyre_walk_owner_op(const vyre_walk *walk, uint32_t level) {
    uint32_t owner = walk->stack[level].owner;
    return owner == VYRE_NONE ? (uint32_t)VYRE_OP_NONE : walk->ir->insts[owner].op;
}

uint32_t vyre_walk_target(const vyre_walk *walk, uint32_t jump) {
    uint32_t level = walk->depth - 1;
    while (level && !vyre_lookup_ends(jump, vyre_walk_owner_op(walk, level))) {
        level--;
    }
    return level;
}

static bool passes_bits(uint32_t op, uint32_t k) {
    switch (op) {
    case VYRE_OP_SELECT: return k > 0;
    case VYRE_OP_NEG:
    case VYRE_OP_ABS:
    case VYRE_OP_COPYSIGN:
    case VYRE_OP_SCAN:
    case VYRE_OP_SCAN_EXCLUSIVE: return true;
    case VYRE_OP_SHUFFLE:
    case VYRE_OP_SHUFFLE_XOR:
    case VYRE_OP_SHUFFLE_UP:
    case VYRE_OP_SHUFFLE_DOWN:
    case VYRE_OP_BROADCAST: return k == 0;
    default: return false;
    }
}

bool vyre_walk_shows_bits(uint32_t op, uint32_t k, bool observed) {
    /* The sign that copysign takes from a NaN shows in a number. */
    return (passes_bits(op, k) && observed) || op == VYRE_OP_BITCAST ||
           ((op == VYRE_OP_STORE || op == VYRE_OP_COPYSIGN) && k == 1);
}

bool vyre_walk_gives_any_nan(uint32_t op, vyre_type result) {
    if (result != VYRE_TYPE_F32 && result != VYRE_TYPE_F64) {
        return false;
    }
    switch (op) {
    case VYRE_OP_ADD:
    case VYRE_OP_SUB:
    case VYRE_OP_MUL:
    case VYRE_OP_DIV:
    case VYRE_OP_MIN:
    case VYRE_OP_MAX:
    case VYRE_OP_FMA:
    case VYRE_OP_SQRT:
    case VYRE_OP_FLOOR:
    case VYRE_OP_CEIL:
    case VYRE_OP_TRUNC:
    case VYRE_OP_ROUND:
    case VYRE_OP_CONVERT: return true;
    default: return false;
    }
}

/* The choice is made between integers: there the bits of a NaN are sure to count. */

bool vyre_walk_is_nan(const vyre_const *constant) {
    switch (constant->type) {
    case VYRE_TYPE_F32: return (constant->bits & 0x7fffffff) > 0x7f800000;
    case VYRE_TYPE_F64: return (constant->bits & INT64_MAX) > 0x7ff0000000000000;
    default: return false;
    }
}
