#include <math.h>

#include "inputs.h"

/* Zeros, ones, halves, borders of ranges, of exactness and of reductions, infinities and NaNs; each
 * is taken with both signs. */
static const uint64_t specials[] = {
    0x0000000000000000, 0x0000000000000001, 0x0000000000000002, 0x0000000000000003,
    0x0008000000000000, 0x000fffffffffffff, 0x0010000000000000, 0x0010000000000001,
    0x3c90000000000000, 0x3ca0000000000000, 0x3e40000000000000, 0x3fb9400000000000,
    0x3fd36c0000000000, 0x3fe0000000000000, 0x3fdfffffffffffff, 0x3fe0000000000001,
    0x3fe11a0000000000, 0x3fe62e42fefa39ef, 0x3fe6a09e667f3bcd, 0x3fe921fb54442d18,
    0x3fea420000000000, 0x3fefffffffffffff, 0x3ff0000000000000, 0x3ff0000000000001,
    0x3ff6a09e667f3bcd, 0x3ff8000000000000, 0x3ff921fb54442d18, 0x4000000000000000,
    0x4004000000000000, 0x4008000000000000, 0x400921fb54442d18, 0x4010800000000000,
    0x4010000000000000, 0x4014000000000000, 0x4017af9a0fa8a6a5, 0x4017c00000000000,
    0x4022000000000000, 0x4024000000000000, 0x4037000000000000, 0x4044000000000000,
    0x4059000000000000, 0x40734413509f79fe, 0x4073b00000000000, 0x4074385446d71c36,
    0x40862e42fefa39ef, 0x40862e42fefa39f0, 0x408633ce8fb9f87d, 0x408633ce8fb9f87e,
    0x40874910d52d3051, 0x40874910d52d3052, 0x408fffffffffffff, 0x4090000000000000,
    0x4090c80000000000, 0x4090cc0000000000, 0x41cfffffffffffff, 0x41d0000000000000,
    0x41d0000000000001, 0x4330000000000000, 0x4330000000000001, 0x433fffffffffffff,
    0x4340000000000000, 0x4340000000000001, 0x43f0000000000000, 0x7fd0000000000000,
    0x7fe0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff0000000000001,
    0x7ff7ffffffffffff, 0x7ff8000000000000, 0x7ff8000000000001, 0x7fffffffffffffff,
};

enum {
    SPECIAL_COUNT = 2 * sizeof(specials) / sizeof(specials[0]),
    EXPONENT_COUNT = 4096, /* sign and exponent */
    MANTISSA_COUNT = 8,    /* of each of them */
    RANDOM_COUNT = 1000000,
    PAIR_COUNT = 1 << 16 /* of exponents */
};

static uint64_t special(uint64_t number) {
    return specials[number / 2] | (number & 1) << 63;
}

static uint64_t of_exponent(uint64_t sign_and_exponent, uint64_t mantissa) {
    return sign_and_exponent << 52 | (mantissa & 0xfffffffffffff);
}

static uint64_t make_special(uint64_t number) {
    static const uint64_t mantissas[MANTISSA_COUNT] = {
        0, 1, 0x7ffffffffffff, 0x8000000000000, 0x8000000000001, 0xfffffffffffff};
    if (number < SPECIAL_COUNT) {
        return special(number);
    }
    number -= SPECIAL_COUNT;
    uint64_t which = number % MANTISSA_COUNT;
    return of_exponent(number / MANTISSA_COUNT,
                       which < 6 ? mantissas[which] : inputs_scramble(number));
}

static void make_special_pair(uint64_t number, uint64_t *x, uint64_t *y) {
    uint64_t random = inputs_scramble(number);
    if (number < (uint64_t)SPECIAL_COUNT * SPECIAL_COUNT) {
        *x = special(number / SPECIAL_COUNT);
        *y = special(number % SPECIAL_COUNT);
        return;
    }
    *x = of_exponent(random & 0xfff, inputs_scramble(random));
    *y = of_exponent(random >> 12 & 0xfff, inputs_scramble(~random));
}

/* Powers that are exact, or lie exactly between two f64: (m 2^e)^(2^q) to the power of k / 2^q. */
static void make_exact_power(uint64_t random, uint64_t *x, uint64_t *y) {
    uint64_t k = 2 + (random & 63);
    uint64_t most = k < 54 ? 54 / k : 1; /* bits of m, so that m^k has 54 */
    uint64_t m = 1 | (random >> 8 & (((uint64_t)1 << (most + 1)) - 1));
    int e = (int)(random >> 36 & 31) - 16;
    uint64_t q = random >> 41 & 3;
    double base = pow(ldexp((double)m, e), (double)((uint64_t)1 << q));
    double sign = random >> 43 & 1 && q == 0 ? -1 : 1;
    *x = bits_of_double(sign * base);
    *y = bits_of_double(ldexp(random >> 44 & 1 ? -(double)k : (double)k, -(int)q));
}

