#include "inputs.h"

#include <math.h>
#include <string.h>

#include "hard.h"

/* Zeros, ones, halves, borders of ranges, of exactness and of reductions, infinities and NaNs; each
 * is taken with both signs. */
static const uint32_t specials[] = {
    0x00000000, 0x00000001, 0x00000002, 0x00000003, 0x00400000, 0x007fffff, 0x00800000, 0x00800001,
    0x33000000, 0x33800000, 0x3effffff, 0x3f000000, 0x3f000001, 0x3f3504f3, 0x3f7fffff, 0x3f800000,
    0x3f800001, 0x3fb504f3, 0x3fc00000, 0x3fc90fdb, 0x40000000, 0x40200000, 0x40400000, 0x40490fdb,
    0x407b851e, 0x407b851f, 0x40800000, 0x40a00000, 0x41100000, 0x41200000, 0x42b17217, 0x42b17218,
    0x42b20000, 0x42ce8ed0, 0x42d00000, 0x42fe0000, 0x42ffffff, 0x43000000, 0x43150000, 0x43160000,
    0x43170000, 0x4b000000, 0x4b000001, 0x4b7fffff, 0x4b800000, 0x4b800001, 0x4d7fffff, 0x4d800000,
    0x53800000, 0x5f000000, 0x7e800000, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fbfffff,
    0x7fc00000, 0x7fc00001, 0x7fffffff,
};

enum {
    SPECIAL_COUNT = 2 * sizeof(specials) / sizeof(specials[0]),
    EXPONENT_COUNT = 512, /* sign and exponent */
    MANTISSA_COUNT = 8,   /* of each of them */
    RANDOM_COUNT = 1000000
};

uint64_t inputs_scramble(uint64_t number) { /* splitmix64 */
    number = (number + 1) * 0x9e3779b97f4a7c15u;
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
    number = (number ^ number >> 27) * 0x94d049bb133111ebu;
    return number ^ number >> 31;
}

static uint32_t special(uint64_t number) {
    return specials[number / 2] | (uint32_t)(number & 1) << 31;
}

static uint32_t of_exponent(uint64_t sign_and_exponent, uint64_t mantissa) {
    return (uint32_t)sign_and_exponent << 23 | (uint32_t)(mantissa & 0x7fffff);
}

static uint32_t make_special(const math_function *function, uint64_t number) {
    static const uint32_t mantissas[MANTISSA_COUNT] = {0,        1,        0x3fffff,
                                                       0x400000, 0x400001, 0x7fffff};
    if (number < SPECIAL_COUNT) {
        return special(number);
    }
    number -= SPECIAL_COUNT;
    if (number < EXPONENT_COUNT * MANTISSA_COUNT) {
        uint64_t which = number % MANTISSA_COUNT;
        return of_exponent(number / MANTISSA_COUNT,
                           which < 6 ? mantissas[which] : inputs_scramble(number));
    }
    number -= EXPONENT_COUNT * MANTISSA_COUNT;
    const hard_inputs *hard = hard_cases;
    while (strcmp(hard->function, function->name)) {
        hard++;
    }
    return hard->x[number];
}

static void make_special_pair(uint64_t number, uint32_t *x, uint32_t *y) {
    uint64_t random = inputs_scramble(number);
    if (number < (uint64_t)SPECIAL_COUNT * SPECIAL_COUNT) {
        *x = special(number / SPECIAL_COUNT);
        *y = special(number % SPECIAL_COUNT);
        return;
    }
    number -= (uint64_t)SPECIAL_COUNT * SPECIAL_COUNT;
    *x = of_exponent(number / EXPONENT_COUNT, random);
    *y = of_exponent(number % EXPONENT_COUNT, random >> 32);
}

/* Powers that are exact, or lie exactly between two f32: (m 2^e)^(2^q) to the power of k / 2^q. */
static void make_exact_power(uint64_t random, uint32_t *x, uint32_t *y) {
    uint32_t k = 2 + (uint32_t)(random & 31);
    uint32_t most = k < 24 ? 25 / k : 1; /* bits of m, so that m^k has 25 */
    uint32_t m = 1 | ((uint32_t)(random >> 8) & ((1u << (most + 1)) - 1));
    int e = (int)(random >> 24 & 31) - 16;
    uint32_t q = (uint32_t)(random >> 32 & 3);
    double base = pow(ldexp(m, e), (double)(1u << q));
    double sign = random >> 40 & 1 && q == 0 ? -1 : 1;
    *x = bits_of((float)(sign * base));
    *y = bits_of((float)ldexp(random >> 41 & 1 ? -(double)k : k, -(int)q));
}

/* x between 2^-16 and 2^16, often near 1, and y so that the result stays in range. */
static void make_moderate_power(uint64_t random, uint32_t *x, uint32_t *y) {
    uint32_t low = (uint32_t)random, high = (uint32_t)(random >> 32);
    float base = random & 1 << 4 ? float_of(0x37800000 + low % 0x10000000)
                                 : float_of(0x3f000000 + low % 0x01800000);
    double largest = fmin(150 / (fabs(log2((double)base)) + 0x1p-60), 0x1p60);
    double power = (high * 0x1p-31 - 1) * largest;
    *x = bits_of(base);
    *y = bits_of(random & 1 << 5 ? (float)power : (float)((int)(high % 65) - 32) / 2);
}

