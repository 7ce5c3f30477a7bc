/* Backends on a GPU, GPU_DEVICE or cuda, beside the driver's own interface and
 * bench/gpu/baseline.cu:
 *
 *     gpu_bench overheads     cuda alone: enqueue, wait and replay against the same kernels
 *                             through the driver
 *     gpu_bench compile       cold, and from the cache on disk, of all kernels
 *     gpu_bench waits         enqueue and wait on any backend
 *     gpu_bench workloads [NAME]  bench/kernels and operations of the library, by their ids, on
 *                             resident data at baseline.cu's sizes, device time; and a copy
 *     gpu_bench names         the NAMEs
 *     gpu_bench transfer      copies of host memory each way, beside the driver's own
 *
 * KERNELS in the environment names the folder of kernels, bench/kernels otherwise. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <unistd.h>

#include <vyre/vyre.h>

#include "backend/cuda/runtime/executable.h"
#include "backend/cuda/runtime/run.h"
#include "base/clock.h"
#include "bench/gpu/transfer.h"
#include "bench/gpu/waits.h"
#include "bench/kernels.h"
#include "pass/pass.h"
#include "runtime/device.h"

static vyre_device *acquire(void) {
    vyre_device *device;
    const char *name = getenv("GPU_DEVICE");
    must(vyre_acquire(name ? name : "cuda", &device));
    return device;
}

enum { ELEMENTS = 64 };

/* The driver's side of a pipeline: its kernels, and a frame for them. */
typedef struct raw {
    cuda_device *own;
    const cuda_table *cuda;
    cuda_executable *native;
    CUstream stream;
    cuda_run run;
    vyre_plan plan;
    vyre_call call;
} raw;

static void drive(raw *r, CUresult result) {
    must(cuda_check(r->own, result, "measuring"));
}

static void raw_open(raw *r, vyre_device *device, vyre_pipeline *pipeline, const uint64_t *values) {
    r->own = device->backend->state;
    r->cuda = r->own->cuda;
    r->native = pipeline->native->state;
    r->stream = r->own->streams.shared[CUDA_SHARED_STREAMS - 1].handle;
    CUcontext before;
    must(cuda_device_enter(r->own, &before));
    vyre_plan_value plan[VYRE_LIMIT_ARGUMENTS];
    const vyre_ir *ir = r->native->codes[0].ir;
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        plan[i] = (vyre_plan_value){values[i], values[i]};
    }
    const vyre_dispatch_config config = {0};
    must(vyre_plan_init_resident(&r->plan, pipeline->program, plan, ir->arg_count, &config));
    r->call = vyre_plan_call(&r->plan, NULL, NULL);
    must(cuda_run_init(&r->run, &r->own->streams.shared[CUDA_SHARED_STREAMS - 1],
                       &r->native->codes[0], &r->call, NULL));
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        if (ir->args[i].resource != VYRE_NONE) {
            must(cuda_run_place(&r->run, ir->args[i].resource));
        }
    }
    /* The same work, too: ELEMENTS of arrays of its own, in one block. */
    const cuda_layout *layout = &r->native->codes[0].layout;
    const uint64_t domain[3] = {ELEMENTS, 1, 1}, groups[3] = {1, 1, 1};
    memcpy(r->run.frame + layout->domain, domain, sizeof domain);
    memcpy(r->run.frame + layout->groups, groups, sizeof groups);
}

/* The launch of a phase as somebody would write it who knows its grid and its parameters. */
static void raw_launch(raw *r, uint32_t phase) {
    const cuda_phase *p = &r->native->codes[0].phases[phase];
    void *parameters[] = {r->run.frame};
    drive(r, r->cuda->cuLaunchKernel(p->function, 1, 1, 1, p->info.threads, 1, 1,
                                     p->info.dynamic_bytes, r->stream, parameters, NULL));
}

static double least(double a, double b) {
    return a < b ? a : b;
}

static double us_since(uint64_t start) {
    return (double)(vyre_now_ns() - start) / 1e3;
}

enum { ROUNDS = 30, QUEUED = 1000 };

