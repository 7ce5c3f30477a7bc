/* Bounds of sizes that change with the counters of repeats, for arrays that have one size. */
#include "ir/size.h"
#include "pass/rebuild.h"

static uint32_t op(vyre_rebuild *r, vyre_size_op op, uint32_t left, uint32_t right) {
    return vyre_build_size_op(r->to, op, left, right);
}

static uint32_t number(vyre_rebuild *r, uint64_t value) {
    return vyre_build_size_const(r->to, value);
}

/* left - right, but not below 0. */
static uint32_t difference(vyre_rebuild *r, uint32_t left, uint32_t right) {
    uint32_t most = op(r, VYRE_SIZE_MIN, vyre_build_size_copy(r->to, left), right);
    return op(r, VYRE_SIZE_SUB, left, most);
}

static uint32_t at_least_one(vyre_rebuild *r, uint32_t size) {
    return op(r, VYRE_SIZE_MAX, size, number(r, 1));
}

static uint32_t counter_bound(vyre_rebuild *r, uint32_t step, bool upper) {
    const vyre_step *row = &r->ir->steps[step];
    if (!upper) {
        return number(r, 0);
    }
    if (row->kind == VYRE_STEP_REPEAT_WHILE) {
        return number(r, UINT32_MAX);
    }
    uint32_t count = vyre_rebuild_size_bound(r, row->size, true);
    return difference(r, count, number(r, 1));
}

uint32_t vyre_rebuild_size_bound(vyre_rebuild *r, uint32_t size, bool upper) {
    const vyre_size_node *node = &r->ir->sizes[size];
    if (!vyre_size_counts(r->ir, size)) {
        return vyre_rebuild_size(r, size);
    }
    if (node->op == VYRE_SIZE_ITERATION) {
        return counter_bound(r, node->a, upper);
    }
    bool falls = node->op == VYRE_SIZE_SUB || node->op == VYRE_SIZE_DIV ||
                 node->op == VYRE_SIZE_CEIL_DIV; /* as its second operand grows */
    uint32_t left = vyre_rebuild_size_bound(r, node->a, upper);
    uint32_t right = vyre_rebuild_size_bound(r, node->b, falls ? !upper : upper);
    switch (node->op) {
    case VYRE_SIZE_SUB: return difference(r, left, right);
    case VYRE_SIZE_DIV:
    case VYRE_SIZE_CEIL_DIV: return op(r, (vyre_size_op)node->op, left, at_least_one(r, right));
    case VYRE_SIZE_REM:
        return upper ? op(r, VYRE_SIZE_MIN, left, difference(r, right, number(r, 1)))
                     : number(r, 0);
    default: return op(r, (vyre_size_op)node->op, left, right);
    }
}
