#include <string.h>

#include "base/hash.h"
#include "base/toml_parser.h"

typedef struct wanted_entry {
    const vyre_toml_table *table;
    vyre_str key;
} wanted_entry;

static uint64_t hash_entry(const vyre_toml_table *table, vyre_str key) {
    uint64_t hash = vyre_hash_key(key.data, key.size) ^ table->id * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static bool same_entry(const void *context, uint32_t value) {
    const wanted_entry *wanted = context;
    const vyre_toml_entry *entry = wanted->table->document->entries.items[value];
    return entry->table == wanted->table && entry->key.size == wanted->key.size &&
           (!entry->key.size || memcmp(entry->key.data, wanted->key.data, entry->key.size) == 0);
}

vyre_toml_table *vyre_toml_add_table(vyre_toml *document) {
    vyre_toml_table *table = vyre_arena_alloc(&document->arena, sizeof *table);
    if (table) {
        *table = (vyre_toml_table){.document = document, .id = document->table_count++};
    }
    return table;
}

vyre_toml_entry *vyre_toml_find_entry(const vyre_toml_table *table, vyre_str key) {
    wanted_entry wanted = {table, key};
    const vyre_toml *document = table->document;
    uint32_t *index = vyre_map_find(&document->index, hash_entry(table, key), same_entry, &wanted);
    return index ? document->entries.items[*index] : NULL;
}

vyre_toml_entry *vyre_toml_add_entry(vyre_toml_table *table, vyre_str key) {
    vyre_toml *document = table->document;
    vyre_toml_entry *entry = vyre_arena_alloc(&document->arena, sizeof *entry);
    char *copy = vyre_arena_copy(&document->arena, key.data, key.size);
    uint32_t index = (uint32_t)document->entries.count;
    if (!entry || !copy || !vyre_vec_push(&document->entries, entry) ||
        !vyre_map_add(&document->index, hash_entry(table, key), index)) {
        return NULL;
    }
    *entry = (vyre_toml_entry){.table = table, .key = {copy, key.size}};
    if (table->last) {
        table->last->next = entry;
    } else {
        table->first = entry;
    }
    table->last = entry;
    table->count++;
    return entry;
}

void vyre_toml_free(vyre_toml *document) {
    if (document) {
        vyre_map_free(&document->index);
        vyre_vec_free(&document->entries);
        vyre_arena_deinit(&document->arena);
        vyre_free(document);
    }
}

const vyre_toml_value *vyre_toml_root(const vyre_toml *document) {
    return &document->root;
}

const char *vyre_toml_type_name(vyre_toml_type type) {
    static const char *const names[] = {
#define NAME(name, text) [VYRE_TOML_##name] = text,
        VYRE_TOML_TYPES(NAME)
#undef NAME
    };
    return names[type];
}

vyre_status vyre_toml_at(vyre_status status, const vyre_toml *document,
                         const vyre_toml_value *value) {
    return vyre_status_at(status, document->file, value->line, value->column);
}

const vyre_toml_value *vyre_toml_find(const vyre_toml_value *table, const char *key) {
    vyre_toml_entry *entry = vyre_toml_find_entry(table->table, vyre_str_of(key));
    return entry ? &entry->value : NULL;
}

static vyre_status wrong_type(const vyre_toml *document, const vyre_toml_value *value,
                              vyre_toml_type type, const char *what, const char *key) {
    vyre_strbuf fix = {0};
    vyre_strbuf_printf(&fix, "write %s there", vyre_toml_type_name(type));
    vyre_status status = vyre_status_make(
        VYRE_STATUS_MALFORMED, fix.failed ? NULL : vyre_strbuf_string(&fix), "%s%s is %s, not %s",
        what, key, vyre_toml_type_name(value->type), vyre_toml_type_name(type));
    vyre_strbuf_free(&fix);
    return vyre_toml_at(status, document, value);
}

vyre_status vyre_toml_expect(const vyre_toml *document, const vyre_toml_value *value,
                             vyre_toml_type type) {
    return value->type == type ? VYRE_OK : wrong_type(document, value, type, "the value", "");
}

vyre_status vyre_toml_get_optional(const vyre_toml_value *table, const char *key,
                                   vyre_toml_type type, const vyre_toml_value **out_value) {
    const vyre_toml_value *value = vyre_toml_find(table, key);
    *out_value = value && value->type == type ? value : NULL;
    return value && value->type != type
               ? wrong_type(table->table->document, value, type, "the value of ", key)
               : VYRE_OK;
}

vyre_status vyre_toml_get(const vyre_toml_value *table, const char *key, vyre_toml_type type,
                          const vyre_toml_value **out_value) {
    vyre_status status = vyre_toml_get_optional(table, key, type, out_value);
    if (status || *out_value) {
        return status;
    }
    vyre_strbuf fix = {0};
    vyre_strbuf_printf(&fix, "add %s = with %s", key, vyre_toml_type_name(type));
    status = vyre_status_make(VYRE_STATUS_NOT_FOUND, fix.failed ? NULL : vyre_strbuf_string(&fix),
                              "the table has no key %s", key);
    vyre_strbuf_free(&fix);
    return vyre_toml_at(status, table->table->document, table);
}
