/* Deflate, the compression of .png and .npz files, by zlib. */
#ifndef VYRE_VALUES_DEFLATE_H
#define VYRE_VALUES_DEFLATE_H

#include <vyre/status.h>

#include "base/strbuf.h"

typedef enum values_wrapper {
    VALUES_WRAPPER_NONE, /* .npz: the archive has the checksum */
    VALUES_WRAPPER_ZLIB  /* .png: two bytes in front, a checksum behind */
} values_wrapper;

/* Whether so many bytes can come out of a compressed stream of that size: a check before memory is
 * taken for what a header claims. */
bool values_inflate_can_give(uint64_t compressed, uint64_t size);

/* Decompresses a stream that gives `size` bytes, no more and no less. MALFORMED otherwise; `name`
 * is the file's. */
VYRE_MUST_USE vyre_status values_inflate(values_wrapper wrapper, const char *name, const char *data,
                                         size_t data_size, char *out, size_t size);

/* Appends the compressed stream of these bytes; without memory `out` fails. */
void values_deflate(values_wrapper wrapper, const char *data, size_t size, vyre_strbuf *out);

/* The CRC-32 of .png and .npz files, continued from the sum of what came before, 0 at the start. */
uint32_t values_crc32(uint32_t sum, const char *data, size_t size);

#endif
