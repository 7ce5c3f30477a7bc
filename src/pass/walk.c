#include "pass/walk.h"

#include "ir/lookup.h"

void vyre_walk_begin(vyre_walk *walk, const vyre_ir *ir, const vyre_phase *phase) {
    walk->ir = ir;
    walk->phase = phase;
    walk->next = phase->first;
    walk->last = VYRE_NONE;
    walk->depth = 1;
    walk->stack[0] = (vyre_walk_block){VYRE_NONE, phase->end, false};
}

/* Opens the block of the instruction that was there before. */
static void open_block(vyre_walk *walk, uint32_t inst) {
    const vyre_inst *i = &walk->ir->insts[inst];
    if (vyre_inst_effects(i) & VYRE_EFFECT_BLOCK) {
        bool is_if = i->op == VYRE_OP_IF;
        uint32_t end = is_if ? vyre_then_block(walk->ir, inst).end : vyre_owner_end(walk->ir, inst);
        walk->stack[walk->depth++] = (vyre_walk_block){inst, end, is_if};
    }
}

static void close_blocks(vyre_walk *walk) {
    while (walk->stack[walk->depth - 1].end == walk->next) {
        vyre_walk_block *top = &walk->stack[walk->depth - 1];
        if (top->in_then) { /* the else block follows */
            top->in_then = false;
            top->end = vyre_owner_end(walk->ir, top->owner);
            if (top->end != walk->next) {
                break;
            }
        }
        walk->depth--;
    }
}

bool vyre_walk_next(vyre_walk *walk, uint32_t *out_inst) {
    if (walk->last != VYRE_NONE) {
        open_block(walk, walk->last);
    }
    if (walk->next == walk->phase->end) {
        return false;
    }
    close_blocks(walk);
    *out_inst = walk->last = walk->next++;
    return true;
}

uint32_t vyre_walk_target(const vyre_walk *walk, uint32_t jump) {
    uint32_t level = walk->depth - 1;
    while (!vyre_jump_ends(walk->ir, jump, walk->stack[level].owner)) {
        level--;
    }
    return level;
}

bool vyre_loop_is_open(const vyre_ir *ir, uint32_t loop) {
    vyre_block body = vyre_body_block(ir, loop);
    bool is_open = ir->insts[loop].op == VYRE_OP_LOOP;
    for (uint32_t inst = body.first; inst < body.end && !is_open; inst++) {
        is_open = ir->insts[inst].op == VYRE_OP_BREAK || ir->insts[inst].op == VYRE_OP_RETURN;
    }
    return is_open;
}

bool vyre_walk_in_open_loop(const vyre_walk *walk) {
    for (uint32_t level = 1; level < walk->depth; level++) {
        uint32_t owner = walk->stack[level].owner;
        if (vyre_op_is_loop(walk->ir->insts[owner].op) && vyre_loop_is_open(walk->ir, owner)) {
            return true;
        }
    }
    return false;
}

bool vyre_phase_writes(const vyre_ir *ir, uint32_t phase, uint32_t array) {
    for (uint32_t inst = ir->phases[phase].first; inst < ir->phases[phase].end; inst++) {
        const vyre_inst *i = &ir->insts[inst];
        if (!(vyre_inst_effects(i) & VYRE_EFFECT_WRITE)) {
            continue;
        }
        const vyre_resource *row = vyre_access_array(ir, i);
        if (vyre_access_resource(i) == array ||
            (vyre_resource_is_field(row) && row->size == array)) {
            return true;
        }
    }
    return false;
}
