/* Buffers that stay on the device, and runs on them that were enqueued.
 *
 * A run that needs no host is put on a shared stream at once: nothing is allocated, no thread
 * woken. One that does, because of a timeout or a `repeat while`, goes to the ordered queue, and so
 * does whatever shares a buffer with one that is still there. */
#ifndef VYRE_CUDA_RUNTIME_RESIDENT_H
#define VYRE_CUDA_RUNTIME_RESIDENT_H

#include <vyre/backend.h>

#include "backend/cuda/runtime/executable.h"

/* The numbers of buffers are addresses of what the host knows of them. */
VYRE_MUST_USE vyre_status cuda_resident_allocate(cuda_device *device, size_t size,
                                                 uint64_t *out_buffer);
/* Makes a buffer from the caller's memory, if the device can access it. */
VYRE_MUST_USE vyre_status cuda_resident_import(cuda_device *device, const vyre_memory *memory,
                                               uint64_t *out_buffer);
/* Makes a range of a buffer that is not a range. */
VYRE_MUST_USE vyre_status cuda_resident_range(cuda_device *device, uint64_t buffer, size_t offset,
                                              size_t size, uint64_t *out_buffer);
vyre_memory cuda_resident_memory(uint64_t buffer);
VYRE_MUST_USE vyre_status cuda_resident_upload(cuda_device *device, uint64_t buffer, size_t offset,
                                               const void *data, size_t size);
VYRE_MUST_USE vyre_status cuda_resident_read(cuda_device *device, uint64_t buffer, size_t offset,
                                             void *data, size_t size);
VYRE_MUST_USE vyre_status cuda_resident_copy(cuda_device *device, uint64_t to, size_t to_offset,
                                             uint64_t from, size_t from_offset, size_t size);
VYRE_MUST_USE vyre_status cuda_resident_fill(cuda_device *device, uint64_t buffer, size_t offset,
                                             size_t size, const void *pattern, size_t pattern_size);
VYRE_MUST_USE vyre_status cuda_resident_free(cuda_device *device, uint64_t buffer);

/* All that are left; nothing uses them. */
void cuda_residents_drop(cuda_device *device);

/* Runs behind all that was enqueued on the buffers, and waits. */
VYRE_MUST_USE vyre_status cuda_resident_run(cuda_executable *executable, const vyre_call *call,
                                            const uint64_t *buffers, vyre_timing *out_timing);
VYRE_MUST_USE vyre_status cuda_resident_enqueue(cuda_executable *executable, const vyre_call *call,
                                                const uint64_t *buffers, uint64_t *out_ticket);

bool cuda_ticket_is_done(cuda_device *device, uint64_t ticket);
VYRE_MUST_USE vyre_status cuda_ticket_wait(cuda_device *device, uint64_t ticket);

#endif
