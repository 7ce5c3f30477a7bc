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

static bool touches_memory(const vyre_inst *inst) {
    return vyre_inst_effects(inst) & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE);
}

static bool is_load(const vyre_inst *inst) {
    return inst->op == VYRE_OP_LOAD;
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
        if (vyre_access_resource(inst) != resource || inst->op != op || at->range->place != place) {
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

/* Whether closing accesses to a resource (VYRE_NONE: all), of loads or stores, means this one. */
static bool is_meant(const vyre_inst *inst, uint32_t resource, bool loads, bool stores) {
    return (resource == VYRE_NONE || vyre_access_resource(inst) == resource) &&
           (is_load(inst) ? loads : stores);
}

/* Ends such accesses from `from` on. */
static void close_some(walk *w, size_t from, uint32_t resource, bool loads, bool stores) {
    for (size_t i = from; i < w->open.count; i++) {
        const open_access *at = &w->open.items[i];
        const vyre_inst *inst = &w->ir->insts[at->inst];
        uint32_t own = vyre_access_resource(inst);
        bool is_first = is_meant(inst, resource, loads, stores);
        for (size_t k = from; k < i && is_first; k++) {
            const vyre_inst *before = &w->ir->insts[w->open.items[k].inst];
            is_first = vyre_access_resource(before) != own || before->op != inst->op ||
                       w->open.items[k].range->place != at->range->place;
        }
        if (is_first) {
            close_like(w, i, own, inst->op, at->range->place);
        }
    }
    size_t kept = from;
    for (size_t i = from; i < w->open.count; i++) {
        if (!is_meant(&w->ir->insts[w->open.items[i].inst], resource, loads, stores)) {
            w->open.items[kept++] = w->open.items[i];
        }
    }
    w->open.count = kept;
}

/* A store may go over what an earlier one of the array wrote, unless it is to its neighbour. */
static void close_overwritten(walk *w, size_t from, uint32_t inst) {
    const vyre_range *range = vyre_range_of(w->ranges, inst);
    uint32_t resource = vyre_access_resource(&w->ir->insts[inst]);
    for (size_t i = from; i < w->open.count; i++) {
        const open_access *at = &w->open.items[i];
        const vyre_inst *before = &w->ir->insts[at->inst];
        if (vyre_access_resource(before) == resource && before->op == VYRE_OP_STORE &&
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
    block_effects found = {.leaves = w->ir->insts[owner].op == VYRE_OP_LOOP};
    vyre_block blocks = vyre_owner_blocks(w->ir, owner);
    uint32_t loop_end = vyre_op_is_loop(w->ir->insts[owner].op) ? blocks.end : 0;
    for (uint32_t inst = blocks.first; inst < blocks.end; inst++) {
        const vyre_inst *i = &w->ir->insts[inst];
        uint32_t effects = vyre_inst_effects(i);
        if (vyre_op_is_loop(i->op) && vyre_owner_end(w->ir, inst) > loop_end) {
            loop_end = vyre_owner_end(w->ir, inst);
        }
        bool to_loop = i->op == VYRE_OP_BREAK || i->op == VYRE_OP_CONTINUE;
        found.leaves |= (to_loop && inst >= loop_end) || i->op == VYRE_OP_RETURN ||
                        i->op == VYRE_OP_UNREACHABLE || i->op == VYRE_OP_LOOP;
        found.waits |= (effects & (VYRE_EFFECT_SYNC | VYRE_EFFECT_ATOMIC)) != 0;
        if (touches_memory(i)) {
            close_some(w, from, vyre_access_resource(i), effects & VYRE_EFFECT_WRITE, true);
        }
    }
    return found;
}

static void walk_block(walk *w, vyre_block block);

static void walk_owner(walk *w, size_t from, uint32_t owner) {
    block_effects found = effects_of_block(w, from, owner);
    if (found.leaves || found.waits) {
        close_some(w, from, VYRE_NONE, true, true);
    }
    if (w->ir->insts[owner].op == VYRE_OP_IF) {
        walk_block(w, vyre_then_block(w->ir, owner));
        walk_block(w, vyre_else_block(w->ir, owner));
    } else {
        walk_block(w, vyre_body_block(w->ir, owner));
    }
}

static void walk_access(walk *w, size_t from, uint32_t inst) {
    enum { MOST_OPEN = 256 };
    const vyre_inst *i = &w->ir->insts[inst];
    const vyre_range *range = vyre_range_of(w->ranges, inst);
    bool clears = i->op == VYRE_OP_CLEAR;
    close_some(w, from, vyre_access_resource(i), !is_load(i), is_load(i) || clears);
    if (i->op == VYRE_OP_STORE) {
        close_overwritten(w, from, inst);
    }
    bool is_dense = !vyre_resource_is_field(vyre_access_array(w->ir, i));
    if (!clears && is_dense && range->place != VYRE_NONE && w->open.count - from < MOST_OPEN) {
        w->no_memory = !vyre_vec_push(&w->open, (open_access){inst, range});
    }
}

static void walk_block(walk *w, vyre_block block) {
    size_t from = w->open.count;
    for (uint32_t inst = block.first; inst < block.end && !w->no_memory;
         inst = vyre_inst_next(w->ir, inst)) {
        uint32_t effects = vyre_inst_effects(&w->ir->insts[inst]);
        if (effects & VYRE_EFFECT_BLOCK) {
            walk_owner(w, from, inst);
        } else if (effects & (VYRE_EFFECT_SYNC | VYRE_EFFECT_ATOMIC | VYRE_EFFECT_SUBGROUP)) {
            close_some(w, from, VYRE_NONE, true, true);
        } else if (touches_memory(&w->ir->insts[inst])) {
            walk_access(w, from, inst);
        }
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
    walk_block(&w, vyre_phase_block(w.phase));
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
