#include "runtime/wrap.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "runtime/device.h"
#include "runtime/sequence.h"

typedef struct wrapper {
    vyre_backend *inner;
    uint32_t features;
    vyre_op_set ops; /* the inner's, and what the wrapper takes out of programs */
} wrapper;

/* A pipeline of the wrapper: one of these two. */
typedef struct wrapped_native {
    vyre_native *native;
    vyre_sequence *sequence;
} wrapped_native;

static const vyre_backend *inner_of(const vyre_backend *backend) {
    return ((const wrapper *)backend->state)->inner;
}

static const wrapped_native *wrapped_of(const vyre_native *native) {
    return native->state;
}

static bool is_needed(const vyre_backend *backend, const vyre_program *program) {
    return vyre_sequence_needed(program, ((const wrapper *)backend->state)->features);
}

/* The same call for the inner backend, with its own pipeline. */
static vyre_call inner_call(const vyre_call *call) {
    vyre_call own = *call;
    own.native = call->native ? wrapped_of(call->native)->native : NULL;
    return own;
}

/* A program taken apart for one run, unless a pipeline has it so already. */
static vyre_status borrow_sequence(const vyre_backend *backend, const vyre_call *call,
                                   vyre_sequence **out_own, const vyre_sequence **out_sequence) {
    *out_own = NULL;
    *out_sequence = call->native ? wrapped_of(call->native)->sequence : NULL;
    if (*out_sequence) {
        return VYRE_OK;
    }
    vyre_status status = vyre_sequence_make(inner_of(backend), call->program, false, out_own);
    *out_sequence = *out_own;
    return status;
}

static vyre_status run_apart(const vyre_backend *backend, const vyre_call *call,
                             vyre_output *outputs) {
    vyre_sequence *own;
    const vyre_sequence *sequence;
    vyre_status status = borrow_sequence(backend, call, &own, &sequence);
    status = status ? status : vyre_sequence_run(sequence, call, outputs);
    vyre_sequence_free(own);
    return status;
}

static const char *wrap_id(const vyre_backend *backend) {
    return inner_of(backend)->slots->id(inner_of(backend));
}

static vyre_status wrap_dispatch(const vyre_backend *backend, const vyre_call *call,
                                 vyre_output *outputs) {
    if (is_needed(backend, call->program)) {
        return run_apart(backend, call, outputs);
    }
    const vyre_call own = inner_call(call);
    return inner_of(backend)->slots->dispatch(inner_of(backend), &own, outputs);
}

static const char *wrap_version(const vyre_backend *backend) {
    return inner_of(backend)->slots->version(inner_of(backend));
}

static const vyre_op_set *wrap_supported_ops(const vyre_backend *backend) {
    return &((const wrapper *)backend->state)->ops;
}

static vyre_status wrap_dispatch_borrowed(const vyre_backend *backend, const vyre_call *call,
                                          vyre_output *outputs) {
    if (is_needed(backend, call->program)) {
        return run_apart(backend, call, outputs);
    }
    const vyre_call own = inner_call(call);
    return inner_of(backend)->slots->dispatch_borrowed(inner_of(backend), &own, outputs);
}

static vyre_status wrap_dispatch_borrowed_timed(const vyre_backend *backend, const vyre_call *call,
                                                vyre_output *outputs, vyre_timing *out_timing) {
    if (is_needed(backend, call->program)) {
        uint64_t start = vyre_now_ns();
        vyre_status status = run_apart(backend, call, outputs);
        *out_timing = vyre_wall_time(start);
        return status;
    }
    const vyre_call own = inner_call(call);
    return inner_of(backend)->slots->dispatch_borrowed_timed(inner_of(backend), &own, outputs,
                                                             out_timing);
}

