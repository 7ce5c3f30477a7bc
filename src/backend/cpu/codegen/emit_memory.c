/* Arrays. An index is compared with the length as the number it is; past the end loads give 0 and
 * stores do nothing. Lanes that touch neighbouring elements become one access of a vector, if all
 * of them lie inside; else each lane goes by itself. */
#include <stdio.h>

#include "backend/cpu/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/lookup.h"

uint32_t emit_element_bytes(const emit *e, uint32_t resource) {
    return vyre_resource_stride(e->ir, &e->ir->resources[resource]);
}

vyre_type emit_element_type(const emit *e, uint32_t resource) {
    return vyre_resource_type(&e->ir->resources[resource]);
}

/* The name that intrinsics have for a vector type. */
cpu_type_text emit_suffix(vyre_type type, uint32_t lanes) {
    cpu_type_text text;
    bool is_float = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
    snprintf(text.text, sizeof text.text, "v%u%c%u", lanes, is_float ? 'f' : 'i',
             vyre_type_bytes(type) * 8);
    return text;
}

uint32_t emit_widen(emit *e, vyre_type type, uint32_t lanes, uint32_t index) {
    if (vyre_type_bytes(type) == 8) {
        return index;
    }
    bool is_signed = vyre_lookup_class(type) == VYRE_CLASS_SIGNED;
    return cpu_write_op(&e->w, VYRE_OP_CONVERT, type, is_signed ? VYRE_TYPE_I64 : VYRE_TYPE_U64,
                        lanes, index, 0, 0);
}

/* Start of an array; of a private one, that of the chunk at hand. */
uint32_t emit_array_start(emit *e, uint32_t resource) {
    const vyre_resource *row = &e->ir->resources[resource];
    bool is_private = row->kind == VYRE_RESOURCE_PRIVATE;
    uint64_t bytes = vyre_resource_bytes(row), before = 0;
    if (is_private && e->scalar) { /* of scalars, each has its own behind the last one's */
        before = bytes * e->first_lane;
    }
    if (!e->arrays[resource]) { /* without regions, all chunks use the same one in turn */
        return emit_storage_at(e, e->array_offsets[resource] + before,
                               is_private && e->facts.has_groups ? bytes * e->facts.lanes : 0);
    }
    return before ? emit_offset(e, e->arrays[resource], before) : e->arrays[resource];
}

uint32_t emit_offset(emit *e, uint32_t pointer, uint64_t bytes) {
    return emit_put(e, "getelementptr i8, ptr %%t%u, i64 %llu", pointer, (unsigned long long)bytes);
}

uint32_t emit_pointer_to(emit *e, uint32_t start, uint32_t index, uint64_t bytes) {
    uint32_t scaled = emit_put(e, "mul i64 %%t%u, %llu", index, (unsigned long long)bytes);
    return emit_put(e, "getelementptr i8, ptr %%t%u, i64 %%t%u", start, scaled);
}

static uint32_t pointers_to(emit *e, uint32_t start, uint32_t index, uint64_t bytes) {
    uint32_t by = cpu_write_const(&e->w, VYRE_TYPE_U64, e->lanes, bytes);
    uint32_t scaled = emit_put(e, "mul <%u x i64> %%t%u, %%t%u", e->lanes, index, by);
    return emit_put(e, "getelementptr i8, ptr %%t%u, <%u x i64> %%t%u", start, e->lanes, scaled);
}

/* The pointer, or one to zeros. */
uint32_t emit_safe_pointer(emit *e, uint32_t inside, uint32_t pointer) {
    return emit_put(e, "select i1 %%t%u, ptr %%t%u, ptr @zeros", inside, pointer);
}

/* An element that all lanes ask for, in units of `bytes`. */
static uint32_t element_pointer(emit *e, uint32_t inst, uint32_t resource, uint32_t wide,
                                uint64_t bytes) {
    uint32_t at = emit_pointer_to(e, emit_array_start(e, resource), wide, bytes);
    return emit_is_inside(e, inst)
               ? at
               : emit_safe_pointer(e, emit_inside(e, wide, e->lengths[resource], 1), at);
}

