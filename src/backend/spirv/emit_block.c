/* Control flow. What leaves an `if` is a phi; what a loop carries, and what leaves a loop or an
 * `inline` at several places, are variables of the function, which drivers make values of.
 *
 * A `return` from the middle of an `inline` leaves a switch that has only a default. Out of loops
 * it goes one by one: it sets a flag and leaves the innermost loop, behind which the flag is looked
 * at. The same holds for the phase, behind which the next group may follow. */
#include "backend/spirv/emit_state.h"
#include "backend/spirv/turns.h"
#include "ir/cases.h"

static vyre_type type_of(const emit *e, uint32_t inst) {
    return vyre_inst_type(&e->ir->insts[inst]);
}

static spv_id *variable_of(emit *e, uint32_t inst) {
    return &e->variables[inst - e->phase->first];
}

static spv_id new_variable(emit *e, vyre_type type) {
    return spirv_local(&e->b, spirv_type(&e->b, spirv_kind_of(type)));
}

static void declare(emit *e, vyre_block picks) {
    for (uint32_t inst = picks.first; inst < picks.end; inst++) {
        if (!*variable_of(e, inst)) {
            *variable_of(e, inst) = new_variable(e, type_of(e, inst));
        }
    }
}

/* What stands in variables, as values from here on. */
static void load_all(emit *e, vyre_block picks) {
    for (uint32_t inst = picks.first; inst < picks.end; inst++) {
        spirv_kind kind = spirv_kind_of(type_of(e, inst));
        spirv_emit_set(e, inst, SPIRV_VALUE(&e->b, SPV_Load, kind, *variable_of(e, inst)));
    }
}

static void store_all(emit *e, uint32_t first, vyre_list values) {
    for (uint32_t k = 0; k < values.count; k++) {
        spv_id bits = spirv_emit_bits(e, values.items[k]);
        SPIRV_LINE(&e->b, SPV_Store, *variable_of(e, first + k), bits);
    }
}

static void set_flag(emit *e, spv_id flag, bool on) {
    SPIRV_LINE(&e->b, SPV_Store, flag, spirv_truth(&e->b, on));
}

void spirv_emit_block(emit *e, vyre_block code) {
    for (uint32_t inst = code.first; inst < code.end && e->b.block;
         inst = vyre_inst_next(e->ir, inst)) {
        spirv_emit_instruction(e, inst);
    }
}

static emit_open *open_block(emit *e, uint32_t owner, spv_id exit, spv_id latch) {
    emit_open *open = &e->stack[e->depth++];
    *open = (emit_open){.owner = owner, .exit = exit, .latch = latch, .end = VYRE_NONE};
    return open;
}

/* If */

/* A value of each branch, or that of the one whose end leads on. */
static void join(emit *e, uint32_t inst, const emit_open *open) {
    vyre_block results = vyre_results(e->ir, inst);
    for (uint32_t result = results.first; result < results.end; result++) {
        spv_id yes = *variable_of(e, result), no = emit_slot(e, result)->id, id = yes ? yes : no;
        *variable_of(e, result) = 0;
        if (open->froms[0] && open->froms[1]) {
            id = SPIRV_VALUE(&e->b, SPV_Phi, spirv_kind_of(type_of(e, result)), yes, open->froms[0],
                             no, open->froms[1]);
        }
        spirv_emit_set(e, result, id);
    }
}

static void write_if(emit *e, uint32_t inst) {
    spirv_builder *b = &e->b;
    vyre_block other = vyre_else_block(e->ir, inst);
    spv_id yes = spirv_new(b), no = spirv_new(b), behind = spirv_new(b);
    bool no_else = vyre_block_is_empty(e->ir, other);
    spv_id condition = spirv_emit_bits(e, e->ir->insts[inst].a);
    SPIRV_LINE(b, SPV_SelectionMerge, behind, 0);
    spirv_branch(b, condition, yes, no_else ? behind : no);
    emit_open *open = open_block(e, inst, behind, 0);
    spirv_place(b, yes);
    spirv_emit_block(e, vyre_then_block(e->ir, inst));
    if (!no_else) {
        spirv_place(b, no);
        spirv_emit_block(e, other);
    }
    e->depth--;
    spirv_place(b, behind);
    join(e, inst, open);
}

