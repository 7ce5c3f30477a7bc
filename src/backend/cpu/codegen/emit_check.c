/* Bounds: which accesses need no look, and tests in front of loops. */
#include "backend/cpu/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/lookup.h"

bool emit_is_inside(const emit *e, uint32_t inst) {
    return vyre_range_of(&e->ranges, inst)->in_bounds || e->tested[inst - e->phase->first];
}

uint32_t emit_inside(emit *e, uint32_t index, uint32_t length, uint32_t lanes) {
    uint32_t most = lanes > 1 ? cpu_write_splat(&e->w, VYRE_TYPE_U64, lanes, length) : length;
    return emit_put(e, "icmp ult %s %%t%u, %%t%u", cpu_type(VYRE_TYPE_U64, lanes).text, index,
                    most);
}

uint32_t emit_inside_mask(emit *e, uint32_t inst, uint32_t wide) {
    uint32_t resource = vyre_access_resource(&e->ir->insts[inst]);
    return emit_is_inside(e, inst)
               ? e->mask
               : emit_and(e, e->mask, emit_inside(e, wide, e->lengths[resource], e->lanes));
}

/* Indices that grow by the same number with every iteration of a loop, in the arithmetic of their
 * type. Then the first and the last one tell of all. */

enum { MOST_TESTS = 24, MOST_CODE = 600, MOST_DEPTH = 12, MOST_STRIDE = 64 };

static bool is_in_loop(const emit *e, uint32_t loop, uint32_t operand) {
    return vyre_operand_is_value(operand) && operand > loop &&
           operand < vyre_owner_end(e->ir, loop);
}

static bool is_32_bits(const emit *e, uint32_t operand) {
    vyre_type type = vyre_operand_type(e->ir, operand);
    return type == VYRE_TYPE_U32 || type == VYRE_TYPE_I32;
}

static bool is_steady(const emit *e, uint32_t loop, uint32_t operand, uint32_t depth);

