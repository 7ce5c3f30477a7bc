#include "backend/cpu/codegen/analyse.h"

#include "backend/cpu/codegen/write.h"
#include "base/alloc.h"
#include "ir/lookup.h"
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
    if (value && !*flag) {
        *flag = true;
        w->changed = true;
    }
}

/* One invocation alone has nobody to differ from. */
static void set_varying(walk *w, uint32_t inst, bool value) {
    set(w, &fact(w, inst)->varying, value && w->f->lanes > 1);
}

static bool varies(const walk *w, uint32_t operand) {
    return operand != VYRE_NONE && cpu_varies(w->f, operand);
}

static bool any_varies(walk *w, uint32_t inst) {
    const uint32_t *values;
    uint32_t count = vyre_inst_values(w->ir, &w->ir->insts[inst], &values);
    for (uint32_t i = 0; i < count; i++) {
        if (varies(w, values[i])) {
            return true;
        }
    }
    return false;
}

static bool *partial_of(walk *w, uint32_t level) {
    uint32_t owner = w->at.stack[level].owner;
    return owner == VYRE_NONE ? &w->f->partial : &fact(w, owner)->partial;
}

bool cpu_settles_late(const cpu_facts *f, uint32_t inst) {
    const vyre_inst *i = &f->ir->insts[inst];
    bool is_float = i->type == VYRE_TYPE_F32 || i->type == VYRE_TYPE_F64;
    return is_float && i->op == VYRE_OP_RESULT && vyre_lookup_is_loop(f->ir->insts[i->a].op) &&
           !cpu_fact_of(f, i->a)->group && !cpu_fact_of(f, inst)->kept;
}

/* Whether an operand may be a NaN that is not to be changed. */
static bool is_kept(const walk *w, uint32_t operand) {
    return operand & VYRE_CONSTANT ? vyre_walk_is_nan(&w->ir->consts[operand & ~VYRE_CONSTANT])
                                   : cpu_fact_of(w->f, operand)->kept;
}

/* Values that go into args or results. Where the way there is not everybody's, they vary. */
static void flow(walk *w, uint32_t inst, uint32_t first_to, bool apart) {
    const vyre_inst *i = &w->ir->insts[inst];
    for (uint32_t k = 0; k < i->b; k++) {
        uint32_t value = w->ir->operands[i->a + k];
        const cpu_fact *to = fact(w, first_to + k);
        set_varying(w, first_to + k, apart || varies(w, value));
        set(w, &fact(w, first_to + k)->kept, is_kept(w, value));
        if (!(value & VYRE_CONSTANT)) {
            set(w, &fact(w, value)->observed,
                to->observed && !cpu_settles_late(w->f, first_to + k));
        }
    }
}

/* A yield at the end of a loop's block, or a continue. */
static void flow_back(walk *w, uint32_t inst, uint32_t loop, bool apart) {
    const vyre_inst *i = &w->ir->insts[loop];
    uint32_t first = i->op == VYRE_OP_FOR ? loop + 2 : loop + 1;
    flow(w, inst, first, apart || fact(w, loop)->blends);
}

