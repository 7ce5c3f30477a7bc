/* Operands, positions, and what the frame holds. */
#include "backend/spirv/emit_state.h"
#include "ir/cases.h"

static spv_id pointer_to(emit *e, spirv_kind kind, spv_id address) {
    spv_id type = spirv_pointer(&e->b, SPV_S_PhysicalStorageBuffer, spirv_type(&e->b, kind));
    return spirv_value(&e->b, SPV_ConvertUToPtr, type, &address, 1);
}

spv_id spirv_emit_read(emit *e, spirv_kind kind, spv_id address) {
    return SPIRV_VALUE(&e->b, SPV_Load, kind, pointer_to(e, kind, address), SPV_ALIGNED,
                       spirv_kind_bytes(kind));
}

void spirv_emit_write(emit *e, spirv_kind kind, spv_id address, spv_id value) {
    SPIRV_LINE(&e->b, SPV_Store, pointer_to(e, kind, address), value, SPV_ALIGNED,
               spirv_kind_bytes(kind));
}

static spv_id in_frame(emit *e, uint32_t offset) {
    return spirv_two(&e->b, SPV_IAdd, SPIRV_U64, e->frame, spirv_u64(&e->b, offset));
}

spv_id spirv_emit_pushed(emit *e, uint32_t index) {
    spirv_builder *b = &e->b;
    const uint32_t words[] = {e->push, spirv_u32(b, index)};
    spv_id type = spirv_type(b, SPIRV_U64);
    spv_id pointer =
        spirv_value(b, SPV_AccessChain, spirv_pointer(b, SPV_S_PushConstant, type), words, 2);
    return spirv_value(b, SPV_Load, type, &pointer, 1);
}

/* A number of a frame in the push constants, of which all have 64 bits. */
static spv_id part_of_pushed(emit *e, spirv_kind kind, uint32_t offset) {
    spirv_builder *b = &e->b;
    spv_id value = spirv_emit_pushed(e, offset / 8);
    if (offset % 8) {
        value = spirv_two(b, SPV_ShiftRightLogical, SPIRV_U64, value, spirv_u32(b, 32));
    }
    return kind == SPIRV_U32 ? spirv_one(b, SPV_UConvert, SPIRV_U32, value) : value;
}

spv_id spirv_emit_frame(emit *e, spirv_kind kind, uint32_t offset) {
    spirv_emit_begin_head(e);
    spv_id value =
        e->frame ? spirv_emit_read(e, kind, in_frame(e, offset)) : part_of_pushed(e, kind, offset);
    spirv_emit_end_head(e);
    return value;
}

/* Where a field's address and length are: with its buffer. */
static uint32_t table_entry(const emit *e, uint32_t resource) {
    const vyre_resource *row = &e->ir->resources[resource];
    return vyre_resource_is_field(row) ? row->size : resource;
}

spv_id spirv_emit_length(emit *e, uint32_t resource) {
    resource = table_entry(e, resource);
    const vyre_resource *row = &e->ir->resources[resource];
    if (row->kind > VYRE_RESOURCE_SCRATCH) {
        return spirv_u64(&e->b, row->length);
    }
    emit_array *array = &e->arrays[resource];
    if (!array->length) {
        array->length = spirv_emit_frame(e, SPIRV_U64, e->layout.lengths + 8 * resource);
    }
    return array->length;
}

/* A negative number is one of 2^31 or more: none may pass for an index. */
spv_id spirv_emit_limit(emit *e, uint32_t resource, bool is_signed) {
    resource = table_entry(e, resource);
    const vyre_resource *row = &e->ir->resources[resource];
    emit_array *array = &e->arrays[resource];
    if (row->kind > VYRE_RESOURCE_SCRATCH) {
        return spirv_u32(&e->b, row->length); /* is small */
    }
    spv_id length = spirv_emit_length(e, resource);
    spirv_emit_begin_head(e);
    if (!array->limit) {
        array->limit = spirv_one(&e->b, SPV_UConvert, SPIRV_U32, length);
    }
    if (is_signed && !array->signed_limit) {
        spv_id most = spirv_u32(&e->b, UINT32_C(1) << 31);
        spv_id large = spirv_two(&e->b, SPV_ULessThan, SPIRV_BOOL, most, array->limit);
        array->signed_limit = spirv_choose(&e->b, SPIRV_U32, large, most, array->limit);
    }
    spirv_emit_end_head(e);
    return is_signed ? array->signed_limit : array->limit;
}

