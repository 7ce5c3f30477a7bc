/* Control flow: structured blocks become labels and branches. Where the parts of a thread go ways
 * of their own, a block is written once for each. */
#include "backend/cuda/codegen/emit_state.h"
#include "base/alloc.h"
#include "ir/lookup.h"

static vyre_type type_of(const emit *e, uint32_t inst) {
    return (vyre_type)e->ir->insts[inst].type;
}

/* Registers for args and results, which are written where control flow meets. */
void cuda_emit_slots(emit *e, uint32_t first, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        uint32_t inst = first + k;
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
        if (operands[k] & VYRE_CONSTANT) {
            continue;
        }
        for (uint32_t j = 0; j < k; j++) {
            for (uint32_t part = e->first_part; part < e->end_part; part++) {
                uint32_t at = emit_fact(e, first + j)->varying ? part : 0;
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

cuda_reg *cuda_emit_keep_slots(emit *e, uint32_t first, uint32_t count) {
    cuda_reg *kept = vyre_alloc_array((size_t)count * e->facts.parts + 1, sizeof *kept);
    for (uint32_t k = 0; k < count && kept; k++) {
        for (uint32_t part = emit_first(e, first + k); part < emit_end(e, first + k); part++) {
            kept[slot_at(e, k, part)] = *emit_slot(e, first + k, part);
        }
    }
    e->w.code.failed |= !kept;
    return kept;
}

void cuda_emit_restore_slots(emit *e, uint32_t first, uint32_t count, cuda_reg *kept) {
    /* What is moved may be in a register that another one is moved to: by way of new ones then. */
    for (uint32_t pass = 0; pass < 2 && kept; pass++) {
        for (uint32_t k = 0; k < count; k++) {
            for (uint32_t part = emit_first(e, first + k); part < emit_end(e, first + k); part++) {
                cuda_reg *slot = emit_slot(e, first + k, part), to = kept[slot_at(e, k, part)];
                bool is_taken = false; /* by an earlier move */
                for (uint32_t other = 0; !pass && other < k && !slot->immediate; other++) {
                    for (uint32_t p = emit_first(e, first + other); p < emit_end(e, first + other);
                         p++) {
                        is_taken = is_taken || same(kept[slot_at(e, other, p)], *slot);
                    }
                }
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

uint32_t cuda_emit_result_count(const emit *e, uint32_t owner) {
    uint32_t first = e->ir->insts[owner].c, count = 0;
    while (first + count < e->phase->end && e->ir->insts[first + count].op == VYRE_OP_RESULT &&
           e->ir->insts[first + count].a == owner) {
        count++;
    }
    return count;
}

/* Behind a loop: NaNs of its sums, which nobody looked at before. */
void cuda_emit_settle(emit *e, uint32_t owner) {
    uint32_t first = e->ir->insts[owner].c, count = cuda_emit_result_count(e, owner);
    for (uint32_t inst = first; inst < first + count; inst++) {
        if (emit_fact(e, inst)->observed && cuda_settles_late(&e->facts, inst)) {
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

void cuda_emit_block(emit *e, uint32_t first, uint32_t end) {
    for (uint32_t inst = first; inst < end;) {
        const vyre_inst *i = &e->ir->insts[inst];
        cuda_emit_instruction(e, inst);
        inst = vyre_lookup_op(i->op)->effects & VYRE_EFFECT_BLOCK ? i->c : inst + 1;
    }
}

static bool is_empty(const emit *e, uint32_t first) {
    const vyre_inst *i = &e->ir->insts[first];
    return i->op == VYRE_OP_YIELD && !i->b;
}

static void write_if(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t no = cuda_emit_label(e), behind = cuda_emit_label(e);
    bool uniform = cuda_is_uniform(&e->facts, i->a) && cuda_emit_together(e, inst);
    bool no_else = is_empty(e, i->b);
    cuda_emit_slots(e, i->c, cuda_emit_result_count(e, inst));
    cuda_emit_branch(e, cuda_emit_operand(e, i->a, e->first_part), false, no_else ? behind : no,
                     uniform);
    cuda_emit_open(e, inst, behind, behind);
    cuda_emit_block(e, inst + 1, i->b);
    if (!no_else) {
        cuda_emit_place(e, no);
        cuda_emit_block(e, i->b, i->c);
    }
    e->depth--;
    cuda_emit_place(e, behind);
}

static void write_inline(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t behind = cuda_emit_label(e);
    cuda_emit_slots(e, i->c, cuda_emit_result_count(e, inst));
    cuda_emit_open(e, inst, behind, behind);
    cuda_emit_block(e, inst + 1, i->c);
    e->depth--;
    cuda_emit_place(e, behind);
}

static void write_control(emit *e, uint32_t inst) {
    switch (e->ir->insts[inst].op) {
    case VYRE_OP_IF: write_if(e, inst); break;
    case VYRE_OP_INLINE: write_inline(e, inst); break;
    case VYRE_OP_LOOP: cuda_emit_loop(e, inst); break;
    default: cuda_emit_for(e, inst); break;
    }
}

void cuda_emit_control(emit *e, uint32_t inst) {
    uint32_t first = e->first_part, end = e->end_part;
    if (!emit_fact(e, inst)->divergent) {
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

static uint32_t op_of(const emit *e, uint32_t level) {
    uint32_t owner = e->stack[level].owner;
    return owner == VYRE_NONE ? (uint32_t)VYRE_OP_NONE : e->ir->insts[owner].op;
}

static uint32_t target_of(const emit *e, uint32_t op) {
    uint32_t level = e->depth - 1;
    while (level && !vyre_lookup_ends(op, op_of(e, level))) {
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
    const vyre_inst *block = &e->ir->insts[target->owner];
    bool back =
        vyre_lookup_is_loop(block->op) && (i->op == VYRE_OP_YIELD || i->op == VYRE_OP_CONTINUE);
    uint32_t first = !back                      ? block->c
                     : block->op == VYRE_OP_FOR ? target->owner + 2
                                                : target->owner + 1;
    if (back && target->binds) {
        bind(e, first, vyre_lookup_list(e->ir, i->a), i->b);
        return;
    }
    cuda_emit_assign(e, first, vyre_lookup_list(e->ir, i->a), i->b);
    cuda_line(&e->w, "bra L%u", back ? target->latch : target->exit);
}
