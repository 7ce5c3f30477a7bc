/* Copies between the host and the device, on a stream of one's own. The device copies pinned memory
 * directly. Other memory goes through staging.h, unless it is small. */
#ifndef VYRE_CUDA_RUNTIME_TRANSFER_H
#define VYRE_CUDA_RUNTIME_TRANSFER_H

#include "backend/cuda/runtime/device.h"

/* `from` may change when the stream was waited for. */
VYRE_MUST_USE vyre_status cuda_upload(cuda_stream *stream, CUdeviceptr to, const void *from,
                                      uint64_t bytes);
/* `to` is written when the stream was waited for. */
VYRE_MUST_USE vyre_status cuda_download(cuda_stream *stream, void *to, CUdeviceptr from,
                                        uint64_t bytes);
/* Repeats a pattern of 1, 2, 4, 8 or 16 bytes, at any address. */
VYRE_MUST_USE vyre_status cuda_fill(cuda_stream *stream, CUdeviceptr to, size_t bytes,
                                    const void *pattern, size_t pattern_size);

/* Pins host memory for all contexts. `out_pin` is 0 if it is pinned already. */
VYRE_MUST_USE vyre_status cuda_pin(cuda_device *device, void *memory, size_t size,
                                   uint64_t *out_pin);
VYRE_MUST_USE vyre_status cuda_unpin(cuda_device *device, uint64_t pin);

#endif
