/* Atomics: one update for all lanes where one will do, else lane by lane. */

#include "backend/cpu/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/eval.h"
#include "ir/lookup.h"

enum { UNROLLED_LANES = 32 };

static const char *ordering_name(uint32_t ordering) {
    static const char *const names[] = {"monotonic", "acquire", "release", "acq_rel", "seq_cst"};
    return names[ordering];
}

static const char *failure_ordering(uint32_t ordering) {
    static const char *const names[] = {"monotonic", "acquire", "monotonic", "acquire", "seq_cst"};
    return names[ordering];
}

/* How an update is done: by LLVM's name, as an operation on values, and lane by lane together. */
typedef struct update {
    const char *name;
    vyre_op plain;       /* on the old value and the new one; NONE takes the new one */
    const char *reduces; /* lanes; NULL if they cannot be put together before */
    uint64_t neutral;    /* what changes nothing then */
} update;

static bool find_update(vyre_op op, vyre_type type, update *out) {
    bool is_signed = vyre_lookup_class(type) == VYRE_CLASS_SIGNED;
    switch (op) {
    case VYRE_OP_ATOMIC_ADD: *out = (update){"add", VYRE_OP_ADD, "add", 0}; return true;
    case VYRE_OP_ATOMIC_SUB: *out = (update){"sub", VYRE_OP_SUB, "add", 0}; return true;
    case VYRE_OP_ATOMIC_OR: *out = (update){"or", VYRE_OP_OR, "or", 0}; return true;
    case VYRE_OP_ATOMIC_XOR: *out = (update){"xor", VYRE_OP_XOR, "xor", 0}; return true;
    case VYRE_OP_ATOMIC_AND:
        *out = (update){"and", VYRE_OP_AND, "and", vyre_eval_identity(VYRE_COMBINE_AND, type)};
        return true;
    case VYRE_OP_ATOMIC_MIN:
        *out = (update){is_signed ? "min" : "umin", VYRE_OP_MIN, is_signed ? "smin" : "umin",
                        vyre_eval_identity(VYRE_COMBINE_MIN, type)};
        return true;
    case VYRE_OP_ATOMIC_MAX:
        *out = (update){is_signed ? "max" : "umax", VYRE_OP_MAX, is_signed ? "smax" : "umax",
                        vyre_eval_identity(VYRE_COMBINE_MAX, type)};
        return true;
    case VYRE_OP_ATOMIC_EXCHANGE: *out = (update){"xchg", VYRE_OP_NONE, NULL, 0}; return true;
    case VYRE_ONE_OF(ATOMIC_LOAD, ATOMIC_STORE, ATOMIC_CAS):
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, MEMORY, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    }
    return false;
}

/* In a shared array: a workgroup is one thread, so nobody comes in between. */
static uint32_t access_shared(emit *e, const vyre_inst *i, vyre_type type, uint32_t pointer,
                              uint32_t value, uint32_t other) {
    uint32_t old = 0, next = value;
    update u;
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
    if (find_update(vyre_inst_op(i), type, &u) && u.plain) {
        next = cpu_write_op(&e->w, u.plain, type, type, 1, old, value, 0);
    }
    emit_store_at(e, type, 1, pointer, next);
    return old;
}

/* One atomic access; gives the value before. */
uint32_t emit_atomic_at(emit *e, const vyre_inst *i, vyre_type type, uint32_t pointer,
                        uint32_t value, uint32_t other) {
    cpu_type_text text = cpu_type(type, 1);
    const char *ordering = ordering_name(vyre_atomic_ordering(i));
    uint32_t bytes = vyre_type_bytes(type), id = emit_new(e);
    update u;
    if (vyre_access_array(e->ir, i)->kind == VYRE_RESOURCE_SHARED) {
        return access_shared(e, i, type, pointer, value, other);
    }
    if (i->op == VYRE_OP_ATOMIC_LOAD) {
        emit_line(e, "%%t%u = load atomic %s, ptr %%t%u %s, align %u", id, text.text, pointer,
                  ordering, bytes);
    } else if (i->op == VYRE_OP_ATOMIC_STORE) {
        emit_line(e, "store atomic %s %%t%u, ptr %%t%u %s, align %u", text.text, value, pointer,
                  ordering, bytes);
    } else if (i->op == VYRE_OP_ATOMIC_CAS) {
        uint32_t pair = emit_put(e, "cmpxchg ptr %%t%u, %s %%t%u, %s %%t%u %s %s, align %u",
                                 pointer, text.text, value, text.text, other, ordering,
                                 failure_ordering(vyre_atomic_ordering(i)), bytes);
        emit_line(e, "%%t%u = extractvalue { %s, i1 } %%t%u, 0", id, text.text, pair);
    } else if (find_update(vyre_inst_op(i), type, &u)) {
        emit_line(e, "%%t%u = atomicrmw %s ptr %%t%u, %s %%t%u %s, align %u", id, u.name, pointer,
                  text.text, value, ordering, bytes);
    } else {
        e->w.unknown = vyre_inst_op(i);
    }
    return id;
}

