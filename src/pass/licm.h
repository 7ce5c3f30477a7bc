/* Loop-invariant motion: what does not change from iteration to iteration is computed once, in
 * front of the loop, or of the outermost of several.
 *
 * Operations on values move even out of loops that may have no iteration, since none of them traps;
 * out of branches only where they cost next to nothing. Loads move where nothing in the loop writes
 * the array. If something else in the phase does, nothing in the loop may wait for other
 * invocations, and the load must come in the first iteration for sure: else it could meet a write
 * that it did not meet before. Out of a loop with a barrier in it nothing moves that is cheap
 * (VYRE_PASS_CHEAP). */
#ifndef VYRE_PASS_LICM_H
#define VYRE_PASS_LICM_H

#include <vyre/program.h>

VYRE_MUST_USE vyre_status vyre_licm(const vyre_program *program, vyre_program **out_program);

#endif
