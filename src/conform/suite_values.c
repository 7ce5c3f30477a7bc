#include <string.h>

#include "base/random.h"
#include "conform/suite.h"
#include "values/element.h"

static bool is_float(vyre_type type) {
    return vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
}

static uint64_t mask_of(vyre_type type) {
    return type == VYRE_TYPE_BOOL ? 1 : ~(uint64_t)0 >> (64 - vyre_type_bytes(type) * 8);
}

/* 2^exponent, subnormal where it must be. */
static uint64_t power(vyre_float_format f, int exponent) {
    int bias = (1 << (f.exponent_bits - 1)) - 1;
    int field = exponent + bias;
    if (field >= 1) {
        return (uint64_t)(field > 2 * bias ? 2 * bias : field) << f.mantissa_bits;
    }
    int shift = f.mantissa_bits - 1 + field;
    return shift < 0 ? 1 : (uint64_t)1 << shift;
}

static size_t special_floats(vyre_type type, uint64_t *out) {
    vyre_float_format f = values_float_format(type);
    int bias = (1 << (f.exponent_bits - 1)) - 1, digits = f.mantissa_bits;
    uint64_t normal = (uint64_t)1 << digits, infinity = (uint64_t)(2 * bias + 1) << digits;
    uint64_t quiet = normal / 2, one = power(f, 0), two = power(f, 1);
    const uint64_t list[] = {
        0, /* zero, subnormal numbers, the smallest normal ones */
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
        normal * (uint64_t)digits,
        power(f, -bias / 2), /* products of these are at the ends of the range */
        power(f, -bias / 2 - digits / 2) + 1,
        power(f, bias / 2) + normal - 1,
        power(f, bias / 2 + 1),
        one - normal - 1, /* a half, one, two, and what is to be rounded */
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
        power(f, 3) + normal / 4,
        power(f, digits) - normal - 1, /* where halves end, and where everything is whole */
        power(f, digits) - normal,
        power(f, digits) - 1,
        power(f, digits),
        power(f, digits) + 1,
        power(f, 7), /* the limits of integers, and what is below them */
        power(f, 7) - 1,
        power(f, 8),
        power(f, 8) - 1,
        power(f, 15),
        power(f, 15) - 1,
        power(f, 16) - 1,
        power(f, 31),
        power(f, 31) - 1,
        power(f, 32),
        power(f, 32) - 1,
        power(f, 63),
        power(f, 63) - 1,
        power(f, 64),
        power(f, 64) - 1,
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
    uint64_t sign = (uint64_t)1 << (digits + f.exponent_bits);
    for (size_t i = 0; i < count; i++) {
        out[i] = list[i];
        out[count + i] = list[i] | sign;
    }
    return 2 * count;
}

static size_t special_integers(vyre_type type, uint64_t *out) {
    uint32_t width = vyre_type_bytes(type) * 8;
    size_t count = 0;
    if (width == 8) {
        for (; count < 256; count++) {
            out[count] = count;
        }
        return count;
    }
    for (uint32_t bit = 0; bit < width; bit += bit < 8 || bit > width - 10 ? 1 : 3) {
        out[count++] = (uint64_t)1 << bit;
        out[count++] = ((uint64_t)1 << bit) - 1;
        out[count++] = 0 - ((uint64_t)1 << bit);
    }
    static const uint64_t others[] = {
        3,
        5,
        7,
        10,
        100,
        0x1000001, /* halfway between two f32, then to be rounded */
        0x1000003,
        0x40400001, /* nearly halfway between two bf16, by way of f32 exactly */
        0x20000000000001,
        0x20000000000003,
        0x4000004000000001, /* the same between two f32, by way of f64 */
        0x4040000000000001, /* and between two bf16 */
        0x5555555555555555,
        0xaaaaaaaaaaaaaaaa,
        0x0123456789abcdef,
        0xfedcba9876543210};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        out[count++] = others[i];
    }
    return count;
}

size_t conform_special_values(vyre_type type, uint64_t *out_values) {
    size_t count = 2;
    out_values[0] = 0;
    out_values[1] = 1;
    if (type != VYRE_TYPE_BOOL) {
        count =
            is_float(type) ? special_floats(type, out_values) : special_integers(type, out_values);
    }
    for (size_t i = 0; i < count; i++) {
        out_values[i] &= mask_of(type);
    }
    return count;
}

uint64_t conform_random_value(vyre_type type, uint64_t *random) {
    uint64_t any = vyre_random(random), form = any & 3;
    any = vyre_random(random);
    if (form == 0 || type == VYRE_TYPE_BOOL) {
        return any & mask_of(type);
    }
    if (!is_float(type)) {
        /* Of any length, of either sign. */
        uint64_t small =
            (any & mask_of(type)) >> (any >> 32) % ((uint64_t)vyre_type_bytes(type) * 8);
        return (any >> 60 & 1 ? 0 - small : small) & mask_of(type);
    }
    /* Around one; whole numbers and halves. */
    vyre_float_format f = values_float_format(type);
    uint64_t sign = any & 1 ? (uint64_t)1 << (f.mantissa_bits + f.exponent_bits) : 0;
    uint64_t fraction = any >> 8 & (((uint64_t)1 << f.mantissa_bits) - 1);
    if (form == 1) {
        fraction &= ~(((uint64_t)1 << (f.mantissa_bits - 3)) - 1);
    }
    return sign | (power(f, (int)(any >> 1 & 15) - 8) + fraction);
}

size_t conform_plain_constants(vyre_type type, uint64_t *out_values) {
    static const double floats[CONFORM_PLAIN_CONSTANTS] = {0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0};
    const uint64_t integers[CONFORM_PLAIN_CONSTANTS] = {
        0, 1, ~(uint64_t)0, 2, 7, 8, (uint64_t)1 << (vyre_type_bytes(type) * 8 - 1), 100};
    size_t count = type == VYRE_TYPE_BOOL ? 2 : CONFORM_PLAIN_CONSTANTS;
    for (size_t i = 0; i < count; i++) {
        out_values[i] = integers[i] & mask_of(type);
        if (is_float(type)) {
            uint64_t bits;
            memcpy(&bits, &floats[i], sizeof bits);
            out_values[i] = vyre_float_convert(VYRE_FLOAT_F64, values_float_format(type), bits);
        }
    }
    if (is_float(type)) {
        vyre_float_format f = values_float_format(type);
        out_values[CONFORM_PLAIN_CONSTANTS - 1] = (((uint64_t)1 << f.exponent_bits) - 1)
                                                  << f.mantissa_bits; /* infinity */
    }
    return count;
}
