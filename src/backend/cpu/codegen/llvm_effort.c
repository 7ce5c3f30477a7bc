#include "backend/cpu/codegen/llvm_effort.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* What a module asks of LLVM, as far as its text tells. The last four are of its largest kernel,
 * with all that the kernel inlines. */
typedef struct module_size {
    uint64_t bytes;     /* of all functions, of lines with vectors three times */
    uint64_t work;      /* bytes of all functions as they are inlined, of long blocks three times */
    uint64_t block;     /* lines of the longest block */
    uint64_t addresses; /* that a block computes; the most of any */
    uint64_t blocks;    /* how many there are */
    uint64_t assigns;   /* stores to variables, of which LLVM makes values that blocks join */
    uint64_t checks;    /* of indices, by a branch each */
    uint64_t divisions; /* of integers, one by one */
} module_size;

enum { LONG_BLOCK = 1024 };

/* The most that full effort is made for. A million of work takes up to 1.3 s; so many blocks or
 * assignments in loops take up to four. Time goes with the square of the others: domain
 * reassignment takes it for a block, CodeGenPrepare for addresses and checks, register coalescing
 * for divisions, which have registers of their own. */
static const module_size most_full = {.work = 6000000,
                                      .block = 12288,
                                      .addresses = 640,
                                      .blocks = 3584,
                                      .assigns = 3072,
                                      .checks = 512,
                                      .divisions = 640};

/* Without effort a million bytes take 0.1 s and 20 MB. */
enum { MOST_BYTES = 48000000 };

/* The kernel at hand, with the functions in front of it, which it inlines. */
typedef struct kernel_size {
    uint64_t blocks, assigns, checks, divisions;
    uint64_t block, addresses; /* of the block at hand, so far */
    uint64_t copies;           /* of the function at hand */
    bool is_inner;             /* that is one of those in front */
} kernel_size;

static bool starts_with(const char *line, const char *prefix) {
    return !strncmp(line, prefix, strlen(prefix));
}

static bool has_vector(const char *line, size_t bytes) {
    return memchr(line, '<', bytes);
}

static bool is_label(const char *line, size_t bytes) {
    return bytes > 1 && line[bytes - 2] == ':';
}

/* Stores to arrays state an alignment behind a second comma. */
static bool is_assignment(const char *line, size_t bytes) {
    const char *comma = starts_with(line, "  store ") ? memchr(line, ',', bytes) : NULL;
    return comma && !memchr(comma + 1, ',', (size_t)(line + bytes - comma - 1));
}

static bool is_check(const char *line, size_t bytes) {
    static const char weights[] = "!prof ";
    const char *mark = starts_with(line, "  br ") ? memchr(line, '!', bytes) : NULL;
    return mark && starts_with(mark, weights);
}

static bool is_address(const char *line, size_t bytes) {
    const char *equals = memchr(line, '=', bytes);
    return equals && starts_with(equals, "= getelementptr ");
}

/* LLVM writes those of vectors lane by lane; about so many. */
static uint64_t count_divisions(const char *line, size_t bytes) {
    enum { LANES = 8 };
    static const char *const names[] = {"= udiv ", "= sdiv ", "= urem ", "= srem "};
    const char *equals = memchr(line, '=', bytes);
    bool found = false;
    for (size_t i = 0; equals && i < sizeof names / sizeof *names; i++) {
        found |= starts_with(equals, names[i]);
    }
    return !found ? 0 : has_vector(line, bytes) ? LANES : 1;
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
    size->assigns = larger(size->assigns, kernel->assigns);
    size->checks = larger(size->checks, kernel->checks);
    size->divisions = larger(size->divisions, kernel->divisions);
    if (!kernel->is_inner) {
        *kernel = (kernel_size){0};
    }
}

static void add_line(kernel_size *kernel, module_size *size, const char *line, size_t bytes) {
    bool starts_block = is_label(line, bytes);
    kernel->blocks += starts_block ? kernel->copies : 0;
    kernel->assigns += is_assignment(line, bytes) ? kernel->copies : 0;
    kernel->checks += is_check(line, bytes) ? kernel->copies : 0;
    kernel->divisions += kernel->copies * count_divisions(line, bytes);
    kernel->block = starts_block ? 0 : kernel->block + 1;
    kernel->addresses = starts_block ? 0 : kernel->addresses + is_address(line, bytes);
    size->block = larger(size->block, kernel->block);
    size->addresses = larger(size->addresses, kernel->addresses);
    size->bytes += bytes * (has_vector(line, bytes) ? 3 : 1);
    size->work += kernel->copies * bytes * (kernel->block > LONG_BLOCK ? 3 : 1);
}

static module_size measure(const char *line) {
    module_size size = {0};
    kernel_size kernel = {0};
    const char *end = line + strlen(line);
    for (const char *next; line < end; line = next) {
        const char *last = memchr(line, '\n', (size_t)(end - line));
        next = last ? last + 1 : end;
        size_t bytes = (size_t)(next - line);
        if (starts_with(line, "define ")) {
            start_function(&kernel, line, bytes);
        }
        add_line(&kernel, &size, line, bytes);
        if (*line == '}') {
            end_function(&kernel, &size);
        }
    }
    return size;
}

cpu_llvm_effort cpu_llvm_effort_of(const char *ir) {
    module_size size = measure(ir);
    bool fits = size.work <= most_full.work && size.block <= most_full.block &&
                size.addresses <= most_full.addresses && size.blocks <= most_full.blocks &&
                size.assigns <= most_full.assigns && size.checks <= most_full.checks &&
                size.divisions <= most_full.divisions;
    return fits ? CPU_LLVM_FULL : size.bytes <= MOST_BYTES ? CPU_LLVM_LEAST : CPU_LLVM_NONE;
}
