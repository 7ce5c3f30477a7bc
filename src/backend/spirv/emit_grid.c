/* Which invocations run where: the groups that a workgroup takes, and the positions in them. */
#include "backend/spirv/emit_state.h"

static spv_id wide(emit *e, spv_id x) {
    return spirv_one(&e->b, SPV_UConvert, SPIRV_U64, x);
}

static spv_id narrow(emit *e, spv_id x) {
    return spirv_one(&e->b, SPV_UConvert, SPIRV_U32, x);
}

/* A number that the device gives, read in the first block. */
static spv_id given(emit *e, uint32_t builtin) {
    spv_id variable = spirv_builtin(&e->b, builtin, SPIRV_U32);
    spirv_emit_begin_head(e);
    spv_id value = SPIRV_VALUE(&e->b, SPV_Load, SPIRV_U32, variable);
    spirv_emit_end_head(e);
    return value;
}

static spv_id given_side(emit *e, uint32_t builtin, uint32_t d) {
    spv_id variable = spirv_builtin(&e->b, builtin, SPIRV_TRIPLE);
    spirv_emit_begin_head(e);
    spv_id all = SPIRV_VALUE(&e->b, SPV_Load, SPIRV_TRIPLE, variable);
    spv_id value = SPIRV_VALUE(&e->b, SPV_CompositeExtract, SPIRV_U32, all, d);
    spirv_emit_end_head(e);
    return value;
}

/* Where lanes exchange values, the number in the workgroup follows from the subgroup: devices are
 * free in how they form them. */
static spv_id thread_number(emit *e) {
    if (!e->info->subgroup) {
        return given(e, SPV_B_LocalInvocationIndex);
    }
    spirv_need(&e->b, SPV_C_GroupNonUniform);
    spv_id number = given(e, SPV_B_SubgroupId), lane = given(e, SPV_B_SubgroupLocalInvocationId);
    spirv_emit_begin_head(e);
    spv_id first =
        spirv_two(&e->b, SPV_IMul, SPIRV_U32, number, spirv_u32(&e->b, e->info->subgroup));
    spv_id thread = spirv_two(&e->b, SPV_IAdd, SPIRV_U32, first, lane);
    spirv_emit_end_head(e);
    return thread;
}

/* Position in the workgroup. */
static void find_local(emit *e) {
    spirv_builder *b = &e->b;
    const uint32_t *size = e->phase->workgroup;
    spv_id rest = e->thread;
    for (uint32_t d = 0; d < 3; d++) {
        uint32_t behind = d == 0 ? size[1] * size[2] : d == 1 ? size[2] : 1;
        if (size[d] == 1) {
            e->position[d] = spirv_u32(b, 0);
        } else if (behind == 1) {
            e->position[d] = rest;
        } else {
            spv_id by = spirv_u32(b, size[d]);
            e->position[d] = spirv_two(b, SPV_UMod, SPIRV_U32, rest, by);
            rest = spirv_two(b, SPV_UDiv, SPIRV_U32, rest, by);
        }
    }
}

/* Bits of a tile along x and y, where there is no workgroup clause but several dimensions; along z
 * there are those that are left. */
static void shape_bits(emit *e, spv_id out_bits[3]) {
    spirv_builder *b = &e->b;
    uint32_t all = 0;
    while (UINT32_C(1) << all < e->info->threads) {
        all++;
    }
    out_bits[0] = spirv_emit_frame(e, SPIRV_U32, e->layout.shape);
    out_bits[1] = spirv_emit_frame(e, SPIRV_U32, e->layout.shape + 4);
    spirv_emit_begin_head(e);
    spv_id both = spirv_two(b, SPV_IAdd, SPIRV_U32, out_bits[0], out_bits[1]);
    out_bits[2] = spirv_two(b, SPV_ISub, SPIRV_U32, spirv_u32(b, all), both);
    spirv_emit_end_head(e);
}

/* 2^bits - 1 */
static spv_id mask_of(emit *e, spirv_kind kind, spv_id bits) {
    spirv_builder *b = &e->b;
    spv_id one = spirv_number_of(b, kind, 1);
    return spirv_two(b, SPV_ISub, kind, spirv_two(b, SPV_ShiftLeftLogical, kind, one, bits), one);
}

