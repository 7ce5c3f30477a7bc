#include "backend/opencl/runtime/backend.h"

#include <vyre/registry.h>

#include "backend/opencl/runtime/dispatch.h"
#include "backend/opencl/runtime/probe.h"
#include "backend/opencl/runtime/resident.h"
#include "base/status.h"
#include "runtime/slots.h"

static const char id_text[] = "opencl";

static opencl_device *device_of(const vyre_backend *backend) {
    return backend->state;
}

static const char *id(const vyre_backend *backend) {
    (void)backend;
    return id_text;
}

static const char *version(const vyre_backend *backend) {
    return device_of(backend)->info.version;
}

/* The compiled program of a call; where the host has none, one for this call. */
static vyre_status executable_of(const vyre_backend *backend, const vyre_call *call,
                                 opencl_executable **out_executable) {
    if (call->native) {
        *out_executable = opencl_executable_retain(call->native->state);
        return VYRE_OK;
    }
    VYRE_TRY(opencl_check_lost(device_of(backend)));
    return opencl_executable_make(device_of(backend), call->program, NULL, 0, NULL, out_executable);
}

static vyre_status dispatch_borrowed_timed(const vyre_backend *backend, const vyre_call *call,
                                           vyre_output *outputs, vyre_timing *out_timing) {
    opencl_executable *executable;
    VYRE_TRY(executable_of(backend, call, &executable));
    vyre_status status = opencl_dispatch(executable, call, outputs, out_timing);
    opencl_executable_release(executable);
    return status;
}

static vyre_status dispatch(const vyre_backend *backend, const vyre_call *call,
                            vyre_output *outputs) {
    return dispatch_borrowed_timed(backend, call, outputs, NULL);
}

/* The same memory may be input and output: each output is written where its input was read. */
static vyre_status dispatch_in_place(const vyre_backend *backend, const vyre_call *call,
                                     const vyre_output *arguments) {
    vyre_output outputs[VYRE_LIMIT_ARGUMENTS];
    vyre_outputs_in_place(call, arguments, outputs);
    return dispatch(backend, call, outputs);
}

static vyre_status resident_allocate(const vyre_backend *backend, size_t size,
                                     uint64_t *out_buffer) {
    return opencl_resident_allocate(device_of(backend), size, out_buffer);
}

static vyre_status resident_upload(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                   const void *data, size_t size) {
    return opencl_resident_upload(device_of(backend), buffer, offset, data, size);
}

static vyre_status resident_read(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                 void *data, size_t size) {
    return opencl_resident_read(device_of(backend), buffer, offset, data, size);
}

static vyre_status resident_free(const vyre_backend *backend, uint64_t buffer) {
    opencl_resident_free(device_of(backend), buffer);
    return VYRE_OK;
}

static vyre_status resident_import(const vyre_backend *backend, const vyre_memory *memory,
                                   uint64_t *out_buffer) {
    return opencl_resident_import(device_of(backend), memory, out_buffer);
}

static vyre_status resident_address(const vyre_backend *backend, uint64_t buffer,
                                    vyre_memory *out_memory) {
    (void)backend;
    *out_memory = opencl_resident_memory(buffer);
    return VYRE_OK;
}

static vyre_status resident_range(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                  size_t size, uint64_t *out_buffer) {
    (void)backend;
    return opencl_resident_range(buffer, offset, size, out_buffer);
}

static vyre_status resident_copy(const vyre_backend *backend, uint64_t to, size_t to_offset,
                                 uint64_t from, size_t from_offset, size_t size) {
    return opencl_resident_copy(device_of(backend), to, to_offset, from, from_offset, size);
}

static vyre_status resident_fill(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                 size_t size, const void *pattern, size_t pattern_size) {
    return opencl_resident_fill(device_of(backend), buffer, offset, size, pattern, pattern_size);
}

static vyre_status resident_dispatch_timed(const vyre_backend *backend, const vyre_call *call,
                                           const uint64_t *buffers, vyre_timing *out_timing) {
    opencl_executable *executable;
    VYRE_TRY(executable_of(backend, call, &executable));
    vyre_status status = opencl_resident_run(executable, call, buffers, out_timing);
    opencl_executable_release(executable);
    return status;
}

static bool ticket_done(const vyre_backend *backend, uint64_t ticket) {
    return opencl_ticket_is_done(device_of(backend), ticket);
}

static vyre_status ticket_wait(const vyre_backend *backend, uint64_t ticket) {
    return opencl_ticket_wait(device_of(backend), ticket);
}

/* Pipelines */

static vyre_status pipeline_dispatch(const vyre_native *native, const vyre_call *call,
                                     vyre_output *outputs) {
    return opencl_dispatch(native->state, call, outputs, NULL);
}

static vyre_status pipeline_dispatch_timed(const vyre_native *native, const vyre_call *call,
                                           vyre_output *outputs, vyre_timing *out_timing) {
    return opencl_dispatch(native->state, call, outputs, out_timing);
}

static vyre_status pipeline_dispatch_in_place(const vyre_native *native, const vyre_call *call,
                                              const vyre_output *arguments) {
    vyre_output outputs[VYRE_LIMIT_ARGUMENTS];
    vyre_outputs_in_place(call, arguments, outputs);
    return pipeline_dispatch(native, call, outputs);
}

static vyre_status pipeline_enqueue(const vyre_native *native, const vyre_call *call,
                                    const uint64_t *buffers, uint64_t *out_ticket) {
    return opencl_resident_enqueue(native->state, call, buffers, out_ticket);
}

static uint64_t pipeline_size_bytes(const vyre_native *native) {
    const opencl_executable *own = native->state;
    return sizeof *own + own->phase_count * sizeof *own->phases + own->text_bytes;
}

