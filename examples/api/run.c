/* Level 1: a kernel's text with arguments, in one call. */
#include <stdio.h>
#include <vyre/vyre.h>

int main(int argc, char **argv) {
    const char *device = argc > 1 ? argv[1] : "reference";
    float a = 2, x[] = {1, 2, 3}, y[] = {1, 1, 1};
    const vyre_argument arguments[] = {
        {"a", &a, NULL, sizeof a},
        {"x", x, NULL, sizeof x},
        {"y", y, y, sizeof y},
    };
    vyre_status status =
        vyre_run(device,
                 "program saxpy(a: f32, x: buffer<f32>, y: inout buffer<f32>) over y {\n"
                 "    y[gid] = fma(a, x[gid], y[gid]);\n"
                 "}\n",
                 arguments, 3, NULL);
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
        vyre_status_free(status);
        return 1;
    }
    printf("%g %g %g\n", (double)y[0], (double)y[1], (double)y[2]);
    return 0;
}
