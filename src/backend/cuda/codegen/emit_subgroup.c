/* Subgroups: lanes of a warp, or of a part of one, exchange values by its own instructions. One of
 * 64 lanes is two warps, which exchange theirs through shared memory, waiting for one another at a
 * barrier of their own. */
#include <string.h>

#include "backend/cuda/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/eval.h"
#include "ir/lookup.h"

enum { WARP = 32, BARRIERS = 16 };

static cuda_reg lane_of(emit *e) {
    return cuda_two(&e->w, "and.b32", CUDA_B32, e->thread, cuda_u32(e->phase->subgroup - 1));
}

/* Number of the subgroup's first lane in its warp. */
static cuda_reg first_in_warp(emit *e) {
    return cuda_two(&e->w, "and.b32", CUDA_B32, e->thread, cuda_u32(WARP - e->phase->subgroup));
}

/* Those lanes of the warp that exchange values: all that there are, where the whole workgroup does.
 * Only where it may not, those of the subgroup; others of the warp could run ahead then, and the
 * driver's compiler has been seen to keep what is the same for a warp in registers that it shares.
 */
static cuda_reg members(emit *e) {
    uint32_t width = e->phase->subgroup, threads = e->info->threads;
    if (width >= WARP || (e->is_together && threads % WARP == 0)) {
        return cuda_u32(UINT32_MAX);
    }
    if (e->is_together && threads < WARP) {
        return cuda_u32(((uint32_t)1 << threads) - 1);
    }
    return cuda_two(&e->w, "shl.b32", CUDA_B32, cuda_u32(((uint32_t)1 << width) - 1),
                    first_in_warp(e));
}

/* Lanes of both warps meet. Where there is one subgroup that is the whole workgroup; where there
 * are as many as barriers the whole workgroup does, too, which stands in the way of code that it
 * does not run as a whole. */
static void meet(emit *e) {
    uint32_t subgroups = e->info->threads / e->phase->subgroup;
    if (subgroups > 1 && subgroups < BARRIERS) {
        cuda_reg number = cuda_two(&e->w, "shr.u32", CUDA_B32, e->thread, cuda_u32(6));
        number = cuda_two(&e->w, "add.u32", CUDA_B32, number, cuda_u32(1));
        cuda_line(&e->w, "bar.sync %s, %u", cuda_reg_name(number).text, e->phase->subgroup);
        return;
    }
    if (subgroups > 1 && e->facts.lanes_part) {
        e->lack = "subgroups of 64 in a workgroup of 1024 outside of control flow that the whole "
                  "workgroup runs";
    }
    cuda_line(&e->w, "bar.sync 0");
}

/* A value of lane `from` of the two warps, which exists. */
static cuda_reg fetch_far(emit *e, cuda_reg value, cuda_reg from) {
    cuda_writer *w = &e->w;
    cuda_class kind = (cuda_class)value.kind;
    const char *type = kind == CUDA_B64 ? "u64" : "u32";
    cuda_reg base = cuda_new(w, CUDA_B32);
    cuda_line(w, "mov.u32 %s, %s_shared", cuda_reg_name(base).text, e->name);
    cuda_reg own = cuda_three(w, "mad.lo.u32", CUDA_B32, e->thread, cuda_u32(8), base);
    cuda_line(w, "st.shared.%s [%s+%u], %s", type, cuda_reg_name(own).text, e->exchange,
              cuda_reg_name(value).text);
    cuda_reg first = cuda_two(w, "and.b32", CUDA_B32, e->thread, cuda_u32(~(uint32_t)63));
    cuda_reg number = cuda_two(w, "add.u32", CUDA_B32, first, from);
    cuda_reg at = cuda_three(w, "mad.lo.u32", CUDA_B32, number, cuda_u32(8), base);
    cuda_reg got = cuda_new(w, kind);
    meet(e);
    cuda_line(w, "ld.shared.%s %s, [%s+%u]", type, cuda_reg_name(got).text, cuda_reg_name(at).text,
              e->exchange);
    meet(e);
    return got;
}

static cuda_reg shuffle_word(emit *e, cuda_reg value, cuda_reg from) {
    cuda_reg got = cuda_new(&e->w, CUDA_B32);
    cuda_line(&e->w, "shfl.sync.idx.b32 %s, %s, %s, 31, %s", cuda_reg_name(got).text,
              cuda_reg_name(value).text, cuda_reg_name(from).text, cuda_reg_name(members(e)).text);
    return got;
}

