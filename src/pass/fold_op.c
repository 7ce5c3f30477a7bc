#include "ir/builder.h"
#include "ir/cases.h"
#include "ir/eval.h"
#include "ir/lookup.h"
#include "ir/rule.h"
#include "pass/fold.h"

/* An operation on values of the builder. */
typedef struct operation {
    vyre_builder *to;
    vyre_op op;
    vyre_type type, of; /* of the result, of the first operand */
    uint32_t a, b, c;
} operation;

static bool is_constant(uint32_t value) {
    return vyre_operand_is_constant(value);
}

static uint64_t bits_of(const operation *o, uint32_t constant) {
    return builder_bits(o->to, constant);
}

static bool is_number(const operation *o, uint32_t value, uint64_t bits) {
    return is_constant(value) && bits_of(o, value) == bits;
}

static uint32_t number(const operation *o, vyre_type type, uint64_t bits) {
    return vyre_build_const(o->to, type, bits);
}

static uint32_t build(const operation *o, vyre_op op, uint32_t a, uint32_t b) {
    return vyre_fold_build(o->to, op, o->type, (uint32_t[3]){a, b, VYRE_NONE});
}

static uint32_t build_bool(const operation *o, vyre_op op, uint32_t a, uint32_t b) {
    return vyre_fold_build(o->to, op, VYRE_TYPE_BOOL, (uint32_t[3]){a, b, VYRE_NONE});
}

/* The instruction of a value, if it is one of that kind. */
static bool is_op(const operation *o, uint32_t value, vyre_op op, vyre_inst *out_inst) {
    bool is = vyre_operand_is_value(value) && o->to->insts.items[value].op == op;
    if (is) {
        *out_inst = o->to->insts.items[value];
    }
    return is;
}

static bool is_integer(vyre_type type) {
    return vyre_lookup_class(type) & VYRE_CLASS_INTEGER;
}

static bool is_signed(vyre_type type) {
    return vyre_lookup_class(type) == VYRE_CLASS_SIGNED;
}

static bool is_float(vyre_type type) {
    return vyre_lookup_class(type) == VYRE_CLASS_FLOAT;
}

static uint32_t width_of(vyre_type type) {
    return type == VYRE_TYPE_BOOL ? 1 : vyre_type_bytes(type) * 8;
}

/* All bits of a type. */
static uint64_t ones(vyre_type type) {
    return ~(uint64_t)0 >> (64 - width_of(type));
}

static uint64_t smallest(vyre_type type) {
    return is_signed(type) ? (uint64_t)1 << (width_of(type) - 1) : 0;
}

static uint64_t largest(vyre_type type) {
    return ones(type) ^ smallest(type);
}

/* The exponent of a power of two; false for other numbers. */
static bool is_power(uint64_t bits, uint32_t *out_exponent) {
    uint32_t exponent = 0;
    while (exponent < 63 && bits >> exponent > 1) {
        exponent++;
    }
    *out_exponent = exponent;
    return bits && bits == (uint64_t)1 << exponent;
}

/* Arithmetic on constants. Values lie in memory in the order of bytes that the machine has, and the
 * builder's constants as whole words: little-endian machines have both at the same address. */
static bool evaluate(vyre_op op, vyre_type of, vyre_type type, const uint64_t operands[3],
                     uint64_t *out_bits) {
    vyre_evaluator evaluator = vyre_eval_find(op, of, type);
    *out_bits = 0;
    if (evaluator) {
        evaluator(out_bits, &operands[0], &operands[1], &operands[2], 1);
    }
    return evaluator != NULL;
}

/* The same where it is known to be there: integers, of one type throughout. */
static uint32_t compute(const operation *o, vyre_op op, uint32_t a, uint32_t b) {
    uint64_t bits;
    evaluate(op, o->of, o->of, (uint64_t[3]){bits_of(o, a), bits_of(o, b), 0}, &bits);
    return number(o, o->of, bits);
}

static uint32_t fold_constants(const operation *o, uint32_t count) {
    uint64_t operands[3] = {0}, bits;
    const uint32_t values[3] = {o->a, o->b, o->c};
    for (uint32_t i = 0; i < count; i++) {
        if (!is_constant(values[i])) {
            return VYRE_NONE;
        }
        operands[i] = bits_of(o, values[i]);
    }
    return evaluate(o->op, o->of, o->type, operands, &bits) ? number(o, o->type, bits) : VYRE_NONE;
}

