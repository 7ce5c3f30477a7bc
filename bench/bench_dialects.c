/* What reading the registry of operations costs: one thread, all, and while somebody replaces it.
 *
 *   bench_dialects [--portable]     readers pay for their own barriers
 *   bench_dialects [--storm N]      so many snapshots are installed; 100000 if not given */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <vyre/dialect.h>

#include "bench/measure.h"
#include "dialect/guard.h"

enum { OPERATIONS = 1000, READERS = 16, ASKED = 1 << 16, ROUNDS = 50, MOST = 256 };

static char ids[OPERATIONS][32];
static vyre_operation operations[OPERATIONS];
static const vyre_operation *all[OPERATIONS];
static uint32_t names[OPERATIONS];
static volatile uintptr_t answers; /* so that none is optimised away */

static void check(vyre_status status) {
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
        exit(1);
    }
}

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static vyre_dialects *make(void) {
    vyre_dialects *snapshot;
    check(vyre_dialects_make(all, OPERATIONS, &snapshot));
    return snapshot;
}

static void fill(void) {
    for (size_t i = 0; i < OPERATIONS; i++) {
        snprintf(ids[i], sizeof ids[i], "bench.operation_%zu", i);
        operations[i] = (vyre_operation){
            .id = ids[i], .dialect = "bench", .version = "1.0.0", .doc = "One of many."};
        all[i] = &operations[i];
    }
    vyre_dialects_install(make());
    for (size_t i = 0; i < OPERATIONS; i++) {
        /* In an order that no prefetcher knows. */
        const char *id = ids[i * 617 % OPERATIONS];
        names[i] = vyre_intern_find((vyre_str){id, strlen(id)});
    }
}

/* Lookups under one guard, and each under its own. */
static uintptr_t look_up(size_t count) {
    vyre_dialects_guard guard;
    const vyre_dialects *snapshot = vyre_dialects_enter(&guard);
    uintptr_t sum = 0;
    for (size_t i = 0, at = 0; i < count; i++, at = at + 1 < OPERATIONS ? at + 1 : 0) {
        sum += (uintptr_t)vyre_dialects_lookup(snapshot, names[at]);
    }
    vyre_dialects_leave(&guard);
    return sum;
}

static uintptr_t enter_look_up_leave(size_t count) {
    uintptr_t sum = 0;
    for (size_t i = 0, at = 0; i < count; i++, at = at + 1 < OPERATIONS ? at + 1 : 0) {
        vyre_dialects_guard guard;
        sum += (uintptr_t)vyre_dialects_lookup(vyre_dialects_enter(&guard), names[at]);
        vyre_dialects_leave(&guard);
    }
    return sum;
}

static double best_ns(uintptr_t (*ask)(size_t)) {
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start = measure_cpu_ns();
        answers = answers + ask(ASKED);
        double ns = (measure_cpu_ns() - start) / ASKED;
        best = ns < best ? ns : best;
    }
    return best;
}

/* Threads that enter, look up and leave until they are told to stop. */
typedef struct worker {
    _Alignas(64) pthread_t thread;
    uint64_t count;
} worker;

static worker workers[MOST];
static atomic_bool stop;

static void *work(void *argument) {
    worker *w = argument;
    uintptr_t sum = 0;
    uint64_t count = 0;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        sum += enter_look_up_leave(256);
        count += 256;
    }
    w->count = count;
    answers = answers + sum;
    return NULL;
}

static void start(size_t count) {
    atomic_store(&stop, false);
    for (size_t i = 0; i < count; i++) {
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) {
            fprintf(stderr, "no thread\n");
            exit(1);
        }
    }
}

static double finish(size_t count) {
    double sum = 0;
    atomic_store(&stop, true);
    for (size_t i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += (double)workers[i].count;
    }
    return sum;
}

/* Lookups a second of so many threads. */
static double rate(size_t threads, double seconds) {
    double began = now_ns();
    start(threads);
    struct timespec pause = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&pause, NULL);
    double sum = finish(threads);
    return sum / (now_ns() - began) * 1e9;
}

static size_t resident_kib(void) {
    size_t pages = 0, total = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%zu %zu", &total, &pages) != 2) {
            pages = 0;
        }
        fclose(file);
    }
    return pages * (size_t)sysconf(_SC_PAGESIZE) / 1024;
}

static void storm(size_t installs) {
    double alone = rate(READERS, 2);
    start(READERS);
    size_t memory = 0, most = 0;
    double began = now_ns();
    for (size_t i = 0; i < installs; i++) {
        vyre_dialects_install(make());
        if (i == installs / 10) {
            memory = resident_kib();
        }
        size_t replaced = i % 100 ? 0 : vyre_guards_replaced();
        most = replaced > most ? replaced : most;
    }
    double seconds = (now_ns() - began) / 1e9;
    size_t after = resident_kib();
    double with = finish(READERS) / seconds;
    printf("\n%d readers, %zu snapshots of %d operations installed in %.1f s\n", READERS, installs,
           OPERATIONS, seconds);
    printf("  lookups a second   %.1f M without a writer, %.1f M with one: %.1f %%, at least 90\n",
           alone / 1e6, with / 1e6, 100 * with / alone);
    printf("  replaced snapshots at most %zu at a time, %zu at the end\n", most,
           vyre_guards_replaced());
    printf("  resident memory    %zu KiB after a tenth, %zu KiB at the end\n", memory, after);
}

int main(int argc, char **argv) {
    size_t installs = 100000;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--portable")) {
            vyre_guards_portable();
        } else if (!strcmp(argv[i], "--storm") && i + 1 < argc) {
            installs = (size_t)strtoull(argv[++i], NULL, 10);
        }
    }
    fill();
    printf("dialects: best processor time of a lookup among %d operations, in ns\n\n", OPERATIONS);
    printf("under a guard             %6.2f  at most 3\n", best_ns(look_up));
    printf("enter, look up, leave     %6.2f  at most 12\n", best_ns(enter_look_up_leave));
    size_t cores = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    cores = cores < MOST ? cores : MOST;
    double one = rate(1, 0.5);
    for (size_t threads = 1; threads <= cores; threads *= 2) {
        double several = rate(threads, 0.5);
        printf("%3zu thread%s %16.1f M lookups a second, %.2f times one\n", threads,
               threads > 1 ? "s" : " ", several / 1e6, several / one);
    }
    if (installs) {
        storm(installs);
    }
    return 0;
}
