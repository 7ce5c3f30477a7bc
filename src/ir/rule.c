#include "ir/rule.h"

#include <stdio.h>

#include "ir/cases.h"
#include "ir/lookup.h"
#include "ir/word.h"

uint32_t vyre_rule_arity(vyre_op op) {
    uint32_t shape = vyre_lookup_op(op)->shape;
    return shape == VYRE_SHAPE_V1 ? 1 : shape == VYRE_SHAPE_V2 ? 2 : shape == VYRE_SHAPE_V3 ? 3 : 0;
}

static const char *class_text(uint32_t classes) {
    switch (classes) {
    case VYRE_CLASS_NUMBER: return "an integer or a float";
    case VYRE_CLASS_INTEGER: return "an integer";
    case VYRE_CLASS_SIGNED | VYRE_CLASS_FLOAT: return "a signed integer or a float";
    case VYRE_CLASS_INTEGER | VYRE_CLASS_BOOL: return "an integer or bool";
    case VYRE_CLASS_FLOAT: return "a float";
    case VYRE_CLASS_BOOL: return "bool";
    default: return "a value";
    }
}

/* `how` is the combination of an operation that has one. */
static bool expect_class_of(vyre_op op, uint32_t how, uint32_t operand, vyre_type type,
                            uint32_t classes, vyre_rule_error *error) {
    if (vyre_lookup_class(type) & classes) {
        return true;
    }
    error->code = 301;
    error->operand = operand + 1;
    snprintf(error->message, sizeof error->message, "operand %u of `%s` is %s, expected %s",
             operand + 1, vyre_op_written(op, how), vyre_type_name(type), class_text(classes));
    if (op == VYRE_OP_REM && vyre_lookup_class(type) == VYRE_CLASS_FLOAT) {
        snprintf(error->fix, sizeof error->fix, "use fmod(a, b) for floats");
    } else if (classes == VYRE_CLASS_BOOL) {
        snprintf(error->fix, sizeof error->fix, "compare it with something, as in x != 0");
    } else if (classes & VYRE_CLASS_BOOL && type != VYRE_TYPE_VOID) {
        snprintf(error->fix, sizeof error->fix,
                 "bitcast<u32>(x) gives the bits of an f32; u32(x) converts the number");
    } else {
        snprintf(error->fix, sizeof error->fix, "convert it first, as in %s(x)",
                 classes & VYRE_CLASS_INTEGER ? (classes & VYRE_CLASS_UNSIGNED ? "u32" : "i32")
                                              : "f32");
    }
    return false;
}

static bool expect_class(vyre_op op, uint32_t operand, vyre_type type, uint32_t classes,
                         vyre_rule_error *error) {
    return expect_class_of(op, 0, operand, type, classes, error);
}

/* `as` is the operand whose type is to be matched, from 1, or 0 where the operation fixes it. */
static bool expect_type(vyre_op op, uint32_t operand, vyre_type type, vyre_type wanted, uint32_t as,
                        vyre_rule_error *error) {
    if (type == wanted) {
        return true;
    }
    error->code = as ? 302 : 301;
    error->operand = operand + 1;
    int size =
        snprintf(error->message, sizeof error->message, "operand %u of `%s` is %s, expected %s",
                 operand + 1, vyre_op_written(op, 0), vyre_type_name(type), vyre_type_name(wanted));
    if (as && size > 0 && (size_t)size < sizeof error->message) {
        snprintf(error->message + size, sizeof error->message - (size_t)size, " as operand %u", as);
    }
    if (wanted == VYRE_TYPE_BOOL) {
        snprintf(error->fix, sizeof error->fix, "compare it with something, as in x != 0");
    } else {
        snprintf(error->fix, sizeof error->fix, "convert one of them, as in %s(x)",
                 vyre_type_name(wanted));
    }
    return false;
}

