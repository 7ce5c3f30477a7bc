/* What benchmarks run: programs of bench/kernels, or of the folder that KERNELS in the environment
 * names. Whatever fails ends the process. */
#ifndef VYRE_BENCH_KERNELS_H
#define VYRE_BENCH_KERNELS_H

#include <stdio.h>
#include <stdlib.h>

#include <vyre/vyre.h>

static inline void must(vyre_status status) {
    if (status) {
        printf("FAILED: %s\n", vyre_status_text(status));
        exit(1);
    }
}

/* The first program of a text. Release it. */
static inline vyre_program *parse(const char *text, size_t size) {
    vyre_module *module;
    must(vyre_module_parse("bench.vyre", text, size, NULL, &module));
    vyre_program *program = vyre_program_retain(vyre_module_program(module, 0));
    vyre_module_free(module);
    return program;
}

static inline vyre_program *read_kernel(const char *name) {
    static char text[1 << 16];
    char path[4096];
    const char *folder = getenv("KERNELS");
    snprintf(path, sizeof path, "%s/%s.vyre", folder ? folder : "bench/kernels", name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        printf("FAILED: cannot read %s. Fix: let KERNELS name the folder of kernels\n", path);
        exit(1);
    }
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    return parse(text, size);
}

/* The form of an operation of the library that suits a device. Release it. */
static inline vyre_program *read_operation(const char *id, const vyre_device *device) {
    vyre_dialects_guard guard;
    const vyre_dialects *library;
    must(vyre_dialects_try_enter(&guard, &library));
    const vyre_operation *operation = vyre_dialects_find(library, id);
    if (!operation) {
        printf("FAILED: there is no operation %s\n", id);
        exit(1);
    }
    const vyre_program *program;
    must(vyre_operation_choose(operation, device, &program));
    vyre_program *kept = vyre_program_retain((vyre_program *)(uintptr_t)program);
    vyre_dialects_leave(&guard);
    return kept;
}

static inline uint32_t mix(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

#endif
