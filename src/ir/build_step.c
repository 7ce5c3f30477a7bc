#include "ir/builder.h"
#include "ir/lookup.h"

static uint32_t add_step(vyre_builder *builder, vyre_step row, const char *name) {
    if (builder->steps.count >= VYRE_LIMIT_STEPS) {
        return builder_none(builder, 701, "split the program into several",
                            "a program has more than %d phases and repeats", VYRE_LIMIT_STEPS);
    }
    return builder_add(builder, steps, (draft_step){row, builder_name(builder, name)});
}

static bool outside_phase(vyre_builder *builder, const char *what) {
    if (builder->in_phase) {
        vyre_build_report(builder, 507, "close the phase first", "%s starts inside a phase", what);
    }
    return !builder->in_phase && !builder->finished;
}

/* The workgroup as stored: missing dimensions are 1, without a clause all are 0. */
static bool set_workgroup(vyre_builder *builder, const vyre_phase_desc *desc, vyre_phase *phase) {
    phase->subgroup = desc->subgroup;
    if (!desc->workgroup[0]) {
        if (desc->workgroup[1] || desc->workgroup[2] || desc->subgroup) {
            return builder_refuse(builder, 602, "add a clause such as `workgroup 256`",
                                  "a subgroup or a domain of several dimensions needs a workgroup "
                                  "clause");
        }
        return true;
    }
    uint64_t total = 1;
    for (int i = 0; i < 3; i++) {
        phase->workgroup[i] = desc->workgroup[i] ? desc->workgroup[i] : 1;
        total =
            phase->workgroup[i] > VYRE_LIMIT_WORKGROUP ? UINT32_MAX : total * phase->workgroup[i];
    }
    if (total > VYRE_LIMIT_WORKGROUP) {
        return builder_refuse(builder, 602, "use at most 1024 invocations in all",
                              "a workgroup of %u x %u x %u is too large", phase->workgroup[0],
                              phase->workgroup[1], phase->workgroup[2]);
    }
    uint32_t width = desc->subgroup;
    if (width && width != 8 && width != 16 && width != 32 && width != 64) {
        return builder_refuse(builder, 602, "choose 8, 16, 32 or 64",
                              "a subgroup of %u lanes is not supported", width);
    }
    return true;
}

/* What steps read from memory stands in a buffer or scratch array. */
static bool check_memory(vyre_builder *builder, const char *what, uint32_t resource) {
    if (!builder_resource(builder, what, resource)) {
        return false;
    }
    const vyre_resource *row = &builder->resources.items[resource].row;
    if (vyre_resource_is_field(row) || vyre_resource_has_records(row)) {
        return builder_refuse(builder, 605, "copy the number into a scratch array in a phase",
                              "`%s` reads a record, expected a buffer or scratch array of numbers",
                              what);
    }
    return row->kind != VYRE_RESOURCE_CONSTANT ||
           builder_refuse(builder, 605, "use the number itself, or a buffer or scratch array",
                          "`%s` reads a constant array, which never changes", what);
}

static bool set_domain(vyre_builder *builder, const vyre_phase_desc *desc, vyre_phase *phase) {
    uint32_t dimensions = desc->dimensions ? desc->dimensions : 1;
    if (dimensions > 3) {
        return builder_refuse(builder, 601, "use 1 to 3 dimensions",
                              "a domain cannot have %u dimensions", dimensions);
    }
    phase->dimensions = dimensions;
    bool valid = true;
    for (uint32_t i = 0; i < 3; i++) {
        phase->domain[i] = i < dimensions ? desc->domain[i] : VYRE_NONE;
        valid = valid && (i >= dimensions || builder_use_size(builder, "over", desc->domain[i]));
    }
    phase->from_resource = phase->from_index = VYRE_NONE;
    if (desc->from_memory && valid) {
        valid = check_memory(builder, "over", desc->from_resource) &&
                builder_use_size(builder, "over", desc->from_index);
        phase->from_resource = desc->from_resource;
        phase->from_index = desc->from_index;
    }
    return valid;
}

