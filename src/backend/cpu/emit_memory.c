/* Arrays. An index is compared with the length as the number it is; past the end loads give 0 and
 * stores do nothing. Lanes that touch neighbouring elements become one access of a vector, if all
 * of them lie inside; else each lane goes by itself. */
#include <stdio.h>

#include "backend/cpu/emit_state.h"

enum { UNROLLED_LANES = 32 };

static vyre_type element_type(const emit *e, uint32_t resource) {
    return (vyre_type)e->ir->resources[resource].type;
}

/* The name that intrinsics have for a vector type. */
static cpu_type_text suffix_of(vyre_type type, uint32_t lanes) {
    cpu_type_text text;
    bool is_float = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
    snprintf(text.text, sizeof text.text, "v%u%c%u", lanes, is_float ? 'f' : 'i',
             vyre_type_bytes(type) * 8);
    return text;
}

static uint32_t widen(emit *e, vyre_type type, uint32_t lanes, uint32_t index) {
    if (vyre_type_bytes(type) == 8) {
        return index;
    }
    bool is_signed = vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
    return cpu_write_op(&e->w, VYRE_OP_CONVERT, type, is_signed ? VYRE_TYPE_I64 : VYRE_TYPE_U64,
                        lanes, index, 0, 0);
}

/* Start of an array; of a private one, that of the chunk at hand. */
static uint32_t array_start(emit *e, uint32_t resource) {
    const vyre_resource *row = &e->ir->resources[resource];
    bool is_private = row->kind == VYRE_RESOURCE_PRIVATE;
    uint64_t bytes = (uint64_t)row->length * vyre_type_bytes((vyre_type)row->type), before = 0;
    if (is_private && e->scalar) { /* of scalars, each has its own behind the last one's */
        before = bytes * e->first_lane;
    }
    if (!e->arrays[resource]) {
        return emit_storage_at(e, e->array_offsets[resource] + before,
                               is_private ? bytes * e->facts.lanes : 0);
    }
    uint32_t id = e->arrays[resource];
    if (before) {
        id = emit_new(e);
        emit_line(e, "%%t%u = getelementptr i8, ptr %%t%u, i64 %llu", id, e->arrays[resource],
                  (unsigned long long)before);
    }
    return id;
}

static uint32_t pointer_to(emit *e, uint32_t start, uint32_t index, uint64_t bytes) {
    uint32_t scaled = emit_new(e), id = emit_new(e);
    emit_line(e, "%%t%u = mul i64 %%t%u, %llu", scaled, index, (unsigned long long)bytes);
    emit_line(e, "%%t%u = getelementptr i8, ptr %%t%u, i64 %%t%u", id, start, scaled);
    return id;
}

static uint32_t pointers_to(emit *e, uint32_t start, uint32_t index, uint64_t bytes) {
    uint32_t by = cpu_write_const(&e->w, VYRE_TYPE_U64, e->lanes, bytes);
    uint32_t scaled = emit_new(e), id = emit_new(e);
    emit_line(e, "%%t%u = mul <%u x i64> %%t%u, %%t%u", scaled, e->lanes, index, by);
    emit_line(e, "%%t%u = getelementptr i8, ptr %%t%u, <%u x i64> %%t%u", id, start, e->lanes,
              scaled);
    return id;
}

static uint32_t is_inside(emit *e, uint32_t index, uint32_t length, uint32_t lanes) {
    uint32_t most = lanes > 1 ? cpu_write_splat(&e->w, VYRE_TYPE_U64, lanes, length) : length;
    uint32_t id = emit_new(e);
    emit_line(e, "%%t%u = icmp ult %s %%t%u, %%t%u", id, cpu_type(VYRE_TYPE_U64, lanes).text, index,
              most);
    return id;
}

/* The pointer, or one to zeros. */
static uint32_t safe_pointer(emit *e, uint32_t inside, uint32_t pointer) {
    uint32_t id = emit_new(e);
    emit_line(e, "%%t%u = select i1 %%t%u, ptr %%t%u, ptr @zeros", id, inside, pointer);
    return id;
}

/* An element that all lanes ask for. */
uint32_t emit_load_uniform(emit *e, uint32_t resource, uint32_t index, vyre_type index_type) {
    vyre_type type = element_type(e, resource);
    uint32_t wide = widen(e, index_type, 1, index);
    uint32_t inside = is_inside(e, wide, e->lengths[resource], 1);
    uint32_t at = pointer_to(e, array_start(e, resource), wide, vyre_type_bytes(type));
    return emit_load_at(e, type, 1, safe_pointer(e, inside, at));
}