/* Integer arithmetic; constants of operations that commute stand behind. */

static uint32_t fold_add(const operation *o) {
    vyre_inst in;
    if (is_number(o, o->b, 0)) {
        return o->a;
    }
    if (is_op(o, o->a, VYRE_OP_SUB, &in)) {
        if (in.b == o->b) {
            return in.a; /* x - y + y */
        }
        if (is_constant(o->b) && is_constant(in.b)) {
            return build(o, VYRE_OP_ADD, in.a, compute(o, VYRE_OP_SUB, o->b, in.b));
        }
        if (is_constant(o->b) && is_constant(in.a)) {
            return build(o, VYRE_OP_SUB, compute(o, VYRE_OP_ADD, in.a, o->b), in.b);
        }
    }
    if (is_op(o, o->b, VYRE_OP_SUB, &in) && in.b == o->a) {
        return in.a;
    }
    return VYRE_NONE;
}

static uint32_t fold_sub(const operation *o) {
    vyre_inst in;
    if (o->a == o->b) {
        return number(o, o->type, 0);
    }
    if (is_number(o, o->b, 0)) {
        return o->a;
    }
    if (is_op(o, o->a, VYRE_OP_ADD, &in)) {
        if (in.b == o->b || in.a == o->b) {
            return in.b == o->b ? in.a : in.b; /* x + y - y */
        }
        if (is_constant(o->b) && is_constant(in.b)) {
            return build(o, VYRE_OP_ADD, in.a, compute(o, VYRE_OP_SUB, in.b, o->b));
        }
    }
    if (is_op(o, o->a, VYRE_OP_SUB, &in) && is_constant(o->b) && is_constant(in.b)) {
        return build(o, VYRE_OP_SUB, in.a, compute(o, VYRE_OP_ADD, in.b, o->b));
    }
    return VYRE_NONE;
}

static uint32_t fold_mul(const operation *o) {
    if (is_number(o, o->b, 0) || is_number(o, o->b, 1)) {
        return bits_of(o, o->b) ? o->a : o->b;
    }
    if (is_signed(o->type) && is_number(o, o->b, ones(o->type))) {
        return build(o, VYRE_OP_NEG, o->a, VYRE_NONE);
    }
    return VYRE_NONE;
}

static uint32_t fold_div(const operation *o) {
    uint32_t exponent;
    if (is_number(o, o->a, 0) || is_number(o, o->b, 0) || is_number(o, o->b, 1)) {
        return o->a; /* x / 0 = x */
    }
    if (is_constant(o->b) && !is_signed(o->type) && is_power(bits_of(o, o->b), &exponent)) {
        return build(o, VYRE_OP_SHR, o->a, number(o, VYRE_TYPE_U32, exponent));
    }
    if (is_signed(o->type) && is_number(o, o->b, ones(o->type))) {
        return build(o, VYRE_OP_NEG, o->a, VYRE_NONE);
    }
    return VYRE_NONE;
}

static uint32_t fold_rem(const operation *o) {
    uint32_t exponent;
    if (o->a == o->b || is_number(o, o->a, 0) || is_number(o, o->b, 0) || is_number(o, o->b, 1) ||
        (is_signed(o->type) && is_number(o, o->b, ones(o->type)))) {
        return number(o, o->type, 0); /* x % 0 = 0 */
    }
    if (is_constant(o->b) && !is_signed(o->type) && is_power(bits_of(o, o->b), &exponent)) {
        return build(o, VYRE_OP_AND, o->a, number(o, o->type, bits_of(o, o->b) - 1));
    }
    return VYRE_NONE;
}

static uint32_t fold_min_max(const operation *o) {
    vyre_inst in;
    bool is_min = o->op == VYRE_OP_MIN;
    if (o->a == o->b || is_number(o, o->b, is_min ? largest(o->type) : smallest(o->type))) {
        return o->a;
    }
    if (is_number(o, o->b, is_min ? smallest(o->type) : largest(o->type))) {
        return o->b;
    }
    if (is_op(o, o->a, is_min ? VYRE_OP_MAX : VYRE_OP_MIN, &in) && (in.a == o->b || in.b == o->b)) {
        return o->b; /* min(max(x, y), y) */
    }
    return VYRE_NONE;
}

/* Bits */

