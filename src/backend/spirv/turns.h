/* Turns: iterations of loops, on devices that allow an invocation only so many of them.
 *
 * Some drivers end every loop after a number of iterations, all loops of an invocation counted
 * together, and go on behind it as if it were over. What they count are the turns of a subgroup:
 * lanes that go through a loop at different times count one after the other. Code for such devices
 * counts its own turns, and gives up before the driver does. */
#ifndef VYRE_SPIRV_TURNS_H
#define VYRE_SPIRV_TURNS_H

#include "backend/spirv/analyse.h"

/* Whether the lanes of a subgroup go through all loops of a phase together, so that the turns of
 * one are those of all. False also without memory. */
bool spirv_turns_are_joint(const vyre_ir *ir, const vyre_phase *phase);

/* Turns of a loop whose number is known before it starts, with those of the loops in it. */
uint64_t spirv_turns_of_known(const vyre_ir *ir, uint32_t loop);
/* Turns of all such loops of a phase, each of them once, of clearing arrays with so many threads,
 * and those in which other loops find their end. */
uint64_t spirv_known_turns(const spirv_facts *facts, uint32_t threads);

#endif
