#include "backend/cpu/codegen/analyse.h"

#include "base/alloc.h"
#include "ir/cases.h"
#include "ir/uniformity.h"
#include "pass/walk.h"

typedef struct walk {
    cpu_facts *f;
    const vyre_ir *ir;
    vyre_uniformity_map map;
    vyre_walk at;
    bool changed;
} walk;

static cpu_fact *fact(walk *w, uint32_t inst) {
    return cpu_fact_of(w->f, inst);
}

static void set(walk *w, bool *flag, bool value) {
    w->changed |= value && !*flag;
    *flag |= value;
}

static void walk_code(walk *w, void (*visit)(walk *w, uint32_t inst)) {
    uint32_t inst;
    vyre_walk_begin(&w->at, w->ir, w->f->phase);
    while (vyre_walk_next(&w->at, &inst)) {
        visit(w, inst);
    }
}

/* Lanes */

static bool position_varies(const cpu_facts *f, uint32_t dimension) {
    const uint32_t *size = f->phase->workgroup;
    bool same_in_row = dimension && f->rows_are_chunks; /* y and z */
    return !same_in_row && (!size[0] || size[dimension] > 1);
}

static bool varies(const void *user, uint32_t inst, bool operands) {
    const cpu_facts *f = user;
    const vyre_inst *i = &f->ir->insts[inst];
    switch (vyre_inst_op(i)) {
    case VYRE_ONE_OF(GID, LID): return position_varies(f, i->a);
    case VYRE_OP_SUBGROUP_ID: return f->lanes > f->phase->subgroup;
    case VYRE_OP_LOAD:
        return operands || vyre_access_array(f->ir, i)->kind == VYRE_RESOURCE_PRIVATE;
    case VYRE_ONE_OF(IN_DOMAIN, LANE, SHUFFLE, SHUFFLE_XOR, SHUFFLE_UP, SHUFFLE_DOWN, SCAN,
                     SCAN_EXCLUSIVE, RESULT): /* of an operation that gives several */
    case VYRE_ONE_OF(ATOMIC_STORE, ATOMIC_ADD, ATOMIC_SUB, ATOMIC_AND, ATOMIC_OR, ATOMIC_XOR,
                     ATOMIC_MIN, ATOMIC_MAX, ATOMIC_EXCHANGE, ATOMIC_CAS):
        return true;
    case VYRE_ONE_OF(UNIFORM_LOAD, REDUCE, BROADCAST):
    case VYRE_ANY_OF(VOTE): return false;
    case VYRE_ONE_OF(PARAM, WID, NUM_WORKGROUPS, ITERATION, LEN, STORE, CLEAR, ATOMIC_LOAD,
                     MATRIX_MAD, ARG):
    case VYRE_ANY_OF(PURE, ELEMENTARY, BARRIER, BLOCK, JUMP, NONE): break;
    }
    return operands;
}

/* Groups and regions */

/* Whether the chunks of a workgroup enter and leave a block as one. */
static bool is_group(const void *user, uint32_t owner) {
    const cpu_facts *f = user;
    return owner == VYRE_NONE ? f->has_groups : cpu_fact_of(f, owner)->group;
}

static bool waits(uint32_t op) {
    return op == VYRE_OP_BARRIER || op == VYRE_OP_UNIFORM_LOAD;
}

static bool is_group_value(const walk *w, uint32_t operand) {
    return !vyre_operand_is_value(operand) ||
           w->map.levels[operand - w->f->phase->first] >= VYRE_UNIFORM_WORKGROUP;
}

