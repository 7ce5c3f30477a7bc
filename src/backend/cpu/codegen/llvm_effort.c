#include "backend/cpu/codegen/llvm_effort.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* What a module asks of LLVM, as far as its text tells. */
typedef struct module_size {
    uint64_t work;      /* bytes of all functions, of long blocks three times */
    uint64_t blocks;    /* of a kernel with all that it inlines; the most of any */
    uint64_t joins;     /* the same of its blocks times its variables */
    uint64_t block;     /* bytes of the longest block */
    uint64_t variables; /* of a kernel, like its blocks */
} module_size;

/* The most that an effort is made for. A million of work takes up to 1.3 s at full effort and 0.4 s
 * at less. Eight million joins take a second, such a block four, so many variables two. */
enum { LONG_BLOCK = 65536 };
static const module_size most_full = {6000000, 4096, 8000000, 1250000, 2048};
static const module_size most_less = {12000000, 16384, 8000000, 1250000, UINT64_MAX};

/* The kernel at hand, with the functions in front of it, which it inlines. */
typedef struct kernel_size {
    uint64_t blocks, variables;
    uint64_t block;  /* bytes of the block at hand, so far */
    uint64_t copies; /* of the function at hand */
    bool is_inner;   /* that is one of those in front */
} kernel_size;

static bool starts_with(const char *line, const char *prefix) {
    return !strncmp(line, prefix, strlen(prefix));
}

static bool has_vector(const char *line, size_t bytes) {
    return memchr(line, '<', bytes);
}

static bool is_variable(const char *line, size_t bytes) {
    const char *equals = memchr(line, '=', bytes);
    return equals && starts_with(equals, "= alloca ");
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* A function of vectors is inlined twice: for full chunks, and for what is left of a row. */
static void start_function(kernel_size *kernel, const char *line, size_t bytes) {
    kernel->is_inner = starts_with(line, "define internal ");
    kernel->copies = kernel->is_inner && has_vector(line, bytes) ? 2 : 1;
}

static void end_function(kernel_size *kernel, module_size *size) {
    size->blocks = larger(size->blocks, kernel->blocks);
    size->joins = larger(size->joins, kernel->blocks * kernel->variables);
    size->variables = larger(size->variables, kernel->variables);
    if (!kernel->is_inner) {
        *kernel = (kernel_size){0};
    }
}

static module_size measure(const char *line) {
    module_size size = {0};
    kernel_size kernel = {0};
    for (const char *next; *line; line = next) {
        const char *end = strchr(line, '\n');
        next = end ? end + 1 : line + strlen(line);
        size_t bytes = (size_t)(next - line);
        if (starts_with(line, "define ")) {
            start_function(&kernel, line, bytes);
        }
        bool is_label = bytes > 1 && next[-2] == ':';
        kernel.blocks += is_label ? kernel.copies : 0;
        kernel.variables += is_variable(line, bytes) ? kernel.copies : 0;
        kernel.block = is_label ? 0 : kernel.block + bytes;
        size.block = larger(size.block, kernel.block);
        size.work += kernel.copies * bytes * (kernel.block > LONG_BLOCK ? 3 : 1);
        if (*line == '}') {
            end_function(&kernel, &size);
        }
    }
    return size;
}

static bool fits(const module_size *size, const module_size *most) {
    return size->work <= most->work && size->blocks <= most->blocks && size->joins <= most->joins &&
           size->block <= most->block && size->variables <= most->variables;
}

cpu_llvm_effort cpu_llvm_effort_of(const char *ir) {
    module_size size = measure(ir);
    return fits(&size, &most_full)   ? CPU_LLVM_FULL
           : fits(&size, &most_less) ? CPU_LLVM_LESS
                                     : CPU_LLVM_LEAST;
}
