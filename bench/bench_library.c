/* The standard library beside the programs of bench/kernels for the same work, on data that stays
 * on the device, in turns:
 *
 *     bench_library [DEVICE] [ROW]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/kernels.h"

enum { MOST_ARGUMENTS = 10, TURNS = 12, WARM = 2, DEGREE = 8 };

/* What an argument holds: a scalar of these bits, or `times` elements for each of the row's n, and
 * `more`. */
typedef struct argument {
    char kind; /* u: a scalar, s: the root of n, f: floats, i: an image, w: words,
                * b: bytes, r, c: rows and columns of a graph */
    double times;
    uint64_t more;
} argument;

typedef struct side {
    const char *name; /* of a kernel's file, or an operation */
    argument arguments[MOST_ARGUMENTS];
} side;

typedef struct row {
    uint64_t on_cpu, on_gpu; /* n */
    side kernel, operation;
} row;

#define BITS(bits)                                                                                 \
    { 'u', 0, bits }
#define F32_2_5 BITS(0x40200000)
#define F32_0_01 BITS(0x3c23d70a)
#define F32_0_02 BITS(0x3ca3d70a)
#define F32_0_3 BITS(0x3e99999a)

static const row rows[] = {
    {1 << 24,
     1 << 28,
     {"saxpy", {F32_2_5, {'f', 1, 0}, {'f', 1, 0}}},
     {"linalg.axpy", {F32_2_5, {'f', 1, 0}, {'f', 1, 0}}}},
    {1 << 24,
     1 << 28,
     {"dot", {{'f', 1, 0}, {'f', 1, 0}, {'w', 0, 1}}},
     {"reduce.dot_f32", {{'f', 1, 0}, {'f', 1, 0}, {'w', 0, 1}}}},
    {1 << 23,
     1 << 28,
     {"scan", {{'w', 1, 0}, {'w', 1, 0}}},
     {"scan.inclusive_u32", {{'w', 1, 0}, {'w', 1, 0}}}},
    {1 << 24,
     1 << 28,
     {"histogram", {{'w', 0.25, 0}, {'w', 0, 256}}},
     {"reduce.histogram_u8", {{'b', 1, 0}, {'w', 0, 256}}}},
    {1 << 23,
     1 << 27,
     {"radixsort", {{'w', 1, 0}, {'w', 1, 0}}},
     {"sort.keys_u32", {{'w', 1, 0}, {'w', 1, 0}}}},
    {512 * 512,
     4096 * 4096,
     {"matmul",
      {{'s', 0, 0}, {'s', 0, 0}, {'s', 0, 0}, {'f', 1, 0}, {'f', 1, 0}, {'f', 1, 0}, {'f', 1, 0}}},
     {"linalg.matmul",
      {{'s', 0, 0}, {'s', 0, 0}, {'s', 0, 0}, {'f', 1, 0}, {'f', 1, 0}, {'f', 1, 0}}}},
    {2048 * 2048,
     16384 * 16384,
     {"conv3x3", {{'s', 0, 0}, {'s', 0, 0}, {'i', 1, 0}, {'f', 1, 0}}},
     {"linalg.conv3x3", {{'s', 0, 0}, {'s', 0, 0}, {'i', 1, 0}, {'f', 0, 9}, {'f', 1, 0}}}},
    {1024 * 1024,
     8192 * 8192,
     {"mandelbrot",
      {{'s', 0, 0},
       {'s', 0, 0},
       BITS(0xc0000000),
       BITS(0xbfc00000),
       BITS(0x39c00000),
       BITS(256),
       {'w', 1, 0}}},
     {"model.mandelbrot",
      {{'s', 0, 0},
       {'s', 0, 0},
       BITS(0xc0000000),
       BITS(0xbfc00000),
       BITS(0x39c00000),
       BITS(256),
       {'w', 1, 0}}}},
    {1 << 20,
     1 << 25,
     {"blackscholes", {{'f', 3, 0}, {'f', 2, 0}}},
     {"model.black_scholes",
      {{'f', 1, 0}, {'f', 1, 0}, {'f', 1, 0}, F32_0_02, F32_0_3, {'f', 1, 0}, {'f', 1, 0}}}},
    {1 << 20,
     1 << 24,
     {"fnv1a", {{'w', 16, 0}, {'w', 1, 0}}},
     {"hash.fnv1a32_words", {{'w', 16, 0}, BITS(16), {'w', 1, 0}}}},
    {1 << 19,
     1 << 24,
     {"crc32", {{'w', 16, 0}, {'w', 0, 256}, {'w', 1, 0}}},
     {"hash.crc32_words", {{'w', 16, 0}, BITS(16), {'w', 1, 0}}}},
    {1 << 22,
     1 << 28,
     {"dfa", {{'w', 1, 0}, {'b', 0, 65536}, BITS(250), {'w', 1.0 / 1024, 0}}},
     {"match.dfa_words",
      {{'w', 1, 0}, {'b', 0, 65536}, BITS(250), BITS(1024), {'w', 1.0 / 1024, 0}}}},
    {1 << 19,
     1 << 23,
     {"bfs", {BITS(0), {'r', 1, 1}, {'c', DEGREE, 0}, {'w', 1, 0}, {'w', 1, 0}, {'w', 1, 0}}},
     {"graph.bfs", {{'r', 1, 1}, {'c', DEGREE, 0}, BITS(0), {'w', 1, 0}}}},
    {1 << 12,
     1 << 16,
     {"nbody", {{'f', 4, 0}, {'f', 3, 0}, {'f', 6, 0}}},
     {"model.nbody_step",
      {{'f', 1, 0},
       {'f', 1, 0},
       {'f', 1, 0},
       {'f', 1, 0},
       {'f', 1, 0},
       {'f', 1, 0},
       {'f', 1, 0},
       F32_0_01,
       F32_0_01}}},
};

