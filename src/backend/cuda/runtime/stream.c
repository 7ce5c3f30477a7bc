#define _GNU_SOURCE /* sched_yield with -std=c17 */

#include "backend/cuda/runtime/stream.h"

#include <sched.h>
#include <string.h>

#include "backend/cuda/codegen/emit.h"
#include "backend/cuda/runtime/device.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"

enum { WORD_AT = 64, WORDS_AT = 128, HOST_BYTES = WORDS_AT + CUDA_WORDS_BYTES };

void cuda_streams_init(cuda_streams *streams) {
    memset(streams, 0, sizeof *streams);
    pthread_mutex_init(&streams->lock, NULL);
    pthread_cond_init(&streams->given_back, NULL);
    for (int i = 0; i < CUDA_SHARED_STREAMS; i++) {
        pthread_mutex_init(&streams->shared[i].lock, NULL);
        pthread_mutex_init(&streams->shared[i].marks, NULL);
    }
}

void cuda_streams_deinit(cuda_streams *streams) {
    for (int i = 0; i < CUDA_SHARED_STREAMS; i++) {
        pthread_mutex_destroy(&streams->shared[i].lock);
        pthread_mutex_destroy(&streams->shared[i].marks);
    }
    pthread_mutex_destroy(&streams->lock);
    pthread_cond_destroy(&streams->given_back);
}

/* The driver gives back what it gave; a context that is gone took all with it. */
static void destroy_event(cuda_device *device, CUevent *event) {
    if (*event && !atomic_load(&device->is_lost)) {
        vyre_status_free(
            cuda_check(device, device->cuda->cuEventDestroy(*event), "destroying an event"));
    }
    *event = NULL;
}

static void free_pages(cuda_device *device, void *pages) {
    if (pages && !atomic_load(&device->is_lost)) {
        vyre_status_free(
            cuda_check(device, device->cuda->cuMemFreeHost(pages), "freeing host memory"));
    }
}

/* Gives back what a stream holds; its stream has nothing to do. */
static void close_stream(cuda_stream *stream) {
    cuda_device *device = stream->device;
    if (!device) {
        return;
    }
    while (stream->scratch) {
        cuda_block *next = stream->scratch->next;
        cuda_memory_give(device, stream->scratch);
        stream->scratch = next;
    }
    cuda_memory_give(device, stream->frame);
    cuda_memory_give(device, stream->words);
    stream->frame = stream->words = NULL;
    destroy_event(device, &stream->mark);
    destroy_event(device, &stream->order);
    destroy_event(device, &stream->handover);
    destroy_event(device, &stream->begin);
    destroy_event(device, &stream->end);
    cuda_staging_free(device, &stream->staging);
    free_pages(device, stream->stop);
    stream->stop = NULL;
    if (stream->handle && !atomic_load(&device->is_lost)) {
        vyre_status_free(
            cuda_check(device, device->cuda->cuStreamDestroy(stream->handle), "ending a stream"));
    }
    stream->handle = NULL;
    stream->device = NULL;
}

