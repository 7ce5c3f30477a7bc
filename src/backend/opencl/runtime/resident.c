#define _GNU_SOURCE /* MADV_HUGEPAGE */

#include "backend/opencl/runtime/resident.h"

#include <string.h>

#include <sys/mman.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "runtime/slots.h"

/* The number of a buffer is the address of this. */
typedef struct resident {
    cl_mem memory;
    uint64_t offset, size; /* offset: of a range, in its buffer */
    uint8_t *host;         /* where the buffer lies in the host's memory, or NULL */
    void *block;           /* that memory, if it is to be freed */
    bool is_range;
} resident;

static resident *resident_of(uint64_t buffer) {
    return (resident *)(uintptr_t)buffer;
}

static vyre_status make(const resident *buffer, uint64_t *out_buffer) {
    resident *made = vyre_alloc(sizeof *made);
    *out_buffer = (uintptr_t)made;
    if (!made) {
        return vyre_no_memory("to track a resident buffer");
    }
    *made = *buffer;
    return VYRE_OK;
}

/* A CPU works in memory of the host, which starts as zeros. A large buffer begins where a huge page
 * does, so that few entries of the CPU's tables cover it. */
static vyre_status make_memory(opencl_device *device, size_t size, resident *out) {
    enum { LINE = 128, HUGE_PAGE = 2 << 20, HUGE_BYTES = 4 << 20 };
    *out = (resident){.size = size};
    if (!device->info.is_cpu) {
        VYRE_TRY(opencl_memory_make(device, size, NULL, &out->memory));
        return opencl_memory_zero(device, out->memory, 0, size);
    }
    size_t alignment = size >= HUGE_BYTES ? HUGE_PAGE : LINE;
    out->block = size <= SIZE_MAX - 2 * alignment ? vyre_alloc(size + 2 * alignment) : NULL;
    if (!out->block) {
        return vyre_no_memory("for a resident buffer of %zu bytes", size);
    }
    out->host = (uint8_t *)out->block + (alignment - (uintptr_t)out->block % alignment);
    if (size >=
        HUGE_BYTES) { /* before the first touch; only advice, no matter if it is not taken */
        madvise(out->host, size, MADV_HUGEPAGE);
    }
    memset(out->host, 0, size);
    return opencl_memory_make(device, size ? size : LINE, out->host, &out->memory);
}

vyre_status opencl_resident_allocate(opencl_device *device, size_t size, uint64_t *out_buffer) {
    resident made;
    *out_buffer = 0;
    VYRE_TRY(opencl_check_lost(device));
    vyre_status status = make_memory(device, size, &made);
    status = status ? status : make(&made, out_buffer);
    if (status) {
        opencl_memory_free(device, made.memory);
        vyre_free(made.block);
    }
    return status;
}

vyre_status opencl_resident_import(opencl_device *device, const vyre_memory *memory,
                                   uint64_t *out_buffer) {
    resident made = {.size = memory->size, .host = (uint8_t *)(uintptr_t)memory->address};
    *out_buffer = 0;
    VYRE_TRY(opencl_check_lost(device));
    if (memory->place != VYRE_MEMORY_HOST || !device->info.is_cpu) {
        return vyre_status_make(
            VYRE_STATUS_UNSUPPORTED, "allocate a resident buffer and upload the data",
            "%s cannot use the %zu bytes at address %#llx where they are: %s",
            device->info.found.name, memory->size, (unsigned long long)memory->address,
            device->info.is_cpu ? "it takes memory of the host" : "it has memory of its own");
    }
    VYRE_TRY(opencl_memory_make(device, made.size, made.size ? made.host : NULL, &made.memory));
    vyre_status status = make(&made, out_buffer);
    if (status) {
        opencl_memory_free(device, made.memory);
    }
    return status;
}

vyre_memory opencl_resident_memory(uint64_t buffer) {
    const resident *self = resident_of(buffer);
    return (vyre_memory){
        .address = (uintptr_t)self->host,
        .size = (size_t)self->size,
        .place = self->host ? VYRE_MEMORY_HOST : 0,
    };
}

vyre_status opencl_resident_range(uint64_t buffer, size_t offset, size_t size,
                                  uint64_t *out_buffer) {
    const resident *root = resident_of(buffer);
    const resident part = {.memory = root->memory,
                           .offset = root->offset + offset,
                           .size = size,
                           .host = root->host ? root->host + offset : NULL,
                           .is_range = true};
    return make(&part, out_buffer);
}

void opencl_resident_free(opencl_device *device, uint64_t buffer) {
    resident *self = resident_of(buffer);
    if (!self->is_range) {
        opencl_memory_free(device, self->memory);
        vyre_free(self->block);
    }
    vyre_free(self);
}

