#include "array.h"

#include <string.h>

#include "dlpack.h"
#include "error.h"
#include "stream.h"

void array_describe(array *self, view *out_view) {
    *out_view = (view){.bytes = self->bytes,
                       .element_bytes = self->element_bytes,
                       .type = self->type,
                       .is_read_only = self->is_read_only,
                       .is_contiguous = true,
                       .dimensions = self->dimensions,
                       .shape = self->shape,
                       .format = self->format ? self->format : ""};
}

/* Makes an object without a buffer. */
static array *make_bare(PyTypeObject *type, PyObject *device) {
    if (!PyObject_TypeCheck(device, python.device_type)) {
        error_refuse(ERROR_TYPE, "pass a vyre.Device", "an array needs a device");
        return NULL;
    }
    array *self = (array *)PyType_GenericAlloc(type, 0);
    if (self) {
        self->device = (device_object *)Py_NewRef(device);
    }
    return self;
}

static int set_shape(array *self, PyObject *shape) {
    Py_ssize_t dimensions = PyTuple_Size(shape);
    if (dimensions < 0 || dimensions > VIEW_DIMENSIONS) {
        return dimensions < 0 ? -1
                              : error_refuse(ERROR_VALUE, "reshape the array",
                                             "an array has %zd dimensions, and the most is %d",
                                             dimensions, VIEW_DIMENSIONS);
    }
    self->dimensions = (int)dimensions;
    self->bytes = self->element_bytes;
    for (Py_ssize_t i = 0; i < dimensions; i++) {
        self->shape[i] = PyNumber_AsSsize_t(PyTuple_GetItem(shape, i), PyExc_OverflowError);
        if (self->shape[i] < 0) {
            return PyErr_Occurred() ? -1
                                    : error_refuse(ERROR_VALUE, "pass sides of 0 or more",
                                                   "a side of the shape is negative");
        }
        if (__builtin_mul_overflow(self->bytes, (size_t)self->shape[i], &self->bytes) ||
            self->bytes > PY_SSIZE_T_MAX) {
            return error_refuse(ERROR_VALUE, "make a smaller array",
                                "the shape has more bytes than an address space");
        }
    }
    return 0;
}

/* Sets the element type: a scalar type by NumPy's name, or records with a dtype and a format. */
static int set_elements(array *self, const char *type, Py_ssize_t element_bytes, PyObject *dtype,
                        const char *format) {
    for (vyre_type i = VYRE_TYPE_BOOL; i < VYRE_TYPE_COUNT; i++) {
        if (!strcmp(type, view_dtype_name(i))) {
            self->type = i;
        }
    }
    self->element_bytes = self->type ? vyre_type_bytes(self->type) : (size_t)element_bytes;
    if (self->type) {
        return 0;
    }
    if (!format) {
        return error_refuse(ERROR_TYPE, "use a dtype that kernels have, such as float32",
                            "kernels have no type like the dtype %s", type);
    }
    self->dtype = Py_NewRef(dtype);
    self->format = PyMem_Malloc(strlen(format) + 1);
    if (!self->format) {
        PyErr_NoMemory();
        return -1;
    }
    strcpy(self->format, format);
    return 0;
}

static PyObject *finish(array *self, vyre_status status) {
    if (status) {
        Py_DECREF(self);
        return error_raise(status);
    }
    self->is_resident = true;
    return (PyObject *)self;
}

static const char new_doc[] =
    "Array(device, shape, type, element_bytes, dtype, format)\n--\n\n"
    "Data on a device. Call vyre.Device.array() or vyre.Device.empty() to make one.";

