/* JSON writer onto a text buffer, indented by two spaces.
 *
 *     vyre_json json = {.text = &text};
 *     vyre_json_object(&json);
 *     vyre_json_key(&json, "name");
 *     vyre_json_string(&json, "saxpy");
 *     vyre_json_object_end(&json);
 *
 * Commas, line ends and escapes come by themselves. Running out of memory shows in the buffer's
 * `failed`. */
#ifndef VYRE_BASE_JSON_H
#define VYRE_BASE_JSON_H

#include "base/strbuf.h"

typedef struct vyre_json {
    vyre_strbuf *text;
    size_t depth;
    bool has_items; /* in the object or array that is open */
    bool after_key;
} vyre_json;

void vyre_json_object(vyre_json *json);
void vyre_json_object_end(vyre_json *json);
void vyre_json_array(vyre_json *json);
void vyre_json_array_end(vyre_json *json);

/* Before each value of an object. */
void vyre_json_key(vyre_json *json, const char *key);

/* What is not UTF-8 becomes U+FFFD. */
void vyre_json_string(vyre_json *json, const char *string);
void vyre_json_str(vyre_json *json, vyre_str string);

void vyre_json_u64(vyre_json *json, uint64_t number);
void vyre_json_bool(vyre_json *json, bool value);
void vyre_json_null(vyre_json *json);

/* With the fewest digits that read back as the same number; null for NaN and infinities, which JSON
 * cannot say. */
void vyre_json_f64(vyre_json *json, double number);

/* A value that another writer wrote; its lines are indented to fit in here. */
void vyre_json_paste(vyre_json *json, vyre_str value);

/* Members of an object: the key and the value in one call. A string that is NULL becomes null. */
void vyre_json_add_string(vyre_json *json, const char *key, const char *string);
void vyre_json_add_u64(vyre_json *json, const char *key, uint64_t number);
void vyre_json_add_f64(vyre_json *json, const char *key, double number);
void vyre_json_add_bool(vyre_json *json, const char *key, bool value);
/* Opens the value, which the matching _end closes. */
void vyre_json_add_object(vyre_json *json, const char *key);
void vyre_json_add_array(vyre_json *json, const char *key);
/* Frees the buffer; one that ran out of memory fails the writer's, too. */
void vyre_json_add_strbuf(vyre_json *json, const char *key, vyre_strbuf *string);

#endif
