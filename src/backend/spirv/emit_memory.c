/* Arrays: every access stays inside. A load from outside reads an element that exists and drops
 * it; a store or an atomic is not done. */
#include "backend/spirv/emit_state.h"
#include "ir/cases.h"

static vyre_type element_type(const emit *e, uint32_t resource) {
    return vyre_resource_type(&e->ir->resources[resource]);
}

/* Shared and private arrays, which are variables. */
static bool is_variable(const emit *e, uint32_t resource) {
    uint32_t kind = e->ir->resources[resource].kind;
    return kind == VYRE_RESOURCE_SHARED || kind == VYRE_RESOURCE_PRIVATE;
}

/* Devices that cannot compute with narrow integers keep a word for each element of a variable. */
spirv_kind spirv_emit_stored(const emit *e, uint32_t resource) {
    uint32_t bytes = vyre_type_bytes(element_type(e, resource));
    bool in_memory = !is_variable(e, resource);
    if (bytes == 1) {
        return in_memory || e->target->int8 ? SPIRV_U8 : SPIRV_U32;
    }
    if (bytes == 2) {
        return in_memory || e->target->int16 ? SPIRV_U16 : SPIRV_U32;
    }
    return bytes == 8 ? SPIRV_U64 : SPIRV_U32;
}

void spirv_emit_need_narrow(emit *e, spirv_kind kind, bool in_memory) {
    if (kind == SPIRV_U8) {
        spirv_need(&e->b, in_memory ? SPV_C_StorageBuffer8BitAccess : SPV_C_Int8);
        e->lack = in_memory && !e->target->storage8 ? "arrays of bytes (storageBuffer8BitAccess)"
                                                    : e->lack;
    } else if (kind == SPIRV_U16) {
        spirv_need(&e->b, in_memory ? SPV_C_StorageBuffer16BitAccess : SPV_C_Int16);
        e->lack = in_memory && !e->target->storage16
                      ? "arrays of 16-bit elements (storageBuffer16BitAccess)"
                      : e->lack;
    }
}

static uint32_t storage_of(const emit *e, uint32_t resource) {
    uint32_t kind = e->ir->resources[resource].kind;
    return kind == VYRE_RESOURCE_SHARED    ? SPV_S_Workgroup
           : kind == VYRE_RESOURCE_PRIVATE ? SPV_S_Function
                                           : SPV_S_PhysicalStorageBuffer;
}

void spirv_emit_declare_arrays(emit *e) {
    spirv_builder *b = &e->b;
    for (uint32_t r = e->phase->first_resource; r < e->phase->end_resource; r++) {
        const vyre_resource *row = &e->ir->resources[r];
        if (!e->facts.used[r]) {
            continue;
        }
        spirv_kind kind = spirv_emit_stored(e, r);
        uint32_t bytes = (row->length * spirv_kind_bytes(kind) + 15) / 16 * 16;
        spirv_emit_need_narrow(e, kind, false);
        spv_id type = spirv_array(b, spirv_type(b, kind), row->length);
        bool is_shared = row->kind == VYRE_RESOURCE_SHARED;
        e->arrays[r].variable =
            is_shared ? spirv_global(b, SPV_S_Workgroup, type) : spirv_local(b, type);
        *(is_shared ? &e->info->shared_bytes : &e->info->private_bytes) += bytes;
        if (e->target->names && e->ir->resource_name_count) {
            spirv_name(b, e->arrays[r].variable, e->ir->debug_strings + e->ir->resource_names[r]);
        }
    }
}

/* Whether the index, of 32 or 64 bits, is one of the array. */
static spv_id inside(emit *e, uint32_t resource, vyre_type type, spv_id index) {
    spv_id limit = spirv_width(type) == 64 ? spirv_emit_length(e, resource)
                                           : spirv_emit_limit(e, resource, spirv_is_signed(type));
    return spirv_two(&e->b, SPV_ULessThan, SPIRV_BOOL, index, limit);
}