static uint32_t gather(emit *e, vyre_type type, uint32_t pointers, uint32_t mask) {
    vyre_type stored = emit_stored_type(type);
    cpu_type_text text = cpu_type(stored, e->lanes), suffix = suffix_of(stored, e->lanes);
    uint32_t zeros = cpu_write_const(&e->w, stored, e->lanes, 0), id = emit_new(e);
    char declaration[256];
    snprintf(declaration, sizeof declaration,
             "declare %s @llvm.masked.gather.%s.v%up0(<%u x ptr>, i32, <%u x i1>, %s)", text.text,
             suffix.text, e->lanes, e->lanes, e->lanes, text.text);
    cpu_write_declare(&e->w, declaration);
    emit_line(e,
              "%%t%u = call %s @llvm.masked.gather.%s.v%up0(<%u x ptr> %%t%u, i32 %u, <%u x i1> "
              "%%t%u, %s %%t%u)",
              id, text.text, suffix.text, e->lanes, e->lanes, pointers, vyre_type_bytes(stored),
              e->lanes, mask, text.text, zeros);
    return emit_from_memory(e, type, e->lanes, id);
}

uint32_t emit_gather_lanes(emit *e, vyre_type type, uint32_t vector, uint32_t numbers,
                           uint32_t mask) {
    vyre_type stored = emit_stored_type(type);
    uint32_t memory = emit_variable(e, stored, e->lanes), wide = emit_new(e);
    emit_assign(e, stored, e->lanes, memory, emit_to_memory(e, type, e->lanes, vector));
    emit_line(e, "%%t%u = zext <%u x i32> %%t%u to <%u x i64>", wide, e->lanes, numbers, e->lanes);
    return gather(e, type, pointers_to(e, memory, wide, vyre_type_bytes(stored)), mask);
}

static void scatter(emit *e, vyre_type type, uint32_t value, uint32_t pointers, uint32_t mask) {
    vyre_type stored = emit_stored_type(type);
    cpu_type_text text = cpu_type(stored, e->lanes), suffix = suffix_of(stored, e->lanes);
    char declaration[256];
    snprintf(declaration, sizeof declaration,
             "declare void @llvm.masked.scatter.%s.v%up0(%s, <%u x ptr>, i32, <%u x i1>)",
             suffix.text, e->lanes, text.text, e->lanes, e->lanes);
    cpu_write_declare(&e->w, declaration);
    emit_line(e,
              "call void @llvm.masked.scatter.%s.v%up0(%s %%t%u, <%u x ptr> %%t%u, i32 %u, <%u x "
              "i1> %%t%u)",
              suffix.text, e->lanes, text.text, emit_to_memory(e, type, e->lanes, value), e->lanes,
              pointers, vyre_type_bytes(stored), e->lanes, mask);
}

static void store_masked(emit *e, vyre_type type, uint32_t value, uint32_t pointer, uint32_t mask) {
    vyre_type stored = emit_stored_type(type);
    cpu_type_text text = cpu_type(stored, e->lanes), suffix = suffix_of(stored, e->lanes);
    char declaration[256];
    snprintf(declaration, sizeof declaration,
             "declare void @llvm.masked.store.%s.p0(%s, ptr, i32, <%u x i1>)", suffix.text,
             text.text, e->lanes);
    cpu_write_declare(&e->w, declaration);
    emit_line(e, "call void @llvm.masked.store.%s.p0(%s %%t%u, ptr %%t%u, i32 %u, <%u x i1> %%t%u)",
              suffix.text, text.text, emit_to_memory(e, type, e->lanes, value), pointer,
              vyre_type_bytes(stored), e->lanes, mask);
}

