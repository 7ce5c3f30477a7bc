/* The report for people, as text or Markdown, and for spreadsheets. */

#include "base/units.h"
#include "bench/bench.h"

void bench_put_time(vyre_strbuf *text, double ns) {
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
    size_t unit = 0;
    while (unit < 3 && ns < units[unit].ns) {
        unit++;
    }
    double number = ns / units[unit].ns;
    int digits = number < 9.995 ? 2 : number < 99.95;
    vyre_strbuf_printf(text, "%.*f %s", digits, number, units[unit].name);
}

void bench_put_size(vyre_strbuf *text, uint64_t size) {
    if (size && !(size & (size - 1))) {
        uint32_t bits = 0;
        while (size >> (bits + 1)) {
            bits++;
        }
        vyre_strbuf_printf(text, "2^%u", bits);
    } else {
        vyre_strbuf_u64(text, size);
    }
}

static const char copy_words[] =
    "A share is relative to the rate of a large copy on the same device with data in the same "
    "place. Data that fits in a cache may exceed it, and so may an operation that mostly reads, "
    "because writing costs more bandwidth.";

static void add_size(vyre_table *table, uint64_t size) {
    vyre_strbuf text = {0};
    bench_put_size(&text, size);
    vyre_table_add_strbuf(table, &text);
    vyre_strbuf_free(&text);
}

/* Nothing for 0. */
static void add_time(vyre_table *table, double ns) {
    vyre_strbuf text = {0};
    if (ns > 0) {
        bench_put_time(&text, ns);
    }
    vyre_table_add_strbuf(table, &text);
    vyre_strbuf_free(&text);
}

/* "12 %"; nothing for 0. */
static void put_share(vyre_strbuf *text, double share) {
    if (share > 0 && share < 0.0005) {
        vyre_strbuf_puts(text, "< 0.1 %");
    } else if (share > 0) {
        vyre_strbuf_printf(text, "%.*f %%", share < 0.0995, share * 100);
    }
}

static void write_devices(vyre_page *page, const bench_run *bench) {
    vyre_table table = {.right = 7 << 2, .code = 1};
    vyre_strbuf text = {0};
    VYRE_TABLE_CELLS(&table, "device", "hardware", "copy, host", "copy, resident", "peak");
    for (size_t i = 0; i < bench->device_count; i++) {
        const bench_device *device = &bench->devices[i];
        vyre_table_add(&table, "%s", device->name);
        if (device->reason) {
            vyre_strbuf_puts(&text, "unavailable");
        } else if (device->is_auto) {
            vyre_strbuf_printf(&text, "chosen by the table %s", bench->table ? bench->table : "");
        } else {
            vyre_strbuf_puts(&text, device->hardware ? device->hardware : "");
        }
        vyre_table_add_strbuf(&table, &text);
        for (vyre_data data = 0; data < BENCH_PLACES; data++) {
            if (device->ceiling.copy[data] > 0) {
                vyre_units_rate(&text, device->ceiling.copy[data], "B/s");
            }
            vyre_table_add_strbuf(&table, &text);
        }
        if (device->ceiling.peak > 0) {
            vyre_units_rate(&text, device->ceiling.peak, "FLOP/s");
        }
        vyre_table_add_strbuf(&table, &text);
    }
    vyre_page_table(page, &table);
    for (size_t i = 0; i < bench->device_count; i++) {
        if (bench->devices[i].reason) {
            vyre_strbuf_cut(&text, 0);
            vyre_strbuf_printf(&text, "%s: %s", bench->devices[i].name, bench->devices[i].reason);
            vyre_page_paragraph(page, vyre_strbuf_string(&text));
        }
    }
    page->text->failed |= text.failed;
    vyre_strbuf_free(&text);
}

