/* Staging: copies between pageable host memory and the device, through pinned memory.
 *
 * A copy is cut into parts. The thread that asks for it and the helpers of the device take one part
 * after the other. Each has pinned memory for two parts: while the device copies one, the thread
 * copies the other. Helpers start with the first copy that is large enough and end with the device.
 * Copies that are under way at the same time share them. */
#ifndef VYRE_CUDA_RUNTIME_STAGING_H
#define VYRE_CUDA_RUNTIME_STAGING_H

#include <pthread.h>
#include <stdatomic.h>

#include <vyre/status.h>

#include "backend/cuda/runtime/table.h"

struct cuda_device;
struct cuda_stream;

/* A core copies 7 to 9 GB/s, half of that into new pages, and a bus takes 54. */
enum { CUDA_MOST_HELPERS = 15, CUDA_STAGING_PARTS = 2 };

/* Pinned memory for two parts. Each helper has its own, and each stream, for the thread that has
 * taken the stream. */
typedef struct cuda_staging {
    uint8_t *pages;                   /* NULL until needed */
    CUevent done[CUDA_STAGING_PARTS]; /* the device has copied a part; NULL until needed */
} cuda_staging;

/* A copy, in the stack of the thread that asked for it. */
typedef struct cuda_copy {
    struct cuda_stream *stream;
    uint8_t *host;
    CUdeviceptr address;
    uint64_t bytes, part_bytes;
    bool is_upload;
    atomic_ullong next;    /* the byte at which the next part begins */
    atomic_int result;     /* CUresult of the first call that failed */
    atomic_uint helpers;   /* that work on it */
    uint32_t most_helpers; /* one for each part but the first */
    struct cuda_copy *later;
} cuda_copy;

typedef struct cuda_helper {
    struct cuda_device *device;
    pthread_t thread;
    cuda_staging staging;
} cuda_helper;

typedef struct cuda_helpers {
    pthread_mutex_t lock;
    pthread_cond_t posted, left; /* a copy has begun; a helper has left one */
    cuda_copy *copies;           /* under way */
    uint32_t copy_count;
    uint32_t count, most; /* threads */
    atomic_uint share;    /* helpers for each copy */
    bool is_closing;
    cuda_helper all[CUDA_MOST_HELPERS];
} cuda_helpers;

void cuda_helpers_init(cuda_helpers *helpers);
void cuda_helpers_deinit(cuda_helpers *helpers);
/* Ends the threads and frees their memory. No copy is under way. In the device's context. */
void cuda_helpers_close(struct cuda_device *device);

/* Copies through staging, with helpers if it is large enough. When this returns, a download is
 * complete, and the caller may change what it uploads; the device has it when the stream was waited
 * for. */
VYRE_MUST_USE CUresult cuda_staging_copy(struct cuda_stream *stream, void *host,
                                         CUdeviceptr address, uint64_t bytes, bool is_upload);
void cuda_staging_free(struct cuda_device *device, cuda_staging *staging);

#endif