uint32_t emit_load_uniform(emit *e, uint32_t inst, uint32_t index) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i);
    vyre_type type = emit_element_type(e, resource);
    uint32_t wide = emit_widen(e, vyre_operand_type(e->ir, vyre_access_index(e->ir, i)), 1, index);
    e->touched = resource;
    uint32_t id = emit_load_at(
        e, type, 1, element_pointer(e, inst, resource, wide, emit_element_bytes(e, resource)));
    e->touched = VYRE_NONE;
    return id;
}

uint32_t emit_gather(emit *e, vyre_type type, uint32_t pointers, uint32_t mask) {
    vyre_type stored = emit_stored_type(type);
    cpu_type_text text = cpu_type(stored, e->lanes), suffix = emit_suffix(stored, e->lanes);
    uint32_t zeros = cpu_write_const(&e->w, stored, e->lanes, 0);
    cpu_write_declare(&e->w,
                      "declare %s @llvm.masked.gather.%s.v%up0(<%u x ptr>, i32, <%u x i1>, %s)",
                      text.text, suffix.text, e->lanes, e->lanes, e->lanes, text.text);
    uint32_t id =
        emit_put(e,
                 "call %s @llvm.masked.gather.%s.v%up0(<%u x ptr> %%t%u, i32 %u, <%u x i1> "
                 "%%t%u, %s %%t%u)%s",
                 text.text, suffix.text, e->lanes, e->lanes, pointers, vyre_type_bytes(stored),
                 e->lanes, mask, text.text, zeros, emit_alias(e).text);
    return emit_from_memory(e, type, e->lanes, id);
}

uint32_t emit_gather_lanes(emit *e, vyre_type type, uint32_t vector, uint32_t numbers,
                           uint32_t mask) {
    vyre_type stored = emit_stored_type(type);
    uint32_t memory = emit_variable(e, stored, e->lanes);
    emit_assign(e, stored, e->lanes, memory, emit_to_memory(e, type, e->lanes, vector));
    uint32_t wide = emit_put(e, "zext <%u x i32> %%t%u to <%u x i64>", e->lanes, numbers, e->lanes);
    uint32_t id = emit_gather(e, type, pointers_to(e, memory, wide, vyre_type_bytes(stored)), mask);
    emit_spare(e, stored, e->lanes, memory);
    return id;
}

static void scatter(emit *e, vyre_type type, uint32_t value, uint32_t pointers, uint32_t mask) {
    vyre_type stored = emit_stored_type(type);
    cpu_type_text text = cpu_type(stored, e->lanes), suffix = emit_suffix(stored, e->lanes);
    cpu_write_declare(&e->w,
                      "declare void @llvm.masked.scatter.%s.v%up0(%s, <%u x ptr>, i32, <%u x i1>)",
                      suffix.text, e->lanes, text.text, e->lanes, e->lanes);
    emit_line(e,
              "call void @llvm.masked.scatter.%s.v%up0(%s %%t%u, <%u x ptr> %%t%u, i32 %u, <%u x "
              "i1> %%t%u)%s",
              suffix.text, e->lanes, text.text, emit_to_memory(e, type, e->lanes, value), e->lanes,
              pointers, vyre_type_bytes(stored), e->lanes, mask, emit_alias(e).text);
}

static void store_masked(emit *e, vyre_type type, uint32_t value, uint32_t pointer, uint32_t mask) {
    vyre_type stored = emit_stored_type(type);
    cpu_type_text text = cpu_type(stored, e->lanes), suffix = emit_suffix(stored, e->lanes);
    cpu_write_declare(&e->w, "declare void @llvm.masked.store.%s.p0(%s, ptr, i32, <%u x i1>)",
                      suffix.text, text.text, e->lanes);
    emit_line(e,
              "call void @llvm.masked.store.%s.p0(%s %%t%u, ptr %%t%u, i32 %u, <%u x i1> %%t%u)%s",
              suffix.text, text.text, emit_to_memory(e, type, e->lanes, value), pointer,
              vyre_type_bytes(stored), e->lanes, mask, emit_alias(e).text);
}