/* Constant arrays stand in `data`. */
static spv_id constant_base(emit *e, const vyre_resource *row) {
    spv_id data = spirv_emit_frame(e, SPIRV_U64, e->layout.constants);
    spirv_emit_begin_head(e);
    spv_id base = spirv_two(&e->b, SPV_IAdd, SPIRV_U64, data, spirv_u64(&e->b, row->size));
    spirv_emit_end_head(e);
    return base;
}

spv_id spirv_emit_base(emit *e, uint32_t resource) {
    resource = table_entry(e, resource);
    const vyre_resource *row = &e->ir->resources[resource];
    emit_array *array = &e->arrays[resource];
    if (!array->base) {
        array->base = row->kind == VYRE_RESOURCE_CONSTANT
                          ? constant_base(e, row)
                          : spirv_emit_frame(e, SPIRV_U64, e->layout.arrays + 8 * resource);
    }
    return array->base;
}

spv_id spirv_emit_counters(emit *e) {
    if (!e->counters) {
        e->counters = spirv_emit_frame(e, SPIRV_U64, e->layout.counters);
    }
    return e->counters;
}

static spv_id stop_address(emit *e) {
    if (!e->stop) {
        e->stop = spirv_emit_frame(e, SPIRV_U64, e->layout.stop);
    }
    return e->stop;
}

static spv_id stop_pointer(emit *e) {
    return pointer_to(e, SPIRV_U32, stop_address(e));
}

void spirv_emit_stop_check(emit *e) {
    spirv_builder *b = &e->b;
    spv_id word = SPIRV_VALUE(b, SPV_AtomicLoad, SPIRV_U32, stop_pointer(e),
                              spirv_u32(b, SPV_SCOPE_DEVICE), spirv_u32(b, 0));
    spv_id stopped = spirv_two(b, SPV_INotEqual, SPIRV_BOOL, word, spirv_u32(b, 0));
    spv_id behind = spirv_begin_if(b, stopped);
    spirv_end(b, SPV_Return);
    spirv_end_if(b, behind);
}

/* A variable that counts from 0 on, and what it is with so many more. All loops of an invocation
 * count together. */
static spv_id grown(emit *e, spv_id *variable, uint32_t count) {
    spirv_builder *b = &e->b;
    spv_id type = spirv_type(b, SPIRV_U32);
    if (!*variable) {
        *variable = spirv_local(b, type);
        spirv_emit_begin_head(e);
        SPIRV_LINE(b, SPV_Store, *variable, spirv_u32(b, 0));
        spirv_emit_end_head(e);
    }
    spv_id now = spirv_value(b, SPV_Load, type, variable, 1);
    return spirv_two(b, SPV_IAdd, SPIRV_U32, now, spirv_u32(b, count));
}

void spirv_emit_set_turns(emit *e, spv_id turns) {
    SPIRV_LINE(&e->b, SPV_Store, e->turns, turns);
}

spv_id spirv_emit_may_turn(emit *e, uint32_t count, spv_id *out_turns) {
    *out_turns = grown(e, &e->turns, count);
    return spirv_two(&e->b, SPV_ULessThanEqual, SPIRV_BOOL, *out_turns,
                     spirv_u32(&e->b, e->most_turns));
}

void spirv_emit_give_up(emit *e) {
    spirv_builder *b = &e->b;
    SPIRV_LINE(b, SPV_AtomicStore, stop_pointer(e), spirv_u32(b, SPV_SCOPE_DEVICE), spirv_u32(b, 0),
               spirv_u32(b, SPIRV_STOP_TURNS));
    spirv_end(b, SPV_Return);
}

void spirv_emit_turns(emit *e, uint32_t count) {
    spirv_builder *b = &e->b;
    if (!e->most_turns) {
        return;
    }
    spv_id turns = grown(e, &e->turns, count);
    spirv_emit_set_turns(e, turns);
    spv_id many = spirv_two(b, SPV_ULessThan, SPIRV_BOOL, spirv_u32(b, e->most_turns), turns);
    spv_id behind = spirv_begin_if(b, many);
    spirv_emit_give_up(e);
    spirv_end_if(b, behind);
}

