#include "pass/phase.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/word.h"
#include "pass/rebuild.h"

typedef struct extraction {
    vyre_rebuild *r;
    const vyre_ir *ir;
    const vyre_phase *phase;
    vyre_phase_part *part;
    const uint8_t *resources;                 /* by resource: how it is used */
    uint32_t *iterations;                     /* by step: its scalar in `to`, or VYRE_NONE */
    char (*names)[VYRE_LIMIT_NAME_BYTES + 1]; /* given so far */
    bool lends_constants;
} extraction;

enum { UNUSED, READ, WRITTEN };

/* Names */

static bool is_taken(const extraction *e, const char *name) {
    for (uint32_t i = 0; i < e->part->binding_count; i++) {
        if (strcmp(e->names[i], name) == 0) {
            return true;
        }
    }
    return vyre_word_is_reserved((vyre_str){name, strlen(name)});
}

/* An argument's name is one of the language; what people call arrays and steps may be any text. */
static const char *name_or(const char *name, const char *other) {
    if (!name || (*name >= '0' && *name <= '9')) {
        return other;
    }
    size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return size && !name[size] ? name : other;
}

/* Adds an argument and gives its name: the one asked for, or with a number behind it. */
static const char *add_binding(extraction *e, vyre_phase_binding binding, const char *wanted) {
    char name[VYRE_LIMIT_NAME_BYTES + 1];
    snprintf(name, sizeof name, "%s", wanted);
    for (uint32_t number = 1; is_taken(e, name); number++) {
        char digits[16];
        int length = snprintf(digits, sizeof digits, "_%u", number);
        int kept = (int)sizeof name - 1 - length;
        snprintf(name, sizeof name, "%.*s%s", kept, wanted, digits);
    }
    uint32_t index = e->part->binding_count++;
    e->part->bindings[index] = binding;
    memcpy(e->names[index], name, sizeof name);
    return e->names[index];
}

/* Arguments */

static void survey(const extraction *e, uint8_t *scalars, uint8_t *resources, uint8_t *repeats) {
    for (uint32_t i = e->phase->first; i < e->phase->end; i++) {
        const vyre_inst *inst = &e->ir->insts[i];
        if (inst->op == VYRE_OP_PARAM) {
            scalars[inst->a] = READ;
        } else if (inst->op == VYRE_OP_ITERATION) {
            repeats[inst->a] = READ;
        } else if (vyre_inst_has_resource(inst)) {
            uint8_t use = vyre_inst_effects(inst) & VYRE_EFFECT_WRITE ? WRITTEN : READ;
            uint8_t *known = &resources[vyre_access_resource(inst)];
            *known = *known < use ? use : *known;
            const vyre_resource *row = vyre_access_array(e->ir, inst);
            if (vyre_resource_is_field(row)) {
                known = &resources[row->size];
                *known = *known < use ? use : *known;
            }
        }
    }
}

/* An array that is none of the phase or of its caller, and that a buffer replaces. */
static bool is_lent(const extraction *e, uint32_t resource) {
    uint8_t kind = e->ir->resources[resource].kind;
    return kind == VYRE_RESOURCE_SCRATCH || (kind == VYRE_RESOURCE_CONSTANT && e->lends_constants);
}

static void add_buffer(extraction *e, uint32_t resource, uint8_t use, const char *name) {
    vyre_access access = use == WRITTEN ? VYRE_ACCESS_INOUT : VYRE_ACCESS_IN;
    name = add_binding(e, (vyre_phase_binding){VYRE_PHASE_RESOURCE, resource, access}, name);
    e->r->resources[resource] = vyre_rebuild_buffer(e->r, resource, name, access, VYRE_NONE);
}

/* The arguments of the program that the phase uses, in their order; then the scratch arrays, the
 * counters of repeats and the domain. */
static void declare_arguments(extraction *e, const uint8_t *scalars, const uint8_t *resources,
                              const uint8_t *repeats, vyre_phase_desc *desc) {
    const vyre_ir *ir = e->ir;
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        const vyre_arg *arg = &ir->args[i];
        const char *name = ir->strings + arg->name;
        if (arg->resource != VYRE_NONE && resources[arg->resource]) {
            add_buffer(e, arg->resource, resources[arg->resource], name);
        } else if (arg->resource == VYRE_NONE && scalars[i]) {
            name = add_binding(e, (vyre_phase_binding){VYRE_PHASE_SCALAR, i, VYRE_ACCESS_IN}, name);
            e->r->scalars[i] = vyre_build_scalar(e->r->to, name, vyre_arg_type(arg));
        }
    }
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        if (is_lent(e, i) && resources[i]) {
            add_buffer(e, i, resources[i], name_or(vyre_rebuild_resource_name(e->r, i), "kept"));
        }
        const vyre_resource *row = &ir->resources[i];
        if (vyre_resource_is_field(row) && resources[i]) {
            e->r->resources[i] = vyre_build_field(e->r->to, e->r->resources[row->size],
                                                  vyre_resource_type(row), row->length);
        }
    }
    for (uint32_t i = 0; i < ir->step_count; i++) {
        if (repeats[i]) {
            const char *name = name_or(vyre_rebuild_step_name(e->r, i), "iteration");
            name =
                add_binding(e, (vyre_phase_binding){VYRE_PHASE_ITERATION, i, VYRE_ACCESS_IN}, name);
            e->iterations[i] = vyre_build_scalar(e->r->to, name, VYRE_TYPE_U32);
        }
    }
    for (uint32_t i = 0; i < e->phase->dimensions; i++) {
        static const char *const names[] = {"domain_x", "domain_y", "domain_z"};
        const char *name =
            add_binding(e, (vyre_phase_binding){VYRE_PHASE_DOMAIN, i, VYRE_ACCESS_IN}, names[i]);
        uint32_t scalar = vyre_build_scalar(e->r->to, name, VYRE_TYPE_U64);
        desc->domain[i] = vyre_build_size_param(e->r->to, scalar);
    }
}