/* Bits of lane `from` of the subgroup, which exists; words or pairs of them. */
static cuda_reg fetch_bits(emit *e, cuda_reg value, cuda_reg from) {
    cuda_writer *w = &e->w;
    if (e->phase->subgroup > WARP) {
        return fetch_far(e, value, from);
    }
    if (e->phase->subgroup < WARP) {
        from = cuda_two(w, "add.u32", CUDA_B32, first_in_warp(e), from);
    }
    if (value.kind != CUDA_B64) {
        return shuffle_word(e, value, from);
    }
    cuda_reg low = cuda_new(w, CUDA_B32), high = cuda_new(w, CUDA_B32);
    cuda_line(w, "mov.b64 {%s, %s}, %s", cuda_reg_name(low).text, cuda_reg_name(high).text,
              cuda_reg_name(value).text);
    low = shuffle_word(e, low, from);
    high = shuffle_word(e, high, from);
    cuda_reg both = cuda_new(w, CUDA_B64);
    cuda_line(w, "mov.b64 %s, {%s, %s}", cuda_reg_name(both).text, cuda_reg_name(low).text,
              cuda_reg_name(high).text);
    return both;
}

static cuda_reg fetch(emit *e, vyre_type type, cuda_reg value, cuda_reg from) {
    cuda_writer *w = &e->w;
    if (type == VYRE_TYPE_BOOL) {
        cuda_reg word = cuda_choose(w, value, cuda_u32(1), cuda_u32(0));
        return cuda_two(w, "setp.ne.u32", CUDA_PRED, fetch_bits(e, word, from), cuda_u32(0));
    }
    cuda_reg bits = cuda_in_register(w, cuda_to_bits(w, value));
    return cuda_from_bits(w, type, fetch_bits(e, bits, from));
}

/* A lane that each names for itself; one that does not exist gives 0. */
static cuda_reg shuffled(emit *e, const vyre_inst *i) {
    cuda_writer *w = &e->w;
    vyre_type type = vyre_inst_type(i);
    uint32_t width = e->phase->subgroup;
    cuda_reg value = cuda_emit_operand(e, i->a, 0), index = cuda_emit_operand(e, i->b, 0),
             from = index;
    cuda_reg lane = lane_of(e), exists = cuda_none();
    if (i->op == VYRE_OP_SHUFFLE_XOR) {
        from = cuda_two(w, "xor.b32", CUDA_B32, lane, index);
    } else if (i->op == VYRE_OP_SHUFFLE_UP) {
        exists = cuda_two(w, "setp.le.u32", CUDA_PRED, index, lane);
        from = cuda_two(w, "sub.u32", CUDA_B32, lane, index);
    } else if (i->op == VYRE_OP_SHUFFLE_DOWN) {
        exists = cuda_two(w, "setp.lt.u32", CUDA_PRED, index, cuda_u32(width));
        from = cuda_two(w, "add.u32", CUDA_B32, lane, index);
    }
    vyre_range known = vyre_range_operand(&e->facts.ranges, e->ir, i->b);
    if (known.max < width && i->op != VYRE_OP_SHUFFLE_UP && i->op != VYRE_OP_SHUFFLE_DOWN) {
        return fetch(e, type, value, from); /* that lane exists */
    }
    cuda_reg inside = cuda_two(w, "setp.lt.u32", CUDA_PRED, from, cuda_u32(width));
    exists = exists.kind ? cuda_two(w, "and.pred", CUDA_PRED, exists, inside) : inside;
    cuda_reg safe = cuda_two(w, "and.b32", CUDA_B32, from, cuda_u32(width - 1));
    cuda_reg got = fetch(e, type, value, safe);
    return cuda_choose(w, exists, got, cuda_constant(w, type, 0));
}

/* The canonical NaN where somebody sees the bits. */
static cuda_reg canonical(emit *e, uint32_t inst, vyre_type type, cuda_reg value) {
    bool is_float = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
    return is_float && vyre_nan_is_observed(&e->facts.nans, inst)
               ? cuda_write_canonical(&e->w, type, value)
               : value;
}

static cuda_reg combine(emit *e, uint32_t how, vyre_type type, cuda_reg a, cuda_reg b) {
    return cuda_write_op(&e->w, vyre_eval_combining(how), type, type, true, a, b, cuda_none());
}

