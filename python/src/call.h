/* Calls: the arguments of one call of a kernel, bound and checked, and its results. */
#ifndef VYRE_PYTHON_CALL_H
#define VYRE_PYTHON_CALL_H

#include "array.h"
#include "kernel.h"

/* An argument of a call. */
typedef struct operand {
    PyObject *object; /* borrowed if it was given, else owned; NULL if it is missing */
    bool is_made;     /* an output that the call makes */
    bool is_open;     /* `array` is to be closed */
    view array;
    uint64_t bits; /* of a scalar */
} operand;

enum { CALL_FEW = 12 };

typedef struct call {
    kernel *kernel;
    const program_spec *spec;
    operand *operands;
    uint64_t *numbers;      /* for size expressions: lengths and scalars */
    vyre_output *arguments; /* for the run */
    PyObject *device;       /* borrowed; NULL or None: chosen by the router */
    PyObject *out;          /* borrowed; NULL or None: outputs are made */
    device_object *where;   /* borrowed: the device of the arrays; NULL if all are on the host */
    vyre_dispatch_config config;
    vyre_prints prints;
    /* Storage for calls of a few arguments; others allocate it. */
    void *allocated;
    operand few_operands[CALL_FEW];
    uint64_t few_numbers[CALL_FEW];
    vyre_output few_arguments[CALL_FEW];
} call;

/* Binds positional and keyword arguments to those of the program, without looking at them. */
int call_bind(call *self, PyObject *arguments, PyObject *keywords);

/* Opens and checks the given arguments, and makes outputs that are not given. */
int call_open(call *self);

/* Runs the kernel on the device of the call, without the GIL. */
int call_run(call *self);

/* Says where the call would run and why, as a dict. */
PyObject *call_explain(call *self);

/* Runs on arrays of the device `where`; arrays of the host are copied there and back. */
int call_run_resident(call *self, vyre_pipeline *pipeline);

/* Returns what the call returns: None, the one output, or a named tuple of several. */
PyObject *call_results(call *self);

#endif
