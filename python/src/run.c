#include "call.h"

#include <string.h>

#include "device.h"
#include "error.h"

/* Writes a message of the kernel to sys.stdout. Keeps the first exception until the run ends. */
static void write_message(void *user, const vyre_message *message) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject **failure = user;
    PyObject *out = *failure ? NULL : PySys_GetObject("stdout");
    if (out && out != Py_None) {
        PyObject *done =
            PyObject_CallMethod(out, "write", "s#", message->text, (Py_ssize_t)message->size);
        PyObject *ended = done ? PyObject_CallMethod(out, "write", "s", "\n") : NULL;
        if (!ended) {
            PyObject *type, *value, *traceback;
            PyErr_Fetch(&type, &value, &traceback);
            PyErr_NormalizeException(&type, &value, &traceback);
            Py_XDECREF(type);
            Py_XDECREF(traceback);
            *failure = value;
        }
        Py_XDECREF(done);
        Py_XDECREF(ended);
    }
    PyGILState_Release(state);
}

static uint64_t total_bytes(const call *self) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < self->spec->count; i++) {
        bytes += self->arguments[i].size;
    }
    return bytes;
}

/* Asks the router for the fastest device for data of the host. The caller releases the choice. */
static const vyre_router_choice *choose(const call *self) {
    const vyre_operation *operation = self->kernel->operation;
    const vyre_router_choice *choice;
    if (device_prepare()) {
        return NULL;
    }
    const vyre_router_request request = {.op = operation ? operation->id : NULL,
                                         .program = self->kernel->program,
                                         .bytes = total_bytes(self)};
    vyre_status status;
    /* The first choice opens devices; later ones take less time than to get the GIL again. */
    PyThreadState *thread = python.has_chosen ? NULL : PyEval_SaveThread();
    status = vyre_router_choose(&request, &choice);
    if (thread) {
        PyEval_RestoreThread(thread);
        python.has_chosen = true;
    }
    if (status) {
        error_raise(status);
        return NULL;
    }
    return choice;
}

static vyre_device *choose_device(const call *self) {
    const vyre_router_choice *choice = choose(self);
    vyre_device *device = choice ? vyre_device_retain(choice->device) : NULL;
    vyre_router_choice_release(choice);
    return device;
}

/* Returns the device that the call names, or NULL if it names none, which is no error. */
static vyre_device *named_device(const call *self) {
    if (!self->device || self->device == Py_None) {
        return NULL;
    }
    if (PyObject_TypeCheck(self->device, python.device_type)) {
        return vyre_device_retain(((device_object *)self->device)->device);
    }
    if (!PyUnicode_Check(self->device)) {
        error_refuse(ERROR_TYPE, "pass a vyre.Device or a name, such as device=\"cpu\"",
                     "%s(): device is neither a device nor a str", kernel_name(self->kernel));
        return NULL;
    }
    const char *name = PyUnicode_AsUTF8AndSize(self->device, NULL);
    return name && strcmp(name, "auto") != 0 ? device_by_name(name) : NULL;
}

/* Returns the device of the call, which the caller releases. */
static vyre_device *find_device(const call *self) {
    vyre_device *named = named_device(self);
    if (!named && PyErr_Occurred()) {
        return NULL;
    }
    if (!self->where) {
        return named ? named : choose_device(self);
    }
    bool is_elsewhere = named && named != self->where->device;
    vyre_device_release(named);
    if (is_elsewhere) {
        error_refuse(ERROR_VALUE, "leave device= out, or move the data: device.array(x.numpy())",
                     "%s(): the data is on device %s, and device= names another",
                     kernel_name(self->kernel), vyre_device_name(self->where->device));
        return NULL;
    }
    return vyre_device_retain(self->where->device);
}

static PyObject *explain_choice(const call *self) {
    const vyre_router_choice *choice = choose(self);
    if (!choice) {
        return NULL;
    }
    bool is_measured = choice->latency_ns != VYRE_NO_TIME;
    PyObject *latency =
        is_measured ? PyFloat_FromDouble((double)choice->latency_ns * 1e-9) : Py_NewRef(Py_None);
    PyObject *facts = Py_BuildValue(
        "{s:s,s:s,s:s,s:s,s:K,s:N}", "device", vyre_device_name(choice->device), "source",
        vyre_router_source_name(choice->source), "why", choice->why, "note", choice->note, "bytes",
        (unsigned long long)total_bytes(self), "seconds", latency);
    vyre_router_choice_release(choice);
    return facts;
}

