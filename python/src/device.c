#include "device.h"

#include <string.h>
#include <unistd.h>

#include "error.h"

enum { KEPT = 32 };

/* The devices that were opened by name. Only threads that hold the GIL use it. */
static struct {
    pid_t process;
    size_t count;
    struct {
        char name[32];
        vyre_device *device;
    } items[KEPT];
} kept;

/* A child process cannot use devices of its parent: it forgets them without closing them. */
static vyre_device *find_kept(const char *name) {
    if (kept.process != getpid()) {
        kept.process = getpid();
        kept.count = 0;
    }
    for (size_t i = 0; i < kept.count; i++) {
        if (!strcmp(kept.items[i].name, name)) {
            return vyre_device_retain(kept.items[i].device);
        }
    }
    return NULL;
}

static void keep(const char *name, vyre_device *device) {
    vyre_device *known = find_kept(name);
    if (!known && kept.count < KEPT && strlen(name) < sizeof kept.items->name) {
        strcpy(kept.items[kept.count].name, name);
        kept.items[kept.count++].device = vyre_device_retain(device);
    }
    vyre_device_release(known);
}

/* Arrays of "preferred" and of "cpu" meet if that is one device: it is kept under the name it was
 * asked for and under its own. A faster thread may have kept it already. */
static vyre_device *keep_once(const char *name, vyre_device *opened) {
    vyre_device *known = find_kept(vyre_device_name(opened));
    if (known) {
        vyre_device_release(opened);
    }
    vyre_device *device = known ? known : opened;
    keep(vyre_device_name(device), device);
    keep(name, device);
    return device;
}

/* The library opens llvmlite only if it finds no libLLVM. */
int device_prepare(void) {
    if (python.has_device) {
        return 0;
    }
    PyObject *find = NULL;
    PyObject *path = python_import(&find, "vyre._llvm", "find_llvmlite")
                         ? PyObject_CallFunctionObjArgs(find, NULL)
                         : NULL;
    const char *text = path && path != Py_None ? PyUnicode_AsUTF8AndSize(path, NULL) : NULL;
    vyre_status status = text ? vyre_llvmlite_set(text) : VYRE_OK;
    Py_XDECREF(path);
    Py_XDECREF(find);
    if (status) {
        error_raise(status);
        return -1;
    }
    python.has_device = !PyErr_Occurred();
    return python.has_device ? 0 : -1;
}

vyre_device *device_by_name(const char *name) {
    vyre_device *device = find_kept(name);
    if (device || device_prepare()) {
        return device;
    }
    vyre_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = vyre_acquire(name, &device);
    PyEval_RestoreThread(thread);
    if (status) {
        error_raise(status);
        return NULL;
    }
    return keep_once(name, device);
}
