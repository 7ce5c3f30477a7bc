#include "ir/lookup.h"

const vyre_op_info vyre_op_rows[VYRE_OP_COUNT] = {
#define ROW(name, number, text, shape, rule, effects, cost, doc)                                   \
    [number] = {text, doc, VYRE_SHAPE_##shape, VYRE_RULE_##rule, effects, cost},
    VYRE_OPS(ROW)
#undef ROW
};

const vyre_op_info vyre_op_no_row = {0};

const vyre_op_info *vyre_op_info_of(uint32_t op) {
    return vyre_lookup_op(op);
}

const char *vyre_ordering_name(uint32_t ordering) {
    static const char *const names[VYRE_ORDERING_COUNT] = {
#define NAME(name, number, text) [number] = text,
        VYRE_ORDERINGS(NAME)
#undef NAME
    };
    return ordering < VYRE_ORDERING_COUNT ? names[ordering] : NULL;
}

uint32_t vyre_inst_values(const vyre_ir *ir, const vyre_inst *inst, const uint32_t **values) {
    vyre_list operands = vyre_inst_operands(ir, inst);
    *values = operands.items;
    return operands.count;
}
