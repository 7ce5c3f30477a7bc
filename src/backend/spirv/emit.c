#include "backend/spirv/emit.h"

#include <stdio.h>

#include "backend/spirv/emit_state.h"
#include "backend/spirv/turns.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/cases.h"
#include "ir/program.h"
#include "pass/shared.h"

spirv_target spirv_baseline(void) {
    enum { VERSION = 0x10500 };
    return (spirv_target){.version = VERSION,
                          .vulkan_model = true,
                          .storage8 = true,
                          .storage16 = true,
                          .int8 = true,
                          .int16 = true,
                          .f64 = true,
                          .atomics64 = true,
                          .shared_atomics64 = true,
                          .rounds = SPIRV_F32 | SPIRV_F64,
                          .keeps_nan = SPIRV_F32 | SPIRV_F64,
                          .keeps_denorms = SPIRV_F32 | SPIRV_F64,
                          .widths = 8 + 16 + 32 + 64,
                          .polls = true,
                          .names = true};
}

spirv_layout spirv_layout_of(const vyre_ir *ir) {
    spirv_layout layout = {0};
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
        {&layout.first, 16},
        {&layout.stop, 8},
        {&layout.constants, 8},
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
    return layout;
}

bool spirv_is_pushed(const spirv_layout *layout, const spirv_target *target,
                     const vyre_phase *phase) {
    return phase->from_resource == VYRE_NONE && layout->bytes <= target->push_bytes;
}

/* Invocations along x are as many as the domain has use for, then along y, and the rest along z. */
spirv_shape spirv_shape_of(const vyre_phase *phase, const spirv_phase_info *info,
                           const uint64_t *domain) {
    enum { ROW = 5 }; /* a row of 32 invocations is as good as any */
    spirv_shape shape = {{phase->workgroup[0], phase->workgroup[1], phase->workgroup[2]}, {0, 0}};
    if (phase->workgroup[0]) {
        return shape;
    }
    uint32_t bits[3] = {0}, left = 0;
    while (UINT32_C(1) << left < info->threads) {
        left++;
    }
    for (uint32_t d = 0; d < phase->dimensions; d++) {
        uint32_t most = d == 0 && phase->dimensions > 1 && left > ROW ? ROW : left;
        while (bits[d] < most && UINT64_C(1) << bits[d] < domain[d]) {
            bits[d]++;
        }
        left -= bits[d];
    }
    bits[0] += left; /* nobody has use for these */
    for (uint32_t d = 0; d < 3; d++) {
        shape.tile[d] = UINT32_C(1) << bits[d];
    }
    shape.bits[0] = bits[0];
    shape.bits[1] = bits[1];
    return shape;
}

void spirv_module_free(spirv_module *module) {
    vyre_free(module->words);
    *module = (spirv_module){0};
}

/* Instructions */

/* The ends of i8 and i16, in any signed type that is computed in a word. */
static bool is_narrow_limit(const vyre_const *row) {
    int64_t number = (int64_t)vyre_const_extended(row);
    return number == INT8_MAX || number == INT8_MIN || number == INT16_MAX || number == INT16_MIN;
}

/* Where the driver of an H200 (580) makes a wrong instruction of several, which conformance found:
 * of a sum that is held between the ends of a narrow type, next to a conversion from a float; of
 * `x << 8 | x >> 8` in a phase that writes elements of 16 bits; and of a comparison that chooses
 * one of its operands, a minimum, which flushes what it chooses. */
