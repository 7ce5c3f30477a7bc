#include "base/json_read.h"
#include "base/status.h"

#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/number.h"
#include "base/utf8.h"

struct vyre_json_document {
    vyre_arena arena;
    vyre_json_value root;
};

typedef struct reader {
    const char *file, *start, *at, *end;
    vyre_arena *arena;
    vyre_strbuf text; /* the string that is being read */
    uint32_t depth;
} reader;

/* Line and column are only counted for those who ask. */
static void place_of(const reader *r, const char *at, uint32_t *line, uint32_t *column) {
    const char *line_start = r->start;
    *line = 1;
    for (const char *c = r->start; c < at; c++) {
        if (*c == '\n') {
            ++*line;
            line_start = c + 1;
        }
    }
    *column = (uint32_t)(at - line_start) + 1;
}

static vyre_status refuse(const reader *r, const char *what) {
    uint32_t line, column;
    place_of(r, r->at, &line, &column);
    return vyre_status_at(vyre_status_make(VYRE_STATUS_MALFORMED, "give a JSON file", "%s", what),
                          r->file, line, column);
}

static vyre_status no_memory(const reader *r) {
    return vyre_no_memory("to read %s", r->file);
}

static void skip_space(reader *r) {
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at) {
        r->at++;
    }
}

static bool next_is(const reader *r, char c) {
    return r->at < r->end && *r->at == c;
}

/* Four hexadecimal digits. */
static bool read_unit(reader *r, uint32_t *out) {
    *out = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        unsigned digit = r->at < r->end ? vyre_digit_value(*r->at) : 16;
        if (digit >= 16) {
            return false;
        }
        *out = *out << 4 | digit;
    }
    return true;
}

/* Behind `\u`: one unit, or two that make up a character. */
static bool read_character(reader *r) {
    uint32_t c, low;
    char bytes[4];
    if (!read_unit(r, &c)) {
        return false;
    }
    if (c >= 0xd800 && c < 0xdc00) {
        if (r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u') {
            return false;
        }
        r->at += 2;
        if (!read_unit(r, &low) || low < 0xdc00 || low > 0xdfff) {
            return false;
        }
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    size_t size = vyre_utf8_write(c, bytes);
    vyre_strbuf_add(&r->text, bytes, size);
    return size != 0;
}

static vyre_status read_string(reader *r, vyre_str *out) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    vyre_strbuf_cut(&r->text, 0);
    r->at++;
    while (!next_is(r, '"')) {
        size_t size = vyre_utf8_size(r->at, (size_t)(r->end - r->at));
        if (r->at == r->end) {
            return refuse(r, "a string does not end");
        }
        if (!size || (unsigned char)*r->at < 0x20) {
            return refuse(r, "a string contains a byte that JSON does not allow");
        }
        if (*r->at != '\\') {
            vyre_strbuf_add(&r->text, r->at, size);
            r->at += size;
            continue;
        }
        r->at++;
        const char *letter = r->at < r->end && *r->at ? strchr(letters, *r->at) : NULL;
        if (letter) {
            vyre_strbuf_putc(&r->text, meanings[letter - letters]);
            r->at++;
        } else if (next_is(r, 'u')) {
            r->at++;
            if (!read_character(r)) {
                return refuse(r, "a `\\u` in a string is not a character");
            }
        } else {
            return refuse(r, "a string contains an unknown escape");
        }
    }
    r->at++;
    char *copy = r->text.failed ? NULL : vyre_arena_copy(r->arena, r->text.data, r->text.size);
    *out = (vyre_str){copy, r->text.size};
    return copy ? VYRE_OK : no_memory(r);
}

static bool skip_digits(reader *r) {
    const char *before = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        r->at++;
    }
    return r->at > before;
}

static vyre_status read_number(reader *r, double *out) {
    const char *start = r->at;
    uint64_t bits;
    bool overflow;
    r->at += next_is(r, '-');
    bool leads = next_is(r, '0');
    const char *digits = r->at;
    bool valid = skip_digits(r) && !(leads && r->at > digits + 1);
    if (valid && next_is(r, '.')) {
        r->at++;
        valid = skip_digits(r);
    }
    if (valid && (next_is(r, 'e') || next_is(r, 'E'))) {
        r->at++;
        r->at += next_is(r, '+') || next_is(r, '-');
        valid = skip_digits(r);
    }
    if (!valid ||
        !vyre_float_parse(start, (size_t)(r->at - start), VYRE_FLOAT_F64, &bits, &overflow)) {
        return refuse(r, "a value is missing, or a number is malformed");
    }
    memcpy(out, &bits, sizeof *out);
    return VYRE_OK;
}

