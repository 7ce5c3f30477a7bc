#include "ir/builder.h"

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
    return builder->resources.items[resource].row.kind != VYRE_RESOURCE_CONSTANT ||
           builder_refuse(builder, 605, "use the number itself, or a buffer or scratch array",
                          "`%s` reads a constant array, which never changes", what);
}

static bool set_domain(vyre_builder *builder, const vyre_phase_desc *desc, vyre_phase *phase) {
    uint32_t dimensions = desc->dimensions ? desc->dimensions : 1;
    if (dimensions > 3 || (desc->from_memory && dimensions > 1)) {
        return builder_refuse(builder, 601, "use 1 to 3 dimensions, and 1 for a domain from memory",
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

void vyre_build_repeat_end(vyre_builder *builder) {
    if (builder->in_phase || !builder->open_repeats.count) {
        if (!builder->no_memory) {
            vyre_build_report(builder, 507, "open and close phases and repeats in pairs",
                              "a repeat is closed that %s",
                              builder->in_phase ? "has an open phase" : "never started");
        }
        return;
    }
    uint32_t step = builder->open_repeats.items[--builder->open_repeats.count];
    builder->steps.items[step].row.end = (uint32_t)builder->steps.count;
    if (builder->steps.items[step].row.end == step + 1) {
        vyre_build_report(builder, 605, "put a phase inside it", "a repeat contains no phase");
    }
}
