/* Encoding and decoding speed, and the memory that decoding takes. */
#include <malloc.h>
#include <math.h>
#include <string.h>

#include <vyre/wire.h>

#include "bench/large_programs.h"
#include "bench/measure.h"

enum { INSTS = 1000000 };

static double best_encode_ns(const vyre_program *program, uint32_t flags) {
    double best = INFINITY, until = measure_cpu_ns() + 4e8;
    for (int i = 0; i < 3 || measure_cpu_ns() < until; i++) {
        uint8_t *bytes;
        size_t size;
        double start = measure_cpu_ns();
        large_check(vyre_wire_encode(program, flags, &bytes, &size));
        double ns = measure_cpu_ns() - start;
        best = ns < best ? ns : best;
        vyre_bytes_free(bytes);
    }
    return best;
}

static double best_decode_ns(const uint8_t *bytes, size_t size, size_t *peak) {
    double best = INFINITY, until = measure_cpu_ns() + 8e8;
    for (int i = 0; i < 3 || measure_cpu_ns() < until; i++) {
        vyre_program *program;
        size_t held = measure_memory_reset();
        double start = measure_cpu_ns();
        large_check(vyre_wire_decode(bytes, size, &program));
        double ns = measure_cpu_ns() - start;
        best = ns < best ? ns : best;
        *peak = measure_memory.peak - held;
        vyre_program_release(program);
    }
    return best;
}

/* A line of /proc/self/status in bytes; 0 where there is none. */
static size_t process_bytes(const char *name) {
    char line[128];
    size_t kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (!strncmp(line, name, strlen(name))) {
            kilobytes = strtoul(line + strlen(name), NULL, 10);
        }
    }
    if (file) {
        fclose(file);
    }
    return kilobytes * 1024;
}

/* How far the process's resident memory rises while it decodes; the bytes decoded are there
 * before. */
static size_t resident_rise(const uint8_t *bytes, size_t size) {
    malloc_trim(0); /* what earlier runs left behind */
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file || fputs("5", file) < 0 || fclose(file) != 0) {
        return 0;
    }
    size_t before = process_bytes("VmRSS:");
    vyre_program *program;
    large_check(vyre_wire_decode(bytes, size, &program));
    size_t most = process_bytes("VmHWM:");
    vyre_program_release(program);
    return most > before ? most - before : 0;
}

static void measure(const char *name, const vyre_program *program, uint32_t flags) {
    uint8_t *bytes;
    size_t size, peak = 0;
    large_check(vyre_wire_encode(program, flags, &bytes, &size));
    double encode_ns = best_encode_ns(program, flags);
    double decode_ns = best_decode_ns(bytes, size, &peak);
    double whole = (double)size;
    printf("%-18s %-5s %10zu %9.0f %9.0f %8.1f %10.2fx %10.2fx %10.2fx\n", name,
           flags ? "no" : "yes", size, whole / encode_ns * 1e3, whole / decode_ns * 1e3,
           decode_ns / 1e3, (double)peak / whole, 1 + (double)peak / whole,
           1 + (double)resident_rise(bytes, size) / whole);
    vyre_bytes_free(bytes);
}

int main(void) {
    measure_memory_start();
    printf(
        "binary form: best processor time on one core; decoding includes verification\n"
        "memory: what decoding allocates, then together with the bytes decoded, by count and as\n"
        "resident memory, each as a multiple of the bytes decoded\n\n");
    printf("%-18s %-5s %10s %9s %9s %8s %11s %11s %11s\n", "program", "debug", "bytes", "encode",
           "decode", "decode", "allocated", "with input", "resident");
    printf("%-18s %-5s %10s %9s %9s %8s\n", "", "", "", "MB/s", "MB/s", "us");
    for (uint32_t insts = 1000; insts <= INSTS; insts *= 10) {
        for (size_t kind = 0; kind < LARGE_PROGRAM_KINDS; kind++) {
            vyre_program *program = large_program(kind, insts);
            measure(large_program_kinds[kind].name, program, 0);
            measure(large_program_kinds[kind].name, program, VYRE_WIRE_NO_DEBUG);
            vyre_program_release(program);
        }
    }
    return 0;
}