/* How many low bits of a value may be set, as far as its instruction tells. */
static uint32_t low_bits(const operation *o, uint32_t value) {
    vyre_inst in;
    uint32_t width = width_of(o->of);
    if (is_op(o, value, VYRE_OP_CONVERT, &in)) {
        vyre_type from = builder_type(o->to, in.a);
        bool extends = vyre_lookup_class(from) & (VYRE_CLASS_UNSIGNED | VYRE_CLASS_BOOL);
        return extends && width_of(from) < width ? width_of(from) : width;
    }
    if (is_op(o, value, VYRE_OP_SHR, &in) && !is_signed(o->of) && is_constant(in.b)) {
        return width - (uint32_t)(bits_of(o, in.b) % width);
    }
    return width;
}

static uint32_t fold_and(const operation *o) {
    vyre_inst in;
    uint32_t low = low_bits(o, o->a);
    uint64_t all = low < 64 ? ((uint64_t)1 << low) - 1 : ones(o->type);
    if (o->a == o->b || (is_constant(o->b) && (bits_of(o, o->b) & all) == all)) {
        return o->a;
    }
    if (is_number(o, o->b, 0)) {
        return o->b;
    }
    if ((is_op(o, o->a, VYRE_OP_NOT, &in) && in.a == o->b) ||
        (is_op(o, o->b, VYRE_OP_NOT, &in) && in.a == o->a)) {
        return number(o, o->type, 0);
    }
    if (is_op(o, o->a, VYRE_OP_OR, &in) && (in.a == o->b || in.b == o->b)) {
        return o->b;
    }
    return VYRE_NONE;
}

static uint32_t fold_or(const operation *o) {
    vyre_inst in;
    if (o->a == o->b || is_number(o, o->b, 0)) {
        return o->a;
    }
    if (is_number(o, o->b, ones(o->type))) {
        return o->b;
    }
    if ((is_op(o, o->a, VYRE_OP_NOT, &in) && in.a == o->b) ||
        (is_op(o, o->b, VYRE_OP_NOT, &in) && in.a == o->a)) {
        return number(o, o->type, ones(o->type));
    }
    if (is_op(o, o->a, VYRE_OP_AND, &in) && (in.a == o->b || in.b == o->b)) {
        return o->b;
    }
    return VYRE_NONE;
}

static uint32_t fold_xor(const operation *o) {
    vyre_inst in;
    if (o->a == o->b) {
        return number(o, o->type, 0);
    }
    if (is_number(o, o->b, 0)) {
        return o->a;
    }
    if (is_number(o, o->b, ones(o->type))) {
        return build(o, VYRE_OP_NOT, o->a, VYRE_NONE);
    }
    if (is_op(o, o->a, VYRE_OP_XOR, &in) && (in.a == o->b || in.b == o->b)) {
        return in.a == o->b ? in.b : in.a;
    }
    return VYRE_NONE;
}

static uint32_t fold_not(const operation *o) {
    vyre_inst in;
    if (is_op(o, o->a, VYRE_OP_NOT, &in)) {
        return in.a;
    }
    if (is_op(o, o->a, VYRE_OP_EQ, &in) || is_op(o, o->a, VYRE_OP_NE, &in)) {
        return build_bool(o, in.op == VYRE_OP_EQ ? VYRE_OP_NE : VYRE_OP_EQ, in.a, in.b);
    }
    if ((is_op(o, o->a, VYRE_OP_LT, &in) || is_op(o, o->a, VYRE_OP_LE, &in)) &&
        is_integer(builder_type(o->to, in.a))) {
        return build_bool(o, in.op == VYRE_OP_LT ? VYRE_OP_LE : VYRE_OP_LT, in.b, in.a);
    }
    return VYRE_NONE;
}

static uint32_t fold_shift(const operation *o) {
    vyre_inst in;
    uint32_t width = width_of(o->type);
    bool is_rotation = o->op == VYRE_OP_ROTL || o->op == VYRE_OP_ROTR;
    if (is_number(o, o->a, 0)) {
        return o->a;
    }
    if (!is_constant(o->b)) {
        return VYRE_NONE;
    }
    uint64_t count = bits_of(o, o->b) % width;
    if (!count) {
        return o->a;
    }
    if (count != bits_of(o, o->b)) {
        return build(o, o->op, o->a, number(o, VYRE_TYPE_U32, count));
    }
    if (is_op(o, o->a, o->op, &in) && is_constant(in.b)) {
        count += bits_of(o, in.b) % width;
        if (is_rotation || count < width) {
            return build(o, o->op, in.a, number(o, VYRE_TYPE_U32, count % width));
        }
        return o->op == VYRE_OP_SHR && is_signed(o->type)
                   ? build(o, o->op, in.a, number(o, VYRE_TYPE_U32, width - 1))
                   : number(o, o->type, 0);
    }
    return VYRE_NONE;
}

