#include "backend/cuda/runtime/dispatch.h"

#include <string.h>

#include "backend/cuda/runtime/run.h"
#include "backend/cuda/runtime/transfer.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "ir/program.h"
#include "runtime/slots.h"

static vyre_status make_timers(cuda_stream *stream) {
    cuda_device *device = stream->device;
    CUresult result = stream->begin ? CUDA_SUCCESS : device->cuda->cuEventCreate(&stream->begin, 0);
    if (!result && !stream->end) {
        result = device->cuda->cuEventCreate(&stream->end, 0);
    }
    return cuda_check(device, result, "making an event");
}

static vyre_status stamp(cuda_stream *stream, CUevent event) {
    return cuda_check(stream->device, stream->device->cuda->cuEventRecord(event, stream->handle),
                      "taking the time");
}

/* Puts the steps on the stream, between two stamps if the time is wanted. */
static vyre_status put(cuda_run *run, bool is_timed) {
    cuda_stream *stream = run->stream;
    vyre_status status = is_timed ? make_timers(stream) : VYRE_OK;
    status = status || !is_timed ? status : stamp(stream, stream->begin);
    status = status ? status : cuda_run_put(run);
    return status || !is_timed ? status : stamp(stream, stream->end);
}

static vyre_status read_time(cuda_stream *stream, uint64_t *out_ns) {
    float ms = 0;
    vyre_status status = cuda_check(
        stream->device, stream->device->cuda->cuEventElapsedTime(&ms, stream->begin, stream->end),
        "reading the time");
    *out_ns = status ? VYRE_NO_TIME : (uint64_t)((double)ms * 1e6);
    return status;
}

/* Ends a run on a stream of its own, however it went: nothing is under way afterwards. */
static vyre_status finish(cuda_run *run, vyre_status status) {
    cuda_stream *stream = run->stream;
    if (status && !atomic_load(&run->device->is_lost)) {
        status = vyre_first_failure(status, cuda_run_wait(run));
        if (run->stop) {
            status = vyre_first_failure(status, cuda_stream_renew(stream));
        }
    }
    cuda_run_deinit(run, false);
    return status;
}

static vyre_status upload_inputs(cuda_run *run) {
    const vyre_ir *ir = run->code->ir;
    uint32_t input = 0;
    vyre_status status = VYRE_OK;
    for (uint32_t arg = 0; arg < ir->arg_count && !status; arg++) {
        uint32_t row = ir->args[arg].resource;
        const vyre_input *from = vyre_ir_is_out(ir, arg) ? NULL : &run->call->inputs[input++];
        if (row == VYRE_NONE) {
            continue;
        }
        status = cuda_run_place(run, row);
        if (!status && from) {
            status = cuda_upload(run->stream, run->blocks[row]->address, from->data, from->size);
        }
    }
    return status;
}

static vyre_status download_outputs(cuda_run *run, vyre_output *outputs) {
    const vyre_ir *ir = run->code->ir;
    uint32_t output = 0;
    vyre_status status = VYRE_OK;
    for (uint32_t arg = 0; arg < ir->arg_count && !status; arg++) {
        uint32_t row = ir->args[arg].resource;
        if (row != VYRE_NONE && ir->resources[row].access != VYRE_ACCESS_IN) {
            const vyre_output *to = &outputs[output++];
            status = cuda_download(run->stream, to->data, cuda_run_array(run, row), to->size);
        }
    }
    return status;
}

/* Runs on a stream of its own; `outputs` NULL: on `buffers`. The run is over when this returns, so
 * later work of the caller's stream comes after it. */
static vyre_status run_on(cuda_executable *executable, cuda_stream *stream, const vyre_call *call,
                          vyre_output *outputs, const CUdeviceptr *buffers,
                          const atomic_uint *cancel, vyre_timing *timing) {
    vyre_plan plan;
    vyre_call own;
    cuda_run run;
    cuda_code *code;
    const vyre_call *chosen;
    VYRE_TRY(cuda_run_choose(executable, call, &plan, &own, &code, &chosen));
    vyre_status status = cuda_run_init(&run, stream, code, chosen, cancel);
    if (!status) {
        uint64_t start = vyre_now_ns();
        if (buffers && call->config->flags & VYRE_DISPATCH_STREAM) {
            status = cuda_stream_follow_caller(stream, call->config->stream);
        }
        if (buffers) {
            for (uint32_t i = 0; i < code->ir->arg_count; i++) {
                if (code->ir->args[i].resource != VYRE_NONE) {
                    cuda_run_set_array(&run, code->ir->args[i].resource,
                                       buffers[code->ir->args[i].resource]);
                }
            }
        } else {
            status = upload_inputs(&run);
        }
        status = status ? status : put(&run, timing);
        uint64_t enqueued = vyre_now_ns();
        if (!status && (timing || buffers || run.deadline_ns || cancel)) {
            status = cuda_run_wait(&run);
        }
        if (timing) {
            timing->enqueue_ns = enqueued - start;
            timing->wait_ns = vyre_now_ns() - enqueued;
            status = status ? status : read_time(stream, &timing->device_ns);
        }
        if (!status && !buffers) {
            status = download_outputs(&run, outputs);
            status = status ? status : cuda_run_wait(&run);
        }
        status = finish(&run, status);
    }
    if (chosen != call) {
        vyre_plan_deinit(&plan);
    }
    return status;
}

