/* Loops: small ones of known length are written out, others several turns at a time, so that their
 * loads are under way together. Every loop that may run for long can be stopped. */
#include "backend/cuda/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/lookup.h"

enum {
    POLL_ITERATIONS = 1024, /* between two looks at whether to stop */
    POLL_SELDOM = 8,        /* times as many where loads for later turns are under way */
    WHOLE_LIMIT = 512,      /* instructions that a loop written out may become, */
    STRAIGHT_LIMIT = 1024,  /* and one that only computes */
    REPEATED_LIMIT = 24,    /* of a body that is written several times an iteration */
    REPEATED = 4,           /* at least that often, */
    REPEATED_LOADS = 16,    /* and at most, if there is something to wait for */
    REPEATED_SIZE = 128,    /* as long as it is no larger */
    REPEATED_LOADING = 48,  /* of a body that has to wait for memory */
    INVARIANT_DEPTH = 6,    /* operations in one another that are done before a loop */
};

/* Out of the way, where it is due, and on at a label: ends the thread if somebody asked for that.
 */
static void poll(emit *e, cuda_reg due, uint32_t on, cuda_reg countdown) {
    uint32_t away = cuda_emit_label(e);
    cuda_emit_branch(e, due, true, away, false);
    cuda_emit_begin_cold(e);
    cuda_emit_place(e, away);
    if (countdown.kind) {
        cuda_move(&e->w, countdown, cuda_u32(POLL_ITERATIONS));
    }
    cuda_emit_stop_check(e);
    cuda_emit_jump(e, on);
    cuda_emit_end_cold(e);
}

void cuda_emit_loop(emit *e, uint32_t inst) {
    uint32_t head = cuda_emit_label(e), latch = cuda_emit_label(e), behind = cuda_emit_label(e);
    cuda_reg countdown = cuda_new(&e->w, CUDA_B32);
    vyre_list initial = vyre_loop_initial(e->ir, inst);
    cuda_emit_slots(e, vyre_loop_args(e->ir, inst));
    cuda_emit_slots(e, vyre_results(e->ir, inst));
    cuda_emit_assign(e, vyre_loop_arg(e->ir, inst, 0), initial.items, initial.count);
    cuda_move(&e->w, countdown, cuda_u32(POLL_ITERATIONS));
    cuda_emit_place(e, head);
    cuda_emit_open(e, inst, behind, latch);
    cuda_emit_block(e, vyre_body_block(e->ir, inst));
    e->depth--;
    cuda_emit_place(e, latch);
    cuda_line(&e->w, "sub.u32 %s, %s, 1", cuda_reg_name(countdown).text,
              cuda_reg_name(countdown).text);
    poll(e, cuda_two(&e->w, "setp.eq.u32", CUDA_PRED, countdown, cuda_u32(0)), head, countdown);
    cuda_line(&e->w, "bra L%u", head);
    cuda_emit_place(e, behind);
    cuda_emit_settle(e, inst);
}

/* A `for`: how many turns are left is counted apart, so that the counter never has to wrap. Those
 * of a loop that may run for long are done in rows, between which somebody may stop it. */
typedef struct range {
    uint32_t inst, counter_arg;
    vyre_for_range of;
    vyre_type type;  /* of the counter */
    cuda_class kind; /* of the iterations */
    cuda_reg counter, step, left;
    uint32_t latch, behind;
} range;

/* Iterations of a range that is not constant: 0 if it is empty or the step is not positive. */
static cuda_reg count_iterations(emit *e, const range *r, cuda_reg first, cuda_reg end,
                                 cuda_reg step) {
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
        count = cuda_integer_op(w, VYRE_OP_DIV, wide ? VYRE_TYPE_U64 : VYRE_TYPE_U32, count, by);
        count = cuda_two(w, wide ? "add.u64" : "add.u32", r->kind, count, one);
    }
    return cuda_choose(w, some, count, zero);
}

