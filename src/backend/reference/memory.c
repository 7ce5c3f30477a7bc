#include <string.h>

#include "backend/reference/machine.h"
#include "ir/cases.h"

/* The indices of an access as 64-bit numbers; negative ones become so large that no array has them.
 */
#define WIDEN(type)                                                                                \
    do {                                                                                           \
        const type *from = (const void *)values;                                                   \
        for (uint32_t i = 0; i < lanes; i++) {                                                     \
            indices[i] = (uint64_t)(int64_t)from[i];                                               \
        }                                                                                          \
    } while (0)

static void read_indices(machine *m, const fiber *f, uint32_t operand) {
    const uint8_t *values = value_of(m, f, operand);
    uint64_t *indices = m->indices;
    uint32_t lanes = m->layout.lanes;
    switch (vyre_operand_type(m->ir, operand)) {
    case VYRE_TYPE_I8: WIDEN(int8_t); break;
    case VYRE_TYPE_U8: WIDEN(uint8_t); break;
    case VYRE_TYPE_I16: WIDEN(int16_t); break;
    case VYRE_TYPE_U16: WIDEN(uint16_t); break;
    case VYRE_TYPE_I32: WIDEN(int32_t); break;
    case VYRE_TYPE_U32: WIDEN(uint32_t); break;
    case VYRE_TYPE_I64:
    case VYRE_TYPE_U64: memcpy(indices, values, sizeof *indices * lanes); break;
    case VYRE_TYPE_VOID: /* the others are no indices */
    case VYRE_TYPE_BOOL:
    case VYRE_TYPE_F16:
    case VYRE_TYPE_BF16:
    case VYRE_TYPE_F32:
    case VYRE_TYPE_F64:
    case VYRE_TYPE_COUNT: break;
    }
}

/* Where an array's elements are for a fiber. Private arrays interleave lanes: element i of lane k
 * is at i * lanes + k. The elements of a field are a record apart, which is a whole number of
 * them. */
typedef struct view {
    uint8_t *data;
    uint64_t length;
    uint32_t lane_stride, element_stride; /* in elements */
} view;

static view view_of(const machine *m, const fiber *f, uint32_t resource) {
    const vyre_resource *row = &m->ir->resources[resource];
    if (row->kind <= VYRE_RESOURCE_SCRATCH) {
        return (view){m->arrays[resource].data, m->arrays[resource].length, 0, 1};
    }
    if (vyre_resource_is_field(row)) {
        return (view){m->arrays[row->size].data + row->length, m->arrays[row->size].length, 0,
                      vyre_resource_stride(m->ir, row) / vyre_type_bytes(vyre_resource_type(row))};
    }
    if (row->kind == VYRE_RESOURCE_CONSTANT) { /* nothing writes it */
        return (view){(uint8_t *)(uintptr_t)vyre_constant_data(m->ir, row), row->length, 0, 1};
    }
    uint64_t offset = m->layout.offsets[resource - m->phase->first_resource];
    return row->kind == VYRE_RESOURCE_SHARED
               ? (view){f->shared + offset, row->length, 0, 1}
               : (view){f->privates + offset, row->length, 1, m->layout.lanes};
}

/* Loads ask no mask: reading is harmless, and the lanes that are not there do not look at the
 * result. */
#define LOAD(type)                                                                                 \
    do {                                                                                           \
        type *r = (void *)to;                                                                      \
        const type *data = (const void *)v.data;                                                   \
        for (uint32_t i = 0; i < lanes; i++) {                                                     \
            uint64_t index = m->indices[i];                                                        \
            r[i] = index < v.length ? data[index * v.element_stride + (uint64_t)i * v.lane_stride] \
                                    : 0;                                                           \
        }                                                                                          \
    } while (0)

static void load(machine *m, view v, uint8_t *to, uint32_t bytes) {
    uint32_t lanes = m->layout.lanes;
    switch (bytes) {
    case 1: LOAD(uint8_t); break;
    case 2: LOAD(uint16_t); break;
    case 4: LOAD(uint32_t); break;
    default: LOAD(uint64_t); break;
    }
}

