/* Accessors: how to ask a program for its parts. Only src/ir knows the layout of the arrays that
 * <vyre/program.h> describes; passes and backends ask here and never compute with the numbers of
 * instructions. Everything is inlined.
 *
 * An operand is a value, which is the number of the instruction that gives it, or a constant. An
 * instruction that holds blocks is their owner. A loop carries values: carried value k starts as an
 * operand of the loop, is an arg of its block, and leaves the loop as result k. */
#ifndef VYRE_IR_LOOKUP_H
#define VYRE_IR_LOOKUP_H

#include <vyre/program.h>

#include "ir/cases.h"

extern const vyre_op_info vyre_op_rows[VYRE_OP_COUNT];
extern const vyre_op_info vyre_op_no_row;
extern const uint8_t vyre_type_classes[VYRE_TYPE_COUNT];

/* Tables */

static inline bool vyre_step_is_repeat(const vyre_step *step) {
    return step->kind == VYRE_STEP_REPEAT_COUNT || step->kind == VYRE_STEP_REPEAT_WHILE;
}

/* Whether a step contains others. */
static inline bool vyre_step_is_container(const vyre_step *step) {
    return step->kind != VYRE_STEP_PHASE && step->kind != VYRE_STEP_SWAP;
}

static inline const vyre_op_info *vyre_lookup_op(uint32_t op) {
    return op < VYRE_OP_COUNT ? &vyre_op_rows[op] : &vyre_op_no_row;
}

static inline vyre_type_class vyre_lookup_class(vyre_type type) {
    return (uint32_t)type < VYRE_TYPE_COUNT ? (vyre_type_class)vyre_type_classes[type]
                                            : VYRE_CLASS_NONE;
}

static inline vyre_op vyre_inst_op(const vyre_inst *inst) {
    return (vyre_op)inst->op;
}

static inline uint32_t vyre_inst_effects(const vyre_inst *inst) {
    return vyre_lookup_op(inst->op)->effects;
}

static inline vyre_shape vyre_inst_shape(const vyre_inst *inst) {
    return (vyre_shape)vyre_lookup_op(inst->op)->shape;
}

#define VYRE_OP_EQUALS(name, number, text, shape, rule, effects, cost, doc) || op == VYRE_OP_##name
/* gid, lane and the like: where an invocation is. */
static inline bool vyre_op_is_position(uint32_t op) {
    return false VYRE_OPS_POSITION(VYRE_OP_EQUALS, VYRE_OP_EQUALS);
}

static inline bool vyre_op_is_comparison(uint32_t op) {
    return false VYRE_OPS_COMPARE(VYRE_OP_EQUALS, VYRE_OP_EQUALS);
}
#undef VYRE_OP_EQUALS

/* Types: of the value an instruction gives, of a constant, of an array's elements, of an argument.
 * vyre_operand_type is public. */

static inline vyre_type vyre_inst_type(const vyre_inst *inst) {
    return (vyre_type)inst->type;
}

static inline vyre_type vyre_const_type(const vyre_const *constant) {
    return (vyre_type)constant->type;
}

static inline vyre_type vyre_resource_type(const vyre_resource *resource) {
    return (vyre_type)resource->type;
}

static inline vyre_type vyre_arg_type(const vyre_arg *arg) {
    return (vyre_type)arg->type;
}

/* Operands; VYRE_NONE is neither a value nor a constant. */

static inline bool vyre_operand_is_value(uint32_t operand) {
    return !(operand & VYRE_CONSTANT);
}

static inline bool vyre_operand_is_constant(uint32_t operand) {
    return operand & VYRE_CONSTANT && operand != VYRE_NONE;
}

/* Which of the program's constants it is. */
static inline uint32_t vyre_operand_index(uint32_t constant) {
    return constant & ~VYRE_CONSTANT;
}

static inline const vyre_const *vyre_operand_const(const vyre_ir *ir, uint32_t constant) {
    return &ir->consts[vyre_operand_index(constant)];
}

static inline uint64_t vyre_operand_bits(const vyre_ir *ir, uint32_t constant) {
    return vyre_operand_const(ir, constant)->bits;
}

