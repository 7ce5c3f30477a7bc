/* Promotion: a private array that is indexed by constants alone becomes values, one an element.
 *
 * Elements past the end read as zero and are not written, as always. Arrays of more than 64
 * elements stay, and so do all of a phase whose blocks would have to carry too many values. */
#include "base/alloc.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "pass/pass.h"
#include "pass/rebuild.h"

enum {
    MOST_CARRIED = 1 << 14, /* values that the blocks of a program carry more than before */
};

/* What becomes of an array. */
typedef struct row {
    bool goes;
    uint64_t stored, loaded; /* elements, as bits; all others need no variable */
    uint32_t variables;      /* where those of its elements start in the plan's */
} row;

typedef struct plan {
    const vyre_ir *ir;
    row *rows; /* by resource */
    uint32_t *variables;
    uint64_t carried;
    bool has_any;
} plan;

/* A block that is open while its cost is counted. */
typedef struct region {
    uint32_t owner;
    uint64_t set;   /* elements that are written in it, those more than once, too */
    uint32_t exits; /* terminators that carry them out, or on */
    uint32_t loop, call;
} region;

/* The element that an access is about, or VYRE_NONE if it lies past the end. False for an index
 * that is not constant. */
static bool read_index(const vyre_ir *ir, uint32_t index, uint32_t length, uint32_t *out_element) {
    if (vyre_operand_is_value(index)) {
        return false;
    }
    /* A negative number has bits beyond any length. */
    uint64_t number = vyre_const_extended(vyre_operand_const(ir, index));
    *out_element = number >= length ? VYRE_NONE : (uint32_t)number;
    return true;
}

static bool is_private(const vyre_ir *ir, const vyre_inst *inst) {
    uint32_t effects = vyre_inst_effects(inst);
    return effects & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE) &&
           vyre_access_array(ir, inst)->kind == VYRE_RESOURCE_PRIVATE;
}

/* What becomes of the private array of an access; NULL if it is none, or stays. */
static row *goes(const plan *p, const vyre_inst *inst) {
    row *found = is_private(p->ir, inst) ? &p->rows[vyre_access_resource(inst)] : NULL;
    return found && found->goes ? found : NULL;
}

static uint32_t count_bits(uint64_t bits) {
    uint32_t count = 0;
    for (; bits; bits &= bits - 1) {
        count++;
    }
    return count;
}

/* Finds the arrays of a phase that can go. */
static uint32_t find_arrays(plan *p, const vyre_phase *phase) {
    const vyre_ir *ir = p->ir;
    for (uint32_t i = phase->first_resource; i < phase->end_resource; i++) {
        p->rows[i].goes = ir->resources[i].kind == VYRE_RESOURCE_PRIVATE &&
                          ir->resources[i].length <= VYRE_PROMOTE_ELEMENTS;
    }
    for (uint32_t at = phase->first; at < phase->end; at++) {
        const vyre_inst *inst = &ir->insts[at];
        row *found = goes(p, inst);
        uint32_t element = VYRE_NONE;
        if (!found || inst->op == VYRE_OP_CLEAR) {
            continue; /* that sets nothing that it has not been before, unless a store does */
        }
        if (!read_index(ir, vyre_access_index(ir, inst), vyre_access_array(ir, inst)->length,
                        &element)) {
            found->goes = false;
        } else if (element != VYRE_NONE) {
            *(inst->op == VYRE_OP_LOAD ? &found->loaded : &found->stored) |= (uint64_t)1 << element;
        }
    }
    uint32_t elements = 0;
    for (uint32_t i = phase->first_resource; i < phase->end_resource; i++) {
        if (p->rows[i].goes) {
            p->has_any = true;
            elements += count_bits(p->rows[i].stored & p->rows[i].loaded);
        }
    }
    return elements;
}

