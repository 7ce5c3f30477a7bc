#include "pass/nan.h"

#include "base/alloc.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "pass/walk.h"

typedef struct walk {
    vyre_nans *nans;
    const vyre_ir *ir;
    vyre_walk at;
    bool changed;
} walk;

/* What an operation does to the NaNs among its operands. */
typedef enum nan_rule {
    NAN_NONE,       /* gives none, or a canonical one */
    NAN_MADE,       /* gives any */
    NAN_PASSED,     /* gives the bits of its operands */
    NAN_PASSED_ONE, /* gives those of its first operand */
    NAN_CHOSEN      /* gives those of its second or third operand */
} nan_rule;

static nan_rule rule_of(vyre_op op) {
    switch (op) {
    case VYRE_ONE_OF(ADD, SUB, MUL, DIV, MIN, MAX, FMA, SQRT, FLOOR, CEIL, TRUNC, ROUND, CONVERT):
        return NAN_MADE;
    case VYRE_ONE_OF(NEG, ABS, COPYSIGN, SCAN, SCAN_EXCLUSIVE): return NAN_PASSED;
    case VYRE_ANY_OF(SHUFFLE): return NAN_PASSED_ONE;
    case VYRE_OP_SELECT: return NAN_CHOSEN;
    case VYRE_ONE_OF(REM, BITCAST, REDUCE, MATRIX_MAD):
    case VYRE_ANY_OF(SURROUNDINGS, INTEGER, LOGIC, BITS, COMPARE, ELEMENTARY, ACCESS, BARRIER, VOTE,
                     CONTROL, NONE):
        break;
    }
    return NAN_NONE;
}

static bool is_float(vyre_type type) {
    return type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
}

bool vyre_nan_is_made(vyre_op op, vyre_type result) {
    return is_float(result) && rule_of(op) == NAN_MADE;
}

/* Whether operand k is looked at. The sign that copysign takes from a NaN shows in a number. */
static bool shows_bits(const vyre_inst *inst, uint32_t k, bool observed) {
    nan_rule rule = rule_of(vyre_inst_op(inst));
    bool passes =
        rule == NAN_PASSED || (rule == NAN_PASSED_ONE && k == 0) || (rule == NAN_CHOSEN && k > 0);
    return (passes && observed) || inst->op == VYRE_OP_BITCAST ||
           ((inst->op == VYRE_OP_STORE || inst->op == VYRE_OP_COPYSIGN) && k == 1);
}

/* The choice is made between integers: there the bits of a NaN are sure to count. */
static bool is_nan(const vyre_const *constant) {
    return (constant->type == VYRE_TYPE_F32 && (constant->bits & 0x7fffffff) > 0x7f800000) ||
           (constant->type == VYRE_TYPE_F64 && (constant->bits & INT64_MAX) > 0x7ff0000000000000);
}

static vyre_nan_fact *fact_of(const vyre_nans *nans, uint32_t inst) {
    return &nans->rows[inst - nans->phase->first];
}

bool vyre_nan_settles(const vyre_nans *nans, uint32_t inst) {
    const vyre_inst *i = &nans->ir->insts[inst];
    return fact_of(nans, inst)->observed && vyre_nan_is_made(vyre_inst_op(i), vyre_inst_type(i));
}

/* Whether a value is one that settles late, if it is observed. */
static bool may_settle_late(const vyre_nans *nans, uint32_t inst) {
    const vyre_inst *i = &nans->ir->insts[inst];
    if (!is_float(vyre_inst_type(i)) || i->op != VYRE_OP_RESULT || fact_of(nans, inst)->kept) {
        return false;
    }
    uint32_t owner = vyre_pick_owner(i);
    return vyre_op_is_loop(nans->ir->insts[owner].op) && !fact_of(nans, owner)->stays;
}

bool vyre_nan_settles_late(const vyre_nans *nans, uint32_t inst) {
    return fact_of(nans, inst)->observed && may_settle_late(nans, inst);
}

static void set(walk *w, bool *flag, bool value) {
    w->changed |= value && !*flag;
    *flag |= value;
}

