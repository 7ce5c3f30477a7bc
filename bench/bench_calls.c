/* The cost of a call on small data: saxpy with 16 elements on the cpu backend, through vyre_run
 * with a named device and with routing, and through a pipeline. */
#include <stdio.h>
#include <string.h>

#include <vyre/pipeline.h>
#include <vyre/run.h>
#include <vyre/text.h>

#include "bench/measure.h"

enum { CALLS = 2000, ROUNDS = 500, LENGTH = 16 };

static const char text[] = "program saxpy(a: f32, x: buffer<f32>, y: inout buffer<f32>) over y {"
                           " y[gid] = fma(a, x[gid], y[gid]); }";

static void check(vyre_status status) {
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
        exit(1);
    }
}

static float a = 0.5f, x[LENGTH], y[LENGTH];
static vyre_device *device;
static vyre_program *program;
static vyre_pipeline *pipeline;
static const vyre_argument arguments[] = {
    {"a", &a, NULL, sizeof a}, {"x", x, NULL, sizeof x}, {"y", y, y, sizeof y}};
static const vyre_output memory[] = {
    {(uint8_t *)&a, sizeof a}, {(uint8_t *)x, sizeof x}, {(uint8_t *)y, sizeof y}};

static void run_named(void) {
    check(vyre_run("cpu", text, arguments, 3, NULL));
}

static void run_auto(void) {
    check(vyre_run("auto", text, arguments, 3, NULL));
}

static void run_device(void) {
    check(vyre_device_dispatch_in_place(device, program, memory, 3, NULL));
}

static void run_pipeline(void) {
    check(vyre_pipeline_dispatch_in_place(pipeline, memory, 3, NULL));
}

/* The fastest of many rounds, in nanoseconds a call. */
static void measure(const char *name, void (*call)(void), double bar_ns) {
    double best = 0;
    call();
    call();
    size_t before = measure_allocations;
    for (int round = 0; round < ROUNDS; round++) {
        double start = measure_cpu_ns();
        for (int i = 0; i < CALLS; i++) {
            call();
        }
        double each = (measure_cpu_ns() - start) / CALLS;
        best = !round || each < best ? each : best;
    }
    double allocations = (double)(measure_allocations - before) / ((double)ROUNDS * CALLS);
    printf("%-32s %7.1f ns  (bar %.0f)  %.2f allocations a call\n", name, best, bar_ns,
           allocations);
}

int main(void) {
    vyre_module *module;
    measure_memory_start();
    check(vyre_module_parse(NULL, text, strlen(text), NULL, &module));
    program = vyre_module_program(module, 0);
    check(vyre_acquire("cpu", &device));
    check(vyre_device_compile(device, program, NULL, &pipeline));
    printf("%d elements of saxpy on cpu, best of %d rounds of %d calls\n", LENGTH, ROUNDS, CALLS);
    measure("vyre_run(\"cpu\")", run_named, 1000);
    measure("vyre_run(\"auto\")", run_auto, 1000);
    measure("vyre_device_dispatch_in_place", run_device, 600);
    measure("vyre_pipeline_dispatch_in_place", run_pipeline, 400);
    vyre_pipeline_release(pipeline);
    vyre_device_release(device);
    vyre_module_free(module);
    return 0;
}
