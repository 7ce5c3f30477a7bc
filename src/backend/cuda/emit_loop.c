/* Loops: small ones of known length are written out, others several turns at a time, so that their
 * loads are under way together. Every loop that may run for long can be stopped. */
#include "backend/cuda/emit_state.h"
#include "ir/lookup.h"

enum {
    POLL_TURNS = 1024,     /* between two looks at whether to stop; a power of 2 */
    WHOLE_LIMIT = 512,     /* instructions that a loop written out may become */
    REPEATED_LIMIT = 24,   /* of a body that is written several times a turn */
    REPEATED = 4,          /* at least that often, */
    REPEATED_LOADS = 16,   /* and at most, if there is something to wait for */
    REPEATED_SIZE = 128,   /* as long as it is no larger */
    REPEATED_LOADING = 48, /* of a body that has to wait for memory */
    INVARIANT_DEPTH = 6,   /* operations in one another that are done before a loop */
};

/* Out of the way, and back: ends the thread if somebody asked for that. */
static void poll(emit *e, cuda_reg due, cuda_reg countdown) {
    uint32_t away = cuda_emit_label(e), back = cuda_emit_label(e);
    cuda_emit_branch(e, due, true, away, false);
    cuda_emit_place(e, back);
    vyre_text kept = e->w.code;
    e->w.code = e->cold;
    cuda_emit_place(e, away);
    if (countdown.kind) {
        cuda_move(&e->w, countdown, cuda_u32(POLL_TURNS));
    }
    cuda_emit_stop_check(e);
    cuda_emit_jump(e, back);
    e->cold = e->w.code;
    e->w.code = kept;
}

void cuda_emit_loop(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t head = cuda_emit_label(e), latch = cuda_emit_label(e), behind = cuda_emit_label(e);
    cuda_reg countdown = cuda_new(&e->w, CUDA_B32);
    cuda_emit_slots(e, inst + 1, i->b);
    cuda_emit_slots(e, i->c, cuda_emit_result_count(e, inst));
    cuda_emit_assign(e, inst + 1, e->ir->operands + i->a, i->b);
    cuda_move(&e->w, countdown, cuda_u32(POLL_TURNS));
    cuda_emit_place(e, head);
    cuda_emit_open(e, inst, behind, latch);
    cuda_emit_block(e, inst + 1 + i->b, i->c);
    e->depth--;
    cuda_emit_place(e, latch);
    cuda_line(&e->w, "sub.u32 %s, %s, 1", cuda_reg_name(countdown).text,
              cuda_reg_name(countdown).text);
    poll(e, cuda_two(&e->w, "setp.eq.u32", CUDA_PRED, countdown, cuda_u32(0)), countdown);
    cuda_line(&e->w, "bra L%u", head);
    cuda_emit_place(e, behind);
    cuda_emit_settle(e, inst);
}

/* A `for`: how many turns are left is counted apart, so that the counter never has to wrap. */
typedef struct range {
    uint32_t inst, args; /* args: of the block, the counter included */
    vyre_type type;      /* of the counter */
    cuda_class kind;     /* of the turns */
    cuda_reg counter, step, left;
    uint32_t latch, behind;
} range;

/* Turns of a range that is not constant: 0 if it is empty or the step is not positive. */
static cuda_reg count_turns(emit *e, const range *r, cuda_reg first, cuda_reg end, cuda_reg step) {
    cuda_writer *w = &e->w;
    bool wide = r->kind == CUDA_B64, is_signed = cuda_is_signed(r->type);
    cuda_reg zero = cuda_number(r->kind, 0), one = cuda_number(r->kind, 1);
    const char *less = wide ? (is_signed ? "setp.lt.s64" : "setp.lt.u64")
                            : (is_signed ? "setp.lt.s32" : "setp.lt.u32");
    cuda_reg some = cuda_two(w, less, CUDA_PRED, first, end);
    cuda_reg count = cuda_two(w, wide ? "sub.u64" : "sub.u32", r->kind, end, first);
    if (!step.immediate || step.bits != 1) {
        cuda_reg positive = cuda_two(w, less, CUDA_PRED, zero, step);
        some = cuda_two(w, "and.pred", CUDA_PRED, some, positive);
        cuda_reg by = step.immediate && step.bits ? step : cuda_choose(w, positive, step, one);
        count = cuda_two(w, wide ? "sub.u64" : "sub.u32", r->kind, count, one);
        count = cuda_two(w, wide ? "div.u64" : "div.u32", r->kind, count, by);
        count = cuda_two(w, wide ? "add.u64" : "add.u32", r->kind, count, one);
    }
    return cuda_choose(w, some, count, zero);
}