/* (x op c) op d = x op (c op d) */
static uint32_t fold_nested(const operation *o) {
    vyre_inst in;
    return is_constant(o->b) && is_op(o, o->a, o->op, &in) && is_constant(in.b)
               ? build(o, o->op, in.a, compute(o, o->op, in.b, o->b))
               : VYRE_NONE;
}

/* Comparison and choice */

static uint32_t fold_equal(const operation *o) {
    vyre_inst in;
    bool is_eq = o->op == VYRE_OP_EQ;
    if (is_float(o->of)) {
        return VYRE_NONE;
    }
    if (o->a == o->b) {
        return number(o, VYRE_TYPE_BOOL, is_eq);
    }
    if (!is_constant(o->b)) {
        return VYRE_NONE;
    }
    uint64_t bits = bits_of(o, o->b);
    if (o->of == VYRE_TYPE_BOOL) {
        return (bits != 0) == is_eq ? o->a : build_bool(o, VYRE_OP_NOT, o->a, VYRE_NONE);
    }
    if (is_op(o, o->a, VYRE_OP_ADD, &in) && is_constant(in.b)) {
        return build_bool(o, o->op, in.a, compute(o, VYRE_OP_SUB, o->b, in.b));
    }
    if (is_op(o, o->a, VYRE_OP_SUB, &in) && is_constant(in.b)) {
        return build_bool(o, o->op, in.a, compute(o, VYRE_OP_ADD, o->b, in.b));
    }
    if (is_op(o, o->a, VYRE_OP_XOR, &in) && is_constant(in.b)) {
        return build_bool(o, o->op, in.a, compute(o, VYRE_OP_XOR, o->b, in.b));
    }
    if (!bits && (is_op(o, o->a, VYRE_OP_SUB, &in) || is_op(o, o->a, VYRE_OP_XOR, &in))) {
        return build_bool(o, o->op, in.a, in.b);
    }
    if (is_op(o, o->a, VYRE_OP_CONVERT, &in) && builder_type(o->to, in.a) == VYRE_TYPE_BOOL) {
        if (bits > 1) {
            return number(o, VYRE_TYPE_BOOL, !is_eq);
        }
        return (bits != 0) == is_eq ? in.a : build_bool(o, VYRE_OP_NOT, in.a, VYRE_NONE);
    }
    if (is_op(o, o->a, VYRE_OP_SELECT, &in) && is_constant(in.b) && is_constant(in.c)) {
        uint32_t first = number(o, VYRE_TYPE_BOOL, (in.b == o->b) == is_eq);
        uint32_t second = number(o, VYRE_TYPE_BOOL, (in.c == o->b) == is_eq);
        return vyre_fold_build(o->to, VYRE_OP_SELECT, VYRE_TYPE_BOOL,
                               (uint32_t[3]){in.a, first, second});
    }
    return VYRE_NONE;
}

static uint32_t fold_order(const operation *o) {
    bool is_less = o->op == VYRE_OP_LT;
    if (!is_integer(o->of)) {
        return VYRE_NONE;
    }
    if (o->a == o->b) {
        return number(o, VYRE_TYPE_BOOL, !is_less);
    }
    if (is_less ? is_number(o, o->b, smallest(o->of)) || is_number(o, o->a, largest(o->of))
                : is_number(o, o->a, smallest(o->of)) || is_number(o, o->b, largest(o->of))) {
        return number(o, VYRE_TYPE_BOOL, !is_less);
    }
    return VYRE_NONE;
}

