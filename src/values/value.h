/* Values on the command line: NAME=VALUE for the arguments of a program, and elements as text.
 *
 * A scalar is a number, a bool is true or false. A buffer is one of
 *     1,2,3                    its elements; 0*97 is 97 of them
 *     zeros:N                  N zeros
 *     iota:N[:STEP]            0, 1, 2 and so on, times STEP; integers wrap around
 *     cycle:N:1,2,3[:STEP]     N elements that repeat these, each time with STEP added to them
 *     rand:N[:SEED[:BOUND]]    random ones
 *     words:A,B,C              the automaton that looks for these words; values/words.h
 *     @FILE                    the elements in a file: .npy, or bytes without a header; @- is stdin
 *
 * Random elements come from splitmix64 with SEED as its first state, one draw an element, and are
 * the same on every machine. An integer is the low bits of its draw, or the draw modulo BOUND. A
 * float is the high bits of it as a fraction in [0, 1), as many as the format has: 24 for f32.
 * There are no buffers of bool. */
#ifndef VYRE_VALUES_VALUE_H
#define VYRE_VALUES_VALUE_H

#include <vyre/status.h>
#include <vyre/types.h>

#include "base/json.h"
#include "base/number.h"
#include "base/strbuf.h"

/* One number of a type as text: 12, -0x1f, 1.5e-3, nan, -inf, true. The result is its bits. */
VYRE_MUST_USE vyre_status cli_value_parse(const char *argument, vyre_type type, vyre_str text,
                                          uint64_t *out_bits);

/* The shortest text that reads back as the same number; every NaN is `nan`. */
void cli_value_print(vyre_strbuf *text, vyre_type type, const uint8_t *element);

/* The same as JSON: what is no number there is a string. */
void cli_value_json(vyre_json *json, vyre_type type, const uint8_t *element);

/* The format of a float type. */
vyre_float_format cli_float_format(vyre_type type);
/* A double in the format of a float type, rounded to nearest; and back. */
uint64_t cli_float_from(vyre_type type, double number);
double cli_float_to(vyre_type type, uint64_t bits);

/* The bits of an element: little-endian bytes as a number, and back. */
uint64_t cli_value_load(vyre_type type, const uint8_t *element);
void cli_value_store(vyre_strbuf *bytes, vyre_type type, uint64_t bits);

/* Where a buffer's elements come from. */
typedef struct cli_buffer_source {
    const char *argument; /* its name */
    vyre_type type;
    uint64_t seed;    /* of rand:N without one */
    bool *stdin_used; /* set once stdin is read */
} cli_buffer_source;

/* Reads a buffer's VALUE. The elements are the bytes from `*out_offset` on. */
VYRE_MUST_USE vyre_status cli_buffer_parse(const cli_buffer_source *source, const char *value,
                                           vyre_strbuf *out_bytes, size_t *out_offset);

/* Values of options; `name` is the option's. */
VYRE_MUST_USE vyre_status cli_number_parse(const char *name, const char *text, uint64_t *out);
VYRE_MUST_USE vyre_status cli_seconds_parse(const char *name, const char *text, uint64_t *out_ns);

#endif
