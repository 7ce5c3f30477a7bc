#include "text/source.h"

#include <string.h>

#include <vyre/program.h>

#include "base/utf8.h"
#include "base/visible.h"
#include "ir/diagnostic.h"

const char *vyre_source_excerpt(const vyre_source *source, uint32_t line, vyre_source_line *out) {
    const char *start = source->text;
    for (uint32_t i = 1; start && i < line; i++) {
        start = memchr(start, '\n', (size_t)(source->end - start));
        start = start ? start + 1 : NULL;
    }
    if (!line || !start) {
        return NULL;
    }
    size_t size = (size_t)(source->end - start);
    const char *end = memchr(start, '\n', size);
    size = end ? (size_t)(end - start) : size;
    size = size < sizeof out->text ? size : sizeof out->text - 1;
    memcpy(out->text, start, size);
    out->text[size] = '\0';
    return out->text;
}

uint32_t vyre_source_part_at(const vyre_source *source, const char *at) {
    uint32_t part = source->part_count ? source->part_count - 1 : 0;
    while (part && source->parts[part].start > at) {
        part--;
    }
    return part;
}

uint32_t vyre_source_part_of_line(const vyre_source *source, uint32_t line) {
    uint32_t part = source->part_count ? source->part_count - 1 : 0;
    while (part && source->parts[part].lines_before >= line) {
        part--;
    }
    return part;
}

const char *vyre_source_file_of(const vyre_source *source, uint32_t *line) {
    const char *own = source->foreign ? source->name : NULL;
    uint32_t part = vyre_source_part_of_line(source, *line);
    if (!part) {
        return own;
    }
    *line -= source->parts[part].lines_before;
    return source->parts[part].file ? source->parts[part].file : own;
}

vyre_diagnostic vyre_source_place(const vyre_source *source, vyre_spot spot,
                                  vyre_source_line *line) {
    vyre_diagnostic at = {
        .line = spot.line, .column = spot.column, .length = spot.length, .inst = VYRE_NONE};
    at.file = vyre_source_file_of(source, &at.line);
    if (at.file) {
        at.excerpt = vyre_source_excerpt(source, spot.line, line);
    }
    at.calls = source->calls;
    return at;
}

void vyre_source_report(vyre_source *source, vyre_spot spot, uint32_t code, const char *fix,
                        const char *format, ...) {
    vyre_source_line line;
    vyre_diagnostic at = vyre_source_place(source, spot, &line);
    va_list arguments;
    va_start(arguments, format);
    vyre_diagnostics_vadd(source->diagnostics, &at, code, fix, format, arguments);
    va_end(arguments);
}

static vyre_spot spot_of(const vyre_source *source, const char *at) {
    uint32_t line = 1;
    const char *start = source->text;
    for (const char *next; (next = memchr(start, '\n', (size_t)(at - start))); start = next + 1) {
        line++;
    }
    return (vyre_spot){line, (uint32_t)(at - start) + 1, 1};
}

/* A carriage return that no line feed follows. It may have been meant to end a line, and thereby a
 * comment, so nothing behind it is sure. */
static const char *lone_return(const char *at, const char *end) {
    while ((at = memchr(at, '\r', (size_t)(end - at)))) {
        if (++at == end || *at != '\n') {
            return at - 1;
        }
    }
    return NULL;
}

/* An embedding, override or isolate of Unicode at or behind `at`: U+202A to U+202E, U+2066 to
 * U+2069. */
static const char *find_direction(const char *at, const char *end) {
    for (; (at = memchr(at, '\xe2', (size_t)(end - at))); at += 3) {
        uint32_t c = vyre_utf8_read(at);
        if (c >= 0x202a && vyre_is_bidi(c)) {
            return at;
        }
    }
    return NULL;
}

/* People see the text around such a character in another order than the parser does. One warning
 * stands for all of them. */
static void warn_of_direction(vyre_source *source) {
    const char *mark = memchr(source->text, VYRE_FILE_MARK, (size_t)(source->end - source->text));
    const char *end = mark ? mark : source->end; /* other files were checked when they were read */
    const char *first = find_direction(source->text, end);
    size_t count = 0;
    for (const char *at = first; at; at = find_direction(at + 3, end)) {
        count++;
    }
    if (first) {
        vyre_spot spot = spot_of(source, first);
        spot.length = 3;
        vyre_source_report(source, spot, 806,
                           "remove it, unless you know what the text looks like without it",
                           "U+%04X changes the direction of the text after it; the file has %zu "
                           "character%s of that kind",
                           (unsigned)vyre_utf8_read(first), count, count == 1 ? "" : "s");
    }
}

bool vyre_source_check(vyre_source *source) {
    size_t size = (size_t)(source->end - source->text);
    if (size > VYRE_LIMIT_TEXT_BYTES) {
        vyre_source_report(source, (vyre_spot){0}, 701, "split it into several files",
                           "the source has %zu bytes, and at most %d are allowed", size,
                           VYRE_LIMIT_TEXT_BYTES);
        return false;
    }
    size_t valid = vyre_utf8_check(source->text, size);
    if (valid < size) {
        vyre_source_report(source, spot_of(source, source->text + valid), 105,
                           "save the file as UTF-8", "byte 0x%02x is not part of a UTF-8 character",
                           (unsigned char)source->text[valid]);
        return false;
    }
    const char *lone = lone_return(source->text, source->end);
    if (lone) {
        vyre_source_report(source, spot_of(source, lone), 101,
                           "save the file with LF or CR LF line ends",
                           "byte 0x0d is a carriage return without a line feed");
        return false;
    }
    warn_of_direction(source);
    return true;
}