static void yield(emit *e, uint32_t inst) {
    emit_open *open = &e->stack[e->depth - 1];
    vyre_list values = vyre_inst_operands(e->ir, &e->ir->insts[inst]);
    bool in_else = inst >= vyre_else_block(e->ir, open->owner).first;
    for (uint32_t k = 0; k < values.count; k++) {
        spv_id bits = spirv_emit_bits(e, values.items[k]);
        uint32_t result = vyre_result(e->ir, open->owner, k);
        if (in_else) {
            spirv_emit_set(e, result, bits);
        } else {
            *variable_of(e, result) = bits;
        }
    }
    open->froms[in_else] = e->b.block;
    spirv_jump(&e->b, open->exit);
}

/* Ways out of an `inline` and of the phase */

/* Opens what a `return` leaves: a switch, if it may do so early. */
static void open_exit(emit *e, uint32_t owner) {
    spirv_builder *b = &e->b;
    uint32_t leaves = spirv_leaves(&e->facts, owner);
    bool early = leaves & SPIRV_LEAVES_EARLY;
    emit_open *open = open_block(e, owner, early ? spirv_new(b) : 0, 0);
    if (leaves & SPIRV_LEAVES_LOOPS) {
        open->flag = spirv_local(b, spirv_type(b, SPIRV_BOOL));
        set_flag(e, open->flag, false);
    }
    if (early) {
        spv_id inside = spirv_new(b);
        SPIRV_LINE(b, SPV_SelectionMerge, open->exit, 0);
        SPIRV_LINE(b, SPV_Switch, spirv_u32(b, 0), inside);
        b->block = 0;
        spirv_place(b, inside);
    }
}

static void close_exit(emit *e) {
    spv_id exit = e->stack[--e->depth].exit;
    if (exit) {
        spirv_place(&e->b, exit);
    }
}

static void write_inline(emit *e, uint32_t inst) {
    vyre_block results = vyre_results(e->ir, inst);
    bool early = spirv_leaves(&e->facts, inst) & SPIRV_LEAVES_EARLY;
    if (early) {
        declare(e, results);
    }
    open_exit(e, inst);
    spirv_emit_block(e, vyre_body_block(e->ir, inst));
    close_exit(e);
    if (early) {
        load_all(e, results);
    }
}

void spirv_emit_body(emit *e) {
    e->depth = 0;
    e->line = 0;
    open_exit(e, VYRE_NONE);
    for (uint32_t r = e->phase->first_resource; r < e->phase->end_resource; r++) {
        if (e->ir->resources[r].kind == VYRE_RESOURCE_PRIVATE && e->facts.used[r]) {
            spirv_emit_clear(e, r);
        }
    }
    spirv_emit_block(e, vyre_phase_block(e->phase));
    close_exit(e);
}

/* The label that a jump out to a level goes to from here: that level's own, or the innermost loop's
 * in between. */
static spv_id way_out(const emit *e, uint32_t level) {
    for (uint32_t k = e->depth - 1; k > level; k--) {
        if (e->stack[k].owner != VYRE_NONE && vyre_op_is_loop(e->ir->insts[e->stack[k].owner].op)) {
            return e->stack[k].exit;
        }
    }
    return e->stack[level].exit;
}

static uint32_t target_of(const emit *e, uint32_t op) {
    uint32_t level = e->depth - 1;
    while (!vyre_jump_ends(e->ir, op, e->stack[level].owner)) {
        level--;
    }
    return level;
}

static void give_back(emit *e, uint32_t inst) {
    uint32_t level = target_of(e, VYRE_OP_RETURN);
    const emit_open *open = &e->stack[level];
    vyre_list values = vyre_inst_operands(e->ir, &e->ir->insts[inst]);
    if (!open->exit) { /* the end of its block */
        for (uint32_t k = 0; k < values.count && open->owner != VYRE_NONE; k++) {
            *emit_slot(e, vyre_result(e->ir, open->owner, k)) =
                spirv_emit_operand(e, values.items[k]);
        }
        return;
    }
    if (open->owner != VYRE_NONE) {
        store_all(e, vyre_result(e->ir, open->owner, 0), values);
    }
    spv_id to = way_out(e, level);
    if (to != open->exit) {
        set_flag(e, open->flag, true);
    }
    spirv_jump(&e->b, to);
}

/* The end of a block. */
void spirv_emit_jump_out(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    if (i->op == VYRE_OP_UNREACHABLE) {
        spirv_end(&e->b, SPV_Unreachable);
    } else if (i->op == VYRE_OP_YIELD) {
        yield(e, inst);
    } else if (i->op == VYRE_OP_RETURN) {
        give_back(e, inst);
    } else {
        const emit_open *open = &e->stack[target_of(e, i->op)];
        vyre_list values = vyre_inst_operands(e->ir, i);
        store_all(e, vyre_jump_target(e->ir, i, open->owner, 0), values);
        spirv_jump(&e->b, i->op == VYRE_OP_CONTINUE ? open->latch : open->exit);
    }
}

