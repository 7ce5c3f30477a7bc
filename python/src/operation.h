/* Operations of the library, as facts and as kernels. */
#ifndef VYRE_PYTHON_OPERATION_H
#define VYRE_PYTHON_OPERATION_H

#include "kernel.h"

/* Functions of the module: the ids of all operations with a program, and what the manifest says of
 * one as a dict. */
PyObject *operation_ids(PyObject *module, PyObject *unused);
PyObject *operation_describe(PyObject *module, PyObject *id);

/* A class method of kernels: the one of an operation. */
PyObject *kernel_from_operation(PyObject *class, PyObject *id);

#endif
