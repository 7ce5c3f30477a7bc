#include "values/npy.h"

#include <inttypes.h>
#include <string.h>

#include "base/status.h"

#define MAGIC "\x93NUMPY"

enum { MAGIC_BYTES = 6, ALIGNMENT = 64 };

/* X(type, byte order, kind and bytes, NumPy's name) */
#define DTYPES(X)                                                                                  \
    X(BOOL, "|", "b1", "bool") /* there are no buffers of it, but files */                         \
    X(I8, "|", "i1", "int8")                                                                       \
    X(U8, "|", "u1", "uint8")                                                                      \
    X(I16, "<", "i2", "int16")                                                                     \
    X(U16, "<", "u2", "uint16")                                                                    \
    X(I32, "<", "i4", "int32")                                                                     \
    X(U32, "<", "u4", "uint32")                                                                    \
    X(I64, "<", "i8", "int64")                                                                     \
    X(U64, "<", "u8", "uint64")                                                                    \
    X(F16, "<", "f2", "float16")                                                                   \
    X(BF16, "<", "u2", "uint16")                                                                   \
    X(F32, "<", "f4", "float32")                                                                   \
    X(F64, "<", "f8", "float64")

typedef struct dtype {
    const char *order, *code, *name;
} dtype;

static const dtype dtypes[VYRE_TYPE_COUNT] = {
#define ROW(type, order, code, name) [VYRE_TYPE_##type] = {order, code, name},
    DTYPES(ROW)
#undef ROW
};

/* What a header says: a dictionary in Python's notation. */
typedef struct header {
    vyre_str dtype;
    bool has_dtype, is_simple, has_order, is_fortran, has_shape;
    uint64_t count;
    uint32_t dimensions; /* that are larger than 1 */
    values_shape shape;
} header;

typedef struct reader {
    const char *at, *end;
} reader;

static void skip_space(reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n')) {
        r->at++;
    }
}

static bool take(reader *r, const char *word) {
    skip_space(r);
    size_t size = strlen(word);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0) {
        return false;
    }
    r->at += size;
    return true;
}

static bool take_string(reader *r, vyre_str *out) {
    skip_space(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"')) {
        return false;
    }
    const char *start = r->at + 1;
    const char *close = memchr(start, *r->at, (size_t)(r->end - start));
    if (!close) {
        return false;
    }
    *out = (vyre_str){start, (size_t)(close - start)};
    r->at = close + 1;
    return true;
}

static bool take_number(reader *r, uint64_t *out) {
    skip_space(r);
    const char *start = r->at;
    uint64_t number = 0;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*r->at - '0'), &number)) {
            return false;
        }
    }
    *out = number;
    return r->at > start && (take(r, "L") || true); /* as Python 2 wrote large ones */
}

/* Steps over a type that has fields: a list, with whatever is in it. */
static bool skip_list(reader *r) {
    int depth = 0;
    vyre_str ignored;
    do {
        skip_space(r);
        if (r->at == r->end) {
            return false;
        }
        if (*r->at == '\'' || *r->at == '"') {
            if (!take_string(r, &ignored)) {
                return false;
            }
            continue;
        }
        depth += *r->at == '[' || *r->at == '(';
        depth -= *r->at == ']' || *r->at == ')';
        r->at++;
    } while (depth > 0);
    return true;
}

static bool take_shape(reader *r, header *out) {
    out->has_shape = true;
    out->shape = (values_shape){.is_known = true};
    out->dimensions = 0;
    out->count = 1;
    if (!take(r, "(")) {
        return false;
    }
    bool overflow = false, is_empty = false;
    while (!take(r, ")")) {
        uint64_t size;
        if (!take_number(r, &size) || out->shape.rank == VALUES_RANK_MAX) {
            return false;
        }
        out->shape.sizes[out->shape.rank++] = size;
        is_empty |= size == 0;
        overflow |= size && __builtin_mul_overflow(out->count, size, &out->count);
        out->dimensions += size > 1;
        if (!take(r, ",") && (skip_space(r), r->at == r->end || *r->at != ')')) {
            return false;
        }
    }
    out->count = is_empty ? 0 : out->count;
    return is_empty || !overflow;
}

