/* Running a compiled program: its steps, over memory that is in place. */
#ifndef VYRE_CPU_RUNTIME_RUN_H
#define VYRE_CPU_RUNTIME_RUN_H

#include <stdatomic.h>

#include <vyre/backend.h>

#include "backend/cpu/runtime/executable.h"

/* Runs with buffers of the host: inputs of any alignment, which are only read, outputs too. After a
 * failure anything may be in the outputs. `stop`, 0 at first, may be set by others to
 * CPU_STOP_CANCEL to end the run. */
VYRE_MUST_USE vyre_status cpu_run_host(const cpu_executable *executable, const vyre_call *call,
                                       vyre_output *outputs, atomic_uint *stop);

/* The same on memory by argument, aligned to elements, that is read and written where it is; NULL
 * for a scalar. */
VYRE_MUST_USE vyre_status cpu_run_resident(const cpu_executable *executable, const vyre_call *call,
                                           uint8_t *const *memory, atomic_uint *stop);

#endif
