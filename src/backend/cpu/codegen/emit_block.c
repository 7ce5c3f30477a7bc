/* Control flow: branches that all lanes take together are branches; where lanes part, both ways are
 * run under masks. */
#include "backend/cpu/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/lookup.h"

static const vyre_divergence_fact *ways_of(const emit *e, uint32_t inst) {
    return cpu_ways_of(&e->facts, inst);
}

static vyre_type type_of(const emit *e, uint32_t inst) {
    return vyre_inst_type(&e->ir->insts[inst]);
}

static uint32_t lanes_of(const emit *e, uint32_t inst) {
    return emit_lanes_of(e, ways_of(e, inst)->varying);
}

/* Scalars branch each for itself, so their lanes never part. */
static bool parts(const emit *e, uint32_t inst) {
    return !e->scalar && ways_of(e, inst)->divergent;
}

static uint32_t *slot_of(emit *e, uint32_t inst) {
    return &e->slots[emit_place_of(e, inst)];
}

static void make_slots(emit *e, vyre_block slots) {
    for (emit_lanes all = emit_each(e); emit_next(e, &all);) {
        for (uint32_t inst = slots.first; inst < slots.end; inst++) {
            if (ways_of(e, inst)->varying || e->first_lane == all.first) {
                *slot_of(e, inst) = emit_variable(e, type_of(e, inst), lanes_of(e, inst));
            }
        }
    }
}

uint32_t emit_value_for(emit *e, uint32_t inst, uint32_t operand) {
    return ways_of(e, inst)->varying ? emit_vector(e, operand) : emit_scalar(e, operand);
}

/* Puts a value into a slot, for the lanes that run alone if `blend`. */
static void put(emit *e, uint32_t inst, uint32_t value, bool blend) {
    uint32_t lanes = lanes_of(e, inst), slot = *slot_of(e, inst);
    vyre_type type = type_of(e, inst);
    if (blend && lanes > 1) {
        value = emit_pick(e, type, e->mask, value, emit_read(e, type, lanes, slot));
    }
    emit_assign(e, type, lanes, slot, value);
}

/* All at once: an arg may be what another one becomes. */
static void put_lane(emit *e, uint32_t first, const uint32_t *operands, uint32_t count,
                     bool blend) {
    enum { FEW = 64 };
    uint32_t ids[FEW];
    for (uint32_t start = 0; start < count; start += FEW) {
        uint32_t end = count - start < FEW ? count : start + FEW;
        for (uint32_t k = start; k < end; k++) {
            ids[k - start] = emit_value_for(e, first + k, operands[k]);
        }
        for (uint32_t k = start; k < end; k++) {
            put(e, first + k, ids[k - start], blend);
        }
    }
}

static void put_list(emit *e, uint32_t first, const uint32_t *operands, uint32_t count,
                     bool blend) {
    for (emit_lanes all = emit_each(e); emit_next(e, &all);) {
        put_lane(e, first, operands, count, blend);
    }
}

static void get_slots(emit *e, vyre_block slots) {
    for (emit_lanes all = emit_each(e); emit_next(e, &all);) {
        for (uint32_t inst = slots.first; inst < slots.end; inst++) {
            uint32_t slot = *slot_of(e, inst), lanes = lanes_of(e, inst);
            uint32_t id = emit_read(e, type_of(e, inst), lanes, slot);
            if (vyre_nan_settles_late(&e->facts.nans, inst)) {
                id = cpu_write_canonical(&e->w, type_of(e, inst), lanes, id);
            }
            emit_define(e, inst, id);
            emit_value_of(e, inst)->base = 0;
        }
    }
}

/* Slots that nobody reads any more. Those of vectors are blended, so each keeps its own. */
static void spare_slots(emit *e, vyre_block slots) {
    for (uint32_t inst = slots.first; inst < slots.end && e->scalar; inst++) {
        emit_spare(e, type_of(e, inst), 1, *slot_of(e, inst));
    }
}

static void take_results(emit *e, vyre_block results) {
    get_slots(e, results);
    spare_slots(e, results);
}

static emit_open *open_block(emit *e, uint32_t owner, uint32_t rest) {
    emit_open *opened = &e->stack[e->depth++];
    *opened = (emit_open){.owner = owner, .rest = rest};
    return opened;
}

static void start_live(emit *e, emit_open *opened, bool partial) {
    if (partial && !e->scalar) {
        if (!opened->live) {
            opened->live = emit_mask_variable(e);
        }
        emit_assign(e, VYRE_TYPE_BOOL, e->lanes, opened->live, e->mask);
    }
}

