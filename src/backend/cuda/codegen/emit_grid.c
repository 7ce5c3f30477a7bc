/* Which invocations a thread runs: the groups that its block takes, and its positions in them. */
#include "backend/cuda/codegen/emit_state.h"
#include "ir/lookup.h"

enum { OPEN_BITS = 8 }; /* of CUDA_OPEN_THREADS */

/* Positions */

static cuda_reg special(emit *e, const char *name) {
    cuda_reg reg = cuda_new(&e->w, CUDA_B32);
    cuda_line(&e->w, "mov.u32 %s, %%%s", cuda_reg_name(reg).text, name);
    return reg;
}

static cuda_reg wide(emit *e, cuda_reg a) {
    return cuda_one(&e->w, "cvt.u64.u32", CUDA_B64, a);
}

/* Position in the workgroup. */
static void find_local(emit *e) {
    const uint32_t *size = e->phase->workgroup;
    cuda_reg rest = e->thread;
    for (uint32_t d = 0; d < 3; d++) {
        uint32_t behind = d == 0 ? size[1] * size[2] : d == 1 ? size[2] : 1;
        if (size[d] == 1) {
            e->position[d] = cuda_u32(0);
        } else if (behind == 1) {
            e->position[d] = rest;
        } else {
            cuda_reg by = cuda_u32(size[d]);
            e->position[d] = cuda_integer_op(&e->w, VYRE_OP_REM, VYRE_TYPE_U32, rest, by);
            rest = cuda_integer_op(&e->w, VYRE_OP_DIV, VYRE_TYPE_U32, rest, by);
        }
    }
}

/* Whether threads run several invocations at this launch. */
static cuda_reg has_all_parts(emit *e) {
    return cuda_two(&e->w, "setp.eq.u32", CUDA_PRED, e->parts_now, cuda_u32(e->facts.parts));
}

/* The number that a side of a domain from memory is, at most the maximum. */
static void read_side(emit *e, cuda_reg from, uint32_t d) {
    cuda_writer *w = &e->w;
    vyre_type type = vyre_resource_type(&e->ir->resources[e->phase->from_resource]);
    cuda_reg exists = cuda_none();
    if (d) {
        cuda_reg there = cuda_emit_frame(e, CUDA_B64, e->layout.groups);
        exists = cuda_two(w, "setp.gt.u64", CUDA_PRED, there, cuda_u64(d));
        from =
            cuda_two(w, "add.u64", CUDA_B64, from, cuda_u64((uint64_t)d * vyre_type_bytes(type)));
    } else {
        exists = cuda_two(w, "setp.ne.u64", CUDA_PRED, from, cuda_u64(0));
    }
    cuda_reg count = cuda_emit_zero(e, cuda_class_of(type));
    cuda_emit_if(e, exists, "ld.global.nc.%s %s, [%s]", cuda_emit_memory_type(type),
                 cuda_reg_name(count).text, cuda_reg_name(from).text);
    if (cuda_width(type) < 64) {
        count = cuda_convert(w, type, cuda_is_signed(type) ? VYRE_TYPE_I64 : VYRE_TYPE_U64, count);
    }
    if (cuda_is_signed(type)) {
        count = cuda_two(w, "max.s64", CUDA_B64, count, cuda_u64(0));
    }
    e->domain[d] = cuda_two(w, "min.u64", CUDA_B64, count, e->domain[d]);
}

/* The bits of a tile along x or y, where there is no workgroup clause. */
static cuda_reg shape_bits(emit *e, uint32_t d) {
    cuda_reg bits = cuda_emit_frame(e, CUDA_B32, e->layout.shape + 4 * d);
    return d ? cuda_two(&e->w, "and.b32", CUDA_B32, bits,
                        cuda_u32((UINT32_C(1) << CUDA_SHAPE_PARTS) - 1))
             : bits;
}

/* Groups of a domain of several dimensions without a workgroup clause. */
static void count_open_groups(emit *e) {
    cuda_writer *w = &e->w;
    cuda_reg bits[3] = {shape_bits(e, 0), shape_bits(e, 1), cuda_none()};
    cuda_reg rest = cuda_two(w, "add.u32", CUDA_B32, bits[0], bits[1]);
    bits[2] = cuda_two(w, "sub.u32", CUDA_B32, cuda_u32(OPEN_BITS), rest);
    for (uint32_t d = 0; d < e->phase->dimensions; d++) {
        cuda_reg domain = e->domain[d];
        if (d == 0 && e->facts.parts > 1) {
            cuda_reg parts = wide(e, e->parts_now);
            cuda_reg sum = cuda_two(w, "add.u64", CUDA_B64, domain, parts);
            sum = cuda_two(w, "sub.u64", CUDA_B64, sum, cuda_u64(1));
            domain = cuda_integer_op(w, VYRE_OP_DIV, VYRE_TYPE_U64, sum, parts);
        }
        cuda_reg mask = cuda_two(w, "shl.b64", CUDA_B64, cuda_u64(UINT64_MAX), bits[d]);
        mask = cuda_one(w, "not.b64", CUDA_B64, mask);
        cuda_reg sum = cuda_two(w, "add.u64", CUDA_B64, domain, mask);
        e->groups[d] = cuda_two(w, "shr.u64", CUDA_B64, sum, bits[d]);
    }
}

