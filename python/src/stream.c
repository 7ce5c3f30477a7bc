#include "stream.h"

#include "device.h"
#include "error.h"
#include "kernel.h"

bool stream_is_kept(const array *self) {
    return self->has_stream && vyre_device_features(self->device->device) & VYRE_FEATURE_STREAMS;
}

/* A kernel that does nothing: a run of it in a stream starts when the work there has ended. */
static kernel *find_waiter(void) {
    if (!python.waiter) {
        PyObject *made = PyObject_CallFunction((PyObject *)python.kernel_type, "s",
                                               "program wait(n: u32) { phase over 1 { } }");
        if (python.waiter) { /* another thread was faster: parsing releases the GIL */
            PyErr_Clear();
            Py_XDECREF(made);
        } else {
            python.waiter = made;
        }
    }
    return (kernel *)python.waiter;
}

int stream_settle(const array *self) {
    if (!stream_is_kept(self)) {
        return 0;
    }
    const vyre_dispatch_config config = {.flags = VYRE_DISPATCH_STREAM, .stream = self->stream};
    const vyre_binding n = vyre_bind_typed(0, VYRE_TYPE_U32);
    kernel *waiter = find_waiter();
    vyre_pipeline *pipeline = waiter ? kernel_compile(waiter, self->device->device, &config) : NULL;
    if (!pipeline) {
        return -1;
    }
    PyThreadState *thread = PyEval_SaveThread();
    vyre_status status = vyre_pipeline_dispatch_resident(pipeline, &n, 1, &config, NULL);
    vyre_pipeline_release(pipeline);
    PyEval_RestoreThread(thread);
    if (status) {
        kernel_forget(waiter); /* the device may be lost */
        error_raise(status);
        return -1;
    }
    return 0;
}
