#include "call.h"

#include "error.h"
#include "results.h"
#include "scalar.h"
#include "stream.h"

static int open_scalar(call *self, size_t index) {
    const argument_spec *argument = &self->spec->arguments[index];
    operand *given = &self->operands[index];
    if (scalar_read(given->object, argument->type, argument->where, &given->bits)) {
        return -1;
    }
    self->numbers[index] = scalar_extend(argument->type, given->bits);
    self->arguments[index] =
        (vyre_output){(uint8_t *)&given->bits, vyre_type_bytes(argument->type)};
    return 0;
}

static bool has_stream(const call *self) {
    return self->config.flags & VYRE_DISPATCH_STREAM;
}

static void follow(call *self, const array *given) {
    self->config.flags |= VYRE_DISPATCH_STREAM;
    self->config.stream = given->stream;
}

/* Finds the stream that an array keeps. Tensors of other libraries get ready for it, also those
 * that stand before the array. */
static void find_stream(call *self) {
    for (size_t i = 0; i < self->spec->count && !has_stream(self); i++) {
        PyObject *object = self->operands[i].object;
        if (object && PyObject_TypeCheck(object, python.array_type) &&
            stream_is_kept((array *)object)) {
            follow(self, (array *)object);
        }
    }
}

/* Refuses a call whose arrays are on different devices, or come from different streams. */
static int meet(call *self, size_t index) {
    const array *given = (array *)self->operands[index].array.array;
    if (self->where && self->where->device != given->device->device) {
        return error_refuse(
            ERROR_VALUE, "move the data first: device.array(x.numpy())",
            "%s is on device %s, and another argument on %s", self->spec->arguments[index].where,
            vyre_device_name(given->device->device), vyre_device_name(self->where->device));
    }
    self->where = given->device;
    if (!stream_is_kept(given)) {
        return 0;
    }
    if (has_stream(self) && self->config.stream != given->stream) {
        return error_refuse(ERROR_VALUE,
                            "pass the array of the other library itself, or share both on one "
                            "stream",
                            "%s was shared on another stream than the other arrays",
                            self->spec->arguments[index].where);
    }
    follow(self, given);
    return 0;
}

static int open_array(call *self, size_t index) {
    const argument_spec *argument = &self->spec->arguments[index];
    operand *given = &self->operands[index];
    const view_request request = {.wanted = argument->type,
                                  .where = argument->where,
                                  .stream = has_stream(self) ? &self->config.stream : NULL,
                                  .is_read = argument->access == VYRE_ACCESS_IN};
    if (view_open(&given->array, given->object, &request)) {
        return -1;
    }
    given->is_open = true;
    Py_ssize_t length = spec_check(argument, &given->array);
    if (length < 0 || (given->array.array && meet(self, index))) {
        return -1;
    }
    self->numbers[index] = (uint64_t)length;
    self->arguments[index] = (vyre_output){given->array.data, given->array.bytes};
    return 0;
}

/* The elements of an `out` buffer, from the arguments before it. */
static int open_output(call *self, size_t index) {
    const argument_spec *argument = &self->spec->arguments[index];
    operand *given = &self->operands[index];
    uint64_t length;
    vyre_status status =
        vyre_size_eval(self->kernel->program, argument->size, self->numbers, &length);
    if (status) {
        error_raise(status);
        return -1;
    }
    if (!given->object) {
        given->object = results_make_array(self, argument, length);
        given->is_made = true;
        if (!given->object || open_array(self, index)) {
            return -1;
        }
    }
    if (self->numbers[index] != length) {
        return error_refuse(ERROR_VALUE, "pass an array of that length, or none to get one",
                            "%s has %llu elements, and the kernel writes %llu", argument->where,
                            (unsigned long long)self->numbers[index], (unsigned long long)length);
    }
    return 0;
}

static int open_given(call *self, size_t index) {
    const argument_spec *argument = &self->spec->arguments[index];
    if (!self->operands[index].object) {
        return spec_is_output(argument)
                   ? 0
                   : error_refuse(ERROR_TYPE, "pass every argument that is not an output",
                                  "%s is missing", argument->where);
    }
    return argument->is_buffer ? open_array(self, index) : open_scalar(self, index);
}

