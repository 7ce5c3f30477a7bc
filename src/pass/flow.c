#include "pass/flow.h"

#include <string.h>

#include "base/alloc.h"
#include "ir/lookup.h"

bool vyre_flow_init(vyre_flow *flow, const vyre_ir *ir) {
    size_t count = ir->inst_count;
    uint32_t *all = vyre_alloc_array(count * 4, sizeof *all);
    *flow = (vyre_flow){0};
    if (!all) {
        return false;
    }
    memset(all, 0xff, count * 4 * sizeof *all); /* VYRE_NONE */
    *flow = (vyre_flow){all, all + count, all + 2 * count, all + 3 * count};
    uint32_t open[VYRE_LIMIT_NESTING + 1], depth = 0;
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        const vyre_inst *inst = &ir->insts[i];
        uint32_t effects = vyre_inst_effects(inst);
        while (depth && vyre_owner_end(ir, open[depth - 1]) == i) {
            depth--;
        }
        flow->owner[i] = depth ? open[depth - 1] : VYRE_NONE;
        if (effects & VYRE_EFFECT_BLOCK) {
            open[depth++] = i;
        }
        if (!(effects & VYRE_EFFECT_END) || inst->op == VYRE_OP_UNREACHABLE) {
            continue;
        }
        uint32_t level = depth;
        while (level) {
            uint32_t owner = open[level - 1];
            if (vyre_jump_ends(inst->op, ir->insts[owner].op)) {
                flow->target[i] = owner;
                flow->before[i] = flow->end[owner];
                flow->end[owner] = i;
                break;
            }
            level--;
        }
    }
    return true;
}

void vyre_flow_deinit(vyre_flow *flow) {
    vyre_free(flow->owner); /* they lie in one piece */
    *flow = (vyre_flow){0};
}