/* Indices of all lanes in 64 bits; of private arrays, with the lane in it. */
static uint32_t lane_pointers(emit *e, uint32_t resource, uint32_t wide) {
    uint32_t start = array_start(e, resource), bytes = vyre_type_bytes(element_type(e, resource));
    if (e->ir->resources[resource].kind != VYRE_RESOURCE_PRIVATE) {
        return pointers_to(e, start, wide, bytes);
    }
    uint32_t by = cpu_write_const(&e->w, VYRE_TYPE_U64, e->lanes, e->lanes), scaled = emit_new(e);
    uint32_t numbers = cpu_write_lane_numbers(&e->w, e->lanes), lanes = emit_new(e),
             sum = emit_new(e);
    emit_line(e, "%%t%u = mul <%u x i64> %%t%u, %%t%u", scaled, e->lanes, wide, by);
    emit_line(e, "%%t%u = zext <%u x i32> %%t%u to <%u x i64>", lanes, e->lanes, numbers, e->lanes);
    emit_line(e, "%%t%u = add <%u x i64> %%t%u, %%t%u", sum, e->lanes, scaled, lanes);
    return pointers_to(e, start, sum, bytes);
}

/* Whether the index grows by 1 from lane to lane, and how to see that all lanes are inside; gives
 * the pointer to the element of lane 0 and the condition. */
static bool find_row(emit *e, uint32_t resource, uint32_t index, uint32_t *out_pointer,
                     uint32_t *out_inside) {
    bool no_wrap;
    uint32_t base = emit_base(e, index, &no_wrap);
    vyre_type type = vyre_operand_type(e->ir, index);
    bool wide_enough = type == VYRE_TYPE_U32 || type == VYRE_TYPE_U64 || type == VYRE_TYPE_I64 ||
                       type == VYRE_TYPE_I32;
    if (!base || !wide_enough || e->ir->resources[resource].kind == VYRE_RESOURCE_PRIVATE) {
        return false;
    }
    uint32_t length = e->lengths[resource], first = widen(e, type, 1, base);
    if (type == VYRE_TYPE_I32) { /* beyond, an index would turn negative */
        uint32_t less = emit_new(e), cut = emit_new(e);
        emit_line(e, "%%t%u = icmp ult i64 %%t%u, 2147483648", less, length);
        emit_line(e, "%%t%u = select i1 %%t%u, i64 %%t%u, i64 2147483648", cut, less, length);
        length = cut;
    }
    uint32_t room = emit_new(e), last = emit_new(e), before = emit_new(e), id = emit_new(e);
    emit_line(e, "%%t%u = icmp uge i64 %%t%u, %u", room, length, e->lanes);
    emit_line(e, "%%t%u = sub i64 %%t%u, %u", last, length, e->lanes);
    emit_line(e, "%%t%u = icmp ule i64 %%t%u, %%t%u", before, first, last);
    emit_line(e, "%%t%u = and i1 %%t%u, %%t%u", id, room, before);
    *out_inside = id;
    *out_pointer =
        pointer_to(e, array_start(e, resource), first, vyre_type_bytes(element_type(e, resource)));
    return true;
}

static uint32_t load_lanes(emit *e, uint32_t resource, uint32_t index) {
    uint32_t wide = widen(e, vyre_operand_type(e->ir, index), e->lanes, emit_vector(e, index));
    uint32_t inside = is_inside(e, wide, e->lengths[resource], e->lanes);
    return gather(e, element_type(e, resource), lane_pointers(e, resource, wide),
                  emit_and(e, e->mask, inside));
}

static void emit_load(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = element_type(e, i->a), index_type = vyre_operand_type(e->ir, i->b);
    bool is_private = e->ir->resources[i->a].kind == VYRE_RESOURCE_PRIVATE;
    uint32_t pointer, inside;
    if (!cpu_varies(&e->facts, i->b)) {
        uint32_t index = emit_scalar(e, i->b);
        if (!is_private) {
            emit_define(e, inst, emit_load_uniform(e, i->a, index, index_type));
            return;
        }
        uint32_t wide = widen(e, index_type, 1, index);
        inside = is_inside(e, wide, e->lengths[i->a], 1);
        pointer =
            pointer_to(e, array_start(e, i->a), wide, (uint64_t)vyre_type_bytes(type) * e->lanes);
        emit_define(e, inst, emit_load_at(e, type, e->lanes, safe_pointer(e, inside, pointer)));
        return;
    }
    if (!find_row(e, i->a, i->b, &pointer, &inside)) {
        emit_define(e, inst, load_lanes(e, i->a, i->b));
        return;
    }
    uint32_t slot = emit_variable(e, type, e->lanes);
    uint32_t row = emit_label(e), lanes = emit_label(e), behind = emit_label(e);
    emit_branch(e, inside, row, lanes);
    emit_start(e, row);
    emit_assign(e, type, e->lanes, slot, emit_load_at(e, type, e->lanes, pointer));
    emit_jump(e, behind);
    emit_start(e, lanes);
    emit_assign(e, type, e->lanes, slot, load_lanes(e, i->a, i->b));
    emit_start(e, behind);
    emit_define(e, inst, emit_read(e, type, e->lanes, slot));
}

