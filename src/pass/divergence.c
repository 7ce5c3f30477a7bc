#include "pass/divergence.h"

#include "base/alloc.h"
#include "ir/cases.h"
#include "pass/walk.h"

typedef struct walk {
    vyre_divergence *d;
    const vyre_ir *ir;
    const vyre_divergence_rules *rules;
    vyre_walk at;
    bool changed;
} walk;

static vyre_divergence_fact *fact(walk *w, uint32_t inst) {
    return &w->d->rows[inst - w->d->phase->first];
}

static void set(walk *w, bool *flag, bool value) {
    w->changed |= value && !*flag;
    *flag |= value;
}

static void set_varying(walk *w, uint32_t inst, bool value) {
    set(w, &fact(w, inst)->varying, value && !w->rules->is_alone);
}

static bool varies(const walk *w, uint32_t operand) {
    return vyre_operand_varies(w->d, operand);
}

static bool is_joint(const walk *w, uint32_t owner) {
    return w->rules->is_joint && w->rules->is_joint(w->rules->user, owner);
}

static uint32_t owner_at(const walk *w, uint32_t level) {
    return w->at.stack[level].owner;
}

static bool *partial_at(walk *w, uint32_t level) {
    uint32_t owner = owner_at(w, level);
    return owner == VYRE_NONE ? &w->d->partial : &fact(w, owner)->partial;
}

/* Whether not all that are in the target of a jump take it, as far as the blocks around it tell. */
static bool is_apart(walk *w, const vyre_inst *jump, uint32_t target) {
    uint32_t top = owner_at(w, w->at.depth - 1), owner = owner_at(w, target);
    bool apart = is_joint(w, owner) && !is_joint(w, top) && jump->op != VYRE_OP_UNREACHABLE;
    for (uint32_t level = w->at.depth; level-- > target;) {
        uint32_t at = owner_at(w, level);
        apart = apart || (level != target && at != VYRE_NONE && fact(w, at)->divergent) ||
                (!w->rules->copies && *partial_at(w, level));
    }
    return apart;
}

/* A jump that some take: who is left goes on without them, up to the target. */
static void part_ways(walk *w, const vyre_inst *jump, uint32_t target) {
    uint32_t owner = owner_at(w, target);
    for (uint32_t level = target; level < w->at.depth; level++) {
        uint32_t at = owner_at(w, level);
        bool leaves = level != target || jump->op == VYRE_OP_BREAK || jump->op == VYRE_OP_RETURN;
        if (!w->rules->copies || at == VYRE_NONE) {
            set(w, partial_at(w, level), true);
        }
        if (at != VYRE_NONE &&
            (w->rules->copies || (vyre_op_is_loop(w->ir->insts[at].op) && leaves))) {
            set(w, &fact(w, at)->divergent, true);
        }
    }
    if (owner != VYRE_NONE && w->ir->insts[owner].op == VYRE_OP_INLINE) {
        set(w, &fact(w, owner)->divergent, true);
    }
    if (jump->op == VYRE_OP_CONTINUE) {
        set(w, &fact(w, owner)->blends, true);
    }
}

static void visit_jump(walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    uint32_t target = vyre_walk_target(&w->at, i->op), owner = owner_at(w, target);
    if (i->op != VYRE_OP_YIELD && is_apart(w, i, target)) {
        set(w, &fact(w, inst)->divergent, true);
        part_ways(w, i, target);
    }
    vyre_list values = vyre_inst_operands(w->ir, i);
    for (uint32_t k = 0; k < values.count; k++) {
        bool goes_on = i->op == VYRE_OP_CONTINUE && !w->rules->copies;
        bool apart = goes_on ? fact(w, owner)->blends : fact(w, owner)->divergent;
        set_varying(w, vyre_jump_target(w->ir, i, owner, k), apart || varies(w, values.items[k]));
    }
}

/* Values carried into a loop, and out of a `for` whose range is used up. */
static void visit_loop(walk *w, uint32_t loop) {
    vyre_list initial = vyre_loop_initial(w->ir, loop);
    bool is_for = w->ir->insts[loop].op == VYRE_OP_FOR;
    bool *divergent = &fact(w, loop)->divergent;
    if (is_for) {
        vyre_for_range range = vyre_for_range_of(w->ir, loop);
        bool steps = varies(w, range.first) || varies(w, range.step);
        set(w, divergent, !is_joint(w, loop) && (steps || varies(w, range.end)));
        set_varying(w, vyre_for_counter(loop), w->rules->copies ? *divergent : steps);
    }
    for (uint32_t k = 0; k < initial.count; k++) {
        uint32_t arg = vyre_loop_arg(w->ir, loop, k);
        set_varying(w, arg, (w->rules->copies && *divergent) || varies(w, initial.items[k]));
        if (is_for) {
            set_varying(w, vyre_result(w->ir, loop, k), varies(w, arg) || *divergent);
        }
    }
}

static void visit_value(walk *w, uint32_t inst) {
    vyre_list values = vyre_inst_operands(w->ir, &w->ir->insts[inst]);
    bool operands = false;
    for (uint32_t k = 0; k < values.count && !operands; k++) {
        operands = varies(w, values.items[k]);
    }
    set_varying(w, inst, w->rules->varies(w->rules->user, inst, operands));
}

static void visit(walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    switch (vyre_inst_op(i)) {
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, NONE):
        visit_value(w, inst);
        return;
    case VYRE_OP_IF:
        set(w, &fact(w, inst)->divergent, !is_joint(w, inst) && varies(w, i->a));
        return;
    case VYRE_ONE_OF(FOR, LOOP): visit_loop(w, inst); return;
    case VYRE_ANY_OF(JUMP): visit_jump(w, inst); return;
    case VYRE_OP_RESULT:
        if (vyre_is_grouped(w->ir, i)) {
            visit_value(w, inst);
        }
        return;
    case VYRE_ONE_OF(ARG, INLINE): return;
    }
}

bool vyre_divergence_init(vyre_divergence *d, const vyre_ir *ir, const vyre_phase *phase,
                          const vyre_divergence_rules *rules) {
    *d = (vyre_divergence){.phase = phase};
    d->rows = vyre_alloc_zeroed(phase->end - phase->first, sizeof *d->rows);
    walk w = {.d = d, .ir = ir, .rules = rules, .changed = d->rows};
    while (w.changed) {
        uint32_t inst;
        w.changed = false;
        vyre_walk_begin(&w.at, ir, phase);
        while (vyre_walk_next(&w.at, &inst)) {
            visit(&w, inst);
        }
    }
    return d->rows;
}

void vyre_divergence_deinit(vyre_divergence *d) {
    vyre_free(d->rows);
    *d = (vyre_divergence){0};
}
