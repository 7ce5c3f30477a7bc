#include "base/visible.h"

#include <string.h>

#include "base/utf8.h"

bool vyre_is_bidi(uint32_t c) {
    return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

size_t vyre_visible_next(const char *data, size_t size, bool *out_shown) {
    size_t bytes = vyre_utf8_size(data, size);
    uint32_t c = bytes ? vyre_utf8_read(data) : 0;
    bool is_control = c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029;
    *out_shown = !is_control && !vyre_is_bidi(c);
    return bytes || !size ? bytes : 1;
}

static void put_escape(vyre_strbuf *text, const char *data, size_t bytes) {
    if (bytes == 1) {
        vyre_strbuf_printf(text, "\\x%02x", (unsigned char)*data);
    } else {
        vyre_strbuf_printf(text, "\\u{%x}", (unsigned)vyre_utf8_read(data));
    }
}

void vyre_strbuf_visible(vyre_strbuf *text, const char *data, size_t size) {
    for (size_t at = 0, bytes; at < size; at += bytes) {
        bool shown;
        bytes = vyre_visible_next(data + at, size - at, &shown);
        if (shown) {
            vyre_strbuf_add(text, data + at, bytes);
        } else {
            put_escape(text, data + at, bytes);
        }
    }
}

static bool is_kept(char c, bool keep_lines) {
    return keep_lines && (c == '\n' || c == '\t');
}

/* The bytes from `at` on that stay as they are. */
static size_t count_shown(const vyre_strbuf *text, size_t at, bool keep_lines) {
    size_t start = at;
    bool shown = true;
    while (at < text->size && shown) {
        if (text->data[at] >= ' ' && text->data[at] <= '~') { /* nearly all there is */
            at++;
            continue;
        }
        size_t bytes = vyre_visible_next(text->data + at, text->size - at, &shown);
        shown = shown || is_kept(text->data[at], keep_lines);
        at += shown ? bytes : 0;
    }
    return at - start;
}

static void put_question_marks(vyre_strbuf *text, size_t at, bool keep_lines) {
    while ((at += count_shown(text, at, keep_lines)) < text->size) {
        bool shown;
        size_t bytes = vyre_visible_next(text->data + at, text->size - at, &shown);
        memset(text->data + at, '?', bytes);
    }
}

void vyre_visible_clean(vyre_strbuf *text, size_t from, bool keep_lines) {
    size_t at = from + count_shown(text, from, keep_lines);
    if (at >= text->size) {
        return;
    }
    vyre_strbuf clean = {0};
    vyre_strbuf_add(&clean, text->data, at);
    while (at < text->size && !clean.failed) {
        bool shown;
        size_t bytes = vyre_visible_next(text->data + at, text->size - at, &shown);
        put_escape(&clean, text->data + at, bytes);
        at += bytes;
        size_t run = count_shown(text, at, keep_lines);
        vyre_strbuf_add(&clean, text->data + at, run);
        at += run;
    }
    if (clean.failed) {
        vyre_strbuf_free(&clean);
        put_question_marks(text, from, keep_lines);
        return;
    }
    clean.failed = text->failed;
    vyre_strbuf_free(text);
    *text = clean;
}
