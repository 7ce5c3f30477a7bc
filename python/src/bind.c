#include "call.h"

#include <math.h>
#include <stdio.h>

#include "error.h"

static int set_timeout(call *self, PyObject *seconds) {
    if (seconds == Py_None) {
        return 0;
    }
    double value = PyFloat_AsDouble(seconds);
    bool is_number = !PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_OverflowError);
    PyErr_Clear();
    if (!(value > 0) || value > 1e9) {
        return error_refuse(
            is_number ? ERROR_VALUE : ERROR_TYPE, "pass seconds, such as timeout=2.5, or None",
            "%s(): timeout is not a positive number of seconds", kernel_name(self->kernel));
    }
    self->config.timeout_ns = (uint64_t)ceil(value * 1e9);
    return 0;
}

/* An option of the call itself: device, timeout or out. Returns 0 if it is one. */
static int take_option(call *self, PyObject *name, PyObject *value) {
    if (!PyUnicode_CompareWithASCIIString(name, "device")) {
        self->device = value;
    } else if (!PyUnicode_CompareWithASCIIString(name, "timeout")) {
        return set_timeout(self, value);
    } else if (!PyUnicode_CompareWithASCIIString(name, "out")) {
        self->out = value;
    } else {
        const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
        return text ? error_refuse(ERROR_TYPE,
                                   "name an argument of the program, device, timeout or out",
                                   "%s() has no argument `%s`", kernel_name(self->kernel), text)
                    : -1;
    }
    return 0;
}

static int take_keyword(call *self, PyObject *name, PyObject *value) {
    if (!PyUnicode_Check(name)) { /* f(**{1: 2}) comes as far as here */
        return error_refuse(ERROR_TYPE, "name arguments with a str",
                            "%s(): the name of an argument is not a str",
                            kernel_name(self->kernel));
    }
    Py_ssize_t index = spec_find(self->spec, name);
    if (index < 0) {
        return -1;
    }
    if ((size_t)index == self->spec->count) {
        return take_option(self, name, value);
    }
    if (self->operands[index].object) {
        return error_refuse(ERROR_TYPE, "pass it once", "%s is passed twice",
                            self->spec->arguments[index].where);
    }
    /* None for an output asks for a new array, as in NumPy. */
    bool is_left_out = value == Py_None && spec_is_output(&self->spec->arguments[index]);
    self->operands[index].object = is_left_out ? NULL : value;
    return 0;
}

/* Positional arguments are all arguments of the program, or all but its outputs. */
static int take_positional(call *self, PyObject *arguments) {
    size_t count = (size_t)PyTuple_Size(arguments), next = 0;
    const program_spec *spec = self->spec;
    size_t inputs = spec->count - spec->output_count;
    bool with_outputs = count > inputs;
    if (with_outputs && count != spec->count) {
        char fix[128];
        snprintf(fix, sizeof fix, "pass %zu arguments%s, and name the others", inputs,
                 spec->output_count ? " without the outputs" : "");
        return error_refuse(ERROR_TYPE, fix,
                            "%s() takes %zu arguments, %zu of them outputs, and %zu were given",
                            kernel_name(self->kernel), spec->count, spec->output_count, count);
    }
    for (size_t i = 0; i < spec->count && next < count; i++) {
        if (with_outputs || !spec_is_output(&spec->arguments[i])) {
            self->operands[i].object = PyTuple_GetItem(arguments, (Py_ssize_t)next++);
        }
    }
    return 0;
}

static int refuse_out(const call *self) {
    return error_refuse(ERROR_TYPE, "pass an array, or a tuple with one for each output",
                        "%s(): out does not match the %zu outputs of the kernel, or one of them is "
                        "passed twice",
                        kernel_name(self->kernel), self->spec->output_count);
}

/* Outputs in `out` are in declaration order; None asks for a new array. */
static int take_out(call *self) {
    bool is_tuple = PyTuple_Check(self->out);
    size_t count = is_tuple ? (size_t)PyTuple_Size(self->out) : 1, next = 0;
    if (count != self->spec->output_count) {
        return refuse_out(self);
    }
    for (size_t i = 0; i < self->spec->count; i++) {
        if (spec_is_output(&self->spec->arguments[i])) {
            PyObject *item = is_tuple ? PyTuple_GetItem(self->out, (Py_ssize_t)next) : self->out;
            next++;
            if (self->operands[i].object && item != Py_None) {
                return refuse_out(self);
            }
            if (item != Py_None) {
                self->operands[i].object = item;
            }
        }
    }
    return 0;
}

int call_bind(call *self, PyObject *arguments, PyObject *keywords) {
    PyObject *name, *value;
    Py_ssize_t position = 0;
    if (take_positional(self, arguments)) {
        return -1;
    }
    while (keywords && PyDict_Next(keywords, &position, &name, &value)) {
        if (take_keyword(self, name, value)) {
            return -1;
        }
    }
    return self->out && self->out != Py_None ? take_out(self) : 0;
}