/* Whether a value is a word of a whole warp. */
static bool is_warp_word(const emit *e, vyre_type type) {
    return e->phase->subgroup == WARP && cuda_class_of(type) == CUDA_B32 &&
           vyre_lookup_class(type) != VYRE_CLASS_FLOAT && cuda_width(type) == 32;
}

/* Words of a warp by one instruction: their order does not matter. */
static cuda_reg reduce_words(emit *e, uint32_t how, vyre_type type, cuda_reg value) {
    static const char *const names[] = {
        [VYRE_COMBINE_ADD] = "add", [VYRE_COMBINE_MIN] = "min", [VYRE_COMBINE_MAX] = "max",
        [VYRE_COMBINE_AND] = "and", [VYRE_COMBINE_OR] = "or",   [VYRE_COMBINE_XOR] = "xor",
    };
    bool bits = how == VYRE_COMBINE_AND || how == VYRE_COMBINE_OR || how == VYRE_COMBINE_XOR;
    bool orders = how == VYRE_COMBINE_MIN || how == VYRE_COMBINE_MAX;
    cuda_reg result = cuda_new(&e->w, CUDA_B32);
    cuda_line(&e->w, "redux.sync.%s.%s %s, %s, 0xffffffff", names[how],
              bits                             ? "b32"
              : orders && cuda_is_signed(type) ? "s32"
                                               : "u32",
              cuda_reg_name(result).text, cuda_reg_name(cuda_in_register(&e->w, value)).text);
    return result;
}

static cuda_reg reduced(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = vyre_inst_type(i);
    cuda_reg value = cuda_emit_operand(e, i->a, 0);
    if (e->target->sm >= 80 && is_warp_word(e, type) && i->aux != VYRE_COMBINE_MUL) {
        return reduce_words(e, i->aux, type, value);
    }
    for (uint32_t d = e->phase->subgroup / 2; d; d /= 2) {
        cuda_reg from = cuda_two(&e->w, "xor.b32", CUDA_B32, lane_of(e), cuda_u32(d));
        value = combine(e, i->aux, type, value, fetch(e, type, value, from));
    }
    return canonical(e, inst, type, value);
}

/* The instruction itself says who has somebody below. */
static cuda_reg scan_words(emit *e, uint32_t how, vyre_type type, cuda_reg value) {
    cuda_writer *w = &e->w;
    value = cuda_in_register(w, value);
    for (uint32_t d = 1; d < WARP; d *= 2) {
        cuda_reg below = cuda_new(w, CUDA_B32), takes = cuda_new(w, CUDA_PRED);
        cuda_line(w, "shfl.sync.up.b32 %s|%s, %s, %u, 0, 0xffffffff", cuda_reg_name(below).text,
                  cuda_reg_name(takes).text, cuda_reg_name(value).text, d);
        if (how == VYRE_COMBINE_ADD) {
            cuda_reg sum = cuda_new(w, CUDA_B32);
            cuda_move(w, sum, value);
            cuda_emit_if(e, takes, "add.u32 %s, %s, %s", cuda_reg_name(sum).text,
                         cuda_reg_name(value).text, cuda_reg_name(below).text);
            value = sum;
        } else {
            value = cuda_choose(w, takes, combine(e, how, type, below, value), value);
        }
    }
    return value;
}

/* A lane that has none below it at a distance keeps its value, bit for bit. */
static cuda_reg scanned(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    cuda_writer *w = &e->w;
    vyre_type type = vyre_inst_type(i);
    uint32_t last = e->phase->subgroup - 1;
    cuda_reg value = cuda_emit_operand(e, i->a, 0), lane = lane_of(e);
    bool words = is_warp_word(e, type);
    if (words) {
        value = scan_words(e, i->aux, type, value);
    }
    for (uint32_t d = 1; d < e->phase->subgroup && !words; d *= 2) {
        cuda_reg from = cuda_two(w, "sub.u32", CUDA_B32, lane, cuda_u32(d));
        from = cuda_two(w, "and.b32", CUDA_B32, from, cuda_u32(last));
        cuda_reg below = fetch(e, type, value, from);
        cuda_reg sum = canonical(e, inst, type, combine(e, i->aux, type, below, value));
        cuda_reg takes = cuda_two(w, "setp.ge.u32", CUDA_PRED, lane, cuda_u32(d));
        value = cuda_choose(w, takes, sum, value);
    }
    if (i->op == VYRE_OP_SCAN) {
        return value;
    }
    cuda_reg from = cuda_two(w, "sub.u32", CUDA_B32, lane, cuda_u32(1));
    from = cuda_two(w, "and.b32", CUDA_B32, from, cuda_u32(last));
    cuda_reg below = fetch(e, type, value, from);
    cuda_reg is_first = cuda_two(w, "setp.eq.u32", CUDA_PRED, lane, cuda_u32(0));
    return cuda_choose(w, is_first, cuda_constant(w, type, vyre_eval_identity(i->aux, type)),
                       below);
}

