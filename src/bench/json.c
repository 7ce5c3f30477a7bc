/* The report for programs. read.c reads what was measured back; what follows from it stands
 * here for others, and is computed anew. */
#include "bench/bench.h"

/* null where it is not known. */
static void put_known(vyre_json *json, const char *key, double number) {
    vyre_json_key(json, key);
    if (number > 0) {
        vyre_json_f64(json, number);
    } else {
        vyre_json_null(json);
    }
}

static void put_times(vyre_json *json, const char *key, const bench_times *times) {
    vyre_json_key(json, key);
    if (!times->runs) {
        vyre_json_null(json);
        return;
    }
    vyre_json_object(json);
    vyre_json_add_u64(json, "runs", times->runs);
    vyre_json_add_f64(json, "best_ns", times->best);
    vyre_json_add_f64(json, "low_ns", times->low);
    vyre_json_add_f64(json, "median_ns", times->median);
    vyre_json_add_f64(json, "high_ns", times->high);
    vyre_json_object_end(json);
}

static void put_devices(vyre_json *json, const bench_run *bench) {
    vyre_json_add_array(json, "devices");
    for (size_t i = 0; i < bench->device_count; i++) {
        const bench_device *device = &bench->devices[i];
        vyre_json_object(json);
        vyre_json_add_string(json, "name", device->name);
        vyre_json_add_bool(json, "auto", device->is_auto);
        vyre_json_add_string(json, "hardware", device->hardware);
        vyre_json_add_string(json, "unavailable", device->reason);
        put_known(json, "copy_host_bytes_per_s", device->ceiling.copy[VYRE_DATA_HOST]);
        put_known(json, "copy_resident_bytes_per_s", device->ceiling.copy[VYRE_DATA_RESIDENT]);
        put_known(json, "copy_bytes", (double)device->ceiling.copy_bytes);
        put_known(json, "peak_operations_per_s", device->ceiling.peak);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void put_cell(vyre_json *json, const bench_run *bench, const bench_row *row, size_t device) {
    const bench_cell *cell = &row->cells[device];
    bench_rates rates = bench_rates_of(bench, row, device);
    vyre_json_object(json);
    vyre_json_add_string(json, "device", bench->devices[device].name);
    vyre_json_add_string(json, "state", bench_state_name(cell->state));
    vyre_json_add_string(json, "note", cell->note);
    vyre_json_add_string(json, "ran_on", cell->ran_on);
    put_times(json, "host", &cell->host);
    put_times(json, "on_device", &cell->device);
    put_known(json, "gb_per_s", rates.bytes * 1e-9);
    put_known(json, "gflop_per_s", rates.operations * 1e-9);
    put_known(json, "share_of_copy", rates.copy);
    vyre_json_object_end(json);
}

static void put_rows(vyre_json *json, const bench_run *bench) {
    vyre_json_add_array(json, "rows");
    for (size_t i = 0; i < bench->rows.count; i++) {
        const bench_row *row = &bench->rows.items[i];
        vyre_json_object(json);
        vyre_json_add_string(json, "operation", row->operation);
        vyre_json_add_u64(json, "size", row->size);
        vyre_json_add_string(json, "data", vyre_data_name(row->data));
        vyre_json_add_u64(json, "bytes", row->bytes);
        put_known(json, "work", row->work);
        vyre_json_add_bool(json, "oracle", row->by_oracle);
        vyre_json_add_array(json, "cells");
        for (size_t k = 0; k < bench->device_count; k++) {
            put_cell(json, bench, row, k);
        }
        vyre_json_array_end(json);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void put_crossovers(vyre_json *json, const bench_report *report) {
    const bench_device *devices = report->bench->devices;
    vyre_json_add_array(json, "crossovers");
    for (size_t i = 0; i < report->figures->crossovers.count; i++) {
        const bench_crossover *crossover = &report->figures->crossovers.items[i];
        vyre_json_object(json);
        vyre_json_add_string(json, "operation", crossover->operation);
        vyre_json_add_string(json, "data", vyre_data_name(crossover->data));
        vyre_json_add_string(json, "before", devices[crossover->before].name);
        vyre_json_add_string(json, "after", devices[crossover->after].name);
        vyre_json_add_u64(json, "from_size", crossover->from_size);
        vyre_json_add_u64(json, "to_size", crossover->to_size);
        put_known(json, "at_size", crossover->at_size);
        vyre_json_add_bool(json, "clear", crossover->is_clear);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void put_means(vyre_json *json, const bench_report *report) {
    const bench_device *devices = report->bench->devices;
    vyre_json_add_array(json, "means");
    for (size_t i = 0; i < report->figures->summary_count; i++) {
        const bench_summary *summary = &report->figures->summaries[i];
        bool has_best = summary->best_single < BENCH_DEVICES;
        vyre_json_object(json);
        vyre_json_add_string(json, "data", summary->data);
        vyre_json_add_u64(json, "rows", summary->rows);
        vyre_json_add_u64(json, "of", summary->total);
        vyre_json_add_string(json, "best_single",
                             has_best ? devices[summary->best_single].name : NULL);
        vyre_json_add_object(json, "times_best_single");
        for (size_t k = 0; k < summary->mean_count; k++) {
            vyre_json_add_f64(json, devices[summary->means[k].device].name,
                              summary->means[k].ratio);
        }
        vyre_json_object_end(json);
        put_known(json, "routed", summary->routed_ratio);
        vyre_json_add_u64(json, "routed_faster", summary->routed_faster);
        vyre_json_add_u64(json, "routed_slower", summary->routed_slower);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void put_comparison(vyre_json *json, const bench_report *report) {
    const bench_comparison *comparison = report->comparison;
    vyre_json_key(json, "comparison");
    if (!comparison) {
        vyre_json_null(json);
        return;
    }
    vyre_json_object(json);
    vyre_json_add_string(json, "file", comparison->file);
    vyre_json_add_u64(json, "faster", comparison->faster);
    vyre_json_add_u64(json, "slower", comparison->slower);
    vyre_json_add_u64(json, "missing", comparison->missing);
    put_known(json, "mean", comparison->mean);
    vyre_json_add_array(json, "cells");
    for (size_t i = 0; i < comparison->changes.count; i++) {
        const bench_change *change = &comparison->changes.items[i];
        vyre_json_object(json);
        vyre_json_add_string(json, "operation", change->row->operation);
        vyre_json_add_u64(json, "size", change->row->size);
        vyre_json_add_string(json, "data", vyre_data_name(change->row->data));
        vyre_json_add_string(json, "device", report->bench->devices[change->device].name);
        vyre_json_add_f64(json, "before_ns", change->before);
        vyre_json_add_f64(json, "after_ns", change->after);
        vyre_json_add_f64(json, "ratio", change->before / change->after);
        vyre_json_add_string(json, "verdict", bench_direction_name(change->direction));
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
    vyre_json_object_end(json);
}

void bench_report_json(const bench_report *report, vyre_strbuf *text) {
    const bench_run *bench = report->bench;
    vyre_json json = {.text = text};
    vyre_json_object(&json);
    vyre_json_add_string(&json, "vyre", bench->version);
    vyre_json_add_string(&json, "date", bench->date);
    vyre_json_add_string(&json, "machine", bench->machine);
    vyre_json_add_u64(&json, "threads", bench->threads);
    vyre_json_add_string(&json, "table", bench->table);
    vyre_json_add_f64(&json, "budget_s", (double)bench->budget_ns * 1e-9);
    vyre_json_add_u64(&json, "runs", bench->runs);
    put_devices(&json, bench);
    put_rows(&json, bench);
    put_crossovers(&json, report);
    put_means(&json, report);
    put_comparison(&json, report);
    vyre_json_object_end(&json);
    vyre_strbuf_putc(text, '\n');
}
