/* Values: the arithmetic of docs/semantics.md, one number at a time.
 *
 * A value of any type is kept as its bits in 64, the upper ones zero. */
#ifndef SCALAR_VALUE_H
#define SCALAR_VALUE_H

#include <vyre/op.h>

/* Cut to the width of the type. */
uint64_t value_cut(vyre_type type, uint64_t bits);

/* Extended to 64 bits, as the index or the bound of a loop that it is. */
int64_t value_signed(vyre_type type, uint64_t bits);

/* The result of an operation on operands of type `type`, the first operand's but for `select`,
 * whose it is the second's. `to` is the type of the result. */
uint64_t value_compute(vyre_op op, vyre_type type, vyre_type to, uint64_t a, uint64_t b,
                       uint64_t c);

#endif
