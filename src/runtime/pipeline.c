/* Compiling, and what a device remembers of it. */
#include <string.h>

#include <vyre/wire.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "ir/message.h"
#include "ir/program.h"
#include "ir/section.h"
#include "pass/message.h"
#include "pass/shared.h"
#include "runtime/compile.h"
#include "store/store.h"
#include "trace/trace.h"

/* Programs of the same meaning: not by their digests alone. */
static bool same_meaning(const vyre_program *left, const vyre_program *right) {
    return left == right ||
           vyre_sections_same_meaning(vyre_program_ir(left), vyre_program_ir(right));
}

static vyre_pipeline **bucket_of(vyre_device *device, uint64_t hash) {
    return &device->buckets[hash % VYRE_PIPELINE_BUCKETS];
}

static void unlink_use(vyre_device *device, vyre_pipeline *p) {
    *(p->newer ? &p->newer->older : &device->newest) = p->older;
    *(p->older ? &p->older->newer : &device->oldest) = p->newer;
}

static void link_newest(vyre_device *device, vyre_pipeline *p) {
    p->newer = NULL;
    p->older = device->newest;
    *(device->newest ? &device->newest->newer : &device->oldest) = p;
    device->newest = p;
}

static void destroy(vyre_pipeline *pipeline) {
    if (pipeline->has_plan) {
        vyre_plan_deinit(&pipeline->plan);
    }
    vyre_native_drop(pipeline->native);
    vyre_sequence_free(pipeline->sequence);
    vyre_program_release(pipeline->program);
    vyre_program_release(pipeline->source);
    vyre_free(pipeline);
}

/* Out of the lock: a backend may wait here for runs whose threads need the lock to end. */
static void destroy_all(vyre_pipeline *gone) {
    while (gone) {
        vyre_pipeline *next = gone->next;
        destroy(gone);
        gone = next;
    }
}

/* Takes a pipeline out of the cache. In the lock; one without a holder is to be destroyed. */
static void evict(vyre_device *device, vyre_pipeline *pipeline, vyre_pipeline **gone) {
    vyre_pipeline **at = bucket_of(device, pipeline->hash);
    while (*at != pipeline) {
        at = &(*at)->next;
    }
    *at = pipeline->next;
    unlink_use(device, pipeline);
    device->counts.entries--;
    device->counts.bytes -= pipeline->bytes;
    pipeline->cached = false;
    if (!atomic_load(&pipeline->references)) {
        pipeline->next = *gone;
        *gone = pipeline;
    }
}

static void keep_within_limit(vyre_device *device, vyre_pipeline **gone) {
    while (device->oldest && device->counts.bytes > device->cache_limit) {
        evict(device, device->oldest, gone);
    }
}

void vyre_pipelines_forget(vyre_device *device) {
    vyre_pipeline *gone = NULL;
    pthread_mutex_lock(&device->pipelines);
    while (device->oldest) {
        evict(device, device->oldest, &gone);
    }
    pthread_mutex_unlock(&device->pipelines);
    destroy_all(gone);
}

/* Counts one more holder; the first one holds the device, too. In the lock. */
static vyre_pipeline *hold(vyre_pipeline *pipeline) {
    if (!atomic_fetch_add(&pipeline->references, 1)) {
        vyre_device_retain(pipeline->device);
    }
    return pipeline;
}

static bool same_bytes(const void *a, const void *b, size_t size) {
    return !size || !memcmp(a, b, size);
}

/* Whether messages of two programs with the same meaning come from the same lines. */
static bool same_places(const vyre_program *left, const vyre_program *right) {
    const vyre_ir *a = vyre_program_ir(left), *b = vyre_program_ir(right);
    return a->place_count == b->place_count && a->scope_count == b->scope_count &&
           a->file == b->file && a->debug_string_bytes == b->debug_string_bytes &&
           same_bytes(a->places, b->places, a->place_count * sizeof *a->places) &&
           same_bytes(a->scopes, b->scopes, a->scope_count * sizeof *a->scopes) &&
           same_bytes(a->debug_strings, b->debug_strings, a->debug_string_bytes);
}

static bool is_of(const vyre_pipeline *pipeline, uint64_t hash, const vyre_program *program) {
    return pipeline->hash == hash && same_meaning(vyre_pipeline_program(pipeline), program) &&
           (!pipeline->source || same_places(pipeline->source, program));
}

static vyre_pipeline *find(vyre_device *device, uint64_t hash, const vyre_program *program) {
    vyre_pipeline *found = *bucket_of(device, hash);
    while (found && !is_of(found, hash, program)) {
        found = found->next;
    }
    return found;
}

