#include "runtime/device.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "ir/lookup.h"
#include "runtime/compile.h"
#include "runtime/memory.h"
#include "store/store.h"
#include "trace/trace.h"

static char *make_name(const char *id, uint32_t index) {
    vyre_strbuf name = {0};
    vyre_strbuf_puts(&name, id);
    if (index) {
        vyre_strbuf_printf(&name, ":%u", index);
    }
    if (name.failed) {
        vyre_strbuf_free(&name);
    }
    return name.data;
}

/* A recovery goes before calls that start later, or it might wait for ever. */
static void init_calls(pthread_rwlock_t *lock) {
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(lock, &kind);
    pthread_rwlockattr_destroy(&kind);
}

vyre_status vyre_device_open(const vyre_backend *made, const char *id, uint32_t index,
                             vyre_device **out_device) {
    static atomic_ullong next_owner = 1;
    *out_device = NULL;
    vyre_backend *backend;
    VYRE_TRY(vyre_backend_adopt(made, id, &backend));
    vyre_device *device = vyre_alloc_zeroed(1, sizeof *device);
    char *name = make_name(id, index);
    if (!device || !name || !vyre_fork_watch()) {
        vyre_free(device);
        vyre_free(name);
        vyre_backend_drop(backend);
        return vyre_no_memory("for a device of backend `%s`", id);
    }
    atomic_init(&device->references, 1);
    device->backend = backend;
    device->name = name;
    device->track = vyre_trace_track(backend, name);
    device->owner = atomic_fetch_add(&next_owner, 1);
    device->forks = vyre_fork_count();
    device->free_row = device->releasing = VYRE_NONE;
    device->cache_limit = VYRE_PIPELINE_CACHE_BYTES;
    init_calls(&device->calls);
    pthread_mutex_init(&device->lifecycle, NULL);
    pthread_mutex_init(&device->residents, NULL);
    pthread_cond_init(&device->given_back, NULL);
    pthread_mutex_init(&device->pipelines, NULL);
    pthread_cond_init(&device->abandoned_end, NULL);
    backend->slots->device_profile(backend, &device->profile);
    *out_device = device;
    return VYRE_OK;
}

bool vyre_device_is_inherited(const vyre_device *device) {
    return device->forks != vyre_fork_count();
}

vyre_status vyre_device_check_process(const vyre_device *device) {
    return vyre_device_is_inherited(device)
               ? vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                  "acquire the device again in the child, or start it with exec",
                                  "device %s was opened before fork(): it belongs to the parent "
                                  "process",
                                  device->name)
               : VYRE_OK;
}

vyre_device *vyre_device_retain(vyre_device *device) {
    atomic_fetch_add(&device->references, 1);
    return device;
}

/* Failures of the last release have no caller: they go to the log. */
static void log_status(const vyre_device *device, vyre_status status) {
    if (status) {
        vyre_log(VYRE_LOG_WARNING, "closing device %s: %s", device->name, vyre_status_text(status));
        vyre_status_free(status);
    }
}

/* Waits for all work. */
static vyre_status flush(vyre_device *device) {
    vyre_status status;
    VYRE_TRACED(device->track, status = device->backend->slots->flush(device->backend),
                .kind = "flush", .failed = status);
    vyre_trace_look(device->track, device->backend);
    return status;
}

void vyre_device_release(vyre_device *device) {
    /* What a child inherits stays as it is: threads that would have to end are not there. */
    if (!device || atomic_fetch_sub(&device->references, 1) != 1 ||
        vyre_device_is_inherited(device)) {
        return;
    }
    const vyre_backend_slots *slots = device->backend->slots;
    bool shut_down = atomic_load(&device->shut_down);
    if (!shut_down) {
        log_status(device, flush(device));
    }
    vyre_pipelines_forget(device);
    vyre_residents_forget(device, !shut_down);
    if (!shut_down) {
        vyre_memory_detach(device);
        log_status(device, slots->shutdown(device->backend));
    }
    vyre_residents_release_owners(device);
    if (vyre_trace_is_on()) {
        vyre_trace_forget(device->backend);
    }
    vyre_backend_drop(device->backend);
    vyre_store_flush_counts();
    pthread_rwlock_destroy(&device->calls);
    pthread_mutex_destroy(&device->lifecycle);
    pthread_mutex_destroy(&device->residents);
    pthread_cond_destroy(&device->given_back);
    pthread_mutex_destroy(&device->pipelines);
    pthread_cond_destroy(&device->abandoned_end);
    vyre_free(device->rows);
    vyre_free(device->name);
    vyre_free(device);
}

const char *vyre_device_id(const vyre_device *device) {
    return device->profile.backend;
}

