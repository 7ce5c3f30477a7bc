#include "backend/cpu/runtime/backend.h"

#include <stdatomic.h>
#include <stdio.h>

#include "backend/cpu/runtime/bandwidth.h"
#include "backend/cpu/runtime/compiler.h"
#include "backend/cpu/runtime/fill.h"
#include "backend/cpu/runtime/memory.h"
#include "backend/cpu/runtime/pool.h"
#include "backend/cpu/runtime/profile.h"
#include "backend/cpu/runtime/queue.h"
#include "backend/cpu/runtime/run.h"
#include <vyre/registry.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "runtime/slots.h"

static const char id_text[] = "cpu";

/* What a device knows of itself. */
typedef struct device {
    cpu_llvm_info llvm;
    uint32_t lanes, threads;
    char version[96];
    char name[CPU_NAME_BYTES];
} device;

static atomic_uint device_count;

static const device *device_of(const vyre_backend *backend) {
    return backend->state;
}

static const char *id(const vyre_backend *backend) {
    (void)backend;
    return id_text;
}

static const char *version(const vyre_backend *backend) {
    return device_of(backend)->version;
}

/* The compiled program of a call; where the host has none, one for this call. Released with
 * cpu_executable_release. */
static vyre_status executable_of(const vyre_call *call, cpu_executable **out_executable) {
    if (call->native) {
        *out_executable = cpu_executable_retain(call->native->state);
        return VYRE_OK;
    }
    vyre_strbuf artifact = {0};
    const cpu_source source = {.deadline_ns = vyre_deadline_ns(call->config->timeout_ns)};
    vyre_status status = cpu_executable_make(call->program, &source, &artifact, out_executable);
    vyre_strbuf_free(&artifact);
    return status;
}

static vyre_status dispatch(const vyre_backend *backend, const vyre_call *call,
                            vyre_output *outputs) {
    (void)backend;
    cpu_executable *executable;
    vyre_status status = executable_of(call, &executable);
    if (!status) {
        atomic_uint stop = 0;
        status = cpu_run_host(executable, call, outputs, &stop);
        cpu_executable_release(executable);
    }
    return status;
}

static vyre_status run_in_place(const cpu_executable *executable, const vyre_call *call,
                                const vyre_output *arguments) {
    uint8_t *memory[VYRE_LIMIT_ARGUMENTS];
    atomic_uint stop = 0;
    for (size_t i = 0; i < call->argument_count; i++) {
        memory[i] = arguments[i].data;
    }
    return cpu_run_resident(executable, call, memory, &stop);
}

static vyre_status dispatch_in_place(const vyre_backend *backend, const vyre_call *call,
                                     const vyre_output *arguments) {
    (void)backend;
    cpu_executable *executable;
    VYRE_TRY(executable_of(call, &executable));
    vyre_status status = run_in_place(executable, call, arguments);
    cpu_executable_release(executable);
    return status;
}

static vyre_status start(const vyre_call *call, vyre_output *outputs, bool is_borrowed,
                         vyre_pending_run *out_run) {
    cpu_executable *executable;
    vyre_status status = executable_of(call, &executable);
    if (!status) {
        status = cpu_queue_start(executable, call, outputs, is_borrowed, out_run);
        cpu_executable_release(executable);
    }
    return status;
}

static vyre_status dispatch_async(const vyre_backend *backend, const vyre_call *call,
                                  vyre_output *outputs, vyre_pending_run *out_run) {
    (void)backend;
    return start(call, outputs, false, out_run);
}

static vyre_status dispatch_borrowed_async(const vyre_backend *backend, const vyre_call *call,
                                           vyre_output *outputs, vyre_pending_run *out_run) {
    (void)backend;
    return start(call, outputs, true, out_run);
}