/* Whether an iteration has one way to the next one, at its end. */
static bool has_one_way(const emit *e, const range *r) {
    vyre_block body = vyre_body_block(e->ir, r->inst);
    uint32_t last = vyre_block_terminator(body), loop_end = 0;
    bool found = e->ir->insts[last].op == VYRE_OP_CONTINUE;
    for (uint32_t inst = body.first; inst < last && found; inst++) {
        const vyre_inst *i = &e->ir->insts[inst];
        if (vyre_op_is_loop(i->op) && vyre_owner_end(e->ir, inst) > loop_end) {
            loop_end = vyre_owner_end(e->ir, inst);
        }
        found = i->op != VYRE_OP_CONTINUE || inst < loop_end;
    }
    return found;
}

/* The body, from the args as they are to what they become: the same registers, or, where `binds`,
 * those of the values. */
static void write_iteration(emit *e, const range *r, bool binds) {
    uint32_t latch = cuda_emit_label(e);
    cuda_emit_open(e, r->inst, r->behind, latch);
    e->stack[e->depth - 1].binds = binds;
    cuda_emit_block(e, vyre_body_block(e->ir, r->inst));
    e->depth--;
    if (!binds) {
        cuda_emit_place(e, latch);
    }
}

/* The counter of the next iteration, from that of this one. */
static void step_on(emit *e, const range *r, cuda_reg to, cuda_reg from) {
    cuda_line(&e->w, "add.%s %s, %s, %s", cuda_width(r->type) == 64 ? "u64" : "u32",
              cuda_reg_name(to).text, cuda_reg_name(from).text, cuda_reg_name(r->step).text);
}

static void count_down(emit *e, const range *r, uint32_t iterations_done) {
    cuda_name left = cuda_reg_name(r->left);
    cuda_line(&e->w, "sub.%s %s, %s, %u", r->kind == CUDA_B64 ? "u64" : "u32", left.text, left.text,
              iterations_done);
}

/* How many instructions a loop written out may become: many of one that reads and computes alone,
 * since its addresses become numbers then. */
static uint64_t whole_limit(const emit *e, uint32_t inst) {
    vyre_block body = vyre_body_block(e->ir, inst);
    for (uint32_t at = body.first; at < body.end; at++) {
        uint32_t effects = vyre_inst_effects(&e->ir->insts[at]);
        if (effects & ~(uint32_t)(VYRE_EFFECT_READ | VYRE_EFFECT_END)) {
            return WHOLE_LIMIT;
        }
    }
    return STRAIGHT_LIMIT;
}

/* Instructions in the code of a block, with those of loops that are written out as often as they
 * will be. */
static uint64_t weight_of(const emit *e, vyre_block code) {
    uint64_t weight = 0;
    for (uint32_t inst = code.first; inst < code.end; inst++) {
        const vyre_inst *i = &e->ir->insts[inst];
        uint32_t iterations = cuda_constant_iterations(e->ir, inst);
        if (iterations) {
            vyre_block body = vyre_body_block(e->ir, inst);
            uint64_t inner = weight_of(e, body) * iterations;
            weight += inner <= whole_limit(e, inst) ? inner : inner / iterations;
            inst = vyre_block_terminator(body);
        } else {
            weight += !(vyre_inst_effects(i) & VYRE_EFFECT_END) && i->op != VYRE_OP_ARG &&
                      i->op != VYRE_OP_RESULT;
        }
    }
    return weight;
}

/* How often the body of a loop is written in an iteration: loads of several turns are under way at
 * once then. Loops inside must be such that are written out. */
static uint32_t how_often(const emit *e, vyre_block body) {
    bool loads = false;
    for (uint32_t inst = body.first; inst < body.end; inst++) {
        const vyre_inst *i = &e->ir->insts[inst];
        uint32_t effects = vyre_inst_effects(i);
        uint64_t iterations = cuda_constant_iterations(e->ir, inst);
        bool whole =
            iterations && weight_of(e, vyre_body_block(e->ir, inst)) * iterations <= REPEATED_SIZE;
        if ((effects & VYRE_EFFECT_BLOCK && !whole) || effects & VYRE_EFFECT_SYNC) {
            return 1;
        }
        loads = loads ||
                (i->op == VYRE_OP_LOAD && vyre_resource_is_global(vyre_access_array(e->ir, i)));
    }
    uint64_t size = weight_of(e, body) * (e->end_part - e->first_part);
    uint32_t often = REPEATED;
    if (size > (loads ? REPEATED_LOADING : REPEATED_LIMIT)) {
        return 1;
    }
    while (loads && often < REPEATED_LOADS && (uint64_t)2 * often * size <= REPEATED_SIZE) {
        often *= 2;
    }
    return often;
}

