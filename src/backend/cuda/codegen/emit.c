#include "backend/cuda/codegen/emit.h"

#include <stdio.h>

#include "backend/cuda/codegen/emit_state.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "pass/shared.h"

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
        {&layout.device_iterations, 8},
        {&layout.gate, 8},
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

/* Threads along x are as many as the domain has use for, then along y, and the rest along z. */
cuda_shape cuda_shape_of(const vyre_phase *phase, const cuda_phase_info *info,
                         const uint64_t *domain, uint64_t few) {
    enum { ROW = 5 }; /* a row of 32 threads is as good as any */
    cuda_shape shape = {{phase->workgroup[0], phase->workgroup[1], phase->workgroup[2]}, {0, 0}};
    if (phase->workgroup[0]) {
        return shape;
    }
    uint64_t threads = domain[0] / info->parts;
    for (uint32_t d = 1; d < phase->dimensions && threads < few; d++) {
        threads *= domain[d] < few ? domain[d] : few;
    }
    uint32_t bits[3] = {0}, left = 0, parts = threads < few ? 1 : info->parts;
    while (UINT32_C(1) << left < info->threads) {
        left++;
    }
    for (uint32_t d = 0; d < phase->dimensions; d++) {
        uint32_t most = d == 0 && phase->dimensions > 1 ? ROW : left;
        uint64_t covered = d ? 1 : parts;
        while (bits[d] < most && covered << bits[d] < domain[d]) {
            bits[d]++;
        }
        left -= bits[d];
    }
    bits[0] += left; /* nobody has use for these */
    shape.bits[0] = bits[0];
    shape.bits[1] = bits[1] | parts << CUDA_SHAPE_PARTS;
    shape.tile[0] = parts << bits[0];
    shape.tile[1] = UINT32_C(1) << bits[1];
    shape.tile[2] = UINT32_C(1) << bits[2];
    return shape;
}

/* Instructions */

/* The condition that a number is, 0 or 1; VYRE_NONE if it is something else. */
static uint32_t condition_of(const emit *e, uint32_t operand) {
    if (!vyre_operand_is_value(operand) || e->ir->insts[operand].op != VYRE_OP_CONVERT) {
        return VYRE_NONE;
    }
    uint32_t from = e->ir->insts[operand].a;
    bool is_bool = vyre_operand_type(e->ir, from) == VYRE_TYPE_BOOL;
    return vyre_operand_is_value(from) && is_bool ? from : VYRE_NONE;
}

/* Counts what is true: a condition is not made a number first. */
static bool write_count(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    if (i->op != VYRE_OP_ADD || (i->type != VYRE_TYPE_U32 && i->type != VYRE_TYPE_I32)) {
        return false;
    }
    uint32_t left = condition_of(e, i->a), right = condition_of(e, i->b);
    if (left == VYRE_NONE && right == VYRE_NONE) {
        return false;
    }
    uint32_t condition = right != VYRE_NONE ? right : left;
    uint32_t other = right != VYRE_NONE ? i->a : i->b;
    for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++) {
        cuda_reg sum = cuda_new(&e->w, CUDA_B32);
        cuda_move(&e->w, sum, cuda_emit_operand(e, other, part));
        cuda_emit_if(e, cuda_emit_operand(e, condition, part), "add.u32 %s, %s, 1",
                     cuda_reg_name(sum).text, cuda_reg_name(sum).text);
        *emit_slot(e, inst, part) = sum;
    }
    return true;
}

static cuda_reg f32_number(uint32_t bits) {
    return cuda_number(CUDA_F32, bits);
}

/* 1 / sqrt(x), each rounded, at once and without a branch, so that several are under way together.
 * The two are as the driver's compiler writes them for an x that is neither close to 0 nor
 * infinite, whose root is so far from the ends of the range that its reciprocal is, too. Those
 * close to 0 are moved away from it by a power of 2; of what is no positive number the
 * approximation is the result. The drills on a GPU try all of f32. */
