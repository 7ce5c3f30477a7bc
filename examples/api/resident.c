/* Level 3: data that stays on the device, runs that are enqueued, runs on the caller's memory, a
 * run that goes on by itself, and times. */
#include <stdio.h>
#include <string.h>
#include <vyre/vyre.h>

static const char text[] = "program twice(x: inout buffer<f32>) over x { x[gid] *= 2.0; }";

/* Doubles a buffer on the device ten times; the host waits once, when it reads the result. */
static vyre_status run_resident(vyre_device *device, const vyre_program *program) {
    float x[] = {1, 2, 3};
    vyre_pipeline *pipeline = NULL;
    vyre_resident buffer;
    vyre_ticket ticket = 0;
    vyre_status status = vyre_resident_allocate(device, sizeof x, &buffer);
    if (status) {
        return status;
    }
    status = vyre_device_compile(device, program, NULL, &pipeline);
    if (!status) {
        status = vyre_resident_upload(device, buffer, x, sizeof x);
    }
    const vyre_binding binding = vyre_bind(buffer);
    for (int i = 0; i < 10 && !status; i++) {
        status = vyre_pipeline_enqueue(pipeline, &binding, 1, NULL, &ticket);
    }
    if (!status) {
        status = vyre_device_wait(device, ticket); /* also tells what went wrong, if anything */
    }
    if (!status) {
        status = vyre_resident_read(device, buffer, 0, x, sizeof x);
    }
    if (!status) {
        printf("resident: %g %g %g\n", (double)x[0], (double)x[1], (double)x[2]);
    }
    vyre_pipeline_release(pipeline);
    vyre_status freed = vyre_resident_free(device, buffer);
    if (status) {
        vyre_status_free(freed);
        return status;
    }
    return freed;
}

/* Runs on memory of its own, without a copy: a half of an array, bound by name. Devices that do not
 * reach the host's memory say so. */
static vyre_status run_imported(vyre_device *device, const vyre_program *program) {
    static float x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const vyre_memory memory = {
        .address = (uintptr_t)x, .size = sizeof x, .place = VYRE_MEMORY_HOST};
    vyre_resident all, half;
    vyre_status status = vyre_resident_import(device, &memory, NULL, NULL, &all);
    if (vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED) {
        vyre_status_free(status);
        printf("imported: not on this device\n");
        return NULL;
    }
    if (!status) {
        status = vyre_resident_range(device, all, sizeof x / 2, sizeof x / 2, &half);
    }
    if (!status) {
        const vyre_binding binding = vyre_named("x", vyre_bind(half));
        status = vyre_device_dispatch_resident(device, program, &binding, 1, NULL, NULL);
    }
    if (!status) {
        printf("imported: %g %g, %g %g\n", (double)x[0], (double)x[3], (double)x[4], (double)x[7]);
    }
    return status; /* the release of the device frees both, and `x` stays */
}

/* Starts a run, could do something else, and takes the result. */
static vyre_status run_async(vyre_device *device, const vyre_program *program) {
    float x[] = {1, 2, 3};
    const vyre_input input = {x, sizeof x};
    vyre_pending *pending = NULL;
    vyre_outputs outputs = {0};
    vyre_status status = vyre_device_dispatch_async(device, program, &input, 1, NULL, &pending);
    memset(x, 0, sizeof x); /* the inputs are the caller's again */
    if (!status) {
        status = vyre_pending_await(pending, &outputs);
    }
    if (!status) {
        memcpy(x, outputs.items[0].data, sizeof x);
        printf("async: %g %g %g\n", (double)x[0], (double)x[1], (double)x[2]);
    }
    vyre_pending_free(pending);
    vyre_outputs_free(&outputs);
    return status;
}

static vyre_status run_timed(vyre_device *device, const vyre_program *program) {
    const float x[] = {1, 2, 3};
    const vyre_input input = {x, sizeof x};
    vyre_outputs outputs = {0};
    vyre_timing timing;
    vyre_status status =
        vyre_device_dispatch_timed(device, program, &input, 1, NULL, &outputs, &timing);
    if (!status) {
        printf("timed: %s%s\n", timing.wall_ns != VYRE_NO_TIME ? "wall" : "",
               timing.device_ns != VYRE_NO_TIME ? " device" : "");
    }
    vyre_outputs_free(&outputs);
    return status;
}

int main(int argc, char **argv) {
    vyre_module *module = NULL;
    vyre_device *device = NULL;
    vyre_status status = vyre_module_parse("twice.vyre", text, strlen(text), NULL, &module);
    if (!status) {
        status = vyre_acquire(argc > 1 ? argv[1] : "reference", &device);
    }
    vyre_status (*const runs[])(vyre_device *, const vyre_program *) = {run_resident, run_imported,
                                                                        run_async, run_timed};
    for (int i = 0; i < 4 && !status; i++) {
        status = runs[i](device, vyre_module_program(module, 0));
    }
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
    }
    int result = status ? 1 : 0;
    vyre_status_free(status);
    vyre_device_release(device);
    vyre_module_free(module);
    return result;
}
