/* Drills of the cuda backend on a real GPU: it must stay healthy, or say that it is not.
 *
 *     gpu_drills timeout      a run that never ends, then the same pipeline with one that does
 *     gpu_drills trap         ends the context from outside, in a child process, and recovers
 *     gpu_drills cancel       1,000 dispatches from 16 threads, some cancelled at random
 *     gpu_drills memory       more than there is, then what there is
 *     gpu_drills artifact     from a stored form, without the driver's compiler
 *     gpu_drills turns        `repeat while` of many turns, held against the reference
 *     gpu_drills arithmetic   what is written in another way than it is defined: the same bytes
 *     gpu_drills halves       f16 and bf16: all inputs of functions, and fma with one rounding
 *     gpu_drills share        device memory, pinned memory and a stream of the caller
 *     gpu_drills copies       host memory of many sizes and kinds, each way, from 4 threads
 *
 * One line each, exit status 0 if it went well. */
#define _GNU_SOURCE

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/wait.h>
#include <unistd.h>

#include <vyre/vyre.h>

#include "backend/cuda/runtime/driver.h"
#include "backend/cuda/runtime/executable.h"
#include "base/clock.h"
#include "loops.h"
#include "runtime/device.h"
#include "tests/unit/half_fma.h"

#define TWICE                                                                                      \
    "program twice(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid] * 2; }"
#define ENDLESS                                                                                    \
    "program endless(go: buffer<u32>, y: out buffer<u32>[64]) over 64 workgroup 8 { "              \
    "var n = 0u; loop { if atomic_add(y[gid], 0) == 1 || go[0] == 0 { break; } n += 1; } "         \
    "y[gid] = n + 7; }"
#define ENDLESS_REPEAT                                                                             \
    "program endless_repeat(x: buffer<u32>, y: inout buffer<u32>) { "                              \
    "repeat while x[0] { phase over y { y[gid] = y[gid] + 1; } } }"

static const char *device_name = "cuda";

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("FAILED at line %d: ", __LINE__);                                               \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
            fflush(stdout);                                                                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void must(vyre_status status) {
    CHECK(!status, "%s", vyre_status_text(status));
}

static vyre_program *parse(const char *text) {
    vyre_module *module;
    must(vyre_module_parse("drill.vyre", text, strlen(text), NULL, &module));
    vyre_program *program = vyre_program_retain(vyre_module_program(module, 0));
    vyre_module_free(module);
    return program;
}

static vyre_device *acquire(void) {
    vyre_device *device;
    must(vyre_acquire(device_name, &device));
    return device;
}

static void works(vyre_device *device, const vyre_program *twice) {
    uint32_t x[1000];
    for (uint32_t i = 0; i < 1000; i++) {
        x[i] = i * 7;
    }
    const vyre_input input = {x, sizeof x};
    vyre_outputs outputs;
    must(vyre_device_dispatch(device, twice, &input, 1, NULL, &outputs));
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK(((uint32_t *)(void *)outputs.items[0].data)[i] == i * 14, "element %u is wrong", i);
    }
    vyre_outputs_free(&outputs);
}

static void drill_timeout(void) {
    vyre_device *device = acquire();
    vyre_program *twice = parse(TWICE), *endless = parse(ENDLESS);
    vyre_program *repeat = parse(ENDLESS_REPEAT);
    works(device, twice);
    uint32_t go = 1, none = 0, y[4] = {1, 1, 1, 1};
    const vyre_dispatch_config config = {.timeout_ns = 100000000};
    uint64_t slowest = 0;
    for (int turn = 0; turn < 6; turn++) {
        const vyre_input inputs[] = {{&go, 4}, {y, sizeof y}};
        const vyre_program *program = turn % 2 ? repeat : endless;
        vyre_outputs outputs;
        uint64_t start = vyre_now_ns();
        vyre_status status =
            vyre_device_dispatch(device, program, inputs, turn % 2 ? 2 : 1, &config, &outputs);
        uint64_t took = vyre_now_ns() - start;
        CHECK(vyre_status_code_of(status) == VYRE_STATUS_TIMEOUT, "no timeout: %s",
              vyre_status_text(status));
        vyre_status_free(status);
        slowest = took > slowest ? took : slowest;
        CHECK(!vyre_device_lost(device), "the device is lost");
        works(device, twice);
        const vyre_input stops[] = {{&none, 4}, {y, sizeof y}};
        must(vyre_device_dispatch(device, program, stops, turn % 2 ? 2 : 1, NULL, &outputs));
        if (turn % 2 == 0) {
            CHECK(*(uint32_t *)(void *)outputs.items[0].data == 7, "wrong after a timeout");
        }
        vyre_outputs_free(&outputs);
    }
    vyre_device_release(device);
    printf("timeout: 6 of 100 ms, the slowest after %.1f ms, healthy after each\n",
           (double)slowest / 1e6);
}