static bool take_entry(reader *r, header *out) {
    vyre_str key;
    if (!take_string(r, &key) || !take(r, ":")) {
        return false;
    }
    if (key.size == 5 && !memcmp(key.data, "descr", 5)) {
        out->has_dtype = true;
        skip_space(r);
        const char *start = r->at;
        out->is_simple = take_string(r, &out->dtype);
        bool done = out->is_simple || skip_list(r);
        out->dtype = out->is_simple ? out->dtype : (vyre_str){start, (size_t)(r->at - start)};
        return done;
    }
    if (key.size == 13 && !memcmp(key.data, "fortran_order", 13)) {
        out->has_order = true;
        out->is_fortran = take(r, "True");
        return out->is_fortran || take(r, "False");
    }
    return key.size == 5 && !memcmp(key.data, "shape", 5) && take_shape(r, out);
}

static bool parse_header(const char *data, size_t size, header *out) {
    *out = (header){0};
    reader r = {data, data + size};
    if (!take(&r, "{")) {
        return false;
    }
    while (!take(&r, "}")) {
        if (!take_entry(&r, out)) {
            return false;
        }
        if (!take(&r, ",") && (skip_space(&r), r.at == r.end || *r.at != '}')) {
            return false;
        }
    }
    skip_space(&r);
    return r.at == r.end && out->has_dtype && out->has_order && out->has_shape;
}

static vyre_status damaged(const char *name, const char *what) {
    return vyre_status_make(VYRE_STATUS_MALFORMED,
                            "write it again with numpy.save; for raw bytes without a header use "
                            "another extension",
                            "cannot read %s as a .npy file: %s", name, what);
}

/* The start of the header and of the elements behind it. */
static vyre_status find_header(const vyre_strbuf *bytes, const char *name, size_t *start,
                               size_t *end) {
    const unsigned char *data = (const unsigned char *)bytes->data;
    size_t size = bytes->size;
    if (size < MAGIC_BYTES + 2 || memcmp(data, MAGIC, MAGIC_BYTES) != 0) {
        return damaged(name, "it does not start with \\x93NUMPY");
    }
    unsigned major = data[MAGIC_BYTES], minor = data[MAGIC_BYTES + 1];
    if (major < 1 || major > 3 || minor) {
        return vyre_status_make(VYRE_STATUS_MALFORMED, "write it again with numpy.save",
                                "%s has version %u.%u of the .npy format; vyre reads 1.0, 2.0 and "
                                "3.0",
                                name, major, minor);
    }
    size_t width = major == 1 ? 2 : 4, length = 0;
    *start = MAGIC_BYTES + 2 + width;
    if (size < *start) {
        return damaged(name, "it ends within the header");
    }
    for (size_t i = width; i-- > 0;) {
        length = length << 8 | data[MAGIC_BYTES + 2 + i];
    }
    if (size - *start < length) {
        return damaged(name, "it ends within the header");
    }
    *end = *start + length;
    return VYRE_OK;
}

/* NumPy's name of a type such as "<f4", where it is one of the table's. */
static const char *dtype_name(vyre_str code) {
    for (int i = 0; i < VYRE_TYPE_COUNT && code.size == 3; i++) {
        if (dtypes[i].code && !memcmp(dtypes[i].code, code.data + 1, 2)) {
            return dtypes[i].name;
        }
    }
    return "not a type of vyre";
}

