/* Floats to and from their bits, where every NaN becomes the canonical one; f16 and bf16 by way of
 * f32. */
#ifndef VYRE_IR_EVAL_HALF_H
#define VYRE_IR_EVAL_HALF_H

#include <stdint.h>
#include <string.h>

static inline float eval_f32(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t eval_f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint32_t f32_from_f32(float value) {
    return value != value ? 0x7fc00000u : eval_f32_bits(value);
}

static inline double f64_to_f64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t f64_from_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? 0x7ff8000000000000u : bits;
}

static inline float bf16_to_f32(uint16_t bits) {
    return eval_f32((uint32_t)bits << 16);
}

/* Ties to even: half of the lowest kept bit is added, less one if that bit is even. */
static inline uint16_t bf16_from_f32(float value) {
    uint32_t bits = eval_f32_bits(value);
    return value != value ? 0x7fc0u : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* An f16's exponent and mantissa moved into place are the number scaled by 2^-112; multiplying
 * restores it, subnormals included. Infinity and NaN have their exponent set by hand. */
static inline float f16_to_f32(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, rest = bits & 0x7fffu;
    uint32_t scaled = eval_f32_bits(eval_f32(rest << 13) * 0x1p112f);
    uint32_t special = 0x7f800000u | rest << 13;
    return eval_f32(sign | (rest >= 0x7c00u ? special : scaled));
}

/* Normal results round like bf16, subnormal ones by adding a number whose last bit is worth 2^-24.
 */
static inline uint16_t f16_from_f32(float value) {
    uint32_t bits = eval_f32_bits(value), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    uint32_t normal = (rest + 0xfff + (rest >> 13 & 1)) >> 13;
    uint32_t subnormal = eval_f32_bits(eval_f32(rest) + 0.5f) - 0x3f000000u;
    uint32_t result = rest < 0x38800000u ? subnormal : normal - (112u << 10);
    result = rest >= 0x477ff000u ? 0x7c00u : result;
    return value != value ? 0x7e00u : (uint16_t)(sign | result);
}

#endif