static void write_times(vyre_page *page, const bench_run *bench) {
    vyre_table table = {.right = 1 << 2 | 63 << 4, .code = 1};
    vyre_strbuf text = {0};
    VYRE_TABLE_CELLS(&table, "operation", "data", "size", "device", "median", "best", "quartiles",
                     "GB/s", "GFLOP/s", "of copy", "");
    for (size_t i = 0; i < bench->rows.count; i++) {
        const bench_row *row = &bench->rows.items[i];
        for (size_t k = 0; k < bench->device_count; k++) {
            const bench_cell *cell = &row->cells[k];
            const bench_rates rates = bench_rates_of(bench, row, k);
            bool is_measured = cell->state == BENCH_MEASURED;
            if (bench->devices[k].reason) {
                continue;
            }
            VYRE_TABLE_CELLS(&table, row->operation, vyre_data_name(row->data));
            add_size(&table, row->size);
            vyre_table_add(&table, "%s", bench->devices[k].name);
            add_time(&table, is_measured ? cell->host.median : 0);
            add_time(&table, is_measured ? cell->host.best : 0);
            if (is_measured) {
                bench_put_time(&text, cell->host.low);
                vyre_strbuf_puts(&text, " to ");
                bench_put_time(&text, cell->host.high);
            }
            vyre_table_add_strbuf(&table, &text);
            vyre_units_number(&text, rates.bytes * 1e-9);
            vyre_table_add_strbuf(&table, &text);
            vyre_units_number(&text, rates.operations * 1e-9);
            vyre_table_add_strbuf(&table, &text);
            put_share(&text, rates.copy);
            vyre_table_add_strbuf(&table, &text);
            if (is_measured && cell->ran_on) {
                vyre_strbuf_printf(&text, "on %s", cell->ran_on);
            }
            if (is_measured && cell->device.runs) {
                vyre_strbuf_puts(&text, text.size ? "; " : "");
                bench_put_time(&text, cell->device.median);
                vyre_strbuf_puts(&text, " on the device");
            }
            if (!is_measured) {
                vyre_strbuf_printf(&text, "%s", bench_state_name(cell->state));
            }
            if (cell->note) {
                vyre_strbuf_printf(&text, "%s%s", text.size ? ": " : "", cell->note);
            }
            vyre_table_add_strbuf(&table, &text);
        }
    }
    vyre_strbuf_free(&text);
    vyre_page_table(page, &table);
    vyre_page_paragraph(page, copy_words);
}

static void write_crossovers(vyre_page *page, const bench_report *report) {
    const bench_device *devices = report->bench->devices;
    vyre_table table = {.right = 7 << 4, .code = 1};
    if (!report->figures->crossovers.count) {
        vyre_page_paragraph(page, "None: the same device is the fastest at all sizes of each "
                                  "operation.");
        return;
    }
    VYRE_TABLE_CELLS(&table, "operation", "data", "below", "above", "from", "to", "about", "");
    for (size_t i = 0; i < report->figures->crossovers.count; i++) {
        const bench_crossover *crossover = &report->figures->crossovers.items[i];
        VYRE_TABLE_CELLS(&table, crossover->operation, vyre_data_name(crossover->data),
                         devices[crossover->before].name, devices[crossover->after].name);
        add_size(&table, crossover->from_size);
        add_size(&table, crossover->to_size);
        vyre_table_add(&table, "%.0f", crossover->at_size);
        vyre_table_add(&table, "%s", crossover->is_clear ? "" : "within the spread");
    }
    vyre_page_table(page, &table);
}

static void write_means(vyre_page *page, const bench_report *report) {
    const bench_run *bench = report->bench;
    vyre_table table = {.right = 1 << 2};
    VYRE_TABLE_CELLS(&table, "data", "device", "time", "");
    for (size_t i = 0; i < report->figures->summary_count; i++) {
        const bench_summary *summary = &report->figures->summaries[i];
        for (size_t k = 0; k < summary->mean_count; k++) {
            const bench_mean *mean = &summary->means[k];
            VYRE_TABLE_CELLS(&table, summary->data, bench->devices[mean->device].name);
            vyre_table_add(&table, "%.3f", mean->ratio);
            if (mean->device == summary->best_single) {
                vyre_table_add(&table, "the best single device, over %zu of %zu rows",
                               summary->rows, summary->total);
            } else if (mean->device == summary->routed) {
                vyre_table_add(&table, "routed: clearly faster in %zu rows, clearly slower in %zu",
                               summary->routed_faster, summary->routed_slower);
            } else {
                vyre_table_add(&table, "%s", "");
            }
        }
        if (!summary->mean_count) {
            VYRE_TABLE_CELLS(&table, summary->data, "", "");
            vyre_table_add(&table, "no row of %zu was measured on every device", summary->total);
        }
    }
    vyre_page_table(page, &table);
}

