#include "values/csv.h"

#include <inttypes.h>
#include <string.h>

#include <vyre/reference.h>

#include "base/status.h"
#include "values/element.h"

typedef struct table {
    const char *name; /* of the file */
    const char *at, *end;
    char separator;                 /* a space stands for any number of them */
    uint64_t line;                  /* of the file, from 1 on */
    uint64_t columns, rows, chosen; /* columns of the first line; the one to read from 1 on, or 0 */
    vyre_type type;
} table;

static vyre_status refuse(const table *t, uint64_t column, const char *fix, const char *format, ...)
    VYRE_PRINTF(4, 5);

static vyre_status refuse(const table *t, uint64_t column, const char *fix, const char *format,
                          ...) {
    vyre_strbuf message = {0};
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&message, format, arguments);
    va_end(arguments);
    vyre_strbuf place = {0};
    vyre_strbuf_printf(&place, "%s:%" PRIu64, t->name, t->line);
    if (column) {
        vyre_strbuf_printf(&place, ", column %" PRIu64, column);
    }
    vyre_status status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix, "%s: %s",
                                          vyre_strbuf_string(&place), vyre_strbuf_string(&message));
    vyre_strbuf_free(&place);
    vyre_strbuf_free(&message);
    return status;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static vyre_str trim(vyre_str text) {
    while (text.size && is_space(text.data[text.size - 1])) {
        text.size--;
    }
    while (text.size && is_space(*text.data)) {
        text.data++;
        text.size--;
    }
    return text;
}

/* The next line that is neither empty nor a comment; false at the end of the file. */
static bool next_line(table *t, vyre_str *out) {
    while (t->at < t->end) {
        const char *stop = memchr(t->at, '\n', (size_t)(t->end - t->at));
        stop = stop ? stop : t->end;
        vyre_str line = {t->at, (size_t)(stop - t->at)};
        t->at = stop < t->end ? stop + 1 : stop;
        t->line++;
        vyre_str inner = trim(line);
        if (inner.size && *inner.data != '#') {
            /* A tab at the end of a line parts it from an empty cell, a space does not. */
            *out = t->separator == '\t' || t->separator == 0 ? line : inner;
            out->size -= out->size && out->data[out->size - 1] == '\r';
            return true;
        }
    }
    return false;
}

static char separator_of(vyre_str line) {
    static const char candidates[] = "\t;,";
    for (const char *c = candidates; *c; c++) {
        if (memchr(line.data, *c, line.size)) {
            return *c;
        }
    }
    return ' ';
}

static bool is_separator(const table *t, char c) {
    return t->separator == ' ' ? is_space(c) : c == t->separator;
}

/* Takes a cell off a line; false where there is none left. `*is_last` tells that none follows. */
static bool next_cell(const table *t, vyre_str *line, bool *is_last, vyre_str *out) {
    if (*is_last) {
        return false;
    }
    bool is_quoted = false;
    size_t size = 0;
    while (size < line->size && (is_quoted || !is_separator(t, line->data[size]))) {
        is_quoted ^= line->data[size] == '"';
        size++;
    }
    *out = trim((vyre_str){line->data, size});
    if (out->size >= 2 && out->data[0] == '"' && out->data[out->size - 1] == '"') {
        *out = trim((vyre_str){out->data + 1, out->size - 2});
    }
    *is_last = size == line->size;
    size += !*is_last;
    while (t->separator == ' ' && size < line->size && is_space(line->data[size])) {
        size++;
    }
    *line = (vyre_str){line->data + size, line->size - size};
    return true;
}

enum { LONGEST = 64 };

/* Other programs write 1.5E+03 and NaN. */
static vyre_str lower(vyre_str cell, char text[LONGEST]) {
    size_t size = cell.size < LONGEST ? cell.size : 0;
    for (size_t i = 0; i < size; i++) {
        bool is_upper = cell.data[i] >= 'A' && cell.data[i] <= 'Z';
        text[i] = is_upper ? (char)(cell.data[i] - 'A' + 'a') : cell.data[i];
    }
    return size ? (vyre_str){text, size} : cell;
}

/* An integer that is written as a float, 3.0e+00, and small enough to be exact. */
static bool parse_whole(vyre_type type, vyre_str text, uint64_t *bits) {
    const double exact = 9007199254740992.0; /* 2^53 */
    uint64_t raw;
    bool overflow;
    double number;
    if (!vyre_float_parse(text.data, text.size, VYRE_FLOAT_F64, &raw, &overflow)) {
        return false;
    }
    memcpy(&number, &raw, sizeof number);
    if (!(number >= -exact && number <= exact) || (double)(int64_t)number != number) {
        return false;
    }
    char digits[32];
    vyre_strbuf printed = {0};
    vyre_strbuf_printf(&printed, "%" PRId64, (int64_t)number);
    size_t size = printed.size < sizeof digits ? printed.size : 0;
    memcpy(digits, vyre_strbuf_string(&printed), size);
    vyre_strbuf_free(&printed);
    vyre_status status = values_element_parse("", type, (vyre_str){digits, size}, bits);
    bool fits = !status;
    vyre_status_free(status);
    return fits;
}

static bool parse_cell(vyre_type type, vyre_str cell, uint64_t *bits) {
    char text[LONGEST];
    vyre_str word = lower(cell, text);
    vyre_status status = values_element_parse("", type, word, bits);
    bool is_number = !status;
    vyre_status_free(status);
    return is_number ||
           ((vyre_type_class_of(type) & VYRE_CLASS_INTEGER) && parse_whole(type, word, bits));
}

