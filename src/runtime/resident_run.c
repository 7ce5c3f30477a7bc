/* Runs on resident buffers. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/near.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "runtime/message.h"
#include "runtime/resident.h"
#include "runtime/shared.h"
#include "trace/trace.h"

static bool is_writing(const vyre_ir *ir, uint32_t arg) {
    return ir->resources[ir->args[arg].resource].access != VYRE_ACCESS_IN;
}

/* The error for a binding that does not fit its argument. */
static vyre_status refuse_argument(const vyre_program *program, uint32_t arg, const char *fix,
                                   const char *reason) {
    const vyre_ir *ir = vyre_program_ir(program);
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix, "program `%s`: argument `%s` %s",
                            vyre_program_name(program), ir->strings + ir->args[arg].name, reason);
}

/* Fails if an argument shares memory with one before it, and the run writes either. */
static vyre_status check_sharing(const vyre_device *device, const vyre_program *program,
                                 const vyre_binding *bindings, uint32_t arg) {
    const vyre_ir *ir = vyre_program_ir(program);
    const vyre_resident_row *own = &device->rows[bindings[arg].buffer.index];
    for (uint32_t other = 0; other < arg; other++) {
        if (ir->args[other].resource == VYRE_NONE ||
            !(is_writing(ir, arg) || is_writing(ir, other)) ||
            !vyre_resident_overlap(own, &device->rows[bindings[other].buffer.index])) {
            continue;
        }
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "bind different buffers; arguments may share memory only if the "
                                "program writes neither of them",
                                "program `%s`: arguments `%s` and `%s` have the same resident "
                                "buffer, or ranges of one that overlap",
                                vyre_program_name(program), ir->strings + ir->args[other].name,
                                ir->strings + ir->args[arg].name);
    }
    return VYRE_OK;
}

/* Fails if the argument cannot be that buffer. */
static vyre_status check_buffer(const vyre_device *device, const vyre_program *program,
                                uint32_t arg, const vyre_resident_row *row) {
    const vyre_ir *ir = vyre_program_ir(program);
    uint32_t alignment = vyre_resource_alignment(ir, &ir->resources[ir->args[arg].resource]);
    if (is_writing(ir, arg) && row->is_read_only) {
        return refuse_argument(program, arg,
                               "import its memory without VYRE_MEMORY_READ_ONLY, or bind another "
                               "buffer",
                               "is written, and its resident buffer is read-only");
    }
    if (row->size && (row->address ? row->address : row->offset) % alignment) {
        char reason[96];
        snprintf(reason, sizeof reason,
                 "has a resident buffer that is not aligned to %u bytes, found address %#llx",
                 alignment, (unsigned long long)row->address);
        return refuse_argument(program, arg,
                               "copy it with vyre_resident_copy into an aligned "
                               "buffer, and bind that",
                               reason);
    }
    if (!row->buffer) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                "copy it with vyre_resident_copy into a buffer of its own, and "
                                "bind that",
                                "program `%s`: argument `%s` is a range, and device %s runs on "
                                "whole resident buffers only",
                                vyre_program_name(program), ir->strings + ir->args[arg].name,
                                device->name);
    }
    return VYRE_OK;
}

/* Fails if a binding does not fit a scalar argument. */
static vyre_status check_scalar(const vyre_program *program, uint32_t arg,
                                const vyre_binding *binding) {
    const char *type = vyre_type_name((vyre_type)vyre_program_ir(program)->args[arg].type);
    char fix[64], reason[64];
    if (binding->buffer.owner) {
        snprintf(fix, sizeof fix, "pass its value, for example with vyre_bind_%s", type);
        return refuse_argument(program, arg, fix, "is a scalar, found a resident buffer");
    }
    if (binding->type && binding->type != vyre_program_ir(program)->args[arg].type) {
        snprintf(fix, sizeof fix, "convert the value to %s", type);
        snprintf(reason, sizeof reason, "has the type %s, found %s", type,
                 vyre_type_name((vyre_type)binding->type));
        return refuse_argument(program, arg, fix, reason);
    }
    return VYRE_OK;
}