/* Whether an operand is the constant of these bits. */
static inline bool vyre_operand_has_bits(const vyre_ir *ir, uint32_t operand, uint64_t bits) {
    return vyre_operand_is_constant(operand) && vyre_operand_bits(ir, operand) == bits;
}

/* An integer constant extended to 64 bits by the sign rule of its type. */
static inline uint64_t vyre_const_extended(const vyre_const *constant) {
    uint32_t spare = 64 - vyre_type_bytes(vyre_const_type(constant)) * 8;
    bool is_signed = vyre_lookup_class(vyre_const_type(constant)) == VYRE_CLASS_SIGNED;
    return is_signed ? (uint64_t)((int64_t)(constant->bits << spare) >> spare) : constant->bits;
}

/* Operands side by side. */
typedef struct vyre_list {
    const uint32_t *items;
    uint32_t count;
} vyre_list;

/* The value operands of an instruction. */
static inline vyre_list vyre_inst_operands(const vyre_ir *ir, const vyre_inst *inst) {
    switch (vyre_inst_shape(inst)) {
    case VYRE_SHAPE_V1:
    case VYRE_SHAPE_IF: return (vyre_list){&inst->a, 1};
    case VYRE_SHAPE_V2: return (vyre_list){&inst->a, 2};
    case VYRE_SHAPE_V3: return (vyre_list){&inst->a, 3};
    case VYRE_SHAPE_R_V1: return (vyre_list){&inst->b, 1};
    case VYRE_SHAPE_R_V2: return (vyre_list){&inst->b, 2};
    case VYRE_SHAPE_R_LIST: return (vyre_list){ir->operands + inst->b, inst->c};
    case VYRE_SHAPE_MESSAGE: return (vyre_list){inst->c ? ir->operands + inst->b : NULL, inst->c};
    case VYRE_SHAPE_LIST:
    case VYRE_SHAPE_GROUP:
    case VYRE_SHAPE_LOOP: return (vyre_list){inst->b ? ir->operands + inst->a : NULL, inst->b};
    case VYRE_SHAPE_NONE:
    case VYRE_SHAPE_NUMBER:
    case VYRE_SHAPE_R:
    case VYRE_SHAPE_PICK:
    case VYRE_SHAPE_INLINE: break;
    }
    return (vyre_list){NULL, 0};
}

/* Whether an array is in memory that all invocations share. */
static inline bool vyre_resource_is_global(const vyre_resource *resource) {
    return resource->kind <= VYRE_RESOURCE_SCRATCH || resource->kind == VYRE_RESOURCE_FIELD;
}

static inline bool vyre_resource_is_field(const vyre_resource *resource) {
    return resource->kind == VYRE_RESOURCE_FIELD;
}

/* The type that people see an argument's values as: of records, their bytes. */
static inline vyre_type vyre_arg_shown_type(const vyre_arg *arg) {
    return arg->type == VYRE_TYPE_VOID ? VYRE_TYPE_U8 : (vyre_type)arg->type;
}

/* Whether it is a buffer of records, which only its fields access. */
static inline bool vyre_resource_has_records(const vyre_resource *resource) {
    return resource->kind == VYRE_RESOURCE_BUFFER && resource->type == VYRE_TYPE_VOID;
}

/* Bytes from one element to the next. */
static inline uint32_t vyre_resource_stride(const vyre_ir *ir, const vyre_resource *resource) {
    const vyre_resource *row =
        vyre_resource_is_field(resource) ? &ir->resources[resource->size] : resource;
    return vyre_resource_has_records(row) ? row->length : vyre_type_bytes(vyre_resource_type(row));
}

/* What the address of an array has to be a multiple of. */
static inline uint32_t vyre_resource_alignment(const vyre_ir *ir, const vyre_resource *resource) {
    uint32_t bytes = vyre_resource_stride(ir, resource);
    return bytes & (~bytes + 1) & 15 ? bytes & (~bytes + 1) & 15 : 8;
}