static uint32_t lane_of(emit *e, vyre_type type, uint32_t vector, uint32_t lane) {
    return emit_put(e, "extractelement %s %%t%u, i64 %%t%u", cpu_type(type, e->lanes).text, vector,
                    lane);
}

/* A few lanes one after the other, each behind a test of its own. */
static void atomic_unrolled(emit *e, uint32_t inst, uint32_t wide, uint32_t mask, uint32_t values,
                            uint32_t others) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i);
    vyre_type type = emit_element_type(e, resource);
    bool gives = i->op != VYRE_OP_ATOMIC_STORE && cpu_fact_of(&e->facts, inst)->uses;
    uint32_t result = gives ? emit_variable(e, type, e->lanes) : 0;
    uint32_t start = emit_array_start(e, resource);
    if (gives) {
        emit_assign(e, type, e->lanes, result, cpu_write_const(&e->w, type, e->lanes, 0));
    }
    for (uint32_t k = 0; k < e->lanes; k++) {
        uint32_t lane = cpu_write_const(&e->w, VYRE_TYPE_U64, 1, k), body = emit_label(e);
        uint32_t behind = emit_label(e);
        emit_branch(e, lane_of(e, VYRE_TYPE_BOOL, mask, lane), body, behind);
        emit_start(e, body);
        uint32_t pointer = emit_pointer_to(e, start, lane_of(e, VYRE_TYPE_U64, wide, lane),
                                           emit_element_bytes(e, resource));
        uint32_t old =
            emit_atomic_at(e, i, type, pointer, values ? lane_of(e, type, values, lane) : 0,
                           others ? lane_of(e, type, others, lane) : 0);
        if (gives) {
            uint32_t before = emit_read(e, type, e->lanes, result);
            uint32_t after =
                emit_put(e, "insertelement %s %%t%u, %s %%t%u, i64 %u",
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
static void atomic_lanes(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i), value = vyre_access_value(e->ir, i);
    uint32_t desired = vyre_access_desired(e->ir, i);
    vyre_type type = emit_element_type(e, resource);
    bool gives = i->op != VYRE_OP_ATOMIC_STORE;
    uint32_t wide = emit_lane_indices(e, vyre_access_index(e->ir, i));
    uint32_t mask = emit_inside_mask(e, inst, wide), result = emit_variable(e, type, e->lanes);
    uint32_t values = value == VYRE_NONE ? 0 : emit_vector(e, value),
             others = desired == VYRE_NONE ? 0 : emit_vector(e, desired);
    if (e->ir->resources[resource].kind == VYRE_RESOURCE_SHARED && e->lanes <= UNROLLED_LANES) {
        atomic_unrolled(e, inst, wide, mask, values, others);
        return;
    }
    uint32_t start = emit_array_start(e, resource), width = e->lanes;
    uint32_t rest = emit_new(e);
    vyre_strbuf_printf(&e->allocas, "  %%t%u = alloca i%u\n", rest, width);
    uint32_t zeros = cpu_write_const(&e->w, type, e->lanes, 0);
    emit_assign(e, type, e->lanes, result, zeros);
    uint32_t bits = emit_put(e, "bitcast <%u x i1> %%t%u to i%u", width, mask, width);
    emit_line(e, "store i%u %%t%u, ptr %%t%u", width, bits, rest);
    uint32_t head = emit_label(e), body = emit_label(e), behind = emit_label(e);
    emit_start(e, head);
    uint32_t now = emit_put(e, "load i%u, ptr %%t%u", width, rest);
    uint32_t more = emit_put(e, "icmp ne i%u %%t%u, 0", width, now);
    emit_branch(e, more, body, behind);
    emit_start(e, body);
    cpu_write_declare(&e->w, "declare i%u @llvm.cttz.i%u(i%u, i1)", width, width, width);
    uint32_t lane =
        emit_put(e, "call i%u @llvm.cttz.i%u(i%u %%t%u, i1 true)", width, width, width, now);
    if (width < 64) {
        lane = emit_put(e, "zext i%u %%t%u to i64", width, lane);
    }
    uint32_t pointer = emit_pointer_to(e, start, lane_of(e, VYRE_TYPE_U64, wide, lane),
                                       emit_element_bytes(e, resource));
    uint32_t old = emit_atomic_at(e, i, type, pointer, values ? lane_of(e, type, values, lane) : 0,
                                  others ? lane_of(e, type, others, lane) : 0);
    if (gives) {
        uint32_t before = emit_read(e, type, e->lanes, result);
        uint32_t after =
            emit_put(e, "insertelement %s %%t%u, %s %%t%u, i64 %%t%u",
                     cpu_type(type, e->lanes).text, before, cpu_type(type, 1).text, old, lane);
        emit_assign(e, type, e->lanes, result, after);
    }
    uint32_t less = emit_put(e, "sub i%u %%t%u, 1", width, now);
    uint32_t left = emit_put(e, "and i%u %%t%u, %%t%u", width, now, less);
    emit_line(e, "store i%u %%t%u, ptr %%t%u", width, left, rest);
    emit_jump(e, head);
    emit_start(e, behind);
    if (gives) {
        emit_define(e, inst, emit_read(e, type, e->lanes, result));
    }
}

/* One update for all lanes, where they go to one element and nobody looks at the old value. */
static bool atomic_together(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i), index = vyre_access_index(e->ir, i);
    vyre_type type = emit_element_type(e, resource);
    update u;
    if (!find_update(vyre_inst_op(i), type, &u) || !u.reduces ||
        cpu_fact_of(&e->facts, inst)->uses || cpu_varies(&e->facts, index)) {
        return false;
    }
    uint32_t wide = emit_one_index(e, index);
    uint32_t both = emit_any(e, e->mask);
    if (!emit_is_inside(e, inst)) {
        uint32_t fits = emit_inside(e, wide, e->lengths[resource], 1);
        both = emit_put(e, "and i1 %%t%u, %%t%u", fits, both);
    }
    uint32_t inside = emit_label(e), behind = emit_label(e);
    emit_branch(e, both, inside, behind);
    emit_start(e, inside);
    cpu_type_text text = cpu_type(type, e->lanes), suffix = emit_suffix(type, e->lanes);
    uint32_t others = cpu_write_const(&e->w, type, e->lanes, u.neutral);
    uint32_t values =
        emit_pick(e, type, e->mask, emit_vector(e, vyre_access_value(e->ir, i)), others);
    cpu_write_declare(&e->w, "declare %s @llvm.vector.reduce.%s.%s(%s)", cpu_type(type, 1).text,
                      u.reduces, suffix.text, text.text);
    uint32_t sum = emit_put(e, "call %s @llvm.vector.reduce.%s.%s(%s %%t%u)",
                            cpu_type(type, 1).text, u.reduces, suffix.text, text.text, values);
    uint32_t pointer =
        emit_pointer_to(e, emit_array_start(e, resource), wide, emit_element_bytes(e, resource));
    emit_atomic_at(e, i, type, pointer, sum, 0);
    emit_start(e, behind);
    return true;
}

void emit_atomic(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i), index = vyre_access_index(e->ir, i);
    bool is_load = i->op == VYRE_OP_ATOMIC_LOAD;
    if (is_load && !cpu_varies(&e->facts, index)) {
        vyre_type type = emit_element_type(e, resource);
        uint32_t wide = emit_one_index(e, index);
        uint32_t at = emit_pointer_to(e, emit_array_start(e, resource), wide,
                                      emit_element_bytes(e, resource));
        if (!emit_is_inside(e, inst)) {
            at = emit_safe_pointer(e, emit_inside(e, wide, e->lengths[resource], 1), at);
        }
        emit_define(e, inst, emit_atomic_at(e, i, type, at, 0, 0));
    } else if (is_load && vyre_atomic_ordering(i) == VYRE_ORDERING_RELAXED) {
        /* Elements are aligned, so each of them is loaded as a whole; relaxed asks for no more, but
         * that it be loaded each time. */
        emit_line(e, "fence syncscope(\"singlethread\") seq_cst");
        emit_define(e, inst, emit_load_lanes(e, inst));
    } else if (!atomic_together(e, inst)) {
        atomic_lanes(e, inst);
    }
}