/* Lanes that left a block inside have left this one, too; without any, its end is reached. */
static void meet(emit *e, uint32_t before) {
    const emit_open *top = &e->stack[e->depth - 1];
    e->mask = before;
    if (!top->live || e->scalar) {
        return;
    }
    e->mask = emit_and(e, before, emit_read(e, VYRE_TYPE_BOOL, e->lanes, top->live));
    uint32_t go_on = emit_label(e);
    emit_branch(e, emit_any(e, e->mask), go_on, top->rest);
    emit_start(e, go_on);
}

/* Whether scalars side by side each need code of their own for an instruction: blocks where their
 * ways part, and what they have or do each for itself. */
static bool goes_by_lane(const emit *e, uint32_t inst) {
    const vyre_divergence_fact *ways = ways_of(e, inst);
    uint32_t effects = vyre_inst_effects(&e->ir->insts[inst]);
    return effects & VYRE_EFFECT_BLOCK
               ? ways->divergent || ways->partial
               : ways->varying || (effects & VYRE_EFFECT_WRITE && !(effects & VYRE_EFFECT_END));
}

void emit_region_block(emit *e, vyre_block code) {
    for (uint32_t inst = code.first; inst < code.end; inst = vyre_inst_next(e->ir, inst)) {
        if (goes_by_lane(e, inst)) {
            for (emit_lanes all = emit_each(e); emit_next(e, &all);) {
                emit_instruction(e, inst);
            }
        } else {
            emit_instruction(e, inst);
        }
    }
}

/* One side of a branch. */
static void emit_side(emit *e, uint32_t owner, vyre_block side, uint32_t mask) {
    uint32_t rest = emit_label(e);
    emit_open *opened = open_block(e, owner, rest);
    e->mask = mask;
    start_live(e, opened, ways_of(e, owner)->partial);
    emit_region_block(e, side);
    e->depth--;
    emit_start(e, rest);
}

static void emit_if(emit *e, uint32_t inst) {
    uint32_t before = e->mask, condition = e->ir->insts[inst].a;
    uint32_t yes = emit_label(e), no = emit_label(e), behind = emit_label(e);
    vyre_block then = vyre_then_block(e->ir, inst), other = vyre_else_block(e->ir, inst);
    vyre_block results = vyre_results(e->ir, inst);
    make_slots(e, results);
    if (!parts(e, inst)) {
        emit_branch(e, emit_scalar(e, condition), yes, no);
        emit_start(e, yes);
        emit_side(e, inst, then, before);
        emit_jump(e, behind);
        emit_start(e, no);
        emit_side(e, inst, other, before);
        emit_jump(e, behind);
    } else {
        uint32_t vector = emit_vector(e, condition);
        uint32_t who = emit_and(e, before, vector);
        uint32_t rest = emit_and_not(e, before, vector), second = emit_label(e);
        emit_branch(e, emit_any(e, who), yes, second);
        emit_start(e, yes);
        emit_side(e, inst, then, who);
        emit_jump(e, second);
        emit_start(e, second);
        if (vyre_block_is_empty(e->ir, other)) {
            emit_jump(e, behind);
        } else {
            emit_branch(e, emit_any(e, rest), no, behind);
            emit_start(e, no);
            emit_side(e, inst, other, rest);
            emit_jump(e, behind);
        }
    }
    emit_start(e, behind);
    take_results(e, results);
    meet(e, before);
}

static void emit_inline(emit *e, uint32_t inst) {
    uint32_t before = e->mask, behind = emit_label(e);
    vyre_block results = vyre_results(e->ir, inst);
    make_slots(e, results);
    emit_open *opened = open_block(e, inst, behind);
    opened->exit = behind;
    start_live(e, opened, ways_of(e, inst)->partial);
    emit_region_block(e, vyre_body_block(e->ir, inst));
    e->depth--;
    emit_start(e, behind);
    take_results(e, results);
    meet(e, before);
}

/* Ranges: how many iterations, counted in 64 bits. */

static uint32_t widen(emit *e, vyre_type type, uint32_t lanes, uint32_t value) {
    vyre_type wide = vyre_lookup_class(type) == VYRE_CLASS_SIGNED ? VYRE_TYPE_I64 : VYRE_TYPE_U64;
    return type == wide ? value
                        : cpu_write_op(&e->w, VYRE_OP_CONVERT, type, wide, lanes, value, 0, 0);
}

