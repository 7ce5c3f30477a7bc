#include "pass/subgroup.h"

#include "base/alloc.h"
#include "base/status.h"
#include "ir/cases.h"
#include "ir/uniformity.h"
#include "pass/subgroup_share.h"

uint32_t share_invocations(const vyre_phase *phase) {
    return phase->workgroup[0] * phase->workgroup[1] * phase->workgroup[2];
}

/* Phases come in the order of their instructions. */
const vyre_phase *share_phase(vyre_rebuild *r, uint32_t inst) {
    share_state *state = r->user;
    uint32_t phase = state->phase == VYRE_NONE ? 0 : state->phase;
    while (inst >= r->ir->phases[phase].end) {
        phase++;
    }
    if (phase != state->phase) {
        state->phase = phase;
        state->arrays[0] = state->arrays[1] = VYRE_NONE;
    }
    return &r->ir->phases[phase];
}

/* Where the invocation is */

static uint32_t op2(vyre_rebuild *r, vyre_op op, uint32_t a, uint32_t b) {
    return vyre_build_op(r->to, op, a, b, VYRE_NONE);
}

uint32_t share_number(vyre_rebuild *r, const vyre_phase *phase) {
    uint32_t result = vyre_build_position(r->to, VYRE_OP_LID, 0), stride = phase->workgroup[0];
    for (uint32_t i = 1; i < phase->dimensions; i++) {
        if (phase->workgroup[i] > 1) {
            uint32_t part = op2(r, VYRE_OP_MUL, vyre_build_position(r->to, VYRE_OP_LID, i),
                                vyre_build_u32(r->to, stride));
            result = op2(r, VYRE_OP_ADD, result, part);
        }
        stride *= phase->workgroup[i];
    }
    return result;
}

uint32_t share_lane(vyre_rebuild *r, const vyre_phase *phase) {
    return op2(r, VYRE_OP_AND, share_number(r, phase), vyre_build_u32(r->to, phase->subgroup - 1));
}

uint32_t share_base(vyre_rebuild *r, const vyre_phase *phase) {
    return op2(r, VYRE_OP_AND, share_number(r, phase),
               vyre_build_u32(r->to, ~(phase->subgroup - 1)));
}

static uint32_t subgroup_id(vyre_rebuild *r, const vyre_phase *phase) {
    if (share_invocations(phase) == phase->subgroup) {
        return vyre_build_u32(r->to, 0);
    }
    return op2(r, VYRE_OP_DIV, share_number(r, phase), vyre_build_u32(r->to, phase->subgroup));
}

/* The pass */

/* Whether a phase of a width that the device has keeps an operation: reductions and scans of floats
 * become shuffles and arithmetic there, which corrections can see. */
static bool stays_as_it_is(const vyre_inst *inst) {
    switch (vyre_inst_op(inst)) {
    case VYRE_ANY_OF(COMBINE): return vyre_lookup_class(vyre_inst_type(inst)) != VYRE_CLASS_FLOAT;
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SHUFFLE, VOTE, CONTROL, NONE):
    case VYRE_OP_MATRIX_MAD: break;
    }
    return true;
}

static bool replace(vyre_rebuild *r, uint32_t at) {
    const share_state *state = r->user;
    const vyre_inst *inst = &r->ir->insts[at];
    const vyre_phase *phase = share_phase(r, at);
    if (state->keep_widths & phase->subgroup && stays_as_it_is(inst)) {
        return false;
    }
    switch (vyre_inst_op(inst)) {
    case VYRE_OP_LANE: r->values[at] = share_lane(r, phase); return true;
    case VYRE_OP_SUBGROUP_ID: r->values[at] = subgroup_id(r, phase); return true;
    case VYRE_ANY_OF(SHUFFLE): share_shuffle(r, phase, at); return true;
    case VYRE_ANY_OF(VOTE): share_vote(r, phase, at); return true;
    case VYRE_ANY_OF(COMBINE): share_combine(r, phase, at); return true;
    case VYRE_OP_MATRIX_MAD: share_matrix_mad(r, phase, at); return true;
    case VYRE_ONE_OF(PARAM, GID, LID, WID, NUM_WORKGROUPS, IN_DOMAIN, ITERATION, LEN):
    case VYRE_ANY_OF(PURE, ELEMENTARY, ACCESS, BARRIER, CONTROL, NONE): break;
    }
    return false;
}

static bool is_subgroup(const vyre_inst *inst) {
    return vyre_inst_effects(inst) & VYRE_EFFECT_SUBGROUP;
}