static vyre_status wrap_dispatch_borrowed_into(const vyre_backend *backend, const vyre_call *call,
                                               vyre_output *outputs) {
    if (is_needed(backend, call->program)) {
        vyre_output *aside = vyre_outputs_aside(outputs, call->output_count);
        vyre_status status = aside ? run_apart(backend, call, aside) : VYRE_OK;
        return vyre_outputs_settle(aside, outputs, call->output_count, status);
    }
    const vyre_call own = inner_call(call);
    return inner_of(backend)->slots->dispatch_borrowed_into(inner_of(backend), &own, outputs);
}

static vyre_status wrap_dispatch_async(const vyre_backend *backend, const vyre_call *call,
                                       vyre_output *outputs, vyre_pending_run *out_run) {
    if (is_needed(backend, call->program)) {
        *out_run = vyre_ready_run;
        return run_apart(backend, call, outputs);
    }
    const vyre_call own = inner_call(call);
    return inner_of(backend)->slots->dispatch_async(inner_of(backend), &own, outputs, out_run);
}

static vyre_status wrap_dispatch_borrowed_async(const vyre_backend *backend, const vyre_call *call,
                                                vyre_output *outputs, vyre_pending_run *out_run) {
    if (is_needed(backend, call->program)) {
        *out_run = vyre_ready_run;
        return run_apart(backend, call, outputs);
    }
    const vyre_call own = inner_call(call);
    return inner_of(backend)->slots->dispatch_borrowed_async(inner_of(backend), &own, outputs,
                                                             out_run);
}

static vyre_status wrap_resident_allocate(const vyre_backend *backend, size_t size,
                                          uint64_t *out_buffer) {
    return inner_of(backend)->slots->resident_allocate(inner_of(backend), size, out_buffer);
}

static vyre_status wrap_resident_upload(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                        const void *data, size_t size) {
    return inner_of(backend)->slots->resident_upload(inner_of(backend), buffer, offset, data, size);
}

static vyre_status wrap_resident_read(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                      void *data, size_t size) {
    return inner_of(backend)->slots->resident_read(inner_of(backend), buffer, offset, data, size);
}

static vyre_status wrap_resident_free(const vyre_backend *backend, uint64_t buffer) {
    return inner_of(backend)->slots->resident_free(inner_of(backend), buffer);
}

static vyre_status wrap_resident_dispatch_timed(const vyre_backend *backend, const vyre_call *call,
                                                const uint64_t *buffers, vyre_timing *out_timing) {
    if (!is_needed(backend, call->program)) {
        const vyre_call own = inner_call(call);
        return inner_of(backend)->slots->resident_dispatch_timed(inner_of(backend), &own, buffers,
                                                                 out_timing);
    }
    uint64_t start = vyre_now_ns();
    vyre_sequence *made;
    const vyre_sequence *sequence;
    vyre_status status = borrow_sequence(backend, call, &made, &sequence);
    status = status ? status : vyre_sequence_run_resident(sequence, call, buffers);
    vyre_sequence_free(made);
    *out_timing = vyre_wall_time(start);
    return status;
}

static bool wrap_ticket_done(const vyre_backend *backend, uint64_t ticket) {
    return inner_of(backend)->slots->ticket_done(inner_of(backend), ticket);
}

static vyre_status wrap_ticket_wait(const vyre_backend *backend, uint64_t ticket) {
    return inner_of(backend)->slots->ticket_wait(inner_of(backend), ticket);
}

/* The pipeline of a program that goes straight through. */

static vyre_call through_call(const vyre_native *native, const vyre_call *call) {
    vyre_call own = *call;
    own.native = wrapped_of(native)->native;
    return own;
}

static vyre_status through_dispatch(const vyre_native *native, const vyre_call *call,
                                    vyre_output *outputs) {
    const vyre_call own = through_call(native, call);
    return own.native->slots->dispatch(own.native, &own, outputs);
}

static vyre_status through_dispatch_borrowed(const vyre_native *native, const vyre_call *call,
                                             vyre_output *outputs) {
    const vyre_call own = through_call(native, call);
    return own.native->slots->dispatch_borrowed(own.native, &own, outputs);
}

