/* The workgroup's own control flow, between regions: it branches as one, and what chunks carry on
 * lies in the storage. */
#include "backend/cpu/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/lookup.h"

static const cpu_fact *fact_of(const emit *e, uint32_t inst) {
    return cpu_fact_of(&e->facts, inst);
}

static vyre_type type_of(const emit *e, uint32_t inst) {
    return vyre_inst_type(&e->ir->insts[inst]);
}

static void put_crossing(emit *e, uint32_t inst, uint32_t value, bool blend) {
    if (blend && !e->scalar && cpu_varies(&e->facts, inst)) {
        value = emit_pick(e, type_of(e, inst), e->mask, value, emit_load_crossing(e, inst));
    }
    emit_store_crossing(e, inst, value);
}

static const emit_group *group_target(const emit *e, const emit_group *open, uint32_t op) {
    while (!vyre_jump_ends(e->ir, op, open->owner)) {
        open = open->outer;
    }
    return open;
}

void emit_leave_groups(emit *e, const vyre_inst *i) {
    const emit_group *target = group_target(e, e->group, i->op);
    if (target->outer) {
        vyre_list values = vyre_inst_operands(e->ir, i);
        for (uint32_t k = 0; k < values.count; k++) {
            uint32_t to = vyre_jump_target(e->ir, i, target->owner, k);
            put_crossing(e, to, emit_value_for(e, to, values.items[k]), true);
        }
    }
    for (const emit_group *group = e->group; group != target;) {
        group = group->outer;
        if (group->partial) {
            emit_set_alive(e, group, emit_and_not(e, emit_alive(e, group), e->mask));
        }
    }
}

static void emit_piece(emit *e, const void *user) {
    const vyre_block *code = user;
    emit_region_block(e, *code);
}

/* Values into args or results of a group block, for every chunk. */
typedef struct transfer {
    uint32_t to;
    const uint32_t *operands;
    uint32_t count;
    bool blend; /* for the lanes that run alone */
} transfer;

/* All are read before the first is written: an arg may be what another one becomes. */
static void transfer_lane(emit *e, const transfer *t) {
    uint32_t ids[VYRE_LIMIT_CARRIED];
    for (uint32_t k = 0; k < t->count; k++) {
        ids[k] = emit_value_for(e, t->to + k, t->operands[k]);
    }
    for (uint32_t k = 0; k < t->count; k++) {
        put_crossing(e, t->to + k, ids[k], t->blend);
    }
}

static void emit_transfer(emit *e, const void *user) {
    for (emit_lanes all = emit_each(e); emit_next(e, &all);) {
        transfer_lane(e, user);
    }
}

static void transfer_all(emit *e, uint32_t to, const uint32_t *operands, uint32_t count,
                         bool blend) {
    if (count) {
        const transfer t = {to, operands, count, blend};
        e->region = CPU_NO_REGION - 1; /* nothing is at hand: all comes from the storage */
        emit_for_chunks(e, emit_transfer, &t);
    }
}

/* All lanes that are in what is around are in a group block when it starts. */
static void start_alive(emit *e, const void *user) {
    const emit_group *group = user;
    emit_set_alive(e, group, e->mask);
}

static void open_group(emit *e, const emit_group *group) {
    if (group->partial) {
        e->group = group->outer;
        emit_for_all_chunks(e, start_alive, group);
    }
    e->group = group;
}

static emit_group make_group(emit *e, uint32_t owner, const emit_group *outer) {
    emit_group group = {owner, emit_label(e), emit_label(e), false, 0, outer};
    group.partial =
        owner == VYRE_NONE ? e->facts.divergence.partial : cpu_ways_of(&e->facts, owner)->partial;
    group.alive = group.partial ? emit_reserve(e, (uint64_t)e->facts.lanes * e->chunks) : 0;
    return group;
}

static void group_code(emit *e, vyre_block code, const emit_group *open);