/* A bit a lane of the subgroup, in 32 bits, or in 64 for the widest. */
static cuda_reg ballot(emit *e, cuda_reg condition) {
    cuda_writer *w = &e->w;
    uint32_t width = e->phase->subgroup;
    cuda_reg bits = cuda_new(w, CUDA_B32);
    cuda_line(w, "vote.sync.ballot.b32 %s, %s, %s", cuda_reg_name(bits).text,
              cuda_reg_name(condition).text, cuda_reg_name(members(e)).text);
    if (width < WARP) {
        bits = cuda_two(w, "shr.u32", CUDA_B32, bits, first_in_warp(e));
        return cuda_two(w, "and.b32", CUDA_B32, bits, cuda_u32(((uint32_t)1 << width) - 1));
    }
    if (width == WARP) {
        return bits;
    }
    cuda_reg low = fetch_far(e, bits, cuda_u32(0)), high = fetch_far(e, bits, cuda_u32(WARP));
    cuda_reg both = cuda_new(w, CUDA_B64);
    cuda_line(w, "mov.b64 %s, {%s, %s}", cuda_reg_name(both).text, cuda_reg_name(low).text,
              cuda_reg_name(high).text);
    return both;
}

static cuda_reg vote(emit *e, cuda_reg condition, bool all) {
    cuda_writer *w = &e->w;
    if (e->phase->subgroup > WARP) {
        return cuda_two(w, all ? "setp.eq.u64" : "setp.ne.u64", CUDA_PRED, ballot(e, condition),
                        cuda_u64(all ? UINT64_MAX : 0));
    }
    if (e->phase->subgroup < WARP) {
        uint32_t whole = ((uint32_t)1 << e->phase->subgroup) - 1;
        return cuda_two(w, all ? "setp.eq.u32" : "setp.ne.u32", CUDA_PRED, ballot(e, condition),
                        cuda_u32(all ? whole : 0));
    }
    cuda_reg answer = cuda_new(w, CUDA_PRED);
    cuda_line(w, "vote.sync.%s.pred %s, %s, %s", all ? "all" : "any", cuda_reg_name(answer).text,
              cuda_reg_name(condition).text, cuda_reg_name(members(e)).text);
    return answer;
}

/* Products of matrices, whose elements docs/semantics.md spreads over the lanes as these
 * instructions do. */

static cuda_reg new_sum(emit *e) {
    return cuda_new(&e->w, CUDA_B32);
}

/* Upper and lower half of the rows, columns 0 to 15 of A, then 16 to 31. */
static void multiply_pieces(emit *e, const cuda_reg *a, const cuda_reg *b, cuda_reg *c) {
    for (uint32_t step = 0; step < VYRE_MATRIX_A; step++) {
        uint32_t far = step / 2;
        cuda_reg *sums = c + (step % 2 ? 2 : 0), low = new_sum(e), high = new_sum(e);
        cuda_line(
            &e->w, "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%s, %s}, {%s}, {%s}, {%s, %s}",
            cuda_reg_name(low).text, cuda_reg_name(high).text, cuda_reg_name(a[step]).text,
            cuda_reg_name(b[far]).text, cuda_reg_name(sums[0]).text, cuda_reg_name(sums[1]).text);
        sums[0] = low;
        sums[1] = high;
    }
}

static void multiply_whole(emit *e, const cuda_reg *a, const cuda_reg *b, cuda_reg *c) {
    cuda_reg d[VYRE_MATRIX_C];
    for (uint32_t k = 0; k < VYRE_MATRIX_C; k++) {
        d[k] = new_sum(e);
    }
    cuda_line(&e->w,
              "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%s, %s, %s, %s}, "
              "{%s, %s, %s, %s}, {%s, %s}, {%s, %s, %s, %s}",
              cuda_reg_name(d[0]).text, cuda_reg_name(d[1]).text, cuda_reg_name(d[2]).text,
              cuda_reg_name(d[3]).text, cuda_reg_name(a[0]).text, cuda_reg_name(a[1]).text,
              cuda_reg_name(a[2]).text, cuda_reg_name(a[3]).text, cuda_reg_name(b[0]).text,
              cuda_reg_name(b[1]).text, cuda_reg_name(c[0]).text, cuda_reg_name(c[1]).text,
              cuda_reg_name(c[2]).text, cuda_reg_name(c[3]).text);
    memcpy(c, d, sizeof d);
}