static cuda_reg inverse_root(cuda_writer *w, cuda_reg x) {
    enum { ONE = 0x3f800000, HALF = 0x3f000000, UP = 0x5f800000 /* 2^64 */ };
    enum { BACK = 0x4f800000 /* 2^32 */, LEAST = 0x0d000000, MOST = 0x7f7fffff };
    cuda_reg one = f32_number(ONE);
    cuda_reg before = cuda_two(w, "sub.u32", CUDA_B32, cuda_to_bits(w, x), cuda_u32(1));
    cuda_reg usual = cuda_two(w, "setp.lt.u32", CUDA_PRED, before, cuda_u32(MOST));
    cuda_reg tiny = cuda_two(w, "setp.lt.f32", CUDA_PRED, x, f32_number(LEAST));
    cuda_reg moved =
        cuda_two(w, "mul.rn.f32", CUDA_F32, x, cuda_choose(w, tiny, f32_number(UP), one));
    cuda_reg near = cuda_one(w, "rsqrt.approx.ftz.f32", CUDA_F32, moved);
    cuda_reg root = cuda_two(w, "mul.rn.ftz.f32", CUDA_F32, moved, near);
    cuda_reg half = cuda_two(w, "mul.rn.ftz.f32", CUDA_F32, near, f32_number(HALF));
    cuda_reg rest =
        cuda_three(w, "fma.rn.f32", CUDA_F32, cuda_one(w, "neg.f32", CUDA_F32, root), root, moved);
    root = cuda_three(w, "fma.rn.f32", CUDA_F32, rest, half, root);
    cuda_reg inverse = cuda_one(w, "rcp.approx.ftz.f32", CUDA_F32, root);
    rest =
        cuda_three(w, "fma.rn.f32", CUDA_F32, cuda_one(w, "neg.f32", CUDA_F32, root), inverse, one);
    inverse = cuda_three(w, "fma.rn.f32", CUDA_F32, inverse, rest, inverse);
    return cuda_two(w, "mul.rn.f32", CUDA_F32, cuda_choose(w, usual, inverse, near),
                    cuda_choose(w, tiny, f32_number(BACK), one));
}

static bool write_inverse_root(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    if (!cuda_is_inverse_root(e->ir, i)) {
        return false;
    }
    for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++) {
        uint32_t from = e->ir->insts[i->b].a;
        cuda_reg x = cuda_in_register(&e->w, cuda_emit_operand(e, from, part));
        cuda_reg value = inverse_root(&e->w, x);
        if (vyre_nan_is_observed(&e->facts.nans, inst)) {
            value = cuda_write_canonical(&e->w, VYRE_TYPE_F32, value);
        }
        *emit_slot(e, inst, part) = value;
    }
    return true;
}

/* ptxas makes a maximum of `x < c ? c : x`, branches included, and that has another NaN than x is.
 * So it does not see that what is compared is what is chosen: that passes by a zero which only the
 * host knows, the highest bit of a domain. */
static bool is_misread(emit *e, uint32_t inst, uint32_t operand, vyre_type type) {
    const vyre_inst *i = &e->ir->insts[inst];
    return vyre_op_is_comparison(i->op) && type == VYRE_TYPE_F32 &&
           vyre_operand_is_value(operand) &&
           vyre_operand_is_constant(operand == i->a ? i->b : i->a) &&
           vyre_nan_may_be_chosen(e->ir, operand, emit_fact(e, operand)->uses);
}

static cuda_reg hidden(emit *e, cuda_reg x) {
    if (!e->hidden_zero.kind) {
        cuda_reg upper = cuda_emit_frame(e, CUDA_B32, e->layout.domain + 4);
        cuda_emit_begin_head(e);
        e->hidden_zero = cuda_two(&e->w, "shr.u32", CUDA_B32, upper, cuda_u32(31));
        cuda_emit_end_head(e);
    }
    return cuda_two(&e->w, "or.b32", CUDA_B32, x, e->hidden_zero);
}

static void write_pure(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    const cuda_fact *fact = emit_fact(e, inst);
    bool is_needed = !fact->inverses || fact->inverses < fact->uses;
    if (!is_needed || write_count(e, inst) || write_inverse_root(e, inst)) {
        return;
    }
    vyre_type result = vyre_inst_type(i);
    vyre_list values = vyre_inst_operands(e->ir, i);
    vyre_type type = i->op == VYRE_OP_SELECT ? result : vyre_operand_type(e->ir, values.items[0]);
    bool observed = vyre_nan_is_observed(&e->facts.nans, inst);
    for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++) {
        cuda_reg regs[3] = {{0}};
        for (uint32_t k = 0; k < values.count && k < 3; k++) {
            regs[k] = cuda_emit_operand(e, values.items[k], part);
            if (is_misread(e, inst, values.items[k], type)) {
                regs[k] = hidden(e, regs[k]);
            }
        }
        cuda_reg value = cuda_write_op(&e->w, vyre_inst_op(i), type, result, observed, regs[0],
                                       regs[1], regs[2]);
        if (vyre_nan_settles(&e->facts.nans, inst)) {
            value = cuda_write_canonical(&e->w, result, value);
        }
        *emit_slot(e, inst, part) = value;
    }
}

