/* Plain numbers: numbers without a type, which take the one their place asks for. Integers are
 * exact within 64 bits and a sign, others are f64; a literal remembers its text, so that it is
 * rounded once, to the type it ends up with. */
#ifndef VYRE_TEXT_PLAIN_H
#define VYRE_TEXT_PLAIN_H

#include "text/lexer.h"

/* `number` is an integer's magnitude; the magnitude of an f64 as bits; or, of a literal that is
 * still to be read, where it stands in the source (lower half) and how long it is (upper half). */
typedef struct vyre_plain {
    bool real;
    bool negative; /* not of a zero integer */
    bool wraps;    /* integers: made by ~, so that a negative one fits an unsigned type */
    bool literal;  /* reals: still to be read */
    uint64_t number;
} vyre_plain;

typedef enum vyre_plain_error {
    VYRE_PLAIN_OK,
    VYRE_PLAIN_TOO_LARGE,
    VYRE_PLAIN_ZERO_DIVISOR,
    VYRE_PLAIN_NOT_INTEGER, /* the operator takes integers only */
    VYRE_PLAIN_SHIFT        /* count is negative or absurd */
} vyre_plain_error;

/* The number of a literal, whatever its suffix. The functions below that take the source may have
 * to read it there. */
vyre_plain_error vyre_plain_read(const char *source, uint32_t offset, const vyre_literal *literal,
                                 bool negative, vyre_plain *out_plain);

/* The exact number of a type's bits; the type is no bool. */
vyre_plain vyre_plain_from(vyre_type type, uint64_t bits);

/* Operators by their token. A comparison gives 0 or 1. */
vyre_plain_error vyre_plain_unary(vyre_token_kind operation, const vyre_plain *operand,
                                  vyre_plain *out_plain);
vyre_plain_error vyre_plain_binary(const char *source, vyre_token_kind operation,
                                   const vyre_plain *left, const vyre_plain *right,
                                   vyre_plain *out_plain);

bool vyre_plain_is_zero(const char *source, const vyre_plain *plain);

/* The bits of the number in a type; false if it does not fit. */
bool vyre_plain_fit(const char *source, const vyre_plain *plain, vyre_type type,
                    uint64_t *out_bits);

/* As messages show it, cut where it is long. */
enum { VYRE_PLAIN_SHOWN = 48 };
void vyre_plain_show(const char *source, const vyre_plain *plain, char out[VYRE_PLAIN_SHOWN]);

#endif