vyre_pipeline *vyre_pipeline_retain(vyre_pipeline *pipeline) {
    atomic_fetch_add(&pipeline->references, 1);
    return pipeline;
}

void vyre_pipeline_release(vyre_pipeline *pipeline) {
    if (!pipeline) {
        return;
    }
    vyre_device *device = pipeline->device;
    if (vyre_device_is_inherited(device)) {
        return; /* it is left to the parent process, with its device */
    }
    pthread_mutex_lock(&device->pipelines);
    bool last = atomic_fetch_sub(&pipeline->references, 1) == 1;
    bool is_gone = last && !pipeline->cached;
    pthread_mutex_unlock(&device->pipelines);
    if (is_gone) {
        destroy(pipeline);
    }
    if (last) {
        vyre_device_release(device);
    }
}

bool vyre_pipeline_is_native(const vyre_pipeline *pipeline) {
    return pipeline->sequence ? vyre_sequence_is_compiled(pipeline->sequence)
                              : pipeline->native != NULL;
}

const vyre_program *vyre_pipeline_program(const vyre_pipeline *pipeline) {
    return pipeline->source ? pipeline->source : pipeline->program;
}

static vyre_str as_str(const char *text) {
    return text ? (vyre_str){text, strlen(text)} : (vyre_str){"", 0};
}

static vyre_status check_ops(const vyre_backend *backend, const vyre_program *program) {
    const vyre_op_set *ops = backend->slots->supported_ops(backend);
    if (!ops) {
        return vyre_status_make(VYRE_STATUS_BACKEND, "make `supported_ops` always return the set",
                                "backend `%s` does not report its operations",
                                backend->slots->id(backend));
    }
    bool splits = !(backend->slots->features(backend) & VYRE_FEATURE_GRID_SYNC);
    const vyre_ir *ir = vyre_program_ir(program);
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        uint32_t op = ir->insts[i].op;
        if ((op == VYRE_OP_GRID_BARRIER && splits) || vyre_op_is_message(op)) {
            continue; /* the host takes it out */
        }
        if (op >= 8 * sizeof *ops || !(ops->words[op / 64] >> (op % 64) & 1)) {
            return vyre_status_make(
                VYRE_STATUS_UNSUPPORTED, "run it on another backend; `vyre backends` lists them",
                "program `%s` uses `%s`, which backend `%s` does not support",
                vyre_program_name(program), vyre_op_info_of(op)->name, backend->slots->id(backend));
        }
    }
    return VYRE_OK;
}

vyre_status vyre_device_check_program(const vyre_device *device, const vyre_program *program) {
    const vyre_dispatch_config weakest = {.grade = UINT32_MAX};
    VYRE_TRY(vyre_device_admit(device, program, &weakest));
    return check_ops(device->backend, program);
}

/* A compile of a program, with what the cache on disk knows of it. */
typedef struct translation {
    vyre_device *device;
    const vyre_program *program;
    uint64_t deadline_ns; /* 0: none */
    vyre_store_key key;
    vyre_strbuf stored; /* the artifact of before */
    bool hit;           /* and it was of use */
    vyre_native made;
} translation;

static vyre_status call_compiler(translation *t) {
    const vyre_compile compile = {
        .program = t->program,
        .artifact = t->hit ? (const uint8_t *)t->stored.data : NULL,
        .artifact_size = t->hit ? t->stored.size : 0,
    };
    return vyre_compile_until(t->device, &compile, t->deadline_ns, &t->made);
}

static bool is_stored(const translation *t) {
    return t->hit && t->stored.size == t->made.artifact_size &&
           !memcmp(t->stored.data, t->made.artifact, t->stored.size);
}

static vyre_status translate(translation *t, vyre_native **out_native) {
    t->hit = vyre_store_get(&t->key, &t->stored);
    vyre_status status = call_compiler(t);
    if (status && t->hit) { /* what was stored must not be what keeps a program from running */
        vyre_log(VYRE_LOG_WARNING, "compiling `%s` from the stored form: %s",
                 vyre_program_name(t->program), vyre_status_text(status));
        vyre_status_free(status);
        vyre_free(t->made.artifact);
        t->made = (vyre_native){0};
        t->hit = false;
        status = call_compiler(t);
    }
    if (!status && t->made.slots) {
        status = vyre_native_adopt(&t->made, t->device->backend, out_native);
        if (!status && t->made.artifact && !is_stored(t)) {
            vyre_store_put(&t->key, t->made.artifact, t->made.artifact_size);
        }
    }
    if (vyre_trace_is_on()) {
        vyre_trace_compiled(t->hit);
    }
    return status;
}

