#include "backend/cuda/runtime/resident.h"

#include <string.h>

#include "backend/cuda/runtime/dispatch.h"
#include "backend/cuda/runtime/run.h"
#include "backend/cuda/runtime/transfer.h"
#include "base/alloc.h"
#include "base/status.h"

typedef struct cuda_resident {
    cuda_block *block;
    struct cuda_resident *next, *previous;       /* of the device */
    atomic_ullong used[CUDA_SHARED_STREAMS + 1]; /* by stream: ticket of the last run that has it */
    atomic_ullong written;                       /* ticket of the last one that writes it */
} resident;

/* Tickets by stream that something has to wait for. */
typedef struct needs {
    uint64_t tickets[CUDA_SHARED_STREAMS + 1];
} needs;

static resident *resident_of(uint64_t buffer) {
    return (resident *)(uintptr_t)buffer;
}

static void need(needs *all, uint64_t ticket) {
    uint64_t *own = &all->tickets[cuda_ticket_stream(ticket)];
    *own = *own > ticket ? *own : ticket;
}

/* Who writes waits for all others, who reads for the one that wrote. */
static void need_buffer(needs *all, const resident *buffer, bool writes) {
    if (!writes) {
        need(all, atomic_load(&buffer->written));
        return;
    }
    for (int i = 0; i <= CUDA_SHARED_STREAMS; i++) {
        need(all, atomic_load(&buffer->used[i]));
    }
}

/* Waits on the host. What went wrong with a run of the queue is told to those who ask for it. */
static vyre_status settle(cuda_device *device, const needs *all) {
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < CUDA_SHARED_STREAMS && !status; i++) {
        status = cuda_stream_settle(&device->streams.shared[i], all->tickets[i]);
    }
    cuda_queue_settle(&device->ordered, all->tickets[CUDA_BY_HOST]);
    return status;
}

/* A stream of one's own, behind what a buffer waits for; to be ended by end_transfer. */
static vyre_status begin_transfer(cuda_device *device, const needs *all, CUcontext *out_before,
                                  cuda_stream **out_stream) {
    *out_stream = NULL;
    VYRE_TRY(cuda_check_lost(device));
    VYRE_TRY(cuda_device_enter(device, out_before));
    vyre_status status = settle(device, all);
    status = status ? status : cuda_stream_take(device, out_stream);
    if (status) {
        cuda_device_leave(device, *out_before);
    }
    return status;
}

static vyre_status end_transfer(cuda_stream *stream, CUcontext before, vyre_status status) {
    cuda_device *device = stream->device;
    status = cuda_stream_finish(stream, status);
    cuda_stream_give(stream);
    cuda_device_leave(device, before);
    return status;
}

vyre_status cuda_resident_allocate(cuda_device *device, size_t size, uint64_t *out_buffer) {
    *out_buffer = 0;
    CUcontext before;
    cuda_stream *stream;
    resident *made = vyre_alloc_zeroed(1, sizeof *made);
    if (!made) {
        return vyre_no_memory("on the host for a resident buffer");
    }
    vyre_status status = begin_transfer(device, &(needs){0}, &before, &stream);
    if (!status) {
        status = cuda_memory_take(device, size, &made->block);
        if (!status && size) {
            status = cuda_check(
                device,
                device->cuda->cuMemsetD8Async(made->block->address, 0, size, stream->handle),
                "clearing %zu bytes", size);
        }
        status = end_transfer(stream, before, status);
    }
    if (status) {
        cuda_memory_give(device, made->block);
        vyre_free(made);
        return status;
    }
    pthread_mutex_lock(&device->lock);
    made->next = device->residents;
    if (made->next) {
        made->next->previous = made;
    }
    device->residents = made;
    pthread_mutex_unlock(&device->lock);
    *out_buffer = (uintptr_t)made;
    return VYRE_OK;
}

