/* Control flow: structured blocks become labels and branches. Where the parts of a thread go ways
 * of their own, a block is written once for each. */
#include "backend/cuda/codegen/emit_state.h"
#include "base/alloc.h"
#include "ir/cases.h"
#include "ir/lookup.h"

static vyre_type type_of(const emit *e, uint32_t inst) {
    return vyre_inst_type(&e->ir->insts[inst]);
}

/* Registers for args and results, which are written where control flow meets. */
void cuda_emit_slots(emit *e, vyre_block slots) {
    for (uint32_t inst = slots.first; inst < slots.end; inst++) {
        for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++) {
            *emit_slot(e, inst, part) = cuda_new(&e->w, cuda_class_of(type_of(e, inst)));
        }
    }
}

static bool same(cuda_reg left, cuda_reg right) {
    return !left.immediate && !right.immediate && left.kind == right.kind &&
           left.bits == right.bits;
}

/* Whether one of the values is what a slot in front of its own held. */
static bool overlaps(emit *e, uint32_t first, const uint32_t *operands, uint32_t count) {
    enum { MOST = 512 };
    if (count > MOST) {
        return true;
    }
    for (uint32_t k = 1; k < count; k++) {
        if (!vyre_operand_is_value(operands[k])) {
            continue;
        }
        for (uint32_t j = 0; j < k; j++) {
            for (uint32_t part = e->first_part; part < e->end_part; part++) {
                uint32_t at = cuda_varies(&e->facts, first + j) ? part : 0;
                if (same(*emit_slot(e, first + j, at), cuda_emit_operand(e, operands[k], part))) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* All at once: an arg may be what another one becomes. */
void cuda_emit_assign(emit *e, uint32_t first, const uint32_t *operands, uint32_t count) {
    bool aside = overlaps(e, first, operands, count);
    uint32_t parts = e->end_part - e->first_part;
    cuda_reg *copies = aside ? vyre_alloc_array((size_t)count * parts, sizeof *copies) : NULL;
    if (aside && !copies) {
        e->w.code.failed = true;
        return;
    }
    for (uint32_t pass = aside ? 0 : 1; pass < 2; pass++) {
        for (uint32_t k = 0; k < count; k++) {
            uint32_t inst = first + k, at = k * parts;
            for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++, at++) {
                cuda_reg slot = *emit_slot(e, inst, part);
                cuda_reg value =
                    pass && aside ? copies[at] : cuda_emit_operand(e, operands[k], part);
                if (!pass) {
                    copies[at] = value;
                    if (!value.immediate && !same(slot, value)) {
                        copies[at] = cuda_new(&e->w, (cuda_class)slot.kind);
                        cuda_move(&e->w, copies[at], value);
                    }
                } else if (!same(slot, value)) {
                    cuda_move(&e->w, slot, value);
                }
            }
        }
    }
    vyre_free(copies);
}

/* Registers by arg and part. */
static size_t slot_at(const emit *e, uint32_t k, uint32_t part) {
    return (size_t)k * e->facts.parts + part;
}

cuda_reg *cuda_emit_keep_slots(emit *e, vyre_block slots) {
    size_t count = slots.end - slots.first;
    cuda_reg *kept = vyre_alloc_array(count * e->facts.parts + 1, sizeof *kept);
    for (uint32_t inst = slots.first; inst < slots.end && kept; inst++) {
        for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++) {
            kept[slot_at(e, inst - slots.first, part)] = *emit_slot(e, inst, part);
        }
    }
    e->w.code.failed |= !kept;
    return kept;
}

/* Whether a register is where one of the slots in front of `end` was kept. */
static bool is_kept_there(emit *e, vyre_block slots, uint32_t end, const cuda_reg *kept,
                          cuda_reg reg) {
    bool found = false;
    for (uint32_t inst = slots.first; inst < end; inst++) {
        for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++) {
            found = found || same(kept[slot_at(e, inst - slots.first, part)], reg);
        }
    }
    return found;
}

void cuda_emit_restore_slots(emit *e, vyre_block slots, cuda_reg *kept) {
    /* What is moved may be in a register that another one is moved to: by way of new ones then. */
    for (uint32_t pass = 0; pass < 2 && kept; pass++) {
        for (uint32_t inst = slots.first; inst < slots.end; inst++) {
            for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++) {
                cuda_reg *slot = emit_slot(e, inst, part);
                cuda_reg to = kept[slot_at(e, inst - slots.first, part)];
                bool is_taken = /* by an earlier move */
                    !pass && !slot->immediate && is_kept_there(e, slots, inst, kept, *slot);
                if (is_taken) {
                    cuda_reg copy = cuda_new(&e->w, (cuda_class)slot->kind);
                    cuda_move(&e->w, copy, *slot);
                    *slot = copy;
                } else if (pass && !same(*slot, to)) {
                    cuda_move(&e->w, to, *slot);
                    *slot = to;
                }
            }
        }
    }
    vyre_free(kept);
}

