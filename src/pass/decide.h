/* Decisions: comparisons that the front end writes for arrays of several dimensions, and that
 * always come out the same.
 *
 * An element a[y][x] is at select(y < height & x < width, y * width + x, 0xffffffff). Where the
 * ranges of a phase prove a comparison, it becomes a constant, and folding leaves the plain index:
 * the code is then what somebody who computes the index by hand would get. */
#ifndef VYRE_PASS_DECIDE_H
#define VYRE_PASS_DECIDE_H

#include <vyre/program.h>

/* `own_domain` as for vyre_ranges_init. NULL if nothing is decided. */
VYRE_MUST_USE vyre_status vyre_decide(const vyre_program *program, bool own_domain,
                                      vyre_program **out_program);

#endif
