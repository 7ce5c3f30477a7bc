/* A program that embeds libvyre: reads a kernel, tells what it is, and sends it through bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <vyre/vyre.h>

static const char kernel[] =
    "// One invocation per element.\n"
    "program saxpy(a: f32, x: buffer<f32>, y: inout buffer<f32>) over y {\n"
    "    y[gid] = fma(a, x[gid], y[gid]);\n"
    "}\n";

static void describe(const char *title, const vyre_program *program) {
    vyre_digest digest = vyre_program_digest(program);
    printf("%s %s, digest %016" PRIx64 "%016" PRIx64 ", %s\n", title, vyre_program_name(program),
           digest.high, digest.low, vyre_determinism_name(vyre_program_determinism(program)));
}

int main(void) {
    vyre_module *module = NULL;
    vyre_program *copy = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0;
    int result = 1;

    vyre_status status = vyre_module_parse("saxpy.vyre", kernel, strlen(kernel), NULL, &module);
    if (status) {
        goto done;
    }
    vyre_program *program = vyre_module_program(module, 0); /* the module's; retain it to keep it */
    describe("parsed ", program);

    status = vyre_wire_encode(program, 0, &bytes, &size);
    if (status) {
        goto done;
    }
    printf("encoded %zu bytes\n", size);

    status = vyre_wire_decode(bytes, size, &copy);
    if (status) {
        goto done;
    }
    describe("decoded", copy);

    vyre_digest before = vyre_program_digest(program), after = vyre_program_digest(copy);
    result = before.low == after.low && before.high == after.high ? 0 : 1;

done:
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
        vyre_status_free(status);
    }
    vyre_program_release(copy);
    vyre_bytes_free(bytes);
    vyre_module_free(module);
    return result;
}
