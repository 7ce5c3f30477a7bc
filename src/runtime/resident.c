/* Buffers that stay on the device: handles, and runs on them. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "ir/program.h"
#include "runtime/device.h"
#include "runtime/message.h"
#include "runtime/shared.h"
#include "trace/trace.h"

/* The row a handle stands for; NULL if it stands for none any more. In the lock. */
static vyre_resident_row *find_row(const vyre_device *device, vyre_resident handle) {
    if (handle.owner != device->owner || handle.index >= device->row_count) {
        return NULL;
    }
    vyre_resident_row *row = &device->rows[handle.index];
    return row->live && row->generation == handle.generation ? row : NULL;
}

static vyre_status refuse_handle(const vyre_device *device, vyre_resident handle) {
    bool foreign = handle.owner != device->owner;
    if (!handle.owner) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "pass a handle that vyre_resident_allocate returned; in a binding, "
                                "pass vyre_bind of it",
                                "an empty handle was passed to %s as a resident buffer",
                                device->name);
    }
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                            foreign ? "use it with the device that allocated it"
                                    : "allocate it again; a handle is valid until its buffer is "
                                      "freed",
                            foreign ? "a resident buffer passed to %s belongs to another device"
                                    : "a resident buffer passed to %s was freed or lost",
                            device->name);
}

/* A row to use, taken from the free ones or new; NULL without memory. In the lock. */
static vyre_resident_row *take_row(vyre_device *device, uint32_t *out_index) {
    if (device->free_row == VYRE_NONE) {
        if (device->row_count == device->row_capacity) {
            uint32_t capacity = device->row_capacity ? device->row_capacity * 2 : 16;
            void *rows = vyre_resize(device->rows, capacity, sizeof *device->rows);
            if (!rows) {
                return NULL;
            }
            device->rows = rows;
            device->row_capacity = capacity;
        }
        *out_index = device->row_count++;
        device->rows[*out_index] = (vyre_resident_row){.generation = 1, .next = VYRE_NONE};
    } else {
        *out_index = device->free_row;
        device->free_row = device->rows[*out_index].next;
    }
    return &device->rows[*out_index];
}

static void give_row_back(vyre_device *device, uint32_t index) {
    vyre_resident_row *row = &device->rows[index];
    row->live = false;
    row->generation++;
    row->users = 0;
    row->is_written = false;
    row->next = device->free_row;
    device->free_row = index;
}

vyre_status vyre_resident_allocate(vyre_device *device, size_t size, vyre_resident *out_resident) {
    *out_resident = (vyre_resident){0};
    VYRE_TRY(vyre_device_begin(device));
    uint64_t buffer = 0;
    vyre_status status = device->backend->slots->resident_allocate(device->backend, size, &buffer);
    if (status) {
        vyre_device_end(device);
        return vyre_status_annotate(status, "allocating %zu bytes on %s", size, device->name);
    }
    uint32_t index;
    pthread_mutex_lock(&device->residents);
    vyre_resident_row *row = take_row(device, &index);
    if (row) {
        row->buffer = buffer;
        row->size = size;
        row->ticket = row->made_by = 0;
        row->users = 0;
        row->live = true;
        *out_resident = (vyre_resident){device->owner, index, row->generation};
    }
    pthread_mutex_unlock(&device->residents);
    if (!row) {
        vyre_status_free(device->backend->slots->resident_free(device->backend, buffer));
        status = vyre_no_memory("to track a resident buffer");
    }
    vyre_device_end(device);
    return status;
}

/* One call may write a buffer, or several may read it. In the lock, as all of these. */
static bool is_available(const vyre_resident_row *row, bool writes) {
    return writes ? !row->users : !row->is_written;
}

static void take_buffer(vyre_resident_row *row, bool writes) {
    row->users++;
    row->is_written = writes;
}

static void give_buffer_back(vyre_resident_row *row) {
    row->users--;
    row->is_written = false;
}

static void wait_for_buffers(vyre_device *device) {
    device->waiting++;
    pthread_cond_wait(&device->given_back, &device->residents);
    device->waiting--;
}

