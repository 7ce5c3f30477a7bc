/* Copies between the host and the device, on a stream of one's own. Large ones go through pages
 * that do not move, in parts, so that the host copies one while the device copies the other. */
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

#endif
