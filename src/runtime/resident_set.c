#include "runtime/resident_set.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "ir/program.h"

static vyre_status upload(vyre_resident_set *stay, const vyre_input *inputs, bool all) {
    const vyre_ir *ir = stay->plan->ir;
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
            stay->bindings[i] = vyre_bind_bits(bits);
        } else if (from->size && (all || ir->resources[resource].access != VYRE_ACCESS_IN)) {
            status = vyre_resident_upload(stay->device, stay->buffers[i], from->data, from->size);
        }
    }
    return status;
}

vyre_status vyre_resident_set_init(vyre_resident_set *stay, vyre_device *device,
                                   const vyre_plan *plan, const vyre_input *inputs) {
    const vyre_ir *ir = plan->ir;
    *stay = (vyre_resident_set){.device = device, .plan = plan, .count = ir->arg_count};
    stay->bindings = vyre_alloc_zeroed(ir->arg_count, sizeof *stay->bindings);
    stay->buffers = vyre_alloc_zeroed(ir->arg_count, sizeof *stay->buffers);
    if (!stay->bindings || !stay->buffers) {
        return vyre_no_memory("for the buffers of `%s`", vyre_program_name(plan->program));
    }
    for (; stay->made < stay->count; stay->made++) {
        uint32_t i = stay->made;
        if (ir->args[i].resource != VYRE_NONE) {
            uint64_t bytes = plan->arguments[i] * vyre_type_bytes((vyre_type)ir->args[i].type);
            vyre_status status = vyre_resident_allocate(device, (size_t)bytes, &stay->buffers[i]);
            if (status) {
                return status;
            }
            stay->bindings[i] = vyre_bind(stay->buffers[i]);
        }
    }
    return upload(stay, inputs, true);
}

vyre_status vyre_resident_set_renew(vyre_resident_set *stay, const vyre_input *inputs) {
    return upload(stay, inputs, false);
}

vyre_status vyre_resident_set_read(const vyre_resident_set *stay, vyre_outputs *outputs) {
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < stay->plan->output_count && !status; i++) {
        vyre_output *to = &outputs->items[i];
        if (to->size) {
            status = vyre_resident_read(stay->device, stay->buffers[stay->plan->outputs[i]], 0,
                                        to->data, to->size);
        }
    }
    return status;
}

vyre_status vyre_resident_set_deinit(vyre_resident_set *stay) {
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < stay->made; i++) {
        if (stay->plan->ir->args[i].resource != VYRE_NONE) {
            vyre_status freed = vyre_resident_free(stay->device, stay->buffers[i]);
            if (status) {
                vyre_status_free(freed);
            } else {
                status = freed;
            }
        }
    }
    vyre_free(stay->bindings);
    vyre_free(stay->buffers);
    *stay = (vyre_resident_set){0};
    return status;
}