/* Bytes of a scalar argument, or of an element of a buffer. */
static inline uint32_t vyre_arg_bytes(const vyre_ir *ir, const vyre_arg *arg) {
    return arg->resource == VYRE_NONE ? vyre_type_bytes((vyre_type)arg->type)
                                      : vyre_resource_stride(ir, &ir->resources[arg->resource]);
}

/* Bytes of a shared, private or constant array. */
static inline uint64_t vyre_resource_bytes(const vyre_resource *resource) {
    return (uint64_t)resource->length * vyre_type_bytes(vyre_resource_type(resource));
}

/* The little-endian elements of a constant array, and the bits of one of them. */
static inline const uint8_t *vyre_constant_data(const vyre_ir *ir, const vyre_resource *constant) {
    return ir->data + constant->size;
}

static inline uint64_t vyre_constant_element(const vyre_ir *ir, const vyre_resource *constant,
                                             uint32_t index) {
    uint32_t bytes = vyre_type_bytes(vyre_resource_type(constant));
    const uint8_t *element = vyre_constant_data(ir, constant) + (size_t)index * bytes;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        bits |= (uint64_t)element[i] << 8 * i;
    }
    return bits;
}

/* Accesses: instructions that read or write an array, or ask for its length. */

static inline bool vyre_inst_has_resource(const vyre_inst *inst) {
    vyre_shape shape = vyre_inst_shape(inst);
    return shape == VYRE_SHAPE_R || shape == VYRE_SHAPE_R_V1 || shape == VYRE_SHAPE_R_V2 ||
           shape == VYRE_SHAPE_R_LIST || shape == VYRE_SHAPE_MESSAGE;
}

static inline uint32_t vyre_access_resource(const vyre_inst *inst) {
    return inst->a;
}

static inline const vyre_resource *vyre_access_array(const vyre_ir *ir, const vyre_inst *inst) {
    return &ir->resources[inst->a];
}

/* The operand that is the index. */
static inline uint32_t vyre_access_index(const vyre_ir *ir, const vyre_inst *inst) {
    return vyre_inst_shape(inst) == VYRE_SHAPE_R_LIST ? ir->operands[inst->b] : inst->b;
}

/* The operand that a store or an atomic brings along; VYRE_NONE where there is none. */
static inline uint32_t vyre_access_value(const vyre_ir *ir, const vyre_inst *inst) {
    vyre_shape shape = vyre_inst_shape(inst);
    return shape == VYRE_SHAPE_R_LIST ? ir->operands[inst->b + 1]
           : shape == VYRE_SHAPE_R_V2 ? inst->c
                                      : VYRE_NONE;
}

/* What a compare-and-swap writes where the element equals the value; VYRE_NONE for others. */
static inline uint32_t vyre_access_desired(const vyre_ir *ir, const vyre_inst *inst) {
    return vyre_inst_shape(inst) == VYRE_SHAPE_R_LIST ? ir->operands[inst->b + 2] : VYRE_NONE;
}

static inline vyre_ordering vyre_atomic_ordering(const vyre_inst *inst) {
    return (vyre_ordering)(inst->aux & 7);
}

static inline vyre_scope vyre_atomic_scope(const vyre_inst *inst) {
    return (vyre_scope)(inst->aux >> 3);
}

/* Instructions from `first` up to `end`: a block, the last of which is the terminator; a part of
 * one; or the args or results of an owner. */
typedef struct vyre_block {
    uint32_t first, end;
} vyre_block;

static inline uint32_t vyre_block_terminator(vyre_block of) {
    return of.end - 1;
}

static inline vyre_block vyre_phase_block(const vyre_phase *phase) {
    return (vyre_block){phase->first, phase->end};
}

/* All that stands in the blocks of an owner, args included. */
static inline vyre_block vyre_owner_blocks(const vyre_ir *ir, uint32_t owner) {
    return (vyre_block){owner + 1, ir->insts[owner].c};
}

/* The first instruction behind the blocks of an owner. */
static inline uint32_t vyre_owner_end(const vyre_ir *ir, uint32_t owner) {
    return ir->insts[owner].c;
}

