#include "ir/lookup.h"
#include "pass/split_plan.h"

static bool ends_block(const split *s, uint32_t at) {
    return vyre_inst_effects(&s->ir->insts[at]) & VYRE_EFFECT_END;
}

static uint32_t resolve(const split *s, uint32_t operand) {
    while (vyre_operand_is_value(operand) && split_at(s, operand)->alias != VYRE_NONE) {
        operand = split_at(s, operand)->alias;
    }
    return operand;
}

static void add_use(split *s, uint32_t operand, uint32_t target) {
    uint32_t value = resolve(s, operand);
    if (!s->building && vyre_operand_is_value(value)) {
        s->failed |= !vyre_vec_push(&s->uses, (split_use){s->now, value, target});
    }
}

/* The operand becomes the value of an argument or result in another segment. */
static void hand_over(split *s, uint32_t operand, uint32_t target) {
    if (s->building) {
        split_build_keep(s, target, vyre_rebuild_operand(s->r, resolve(s, operand)));
    } else {
        add_use(s, operand, target);
    }
}

static void jump(split *s, uint32_t to, vyre_uniformity level) {
    if (s->building) {
        split_build_jump(s, to, level);
        return;
    }
    split_jump row = {.from = s->now, .to = to, .behind_barrier = s->behind_barrier};
    s->failed |= !vyre_vec_push(&s->jumps, row);
    if (to != VYRE_NONE) {
        split_add_segment(s, to);
    }
}

/* Out of a block, with values for its results. Where nothing but the end of another block follows,
 * that is done at once. */
static void leave(split *s, uint32_t owner, const uint32_t *values, uint32_t count,
                  vyre_uniformity level) {
    uint32_t behind = split_behind(s, owner);
    if (level != VYRE_UNIFORM_GRID || !ends_block(s, behind)) {
        for (uint32_t i = 0; i < count; i++) {
            hand_over(s, values[i], vyre_result(s->ir, owner, i));
        }
        jump(s, behind, level);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        split_at(s, vyre_result(s->ir, owner, i))->alias = resolve(s, values[i]);
    }
    split_end(s, behind, level);
    for (uint32_t i = 0; i < count; i++) {
        split_at(s, vyre_result(s->ir, owner, i))->alias = VYRE_NONE;
    }
}

/* To the head of a loop. */
static void iteration(split *s, uint32_t loop, const uint32_t *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        hand_over(s, values[i], vyre_loop_arg(s->ir, loop, i));
    }
    jump(s, split_head(s, loop), VYRE_UNIFORM_GRID);
}

/* An iteration of a `for` if the condition says so, else out of it. */
static void iteration_or_leave(split *s, uint32_t loop, uint32_t condition, uint32_t counter,
                               const uint32_t *values, uint32_t count) {
    if (s->building) {
        vyre_build_if(s->r->to, condition);
        split_build_keep(s, vyre_for_counter(loop), counter);
    }
    iteration(s, loop, values, count);
    if (s->building) {
        vyre_build_else(s->r->to);
    }
    leave(s, loop, values, count, VYRE_UNIFORM_GRID);
    if (s->building) {
        vyre_build_if_end(s->r->to, 0, NULL);
    }
}

static void enter_loop(split *s, uint32_t loop) {
    vyre_list initial = vyre_loop_initial(s->ir, loop);
    if (s->ir->insts[loop].op == VYRE_OP_LOOP) {
        iteration(s, loop, initial.items, initial.count);
        return;
    }
    vyre_for_range range = vyre_for_range_of(s->ir, loop);
    uint32_t condition = VYRE_NONE, counter = VYRE_NONE;
    add_use(s, range.first, VYRE_NONE);
    add_use(s, range.end, VYRE_NONE);
    add_use(s, range.step, VYRE_NONE);
    if (s->building) {
        condition = split_build_first_iteration(s, loop);
        counter = vyre_rebuild_operand(s->r, range.first);
    }
    iteration_or_leave(s, loop, condition, counter, initial.items, initial.count);
}

static void next_iteration(split *s, uint32_t loop, const uint32_t *values, uint32_t count) {
    if (s->ir->insts[loop].op == VYRE_OP_LOOP) {
        iteration(s, loop, values, count);
        return;
    }
    vyre_for_range range = vyre_for_range_of(s->ir, loop);
    uint32_t condition = VYRE_NONE, counter = VYRE_NONE;
    add_use(s, vyre_for_counter(loop), VYRE_NONE);
    add_use(s, range.end, VYRE_NONE);
    add_use(s, range.step, VYRE_NONE);
    if (s->building) {
        condition = split_build_next_iteration(s, loop);
        counter = vyre_build_op(s->r->to, VYRE_OP_ADD, s->r->values[vyre_for_counter(loop)],
                                vyre_rebuild_operand(s->r, range.step), VYRE_NONE);
    }
    iteration_or_leave(s, loop, condition, counter, values, count);
}

bool split_leaves(const split *s, uint32_t at) {
    uint32_t target = split_at(s, at)->target;
    return s->ir->insts[at].op != VYRE_OP_UNREACHABLE &&
           (target == VYRE_NONE || split_at(s, target)->is_cut);
}

