#define _GNU_SOURCE /* pthread_setname_np */

#include "backend/cuda/runtime/staging.h"

#include <signal.h>
#include <string.h>

#include "backend/cuda/runtime/device.h"
#include "base/thread.h"

/* A part is small enough to stay in a core's cache on its way, and large enough that starting its
 * copy takes no time beside it. Copies of less than MOST_PART_BYTES * WANTED_PARTS have smaller
 * ones, so that all threads get some. */
enum { LEAST_PART_BYTES = 256 << 10, MOST_PART_BYTES = 1 << 20, WANTED_PARTS = 32 };
enum { STAGING_BYTES = CUDA_STAGING_PARTS * MOST_PART_BYTES };

/* Waking helpers takes about as long as one core needs to copy half of this. */
enum { SHARED_BYTES = 2 << 20 };

static CUresult make_staging(cuda_device *device, cuda_staging *staging) {
    const cuda_table *cuda = device->cuda;
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; i < CUDA_STAGING_PARTS && !result; i++) {
        if (!staging->done[i]) {
            result = cuda->cuEventCreate(&staging->done[i], CU_EVENT_DISABLE_TIMING);
        }
    }
    if (!result && !staging->pages) {
        void *pages = NULL;
        result = cuda->cuMemHostAlloc(&pages, STAGING_BYTES, CU_MEMHOSTALLOC_PORTABLE);
        staging->pages = result ? NULL : pages;
    }
    return result;
}

/* A context that is gone took everything with it. */
void cuda_staging_free(cuda_device *device, cuda_staging *staging) {
    const cuda_table *cuda = device->cuda;
    CUresult result = CUDA_SUCCESS;
    bool is_lost = atomic_load(&device->is_lost);
    for (int i = 0; i < CUDA_STAGING_PARTS; i++) {
        CUresult own =
            staging->done[i] && !is_lost ? cuda->cuEventDestroy(staging->done[i]) : CUDA_SUCCESS;
        result = result ? result : own;
    }
    CUresult own = staging->pages && !is_lost ? cuda->cuMemFreeHost(staging->pages) : CUDA_SUCCESS;
    result = result ? result : own;
    vyre_status_free(cuda_check(device, result, "freeing memory for copies"));
    *staging = (cuda_staging){0};
}

/* Parts of one copy */

static uint64_t part_bytes_of(uint64_t bytes) {
    uint64_t part = bytes / WANTED_PARTS / LEAST_PART_BYTES * LEAST_PART_BYTES;
    return part < LEAST_PART_BYTES  ? LEAST_PART_BYTES
           : part > MOST_PART_BYTES ? MOST_PART_BYTES
                                    : part;
}

/* Remembers the first failure; nobody takes another part then. */
static void fail(cuda_copy *copy, CUresult result) {
    int none = CUDA_SUCCESS;
    if (result) {
        atomic_compare_exchange_strong(&copy->result, &none, result);
    }
}

static bool is_over(cuda_copy *copy) {
    return atomic_load(&copy->result) || atomic_load(&copy->next) >= copy->bytes;
}

/* What one thread does of a copy. */
typedef struct worker {
    cuda_copy *copy;
    cuda_staging *staging;
    const cuda_helpers *helpers; /* NULL for the thread that asked for it */
} worker;

typedef struct part {
    uint64_t at, bytes;
    uint32_t stage;
} part;

/* Takes the next part. A helper takes none if its copy has more helpers than its share. */
static bool take(const worker *w, uint32_t turn, part *out_part) {
    cuda_copy *copy = w->copy;
    if (is_over(copy) ||
        (w->helpers && atomic_load(&copy->helpers) > atomic_load(&w->helpers->share))) {
        return false;
    }
    uint64_t at = atomic_fetch_add(&copy->next, copy->part_bytes);
    uint64_t rest = at < copy->bytes ? copy->bytes - at : 0;
    *out_part =
        (part){at, rest < copy->part_bytes ? rest : copy->part_bytes, turn % CUDA_STAGING_PARTS};
    return rest;
}

static uint8_t *stage_of(const worker *w, const part *p) {
    return w->staging->pages + (size_t)p->stage * MOST_PART_BYTES;
}

static CUresult mark(const worker *w, const part *p) {
    cuda_stream *stream = w->copy->stream;
    return stream->device->cuda->cuEventRecord(w->staging->done[p->stage], stream->handle);
}