static bool is_misread(const emit *e, const vyre_inst *i, vyre_type type, uint32_t operand) {
    bool is_constant = vyre_operand_is_constant(operand);
    bool orders = i->op == VYRE_OP_LT || i->op == VYRE_OP_LE;
    if (type == VYRE_TYPE_F32) {
        return vyre_op_is_comparison(i->op) && !is_constant && e->target->flushes_chosen &&
               vyre_nan_may_be_chosen(e->ir, operand, e->facts.uses[operand - e->phase->first]);
    }
    if (vyre_lookup_class(type) == VYRE_CLASS_FLOAT) {
        return false;
    }
    if (i->op == VYRE_OP_SHL || i->op == VYRE_OP_MUL) {
        uint64_t by = vyre_operand_is_constant(i->b) ? vyre_operand_const(e->ir, i->b)->bits : 0;
        bool is_byte = i->op == VYRE_OP_MUL ? by == 256 : by % spirv_width(type) == 8;
        return e->facts.writes_halves && operand == i->a && is_byte && spirv_width(type) > 8;
    }
    return (orders || i->op == VYRE_OP_MIN || i->op == VYRE_OP_MAX) && is_constant &&
           spirv_is_signed(type) && is_narrow_limit(vyre_operand_const(e->ir, operand));
}

static void write_pure(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type result = vyre_inst_type(i);
    vyre_list values = vyre_inst_operands(e->ir, i);
    vyre_type type = i->op == VYRE_OP_SELECT ? result : vyre_operand_type(e->ir, values.items[0]);
    spirv_slot slots[3] = {{0}};
    for (uint32_t k = 0; k < values.count && k < 3; k++) {
        slots[k] = spirv_emit_operand(e, values.items[k]);
        if (is_misread(e, i, type, values.items[k])) {
            spv_id bits = spirv_to_bits(&e->b, type, slots[k]);
            slots[k] = (spirv_slot){spirv_emit_hidden(e, type, bits), false};
        }
    }
    spirv_slot value = spirv_op(&e->b, vyre_inst_op(i), type, result, slots[0], slots[1], slots[2]);
    bool is_visible = i->op == VYRE_OP_CONVERT || i->op == VYRE_OP_BITCAST;
    if (!value.id) {
        spirv_emit_unknown(e, inst);
    } else if (is_visible && e->target->folds_zeros && spirv_is_real(result)) {
        value.id = spirv_emit_hidden(e, result, spirv_to_bits(&e->b, result, value));
        value.is_real = false;
    }
    if (value.id && vyre_nan_settles(&e->facts.nans, inst)) {
        value.id = spirv_canonical(&e->b, result, spirv_to_bits(&e->b, result, value));
        value.is_real = false;
    }
    *emit_slot(e, inst) = value;
}

void spirv_emit_unknown(emit *e, uint32_t inst) {
    e->unknown = e->unknown ? e->unknown : vyre_inst_op(&e->ir->insts[inst]);
}

/* Says which line of the source follows. */
static void mention_line(emit *e, uint32_t inst) {
    const vyre_ir *ir = e->ir;
    uint32_t line = vyre_ir_line(ir, inst);
    uint32_t scope = line ? VYRE_PLACE_SCOPE(ir->places[inst]) : 0;
    uint32_t other = scope ? ir->scopes[scope - 1].file : 0, file = other ? other : ir->file;
    if (!e->files || !line || !file || (line == e->line && file == e->line_file)) {
        return;
    }
    e->line = line;
    e->line_file = file;
    if (!e->files[file]) {
        e->files[file] = spirv_new(&e->b);
        spirv_put_string(&e->b, &e->b.strings, SPV_String, &e->files[file], 1,
                         ir->debug_strings + file, NULL, 0);
    }
    SPIRV_LINE(&e->b, SPV_Line, e->files[file], line, VYRE_PLACE_COLUMN(ir->places[inst]));
}

