#include "backend/opencl/runtime/dispatch.h"

#include "base/clock.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "runtime/slots.h"

/* An argument of the run. */
typedef struct argument {
    const void *from;    /* the input; NULL where there is none */
    vyre_output *output; /* NULL where there is none */
    uint64_t bytes;
    bool is_shared; /* the memory is the caller's */
} argument;

typedef struct arguments {
    argument rows[VYRE_LIMIT_ARGUMENTS];
    opencl_place places[VYRE_LIMIT_ARGUMENTS];
} arguments;

/* Whether the device works in memory of the caller. */
static bool may_share(const opencl_device *device, const vyre_ir *ir, uint32_t row,
                      const void *memory, uint64_t bytes) {
    return device->info.is_cpu && bytes &&
           (uintptr_t)memory % vyre_resource_alignment(ir, &ir->resources[row]) == 0;
}

static vyre_status write_to(opencl_device *device, cl_mem memory, const void *from,
                            uint64_t bytes) {
    return bytes
               ? opencl_check(device,
                              device->cl->clEnqueueWriteBuffer(device->queue, memory, CL_FALSE, 0,
                                                               (size_t)bytes, from, 0, NULL, NULL),
                              "uploading an input")
               : VYRE_OK;
}

static vyre_status place_one(opencl_device *device, const vyre_ir *ir, uint32_t row, argument *a,
                             opencl_place *out) {
    void *home = a->output ? a->output->data : (void *)(uintptr_t)a->from;
    a->is_shared = may_share(device, ir, row, home, a->bytes);
    VYRE_TRY(opencl_memory_make(device, a->bytes, a->is_shared ? home : NULL, &out->memory));
    return a->from && a->from != home ? write_to(device, out->memory, a->from, a->bytes)
           : a->from && !a->is_shared ? write_to(device, out->memory, a->from, a->bytes)
                                      : VYRE_OK;
}

static vyre_status place_all(opencl_executable *executable, const vyre_call *call,
                             vyre_output *outputs, arguments *all) {
    const vyre_ir *ir = vyre_program_ir(executable->program);
    uint32_t input = 0, output = 0;
    vyre_status status = VYRE_OK;
    for (uint32_t arg = 0; arg < ir->arg_count && !status; arg++) {
        uint32_t row = ir->args[arg].resource;
        const void *from = vyre_ir_is_out(ir, arg) ? NULL : call->inputs[input++].data;
        all->places[arg] = (opencl_place){0};
        all->rows[arg] = (argument){0};
        if (row == VYRE_NONE) {
            continue;
        }
        bool is_input = ir->resources[row].access == VYRE_ACCESS_IN;
        all->rows[arg] = (argument){
            .from = from,
            .output = is_input ? NULL : &outputs[output++],
            .bytes = call->arguments[arg] * vyre_resource_stride(ir, &ir->resources[row]),
        };
        status = place_one(executable->device, ir, row, &all->rows[arg], &all->places[arg]);
    }
    return status;
}

/* Shared memory is the host's again once it was mapped. */
static vyre_status read_one(opencl_device *device, const argument *a, cl_mem memory) {
    const opencl_table *cl = device->cl;
    cl_int result;
    if (!a->is_shared) {
        result = cl->clEnqueueReadBuffer(device->queue, memory, CL_TRUE, 0, (size_t)a->bytes,
                                         a->output->data, 0, NULL, NULL);
        return opencl_check(device, result, "reading an output");
    }
    void *mapped = cl->clEnqueueMapBuffer(device->queue, memory, CL_TRUE, CL_MAP_READ, 0,
                                          (size_t)a->bytes, 0, NULL, NULL, &result);
    if (!result) {
        result = cl->clEnqueueUnmapMemObject(device->queue, memory, mapped, 0, NULL, NULL);
    }
    return opencl_check(device, result, "reading an output");
}

static vyre_status read_all(opencl_device *device, uint32_t count, const arguments *all) {
    for (uint32_t arg = 0; arg < count; arg++) {
        if (all->rows[arg].output && all->rows[arg].bytes) {
            VYRE_TRY(read_one(device, &all->rows[arg], all->places[arg].memory));
        }
    }
    return VYRE_OK;
}

vyre_status opencl_dispatch(opencl_executable *executable, const vyre_call *call,
                            vyre_output *outputs, vyre_timing *out_timing) {
    opencl_device *device = executable->device;
    uint32_t count = vyre_program_ir(executable->program)->arg_count;
    uint64_t begin = vyre_now_ns(), device_ns = VYRE_NO_TIME;
    const opencl_finish finish = {.device_ns = out_timing ? &device_ns : NULL};
    arguments all;
    for (uint32_t arg = 0; arg < count; arg++) {
        all.places[arg] = (opencl_place){0};
    }
    VYRE_TRY(opencl_check_lost(device));
    vyre_status status = place_all(executable, call, outputs, &all);
    if (status) { /* uploads read the caller's memory */
        device->cl->clFinish(device->queue);
    } else {
        status = opencl_run(executable, call, all.places, &finish);
    }
    status = status ? status : read_all(device, count, &all);
    bool shares = device->info.is_cpu;
    for (uint32_t arg = 0; arg < count; arg++) {
        opencl_memory_free(device, all.places[arg].memory);
    }
    if (shares && status) { /* nobody uses the caller's memory any more */
        device->cl->clFinish(device->queue);
    }
    if (out_timing) {
        *out_timing = vyre_wall_time(begin);
        out_timing->device_ns = device_ns;
    }
    return status;
}