/* Code that no program of the language becomes. */
static const char trap[] = ".version 6.3\n.target sm_70\n.address_size 64\n"
                           ".visible .entry drill()\n{\n    trap;\n    ret;\n}\n";

static void drill_trap_inside(void) {
    vyre_device *device = acquire();
    vyre_program *twice = parse(TWICE);
    works(device, twice);
    cuda_device *own = device->backend->state;
    CUcontext before;
    CUmodule module;
    CUfunction function;
    must(cuda_device_enter(own, &before));
    must(cuda_check(own, own->cuda->cuModuleLoadData(&module, trap), "loading the trap"));
    must(cuda_check(own, own->cuda->cuModuleGetFunction(&function, module, "drill"), "finding"));
    must(cuda_check(own,
                    own->cuda->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0,
                                              own->streams.shared[0].handle, NULL, NULL),
                    "starting the trap"));
    uint32_t x[64] = {1};
    const vyre_input input = {x, sizeof x};
    vyre_outputs outputs;
    vyre_status status = VYRE_OK;
    for (int i = 0; i < 1000 && !status; i++) { /* the fault shows in one of the next calls */
        status = vyre_device_dispatch(device, twice, &input, 1, NULL, &outputs);
        if (!status) {
            vyre_outputs_free(&outputs);
        }
    }
    CHECK(vyre_status_code_of(status) == VYRE_STATUS_DEVICE_LOST, "not lost: %s",
          vyre_status_text(status));
    printf("trap: %s\n", vyre_status_text(status));
    vyre_status_free(status);
    CHECK(vyre_device_lost(device), "the device does not say that it is lost");
    status = vyre_device_recover(device);
    if (status) {
        CHECK(strstr(vyre_status_text(status), "Fix: restart the process"), "%s",
              vyre_status_text(status));
        printf("trap: not recovered, and it says so: %s\n", vyre_status_text(status));
        vyre_status_free(status);
    } else {
        works(device, twice);
        printf("trap: recovered, and it computes again\n");
    }
    vyre_device_release(device);
    fflush(stdout);
}

static void drill_trap(void) {
    pid_t child = fork(); /* before anything of CUDA is touched here */
    if (!child) {
        drill_trap_inside();
        _exit(0);
    }
    int ended = 0;
    waitpid(child, &ended, 0);
    CHECK(WIFEXITED(ended) && !WEXITSTATUS(ended), "the child ended with %d", ended);
    vyre_device *device = acquire();
    vyre_program *twice = parse(TWICE);
    works(device, twice);
    vyre_device_release(device);
    printf("trap: another process is not touched\n");
}

enum { THREADS = 16, RUNS = 1000 };

typedef struct member {
    pthread_t thread;
    vyre_device *device;
    vyre_program *twice, *endless;
    uint32_t seed, cancelled;
} member;

static uint32_t draw(member *m) {
    m->seed = m->seed * 1664525 + 1013904223;
    return m->seed >> 8;
}

