/* Control flow: branches that all lanes take together are branches; where lanes part, both ways are
 * run under masks. Between regions the workgroup branches as one. */
#include "backend/cpu/emit_state.h"

static const cpu_fact *fact_of(const emit *e, uint32_t inst) {
    return cpu_fact_of(&e->facts, inst);
}

static vyre_type type_of(const emit *e, uint32_t inst) {
    return (vyre_type)e->ir->insts[inst].type;
}

static uint32_t lanes_of(const emit *e, uint32_t inst) {
    return emit_lanes_of(e, fact_of(e, inst)->varying);
}

static bool is_loop(uint32_t op) {
    return op == VYRE_OP_FOR || op == VYRE_OP_LOOP;
}

/* Scalars branch each for itself, so their lanes never part. */
static bool parts(const emit *e, uint32_t inst) {
    return !e->scalar && fact_of(e, inst)->divergent;
}

static uint32_t *slot_of(emit *e, uint32_t inst) {
    return &e->slots[emit_place_of(e, inst)];
}

static void make_slots(emit *e, uint32_t first, uint32_t count) {
    for (emit_lanes all = emit_each(e); emit_next(e, &all);) {
        for (uint32_t k = 0; k < count; k++) {
            uint32_t inst = first + k;
            if (fact_of(e, inst)->varying || e->first_lane == all.first) {
                *slot_of(e, inst) = emit_variable(e, type_of(e, inst), lanes_of(e, inst));
            }
        }
    }
}