static void measure_launches(vyre_device *device) {
    static const char text[] = "program tiny(k: u32, x: buffer<u32>, y: inout buffer<u32>) over y "
                               "{ y[gid] = x[gid] + k; }";
    vyre_program *program = parse(text, sizeof text - 1);
    vyre_pipeline *pipeline;
    vyre_resident x, y;
    vyre_ticket ticket;
    raw *r = malloc(sizeof *r);
    must(vyre_device_compile(device, program, NULL, &pipeline));
    must(vyre_resident_allocate(device, ELEMENTS * 4, &x));
    must(vyre_resident_allocate(device, ELEMENTS * 4, &y));
    raw_open(r, device, pipeline, (const uint64_t[]){1, ELEMENTS * 4, ELEMENTS * 4});
    const vyre_binding bindings[] = {vyre_bind_bits(1), vyre_bind(x), vyre_bind(y)};
    double queued[2] = {1e9, 1e9}, calls[2] = {1e9, 1e9}, waited[2] = {1e9, 1e9};
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = vyre_now_ns();
        for (int i = 0; i < QUEUED; i++) {
            raw_launch(r, 0);
        }
        calls[0] = least(calls[0], us_since(start) / QUEUED);
        drive(r, r->cuda->cuStreamSynchronize(r->stream));
        queued[0] = least(queued[0], us_since(start) / QUEUED);
        start = vyre_now_ns();
        for (int i = 0; i < QUEUED; i++) {
            must(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &ticket));
        }
        calls[1] = least(calls[1], us_since(start) / QUEUED);
        must(vyre_device_wait(device, ticket));
        queued[1] = least(queued[1], us_since(start) / QUEUED);
        for (int i = 0; i < 100; i++) {
            start = vyre_now_ns();
            raw_launch(r, 0);
            drive(r, r->cuda->cuStreamSynchronize(r->stream));
            waited[0] = least(waited[0], us_since(start));
            start = vyre_now_ns();
            must(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &ticket));
            must(vyre_device_wait(device, ticket));
            waited[1] = least(waited[1], us_since(start));
        }
    }
    printf(
        "queued enqueue        %7.2f us, raw cuLaunchKernel %7.2f us, ratio %.2f (at most 1.15); "
        "the calls alone %.2f and %.2f\n",
        queued[1], queued[0], queued[1] / queued[0], calls[1], calls[0]);
    printf(
        "enqueue and wait      %7.2f us, raw launch + sync  %7.2f us, ratio %.2f (at most 1.1)\n",
        waited[1], waited[0], waited[1] / waited[0]);
    uint32_t bytes[ELEMENTS], made[ELEMENTS];
    double copied = 1e9;
    for (int i = 0; i < 300; i++) {
        const vyre_input inputs[] = {
            {&(uint32_t){1}, 4}, {bytes, sizeof bytes}, {bytes, sizeof bytes}};
        vyre_output item = {(uint8_t *)made, sizeof made};
        vyre_outputs outputs = {&item, 1};
        uint64_t start = vyre_now_ns();
        must(vyre_pipeline_dispatch_into(pipeline, inputs, 3, NULL, &outputs));
        copied = least(copied, us_since(start));
    }
    printf("256 B in, run, out    %7.2f us\n", copied);
    cuda_run_deinit(&r->run, true);
    vyre_plan_deinit(&r->plan);
    free(r);
    must(vyre_resident_free(device, x));
    must(vyre_resident_free(device, y));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
}

enum { PHASES = 100 };