void vyre_build_phase(vyre_builder *builder, const vyre_phase_desc *desc) {
    if (!outside_phase(builder, "a phase")) {
        return;
    }
    /* Nothing is known, so nothing in the body is to be missed. */
    static const vyre_phase_desc unknown = {.domain = {VYRE_NONE}, .workgroup = {1}};
    if (!desc) {
        vyre_build_report(builder, 601, "pass a vyre_phase_desc with the domain",
                          "the description of a phase is NULL");
        desc = &unknown;
    }
    vyre_phase phase = {.first = (uint32_t)builder->insts.count};
    /* A phase with a mistake is opened all the same, so that its body is checked too. */
    bool has_domain = set_domain(builder, desc, &phase);
    bool has_workgroup = set_workgroup(builder, desc, &phase);
    if (!has_domain || !has_workgroup) {
        phase.dimensions = has_domain ? phase.dimensions : 3;
        phase.workgroup[0] = desc->workgroup[0];
    }
    vyre_step row = {.kind = VYRE_STEP_PHASE,
                     .end = (uint32_t)builder->steps.count + 1,
                     .size = (uint32_t)builder->phases.count,
                     .resource = VYRE_NONE};
    if (add_step(builder, row, desc->name) == VYRE_NONE) {
        return;
    }
    if (builder_add(builder, phases, phase) != VYRE_NONE) {
        builder->in_phase = true;
        builder_open_phase_block(builder);
    }
}

void vyre_build_phase_end(vyre_builder *builder) {
    if (!builder->in_phase) {
        if (!builder->no_memory) {
            vyre_build_report(builder, 507, "remove it, or open a phase first",
                              "a phase is closed that was never opened");
        }
        return;
    }
    builder_close_phase_block(builder);
    builder->phases.items[builder->phases.count - 1].end = (uint32_t)builder->insts.count;
    builder->in_phase = false;
}

bool builder_in_repeat(const vyre_builder *builder, uint32_t repeat) {
    bool found = false;
    for (size_t i = 0; i < builder->open_repeats.count && !found; i++) {
        found = builder->open_repeats.items[i] == repeat;
    }
    return found && builder->steps.items[repeat].row.kind <= VYRE_STEP_REPEAT_WHILE;
}

/* Opens a step that contains others: a repeat or a branch. */
static uint32_t open_repeat(vyre_builder *builder, const char *name, vyre_step row) {
    if (builder->open_repeats.count >= VYRE_LIMIT_REPEATS) {
        return builder_none(builder, 701, "nest fewer repeats", "more than %d repeats are nested",
                            VYRE_LIMIT_REPEATS);
    }
    uint32_t step = add_step(builder, row, name);
    return step != VYRE_NONE && builder_add(builder, open_repeats, step) != VYRE_NONE ? step
                                                                                      : VYRE_NONE;
}

uint32_t vyre_build_repeat(vyre_builder *builder, const char *name, uint32_t count_size) {
    if (!outside_phase(builder, "a repeat")) {
        return VYRE_NONE;
    }
    builder_use_size(builder, "repeat", count_size);
    vyre_step row = {.kind = VYRE_STEP_REPEAT_COUNT, .size = count_size, .resource = VYRE_NONE};
    return open_repeat(builder, name, row);
}

uint32_t vyre_build_repeat_while(vyre_builder *builder, const char *name, uint32_t resource,
                                 uint32_t index_size) {
    if (!outside_phase(builder, "a repeat")) {
        return VYRE_NONE;
    }
    check_memory(builder, "repeat", resource);
    builder_use_size(builder, "repeat", index_size);
    vyre_step row = {.kind = VYRE_STEP_REPEAT_WHILE, .size = index_size, .resource = resource};
    return open_repeat(builder, name, row);
}

