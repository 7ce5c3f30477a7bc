#include <string.h>

#include <vyre/program.h>
#include <vyre/text.h>

#include "base/json.h"
#include "base/status.h"
#include "base/visible.h"
#include "text/render.h"
#include "text/source.h"

enum { TAB = 4, WINDOW = 100, BEFORE_CARET = 64 };

typedef struct palette {
    const char *error, *warning, *bold, *gutter, *caret, *fix, *reset;
} palette;

static const palette plain = {"", "", "", "", "", "", ""};
static const palette colored = {"\033[1;31m", "\033[1;35m", "\033[1m", "\033[34m",
                                "\033[1;32m", "\033[36m",   "\033[0m"};

typedef struct renderer {
    vyre_strbuf *out;
    const palette *colors;
    const char *name;
    const char *line_start, *end; /* of the text's line `line` */
    uint32_t line;
} renderer;

/* All that is not the renderer's own passes here. */
static void put_safely(vyre_strbuf *out, const char *text) {
    vyre_strbuf_visible(out, text, strlen(text));
}

/* The start of a line, going on from the one before; NULL beyond the end. */
static const char *find_line(renderer *r, uint32_t line) {
    while (r->line < line) {
        const char *newline = memchr(r->line_start, '\n', (size_t)(r->end - r->line_start));
        if (!newline) {
            return NULL;
        }
        r->line_start = newline + 1;
        r->line++;
    }
    return r->line_start;
}

/* The columns in front of the bar that separates line numbers from the text. */
static size_t gutter_width(const vyre_diagnostic *item) {
    size_t width = 3;
    for (uint32_t line = item->line; line > 9; line /= 10) {
        width++;
    }
    return width;
}

/* Appends the character at `at`, which stands in `column`; returns the columns that it takes. */
static size_t put_character(vyre_strbuf *out, const char *at, const char *end, size_t column,
                            size_t *bytes) {
    bool shown;
    size_t before = out->size;
    *bytes = vyre_visible_next(at, (size_t)(end - at), &shown);
    if (*at == '\t') {
        vyre_strbuf_repeat(out, ' ', TAB - column % TAB);
        return TAB - column % TAB;
    }
    vyre_strbuf_visible(out, at, *bytes);
    return shown ? 1 : out->size - before;
}

static const char *boundary(const char *at, const char *start) {
    while (at > start && ((unsigned char)*at & 0xc0) == 0x80) {
        at--;
    }
    return at;
}

