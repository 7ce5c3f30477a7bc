/* A run: the steps of a program as commands of the device's queue. */
#ifndef VYRE_OPENCL_RUNTIME_RUN_H
#define VYRE_OPENCL_RUNTIME_RUN_H

#include <vyre/backend.h>

#include "backend/opencl/runtime/executable.h"

/* The memory of an argument. */
typedef struct opencl_place {
    cl_mem memory;   /* NULL: of no bytes */
    uint64_t offset; /* in bytes */
} opencl_place;

/* How a run ends: it is waited for, or its last event is for the caller, who releases it. */
typedef struct opencl_finish {
    cl_event *event;
    uint64_t *device_ns; /* NULL, or where the time on the device goes; for runs that are awaited */
} opencl_finish;

/* Runs on memory by argument; `out` buffers are zeroed first where the program does not overwrite
 * them. */
VYRE_MUST_USE vyre_status opencl_run(opencl_executable *executable, const vyre_call *call,
                                     const opencl_place *places, const opencl_finish *finish);

#endif