/* Whether a value can be computed from those before instruction `first`: the loop's own for what
 * does not change, the one behind the counter for what follows from the counter alone. */
static bool follows(const emit *e, uint32_t first, uint32_t operand, uint32_t depth) {
    if (!vyre_operand_is_value(operand) || operand < first) {
        return true;
    }
    const vyre_inst *i = &e->ir->insts[operand];
    if (vyre_inst_effects(i) || i->op == VYRE_OP_ARG || i->op == VYRE_OP_RESULT || !depth) {
        return false;
    }
    vyre_list values = vyre_inst_operands(e->ir, i);
    bool all = true;
    for (uint32_t k = 0; k < values.count && all; k++) {
        all = follows(e, first, values.items[k], depth - 1);
    }
    return all;
}

/* Computes such a value here. */
static void write_following(emit *e, uint32_t first, uint32_t operand) {
    if (!vyre_operand_is_value(operand) || operand < first) {
        return;
    }
    vyre_list values = vyre_inst_operands(e->ir, &e->ir->insts[operand]);
    for (uint32_t k = 0; k < values.count; k++) {
        write_following(e, first, values.items[k]);
    }
    cuda_emit_instruction(e, operand);
}

/* The value that is added to the counter to give the index of a load, VYRE_NONE if there is none;
 * false if it is something else, or changes from iteration to iteration. */
static bool base_of(const emit *e, const range *r, uint32_t index, uint32_t *out_base) {
    uint32_t counter = r->counter_arg;
    *out_base = VYRE_NONE;
    if (index == counter) {
        return true;
    }
    if (!vyre_operand_is_value(index) || e->ir->insts[index].op != VYRE_OP_ADD || index < r->inst) {
        return false;
    }
    const vyre_inst *sum = &e->ir->insts[index];
    *out_base = sum->a == counter ? sum->b : sum->a;
    return (sum->a == counter || sum->b == counter) &&
           follows(e, r->inst, *out_base, INVARIANT_DEPTH);
}

