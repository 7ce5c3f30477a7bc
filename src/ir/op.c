#include <vyre/op.h>
#include <vyre/program.h>

static const vyre_op_info rows[VYRE_OP_COUNT] = {
#define ROW(name, number, text, shape, rule, effects, cost, doc)                                   \
    [number] = {text, doc, VYRE_SHAPE_##shape, VYRE_RULE_##rule, effects, cost},
    VYRE_OPS(ROW)
#undef ROW
};

static const vyre_op_info no_row;

const vyre_op_info *vyre_op_info_of(uint32_t op) {
    return op < VYRE_OP_COUNT ? &rows[op] : &no_row;
}

const char *vyre_ordering_name(uint32_t ordering) {
    static const char *const names[VYRE_ORDERING_COUNT] = {
#define NAME(name, number, text) [number] = text,
        VYRE_ORDERINGS(NAME)
#undef NAME
    };
    return ordering < VYRE_ORDERING_COUNT ? names[ordering] : NULL;
}

const char *vyre_combination_name(uint32_t combination) {
    static const char *const names[VYRE_COMBINE_COUNT] = {
#define NAME(name, number, text) [number] = text,
        VYRE_COMBINATIONS(NAME)
#undef NAME
    };
    return combination < VYRE_COMBINE_COUNT ? names[combination] : NULL;
}

uint32_t vyre_inst_values(const vyre_ir *ir, const vyre_inst *inst, const uint32_t **values) {
    switch ((vyre_shape)vyre_op_info_of(inst->op)->shape) {
    case VYRE_SHAPE_V1:
    case VYRE_SHAPE_IF: *values = &inst->a; return 1;
    case VYRE_SHAPE_V2: *values = &inst->a; return 2;
    case VYRE_SHAPE_V3: *values = &inst->a; return 3;
    case VYRE_SHAPE_R_V1: *values = &inst->b; return 1;
    case VYRE_SHAPE_R_V2: *values = &inst->b; return 2;
    case VYRE_SHAPE_R_LIST: *values = ir->operands + inst->b; return inst->c;
    case VYRE_SHAPE_LIST:
    case VYRE_SHAPE_LOOP: *values = ir->operands + inst->a; return inst->b;
    case VYRE_SHAPE_NONE:
    case VYRE_SHAPE_NUMBER:
    case VYRE_SHAPE_R:
    case VYRE_SHAPE_PICK:
    case VYRE_SHAPE_INLINE: break;
    }
    *values = NULL;
    return 0;
}
