#include "kernel.h"

#include "error.h"
#include "operation.h"

static const char kernel_doc[] = "Kernel(text, file=None, program=None)\n--\n\n"
                                 "A compiled kernel. Call vyre.kernel() to make one.";

/* What parsing needs, without the GIL. */
typedef struct source {
    const char *text, *file, *program;
    size_t size;
    char *joined;
    size_t joined_size;
    vyre_diagnostics *diagnostics;
    vyre_module *module;
    vyre_program *found;
} source;

static vyre_status find_program(source *s) {
    if (s->program) {
        return vyre_module_instantiate(s->module, s->program, s->diagnostics, &s->found);
    }
    if (!vyre_module_count(s->module)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "write a program, or name an instance of a generic one: "
                                "vyre.kernel(text, program=\"name<f32>\")",
                                "the text has no program that is not generic");
    }
    if (vyre_module_count(s->module) != 1) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "name one of them: vyre.kernel(text, program=\"name\")",
                                "the text has %zu programs", vyre_module_count(s->module));
    }
    s->found = vyre_module_program(s->module, 0);
    return VYRE_OK;
}

static vyre_status parse(source *s) {
    const vyre_text_reader files = {vyre_text_read_file, NULL};
    vyre_status status = vyre_diagnostics_create(&s->diagnostics);
    if (!status) {
        status = vyre_text_join(&files, s->file, s->text, s->size, s->diagnostics, &s->joined,
                                &s->joined_size);
    }
    if (!status) {
        status = vyre_module_parse(s->file, s->joined, s->joined_size, s->diagnostics, &s->module);
    }
    return status ? status : find_program(s);
}

static int read_source(kernel *self, source *s) {
    vyre_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = parse(s);
    PyEval_RestoreThread(thread);
    if (status) {
        bool is_joined = s->joined;
        error_raise_diagnostics(status, s->diagnostics, s->file, is_joined ? s->joined : s->text,
                                is_joined ? s->joined_size : s->size);
    } else {
        self->program = vyre_program_retain(s->found);
    }
    vyre_module_free(s->module);
    vyre_diagnostics_free(s->diagnostics);
    vyre_string_free(s->joined);
    return self->program ? spec_init(&self->spec, self->program, kernel_name(self)) : -1;
}

