/* Buffers as the command line writes them: NAME=VALUE, where VALUE is one of
 *
 *     1, 2, 3 or [1, 2, 3]     its elements; 0*97 is 97 of them
 *     zeros:N, ones:N          N zeros, N ones
 *     full:V:N                 N times V
 *     iota:N[:STEP]            0, 1, 2 and so on, times STEP; integers wrap around
 *     cycle:N:1,2,3[:STEP]     N elements that repeat these, each time with STEP added to them
 *     rand:N[:SEED[:BOUND]]    random ones
 *     words:A,B,C              the automaton that looks for these words; values/words.h
 *     @FILE                    the elements in a file; values/path.h says how it is named
 *
 * Random elements come from splitmix64 with SEED as its first state, one draw an element, and are
 * the same on every machine. An integer is the low bits of its draw, or the draw modulo BOUND. A
 * float is the high bits of it as a fraction in [0, 1), as many as the format has: 24 for f32.
 * There are no buffers of bool. The elements of a buffer of records are their bytes; where N counts
 * elements, it counts records. */
#ifndef VYRE_VALUES_BUFFER_H
#define VYRE_VALUES_BUFFER_H

#include <vyre/status.h>
#include <vyre/types.h>

#include "base/strbuf.h"
#include "values/shape.h"

/* What a buffer is for. */
typedef struct values_buffer_source {
    const char *argument; /* its name */
    vyre_type type;
    uint32_t scale;      /* of that type in an element: bytes of a record, else 1 */
    uint64_t seed;       /* of rand:N without one */
    bool *stdin_used;    /* set once stdin is read */
    values_shape *shape; /* set to the shape that a file states; may be NULL */
} values_buffer_source;

/* Reads a VALUE. The elements are the bytes from `*out_offset` on. */
VYRE_MUST_USE vyre_status values_buffer_parse(const values_buffer_source *source, const char *value,
                                              vyre_strbuf *out_bytes, size_t *out_offset);

#endif