static uint32_t load_masked(emit *e, vyre_type type, uint32_t pointer, uint32_t mask) {
    vyre_type stored = emit_stored_type(type);
    cpu_type_text text = cpu_type(stored, e->lanes), suffix = emit_suffix(stored, e->lanes);
    uint32_t zeros = cpu_write_const(&e->w, stored, e->lanes, 0);
    cpu_write_declare(&e->w, "declare %s @llvm.masked.load.%s.p0(ptr, i32, <%u x i1>, %s)",
                      text.text, suffix.text, e->lanes, text.text);
    uint32_t id = emit_put(e,
                           "call %s @llvm.masked.load.%s.p0(ptr %%t%u, i32 %u, <%u x i1> %%t%u, %s "
                           "%%t%u)%s",
                           text.text, suffix.text, pointer, vyre_type_bytes(stored), e->lanes, mask,
                           text.text, zeros, emit_alias(e).text);
    return emit_from_memory(e, type, e->lanes, id);
}

/* Indices of all lanes in 64 bits; of private arrays, with the lane in it. */
uint32_t emit_lane_pointers(emit *e, uint32_t resource, uint32_t wide) {
    uint32_t start = emit_array_start(e, resource), bytes = emit_element_bytes(e, resource);
    if (e->ir->resources[resource].kind != VYRE_RESOURCE_PRIVATE) {
        return pointers_to(e, start, wide, bytes);
    }
    uint32_t by = cpu_write_const(&e->w, VYRE_TYPE_U64, e->lanes, e->lanes);
    uint32_t numbers = cpu_write_lane_numbers(&e->w, e->lanes);
    uint32_t scaled = emit_put(e, "mul <%u x i64> %%t%u, %%t%u", e->lanes, wide, by);
    uint32_t lanes =
        emit_put(e, "zext <%u x i32> %%t%u to <%u x i64>", e->lanes, numbers, e->lanes);
    uint32_t sum = emit_put(e, "add <%u x i64> %%t%u, %%t%u", e->lanes, scaled, lanes);
    return pointers_to(e, start, sum, bytes);
}

uint32_t emit_one_index(emit *e, uint32_t index) {
    return emit_widen(e, vyre_operand_type(e->ir, index), 1, emit_scalar(e, index));
}

uint32_t emit_lane_indices(emit *e, uint32_t index) {
    return emit_widen(e, vyre_operand_type(e->ir, index), e->lanes, emit_vector(e, index));
}

uint32_t emit_load_lanes(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i);
    uint32_t wide = emit_lane_indices(e, vyre_access_index(e->ir, i));
    return emit_gather(e, emit_element_type(e, resource), emit_lane_pointers(e, resource, wide),
                       emit_inside_mask(e, inst, wide));
}

/* Lanes that lie side by side. */
static uint32_t load_row(emit *e, uint32_t inst, const emit_span *span) {
    vyre_type type = vyre_resource_type(vyre_access_array(e->ir, &e->ir->insts[inst]));
    if (span->masked) {
        return load_masked(e, type, span->pointer, e->mask);
    }
    if (!span->inside) {
        return emit_load_at(e, type, e->lanes, span->pointer);
    }
    uint32_t slot = emit_variable(e, type, e->lanes);
    uint32_t row = emit_label(e), lanes = emit_label(e), behind = emit_label(e);
    emit_branch(e, span->inside, row, lanes);
    emit_start(e, row);
    emit_assign(e, type, e->lanes, slot, emit_load_at(e, type, e->lanes, span->pointer));
    emit_jump(e, behind);
    emit_start(e, lanes);
    emit_assign(e, type, e->lanes, slot, emit_load_lanes(e, inst));
    emit_start(e, behind);
    return emit_read(e, type, e->lanes, slot);
}

static void emit_load(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    const vyre_resource *array = vyre_access_array(e->ir, i);
    uint32_t index = vyre_access_index(e->ir, i);
    vyre_type type = vyre_resource_type(array);
    bool is_private = array->kind == VYRE_RESOURCE_PRIVATE;
    emit_span span;
    if (!cpu_varies(&e->facts, index)) {
        uint32_t wide = emit_one_index(e, index);
        uint64_t bytes = (uint64_t)vyre_resource_stride(e->ir, array) * (is_private ? e->lanes : 1);
        uint32_t at = element_pointer(e, inst, vyre_access_resource(i), wide, bytes);
        emit_define(e, inst, emit_load_at(e, type, is_private ? e->lanes : 1, at));
    } else if (is_private || vyre_resource_is_field(array) ||
               emit_stride_of(e, index).stride != 1 || !emit_find_span(e, inst, 0, 1, &span)) {
        if (!emit_load_span(e, inst)) {
            emit_define(e, inst, emit_load_lanes(e, inst));
        }
    } else {
        emit_define(e, inst, load_row(e, inst, &span));
    }
}

