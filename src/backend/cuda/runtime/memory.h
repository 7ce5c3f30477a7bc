/* Memory of the device, in blocks that are kept when they are given back, since the driver takes
 * long to give and take it. Sizes are rounded up to eight steps an octave, so that the next run of
 * about the same size finds what the last one left. Blocks are aligned to 256 bytes. */
#ifndef VYRE_CUDA_RUNTIME_MEMORY_H
#define VYRE_CUDA_RUNTIME_MEMORY_H

#include <pthread.h>

#include <vyre/status.h>

#include "backend/cuda/runtime/table.h"

struct cuda_device;

typedef struct cuda_block {
    CUdeviceptr address;
    uint64_t size;
    struct cuda_block *next;
} cuda_block;

enum { CUDA_BUCKETS = 512 };

typedef struct cuda_memory {
    pthread_mutex_t lock;
    cuda_block *kept[CUDA_BUCKETS]; /* by size */
    uint64_t kept_bytes, most_kept_bytes;
    uint64_t block_count, block_bytes; /* that the driver gave, kept or not */
} cuda_memory;

void cuda_memory_init(cuda_memory *memory, uint64_t device_bytes);
void cuda_memory_deinit(cuda_memory *memory);

/* With anything in it. In the device's context, like all of these. */
VYRE_MUST_USE vyre_status cuda_memory_take(struct cuda_device *device, uint64_t size,
                                           cuda_block **out_block);
/* No work uses it any more. NULL is allowed. */
void cuda_memory_give(struct cuda_device *device, cuda_block *block);
/* Frees what is kept; the last failure is told. With a context that is gone only our own memory. */
VYRE_MUST_USE vyre_status cuda_memory_trim(struct cuda_device *device);

/* The size that a block of so many bytes has. */
uint64_t cuda_memory_round(uint64_t size);

#endif
