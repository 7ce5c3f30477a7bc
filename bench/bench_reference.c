/* How fast the reference backend runs programs, and how much slower when it watches them. Bars: 100
 * million lane-operations a second of straight f32 code, and 3 seconds for a Mandelbrot set of 1024
 * times 1024 points with 64 iterations, on one core. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/reference.h>
#include <vyre/sanitize.h>
#include <vyre/text.h>

#include "bench/measure.h"

enum { ELEMENTS = 1 << 20, RUNS = 3 };

#define BAR_OPERATIONS 100e6
#define BAR_MANDELBROT 3.0

typedef struct kernel {
    const char *name, *text;
    double operations; /* of all invocations, where they can be counted beforehand; else 0 */
} kernel;

static const kernel kernels[] = {
    {"straight",
     "program straight(x: buffer<f32>, k: buffer<u32>, y: out buffer<f32>[len(x)]) over x {\n"
     "    var a = x[gid];\n"
     "    var b = a + 1.5;\n"
     "    for i in 0..8 {\n"
     "        a = a * b + 0.25; b = b - a * 0.5; a = a + b * 1.25; b = fma(a, b, 0.75);\n"
     "        a = min(a, b); b = max(b, a * 0.125); a = a - b; b = b * 0.5;\n"
     "        a = a * b + 0.25; b = b - a * 0.5; a = a + b * 1.25; b = fma(a, b, 0.75);\n"
     "        a = min(a, b); b = max(b, a * 0.125); a = a - b; b = b * 0.5;\n"
     "    }\n"
     "    y[gid] = a + b;\n"
     "}\n",
     ELEMENTS *(8.0 * 24 + 2)},
    {"mandelbrot",
     "program mandelbrot(x: buffer<f32>, k: buffer<u32>, y: out buffer<u32>[len(x)])\n"
     "over (1024, 1024) {\n"
     "    let cx = f32(gid.x) / 1024 * 3.5 - 2.5;\n"
     "    let cy = f32(gid.y) / 1024 * 2.0 - 1.0;\n"
     "    var a = 0.0f;\n"
     "    var b = 0.0f;\n"
     "    var n = 0u;\n"
     "    while n < 64 && a * a + b * b <= 4.0 {\n"
     "        let t = a * a - b * b + cx;\n"
     "        b = 2.0 * a * b + cy;\n"
     "        a = t;\n"
     "        n += 1;\n"
     "    }\n"
     "    y[gid.y * 1024 + gid.x] = n;\n"
     "}\n",
     0},
    {"saxpy",
     "program saxpy(x: buffer<f32>, k: buffer<u32>, y: out buffer<f32>[len(x)]) over x {\n"
     "    y[gid] = fma(2.5, x[gid], y[gid]);\n"
     "}\n",
     ELEMENTS},
    {"reduction",
     "program reduction(x: buffer<f32>, k: buffer<u32>, y: out buffer<f32>[len(x) / 256])\n"
     "over x workgroup 256 {\n"
     "    shared s: f32[256];\n"
     "    s[lid] = x[gid];\n"
     "    barrier;\n"
     "    for i in 0..8 {\n"
     "        let d = 128u >> i;\n"
     "        if lid < d { s[lid] += s[lid + d]; }\n"
     "        barrier;\n"
     "    }\n"
     "    if lid == 0 { y[wid] = s[0]; }\n"
     "}\n",
     0},
    {"last_sums_up",
     "program last_sums_up(x: buffer<u32>, k: buffer<u32>, y: out buffer<u32>[1]) deterministic {\n"
     "    scratch parts: u32[len(x) / 256];\n"
     "    scratch ticket: u32[1];\n"
     "    phase over x workgroup 256 {\n"
     "        shared s: u32[8];\n"
     "        shared last: u32[1];\n"
     "        let sum = subgroup_add(x[gid]);\n"
     "        if lane == 0 { s[subgroup_id] = sum; }\n"
     "        barrier;\n"
     "        if lid == 0 {\n"
     "            var all = 0u;\n"
     "            for i in 0..8 { all += s[i]; }\n"
     "            parts[wid] = all;\n"
     "            last[0] = u32(atomic_add(ticket[0], 1, acq_rel) == num_workgroups - 1);\n"
     "            if last[0] == 1 {\n"
     "                var total = 0u;\n"
     "                for i in 0..num_workgroups { total += parts[i]; }\n"
     "                y[0] = total;\n"
     "            }\n"
     "        }\n"
     "    }\n"
     "}\n",
     0},
    {"histogram",
     "program histogram(x: buffer<f32>, k: buffer<u32>, y: out buffer<u32>[256]) over k {\n"
     "    atomic_add(y[k[gid] & 255], 1);\n"
     "}\n",
     ELEMENTS},
};