emit_range emit_make_range(emit *e, uint32_t inst, bool group) {
    vyre_for_range range = vyre_for_range_of(e->ir, inst);
    const uint32_t values[3] = {range.first, range.end, range.step};
    vyre_type type = vyre_operand_type(e->ir, range.first);
    bool is_signed = vyre_lookup_class(type) == VYRE_CLASS_SIGNED;
    vyre_type wide = is_signed ? VYRE_TYPE_I64 : VYRE_TYPE_U64;
    emit_range r = {.varying = !group && parts(e, inst)};
    uint32_t lanes = emit_lanes_of(e, r.varying), ids[3];
    for (int k = 0; k < 3; k++) {
        ids[k] = widen(e, type, lanes,
                       r.varying ? emit_vector(e, values[k]) : emit_scalar(e, values[k]));
    }
    cpu_type_text text = cpu_type(VYRE_TYPE_U64, lanes);
    uint32_t zero = cpu_write_const(&e->w, wide, lanes, 0),
             one = cpu_write_const(&e->w, wide, lanes, 1);
    uint32_t some = cpu_write_op(&e->w, VYRE_OP_LT, wide, VYRE_TYPE_BOOL, lanes, ids[0], ids[1], 0);
    uint32_t count = emit_put(e, "sub %s %%t%u, %%t%u", text.text, ids[1], ids[0]);
    if (!vyre_operand_has_bits(e->ir, range.step, 1)) {
        uint32_t positive =
            cpu_write_op(&e->w, VYRE_OP_LT, wide, VYRE_TYPE_BOOL, lanes, zero, ids[2], 0);
        some = emit_put(e, "and %s %%t%u, %%t%u", cpu_type(VYRE_TYPE_BOOL, lanes).text, some,
                        positive);
        uint32_t last = emit_put(e, "sub %s %%t%u, %%t%u", text.text, count, one);
        uint32_t whole =
            cpu_write_op(&e->w, VYRE_OP_DIV, VYRE_TYPE_U64, VYRE_TYPE_U64, lanes, last, ids[2], 0);
        count = emit_put(e, "add %s %%t%u, %%t%u", text.text, whole, one);
    }
    r.iterations =
        cpu_write_op(&e->w, VYRE_OP_SELECT, VYRE_TYPE_U64, VYRE_TYPE_U64, lanes, some, count, zero);
    r.iteration = emit_variable(e, VYRE_TYPE_U64, 1);
    emit_line(e, "store i64 0, ptr %%t%u", r.iteration);
    return r;
}

/* Out of a `for` whose turns are used up, with what it carries. */
static void leave_used_up(emit *e, uint32_t inst, bool blend) {
    vyre_list initial = vyre_loop_initial(e->ir, inst);
    for (uint32_t k = 0; k < initial.count; k++) {
        uint32_t arg = vyre_loop_arg(e->ir, inst, k), result = vyre_result(e->ir, inst, k);
        uint32_t value = emit_read(e, type_of(e, arg), lanes_of(e, arg), *slot_of(e, arg));
        if (ways_of(e, result)->varying && !ways_of(e, arg)->varying) {
            value = cpu_write_splat(&e->w, type_of(e, arg), e->lanes, value);
        }
        put(e, result, value, blend);
    }
}

/* Whether there are iterations left; the lanes that have none leave with what they carry. */
static uint32_t more_iterations(emit *e, uint32_t inst, const emit_range *r, uint32_t exec) {
    uint32_t iteration = emit_read(e, VYRE_TYPE_U64, 1, r->iteration);
    if (!r->varying) {
        return emit_put(e, "icmp ult i64 %%t%u, %%t%u", iteration, r->iterations);
    }
    uint32_t all = cpu_write_splat(&e->w, VYRE_TYPE_U64, e->lanes, iteration);
    uint32_t id = emit_put(e, "icmp ult <%u x i64> %%t%u, %%t%u", e->lanes, all, r->iterations);
    uint32_t now = emit_read(e, VYRE_TYPE_BOOL, e->lanes, exec);
    uint32_t stay = emit_and(e, now, id);
    e->mask = emit_and_not(e, now, id);
    leave_used_up(e, inst, true);
    emit_assign(e, VYRE_TYPE_BOOL, e->lanes, exec, stay);
    return emit_any(e, stay);
}

static bool has_inner_loop(const emit *e, uint32_t inst) {
    vyre_block body = vyre_body_block(e->ir, inst);
    for (uint32_t k = body.first; k < body.end; k++) {
        if (vyre_op_is_loop(e->ir->insts[k].op)) {
            return true;
        }
    }
    return false;
}