/* Loops */

/* Variables of what a loop carries. What leaves a `for` is what it carries; a `loop` may be left by
 * something else. */
static void declare_carried(emit *e, uint32_t inst) {
    vyre_block args = vyre_carried_args(e->ir, inst), results = vyre_results(e->ir, inst);
    declare(e, args);
    for (uint32_t k = 0; e->ir->insts[inst].op == VYRE_OP_FOR && k < results.end - results.first;
         k++) {
        *variable_of(e, results.first + k) = *variable_of(e, args.first + k);
    }
    declare(e, results);
}

/* Behind a loop: on with a `return` that came out of it; and NaNs of its sums, which nobody looked
 * at before. */
static void settle(emit *e, uint32_t inst) {
    spirv_builder *b = &e->b;
    vyre_block results = vyre_results(e->ir, inst);
    if (spirv_leaves(&e->facts, inst) & SPIRV_LEAVES_LOOPS) {
        uint32_t level = target_of(e, VYRE_OP_RETURN);
        spv_id on = SPIRV_VALUE(b, SPV_Load, SPIRV_BOOL, e->stack[level].flag);
        spv_id behind = spirv_begin_if(b, on);
        spirv_jump(b, way_out(e, level));
        spirv_end_if(b, behind);
    }
    load_all(e, results);
    for (uint32_t result = results.first; result < results.end; result++) {
        if (vyre_nan_settles_late(&e->facts.nans, result)) {
            spv_id bits = emit_slot(e, result)->id;
            spirv_emit_set(e, result, spirv_canonical(b, type_of(e, result), bits));
        }
    }
}

/* A `for`: where the step is not 1, how many iterations are left is counted apart, so that the
 * counter never has to wrap. */
typedef struct counting {
    vyre_type type;
    spirv_kind kind;
    spv_id first, end, step;
    spv_id at, left;      /* variables: the counter, or what is left of it */
    spv_id now, left_now; /* in this iteration */
} counting;

static spv_id less(emit *e, const counting *c, spv_id x, spv_id y) {
    return spirv_two(&e->b, spirv_is_signed(c->type) ? SPV_SLessThan : SPV_ULessThan, SPIRV_BOOL, x,
                     y);
}

/* 0 if the range is empty or the step is not positive. */
static spv_id count_iterations(emit *e, const counting *c) {
    spirv_builder *b = &e->b;
    spv_id zero = spirv_number_of(b, c->kind, 0), one = spirv_number_of(b, c->kind, 1);
    spv_id positive = less(e, c, zero, c->step);
    spv_id some = spirv_two(b, SPV_LogicalAnd, SPIRV_BOOL, less(e, c, c->first, c->end), positive);
    spv_id by = spirv_choose(b, c->kind, positive, c->step, one);
    spv_id count = spirv_two(b, SPV_ISub, c->kind, c->end, c->first);
    count = spirv_two(b, SPV_ISub, c->kind, count, one);
    count = spirv_two(b, SPV_UDiv, c->kind, count, by);
    count = spirv_two(b, SPV_IAdd, c->kind, count, one);
    return spirv_choose(b, c->kind, some, count, zero);
}

static void begin_counting(emit *e, uint32_t inst, counting *c) {
    spirv_builder *b = &e->b;
    vyre_for_range range = vyre_for_range_of(e->ir, inst);
    c->type = vyre_operand_type(e->ir, range.first);
    c->kind = spirv_kind_of(c->type);
    c->first = spirv_emit_bits(e, range.first);
    c->end = spirv_emit_bits(e, range.end);
    c->step = spirv_emit_bits(e, range.step);
    c->at = new_variable(e, c->type);
    c->left = vyre_operand_has_bits(e->ir, range.step, 1) ? 0 : new_variable(e, c->type);
    SPIRV_LINE(b, SPV_Store, c->at, c->first);
    if (c->left) {
        SPIRV_LINE(b, SPV_Store, c->left, count_iterations(e, c));
    }
}

/* Whether the range is not exhausted. */
static spv_id has_more(emit *e, counting *c) {
    spirv_builder *b = &e->b;
    c->now = SPIRV_VALUE(b, SPV_Load, c->kind, c->at);
    if (c->left) {
        c->left_now = SPIRV_VALUE(b, SPV_Load, c->kind, c->left);
        return spirv_two(b, SPV_INotEqual, SPIRV_BOOL, c->left_now, spirv_number_of(b, c->kind, 0));
    }
    return less(e, c, c->now, c->end);
}

