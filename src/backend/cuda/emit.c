#include "backend/cuda/emit.h"

#include <stdio.h>

#include "backend/cuda/emit_state.h"
#include "base/alloc.h"
#include "ir/lookup.h"
#include "ir/program.h"

cuda_layout cuda_layout_of(const vyre_ir *ir) {
    cuda_layout layout = {0};
    while (layout.array_count < ir->resource_count &&
           ir->resources[layout.array_count].kind <= VYRE_RESOURCE_SCRATCH) {
        layout.array_count++;
    }
    const struct {
        uint32_t *field, bytes;
    } fields[] = {
        {&layout.domain, 24},
        {&layout.groups, 24},
        {&layout.shape, 8},
        {&layout.from, 8},
        {&layout.stop, 8},
        {&layout.counters, 8},
        {&layout.turns, 8},
        {&layout.arrays, 8 * layout.array_count},
        {&layout.lengths, 8 * layout.array_count},
        {&layout.arguments, 8 * ir->arg_count},
        {&layout.iterations, (4 * ir->step_count + 7) / 8 * 8},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        *fields[i].field = layout.bytes;
        layout.bytes += fields[i].bytes;
    }
    layout.by_pointer = layout.bytes > CUDA_FRAME_LIMIT;
    return layout;
}

bool cuda_phase_writes(const vyre_ir *ir, uint32_t phase, uint32_t array) {
    for (uint32_t inst = ir->phases[phase].first; inst < ir->phases[phase].end; inst++) {
        const vyre_inst *i = &ir->insts[inst];
        if (vyre_lookup_op(i->op)->effects & VYRE_EFFECT_WRITE && i->a == array) {
            return true;
        }
    }
    return false;
}

/* Threads along x are as many as the domain has use for, then along y, and the rest along z. */
cuda_shape cuda_shape_of(const vyre_phase *phase, const cuda_phase_info *info,
                         const uint64_t *domain) {
    enum { BITS = 8, ROW = 5 }; /* of CUDA_OPEN_THREADS; a row of 32 threads is as good as any */
    cuda_shape shape = {{phase->workgroup[0], phase->workgroup[1], phase->workgroup[2]}, {0, 0}};
    if (phase->workgroup[0]) {
        return shape;
    }
    uint32_t bits[3] = {0}, left = BITS;
    for (uint32_t d = 0; d < phase->dimensions; d++) {
        uint32_t most = d == 0 && phase->dimensions > 1 ? ROW : left;
        uint64_t covered = d ? 1 : info->parts;
        while (bits[d] < most && covered << bits[d] < domain[d]) {
            bits[d]++;
        }
        left -= bits[d];
    }
    bits[0] += left; /* nobody has use for these */
    shape.bits[0] = bits[0];
    shape.bits[1] = bits[1];
    shape.tile[0] = info->parts << bits[0];
    shape.tile[1] = UINT32_C(1) << bits[1];
    shape.tile[2] = UINT32_C(1) << bits[2];
    return shape;
}

/* Instructions */

static void write_pure(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type result = (vyre_type)i->type;
    const uint32_t *values;
    uint32_t count = vyre_lookup_values(e->ir, i, &values);
    vyre_type type = i->op == VYRE_OP_SELECT ? result : vyre_operand_type(e->ir, values[0]);
    bool observed = emit_fact(e, inst)->observed;
    for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++) {
        cuda_reg regs[3] = {{0}};
        for (uint32_t k = 0; k < count && k < 3; k++) {
            regs[k] = cuda_emit_operand(e, values[k], part);
        }
        cuda_reg value =
            cuda_write_op(&e->w, (vyre_op)i->op, type, result, observed, regs[0], regs[1], regs[2]);
        if (observed && cuda_gives_any_nan((vyre_op)i->op, result)) {
            value = cuda_write_canonical(&e->w, result, value);
        }
        *emit_slot(e, inst, part) = value;
    }
}

/* Says which line of the source follows. */
static void mention_line(emit *e, uint32_t inst) {
    uint32_t line = vyre_ir_line(e->ir, inst);
    if (!line || line == e->line) {
        return;
    }
    e->line = line;
    vyre_text_printf(&e->w.code, "\t// line %u\n", line);
    if (e->file) {
        vyre_text_printf(&e->w.code, "\t.loc %u %u %u\n", e->file, line,
                         VYRE_PLACE_COLUMN(e->ir->places[inst]));
    }
}