static CUresult await_stage(const worker *w, const part *p) {
    return w->copy->stream->device->cuda->cuEventSynchronize(w->staging->done[p->stage]);
}

static CUresult upload_parts(const worker *w) {
    cuda_copy *copy = w->copy;
    const cuda_table *cuda = copy->stream->device->cuda;
    CUresult result = CUDA_SUCCESS;
    part p;
    for (uint32_t turn = 0; !result && take(w, turn, &p); turn++) {
        result = await_stage(w, &p); /* of before; one that was never recorded is reached */
        if (!result) {
            memcpy(stage_of(w, &p), copy->host + p.at, (size_t)p.bytes);
            result = cuda->cuMemcpyHtoDAsync(copy->address + p.at, stage_of(w, &p), (size_t)p.bytes,
                                             copy->stream->handle);
        }
        result = result ? result : mark(w, &p);
    }
    return result;
}

/* Waits for a part and copies it to the host. */
static CUresult land(const worker *w, const part *p) {
    CUresult result = p->bytes ? await_stage(w, p) : CUDA_SUCCESS;
    if (!result && p->bytes) {
        memcpy(w->copy->host + p->at, stage_of(w, p), (size_t)p->bytes);
    }
    return result;
}

static CUresult download_parts(const worker *w) {
    cuda_copy *copy = w->copy;
    const cuda_table *cuda = copy->stream->device->cuda;
    CUresult result = CUDA_SUCCESS;
    part before = {0}, p;
    for (uint32_t turn = 0; !result && take(w, turn, &p); turn++) {
        if (turn < CUDA_STAGING_PARTS) { /* an upload of before may still use it */
            result = await_stage(w, &p);
        }
        result = result ? result
                        : cuda->cuMemcpyDtoHAsync(stage_of(w, &p), copy->address + p.at,
                                                  (size_t)p.bytes, copy->stream->handle);
        result = result ? result : mark(w, &p);
        result = result ? result : land(w, &before);
        before = p;
    }
    return result ? result : land(w, &before);
}

/* Copies parts until none is left. After a failure it waits until the device no longer uses this
 * thread's staging: the next copy does. */
static void work(const worker *w) {
    cuda_stream *stream = w->copy->stream;
    CUresult result = w->copy->is_upload ? upload_parts(w) : download_parts(w);
    if (result) {
        fail(w->copy, result);
        stream->device->cuda->cuStreamSynchronize(stream->handle);
    }
}

/* Helpers */

void cuda_helpers_init(cuda_helpers *helpers) {
    uint32_t others = vyre_thread_cpus() - 1;
    memset(helpers, 0, sizeof *helpers);
    helpers->most = others < CUDA_MOST_HELPERS ? others : CUDA_MOST_HELPERS;
    pthread_mutex_init(&helpers->lock, NULL);
    pthread_cond_init(&helpers->posted, NULL);
    pthread_cond_init(&helpers->left, NULL);
}

void cuda_helpers_deinit(cuda_helpers *helpers) {
    pthread_mutex_destroy(&helpers->lock);
    pthread_cond_destroy(&helpers->posted);
    pthread_cond_destroy(&helpers->left);
}

/* The copy that has the fewest helpers and takes another one; NULL if none does. In the lock. */
static cuda_copy *choose(const cuda_helpers *helpers) {
    cuda_copy *best = NULL;
    uint32_t fewest = atomic_load(&helpers->share);
    for (cuda_copy *copy = helpers->copies; copy; copy = copy->later) {
        uint32_t own = atomic_load(&copy->helpers);
        if (own < fewest && own < copy->most_helpers && !is_over(copy)) {
            fewest = own;
            best = copy;
        }
    }
    return best;
}

/* Called and returns in the lock. */
static void help_with(cuda_helper *self, cuda_copy *copy) {
    cuda_device *device = self->device;
    cuda_helpers *helpers = &device->helpers;
    atomic_fetch_add(&copy->helpers, 1);
    pthread_mutex_unlock(&helpers->lock);
    CUresult result = device->cuda->cuCtxSetCurrent(device->context);
    fail(copy, result);
    if (!result) {
        work(&(worker){copy, &self->staging, helpers});
    }
    pthread_mutex_lock(&helpers->lock);
    atomic_fetch_sub(&copy->helpers, 1);
    pthread_cond_broadcast(&helpers->left);
}