static void wake_waiting(vyre_device *device) {
    if (device->waiting) {
        pthread_cond_broadcast(&device->given_back);
    }
}

/* Marks a buffer as used by a call, so that nobody frees it meanwhile; `out_row` is what it was
 * then. */
static vyre_status begin_use(vyre_device *device, vyre_resident handle, bool writes,
                             vyre_resident_row *out_row) {
    VYRE_TRY(vyre_device_begin(device));
    vyre_resident_row *row;
    pthread_mutex_lock(&device->residents);
    while ((row = find_row(device, handle)) != NULL && !is_available(row, writes)) {
        wait_for_buffers(device);
    }
    if (row) {
        take_buffer(row, writes);
        *out_row = *row;
    }
    pthread_mutex_unlock(&device->residents);
    if (!row) {
        vyre_device_end(device);
        return refuse_handle(device, handle);
    }
    return VYRE_OK;
}

/* With `known_good` nothing that was enqueued before can have spoiled the contents. */
static void end_use(vyre_device *device, vyre_resident handle, bool known_good) {
    pthread_mutex_lock(&device->residents);
    vyre_resident_row *row = find_row(device, handle);
    if (row) {
        give_buffer_back(row);
        row->made_by = known_good ? 0 : row->made_by;
    }
    wake_waiting(device);
    pthread_mutex_unlock(&device->residents);
    vyre_device_end(device);
}

static bool is_inside(const vyre_resident_row *row, size_t offset, size_t size) {
    return offset <= row->size && size <= row->size - offset;
}

static vyre_status upload(vyre_device *device, const vyre_resident_row *row, size_t offset,
                          const void *data, size_t size) {
    const vyre_backend *backend = device->backend;
    vyre_status status;
    VYRE_TRACED(device->track,
                status = backend->slots->resident_upload(backend, row->buffer, offset, data, size),
                .kind = "upload", .bytes = size, .failed = status);
    return status;
}

static vyre_status read_back(vyre_device *device, const vyre_resident_row *row, size_t offset,
                             void *data, size_t size) {
    const vyre_backend *backend = device->backend;
    vyre_status status;
    VYRE_TRACED(device->track,
                status = backend->slots->resident_read(backend, row->buffer, offset, data, size),
                .kind = "readback", .bytes = size, .failed = status);
    vyre_trace_look(device->track, backend);
    return status;
}

vyre_status vyre_resident_upload(vyre_device *device, vyre_resident resident, const void *data,
                                 size_t size) {
    vyre_resident_row row = {0};
    vyre_status status = begin_use(device, resident, true, &row);
    if (status) {
        return status;
    }
    if (size != row.size) {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "upload the whole buffer",
                                  "the upload has %zu bytes, and the resident buffer %llu", size,
                                  (unsigned long long)row.size);
    } else {
        status = upload(device, &row, 0, data, size);
    }
    end_use(device, resident, !status);
    return vyre_status_annotate(status, "uploading to %s", device->name);
}

vyre_status vyre_resident_upload_at(vyre_device *device, vyre_resident resident, size_t offset,
                                    const void *data, size_t size) {
    vyre_resident_row row = {0};
    VYRE_TRY(begin_use(device, resident, true, &row));
    vyre_status status =
        is_inside(&row, offset, size)
            ? upload(device, &row, offset, data, size)
            : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "upload a range inside the buffer",
                               "the upload of %zu bytes at offset %zu exceeds a resident buffer of "
                               "%llu",
                               size, offset, (unsigned long long)row.size);
    end_use(device, resident, false);
    return vyre_status_annotate(status, "uploading to %s", device->name);
}

