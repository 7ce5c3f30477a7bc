#include "backend/opencl/codegen/emit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/opencl/codegen/emit_state.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "pass/shared.h"

/* Lines and names */

void opencl_begin(emit *e) {
    vyre_strbuf_repeat(&e->code, ' ', (size_t)4 * e->indent);
}

void opencl_line(emit *e, const char *format, ...) {
    va_list arguments;
    opencl_begin(e);
    va_start(arguments, format);
    vyre_strbuf_vprintf(&e->code, format, arguments);
    va_end(arguments);
    vyre_strbuf_putc(&e->code, '\n');
}

opencl_name opencl_value(uint32_t inst) {
    opencl_name name;
    snprintf(name.text, sizeof name.text, "v%u", inst);
    return name;
}

opencl_name opencl_operand(emit *e, uint32_t operand) {
    if (vyre_operand_is_value(operand)) {
        return opencl_value(operand);
    }
    const vyre_const *constant = vyre_operand_const(e->ir, operand);
    return opencl_constant(vyre_const_type(constant), constant->bits);
}

static opencl_name name_of(const opencl_parameter *parameter) {
    static const char *const prefixes[] = {
#define PREFIX(name, prefix) [OPENCL_##name] = prefix,
        OPENCL_PARAMETERS(PREFIX)
#undef PREFIX
    };
    opencl_name name;
    if (parameter->kind == OPENCL_STOP || parameter->kind == OPENCL_TICKET) {
        snprintf(name.text, sizeof name.text, "%s", prefixes[parameter->kind]);
    } else {
        snprintf(name.text, sizeof name.text, "%s%u", prefixes[parameter->kind], parameter->index);
    }
    return name;
}

opencl_name opencl_parameter_name(emit *e, opencl_parameter_kind kind, uint32_t index) {
    const opencl_parameter parameter = {.kind = kind, .index = index};
    bool found = false;
    for (size_t i = 0; i < e->parameters.count && !found; i++) {
        const opencl_parameter *own = &e->parameters.items[i];
        found = own->kind == parameter.kind && own->index == index;
    }
    if (!found && !vyre_vec_push(&e->parameters, parameter)) {
        e->failed = true;
    }
    return name_of(&parameter);
}

/* Values */

static void define(emit *e, uint32_t inst, const char *text) {
    opencl_line(e, "const %s %s = %s;", opencl_type(vyre_inst_type(&e->ir->insts[inst])),
                opencl_value(inst).text, text);
}

static void write_scalar(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    opencl_name bits = opencl_parameter_name(e, OPENCL_SCALAR, i->a);
    vyre_type type = vyre_inst_type(i);
    char text[96];
    const char *form = type == VYRE_TYPE_BOOL  ? "%s != 0"
                       : type == VYRE_TYPE_F32 ? "as_float((uint)%s)"
                       : type == VYRE_TYPE_F64 ? "as_double(%s)"
                                               : NULL;
    if (form) {
        snprintf(text, sizeof text, form, bits.text);
    } else {
        snprintf(text, sizeof text, "(%s)%s", opencl_type(type), bits.text);
    }
    define(e, inst, text);
}

static void write_in_domain(emit *e, uint32_t inst) {
    vyre_strbuf text = {0};
    for (uint32_t d = 0; d < e->phase->dimensions; d++) {
        vyre_strbuf_printf(&text, "%s(ulong)g_%u < %s", d ? " && " : "", d,
                           opencl_parameter_name(e, OPENCL_DOMAIN, d).text);
    }
    define(e, inst, vyre_strbuf_string(&text));
    e->failed |= text.failed;
    vyre_strbuf_free(&text);
}

static void write_length(emit *e, uint32_t inst) {
    uint32_t resource = vyre_access_resource(&e->ir->insts[inst]);
    const vyre_resource *row = &e->ir->resources[resource];
    char text[64];
    if (vyre_resource_is_global(row)) {
        uint32_t home = vyre_resource_is_field(row) ? row->size : resource;
        snprintf(text, sizeof text, "(uint)%s", opencl_parameter_name(e, OPENCL_LENGTH, home).text);
    } else {
        snprintf(text, sizeof text, "%uu", row->length);
    }
    define(e, inst, text);
}

