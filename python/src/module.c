#include "python.h"

#include <string.h>

module_state python;

PyObject *python_import(PyObject **kept, const char *module, const char *attribute) {
    if (!*kept) {
        PyObject *imported = PyImport_ImportModule(module);
        *kept = imported ? PyObject_GetAttrString(imported, attribute) : NULL;
        Py_XDECREF(imported);
    }
    return *kept;
}

void python_free(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    void *slot = PyType_GetSlot(type, Py_tp_free);
    freefunc release;
    memcpy(&release, &slot, sizeof release); /* ISO C has no cast from void * to a function */
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

static PyObject *has_device(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyBool_FromLong(python.has_device);
}

PyMODINIT_FUNC PyInit__vyre(void) {
    static PyMethodDef functions[] = {
        {"status_codes", status_codes, METH_NOARGS, "The codes of vyre's statuses, by name."},
        {"has_device", has_device, METH_NOARGS, "Whether the process has opened a device."},
        {NULL, NULL, 0, NULL}};
    static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "vyre._vyre",
                                     .m_doc = "Kernels, devices and operations of libvyre.",
                                     .m_size = -1, .m_methods = functions};
    PyObject *module = PyModule_Create(&definition);
    if (!module || !python_import(&python.make_error, "vyre._errors", "make") ||
        !(python.kernel_type = kernel_type_make()) || !(python.device_type = device_type_make()) ||
        !(python.array_type = array_type_make()) || PyModule_AddType(module, python.kernel_type) ||
        PyModule_AddType(module, python.device_type) ||
        PyModule_AddType(module, python.array_type) ||
        PyModule_AddStringConstant(module, "__version__", VYRE_VERSION_STRING)) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