/* Says which line of the source follows. */
static void mention_line(emit *e, uint32_t inst) {
    const vyre_ir *ir = e->ir;
    uint32_t line = vyre_ir_line(ir, inst);
    uint32_t scope = line ? VYRE_PLACE_SCOPE(ir->places[inst]) : 0;
    uint32_t other = scope ? ir->scopes[scope - 1].file : 0, number = 0;
    if (!line || (line == e->line && other == e->file_mentioned)) {
        return;
    }
    e->line = line;
    e->file_mentioned = other;
    if (other) {
        vyre_strbuf_printf(&e->w.code, "\t// %s:%u\n", ir->debug_strings + other, line);
    } else {
        vyre_strbuf_printf(&e->w.code, "\t// line %u\n", line);
    }
    while (e->files && number < e->files->count &&
           e->files->names[number] != (other ? other : ir->file)) {
        number++;
    }
    if (e->files && number < e->files->count) {
        vyre_strbuf_printf(&e->w.code, "\t.loc %u %u %u\n", number + 1, line,
                           VYRE_PLACE_COLUMN(ir->places[inst]));
    }
}

void cuda_emit_unknown(emit *e, uint32_t inst) {
    cuda_unknown(&e->w, vyre_inst_op(&e->ir->insts[inst]));
}

void cuda_emit_instruction(emit *e, uint32_t inst) {
    vyre_op op = vyre_inst_op(&e->ir->insts[inst]);
    if (op == VYRE_OP_ARG || op == VYRE_OP_RESULT) {
        return; /* written where it comes from */
    }
    mention_line(e, inst);
    switch (op) {
    case VYRE_ANY_OF(SURROUNDINGS): cuda_emit_surroundings(e, inst); return;
    case VYRE_ANY_OF(PURE): write_pure(e, inst); return;
    case VYRE_ANY_OF(ACCESS): cuda_emit_memory(e, inst); return;
    case VYRE_ANY_OF(SUBGROUP): cuda_emit_subgroup(e, inst); return;
    case VYRE_ANY_OF(BLOCK): cuda_emit_control(e, inst); return;
    case VYRE_ANY_OF(JUMP): cuda_emit_jump_out(e, inst); return;
    case VYRE_OP_BARRIER: cuda_emit_barrier(e); return;
    case VYRE_OP_GRID_BARRIER: cuda_emit_grid_barrier(e); return;
    case VYRE_ANY_OF(ELEMENTARY, PICK, NONE): break;
    }
    cuda_emit_unknown(e, inst);
}

/* For the parts that are set. */
void cuda_emit_body(emit *e, uint32_t end) {
    e->end = end;
    e->depth = 0;
    e->stack[e->depth++] = (emit_open){.owner = VYRE_NONE, .exit = end, .latch = end};
    e->line = 0;
    e->ahead.count = 0;
    for (uint32_t r = e->phase->first_resource; r < e->phase->end_resource; r++) {
        if (e->ir->resources[r].kind == VYRE_RESOURCE_PRIVATE && e->facts.used[r]) {
            cuda_emit_clear(e, r);
        }
    }
    cuda_emit_block(e, vyre_phase_block(e->phase));
}

/* Entries */

static void choose_launch(emit *e) {
    const uint32_t *size = e->phase->workgroup;
    const cuda_facts *f = &e->facts;
    bool from_memory = e->phase->from_resource != VYRE_NONE;
    *e->info = (cuda_phase_info){
        .threads = size[0]               ? size[0] * size[1] * size[2]
                   : f->has_long_records ? CUDA_RECORD_THREADS
                                         : CUDA_OPEN_THREADS,
        .parts = f->parts,
        .cooperative = f->has_grid_barriers,
        .ordered = f->may_wait && !f->has_grid_barriers,
    };
    /* A grid has at most 2^31 - 1 blocks along x, and 65,535 along y and z. */
    e->info->strides = !e->info->cooperative && !e->info->ordered &&
                       (from_memory || e->phase->dimensions > 1 || size[0] == 1);
}