/* The locks of a shared stream stay as they are. */
static vyre_status open_stream(cuda_device *device, cuda_stream *stream) {
    const cuda_table *cuda = device->cuda;
    void *pages = NULL;
    stream->device = device;
    stream->marked = 0;
    vyre_status status = cuda_check(
        device, cuda->cuStreamCreate(&stream->handle, CU_STREAM_NON_BLOCKING), "making a stream");
    if (!status) {
        status =
            cuda_check(device,
                       cuda->cuMemHostAlloc(&pages, HOST_BYTES,
                                            CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                       "allocating %d bytes of mapped host memory", HOST_BYTES);
    }
    if (!status) {
        memset(pages, 0, HOST_BYTES);
        stream->stop = pages;
        stream->word = (uint8_t *)pages + WORD_AT;
        status = cuda_check(device, cuda->cuMemHostGetDevicePointer(&stream->stop_at, pages, 0),
                            "asking for the device address of host memory");
    }
    status = status ? status : cuda_memory_take(device, CUDA_WORDS_BYTES, &stream->words);
    if (!status) {
        uint8_t *words = (uint8_t *)pages + WORDS_AT;
        memcpy(words + CUDA_STOP_AT + CUDA_STOP_HOST_AT, &stream->stop_at, sizeof stream->stop_at);
        CUresult result = cuda->cuMemcpyHtoDAsync(stream->words->address, words, CUDA_WORDS_BYTES,
                                                  stream->handle);
        result = result ? result : cuda->cuStreamSynchronize(stream->handle);
        status = cuda_check(device, result, "writing the words of a stream");
    }
    if (status) {
        close_stream(stream);
    }
    return status;
}

vyre_status cuda_stream_renew(cuda_stream *stream) {
    atomic_store(stream->stop, 0);
    return cuda_check(stream->device,
                      stream->device->cuda->cuMemsetD8Async(stream->words->address + CUDA_STOP_AT,
                                                            0, sizeof *stream->stop,
                                                            stream->handle),
                      "clearing a word of a stream");
}

static vyre_status make_event(cuda_device *device, CUevent *out_event) {
    return cuda_check(device, device->cuda->cuEventCreate(out_event, CU_EVENT_DISABLE_TIMING),
                      "making an event");
}

vyre_status cuda_streams_open(cuda_device *device) {
    cuda_streams *streams = &device->streams;
    vyre_status status = VYRE_OK;
    for (int i = 0; i < CUDA_SHARED_STREAMS && !status; i++) {
        cuda_stream *stream = &streams->shared[i];
        uint64_t last = atomic_load(&streams->last_number) * CUDA_STREAM_SLOTS + (unsigned)i;
        atomic_store(&stream->submitted, last);
        atomic_store(&stream->completed, last);
        status = open_stream(device, stream);
        status = status ? status : make_event(device, &stream->mark);
        status = status ? status : make_event(device, &stream->order);
    }
    if (status) {
        cuda_streams_close(device);
    }
    return status;
}

void cuda_streams_close(cuda_device *device) {
    cuda_streams *streams = &device->streams;
    if (atomic_load(&device->is_lost)) {
        streams->lost_ticket = (atomic_load(&streams->last_number) + 1) * CUDA_STREAM_SLOTS;
        for (int i = 0; i < CUDA_SHARED_STREAMS; i++) {
            streams->completed[i] = atomic_load(&streams->shared[i].completed);
        }
    }
    for (int i = 0; i < CUDA_SHARED_STREAMS; i++) {
        close_stream(&streams->shared[i]);
    }
    while (streams->free) {
        cuda_stream *stream = streams->free;
        streams->free = stream->next;
        close_stream(stream);
        vyre_free(stream);
        streams->own_count--;
    }
}

vyre_status cuda_stream_take(cuda_device *device, cuda_stream **out_stream) {
    cuda_streams *streams = &device->streams;
    pthread_mutex_lock(&streams->lock);
    while (!streams->free && streams->own_count == CUDA_OWN_STREAMS) {
        pthread_cond_wait(&streams->given_back, &streams->lock);
    }
    cuda_stream *stream = streams->free;
    if (stream) {
        streams->free = stream->next;
    } else {
        streams->own_count++;
    }
    pthread_mutex_unlock(&streams->lock);
    *out_stream = stream;
    if (stream) {
        return VYRE_OK;
    }
    stream = vyre_alloc_zeroed(1, sizeof *stream);
    vyre_status status = stream ? open_stream(device, stream) : vyre_no_memory("for a run");
    if (status) {
        vyre_free(stream);
        pthread_mutex_lock(&streams->lock);
        streams->own_count--;
        pthread_cond_signal(&streams->given_back);
        pthread_mutex_unlock(&streams->lock);
        return status;
    }
    *out_stream = stream;
    return VYRE_OK;
}

void cuda_stream_give(cuda_stream *stream) {
    if (!stream) {
        return;
    }
    cuda_streams *streams = &stream->device->streams;
    pthread_mutex_lock(&streams->lock);
    stream->next = streams->free;
    streams->free = stream;
    pthread_cond_signal(&streams->given_back);
    pthread_mutex_unlock(&streams->lock);
}

vyre_status cuda_stream_memory(cuda_stream *stream, uint64_t size, cuda_block **out_block) {
    uint64_t rounded = cuda_memory_round(size);
    cuda_block **at = &stream->scratch;
    while (*at && (*at)->size != rounded) {
        at = &(*at)->next;
    }
    *out_block = *at;
    if (*at) {
        *at = (*at)->next;
        return VYRE_OK;
    }
    return cuda_memory_take(stream->device, size, out_block);
}

void cuda_stream_memory_back(cuda_stream *stream, cuda_block *block) {
    block->next = stream->scratch;
    stream->scratch = block;
}

/* Kernels that were told to end look at it often; one that has not after this time never will. */
static const uint64_t grace_ns = UINT64_C(20000000000);

vyre_status cuda_stream_wait(cuda_stream *stream, uint64_t deadline_ns, const atomic_uint *cancel,
                             unsigned *out_stop) {
    cuda_device *device = stream->device;
    const cuda_table *cuda = device->cuda;
    *out_stop = 0;
    if (!deadline_ns && !cancel) {
        return cuda_check(device, cuda->cuStreamSynchronize(stream->handle), "waiting for a run");
    }
    uint64_t start = vyre_now_ns(), told = 0;
    for (;;) {
        CUresult result = cuda->cuStreamQuery(stream->handle);
        if (result != CUDA_ERROR_NOT_READY) {
            return cuda_check(device, result, "waiting for a run");
        }
        uint64_t now = vyre_now_ns();
        if (!told) {
            *out_stop = cancel && atomic_load(cancel)       ? CUDA_STOP_CANCEL
                        : deadline_ns && now >= deadline_ns ? CUDA_STOP_TIMEOUT
                                                            : 0;
            if (*out_stop) {
                atomic_store(stream->stop, *out_stop);
                told = now;
            }
        } else if (now - told > grace_ns) {
            atomic_store(&device->is_lost, true);
            return vyre_status_make(
                VYRE_STATUS_DEVICE_LOST, "restart the process; the device still runs it",
                "a kernel on %s was told to stop and did not", device->info.name);
        }
        if (now - start < 200000) {
            sched_yield();
        } else {
            const struct timespec nap = {0, 20000};
            nanosleep(&nap, NULL);
        }
    }
}

vyre_status cuda_stream_finish(cuda_stream *stream, vyre_status status) {
    unsigned stop;
    if (atomic_load(&stream->device->is_lost)) {
        return status;
    }
    vyre_status waited = cuda_stream_wait(stream, 0, NULL, &stop);
    if (!status) {
        return waited;
    }
    vyre_status_free(waited);
    return status;
}

uint64_t cuda_stream_next_ticket(cuda_device *device, uint32_t stream) {
    return (atomic_fetch_add(&device->streams.last_number, 1) + 1) * CUDA_STREAM_SLOTS + stream;
}

void cuda_stream_submitted(cuda_stream *stream, uint64_t ticket) {
    atomic_store_explicit(&stream->submitted, ticket, memory_order_release);
}

static void raise_completed(cuda_stream *stream, uint64_t ticket) {
    unsigned long long before = atomic_load(&stream->completed);
    while (before < ticket && !atomic_compare_exchange_weak(&stream->completed, &before, ticket)) {
    }
}

bool cuda_stream_is_done(cuda_stream *stream, uint64_t ticket) {
    if (atomic_load(&stream->completed) >= ticket) {
        return true;
    }
    cuda_device *device = stream->device;
    const cuda_table *cuda = device->cuda;
    pthread_mutex_lock(&stream->marks);
    /* A mark of before may be reached, and a new one may be so at once. */
    for (int i = 0; i < 2 && atomic_load(&stream->completed) < ticket; i++) {
        if (!stream->marked) {
            uint64_t last = atomic_load_explicit(&stream->submitted, memory_order_acquire);
            CUresult recorded = cuda->cuEventRecord(stream->mark, stream->handle);
            if (recorded) { /* a mark of before would say too much */
                vyre_status_free(cuda_check(device, recorded, "marking a run"));
                break;
            }
            stream->marked = last;
        }
        CUresult result = cuda->cuEventQuery(stream->mark);
        if (result == CUDA_ERROR_NOT_READY) {
            break;
        }
        vyre_status_free(cuda_check(device, result, "querying a run"));
        if (!result) {
            raise_completed(stream, stream->marked);
        }
        stream->marked = 0;
    }
    pthread_mutex_unlock(&stream->marks);
    return atomic_load(&stream->completed) >= ticket || atomic_load(&device->is_lost);
}

vyre_status cuda_stream_settle(cuda_stream *stream, uint64_t ticket) {
    if (atomic_load(&stream->completed) >= ticket) {
        return VYRE_OK;
    }
    cuda_device *device = stream->device;
    uint64_t last = atomic_load_explicit(&stream->submitted, memory_order_acquire);
    VYRE_TRY(cuda_check_lost(device));
    VYRE_TRY(
        cuda_check(device, device->cuda->cuStreamSynchronize(stream->handle), "waiting for a run"));
    raise_completed(stream, last);
    return VYRE_OK;
}

vyre_status cuda_stream_follow(cuda_stream *stream, cuda_stream *before) {
    cuda_device *device = stream->device;
    const cuda_table *cuda = device->cuda;
    VYRE_TRY(
        cuda_check(device, cuda->cuEventRecord(before->order, before->handle), "marking a stream"));
    return cuda_check(device, cuda->cuStreamWaitEvent(stream->handle, before->order, 0),
                      "making a stream wait");
}

/* A stream that does not belong to the device's context is the caller's error. */
static vyre_status check_caller(cuda_device *device, CUresult result, const char *what) {
    return result == CUDA_ERROR_INVALID_HANDLE
               ? vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                  "pass a CUstream of the device's primary context, as the CUDA "
                                  "runtime, PyTorch and CuPy use it",
                                  "the stream in the config is none of %s", device->info.name)
               : cuda_check(device, result, "%s", what);
}

