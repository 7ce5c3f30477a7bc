/* What the pure operations compute, bit for bit: the one arithmetic of the project. The reference
 * backend runs programs with it, everybody else is compared with that.
 *
 * An evaluator works on arrays of `count` elements in memory form, `to` being the result's; arrays
 * may be the same but not overlap otherwise. Operands that an operation does not have are ignored.
 *
 * eval_integer.c  integers and bool     eval_float.c  floats     eval_convert.c  conversions
 */
#ifndef VYRE_IR_EVAL_H
#define VYRE_IR_EVAL_H

#include <vyre/op.h>

typedef void (*vyre_evaluator)(void *to, const void *a, const void *b, const void *c, size_t count);

/* The evaluator of an operation on operands of type `type`; `result` is the result's type and
 * matters only for conversions. Whether the operation is defined for them is the verifier's to
 * know. NULL for an operation that is not pure, or is an elementary function, whose meaning is an
 * expansion into operations that are here. */
vyre_evaluator vyre_eval_find(vyre_op op, vyre_type type, vyre_type result);

/* The parts, by file. */
vyre_evaluator vyre_eval_integer(vyre_op op, vyre_type type);
vyre_evaluator vyre_eval_float(vyre_op op, vyre_type type);
vyre_evaluator vyre_eval_convert(vyre_type from, vyre_type to);

/* Reductions and scans over subgroups: the operation that puts two values together, and the bits of
 * the value that changes nothing. */
vyre_op vyre_eval_combining(uint32_t combination);
uint64_t vyre_eval_identity(uint32_t combination, vyre_type type);

/* Atomics: the operation on the old and the new value that an update does; NONE for loads, stores,
 * exchanges and compare-exchanges. */
vyre_op vyre_eval_updating(vyre_op atomic);

#endif
