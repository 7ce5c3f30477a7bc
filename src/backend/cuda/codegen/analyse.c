#include "backend/cuda/codegen/analyse.h"

#include "backend/cuda/codegen/write.h"
#include "base/alloc.h"
#include "ir/cases.h"
#include "pass/walk.h"

/* Neighbouring invocations differ in gid.x; what an atomic gives is each invocation's own. */
static bool varies(const void *user, uint32_t inst, bool operands) {
    const cuda_facts *f = user;
    const vyre_inst *i = &f->ir->insts[inst];
    bool updates = vyre_inst_effects(i) & VYRE_EFFECT_ATOMIC && i->op != VYRE_OP_ATOMIC_LOAD;
    return operands || updates || (i->op == VYRE_OP_GID && i->a == 0);
}

static bool is_unit(const cuda_facts *f, uint32_t operand) {
    return vyre_operand_is_value(operand) && cuda_fact_of(f, operand)->unit;
}

/* Whether neighbours differ by 1. */
static bool steps_by_one(const cuda_facts *f, const vyre_inst *i) {
    bool narrow = i->type == VYRE_TYPE_U32 || i->type == VYRE_TYPE_I32;
    switch (vyre_inst_op(i)) {
    case VYRE_OP_GID: return i->a == 0;
    case VYRE_OP_ADD:
        return narrow && ((is_unit(f, i->a) && !cuda_varies(f, i->b)) ||
                          (is_unit(f, i->b) && !cuda_varies(f, i->a)));
    case VYRE_OP_SUB: return narrow && is_unit(f, i->a) && !cuda_varies(f, i->b);
    case VYRE_ONE_OF(CONVERT, BITCAST): return narrow && is_unit(f, i->a);
    case VYRE_ONE_OF(PARAM, LID, WID, NUM_WORKGROUPS, IN_DOMAIN, LANE, SUBGROUP_ID, ITERATION, LEN,
                     MUL, SELECT):
    case VYRE_ANY_OF(QUOTIENT, EXTREME, SIGN, INTEGER, LOGIC, BITS, FLOAT, COMPARE, ELEMENTARY,
                     ACCESS, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    }
    return false;
}

/* Whether a row that starts there is some elements off those of the other operand. */
static bool is_shifted(const cuda_facts *f, const vyre_inst *i) {
    vyre_list values = vyre_inst_operands(f->ir, i);
    bool shifted = false;
    for (uint32_t k = 0; k < values.count; k++) {
        shifted = shifted || (vyre_operand_is_constant(values.items[k])
                                  ? vyre_operand_bits(f->ir, values.items[k]) % 16 != 0
                                  : cuda_fact_of(f, values.items[k])->shifted);
    }
    return shifted;
}

/* Of values before those that are computed from them, which are all but args and results. */
static void find_units(cuda_facts *f) {
    for (uint32_t inst = f->phase->first; inst < f->phase->end; inst++) {
        const vyre_inst *i = &f->ir->insts[inst];
        cuda_fact *own = cuda_fact_of(f, inst);
        own->unit = steps_by_one(f, i);
        own->shifted = own->unit && i->op != VYRE_OP_GID && is_shifted(f, i);
    }
}

static bool is_global(const vyre_ir *ir, uint32_t resource) {
    return vyre_resource_is_global(&ir->resources[resource]);
}

bool cuda_is_inverse_root(const vyre_ir *ir, const vyre_inst *i) {
    return i->op == VYRE_OP_DIV && i->type == VYRE_TYPE_F32 &&
           vyre_operand_has_bits(ir, i->a, 0x3f800000) && vyre_operand_is_value(i->b) &&
           ir->insts[i->b].op == VYRE_OP_SQRT;
}

/* Which arrays an access uses, and whether it may wait for an earlier workgroup. */
static void visit_access(cuda_facts *f, const vyre_inst *i, const vyre_walk *at) {
    uint32_t effects = vyre_inst_effects(i), resource = vyre_access_resource(i);
    f->used[resource] = true;
    if (effects & VYRE_EFFECT_WRITE) {
        f->written[resource] = true;
    }
    if (effects & VYRE_EFFECT_ATOMIC && effects & VYRE_EFFECT_READ && is_global(f->ir, resource) &&
        f->phase->workgroup[0] && vyre_walk_in_open_loop(at)) {
        f->may_wait = true;
    }
}

static void visit(cuda_facts *f, uint32_t inst, const vyre_walk *at) {
    const vyre_inst *i = &f->ir->insts[inst];
    uint32_t effects = vyre_inst_effects(i);
    if (vyre_inst_has_resource(i)) {
        visit_access(f, i, at);
    }
    f->has_barriers |= i->op == VYRE_OP_BARRIER || i->op == VYRE_OP_UNIFORM_LOAD;
    f->has_grid_barriers |= i->op == VYRE_OP_GRID_BARRIER;
    f->has_subgroups |= (effects & VYRE_EFFECT_SUBGROUP) != 0;
    f->has_loops |= vyre_op_is_loop(i->op) && !cuda_ends_soon(f->ir, inst);
    if (effects & VYRE_EFFECT_SUBGROUP && f->map.controls &&
        f->map.levels[f->map.controls[inst - f->phase->first]] < VYRE_UNIFORM_WORKGROUP) {
        f->lanes_part = true;
    }
    vyre_list values = vyre_inst_operands(f->ir, i);
    for (uint32_t k = 0; k < values.count; k++) {
        if (vyre_operand_is_value(values.items[k])) {
            cuda_fact_of(f, values.items[k])->uses++;
        }
    }
    if (cuda_is_inverse_root(f->ir, i)) {
        cuda_fact_of(f, i->b)->inverses++;
    }
}

/* What the accesses of a phase would gain by several parts a thread. */
typedef struct gain {
    uint32_t rows, others; /* accesses of all parts at once; those that stay apart */
    bool in_loop;          /* rows are accessed in loops, too */
    uint32_t largest;      /* bytes of an element of a row */
    bool apart;            /* parts go ways of their own for long, or through memory of their own */
} gain;

static void count_gain(const cuda_facts *f, uint32_t inst, bool in_loop, gain *g) {
    const vyre_inst *i = &f->ir->insts[inst];
    uint32_t effects = vyre_inst_effects(i);
    if (vyre_op_is_loop(i->op)) {
        g->apart = g->apart || vyre_divergence_of(&f->divergence, inst)->divergent;
    }
    if (!(effects & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE)) || i->op == VYRE_OP_CLEAR ||
        !cuda_varies(f, vyre_access_index(f->ir, i))) {
        return;
    }
    const cuda_fact *index = cuda_fact_of(f, vyre_access_index(f->ir, i));
    const vyre_access_group *group = vyre_access_group_of(&f->accesses, inst);
    bool is_field = vyre_resource_is_field(vyre_access_array(f->ir, i));
    bool is_plain = (i->op == VYRE_OP_LOAD || i->op == VYRE_OP_STORE) && !is_field;
    bool is_wide = i->op == VYRE_OP_LOAD && !is_field && index->unit && group && group->in_bounds &&
                   is_global(f->ir, vyre_access_resource(i));
    if (is_wide || (is_plain && index->unit && !index->shifted)) {
        uint32_t bytes = vyre_type_bytes(vyre_resource_type(vyre_access_array(f->ir, i)));
        g->rows += !is_wide || inst == group->head; /* neighbours come along */
        g->in_loop = g->in_loop || in_loop;
        g->largest = bytes > g->largest ? bytes : g->largest;
    } else {
        g->others++;
        g->apart = g->apart || in_loop;
    }
}

