/* Numbers at which rules differ: bounds, powers of two, zeros, subnormals, infinities, NaNs,
 * numbers halfway between two of a narrower type, and a little beside. */
#include <string.h>

#include "conform/generate.h"
#include "values/element.h"

/* Bits below `kept` of a number: halfway, a little more or less, or as they are. */
static uint64_t near_tie(generator *g, uint64_t bits, uint32_t kept) {
    uint64_t mask = ((uint64_t)1 << kept) - 1, half = kept ? (uint64_t)1 << (kept - 1) : 0;
    switch (generate_below(g, 4)) {
    case 0: return (bits & ~mask) | half;
    case 1: return (bits & ~mask) | ((half + 1) & mask);
    case 2: return (bits & ~mask) | (half ? half - 1 : 0);
    default: return bits;
    }
}

static uint64_t special_float(generator *g, vyre_type type) {
    vyre_float_format form = values_float_format(type);
    uint32_t mantissa = form.mantissa_bits, exponent = form.exponent_bits;
    uint64_t bits = vyre_random(&g->random), one = (uint64_t)1 << mantissa;
    uint64_t fraction = bits & (one - 1), sign = (bits >> 63) << (mantissa + exponent);
    uint64_t largest = (((uint64_t)1 << exponent) - 1) * one, bias = (largest / one) / 2;
    static const uint32_t narrower[] = {7, 10, 23};
    switch (generate_below(g, 12)) {
    case 0: return sign;                                            /* zero */
    case 1: return sign | (bits & 1 ? 1 + fraction % 9 : fraction); /* subnormal */
    case 2: return sign | largest | (bits & 1 ? fraction : 0);      /* infinity, NaN */
    case 3: return sign | (largest - 1 - fraction % 2);             /* the largest */
    case 4: { /* halfway for a narrower type */
        uint32_t kept = narrower[generate_below(g, 3)];
        uint64_t tied = near_tie(g, fraction, kept < mantissa ? mantissa - kept : 1);
        return sign | (bias - 3 + bits % 7) * one | (tied & (one - 1));
    }
    case 5:
        return sign | (bias + generate_below(g, 12)) * one |
               (fraction & ~((one >> 4) - 1)); /* few bits: halves */
    case 6: {                                  /* at the bounds of integers */
        static const uint32_t bounds[] = {7, 8, 15, 16, 31, 32, 63, 64};
        uint64_t power = (bias + bounds[generate_below(g, 8)]) * one;
        uint64_t near = power - 1 + generate_below(g, 3);
        return sign | (power < largest ? near : largest);
    }
    case 7: return bits & (sign | (largest | (one - 1))); /* anything */
    default: return sign | (bias - 2 + bits % 5) * one | fraction;
    }
}

/* A little more than halfway between two floats of 8 or 24 bits, the lower one of them even: who
 * rounds to a wider float first is exactly halfway, and goes down. */
static uint64_t twice_rounded(uint32_t width, uint64_t bits) {
    uint32_t kept = bits & 1 ? 8 : 24, size = width - 1 - (uint32_t)(bits >> 1 & 3);
    uint64_t top = (uint64_t)1 << (kept - 1), even = top | (bits >> 3 & (top - 2));
    return even << (size - kept) | (uint64_t)1 << (size - kept - 1) | 1;
}

static uint64_t special_integer(generator *g, vyre_type type) {
    uint32_t width = vyre_type_bytes(type) * 8;
    uint64_t bits = vyre_random(&g->random), top = (uint64_t)1 << (width - 1);
    switch (generate_below(g, 8)) {
    case 0: return bits & 1 ? 0 : top;
    case 1: return top - 1 - (bits & 1);
    case 2: return ~(bits & 3);
    case 3: return (uint64_t)1 << bits % width;
    case 4: return bits & 31;
    case 5: { /* halfway for a float of 8, 11 or 24 bits */
        static const uint32_t kept[] = {8, 11, 24};
        uint32_t size = 1 + generate_below(g, width), left = kept[generate_below(g, 3)];
        uint64_t cut = bits >> (64 - size) | (uint64_t)1 << (size - 1);
        return near_tie(g, cut, size > left ? size - left : 1);
    }
    case 6: return width < 32 || bits >> 7 & 1 ? 0 - (bits & 127) : twice_rounded(width, bits >> 8);
    default: return bits;
    }
}

void generate_special(generator *g, vyre_type type, const uint8_t *before, uint8_t *out) {
    uint32_t bytes = vyre_type_bytes(type);
    uint64_t bits = vyre_type_class_of(type) == VYRE_CLASS_FLOAT ? special_float(g, type)
                                                                 : special_integer(g, type);
    bits = type == VYRE_TYPE_BOOL ? bits & 1 : bits;
    if (before && generate_one_in(g, 6)) { /* the same, its opposite, or the next one */
        uint32_t how = generate_below(g, 3);
        memcpy(out, before, bytes);
        out[bytes - 1] = (uint8_t)(out[bytes - 1] ^ (how == 1 ? 0x80 : 0));
        out[0] = (uint8_t)(out[0] + (how == 2));
        return;
    }
    conform_element_put(out, 0, type, bits);
}
