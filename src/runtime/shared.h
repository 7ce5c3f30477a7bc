/* Programs whose shared arrays have sizes from arguments: each run is one of a program with numbers
 * in their place. Programs of the same numbers share one pipeline. */
#ifndef VYRE_RUNTIME_SHARED_H
#define VYRE_RUNTIME_SHARED_H

#include "runtime/plan.h"

/* The lengths of all shared arrays of a run, by resource. Refuses those that take more memory than
 * `most_bytes`, which `device` has; 0: unknown, so the language's limit holds alone. */
VYRE_MUST_USE vyre_status vyre_shared_lengths(const vyre_plan *plan, uint64_t most_bytes,
                                              const char *device, uint32_t *out_lengths);

/* The program that a run is one of; NULL if no shared array has a size. */
VYRE_MUST_USE vyre_status vyre_shared_program(const vyre_plan *plan, uint64_t most_bytes,
                                              const char *device, vyre_program **out_program);

#endif
