/* Common subexpressions: what an instruction gives that was computed before, in the same block or
 * one around it, is taken from there.
 *
 * Loads count as well, as long as nothing can have changed the array in between: a write of the
 * invocation itself, a barrier, or an atomic that orders memory. Arrays that the phase never writes
 * do not change. That other invocations write at the same time would be a data race.
 *
 * What is cheap is computed again behind a barrier (VYRE_PASS_CHEAP). */
#ifndef VYRE_PASS_CSE_H
#define VYRE_PASS_CSE_H

#include <vyre/program.h>

VYRE_MUST_USE vyre_status vyre_cse(const vyre_program *program, vyre_program **out_program);

#endif