static PyObject *array_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    PyObject *device, *shape, *dtype;
    const char *type_name, *format;
    Py_ssize_t element_bytes;
    static const char *const names[] = {"device", "shape",  "type", "element_bytes",
                                        "dtype",  "format", NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO!snOz:Array",
                                     (char **)(uintptr_t)names, &device, &PyTuple_Type, &shape,
                                     &type_name, &element_bytes, &dtype, &format)) {
        return NULL;
    }
    array *self = make_bare(type, device);
    if (!self) {
        return NULL;
    }
    if (set_elements(self, type_name, element_bytes, dtype, format) || set_shape(self, shape)) {
        Py_DECREF(self);
        return NULL;
    }
    vyre_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = vyre_resident_allocate(self->device->device, self->bytes, &self->resident);
    PyEval_RestoreThread(thread);
    return finish(self, status);
}

/* Takes the stream that a library puts its work into, as (handle, what keeps it alive); None if
 * there is none. */
static int set_stream(array *self, PyObject *stream) {
    unsigned long long handle;
    if (stream == Py_None) {
        return 0;
    }
    if (!PyArg_Parse(stream, "(KO)", &handle, &self->stream_owner)) {
        return -1;
    }
    Py_INCREF(self->stream_owner);
    self->has_stream = true;
    self->stream = handle;
    return 0;
}

/* What keeps imported memory alive: an object or a tensor. */
typedef struct owner {
    PyObject *object;
    dlpack_tensor tensor;
} owner;

/* The last release of a device may come after Python has ended; nothing is left to free then. */
static void release_owner(void *user) {
    owner *self = user;
    if (Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        dlpack_release(&self->tensor);
        Py_XDECREF(self->object);
        PyMem_Free(self);
        PyGILState_Release(state);
    }
}

static vyre_status import(array *self, uint64_t address, bool is_host, owner *kept) {
    const vyre_memory memory = {.address = address,
                                .size = self->bytes,
                                .place = is_host ? VYRE_MEMORY_HOST : VYRE_MEMORY_DEVICE,
                                .flags = self->is_read_only ? VYRE_MEMORY_READ_ONLY : 0};
    vyre_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status =
        vyre_resident_import(self->device->device, &memory, release_owner, kept, &self->resident);
    PyEval_RestoreThread(thread);
    return status;
}

static const char pointer_doc[] =
    "from_pointer(device, address, is_host, shape, type, is_read_only, stream, owner)\n--\n\n"
    "Share memory that `owner` keeps alive, in C order.";