/* The args of the next iteration are the values of this one. */
static void bind(emit *e, uint32_t first, const uint32_t *operands, uint32_t count) {
    uint32_t parts = e->end_part - e->first_part;
    cuda_reg *values = vyre_alloc_array((size_t)count * parts + 1, sizeof *values);
    e->w.code.failed |= !values;
    for (uint32_t pass = 0; pass < 2 && values; pass++) {
        for (uint32_t k = 0; k < count; k++) {
            uint32_t inst = first + k, at = k * parts;
            for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++, at++) {
                if (pass) {
                    *emit_slot(e, inst, part) = values[at];
                } else {
                    values[at] = cuda_emit_operand(e, operands[k], part);
                }
            }
        }
    }
    vyre_free(values);
}

/* Behind a loop: NaNs of its sums, which nobody looked at before. */
void cuda_emit_settle(emit *e, uint32_t owner) {
    vyre_block results = vyre_results(e->ir, owner);
    for (uint32_t inst = results.first; inst < results.end; inst++) {
        if (vyre_nan_settles_late(&e->facts.nans, inst)) {
            for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++) {
                cuda_reg *slot = emit_slot(e, inst, part);
                *slot = cuda_write_canonical(&e->w, type_of(e, inst), *slot);
            }
        }
    }
}

/* Whether the whole workgroup comes here, so that one answer is everybody's. */
bool cuda_emit_together(const emit *e, uint32_t inst) {
    const vyre_uniformity_map *map = &e->facts.map;
    return map->levels[map->controls[inst - e->phase->first]] >= VYRE_UNIFORM_WORKGROUP;
}

void cuda_emit_open(emit *e, uint32_t owner, uint32_t exit, uint32_t latch) {
    e->stack[e->depth++] = (emit_open){.owner = owner, .exit = exit, .latch = latch};
}

void cuda_emit_block(emit *e, vyre_block code) {
    for (uint32_t inst = code.first; inst < code.end; inst = vyre_inst_next(e->ir, inst)) {
        cuda_emit_instruction(e, inst);
    }
}

static void write_if(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_block other = vyre_else_block(e->ir, inst);
    uint32_t no = cuda_emit_label(e), behind = cuda_emit_label(e);
    bool uniform = cuda_is_uniform(&e->facts, i->a) && cuda_emit_together(e, inst);
    bool no_else = vyre_block_is_empty(e->ir, other);
    cuda_emit_slots(e, vyre_results(e->ir, inst));
    cuda_emit_branch(e, cuda_emit_operand(e, i->a, e->first_part), false, no_else ? behind : no,
                     uniform);
    cuda_emit_open(e, inst, behind, behind);
    cuda_emit_block(e, vyre_then_block(e->ir, inst));
    if (!no_else) {
        cuda_emit_place(e, no);
        cuda_emit_block(e, other);
    }
    e->depth--;
    cuda_emit_place(e, behind);
}

static void write_inline(emit *e, uint32_t inst) {
    uint32_t behind = cuda_emit_label(e);
    cuda_emit_slots(e, vyre_results(e->ir, inst));
    cuda_emit_open(e, inst, behind, behind);
    cuda_emit_block(e, vyre_body_block(e->ir, inst));
    e->depth--;
    cuda_emit_place(e, behind);
}

static void write_control(emit *e, uint32_t inst) {
    switch (vyre_inst_op(&e->ir->insts[inst])) {
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, PICK, JUMP, NONE):
        break;
    case VYRE_OP_IF: write_if(e, inst); return;
    case VYRE_OP_INLINE: write_inline(e, inst); return;
    case VYRE_OP_LOOP: cuda_emit_loop(e, inst); return;
    case VYRE_OP_FOR: cuda_emit_for(e, inst); return;
    }
    cuda_emit_unknown(e, inst);
}

void cuda_emit_control(emit *e, uint32_t inst) {
    uint32_t first = e->first_part, end = e->end_part;
    if (!vyre_divergence_of(&e->facts.divergence, inst)->divergent) {
        write_control(e, inst);
        return;
    }
    for (uint32_t part = first; part < end; part++) {
        e->first_part = part;
        e->end_part = part + 1;
        write_control(e, inst);
    }
    e->first_part = first;
    e->end_part = end;
}

static uint32_t target_of(const emit *e, uint32_t op) {
    uint32_t level = e->depth - 1;
    while (!vyre_jump_ends(e->ir, op, e->stack[level].owner)) {
        level--;
    }
    return level;
}

/* The end of a block. */
void cuda_emit_jump_out(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    if (i->op == VYRE_OP_UNREACHABLE) {
        cuda_line(&e->w, "exit");
        return;
    }
    const emit_open *target = &e->stack[target_of(e, i->op)];
    if (target->owner == VYRE_NONE) {
        cuda_line(&e->w, "bra L%u", e->end);
        return;
    }
    vyre_list values = vyre_inst_operands(e->ir, i);
    uint32_t first = vyre_jump_target(e->ir, i, target->owner, 0);
    bool back = i->op == VYRE_OP_CONTINUE;
    if (back && target->binds) {
        bind(e, first, values.items, values.count);
        return;
    }
    cuda_emit_assign(e, first, values.items, values.count);
    cuda_line(&e->w, "bra L%u", back ? target->latch : target->exit);
}
