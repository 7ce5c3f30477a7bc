/* Numbers as text, the same whatever locale the process has set.
 *
 * Floats are bit patterns of a format, so that every type of the language is read with one correct
 * rounding (to nearest, ties to even) and printed with the fewest digits that read back as the same
 * bits. */
#ifndef VYRE_BASE_NUMBER_H
#define VYRE_BASE_NUMBER_H

#include "base/strbuf.h"

/* An IEEE 754 binary format of at most 64 bits: sign, exponent, mantissa. */
typedef struct vyre_float_format {
    uint8_t mantissa_bits, exponent_bits;
} vyre_float_format;

#define VYRE_FLOAT_F16 ((vyre_float_format){10, 5})
#define VYRE_FLOAT_BF16 ((vyre_float_format){7, 8})
#define VYRE_FLOAT_F32 ((vyre_float_format){23, 8})
#define VYRE_FLOAT_F64 ((vyre_float_format){52, 11})

/* Reads all of `data`: [+-] followed by
 *     digits [. [digits]] [e [+-] digits]            1.5e-3  12  1_000.0
 *     0x hexdigits [. [hexdigits]] p [+-] digits     0x1.8p3
 *     inf  nan
 * Digits may have single '_' between them. False if it is none of these. A number beyond the
 * largest finite one sets `*overflow` and gives infinity; `nan` gives the canonical one. */
bool vyre_float_parse(const char *data, size_t size, vyre_float_format format, uint64_t *bits,
                      bool *overflow);

/* Appends the shortest text that vyre_float_parse reads as the same bits, with a '.' or an 'e' in
 * it where it is finite, as 1.0 and 1e-7. Every NaN is `nan`: its sign and payload are lost. */
void vyre_float_print(vyre_strbuf *text, vyre_float_format format, uint64_t bits);

/* The value in another format, correctly rounded; a NaN becomes the canonical one. */
uint64_t vyre_float_convert(vyre_float_format from, vyre_float_format to, uint64_t bits);

/* Reads all of `data` as digits of base 2, 8, 10 or 16, with single '_' between them. False if it
 * is anything else. A number that needs more than 64 bits sets `*overflow`. */
bool vyre_u64_parse(const char *data, size_t size, unsigned base, uint64_t *value, bool *overflow);

/* The digit's value; 16 or more for a character that is none. */
unsigned vyre_digit_value(char c);

#endif