static void *help(void *argument) {
    cuda_helper *self = argument;
    cuda_helpers *helpers = &self->device->helpers;
    pthread_mutex_lock(&helpers->lock);
    while (!helpers->is_closing) {
        cuda_copy *copy = choose(helpers);
        if (copy) {
            help_with(self, copy);
        } else {
            pthread_cond_wait(&helpers->posted, &helpers->lock);
        }
    }
    pthread_mutex_unlock(&helpers->lock);
    return NULL;
}

/* Starts a helper, deaf to signals; false if there is no memory or thread for it. */
static bool start(cuda_device *device, cuda_helper *helper) {
    sigset_t all, before;
    helper->device = device;
    CUresult result = make_staging(device, &helper->staging);
    if (result) {
        cuda_staging_free(device, &helper->staging);
        return false;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = !pthread_create(&helper->thread, NULL, help, helper);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) {
        pthread_setname_np(helper->thread, "vyre-copy");
    } else {
        cuda_staging_free(device, &helper->staging);
    }
    return started;
}

/* Starts as many as the copy can use, at most one for each CPU besides the caller's. If the system
 * refuses some, the copy does without them. In the lock. */
static void start_some(cuda_device *device, uint32_t wanted) {
    cuda_helpers *helpers = &device->helpers;
    wanted = wanted < helpers->most ? wanted : helpers->most;
    while (helpers->count < wanted && start(device, &helpers->all[helpers->count])) {
        helpers->count++;
    }
}

/* In the lock. */
static void divide(cuda_helpers *helpers) {
    uint32_t copies = helpers->copy_count ? helpers->copy_count : 1;
    atomic_store(&helpers->share, (helpers->count + copies - 1) / copies);
}

static void post(cuda_device *device, cuda_copy *copy) {
    cuda_helpers *helpers = &device->helpers;
    pthread_mutex_lock(&helpers->lock);
    start_some(device, copy->most_helpers);
    copy->later = helpers->copies;
    helpers->copies = copy;
    helpers->copy_count++;
    divide(helpers);
    for (uint32_t i = 0; i < helpers->count && i < copy->most_helpers; i++) {
        pthread_cond_signal(&helpers->posted);
    }
    pthread_mutex_unlock(&helpers->lock);
}

/* Takes a copy back when no helper works on it; those that are free may help others. */
static void retract(cuda_helpers *helpers, cuda_copy *copy) {
    pthread_mutex_lock(&helpers->lock);
    while (atomic_load(&copy->helpers)) {
        pthread_cond_wait(&helpers->left, &helpers->lock);
    }
    cuda_copy **at = &helpers->copies;
    while (*at != copy) {
        at = &(*at)->later;
    }
    *at = copy->later;
    helpers->copy_count--;
    divide(helpers);
    if (helpers->copies) {
        pthread_cond_broadcast(&helpers->posted);
    }
    pthread_mutex_unlock(&helpers->lock);
}

void cuda_helpers_close(cuda_device *device) {
    cuda_helpers *helpers = &device->helpers;
    pthread_mutex_lock(&helpers->lock);
    helpers->is_closing = true;
    pthread_cond_broadcast(&helpers->posted);
    pthread_mutex_unlock(&helpers->lock);
    for (uint32_t i = 0; i < helpers->count; i++) {
        pthread_join(helpers->all[i].thread, NULL);
        cuda_staging_free(device, &helpers->all[i].staging);
    }
    helpers->count = 0;
    helpers->is_closing = false;
}

CUresult cuda_staging_copy(cuda_stream *stream, void *host, CUdeviceptr address, uint64_t bytes,
                           bool is_upload) {
    cuda_device *device = stream->device;
    uint64_t part_bytes = part_bytes_of(bytes);
    cuda_copy copy = {.stream = stream,
                      .host = host,
                      .address = address,
                      .bytes = bytes,
                      .part_bytes = part_bytes,
                      .is_upload = is_upload,
                      .most_helpers = (uint32_t)((bytes - 1) / part_bytes)};
    CUresult result = make_staging(device, &stream->staging);
    bool is_shared = bytes >= SHARED_BYTES;
    if (!result && is_shared && !is_upload) {
        /* Else helpers would wait for the run, each on a core of its own. */
        result = device->cuda->cuStreamSynchronize(stream->handle);
    }
    if (result) {
        return result;
    }
    if (is_shared) {
        post(device, &copy);
    }
    work(&(worker){&copy, &stream->staging, NULL});
    if (is_shared) {
        retract(&device->helpers, &copy);
    }
    return atomic_load(&copy.result);
}