/* Elements that an instruction sets. */
static uint32_t elements_set(const plan *p, const vyre_inst *inst) {
    const row *found = goes(p, inst);
    if (!found || inst->op == VYRE_OP_LOAD) {
        return 0;
    }
    return inst->op == VYRE_OP_STORE ? 1 : count_bits(found->stored & found->loaded);
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Counts what the block carries, and hands on what it sets. */
static void close_region(plan *p, region *regions, uint32_t depth, uint32_t elements,
                         uint32_t *out_most) {
    const region *closed = &regions[depth - 1];
    uint64_t set = least(closed->set, elements);
    const vyre_inst *owner = &p->ir->insts[closed->owner];
    uint32_t had = vyre_result_count(p->ir, closed->owner);
    uint32_t listed = vyre_op_is_loop(owner->op) ? vyre_inst_operands(p->ir, owner).count : 0;
    uint32_t most = (uint32_t)set + (had > listed ? had : listed);
    *out_most = set && most > *out_most ? most : *out_most;
    p->carried += set * (closed->exits + 3ull); /* and goes in, is an argument, comes out */
    if (depth > 1) {
        regions[depth - 2].set += set;
    }
}

/* What the blocks of a phase would carry; false if one of them cannot. */
static bool count_carried(plan *p, const vyre_phase *phase, uint32_t elements) {
    const vyre_ir *ir = p->ir;
    region regions[VYRE_LIMIT_NESTING + 1];
    uint32_t depth = 0, most = 0;
    for (uint32_t at = phase->first; at < phase->end; at++) {
        for (; depth && vyre_owner_end(ir, regions[depth - 1].owner) == at; depth--) {
            close_region(p, regions, depth, elements, &most);
        }
        const vyre_inst *inst = &ir->insts[at];
        uint32_t effects = vyre_inst_effects(inst);
        if (effects & VYRE_EFFECT_BLOCK) {
            bool is_loop = vyre_op_is_loop(inst->op);
            bool is_call = inst->op == VYRE_OP_INLINE;
            regions[depth] = (region){.owner = at,
                                      .loop = is_loop             ? depth
                                              : depth && !is_call ? regions[depth - 1].loop
                                                                  : VYRE_NONE,
                                      .call = is_call ? depth
                                              : depth ? regions[depth - 1].call
                                                      : VYRE_NONE};
            depth++;
        } else if (depth && effects & VYRE_EFFECT_END && inst->op != VYRE_OP_UNREACHABLE) {
            uint32_t target = inst->op == VYRE_OP_YIELD    ? depth - 1
                              : inst->op == VYRE_OP_RETURN ? regions[depth - 1].call
                                                           : regions[depth - 1].loop;
            if (target != VYRE_NONE) {
                regions[target].exits++;
            }
        } else if (depth) {
            regions[depth - 1].set += elements_set(p, inst);
        }
    }
    for (; depth; depth--) {
        close_region(p, regions, depth, elements, &most);
    }
    return most <= VYRE_LIMIT_CARRIED && p->carried <= MOST_CARRIED;
}

static void make_plan(plan *p) {
    for (uint32_t i = 0; i < p->ir->phase_count; i++) {
        const vyre_phase *phase = &p->ir->phases[i];
        uint64_t before = p->carried;
        bool had_any = p->has_any;
        uint32_t elements = find_arrays(p, phase);
        if (!count_carried(p, phase, elements)) {
            p->carried = before;
            p->has_any = had_any;
            for (uint32_t k = phase->first_resource; k < phase->end_resource; k++) {
                p->rows[k].goes = false;
            }
        }
    }
}

/* Copying */

static bool has_variable(const row *found, uint32_t element) {
    return found->stored & found->loaded & (uint64_t)1 << element;
}

static void clear(vyre_rebuild *r, uint32_t resource) {
    const plan *p = r->user;
    const vyre_resource *array = &r->ir->resources[resource];
    const row *found = &p->rows[resource];
    uint32_t zero = vyre_build_const(r->to, vyre_resource_type(array), 0);
    for (uint32_t i = 0; i < array->length; i++) {
        if (has_variable(found, i)) {
            vyre_build_set(r->to, p->variables[found->variables + i], zero);
        }
    }
}

static bool replace(vyre_rebuild *r, uint32_t at) {
    const plan *p = r->user;
    const vyre_inst *inst = &r->ir->insts[at];
    uint32_t element;
    if (inst->op == VYRE_OP_LEN && p->rows[vyre_access_resource(inst)].goes) {
        r->values[at] = vyre_build_u32(r->to, vyre_access_array(r->ir, inst)->length);
        return true;
    }
    const row *found = goes(p, inst);
    if (!found) {
        return false;
    }
    const vyre_resource *array = vyre_access_array(r->ir, inst);
    if (inst->op == VYRE_OP_CLEAR) {
        clear(r, vyre_access_resource(inst));
        return true;
    }
    bool known = read_index(r->ir, vyre_access_index(r->ir, inst), array->length, &element);
    known = known && element != VYRE_NONE && has_variable(found, element);
    if (inst->op == VYRE_OP_LOAD) {
        r->values[at] = known ? vyre_build_get(r->to, p->variables[found->variables + element])
                              : vyre_build_const(r->to, vyre_resource_type(array), 0);
    } else if (known) {
        vyre_build_set(r->to, p->variables[found->variables + element],
                       vyre_rebuild_operand(r, vyre_access_value(r->ir, inst)));
    }
    return true;
}

/* Variables for the elements of an array, zero as they start. */
static void declare(vyre_rebuild *r, uint32_t resource) {
    const plan *p = r->user;
    const vyre_resource *array = &r->ir->resources[resource];
    const row *found = &p->rows[resource];
    const char *name = vyre_rebuild_resource_name(r, resource);
    uint32_t zero = vyre_build_const(r->to, vyre_resource_type(array), 0);
    for (uint32_t i = 0; i < array->length; i++) {
        if (has_variable(found, i)) {
            p->variables[found->variables + i] = vyre_build_var(r->to, name, zero);
        }
    }
}

static bool copy_phase(vyre_rebuild *r, uint32_t step) {
    const plan *p = r->user;
    const vyre_phase *phase = &r->ir->phases[r->ir->steps[step].size];
    vyre_phase_desc desc = vyre_rebuild_phase_desc(r, step);
    vyre_build_phase(r->to, &desc);
    for (uint32_t i = phase->first_resource; i < phase->end_resource; i++) {
        if (p->rows[i].goes) {
            declare(r, i);
        } else {
            vyre_rebuild_array(r, i);
        }
    }
    vyre_rebuild_code(r, vyre_phase_block(phase));
    vyre_rebuild_names(r, phase);
    vyre_build_phase_end(r->to);
    return true;
}

static vyre_status rebuild_with(plan *p, const vyre_program *program, vyre_program **out_program) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->ir->resource_count; i++) {
        p->rows[i].variables = count;
        count += p->rows[i].goes ? p->ir->resources[i].length : 0;
    }
    p->variables = vyre_alloc_array(count, sizeof *p->variables);
    if (!p->variables) {
        return vyre_no_memory("for the private arrays of `%s`", vyre_program_name(program));
    }
    vyre_rebuild hooks = {.replace = replace, .replace_phase = copy_phase, .user = p};
    vyre_status status = vyre_rebuild_run(program, hooks, out_program);
    vyre_free(p->variables);
    return status;
}

vyre_status vyre_promote(const vyre_program *program, vyre_program **out_program) {
    const vyre_ir *ir = vyre_program_ir(program);
    plan p = {.ir = ir, .rows = vyre_alloc_zeroed(ir->resource_count, sizeof *p.rows)};
    *out_program = NULL;
    if (!p.rows) {
        return vyre_no_memory("for the private arrays of `%s`", vyre_program_name(program));
    }
    make_plan(&p);
    bool is_far_from_limits =
        ir->inst_count < VYRE_LIMIT_INSTRUCTIONS / 2 && ir->operand_count < VYRE_LIMIT_OPERANDS / 2;
    vyre_status status =
        p.has_any && is_far_from_limits ? rebuild_with(&p, program, out_program) : VYRE_OK;
    vyre_free(p.rows);
    return status;
}
