/* Time and memory, for the benchmarks. */
#ifndef VYRE_BENCH_MEASURE_H
#define VYRE_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <vyre/allocator.h>

/* Processor time, so that others on the machine do not count. */
static inline double measure_cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The heap memory that vyre holds, and the most it ever held since the last reset. While a block is
 * resized both copies count. */
static struct { size_t live, peak; } measure_memory;
static size_t measure_allocations; /* how many so far */

typedef struct measure_header {
    max_align_t size;
} measure_header;

static inline void *measure_resize(void *user, void *memory, size_t size) {
    (void)user;
    size_t *header = malloc(sizeof(measure_header) + size);
    if (!header) {
        return NULL;
    }
    *header = size;
    measure_allocations++;
    measure_memory.live += size;
    if (measure_memory.live > measure_memory.peak) {
        measure_memory.peak = measure_memory.live;
    }
    char *data = (char *)header + sizeof(measure_header);
    if (memory) {
        size_t *old = (size_t *)(void *)((char *)memory - sizeof(measure_header));
        size_t kept = *old < size ? *old : size;
        for (size_t i = 0; i < kept; i++) {
            data[i] = ((char *)memory)[i];
        }
        measure_memory.live -= *old;
        free(old);
    }
    return data;
}

static inline void measure_free(void *user, void *memory) {
    (void)user;
    if (memory) {
        size_t *header = (size_t *)(void *)((char *)memory - sizeof(measure_header));
        measure_memory.live -= *header;
        free(header);
    }
}

/* Counts from now on: to be called before anything of vyre is. */
static inline void measure_memory_start(void) {
    static const vyre_allocator allocator = {measure_resize, measure_free, NULL};
    vyre_allocator_set(&allocator);
}

/* Forgets the peak; returns what is held now. */
static inline size_t measure_memory_reset(void) {
    measure_memory.peak = measure_memory.live;
    return measure_memory.live;
}

#endif
