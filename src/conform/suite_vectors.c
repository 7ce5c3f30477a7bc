/* Operands of floats for the suite `floats`. Vectors have numbers, and any part of them can be made
 * by itself. */
#include "base/random.h"
#include "conform/suite.h"
#include "ir/eval.h"
#include "values/element.h"

enum { MOST_BOUNDS = 512, WIDE_FIELDS = 22, NARROW_FIELDS = 12 };

/* How a float is laid out. */
typedef struct layout {
    uint32_t digits, sign;  /* bits behind the point; the bit of the sign */
    uint64_t bias, special; /* exponents: of one, of infinities and NaN */
    uint64_t ones;          /* all digits */
} layout;

static layout layout_of(vyre_type type) {
    vyre_float_format f = values_float_format(type);
    uint64_t special = ((uint64_t)1 << f.exponent_bits) - 1;
    return (layout){.digits = (uint32_t)f.mantissa_bits,
                    .sign = (uint32_t)(f.mantissa_bits + f.exponent_bits),
                    .bias = special / 2,
                    .special = special,
                    .ones = ((uint64_t)1 << f.mantissa_bits) - 1};
}

static uint64_t pack(const layout *f, bool negative, uint64_t field, uint64_t fraction) {
    return (uint64_t)negative << f->sign | field << f->digits | (fraction & f->ones);
}

/* Tuples of bounds */

/* Exponents where ranges begin or end: of subnormal and whole numbers, of what products and
 * quotients stay finite for. Those of triples come first. Some are the same for narrow formats. */
static uint64_t bound_field(const layout *f, uint32_t which) {
    const uint64_t d = f->digits, fields[WIDE_FIELDS] = {0,
                                                         1,
                                                         f->bias,
                                                         f->special,
                                                         f->special - 1,
                                                         f->bias - 1,
                                                         f->bias + 1,
                                                         d,
                                                         f->bias - d,
                                                         f->bias + d,
                                                         f->bias / 2,
                                                         f->bias + f->bias / 2,
                                                         2,
                                                         f->bias / 2 + 1,
                                                         f->bias + f->bias / 2 + 1,
                                                         f->bias - d - 1,
                                                         f->bias + d + 1,
                                                         f->bias + d - 1,
                                                         f->bias - 2,
                                                         f->bias + 2,
                                                         f->special - 2,
                                                         d + 1};
    return fields[which];
}

static uint64_t bound_fraction(const layout *f, uint32_t which) {
    uint64_t quiet = (f->ones >> 1) + 1;
    const uint64_t fractions[] = {0,         1,         quiet,       f->ones,
                                  quiet - 1, quiet + 1, f->ones - 1, f->ones / 3};
    return fractions[which];
}

/* Number `which` of so many bounds: signs, then fractions, then exponents. */
static uint64_t bound(const layout *f, uint64_t which, uint32_t fractions) {
    uint64_t rest = which >> 1;
    return pack(f, which & 1, bound_field(f, (uint32_t)(rest / fractions)),
                bound_fraction(f, (uint32_t)(rest % fractions)));
}

/* Tuple `number`, in an order that leaps: the first ones are a sample of all. */
static void bound_tuple(const layout *f, uint32_t arity, uint64_t number, uint64_t *out) {
    static const uint64_t leap = 2654435761; /* a prime */
    uint32_t fractions = arity == 3 ? 4 : 8;
    uint64_t each = UINT64_C(2) * fractions * (arity == 3 ? NARROW_FIELDS : WIDE_FIELDS), all = 1;
    for (uint32_t k = 0; k < arity; k++) {
        all *= each;
    }
    uint64_t at = number % all * leap % all;
    for (uint32_t k = 0; k < arity; k++) {
        out[k] = bound(f, at % each, fractions);
        at /= each;
    }
}

/* At random */

/* A few digits, then a rest at which rounding turns: nothing, a half, or nearly one of these. */
static uint64_t near_tie(uint64_t *random, uint32_t width) {
    uint64_t any = vyre_random(random);
    uint32_t rest = (uint32_t)vyre_random_below(random, width) + 1;
    uint64_t unit = rest < 64 ? (uint64_t)1 << rest : 0, half = (uint64_t)1 << (rest - 1);
    const uint64_t ends[] = {0, 1, half - 1, half, half + 1, unit - 1};
    uint64_t high = any >> 8 & 1 ? any : ~(uint64_t)0;
    high = any >> 9 & 7 ? high : 0;
    return (high & ~(unit - 1)) | ends[(any & 0xff) % 6];
}

static uint64_t random_fraction(const layout *f, uint64_t *random) {
    uint64_t any = vyre_random(random);
    uint32_t shift = (uint32_t)vyre_random_below(random, f->digits + 1);
    switch (any >> 60) {
    case 0: return 0;
    case 1: return f->ones;
    case 2: return (uint64_t)1 << shift; /* one bit, or all but it */
    case 3: return ~((uint64_t)1 << shift);
    case 4: return f->ones << shift; /* bits from one end on */
    case 5: return f->ones >> shift;
    case 6: return (f->ones << shift) + (any & 3) - 1;
    case 7: return (f->ones >> shift) + (any & 3) - 1;
    case 8:
    case 9:
    case 10: return near_tie(random, f->digits);
    default: return any;
    }
}