static void fail(vyre_status status) {
    fprintf(stderr, "%s\n", vyre_status_text(status));
    exit(1);
}

static double run(const vyre_program *program, const vyre_input *inputs, uint64_t seed) {
    vyre_outputs outputs;
    vyre_reference_options options = {.seed = seed};
    double start = measure_cpu_ns();
    vyre_status status = vyre_reference_run(program, inputs, 2, NULL, &options, &outputs);
    double seconds = (measure_cpu_ns() - start) / 1e9;
    if (status) {
        fail(status);
    }
    vyre_outputs_free(&outputs);
    return seconds;
}

static double sanitize(const vyre_program *program, const vyre_input *inputs, size_t *found) {
    vyre_findings *findings;
    double start = measure_cpu_ns();
    vyre_status status = vyre_sanitize(program, inputs, 2, NULL, &findings);
    double seconds = (measure_cpu_ns() - start) / 1e9;
    if (status) {
        fail(status);
    }
    *found = vyre_findings_count(findings);
    vyre_findings_free(findings);
    return seconds;
}

typedef struct figures {
    double plain, seeded, watched, peak_bytes;
    size_t found;
} figures;

static double smaller(double a, double b) {
    return a < b ? a : b;
}

static figures measure(const kernel *k, const vyre_input *inputs) {
    vyre_module *module;
    vyre_status status = vyre_module_parse(k->name, k->text, strlen(k->text), NULL, &module);
    if (status) {
        fail(status);
    }
    const vyre_program *program = vyre_module_program(module, 0);
    figures best = {1e9, 1e9, 1e9, 0, 0};
    for (int i = 0; i < RUNS; i++) {
        best.plain = smaller(best.plain, run(program, inputs, 0));
        best.seeded = smaller(best.seeded, run(program, inputs, 1));
        size_t before = measure_memory_reset();
        best.watched = smaller(best.watched, sanitize(program, inputs, &best.found));
        best.peak_bytes = (double)(measure_memory.peak - before);
    }
    vyre_module_free(module);
    return best;
}

int main(void) {
    measure_memory_start();
    float *x = malloc(ELEMENTS * sizeof *x);
    uint32_t *keys = malloc(ELEMENTS * sizeof *keys);
    if (!x || !keys) {
        return 1;
    }
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        keys[i] = i * 2654435761u >> 8;
        x[i] = (float)(keys[i] & 1023) * 0.001f;
    }
    const vyre_input inputs[] = {{x, ELEMENTS * sizeof *x}, {keys, ELEMENTS * sizeof *keys}};
    printf("%-14s %10s %10s %10s %10s %12s %9s\n", "2^20 elements", "s", "seeded s", "watched s",
           "slower", "watched MB", "findings");
    figures all[sizeof kernels / sizeof *kernels];
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        all[i] = measure(&kernels[i], inputs);
        printf("%-14s %10.4f %10.4f %10.4f %10.1f %12.1f %9zu\n", kernels[i].name, all[i].plain,
               all[i].seeded, all[i].watched, all[i].watched / all[i].plain,
               all[i].peak_bytes / 1e6, all[i].found);
    }
    double rate = kernels[0].operations / all[0].plain;
    printf("\nstraight f32 code: %.0f million lane-operations a second; the bar is %.0f: %s\n",
           rate / 1e6, BAR_OPERATIONS / 1e6, rate >= BAR_OPERATIONS ? "met" : "missed");
    printf("mandelbrot: %.2f s; the bar is %.0f: %s\n", all[1].plain, BAR_MANDELBROT,
           all[1].plain <= BAR_MANDELBROT ? "met" : "missed");
    free(x);
    free(keys);
    return 0;
}
