#include "backend/reference/backend.h"

#include <string.h>

#include <vyre/reference.h>
#include <vyre/sanitize.h>

static vyre_status run(const vyre_backend *self, const vyre_plan *plan, const vyre_input *inputs,
                       const vyre_dispatch_config *config, vyre_output *outputs) {
    vyre_outputs own;
    vyre_status status =
        vyre_reference_run(plan->program, inputs, plan->input_count, config, self->state, &own);
    for (size_t i = 0; i < own.count; i++) {
        if (own.items[i].size) {
            memcpy(outputs[i].data, own.items[i].data, own.items[i].size);
        }
    }
    vyre_outputs_free(&own);
    return status;
}

const vyre_backend vyre_backend_reference = {.id = "reference", .alias = "cpu-ref", .run = run};

static const vyre_reference_options small_budget = {.max_steps = 50000000};
const vyre_backend vyre_backend_oracle = {.id = "oracle", .state = &small_budget, .run = run};

static bool is_sound(const vyre_program *program, const vyre_input *inputs, size_t input_count) {
    vyre_findings *findings;
    const vyre_sanitize_options options = {.max_steps = small_budget.max_steps};
    vyre_status status = vyre_sanitize(program, inputs, input_count, &options, &findings);
    if (status) {
        vyre_status_free(status);
        return false;
    }
    bool sound = true;
    for (size_t i = 0; i < vyre_findings_count(findings) && sound; i++) {
        sound = !vyre_finding_is_error(vyre_findings_get(findings, i)->kind);
    }
    vyre_findings_free(findings);
    return sound;
}

static bool same_outputs(const vyre_outputs *left, const vyre_outputs *right) {
    bool same = left->count == right->count;
    for (size_t i = 0; i < left->count && same; i++) {
        const vyre_output *a = &left->items[i], *b = &right->items[i];
        same = a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));
    }
    return same;
}

bool vyre_reference_has_one_answer(const vyre_program *program, const vyre_input *inputs,
                                   size_t input_count) {
    enum { SCHEDULES = 4 };
    vyre_outputs first = {0};
    bool same = is_sound(program, inputs, input_count);
    for (uint64_t seed = 0; seed < SCHEDULES && same; seed++) {
        vyre_outputs outputs;
        vyre_reference_options options = small_budget;
        options.seed = seed;
        vyre_status status =
            vyre_reference_run(program, inputs, input_count, NULL, &options, &outputs);
        same = !status && (!seed || same_outputs(&first, &outputs));
        vyre_status_free(status);
        if (seed) {
            vyre_outputs_free(&outputs);
        } else {
            first = outputs;
        }
    }
    vyre_outputs_free(&first);
    return same;
}
