#include "results.h"

#include "error.h"

/* NumPy's dtype for the elements. Those of scalar types are cached; those of records are not. */
static PyObject *find_dtype(const argument_spec *argument) {
    PyObject **kept = &python.dtypes[argument->type];
    if (argument->type != VYRE_TYPE_VOID && *kept) {
        return Py_NewRef(*kept);
    }
    PyObject *make = NULL;
    if (!python_import(&make, "vyre._arrays",
                       argument->type == VYRE_TYPE_VOID ? "record_dtype" : "scalar_dtype")) {
        return NULL;
    }
    PyObject *dtype = NULL;
    if (argument->type != VYRE_TYPE_VOID) {
        dtype = PyObject_CallFunction(make, "s", view_dtype_name(argument->type));
        *kept = Py_XNewRef(dtype);
    } else {
        PyObject *fields = PyList_New(0);
        for (size_t i = 0; i < argument->field_count && fields; i++) {
            PyObject *field = Py_BuildValue("ns", (Py_ssize_t)argument->fields[i].offset,
                                            view_dtype_name(argument->fields[i].type));
            python_append(&fields, field);
        }
        dtype = fields
                    ? PyObject_CallFunction(make, "On", fields, (Py_ssize_t)argument->element_bytes)
                    : NULL;
        Py_XDECREF(fields);
    }
    Py_DECREF(make);
    return dtype;
}

static bool has_length(const view *like, uint64_t length) {
    uint64_t elements = 1;
    for (int i = 0; i < like->dimensions; i++) {
        elements *= (uint64_t)like->shape[i];
    }
    return elements == length;
}

/* The sides that the program declares. */
static PyObject *declared_shape(const call *self, const argument_spec *argument) {
    Py_ssize_t shape[VYRE_MOST_DIMENSIONS];
    for (uint32_t i = 0; i < argument->side_count; i++) {
        uint64_t side;
        vyre_status status =
            vyre_size_eval(self->kernel->program, argument->sides[i], self->numbers, &side);
        if (status) {
            return error_raise(status);
        }
        if (side > PY_SSIZE_T_MAX) {
            error_refuse(ERROR_VALUE, "pass arguments that give smaller sides",
                         "%s has a side of %llu elements", argument->where,
                         (unsigned long long)side);
            return NULL;
        }
        shape[i] = (Py_ssize_t)side;
    }
    return python_shape(shape, (int)argument->side_count);
}

static PyObject *make_shape(const call *self, const argument_spec *argument, uint64_t length) {
    const view *like =
        argument->shaped_like == VYRE_NONE ? NULL : &self->operands[argument->shaped_like].array;
    if (argument->side_count > 1) {
        return declared_shape(self, argument);
    }
    return like && has_length(like, length) ? python_shape(like->shape, like->dimensions)
                                            : PyLong_FromUnsignedLongLong(length);
}

PyObject *results_make_array(const call *self, const argument_spec *argument, uint64_t length) {
    device_object *where = self->where;
    PyObject *make = where ? python_import(&python.make_output, "vyre._device", "make_output")
                           : python_import(&python.empty, "numpy", "empty");
    PyObject *dtype = make ? find_dtype(argument) : NULL;
    PyObject *shape = dtype ? make_shape(self, argument, length) : NULL;
    PyObject *made =
        shape ? PyObject_CallFunctionObjArgs(make, shape, dtype, (PyObject *)where, NULL) : NULL;
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    return made;
}

/* The type of the results of a kernel with several. */
static PyObject *result_type(const call *self) {
    if (!self->kernel->result) {
        PyObject *make = python_import(&python.make_results, "vyre._arrays", "results_type");
        self->kernel->result =
            make ? PyObject_CallFunctionObjArgs(make, (PyObject *)self->kernel, NULL) : NULL;
    }
    return self->kernel->result;
}

PyObject *call_results(call *self) {
    size_t count = self->spec->output_count, next = 0;
    if (!count) {
        return Py_NewRef(Py_None);
    }
    PyObject *items = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; i < self->spec->count && items; i++) {
        const argument_spec *argument = &self->spec->arguments[i];
        if (spec_is_output(argument)) {
            PyTuple_SetItem(items, (Py_ssize_t)next++, Py_NewRef(self->operands[i].object));
        }
    }
    PyObject *type = items && count > 1 ? result_type(self) : NULL;
    PyObject *result = NULL;
    if (items && count == 1) {
        result = Py_NewRef(PyTuple_GetItem(items, 0));
    } else if (type) {
        result = PyObject_Call(type, items, NULL);
    }
    Py_XDECREF(items);
    return result;
}
