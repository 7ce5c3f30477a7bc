#include "error.h"

/* Host memory that all devices copy fast, through the buffer protocol: NumPy arrays use it. */
typedef struct memory_object {
    PyObject_HEAD void *memory;
    Py_ssize_t size;
} memory_object;

static const char memory_doc[] =
    "Memory(size)\n--\n\nBytes of the host that are pinned for all devices.";

static PyObject *memory_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    Py_ssize_t size;
    static const char *const names[] = {"size", NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "n:Memory", (char **)(uintptr_t)names,
                                     &size)) {
        return NULL;
    }
    if (size < 0) {
        error_refuse(ERROR_VALUE, "pass a size of 0 or more", "%zd bytes of memory", size);
        return NULL;
    }
    memory_object *self = (memory_object *)PyType_GenericAlloc(type, 0);
    if (!self) {
        return NULL;
    }
    self->size = size;
    PyThreadState *thread = PyEval_SaveThread(); /* pinning much memory takes long */
    vyre_status status = vyre_memory_allocate((size_t)size, &self->memory);
    PyEval_RestoreThread(thread);
    if (status) {
        Py_DECREF(self);
        return error_raise(status);
    }
    return (PyObject *)self;
}

static void memory_dealloc(PyObject *object) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyThreadState *thread = PyEval_SaveThread();
    vyre_status status = vyre_memory_free(((memory_object *)object)->memory);
    PyEval_RestoreThread(thread);
    if (status) { /* the memory stays; nobody is there to be told */
        error_raise(status);
        PyErr_WriteUnraisable(NULL);
    }
    PyErr_Restore(type, value, traceback);
    python_free(object);
}

static int get_buffer(PyObject *object, Py_buffer *view, int flags) {
    memory_object *self = (memory_object *)object;
    return PyBuffer_FillInfo(view, object, self->memory, self->size, 0, flags);
}

PyTypeObject *memory_type_make(void) {
    PyType_Slot slots[] = {{Py_tp_doc, (void *)(uintptr_t)memory_doc},
                           {Py_tp_new, (void *)(uintptr_t)memory_new},
                           {Py_tp_dealloc, (void *)(uintptr_t)memory_dealloc},
                           {Py_bf_getbuffer, (void *)(uintptr_t)get_buffer},
                           {0, NULL}};
    PyType_Spec spec = {"vyre._vyre.Memory", sizeof(memory_object), 0, Py_TPFLAGS_DEFAULT, slots};
    return (PyTypeObject *)PyType_FromSpec(&spec);
}