/* Several invocations a thread pay where neighbours use neighbouring elements: one access of 16
 * bytes for all, and what is the same for all is there once. They do not where there is much else
 * to do. */
static uint32_t parts_that_pay(const cuda_facts *f) {
    enum { BYTES = 16, MOST_INSTRUCTIONS = 400 };
    uint32_t count = f->phase->end - f->phase->first, loop_end = 0;
    gain g = {0};
    if (f->divergence.partial || f->has_grid_barriers || f->phase->workgroup[0] ||
        f->phase->first_resource != f->phase->end_resource) {
        return 1;
    }
    for (uint32_t inst = f->phase->first; inst < f->phase->end; inst++) {
        if (vyre_op_is_loop(f->ir->insts[inst].op) && inst >= loop_end) {
            loop_end = vyre_owner_end(f->ir, inst);
        }
        count_gain(f, inst, inst < loop_end, &g);
    }
    /* Where long loops do no more than compute, nothing is gained by rows around them. */
    bool pays = g.largest && !g.apart && g.rows >= g.others && (!f->has_loops || g.in_loop);
    uint32_t parts = pays ? BYTES / g.largest : 1;
    while (parts > 1 && parts * count > MOST_INSTRUCTIONS) {
        parts /= 2;
    }
    return parts;
}

/* A size as a number, as far as constants and their products go; else, or if it is large,
 * FEW_THREADS. */
enum { FEW_THREADS = 65536 };
static uint64_t size_at_most(const vyre_ir *ir, uint32_t size) {
    const vyre_size_node *node = &ir->sizes[size];
    uint64_t number = FEW_THREADS;
    if (node->op == VYRE_SIZE_CONST && !node->b) {
        number = node->a;
    } else if (node->op == VYRE_SIZE_MUL) {
        number = size_at_most(ir, node->a) * size_at_most(ir, node->b);
    }
    return number < FEW_THREADS ? number : FEW_THREADS;
}

/* Whether a domain is small whatever the arguments are. */
static bool is_small(const vyre_ir *ir, const vyre_phase *phase) {
    uint64_t all = 1;
    for (uint32_t d = 0; d < phase->dimensions && all < FEW_THREADS; d++) {
        all *= size_at_most(ir, phase->domain[d]);
    }
    return all < FEW_THREADS;
}

