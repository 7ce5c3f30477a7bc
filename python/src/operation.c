#include "operation.h"

#include "error.h"

static const char *role_name(vyre_role role) {
    switch (role) {
    case VYRE_ROLE_INPUT: return "in";
    case VYRE_ROLE_OUTPUT: return "out";
    case VYRE_ROLE_UPDATED: return "inout";
    case VYRE_ROLE_ATTRIBUTE: return "scalar";
    }
    return "?";
}

static PyObject *list_parameters(const vyre_operation *operation) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < operation->parameter_count && list; i++) {
        const vyre_parameter *parameter = &operation->parameters[i];
        PyObject *item = Py_BuildValue("sss", parameter->name, role_name(parameter->role),
                                       vyre_type_name(parameter->type));
        python_append(&list, item);
    }
    return list;
}

static PyObject *list_laws(const vyre_operation *operation) {
    static const char *const names[] = {
#define LAW_NAME(name, text, operand, meaning) text,
        VYRE_LAWS(LAW_NAME)
#undef LAW_NAME
    };
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < operation->law_count && list; i++) {
        const vyre_law *law = &operation->laws[i];
        PyObject *item = law->operand
                             ? PyUnicode_FromFormat("%s(%s)", names[law->kind], law->operand)
                             : PyUnicode_FromString(names[law->kind]);
        python_append(&list, item);
    }
    return list;
}

static PyObject *list_witnesses(const vyre_operation *operation) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < operation->witness_count && list; i++) {
        PyObject *item = Py_BuildValue("ss", operation->witnesses[i].arguments,
                                       operation->witnesses[i].expected);
        python_append(&list, item);
    }
    return list;
}

static PyObject *describe(const vyre_operation *operation) {
    PyObject *facts = Py_BuildValue("{s:s,s:s,s:s,s:s,s:O,s:N,s:N,s:N}", "id", operation->id,
                                    "dialect", operation->dialect, "version", operation->version,
                                    "doc", operation->doc ? operation->doc : "", "is_function",
                                    operation->form == VYRE_OPERATION_FUNCTION ? Py_True : Py_False,
                                    "parameters", list_parameters(operation), "laws",
                                    list_laws(operation), "witnesses", list_witnesses(operation));
    return facts;
}

static vyre_status enter(vyre_dialects_guard *guard, const vyre_dialects **out_now) {
    vyre_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = vyre_dialects_try_enter(guard, out_now);
    PyEval_RestoreThread(thread);
    return status;
}

PyObject *operation_ids(PyObject *module, PyObject *unused) {
    vyre_dialects_guard guard;
    const vyre_dialects *now;
    (void)module;
    (void)unused;
    vyre_status status = enter(&guard, &now);
    if (status) {
        return error_raise(status);
    }
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < vyre_dialects_count(now) && list; i++) {
        const vyre_operation *operation = vyre_dialects_at(now, i);
        if (vyre_operation_has_program(operation)) { /* others cannot be called */
            python_append(&list, PyUnicode_FromString(operation->id));
        }
    }
    vyre_dialects_leave(&guard);
    return list;
}

static vyre_status refuse_unknown(const char *id) {
    return vyre_status_make(VYRE_STATUS_NOT_FOUND, "list them with dir(vyre.ops)",
                            "there is no operation `%s` with a program", id);
}

PyObject *operation_describe(PyObject *module, PyObject *id) {
    vyre_dialects_guard guard;
    const vyre_dialects *now;
    const char *text = PyUnicode_AsUTF8AndSize(id, NULL);
    (void)module;
    if (!text) {
        return NULL;
    }
    vyre_status status = enter(&guard, &now);
    if (status) {
        return error_raise(status);
    }
    const vyre_operation *operation = vyre_dialects_find(now, text);
    PyObject *facts = operation ? describe(operation) : error_raise(refuse_unknown(text));
    vyre_dialects_leave(&guard);
    return facts;
}

/* Keeps the snapshot that owns the operation. */
static vyre_status find(kernel *self, const char *id) {
    vyre_dialects_guard guard;
    const vyre_dialects *now;
    vyre_status status = vyre_dialects_try_enter(&guard, &now);
    if (status) {
        return status;
    }
    const vyre_program *program = NULL;
    const vyre_operation *operation = vyre_dialects_find(now, id);
    status = operation ? vyre_operation_program(operation, NULL, &program) : refuse_unknown(id);
    if (!status && !program) {
        status = refuse_unknown(id);
    }
    if (!status) {
        self->operation = operation;
        self->snapshot = vyre_dialects_retain(now);
        self->program = vyre_program_retain((vyre_program *)(uintptr_t)program);
    }
    vyre_dialects_leave(&guard);
    return status;
}

PyObject *kernel_from_operation(PyObject *class, PyObject *id) {
    const char *text = PyUnicode_AsUTF8AndSize(id, NULL);
    kernel *self = text ? (kernel *)PyType_GenericAlloc((PyTypeObject *)class, 0) : NULL;
    vyre_status status;
    if (!self) {
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    status = find(self, text);
    PyEval_RestoreThread(thread);
    if (status) {
        Py_DECREF(self);
        return error_raise(status);
    }
    self->text = self->operation->text
                     ? PyUnicode_DecodeUTF8(self->operation->text,
                                            (Py_ssize_t)self->operation->text_size, "replace")
                     : PyUnicode_FromString("");
    if (!self->text || spec_init(&self->spec, self->program, kernel_name(self))) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}
