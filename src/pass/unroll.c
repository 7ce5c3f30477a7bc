/* Unrolling: `for` loops whose range is made of constants become straight code, with a constant for
 * the counter in each iteration, so that others can fold what depends on it and give arrays that it
 * indexes away.
 *
 * Inner loops go first. A loop stays where it would grow too large, where something leaves an
 * iteration early, or where it holds a loop that stays and no private array, since that saves
 * nothing. All loops of a program share a budget, so that code grows by a bounded amount, whatever
 * the ranges are. */
#include "base/alloc.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "pass/pass.h"
#include "pass/rebuild.h"

/* In eighths of the cost of a simple instruction; one of which nothing will be left has one. */
enum {
    WHOLE = 8,
    MOST_ITERATIONS = 512,
    MOST_OF_LOOP = 512 * WHOLE,      /* a loop with all its iterations */
    MOST_FOR_ARRAY = 2048 * WHOLE,   /* one that keeps a private array from becoming values */
    MOST_OF_PROGRAM = 16384 * WHOLE, /* what a program grows by: LLVM takes seconds for more */
};

/* A block that is open while the plan is made. */
typedef struct region {
    uint32_t owner;
    uint64_t weight;  /* so far, with loops inside in the form that they will have */
    bool has_jump;    /* an iteration may end before its end */
    bool has_loop;    /* that stays */
    bool has_private; /* elements of private arrays that may become values */
    uint32_t loop;    /* innermost loop around, itself included; or VYRE_NONE */
} region;

typedef struct plan {
    const vyre_ir *ir;
    bool *unrolled; /* by instruction */
    bool *known;    /* by instruction: a number once the loops around it are unrolled */
    bool *stays;    /* by resource: a private array, some of whose indices never are numbers */
    uint64_t grown;
    bool has_any;
    region regions[VYRE_LIMIT_NESTING + 1];
    uint32_t depth;
} plan;

static bool is_known(const plan *p, uint32_t operand) {
    return vyre_operand_is_constant(operand) || p->known[operand];
}

static bool is_private(const plan *p, const vyre_inst *inst) {
    return (inst->op == VYRE_OP_LOAD || inst->op == VYRE_OP_STORE) &&
           vyre_access_array(p->ir, inst)->kind == VYRE_RESOURCE_PRIVATE;
}

/* Whether it is about an element of a small private array whose indices are all known once the
 * loops around are unrolled: it may become a value. */
static bool is_element(const plan *p, const vyre_inst *inst) {
    return is_private(p, inst) && vyre_access_array(p->ir, inst)->length <= VYRE_PROMOTE_ELEMENTS &&
           !p->stays[vyre_access_resource(inst)];
}

/* An instruction is a number if all that it is computed from is. */
static void find_number(plan *p, uint32_t at) {
    const vyre_inst *inst = &p->ir->insts[at];
    if (inst->op == VYRE_OP_ARG || vyre_inst_effects(inst)) {
        return;
    }
    vyre_list values = vyre_inst_operands(p->ir, inst);
    bool all = values.count;
    for (uint32_t i = 0; i < values.count && all; i++) {
        all = is_known(p, values.items[i]);
    }
    p->known[at] = all;
}

/* What an instruction and the values it sends on count for. */
static uint64_t weight_of(const vyre_ir *ir, const vyre_inst *inst) {
    const vyre_op_info *info = vyre_lookup_op(inst->op);
    bool has_list = info->shape == VYRE_SHAPE_LIST || info->shape == VYRE_SHAPE_LOOP;
    uint32_t sent = has_list ? vyre_inst_operands(ir, inst).count : 0;
    return (uint64_t)WHOLE * ((info->cost ? info->cost : 1) + sent);
}

static void open_region(plan *p, uint32_t at) {
    uint16_t op = p->ir->insts[at].op;
    uint32_t loop = vyre_op_is_loop(op)                 ? p->depth
                    : op == VYRE_OP_INLINE || !p->depth ? VYRE_NONE
                                                        : p->regions[p->depth - 1].loop;
    p->regions[p->depth++] = (region){.owner = at, .loop = loop};
}

/* Whether a loop is to be unrolled; `out_weight` is what it then counts for. */
static bool pays(const plan *p, const region *r, uint64_t *out_weight) {
    vyre_for_numbers found;
    if (p->ir->insts[r->owner].op != VYRE_OP_FOR || r->has_jump ||
        !vyre_for_numbers_of(p->ir, r->owner, &found)) {
        return false;
    }
    uint64_t most = r->has_private ? MOST_FOR_ARRAY : MOST_OF_LOOP;
    if (found.iterations > 1 &&
        ((r->has_loop && !r->has_private) || found.iterations > MOST_ITERATIONS ||
         found.iterations * r->weight > most)) {
        return false;
    }
    *out_weight = found.iterations * r->weight;
    return found.iterations <= 1 || p->grown + *out_weight - r->weight <= MOST_OF_PROGRAM;
}

static void close_region(plan *p) {
    const region closed = p->regions[--p->depth];
    const vyre_inst *owner = &p->ir->insts[closed.owner];
    uint64_t weight = closed.weight + weight_of(p->ir, owner), unrolled;
    bool stays = vyre_op_is_loop(owner->op);
    if (pays(p, &closed, &unrolled)) {
        p->grown += unrolled > closed.weight ? unrolled - closed.weight : 0;
        p->unrolled[closed.owner] = p->has_any = true;
        weight = unrolled;
        stays = false;
    }
    if (p->depth) {
        region *parent = &p->regions[p->depth - 1];
        parent->weight += weight;
        parent->has_loop |= stays || closed.has_loop;
        parent->has_private |= closed.has_private;
    }
}