/* The kind of the step that is open, for whoever closes it; false if another kind is. */
static bool may_close(vyre_builder *builder, bool closes_branch) {
    const char *what = closes_branch ? "a branch" : "a repeat";
    if (builder->in_phase || !builder->open_repeats.count) {
        if (!builder->no_memory) {
            vyre_build_report(builder, 507, "open and close phases, repeats and branches in pairs",
                              "%s is closed that %s", what,
                              builder->in_phase ? "has an open phase" : "never started");
        }
        return false;
    }
    uint32_t step = builder->open_repeats.items[builder->open_repeats.count - 1];
    bool is_branch = builder->steps.items[step].row.kind > VYRE_STEP_REPEAT_WHILE;
    return is_branch == closes_branch ||
           builder_refuse(builder, 507, "open and close phases, repeats and branches in pairs",
                          "%s is closed, but the innermost open step is %s", what,
                          is_branch ? "a branch" : "a repeat");
}

static uint32_t close_step(vyre_builder *builder) {
    uint32_t step = builder->open_repeats.items[--builder->open_repeats.count];
    vyre_step *row = &builder->steps.items[step].row;
    row->end = (uint32_t)builder->steps.count;
    if (row->end == step + 1) {
        bool is_repeat = row->kind <= VYRE_STEP_REPEAT_WHILE;
        vyre_build_report(builder, 605, "put a phase inside it", "%s contains no phase",
                          is_repeat                   ? "a repeat"
                          : row->kind == VYRE_STEP_IF ? "an `if`"
                                                      : "an `else`");
    }
    return row->kind;
}

void vyre_build_repeat_end(vyre_builder *builder) {
    if (may_close(builder, false)) {
        close_step(builder);
    }
}

void vyre_build_branch(vyre_builder *builder, uint32_t resource, uint32_t index_size) {
    if (!outside_phase(builder, "a branch")) {
        return;
    }
    check_memory(builder, "if", resource);
    builder_use_size(builder, "if", index_size);
    open_repeat(builder, NULL,
                (vyre_step){.kind = VYRE_STEP_IF, .size = index_size, .resource = resource});
}

void vyre_build_branch_else(vyre_builder *builder) {
    if (!may_close(builder, true)) {
        return;
    }
    if (close_step(builder) != VYRE_STEP_IF) {
        vyre_build_report(builder, 507, "start another `if` first",
                          "an `else` follows another `else`");
    }
    open_repeat(builder, NULL,
                (vyre_step){.kind = VYRE_STEP_ELSE, .size = VYRE_NONE, .resource = VYRE_NONE});
}

void vyre_build_branch_end(vyre_builder *builder) {
    if (may_close(builder, true)) {
        close_step(builder);
    }
}

static bool may_swap(vyre_builder *builder, uint32_t resource) {
    if (!builder_resource(builder, "swap", resource)) {
        return false;
    }
    const vyre_resource *row = &builder->resources.items[resource].row;
    if (row->kind > VYRE_RESOURCE_SCRATCH) {
        return builder_refuse(builder, 608, "swap buffers and scratch arrays",
                              "`swap` cannot exchange an array of a phase");
    }
    return row->access != VYRE_ACCESS_IN ||
           builder_refuse(builder, 608, "declare it as an `inout` buffer",
                          "`swap` cannot exchange a buffer that is only read");
}

void vyre_build_swap(vyre_builder *builder, uint32_t first, uint32_t second) {
    if (!outside_phase(builder, "a swap")) {
        return;
    }
    bool first_may = may_swap(builder, first), second_may = may_swap(builder, second);
    if (!first_may || !second_may) {
        return;
    }
    const vyre_resource *a = &builder->resources.items[first].row;
    const vyre_resource *b = &builder->resources.items[second].row;
    if (first == second) {
        vyre_build_report(builder, 608, "name two arrays", "`swap` names one array twice");
    } else if (a->type != b->type) {
        vyre_build_report(builder, 608, "swap arrays of the same type",
                          "`swap` cannot exchange elements of %s and %s",
                          vyre_type_name((vyre_type)a->type), vyre_type_name((vyre_type)b->type));
    } else if (a->length != b->length) {
        vyre_build_report(builder, 608, "swap buffers whose records are as long",
                          "`swap` cannot exchange records of %u and %u bytes", a->length,
                          b->length);
    } else {
        vyre_step row = {.kind = VYRE_STEP_SWAP,
                         .end = (uint32_t)builder->steps.count + 1,
                         .size = second,
                         .resource = first};
        add_step(builder, row, NULL);
    }
}