static void pipeline_destroy(const vyre_native *native) {
    opencl_executable_release(native->state);
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
                           vyre_native *out_native) {
    vyre_strbuf artifact = {0};
    opencl_executable *executable;
    VYRE_TRY(opencl_check_lost(device_of(backend)));
    vyre_status status =
        opencl_executable_make(device_of(backend), compile->program, compile->artifact,
                               compile->artifact_size, &artifact, &executable);
    if (status) {
        vyre_strbuf_free(&artifact);
        return status;
    }
    out_native->slots = &pipeline_slots;
    out_native->state = executable;
    out_native->artifact = (uint8_t *)artifact.data; /* from the allocator of the host */
    out_native->artifact_size = artifact.size;
    return VYRE_OK;
}

/* Capabilities. Subgroups that are shared memory and barriers, and halves, which are integers, are
 * not claimed. The host waits for domains from memory, so indirect dispatch is not claimed either.
 */

static bool has_subgroups(const vyre_backend *backend) {
    return opencl_widths(&device_of(backend)->info.target) & OPENCL_WARP;
}

static uint32_t features(const vyre_backend *backend) {
    bool has_matrices = opencl_has_matrices(&device_of(backend)->info.target);
    return VYRE_FEATURE_PHASES | VYRE_FEATURE_STEPS | VYRE_FEATURE_CONSTANT_ARRAYS |
           VYRE_FEATURE_RECORDS |
           (has_subgroups(backend) ? (uint32_t)VYRE_FEATURE_SUBGROUP_OPS : 0) |
           (has_matrices ? (uint32_t)VYRE_FEATURE_TENSOR_CORES : 0);
}

static uint32_t subgroup_size(const vyre_backend *backend) {
    return has_subgroups(backend) ? OPENCL_WARP : 0;
}

static uint32_t max_invocations(const vyre_backend *backend) {
    return device_of(backend)->info.target.most_threads;
}

static uint64_t max_storage_buffer_bytes(const vyre_backend *backend) {
    return device_of(backend)->info.most_bytes;
}

static void device_profile(const vyre_backend *backend, vyre_profile *out_profile) {
    const opencl_info *info = &device_of(backend)->info;
    out_profile->device = info->found.name;
    out_profile->driver = info->driver;
    out_profile->flags =
        VYRE_PROFILE_SUPPORTS_DEVICE_TIMESTAMPS | VYRE_PROFILE_HAS_MUL_HIGH |
        VYRE_PROFILE_HAS_SHARED_MEMORY |
        (has_subgroups(backend) ? (uint64_t)VYRE_PROFILE_HAS_SUBGROUP_SHUFFLE : 0) |
        (info->found.type & CL_DEVICE_TYPE_GPU ? (uint64_t)VYRE_PROFILE_IS_GPU : 0) |
        (info->is_cpu ? (uint64_t)VYRE_PROFILE_IS_SOFTWARE : 0);
    out_profile->max_native_int_width = info->is_cpu ? 64 : 32;
    out_profile->max_shared_memory_bytes = info->target.shared_bytes;
    out_profile->compute_units = info->compute_units;
    out_profile->l2_cache_bytes = info->cache_bytes;
    out_profile->timing_quality = VYRE_TIMING_DEVICE_TIMESTAMPS;
    out_profile->grade = VYRE_GRADE_EXACT; /* what is not is corrected, or prepare refuses it */
}

static vyre_status prepare(const vyre_backend *backend) {
    VYRE_TRY(opencl_device_open(device_of(backend)));
    return opencl_probe(device_of(backend));
}

static vyre_status flush(const vyre_backend *backend) {
    opencl_device *device = device_of(backend);
    return device->queue && !atomic_load(&device->is_lost)
               ? opencl_check(device, device->cl->clFinish(device->queue), "waiting for all runs")
               : VYRE_OK;
}

static vyre_status shutdown(const vyre_backend *backend) {
    opencl_device_close(device_of(backend));
    return VYRE_OK;
}

static bool device_lost(const vyre_backend *backend) {
    return atomic_load(&device_of(backend)->is_lost);
}

static vyre_status try_recover(const vyre_backend *backend) {
    return opencl_device_reset(device_of(backend));
}

static void destroy(const vyre_backend *backend) {
    opencl_device_free(device_of(backend));
}

static const vyre_backend_slots slots = {
    VYRE_BACKEND_HEAD,
    .id = id,
    .dispatch = dispatch,
    .version = version,
    .dispatch_borrowed = dispatch,
    .dispatch_borrowed_timed = dispatch_borrowed_timed,
    .dispatch_borrowed_into = dispatch,
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
    .subgroup_size = subgroup_size,
    .max_workgroup_size = vyre_any_workgroup_size,
    .max_workgroups_per_dimension = vyre_any_workgroup_count, /* launches are split */
    .max_invocations_per_workgroup = max_invocations,
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
};

static vyre_status create(const vyre_host *host, uint32_t index, vyre_backend *out_backend) {
    (void)host;
    opencl_device *device;
    vyre_status status = opencl_device_create(index, &device);
    if (!status) {
        out_backend->slots = &slots;
        out_backend->state = device;
    }
    return status;
}

static uint32_t device_count(const vyre_host *host) {
    (void)host;
    return opencl_device_count();
}

static const vyre_registration registration = {.id = id_text,
                                               .create = create,
                                               .supported_ops = vyre_core_supported_ops,
                                               .device_count = device_count};
static const vyre_precedence precedence = {id_text, 200};
static const vyre_capability capability = {id_text, true};

const vyre_bundle opencl_bundle = {
    VYRE_BUNDLE_HEAD, &registration, 1, &precedence, 1, &capability, 1,
};