/* Position in the domain where there is no workgroup clause. Gives whether it is inside. */
static spv_id find_open(emit *e) {
    spirv_builder *b = &e->b;
    spv_id rest = e->thread, all_inside = 0, bits[3];
    if (e->phase->dimensions == 1) {
        spv_id at =
            spirv_two(b, SPV_IMul, SPIRV_U64, wide(e, e->group[0]), spirv_u64(b, e->info->threads));
        at = spirv_two(b, SPV_IAdd, SPIRV_U64, at, wide(e, e->thread));
        e->position[0] = narrow(e, at);
        e->position[1] = e->position[2] = spirv_u32(b, 0);
        return spirv_two(b, SPV_ULessThan, SPIRV_BOOL, at, e->domain[0]);
    }
    shape_bits(e, bits);
    for (uint32_t d = 0; d < 3; d++) {
        spv_id local = rest;
        if (d < 2) {
            local = spirv_two(b, SPV_BitwiseAnd, SPIRV_U32, rest, mask_of(e, SPIRV_U32, bits[d]));
            rest = spirv_two(b, SPV_ShiftRightLogical, SPIRV_U32, rest, bits[d]);
        }
        spv_id at = spirv_two(b, SPV_ShiftLeftLogical, SPIRV_U64, wide(e, e->group[d]), bits[d]);
        at = spirv_two(b, SPV_IAdd, SPIRV_U64, at, wide(e, local));
        spv_id inside = spirv_two(b, SPV_ULessThan, SPIRV_BOOL, at, e->domain[d]);
        all_inside = d ? spirv_two(b, SPV_LogicalAnd, SPIRV_BOOL, all_inside, inside) : inside;
        e->position[d] = narrow(e, at);
    }
    return all_inside;
}

/* `loops`: those that stand around the group. Each takes a turn that does something and one that
 * finds the end. */
static void write_group(emit *e, uint32_t loops) {
    if (loops) {
        spirv_emit_turns(e, 2 * loops + spirv_loops_within(e->ir, vyre_phase_block(e->phase)));
    }
    if (!e->phase->workgroup[0]) {
        spv_id behind = spirv_begin_if(&e->b, find_open(e));
        spirv_emit_body(e);
        spirv_end_if(&e->b, behind);
        return;
    }
    spirv_emit_clear_shared(e);
    spirv_emit_body(e);
}

/* A workgroup has one group. */
static void write_one_group(emit *e) {
    spirv_builder *b = &e->b;
    for (uint32_t d = 0; d < e->phase->dimensions; d++) {
        spv_id first = spirv_emit_frame(e, SPIRV_U32, e->layout.first + 4 * d);
        e->group[d] = spirv_two(b, SPV_IAdd, SPIRV_U32, given_side(e, SPV_B_WorkgroupId, d), first);
    }
    if (e->facts.has_loops) {
        spirv_emit_stop_check(e);
    }
    write_group(e, 0);
}

/* Workgroups go on with the group as many further as there are workgroups, in each dimension. */
static void write_strides(emit *e) {
    spirv_builder *b = &e->b;
    spv_id heads[3], latches[3], exits[3], variables[3], now[3], steps[3];
    uint32_t dimensions = e->phase->dimensions;
    for (uint32_t d = 0; d < dimensions; d++) {
        steps[d] = given_side(e, SPV_B_NumWorkgroups, d);
        variables[d] = spirv_local(b, spirv_type(b, SPIRV_U64));
    }
    for (uint32_t d = dimensions; d-- > 0;) {
        spv_id test = spirv_new(b), body = spirv_new(b);
        heads[d] = spirv_new(b);
        latches[d] = spirv_new(b);
        exits[d] = spirv_new(b);
        SPIRV_LINE(b, SPV_Store, variables[d], wide(e, given_side(e, SPV_B_WorkgroupId, d)));
        spirv_place(b, heads[d]);
        SPIRV_LINE(b, SPV_LoopMerge, exits[d], latches[d], 0);
        spirv_place(b, test);
        now[d] = SPIRV_VALUE(b, SPV_Load, SPIRV_U64, variables[d]);
        spv_id more = spirv_two(b, SPV_ULessThan, SPIRV_BOOL, now[d], e->groups[d]);
        spirv_branch(b, more, body, exits[d]);
        spirv_place(b, body);
        e->group[d] = narrow(e, now[d]);
    }
    if (e->facts.has_loops) {
        spirv_emit_stop_check(e);
    } else {
        spirv_emit_poll(e);
    }
    write_group(e, dimensions);
    if (spirv_emit_has_shared(e)) {
        spirv_emit_barrier(e); /* who is still in the last group may use what the next one clears */
    }
    for (uint32_t d = 0; d < dimensions; d++) {
        spirv_place(b, latches[d]);
        SPIRV_LINE(b, SPV_Store, variables[d],
                   spirv_two(b, SPV_IAdd, SPIRV_U64, now[d], wide(e, steps[d])));
        spirv_jump(b, heads[d]);
        spirv_place(b, exits[d]);
    }
}

