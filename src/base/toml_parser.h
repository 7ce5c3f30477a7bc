/* The reader's inside: what toml_read.c (keys, tables, arrays) and toml_scalar.c (strings, numbers,
 * dates) share, and the storage of a document. */
#ifndef VYRE_BASE_TOML_PARSER_H
#define VYRE_BASE_TOML_PARSER_H

#include "base/arena.h"
#include "base/map.h"
#include "base/toml.h"
#include "base/vec.h"

/* All keys of all tables are in one index, found by the table's id and the key. */
struct vyre_toml {
    vyre_arena arena;
    vyre_map index;
    VYRE_VEC(vyre_toml_entry *) entries;
    char *file;
    vyre_toml_value root;
    uint32_t table_count;
};

/* NULL without memory. */
vyre_toml_table *vyre_toml_add_table(vyre_toml *document);
vyre_toml_entry *vyre_toml_add_entry(vyre_toml_table *table, vyre_str key);

/* NULL if there is none. */
vyre_toml_entry *vyre_toml_find_entry(const vyre_toml_table *table, vyre_str key);

typedef struct vyre_toml_place {
    uint32_t line, column;
} vyre_toml_place;

typedef struct vyre_toml_key_part {
    vyre_str name;
    vyre_toml_place place;
} vyre_toml_key_part;

typedef struct vyre_toml_parser {
    const char *at, *end;   /* what is still to be read, valid UTF-8 */
    const char *line_start; /* of the line that `at` is in */
    uint32_t line;
    vyre_toml *document;
    vyre_toml_table *table; /* of the last header */
    uint32_t table_depth;
    vyre_strbuf buffer;                /* of the string that is being read */
    VYRE_VEC(vyre_toml_value) pending; /* items of the arrays that are open */
    uint32_t part_count;               /* of the key that was read last */
    vyre_toml_key_part parts[VYRE_TOML_MAX_DEPTH];
} vyre_toml_parser;

vyre_toml_place vyre_toml_here(const vyre_toml_parser *parser);

static inline bool vyre_toml_at_char(const vyre_toml_parser *parser, char c) {
    return parser->at < parser->end && *parser->at == c;
}

/* An error at a place, and one at the next character that appends what was found there. */
vyre_status vyre_toml_fail(const vyre_toml_parser *parser, vyre_toml_place place, const char *fix,
                           const char *format, ...) VYRE_PRINTF(4, 5);
vyre_status vyre_toml_unexpected(const vyre_toml_parser *parser, const char *fix,
                                 const char *expected);
vyre_status vyre_toml_no_memory(void);

/* The line end at `at`: 1 for "\n", 2 for "\r\n", else 0. */
size_t vyre_toml_newline_size(const vyre_toml_parser *parser);
void vyre_toml_take_newline(vyre_toml_parser *parser, size_t size);

/* Whether the character may not stand in comments and strings. */
bool vyre_toml_is_control(char c);

/* With `at` on the first character; behind the last one afterwards. */
vyre_status vyre_toml_parse_string(vyre_toml_parser *parser, vyre_str *out_string);
vyre_status vyre_toml_parse_line_string(vyre_toml_parser *parser, vyre_str *out_string);
vyre_status vyre_toml_parse_number(vyre_toml_parser *parser, vyre_toml_value *out_value);

#endif
