/* Arrays: every access stays inside, by a predicate where that is not known. */
#include <stdio.h>

#include "backend/cuda/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/lookup.h"

const char *cuda_emit_space(const emit *e, uint32_t resource) {
    static const char *const names[] = {
        [VYRE_RESOURCE_BUFFER] = "global",  [VYRE_RESOURCE_SCRATCH] = "global",
        [VYRE_RESOURCE_SHARED] = "shared",  [VYRE_RESOURCE_PRIVATE] = "local",
        [VYRE_RESOURCE_CONSTANT] = "const", [VYRE_RESOURCE_FIELD] = "global"};
    return names[e->ir->resources[resource].kind];
}

const char *cuda_emit_memory_type(vyre_type type) {
    static const char *const names[VYRE_TYPE_COUNT] = {"?",   "u8",  "s8",  "u8",  "s16",
                                                       "u16", "u32", "u32", "u64", "u64",
                                                       "u16", "u16", "f32", "f64"};
    return type < VYRE_TYPE_COUNT ? names[type] : "?";
}

cuda_reg cuda_emit_zero(emit *e, cuda_class kind) {
    return cuda_in_register(&e->w, cuda_number(kind, 0));
}

static vyre_type element_type(const emit *e, uint32_t resource) {
    return vyre_resource_type(&e->ir->resources[resource]);
}

bool cuda_emit_is_local(const emit *e, uint32_t resource) {
    vyre_resource_kind kind = (vyre_resource_kind)e->ir->resources[resource].kind;
    return kind == VYRE_RESOURCE_SHARED || kind == VYRE_RESOURCE_PRIVATE;
}

/* From one element to the next. */
static uint32_t element_bytes(const emit *e, uint32_t resource) {
    return vyre_resource_stride(e->ir, &e->ir->resources[resource]);
}

/* In registers a bool in memory is a byte of its own. */
cuda_class cuda_emit_memory_class(vyre_type type) {
    return type == VYRE_TYPE_BOOL ? CUDA_B32 : cuda_class_of(type);
}

cuda_reg cuda_emit_to_memory(emit *e, vyre_type type, cuda_reg value) {
    value = type == VYRE_TYPE_BOOL ? cuda_choose(&e->w, value, cuda_u32(1), cuda_u32(0)) : value;
    return cuda_in_register(&e->w, value);
}

cuda_reg cuda_emit_from_memory(emit *e, vyre_type type, cuda_reg value) {
    return type == VYRE_TYPE_BOOL ? cuda_two(&e->w, "setp.ne.u32", CUDA_PRED, value, cuda_u32(0))
                                  : value;
}

/* The name of the block in which shared or private arrays are. */
static const char *block_name(const emit *e, uint32_t resource) {
    return e->ir->resources[resource].kind == VYRE_RESOURCE_SHARED ? "shared" : "private";
}

cuda_reg cuda_emit_inside(emit *e, uint32_t resource, vyre_type type, cuda_reg index) {
    if (cuda_width(type) == 64) {
        return cuda_two(&e->w, "setp.lt.u64", CUDA_PRED, index, cuda_emit_length(e, resource));
    }
    return cuda_two(&e->w, "setp.lt.u32", CUDA_PRED, index,
                    cuda_emit_limit(e, resource, cuda_is_signed(type)));
}

cuda_reg cuda_emit_block_start(emit *e, bool is_shared) {
    cuda_reg *base = &e->blocks[is_shared];
    if (!base->kind) {
        cuda_emit_begin_head(e);
        *base = cuda_new(&e->w, CUDA_B32);
        cuda_line(&e->w, "mov.u32 %s, %s_%s", cuda_reg_name(*base).text, e->name,
                  is_shared ? "shared" : "private");
        cuda_emit_end_head(e);
    }
    return *base;
}

/* Of an element in global memory. Of one in front of the array, too: its neighbours may be inside.
 */
static cuda_reg address_of(emit *e, uint32_t resource, vyre_type type, cuda_reg index) {
    uint32_t bytes = element_bytes(e, resource);
    cuda_reg base = cuda_emit_base(e, resource);
    return cuda_width(type) == 64
               ? cuda_three(&e->w, "mad.lo.u64", CUDA_B64, index, cuda_u64(bytes), base)
               : cuda_three(&e->w, cuda_is_signed(type) ? "mad.wide.s32" : "mad.wide.u32", CUDA_B64,
                            index, cuda_u32(bytes), base);
}