void spirv_emit_instruction(emit *e, uint32_t inst) {
    vyre_op op = vyre_inst_op(&e->ir->insts[inst]);
    if (op == VYRE_OP_ARG || op == VYRE_OP_RESULT) {
        return; /* written where it comes from */
    }
    mention_line(e, inst);
    switch (op) {
    case VYRE_ANY_OF(SURROUNDINGS): spirv_emit_surroundings(e, inst); return;
    case VYRE_ANY_OF(PURE): write_pure(e, inst); return;
    case VYRE_ANY_OF(ACCESS): spirv_emit_memory(e, inst); return;
    case VYRE_ANY_OF(SUBGROUP): spirv_emit_subgroup(e, inst); return;
    case VYRE_ANY_OF(BLOCK): spirv_emit_control(e, inst); return;
    case VYRE_ANY_OF(JUMP): spirv_emit_jump_out(e, inst); return;
    case VYRE_OP_BARRIER: spirv_emit_barrier(e); return;
    case VYRE_OP_GRID_BARRIER: spirv_emit_grid_barrier(e); return;
    case VYRE_ANY_OF(ELEMENTARY, PICK, NONE): break;
    }
    spirv_emit_unknown(e, inst);
}

/* Entry points */

static void choose_launch(emit *e) {
    const uint32_t *size = e->phase->workgroup;
    const spirv_facts *f = &e->facts;
    uint32_t width = f->has_subgroups ? e->phase->subgroup : 0;
    *e->info = (spirv_phase_info){
        .threads = size[0] ? size[0] * size[1] * size[2] : SPIRV_OPEN_THREADS,
        .subgroup = width,
        .ordered = f->may_wait && !f->has_grid_barriers,
        .cooperative = f->has_grid_barriers,
        .has_loops = f->has_loops || e->phase->from_resource != VYRE_NONE,
    };
    if (width && !(e->target->widths & width)) {
        e->lack = "subgroups of that width";
    }
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
    spirv_builder *b = &e->b;
    spv_id gate = spirv_emit_frame(e, SPIRV_U64, e->layout.gate);
    spv_id gated = spirv_two(b, SPV_INotEqual, SPIRV_BOOL, gate, spirv_u64(b, 0));
    spv_id behind = spirv_begin_if(b, gated);
    spv_id open = spirv_emit_read(e, SPIRV_U32, gate);
    spv_id closed = spirv_two(b, SPV_IEqual, SPIRV_BOOL, open, spirv_u32(b, 0));
    spv_id inner = spirv_begin_if(b, closed);
    spirv_end(b, SPV_Return);
    spirv_end_if(b, inner);
    spirv_end_if(b, behind);
}

/* The push constants: so many numbers of 64 bits. */
static spv_id declare_push(emit *e, uint32_t count) {
    spirv_builder *b = &e->b;
    spv_id block = spirv_new(b);
    uint32_t words[1 + SPIRV_MOST_PUSH / 8] = {block};
    for (uint32_t i = 0; i < count; i++) {
        words[1 + i] = spirv_type(b, SPIRV_U64);
        SPIRV_PUT(b, &b->decorations, SPV_MemberDecorate, block, i, SPV_D_Offset, 8 * i);
    }
    spirv_put(b, &b->globals, SPV_TypeStruct, words, 1 + count);
    SPIRV_PUT(b, &b->decorations, SPV_Decorate, block, SPV_D_Block);
    return spirv_global(b, SPV_S_PushConstant, block);
}

/* The variable of the push constants, and the frame's address if that stands there. */
static void find_frame(emit *e, bool alone) {
    bool pushed = spirv_is_pushed(&e->layout, e->target, e->phase);
    bool may = pushed || (!alone && e->layout.bytes <= e->target->push_bytes);
    if (!e->push) {
        e->push = declare_push(e, may ? e->layout.bytes / 8 : 1);
    }
    spirv_emit_begin_head(e);
    e->frame = pushed ? 0 : spirv_emit_pushed(e, 0);
    spirv_emit_end_head(e);
}

