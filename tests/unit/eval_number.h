/* Floats as whole numbers: what they are is written down here once more, with integers alone, from
 * the definition of the formats. Also special values, and operands that meet in interesting places.
 */
#ifndef VYRE_TESTS_EVAL_NUMBER_H
#define VYRE_TESTS_EVAL_NUMBER_H

#include "tests/unit/eval_check.h"

typedef struct number_format {
    int mantissa; /* bits */
    int least;    /* exponent of the smallest normal number */
    int most;     /* of the largest */
} number_format;

static inline number_format number_format_of(vyre_type type) {
    switch (type) {
    case VYRE_TYPE_F16: return (number_format){10, -14, 15};
    case VYRE_TYPE_BF16: return (number_format){7, -126, 127};
    case VYRE_TYPE_F32: return (number_format){23, -126, 127};
    case VYRE_TYPE_F64: return (number_format){52, -1022, 1023};
    default: fail_msg("no format is known for %s", vyre_type_name(type));
    }
    return (number_format){0};
}

static inline uint64_t number_infinity(vyre_type type) {
    number_format f = number_format_of(type);
    return (uint64_t)(f.most - f.least + 2) << f.mantissa;
}

static inline uint64_t number_sign(vyre_type type) {
    return (uint64_t)1 << (vyre_type_bytes(type) * 8 - 1);
}

static inline uint64_t number_nan(vyre_type type) {
    switch (type) {
    case VYRE_TYPE_F16: return 0x7e00;
    case VYRE_TYPE_BF16: return 0x7fc0;
    case VYRE_TYPE_F32: return 0x7fc00000;
    default: return 0x7ff8000000000000;
    }
}

static inline bool number_is_nan(vyre_type type, uint64_t bits) {
    return (bits & ~number_sign(type)) > number_infinity(type);
}

/* (-1)^negative * digits * 2^exponent, or infinity, or no number. */
typedef struct number {
    bool negative, infinite, nan;
    uint64_t digits;
    int exponent;
} number;

static inline number number_of_float(vyre_type type, uint64_t bits) {
    number_format f = number_format_of(type);
    uint64_t field = (bits & ~number_sign(type)) >> f.mantissa;
    uint64_t fraction = bits & (((uint64_t)1 << f.mantissa) - 1);
    number n = {.negative = (bits & number_sign(type)) != 0, .digits = fraction};
    if (field == (uint64_t)(f.most - f.least + 2)) {
        n.infinite = !fraction;
        n.nan = fraction;
    } else if (field) {
        n.digits = fraction | (uint64_t)1 << f.mantissa;
        n.exponent = f.least + (int)field - 1 - f.mantissa;
    } else {
        n.exponent = f.least - f.mantissa;
    }
    return n;
}

static inline number number_of_integer(vyre_type type, uint64_t bits) {
    uint64_t sign = number_sign(type);
    if (vyre_type_class_of(type) == VYRE_CLASS_SIGNED && bits & sign) {
        return (number){.negative = true, .digits = (0 - bits) & eval_mask(type)};
    }
    return (number){.digits = bits};
}

/* Digits divided by 2^shift: what remains whole, and how the rest compares with a half. */
static inline uint64_t number_cut(uint64_t digits, int shift, bool *rest, bool *half, bool *more) {
    uint64_t whole = shift > 63 ? 0 : digits >> shift;
    uint64_t below = shift > 63 ? digits : digits - (whole << shift);
    uint64_t middle = shift > 64 || shift < 1 ? 0 : (uint64_t)1 << (shift - 1);
    *rest = below != 0;
    *half = middle && below == middle;
    *more = middle && below > middle;
    return whole;
}

/* The float nearest to it, ties to even. */
static inline uint64_t number_to_float(vyre_type type, number n) {
    number_format f = number_format_of(type);
    uint64_t sign = n.negative ? number_sign(type) : 0;
    if (n.nan) {
        return number_nan(type);
    }
    if (n.infinite || !n.digits) {
        return sign | (n.infinite ? number_infinity(type) : 0);
    }
    for (int step = 32; step; step /= 2) {
        if (!(n.digits >> (64 - step))) {
            n.digits <<= step;
            n.exponent -= step;
        }
    }
    int top = n.exponent + 63; /* 2^top <= value < 2^(top + 1) */
    int unit = (top < f.least ? f.least : top) - f.mantissa;
    bool rest, half, more;
    uint64_t whole = number_cut(n.digits, unit - n.exponent, &rest, &half, &more);
    whole += more || (half && whole & 1);
    uint64_t bits = whole + ((uint64_t)(unit + f.mantissa - f.least) << f.mantissa);
    return sign | (bits > number_infinity(type) ? number_infinity(type) : bits);
}