static bool is_name_part(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The line, cut to a window around the place, and under it the caret. */
static void put_excerpt(renderer *r, const vyre_diagnostic *item) {
    const char *start = item->file                    ? item->excerpt
                        : item->line && r->line_start ? find_line(r, item->line)
                                                      : NULL;
    if (!start) {
        return;
    }
    const char *last_byte = item->file ? start + strlen(start) : r->end;
    const char *end = memchr(start, '\n', (size_t)(last_byte - start));
    end = end ? end : last_byte;
    end -= end > start && end[-1] == '\r';
    size_t length = (size_t)(end - start);
    size_t offset = item->column ? item->column - 1 : 0;
    const char *place = start + (offset < length ? offset : length);
    const char *last = item->length < (size_t)(end - place) ? place + item->length : end;
    while (!item->length && last < end && is_name_part(*last)) {
        last++; /* what comes from an instruction knows where it starts only */
    }
    const char *from = start;
    if (length > WINDOW && place - start > BEFORE_CARET) {
        from = boundary(place - BEFORE_CARET, start);
    }
    const palette *c = r->colors;
    vyre_strbuf_printf(r->out, " %s%u |%s %s", c->gutter, item->line, c->reset,
                       from > start ? "..." : "");
    size_t column = 0, caret = 0, marked = 0, lead = from > start ? 3 : 0;
    const char *at = from;
    while (at < end && column < WINDOW) {
        size_t bytes, columns = put_character(r->out, at, end, column, &bytes);
        caret += at < place ? columns : 0;
        marked += at >= place && at < last ? columns : 0;
        column += columns;
        at += bytes;
    }
    vyre_strbuf_puts(r->out, at < end ? "...\n" : "\n");
    vyre_strbuf_repeat(r->out, ' ', gutter_width(item));
    vyre_strbuf_printf(r->out, "%s|%s ", c->gutter, c->reset);
    vyre_strbuf_repeat(r->out, ' ', lead + caret);
    vyre_strbuf_puts(r->out, c->caret);
    vyre_strbuf_putc(r->out, '^');
    vyre_strbuf_repeat(r->out, '~', marked > 1 ? marked - 1 : 0);
    vyre_strbuf_printf(r->out, "%s\n", c->reset);
}

static void put_note(renderer *r, const vyre_diagnostic *item, const char *label) {
    vyre_strbuf_repeat(r->out, ' ', gutter_width(item));
    vyre_strbuf_printf(r->out, "%s= %s%s", r->colors->fix, label, r->colors->reset);
}

/* Of a function of the text the line of its call is enough. What goes through other files is told
 * whole, so that one finds the way from the text to the place. */
static void put_calls(renderer *r, const vyre_diagnostic *item) {
    for (const vyre_diagnostic_call *call = item->calls; call; call = call->caller) {
        if (!*call->function) {
            continue;
        }
        put_note(r, item, "In: ");
        vyre_strbuf_puts(r->out, strpbrk(call->function, ".<") ? "`" : "function `");
        put_safely(r->out, call->function);
        vyre_strbuf_putc(r->out, '`');
        if (call->line && item->file) {
            vyre_strbuf_puts(r->out, ", called from ");
            put_safely(r->out, call->file ? call->file : r->name);
            vyre_strbuf_printf(r->out, ":%u:%u", call->line, call->column);
        } else if (call->line) {
            vyre_strbuf_printf(r->out, ", called in line %u, column %u", call->line, call->column);
        }
        vyre_strbuf_putc(r->out, '\n');
        if (!item->file) {
            return;
        }
    }
}

/* `label` stands in place of the code's, unless it is NULL. */
static void put_diagnostic(renderer *r, const vyre_diagnostic *item, const char *label) {
    const palette *c = r->colors;
    bool is_error = item->severity == VYRE_SEVERITY_ERROR;
    vyre_strbuf_puts(r->out, c->bold);
    put_safely(r->out, item->file ? item->file : r->name);
    if (item->line) {
        vyre_strbuf_printf(r->out, ":%u:%u", item->line, item->column);
    }
    vyre_strbuf_printf(r->out, ":%s %s", c->reset, is_error ? c->error : c->warning);
    if (label) {
        vyre_strbuf_puts(r->out, label);
    } else {
        vyre_strbuf_printf(r->out, "%s[V%04u]", is_error ? "error" : "warning", item->code);
    }
    vyre_strbuf_printf(r->out, "%s%s: ", c->reset, c->bold);
    put_safely(r->out, item->message);
    vyre_strbuf_printf(r->out, "%s\n", c->reset);
    put_excerpt(r, item);
    put_calls(r, item);
    if (item->fix && *item->fix) {
        put_note(r, item, "Fix: ");
        put_safely(r->out, item->fix);
        vyre_strbuf_putc(r->out, '\n');
    }
}

static void put_json_calls(vyre_json *json, const char *name, const vyre_diagnostic_call *call) {
    vyre_json_add_array(json, "calls");
    for (; call; call = call->caller) {
        vyre_json_object(json);
        vyre_json_add_string(json, "function", call->function);
        vyre_json_add_string(json, "file", call->file ? call->file : name);
        vyre_json_add_u64(json, "line", call->line);
        vyre_json_add_u64(json, "column", call->column);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void put_json(vyre_json *json, const char *name, const vyre_diagnostic *item) {
    char code[8] = "V";
    for (uint32_t i = 0, number = item->code; i < 4; i++, number /= 10) {
        code[4 - i] = (char)('0' + number % 10);
    }
    code[5] = '\0';
    vyre_json_object(json);
    vyre_json_add_string(json, "severity",
                         item->severity == VYRE_SEVERITY_ERROR ? "error" : "warning");
    vyre_json_add_string(json, "code", code);
    vyre_json_add_string(json, "title", vyre_diagnostic_title(item->code));
    vyre_json_add_string(json, "message", item->message);
    vyre_json_add_string(json, "fix", item->fix ? item->fix : "");
    vyre_json_add_string(json, "file", item->file ? item->file : name);
    vyre_json_add_u64(json, "line", item->line);
    vyre_json_add_u64(json, "column", item->column);
    vyre_json_add_u64(json, "length", item->length);
    const vyre_diagnostic_call *call = item->calls;
    if (call && *call->function) {
        vyre_json_add_string(json, "function", call->function);
        vyre_json_add_u64(json, "call_line", call->line);
        vyre_json_add_u64(json, "call_column", call->column);
    }
    if (item->file) {
        put_json_calls(json, name, call);
    }
    if (item->inst != VYRE_NONE) {
        vyre_json_add_u64(json, "instruction", item->inst);
    }
    vyre_json_object_end(json);
}

void vyre_diagnostic_render(const vyre_diagnostic *item, const char *label, const char *name,
                            vyre_str source, bool color, vyre_strbuf *out) {
    renderer r = {.out = out,
                  .colors = color ? &colored : &plain,
                  .name = name,
                  .line_start = source.data,
                  .end = source.data ? source.data + source.size : NULL,
                  .line = 1};
    put_diagnostic(&r, item, label);
}

vyre_status vyre_diagnostics_render(const vyre_diagnostics *diagnostics, const char *name,
                                    const char *text, size_t size, vyre_diagnostic_form form,
                                    char **out_text, size_t *out_size) {
    *out_text = NULL;
    *out_size = 0;
    name = vyre_source_name(name);
    text = text ? text : ""; /* of 0 bytes */
    vyre_strbuf out = {0};
    vyre_json json = {.text = &out};
    renderer r = {.out = &out,
                  .colors = form == VYRE_FORM_COLOR_TEXT ? &colored : &plain,
                  .name = name,
                  .line_start = text,
                  .end = text + size,
                  .line = 1};
    if (form == VYRE_FORM_JSON) {
        vyre_json_array(&json);
    }
    for (size_t i = 0; i < vyre_diagnostics_count(diagnostics); i++) {
        const vyre_diagnostic *item = vyre_diagnostics_get(diagnostics, i);
        if (form == VYRE_FORM_JSON) {
            put_json(&json, name, item);
        } else {
            put_diagnostic(&r, item, NULL);
        }
    }
    if (form == VYRE_FORM_JSON) {
        vyre_json_array_end(&json);
        vyre_strbuf_putc(&out, '\n');
    }
    vyre_strbuf_add(&out, "", 0); /* a string even where there is nothing */
    if (out.failed) {
        vyre_strbuf_free(&out);
        return vyre_no_memory("to show the diagnostics of %s", name);
    }
    *out_text = out.data;
    *out_size = out.size;
    return VYRE_OK;
}