static void drop(cuda_device *device, resident *buffer) {
    pthread_mutex_lock(&device->lock);
    *(buffer->previous ? &buffer->previous->next : &device->residents) = buffer->next;
    if (buffer->next) {
        buffer->next->previous = buffer->previous;
    }
    pthread_mutex_unlock(&device->lock);
    cuda_memory_give(device, buffer->block);
    vyre_free(buffer);
}

void cuda_residents_drop(cuda_device *device) {
    while (device->residents) { /* nobody else is here any more */
        drop(device, device->residents);
    }
}

vyre_status cuda_resident_upload(cuda_device *device, uint64_t buffer, size_t offset,
                                 const void *data, size_t size) {
    needs all = {0};
    CUcontext before;
    cuda_stream *stream;
    need_buffer(&all, resident_of(buffer), true);
    vyre_status status = begin_transfer(device, &all, &before, &stream);
    if (!status) {
        status = cuda_upload(stream, resident_of(buffer)->block->address + offset, data, size);
        status = end_transfer(stream, before, status);
    }
    return status;
}

vyre_status cuda_resident_read(cuda_device *device, uint64_t buffer, size_t offset, void *data,
                               size_t size) {
    needs all = {0};
    CUcontext before;
    cuda_stream *stream;
    need_buffer(&all, resident_of(buffer), false);
    vyre_status status = begin_transfer(device, &all, &before, &stream);
    if (!status) {
        status = cuda_download(stream, data, resident_of(buffer)->block->address + offset, size);
        status = end_transfer(stream, before, status);
    }
    return status;
}

vyre_status cuda_resident_free(cuda_device *device, uint64_t buffer) {
    CUcontext before = NULL;
    vyre_status status =
        atomic_load(&device->is_lost) ? VYRE_OK : cuda_device_enter(device, &before);
    if (!status) {
        drop(device, resident_of(buffer));
        cuda_device_leave(device, before);
    }
    return status;
}

static bool is_writing(const vyre_ir *ir, uint32_t row) {
    return ir->resources[row].access != VYRE_ACCESS_IN;
}

/* Addresses by resource, and what the run waits for. */
static needs look_at(const vyre_ir *ir, const uint64_t *buffers, CUdeviceptr *out_addresses) {
    needs all = {0};
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t row = ir->args[arg].resource;
        if (row != VYRE_NONE) {
            out_addresses[row] = resident_of(buffers[arg])->block->address;
            need_buffer(&all, resident_of(buffers[arg]), is_writing(ir, row));
        }
    }
    return all;
}

static void raise_ticket(atomic_ullong *number, uint64_t ticket) {
    unsigned long long before = atomic_load(number);
    while (before < ticket && !atomic_compare_exchange_weak(number, &before, ticket)) {
    }
}

/* For a shared stream in its lock, in which its tickets only grow. */
static void remember(const vyre_ir *ir, const uint64_t *buffers, uint64_t ticket) {
    uint32_t stream = cuda_ticket_stream(ticket);
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t row = ir->args[arg].resource;
        if (row == VYRE_NONE) {
            continue;
        }
        resident *buffer = resident_of(buffers[arg]);
        if (stream == CUDA_BY_HOST) {
            raise_ticket(&buffer->used[stream], ticket);
        } else {
            atomic_store_explicit(&buffer->used[stream], ticket, memory_order_release);
        }
        if (is_writing(ir, row)) { /* the host lets nobody else at it meanwhile */
            atomic_store_explicit(&buffer->written, ticket, memory_order_release);
        }
    }
}

vyre_status cuda_resident_run(cuda_executable *executable, const vyre_call *call,
                              const uint64_t *buffers, vyre_timing *out_timing) {
    cuda_device *device = executable->device;
    CUdeviceptr addresses[VYRE_LIMIT_ARGUMENTS];
    needs all = look_at(executable->codes[0].ir, buffers, addresses);
    CUcontext before;
    VYRE_TRY(cuda_check_lost(device));
    VYRE_TRY(cuda_device_enter(device, &before));
    vyre_status status = settle(device, &all);
    status = status ? status : cuda_dispatch_on(executable, call, addresses, out_timing);
    cuda_device_leave(device, before);
    return status;
}