void split_end(split *s, uint32_t at, vyre_uniformity level) {
    uint32_t target = split_at(s, at)->target;
    vyre_list values = vyre_inst_operands(s->ir, &s->ir->insts[at]);
    if (s->ir->insts[at].op == VYRE_OP_UNREACHABLE) {
        return; /* the builder puts it there by itself */
    }
    if (target == VYRE_NONE) {
        jump(s, VYRE_NONE, level);
    } else if (s->ir->insts[at].op == VYRE_OP_CONTINUE) {
        next_iteration(s, target, values.items, values.count);
    } else {
        leave(s, target, values.items, values.count, level);
    }
}

/* An access to an array of the phase, for what has to be known of it. */
static void note_array(split *s, split_segment *segment, const vyre_inst *inst, uint32_t effects,
                       bool nested) {
    split_array *array = split_array_of(s, vyre_access_resource(inst));
    if (!array || inst->op == VYRE_OP_LEN) {
        return;
    }
    segment->shared_live |= effects & VYRE_EFFECT_READ ? array->bit : 0;
    segment->shared_writes |= effects & VYRE_EFFECT_WRITE ? array->bit : 0;
    if (array->segment == VYRE_NONE) {
        array->segment = s->now;
        array->cleared_first = inst->op == VYRE_OP_CLEAR && !nested && !s->branches;
    }
    array->in_several |= array->segment != s->now;
    array->written |= effects & VYRE_EFFECT_WRITE && inst->op != VYRE_OP_CLEAR;
}

/* What an instruction of the segment uses. */
static void note(split *s, uint32_t at, bool nested) {
    const vyre_inst *inst = &s->ir->insts[at];
    const vyre_op_info *info = vyre_lookup_op(inst->op);
    split_segment *segment = split_segment_at(s, s->now);
    split_at(s, at)->home = s->now;
    if (split_is_idle(s, at)) {
        return;
    }
    if (info->effects & VYRE_EFFECT_END && split_leaves(s, at)) {
        split_end(s, at, split_control(s, at));
        return;
    }
    segment->has_syncs |= (info->effects & (VYRE_EFFECT_SYNC | VYRE_EFFECT_SUBGROUP)) != 0;
    segment->has_subgroup |= (info->effects & VYRE_EFFECT_SUBGROUP) != 0;
    if (vyre_inst_has_resource(inst)) {
        note_array(s, segment, inst, info->effects, nested);
    }
    vyre_list values = vyre_inst_operands(s->ir, inst);
    for (uint32_t i = 0; i < values.count; i++) {
        add_use(s, values.items[i], VYRE_NONE);
    }
}

/* Instructions that stay together: one, or with its blocks one that holds no grid barrier. */
static void take(split *s, uint32_t inst) {
    if (s->building) {
        split_build_code(s, inst);
        return;
    }
    uint32_t end = split_behind(s, inst);
    bool is_owner = vyre_inst_effects(&s->ir->insts[inst]) & VYRE_EFFECT_BLOCK;
    for (uint32_t at = inst; at < end; at++) {
        note(s, at, is_owner);
    }
}

static void walk_from(split *s, uint32_t at);

static void walk_if(split *s, uint32_t at) {
    const vyre_inst *inst = &s->ir->insts[at];
    add_use(s, inst->a, VYRE_NONE);
    if (s->building) {
        vyre_build_if(s->r->to, vyre_rebuild_operand(s->r, inst->a));
    }
    s->branches++;
    walk_from(s, vyre_then_block(s->ir, at).first);
    if (s->building) {
        vyre_build_else(s->r->to);
    }
    walk_from(s, vyre_else_block(s->ir, at).first);
    s->branches--;
    if (s->building) {
        vyre_build_if_end(s->r->to, 0, NULL);
    }
}

static void walk_barrier(split *s, uint32_t at) {
    if (s->building) {
        split_build_barrier(s);
    }
    uint32_t behind = vyre_inst_next(s->ir, at);
    s->behind_barrier = true;
    if (ends_block(s, behind)) {
        split_end(s, behind, VYRE_UNIFORM_GRID);
    } else {
        jump(s, behind, VYRE_UNIFORM_GRID);
    }
    s->behind_barrier = false;
}

static void walk_from(split *s, uint32_t at) {
    for (;;) {
        const vyre_inst *inst = &s->ir->insts[at];
        uint32_t effects = vyre_inst_effects(inst);
        if (inst->op == VYRE_OP_GRID_BARRIER) {
            walk_barrier(s, at);
            return;
        }
        if (effects & VYRE_EFFECT_END) {
            split_end(s, at, split_control(s, at));
            return;
        }
        if (split_at(s, at)->is_cut) {
            switch (vyre_inst_op(inst)) {
            case VYRE_OP_IF: walk_if(s, at); return;
            case VYRE_ONE_OF(FOR, LOOP): enter_loop(s, at); return;
            case VYRE_OP_INLINE: break;
            case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, PICK, JUMP,
                             NONE):
                s->r->unknown = at;
                return;
            }
            at = vyre_body_block(s->ir, at).first; /* its returns know where they go */
            continue;
        }
        take(s, at);
        at = split_behind(s, at);
    }
}

void split_walk(split *s) {
    uint32_t at = s->now;
    while (s->ir->insts[at].op == VYRE_OP_ARG || s->ir->insts[at].op == VYRE_OP_RESULT) {
        at++;
    }
    s->branches = 0;
    walk_from(s, at);
}
