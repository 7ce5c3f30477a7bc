/* The types that functions are proven for. Their values travel as f32, which holds all of them. */
#ifndef PROVE_MATH_FORMAT_H
#define PROVE_MATH_FORMAT_H

#include <stddef.h>
#include <stdint.h>

typedef struct math_format {
    const char *name;
    const char *form;  /* of the functions in math.vyre: exp_f32, exp_half */
    int bits;          /* of the significand */
    int least, most;   /* exponents of numbers 0.1...: subnormal ones have `least` */
    uint32_t operands; /* how many there are; 0 for 2^32 */
} math_format;

typedef enum math_format_kind {
    FORMAT_F32,
    FORMAT_F16,
    FORMAT_BF16,
    FORMAT_COUNT
} math_format_kind;
extern const math_format math_formats[FORMAT_COUNT];

/* The nearest value of the format, ties to even. */
float format_round(const math_format *format, double value);

/* Its number among those of the format: neighbours differ by 1, both zeros are 0. */
int64_t format_position(const math_format *format, uint32_t bits);

/* A value of a format of 16 bits. */
float format_value(const math_format *format, uint16_t bits);

float float_of(uint32_t bits);
uint32_t bits_of(float value);

#endif
