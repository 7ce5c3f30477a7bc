/* Devices: the process keeps those that were opened by name. Objects stand for them in Python. */
#ifndef VYRE_PYTHON_DEVICE_H
#define VYRE_PYTHON_DEVICE_H

#include "python.h"

typedef struct device_object {
    PyObject_HEAD PyObject *weak_references;
    vyre_device *device;
} device_object;

/* Tells the library where llvmlite is, once, before the first device is opened. */
int device_prepare(void);

/* Returns a device by its name, which the caller releases; NULL with an exception. The process
 * keeps devices by name. A child of fork() gets devices of its own. */
vyre_device *device_by_name(const char *name);

#endif