/* Sides whose hypotenuse is close to x and half a unit, or whose quotient is subnormal, or both
 * whole numbers of few bits, where everything may be exact. */
static void make_hard_pair(uint64_t random, uint32_t *x, uint32_t *y) {
    uint32_t kind = (uint32_t)random & 3;
    float first = float_of(of_exponent(127 + (random >> 2 & 1), random >> 8));
    if (kind == 0) {
        double unit = ldexp(1, ilogbf(first) - 23);
        double side = sqrt((2 * (double)(random >> 32 & 63) + 1) * unit * (double)first);
        *x = bits_of(first);
        *y = bits_of((float)side) + (uint32_t)(random >> 40 & 3) - 1;
    } else if (kind == 1) {
        *x = bits_of(ldexpf(first, (int)(random >> 32 & 31)));
        *y = (uint32_t)(random >> 40) & 0x7fffff;
    } else {
        uint32_t a = (uint32_t)(random >> 8 & 0xfff), b = (uint32_t)(random >> 20 & 0xfff);
        uint32_t bits = (uint32_t)(random >> 32 & 15);
        *x = bits_of((float)(kind == 2 ? a * a - b * b : a >> bits));
        *y = bits_of((float)(kind == 2 ? 2 * a * b : b >> bits));
    }
    *x |= (uint32_t)(random >> 62 & 1) << 31;
    *y |= (uint32_t)(random >> 63) << 31;
}

/* Two numbers within 2^30 of each other. */
static void make_near_pair(uint64_t random, uint32_t *x, uint32_t *y) {
    uint32_t exponent = 97 + (uint32_t)(random >> 32) % 60;
    *x = of_exponent((random >> 63 << 8) + 127, random);
    *y = of_exponent((random >> 62 & 1) << 8 | exponent, random >> 24);
}

static void make_pair(const math_function *function, uint64_t number, uint32_t *x, uint32_t *y) {
    uint64_t random = inputs_scramble(number);
    bool power = function->host2 == pow;
    switch (number & 3) {
    case 0:
        *x = (uint32_t)random;
        *y = (uint32_t)(random >> 32);
        break;
    case 1: (power ? make_exact_power : make_hard_pair)(random, x, y); break;
    default: (power ? make_moderate_power : make_near_pair)(random, x, y); break;
    }
}

uint64_t inputs_count(const math_function *function, const math_format *format,
                      input_extent extent) {
    if (format->bits == 53) {
        return inputs_f64_count(function, extent);
    }
    if (format->operands && extent == INPUTS_FULL && function->operands == 1) {
        return format->operands;
    }
    switch (extent) {
    case INPUTS_SPECIAL:
        return function->operands == 1
                   ? SPECIAL_COUNT + EXPONENT_COUNT * MANTISSA_COUNT + HARD_COUNT
                   : (uint64_t)SPECIAL_COUNT * SPECIAL_COUNT +
                         (uint64_t)EXPONENT_COUNT * EXPONENT_COUNT;
    case INPUTS_RANDOM: return RANDOM_COUNT;
    default: return (uint64_t)1 << 32;
    }
}

/* Of a format of 16 bits: the halves of the number, or of a random one. */
static void make_narrow(const math_format *format, input_extent extent, uint64_t number,
                        uint32_t *x, uint32_t *y) {
    uint64_t bits = extent == INPUTS_FULL ? number : inputs_scramble(number);
    *x = bits_of(format_value(format, (uint16_t)bits));
    *y = bits_of(format_value(format, (uint16_t)(bits >> 16)));
}

static void make_one(const math_function *function, input_extent extent, uint64_t number,
                     uint32_t *x) {
    switch (extent) {
    case INPUTS_SPECIAL: *x = make_special(function, number); break;
    case INPUTS_RANDOM: *x = (uint32_t)inputs_scramble(number); break;
    default: *x = (uint32_t)number; break;
    }
}

void inputs_make(const math_function *function, const math_format *format, input_extent extent,
                 uint64_t first, size_t count, uint64_t *x, uint64_t *y) {
    for (size_t i = 0; i < count; i++) {
        uint64_t number = first + i;
        uint32_t a = 0, b = 0;
        if (format->bits == 53) {
            inputs_f64_make(function, extent, number, &x[i], &y[i]);
            continue;
        }
        if (format->operands) {
            make_narrow(format, extent, number, &a, &b);
        } else if (function->operands == 1) {
            make_one(function, extent, number, &a);
        } else if (extent == INPUTS_SPECIAL) {
            make_special_pair(number, &a, &b);
        } else {
            make_pair(function, number, &a, &b);
        }
        x[i] = a;
        y[i] = b;
    }
}
