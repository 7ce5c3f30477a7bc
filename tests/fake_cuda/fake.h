/* A libcuda for tests, on a machine without a GPU: memory of the device is memory of the host, work
 * waits in streams until somebody asks for its end, and every entry point can be made to fail.
 *
 * The library is opened by the backend (VYRE_CUDA names it) and by the test, which tells it what to
 * do through fake_cuda_control:
 *
 *     const fake_cuda *fake = fake_cuda_open();           tests/fake_cuda/device.h
 *     fake->fail_at(FAKE_cuMemAlloc, 2, 2);                  the second call from now on: out of
 * memory
 *     ...
 *     assert_int_equal(fake->live().blocks, 0);           everything was given back
 *
 * Kernels run through a function of the test; without one they do nothing. Addresses that copies
 * and fills get are checked: what lies outside of a live block is an illegal address, and stays
 * one. */
#ifndef VYRE_TESTS_FAKE_CUDA_H
#define VYRE_TESTS_FAKE_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/cuda/runtime/table.h"

typedef enum fake_entry {
#define FAKE_ENUM(name, entry, parameters) FAKE_##name,
    CUDA_FUNCTIONS(FAKE_ENUM)
#undef FAKE_ENUM
        FAKE_ENTRY_COUNT
} fake_entry;

typedef struct fake_launch {
    const char *image; /* the module's text */
    const char *entry; /* the kernel's name */
    const uint8_t *parameters;
    uint32_t grid[3], threads, dynamic_bytes;
    bool cooperative, in_graph;
} fake_launch;

typedef enum fake_result { FAKE_DONE, FAKE_STILL_RUNNING, FAKE_FAULT } fake_result;

/* Objects that were made and not given back. */
typedef struct fake_live {
    uint64_t contexts, modules, links, streams, events, graphs, execs, blocks, pages;
    uint64_t block_bytes, registered;
} fake_live;

typedef struct fake_spec {
    int version, devices, major, minor, multiprocessors, blocks_each, cooperative, compute_mode;
    uint64_t memory_bytes;
    bool fails_to_reset; /* the context cannot be had again after a fault */
    bool is_inexact;     /* the probe finds wrong sums */
    bool is_capturing;   /* every stream records a graph */
    bool hides_ranges;   /* it does not tell where the memory of an address begins and ends */
    int memory_device;   /* what memory of the device belongs to */
    const char *log;     /* of the compiler; not NULL: it refuses everything */
    uint32_t compile_ms; /* how long it takes */
} fake_spec;

typedef struct fake_cuda {
    /* Everything as at the start, but for objects that are there. */
    void (*reset)(void);
    fake_spec *(*spec)(void);
    void (*on_launch)(fake_result (*run)(const fake_launch *launch));
    /* The n-th call of an entry point from now on gives this; n 0: none does. */
    void (*fail_at)(fake_entry entry, uint64_t n, CUresult result);
    uint64_t (*calls)(fake_entry entry); /* since the reset */
    fake_live (*live)(void);
} fake_cuda;

typedef const fake_cuda *(*fake_cuda_control_function)(void);

#endif