static vyre_status through_dispatch_borrowed_timed(const vyre_native *native, const vyre_call *call,
                                                   vyre_output *outputs, vyre_timing *out_timing) {
    const vyre_call own = through_call(native, call);
    return own.native->slots->dispatch_borrowed_timed(own.native, &own, outputs, out_timing);
}

static vyre_status through_dispatch_borrowed_into(const vyre_native *native, const vyre_call *call,
                                                  vyre_output *outputs) {
    const vyre_call own = through_call(native, call);
    return own.native->slots->dispatch_borrowed_into(own.native, &own, outputs);
}

static vyre_status through_enqueue(const vyre_native *native, const vyre_call *call,
                                   const uint64_t *buffers, uint64_t *out_ticket) {
    const vyre_call own = through_call(native, call);
    return own.native->slots->enqueue(own.native, &own, buffers, out_ticket);
}

static uint64_t through_size_bytes(const vyre_native *native) {
    const vyre_native *inner = wrapped_of(native)->native;
    return sizeof(wrapped_native) + inner->slots->size_bytes(inner);
}

static void wrapped_destroy(const vyre_native *native) {
    vyre_native_drop(wrapped_of(native)->native);
    vyre_sequence_free(wrapped_of(native)->sequence);
    vyre_free(native->state);
}

static const vyre_pipeline_slots through_slots = {
    VYRE_PIPELINE_HEAD,
    .dispatch = through_dispatch,
    .dispatch_borrowed = through_dispatch_borrowed,
    .dispatch_borrowed_timed = through_dispatch_borrowed_timed,
    .dispatch_borrowed_into = through_dispatch_borrowed_into,
    .enqueue = through_enqueue,
    .size_bytes = through_size_bytes,
    .destroy = wrapped_destroy,
};

/* The pipeline of a program that was taken apart. */

static vyre_status apart_dispatch(const vyre_native *native, const vyre_call *call,
                                  vyre_output *outputs) {
    return vyre_sequence_run(wrapped_of(native)->sequence, call, outputs);
}

static vyre_status apart_enqueue(const vyre_native *native, const vyre_call *call,
                                 const uint64_t *buffers, uint64_t *out_ticket) {
    *out_ticket = 0;
    return vyre_sequence_run_resident(wrapped_of(native)->sequence, call, buffers);
}

static uint64_t apart_size_bytes(const vyre_native *native) {
    return vyre_sequence_bytes(wrapped_of(native)->sequence);
}

static const vyre_pipeline_slots apart_slots = {
    VYRE_PIPELINE_HEAD,       .dispatch = apart_dispatch,     .dispatch_borrowed = apart_dispatch,
    .enqueue = apart_enqueue, .size_bytes = apart_size_bytes, .destroy = wrapped_destroy,
};

bool vyre_wrap_is_compiled(const vyre_native *native) {
    bool is_apart = native->slots->dispatch == apart_dispatch;
    return !is_apart || vyre_sequence_is_compiled(wrapped_of(native)->sequence);
}

static vyre_status wrap_compile(const vyre_backend *backend, const vyre_compile *compile,
                                vyre_native *out_native) {
    *out_native = (vyre_native){0};
    const vyre_backend *inner = inner_of(backend);
    wrapped_native *made = vyre_alloc_zeroed(1, sizeof *made);
    if (!made) {
        return vyre_no_memory("for a pipeline of backend `%s`", wrap_id(backend));
    }
    vyre_status status = is_needed(backend, compile->program)
                             ? vyre_sequence_make(inner, compile->program, true, &made->sequence)
                             : vyre_compile_stored(inner, compile->program, &made->native);
    if (status || (!made->sequence && !made->native)) {
        vyre_free(made);
        return status;
    }
    out_native->slots = made->sequence ? &apart_slots : &through_slots;
    out_native->state = made;
    return VYRE_OK;
}