static bool take_word(reader *r, const char *word) {
    size_t size = strlen(word);
    bool found = (size_t)(r->end - r->at) >= size && !memcmp(r->at, word, size);
    r->at += found ? size : 0;
    return found;
}

static vyre_status read_value(reader *r, vyre_json_value *out);

/* Items or members up to the bracket that closes them. */
static vyre_status read_items(reader *r, vyre_json_value *out, char closing) {
    const vyre_json_value **slot = &out->first;
    vyre_status status = VYRE_OK;
    r->at++;
    if (++r->depth > VYRE_JSON_MAX_DEPTH) {
        return refuse(r, "arrays and objects are nested too deeply");
    }
    skip_space(r);
    bool more = !next_is(r, closing);
    while (more && !status) {
        vyre_json_value *item = vyre_arena_alloc(r->arena, sizeof *item);
        if (!item) {
            return no_memory(r);
        }
        vyre_str key = {0};
        skip_space(r);
        if (closing == '}') {
            status = next_is(r, '"') ? read_string(r, &key) : refuse(r, "a key is missing");
            skip_space(r);
            if (!status && !next_is(r, ':')) {
                status = refuse(r, "a `:` is missing after a key");
            }
            r->at += !status;
        }
        status = status ? status : read_value(r, item);
        item->key = key;
        item->next = NULL;
        *slot = item;
        slot = &item->next;
        out->count++;
        skip_space(r);
        more = !status && next_is(r, ',');
        r->at += more;
    }
    if (!status && !next_is(r, closing)) {
        status = refuse(r, closing == '}' ? "a `,` or `}` is missing" : "a `,` or `]` is missing");
    }
    r->at += !status;
    r->depth--;
    return status;
}

static vyre_status read_value(reader *r, vyre_json_value *out) {
    skip_space(r);
    *out = (vyre_json_value){0};
    if (next_is(r, '{') || next_is(r, '[')) {
        bool is_object = *r->at == '{';
        out->type = is_object ? VYRE_JSON_OBJECT : VYRE_JSON_ARRAY;
        return read_items(r, out, is_object ? '}' : ']');
    }
    if (next_is(r, '"')) {
        out->type = VYRE_JSON_STRING;
        return read_string(r, &out->string);
    }
    if (take_word(r, "null")) {
        return VYRE_OK;
    }
    out->boolean = take_word(r, "true");
    if (out->boolean || take_word(r, "false")) {
        out->type = VYRE_JSON_BOOL;
        return VYRE_OK;
    }
    out->type = VYRE_JSON_NUMBER;
    return read_number(r, &out->number);
}

vyre_status vyre_json_read(const char *file, const char *data, size_t size,
                           vyre_json_document **out_document) {
    *out_document = NULL;
    reader r = {.file = file, .start = data, .at = data, .end = data + size};
    vyre_json_document *document =
        size <= VYRE_JSON_MAX_BYTES ? vyre_alloc_zeroed(1, sizeof *document) : NULL;
    if (!document) {
        return size > VYRE_JSON_MAX_BYTES
                   ? vyre_status_make(VYRE_STATUS_LIMIT, "give a smaller file",
                                      "%s has %zu bytes, more than %d", file, size,
                                      VYRE_JSON_MAX_BYTES)
                   : no_memory(&r);
    }
    r.arena = &document->arena;
    vyre_status status = read_value(&r, &document->root);
    skip_space(&r);
    if (!status && r.at < r.end) {
        status = refuse(&r, "more text follows the value");
    }
    vyre_strbuf_free(&r.text);
    if (status) {
        vyre_json_free(document);
        return status;
    }
    *out_document = document;
    return VYRE_OK;
}

void vyre_json_free(vyre_json_document *document) {
    if (document) {
        vyre_arena_deinit(&document->arena);
        vyre_free(document);
    }
}

const vyre_json_value *vyre_json_root(const vyre_json_document *document) {
    return &document->root;
}

const vyre_json_value *vyre_json_find(const vyre_json_value *object, const char *key) {
    const vyre_json_value *found = NULL;
    if (object->type != VYRE_JSON_OBJECT) {
        return NULL;
    }
    for (const vyre_json_value *item = object->first; item; item = item->next) {
        if (vyre_str_is(item->key, key)) {
            found = item;
        }
    }
    return found;
}
