#include "backend/cuda/runtime/resident.h"

#include <string.h>

#include "backend/cuda/runtime/dispatch.h"
#include "backend/cuda/runtime/run.h"
#include "backend/cuda/runtime/transfer.h"
#include "base/alloc.h"
#include "base/status.h"

typedef struct cuda_resident {
    CUdeviceptr address;
    uint64_t size;
    cuda_block *block;                     /* NULL: the memory is the caller's or the root's */
    struct cuda_resident *root;            /* the buffer that a range is a part of; else itself */
    struct cuda_resident *next, *previous; /* in the device's list */
    /* Roots only, for all buffers that share their memory: */
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
    const resident *root = buffer->root;
    if (!writes) {
        need(all, atomic_load(&root->written));
        return;
    }
    for (int i = 0; i <= CUDA_SHARED_STREAMS; i++) {
        need(all, atomic_load(&root->used[i]));
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

/* Adds it to the device's list. */
static uint64_t keep(cuda_device *device, resident *made) {
    pthread_mutex_lock(&device->lock);
    made->next = device->residents;
    if (made->next) {
        made->next->previous = made;
    }
    device->residents = made;
    pthread_mutex_unlock(&device->lock);
    return (uintptr_t)made;
}

/* Makes a buffer from existing memory; `root` is NULL unless it is a range. */
static vyre_status borrow(cuda_device *device, CUdeviceptr address, uint64_t size, resident *root,
                          uint64_t *out_buffer) {
    resident *made = vyre_alloc_zeroed(1, sizeof *made);
    if (!made) {
        return vyre_no_memory("on the host for a resident buffer");
    }
    made->address = address;
    made->size = size;
    made->root = root ? root : made;
    *out_buffer = keep(device, made);
    return VYRE_OK;
}

static vyre_status take_cleared(cuda_device *device, size_t size, cuda_block **out_block) {
    CUcontext before;
    cuda_stream *stream;
    VYRE_TRY(begin_transfer(device, &(needs){0}, &before, &stream));
    vyre_status status = cuda_memory_take(device, size, out_block);
    if (!status && size) {
        status = cuda_check(
            device, device->cuda->cuMemsetD8Async((*out_block)->address, 0, size, stream->handle),
            "clearing %zu bytes", size);
    }
    return end_transfer(stream, before, status);
}

vyre_status cuda_resident_allocate(cuda_device *device, size_t size, uint64_t *out_buffer) {
    *out_buffer = 0;
    cuda_block *block = NULL;
    vyre_status status = take_cleared(device, size, &block);
    status = status ? status : borrow(device, block->address, size, NULL, out_buffer);
    if (status) {
        cuda_memory_give(device, block);
        return status;
    }
    resident_of(*out_buffer)->block = block;
    return VYRE_OK;
}

/* An attribute of an address; 0 if the driver does not know the address. */
static int ask(const cuda_device *device, int attribute, uint64_t address) {
    int value = 0;
    return device->cuda->cuPointerGetAttribute(&value, attribute, address) ? 0 : value;
}

static vyre_status refuse_memory(const cuda_device *device, const vyre_memory *memory, int type) {
    if (memory->place == VYRE_MEMORY_HOST && !type) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                "pin it (vyre_memory_pin), or allocate a resident buffer and "
                                "upload it",
                                "%s reaches only host memory that is pinned or managed, and the "
                                "%zu bytes at address %#llx are not",
                                device->info.name, memory->size,
                                (unsigned long long)memory->address);
    }
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                            type ? "import it on the device that it belongs to"
                                 : "pass an address that cuMemAlloc or cudaMalloc gave, and its "
                                   "size",
                            "the %zu bytes at address %#llx are not memory of %s", memory->size,
                            (unsigned long long)memory->address, device->info.name);
}

/* Finds the device address of the caller's memory. In the device's context. */
static vyre_status find_memory(cuda_device *device, const vyre_memory *memory,
                               CUdeviceptr *out_address) {
    uint64_t last = memory->address + memory->size - 1;
    int type = 0;
    CUresult result = device->cuda->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                          memory->address);
    if (result && result != CUDA_ERROR_INVALID_VALUE) {
        return cuda_check(device, result, "asking for the kind of memory");
    }
    bool is_managed = ask(device, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory->address);
    bool is_own =
        type != CU_MEMORYTYPE_DEVICE || is_managed ||
        ask(device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory->address) == (int)device->index;
    bool is_device_only = type == CU_MEMORYTYPE_DEVICE && !is_managed;
    if (!type || ask(device, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, last) != type || !is_own ||
        (memory->place == VYRE_MEMORY_HOST && is_device_only)) {
        return refuse_memory(device, memory, type);
    }
    return cuda_check(device,
                      device->cuda->cuPointerGetAttribute(
                          out_address, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, memory->address),
                      "asking for the device address of memory");
}

vyre_status cuda_resident_import(cuda_device *device, const vyre_memory *memory,
                                 uint64_t *out_buffer) {
    CUdeviceptr address = memory->address;
    CUcontext before;
    *out_buffer = 0;
    VYRE_TRY(cuda_check_lost(device));
    VYRE_TRY(cuda_device_enter(device, &before));
    vyre_status status = memory->size ? find_memory(device, memory, &address) : VYRE_OK;
    cuda_device_leave(device, before);
    return status ? status : borrow(device, address, memory->size, NULL, out_buffer);
}

