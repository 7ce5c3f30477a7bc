/* Buffers that stay on the device, and runs on them that were enqueued.
 *
 * All runs are on one queue, and each begins with a barrier, so they need not wait for one another
 * here. A copy between host and device waits for the runs that use the buffer. A run that needs
 * the host on its way, for a `repeat while`, an `if` or a timeout, is over when it was enqueued. */
#ifndef VYRE_VULKAN_RESIDENT_H
#define VYRE_VULKAN_RESIDENT_H

#include <vyre/backend.h>

#include "backend/vulkan/executable.h"

/* The numbers of buffers are addresses of what the host knows of them. */
VYRE_MUST_USE vyre_status vulkan_resident_allocate(vulkan_device *device, size_t size,
                                                   uint64_t *out_buffer);
/* Makes a buffer from the caller's memory, if the device can access it. */
VYRE_MUST_USE vyre_status vulkan_resident_import(vulkan_device *device, const vyre_memory *memory,
                                                 uint64_t *out_buffer);
/* Makes a range of a buffer that is not a range. */
VYRE_MUST_USE vyre_status vulkan_resident_range(vulkan_device *device, uint64_t buffer,
                                                size_t offset, size_t size, uint64_t *out_buffer);
vyre_memory vulkan_resident_memory(uint64_t buffer);
VYRE_MUST_USE vyre_status vulkan_resident_upload(vulkan_device *device, uint64_t buffer,
                                                 size_t offset, const void *data, size_t size);
VYRE_MUST_USE vyre_status vulkan_resident_read(vulkan_device *device, uint64_t buffer,
                                               size_t offset, void *data, size_t size);
VYRE_MUST_USE vyre_status vulkan_resident_copy(vulkan_device *device, uint64_t to, size_t to_offset,
                                               uint64_t from, size_t from_offset, size_t size);
VYRE_MUST_USE vyre_status vulkan_resident_fill(vulkan_device *device, uint64_t buffer,
                                               size_t offset, size_t size, const void *pattern,
                                               size_t pattern_size);
VYRE_MUST_USE vyre_status vulkan_resident_free(vulkan_device *device, uint64_t buffer);

/* All that are left; nothing uses them. */
void vulkan_residents_drop(vulkan_device *device);

/* Runs behind all that was enqueued, and waits. */
VYRE_MUST_USE vyre_status vulkan_resident_run(vulkan_executable *executable, const vyre_call *call,
                                              const uint64_t *buffers, vyre_timing *out_timing);
VYRE_MUST_USE vyre_status vulkan_resident_enqueue(vulkan_executable *executable,
                                                  const vyre_call *call, const uint64_t *buffers,
                                                  uint64_t *out_ticket);

VYRE_MUST_USE vyre_status vulkan_ticket_wait(vulkan_device *device, uint64_t ticket);

#endif
