/* What the invocations of a workgroup have together: shared arrays and barriers. */
#include "backend/spirv/emit_state.h"

/* Memory semantics of an order, on all memory that invocations share. */
spv_id spirv_emit_semantics(emit *e, uint32_t order) {
    uint32_t bits = order;
    if (order) {
        bits |= SPV_UNIFORM_MEMORY | SPV_WORKGROUP_MEMORY;
    }
    if (e->target->vulkan_model) {
        bits |= order & (SPV_RELEASE | SPV_ACQUIRE_RELEASE) ? SPV_MAKE_AVAILABLE : 0;
        bits |= order & (SPV_ACQUIRE | SPV_ACQUIRE_RELEASE) ? SPV_MAKE_VISIBLE : 0;
    }
    return spirv_u32(&e->b, bits);
}

void spirv_emit_barrier(emit *e) {
    spv_id workgroup = spirv_u32(&e->b, SPV_SCOPE_WORKGROUP);
    SPIRV_LINE(&e->b, SPV_ControlBarrier, workgroup, workgroup,
               spirv_emit_semantics(e, SPV_ACQUIRE_RELEASE));
}

static bool is_used(const emit *e, uint32_t resource) {
    return e->ir->resources[resource].kind == VYRE_RESOURCE_SHARED && e->facts.used[resource];
}

bool spirv_emit_has_shared(const emit *e) {
    bool found = false;
    for (uint32_t r = e->phase->first_resource; r < e->phase->end_resource; r++) {
        found = found || is_used(e, r);
    }
    return found;
}

/* All invocations together, an element each. */
static void clear_array(emit *e, uint32_t resource) {
    spirv_builder *b = &e->b;
    spirv_kind kind = spirv_emit_stored(e, resource);
    spv_id type = spirv_pointer(b, SPV_S_Workgroup, spirv_type(b, kind));
    spv_id zero = spirv_number_of(b, kind, 0);
    spirv_emit_known_turns(e, e->ir->resources[resource].length / e->info->threads + 2);
    spirv_turns turns = spirv_begin_turns(b, e->thread, spirv_u32(b, e->info->threads),
                                          spirv_u32(b, e->ir->resources[resource].length));
    const uint32_t place[] = {e->arrays[resource].variable, turns.now};
    spv_id pointer = spirv_value(b, SPV_AccessChain, type, place, 2);
    if (e->target->vulkan_model) {
        SPIRV_LINE(b, SPV_Store, pointer, zero, SPV_NON_PRIVATE);
    } else {
        SPIRV_LINE(b, SPV_Store, pointer, zero);
    }
    spirv_end_turns(b, &turns);
}

void spirv_emit_clear_shared(emit *e) {
    if (!spirv_emit_has_shared(e)) {
        return;
    }
    for (uint32_t r = e->phase->first_resource; r < e->phase->end_resource; r++) {
        if (is_used(e, r)) {
            clear_array(e, r);
        }
    }
    spirv_emit_barrier(e);
}

static spv_id counter_at(emit *e, uint32_t offset) {
    spirv_builder *b = &e->b;
    spv_id address =
        spirv_two(b, SPV_IAdd, SPIRV_U64, spirv_emit_counters(e), spirv_u64(b, offset));
    spv_id type = spirv_pointer(b, SPV_S_PhysicalStorageBuffer, spirv_type(b, SPIRV_U32));
    return spirv_value(b, SPV_ConvertUToPtr, type, &address, 1);
}

/* The workgroups count themselves in; the first of them adds what is missing to the highest bit,
 * for which the others wait. So nobody has to set the word back. */
void spirv_emit_grid_barrier(emit *e) {
    enum { WORD = 16 };
    spirv_builder *b = &e->b;
    spv_id device = spirv_u32(b, SPV_SCOPE_DEVICE), zero = spirv_u32(b, 0);
    spv_id both = spirv_emit_semantics(e, SPV_ACQUIRE_RELEASE);
    spirv_emit_barrier(e);
    SPIRV_LINE(b, SPV_MemoryBarrier, device, both);
    spv_id is_first = spirv_two(b, SPV_IEqual, SPIRV_BOOL, e->thread, zero);
    spv_id behind = spirv_begin_if(b, is_first);
    spv_id all = spirv_two(b, SPV_IMul, SPIRV_U64, e->groups[0], e->groups[1]);
    all = spirv_two(b, SPV_IMul, SPIRV_U64, all, e->groups[2]);
    spv_id count = spirv_one(b, SPV_UConvert, SPIRV_U32, all);
    spv_id rest = spirv_two(b, SPV_ISub, SPIRV_U32, spirv_u32(b, 0x80000001u), count);
    spv_id where = spirv_two(b, SPV_BitwiseOr, SPIRV_U32, e->group[0], e->group[1]);
    where = spirv_two(b, SPV_BitwiseOr, SPIRV_U32, where, e->group[2]);
    spv_id leads = spirv_two(b, SPV_IEqual, SPIRV_BOOL, where, zero);
    spv_id add = spirv_choose(b, SPIRV_U32, leads, rest, spirv_u32(b, 1));
    spv_id word = counter_at(e, WORD);
    spv_id old = SPIRV_VALUE(b, SPV_AtomicIAdd, SPIRV_U32, word, device, both, add);
    spv_id head = spirv_new(b), body = spirv_new(b), latch = spirv_new(b), exit = spirv_new(b);
    spirv_place(b, head);
    SPIRV_LINE(b, SPV_LoopMerge, exit, latch, 0);
    spirv_place(b, body);
    spirv_emit_stop_check(e);
    spv_id now = SPIRV_VALUE(b, SPV_AtomicLoad, SPIRV_U32, word, device,
                             spirv_emit_semantics(e, SPV_ACQUIRE));
    spv_id turned = spirv_two(b, SPV_BitwiseXor, SPIRV_U32, old, now);
    spirv_branch(b, spirv_two(b, SPV_SLessThan, SPIRV_BOOL, turned, zero), exit, latch);
    spirv_place(b, latch);
    spirv_jump(b, head);
    spirv_place(b, exit);
    spirv_end_if(b, behind);
    SPIRV_LINE(b, SPV_MemoryBarrier, device, both);
    spirv_emit_barrier(e);
    spirv_emit_clear_shared(e);
}

void spirv_emit_uniform_load(emit *e, uint32_t inst) {
    spirv_emit_barrier(e);
    spirv_emit_load(e, inst);
    spirv_emit_barrier(e);
}