static void *cancel_some(void *argument) {
    member *m = argument;
    uint32_t x[256], go = 1;
    for (uint32_t i = 0; i < 256; i++) {
        x[i] = i;
    }
    for (int i = 0; i < RUNS / THREADS + 1; i++) {
        bool is_endless = draw(m) % 4 == 0;
        const vyre_input inputs[] = {{x, sizeof x}, {&go, 4}};
        vyre_pending *pending;
        vyre_outputs outputs;
        must(vyre_device_dispatch_async(m->device, is_endless ? m->endless : m->twice,
                                        &inputs[is_endless], 1, NULL, &pending));
        if (is_endless || draw(m) % 3 == 0) {
            usleep(draw(m) % 2000);
            m->cancelled++;
        } else {
            must(vyre_pending_await(pending, &outputs));
            CHECK(((uint32_t *)(void *)outputs.items[0].data)[200] == 400, "wrong");
            vyre_outputs_free(&outputs);
        }
        vyre_pending_free(pending);
    }
    return NULL;
}

static size_t free_memory(cuda_device *own) {
    size_t free_bytes = 0, total = 0;
    CUcontext before;
    must(cuda_device_enter(own, &before));
    must(cuda_check(own, own->cuda->cuMemGetInfo(&free_bytes, &total), "asking for memory"));
    return free_bytes;
}

/* A device of its own, and all threads on it. */
static uint32_t cancel_round(vyre_program *twice, vyre_program *endless, uint32_t seed,
                             uint64_t *out_held) {
    uint32_t cancelled = 0;
    vyre_device *device = acquire();
    member members[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        members[i] =
            (member){.device = device, .twice = twice, .endless = endless, .seed = seed + i};
        pthread_create(&members[i].thread, NULL, cancel_some, &members[i]);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(members[i].thread, NULL);
        cancelled += members[i].cancelled;
    }
    works(device, twice);
    *out_held = ((cuda_device *)device->backend->state)->memory.block_bytes;
    vyre_device_release(device);
    return cancelled;
}

/* The driver keeps some memory for a context for as long as it lives, for streams, code and pages
 * that it gives out in parts: a first round makes it take that, and whatever is missing after
 * another one would be ours. */
static void drill_cancel(void) {
    enum { ROUNDS = 3 };
    vyre_device *first = acquire(); /* keeps the context, so that memory can be compared */
    vyre_program *twice = parse(TWICE), *endless = parse(ENDLESS);
    works(first, twice);
    cuda_device *own = first->backend->state;
    size_t begin = free_memory(own), start = 0;
    for (uint32_t round = 0; round <= ROUNDS; round++) {
        uint64_t since = vyre_now_ns(), held;
        uint32_t cancelled = cancel_round(twice, endless, 1 + round * THREADS, &held);
        size_t now = free_memory(own);
        start = round ? start : now;
        printf(
            "cancel: round %u, %d runs from %d threads, %u cancelled, in %.2f s; its device held "
            "%llu bytes; free then %zu, %+lld since the %s\n",
            round, THREADS * (RUNS / THREADS + 1), THREADS, cancelled,
            (double)(vyre_now_ns() - since) / 1e9, (unsigned long long)held, now,
            (long long)now - (long long)(round ? start : begin),
            round ? "start" : "context's first run, which is the driver's own");
        CHECK(now >= start, "memory of the device is not back");
    }
    vyre_device_release(first);
}

/* All numbers of f32: 1 / sqrt(x) at once gives what the two operations give one after the other.
 */
static void check_roots(vyre_device *device) {
    static const char text[] =
        "program roots(from: u32, wrong: inout buffer<u32>) { scratch root: f32[16777216]; "
        "phase over 16777216 { root[gid] = sqrt(bitcast<f32>(from + gid)); } "
        "phase over 16777216 { let once = 1 / sqrt(bitcast<f32>(from + gid)); "
        "if bitcast<u32>(once) != bitcast<u32>(1 / root[gid]) { atomic_add(wrong[0], 1); } } }";
    vyre_program *program = parse(text);
    vyre_resident wrong;
    uint32_t count = 0;
    must(vyre_resident_allocate(device, 4, &wrong));
    for (uint32_t part = 0; part < 256; part++) {
        const vyre_binding bindings[] = {vyre_bind_bits((uint64_t)part << 24), vyre_bind(wrong)};
        must(vyre_device_dispatch_resident(device, program, bindings, 2, NULL, NULL));
    }
    must(vyre_resident_read(device, wrong, 0, &count, 4));
    must(vyre_resident_free(device, wrong));
    CHECK(!count, "%u inverse roots are wrong", count);
    printf("arithmetic: 2^32 inverse roots, each as two operations give it\n");
    vyre_program_release(program);
}