static inline vyre_block vyre_then_block(const vyre_ir *ir, uint32_t owner) {
    return (vyre_block){owner + 1, ir->insts[owner].b};
}

static inline vyre_block vyre_else_block(const vyre_ir *ir, uint32_t owner) {
    return (vyre_block){ir->insts[owner].b, ir->insts[owner].c};
}

/* Whether a branch does nothing and gives nothing. */
static inline bool vyre_block_is_empty(const vyre_ir *ir, vyre_block branch) {
    return ir->insts[branch.first].op == VYRE_OP_YIELD && !ir->insts[branch.first].b;
}

/* The instruction behind another one of the same block; its own blocks are passed over. */
static inline uint32_t vyre_inst_next(const vyre_ir *ir, uint32_t inst) {
    bool is_owner = vyre_inst_effects(&ir->insts[inst]) & VYRE_EFFECT_BLOCK;
    return is_owner ? ir->insts[inst].c : inst + 1;
}

/* Results of an owner, or of an operation that gives several values. */

static inline uint32_t vyre_result(const vyre_ir *ir, uint32_t owner, uint32_t k) {
    return ir->insts[owner].c + k;
}

static inline uint32_t vyre_result_count(const vyre_ir *ir, uint32_t owner) {
    const vyre_inst *result = &ir->insts[ir->insts[owner].c];
    uint32_t count = 0;
    while (result[count].op == VYRE_OP_RESULT && result[count].a == owner) {
        count++;
    }
    return count;
}

static inline vyre_block vyre_results(const vyre_ir *ir, uint32_t owner) {
    uint32_t first = ir->insts[owner].c;
    return (vyre_block){first, first + vyre_result_count(ir, owner)};
}

/* Whose arg or result an instruction is, and which one. */

static inline uint32_t vyre_pick_owner(const vyre_inst *pick) {
    return pick->a;
}

static inline uint32_t vyre_pick_index(const vyre_inst *pick) {
    return pick->b;
}

/* Whether a value is a result of an operation that holds no block. */
static inline bool vyre_is_grouped(const vyre_ir *ir, const vyre_inst *inst) {
    return inst->op == VYRE_OP_RESULT && vyre_inst_shape(&ir->insts[inst->a]) == VYRE_SHAPE_GROUP;
}

/* Loops */

static inline bool vyre_op_is_loop(uint32_t op) {
    return op == VYRE_OP_FOR || op == VYRE_OP_LOOP;
}

/* The operands of a `for` that say what it counts. */
typedef struct vyre_for_range {
    uint32_t first, end, step;
} vyre_for_range;

static inline vyre_for_range vyre_for_range_of(const vyre_ir *ir, uint32_t loop) {
    const uint32_t *values = ir->operands + ir->insts[loop].a;
    return (vyre_for_range){values[0], values[1], values[2]};
}

/* The same as numbers, extended to 64 bits; false unless all three are constants. */
typedef struct vyre_for_numbers {
    uint64_t first, step, iterations;
} vyre_for_numbers;

static inline bool vyre_for_numbers_of(const vyre_ir *ir, uint32_t loop, vyre_for_numbers *out) {
    vyre_for_range range = vyre_for_range_of(ir, loop);
    if (vyre_operand_is_value(range.first) || vyre_operand_is_value(range.end) ||
        vyre_operand_is_value(range.step)) {
        return false;
    }
    const vyre_const *first = vyre_operand_const(ir, range.first);
    uint64_t end = vyre_const_extended(vyre_operand_const(ir, range.end));
    out->first = vyre_const_extended(first);
    out->step = vyre_const_extended(vyre_operand_const(ir, range.step));
    bool is_empty = vyre_lookup_class(vyre_const_type(first)) == VYRE_CLASS_SIGNED
                        ? (int64_t)out->first >= (int64_t)end || (int64_t)out->step <= 0
                        : out->first >= end || !out->step;
    out->iterations = is_empty ? 0 : (end - out->first - 1) / out->step + 1;
    return true;
}

/* Whether a range never runs, whatever the parts are that are unknown: NULL. Numbers are extended
 * to 64 bits. */
