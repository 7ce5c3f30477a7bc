#include "pass/split_plan.h"

#include <stdlib.h>

#include "ir/cases.h"
#include "ir/lookup.h"
#include "pass/walk.h"

bool split_is_asked(const vyre_inst *inst) {
    switch (vyre_inst_op(inst)) {
    case VYRE_ANY_OF(PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE): return false;
    case VYRE_ANY_OF(SURROUNDINGS): return true;
    }
    return false;
}

static bool is_pure(uint32_t op) {
    return !(vyre_lookup_op(op)->effects & ~(uint32_t)VYRE_EFFECT_READ);
}

bool split_is_idle(const split *s, uint32_t inst) {
    uint32_t op = s->ir->insts[inst].op;
    return is_pure(op) && !split_at(s, inst)->needed && op != VYRE_OP_ARG && op != VYRE_OP_RESULT;
}

void split_add_segment(split *s, uint32_t at) {
    if (split_at(s, at)->segment == VYRE_NONE) {
        split_at(s, at)->segment = (uint32_t)s->segments.count;
        if (!vyre_vec_push(&s->segments, (split_segment){.at = at})) {
            split_at(s, at)->segment = VYRE_NONE;
            s->failed = true;
        }
    }
}

/* Instructions */

/* Blocks that hold grid barriers, and where the ends of blocks lead. */
static void find_cuts(split *s) {
    vyre_walk walk;
    uint32_t at;
    vyre_walk_begin(&walk, s->ir, s->phase);
    while (vyre_walk_next(&walk, &at)) {
        const vyre_inst *inst = &s->ir->insts[at];
        *split_at(s, at) = (split_inst){.home = VYRE_NONE,
                                        .alias = VYRE_NONE,
                                        .slot = VYRE_NONE,
                                        .segment = VYRE_NONE,
                                        .target = VYRE_NONE};
        if (vyre_inst_effects(inst) & VYRE_EFFECT_END) {
            split_at(s, at)->target = walk.stack[vyre_walk_target(&walk, inst->op)].owner;
        }
        for (uint32_t i = 1; inst->op == VYRE_OP_GRID_BARRIER && i < walk.depth; i++) {
            split_at(s, walk.stack[i].owner)->is_cut = true;
        }
    }
}

static void find_needed(split *s) {
    for (uint32_t at = s->phase->end; at-- > s->phase->first;) {
        const vyre_inst *inst = &s->ir->insts[at];
        if (is_pure(inst->op) && !split_at(s, at)->needed) {
            continue;
        }
        vyre_list values = vyre_inst_operands(s->ir, inst);
        for (uint32_t i = 0; i < values.count; i++) {
            if (vyre_operand_is_value(values.items[i])) {
                split_at(s, values.items[i])->needed = true;
            }
        }
    }
}

static void number_arrays(split *s) {
    uint32_t shared = 0;
    for (uint32_t i = s->phase->first_resource; i < s->phase->end_resource; i++) {
        bool is_shared = s->ir->resources[i].kind == VYRE_RESOURCE_SHARED;
        *split_array_of(s, i) = (split_array){.segment = VYRE_NONE,
                                              .scratch = VYRE_NONE,
                                              .bit = is_shared ? (uint64_t)1 << shared++ : 0};
    }
}

/* Segments */

static int compare_segments(const void *left, const void *right) {
    uint32_t a = ((const split_segment *)left)->at, b = ((const split_segment *)right)->at;
    return a < b ? -1 : a > b;
}

static void find_segments(split *s) {
    split_add_segment(s, s->phase->first);
    for (size_t i = 0; i < s->segments.count && !s->failed; i++) {
        s->now = s->segments.items[i].at;
        split_walk(s);
    }
    if (s->failed) {
        return;
    }
    qsort(s->segments.items, s->segments.count, sizeof *s->segments.items, compare_segments);
    for (uint32_t i = 0; i < s->segments.count; i++) {
        split_segment *segment = &s->segments.items[i];
        split_at(s, segment->at)->segment = i;
        segment->gate = segment->sweep = VYRE_NONE;
        segment->level = (uint8_t)split_control(s, segment->at);
        segment->partial = segment->level != VYRE_UNIFORM_GRID;
    }
}

/* The outermost loops that are taken apart, and the segments in them. */
static void find_sweeps(split *s) {
    uint32_t end = s->phase->first;
    size_t next = 0;
    for (uint32_t at = s->phase->first; at < s->phase->end && !s->failed; at++) {
        bool is_loop = vyre_op_is_loop(s->ir->insts[at].op);
        if (at < end || !is_loop || !split_at(s, at)->is_cut) {
            continue;
        }
        end = vyre_owner_end(s->ir, at);
        s->failed |= !vyre_vec_push(&s->sweeps, (split_sweep){.loop = at});
        for (; next < s->segments.count && s->segments.items[next].at < end; next++) {
            if (s->segments.items[next].at > at) {
                s->segments.items[next].sweep = (uint32_t)s->sweeps.count - 1;
            }
        }
    }
}

/* Whether the head of a sweep runs first in each round of it. */
static bool head_leads(const split *s, uint32_t sweep) {
    uint32_t head = split_head(s, s->sweeps.items[sweep].loop);
    for (size_t i = 0; i < s->jumps.count; i++) {
        const split_jump *jump = &s->jumps.items[i];
        if (jump->to != VYRE_NONE && jump->to != head && jump->to <= jump->from &&
            split_segment_at(s, jump->to)->sweep == sweep) {
            return false;
        }
    }
    return true;
}

