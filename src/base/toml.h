/* TOML 1.1: a strict reader into a tree, and a writer.
 *
 *     vyre_toml *document;
 *     status = vyre_toml_read("vyre.toml", data, size, &document);
 *     const vyre_toml_value *name;
 *     status = vyre_toml_get(vyre_toml_root(document), "name", VYRE_TOML_STRING, &name);
 *     use(name->string);
 *     vyre_toml_free(document);
 *
 * A document never changes after it was read; any number of threads may look at it. All pointers
 * into it live as long as it does. Errors say file, line and column; columns count bytes. */
#ifndef VYRE_BASE_TOML_H
#define VYRE_BASE_TOML_H

#include <vyre/status.h>

#include "base/strbuf.h"

enum {
    VYRE_TOML_MAX_BYTES = 16777216, /* of a document */
    VYRE_TOML_MAX_DEPTH = 100       /* arrays and tables in one another */
};

#define VYRE_TOML_TYPES(X)                                                                         \
    X(STRING, "a string")                                                                          \
    X(INTEGER, "an integer")                                                                       \
    X(FLOAT, "a float")                                                                            \
    X(BOOL, "a boolean")                                                                           \
    X(OFFSET_DATE_TIME, "a date and time with offset")                                             \
    X(LOCAL_DATE_TIME, "a date and time")                                                          \
    X(LOCAL_DATE, "a date")                                                                        \
    X(LOCAL_TIME, "a time")                                                                        \
    X(ARRAY, "an array")                                                                           \
    X(TABLE, "a table")

typedef enum vyre_toml_type {
#define VYRE_TOML_ENUM(name, text) VYRE_TOML_##name,
    VYRE_TOML_TYPES(VYRE_TOML_ENUM)
#undef VYRE_TOML_ENUM
} vyre_toml_type;

/* Parts that the type does not have are 0. */
typedef struct vyre_toml_time {
    uint32_t nanosecond;
    uint16_t year;
    int16_t offset_minutes; /* of local time from UTC */
    uint8_t month, day, hour, minute, second;
} vyre_toml_time;

typedef struct vyre_toml vyre_toml;
typedef struct vyre_toml_value vyre_toml_value;
typedef struct vyre_toml_entry vyre_toml_entry;

typedef struct vyre_toml_array {
    const vyre_toml_value *items;
    size_t count;
} vyre_toml_array;

typedef struct vyre_toml_table {
    vyre_toml *document;
    vyre_toml_entry *first, *last; /* in the order in which keys first appear */
    uint32_t count;
    uint32_t id, origin; /* the reader's */
} vyre_toml_table;

struct vyre_toml_value {
    vyre_toml_type type;
    uint32_t line, column; /* of its first character, or of the header that makes a table */
    union {
        vyre_str string; /* valid UTF-8; a NUL follows, and some may be inside */
        int64_t integer;
        double number;
        bool boolean;
        vyre_toml_time time;
        vyre_toml_array array;
        vyre_toml_table *table;
    };
};

struct vyre_toml_entry {
    vyre_toml_entry *next;
    const vyre_toml_table *table; /* the one it stands in */
    vyre_str key;                 /* a NUL follows */
    uint32_t line, column;        /* of the key */
    vyre_toml_value value;
};

/* `file` is the name for errors. The data is not kept. */
VYRE_MUST_USE vyre_status vyre_toml_read(const char *file, const char *data, size_t size,
                                         vyre_toml **out_document);
void vyre_toml_free(vyre_toml *document); /* NULL is allowed */

const vyre_toml_value *vyre_toml_root(const vyre_toml *document); /* a table */

/* "a string" and so on. */
const char *vyre_toml_type_name(vyre_toml_type type);

/* Of a value that is a table: NULL if it has no such key. */
const vyre_toml_value *vyre_toml_find(const vyre_toml_value *table, const char *key);

/* The same for a key that must be there with a value of that type; an error names the place. */
VYRE_MUST_USE vyre_status vyre_toml_get(const vyre_toml_value *table, const char *key,
                                        vyre_toml_type type, const vyre_toml_value **out_value);

/* For a key that may be missing: NULL then. */
VYRE_MUST_USE vyre_status vyre_toml_get_optional(const vyre_toml_value *table, const char *key,
                                                 vyre_toml_type type,
                                                 const vyre_toml_value **out_value);

/* An error where the value, of an array for example, has another type. */
VYRE_MUST_USE vyre_status vyre_toml_expect(const vyre_toml *document, const vyre_toml_value *value,
                                           vyre_toml_type type);

/* Gives an error about the value its place; see vyre_status_at. */
VYRE_MUST_USE vyre_status vyre_toml_at(vyre_status status, const vyre_toml *document,
                                       const vyre_toml_value *value);

/* Writing by calls. A key comes before each value but in arrays; strings must be UTF-8.
 *
 *     vyre_toml_writer writer = {.text = &text};
 *     vyre_toml_write_header(&writer, (vyre_str[]){routes, op}, 2);     [routes."hash.fnv1a32"]
 *     vyre_toml_write_key(&writer, backend);                            backend = "cuda"
 *     vyre_toml_write_string(&writer, cuda);
 *
 * Keys of a table come directly behind its header, and long arrays are broken into lines. */
typedef struct vyre_toml_writer {
    vyre_strbuf *text;
    size_t line_start;
    uint32_t depth; /* arrays and inline tables that are open */
    bool has_items; /* in the innermost of them */
    bool after_key;
} vyre_toml_writer;

void vyre_toml_write_header(vyre_toml_writer *writer, const vyre_str *path, size_t count);
void vyre_toml_write_item_header(vyre_toml_writer *writer, const vyre_str *path, size_t count);
void vyre_toml_write_key(vyre_toml_writer *writer, vyre_str key);
void vyre_toml_write_string(vyre_toml_writer *writer, vyre_str string);
void vyre_toml_write_integer(vyre_toml_writer *writer, int64_t number);
void vyre_toml_write_float(vyre_toml_writer *writer, double number);
void vyre_toml_write_bool(vyre_toml_writer *writer, bool value);
void vyre_toml_write_array(vyre_toml_writer *writer);
void vyre_toml_write_array_end(vyre_toml_writer *writer);
void vyre_toml_write_value(vyre_toml_writer *writer, const vyre_toml_value *value);

#endif
