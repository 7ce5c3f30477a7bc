/* Benchmarks: operations of the library, timed at sizes on devices.
 *
 *     bench_suite.c    which operations, and the loop over them
 *     bench_point.c    one operation at one size: bytes compared, then times taken in turns
 *     bench_ceiling.c  what a device can reach: copies and arithmetic by programs of our own
 *     bench_figures.c  what follows: rates, crossovers, means, routed against the best device
 *     bench_read.c     a run that was saved as JSON
 *     bench_compare.c  two runs
 *     bench_json.c, bench_table.c, bench_html.c, bench_plot.c    the forms of the report
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
#include "base/vec.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/sizes.h"

enum { CLI_BENCH_DEVICES = 8, CLI_BENCH_LEAST_RUNS = 3 };
#define CLI_BENCH_PLACES 2 /* of data: vyre_data */

/* 0 runs: not taken. */
typedef struct cli_bench_times {
    uint32_t runs;
    double best, low, median, high; /* low and high are the quartiles */
} cli_bench_times;

/* X(name, text) */
#define CLI_BENCH_STATES(X)                                                                        \
    X(MEASURED, "measured")                                                                        \
    X(SKIPPED, "skipped")   /* with a reason: over its budget, not supported, not available */     \
    X(MISMATCH, "mismatch") /* its bytes are not those of the others, or of the oracle */          \
    X(FAILED, "failed")

typedef enum cli_bench_state {
#define CLI_BENCH_STATE_ENUM(name, text) CLI_BENCH_##name,
    CLI_BENCH_STATES(CLI_BENCH_STATE_ENUM)
#undef CLI_BENCH_STATE_ENUM
} cli_bench_state;
const char *cli_bench_state_name(cli_bench_state state);

typedef struct cli_bench_cell {
    cli_bench_state state;
    char *note;          /* why it is not measured; NULL if there is nothing to say */
    char *ran_on;        /* of auto: the device that was chosen; else NULL */
    bool is_over_budget; /* skipped for that reason, as all larger sizes will be */
    cli_bench_times host, device;
} cli_bench_cell;

/* An operation at a size, with data in a place. */
typedef struct cli_bench_row {
    char *operation;
    uint64_t size;
    vyre_data data;
    uint64_t bytes; /* inputs read and outputs written */
    double work;    /* arithmetic operations; 0 if not known */
    bool by_oracle; /* its bytes were compared with the oracle's, too */
    cli_bench_cell cells[CLI_BENCH_DEVICES];
} cli_bench_row;

/* Rates of programs of our own, in the same run; 0 if not measured. */
typedef struct cli_bench_ceiling {
    double copy[CLI_BENCH_PLACES]; /* bytes a second, read and written */
    uint64_t copy_bytes;           /* of what was copied */
    double peak;                   /* operations a second */
} cli_bench_ceiling;

typedef struct cli_bench_device {
    char *name; /* as -b has it */
    bool is_auto;
    vyre_device *device; /* NULL if it is not here, of auto, and of what was read from a file */
    char *hardware;      /* of its profile: device, driver, version */
    char *reason;        /* why it is unavailable; NULL if it is not */
    cli_bench_ceiling ceiling;
} cli_bench_device;

typedef struct cli_bench {
    char *version, *date, *machine;
    uint32_t threads;   /* of the machine */
    char *table;        /* the file of routes; NULL if auto was not asked for */
    uint64_t budget_ns; /* a cell */
    uint32_t runs;      /* at most, a cell */
    cli_bench_device devices[CLI_BENCH_DEVICES];
    size_t device_count;
    VYRE_VEC(cli_bench_row) rows; /* by operation as the suite has them, size, data */
} cli_bench;

void cli_bench_deinit(cli_bench *bench);

/* The suite. */

typedef struct cli_bench_plan {
    const cli_command *command;
    VYRE_VEC(const vyre_operation *) operations;
    cli_sizes sizes;
    cli_places places;
    cli_progress progress;
} cli_bench_plan;

/* The operations that a glob stands for, or the standard suite where it is NULL. */
VYRE_MUST_USE vyre_status cli_bench_choose(cli_bench_plan *plan, const vyre_dialects *snapshot,
                                           const char *glob);

/* Measures everything. A status only where memory runs out: all else is a cell's state. */
VYRE_MUST_USE vyre_status cli_bench_measure(cli_bench *bench, cli_bench_plan *plan);
/* One size: appends its rows. */
VYRE_MUST_USE vyre_status cli_bench_point(cli_bench *bench, const cli_bench_plan *plan,
                                          const vyre_operation *operation, uint64_t size);
/* What a device can reach. Failures leave zeros. */
void cli_bench_ceiling_measure(cli_bench_device *device, uint64_t budget_ns);

/* Sorts the times and takes their quartiles. */
cli_bench_times cli_bench_times_of(double *times, uint32_t count);

/* Figures. */