const char *vyre_device_name(const vyre_device *device) {
    return device->name;
}

const char *vyre_device_version(const vyre_device *device) {
    const char *version = device->backend->slots->version(device->backend);
    return version ? version : "unspecified";
}

const vyre_op_set *vyre_device_supported_ops(const vyre_device *device) {
    return device->backend->slots->supported_ops(device->backend);
}

uint32_t vyre_device_features(const vyre_device *device) {
    return device->backend->slots->features(device->backend);
}

void vyre_device_profile(const vyre_device *device, vyre_profile *out_profile) {
    *out_profile = device->profile;
}

static vyre_status refuse_shut_down(const vyre_device *device) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "acquire it again",
                            "device %s was shut down", device->name);
}

vyre_status vyre_device_begin(vyre_device *device) {
    VYRE_TRY(vyre_device_check_process(device));
    pthread_rwlock_rdlock(&device->calls);
    vyre_status status = VYRE_OK;
    if (atomic_load_explicit(&device->shut_down, memory_order_acquire)) {
        status = refuse_shut_down(device);
    } else if (!atomic_load_explicit(&device->prepared, memory_order_acquire)) {
        status = vyre_device_prepare(device);
    }
    if (status) {
        pthread_rwlock_unlock(&device->calls);
    }
    return status;
}

void vyre_device_end(vyre_device *device) {
    pthread_rwlock_unlock(&device->calls);
}

vyre_status vyre_device_prepare(vyre_device *device) {
    VYRE_TRY(vyre_device_check_process(device));
    pthread_mutex_lock(&device->lifecycle);
    vyre_status status = VYRE_OK;
    if (atomic_load(&device->shut_down)) {
        status = refuse_shut_down(device);
    } else if (!atomic_load(&device->prepared)) {
        VYRE_TRACED(device->track, status = device->backend->slots->prepare(device->backend),
                    .kind = "prepare", .failed = status);
        if (!status) {
            vyre_memory_attach(device);
        }
        atomic_store(&device->prepared, !status);
    }
    pthread_mutex_unlock(&device->lifecycle);
    return status;
}

vyre_status vyre_device_flush(vyre_device *device) {
    VYRE_TRY(vyre_device_check_process(device));
    pthread_rwlock_rdlock(&device->calls);
    vyre_status status = atomic_load(&device->shut_down) ? refuse_shut_down(device) : flush(device);
    pthread_rwlock_unlock(&device->calls);
    return status;
}

/* To recover or shut down: no call is under way until end_alone, and no compile without a caller.
 */
static void begin_alone(vyre_device *device) {
    pthread_rwlock_wrlock(&device->calls);
    vyre_compiles_wait(device);
    pthread_mutex_lock(&device->lifecycle);
}

static void end_alone(vyre_device *device) {
    pthread_mutex_unlock(&device->lifecycle);
    pthread_rwlock_unlock(&device->calls);
}

vyre_status vyre_device_shutdown(vyre_device *device) {
    VYRE_TRY(vyre_device_check_process(device));
    begin_alone(device);
    vyre_status status = VYRE_OK;
    if (!atomic_load(&device->shut_down)) {
        status = flush(device);
        vyre_pipelines_forget(device);
        vyre_residents_forget(device, true);
        atomic_store(&device->shut_down, true);
        vyre_memory_detach(device);
        status = vyre_first_failure(status, device->backend->slots->shutdown(device->backend));
    }
    end_alone(device);
    vyre_residents_release_owners(device);
    return status;
}

/* A backend that was shut down is not asked anything any more. */
bool vyre_device_lost(vyre_device *device) {
    if (vyre_device_is_inherited(device)) {
        return true;
    }
    return !atomic_load(&device->shut_down) && device->backend->slots->device_lost(device->backend);
}

/* A recovered device pins memory when it is prepared again. */
static vyre_status try_recover(vyre_device *device) {
    const vyre_backend *backend = device->backend;
    vyre_memory_detach(device);
    vyre_status status = backend->slots->try_recover(backend);
    if (status && atomic_load(&device->prepared) && !backend->slots->device_lost(backend)) {
        vyre_memory_attach(device);
    }
    return status;
}

vyre_status vyre_device_recover(vyre_device *device) {
    VYRE_TRY(vyre_device_check_process(device));
    begin_alone(device);
    vyre_status status =
        atomic_load(&device->shut_down) ? refuse_shut_down(device) : try_recover(device);
    if (!status) {
        atomic_fetch_add(&device->epoch, 1);
        atomic_store(&device->prepared, false);
        vyre_pipelines_forget(device);
        vyre_residents_forget(device, false);
    }
    end_alone(device);
    vyre_residents_release_owners(device);
    return status;
}

