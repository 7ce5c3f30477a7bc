/* Unrolling: `for` loops whose range is made of constants become straight code, with a constant for
 * the counter in each iteration, so that others can fold what depends on it and give arrays that it
 * indexes away.
 *
 * Inner loops go first. A loop stays where it would grow too large, where something leaves an
 * iteration early, or where it holds a loop that stays and no private array, since that saves
 * nothing. All loops of a program share a budget, so that code grows by a bounded amount, whatever
 * the ranges are. */
#ifndef VYRE_PASS_UNROLL_H
#define VYRE_PASS_UNROLL_H

#include <vyre/program.h>

VYRE_MUST_USE vyre_status vyre_unroll(const vyre_program *program, vyre_program **out_program);

#endif