static uint32_t fold_select(const operation *o) {
    vyre_inst in;
    uint32_t a = o->a, b = o->b, c = o->c;
    if (b == c) {
        return b;
    }
    if (is_constant(a)) {
        return bits_of(o, a) ? b : c;
    }
    if (o->type == VYRE_TYPE_BOOL) {
        if (is_constant(b) && is_constant(c)) {
            return bits_of(o, b) ? a : build(o, VYRE_OP_NOT, a, VYRE_NONE);
        }
        if (is_number(o, c, 0) || c == a) {
            return build(o, VYRE_OP_AND, a, b);
        }
        if (is_number(o, b, 1) || b == a) {
            return build(o, VYRE_OP_OR, a, c);
        }
    }
    if (is_op(o, a, VYRE_OP_NOT, &in)) {
        a = in.a, b = o->c, c = o->b;
    }
    if (is_op(o, b, VYRE_OP_SELECT, &in) && in.a == a) {
        b = in.b;
    }
    if (is_op(o, c, VYRE_OP_SELECT, &in) && in.a == a) {
        c = in.c;
    }
    return a != o->a || b != o->b || c != o->c
               ? vyre_fold_build(o->to, VYRE_OP_SELECT, o->type, (uint32_t[3]){a, b, c})
               : VYRE_NONE;
}

/* Types and signs */

/* Whether every number of one type is one of the other. */
static bool holds(vyre_type outer, vyre_type inner) {
    if (is_float(inner)) {
        return is_float(outer) && vyre_type_bytes(outer) > vyre_type_bytes(inner);
    }
    uint32_t room = width_of(outer) - is_signed(outer), needed = width_of(inner) - is_signed(inner);
    return is_integer(outer) && room >= needed && (is_signed(outer) || !is_signed(inner));
}

static uint32_t fold_convert(const operation *o) {
    vyre_inst in;
    if (!is_op(o, o->a, VYRE_OP_CONVERT, &in)) {
        return VYRE_NONE;
    }
    vyre_type from = builder_type(o->to, in.a);
    /* A float that comes back may be a NaN, which conversions make canonical. */
    bool passes = holds(o->of, from) && !(is_float(from) && from == o->type);
    /* Low bits of low bits. */
    bool cuts = is_integer(from) && is_integer(o->of) && is_integer(o->type) &&
                width_of(o->type) <= width_of(o->of);
    if (!passes && !cuts) {
        return VYRE_NONE;
    }
    return from == o->type ? in.a : build(o, VYRE_OP_CONVERT, in.a, VYRE_NONE);
}

static uint32_t fold_bitcast(const operation *o) {
    vyre_inst in;
    if (!is_op(o, o->a, VYRE_OP_BITCAST, &in)) {
        return VYRE_NONE;
    }
    return builder_type(o->to, in.a) == o->type ? in.a : build(o, VYRE_OP_BITCAST, in.a, VYRE_NONE);
}

/* On floats these flip and clear the sign bit, whatever the value. */
static uint32_t fold_sign(const operation *o) {
    vyre_inst in;
    if (is_op(o, o->a, VYRE_OP_NEG, &in)) {
        return o->op == VYRE_OP_NEG ? in.a : build(o, VYRE_OP_ABS, in.a, VYRE_NONE);
    }
    if (o->op == VYRE_OP_ABS && is_op(o, o->a, VYRE_OP_ABS, &in)) {
        return o->a;
    }
    if (o->op == VYRE_OP_NEG && is_integer(o->type) && is_op(o, o->a, VYRE_OP_SUB, &in)) {
        return build(o, VYRE_OP_SUB, in.b, in.a);
    }
    return VYRE_NONE;
}

/* Division by a power of two whose inverse is one as well: the same number, rounded once. */
static uint32_t fold_float_div(const operation *o) {
    static const uint32_t fractions[VYRE_TYPE_COUNT] = {
        [VYRE_TYPE_F16] = 10, [VYRE_TYPE_BF16] = 7, [VYRE_TYPE_F32] = 23, [VYRE_TYPE_F64] = 52};
    uint32_t fraction = fractions[o->type];
    if (!is_constant(o->b)) {
        return VYRE_NONE;
    }
    uint64_t bits = bits_of(o, o->b), most = largest(VYRE_TYPE_U64) >> (64 - width_of(o->type) + 1);
    uint64_t exponent = (bits & most) >> fraction, last = most >> fraction;
    if (bits & (((uint64_t)1 << fraction) - 1) || !exponent || exponent + 1 >= last) {
        return VYRE_NONE; /* neither it nor its inverse may be subnormal, nor infinite */
    }
    uint64_t one, inverse;
    evaluate(VYRE_OP_CONVERT, VYRE_TYPE_BOOL, o->type, (uint64_t[3]){1, 0, 0}, &one);
    evaluate(VYRE_OP_DIV, o->type, o->type, (uint64_t[3]){one, bits, 0}, &inverse);
    return build(o, VYRE_OP_MUL, o->a, number(o, o->type, inverse));
}