static void measure_replay(vyre_device *device) {
    char text[16384];
    size_t size =
        (size_t)snprintf(text, sizeof text, "program row(x: buffer<u32>, y: inout buffer<u32>) { ");
    for (int i = 0; i < PHASES; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "phase over y { y[gid] = x[gid] + y[gid] * %d; } ", i + 1);
    }
    size += (size_t)snprintf(text + size, sizeof text - size, "}");
    vyre_program *program = parse(text, size);
    vyre_pipeline *pipeline;
    vyre_resident x, y;
    vyre_ticket ticket;
    raw *r = malloc(sizeof *r);
    must(vyre_device_compile(device, program, NULL, &pipeline));
    must(vyre_resident_allocate(device, ELEMENTS * 4, &x));
    must(vyre_resident_allocate(device, ELEMENTS * 4, &y));
    raw_open(r, device, pipeline, (const uint64_t[]){ELEMENTS * 4, ELEMENTS * 4});
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node = NULL, before;
    drive(r, r->cuda->cuGraphCreate(&graph, 0));
    for (uint32_t i = 0; i < PHASES; i++) {
        const cuda_phase *p = &r->native->codes[0].phases[i];
        void *parameters[] = {r->run.frame};
        const CUDA_KERNEL_NODE_PARAMS kernel = {
            p->function, 1, 1, 1, p->info.threads, 1, 1, p->info.dynamic_bytes, parameters, NULL};
        before = node;
        drive(r, r->cuda->cuGraphAddKernelNode(&node, graph, &before, i != 0, &kernel));
    }
    drive(r, r->cuda->cuGraphInstantiate(&exec, graph, 0));
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    double best[2] = {1e9, 1e9}, changed = 1e9;
    const vyre_binding other[] = {vyre_bind(y), vyre_bind(x)};
    for (int round = 0; round < 200; round++) {
        uint64_t start = vyre_now_ns();
        drive(r, r->cuda->cuGraphLaunch(exec, r->stream));
        drive(r, r->cuda->cuStreamSynchronize(r->stream));
        best[0] = least(best[0], us_since(start));
        start = vyre_now_ns();
        must(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket));
        must(vyre_device_wait(device, ticket));
        best[1] = least(best[1], us_since(start));
        start = vyre_now_ns();
        must(vyre_pipeline_enqueue(pipeline, other, 2, NULL, &ticket));
        must(vyre_device_wait(device, ticket));
        changed = least(changed, us_since(start));
    }
    printf("replay of 100 phases  %7.2f us, raw graph          %7.2f us, ratio %.2f (at most 1.3); "
           "with the buffers swapped %.2f us\n",
           best[1], best[0], best[1] / best[0], changed);
    drive(r, r->cuda->cuGraphExecDestroy(exec));
    drive(r, r->cuda->cuGraphDestroy(graph));
    cuda_run_deinit(&r->run, true);
    vyre_plan_deinit(&r->plan);
    free(r);
    must(vyre_resident_free(device, x));
    must(vyre_resident_free(device, y));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
}

static void measure_while(vyre_device *device) {
    static const char text[] = "program down(n: inout buffer<u32>) { repeat while n[0] { phase "
                               "over 1 { n[0] = n[0] - 1; } } }";
    enum { TURNS = 1000 };
    vyre_program *program = parse(text, sizeof text - 1);
    vyre_resident n;
    double best = 1e9;
    must(vyre_resident_allocate(device, 4, &n));
    for (int i = 0; i < 5; i++) {
        uint32_t turns = TURNS;
        const vyre_binding binding = vyre_bind(n);
        must(vyre_resident_upload(device, n, &turns, 4));
        uint64_t start = vyre_now_ns();
        must(vyre_device_dispatch_resident(device, program, &binding, 1, NULL, NULL));
        best = least(best, us_since(start) / TURNS);
    }
    printf("a turn of repeat while %6.2f us\n", best);
    must(vyre_resident_free(device, n));
    vyre_program_release(program);
}

static void overheads(void) {
    vyre_device *device = acquire();
    uint64_t start = vyre_now_ns();
    must(vyre_device_prepare(device));
    printf("prepare (context, probe) %.1f ms\n", us_since(start) / 1e3);
    measure_launches(device);
    measure_replay(device);
    measure_while(device);
    vyre_device_release(device);
}

static const char *const kernels[] = {
    "saxpy",        "dot",     "scan",      "histogram",  "radixsort",  "matmul",
    "dfa",          "conv3x3", "fnv1a",     "crc32",      "mandelbrot", "bfs",
    "blackscholes", "nbody",   "matmul_i8", "saxpy_vec4", "bodies"};