static void put_modes(emit *e, spv_id function) {
    static const struct { uint32_t bit, width; } floats[] = {{SPIRV_F32, 32}, {SPIRV_F64, 64}};
    spirv_builder *b = &e->b;
    const spirv_target *target = e->target;
    SPIRV_PUT(b, &b->modes, SPV_ExecutionMode, function, SPV_m_LocalSize, e->info->threads, 1, 1);
    const struct {
        uint32_t bits, capability, mode;
    } controls[] = {
        {target->rounds, SPV_C_RoundingModeRTE, SPV_m_RoundingModeRTE},
        {target->keeps_nan, SPV_C_SignedZeroInfNanPreserve, SPV_m_SignedZeroInfNanPreserve},
        {target->keeps_denorms, SPV_C_DenormPreserve, SPV_m_DenormPreserve},
    };
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
        for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) {
            spirv_kind kind = floats[k].width == 64 ? SPIRV_REAL64 : SPIRV_REAL32;
            if (controls[i].bits & floats[k].bit && b->kinds[kind]) {
                spirv_need(b, controls[i].capability);
                SPIRV_PUT(b, &b->modes, SPV_ExecutionMode, function, controls[i].mode,
                          floats[k].width);
            }
        }
    }
}

/* The entry point, with all variables that it uses, and others that it may. */
static void put_entry(emit *e, spv_id function, const char *name) {
    spirv_builder *b = &e->b;
    spirv_section interface = {0};
    spirv_append(b, &interface, b->interface.items, b->interface.count);
    spirv_append(b, &interface, b->own.items, b->own.count);
    const uint32_t before[] = {SPV_E_GLCompute, function};
    spirv_put_string(b, &b->entries, SPV_EntryPoint, before, 2, name, interface.items,
                     interface.count);
    vyre_vec_free(&interface);
    b->own.count = 0;
}

/* How many turns there may be. The driver counts some besides, and lanes that go apart count one
 * after the other. Loops whose turns are known do not look how many there were: room is left for
 * them. */
static void choose_turns(emit *e) {
    enum { LANES = 16, SPARE = 64 };
    uint32_t most = e->target->most_turns;
    bool joint = most && spirv_turns_are_joint(e->ir, e->phase);
    bool has_groups = e->info->ordered || e->phase->from_resource != VYRE_NONE;
    uint64_t known = most ? spirv_known_turns(&e->facts, e->info->threads) : 0;
    most = joint ? most - SPARE : most / LANES;
    e->turns_are_checked = known > most / 2;
    e->most_turns = e->turns_are_checked ? most : most - (uint32_t)known;
    if (!e->facts.has_loops && !has_groups && known <= most) {
        e->most_turns = 0;
    }
}

static void write_entry(emit *e, bool alone) {
    spirv_builder *b = &e->b;
    spv_id function = spirv_new(b);
    char name[32];
    snprintf(name, sizeof name, "phase_%u", e->phase_index);
    spirv_begin_function(b, function);
    e->stop = e->counters = e->turns = e->looks = e->ticket = 0; /* ids of another entry point */
    e->hidden_zeros[0] = e->hidden_zeros[1] = 0;
    choose_launch(e);
    choose_turns(e);
    find_frame(e, alone);
    spirv_emit_declare_arrays(e);
    if (is_in_while(e->ir, e->phase_index)) {
        write_gate(e);
    }
    spirv_emit_groups(e);
    spirv_end_function(b);
    put_entry(e, function, alone ? "main" : name);
    put_modes(e, function);
    if (e->target->names) {
        spirv_name(b, function, name);
    }
}

static bool write_phase(emit *e, uint32_t index, bool alone, spirv_phase_info *info) {
    e->phase_index = index;
    e->phase = &e->ir->phases[index];
    e->info = info;
    if (!spirv_analyse(&e->facts, e->ir, index, !e->target->general)) {
        return false;
    }
    uint32_t count = e->phase->end - e->phase->first;
    e->values = vyre_alloc_zeroed(count, sizeof *e->values);
    e->variables = vyre_alloc_zeroed(count, sizeof *e->variables);
    e->arrays = vyre_alloc_zeroed(e->ir->resource_count + 1, sizeof *e->arrays);
    bool made = e->values && e->variables && e->arrays;
    if (made) {
        write_entry(e, alone);
    }
    vyre_free(e->values);
    vyre_free(e->variables);
    vyre_free(e->arrays);
    spirv_facts_free(&e->facts);
    return made;
}

