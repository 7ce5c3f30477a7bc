/* Functions of the language that are short for a few operations: clamp, mix, isnan and the like. */
#include <stdio.h>

#include "text/lower.h"

/* A call of one, on scalars of one type. */
typedef struct small {
    vyre_lower *lower;
    vyre_spot spot;
    vyre_type type;
    vyre_operand a, b, c;
} small;

static vyre_operand op1(const small *s, vyre_op op, vyre_operand x) {
    return lower_operation(s->lower, op, &x, 1, s->spot);
}

static vyre_operand op2(const small *s, vyre_op op, vyre_operand x, vyre_operand y) {
    const vyre_operand operands[2] = {x, y};
    return lower_operation(s->lower, op, operands, 2, s->spot);
}

static vyre_operand op3(const small *s, vyre_op op, vyre_operand x, vyre_operand y,
                        vyre_operand z) {
    const vyre_operand operands[3] = {x, y, z};
    return lower_operation(s->lower, op, operands, 3, s->spot);
}

static vyre_operand of_plain(const small *s, vyre_plain plain) {
    vyre_operand operand = vyre_plain_operand(plain);
    return lower_settle(s->lower, &operand, s->type, s->spot) ? operand : lower_poison();
}

static vyre_operand number(const small *s, int value) {
    uint64_t magnitude = (uint64_t)(value < 0 ? -value : value);
    return of_plain(s, (vyre_plain){.negative = value < 0, .number = magnitude});
}

static vyre_operand infinity(const small *s) {
    return of_plain(s, (vyre_plain){.real = true, .number = UINT64_C(0x7ff0000000000000)});
}

static vyre_operand choose(const small *s, vyre_operand condition, vyre_operand yes,
                           vyre_operand no) {
    return op3(s, VYRE_OP_SELECT, condition, yes, no);
}

static vyre_operand clamp(const small *s, vyre_operand x, vyre_operand low, vyre_operand high) {
    return op2(s, VYRE_OP_MIN, op2(s, VYRE_OP_MAX, x, low), high);
}

/* Exact at both ends. */
static vyre_operand mix(const small *s) {
    vyre_operand start = op3(s, VYRE_OP_FMA, op1(s, VYRE_OP_NEG, s->c), s->a, s->a);
    return op3(s, VYRE_OP_FMA, s->c, s->b, start);
}

static vyre_operand smoothstep(const small *s) {
    vyre_operand part =
        op2(s, VYRE_OP_DIV, op2(s, VYRE_OP_SUB, s->c, s->a), op2(s, VYRE_OP_SUB, s->b, s->a));
    vyre_operand t = clamp(s, part, number(s, 0), number(s, 1));
    vyre_operand rest = op2(s, VYRE_OP_SUB, number(s, 3), op2(s, VYRE_OP_MUL, number(s, 2), t));
    return op2(s, VYRE_OP_MUL, op2(s, VYRE_OP_MUL, t, t), rest);
}

/* The remainder, with the divisor added where the two have different signs. */
static vyre_operand mod(const small *s) {
    bool is_float = vyre_type_class_of(s->type) == VYRE_CLASS_FLOAT;
    vyre_operand rest = op2(s, is_float ? VYRE_OP_FMOD : VYRE_OP_REM, s->a, s->b);
    if (vyre_type_class_of(s->type) == VYRE_CLASS_UNSIGNED) {
        return rest;
    }
    vyre_operand zero = number(s, 0);
    vyre_operand differs =
        op2(s, VYRE_OP_NE, op2(s, VYRE_OP_LT, rest, zero), op2(s, VYRE_OP_LT, s->b, zero));
    vyre_operand counts = op2(s, VYRE_OP_AND, differs, op2(s, VYRE_OP_NE, rest, zero));
    return choose(s, counts, op2(s, VYRE_OP_ADD, rest, s->b), rest);
}

/* Zeros and NaN give themselves. */
static vyre_operand sign(const small *s) {
    vyre_operand zero = number(s, 0), one = number(s, 1);
    if (vyre_type_class_of(s->type) == VYRE_CLASS_UNSIGNED) {
        return op2(s, VYRE_OP_MIN, s->a, one);
    }
    vyre_operand below = choose(s, op2(s, VYRE_OP_LT, s->a, zero), number(s, -1), s->a);
    return choose(s, op2(s, VYRE_OP_LT, zero, s->a), one, below);
}