/* x between 2^-128 and 2^128, often near 1, and y so that the result stays in range. */
static void make_moderate_power(uint64_t random, uint64_t *x, uint64_t *y) {
    uint64_t other = inputs_scramble(random);
    uint64_t exponent =
        random >> 60 & 1 ? 1023 - 128 + (random >> 52 & 255) : 1022 + (random >> 52 & 1);
    double base = double_of(of_exponent(exponent, random));
    double largest = fmin(1080 / (fabs(log2(base)) + 0x1p-300), 0x1p300);
    double power = ((double)(other >> 11) * 0x1p-52 - 1) * largest;
    *x = bits_of_double(base);
    *y = bits_of_double(random >> 61 & 3 ? power : (double)((int)(other % 65) - 32) / 2);
}

/* Sides whose hypotenuse is close to x and half a unit, or whose quotient is subnormal, or both
 * whole numbers of few bits, where everything may be exact. */
static void make_hard_pair(uint64_t random, uint64_t *x, uint64_t *y) {
    uint64_t kind = random & 3, other = inputs_scramble(random);
    double first = double_of(of_exponent(1023 + (random >> 2 & 1), other));
    if (kind == 0) {
        double unit = ldexp(1, ilogb(first) - 52);
        double side = sqrt((2 * (double)(random >> 32 & 63) + 1) * unit * first);
        *x = bits_of_double(first);
        *y = bits_of_double(side) + (random >> 40 & 3) - 1;
    } else if (kind == 1) {
        *x = bits_of_double(ldexp(first, (int)(random >> 32 & 63)));
        *y = inputs_scramble(other) >> (12 + (random >> 40 & 31));
    } else {
        uint64_t a = random >> 8 & 0x3ffffff, b = other & 0x3ffffff, bits = random >> 34 & 15;
        *x = bits_of_double((double)(kind == 2 ? a * a - b * b : a >> bits));
        *y = bits_of_double((double)(kind == 2 ? 2 * a * b : b >> bits));
    }
    *x ^= random >> 62 << 63;
    *y ^= random >> 63 << 63;
}

/* Two numbers within 2^60 of each other. */
static void make_near_pair(uint64_t random, uint64_t *x, uint64_t *y) {
    *x = of_exponent((random >> 63 << 11) + 1023, random);
    *y = of_exponent((random >> 62 & 1) << 11 | (963 + (random >> 52 & 0xff) % 120),
                     inputs_scramble(random));
}

static void make_pair(const math_function *function, uint64_t number, uint64_t *x, uint64_t *y) {
    uint64_t random = inputs_scramble(number);
    bool power = function->host2 == pow;
    switch (number & 3) {
    case 0:
        *x = random;
        *y = inputs_scramble(random);
        break;
    case 1: (power ? make_exact_power : make_hard_pair)(random, x, y); break;
    default: (power ? make_moderate_power : make_near_pair)(random, x, y); break;
    }
}

/* A quarter of all bits, the others from 2^-30 to 2^10, where most functions do most. */
static uint64_t make_random(uint64_t number) {
    uint64_t random = inputs_scramble(number);
    uint64_t exponent = (random >> 63 << 11) + 993 + (random >> 52 & 0x7ff) % 40;
    return number & 3 ? of_exponent(exponent, random) : random;
}

uint64_t inputs_f64_count(const math_function *function, input_extent extent) {
    switch (extent) {
    case INPUTS_SPECIAL:
        return function->operands == 1 ? SPECIAL_COUNT + EXPONENT_COUNT * MANTISSA_COUNT
                                       : (uint64_t)SPECIAL_COUNT * SPECIAL_COUNT + PAIR_COUNT;
    case INPUTS_RANDOM: return RANDOM_COUNT;
    default: return (uint64_t)1 << 28;
    }
}

void inputs_f64_make(const math_function *function, input_extent extent, uint64_t number,
                     uint64_t *x, uint64_t *y) {
    bool is_special = extent == INPUTS_SPECIAL;
    if (function->operands == 2) {
        (is_special ? make_special_pair(number, x, y) : make_pair(function, number, x, y));
        return;
    }
    *x = is_special ? make_special(number) : make_random(number);
    *y = 0;
}
