#include "backend/vulkan/dispatch.h"

#include <string.h>

#include "backend/vulkan/transfer.h"
#include "base/clock.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "runtime/slots.h"

/* Less is copied faster than the device is told where it is. */
enum { LEAST_IMPORT = 65536, ELEMENT_ALIGNMENT = 8 };

/* Uses memory of the host in place if it is worth it; else *out_block is NULL. */
static vyre_status import(vulkan_run *run, const void *memory, uint64_t bytes,
                          vulkan_block **out_block) {
    *out_block = NULL;
    if (bytes < LEAST_IMPORT || (uintptr_t)memory % ELEMENT_ALIGNMENT) {
        return VYRE_OK;
    }
    VYRE_TRY(vulkan_memory_import(run->device, memory, bytes, out_block));
    if (*out_block) {
        vulkan_run_keep(run, *out_block);
    }
    return VYRE_OK;
}

/* Finds a place for an argument. `input` is NULL for an `out` buffer, `output` for an `in` one. */
static vyre_status place(vulkan_run *run, uint32_t array, const vyre_input *input,
                         const vyre_output *output) {
    uint64_t bytes = vulkan_run_bytes(run, array);
    const void *memory = output ? (const void *)output->data : input->data;
    vulkan_block *block;
    VYRE_TRY(import(run, memory, bytes, &block));
    if (block) {
        if (output && input && bytes && output->data != input->data) {
            memcpy(output->data, input->data, (size_t)bytes);
        }
        vulkan_run_set_array(run, array, block, 0);
        return VYRE_OK;
    }
    VYRE_TRY(vyre_status_annotate(vulkan_run_take(run, bytes, &block), "array %u of `%s`", array,
                                  vyre_program_name(run->executable->program)));
    vulkan_run_set_array(run, array, block, 0);
    return input ? vulkan_upload(run->device, block, 0, input->data, bytes) : VYRE_OK;
}

static vyre_status place_arguments(vulkan_run *run, const vyre_output *outputs) {
    const vyre_ir *ir = run->executable->ir;
    uint32_t input = 0, output = 0;
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t row = ir->args[arg].resource;
        const vyre_input *from = vyre_ir_is_out(ir, arg) ? NULL : &run->call->inputs[input++];
        const vyre_output *to = vyre_ir_is_output(ir, arg) ? &outputs[output++] : NULL;
        VYRE_TRY(row == VYRE_NONE ? VYRE_OK : place(run, row, from, to));
    }
    return VYRE_OK;
}

static vyre_status take_outputs(vulkan_run *run, const vyre_output *outputs) {
    const vyre_ir *ir = run->executable->ir;
    uint32_t output = 0;
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        if (!vyre_ir_is_output(ir, arg)) {
            continue;
        }
        const vyre_output *to = &outputs[output++];
        const vulkan_place *from = &run->places[ir->args[arg].resource];
        if (!from->block->is_import) {
            VYRE_TRY(vulkan_download(run->device, to->data, from->block, from->offset, to->size));
        }
    }
    return VYRE_OK;
}

static vyre_status run_on(vulkan_run *run, const vyre_output *outputs, const vulkan_place *places,
                          vyre_timing *timing) {
    const vyre_ir *ir = run->executable->ir;
    uint64_t start = vyre_now_ns();
    for (uint32_t arg = 0; places && arg < ir->arg_count; arg++) {
        uint32_t row = ir->args[arg].resource;
        if (row != VYRE_NONE) {
            vulkan_run_set_array(run, row, places[row].block, places[row].offset);
        }
    }
    VYRE_TRY(places ? VYRE_OK : place_arguments(run, outputs));
    if (timing) {
        vulkan_run_stamp(run, false);
    }
    VYRE_TRY(vulkan_run_put(run));
    if (timing) {
        vulkan_run_stamp(run, true);
    }
    VYRE_TRY(vulkan_run_submit(run));
    uint64_t enqueued = vyre_now_ns();
    VYRE_TRY(vulkan_run_wait(run));
    if (timing) {
        timing->enqueue_ns = enqueued - start;
        timing->wait_ns = vyre_now_ns() - enqueued;
        timing->device_ns = vulkan_run_time(run);
    }
    return places ? VYRE_OK : take_outputs(run, outputs);
}

static vyre_status run_alone(vulkan_executable *executable, const vyre_call *call,
                             const vyre_output *outputs, const vulkan_place *places,
                             vyre_timing *out_timing) {
    uint64_t start = vyre_now_ns();
    vulkan_run run;
    if (out_timing) {
        *out_timing = vyre_no_times;
    }
    VYRE_TRY(vulkan_executable_variant(executable, call->config, &executable));
    VYRE_TRY(vulkan_run_init(&run, executable, call, NULL));
    vyre_status status = run_on(&run, outputs, places, out_timing);
    vulkan_run_deinit(&run, false);
    if (out_timing) {
        out_timing->wall_ns = vyre_now_ns() - start;
    }
    return status;
}

vyre_status vulkan_dispatch(vulkan_executable *executable, const vyre_call *call,
                            vyre_output *outputs, vyre_timing *out_timing) {
    return run_alone(executable, call, outputs, NULL, out_timing);
}

vyre_status vulkan_dispatch_on(vulkan_executable *executable, const vyre_call *call,
                               const vulkan_place *places, vyre_timing *out_timing) {
    return run_alone(executable, call, NULL, places, out_timing);
}