/* A domain from memory; groups follow from it. */
static void read_domain(emit *e) {
    cuda_writer *w = &e->w;
    cuda_reg from = cuda_emit_frame(e, CUDA_B64, e->layout.from);
    for (uint32_t d = 0; d < e->phase->dimensions; d++) {
        read_side(e, from, d);
    }
    const uint32_t *size = e->phase->workgroup;
    if (size[0]) {
        for (uint32_t d = 0; d < e->phase->dimensions; d++) {
            cuda_reg sum = cuda_two(w, "add.u64", CUDA_B64, e->domain[d], cuda_u64(size[d] - 1));
            e->groups[d] = cuda_integer_op(w, VYRE_OP_DIV, VYRE_TYPE_U64, sum, cuda_u64(size[d]));
        }
        return;
    }
    if (e->phase->dimensions > 1) {
        count_open_groups(e);
        return;
    }
    uint32_t tile = e->info->threads;
    cuda_reg sum = cuda_two(w, "add.u64", CUDA_B64, e->domain[0], cuda_u64(tile - 1));
    e->groups[0] = cuda_integer_op(w, VYRE_OP_DIV, VYRE_TYPE_U64, sum, cuda_u64(tile));
    if (e->facts.parts > 1) {
        uint32_t all = tile * e->facts.parts;
        sum = cuda_two(w, "add.u64", CUDA_B64, e->domain[0], cuda_u64(all - 1));
        cuda_reg fewer = cuda_integer_op(w, VYRE_OP_DIV, VYRE_TYPE_U64, sum, cuda_u64(all));
        e->groups[0] = cuda_choose(w, has_all_parts(e), fewer, e->groups[0]);
    }
}

/* Position of part 0 in the domain; `out` is where threads go that are outside. Gives the domain's
 * first position as 64 bits. */
static cuda_reg find_open(emit *e, uint32_t out) {
    cuda_writer *w = &e->w;
    if (e->phase->dimensions == 1) {
        cuda_reg number = cuda_three(w, "mad.lo.u32", CUDA_B32, e->group[0],
                                     cuda_u32(e->info->threads), e->thread);
        cuda_reg x = cuda_two(w, "mul.wide.u32", CUDA_B64, number, e->parts_now);
        cuda_reg outside = cuda_two(w, "setp.ge.u64", CUDA_PRED, x, e->domain[0]);
        cuda_emit_branch(e, outside, true, out, false);
        e->position[0] = cuda_one(w, "cvt.u32.u64", CUDA_B32, x);
        e->position[1] = e->position[2] = cuda_u32(0);
        return x;
    }
    cuda_reg bits[2] = {shape_bits(e, 0), shape_bits(e, 1)};
    cuda_reg rest = e->thread, first = cuda_none();
    for (uint32_t d = 0; d < 3; d++) {
        cuda_reg local = rest, start = wide(e, e->group[d]);
        if (d < 2) {
            cuda_reg mask = cuda_two(w, "shl.b32", CUDA_B32, cuda_u32(UINT32_MAX), bits[d]);
            mask = cuda_one(w, "not.b32", CUDA_B32, mask);
            local = cuda_two(w, "and.b32", CUDA_B32, rest, mask);
            rest = cuda_two(w, "shr.u32", CUDA_B32, rest, bits[d]);
            start = cuda_two(w, "shl.b64", CUDA_B64, start, bits[d]);
        } else {
            cuda_reg both = cuda_two(w, "add.u32", CUDA_B32, bits[0], bits[1]);
            cuda_reg depth = cuda_two(w, "shr.u32", CUDA_B32, cuda_u32(CUDA_OPEN_THREADS), both);
            start = cuda_two(w, "mul.wide.u32", CUDA_B64, e->group[2], depth);
        }
        cuda_reg at = cuda_two(w, "add.u64", CUDA_B64, start, wide(e, local));
        if (d == 0 && e->facts.parts > 1) {
            at = cuda_two(w, "mul.lo.u64", CUDA_B64, at, wide(e, e->parts_now));
        }
        first = d ? first : at;
        cuda_reg outside = cuda_two(w, "setp.ge.u64", CUDA_PRED, at, e->domain[d]);
        cuda_emit_branch(e, outside, true, out, false);
        e->position[d] = cuda_one(w, "cvt.u32.u64", CUDA_B32, at);
    }
    return first;
}