vyre_status opencl_resident_upload(opencl_device *device, uint64_t buffer, size_t offset,
                                   const void *data, size_t size) {
    const resident *self = resident_of(buffer);
    VYRE_TRY(opencl_check_lost(device));
    cl_int result =
        size ? device->cl->clEnqueueWriteBuffer(device->queue, self->memory, CL_TRUE,
                                                self->offset + offset, size, data, 0, NULL, NULL)
             : CL_SUCCESS;
    return opencl_check(device, result, "uploading %zu bytes", size);
}

vyre_status opencl_resident_read(opencl_device *device, uint64_t buffer, size_t offset, void *data,
                                 size_t size) {
    const resident *self = resident_of(buffer);
    VYRE_TRY(opencl_check_lost(device));
    cl_int result =
        size ? device->cl->clEnqueueReadBuffer(device->queue, self->memory, CL_TRUE,
                                               self->offset + offset, size, data, 0, NULL, NULL)
             : CL_SUCCESS;
    return opencl_check(device, result, "reading %zu bytes", size);
}

/* What lies in the host's memory is there when a call returns. */
static vyre_status settle_memory(opencl_device *device, const resident *self, cl_int result,
                                 const char *verb, size_t size) {
    result = result || !self->host ? result : device->cl->clFinish(device->queue);
    return opencl_check(device, result, "%s %zu bytes", verb, size);
}

vyre_status opencl_resident_copy(opencl_device *device, uint64_t to, size_t to_offset,
                                 uint64_t from, size_t from_offset, size_t size) {
    const resident *target = resident_of(to), *source = resident_of(from);
    VYRE_TRY(opencl_check_lost(device));
    cl_int result =
        size ? device->cl->clEnqueueCopyBuffer(device->queue, source->memory, target->memory,
                                               source->offset + from_offset,
                                               target->offset + to_offset, size, 0, NULL, NULL)
             : CL_SUCCESS;
    return settle_memory(device, target, result, "copying", size);
}

vyre_status opencl_resident_fill(opencl_device *device, uint64_t buffer, size_t offset, size_t size,
                                 const void *pattern, size_t pattern_size) {
    const resident *self = resident_of(buffer);
    uint64_t at = self->offset + offset;
    uint8_t *bytes = NULL;
    cl_int result = CL_SUCCESS;
    VYRE_TRY(opencl_check_lost(device));
    if (!size) {
        return VYRE_OK;
    }
    if (at % pattern_size == 0) {
        result = device->cl->clEnqueueFillBuffer(device->queue, self->memory, pattern, pattern_size,
                                                 (size_t)at, size, 0, NULL, NULL);
        return settle_memory(device, self, result, "filling", size);
    }
    bytes = vyre_alloc(size); /* the pattern starts somewhere else than the driver allows */
    if (!bytes) {
        return vyre_no_memory("to fill %zu bytes", size);
    }
    for (size_t i = 0; i < size; i++) {
        bytes[i] = ((const uint8_t *)pattern)[i % pattern_size];
    }
    vyre_status status = opencl_resident_upload(device, buffer, offset, bytes, size);
    vyre_free(bytes);
    return status;
}

/* Runs */

static void find_places(const vyre_call *call, const uint64_t *buffers, opencl_place *out) {
    for (size_t i = 0; i < call->argument_count; i++) {
        const resident *self = buffers[i] ? resident_of(buffers[i]) : NULL;
        out[i] = self ? (opencl_place){self->memory, self->offset} : (opencl_place){0};
    }
}

vyre_status opencl_resident_run(opencl_executable *executable, const vyre_call *call,
                                const uint64_t *buffers, vyre_timing *out_timing) {
    uint64_t begin = vyre_now_ns(), device_ns = VYRE_NO_TIME;
    opencl_place places[VYRE_LIMIT_ARGUMENTS];
    const opencl_finish finish = {.device_ns = out_timing ? &device_ns : NULL};
    VYRE_TRY(opencl_check_lost(executable->device));
    find_places(call, buffers, places);
    vyre_status status = opencl_run(executable, call, places, &finish);
    if (out_timing) {
        *out_timing = vyre_wall_time(begin);
        out_timing->device_ns = device_ns;
    }
    return status;
}

