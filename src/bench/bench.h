/* Benchmarks: operations of the library, timed at sizes on devices.
 *
 *     bench_run run = {...};
 *     status = bench_run_add(&run, "cpu", device, NULL);
 *     status = bench_plan_choose(&plan, snapshot, glob);
 *     status = bench_plan_measure(&plan, &run);
 *     status = bench_figures_make(&run, &figures);      what follows from the times
 *     bench_report_table(&(bench_report){&run, &figures, NULL}, format, &text);
 *
 *     suite.c    which operations, and the loop over them
 *     point.c    one operation at one size: bytes compared, then times taken in turns
 *     ceiling.c  what a device can reach: copies and arithmetic by programs of our own
 *     figures.c  what follows: rates, crossovers, means, routed against the best device
 *     run.c      a run's machine and devices; read.c  one that was saved as JSON
 *     compare.c  two runs
 *     json.c, table.c, page.c    the forms of the report; page.html draws the plots
 *
 * All times are nanoseconds. The host's clock runs from call to result; where a device tells how
 * long it computed, that is kept beside it. Devices are compared by the host's clock alone, rates
 * are taken from the device's where there is one. */
#ifndef VYRE_BENCH_BENCH_H
#define VYRE_BENCH_BENCH_H

#include <vyre/device.h>
#include <vyre/dialect.h>
#include <vyre/route.h>

#include "base/json.h"
#include "base/page.h"
#include "base/vec.h"
#include "values/sizes.h"

enum { BENCH_DEVICES = 16, BENCH_LEAST_RUNS = 3 };
#define BENCH_PLACES 2 /* of data: vyre_data */

/* 0 runs: not taken. */
typedef struct bench_times {
    uint32_t runs;
    double best, low, median, high; /* low and high are the quartiles */
} bench_times;

/* X(name, text) */
#define BENCH_STATES(X)                                                                            \
    X(MEASURED, "measured")                                                                        \
    X(SKIPPED, "skipped")   /* with a reason: over its budget, not supported, not available */     \
    X(MISMATCH, "mismatch") /* its bytes are not those of the others, or of the oracle */          \
    X(FAILED, "failed")

typedef enum bench_state {
#define BENCH_STATE_ENUM(name, text) BENCH_##name,
    BENCH_STATES(BENCH_STATE_ENUM)
#undef BENCH_STATE_ENUM
} bench_state;
const char *bench_state_name(bench_state state);

typedef struct bench_cell {
    bench_state state;
    char *note;          /* why it is not measured; NULL if there is nothing to say */
    char *ran_on;        /* of auto: the device that was chosen; else NULL */
    bool is_over_budget; /* skipped for that reason, as all larger sizes will be */
    bench_times host, device;
} bench_cell;

/* An operation at a size, with data in a place. */
typedef struct bench_row {
    char *operation;
    uint64_t size;
    vyre_data data;
    uint64_t bytes; /* inputs read and outputs written */
    double work;    /* arithmetic operations; 0 if not known */
    bool by_oracle; /* its bytes were compared with the oracle's, too */
    bench_cell cells[BENCH_DEVICES];
} bench_row;

/* Rates of programs of our own, in the same run; 0 if not measured. */
typedef struct bench_ceiling {
    double copy[BENCH_PLACES]; /* bytes a second, read and written */
    uint64_t copy_bytes;       /* of what was copied */
    double peak;               /* operations a second */
} bench_ceiling;

typedef struct bench_device {
    char *name; /* as -b has it */
    bool is_auto;
    vyre_device *device; /* NULL if it is not here, of auto, and of what was read from a file */
    char *hardware;      /* of its profile: device, driver, version */
    char *reason;        /* why it is unavailable; NULL if it is not */
    bench_ceiling ceiling;
} bench_device;

/* One run of a suite. */
typedef struct bench_run {
    char *version, *date, *machine;
    uint32_t threads;   /* of the machine */
    char *table;        /* the file of routes; NULL if auto was not asked for */
    uint64_t budget_ns; /* a cell */
    uint32_t runs;      /* at most, a cell */
    bench_device devices[BENCH_DEVICES];
    size_t device_count;
    VYRE_VEC(bench_row) rows; /* by operation as the suite has them, size, data */
} bench_run;

void bench_run_deinit(bench_run *run);

/* Adds a device, which the run takes over: NULL for auto, and with a `reason` for one that is not
 * here. */
VYRE_MUST_USE vyre_status bench_run_add(bench_run *run, const char *name, vyre_device *device,
                                        const char *reason);
/* Fills in version, date and machine. */
VYRE_MUST_USE vyre_status bench_run_describe(bench_run *run);
/* UNAVAILABLE, with the reasons, where no device of the run can be used. */
VYRE_MUST_USE vyre_status bench_run_check(const bench_run *run);

