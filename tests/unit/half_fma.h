/* fma on f16 and bf16 with whole numbers alone, and operands for which rounding twice goes wrong.
 * What the formats are is written down here once more: the library shares nothing of it. */
#ifndef VYRE_TESTS_HALF_FMA_H
#define VYRE_TESTS_HALF_FMA_H

#include <stdbool.h>
#include <stdint.h>

typedef struct half_format {
    int mantissa; /* bits */
    int unit;     /* exponent of the last bit of subnormal numbers */
    uint16_t infinity, nan;
    int reach; /* of exponents whose products mostly stay in range */
} half_format;

static const half_format half_f16 = {10, -24, 0x7c00, 0x7e00, 10};
static const half_format half_bf16 = {7, -133, 0x7f80, 0x7fc0, 60};

/* (-1)^negative * digits * 2^exponent. */
typedef struct half_number {
    bool negative;
    uint64_t digits;
    int exponent;
} half_number;

static inline half_number half_read(const half_format *f, uint16_t bits) {
    int field = (bits & 0x7fff) >> f->mantissa;
    uint64_t digits = bits & ((1u << f->mantissa) - 1);
    digits |= field ? (uint64_t)1 << f->mantissa : 0;
    return (half_number){bits >> 15, digits, f->unit + (field ? field - 1 : 0)};
}

static inline int half_top(half_number n) { /* 2^top <= |n| < 2^(top + 1) */
    int top = n.exponent - 1;
    for (uint64_t digits = n.digits; digits; digits >>= 1) {
        top++;
    }
    return top;
}

/* To nearest, ties to even; digits have at most 63 bits. */
static inline uint16_t half_round(const half_format *f, half_number n) {
    int unit = half_top(n) - f->mantissa;
    unit = unit < f->unit ? f->unit : unit;
    int shift = unit - n.exponent;
    uint64_t whole = shift > 63 ? 0 : shift > 0 ? n.digits >> shift : n.digits << -shift;
    if (shift > 0 && shift <= 63) {
        uint64_t below = n.digits - (whole << shift), half = (uint64_t)1 << (shift - 1);
        whole += below > half || (below == half && (whole & 1));
    }
    uint64_t bits = whole + ((uint64_t)(unit - f->unit) << f->mantissa);
    return (uint16_t)((bits < f->infinity ? bits : f->infinity) | (n.negative ? 0x8000 : 0));
}

/* Both are finite, and `high` has the higher top. What of `low` lies far below `high` counts as one
 * bit: no result has its last bit so far down. */
static inline half_number half_sum(half_number high, half_number low) {
    enum { ROOM = 38 };
    int shift = low.exponent - (high.exponent - ROOM);
    uint64_t aligned = shift >= 0 ? low.digits << shift : shift > -64 ? low.digits >> -shift : 0;
    bool lost = shift < 0 && (shift <= -64 || aligned << -shift != low.digits);
    aligned |= lost;
    uint64_t digits = high.digits << ROOM;
    digits = high.negative == low.negative ? digits + aligned : digits - aligned;
    return (half_number){high.negative, digits, high.exponent - ROOM};
}

static inline uint16_t half_fma(const half_format *f, uint16_t x, uint16_t y, uint16_t z) {
    half_number a = half_read(f, x), b = half_read(f, y), c = half_read(f, z);
    half_number product = {a.negative != b.negative, a.digits * b.digits, a.exponent + b.exponent};
    uint16_t sign = product.negative ? 0x8000 : 0;
    bool x_infinite = (x & 0x7fff) == f->infinity, y_infinite = (y & 0x7fff) == f->infinity;
    bool z_infinite = (z & 0x7fff) == f->infinity;
    if ((x & 0x7fff) > f->infinity || (y & 0x7fff) > f->infinity || (z & 0x7fff) > f->infinity ||
        ((x_infinite || y_infinite) && !product.digits) ||
        ((x_infinite || y_infinite) && z_infinite && product.negative != c.negative)) {
        return f->nan;
    }
    if (x_infinite || y_infinite || z_infinite) {
        return z_infinite ? z : (uint16_t)(sign | f->infinity);
    }
    if (!product.digits || !c.digits) {
        bool both = !product.digits && !c.digits;
        return both ? (uint16_t)(sign & z & 0x8000) : half_round(f, c.digits ? c : product);
    }
    /* A product in the middle of its digits may be the longer one: compare the tops. */
    bool swap = half_top(c) > half_top(product);
    half_number sum = half_sum(swap ? c : product, swap ? product : c);
    if ((int64_t)sum.digits < 0) { /* equal tops, and the other was larger */
        sum = (half_number){!sum.negative, 0 - sum.digits, sum.exponent};
    }
    return sum.digits ? half_round(f, sum) : 0;
}

static inline uint16_t half_random(uint64_t *state) { /* splitmix64 */
    uint64_t n = *state += 0x9e3779b97f4a7c15u;
    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
    n = (n ^ n >> 27) * 0x94d049bb133111ebu;
    return (uint16_t)((n ^ n >> 31) >> 13);
}

/* A product of two odd numbers that lies in the middle of two values, and an addend that is small,
 * so that it decides and an f32 sum does not show it. */
static inline void half_hard_product(const half_format *f, uint64_t *state, uint16_t operands[3]) {
    uint64_t a = 3 + 2 * (half_random(state) % (f->mantissa > 8 ? 30u : 6u));
    uint64_t least = ((uint64_t)2 << f->mantissa) / a + 1;
    uint64_t b = (least + half_random(state) % least) | 1;
    int i = half_random(state) % (2 * f->reach) - f->reach - f->mantissa / 2;
    int j = half_random(state) % (2 * f->reach) - f->reach - f->mantissa / 2;
    uint16_t signs = half_random(state), z = half_random(state);
    operands[0] = half_round(f, (half_number){signs & 1, a, i});
    operands[1] = half_round(f, (half_number){signs & 2, b, j});
    operands[2] = signs & 4 ? z : (uint16_t)((z & 0x8000) | (1 + (z & 3)));
}

/* An addend, and a product close to half of its last unit. */
static inline void half_hard_addend(const half_format *f, uint64_t *state, uint16_t operands[3]) {
    uint16_t z = half_random(state), off = half_random(state), signs = half_random(state);
    uint64_t one = (uint64_t)1 << f->mantissa;
    int wanted = half_read(f, z).exponent - 1 - 2 * f->mantissa; /* of the product's last bit */
    int i = wanted / 2 + (int)(off >> 8 & 7) - 4;
    operands[0] = half_round(f, (half_number){signs & 1, one + (off & 3) - (off >> 2 & 3), i});
    operands[1] =
        half_round(f, (half_number){signs & 2, one + (off >> 4 & 3) - (off >> 6 & 3), wanted - i});
    operands[2] = z;
}

/* A sum that cancels, and anything at all. */
static inline void half_hard_difference(const half_format *f, uint64_t *state,
                                        uint16_t operands[3]) {
    operands[0] = half_random(state);
    operands[1] = half_random(state);
    operands[2] = half_fma(f, operands[0], operands[1] ^ 0x8000, 0) ^ (half_random(state) & 1);
}

static inline void half_hard_case(const half_format *f, uint64_t kind, uint64_t *state,
                                  uint16_t operands[3]) {
    switch (kind % 4) {
    case 0: half_hard_product(f, state, operands); break;
    case 1: half_hard_addend(f, state, operands); break;
    case 2: half_hard_difference(f, state, operands); break;
    default:
        for (int k = 0; k < 3; k++) {
            operands[k] = half_random(state);
        }
    }
}

#endif