/* All operands from `first` on have the type of that one, which is of one of the classes. */
static bool expect_same(vyre_op op, uint32_t first, uint32_t count, const vyre_type *types,
                        uint32_t classes, vyre_rule_error *error) {
    if (!expect_class(op, first, types[first], classes, error)) {
        return false;
    }
    for (uint32_t i = first + 1; i < count; i++) {
        if (!expect_type(op, i, types[i], types[first], first + 1, error)) {
            return false;
        }
    }
    return true;
}

static uint32_t combination_classes(uint32_t how) {
    switch ((vyre_combination)how) {
    case VYRE_COMBINE_ADD:
    case VYRE_COMBINE_MUL:
    case VYRE_COMBINE_MIN:
    case VYRE_COMBINE_MAX: return VYRE_CLASS_NUMBER;
    case VYRE_COMBINE_AND:
    case VYRE_COMBINE_OR:
    case VYRE_COMBINE_XOR: return VYRE_CLASS_INTEGER | VYRE_CLASS_BOOL;
    case VYRE_COMBINE_COUNT: break;
    }
    return VYRE_CLASS_NONE;
}

static bool check_conversion(vyre_op op, vyre_type wanted, vyre_type type, vyre_rule_error *error) {
    bool possible = vyre_lookup_class(wanted) && vyre_lookup_class(type) && wanted != type;
    if (op == VYRE_OP_BITCAST) {
        possible = possible && vyre_type_bytes(wanted) == vyre_type_bytes(type) &&
                   wanted != VYRE_TYPE_BOOL && type != VYRE_TYPE_BOOL;
    }
    if (possible) {
        return true;
    }
    error->code = 305;
    error->operand = 1;
    snprintf(error->message, sizeof error->message, "`%s` from %s to %s is not possible",
             vyre_lookup_op(op)->name, vyre_type_name(type), vyre_type_name(wanted));
    if (op == VYRE_OP_BITCAST && type != VYRE_TYPE_BOOL && wanted != VYRE_TYPE_BOOL) {
        snprintf(error->fix, sizeof error->fix,
                 "choose another type of %u bytes, or convert: %s(x)", vyre_type_bytes(type),
                 vyre_type_name(wanted));
    } else {
        snprintf(error->fix, sizeof error->fix, "compare with 0, or convert: %s(x)",
                 vyre_type_name(wanted));
    }
    return false;
}

bool vyre_rule_check(vyre_op op, uint32_t aux, vyre_type wanted, uint32_t subgroup,
                     const vyre_type *types, vyre_type *out_type, vyre_rule_error *error) {
    uint32_t count = vyre_rule_arity(op);
    *out_type = types[0];
    switch ((vyre_rule)vyre_lookup_op(op)->rule) {
    case VYRE_RULE_NUMBER: return expect_same(op, 0, count, types, VYRE_CLASS_NUMBER, error);
    case VYRE_RULE_INTEGER: return expect_same(op, 0, count, types, VYRE_CLASS_INTEGER, error);
    case VYRE_RULE_NEGATABLE:
        return expect_same(op, 0, count, types, VYRE_CLASS_SIGNED | VYRE_CLASS_FLOAT, error);
    case VYRE_RULE_BITS:
        return expect_same(op, 0, count, types, VYRE_CLASS_INTEGER | VYRE_CLASS_BOOL, error);
    case VYRE_RULE_FLOAT:
    case VYRE_RULE_ELEMENTARY: return expect_same(op, 0, count, types, VYRE_CLASS_FLOAT, error);
    case VYRE_RULE_SHIFT:
        return expect_class(op, 0, types[0], VYRE_CLASS_INTEGER, error) &&
               expect_type(op, 1, types[1], VYRE_TYPE_U32, 0, error);
    case VYRE_RULE_EQUAL:
        *out_type = VYRE_TYPE_BOOL;
        return expect_same(op, 0, count, types, VYRE_CLASS_ANY, error);
    case VYRE_RULE_ORDER:
        *out_type = VYRE_TYPE_BOOL;
        return expect_same(op, 0, count, types, VYRE_CLASS_NUMBER, error);
    case VYRE_RULE_SELECT:
        *out_type = types[1];
        return expect_type(op, 0, types[0], VYRE_TYPE_BOOL, 0, error) &&
               expect_same(op, 1, count, types, VYRE_CLASS_ANY, error);
    case VYRE_RULE_CONVERT:
    case VYRE_RULE_BITCAST:
        *out_type = wanted;
        return check_conversion(op, wanted, types[0], error);
    case VYRE_RULE_LANE:
        return expect_class(op, 0, types[0], VYRE_CLASS_ANY, error) &&
               expect_type(op, 1, types[1], VYRE_TYPE_U32, 0, error);
    case VYRE_RULE_BALLOT:
        *out_type = subgroup > 32 ? VYRE_TYPE_U64 : VYRE_TYPE_U32;
        return expect_type(op, 0, types[0], VYRE_TYPE_BOOL, 0, error);
    case VYRE_RULE_VOTE: return expect_type(op, 0, types[0], VYRE_TYPE_BOOL, 0, error);
    case VYRE_RULE_COMBINE:
        return expect_class_of(op, aux, 0, types[0], combination_classes(aux), error);
    case VYRE_RULE_NONE:
    case VYRE_RULE_MATRIX:
    case VYRE_RULE_OWN: break;
    }
    return false;
}

