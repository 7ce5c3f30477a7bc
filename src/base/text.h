/* Text buffer: bytes appended at the end, always NUL-terminated. A failed append sets `failed` and
 * leaves the contents; callers test once at the end. */
#ifndef VYRE_BASE_TEXT_H
#define VYRE_BASE_TEXT_H

#include <stdarg.h>

#include <vyre/base.h>

typedef struct vyre_text {
    char *data; /* NULL while empty */
    size_t size, capacity;
    bool failed;
} vyre_text;

void vyre_text_free(vyre_text *text);

void vyre_text_add(vyre_text *text, const char *data, size_t size);
void vyre_text_puts(vyre_text *text, const char *string);
void vyre_text_putc(vyre_text *text, char c);
void vyre_text_repeat(vyre_text *text, char c, size_t count);
void vyre_text_printf(vyre_text *text, const char *format, ...) VYRE_PRINTF(2, 3);
void vyre_text_vprintf(vyre_text *text, const char *format, va_list arguments) VYRE_PRINTF(2, 0);

/* Decimal digits, much faster than printf. */
void vyre_text_u64(vyre_text *text, uint64_t number);

/* Drops what was written after the first `size` bytes. */
void vyre_text_cut(vyre_text *text, size_t size);

/* The contents as a C string, "" while empty. */
const char *vyre_text_string(const vyre_text *text);

#endif