static void write_surroundings(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    char text[64];
    switch (vyre_inst_op(i)) {
    case VYRE_OP_PARAM: write_scalar(e, inst); return;
    case VYRE_OP_GID:
    case VYRE_OP_WID:
        snprintf(text, sizeof text, "(uint)%s_%u", i->op == VYRE_OP_GID ? "g" : "w", i->a);
        define(e, inst, text);
        return;
    case VYRE_OP_LID:
        snprintf(text, sizeof text, "l_%u", i->a);
        define(e, inst, text);
        return;
    case VYRE_OP_NUM_WORKGROUPS:
    case VYRE_OP_ITERATION:
        snprintf(text, sizeof text, "(uint)%s",
                 opencl_parameter_name(
                     e, i->op == VYRE_OP_ITERATION ? OPENCL_ITERATION : OPENCL_GROUPS, i->a)
                     .text);
        define(e, inst, text);
        return;
    case VYRE_OP_IN_DOMAIN: write_in_domain(e, inst); return;
    case VYRE_OP_LEN: write_length(e, inst); return;
    case VYRE_ONE_OF(LANE, SUBGROUP_ID):
        snprintf(text, sizeof text, i->op == VYRE_OP_LANE ? "l %% %uu" : "l / %uu",
                 e->phase->subgroup);
        define(e, inst, text);
        return;
    case VYRE_ANY_OF(PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    opencl_emit_unknown(e, inst);
}

/* Whether an operation works on the bits of a float alone. */
static bool is_of_bits(uint32_t op) {
    return op == VYRE_OP_SELECT || op == VYRE_OP_BITCAST || op == VYRE_OP_NEG ||
           op == VYRE_OP_ABS || op == VYRE_OP_COPYSIGN;
}

void opencl_emit_canonical(emit *e, vyre_type type, const char *name) {
    bool is_absent = type == VYRE_TYPE_F64 && !e->target->has_f64;
    bool calls = e->target->nan_by_extremes && !is_absent;
    if (calls) {
        e->functions |=
            OPENCL_FUNCTION(type == VYRE_TYPE_F64 ? OPENCL_CANONICAL_F64 : OPENCL_CANONICAL_F32);
    }
    opencl_begin(e);
    vyre_strbuf_printf(&e->code, "%s = ", name);
    opencl_write_canonical(&e->code, type, calls, name);
    vyre_strbuf_puts(&e->code, ";\n");
}

/* NVIDIA's compiler makes a maximum of `x < c ? c : x`, and has another NaN there than x is. So it
 * does not see that what is compared is what is chosen: it passes by a zero that only the host
 * knows. */
static bool is_misread(const emit *e, const vyre_inst *i, vyre_type type, uint32_t operand) {
    return vyre_op_is_comparison(i->op) && (type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64) &&
           vyre_operand_is_value(operand) &&
           vyre_operand_is_constant(operand == i->a ? i->b : i->a) &&
           vyre_nan_may_be_chosen(e->ir, operand, e->facts.uses[operand - e->phase->first]);
}

enum { HIDDEN_TEXT = 128 };

static void write_hidden(emit *e, vyre_type type, const char *name, char out_text[HIDDEN_TEXT]) {
    opencl_name domain = opencl_parameter_name(e, OPENCL_DOMAIN, 0);
    snprintf(out_text, HIDDEN_TEXT,
             type == VYRE_TYPE_F64 ? "as_double(as_ulong(%s) | %s >> 63)"
                                   : "as_float(as_uint(%s) | (uint)(%s >> 63))",
             name, domain.text);
}

static void write_pure(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type result = vyre_inst_type(i);
    vyre_list values = vyre_inst_operands(e->ir, i);
    vyre_type type = i->op == VYRE_OP_SELECT ? result : vyre_operand_type(e->ir, values.items[0]);
    bool settles = vyre_nan_settles(&e->facts.nans, inst);
    bool is_absent = (type == VYRE_TYPE_F64 || result == VYRE_TYPE_F64) && !e->target->has_f64 &&
                     !is_of_bits(i->op);
    char names[3][HIDDEN_TEXT] = {{0}};
    for (uint32_t k = 0; k < values.count && k < 3; k++) {
        opencl_name name = opencl_operand(e, values.items[k]);
        if (!is_absent && is_misread(e, i, type, values.items[k])) {
            write_hidden(e, type, name.text, names[k]);
        } else {
            memcpy(names[k], name.text, sizeof name.text);
        }
    }
    opencl_name value = opencl_value(inst);
    opencl_begin(e);
    vyre_strbuf_printf(&e->code, "%s%s %s = ", settles ? "" : "const ", opencl_type(result),
                       value.text);
    if (is_absent ||
        !opencl_write_op(&e->code, vyre_inst_op(i), type, result, names[0], names[1], names[2])) {
        bool is_known = is_absent || opencl_is_half(type) || opencl_is_half(result);
        e->unknown = is_known ? e->unknown : vyre_inst_op(i);
        e->lack = is_known ? "arithmetic of a type" : e->lack;
        e->fix = is_known ? "use f32, or another backend" : e->fix;
    }
    vyre_strbuf_puts(&e->code, ";\n");
    e->functions |= opencl_functions_of(vyre_inst_op(i), type, result);
    if (settles) {
        opencl_emit_canonical(e, result, value.text);
    }
}

/* Instructions */

/* Says which line of the source follows. */
static void mention_line(emit *e, uint32_t inst) {
    uint32_t line = vyre_ir_line(e->ir, inst);
    if (line && line != e->line) {
        e->line = line;
        opencl_line(e, "// line %u", line);
    }
}

void opencl_emit_unknown(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    if (vyre_inst_effects(i) & VYRE_EFFECT_SUBGROUP) { /* that pass/subgroup.h left as it was */
        e->lack = "subgroups";
        e->fix = "use another backend";
    } else {
        e->unknown = vyre_inst_op(i);
    }
}

void opencl_emit_barrier(emit *e) {
    opencl_line(e, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
    e->is_branched = false;
}

void opencl_emit_instruction(emit *e, uint32_t inst) {
    vyre_op op = vyre_inst_op(&e->ir->insts[inst]);
    if (op == VYRE_OP_ARG || op == VYRE_OP_RESULT) {
        return; /* written where it comes from */
    }
    mention_line(e, inst);
    switch (op) {
    case VYRE_ANY_OF(SURROUNDINGS): write_surroundings(e, inst); return;
    case VYRE_ANY_OF(PURE): write_pure(e, inst); return;
    case VYRE_ANY_OF(ACCESS): opencl_emit_memory(e, inst); return;
    case VYRE_ANY_OF(BLOCK): opencl_emit_control(e, inst); return;
    case VYRE_ANY_OF(JUMP): opencl_emit_jump(e, inst); return;
    case VYRE_OP_BARRIER: opencl_emit_barrier(e); return;
    case VYRE_ANY_OF(SUBGROUP): opencl_emit_subgroup(e, inst); return;
    case VYRE_OP_GRID_BARRIER:
    case VYRE_ANY_OF(ELEMENTARY, PICK, NONE): break;
    }
    opencl_emit_unknown(e, inst);
}

/* Kernels */

/* Where the workgroup and the invocation are: w_d, l_d and g_d. */
static void write_positions(emit *e, vyre_strbuf *out) {
    const uint32_t *size = e->phase->workgroup;
    uint32_t dimensions = e->phase->dimensions;
    if (e->info->ordered) {
        vyre_strbuf_printf(out,
                           "    if (l == 0) {\n        turn = atomic_inc(%s);\n    }\n"
                           "    barrier(CLK_LOCAL_MEM_FENCE);\n    const ulong own = turn;\n",
                           opencl_parameter_name(e, OPENCL_TICKET, 0).text);
    }
    for (uint32_t d = 0; d < 3 && size[0]; d++) {
        if (d >= dimensions) {
            vyre_strbuf_printf(out, "    const long w_%u = 0;\n", d);
        } else if (e->info->ordered) {
            vyre_strbuf_printf(out, "    const long w_%u = own", d);
            for (uint32_t below = 0; below < d; below++) {
                vyre_strbuf_printf(out, " / %s",
                                   opencl_parameter_name(e, OPENCL_GROUPS, below).text);
            }
            if (d + 1 < dimensions) {
                vyre_strbuf_printf(out, " %% %s", opencl_parameter_name(e, OPENCL_GROUPS, d).text);
            }
            vyre_strbuf_puts(out, ";\n");
        } else {
            vyre_strbuf_printf(out, "    const long w_%u = get_group_id(%u) + %s;\n", d, d,
                               opencl_parameter_name(e, OPENCL_FIRST, d).text);
        }
        uint32_t below = d == 0 ? 1 : d == 1 ? size[0] : size[0] * size[1];
        vyre_strbuf_printf(out, "    const uint l_%u = l / %uu %% %uu;\n", d, below, size[d]);
        vyre_strbuf_printf(out, "    const long g_%u = w_%u * %u + l_%u;\n", d, d, size[d], d);
    }
    for (uint32_t d = 0; d < 3 && !size[0]; d++) {
        if (d < dimensions) {
            vyre_strbuf_printf(out, "    const long g_%u = get_global_id(%u) + %s;\n", d, d,
                               opencl_parameter_name(e, OPENCL_FIRST, d).text);
        } else {
            vyre_strbuf_printf(out, "    const long g_%u = 0;\n", d);
        }
    }
    for (uint32_t d = 0; d < dimensions && !size[0] && !e->target->is_covered; d++) {
        vyre_strbuf_printf(out, "    if ((ulong)g_%u >= %s) {\n        return;\n    }\n", d,
                           opencl_parameter_name(e, OPENCL_DOMAIN, d).text);
    }
}

static const char *buffer_type(const opencl_parameter *parameter) {
    return parameter->kind == OPENCL_STOP     ? "volatile __global const uint *"
           : parameter->kind == OPENCL_TICKET ? "volatile __global uint *"
                                              : "__global uchar *";
}

/* Buffers first, then words, in the order of their kinds. */
static void sort_parameters(emit *e) {
    opencl_parameter *items = e->parameters.items;
    for (size_t i = 1; i < e->parameters.count; i++) {
        for (size_t k = i; k && items[k].kind < items[k - 1].kind; k--) {
            opencl_parameter kept = items[k];
            items[k] = items[k - 1];
            items[k - 1] = kept;
        }
    }
}

static void choose_frame(emit *e) {
    enum { WORD = 8 };
    uint32_t buffers = 0, most = e->target->parameter_bytes / WORD;
    for (size_t i = 0; i < e->parameters.count; i++) {
        buffers += opencl_is_buffer(&e->parameters.items[i]);
    }
    e->info->has_frame = e->parameters.count > most;
    if (e->info->has_frame && buffers + 1 > most) {
        e->lack = "a kernel of so many arrays";
        e->fix = "use fewer buffers in one phase, or another backend";
    }
}

static void put_signature(emit *e, const char *name, uint32_t index, vyre_strbuf *out) {
    bool first = true;
    vyre_strbuf_puts(out, "__kernel ");
    if (e->info->threads) {
        vyre_strbuf_printf(out, "__attribute__((reqd_work_group_size(%u, 1, 1))) ",
                           e->info->threads);
    }
    vyre_strbuf_printf(out, "void %s_%u(", name, index);
    if (e->info->has_frame) {
        vyre_strbuf_puts(out, "__global const ulong *frame");
        first = false;
    }
    for (size_t i = 0; i < e->parameters.count; i++) {
        const opencl_parameter *parameter = &e->parameters.items[i];
        if (opencl_is_buffer(parameter) || !e->info->has_frame) {
            vyre_strbuf_printf(out, "%s%s%s", first ? "" : ", ",
                               opencl_is_buffer(parameter) ? buffer_type(parameter) : "ulong ",
                               name_of(parameter).text);
            first = false;
        }
    }
    vyre_strbuf_puts(out, ") {\n");
    for (size_t i = 0, word = 0; i < e->parameters.count && e->info->has_frame; i++) {
        if (!opencl_is_buffer(&e->parameters.items[i])) {
            vyre_strbuf_printf(out, "    const ulong %s = frame[%zu];\n",
                               name_of(&e->parameters.items[i]).text, word++);
        }
    }
}

static void put_kernel(emit *e, const char *name, uint32_t index, vyre_strbuf *out) {
    vyre_strbuf head = {0}, positions = {0}, pointers = {0};
    opencl_emit_locals(e, &head);
    write_positions(e, &positions);
    opencl_emit_pointers(e, &pointers);
    sort_parameters(e);
    choose_frame(e);
    put_signature(e, name, index, out);
    if (e->info->threads) {
        vyre_strbuf_puts(out, "    const uint l = (uint)get_local_id(0);\n");
    }
    vyre_strbuf_puts(out, e->info->ordered ? "    __local uint turn;\n" : "");
    vyre_strbuf_puts(out, e->has_poll ? "    __local uint stopped;\n" : "");
    vyre_strbuf_puts(out, e->has_halt ? "    __local uint halted;\n" : "");
    vyre_strbuf_puts(out, vyre_strbuf_string(&positions));
    vyre_strbuf_puts(out, vyre_strbuf_string(&pointers));
    vyre_strbuf_puts(out, vyre_strbuf_string(&head));
    vyre_strbuf_puts(out, vyre_strbuf_string(&e->code));
    vyre_strbuf_puts(out, "}\n\n");
    e->failed |= head.failed | positions.failed | pointers.failed | e->code.failed;
    vyre_strbuf_free(&head);
    vyre_strbuf_free(&positions);
    vyre_strbuf_free(&pointers);
}

/* What the phase asks for of its workgroups. */
static void choose_launch(emit *e) {
    const uint32_t *size = e->phase->workgroup;
    uint64_t shared = 0;
    for (uint32_t r = e->phase->first_resource; r < e->phase->end_resource; r++) {
        const vyre_resource *row = &e->ir->resources[r];
        shared += row->kind == VYRE_RESOURCE_SHARED ? vyre_resource_bytes(row) + 8 : 0;
    }
    e->info->threads = size[0] ? size[0] * size[1] * size[2] : 0;
    e->info->shared_bytes = (uint32_t)(shared < UINT32_MAX ? shared : UINT32_MAX);
    e->info->ordered = e->facts.may_wait;
    if (e->info->threads > e->target->most_threads) {
        e->lack = "workgroups of so many invocations";
        e->fix = "take a smaller workgroup, or another backend";
    } else if (shared > e->target->shared_bytes) {
        e->lack = "so much shared memory in a workgroup";
        e->fix = "use smaller shared arrays, or another backend";
    }
}

static void write_kernel(emit *e, const char *name, uint32_t index, vyre_strbuf *out) {
    memset(e->used, 0, e->ir->resource_count);
    vyre_strbuf_cut(&e->code, 0);
    e->depth = 0;
    e->indent = 1;
    e->line = 0;
    e->alone = VYRE_NONE;
    e->may_halt = opencl_stops_apart(e);
    e->has_halt = e->has_poll = e->is_branched = false;
    e->is_cut = e->target->is_serial && e->info->threads &&
                (e->facts.has_barriers || e->info->ordered || e->info->shared_bytes);
    e->stack[e->depth++] = (emit_open){.owner = VYRE_NONE};
    for (uint32_t r = e->phase->first_resource; r < e->phase->end_resource; r++) {
        if (e->ir->resources[r].kind == VYRE_RESOURCE_PRIVATE) {
            opencl_emit_clear(e, e->phase->first, r);
        }
    }
    opencl_emit_block(e, vyre_phase_block(e->phase));
    put_kernel(e, name, index, out);
}

/* A copy of a list that was made in the emitter. */
static void *keep_list(emit *e, const void *items, size_t count, size_t bytes) {
    void *copy = vyre_alloc_array(count, bytes);
    e->failed |= !copy;
    if (copy && count) {
        memcpy(copy, items, count * bytes);
    }
    return copy;
}

static bool write_phase(emit *e, uint32_t index, vyre_strbuf *out) {
    e->phase = &e->ir->phases[index];
    if (!opencl_analyse(&e->facts, e->ir, index, !e->target->general)) {
        return false;
    }
    e->parameters.count = e->assumptions.count = 0;
    e->assumes = false;
    choose_launch(e);
    write_kernel(e, "phase", index, out);
    if (e->assumptions.count) { /* takes the same parameters */
        e->assumes = true;
        write_kernel(e, "inner", index, out);
    }
    opencl_phase_info *info = e->info;
    info->parameter_count = (uint32_t)e->parameters.count;
    info->parameters =
        keep_list(e, e->parameters.items, e->parameters.count, sizeof *info->parameters);
    info->assumption_count = (uint32_t)e->assumptions.count;
    info->assumptions =
        keep_list(e, e->assumptions.items, e->assumptions.count, sizeof *info->assumptions);
    opencl_facts_free(&e->facts);
    return !e->failed && !out->failed;
}

static void put_head(const emit *e, vyre_strbuf *out) {
    const opencl_target *target = e->target;
    vyre_strbuf_puts(out, "#pragma OPENCL FP_CONTRACT OFF\n");
    if (target->has_f64) {
        vyre_strbuf_puts(out, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    } else { /* only patterns of bits */
        vyre_strbuf_puts(out, "#define double ulong\n#define as_double as_ulong\n");
    }
    if (target->has_atomics64) {
        vyre_strbuf_puts(out, "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n");
    }
    if (target->has_atomics64_extended) {
        vyre_strbuf_puts(out, "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n");
    }
    opencl_write_functions(out, e->functions);
    opencl_emit_constants(e->ir, out);
    vyre_strbuf_putc(out, '\n');
}

static vyre_status check_constants(const vyre_program *program, const opencl_target *target) {
    uint64_t bytes = vyre_program_stats(program).constant_bytes;
    return bytes <= target->constant_bytes
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                  "use smaller constant arrays, or another backend",
                                  "`%s` has %llu bytes of constant arrays, and the OpenCL device "
                                  "has room for %llu",
                                  vyre_program_name(program), (unsigned long long)bytes,
                                  (unsigned long long)target->constant_bytes);
}

vyre_status opencl_emit(const vyre_program *program, const opencl_target *target,
                        vyre_strbuf *out_text, opencl_phase_info *out_infos) {
    const vyre_ir *ir = vyre_program_ir(program);
    if (vyre_shared_is_sized(ir)) {
        return vyre_shared_refuse(program);
    }
    VYRE_TRY(check_constants(program, target));
    emit *e = vyre_alloc_zeroed(1, sizeof *e);
    bool *used = vyre_alloc_zeroed(ir->resource_count + 1, sizeof *used);
    bool made = e && used;
    const char *lack = NULL, *fix = NULL;
    vyre_op unknown = VYRE_OP_NONE;
    vyre_strbuf kernels = {0};
    if (made) {
        e->ir = ir;
        e->target = target;
        e->used = used;
        for (uint32_t i = 0; i < ir->phase_count && made; i++) {
            e->info = &out_infos[i];
            made = write_phase(e, i, &kernels);
        }
        vyre_strbuf_printf(out_text, "// %s\n", vyre_program_name(program));
        put_head(e, out_text);
        vyre_strbuf_puts(out_text, vyre_strbuf_string(&kernels));
        made = made && !out_text->failed;
        lack = e->lack;
        fix = e->fix;
        unknown = e->unknown;
        vyre_strbuf_free(&e->code);
        vyre_vec_free(&e->parameters);
        vyre_vec_free(&e->assumptions);
    }
    vyre_strbuf_free(&kernels);
    vyre_free(e);
    vyre_free(used);
    if (!made) {
        return vyre_no_memory("to compile `%s`", vyre_program_name(program));
    }
    if (unknown) {
        return vyre_internal_error("the opencl backend has no code for `%s`",
                                   vyre_lookup_op(unknown)->name);
    }
    return lack ? vyre_status_make(VYRE_STATUS_UNSUPPORTED, fix,
                                   "`%s` needs %s, which the OpenCL device does not have",
                                   vyre_program_name(program), lack)
                : VYRE_OK;
}

void opencl_infos_free(opencl_phase_info *infos, uint32_t count) {
    for (uint32_t i = 0; i < count && infos; i++) {
        vyre_free(infos[i].parameters);
        vyre_free(infos[i].assumptions);
        infos[i].parameters = NULL;
        infos[i].assumptions = NULL;
    }
}
