/* Peer: vyre, the kernels of bench/kernels on resident buffers, a run being one enqueue and a wait.
 * PEER_DEVICE in the environment names the device, "cpu" by default, and KERNELS the folder of
 * kernels where it is not the one of the build. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/vyre.h>

#include "bench.h"

/* An argument of a kernel: a buffer of the workload by its number, or the bits of a scalar. */
typedef struct parameter {
    enum { END, BUFFER, SCALAR } kind;
    uint64_t value;
} parameter;

enum { PARAMETERS = 8 };
#define B(number)                                                                                  \
    { BUFFER, number }
#define U(value)                                                                                   \
    { SCALAR, value }

/* By workload, in the order of its kernel's declaration. */
static const parameter parameters[NWORK][PARAMETERS] = {
    [W_SAXPY] = {U(0x3fd9999a), B(0), B(1)}, /* SAXPY_A */
    [W_DOT] = {B(0), B(1), B(3)},
    [W_SCAN] = {B(0), B(1)},
    [W_HIST] = {B(0), B(1)},
    [W_SORT] = {B(0), B(1)},
    [W_MATMUL] = {U(MM), U(MM), U(MM), B(0), B(1), B(2), B(3)},
    [W_CONV] = {U(IMG), U(IMG), B(0), B(1)},
    [W_MANDEL] = {U(MANDEL), U(MANDEL), U(0xc0000000), U(0xbfc00000), U(0x3ac00000), U(MAXIT),
                  B(0)},
    [W_BLACK] = {B(0), B(1)},
    [W_FNV] = {B(0), B(1)},
    [W_CRC] = {B(0), B(2), B(1)},
    [W_DFA] = {B(0), B(1), U(0), B(2)}, /* the number is dfa_accept, known later */
    [W_BFS] = {U(0), B(0), B(1), B(2), B(3), B(4)},
    [W_NBODY] = {B(0), B(1), B(2)},
    [W_SAXPY_VEC4] = {U(0x3fd9999a), B(0), B(1)}, /* SAXPY_A */
    [W_BODIES] = {U(0x3c23d70a), B(0)},           /* DT */
};

static vyre_device *device;
static vyre_pipeline *pipeline;
static vyre_resident residents[6];
static vyre_binding bindings[PARAMETERS];
static size_t binding_count;
static const Work *work;

static void check(vyre_status status) {
    if (status) {
        fprintf(stderr, "ours: %s\n", vyre_status_text(status));
        exit(1);
    }
}

/* The text of a workload's kernel; NULL if there is none. To be freed. */
static char *read_kernel(const char *name, size_t *out_size) {
    char path[4096];
    const char *folder = getenv("KERNELS");
    snprintf(path, sizeof path, "%s/%s.vyre", folder && *folder ? folder : KERNELS, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    enum { ROOM = 1 << 16 };
    char *text = malloc(ROOM);
    *out_size = text ? fread(text, 1, ROOM, file) : 0;
    fclose(file);
    return text;
}

void peer_upload(int i) {
    check(vyre_resident_upload(device, residents[i], buf[i], work->size[i]));
}

void peer_download(int i) {
    check(vyre_resident_read(device, residents[i], 0, buf[i], work->size[i]));
}

int peer_setup(int w) {
    work = &works[w];
    size_t size = 0;
    char *text = read_kernel(work->name, &size);
    if (!text) {
        return 0;
    }
    const char *name = getenv("PEER_DEVICE");
    check(vyre_acquire(name && *name ? name : "cpu", &device));
    vyre_module *module = NULL;
    double start = now_ms();
    check(vyre_module_parse(work->name, text, size, NULL, &module));
    check(vyre_device_compile(device, vyre_module_program(module, 0), NULL, &pipeline));
    compile_ms = now_ms() - start;
    vyre_module_free(module);
    free(text);

    for (int i = 0; i < 6 && work->size[i]; i++) {
        check(vyre_resident_allocate(device, work->size[i], &residents[i]));
        peer_upload(i);
    }
    for (; binding_count < PARAMETERS && parameters[w][binding_count].kind != END;
         binding_count++) {
        parameter p = parameters[w][binding_count];
        bindings[binding_count] =
            p.kind == BUFFER ? vyre_bind(residents[p.value]) : vyre_bind_bits(p.value);
        if (w == W_DFA && p.kind == SCALAR) {
            bindings[binding_count] = vyre_bind_bits(dfa_accept);
        }
    }
    return 1;
}

void peer_run(int w) {
    (void)w;
    vyre_ticket ticket = 0;
    check(vyre_pipeline_enqueue(pipeline, bindings, binding_count, NULL, &ticket));
    check(vyre_device_wait(device, ticket));
}