/* Where there is no such instruction: each lane fetches the words of its rows and columns. */
static void multiply_words(emit *e, const cuda_reg *a, const cuda_reg *b, cuda_reg *c) {
    cuda_writer *w = &e->w;
    cuda_reg row = cuda_two(w, "and.b32", CUDA_B32, e->thread, cuda_u32(WARP - 4));
    cuda_reg columns = cuda_two(w, "and.b32", CUDA_B32, e->thread, cuda_u32(3));
    columns = cuda_two(w, "shl.b32", CUDA_B32, columns, cuda_u32(3));
    for (uint32_t step = 0; step < 8; step++) {
        uint32_t far = step / 4, t = step % 4;
        cuda_reg of_row = cuda_two(w, "add.u32", CUDA_B32, row, cuda_u32(t)), fetched[2];
        for (uint32_t k = 0; k < 2; k++) {
            cuda_reg of_column = cuda_two(w, "add.u32", CUDA_B32, columns, cuda_u32(4 * k + t));
            fetched[k] = shuffle_word(e, b[far], of_column);
        }
        for (uint32_t k = 0; k < VYRE_MATRIX_C; k += 2) {
            cuda_reg words = shuffle_word(e, a[2 * far + k / 2], of_row);
            c[k] = cuda_three(w, "dp4a.s32.s32", CUDA_B32, words, fetched[0], c[k]);
            c[k + 1] = cuda_three(w, "dp4a.s32.s32", CUDA_B32, words, fetched[1], c[k + 1]);
        }
    }
}

static void multiply(emit *e, uint32_t inst) {
    vyre_list values = vyre_inst_operands(e->ir, &e->ir->insts[inst]);
    cuda_reg regs[VYRE_MATRIX_OPERANDS], *c = regs + VYRE_MATRIX_A + VYRE_MATRIX_B;
    for (uint32_t k = 0; k < VYRE_MATRIX_OPERANDS; k++) {
        regs[k] = cuda_in_register(&e->w, cuda_emit_operand(e, values.items[k], 0));
    }
    switch (cuda_matrix_form(e->target->sm, e->target->isa)) {
    case CUDA_MATRIX_WHOLE: multiply_whole(e, regs, regs + VYRE_MATRIX_A, c); break;
    case CUDA_MATRIX_PIECES: multiply_pieces(e, regs, regs + VYRE_MATRIX_A, c); break;
    case CUDA_MATRIX_WORDS: multiply_words(e, regs, regs + VYRE_MATRIX_A, c); break;
    }
    for (uint32_t k = 0; k < VYRE_MATRIX_C; k++) {
        *emit_slot(e, vyre_result(e->ir, inst, k), 0) = c[k];
    }
}

void cuda_emit_subgroup(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    cuda_reg result = cuda_none();
    e->is_together = cuda_emit_together(e, inst);
    switch (vyre_inst_op(i)) {
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, CONTROL, NONE):
        cuda_emit_unknown(e, inst);
        break;
    case VYRE_OP_MATRIX_MAD: multiply(e, inst); return;
    case VYRE_OP_BALLOT: result = ballot(e, cuda_emit_operand(e, i->a, 0)); break;
    case VYRE_OP_ANY: result = vote(e, cuda_emit_operand(e, i->a, 0), false); break;
    case VYRE_OP_ALL: result = vote(e, cuda_emit_operand(e, i->a, 0), true); break;
    case VYRE_OP_REDUCE: result = reduced(e, inst); break;
    case VYRE_ONE_OF(SCAN, SCAN_EXCLUSIVE): result = scanned(e, inst); break;
    case VYRE_ONE_OF(SHUFFLE, SHUFFLE_XOR, SHUFFLE_UP, SHUFFLE_DOWN, BROADCAST):
        result = shuffled(e, i);
        break;
    }
    *emit_slot(e, inst, 0) = result;
}
