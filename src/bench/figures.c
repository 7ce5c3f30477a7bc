/* What follows from the times. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bench/bench.h"

const char *bench_state_name(bench_state state) {
    static const char *const names[] = {
#define NAME(name, text) text,
        BENCH_STATES(NAME)
#undef NAME
    };
    return names[state];
}

static int by_number(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* Between the two that are nearest. */
static double quantile(const double *sorted, uint32_t count, double share) {
    double at = share * (count - 1);
    uint32_t below = (uint32_t)at, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
}

bench_times bench_times_of(double *times, uint32_t count) {
    if (!count) {
        return (bench_times){0};
    }
    qsort(times, count, sizeof *times, by_number);
    return (bench_times){count, times[0], quantile(times, count, 0.25), quantile(times, count, 0.5),
                         quantile(times, count, 0.75)};
}

/* The device's own time where it tells one. */
static const bench_times *rate_times(const bench_cell *cell) {
    return cell->device.runs ? &cell->device : &cell->host;
}

bench_rates bench_rates_of(const bench_run *bench, const bench_row *row, size_t device) {
    const bench_cell *cell = &row->cells[device];
    double ns = cell->state == BENCH_MEASURED ? rate_times(cell)->median : 0;
    bench_rates rates = {0};
    if (ns <= 0) {
        return rates;
    }
    rates.bytes = (double)row->bytes / ns * 1e9;
    rates.operations = row->work / ns * 1e9;
    /* What auto chose is one of the others, and has its copy. */
    const char *name = cell->ran_on ? cell->ran_on : bench->devices[device].name;
    for (size_t i = 0; i < bench->device_count; i++) {
        double copy = bench->devices[i].ceiling.copy[row->data];
        if (!strcmp(bench->devices[i].name, name) && copy > 0) {
            rates.copy = rates.bytes / copy;
        }
    }
    return rates;
}

static bool is_measured(const bench_row *row, size_t device) {
    const bench_cell *cell = &row->cells[device];
    return cell->state == BENCH_MEASURED && cell->host.runs && cell->host.median > 0;
}

/* Of those with a name of their own; BENCH_DEVICES if none was measured. */
static size_t fastest(const bench_run *bench, const bench_row *row) {
    size_t best = BENCH_DEVICES;
    for (size_t i = 0; i < bench->device_count; i++) {
        if (!bench->devices[i].is_auto && is_measured(row, i) &&
            (best == BENCH_DEVICES || row->cells[i].host.median < row->cells[best].host.median)) {
            best = i;
        }
    }
    return best;
}

static bool lie_apart(const bench_times *faster, const bench_times *slower) {
    return faster->high < slower->low;
}

/* Two lines through the times at both sizes, in a plot whose axes are logarithms. */
static void find_meeting(const bench_row *from, const bench_row *to, bench_crossover *c) {
    double a0 = log(from->cells[c->before].host.median), a1 = log(to->cells[c->before].host.median);
    double b0 = log(from->cells[c->after].host.median), b1 = log(to->cells[c->after].host.median);
    double ahead = b0 - a0, behind = a1 - b1; /* neither is negative */
    double share = ahead + behind > 0 ? ahead / (ahead + behind) : 0.5;
    double x0 = log((double)from->size), x1 = log((double)to->size);
    c->at_size = exp(x0 + (x1 - x0) * share);
    c->at_ns = exp(a0 + (a1 - a0) * share);
    c->is_clear = lie_apart(&from->cells[c->before].host, &from->cells[c->after].host) &&
                  lie_apart(&to->cells[c->after].host, &to->cells[c->before].host);
}

/* Rows of an operation and place lie in the order of their sizes, with others between. */
static bool add_crossovers(const bench_run *bench, size_t first, bench_figures *out) {
    const bench_row *from = NULL;
    size_t before = BENCH_DEVICES;
    for (size_t i = first; i < bench->rows.count; i++) {
        const bench_row *row = &bench->rows.items[i];
        const bench_row *start = &bench->rows.items[first];
        if (row->data != start->data || strcmp(row->operation, start->operation) != 0) {
            continue;
        }
        size_t best = fastest(bench, row);
        if (best == BENCH_DEVICES) {
            continue;
        }
        if (from && best != before && is_measured(from, best) && is_measured(row, before)) {
            bench_crossover crossover = {.operation = row->operation,
                                         .data = row->data,
                                         .before = before,
                                         .after = best,
                                         .from_size = from->size,
                                         .to_size = row->size};
            find_meeting(from, row, &crossover);
            if (!vyre_vec_push(&out->crossovers, crossover)) {
                return false;
            }
        }
        from = row;
        before = best;
    }
    return true;
}

