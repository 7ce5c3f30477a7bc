/* Splitting at grid barriers: for backends that cannot let all workgroups of a phase wait for one
 * another. Every phase with a grid barrier becomes several phases over the same domain, which end
 * where the barriers stood. Values that are needed on the other side are kept in scratch arrays, an
 * element an invocation; nothing is computed twice, no atomic and no write is repeated. Barriers in
 * loops and branches become phases in repeats. */
#ifndef VYRE_PASS_SPLIT_H
#define VYRE_PASS_SPLIT_H

#include <vyre/program.h>

/* The program without grid barriers, with the same meaning; *out_program is NULL if it has none.
 * One that becomes larger than vyre/limits.h allows is refused. */
VYRE_MUST_USE vyre_status vyre_split_grid_barriers(const vyre_program *program,
                                                   vyre_program **out_program);

#endif
