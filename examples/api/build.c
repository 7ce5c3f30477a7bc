/* A program made by calls, as a frontend of another language makes it: y = max(x + bias, 0) in
 * every second element, and 0 in the others. */
#include <stdio.h>
#include <string.h>
#include <vyre/vyre.h>

static vyre_status build(vyre_program **out_program) {
    vyre_builder *b;
    vyre_status status = vyre_builder_create("bias_odd", &b);
    if (status) {
        return status;
    }
    uint32_t x = vyre_build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_F32, VYRE_NONE);
    uint32_t y =
        vyre_build_buffer(b, "y", VYRE_ACCESS_OUT, VYRE_TYPE_F32, vyre_build_size_len(b, x));
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_len(b, x)}});
    uint32_t i = vyre_build_position(b, VYRE_OP_GID, 0);
    uint32_t number = vyre_build_convert(b, VYRE_TYPE_I32, i);
    uint32_t odd = vyre_build_op(b, VYRE_OP_AND, number, vyre_build_i32(b, 1), VYRE_NONE);
    uint32_t is_odd = vyre_build_op(b, VYRE_OP_EQ, odd, vyre_build_i32(b, 1), VYRE_NONE);
    uint32_t value = vyre_build_load(b, x, i);
    value = vyre_build_op(b, VYRE_OP_ADD, value, vyre_build_f32(b, 0.5F), VYRE_NONE);
    value = vyre_build_op(b, VYRE_OP_MAX, value, vyre_build_f32(b, 0), VYRE_NONE);
    value = vyre_build_op(b, VYRE_OP_SELECT, is_odd, value, vyre_build_f32(b, 0));
    vyre_build_store(b, y, i, value);
    vyre_build_phase_end(b);
    /* The builder remembers every mistake; this is the only place to look for one. */
    status = vyre_builder_finish(b, NULL, out_program);
    vyre_builder_free(b);
    return status;
}

int main(int argc, char **argv) {
    vyre_program *program = NULL;
    vyre_device *device = NULL;
    vyre_outputs outputs = {0};
    const float x[] = {0, 1, 2, 4};
    const vyre_input input = {x, sizeof x};

    vyre_status status = build(&program);
    if (!status) {
        status = vyre_acquire(argc > 1 ? argv[1] : "reference", &device);
    }
    if (!status) {
        status = vyre_device_dispatch(device, program, &input, 1, NULL, &outputs);
    }
    if (!status) {
        float y[4];
        memcpy(y, outputs.items[0].data, sizeof y);
        printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
    } else {
        fprintf(stderr, "%s\n", vyre_status_text(status));
    }
    int result = status ? 1 : 0;
    vyre_status_free(status);
    vyre_outputs_free(&outputs);
    vyre_device_release(device);
    vyre_program_release(program);
    return result;
}