/* Loops of many iterations look now and then whether the run is to end; those with others inside do
 * so in every iteration. */
enum { ITERATIONS_AT_ONCE = 1 << 16 };

static bool may_take_long(const emit *e, uint32_t inst) {
    const vyre_range *counter = vyre_range_of(&e->ranges, vyre_for_counter(inst));
    return counter->max - counter->min >= ITERATIONS_AT_ONCE;
}

static void check_some_iterations(emit *e, const emit_range *r, uint32_t behind) {
    uint32_t iteration = emit_read(e, VYRE_TYPE_U64, 1, r->iteration);
    uint32_t check = emit_label(e), go_on = emit_label(e);
    uint32_t low = emit_put(e, "and i64 %%t%u, %u", iteration, ITERATIONS_AT_ONCE - 1);
    uint32_t id = emit_put(e, "icmp ne i64 %%t%u, 0", low);
    emit_likely_branch(e, id, go_on, check);
    emit_start(e, check);
    emit_stop_check(e, behind);
    emit_start(e, go_on);
}

static void next_counter(emit *e, uint32_t inst, const emit_range *r) {
    uint32_t counter = vyre_for_counter(inst), step = vyre_for_range_of(e->ir, inst).step;
    uint32_t lanes = lanes_of(e, counter);
    for (emit_lanes all = emit_each(e); emit_next(e, &all);) {
        uint32_t slot = *slot_of(e, counter);
        uint32_t now = emit_read(e, type_of(e, counter), lanes, slot);
        uint32_t id = emit_put(e, "add %s %%t%u, %%t%u", cpu_type(type_of(e, counter), lanes).text,
                               now, emit_value_for(e, counter, step));
        emit_assign(e, type_of(e, counter), lanes, slot, id);
        if (!ways_of(e, counter)->varying) {
            all.next = all.first + all.count; /* all have the same one */
        }
    }
    uint32_t iteration = emit_read(e, VYRE_TYPE_U64, 1, r->iteration);
    uint32_t next = emit_put(e, "add i64 %%t%u, 1", iteration);
    emit_line(e, "store i64 %%t%u, ptr %%t%u", next, r->iteration);
}

/* The code of a loop up to its end, results being in their slots. */
static void emit_iterations(emit *e, uint32_t inst, emit_range r) {
    vyre_list initial = vyre_loop_initial(e->ir, inst);
    vyre_block args = vyre_loop_args(e->ir, inst);
    bool is_for = e->ir->insts[inst].op == VYRE_OP_FOR;
    uint32_t before = e->mask;
    uint32_t head = emit_label(e), inside = emit_label(e), latch = emit_label(e);
    uint32_t behind = emit_label(e), used_up = emit_label(e);
    uint32_t exec = parts(e, inst) ? emit_mask_variable(e) : 0;
    make_slots(e, args);
    if (is_for) {
        uint32_t first = vyre_for_range_of(e->ir, inst).first;
        put_list(e, vyre_for_counter(inst), &first, 1, false);
    }
    put_list(e, vyre_loop_arg(e->ir, inst, 0), initial.items, initial.count, false);
    if (exec) {
        emit_assign(e, VYRE_TYPE_BOOL, e->lanes, exec, before);
    }

    emit_start(e, head);
    e->mask = before;
    if (is_for) {
        emit_branch(e, more_iterations(e, inst, &r, exec), inside, used_up);
    } else if (exec) {
        emit_branch(e, emit_any(e, emit_read(e, VYRE_TYPE_BOOL, e->lanes, exec)), inside, behind);
    } else {
        emit_jump(e, inside);
    }
    emit_start(e, inside);
    if (exec) {
        e->mask = emit_read(e, VYRE_TYPE_BOOL, e->lanes, exec);
        if (is_for && !r.varying) { /* broken off lanes may be all there were */
            uint32_t some = emit_label(e);
            emit_branch(e, emit_any(e, e->mask), some, behind);
            emit_start(e, some);
        }
    } else {
        e->mask = before;
    }
    get_slots(e, args);
    emit_open *opened = open_block(e, inst, latch);
    opened->exec = exec;
    opened->exit = behind;
    opened->latch = latch;
    start_live(e, opened, ways_of(e, inst)->partial);
    emit_region_block(e, vyre_body_block(e->ir, inst));
    e->depth--;

    emit_start(e, latch);
    if (is_for) {
        next_counter(e, inst, &r);
    }
    if (!is_for || has_inner_loop(e, inst)) {
        emit_stop_check(e, behind);
    } else if (may_take_long(e, inst)) {
        check_some_iterations(e, &r, behind);
    }
    emit_jump(e, head);

    emit_start(e, used_up); /* with what it carries, if all lanes count alike */
    if (is_for && !r.varying) {
        e->mask = exec ? emit_read(e, VYRE_TYPE_BOOL, e->lanes, exec) : before;
        for (emit_lanes all = emit_each(e); emit_next(e, &all);) {
            leave_used_up(e, inst, parts(e, inst));
        }
    }
    emit_jump(e, behind);
    emit_start(e, behind);
    e->mask = before;
    spare_slots(e, args);
}

