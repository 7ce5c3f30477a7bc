#include "backend/spirv/turns.h"

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
