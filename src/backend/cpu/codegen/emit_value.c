/* Lines of code, variables, masks, and values: in their region, or in the storage between regions.
 */
#include <stdarg.h>

#include "backend/cpu/codegen/emit_state.h"
#include "ir/lookup.h"

void emit_line(emit *e, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_puts(&e->w.code, "  ");
    vyre_strbuf_vprintf(&e->w.code, format, arguments);
    vyre_strbuf_putc(&e->w.code, '\n');
    va_end(arguments);
}

uint32_t emit_new(emit *e) {
    return e->w.next++;
}

uint32_t emit_label(emit *e) {
    return e->w.next++;
}

void emit_start(emit *e, uint32_t label) {
    if (!e->terminated) {
        emit_jump(e, label);
    }
    vyre_strbuf_printf(&e->w.code, "b%u:\n", label);
    e->terminated = false;
}

void emit_jump(emit *e, uint32_t label) {
    if (!e->terminated) {
        emit_line(e, "br label %%b%u", label);
        e->terminated = true;
    }
}

void emit_branch(emit *e, uint32_t condition, uint32_t yes, uint32_t no) {
    emit_line(e, "br i1 %%t%u, label %%b%u, label %%b%u", condition, yes, no);
    e->terminated = true;
}

void emit_likely_branch(emit *e, uint32_t condition, uint32_t yes, uint32_t no) {
    emit_line(
        e, "br i1 %%t%u, label %%b%u, label %%b%u, !prof !{!\"branch_weights\", i32 2000, i32 1}",
        condition, yes, no);
    e->terminated = true;
}

uint32_t emit_shuffle(emit *e, const char *type, uint32_t a, uint32_t b, const uint32_t *from,
                      uint32_t count) {
    uint32_t id = emit_new(e);
    vyre_strbuf *code = &e->w.code;
    vyre_strbuf_printf(code, "  %%t%u = shufflevector %s %%t%u, %s %%t%u, <%u x i32> <", id, type,
                       a, type, b, count);
    for (uint32_t k = 0; k < count; k++) {
        vyre_strbuf_printf(code, "%si32 %u", k ? ", " : "", from[k]);
    }
    vyre_strbuf_puts(code, ">\n");
    return id;
}

/* Variables */

static uint32_t make_variable(emit *e, const char *type) {
    uint32_t id = emit_new(e);
    vyre_strbuf_printf(&e->allocas,
                       "  %%t%u = alloca %s, align 64\n  store %s zeroinitializer, ptr %%t%u\n", id,
                       type, type, id);
    return id;
}

/* LLVM has no zeroinitializer for scalars of some types. */
static uint32_t make_scalar_variable(emit *e, const char *type, const char *zero) {
    uint32_t id = emit_new(e);
    vyre_strbuf_printf(&e->allocas, "  %%t%u = alloca %s\n  store %s %s, ptr %%t%u\n", id, type,
                       type, zero, id);
    return id;
}

void emit_spare(emit *e, vyre_type type, uint32_t lanes, uint32_t variable) {
    if (e->is_plain) { /* without memory for it there is a new one next time */
        (void)vyre_vec_push(&e->spare[lanes > 1][type], variable);
    }
}

uint32_t emit_variable(emit *e, vyre_type type, uint32_t lanes) {
    if (e->spare[lanes > 1][type].count) {
        return e->spare[lanes > 1][type].items[--e->spare[lanes > 1][type].count];
    }
    cpu_type_text name = cpu_type(type, lanes);
    const char *text = name.text;
    bool is_float = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
    return lanes > 1 ? make_variable(e, text)
                     : make_scalar_variable(e, text, is_float ? "0.0" : "0");
}

uint32_t emit_mask_variable(emit *e) {
    return emit_variable(e, VYRE_TYPE_BOOL, e->lanes);
}

uint32_t emit_read(emit *e, vyre_type type, uint32_t lanes, uint32_t variable) {
    return emit_put(e, "load %s, ptr %%t%u", cpu_type(type, lanes).text, variable);
}

void emit_assign(emit *e, vyre_type type, uint32_t lanes, uint32_t variable, uint32_t value) {
    emit_line(e, "store %s %%t%u, ptr %%t%u", cpu_type(type, lanes).text, value, variable);
}

/* Masks */

