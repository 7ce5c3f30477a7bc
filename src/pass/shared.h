/* Shared arrays whose sizes come from arguments: with numbers in their place, a program is one that
 * every backend runs. */
#ifndef VYRE_PASS_SHARED_H
#define VYRE_PASS_SHARED_H

#include <vyre/program.h>

/* Whether a shared array has a size that is known when the program runs. */
bool vyre_shared_is_sized(const vyre_ir *ir);

/* The program with these lengths, by resource, in place of such sizes. */
VYRE_MUST_USE vyre_status vyre_shared_fix(const vyre_program *program, const uint32_t *lengths,
                                          vyre_program **out_program);

/* A status for whoever needs to know the lengths. */
VYRE_MUST_USE vyre_status vyre_shared_refuse(const vyre_program *program);

#endif