vyre_status vyre_resident_read(vyre_device *device, vyre_resident resident, size_t offset,
                               void *data, size_t size) {
    vyre_resident_row row = {0};
    vyre_status status = begin_use(device, resident, false, &row);
    if (status) {
        return status;
    }
    bool known_good = false;
    if (!is_inside(&row, offset, size)) {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "read a range inside the buffer",
                                  "the read of %zu bytes at offset %zu exceeds a resident buffer "
                                  "of %llu",
                                  size, offset, (unsigned long long)row.size);
    } else {
        /* The work that made the contents may have failed without a wait: the failure is told here.
         */
        status = row.made_by ? vyre_device_wait_for(device, row.made_by) : VYRE_OK;
        known_good = !status;
        status = status ? status : read_back(device, &row, offset, data, size);
    }
    end_use(device, resident, known_good);
    return vyre_status_annotate(status, "reading back from %s", device->name);
}

vyre_status vyre_resident_free(vyre_device *device, vyre_resident resident) {
    vyre_status status = vyre_device_begin(device);
    if (status) {
        return status;
    }
    const vyre_backend_slots *slots = device->backend->slots;
    uint64_t buffer = 0;
    pthread_mutex_lock(&device->residents);
    vyre_resident_row *row = find_row(device, resident);
    if (!row) {
        status = refuse_handle(device, resident);
    } else if (row->users || (row->ticket && !slots->ticket_done(device->backend, row->ticket))) {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                  "wait for the work that uses it, then free it",
                                  "a resident buffer of %s is in use", device->name);
    } else {
        buffer = row->buffer;
        row->live = false; /* nobody else may use it; its generation stays until it is gone */
    }
    pthread_mutex_unlock(&device->residents);
    if (!status) {
        status = slots->resident_free(device->backend, buffer);
        pthread_mutex_lock(&device->residents);
        if (status) {
            device->rows[resident.index].live = true; /* it is still there, to be freed again */
        } else {
            give_row_back(device, resident.index);
        }
        pthread_mutex_unlock(&device->residents);
        status = vyre_status_annotate(status, "freeing a buffer of %s", device->name);
    }
    vyre_device_end(device);
    return status;
}

void vyre_residents_forget(vyre_device *device, bool free) {
    pthread_mutex_lock(&device->residents);
    for (uint32_t i = 0; i < device->row_count; i++) {
        if (device->rows[i].live) {
            if (free) {
                vyre_status_free(
                    device->backend->slots->resident_free(device->backend, device->rows[i].buffer));
            }
            give_row_back(device, i);
        }
    }
    wake_waiting(device);
    pthread_mutex_unlock(&device->residents);
}

static bool is_writing(const vyre_ir *ir, uint32_t arg) {
    return ir->resources[ir->args[arg].resource].access != VYRE_ACCESS_IN;
}

/* Whether an argument shares its buffer with one before it, and either is written. */
static bool is_aliased(const vyre_ir *ir, const vyre_binding *bindings, uint32_t arg) {
    for (uint32_t other = 0; other < arg; other++) {
        if (ir->args[other].resource != VYRE_NONE &&
            bindings[other].buffer.index == bindings[arg].buffer.index &&
            (is_writing(ir, arg) || is_writing(ir, other))) {
            return true;
        }
    }
    return false;
}

/* Finds what a run binds; `out_available` says whether it can be had now. In the lock. */
static vyre_status find_residents(vyre_device *device, const vyre_program *program,
                                  const vyre_binding *bindings, uint64_t *out_buffers,
                                  vyre_plan_value *out_values, bool *out_available) {
    const vyre_ir *ir = vyre_program_ir(program);
    *out_available = true;
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        out_buffers[arg] = 0;
        out_values[arg] = (vyre_plan_value){0, bindings[arg].bits};
        if (ir->args[arg].resource == VYRE_NONE) {
            continue;
        }
        const vyre_resident_row *row = find_row(device, bindings[arg].buffer);
        if (!row) {
            return refuse_handle(device, bindings[arg].buffer);
        }
        if (is_aliased(ir, bindings, arg)) {
            return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                    "bind different buffers; a buffer may be bound twice only if "
                                    "the program writes neither argument",
                                    "program `%s`: argument `%s` and another one have the same "
                                    "resident buffer",
                                    vyre_program_name(program), ir->strings + ir->args[arg].name);
        }
        *out_available = *out_available && is_available(row, is_writing(ir, arg));
        out_buffers[arg] = row->buffer;
        out_values[arg].bytes = row->size;
    }
    return VYRE_OK;
}