static void store_lanes(emit *e, uint32_t resource, uint32_t index, uint32_t value) {
    uint32_t wide = widen(e, vyre_operand_type(e->ir, index), e->lanes, emit_vector(e, index));
    uint32_t inside = is_inside(e, wide, e->lengths[resource], e->lanes);
    scatter(e, element_type(e, resource), value, lane_pointers(e, resource, wide),
            emit_and(e, e->mask, inside));
}

/* A private element at the same index in all lanes. */
static void store_private(emit *e, uint32_t resource, uint32_t index, uint32_t value) {
    vyre_type type = element_type(e, resource);
    uint32_t wide = widen(e, vyre_operand_type(e->ir, index), 1, emit_scalar(e, index));
    uint32_t inside = is_inside(e, wide, e->lengths[resource], 1);
    uint32_t write = emit_label(e), behind = emit_label(e);
    emit_branch(e, inside, write, behind);
    emit_start(e, write);
    uint32_t at =
        pointer_to(e, array_start(e, resource), wide, (uint64_t)vyre_type_bytes(type) * e->lanes);
    uint32_t blended = emit_pick(e, type, e->mask, value, emit_load_at(e, type, e->lanes, at));
    emit_store_at(e, type, e->lanes, at, blended);
    emit_start(e, behind);
}

static void emit_store(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = element_type(e, i->a);
    bool is_private = e->ir->resources[i->a].kind == VYRE_RESOURCE_PRIVATE;
    uint32_t value = emit_vector(e, i->c), pointer, inside;
    if (is_private && !cpu_varies(&e->facts, i->b)) {
        store_private(e, i->a, i->b, value);
        return;
    }
    if (!find_row(e, i->a, i->b, &pointer, &inside)) {
        store_lanes(e, i->a, i->b, value);
        return;
    }
    uint32_t row = emit_label(e), lanes = emit_label(e), behind = emit_label(e);
    emit_branch(e, inside, row, lanes);
    emit_start(e, row);
    store_masked(e, type, value, pointer, e->mask);
    emit_jump(e, behind);
    emit_start(e, lanes);
    store_lanes(e, i->a, i->b, value);
    emit_start(e, behind);
}

/* A private array to zero, in the lanes that run. */
void emit_clear(emit *e, uint32_t resource) {
    const vyre_resource *row = &e->ir->resources[resource];
    vyre_type type = (vyre_type)row->type;
    if (e->scalar) {
        emit_zeros(e, array_start(e, resource), (uint64_t)row->length * vyre_type_bytes(type));
        return;
    }
    uint32_t at = emit_variable(e, VYRE_TYPE_U64, 1), head = emit_label(e), inside = emit_label(e);
    uint32_t behind = emit_label(e), index = emit_new(e), more = emit_new(e), next = emit_new(e);
    uint32_t start = array_start(e, resource);
    emit_line(e, "store i64 0, ptr %%t%u", at);
    emit_start(e, head);
    emit_line(e, "%%t%u = load i64, ptr %%t%u", index, at);
    emit_line(e, "%%t%u = icmp ult i64 %%t%u, %u", more, index, row->length);
    emit_branch(e, more, inside, behind);
    emit_start(e, inside);
    uint32_t pointer = pointer_to(e, start, index, (uint64_t)vyre_type_bytes(type) * e->lanes);
    uint32_t zeros = cpu_write_const(&e->w, type, e->lanes, 0);
    uint32_t blended = emit_pick(e, type, e->mask, zeros, emit_load_at(e, type, e->lanes, pointer));
    emit_store_at(e, type, e->lanes, pointer, blended);
    emit_line(e, "%%t%u = add i64 %%t%u, 1", next, index);
    emit_line(e, "store i64 %%t%u, ptr %%t%u", next, at);
    emit_jump(e, head);
    emit_start(e, behind);
}

/* Atomics */

static const char *ordering_name(uint32_t ordering) {
    static const char *const names[] = {"monotonic", "acquire", "release", "acq_rel", "seq_cst"};
    return names[ordering];
}

static const char *failure_ordering(uint32_t ordering) {
    static const char *const names[] = {"monotonic", "acquire", "monotonic", "acquire", "seq_cst"};
    return names[ordering];
}

