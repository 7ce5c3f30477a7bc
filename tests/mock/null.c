/* A backend that does nothing, to measure what everything around it costs. */
#include <stdatomic.h>

#include "tests/mock/state.h"

static atomic_uint_fast64_t numbers;

static uint64_t next(void) {
    return atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed) + 1;
}

static const char *id(const vyre_backend *backend) {
    mock *self = backend->state;
    return self->spec.id;
}

static vyre_status dispatch(const vyre_backend *backend, const vyre_call *call,
                            vyre_output *outputs) {
    (void)backend;
    (void)call;
    (void)outputs;
    return NULL;
}

static uint32_t features(const vyre_backend *backend) {
    mock *self = backend->state;
    return self->spec.features;
}

static vyre_status allocate(const vyre_backend *backend, size_t size, uint64_t *out_buffer) {
    (void)backend;
    (void)size;
    *out_buffer = next();
    return NULL;
}

static vyre_status upload(const vyre_backend *backend, uint64_t buffer, size_t offset,
                          const void *data, size_t size) {
    (void)backend;
    (void)buffer;
    (void)offset;
    (void)data;
    (void)size;
    return NULL;
}

static vyre_status read_back(const vyre_backend *backend, uint64_t buffer, size_t offset,
                             void *data, size_t size) {
    (void)backend;
    (void)buffer;
    (void)offset;
    (void)data;
    (void)size;
    return NULL;
}

static vyre_status free_buffer(const vyre_backend *backend, uint64_t buffer) {
    (void)backend;
    (void)buffer;
    return NULL;
}

static vyre_status dispatch_resident(const vyre_backend *backend, const vyre_call *call,
                                     const uint64_t *buffers, vyre_timing *out_timing) {
    (void)backend;
    (void)call;
    (void)buffers;
    *out_timing = vyre_no_times;
    out_timing->wall_ns = 0;
    return NULL;
}

static vyre_status pipeline_dispatch(const vyre_native *native, const vyre_call *call,
                                     vyre_output *outputs) {
    (void)native;
    (void)call;
    (void)outputs;
    return NULL;
}

static vyre_status enqueue(const vyre_native *native, const vyre_call *call,
                           const uint64_t *buffers, uint64_t *out_ticket) {
    (void)native;
    (void)call;
    (void)buffers;
    *out_ticket = next();
    return NULL;
}

static vyre_status compile(const vyre_backend *backend, const vyre_compile *request,
                           vyre_native *out_native) {
    static const vyre_pipeline_slots slots = {
        VYRE_PIPELINE_HEAD,
        .dispatch = pipeline_dispatch,
        .dispatch_borrowed = pipeline_dispatch,
        .dispatch_borrowed_into = pipeline_dispatch,
        .enqueue = enqueue,
    };
    (void)backend;
    (void)request;
    out_native->slots = &slots;
    return NULL;
}

void mock_fill_null(vyre_backend_slots *slots) {
    *slots = (vyre_backend_slots){
        VYRE_BACKEND_HEAD,
        .id = id,
        .dispatch = dispatch,
        .dispatch_borrowed = dispatch,
        .dispatch_borrowed_into = dispatch,
        .resident_allocate = allocate,
        .resident_upload = upload,
        .resident_read = read_back,
        .resident_free = free_buffer,
        .resident_dispatch_timed = dispatch_resident,
        .compile_native = compile,
        .features = features,
    };
}