void spirv_emit_known_turns(emit *e, uint64_t count) {
    uint32_t most = count < UINT32_MAX / 2 ? (uint32_t)count : UINT32_MAX / 2;
    if (e->turns_are_checked) {
        spirv_emit_turns(e, most);
    } else if (e->most_turns) {
        spirv_emit_set_turns(e, grown(e, &e->turns, most));
    }
}

void spirv_emit_poll(emit *e) {
    enum { BETWEEN = 64 }; /* iterations from one look to the next */
    spirv_builder *b = &e->b;
    if (!e->target->polls) {
        return;
    }
    spv_id looks = grown(e, &e->looks, 1);
    SPIRV_LINE(b, SPV_Store, e->looks, looks);
    spv_id rest = spirv_two(b, SPV_BitwiseAnd, SPIRV_U32, looks, spirv_u32(b, BETWEEN - 1));
    spv_id now = spirv_two(b, SPV_IEqual, SPIRV_BOOL, rest, spirv_u32(b, 0));
    spv_id behind = spirv_begin_if(b, now);
    spirv_emit_stop_check(e);
    spirv_end_if(b, behind);
}

/* A zero that drivers do not see through: the highest bit of a domain. */
static spv_id hidden_zero(emit *e, bool is_wide) {
    spirv_builder *b = &e->b;
    spv_id *zero = &e->hidden_zeros[is_wide];
    if (!*zero) {
        spv_id domain = spirv_emit_frame(e, SPIRV_U64, e->layout.domain);
        spirv_emit_begin_head(e);
        *zero = spirv_two(b, SPV_ShiftRightLogical, SPIRV_U64, domain, spirv_u32(b, 63));
        *zero = is_wide ? *zero : spirv_one(b, SPV_UConvert, SPIRV_U32, *zero);
        spirv_emit_end_head(e);
    }
    return *zero;
}

spv_id spirv_emit_hidden(emit *e, vyre_type type, spv_id bits) {
    return spirv_two(&e->b, SPV_BitwiseOr, spirv_kind_of(type), bits,
                     hidden_zero(e, spirv_width(type) == 64));
}

/* Mesa 22.3 takes x + 0 for x, x * 0 for 0 and x / 0 for anything where it sees the zero, whatever
 * sign or NaN x is. */
static spv_id constant_of(emit *e, const vyre_const *row) {
    vyre_type type = vyre_const_type(row);
    spv_id bits = spirv_constant(&e->b, type, row->bits);
    bool is_float = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
    bool is_zero = is_float && !(row->bits << (65 - spirv_width(type)));
    return is_zero || (is_float && e->target->folds_zeros) ? spirv_emit_hidden(e, type, bits)
                                                           : bits;
}

spirv_slot spirv_emit_operand(emit *e, uint32_t operand) {
    if (vyre_operand_is_constant(operand)) {
        return (spirv_slot){constant_of(e, vyre_operand_const(e->ir, operand)), false};
    }
    return *emit_slot(e, operand);
}

spv_id spirv_emit_bits(emit *e, uint32_t operand) {
    return spirv_to_bits(&e->b, vyre_operand_type(e->ir, operand), spirv_emit_operand(e, operand));
}

void spirv_emit_set(emit *e, uint32_t inst, spv_id bits) {
    *emit_slot(e, inst) = (spirv_slot){bits, false};
}

/* An argument: the low bits of a 64-bit number, as a value of its type. */
static spv_id parameter(emit *e, const vyre_inst *i) {
    spirv_builder *b = &e->b;
    vyre_type type = vyre_inst_type(i);
    spv_id bits = spirv_emit_frame(e, SPIRV_U64, e->layout.arguments + 8 * i->a);
    if (spirv_width(type) == 64) {
        return bits;
    }
    spv_id low = spirv_one(b, SPV_UConvert, SPIRV_U32, bits);
    if (type == VYRE_TYPE_BOOL) {
        spv_id bit = spirv_two(b, SPV_BitwiseAnd, SPIRV_U32, low, spirv_u32(b, 1));
        return spirv_two(b, SPV_INotEqual, SPIRV_BOOL, bit, spirv_u32(b, 0));
    }
    return spirv_narrow(b, type, low);
}