void cuda_emit_instruction(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t effects = vyre_lookup_op(i->op)->effects;
    if (i->op == VYRE_OP_ARG || i->op == VYRE_OP_RESULT) {
        return; /* written where it comes from */
    }
    mention_line(e, inst);
    if (effects & VYRE_EFFECT_BLOCK) {
        cuda_emit_control(e, inst);
    } else if (effects & VYRE_EFFECT_END) {
        cuda_emit_jump_out(e, inst);
    } else if (effects & VYRE_EFFECT_SUBGROUP) {
        cuda_emit_subgroup(e, inst);
    } else if (i->op == VYRE_OP_BARRIER) {
        cuda_emit_barrier(e);
    } else if (i->op == VYRE_OP_GRID_BARRIER) {
        cuda_emit_grid_barrier(e);
    } else if (i->op == VYRE_OP_UNIFORM_LOAD) {
        cuda_emit_uniform_load(e, inst);
    } else if (effects & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE)) {
        cuda_emit_memory(e, inst);
    } else if (!cuda_emit_surroundings(e, inst)) {
        write_pure(e, inst);
    }
}

/* The phase's code for the parts that are set, up to the label `end`. */
static void write_body(emit *e, uint32_t end) {
    e->end = end;
    e->depth = 0;
    e->stack[e->depth++] = (emit_open){.owner = VYRE_NONE, .exit = end, .latch = end};
    e->line = 0;
    for (uint32_t r = e->phase->first_resource; r < e->phase->end_resource; r++) {
        if (e->ir->resources[r].kind == VYRE_RESOURCE_PRIVATE && e->facts.used[r]) {
            cuda_emit_clear(e, r);
        }
    }
    cuda_emit_block(e, e->phase->first, e->phase->end);
}

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
            e->position[d] = cuda_two(&e->w, "rem.u32", CUDA_B32, rest, cuda_u32(size[d]));
            rest = cuda_two(&e->w, "div.u32", CUDA_B32, rest, cuda_u32(size[d]));
        }
    }
}

/* The number that a domain from memory is, at most the maximum; groups follow from it. */
static void read_domain(emit *e) {
    cuda_writer *w = &e->w;
    vyre_type type = (vyre_type)e->ir->resources[e->phase->from_resource].type;
    cuda_reg from = cuda_emit_frame(e, CUDA_B64, e->layout.from);
    cuda_reg exists = cuda_two(w, "setp.ne.u64", CUDA_PRED, from, cuda_u64(0));
    cuda_reg count = cuda_emit_zero(e, cuda_class_of(type));
    cuda_emit_if(e, exists, "ld.global.nc.%s %s, [%s]", cuda_emit_memory_type(type),
                 cuda_reg_name(count).text, cuda_reg_name(from).text);
    if (cuda_width(type) < 64) {
        count = cuda_convert(w, type, cuda_is_signed(type) ? VYRE_TYPE_I64 : VYRE_TYPE_U64, count);
    }
    if (cuda_is_signed(type)) {
        count = cuda_two(w, "max.s64", CUDA_B64, count, cuda_u64(0));
    }
    e->domain[0] = cuda_two(w, "min.u64", CUDA_B64, count, e->domain[0]);
    const uint32_t *size = e->phase->workgroup;
    uint32_t tile = size[0] ? size[0] : CUDA_OPEN_THREADS * e->facts.parts;
    cuda_reg sum = cuda_two(w, "add.u64", CUDA_B64, e->domain[0], cuda_u64(tile - 1));
    e->groups[0] = cuda_two(w, "div.u64", CUDA_B64, sum, cuda_u64(tile));
}

/* Position of part 0 in the domain; `out` is where threads go that are outside. Gives the domain's
 * first position as 64 bits. */