void emit_store_lanes(emit *e, uint32_t inst, uint32_t value) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i);
    uint32_t wide = emit_lane_indices(e, vyre_access_index(e->ir, i));
    scatter(e, emit_element_type(e, resource), value, emit_lane_pointers(e, resource, wide),
            emit_inside_mask(e, inst, wide));
}

/* A private element at the same index in all lanes. */
static void store_private(emit *e, uint32_t inst, uint32_t value) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i);
    vyre_type type = emit_element_type(e, resource);
    uint32_t wide = emit_one_index(e, vyre_access_index(e->ir, i)), behind = 0;
    if (!emit_is_inside(e, inst)) {
        uint32_t write = emit_label(e);
        behind = emit_label(e);
        emit_branch(e, emit_inside(e, wide, e->lengths[resource], 1), write, behind);
        emit_start(e, write);
    }
    uint32_t at = emit_pointer_to(e, emit_array_start(e, resource), wide,
                                  (uint64_t)vyre_type_bytes(type) * e->lanes);
    uint32_t blended = emit_pick(e, type, e->mask, value, emit_load_at(e, type, e->lanes, at));
    emit_store_at(e, type, e->lanes, at, blended);
    if (behind) {
        emit_start(e, behind);
    }
}

void emit_store_spaced(emit *e, vyre_type type, uint32_t value, const emit_span *span,
                       uint64_t offset) {
    for (uint32_t lane = 0; lane < e->lanes; lane++) {
        uint32_t at = emit_offset(e, span->pointer, span->distance * lane + offset);
        uint32_t one = emit_put(e, "extractelement %s %%t%u, i64 %u", cpu_type(type, e->lanes).text,
                                value, lane);
        emit_store_at(e, type, 1, at, one);
    }
}

static void emit_store(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    const vyre_resource *array = vyre_access_array(e->ir, i);
    vyre_type type = vyre_resource_type(array);
    bool is_private = array->kind == VYRE_RESOURCE_PRIVATE;
    emit_span span;
    if (emit_store_span(e, inst)) {
        return;
    }
    uint32_t value = emit_vector(e, vyre_access_value(e->ir, i));
    if (is_private && !cpu_varies(&e->facts, vyre_access_index(e->ir, i))) {
        store_private(e, inst, value);
        return;
    }
    if (is_private || !emit_find_span(e, inst, 0, 1, &span)) {
        emit_store_lanes(e, inst, value);
        return;
    }
    bool is_row = span.distance == vyre_type_bytes(type);
    if (!span.inside && is_row) {
        store_masked(e, type, value, span.pointer, e->mask);
        return;
    }
    uint32_t inside = span.inside;
    if (!is_row) {
        inside = emit_all(e, e->mask);
        if (span.inside) {
            inside = emit_put(e, "and i1 %%t%u, %%t%u", inside, span.inside);
        }
    }
    uint32_t row = emit_label(e), lanes = emit_label(e), behind = emit_label(e);
    emit_branch(e, inside, row, lanes);
    emit_start(e, row);
    if (is_row) {
        store_masked(e, type, value, span.pointer, e->mask);
    } else {
        emit_store_spaced(e, type, value, &span, 0);
    }
    emit_jump(e, behind);
    emit_start(e, lanes);
    emit_store_lanes(e, inst, value);
    emit_start(e, behind);
}

/* A private array to zero, in the lanes that run. */
static void emit_clear(emit *e, uint32_t resource) {
    const vyre_resource *row = &e->ir->resources[resource];
    vyre_type type = vyre_resource_type(row);
    if (e->scalar) {
        emit_zeros(e, emit_array_start(e, resource), vyre_resource_bytes(row));
        return;
    }
    uint32_t at = emit_variable(e, VYRE_TYPE_U64, 1), head = emit_label(e), inside = emit_label(e);
    uint32_t behind = emit_label(e);
    uint32_t start = emit_array_start(e, resource);
    emit_line(e, "store i64 0, ptr %%t%u", at);
    emit_start(e, head);
    uint32_t index = emit_put(e, "load i64, ptr %%t%u", at);
    uint32_t more = emit_put(e, "icmp ult i64 %%t%u, %u", index, row->length);
    emit_branch(e, more, inside, behind);
    emit_start(e, inside);
    uint32_t pointer = emit_pointer_to(e, start, index, (uint64_t)vyre_type_bytes(type) * e->lanes);
    uint32_t zeros = cpu_write_const(&e->w, type, e->lanes, 0);
    uint32_t blended = emit_pick(e, type, e->mask, zeros, emit_load_at(e, type, e->lanes, pointer));
    emit_store_at(e, type, e->lanes, pointer, blended);
    uint32_t next = emit_put(e, "add i64 %%t%u, 1", index);
    emit_line(e, "store i64 %%t%u, ptr %%t%u", next, at);
    emit_jump(e, head);
    emit_start(e, behind);
}

