/* Wire: programs as bytes, to be stored or sent. docs/wire.md describes the format.
 *
 *     status = vyre_wire_encode(program, 0, &bytes, &size);
 *     status = vyre_wire_decode(bytes, size, &copy);
 *     vyre_bytes_free(bytes);
 *
 * Encoding loses nothing: a decoded program has the same digest, names and source places, and
 * encodes to the same bytes. The decoder accepts untrusted bytes. It refuses malformed ones with
 * the offset of the wrong byte. */
#ifndef VYRE_WIRE_H
#define VYRE_WIRE_H

#include <vyre/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Leave out names of locals, source locations, and the program's variants for devices. */
enum { VYRE_WIRE_NO_DEBUG = 1 };

/* The caller frees the bytes with vyre_bytes_free. */
VYRE_API VYRE_MUST_USE vyre_status vyre_wire_encode(const vyre_program *program, uint32_t flags,
                                                    uint8_t **out_bytes, size_t *out_size);
VYRE_API void vyre_bytes_free(uint8_t *bytes);

/* Copies what it needs. The caller releases the program. */
VYRE_API VYRE_MUST_USE vyre_status vyre_wire_decode(const uint8_t *bytes, size_t size,
                                                    vyre_program **out_program);

#ifdef __cplusplus
}
#endif

#endif
