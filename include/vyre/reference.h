/* Reference: the interpreter that defines what a program means.
 *
 *     vyre_outputs outputs;
 *     status = vyre_reference_run(program, inputs, 2, NULL, NULL, &outputs);
 *     ...
 *     vyre_outputs_free(&outputs);
 *
 * It runs any valid program as docs/semantics.md specifies. The seed selects the schedule. Seed 0
 * runs workgroups one after the other. Any other seed interleaves the workgroups of phases that use
 * atomics or grid barriers at random. A deterministic program without data races gives the same
 * bytes for every seed. Any thread may run programs. */
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
    uint64_t max_steps; /* instructions times lanes (at least 32), plus the cost of starting phases
                           and workgroups; default VYRE_REFERENCE_STEPS */
    uint64_t max_memory_bytes; /* arrays, running workgroups and the sanitizer's records; default
                                  VYRE_REFERENCE_MEMORY_BYTES */
} vyre_reference_options;

/* Runs a program. `config` and `options` may be NULL. The caller frees the outputs. If a limit is
 * exceeded, the status says which one, and where in the program. It leaves out asserts and refuses
 * `prints`; runs on the device `reference` have both. */
VYRE_API VYRE_MUST_USE vyre_status vyre_reference_run(const vyre_program *program,
                                                      const vyre_input *inputs, size_t input_count,
                                                      const vyre_dispatch_config *config,
                                                      const vyre_reference_options *options,
                                                      vyre_outputs *out_outputs);

#ifdef __cplusplus
}
#endif

#endif