static void declare_always(emit *e) {
    spirv_need(&e->b, SPV_C_Shader);
    spirv_need(&e->b, SPV_C_Int64);
    spirv_need(&e->b, SPV_C_PhysicalStorageBufferAddresses);
    if (e->target->vulkan_model) {
        spirv_need(&e->b, SPV_C_VulkanMemoryModel);
        spirv_need(&e->b, SPV_C_VulkanMemoryModelDeviceScope);
    }
}

static vyre_status status_of(const vyre_program *program, const emit *e, bool made) {
    if (!made) {
        return vyre_no_memory("to write `%s` as SPIR-V", vyre_program_name(program));
    }
    if (e->unknown) {
        return vyre_internal_error("the SPIR-V writer has no code for `%s`",
                                   vyre_lookup_op(e->unknown)->name);
    }
    return e->lack ? vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                      "take another device or backend, or do without",
                                      "`%s` needs %s, which the device does not have",
                                      vyre_program_name(program), e->lack)
                   : VYRE_OK;
}

vyre_status spirv_emit(const vyre_program *program, const spirv_target *target, uint32_t phase,
                       spirv_module *out_module, spirv_phase_info *out_infos) {
    const vyre_ir *ir = vyre_program_ir(program);
    *out_module = (spirv_module){0};
    if (vyre_shared_is_sized(ir)) {
        return vyre_shared_refuse(program);
    }
    emit *e = vyre_alloc_zeroed(1, sizeof *e);
    if (!e) {
        return status_of(program, NULL, false);
    }
    bool alone = phase != VYRE_NONE, has_lines = target->names && ir->place_count;
    uint32_t first = alone ? phase : 0, end = alone ? phase + 1 : ir->phase_count;
    e->ir = ir;
    e->target = target;
    e->layout = spirv_layout_of(ir);
    e->files = has_lines ? vyre_alloc_zeroed(ir->debug_string_bytes + 1, sizeof *e->files) : NULL;
    spirv_builder_init(&e->b);
    declare_always(e);
    bool made = !has_lines || e->files;
    for (uint32_t i = first; i < end && made && !e->lack; i++) {
        made = write_phase(e, i, alone, &out_infos[i]);
    }
    if (made && !e->b.failed && !e->unknown && !e->lack) {
        out_module->words =
            spirv_finish(&e->b, target->version, target->vulkan_model, &out_module->count);
    }
    vyre_status status = status_of(program, e, made && !e->b.failed);
    spirv_builder_free(&e->b);
    vyre_free(e->files);
    vyre_free(e);
    return status;
}

vyre_status spirv_emit_count(const spirv_target *target, spirv_module *out_module) {
    spirv_phase_info info = {.threads = 1};
    emit *e = vyre_alloc_zeroed(1, sizeof *e);
    *out_module = (spirv_module){0};
    if (!e) {
        return vyre_no_memory("to write SPIR-V");
    }
    e->target = target;
    e->info = &info;
    spirv_builder_init(&e->b);
    declare_always(e);
    spv_id function = spirv_new(&e->b);
    spirv_begin_function(&e->b, function);
    e->push = declare_push(e, 1);
    spirv_emit_begin_head(e);
    e->frame = spirv_emit_pushed(e, 0);
    spirv_emit_end_head(e);
    spirv_emit_counting(e);
    spirv_end_function(&e->b);
    put_entry(e, function, "main");
    put_modes(e, function);
    if (!e->b.failed) {
        out_module->words =
            spirv_finish(&e->b, target->version, target->vulkan_model, &out_module->count);
    }
    spirv_builder_free(&e->b);
    vyre_free(e);
    return out_module->words ? VYRE_OK : vyre_no_memory("to write SPIR-V");
}
