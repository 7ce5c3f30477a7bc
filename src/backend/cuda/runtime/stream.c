#define _GNU_SOURCE /* sched_yield with -std=c17 */

#include "backend/cuda/runtime/stream.h"

#include <sched.h>
#include <string.h>

#include "backend/cuda/codegen/emit.h"
#include "backend/cuda/runtime/device.h"
#include "base/alloc.h"
#include "base/clock.h"

enum { WORD_AT = 64, WORDS_AT = 128, HOST_BYTES = WORDS_AT + CUDA_WORDS_BYTES };

void cuda_lanes_init(cuda_lanes *lanes) {
    memset(lanes, 0, sizeof *lanes);
    pthread_mutex_init(&lanes->lock, NULL);
    pthread_cond_init(&lanes->given_back, NULL);
    for (int i = 0; i < CUDA_SHARED_LANES; i++) {
        pthread_mutex_init(&lanes->shared[i].lock, NULL);
        pthread_mutex_init(&lanes->shared[i].marks, NULL);
    }
}

void cuda_lanes_deinit(cuda_lanes *lanes) {
    for (int i = 0; i < CUDA_SHARED_LANES; i++) {
        pthread_mutex_destroy(&lanes->shared[i].lock);
        pthread_mutex_destroy(&lanes->shared[i].marks);
    }
    pthread_mutex_destroy(&lanes->lock);
    pthread_cond_destroy(&lanes->given_back);
}

/* The driver gives back what it gave; a context that is gone took all with it. */
static void destroy_event(cuda_device *device, CUevent *event) {
    if (*event && !atomic_load(&device->is_lost)) {
        vyre_status_free(
            cuda_check(device, device->cuda->cuEventDestroy(*event), "ending an event"));
    }
    *event = NULL;
}

static void free_pages(cuda_device *device, void *pages) {
    if (pages && !atomic_load(&device->is_lost)) {
        vyre_status_free(
            cuda_check(device, device->cuda->cuMemFreeHost(pages), "freeing host memory"));
    }
}

/* Gives back what a lane holds; its stream has nothing to do. */
static void close_lane(cuda_lane *lane) {
    cuda_device *device = lane->device;
    if (!device) {
        return;
    }
    while (lane->scratch) {
        cuda_block *next = lane->scratch->next;
        cuda_memory_give(device, lane->scratch);
        lane->scratch = next;
    }
    cuda_memory_give(device, lane->frame);
    cuda_memory_give(device, lane->words);
    lane->frame = lane->words = NULL;
    destroy_event(device, &lane->mark);
    destroy_event(device, &lane->order);
    destroy_event(device, &lane->begin);
    destroy_event(device, &lane->end);
    for (int i = 0; i < CUDA_STAGES; i++) {
        destroy_event(device, &lane->staged[i]);
    }
    free_pages(device, lane->staging);
    free_pages(device, lane->stop);
    lane->staging = NULL;
    lane->stop = NULL;
    if (lane->stream && !atomic_load(&device->is_lost)) {
        vyre_status_free(
            cuda_check(device, device->cuda->cuStreamDestroy(lane->stream), "ending a stream"));
    }
    lane->stream = NULL;
    lane->device = NULL;
}

