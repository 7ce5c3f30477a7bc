#include "view.h"

#include <stdio.h>
#include <string.h>

#include "array.h"
#include "dlpack.h"
#include "error.h"

const char *view_dtype_name(vyre_type type) {
    static const char *const names[] = {
        [VYRE_TYPE_VOID] = "void",   [VYRE_TYPE_BOOL] = "bool",   [VYRE_TYPE_I8] = "int8",
        [VYRE_TYPE_U8] = "uint8",    [VYRE_TYPE_I16] = "int16",   [VYRE_TYPE_U16] = "uint16",
        [VYRE_TYPE_I32] = "int32",   [VYRE_TYPE_U32] = "uint32",  [VYRE_TYPE_I64] = "int64",
        [VYRE_TYPE_U64] = "uint64",  [VYRE_TYPE_F16] = "float16", [VYRE_TYPE_BF16] = "bfloat16",
        [VYRE_TYPE_F32] = "float32", [VYRE_TYPE_F64] = "float64"};
    return type < VYRE_TYPE_COUNT ? names[type] : "?";
}

static vyre_type integer_type(bool is_signed, size_t bytes) {
    switch (bytes) {
    case 1: return is_signed ? VYRE_TYPE_I8 : VYRE_TYPE_U8;
    case 2: return is_signed ? VYRE_TYPE_I16 : VYRE_TYPE_U16;
    case 4: return is_signed ? VYRE_TYPE_I32 : VYRE_TYPE_U32;
    case 8: return is_signed ? VYRE_TYPE_I64 : VYRE_TYPE_U64;
    default: return VYRE_TYPE_VOID;
    }
}

/* The type of a format character of the struct module. */
static vyre_type code_type(char code, size_t bytes) {
    switch (code) {
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n': return integer_type(true, bytes);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N': return integer_type(false, bytes);
    case 'e': return VYRE_TYPE_F16;
    case 'f': return VYRE_TYPE_F32;
    case 'd': return VYRE_TYPE_F64;
    case '?': return VYRE_TYPE_BOOL;
    default: return VYRE_TYPE_VOID;
    }
}

/* vyre runs only on little-endian machines, so '>' and '!' are foreign. */
static bool is_order(char code) {
    return code == '@' || code == '=' || code == '<';
}

static vyre_type format_type(const char *format, size_t bytes) {
    if (is_order(format[0])) {
        format++;
    }
    return format[0] && !format[1] ? code_type(format[0], bytes) : VYRE_TYPE_VOID;
}

static size_t code_bytes(char code, bool is_native) {
    switch (code) {
    case 'b':
    case 'B':
    case '?':
    case 'c':
    case 'x':
    case 's': return 1;
    case 'h':
    case 'H':
    case 'e': return 2;
    case 'i':
    case 'I':
    case 'f': return 4;
    case 'l':
    case 'L': return is_native ? sizeof(long) : 4;
    case 'q':
    case 'Q':
    case 'd':
    case 'n':
    case 'N': return 8;
    default: return 0;
    }
}

/* Reads the format of a structured dtype and marks the fields that it finds. NumPy states all
 * padding, so offsets are sums. */
typedef struct reader {
    const char *at;
    size_t offset;
    bool is_native, is_bad;
    const view_field *fields;
    size_t count, found;
} reader;

static size_t read_number(reader *r) {
    size_t number = 0;
    while (*r->at >= '0' && *r->at <= '9') {
        number = number * 10 + (size_t)(*r->at++ - '0');
        r->is_bad |= number > VYRE_LIMIT_RECORD_BYTES;
    }
    return number;
}

/* The repeat count of an item: "(2,3)" or "4" before its format character. */
static size_t read_count(reader *r) {
    size_t count = 1;
    if (*r->at == '(') {
        do {
            r->at++;
            size_t side = read_number(r);
            count = r->is_bad ? 0 : count * side;
            r->is_bad |= count > VYRE_LIMIT_RECORD_BYTES;
        } while (*r->at == ',' && !r->is_bad);
        r->is_bad |= *r->at != ')';
        r->at += !r->is_bad;
    } else if (*r->at >= '0' && *r->at <= '9') {
        count = read_number(r);
    }
    return count;
}