/* The pointer to an element that is there. */
static spv_id place_of(emit *e, uint32_t resource, vyre_type type, spv_id index) {
    spirv_builder *b = &e->b;
    const vyre_resource *row = &e->ir->resources[resource];
    bool wide = spirv_width(type) == 64;
    spirv_kind kind = spirv_emit_stored(e, resource);
    spv_id pointer = spirv_pointer(b, storage_of(e, resource), spirv_type(b, kind));
    if (is_variable(e, resource)) {
        spv_id narrow = wide ? spirv_one(b, SPV_UConvert, SPIRV_U32, index) : index;
        const uint32_t words[] = {e->arrays[resource].variable, narrow};
        return spirv_value(b, SPV_AccessChain, pointer, words, 2);
    }
    spirv_emit_need_narrow(e, kind, true);
    spv_id base = spirv_emit_base(e, resource);
    spv_id at = wide ? index : spirv_one(b, SPV_UConvert, SPIRV_U64, index);
    uint32_t stride = vyre_resource_stride(e->ir, row);
    uint32_t shift = 0;
    while (shift < 31 && (UINT32_C(1) << shift) < stride) {
        shift++;
    }
    if (UINT32_C(1) << shift != stride) {
        at = spirv_two(b, SPV_IMul, SPIRV_U64, at, spirv_u64(b, stride));
    } else if (shift) {
        at = spirv_two(b, SPV_ShiftLeftLogical, SPIRV_U64, at, spirv_u32(b, shift));
    }
    spv_id address = spirv_two(b, SPV_IAdd, SPIRV_U64, base, at);
    if (vyre_resource_is_field(row) && row->length) {
        address = spirv_two(b, SPV_IAdd, SPIRV_U64, address, spirv_u64(b, row->length));
    }
    return spirv_value(b, SPV_ConvertUToPtr, pointer, &address, 1);
}

emit_element spirv_emit_find(emit *e, uint32_t inst, bool is_guarded) {
    spirv_builder *b = &e->b;
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i), operand = vyre_access_index(e->ir, i);
    vyre_type type = vyre_operand_type(e->ir, operand);
    const vyre_resource *row = &e->ir->resources[resource];
    emit_element found = {0};
    if (vyre_operand_is_constant(operand)) {
        uint64_t index = vyre_const_extended(vyre_operand_const(e->ir, operand));
        uint64_t most = vyre_resource_is_global(row) ? UINT32_MAX : row->length;
        if (index >= most || (spirv_is_signed(type) && (int64_t)index < 0)) {
            found.never = true;
            return found;
        }
    }
    spv_id index = spirv_emit_bits(e, operand);
    bool is_known = vyre_operand_is_constant(operand) && !vyre_resource_is_global(row);
    if (!is_known && !spirv_is_inside(&e->facts, inst)) {
        found.inside = inside(e, resource, type, index);
    }
    if (is_guarded) {
        return found;
    }
    if (found.inside) {
        spirv_kind kind = spirv_kind_of(type);
        index = spirv_choose(b, kind, found.inside, index, spirv_number_of(b, kind, 0));
    }
    found.pointer = place_of(e, resource, type, index);
    return found;
}

/* The pointer of a guarded access, inside of the guard. */
spv_id spirv_emit_place(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t operand = vyre_access_index(e->ir, i);
    return place_of(e, vyre_access_resource(i), vyre_operand_type(e->ir, operand),
                    spirv_emit_bits(e, operand));
}

/* Memory operands: those that others may write, or read, while the phase runs are said to be. */
static uint32_t memory_operands(const emit *e, uint32_t resource, uint32_t out_words[2]) {
    const vyre_resource *row = &e->ir->resources[resource];
    bool is_shared = row->kind == VYRE_RESOURCE_SHARED;
    bool in_memory = !is_variable(e, resource);
    bool seen = is_shared || (in_memory && e->facts.written[resource] && e->facts.synchronises);
    uint32_t bits = in_memory ? SPV_ALIGNED : 0;
    if (seen && e->target->vulkan_model) {
        bits |= SPV_NON_PRIVATE;
    }
    bool is_fenced = e->target->no_fences && e->facts.orders;
    if (seen && (is_fenced || (in_memory && !e->target->vulkan_model))) {
        bits |= SPV_VOLATILE;
    }
    out_words[0] = bits;
    out_words[1] = vyre_type_bytes(vyre_resource_type(row));
    return in_memory ? 2 : bits ? 1 : 0;
}

static spirv_kind kind_of_element(const emit *e, uint32_t resource) {
    vyre_type type = element_type(e, resource);
    return type == VYRE_TYPE_BOOL ? SPIRV_U32 : spirv_kind_of(type);
}

/* What was loaded, as a value. */
static spv_id from_memory(emit *e, uint32_t resource, spv_id loaded) {
    spirv_builder *b = &e->b;
    vyre_type type = element_type(e, resource);
    spirv_kind stored = spirv_emit_stored(e, resource);
    if (stored == SPIRV_U8 || stored == SPIRV_U16) {
        loaded = spirv_from_narrow(b, type, loaded);
    }
    return loaded;
}

