#include "backend/spirv/analyse.h"

#include "base/alloc.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "pass/walk.h"

static uint64_t iterations_of(const vyre_ir *ir, uint32_t inst) {
    vyre_for_numbers range;
    bool is_known = ir->insts[inst].op == VYRE_OP_FOR && vyre_for_numbers_of(ir, inst, &range);
    return is_known && range.iterations <= UINT32_MAX ? range.iterations : 0;
}

uint32_t spirv_constant_iterations(const vyre_ir *ir, uint32_t loop) {
    return (uint32_t)iterations_of(ir, loop);
}

uint32_t spirv_loops_within(const vyre_ir *ir, vyre_block block) {
    uint32_t count = 0;
    for (uint32_t inst = block.first; inst < block.end; inst++) {
        uint32_t op = ir->insts[inst].op;
        count += vyre_op_is_loop(op) || op == VYRE_OP_CLEAR;
    }
    return count;
}

bool spirv_ends_soon(const vyre_ir *ir, uint32_t loop) {
    enum { FEW = 1024 };
    uint64_t all = iterations_of(ir, loop);
    vyre_block body = vyre_body_block(ir, loop);
    for (uint32_t inst = body.first; inst < body.end && all && all <= FEW; inst++) {
        if (vyre_op_is_loop(ir->insts[inst].op)) {
            all *= iterations_of(ir, inst);
        }
    }
    return all && all <= FEW;
}

/* Whether a loop may go on until somebody else does something; looked for once. */
static bool is_open(spirv_facts *f, uint32_t loop) {
    enum { OPEN = 4, CLOSED = 8 };
    uint8_t *known = &f->leaves[loop - f->phase->first];
    if (!(*known & (OPEN | CLOSED))) {
        *known |= vyre_loop_is_open(f->ir, loop) ? OPEN : CLOSED;
    }
    return *known & OPEN;
}

static bool in_open_loop(spirv_facts *f, const vyre_walk *at) {
    bool found = false;
    for (uint32_t level = 1; level < at->depth && !found; level++) {
        uint32_t owner = at->stack[level].owner;
        found = vyre_op_is_loop(f->ir->insts[owner].op) && is_open(f, owner);
    }
    return found;
}

static void visit_access(spirv_facts *f, const vyre_inst *i, const vyre_walk *at) {
    uint32_t effects = vyre_inst_effects(i), resource = vyre_access_resource(i);
    const uint32_t waits = VYRE_EFFECT_ATOMIC | VYRE_EFFECT_READ;
    f->used[resource] = true;
    if (effects & VYRE_EFFECT_WRITE) {
        f->written[resource] = true;
        f->writes_halves |= vyre_type_bytes(vyre_resource_type(&f->ir->resources[resource])) == 2;
    }
    if ((effects & waits) == waits && f->phase->workgroup[0] &&
        vyre_resource_is_global(&f->ir->resources[resource]) && in_open_loop(f, at)) {
        f->may_wait = true;
    }
}

/* What a `return` has to get through on its way. */
static void visit_return(spirv_facts *f, const vyre_walk *at) {
    uint32_t level = vyre_walk_target(at, VYRE_OP_RETURN), bits = 0;
    uint32_t owner = at->stack[level].owner;
    for (uint32_t k = level + 1; k < at->depth; k++) {
        uint32_t inner = at->stack[k].owner;
        bits |= SPIRV_LEAVES_EARLY;
        if (vyre_op_is_loop(f->ir->insts[inner].op)) {
            bits |= SPIRV_LEAVES_LOOPS;
            f->leaves[inner - f->phase->first] |= SPIRV_LEAVES_LOOPS;
        }
    }
    if (owner == VYRE_NONE) {
        f->phase_leaves |= (uint8_t)bits;
    } else {
        f->leaves[owner - f->phase->first] |= (uint8_t)bits;
    }
}

static void visit(spirv_facts *f, uint32_t inst, const vyre_walk *at) {
    const vyre_inst *i = &f->ir->insts[inst];
    uint32_t effects = vyre_inst_effects(i);
    if (vyre_inst_has_resource(i)) {
        visit_access(f, i, at);
    }
    if (i->op == VYRE_OP_RETURN) {
        visit_return(f, at);
    }
    f->has_grid_barriers |= i->op == VYRE_OP_GRID_BARRIER;
    f->has_subgroups |=
        (effects & VYRE_EFFECT_SUBGROUP) || i->op == VYRE_OP_LANE || i->op == VYRE_OP_SUBGROUP_ID;
    f->synchronises |=
        (effects & (VYRE_EFFECT_SYNC | VYRE_EFFECT_ATOMIC | VYRE_EFFECT_SUBGROUP)) != 0;
    f->orders |=
        (effects & VYRE_EFFECT_SUBGROUP) ||
        ((effects & VYRE_EFFECT_ATOMIC) && vyre_atomic_ordering(i) != VYRE_ORDERING_RELAXED);
    f->has_loops |= vyre_op_is_loop(i->op) && !spirv_ends_soon(f->ir, inst);
    vyre_list values = vyre_inst_operands(f->ir, i);
    for (uint32_t k = 0; k < values.count; k++) {
        if (vyre_operand_is_value(values.items[k])) {
            f->uses[values.items[k] - f->phase->first]++;
        }
    }
}

bool spirv_analyse(spirv_facts *f, const vyre_ir *ir, uint32_t phase, bool own_domain) {
    *f = (spirv_facts){.ir = ir, .phase = &ir->phases[phase]};
    uint32_t count = f->phase->end - f->phase->first;
    f->leaves = vyre_alloc_zeroed(count, sizeof *f->leaves);
    f->uses = vyre_alloc_zeroed(count, sizeof *f->uses);
    f->written = vyre_alloc_zeroed(ir->resource_count + 1, sizeof *f->written);
    f->used = vyre_alloc_zeroed(ir->resource_count + 1, sizeof *f->used);
    if (!f->leaves || !f->uses || !f->written || !f->used ||
        !vyre_nans_init(&f->nans, ir, f->phase, NULL, NULL) ||
        !vyre_ranges_init(&f->ranges, ir, phase, own_domain)) {
        spirv_facts_free(f);
        return false;
    }
    vyre_walk at;
    uint32_t inst;
    vyre_walk_begin(&at, ir, f->phase);
    while (vyre_walk_next(&at, &inst)) {
        visit(f, inst, &at);
    }
    return true;
}

void spirv_facts_free(spirv_facts *f) {
    vyre_free(f->leaves);
    vyre_free(f->uses);
    vyre_free(f->written);
    vyre_free(f->used);
    vyre_nans_deinit(&f->nans);
    vyre_ranges_deinit(&f->ranges);
    *f = (spirv_facts){0};
}