static void mark(reader *r, vyre_type type) {
    for (size_t i = 0; i < r->count; i++) {
        r->found += r->fields[i].offset == r->offset && r->fields[i].type == type;
    }
}

static void skip_name(reader *r) {
    if (*r->at == ':') {
        const char *end = strchr(r->at + 1, ':');
        r->is_bad |= !end;
        r->at = end ? end + 1 : r->at;
    }
}

static void read_items(reader *r, int depth);

static void read_item(reader *r, int depth) {
    size_t count = read_count(r);
    if (!strncmp(r->at, "T{", 2) && depth < 16) {
        const char *body = r->at + 2;
        r->is_bad |= !count;
        for (size_t i = 0; i < count && !r->is_bad; i++) {
            r->at = body;
            read_items(r, depth + 1);
            r->is_bad |= *r->at != '}';
        }
        r->at += !r->is_bad;
    } else {
        char code = *r->at;
        size_t bytes = code_bytes(code, r->is_native);
        r->is_bad |= !bytes;
        for (size_t i = 0; i < count && !r->is_bad; i++) {
            mark(r, code_type(code, bytes));
            r->offset += bytes;
        }
        r->at += !r->is_bad;
    }
    if (!r->is_bad) {
        skip_name(r);
    }
}

static void read_items(reader *r, int depth) {
    while (*r->at && *r->at != '}' && !r->is_bad) {
        if (is_order(*r->at)) {
            r->is_native = *r->at++ == '@';
        } else {
            read_item(r, depth);
        }
    }
}

bool view_has_fields(const char *format, const view_field *fields, size_t count) {
    reader r = {.at = format, .is_native = true, .fields = fields, .count = count};
    read_items(&r, 0);
    return !r.is_bad && r.found == count;
}

void view_describe(const view *self, char *out_text, size_t size) {
    if (self->type != VYRE_TYPE_VOID) {
        snprintf(out_text, size, "dtype %s", view_dtype_name(self->type));
    } else if (self->tensor) {
        snprintf(out_text, size, "a dtype that kernels do not have");
    } else if (self->format[0] == 'T') {
        snprintf(out_text, size, "a structured dtype of %zu bytes", self->element_bytes);
    } else {
        snprintf(out_text, size, "a dtype of format '%.32s'", self->format);
    }
}

static int refuse_object(PyObject *object, const char *where) {
    PyObject *found = PyType_GetName(Py_TYPE(object));
    const char *name = found ? PyUnicode_AsUTF8AndSize(found, NULL) : NULL;
    if (name) {
        error_refuse(ERROR_TYPE, "pass a NumPy array, such as numpy.asarray(x, dtype)",
                     "%s is %s, and the kernel needs an array", where, name);
    }
    Py_XDECREF(found);
    return -1;
}

/* Repeats why a library does not share an array, with the name of the argument. */
static void refuse_shared(const char *where) {
    PyObject *type, *reason, *traceback;
    PyErr_Fetch(&type, &reason, &traceback);
    PyObject *text = reason ? PyObject_Str(reason) : NULL;
    const char *words = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (words) {
        error_refuse(ERROR_TYPE,
                     *words ? "convert the array as the text in parentheses says"
                            : "pass a NumPy array, such as numpy.asarray(x)",
                     "%s is an array that cannot be shared (%s)", where,
                     *words ? words : "its library does not say why");
    }
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(reason);
    Py_XDECREF(traceback);
}

/* Opens the bits of bfloat16, which the buffer protocol lacks. Returns 1 if it opened them. */
static int open_bfloat16(view *self, PyObject *object) {
    PyObject *get_bits = python_import(&python.bfloat16_bits, "vyre._arrays", "bfloat16_bits");
    PyObject *bits = get_bits ? PyObject_CallFunctionObjArgs(get_bits, object, NULL) : NULL;
    if (!bits) {
        return -1;
    }
    int opened = 0;
    if (bits != Py_None) {
        opened = PyObject_GetBuffer(bits, &self->buffer, PyBUF_RECORDS_RO) ? -1 : 1;
    }
    Py_DECREF(bits);
    return opened;
}

