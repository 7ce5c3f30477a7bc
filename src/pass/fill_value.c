#include "pass/fill_value.h"

enum { MOST_OPERANDS = 48 }; /* from a value down to what it is made of */

static uint32_t sum_of_operand(fill_values *v, uint32_t operand, uint32_t depth, bool *out_exact);

static uint32_t sum_of_const(fill_values *v, const vyre_const *row, bool *out_exact) {
    vyre_type type = (vyre_type)row->type;
    uint32_t spare = 64 - vyre_type_bytes(type) * 8;
    bool is_signed = vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
    *out_exact = false;
    if (!(vyre_type_class_of(type) & VYRE_CLASS_INTEGER) || (!is_signed && row->bits >> 63)) {
        return SUM_UNKNOWN;
    }
    int64_t value = is_signed ? (int64_t)(row->bits << spare) >> spare : (int64_t)row->bits;
    *out_exact = value >= 0;
    return sum_number(v->sums, value);
}

/* Operations that hold for numbers up to a multiple of what a type holds; wrapping does not matter.
 */
static uint32_t sum_of_ring(fill_values *v, const vyre_inst *inst, uint32_t a, uint32_t b) {
    int64_t count;
    switch (inst->op) {
    case VYRE_OP_ADD: return sum_add(v->sums, a, b);
    case VYRE_OP_SUB: return sum_subtract(v->sums, a, b);
    case VYRE_OP_MUL: return sum_multiply(v->sums, a, b);
    default: break;
    }
    int64_t bits = (int64_t)vyre_type_bytes((vyre_type)inst->type) * 8;
    if (!sum_is_number(v->sums, b, &count)) {
        return SUM_UNKNOWN;
    }
    count &= bits - 1;
    return count < 32 ? sum_multiply(v->sums, a, sum_number(v->sums, (int64_t)1 << count))
                      : SUM_UNKNOWN;
}

/* Operations on numbers themselves. */
static uint32_t sum_of_exact(fill_values *v, const vyre_inst *inst, uint32_t a, uint32_t b) {
    int64_t count;
    switch (inst->op) {
    case VYRE_OP_DIV: return sum_divide(v->sums, SUM_DIV, a, b);
    case VYRE_OP_REM: return sum_divide(v->sums, SUM_REM, a, b);
    case VYRE_OP_MIN: return sum_of(v->sums, SUM_MIN, a, b);
    case VYRE_OP_MAX: return sum_of(v->sums, SUM_MAX, a, b);
    default: break;
    }
    if (!sum_is_number(v->sums, b, &count) || count >= 32) {
        return SUM_UNKNOWN;
    }
    return sum_divide(v->sums, SUM_DIV, a, sum_number(v->sums, (int64_t)1 << count));
}

static uint32_t sum_of_convert(fill_values *v, const vyre_inst *inst, uint32_t depth,
                               bool *out_exact) {
    vyre_type from = vyre_operand_type(v->ir, inst->a), to = (vyre_type)inst->type;
    bool exact;
    uint32_t sum = sum_of_operand(v, inst->a, depth, &exact);
    if (!(vyre_type_class_of(from) & VYRE_CLASS_INTEGER)) {
        return SUM_UNKNOWN;
    }
    bool is_wider = vyre_type_bytes(to) > vyre_type_bytes(from);
    bool fits = vyre_type_bytes(to) >= vyre_type_bytes(from) &&
                (vyre_type_class_of(to) != VYRE_CLASS_SIGNED || is_wider);
    *out_exact = exact && fits;
    return is_wider && !exact ? SUM_UNKNOWN : sum;
}

