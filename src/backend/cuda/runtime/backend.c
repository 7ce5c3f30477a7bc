#include "backend/cuda/runtime/backend.h"
#include <vyre/registry.h>

#include "base/status.h"

#include <string.h>

#include "backend/cuda/runtime/dispatch.h"
#include "backend/cuda/runtime/probe.h"
#include "backend/cuda/runtime/resident.h"
#include "backend/cuda/runtime/transfer.h"
#include "runtime/slots.h"

static const char id_text[] = "cuda";

static cuda_device *device_of(const vyre_backend *backend) {
    return backend->state;
}

static const char *id(const vyre_backend *backend) {
    (void)backend;
    return id_text;
}

static const char *version(const vyre_backend *backend) {
    return device_of(backend)->info.version;
}

/* Compiles in the device's context. */
static vyre_status make_native(cuda_device *device, const vyre_program *program,
                               const uint8_t *artifact, size_t artifact_size,
                               vyre_strbuf *out_artifact, cuda_executable **out_executable) {
    CUcontext before;
    *out_executable = NULL;
    VYRE_TRY(cuda_check_lost(device));
    VYRE_TRY(cuda_device_enter(device, &before));
    vyre_status status = cuda_executable_make(device, program, artifact, artifact_size,
                                              out_artifact, out_executable);
    cuda_device_leave(device, before);
    return status;
}

/* The compiled program of a call; where the host has none, one for this call. */
static vyre_status executable_of(const vyre_backend *backend, const vyre_call *call,
                                 cuda_executable **out_executable) {
    if (call->native) {
        *out_executable = cuda_executable_retain(call->native->state);
        return VYRE_OK;
    }
    vyre_strbuf artifact = {0};
    vyre_status status =
        make_native(device_of(backend), call->program, NULL, 0, &artifact, out_executable);
    vyre_strbuf_free(&artifact);
    return status;
}

static vyre_status dispatch_borrowed_timed(const vyre_backend *backend, const vyre_call *call,
                                           vyre_output *outputs, vyre_timing *out_timing) {
    cuda_executable *executable;
    VYRE_TRY(executable_of(backend, call, &executable));
    vyre_status status = cuda_dispatch(executable, call, outputs, NULL, out_timing);
    cuda_executable_release(executable);
    return status;
}

static vyre_status dispatch(const vyre_backend *backend, const vyre_call *call,
                            vyre_output *outputs) {
    return dispatch_borrowed_timed(backend, call, outputs, NULL);
}

/* The same memory may be input and output: all inputs are uploaded before any output is read. */
static vyre_status dispatch_in_place(const vyre_backend *backend, const vyre_call *call,
                                     const vyre_output *arguments) {
    vyre_output outputs[VYRE_LIMIT_ARGUMENTS];
    vyre_outputs_in_place(call, arguments, outputs);
    return dispatch(backend, call, outputs);
}

static vyre_status start(const vyre_backend *backend, const vyre_call *call, vyre_output *outputs,
                         bool is_borrowed, vyre_pending_run *out_run) {
    cuda_executable *executable;
    VYRE_TRY(executable_of(backend, call, &executable));
    vyre_status status = cuda_dispatch_start(executable, call, outputs, is_borrowed, out_run);
    cuda_executable_release(executable);
    return status;
}

static vyre_status dispatch_async(const vyre_backend *backend, const vyre_call *call,
                                  vyre_output *outputs, vyre_pending_run *out_run) {
    return start(backend, call, outputs, false, out_run);
}

static vyre_status dispatch_borrowed_async(const vyre_backend *backend, const vyre_call *call,
                                           vyre_output *outputs, vyre_pending_run *out_run) {
    return start(backend, call, outputs, true, out_run);
}

static vyre_status resident_allocate(const vyre_backend *backend, size_t size,
                                     uint64_t *out_buffer) {
    return cuda_resident_allocate(device_of(backend), size, out_buffer);
}

