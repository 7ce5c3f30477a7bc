#include "pass/access.h"

#include "base/vec.h"
#include "ir/lookup.h"

/* Accesses that may still become neighbours of others. */
typedef struct open_access {
    uint32_t inst;
    const vyre_range *range;
} open_access;

typedef struct walk {
    const vyre_ir *ir;
    const vyre_phase *phase;
    const vyre_ranges *ranges;
    vyre_accesses *out;
    VYRE_VEC(open_access) open; /* of the block at hand */
    VYRE_VEC(vyre_access_group) rows;
    bool no_memory;
} walk;

static bool has_resource(uint32_t op) {
    uint32_t shape = vyre_lookup_op(op)->shape;
    return shape == VYRE_SHAPE_R_V1 || shape == VYRE_SHAPE_R_V2 || shape == VYRE_SHAPE_R_LIST ||
           (shape == VYRE_SHAPE_R && op == VYRE_OP_CLEAR);
}

/* One run of neighbours, the lowest in `members` first. */
static void add_group(walk *w, const open_access *const *members, uint32_t count) {
    vyre_access_group group = {.head = VYRE_NONE, .count = count, .in_bounds = true};
    uint64_t base = (uint64_t)members[0]->range->offset;
    bool power = !(count & (count - 1));
    group.aligned = power && base % count == 0 && members[0]->range->multiple % count == 0;
    for (uint32_t k = 0; k < count; k++) {
        group.members[k] = members[k]->inst;
        group.head = members[k]->inst < group.head ? members[k]->inst : group.head;
        group.in_bounds = group.in_bounds && members[k]->range->in_bounds;
        w->out->groups[members[k]->inst - w->phase->first] = (uint32_t)w->rows.count;
    }
    w->no_memory = w->no_memory || !vyre_vec_push(&w->rows, group);
}

/* Puts together what lies side by side among accesses from `from` on that are of the same kind, to
 * the same array and place as the first of them; the rest stays. */
static void close_like(walk *w, size_t from, uint32_t resource, uint32_t op, uint32_t place) {
    enum { MOST = 64 };
    const open_access *same[MOST];
    uint32_t count = 0;
    for (size_t i = from; i < w->open.count && count < MOST; i++) {
        const open_access *at = &w->open.items[i];
        const vyre_inst *inst = &w->ir->insts[at->inst];
        if (inst->a != resource || inst->op != op || at->range->place != place) {
            continue;
        }
        uint32_t k = count;
        while (k && same[k - 1]->range->offset > at->range->offset) {
            k--;
        }
        if (k && same[k - 1]->range->offset == at->range->offset) {
            continue; /* a second access to the same element goes by itself */
        }
        for (uint32_t m = count; m > k; m--) {
            same[m] = same[m - 1];
        }
        same[k] = at;
        count++;
    }
    for (uint32_t first = 0; first < count;) {
        uint32_t end = first + 1;
        while (end < count && end - first < VYRE_ACCESS_MEMBERS &&
               same[end]->range->offset == same[end - 1]->range->offset + 1) {
            end++;
        }
        if (end - first > 1) {
            add_group(w, same + first, end - first);
        }
        first = end;
    }
}

/* Ends the accesses from `from` on that `resource` tells (VYRE_NONE: all), of loads or stores. */
static void close_some(walk *w, size_t from, uint32_t resource, bool loads, bool stores) {
    for (size_t i = from; i < w->open.count; i++) {
        const open_access *at = &w->open.items[i];
        const vyre_inst *inst = &w->ir->insts[at->inst];
        bool is_load = inst->op == VYRE_OP_LOAD;
        bool is_meant =
            (resource == VYRE_NONE || inst->a == resource) && (is_load ? loads : stores);
        bool is_first = is_meant;
        for (size_t k = from; k < i && is_first; k++) {
            const vyre_inst *before = &w->ir->insts[w->open.items[k].inst];
            is_first = before->a != inst->a || before->op != inst->op ||
                       w->open.items[k].range->place != at->range->place;
        }
        if (is_first) {
            close_like(w, i, inst->a, inst->op, at->range->place);
        }
    }
    size_t kept = from;
    for (size_t i = from; i < w->open.count; i++) {
        const vyre_inst *inst = &w->ir->insts[w->open.items[i].inst];
        bool is_load = inst->op == VYRE_OP_LOAD;
        if (!((resource == VYRE_NONE || inst->a == resource) && (is_load ? loads : stores))) {
            w->open.items[kept++] = w->open.items[i];
        }
    }
    w->open.count = kept;
}

