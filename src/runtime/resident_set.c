#include "runtime/resident_set.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/program.h"

static vyre_status upload(vyre_resident_set *set, const vyre_input *inputs, bool all) {
    const vyre_ir *ir = set->plan->ir;
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0, input = 0; i < ir->arg_count && !status; i++) {
        uint32_t resource = ir->args[i].resource;
        if (vyre_ir_is_out(ir, i)) {
            continue;
        }
        const vyre_input *from = &inputs[input++];
        if (resource == VYRE_NONE) {
            uint64_t bits = 0;
            memcpy(&bits, from->data, from->size);
            set->bindings[i] = vyre_bind_bits(bits);
        } else if (from->size && (all || ir->resources[resource].access != VYRE_ACCESS_IN)) {
            status = vyre_resident_upload(set->device, set->buffers[i], from->data, from->size);
        }
    }
    return status;
}

vyre_status vyre_resident_set_init(vyre_resident_set *set, vyre_device *device,
                                   const vyre_plan *plan, const vyre_input *inputs) {
    const vyre_ir *ir = plan->ir;
    *set = (vyre_resident_set){.device = device, .plan = plan, .count = ir->arg_count};
    set->bindings = vyre_alloc_zeroed(ir->arg_count, sizeof *set->bindings);
    set->buffers = vyre_alloc_zeroed(ir->arg_count, sizeof *set->buffers);
    if (!set->bindings || !set->buffers) {
        return vyre_no_memory("for the buffers of `%s`", vyre_program_name(plan->program));
    }
    for (; set->made < set->count; set->made++) {
        uint32_t i = set->made;
        if (ir->args[i].resource != VYRE_NONE) {
            uint64_t bytes = plan->arguments[i] * vyre_arg_bytes(ir, &ir->args[i]);
            VYRE_TRY(vyre_resident_allocate(device, (size_t)bytes, &set->buffers[i]));
            set->bindings[i] = vyre_bind(set->buffers[i]);
        }
    }
    return upload(set, inputs, true);
}

vyre_status vyre_resident_set_renew(vyre_resident_set *set, const vyre_input *inputs) {
    return upload(set, inputs, false);
}

vyre_status vyre_resident_set_read(const vyre_resident_set *set, vyre_outputs *outputs) {
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < set->plan->output_count && !status; i++) {
        vyre_output *to = &outputs->items[i];
        if (to->size) {
            status = vyre_resident_read(set->device, set->buffers[set->plan->outputs[i]], 0,
                                        to->data, to->size);
        }
    }
    return status;
}

vyre_status vyre_resident_set_deinit(vyre_resident_set *set) {
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < set->made; i++) {
        if (set->plan->ir->args[i].resource != VYRE_NONE) {
            status = vyre_first_failure(status, vyre_resident_free(set->device, set->buffers[i]));
        }
    }
    vyre_free(set->bindings);
    vyre_free(set->buffers);
    *set = (vyre_resident_set){0};
    return status;
}
