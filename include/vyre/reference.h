/* The reference backend: what a program means, executable.
 *
 * Runs any valid program as docs/semantics.md says, without splitting phases, in a schedule drawn
 * from a seed. Seed 0 runs workgroups one after the other; any other seed interleaves those of
 * phases with atomics or grid barriers at random, and runs other phases like seed 0. A
 * deterministic program without data races gives the same bytes for every seed.
 *
 *     vyre_outputs outputs;
 *     vyre_status status = vyre_reference_run(program, inputs, 2, NULL, NULL, &outputs);
 *     ...
 *     vyre_outputs_free(&outputs);
 */
#ifndef VYRE_REFERENCE_H
#define VYRE_REFERENCE_H

#include <vyre/dispatch.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VYRE_REFERENCE_STEPS ((uint64_t)1000000000000)
#define VYRE_REFERENCE_MEMORY_BYTES ((uint64_t)8 << 30)

/* Zero means the default. */
typedef struct vyre_reference_options {
    uint64_t seed;
    uint64_t max_steps;        /* lanes (at least 32) times instructions, and what it takes to start
                                  phases and workgroups; default VYRE_REFERENCE_STEPS */
    uint64_t max_memory_bytes; /* arrays, workgroups in flight, and what a sanitizer remembers of
                                  them; default VYRE_REFERENCE_MEMORY_BYTES */
} vyre_reference_options;

/* `config` and `options` may be NULL. Once a budget is used up, the status says which and where. */
VYRE_API VYRE_MUST_USE vyre_status vyre_reference_run(const vyre_program *program,
                                                      const vyre_input *inputs, size_t input_count,
                                                      const vyre_dispatch_config *config,
                                                      const vyre_reference_options *options,
                                                      vyre_outputs *out_outputs);

#ifdef __cplusplus
}
#endif

#endif
