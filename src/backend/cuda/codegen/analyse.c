#include "backend/cuda/codegen/analyse.h"

#include "backend/cuda/codegen/write.h"
#include "base/alloc.h"
#include "ir/lookup.h"
#include "pass/walk.h"

typedef struct walk {
    cuda_facts *f;
    const vyre_ir *ir;
    vyre_walk at;
    bool changed;
    bool whole; /* parts of a thread may end apart: a thread has one */
} walk;

static cuda_fact *fact(walk *w, uint32_t inst) {
    return cuda_fact_of(w->f, inst);
}

static void set(walk *w, bool *flag, bool value) {
    if (value && !*flag) {
        *flag = true;
        w->changed = true;
    }
}

static void walk_code(walk *w, void (*visit)(walk *w, uint32_t inst)) {
    uint32_t inst;
    vyre_walk_begin(&w->at, w->ir, w->f->phase);
    while (vyre_walk_next(&w->at, &inst)) {
        visit(w, inst);
    }
}

bool cuda_settles_late(const cuda_facts *f, uint32_t inst) {
    const vyre_inst *i = &f->ir->insts[inst];
    bool is_float = i->type == VYRE_TYPE_F32 || i->type == VYRE_TYPE_F64;
    return is_float && i->op == VYRE_OP_RESULT && vyre_lookup_is_loop(f->ir->insts[i->a].op) &&
           !cuda_fact_of(f, inst)->kept;
}

/* Whether an operand may be a NaN that is not to be changed. */
static bool is_kept(const walk *w, uint32_t operand) {
    return operand & VYRE_CONSTANT ? vyre_walk_is_nan(&w->ir->consts[operand & ~VYRE_CONSTANT])
                                   : cuda_fact_of(w->f, operand)->kept;
}

/* Values that go into args or results. */
static void flow(walk *w, const uint32_t *values, uint32_t count, uint32_t first_to, bool apart) {
    for (uint32_t k = 0; k < count; k++) {
        cuda_fact *to = fact(w, first_to + k);
        set(w, &to->varying, apart || cuda_varies(w->f, values[k]));
        set(w, &to->kept, is_kept(w, values[k]));
        if (!(values[k] & VYRE_CONSTANT)) {
            set(w, &fact(w, values[k])->observed,
                to->observed && !cuda_settles_late(w->f, first_to + k));
        }
    }
}

static void visit_jump(walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    uint32_t target = vyre_walk_target(&w->at, i->op), owner = w->at.stack[target].owner;
    bool apart = false;
    for (uint32_t level = target + 1; level < w->at.depth; level++) {
        apart = apart || fact(w, w->at.stack[level].owner)->divergent;
    }
    if (i->op != VYRE_OP_YIELD && apart) {
        for (uint32_t level = target; level < w->at.depth; level++) {
            uint32_t at = w->at.stack[level].owner;
            set(w, at == VYRE_NONE ? &w->whole : &fact(w, at)->divergent, true);
        }
    }
    if (i->op == VYRE_OP_UNREACHABLE || owner == VYRE_NONE) {
        return;
    }
    const vyre_inst *block = &w->ir->insts[owner];
    const uint32_t *values = vyre_lookup_list(w->ir, i->a);
    bool back =
        vyre_lookup_is_loop(block->op) && (i->op == VYRE_OP_YIELD || i->op == VYRE_OP_CONTINUE);
    uint32_t first = !back ? block->c : block->op == VYRE_OP_FOR ? owner + 2 : owner + 1;
    flow(w, values, i->b, first, fact(w, owner)->divergent);
}

/* Values carried into a loop, and out of a `for` whose range is used up. */
static void visit_loop(walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    const uint32_t *values = vyre_lookup_list(w->ir, i->a);
    bool is_for = i->op == VYRE_OP_FOR;
    uint32_t carried = is_for ? i->b - 3 : i->b, first = is_for ? inst + 2 : inst + 1;
    bool *divergent = &fact(w, inst)->divergent;
    if (is_for) {
        set(w, divergent,
            cuda_varies(w->f, values[0]) || cuda_varies(w->f, values[1]) ||
                cuda_varies(w->f, values[2]));
        set(w, &fact(w, inst + 1)->varying, *divergent);
    }
    flow(w, is_for ? values + 3 : values, carried, first, *divergent);
    for (uint32_t k = 0; is_for && k < carried; k++) {
        cuda_fact *result = fact(w, i->c + k), *arg = fact(w, first + k);
        set(w, &result->varying, arg->varying || *divergent);
        set(w, &result->kept, arg->kept);
        set(w, &arg->observed, result->observed && !cuda_settles_late(w->f, i->c + k));
    }
}