vyre_status cuda_resident_range(cuda_device *device, uint64_t buffer, size_t offset, size_t size,
                                uint64_t *out_buffer) {
    resident *root = resident_of(buffer);
    *out_buffer = 0;
    return borrow(device, root->address + offset, size, root, out_buffer);
}

vyre_memory cuda_resident_memory(uint64_t buffer) {
    const resident *self = resident_of(buffer);
    return (vyre_memory){
        .address = self->address, .size = (size_t)self->size, .place = VYRE_MEMORY_DEVICE};
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
        status = cuda_upload(stream, resident_of(buffer)->address + offset, data, size);
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
        status = cuda_download(stream, data, resident_of(buffer)->address + offset, size);
        status = end_transfer(stream, before, status);
    }
    return status;
}

vyre_status cuda_resident_copy(cuda_device *device, uint64_t to, size_t to_offset, uint64_t from,
                               size_t from_offset, size_t size) {
    needs all = {0};
    CUcontext before;
    cuda_stream *stream;
    need_buffer(&all, resident_of(to), true);
    need_buffer(&all, resident_of(from), false);
    VYRE_TRY(begin_transfer(device, &all, &before, &stream));
    CUresult result = device->cuda->cuMemcpyDtoDAsync(resident_of(to)->address + to_offset,
                                                      resident_of(from)->address + from_offset,
                                                      size, stream->handle);
    return end_transfer(stream, before, cuda_check(device, result, "copying %zu bytes", size));
}

vyre_status cuda_resident_fill(cuda_device *device, uint64_t buffer, size_t offset, size_t size,
                               const void *pattern, size_t pattern_size) {
    needs all = {0};
    CUcontext before;
    cuda_stream *stream;
    need_buffer(&all, resident_of(buffer), true);
    VYRE_TRY(begin_transfer(device, &all, &before, &stream));
    return end_transfer(
        stream, before,
        cuda_fill(stream, resident_of(buffer)->address + offset, size, pattern, pattern_size));
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

/* Usual code accesses up to 16 bytes at once, so arrays must be aligned to that. */
enum { ARRAY_ALIGNMENT = 16 };

/* Addresses by resource, what the run waits for, and the code that takes these addresses. */
static vyre_status look_at(cuda_executable **executable, const uint64_t *buffers,
                           CUdeviceptr *out_addresses, needs *out_needs) {
    const vyre_ir *ir = (*executable)->codes[0].ir;
    CUdeviceptr odd = 0;
    *out_needs = (needs){0};
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t row = ir->args[arg].resource;
        if (row != VYRE_NONE) {
            const resident *buffer = resident_of(buffers[arg]);
            odd |= buffer->size ? buffer->address % ARRAY_ALIGNMENT : 0;
            out_addresses[row] = buffer->address;
            need_buffer(out_needs, buffer, is_writing(ir, row));
        }
    }
    return odd ? cuda_executable_general(*executable, executable) : VYRE_OK;
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
        resident *buffer = resident_of(buffers[arg])->root;
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
    needs all;
    CUcontext before;
    VYRE_TRY(cuda_check_lost(device));
    VYRE_TRY(look_at(&executable, buffers, addresses, &all));
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
            uint64_t used = atomic_load(&resident_of(buffers[arg])->root->used[i]);
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
    const vyre_dispatch_config *config = call->config;
    bool has_caller = config->flags & VYRE_DISPATCH_STREAM;
    vyre_status status = follow(stream, device, all);
    if (!status && has_caller) {
        status = cuda_stream_follow_caller(stream, config->stream);
    }
    if (!status) {
        status = put_all(executable, code, call, stream, index, addresses, ticket);
        status = status || !has_caller ? status : cuda_stream_lead_caller(stream, config->stream);
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
    needs all;
    VYRE_TRY(cuda_check_lost(device));
    VYRE_TRY(look_at(&executable, buffers, addresses, &all));
    VYRE_TRY(cuda_run_choose(executable, call, &plan, &own, &code, &chosen));
    bool by_host = code->has_while || call->config->timeout_ns ||
                   !cuda_queue_is_done(&device->ordered, all.tickets[CUDA_BY_HOST]);
    vyre_status status;
    if (by_host && call->config->flags & VYRE_DISPATCH_STREAM) {
        /* The caller's stream cannot wait for a run that is not on the device yet. */
        vyre_timing timing;
        status = cuda_resident_run(executable, call, buffers, &timing);
    } else if (by_host) {
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

/* Whether work of that ticket may be under way, and can be waited for. */
static bool was_given(cuda_device *device, uint64_t ticket) {
    uint32_t stream = cuda_ticket_stream(ticket);
    return stream == CUDA_BY_HOST
               ? cuda_queue_has_given(&device->ordered, ticket)
               : stream < CUDA_SHARED_STREAMS &&
                     ticket <= atomic_load(&device->streams.shared[stream].submitted);
}

bool cuda_ticket_is_done(cuda_device *device, uint64_t ticket) {
    uint32_t stream = cuda_ticket_stream(ticket);
    if (!was_given(device, ticket)) {
        return true;
    }
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
    if (!was_given(device, ticket)) {
        return vyre_status_make(
            VYRE_STATUS_INVALID_ARGUMENT, "wait for what vyre_pipeline_enqueue of this device gave",
            "%s never gave the ticket %llu", device->info.name, (unsigned long long)ticket);
    }
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