/* Several parts at once where all of them are in the domain, else one after the other. */
static void write_open(emit *e) {
    uint32_t out = cuda_emit_label(e);
    cuda_reg x = find_open(e, out);
    uint32_t parts = e->facts.parts;
    if (parts > 1) {
        uint32_t single = cuda_emit_label(e), iteration = cuda_emit_label(e),
                 next = cuda_emit_label(e);
        cuda_reg fits =
            cuda_two(&e->w, "and.pred", CUDA_PRED, has_all_parts(e), cuda_emit_own_rows_fit(e, x));
        cuda_emit_branch(e, fits, false, single, false);
        e->parts = e->end_part = parts;
        cuda_emit_body(e, out);
        cuda_emit_place(e, single);
        cuda_reg at = cuda_new(&e->w, CUDA_B64), low = cuda_new(&e->w, CUDA_B32);
        cuda_reg last = cuda_two(&e->w, "add.u64", CUDA_B64, x, wide(e, e->parts_now));
        last = cuda_two(&e->w, "min.u64", CUDA_B64, last, e->domain[0]);
        cuda_move(&e->w, at, x);
        cuda_move(&e->w, low, e->position[0]);
        e->position[0] = low;
        cuda_emit_place(e, iteration);
        e->parts = e->end_part = 1;
        cuda_emit_body(e, next);
        cuda_emit_place(e, next);
        cuda_line(&e->w, "add.u64 %s, %s, 1", cuda_reg_name(at).text, cuda_reg_name(at).text);
        cuda_line(&e->w, "add.u32 %s, %s, 1", cuda_reg_name(low).text, cuda_reg_name(low).text);
        cuda_emit_branch(e, cuda_two(&e->w, "setp.lt.u64", CUDA_PRED, at, last), true, iteration,
                         false);
    } else {
        e->parts = e->end_part = 1;
        cuda_emit_body(e, out);
    }
    cuda_emit_place(e, out);
}

static void write_group(emit *e) {
    uint32_t end = cuda_emit_label(e);
    e->parts = e->end_part = 1;
    cuda_emit_clear_shared(e);
    cuda_emit_body(e, end);
    cuda_emit_place(e, end);
}

/* Groups */

static void write_one_group(emit *e) {
    if (e->phase->workgroup[0]) {
        write_group(e);
    } else {
        write_open(e);
    }
}

/* Blocks go on with the group as many further as there are blocks, in each dimension. */
static void write_strides(emit *e) {
    static const char *const starts[] = {"ctaid.x", "ctaid.y", "ctaid.z"};
    static const char *const steps[] = {"nctaid.x", "nctaid.y", "nctaid.z"};
    uint32_t heads[3];
    cuda_reg next[3];
    for (uint32_t d = e->phase->dimensions; d-- > 0;) {
        heads[d] = cuda_emit_label(e);
        next[d] = cuda_new(&e->w, CUDA_B64);
        cuda_move(&e->w, next[d], wide(e, special(e, starts[d])));
        cuda_emit_place(e, heads[d]);
        e->group[d] = cuda_one(&e->w, "cvt.u32.u64", CUDA_B32, next[d]);
    }
    if (e->facts.has_loops) {
        cuda_emit_stop_check(e);
    }
    write_one_group(e);
    if (e->shared_bytes) {
        cuda_emit_barrier(e); /* who is still in the last group may use what the next one clears */
    }
    for (uint32_t d = 0; d < e->phase->dimensions; d++) {
        cuda_name text = cuda_reg_name(next[d]);
        cuda_line(&e->w, "add.u64 %s, %s, %s", text.text, text.text,
                  cuda_reg_name(wide(e, special(e, steps[d]))).text);
        cuda_emit_branch(e, cuda_two(&e->w, "setp.lt.u64", CUDA_PRED, next[d], e->groups[d]), true,
                         heads[d], true);
    }
}

/* Blocks take the next group that nobody has: those that run have the lowest ones. The block that
 * finds out last that there are no more sets the word back. */