/* By how much an index of 32 bits grows with the counter, modulo 2^32; false if that changes. */
static bool growth_of(const emit *e, const range *r, uint32_t operand, uint32_t depth,
                      uint32_t *out) {
    vyre_type type = vyre_operand_type(e->ir, operand);
    uint32_t left, right;
    *out = operand == r->counter_arg;
    if ((type != VYRE_TYPE_U32 && type != VYRE_TYPE_I32) || !depth) {
        return false;
    }
    if (!vyre_operand_is_value(operand) || operand <= r->counter_arg) {
        return true;
    }
    const vyre_inst *i = &e->ir->insts[operand];
    switch (vyre_inst_op(i)) {
    case VYRE_ONE_OF(ADD, SUB):
        if (!growth_of(e, r, i->a, depth - 1, &left) || !growth_of(e, r, i->b, depth - 1, &right)) {
            return false;
        }
        *out = i->op == VYRE_OP_ADD ? left + right : left - right;
        return true;
    case VYRE_ONE_OF(MUL, SHL):
        if (!vyre_operand_is_constant(i->b) || !growth_of(e, r, i->a, depth - 1, &left)) {
            return false;
        }
        right = (uint32_t)vyre_operand_bits(e->ir, i->b);
        *out = i->op == VYRE_OP_MUL ? left * right : left << (right & 31);
        return true;
    case VYRE_ONE_OF(CONVERT, BITCAST): return growth_of(e, r, i->a, depth - 1, out);
    case VYRE_ONE_OF(SHR, SELECT):
    case VYRE_ANY_OF(SURROUNDINGS, QUOTIENT, EXTREME, SIGN, INTEGER, BITWISE, BITS, FLOAT, COMPARE,
                     ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    }
    return false;
}

/* Elements from iteration to iteration; 0 if they are not always as many, or far apart. */
static uint32_t stride_of(const emit *e, const range *r, uint32_t index) {
    enum { FAR = 1 << 20 };
    uint32_t growth;
    if (cuda_width(r->type) != 32 || vyre_operand_is_value(r->of.step) ||
        !growth_of(e, r, index, INVARIANT_DEPTH, &growth)) {
        return 0;
    }
    uint64_t stride = (uint64_t)growth * vyre_operand_bits(e->ir, r->of.step);
    return stride <= FAR ? (uint32_t)stride : 0;
}

static bool steps_by_one(const emit *e, const range *r) {
    return cuda_width(r->type) == 32 && vyre_operand_has_bits(e->ir, r->of.step, 1);
}

/* Whether each iteration comes to its end, and is followed by another one while there are. */
static bool all_iterations_run(const emit *e, const range *r) {
    vyre_block body = vyre_body_block(e->ir, r->inst);
    for (uint32_t inst = body.first; inst < body.end; inst++) {
        uint32_t op = e->ir->insts[inst].op;
        if (op == VYRE_OP_BREAK || op == VYRE_OP_RETURN || op == VYRE_OP_UNREACHABLE ||
            (op == VYRE_OP_CONTINUE && inst != vyre_block_terminator(body))) {
            return false;
        }
    }
    return true;
}

/* Whether lanes exchange values in the body, so that all of them must be in the same copy of it. */
static bool exchanges(const emit *e, const range *r) {
    vyre_block body = vyre_body_block(e->ir, r->inst);
    bool found = false;
    for (uint32_t inst = body.first; inst < body.end && !found; inst++) {
        found = vyre_inst_effects(&e->ir->insts[inst]) & VYRE_EFFECT_SUBGROUP;
    }
    return found;
}

/* What stands in front of this is known with the counter. */
static uint32_t behind_counter(const emit *e, const range *r) {
    return vyre_inst_next(e->ir, r->counter_arg);
}

/* Whether a load is from memory that nobody writes, and done by itself, once a thread. */
static bool may_load_ahead(const emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    const vyre_resource *row = vyre_access_array(e->ir, i);
    return row->kind <= VYRE_RESOURCE_SCRATCH && !e->facts.written[vyre_access_resource(i)] &&
           row->type != VYRE_TYPE_BOOL && !vyre_access_group_of(&e->facts.accesses, inst) &&
           (e->end_part - e->first_part == 1 || !cuda_varies(&e->facts, inst));
}

/* Finds the loads that can be done for several turns at once; of any kind, or those alone of which
 * four turns are one access. */
static void find_ahead(emit *e, const range *r, bool any, emit_ahead *out) {
    vyre_block body = vyre_body_block(e->ir, r->inst);
    out->count = 0;
    out->all_run = all_iterations_run(e, r);
    bool stays = any && exchanges(e, r); /* nobody may escape */
    for (uint32_t inst = body.first; inst < body.end && out->count < EMIT_MOST_AHEAD;
         inst = vyre_inst_next(e->ir, inst)) {
        const vyre_inst *i = &e->ir->insts[inst];
        uint32_t base = VYRE_NONE, number = out->count;
        if (i->op == VYRE_OP_LOAD && may_load_ahead(e, inst)) {
            const vyre_resource *row = vyre_access_array(e->ir, i);
            uint32_t index = vyre_access_index(e->ir, i);
            out->rows[number] = vyre_type_bytes(vyre_resource_type(row)) <= 4 &&
                                steps_by_one(e, r) && base_of(e, r, index, &base);
            out->insts[number] = inst;
            out->bases[number] = base;
            out->strides[number] = stride_of(e, r, index);
            if (stays && !(out->all_run && cuda_is_inside(&e->facts, inst))) {
                out->rows[number] = false; /* with a look at each */
                out->strides[number] = 0;
            }
            out->count +=
                out->rows[number] ||
                (any && out->all_run && follows(e, behind_counter(e, r), index, INVARIANT_DEPTH));
        }
    }
}

/* The loads of some iterations from a counter on, for places from `iteration` on. */
static void load_rows(emit *e, const range *r, cuda_reg counter, uint32_t iteration,
                      uint32_t iterations, uint32_t escape) {
    emit_row rows[EMIT_MOST_ROWS];
    uint32_t count = 0;
    for (uint32_t k = 0; k < e->ahead.count; k++) {
        if (!e->ahead.rows[k]) {
            continue;
        }
        const vyre_inst *i = &e->ir->insts[e->ahead.insts[k]];
        cuda_reg first = counter;
        if (e->ahead.bases[k] != VYRE_NONE) {
            write_following(e, r->inst, e->ahead.bases[k]);
            cuda_reg base = cuda_emit_operand(e, e->ahead.bases[k], e->first_part);
            first = cuda_two(&e->w, "add.u32", CUDA_B32, base, counter);
        }
        rows[count++] = (emit_row){.resource = vyre_access_resource(i),
                                   .count = iterations,
                                   .index_type = r->type,
                                   .first = cuda_in_register(&e->w, first),
                                   .is_inside = e->ahead.all_run &&
                                                cuda_is_inside(&e->facts, e->ahead.insts[k]),
                                   .out_values = &e->ahead.values[k][iteration]};
    }
    if (count) {
        cuda_emit_rows(e, rows, count, escape);
    }
}

static cuda_reg counter_at(emit *e, const range *r, cuda_reg first, uint32_t iteration) {
    bool wide = cuda_width(r->type) == 64;
    cuda_class kind = wide ? CUDA_B64 : CUDA_B32;
    cuda_reg by = r->step.immediate ? cuda_number(kind, wide ? r->step.bits * iteration
                                                             : (uint32_t)(r->step.bits * iteration))
                                    : cuda_two(&e->w, wide ? "mul.lo.u64" : "mul.lo.u32", kind,
                                               r->step, cuda_number(kind, iteration));
    return iteration ? cuda_two(&e->w, wide ? "add.u64" : "add.u32", kind, first, by) : first;
}

static cuda_reg and_also(emit *e, cuda_reg left, cuda_reg right) {
    return left.kind ? cuda_two(&e->w, "and.pred", CUDA_PRED, left, right) : right;
}

/* Whether the elements of all turns are inside, the first being there at `index`. */
static cuda_reg all_inside(emit *e, uint32_t inst, cuda_reg index, uint32_t distance) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = vyre_operand_type(e->ir, vyre_access_index(e->ir, i));
    cuda_reg last = cuda_two(&e->w, "add.u32", CUDA_B32, index, cuda_u32(distance));
    cuda_reg inside = cuda_emit_inside(e, vyre_access_resource(i), type, last);
    return and_also(e, inside, cuda_two(&e->w, "setp.ge.u32", CUDA_PRED, last, index));
}