static void group_jump(emit *e, uint32_t inst, const emit_group *open) {
    const vyre_inst *i = &e->ir->insts[inst];
    const emit_group *target = group_target(e, open, i->op);
    if (i->op == VYRE_OP_UNREACHABLE) {
        emit_jump(e, e->group_end);
        return;
    }
    if (target->outer) {
        vyre_list values = vyre_inst_operands(e->ir, i);
        transfer_all(e, vyre_jump_target(e->ir, i, target->owner, 0), values.items, values.count,
                     target->partial);
    }
    emit_jump(e, i->op == VYRE_OP_CONTINUE ? target->latch : target->exit);
}

static void note_condition(emit *e, const void *user) {
    const uint32_t *pair = user; /* the condition, and the variable */
    uint32_t holds = emit_any(e, emit_and(e, e->mask, emit_vector(e, pair[0])));
    emit_assign(e, VYRE_TYPE_BOOL, 1, pair[1], holds);
}

/* A condition on which all lanes agree that are left. The others did not compute it. */
static uint32_t group_condition(emit *e, uint32_t operand) {
    if (!emit_has_left(e->group) || !vyre_operand_is_value(operand)) {
        return emit_scalar(e, operand);
    }
    const uint32_t pair[2] = {operand, emit_variable(e, VYRE_TYPE_BOOL, 1)};
    emit_assign(e, VYRE_TYPE_BOOL, 1, pair[1], cpu_write_const(&e->w, VYRE_TYPE_BOOL, 1, 0));
    e->region = CPU_NO_REGION - 1; /* it comes from the storage */
    emit_for_chunks(e, note_condition, pair);
    return emit_read(e, VYRE_TYPE_BOOL, 1, pair[1]);
}

static void group_if(emit *e, uint32_t inst, const emit_group *outer) {
    uint32_t yes = emit_label(e), no = emit_label(e);
    const emit_group open = make_group(e, inst, outer);
    uint32_t condition = group_condition(e, e->ir->insts[inst].a);
    open_group(e, &open);
    emit_branch(e, condition, yes, no);
    emit_start(e, yes);
    group_code(e, vyre_then_block(e->ir, inst), &open);
    emit_jump(e, open.exit);
    emit_start(e, no);
    group_code(e, vyre_else_block(e->ir, inst), &open);
    emit_start(e, open.exit);
    e->group = outer;
}

static void store_counter(emit *e, const void *user) {
    const uint32_t *pair = user; /* the arg, and the scalar */
    uint32_t value = pair[1];
    if (cpu_varies(&e->facts, pair[0])) {
        value = cpu_write_splat(&e->w, type_of(e, pair[0]), e->lanes, value);
    }
    for (emit_lanes all = emit_each(e); emit_next(e, &all);) {
        emit_store_crossing(e, pair[0], value);
    }
}

static void group_loop(emit *e, uint32_t inst, const emit_group *outer) {
    vyre_list initial = vyre_loop_initial(e->ir, inst);
    uint32_t first = vyre_loop_arg(e->ir, inst, 0);
    bool is_for = e->ir->insts[inst].op == VYRE_OP_FOR;
    uint32_t head = emit_label(e), inside = emit_label(e), used_up = emit_label(e);
    const emit_group open = make_group(e, inst, outer);
    emit_range r = {0};
    uint32_t counter = 0, step = 0;
    vyre_type type = VYRE_TYPE_VOID;
    if (is_for) {
        vyre_for_range range = vyre_for_range_of(e->ir, inst);
        type = vyre_operand_type(e->ir, range.first);
        r = emit_make_range(e, inst, true);
        counter = emit_variable(e, type, 1);
        emit_assign(e, type, 1, counter, emit_scalar(e, range.first));
        step = emit_scalar(e, range.step);
    }
    transfer_all(e, first, initial.items, initial.count, false);
    emit_start(e, head);
    if (is_for) {
        uint32_t iteration = emit_read(e, VYRE_TYPE_U64, 1, r.iteration);
        uint32_t more = emit_put(e, "icmp ult i64 %%t%u, %%t%u", iteration, r.iterations);
        emit_branch(e, more, inside, used_up);
    } else {
        emit_jump(e, inside);
    }
    emit_start(e, inside);
    open_group(e, &open);
    if (is_for) {
        const uint32_t pair[2] = {vyre_for_counter(inst), emit_read(e, type, 1, counter)};
        emit_for_chunks(e, store_counter, pair);
    }
    group_code(e, vyre_body_block(e->ir, inst), &open);
    emit_start(e, open.latch);
    if (is_for) {
        uint32_t now = emit_read(e, type, 1, counter);
        uint32_t next = emit_put(e, "add %s %%t%u, %%t%u", cpu_type(type, 1).text, now, step);
        emit_assign(e, type, 1, counter, next);
        uint32_t iteration = emit_read(e, VYRE_TYPE_U64, 1, r.iteration);
        uint32_t later = emit_put(e, "add i64 %%t%u, 1", iteration);
        emit_line(e, "store i64 %%t%u, ptr %%t%u", later, r.iteration);
    }
    emit_stop_check(e, e->group_end);
    emit_jump(e, head);
    emit_start(e, used_up);
    if (is_for) {
        uint32_t operands[VYRE_LIMIT_CARRIED];
        for (uint32_t k = 0; k < initial.count; k++) {
            operands[k] = first + k;
        }
        e->group = outer;
        transfer_all(e, vyre_result(e->ir, inst, 0), operands, initial.count, false);
    }
    emit_start(e, open.exit);
    e->group = outer;
}