/* Finds the buffers that a run binds; `out_available`: whether it can use all now. In the lock. */
static vyre_status find_residents(vyre_device *device, const vyre_program *program,
                                  const vyre_binding *bindings, uint64_t *out_buffers,
                                  vyre_plan_value *out_values, bool *out_available) {
    const vyre_ir *ir = vyre_program_ir(program);
    *out_available = true;
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        out_buffers[arg] = 0;
        out_values[arg] = (vyre_plan_value){0, bindings[arg].bits};
        if (ir->args[arg].resource == VYRE_NONE) {
            VYRE_TRY(check_scalar(program, arg, &bindings[arg]));
            continue;
        }
        const vyre_resident_row *row = vyre_resident_find(device, bindings[arg].buffer);
        if (bindings[arg].type) {
            return refuse_argument(program, arg, "pass vyre_bind of a resident buffer",
                                   "is a buffer, found a scalar");
        }
        if (!row) {
            return vyre_status_annotate(vyre_resident_refuse(device, bindings[arg].buffer),
                                        "argument `%s`", ir->strings + ir->args[arg].name);
        }
        VYRE_TRY(check_buffer(device, program, arg, row));
        VYRE_TRY(check_sharing(device, program, bindings, arg));
        *out_available =
            *out_available &&
            vyre_resident_is_available(vyre_resident_root(device, row), is_writing(ir, arg));
        out_buffers[arg] = row->buffer;
        out_values[arg].bytes = row->size;
    }
    return VYRE_OK;
}

static vyre_status refuse_count(const vyre_program *program, size_t count) {
    uint32_t wanted = vyre_program_ir(program)->arg_count;
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                            "bind every argument, including `out` buffers, in declaration order",
                            "program `%s` has %u argument%s, found %zu", vyre_program_name(program),
                            wanted, wanted == 1 ? "" : "s", count);
}

/* Marks the buffers that a run binds as used, until end_residents, and returns their numbers and
 * sizes by argument. Waits for calls that write what this one uses, or use what it writes, so that
 * no call comes between the parts of a run. */
static vyre_status begin_residents(vyre_device *device, const vyre_program *program,
                                   const vyre_binding *bindings, size_t count,
                                   uint64_t *out_buffers, vyre_plan_value *out_values) {
    const vyre_ir *ir = vyre_program_ir(program);
    if (count != ir->arg_count) {
        return refuse_count(program, count);
    }
    bool available;
    pthread_mutex_lock(&device->residents);
    vyre_status status =
        find_residents(device, program, bindings, out_buffers, out_values, &available);
    while (!status && !available) { /* all or none, so that no two wait for each other */
        vyre_residents_wait(device);
        status = find_residents(device, program, bindings, out_buffers, out_values, &available);
    }
    for (uint32_t arg = 0; arg < count && !status; arg++) {
        if (ir->args[arg].resource != VYRE_NONE) {
            const vyre_resident_row *row = &device->rows[bindings[arg].buffer.index];
            vyre_resident_take(vyre_resident_root(device, row), is_writing(ir, arg));
        }
    }
    pthread_mutex_unlock(&device->residents);
    return status;
}

/* Also records the ticket of the work. */
static void end_residents(vyre_device *device, const vyre_program *program,
                          const vyre_binding *bindings, size_t count, uint64_t ticket) {
    const vyre_ir *ir = vyre_program_ir(program);
    pthread_mutex_lock(&device->residents);
    for (uint32_t arg = 0; arg < count; arg++) {
        if (ir->args[arg].resource != VYRE_NONE) {
            const vyre_resident_row *row = &device->rows[bindings[arg].buffer.index];
            vyre_resident_row *root = vyre_resident_root(device, row);
            vyre_resident_give(root);
            root->ticket = root->ticket > ticket ? root->ticket : ticket;
            root->made_by = ticket && is_writing(ir, arg) ? ticket : root->made_by;
        }
    }
    vyre_residents_wake(device);
    pthread_mutex_unlock(&device->residents);
}

/* A plan that the device can run. On failure nothing is left. */
static vyre_status make_plan(vyre_pipeline *pipeline, const vyre_plan_value *values, size_t count,
                             const vyre_dispatch_config *config, vyre_plan *out_plan) {
    VYRE_TRY(vyre_plan_init_resident(out_plan, pipeline->program, values, count, config));
    vyre_status status = vyre_device_check_plan(pipeline->device, out_plan);
    if (status) {
        vyre_plan_deinit(out_plan);
    }
    return status;
}

/* The plan of a run: the one that the pipeline keeps, if no other run uses it, made anew if the
 * values differ; otherwise `room`. give_plan gives it back. */