static void drill_arithmetic(void) {
    vyre_device *device = acquire();
    check_roots(device);
    vyre_device_release(device);
}

/* The first output of a program; free the outputs. */
static const uint16_t *run_halves(vyre_device *device, const char *text, const vyre_input *inputs,
                                  size_t count, vyre_outputs *outputs) {
    vyre_program *program = parse(text);
    must(vyre_device_dispatch(device, program, inputs, count, NULL, outputs));
    vyre_program_release(program);
    return (const uint16_t *)(const void *)outputs->items[0].data;
}

/* On all inputs, as the reference gives them. */
static void check_function(vyre_device *device, vyre_device *reference, const char *type,
                           const char *function) {
    static uint16_t x[0x10000];
    for (uint32_t i = 0; i < 0x10000; i++) {
        x[i] = (uint16_t)i;
    }
    char text[200];
    snprintf(text, sizeof text,
             "program p(x: buffer<%s>, y: out buffer<%s>[len(x)]) over x { y[gid] = %s(x[gid]); }",
             type, type, function);
    const vyre_input input = {x, sizeof x};
    vyre_outputs here, there;
    const uint16_t *found = run_halves(device, text, &input, 1, &here);
    const uint16_t *right = run_halves(reference, text, &input, 1, &there);
    for (uint32_t i = 0; i < 0x10000; i++) {
        CHECK(found[i] == right[i], "%s of %s %04x: %04x instead of %04x", function, type, i,
              found[i], right[i]);
    }
    vyre_outputs_free(&here);
    vyre_outputs_free(&there);
}

/* Against whole numbers, where rounding twice goes wrong. */
static void check_fma(vyre_device *device, const char *type, const half_format *format) {
    enum { TRIPLES = 1 << 22 };
    uint16_t *x[3], operands[3];
    for (int k = 0; k < 3; k++) {
        x[k] = malloc(TRIPLES * sizeof(uint16_t));
        CHECK(x[k], "no memory");
    }
    uint64_t random = 11;
    for (uint32_t i = 0; i < TRIPLES; i++) {
        half_hard_case(format, i, &random, operands);
        for (int k = 0; k < 3; k++) {
            x[k][i] = operands[k];
        }
    }
    char text[300];
    snprintf(text, sizeof text,
             "program p(a: buffer<%s>, b: buffer<%s>[len(a)], c: buffer<%s>[len(a)], "
             "y: out buffer<%s>[len(a)]) over a { y[gid] = fma(a[gid], b[gid], c[gid]); }",
             type, type, type, type);
    const vyre_input inputs[] = {{x[0], 2 * TRIPLES}, {x[1], 2 * TRIPLES}, {x[2], 2 * TRIPLES}};
    vyre_outputs outputs;
    const uint16_t *found = run_halves(device, text, inputs, 3, &outputs);
    for (uint32_t i = 0; i < TRIPLES; i++) {
        uint16_t right = half_fma(format, x[0][i], x[1][i], x[2][i]);
        CHECK(found[i] == right, "fma of %s %04x %04x %04x: %04x instead of %04x", type, x[0][i],
              x[1][i], x[2][i], found[i], right);
    }
    vyre_outputs_free(&outputs);
    for (int k = 0; k < 3; k++) {
        free(x[k]);
    }
}

static void drill_halves(void) {
    static const char *const functions[] = {"exp",  "exp2", "log",  "log2", "sin",
                                            "cos",  "tan",  "asin", "acos", "atan",
                                            "sinh", "cosh", "tanh", "erf",  "cbrt"};
    vyre_device *device = acquire(), *reference;
    must(vyre_acquire("reference", &reference));
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        check_function(device, reference, "f16", functions[k]);
        check_function(device, reference, "bf16", functions[k]);
    }
    check_fma(device, "f16", &half_f16);
    check_fma(device, "bf16", &half_bf16);
    printf("halves: 15 functions of all f16 and bf16, 2^23 sums of products\n");
    vyre_device_release(reference);
    vyre_device_release(device);
}