/* The next ticket, the same for the whole workgroup. */
static spv_id take_ticket(emit *e, spv_id is_first) {
    spirv_builder *b = &e->b;
    spv_id type = spirv_pointer(b, SPV_S_PhysicalStorageBuffer, spirv_type(b, SPIRV_U32));
    spv_id counters = spirv_emit_counters(e);
    spv_id pointer = spirv_value(b, SPV_ConvertUToPtr, type, &counters, 1);
    uint32_t operands = e->target->vulkan_model ? SPV_NON_PRIVATE : 0;
    spv_id behind = spirv_begin_if(b, is_first);
    spv_id taken = SPIRV_VALUE(b, SPV_AtomicIAdd, SPIRV_U32, pointer,
                               spirv_u32(b, SPV_SCOPE_DEVICE), spirv_u32(b, 0), spirv_u32(b, 1));
    SPIRV_LINE(b, SPV_Store, e->ticket, taken, operands);
    spirv_end_if(b, behind);
    spirv_emit_barrier(e);
    return SPIRV_VALUE(b, SPV_Load, SPIRV_U32, e->ticket, operands);
}

/* The workgroup that finds out last that there are no more groups sets the word back. */
static void reset_tickets(emit *e, spv_id ticket, spv_id all, spv_id is_first) {
    spirv_builder *b = &e->b;
    spv_id type = spirv_pointer(b, SPV_S_PhysicalStorageBuffer, spirv_type(b, SPIRV_U32));
    spv_id last = spirv_two(b, SPV_IAdd, SPIRV_U32, all, given_side(e, SPV_B_NumWorkgroups, 0));
    last = spirv_two(b, SPV_ISub, SPIRV_U32, last, spirv_u32(b, 1));
    spv_id resets = spirv_two(b, SPV_IEqual, SPIRV_BOOL, ticket, last);
    resets = spirv_two(b, SPV_LogicalAnd, SPIRV_BOOL, resets, is_first);
    spv_id behind = spirv_begin_if(b, resets), counters = spirv_emit_counters(e);
    spv_id pointer = spirv_value(b, SPV_ConvertUToPtr, type, &counters, 1);
    SPIRV_LINE(b, SPV_AtomicStore, pointer, spirv_u32(b, SPV_SCOPE_DEVICE), spirv_u32(b, 0),
               spirv_u32(b, 0));
    spirv_end_if(b, behind);
}

/* Workgroups take the next group that nobody has: those that run have the lowest ones. */
static void write_tickets(emit *e) {
    spirv_builder *b = &e->b;
    spv_id head = spirv_new(b), body = spirv_new(b), latch = spirv_new(b), exit = spirv_new(b),
           run = spirv_new(b);
    spv_id all = narrow(e, e->groups[0]);
    for (uint32_t d = 1; d < e->phase->dimensions; d++) {
        all = spirv_two(b, SPV_IMul, SPIRV_U32, all, narrow(e, e->groups[d]));
    }
    spv_id is_first = spirv_two(b, SPV_IEqual, SPIRV_BOOL, e->thread, spirv_u32(b, 0));
    e->ticket = spirv_global(b, SPV_S_Workgroup, spirv_type(b, SPIRV_U32));
    e->info->shared_bytes += 16;
    spirv_place(b, head);
    SPIRV_LINE(b, SPV_LoopMerge, exit, latch, 0);
    spirv_place(b, body);
    spirv_emit_stop_check(e);
    spv_id ticket = take_ticket(e, is_first);
    spirv_branch(b, spirv_two(b, SPV_ULessThan, SPIRV_BOOL, ticket, all), run, exit);
    spirv_place(b, run);
    spv_id rest = ticket;
    for (uint32_t d = 0; d < e->phase->dimensions; d++) {
        bool more = d + 1 < e->phase->dimensions;
        spv_id side = more ? narrow(e, e->groups[d]) : 0;
        e->group[d] = more ? spirv_two(b, SPV_UMod, SPIRV_U32, rest, side) : rest;
        rest = more ? spirv_two(b, SPV_UDiv, SPIRV_U32, rest, side) : rest;
    }
    write_group(e, 1);
    spirv_emit_barrier(e); /* everybody has read the ticket, and is through with shared arrays */
    spirv_place(b, latch);
    spirv_jump(b, head);
    spirv_place(b, exit);
    reset_tickets(e, ticket, all, is_first);
}

void spirv_emit_groups(emit *e) {
    for (uint32_t d = 0; d < 3; d++) {
        bool exists = d < e->phase->dimensions;
        spv_id one = spirv_u64(&e->b, 1);
        e->domain[d] = exists ? spirv_emit_frame(e, SPIRV_U64, e->layout.domain + 8 * d) : one;
        e->groups[d] = exists ? spirv_emit_frame(e, SPIRV_U64, e->layout.groups + 8 * d) : one;
        e->group[d] = spirv_u32(&e->b, 0);
    }
    e->thread = thread_number(e);
    if (e->phase->workgroup[0]) {
        find_local(e);
    }
    if (e->info->ordered) {
        write_tickets(e);
    } else if (e->info->cooperative) {
        for (uint32_t d = 0; d < e->phase->dimensions; d++) {
            e->group[d] = given_side(e, SPV_B_WorkgroupId, d);
        }
        write_group(e, 0);
    } else if (e->phase->from_resource != VYRE_NONE) {
        write_strides(e);
    } else {
        write_one_group(e);
    }
}