static const char *update_name(uint32_t op, vyre_type type) {
    bool is_signed = vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
    switch (op) {
    case VYRE_OP_ATOMIC_ADD: return "add";
    case VYRE_OP_ATOMIC_SUB: return "sub";
    case VYRE_OP_ATOMIC_AND: return "and";
    case VYRE_OP_ATOMIC_OR: return "or";
    case VYRE_OP_ATOMIC_XOR: return "xor";
    case VYRE_OP_ATOMIC_MIN: return is_signed ? "min" : "umin";
    case VYRE_OP_ATOMIC_MAX: return is_signed ? "max" : "umax";
    default: return "xchg";
    }
}

/* The same in a shared array: a workgroup is one thread, so nobody comes in between. */
static uint32_t update_at(emit *e, const vyre_inst *i, vyre_type type, uint32_t pointer,
                          uint32_t value, uint32_t other) {
    static const struct {
        uint32_t atomic;
        vyre_op plain;
    } rows[] = {
        {VYRE_OP_ATOMIC_ADD, VYRE_OP_ADD}, {VYRE_OP_ATOMIC_SUB, VYRE_OP_SUB},
        {VYRE_OP_ATOMIC_AND, VYRE_OP_AND}, {VYRE_OP_ATOMIC_OR, VYRE_OP_OR},
        {VYRE_OP_ATOMIC_XOR, VYRE_OP_XOR}, {VYRE_OP_ATOMIC_MIN, VYRE_OP_MIN},
        {VYRE_OP_ATOMIC_MAX, VYRE_OP_MAX},
    };
    uint32_t old = 0, next = value;
    if (i->op != VYRE_OP_ATOMIC_STORE) {
        old = emit_load_at(e, type, 1, pointer);
    }
    if (i->op == VYRE_OP_ATOMIC_LOAD) {
        return old;
    }
    if (i->op == VYRE_OP_ATOMIC_CAS) {
        uint32_t same = cpu_write_op(&e->w, VYRE_OP_EQ, type, VYRE_TYPE_BOOL, 1, old, value, 0);
        next = cpu_write_op(&e->w, VYRE_OP_SELECT, type, type, 1, same, other, old);
    }
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (rows[k].atomic == i->op) {
            next = cpu_write_op(&e->w, rows[k].plain, type, type, 1, old, value, 0);
        }
    }
    emit_store_at(e, type, 1, pointer, next);
    return old;
}

/* One atomic access; gives the value before. */
static uint32_t atomic_at(emit *e, const vyre_inst *i, vyre_type type, uint32_t pointer,
                          uint32_t value, uint32_t other) {
    cpu_type_text text = cpu_type(type, 1);
    uint32_t ordering = i->aux & 7, bytes = vyre_type_bytes(type), id = emit_new(e);
    if (e->ir->resources[i->a].kind == VYRE_RESOURCE_SHARED) {
        return update_at(e, i, type, pointer, value, other);
    }
    switch (i->op) {
    case VYRE_OP_ATOMIC_LOAD:
        emit_line(e, "%%t%u = load atomic %s, ptr %%t%u %s, align %u", id, text.text, pointer,
                  ordering_name(ordering), bytes);
        return id;
    case VYRE_OP_ATOMIC_STORE:
        emit_line(e, "store atomic %s %%t%u, ptr %%t%u %s, align %u", text.text, value, pointer,
                  ordering_name(ordering), bytes);
        return 0;
    case VYRE_OP_ATOMIC_CAS: {
        uint32_t pair = emit_new(e);
        emit_line(e, "%%t%u = cmpxchg ptr %%t%u, %s %%t%u, %s %%t%u %s %s, align %u", pair, pointer,
                  text.text, value, text.text, other, ordering_name(ordering),
                  failure_ordering(ordering), bytes);
        emit_line(e, "%%t%u = extractvalue { %s, i1 } %%t%u, 0", id, text.text, pair);
        return id;
    }
    default:
        emit_line(e, "%%t%u = atomicrmw %s ptr %%t%u, %s %%t%u %s, align %u", id,
                  update_name(i->op, type), pointer, text.text, value, ordering_name(ordering),
                  bytes);
        return id;
    }
}