static void drill_memory(void) {
    vyre_device *device = acquire();
    vyre_profile profile;
    vyre_resident resident;
    vyre_device_profile(device, &profile);
    vyre_status status = vyre_resident_allocate(
        device, (size_t)profile.max_storage_buffer_bytes + (1 << 30), &resident);
    CHECK(vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY, "%s", vyre_status_text(status));
    printf("memory: %s\n", vyre_status_text(status));
    vyre_status_free(status);
    must(vyre_resident_allocate(device, (size_t)(profile.max_storage_buffer_bytes / 4 * 3),
                                &resident));
    must(vyre_resident_free(device, resident));
    vyre_program *twice = parse(TWICE);
    works(device, twice);
    vyre_device_release(device);
}

static void drill_artifact(void) {
    vyre_device *device = acquire();
    vyre_program *twice = parse(TWICE);
    must(vyre_device_prepare(device));
    cuda_device *own = device->backend->state;
    CUcontext before;
    cuda_executable *native;
    vyre_strbuf artifact = {0}, none = {0};
    must(cuda_device_enter(own, &before));
    must(cuda_executable_make(own, twice, NULL, 0, &artifact, &native));
    uint32_t registers = native->codes[0].phases[0].registers;
    cuda_executable_release(native);
    must(cuda_executable_make(own, twice, (uint8_t *)artifact.data, artifact.size, &none, &native));
    CHECK(!none.size, "the stored form was not taken");
    cuda_executable_release(native);
    printf("artifact: %zu bytes, %u registers\n", artifact.size, registers);
    vyre_device_release(device);
}

static void drill_turns(void) {
    enum { LENGTH = 5000 };
    vyre_device *device = acquire(), *reference;
    uint32_t *y = calloc(LENGTH, sizeof *y), runs = 0;
    must(vyre_acquire("reference", &reference));
    for (uint32_t i = 0; i < LENGTH; i++) {
        y[i] = i * 77;
    }
    for (size_t p = 0; p < sizeof loops / sizeof *loops; p++) {
        vyre_program *program = parse(loops[p]);
        for (size_t c = 0; c < sizeof loop_turns / sizeof *loop_turns; c++) {
            uint32_t left = loop_turns[c];
            const vyre_input inputs[] = {{&left, sizeof left}, {y, LENGTH * sizeof *y}};
            vyre_outputs expected, found;
            must(vyre_device_dispatch(reference, program, inputs, 2, NULL, &expected));
            for (int again = 0; again < 3; again++) {
                must(vyre_device_dispatch(device, program, inputs, 2, NULL, &found));
                for (size_t i = 0; i < 2; i++) {
                    CHECK(!memcmp(expected.items[i].data, found.items[i].data, found.items[i].size),
                          "`%s`, %u turns: output %zu differs", vyre_program_name(program), left,
                          i);
                }
                vyre_outputs_free(&found);
                runs++;
            }
            vyre_outputs_free(&expected);
        }
        vyre_program_release(program);
    }
    free(y);
    vyre_device_release(reference);
    vyre_device_release(device);
    printf("turns: %u runs, the same bytes as the reference\n", runs);
}

/* A caller's own memory and stream, through the driver. */
typedef struct caller {
    const cuda_table *cuda;
    CUdevice handle;
    CUcontext context;
    CUstream stream;
    CUdeviceptr x, y, z;
    uint32_t *pinned;
} caller;

enum { SHARED = 1 << 20, SHARED_BYTES = SHARED * 4 };

static void driver(CUresult result, int line) {
    CHECK(!result, "the driver gives %d at line %d", result, line);
}
#define DRIVER(call) driver((call), __LINE__)