/* One side of a row, ready to run. */
typedef struct work {
    vyre_pipeline *pipeline;
    vyre_binding bindings[MOST_ARGUMENTS];
    vyre_resident buffers[MOST_ARGUMENTS];
    uint32_t *data[MOST_ARGUMENTS];
    size_t sizes[MOST_ARGUMENTS], count;
    double best_ms;
} work;

static void fill(uint32_t *data, size_t words, char kind, uint64_t nodes) {
    for (size_t i = 0; i < words; i++) {
        uint32_t random = mix((uint32_t)i);
        float number = (float)(random >> 8) * (1.0f / 16777216.0f) + 0.5f;
        switch (kind) {
        case 'r': data[i] = (uint32_t)i * DEGREE; break;
        case 'c': data[i] = random % (uint32_t)nodes; break;
        case 'f':
        case 'i': memcpy(&data[i], &number, 4); break;
        default: data[i] = random; break;
        }
    }
}

static uint64_t root_of(uint64_t n) {
    uint64_t root = 1;
    while (root * root < n) {
        root++;
    }
    return root;
}

static void prepare(vyre_device *device, const vyre_program *program, const side *s, uint64_t n,
                    work *out) {
    const uint64_t root = root_of(n);
    *out = (work){.count = vyre_program_ir(program)->arg_count, .best_ms = 1e30};
    must(vyre_device_compile(device, program, NULL, &out->pipeline));
    for (size_t i = 0; i < out->count; i++) {
        const argument *a = &s->arguments[i];
        if (a->kind == 'u' || a->kind == 's') {
            out->bindings[i] = vyre_bind_bits(a->kind == 's' ? root : a->more);
            continue;
        }
        uint64_t elements = (uint64_t)(a->times * (double)n) + a->more;
        elements = a->kind == 'i' ? (root + 2) * (root + 2) : elements;
        out->sizes[i] = a->kind == 'b' ? elements : elements * 4;
        out->data[i] = malloc(out->sizes[i] + 4);
        if (!out->data[i]) {
            printf("FAILED: no memory for %zu bytes\n", out->sizes[i]);
            exit(1);
        }
        fill(out->data[i], out->sizes[i] / 4 + 1, a->kind, n);
        must(vyre_resident_allocate(device, out->sizes[i], &out->buffers[i]));
        out->bindings[i] = vyre_bind(out->buffers[i]);
    }
}

/* Once, on fresh data: a sort of what is sorted is another sort. */
static void turn(vyre_device *device, work *w, bool counts) {
    vyre_timing timing;
    for (size_t i = 0; i < w->count; i++) {
        if (w->data[i]) {
            must(vyre_resident_upload(device, w->buffers[i], w->data[i], w->sizes[i]));
        }
    }
    must(vyre_pipeline_dispatch_resident(w->pipeline, w->bindings, w->count, NULL, &timing));
    uint64_t ns = timing.device_ns == VYRE_NO_TIME ? timing.wall_ns : timing.device_ns;
    if (counts && (double)ns / 1e6 < w->best_ms) {
        w->best_ms = (double)ns / 1e6;
    }
}

static void finish(vyre_device *device, work *w) {
    for (size_t i = 0; i < w->count; i++) {
        if (w->data[i]) {
            must(vyre_resident_free(device, w->buffers[i]));
            free(w->data[i]);
        }
    }
    vyre_pipeline_release(w->pipeline);
}

static void compare(vyre_device *device, const row *r, bool is_gpu) {
    uint64_t n = is_gpu ? r->on_gpu : r->on_cpu;
    vyre_program *programs[] = {read_kernel(r->kernel.name),
                                read_operation(r->operation.name, device)};
    work kernel, own;
    prepare(device, programs[0], &r->kernel, n, &kernel);
    prepare(device, programs[1], &r->operation, n, &own);
    for (int i = 0; i < WARM + TURNS; i++) {
        turn(device, &kernel, i >= WARM);
        turn(device, &own, i >= WARM);
    }
    printf("%-20s %10.3f ms   %-13s %10.3f ms   %.2f\n", r->operation.name, own.best_ms,
           r->kernel.name, kernel.best_ms, kernel.best_ms / own.best_ms);
    finish(device, &kernel);
    finish(device, &own);
    vyre_program_release(programs[0]);
    vyre_program_release(programs[1]);
}

int main(int count, char **arguments) {
    vyre_device *device;
    vyre_profile profile;
    setvbuf(stdout, NULL, _IOLBF, 0);
    must(vyre_acquire(count > 1 ? arguments[1] : "cpu", &device));
    vyre_device_profile(device, &profile);
    printf("%-20s %13s   %-13s %13s   program / operation, on %s\n", "operation", "best", "program",
           "best", vyre_device_name(device));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (count < 3 || !strcmp(arguments[2], rows[i].operation.name)) {
            compare(device, &rows[i], profile.flags & VYRE_PROFILE_IS_GPU);
        }
    }
    vyre_device_release(device);
    return 0;
}