vyre_status vyre_device_compile_whole(vyre_device *device, const vyre_program *program,
                                      uint64_t deadline_ns, vyre_native **out_native) {
    const vyre_backend *backend = device->backend;
    *out_native = NULL;
    VYRE_TRY(check_ops(backend, program));
    if (!vyre_backend_compiles(backend)) {
        return VYRE_OK;
    }
    const vyre_backend_slots *slots = backend->slots;
    uint8_t *bytes = NULL;
    size_t size = 0;
    vyre_profile profile;
    slots->device_profile(backend, &profile);
    VYRE_TRY(vyre_wire_encode(program, VYRE_WIRE_NO_DEBUG, &bytes, &size));
    translation t = {.device = device,
                     .program = program,
                     .deadline_ns = deadline_ns,
                     .key = {
                         .semantics = VYRE_SEMANTICS,
                         .backend = as_str(slots->id(backend)),
                         .backend_version = as_str(slots->version(backend)),
                         .device = as_str(profile.device),
                         .driver_version = as_str(profile.driver),
                         .digest = vyre_program_digest(program),
                         .program = {(const char *)bytes, size},
                         .name = as_str(vyre_program_name(program)),
                     }};
    vyre_status status;
    VYRE_TRACED(VYRE_TRACE_HERE, status = translate(&t, out_native), .kind = "translate",
                .program = program, .cache = t.hit ? "disk" : "cold", .bytes = t.made.artifact_size,
                .failed = status);
    vyre_free(t.made.artifact);
    vyre_strbuf_free(&t.stored);
    vyre_bytes_free(bytes);
    return status;
}

static vyre_status compile_program(vyre_pipeline *pipeline, uint64_t deadline_ns) {
    vyre_device *device = pipeline->device;
    const vyre_program *program = pipeline->program;
    pipeline->is_sized = vyre_shared_is_sized(vyre_program_ir(program));
    if (pipeline->is_sized) {
        return check_ops(device->backend, program);
    }
    return vyre_sequence_needed(device->backend, program)
               ? vyre_sequence_make(device, program, deadline_ns, &pipeline->sequence)
               : vyre_device_compile_whole(device, program, deadline_ns, &pipeline->native);
}

/* In a call of the device. */
static vyre_status compile_on(vyre_device *device, const vyre_dispatch_config *config,
                              vyre_pipeline *pipeline) {
    VYRE_TRY(vyre_device_admit(device, pipeline->program, config));
    pipeline->epoch = atomic_load(&device->epoch);
    return vyre_status_annotate(compile_program(pipeline, vyre_deadline_ns(config->timeout_ns)),
                                "compiling `%s`", vyre_program_name(pipeline->program));
}

static uint64_t executable_bytes(const vyre_pipeline *pipeline) {
    const vyre_native *native = pipeline->native;
    return pipeline->sequence ? vyre_sequence_bytes(pipeline->sequence)
           : native           ? native->slots->size_bytes(native)
                              : 0;
}

/* A backend sees no messages. */
static vyre_status set_program(vyre_pipeline *pipeline, const vyre_program *program) {
    vyre_program *given = (vyre_program *)(uintptr_t)program;
    VYRE_TRY(vyre_messages_drop(program, &pipeline->program));
    if (pipeline->program) {
        pipeline->source = vyre_program_retain(given);
        pipeline->messages = vyre_messages_of(vyre_program_ir(program));
    } else {
        pipeline->program = vyre_program_retain(given);
    }
    return VYRE_OK;
}

static vyre_status make(vyre_device *device, uint64_t hash, const vyre_program *program,
                        const vyre_dispatch_config *config, vyre_pipeline **out_pipeline) {
    vyre_pipeline *pipeline = vyre_alloc_zeroed(1, sizeof *pipeline);
    if (!pipeline) {
        return vyre_no_memory("for the pipeline of `%s`", vyre_program_name(program));
    }
    pipeline->device = device;
    pipeline->hash = hash;
    vyre_status status = set_program(pipeline, program);
    status = status ? status : vyre_device_begin(device);
    if (!status) {
        status = compile_on(device, config, pipeline);
        vyre_device_end(device);
    }
    if (status) {
        destroy(pipeline);
        return vyre_device_explain(device, program, config, status);
    }
    pipeline->bytes =
        sizeof *pipeline + vyre_program_stats(program).memory_bytes + executable_bytes(pipeline);
    *out_pipeline = pipeline;
    return VYRE_OK;
}