static vyre_status wrong_type(const header *found, const char *name, const char *argument,
                              vyre_type type) {
    vyre_strbuf fix = {0};
    if (type == VYRE_TYPE_BF16) {
        vyre_strbuf_puts(&fix, "save the bits of the bfloat16 array: a.view('uint16')");
    } else {
        vyre_strbuf_printf(&fix, "save a.astype('%s')", dtypes[type].name);
    }
    int size = found->dtype.size < 40 ? (int)found->dtype.size : 40;
    vyre_status status = vyre_status_make(
        VYRE_STATUS_INVALID_ARGUMENT, vyre_strbuf_string(&fix),
        "%s holds `%.*s` (%s), and the elements of `%s` are %s (`%s%s`, %s)", name, size,
        found->dtype.data, found->is_simple ? dtype_name(found->dtype) : "a type with fields",
        argument, vyre_type_name(type), dtypes[type].order, dtypes[type].code, dtypes[type].name);
    vyre_strbuf_free(&fix);
    return status;
}

static bool fits_type(const header *found, vyre_type type) {
    vyre_str code = found->dtype;
    if (!found->is_simple || code.size != 3 || !strchr("<>=|", code.data[0])) {
        return false;
    }
    const char *also = type == VYRE_TYPE_BF16 ? "V2" : type == VYRE_TYPE_U8 ? "b1" : "";
    return !memcmp(code.data + 1, dtypes[type].code, 2) ||
           (*also && !memcmp(code.data + 1, also, 2));
}

static void swap_bytes(unsigned char *data, uint64_t count, uint32_t width) {
    for (uint64_t i = 0; i < count; i++, data += width) {
        for (uint32_t k = 0; k < width / 2; k++) {
            unsigned char byte = data[k];
            data[k] = data[width - 1 - k];
            data[width - 1 - k] = byte;
        }
    }
}

vyre_status values_npy_read(vyre_strbuf *bytes, const char *name, const char *argument,
                            vyre_type type, size_t *out_offset, values_shape *out_shape) {
    size_t start = 0, end = 0;
    header found;
    VYRE_TRY(find_header(bytes, name, &start, &end));
    if (!parse_header(bytes->data + start, end - start, &found)) {
        return damaged(name, "its header is not a dictionary of descr, fortran_order and shape");
    }
    if (!fits_type(&found, type)) {
        return wrong_type(&found, name, argument, type);
    }
    if (found.is_fortran && found.dimensions > 1 && found.count) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "save numpy.ascontiguousarray(a)",
                                "%s holds an array in column order (Fortran order), and `%s` takes "
                                "row order",
                                name, argument);
    }
    uint32_t width = vyre_type_bytes(type);
    if (found.count > SIZE_MAX / width || found.count * width != bytes->size - end) {
        return vyre_status_make(VYRE_STATUS_MALFORMED, "write it again with numpy.save",
                                "%s has %zu bytes of elements, and its header declares %" PRIu64
                                " elements of %u",
                                name, bytes->size - end, found.count, width);
    }
    if (found.dtype.data[0] == '>') {
        swap_bytes((unsigned char *)bytes->data + end, found.count, width);
    }
    *out_offset = end;
    *out_shape = found.shape;
    return VYRE_OK;
}

void values_npy_header(vyre_strbuf *out, vyre_type type, const values_shape *shape) {
    vyre_strbuf text = {0};
    vyre_strbuf_printf(&text, "{'descr': '%s%s', 'fortran_order': False, 'shape': (",
                       dtypes[type].order, dtypes[type].code);
    for (uint32_t i = 0; i < shape->rank; i++) {
        vyre_strbuf_printf(&text, "%s%" PRIu64, i ? ", " : "", shape->sizes[i]);
    }
    vyre_strbuf_puts(&text, shape->rank == 1 ? ",), }" : "), }");
    size_t before = MAGIC_BYTES + 4, size = before + text.size + 1;
    vyre_strbuf_repeat(&text, ' ', (ALIGNMENT - size % ALIGNMENT) % ALIGNMENT);
    vyre_strbuf_putc(&text, '\n');
    vyre_strbuf_add(out, MAGIC "\x01\x00", MAGIC_BYTES + 2);
    vyre_strbuf_putc(out, (char)(text.size & 0xff));
    vyre_strbuf_putc(out, (char)(text.size >> 8));
    vyre_strbuf_add(out, text.data, text.size);
    out->failed |= text.failed;
    vyre_strbuf_free(&text);
}