static uint64_t near_field(const layout *f, uint64_t *random, int64_t center, uint32_t reach) {
    int64_t field = center + (int64_t)vyre_random_below(random, 2 * reach + 1) - reach;
    return field < 0 ? 0 : (uint64_t)field > f->special ? f->special : (uint64_t)field;
}

static uint64_t random_field(const layout *f, uint64_t *random) {
    uint64_t form = vyre_random_below(random, 8);
    switch (form) {
    case 0:
    case 1: return vyre_random_below(random, f->special + 1);
    case 2: return near_field(f, random, (int64_t)f->bias, f->digits + 3);
    case 3: return vyre_random_below(random, 4);
    case 4: return f->special - vyre_random_below(random, 4);
    case 5: return near_field(f, random, (int64_t)f->bias + 32, 34); /* of integers */
    default: return bound_field(f, (uint32_t)vyre_random_below(random, WIDE_FIELDS));
    }
}

/* The exponent of another operand beside one or two: near the same, or where a product, a quotient
 * or a sum of products leaves the range or is rounded. */
static uint64_t related_field(const layout *f, uint64_t *random, uint32_t which,
                              const uint64_t *fields) {
    int64_t bias = (int64_t)f->bias, a = (int64_t)fields[0], b = (int64_t)fields[1];
    uint64_t form = vyre_random_below(random, 8);
    if (which == 2 && form < 5) { /* an addend near the product */
        return near_field(f, random, a + b - bias, 2 * f->digits + 4);
    }
    switch (form) {
    case 0:
    case 1: return near_field(f, random, a, 1);
    case 2: return near_field(f, random, a, f->digits + 3);
    case 3: return near_field(f, random, bias - a, f->digits + 3); /* products: underflow */
    case 4: return near_field(f, random, 3 * bias - a, 3);         /* overflow */
    case 5: return near_field(f, random, a + bias, f->digits + 3); /* quotients */
    default: return random_field(f, random);
    }
}

/* A neighbour of another number, of either sign: little is left of their sum. */
static uint64_t neighbour(const layout *f, uint64_t *random, uint64_t bits) {
    uint64_t any = vyre_random(random), magnitude = (bits & (((uint64_t)1 << f->sign) - 1));
    magnitude += any % 5;
    magnitude -= magnitude > 2 ? 2 : 0;
    return (magnitude & (((uint64_t)1 << f->sign) - 1)) | (any >> 8 & 1) << f->sign;
}

static uint64_t product(vyre_type type, const uint64_t *x) {
    uint64_t result = 0;
    vyre_eval_find(VYRE_OP_MUL, type, type)(&result, &x[0], &x[1], NULL, 1);
    return result;
}

static void random_floats(vyre_type type, const layout *f, uint32_t arity, uint64_t *random,
                          uint64_t *out) {
    uint64_t fields[3] = {random_field(f, random), 0, 0};
    for (uint32_t k = 0; k < arity; k++) {
        uint64_t any = vyre_random(random), fraction = random_fraction(f, random);
        fields[k] = k ? related_field(f, random, k, fields) : fields[k];
        if (fields[k] == f->special && any & 2) {
            fraction = 0; /* as many infinities as NaNs */
        }
        out[k] = pack(f, any & 1, fields[k], fraction);
        if (k && !(any >> 8 & 7)) {
            out[k] = neighbour(f, random, k == 1 ? out[0] : product(type, out));
            fields[k] = out[k] >> f->digits & f->special;
        }
    }
}

/* Of any length, where floats of some format round. */
static uint64_t random_integer(vyre_type type, uint64_t *random) {
    uint32_t width = vyre_type_bytes(type) * 8;
    uint64_t any = vyre_random(random), value = near_tie(random, width);
    value = any & 6 ? value : vyre_random(random);
    value = (value & (~(uint64_t)0 >> (64 - width))) | (uint64_t)1 << (width - 1);
    value >>= vyre_random_below(random, width);
    value = any & 1 ? 0 - value : value;
    return value & (~(uint64_t)0 >> (64 - width));
}

void conform_vector(vyre_type type, uint32_t arity, uint64_t number, uint64_t out[3]) {
    uint64_t random = ((uint64_t)type << 2 | arity) << 56 ^ number * 0xd1342543de82ef95;
    bool is_float = vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
    if (arity == 1 && vyre_type_bytes(type) <= 2) {
        out[0] = number & (~(uint64_t)0 >> (64 - vyre_type_bytes(type) * 8));
    } else if (!is_float && number % 2) {
        uint64_t specials[CONFORM_SPECIALS];
        size_t count = conform_special_values(type, specials);
        for (uint32_t k = 0; k < arity; k++) {
            out[k] = specials[number / 2 % count];
        }
    } else if (!is_float) {
        for (uint32_t k = 0; k < arity; k++) {
            out[k] = random_integer(type, &random);
        }
    } else {
        const layout f = layout_of(type);
        if (number % 2) {
            random_floats(type, &f, arity, &random, out);
        } else {
            bound_tuple(&f, arity, number / 2, out);
        }
    }
}
