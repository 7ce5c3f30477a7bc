/* Lowering of a `let` of a plain number, whose first typed use decides its type. */
#ifndef VYRE_TEXT_LOWER_LET_H
#define VYRE_TEXT_LOWER_LET_H

#include "text/lower.h"

/* Notes that a binding is a plain number, which took the type that is usual. */
void lower_remember_plain(vyre_name_binding *binding, vyre_operand plain);

/* Makes an operand that is the name of such a number, nowhere used yet, one of another type, for
 * good. Only where the types differ, which is a mistake otherwise. False if it is none, or does not
 * fit. */
bool lower_adopt(vyre_lower *lower, uint32_t node, vyre_operand *operand, vyre_value_type type);

/* A use that decides nothing. */
void lower_forget_read(vyre_lower *lower, uint32_t node);

/* The same for two operands of which either may be such a number. */
void lower_adopt_either(vyre_lower *lower, const uint32_t nodes[2], vyre_operand *left,
                        vyre_operand *right);

/* And for several, of which those of the bits in `same` have one type. */
void lower_adopt_same(vyre_lower *lower, const uint32_t *nodes, vyre_operand *operands,
                      uint32_t count, uint32_t same);

#endif