enum { KERNELS_COUNT = sizeof kernels / sizeof *kernels };

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double compile_all(const char *what, bool is_told) {
    double times[KERNELS_COUNT], sorted[KERNELS_COUNT];
    vyre_device *device = acquire();
    must(vyre_device_prepare(device));
    for (size_t i = 0; i < KERNELS_COUNT; i++) {
        vyre_program *program = read_kernel(kernels[i]);
        vyre_pipeline *pipeline;
        uint64_t start = vyre_now_ns();
        must(vyre_device_compile(device, program, NULL, &pipeline));
        sorted[i] = times[i] = us_since(start) / 1e3;
        vyre_pipeline_release(pipeline);
        vyre_program_release(program);
    }
    vyre_device_release(device);
    qsort(sorted, KERNELS_COUNT, sizeof *sorted, by_size);
    if (is_told) {
        printf("compile %-10s", what);
        for (size_t i = 0; i < KERNELS_COUNT; i++) {
            printf(" %s %.2f", kernels[i], times[i]);
        }
        printf(" ms\n");
    }
    return sorted[KERNELS_COUNT / 2];
}

/* One kernel, through the driver's compiler alone. */
typedef struct translation {
    cuda_device *device;
    vyre_strbuf ptx;
    double emit_ms;
} translation;

enum { LEVEL = 7, SPLIT = 34 }; /* CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_SPLIT_COMPILE */

/* 0 if the driver refuses the option. */
static double translate_ms(const translation *t, int option, uintptr_t value) {
    const cuda_table *cuda = t->device->cuda;
    int options[] = {CU_JIT_TARGET_FROM_CUCONTEXT, option};
    void *values[] = {NULL, (void *)value}, *image;
    size_t size;
    CUlinkState link = NULL;
    uint64_t start = vyre_now_ns();
    CUresult result = cuda->cuLinkCreate(option ? 2 : 1, options, values, &link);
    result = result ? result
                    : cuda->cuLinkAddData(link, CU_JIT_INPUT_PTX, t->ptx.data, t->ptx.size + 1,
                                          "bench", 0, NULL, NULL);
    result = result ? result : cuda->cuLinkComplete(link, &image, &size);
    double ms = us_since(start) / 1e3;
    if (link) {
        cuda->cuLinkDestroy(link);
    }
    return result ? 0 : ms;
}

static void *translate(void *argument) {
    const translation *t = argument;
    CUcontext before;
    must(cuda_device_enter(t->device, &before));
    translate_ms(t, 0, 0);
    return NULL;
}

/* Where the time of compiling goes, and what would make it shorter. */
static void translate_all(void) {
    translation all[KERNELS_COUNT];
    pthread_t threads[KERNELS_COUNT];
    vyre_device *device = acquire();
    CUcontext before;
    must(vyre_device_prepare(device));
    cuda_device *own = device->backend->state;
    must(cuda_device_enter(own, &before));
    const cuda_target target = {own->info.sm, own->info.isa, "phase", false, 1};
    double sum = 0;
    for (size_t i = 0; i < KERNELS_COUNT; i++) {
        cuda_phase_info infos[64];
        vyre_program *program = read_kernel(kernels[i]), *lowered;
        translation *t = &all[i];
        *t = (translation){.device = own};
        uint64_t start = vyre_now_ns();
        must(vyre_lower_program(program, true, &lowered));
        cuda_emit_head(&target, &t->ptx);
        must(cuda_emit_entries(lowered, &target, &t->ptx, infos, NULL));
        t->emit_ms = us_since(start) / 1e3;
        translate_ms(t, 0, 0);
        double usual = translate_ms(t, 0, 0);
        sum += usual;
        printf("%-13s PTX %6zu bytes, made in %.2f ms; the driver's compiler %.2f ms, at level 3 "
               "%.2f, 2 %.2f, 1 %.2f, in 8 threads %.2f\n",
               kernels[i], t->ptx.size, t->emit_ms, usual, translate_ms(t, LEVEL, 3),
               translate_ms(t, LEVEL, 2), translate_ms(t, LEVEL, 1), translate_ms(t, SPLIT, 8));
        vyre_program_release(lowered);
        vyre_program_release(program);
    }
    uint64_t start = vyre_now_ns();
    for (size_t i = 0; i < KERNELS_COUNT; i++) {
        pthread_create(&threads[i], NULL, translate, &all[i]);
    }
    for (size_t i = 0; i < KERNELS_COUNT; i++) {
        pthread_join(threads[i], NULL);
        vyre_strbuf_free(&all[i].ptx);
    }
    printf("the driver's compiler: all one after the other %.1f ms, each in a thread %.1f ms\n",
           sum, us_since(start) / 1e3);
    cuda_device_leave(own, before);
    vyre_device_release(device);
}

