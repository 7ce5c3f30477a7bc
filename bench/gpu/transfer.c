#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "bench/gpu/transfer.h"

#include <pthread.h>
#include <string.h>

#include <sys/mman.h>

#include "backend/cuda/runtime/device.h"
#include "base/clock.h"
#include "base/thread.h"
#include "bench/kernels.h"
#include "runtime/device.h"

static const size_t most_bytes = (size_t)1 << 30;

typedef struct bench {
    vyre_device *device;
    cuda_device *own;
    vyre_resident buffers[2];
    CUdeviceptr raw;
    CUstream stream;
    vyre_pipeline *copy;
} bench;

/* One copy of a part of a buffer. */
typedef void (*copy_function)(bench *b, uint8_t *host, size_t bytes);

static void drive(bench *b, CUresult result) {
    must(cuda_check(b->own, result, "measuring"));
}

static void raw_in(bench *b, uint8_t *host, size_t bytes) {
    drive(b, b->own->cuda->cuMemcpyHtoDAsync(b->raw, host, bytes, b->stream));
    drive(b, b->own->cuda->cuStreamSynchronize(b->stream));
}

static void raw_out(bench *b, uint8_t *host, size_t bytes) {
    drive(b, b->own->cuda->cuMemcpyDtoHAsync(host, b->raw, bytes, b->stream));
    drive(b, b->own->cuda->cuStreamSynchronize(b->stream));
}

static void upload(bench *b, uint8_t *host, size_t bytes) {
    must(vyre_resident_upload_at(b->device, b->buffers[0], 0, host, bytes));
}

static void read_back(bench *b, uint8_t *host, size_t bytes) {
    must(vyre_resident_read(b->device, b->buffers[1], 0, host, bytes));
}

/* A run on host data: half of it in, half of it out. */
static void dispatch(bench *b, uint8_t *host, size_t bytes) {
    const vyre_output arguments[] = {{host, bytes / 2}, {host + bytes / 2, bytes / 2}};
    must(vyre_pipeline_dispatch_in_place(b->copy, arguments, 2, NULL));
}

static double gigabytes(size_t bytes, uint64_t ns) {
    return (double)bytes / (double)ns;
}

/* GB/s of the best of several copies, after one that nobody measures. */
static double rate(bench *b, copy_function copy, uint8_t *host, size_t bytes) {
    int rounds = bytes >= most_bytes ? 5 : 20;
    uint64_t best = UINT64_MAX;
    for (int i = 0; i <= rounds; i++) {
        uint64_t start = vyre_now_ns();
        copy(b, host, bytes);
        uint64_t took = vyre_now_ns() - start;
        best = i && took < best ? took : best;
    }
    return gigabytes(bytes, best);
}

static uint8_t *map(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        printf("FAILED: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memory;
}

/* Out into pages that nobody has touched, which the system has to clear first. */
static double fresh_rate(bench *b, copy_function copy, size_t bytes) {
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 4; i++) {
        uint8_t *host = map(bytes);
        uint64_t start = vyre_now_ns();
        copy(b, host, bytes);
        uint64_t took = vyre_now_ns() - start;
        best = took < best ? took : best;
        munmap(host, bytes);
    }
    return gigabytes(bytes, best);
}

static void measure_sizes(bench *b, const char *kind, uint8_t *host) {
    for (size_t bytes = (size_t)64 << 10; bytes <= most_bytes; bytes *= 2) {
        double in = rate(b, upload, host, bytes), out = rate(b, read_back, host, bytes);
        double least_in = rate(b, raw_in, host, bytes), least_out = rate(b, raw_out, host, bytes);
        printf("%-8s %8zu KiB  in %6.2f GB/s, cuMemcpy %6.2f, ratio %5.2f   out %6.2f GB/s, "
               "cuMemcpy %6.2f, ratio %5.2f\n",
               kind, bytes >> 10, in, least_in, in / least_in, out, least_out, out / least_out);
    }
}

/* A copy of its own on another thread, a few times. */
typedef struct flow {
    bench *bench;
    copy_function copy;
    uint8_t *host;
    pthread_barrier_t *barrier;
    double rate;
} flow;

