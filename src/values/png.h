/* Pictures of outputs, as PNG files.
 *
 * u8 is grey, 0 black and 255 white; so is f32 from 0 to 1, with what lies beyond cut off and NaN
 * black. u32 counts: the largest of the picture is black, any other goes by its remainder modulo
 * 64 around a wheel of colours. */
#ifndef VYRE_VALUES_PNG_H
#define VYRE_VALUES_PNG_H

#include <vyre/status.h>
#include <vyre/types.h>

#include "base/strbuf.h"

/* Whether there is a picture of elements of that type. */
bool values_png_takes(vyre_type type);

/* Appends the picture of `count` elements by rows of `width`; 0: as many rows as columns. `name` is
 * the output's, for errors. */
VYRE_MUST_USE vyre_status values_png_make(vyre_strbuf *out, const char *name, vyre_type type,
                                          const uint8_t *elements, uint64_t count, uint64_t width);

#endif