/* Resident buffers are memory of the host; the number is the address of this. */
typedef struct resident {
    uint8_t *data;
    size_t size;
    struct resident *root; /* the buffer that a range is a part of; else itself */
    bool is_borrowed;      /* the memory is the root's or the caller's */
    atomic_ullong ticket;  /* of the last run that was enqueued on a root or its ranges */
} resident;

static resident *resident_of(uint64_t buffer) {
    return (resident *)(uintptr_t)buffer;
}

/* Makes a buffer from existing memory; `root` is NULL unless it is a range. */
static vyre_status make_resident(uint8_t *data, size_t size, resident *root, uint64_t *out_buffer) {
    resident *made = vyre_alloc(sizeof *made);
    *out_buffer = (uintptr_t)made;
    if (!made) {
        return vyre_no_memory("to track a resident buffer");
    }
    *made = (resident){.size = size, .root = root ? root : made, .is_borrowed = true};
    made->data = data;
    return VYRE_OK;
}

static vyre_status resident_allocate(const vyre_backend *backend, size_t size,
                                     uint64_t *out_buffer) {
    (void)backend;
    *out_buffer = 0;
    uint8_t *data = cpu_memory_take(size);
    if (!data) {
        return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY,
                                "free memory, or allocate a smaller "
                                "buffer",
                                "no memory for a resident buffer of %zu bytes", size);
    }
    vyre_status status = make_resident(data, size, NULL, out_buffer);
    if (status) {
        cpu_memory_give(data);
        return status;
    }
    cpu_fill_zero(data, size);
    resident_of(*out_buffer)->is_borrowed = false;
    return VYRE_OK;
}

static vyre_status resident_import(const vyre_backend *backend, const vyre_memory *memory,
                                   uint64_t *out_buffer) {
    *out_buffer = 0;
    VYRE_TRY(vyre_check_host_memory(backend, memory));
    return make_resident((uint8_t *)(uintptr_t)memory->address, memory->size, NULL, out_buffer);
}

static vyre_status resident_range(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                  size_t size, uint64_t *out_buffer) {
    (void)backend;
    resident *root = resident_of(buffer);
    return make_resident(root->data + offset, size, root, out_buffer);
}

static vyre_status resident_address(const vyre_backend *backend, uint64_t buffer,
                                    vyre_memory *out_memory) {
    (void)backend;
    const resident *self = resident_of(buffer);
    *out_memory = (vyre_memory){
        .address = (uintptr_t)self->data, .size = self->size, .place = VYRE_MEMORY_HOST};
    return VYRE_OK;
}

/* Waits for all runs that were enqueued on a buffer, then returns its memory. */
static uint8_t *settled(uint64_t buffer) {
    resident *self = resident_of(buffer);
    cpu_queue_settle(atomic_load(&self->root->ticket));
    return self->data;
}

static vyre_status resident_upload(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                   const void *data, size_t size) {
    (void)backend;
    cpu_copy(settled(buffer) + offset, data, size);
    return VYRE_OK;
}

static vyre_status resident_read(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                 void *data, size_t size) {
    (void)backend;
    cpu_copy(data, settled(buffer) + offset, size);
    return VYRE_OK;
}

static vyre_status resident_copy(const vyre_backend *backend, uint64_t to, size_t to_offset,
                                 uint64_t from, size_t from_offset, size_t size) {
    (void)backend;
    cpu_copy(settled(to) + to_offset, settled(from) + from_offset, size);
    return VYRE_OK;
}

static vyre_status resident_fill(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                 size_t size, const void *pattern, size_t pattern_size) {
    (void)backend;
    cpu_fill(settled(buffer) + offset, size, pattern, pattern_size);
    return VYRE_OK;
}

static vyre_status resident_free(const vyre_backend *backend, uint64_t buffer) {
    (void)backend;
    resident *self = resident_of(buffer);
    if (!self->is_borrowed) {
        cpu_memory_give(self->data);
    }
    vyre_free(self);
    return VYRE_OK;
}

