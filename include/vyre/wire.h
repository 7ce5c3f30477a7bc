/* Wire: programs as bytes, to be stored or sent. docs/wire.md describes the form.
 *
 * Encoding and decoding are exact: a decoded program has the digest, the constants' bits, the names
 * and the places of the one encoded, and encodes to the same bytes again. Decoding trusts nothing:
 * whatever is malformed is refused with the offset of the byte at fault. */
#ifndef VYRE_WIRE_H
#define VYRE_WIRE_H

#include <vyre/program.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { VYRE_WIRE_NO_DEBUG = 1 /* leave out names and places */ };

/* Free the bytes with vyre_bytes_free. */
VYRE_API VYRE_MUST_USE vyre_status vyre_wire_encode(const vyre_program *program, uint32_t flags,
                                                    uint8_t **out_bytes, size_t *out_size);
VYRE_API void vyre_bytes_free(uint8_t *bytes);

VYRE_API VYRE_MUST_USE vyre_status vyre_wire_decode(const uint8_t *bytes, size_t size,
                                                    vyre_program **out_program);

#ifdef __cplusplus
}
#endif

#endif