/* The loads of so many iterations that have a stride, from the counter as it is on: without a look
 * at each, since one at the first and the last of each array tells whether all are inside; else it
 * goes on at `escape`. */
static void load_strided(emit *e, const range *r, uint32_t iterations, uint32_t escape) {
    cuda_reg fits = cuda_none();
    emit_where wheres[EMIT_MOST_AHEAD];
    for (uint32_t k = 0; k < e->ahead.count; k++) {
        uint32_t inst = e->ahead.insts[k];
        const vyre_inst *i = &e->ir->insts[inst];
        if (!e->ahead.strides[k] || e->ahead.rows[k]) {
            continue;
        }
        uint32_t operand = vyre_access_index(e->ir, i);
        write_following(e, behind_counter(e, r), operand);
        cuda_reg index = cuda_in_register(&e->w, cuda_emit_operand(e, operand, e->first_part));
        if (!cuda_is_inside(&e->facts, inst)) {
            fits = and_also(e, fits,
                            all_inside(e, inst, index, e->ahead.strides[k] * (iterations - 1)));
        }
        wheres[k] =
            cuda_emit_where(e, vyre_access_resource(i), vyre_operand_type(e->ir, operand), index);
    }
    if (fits.kind) {
        cuda_emit_branch(e, fits, false, escape, false);
    }
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
        for (uint32_t k = 0; k < e->ahead.count; k++) {
            uint32_t resource = vyre_access_resource(&e->ir->insts[e->ahead.insts[k]]);
            vyre_type type = vyre_resource_type(&e->ir->resources[resource]);
            if (!e->ahead.strides[k] || e->ahead.rows[k]) {
                continue;
            }
            int64_t more = (int64_t)iteration * e->ahead.strides[k] * vyre_type_bytes(type);
            cuda_reg value = cuda_new(&e->w, cuda_emit_memory_class(type));
            cuda_line(&e->w, "%s.%s %s, %s", cuda_emit_load_name(e, resource),
                      cuda_emit_memory_type(type), cuda_reg_name(value).text,
                      cuda_emit_place_of(e, resource, wheres[k], more).text);
            e->ahead.values[k][iteration] = value;
        }
    }
}

