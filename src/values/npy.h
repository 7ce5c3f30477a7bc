/* Arrays in NumPy's .npy files: a header that says what they are, then their elements.
 *
 * Read are versions 1.0 to 3.0, either byte order, any number of dimensions by rows; written is
 * version 1.0, little-endian. bf16 has no type of its own there: its bits are written as uint16,
 * and read as uint16 or as two bytes of no type. */
#ifndef VYRE_VALUES_NPY_H
#define VYRE_VALUES_NPY_H

#include <vyre/status.h>
#include <vyre/types.h>

#include "base/strbuf.h"
#include "values/shape.h"

/* Finds the elements in the bytes of a file, which must be of `type`, and brings them into
 * little-endian order in place. Errors name the file and the `argument`:
 * MALFORMED where it is no such file, INVALID_ARGUMENT where its array does not fit. */
VYRE_MUST_USE vyre_status values_npy_read(vyre_strbuf *bytes, const char *name,
                                          const char *argument, vyre_type type, size_t *out_offset,
                                          values_shape *out_shape);

/* Appends the header for an array of that shape, as NumPy writes it. */
void values_npy_header(vyre_strbuf *out, vyre_type type, const values_shape *shape);

#endif