/* A value for an arg or result, as that one is. */
static uint32_t value_for(emit *e, uint32_t inst, uint32_t operand) {
    return fact_of(e, inst)->varying ? emit_vector(e, operand) : emit_scalar(e, operand);
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
            ids[k - start] = value_for(e, first + k, operands[k]);
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

static void get_list(emit *e, uint32_t first, uint32_t count) {
    for (emit_lanes all = emit_each(e); emit_next(e, &all);) {
        for (uint32_t k = 0; k < count; k++) {
            uint32_t inst = first + k, slot = *slot_of(e, inst), lanes = lanes_of(e, inst);
            uint32_t id = emit_read(e, type_of(e, inst), lanes, slot);
            if (fact_of(e, inst)->observed && cpu_settles_late(&e->facts, inst)) {
                id = cpu_write_canonical(&e->w, type_of(e, inst), lanes, id);
            }
            emit_define(e, inst, id);
            emit_value_of(e, inst)->base = 0;
        }
    }
}

static uint32_t result_count(const emit *e, uint32_t owner) {
    uint32_t first = e->ir->insts[owner].c, count = 0;
    while (first + count < e->phase->end && e->ir->insts[first + count].op == VYRE_OP_RESULT &&
           e->ir->insts[first + count].a == owner) {
        count++;
    }
    return count;
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
    const cpu_fact *fact = fact_of(e, inst);
    uint32_t effects = vyre_op_info_of(e->ir->insts[inst].op)->effects;
    return effects & VYRE_EFFECT_BLOCK
               ? fact->divergent || fact->partial
               : fact->varying || (effects & VYRE_EFFECT_WRITE && !(effects & VYRE_EFFECT_END));
}

void emit_region_block(emit *e, uint32_t first, uint32_t end) {
    for (uint32_t inst = first; inst < end;) {
        const vyre_inst *i = &e->ir->insts[inst];
        if (goes_by_lane(e, inst)) {
            for (emit_lanes all = emit_each(e); emit_next(e, &all);) {
                emit_instruction(e, inst);
            }
        } else {
            emit_instruction(e, inst);
        }
        inst = vyre_op_info_of(i->op)->effects & VYRE_EFFECT_BLOCK ? i->c : inst + 1;
    }
}

/* One side of a branch. */
static void emit_side(emit *e, uint32_t owner, uint32_t first, uint32_t end, uint32_t mask) {
    uint32_t rest = emit_label(e);
    emit_open *opened = open_block(e, owner, rest);
    e->mask = mask;
    start_live(e, opened, fact_of(e, owner)->partial);
    emit_region_block(e, first, end);
    e->depth--;
    emit_start(e, rest);
}

static bool is_empty(const emit *e, uint32_t first) {
    const vyre_inst *i = &e->ir->insts[first];
    return i->op == VYRE_OP_YIELD && !i->b;
}

static void emit_if(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t before = e->mask, results = result_count(e, inst);
    uint32_t yes = emit_label(e), no = emit_label(e), behind = emit_label(e);
    make_slots(e, i->c, results);
    if (!parts(e, inst)) {
        emit_branch(e, emit_scalar(e, i->a), yes, no);
        emit_start(e, yes);
        emit_side(e, inst, inst + 1, i->b, before);
        emit_jump(e, behind);
        emit_start(e, no);
        emit_side(e, inst, i->b, i->c, before);
        emit_jump(e, behind);
    } else {
        uint32_t condition = emit_vector(e, i->a);
        uint32_t then = emit_and(e, before, condition);
        uint32_t otherwise = emit_and_not(e, before, condition), second = emit_label(e);
        emit_branch(e, emit_any(e, then), yes, second);
        emit_start(e, yes);
        emit_side(e, inst, inst + 1, i->b, then);
        emit_jump(e, second);
        emit_start(e, second);
        if (is_empty(e, i->b)) {
            emit_jump(e, behind);
        } else {
            emit_branch(e, emit_any(e, otherwise), no, behind);
            emit_start(e, no);
            emit_side(e, inst, i->b, i->c, otherwise);
            emit_jump(e, behind);
        }
    }
    emit_start(e, behind);
    get_list(e, i->c, results);
    meet(e, before);
}

static void emit_inline(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t before = e->mask, results = result_count(e, inst), behind = emit_label(e);
    make_slots(e, i->c, results);
    emit_open *opened = open_block(e, inst, behind);
    opened->exit = behind;
    start_live(e, opened, fact_of(e, inst)->partial);
    emit_region_block(e, inst + 1, i->c);
    e->depth--;
    emit_start(e, behind);
    get_list(e, i->c, results);
    meet(e, before);
}

/* Ranges: how many turns, counted in 64 bits. */

typedef struct range {
    bool varying;
    uint32_t turns; /* i64, scalar or vector */
    uint32_t turn;  /* variable: turns so far, i64 */
    uint32_t step;
} range;

static uint32_t widen(emit *e, vyre_type type, uint32_t lanes, uint32_t value) {
    vyre_type wide = vyre_type_class_of(type) == VYRE_CLASS_SIGNED ? VYRE_TYPE_I64 : VYRE_TYPE_U64;
    return type == wide ? value
                        : cpu_write_op(&e->w, VYRE_OP_CONVERT, type, wide, lanes, value, 0, 0);
}

static bool is_one(const emit *e, uint32_t operand) {
    return operand & VYRE_CONSTANT && e->ir->consts[operand & ~VYRE_CONSTANT].bits == 1;
}

static range make_range(emit *e, uint32_t inst, bool group) {
    const uint32_t *values = e->ir->operands + e->ir->insts[inst].a;
    vyre_type type = vyre_operand_type(e->ir, values[0]);
    bool is_signed = vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
    vyre_type wide = is_signed ? VYRE_TYPE_I64 : VYRE_TYPE_U64;
    range r = {.varying = !group && parts(e, inst)};
    uint32_t lanes = emit_lanes_of(e, r.varying), ids[3];
    for (int k = 0; k < 3; k++) {
        ids[k] = widen(e, type, lanes,
                       r.varying ? emit_vector(e, values[k]) : emit_scalar(e, values[k]));
    }
    cpu_type_text text = cpu_type(VYRE_TYPE_U64, lanes);
    uint32_t zero = cpu_write_const(&e->w, wide, lanes, 0),
             one = cpu_write_const(&e->w, wide, lanes, 1);
    uint32_t some = cpu_write_op(&e->w, VYRE_OP_LT, wide, VYRE_TYPE_BOOL, lanes, ids[0], ids[1], 0);
    uint32_t length = emit_new(e), count = length;
    emit_line(e, "%%t%u = sub %s %%t%u, %%t%u", length, text.text, ids[1], ids[0]);
    if (!is_one(e, values[2])) {
        uint32_t positive =
            cpu_write_op(&e->w, VYRE_OP_LT, wide, VYRE_TYPE_BOOL, lanes, zero, ids[2], 0);
        uint32_t both = emit_new(e), last = emit_new(e);
        emit_line(e, "%%t%u = and %s %%t%u, %%t%u", both, cpu_type(VYRE_TYPE_BOOL, lanes).text,
                  some, positive);
        some = both;
        emit_line(e, "%%t%u = sub %s %%t%u, %%t%u", last, text.text, length, one);
        uint32_t whole =
            cpu_write_op(&e->w, VYRE_OP_DIV, VYRE_TYPE_U64, VYRE_TYPE_U64, lanes, last, ids[2], 0);
        count = emit_new(e);
        emit_line(e, "%%t%u = add %s %%t%u, %%t%u", count, text.text, whole, one);
    }
    r.turns =
        cpu_write_op(&e->w, VYRE_OP_SELECT, VYRE_TYPE_U64, VYRE_TYPE_U64, lanes, some, count, zero);
    r.turn = emit_variable(e, VYRE_TYPE_U64, 1);
    emit_line(e, "store i64 0, ptr %%t%u", r.turn);
    return r;
}

/* Out of a `for` whose turns are used up, with what it carries. */
static void leave_used_up(emit *e, uint32_t inst, bool blend) {
    const vyre_inst *i = &e->ir->insts[inst];
    for (uint32_t k = 0; k < i->b - 3; k++) {
        uint32_t arg = inst + 2 + k;
        uint32_t value = emit_read(e, type_of(e, arg), lanes_of(e, arg), *slot_of(e, arg));
        if (fact_of(e, i->c + k)->varying && !fact_of(e, arg)->varying) {
            value = cpu_write_splat(&e->w, type_of(e, arg), e->lanes, value);
        }
        put(e, i->c + k, value, blend);
    }
}

/* Whether there are turns left; the lanes that have none leave with what they carry. */
static uint32_t more_turns(emit *e, uint32_t inst, const range *r, uint32_t exec) {
    uint32_t turn = emit_read(e, VYRE_TYPE_U64, 1, r->turn), id = emit_new(e);
    if (!r->varying) {
        emit_line(e, "%%t%u = icmp ult i64 %%t%u, %%t%u", id, turn, r->turns);
        return id;
    }
    uint32_t all = cpu_write_splat(&e->w, VYRE_TYPE_U64, e->lanes, turn);
    emit_line(e, "%%t%u = icmp ult <%u x i64> %%t%u, %%t%u", id, e->lanes, all, r->turns);
    uint32_t now = emit_read(e, VYRE_TYPE_BOOL, e->lanes, exec);
    uint32_t stay = emit_and(e, now, id);
    e->mask = emit_and_not(e, now, id);
    leave_used_up(e, inst, true);
    emit_assign(e, VYRE_TYPE_BOOL, e->lanes, exec, stay);
    return emit_any(e, stay);
}

static bool has_inner_loop(const emit *e, uint32_t inst) {
    for (uint32_t k = inst + 1; k < e->ir->insts[inst].c; k++) {
        if (is_loop(e->ir->insts[k].op)) {
            return true;
        }
    }
    return false;
}

static void next_counter(emit *e, uint32_t inst, const range *r) {
    const uint32_t *values = e->ir->operands + e->ir->insts[inst].a;
    uint32_t counter = inst + 1, lanes = lanes_of(e, counter);
    for (emit_lanes all = emit_each(e); emit_next(e, &all);) {
        uint32_t slot = *slot_of(e, counter), id = emit_new(e);
        uint32_t now = emit_read(e, type_of(e, counter), lanes, slot);
        emit_line(e, "%%t%u = add %s %%t%u, %%t%u", id, cpu_type(type_of(e, counter), lanes).text,
                  now, value_for(e, counter, values[2]));
        emit_assign(e, type_of(e, counter), lanes, slot, id);
        if (!fact_of(e, counter)->varying) {
            all.next = all.first + all.count; /* all have the same one */
        }
    }
    uint32_t turn = emit_read(e, VYRE_TYPE_U64, 1, r->turn), next = emit_new(e);
    emit_line(e, "%%t%u = add i64 %%t%u, 1", next, turn);
    emit_line(e, "store i64 %%t%u, ptr %%t%u", next, r->turn);
}

/* The code of a loop up to its end, results being in their slots. */
static void emit_turns(emit *e, uint32_t inst, range r) {
    const vyre_inst *i = &e->ir->insts[inst];
    const uint32_t *values = e->ir->operands + i->a;
    bool is_for = i->op == VYRE_OP_FOR;
    uint32_t args = is_for ? i->b - 2 : i->b, carried = is_for ? args - 1 : args;
    uint32_t first = is_for ? inst + 2 : inst + 1;
    uint32_t before = e->mask;
    uint32_t head = emit_label(e), inside = emit_label(e), latch = emit_label(e);
    uint32_t behind = emit_label(e), used_up = emit_label(e);
    uint32_t exec = parts(e, inst) ? emit_mask_variable(e) : 0;
    make_slots(e, inst + 1, args);
    if (is_for) {
        put_list(e, inst + 1, values, 1, false);
    }
    put_list(e, first, values + (is_for ? 3 : 0), carried, false);
    if (exec) {
        emit_assign(e, VYRE_TYPE_BOOL, e->lanes, exec, before);
    }

    emit_start(e, head);
    e->mask = before;
    if (is_for) {
        emit_branch(e, more_turns(e, inst, &r, exec), inside, used_up);
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
    get_list(e, inst + 1, args);
    emit_open *opened = open_block(e, inst, latch);
    opened->exec = exec;
    opened->exit = behind;
    opened->latch = latch;
    start_live(e, opened, fact_of(e, inst)->partial);
    emit_region_block(e, inst + 1 + args, i->c);
    e->depth--;

    emit_start(e, latch);
    if (is_for) {
        next_counter(e, inst, &r);
    }
    if (!is_for || has_inner_loop(e, inst)) {
        emit_stop_check(e, behind);
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
}

/* Where all accesses of a loop can be tested before it, it is written twice: without checks for
 * when they stay inside, and with them. */
static void emit_loop(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t before = e->mask, results = result_count(e, inst), test = 0;
    range r = {0};
    make_slots(e, i->c, results);
    if (i->op == VYRE_OP_FOR) {
        r = make_range(e, inst, false);
        test = r.varying ? 0 : emit_loop_test(e, inst, r.turns);
    }
    if (test) {
        uint32_t inside = emit_label(e), checked = emit_label(e), behind = emit_label(e);
        emit_branch(e, test, inside, checked);
        emit_start(e, inside);
        emit_loop_tested(e, inst, true);
        emit_turns(e, inst, r);
        emit_loop_tested(e, inst, false);
        emit_jump(e, behind);
        emit_start(e, checked);
        emit_turns(e, inst, r);
        emit_start(e, behind);
    } else {
        emit_turns(e, inst, r);
    }
    get_list(e, i->c, results);
    meet(e, before);
}

void emit_control(emit *e, uint32_t inst) {
    switch (e->ir->insts[inst].op) {
    case VYRE_OP_IF: emit_if(e, inst); break;
    case VYRE_OP_INLINE: emit_inline(e, inst); break;
    default: emit_loop(e, inst); break;
    }
}

static uint32_t op_of(const emit *e, uint32_t level) {
    uint32_t owner = e->stack[level].owner;
    return owner == VYRE_NONE ? (uint32_t)VYRE_OP_NONE : e->ir->insts[owner].op;
}

static uint32_t target_of(const emit *e, uint32_t op) {
    uint32_t level = e->depth - 1;
    if (op == VYRE_OP_YIELD) {
        return level;
    }
    bool to_loop = op == VYRE_OP_BREAK || op == VYRE_OP_CONTINUE;
    while (level && (to_loop ? !is_loop(op_of(e, level)) : op_of(e, level) != VYRE_OP_INLINE)) {
        level--;
    }
    return level;
}

static void remove_lanes(emit *e, uint32_t variable) {
    uint32_t now = emit_read(e, VYRE_TYPE_BOOL, e->lanes, variable);
    emit_assign(e, VYRE_TYPE_BOOL, e->lanes, variable, emit_and_not(e, now, e->mask));
}

static void put_crossing(emit *e, uint32_t inst, uint32_t value, bool blend) {
    if (blend && !e->scalar && fact_of(e, inst)->varying) {
        value = emit_pick(e, type_of(e, inst), e->mask, value, emit_load_crossing(e, inst));
    }
    emit_store_crossing(e, inst, value);
}

static const emit_group *group_target(const emit *e, const emit_group *open, uint32_t op) {
    if (op == VYRE_OP_YIELD) {
        return open;
    }
    bool to_loop = op == VYRE_OP_BREAK || op == VYRE_OP_CONTINUE;
    while (open->outer) {
        uint32_t kind = e->ir->insts[open->owner].op;
        if (to_loop ? is_loop(kind) : kind == VYRE_OP_INLINE) {
            break;
        }
        open = open->outer;
    }
    return open;
}

/* Lanes leave all blocks of the region, and group blocks around it, one by one. */
static void leave_groups(emit *e, const vyre_inst *i) {
    const emit_group *target = group_target(e, e->group, i->op);
    if (target->outer) {
        uint32_t owner = target->owner, kind = e->ir->insts[owner].op;
        bool back = i->op == VYRE_OP_CONTINUE;
        uint32_t first = back ? owner + (kind == VYRE_OP_FOR ? 2 : 1) : e->ir->insts[owner].c;
        for (uint32_t k = 0; k < i->b; k++) {
            put_crossing(e, first + k, value_for(e, first + k, e->ir->operands[i->a + k]), true);
        }
    }
    for (const emit_group *group = e->group; group != target;) {
        group = group->outer;
        if (group->partial) {
            emit_set_alive(e, group, emit_and_not(e, emit_alive(e, group), e->mask));
        }
    }
}

/* The end of a block inside a region. */
void emit_jump_out(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    if (i->op == VYRE_OP_UNREACHABLE) {
        emit_jump(e, e->stack[e->depth - 1].rest);
        return;
    }
    uint32_t level = target_of(e, i->op), owner = e->stack[level].owner;
    const uint32_t *values = e->ir->operands + i->a;
    uint32_t op = op_of(e, level);
    if (!level && e->group) {
        leave_groups(e, i);
    } else if (owner != VYRE_NONE) {
        const cpu_fact *fact = fact_of(e, owner);
        bool back = is_loop(op) && (i->op == VYRE_OP_YIELD || i->op == VYRE_OP_CONTINUE);
        uint32_t first = back ? owner + (op == VYRE_OP_FOR ? 2 : 1) : e->ir->insts[owner].c;
        put_list(e, first, values, i->b, back ? fact->blends : fact->divergent);
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

/* The workgroup's own control flow, between regions. */

typedef struct piece {
    uint32_t first, end;
} piece;

static void emit_piece(emit *e, const void *user) {
    const piece *p = user;
    emit_region_block(e, p->first, p->end);
}

/* Values into args or results of a group block, for every chunk. */
typedef struct transfer {
    uint32_t to;
    const uint32_t *operands;
    uint32_t count;
    bool blend; /* for the lanes that run alone */
} transfer;

static void transfer_lane(emit *e, const transfer *t) {
    enum { FEW = 64 };
    uint32_t ids[FEW];
    for (uint32_t start = 0; start < t->count; start += FEW) {
        uint32_t end = t->count - start < FEW ? t->count : start + FEW;
        for (uint32_t k = start; k < end; k++) {
            ids[k - start] = value_for(e, t->to + k, t->operands[k]);
        }
        for (uint32_t k = start; k < end; k++) {
            put_crossing(e, t->to + k, ids[k - start], t->blend);
        }
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
        emit_for_chunks(e, start_alive, group);
    }
    e->group = group;
}

static emit_group make_group(emit *e, uint32_t owner, const emit_group *outer) {
    emit_group group = {owner, emit_label(e), emit_label(e), false, 0, outer};
    group.partial = owner == VYRE_NONE ? e->facts.partial : fact_of(e, owner)->partial;
    group.alive = group.partial ? emit_reserve(e, (uint64_t)e->facts.lanes * e->chunks) : 0;
    return group;
}

static void group_code(emit *e, uint32_t first, uint32_t end, const emit_group *open);

static void group_jump(emit *e, uint32_t inst, const emit_group *open) {
    const vyre_inst *i = &e->ir->insts[inst];
    const emit_group *target = group_target(e, open, i->op);
    const uint32_t *values = e->ir->operands + i->a;
    if (i->op == VYRE_OP_UNREACHABLE) {
        emit_jump(e, e->group_end);
        return;
    }
    bool back = false;
    if (target->outer) {
        uint32_t owner = target->owner, kind = e->ir->insts[owner].op;
        back = is_loop(kind) && (i->op == VYRE_OP_YIELD || i->op == VYRE_OP_CONTINUE);
        transfer_all(e, back ? owner + (kind == VYRE_OP_FOR ? 2 : 1) : e->ir->insts[owner].c,
                     values, i->b, target->partial);
    }
    emit_jump(e, back ? target->latch : target->exit);
}

static void group_if(emit *e, uint32_t inst, const emit_group *outer) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t yes = emit_label(e), no = emit_label(e);
    const emit_group open = make_group(e, inst, outer);
    uint32_t condition = emit_scalar(e, i->a);
    open_group(e, &open);
    emit_branch(e, condition, yes, no);
    emit_start(e, yes);
    group_code(e, inst + 1, i->b, &open);
    emit_jump(e, open.exit);
    emit_start(e, no);
    group_code(e, i->b, i->c, &open);
    emit_start(e, open.exit);
    e->group = outer;
}

static void store_counter(emit *e, const void *user) {
    const uint32_t *pair = user; /* the arg, and the scalar */
    uint32_t value = pair[1];
    if (fact_of(e, pair[0])->varying) {
        value = cpu_write_splat(&e->w, type_of(e, pair[0]), e->lanes, value);
    }
    for (emit_lanes all = emit_each(e); emit_next(e, &all);) {
        emit_store_crossing(e, pair[0], value);
    }
}

static void group_loop(emit *e, uint32_t inst, const emit_group *outer) {
    const vyre_inst *i = &e->ir->insts[inst];
    const uint32_t *values = e->ir->operands + i->a;
    bool is_for = i->op == VYRE_OP_FOR;
    uint32_t carried = is_for ? i->b - 3 : i->b, first = is_for ? inst + 2 : inst + 1;
    uint32_t head = emit_label(e), inside = emit_label(e), used_up = emit_label(e);
    const emit_group open = make_group(e, inst, outer);
    range r = {0};
    uint32_t counter = 0, step = 0;
    vyre_type type = is_for ? type_of(e, inst + 1) : VYRE_TYPE_U32;
    if (is_for) {
        r = make_range(e, inst, true);
        counter = emit_variable(e, type, 1);
        emit_assign(e, type, 1, counter, emit_scalar(e, values[0]));
        step = emit_scalar(e, values[2]);
    }
    transfer_all(e, first, values + (is_for ? 3 : 0), carried, false);
    emit_start(e, head);
    if (is_for) {
        uint32_t turn = emit_read(e, VYRE_TYPE_U64, 1, r.turn), more = emit_new(e);
        emit_line(e, "%%t%u = icmp ult i64 %%t%u, %%t%u", more, turn, r.turns);
        emit_branch(e, more, inside, used_up);
    } else {
        emit_jump(e, inside);
    }
    emit_start(e, inside);
    open_group(e, &open);
    if (is_for) {
        const uint32_t pair[2] = {inst + 1, emit_read(e, type, 1, counter)};
        emit_for_chunks(e, store_counter, pair);
    }
    group_code(e, first + carried, i->c, &open);
    emit_start(e, open.latch);
    if (is_for) {
        uint32_t now = emit_read(e, type, 1, counter), next = emit_new(e);
        emit_line(e, "%%t%u = add %s %%t%u, %%t%u", next, cpu_type(type, 1).text, now, step);
        emit_assign(e, type, 1, counter, next);
        uint32_t turn = emit_read(e, VYRE_TYPE_U64, 1, r.turn), later = emit_new(e);
        emit_line(e, "%%t%u = add i64 %%t%u, 1", later, turn);
        emit_line(e, "store i64 %%t%u, ptr %%t%u", later, r.turn);
    }
    emit_stop_check(e, e->group_end);
    emit_jump(e, head);
    emit_start(e, used_up);
    if (is_for) {
        uint32_t operands[VYRE_LIMIT_CARRIED];
        for (uint32_t k = 0; k < carried; k++) {
            operands[k] = first + k;
        }
        e->group = outer;
        transfer_all(e, i->c, operands, carried, false);
    }
    emit_start(e, open.exit);
    e->group = outer;
}

static void group_inline(emit *e, uint32_t inst, const emit_group *outer) {
    const emit_group open = make_group(e, inst, outer);
    open_group(e, &open);
    group_code(e, inst + 1, e->ir->insts[inst].c, &open);
    emit_start(e, open.exit);
    e->group = outer;
}

/* An element that all get alike, with all that was written before. */
static void store_loaded(emit *e, const void *user) {
    const uint32_t *pair = user;
    emit_store_crossing(e, pair[0], pair[1]);
}

static void group_load(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t index = emit_scalar(e, i->b);
    const uint32_t pair[2] = {inst, emit_load_uniform(e, inst, index)};
    emit_for_chunks(e, store_loaded, pair);
}

static bool is_group_code(const emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t effects = vyre_op_info_of(i->op)->effects;
    return i->op == VYRE_OP_BARRIER || i->op == VYRE_OP_UNIFORM_LOAD ||
           (effects & VYRE_EFFECT_BLOCK && fact_of(e, inst)->group) ||
           (effects & VYRE_EFFECT_END && fact_of(e, inst)->group);
}

static uint32_t behind_of(const emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    return vyre_op_info_of(i->op)->effects & VYRE_EFFECT_BLOCK ? i->c : inst + 1;
}

static void group_code(emit *e, uint32_t first, uint32_t end, const emit_group *open) {
    for (uint32_t inst = first; inst < end;) {
        const vyre_inst *i = &e->ir->insts[inst];
        if (!is_group_code(e, inst)) {
            piece p = {inst, inst};
            bool any = false;
            while (p.end < end && !is_group_code(e, p.end)) {
                uint32_t op = e->ir->insts[p.end].op;
                any = any || (op != VYRE_OP_ARG && op != VYRE_OP_RESULT);
                if (op != VYRE_OP_ARG && op != VYRE_OP_RESULT) {
                    e->region = fact_of(e, p.end)->region;
                }
                p.end = behind_of(e, p.end);
            }
            if (any) {
                emit_for_chunks(e, emit_piece, &p);
            }
            inst = p.end;
            continue;
        }
        switch (i->op) {
        case VYRE_OP_BARRIER: break; /* all chunks of the region are through */
        case VYRE_OP_UNIFORM_LOAD: group_load(e, inst); break;
        case VYRE_OP_IF: group_if(e, inst, open); break;
        case VYRE_OP_FOR:
        case VYRE_OP_LOOP: group_loop(e, inst, open); break;
        case VYRE_OP_INLINE: group_inline(e, inst, open); break;
        default: group_jump(e, inst, open); break;
        }
        inst = behind_of(e, inst);
    }
}

void emit_group_code(emit *e, uint32_t first, uint32_t end) {
    emit_group open = make_group(e, VYRE_NONE, NULL);
    open.exit = open.latch = e->group_end;
    open_group(e, &open);
    group_code(e, first, end, &open);
    e->group = NULL;
}