static void caller_start(caller *c) {
    void *pages;
    must(cuda_driver_open(&c->cuda));
    DRIVER(c->cuda->cuDeviceGet(&c->handle, 0));
    DRIVER(c->cuda->cuDevicePrimaryCtxRetain(&c->context, c->handle));
    DRIVER(c->cuda->cuCtxSetCurrent(c->context));
    DRIVER(c->cuda->cuStreamCreate(&c->stream, CU_STREAM_NON_BLOCKING));
    DRIVER(c->cuda->cuMemAlloc(&c->x, SHARED_BYTES));
    DRIVER(c->cuda->cuMemAlloc(&c->y, SHARED_BYTES));
    DRIVER(c->cuda->cuMemAlloc(&c->z, SHARED_BYTES));
    DRIVER(c->cuda->cuMemHostAlloc(&pages, SHARED_BYTES, CU_MEMHOSTALLOC_PORTABLE));
    c->pinned = pages;
}

static void caller_end(caller *c) {
    DRIVER(c->cuda->cuMemFreeHost(c->pinned));
    DRIVER(c->cuda->cuMemFree(c->x));
    DRIVER(c->cuda->cuMemFree(c->y));
    DRIVER(c->cuda->cuMemFree(c->z));
    DRIVER(c->cuda->cuStreamDestroy(c->stream));
    DRIVER(c->cuda->cuCtxSetCurrent(NULL));
    DRIVER(c->cuda->cuDevicePrimaryCtxRelease(c->handle));
}

static uint32_t released;

static void count_release(void *owner) {
    (void)owner;
    released++;
}

static vyre_resident import(vyre_device *device, uint64_t address, uint32_t place) {
    const vyre_memory memory = {.address = address, .size = SHARED_BYTES, .place = place};
    vyre_resident made;
    must(vyre_resident_import(device, &memory, count_release, NULL, &made));
    return made;
}

/* Brings x by the caller's stream, runs, and takes y by the same stream; the host waits at the end
 * alone. Big copies in front make a run that does not wait read too early. */
static void share_stream(vyre_device *device, caller *c, vyre_pipeline *twice, CUstream stream,
                         const vyre_binding *bindings) {
    const vyre_dispatch_config config = {.flags = VYRE_DISPATCH_STREAM,
                                         .stream = (uintptr_t)stream};
    for (uint32_t turn = 1; turn <= 20; turn++) {
        vyre_ticket ticket;
        for (uint32_t i = 0; i < SHARED; i++) {
            c->pinned[i] = i * turn;
        }
        DRIVER(c->cuda->cuMemsetD8Async(c->x, 0xff, SHARED_BYTES, stream));
        DRIVER(c->cuda->cuMemcpyHtoDAsync(c->x, c->pinned, SHARED_BYTES, stream));
        must(vyre_pipeline_enqueue(twice, bindings, 2, &config, &ticket));
        DRIVER(c->cuda->cuMemcpyDtoDAsync(c->z, c->y, SHARED_BYTES, stream));
        DRIVER(c->cuda->cuMemsetD8Async(c->x, 0, SHARED_BYTES, stream));
        DRIVER(c->cuda->cuMemcpyDtoHAsync(c->pinned, c->z, SHARED_BYTES, stream));
        DRIVER(c->cuda->cuStreamSynchronize(stream));
        for (uint32_t i = 0; i < SHARED; i++) {
            CHECK(c->pinned[i] == i * turn * 2, "turn %u: element %u is %u", turn, i, c->pinned[i]);
        }
        must(vyre_device_wait(device, ticket));
    }
}