/* From the frame, or from where the device counts the iterations itself; where it does not, the
 * stop word is read in place of that. */
static spv_id iteration(emit *e, uint32_t step) {
    spirv_builder *b = &e->b;
    spv_id counted = spirv_emit_frame(e, SPIRV_U64, e->layout.device_iterations);
    spv_id here = spirv_emit_frame(e, SPIRV_U32, e->layout.iterations + 4 * step);
    spv_id other = stop_address(e);
    spirv_emit_begin_head(e);
    spv_id there = spirv_two(b, SPV_IAdd, SPIRV_U64, counted, spirv_u64(b, 4 * (uint64_t)step));
    spv_id counts = spirv_two(b, SPV_INotEqual, SPIRV_BOOL, counted, spirv_u64(b, 0));
    spv_id place = pointer_to(e, SPIRV_U32, spirv_choose(b, SPIRV_U64, counts, there, other));
    spv_id number = SPIRV_VALUE(b, SPV_AtomicLoad, SPIRV_U32, place, spirv_u32(b, SPV_SCOPE_DEVICE),
                                spirv_u32(b, 0));
    number = spirv_choose(b, SPIRV_U32, counts, number, here);
    spirv_emit_end_head(e);
    return number;
}

static spv_id global_position(emit *e, uint32_t d) {
    if (!e->phase->workgroup[0]) {
        return e->position[d];
    }
    spv_id start = spirv_two(&e->b, SPV_IMul, SPIRV_U32, e->group[d],
                             spirv_u32(&e->b, e->phase->workgroup[d]));
    return spirv_two(&e->b, SPV_IAdd, SPIRV_U32, start, e->position[d]);
}

static spv_id in_domain(emit *e) {
    spirv_builder *b = &e->b;
    spv_id inside = 0;
    for (uint32_t d = 0; d < e->phase->dimensions; d++) {
        spv_id start = spirv_one(b, SPV_UConvert, SPIRV_U64, e->group[d]);
        start = spirv_two(b, SPV_IMul, SPIRV_U64, start, spirv_u64(b, e->phase->workgroup[d]));
        spv_id at = spirv_one(b, SPV_UConvert, SPIRV_U64, e->position[d]);
        at = spirv_two(b, SPV_IAdd, SPIRV_U64, start, at);
        spv_id less = spirv_two(b, SPV_ULessThan, SPIRV_BOOL, at, e->domain[d]);
        inside = inside ? spirv_two(b, SPV_LogicalAnd, SPIRV_BOOL, inside, less) : less;
    }
    return inside;
}

static spv_id subgroup_id(emit *e) {
    uint32_t shift = 0;
    while (e->phase->subgroup >> shift > 1) {
        shift++;
    }
    return spirv_two(&e->b, SPV_ShiftRightLogical, SPIRV_U32, e->thread, spirv_u32(&e->b, shift));
}

static spv_id surrounding(emit *e, const vyre_inst *i) {
    spirv_builder *b = &e->b;
    switch (vyre_inst_op(i)) {
    case VYRE_OP_PARAM: return parameter(e, i);
    case VYRE_OP_ITERATION: return iteration(e, i->a);
    case VYRE_OP_LEN: return spirv_emit_limit(e, vyre_access_resource(i), false);
    case VYRE_OP_GID: return global_position(e, i->a);
    case VYRE_OP_LID: return e->position[i->a];
    case VYRE_OP_WID: return e->group[i->a];
    case VYRE_OP_NUM_WORKGROUPS: return spirv_one(b, SPV_UConvert, SPIRV_U32, e->groups[i->a]);
    case VYRE_OP_IN_DOMAIN: return in_domain(e);
    case VYRE_OP_LANE:
        return spirv_two(b, SPV_BitwiseAnd, SPIRV_U32, e->thread,
                         spirv_u32(b, e->phase->subgroup - 1));
    case VYRE_OP_SUBGROUP_ID: return subgroup_id(e);
    case VYRE_ANY_OF(PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    return 0;
}

void spirv_emit_surroundings(emit *e, uint32_t inst) {
    spv_id id = surrounding(e, &e->ir->insts[inst]);
    if (!id) {
        spirv_emit_unknown(e, inst);
    }
    spirv_emit_set(e, inst, id);
}