/* Whether work with that ticket may be under way. Waiting for one that was never given would never
 * end. */
static bool was_given(const vyre_device *device, vyre_ticket ticket) {
    return ticket && ticket <= atomic_load_explicit(&device->last_ticket, memory_order_acquire);
}

bool vyre_device_is_done(vyre_device *device, vyre_ticket ticket) {
    if (vyre_device_is_inherited(device)) {
        return true;
    }
    pthread_rwlock_rdlock(&device->calls);
    bool done = !was_given(device, ticket) || atomic_load(&device->shut_down) ||
                device->backend->slots->ticket_done(device->backend, ticket);
    if (!atomic_load(&device->shut_down)) {
        vyre_trace_look(device->track, device->backend);
    }
    pthread_rwlock_unlock(&device->calls);
    return done;
}

vyre_status vyre_device_wait_for(vyre_device *device, uint64_t ticket) {
    vyre_status status;
    VYRE_TRACED(device->track,
                status = device->backend->slots->ticket_wait(device->backend, ticket),
                .kind = "wait", .ticket = ticket, .failed = status);
    vyre_trace_look(device->track, device->backend);
    return status;
}

vyre_status vyre_device_wait(vyre_device *device, vyre_ticket ticket) {
    VYRE_TRY(vyre_device_check_process(device));
    if (ticket && !was_given(device, ticket)) {
        return vyre_status_make(
            VYRE_STATUS_INVALID_ARGUMENT, "wait for what vyre_pipeline_enqueue of this device gave",
            "device %s never gave the ticket %llu", device->name, (unsigned long long)ticket);
    }
    pthread_rwlock_rdlock(&device->calls);
    vyre_status status =
        ticket && !atomic_load(&device->shut_down) ? vyre_device_wait_for(device, ticket) : VYRE_OK;
    pthread_rwlock_unlock(&device->calls);
    return status;
}

vyre_status vyre_device_explain(vyre_device *device, const vyre_program *program,
                                const vyre_dispatch_config *config, vyre_status status) {
    if (!status) {
        return VYRE_OK;
    }
    if (!vyre_device_is_inherited(device) && vyre_device_lost(device)) {
        status = vyre_status_annotate(status, "the device is lost until vyre_device_recover");
    }
    return config->label
               ? vyre_status_annotate(status, "running `%s` for \"%s\" on %s",
                                      vyre_program_name(program), config->label, device->name)
               : vyre_status_annotate(status, "running `%s` on %s", vyre_program_name(program),
                                      device->name);
}

uint32_t vyre_profile_workgroup(const vyre_profile *profile) {
    uint64_t most = profile->max_invocations_per_workgroup;
    most = most < profile->max_workgroup_size[0] ? most : profile->max_workgroup_size[0];
    return (uint32_t)(profile->subgroup_size && most >= profile->subgroup_size
                          ? most - most % profile->subgroup_size
                          : most);
}

static vyre_status refuse_workgroup(const vyre_device *device, const vyre_program *program,
                                    const uint32_t size[3]) {
    const vyre_profile *profile = &device->profile;
    const uint32_t *most = profile->max_workgroup_size;
    char fix[96];
    snprintf(fix, sizeof fix, "use a workgroup of at most %u, or another device",
             vyre_profile_workgroup(profile));
    return vyre_status_make(VYRE_STATUS_UNSUPPORTED, fix,
                            "program `%s` needs workgroups of %u x %u x %u, and device "
                            "%s takes at most %u x %u x %u and %llu invocations",
                            vyre_program_name(program), size[0], size[1] ? size[1] : 1,
                            size[2] ? size[2] : 1, device->name, most[0], most[1], most[2],
                            (unsigned long long)profile->max_invocations_per_workgroup);
}

static vyre_status check_workgroup(const vyre_device *device, const vyre_program *program,
                                   const uint32_t size[3]) {
    const vyre_profile *profile = &device->profile;
    const uint32_t *most = profile->max_workgroup_size;
    uint64_t invocations = 1;
    bool fits = true;
    for (int i = 0; i < 3; i++) {
        invocations *= size[i] ? size[i] : 1;
        fits = fits && size[i] <= most[i];
    }
    fits = fits && invocations <= profile->max_invocations_per_workgroup;
    return fits ? VYRE_OK : refuse_workgroup(device, program, size);
}

/* That a device reports no limit does not mean that it has none. */
static uint64_t most_bytes(const vyre_device *device) {
    uint64_t reported = device->profile.max_storage_buffer_bytes;
    return reported ? reported : VYRE_UNREPORTED_STORAGE_BYTES;
}

