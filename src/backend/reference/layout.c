#include <string.h>

#include "backend/reference/machine.h"
#include "base/alloc.h"
#include "ir/lookup.h"

/* Until when an instruction needs its operands: a `for` until its counter and its args are set, one
 * after the other. */
static uint32_t needed_until(const vyre_ir *ir, uint32_t at) {
    bool is_for = ir->insts[at].op == VYRE_OP_FOR;
    return is_for ? vyre_block_terminator(vyre_loop_args(ir, at)) : at;
}

/* Loops that are open, whose ends lie behind an instruction. */
typedef struct open_loops {
    uint32_t items[VYRE_LIMIT_NESTING + 1], count;
} open_loops;

/* A value is needed until an instruction, and from outside of a loop until its end, for the next
 * iteration. */
static void need(const vyre_ir *ir, const vyre_phase *phase, const open_loops *loops,
                 uint32_t operand, uint32_t until, uint32_t *last) {
    if (!vyre_operand_is_value(operand)) {
        return;
    }
    for (uint32_t k = loops->count; k > 0 && loops->items[k - 1] > operand; k--) {
        until = vyre_owner_end(ir, loops->items[k - 1]);
    }
    uint32_t *known = &last[operand - phase->first];
    *known = until > *known ? until : *known;
}

/* Last instruction that needs each value. Results are there from their owner on, because a branch
 * or a break may write them early. */
static void find_last_uses(const vyre_ir *ir, const vyre_phase *phase, uint32_t *last) {
    open_loops loops = {.count = 0};
    for (uint32_t at = phase->first; at < phase->end; at++) {
        const vyre_inst *inst = &ir->insts[at];
        while (loops.count && vyre_owner_end(ir, loops.items[loops.count - 1]) <= at) {
            loops.count--;
        }
        last[at - phase->first] =
            inst->op == VYRE_OP_ARG ? vyre_owner_end(ir, vyre_pick_owner(inst)) : at;
        vyre_list values = vyre_inst_operands(ir, inst);
        for (uint32_t i = 0; i < values.count; i++) {
            need(ir, phase, &loops, values.items[i], needed_until(ir, at), last);
        }
        if (inst->op == VYRE_OP_FOR) { /* the step is for each iteration */
            need(ir, phase, &loops, vyre_for_range_of(ir, at).step, vyre_owner_end(ir, at), last);
        }
        if (vyre_op_is_loop(inst->op)) {
            loops.items[loops.count++] = at;
        }
    }
}

/* Registers are handed out in the order of instructions and come back after the last use. */
typedef struct allocator {
    phase_layout *layout;
    uint32_t *free_slots; /* a stack */
    uint32_t free_count;
    uint32_t
        *expiring;  /* by instruction: the first register that is free after it, a list by `next` */
    uint32_t *next; /* by register */
} allocator;

static uint32_t take_slot(allocator *a, uint32_t until) {
    uint32_t slot = a->free_count ? a->free_slots[--a->free_count] : a->layout->registers++;
    a->next[slot] = a->expiring[until];
    a->expiring[until] = slot;
    return slot;
}

static void assign_slots(allocator *a, const vyre_ir *ir, const vyre_phase *phase,
                         const uint32_t *last) {
    uint32_t first = phase->first;
    for (uint32_t at = first; at < phase->end; at++) {
        const vyre_inst *inst = &ir->insts[at];
        const vyre_op_info *info = vyre_lookup_op(inst->op);
        if (info->effects & VYRE_EFFECT_BLOCK || info->shape == VYRE_SHAPE_GROUP) {
            vyre_block results = vyre_results(ir, at);
            for (uint32_t k = results.first; k < results.end; k++) {
                a->layout->slots[k - first] = take_slot(a, last[k - first] - first);
            }
        }
        if (inst->op == VYRE_OP_FOR) {
            a->layout->spare[at - first] = take_slot(a, vyre_owner_end(ir, at) - first);
        }
        if (inst->type != VYRE_TYPE_VOID && inst->op != VYRE_OP_RESULT) {
            a->layout->slots[at - first] = take_slot(a, last[at - first] - first);
        }
        for (uint32_t slot = a->expiring[at - first]; slot != VYRE_NONE; slot = a->next[slot]) {
            a->free_slots[a->free_count++] = slot;
        }
    }
}

static bool make_slots(phase_layout *layout, const vyre_ir *ir, const vyre_phase *phase) {
    size_t count = phase->end - phase->first;
    uint32_t *last = vyre_alloc_array(count, sizeof *last);
    /* A `for` may take a register of its own, so there are at most two an instruction. */
    allocator a = {.layout = layout,
                   .free_slots = vyre_alloc_array(2 * count, sizeof(uint32_t)),
                   .expiring = vyre_alloc_array(count, sizeof(uint32_t)),
                   .next = vyre_alloc_array(2 * count, sizeof(uint32_t))};
    layout->slots = vyre_alloc_zeroed(count, sizeof *layout->slots);
    layout->spare = vyre_alloc_zeroed(count, sizeof *layout->spare);
    bool done = last && a.free_slots && a.expiring && a.next && layout->slots && layout->spare;
    if (done) {
        memset(a.expiring, 0xff, count * sizeof *a.expiring);
        find_last_uses(ir, phase, last);
        assign_slots(&a, ir, phase, last);
    }
    vyre_free(last);
    vyre_free(a.free_slots);
    vyre_free(a.expiring);
    vyre_free(a.next);
    return done;
}