static uint32_t lane_of(emit *e, vyre_type type, uint32_t vector, uint32_t lane) {
    uint32_t id = emit_new(e);
    emit_line(e, "%%t%u = extractelement %s %%t%u, i64 %%t%u", id, cpu_type(type, e->lanes).text,
              vector, lane);
    return id;
}

/* A few lanes one after the other, each behind a test of its own. */
static void atomic_unrolled(emit *e, uint32_t inst, uint32_t wide, uint32_t mask, uint32_t values,
                            uint32_t others) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = element_type(e, i->a);
    bool gives = i->op != VYRE_OP_ATOMIC_STORE && cpu_fact_of(&e->facts, inst)->uses;
    uint32_t result = gives ? emit_variable(e, type, e->lanes) : 0;
    uint32_t start = array_start(e, i->a);
    if (gives) {
        emit_assign(e, type, e->lanes, result, cpu_write_const(&e->w, type, e->lanes, 0));
    }
    for (uint32_t k = 0; k < e->lanes; k++) {
        uint32_t lane = cpu_write_const(&e->w, VYRE_TYPE_U64, 1, k), body = emit_label(e);
        uint32_t behind = emit_label(e);
        emit_branch(e, lane_of(e, VYRE_TYPE_BOOL, mask, lane), body, behind);
        emit_start(e, body);
        uint32_t pointer =
            pointer_to(e, start, lane_of(e, VYRE_TYPE_U64, wide, lane), vyre_type_bytes(type));
        uint32_t old = atomic_at(e, i, type, pointer, values ? lane_of(e, type, values, lane) : 0,
                                 others ? lane_of(e, type, others, lane) : 0);
        if (gives) {
            uint32_t before = emit_read(e, type, e->lanes, result), after = emit_new(e);
            emit_line(e, "%%t%u = insertelement %s %%t%u, %s %%t%u, i64 %u", after,
                      cpu_type(type, e->lanes).text, before, cpu_type(type, 1).text, old, k);
            emit_assign(e, type, e->lanes, result, after);
        }
        emit_start(e, behind);
    }
    if (gives) {
        emit_define(e, inst, emit_read(e, type, e->lanes, result));
    }
}

/* Lane by lane, those of the mask. */
static void atomic_lanes(emit *e, uint32_t inst, uint32_t index, uint32_t value, uint32_t other) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = element_type(e, i->a);
    bool gives = i->op != VYRE_OP_ATOMIC_STORE, is_cas = i->op == VYRE_OP_ATOMIC_CAS;
    bool takes = i->op != VYRE_OP_ATOMIC_LOAD;
    uint32_t wide = widen(e, vyre_operand_type(e->ir, index), e->lanes, emit_vector(e, index));
    uint32_t inside = is_inside(e, wide, e->lengths[i->a], e->lanes);
    uint32_t mask = emit_and(e, e->mask, inside), result = emit_variable(e, type, e->lanes);
    uint32_t values = takes ? emit_vector(e, value) : 0,
             others = is_cas ? emit_vector(e, other) : 0;
    if (e->ir->resources[i->a].kind == VYRE_RESOURCE_SHARED && e->lanes <= UNROLLED_LANES) {
        atomic_unrolled(e, inst, wide, mask, values, others);
        return;
    }
    uint32_t start = array_start(e, i->a), width = e->lanes;
    uint32_t bits = emit_new(e), rest = emit_new(e), now = emit_new(e), more = emit_new(e);
    vyre_text_printf(&e->allocas, "  %%t%u = alloca i%u\n", rest, width);
    uint32_t zeros = cpu_write_const(&e->w, type, e->lanes, 0);
    emit_assign(e, type, e->lanes, result, zeros);
    emit_line(e, "%%t%u = bitcast <%u x i1> %%t%u to i%u", bits, width, mask, width);
    emit_line(e, "store i%u %%t%u, ptr %%t%u", width, bits, rest);
    uint32_t head = emit_label(e), body = emit_label(e), behind = emit_label(e);
    emit_start(e, head);
    emit_line(e, "%%t%u = load i%u, ptr %%t%u", now, width, rest);
    emit_line(e, "%%t%u = icmp ne i%u %%t%u, 0", more, width, now);
    emit_branch(e, more, body, behind);
    emit_start(e, body);
    char declaration[64];
    snprintf(declaration, sizeof declaration, "declare i%u @llvm.cttz.i%u(i%u, i1)", width, width,
             width);
    cpu_write_declare(&e->w, declaration);
    uint32_t number = emit_new(e), lane = number, less = emit_new(e), left = emit_new(e);
    emit_line(e, "%%t%u = call i%u @llvm.cttz.i%u(i%u %%t%u, i1 true)", number, width, width, width,
              now);
    if (width < 64) {
        lane = emit_new(e);
        emit_line(e, "%%t%u = zext i%u %%t%u to i64", lane, width, number);
    }
    uint32_t pointer =
        pointer_to(e, start, lane_of(e, VYRE_TYPE_U64, wide, lane), vyre_type_bytes(type));
    uint32_t old = atomic_at(e, i, type, pointer, takes ? lane_of(e, type, values, lane) : 0,
                             is_cas ? lane_of(e, type, others, lane) : 0);
    if (gives) {
        uint32_t before = emit_read(e, type, e->lanes, result), after = emit_new(e);
        emit_line(e, "%%t%u = insertelement %s %%t%u, %s %%t%u, i64 %%t%u", after,
                  cpu_type(type, e->lanes).text, before, cpu_type(type, 1).text, old, lane);
        emit_assign(e, type, e->lanes, result, after);
    }
    emit_line(e, "%%t%u = sub i%u %%t%u, 1", less, width, now);
    emit_line(e, "%%t%u = and i%u %%t%u, %%t%u", left, width, now, less);
    emit_line(e, "store i%u %%t%u, ptr %%t%u", width, left, rest);
    emit_jump(e, head);
    emit_start(e, behind);
    if (gives) {
        emit_define(e, inst, emit_read(e, type, e->lanes, result));
    }
}