/* The body, from the args as they are to what they become. */
static void write_turn(emit *e, const range *r) {
    uint32_t latch = cuda_emit_label(e);
    cuda_emit_open(e, r->inst, r->behind, latch);
    cuda_emit_block(e, r->inst + 1 + r->args, e->ir->insts[r->inst].c);
    e->depth--;
    cuda_emit_place(e, latch);
}

static void next_turn(emit *e, const range *r, uint32_t turns_done) {
    cuda_name counter = cuda_reg_name(r->counter), left = cuda_reg_name(r->left);
    cuda_line(&e->w, "add.%s %s, %s, %s", cuda_width(r->type) == 64 ? "u64" : "u32", counter.text,
              counter.text, cuda_reg_name(r->step).text);
    if (turns_done) {
        cuda_line(&e->w, "sub.%s %s, %s, %u", r->kind == CUDA_B64 ? "u64" : "u32", left.text,
                  left.text, turns_done);
    }
}

static void poll_turns(emit *e, const range *r, uint32_t turns_done) {
    cuda_reg low =
        r->kind == CUDA_B64 ? cuda_one(&e->w, "cvt.u32.u64", CUDA_B32, r->left) : r->left;
    low = cuda_two(&e->w, "and.b32", CUDA_B32, low, cuda_u32(POLL_TURNS - 1));
    poll(e, cuda_two(&e->w, "setp.lt.u32", CUDA_PRED, low, cuda_u32(turns_done)), cuda_none());
}

/* Instructions in the code of a block, with those of loops that are written out as often as they
 * will be. */
static uint64_t weight_of(const emit *e, uint32_t first, uint32_t end) {
    uint64_t weight = 0;
    for (uint32_t inst = first; inst < end;) {
        const vyre_inst *i = &e->ir->insts[inst];
        uint32_t turns = cuda_constant_turns(e->ir, inst);
        if (turns) {
            uint64_t inner = weight_of(e, inst + 1, i->c) * turns;
            weight += inner <= WHOLE_LIMIT ? inner : inner / turns;
            inst = i->c;
        } else {
            bool is_code = !(vyre_lookup_op(i->op)->effects & VYRE_EFFECT_END) &&
                           i->op != VYRE_OP_ARG && i->op != VYRE_OP_RESULT;
            weight += is_code;
            inst++;
        }
    }
    return weight;
}

/* How often the body of a loop is written in a turn: loads of several turns are under way at once
 * then. Loops inside must be such that are written out. */
static uint32_t how_often(const emit *e, uint32_t first, uint32_t end) {
    bool loads = false;
    for (uint32_t inst = first; inst < end; inst++) {
        const vyre_inst *i = &e->ir->insts[inst];
        uint32_t effects = vyre_lookup_op(i->op)->effects, turns = cuda_constant_turns(e->ir, inst);
        bool whole = turns && weight_of(e, inst + 1, i->c) * turns <= REPEATED_SIZE;
        if ((effects & VYRE_EFFECT_BLOCK && !whole) || effects & VYRE_EFFECT_SYNC) {
            return 1;
        }
        loads = loads ||
                (i->op == VYRE_OP_LOAD && e->ir->resources[i->a].kind <= VYRE_RESOURCE_SCRATCH);
    }
    uint64_t size = weight_of(e, first, end) * (e->end_part - e->first_part);
    uint32_t often = REPEATED;
    if (size > (loads ? REPEATED_LOADING : REPEATED_LIMIT)) {
        return 1;
    }
    while (loads && often < REPEATED_LOADS && 2 * often * size <= REPEATED_SIZE) {
        often *= 2;
    }
    return often;
}

/* Whether a value is the same in all turns, and can be had before they begin: from outside, or made
 * of such values without a look at memory. */
static bool is_invariant(const emit *e, const range *r, uint32_t operand, uint32_t depth) {
    if (operand & VYRE_CONSTANT || operand < r->inst) {
        return true;
    }
    const vyre_inst *i = &e->ir->insts[operand];
    if (vyre_lookup_op(i->op)->effects || i->op == VYRE_OP_ARG || i->op == VYRE_OP_RESULT ||
        !depth) {
        return false;
    }
    const uint32_t *values;
    uint32_t count = vyre_lookup_values(e->ir, i, &values);
    for (uint32_t k = 0; k < count; k++) {
        if (!is_invariant(e, r, values[k], depth - 1)) {
            return false;
        }
    }
    return true;
}

/* Computes such a value there. */
static void write_invariant(emit *e, const range *r, uint32_t operand) {
    if (operand & VYRE_CONSTANT || operand < r->inst) {
        return;
    }
    const uint32_t *values;
    uint32_t count = vyre_lookup_values(e->ir, &e->ir->insts[operand], &values);
    for (uint32_t k = 0; k < count; k++) {
        write_invariant(e, r, values[k]);
    }
    cuda_emit_instruction(e, operand);
}