static cuda_reg find_open(emit *e, uint32_t out) {
    cuda_writer *w = &e->w;
    cuda_reg parts = cuda_u32(e->facts.parts);
    if (e->phase->dimensions == 1) {
        cuda_reg number = cuda_three(w, "mad.lo.u32", CUDA_B32, e->group[0],
                                     cuda_u32(CUDA_OPEN_THREADS), e->thread);
        cuda_reg x = cuda_two(w, "mul.wide.u32", CUDA_B64, number, parts);
        cuda_reg outside = cuda_two(w, "setp.ge.u64", CUDA_PRED, x, e->domain[0]);
        cuda_emit_branch(e, outside, true, out, false);
        e->position[0] = cuda_one(w, "cvt.u32.u64", CUDA_B32, x);
        e->position[1] = e->position[2] = cuda_u32(0);
        return x;
    }
    cuda_reg bits[2] = {cuda_emit_frame(e, CUDA_B32, e->layout.shape),
                        cuda_emit_frame(e, CUDA_B32, e->layout.shape + 4)};
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
            at = cuda_two(w, "mul.lo.u64", CUDA_B64, at, cuda_u64(e->facts.parts));
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
        uint32_t single = cuda_emit_label(e), turn = cuda_emit_label(e), next = cuda_emit_label(e);
        cuda_emit_branch(e, cuda_emit_own_rows_fit(e, x), false, single, false);
        e->parts = e->end_part = parts;
        write_body(e, out);
        cuda_emit_place(e, single);
        cuda_reg at = cuda_new(&e->w, CUDA_B64), low = cuda_new(&e->w, CUDA_B32);
        cuda_reg last = cuda_two(&e->w, "add.u64", CUDA_B64, x, cuda_u64(parts));
        last = cuda_two(&e->w, "min.u64", CUDA_B64, last, e->domain[0]);
        cuda_move(&e->w, at, x);
        cuda_move(&e->w, low, e->position[0]);
        e->position[0] = low;
        cuda_emit_place(e, turn);
        e->parts = e->end_part = 1;
        write_body(e, next);
        cuda_emit_place(e, next);
        cuda_line(&e->w, "add.u64 %s, %s, 1", cuda_reg_name(at).text, cuda_reg_name(at).text);
        cuda_line(&e->w, "add.u32 %s, %s, 1", cuda_reg_name(low).text, cuda_reg_name(low).text);
        cuda_emit_branch(e, cuda_two(&e->w, "setp.lt.u64", CUDA_PRED, at, last), true, turn, false);
    } else {
        e->parts = e->end_part = 1;
        write_body(e, out);
    }
    cuda_emit_place(e, out);
}

