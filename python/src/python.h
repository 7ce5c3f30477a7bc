/* The extension module vyre._vyre: what its files share.
 *
 * The module uses the limited API of Python 3.11, so one build serves every later Python. It keeps
 * one state for the process, and does not load in subinterpreters. All functions need the GIL
 * unless they say otherwise. Like Python's own, a function that returns NULL or -1 has set an
 * exception. */
#ifndef VYRE_PYTHON_H
#define VYRE_PYTHON_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <structmember.h>

#include <vyre/vyre.h>

/* Objects that the module uses often. It imports most of them when they are first needed. */
typedef struct module_state {
    PyTypeObject *kernel_type, *device_type, *array_type, *memory_type;
    PyObject *make_error;   /* vyre._errors.make */
    PyObject *empty;        /* numpy.empty; NULL until an output is made */
    PyObject *make_results; /* these two are of vyre._arrays; NULL until needed */
    PyObject *bfloat16_bits;
    PyObject *adopt; /* these two are of vyre._device; NULL until needed */
    PyObject *make_output;
    PyObject *waiter; /* the kernel of stream.c; NULL until needed */
    PyObject *dtypes[VYRE_TYPE_COUNT];
    bool has_device; /* a device was opened, so vyre.trace() comes too late */
    bool has_chosen; /* the router has opened the devices that it chooses from */
} module_state;

extern module_state python;

/* Returns an attribute of a module that is imported on first use, as a borrowed reference that
 * `*kept` owns. */
PyObject *python_import(PyObject **kept, const char *module, const char *attribute);

/* Appends an item, which it takes over, to a list. If that fails, or the item is NULL, the list
 * becomes NULL. */
void python_append(PyObject **list, PyObject *item);

/* Returns a shape as a tuple. */
PyObject *python_shape(const Py_ssize_t *sides, int dimensions);

/* Frees the memory of an object through its type, which may be a subclass of ours, and releases the
 * type. Every tp_dealloc ends with it. */
void python_free(PyObject *object);

PyMODINIT_FUNC PyInit__vyre(void);

/* The types of the module. */
PyTypeObject *kernel_type_make(void);
PyTypeObject *device_type_make(void);
PyTypeObject *array_type_make(void);
PyTypeObject *memory_type_make(void);

#endif
