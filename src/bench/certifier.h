/* Certifier: measures devices on operations and programs, and writes the times into a routing
 * table.
 *
 *     bench_certifier certifier = {.devices = devices, .device_count = count, .sizes = sizes, ...};
 *     status = bench_certifier_open(&certifier);
 *     status = vyre_routes_load(path, &certifier.table);
 *     status = bench_certifier_measure(&certifier, &(bench_subject){.key = id, ...});
 *     bench_certifier_deinit(&certifier);
 *
 * Sizes are measured from the smallest on. A device that gives wrong bytes, or takes longer than
 * its budget, skips the larger ones. */
#ifndef VYRE_BENCH_CERTIFIER_H
#define VYRE_BENCH_CERTIFIER_H

#include <vyre/dialect.h>

#include "bench/routes.h"
#include "values/bind.h"
#include "values/sizes.h"

typedef struct bench_certifier {
    /* Set by the caller. */
    vyre_device *const *devices; /* borrowed */
    size_t device_count;
    values_sizes sizes;
    values_places places;
    uint64_t budget_ns; /* of a device for one size, with compiling */
    void (*step)(void *user, uint64_t done, const char *key); /* called before each size */
    void *user;
    bool (*is_interrupted)(void);
    vyre_routes *table; /* freed with the rest */

    vyre_device *oracle;
    vyre_route_candidate *left[2]; /* by place of data: the devices of the next measurement */
    vyre_route_candidate *able; /* the devices that ran `largest`, the largest size that any did */
    values_binding largest;
    size_t left_count[2], able_count;
    uint64_t done; /* sizes, of all subjects */
} bench_certifier;

/* What the devices run. */
typedef struct bench_subject {
    const char *key;                 /* in the table */
    const vyre_operation *operation; /* NULL: a program */
    const vyre_program *program;     /* the operation's own, where it is one */
    const char *const *values;       /* NAME=VALUE; without any there are samples of all sizes */
    size_t value_count;
    bool stdin_used;
} bench_subject;

/* Opens the oracle. Deinit the certifier whatever comes out. */
VYRE_MUST_USE vyre_status bench_certifier_open(bench_certifier *certifier);
void bench_certifier_deinit(bench_certifier *certifier);

/* Measures all sizes in all places of data. An interruption ends it early, without a failure. */
VYRE_MUST_USE vyre_status bench_certifier_measure(bench_certifier *certifier,
                                                  const bench_subject *subject);

#endif
