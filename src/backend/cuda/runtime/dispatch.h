/* Runs with data of the host, waited for or not. */
#ifndef VYRE_CUDA_RUNTIME_DISPATCH_H
#define VYRE_CUDA_RUNTIME_DISPATCH_H

#include <vyre/backend.h>

#include "backend/cuda/runtime/executable.h"

/* Runs and waits. Inputs of any alignment, which are only read, outputs too; after a failure
 * anything may be in the outputs. `cancel` and `out_timing` may be NULL. */
VYRE_MUST_USE vyre_status cuda_dispatch(cuda_executable *executable, const vyre_call *call,
                                        vyre_output *outputs, const atomic_uint *cancel,
                                        vyre_timing *out_timing);

/* The same on addresses by resource, of memory that nobody else uses; clears `out` buffers. */
VYRE_MUST_USE vyre_status cuda_dispatch_on(cuda_executable *executable, const vyre_call *call,
                                           const CUdeviceptr *buffers, vyre_timing *out_timing);

/* Starts one that goes on in a thread of the backend; borrowed inputs are copied. */
VYRE_MUST_USE vyre_status cuda_dispatch_start(cuda_executable *executable, const vyre_call *call,
                                              vyre_output *outputs, bool is_borrowed,
                                              vyre_pending_run *out_run);

/* A call with all that it points to but the bytes of inputs, in one block for vyre_free, with
 * `before` bytes in front for the caller. NULL without memory. */
void *cuda_call_copy(const vyre_call *call, size_t before, vyre_call **out_call);

#endif