static void compile(void) {
    char folder[] = "gpu-cache-XXXXXX";
    if (!mkdtemp(folder)) {
        printf("FAILED: no folder for a cache can be made here\n");
        exit(1);
    }
    char path[4096];
    if (!getcwd(path, sizeof path - sizeof folder - 1)) {
        exit(1);
    }
    strcat(strcat(path, "/"), folder);
    setenv("CUDA_CACHE_DISABLE", "1", 1); /* the driver's own */
    setenv("XDG_CACHE_HOME", path, 1);
    setenv("VYRE_CACHE_LIMIT", "0", 1);
    compile_all("", false); /* loads the driver's compiler */
    double cold = compile_all("cold", true);
    setenv("VYRE_CACHE_LIMIT", "256M", 1);
    compile_all("", false); /* stores */
    double stored = compile_all("from disk", true);
    translate_all();
    printf("compile: median cold %.2f ms (at most 30), from disk %.2f ms (at most 2)\n", cold,
           stored);
}

/* An argument: a buffer of so many bytes, filled with a kind of numbers, or a scalar. */
typedef enum fill { SCALAR, ZEROS, FLOATS, WORDS } fill;
typedef struct argument {
    fill fill;
    uint64_t value; /* bytes, or bits */
} argument;

typedef struct workload {
    const char *name;
    double work; /* per run, in the unit / 1e9 */
    const char *unit;
    argument arguments[8];
    size_t count;
} workload;

#define N28 ((uint64_t)1 << 28)
#define BYTES(n) ((uint64_t)(n)*4)