static void write_comparison(vyre_page *page, const bench_report *report) {
    const bench_comparison *comparison = report->comparison;
    vyre_table table = {.right = 1 << 2 | 7 << 4, .code = 1};
    vyre_strbuf text = {0};
    VYRE_TABLE_CELLS(&table, "operation", "data", "size", "device", "before", "now", "ratio", "");
    for (size_t i = 0; i < comparison->changes.count; i++) {
        const bench_change *change = &comparison->changes.items[i];
        VYRE_TABLE_CELLS(&table, change->row->operation, vyre_data_name(change->row->data));
        add_size(&table, change->row->size);
        vyre_table_add(&table, "%s", report->bench->devices[change->device].name);
        add_time(&table, change->before);
        add_time(&table, change->after);
        vyre_table_add(&table, "%.2f", change->before / change->after);
        vyre_table_add(&table, "%s", bench_direction_name(change->direction));
    }
    vyre_page_table(page, &table);
    vyre_strbuf_printf(&text, "%zu clearly faster, %zu clearly slower, %zu not in %s",
                       comparison->faster, comparison->slower, comparison->missing,
                       comparison->file);
    if (comparison->changes.count) {
        vyre_strbuf_printf(&text, "; geometric mean of before / now %.3f", comparison->mean);
    }
    vyre_strbuf_putc(&text, '.');
    vyre_page_paragraph(page, vyre_strbuf_string(&text));
    page->text->failed |= text.failed;
    vyre_strbuf_free(&text);
}

static void write_page(const bench_report *report, vyre_format format, vyre_strbuf *text) {
    const bench_run *bench = report->bench;
    vyre_page page = {text, format == VYRE_FORMAT_MARKDOWN};
    vyre_strbuf words = {0};
    vyre_strbuf_printf(&words,
                       "vyre %s on %s, %u thread%s, %s. At most %u runs and %.4g s per cell, with "
                       "devices taking turns. Times are by the host's clock, rates by the device's "
                       "own if it has one.",
                       bench->version, bench->machine, bench->threads, vyre_plural(bench->threads),
                       bench->date, bench->runs, (double)bench->budget_ns * 1e-9);
    vyre_page_paragraph(&page, vyre_strbuf_string(&words));
    vyre_page_heading(&page, "Devices");
    write_devices(&page, bench);
    vyre_page_heading(&page, "Times");
    write_times(&page, bench);
    vyre_page_heading(&page, "Crossovers: between two sizes another device becomes the fastest");
    write_crossovers(&page, report);
    vyre_page_heading(&page, "Geometric means of time, relative to the best single device");
    write_means(&page, report);
    if (report->comparison) {
        vyre_page_heading(&page, "Compared with before: before / now, more than 1 is faster");
        write_comparison(&page, report);
    }
    text->failed |= words.failed;
    vyre_strbuf_free(&words);
}

/* CSV: one table, whose first column says what a line is. */

static const char *const csv_columns[] = {
    "kind",     "operation",   "data",          "size",      "device",  "ran_on",    "state",
    "runs",     "best_ns",     "low_ns",        "median_ns", "high_ns", "device_ns", "bytes",
    "gb_per_s", "gflop_per_s", "share_of_copy", "ratio",     "note",
};
enum { CSV_COLUMNS = sizeof csv_columns / sizeof *csv_columns, CSV_STATE = 6, CSV_RATIO = 17 };

static void add_csv_number(vyre_table *table, double number) {
    if (number > 0) {
        vyre_table_add(table, "%.6g", number);
    } else {
        vyre_table_add(table, "%s", "");
    }
}

static void add_csv_start(vyre_table *table, const char *kind, const char *operation,
                          const char *data, uint64_t size, const char *device, const char *ran_on) {
    VYRE_TABLE_CELLS(table, kind, operation, data);
    if (size) {
        vyre_table_add(table, "%llu", (unsigned long long)size);
    } else {
        vyre_table_add(table, "%s", "");
    }
    VYRE_TABLE_CELLS(table, device, ran_on ? ran_on : "");
}