/* Jumps behind the access past the end, with a zero in the slot if there is one. Nothing in
 * assembly keeps that zero out of the way of those who are inside. */
static void check_element(emit *e, uint32_t resource, uint32_t wide, uint32_t slot,
                          uint32_t behind) {
    uint32_t inside = emit_label(e), outside = slot ? emit_label(e) : behind;
    vyre_type type = emit_element_type(e, resource);
    emit_likely_branch(e, emit_inside(e, wide, e->lengths[resource], 1), inside, outside);
    if (slot) {
        emit_start(e, outside);
        emit_line(e, "call void asm sideeffect \"\", \"\"()");
        emit_assign(e, type, 1, slot, cpu_write_const(&e->w, type, 1, 0));
        emit_jump(e, behind);
    }
    emit_start(e, inside);
}

/* The same without a branch: past the end a load goes to zeros, a store to a place that nobody
 * reads. LLVM takes time by the square of the blocks of a function. */
static void emit_straight_element(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i), index = vyre_access_index(e->ir, i);
    vyre_type type = emit_element_type(e, resource);
    uint32_t wide = emit_widen(e, vyre_operand_type(e->ir, index), 1, emit_operand(e, index));
    if (i->op == VYRE_OP_LOAD) {
        uint32_t at = element_pointer(e, inst, resource, wide, emit_element_bytes(e, resource));
        emit_define(e, inst, emit_load_at(e, type, 1, at));
        return;
    }
    uint32_t value = emit_operand(e, vyre_access_value(e->ir, i));
    uint32_t at =
        emit_pointer_to(e, emit_array_start(e, resource), wide, emit_element_bytes(e, resource));
    if (!emit_is_inside(e, inst)) {
        uint32_t inside = emit_inside(e, wide, e->lengths[resource], 1);
        e->sink = e->sink ? e->sink : emit_variable(e, VYRE_TYPE_U64, 1);
        at = emit_put(e, "select i1 %%t%u, ptr %%t%u, ptr %%t%u", inside, at, e->sink);
    }
    emit_store_at(e, type, 1, at, value);
}

/* Whether a store advances a cursor: it adds a constant to the element that a load returned. */
static bool moves_cursor(const emit *e, const vyre_inst *store, uint32_t cursor) {
    const vyre_inst *insts = e->ir->insts, *load = &insts[cursor];
    if (store->op != VYRE_OP_STORE || vyre_access_resource(store) != vyre_access_resource(load) ||
        vyre_access_index(e->ir, store) != vyre_access_index(e->ir, load)) {
        return false;
    }
    uint32_t moved = vyre_access_value(e->ir, store);
    if (!vyre_operand_is_value(moved) || insts[moved].op != VYRE_OP_ADD) {
        return false;
    }
    vyre_list terms = vyre_inst_operands(e->ir, &insts[moved]);
    return terms.items[0] == cursor && vyre_operand_is_constant(terms.items[1]);
}

/* Whether a store appends to one of many lists: its index is a cursor from a table of the
 * invocation or workgroup, and the next instructions advance that cursor. */
static bool is_append(const emit *e, uint32_t inst) {
    enum { NEAR = 16 };
    const vyre_inst *insts = e->ir->insts;
    uint32_t cursor = vyre_access_index(e->ir, &insts[inst]);
    if (!vyre_operand_is_value(cursor) || insts[cursor].op != VYRE_OP_LOAD ||
        vyre_resource_is_global(vyre_access_array(e->ir, &insts[cursor])) ||
        !vyre_resource_is_global(vyre_access_array(e->ir, &insts[inst]))) {
        return false;
    }
    uint32_t k = cursor + 1, end = e->phase->end - k > NEAR ? k + NEAR : e->phase->end;
    while (k < end && !moves_cursor(e, &insts[k], cursor)) {
        k++;
    }
    return k < end;
}

