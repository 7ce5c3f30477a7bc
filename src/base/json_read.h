/* JSON reader into a tree (RFC 8259).
 *
 *     vyre_json_document *document;
 *     status = vyre_json_read("bench.json", data, size, &document);
 *     const vyre_json_value *name = vyre_json_find(vyre_json_root(document), "name");
 *     if (name && name->type == VYRE_JSON_STRING) { use(name->string); }
 *     vyre_json_free(document);
 *
 * A document never changes after it was read; all pointers into it live as long as it does. Errors
 * say file, line and column; columns count bytes. Of a key that comes twice the last one counts. */
#ifndef VYRE_BASE_JSON_READ_H
#define VYRE_BASE_JSON_READ_H

#include <vyre/status.h>

#include "base/strbuf.h"

enum {
    VYRE_JSON_MAX_BYTES = 1 << 28, /* of a document */
    VYRE_JSON_MAX_DEPTH = 64       /* arrays and objects in one another */
};

typedef enum vyre_json_type {
    VYRE_JSON_NULL,
    VYRE_JSON_BOOL,
    VYRE_JSON_NUMBER,
    VYRE_JSON_STRING,
    VYRE_JSON_ARRAY,
    VYRE_JSON_OBJECT
} vyre_json_type;

typedef struct vyre_json_value vyre_json_value;
struct vyre_json_value {
    vyre_json_type type;
    bool boolean;
    double number;                /* rounded once; infinite where it is too large */
    vyre_str string;              /* valid UTF-8; a NUL follows, and some may be inside */
    vyre_str key;                 /* of a member of an object, likewise */
    const vyre_json_value *first; /* of an array's items, or an object's members */
    const vyre_json_value *next;  /* in the same array or object */
    size_t count;                 /* of items or members */
};

typedef struct vyre_json_document vyre_json_document;

/* `file` is the name for errors. The data is not kept. */
VYRE_MUST_USE vyre_status vyre_json_read(const char *file, const char *data, size_t size,
                                         vyre_json_document **out_document);
void vyre_json_free(vyre_json_document *document); /* NULL is allowed */

const vyre_json_value *vyre_json_root(const vyre_json_document *document);

/* NULL where the value is no object, or has no such member. */
const vyre_json_value *vyre_json_find(const vyre_json_value *object, const char *key);

#endif
