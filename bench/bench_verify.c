/* How long verification takes, and how much memory, as programs grow: both must grow as they do. */
#include <math.h>

#include "bench/large_programs.h"
#include "bench/measure.h"
#include "ir/program.h"

enum { SIZES = 7 };

typedef struct point {
    uint32_t insts;
    double ns;
    size_t bytes;
} point;

static point verify(const vyre_program *program) {
    const vyre_ir *ir = vyre_program_ir(program);
    point best = {.insts = ir->inst_count, .ns = INFINITY};
    double until = measure_cpu_ns() + 4e8;
    for (int i = 0; i < 3 || measure_cpu_ns() < until; i++) {
        vyre_diagnostics *diagnostics;
        large_check(vyre_diagnostics_create(&diagnostics));
        size_t held = measure_memory_reset();
        double start = measure_cpu_ns();
        large_check(vyre_verify(ir, diagnostics, NULL));
        double ns = measure_cpu_ns() - start;
        best.ns = ns < best.ns ? ns : best.ns;
        best.bytes = measure_memory.peak - held;
        vyre_diagnostics_free(diagnostics);
    }
    return best;
}

/* The power of the size that the time grows with, by least squares over the larger half. */
static double growth(const point *points) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int i = SIZES / 2; i < SIZES; i++) {
        double size = log(points[i].insts), time = log(points[i].ns);
        n++;
        x += size;
        y += time;
        xx += size * size;
        xy += size * time;
    }
    return (n * xy - x * y) / (n * xx - x * x);
}

int main(void) {
    static const uint32_t sizes[SIZES] = {1000, 3000, 10000, 30000, 100000, 300000, 1000000};
    measure_memory_start();
    printf("verification: best processor time on one core\n\n");
    printf("%-18s %12s %12s %14s %16s\n", "program", "instructions", "time", "ns/instruction",
           "bytes/instruction");
    for (size_t kind = 0; kind < LARGE_PROGRAM_KINDS; kind++) {
        point points[SIZES];
        for (int i = 0; i < SIZES; i++) {
            vyre_program *program = large_program(kind, sizes[i]);
            points[i] = verify(program);
            vyre_program_release(program);
            printf("%-18s %12u %9.3f ms %14.1f %16.1f\n", large_program_kinds[kind].name,
                   points[i].insts, points[i].ns / 1e6, points[i].ns / points[i].insts,
                   (double)points[i].bytes / points[i].insts);
        }
        printf("%-18s time grows with the size to the power of %.2f\n\n",
               large_program_kinds[kind].name, growth(points));
    }
    return 0;
}