PyObject *call_explain(call *self) {
    vyre_device *named = named_device(self);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (!named && !self->where) {
        return explain_choice(self);
    }
    vyre_device *device = named ? named : self->where->device;
    PyObject *facts = Py_BuildValue(
        "{s:s,s:s,s:s,s:s,s:K,s:O}", "device", vyre_device_name(device), "source",
        named ? "named" : "data", "why", named ? "the call names it" : "the data is there", "note",
        "", "bytes", (unsigned long long)total_bytes(self), "seconds", Py_None);
    vyre_device_release(named);
    return facts;
}

static int run_host(const call *self, vyre_pipeline *pipeline) {
    vyre_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = vyre_pipeline_dispatch_in_place(pipeline, self->arguments, self->spec->count,
                                             &self->config);
    PyEval_RestoreThread(thread);
    if (status) {
        error_raise(status);
        return -1;
    }
    return 0;
}

/* Lets messages of the kernel go to sys.stdout. */
static void collect_prints(call *self, PyObject **failure) {
    if (self->spec->prints) {
        self->prints = (vyre_prints){.write = write_message, .user = failure};
        self->config.prints = &self->prints;
    }
}

/* Raises what writing a message raised, which it takes over; NULL if nothing did. */
static int raise_kept(PyObject *failure) {
    if (!failure) {
        return 0;
    }
    PyErr_SetObject((PyObject *)Py_TYPE(failure), failure);
    Py_DECREF(failure);
    return -1;
}

static int run_on(call *self, vyre_device *device) {
    PyObject *failure = NULL;
    collect_prints(self, &failure);
    vyre_pipeline *pipeline = kernel_compile(self->kernel, device, &self->config);
    if (!pipeline) {
        return -1;
    }
    int result = self->where ? call_run_resident(self, pipeline) : run_host(self, pipeline);
    vyre_pipeline_release(pipeline);
    if (result) {
        kernel_forget(self->kernel); /* the device may be lost */
        Py_XDECREF(failure);
        return -1;
    }
    return raise_kept(failure);
}

/* Whether the router chooses the device, and learns from the run. */
static bool is_learned_from(const call *self) {
    PyObject *device = self->device;
    bool is_auto = !device || device == Py_None ||
                   (PyUnicode_Check(device) && !PyUnicode_CompareWithASCIIString(device, "auto"));
    return is_auto && !self->where && vyre_router_learns();
}

/* What the router learned is to be saved before the process ends. */
static int save_at_exit(void) {
    static PyObject *arrange, *arranged;
    if (!arranged) {
        arranged = python_import(&arrange, "vyre._report", "save_routes_at_exit")
                       ? PyObject_CallFunctionObjArgs(arrange, NULL)
                       : NULL;
    }
    return arranged ? 0 : -1;
}

static vyre_status run_by_router(const call *self, vyre_argument *arguments) {
    const vyre_ir *ir = vyre_program_ir(self->kernel->program);
    const vyre_operation *operation = self->kernel->operation;
    size_t count = self->spec->count;
    for (size_t i = 0; i < count; i++) {
        const argument_spec *argument = &self->spec->arguments[i];
        vyre_output memory = self->arguments[i];
        bool is_written = argument->is_buffer && argument->access != VYRE_ACCESS_IN;
        arguments[i] = (vyre_argument){.name = ir->strings + ir->args[i].name,
                                       .in = spec_is_output(argument) ? NULL : memory.data,
                                       .out = is_written ? memory.data : NULL,
                                       .size = memory.size};
    }
    return operation
               ? vyre_run_operation(NULL, operation->id, arguments, count, &self->config)
               : vyre_run_program(NULL, self->kernel->program, arguments, count, &self->config);
}

static int run_and_learn(call *self) {
    vyre_argument *arguments = PyMem_Calloc(self->spec->count + 1, sizeof *arguments);
    PyObject *failure = NULL;
    if (!arguments || save_at_exit()) {
        PyMem_Free(arguments);
        return PyErr_Occurred() ? -1 : (PyErr_NoMemory(), -1);
    }
    collect_prints(self, &failure);
    PyThreadState *thread = PyEval_SaveThread();
    vyre_status status = run_by_router(self, arguments);
    PyEval_RestoreThread(thread);
    PyMem_Free(arguments);
    if (status) {
        Py_XDECREF(failure);
        error_raise(status);
        return -1;
    }
    return raise_kept(failure);
}

int call_run(call *self) {
    if (is_learned_from(self)) {
        return device_prepare() ? -1 : run_and_learn(self);
    }
    vyre_device *device = find_device(self);
    if (!device) {
        return -1;
    }
    int result = run_on(self, device);
    vyre_device_release(device);
    return result;
}