uint32_t emit_any(emit *e, uint32_t mask) {
    if (e->lanes == 1) {
        return mask;
    }
    uint32_t bits = emit_put(e, "bitcast <%u x i1> %%t%u to i%u", e->lanes, mask, e->lanes);
    return emit_put(e, "icmp ne i%u %%t%u, 0", e->lanes, bits);
}

uint32_t emit_and(emit *e, uint32_t left, uint32_t right) {
    return cpu_put_two((cpu_site){&e->w, e->lanes}, "and", VYRE_TYPE_BOOL, left, right);
}

uint32_t emit_and_not(emit *e, uint32_t left, uint32_t right) {
    cpu_site site = {&e->w, e->lanes};
    return emit_and(e, left, cpu_put_with(site, "xor", VYRE_TYPE_BOOL, right, 1));
}

uint32_t emit_pick(emit *e, vyre_type type, uint32_t mask, uint32_t yes, uint32_t no) {
    return cpu_put_select((cpu_site){&e->w, e->lanes}, type, mask, yes, no);
}

/* Values */

uint32_t emit_storage_at(emit *e, uint64_t offset, uint64_t bytes_a_chunk) {
    if (e->in_group || !bytes_a_chunk) { /* what all chunks agree on is read from the first */
        return emit_offset(e, e->storage, offset);
    }
    uint32_t chunk = emit_put(e, "load i64, ptr %%t%u", e->chunk);
    uint32_t scaled = emit_put(e, "mul i64 %%t%u, %llu", chunk, (unsigned long long)bytes_a_chunk);
    uint32_t sum = emit_put(e, "add i64 %%t%u, %llu", scaled, (unsigned long long)offset);
    return emit_put(e, "getelementptr i8, ptr %%t%u, i64 %%t%u", e->storage, sum);
}

/* In memory a bool is a byte. */

uint32_t emit_from_memory(emit *e, vyre_type type, uint32_t lanes, uint32_t id) {
    cpu_site site = {&e->w, lanes};
    return type == VYRE_TYPE_BOOL ? cpu_put_cast(site, "trunc", VYRE_TYPE_U8, type, id) : id;
}

uint32_t emit_to_memory(emit *e, vyre_type type, uint32_t lanes, uint32_t id) {
    cpu_site site = {&e->w, lanes};
    return type == VYRE_TYPE_BOOL ? cpu_put_cast(site, "zext", type, VYRE_TYPE_U8, id) : id;
}

uint32_t emit_load_at(emit *e, vyre_type type, uint32_t lanes, uint32_t pointer) {
    vyre_type stored = emit_stored_type(type);
    uint32_t id = emit_put(e, "load %s, ptr %%t%u, align %u%s", cpu_type(stored, lanes).text,
                           pointer, vyre_type_bytes(stored), emit_alias(e).text);
    return emit_from_memory(e, type, lanes, id);
}

void emit_store_at(emit *e, vyre_type type, uint32_t lanes, uint32_t pointer, uint32_t value) {
    vyre_type stored = emit_stored_type(type);
    emit_line(e, "store %s %%t%u, ptr %%t%u, align %u%s", cpu_type(stored, lanes).text,
              emit_to_memory(e, type, lanes, value), pointer, vyre_type_bytes(stored),
              emit_alias(e).text);
}

uint64_t emit_crossing_bytes(const emit *e, uint32_t inst) {
    uint32_t lanes = cpu_varies(&e->facts, inst) ? e->facts.lanes : 1;
    return (uint64_t)vyre_type_bytes(vyre_inst_type(&e->ir->insts[inst])) * lanes;
}

/* Where it lies; scalars of a chunk lie side by side. */
static uint32_t crossing_place(emit *e, uint32_t inst) {
    const emit_value *first = &e->values[inst - e->phase->first];
    uint64_t offset = first->offset;
    if (e->scalar && cpu_varies(&e->facts, inst)) {
        offset += (uint64_t)e->first_lane * vyre_type_bytes(vyre_inst_type(&e->ir->insts[inst]));
    }
    return emit_storage_at(e, offset, emit_crossing_bytes(e, inst));
}

/* Values that cross lie in no array, even if an access to one gives or takes them. */
void emit_store_crossing(emit *e, uint32_t inst, uint32_t id) {
    uint32_t lanes = emit_lanes_of(e, cpu_varies(&e->facts, inst));
    uint32_t touched = e->touched;
    e->touched = VYRE_NONE;
    emit_store_at(e, vyre_inst_type(&e->ir->insts[inst]), lanes, crossing_place(e, inst), id);
    e->touched = touched;
}