static CUstream caller_of(uint64_t caller) {
    return (CUstream)(uintptr_t)caller;
}

vyre_status cuda_stream_follow_caller(cuda_stream *stream, uint64_t caller) {
    cuda_device *device = stream->device;
    const cuda_table *cuda = device->cuda;
    int is_capturing = 0;
    VYRE_TRY(check_caller(device, cuda->cuStreamIsCapturing(caller_of(caller), &is_capturing),
                          "asking for the state of the caller's stream"));
    if (is_capturing) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED, "run it before or after the capture",
                                "the stream in the config records a CUDA graph");
    }
    if (!stream->handover) {
        VYRE_TRY(make_event(device, &stream->handover));
    }
    VYRE_TRY(check_caller(device, cuda->cuEventRecord(stream->handover, caller_of(caller)),
                          "marking the caller's stream"));
    return cuda_check(device, cuda->cuStreamWaitEvent(stream->handle, stream->handover, 0),
                      "making a stream wait");
}

vyre_status cuda_stream_lead_caller(cuda_stream *stream, uint64_t caller) {
    cuda_device *device = stream->device;
    const cuda_table *cuda = device->cuda;
    VYRE_TRY(cuda_check(device, cuda->cuEventRecord(stream->handover, stream->handle),
                        "marking a stream"));
    return check_caller(device, cuda->cuStreamWaitEvent(caller_of(caller), stream->handover, 0),
                        "making the caller's stream wait");
}

bool cuda_stream_was_lost(cuda_device *device, uint64_t ticket) {
    const cuda_streams *streams = &device->streams;
    uint32_t stream = cuda_ticket_stream(ticket);
    return stream < CUDA_SHARED_STREAMS && ticket < streams->lost_ticket &&
           ticket > streams->completed[stream];
}
