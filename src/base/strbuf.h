/* Text buffer: bytes appended at the end, always NUL-terminated. A failed append sets `failed` and
 * leaves the contents; callers test once at the end. */
#ifndef VYRE_BASE_STRBUF_H
#define VYRE_BASE_STRBUF_H

#include <stdarg.h>
#include <string.h>

#include <vyre/base.h>

static inline vyre_str vyre_str_of(const char *string) {
    return (vyre_str){string, strlen(string)};
}

/* Whether it is that string. */
static inline bool vyre_str_is(vyre_str text, const char *string) {
    return text.size == strlen(string) && (!text.size || !memcmp(text.data, string, text.size));
}

typedef struct vyre_strbuf {
    char *data; /* NULL while empty */
    size_t size, capacity;
    bool failed;
} vyre_strbuf;

void vyre_strbuf_free(vyre_strbuf *text);

void vyre_strbuf_add(vyre_strbuf *text, const char *data, size_t size);
void vyre_strbuf_puts(vyre_strbuf *text, const char *string);
void vyre_strbuf_putc(vyre_strbuf *text, char c);
void vyre_strbuf_repeat(vyre_strbuf *text, char c, size_t count);
void vyre_strbuf_printf(vyre_strbuf *text, const char *format, ...) VYRE_PRINTF(2, 3);
void vyre_strbuf_vprintf(vyre_strbuf *text, const char *format, va_list arguments)
    VYRE_PRINTF(2, 0);

/* Decimal digits, much faster than printf. */
void vyre_strbuf_u64(vyre_strbuf *text, uint64_t number);

/* Drops what was written after the first `size` bytes. */
void vyre_strbuf_cut(vyre_strbuf *text, size_t size);

/* A copy of a string, to be freed with vyre_free; NULL without memory. */
char *vyre_copy_string(const char *string);

/* The contents as a C string, "" while empty. */
const char *vyre_strbuf_string(const vyre_strbuf *text);

#endif
