/* Binding plan: a program together with the arguments of one run, checked before anything runs.
 * Every backend starts from it.
 *
 * Inputs are given in the order of declaration, without the `out` buffers: a buffer as its
 * elements, a scalar as its bytes. Outputs come in the same order: the `inout` and `out` buffers.
 */
#ifndef VYRE_DRIVER_PLAN_H
#define VYRE_DRIVER_PLAN_H

#include <vyre/dispatch.h>
#include <vyre/program.h>

typedef struct vyre_plan {
    const vyre_program *program; /* borrowed */
    const vyre_ir *ir;
    uint64_t *arguments; /* by argument: a buffer's length, a scalar's value extended to 64 bits */
    uint64_t
        *sizes; /* by size: its value, where it is one of the program's and not a part of one */
    uint32_t *inputs;  /* by input: its argument */
    uint32_t *outputs; /* by output: its argument */
    uint32_t input_count, output_count;
    uint64_t output_bytes; /* of all outputs */
} vyre_plan;

/* The part of the grid that a phase runs over. */
typedef struct vyre_grid {
    uint64_t domain[3]; /* invocations inside the domain; 1 beyond its dimensions */
    uint64_t groups[3]; /* workgroups; without a workgroup clause, zeros */
} vyre_grid;

/* Checks inputs against the program, computes all sizes. */
VYRE_MUST_USE vyre_status vyre_plan_init(vyre_plan *plan, const vyre_program *program,
                                         const vyre_input *inputs, size_t input_count,
                                         const vyre_dispatch_config *config);
void vyre_plan_deinit(vyre_plan *plan);

/* Bytes of an output, by its number. */
uint64_t vyre_plan_output_bytes(const vyre_plan *plan, uint32_t output);

/* Number of elements of a buffer or scratch array. */
uint64_t vyre_plan_length(const vyre_plan *plan, uint32_t resource);

/* The grid of a phase; `from_memory` is the element that a domain from memory was read from,
 * sign-extended. */
vyre_grid vyre_plan_grid(const vyre_plan *plan, uint32_t phase, int64_t from_memory);

#endif
