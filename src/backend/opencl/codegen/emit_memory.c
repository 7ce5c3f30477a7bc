/* Arrays: every access stays inside, by a condition where that is not known. */
#include <inttypes.h>
#include <stdio.h>

#include "backend/opencl/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/lookup.h"

static const vyre_resource *row_of(const emit *e, uint32_t resource) {
    return &e->ir->resources[resource];
}

/* Of fields, the buffer. */
static uint32_t home_of(const emit *e, uint32_t resource) {
    return vyre_resource_is_field(row_of(e, resource)) ? row_of(e, resource)->size : resource;
}

/* The type as which a constant array is written: bits, because patterns of floats are no constants
 * to all compilers. */
static const char *constant_type(vyre_type type) {
    return vyre_lookup_class(type) == VYRE_CLASS_FLOAT ? opencl_unsigned_type(type)
                                                       : opencl_memory_type(type);
}

/* Whether loads may be moved over anything. */
static bool is_read_only(const emit *e, uint32_t home) {
    bool written = false;
    for (uint32_t r = 0; r < e->ir->resource_count; r++) {
        bool is_part = r == home || (vyre_resource_is_field(row_of(e, r)) && home_of(e, r) == home);
        written = written || (is_part && e->facts.written[r]);
    }
    return !written;
}

void opencl_emit_pointers(emit *e, vyre_strbuf *out) {
    for (uint32_t r = 0; r < e->ir->resource_count; r++) {
        if (!e->used[r] || row_of(e, r)->kind > VYRE_RESOURCE_SCRATCH) {
            continue;
        }
        const vyre_resource *row = row_of(e, r);
        const char *type =
            vyre_resource_has_records(row) ? "uchar" : opencl_memory_type(vyre_resource_type(row));
        bool reads = is_read_only(e, r);
        /* Others may write where somebody waits for them. */
        bool is_alone = reads || (!e->facts.has_barriers && !e->facts.has_atomics);
        opencl_name base = opencl_parameter_name(e, OPENCL_ARRAY, r);
        opencl_name offset = opencl_parameter_name(e, OPENCL_OFFSET, r);
        const char *reading = reads ? "const " : "";
        vyre_strbuf_printf(out, "    __global %s%s *%s a%u = (__global %s%s *)(%s + %s);\n",
                           reading, type, is_alone ? "restrict" : "", r, reading, type, base.text,
                           offset.text);
    }
}

void opencl_emit_constants(const vyre_ir *ir, vyre_strbuf *out) {
    enum { A_LINE = 12 };
    for (uint32_t r = 0; r < ir->resource_count; r++) {
        const vyre_resource *row = &ir->resources[r];
        if (row->kind != VYRE_RESOURCE_CONSTANT) {
            continue;
        }
        vyre_type type = vyre_resource_type(row);
        vyre_strbuf_printf(out, "__constant %s a%u[%u] = {", constant_type(type), r,
                           row->length ? row->length : 1);
        for (uint32_t i = 0; i < row->length; i++) {
            vyre_strbuf_printf(out, "%s0x%" PRIx64 "%s,", i % A_LINE ? " " : "\n    ",
                               vyre_constant_element(ir, row, i),
                               vyre_type_bytes(type) == 8 ? "UL" : "u");
        }
        vyre_strbuf_puts(out, row->length ? "\n};\n" : "0};\n");
    }
}

/* Shared arrays are zeroed by all invocations of the workgroup. */
static void zero_shared(emit *e, uint32_t resource, vyre_strbuf *out) {
    const vyre_resource *row = row_of(e, resource);
    vyre_strbuf_printf(out,
                       "    for (uint i = l; i < %uu; i += %uu) {\n        a%u[i] = 0;\n    }\n",
                       row->length, e->info->threads, resource);
}

void opencl_emit_locals(emit *e, vyre_strbuf *out) {
    bool zeroed = false;
    for (uint32_t r = e->phase->first_resource; r < e->phase->end_resource; r++) {
        const vyre_resource *row = row_of(e, r);
        bool is_shared = row->kind == VYRE_RESOURCE_SHARED;
        if (e->used[r]) {
            vyre_strbuf_printf(out, "    %s%s a%u[%u];\n", is_shared ? "__local " : "",
                               opencl_memory_type(vyre_resource_type(row)), r,
                               row->length ? row->length : 1);
        }
    }
    for (uint32_t r = e->phase->first_resource; r < e->phase->end_resource; r++) {
        if (e->used[r] && row_of(e, r)->kind == VYRE_RESOURCE_SHARED) {
            zero_shared(e, r, out);
            zeroed = true;
        }
    }
    if (e->has_halt) {
        vyre_strbuf_puts(out,
                         "    uint halt = 0;\n    if (l == 0) {\n        halted = 0;\n    }\n");
    }
    if (zeroed || e->has_halt) {
        vyre_strbuf_puts(out, "    barrier(CLK_LOCAL_MEM_FENCE);\n");
    }
}