/* The memory of each argument. */
static void find_memory(const vyre_call *call, const uint64_t *buffers, uint8_t **out_memory) {
    for (size_t i = 0; i < call->argument_count; i++) {
        out_memory[i] = buffers[i] ? resident_of(buffers[i])->data : NULL;
    }
}

static vyre_status resident_dispatch_timed(const vyre_backend *backend, const vyre_call *call,
                                           const uint64_t *buffers, vyre_timing *out_timing) {
    (void)backend;
    uint64_t begin = vyre_now_ns();
    uint8_t *memory[VYRE_LIMIT_ARGUMENTS];
    cpu_executable *executable;
    vyre_status status = executable_of(call, &executable);
    if (!status) {
        find_memory(call, buffers, memory);
        status = cpu_queue_run(executable, call, memory);
        cpu_executable_release(executable);
    }
    *out_timing = vyre_wall_time(begin);
    return status;
}

static bool ticket_done(const vyre_backend *backend, uint64_t ticket) {
    (void)backend;
    return cpu_queue_is_done(ticket);
}

static vyre_status ticket_wait(const vyre_backend *backend, uint64_t ticket) {
    (void)backend;
    return cpu_queue_wait(ticket);
}

/* Pipelines */

static vyre_status pipeline_dispatch(const vyre_native *executable, const vyre_call *call,
                                     vyre_output *outputs) {
    atomic_uint stop = 0;
    return cpu_run_host(executable->state, call, outputs, &stop);
}

static vyre_status pipeline_dispatch_in_place(const vyre_native *executable, const vyre_call *call,
                                              const vyre_output *arguments) {
    return run_in_place(executable->state, call, arguments);
}

/* Runs that only read a buffer may be enqueued at the same time, in any order. */
static void raise_ticket(atomic_ullong *last, uint64_t ticket) {
    unsigned long long before = atomic_load(last);
    while (before < ticket && !atomic_compare_exchange_weak(last, &before, ticket)) {
    }
}

static vyre_status pipeline_enqueue(const vyre_native *executable, const vyre_call *call,
                                    const uint64_t *buffers, uint64_t *out_ticket) {
    uint8_t *memory[VYRE_LIMIT_ARGUMENTS];
    find_memory(call, buffers, memory);
    vyre_status status = cpu_queue_enqueue(executable->state, call, memory, out_ticket);
    for (size_t i = 0; i < call->argument_count && !status; i++) {
        if (buffers[i]) {
            raise_ticket(&resident_of(buffers[i])->root->ticket, *out_ticket);
        }
    }
    return status;
}

static uint64_t pipeline_size_bytes(const vyre_native *executable) {
    const cpu_executable *own = executable->state;
    return sizeof *own + own->phase_count * sizeof *own->phases + own->code.size;
}

static void pipeline_destroy(const vyre_native *executable) {
    cpu_executable_release(executable->state);
}

static const vyre_pipeline_slots pipeline_slots = {
    VYRE_PIPELINE_HEAD,
    .dispatch = pipeline_dispatch,
    .dispatch_borrowed = pipeline_dispatch,
    .dispatch_borrowed_into = pipeline_dispatch,
    .enqueue = pipeline_enqueue,
    .size_bytes = pipeline_size_bytes,
    .destroy = pipeline_destroy,
    .dispatch_in_place = pipeline_dispatch_in_place,
};

static vyre_status compile(const vyre_backend *backend, const vyre_compile *compile,
                           vyre_native *out_executable) {
    (void)backend;
    vyre_strbuf artifact = {0};
    cpu_executable *executable;
    const cpu_source source = {.artifact = compile->artifact,
                               .artifact_size = compile->artifact_size,
                               .deadline_ns = vyre_deadline_ns(compile->timeout_ns)};
    vyre_status status = cpu_executable_make(compile->program, &source, &artifact, &executable);
    if (!status) {
        out_executable->slots = &pipeline_slots;
        out_executable->state = executable;
        out_executable->artifact = (uint8_t *)artifact.data; /* from the allocator of the host */
        out_executable->artifact_size = artifact.size;
    }
    return status;
}

