/* What it costs to have an operation of the library in a process that has done nothing yet, and to
 * read the registry: one thread, all, and while somebody replaces it.
 *
 *   bench_dialects [--portable]     readers pay for their own barriers
 *   bench_dialects [--storm N]      so many snapshots are installed; 100000 if not given */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <vyre/dialect.h>

#include "bench/measure.h"
#include "dialect/guard.h"

enum {
    OPERATIONS = 1000,
    STORM_OPERATIONS = 100,
    READERS = 16,
    ASKED = 1 << 16,
    ROUNDS = 50,
    MOST = 256
};

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

static double clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* In a process of its own, from nothing to the program of the operation with that number. */
typedef struct resolution {
    double ns; /* of processor time; 0: there is no program */
    char id[64];
} resolution;

static void resolve(size_t number, int out) {
    vyre_dialects_guard guard;
    const vyre_dialects *now;
    const vyre_program *program;
    resolution r = {0};
    double began = measure_cpu_ns();
    check(vyre_dialects_try_enter(&guard, &now));
    const vyre_operation *operation = vyre_dialects_at(now, number);
    if (operation) {
        check(vyre_operation_program(operation, NULL, &program));
        r.ns = program ? measure_cpu_ns() - began : 0;
        snprintf(r.id, sizeof r.id, "%s", operation->id);
    }
    _exit(write(out, &r, sizeof r) != sizeof r);
}

static resolution resolve_in_child(size_t number) {
    int ends[2];
    resolution r;
    pid_t child = pipe(ends) ? -1 : fork();
    if (!child) {
        resolve(number, ends[1]);
    }
    if (child < 0 || read(ends[0], &r, sizeof r) != sizeof r) {
        fprintf(stderr, "no process\n");
        exit(1);
    }
    close(ends[0]);
    close(ends[1]);
    waitpid(child, NULL, 0);
    return r;
}

static int compare_ns(const void *left, const void *right) {
    double a = ((const resolution *)left)->ns, b = ((const resolution *)right)->ns;
    return (a > b) - (a < b);
}

/* Of each operation the median of some processes; of these the fastest, the middle, the slowest. */
static void resolve_all(void) {
    enum { TIMES = 11, LIBRARY = 1000 };
    static resolution medians[LIBRARY];
    size_t count = 0;
    for (size_t number = 0; number < LIBRARY; number++) {
        resolution times[TIMES];
        for (size_t i = 0; i < TIMES; i++) {
            times[i] = resolve_in_child(number);
        }
        if (!*times[0].id) {
            break;
        }
        qsort(times, TIMES, sizeof *times, compare_ns);
        if (times[0].ns > 0) {
            medians[count++] = times[TIMES / 2];
        }
    }
    qsort(medians, count, sizeof *medians, compare_ns);
    printf("dialects: one operation of %zu, in a process that has none yet, in us\n\n", count);
    size_t slow = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_sort = !strcmp(medians[i].id, "sort.keys_u32");
        slow += medians[i].ns > 1e6;
        if (!i || i == count / 2 || i == count - 1 || is_sort) {
            printf("%-25s %6.0f%s\n", medians[i].id, medians[i].ns / 1e3,
                   is_sort ? "  at most 1000" : "");
        }
    }
    printf("%zu take more than 1000\n\n", slow);
}

static size_t operation_count; /* of snapshots that are made, and names that are asked for */

static vyre_dialects *make(void) {
    vyre_dialects *snapshot;
    check(vyre_dialects_make(all, operation_count, &snapshot));
    return snapshot;
}

/* Puts so many in force, to be asked for in an order that no prefetcher knows. */
static void use(size_t count) {
    operation_count = count;
    vyre_dialects_install(make());
    for (size_t i = 0; i < count; i++) {
        const char *id = ids[i * 617 % count];
        names[i] = vyre_intern_find((vyre_str){id, strlen(id)});
    }
}

static void fill(void) {
    for (size_t i = 0; i < OPERATIONS; i++) {
        snprintf(ids[i], sizeof ids[i], "bench.operation_%zu", i);
        operations[i] = (vyre_operation){
            .id = ids[i], .dialect = "bench", .version = "1.0.0", .doc = "One of many."};
        all[i] = &operations[i];
    }
}