bool vyre_rule_check_matrix(const vyre_type *types, uint32_t subgroup, vyre_rule_error *error) {
    for (uint32_t i = 0; i < VYRE_MATRIX_OPERANDS; i++) {
        vyre_type wanted = i < VYRE_MATRIX_A + VYRE_MATRIX_B ? VYRE_TYPE_U32 : VYRE_TYPE_I32;
        if (!expect_type(VYRE_OP_MATRIX_MAD, i, types[i], wanted, 0, error)) {
            return false;
        }
    }
    if (subgroup != VYRE_MATRIX_LANES) {
        error->code = 602;
        error->operand = 0;
        snprintf(error->message, sizeof error->message,
                 "`%s` needs subgroups of %d lanes, and those of the phase have %u",
                 vyre_op_written(VYRE_OP_MATRIX_MAD, 0), VYRE_MATRIX_LANES, subgroup);
        snprintf(error->fix, sizeof error->fix, "write `subgroup %d`", VYRE_MATRIX_LANES);
        return false;
    }
    return true;
}

const char *vyre_rule_component(uint32_t dimension) {
    static const char *const names[] = {".x", ".y", ".z"};
    return dimension < 3 ? names[dimension] : "beyond .z";
}

bool vyre_rule_ordering_allowed(vyre_op op, uint32_t ordering) {
    switch (op) {
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, MEMORY, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    case VYRE_OP_ATOMIC_LOAD:
        return ordering == VYRE_ORDERING_RELAXED || ordering == VYRE_ORDERING_ACQUIRE ||
               ordering == VYRE_ORDERING_SEQ_CST;
    case VYRE_OP_ATOMIC_STORE:
        return ordering == VYRE_ORDERING_RELAXED || ordering == VYRE_ORDERING_RELEASE ||
               ordering == VYRE_ORDERING_SEQ_CST;
    case VYRE_OP_ATOMIC_CAS:
    case VYRE_ANY_OF(UPDATE): return ordering < VYRE_ORDERING_COUNT;
    }
    return false;
}

void vyre_rule_ordering_advice(vyre_op op, char out[VYRE_RULE_ADVICE]) {
    uint32_t last = VYRE_ORDERING_SEQ_CST; /* which all may have */
    int size = snprintf(out, VYRE_RULE_ADVICE, "use ");
    for (uint32_t i = 0; i < last; i++) {
        if (vyre_rule_ordering_allowed(op, i)) {
            size += snprintf(out + size, VYRE_RULE_ADVICE - (size_t)size, "%s%s",
                             size > 4 ? ", " : "", vyre_ordering_name((vyre_ordering)i));
        }
    }
    snprintf(out + size, VYRE_RULE_ADVICE - (size_t)size, " or %s",
             vyre_ordering_name((vyre_ordering)last));
}