static void visit_jump(walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    uint32_t target = vyre_walk_target(&w->at, i->op), owner = w->at.stack[target].owner;
    uint32_t op = vyre_walk_owner_op(&w->at, target);
    bool is_end = i->op == VYRE_OP_YIELD; /* of its own block */
    bool apart = false;
    for (uint32_t level = w->at.depth; level-- > target;) {
        uint32_t at = w->at.stack[level].owner;
        bool inside = level != target;
        apart = apart || (inside && at != VYRE_NONE && fact(w, at)->divergent) ||
                (!is_end && *partial_of(w, level));
    }
    uint32_t top = w->at.stack[w->at.depth - 1].owner;
    bool in_group = top == VYRE_NONE || fact(w, top)->group;
    bool to_group = owner == VYRE_NONE || fact(w, owner)->group;
    if (w->f->has_groups && to_group && !in_group && i->op != VYRE_OP_UNREACHABLE) {
        apart = true; /* chunks part there, if not lanes */
    }
    if (!is_end) {
        set(w, &fact(w, inst)->divergent, apart);
    }
    if (!is_end && apart) { /* who is left goes on without them, up to the target */
        for (uint32_t level = target; level < w->at.depth; level++) {
            set(w, partial_of(w, level), true);
            uint32_t at = w->at.stack[level].owner;
            bool leaves = level != target || i->op == VYRE_OP_BREAK || i->op == VYRE_OP_RETURN;
            if (at != VYRE_NONE && vyre_lookup_is_loop(w->ir->insts[at].op) && leaves) {
                set(w, &fact(w, at)->divergent, true);
            }
        }
        if (op == VYRE_OP_INLINE) {
            set(w, &fact(w, owner)->divergent, true);
        }
        if (i->op == VYRE_OP_CONTINUE) {
            set(w, &fact(w, owner)->blends, true);
        }
    }
    if (i->op == VYRE_OP_UNREACHABLE || owner == VYRE_NONE) {
        return;
    }
    if (vyre_lookup_is_loop(op) && (i->op == VYRE_OP_YIELD || i->op == VYRE_OP_CONTINUE)) {
        flow_back(w, inst, owner, false);
    } else {
        flow(w, inst, w->ir->insts[owner].c, fact(w, owner)->divergent);
    }
}

/* Values carried into a loop, and out of a `for` whose range is used up. */
static void visit_loop(walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    const uint32_t *values = vyre_lookup_list(w->ir, i->a);
    bool is_for = i->op == VYRE_OP_FOR;
    uint32_t carried = is_for ? i->b - 3 : i->b, first = is_for ? inst + 2 : inst + 1;
    if (is_for) {
        set(w, &fact(w, inst)->divergent,
            !fact(w, inst)->group &&
                (varies(w, values[0]) || varies(w, values[1]) || varies(w, values[2])));
        set_varying(w, inst + 1, varies(w, values[0]) || varies(w, values[2]));
    }
    for (uint32_t k = 0; k < carried; k++) {
        uint32_t value = values[k + (is_for ? 3 : 0)];
        cpu_fact *arg = fact(w, first + k);
        set_varying(w, first + k, varies(w, value));
        set(w, &arg->kept, is_kept(w, value));
        if (!(value & VYRE_CONSTANT)) {
            set(w, &fact(w, value)->observed, arg->observed);
        }
        if (is_for) {
            set_varying(w, i->c + k, arg->varying || fact(w, inst)->divergent);
            set(w, &fact(w, i->c + k)->kept, arg->kept);
            set(w, &arg->observed,
                fact(w, i->c + k)->observed && !cpu_settles_late(w->f, i->c + k));
        }
    }
}

static bool position_varies(const walk *w, const vyre_inst *i) {
    const uint32_t *size = w->f->phase->workgroup;
    if (i->a == 0 || !w->f->rows_are_chunks) {
        return !size[0] || size[i->a] > 1;
    }
    return false; /* y and z are the same in a row */
}

static void visit_value(walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    cpu_fact *own = fact(w, inst);
    bool varying = any_varies(w, inst);
    switch (i->op) {
    case VYRE_OP_GID:
    case VYRE_OP_LID: varying = position_varies(w, i); break;
    case VYRE_OP_IN_DOMAIN:
    case VYRE_OP_LANE: varying = true; break;
    case VYRE_OP_SUBGROUP_ID: varying = w->f->lanes > w->f->phase->subgroup; break;
    case VYRE_OP_LOAD:
        varying = varying || w->ir->resources[i->a].kind == VYRE_RESOURCE_PRIVATE;
        break;
    case VYRE_OP_UNIFORM_LOAD:
    case VYRE_OP_BALLOT:
    case VYRE_OP_ANY:
    case VYRE_OP_ALL:
    case VYRE_OP_REDUCE:
    case VYRE_OP_BROADCAST: varying = false; break;
    case VYRE_OP_SHUFFLE:
    case VYRE_OP_SHUFFLE_XOR:
    case VYRE_OP_SHUFFLE_UP:
    case VYRE_OP_SHUFFLE_DOWN:
    case VYRE_OP_SCAN:
    case VYRE_OP_SCAN_EXCLUSIVE: varying = true; break;
    default: break;
    }
    uint32_t effects = vyre_op_info_of(i->op)->effects;
    if (effects & VYRE_EFFECT_ATOMIC && i->op != VYRE_OP_ATOMIC_LOAD) {
        varying = true;
    }
    set_varying(w, inst, varying);
    const uint32_t *values;
    uint32_t count = vyre_inst_values(w->ir, i, &values);
    set(w, &own->kept,
        i->op == VYRE_OP_SELECT ? is_kept(w, i->b) || is_kept(w, i->c)
                                : !vyre_walk_gives_any_nan(i->op, (vyre_type)i->type));
    for (uint32_t k = 0; k < count; k++) {
        if (values[k] & VYRE_CONSTANT) {
            continue;
        }
        set(w, &fact(w, values[k])->observed, vyre_walk_shows_bits(i->op, k, own->observed));
    }
}