/* A run of the ordered queue. */
typedef struct ordered_job {
    cuda_job job;
    cuda_executable *executable;
    vyre_call *call;
    needs before;
    CUdeviceptr addresses[];
} ordered_job;

static vyre_status ordered_run(cuda_job *job) {
    ordered_job *own = (ordered_job *)(void *)job;
    cuda_device *device = own->executable->device;
    CUcontext before;
    vyre_timing timing;
    vyre_status status = cuda_check_lost(device);
    status = status ? status : cuda_device_enter(device, &before);
    if (!status) {
        status = settle(device, &own->before);
        status =
            status ? status : cuda_dispatch_on(own->executable, own->call, own->addresses, &timing);
        cuda_device_leave(device, before);
    }
    cuda_executable_release(own->executable); /* a failure is remembered without it */
    own->executable = NULL;
    return status;
}

static void ordered_free(cuda_job *job) {
    ordered_job *own = (ordered_job *)(void *)job;
    cuda_executable_release(own->executable);
    vyre_status_free(job->status);
    vyre_free(own);
}

static uint64_t next_by_host(void *device) {
    return cuda_stream_next_ticket(device, CUDA_BY_HOST);
}

static vyre_status enqueue_by_host(cuda_executable *executable, const vyre_call *call,
                                   const needs *all, const CUdeviceptr *addresses,
                                   uint64_t *out_ticket) {
    vyre_call *copy;
    size_t count = executable->codes[0].ir->arg_count;
    ordered_job *job = cuda_call_copy(call, sizeof *job + count * sizeof *addresses, &copy);
    if (!job) {
        return vyre_no_memory("to enqueue a run of `%s`",
                              vyre_program_name(executable->codes[0].program));
    }
    *job = (ordered_job){.job = {.run = ordered_run, .free = ordered_free},
                         .executable = cuda_executable_retain(executable),
                         .call = copy,
                         .before = *all};
    job->before.tickets[CUDA_BY_HOST] = 0; /* the queue keeps its own order */
    for (size_t i = 0; i < count; i++) {
        job->addresses[i] = addresses[i];
    }
    *out_ticket = cuda_queue_enqueue(&executable->device->ordered, &job->job, next_by_host,
                                     executable->device);
    return VYRE_OK;
}

/* The stream that the buffers were on last; a new one for new buffers. */
static uint32_t choose_stream(cuda_device *device, const needs *all, const vyre_ir *ir,
                              const uint64_t *buffers) {
    uint64_t last = 0;
    for (uint32_t i = 0; i < CUDA_SHARED_STREAMS; i++) {
        last = all->tickets[i] > last ? all->tickets[i] : last;
    }
    for (uint32_t arg = 0; arg < ir->arg_count && !last; arg++) {
        for (uint32_t i = 0; ir->args[arg].resource != VYRE_NONE && i < CUDA_SHARED_STREAMS; i++) {
            uint64_t used = atomic_load(&resident_of(buffers[arg])->used[i]);
            last = used > last ? used : last;
        }
    }
    return last ? cuda_ticket_stream(last)
                : atomic_fetch_add(&device->streams.next_shared, 1) % CUDA_SHARED_STREAMS;
}

/* Lets the stream wait for the others as far as they are not done. */
static vyre_status follow(cuda_stream *stream, cuda_device *device, const needs *all) {
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < CUDA_SHARED_STREAMS && !status; i++) {
        cuda_stream *other = &device->streams.shared[i];
        if (other != stream && all->tickets[i] > atomic_load(&other->completed)) {
            status = cuda_stream_follow(stream, other);
        }
    }
    return status;
}