static vyre_status resident_upload(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                   const void *data, size_t size) {
    return cuda_resident_upload(device_of(backend), buffer, offset, data, size);
}

static vyre_status resident_read(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                 void *data, size_t size) {
    return cuda_resident_read(device_of(backend), buffer, offset, data, size);
}

static vyre_status resident_free(const vyre_backend *backend, uint64_t buffer) {
    return cuda_resident_free(device_of(backend), buffer);
}

static vyre_status resident_dispatch_timed(const vyre_backend *backend, const vyre_call *call,
                                           const uint64_t *buffers, vyre_timing *out_timing) {
    cuda_executable *executable;
    VYRE_TRY(executable_of(backend, call, &executable));
    vyre_status status = cuda_resident_run(executable, call, buffers, out_timing);
    cuda_executable_release(executable);
    return status;
}

static vyre_status resident_import(const vyre_backend *backend, const vyre_memory *memory,
                                   uint64_t *out_buffer) {
    return cuda_resident_import(device_of(backend), memory, out_buffer);
}

static vyre_status resident_address(const vyre_backend *backend, uint64_t buffer,
                                    vyre_memory *out_memory) {
    (void)backend;
    *out_memory = cuda_resident_memory(buffer);
    return VYRE_OK;
}

static vyre_status resident_range(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                  size_t size, uint64_t *out_buffer) {
    return cuda_resident_range(device_of(backend), buffer, offset, size, out_buffer);
}

static vyre_status resident_copy(const vyre_backend *backend, uint64_t to, size_t to_offset,
                                 uint64_t from, size_t from_offset, size_t size) {
    return cuda_resident_copy(device_of(backend), to, to_offset, from, from_offset, size);
}

static vyre_status resident_fill(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                 size_t size, const void *pattern, size_t pattern_size) {
    return cuda_resident_fill(device_of(backend), buffer, offset, size, pattern, pattern_size);
}

static vyre_status memory_pin(const vyre_backend *backend, void *memory, size_t size,
                              uint64_t *out_pin) {
    return cuda_pin(device_of(backend), memory, size, out_pin);
}

static vyre_status memory_unpin(const vyre_backend *backend, uint64_t pin) {
    return cuda_unpin(device_of(backend), pin);
}

static bool ticket_done(const vyre_backend *backend, uint64_t ticket) {
    return cuda_ticket_is_done(device_of(backend), ticket);
}

static vyre_status ticket_wait(const vyre_backend *backend, uint64_t ticket) {
    return cuda_ticket_wait(device_of(backend), ticket);
}

/* Pipelines */

static vyre_status pipeline_dispatch(const vyre_native *executable, const vyre_call *call,
                                     vyre_output *outputs) {
    return cuda_dispatch(executable->state, call, outputs, NULL, NULL);
}

static vyre_status pipeline_dispatch_in_place(const vyre_native *executable, const vyre_call *call,
                                              const vyre_output *arguments) {
    vyre_output outputs[VYRE_LIMIT_ARGUMENTS];
    vyre_outputs_in_place(call, arguments, outputs);
    return pipeline_dispatch(executable, call, outputs);
}

static vyre_status pipeline_dispatch_timed(const vyre_native *executable, const vyre_call *call,
                                           vyre_output *outputs, vyre_timing *out_timing) {
    return cuda_dispatch(executable->state, call, outputs, NULL, out_timing);
}

static vyre_status pipeline_enqueue(const vyre_native *executable, const vyre_call *call,
                                    const uint64_t *buffers, uint64_t *out_ticket) {
    return cuda_resident_enqueue(executable->state, call, buffers, out_ticket);
}

static uint64_t pipeline_size_bytes(const vyre_native *executable) {
    const cuda_executable *own = executable->state;
    uint64_t bytes = sizeof *own + own->image_bytes;
    for (uint32_t i = 0; i < own->code_count; i++) {
        bytes += own->codes[i].phase_count * sizeof *own->codes[i].phases;
    }
    return bytes;
}

static void pipeline_destroy(const vyre_native *executable) {
    cuda_executable_release(executable->state);
}