static PyObject *kernel_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    source s = {0};
    PyObject *text;
    Py_ssize_t size;
    static const char *const names[] = {"text", "file", "program", NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "U|zz:Kernel", (char **)(uintptr_t)names,
                                     &text, &s.file, &s.program) ||
        !(s.text = PyUnicode_AsUTF8AndSize(text, &size))) {
        return NULL;
    }
    s.size = (size_t)size;
    kernel *self = (kernel *)PyType_GenericAlloc(type, 0);
    if (!self) {
        return NULL;
    }
    self->text = Py_NewRef(text);
    if (read_source(self, &s)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

const char *kernel_name(const kernel *self) {
    return self->operation ? self->operation->id : vyre_program_name(self->program);
}

void kernel_forget(kernel *self) {
    for (int i = 0; i < KERNEL_PIPELINES; i++) {
        vyre_pipeline *pipeline = self->pipelines[i];
        self->pipelines[i] = NULL;
        self->devices[i] = NULL;
        vyre_pipeline_release(pipeline);
    }
}

static void kernel_dealloc(PyObject *object) {
    kernel *self = (kernel *)object;
    if (self->weak_references) {
        PyObject_ClearWeakRefs(object);
    }
    kernel_forget(self);
    spec_deinit(&self->spec);
    vyre_program_release(self->program);
    vyre_dialects_release(self->snapshot);
    Py_XDECREF(self->text);
    Py_XDECREF(self->result);
    python_free(object);
}

static vyre_status compile(const kernel *self, vyre_device *device,
                           const vyre_dispatch_config *config, vyre_pipeline **out_pipeline) {
    const vyre_program *program = self->program;
    vyre_status status = VYRE_OK;
    if (self->operation) {
        status = vyre_operation_choose(self->operation, device, &program);
    }
    return status ? status : vyre_device_compile(device, program, config, out_pipeline);
}

vyre_pipeline *kernel_compile(kernel *self, vyre_device *device,
                              const vyre_dispatch_config *config) {
    for (int i = 0; i < KERNEL_PIPELINES; i++) {
        if (self->devices[i] == device) {
            return vyre_pipeline_retain(self->pipelines[i]);
        }
    }
    vyre_pipeline *pipeline = NULL;
    vyre_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = compile(self, device, config, &pipeline);
    PyEval_RestoreThread(thread);
    if (status) {
        error_raise(status);
        return NULL;
    }
    unsigned slot = self->next_pipeline++ % KERNEL_PIPELINES;
    vyre_pipeline *replaced = self->pipelines[slot];
    self->pipelines[slot] = vyre_pipeline_retain(pipeline);
    self->devices[slot] = device;
    vyre_pipeline_release(replaced);
    return pipeline;
}

static const char *access_name(const argument_spec *argument) {
    if (!argument->is_buffer) {
        return "scalar";
    }
    return argument->access == VYRE_ACCESS_IN      ? "in"
           : argument->access == VYRE_ACCESS_INOUT ? "inout"
                                                   : "out";
}

static PyObject *get_arguments(PyObject *object, void *unused) {
    const program_spec *spec = &((kernel *)object)->spec;
    PyObject *result = PyTuple_New((Py_ssize_t)spec->count);
    (void)unused;
    for (size_t i = 0; i < spec->count && result; i++) {
        const argument_spec *argument = &spec->arguments[i];
        PyObject *item = Py_BuildValue(
            "Oss", argument->name, access_name(argument),
            argument->type == VYRE_TYPE_VOID ? "record" : vyre_type_name(argument->type));
        if (!item || PyTuple_SetItem(result, (Py_ssize_t)i, item)) {
            Py_CLEAR(result);
        }
    }
    return result;
}

static PyObject *get_name(PyObject *object, void *unused) {
    (void)unused;
    return PyUnicode_FromString(kernel_name((kernel *)object));
}

static PyObject *get_text(PyObject *object, void *unused) {
    (void)unused;
    return Py_NewRef(((kernel *)object)->text);
}

static PyObject *get_digest(PyObject *object, void *unused) {
    vyre_digest digest = vyre_program_digest(((kernel *)object)->program);
    char text[33];
    (void)unused;
    PyOS_snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)digest.high,
                  (unsigned long long)digest.low);
    return PyUnicode_FromString(text);
}

static PyObject *get_determinism(PyObject *object, void *unused) {
    (void)unused;
    return PyUnicode_FromString(
        vyre_determinism_name(vyre_program_determinism(((kernel *)object)->program)));
}

PyTypeObject *kernel_type_make(void) {
    static PyGetSetDef properties[] = {
        {"name", get_name, NULL, "The name of the program, or the id of the operation.", NULL},
        {"text", get_text, NULL, "The source text, as it was given.", NULL},
        {"arguments", get_arguments, NULL,
         "One tuple (name, access, type) for each argument; access is scalar, in, inout or out.",
         NULL},
        {"digest", get_digest, NULL, "32 hexadecimal digits; equal programs have equal ones.",
         NULL},
        {"determinism", get_determinism, NULL,
         "Whether every run gives the same bytes, as the verifier knows it.", NULL},
        {NULL, NULL, NULL, NULL, NULL}};
    static PyMethodDef methods[] = {
        {"from_operation", kernel_from_operation, METH_O | METH_CLASS,
         "from_operation(id)\n--\n\nMake a kernel of an operation of the library."},
        {"_explain", (PyCFunction)(void (*)(void))kernel_explain, METH_VARARGS | METH_KEYWORDS,
         NULL},
        {NULL, NULL, 0, NULL}};
    static PyMemberDef members[] = {
        {"__weaklistoffset__", T_PYSSIZET, offsetof(kernel, weak_references), READONLY, NULL},
        {NULL, 0, 0, 0, NULL}};
    PyType_Slot slots[] = {{Py_tp_doc, (void *)(uintptr_t)kernel_doc},
                           {Py_tp_new, (void *)(uintptr_t)kernel_new},
                           {Py_tp_dealloc, (void *)(uintptr_t)kernel_dealloc},
                           {Py_tp_call, (void *)(uintptr_t)kernel_call},
                           {Py_tp_methods, methods},
                           {Py_tp_getset, properties},
                           {Py_tp_members, members},
                           {0, NULL}};
    PyType_Spec spec = {"vyre._vyre.Kernel", sizeof(kernel), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    return (PyTypeObject *)PyType_FromSpec(&spec);
}