/* Whether it is a number of any kind, of this type or not: what a header does not have. */
static bool is_number(const table *t, vyre_str cell) {
    uint64_t bits;
    return parse_cell(t->type, cell, &bits) || parse_cell(VYRE_TYPE_F64, cell, &bits);
}

static vyre_status wrong_cell(const table *t, uint64_t column, vyre_str cell) {
    int shown = cell.size < 40 ? (int)cell.size : 40;
    const char *dots = cell.size > 40 ? "..." : "";
    bool has_comma = t->separator != ',' && memchr(cell.data, ',', cell.size);
    return cell.size
               ? refuse(t, column,
                        has_comma ? "write a point for a decimal comma"
                                  : "write a number that the type holds; only the first line may "
                                    "be a header",
                        "`%.*s%s` is not a valid %s", shown, cell.data, dots,
                        vyre_type_name(t->type))
               : refuse(t, column, "write a number there, nan for one that is missing",
                        "the cell is empty");
}

/* The first line: how many columns there are, which one is meant, and whether it is a header. */
static vyre_status read_first(table *t, const char *column, vyre_str line, bool *is_header) {
    vyre_str cell;
    bool is_last = false;
    *is_header = true;
    uint64_t named = 0;
    while (next_cell(t, &line, &is_last, &cell)) {
        t->columns++;
        *is_header = *is_header && !is_number(t, cell);
        named = !named && column && vyre_str_is(cell, column) ? t->columns : named;
    }
    if (!column) {
        return VYRE_OK;
    }
    uint64_t number = 0;
    vyre_status status = values_number_parse("", column, &number);
    bool is_index = !status && number >= 1 && number <= t->columns;
    vyre_status_free(status);
    t->chosen = *is_header && named ? named : is_index ? number : 0;
    return t->chosen ? VYRE_OK
                     : refuse(t, 0, "use a name of the header, or a number from 1 on",
                              "there is no column `%s`; there are %" PRIu64, column, t->columns);
}

static vyre_status read_row(table *t, vyre_str line, vyre_strbuf *out) {
    vyre_str cell;
    bool is_last = false;
    uint64_t column = 0;
    while (next_cell(t, &line, &is_last, &cell)) {
        uint64_t bits;
        column++;
        if (column > t->columns || (t->chosen && column != t->chosen)) {
            continue;
        }
        if (!parse_cell(t->type, cell, &bits)) {
            return wrong_cell(t, column, cell);
        }
        values_element_store(out, t->type, bits);
    }
    t->rows++;
    return column == t->columns
               ? VYRE_OK
               : refuse(t, 0, "give every row as many cells",
                        "the row has %" PRIu64 " cells, and the first line has %" PRIu64, column,
                        t->columns);
}

static vyre_status read_table(table *t, const char *column, vyre_strbuf *out) {
    vyre_str line;
    if (!next_line(t, &line)) {
        return VYRE_OK;
    }
    t->separator = separator_of(line);
    line = t->separator == '\t' ? line : trim(line);
    bool is_header = false;
    VYRE_TRY(read_first(t, column, line, &is_header));
    if (!is_header) {
        VYRE_TRY(read_row(t, line, out));
    }
    while (!out->failed && next_line(t, &line)) {
        VYRE_TRY(read_row(t, line, out));
        if (out->size > VYRE_REFERENCE_MEMORY_BYTES) {
            return refuse(t, 0, "read fewer rows",
                          "the numbers take more than %llu bytes, the "
                          "most that a run may use",
                          (unsigned long long)VYRE_REFERENCE_MEMORY_BYTES);
        }
    }
    return out->failed ? vyre_no_memory("for the numbers of %s", t->name) : VYRE_OK;
}

vyre_status values_csv_read(vyre_strbuf *bytes, const char *name, const char *column,
                            vyre_type type, values_shape *out_shape) {
    static const char mark[] = "\xef\xbb\xbf"; /* spreadsheets write it in front of UTF-8 */
    const char *text = vyre_strbuf_string(bytes);
    size_t skipped = bytes->size >= 3 && !memcmp(text, mark, 3) ? 3 : 0;
    table t = {.name = name, .at = text + skipped, .end = text + bytes->size, .type = type};
    vyre_strbuf out = {0};
    vyre_status status = read_table(&t, column, &out);
    if (status) {
        vyre_strbuf_free(&out);
        return status;
    }
    uint64_t columns = t.chosen ? 1 : t.columns;
    vyre_strbuf_free(bytes);
    *bytes = out;
    *out_shape = columns > 1
                     ? (values_shape){.is_known = true, .rank = 2, .sizes = {t.rows, columns}}
                     : values_shape_vector(t.rows);
    return VYRE_OK;
}

vyre_status values_csv_columns(const char *name, uint64_t count, const values_shape *shape,
                               uint64_t wanted, uint64_t *out) {
    bool has_rows = shape && shape->is_known && shape->rank > 1;
    uint64_t last = has_rows ? shape->sizes[shape->rank - 1] : 1;
    *out = wanted ? wanted : last ? last : 1;
    return count % *out == 0
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                  "give a number of columns that divides the number of elements, "
                                  "as in --out NAME=FILE.csv:4",
                                  "the %" PRIu64 " elements of `%s` do not form rows of %" PRIu64,
                                  count, name, *out);
}

void values_csv_write(vyre_strbuf *out, vyre_type type, const uint8_t *elements, uint64_t count,
                      uint64_t columns, char separator) {
    for (uint64_t i = 0; i < count && !out->failed; i++) {
        values_element_print(out, type, elements + i * vyre_type_bytes(type));
        vyre_strbuf_putc(out, (i + 1) % columns ? separator : '\n');
    }
}