/* The value that is added to the counter to give the index of a load, VYRE_NONE if there is none;
 * false if it is something else, or changes from turn to turn. */
static bool base_of(const emit *e, const range *r, uint32_t index, uint32_t *out_base) {
    uint32_t counter = r->inst + 1;
    *out_base = VYRE_NONE;
    if (index == counter) {
        return true;
    }
    if (index & VYRE_CONSTANT || e->ir->insts[index].op != VYRE_OP_ADD || index < r->inst) {
        return false;
    }
    const vyre_inst *sum = &e->ir->insts[index];
    *out_base = sum->a == counter ? sum->b : sum->a;
    return (sum->a == counter || sum->b == counter) &&
           is_invariant(e, r, *out_base, INVARIANT_DEPTH);
}

/* Finds the loads of small elements, from memory that nobody writes, that can be done for several
 * turns at once. */
static void find_ahead(emit *e, const range *r, emit_ahead *out) {
    const vyre_inst *loop = &e->ir->insts[r->inst];
    uint32_t step = e->ir->operands[loop->a + 2];
    out->count = 0;
    if (cuda_width(r->type) != 32 || !(step & VYRE_CONSTANT) ||
        e->ir->consts[step & ~VYRE_CONSTANT].bits != 1) {
        return;
    }
    out->all_run = true;
    for (uint32_t inst = r->inst + 1; inst < loop->c; inst++) {
        uint32_t op = e->ir->insts[inst].op;
        out->all_run = out->all_run && op != VYRE_OP_BREAK && op != VYRE_OP_RETURN &&
                       op != VYRE_OP_UNREACHABLE && (op != VYRE_OP_CONTINUE || inst == loop->c - 1);
    }
    for (uint32_t inst = r->inst + 1 + r->args; inst < loop->c;) {
        const vyre_inst *i = &e->ir->insts[inst];
        const vyre_resource *row = &e->ir->resources[i->a];
        uint32_t base;
        if (i->op == VYRE_OP_LOAD && row->kind <= VYRE_RESOURCE_SCRATCH &&
            !e->facts.written[i->a] && vyre_type_bytes((vyre_type)row->type) <= 4 &&
            !vyre_access_group_of(&e->facts.accesses, inst) && out->count < EMIT_MOST_AHEAD &&
            (e->end_part - e->first_part == 1 || !emit_fact(e, inst)->varying) &&
            base_of(e, r, i->b, &base)) {
            out->insts[out->count] = inst;
            out->bases[out->count++] = base;
        }
        inst = vyre_lookup_op(i->op)->effects & VYRE_EFFECT_BLOCK ? i->c : inst + 1;
    }
}

static void load_ahead(emit *e, const range *r, cuda_reg counter) {
    for (uint32_t k = 0; k < e->ahead.count; k++) {
        const vyre_inst *i = &e->ir->insts[e->ahead.insts[k]];
        cuda_reg first = counter;
        if (e->ahead.bases[k] != VYRE_NONE) {
            write_invariant(e, r, e->ahead.bases[k]);
            cuda_reg base = cuda_emit_operand(e, e->ahead.bases[k], e->first_part);
            first = cuda_two(&e->w, "add.u32", CUDA_B32, base, counter);
        }
        cuda_emit_row(e, i->a, r->type, cuda_in_register(&e->w, first), EMIT_AHEAD,
                      e->ahead.all_run && cuda_is_inside(&e->facts, e->ahead.insts[k]),
                      e->ahead.values[k]);
    }
}

/* All turns one behind the other, the counter being a number. */
static void write_whole(emit *e, const range *r, uint32_t turns, uint32_t part) {
    const uint32_t *values = e->ir->operands + e->ir->insts[r->inst].a;
    uint64_t first = e->ir->consts[values[0] & ~VYRE_CONSTANT].bits;
    uint64_t step = e->ir->consts[values[2] & ~VYRE_CONSTANT].bits;
    uint32_t width = cuda_width(r->type);
    uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    emit_ahead outer = e->ahead;
    find_ahead(e, r, &e->ahead);
    for (uint32_t turn = 0; turn < turns; turn++) {
        cuda_reg counter = cuda_constant(&e->w, r->type, (first + turn * step) & mask);
        *emit_slot(e, r->inst + 1, part) = counter;
        e->ahead.turn = turn % EMIT_AHEAD;
        if (!e->ahead.turn && turns - turn >= EMIT_AHEAD) {
            load_ahead(e, r, counter);
        } else if (!e->ahead.turn) {
            e->ahead.count = 0;
        }
        write_turn(e, r);
    }
    e->ahead = outer;
}