/* A barrier needs the whole workgroup. That is one subgroup, or has to be shown. Notes on the way
 * which operations take the same value from each lane. */
static vyre_status check_flow(const vyre_program *program, uint32_t index, bool *agreed) {
    const vyre_ir *ir = vyre_program_ir(program);
    const vyre_phase *phase = &ir->phases[index];
    bool is_one = share_invocations(phase) == phase->subgroup;
    vyre_uniformity_map map;
    vyre_status status = VYRE_OK;
    if (!vyre_uniformity_init(&map, ir, index, false, false)) {
        return vyre_no_memory("to look at the control flow of `%s`", vyre_program_name(program));
    }
    for (uint32_t i = 0; i < map.sync_count && !status; i++) {
        const vyre_inst *inst = &ir->insts[map.syncs[i].inst];
        if (!is_subgroup(inst)) {
            continue;
        }
        uint32_t value = vyre_inst_operands(ir, inst).items[0];
        agreed[map.syncs[i].inst] = inst->op != VYRE_OP_MATRIX_MAD &&
                                    (!vyre_operand_is_value(value) ||
                                     map.levels[value - map.first] >= VYRE_UNIFORM_SUBGROUP);
        if (!is_one && map.levels[map.syncs[i].control] < VYRE_UNIFORM_WORKGROUP) {
            status = vyre_status_make(
                VYRE_STATUS_UNSUPPORTED,
                "let whole workgroups reach it together, make the workgroup one subgroup, or use "
                "another device",
                "the device has no subgroups of %u lanes, and `%s` in `%s` stands where not all "
                "subgroups of a workgroup arrive together, so a barrier cannot replace it",
                (unsigned)phase->subgroup, vyre_lookup_op(inst->op)->name,
                vyre_program_name(program));
        }
    }
    vyre_uniformity_deinit(&map);
    return status;
}

/* Room for one array of each width beside those that the phase has. */
static vyre_status check_room(const vyre_program *program, const vyre_phase *phase) {
    const vyre_ir *ir = vyre_program_ir(program);
    uint64_t bytes = (uint64_t)share_invocations(phase) * 12, arrays = 2;
    for (uint32_t i = phase->first_resource; i < phase->end_resource; i++) {
        if (ir->resources[i].kind == VYRE_RESOURCE_SHARED) {
            bytes += vyre_resource_bytes(&ir->resources[i]);
            arrays++;
        }
    }
    return bytes <= VYRE_LIMIT_SHARED_BYTES && arrays <= VYRE_LIMIT_SHARED_ARRAYS
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                  "use less shared memory, or another device",
                                  "the device has no subgroups of %u lanes, and `%s` leaves no "
                                  "shared memory to exchange their values through",
                                  (unsigned)phase->subgroup, vyre_program_name(program));
}

/* Whether a phase has anything to replace, and whether that needs barriers. */
static bool has_work(const vyre_ir *ir, const vyre_phase *phase, bool is_kept, bool *out_waits) {
    bool found = false;
    *out_waits = false;
    for (uint32_t i = phase->first; i < phase->end; i++) {
        const vyre_inst *inst = &ir->insts[i];
        bool is_position = inst->op == VYRE_OP_LANE || inst->op == VYRE_OP_SUBGROUP_ID;
        if ((is_position || is_subgroup(inst)) && !(is_kept && stays_as_it_is(inst))) {
            found = true;
            *out_waits |= !is_position && !is_kept;
        }
    }
    return found;
}

vyre_status vyre_subgroups_share(const vyre_program *program, uint64_t keep_widths,
                                 vyre_program **out_program) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_status status = VYRE_OK;
    bool any = false;
    *out_program = NULL;
    bool *agreed = vyre_alloc_zeroed(ir->inst_count + 1, sizeof *agreed);
    if (!agreed) {
        return vyre_no_memory("to look at the subgroups of `%s`", vyre_program_name(program));
    }
    for (uint32_t i = 0; i < ir->phase_count && !status; i++) {
        bool waits,
            found = has_work(ir, &ir->phases[i], keep_widths & ir->phases[i].subgroup, &waits);
        any |= found;
        if (waits) {
            status = check_flow(program, i, agreed);
            status = status ? status : check_room(program, &ir->phases[i]);
        }
    }
    if (any && !status) {
        share_state state = {keep_widths, agreed, VYRE_NONE, {VYRE_NONE, VYRE_NONE}};
        vyre_rebuild hooks = {.replace = replace, .user = &state};
        status = vyre_rebuild_run(program, hooks, out_program);
    }
    vyre_free(agreed);
    return status;
}