/* Towards zero, clamped to the type, 0 for no number. */
static inline uint64_t number_to_integer(vyre_type type, number n) {
    bool is_signed = vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
    uint64_t most = eval_mask(type) >> is_signed;
    if (n.nan) {
        return 0;
    }
    uint64_t limit = !n.negative ? most : is_signed ? most + 1 : 0, whole = n.digits;
    if (n.infinite) {
        whole = limit;
    } else if (n.exponent < 0) {
        whole = n.exponent < -63 ? 0 : whole >> -n.exponent;
    } else if (n.exponent > 63 || n.digits > UINT64_MAX >> n.exponent) {
        whole = n.digits ? limit : 0;
    } else {
        whole <<= n.exponent;
    }
    whole = whole > limit ? limit : whole;
    return (n.negative ? 0 - whole : whole) & eval_mask(type);
}

/* A whole number next to it, by operation; the sign stays, so that of zero does. */
static inline uint64_t number_to_whole(uint32_t op, vyre_type type, uint64_t bits) {
    number n = number_of_float(type, bits);
    if (n.nan || n.infinite || n.exponent >= 0) {
        return n.nan ? number_nan(type) : bits;
    }
    bool rest, half, more;
    n.digits = number_cut(n.digits, -n.exponent, &rest, &half, &more);
    switch (op) {
    case VYRE_OP_FLOOR: n.digits += rest && n.negative; break;
    case VYRE_OP_CEIL: n.digits += rest && !n.negative; break;
    case VYRE_OP_ROUND: n.digits += more || (half && n.digits & 1); break;
    default: break;
    }
    n.exponent = 0;
    return number_to_float(type, n);
}

/* Numbers in their order, -0 right before +0. */
static inline int64_t number_rank(vyre_type type, uint64_t bits) {
    int64_t magnitude = (int64_t)(bits & ~number_sign(type));
    return bits & number_sign(type) ? -1 - magnitude : magnitude;
}

/* Operations on floats that are no arithmetic, from docs/semantics.md. */
static inline uint64_t number_oracle(const eval_case *c, const uint64_t *x) {
    vyre_type type = c->types[0];
    uint64_t sign = number_sign(type);
    bool nan0 = number_is_nan(type, x[0]);
    bool nan1 = c->operands > 1 && number_is_nan(type, x[1]);
    int64_t rank0 = number_rank(type, x[0]), rank1 = number_rank(type, x[1]);
    bool zeros = !(x[0] & ~sign) && !(x[1] & ~sign);
    switch (c->op) {
    case VYRE_OP_MIN:
    case VYRE_OP_MAX:
        if (nan0 || nan1) {
            return nan0 && nan1 ? number_nan(type) : nan0 ? x[1] : x[0];
        }
        return (rank0 < rank1) == (c->op == VYRE_OP_MIN) ? x[0] : x[1];
    case VYRE_OP_NEG: return x[0] ^ sign;
    case VYRE_OP_ABS: return x[0] & ~sign;
    case VYRE_OP_COPYSIGN: return (x[0] & ~sign) | (x[1] & sign);
    case VYRE_OP_FLOOR:
    case VYRE_OP_CEIL:
    case VYRE_OP_TRUNC:
    case VYRE_OP_ROUND: return number_to_whole(c->op, type, x[0]);
    case VYRE_OP_EQ: return !nan0 && !nan1 && (zeros || rank0 == rank1);
    case VYRE_OP_NE: return nan0 || nan1 || !(zeros || rank0 == rank1);
    case VYRE_OP_LT: return !nan0 && !nan1 && !zeros && rank0 < rank1;
    case VYRE_OP_LE: return !nan0 && !nan1 && (zeros || rank0 <= rank1);
    default: fail_msg("no vectors for %s", vyre_op_info_of(c->op)->name);
    }
    return 0;
}

