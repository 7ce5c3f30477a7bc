/* Values of a manifest, and what is wrong with them. */
#include <string.h>

#include "base/near.h"
#include "base/status.h"
#include "dialect/manifest.h"

vyre_package *vyre_package_retain(vyre_package *package) {
    package->references++;
    return package;
}

void vyre_package_forgive(vyre_package *package) {
    while (package->mistakes.count) {
        vyre_status_free(package->mistakes.items[--package->mistakes.count]);
    }
}

void vyre_package_release(vyre_package *package) {
    if (package && --package->references == 0) {
        vyre_package_unresolve(package);
        vyre_package_forgive(package);
        vyre_vec_free(&package->mistakes);
        vyre_vec_free(&package->sources);
        vyre_arena_deinit(&package->arena);
        vyre_free(package);
    }
}

vyre_status vyre_package_no_memory(const vyre_package *package) {
    return vyre_no_memory("to read %s", package->path ? package->path : "a manifest");
}

vyre_status vyre_package_mistake(vyre_package *package, vyre_package_place place,
                                 vyre_status mistake) {
    if (!mistake || vyre_status_code_of(mistake) == VYRE_STATUS_OUT_OF_MEMORY) {
        return mistake;
    }
    if (place.line) {
        mistake = vyre_status_at(mistake, package->path, place.line, place.column);
    }
    if (package->mistakes.count >= VYRE_PACKAGE_MISTAKES) {
        vyre_status_free(mistake);
        return VYRE_OK;
    }
    if (!vyre_vec_push(&package->mistakes, mistake)) {
        vyre_status_free(mistake);
        return vyre_package_no_memory(package);
    }
    return VYRE_OK;
}

void vyre_package_describe(const vyre_package *package, vyre_strbuf *text) {
    for (size_t i = 0; i < package->mistakes.count; i++) {
        vyre_strbuf_printf(text, "%s%s", i ? "\n" : "",
                           vyre_status_text(package->mistakes.items[i]));
    }
    if (package->mistakes.count >= VYRE_PACKAGE_MISTAKES) {
        vyre_strbuf_puts(text, "\nand perhaps more");
    }
}

vyre_package_place manifest_place(const vyre_toml_value *value) {
    return (vyre_package_place){value->line, value->column};
}

void manifest_add(manifest_reader *r, vyre_package_place place, vyre_status mistake) {
    if (r->status) {
        vyre_status_free(mistake);
    } else {
        r->status = vyre_package_mistake(r->package, place, mistake);
    }
}

const char *manifest_keep(manifest_reader *r, vyre_str text) {
    const char *copy = vyre_arena_copy(&r->package->arena, text.data, text.size);
    if (!copy && !r->status) {
        r->status = vyre_package_no_memory(r->package);
    }
    return copy ? copy : "";
}

void *manifest_take(manifest_reader *r, size_t count, size_t size) {
    void *memory = vyre_arena_alloc(&r->package->arena, (count + 1) * size);
    if (!memory && !r->status) {
        r->status = vyre_package_no_memory(r->package);
    }
    return memory ? memset(memory, 0, (count + 1) * size) : NULL;
}

vyre_status manifest_unknown(const char *what, vyre_str word, const char *const *names) {
    vyre_strbuf fix = {0};
    vyre_near near;
    vyre_near_init(&near, word);
    vyre_strbuf_puts(&fix, "write one of ");
    for (size_t i = 0; names[i]; i++) {
        vyre_strbuf_printf(&fix, "%s%s", i ? ", " : "", names[i]);
        vyre_near_add(&near, vyre_str_of(names[i]));
    }
    vyre_near_print(&near, &fix, "; perhaps ");
    vyre_status status =
        vyre_status_make(VYRE_STATUS_MALFORMED, vyre_strbuf_string(&fix), "there is no %s \"%.*s\"",
                         what, (int)word.size, word.data);
    vyre_strbuf_free(&fix);
    return status;
}

