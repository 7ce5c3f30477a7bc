#include "call.h"
#include "error.h"

/* A run on arrays of the device. Arrays of the host get resident buffers for the run. */
typedef struct resident_run {
    const call *of;
    vyre_device *device;
    vyre_binding *bindings;
    bool *is_ours;
} resident_run;

static bool is_written(const argument_spec *argument) {
    return argument->access != VYRE_ACCESS_IN;
}

static vyre_status send(resident_run *self, size_t index) {
    const argument_spec *argument = &self->of->spec->arguments[index];
    vyre_output memory = self->of->arguments[index];
    vyre_resident buffer;
    vyre_status status = vyre_resident_allocate(self->device, memory.size, &buffer);
    if (status) {
        return status;
    }
    self->is_ours[index] = true;
    self->bindings[index] = vyre_bind(buffer);
    return argument->access == VYRE_ACCESS_OUT
               ? VYRE_OK
               : vyre_resident_upload(self->device, buffer, memory.data, memory.size);
}

static vyre_status bind_all(resident_run *self) {
    vyre_status status = VYRE_OK;
    for (size_t i = 0; i < self->of->spec->count && !status; i++) {
        const argument_spec *argument = &self->of->spec->arguments[i];
        const operand *given = &self->of->operands[i];
        if (!argument->is_buffer) {
            self->bindings[i] = vyre_bind_typed(given->bits, argument->type);
        } else if (given->array.array) {
            self->bindings[i] = vyre_bind(((array *)given->array.array)->resident);
        } else {
            status = send(self, i);
        }
    }
    return status;
}

static vyre_status fetch_all(resident_run *self) {
    vyre_status status = VYRE_OK;
    for (size_t i = 0; i < self->of->spec->count && !status; i++) {
        if (self->is_ours[i] && is_written(&self->of->spec->arguments[i])) {
            vyre_output memory = self->of->arguments[i];
            status = vyre_resident_read(self->device, self->bindings[i].buffer, 0, memory.data,
                                        memory.size);
        }
    }
    return status;
}

static void free_all(resident_run *self) {
    for (size_t i = 0; i < self->of->spec->count; i++) {
        if (self->is_ours[i]) {
            vyre_status_free(vyre_resident_free(self->device, self->bindings[i].buffer));
        }
    }
}

static vyre_status run(resident_run *self, vyre_pipeline *pipeline) {
    vyre_status status = bind_all(self);
    if (!status) {
        status = vyre_pipeline_dispatch_resident(pipeline, self->bindings, self->of->spec->count,
                                                 &self->of->config, NULL);
    }
    status = status ? status : fetch_all(self);
    free_all(self);
    return status;
}

int call_run_resident(call *self, vyre_pipeline *pipeline) {
    size_t count = self->spec->count;
    resident_run of = {.of = self, .device = self->where->device};
    of.bindings = PyMem_Calloc(count, sizeof *of.bindings + sizeof *of.is_ours);
    if (!of.bindings) {
        PyErr_NoMemory();
        return -1;
    }
    of.is_ours = (bool *)(of.bindings + count);
    vyre_status status;
    PyThreadState *thread = PyEval_SaveThread();
    status = run(&of, pipeline);
    PyEval_RestoreThread(thread);
    PyMem_Free(of.bindings);
    if (status) {
        error_raise(status);
        return -1;
    }
    return 0;
}