static vyre_status take_plan(vyre_pipeline *pipeline, const vyre_plan_value *values, size_t count,
                             const vyre_dispatch_config *config, bool is_default, vyre_plan *room,
                             vyre_plan **out_plan) {
    if (!is_default || count > VYRE_PIPELINE_ARGUMENTS ||
        atomic_exchange_explicit(&pipeline->plan_taken, true, memory_order_acquire)) {
        *out_plan = room;
        return make_plan(pipeline, values, count, config, room);
    }
    *out_plan = &pipeline->plan;
    if (pipeline->has_plan && !memcmp(pipeline->plan_values, values, count * sizeof *values)) {
        return VYRE_OK;
    }
    if (pipeline->has_plan) {
        vyre_plan_deinit(&pipeline->plan);
    }
    vyre_status status = make_plan(pipeline, values, count, config, &pipeline->plan);
    pipeline->has_plan = !status;
    memcpy(pipeline->plan_values, values, count * sizeof *values);
    if (status) {
        atomic_store_explicit(&pipeline->plan_taken, false, memory_order_release);
    }
    return status;
}

static void give_plan(vyre_pipeline *pipeline, vyre_plan *plan) {
    if (plan == &pipeline->plan) {
        atomic_store_explicit(&pipeline->plan_taken, false, memory_order_release);
    } else {
        vyre_plan_deinit(plan);
    }
}

/* A sequence is over when it returns, so it has no ticket. */
static vyre_status run_sequence(const vyre_sequence *sequence, const vyre_call *call,
                                const uint64_t *buffers, vyre_timing *out_timing) {
    uint64_t start = vyre_now_ns();
    vyre_status status = vyre_sequence_run_resident(sequence, call, buffers);
    *out_timing = vyre_wall_time(start);
    return status;
}

/* Runs, or enqueues if `out_ticket` is given. */
static vyre_status run_call(vyre_pipeline *pipeline, const vyre_call *call, const uint64_t *buffers,
                            vyre_timing *timing, uint64_t *out_ticket) {
    const vyre_backend *backend = pipeline->device->backend;
    const vyre_native *native = pipeline->native;
    if (out_ticket && native) {
        return native->slots->enqueue(native, call, buffers, out_ticket);
    }
    return pipeline->sequence
               ? run_sequence(pipeline->sequence, call, buffers, timing)
               : backend->slots->resident_dispatch_timed(backend, call, buffers, timing);
}

/* Raises the device's highest ticket. */
static void note_ticket(vyre_device *device, uint64_t ticket) {
    unsigned long long last = atomic_load_explicit(&device->last_ticket, memory_order_relaxed);
    while (last < ticket &&
           !atomic_compare_exchange_weak_explicit(&device->last_ticket, &last, ticket,
                                                  memory_order_release, memory_order_relaxed)) {
    }
}

static vyre_status run_traced(vyre_pipeline *pipeline, const vyre_call *call,
                              const uint64_t *buffers, vyre_timing *timing, uint64_t *out_ticket) {
    const vyre_device *device = pipeline->device;
    vyre_status status;
    VYRE_TRACED(device->track, status = run_call(pipeline, call, buffers, timing, out_ticket),
                .kind = "dispatch", .program = call->program, .label = call->config->label,
                .call = call, .timing = out_ticket ? NULL : timing,
                .ticket = out_ticket && !status ? *out_ticket : 0, .failed = status);
    if (out_ticket && !status) {
        const vyre_trace_facts facts = {.kind = "enqueued",
                                        .program = call->program,
                                        .label = call->config->label,
                                        .call = call,
                                        .ticket = *out_ticket};
        vyre_trace_enqueued(device->track, device->backend, &facts);
    }
    return status;
}

/* Like vyre_pipeline_begin, but fails if the run asks for a stream that the device cannot obey. */
static vyre_status begin_run(const vyre_pipeline *pipeline, const vyre_dispatch_config *config) {
    const vyre_device *device = pipeline->device;
    bool is_ordered = config->flags & VYRE_DISPATCH_STREAM;
    if (is_ordered && !(vyre_device_features(device) & VYRE_FEATURE_STREAMS)) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                "wait for the stream's work, then run without VYRE_DISPATCH_STREAM",
                                "device %s has no streams of callers", device->name);
    }
    if (is_ordered && pipeline->sequence) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                "wait for the stream's work, then run without VYRE_DISPATCH_STREAM",
                                "device %s runs `%s` in parts, which have no order in a stream",
                                device->name, vyre_program_name(pipeline->program));
    }
    return vyre_pipeline_begin(pipeline, config);
}

