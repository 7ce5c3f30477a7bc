/* Atomics: with the ordering and the scope that the program states, on devices of which each has
 * the instructions. */

#include "backend/cuda/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/lookup.h"

/* A sequentially consistent access is one that acquires and releases behind a fence of that kind.
 */
static const char *ordering_name(uint32_t ordering) {
    static const char *const names[] = {"relaxed", "acquire", "release", "acq_rel", "acq_rel"};
    return names[ordering];
}

typedef struct access {
    const vyre_inst *inst;
    vyre_type type;
    uint32_t ordering;
    const char *space, *scope, *bits; /* bits: the type without a sign */
    emit_element element;
} access;

static void update(emit *e, const access *a, const char *name, const char *suffix, cuda_reg old,
                   cuda_reg value, bool used) {
    /* Without anybody who looks at the old value there is none to wait for. */
    bool acquires = a->ordering != VYRE_ORDERING_RELAXED && a->ordering != VYRE_ORDERING_RELEASE;
    if (!used && !acquires && a->inst->op != VYRE_OP_ATOMIC_EXCHANGE) {
        cuda_emit_if(e, a->element.inside, "red.%s.%s.%s.%s.%s %s, %s", ordering_name(a->ordering),
                     a->scope, a->space, name, suffix, a->element.place.text,
                     cuda_reg_name(value).text);
        return;
    }
    cuda_emit_if(e, a->element.inside, "atom.%s.%s.%s.%s.%s %s, %s, %s", ordering_name(a->ordering),
                 a->scope, a->space, name, suffix, cuda_reg_name(old).text, a->element.place.text,
                 cuda_reg_name(value).text);
}

static void access_one(emit *e, const access *a, cuda_reg old, cuda_reg value, cuda_reg other,
                       bool used) {
    bool wide = cuda_width(a->type) == 64, is_signed = cuda_is_signed(a->type);
    const char *adds = wide ? "u64" : "u32";
    const char *orders = is_signed ? (wide ? "s64" : "s32") : adds;
    const char *place = a->element.place.text;
    switch (vyre_inst_op(a->inst)) {
    case VYRE_OP_ATOMIC_LOAD:
        /* It acquires by a fence: ptxas drops an `ld.acquire` of which nobody uses the value, and
         * with it the guard that later accesses share (tests/gpu/known.vyre). */
        cuda_emit_if(e, a->element.inside, "ld.relaxed.%s.%s.%s %s, %s", a->scope, a->space, adds,
                     cuda_reg_name(old).text, place);
        if (a->ordering != VYRE_ORDERING_RELAXED) {
            cuda_line(&e->w, "fence.acq_rel.%s", a->scope);
        }
        break;
    case VYRE_OP_ATOMIC_STORE:
        cuda_emit_if(e, a->element.inside, "st.%s.%s.%s.%s %s, %s",
                     a->ordering == VYRE_ORDERING_RELAXED ? "relaxed" : "release", a->scope,
                     a->space, adds, place, cuda_reg_name(value).text);
        break;
    case VYRE_OP_ATOMIC_CAS:
        cuda_emit_if(e, a->element.inside, "atom.%s.%s.%s.cas.%s %s, %s, %s, %s",
                     ordering_name(a->ordering), a->scope, a->space, a->bits,
                     cuda_reg_name(old).text, place, cuda_reg_name(value).text,
                     cuda_reg_name(other).text);
        break;
    case VYRE_OP_ATOMIC_ADD: update(e, a, "add", adds, old, value, used); break;
    case VYRE_OP_ATOMIC_SUB: {
        cuda_class kind = wide ? CUDA_B64 : CUDA_B32;
        cuda_reg negative =
            cuda_two(&e->w, wide ? "sub.u64" : "sub.u32", kind, cuda_number(kind, 0), value);
        update(e, a, "add", adds, old, negative, used);
        break;
    }
    case VYRE_OP_ATOMIC_MIN: update(e, a, "min", orders, old, value, used); break;
    case VYRE_OP_ATOMIC_MAX: update(e, a, "max", orders, old, value, used); break;
    case VYRE_OP_ATOMIC_AND: update(e, a, "and", a->bits, old, value, used); break;
    case VYRE_OP_ATOMIC_OR: update(e, a, "or", a->bits, old, value, used); break;
    case VYRE_OP_ATOMIC_XOR: update(e, a, "xor", a->bits, old, value, used); break;
    case VYRE_OP_ATOMIC_EXCHANGE: update(e, a, "exch", a->bits, old, value, used); break;
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, MEMORY, BARRIER, SUBGROUP, CONTROL, NONE):
        cuda_unknown(&e->w, vyre_inst_op(a->inst));
        break;
    }
}

static cuda_reg operand_in_register(emit *e, uint32_t operand, uint32_t part) {
    return operand == VYRE_NONE ? cuda_none()
                                : cuda_in_register(&e->w, cuda_emit_operand(e, operand, part));
}

void cuda_emit_atomic(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    bool gives = i->op != VYRE_OP_ATOMIC_STORE;
    uint32_t taken = vyre_access_value(e->ir, i), desired = vyre_access_desired(e->ir, i);
    vyre_type type = vyre_resource_type(vyre_access_array(e->ir, i));
    bool is_shared = vyre_access_array(e->ir, i)->kind == VYRE_RESOURCE_SHARED;
    access a = {
        .inst = i,
        .type = type,
        .ordering = vyre_atomic_ordering(i),
        .space = cuda_emit_space(e, vyre_access_resource(i)),
        .scope = is_shared || vyre_atomic_scope(i) == VYRE_SCOPE_WORKGROUP ? "cta" : "gpu",
        .bits = cuda_width(type) == 64 ? "b64" : "b32",
    };
    /* A load may be the same for all parts; everything else happens once for each. */
    bool once = i->op == VYRE_OP_ATOMIC_LOAD && !cuda_varies(&e->facts, inst);
    for (uint32_t part = e->first_part; part < (once ? e->first_part + 1 : e->end_part); part++) {
        cuda_reg value = operand_in_register(e, taken, part);
        cuda_reg other = operand_in_register(e, desired, part);
        a.element = cuda_emit_find(e, inst, part);
        bool always = !a.element.never && !a.element.inside.kind;
        cuda_reg old = !gives   ? cuda_none()
                       : always ? cuda_new(&e->w, cuda_class_of(type))
                                : cuda_emit_zero(e, cuda_class_of(type));
        if (!a.element.never) {
            if (a.ordering == VYRE_ORDERING_SEQ_CST) {
                cuda_emit_if(e, a.element.inside, "fence.sc.%s", a.scope);
            }
            access_one(e, &a, old, value, other, emit_fact(e, inst)->uses > 0);
        }
        if (gives) {
            *emit_slot(e, inst, once ? 0 : part) = old;
        }
    }
}