static bool is_unit(const cuda_facts *f, uint32_t operand) {
    return !(operand & VYRE_CONSTANT) && cuda_fact_of(f, operand)->unit;
}

/* Whether neighbours differ by 1. */
static bool steps_by_one(const walk *w, const vyre_inst *i) {
    bool narrow = i->type == VYRE_TYPE_U32 || i->type == VYRE_TYPE_I32;
    switch (i->op) {
    case VYRE_OP_GID: return i->a == 0;
    case VYRE_OP_ADD:
        return narrow && ((is_unit(w->f, i->a) && !cuda_varies(w->f, i->b)) ||
                          (is_unit(w->f, i->b) && !cuda_varies(w->f, i->a)));
    case VYRE_OP_SUB: return narrow && is_unit(w->f, i->a) && !cuda_varies(w->f, i->b);
    case VYRE_OP_CONVERT:
    case VYRE_OP_BITCAST: return narrow && is_unit(w->f, i->a);
    default: return false;
    }
}

/* Whether a row that starts there is some elements off those of the other operand. */
static bool is_shifted(const walk *w, const vyre_inst *i) {
    const uint32_t *values;
    uint32_t count = vyre_lookup_values(w->ir, i, &values);
    bool shifted = false;
    for (uint32_t k = 0; k < count; k++) {
        shifted = shifted || (values[k] & VYRE_CONSTANT
                                  ? w->ir->consts[values[k] & ~VYRE_CONSTANT].bits % 16 != 0
                                  : cuda_fact_of(w->f, values[k])->shifted);
    }
    return shifted;
}

static void visit_value(walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    cuda_fact *own = fact(w, inst);
    uint32_t effects = vyre_lookup_op(i->op)->effects;
    bool varying = (i->op == VYRE_OP_GID && i->a == 0) ||
                   (effects & VYRE_EFFECT_ATOMIC && i->op != VYRE_OP_ATOMIC_LOAD);
    const uint32_t *values;
    uint32_t count = vyre_lookup_values(w->ir, i, &values);
    for (uint32_t k = 0; k < count; k++) {
        if (values[k] & VYRE_CONSTANT) {
            continue;
        }
        cuda_fact *used = fact(w, values[k]);
        varying = varying || used->varying;
        set(w, &used->observed, vyre_walk_shows_bits(i->op, k, own->observed));
    }
    set(w, &own->varying, varying);
    set(w, &own->kept,
        i->op == VYRE_OP_SELECT ? is_kept(w, i->b) || is_kept(w, i->c)
                                : !vyre_walk_gives_any_nan(i->op, (vyre_type)i->type));
    own->unit = steps_by_one(w, i);
    own->shifted = own->unit && i->op != VYRE_OP_GID && is_shifted(w, i);
}

static void visit_flow(walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    uint32_t effects = vyre_lookup_op(i->op)->effects;
    if (effects & VYRE_EFFECT_END) {
        visit_jump(w, inst);
    } else if (vyre_lookup_is_loop(i->op)) {
        visit_loop(w, inst);
    } else if (i->op == VYRE_OP_IF) {
        set(w, &fact(w, inst)->divergent, cuda_varies(w->f, i->a));
    } else if (i->op != VYRE_OP_INLINE && i->op != VYRE_OP_ARG && i->op != VYRE_OP_RESULT) {
        visit_value(w, inst);
    }
}

static bool breaks_inside(const vyre_ir *ir, uint32_t loop) {
    for (uint32_t inst = loop + 1; inst < ir->insts[loop].c; inst++) {
        if (ir->insts[inst].op == VYRE_OP_BREAK || ir->insts[inst].op == VYRE_OP_RETURN) {
            return true;
        }
    }
    return false;
}

/* Whether an instruction stands in a loop that may go on until somebody else does something. */
static bool in_open_loop(const walk *w) {
    for (uint32_t level = 1; level < w->at.depth; level++) {
        uint32_t op = vyre_walk_owner_op(&w->at, level);
        if (op == VYRE_OP_LOOP ||
            (op == VYRE_OP_FOR && breaks_inside(w->ir, w->at.stack[level].owner))) {
            return true;
        }
    }
    return false;
}

