/* Binding plan: a program together with the arguments of one run, checked before anything runs.
 * Every run starts from it.
 *
 * Inputs are given in the order of declaration, without the `out` buffers: a buffer as its
 * elements, a scalar as its bytes. Outputs come in the same order: the `inout` and `out` buffers.
 */
#ifndef VYRE_RUNTIME_PLAN_H
#define VYRE_RUNTIME_PLAN_H

#include <vyre/dispatch.h>
#include <vyre/program.h>

enum { VYRE_PLAN_ROOM = 192 };

typedef struct vyre_plan {
    const vyre_program *program; /* borrowed */
    const vyre_ir *ir;
    vyre_dispatch_config config;
    uint64_t *arguments; /* by argument: a buffer's length, a scalar's value extended to 64 bits */
    uint64_t *sizes;  /* by size: its value, where it is one of the program's and not a part of one;
                       * the  largest of any iteration, or a number above it */
    vyre_grid *grids; /* by phase: the largest of any iteration, and of a domain from memory */
    uint32_t *inputs; /* by input: its argument */
    uint32_t *outputs; /* by output: its argument */
    uint32_t input_count, output_count;
    uint64_t output_bytes; /* of all outputs */

    void *block; /* where the arrays are, if `room` is too small */
    uint64_t room[VYRE_PLAN_ROOM];
} vyre_plan;

/* An argument of a run on resident buffers. */
typedef struct vyre_plan_value {
    uint64_t bytes; /* of the buffer */
    uint64_t bits;  /* of the scalar */
} vyre_plan_value;

/* Checks inputs against the program, computes all sizes. A plan must not be moved. */
VYRE_MUST_USE vyre_status vyre_plan_init(vyre_plan *plan, const vyre_program *program,
                                         const vyre_input *inputs, size_t input_count,
                                         const vyre_dispatch_config *config);
/* The same for all arguments, `out` buffers too. Allocates nothing for programs of usual size. */
VYRE_MUST_USE vyre_status vyre_plan_init_resident(vyre_plan *plan, const vyre_program *program,
                                                  const vyre_plan_value *values, size_t count,
                                                  const vyre_dispatch_config *config);
/* The plan of a call to `original` again, for another form of its program with other sizes and
 * phases: without grid barriers, if it was split, or without records. What the call was checked for
 * is not asked twice. */
VYRE_MUST_USE vyre_status vyre_plan_init_again(vyre_plan *plan, const vyre_program *original,
                                               const vyre_program *program, bool was_split,
                                               const vyre_call *call);
void vyre_plan_deinit(vyre_plan *plan);

/* Whether a program is as deterministic as a run demands; part of making a plan. */
VYRE_MUST_USE vyre_status vyre_check_demand(const vyre_program *program,
                                            const vyre_dispatch_config *config);

/* The plan as backends see it, with the backend's executable of the program or NULL; valid as long
 * as plan and inputs. */
vyre_call vyre_plan_call(const vyre_plan *plan, const vyre_input *inputs,
                         const vyre_native *native);

/* Bytes of an output, by its number. */
uint64_t vyre_plan_output_bytes(const vyre_plan *plan, uint32_t output);

/* Number of elements of a buffer or scratch array. */
uint64_t vyre_plan_length(const vyre_plan *plan, uint32_t resource);

/* A size in the iterations at hand, which are by step. */
uint64_t vyre_call_size(const vyre_ir *ir, const vyre_call *call, uint32_t size,
                        const uint32_t *iterations);
/* The grid of a phase there. `from_memory` are the elements that a domain from memory was read
 * from, one for each dimension; NULL: the largest. */
vyre_grid vyre_call_grid(const vyre_ir *ir, const vyre_call *call, uint32_t phase,
                         const uint32_t *iterations, const int64_t *from_memory);

/* An element of an integer array, as the host reads it for a domain or a repeat. */
int64_t vyre_plan_element(vyre_type type, const void *element);

#endif