/* Marks the buffers that a run binds as used, until end_residents, and gives their numbers and
 * sizes by argument. Waits for calls that write what this one uses, or use what it writes, so that
 * a run of several parts is one to all others. */
static vyre_status begin_residents(vyre_device *device, const vyre_program *program,
                                   const vyre_binding *bindings, size_t count,
                                   uint64_t *out_buffers, vyre_plan_value *out_values) {
    const vyre_ir *ir = vyre_program_ir(program);
    if (count != ir->arg_count) {
        return vyre_status_make(
            VYRE_STATUS_INVALID_ARGUMENT,
            "bind every argument, including `out` buffers, in declaration order",
            "program `%s` has %u argument%s, found %zu", vyre_program_name(program), ir->arg_count,
            ir->arg_count == 1 ? "" : "s", count);
    }
    bool available;
    pthread_mutex_lock(&device->residents);
    vyre_status status =
        find_residents(device, program, bindings, out_buffers, out_values, &available);
    while (!status && !available) { /* all or none, so that no two wait for each other */
        wait_for_buffers(device);
        status = find_residents(device, program, bindings, out_buffers, out_values, &available);
    }
    for (uint32_t arg = 0; arg < count && !status; arg++) {
        if (ir->args[arg].resource != VYRE_NONE) {
            take_buffer(&device->rows[bindings[arg].buffer.index], is_writing(ir, arg));
        }
    }
    pthread_mutex_unlock(&device->residents);
    return status;
}

/* Remembers the ticket of the work, too. */
static void end_residents(vyre_device *device, const vyre_program *program,
                          const vyre_binding *bindings, size_t count, uint64_t ticket) {
    const vyre_ir *ir = vyre_program_ir(program);
    pthread_mutex_lock(&device->residents);
    for (uint32_t arg = 0; arg < count; arg++) {
        vyre_resident_row *row =
            ir->args[arg].resource == VYRE_NONE ? NULL : find_row(device, bindings[arg].buffer);
        if (row) {
            give_buffer_back(row);
            row->ticket = row->ticket > ticket ? row->ticket : ticket;
            row->made_by = ticket && is_writing(ir, arg) ? ticket : row->made_by;
        }
    }
    wake_waiting(device);
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

/* The plan of a run: the one that the pipeline keeps, if nobody uses it, made anew where the values
 * are others; else `room`. It is to be given back. */
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

/* The run itself, enqueued where `out_ticket` is given. */
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

/* Work that is under way has a ticket up to this one. */
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

/* The plan of a run that is yet to come. */
static vyre_status plan_run(vyre_pipeline *pipeline, const vyre_binding *bindings, size_t count,
                            const vyre_dispatch_config *config, vyre_plan *out_plan) {
    vyre_device *device = pipeline->device;
    uint64_t buffers[VYRE_LIMIT_ARGUMENTS];
    vyre_plan_value values[VYRE_LIMIT_ARGUMENTS];
    VYRE_TRY(vyre_pipeline_begin(pipeline, config));
    vyre_status status =
        begin_residents(device, pipeline->program, bindings, count, buffers, values);
    if (!status) {
        status = make_plan(pipeline, values, count, config, out_plan);
        end_residents(device, pipeline->program, bindings, count, 0);
    }
    vyre_device_end(device);
    return vyre_device_explain(device, pipeline->program, config, status);
}

/* The program of a run whose shared arrays get their sizes from arguments. */
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

/* The host looks at the messages behind the run, so it is over when it returns: it has no ticket.
 */
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

vyre_status vyre_pipeline_run_resident(vyre_pipeline *pipeline, const vyre_binding *bindings,
                                       size_t count, const vyre_dispatch_config *config,
                                       vyre_timing *out_timing, uint64_t *out_ticket) {
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
    vyre_status status = vyre_pipeline_begin(pipeline, config);
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