/* Where all accesses of a loop can be tested before it, it is written twice: without checks for
 * when they stay inside, and with them. */
static void emit_loop(emit *e, uint32_t inst) {
    uint32_t before = e->mask, test = 0;
    vyre_block results = vyre_results(e->ir, inst);
    emit_range r = {0};
    make_slots(e, results);
    if (e->ir->insts[inst].op == VYRE_OP_FOR) {
        r = emit_make_range(e, inst, false);
        test = r.varying || e->is_plain ? 0 : emit_loop_test(e, inst, r.iterations);
    }
    if (test) {
        uint32_t inside = emit_label(e), checked = emit_label(e), behind = emit_label(e);
        emit_branch(e, test, inside, checked);
        emit_start(e, inside);
        emit_loop_tested(e, inst, true);
        emit_iterations(e, inst, r);
        emit_loop_tested(e, inst, false);
        emit_jump(e, behind);
        emit_start(e, checked);
        emit_iterations(e, inst, r);
        emit_start(e, behind);
    } else {
        emit_iterations(e, inst, r);
    }
    if (r.iteration) {
        emit_spare(e, VYRE_TYPE_U64, 1, r.iteration);
    }
    take_results(e, results);
    meet(e, before);
}

void emit_control(emit *e, uint32_t inst) {
    switch (vyre_inst_op(&e->ir->insts[inst])) {
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, PICK, JUMP, NONE):
        break;
    case VYRE_OP_IF: emit_if(e, inst); return;
    case VYRE_OP_INLINE: emit_inline(e, inst); return;
    case VYRE_ONE_OF(FOR, LOOP): emit_loop(e, inst); return;
    }
    emit_unknown(e, inst);
}

static uint32_t target_of(const emit *e, uint32_t op) {
    uint32_t level = e->depth - 1;
    while (!vyre_jump_ends(e->ir, op, e->stack[level].owner)) {
        level--;
    }
    return level;
}

static void remove_lanes(emit *e, uint32_t variable) {
    uint32_t now = emit_read(e, VYRE_TYPE_BOOL, e->lanes, variable);
    emit_assign(e, VYRE_TYPE_BOOL, e->lanes, variable, emit_and_not(e, now, e->mask));
}

/* The end of a block inside a region. */
void emit_jump_out(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    if (i->op == VYRE_OP_UNREACHABLE) {
        emit_jump(e, e->stack[e->depth - 1].rest);
        return;
    }
    uint32_t level = target_of(e, i->op), owner = e->stack[level].owner;
    if (!level && e->group) {
        emit_leave_groups(e, i);
    } else if (owner != VYRE_NONE) {
        const vyre_divergence_fact *ways = ways_of(e, owner);
        vyre_list values = vyre_inst_operands(e->ir, i);
        put_list(e, vyre_jump_target(e->ir, i, owner, 0), values.items, values.count,
                 i->op == VYRE_OP_CONTINUE ? ways->blends : ways->divergent);
    }
    if (i->op == VYRE_OP_YIELD) {
        emit_jump(e, e->stack[level].rest);
        return;
    }
    if (!parts(e, inst)) {
        const emit_open *target = &e->stack[level];
        if (target->live && owner == VYRE_NONE) { /* the end of the phase for these lanes */
            remove_lanes(e, target->live);
        }
        emit_jump(e, i->op == VYRE_OP_CONTINUE ? target->latch : target->exit);
        return;
    }
    for (uint32_t k = e->depth; k-- > level;) {
        const emit_open *block = &e->stack[k];
        if (block->live) {
            remove_lanes(e, block->live);
        }
        if (block->exec && (k != level || i->op == VYRE_OP_BREAK)) {
            remove_lanes(e, block->exec);
        }
    }
    emit_jump(e, e->stack[e->depth - 1].rest);
}