/* Code */

/* Elements that were bool are numbers in a buffer. */
static bool replace_bool(vyre_rebuild *r, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    uint32_t resource = r->resources[vyre_access_resource(inst)];
    uint32_t index = vyre_rebuild_operand(r, vyre_access_index(r->ir, inst));
    if (inst->op == VYRE_OP_STORE) {
        uint32_t value = vyre_rebuild_operand(r, vyre_access_value(r->ir, inst));
        vyre_build_store(r->to, resource, index, vyre_build_convert(r->to, VYRE_TYPE_U8, value));
        return true;
    }
    uint32_t value = inst->op == VYRE_OP_LOAD ? vyre_build_load(r->to, resource, index)
                                              : vyre_build_uniform_load(r->to, resource, index);
    r->values[at] = vyre_build_convert(r->to, VYRE_TYPE_BOOL, value);
    return true;
}

static bool replace(vyre_rebuild *r, uint32_t at) {
    const extraction *e = r->user;
    const vyre_inst *inst = &r->ir->insts[at];
    if (inst->op == VYRE_OP_ITERATION) {
        r->values[at] = vyre_build_param(r->to, e->iterations[inst->a]);
        return true;
    }
    if (inst->op == VYRE_OP_ATOMIC_LOAD && e->resources[vyre_access_resource(inst)] == READ) {
        /* Nobody writes it, and a buffer that is only read has no atomics. */
        r->values[at] = vyre_build_load(r->to, r->resources[vyre_access_resource(inst)],
                                        vyre_rebuild_operand(r, vyre_access_index(r->ir, inst)));
        return true;
    }
    if (inst->op == VYRE_OP_LOAD || inst->op == VYRE_OP_STORE || inst->op == VYRE_OP_UNIFORM_LOAD) {
        const vyre_resource *row = vyre_access_array(r->ir, inst);
        return is_lent(e, vyre_access_resource(inst)) && row->type == VYRE_TYPE_BOOL &&
               replace_bool(r, at);
    }
    return false;
}

static uint32_t find_step(const vyre_ir *ir, uint32_t phase) {
    uint32_t step = 0;
    while (ir->steps[step].kind != VYRE_STEP_PHASE || ir->steps[step].size != phase) {
        step++;
    }
    return step;
}

static void copy_phase(extraction *e, uint32_t step, vyre_phase_desc *desc) {
    vyre_rebuild *r = e->r;
    desc->name = vyre_rebuild_step_name(r, step);
    desc->dimensions = e->phase->dimensions;
    desc->subgroup = e->phase->subgroup;
    memcpy(desc->workgroup, e->phase->workgroup, sizeof desc->workgroup);
    vyre_build_phase(r->to, desc);
    for (uint32_t i = e->phase->first_resource; i < e->phase->end_resource; i++) {
        vyre_rebuild_array(r, i);
    }
    r->replace = replace;
    r->user = e;
    vyre_rebuild_code(r, vyre_phase_block(e->phase));
    vyre_rebuild_names(r, e->phase);
    vyre_build_phase_end(r->to);
}

vyre_status vyre_phase_extract(const vyre_program *program, uint32_t phase, bool lends_constants,
                               vyre_phase_part *out_part) {
    const vyre_ir *ir = vyre_program_ir(program);
    *out_part = (vyre_phase_part){0};
    vyre_rebuild rebuild = {0};
    VYRE_TRY(vyre_rebuild_init(&rebuild, program));
    vyre_status status = VYRE_OK;
    extraction e = {.r = &rebuild,
                    .ir = ir,
                    .phase = &ir->phases[phase],
                    .part = out_part,
                    .lends_constants = lends_constants};
    /* At most: every argument, array and repeat, and three dimensions. */
    size_t most = (size_t)ir->arg_count + ir->resource_count + ir->step_count + 3;
    uint8_t *uses = vyre_alloc_zeroed(most, 1);
    out_part->bindings = vyre_alloc_zeroed(most, sizeof *out_part->bindings);
    e.iterations = vyre_alloc_array(ir->step_count, sizeof *e.iterations);
    e.names = vyre_alloc_array(most, sizeof *e.names);
    if (!uses || !out_part->bindings || !e.iterations || !e.names) {
        status = vyre_no_memory("to take a phase out of program `%s`", vyre_program_name(program));
        goto done;
    }
    uint8_t *resources = uses + ir->arg_count, *repeats = resources + ir->resource_count;
    vyre_phase_desc desc = {0};
    e.resources = resources;
    survey(&e, uses, resources, repeats);
    vyre_rebuild_head(&rebuild);
    if (!lends_constants) {
        vyre_rebuild_constants(&rebuild);
    }
    declare_arguments(&e, uses, resources, repeats, &desc);
    copy_phase(&e, find_step(ir, phase), &desc);
    status = vyre_rebuild_finish(&rebuild, &out_part->program);
done:
    vyre_free(uses);
    vyre_free(e.iterations);
    vyre_free(e.names);
    vyre_rebuild_deinit(&rebuild);
    if (status) {
        vyre_phase_part_free(out_part);
    }
    return status;
}

void vyre_phase_part_free(vyre_phase_part *part) {
    vyre_program_release(part->program);
    vyre_free(part->bindings);
    *part = (vyre_phase_part){0};
}
