
#include "device.h"
#include "error.h"

static const char device_doc[] = "Device(name)\n--\n\nA device of the process, by its name.";

static PyObject *device_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    const char *name;
    static const char *const names[] = {"name", NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "s:Device", (char **)(uintptr_t)names,
                                     &name)) {
        return NULL;
    }
    device_object *self = (device_object *)PyType_GenericAlloc(type, 0);
    if (self && !(self->device = device_by_name(name))) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void device_dealloc(PyObject *object) {
    device_object *self = (device_object *)object;
    if (self->weak_references) {
        PyObject_ClearWeakRefs(object);
    }
    PyThreadState *thread = PyEval_SaveThread(); /* the last release waits for all work */
    vyre_device_release(self->device);
    PyEval_RestoreThread(thread);
    python_free(object);
}

static PyObject *synchronize(PyObject *object, PyObject *unused) {
    vyre_device *device = ((device_object *)object)->device;
    vyre_status status;
    (void)unused;
    PyThreadState *thread = PyEval_SaveThread();
    status = vyre_device_flush(device);
    PyEval_RestoreThread(thread);
    return status ? error_raise(status) : Py_NewRef(Py_None);
}

/* Objects for one device are equal. */
static PyObject *compare(PyObject *a, PyObject *b, int how) {
    if ((how != Py_EQ && how != Py_NE) || !PyObject_TypeCheck(b, python.device_type)) {
        return Py_NewRef(Py_NotImplemented);
    }
    bool is_same = ((device_object *)a)->device == ((device_object *)b)->device;
    return PyBool_FromLong(is_same == (how == Py_EQ));
}

static Py_hash_t hash(PyObject *object) {
    return (Py_hash_t)((uintptr_t)((device_object *)object)->device >> 4);
}

/* The profile of the device, as a dict. */
static PyObject *get_profile(PyObject *object, void *unused) {
    const vyre_device *device = ((device_object *)object)->device;
    vyre_profile profile;
    (void)unused;
    vyre_device_profile(device, &profile);
    PyObject *facts = Py_BuildValue("{s:s,s:s,s:s,s:s,s:O}", "backend", vyre_device_id(device),
                                    "version", vyre_device_version(device), "device",
                                    profile.device, "driver", profile.driver, "is_gpu",
                                    profile.flags & VYRE_PROFILE_IS_GPU ? Py_True : Py_False);
#define ADD_NUMBER(field)                                                                          \
    if (facts) {                                                                                   \
        PyObject *number = PyLong_FromUnsignedLongLong(profile.field);                             \
        if (!number || PyDict_SetItemString(facts, #field, number)) {                              \
            Py_CLEAR(facts);                                                                       \
        }                                                                                          \
        Py_XDECREF(number);                                                                        \
    }
    VYRE_PROFILE_NUMBERS(ADD_NUMBER)
#undef ADD_NUMBER
    return facts;
}

static PyObject *get_name(PyObject *object, void *unused) {
    (void)unused;
    return PyUnicode_FromString(vyre_device_name(((device_object *)object)->device));
}

PyTypeObject *device_type_make(void) {
    static PyMethodDef methods[] = {{"synchronize", synchronize, METH_NOARGS,
                                     "synchronize()\n--\n\nWait for all work on the device."},
                                    {NULL, NULL, 0, NULL}};
    static PyGetSetDef properties[] = {
        {"name", get_name, NULL, "The name, such as \"cpu\" or \"cuda:1\".", NULL},
        {"profile", get_profile, NULL, "What the device says of itself, as a dict.", NULL},
        {NULL, NULL, NULL, NULL, NULL}};
    static PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET,
                                     offsetof(device_object, weak_references), READONLY, NULL},
                                    {NULL, 0, 0, 0, NULL}};
    PyType_Slot slots[] = {{Py_tp_doc, (void *)(uintptr_t)device_doc},
                           {Py_tp_new, (void *)(uintptr_t)device_new},
                           {Py_tp_dealloc, (void *)(uintptr_t)device_dealloc},
                           {Py_tp_richcompare, (void *)(uintptr_t)compare},
                           {Py_tp_hash, (void *)(uintptr_t)hash},
                           {Py_tp_methods, methods},
                           {Py_tp_getset, properties},
                           {Py_tp_members, members},
                           {0, NULL}};
    PyType_Spec spec = {"vyre._vyre.Device", sizeof(device_object), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    return (PyTypeObject *)PyType_FromSpec(&spec);
}
