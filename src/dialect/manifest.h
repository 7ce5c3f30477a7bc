/* What reading a manifest is made of. */
#ifndef VYRE_DIALECT_MANIFEST_H
#define VYRE_DIALECT_MANIFEST_H

#include "base/toml.h"
#include "dialect/package.h"

/* Reading goes on behind a mistake; `status` ends it. */
typedef struct manifest_reader {
    vyre_package *package;
    const vyre_package_file *file;
    vyre_status status;
} manifest_reader;

/* Where a value is written. */
vyre_package_place manifest_place(const vyre_toml_value *value);

/* Takes over a mistake, which gets its place unless it has one. */
void manifest_add(manifest_reader *r, vyre_package_place place, vyre_status mistake);

/* A copy that lives as long as the package; "" without memory, which ends the reading. */
const char *manifest_keep(manifest_reader *r, vyre_str text);

/* Zeroed memory for one more than `count`; NULL without, which ends the reading. */
void *manifest_take(manifest_reader *r, size_t count, size_t size);

/* Tells of a word that means nothing in its place; `names` ends with NULL. */
vyre_status manifest_unknown(const char *what, vyre_str word, const char *const *names);

/* Tells of keys that the table cannot have; `known` ends with NULL. */
void manifest_check_keys(manifest_reader *r, const vyre_toml_value *table, const char *what,
                         const char *const *known);

/* The text of a key, NULL if it is missing or wrong, which is told; and a copy of it. */
const vyre_toml_value *manifest_find_text(manifest_reader *r, const vyre_toml_value *table,
                                          const char *key, bool is_needed);
const char *manifest_text(manifest_reader *r, const vyre_toml_value *table, const char *key,
                          bool is_needed);

/* The array of a key, NULL if it is missing or wrong, which is told. Its items have the type. */
const vyre_toml_value *manifest_find_array(manifest_reader *r, const vyre_toml_value *table,
                                           const char *key, vyre_toml_type type);

/* How many bytes of a name of the language there are: a letter or _, then digits, too. */
size_t manifest_name_size(const char *text);
bool manifest_is_name(const char *text);

/* Names with points between them, of which the first is the dialect's. */
bool manifest_is_id(const char *id, const char *dialect);

bool manifest_is_version(const char *text);

#endif