static bool is_global(const vyre_ir *ir, uint32_t resource) {
    return ir->resources[resource].kind <= VYRE_RESOURCE_SCRATCH;
}

bool cuda_is_inverse_root(const vyre_ir *ir, const vyre_inst *i) {
    return i->op == VYRE_OP_DIV && i->type == VYRE_TYPE_F32 && i->a & VYRE_CONSTANT &&
           ir->consts[i->a & ~VYRE_CONSTANT].bits == 0x3f800000 && !(i->b & VYRE_CONSTANT) &&
           ir->insts[i->b].op == VYRE_OP_SQRT;
}

static void visit_once(walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    cuda_facts *f = w->f;
    uint32_t effects = vyre_lookup_op(i->op)->effects;
    if (effects & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE) || i->op == VYRE_OP_LEN) {
        f->used[i->a] = true;
    }
    if (effects & VYRE_EFFECT_WRITE) {
        f->written[i->a] = true;
    }
    if (effects & VYRE_EFFECT_ATOMIC && effects & VYRE_EFFECT_READ && is_global(w->ir, i->a) &&
        f->phase->workgroup[0] && in_open_loop(w)) {
        f->may_wait = true;
    }
    f->has_barriers |= i->op == VYRE_OP_BARRIER || i->op == VYRE_OP_UNIFORM_LOAD;
    f->has_grid_barriers |= i->op == VYRE_OP_GRID_BARRIER;
    f->has_subgroups |= (effects & VYRE_EFFECT_SUBGROUP) != 0;
    f->has_loops |= vyre_lookup_is_loop(i->op) && !cuda_ends_soon(w->ir, inst);
    if (effects & VYRE_EFFECT_SUBGROUP && f->map.controls &&
        f->map.levels[f->map.controls[inst - f->phase->first]] < VYRE_UNIFORM_WORKGROUP) {
        f->lanes_part = true;
    }
    const uint32_t *values;
    uint32_t count = vyre_lookup_values(w->ir, i, &values);
    for (uint32_t k = 0; k < count; k++) {
        if (!(values[k] & VYRE_CONSTANT)) {
            fact(w, values[k])->uses++;
        }
    }
    if (cuda_is_inverse_root(w->ir, i)) {
        fact(w, i->b)->inverses++;
    }
}

/* What the accesses of a phase would gain by several parts a thread. */
typedef struct gain {
    uint32_t rows, others; /* accesses of all parts at once; those that stay apart */
    bool in_loop;          /* rows are accessed in loops, too */
    uint32_t largest;      /* bytes of an element of a row */
    bool apart;            /* parts go ways of their own for long, or through memory of their own */
} gain;