/* Prefetches the next cache line of a list shortly before a store reaches it. Hardware follows few
 * lists at a time, and stores to the others would wait for memory one by one. An earlier prefetch
 * would keep two lines of each list in the nearest cache. A prefetch past the end is harmless. */
static void prefetch_ahead(emit *e, uint32_t pointer) {
    enum { AHEAD_BYTES = 16 };
    cpu_write_declare(&e->w, "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)");
    emit_line(e, "call void @llvm.prefetch.p0(ptr %%t%u, i32 1, i32 3, i32 1)",
              emit_offset(e, pointer, AHEAD_BYTES));
}

/* Scalars: one element, behind a branch, which costs nothing while it is foreseen. */
static void emit_element(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i), index = vyre_access_index(e->ir, i);
    uint32_t taken = vyre_access_value(e->ir, i), desired = vyre_access_desired(e->ir, i);
    bool gives = vyre_inst_effects(i) & VYRE_EFFECT_READ;
    vyre_type type = emit_element_type(e, resource);
    uint32_t wide = emit_widen(e, vyre_operand_type(e->ir, index), 1, emit_operand(e, index));
    uint32_t value = taken == VYRE_NONE ? 0 : emit_operand(e, taken);
    uint32_t other = desired == VYRE_NONE ? 0 : emit_operand(e, desired);
    uint32_t slot = gives ? emit_variable(e, type, 1) : 0, behind = emit_label(e);
    if (!emit_is_inside(e, inst)) {
        check_element(e, resource, wide, slot, behind);
    }
    uint32_t at = emit_pointer_to(e, emit_array_start(e, resource), wide,
                                  emit_element_bytes(e, resource)),
             old = 0;
    if (i->op == VYRE_OP_LOAD) {
        old = emit_load_at(e, type, 1, at);
    } else if (i->op == VYRE_OP_STORE) {
        emit_store_at(e, type, 1, at, value);
        if (is_append(e, inst)) {
            prefetch_ahead(e, at);
        }
    } else {
        old = emit_atomic_at(e, i, type, at, value, other);
    }
    if (gives) {
        emit_assign(e, type, 1, slot, old);
    }
    emit_start(e, behind);
    if (gives) {
        emit_define(e, inst, emit_read(e, type, 1, slot));
    }
}

emit_alias_text emit_alias(const emit *e) {
    emit_alias_text alias = {""};
    uint32_t count = e->ir->resource_count;
    if (e->touched != VYRE_NONE && count <= EMIT_MOST_SCOPES) {
        /* Fields of a record may be accessed together. */
        const vyre_resource *row = &e->ir->resources[e->touched];
        uint32_t list = 2 + count + (vyre_resource_is_field(row) ? row->size : e->touched);
        snprintf(alias.text, sizeof alias.text, ", !alias.scope !%u, !noalias !%u", list,
                 list + count);
    }
    return alias;
}

static void emit_access(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    bool is_element = i->op == VYRE_OP_LOAD || i->op == VYRE_OP_STORE;
    if (e->scalar && i->op != VYRE_OP_CLEAR) {
        (e->is_plain && is_element ? emit_straight_element : emit_element)(e, inst);
        return;
    }
    switch (vyre_inst_op(i)) {
    case VYRE_OP_LOAD: emit_load(e, inst); return;
    case VYRE_OP_STORE: emit_store(e, inst); return;
    case VYRE_OP_CLEAR: emit_clear(e, vyre_access_resource(i)); return;
    case VYRE_ANY_OF(ATOMIC): emit_atomic(e, inst); return;
    case VYRE_OP_UNIFORM_LOAD: /* is for the workgroup, between regions */
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    emit_unknown(e, inst);
}

void emit_memory(emit *e, uint32_t inst) {
    uint8_t *loaded = &e->loaded[inst - e->phase->first];
    if (!*loaded) {
        e->touched = vyre_access_resource(&e->ir->insts[inst]);
        emit_access(e, inst);
        e->touched = VYRE_NONE;
    }
    *loaded = false;
}