/* All loads of `iterations` iterations from iteration `from` on; the counter stands at iteration 0.
 * Where those at regular distances are not all inside it goes on at `escape`. */
static void load_iterations(emit *e, const range *r, uint32_t part, uint32_t from,
                            uint32_t iterations, uint32_t escape) {
    cuda_reg *counter = emit_slot(e, r->counter_arg, part), kept = *counter;
    uint32_t count = e->ahead.count;
    if (!count) {
        return;
    }
    *counter = counter_at(e, r, kept, from);
    load_strided(e, r, iterations, escape);
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
        *counter = counter_at(e, r, kept, from + iteration);
        if (iteration % EMIT_AHEAD == 0) {
            load_rows(e, r, *counter, iteration, EMIT_AHEAD, escape);
        }
        for (uint32_t k = 0; k < count; k++) {
            uint32_t inst = e->ahead.insts[k];
            if (!e->ahead.rows[k] && !e->ahead.strides[k]) {
                e->ahead.count = 0;
                write_following(e, behind_counter(e, r),
                                vyre_access_index(e->ir, &e->ir->insts[inst]));
                cuda_emit_load(e, inst);
                e->ahead.values[k][iteration] = *emit_slot(e, inst, emit_first(e, inst));
                e->ahead.count = count;
            }
        }
    }
    *counter = kept;
}

/* Whether loads ahead may turn out not to be all inside. */
static bool may_escape(const emit *e) {
    bool may = false;
    for (uint32_t k = 0; k < e->ahead.count; k++) {
        bool is_inside = cuda_is_inside(&e->facts, e->ahead.insts[k]);
        may = may || (e->ahead.rows[k]      ? !is_inside || !e->ahead.all_run
                      : e->ahead.strides[k] ? !is_inside
                                            : false);
    }
    return may;
}

/* All iterations one behind the other, the counter being a number. */
static void write_whole(emit *e, const range *r, uint32_t iterations, uint32_t part) {
    uint64_t first = vyre_operand_bits(e->ir, r->of.first);
    uint64_t step = vyre_operand_bits(e->ir, r->of.step);
    uint32_t width = cuda_width(r->type);
    uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    emit_ahead outer = e->ahead;
    bool binds = has_one_way(e, r);
    find_ahead(e, r, false, &e->ahead);
    /* A few of one row are loaded at once. */
    bool is_one = e->ahead.count == 1 && e->ahead.all_run && iterations <= EMIT_MOST_ITERATIONS &&
                  iterations % EMIT_AHEAD == 0;
    uint32_t row = is_one ? iterations : EMIT_AHEAD;
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
        cuda_reg counter = cuda_constant(&e->w, r->type, (first + iteration * step) & mask);
        *emit_slot(e, r->counter_arg, part) = counter;
        e->ahead.iteration = iteration % row;
        if (!e->ahead.iteration && iterations - iteration >= row) {
            load_rows(e, r, counter, 0, row, 0);
        } else if (!e->ahead.iteration) {
            e->ahead.count = 0;
        }
        write_iteration(e, r, binds);
    }
    e->ahead = outer;
}

/* `often` turns at a time, as long as so many are left and their loads are inside; else it goes on
 * at `single`. Where few threads have to keep the memory busy, the loads of the next ones are under
 * way while these are computed. */