static const vyre_pipeline_slots pipeline_slots = {
    VYRE_PIPELINE_HEAD,
    .dispatch = pipeline_dispatch,
    .dispatch_borrowed = pipeline_dispatch,
    .dispatch_borrowed_timed = pipeline_dispatch_timed,
    .dispatch_borrowed_into = pipeline_dispatch,
    .enqueue = pipeline_enqueue,
    .size_bytes = pipeline_size_bytes,
    .destroy = pipeline_destroy,
    .dispatch_in_place = pipeline_dispatch_in_place,
};

static vyre_status compile(const vyre_backend *backend, const vyre_compile *compile,
                           vyre_native *out_executable) {
    vyre_strbuf artifact = {0};
    cuda_executable *executable;
    vyre_status status = make_native(device_of(backend), compile->program, compile->artifact,
                                     compile->artifact_size, &artifact, &executable);
    if (!status) {
        out_executable->slots = &pipeline_slots;
        out_executable->state = executable;
        out_executable->artifact = (uint8_t *)artifact.data; /* from the allocator of the host */
        out_executable->artifact_size = artifact.size;
    }
    return status;
}

/* Capabilities. Halves are computed in f32, so they are not claimed. */

static bool has_tensor_cores(const vyre_backend *backend) {
    const cuda_info *info = &device_of(backend)->info;
    return cuda_matrix_form(info->sm, info->isa) != CUDA_MATRIX_WORDS;
}

static uint32_t features(const vyre_backend *backend) {
    return VYRE_FEATURE_PHASES | VYRE_FEATURE_SUBGROUP_OPS | VYRE_FEATURE_ASYNC_COMPUTE |
           VYRE_FEATURE_INDIRECT_DISPATCH | VYRE_FEATURE_STEPS | VYRE_FEATURE_CONSTANT_ARRAYS |
           VYRE_FEATURE_RECORDS | VYRE_FEATURE_STREAMS |
           (has_tensor_cores(backend) ? (uint32_t)VYRE_FEATURE_TENSOR_CORES : 0) |
           (device_of(backend)->info.has_cooperative ? (uint32_t)VYRE_FEATURE_GRID_SYNC : 0);
}

static uint32_t max_invocations(const vyre_backend *backend) {
    return device_of(backend)->info.most_threads;
}

static uint32_t subgroup_size(const vyre_backend *backend) {
    return device_of(backend)->info.warp;
}

static uint64_t max_storage_buffer_bytes(const vyre_backend *backend) {
    return device_of(backend)->info.memory_bytes;
}

static void device_profile(const vyre_backend *backend, vyre_profile *out_profile) {
    const cuda_info *info = &device_of(backend)->info;
    out_profile->device = info->name;
    out_profile->driver = info->driver;
    out_profile->flags = VYRE_PROFILE_SUPPORTS_DEVICE_TIMESTAMPS | VYRE_PROFILE_HAS_MUL_HIGH |
                         VYRE_PROFILE_HAS_SUBGROUP_SHUFFLE | VYRE_PROFILE_HAS_SHARED_MEMORY |
                         VYRE_PROFILE_IS_GPU;
    out_profile->max_native_int_width = 32;
    out_profile->max_shared_memory_bytes = info->most_shared_bytes;
    out_profile->compute_units = info->multiprocessors;
    out_profile->regs_per_thread_max = 255;
    out_profile->l2_cache_bytes = info->l2_bytes;
    /* Two transfers a clock on each line of the bus. */
    out_profile->memory_bandwidth_gbps =
        (uint64_t)info->memory_clock_khz * 2 * (info->bus_bits / 8) / 1000000;
    out_profile->shared_memory_bank_count = 32;
    out_profile->shared_memory_bank_width_bytes = 4;
    out_profile->timing_quality = VYRE_TIMING_DEVICE_TIMESTAMPS;
    out_profile->grade = VYRE_GRADE_EXACT; /* prepare refuses a device that is not */
}

