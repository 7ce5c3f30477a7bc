/* Runs with data of the host. */
#ifndef VYRE_VULKAN_DISPATCH_H
#define VYRE_VULKAN_DISPATCH_H

#include <vyre/backend.h>

#include "backend/vulkan/run.h"

/* Runs and waits. Inputs of any alignment, which are only read, outputs too; after a failure
 * anything may be in the outputs. Where host and device share memory, large arrays are used where
 * they are. `out_timing` may be NULL. */
VYRE_MUST_USE vyre_status vulkan_dispatch(vulkan_executable *executable, const vyre_call *call,
                                          vyre_output *outputs, vyre_timing *out_timing);

/* The same on places by resource, of memory that no other work uses; clears `out` buffers. */
VYRE_MUST_USE vyre_status vulkan_dispatch_on(vulkan_executable *executable, const vyre_call *call,
                                             const vulkan_place *places, vyre_timing *out_timing);

#endif