/* Whether an operand grows steadily, or not at all. */
static bool grows(const emit *e, uint32_t loop, uint32_t operand, uint32_t depth) {
    if (!is_32_bits(e, operand) || !depth) {
        return false;
    }
    if (operand == vyre_for_counter(loop) || is_steady(e, loop, operand, depth)) {
        return true;
    }
    const vyre_inst *i = &e->ir->insts[operand];
    switch (vyre_inst_op(i)) {
    case VYRE_ONE_OF(ADD, SUB):
        return grows(e, loop, i->a, depth - 1) && grows(e, loop, i->b, depth - 1);
    case VYRE_OP_MUL:
        return (grows(e, loop, i->a, depth - 1) && is_steady(e, loop, i->b, depth - 1)) ||
               (is_steady(e, loop, i->a, depth - 1) && grows(e, loop, i->b, depth - 1));
    case VYRE_OP_SHL: return grows(e, loop, i->a, depth - 1) && vyre_operand_is_constant(i->b);
    case VYRE_ONE_OF(CONVERT, BITCAST): return grows(e, loop, i->a, depth - 1);
    case VYRE_ONE_OF(SHR, SELECT):
    case VYRE_ANY_OF(SURROUNDINGS, QUOTIENT, EXTREME, SIGN, INTEGER, BITWISE, BITS, FLOAT, COMPARE,
                     ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    }
    return false;
}

/* Whether an operand is the same in all iterations, and can be computed before them. */
static bool is_steady(const emit *e, uint32_t loop, uint32_t operand, uint32_t depth) {
    if (!is_in_loop(e, loop, operand)) {
        return true;
    }
    const vyre_inst *i = &e->ir->insts[operand];
    const vyre_op_info *info = vyre_lookup_op(i->op);
    if (!depth || info->effects || !is_32_bits(e, operand)) {
        return false;
    }
    switch (vyre_inst_op(i)) {
    case VYRE_ONE_OF(PARAM, LEN, GID, LID, WID, LANE): return true;
    case VYRE_ONE_OF(ADD, SUB, MUL):
        return is_steady(e, loop, i->a, depth - 1) && is_steady(e, loop, i->b, depth - 1);
    case VYRE_ONE_OF(NUM_WORKGROUPS, IN_DOMAIN, SUBGROUP_ID, ITERATION):
    case VYRE_ANY_OF(QUOTIENT, EXTREME, SIGN, INTEGER, LOGIC, BITS, FLOAT, COMPARE, CHOICE,
                     ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    }
    return false;
}

/* Lane 0 of an operand in the iteration where the counter is `counter`. */
static uint32_t in_iteration(emit *e, uint32_t loop, uint32_t operand, uint32_t counter) {
    if (operand == vyre_for_counter(loop)) {
        return counter;
    }
    if (!is_in_loop(e, loop, operand)) {
        return emit_first(e, operand);
    }
    const vyre_inst *i = &e->ir->insts[operand];
    bool is_binary = vyre_inst_shape(i) == VYRE_SHAPE_V2;
    if (!is_binary && vyre_inst_shape(i) != VYRE_SHAPE_V1) {
        emit_surroundings(e, operand);
        return emit_first(e, operand);
    }
    uint32_t a = in_iteration(e, loop, i->a, counter);
    uint32_t b = is_binary ? in_iteration(e, loop, i->b, counter) : 0;
    return cpu_write_op(&e->w, vyre_inst_op(i), vyre_operand_type(e->ir, i->a), vyre_inst_type(i),
                        1, a, b, 0);
}

/* Whether an access of the loop is to be tested. */
static bool is_testable(const emit *e, uint32_t loop, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    if ((i->op != VYRE_OP_LOAD && i->op != VYRE_OP_STORE) || emit_is_inside(e, inst)) {
        return false;
    }
    uint32_t index = vyre_access_index(e->ir, i);
    vyre_stride form = emit_stride_of(e, index);
    bool has_form =
        !cpu_varies(&e->facts, index) ||
        (form.kind == VYRE_STRIDE_AFFINE && form.stride > 0 && form.stride <= MOST_STRIDE);
    return has_form && grows(e, loop, index, MOST_DEPTH);
}

/* Of a small loop without others inside, the accesses to be tested. */
static uint32_t find_tests(const emit *e, uint32_t loop, uint32_t *tests) {
    uint32_t count = 0, counter = vyre_for_counter(loop);
    vyre_block all = vyre_owner_blocks(e->ir, loop);
    if (e->scalar || all.end - all.first >= MOST_CODE || !is_32_bits(e, counter) ||
        cpu_varies(&e->facts, counter)) {
        return 0;
    }
    for (uint32_t inst = all.first; inst < all.end; inst++) {
        if (vyre_op_is_loop(e->ir->insts[inst].op)) {
            return 0;
        }
        if (count < MOST_TESTS && is_testable(e, loop, inst)) {
            tests[count++] = inst;
        }
    }
    return count;
}

/* The largest index of all turns and lanes, in 64 bits, below the length: no sum on the way there
 * was too large for the type, so none wrapped around. */
static uint32_t test_access(emit *e, uint32_t loop, uint32_t inst, uint32_t first, uint32_t next,
                            uint32_t iterations) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t index = vyre_access_index(e->ir, i), length = e->lengths[vyre_access_resource(i)];
    uint32_t from = in_iteration(e, loop, index, first), to = in_iteration(e, loop, index, next);
    uint64_t lanes = cpu_varies(&e->facts, index)
                         ? (uint64_t)emit_stride_of(e, index).stride * (e->lanes - 1)
                         : 0;
    uint32_t step = emit_put(e, "sub i32 %%t%u, %%t%u", to, from);
    uint32_t base = emit_put(e, "zext i32 %%t%u to i64", from);
    uint32_t wide = emit_put(e, "zext i32 %%t%u to i64", step);
    uint32_t last = emit_put(e, "sub i64 %%t%u, 1", iterations);
    uint32_t way = emit_put(e, "mul i64 %%t%u, %%t%u", wide, last);
    uint32_t sum = emit_put(e, "add i64 %%t%u, %%t%u", base, way);
    uint32_t most = emit_put(e, "add i64 %%t%u, %llu", sum, (unsigned long long)lanes);
    uint32_t id = emit_put(e, "icmp ult i64 %%t%u, %%t%u", most, length);
    if (vyre_operand_type(e->ir, index) == VYRE_TYPE_I32) {
        uint32_t positive = emit_put(e, "icmp ult i64 %%t%u, 2147483648", most);
        return emit_put(e, "and i1 %%t%u, %%t%u", id, positive);
    }
    return id;
}

uint32_t emit_loop_test(emit *e, uint32_t inst, uint32_t iterations) {
    vyre_for_range range = vyre_for_range_of(e->ir, inst);
    uint32_t tests[MOST_TESTS], count = find_tests(e, inst, tests), all = 0;
    if (!count) {
        return 0;
    }
    uint32_t first = emit_scalar(e, range.first);
    uint32_t next = emit_put(e, "add i32 %%t%u, %%t%u", first, emit_scalar(e, range.step));
    for (uint32_t k = 0; k < count; k++) {
        uint32_t one = test_access(e, inst, tests[k], first, next, iterations);
        all = all ? emit_put(e, "and i1 %%t%u, %%t%u", all, one) : one;
    }
    return all;
}

void emit_loop_tested(emit *e, uint32_t inst, bool tested) {
    uint32_t tests[MOST_TESTS];
    if (!tested) {
        for (uint32_t k = inst; k < vyre_owner_end(e->ir, inst); k++) {
            e->tested[k - e->phase->first] = false;
        }
        return;
    }
    uint32_t count = find_tests(e, inst, tests);
    for (uint32_t k = 0; k < count; k++) {
        e->tested[tests[k] - e->phase->first] = true;
    }
}