/* The device's own time where it tells one. */
const cli_bench_times *cli_bench_rate_times(const cli_bench_cell *cell);
VYRE_MUST_USE vyre_status cli_bench_no_memory(void);

/* What a share of the copy's rate means, for people. */
extern const char cli_bench_copy_words[];

/* A second, by the median; 0 where not known. `copy` is the share of the copy's rate. */
typedef struct cli_bench_rates {
    double bytes, operations, copy;
} cli_bench_rates;
cli_bench_rates cli_bench_rates_of(const cli_bench *bench, const cli_bench_row *row, size_t device);

/* Between two sizes another device becomes the fastest; both were measured at both. */
typedef struct cli_bench_crossover {
    const char *operation;
    vyre_data data;
    size_t before, after;        /* devices */
    uint64_t from_size, to_size; /* measured: `before` is the fastest at the former */
    double at_size, at_ns;       /* where straight lines in a log-log plot meet */
    bool is_clear;               /* the quartiles of the two lie apart at both sizes */
} cli_bench_crossover;

/* The geometric mean of a device's times, relative to the best single device's. */
typedef struct cli_bench_mean {
    size_t device;
    double ratio;
} cli_bench_mean;

/* By place of data, and last over all. Over those rows alone where every device was measured. */
typedef struct cli_bench_summary {
    const char *data; /* "host", "resident", "all" */
    size_t rows, total;
    size_t best_single; /* CLI_BENCH_DEVICES: there is none */
    cli_bench_mean means[CLI_BENCH_DEVICES];
    size_t mean_count;
    size_t routed; /* the column of auto; CLI_BENCH_DEVICES: none */
    double routed_ratio;
    size_t routed_faster, routed_slower; /* rows, than the best single device, beyond the spread */
} cli_bench_summary;

typedef struct cli_bench_figures {
    VYRE_VEC(cli_bench_crossover) crossovers;
    cli_bench_summary summaries[CLI_BENCH_PLACES + 1];
    size_t summary_count;
    size_t measured, skipped, mismatches, failed; /* cells */
} cli_bench_figures;

VYRE_MUST_USE vyre_status cli_bench_figures_make(const cli_bench *bench, cli_bench_figures *out);
void cli_bench_figures_deinit(cli_bench_figures *figures);

/* Comparison with an earlier run: rows and devices of the same names. */
typedef struct cli_bench_change {
    const cli_bench_row *row;
    size_t device;
    double before, after; /* medians */
    int direction;        /* 1: clearly faster now, -1: clearly slower, 0: within the spread */
} cli_bench_change;

typedef struct cli_bench_comparison {
    const char *file;
    VYRE_VEC(cli_bench_change) changes;
    size_t faster, slower, missing; /* missing: of this run's cells, those that the other lacks */
    double mean;                    /* geometric, of before / after */
} cli_bench_comparison;

VYRE_MUST_USE vyre_status cli_bench_compare(const cli_bench *before, const cli_bench *after,
                                            const char *file, cli_bench_comparison *out);
void cli_bench_comparison_deinit(cli_bench_comparison *comparison);

/* What cli_bench_json wrote. */
VYRE_MUST_USE vyre_status cli_bench_read(const char *path, cli_bench *out);

/* Reports. `comparison` may be NULL. */
typedef struct cli_bench_report {
    const cli_bench *bench;
    const cli_bench_figures *figures;
    const cli_bench_comparison *comparison;
} cli_bench_report;

void cli_bench_json(const cli_bench_report *report, vyre_strbuf *text);
void cli_bench_table(const cli_bench_report *report, cli_format format, vyre_strbuf *text);
void cli_bench_html(const cli_bench_report *report, vyre_strbuf *html);

/* Plots of the page; see bench_plot.c. */
void cli_bench_plot_times(const cli_bench_report *report, const char *operation, vyre_data data,
                          vyre_strbuf *html);
void cli_bench_plot_roofline(const cli_bench_report *report, size_t device, vyre_data data,
                             vyre_strbuf *html);
void cli_bench_plot_shares(const cli_bench_report *report, vyre_data data, vyre_strbuf *html);
/* The start of the mark that stands for a column. The caller ends it. */
void cli_bench_put_shape(const cli_bench *bench, size_t device, double x, double y,
                         vyre_strbuf *html);

/* Text for people: "1.25 ms", "2^20", "3.1 GB/s"; escaped for HTML. */
void cli_bench_put_time(vyre_strbuf *text, double ns);
void cli_bench_put_size(vyre_strbuf *text, uint64_t size);
void cli_bench_put_rate(vyre_strbuf *text, double a_second, const char *unit);
void cli_bench_put_share(vyre_strbuf *text, double share); /* "12 %"; nothing for 0 */
void cli_bench_put_escaped(vyre_strbuf *text, const char *words);
/* The same digits as in JSON. */
void cli_bench_put_exact(vyre_strbuf *text, double number);

#endif