/* The locks of a shared lane stay as they are. */
static vyre_status open_lane(cuda_device *device, cuda_lane *lane) {
    const cuda_table *cuda = device->cuda;
    void *pages = NULL;
    lane->device = device;
    lane->marked = 0;
    vyre_status status = cuda_check(
        device, cuda->cuStreamCreate(&lane->stream, CU_STREAM_NON_BLOCKING), "making a stream");
    if (!status) {
        status =
            cuda_check(device,
                       cuda->cuMemHostAlloc(&pages, HOST_BYTES,
                                            CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                       "taking %d bytes of host memory that the device sees", HOST_BYTES);
    }
    if (!status) {
        memset(pages, 0, HOST_BYTES);
        lane->stop = pages;
        lane->word = (uint8_t *)pages + WORD_AT;
        status = cuda_check(device, cuda->cuMemHostGetDevicePointer(&lane->stop_at, pages, 0),
                            "asking where the device sees host memory");
    }
    status = status ? status : cuda_memory_take(device, CUDA_WORDS_BYTES, &lane->words);
    if (!status) {
        uint8_t *words = (uint8_t *)pages + WORDS_AT;
        memcpy(words + CUDA_STOP_AT + CUDA_STOP_HOST_AT, &lane->stop_at, sizeof lane->stop_at);
        CUresult result =
            cuda->cuMemcpyHtoDAsync(lane->words->address, words, CUDA_WORDS_BYTES, lane->stream);
        result = result ? result : cuda->cuStreamSynchronize(lane->stream);
        status = cuda_check(device, result, "writing the words of a lane");
    }
    if (status) {
        close_lane(lane);
    }
    return status;
}

vyre_status cuda_lane_renew(cuda_lane *lane) {
    atomic_store(lane->stop, 0);
    return cuda_check(lane->device,
                      lane->device->cuda->cuMemsetD8Async(lane->words->address + CUDA_STOP_AT, 0,
                                                          sizeof *lane->stop, lane->stream),
                      "clearing a word of a lane");
}

static vyre_status make_event(cuda_device *device, CUevent *out_event) {
    return cuda_check(device, device->cuda->cuEventCreate(out_event, CU_EVENT_DISABLE_TIMING),
                      "making an event");
}

vyre_status cuda_lanes_open(cuda_device *device) {
    cuda_lanes *lanes = &device->lanes;
    vyre_status status = VYRE_OK;
    for (int i = 0; i < CUDA_SHARED_LANES && !status; i++) {
        cuda_lane *lane = &lanes->shared[i];
        uint64_t last = atomic_load(&lanes->last_number) * CUDA_LANE_SLOTS + (unsigned)i;
        atomic_store(&lane->submitted, last);
        atomic_store(&lane->completed, last);
        status = open_lane(device, lane);
        status = status ? status : make_event(device, &lane->mark);
        status = status ? status : make_event(device, &lane->order);
    }
    if (status) {
        cuda_lanes_close(device);
    }
    return status;
}

void cuda_lanes_close(cuda_device *device) {
    cuda_lanes *lanes = &device->lanes;
    if (atomic_load(&device->is_lost)) {
        lanes->lost_ticket = (atomic_load(&lanes->last_number) + 1) * CUDA_LANE_SLOTS;
        for (int i = 0; i < CUDA_SHARED_LANES; i++) {
            lanes->completed[i] = atomic_load(&lanes->shared[i].completed);
        }
    }
    for (int i = 0; i < CUDA_SHARED_LANES; i++) {
        close_lane(&lanes->shared[i]);
    }
    while (lanes->free) {
        cuda_lane *lane = lanes->free;
        lanes->free = lane->next;
        close_lane(lane);
        vyre_free(lane);
        lanes->own_count--;
    }
}

vyre_status cuda_lane_take(cuda_device *device, cuda_lane **out_lane) {
    cuda_lanes *lanes = &device->lanes;
    pthread_mutex_lock(&lanes->lock);
    while (!lanes->free && lanes->own_count == CUDA_OWN_LANES) {
        pthread_cond_wait(&lanes->given_back, &lanes->lock);
    }
    cuda_lane *lane = lanes->free;
    if (lane) {
        lanes->free = lane->next;
    } else {
        lanes->own_count++;
    }
    pthread_mutex_unlock(&lanes->lock);
    *out_lane = lane;
    if (lane) {
        return VYRE_OK;
    }
    lane = vyre_alloc_zeroed(1, sizeof *lane);
    vyre_status status = lane
                             ? open_lane(device, lane)
                             : vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY,
                                                "free memory and try again", "no memory for a run");
    if (status) {
        vyre_free(lane);
        pthread_mutex_lock(&lanes->lock);
        lanes->own_count--;
        pthread_cond_signal(&lanes->given_back);
        pthread_mutex_unlock(&lanes->lock);
        return status;
    }
    *out_lane = lane;
    return VYRE_OK;
}

void cuda_lane_give(cuda_lane *lane) {
    if (!lane) {
        return;
    }
    cuda_lanes *lanes = &lane->device->lanes;
    pthread_mutex_lock(&lanes->lock);
    lane->next = lanes->free;
    lanes->free = lane;
    pthread_cond_signal(&lanes->given_back);
    pthread_mutex_unlock(&lanes->lock);
}

vyre_status cuda_lane_memory(cuda_lane *lane, uint64_t size, cuda_block **out_block) {
    uint64_t rounded = cuda_memory_round(size);
    cuda_block **at = &lane->scratch;
    while (*at && (*at)->size != rounded) {
        at = &(*at)->next;
    }
    *out_block = *at;
    if (*at) {
        *at = (*at)->next;
        return VYRE_OK;
    }
    return cuda_memory_take(lane->device, size, out_block);
}

void cuda_lane_memory_back(cuda_lane *lane, cuda_block *block) {
    block->next = lane->scratch;
    lane->scratch = block;
}

/* Kernels that were told to end look at it often; one that has not after this time never will. */
static const uint64_t grace_ns = UINT64_C(20000000000);