static bool is_kept(const walk *w, uint32_t operand) {
    return vyre_operand_is_value(operand) ? fact_of(w->nans, operand)->kept
                                          : is_nan(vyre_operand_const(w->ir, operand));
}

/* A value becomes an arg or a result. */
static void flow(walk *w, uint32_t operand, uint32_t to) {
    vyre_nan_fact *fact = fact_of(w->nans, to);
    set(w, &fact->kept, is_kept(w, operand));
    if (vyre_operand_is_value(operand)) {
        set(w, &fact_of(w->nans, operand)->observed,
            fact->observed && !may_settle_late(w->nans, to));
    }
}

static void visit_jump(walk *w, const vyre_inst *i) {
    uint32_t owner = w->at.stack[vyre_walk_target(&w->at, i->op)].owner;
    vyre_list values = vyre_inst_operands(w->ir, i);
    for (uint32_t k = 0; k < values.count; k++) {
        flow(w, values.items[k], vyre_jump_target(w->ir, i, owner, k));
    }
}

/* Values carried into a loop, and out of a `for` whose range is used up. */
static void visit_loop(walk *w, uint32_t loop) {
    vyre_list initial = vyre_loop_initial(w->ir, loop);
    for (uint32_t k = 0; k < initial.count; k++) {
        uint32_t arg = vyre_loop_arg(w->ir, loop, k);
        flow(w, initial.items[k], arg);
        if (w->ir->insts[loop].op == VYRE_OP_FOR) {
            flow(w, arg, vyre_result(w->ir, loop, k));
        }
    }
}

static void visit_value(walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    vyre_nan_fact *own = fact_of(w->nans, inst);
    vyre_list values = vyre_inst_operands(w->ir, i);
    set(w, &own->kept,
        i->op == VYRE_OP_SELECT ? is_kept(w, i->b) || is_kept(w, i->c)
                                : !vyre_nan_is_made(vyre_inst_op(i), vyre_inst_type(i)));
    for (uint32_t k = 0; k < values.count; k++) {
        if (vyre_operand_is_value(values.items[k])) {
            set(w, &fact_of(w->nans, values.items[k])->observed, shows_bits(i, k, own->observed));
        }
    }
}

static void visit(walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    uint32_t effects = vyre_inst_effects(i);
    if (effects & VYRE_EFFECT_END) {
        visit_jump(w, i);
    } else if (vyre_op_is_loop(i->op)) {
        visit_loop(w, inst);
    } else if (!(effects & VYRE_EFFECT_BLOCK) && i->op != VYRE_OP_ARG && i->op != VYRE_OP_RESULT) {
        visit_value(w, inst);
    }
}

bool vyre_nan_may_be_chosen(const vyre_ir *ir, uint32_t compared, uint32_t uses) {
    if (vyre_operand_is_constant(compared)) {
        return false;
    }
    const vyre_inst *i = &ir->insts[compared];
    return uses > 1 || !vyre_nan_is_made(vyre_inst_op(i), vyre_inst_type(i));
}

bool vyre_nans_init(vyre_nans *nans, const vyre_ir *ir, const vyre_phase *phase,
                    bool (*stays)(const void *user, uint32_t loop), const void *user) {
    *nans = (vyre_nans){.ir = ir, .phase = phase};
    nans->rows = vyre_alloc_zeroed(phase->end - phase->first, sizeof *nans->rows);
    walk w = {.nans = nans, .ir = ir};
    bool has_floats = false;
    for (uint32_t inst = phase->first; inst < phase->end && nans->rows; inst++) {
        has_floats = has_floats || is_float(vyre_inst_type(&ir->insts[inst]));
        fact_of(nans, inst)->stays =
            stays && vyre_op_is_loop(ir->insts[inst].op) && stays(user, inst);
    }
    for (w.changed = has_floats; w.changed;) {
        uint32_t inst;
        w.changed = false;
        vyre_walk_begin(&w.at, ir, phase);
        while (vyre_walk_next(&w.at, &inst)) {
            visit(&w, inst);
        }
    }
    return nans->rows;
}

void vyre_nans_deinit(vyre_nans *nans) {
    vyre_free(nans->rows);
    *nans = (vyre_nans){0};
}