static int open_tensor(view *self, PyObject *capsule, bool is_read_only) {
    dlpack_tensor *tensor = PyMem_Calloc(1, sizeof *tensor);
    if (!tensor || dlpack_take(capsule, tensor)) {
        PyMem_Free(tensor);
        return PyErr_Occurred() ? -1 : (PyErr_NoMemory(), -1);
    }
    *self = (view){.tensor = tensor};
    dlpack_describe(tensor, self);
    self->is_read_only |= is_read_only;
    return 0;
}

static PyObject *call_adopt(PyObject *object, const view_request *request) {
    PyObject *adopt = python_import(&python.adopt, "vyre._device", "adopt");
    PyObject *stream = !adopt            ? NULL
                       : request->stream ? PyLong_FromUnsignedLongLong(*request->stream)
                                         : Py_NewRef(Py_None);
    PyObject *adopted =
        stream ? PyObject_CallFunctionObjArgs(adopt, object, stream,
                                              request->is_read ? Py_True : Py_False, NULL)
               : NULL;
    Py_XDECREF(stream);
    return adopted;
}

/* Opens an array of another library: a capsule for memory of the host, else a vyre.Array. */
static int open_foreign(view *self, PyObject *object, const view_request *request) {
    PyObject *adopted = call_adopt(object, request), *shared;
    int result = -1, is_read_only;
    if (!adopted && PyErr_ExceptionMatches(PyExc_BufferError)) {
        refuse_shared(request->where);
    } else if (adopted && PyArg_ParseTuple(adopted, "Op:adopt", &shared, &is_read_only)) {
        if (shared == Py_None) {
            result = refuse_object(object, request->where);
        } else if (PyObject_TypeCheck(shared, python.array_type)) {
            array_describe((array *)shared, self);
            self->array = Py_NewRef(shared);
            result = 0;
        } else {
            result = open_tensor(self, shared, is_read_only);
        }
    }
    Py_XDECREF(adopted);
    return result;
}

static void describe_buffer(view *self, bool is_bfloat16) {
    const Py_buffer *buffer = &self->buffer;
    self->data = buffer->buf;
    self->bytes = (size_t)buffer->len;
    self->element_bytes = (size_t)buffer->itemsize;
    self->format = buffer->format ? buffer->format : "B";
    self->type = is_bfloat16 ? VYRE_TYPE_BF16 : format_type(self->format, self->element_bytes);
    self->is_read_only = buffer->readonly;
    self->dimensions = buffer->ndim;
    self->shape = buffer->shape;
    self->is_contiguous = PyBuffer_IsContiguous(buffer, 'C');
    self->copy = NULL;
    self->tensor = NULL;
    self->array = NULL;
}

int view_open(view *self, PyObject *object, const view_request *request) {
    if (PyObject_TypeCheck(object, python.array_type)) {
        array_describe((array *)object, self);
        self->array = Py_NewRef(object);
        return 0;
    }
    int is_bfloat16 = request->wanted == VYRE_TYPE_BF16 ? open_bfloat16(self, object) : 0;
    if (is_bfloat16 < 0) {
        return -1;
    }
    if (!is_bfloat16 && PyObject_GetBuffer(object, &self->buffer, PyBUF_RECORDS_RO)) {
        PyErr_Clear();
        return open_foreign(self, object, request);
    }
    describe_buffer(self, is_bfloat16);
    return 0;
}

void view_close(view *self) {
    PyMem_Free(self->copy);
    if (self->tensor) {
        dlpack_release(self->tensor);
        PyMem_Free(self->tensor);
    } else if (self->array) {
        Py_DECREF(self->array);
    } else {
        PyBuffer_Release(&self->buffer);
    }
}

int view_copy(view *self) {
    self->copy = PyMem_Malloc(self->bytes ? self->bytes : 1);
    if (!self->copy) {
        PyErr_NoMemory();
        return -1;
    }
    self->data = self->copy;
    if (self->tensor) {
        dlpack_copy(dlpack_look(self->tensor), self->copy, self->bytes);
        return 0;
    }
    return PyBuffer_ToContiguous(self->copy, &self->buffer, self->buffer.len, 'C');
}
