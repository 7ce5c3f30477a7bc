/* Shortest decimal digits by the method of Burger and Dybvig ("Printing Floating-Point Numbers
 * Quickly and Accurately", 1996), in exact arithmetic: digits of the value are made until what was
 * made lies so near that every other float is farther away. */
#include "base/number.h"

#include "base/big.h"

enum { MAX_DIGITS = 17, LARGEST_PLAIN = 16, SMALLEST_PLAIN = -4 };

/* value = rest / scale; every number above value - below / scale and under value + above / scale
 * reads back as it. */
typedef struct generator {
    vyre_big rest, scale, below, above;
    bool ends_included; /* ties go to an even mantissa, so its interval is closed */
} generator;

static void times_10(generator *g) {
    vyre_big_multiply_add(&g->rest, 10, 0);
    vyre_big_multiply_add(&g->below, 10, 0);
    vyre_big_multiply_add(&g->above, 10, 0);
}

/* Whether the interval reaches up to 1. */
static bool reaches_one(const generator *g) {
    vyre_big high = g->rest;
    vyre_big_add(&high, &g->above);
    int order = vyre_big_compare(&high, &g->scale);
    return order > 0 || (order == 0 && g->ends_included);
}

static bool reaches_zero(const generator *g) {
    int order = vyre_big_compare(&g->rest, &g->below);
    return order < 0 || (order == 0 && g->ends_included);
}

/* floor(log10(2^exponent)); exact for every exponent of an f64. */
static int log10_of_power_of_2(int exponent) {
    return exponent >= 0 ? (exponent * 78913) >> 18 : -(((-exponent * 78913) >> 18) + 1);
}

/* Writes the digits d1 d2 d3... of mantissa * 2^exponent = 0.d1d2d3... * 10^point. `uneven` says
 * that the next smaller float is half as far away as the next larger. */
static size_t make_digits(uint64_t mantissa, int exponent, bool uneven, char digits[MAX_DIGITS],
                          int *out_point) {
    generator g = {.ends_included = !(mantissa & 1)};
    unsigned extra = uneven ? 2 : 1;
    unsigned up = exponent > 0 ? (unsigned)exponent : 0;
    unsigned down = exponent < 0 ? (unsigned)-exponent : 0;
    vyre_big_set(&g.rest, mantissa);
    vyre_big_shift_left(&g.rest, up + extra);
    vyre_big_set(&g.scale, 1);
    vyre_big_shift_left(&g.scale, down + extra);
    vyre_big_set(&g.below, 1);
    vyre_big_shift_left(&g.below, up);
    vyre_big_set(&g.above, 1);
    vyre_big_shift_left(&g.above, up + extra - 1);

    int point = log10_of_power_of_2(exponent + 63 - __builtin_clzll(mantissa)) + 1;
    unsigned power = (unsigned)(point < 0 ? -point : point);
    vyre_big *scaled[3] = {&g.rest, &g.below, &g.above};
    if (point >= 0) {
        vyre_big_multiply_power_of_5(&g.scale, power);
        vyre_big_shift_left(&g.scale, power);
    } else {
        for (size_t i = 0; i < 3; i++) {
            vyre_big_multiply_power_of_5(scaled[i], power);
            vyre_big_shift_left(scaled[i], power);
        }
    }
    if (reaches_one(&g)) {
        point++;
    } else {
        times_10(&g);
    }

    size_t count = 0;
    for (;; times_10(&g)) {
        int digit = 0;
        while (vyre_big_compare(&g.rest, &g.scale) >= 0) {
            vyre_big_subtract(&g.rest, &g.scale);
            digit++;
        }
        bool low = reaches_zero(&g), high = reaches_one(&g);
        if (low || high) {
            if (low && high) {
                vyre_big twice = g.rest;
                vyre_big_shift_left(&twice, 1);
                int order = vyre_big_compare(&twice, &g.scale);
                high = order > 0 || (order == 0 && digit % 2 == 1);
            }
            digits[count++] = (char)('0' + digit + high);
            break;
        }
        digits[count++] = (char)('0' + digit);
    }
    *out_point = point;
    return count;
}

/* As 0.0015, 120.0, 1.5e-7 or 1e22. */
static void print_digits(vyre_strbuf *text, const char *digits, size_t count, int point) {
    if (point > LARGEST_PLAIN || point <= SMALLEST_PLAIN) {
        vyre_strbuf_putc(text, digits[0]);
        if (count > 1) {
            vyre_strbuf_putc(text, '.');
            vyre_strbuf_add(text, digits + 1, count - 1);
        }
        vyre_strbuf_puts(text, point > 0 ? "e" : "e-");
        vyre_strbuf_u64(text, (uint64_t)(point > 0 ? point - 1 : 1 - point));
        return;
    }
    size_t before = point > 0 ? (size_t)point : 0;
    if (before == 0) {
        vyre_strbuf_puts(text, "0.");
        vyre_strbuf_repeat(text, '0', (size_t)-point);
        vyre_strbuf_add(text, digits, count);
    } else if (before >= count) {
        vyre_strbuf_add(text, digits, count);
        vyre_strbuf_repeat(text, '0', before - count);
        vyre_strbuf_puts(text, ".0");
    } else {
        vyre_strbuf_add(text, digits, before);
        vyre_strbuf_putc(text, '.');
        vyre_strbuf_add(text, digits + before, count - before);
    }
}

void vyre_float_print(vyre_strbuf *text, vyre_float_format format, uint64_t bits) {
    uint64_t mantissa = bits & ((1ull << format.mantissa_bits) - 1);
    int field = (int)(bits >> format.mantissa_bits) & ((1 << format.exponent_bits) - 1);
    bool negative = bits >> (format.mantissa_bits + format.exponent_bits) & 1;
    bool finite = field != (1 << format.exponent_bits) - 1;
    if (!finite && mantissa) {
        vyre_strbuf_puts(text, "nan");
        return;
    }
    if (negative) {
        vyre_strbuf_putc(text, '-');
    }
    if (!finite) {
        vyre_strbuf_puts(text, "inf");
        return;
    }
    if (field == 0 && mantissa == 0) {
        vyre_strbuf_puts(text, "0.0");
        return;
    }
    bool uneven = mantissa == 0 && field > 1;
    if (field) {
        mantissa |= 1ull << format.mantissa_bits;
    }
    int bias = (1 << (format.exponent_bits - 1)) - 1;
    int exponent = (field ? field : 1) - bias - format.mantissa_bits;
    char digits[MAX_DIGITS];
    int point;
    size_t count = make_digits(mantissa, exponent, uneven, digits, &point);
    print_digits(text, digits, count, point);
}
