#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/utf8.h"
#include "base/visible.h"

static void new_line(vyre_json *json) {
    vyre_strbuf_putc(json->text, '\n');
    vyre_strbuf_repeat(json->text, ' ', json->depth * 2);
}

/* Comes before every key, and every value that has none. */
static void next_item(vyre_json *json) {
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->has_items) {
        vyre_strbuf_putc(json->text, ',');
    }
    if (json->depth > 0) {
        new_line(json);
    }
    json->has_items = true;
}

static void open(vyre_json *json, char bracket) {
    next_item(json);
    vyre_strbuf_putc(json->text, bracket);
    json->depth++;
    json->has_items = false;
}

static void close(vyre_json *json, char bracket) {
    json->depth--;
    if (json->has_items) {
        new_line(json);
    }
    vyre_strbuf_putc(json->text, bracket);
    json->has_items = true;
}

static void quote(vyre_strbuf *text, vyre_str string) {
    vyre_strbuf_putc(text, '"');
    for (size_t at = 0; at < string.size;) {
        unsigned char c = (unsigned char)string.data[at];
        bool shown;
        size_t bytes = vyre_visible_next(string.data + at, string.size - at, &shown);
        const char *escape = c == '"'    ? "\\\""
                             : c == '\\' ? "\\\\"
                             : c == '\n' ? "\\n"
                             : c == '\r' ? "\\r"
                             : c == '\t' ? "\\t"
                                         : NULL;
        if (escape) {
            vyre_strbuf_puts(text, escape);
        } else if (!shown && bytes == 1 && c >= 0x80) {
            vyre_strbuf_puts(text, "\xef\xbf\xbd"); /* no character of UTF-8 */
        } else if (!shown) {
            vyre_strbuf_printf(text, "\\u%04x", (unsigned)vyre_utf8_read(string.data + at));
        } else {
            vyre_strbuf_add(text, string.data + at, bytes);
        }
        at += bytes;
    }
    vyre_strbuf_putc(text, '"');
}

void vyre_json_object(vyre_json *json) {
    open(json, '{');
}

void vyre_json_object_end(vyre_json *json) {
    close(json, '}');
}

void vyre_json_array(vyre_json *json) {
    open(json, '[');
}

void vyre_json_array_end(vyre_json *json) {
    close(json, ']');
}

void vyre_json_key(vyre_json *json, const char *key) {
    next_item(json);
    quote(json->text, vyre_str_of(key));
    vyre_strbuf_puts(json->text, ": ");
    json->after_key = true;
}

void vyre_json_string(vyre_json *json, const char *string) {
    vyre_json_str(json, vyre_str_of(string));
}

void vyre_json_str(vyre_json *json, vyre_str string) {
    next_item(json);
    quote(json->text, string);
}

void vyre_json_u64(vyre_json *json, uint64_t number) {
    next_item(json);
    vyre_strbuf_u64(json->text, number);
}

void vyre_json_bool(vyre_json *json, bool value) {
    next_item(json);
    vyre_strbuf_puts(json->text, value ? "true" : "false");
}

void vyre_json_null(vyre_json *json) {
    next_item(json);
    vyre_strbuf_puts(json->text, "null");
}

void vyre_json_f64(vyre_json *json, double number) {
    if (!isfinite(number)) {
        vyre_json_null(json);
        return;
    }
    next_item(json);
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    vyre_float_print(json->text, VYRE_FLOAT_F64, bits);
}

void vyre_json_paste(vyre_json *json, vyre_str value) {
    next_item(json);
    while (value.size && value.data[value.size - 1] == '\n') {
        value.size--;
    }
    for (size_t at = 0; at < value.size; at++) {
        if (value.data[at] == '\n') { /* those in strings are escaped */
            new_line(json);
        } else {
            vyre_strbuf_putc(json->text, value.data[at]);
        }
    }
}

void vyre_json_add_string(vyre_json *json, const char *key, const char *string) {
    vyre_json_key(json, key);
    if (string) {
        vyre_json_string(json, string);
    } else {
        vyre_json_null(json);
    }
}

void vyre_json_add_u64(vyre_json *json, const char *key, uint64_t number) {
    vyre_json_key(json, key);
    vyre_json_u64(json, number);
}

void vyre_json_add_f64(vyre_json *json, const char *key, double number) {
    vyre_json_key(json, key);
    vyre_json_f64(json, number);
}

void vyre_json_add_bool(vyre_json *json, const char *key, bool value) {
    vyre_json_key(json, key);
    vyre_json_bool(json, value);
}

void vyre_json_add_object(vyre_json *json, const char *key) {
    vyre_json_key(json, key);
    vyre_json_object(json);
}

void vyre_json_add_array(vyre_json *json, const char *key) {
    vyre_json_key(json, key);
    vyre_json_array(json);
}

void vyre_json_add_strbuf(vyre_json *json, const char *key, vyre_strbuf *string) {
    vyre_json_add_string(json, key, vyre_strbuf_string(string));
    json->text->failed |= string->failed;
    vyre_strbuf_free(string);
}