/* Whether everybody who comes to the phase, or to the head of the sweep, comes to the segment. */
static bool always_runs(const split *s, const split_segment *segment) {
    uint32_t first = s->phase->first;
    if (segment->sweep != VYRE_NONE) {
        first = split_head(s, s->sweeps.items[segment->sweep].loop);
        if (!s->sweeps.items[segment->sweep].head_leads) {
            return false;
        }
    }
    for (size_t i = 0; i < s->jumps.count; i++) {
        const split_jump *jump = &s->jumps.items[i];
        bool before = jump->from >= first && jump->from < segment->at;
        bool back = segment->sweep != VYRE_NONE && jump->to <= jump->from;
        if (before && (jump->to == VYRE_NONE || jump->to > segment->at || back)) {
            return false;
        }
    }
    return true;
}

static void place_gates(split *s) {
    for (size_t i = 0; i < s->sweeps.count; i++) {
        s->sweeps.items[i].gate = s->gate_count++;
        s->sweeps.items[i].head_leads = head_leads(s, (uint32_t)i);
    }
    for (size_t i = 0; i < s->segments.count; i++) {
        if (!always_runs(s, &s->segments.items[i])) {
            s->segments.items[i].gate = s->gate_count++;
        }
    }
}

/* What is kept */

/* Whether a use needs the value from outside of its segment. */
static bool comes_in(const split *s, const split_use *use) {
    return (use->target == VYRE_NONE || split_at(s, use->target)->kept) &&
           split_at(s, use->value)->home != use->segment;
}

static int compare_uses(const void *left, const void *right) {
    const split_use *a = left, *b = right;
    if (a->segment != b->segment) {
        return a->segment < b->segment ? -1 : 1;
    }
    return a->value < b->value ? -1 : a->value > b->value;
}

/* Leaves in `uses` what comes into each segment, once each. */
static void find_kept(split *s) {
    bool changed;
    do {
        changed = false;
        for (size_t i = s->uses.count; i-- > 0;) {
            split_inst *inst = split_at(s, s->uses.items[i].value);
            if (!inst->kept && comes_in(s, &s->uses.items[i])) {
                inst->kept = changed = true;
            }
        }
    } while (changed);
    size_t count = 0;
    for (size_t i = 0; i < s->uses.count; i++) {
        if (comes_in(s, &s->uses.items[i])) {
            s->uses.items[count++] = s->uses.items[i];
        }
    }
    if (count) {
        qsort(s->uses.items, count, sizeof *s->uses.items, compare_uses);
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!kept || compare_uses(&s->uses.items[kept - 1], &s->uses.items[i]) != 0) {
            s->uses.items[kept++] = s->uses.items[i];
        }
    }
    s->uses.count = kept;
}

/* Shared arrays whose contents cross a cut that is no barrier: written before, read behind. */
static uint64_t find_shared(split *s) {
    uint64_t crossing;
    bool changed;
    do {
        crossing = 0;
        changed = false;
        for (size_t i = s->jumps.count; i-- > 0;) {
            const split_jump *jump = &s->jumps.items[i];
            if (jump->to == VYRE_NONE || jump->behind_barrier) {
                continue;
            }
            split_segment *from = split_segment_at(s, jump->from);
            uint64_t live = split_segment_at(s, jump->to)->shared_live;
            changed |= (live & ~from->shared_live) != 0;
            from->shared_live |= live;
            crossing |= from->shared_writes & live;
        }
    } while (changed);
    return crossing;
}

static void find_kept_arrays(split *s) {
    uint64_t crossing = find_shared(s);
    for (size_t i = 0; i < s->jumps.count && crossing; i++) {
        /* They are emptied there, which takes a barrier of the workgroup. */
        split_segment_at(s, s->jumps.items[i].from)->has_syncs |= s->jumps.items[i].behind_barrier;
    }
    for (uint32_t i = s->phase->first_resource; i < s->phase->end_resource; i++) {
        split_array *array = split_array_of(s, i);
        if (array->bit) {
            array->kept = array->bit & crossing;
        } else if (array->segment != VYRE_NONE && array->written) {
            bool runs_again = split_segment_at(s, array->segment)->sweep != VYRE_NONE;
            array->kept = array->in_several || (runs_again && !array->cleared_first);
        }
    }
}

bool split_plan(split *s) {
    uint32_t phase = s->ir->steps[s->step].size;
    s->phase = &s->ir->phases[phase];
    s->gates = s->next = s->count = VYRE_NONE;
    s->insts = vyre_alloc_array(s->phase->end - s->phase->first, sizeof *s->insts);
    s->arrays =
        vyre_alloc_array(s->phase->end_resource - s->phase->first_resource, sizeof *s->arrays);
    if (!s->insts || !s->arrays ||
        !vyre_uniformity_init(&s->uniformity, s->ir, phase, false, true)) {
        return false;
    }
    find_cuts(s);
    find_needed(s);
    number_arrays(s);
    find_segments(s);
    if (!s->failed) {
        find_sweeps(s);
    }
    if (s->failed) {
        return false;
    }
    place_gates(s);
    find_kept(s);
    find_kept_arrays(s);
    return true;
}
