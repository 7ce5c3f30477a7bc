/* Subgroup operations by shared arrays and barriers, for devices whose subgroups have another
 * width, or none. Shuffles, ballots, votes, reductions, scans and matrix_mad become stores to a
 * shared array, barriers, and loads of what other lanes stored. `lane` and `subgroup_id` are
 * computed from `lid`. */
#ifndef VYRE_PASS_SUBGROUP_H
#define VYRE_PASS_SUBGROUP_H

#include <vyre/program.h>

/* The program without subgroup operations; *out_program is NULL if there is nothing to do. Phases
 * whose subgroup width w has the bit `1 << log2(w)` in `keep_widths`, that is the bit w itself (8,
 * 16, 32, 64), are left alone, since the device has that width.
 *
 * UNSUPPORTED where not all invocations of a workgroup are sure to reach an operation together: a
 * barrier could not stand there. Floats in the result are combined by plain operations, so
 * corrections (pass/correct.h) come after this pass. */
VYRE_MUST_USE vyre_status vyre_subgroups_share(const vyre_program *program, uint64_t keep_widths,
                                               vyre_program **out_program);

#endif