static void walk_code(walk *w, void (*visit)(walk *w, uint32_t inst)) {
    uint32_t inst;
    vyre_walk_begin(&w->at, w->ir, w->f->phase);
    while (vyre_walk_next(&w->at, &inst)) {
        visit(w, inst);
    }
}

static void visit_flow(walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    uint32_t effects = vyre_op_info_of(i->op)->effects;
    if (effects & VYRE_EFFECT_END) {
        visit_jump(w, inst);
    } else if (vyre_lookup_is_loop(i->op)) {
        visit_loop(w, inst);
    } else if (i->op == VYRE_OP_IF) {
        set(w, &fact(w, inst)->divergent, !fact(w, inst)->group && varies(w, i->a));
    } else if (vyre_lookup_is_grouped(w->ir, i)) {
        set_varying(w, inst, true);
    } else if (i->op != VYRE_OP_INLINE && i->op != VYRE_OP_ARG && i->op != VYRE_OP_RESULT) {
        visit_value(w, inst);
    }
}

static bool waits(uint32_t op) {
    return op == VYRE_OP_BARRIER || op == VYRE_OP_UNIFORM_LOAD;
}

static bool is_group_value(const walk *w, uint32_t operand) {
    return operand & VYRE_CONSTANT ||
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
    uint32_t effects = vyre_op_info_of(i->op)->effects;
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
    uint32_t effects = vyre_op_info_of(i->op)->effects;
    bool is_group =
        (effects & VYRE_EFFECT_BLOCK && own->group) || (effects & VYRE_EFFECT_END && in_group);
    if (effects & VYRE_EFFECT_END && in_group && w->f->has_groups) {
        own->group = true;
    }
    bool owned_by_group = (i->op == VYRE_OP_ARG || i->op == VYRE_OP_RESULT) && fact(w, i->a)->group;
    if (w->f->has_groups && (waits(i->op) || is_group || owned_by_group)) {
        w->f->region_count++;
    }
    own->region = w->f->region_count;
    if (w->f->has_groups && owned_by_group) {
        own->region = CPU_NO_REGION;
        own->crosses = true;
    }
    const uint32_t *values;
    uint32_t count = vyre_inst_values(w->ir, i, &values);
    for (uint32_t k = 0; k < count; k++) {
        if (values[k] & VYRE_CONSTANT) {
            continue;
        }
        cpu_fact *used = fact(w, values[k]);
        used->uses++;
        used->crosses = used->crosses || used->region != own->region ||
                        (w->f->has_groups && (is_group || waits(i->op)));
    }
    if (w->f->has_groups && i->op == VYRE_OP_UNIFORM_LOAD) {
        own->region = CPU_NO_REGION; /* loaded between two regions */
        own->crosses = true;
    }
    if (w->f->has_groups && (waits(i->op) || is_group)) {
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
    if (!f->facts || !vyre_uniformity_init(&w.map, ir, phase, false)) {
        cpu_facts_free(f);
        return false;
    }
    do {
        w.changed = false;
        walk_code(&w, visit_group);
    } while (w.changed);
    do {
        w.changed = false;
        walk_code(&w, visit_flow);
    } while (w.changed);
    walk_code(&w, visit_region);
    f->region_count++;
    vyre_uniformity_deinit(&w.map);
    return true;
}

void cpu_facts_free(cpu_facts *f) {
    vyre_free(f->facts);
    f->facts = NULL;
}
