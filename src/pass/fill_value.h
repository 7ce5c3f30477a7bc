/* Values of a program as sums, for whoever asks how far an index goes. */
#ifndef VYRE_PASS_FILL_VALUE_H
#define VYRE_PASS_FILL_VALUE_H

#include "pass/sum.h"

#define FILL_EXACT 0x80000000u

typedef struct fill_values {
    const vyre_ir *ir;
    sum_table *sums;
    const vyre_phase *phase; /* the one at hand */
    uint32_t *indices; /* by instruction: its sum + 1, with FILL_EXACT; 0 where not asked for yet */
} fill_values;

/* The sum of a value, up to a multiple of what its type holds; `out_exact` tells whether it is the
 * number itself. */
uint32_t fill_value_sum(fill_values *values, uint32_t operand, bool *out_exact);

/* States what the number of an instruction is. */
void fill_value_set(fill_values *values, uint32_t inst, uint32_t sum);

/* Types in which indices and their bounds are compared as they are counted. */
static inline bool fill_is_unsigned(vyre_type type) {
    return type == VYRE_TYPE_U32 || type == VYRE_TYPE_U64;
}

#endif