static bool wrap_cache_snapshot(const vyre_backend *backend, vyre_cache_counts *out_counts) {
    return inner_of(backend)->slots->cache_snapshot(inner_of(backend), out_counts);
}

static uint32_t wrap_features(const vyre_backend *backend) {
    return inner_of(backend)->slots->features(inner_of(backend));
}

static void wrap_max_workgroup_size(const vyre_backend *backend, uint32_t out_size[3]) {
    inner_of(backend)->slots->max_workgroup_size(inner_of(backend), out_size);
}

static void wrap_max_workgroups_per_dimension(const vyre_backend *backend, uint32_t out_count[3]) {
    inner_of(backend)->slots->max_workgroups_per_dimension(inner_of(backend), out_count);
}

static uint32_t wrap_max_invocations_per_workgroup(const vyre_backend *backend) {
    return inner_of(backend)->slots->max_invocations_per_workgroup(inner_of(backend));
}

static uint32_t wrap_subgroup_size(const vyre_backend *backend) {
    return inner_of(backend)->slots->subgroup_size(inner_of(backend));
}

static uint64_t wrap_max_storage_buffer_bytes(const vyre_backend *backend) {
    return inner_of(backend)->slots->max_storage_buffer_bytes(inner_of(backend));
}

static void wrap_device_profile(const vyre_backend *backend, vyre_profile *out_profile) {
    inner_of(backend)->slots->device_profile(inner_of(backend), out_profile);
}

static vyre_status wrap_prepare(const vyre_backend *backend) {
    return inner_of(backend)->slots->prepare(inner_of(backend));
}

static vyre_status wrap_flush(const vyre_backend *backend) {
    return inner_of(backend)->slots->flush(inner_of(backend));
}

static vyre_status wrap_shutdown(const vyre_backend *backend) {
    return inner_of(backend)->slots->shutdown(inner_of(backend));
}

static bool wrap_device_lost(const vyre_backend *backend) {
    return inner_of(backend)->slots->device_lost(inner_of(backend));
}

static vyre_status wrap_try_recover(const vyre_backend *backend) {
    return inner_of(backend)->slots->try_recover(inner_of(backend));
}

static void wrap_destroy(const vyre_backend *backend) {
    vyre_backend_drop(((wrapper *)backend->state)->inner);
    vyre_free(backend->state);
}

#define wrap_compile_native wrap_compile
#define wrap_compile_native_shared wrap_compile
#define SLOT(name) .name = wrap_##name,

static const vyre_backend_slots wrap_slots = {VYRE_BACKEND_HEAD, .id = wrap_id,
                                              .dispatch = wrap_dispatch, VYRE_OPTIONAL_SLOTS(SLOT)};

static void add_op(vyre_op_set *ops, uint32_t op) {
    ops->words[op / 64] |= (uint64_t)1 << (op % 64);
}

vyre_status vyre_wrap_phases(vyre_backend *inner, vyre_backend **out_backend) {
    const uint32_t all = VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC;
    const char *id = inner->slots->id(inner);
    uint32_t features = inner->slots->features(inner);
    *out_backend = inner;
    if ((features & all) == all) {
        return VYRE_OK;
    }
    *out_backend = NULL;
    wrapper *state = vyre_alloc(sizeof *state);
    if (!state) {
        vyre_status status = vyre_no_memory("for backend `%s`", id);
        vyre_backend_drop(inner);
        return status;
    }
    *state = (wrapper){inner, features, *inner->slots->supported_ops(inner)};
    if (!(features & VYRE_FEATURE_GRID_SYNC)) {
        add_op(&state->ops, VYRE_OP_GRID_BARRIER);
    }
    if (!(features & VYRE_FEATURE_PHASES)) {
        add_op(&state->ops, VYRE_OP_ITERATION);
    }
    const vyre_backend made = {&wrap_slots, state, NULL};
    return vyre_backend_adopt(&made, id, out_backend);
}