static bool make_evaluators(phase_layout *layout, const vyre_ir *ir, const vyre_phase *phase) {
    layout->evaluators = vyre_alloc_zeroed(phase->end - phase->first, sizeof *layout->evaluators);
    uint32_t ends[VYRE_LIMIT_NESTING + 1], depth = 0;
    for (uint32_t at = phase->first; at < phase->end && layout->evaluators; at++) {
        const vyre_inst *inst = &ir->insts[at];
        const vyre_op_info *info = vyre_lookup_op(inst->op);
        while (depth && ends[depth - 1] == at) {
            depth--;
        }
        if (info->effects & VYRE_EFFECT_BLOCK) {
            ends[depth++] = vyre_owner_end(ir, at);
            layout->depth = depth > layout->depth ? depth : layout->depth;
        }
        if (vyre_op_is_loop(inst->op)) {
            vyre_list values = vyre_inst_operands(ir, inst);
            layout->most_carried =
                values.count > layout->most_carried ? values.count : layout->most_carried;
        }
        if (!info->effects && info->rule > VYRE_RULE_OWN) {
            layout->evaluators[at - phase->first] = vyre_eval_find(
                vyre_inst_op(inst), vyre_operand_type(ir, inst->a), vyre_inst_type(inst));
        }
    }
    return layout->evaluators;
}

static void spread_constant(const phase_layout *layout, const vyre_const *row, uint8_t *to) {
    size_t bytes = vyre_type_bytes(vyre_const_type(row)), size = bytes * layout->lanes;
    memset(to, 0, (size_t)layout->lanes * REGISTER_BYTES);
    for (size_t k = 0; k < bytes; k++) {
        to[k] = (uint8_t)(row->bits >> (k * 8));
    }
    for (size_t done = bytes; done < size; done *= 2) {
        memcpy(to + done, to, done < size - done ? done : size - done);
    }
}

/* Constants are spread over all lanes once, so that operands all look alike: those of the phase,
 * since a program of many phases may have many in all. */
static bool make_constants(phase_layout *layout, const vyre_ir *ir, const vyre_phase *phase) {
    size_t stride = (size_t)layout->lanes * REGISTER_BYTES;
    bool *is_spread = vyre_alloc_zeroed(ir->const_count, sizeof *is_spread);
    layout->constants = vyre_alloc_array(ir->const_count, stride);
    bool made = is_spread && layout->constants;
    for (uint32_t at = phase->first; at < phase->end && made; at++) {
        vyre_list values = vyre_inst_operands(ir, &ir->insts[at]);
        for (uint32_t i = 0; i < values.count; i++) {
            if (vyre_operand_is_value(values.items[i])) {
                continue;
            }
            const vyre_const *row = vyre_operand_const(ir, values.items[i]);
            size_t number = (size_t)(row - ir->consts);
            if (!is_spread[number]) {
                spread_constant(layout, row, layout->constants + number * stride);
                is_spread[number] = true;
            }
        }
    }
    vyre_free(is_spread);
    return made;
}

static bool make_arrays(phase_layout *layout, const vyre_ir *ir, const vyre_phase *phase) {
    uint32_t count = phase->end_resource - phase->first_resource;
    layout->offsets = vyre_alloc_array(count, sizeof *layout->offsets);
    layout->lids = vyre_alloc_array((size_t)layout->lanes * 3, sizeof *layout->lids);
    if (!layout->offsets || !layout->lids) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const vyre_resource *row = &ir->resources[phase->first_resource + i];
        bool is_shared = row->kind == VYRE_RESOURCE_SHARED;
        uint64_t *total = is_shared ? &layout->shared_bytes : &layout->private_bytes;
        uint64_t bytes = vyre_resource_bytes(row);
        layout->offsets[i] = *total;
        *total += ((is_shared ? bytes : bytes * layout->lanes) + 7) / 8 * 8;
    }
    for (uint32_t lane = 0; lane < layout->lanes && phase->workgroup[0]; lane++) {
        layout->lids[lane] = lane % phase->workgroup[0];
        layout->lids[layout->lanes + lane] = lane / phase->workgroup[0] % phase->workgroup[1];
        layout->lids[2 * layout->lanes + lane] = lane / (phase->workgroup[0] * phase->workgroup[1]);
    }
    return true;
}

/* For each instruction: register, spare register, evaluator, and while they are handed out, seven
 * more words. */
uint64_t layout_bytes(const vyre_ir *ir, uint32_t phase, uint32_t lanes) {
    const vyre_phase *row = &ir->phases[phase];
    uint64_t insts = row->end - row->first, arrays = row->end_resource - row->first_resource;
    return insts * (9 * sizeof(uint32_t) + sizeof(vyre_evaluator)) +
           (uint64_t)ir->const_count * lanes * REGISTER_BYTES + arrays * sizeof(uint64_t) +
           (uint64_t)lanes * 3 * sizeof(uint32_t);
}

bool layout_init(phase_layout *layout, const vyre_ir *ir, uint32_t phase, uint32_t lanes) {
    const vyre_phase *row = &ir->phases[phase];
    memset(layout, 0, sizeof *layout);
    layout->lanes = lanes;
    if (make_slots(layout, ir, row) && make_evaluators(layout, ir, row) &&
        make_constants(layout, ir, row) && make_arrays(layout, ir, row)) {
        return true;
    }
    layout_deinit(layout);
    return false;
}

void layout_deinit(phase_layout *layout) {
    vyre_free(layout->slots);
    vyre_free(layout->spare);
    vyre_free(layout->evaluators);
    vyre_free(layout->constants);
    vyre_free(layout->lids);
    vyre_free(layout->offsets);
    memset(layout, 0, sizeof *layout);
}