/* Whether records are long enough for several accesses each, and the phase is in need of neither
 * many registers nor small blocks. */
static bool has_long_records(const cuda_facts *f) {
    enum { WIDEST = 16, MOST_INSTRUCTIONS = 150 };
    bool found = false;
    for (uint32_t g = 0; g < f->accesses.group_count && !found; g++) {
        const vyre_access_group *group = &f->accesses.rows[g];
        const vyre_inst *i = &f->ir->insts[group->head];
        uint32_t bytes = vyre_resource_stride(f->ir, vyre_access_array(f->ir, i));
        found = group->fields && bytes > WIDEST && is_unit(f, vyre_access_index(f->ir, i));
    }
    return found && f->parts == 1 && f->phase->dimensions == 1 && !f->phase->workgroup[0] &&
           f->phase->end - f->phase->first <= MOST_INSTRUCTIONS && !f->has_loops &&
           !f->has_grid_barriers && !f->has_subgroups &&
           f->phase->first_resource == f->phase->end_resource;
}

/* Neighbours are written for all parts of a thread or for one, and as rows or not: those whose
 * indices came about in ways that do not look alike go by themselves. */
static void part_unlike(cuda_facts *f) {
    for (uint32_t g = 0; g < f->accesses.group_count; g++) {
        const vyre_access_group *group = &f->accesses.rows[g];
        uint32_t first = vyre_access_index(f->ir, &f->ir->insts[group->members[0]]);
        bool alike = true;
        for (uint32_t k = 1; k < group->count; k++) {
            uint32_t index = vyre_access_index(f->ir, &f->ir->insts[group->members[k]]);
            alike = alike && cuda_varies(f, index) == cuda_varies(f, first) &&
                    is_unit(f, index) == is_unit(f, first);
        }
        for (uint32_t k = 0; k < group->count && !alike; k++) {
            f->accesses.groups[group->members[k] - f->accesses.first] = VYRE_NONE;
        }
    }
}

bool cuda_analyse(cuda_facts *f, const vyre_ir *ir, uint32_t phase, bool own_domain) {
    *f = (cuda_facts){.ir = ir, .phase = &ir->phases[phase], .parts = 1};
    uint32_t count = f->phase->end - f->phase->first;
    f->facts = vyre_alloc_zeroed(count, sizeof *f->facts);
    f->written = vyre_alloc_zeroed(ir->resource_count + 1, sizeof *f->written);
    f->used = vyre_alloc_zeroed(ir->resource_count + 1, sizeof *f->used);
    const vyre_divergence_rules rules = {.varies = varies, .user = f, .copies = true};
    if (!f->facts || !f->written || !f->used ||
        !vyre_divergence_init(&f->divergence, ir, f->phase, &rules) ||
        !vyre_nans_init(&f->nans, ir, f->phase, NULL, NULL) ||
        !vyre_uniformity_init(&f->map, ir, phase, false, true) ||
        !vyre_ranges_init(&f->ranges, ir, phase, own_domain) ||
        !vyre_accesses_init(&f->accesses, ir, phase, &f->ranges)) {
        cuda_facts_free(f);
        return false;
    }
    find_units(f);
    part_unlike(f);
    vyre_walk at;
    uint32_t inst;
    vyre_walk_begin(&at, ir, f->phase);
    while (vyre_walk_next(&at, &inst)) {
        visit(f, inst, &at);
    }
    f->parts = parts_that_pay(f);
    f->few_threads = is_small(ir, f->phase);
    f->has_long_records = has_long_records(f);
    return true;
}

void cuda_facts_free(cuda_facts *f) {
    vyre_free(f->facts);
    vyre_divergence_deinit(&f->divergence);
    vyre_nans_deinit(&f->nans);
    vyre_free(f->written);
    vyre_free(f->used);
    vyre_accesses_deinit(&f->accesses);
    vyre_ranges_deinit(&f->ranges);
    vyre_uniformity_deinit(&f->map);
    *f = (cuda_facts){0};
}

uint32_t cuda_constant_iterations(const vyre_ir *ir, uint32_t inst) {
    vyre_for_numbers range;
    bool is_known = ir->insts[inst].op == VYRE_OP_FOR && vyre_for_numbers_of(ir, inst, &range);
    return is_known && range.iterations <= UINT32_MAX ? (uint32_t)range.iterations : 0;
}

bool cuda_ends_soon(const vyre_ir *ir, uint32_t inst) {
    enum { FEW = 1024 };
    uint32_t iterations = cuda_constant_iterations(ir, inst);
    uint64_t all = iterations;
    vyre_block body = vyre_body_block(ir, inst);
    for (uint32_t k = body.first; k < body.end && all && all <= FEW; k++) {
        if (vyre_op_is_loop(ir->insts[k].op)) {
            all *= cuda_constant_iterations(ir, k);
        }
    }
    return all && all <= FEW;
}
