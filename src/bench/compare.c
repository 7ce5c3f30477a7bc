/* Two runs, cell by cell. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "bench/bench.h"

/* Quartiles that lie apart by less than this are noise, too. */
static const double slack = 1.05;

static const bench_cell *find(const bench_run *bench, const bench_row *wanted, const char *device) {
    for (size_t i = 0; i < bench->rows.count; i++) {
        const bench_row *row = &bench->rows.items[i];
        if (row->size != wanted->size || row->data != wanted->data ||
            strcmp(row->operation, wanted->operation) != 0) {
            continue;
        }
        for (size_t k = 0; k < bench->device_count; k++) {
            if (!strcmp(bench->devices[k].name, device)) {
                return row->cells[k].state == BENCH_MEASURED ? &row->cells[k] : NULL;
            }
        }
    }
    return NULL;
}

const char *bench_direction_name(int direction) {
    return direction > 0 ? "faster" : direction < 0 ? "slower" : "within the spread";
}

vyre_status bench_compare(const bench_run *before, const bench_run *after, const char *file,
                          bench_comparison *out) {
    double sum = 0;
    *out = (bench_comparison){.file = file};
    for (size_t i = 0; i < after->rows.count; i++) {
        const bench_row *row = &after->rows.items[i];
        for (size_t k = 0; k < after->device_count; k++) {
            const bench_cell *now = &row->cells[k];
            const bench_cell *old = find(before, row, after->devices[k].name);
            if (now->state != BENCH_MEASURED || !old) {
                out->missing += now->state == BENCH_MEASURED;
                continue;
            }
            bench_change change = {
                .row = row, .device = k, .before = old->host.median, .after = now->host.median};
            change.direction = now->host.low > old->host.high * slack   ? -1
                               : now->host.high * slack < old->host.low ? 1
                                                                        : 0;
            out->faster += change.direction > 0;
            out->slower += change.direction < 0;
            sum += log(change.before / change.after);
            if (!vyre_vec_push(&out->changes, change)) {
                return vyre_no_memory("to compare");
            }
        }
    }
    out->mean = out->changes.count ? exp(sum / (double)out->changes.count) : 0;
    return VYRE_OK;
}

void bench_comparison_deinit(bench_comparison *comparison) {
    vyre_vec_free(&comparison->changes);
}