static vyre_status refuse_bytes(const vyre_device *device, const vyre_plan *plan, const char *what,
                                uint64_t bytes) {
    if (!device->profile.max_storage_buffer_bytes) {
        return vyre_status_make(
            VYRE_STATUS_LIMIT,
            "pass a smaller array, use another device, or let its backend report "
            "max_storage_buffer_bytes",
            "program `%s`: %s has %llu bytes; device %s does not report its largest array, and "
            "vyre allows %llu then",
            vyre_program_name(plan->program), what, (unsigned long long)bytes, device->name,
            (unsigned long long)most_bytes(device));
    }
    return vyre_status_make(VYRE_STATUS_LIMIT, "pass a smaller array, or use another device",
                            "program `%s`: %s has %llu bytes, and device %s takes at most %llu in "
                            "one array",
                            vyre_program_name(plan->program), what, (unsigned long long)bytes,
                            device->name,
                            (unsigned long long)device->profile.max_storage_buffer_bytes);
}

static vyre_status check_bytes(const vyre_device *device, const vyre_plan *plan) {
    const vyre_ir *ir = plan->ir;
    uint64_t most = most_bytes(device);
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < ir->arg_count && !status; i++) {
        uint64_t bytes = plan->arguments[i] * vyre_arg_bytes(ir, &ir->args[i]);
        if (ir->args[i].resource != VYRE_NONE && bytes > most) {
            status = refuse_bytes(device, plan, ir->strings + ir->args[i].name, bytes);
        }
    }
    for (uint32_t i = 0; i < ir->resource_count && !status; i++) {
        const vyre_resource *row = &ir->resources[i];
        if (row->kind == VYRE_RESOURCE_SCRATCH) {
            uint64_t size = vyre_type_bytes((vyre_type)row->type), length = plan->sizes[row->size];
            if (length > most / size) {
                status = refuse_bytes(device, plan, "a scratch array",
                                      length > UINT64_MAX / size ? UINT64_MAX : length * size);
            }
        }
    }
    return status;
}

static vyre_status check_groups(const vyre_device *device, const vyre_plan *plan) {
    const uint32_t *most = device->profile.max_workgroups_per_dimension;
    for (uint32_t i = 0; i < plan->ir->phase_count; i++) {
        const uint64_t *groups = plan->grids[i].groups;
        bool fits = groups[0] <= most[0] && groups[1] <= most[1] && groups[2] <= most[2];
        if (!fits && plan->ir->phases[i].from_resource == VYRE_NONE) {
            return vyre_status_make(
                VYRE_STATUS_LIMIT, "use larger workgroups, a smaller domain, or another device",
                "program `%s`: a phase runs in %llu x %llu x %llu workgroups, and device %s takes "
                "at most %u x %u x %u",
                vyre_program_name(plan->program), (unsigned long long)groups[0],
                (unsigned long long)groups[1], (unsigned long long)groups[2], device->name, most[0],
                most[1], most[2]);
        }
    }
    return VYRE_OK;
}

vyre_status vyre_device_check_plan(const vyre_device *device, const vyre_plan *plan) {
    VYRE_TRY(check_groups(device, plan));
    return check_bytes(device, plan);
}

const char *vyre_grade_name(uint32_t grade) {
    switch (grade) {
#define NAME(name, number, text)                                                                   \
    case number: return text;
        VYRE_GRADES(NAME)
#undef NAME
    }
    return "unknown";
}

const char *vyre_timing_name(uint32_t timing_quality) {
    switch (timing_quality) {
#define NAME(name, number, text)                                                                   \
    case number: return text;
        VYRE_TIMING_QUALITIES(NAME)
#undef NAME
    }
    return "unknown";
}

vyre_status vyre_device_check_grade(const vyre_device *device, const vyre_dispatch_config *config) {
    return device->profile.grade <= config->grade
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                  "accept that grade in the config, or use another device",
                                  "device %s has the grade %s, and the run requires %s",
                                  device->name, vyre_grade_name(device->profile.grade),
                                  vyre_grade_name(config->grade));
}

vyre_status vyre_device_admit(const vyre_device *device, const vyre_program *program,
                              const vyre_dispatch_config *config) {
    const vyre_ir *ir = vyre_program_ir(program);
    VYRE_TRY(vyre_device_check_grade(device, config));
    for (uint32_t i = 0; i < ir->phase_count; i++) {
        if (ir->phases[i].workgroup[0]) {
            VYRE_TRY(check_workgroup(device, program, ir->phases[i].workgroup));
        }
    }
    return VYRE_OK;
}