static void write_turns(emit *e, range *r, uint32_t turns, uint32_t part) {
    const vyre_inst *i = &e->ir->insts[r->inst];
    const uint32_t *values = e->ir->operands + i->a;
    bool uniform = cuda_emit_together(e, r->inst) && cuda_emit_together(e, i->c - 1);
    for (uint32_t k = 0; k < 3; k++) {
        uniform = uniform && cuda_is_uniform(&e->facts, values[k]);
    }
    bool stops = !cuda_ends_soon(e->ir, r->inst);
    bool wide = r->kind == CUDA_B64;
    uint32_t body = r->inst + 1 + r->args, done = cuda_emit_label(e), single = cuda_emit_label(e);
    uint32_t often = how_often(e, body, i->c);
    emit_ahead outer = e->ahead;
    e->ahead.count = 0;
    cuda_reg first = cuda_emit_operand(e, values[0], part),
             end = cuda_emit_operand(e, values[1], part);
    r->step = cuda_emit_operand(e, values[2], part);
    r->left = cuda_new(&e->w, r->kind);
    cuda_move(&e->w, r->left,
              turns ? cuda_number(r->kind, turns) : count_turns(e, r, first, end, r->step));
    r->counter = *emit_slot(e, r->inst + 1, part) = cuda_new(&e->w, cuda_class_of(r->type));
    cuda_move(&e->w, r->counter, first);
    cuda_reg zero = cuda_number(r->kind, 0);
    if (!turns) {
        cuda_emit_branch(
            e, cuda_two(&e->w, wide ? "setp.eq.u64" : "setp.eq.u32", CUDA_PRED, r->left, zero),
            true, done, uniform);
    }
    if (often > 1) {
        uint32_t several = cuda_emit_label(e);
        cuda_reg most = cuda_number(r->kind, often);
        const char *fewer = wide ? "setp.lt.u64" : "setp.lt.u32";
        cuda_emit_branch(e, cuda_two(&e->w, fewer, CUDA_PRED, r->left, most), true, single,
                         uniform);
        cuda_emit_place(e, several);
        find_ahead(e, r, &e->ahead);
        for (uint32_t k = 0; k < often; k++) {
            e->ahead.turn = k % EMIT_AHEAD;
            if (!e->ahead.turn) {
                load_ahead(e, r, r->counter);
            }
            write_turn(e, r);
            next_turn(e, r, k + 1 < often ? 0 : often);
        }
        if (stops) {
            poll_turns(e, r, often);
        }
        cuda_emit_branch(e, cuda_two(&e->w, fewer, CUDA_PRED, r->left, most), false, several,
                         uniform);
        cuda_emit_branch(
            e, cuda_two(&e->w, wide ? "setp.eq.u64" : "setp.eq.u32", CUDA_PRED, r->left, zero),
            true, done, uniform);
    }
    e->ahead.count = 0;
    cuda_emit_place(e, single);
    write_turn(e, r);
    next_turn(e, r, 1);
    e->ahead = outer;
    if (stops && often == 1) {
        poll_turns(e, r, 1);
    }
    cuda_emit_branch(
        e, cuda_two(&e->w, wide ? "setp.ne.u64" : "setp.ne.u32", CUDA_PRED, r->left, zero), true,
        single, uniform);
    cuda_emit_place(e, done);
}

void cuda_emit_for(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    const uint32_t *values = e->ir->operands + i->a;
    uint32_t carried = i->b - 3, turns = cuda_constant_turns(e->ir, inst);
    range r = {.inst = inst, .args = carried + 1, .type = vyre_operand_type(e->ir, values[0])};
    r.kind = cuda_width(r.type) == 64 ? CUDA_B64 : CUDA_B32;
    r.behind = cuda_emit_label(e);
    uint32_t part = emit_fact(e, inst + 1)->varying ? e->first_part : 0;
    cuda_emit_slots(e, inst + 2, carried);
    cuda_emit_slots(e, i->c, cuda_emit_result_count(e, inst));
    cuda_emit_assign(e, inst + 2, values + 3, carried);
    uint64_t weight = weight_of(e, inst + 1 + r.args, i->c);
    if (turns && weight * turns <= WHOLE_LIMIT) {
        write_whole(e, &r, turns, part);
    } else {
        write_turns(e, &r, turns, part);
    }
    for (uint32_t k = 0; k < carried; k++) { /* used up: with what it carries */
        uint32_t arg = inst + 2 + k;
        cuda_emit_assign(e, i->c + k, &arg, 1);
    }
    cuda_emit_place(e, r.behind);
    cuda_emit_settle(e, inst);
}