emit_where cuda_emit_where(emit *e, uint32_t resource, vyre_type type, cuda_reg index) {
    uint32_t bytes = element_bytes(e, resource);
    if (!cuda_emit_is_local(e, resource)) {
        const vyre_resource *row = &e->ir->resources[resource];
        int64_t in_record = vyre_resource_is_field(row) ? row->length : 0;
        return index.immediate && index.bits * bytes <= INT32_MAX / 2 /* neighbours fit, too */
                   ? (emit_where){cuda_emit_base(e, resource),
                                  (int64_t)(index.bits * bytes) + in_record}
                   : (emit_where){address_of(e, resource, type, index), in_record};
    }
    uint32_t offset = e->arrays[resource].offset;
    if (index.immediate) {
        return (emit_where){cuda_none(), (int64_t)(offset + index.bits * bytes)};
    }
    cuda_reg narrow =
        cuda_width(type) == 64 ? cuda_one(&e->w, "cvt.u32.u64", CUDA_B32, index) : index;
    cuda_reg base =
        cuda_emit_block_start(e, e->ir->resources[resource].kind == VYRE_RESOURCE_SHARED);
    cuda_reg at = cuda_three(&e->w, "mad.lo.u32", CUDA_B32, narrow, cuda_u32(bytes), base);
    return (emit_where){at, offset};
}

/* An index as a sum of a number and of a few values that are not negative, where nothing wraps. */
enum { MOST_TERMS = 3, SUM_DEPTH = 4 };
typedef struct index_sum {
    uint32_t terms[MOST_TERMS], count;
    int64_t number;
    uint64_t most; /* of the terms together */
} index_sum;

static bool add_to_sum(emit *e, uint32_t operand, uint32_t part, uint32_t depth, index_sum *sum) {
    vyre_type type = vyre_operand_type(e->ir, operand);
    cuda_reg value = cuda_emit_operand(e, operand, part);
    if (value.immediate) {
        sum->number += cuda_is_signed(type) ? (int32_t)value.bits : (int64_t)value.bits;
        return true;
    }
    const vyre_inst *i = &e->ir->insts[operand];
    const vyre_range *range = vyre_range_of(&e->facts.ranges, operand);
    if (i->op == VYRE_OP_ADD && range->exact && depth) {
        return add_to_sum(e, i->a, part, depth - 1, sum) &&
               add_to_sum(e, i->b, part, depth - 1, sum);
    }
    cuda_reg less = i->op == VYRE_OP_SUB ? cuda_emit_operand(e, i->b, part) : cuda_none();
    if (less.immediate && range->exact && depth) {
        sum->number -= cuda_is_signed(type) ? (int32_t)less.bits : (int64_t)less.bits;
        return add_to_sum(e, i->a, part, depth - 1, sum);
    }
    if (sum->count == MOST_TERMS || range->min < 0 || range->max > UINT32_MAX) {
        return false;
    }
    sum->terms[sum->count++] = operand;
    sum->most += (uint64_t)range->max;
    return true;
}

emit_where cuda_emit_where_of(emit *e, uint32_t resource, uint32_t operand, uint32_t part) {
    vyre_type type = vyre_operand_type(e->ir, operand);
    index_sum sum = {0};
    int64_t bytes = element_bytes(e, resource), most = (1 << 23) / bytes;
    bool is_sum = cuda_width(type) == 32 && add_to_sum(e, operand, part, SUM_DEPTH, &sum) &&
                  sum.count && sum.number && sum.most <= UINT32_MAX && sum.number < most &&
                  sum.number > -most;
    if (!is_sum) {
        return cuda_emit_where(e, resource, type, cuda_emit_operand(e, operand, part));
    }
    cuda_reg rest = cuda_emit_operand(e, sum.terms[0], part);
    for (uint32_t k = 1; k < sum.count; k++) {
        rest = cuda_two(&e->w, "add.u32", CUDA_B32, rest, cuda_emit_operand(e, sum.terms[k], part));
    }
    emit_where where = cuda_emit_where(e, resource, VYRE_TYPE_U32, rest);
    where.offset += sum.number * bytes;
    return where;
}

emit_place_text cuda_emit_place_of(const emit *e, uint32_t resource, emit_where where,
                                   int64_t more) {
    emit_place_text place;
    long long offset = where.offset + more;
    if (!where.base.kind) {
        snprintf(place.text, sizeof place.text, "[%s_%s+%lld]", e->name, block_name(e, resource),
                 offset);
    } else if (offset) {
        snprintf(place.text, sizeof place.text, "[%s+%lld]", cuda_reg_name(where.base).text,
                 offset);
    } else {
        snprintf(place.text, sizeof place.text, "[%s]", cuda_reg_name(where.base).text);
    }
    return place;
}

