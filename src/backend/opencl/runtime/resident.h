/* Resident buffers, and runs on them that are enqueued. */
#ifndef VYRE_OPENCL_RUNTIME_RESIDENT_H
#define VYRE_OPENCL_RUNTIME_RESIDENT_H

#include "backend/opencl/runtime/run.h"

VYRE_MUST_USE vyre_status opencl_resident_allocate(opencl_device *device, size_t size,
                                                   uint64_t *out_buffer);
/* Devices that work in memory of the host take memory of the caller, and tell where buffers lie. */
VYRE_MUST_USE vyre_status opencl_resident_import(opencl_device *device, const vyre_memory *memory,
                                                 uint64_t *out_buffer);
vyre_memory opencl_resident_memory(uint64_t buffer);
VYRE_MUST_USE vyre_status opencl_resident_range(uint64_t buffer, size_t offset, size_t size,
                                                uint64_t *out_buffer);
void opencl_resident_free(opencl_device *device, uint64_t buffer);

VYRE_MUST_USE vyre_status opencl_resident_upload(opencl_device *device, uint64_t buffer,
                                                 size_t offset, const void *data, size_t size);
VYRE_MUST_USE vyre_status opencl_resident_read(opencl_device *device, uint64_t buffer,
                                               size_t offset, void *data, size_t size);
VYRE_MUST_USE vyre_status opencl_resident_copy(opencl_device *device, uint64_t to, size_t to_offset,
                                               uint64_t from, size_t from_offset, size_t size);
VYRE_MUST_USE vyre_status opencl_resident_fill(opencl_device *device, uint64_t buffer,
                                               size_t offset, size_t size, const void *pattern,
                                               size_t pattern_size);

/* Waits for the run; `out_timing` may be NULL. */
VYRE_MUST_USE vyre_status opencl_resident_run(opencl_executable *executable, const vyre_call *call,
                                              const uint64_t *buffers, vyre_timing *out_timing);
/* Returns before it is over, with a ticket; or after it, with ticket 0, where somebody has to look
 * at the run while it is under way. */
VYRE_MUST_USE vyre_status opencl_resident_enqueue(opencl_executable *executable,
                                                  const vyre_call *call, const uint64_t *buffers,
                                                  uint64_t *out_ticket);

bool opencl_ticket_is_done(opencl_device *device, uint64_t ticket);
VYRE_MUST_USE vyre_status opencl_ticket_wait(opencl_device *device, uint64_t ticket);

#endif