static vyre_status run_alone(cuda_executable *executable, const vyre_call *call,
                             vyre_output *outputs, const CUdeviceptr *buffers,
                             const atomic_uint *cancel, vyre_timing *out_timing) {
    cuda_device *device = executable->device;
    uint64_t start = vyre_now_ns();
    cuda_stream *stream = NULL;
    CUcontext before;
    if (out_timing) {
        *out_timing = vyre_no_times;
    }
    VYRE_TRY(cuda_check_lost(device));
    VYRE_TRY(cuda_device_enter(device, &before));
    vyre_status status = cuda_stream_take(device, &stream);
    if (!status) {
        status = run_on(executable, stream, call, outputs, buffers, cancel, out_timing);
        cuda_stream_give(stream);
    }
    cuda_device_leave(device, before);
    if (out_timing) {
        out_timing->wall_ns = vyre_now_ns() - start;
    }
    return status;
}

vyre_status cuda_dispatch(cuda_executable *executable, const vyre_call *call, vyre_output *outputs,
                          const atomic_uint *cancel, vyre_timing *out_timing) {
    return run_alone(executable, call, outputs, NULL, cancel, out_timing);
}

vyre_status cuda_dispatch_on(cuda_executable *executable, const vyre_call *call,
                             const CUdeviceptr *buffers, vyre_timing *out_timing) {
    return run_alone(executable, call, NULL, buffers, NULL, out_timing);
}

static size_t padded(size_t bytes) {
    return (bytes + 15) / 16 * 16;
}

static const void *copy_list(uint8_t **room, const void *list, size_t bytes) {
    void *to = *room;
    if (bytes) {
        memcpy(to, list, bytes);
    }
    *room += padded(bytes);
    return to;
}

void *cuda_call_copy(const vyre_call *call, size_t before, vyre_call **out_call) {
    size_t arguments = call->argument_count * sizeof *call->arguments;
    size_t sizes = call->size_count * sizeof *call->sizes;
    size_t grids = call->grid_count * sizeof *call->grids;
    size_t inputs = call->inputs ? call->input_count * sizeof *call->inputs : 0;
    uint8_t *block =
        vyre_alloc(padded(before) + padded(sizeof *call) + padded(sizeof *call->config) +
                   padded(arguments) + padded(sizes) + padded(grids) + padded(inputs));
    if (!block) {
        return NULL;
    }
    uint8_t *room = block + padded(before);
    vyre_dispatch_config config = *call->config;
    config.label = NULL;
    vyre_call *copy = (vyre_call *)(void *)room;
    room += padded(sizeof *copy);
    *copy = *call;
    copy->config = copy_list(&room, &config, sizeof config);
    copy->arguments = copy_list(&room, call->arguments, arguments);
    copy->sizes = copy_list(&room, call->sizes, sizes);
    copy->grids = copy_list(&room, call->grids, grids);
    copy->inputs = copy_list(&room, call->inputs, inputs);
    *out_call = copy;
    return block;
}

/* A run that goes on by itself. */
typedef struct pending_job {
    cuda_job job;
    cuda_executable *executable;
    vyre_call *call;
    vyre_output *outputs;
    uint8_t *bytes; /* of borrowed inputs; or NULL */
} pending_job;

static vyre_status pending_run(cuda_job *job) {
    pending_job *own = (pending_job *)(void *)job;
    return cuda_dispatch(own->executable, own->call, own->outputs, &job->cancel, NULL);
}

static void pending_job_free(cuda_job *job) {
    pending_job *own = (pending_job *)(void *)job;
    cuda_executable_release(own->executable);
    vyre_status_free(job->status);
    vyre_free(own->bytes);
    vyre_free(own);
}

static cuda_queue *queue_of(void *state) {
    return &((pending_job *)state)->executable->device->pending;
}

static bool pending_is_ready(void *state) {
    return cuda_queue_is_ready(queue_of(state), state);
}

static vyre_status pending_wait(void *state) {
    return cuda_queue_wait(queue_of(state), state);
}

static void pending_free(void *state) {
    cuda_device *device = ((pending_job *)state)->executable->device;
    cuda_queue_end(&device->pending, state);
    cuda_natives_free_left(device);
}

static bool copy_inputs(pending_job *job) {
    vyre_input *inputs = (vyre_input *)(uintptr_t)job->call->inputs; /* our own list */
    size_t bytes = 0;
    for (size_t i = 0; i < job->call->input_count; i++) {
        bytes += padded(inputs[i].size);
    }
    uint8_t *next = job->bytes = vyre_alloc(bytes);
    for (size_t i = 0; i < job->call->input_count && next; i++) {
        size_t size = inputs[i].size;
        inputs[i].data = copy_list(&next, inputs[i].data, size);
    }
    return job->bytes;
}

static const vyre_run_slots pending_slots = {
    VYRE_RUN_HEAD,
    .is_ready = pending_is_ready,
    .wait = pending_wait,
    .free = pending_free,
};

vyre_status cuda_dispatch_start(cuda_executable *executable, const vyre_call *call,
                                vyre_output *outputs, bool is_borrowed, vyre_pending_run *out_run) {
    vyre_call *copy;
    pending_job *job = cuda_call_copy(call, sizeof *job, &copy);
    if (job) {
        *job = (pending_job){.job = {.run = pending_run, .free = pending_job_free},
                             .executable = cuda_executable_retain(executable),
                             .call = copy,
                             .outputs = outputs};
    }
    if (!job || (is_borrowed && !copy_inputs(job))) {
        if (job) {
            pending_job_free(&job->job);
        }
        return vyre_no_memory("to start a run of `%s`",
                              vyre_program_name(executable->codes[0].program));
    }
    *out_run = (vyre_pending_run){&pending_slots, job};
    cuda_queue_start(&executable->device->pending, &job->job);
    return VYRE_OK;
}
