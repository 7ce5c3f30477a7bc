#include "backend/spirv/turns.h"

#include "ir/lookup.h"
#include "pass/divergence.h"
#include "pass/walk.h"

/* Whether a value may differ among the lanes of a subgroup. */
static bool varies(const void *user, uint32_t inst, bool operands) {
    const vyre_ir *ir = user;
    const vyre_inst *i = &ir->insts[inst];
    uint32_t effects = vyre_inst_effects(i);
    bool is_own = i->op == VYRE_OP_GID || i->op == VYRE_OP_LID || i->op == VYRE_OP_IN_DOMAIN ||
                  i->op == VYRE_OP_LANE || i->op == VYRE_OP_SUBGROUP_ID;
    return operands || is_own || effects & (VYRE_EFFECT_ATOMIC | VYRE_EFFECT_SUBGROUP) ||
           (effects & VYRE_EFFECT_READ &&
            ir->resources[vyre_access_resource(i)].kind == VYRE_RESOURCE_PRIVATE);
}

bool spirv_turns_are_joint(const vyre_ir *ir, const vyre_phase *phase) {
    const vyre_divergence_rules rules = {.varies = varies, .user = ir};
    vyre_divergence divergence;
    vyre_walk at;
    uint32_t inst;
    if (!vyre_divergence_init(&divergence, ir, phase, &rules)) {
        return false;
    }
    bool joint = !divergence.partial;
    vyre_walk_begin(&at, ir, phase);
    while (joint && vyre_walk_next(&at, &inst)) {
        if (!vyre_op_is_loop(ir->insts[inst].op)) {
            continue;
        }
        const vyre_divergence_fact *own = vyre_divergence_of(&divergence, inst);
        joint = !own->divergent && !own->partial;
        for (uint32_t level = 1; joint && level < at.depth; level++) {
            const vyre_divergence_fact *around =
                vyre_divergence_of(&divergence, at.stack[level].owner);
            joint = !around->divergent && !around->partial;
        }
    }
    vyre_divergence_deinit(&divergence);
    return joint;
}

static uint64_t clearing(const vyre_ir *ir, uint32_t resource) {
    uint32_t length = ir->resources[resource].length;
    return length > SPIRV_CLEARED_AT_ONCE ? length + UINT64_C(1) : 0;
}

static uint64_t turns_in(const vyre_ir *ir, vyre_block code) {
    uint64_t all = 0;
    uint32_t behind = code.first; /* the loop at hand */
    for (uint32_t inst = code.first; inst < code.end; inst++) {
        if (inst < behind) {
            continue;
        }
        if (ir->insts[inst].op == VYRE_OP_CLEAR) {
            all += clearing(ir, vyre_access_resource(&ir->insts[inst]));
        }
        if (vyre_op_is_loop(ir->insts[inst].op)) {
            behind = vyre_inst_next(ir, inst);
            all += 1 + (spirv_ends_soon(ir, inst) ? spirv_turns_of_known(ir, inst)
                                                  : turns_in(ir, vyre_body_block(ir, inst)));
        }
    }
    return all;
}

uint64_t spirv_turns_of_known(const vyre_ir *ir, uint32_t loop) {
    return spirv_constant_iterations(ir, loop) * (1 + turns_in(ir, vyre_body_block(ir, loop)));
}

uint64_t spirv_known_turns(const spirv_facts *facts, uint32_t threads) {
    const vyre_ir *ir = facts->ir;
    uint64_t all = turns_in(ir, vyre_phase_block(facts->phase));
    for (uint32_t r = facts->phase->first_resource; r < facts->phase->end_resource; r++) {
        if (facts->used[r]) {
            all += ir->resources[r].kind == VYRE_RESOURCE_SHARED
                       ? ir->resources[r].length / threads + 2
                       : clearing(ir, r);
        }
    }
    return all;
}