/* Capabilities. Subgroups and halves are vectors of other things, so neither is claimed. A program
 * with grid barriers is one job here, whose phases all threads go through together. */

static uint32_t features(const vyre_backend *backend) {
    (void)backend;
    return VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC | VYRE_FEATURE_STEPS |
           VYRE_FEATURE_CONSTANT_ARRAYS | VYRE_FEATURE_RECORDS;
}

static uint32_t subgroup_size(const vyre_backend *backend) {
    return device_of(backend)->lanes;
}

static uint64_t max_storage_buffer_bytes(const vyre_backend *backend) {
    (void)backend;
    return PTRDIFF_MAX; /* the host's memory, and files that are mapped into it */
}

static void device_profile(const vyre_backend *backend, vyre_profile *out_profile) {
    const device *self = device_of(backend);
    out_profile->device = self->name;
    out_profile->driver = self->llvm.version;
    out_profile->flags = VYRE_PROFILE_HAS_SHARED_MEMORY;
    out_profile->max_native_int_width = 64;
    out_profile->max_shared_memory_bytes = VYRE_LIMIT_SHARED_BYTES;
    out_profile->compute_units = self->threads;
    out_profile->l1_cache_bytes = cpu_l1_bytes();
    out_profile->l2_cache_bytes = cpu_l2_bytes();
    out_profile->memory_bandwidth_gbps = cpu_bandwidth_known();
    out_profile->timing_quality = VYRE_TIMING_HOST_ONLY;
    out_profile->grade = VYRE_GRADE_EXACT;
}

static vyre_status flush(const vyre_backend *backend) {
    (void)backend;
    cpu_queue_flush();
    return VYRE_OK;
}

static void destroy(const vyre_backend *backend) {
    vyre_free(backend->state);
    if (atomic_fetch_sub(&device_count, 1) == 1) {
        cpu_queue_forget();
        cpu_memory_trim();
    }
}

static const vyre_backend_slots slots = {
    VYRE_BACKEND_HEAD,
    .id = id,
    .dispatch = dispatch,
    .version = version,
    .dispatch_borrowed = dispatch,
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
    .max_workgroups_per_dimension = vyre_any_workgroup_count,
    .max_invocations_per_workgroup = vyre_any_invocations,
    .subgroup_size = subgroup_size,
    .max_storage_buffer_bytes = max_storage_buffer_bytes,
    .device_profile = device_profile,
    .flush = flush,
    .shutdown = flush,
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
    if (index) {
        return vyre_status_make(VYRE_STATUS_NOT_FOUND, "name it without a number",
                                "backend `cpu` has one device, and there is no device %u", index);
    }
    device made = {0};
    VYRE_TRY(cpu_compiler_info(&made.llvm));
    VYRE_TRY(cpu_executable_lanes(&made.lanes));
    VYRE_TRY(cpu_pool_size(&made.threads));
    device *self = vyre_alloc(sizeof *self);
    if (!self) {
        return vyre_no_memory("for the device of backend `cpu`");
    }
    snprintf(made.version, sizeof made.version, "%s, %s", VYRE_VERSION_STRING, made.llvm.version);
    cpu_brand(made.name);
    if (!made.name[0]) {
        snprintf(made.name, sizeof made.name, "%s", made.llvm.cpu);
    }
    *self = made;
    atomic_fetch_add(&device_count, 1);
    out_backend->slots = &slots;
    out_backend->state = self;
    return VYRE_OK;
}

static const vyre_registration registration = {
    .id = id_text, .create = create, .supported_ops = vyre_core_supported_ops};
static const vyre_precedence precedence = {id_text, 100};
static const vyre_capability capability = {id_text, true};

const vyre_bundle cpu_bundle = {
    VYRE_BUNDLE_HEAD, &registration, 1, &precedence, 1, &capability, 1,
};
