/* Type rules of the operations whose result follows from their operands. The builder and the
 * verifier both ask here, so that they cannot disagree. */
#ifndef VYRE_IR_RULE_H
#define VYRE_IR_RULE_H

#include <vyre/op.h>

/* What is wrong with an operand; filled in only on failure. */
typedef struct vyre_rule_error {
    uint32_t code;    /* of the diagnostic */
    uint32_t operand; /* from 1 */
    char message[160];
    char fix[160];
} vyre_rule_error;

/* The number of values the operation takes; rules other than NONE and OWN. */
uint32_t vyre_rule_arity(vyre_op op);

/* The result type for these operand types. `aux` is the combination for COMBINE, `wanted` the
 * result type for CONVERT and BITCAST, `subgroup` the width for BALLOT; each ignored elsewhere. */
bool vyre_rule_check(vyre_op op, uint32_t aux, vyre_type wanted, uint32_t subgroup,
                     const vyre_type *types, vyre_type *out_type, vyre_rule_error *error);

/* The same for MATRIX: VYRE_MATRIX_OPERANDS types, and the width of the subgroup. */
bool vyre_rule_check_matrix(const vyre_type *types, uint32_t subgroup, vyre_rule_error *error);

/* Whether atomics work on the type. */
static inline bool vyre_rule_atomic_type(vyre_type type) {
    return type == VYRE_TYPE_I32 || type == VYRE_TYPE_U32 || type == VYRE_TYPE_I64 ||
           type == VYRE_TYPE_U64;
}

/* What a dimension of a position is called: ".x". */
const char *vyre_rule_component(uint32_t dimension);

/* Whether an atomic operation may have that ordering. */
bool vyre_rule_ordering_allowed(vyre_op op, uint32_t ordering);

/* Which ones it may have, as a fix: "use relaxed, acquire or seq_cst". */
enum { VYRE_RULE_ADVICE = 64 };
void vyre_rule_ordering_advice(vyre_op op, char out[VYRE_RULE_ADVICE]);

#endif
