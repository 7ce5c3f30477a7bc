/* What the cpu backend's translation costs, for every program of examples/ and bench/kernels: cold,
 * and from what is stored on disk. LLVM's own loading comes apart.
 *
 *     bench_compile [FILE...]
 */
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include <vyre/text.h>

#include "backend/cpu/runtime/compiler.h"
#include "backend/cpu/runtime/executable.h"
#include "base/clock.h"
#include "base/file.h"
#include "bench/measure.h"

enum { ROUNDS = 7, MOST = 256, MOST_BYTES = 1 << 20 };

static void check(vyre_status status) {
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
        exit(1);
    }
}

static int by_number(const void *left, const void *right) {
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

static double middle(double *numbers, size_t count) {
    qsort(numbers, count, sizeof *numbers, by_number);
    return count ? (numbers[(count - 1) / 2] + numbers[count / 2]) / 2 : 0;
}

/* Milliseconds of one program: the best of several rounds, since others on the machine disturb. */
typedef struct row {
    double wall, processor, stored;
} row;

static row measure(const vyre_program *program) {
    row best = {1e9, 1e9, 1e9};
    for (int round = 0; round < ROUNDS; round++) {
        vyre_strbuf artifact = {0}, unused = {0};
        cpu_executable *native;
        double processor = measure_cpu_ns();
        uint64_t start = vyre_now_ns();
        check(cpu_executable_make(program, &(cpu_source){0}, &artifact, &native));
        double wall = (double)(vyre_now_ns() - start) / 1e6;
        processor = (measure_cpu_ns() - processor) / 1e6;
        cpu_executable_release(native);
        start = vyre_now_ns();
        const cpu_source source = {(const uint8_t *)artifact.data, artifact.size, 0};
        check(cpu_executable_make(program, &source, &unused, &native));
        double stored = (double)(vyre_now_ns() - start) / 1e6;
        cpu_executable_release(native);
        best.wall = wall < best.wall ? wall : best.wall;
        best.processor = processor < best.processor ? processor : best.processor;
        best.stored = stored < best.stored ? stored : best.stored;
        vyre_strbuf_free(&artifact);
        vyre_strbuf_free(&unused);
    }
    return best;
}

static double wall[MOST], processor[MOST], stored[MOST];
static size_t count;

static void measure_file(const char *path) {
    vyre_module *module;
    vyre_strbuf text = {0};
    check(vyre_file_read(path, MOST_BYTES, &text));
    check(vyre_module_parse(path, text.data, text.size, NULL, &module));
    for (size_t i = 0; i < vyre_module_count(module) && count < MOST; i++) {
        const vyre_program *program = vyre_module_program(module, i);
        row found = measure(program);
        printf("%-28s %-14s %7u %9.1f %9.1f %9.3f\n", path, vyre_program_name(program),
               vyre_program_ir(program)->inst_count, found.wall, found.processor, found.stored);
        wall[count] = found.wall;
        processor[count] = found.processor;
        stored[count++] = found.stored;
    }
    vyre_module_free(module);
    vyre_strbuf_free(&text);
}

int main(int argument_count, char **arguments) {
    cpu_llvm_info info;
    uint64_t start = vyre_now_ns();
    vyre_status status = cpu_compiler_info(&info);
    if (status) {
        printf("not measured: %s\n", vyre_status_text(status));
        vyre_status_free(status);
        return 0;
    }
    printf("%s for %s, opened in %.1f ms\n", info.version, info.cpu,
           (double)(vyre_now_ns() - start) / 1e6);
    printf("%-28s %-14s %7s %9s %9s %9s\n", "ms, the best of 7 rounds", "program", "insts", "cold",
           "processor", "stored");
    glob_t found = {0};
    if (argument_count > 1) {
        for (int i = 1; i < argument_count; i++) {
            measure_file(arguments[i]);
        }
    } else if (!glob("examples/*.vyre", 0, NULL, &found) &&
               !glob("bench/kernels/*.vyre", GLOB_APPEND, NULL, &found)) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            measure_file(found.gl_pathv[i]);
        }
    }
    globfree(&found);
    if (!count) {
        fprintf(stderr, "no program was found. Fix: run it in the root of the source tree\n");
        return 1;
    }
    printf("%zu programs, in the middle: cold %.1f ms (bar 30), %.1f of processor time; stored "
           "%.3f ms (bar 1)\n",
           count, middle(wall, count), middle(processor, count), middle(stored, count));
    printf("the slowest: cold %.1f ms, %.1f of processor time; stored %.3f ms\n", wall[count - 1],
           processor[count - 1], stored[count - 1]);
    return 0;
}