/* Lookups under one guard, and each under its own. */
static uintptr_t look_up(size_t count) {
    vyre_dialects_guard guard;
    const vyre_dialects *snapshot = vyre_dialects_enter(&guard);
    uintptr_t sum = 0;
    for (size_t i = 0, at = 0; i < count; i++, at = at + 1 < operation_count ? at + 1 : 0) {
        sum += (uintptr_t)vyre_dialects_lookup(snapshot, names[at]);
    }
    vyre_dialects_leave(&guard);
    return sum;
}

static uintptr_t enter_look_up_leave(size_t count) {
    uintptr_t sum = 0;
    for (size_t i = 0, at = 0; i < count; i++, at = at + 1 < operation_count ? at + 1 : 0) {
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
    double count, cpu_ns;
} worker;

/* What they did, and how long it took: on the clock, and of their own processor time. */
typedef struct figures {
    double count, ns, cpu_ns;
} figures;

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
    w->count = (double)count;
    w->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
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

static void finish(size_t count, double began, figures *sum) {
    double ns = clock_ns(CLOCK_MONOTONIC) - began;
    atomic_store(&stop, true);
    for (size_t i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
        sum->count += workers[i].count;
        sum->cpu_ns += workers[i].cpu_ns;
    }
    sum->ns += ns;
}

static void read_alone(size_t threads, long ms, figures *sum) {
    double began = clock_ns(CLOCK_MONOTONIC);
    start(threads);
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
    finish(threads, began, sum);
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

/* In parts, with and without a writer in turns, since the machine may have other things to do. */
static void storm(size_t installs) {
    enum { PARTS = 10 };
    figures alone = {0}, with = {0};
    size_t memory = 0, most = 0;
    use(STORM_OPERATIONS);
    for (size_t part = 0; part < PARTS; part++) {
        read_alone(READERS, 500, &alone);
        double began = clock_ns(CLOCK_MONOTONIC);
        start(READERS);
        for (size_t i = 0; i < installs / PARTS; i++) {
            vyre_dialects_install(make());
            size_t replaced = i % 100 ? 0 : vyre_guards_replaced();
            most = replaced > most ? replaced : most;
        }
        finish(READERS, began, &with);
        memory = part ? memory : resident_kib();
    }
    printf("\n%d readers, %zu snapshots of %d operations installed in %.1f s\n", READERS,
           installs / PARTS * PARTS, STORM_OPERATIONS, with.ns / 1e9);
    printf("  M lookups a second               %7.1f without a writer, %7.1f with one: %.1f %%, at "
           "least 90\n",
           alone.count / alone.ns * 1e3, with.count / with.ns * 1e3,
           100 * (with.count / with.ns) / (alone.count / alone.ns));
    printf("  and of the readers' processor time %5.1f                 %7.1f           %.1f %%\n",
           alone.count / alone.cpu_ns * 1e3, with.count / with.cpu_ns * 1e3,
           100 * (with.count / with.cpu_ns) / (alone.count / alone.cpu_ns));
    printf("  replaced snapshots still read    at most %zu at a time, %zu at the end\n", most,
           vyre_guards_replaced());
    printf("  resident memory                  %zu KiB after a tenth, %zu KiB at the end\n", memory,
           resident_kib());
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
    setenv("VYRE_DIALECT_PATH", "none", 1);
    resolve_all(); /* before this process has any */
    fill();
    use(OPERATIONS);
    printf("dialects: best processor time of a lookup among %d operations, in ns\n\n", OPERATIONS);
    printf("under a guard             %6.2f  at most 3\n", best_ns(look_up));
    printf("enter, look up, leave     %6.2f  at most 12\n", best_ns(enter_look_up_leave));
    size_t cores = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    cores = cores < MOST ? cores : MOST;
    double one = 0;
    for (size_t threads = 1; threads <= cores; threads *= 2) {
        figures sum = {0};
        read_alone(threads, 1000, &sum);
        double rate = sum.count / sum.ns * 1e3;
        one = threads > 1 ? one : rate;
        printf("%3zu thread%s %16.1f M lookups a second, %.2f times one\n", threads,
               threads > 1 ? "s" : " ", rate, rate / one);
    }
    if (installs) {
        storm(installs);
    }
    return 0;
}
