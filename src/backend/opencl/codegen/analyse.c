#include "backend/opencl/codegen/analyse.h"

#include "base/alloc.h"
#include "ir/lookup.h"
#include "pass/walk.h"

static void visit_access(opencl_facts *f, const vyre_inst *i, const vyre_walk *at) {
    uint32_t effects = vyre_inst_effects(i), resource = vyre_access_resource(i);
    if (effects & VYRE_EFFECT_WRITE) {
        f->written[resource] = true;
    }
    if (effects & VYRE_EFFECT_ATOMIC) {
        f->has_atomics = true;
        bool waits = effects & VYRE_EFFECT_READ && vyre_walk_in_open_loop(at) &&
                     f->phase->workgroup[0] && vyre_resource_is_global(&f->ir->resources[resource]);
        f->may_wait = f->may_wait || waits;
    }
}

bool opencl_analyse(opencl_facts *f, const vyre_ir *ir, uint32_t phase, bool own_domain) {
    *f = (opencl_facts){.ir = ir, .phase = &ir->phases[phase]};
    f->written = vyre_alloc_zeroed(ir->resource_count + 1, sizeof *f->written);
    f->uses = vyre_alloc_zeroed(f->phase->end - f->phase->first, sizeof *f->uses);
    if (!f->written || !f->uses || !vyre_nans_init(&f->nans, ir, f->phase, NULL, NULL) ||
        !vyre_uniformity_init(&f->map, ir, phase, false, true) ||
        !vyre_ranges_init(&f->ranges, ir, phase, own_domain)) {
        opencl_facts_free(f);
        return false;
    }
    vyre_walk at;
    uint32_t inst;
    vyre_walk_begin(&at, ir, f->phase);
    while (vyre_walk_next(&at, &inst)) {
        const vyre_inst *i = &ir->insts[inst];
        if (vyre_inst_has_resource(i)) {
            visit_access(f, i, &at);
        }
        f->has_barriers |= i->op == VYRE_OP_BARRIER || i->op == VYRE_OP_UNIFORM_LOAD;
        f->has_subgroups |= (vyre_inst_effects(i) & VYRE_EFFECT_SUBGROUP) != 0;
        f->has_loops |= vyre_op_is_loop(i->op) && !opencl_ends_soon(ir, inst);
        vyre_list values = vyre_inst_operands(ir, i);
        for (uint32_t k = 0; k < values.count; k++) {
            if (vyre_operand_is_value(values.items[k])) {
                f->uses[values.items[k] - f->phase->first]++;
            }
        }
    }
    return true;
}

void opencl_facts_free(opencl_facts *f) {
    vyre_free(f->written);
    vyre_free(f->uses);
    vyre_nans_deinit(&f->nans);
    vyre_ranges_deinit(&f->ranges);
    vyre_uniformity_deinit(&f->map);
    *f = (opencl_facts){0};
}

/* Iterations of a `for` whose range is constant; else many. */
static uint64_t constant_iterations(const vyre_ir *ir, uint32_t inst) {
    vyre_for_numbers range;
    bool is_known = ir->insts[inst].op == VYRE_OP_FOR && vyre_for_numbers_of(ir, inst, &range);
    return is_known && range.iterations <= UINT32_MAX ? range.iterations : UINT32_MAX;
}

bool opencl_ends_soon(const vyre_ir *ir, uint32_t inst) {
    enum { FEW = 1024 };
    uint64_t all = constant_iterations(ir, inst);
    vyre_block body = vyre_body_block(ir, inst);
    for (uint32_t k = body.first; k < body.end && all <= FEW; k++) {
        if (vyre_op_is_loop(ir->insts[k].op)) {
            uint64_t inner = constant_iterations(ir, k);
            all = (all ? all : 1) * (inner ? inner : 1);
        }
    }
    return all <= FEW;
}

bool opencl_has_barrier(const vyre_ir *ir, uint32_t owner) {
    vyre_block blocks = vyre_owner_blocks(ir, owner);
    for (uint32_t inst = blocks.first; inst < blocks.end; inst++) {
        if (vyre_inst_effects(&ir->insts[inst]) & VYRE_EFFECT_SYNC) {
            return true;
        }
    }
    return false;
}

static vyre_uniformity level_of(const opencl_facts *f, uint32_t inst) {
    return (vyre_uniformity)f->map.levels[f->map.controls[inst - f->phase->first]];
}

bool opencl_is_together(const opencl_facts *f, uint32_t inst) {
    return level_of(f, inst) >= VYRE_UNIFORM_WORKGROUP;
}

bool opencl_turns_together(const opencl_facts *f, uint32_t loop) {
    return level_of(f, vyre_body_block(f->ir, loop).first) >= VYRE_UNIFORM_SUBGROUP;
}