/* Of an operation whose operands may be put together in any order. */
static uint32_t fold_associative(const operation *o, uint32_t (*fold)(const operation *o)) {
    uint32_t nested = fold_nested(o);
    return nested != VYRE_NONE ? nested : fold(o);
}

/* What is simpler than an operation whose operands are not all constant; VYRE_NONE if nothing. */
static uint32_t fold_identity(const operation *o) {
    bool of_float = is_float(o->of);
    switch (o->op) {
    case VYRE_OP_ADD: return of_float ? VYRE_NONE : fold_associative(o, fold_add);
    case VYRE_OP_SUB: return of_float ? VYRE_NONE : fold_sub(o);
    case VYRE_OP_MUL: return of_float ? VYRE_NONE : fold_associative(o, fold_mul);
    case VYRE_OP_DIV: return of_float ? fold_float_div(o) : fold_div(o);
    case VYRE_OP_REM: return fold_rem(o);
    case VYRE_ONE_OF(MIN, MAX): return of_float ? VYRE_NONE : fold_associative(o, fold_min_max);
    case VYRE_ONE_OF(NEG, ABS): return fold_sign(o);
    case VYRE_ONE_OF(ADD_SAT, SUB_SAT): return is_number(o, o->b, 0) ? o->a : VYRE_NONE;
    case VYRE_OP_AND: return fold_associative(o, fold_and);
    case VYRE_OP_OR: return fold_associative(o, fold_or);
    case VYRE_OP_XOR: return fold_associative(o, fold_xor);
    case VYRE_OP_NOT: return fold_not(o);
    case VYRE_ONE_OF(SHL, SHR, ROTL, ROTR): return fold_shift(o);
    case VYRE_ONE_OF(EQ, NE): return fold_equal(o);
    case VYRE_ONE_OF(LT, LE): return fold_order(o);
    case VYRE_OP_SELECT: return fold_select(o);
    case VYRE_OP_CONVERT: return fold_convert(o);
    case VYRE_OP_BITCAST: return fold_bitcast(o);
    case VYRE_ONE_OF(MUL_HIGH, CLZ, CTZ, POPCOUNT, REVERSE_BITS):
    case VYRE_ANY_OF(SURROUNDINGS, FLOAT, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    }
    return VYRE_NONE;
}

bool vyre_fold_commutes(vyre_op op) {
    switch (op) {
    case VYRE_ONE_OF(ADD, MUL, MUL_HIGH, ADD_SAT, AND, OR, XOR, EQ, NE, FMA):
    case VYRE_ONE_OF(MIN, MAX): return true;
    case VYRE_ONE_OF(SUB, SUB_SAT, NOT, SQRT, FLOOR, CEIL, TRUNC, ROUND, COPYSIGN, LT, LE):
    case VYRE_ANY_OF(SURROUNDINGS, QUOTIENT, SIGN, SHIFT, BITS, CHOICE, ELEMENTARY, ACCESS, BARRIER,
                     SUBGROUP, CONTROL, NONE):
        break;
    }
    return false;
}

uint32_t vyre_fold_op(vyre_builder *to, vyre_op op, vyre_type type, const uint32_t operands[3]) {
    const vyre_op_info *info = vyre_lookup_op(op);
    uint32_t count = vyre_rule_arity(op);
    for (uint32_t i = 0; i < count; i++) {
        if (builder_type(to, operands[i]) == VYRE_TYPE_VOID) {
            return VYRE_NONE;
        }
    }
    if (!count || info->effects) {
        return VYRE_NONE;
    }
    operation o = {to,          op,          type,       builder_type(to, operands[0]),
                   operands[0], operands[1], operands[2]};
    uint32_t folded = fold_constants(&o, count);
    if (folded != VYRE_NONE) {
        return folded;
    }
    if (vyre_fold_commutes(op) && is_constant(o.a) && !is_float(o.of)) {
        o.a = operands[1], o.b = operands[0];
    }
    folded = fold_identity(&o);
    bool is_turned = o.a != operands[0] && folded == VYRE_NONE;
    return is_turned ? vyre_build_op(to, op, o.a, o.b, VYRE_NONE) : folded;
}

uint32_t vyre_fold_build(vyre_builder *to, vyre_op op, vyre_type type, const uint32_t operands[3]) {
    uint32_t folded = vyre_fold_op(to, op, type, operands);
    return folded != VYRE_NONE ? folded : builder_op(to, op, type, operands);
}