static inline uint64_t number_select(const eval_case *c, const uint64_t *x) {
    (void)c;
    return x[0] ? x[1] : x[2];
}

/* Between all types. */
static inline uint64_t number_conversion(const eval_case *c, const uint64_t *x) {
    vyre_type from = c->types[0], to = c->result;
    bool from_float = vyre_type_class_of(from) == VYRE_CLASS_FLOAT;
    number n = from_float ? number_of_float(from, x[0]) : number_of_integer(from, x[0]);
    if (to == VYRE_TYPE_BOOL) {
        return n.nan || n.infinite || n.digits;
    }
    if (vyre_type_class_of(to) == VYRE_CLASS_FLOAT) {
        return number_to_float(to, n);
    }
    if (from_float) {
        return number_to_integer(to, n);
    }
    return (n.negative ? 0 - n.digits : n.digits) & eval_mask(to);
}

/* A float of about that exponent: subnormal below the range, the largest above. `fraction` is the
 * upper bits of a 64-bit word. */
static inline uint64_t number_make(vyre_type type, bool negative, int exponent, uint64_t fraction) {
    number_format f = number_format_of(type);
    uint64_t bits = fraction >> (64 - f.mantissa) | (uint64_t)1 << f.mantissa;
    exponent = exponent > f.most ? f.most : exponent;
    if (exponent < f.least) {
        bits = f.least - exponent > f.mantissa ? 1 : bits >> (f.least - exponent);
    } else {
        bits += (uint64_t)(exponent - f.least) << f.mantissa;
    }
    return bits | (negative ? number_sign(type) : 0);
}

enum { NUMBER_SPECIALS = 96 };

/* Fills in the special values of a format; returns how many. */
static inline size_t number_specials(vyre_type type, uint64_t *to) {
    number_format f = number_format_of(type);
    const uint64_t infinity = number_infinity(type), quiet = (uint64_t)1 << (f.mantissa - 1);
    const uint64_t normal = (uint64_t)1 << f.mantissa, one = number_make(type, false, 0, 0);
    const uint64_t two = one + normal, unit = one + ((uint64_t)f.mantissa << f.mantissa);
    const uint64_t list[] = {
        0, /* zero, and subnormal numbers up to the smallest normal */
        1,
        2,
        3,
        normal / 2,
        normal / 2 + 1,
        normal - 2,
        normal - 1,
        normal,
        normal + 1,
        normal * 2 - 1,
        normal * 2,
        normal * (uint64_t)f.mantissa, /* products and quotients of these are at the boundary */
        number_make(type, false, f.least / 2, 0),
        number_make(type, false, f.least / 2 - f.mantissa / 2, quiet << 13),
        number_make(type, false, f.most / 2, ~(uint64_t)0),
        number_make(type, false, (f.most + 1) / 2, 0),
        one - normal - 1, /* a half, one, three halves, two, halves to round */
        one - normal,
        one - normal + 1,
        one - 1,
        one,
        one + 1,
        one + normal / 2,
        two - 1,
        two,
        two + normal / 4,
        two + normal / 2,
        two + normal / 4 * 3,
        number_make(type, false, 3, (uint64_t)1 << 62),
        unit - normal - 1, /* where halves end, and where everything is whole */
        unit - normal,
        unit - normal + 1,
        unit - 1,
        unit,
        unit + 1,
        infinity - normal,
        infinity - 2,
        infinity - 1,
        infinity,
        infinity + 1, /* signalling, with a payload, canonical, all ones */
        infinity + quiet - 1,
        infinity + quiet,
        infinity + quiet + 5,
        infinity + normal - 1,
    };
    const size_t count = sizeof list / sizeof *list;
    for (size_t i = 0; i < count; i++) {
        to[i] = list[i];
        to[count + i] = list[i] | number_sign(type);
    }
    assert_true(count * 2 <= NUMBER_SPECIALS);
    return count * 2;
}

/* Fractions: any, or a few upper bits and then the halfway point between two shorter ones, or right
 * beside one. */