static void write_several(emit *e, const range *r, uint32_t often, uint32_t part, uint32_t single,
                          bool uniform) {
    uint32_t several = cuda_emit_label(e), behind = cuda_emit_label(e);
    const char *fewer = r->kind == CUDA_B64 ? "setp.lt.u64" : "setp.lt.u32";
    emit_ahead now;
    bool overlaps = e->facts.few_threads && e->ahead.count && e->ahead.all_run;
    if (overlaps) {
        load_iterations(e, r, part, 0, often, single);
    }
    cuda_emit_place(e, several);
    cuda_reg last = cuda_none();
    if (overlaps) {
        uint32_t apart = cuda_emit_label(e), outside = cuda_emit_label(e);
        now = e->ahead;
        last =
            cuda_two(&e->w, fewer, CUDA_PRED, r->left, cuda_number(r->kind, (uint64_t)2 * often));
        cuda_emit_branch(e, last, true, apart, uniform);
        load_iterations(e, r, part, often, often, outside);
        if (may_escape(e)) {
            cuda_emit_jump(e, apart);
            cuda_emit_place(e, outside);
            cuda_line(&e->w, "setp.eq.u32 %s, 0, 0", cuda_reg_name(last).text);
        }
        cuda_emit_place(e, apart);
        emit_ahead next = e->ahead;
        e->ahead = now;
        now = next;
    } else {
        load_iterations(e, r, part, 0, often, single);
    }
    bool binds = has_one_way(e, r);
    vyre_block carried = vyre_carried_args(e->ir, r->inst);
    cuda_reg *kept = binds ? cuda_emit_keep_slots(e, carried) : NULL;
    cuda_reg *counter = emit_slot(e, r->counter_arg, part);
    for (uint32_t k = 0; k < often; k++) {
        e->ahead.iteration = k;
        write_iteration(e, r, binds);
        if (k + 1 < often) {
            /* What is bound may be the counter of an earlier iteration, so that each has its own.
             */
            cuda_reg next = binds ? cuda_new(&e->w, cuda_class_of(r->type)) : r->counter;
            step_on(e, r, next, *counter);
            *counter = next;
        }
    }
    if (binds) {
        cuda_emit_restore_slots(e, carried, kept);
    }
    step_on(e, r, r->counter, *counter);
    *counter = r->counter;
    count_down(e, r, often);
    if (overlaps) {
        cuda_emit_branch(e, last, true, behind, uniform);
        for (uint32_t k = 0; k < e->ahead.count; k++) {
            for (uint32_t iteration = 0; iteration < often; iteration++) {
                cuda_move(&e->w, e->ahead.values[k][iteration], now.values[k][iteration]);
            }
        }
        cuda_line(&e->w, "bra%s L%u", uniform ? ".uni" : "", several);
    } else {
        last = cuda_two(&e->w, fewer, CUDA_PRED, r->left, cuda_number(r->kind, often));
        cuda_emit_branch(e, last, false, several, uniform);
    }
    cuda_emit_place(e, behind);
}

/* As many turns as are left, several at a time where that pays. */
static void write_row(emit *e, range *r, uint32_t often, uint32_t part, bool uniform) {
    bool wide = r->kind == CUDA_B64;
    const char *fewer = wide ? "setp.lt.u64" : "setp.lt.u32";
    const char *none = wide ? "setp.eq.u64" : "setp.eq.u32";
    uint32_t single = cuda_emit_label(e), done = cuda_emit_label(e);
    cuda_reg zero = cuda_number(r->kind, 0);
    if (often > 1) {
        find_ahead(e, r, true, &e->ahead);
        uniform = uniform && !may_escape(e); /* each thread by itself */
        cuda_emit_branch(e, cuda_two(&e->w, fewer, CUDA_PRED, r->left, cuda_number(r->kind, often)),
                         true, single, uniform);
        write_several(e, r, often, part, single, uniform);
        cuda_emit_branch(e, cuda_two(&e->w, none, CUDA_PRED, r->left, zero), true, done, uniform);
    }
    e->ahead.count = 0;
    cuda_emit_place(e, single);
    write_iteration(e, r, false);
    step_on(e, r, r->counter, r->counter);
    count_down(e, r, 1);
    cuda_emit_branch(e, cuda_two(&e->w, none, CUDA_PRED, r->left, zero), false, single, uniform);
    cuda_emit_place(e, done);
}