static PyObject *from_pointer(PyObject *class, PyObject *arguments) {
    PyObject *device, *shape, *stream, *object;
    unsigned long long address;
    int is_host, is_read_only;
    const char *type_name;
    if (!PyArg_ParseTuple(arguments, "OKpO!spOO:from_pointer", &device, &address, &is_host,
                          &PyTuple_Type, &shape, &type_name, &is_read_only, &stream, &object)) {
        return NULL;
    }
    array *self = make_bare((PyTypeObject *)class, device);
    owner *kept = self ? PyMem_Calloc(1, sizeof *kept) : NULL;
    if (!kept || set_elements(self, type_name, 0, Py_None, NULL) || set_shape(self, shape) ||
        set_stream(self, stream)) {
        PyMem_Free(kept);
        Py_XDECREF((PyObject *)self);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    self->is_read_only = is_read_only;
    kept->object = Py_NewRef(object);
    vyre_status status = import(self, address, is_host, kept);
    if (status) {
        Py_DECREF(kept->object);
        PyMem_Free(kept);
    }
    return finish(self, status);
}

static const char capsule_doc[] = "from_capsule(device, capsule, stream, is_read_only)\n--\n\n"
                                  "Share the memory of a DLPack capsule.";

/* Takes over the tensor of a capsule in `kept`. */
static int take_tensor(array *self, PyObject *capsule, owner *kept, view *elements) {
    if (dlpack_take(capsule, &kept->tensor)) {
        kept->tensor = (dlpack_tensor){0};
        return -1;
    }
    dlpack_describe(&kept->tensor, elements);
    if (elements->type == VYRE_TYPE_VOID || elements->dimensions > VIEW_DIMENSIONS) {
        return error_refuse(ERROR_TYPE, "convert the array to a dtype that kernels have",
                            "kernels have no type like the dtype of this array");
    }
    if (!elements->is_contiguous) {
        return error_refuse(ERROR_VALUE, "make it contiguous first",
                            "this array is not C-contiguous, and it cannot be shared so");
    }
    self->type = elements->type;
    self->element_bytes = elements->element_bytes;
    self->bytes = elements->bytes;
    self->is_read_only = elements->is_read_only;
    self->dimensions = elements->dimensions;
    memcpy(self->shape, elements->shape, (size_t)elements->dimensions * sizeof *self->shape);
    return 0;
}

static PyObject *from_capsule(PyObject *class, PyObject *arguments) {
    PyObject *device, *capsule, *stream;
    int is_read_only;
    view elements;
    if (!PyArg_ParseTuple(arguments, "OOOp:from_capsule", &device, &capsule, &stream,
                          &is_read_only)) {
        return NULL;
    }
    array *self = make_bare((PyTypeObject *)class, device);
    owner *kept = self ? PyMem_Calloc(1, sizeof *kept) : NULL;
    if (!kept || set_stream(self, stream) || take_tensor(self, capsule, kept, &elements)) {
        if (kept) {
            dlpack_release(&kept->tensor);
        }
        PyMem_Free(kept);
        Py_XDECREF((PyObject *)self);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    self->is_read_only |= is_read_only;
    int32_t place = dlpack_look(&kept->tensor)->device.type;
    bool is_host = place == kDLCPU || place == kDLCUDAHost;
    vyre_status status = import(self, (uint64_t)(uintptr_t)elements.data, is_host, kept);
    if (status) {
        dlpack_release(&kept->tensor);
        PyMem_Free(kept);
    }
    return finish(self, status);
}

/* Releases the GIL, because another thread that calls release_owner may wait for it. */
static void free_resident(array *self) {
    PyThreadState *thread = PyEval_SaveThread();
    vyre_status status = vyre_resident_free(self->device->device, self->resident);
    PyEval_RestoreThread(thread);
    vyre_status_free(status); /* in a child of fork() the buffer belongs to the parent */
}

static void array_dealloc(PyObject *object) {
    array *self = (array *)object;
    if (self->weak_references) {
        PyObject_ClearWeakRefs(object);
    }
    if (self->is_resident) {
        free_resident(self);
    }
    Py_XDECREF((PyObject *)self->device);
    Py_XDECREF(self->dtype);
    Py_XDECREF(self->stream_owner);
    PyMem_Free(self->format);
    python_free(object);
}

/* Opens contiguous memory of as many bytes as the array has. */
static int open_bytes(const array *self, PyObject *object, int flags, Py_buffer *buffer) {
    if (PyObject_GetBuffer(object, buffer, flags | PyBUF_C_CONTIGUOUS)) {
        return -1;
    }
    if ((size_t)buffer->len == self->bytes) {
        return 0;
    }
    error_refuse(ERROR_VALUE, "pass an array of the same shape and dtype",
                 "this memory has %zd bytes, and the array %zu", buffer->len, self->bytes);
    PyBuffer_Release(buffer);
    return -1;
}

static int refuse_read_only(const array *self) {
    return self->is_read_only
               ? error_refuse(ERROR_VALUE, "change a copy: device.array(x)",
                              "the array is read-only, as the memory that it shares is")
               : 0;
}

static PyObject *done(vyre_status status) {
    return status ? error_raise(status) : Py_NewRef(Py_None);
}

static PyObject *upload(PyObject *object, PyObject *from) {
    array *self = (array *)object;
    Py_buffer buffer;
    vyre_status status;
    if (refuse_read_only(self) || stream_settle(self) || open_bytes(self, from, 0, &buffer)) {
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    status = vyre_resident_upload(self->device->device, self->resident, buffer.buf, self->bytes);
    PyEval_RestoreThread(thread);
    PyBuffer_Release(&buffer);
    return done(status);
}

static PyObject *read_into(PyObject *object, PyObject *to) {
    array *self = (array *)object;
    Py_buffer buffer;
    vyre_status status;
    if (stream_settle(self) || open_bytes(self, to, PyBUF_WRITABLE, &buffer)) {
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    status = vyre_resident_read(self->device->device, self->resident, 0, buffer.buf, self->bytes);
    PyEval_RestoreThread(thread);
    PyBuffer_Release(&buffer);
    return done(status);
}

/* Repeats the bytes of one element. */
static PyObject *fill_bytes(PyObject *object, PyObject *pattern) {
    array *self = (array *)object;
    char *bytes;
    Py_ssize_t size;
    vyre_status status;
    if (refuse_read_only(self) || PyBytes_AsStringAndSize(pattern, &bytes, &size) ||
        stream_settle(self)) {
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    status = vyre_resident_fill(self->device->device, self->resident, 0, self->bytes, bytes,
                                (size_t)size);
    PyEval_RestoreThread(thread);
    return done(status);
}

static PyObject *copy_from(PyObject *object, PyObject *other) {
    array *self = (array *)object;
    vyre_status status;
    if (!PyObject_TypeCheck(other, python.array_type)) {
        error_refuse(ERROR_TYPE, "pass a vyre.Array", "this is not an array of a device");
        return NULL;
    }
    const array *from = (array *)other;
    if (refuse_read_only(self) || stream_settle(self) || stream_settle(from)) {
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    status =
        vyre_resident_copy(self->device->device, self->resident, 0, from->resident, 0, self->bytes);
    PyEval_RestoreThread(thread);
    return done(status);
}

/* range(offset in bytes, shape): a part that shares the memory. */
static PyObject *range(PyObject *object, PyObject *arguments) {
    array *self = (array *)object;
    Py_ssize_t offset;
    PyObject *shape;
    if (!PyArg_ParseTuple(arguments, "nO!:range", &offset, &PyTuple_Type, &shape)) {
        return NULL;
    }
    array *part = make_bare(Py_TYPE(object), (PyObject *)self->device);
    if (!part) {
        return NULL;
    }
    part->type = self->type;
    part->element_bytes = self->element_bytes;
    part->is_read_only = self->is_read_only;
    part->has_stream = self->has_stream;
    part->stream = self->stream;
    part->stream_owner = Py_XNewRef(self->stream_owner);
    if ((!self->type &&
         set_elements(part, "", (Py_ssize_t)self->element_bytes, self->dtype, self->format)) ||
        set_shape(part, shape)) {
        Py_DECREF(part);
        return NULL;
    }
    vyre_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = vyre_resident_range(self->device->device, self->resident, (size_t)offset, part->bytes,
                                 &part->resident);
    PyEval_RestoreThread(thread);
    return finish(part, status);
}

/* Waits for the work that is in the stream of the array now. */
static PyObject *settle(PyObject *object, PyObject *unused) {
    (void)unused;
    return stream_settle((array *)object) ? NULL : Py_NewRef(Py_None);
}

/* The memory as a tuple: (address, bytes, is_host, is_read_only). */
static PyObject *get_memory(PyObject *object, PyObject *unused) {
    array *self = (array *)object;
    vyre_memory memory;
    vyre_status status;
    (void)unused;
    PyThreadState *thread = PyEval_SaveThread();
    status = vyre_resident_memory(self->device->device, self->resident, &memory);
    PyEval_RestoreThread(thread);
    if (status) {
        return error_raise(status);
    }
    return Py_BuildValue("KnOO", (unsigned long long)memory.address, (Py_ssize_t)memory.size,
                         memory.place == VYRE_MEMORY_HOST ? Py_True : Py_False,
                         self->is_read_only ? Py_True : Py_False);
}

/* export(device_type, device_id, is_versioned, is_copied): a DLPack capsule. */
static PyObject *export_capsule(PyObject *object, PyObject *arguments) {
    array *self = (array *)object;
    int device_type, device_id, is_versioned, is_copied;
    vyre_memory memory;
    if (!PyArg_ParseTuple(arguments, "iipp:export", &device_type, &device_id, &is_versioned,
                          &is_copied)) {
        return NULL;
    }
    if (!self->type) {
        error_refuse(ERROR_TYPE, "share the bytes, or one field of numpy()",
                     "DLPack has no structured dtypes");
        return NULL;
    }
    vyre_status status = vyre_resident_memory(self->device->device, self->resident, &memory);
    if (status) {
        return error_raise(status);
    }
    return dlpack_give(&(dlpack_export){.data = (void *)(uintptr_t)memory.address,
                                        .device_type = device_type,
                                        .device_id = device_id,
                                        .type = self->type,
                                        .dimensions = self->dimensions,
                                        .shape = self->shape,
                                        .is_read_only = self->is_read_only,
                                        .is_copied = is_copied,
                                        .is_versioned = is_versioned},
                       object);
}

static PyObject *get_shape(PyObject *object, void *unused) {
    const array *self = (array *)object;
    (void)unused;
    return python_shape(self->shape, self->dimensions);
}

static PyObject *get_device(PyObject *object, void *unused) {
    (void)unused;
    return Py_NewRef((PyObject *)((array *)object)->device);
}

static PyObject *get_type(PyObject *object, void *unused) {
    (void)unused;
    return PyUnicode_FromString(view_dtype_name(((array *)object)->type));
}

static PyObject *get_record_dtype(PyObject *object, void *unused) {
    PyObject *dtype = ((array *)object)->dtype;
    (void)unused;
    return Py_NewRef(dtype ? dtype : Py_None);
}

static PyObject *get_item_bytes(PyObject *object, void *unused) {
    (void)unused;
    return PyLong_FromSize_t(((array *)object)->element_bytes);
}

static PyObject *get_bytes(PyObject *object, void *unused) {
    (void)unused;
    return PyLong_FromSize_t(((array *)object)->bytes);
}

PyTypeObject *array_type_make(void) {
    static PyMethodDef methods[] = {
        {"from_pointer", from_pointer, METH_VARARGS | METH_CLASS, pointer_doc},
        {"from_capsule", from_capsule, METH_VARARGS | METH_CLASS, capsule_doc},
        {"_upload", upload, METH_O, NULL},
        {"_read_into", read_into, METH_O, NULL},
        {"_fill_bytes", fill_bytes, METH_O, NULL},
        {"_copy_from", copy_from, METH_O, NULL},
        {"_range", range, METH_VARARGS, NULL},
        {"_settle", settle, METH_NOARGS, NULL},
        {"_memory", get_memory, METH_NOARGS, NULL},
        {"_export", export_capsule, METH_VARARGS, NULL},
        {NULL, NULL, 0, NULL}};
    static PyGetSetDef properties[] = {
        {"shape", get_shape, NULL, "The sides, outermost first.", NULL},
        {"device", get_device, NULL, "The vyre.Device that the data is on.", NULL},
        {"_type", get_type, NULL, NULL, NULL},
        {"_record_dtype", get_record_dtype, NULL, NULL, NULL},
        {"itemsize", get_item_bytes, NULL, "Bytes of an element.", NULL},
        {"nbytes", get_bytes, NULL, "Bytes of all elements.", NULL},
        {NULL, NULL, NULL, NULL, NULL}};
    static PyMemberDef members[] = {
        {"__weaklistoffset__", T_PYSSIZET, offsetof(array, weak_references), READONLY, NULL},
        {NULL, 0, 0, 0, NULL}};
    PyType_Slot slots[] = {{Py_tp_doc, (void *)(uintptr_t)new_doc},
                           {Py_tp_new, (void *)(uintptr_t)array_new},
                           {Py_tp_dealloc, (void *)(uintptr_t)array_dealloc},
                           {Py_tp_methods, methods},
                           {Py_tp_getset, properties},
                           {Py_tp_members, members},
                           {0, NULL}};
    PyType_Spec spec = {"vyre._vyre.Array", sizeof(array), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    return (PyTypeObject *)PyType_FromSpec(&spec);
}
