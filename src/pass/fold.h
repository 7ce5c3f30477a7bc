/* Folding: what can be told from constants, and what an identity makes simpler, to the bit.
 *
 * Operations on constants are computed with the oracle's arithmetic (ir/eval.h). Integers and bits
 * follow identities that hold for every value; floats only where the operation works on bits, or
 * where the result is the same number rounded in the same way. Branches on constants, or on what an
 * enclosing branch decided, are taken; small branches that only choose between values become
 * selects; loops without an iteration, or with exactly one, and calls that return at their end
 * alone, are dissolved; what loops carry without changing it is taken from outside. */
#ifndef VYRE_PASS_FOLD_H
#define VYRE_PASS_FOLD_H

#include <vyre/builder.h>

/* What `op` gives for values of the builder, without the operation: a constant, one of the values
 * that are there, or a simpler operation, which is then built. VYRE_NONE where it has to be built
 * as it is. `type` is the result's. Operands that it does not take are not looked at. */
uint32_t vyre_fold_op(vyre_builder *to, vyre_op op, vyre_type type, const uint32_t operands[3]);

/* The operation itself where nothing is simpler. */
uint32_t vyre_fold_build(vyre_builder *to, vyre_op op, vyre_type type, const uint32_t operands[3]);

/* Whether the first two operands may change places. */
bool vyre_fold_commutes(vyre_op op);

#endif
