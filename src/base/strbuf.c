#include "base/strbuf.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static bool reserve(vyre_strbuf *text, size_t extra) {
    if (text->failed) {
        return false;
    }
    if (text->capacity - text->size > extra) {
        return true;
    }
    if (extra > SIZE_MAX / 2 - text->size - 1) {
        text->failed = true;
        return false;
    }
    size_t capacity = text->capacity ? text->capacity * 2 : 64;
    if (capacity < text->size + extra + 1) {
        capacity = text->size + extra + 1;
    }
    char *data = vyre_resize(text->data, capacity, 1);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void vyre_strbuf_free(vyre_strbuf *text) {
    vyre_free(text->data);
    *text = (vyre_strbuf){0};
}

void vyre_strbuf_add(vyre_strbuf *text, const char *data, size_t size) {
    if (reserve(text, size)) {
        if (size) {
            memcpy(text->data + text->size, data, size);
        }
        text->size += size;
        text->data[text->size] = '\0';
    }
}

void vyre_strbuf_puts(vyre_strbuf *text, const char *string) {
    vyre_strbuf_add(text, string, strlen(string));
}

void vyre_strbuf_putc(vyre_strbuf *text, char c) {
    vyre_strbuf_add(text, &c, 1);
}

void vyre_strbuf_repeat(vyre_strbuf *text, char c, size_t count) {
    if (reserve(text, count)) {
        memset(text->data + text->size, c, count);
        text->size += count;
        text->data[text->size] = '\0';
    }
}

void vyre_strbuf_vprintf(vyre_strbuf *text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    if (size < 0) {
        text->failed = true;
    } else if (reserve(text, (size_t)size)) {
        vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
}

void vyre_strbuf_printf(vyre_strbuf *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(text, format, arguments);
    va_end(arguments);
}

void vyre_strbuf_u64(vyre_strbuf *text, uint64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    vyre_strbuf_add(text, digits + at, sizeof digits - at);
}

void vyre_strbuf_cut(vyre_strbuf *text, size_t size) {
    if (size < text->size) {
        text->size = size;
        text->data[size] = '\0';
    }
}

const char *vyre_strbuf_string(const vyre_strbuf *text) {
    return text->data ? text->data : "";
}

char *vyre_copy_string(const char *string) {
    size_t size = strlen(string) + 1;
    char *copy = vyre_alloc(size);
    return copy ? memcpy(copy, string, size) : NULL;
}
