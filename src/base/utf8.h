/* UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef VYRE_BASE_UTF8_H
#define VYRE_BASE_UTF8_H

#include <vyre/base.h>

/* Bytes of the character at the start of `data` (1 to 4); 0 where none is valid or `size` is 0. */
size_t vyre_utf8_size(const char *data, size_t size);

/* The offset of the first byte that is not part of a valid character; `size` if there is none. */
size_t vyre_utf8_check(const char *data, size_t size);

/* The character at the start of `data`, which must be valid. */
uint32_t vyre_utf8_read(const char *data);

/* Writes a character and returns its bytes; 0, and nothing written, where `c` is not one. */
size_t vyre_utf8_write(uint32_t c, char out[4]);

#endif