static void group_inline(emit *e, uint32_t inst, const emit_group *outer) {
    const emit_group open = make_group(e, inst, outer);
    open_group(e, &open);
    group_code(e, vyre_body_block(e->ir, inst), &open);
    emit_start(e, open.exit);
    e->group = outer;
}

/* An element that all get alike, with all that was written before. */
static void store_loaded(emit *e, const void *user) {
    const uint32_t *pair = user;
    emit_store_crossing(e, pair[0], pair[1]);
}

static void group_load(emit *e, uint32_t inst) {
    uint32_t index = emit_scalar(e, vyre_access_index(e->ir, &e->ir->insts[inst]));
    const uint32_t pair[2] = {inst, emit_load_uniform(e, inst, index)};
    emit_for_chunks(e, store_loaded, pair);
}

static bool is_group_code(const emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t effects = vyre_inst_effects(i);
    return i->op == VYRE_OP_BARRIER || i->op == VYRE_OP_UNIFORM_LOAD ||
           (effects & VYRE_EFFECT_BLOCK && fact_of(e, inst)->group) ||
           (effects & VYRE_EFFECT_END && fact_of(e, inst)->group);
}

/* An instruction that is the workgroup's own. */
static void group_instruction(emit *e, uint32_t inst, const emit_group *open) {
    switch (vyre_inst_op(&e->ir->insts[inst])) {
    case VYRE_OP_BARRIER: return; /* all chunks of the region are through */
    case VYRE_OP_UNIFORM_LOAD: group_load(e, inst); return;
    case VYRE_OP_IF: group_if(e, inst, open); return;
    case VYRE_ONE_OF(FOR, LOOP): group_loop(e, inst, open); return;
    case VYRE_OP_INLINE: group_inline(e, inst, open); return;
    case VYRE_ANY_OF(JUMP): group_jump(e, inst, open); return;
    case VYRE_ONE_OF(LOAD, STORE, CLEAR, GRID_BARRIER):
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ATOMIC, SUBGROUP, PICK, NONE): break;
    }
    emit_unknown(e, inst);
}

static void group_code(emit *e, vyre_block code, const emit_group *open) {
    for (uint32_t inst = code.first; inst < code.end;) {
        if (is_group_code(e, inst)) {
            group_instruction(e, inst, open);
            inst = vyre_inst_next(e->ir, inst);
            continue;
        }
        vyre_block piece = {inst, inst};
        bool any = false;
        for (; inst < code.end && !is_group_code(e, inst); inst = vyre_inst_next(e->ir, inst)) {
            uint32_t op = e->ir->insts[inst].op;
            if (op != VYRE_OP_ARG && op != VYRE_OP_RESULT) {
                e->region = fact_of(e, inst)->region;
                any = true;
            }
        }
        piece.end = inst;
        if (any) {
            emit_for_chunks(e, emit_piece, &piece);
        }
    }
}

void emit_group_code(emit *e, vyre_block code) {
    emit_group open = make_group(e, VYRE_NONE, NULL);
    open.exit = open.latch = e->group_end;
    open_group(e, &open);
    group_code(e, code, &open);
    e->group = NULL;
}