static bool is_read_buffer(const argument_spec *argument) {
    return argument->is_buffer && argument->access == VYRE_ACCESS_IN;
}

static bool overlaps(vyre_output a, vyre_output b) {
    return a.data < b.data + b.size && b.data < a.data + a.size;
}

/* As with NumPy's functions, an input may overlap an output: the kernel then reads a copy of it. */
static int separate(call *self, size_t read) {
    for (size_t i = 0; i < self->spec->count; i++) {
        const argument_spec *written = &self->spec->arguments[i];
        if (written->is_buffer && !is_read_buffer(written) &&
            overlaps(self->arguments[read], self->arguments[i])) {
            view *memory = &self->operands[read].array;
            if (view_copy(memory)) {
                return -1;
            }
            self->arguments[read].data = memory->data;
        }
    }
    return 0;
}

static int separate_all(call *self) {
    for (size_t i = 0; i < self->spec->count; i++) {
        const operand *given = &self->operands[i];
        if (is_read_buffer(&self->spec->arguments[i]) && !given->array.copy &&
            !given->array.array && separate(self, i)) {
            return -1;
        }
    }
    return 0;
}

/* Arrays that are written come before those that are read: shared memory of both kinds is then one
 * buffer, and the run says which arguments overlap. */
static int open_all_given(call *self) {
    for (int are_read = 0; are_read < 2; are_read++) {
        for (size_t i = 0; i < self->spec->count; i++) {
            if (is_read_buffer(&self->spec->arguments[i]) == are_read && open_given(self, i)) {
                return -1;
            }
        }
    }
    return 0;
}

/* Outputs come last, because they are made on the device of the other arguments. */
int call_open(call *self) {
    find_stream(self);
    if (open_all_given(self)) {
        return -1;
    }
    for (size_t i = 0; i < self->spec->count && self->spec->output_count; i++) {
        if (spec_is_output(&self->spec->arguments[i]) && open_output(self, i)) {
            return -1;
        }
    }
    return separate_all(self);
}

static int call_init(call *self, kernel *of) {
    size_t count = of->spec.count;
    self->kernel = of;
    self->spec = &of->spec;
    self->device = self->out = NULL;
    self->where = NULL;
    self->allocated = NULL;
    self->config = (vyre_dispatch_config){0};
    self->operands = self->few_operands;
    self->numbers = self->few_numbers;
    self->arguments = self->few_arguments;
    if (count > CALL_FEW) {
        self->allocated =
            PyMem_Calloc(count, sizeof(operand) + sizeof(uint64_t) + sizeof(vyre_output));
        if (!self->allocated) {
            PyErr_NoMemory();
            return -1;
        }
        self->operands = self->allocated;
        self->arguments = (vyre_output *)(self->operands + count);
        self->numbers = (uint64_t *)(self->arguments + count);
    }
    for (size_t i = 0; i < count; i++) {
        self->operands[i].object = NULL;
        self->operands[i].is_made = self->operands[i].is_open = false;
    }
    return 0;
}

static void call_deinit(call *self) {
    for (size_t i = 0; i < self->spec->count; i++) {
        if (self->operands[i].is_open) {
            view_close(&self->operands[i].array);
        }
        if (self->operands[i].is_made) {
            Py_XDECREF(self->operands[i].object);
        }
    }
    PyMem_Free(self->allocated);
}

/* Binds and opens the arguments, then passes the call to `act`. */
static PyObject *with_call(PyObject *object, PyObject *arguments, PyObject *keywords,
                           PyObject *(*act)(call *self)) {
    call self;
    PyObject *result = NULL;
    if (call_init(&self, (kernel *)object)) {
        return NULL;
    }
    if (!call_bind(&self, arguments, keywords) && !call_open(&self)) {
        result = act(&self);
    }
    call_deinit(&self);
    return result;
}

static PyObject *run(call *self) {
    return call_run(self) ? NULL : call_results(self);
}

PyObject *kernel_call(PyObject *object, PyObject *arguments, PyObject *keywords) {
    return with_call(object, arguments, keywords, run);
}

PyObject *kernel_explain(PyObject *object, PyObject *arguments, PyObject *keywords) {
    return with_call(object, arguments, keywords, call_explain);
}
