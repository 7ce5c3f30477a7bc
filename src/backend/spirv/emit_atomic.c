/* Atomics: with the ordering and the scope that the program states. Vulkan has no sequentially
 * consistent ones: those acquire and release behind a barrier for all memory, and a store is an
 * exchange. */
#include "backend/spirv/emit_state.h"
#include "ir/cases.h"

typedef struct access {
    const vyre_inst *inst;
    vyre_type type;
    spirv_kind kind;
    spv_id pointer, scope, order;
} access;

/* What a load, a store or an update is ordered by. */
/* Nothing where fences cannot stand. */
static spv_id semantics(emit *e, uint32_t order) {
    return spirv_emit_semantics(e, e->target->no_fences ? 0 : order);
}

static uint32_t order_of(const vyre_inst *i) {
    switch (vyre_atomic_ordering(i)) {
    case VYRE_ORDERING_RELAXED: return 0;
    case VYRE_ORDERING_ACQUIRE: return SPV_ACQUIRE;
    case VYRE_ORDERING_RELEASE: return SPV_RELEASE;
    case VYRE_ORDERING_ACQ_REL: break;
    case VYRE_ORDERING_SEQ_CST:
        if (i->op == VYRE_OP_ATOMIC_LOAD) {
            return SPV_ACQUIRE;
        }
        break;
    case VYRE_ORDERING_COUNT: break;
    }
    return SPV_ACQUIRE_RELEASE;
}

static spv_id update(emit *e, const access *a, spv_op op, spv_id value) {
    return SPIRV_VALUE(&e->b, op, a->kind, a->pointer, a->scope, a->order, value);
}

static spv_id exchange_if(emit *e, const access *a, spv_id expected, spv_id desired) {
    uint32_t order = order_of(a->inst);
    /* One that fails is a load. */
    uint32_t failed = order == SPV_ACQUIRE_RELEASE ? SPV_ACQUIRE : order & SPV_ACQUIRE;
    return SPIRV_VALUE(&e->b, SPV_AtomicCompareExchange, a->kind, a->pointer, a->scope, a->order,
                       semantics(e, failed), desired, expected);
}

static spv_id store(emit *e, const access *a, spv_id value) {
    if (vyre_atomic_ordering(a->inst) == VYRE_ORDERING_SEQ_CST) {
        return update(e, a, SPV_AtomicExchange, value);
    }
    SPIRV_LINE(&e->b, SPV_AtomicStore, a->pointer, a->scope, a->order, value);
    return 0;
}

static spv_id access_one(emit *e, const access *a, spv_id value, spv_id desired) {
    bool is_signed = spirv_is_signed(a->type);
    switch (vyre_inst_op(a->inst)) {
    case VYRE_OP_ATOMIC_LOAD:
        return SPIRV_VALUE(&e->b, SPV_AtomicLoad, a->kind, a->pointer, a->scope, a->order);
    case VYRE_OP_ATOMIC_STORE: return store(e, a, value);
    case VYRE_OP_ATOMIC_CAS: return exchange_if(e, a, value, desired);
    case VYRE_OP_ATOMIC_ADD: return update(e, a, SPV_AtomicIAdd, value);
    case VYRE_OP_ATOMIC_SUB: return update(e, a, SPV_AtomicISub, value);
    case VYRE_OP_ATOMIC_MIN:
        return update(e, a, is_signed ? SPV_AtomicSMin : SPV_AtomicUMin, value);
    case VYRE_OP_ATOMIC_MAX:
        return update(e, a, is_signed ? SPV_AtomicSMax : SPV_AtomicUMax, value);
    case VYRE_OP_ATOMIC_AND: return update(e, a, SPV_AtomicAnd, value);
    case VYRE_OP_ATOMIC_OR: return update(e, a, SPV_AtomicOr, value);
    case VYRE_OP_ATOMIC_XOR: return update(e, a, SPV_AtomicXor, value);
    case VYRE_OP_ATOMIC_EXCHANGE: return update(e, a, SPV_AtomicExchange, value);
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, MEMORY, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    }
    return 0;
}

static void need_longs(emit *e, bool is_shared) {
    bool has = is_shared ? e->target->shared_atomics64 : e->target->atomics64;
    spirv_need(&e->b, SPV_C_Int64Atomics);
    if (!has) {
        e->lack = is_shared ? "64-bit atomics on shared arrays (shaderSharedInt64Atomics)"
                            : "64-bit atomics (shaderBufferInt64Atomics)";
    }
}

void spirv_emit_atomic(emit *e, uint32_t inst) {
    spirv_builder *b = &e->b;
    const vyre_inst *i = &e->ir->insts[inst];
    const vyre_resource *row = vyre_access_array(e->ir, i);
    bool is_shared = row->kind == VYRE_RESOURCE_SHARED;
    bool is_near = is_shared || vyre_atomic_scope(i) == VYRE_SCOPE_WORKGROUP;
    uint32_t value = vyre_access_value(e->ir, i), desired = vyre_access_desired(e->ir, i);
    access a = {.inst = i, .type = vyre_resource_type(row)};
    a.kind = spirv_kind_of(a.type);
    if (a.kind == SPIRV_U64) {
        need_longs(e, is_shared);
    }
    emit_element element = spirv_emit_find(e, inst, true);
    spv_id nothing = spirv_number_of(b, a.kind, 0), old = nothing;
    spv_id given = value == VYRE_NONE ? 0 : spirv_emit_bits(e, value);
    spv_id other = desired == VYRE_NONE ? 0 : spirv_emit_bits(e, desired);
    spv_id before = b->block;
    if (!element.never) {
        spv_id behind = element.inside ? spirv_begin_if(b, element.inside) : 0;
        a.scope = spirv_u32(b, is_near ? SPV_SCOPE_WORKGROUP : SPV_SCOPE_DEVICE);
        a.order = semantics(e, order_of(i));
        a.pointer = spirv_emit_place(e, inst);
        if (vyre_atomic_ordering(i) == VYRE_ORDERING_SEQ_CST && !e->target->no_fences) {
            SPIRV_LINE(b, SPV_MemoryBarrier, a.scope, spirv_emit_semantics(e, SPV_ACQUIRE_RELEASE));
        }
        old = access_one(e, &a, given, other);
        if (behind) {
            spv_id inside = b->block;
            spirv_end_if(b, behind);
            if (i->op != VYRE_OP_ATOMIC_STORE) {
                old = SPIRV_VALUE(b, SPV_Phi, a.kind, old, inside, nothing, before);
            }
        }
    }
    if (i->op != VYRE_OP_ATOMIC_STORE) {
        spirv_emit_set(e, inst, old);
    }
}
