/* The API from C++: all headers, and each of the three levels once. */
#include <cstdio>
#include <cstring>
#include <vyre/vyre.h>

static int fail(vyre_status status) {
    std::fprintf(stderr, "%s\n", vyre_status_text(status));
    vyre_status_free(status);
    return 1;
}

int main() {
    const char *text = "program twice(x: inout buffer<f32>) over x { x[gid] *= 2.0; }";
    float x[] = {1, 2, 3};
    const vyre_argument argument = {"x", x, x, sizeof x};
    if (vyre_status status = vyre_run("reference", text, &argument, 1, nullptr)) {
        return fail(status);
    }
    vyre_module *module = nullptr;
    vyre_device *device = nullptr;
    vyre_pipeline *pipeline = nullptr;
    vyre_resident buffer;
    if (vyre_status status = vyre_module_parse(nullptr, text, std::strlen(text), nullptr, &module)) {
        return fail(status);
    }
    if (vyre_status status = vyre_acquire("reference", &device)) {
        return fail(status);
    }
    vyre_program *program = vyre_module_program(module, 0);
    if (vyre_status status = vyre_device_compile(device, program, nullptr, &pipeline)) {
        return fail(status);
    }
    if (vyre_status status = vyre_resident_allocate(device, sizeof x, &buffer)) {
        return fail(status);
    }
    if (vyre_status status = vyre_resident_upload(device, buffer, x, sizeof x)) {
        return fail(status);
    }
    const vyre_binding binding = vyre_bind(buffer);
    if (vyre_status status = vyre_pipeline_enqueue(pipeline, &binding, 1, nullptr, nullptr)) {
        return fail(status);
    }
    if (vyre_status status = vyre_resident_read(device, buffer, 0, x, sizeof x)) {
        return fail(status);
    }
    vyre_pipeline_release(pipeline);
    vyre_device_release(device);
    vyre_module_free(module);
    std::printf("%g %g %g\n", x[0], x[1], x[2]);
    return 0;
}
