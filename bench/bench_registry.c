/* What asking the registry costs: by id, which every acquisition begins with, and the rest. */
#include <math.h>
#include <stdio.h>

#include <vyre/registry.h>
#include <vyre/status.h>

#include "bench/measure.h"

enum { BACKENDS = 64, ASKED = 1024, ROUNDS = 200 };

static vyre_status create(const vyre_host *host, uint32_t device, vyre_backend *out_backend) {
    (void)device;
    (void)out_backend;
    return host->status_make(VYRE_FAIL_UNAVAILABLE, "ask another", "this backend is but a name");
}

static char names[BACKENDS][24];
static vyre_registration registrations[BACKENDS];
static vyre_precedence precedences[BACKENDS];
static vyre_capability capabilities[BACKENDS];

static void check(vyre_status status) {
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
        exit(1);
    }
}

static vyre_registry *make(size_t count) {
    static vyre_bundle bundle;
    bundle = (vyre_bundle){VYRE_BUNDLE_HEAD, registrations, count, precedences, count,
                           capabilities,     count};
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "backend-%zu", i * i);
        registrations[i] = (vyre_registration){.id = names[i], .create = create};
        precedences[i] = (vyre_precedence){names[i], (uint32_t)i};
        capabilities[i] = (vyre_capability){names[i], true};
    }
    vyre_registry *registry;
    check(vyre_registry_create(&registry));
    check(vyre_registry_add(registry, &bundle));
    return registry;
}

/* What is asked; the sum keeps the answers from being optimised away. */
static uintptr_t find(vyre_registry *registry, const char *id) {
    const vyre_registration *found;
    check(vyre_registry_find(registry, id, &found));
    return (uintptr_t)found;
}

static uintptr_t rank(vyre_registry *registry, const char *id) {
    return vyre_registry_rank(registry, id);
}

static uintptr_t dispatches(vyre_registry *registry, const char *id) {
    return vyre_registry_dispatches(registry, id);
}

static volatile uintptr_t answers; /* so that none is optimised away */

static double best_ns(vyre_registry *registry, char ids[][24], size_t count,
                      uintptr_t (*ask)(vyre_registry *, const char *)) {
    double best = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        uintptr_t sum = 0;
        double start = measure_cpu_ns();
        for (size_t i = 0; i < ASKED; i++) {
            sum += ask(registry, ids[i % count]);
        }
        double ns = (measure_cpu_ns() - start) / ASKED;
        best = ns < best ? ns : best;
        answers = answers + sum;
    }
    return best;
}

int main(void) {
    static const size_t counts[] = {1, 4, 16, BACKENDS};
    static char missing[4][24] = {"none", "backend-", "backend-3x", "reference"};
    printf("registry: best processor time of a question, in ns; at most 30 by id\n\n");
    printf("%-10s %8s %8s %8s %10s\n", "backends", "by id", "missing", "rank", "dispatches");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        vyre_registry *registry = make(counts[i]);
        double by_id = best_ns(registry, names, counts[i], find);
        double absent = best_ns(registry, missing, 4, find);
        printf("%-10zu %8.1f %8.1f %8.1f %10.1f\n", counts[i], by_id, absent,
               best_ns(registry, names, counts[i], rank),
               best_ns(registry, names, counts[i], dispatches));
        vyre_registry_free(registry);
    }
    return 0;
}