/* The suite. */

typedef struct bench_plan {
    VYRE_VEC(const vyre_operation *) operations;
    values_sizes sizes;
    values_places places;
    void (*step)(void *user, uint64_t done, const char *now); /* before each; NULL: not called */
    void *user;
} bench_plan;

/* The operations that a glob stands for, or the standard suite where it is NULL. */
VYRE_MUST_USE vyre_status bench_plan_choose(bench_plan *plan, const vyre_dialects *snapshot,
                                            const char *glob);

/* How many steps it has: devices, then each operation at each size. */
uint64_t bench_plan_steps(const bench_plan *plan, const bench_run *run);
/* Measures everything. A status only where memory runs out: all else is a cell's state. */
VYRE_MUST_USE vyre_status bench_plan_measure(const bench_plan *plan, bench_run *run);
/* One size: appends its rows. */
VYRE_MUST_USE vyre_status bench_point_measure(bench_run *bench, const bench_plan *plan,
                                              const vyre_operation *operation, uint64_t size);
/* What a device can reach. Failures leave zeros. */
void bench_ceiling_measure(bench_device *device, uint64_t budget_ns);

/* Sorts the times and takes their quartiles. */
bench_times bench_times_of(double *times, uint32_t count);

/* Figures. */

/* A second, by the median; 0 where not known. `copy` is the share of the copy's rate. */
typedef struct bench_rates {
    double bytes, operations, copy;
} bench_rates;
bench_rates bench_rates_of(const bench_run *bench, const bench_row *row, size_t device);

/* Between two sizes another device becomes the fastest; both were measured at both. */
typedef struct bench_crossover {
    const char *operation;
    vyre_data data;
    size_t before, after;        /* devices */
    uint64_t from_size, to_size; /* measured: `before` is the fastest at the former */
    double at_size, at_ns;       /* where straight lines in a log-log plot meet */
    bool is_clear;               /* the quartiles of the two lie apart at both sizes */
} bench_crossover;

/* The geometric mean of a device's times, relative to the best single device's. */
typedef struct bench_mean {
    size_t device;
    double ratio;
} bench_mean;

/* By place of data, and last over all. Over those rows alone where every device was measured. */
typedef struct bench_summary {
    const char *data; /* "host", "resident", "all" */
    size_t rows, total;
    size_t best_single; /* BENCH_DEVICES: there is none */
    bench_mean means[BENCH_DEVICES];
    size_t mean_count;
    size_t routed; /* the column of auto; BENCH_DEVICES: none */
    double routed_ratio;
    size_t routed_faster, routed_slower; /* rows, than the best single device, beyond the spread */
} bench_summary;

typedef struct bench_figures {
    VYRE_VEC(bench_crossover) crossovers;
    bench_summary summaries[BENCH_PLACES + 1];
    size_t summary_count;
    size_t measured, skipped, mismatches, failed; /* cells */
} bench_figures;

VYRE_MUST_USE vyre_status bench_figures_make(const bench_run *bench, bench_figures *out);
void bench_figures_deinit(bench_figures *figures);

/* Comparison with an earlier run: rows and devices of the same names. */
typedef struct bench_change {
    const bench_row *row;
    size_t device;
    double before, after; /* medians */
    int direction;        /* 1: clearly faster now, -1: clearly slower, 0: within the spread */
} bench_change;

typedef struct bench_comparison {
    const char *file;
    VYRE_VEC(bench_change) changes;
    size_t faster, slower, missing; /* missing: of this run's cells, those that the other lacks */
    double mean;                    /* geometric, of before / after */
} bench_comparison;

VYRE_MUST_USE vyre_status bench_compare(const bench_run *before, const bench_run *after,
                                        const char *file, bench_comparison *out);
void bench_comparison_deinit(bench_comparison *comparison);

/* What bench_report_json wrote. */
VYRE_MUST_USE vyre_status bench_run_read(const char *path, bench_run *out);

/* Reports. `comparison` may be NULL. */
typedef struct bench_report {
    const bench_run *bench;
    const bench_figures *figures;
    const bench_comparison *comparison;
} bench_report;

void bench_report_json(const bench_report *report, vyre_strbuf *text);
void bench_report_table(const bench_report *report, vyre_format format, vyre_strbuf *text);
/* A page with plots: page.html with the JSON report in it. */
void bench_report_page(const bench_report *report, vyre_strbuf *html);

/* "1.25 ms", "12.5 us": three digits. */
void bench_put_time(vyre_strbuf *text, double ns);
/* "2^20" where it is a power of 2, else its digits. */
void bench_put_size(vyre_strbuf *text, uint64_t size);
/* "faster", "slower", "within the spread" */
const char *bench_direction_name(int direction);

#endif
