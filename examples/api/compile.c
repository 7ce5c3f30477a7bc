/* Level 2: a device of one's own, a program compiled once and run often. */
#include <stdio.h>
#include <string.h>
#include <vyre/vyre.h>

static const char text[] = "program total(x: buffer<u32>, sum: out buffer<u32>[1]) over x {\n"
                           "    atomic_add(sum[0], x[gid]);\n"
                           "}\n";

int main(int argc, char **argv) {
    vyre_module *module = NULL;
    vyre_device *device = NULL;
    vyre_pipeline *pipeline = NULL;
    vyre_outputs outputs = {0};

    vyre_status status = vyre_module_parse("total.vyre", text, strlen(text), NULL, &module);
    if (!status) {
        status = vyre_acquire(argc > 1 ? argv[1] : "reference", &device);
    }
    if (!status) {
        printf("on %s\n", vyre_device_name(device));
        status = vyre_device_compile(device, vyre_module_program(module, 0), NULL, &pipeline);
    }
    for (uint32_t round = 1; round <= 3 && !status; round++) {
        const uint32_t x[] = {round, 2 * round, 3 * round};
        const vyre_input input = {x, sizeof x};
        /* Outputs of the round before are used again, and freed at the end. */
        status = vyre_pipeline_dispatch_into(pipeline, &input, 1, NULL, &outputs);
        if (!status) {
            uint32_t sum;
            memcpy(&sum, outputs.items[0].data, sizeof sum);
            printf("%u\n", (unsigned)sum);
        }
    }
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
    }
    int result = status ? 1 : 0;
    vyre_status_free(status);
    vyre_outputs_free(&outputs);
    vyre_pipeline_release(pipeline);
    vyre_device_release(device);
    vyre_module_free(module);
    return result;
}
