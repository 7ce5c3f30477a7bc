/* What MPFR says: results computed exactly and rounded once to a format, subnormals included. */
#ifndef VYRE_TESTS_EVAL_EXACT_H
#define VYRE_TESTS_EVAL_EXACT_H

#include <vyre/op.h>

/* ADD, SUB, MUL, DIV, SQRT, FMA, FLOOR, CEIL, TRUNC and ROUND. */
bool exact_knows(uint32_t op);
uint64_t exact_operation(uint32_t op, vyre_type type, const uint64_t *operands);

/* Between numbers; bool is not one. */
uint64_t exact_conversion(vyre_type from, vyre_type to, uint64_t bits);

void exact_free(void);

#endif