/* Blocks with a wait inside, and blocks from which the workgroup as a whole leaves those. */
static void visit_group(walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    if (waits(i->op)) {
        w->f->has_groups = true;
        for (uint32_t level = 1; level < w->at.depth; level++) {
            set(w, &fact(w, w->at.stack[level].owner)->group, true);
        }
    }
    uint32_t effects = vyre_inst_effects(i);
    if (!w->f->has_groups || !(effects & VYRE_EFFECT_END) || i->op == VYRE_OP_YIELD) {
        return;
    }
    uint32_t target = vyre_walk_target(&w->at, i->op), owner = w->at.stack[target].owner;
    bool to_group = owner == VYRE_NONE || fact(w, owner)->group;
    bool together = true;
    for (uint32_t level = target + 1; level < w->at.depth; level++) {
        const vyre_inst *block = &w->ir->insts[w->at.stack[level].owner];
        /* A loop in between that the workgroup does not leave as one is left lane by lane. */
        together = together &&
                   (block->op == VYRE_OP_IF
                        ? is_group_value(w, block->a)
                        : fact(w, w->at.stack[level].owner)->group || block->op == VYRE_OP_INLINE);
    }
    if (to_group && together && i->op != VYRE_OP_UNREACHABLE) {
        for (uint32_t level = target + 1; level < w->at.depth; level++) {
            set(w, &fact(w, w->at.stack[level].owner)->group, true);
        }
    }
}

/* Numbers the regions, and finds out which values are needed in others. */
static void visit_region(walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    cpu_fact *own = fact(w, inst);
    uint32_t top = w->at.stack[w->at.depth - 1].owner;
    bool in_group = top == VYRE_NONE || fact(w, top)->group;
    uint32_t effects = vyre_inst_effects(i);
    bool is_own =
        (effects & VYRE_EFFECT_BLOCK && own->group) || (effects & VYRE_EFFECT_END && in_group);
    if (effects & VYRE_EFFECT_END && in_group && w->f->has_groups) {
        own->group = true;
    }
    bool owned_by_group =
        (i->op == VYRE_OP_ARG || i->op == VYRE_OP_RESULT) && fact(w, vyre_pick_owner(i))->group;
    if (w->f->has_groups && (waits(i->op) || is_own || owned_by_group)) {
        w->f->region_count++;
    }
    own->region = w->f->region_count;
    if (w->f->has_groups && owned_by_group) {
        own->region = CPU_NO_REGION;
        own->crosses = true;
    }
    vyre_list values = vyre_inst_operands(w->ir, i);
    for (uint32_t k = 0; k < values.count; k++) {
        if (!vyre_operand_is_value(values.items[k])) {
            continue;
        }
        cpu_fact *used = fact(w, values.items[k]);
        used->uses++;
        used->crosses = used->crosses || used->region != own->region ||
                        (w->f->has_groups && (is_own || waits(i->op)));
    }
    if (w->f->has_groups && i->op == VYRE_OP_UNIFORM_LOAD) {
        own->region = CPU_NO_REGION; /* loaded between two regions */
        own->crosses = true;
    }
    if (w->f->has_groups && (waits(i->op) || is_own)) {
        w->f->region_count++;
    }
}

bool cpu_analyse(cpu_facts *f, const vyre_ir *ir, uint32_t phase, uint32_t lanes) {
    *f = (cpu_facts){.ir = ir, .phase = &ir->phases[phase], .lanes = lanes};
    uint32_t count = f->phase->end - f->phase->first;
    const uint32_t *size = f->phase->workgroup;
    f->rows_are_chunks = !size[0] || size[0] % f->lanes == 0 || (size[1] == 1 && size[2] == 1);
    f->facts = vyre_alloc_zeroed(count, sizeof *f->facts);
    walk w = {.f = f, .ir = ir};
    bool made = f->facts && vyre_uniformity_init(&w.map, ir, phase, false, false);
    for (w.changed = made; w.changed;) {
        w.changed = false;
        walk_code(&w, visit_group);
    }
    const vyre_divergence_rules rules = {
        .varies = varies, .is_joint = is_group, .user = f, .is_alone = lanes == 1};
    made = made && vyre_divergence_init(&f->divergence, ir, f->phase, &rules) &&
           vyre_nans_init(&f->nans, ir, f->phase, is_group, f);
    if (made) {
        walk_code(&w, visit_region);
        f->region_count++;
    } else {
        cpu_facts_free(f);
    }
    vyre_uniformity_deinit(&w.map);
    return made;
}

void cpu_facts_free(cpu_facts *f) {
    vyre_free(f->facts);
    vyre_divergence_deinit(&f->divergence);
    vyre_nans_deinit(&f->nans);
    f->facts = NULL;
}