/* Whether an instruction is the last one in the blocks of an owner. */
static bool is_last(const plan *p, uint32_t owner, uint32_t at) {
    return vyre_block_terminator(vyre_owner_blocks(p->ir, owner)) == at;
}

/* The end of an iteration is one; any other way out of it is a jump. A return leaves with all the
 * code around it, as it does in straight code. */
static void see_jump(plan *p, uint32_t at) {
    uint32_t loop = p->regions[p->depth - 1].loop;
    const region *target = &p->regions[loop];
    if (p->ir->insts[at].op == VYRE_OP_BREAK || !is_last(p, target->owner, at)) {
        p->regions[loop].has_jump = true;
    }
}

/* What would be a number if all loops were unrolled that can be, and which arrays stay even so. */
static void find_known(plan *p, const vyre_phase *phase) {
    for (uint32_t at = phase->first; at < phase->end; at++) {
        const vyre_inst *inst = &p->ir->insts[at];
        vyre_for_numbers found;
        if (inst->op == VYRE_OP_FOR && vyre_for_numbers_of(p->ir, at, &found)) {
            p->known[vyre_for_counter(at)] = true;
        } else if (is_private(p, inst) && !is_known(p, vyre_access_index(p->ir, inst))) {
            p->stays[vyre_access_resource(inst)] = true;
        } else if (!(vyre_inst_effects(inst) & VYRE_EFFECT_BLOCK)) {
            find_number(p, at);
        }
    }
}

static void make_plan(plan *p, const vyre_phase *phase) {
    const vyre_ir *ir = p->ir;
    find_known(p, phase);
    for (uint32_t at = phase->first; at < phase->end; at++) {
        const vyre_inst *inst = &ir->insts[at];
        const vyre_op_info *info = vyre_lookup_op(inst->op);
        while (p->depth && vyre_owner_end(ir, p->regions[p->depth - 1].owner) == at) {
            close_region(p);
        }
        if (info->effects & VYRE_EFFECT_BLOCK) {
            open_region(p, at);
            continue;
        }
        if (!p->depth) {
            continue;
        }
        region *top = &p->regions[p->depth - 1];
        bool is_value = is_element(p, inst);
        top->weight += is_value || p->known[at] ? 1 : weight_of(ir, inst);
        top->has_private |= is_value;
        if (inst->op == VYRE_OP_BREAK || inst->op == VYRE_OP_CONTINUE) {
            see_jump(p, at);
        } else if (info->effects & VYRE_EFFECT_END && is_last(p, top->owner, at)) {
            top->has_jump = true; /* no iteration comes to its end */
        }
    }
    while (p->depth) {
        close_region(p);
    }
}

static bool unroll(vyre_rebuild *r, uint32_t at) {
    const plan *p = r->user;
    vyre_for_numbers found;
    if (!p->unrolled[at] || !vyre_for_numbers_of(r->ir, at, &found)) {
        return false;
    }
    vyre_list initial = vyre_loop_initial(r->ir, at);
    vyre_type type = vyre_operand_type(r->ir, vyre_for_counter(at));
    uint32_t *args = r->values + vyre_loop_arg(r->ir, at, 0);
    uint32_t *results = r->values + vyre_result(r->ir, at, 0);
    vyre_block body = vyre_body_block(r->ir, at);
    body.end = vyre_block_terminator(body);
    vyre_list next = vyre_inst_operands(r->ir, &r->ir->insts[body.end]);
    for (uint32_t i = 0; i < initial.count; i++) {
        results[i] = vyre_rebuild_operand(r, initial.items[i]);
    }
    for (uint64_t iteration = 0; iteration < found.iterations; iteration++) {
        r->values[vyre_for_counter(at)] =
            vyre_build_const(r->to, type, found.first + iteration * found.step);
        for (uint32_t i = 0; i < initial.count; i++) {
            args[i] = results[i];
        }
        vyre_rebuild_code(r, body);
        for (uint32_t i = 0; i < next.count; i++) {
            results[i] = vyre_rebuild_operand(r, next.items[i]);
        }
    }
    return true;
}

/* So that what the budget allows is possible, too. */
static bool is_far_from_limits(const vyre_ir *ir) {
    return ir->inst_count < VYRE_LIMIT_INSTRUCTIONS / 2 &&
           ir->operand_count < VYRE_LIMIT_OPERANDS / 2 &&
           ir->const_count < VYRE_LIMIT_CONSTANTS / 2;
}

vyre_status vyre_unroll(const vyre_program *program, vyre_program **out_program) {
    const vyre_ir *ir = vyre_program_ir(program);
    size_t flags = 2 * (size_t)ir->inst_count + ir->resource_count;
    plan p = {.ir = ir, .unrolled = vyre_alloc_zeroed(flags, sizeof *p.unrolled)};
    *out_program = NULL;
    if (!p.unrolled) {
        return vyre_no_memory("to unroll the loops of `%s`", vyre_program_name(program));
    }
    p.known = p.unrolled + ir->inst_count;
    p.stays = p.known + ir->inst_count;
    for (uint32_t i = 0; i < ir->phase_count; i++) {
        make_plan(&p, &ir->phases[i]);
    }
    vyre_status status = VYRE_OK;
    if (p.has_any && is_far_from_limits(ir)) {
        vyre_rebuild hooks = {.replace_block = unroll, .user = &p};
        status = vyre_rebuild_run(program, hooks, out_program);
    }
    vyre_free(p.unrolled);
    return status;
}
