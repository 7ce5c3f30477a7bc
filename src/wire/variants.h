/* Variants of a program in its binary form: the section behind all others, a row for each.
 *
 *     kind | bytes of the backend's id | bytes of the program | id, program, zeros behind each */
#ifndef VYRE_WIRE_VARIANTS_H
#define VYRE_WIRE_VARIANTS_H

#include "base/strbuf.h"
#include "ir/program.h"

enum {
    WIRE_VARIANTS = 32,      /* number of the section, with items of one byte */
    WIRE_VARIANTS_MINOR = 2, /* the version that has it */

    WIRE_VARIANT_KIND = 0,     /* 4: vyre_device_kind */
    WIRE_VARIANT_ID_BYTES = 4, /* 4: 0 for any backend */
    WIRE_VARIANT_BYTES = 8,    /* 8: of the binary form that follows, which has no variants */
    WIRE_VARIANT_HEAD = 16
};

/* The section of a program, empty if it has no variants. */
VYRE_MUST_USE vyre_status wire_variants_encode(const vyre_program *program, vyre_strbuf *out);

/* A program, which has no variants of its own if it is one. */
VYRE_MUST_USE vyre_status wire_decode_one(const uint8_t *bytes, size_t size, bool is_variant,
                                          vyre_program **out_program);

/* Gives a decoded program the variants of a section that starts at a byte of the input. */
VYRE_MUST_USE vyre_status wire_variants_decode(const uint8_t *bytes, size_t at, size_t size,
                                               vyre_program *program);

#endif