/* What changes nothing, and how lanes are put together. */
static const char *reduction_of(uint32_t op, vyre_type type, uint64_t *out_neutral) {
    bool is_signed = vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
    uint32_t width = vyre_type_bytes(type) * 8;
    uint64_t all = width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX;
    uint64_t sign = (uint64_t)1 << (width - 1);
    *out_neutral = 0;
    switch (op) {
    case VYRE_OP_ATOMIC_ADD:
    case VYRE_OP_ATOMIC_SUB: return "add";
    case VYRE_OP_ATOMIC_OR: return "or";
    case VYRE_OP_ATOMIC_XOR: return "xor";
    case VYRE_OP_ATOMIC_AND: *out_neutral = all; return "and";
    case VYRE_OP_ATOMIC_MIN:
        *out_neutral = is_signed ? sign - 1 : all;
        return is_signed ? "smin" : "umin";
    case VYRE_OP_ATOMIC_MAX:
        *out_neutral = is_signed ? sign : 0;
        return is_signed ? "smax" : "umax";
    default: return NULL;
    }
}

/* One update for all lanes, where they go to one element and nobody looks at the old value. */
static bool atomic_together(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = element_type(e, i->a);
    uint64_t neutral;
    const char *name = reduction_of(i->op, type, &neutral);
    if (!name || cpu_fact_of(&e->facts, inst)->uses || cpu_varies(&e->facts, i->b)) {
        return false;
    }
    uint32_t wide = widen(e, vyre_operand_type(e->ir, i->b), 1, emit_scalar(e, i->b));
    uint32_t inside = is_inside(e, wide, e->lengths[i->a], 1), both = emit_new(e);
    emit_line(e, "%%t%u = and i1 %%t%u, %%t%u", both, inside, emit_any(e, e->mask));
    uint32_t update = emit_label(e), behind = emit_label(e), sum = emit_new(e);
    emit_branch(e, both, update, behind);
    emit_start(e, update);
    cpu_type_text text = cpu_type(type, e->lanes), suffix = suffix_of(type, e->lanes);
    uint32_t others = cpu_write_const(&e->w, type, e->lanes, neutral);
    uint32_t values = emit_pick(e, type, e->mask, emit_vector(e, i->c), others);
    char declaration[160];
    snprintf(declaration, sizeof declaration, "declare %s @llvm.vector.reduce.%s.%s(%s)",
             cpu_type(type, 1).text, name, suffix.text, text.text);
    cpu_write_declare(&e->w, declaration);
    emit_line(e, "%%t%u = call %s @llvm.vector.reduce.%s.%s(%s %%t%u)", sum, cpu_type(type, 1).text,
              name, suffix.text, text.text, values);
    uint32_t pointer = pointer_to(e, array_start(e, i->a), wide, vyre_type_bytes(type));
    atomic_at(e, i, type, pointer, sum, 0);
    emit_start(e, behind);
    return true;
}

