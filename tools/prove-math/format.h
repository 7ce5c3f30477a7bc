/* The types that functions are proven for. Values of f64 travel as their bits, all others as those
 * of an f32, which holds them. */
#ifndef PROVE_MATH_FORMAT_H
#define PROVE_MATH_FORMAT_H

#include <stddef.h>
#include <stdint.h>

typedef struct math_format {
    const char *name;
    const char *form;  /* of the functions in math.vyre: exp_f32, exp_half, exp_f64 */
    int bits;          /* of the significand */
    int least, most;   /* exponents of numbers 0.1...: subnormal ones have `least` */
    uint32_t operands; /* how many there are; 0 for 2^32 or more */
} math_format;

typedef enum math_format_kind {
    FORMAT_F32,
    FORMAT_F16,
    FORMAT_BF16,
    FORMAT_F64,
    FORMAT_COUNT
} math_format_kind;
extern const math_format math_formats[FORMAT_COUNT];

/* The nearest value of a format but f64, ties to even. */
float format_round(const math_format *format, double value);

/* Its number among those of the format: neighbours differ by 1, both zeros are 0. */
int64_t format_position(const math_format *format, uint64_t word);

/* A value of a format of 16 bits. */
float format_value(const math_format *format, uint16_t bits);

float float_of(uint32_t bits);
uint32_t bits_of(float value);
double double_of(uint64_t bits);
uint64_t bits_of_double(double value);

/* A word as a number. */
double format_number(const math_format *format, uint64_t bits);

#endif
