#include "ir/eval.h"

#include <string.h>

#include "ir/cases.h"
#include "ir/lookup.h"

/* Bit operations that look only at the size of a type. */

#define SIZED(bytes, memory)                                                                       \
    static void select_##bytes(void *to, const void *a, const void *b, const void *c,              \
                               size_t count) {                                                     \
        memory *r = to;                                                                            \
        const uint8_t *condition = a;                                                              \
        const memory *x = b, *y = c;                                                               \
        for (size_t i = 0; i < count; i++) {                                                       \
            r[i] = condition[i] ? x[i] : y[i];                                                     \
        }                                                                                          \
    }                                                                                              \
    static void copy_##bytes(void *to, const void *a, const void *b, const void *c,                \
                             size_t count) {                                                       \
        (void)b, (void)c;                                                                          \
        memmove(to, a, count *(bytes));                                                            \
    }

SIZED(1, uint8_t)
SIZED(2, uint16_t)
SIZED(4, uint32_t)
SIZED(8, uint64_t)

static vyre_evaluator by_size(vyre_type type, vyre_evaluator one, vyre_evaluator two,
                              vyre_evaluator four, vyre_evaluator eight) {
    switch (vyre_type_bytes(type)) {
    case 1: return one;
    case 2: return two;
    case 4: return four;
    case 8: return eight;
    default: return NULL;
    }
}

vyre_evaluator vyre_eval_find(vyre_op op, vyre_type type, vyre_type result) {
    switch (op) {
    case VYRE_OP_SELECT: return by_size(result, select_1, select_2, select_4, select_8);
    case VYRE_OP_BITCAST: return by_size(type, copy_1, copy_2, copy_4, copy_8);
    case VYRE_OP_CONVERT: return vyre_eval_convert(type, result);
    case VYRE_ANY_OF(ARITHMETIC, INTEGER, LOGIC, BITS, FLOAT, COMPARE):
        return vyre_lookup_class(type) == VYRE_CLASS_FLOAT ? vyre_eval_float(op, type)
                                                           : vyre_eval_integer(op, type);
    case VYRE_ANY_OF(SURROUNDINGS, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    return NULL;
}

vyre_op vyre_eval_combining(uint32_t combination) {
    static const vyre_op operations[VYRE_COMBINE_COUNT] = {
        [VYRE_COMBINE_ADD] = VYRE_OP_ADD, [VYRE_COMBINE_MUL] = VYRE_OP_MUL,
        [VYRE_COMBINE_MIN] = VYRE_OP_MIN, [VYRE_COMBINE_MAX] = VYRE_OP_MAX,
        [VYRE_COMBINE_AND] = VYRE_OP_AND, [VYRE_COMBINE_OR] = VYRE_OP_OR,
        [VYRE_COMBINE_XOR] = VYRE_OP_XOR};
    return operations[combination];
}

vyre_op vyre_eval_updating(vyre_op atomic) {
    switch (atomic) {
    case VYRE_OP_ATOMIC_ADD: return VYRE_OP_ADD;
    case VYRE_OP_ATOMIC_SUB: return VYRE_OP_SUB;
    case VYRE_OP_ATOMIC_AND: return VYRE_OP_AND;
    case VYRE_OP_ATOMIC_OR: return VYRE_OP_OR;
    case VYRE_OP_ATOMIC_XOR: return VYRE_OP_XOR;
    case VYRE_OP_ATOMIC_MIN: return VYRE_OP_MIN;
    case VYRE_OP_ATOMIC_MAX: return VYRE_OP_MAX;
    case VYRE_ONE_OF(ATOMIC_LOAD, ATOMIC_STORE, ATOMIC_EXCHANGE, ATOMIC_CAS):
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, MEMORY, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    }
    return VYRE_OP_NONE;
}

uint64_t vyre_eval_identity(uint32_t combination, vyre_type type) {
    uint32_t width = vyre_type_bytes(type) * 8;
    uint64_t ones = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    uint64_t top = (uint64_t)1 << (width - 1);
    bool is_signed = vyre_lookup_class(type) == VYRE_CLASS_SIGNED;
    static const uint64_t one[VYRE_TYPE_COUNT] = {[VYRE_TYPE_F16] = 0x3c00,
                                                  [VYRE_TYPE_BF16] = 0x3f80,
                                                  [VYRE_TYPE_F32] = 0x3f800000,
                                                  [VYRE_TYPE_F64] = 0x3ff0000000000000};
    static const uint64_t infinity[VYRE_TYPE_COUNT] = {[VYRE_TYPE_F16] = 0x7c00,
                                                       [VYRE_TYPE_BF16] = 0x7f80,
                                                       [VYRE_TYPE_F32] = 0x7f800000,
                                                       [VYRE_TYPE_F64] = 0x7ff0000000000000};
    switch ((vyre_combination)combination) {
    case VYRE_COMBINE_MUL: return one[type] ? one[type] : 1;
    case VYRE_COMBINE_MIN: return infinity[type] ? infinity[type] : is_signed ? top - 1 : ones;
    case VYRE_COMBINE_MAX: return infinity[type] ? infinity[type] | top : is_signed ? top : 0;
    case VYRE_COMBINE_AND: return type == VYRE_TYPE_BOOL ? 1 : ones;
    case VYRE_COMBINE_ADD:
    case VYRE_COMBINE_OR:
    case VYRE_COMBINE_XOR:
    case VYRE_COMBINE_COUNT: break;
    }
    return 0;
}