static inline uint64_t number_fraction(vyre_type type) {
    uint64_t any = eval_random();
    int used = number_format_of(type).mantissa, cut = eval_random_in(1, used);
    uint64_t last = (uint64_t)1 << (64 - used), low = ((uint64_t)1 << (63 - used + cut)) * 2 - 1;
    uint64_t middle = low / 2 + 1;
    switch (eval_random_in(0, 7)) {
    case 0: return any & ~low;
    case 1: return any | low;
    case 2: return (any & ~low) | middle;
    case 3: return ((any & ~low) | middle) - last;
    case 4: return ((any & ~low) | middle) + last;
    case 5: return (any & ~low) + last;
    default: return any;
    }
}

static inline uint64_t number_near(vyre_type type, int exponent) {
    return number_make(type, eval_random() & 1, exponent, number_fraction(type));
}

/* Operands whose result lies anywhere, among the subnormal numbers, or where numbers end. */
static inline void number_operands(uint32_t op, vyre_type type, uint64_t *x) {
    number_format f = number_format_of(type);
    int mode = eval_random_in(0, 7), aim = eval_random_in(f.least - f.mantissa, f.most);
    if (mode == 0) {
        for (int i = 0; i < 3; i++) {
            x[i] = eval_random() & eval_mask(type);
        }
        return;
    }
    aim = mode < 4   ? aim
          : mode < 6 ? eval_random_in(f.least - f.mantissa - 3, f.least + 3)
          : mode < 7 ? eval_random_in(f.most - 2, f.most + 1)
                     : eval_random_in(-f.mantissa, f.mantissa + 2);
    int other = eval_random_in(f.least, f.most), away = f.mantissa + 3;
    int first = aim + eval_random_in(-1, 1), second = first + eval_random_in(-away, away);
    switch (op) {
    case VYRE_OP_MUL:
    case VYRE_OP_FMA:
        first = aim / 2 + other / 2;
        second = aim - first - eval_random_in(0, 1);
        break;
    case VYRE_OP_DIV:
        second = other / 2;
        first = aim + second + eval_random_in(0, 1);
        break;
    default: break;
    }
    x[0] = number_near(type, first);
    x[1] = op == VYRE_OP_SQRT ? 0 : number_near(type, second);
    x[2] = op == VYRE_OP_FMA ? number_near(type, aim + eval_random_in(-2 * away, away))
                             : eval_random() & eval_mask(type);
    if ((op < VYRE_OP_ADD || op > VYRE_OP_DIV) && op != VYRE_OP_FMA && mode < 3) {
        x[1] = (x[0] + (uint64_t)eval_random_in(-1, 1)) & eval_mask(type);
    }
}

/* All combinations of special values; a select's condition is one of two. */
static inline void number_add_specials(eval_batch *batch, const eval_case *c) {
    uint64_t specials[NUMBER_SPECIALS], flags[] = {0, 1};
    size_t count = number_specials(c->types[c->operands - 1], specials);
    bool selects = c->op == VYRE_OP_SELECT;
    eval_add_all(batch, (const uint64_t *const[]){selects ? flags : specials, specials, specials},
                 (const size_t[]){selects ? 2 : count, count, count});
}

/* Random operands. */
static inline void number_add_random(eval_batch *batch, const eval_case *c, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint64_t x[3];
        number_operands(c->op, c->types[c->operands - 1], x);
        x[0] = c->op == VYRE_OP_SELECT ? x[0] & 1 : x[0];
        eval_add(batch, x);
    }
}

/* What an operation is compared with: `arithmetic` where it rounds. NULL for one without vectors.
 */
static inline eval_oracle number_oracle_of(uint32_t op, eval_oracle arithmetic) {
    switch (op) {
    case VYRE_OP_ADD:
    case VYRE_OP_SUB:
    case VYRE_OP_MUL:
    case VYRE_OP_DIV:
    case VYRE_OP_SQRT:
    case VYRE_OP_FMA: return arithmetic;
    case VYRE_OP_MIN:
    case VYRE_OP_MAX:
    case VYRE_OP_NEG:
    case VYRE_OP_ABS:
    case VYRE_OP_COPYSIGN:
    case VYRE_OP_FLOOR:
    case VYRE_OP_CEIL:
    case VYRE_OP_TRUNC:
    case VYRE_OP_ROUND:
    case VYRE_OP_EQ:
    case VYRE_OP_NE:
    case VYRE_OP_LT:
    case VYRE_OP_LE: return number_oracle;
    case VYRE_OP_SELECT: return number_select;
    default: return NULL;
    }
}

#endif