static void count_on(emit *e, const counting *c) {
    spirv_builder *b = &e->b;
    SPIRV_LINE(b, SPV_Store, c->at, spirv_two(b, SPV_IAdd, c->kind, c->now, c->step));
    if (c->left) {
        spv_id one = spirv_number_of(b, c->kind, 1);
        SPIRV_LINE(b, SPV_Store, c->left, spirv_two(b, SPV_ISub, c->kind, c->left_now, one));
    }
}

/* What an iteration counts for: itself and, for each loop in it, the turn that finds the end, which
 * a driver that runs all branches takes even where nobody comes to that loop. */
static uint32_t turns_of(const emit *e, uint32_t inst) {
    return 1 + spirv_loops_within(e->ir, vyre_body_block(e->ir, inst));
}

/* The head of an iteration, which leaves the loop where there is no further one, or may be none. */
static void begin_iteration(emit *e, uint32_t inst, counting *c, bool is_counted, spv_id exit) {
    spirv_builder *b = &e->b;
    spv_id more = c->at ? has_more(e, c) : 0, turns = 0;
    if (is_counted) {
        spv_id may = spirv_emit_may_turn(e, turns_of(e, inst), &turns);
        more = more ? spirv_two(b, SPV_LogicalAnd, SPIRV_BOOL, more, may) : may;
    }
    if (more) {
        spv_id inside = spirv_new(b);
        spirv_branch(b, more, inside, exit);
        spirv_place(b, inside);
    }
    if (is_counted) {
        spirv_emit_set_turns(e, turns);
    }
}

/* Behind a loop that is counted: where there may be no further turn, loops around end, too. */
static void end_counted(emit *e, uint32_t inst) {
    spirv_builder *b = &e->b;
    spv_id turns, may = spirv_emit_may_turn(e, turns_of(e, inst), &turns);
    spv_id behind = spirv_begin_if(b, SPIRV_VALUE(b, SPV_LogicalNot, SPIRV_BOOL, may));
    uint32_t level = e->depth;
    while (level > 0 && (e->stack[level - 1].owner == VYRE_NONE ||
                         !vyre_op_is_loop(e->ir->insts[e->stack[level - 1].owner].op))) {
        level--;
    }
    if (level) {
        spirv_jump(b, e->stack[level - 1].exit);
    } else {
        spirv_emit_give_up(e);
    }
    spirv_end_if(b, behind);
}

static void write_loop(emit *e, uint32_t inst) {
    spirv_builder *b = &e->b;
    bool counts = e->ir->insts[inst].op == VYRE_OP_FOR;
    spv_id head = spirv_new(b), body = spirv_new(b), latch = spirv_new(b), exit = spirv_new(b);
    counting c = {0};
    bool is_short = spirv_ends_soon(e->ir, inst), is_counted = !is_short && e->most_turns;
    declare_carried(e, inst);
    store_all(e, vyre_loop_arg(e->ir, inst, 0), vyre_loop_initial(e->ir, inst));
    if (is_short && !e->known_loops) {
        spirv_emit_known_turns(e, spirv_turns_of_known(e->ir, inst));
    }
    e->known_loops += is_short;
    if (counts) {
        begin_counting(e, inst, &c);
    }
    spirv_place(b, head);
    SPIRV_LINE(b, SPV_LoopMerge, exit, latch, 0);
    spirv_place(b, body);
    begin_iteration(e, inst, &c, is_counted, exit);
    if (counts) {
        spirv_emit_set(e, vyre_for_counter(inst), c.now);
    }
    if (!is_short) {
        spirv_emit_poll(e);
    }
    open_block(e, inst, exit, latch);
    load_all(e, vyre_carried_args(e->ir, inst));
    spirv_emit_block(e, vyre_body_block(e->ir, inst));
    e->depth--;
    spirv_place(b, latch);
    if (counts) {
        count_on(e, &c);
    }
    spirv_jump(b, head);
    spirv_place(b, exit);
    e->known_loops -= is_short;
    if (is_counted) {
        end_counted(e, inst);
    }
    settle(e, inst);
}

void spirv_emit_control(emit *e, uint32_t inst) {
    switch (vyre_inst_op(&e->ir->insts[inst])) {
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, PICK, JUMP, NONE):
        break;
    case VYRE_OP_IF: write_if(e, inst); return;
    case VYRE_OP_INLINE: write_inline(e, inst); return;
    case VYRE_ONE_OF(LOOP, FOR): write_loop(e, inst); return;
    }
    spirv_emit_unknown(e, inst);
}