static emit_kept *kept_where(emit *e, const vyre_access_group *group, uint32_t part) {
    return &e->wheres[(size_t)(group - e->facts.accesses.rows) * e->facts.parts + part];
}

/* Code is written more than once, and its first access may have another way each time: what an
 * earlier writing left is nothing to go by. */
static void forget_where(emit *e, uint32_t inst) {
    const vyre_access_group *group = vyre_access_group_of(&e->facts.accesses, inst);
    for (uint32_t part = 0; group && inst == group->head && part < e->facts.parts; part++) {
        kept_where(e, group, part)->known = false;
    }
}

/* Neighbours that are accessed one by one have one address, and numbers behind it. */
static emit_where shared_where(emit *e, uint32_t inst, uint32_t operand, uint32_t part) {
    uint32_t resource = vyre_access_resource(&e->ir->insts[inst]);
    const vyre_access_group *group = vyre_access_group_of(&e->facts.accesses, inst);
    /* A constant is a place by itself, and the first may be none. Small arrays may start where
     * memory does, and in front of that is nothing. */
    if (!group || !vyre_operand_is_value(operand) ||
        (cuda_emit_is_local(e, resource) && vyre_range_of(&e->facts.ranges, operand)->min < 0)) {
        return cuda_emit_where_of(e, resource, operand, part);
    }
    int64_t bytes = vyre_type_bytes(element_type(e, resource)), own = 0;
    while (group->members[own] != inst) {
        own++;
    }
    emit_kept *kept = kept_where(e, group, part);
    if (!kept->known) {
        kept->known = true;
        kept->where = cuda_emit_where_of(e, resource, operand, part);
        kept->where.offset -= own * bytes;
    }
    emit_where where = kept->where;
    where.offset += own * bytes;
    return where;
}

emit_element cuda_emit_find(emit *e, uint32_t inst, uint32_t part) {
    uint32_t resource = vyre_access_resource(&e->ir->insts[inst]);
    uint32_t operand = vyre_access_index(e->ir, &e->ir->insts[inst]);
    vyre_type type = vyre_operand_type(e->ir, operand);
    cuda_reg index = cuda_emit_operand(e, operand, part);
    emit_element found = {.inside = cuda_none()};
    uint64_t length = e->ir->resources[resource].length;
    bool has_length = !vyre_resource_is_global(&e->ir->resources[resource]);
    if (index.immediate && (has_length ? index.bits >= length
                                       : index.bits > UINT32_MAX ||
                                             (cuda_is_signed(type) && index.bits > INT32_MAX))) {
        found.never = true;
        return found;
    }
    if (!cuda_is_inside(&e->facts, inst) && (!index.immediate || !has_length)) {
        found.inside = cuda_emit_inside(e, resource, type, index);
    }
    emit_where where = shared_where(e, inst, operand, cuda_varies(&e->facts, operand) ? part : 0);
    found.place = cuda_emit_place_of(e, resource, where, 0);
    return found;
}

/* Loads from memory that nobody writes while the phase runs may be kept close to the thread. */
const char *cuda_emit_load_name(const emit *e, uint32_t resource) {
    if (cuda_emit_is_local(e, resource)) {
        return e->ir->resources[resource].kind == VYRE_RESOURCE_SHARED ? "ld.shared" : "ld.local";
    }
    if (e->ir->resources[resource].kind == VYRE_RESOURCE_CONSTANT) {
        return *cuda_emit_constant_space(e) == 'c' ? "ld.const" : "ld.global.nc";
    }
    return e->facts.written[resource] ? "ld.global" : "ld.global.nc";
}

/* The element for a part, into a register. */
static void load_into(emit *e, uint32_t inst, uint32_t part, cuda_reg value) {
    uint32_t resource = vyre_access_resource(&e->ir->insts[inst]);
    emit_element element = cuda_emit_find(e, inst, part);
    if (element.never || element.inside.kind) {
        cuda_move(&e->w, value, cuda_number((cuda_class)value.kind, 0));
    }
    if (!element.never) {
        cuda_emit_if(e, element.inside, "%s.%s %s, %s", cuda_emit_load_name(e, resource),
                     cuda_emit_memory_type(element_type(e, resource)), cuda_reg_name(value).text,
                     element.place.text);
    }
}