static vyre_operand build(const small *s, vyre_small_function function) {
    switch (function) {
    case VYRE_SMALL_CLAMP: return clamp(s, s->a, s->b, s->c);
    case VYRE_SMALL_MIX: return mix(s);
    case VYRE_SMALL_STEP:
        return choose(s, op2(s, VYRE_OP_LE, s->a, s->b), number(s, 1), number(s, 0));
    case VYRE_SMALL_SMOOTHSTEP: return smoothstep(s);
    case VYRE_SMALL_SATURATE: return clamp(s, s->a, number(s, 0), number(s, 1));
    case VYRE_SMALL_RSQRT: return op2(s, VYRE_OP_DIV, number(s, 1), op1(s, VYRE_OP_SQRT, s->a));
    case VYRE_SMALL_FRACT: return op2(s, VYRE_OP_SUB, s->a, op1(s, VYRE_OP_FLOOR, s->a));
    case VYRE_SMALL_MOD: return mod(s);
    case VYRE_SMALL_ISNAN: return op2(s, VYRE_OP_NE, s->a, s->a);
    case VYRE_SMALL_ISINF: return op2(s, VYRE_OP_EQ, op1(s, VYRE_OP_ABS, s->a), infinity(s));
    case VYRE_SMALL_ISFINITE: return op2(s, VYRE_OP_LT, op1(s, VYRE_OP_ABS, s->a), infinity(s));
    case VYRE_SMALL_SIGN: return sign(s);
    case VYRE_SMALL_COUNT: break;
    }
    return lower_poison();
}

/* How to make it an operand of another scalar type: "convert it first, as in vec2<f32>(x)". */
static const char *conversion(const vyre_lower *lower, vyre_value_type type, vyre_type scalar,
                              char fix[64]) {
    vyre_type_text room;
    vyre_value_type wanted = vyre_vector_of(scalar, vyre_vector_count(type));
    snprintf(fix, 64, "convert it first, as in %s(x)", lower_type_name(lower, wanted, &room));
    return fix;
}

/* Whether the operands are of one type that the function takes, or vectors of it. */
static bool check_types(vyre_lower *lower, vyre_spot spot, const vyre_small_info *info,
                        const vyre_operand *operands) {
    char fix[64];
    vyre_type_text rooms[2];
    vyre_type first = vyre_scalar_of(operands[0].type);
    for (uint32_t i = 0; i < info->operands; i++) {
        vyre_value_type type = operands[i].type;
        const char *name = lower_type_name(lower, type, &rooms[0]);
        if (vyre_type_is_struct(type)) {
            return true; /* lower_each says it */
        }
        if (!(vyre_type_class_of(first) & info->classes)) {
            bool is_number = info->classes == VYRE_CLASS_NUMBER;
            lower_report(lower, spot, 301, conversion(lower, type, VYRE_TYPE_F32, fix),
                         "operand 1 of `%s` is %s, expected %s", info->name, name,
                         is_number ? "an integer or a float" : "a float");
            return false;
        }
        if (vyre_scalar_of(type) != first) {
            lower_report(lower, spot, 302, conversion(lower, type, first, fix),
                         "operand %u of `%s` is %s, expected %s as operand 1", i + 1, info->name,
                         name, lower_type_name(lower, operands[0].type, &rooms[1]));
            return false;
        }
    }
    return true;
}

static vyre_operand build_each(vyre_lower *lower, const void *context, const vyre_operand *operands,
                               vyre_spot spot) {
    const vyre_small_function *function = context;
    small s = {.lower = lower, .spot = spot, .type = (vyre_type)operands[0].type};
    vyre_operand *const own[] = {&s.a, &s.b, &s.c};
    for (uint32_t i = 0; i < vyre_small_functions[*function].operands; i++) {
        *own[i] = operands[i];
    }
    return build(&s, *function);
}

vyre_operand lower_small(vyre_lower *lower, vyre_node call, const vyre_word *word,
                         vyre_value_type expected) {
    vyre_small_function function = (vyre_small_function)word->code;
    const vyre_small_info *info = &vyre_small_functions[function];
    vyre_spot spot = vyre_node_spot(&call);
    if (!lower_check_count(lower, call, info->name, info->operands)) {
        return lower_poison();
    }
    if (!lower->builder) {
        lower_report(lower, spot, 307, "use operators, conversions, min and max",
                     "`%s` cannot be computed at compile time", info->name);
        return lower_poison();
    }
    vyre_type scalar = vyre_scalar_of(expected);
    vyre_type asked = vyre_type_class_of(scalar) & info->classes ? scalar
                      : info->classes == VYRE_CLASS_FLOAT        ? VYRE_TYPE_F32
                                                                 : VYRE_TYPE_VOID;
    vyre_operand operands[3];
    if (!lower_alike(lower, call, info->operands, asked, operands) ||
        !check_types(lower, spot, info, operands)) {
        return lower_poison();
    }
    return lower_each(lower, operands, info->operands, info->name, spot, build_each, &function);
}
