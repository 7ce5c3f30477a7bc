#include "pass/correct_grain.h"

#include "base/alloc.h"
#include "ir/cases.h"
#include "ir/lookup.h"

/* Of 0, and of other numbers that are multiples of whatever is asked for. */
enum { COARSEST = 4000, MOST_ELEMENTS = 4096 };

typedef struct layout {
    int mantissa, least; /* bits of the fraction; exponent of the smallest normal number */
} layout;

static layout layout_of(vyre_type type) {
    return type == VYRE_TYPE_F64   ? (layout){52, -1022}
           : type == VYRE_TYPE_F16 ? (layout){10, -14}
                                   : (layout){type == VYRE_TYPE_F32 ? 23 : 7, -126};
}

/* What every number of a type is a multiple of. */
static int finest(vyre_type type) {
    layout l = layout_of(type);
    return l.least - l.mantissa;
}

static int smaller(int a, int b) {
    return a < b ? a : b;
}

static int of_bits(vyre_type type, uint64_t bits) {
    layout l = layout_of(type);
    uint64_t one = (uint64_t)1 << l.mantissa, fraction = bits & (one - 1);
    int fields = 2 * (1 - l.least) + 1, field = (int)(bits >> l.mantissa) & fields;
    uint64_t digits = fraction | (field ? one : 0);
    if (!digits || field == fields) {
        return COARSEST;
    }
    int grain = finest(type) + (field ? field - 1 : 0);
    for (; !(digits & 1); digits >>= 1) {
        grain++;
    }
    return grain;
}

/* Integers are multiples of 1. */
static int of_operand(const correct_grains *g, uint32_t operand) {
    if (vyre_lookup_class(vyre_operand_type(g->ir, operand)) != VYRE_CLASS_FLOAT) {
        return 0;
    }
    return vyre_operand_is_value(operand)
               ? g->rows[operand]
               : of_bits(vyre_operand_type(g->ir, operand), vyre_operand_bits(g->ir, operand));
}

/* Of the elements of a short constant array. */
static int of_load(const correct_grains *g, const vyre_inst *inst) {
    const vyre_resource *array = vyre_access_array(g->ir, inst);
    vyre_type type = vyre_inst_type(inst);
    int grain = COARSEST;
    if (array->kind != VYRE_RESOURCE_CONSTANT || array->length > MOST_ELEMENTS) {
        return finest(type);
    }
    for (uint32_t i = 0; i < array->length; i++) {
        grain = smaller(grain, of_bits(type, vyre_constant_element(g->ir, array, i)));
    }
    return grain;
}

static int floor_half(int grain) {
    return grain >= 0 ? grain / 2 : -((1 - grain) / 2);
}

/* Rounding keeps a number a multiple, unless to less than the type has. */
static int grain_of(const correct_grains *g, const vyre_inst *inst) {
    vyre_type type = vyre_inst_type(inst);
    switch (vyre_inst_op(inst)) {
    case VYRE_ONE_OF(ADD, SUB, MIN, MAX):
        return smaller(of_operand(g, inst->a), of_operand(g, inst->b));
    case VYRE_OP_MUL: return of_operand(g, inst->a) + of_operand(g, inst->b);
    case VYRE_OP_FMA:
        return smaller(of_operand(g, inst->a) + of_operand(g, inst->b), of_operand(g, inst->c));
    case VYRE_OP_SQRT: return floor_half(of_operand(g, inst->a)) - layout_of(type).mantissa;
    case VYRE_ONE_OF(FLOOR, CEIL, TRUNC, ROUND): return 0;
    case VYRE_ONE_OF(NEG, ABS, COPYSIGN, CONVERT): return of_operand(g, inst->a);
    case VYRE_OP_SELECT: return smaller(of_operand(g, inst->b), of_operand(g, inst->c));
    case VYRE_OP_LOAD: return of_load(g, inst);
    case VYRE_ONE_OF(DIV, REM, BITCAST, STORE, CLEAR, UNIFORM_LOAD):
    case VYRE_ANY_OF(SURROUNDINGS, INTEGER, LOGIC, BITS, COMPARE, ELEMENTARY, ATOMIC, BARRIER,
                     SUBGROUP, CONTROL, NONE):
        break;
    }
    return finest(type);
}

bool correct_grains_init(correct_grains *grains, const vyre_ir *ir) {
    *grains = (correct_grains){ir, vyre_alloc_array(ir->inst_count, sizeof *grains->rows)};
    if (!grains->rows) {
        return false;
    }
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        const vyre_inst *inst = &ir->insts[i];
        vyre_type type = vyre_inst_type(inst);
        int grain = 0;
        if (vyre_lookup_class(type) == VYRE_CLASS_FLOAT) {
            grain = smaller(grain_of(grains, inst), COARSEST);
            grain = grain < finest(type) ? finest(type) : grain;
        }
        grains->rows[i] = (int16_t)grain;
    }
    return true;
}

void correct_grains_deinit(correct_grains *grains) {
    vyre_free(grains->rows);
    *grains = (correct_grains){0};
}

/* A constant beside which it does not matter whether the other side of a comparison is flushed. */
static bool is_normal_constant(const correct_grains *g, uint32_t operand) {
    if (vyre_operand_is_value(operand)) {
        return false;
    }
    vyre_type type = vyre_operand_type(g->ir, operand);
    layout l = layout_of(type);
    uint64_t sign = (uint64_t)1 << (vyre_type_bytes(type) * 8 - 1);
    return (vyre_operand_bits(g->ir, operand) & (sign - 1)) >> l.mantissa;
}

bool correct_grains_are_normal(const correct_grains *g, uint32_t at) {
    const vyre_inst *inst = &g->ir->insts[at];
    vyre_list list = vyre_inst_operands(g->ir, inst);
    vyre_type from = vyre_operand_type(g->ir, list.items[0]), to = vyre_inst_type(inst);
    vyre_op op = vyre_inst_op(inst);
    bool compares = op == VYRE_OP_EQ || op == VYRE_OP_NE || op == VYRE_OP_LT || op == VYRE_OP_LE;
    if (compares && (is_normal_constant(g, inst->a) || is_normal_constant(g, inst->b))) {
        return true;
    }
    if (op == VYRE_OP_CONVERT && to == VYRE_TYPE_F32) { /* f64 has room for all of f32 */
        return of_operand(g, inst->a) >= layout_of(to).least;
    }
    for (uint32_t i = 0; i < list.count; i++) {
        if (of_operand(g, list.items[i]) < layout_of(from).least) {
            return false;
        }
    }
    bool may_fall = op == VYRE_OP_MUL || op == VYRE_OP_FMA;
    return op != VYRE_OP_DIV &&
           (!may_fall || of_operand(g, inst->a) + of_operand(g, inst->b) >= layout_of(from).least);
}
