/* Images, as PNG files.
 *
 * Read are grey, grey with opacity, RGB, RGBA and palettes, of all depths, interlaced or not.
 * Samples of 16 bits are u16, all others u8: fewer bits are spread over 0 to 255, and a palette's
 * colours are RGB, or RGBA if it has opacities.
 *
 * Written are u8 and u16 as they are, with 1 to 4 samples a pixel. f32 is written as u8, from 0 to
 * 1, with what lies beyond cut off and NaN 0. u32 counts: the largest of the image is black, any
 * other goes by its remainder modulo 64 around a wheel of colours. */
#ifndef VYRE_VALUES_PNG_H
#define VYRE_VALUES_PNG_H

#include <vyre/status.h>
#include <vyre/types.h>

#include "base/strbuf.h"
#include "values/shape.h"

/* Replaces the bytes of a file by its pixels, row by row, for an argument of elements of `type`.
 * Errors name the file and the argument: MALFORMED where the file is damaged, INVALID_ARGUMENT
 * where its samples are of another type. */
VYRE_MUST_USE vyre_status values_png_read(vyre_strbuf *bytes, const char *name,
                                          const char *argument, vyre_type type,
                                          values_shape *out_shape);

/* Whether there are images of elements of that type. */
bool values_png_takes(vyre_type type);

/* How elements form an image. */
typedef struct values_png_layout {
    uint64_t width, height;
    uint32_t channels; /* samples of a pixel */
} values_png_layout;

/* The layout of `count` elements. What is 0 in `wanted` follows from the shape, which may be NULL,
 * else there is one channel and the image is a square. `name` is the output's, for errors. */
VYRE_MUST_USE vyre_status values_png_lay_out(const char *name, vyre_type type, uint64_t count,
                                             const values_shape *shape, values_png_layout wanted,
                                             values_png_layout *out);

/* Appends the image of the elements. `name` is the output's, for errors. */
VYRE_MUST_USE vyre_status values_png_make(vyre_strbuf *out, const char *name, vyre_type type,
                                          const uint8_t *elements, values_png_layout layout);

#endif