void opencl_emit_clear(emit *e, uint32_t inst, uint32_t resource) {
    e->used[resource] = true;
    bool is_apart = opencl_begin_loop(e, inst);
    opencl_line(e, "for (uint i = 0; i < %uu; i++) {", row_of(e, resource)->length);
    opencl_line(e, "    a%u[i] = 0;", resource);
    opencl_end_loop(e, is_apart);
}

/* An index as a number of 64 bits. A sum that is sure not to wrap is done in 64 bits, too, so that
 * a compiler sees how addresses grow. */
static void write_index(emit *e, uint32_t operand, uint32_t depth, vyre_strbuf *out) {
    vyre_type type = vyre_operand_type(e->ir, operand);
    if (!vyre_operand_is_value(operand)) {
        vyre_strbuf_printf(out, "%" PRId64 "L",
                           (int64_t)vyre_const_extended(vyre_operand_const(e->ir, operand)));
        return;
    }
    const vyre_inst *i = &e->ir->insts[operand];
    bool narrow = vyre_type_bytes(type) <= 4;
    bool is_sum = i->op == VYRE_OP_ADD || i->op == VYRE_OP_SUB || i->op == VYRE_OP_MUL;
    if (i->op == VYRE_OP_GID) {
        vyre_strbuf_printf(out, "g_%u", i->a);
    } else if (narrow && depth && is_sum && vyre_range_of(&e->facts.ranges, operand)->exact) {
        vyre_strbuf_putc(out, '(');
        write_index(e, i->a, depth - 1, out);
        vyre_strbuf_puts(out, i->op == VYRE_OP_ADD ? " + " : i->op == VYRE_OP_SUB ? " - " : " * ");
        write_index(e, i->b, depth - 1, out);
        vyre_strbuf_putc(out, ')');
    } else {
        vyre_strbuf_printf(out, "(long)%s", opencl_operand(e, operand).text);
    }
}

/* The element of an array at an index that is inside. */
static void write_place(emit *e, uint32_t resource, uint32_t index, vyre_strbuf *out) {
    enum { DEPTH = 6 };
    const vyre_resource *row = row_of(e, resource);
    uint32_t home = home_of(e, resource);
    e->used[home] = true;
    if (home == resource) {
        vyre_strbuf_printf(out, "a%u[", home);
        write_index(e, index, DEPTH, out);
        vyre_strbuf_putc(out, ']');
        return;
    }
    vyre_strbuf_printf(out, "*(__global %s%s *)(a%u + ", is_read_only(e, home) ? "const " : "",
                       opencl_memory_type(vyre_resource_type(row)), home);
    write_index(e, index, DEPTH, out);
    vyre_strbuf_printf(out, " * %u + %u)", vyre_resource_stride(e->ir, row), row->length);
}

/* The length of an array, as a number of type u32 or a parameter of 64 bits. */
static opencl_name length_of(emit *e, uint32_t resource) {
    opencl_name name;
    if (vyre_resource_is_global(row_of(e, resource))) {
        return opencl_parameter_name(e, OPENCL_LENGTH, home_of(e, resource));
    }
    snprintf(name.text, sizeof name.text, "%uu", row_of(e, resource)->length);
    return name;
}

static void write_inside(emit *e, uint32_t resource, uint32_t index, vyre_strbuf *out) {
    vyre_type type = vyre_operand_type(e->ir, index);
    opencl_name name = opencl_operand(e, index), length = length_of(e, resource);
    if (vyre_type_bytes(type) == 8) { /* a negative number is a large one */
        vyre_strbuf_printf(out, "(ulong)%s < (ulong)%s", name.text, length.text);
    } else if (opencl_is_signed(type)) {
        vyre_strbuf_printf(out, "%s >= 0 && (uint)%s < (uint)%s", name.text, name.text,
                           length.text);
    } else {
        vyre_strbuf_printf(out, "%s < (uint)%s", name.text, length.text);
    }
}

/* Whether an access at the position of the invocation is inside because of an assumption. Of those
 * that would help it keeps a list. */