static void share_ranges(vyre_device *device, caller *c, const vyre_program *twice, vyre_resident x,
                         vyre_resident y) {
    static const uint64_t wide[2] = {UINT64_C(0x1122334455667788), 3};
    vyre_resident half, other;
    vyre_memory found;
    must(vyre_resident_memory(device, y, &found));
    CHECK(found.address == c->y && found.place == VYRE_MEMORY_DEVICE, "y lies elsewhere");
    must(vyre_resident_range(device, x, SHARED_BYTES / 2, SHARED_BYTES / 2, &half));
    must(vyre_resident_range(device, y, 0, SHARED_BYTES / 2, &other));
    must(vyre_resident_fill(device, x, 0, SHARED_BYTES, &(uint32_t){5}, 4));
    must(vyre_resident_fill(device, half, 0, SHARED_BYTES / 2, &(uint32_t){7}, 4));
    const vyre_binding bindings[] = {vyre_named("y", vyre_bind(other)),
                                     vyre_named("x", vyre_bind(half))};
    must(vyre_device_dispatch_resident(device, twice, bindings, 2, NULL, NULL));
    must(vyre_resident_copy(device, y, SHARED_BYTES / 2, x, 0, SHARED_BYTES / 2));
    must(vyre_resident_read(device, y, 0, c->pinned, SHARED_BYTES));
    for (uint32_t i = 0; i < SHARED; i++) {
        CHECK(c->pinned[i] == (i < SHARED / 2 ? 14 : 5), "element %u is %u", i, c->pinned[i]);
    }
    must(vyre_resident_fill(device, y, 1, SHARED_BYTES - 16, wide, 16)); /* not aligned */
    must(vyre_resident_read(device, y, 1, c->pinned, SHARED_BYTES - 16));
    for (uint32_t i = 0; i < SHARED - 4; i++) {
        uint32_t expected = (uint32_t)(wide[i / 2 % 2] >> 32 * (i % 2));
        CHECK(c->pinned[i] == expected, "word %u is %x", i, c->pinned[i]);
    }
    must(vyre_resident_free(device, half));
    must(vyre_resident_free(device, other));
}

static void drill_share(void) {
    caller c = {0};
    vyre_device *device = acquire();
    vyre_program *twice = parse(TWICE);
    vyre_pipeline *pipeline;
    must(vyre_device_compile(device, twice, NULL, &pipeline));
    caller_start(&c);
    vyre_resident x = import(device, c.x, VYRE_MEMORY_DEVICE);
    vyre_resident y = import(device, c.y, VYRE_MEMORY_DEVICE);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    share_stream(device, &c, pipeline, c.stream, bindings);
    share_stream(device, &c, pipeline, NULL, bindings); /* the legacy stream */
    share_ranges(device, &c, twice, x, y);
    vyre_resident pinned = import(device, (uintptr_t)c.pinned, VYRE_MEMORY_HOST);
    must(vyre_resident_fill(device, x, 0, SHARED_BYTES, &(uint32_t){21}, 4));
    const vyre_binding to_host[] = {vyre_bind(x), vyre_bind(pinned)};
    must(vyre_device_dispatch_resident(device, twice, to_host, 2, NULL, NULL));
    CHECK(c.pinned[0] == 42 && c.pinned[SHARED - 1] == 42, "pinned memory holds %u", c.pinned[0]);
    uint32_t plain = 0;
    vyre_resident refused;
    const vyre_memory pageable = {
        .address = (uintptr_t)&plain, .size = sizeof plain, .place = VYRE_MEMORY_HOST};
    vyre_status status = vyre_resident_import(device, &pageable, NULL, NULL, &refused);
    CHECK(vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED, "pageable memory is taken");
    vyre_status_free(status);
    vyre_pipeline_release(pipeline);
    vyre_program_release(twice);
    must(vyre_resident_free(device, x));
    CHECK(released == 1, "%u owners were told", released);
    vyre_device_release(device);
    CHECK(released == 3, "%u owners were told", released);
    caller_end(&c);
    printf("share: 40 runs in the order of two streams, ranges, copies, fills, pinned memory\n");
}

enum { COPY_FENCE = 64, COPY_THREADS = 4 };

/* Copies bytes to the device and back, and looks at what is around them. */
static void check_copy(vyre_device *device, uint8_t *from, uint8_t *to, size_t bytes, size_t seed) {
    vyre_resident buffer;
    for (size_t i = 0; i < bytes; i++) {
        from[i] = (uint8_t)((i * 2654435761u + seed) >> 13);
    }
    memset(to, 0xee, bytes + 2 * COPY_FENCE);
    must(vyre_resident_allocate(device, bytes + 5, &buffer));
    must(vyre_resident_fill(device, buffer, 0, bytes + 5, &(uint8_t){0x77}, 1));
    must(vyre_resident_upload_at(device, buffer, 2, from, bytes));
    must(vyre_resident_read(device, buffer, 2, to + COPY_FENCE, bytes));
    CHECK(!memcmp(from, to + COPY_FENCE, bytes), "%zu bytes came back wrong", bytes);
    uint8_t around[5] = {0};
    must(vyre_resident_read(device, buffer, 0, around, 2));
    must(vyre_resident_read(device, buffer, bytes + 2, around + 2, 3));
    for (size_t i = 0; i < COPY_FENCE; i++) {
        CHECK(around[i % 5] == 0x77, "%zu bytes were written beyond the device's end", bytes);
        CHECK(to[i] == 0xee && to[COPY_FENCE + bytes + i] == 0xee,
              "%zu bytes were written beyond their end", bytes);
    }
    must(vyre_resident_free(device, buffer));
}