/* Plans a run without running it. */
static vyre_status plan_run(vyre_pipeline *pipeline, const vyre_binding *bindings, size_t count,
                            const vyre_dispatch_config *config, vyre_plan *out_plan) {
    vyre_device *device = pipeline->device;
    uint64_t buffers[VYRE_LIMIT_ARGUMENTS];
    vyre_plan_value values[VYRE_LIMIT_ARGUMENTS];
    VYRE_TRY(begin_run(pipeline, config));
    vyre_status status =
        begin_residents(device, pipeline->program, bindings, count, buffers, values);
    if (!status) {
        status = make_plan(pipeline, values, count, config, out_plan);
        end_residents(device, pipeline->program, bindings, count, 0);
    }
    vyre_device_end(device);
    return vyre_device_explain(device, pipeline->program, config, status);
}

/* The program of a run whose arguments give the sizes of its shared arrays. */
static vyre_status fit(vyre_pipeline *pipeline, const vyre_binding *bindings, size_t count,
                       const vyre_dispatch_config *config, vyre_program **out_program) {
    vyre_device *device = pipeline->device;
    vyre_plan plan;
    VYRE_TRY(plan_run(pipeline, bindings, count, config, &plan));
    vyre_status status = vyre_shared_program(&plan, device->profile.max_shared_memory_bytes,
                                             device->name, out_program);
    vyre_plan_deinit(&plan);
    return vyre_device_explain(device, pipeline->program, config, status);
}

static vyre_status run_fitted(vyre_pipeline *pipeline, const vyre_binding *bindings, size_t count,
                              const vyre_dispatch_config *config, vyre_timing *out_timing,
                              uint64_t *out_ticket) {
    vyre_pipeline *own;
    vyre_program *program;
    vyre_dispatch_config rest;
    uint64_t start_ns = config && config->timeout_ns ? vyre_now_ns() : 0;
    VYRE_TRY(fit(pipeline, bindings, count, vyre_config_or_default(config), &program));
    vyre_status status = vyre_device_compile(pipeline->device, program, config, &own);
    vyre_program_release(program);
    if (status) {
        return status;
    }
    status = vyre_config_rest(config, start_ns, pipeline->program, &rest);
    if (!status) {
        status = vyre_pipeline_run_resident(own, bindings, count, config ? &rest : NULL, out_timing,
                                            out_ticket);
    }
    vyre_pipeline_release(own);
    return status;
}

/* The host reads the messages after the run, so the run is over when this returns. It has no
 * ticket. */
static vyre_status run_messages(vyre_pipeline *pipeline, uint32_t kinds,
                                const vyre_binding *bindings, size_t count,
                                const vyre_dispatch_config *config, vyre_timing *out_timing,
                                uint64_t *out_ticket) {
    vyre_plan plan;
    VYRE_TRY(plan_run(pipeline, bindings, count, vyre_config_or_default(config), &plan));
    vyre_plan_deinit(&plan);
    if (out_ticket) {
        *out_ticket = 0;
    }
    return vyre_messages_run_resident(pipeline, kinds, bindings, count, config, out_timing);
}

/* `bindings` are in the order of the arguments. */
static vyre_status run_ordered(vyre_pipeline *pipeline, const vyre_binding *bindings, size_t count,
                               const vyre_dispatch_config *config, vyre_timing *out_timing,
                               uint64_t *out_ticket) {
    vyre_device *device = pipeline->device;
    uint32_t kinds = vyre_messages_start(pipeline, config);
    if (kinds) {
        return run_messages(pipeline, kinds, bindings, count, config, out_timing, out_ticket);
    }
    if (pipeline->is_sized) {
        return run_fitted(pipeline, bindings, count, config, out_timing, out_ticket);
    }
    bool is_default = !config;
    config = vyre_config_or_default(config);
    uint64_t buffers[VYRE_LIMIT_ARGUMENTS], ticket = 0;
    vyre_plan_value values[VYRE_LIMIT_ARGUMENTS];
    vyre_plan room, *plan;
    vyre_status status = begin_run(pipeline, config);
    if (!status) {
        status = begin_residents(device, pipeline->program, bindings, count, buffers, values);
        if (status) {
            vyre_device_end(device);
        }
    }
    if (status) {
        return vyre_device_explain(device, pipeline->program, config, status);
    }
    status = take_plan(pipeline, values, count, config, is_default, &room, &plan);
    if (!status) {
        const vyre_call call = vyre_plan_call(plan, NULL, pipeline->native);
        vyre_timing unasked, *timing = out_timing ? out_timing : &unasked;
        uint64_t *enqueued = out_ticket ? &ticket : NULL;
        status = vyre_trace_is_on() ? run_traced(pipeline, &call, buffers, timing, enqueued)
                                    : run_call(pipeline, &call, buffers, timing, enqueued);
        give_plan(pipeline, plan);
    }
    ticket = status ? 0 : ticket;
    note_ticket(device, ticket);
    end_residents(device, pipeline->program, bindings, count, ticket);
    vyre_device_end(device);
    if (out_ticket) {
        *out_ticket = ticket;
    }
    return vyre_device_explain(device, pipeline->program, config, status);
}