static spv_id to_memory(emit *e, uint32_t resource, spv_id bits) {
    spirv_builder *b = &e->b;
    spirv_kind stored = spirv_emit_stored(e, resource);
    if (element_type(e, resource) == VYRE_TYPE_BOOL) {
        bits = spirv_choose(b, SPIRV_U32, bits, spirv_u32(b, 1), spirv_u32(b, 0));
    }
    return stored == SPIRV_U8 || stored == SPIRV_U16 ? spirv_one(b, SPV_UConvert, stored, bits)
                                                     : bits;
}

void spirv_emit_load(emit *e, uint32_t inst) {
    spirv_builder *b = &e->b;
    uint32_t resource = vyre_access_resource(&e->ir->insts[inst]);
    spirv_kind kind = kind_of_element(e, resource), stored = spirv_emit_stored(e, resource);
    emit_element element = spirv_emit_find(e, inst, false);
    spv_id value = spirv_number_of(b, kind, 0);
    if (!element.never) {
        uint32_t words[3] = {element.pointer, 0, 0};
        uint32_t count = 1 + memory_operands(e, resource, words + 1);
        spv_id loaded = spirv_value(b, SPV_Load, spirv_type(b, stored), words, count);
        loaded = from_memory(e, resource, loaded);
        value = element.inside ? spirv_choose(b, kind, element.inside, loaded, value) : loaded;
    }
    vyre_type type = element_type(e, resource);
    bool is_visible = element.never || is_variable(e, resource);
    if (type == VYRE_TYPE_BOOL) {
        value = spirv_two(b, SPV_INotEqual, SPIRV_BOOL, value, spirv_u32(b, 0));
    } else if (is_visible && e->target->folds_zeros && spirv_is_real(type)) {
        value = spirv_emit_hidden(e, type, value);
    }
    spirv_emit_set(e, inst, value);
}

static void write_store(emit *e, uint32_t inst) {
    spirv_builder *b = &e->b;
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i);
    emit_element element = spirv_emit_find(e, inst, true);
    if (element.never) {
        return;
    }
    spv_id bits = spirv_emit_bits(e, vyre_access_value(e->ir, i));
    spv_id behind = element.inside ? spirv_begin_if(b, element.inside) : 0;
    uint32_t words[4] = {spirv_emit_place(e, inst), to_memory(e, resource, bits), 0, 0};
    uint32_t count = 2 + memory_operands(e, resource, words + 2);
    spirv_line(b, SPV_Store, words, count);
    if (behind) {
        spirv_end_if(b, behind);
    }
}

/* A private array to zero. */
void spirv_emit_clear(emit *e, uint32_t resource) {
    spirv_builder *b = &e->b;
    uint32_t length = e->ir->resources[resource].length;
    spirv_kind kind = spirv_emit_stored(e, resource);
    spv_id array = spirv_array(b, spirv_type(b, kind), length);
    spv_id variable = e->arrays[resource].variable;
    if (length <= SPIRV_CLEARED_AT_ONCE) {
        SPIRV_LINE(b, SPV_Store, variable, spirv_null(b, array));
        return;
    }
    spv_id type = spirv_pointer(b, SPV_S_Function, spirv_type(b, kind)), one = spirv_u32(b, 1);
    spirv_emit_known_turns(e, length + UINT64_C(1));
    spirv_turns turns = spirv_begin_turns(b, spirv_u32(b, 0), one, spirv_u32(b, length));
    const uint32_t place[] = {variable, turns.now};
    spv_id pointer = spirv_value(b, SPV_AccessChain, type, place, 2);
    SPIRV_LINE(b, SPV_Store, pointer, spirv_number_of(b, kind, 0));
    spirv_end_turns(b, &turns);
}

void spirv_emit_memory(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    switch (vyre_inst_op(i)) {
    case VYRE_OP_LOAD: spirv_emit_load(e, inst); return;
    case VYRE_OP_UNIFORM_LOAD: spirv_emit_uniform_load(e, inst); return;
    case VYRE_OP_STORE: write_store(e, inst); return;
    case VYRE_OP_CLEAR: spirv_emit_clear(e, vyre_access_resource(i)); return;
    case VYRE_ANY_OF(ATOMIC): spirv_emit_atomic(e, inst); return;
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    spirv_emit_unknown(e, inst);
}