uint32_t emit_load_crossing(emit *e, uint32_t inst) {
    uint32_t lanes = emit_lanes_of(e, cpu_varies(&e->facts, inst));
    uint32_t touched = e->touched;
    e->touched = VYRE_NONE;
    uint32_t id =
        emit_load_at(e, vyre_inst_type(&e->ir->insts[inst]), lanes, crossing_place(e, inst));
    e->touched = touched;
    return id;
}

static bool is_here(emit *e, uint32_t inst) {
    return !e->in_group && cpu_fact_of(&e->facts, inst)->region == e->region;
}

uint32_t emit_operand(emit *e, uint32_t operand) {
    if (vyre_operand_is_constant(operand)) {
        const vyre_const *c = vyre_operand_const(e->ir, operand);
        return cpu_write_const(&e->w, vyre_const_type(c), 1, c->bits);
    }
    return is_here(e, operand) ? emit_value_of(e, operand)->id : emit_load_crossing(e, operand);
}

uint32_t emit_scalar(emit *e, uint32_t operand) {
    uint32_t id = emit_operand(e, operand);
    if (e->lanes > 1 && cpu_varies(&e->facts, operand)) { /* all agree on it: lane 0 will do */
        return emit_put(e, "extractelement %s %%t%u, i64 0",
                        cpu_type(vyre_operand_type(e->ir, operand), e->lanes).text, id);
    }
    return id;
}

uint32_t emit_vector(emit *e, uint32_t operand) {
    uint32_t id = emit_operand(e, operand);
    return cpu_varies(&e->facts, operand)
               ? id
               : cpu_write_splat(&e->w, vyre_operand_type(e->ir, operand), e->lanes, id);
}

uint32_t emit_first(emit *e, uint32_t operand) {
    bool has_base = e->lanes > 1 && cpu_varies(&e->facts, operand) && is_here(e, operand) &&
                    emit_value_of(e, operand)->base;
    return has_base ? emit_value_of(e, operand)->base : emit_scalar(e, operand);
}

vyre_stride emit_stride_of(const emit *e, uint32_t operand) {
    vyre_stride form = vyre_stride_operand(&e->strides, operand);
    if (form.kind == VYRE_STRIDE_AFFINE && !e->facts.rows_are_chunks) {
        form.kind = VYRE_STRIDE_UNKNOWN;
    }
    return form;
}

void emit_define(emit *e, uint32_t inst, uint32_t id) {
    emit_value_of(e, inst)->id = id;
    if (cpu_fact_of(&e->facts, inst)->crosses) {
        emit_store_crossing(e, inst, id);
    }
}

/* The frame */

uint32_t emit_frame_field(emit *e, const char *type, uint64_t offset) {
    uint32_t at =
        emit_put(e, "getelementptr i8, ptr %%frame, i64 %llu", (unsigned long long)offset);
    return emit_put(e, "load %s, ptr %%t%u, !invariant.load !0", type, at);
}

uint32_t emit_table_entry(emit *e, const char *type, uint32_t table, uint64_t offset) {
    uint32_t at = emit_offset(e, table, offset);
    return emit_put(e, "load %s, ptr %%t%u, !invariant.load !0", type, at);
}

/* Lanes of group blocks */

/* The innermost group block around that lanes may have left. */
static const emit_group *partial_group(const emit_group *group) {
    while (group && !group->partial) {
        group = group->outer;
    }
    return group;
}

bool emit_has_left(const emit_group *group) {
    return partial_group(group);
}

uint32_t emit_alive(emit *e, const emit_group *group) {
    group = partial_group(group);
    if (!group) {
        return cpu_write_const(&e->w, VYRE_TYPE_BOOL, e->lanes, 1);
    }
    uint32_t at = emit_storage_at(e, group->alive, e->lanes);
    return emit_load_at(e, VYRE_TYPE_BOOL, e->lanes, at);
}

void emit_set_alive(emit *e, const emit_group *group, uint32_t mask) {
    emit_store_at(e, VYRE_TYPE_BOOL, e->lanes, emit_storage_at(e, group->alive, e->lanes), mask);
}