static void emit_atomic(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    if (i->op == VYRE_OP_ATOMIC_CAS) {
        const uint32_t *values = e->ir->operands + i->b;
        atomic_lanes(e, inst, values[0], values[1], values[2]);
    } else if (i->op == VYRE_OP_ATOMIC_LOAD && !cpu_varies(&e->facts, i->b)) {
        vyre_type type = element_type(e, i->a);
        uint32_t wide = widen(e, vyre_operand_type(e->ir, i->b), 1, emit_scalar(e, i->b));
        uint32_t inside = is_inside(e, wide, e->lengths[i->a], 1);
        uint32_t at = pointer_to(e, array_start(e, i->a), wide, vyre_type_bytes(type));
        emit_define(e, inst, atomic_at(e, i, type, safe_pointer(e, inside, at), 0, 0));
    } else if (i->op == VYRE_OP_ATOMIC_LOAD && !(i->aux & 7)) {
        /* Elements are aligned, so each of them is loaded as a whole; relaxed asks for no more, but
         * that it be loaded each time. */
        emit_line(e, "fence syncscope(\"singlethread\") seq_cst");
        emit_define(e, inst, load_lanes(e, i->a, i->b));
    } else if (!atomic_together(e, inst)) {
        atomic_lanes(e, inst, i->b, i->op == VYRE_OP_ATOMIC_LOAD ? VYRE_NONE : i->c, VYRE_NONE);
    }
}

/* Jumps behind the access past the end, with a zero in the slot if there is one. Nothing in
 * assembly keeps that zero out of the way of those who are inside. */
static void check_element(emit *e, uint32_t resource, uint32_t wide, uint32_t slot,
                          uint32_t behind) {
    uint32_t inside = emit_label(e), outside = slot ? emit_label(e) : behind;
    vyre_type type = element_type(e, resource);
    emit_likely_branch(e, is_inside(e, wide, e->lengths[resource], 1), inside, outside);
    if (slot) {
        emit_start(e, outside);
        emit_line(e, "call void asm sideeffect \"\", \"\"()");
        emit_assign(e, type, 1, slot, cpu_write_const(&e->w, type, 1, 0));
        emit_jump(e, behind);
    }
    emit_start(e, inside);
}

/* Scalars: one element, behind a branch, which costs nothing while it is foreseen. */
static void emit_element(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    bool is_cas = i->op == VYRE_OP_ATOMIC_CAS;
    const uint32_t *operands = is_cas ? e->ir->operands + i->b : NULL;
    uint32_t index = is_cas ? operands[0] : i->b;
    bool gives = i->op != VYRE_OP_STORE && i->op != VYRE_OP_ATOMIC_STORE;
    bool takes = i->op != VYRE_OP_LOAD && i->op != VYRE_OP_ATOMIC_LOAD;
    vyre_type type = element_type(e, i->a);
    uint32_t wide = widen(e, vyre_operand_type(e->ir, index), 1, emit_operand(e, index));
    uint32_t value = takes ? emit_operand(e, is_cas ? operands[1] : i->c) : 0;
    uint32_t other = is_cas ? emit_operand(e, operands[2]) : 0;
    uint32_t slot = gives ? emit_variable(e, type, 1) : 0, behind = emit_label(e);
    check_element(e, i->a, wide, slot, behind);
    uint32_t at = pointer_to(e, array_start(e, i->a), wide, vyre_type_bytes(type)), old = 0;
    if (i->op == VYRE_OP_LOAD) {
        old = emit_load_at(e, type, 1, at);
    } else if (i->op == VYRE_OP_STORE) {
        emit_store_at(e, type, 1, at, value);
    } else {
        old = atomic_at(e, i, type, at, value, other);
    }
    if (gives) {
        emit_assign(e, type, 1, slot, old);
    }
    emit_start(e, behind);
    if (gives) {
        emit_define(e, inst, emit_read(e, type, 1, slot));
    }
}

void emit_memory(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    if (e->scalar && i->op != VYRE_OP_CLEAR) {
        emit_element(e, inst);
        return;
    }
    switch (i->op) {
    case VYRE_OP_LOAD: emit_load(e, inst); break;
    case VYRE_OP_STORE: emit_store(e, inst); break;
    case VYRE_OP_CLEAR: emit_clear(e, i->a); break;
    default: emit_atomic(e, inst); break;
    }
}
