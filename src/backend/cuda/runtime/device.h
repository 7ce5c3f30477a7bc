/* A device: what it is, its context while it is in use, and everything in it that somebody holds.
 *
 * It is created without a context, which costs a quarter of a second: cuda_device_open makes one
 * before the first work, cuda_device_close gives everything back. Runs go on streams (stream.h),
 * memory comes from a pool (memory.h), work that needs a host goes through queues (queue.h). */
#ifndef VYRE_CUDA_RUNTIME_DEVICE_H
#define VYRE_CUDA_RUNTIME_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include <vyre/status.h>

#include "backend/cuda/runtime/driver.h"
#include "backend/cuda/runtime/memory.h"
#include "backend/cuda/runtime/queue.h"
#include "backend/cuda/runtime/staging.h"
#include "backend/cuda/runtime/stream.h"

typedef struct cuda_info {
    char name[96];
    char driver[48];  /* "CUDA 12.4" */
    char version[96]; /* of the backend, with what translates for it */
    uint32_t sm, isa; /* 90 for compute capability 9.0; 84 for PTX 8.4 */
    uint32_t multiprocessors, warp, most_threads, most_shared_bytes, shared_per_multiprocessor;
    uint32_t l2_bytes, memory_clock_khz, bus_bits;
    bool has_cooperative;
    uint64_t memory_bytes;
} cuda_info;

typedef struct cuda_executable cuda_executable;

typedef struct cuda_device {
    const cuda_table *cuda;
    CUdevice handle;
    uint32_t index;
    cuda_info info;

    CUcontext context; /* NULL while it is closed */
    atomic_bool is_lost;

    cuda_memory memory;
    cuda_streams streams;
    cuda_queue ordered;   /* runs on resident buffers that need a host */
    cuda_queue pending;   /* runs with data of the host that go on by themselves */
    cuda_helpers helpers; /* threads for large copies */

    pthread_mutex_t unloading; /* while code is unloaded; taken before the next one */
    pthread_mutex_t lock;      /* of what follows; not held where the driver may wait for a run */
    cuda_executable *natives;  /* with code on the device */
    cuda_executable *left;     /* that nobody holds, but are not freed yet */
    struct cuda_resident *residents;
} cuda_device;

/* How many there are; 0 also where the driver cannot be asked. */
uint32_t cuda_device_count(void);

/* Looks at the device of a number; nothing is held of it yet. */
VYRE_MUST_USE vyre_status cuda_device_create(uint32_t index, cuda_device **out_device);
void cuda_device_free(cuda_device *device);

/* Context and streams. Does nothing if it is open. */
VYRE_MUST_USE vyre_status cuda_device_open(cuda_device *device);
/* Gives everything back; no run is under way. What natives have on the device is gone. */
VYRE_MUST_USE vyre_status cuda_device_close(cuda_device *device);
/* The same for a context that is of no use any more, then sees whether a new one can be had. */
VYRE_MUST_USE vyre_status cuda_device_reset(cuda_device *device);

/* Makes the context the calling thread's; what it had before is for cuda_device_leave. */
VYRE_MUST_USE vyre_status cuda_device_enter(cuda_device *device, CUcontext *out_before);
void cuda_device_leave(cuda_device *device, CUcontext before);

/* A status for what the driver answered, or NULL for success. Remembers when the device is lost.
 * The text says what was being done. */
VYRE_MUST_USE vyre_status cuda_check(cuda_device *device, CUresult result, const char *format, ...)
    VYRE_PRINTF(3, 4);
/* For work that cannot even be tried; NULL if the device is fine. */
VYRE_MUST_USE vyre_status cuda_check_lost(cuda_device *device);

#endif
