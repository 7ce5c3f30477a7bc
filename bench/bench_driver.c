/* What the driver costs around a backend that does nothing: a run enqueued on resident buffers, a
 * program found again among those compiled, a whole run with data of the host. A backend
 * without phases or grid barriers is measured, too: a program that needs neither must cost as much
 * there. */
#include <stdio.h>
#include <string.h>

#include <vyre/pipeline.h>
#include <vyre/text.h>

#include "bench/measure.h"
#include "tests/mock/mock.h"

enum { CALLS = 20000, ROUNDS = 100, BUFFER_BYTES = 4096 };

static void check(vyre_status status) {
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
        exit(1);
    }
}

static vyre_program *parse(const char *text) {
    vyre_module *module;
    check(vyre_module_parse("bench.vyre", text, strlen(text), NULL, &module));
    vyre_program *program = vyre_program_retain(vyre_module_program(module, 0));
    vyre_module_free(module);
    return program;
}

typedef struct bench {
    vyre_device *device;
    vyre_program *program, *same; /* the same again, parsed once more */
    vyre_pipeline *pipeline;
    vyre_binding bindings[3];
    vyre_input inputs[3];
    vyre_outputs outputs;
} bench;

static void enqueue(bench *b) {
    vyre_ticket ticket;
    check(vyre_pipeline_enqueue(b->pipeline, b->bindings, 3, NULL, &ticket));
}

static void find_again(bench *b) {
    vyre_pipeline *pipeline;
    check(vyre_device_compile(b->device, b->program, NULL, &pipeline));
    vyre_pipeline_release(pipeline);
}

static void find_equal(bench *b) {
    vyre_pipeline *pipeline;
    check(vyre_device_compile(b->device, b->same, NULL, &pipeline));
    vyre_pipeline_release(pipeline);
}

static void run_into(bench *b) {
    check(vyre_pipeline_dispatch_into(b->pipeline, b->inputs, 3, NULL, &b->outputs));
}

/* The fastest of many rounds, in nanoseconds a call, and the allocations of all of them. */
static void measure(const char *name, bench *b, void (*call)(bench *b), double bar_ns) {
    double best = 0;
    call(b);
    size_t before = measure_allocations;
    for (int round = 0; round < ROUNDS; round++) {
        double start = measure_cpu_ns();
        for (int i = 0; i < CALLS; i++) {
            call(b);
        }
        double each = (measure_cpu_ns() - start) / CALLS;
        best = !round || each < best ? each : best;
    }
    double allocations = (double)(measure_allocations - before) / ((double)ROUNDS * CALLS);
    printf("%-44s %7.1f ns", name, best);
    if (bar_ns > 0) {
        printf("  (bar %.0f)", bar_ns);
    }
    printf("  %.2f allocations a call\n", allocations);
}

static void measure_all(const char *kind, uint32_t features) {
    static const char text[] =
        "program saxpy(a: f32, x: buffer<f32>, y: inout buffer<f32>) over y {"
        " y[gid] = fma(a, x[gid], y[gid]); }";
    static const float a = 2;
    static char data[BUFFER_BYTES];
    bench b = {.program = parse(text), .same = parse(text)};
    mock *m = mock_create(&(mock_spec){.null = true, .slots = MOCK_ALL, .features = features});
    vyre_resident x, y;
    check(mock_open(m, &b.device));
    check(vyre_device_compile(b.device, b.program, NULL, &b.pipeline));
    check(vyre_resident_allocate(b.device, BUFFER_BYTES, &x));
    check(vyre_resident_allocate(b.device, BUFFER_BYTES, &y));
    b.bindings[0] = vyre_bind_f32(a);
    b.bindings[1] = vyre_bind(x);
    b.bindings[2] = vyre_bind(y);
    b.inputs[0] = (vyre_input){&a, sizeof a};
    b.inputs[1] = b.inputs[2] = (vyre_input){data, sizeof data};

    printf("%s%s\n", kind, vyre_pipeline_is_native(b.pipeline) ? "" : " (no native pipeline)");
    measure("  enqueue on resident buffers", &b, enqueue, 250);
    measure("  compile: the same program found again", &b, find_again, 300);
    measure("  compile: an equal program found again", &b, find_equal, 300);
    measure("  run with host data, into old outputs", &b, run_into, 0);

    vyre_outputs_free(&b.outputs);
    vyre_pipeline_release(b.pipeline);
    check(vyre_resident_free(b.device, x));
    check(vyre_resident_free(b.device, y));
    vyre_device_release(b.device);
    vyre_program_release(b.program);
    vyre_program_release(b.same);
    mock_free(m);
}

int main(void) {
    measure_memory_start();
    printf("saxpy on a backend that does nothing, best of %d rounds of %d calls\n", ROUNDS, CALLS);
    measure_all("a backend with phases and grid barriers",
                VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC);
    measure_all("a backend without", 0);
    return 0;
}