/* Counters of the code for a shared stream, made with its first run there. */
static vyre_status find_counters(cuda_code *code, cuda_stream *stream, uint32_t index) {
    cuda_device *device = stream->device;
    if (!code->has_counters || code->counters[index]) {
        return VYRE_OK;
    }
    uint64_t bytes = cuda_counter_bytes(code);
    VYRE_TRY(cuda_memory_take(device, bytes, &code->counters[index]));
    return cuda_check(device,
                      device->cuda->cuMemsetD8Async(code->counters[index]->address, 0,
                                                    (size_t)bytes, stream->handle),
                      "clearing counters");
}

static vyre_status put(cuda_code *code, const vyre_call *call, cuda_stream *stream, uint32_t index,
                       const CUdeviceptr *addresses) {
    cuda_run run;
    VYRE_TRY(cuda_run_init(&run, stream, code, call, NULL));
    for (uint32_t i = 0; i < code->ir->arg_count; i++) {
        if (code->ir->args[i].resource != VYRE_NONE) {
            cuda_run_set_array(&run, code->ir->args[i].resource,
                               addresses[code->ir->args[i].resource]);
        }
    }
    vyre_status status = find_counters(code, stream, index);
    if (!status && code->has_counters) {
        cuda_run_set_counters(&run, code->counters[index]->address);
    }
    status = status ? status : cuda_run_put(&run);
    cuda_run_deinit(&run, true);
    return status;
}

static bool is_kept(const cuda_kept_launch *kept, const vyre_ir *ir, const vyre_call *call,
                    const CUdeviceptr *addresses) {
    bool same = kept->is_set;
    for (uint32_t i = 0; i < ir->arg_count && same; i++) {
        uint32_t row = ir->args[i].resource;
        same = kept->arguments[i] == call->arguments[i] &&
               (row == VYRE_NONE || kept->addresses[row] == addresses[row]);
    }
    return same;
}

/* A program that is one launch: as the last time, where it is the same. */
static vyre_status put_one(cuda_code *code, const vyre_call *call, cuda_stream *stream,
                           uint32_t index, const CUdeviceptr *addresses) {
    cuda_device *device = stream->device;
    cuda_kept_launch *kept = &code->kept[index];
    if (is_kept(kept, code->ir, call, addresses)) {
        const cuda_phase *phase = &code->phases[0];
        void *parameters[] = {kept->frame};
        CUresult result = device->cuda->cuLaunchKernel(
            phase->function, kept->grid[0], kept->grid[1], kept->grid[2], phase->info.threads, 1, 1,
            phase->info.dynamic_bytes, stream->handle, parameters, NULL);
        return result
                   ? cuda_check(device, result, "starting `%s`", vyre_program_name(code->program))
                   : VYRE_OK;
    }
    cuda_run run;
    kept->is_set = false;
    vyre_status status = cuda_run_init(&run, stream, code, call, NULL);
    for (uint32_t i = 0; i < code->ir->arg_count && !status; i++) {
        uint32_t row = code->ir->args[i].resource;
        kept->arguments[i] = call->arguments[i];
        if (row != VYRE_NONE) {
            kept->addresses[row] = addresses[row];
            cuda_run_set_array(&run, row, addresses[row]);
        }
    }
    if (!status) {
        status = cuda_run_put(&run);
        kept->is_set = !status && run.grid[0];
        memcpy(kept->frame, run.frame, code->layout.bytes);
        memcpy(kept->grid, run.grid, sizeof kept->grid);
        cuda_run_deinit(&run, true);
    }
    return status;
}

static vyre_status put_all(cuda_executable *executable, cuda_code *code, const vyre_call *call,
                           cuda_stream *stream, uint32_t index, const CUdeviceptr *addresses,
                           uint64_t ticket) {
    const uint64_t *grid = call->config->grid;
    if (code->is_one_launch && !grid[0] && !grid[1] && !grid[2]) {
        return put_one(code, call, stream, index, addresses);
    }
    return cuda_replay_is_worth(code, call)
               ? cuda_replay_run(executable, code, call, stream, addresses, ticket)
               : put(code, call, stream, index, addresses);
}

