#include "pass/access.h"

#include "base/vec.h"
#include "ir/lookup.h"

/* Accesses that may still become neighbours of others. */
typedef struct open_access {
    uint32_t inst;
    uint32_t since; /* a load of a field: behind the last instruction that writes the field */
    const vyre_range *range;
} open_access;

typedef struct walk {
    const vyre_ir *ir;
    const vyre_phase *phase;
    const vyre_ranges *ranges;
    vyre_accesses *out;
    VYRE_VEC(open_access) open; /* of the block at hand */
    uint32_t *written;          /* by field: behind the last instruction so far that writes it */
    VYRE_VEC(vyre_access_group) rows;
    bool no_memory;
} walk;

static bool touches_memory(const vyre_inst *inst) {
    return vyre_inst_effects(inst) & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE);
}

static bool is_load(const vyre_inst *inst) {
    return inst->op == VYRE_OP_LOAD;
}

static const vyre_resource *array_of(const walk *w, const open_access *at) {
    return vyre_access_array(w->ir, &w->ir->insts[at->inst]);
}

/* The number of an element: in its array, or of a field in its record. */
static int64_t element_of(const walk *w, const open_access *at) {
    const vyre_resource *row = array_of(w, at);
    return vyre_resource_is_field(row)
               ? (int64_t)(row->length / vyre_type_bytes(vyre_resource_type(row)))
               : at->range->offset;
}

/* Whether two accesses may be neighbours: of the same kind, to the same array and place, or to the
 * same record. */
static bool are_alike(const walk *w, const open_access *left, const open_access *right) {
    const vyre_inst *a = &w->ir->insts[left->inst], *b = &w->ir->insts[right->inst];
    const vyre_resource *one = array_of(w, left), *other = array_of(w, right);
    if (a->op != b->op || left->range->place != right->range->place) {
        return false;
    }
    if (!vyre_resource_is_field(one) || !vyre_resource_is_field(other)) {
        return vyre_access_resource(a) == vyre_access_resource(b);
    }
    uint32_t bytes = vyre_type_bytes(vyre_resource_type(one));
    return one->size == other->size && left->range->offset == right->range->offset &&
           bytes == vyre_type_bytes(vyre_resource_type(other)) &&
           (bytes >= 4 || one->type == other->type);
}

/* Whether loads of fields can all be done with the first of them. */
static bool go_together(const open_access *const *members, uint32_t count) {
    uint32_t head = VYRE_NONE, since = 0;
    for (uint32_t k = 0; k < count; k++) {
        head = members[k]->inst < head ? members[k]->inst : head;
        since = members[k]->since > since ? members[k]->since : since;
    }
    return since <= head;
}

/* One run of neighbours, the lowest in `members` first. */
static void add_group(walk *w, const open_access *const *members, uint32_t count) {
    vyre_access_group group = {.head = VYRE_NONE, .count = count, .in_bounds = true};
    group.fields = vyre_resource_is_field(array_of(w, members[0]));
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

/* Puts together what lies side by side among accesses from `from` on that are like the first of
 * them; the rest stays. */
static void close_like(walk *w, size_t from) {
    enum { MOST = 64 };
    const open_access *same[MOST];
    uint32_t count = 0;
    for (size_t i = from; i < w->open.count && count < MOST; i++) {
        const open_access *at = &w->open.items[i];
        if (!are_alike(w, &w->open.items[from], at)) {
            continue;
        }
        uint32_t k = count;
        while (k && element_of(w, same[k - 1]) > element_of(w, at)) {
            k--;
        }
        if (k && element_of(w, same[k - 1]) == element_of(w, at)) {
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
               element_of(w, same[end]) == element_of(w, same[end - 1]) + 1 &&
               go_together(same + first, end - first + 1)) {
            end++;
        }
        if (end - first > 1) {
            add_group(w, same + first, end - first);
        }
        first = end;
    }
}

static bool is_field(const walk *w, uint32_t resource) {
    return vyre_resource_is_field(&w->ir->resources[resource]);
}

/* Whether closing accesses to a resource (VYRE_NONE: all), of loads or stores, means this one. A
 * field stands for all fields of its buffer. */
static bool is_meant(const walk *w, const vyre_inst *inst, uint32_t resource, bool loads,
                     bool stores) {
    uint32_t own = vyre_access_resource(inst);
    bool same = resource == VYRE_NONE || own == resource ||
                (is_field(w, resource) && is_field(w, own) &&
                 w->ir->resources[own].size == w->ir->resources[resource].size);
    return same && (is_load(inst) ? loads : stores);
}

/* Ends such accesses from `from` on. */
static void close_some(walk *w, size_t from, uint32_t resource, bool loads, bool stores) {
    for (size_t i = from; i < w->open.count; i++) {
        const open_access *at = &w->open.items[i];
        bool is_first = is_meant(w, &w->ir->insts[at->inst], resource, loads, stores);
        for (size_t k = from; k < i && is_first; k++) {
            is_first = !are_alike(w, &w->open.items[k], at);
        }
        if (is_first) {
            close_like(w, i);
        }
    }
    size_t kept = from;
    for (size_t i = from; i < w->open.count; i++) {
        if (!is_meant(w, &w->ir->insts[w->open.items[i].inst], resource, loads, stores)) {
            w->open.items[kept++] = w->open.items[i];
        }
    }
    w->open.count = kept;
}

/* Ends what an access to an array, at instruction `at`, must not be moved over. Loads of a field
 * may stay open where it is written: what is loaded later does not join them. */
static void close_touched(walk *w, size_t from, uint32_t at, uint32_t resource, bool loads,
                          bool stores) {
    if (!is_field(w, resource)) {
        close_some(w, from, resource, loads, stores);
        return;
    }
    bool is_open = false;
    for (size_t i = from; i < w->open.count && !is_open; i++) {
        const vyre_inst *inst = &w->ir->insts[w->open.items[i].inst];
        is_open = !is_load(inst) && vyre_access_resource(inst) == resource;
    }
    if (is_open && stores) {
        close_some(w, from, resource, false, true);
    }
    w->written[resource] = loads ? at + 1 : w->written[resource];
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
            close_touched(w, from, inst, vyre_access_resource(i), effects & VYRE_EFFECT_WRITE,
                          true);
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
    uint32_t resource = vyre_access_resource(i), since = w->written[resource];
    close_touched(w, from, inst, resource, !is_load(i), is_load(i) || clears);
    if (i->op == VYRE_OP_STORE) {
        close_overwritten(w, from, inst);
    }
    if (!clears && range->place != VYRE_NONE && w->open.count - from < MOST_OPEN) {
        /* What is written behind the access was seen with the block around it. */
        bool counts = is_load(i) && is_field(w, resource) && since <= inst;
        open_access row = {inst, counts ? since : 0, range};
        w->no_memory = !vyre_vec_push(&w->open, row);
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
    w.written = vyre_alloc_zeroed(ir->resource_count + 1, sizeof *w.written);
    w.no_memory = !accesses->groups || !w.written;
    for (uint32_t k = 0; k < count && !w.no_memory; k++) {
        accesses->groups[k] = VYRE_NONE;
    }
    walk_block(&w, vyre_phase_block(w.phase));
    vyre_vec_free(&w.open);
    vyre_free(w.written);
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