static void store_one(emit *e, uint32_t inst, uint32_t part) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i);
    vyre_type type = element_type(e, resource);
    emit_element element = cuda_emit_find(e, inst, part);
    if (!element.never) {
        cuda_reg value = cuda_emit_operand(e, vyre_access_value(e->ir, i), part);
        cuda_reg stored = cuda_emit_to_memory(e, type, value);
        cuda_emit_if(e, element.inside, "st.%s.%s %s, %s", cuda_emit_space(e, resource),
                     cuda_emit_memory_type(type), element.place.text, cuda_reg_name(stored).text);
    }
}

void cuda_emit_load(emit *e, uint32_t inst) {
    forget_where(e, inst);
    for (uint32_t k = 0; k < e->ahead.count; k++) {
        if (e->ahead.insts[k] == inst) { /* is there already */
            *emit_slot(e, inst, emit_first(e, inst)) = e->ahead.values[k][e->ahead.iteration];
            return;
        }
    }
    if (cuda_emit_load_run(e, inst)) {
        return;
    }
    for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++) {
        vyre_type type = vyre_resource_type(vyre_access_array(e->ir, &e->ir->insts[inst]));
        cuda_reg value = cuda_new(&e->w, cuda_emit_memory_class(type));
        load_into(e, inst, part, value);
        *emit_slot(e, inst, part) = cuda_emit_from_memory(e, type, value);
    }
}

bool cuda_emit_stores_alike(const emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    return !cuda_varies(&e->facts, vyre_access_index(e->ir, i)) &&
           !cuda_varies(&e->facts, vyre_access_value(e->ir, i));
}

static void write_store(emit *e, uint32_t inst) {
    forget_where(e, inst);
    if (cuda_emit_store_run(e, inst)) {
        return;
    }
    uint32_t end = cuda_emit_stores_alike(e, inst) ? e->first_part + 1 : e->end_part;
    for (uint32_t part = e->first_part; part < end; part++) {
        store_one(e, inst, part);
    }
}

/* A private array to zero: each starts at a multiple of 16 bytes. */
void cuda_emit_clear(emit *e, uint32_t resource) {
    enum { WRITTEN_OUT = 512 };
    uint32_t bytes = (uint32_t)vyre_resource_bytes(&e->ir->resources[resource]);
    uint32_t end = (bytes + 15) / 16 * 16, offset = e->arrays[resource].offset;
    cuda_reg zero = cuda_emit_zero(e, CUDA_B32);
    cuda_name text = cuda_reg_name(zero);
    const char *name = text.text;
    if (end <= WRITTEN_OUT) {
        for (uint32_t at = 0; at < end; at += 16) {
            cuda_line(&e->w, "st.local.v4.u32 [%s_private+%u], {%s, %s, %s, %s}", e->name,
                      offset + at, name, name, name, name);
        }
        return;
    }
    uint32_t head = cuda_emit_label(e);
    cuda_reg at = cuda_new(&e->w, CUDA_B32), last = cuda_new(&e->w, CUDA_B32);
    cuda_line(&e->w, "mov.u32 %s, %s_private", cuda_reg_name(at).text, e->name);
    cuda_line(&e->w, "add.u32 %s, %s, %u", cuda_reg_name(last).text, cuda_reg_name(at).text, end);
    cuda_emit_place(e, head);
    cuda_line(&e->w, "st.local.v4.u32 [%s+%u], {%s, %s, %s, %s}", cuda_reg_name(at).text, offset,
              name, name, name, name);
    cuda_line(&e->w, "add.u32 %s, %s, 16", cuda_reg_name(at).text, cuda_reg_name(at).text);
    cuda_emit_branch(e, cuda_two(&e->w, "setp.ne.u32", CUDA_PRED, at, last), true, head, true);
}

void cuda_emit_memory(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    switch (vyre_inst_op(i)) {
    case VYRE_OP_LOAD: cuda_emit_load(e, inst); return;
    case VYRE_OP_UNIFORM_LOAD: cuda_emit_uniform_load(e, inst); return;
    case VYRE_OP_STORE: write_store(e, inst); return;
    case VYRE_OP_CLEAR: cuda_emit_clear(e, vyre_access_resource(i)); return;
    case VYRE_ANY_OF(ATOMIC): cuda_emit_atomic(e, inst); return;
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    cuda_emit_unknown(e, inst);
}