#define STORE(type)                                                                                \
    do {                                                                                           \
        const type *x = (const void *)from;                                                        \
        type *data = (void *)v.data;                                                               \
        for (uint32_t i = 0; i < lanes; i++) {                                                     \
            uint64_t index = m->indices[i];                                                        \
            if (mask[i] && index < v.length) {                                                     \
                data[index * v.element_stride + (uint64_t)i * v.lane_stride] = x[i];               \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static void store(machine *m, view v, const uint8_t *from, const uint8_t *mask, uint32_t bytes) {
    uint32_t lanes = m->layout.lanes;
    switch (bytes) {
    case 1: STORE(uint8_t); break;
    case 2: STORE(uint16_t); break;
    case 4: STORE(uint32_t); break;
    default: STORE(uint64_t); break;
    }
}

/* Atomics: one lane after the other, in an order that the schedule draws. */

typedef struct update {
    uint32_t op, bytes;
    vyre_evaluator evaluate; /* NULL for loads, stores, exchanges and compare-exchanges */
    view target;
    uint8_t *old;                   /* by lane; NULL where nothing comes back */
    const uint8_t *value, *desired; /* by lane; NULL where there is none */
} update;

/* Gives whether it writes. */
static bool update_lane(const update *u, uint64_t index, uint32_t lane) {
    uint8_t before[REGISTER_BYTES] = {0};
    size_t at = (size_t)lane * u->bytes;
    bool writes = index < u->target.length && u->value;
    if (index < u->target.length) {
        uint8_t *element = u->target.data + index * u->bytes * u->target.element_stride;
        memcpy(before, element, u->bytes);
        if (u->evaluate) {
            u->evaluate(element, before, u->value + at, NULL, 1);
        } else if (u->op == VYRE_OP_ATOMIC_CAS) {
            writes = !memcmp(before, u->value + at, u->bytes);
            if (writes) {
                memcpy(element, u->desired + at, u->bytes);
            }
        } else if (u->value) {
            memcpy(element, u->value + at, u->bytes);
        }
    }
    if (u->old) {
        memcpy(u->old + at, before, u->bytes);
    }
    return writes;
}

static bool update_all(machine *m, fiber *f, uint32_t at, view target, const uint32_t *values,
                       uint32_t count) {
    const vyre_inst *inst = &m->ir->insts[at];
    vyre_type type = vyre_resource_type(vyre_access_array(m->ir, inst));
    vyre_op plain = vyre_eval_updating(vyre_inst_op(inst));
    update u = {.op = inst->op,
                .bytes = vyre_type_bytes(type),
                .evaluate = plain ? vyre_eval_find(plain, type, type) : NULL,
                .target = target,
                .old = inst->type == VYRE_TYPE_VOID ? NULL : value_of(m, f, at),
                .value = count > 1 ? value_of(m, f, values[1]) : NULL,
                .desired = count > 2 ? value_of(m, f, values[2]) : NULL};
    const uint8_t *mask = top_frame(f)->mask;
    uint32_t lanes = m->layout.lanes;
    uint32_t start = m->interleaves ? (uint32_t)machine_random(m, lanes) : 0;
    bool backwards = m->interleaves && machine_random(m, 2);
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t lane = (start + (backwards ? lanes - i : i)) % lanes;
        if (!mask[lane]) {
            continue;
        }
        bool writes = update_lane(&u, m->indices[lane], lane);
        if (m->watch && !sanitizer_atomic(m, f, at, lane, writes)) {
            return false;
        }
    }
    return true;
}

/* Sets a private array to zero for the lanes that are there. */
static bool clear(machine *m, fiber *f, view target, uint32_t bytes) {
    const uint8_t *mask = top_frame(f)->mask;
    uint32_t lanes = m->layout.lanes;
    bool all = !memchr(mask, 0, lanes);
    if (all) {
        memset(target.data, 0, (size_t)target.length * lanes * bytes);
    }
    for (uint64_t i = 0; i < target.length && !all; i++) {
        for (uint32_t lane = 0; lane < lanes; lane++) {
            if (mask[lane]) {
                memset(target.data + (i * lanes + lane) * bytes, 0, bytes);
            }
        }
    }
    return machine_charge(m, f, target.length * lanes);
}

/* Has the sanitizer look at an access; false without memory. */
static bool watch_access(machine *m, fiber *f, uint32_t at) {
    bool syncs = m->ir->insts[at].op == VYRE_OP_UNIFORM_LOAD; /* a barrier on either side */
    return !m->watch || ((!syncs || sanitizer_barrier(m, f, at)) && sanitizer_access(m, f, at) &&
                         (!syncs || sanitizer_barrier(m, f, at)));
}

bool memory_access(machine *m, fiber *f, uint32_t at) {
    const vyre_inst *inst = &m->ir->insts[at];
    view target = view_of(m, f, vyre_access_resource(inst));
    uint32_t bytes = vyre_type_bytes(vyre_resource_type(vyre_access_array(m->ir, inst)));
    vyre_list values = vyre_inst_operands(m->ir, inst);
    if (values.count) {
        read_indices(m, f, values.items[0]);
    }
    switch (vyre_inst_op(inst)) {
    case VYRE_ONE_OF(LOAD, UNIFORM_LOAD):
        if (!watch_access(m, f, at)) {
            return machine_no_memory(m);
        }
        load(m, target, value_of(m, f, at), bytes);
        return true;
    case VYRE_OP_STORE:
        if (!watch_access(m, f, at)) {
            return machine_no_memory(m);
        }
        store(m, target, value_of(m, f, values.items[1]), top_frame(f)->mask, bytes);
        return true;
    case VYRE_OP_CLEAR: return clear(m, f, target, bytes);
    case VYRE_ANY_OF(ATOMIC):
        return update_all(m, f, at, target, values.items, values.count) || machine_no_memory(m);
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    return machine_unknown(m, at);
}
