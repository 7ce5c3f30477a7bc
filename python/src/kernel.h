/* Kernels: programs that Python calls. */
#ifndef VYRE_PYTHON_KERNEL_H
#define VYRE_PYTHON_KERNEL_H

#include "spec.h"

enum { KERNEL_PIPELINES = 4 };

/* A kernel from a text, or an operation of the library, whose program depends on the device. */
typedef struct kernel {
    PyObject_HEAD PyObject *weak_references;
    PyObject *text;   /* str */
    PyObject *result; /* the type of its results, if it has several; NULL until needed */
    vyre_program *program;
    program_spec spec;
    /* The operation, which the snapshot owns; both are NULL for a kernel from a text. */
    const vyre_operation *operation;
    const vyre_dialects *snapshot;
    /* Pipelines for the devices of the latest runs. A thread retains the one that it runs. */
    vyre_pipeline *pipelines[KERNEL_PIPELINES];
    vyre_device *devices[KERNEL_PIPELINES];
    unsigned next_pipeline;
} kernel;

/* The id of the operation, or else the name of the program. */
const char *kernel_name(const kernel *self);

/* Says where a call with these arguments would run and why, as a dict. */
PyObject *kernel_explain(PyObject *object, PyObject *arguments, PyObject *keywords);

PyObject *kernel_call(PyObject *object, PyObject *arguments, PyObject *keywords);

/* Returns the program compiled for a device, which the caller releases; NULL with an exception.
 * Releases the GIL while it compiles. */
vyre_pipeline *kernel_compile(kernel *self, vyre_device *device,
                              const vyre_dispatch_config *config);
/* Releases all pipelines, because their device may be lost. */
void kernel_forget(kernel *self);

#endif
