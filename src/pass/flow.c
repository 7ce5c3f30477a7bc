#include "pass/flow.h"

#include <string.h>

#include "base/alloc.h"
#include "ir/lookup.h"
#include "pass/walk.h"

static void note(vyre_flow *flow, const vyre_walk *at, uint32_t inst) {
    const vyre_inst *i = &at->ir->insts[inst];
    flow->owner[inst] = at->stack[at->depth - 1].owner;
    if (!(vyre_inst_effects(i) & VYRE_EFFECT_END) || i->op == VYRE_OP_UNREACHABLE) {
        return;
    }
    uint32_t target = at->stack[vyre_walk_target(at, i->op)].owner;
    if (target != VYRE_NONE) {
        flow->target[inst] = target;
        flow->before[inst] = flow->end[target];
        flow->end[target] = inst;
    }
}

bool vyre_flow_init(vyre_flow *flow, const vyre_ir *ir) {
    size_t count = ir->inst_count;
    uint32_t *all = vyre_alloc_array(count * 4, sizeof *all);
    *flow = (vyre_flow){0};
    if (!all) {
        return false;
    }
    memset(all, 0xff, count * 4 * sizeof *all); /* VYRE_NONE */
    *flow = (vyre_flow){all, all + count, all + 2 * count, all + 3 * count};
    for (uint32_t i = 0; i < ir->phase_count; i++) {
        vyre_walk at;
        uint32_t inst;
        vyre_walk_begin(&at, ir, &ir->phases[i]);
        while (vyre_walk_next(&at, &inst)) {
            note(flow, &at, inst);
        }
    }
    return true;
}

void vyre_flow_deinit(vyre_flow *flow) {
    vyre_free(flow->owner); /* they lie in one piece */
    *flow = (vyre_flow){0};
}
