/* What the public calls about operations, types and operands answer, for code that asks for every
 * instruction of a program: inlined, they cost next to nothing. */
#ifndef VYRE_IR_LOOKUP_H
#define VYRE_IR_LOOKUP_H

#include <vyre/program.h>

extern const vyre_op_info vyre_op_rows[VYRE_OP_COUNT];
extern const vyre_op_info vyre_op_no_row;
extern const uint8_t vyre_type_classes[VYRE_TYPE_COUNT];

static inline const vyre_op_info *vyre_lookup_op(uint32_t op) {
    return op < VYRE_OP_COUNT ? &vyre_op_rows[op] : &vyre_op_no_row;
}

static inline vyre_type_class vyre_lookup_class(vyre_type type) {
    return (uint32_t)type < VYRE_TYPE_COUNT ? (vyre_type_class)vyre_type_classes[type]
                                            : VYRE_CLASS_NONE;
}

static inline bool vyre_lookup_is_loop(uint32_t op) {
    return op == VYRE_OP_FOR || op == VYRE_OP_LOOP;
}

/* Whether a value is a result of an operation that holds no block. */
static inline bool vyre_lookup_is_grouped(const vyre_ir *ir, const vyre_inst *inst) {
    return inst->op == VYRE_OP_RESULT &&
           vyre_lookup_op(ir->insts[inst->a].op)->shape == VYRE_SHAPE_GROUP;
}

/* Whether a jump, the end of a block, leads no further out than a block of such an owner. */
static inline bool vyre_lookup_ends(uint32_t jump, uint32_t owner) {
    switch (jump) {
    case VYRE_OP_BREAK:
    case VYRE_OP_CONTINUE: return vyre_lookup_is_loop(owner);
    case VYRE_OP_RETURN: return owner == VYRE_OP_INLINE;
    default: return true; /* yield, unreachable */
    }
}

/* A list of operands, which may be empty: then it is not to be read, and may be NULL. */
static inline const uint32_t *vyre_lookup_list(const vyre_ir *ir, uint32_t first) {
    return ir->operands ? ir->operands + first : NULL;
}

static inline uint32_t vyre_lookup_values(const vyre_ir *ir, const vyre_inst *inst,
                                          const uint32_t **values) {
    switch ((vyre_shape)vyre_lookup_op(inst->op)->shape) {
    case VYRE_SHAPE_V1:
    case VYRE_SHAPE_IF: *values = &inst->a; return 1;
    case VYRE_SHAPE_V2: *values = &inst->a; return 2;
    case VYRE_SHAPE_V3: *values = &inst->a; return 3;
    case VYRE_SHAPE_R_V1: *values = &inst->b; return 1;
    case VYRE_SHAPE_R_V2: *values = &inst->b; return 2;
    case VYRE_SHAPE_R_LIST: *values = ir->operands + inst->b; return inst->c;
    case VYRE_SHAPE_LIST:
    case VYRE_SHAPE_GROUP:
    case VYRE_SHAPE_LOOP: *values = inst->b ? ir->operands + inst->a : NULL; return inst->b;
    case VYRE_SHAPE_NONE:
    case VYRE_SHAPE_NUMBER:
    case VYRE_SHAPE_R:
    case VYRE_SHAPE_PICK:
    case VYRE_SHAPE_INLINE: break;
    }
    *values = NULL;
    return 0;
}

#endif