static void count_gain(const walk *w, uint32_t inst, bool in_loop, gain *g) {
    const vyre_inst *i = &w->ir->insts[inst];
    uint32_t effects = vyre_lookup_op(i->op)->effects;
    if (vyre_lookup_is_loop(i->op)) {
        g->apart = g->apart || cuda_fact_of(w->f, inst)->divergent;
    }
    if (!(effects & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE)) || i->op == VYRE_OP_CLEAR) {
        return;
    }
    uint32_t at = i->op == VYRE_OP_ATOMIC_CAS ? w->ir->operands[i->b] : i->b;
    if (!cuda_varies(w->f, at)) {
        return;
    }
    const cuda_fact *index = cuda_fact_of(w->f, at);
    const vyre_access_group *group = vyre_access_group_of(&w->f->accesses, inst);
    if (i->op == VYRE_OP_LOAD && index->unit && group && group->in_bounds &&
        is_global(w->ir, i->a)) {
        uint32_t bytes = vyre_type_bytes((vyre_type)w->ir->resources[i->a].type);
        g->rows += inst == group->head; /* neighbours come along */
        g->in_loop = g->in_loop || in_loop;
        g->largest = bytes > g->largest ? bytes : g->largest;
    } else if ((i->op == VYRE_OP_LOAD || i->op == VYRE_OP_STORE) && index->unit &&
               !index->shifted) {
        uint32_t bytes = vyre_type_bytes((vyre_type)w->ir->resources[i->a].type);
        g->rows++;
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
static uint32_t parts_that_pay(const walk *w) {
    enum { BYTES = 16, MOST_INSTRUCTIONS = 400 };
    const cuda_facts *f = w->f;
    uint32_t count = f->phase->end - f->phase->first, loop_end = 0;
    gain g = {0};
    if (w->whole || f->has_grid_barriers || f->phase->workgroup[0] ||
        f->phase->first_resource != f->phase->end_resource) {
        return 1;
    }
    for (uint32_t inst = f->phase->first; inst < f->phase->end; inst++) {
        if (vyre_lookup_is_loop(w->ir->insts[inst].op) && inst >= loop_end) {
            loop_end = w->ir->insts[inst].c;
        }
        count_gain(w, inst, inst < loop_end, &g);
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

/* Neighbours are written for all parts of a thread or for one, and as rows or not: those whose
 * indices came about in ways that do not look alike go by themselves. */
static void part_unlike(cuda_facts *f) {
    for (uint32_t g = 0; g < f->accesses.group_count; g++) {
        const vyre_access_group *group = &f->accesses.rows[g];
        uint32_t first = f->ir->insts[group->members[0]].b;
        bool alike = true;
        for (uint32_t k = 1; k < group->count; k++) {
            uint32_t index = f->ir->insts[group->members[k]].b;
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
    if (!f->facts || !f->written || !f->used ||
        !vyre_uniformity_init_controls(&f->map, ir, phase) ||
        !vyre_ranges_init(&f->ranges, ir, phase, own_domain) ||
        !vyre_accesses_init(&f->accesses, ir, phase, &f->ranges)) {
        cuda_facts_free(f);
        return false;
    }
    walk w = {.f = f, .ir = ir};
    do {
        w.changed = false;
        walk_code(&w, visit_flow);
    } while (w.changed);
    part_unlike(f);
    walk_code(&w, visit_once);
    f->parts = parts_that_pay(&w);
    f->few_threads = is_small(ir, f->phase);
    return true;
}

void cuda_facts_free(cuda_facts *f) {
    vyre_free(f->facts);
    vyre_free(f->written);
    vyre_free(f->used);
    vyre_accesses_deinit(&f->accesses);
    vyre_ranges_deinit(&f->ranges);
    vyre_uniformity_deinit(&f->map);
    *f = (cuda_facts){0};
}

/* A constant as the number it is. */
static bool number_of(const vyre_ir *ir, uint32_t operand, int64_t *out) {
    if (!(operand & VYRE_CONSTANT)) {
        return false;
    }
    const vyre_const *row = &ir->consts[operand & ~VYRE_CONSTANT];
    uint32_t width = vyre_type_bytes((vyre_type)row->type) * 8;
    bool is_signed = vyre_lookup_class((vyre_type)row->type) == VYRE_CLASS_SIGNED;
    if (width == 64 && row->bits > INT64_MAX) {
        return false;
    }
    *out = is_signed && width < 64 && row->bits >> (width - 1)
               ? (int64_t)row->bits - ((int64_t)1 << width)
               : (int64_t)row->bits;
    return true;
}

uint32_t cuda_constant_iterations(const vyre_ir *ir, uint32_t inst) {
    const vyre_inst *i = &ir->insts[inst];
    int64_t first, end, step;
    if (i->op != VYRE_OP_FOR || !number_of(ir, ir->operands[i->a], &first) ||
        !number_of(ir, ir->operands[i->a + 1], &end) ||
        !number_of(ir, ir->operands[i->a + 2], &step) || step <= 0 || first >= end) {
        return 0;
    }
    uint64_t iterations = ((uint64_t)end - (uint64_t)first - 1) / (uint64_t)step + 1;
    return iterations <= UINT32_MAX ? (uint32_t)iterations : 0;
}

bool cuda_ends_soon(const vyre_ir *ir, uint32_t inst) {
    enum { FEW = 1024 };
    uint32_t iterations = cuda_constant_iterations(ir, inst);
    uint64_t all = iterations;
    for (uint32_t k = inst + 1; k < ir->insts[inst].c && all && all <= FEW; k++) {
        if (vyre_lookup_is_loop(ir->insts[k].op)) {
            all *= cuda_constant_iterations(ir, k);
        }
    }
    return all && all <= FEW;
}
