#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/toml_parser.h"
#include "base/utf8.h"

/* How a table came to be, which decides what may be added to it later. */
enum {
    IMPLIED,   /* by a header of something inside it: may get a header of its own */
    BY_HEADER, /* has had its header */
    BY_KEYS,   /* by dotted keys; more of them can only come from the same header */
    INLINE     /* complete */
};

enum { FIRST_ITEMS = 4 }; /* room of a new array of tables */

typedef vyre_toml_key_part key_part;

vyre_toml_place vyre_toml_here(const vyre_toml_parser *parser) {
    return (vyre_toml_place){parser->line, (uint32_t)(parser->at - parser->line_start) + 1};
}

vyre_status vyre_toml_no_memory(void) {
    return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory and try again",
                            "out of memory while reading TOML");
}

vyre_status vyre_toml_fail(const vyre_toml_parser *parser, vyre_toml_place place, const char *fix,
                           const char *format, ...) {
    vyre_strbuf message = {0};
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&message, format, arguments);
    va_end(arguments);
    vyre_status status = message.failed ? vyre_toml_no_memory()
                                        : vyre_status_make(VYRE_STATUS_MALFORMED, fix, "%s",
                                                           vyre_strbuf_string(&message));
    vyre_strbuf_free(&message);
    return vyre_status_at(status, parser->document->file, place.line, place.column);
}

vyre_status vyre_toml_unexpected(const vyre_toml_parser *parser, const char *fix,
                                 const char *expected) {
    char found[32] = "the end of the file";
    unsigned char c = parser->at < parser->end ? (unsigned char)*parser->at : ' ';
    if (vyre_toml_newline_size(parser)) {
        snprintf(found, sizeof found, "the end of the line");
    } else if (c < 0x20 || c == 0x7f) {
        snprintf(found, sizeof found, "the control character U+00%02x", c);
    } else if (parser->at < parser->end) {
        size_t bytes = vyre_utf8_size(parser->at, (size_t)(parser->end - parser->at));
        snprintf(found, sizeof found, "`%.*s`", (int)bytes, parser->at);
    }
    return vyre_toml_fail(parser, vyre_toml_here(parser), fix, "expected %s, found %s", expected,
                          found);
}

size_t vyre_toml_newline_size(const vyre_toml_parser *parser) {
    size_t left = (size_t)(parser->end - parser->at);
    if (left >= 1 && parser->at[0] == '\n') {
        return 1;
    }
    return left >= 2 && parser->at[0] == '\r' && parser->at[1] == '\n' ? 2 : 0;
}

void vyre_toml_take_newline(vyre_toml_parser *parser, size_t size) {
    parser->at += size;
    parser->line_start = parser->at;
    parser->line++;
}