static inline bool vyre_range_never_runs(vyre_type type, const uint64_t *first, const uint64_t *end,
                                         bool counts_down) {
    uint32_t unused = 64 - vyre_type_bytes(type) * 8;
    if (vyre_lookup_class(type) == VYRE_CLASS_SIGNED) {
        int64_t most = INT64_MAX >> unused, least = INT64_MIN >> unused;
        int64_t low = first ? (int64_t)*first : least, high = end ? (int64_t)*end : most;
        int64_t top = first ? (int64_t)*first : most, bottom = end ? (int64_t)*end : least;
        return counts_down ? top <= bottom : low >= high;
    }
    uint64_t most = UINT64_MAX >> unused;
    return counts_down ? (first ? *first : most) <= (end ? *end : 0)
                       : (first ? *first : 0) >= (end ? *end : most);
}

static inline uint32_t vyre_for_counter(uint32_t loop) {
    return loop + 1;
}

/* The operands that the carried values start as. */
static inline vyre_list vyre_loop_initial(const vyre_ir *ir, uint32_t loop) {
    const vyre_inst *inst = &ir->insts[loop];
    uint32_t head = inst->op == VYRE_OP_FOR ? 3 : 0;
    return (vyre_list){inst->b > head ? ir->operands + inst->a + head : NULL, inst->b - head};
}

/* The arg of carried value k. */
static inline uint32_t vyre_loop_arg(const vyre_ir *ir, uint32_t loop, uint32_t k) {
    return loop + 1 + (ir->insts[loop].op == VYRE_OP_FOR) + k;
}

/* Which carried value an arg is; VYRE_NONE for a counter. */
static inline uint32_t vyre_arg_index(const vyre_ir *ir, const vyre_inst *arg) {
    bool of_for = ir->insts[arg->a].op == VYRE_OP_FOR;
    return arg->b - of_for; /* 0 - 1 is VYRE_NONE */
}

/* All args: of a `for` the counter, then the carried values. */
static inline vyre_block vyre_loop_args(const vyre_ir *ir, uint32_t loop) {
    const vyre_inst *inst = &ir->insts[loop];
    return (vyre_block){loop + 1, loop + 1 + inst->b - (inst->op == VYRE_OP_FOR ? 2 : 0)};
}

/* The args of the carried values alone. */
static inline vyre_block vyre_carried_args(const vyre_ir *ir, uint32_t loop) {
    return (vyre_block){vyre_loop_arg(ir, loop, 0), vyre_loop_args(ir, loop).end};
}

/* The code of a `for`, `loop` or `inline`, without args. */
static inline vyre_block vyre_body_block(const vyre_ir *ir, uint32_t owner) {
    const vyre_inst *inst = &ir->insts[owner];
    bool is_loop = vyre_op_is_loop(inst->op);
    return (vyre_block){is_loop ? vyre_loop_args(ir, owner).end : owner + 1, inst->c};
}

/* Jumps: the terminators of blocks. */

/* Whether a jump leads no further out than the block of an owner; VYRE_NONE is the phase. */
static inline bool vyre_jump_ends(const vyre_ir *ir, uint32_t jump, uint32_t owner) {
    if (owner == VYRE_NONE) {
        return true;
    }
    switch ((vyre_op)jump) {
    case VYRE_ONE_OF(BREAK, CONTINUE): return vyre_op_is_loop(ir->insts[owner].op);
    case VYRE_OP_RETURN: return ir->insts[owner].op == VYRE_OP_INLINE;
    case VYRE_ONE_OF(YIELD, UNREACHABLE):
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, BLOCK, PICK, NONE):
        break;
    }
    return true;
}

/* The arg or result of `owner` that takes value k of a jump which leads there: a `continue` goes on
 * with a loop, all others leave. */
static inline uint32_t vyre_jump_target(const vyre_ir *ir, const vyre_inst *jump, uint32_t owner,
                                        uint32_t k) {
    return jump->op == VYRE_OP_CONTINUE ? vyre_loop_arg(ir, owner, k) : vyre_result(ir, owner, k);
}

#endif
