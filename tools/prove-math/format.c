#include "format.h"

#include <math.h>
#include <string.h>

const math_format math_formats[FORMAT_COUNT] = {
    [FORMAT_F32] = {"f32", "f32", 24, -148, 128, 0},
    [FORMAT_F16] = {"f16", "half", 11, -23, 16, 0x10000},
    [FORMAT_BF16] = {"bf16", "half", 8, -132, 128, 0x10000},
    [FORMAT_F64] = {"f64", "f64", 53, -1073, 1024, 0},
};

float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

uint64_t bits_of_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

double format_number(const math_format *format, uint64_t bits) {
    return format->bits == 53 ? double_of(bits) : (double)float_of((uint32_t)bits);
}

/* Adding 1.5 * 2^52 units and taking them away leaves whole units. */
float format_round(const math_format *format, double value) {
    if (format->bits == 24 || !isfinite(value)) {
        return (float)value;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    int unit = (int)(bits >> 52 & 0x7ff) - 1023 - format->bits + 1;
    unit = unit < format->least - 1 ? format->least - 1 : unit;
    bits = (uint64_t)(1023 + 52 + unit) << 52 | (uint64_t)1 << 51;
    double shift;
    memcpy(&shift, &bits, sizeof(shift));
    double rounded = (fabs(value) + shift) - shift;
    rounded = rounded < ldexp(1, format->most) ? rounded : (double)INFINITY;
    return (float)copysign(rounded, value);
}

int64_t format_position(const math_format *format, uint64_t word) {
    if (format->bits == 53) {
        int64_t steps = (int64_t)(word & INT64_MAX);
        return word >> 63 ? -steps : steps;
    }
    uint32_t bits = (uint32_t)word, magnitude = bits & 0x7fffffff,
             shift = (uint32_t)(24 - format->bits);
    int first_normal = format->least + format->bits - 2;
    int64_t position =
        (int64_t)(magnitude >> shift) - ((int64_t)(first_normal + 126) << (format->bits - 1));
    if (float_of(magnitude) < ldexpf(1, first_normal)) {
        position = (int64_t)ldexpf(float_of(magnitude), 1 - format->least);
    }
    return bits >> 31 ? -position : position;
}

float format_value(const math_format *format, uint16_t bits) {
    int mantissa = format->bits - 1;
    uint32_t exponent = (bits & 0x7fffu) >> mantissa, digits = bits & ((1u << mantissa) - 1);
    if (exponent == 0x7fffu >> mantissa) {
        return float_of((uint32_t)(bits & 0x8000) << 16 | 0x7f800000 | digits);
    }
    float whole = (float)(exponent ? digits | 1u << mantissa : digits);
    int unit = format->least - 1 + (exponent ? (int)exponent - 1 : 0);
    return copysignf(ldexpf(whole, unit), bits & 0x8000 ? -1.0f : 1.0f);
}