static uint32_t sum_of_position(fill_values *v, const vyre_inst *inst) {
    sum_table *sums = v->sums;
    switch (inst->op) {
    case VYRE_OP_GID: return sum_of(sums, SUM_GID, inst->a, 0);
    case VYRE_OP_WID: return sum_of(sums, SUM_WID, inst->a, 0);
    case VYRE_OP_LID: return sum_of(sums, SUM_LID, inst->a, 0);
    case VYRE_OP_LANE: return sum_of(sums, SUM_LANE, 0, 0);
    case VYRE_OP_SUBGROUP_ID: return sum_of(sums, SUM_SUBGROUP, 0, 0);
    case VYRE_OP_LEN: return sum_of_length(sums, inst->a);
    case VYRE_OP_PARAM:
        return fill_is_unsigned((vyre_type)inst->type) ? sum_of(sums, SUM_PARAM, inst->a, 0)
                                                       : SUM_UNKNOWN;
    case VYRE_OP_NUM_WORKGROUPS:
        return v->phase->from_resource != VYRE_NONE
                   ? SUM_UNKNOWN
                   : sum_divide(sums, SUM_CEIL_DIV, sum_of_size(sums, v->phase->domain[inst->a]),
                                sum_number(sums, v->phase->workgroup[inst->a]));
    default: return SUM_UNKNOWN;
    }
}

static uint32_t sum_of_inst(fill_values *v, const vyre_inst *inst, uint32_t depth,
                            bool *out_exact) {
    vyre_type type = (vyre_type)inst->type;
    bool a_exact, b_exact;
    if (!(vyre_type_class_of(type) & VYRE_CLASS_INTEGER) || vyre_type_bytes(type) < 4) {
        return SUM_UNKNOWN;
    }
    switch (inst->op) {
    case VYRE_OP_ADD:
    case VYRE_OP_SUB:
    case VYRE_OP_MUL:
    case VYRE_OP_SHL:
    case VYRE_OP_DIV:
    case VYRE_OP_REM:
    case VYRE_OP_MIN:
    case VYRE_OP_MAX:
    case VYRE_OP_SHR: break;
    case VYRE_OP_CONVERT:
    case VYRE_OP_BITCAST: return sum_of_convert(v, inst, depth, out_exact);
    default: *out_exact = true; return sum_of_position(v, inst);
    }
    uint32_t a = sum_of_operand(v, inst->a, depth, &a_exact);
    uint32_t b = sum_of_operand(v, inst->b, depth, &b_exact);
    if (a == SUM_UNKNOWN || b == SUM_UNKNOWN) {
        return SUM_UNKNOWN;
    }
    bool in_ring = inst->op == VYRE_OP_ADD || inst->op == VYRE_OP_SUB || inst->op == VYRE_OP_MUL ||
                   inst->op == VYRE_OP_SHL;
    if (in_ring) {
        uint32_t sum = sum_of_ring(v, inst, a, b);
        int64_t value;
        *out_exact = a_exact && b_exact && sum_is_number(v->sums, sum, &value) && value >= 0 &&
                     value <= INT32_MAX;
        return sum;
    }
    *out_exact = true;
    return a_exact && b_exact && fill_is_unsigned(type) ? sum_of_exact(v, inst, a, b) : SUM_UNKNOWN;
}

static uint32_t sum_of_operand(fill_values *v, uint32_t operand, uint32_t depth, bool *out_exact) {
    *out_exact = false;
    if (operand & VYRE_CONSTANT) {
        return sum_of_const(v, &v->ir->consts[operand & ~VYRE_CONSTANT], out_exact);
    }
    uint32_t *known = &v->indices[operand];
    if (!*known && depth < MOST_OPERANDS) {
        bool exact = false;
        uint32_t sum = sum_of_inst(v, &v->ir->insts[operand], depth + 1, &exact);
        *known = (sum + 1) | (exact && sum != SUM_UNKNOWN ? FILL_EXACT : 0);
    }
    *out_exact = *known & FILL_EXACT;
    return *known ? (*known & ~FILL_EXACT) - 1 : SUM_UNKNOWN;
}

uint32_t fill_value_sum(fill_values *v, uint32_t operand, bool *out_exact) {
    return sum_of_operand(v, operand, 0, out_exact);
}

void fill_value_set(fill_values *v, uint32_t inst, uint32_t sum) {
    v->indices[inst] = (sum + 1) | (sum != SUM_UNKNOWN ? FILL_EXACT : 0);
}
