#include <vyre/dispatch.h>

#include "base/alloc.h"
#include "driver/backend.h"

void vyre_outputs_free(vyre_outputs *outputs) {
    for (size_t i = 0; i < outputs->count; i++) {
        vyre_free(outputs->items[i].data);
    }
    vyre_free(outputs->items);
    *outputs = (vyre_outputs){0};
}

static bool make_outputs(const vyre_plan *plan, vyre_outputs *outputs) {
    outputs->items = vyre_alloc_zeroed((size_t)plan->output_count + 1, sizeof *outputs->items);
    for (uint32_t i = 0; outputs->items && i < plan->output_count; i++) {
        size_t size = (size_t)vyre_plan_output_bytes(plan, i);
        outputs->items[i] = (vyre_output){vyre_alloc(size + 1), size};
        outputs->count++;
        if (!outputs->items[i].data) {
            return false;
        }
    }
    return outputs->items;
}

vyre_status vyre_backend_run(const vyre_backend *backend, const vyre_program *program,
                             const vyre_input *inputs, size_t input_count,
                             const vyre_dispatch_config *config, vyre_outputs *out_outputs) {
    static const vyre_dispatch_config defaults;
    config = config ? config : &defaults;
    *out_outputs = (vyre_outputs){0};
    vyre_plan plan;
    vyre_status status = vyre_plan_init(&plan, program, inputs, input_count, config);
    if (status) {
        return status;
    }
    if (make_outputs(&plan, out_outputs)) {
        status = backend->run(backend, &plan, inputs, config, out_outputs->items);
    } else {
        status =
            vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory or ask for less",
                             "no memory for the outputs of `%s`, %llu bytes",
                             vyre_program_name(program), (unsigned long long)plan.output_bytes);
    }
    if (status) {
        vyre_outputs_free(out_outputs);
    }
    vyre_plan_deinit(&plan);
    return status;
}