static bool is_first_of_its_kind(const bench_run *bench, size_t index) {
    const bench_row *row = &bench->rows.items[index];
    for (size_t i = 0; i < index; i++) {
        const bench_row *other = &bench->rows.items[i];
        if (other->data == row->data && !strcmp(other->operation, row->operation)) {
            return false;
        }
    }
    return true;
}

static bool is_usable(const bench_run *bench, size_t device) {
    return !bench->devices[device].reason;
}

/* Means over the rows of a place of data, or of all. */
static bench_summary summarize(const bench_run *bench, int data) {
    bench_summary out = {.data = data < 0 ? "all" : vyre_data_name((vyre_data)data),
                         .best_single = BENCH_DEVICES,
                         .routed = BENCH_DEVICES};
    double sums[BENCH_DEVICES] = {0};
    for (size_t i = 0; i < bench->rows.count; i++) {
        const bench_row *row = &bench->rows.items[i];
        bool is_complete = data < 0 || row->data == (vyre_data)data;
        out.total += is_complete;
        for (size_t k = 0; k < bench->device_count; k++) {
            is_complete = is_complete && (!is_usable(bench, k) || is_measured(row, k));
        }
        out.rows += is_complete;
        for (size_t k = 0; k < bench->device_count && is_complete; k++) {
            sums[k] += is_usable(bench, k) ? log(row->cells[k].host.median) : 0;
        }
    }
    for (size_t k = 0; k < bench->device_count && out.rows; k++) {
        bool is_auto = bench->devices[k].is_auto;
        if (!is_usable(bench, k)) {
            continue;
        }
        if (is_auto) {
            out.routed = k;
        } else if (out.best_single == BENCH_DEVICES || sums[k] < sums[out.best_single]) {
            out.best_single = k;
        }
    }
    for (size_t k = 0; k < bench->device_count && out.best_single < BENCH_DEVICES; k++) {
        if (is_usable(bench, k)) {
            out.means[out.mean_count++] =
                (bench_mean){k, exp((sums[k] - sums[out.best_single]) / (double)out.rows)};
            out.routed_ratio =
                k == out.routed ? out.means[out.mean_count - 1].ratio : out.routed_ratio;
        }
    }
    return out;
}

/* Rows in which auto and the best single device differ by more than their spread. */
static void count_wins(const bench_run *bench, int data, bench_summary *summary) {
    if (summary->routed == BENCH_DEVICES || summary->best_single == BENCH_DEVICES) {
        return;
    }
    for (size_t i = 0; i < bench->rows.count; i++) {
        const bench_row *row = &bench->rows.items[i];
        if ((data < 0 || row->data == (vyre_data)data) && is_measured(row, summary->routed) &&
            is_measured(row, summary->best_single)) {
            const bench_times *routed = &row->cells[summary->routed].host;
            const bench_times *single = &row->cells[summary->best_single].host;
            summary->routed_faster += lie_apart(routed, single);
            summary->routed_slower += lie_apart(single, routed);
        }
    }
}

static void count_cells(const bench_run *bench, bench_figures *out) {
    size_t *counts[] = {[BENCH_MEASURED] = &out->measured,
                        [BENCH_SKIPPED] = &out->skipped,
                        [BENCH_MISMATCH] = &out->mismatches,
                        [BENCH_FAILED] = &out->failed};
    for (size_t i = 0; i < bench->rows.count; i++) {
        for (size_t k = 0; k < bench->device_count; k++) {
            *counts[bench->rows.items[i].cells[k].state] += is_usable(bench, k);
        }
    }
}

vyre_status bench_figures_make(const bench_run *bench, bench_figures *out) {
    bool has_place[BENCH_PLACES] = {false};
    *out = (bench_figures){0};
    for (size_t i = 0; i < bench->rows.count; i++) {
        has_place[bench->rows.items[i].data] = true;
        if (is_first_of_its_kind(bench, i) && !add_crossovers(bench, i, out)) {
            return vyre_no_memory("for the figures");
        }
    }
    for (int data = 0; data < BENCH_PLACES; data++) {
        if (has_place[data]) {
            bench_summary *summary = &out->summaries[out->summary_count++];
            *summary = summarize(bench, data);
            count_wins(bench, data, summary);
        }
    }
    if (out->summary_count > 1) {
        bench_summary *summary = &out->summaries[out->summary_count++];
        *summary = summarize(bench, -1);
        count_wins(bench, -1, summary);
    }
    count_cells(bench, out);
    return VYRE_OK;
}

void bench_figures_deinit(bench_figures *figures) {
    vyre_vec_free(&figures->crossovers);
}