static void write_tickets(emit *e) {
    cuda_writer *w = &e->w;
    uint32_t head = cuda_emit_label(e), waits = cuda_emit_label(e), run = cuda_emit_label(e),
             out = cuda_emit_label(e);
    cuda_name counters = cuda_reg_name(cuda_emit_counters(e));
    cuda_reg all = e->groups[0];
    for (uint32_t d = 1; d < e->phase->dimensions; d++) {
        all = cuda_two(w, "mul.lo.u64", CUDA_B64, all, e->groups[d]);
    }
    cuda_reg is_first = cuda_two(w, "setp.eq.u32", CUDA_PRED, e->thread, cuda_u32(0));
    cuda_reg ticket = cuda_new(w, CUDA_B64);
    cuda_name text = cuda_reg_name(ticket);
    cuda_emit_place(e, head);
    cuda_emit_stop_check(e);
    cuda_emit_branch(e, is_first, false, waits, false);
    cuda_line(w, "atom.relaxed.gpu.global.add.u64 %s, [%s], 1", text.text, counters.text);
    cuda_line(w, "st.shared.u64 [%s_shared+%u], %s", e->name, e->ticket, text.text);
    cuda_emit_place(e, waits);
    cuda_emit_barrier(e);
    cuda_line(w, "ld.shared.u64 %s, [%s_shared+%u]", text.text, e->name, e->ticket);
    cuda_emit_branch(e, cuda_two(w, "setp.lt.u64", CUDA_PRED, ticket, all), true, run, true);
    cuda_reg last = cuda_two(w, "add.u64", CUDA_B64, all, wide(e, special(e, "nctaid.x")));
    last = cuda_two(w, "sub.u64", CUDA_B64, last, cuda_u64(1));
    cuda_reg resets = cuda_two(w, "setp.eq.u64", CUDA_PRED, ticket, last);
    resets = cuda_two(w, "and.pred", CUDA_PRED, resets, is_first);
    cuda_reg zero = cuda_emit_zero(e, CUDA_B64);
    cuda_emit_if(e, resets, "st.relaxed.gpu.global.u64 [%s], %s", counters.text,
                 cuda_reg_name(zero).text);
    cuda_emit_jump(e, out);
    cuda_emit_place(e, run);
    cuda_reg rest = ticket;
    for (uint32_t d = 0; d < e->phase->dimensions; d++) {
        bool more = d + 1 < e->phase->dimensions;
        cuda_reg at = more ? cuda_two(w, "rem.u64", CUDA_B64, rest, e->groups[d]) : rest;
        rest = more ? cuda_two(w, "div.u64", CUDA_B64, rest, e->groups[d]) : rest;
        e->group[d] = cuda_one(w, "cvt.u32.u64", CUDA_B32, at);
    }
    write_one_group(e);
    cuda_emit_barrier(e); /* everybody has read the ticket, and is through with shared arrays */
    cuda_emit_jump(e, head);
    cuda_emit_place(e, out);
}

void cuda_emit_groups(emit *e) {
    static const char *const names[] = {"ctaid.x", "ctaid.y", "ctaid.z"};
    for (uint32_t d = 0; d < 3; d++) {
        bool exists = d < e->phase->dimensions;
        e->domain[d] =
            exists ? cuda_emit_frame(e, CUDA_B64, e->layout.domain + 8 * d) : cuda_u64(1);
        e->groups[d] =
            exists ? cuda_emit_frame(e, CUDA_B64, e->layout.groups + 8 * d) : cuda_u64(1);
        e->group[d] = cuda_u32(0);
    }
    e->thread = special(e, "tid.x");
    e->parts_now = cuda_u32(1);
    if (e->facts.parts > 1) {
        e->parts_now =
            cuda_two(&e->w, "shr.u32", CUDA_B32, cuda_emit_frame(e, CUDA_B32, e->layout.shape + 4),
                     cuda_u32(CUDA_SHAPE_PARTS));
    }
    if (e->phase->workgroup[0]) {
        find_local(e);
    }
    if (e->phase->from_resource != VYRE_NONE) {
        read_domain(e);
        if (!e->info->ordered) { /* there may be fewer groups than blocks */
            for (uint32_t d = 0; d < e->phase->dimensions; d++) {
                cuda_reg at = wide(e, special(e, names[d]));
                cuda_emit_if(e, cuda_two(&e->w, "setp.ge.u64", CUDA_PRED, at, e->groups[d]),
                             "exit");
            }
        }
    }
    if (e->info->ordered) {
        write_tickets(e);
    } else if (e->info->strides) {
        write_strides(e);
    } else {
        for (uint32_t d = 0; d < e->phase->dimensions; d++) {
            e->group[d] = special(e, names[d]);
        }
        if (e->facts.has_loops) {
            cuda_emit_stop_check(e);
        }
        write_one_group(e);
    }
}