static void write_group(emit *e) {
    uint32_t end = cuda_emit_label(e);
    e->parts = e->end_part = 1;
    cuda_emit_clear_shared(e);
    write_body(e, end);
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

static void write_groups(emit *e) {
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
    if (e->phase->workgroup[0]) {
        find_local(e);
    }
    if (e->phase->from_resource != VYRE_NONE) {
        read_domain(e);
        if (!e->info->ordered) { /* there may be fewer groups than blocks */
            cuda_reg at = wide(e, special(e, names[0]));
            cuda_emit_if(e, cuda_two(&e->w, "setp.ge.u64", CUDA_PRED, at, e->groups[0]), "exit");
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

/* Entries */

static void choose_launch(emit *e) {
    const uint32_t *size = e->phase->workgroup;
    const cuda_facts *f = &e->facts;
    bool from_memory = e->phase->from_resource != VYRE_NONE;
    *e->info = (cuda_phase_info){
        .threads = size[0] ? size[0] * size[1] * size[2] : CUDA_OPEN_THREADS,
        .parts = f->parts,
        .cooperative = f->has_grid_barriers,
        .ordered = f->may_wait && !f->has_grid_barriers,
    };
    /* A grid has at most 2^31 - 1 blocks along x, and 65,535 along y and z. */
    e->info->strides = !e->info->cooperative && !e->info->ordered &&
                       (from_memory || e->phase->dimensions > 1 || size[0] == 1);
}

static void put_entry(emit *e, vyre_text *out) {
    if (e->info->dynamic_bytes) {
        vyre_text_printf(out, ".extern .shared .align 16 .b8 %s_shared[];\n", e->name);
    }
    vyre_text_printf(out,
                     ".visible .entry %s(.param .align 8 .b8 frame[%u])\n.maxntid %u, 1, 1\n{\n",
                     e->name, e->layout.by_pointer ? 8 : e->layout.bytes, e->info->threads);
    for (uint32_t kind = CUDA_PRED; kind < CUDA_CLASS_COUNT; kind++) {
        if (e->w.next[kind]) {
            cuda_name name = cuda_reg_name((cuda_reg){(uint8_t)kind, false, 0});
            name.text[2] = '\0'; /* without the number */
            vyre_text_printf(out, "\t.reg .%s %s<%u>;\n", cuda_class_type((cuda_class)kind),
                             name.text, e->w.next[kind] + 1);
        }
    }
    if (e->info->shared_bytes) {
        vyre_text_printf(out, "\t.shared .align 16 .b8 %s_shared[%u];\n", e->name, e->shared_bytes);
    }
    if (e->local_bytes) {
        vyre_text_printf(out, "\t.local .align 16 .b8 %s_private[%u];\n", e->name, e->local_bytes);
    }
    vyre_text_puts(out, vyre_text_string(&e->head));
    vyre_text_puts(out, vyre_text_string(&e->w.code));
    vyre_text_puts(out, "\tret;\n");
    vyre_text_puts(out, vyre_text_string(&e->cold));
    vyre_text_puts(out, "}\n\n");
    out->failed |= e->head.failed | e->w.code.failed | e->cold.failed;
}

static bool write_phase(emit *e, uint32_t index, vyre_text *out, cuda_phase_info *info) {
    e->phase_index = index;
    e->phase = &e->ir->phases[index];
    e->info = info;
    if (!cuda_analyse(&e->facts, e->ir, index)) {
        return false;
    }
    uint32_t count = e->phase->end - e->phase->first;
    e->values = vyre_alloc_zeroed((size_t)count * e->facts.parts, sizeof *e->values);
    e->arrays = vyre_alloc_zeroed(e->ir->resource_count + 1, sizeof *e->arrays);
    bool made = e->values && e->arrays;
    if (made) {
        snprintf(e->name, sizeof e->name, "%s_%u", e->target->prefix, index);
        vyre_text_cut(&e->w.code, 0);
        vyre_text_cut(&e->head, 0);
        vyre_text_cut(&e->cold, 0);
        for (uint32_t kind = 0; kind < CUDA_CLASS_COUNT; kind++) {
            e->w.next[kind] = 0;
        }
        e->labels = e->first_part = 0;
        e->stop = e->counters = e->frame = cuda_none();
        choose_launch(e);
        cuda_emit_lay_out(e);
        if (e->layout.by_pointer) {
            cuda_reg pointer = cuda_emit_frame(e, CUDA_B64, 0);
            e->frame = pointer;
        }
        write_groups(e);
        put_entry(e, out);
    }
    vyre_free(e->values);
    vyre_free(e->arrays);
    e->values = NULL;
    e->arrays = NULL;
    cuda_facts_free(&e->facts);
    return made;
}

static vyre_status write_entries(const vyre_program *program, const cuda_target *target,
                                 uint32_t file, vyre_text *out_ptx, cuda_phase_info *out_infos) {
    const vyre_ir *ir = vyre_program_ir(program);
    emit *e = vyre_alloc_zeroed(1, sizeof *e);
    bool made = e != NULL;
    const char *lack = NULL;
    if (e) {
        e->ir = ir;
        e->target = target;
        e->layout = cuda_layout_of(ir);
        e->file = file;
        for (uint32_t i = 0; i < ir->phase_count && made && !e->lack; i++) {
            made = write_phase(e, i, out_ptx, &out_infos[i]);
        }
        lack = e->lack;
        made = made && !out_ptx->failed;
        vyre_text_free(&e->w.code);
        vyre_text_free(&e->head);
        vyre_text_free(&e->cold);
        vyre_free(e);
    }
    if (!made) {
        return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory and try again",
                                "no memory to compile `%s`", vyre_program_name(program));
    }
    return lack ? vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                   "take a smaller workgroup, or another backend",
                                   "`%s` needs %s, which the cuda backend does not have",
                                   vyre_program_name(program), lack)
                : VYRE_OK;
}

void cuda_emit_head(const cuda_target *target, vyre_text *out_ptx) {
    vyre_text_printf(out_ptx, ".version %u.%u\n.target sm_%u\n.address_size 64\n\n",
                     target->isa / 10, target->isa % 10, target->sm);
}

vyre_status cuda_emit_entries(const vyre_program *program, const cuda_target *target,
                              vyre_text *out_ptx, cuda_phase_info *out_infos) {
    return write_entries(program, target, 0, out_ptx, out_infos);
}

vyre_status cuda_emit(const vyre_program *program, const cuda_target *target, vyre_text *out_ptx,
                      cuda_phase_info *out_infos) {
    const vyre_ir *ir = vyre_program_ir(program);
    const char *file = ir->debug_string_bytes ? ir->debug_strings + ir->file : "";
    vyre_text_printf(out_ptx, "// %s\n", vyre_program_name(program));
    cuda_emit_head(target, out_ptx);
    if (*file && ir->place_count) {
        vyre_text_puts(out_ptx, ".file 1 \"");
        for (const char *c = file; *c; c++) {
            vyre_text_putc(out_ptx, *c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? '?' : *c);
        }
        vyre_text_puts(out_ptx, "\"\n\n");
    }
    return write_entries(program, target, *file && ir->place_count ? 1 : 0, out_ptx, out_infos);
}