static const workload workloads[] = {
    {"saxpy",
     12.0 * N28,
     "GB/s",
     {{SCALAR, 0x40200000}, {FLOATS, BYTES(N28)}, {FLOATS, BYTES(N28)}},
     3},
    {"saxpy_vec4",
     12.0 * N28,
     "GB/s",
     {{SCALAR, 0x40200000}, {FLOATS, BYTES(N28)}, {FLOATS, BYTES(N28)}},
     3},
    {"bodies", 8.0 * N28, "GB/s", {{SCALAR, 0x3c23d70a}, {FLOATS, BYTES(N28)}}, 2},
    {"dot", 8.0 * N28, "GB/s", {{FLOATS, BYTES(N28)}, {FLOATS, BYTES(N28)}, {ZEROS, 4}}, 3},
    {"scan", 8.0 * N28, "GB/s", {{WORDS, BYTES(N28)}, {ZEROS, BYTES(N28)}}, 2},
    {"histogram", 4.0 * N28, "GB/s", {{WORDS, BYTES(N28)}, {ZEROS, 1024}}, 2},
    {"radixsort",
     1.0 * (1 << 27),
     "Gkeys/s",
     {{WORDS, BYTES(1 << 27)}, {ZEROS, BYTES(1 << 27)}},
     2},
    {"matmul",
     2.0 * 4096 * 4096 * 4096,
     "GFLOP/s",
     {{SCALAR, 4096},
      {SCALAR, 4096},
      {SCALAR, 4096},
      {FLOATS, BYTES(1 << 24)},
      {FLOATS, BYTES(1 << 24)},
      {ZEROS, BYTES(1 << 24)},
      {ZEROS, BYTES(1 << 24)}},
     7},
    {"matmul_i8", /* 4096 in all directions: 32 tiles of rows, 16 of columns, 64 steps */
     2.0 * 4096 * 4096 * 4096,
     "GOP/s",
     {{SCALAR, 32},
      {SCALAR, 16},
      {SCALAR, 64},
      {WORDS, 1 << 24},
      {WORDS, 1 << 24},
      {ZEROS, BYTES(1 << 24)}},
     6},
    {"linalg.matmul",
     2.0 * 4096 * 4096 * 4096,
     "GFLOP/s",
     {{SCALAR, 4096},
      {SCALAR, 4096},
      {SCALAR, 4096},
      {FLOATS, BYTES(1 << 24)},
      {FLOATS, BYTES(1 << 24)},
      {ZEROS, BYTES(1 << 24)}},
     6},
    {"linalg.matmul_i8",
     2.0 * 4096 * 4096 * 4096,
     "GOP/s",
     {{SCALAR, 4096},
      {SCALAR, 4096},
      {SCALAR, 4096},
      {WORDS, 1 << 24},
      {WORDS, 1 << 24},
      {ZEROS, BYTES(1 << 24)}},
     6},
    {"reduce.dot_f32",
     8.0 * N28,
     "GB/s",
     {{FLOATS, BYTES(N28)}, {FLOATS, BYTES(N28)}, {ZEROS, 4}},
     3},
    {"reduce.sum_f32", 4.0 * N28, "GB/s", {{FLOATS, BYTES(N28)}, {ZEROS, 4}}, 2},
    {"scan.inclusive_u32", 8.0 * N28, "GB/s", {{WORDS, BYTES(N28)}, {ZEROS, BYTES(N28)}}, 2},
    {"reduce.histogram_u8", 4.0 * N28, "GB/s", {{WORDS, BYTES(N28)}, {ZEROS, 1024}}, 2},
    {"sort.keys_u32",
     1.0 * (1 << 27),
     "Gkeys/s",
     {{WORDS, BYTES(1 << 27)}, {ZEROS, BYTES(1 << 27)}},
     2},
    {"conv3x3",
     8.0 * N28,
     "GB/s",
     {{SCALAR, 16384},
      {SCALAR, 16384},
      {FLOATS, BYTES((uint64_t)16386 * 16386)},
      {ZEROS, BYTES(N28)}},
     4},
    {"mandelbrot",
     8192.0 * 8192.0,
     "Gpix/s",
     {{SCALAR, 8192},
      {SCALAR, 8192},
      {SCALAR, 0xc0000000},
      {SCALAR, 0xbfc00000},
      {SCALAR, 0x39c00000},
      {SCALAR, 256},
      {ZEROS, BYTES(1 << 26)}},
     7},
    {"model.mandelbrot",
     8192.0 * 8192.0,
     "Gpix/s",
     {{SCALAR, 8192},
      {SCALAR, 8192},
      {SCALAR, 0xc0000000},
      {SCALAR, 0xbfc00000},
      {SCALAR, 0x39c00000},
      {SCALAR, 256},
      {ZEROS, BYTES(1 << 26)}},
     7},
    {"blackscholes",
     20.0 * (1 << 25),
     "GB/s",
     {{FLOATS, BYTES(3 << 25)}, {ZEROS, BYTES(2 << 25)}},
     2},
    {"fnv1a", 4.0 * N28, "GB/s", {{WORDS, BYTES(N28)}, {ZEROS, BYTES(1 << 24)}}, 2},
    {"crc32", 4.0 * N28, "GB/s", {{WORDS, BYTES(N28)}, {WORDS, 1024}, {ZEROS, BYTES(1 << 24)}}, 3},
    {"dfa",
     4.0 * N28,
     "GB/s",
     {{WORDS, BYTES(N28)}, {WORDS, 65536}, {SCALAR, 250}, {ZEROS, BYTES(1 << 18)}},
     4},
    {"nbody",
     65536.0 * 65536.0,
     "Ginter/s",
     {{FLOATS, BYTES(65536 * 4)}, {FLOATS, BYTES(65536 * 3)}, {ZEROS, BYTES(65536 * 6)}},
     3},
};

/* Numbers as baseline.cu makes them; a part of 64 MiB is used again and again. */
static void fill_buffer(vyre_device *device, vyre_resident buffer, const argument *a) {
    uint32_t *data = malloc(a->value + 4);
    const uint64_t words = a->value / 4, part = (uint64_t)16 << 20;
    for (uint64_t i = 0; i < words; i++) {
        if (i >= part) {
            memcpy(data + i, data + i - part, (size_t)((words - i < part ? words - i : part) * 4));
            i += part - 1;
            continue;
        }
        float number = (float)(mix((uint32_t)i) >> 8) * (1.0f / 16777216.0f) + 0.5f;
        if (a->fill == FLOATS) {
            memcpy(&data[i], &number, 4);
        } else {
            data[i] = mix((uint32_t)i);
        }
    }
    must(vyre_resident_upload(device, buffer, data, (size_t)a->value));
    free(data);
}