static void write_iterations(emit *e, range *r, uint32_t iterations, uint32_t part) {
    vyre_block body = vyre_body_block(e->ir, r->inst);
    bool uniform = cuda_emit_together(e, r->inst) &&
                   cuda_emit_together(e, vyre_block_terminator(body)) &&
                   cuda_is_uniform(&e->facts, r->of.first) &&
                   cuda_is_uniform(&e->facts, r->of.end) && cuda_is_uniform(&e->facts, r->of.step);
    bool wide = r->kind == CUDA_B64;
    uint32_t done = cuda_emit_label(e), next = cuda_emit_label(e);
    uint32_t often = how_often(e, body);
    emit_ahead outer = e->ahead;
    e->ahead.count = 0;
    cuda_reg first = cuda_emit_operand(e, r->of.first, part),
             end = cuda_emit_operand(e, r->of.end, part);
    r->step = cuda_emit_operand(e, r->of.step, part);
    cuda_reg all = cuda_new(&e->w, r->kind);
    cuda_move(&e->w, all,
              iterations ? cuda_number(r->kind, iterations)
                         : count_iterations(e, r, first, end, r->step));
    r->counter = *emit_slot(e, r->counter_arg, part) = cuda_new(&e->w, cuda_class_of(r->type));
    cuda_move(&e->w, r->counter, first);
    cuda_reg zero = cuda_number(r->kind, 0);
    if (!iterations) {
        cuda_emit_branch(
            e, cuda_two(&e->w, wide ? "setp.eq.u64" : "setp.eq.u32", CUDA_PRED, all, zero), true,
            done, uniform);
    }
    if (cuda_ends_soon(e->ir, r->inst)) {
        r->left = all;
        write_row(e, r, often, part, uniform);
    } else {
        uint64_t most = (uint64_t)POLL_ITERATIONS * (e->facts.few_threads ? POLL_SELDOM : 1);
        cuda_emit_place(e, next);
        cuda_reg row =
            cuda_two(&e->w, wide ? "min.u64" : "min.u32", r->kind, all, cuda_number(r->kind, most));
        cuda_line(&e->w, "sub.%s %s, %s, %s", wide ? "u64" : "u32", cuda_reg_name(all).text,
                  cuda_reg_name(all).text, cuda_reg_name(row).text);
        r->left = wide ? cuda_one(&e->w, "cvt.u32.u64", CUDA_B32, row) : row;
        r->kind = CUDA_B32;
        write_row(e, r, often, part, uniform);
        poll(e, cuda_two(&e->w, wide ? "setp.ne.u64" : "setp.ne.u32", CUDA_PRED, all, zero), next,
             cuda_none());
    }
    e->ahead = outer;
    cuda_emit_place(e, done);
}

void cuda_emit_for(emit *e, uint32_t inst) {
    vyre_list initial = vyre_loop_initial(e->ir, inst);
    uint32_t iterations = cuda_constant_iterations(e->ir, inst);
    range r = {
        .inst = inst, .counter_arg = vyre_for_counter(inst), .of = vyre_for_range_of(e->ir, inst)};
    r.type = vyre_operand_type(e->ir, r.of.first);
    r.kind = cuda_width(r.type) == 64 ? CUDA_B64 : CUDA_B32;
    r.behind = cuda_emit_label(e);
    uint32_t part = cuda_varies(&e->facts, r.counter_arg) ? e->first_part : 0;
    cuda_emit_slots(e, vyre_carried_args(e->ir, inst));
    cuda_emit_slots(e, vyre_results(e->ir, inst));
    cuda_emit_assign(e, vyre_loop_arg(e->ir, inst, 0), initial.items, initial.count);
    uint64_t weight = weight_of(e, vyre_body_block(e->ir, inst));
    if (iterations && weight * iterations <= whole_limit(e, inst)) {
        write_whole(e, &r, iterations, part);
    } else {
        write_iterations(e, &r, iterations, part);
    }
    for (uint32_t k = 0; k < initial.count; k++) { /* used up: with what it carries */
        uint32_t arg = vyre_loop_arg(e->ir, inst, k);
        cuda_emit_assign(e, vyre_result(e->ir, inst, k), &arg, 1);
    }
    cuda_emit_place(e, r.behind);
    cuda_emit_settle(e, inst);
}