static bool is_assumed(emit *e, uint32_t resource, uint32_t index) {
    if (!e->target->is_covered || e->phase->workgroup[0] || !vyre_operand_is_value(index) ||
        e->ir->insts[index].op != VYRE_OP_GID || !vyre_resource_is_global(row_of(e, resource))) {
        return false;
    }
    const opencl_assumption own = {home_of(e, resource), e->ir->insts[index].a};
    bool found = false;
    for (size_t i = 0; i < e->assumptions.count && !found; i++) {
        found = e->assumptions.items[i].array == own.array &&
                e->assumptions.items[i].dimension == own.dimension;
    }
    if (!found && !vyre_vec_push(&e->assumptions, own)) {
        e->failed = true;
    }
    return e->assumes;
}

void opencl_find(emit *e, uint32_t inst, emit_element *out) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i), index = vyre_access_index(e->ir, i);
    bool is_constant = vyre_operand_is_constant(index);
    uint64_t number = is_constant ? vyre_const_extended(vyre_operand_const(e->ir, index)) : 0;
    bool has_length = !vyre_resource_is_global(row_of(e, resource));
    *out = (emit_element){.never = is_constant && number > UINT32_MAX};
    if (has_length && is_constant) {
        out->never = number >= row_of(e, resource)->length;
    } else if (!out->never && (e->may_halt || !vyre_range_of(&e->facts.ranges, inst)->in_bounds) &&
               !is_assumed(e, resource, index)) {
        write_inside(e, resource, index, &out->inside);
    }
    if (!out->never) {
        write_place(e, resource, index, &out->place);
    }
}

void opencl_element_free(emit_element *element) {
    vyre_strbuf_free(&element->place);
    vyre_strbuf_free(&element->inside);
}

/* What is around an element of memory where it becomes a value. */
static void write_load(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    const vyre_resource *row = vyre_access_array(e->ir, i);
    vyre_type type = vyre_resource_type(row);
    bool is_bits =
        row->kind == VYRE_RESOURCE_CONSTANT && vyre_lookup_class(type) == VYRE_CLASS_FLOAT;
    emit_element element;
    opencl_find(e, inst, &element);
    const char *place = vyre_strbuf_string(&element.place);
    const char *inside = vyre_strbuf_string(&element.inside);
    opencl_begin(e);
    vyre_strbuf_printf(&e->code, "const %s %s = ", opencl_type(type), opencl_value(inst).text);
    if (element.never) {
        vyre_strbuf_puts(&e->code, "0;\n");
    } else {
        e->is_branched |= *inside != 0;
        vyre_strbuf_printf(&e->code, *inside ? "%s ? " : "%s", inside);
        vyre_strbuf_printf(&e->code, type == VYRE_TYPE_BOOL ? "%s%s%s != 0" : "%s%s%s",
                           is_bits && !opencl_is_half(type)
                               ? (type == VYRE_TYPE_F64 ? "as_double(" : "as_float(")
                               : "",
                           place, is_bits && !opencl_is_half(type) ? ")" : "");
        vyre_strbuf_puts(&e->code, *inside ? " : 0;\n" : ";\n");
    }
    e->code.failed |= element.place.failed | element.inside.failed;
    opencl_element_free(&element);
}

static void write_store(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    emit_element element;
    opencl_find(e, inst, &element);
    opencl_name value = opencl_operand(e, vyre_access_value(e->ir, i));
    if (element.never) {
        /* has no effect */
    } else if (element.inside.size) {
        e->is_branched = true;
        opencl_line(e, "if (%s) {", vyre_strbuf_string(&element.inside));
        opencl_line(e, "    %s = %s;", vyre_strbuf_string(&element.place), value.text);
        opencl_line(e, "}");
    } else {
        opencl_line(e, "%s = %s;", vyre_strbuf_string(&element.place), value.text);
    }
    e->code.failed |= element.place.failed | element.inside.failed;
    opencl_element_free(&element);
}

void opencl_emit_memory(emit *e, uint32_t inst) {
    switch (vyre_inst_op(&e->ir->insts[inst])) {
    case VYRE_OP_LOAD: write_load(e, inst); return;
    case VYRE_OP_UNIFORM_LOAD:
        opencl_emit_barrier(e);
        write_load(e, inst);
        opencl_emit_barrier(e);
        return;
    case VYRE_OP_STORE: write_store(e, inst); return;
    case VYRE_OP_CLEAR:
        opencl_emit_clear(e, inst, vyre_access_resource(&e->ir->insts[inst]));
        return;
    case VYRE_ANY_OF(ATOMIC): opencl_emit_atomic(e, inst); return;
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    opencl_emit_unknown(e, inst);
}
