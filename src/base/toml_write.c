#include <string.h>

#include "base/number.h"
#include "base/toml.h"

enum { LINE_BYTES = 88 }; /* where arrays are broken; items may reach beyond */

static void new_line(vyre_toml_writer *writer) {
    vyre_strbuf_putc(writer->text, '\n');
    writer->line_start = writer->text->size;
}

static void write_quoted(vyre_strbuf *text, vyre_str string) {
    vyre_strbuf_putc(text, '"');
    for (size_t at = 0; at < string.size;) {
        size_t run = at;
        while (run < string.size && (unsigned char)string.data[run] >= 0x20 &&
               string.data[run] != 0x7f && string.data[run] != '"' && string.data[run] != '\\') {
            run++;
        }
        vyre_strbuf_add(text, string.data + at, run - at);
        if (run < string.size) {
            static const char special[] = "\b\t\n\f\r\"\\";
            static const char letters[] = "btnfr\"\\";
            char c = string.data[run++];
            const char *found = c ? strchr(special, c) : NULL;
            if (found) {
                vyre_strbuf_putc(text, '\\');
                vyre_strbuf_putc(text, letters[found - special]);
            } else {
                vyre_strbuf_printf(text, "\\u%04X", (unsigned)c);
            }
        }
        at = run;
    }
    vyre_strbuf_putc(text, '"');
}

static void write_bare_or_quoted(vyre_strbuf *text, vyre_str key) {
    bool bare = key.size > 0;
    for (size_t i = 0; i < key.size; i++) {
        char c = key.data[i];
        bare = bare && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-');
    }
    if (bare) {
        vyre_strbuf_add(text, key.data, key.size);
    } else {
        write_quoted(text, key);
    }
}

static void write_header(vyre_toml_writer *writer, const vyre_str *parts, size_t count,
                         const char *open, const char *close) {
    if (writer->text->size > 0) {
        new_line(writer);
    }
    for (size_t i = 0; i < count; i++) {
        vyre_strbuf_puts(writer->text, i == 0 ? open : ".");
        write_bare_or_quoted(writer->text, parts[i]);
    }
    vyre_strbuf_puts(writer->text, close);
    new_line(writer);
}

/* In front of a key, and of a value that has none. */
static void next_item(vyre_toml_writer *writer, bool may_break) {
    if (writer->depth == 0 || writer->after_key) {
        writer->after_key = false;
        return;
    }
    if (writer->has_items) {
        vyre_strbuf_putc(writer->text, ',');
        if (may_break && writer->text->size - writer->line_start > LINE_BYTES) {
            new_line(writer);
            vyre_strbuf_repeat(writer->text, ' ', 4);
        } else {
            vyre_strbuf_putc(writer->text, ' ');
        }
    }
    writer->has_items = true;
}

static void end_value(vyre_toml_writer *writer) {
    writer->has_items = true;
    if (writer->depth == 0) {
        new_line(writer);
    }
}

static void open_list(vyre_toml_writer *writer, const char *bracket) {
    next_item(writer, true);
    vyre_strbuf_puts(writer->text, bracket);
    writer->depth++;
    writer->has_items = false;
}

static void close_list(vyre_toml_writer *writer, const char *bracket) {
    vyre_strbuf_puts(writer->text, bracket);
    writer->depth--;
    end_value(writer);
}

void vyre_toml_write_header(vyre_toml_writer *writer, const vyre_str *path, size_t count) {
    write_header(writer, path, count, "[", "]");
}

void vyre_toml_write_item_header(vyre_toml_writer *writer, const vyre_str *path, size_t count) {
    write_header(writer, path, count, "[[", "]]");
}

void vyre_toml_write_key(vyre_toml_writer *writer, vyre_str key) {
    next_item(writer, false); /* an inline table must stay on its line */
    write_bare_or_quoted(writer->text, key);
    vyre_strbuf_puts(writer->text, " = ");
    writer->after_key = true;
}

void vyre_toml_write_string(vyre_toml_writer *writer, vyre_str string) {
    next_item(writer, true);
    write_quoted(writer->text, string);
    end_value(writer);
}

void vyre_toml_write_integer(vyre_toml_writer *writer, int64_t number) {
    next_item(writer, true);
    if (number < 0) {
        vyre_strbuf_putc(writer->text, '-');
    }
    vyre_strbuf_u64(writer->text, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
    end_value(writer);
}

void vyre_toml_write_float(vyre_toml_writer *writer, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    next_item(writer, true);
    vyre_float_print(writer->text, VYRE_FLOAT_F64, bits);
    end_value(writer);
}

void vyre_toml_write_bool(vyre_toml_writer *writer, bool value) {
    next_item(writer, true);
    vyre_strbuf_puts(writer->text, value ? "true" : "false");
    end_value(writer);
}

void vyre_toml_write_array(vyre_toml_writer *writer) {
    open_list(writer, "[");
}

void vyre_toml_write_array_end(vyre_toml_writer *writer) {
    close_list(writer, "]");
}

static void write_time(vyre_toml_writer *writer, const vyre_toml_value *value) {
    vyre_strbuf *text = writer->text;
    const vyre_toml_time *time = &value->time;
    next_item(writer, true);
    if (value->type != VYRE_TOML_LOCAL_TIME) {
        vyre_strbuf_printf(text, "%04u-%02u-%02u", time->year, time->month, time->day);
    }
    if (value->type != VYRE_TOML_LOCAL_DATE) {
        vyre_strbuf_printf(text, "%s%02u:%02u:%02u", value->type == VYRE_TOML_LOCAL_TIME ? "" : "T",
                           time->hour, time->minute, time->second);
        if (time->nanosecond) {
            vyre_strbuf_printf(text, ".%09u", time->nanosecond);
            while (text->size && text->data[text->size - 1] == '0') {
                vyre_strbuf_cut(text, text->size - 1);
            }
        }
    }
    if (value->type == VYRE_TOML_OFFSET_DATE_TIME) {
        int offset = time->offset_minutes;
        int minutes = offset < 0 ? -offset : offset;
        if (offset == 0) {
            vyre_strbuf_putc(text, 'Z');
        } else {
            vyre_strbuf_printf(text, "%c%02d:%02d", offset < 0 ? '-' : '+', minutes / 60,
                               minutes % 60);
        }
    }
    end_value(writer);
}

void vyre_toml_write_value(vyre_toml_writer *writer, const vyre_toml_value *value) {
    switch (value->type) {
    case VYRE_TOML_STRING: vyre_toml_write_string(writer, value->string); break;
    case VYRE_TOML_INTEGER: vyre_toml_write_integer(writer, value->integer); break;
    case VYRE_TOML_FLOAT: vyre_toml_write_float(writer, value->number); break;
    case VYRE_TOML_BOOL: vyre_toml_write_bool(writer, value->boolean); break;
    case VYRE_TOML_OFFSET_DATE_TIME:
    case VYRE_TOML_LOCAL_DATE_TIME:
    case VYRE_TOML_LOCAL_DATE:
    case VYRE_TOML_LOCAL_TIME: write_time(writer, value); break;
    case VYRE_TOML_ARRAY:
        open_list(writer, "[");
        for (size_t i = 0; i < value->array.count; i++) {
            vyre_toml_write_value(writer, &value->array.items[i]);
        }
        close_list(writer, "]");
        break;
    case VYRE_TOML_TABLE:
        open_list(writer, "{");
        for (const vyre_toml_entry *entry = value->table->first; entry; entry = entry->next) {
            vyre_toml_write_key(writer, entry->key);
            vyre_toml_write_value(writer, &entry->value);
        }
        close_list(writer, "}");
        break;
    }
}