static void *run_flow(void *argument) {
    enum { ROUNDS = 8 };
    flow *f = argument;
    f->copy(f->bench, f->host, most_bytes / 2);
    pthread_barrier_wait(f->barrier);
    uint64_t start = vyre_now_ns();
    for (int i = 0; i < ROUNDS; i++) {
        f->copy(f->bench, f->host, most_bytes / 2);
    }
    f->rate = gigabytes(most_bytes / 2 * ROUNDS, vyre_now_ns() - start);
    return NULL;
}

static void measure_both(bench *b, const char *kind, uint8_t *host) {
    pthread_barrier_t barrier;
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    flow in = {b, upload, host, &barrier, 0},
         out = {b, read_back, host + most_bytes / 2, &barrier, 0};
    if (pthread_create(&thread, NULL, run_flow, &in)) {
        printf("FAILED: the system gives no thread\n");
        exit(1);
    }
    run_flow(&out);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    printf("%-8s both ways at once, 512 MiB each: in %6.2f GB/s, out %6.2f GB/s\n", kind, in.rate,
           out.rate);
}

static void measure_runs(bench *b, const char *kind, uint8_t *host) {
    for (size_t bytes = (size_t)1 << 20; bytes <= most_bytes; bytes *= 8) {
        printf("%-8s %8zu KiB  a run on host data, half in, half out: %6.2f GB/s\n", kind,
               bytes >> 10, rate(b, dispatch, host, bytes));
    }
    printf("%-8s %8zu KiB  the same: %6.2f GB/s\n", kind, most_bytes >> 10,
           rate(b, dispatch, host, most_bytes));
}

static void measure(bench *b, const char *kind, uint8_t *host) {
    memset(host, 7, most_bytes);
    measure_sizes(b, kind, host);
    measure_both(b, kind, host);
    measure_runs(b, kind, host);
}

static void start(bench *b, vyre_device *device) {
    static const char text[] = "program copy(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x "
                               "{ y[gid] = x[gid]; }";
    CUcontext before;
    *b = (bench){.device = device};
    must(vyre_device_prepare(device));
    b->own = device->backend->state;
    must(cuda_device_enter(b->own, &before));
    must(vyre_resident_allocate(device, most_bytes, &b->buffers[0]));
    must(vyre_resident_allocate(device, most_bytes, &b->buffers[1]));
    drive(b, b->own->cuda->cuMemAlloc(&b->raw, most_bytes));
    drive(b, b->own->cuda->cuStreamCreate(&b->stream, CU_STREAM_NON_BLOCKING));
    vyre_program *program = parse(text, sizeof text - 1);
    must(vyre_device_compile(device, program, NULL, &b->copy));
    vyre_program_release(program);
}

static void end(bench *b) {
    vyre_pipeline_release(b->copy);
    drive(b, b->own->cuda->cuStreamDestroy(b->stream));
    drive(b, b->own->cuda->cuMemFree(b->raw));
    must(vyre_resident_free(b->device, b->buffers[0]));
    must(vyre_resident_free(b->device, b->buffers[1]));
}

static void measure_pageable(bench *b) {
    uint8_t *pageable = map(most_bytes);
    measure(b, "pageable", pageable);
    munmap(pageable, most_bytes);
    printf("fresh    %8zu KiB  out %6.2f GB/s, cuMemcpy %6.2f\n", most_bytes >> 10,
           fresh_rate(b, read_back, most_bytes), fresh_rate(b, raw_out, most_bytes));
}

static void measure_pinned(bench *b) {
    void *pinned;
    uint64_t begun = vyre_now_ns();
    must(vyre_memory_allocate(most_bytes, &pinned));
    printf("vyre_memory_allocate of 1 GiB takes %.1f ms\n", (double)(vyre_now_ns() - begun) / 1e6);
    measure(b, "pinned", pinned);
    must(vyre_memory_free(pinned));
    drive(b, b->own->cuda->cuMemHostAlloc(&pinned, most_bytes, CU_MEMHOSTALLOC_PORTABLE));
    printf("memory of cuMemHostAlloc: in %6.2f GB/s, out %6.2f GB/s\n",
           rate(b, upload, pinned, most_bytes), rate(b, read_back, pinned, most_bytes));
    drive(b, b->own->cuda->cuMemFreeHost(pinned));
}

void transfer(vyre_device *device, bool is_pageable_only) {
    bench b;
    start(&b, device);
    printf("%u CPUs\n", vyre_thread_cpus());
    measure_pageable(&b);
    if (!is_pageable_only) {
        measure_pinned(&b);
    }
    end(&b);
}