/* Remembers what went wrong with a run, of the last thousand that failed; in the lock. */
static void keep_failure(opencl_device *device, uint64_t number, vyre_status status) {
    enum { MOST_FAILURES = 1000 };
    if (device->failures.count == MOST_FAILURES) {
        vyre_status_free(device->failures.items[0].status);
        device->failures.count--;
        memmove(device->failures.items, device->failures.items + 1,
                device->failures.count * sizeof *device->failures.items);
    }
    if (!vyre_vec_push(&device->failures, (opencl_failure){number, status})) {
        vyre_status_free(status);
    }
}

/* How far the run of a ticket is: CL_COMPLETE, more than that, or an error. */
static cl_int state_of(const opencl_device *device, const opencl_ticket *ticket) {
    cl_int state = CL_COMPLETE;
    cl_int result =
        ticket->event ? device->cl->clGetEventInfo(ticket->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                                   sizeof state, &state, NULL)
                      : CL_SUCCESS;
    return result ? result : state;
}

/* Drops tickets from the front that are done; in the lock. */
static void settle(opencl_device *device) {
    size_t done = 0;
    for (; done < device->tickets.count; done++) {
        const opencl_ticket *ticket = &device->tickets.items[done];
        cl_int state = state_of(device, ticket);
        if (state > CL_COMPLETE) {
            break;
        }
        if (state < 0) {
            keep_failure(device, ticket->number,
                         opencl_check(device, state, "running what was enqueued"));
        }
        device->last_done = ticket->number;
        if (ticket->event) {
            device->cl->clReleaseEvent(ticket->event);
        }
    }
    if (done) {
        device->tickets.count -= done;
        memmove(device->tickets.items, device->tickets.items + done,
                device->tickets.count * sizeof *device->tickets.items);
    }
}

/* `status` is what went wrong with a run that is over; it is taken over. */
static vyre_status add_ticket(opencl_device *device, cl_event event, vyre_status status,
                              uint64_t *out_ticket) {
    pthread_mutex_lock(&device->lock);
    settle(device);
    *out_ticket = device->last_ticket + 1;
    bool added = vyre_vec_push(&device->tickets, (opencl_ticket){*out_ticket, event});
    device->last_ticket += added;
    if (status && added) {
        keep_failure(device, *out_ticket, status);
    }
    settle(device);
    pthread_mutex_unlock(&device->lock);
    if (!added) {
        vyre_status_free(status);
    }
    return added ? VYRE_OK : vyre_no_memory("to enqueue a run");
}

vyre_status opencl_resident_enqueue(opencl_executable *executable, const vyre_call *call,
                                    const uint64_t *buffers, uint64_t *out_ticket) {
    opencl_device *device = executable->device;
    opencl_place places[VYRE_LIMIT_ARGUMENTS];
    cl_event event = NULL;
    *out_ticket = 0;
    VYRE_TRY(opencl_check_lost(device));
    if (executable->reads_elements || call->config->timeout_ns) {
        return add_ticket(device, NULL, opencl_resident_run(executable, call, buffers, NULL),
                          out_ticket);
    }
    find_places(call, buffers, places);
    VYRE_TRY(opencl_run(executable, call, places, &(opencl_finish){.event = &event}));
    vyre_status status = add_ticket(device, event, VYRE_OK, out_ticket);
    if (status) {
        device->cl->clWaitForEvents(1, &event);
        device->cl->clReleaseEvent(event);
    }
    return status;
}

bool opencl_ticket_is_done(opencl_device *device, uint64_t ticket) {
    pthread_mutex_lock(&device->lock);
    settle(device);
    bool done = device->last_done >= ticket;
    pthread_mutex_unlock(&device->lock);
    return done;
}

/* A failure is told every time that somebody asks. */
static vyre_status copy_of(vyre_status status) {
    return vyre_status_make(vyre_status_code_of(status), vyre_status_fix(status), "%s",
                            vyre_status_message(status));
}

vyre_status opencl_ticket_wait(opencl_device *device, uint64_t ticket) {
    const opencl_table *cl = device->cl;
    cl_event event = NULL;
    vyre_status status = VYRE_OK;
    pthread_mutex_lock(&device->lock);
    settle(device);
    for (size_t i = 0; i < device->tickets.count && !event; i++) {
        if (device->tickets.items[i].number == ticket) {
            event = device->tickets.items[i].event;
            cl->clRetainEvent(event);
        }
    }
    pthread_mutex_unlock(&device->lock);
    if (event) {
        cl->clWaitForEvents(1, &event); /* what went wrong is told below */
        cl->clReleaseEvent(event);
    }
    pthread_mutex_lock(&device->lock);
    settle(device);
    for (size_t i = 0; i < device->failures.count && !status; i++) {
        if (device->failures.items[i].number == ticket) {
            status = copy_of(device->failures.items[i].status);
        }
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}