/* Sizes around the borders of parts, at addresses that are not aligned. */
static void check_sizes(vyre_device *device, uint8_t *from, uint8_t *to, size_t seed) {
    static const size_t borders[] = {64 << 10, 256 << 10, 512 << 10, 1 << 20,
                                     2 << 20,  4 << 20,   32 << 20,  33 << 20};
    for (size_t i = 0; i < sizeof borders / sizeof *borders; i++) {
        for (size_t more = 0; more < 3; more++) {
            check_copy(device, from + (seed + more) % 7, to + more, borders[i] + more - 1, seed);
        }
    }
}

static void *copy_pageable(void *argument) {
    static atomic_size_t seed;
    size_t most = (size_t)34 << 20;
    uint8_t *from = malloc(most), *to = malloc(most);
    CHECK(from && to, "there is no memory");
    check_sizes(argument, from, to, atomic_fetch_add(&seed, 1));
    free(from);
    free(to);
    return NULL;
}

static void drill_copies(void) {
    vyre_device *device = acquire();
    vyre_program *twice = parse(TWICE);
    pthread_t threads[COPY_THREADS];
    size_t most = (size_t)34 << 20;
    void *pinned, *plain = malloc(most);
    works(device, twice);
    copy_pageable(device);
    for (int i = 0; i < COPY_THREADS; i++) {
        CHECK(!pthread_create(&threads[i], NULL, copy_pageable, device), "there is no thread");
    }
    for (int i = 0; i < COPY_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    must(vyre_memory_allocate(most, &pinned));
    check_sizes(device, pinned, plain, 5);
    check_sizes(device, plain, pinned, 6);
    must(vyre_memory_pin(plain, most / 2)); /* some copies are pinned only in part */
    check_sizes(device, plain, pinned, 7);
    must(vyre_memory_unpin(plain));
    check_sizes(device, plain, pinned, 8);
    must(vyre_device_shutdown(device)); /* while memory is pinned */
    vyre_device_release(device);
    device = acquire();
    check_sizes(device, pinned, plain, 9); /* pinned again */
    free(plain);
    vyre_device_release(device);
    must(vyre_memory_free(pinned));
    vyre_program_release(twice);
    printf("copies: 24 sizes around the borders of parts, pageable from %d threads, pinned, pinned "
           "in part, pinned before the device was opened\n",
           COPY_THREADS);
}

int main(int count, char **arguments) {
    const struct {
        const char *name;
        void (*run)(void);
    } drills[] = {{"timeout", drill_timeout},       {"trap", drill_trap},
                  {"cancel", drill_cancel},         {"memory", drill_memory},
                  {"artifact", drill_artifact},     {"turns", drill_turns},
                  {"arithmetic", drill_arithmetic}, {"halves", drill_halves},
                  {"share", drill_share},           {"copies", drill_copies}};
    setenv("VYRE_CACHE_LIMIT", "0", 1);
    if (getenv("GPU_DEVICE")) {
        device_name = getenv("GPU_DEVICE");
    }
    for (size_t i = 0; i < sizeof drills / sizeof *drills; i++) {
        if (count == 2 && !strcmp(arguments[1], drills[i].name)) {
            drills[i].run();
            return 0;
        }
    }
    fprintf(stderr, "usage: gpu_drills "
                    "timeout|trap|cancel|memory|artifact|turns|arithmetic|halves|share|copies\n");
    return 2;
}
