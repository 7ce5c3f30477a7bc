/* Certification of one subject after the other: an operation, or a program, on all devices. */
#ifndef VYRE_BENCH_CONTEST_H
#define VYRE_BENCH_CONTEST_H

#include <vyre/dialect.h>

#include "bench/routes.h"
#include "values/bind.h"
#include "values/sizes.h"

/* What devices compete in, and where that is written down. */
typedef struct bench_contest {
    vyre_device *const *devices; /* borrowed */
    size_t device_count;
    vyre_device *oracle;
    vyre_routes *table;
    values_sizes sizes;
    values_places places;
    uint64_t budget_ns;
    vyre_route_candidate *left[2]; /* by place of data: who takes part in the next measurement */
    vyre_route_candidate *able;    /* who did the largest size that anybody did, which is this: */
    values_binding largest;
    size_t left_count[2], able_count;
    uint64_t done;                                            /* sizes, of all subjects */
    void (*step)(void *user, uint64_t done, const char *key); /* called before each size */
    void *user;
    bool (*is_interrupted)(void);
} bench_contest;

/* What they do in it. */
typedef struct bench_subject {
    const char *key;                 /* in the table */
    const vyre_operation *operation; /* NULL: a program */
    const vyre_program *program;     /* the operation's own, where it is one */
    const char *const *values;       /* NAME=VALUE; without any there are samples of all sizes */
    size_t value_count;
    bool stdin_used;
} bench_subject;

/* With devices in it; deinit it whatever comes out. */
VYRE_MUST_USE vyre_status bench_contest_open(bench_contest *contest);
void bench_contest_deinit(bench_contest *contest);

/* Measures all devices, from the smallest size on. Stops when interrupted, without a failure. */
VYRE_MUST_USE vyre_status bench_contest_hold(bench_contest *contest, const bench_subject *subject);

#endif
