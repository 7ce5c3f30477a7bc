/* Atomics: with the ordering and the scope that the program states. Where a device has the atomics
 * of OpenCL 2.0 they say all of it. Those of 1.2 order nothing, so fences stand around them. */
#include <stdio.h>

#include "backend/opencl/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/eval.h"
#include "ir/lookup.h"

typedef struct access {
    uint32_t inst;
    vyre_type type;
    vyre_ordering ordering;
    bool is_own; /* of the workgroup alone */
    bool is_wide;
    const char *place, *scope;
    char pointer[48]; /* the type of a pointer to the element */
    opencl_name value, desired;
} access;

static const char *order_name(vyre_ordering ordering) {
    static const char *const names[VYRE_ORDERING_COUNT] = {
        "memory_order_relaxed", "memory_order_acquire", "memory_order_release",
        "memory_order_acq_rel", "memory_order_seq_cst"};
    return names[ordering];
}

/* The operation's name in both families, without their heads. */
static const char *update_name(vyre_op op) {
    switch (op) {
    case VYRE_OP_ATOMIC_ADD: return "add";
    case VYRE_OP_ATOMIC_SUB: return "sub";
    case VYRE_OP_ATOMIC_AND: return "and";
    case VYRE_OP_ATOMIC_OR: return "or";
    case VYRE_OP_ATOMIC_XOR: return "xor";
    case VYRE_OP_ATOMIC_MIN: return "min";
    case VYRE_OP_ATOMIC_MAX: return "max";
    case VYRE_ONE_OF(ATOMIC_EXCHANGE, ATOMIC_LOAD, ATOMIC_STORE, ATOMIC_CAS):
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, MEMORY, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    }
    return NULL;
}

/* With the atomics of OpenCL 2.0. */
static void write_c11(emit *e, const access *a, vyre_strbuf *out) {
    vyre_op op = vyre_inst_op(&e->ir->insts[a->inst]);
    const char *order = order_name(a->ordering), *name = update_name(op);
    if (op == VYRE_OP_ATOMIC_LOAD) {
        vyre_strbuf_printf(out, "atomic_load_explicit((%s)&%s, %s, %s)", a->pointer, a->place,
                           order, a->scope);
    } else if (op == VYRE_OP_ATOMIC_STORE) {
        vyre_strbuf_printf(out, "atomic_store_explicit((%s)&%s, %s, %s, %s)", a->pointer, a->place,
                           a->value.text, order, a->scope);
    } else if (op == VYRE_OP_ATOMIC_EXCHANGE) {
        vyre_strbuf_printf(out, "atomic_exchange_explicit((%s)&%s, %s, %s, %s)", a->pointer,
                           a->place, a->value.text, order, a->scope);
    } else {
        vyre_strbuf_printf(out, "atomic_fetch_%s_explicit((%s)&%s, %s, %s, %s)", name ? name : "",
                           a->pointer, a->place, a->value.text, order, a->scope);
    }
}

/* With those of OpenCL 1.2: a load is an update that changes nothing, a store an exchange. */
static void write_old(emit *e, const access *a, vyre_strbuf *out) {
    vyre_op op = vyre_inst_op(&e->ir->insts[a->inst]);
    const char *head = a->is_wide ? "atom" : "atomic", *name = update_name(op);
    if (op == VYRE_OP_ATOMIC_LOAD) {
        vyre_strbuf_printf(out, "%s_add((%s)&%s, 0)", head, a->pointer, a->place);
    } else if (op == VYRE_OP_ATOMIC_CAS) {
        vyre_strbuf_printf(out, "%s_cmpxchg((%s)&%s, %s, %s)", head, a->pointer, a->place,
                           a->value.text, a->desired.text);
    } else {
        vyre_strbuf_printf(out, "%s_%s((%s)&%s, %s)", head, name ? name : "xchg", a->pointer,
                           a->place, a->value.text);
    }
}

/* A compare-and-swap that fails is a load: it cannot release. */
static vyre_ordering failure_order(vyre_ordering ordering) {
    return ordering == VYRE_ORDERING_ACQ_REL   ? VYRE_ORDERING_ACQUIRE
           : ordering == VYRE_ORDERING_RELEASE ? VYRE_ORDERING_RELAXED
                                               : ordering;
}

static void write_swap(emit *e, const access *a) {
    opencl_name old = opencl_value(a->inst);
    opencl_line(e, "    %s = %s;", old.text, a->value.text);
    opencl_line(e, "    atomic_compare_exchange_strong_explicit((%s)&%s, &%s, %s, %s, %s, %s);",
                a->pointer, a->place, old.text, a->desired.text, order_name(a->ordering),
                order_name(failure_order(a->ordering)), a->scope);
}

/* What an update makes of the old value. */
static void write_update(emit *e, const access *a, const char *old) {
    vyre_op op = vyre_inst_op(&e->ir->insts[a->inst]);
    if (op == VYRE_OP_ATOMIC_CAS) {
        vyre_strbuf_printf(&e->code, "%s == %s ? %s : %s", old, a->value.text, a->desired.text,
                           old);
    } else if (op == VYRE_OP_ATOMIC_EXCHANGE) {
        vyre_strbuf_puts(&e->code, a->value.text);
    } else if (!opencl_write_op(&e->code, vyre_eval_updating(op), a->type, a->type, old,
                                a->value.text, NULL)) {
        e->unknown = op;
    }
}

/* An update that nobody else can come between. A fence for the compiler alone, which gives no
 * instruction, keeps it from making vectors of invocations that may meet at one element. */
