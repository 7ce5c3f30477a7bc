/* Elements: numbers of a type, as text, as JSON and as bytes; and the numbers of options. */
#ifndef VYRE_VALUES_ELEMENT_H
#define VYRE_VALUES_ELEMENT_H

#include <vyre/program.h>
#include <vyre/status.h>
#include <vyre/types.h>

#include "base/json.h"
#include "base/number.h"

/* One number of a type as text: 12, -0x1f, 1.5e-3, nan, -inf, true. In hexadecimal it is the
 * number, also of a float: 0x10 is 16. The result is its bits. Errors name the `argument`. */
VYRE_MUST_USE vyre_status values_element_parse(const char *argument, vyre_type type, vyre_str text,
                                               uint64_t *out_bits);

/* The shortest text that reads back as the same number; every NaN is `nan`. */
void values_element_print(vyre_strbuf *text, vyre_type type, const uint8_t *element);

/* The same as JSON: what is no number there is a string. */
void values_element_json(vyre_json *json, vyre_type type, const uint8_t *element);

/* The bits of an element: little-endian bytes as a number, and back. */
uint64_t values_element_load(vyre_type type, const uint8_t *element);
void values_element_store(vyre_strbuf *bytes, vyre_type type, uint64_t bits);

/* The type that values of an argument are read and shown as. That of a buffer of records is the
 * type of its fields, if they are alike and the program uses all of them; else it is u8. */
vyre_type values_argument_type(const vyre_ir *ir, uint32_t arg);

/* The format of a float type. */
vyre_float_format values_float_format(vyre_type type);
/* A double in the format of a float type, rounded to nearest; and back. */
uint64_t values_float_from(vyre_type type, double number);
double values_float_to(vyre_type type, uint64_t bits);

/* The value of an option, whose name is for errors: a whole number, or a time in seconds. */
VYRE_MUST_USE vyre_status values_number_parse(const char *name, const char *text, uint64_t *out);
VYRE_MUST_USE vyre_status values_seconds_parse(const char *name, const char *text,
                                               uint64_t *out_ns);

#endif
