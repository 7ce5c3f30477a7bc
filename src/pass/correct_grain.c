#include "pass/correct_grain.h"

#include "base/alloc.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "pass/flow.h"

/* Of 0, and of other numbers that are multiples of whatever is asked for. */
enum { COARSEST = 4000, MOST_ELEMENTS = 4096, MOST_ROUNDS = 16 };

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

static int16_t within(vyre_type type, int grain) {
    grain = smaller(grain, COARSEST);
    return (int16_t)(grain < finest(type) ? finest(type) : grain);
}

static void find_rows(const correct_grains *g) {
    for (uint32_t i = 0; i < g->ir->inst_count; i++) {
        const vyre_inst *inst = &g->ir->insts[i];
        vyre_type type = vyre_inst_type(inst);
        bool is_float = vyre_lookup_class(type) == VYRE_CLASS_FLOAT;
        g->rows[i] = is_float ? within(type, grain_of(g, inst)) : 0;
    }
}

/* Values that loops carry and blocks give */

typedef struct assumption {
    const correct_grains *known;
    correct_grains own; /* whose rows are what is assumed */
    vyre_flow flow;
    bool changed;
} assumption;

static bool is_picked(const vyre_ir *ir, const vyre_inst *inst) {
    bool is_pick = inst->op == VYRE_OP_ARG || inst->op == VYRE_OP_RESULT;
    return is_pick && !vyre_is_grouped(ir, inst) &&
           vyre_lookup_class(vyre_inst_type(inst)) == VYRE_CLASS_FLOAT;
}

static void pick(assumption *a, uint32_t to, uint32_t operand) {
    const vyre_inst *inst = &a->own.ir->insts[to];
    if (!is_picked(a->own.ir, inst)) {
        return;
    }
    int grain = within(vyre_inst_type(inst), of_operand(&a->own, operand));
    if (grain < a->own.rows[to]) {
        a->own.rows[to] = (int16_t)grain;
        a->changed = true;
    }
}

static void pick_all(assumption *a, uint32_t at) {
    const vyre_ir *ir = a->own.ir;
    const vyre_inst *inst = &ir->insts[at];
    if (vyre_op_is_loop(inst->op)) {
        vyre_list initial = vyre_loop_initial(ir, at);
        for (uint32_t k = 0; k < initial.count; k++) {
            pick(a, vyre_loop_arg(ir, at, k), initial.items[k]);
            if (inst->op == VYRE_OP_FOR) {
                pick(a, vyre_result(ir, at, k), vyre_loop_arg(ir, at, k));
            }
        }
    } else if (a->flow.target[at] != VYRE_NONE) {
        vyre_list values = vyre_inst_operands(ir, inst);
        for (uint32_t k = 0; k < values.count; k++) {
            pick(a, vyre_jump_target(ir, inst, a->flow.target[at], k), values.items[k]);
        }
    }
}

static void assume_one(assumption *a, uint32_t at) {
    const vyre_inst *inst = &a->own.ir->insts[at];
    vyre_type type = vyre_inst_type(inst);
    bool is_float = vyre_lookup_class(type) == VYRE_CLASS_FLOAT;
    if (!is_float || is_picked(a->own.ir, inst)) {
        return;
    }
    int grain = grain_of(&a->own, inst), least = layout_of(type).least;
    if (grain < least && correct_grains_may_group(a->known, at)) {
        grain = least;
    }
    a->own.rows[at] = within(type, grain);
}

/* From the best that may be to what holds in every iteration. */
static void find_assumed(assumption *a) {
    const vyre_ir *ir = a->own.ir;
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        a->own.rows[i] = is_picked(ir, &ir->insts[i]) ? COARSEST : a->known->rows[i];
    }
    a->changed = true;
    for (uint32_t round = 0; a->changed; round++) {
        a->changed = false;
        for (uint32_t i = 0; i < ir->inst_count; i++) {
            if (round == MOST_ROUNDS && is_picked(ir, &ir->insts[i])) {
                a->own.rows[i] = within(vyre_inst_type(&ir->insts[i]), -COARSEST);
                a->changed = true;
            }
            assume_one(a, i);
            pick_all(a, i);
        }
    }
}

static bool assume(correct_grains *grains) {
    assumption a = {.known = grains, .own = {.ir = grains->ir, .rows = grains->assumed}};
    if (!vyre_flow_init(&a.flow, grains->ir)) {
        return false;
    }
    find_assumed(&a);
    vyre_flow_deinit(&a.flow);
    return true;
}

bool correct_grains_init(correct_grains *grains, const vyre_ir *ir) {
    *grains = (correct_grains){ir, vyre_alloc_array(ir->inst_count, sizeof *grains->rows),
                               vyre_alloc_array(ir->inst_count, sizeof *grains->assumed)};
    bool made = grains->rows && grains->assumed;
    if (made) {
        find_rows(grains);
        made = assume(grains);
    }
    if (!made) {
        correct_grains_deinit(grains);
    }
    return made;
}

void correct_grains_deinit(correct_grains *grains) {
    vyre_free(grains->rows);
    vyre_free(grains->assumed);
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
    if (vyre_op_is_comparison(op) &&
        (is_normal_constant(g, inst->a) || is_normal_constant(g, inst->b))) {
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

int correct_grain_of(const correct_grains *g, uint32_t operand, bool assumed) {
    return assumed && vyre_operand_is_value(operand) ? g->assumed[operand] : of_operand(g, operand);
}

bool correct_grains_may_group(const correct_grains *g, uint32_t at) {
    const vyre_inst *inst = &g->ir->insts[at];
    if (inst->op != VYRE_OP_FMA || inst->type != VYRE_TYPE_F32 ||
        correct_grains_are_normal(g, at)) {
        return false;
    }
    int least = layout_of(VYRE_TYPE_F32).least;
    const uint32_t factors[] = {inst->a, inst->b};
    for (uint32_t i = 0; i < 2; i++) {
        if (!vyre_operand_is_value(factors[i]) && !is_normal_constant(g, factors[i]) &&
            of_operand(g, factors[i]) < COARSEST) {
            return false;
        }
    }
    return vyre_operand_is_value(inst->c) || of_operand(g, inst->c) >= least;
}
