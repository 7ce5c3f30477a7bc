#include "python.h"

#include <string.h>

#include "error.h"
#include "operation.h"
#include "scalar.h"

module_state python;

PyObject *python_import(PyObject **kept, const char *module, const char *attribute) {
    if (!*kept) {
        PyObject *imported = PyImport_ImportModule(module);
        *kept = imported ? PyObject_GetAttrString(imported, attribute) : NULL;
        Py_XDECREF(imported);
    }
    return *kept;
}

void python_append(PyObject **list, PyObject *item) {
    if (!item || PyList_Append(*list, item)) {
        Py_CLEAR(*list);
    }
    Py_XDECREF(item);
}

PyObject *python_shape(const Py_ssize_t *sides, int dimensions) {
    PyObject *shape = PyTuple_New(dimensions);
    for (int i = 0; i < dimensions && shape; i++) {
        PyObject *side = PyLong_FromSsize_t(sides[i]);
        if (!side || PyTuple_SetItem(shape, i, side)) {
            Py_CLEAR(shape);
        }
    }
    return shape;
}

void python_free(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    void *slot = PyType_GetSlot(type, Py_tp_free);
    freefunc release;
    memcpy(&release, &slot, sizeof release); /* ISO C cannot cast void * to a function pointer */
    release(object);
    Py_DECREF(type);
}

/* The codes of statuses, by name; vyre._errors has a class for each. */
static PyObject *status_codes(PyObject *module, PyObject *unused) {
    PyObject *codes = PyDict_New();
    (void)module;
    (void)unused;
#define ADD_CODE(name, number, text)                                                               \
    if (codes) {                                                                                   \
        PyObject *code = PyLong_FromLong(number);                                                  \
        if (!code || PyDict_SetItemString(codes, #name, code)) {                                   \
            Py_CLEAR(codes);                                                                       \
        }                                                                                          \
        Py_XDECREF(code);                                                                          \
    }
    VYRE_STATUS_CODES(ADD_CODE)
#undef ADD_CODE
    return codes;
}

/* Saves what the router learned. */
static PyObject *save_routes(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    vyre_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = vyre_router_flush();
    PyEval_RestoreThread(thread);
    return status ? error_raise(status) : Py_NewRef(Py_None);
}

static PyObject *has_device(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyBool_FromLong(python.has_device);
}

/* The bytes of a number as a scalar argument: convert(number, type, where). */
static PyObject *convert(PyObject *module, PyObject *arguments) {
    PyObject *number;
    const char *name, *where;
    uint64_t bits;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "Oss:convert", &number, &name, &where)) {
        return NULL;
    }
    vyre_type type = vyre_type_from_name((vyre_str){name, strlen(name)});
    if (scalar_read(number, type, where, &bits)) {
        return NULL;
    }
    return PyBytes_FromStringAndSize((const char *)&bits, (Py_ssize_t)vyre_type_bytes(type));
}

/* One tuple for each backend: (id, whether it runs programs, number of devices). */
static PyObject *list_backends(PyObject *module, PyObject *unused) {
    size_t count;
    vyre_registry *registry = vyre_registry_default();
    const vyre_registration *const *all = vyre_registry_by_rank(registry, &count);
    PyObject *list = PyList_New(0);
    (void)module;
    (void)unused;
    for (size_t i = 0; i < count && list; i++) {
        bool runs = vyre_registry_dispatches(registry, all[i]->id);
        PyObject *item = Py_BuildValue("sOI", all[i]->id, runs ? Py_True : Py_False,
                                       (unsigned)vyre_registration_device_count(all[i]));
        python_append(&list, item);
    }
    return list;
}

/* Python runs this for each import: again in this interpreter after a deletion from sys.modules,
 * and in other interpreters, whose classes of errors would be others. */
static int execute(PyObject *module) {
    if (PyInterpreterState_GetID(PyInterpreterState_Get())) {
        PyErr_SetString(PyExc_ImportError, "vyre does not run in a subinterpreter. Fix: import it "
                                           "in the main interpreter, or use processes");
        return -1;
    }
    if (!python.memory_type &&
        (!python_import(&python.make_error, "vyre._errors", "make") ||
         !(python.kernel_type = kernel_type_make()) || !(python.device_type = device_type_make()) ||
         !(python.array_type = array_type_make()) || !(python.memory_type = memory_type_make()))) {
        return -1;
    }
    return PyModule_AddType(module, python.kernel_type) ||
                   PyModule_AddType(module, python.device_type) ||
                   PyModule_AddType(module, python.array_type) ||
                   PyModule_AddType(module, python.memory_type) ||
                   PyModule_AddStringConstant(module, "__version__", VYRE_VERSION_STRING)
               ? -1
               : 0;
}

PyMODINIT_FUNC PyInit__vyre(void) {
    static PyMethodDef functions[] = {
        {"status_codes", status_codes, METH_NOARGS, "The codes of vyre's statuses, by name."},
        {"has_device", has_device, METH_NOARGS, "Whether the process has opened a device."},
        {"save_routes", save_routes, METH_NOARGS, "Save what the router learned."},
        {"convert", convert, METH_VARARGS, "The bytes of a number as a scalar argument."},
        {"backends", list_backends, METH_NOARGS,
         "The backends by rank: tuples (id, whether it runs programs, number of devices)."},
        {"operation_ids", operation_ids, METH_NOARGS, "The ids of operations that can be called."},
        {"operation", operation_describe, METH_O, "What is known of an operation, as a dict."},
        {NULL, NULL, 0, NULL}};
    static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)(uintptr_t)execute}, {0, NULL}};
    static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "vyre._vyre",
                                     .m_doc = "Kernels, devices and operations of libvyre.",
                                     .m_methods = functions, .m_slots = slots};
    return PyModuleDef_Init(&definition);
}