vyre_status cuda_lane_wait(cuda_lane *lane, uint64_t deadline_ns, const atomic_uint *cancel,
                           unsigned *out_stop) {
    cuda_device *device = lane->device;
    const cuda_table *cuda = device->cuda;
    *out_stop = 0;
    if (!deadline_ns && !cancel) {
        return cuda_check(device, cuda->cuStreamSynchronize(lane->stream), "waiting for a run");
    }
    uint64_t start = vyre_now_ns(), told = 0;
    for (;;) {
        CUresult result = cuda->cuStreamQuery(lane->stream);
        if (result != CUDA_ERROR_NOT_READY) {
            return cuda_check(device, result, "waiting for a run");
        }
        uint64_t now = vyre_now_ns();
        if (!told) {
            *out_stop = cancel && atomic_load(cancel)       ? CUDA_STOP_CANCEL
                        : deadline_ns && now >= deadline_ns ? CUDA_STOP_TIMEOUT
                                                            : 0;
            if (*out_stop) {
                atomic_store(lane->stop, *out_stop);
                told = now;
            }
        } else if (now - told > grace_ns) {
            atomic_store(&device->is_lost, true);
            return vyre_status_make(
                VYRE_STATUS_DEVICE_LOST, "restart the process; the device still runs it",
                "a kernel on %s was told to end and did not", device->info.name);
        }
        if (now - start < 200000) {
            sched_yield();
        } else {
            const struct timespec nap = {0, 20000};
            nanosleep(&nap, NULL);
        }
    }
}

vyre_status cuda_lane_finish(cuda_lane *lane, vyre_status status) {
    unsigned stop;
    if (atomic_load(&lane->device->is_lost)) {
        return status;
    }
    vyre_status waited = cuda_lane_wait(lane, 0, NULL, &stop);
    if (!status) {
        return waited;
    }
    vyre_status_free(waited);
    return status;
}

uint64_t cuda_lane_next_ticket(cuda_device *device, uint32_t lane) {
    return (atomic_fetch_add(&device->lanes.last_number, 1) + 1) * CUDA_LANE_SLOTS + lane;
}

void cuda_lane_submitted(cuda_lane *lane, uint64_t ticket) {
    atomic_store_explicit(&lane->submitted, ticket, memory_order_release);
}

static void raise_completed(cuda_lane *lane, uint64_t ticket) {
    unsigned long long before = atomic_load(&lane->completed);
    while (before < ticket && !atomic_compare_exchange_weak(&lane->completed, &before, ticket)) {
    }
}

bool cuda_lane_is_done(cuda_lane *lane, uint64_t ticket) {
    if (atomic_load(&lane->completed) >= ticket) {
        return true;
    }
    cuda_device *device = lane->device;
    const cuda_table *cuda = device->cuda;
    pthread_mutex_lock(&lane->marks);
    /* A mark of before may be reached, and a new one may be so at once. */
    for (int i = 0; i < 2 && atomic_load(&lane->completed) < ticket; i++) {
        if (!lane->marked) {
            uint64_t last = atomic_load_explicit(&lane->submitted, memory_order_acquire);
            CUresult recorded = cuda->cuEventRecord(lane->mark, lane->stream);
            if (recorded) { /* a mark of before would say too much */
                vyre_status_free(cuda_check(device, recorded, "marking a run"));
                break;
            }
            lane->marked = last;
        }
        CUresult result = cuda->cuEventQuery(lane->mark);
        if (result == CUDA_ERROR_NOT_READY) {
            break;
        }
        vyre_status_free(cuda_check(device, result, "asking for a run"));
        if (!result) {
            raise_completed(lane, lane->marked);
        }
        lane->marked = 0;
    }
    pthread_mutex_unlock(&lane->marks);
    return atomic_load(&lane->completed) >= ticket || atomic_load(&device->is_lost);
}

vyre_status cuda_lane_settle(cuda_lane *lane, uint64_t ticket) {
    if (atomic_load(&lane->completed) >= ticket) {
        return VYRE_OK;
    }
    cuda_device *device = lane->device;
    uint64_t last = atomic_load_explicit(&lane->submitted, memory_order_acquire);
    vyre_status status = cuda_check_lost(device);
    status = status ? status
                    : cuda_check(device, device->cuda->cuStreamSynchronize(lane->stream),
                                 "waiting for a run");
    if (!status) {
        raise_completed(lane, last);
    }
    return status;
}

vyre_status cuda_lane_follow(cuda_lane *lane, cuda_lane *before) {
    cuda_device *device = lane->device;
    const cuda_table *cuda = device->cuda;
    vyre_status status =
        cuda_check(device, cuda->cuEventRecord(before->order, before->stream), "marking a lane");
    return status ? status
                  : cuda_check(device, cuda->cuStreamWaitEvent(lane->stream, before->order, 0),
                               "letting a lane wait");
}

bool cuda_lane_was_lost(cuda_device *device, uint64_t ticket) {
    const cuda_lanes *lanes = &device->lanes;
    uint32_t lane = cuda_ticket_lane(ticket);
    return lane < CUDA_SHARED_LANES && ticket < lanes->lost_ticket &&
           ticket > lanes->completed[lane];
}