static bool has_names(const vyre_binding *bindings, size_t count) {
    size_t i = 0;
    while (i < count && !bindings[i].name) {
        i++;
    }
    return i < count;
}

/* The argument with a name; the number of arguments if there is none. */
static uint32_t find_argument(const vyre_ir *ir, const char *name) {
    uint32_t arg = 0;
    while (arg < ir->arg_count && strcmp(ir->strings + ir->args[arg].name, name) != 0) {
        arg++;
    }
    return arg;
}

static vyre_status refuse_name(const vyre_program *program, const char *name) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_near near;
    vyre_near_init(&near, vyre_str_of(name));
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        vyre_near_add(&near, vyre_str_of(ir->strings + ir->args[arg].name));
    }
    return vyre_near_refuse(&near, "use the names of the program's arguments",
                            "program `%s` has no argument `%s`", vyre_program_name(program), name);
}

/* Puts bindings with and without names in the order of the arguments. */
static vyre_status order_bindings(const vyre_program *program, const vyre_binding *bindings,
                                  size_t count, vyre_binding *out_ordered) {
    const vyre_ir *ir = vyre_program_ir(program);
    bool is_bound[VYRE_LIMIT_ARGUMENTS] = {false};
    for (size_t i = 0; i < count; i++) {
        uint32_t arg = bindings[i].name ? find_argument(ir, bindings[i].name) : (uint32_t)i;
        if (arg >= ir->arg_count) {
            return bindings[i].name ? refuse_name(program, bindings[i].name)
                                    : refuse_count(program, count);
        }
        if (is_bound[arg]) {
            return refuse_argument(program, arg, "bind each argument once", "is bound twice");
        }
        is_bound[arg] = true;
        out_ordered[arg] = bindings[i];
    }
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        if (!is_bound[arg]) {
            return refuse_argument(program, arg, "bind every argument, including `out` buffers",
                                   "is not bound");
        }
    }
    return VYRE_OK;
}

static vyre_status run_named(vyre_pipeline *pipeline, const vyre_binding *bindings, size_t count,
                             const vyre_dispatch_config *config, vyre_timing *out_timing,
                             uint64_t *out_ticket) {
    vyre_binding ordered[VYRE_LIMIT_ARGUMENTS];
    vyre_status status = order_bindings(pipeline->program, bindings, count, ordered);
    return status ? vyre_device_explain(pipeline->device, pipeline->program,
                                        vyre_config_or_default(config), status)
                  : run_ordered(pipeline, ordered, count, config, out_timing, out_ticket);
}

vyre_status vyre_pipeline_run_resident(vyre_pipeline *pipeline, const vyre_binding *bindings,
                                       size_t count, const vyre_dispatch_config *config,
                                       vyre_timing *out_timing, uint64_t *out_ticket) {
    return has_names(bindings, count)
               ? run_named(pipeline, bindings, count, config, out_timing, out_ticket)
               : run_ordered(pipeline, bindings, count, config, out_timing, out_ticket);
}

vyre_status vyre_pipeline_enqueue(vyre_pipeline *pipeline, const vyre_binding *bindings,
                                  size_t count, const vyre_dispatch_config *config,
                                  vyre_ticket *out_ticket) {
    uint64_t ticket = 0;
    vyre_status status =
        vyre_pipeline_run_resident(pipeline, bindings, count, config, NULL, &ticket);
    if (out_ticket) {
        *out_ticket = ticket;
    }
    return status;
}