static vyre_status enqueue_on_stream(cuda_executable *executable, cuda_code *code,
                                     const vyre_call *call, const uint64_t *buffers,
                                     const needs *all, const CUdeviceptr *addresses,
                                     uint64_t *out_ticket) {
    cuda_device *device = executable->device;
    uint32_t index = choose_stream(device, all, executable->codes[0].ir, buffers);
    cuda_stream *stream = &device->streams.shared[index];
    CUcontext before;
    VYRE_TRY(cuda_device_enter(device, &before));
    pthread_mutex_lock(&stream->lock);
    uint64_t ticket = cuda_stream_next_ticket(device, index);
    vyre_status status = follow(stream, device, all);
    if (!status) {
        status = put_all(executable, code, call, stream, index, addresses, ticket);
        atomic_store_explicit(&executable->last[index], ticket, memory_order_release);
        cuda_stream_submitted(stream, ticket);
        if (status && !atomic_load(&device->is_lost)) { /* a part of it may be under way */
            vyre_status_free(cuda_check(device, device->cuda->cuStreamSynchronize(stream->handle),
                                        "ending a run"));
        }
    }
    if (!status) {
        remember(executable->codes[0].ir, buffers, ticket);
        *out_ticket = ticket;
    }
    pthread_mutex_unlock(&stream->lock);
    cuda_device_leave(device, before);
    return status;
}

vyre_status cuda_resident_enqueue(cuda_executable *executable, const vyre_call *call,
                                  const uint64_t *buffers, uint64_t *out_ticket) {
    cuda_device *device = executable->device;
    const vyre_ir *ir = executable->codes[0].ir;
    CUdeviceptr addresses[VYRE_LIMIT_ARGUMENTS];
    vyre_plan plan;
    vyre_call own;
    cuda_code *code;
    const vyre_call *chosen;
    *out_ticket = 0;
    vyre_status status = cuda_check_lost(device);
    status = status ? status : cuda_run_choose(executable, call, &plan, &own, &code, &chosen);
    if (status) {
        return status;
    }
    needs all = look_at(ir, buffers, addresses);
    bool by_host = code->has_while || call->config->timeout_ns ||
                   !cuda_queue_is_done(&device->ordered, all.tickets[CUDA_BY_HOST]);
    if (by_host) {
        status = enqueue_by_host(executable, call, &all, addresses, out_ticket);
        if (!status) {
            remember(ir, buffers, *out_ticket);
        }
    } else {
        status = enqueue_on_stream(executable, code, chosen, buffers, &all, addresses, out_ticket);
    }
    if (chosen != call) {
        vyre_plan_deinit(&plan);
    }
    return status;
}

bool cuda_ticket_is_done(cuda_device *device, uint64_t ticket) {
    uint32_t stream = cuda_ticket_stream(ticket);
    if (stream == CUDA_BY_HOST) {
        return cuda_queue_is_done(&device->ordered, ticket);
    }
    if (atomic_load(&device->streams.shared[stream].completed) >= ticket) {
        return true;
    }
    CUcontext before;
    vyre_status status = cuda_device_enter(device, &before);
    bool done = status || cuda_stream_is_done(&device->streams.shared[stream], ticket);
    if (!status) {
        cuda_device_leave(device, before);
    }
    vyre_status_free(status);
    return done;
}

vyre_status cuda_ticket_wait(cuda_device *device, uint64_t ticket) {
    uint32_t stream = cuda_ticket_stream(ticket);
    if (stream == CUDA_BY_HOST) {
        cuda_queue_settle(&device->ordered, ticket);
        return cuda_queue_failure(&device->ordered, ticket);
    }
    if (cuda_stream_was_lost(device, ticket)) {
        return vyre_status_make(VYRE_STATUS_DEVICE_LOST, "enqueue it again",
                                "the run was lost together with the memory of %s",
                                device->info.name);
    }
    CUcontext before;
    vyre_status status = cuda_device_enter(device, &before);
    if (!status) {
        status = cuda_stream_settle(&device->streams.shared[stream], ticket);
        cuda_device_leave(device, before);
    }
    return status;
}