/* A store may go over what an earlier one of the array wrote, unless it is to its neighbour. */
static void close_overwritten(walk *w, size_t from, uint32_t inst) {
    const vyre_range *range = vyre_range_of(w->ranges, inst);
    uint32_t resource = w->ir->insts[inst].a;
    for (size_t i = from; i < w->open.count; i++) {
        const open_access *at = &w->open.items[i];
        const vyre_inst *before = &w->ir->insts[at->inst];
        if (before->a == resource && before->op == VYRE_OP_STORE &&
            (range->place == VYRE_NONE || at->range->place != range->place ||
             at->range->offset == range->offset)) {
            close_some(w, from, resource, false, true);
            return;
        }
    }
}

/* What a block does that stands between accesses. */
typedef struct block_effects {
    bool leaves, waits;
} block_effects;

static block_effects effects_of_block(walk *w, size_t from, uint32_t owner) {
    block_effects found = {0};
    uint32_t loop_end = 0;
    for (uint32_t inst = owner; inst < w->ir->insts[owner].c; inst++) {
        const vyre_inst *i = &w->ir->insts[inst];
        uint32_t effects = vyre_lookup_op(i->op)->effects;
        if ((i->op == VYRE_OP_FOR || i->op == VYRE_OP_LOOP) && i->c > loop_end) {
            loop_end = i->c;
        }
        bool to_loop = i->op == VYRE_OP_BREAK || i->op == VYRE_OP_CONTINUE;
        found.leaves |= (to_loop && inst >= loop_end) || i->op == VYRE_OP_RETURN ||
                        i->op == VYRE_OP_UNREACHABLE || i->op == VYRE_OP_LOOP;
        found.waits |= (effects & (VYRE_EFFECT_SYNC | VYRE_EFFECT_ATOMIC)) != 0;
        if (has_resource(i->op)) {
            close_some(w, from, i->a, effects & VYRE_EFFECT_WRITE, true);
        }
    }
    return found;
}

static void walk_block(walk *w, uint32_t first, uint32_t end) {
    enum { MOST_OPEN = 256 };
    size_t from = w->open.count;
    for (uint32_t inst = first; inst < end && !w->no_memory;) {
        const vyre_inst *i = &w->ir->insts[inst];
        uint32_t effects = vyre_lookup_op(i->op)->effects;
        bool is_block = effects & VYRE_EFFECT_BLOCK;
        if (is_block) {
            block_effects found = effects_of_block(w, from, inst);
            if (found.leaves || found.waits) {
                close_some(w, from, VYRE_NONE, true, true);
            }
            walk_block(w, inst + 1, i->op == VYRE_OP_IF ? i->b : i->c);
            if (i->op == VYRE_OP_IF) {
                walk_block(w, i->b, i->c);
            }
        } else if (effects & (VYRE_EFFECT_SYNC | VYRE_EFFECT_ATOMIC | VYRE_EFFECT_SUBGROUP)) {
            close_some(w, from, VYRE_NONE, true, true);
        } else if (has_resource(i->op)) {
            bool is_load = i->op == VYRE_OP_LOAD;
            const vyre_range *range = vyre_range_of(w->ranges, inst);
            close_some(w, from, i->a, !is_load, is_load || i->op == VYRE_OP_CLEAR);
            if (i->op == VYRE_OP_STORE) {
                close_overwritten(w, from, inst);
            }
            if (i->op != VYRE_OP_CLEAR && range->place != VYRE_NONE &&
                w->open.count - from < MOST_OPEN) {
                w->no_memory = !vyre_vec_push(&w->open, (open_access){inst, range});
            }
        }
        inst = is_block ? i->c : inst + 1;
    }
    close_some(w, from, VYRE_NONE, true, true);
}

bool vyre_accesses_init(vyre_accesses *accesses, const vyre_ir *ir, uint32_t phase,
                        const vyre_ranges *ranges) {
    walk w = {.ir = ir, .phase = &ir->phases[phase], .ranges = ranges, .out = accesses};
    uint32_t count = w.phase->end - w.phase->first;
    *accesses = (vyre_accesses){.first = w.phase->first, .count = count};
    accesses->groups = vyre_alloc_array(count, sizeof *accesses->groups);
    w.no_memory = !accesses->groups;
    for (uint32_t k = 0; k < count && !w.no_memory; k++) {
        accesses->groups[k] = VYRE_NONE;
    }
    walk_block(&w, w.phase->first, w.phase->end);
    vyre_vec_free(&w.open);
    accesses->rows = w.rows.items;
    accesses->group_count = (uint32_t)w.rows.count;
    if (w.no_memory) {
        vyre_accesses_deinit(accesses);
    }
    return !w.no_memory;
}

void vyre_accesses_deinit(vyre_accesses *accesses) {
    vyre_free(accesses->groups);
    vyre_free(accesses->rows);
    *accesses = (vyre_accesses){0};
}