static void put_entry(emit *e, vyre_strbuf *out) {
    if (e->info->dynamic_bytes) {
        vyre_strbuf_printf(out, ".extern .shared .align 16 .b8 %s_shared[];\n", e->name);
    }
    vyre_strbuf_printf(out,
                       ".visible .entry %s(.param .align 8 .b8 frame[%u])\n.maxntid %u, 1, 1\n{\n",
                       e->name, e->layout.by_pointer ? 8 : e->layout.bytes, e->info->threads);
    for (uint32_t kind = CUDA_PRED; kind < CUDA_CLASS_COUNT; kind++) {
        if (e->w.next[kind]) {
            cuda_name name = cuda_reg_name((cuda_reg){(uint8_t)kind, false, 0});
            name.text[2] = '\0'; /* without the number */
            vyre_strbuf_printf(out, "\t.reg .%s %s<%u>;\n", cuda_class_type((cuda_class)kind),
                               name.text, e->w.next[kind] + 1);
        }
    }
    if (e->info->shared_bytes) {
        vyre_strbuf_printf(out, "\t.shared .align 16 .b8 %s_shared[%u];\n", e->name,
                           e->shared_bytes);
    }
    if (e->local_bytes) {
        vyre_strbuf_printf(out, "\t.local .align 16 .b8 %s_private[%u];\n", e->name,
                           e->local_bytes);
    }
    vyre_strbuf_puts(out, vyre_strbuf_string(&e->head));
    vyre_strbuf_puts(out, vyre_strbuf_string(&e->w.code));
    vyre_strbuf_puts(out, "\tret;\n");
    vyre_strbuf_puts(out, vyre_strbuf_string(&e->cold));
    vyre_strbuf_puts(out, "}\n\n");
    out->failed |= e->head.failed | e->w.code.failed | e->cold.failed;
}

static bool is_in_while(const vyre_ir *ir, uint32_t phase) {
    bool found = false;
    for (uint32_t outer = 0; outer < ir->step_count && !found; outer++) {
        for (uint32_t i = outer + 1;
             ir->steps[outer].kind == VYRE_STEP_REPEAT_WHILE && i < ir->steps[outer].end; i++) {
            found |= ir->steps[i].kind == VYRE_STEP_PHASE && ir->steps[i].size == phase;
        }
    }
    return found;
}

/* Ends a phase of an iteration that is not to be: turns are launched before it is known how many.
 */
static void write_gate(emit *e) {
    cuda_reg gate = cuda_emit_frame(e, CUDA_B64, e->layout.gate);
    cuda_reg open = cuda_new(&e->w, CUDA_B32);
    cuda_move(&e->w, open, cuda_u32(1));
    cuda_emit_if(e, cuda_two(&e->w, "setp.ne.u64", CUDA_PRED, gate, cuda_u64(0)),
                 "ld.global.u32 %s, [%s]", cuda_reg_name(open).text, cuda_reg_name(gate).text);
    cuda_emit_if(e, cuda_two(&e->w, "setp.eq.u32", CUDA_PRED, open, cuda_u32(0)), "exit");
}

static bool write_phase(emit *e, uint32_t index, vyre_strbuf *out, cuda_phase_info *info) {
    e->phase_index = index;
    e->phase = &e->ir->phases[index];
    e->info = info;
    if (!cuda_analyse(&e->facts, e->ir, index, !e->target->general)) {
        return false;
    }
    uint32_t count = e->phase->end - e->phase->first;
    e->values = vyre_alloc_zeroed((size_t)count * e->facts.parts, sizeof *e->values);
    e->arrays = vyre_alloc_zeroed(e->ir->resource_count + 1, sizeof *e->arrays);
    e->wheres = vyre_alloc_zeroed((size_t)e->facts.accesses.group_count * e->facts.parts + 1,
                                  sizeof *e->wheres);
    bool made = e->values && e->arrays && e->wheres;
    if (made) {
        snprintf(e->name, sizeof e->name, "%s_%u", e->target->prefix, index);
        vyre_strbuf_cut(&e->w.code, 0);
        vyre_strbuf_cut(&e->head, 0);
        vyre_strbuf_cut(&e->cold, 0);
        for (uint32_t kind = 0; kind < CUDA_CLASS_COUNT; kind++) {
            e->w.next[kind] = 0;
        }
        e->labels = e->first_part = 0;
        e->stop = e->hidden_zero = e->counters = e->frame = e->may_stop = cuda_none();
        e->blocks[0] = e->blocks[1] = cuda_none();
        choose_launch(e);
        cuda_emit_lay_out(e);
        if (e->layout.by_pointer) {
            cuda_reg pointer = cuda_emit_frame(e, CUDA_B64, 0);
            e->frame = pointer;
        }
        if (is_in_while(e->ir, index)) {
            write_gate(e);
        }
        cuda_emit_groups(e);
        put_entry(e, out);
    }
    vyre_free(e->values);
    vyre_free(e->arrays);
    vyre_free(e->wheres);
    e->wheres = NULL;
    e->values = NULL;
    e->arrays = NULL;
    cuda_facts_free(&e->facts);
    return made;
}