/* Puts a new pipeline into the cache, unless another thread was faster: then that one is taken. */
static vyre_pipeline *enter(vyre_device *device, vyre_pipeline *made) {
    vyre_pipeline *gone = NULL;
    pthread_mutex_lock(&device->pipelines);
    vyre_pipeline *other = find(device, made->hash, vyre_pipeline_program(made));
    device->counts.misses++;
    vyre_pipeline *result = hold(other ? other : made);
    if (other) {
        gone = made;
    } else if (made->epoch == atomic_load(&device->epoch) && !atomic_load(&device->shut_down)) {
        vyre_pipeline **bucket = bucket_of(device, made->hash);
        made->next = *bucket;
        *bucket = made;
        link_newest(device, made);
        made->cached = true;
        device->counts.entries++;
        device->counts.bytes += made->bytes;
        keep_within_limit(device, &gone);
    }
    pthread_mutex_unlock(&device->pipelines);
    destroy_all(gone);
    return result;
}

static vyre_status compile(vyre_device *device, const vyre_program *program,
                           const vyre_dispatch_config *config, bool *out_found,
                           vyre_pipeline **out_pipeline) {
    vyre_status status = vyre_check_demand(program, config);
    if (status) {
        return vyre_device_explain(device, program, config, status);
    }
    uint64_t hash = vyre_program_digest(program).low;
    bool shut_down = atomic_load(&device->shut_down);
    pthread_mutex_lock(&device->pipelines);
    vyre_pipeline *found =
        shut_down || config->grade < device->profile.grade ? NULL : find(device, hash, program);
    if (found) {
        device->counts.hits++;
        *out_pipeline = hold(found);
        if (device->newest != found) {
            unlink_use(device, found);
            link_newest(device, found);
        }
    }
    pthread_mutex_unlock(&device->pipelines);
    *out_found = found;
    if (found) {
        return VYRE_OK;
    }
    vyre_pipeline *made = NULL;
    status = make(device, hash, program, config, &made);
    if (!status) {
        *out_pipeline = enter(device, made);
    }
    return status;
}

/* The variant for the device, unless the device lacks something that it needs. */
static const vyre_program *suited(const vyre_device *device, const vyre_program *program) {
    bool is_gpu = device->profile.flags & VYRE_PROFILE_IS_GPU;
    const vyre_program *best = vyre_program_suited(program, vyre_device_id(device), is_gpu);
    vyre_status status = best == program ? VYRE_OK : vyre_device_check_program(device, best);
    if (status) {
        vyre_log(VYRE_LOG_DEBUG, "`%s` runs in its own form: %s", vyre_program_name(program),
                 vyre_status_text(status));
        vyre_status_free(status);
        return program;
    }
    return best;
}

vyre_status vyre_device_compile(vyre_device *device, const vyre_program *program,
                                const vyre_dispatch_config *config, vyre_pipeline **out_pipeline) {
    *out_pipeline = NULL;
    VYRE_TRY(vyre_device_check_process(device));
    program = program->variant_count ? suited(device, program) : program;
    config = vyre_config_or_default(config);
    bool found = false;
    vyre_status status;
    VYRE_TRACED(device->track, status = compile(device, program, config, &found, out_pipeline),
                .kind = "compile", .program = program,
                .cache = found ? "memory" : vyre_trace_cache(&span), .failed = status);
    return status;
}

void vyre_device_cache_counts(vyre_device *device, vyre_cache_counts *out_counts) {
    *out_counts = (vyre_cache_counts){0};
    if (vyre_device_is_inherited(device)) {
        return;
    }
    pthread_mutex_lock(&device->pipelines);
    *out_counts = device->counts;
    pthread_mutex_unlock(&device->pipelines);
}

void vyre_device_cache_limit(vyre_device *device, uint64_t bytes) {
    vyre_pipeline *gone = NULL;
    if (vyre_device_is_inherited(device)) {
        return;
    }
    pthread_mutex_lock(&device->pipelines);
    device->cache_limit = bytes;
    keep_within_limit(device, &gone);
    pthread_mutex_unlock(&device->pipelines);
    destroy_all(gone);
}

bool vyre_device_backend_cache(vyre_device *device, vyre_cache_counts *out_counts) {
    *out_counts = (vyre_cache_counts){0};
    return !vyre_device_is_inherited(device) &&
           device->backend->slots->cache_snapshot(device->backend, out_counts);
}
