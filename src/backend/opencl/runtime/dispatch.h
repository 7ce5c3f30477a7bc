/* Runs on host data. Where the device's memory is the host's, a run works in it directly. */
#ifndef VYRE_OPENCL_RUNTIME_DISPATCH_H
#define VYRE_OPENCL_RUNTIME_DISPATCH_H

#include "backend/opencl/runtime/run.h"

/* `out_timing` may be NULL. Outputs may be the memory of their own inputs. */
VYRE_MUST_USE vyre_status opencl_dispatch(opencl_executable *executable, const vyre_call *call,
                                          vyre_output *outputs, vyre_timing *out_timing);

#endif