static vyre_status write_entries(const vyre_program *program, const cuda_target *target,
                                 const emit_files *files, vyre_strbuf *out_ptx,
                                 cuda_phase_info *out_infos, size_t *out_ends) {
    const vyre_ir *ir = vyre_program_ir(program);
    if (vyre_shared_is_sized(ir)) {
        return vyre_shared_refuse(program);
    }
    emit *e = vyre_alloc_zeroed(1, sizeof *e);
    bool made = e != NULL;
    const char *lack = NULL;
    vyre_op unknown = VYRE_OP_NONE;
    if (e) {
        e->ir = ir;
        e->target = target;
        e->layout = cuda_layout_of(ir);
        e->files = files;
        for (uint32_t i = 0; i < ir->phase_count && made && !e->lack; i++) {
            made = write_phase(e, i, out_ptx, &out_infos[i]);
            if (out_ends) {
                out_ends[i] = out_ptx->size;
            }
        }
        lack = e->lack;
        unknown = e->w.unknown;
        made = made && !out_ptx->failed;
        vyre_strbuf_free(&e->w.code);
        vyre_strbuf_free(&e->head);
        vyre_strbuf_free(&e->cold);
        vyre_free(e);
    }
    if (!made) {
        return vyre_no_memory("to compile `%s`", vyre_program_name(program));
    }
    if (unknown) {
        return vyre_internal_error("the cuda backend has no code for `%s`",
                                   vyre_lookup_op(unknown)->name);
    }
    return lack ? vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                   "take a smaller workgroup, or another backend",
                                   "`%s` needs %s, which the cuda backend does not have",
                                   vyre_program_name(program), lack)
                : VYRE_OK;
}

void cuda_emit_head(const cuda_target *target, vyre_strbuf *out_ptx) {
    vyre_strbuf_printf(out_ptx, ".version %u.%u\n.target sm_%u\n.address_size 64\n\n",
                       target->isa / 10, target->isa % 10, target->sm);
}

vyre_status cuda_emit_entries(const vyre_program *program, const cuda_target *target,
                              vyre_strbuf *out_ptx, cuda_phase_info *out_infos, size_t *out_ends) {
    return write_entries(program, target, NULL, out_ptx, out_infos, out_ends);
}

static void add_file(emit_files *files, uint32_t name) {
    uint32_t number = 0;
    while (number < files->count && files->names[number] != name) {
        number++;
    }
    if (name && number == files->count && number < EMIT_FILES) {
        files->names[files->count++] = name;
    }
}

vyre_status cuda_emit(const vyre_program *program, const cuda_target *target, vyre_strbuf *out_ptx,
                      cuda_phase_info *out_infos) {
    const vyre_ir *ir = vyre_program_ir(program);
    emit_files files = {0};
    if (ir->place_count) {
        add_file(&files, ir->file);
        for (uint32_t i = 0; i < ir->scope_count; i++) {
            add_file(&files, ir->scopes[i].file);
        }
    }
    vyre_strbuf_printf(out_ptx, "// %s\n", vyre_program_name(program));
    cuda_emit_head(target, out_ptx);
    for (uint32_t i = 0; i < files.count; i++) {
        vyre_strbuf_printf(out_ptx, ".file %u \"", i + 1);
        for (const char *c = ir->debug_strings + files.names[i]; *c; c++) {
            vyre_strbuf_putc(out_ptx,
                             *c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? '?' : *c);
        }
        vyre_strbuf_puts(out_ptx, "\"\n");
    }
    vyre_strbuf_puts(out_ptx, files.count ? "\n" : "");
    cuda_emit_constants(program, target, out_ptx);
    return write_entries(program, target, &files, out_ptx, out_infos, NULL);
}