static void write_serial(emit *e, const access *a) {
    opencl_name old = opencl_value(a->inst);
    opencl_line(e, "    %s = %s;", old.text, a->place);
    opencl_begin(e);
    vyre_strbuf_printf(&e->code, "    %s = ", a->place);
    write_update(e, a, old.text);
    vyre_strbuf_puts(&e->code, ";\n");
    opencl_line(e, "    __atomic_signal_fence(__ATOMIC_SEQ_CST);");
}

/* Whether an update meets only those of invocations that take turns with its own. */
static bool is_serial(const emit *e, const access *a) {
    uint32_t op = e->ir->insts[a->inst].op;
    return e->target->is_serial && a->ordering == VYRE_ORDERING_RELAXED && a->is_own &&
           op != VYRE_OP_ATOMIC_LOAD && op != VYRE_OP_ATOMIC_STORE;
}

static void write_access(emit *e, const access *a, bool gives) {
    bool is_new = e->target->order == OPENCL_ORDER_C11;
    bool is_swap = e->ir->insts[a->inst].op == VYRE_OP_ATOMIC_CAS;
    bool releases = a->ordering >= VYRE_ORDERING_RELEASE, relaxed = !a->ordering;
    bool acquires = a->ordering == VYRE_ORDERING_ACQUIRE || a->ordering >= VYRE_ORDERING_ACQ_REL;
    if (is_serial(e, a)) {
        write_serial(e, a);
        return;
    }
    if (is_new && is_swap) {
        write_swap(e, a);
        return;
    }
    bool fences = !is_new && !relaxed && (releases || acquires);
    e->functions |= fences ? OPENCL_FUNCTION(OPENCL_FENCE) : 0;
    if (fences && releases) {
        opencl_line(e, "    vyre_fence();");
    }
    opencl_begin(e);
    vyre_strbuf_puts(&e->code, "    ");
    if (gives) {
        vyre_strbuf_printf(&e->code, "%s = ", opencl_value(a->inst).text);
    }
    if (is_new) {
        write_c11(e, a, &e->code);
    } else {
        write_old(e, a, &e->code);
    }
    vyre_strbuf_puts(&e->code, ";\n");
    if (fences && acquires) {
        opencl_line(e, "    vyre_fence();");
    }
}

/* What the device lacks for an access, or NULL. */
static const char *lack_of(const emit *e, const access *a) {
    vyre_op op = vyre_inst_op(&e->ir->insts[a->inst]);
    bool is_plain = op == VYRE_OP_ATOMIC_ADD || op == VYRE_OP_ATOMIC_SUB ||
                    op == VYRE_OP_ATOMIC_EXCHANGE || op == VYRE_OP_ATOMIC_CAS ||
                    op == VYRE_OP_ATOMIC_LOAD || op == VYRE_OP_ATOMIC_STORE;
    if (a->is_wide && !e->target->has_atomics64) {
        return "atomics of 64 bits (cl_khr_int64_base_atomics)";
    }
    /* The types of OpenCL 2.0 take both extensions. */
    bool needs_both = !is_plain || e->target->order == OPENCL_ORDER_C11;
    if (a->is_wide && needs_both && !e->target->has_atomics64_extended) {
        return "all atomics of 64 bits (cl_khr_int64_extended_atomics)";
    }
    if (a->ordering != VYRE_ORDERING_RELAXED && e->target->order == OPENCL_ORDER_NONE) {
        return "atomics that order other accesses (those of OpenCL 2.0, at device scope)";
    }
    return NULL;
}

void opencl_emit_atomic(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    const vyre_resource *row = vyre_access_array(e->ir, i);
    uint32_t taken = vyre_access_value(e->ir, i), desired = vyre_access_desired(e->ir, i);
    vyre_type type = vyre_resource_type(row);
    bool is_shared = row->kind == VYRE_RESOURCE_SHARED;
    bool is_own = is_shared || vyre_atomic_scope(i) == VYRE_SCOPE_WORKGROUP;
    bool gives = i->op != VYRE_OP_ATOMIC_STORE;
    bool is_new = e->target->order == OPENCL_ORDER_C11;
    emit_element element;
    opencl_find(e, inst, &element);
    access a = {
        .inst = inst,
        .type = type,
        .ordering = vyre_atomic_ordering(i),
        .is_own = is_own,
        .is_wide = vyre_type_bytes(type) == 8,
        .place = vyre_strbuf_string(&element.place),
        .scope = is_own ? "memory_scope_work_group" : "memory_scope_device",
    };
    snprintf(a.pointer, sizeof a.pointer, "volatile %s %s%s *", is_shared ? "__local" : "__global",
             is_new ? "atomic_" : "", opencl_type(type));
    if (taken != VYRE_NONE) {
        a.value = opencl_operand(e, taken);
    }
    if (desired != VYRE_NONE) {
        a.desired = opencl_operand(e, desired);
    }
    const char *lack = lack_of(e, &a);
    if (lack) {
        e->lack = lack;
        e->fix = "use another backend or device";
    }
    if (gives) {
        opencl_line(e, "%s %s = 0;", opencl_type(type), opencl_value(inst).text);
    }
    if (!element.never) {
        if (element.inside.size) {
            e->is_branched = true;
            opencl_line(e, "if (%s) {", vyre_strbuf_string(&element.inside));
        } else {
            opencl_line(e, "{");
        }
        write_access(e, &a, gives);
        opencl_line(e, "}");
    }
    e->code.failed |= element.place.failed | element.inside.failed;
    opencl_element_free(&element);
}
