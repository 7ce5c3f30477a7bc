/* Control flow: structured blocks become labels and branches. Where the parts of a thread go ways
 * of their own, a block is written once for each. */
#include "backend/cuda/emit_state.h"
#include "base/alloc.h"
#include "ir/lookup.h"

enum {
    POLL_TURNS = 1024,   /* between two looks at whether to stop; a power of 2 */
    WHOLE_LIMIT = 512,   /* instructions that a loop written out may become */
    REPEATED_LIMIT = 24, /* of a body that is written several times a turn */
    REPEATED = 4,        /* that often */
};

static vyre_type type_of(const emit *e, uint32_t inst) {
    return (vyre_type)e->ir->insts[inst].type;
}

/* Registers for args and results, which are written where control flow meets. */
static void make_slots(emit *e, uint32_t first, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        uint32_t inst = first + k;
        for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++) {
            *emit_slot(e, inst, part) = cuda_new(&e->w, cuda_class_of(type_of(e, inst)));
        }
    }
}

static bool same(cuda_reg left, cuda_reg right) {
    return !left.immediate && !right.immediate && left.kind == right.kind &&
           left.bits == right.bits;
}

/* Whether one of the values is what a slot in front of its own held. */
static bool overlaps(emit *e, uint32_t first, const uint32_t *operands, uint32_t count) {
    enum { MOST = 64 };
    if (count > MOST) {
        return true;
    }
    for (uint32_t k = 1; k < count; k++) {
        if (operands[k] & VYRE_CONSTANT) {
            continue;
        }
        for (uint32_t j = 0; j < k; j++) {
            for (uint32_t part = e->first_part; part < e->end_part; part++) {
                uint32_t at = emit_fact(e, first + j)->varying ? part : 0;
                if (same(*emit_slot(e, first + j, at), cuda_emit_operand(e, operands[k], part))) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* All at once: an arg may be what another one becomes. */
static void put_list(emit *e, uint32_t first, const uint32_t *operands, uint32_t count) {
    bool aside = overlaps(e, first, operands, count);
    uint32_t parts = e->end_part - e->first_part;
    cuda_reg *copies = aside ? vyre_alloc_array((size_t)count * parts, sizeof *copies) : NULL;
    if (aside && !copies) {
        e->w.code.failed = true;
        return;
    }
    for (uint32_t pass = aside ? 0 : 1; pass < 2; pass++) {
        for (uint32_t k = 0; k < count; k++) {
            uint32_t inst = first + k, at = k * parts;
            for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++, at++) {
                cuda_reg slot = *emit_slot(e, inst, part);
                cuda_reg value =
                    pass && aside ? copies[at] : cuda_emit_operand(e, operands[k], part);
                if (!pass) {
                    copies[at] = value;
                    if (!value.immediate && !same(slot, value)) {
                        copies[at] = cuda_new(&e->w, (cuda_class)slot.kind);
                        cuda_move(&e->w, copies[at], value);
                    }
                } else if (!same(slot, value)) {
                    cuda_move(&e->w, slot, value);
                }
            }
        }
    }
    vyre_free(copies);
}

static uint32_t result_count(const emit *e, uint32_t owner) {
    uint32_t first = e->ir->insts[owner].c, count = 0;
    while (first + count < e->phase->end && e->ir->insts[first + count].op == VYRE_OP_RESULT &&
           e->ir->insts[first + count].a == owner) {
        count++;
    }
    return count;
}

/* Whether the whole workgroup comes here, so that one answer is everybody's. */
static bool together(const emit *e, uint32_t inst) {
    const vyre_uniformity_map *map = &e->facts.map;
    return map->levels[map->controls[inst - e->phase->first]] >= VYRE_UNIFORM_WORKGROUP;
}

static void open_block(emit *e, uint32_t owner, uint32_t exit, uint32_t latch) {
    e->stack[e->depth++] = (emit_open){.owner = owner, .exit = exit, .latch = latch};
}

void cuda_emit_block(emit *e, uint32_t first, uint32_t end) {
    for (uint32_t inst = first; inst < end;) {
        const vyre_inst *i = &e->ir->insts[inst];
        cuda_emit_instruction(e, inst);
        inst = vyre_lookup_op(i->op)->effects & VYRE_EFFECT_BLOCK ? i->c : inst + 1;
    }
}

static bool is_empty(const emit *e, uint32_t first) {
    const vyre_inst *i = &e->ir->insts[first];
    return i->op == VYRE_OP_YIELD && !i->b;
}

static void write_if(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t no = cuda_emit_label(e), behind = cuda_emit_label(e);
    bool uniform = cuda_is_uniform(&e->facts, i->a) && together(e, inst);
    bool no_else = is_empty(e, i->b);
    make_slots(e, i->c, result_count(e, inst));
    cuda_emit_branch(e, cuda_emit_operand(e, i->a, e->first_part), false, no_else ? behind : no,
                     uniform);
    open_block(e, inst, behind, behind);
    cuda_emit_block(e, inst + 1, i->b);
    if (!no_else) {
        cuda_emit_place(e, no);
        cuda_emit_block(e, i->b, i->c);
    }
    e->depth--;
    cuda_emit_place(e, behind);
}

static void write_inline(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t behind = cuda_emit_label(e);
    make_slots(e, i->c, result_count(e, inst));
    open_block(e, inst, behind, behind);
    cuda_emit_block(e, inst + 1, i->c);
    e->depth--;
    cuda_emit_place(e, behind);
}

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

static void write_loop(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t head = cuda_emit_label(e), latch = cuda_emit_label(e), behind = cuda_emit_label(e);
    cuda_reg countdown = cuda_new(&e->w, CUDA_B32);
    make_slots(e, inst + 1, i->b);
    make_slots(e, i->c, result_count(e, inst));
    put_list(e, inst + 1, e->ir->operands + i->a, i->b);
    cuda_move(&e->w, countdown, cuda_u32(POLL_TURNS));
    cuda_emit_place(e, head);
    open_block(e, inst, behind, latch);
    cuda_emit_block(e, inst + 1 + i->b, i->c);
    e->depth--;
    cuda_emit_place(e, latch);
    cuda_line(&e->w, "sub.u32 %s, %s, 1", cuda_reg_name(countdown).text,
              cuda_reg_name(countdown).text);
    poll(e, cuda_two(&e->w, "setp.eq.u32", CUDA_PRED, countdown, cuda_u32(0)), countdown);
    cuda_line(&e->w, "bra L%u", head);
    cuda_emit_place(e, behind);
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
    open_block(e, r->inst, r->behind, latch);
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
            weight++;
            inst++;
        }
    }
    return weight;
}

static bool has_blocks(const emit *e, uint32_t first, uint32_t end) {
    for (uint32_t inst = first; inst < end; inst++) {
        uint32_t effects = vyre_lookup_op(e->ir->insts[inst].op)->effects;
        if (effects & (VYRE_EFFECT_BLOCK | VYRE_EFFECT_SYNC)) {
            return true;
        }
    }
    return false;
}

/* All turns one behind the other, the counter being a number. */
static void write_whole(emit *e, const range *r, uint32_t turns, uint32_t part) {
    const uint32_t *values = e->ir->operands + e->ir->insts[r->inst].a;
    uint64_t first = e->ir->consts[values[0] & ~VYRE_CONSTANT].bits;
    uint64_t step = e->ir->consts[values[2] & ~VYRE_CONSTANT].bits;
    uint32_t width = cuda_width(r->type);
    uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    for (uint32_t turn = 0; turn < turns; turn++) {
        *emit_slot(e, r->inst + 1, part) =
            cuda_constant(&e->w, r->type, (first + turn * step) & mask);
        write_turn(e, r);
    }
}

static void write_turns(emit *e, range *r, uint32_t turns, uint32_t part) {
    const vyre_inst *i = &e->ir->insts[r->inst];
    const uint32_t *values = e->ir->operands + i->a;
    bool uniform = together(e, r->inst) && together(e, i->c - 1);
    for (uint32_t k = 0; k < 3; k++) {
        uniform = uniform && cuda_is_uniform(&e->facts, values[k]);
    }
    bool stops = !cuda_ends_soon(e->ir, r->inst);
    bool wide = r->kind == CUDA_B64;
    uint32_t body = r->inst + 1 + r->args, done = cuda_emit_label(e), single = cuda_emit_label(e);
    uint32_t often = i->c - body <= REPEATED_LIMIT && !has_blocks(e, body, i->c) ? REPEATED : 1;
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
        for (uint32_t k = 0; k < often; k++) {
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
    cuda_emit_place(e, single);
    write_turn(e, r);
    next_turn(e, r, 1);
    if (stops && often == 1) {
        poll_turns(e, r, 1);
    }
    cuda_emit_branch(
        e, cuda_two(&e->w, wide ? "setp.ne.u64" : "setp.ne.u32", CUDA_PRED, r->left, zero), true,
        single, uniform);
    cuda_emit_place(e, done);
}

static void write_for(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    const uint32_t *values = e->ir->operands + i->a;
    uint32_t carried = i->b - 3, turns = cuda_constant_turns(e->ir, inst);
    range r = {.inst = inst, .args = carried + 1, .type = vyre_operand_type(e->ir, values[0])};
    r.kind = cuda_width(r.type) == 64 ? CUDA_B64 : CUDA_B32;
    r.behind = cuda_emit_label(e);
    uint32_t part = emit_fact(e, inst + 1)->varying ? e->first_part : 0;
    make_slots(e, inst + 2, carried);
    make_slots(e, i->c, result_count(e, inst));
    put_list(e, inst + 2, values + 3, carried);
    uint64_t weight = weight_of(e, inst + 1 + r.args, i->c);
    if (turns && weight * turns <= WHOLE_LIMIT) {
        write_whole(e, &r, turns, part);
    } else {
        write_turns(e, &r, turns, part);
    }
    for (uint32_t k = 0; k < carried; k++) { /* used up: with what it carries */
        uint32_t arg = inst + 2 + k;
        put_list(e, i->c + k, &arg, 1);
    }
    cuda_emit_place(e, r.behind);
}

static void write_control(emit *e, uint32_t inst) {
    switch (e->ir->insts[inst].op) {
    case VYRE_OP_IF: write_if(e, inst); break;
    case VYRE_OP_INLINE: write_inline(e, inst); break;
    case VYRE_OP_LOOP: write_loop(e, inst); break;
    default: write_for(e, inst); break;
    }
}

void cuda_emit_control(emit *e, uint32_t inst) {
    uint32_t first = e->first_part, end = e->end_part;
    if (!emit_fact(e, inst)->divergent) {
        write_control(e, inst);
        return;
    }
    for (uint32_t part = first; part < end; part++) {
        e->first_part = part;
        e->end_part = part + 1;
        write_control(e, inst);
    }
    e->first_part = first;
    e->end_part = end;
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
    while (level &&
           (to_loop ? !cuda_is_loop(op_of(e, level)) : op_of(e, level) != VYRE_OP_INLINE)) {
        level--;
    }
    return level;
}

/* The end of a block. */
void cuda_emit_jump_out(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    if (i->op == VYRE_OP_UNREACHABLE) {
        cuda_line(&e->w, "exit");
        return;
    }
    const emit_open *target = &e->stack[target_of(e, i->op)];
    if (target->owner == VYRE_NONE) {
        cuda_line(&e->w, "bra L%u", e->end);
        return;
    }
    const vyre_inst *block = &e->ir->insts[target->owner];
    bool back = cuda_is_loop(block->op) && (i->op == VYRE_OP_YIELD || i->op == VYRE_OP_CONTINUE);
    uint32_t first = !back                      ? block->c
                     : block->op == VYRE_OP_FOR ? target->owner + 2
                                                : target->owner + 1;
    put_list(e, first, e->ir->operands + i->a, i->b);
    cuda_line(&e->w, "bra L%u", back ? target->latch : target->exit);
}
