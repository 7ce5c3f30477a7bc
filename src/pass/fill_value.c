#include "pass/fill_value.h"

#include "ir/cases.h"
#include "ir/lookup.h"

enum { MOST_OPERANDS = 48 }; /* from a value down to what it is made of */

static uint32_t sum_of_operand(fill_values *v, uint32_t operand, uint32_t depth, bool *out_exact);

static uint32_t sum_of_const(fill_values *v, const vyre_const *row, bool *out_exact) {
    vyre_type_class kind = vyre_lookup_class(vyre_const_type(row));
    int64_t value = (int64_t)vyre_const_extended(row);
    *out_exact = false;
    if (!(kind & VYRE_CLASS_INTEGER) || (kind == VYRE_CLASS_UNSIGNED && value < 0)) {
        return SUM_UNKNOWN;
    }
    *out_exact = value >= 0;
    return sum_number(v->sums, value);
}

/* 2 to the power of a constant, which is taken modulo `width`. */
static uint32_t sum_of_power(fill_values *v, uint32_t count, int64_t width) {
    int64_t number;
    if (!sum_is_number(v->sums, count, &number)) {
        return SUM_UNKNOWN;
    }
    number &= width - 1;
    return number < 32 ? sum_number(v->sums, (int64_t)1 << number) : SUM_UNKNOWN;
}

static uint32_t sum_of_convert(fill_values *v, const vyre_inst *inst, uint32_t depth,
                               bool *out_exact) {
    vyre_type from = vyre_operand_type(v->ir, inst->a), to = vyre_inst_type(inst);
    bool exact;
    uint32_t sum = sum_of_operand(v, inst->a, depth, &exact);
    if (!(vyre_lookup_class(from) & VYRE_CLASS_INTEGER)) {
        return SUM_UNKNOWN;
    }
    bool is_wider = vyre_type_bytes(to) > vyre_type_bytes(from);
    bool fits = vyre_type_bytes(to) >= vyre_type_bytes(from) &&
                (vyre_lookup_class(to) != VYRE_CLASS_SIGNED || is_wider);
    *out_exact = exact && fits;
    return is_wider && !exact ? SUM_UNKNOWN : sum;
}

typedef struct pair {
    uint32_t a, b;
    bool known, exact; /* both of them */
} pair;

static pair operands_of(fill_values *v, const vyre_inst *inst, uint32_t depth) {
    bool a_exact, b_exact;
    pair p = {.a = sum_of_operand(v, inst->a, depth, &a_exact)};
    p.b = sum_of_operand(v, inst->b, depth, &b_exact);
    p.known = p.a != SUM_UNKNOWN && p.b != SUM_UNKNOWN;
    p.exact = a_exact && b_exact;
    return p;
}

/* Operations that hold for numbers up to a multiple of what a type holds; wrapping does not matter.
 */
static uint32_t sum_of_ring(fill_values *v, const vyre_inst *inst, uint32_t depth,
                            uint32_t (*combine)(sum_table *sums, uint32_t a, uint32_t b),
                            bool *out_exact) {
    pair p = operands_of(v, inst, depth);
    int64_t value;
    if (!p.known) {
        return SUM_UNKNOWN;
    }
    if (inst->op == VYRE_OP_SHL) {
        p.b = sum_of_power(v, p.b, (int64_t)vyre_type_bytes(vyre_inst_type(inst)) * 8);
    }
    uint32_t sum = combine(v->sums, p.a, p.b);
    *out_exact = p.exact && sum_is_number(v->sums, sum, &value) && value >= 0 && value <= INT32_MAX;
    return sum;
}

/* Operations on numbers themselves. */
static uint32_t sum_of_exact(fill_values *v, const vyre_inst *inst, uint32_t depth, sum_kind kind,
                             bool *out_exact) {
    pair p = operands_of(v, inst, depth);
    *out_exact = true;
    if (!p.known || !p.exact || !fill_is_unsigned(vyre_inst_type(inst))) {
        return SUM_UNKNOWN;
    }
    if (inst->op == VYRE_OP_SHR) {
        p.b = sum_of_power(v, p.b, (int64_t)1 << 32); /* past the width: not known */
    }
    return kind == SUM_MIN || kind == SUM_MAX ? sum_of(v->sums, kind, p.a, p.b)
                                              : sum_divide(v->sums, kind, p.a, p.b);
}

static uint32_t sum_of_groups(fill_values *v, uint32_t dimension) {
    return v->phase->from_resource != VYRE_NONE
               ? SUM_UNKNOWN
               : sum_divide(v->sums, SUM_CEIL_DIV,
                            sum_of_size(v->sums, v->phase->domain[dimension]),
                            sum_number(v->sums, v->phase->workgroup[dimension]));
}

static uint32_t sum_of_inst(fill_values *v, const vyre_inst *inst, uint32_t depth,
                            bool *out_exact) {
    vyre_type type = vyre_inst_type(inst);
    if (!(vyre_lookup_class(type) & VYRE_CLASS_INTEGER) || vyre_type_bytes(type) < 4) {
        return SUM_UNKNOWN;
    }
    *out_exact = true;
    switch (vyre_inst_op(inst)) {
    case VYRE_OP_ADD: return sum_of_ring(v, inst, depth, sum_add, out_exact);
    case VYRE_OP_SUB: return sum_of_ring(v, inst, depth, sum_subtract, out_exact);
    case VYRE_ONE_OF(MUL, SHL): return sum_of_ring(v, inst, depth, sum_multiply, out_exact);
    case VYRE_ONE_OF(DIV, SHR): return sum_of_exact(v, inst, depth, SUM_DIV, out_exact);
    case VYRE_OP_REM: return sum_of_exact(v, inst, depth, SUM_REM, out_exact);
    case VYRE_OP_MIN: return sum_of_exact(v, inst, depth, SUM_MIN, out_exact);
    case VYRE_OP_MAX: return sum_of_exact(v, inst, depth, SUM_MAX, out_exact);
    case VYRE_ONE_OF(CONVERT, BITCAST): return sum_of_convert(v, inst, depth, out_exact);
    case VYRE_OP_GID: return sum_of(v->sums, SUM_GID, inst->a, 0);
    case VYRE_OP_WID: return sum_of(v->sums, SUM_WID, inst->a, 0);
    case VYRE_OP_LID: return sum_of(v->sums, SUM_LID, inst->a, 0);
    case VYRE_OP_LANE: return sum_of(v->sums, SUM_LANE, 0, 0);
    case VYRE_OP_SUBGROUP_ID: return sum_of(v->sums, SUM_SUBGROUP, 0, 0);
    case VYRE_OP_LEN: return sum_of_length(v->sums, vyre_access_resource(inst));
    case VYRE_OP_NUM_WORKGROUPS: return sum_of_groups(v, inst->a);
    case VYRE_OP_PARAM:
        return fill_is_unsigned(type) ? sum_of(v->sums, SUM_PARAM, inst->a, 0) : SUM_UNKNOWN;
    case VYRE_ONE_OF(IN_DOMAIN, ITERATION, SELECT):
    case VYRE_ANY_OF(SIGN, INTEGER, BITWISE, BITS, FLOAT, COMPARE, ELEMENTARY, ACCESS, BARRIER,
                     SUBGROUP, CONTROL, NONE):
        break;
    }
    return SUM_UNKNOWN;
}

static uint32_t sum_of_operand(fill_values *v, uint32_t operand, uint32_t depth, bool *out_exact) {
    *out_exact = false;
    if (vyre_operand_is_constant(operand)) {
        return sum_of_const(v, vyre_operand_const(v->ir, operand), out_exact);
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