static vyre_status prepare(const vyre_backend *backend) {
    cuda_device *device = device_of(backend);
    CUcontext before;
    VYRE_TRY(cuda_device_open(device));
    VYRE_TRY(cuda_device_enter(device, &before));
    vyre_status status = cuda_probe(device);
    cuda_device_leave(device, before);
    return status;
}

static vyre_status flush(const vyre_backend *backend) {
    cuda_device *device = device_of(backend);
    CUcontext before;
    if (!device->context) {
        return VYRE_OK;
    }
    cuda_queue_drain(&device->ordered);
    cuda_queue_drain(&device->pending);
    VYRE_TRY(cuda_check_lost(device));
    VYRE_TRY(cuda_device_enter(device, &before));
    vyre_status status = VYRE_OK;
    for (int i = 0; i < CUDA_SHARED_STREAMS && !status; i++) {
        cuda_stream *stream = &device->streams.shared[i];
        status = cuda_stream_settle(stream, atomic_load(&stream->submitted));
    }
    cuda_device_leave(device, before);
    return status;
}

static vyre_status shutdown(const vyre_backend *backend) {
    return cuda_device_close(device_of(backend));
}

static bool device_lost(const vyre_backend *backend) {
    return atomic_load(&device_of(backend)->is_lost);
}

static vyre_status try_recover(const vyre_backend *backend) {
    return cuda_device_reset(device_of(backend));
}

static void destroy(const vyre_backend *backend) {
    cuda_device_free(device_of(backend));
}

static const vyre_backend_slots slots = {
    VYRE_BACKEND_HEAD,
    .id = id,
    .dispatch = dispatch,
    .version = version,
    .dispatch_borrowed = dispatch,
    .dispatch_borrowed_timed = dispatch_borrowed_timed,
    .dispatch_borrowed_into = dispatch,
    .dispatch_async = dispatch_async,
    .dispatch_borrowed_async = dispatch_borrowed_async,
    .resident_allocate = resident_allocate,
    .resident_upload = resident_upload,
    .resident_read = resident_read,
    .resident_free = resident_free,
    .resident_dispatch_timed = resident_dispatch_timed,
    .ticket_done = ticket_done,
    .ticket_wait = ticket_wait,
    .compile_native = compile,
    .compile_native_shared = compile,
    .features = features,
    .max_workgroup_size = vyre_any_workgroup_size,
    .max_workgroups_per_dimension = vyre_any_workgroup_count, /* blocks take turns */
    .max_invocations_per_workgroup = max_invocations,
    .subgroup_size = subgroup_size,
    .max_storage_buffer_bytes = max_storage_buffer_bytes,
    .device_profile = device_profile,
    .prepare = prepare,
    .flush = flush,
    .shutdown = shutdown,
    .device_lost = device_lost,
    .try_recover = try_recover,
    .destroy = destroy,
    .dispatch_in_place = dispatch_in_place,
    .resident_import = resident_import,
    .resident_address = resident_address,
    .resident_range = resident_range,
    .resident_copy = resident_copy,
    .resident_fill = resident_fill,
    .memory_pin = memory_pin,
    .memory_unpin = memory_unpin,
};

static vyre_status create(const vyre_host *host, uint32_t index, vyre_backend *out_backend) {
    (void)host;
    cuda_device *device;
    vyre_status status = cuda_device_create(index, &device);
    if (!status) {
        out_backend->slots = &slots;
        out_backend->state = device;
    }
    return status;
}

static uint32_t device_count(const vyre_host *host) {
    (void)host;
    return cuda_device_count();
}

static const vyre_registration registration = {.id = id_text,
                                               .create = create,
                                               .supported_ops = vyre_core_supported_ops,
                                               .device_count = device_count};
static const vyre_precedence precedence = {id_text, 10};
static const vyre_capability capability = {id_text, true};

const vyre_bundle cuda_bundle = {
    VYRE_BUNDLE_HEAD, &registration, 1, &precedence, 1, &capability, 1,
};