bool vyre_toml_is_control(char c) {
    unsigned char byte = (unsigned char)c;
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

static bool take_char(vyre_toml_parser *parser, char c) {
    bool there = vyre_toml_at_char(parser, c);
    parser->at += there;
    return there;
}

static void skip_blanks(vyre_toml_parser *parser) {
    while (vyre_toml_at_char(parser, ' ') || vyre_toml_at_char(parser, '\t')) {
        parser->at++;
    }
}

static vyre_status skip_comment(vyre_toml_parser *parser) {
    if (!vyre_toml_at_char(parser, '#')) {
        return VYRE_OK;
    }
    while (parser->at < parser->end && !vyre_toml_is_control(*parser->at)) {
        parser->at++;
    }
    if (parser->at < parser->end && !vyre_toml_newline_size(parser)) {
        return vyre_toml_unexpected(parser, "remove the character; a comment may only have tabs",
                                    "printable text in the comment");
    }
    return VYRE_OK;
}

/* Blanks, comments and line ends, as they may stand between the items of an array or table. */
static vyre_status skip_space(vyre_toml_parser *parser) {
    for (;;) {
        skip_blanks(parser);
        vyre_status status = skip_comment(parser);
        size_t newline = vyre_toml_newline_size(parser);
        if (status || !newline) {
            return status;
        }
        vyre_toml_take_newline(parser, newline);
    }
}

static vyre_status parse_line_end(vyre_toml_parser *parser) {
    skip_blanks(parser);
    VYRE_TRY(skip_comment(parser));
    size_t newline = vyre_toml_newline_size(parser);
    if (newline) {
        vyre_toml_take_newline(parser, newline);
        return VYRE_OK;
    }
    return parser->at == parser->end
               ? VYRE_OK
               : vyre_toml_unexpected(parser, "put what follows on a line of its own",
                                      "the end of the line");
}

static bool is_bare(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static vyre_status parse_key_part(vyre_toml_parser *parser, key_part *out) {
    out->place = vyre_toml_here(parser);
    if (vyre_toml_at_char(parser, '"') || vyre_toml_at_char(parser, '\'')) {
        return vyre_toml_parse_line_string(parser, &out->name);
    }
    const char *start = parser->at;
    while (parser->at < parser->end && is_bare(*parser->at)) {
        parser->at++;
    }
    if (parser->at == start) {
        return vyre_toml_unexpected(
            parser, "write a name of letters, digits, _ and -, or put it in quotes", "a key");
    }
    out->name = (vyre_str){start, (size_t)(parser->at - start)};
    return VYRE_OK;
}

static vyre_status too_deep(const vyre_toml_parser *parser, vyre_toml_place place) {
    vyre_status status =
        vyre_status_make(VYRE_STATUS_LIMIT, "nest fewer of them",
                         "arrays and tables are nested more than %d deep", VYRE_TOML_MAX_DEPTH);
    return vyre_status_at(status, parser->document->file, place.line, place.column);
}

static vyre_status parse_key(vyre_toml_parser *parser) {
    parser->part_count = 0;
    do {
        if (parser->part_count == VYRE_TOML_MAX_DEPTH) {
            return too_deep(parser, vyre_toml_here(parser));
        }
        skip_blanks(parser);
        VYRE_TRY(parse_key_part(parser, &parser->parts[parser->part_count++]));
        skip_blanks(parser);
    } while (take_char(parser, '.'));
    return VYRE_OK;
}

static vyre_status defined_before(const vyre_toml_parser *parser, const key_part *part,
                                  const vyre_toml_entry *entry) {
    int shown = part->name.size < 64 ? (int)part->name.size : 64;
    return vyre_toml_fail(parser, part->place, "remove one of the two, or rename it",
                          "`%.*s` is already %s, defined on line %u, and cannot be defined again "
                          "or added to here",
                          shown, part->name.data, vyre_toml_type_name(entry->value.type),
                          entry->line);
}

/* Makes the entry of a key, yet without a value. */
static vyre_status add_entry(vyre_toml_table *in, const key_part *part,
                             vyre_toml_entry **out_entry) {
    vyre_toml_entry *entry = vyre_toml_add_entry(in, part->name);
    *out_entry = entry;
    if (!entry) {
        return vyre_toml_no_memory();
    }
    entry->line = entry->value.line = part->place.line;
    entry->column = entry->value.column = part->place.column;
    return VYRE_OK;
}

/* The entry of a key; where there is none it is made, and its value is an empty table. */
static vyre_status find_table_entry(vyre_toml_parser *parser, vyre_toml_table *in,
                                    const key_part *part, uint32_t origin,
                                    vyre_toml_entry **out_entry) {
    *out_entry = vyre_toml_find_entry(in, part->name);
    if (*out_entry) {
        return VYRE_OK;
    }
    VYRE_TRY(add_entry(in, part, out_entry));
    vyre_toml_table *table = vyre_toml_add_table(parser->document);
    if (!table) {
        return vyre_toml_no_memory();
    }
    table->origin = origin;
    (*out_entry)->value.type = VYRE_TOML_TABLE;
    (*out_entry)->value.table = table;
    return VYRE_OK;
}

/* Walks down all parts of a header but the last. Through an array of tables the way leads into its
 * latest item. */
static vyre_status enter_header(vyre_toml_parser *parser, vyre_toml_table **out_table,
                                uint32_t *out_depth) {
    vyre_toml_table *table = parser->document->root.table;
    uint32_t depth = 0;
    for (uint32_t i = 0; i + 1 < parser->part_count; i++) {
        const key_part *part = &parser->parts[i];
        vyre_toml_entry *entry;
        VYRE_TRY(find_table_entry(parser, table, part, IMPLIED, &entry));
        const vyre_toml_value *value = &entry->value;
        depth++;
        if (value->type == VYRE_TOML_ARRAY && value->array.count &&
            value->array.items[0].type == VYRE_TOML_TABLE) {
            value = &value->array.items[value->array.count - 1];
            depth++;
        }
        if (value->type != VYRE_TOML_TABLE || value->table->origin == INLINE) {
            return defined_before(parser, part, entry);
        }
        table = value->table;
    }
    *out_table = table;
    *out_depth = depth;
    return VYRE_OK;
}

/* [table] */
static vyre_status open_table(vyre_toml_parser *parser, vyre_toml_table *in, const key_part *part) {
    vyre_toml_entry *entry;
    VYRE_TRY(find_table_entry(parser, in, part, IMPLIED, &entry));
    if (entry->value.type != VYRE_TOML_TABLE || entry->value.table->origin != IMPLIED) {
        return defined_before(parser, part, entry);
    }
    entry->value.table->origin = BY_HEADER;
    entry->line = entry->value.line = part->place.line;
    entry->column = entry->value.column = part->place.column;
    parser->table = entry->value.table;
    return VYRE_OK;
}

/* Appends an empty table to an array; false without memory. The space doubles whenever the count is
 * a power of two. */
static bool append_table(vyre_toml_parser *parser, vyre_toml_array *array, vyre_toml_place place) {
    size_t count = array->count;
    vyre_toml_value *items = (vyre_toml_value *)array->items;
    if (count == 0 || (count >= FIRST_ITEMS && (count & (count - 1)) == 0)) {
        size_t room = count ? count * 2 : FIRST_ITEMS;
        items = vyre_arena_alloc(&parser->document->arena, room * sizeof *items);
        if (!items) {
            return false;
        }
        if (count) {
            memcpy(items, array->items, count * sizeof *items);
        }
        array->items = items;
    }
    vyre_toml_table *table = vyre_toml_add_table(parser->document);
    if (!table) {
        return false;
    }
    table->origin = BY_HEADER;
    items[count] = (vyre_toml_value){
        .type = VYRE_TOML_TABLE, .line = place.line, .column = place.column, .table = table};
    array->count = count + 1;
    return true;
}

/* [[array]] */
static vyre_status open_item(vyre_toml_parser *parser, vyre_toml_table *in, const key_part *part) {
    vyre_toml_entry *entry = vyre_toml_find_entry(in, part->name);
    if (!entry) {
        VYRE_TRY(add_entry(in, part, &entry));
        entry->value.type = VYRE_TOML_ARRAY;
    } else if (entry->value.type != VYRE_TOML_ARRAY || !entry->value.array.count ||
               entry->value.array.items[0].type != VYRE_TOML_TABLE ||
               entry->value.array.items[0].table->origin == INLINE) {
        return defined_before(parser, part, entry);
    }
    vyre_toml_array *array = &entry->value.array;
    if (!append_table(parser, array, part->place)) {
        return vyre_toml_no_memory();
    }
    parser->table = array->items[array->count - 1].table;
    return VYRE_OK;
}

static vyre_status parse_header(vyre_toml_parser *parser) {
    parser->at++;
    bool is_item = take_char(parser, '[');
    VYRE_TRY(parse_key(parser));
    if (!take_char(parser, ']') || (is_item && !take_char(parser, ']'))) {
        return vyre_toml_unexpected(parser, "close the header on its line",
                                    is_item ? "`]]` after the name" : "`]` after the name");
    }
    const key_part *last = &parser->parts[parser->part_count - 1];
    vyre_toml_table *in = NULL;
    VYRE_TRY(enter_header(parser, &in, &parser->table_depth));
    parser->table_depth += is_item ? 2 : 1;
    if (parser->table_depth > VYRE_TOML_MAX_DEPTH) {
        return too_deep(parser, last->place);
    }
    return is_item ? open_item(parser, in, last) : open_table(parser, in, last);
}

static vyre_status parse_value(vyre_toml_parser *parser, uint32_t depth, vyre_toml_value *out);

/* key = value. `depth` is that of `table`. */
static vyre_status parse_pair(vyre_toml_parser *parser, vyre_toml_table *table, uint32_t depth) {
    VYRE_TRY(parse_key(parser));
    if (!take_char(parser, '=')) {
        return vyre_toml_unexpected(parser, "write key = value", "`=` after the key");
    }
    const key_part *part = parser->parts;
    for (uint32_t i = 0; i + 1 < parser->part_count; i++, part++) {
        vyre_toml_entry *entry;
        if (++depth > VYRE_TOML_MAX_DEPTH) {
            return too_deep(parser, part->place);
        }
        VYRE_TRY(find_table_entry(parser, table, part, BY_KEYS, &entry));
        if (entry->value.type != VYRE_TOML_TABLE ||
            (entry->value.table->origin != IMPLIED && entry->value.table->origin != BY_KEYS)) {
            return defined_before(parser, part, entry);
        }
        table = entry->value.table;
        table->origin = BY_KEYS;
    }
    vyre_toml_entry *entry = vyre_toml_find_entry(table, part->name);
    if (entry) {
        return defined_before(parser, part, entry);
    }
    VYRE_TRY(add_entry(table, part, &entry));
    skip_blanks(parser);
    return parse_value(parser, depth, &entry->value);
}

static vyre_status parse_inline_table(vyre_toml_parser *parser, uint32_t depth,
                                      vyre_toml_value *out) {
    vyre_toml_table *table = vyre_toml_add_table(parser->document);
    if (!table) {
        return vyre_toml_no_memory();
    }
    parser->at++;
    for (;;) {
        VYRE_TRY(skip_space(parser));
        if (take_char(parser, '}')) {
            break;
        }
        VYRE_TRY(parse_pair(parser, table, depth));
        VYRE_TRY(skip_space(parser));
        if (!take_char(parser, ',') && !vyre_toml_at_char(parser, '}')) {
            return vyre_toml_unexpected(parser, "separate keys by commas and close the table",
                                        "`,` or `}` in the inline table");
        }
    }
    table->origin = INLINE;
    out->type = VYRE_TOML_TABLE;
    out->table = table;
    return VYRE_OK;
}

static vyre_status parse_array(vyre_toml_parser *parser, uint32_t depth, vyre_toml_value *out) {
    size_t first = parser->pending.count;
    parser->at++;
    for (;;) {
        vyre_toml_value item;
        VYRE_TRY(skip_space(parser));
        if (take_char(parser, ']')) {
            break;
        }
        VYRE_TRY(parse_value(parser, depth, &item));
        if (!vyre_vec_push(&parser->pending, item)) {
            return vyre_toml_no_memory();
        }
        VYRE_TRY(skip_space(parser));
        if (!take_char(parser, ',') && !vyre_toml_at_char(parser, ']')) {
            return vyre_toml_unexpected(parser, "separate items by commas and close the array",
                                        "`,` or `]` in the array");
        }
    }
    size_t count = parser->pending.count - first;
    vyre_toml_value *items = NULL;
    if (count) {
        items = vyre_arena_alloc(&parser->document->arena, count * sizeof *items);
        if (!items) {
            return vyre_toml_no_memory();
        }
        memcpy(items, parser->pending.items + first, count * sizeof *items);
    }
    parser->pending.count = first;
    out->type = VYRE_TOML_ARRAY;
    out->array = (vyre_toml_array){items, count};
    return VYRE_OK;
}

static bool take_word(vyre_toml_parser *parser, const char *word) {
    size_t size = strlen(word), left = (size_t)(parser->end - parser->at);
    if (left < size || memcmp(parser->at, word, size) != 0 ||
        (left > size && is_bare(parser->at[size]))) {
        return false;
    }
    parser->at += size;
    return true;
}

static vyre_status parse_value(vyre_toml_parser *parser, uint32_t depth, vyre_toml_value *out) {
    vyre_toml_place place = vyre_toml_here(parser);
    int c = parser->at < parser->end ? *parser->at : '\n';
    *out = (vyre_toml_value){.line = place.line, .column = place.column};
    if (c == '[' || c == '{') {
        if (depth == VYRE_TOML_MAX_DEPTH) {
            return too_deep(parser, place);
        }
        return c == '[' ? parse_array(parser, depth + 1, out)
                        : parse_inline_table(parser, depth + 1, out);
    }
    if (c == '"' || c == '\'') {
        out->type = VYRE_TOML_STRING;
        return vyre_toml_parse_string(parser, &out->string);
    }
    if ((c >= '0' && c <= '9') || c == '+' || c == '-') {
        return vyre_toml_parse_number(parser, out);
    }
    if (take_word(parser, "true") || take_word(parser, "false")) {
        out->type = VYRE_TOML_BOOL;
        out->boolean = c == 't';
        return VYRE_OK;
    }
    if (take_word(parser, "inf") || take_word(parser, "nan")) {
        out->type = VYRE_TOML_FLOAT;
        out->number = c == 'i' ? INFINITY : NAN;
        return VYRE_OK;
    }
    return vyre_toml_unexpected(
        parser,
        "write a number, true, false, a date, an array or an inline table; put text in quotes",
        "a value");
}

static vyre_status parse_document(vyre_toml_parser *parser) {
    VYRE_TRY(skip_space(parser));
    while (parser->at < parser->end) {
        VYRE_TRY(vyre_toml_at_char(parser, '[')
                     ? parse_header(parser)
                     : parse_pair(parser, parser->table, parser->table_depth));
        VYRE_TRY(parse_line_end(parser));
        VYRE_TRY(skip_space(parser));
    }
    return VYRE_OK;
}

/* Everything behind relies on valid UTF-8. */
static vyre_status check_encoding(const vyre_toml_parser *parser) {
    const char *data = parser->at;
    size_t size = (size_t)(parser->end - data);
    size_t valid = vyre_utf8_check(data, size);
    if (valid == size) {
        return VYRE_OK;
    }
    vyre_toml_place place = {1, (uint32_t)valid + 1};
    for (size_t i = 0; i < valid; i++) {
        if (data[i] == '\n') {
            place.line++;
            place.column = (uint32_t)(valid - i);
        }
    }
    return vyre_toml_fail(parser, place, "save the file as UTF-8",
                          "the byte 0x%02x is not part of valid UTF-8", (unsigned char)data[valid]);
}

vyre_status vyre_toml_read(const char *file, const char *data, size_t size,
                           vyre_toml **out_document) {
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    *out_document = NULL;
    if (size > VYRE_TOML_MAX_BYTES) {
        return vyre_status_make(VYRE_STATUS_LIMIT, "use a smaller file, or split this one",
                                "%s has %zu bytes, and at most %d are allowed", file, size,
                                VYRE_TOML_MAX_BYTES);
    }
    vyre_toml *document = vyre_alloc_zeroed(1, sizeof *document);
    if (!document) {
        return vyre_toml_no_memory();
    }
    vyre_toml_parser parser = {
        .at = data, .end = data + size, .line_start = data, .line = 1, .document = document};
    vyre_status status = VYRE_OK;
    document->file = vyre_arena_copy(&document->arena, file, strlen(file));
    parser.table = vyre_toml_add_table(document);
    if (!document->file || !parser.table) {
        status = vyre_toml_no_memory();
        goto done;
    }
    parser.table->origin = BY_HEADER;
    document->root =
        (vyre_toml_value){.type = VYRE_TOML_TABLE, .line = 1, .column = 1, .table = parser.table};
    if (size >= 3 && memcmp(data, byte_order_mark, 3) == 0) {
        parser.at = parser.line_start = data + 3;
    }
    status = check_encoding(&parser);
    status = status ? status : parse_document(&parser);
done:
    vyre_vec_free(&parser.pending);
    vyre_strbuf_free(&parser.buffer);
    if (status) {
        vyre_toml_free(document);
        return status;
    }
    *out_document = document;
    return VYRE_OK;
}
