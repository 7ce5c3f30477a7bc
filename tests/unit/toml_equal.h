/* Whether two TOML values are equal: tables whatever the order of their keys, floats by their bits
 * but for NaN, which is one value. */
#ifndef VYRE_TESTS_TOML_EQUAL_H
#define VYRE_TESTS_TOML_EQUAL_H

#include <string.h>

#include "base/toml.h"
#include "base/toml_parser.h"

static inline bool toml_str_equal(vyre_str a, vyre_str b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool toml_time_equal(vyre_toml_time a, vyre_toml_time b) {
    return a.nanosecond == b.nanosecond && a.year == b.year && a.month == b.month &&
           a.day == b.day && a.hour == b.hour && a.minute == b.minute && a.second == b.second &&
           a.offset_minutes == b.offset_minutes;
}

static inline bool toml_equal(const vyre_toml_value *a, const vyre_toml_value *b) {
    if (a->type != b->type) {
        return false;
    }
    switch (a->type) {
    case VYRE_TOML_STRING: return toml_str_equal(a->string, b->string);
    case VYRE_TOML_INTEGER: return a->integer == b->integer;
    case VYRE_TOML_FLOAT:
        return (a->number != a->number && b->number != b->number) ||
               memcmp(&a->number, &b->number, sizeof a->number) == 0;
    case VYRE_TOML_BOOL: return a->boolean == b->boolean;
    case VYRE_TOML_OFFSET_DATE_TIME:
    case VYRE_TOML_LOCAL_DATE_TIME:
    case VYRE_TOML_LOCAL_DATE:
    case VYRE_TOML_LOCAL_TIME: return toml_time_equal(a->time, b->time);
    case VYRE_TOML_ARRAY:
        if (a->array.count != b->array.count) {
            return false;
        }
        for (size_t i = 0; i < a->array.count; i++) {
            if (!toml_equal(&a->array.items[i], &b->array.items[i])) {
                return false;
            }
        }
        return true;
    case VYRE_TOML_TABLE:
        if (a->table->count != b->table->count) {
            return false;
        }
        for (const vyre_toml_entry *entry = a->table->first; entry; entry = entry->next) {
            const vyre_toml_entry *other = vyre_toml_find_entry(b->table, entry->key);
            if (!other || !toml_equal(&entry->value, &other->value)) {
                return false;
            }
        }
        return true;
    }
    return false;
}

/* Appends all keys of a document, each with its value on one line. */
static inline void toml_write_all(vyre_strbuf *text, const vyre_toml *document) {
    vyre_toml_writer writer = {.text = text};
    const vyre_toml_table *table = vyre_toml_root(document)->table;
    for (const vyre_toml_entry *entry = table->first; entry; entry = entry->next) {
        vyre_toml_write_key(&writer, entry->key);
        vyre_toml_write_value(&writer, &entry->value);
    }
}

#endif