void manifest_check_keys(manifest_reader *r, const vyre_toml_value *table, const char *what,
                         const char *const *known) {
    for (const vyre_toml_entry *entry = table->table->first; entry; entry = entry->next) {
        size_t i = 0;
        while (known[i] && strcmp(known[i], entry->key.data) != 0) {
            i++;
        }
        if (!known[i]) {
            manifest_add(r, (vyre_package_place){entry->line, entry->column},
                         manifest_unknown(what, entry->key, known));
        }
    }
}

/* Values */

const vyre_toml_value *manifest_find_text(manifest_reader *r, const vyre_toml_value *table,
                                          const char *key, bool is_needed) {
    const vyre_toml_value *value = NULL;
    vyre_status status = is_needed ? vyre_toml_get(table, key, VYRE_TOML_STRING, &value)
                                   : vyre_toml_get_optional(table, key, VYRE_TOML_STRING, &value);
    if (status) {
        manifest_add(r, (vyre_package_place){0}, status);
        return NULL;
    }
    if (value && (!value->string.size || strlen(value->string.data) != value->string.size)) {
        manifest_add(r, manifest_place(value),
                     vyre_status_make(VYRE_STATUS_MALFORMED, "write a text that is not empty",
                                      "`%s` is %s", key,
                                      value->string.size ? "interrupted by a NUL" : "empty"));
        return NULL;
    }
    return value;
}

const char *manifest_text(manifest_reader *r, const vyre_toml_value *table, const char *key,
                          bool is_needed) {
    const vyre_toml_value *value = manifest_find_text(r, table, key, is_needed);
    return value ? manifest_keep(r, value->string) : NULL;
}

const vyre_toml_value *manifest_find_array(manifest_reader *r, const vyre_toml_value *table,
                                           const char *key, vyre_toml_type type) {
    const vyre_toml_value *value = NULL;
    vyre_status status = vyre_toml_get_optional(table, key, VYRE_TOML_ARRAY, &value);
    if (status) {
        manifest_add(r, (vyre_package_place){0}, status);
        return NULL;
    }
    for (size_t i = 0; value && i < value->array.count; i++) {
        status = vyre_toml_expect(table->table->document, &value->array.items[i], type);
        if (status) {
            manifest_add(r, (vyre_package_place){0}, status);
            return NULL;
        }
    }
    return value;
}

size_t manifest_name_size(const char *text) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return *text >= '0' && *text <= '9' ? 0 : strspn(text, letters);
}

bool manifest_is_name(const char *text) {
    size_t size = manifest_name_size(text);
    return size && !text[size];
}

bool manifest_is_id(const char *id, const char *dialect) {
    size_t size = strlen(dialect), parts = 0;
    if (strncmp(id, dialect, size) != 0 || id[size] != '.') {
        return false;
    }
    for (const char *at = id;; parts++) {
        size_t part = manifest_name_size(at);
        if (!part) {
            return false;
        }
        at += part;
        if (*at != '.') {
            return !*at && parts;
        }
        at++;
    }
}

bool manifest_is_version(const char *text) {
    const char *at = text;
    for (int part = 0; part < 3; part++) {
        size_t digits = strspn(at, "0123456789");
        if (!digits || digits > 9 || at[digits] != (part < 2 ? '.' : '\0')) {
            return false;
        }
        at += digits + 1;
    }
    return true;
}

int vyre_version_compare(const char *left, const char *right) {
    while (*left || *right) {
        /* Without zeros in front the longer number is the larger one. */
        left += strspn(left, "0");
        right += strspn(right, "0");
        size_t a = strspn(left, "0123456789"), b = strspn(right, "0123456789");
        int order = a != b ? (a > b ? 1 : -1) : memcmp(left, right, a);
        if (order) {
            return order < 0 ? -1 : 1;
        }
        left += a + (left[a] == '.');
        right += b + (right[b] == '.');
        if ((*left && !strchr("0123456789", *left)) || (*right && !strchr("0123456789", *right))) {
            break; /* no version */
        }
    }
    return 0;
}