static void print_figure(const char *name, double ns, double work, const char *unit,
                         double worst_ns) {
    printf("%-19s %10.4f ms  %10.1f %s (worst %.4f ms)\n", name, ns / 1e6, work / ns, unit,
           worst_ns / 1e6);
    fflush(stdout);
}

/* As much as saxpy moves in three ways in two: what the memory can do. Host time. */
static void run_copy(vyre_device *device) {
    vyre_resident from, to;
    uint32_t last = 0;
    uint64_t best = UINT64_MAX, worst = 0;
    must(vyre_resident_allocate(device, BYTES(N28), &from));
    must(vyre_resident_allocate(device, BYTES(N28), &to));
    for (int i = 0; i < 12; i++) {
        uint64_t start = vyre_now_ns();
        must(vyre_resident_copy(device, to, 0, from, 0, BYTES(N28)));
        must(vyre_resident_read(device, to, BYTES(N28) - 4, &last, sizeof last));
        uint64_t ns = vyre_now_ns() - start;
        best = i > 1 && ns < best ? ns : best;
        worst = i > 1 && ns > worst ? ns : worst;
    }
    print_figure("copy", (double)best, 8.0 * N28, "GB/s", (double)worst);
    must(vyre_resident_free(device, from));
    must(vyre_resident_free(device, to));
}

static void run_workload(vyre_device *device, const workload *w) {
    vyre_program *program =
        strchr(w->name, '.') ? read_operation(w->name, device) : read_kernel(w->name);
    vyre_resident buffers[8];
    vyre_binding bindings[8];
    vyre_timing timing;
    uint64_t best = UINT64_MAX, worst = 0;
    for (size_t i = 0; i < w->count; i++) {
        const argument *a = &w->arguments[i];
        if (a->fill == SCALAR) {
            bindings[i] = vyre_bind_bits(a->value);
            continue;
        }
        must(vyre_resident_allocate(device, (size_t)a->value, &buffers[i]));
        if (a->fill != ZEROS) {
            fill_buffer(device, buffers[i], a);
        }
        bindings[i] = vyre_bind(buffers[i]);
    }
    uint64_t deadline = vyre_now_ns() + UINT64_C(6000000000);
    for (int i = 0; i < 18 && (i < 4 || vyre_now_ns() < deadline); i++) {
        must(vyre_device_dispatch_resident(device, program, bindings, w->count, NULL, &timing));
        if (i >= 3) {
            best = timing.device_ns < best ? timing.device_ns : best;
            worst = timing.device_ns > worst ? timing.device_ns : worst;
        }
    }
    print_figure(w->name, (double)best, w->work, w->unit, (double)worst);
    for (size_t i = 0; i < w->count; i++) {
        if (w->arguments[i].fill != SCALAR) {
            must(vyre_resident_free(device, buffers[i]));
        }
    }
    vyre_program_release(program);
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(what, "overheads")) {
        overheads();
    } else if (!strcmp(what, "compile")) {
        compile();
    } else if (!strcmp(what, "names")) {
        printf("copy\n");
        for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
            printf("%s\n", workloads[i].name);
        }
    } else if (!strcmp(what, "waits")) {
        vyre_device *device = acquire();
        waits(device);
        vyre_device_release(device);
    } else if (!strcmp(what, "transfer")) {
        vyre_device *device = acquire();
        transfer(device, count > 2 && !strcmp(arguments[2], "pageable"));
        vyre_device_release(device);
    } else if (!strcmp(what, "workloads")) {
        vyre_device *device = acquire();
        if (count < 3 || !strcmp(arguments[2], "copy")) {
            run_copy(device);
        }
        for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
            if (count < 3 || !strcmp(arguments[2], workloads[i].name)) {
                run_workload(device, &workloads[i]);
            }
        }
        vyre_device_release(device);
    } else {
        fprintf(stderr,
                "usage: gpu_bench overheads|waits|compile|transfer [pageable]|workloads [NAME]|"
                "names\n");
        return 2;
    }
    return 0;
}