/* A line that has no times, only a ratio and a note. */
static void add_csv_end(vyre_table *table, double ratio, const char *note) {
    for (size_t i = CSV_STATE; i < CSV_RATIO; i++) {
        vyre_table_add(table, "%s", "");
    }
    add_csv_number(table, ratio);
    vyre_table_add(table, "%s", note);
}

static void add_csv_cell(vyre_table *table, const bench_run *bench, const bench_row *row,
                         size_t device) {
    const bench_cell *cell = &row->cells[device];
    const bench_rates rates = bench_rates_of(bench, row, device);
    add_csv_start(table, "cell", row->operation, vyre_data_name(row->data), row->size,
                  bench->devices[device].name, cell->ran_on);
    vyre_table_add(table, "%s", bench_state_name(cell->state));
    add_csv_number(table, cell->host.runs);
    const double times[] = {cell->host.best, cell->host.low, cell->host.median, cell->host.high,
                            cell->device.median};
    const double others[] = {rates.bytes * 1e-9, rates.operations * 1e-9, rates.copy, 0};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        add_csv_number(table, times[i]);
    }
    vyre_table_add(table, "%llu", (unsigned long long)row->bytes);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        add_csv_number(table, others[i]);
    }
    vyre_table_add(table, "%s", cell->note ? cell->note : "");
}

static void write_csv(const bench_report *report, vyre_strbuf *text) {
    const bench_run *bench = report->bench;
    const bench_figures *figures = report->figures;
    vyre_table table = {0};
    vyre_table_add_cells(&table, CSV_COLUMNS, csv_columns);
    for (size_t i = 0; i < bench->device_count; i++) {
        if (bench->devices[i].reason) {
            add_csv_start(&table, "unavailable", "", "", 0, bench->devices[i].name, "");
            add_csv_end(&table, 0, bench->devices[i].reason);
        }
    }
    for (size_t i = 0; i < bench->rows.count; i++) {
        for (size_t k = 0; k < bench->device_count; k++) {
            if (!bench->devices[k].reason) {
                add_csv_cell(&table, bench, &bench->rows.items[i], k);
            }
        }
    }
    for (size_t i = 0; i < figures->crossovers.count; i++) {
        const bench_crossover *crossover = &figures->crossovers.items[i];
        add_csv_start(&table, "crossover", crossover->operation, vyre_data_name(crossover->data),
                      crossover->to_size, bench->devices[crossover->after].name, "");
        vyre_strbuf note = {0};
        vyre_strbuf_printf(&note, "%s up to %llu", bench->devices[crossover->before].name,
                           (unsigned long long)crossover->from_size);
        add_csv_end(&table, 0, vyre_strbuf_string(&note));
        table.cells.failed |= note.failed;
        vyre_strbuf_free(&note);
    }
    for (size_t i = 0; i < figures->summary_count; i++) {
        const bench_summary *summary = &figures->summaries[i];
        for (size_t k = 0; k < summary->mean_count; k++) {
            const bench_mean *mean = &summary->means[k];
            add_csv_start(&table, "mean", "", summary->data, 0, bench->devices[mean->device].name,
                          "");
            add_csv_end(&table, mean->ratio,
                        mean->device == summary->best_single ? "best single"
                        : mean->device == summary->routed    ? "routed"
                                                             : "");
        }
    }
    for (size_t i = 0; report->comparison && i < report->comparison->changes.count; i++) {
        const bench_change *change = &report->comparison->changes.items[i];
        add_csv_start(&table, "change", change->row->operation, vyre_data_name(change->row->data),
                      change->row->size, bench->devices[change->device].name, "");
        add_csv_end(&table, change->before / change->after,
                    bench_direction_name(change->direction));
    }
    vyre_table_write(text, &table, VYRE_FORMAT_CSV);
}

void bench_report_table(const bench_report *report, vyre_format format, vyre_strbuf *text) {
    if (format == VYRE_FORMAT_CSV) {
        write_csv(report, text);
    } else {
        write_page(report, format, text);
    }
}
