/* An operation of the library (`vyre ops` lists them), by its id. */
#include <stdio.h>
#include <vyre/vyre.h>

int main(int argc, char **argv) {
    uint32_t x[] = {1, 2, 3}, total;
    const vyre_argument arguments[] = {{"x", x, NULL, sizeof x},
                                       {"total", NULL, &total, sizeof total}};
    const char *device = argc > 1 ? argv[1] : "reference";
    vyre_status status = vyre_run_operation(device, "reduce.sum_u32", arguments, 2, NULL);
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
        vyre_status_free(status);
        return 1;
    }
    printf("%u\n", total);
    return 0;
}
