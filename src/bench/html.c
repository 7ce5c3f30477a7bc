/* The report as one page that needs nothing else: no script, no font, no image from elsewhere. What
 * plots show stands in tables, too, and every figure in a data attribute, with the digits of the
 * JSON report. */
#include <string.h>

#include "base/number.h"
#include "bench/bench.h"

/* In parts: compilers need not take strings of any length. */
static const char *const style[] = {
    ":root{color-scheme:light dark;--back:#fbfaf8;--card:#fff;--ink:#1c1f24;--soft:#5b6470;"
    "--line:#dcdfe4;--grid:#e8eaee;--bad:#a4262c;--good:#0b6e4f;"
    "--d0:#0072b2;--d1:#c84f00;--d2:#00805c;--d3:#a8457f;--d4:#8a6500;--d5:#2f7fc1;--d6:#6b4fbb;"
    "--d7:#6a6f76}\n"
    "@media(prefers-color-scheme:dark){:root{--back:#14171b;--card:#1b1f25;--ink:#e8eaed;"
    "--soft:#a3abb6;--line:#343a43;--grid:#2a3038;--bad:#ff8f8a;--good:#5fd6a8;"
    "--d0:#5cb8f0;--d1:#ff9a57;--d2:#3ed0a4;--d3:#ec9fca;--d4:#e8c04f;--d5:#9cc9f5;--d6:#b9a6ff;"
    "--d7:#b8bec7}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--back);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"
    "'Segoe UI',Roboto,'Noto Sans',sans-serif;-webkit-text-size-adjust:100%}\n"
    "main{max-width:1120px;margin:0 auto;padding:28px 20px 60px}\n"
    "h1{font-size:1.9rem;line-height:1.2;margin:0 0 .3rem;letter-spacing:-.01em}\n"
    "h2{font-size:1.25rem;margin:2.6rem 0 .5rem;padding-top:.9rem;border-top:1px solid "
    "var(--line)}\n"
    "h3{font-size:1.02rem;margin:0 0 .4rem;overflow-wrap:anywhere}\n"
    "p{margin:.4rem 0;max-width:72ch}\n"
    ".soft,figcaption{color:var(--soft);font-size:.88rem}\n"
    ".bad{color:var(--bad)}.good{color:var(--good)}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;"
    "margin:1.2rem 0}\n"
    ".tile,.card{background:var(--card);border:1px solid var(--line);border-radius:10px;"
    "padding:12px 14px}\n"
    ".tile b{display:block;font-size:1.5rem;line-height:1.25;font-variant-numeric:tabular-nums}\n"
    ".tile span{color:var(--soft);font-size:.85rem}\n"
    ".card{margin:14px 0}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,380px),1fr));"
    "gap:14px}\n"
    ".plots>figure:only-child{max-width:560px}\n",
    "figure{margin:0;min-width:0}\n"
    ".plots.cards figure{background:var(--card);border:1px solid var(--line);border-radius:10px;"
    "padding:12px 14px}\n"
    "figcaption{margin:0 0 2px}\n"
    "svg.plot{display:block;width:100%;height:auto}\n"
    "svg text{fill:var(--ink);font-size:12px}\n"
    "svg .tick,svg .name,svg .note,svg .value,svg .point{fill:var(--soft)}\n"
    "svg .tick,svg .value,svg .note{font-size:11px}svg .point{font-size:11px;fill:var(--ink)}\n"
    "svg .direct,svg .note,svg .value,svg .point{paint-order:stroke;stroke:var(--card);"
    "stroke-width:3px;stroke-linejoin:round}\n"
    "svg .middle{text-anchor:middle}svg .end{text-anchor:end}svg .up{font-size:8.5px}\n"
    "svg .grid{stroke:var(--grid);stroke-width:1}\n"
    "svg .curve{fill:none;stroke-width:2;stroke-linejoin:round}\n"
    "svg .curve.auto{stroke:var(--ink);stroke-dasharray:4 4;stroke-width:1.4}\n"
    "svg .band{opacity:.16;stroke:none}svg .mark{stroke:var(--card);stroke-width:1}\n"
    "svg .mark.auto{fill:none;stroke:var(--ink);stroke-width:1.3}svg .band.auto{display:none}\n"
    "svg .direct{font-size:12px;font-weight:600}\n"
    "svg .cross{stroke:var(--soft);stroke-dasharray:2 3}svg .ring{fill:none;stroke:var(--ink);"
    "stroke-width:1.5}\n"
    "svg .roof{stroke:var(--soft);stroke-width:1.5}svg "
    ".leader{stroke:var(--soft);stroke-width:.7}\n"
    "svg.key{width:14px;height:14px;vertical-align:-2px;margin-right:6px;flex:none}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:.6rem 0;padding:0;list-style:none;"
    "font-size:.9rem}\n",
    ".scroll{overflow-x:auto;-webkit-overflow-scrolling:touch}\n"
    "table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums;"
    "width:100%}\n"
    "th,td{padding:5px 10px;text-align:left;border-bottom:1px solid var(--grid);"
    "vertical-align:top}\n"
    "th{color:var(--soft);font-weight:600;white-space:nowrap}\n"
    "td.n,th.n{text-align:right;white-space:nowrap}td.w{white-space:nowrap}td.h{min-width:15rem}\n"
    "tr:last-child td{border-bottom:none}\n"
    "sup{line-height:0}\n"
    "code{font:.92em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\n"
    "details{margin-top:8px}summary{cursor:pointer;color:var(--soft);font-size:.88rem}\n"
    "@media(max-width:600px){main{padding:18px 12px 40px}.card,.plots.cards figure,.tile{padding:"
    "10px}h1{font-size:1.55rem}svg text{font-size:13px}svg .tick,svg .value,svg .note,svg "
    ".point{font-size:12px}}\n"
    "@media print{:root{--back:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#bbb;--grid:#ddd;"
    "--d0:#0072b2;--d1:#c84f00;--d2:#00805c;--d3:#a8457f;--d4:#8a6500;--d5:#2f7fc1;--d6:#6b4fbb;"
    "--d7:#6a6f76}body{font-size:11px}main{max-width:none;padding:0}figure,.tile,tr{break-inside:"
    "avoid}h2,h3{break-after:avoid}.scroll{overflow:visible}table{font-size:9px}th,td,td.n,th.n,td."
    "w{padding:2px 5px;white-space:normal}td.h{min-width:0}details::details-content{content-"
    "visibility:visible;height:auto}summary{display:none}.plots{grid-template-columns:1fr 1fr}}\n"};

void cli_bench_put_escaped(vyre_strbuf *text, const char *words) {
    for (; *words; words++) {
        switch (*words) {
        case '&': vyre_strbuf_puts(text, "&amp;"); break;
        case '<': vyre_strbuf_puts(text, "&lt;"); break;
        case '>': vyre_strbuf_puts(text, "&gt;"); break;
        case '"': vyre_strbuf_puts(text, "&quot;"); break;
        case '\'': vyre_strbuf_puts(text, "&#39;"); break;
        default: vyre_strbuf_putc(text, *words); break;
        }
    }
}

void cli_bench_put_exact(vyre_strbuf *text, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    vyre_float_print(text, VYRE_FLOAT_F64, bits);
}

/* Pieces. */

static void attribute(vyre_strbuf *html, const char *name, const char *value) {
    vyre_strbuf_printf(html, " data-%s=\"", name);
    cli_bench_put_escaped(html, value);
    vyre_strbuf_putc(html, '"');
}

static void attribute_whole(vyre_strbuf *html, const char *name, uint64_t value) {
    vyre_strbuf_printf(html, " data-%s=\"%llu\"", name, (unsigned long long)value);
}

/* Nothing where it is not known. */
static void attribute_number(vyre_strbuf *html, const char *name, double value) {
    if (value > 0) {
        vyre_strbuf_printf(html, " data-%s=\"", name);
        cli_bench_put_exact(html, value);
        vyre_strbuf_putc(html, '"');
    }
}

static void put_device(vyre_strbuf *html, const cli_bench *bench, size_t device) {
    vyre_strbuf_puts(html, "<svg class=\"key\" viewBox=\"-6 -6 12 12\" aria-hidden=\"true\">");
    cli_bench_put_shape(bench, device, 0, 0, html);
    vyre_strbuf_puts(html, "/></svg>");
    cli_bench_put_escaped(html, bench->devices[device].name);
}

static void open_table(vyre_strbuf *html, const char *headings) {
    /* One heading a word up to |; those of numbers start with #. */
    vyre_strbuf_puts(html, "<div class=\"scroll\"><table><thead><tr>");
    while (*headings) {
        size_t size = strcspn(headings, "|");
        bool is_number = *headings == '#';
        vyre_strbuf_puts(html, is_number ? "<th class=\"n\">" : "<th>");
        vyre_strbuf_add(html, headings + is_number, size - is_number);
        vyre_strbuf_puts(html, "</th>");
        headings += size + (headings[size] == '|');
    }
    vyre_strbuf_puts(html, "</tr></thead><tbody>\n");
}

static void close_table(vyre_strbuf *html) {
    vyre_strbuf_puts(html, "</tbody></table></div>\n");
}

static void cell_time(vyre_strbuf *html, double ns) {
    vyre_strbuf_puts(html, "<td class=\"n\">");
    if (ns > 0) {
        cli_bench_put_time(html, ns);
    }
    vyre_strbuf_puts(html, "</td>");
}

static void cell_rate(vyre_strbuf *html, double rate, const char *unit) {
    vyre_strbuf_puts(html, "<td class=\"n\">");
    if (rate > 0) {
        cli_bench_put_rate(html, rate, unit);
    }
    vyre_strbuf_puts(html, "</td>");
}

static void cell_text(vyre_strbuf *html, const char *words) {
    vyre_strbuf_puts(html, "<td>");
    cli_bench_put_escaped(html, words);
    vyre_strbuf_puts(html, "</td>");
}

static void cell_size(vyre_strbuf *html, uint64_t size) {
    vyre_strbuf_puts(html, "<td class=\"n\">");
    if (size && !(size & (size - 1))) {
        uint32_t bits = 0;
        while (size >> (bits + 1)) {
            bits++;
        }
        vyre_strbuf_printf(html, "2<sup>%u</sup>", bits);
    } else {
        vyre_strbuf_u64(html, size);
    }
    vyre_strbuf_puts(html, "</td>");
}

/* The summary. */

static void put_tile(vyre_strbuf *html, const char *figure, const char *class, const char *words) {
    vyre_strbuf_printf(html, "<div class=\"tile\"><b class=\"%s\">", class);
    cli_bench_put_escaped(html, figure);
    vyre_strbuf_puts(html, "</b><span>");
    cli_bench_put_escaped(html, words);
    vyre_strbuf_puts(html, "</span></div>\n");
}

static void put_count(vyre_strbuf *html, size_t count, const char *class, const char *words) {
    vyre_strbuf figure = {0};
    vyre_strbuf_printf(&figure, "%zu", count);
    put_tile(html, vyre_strbuf_string(&figure), class, words);
    html->failed |= figure.failed;
    vyre_strbuf_free(&figure);
}

static size_t count_operations(const cli_bench *bench) {
    size_t count = 0;
    for (size_t i = 0; i < bench->rows.count; i++) {
        count +=
            !i || strcmp(bench->rows.items[i - 1].operation, bench->rows.items[i].operation) != 0;
    }
    return count;
}

static void put_summary(const cli_bench_report *report, vyre_strbuf *html) {
    const cli_bench *bench = report->bench;
    const cli_bench_figures *figures = report->figures;
    vyre_strbuf_puts(html, "<header><h1>vyre bench</h1>\n<p>");
    cli_bench_put_escaped(html, bench->machine);
    vyre_strbuf_printf(html, ", %u thread%s</p>\n<p class=\"soft\">vyre ", bench->threads,
                       bench->threads == 1 ? "" : "s");
    cli_bench_put_escaped(html, bench->version);
    vyre_strbuf_puts(html, ", <time>");
    cli_bench_put_escaped(html, bench->date);
    vyre_strbuf_printf(html, "</time>, at most %u runs and %.4g s a cell</p></header>\n",
                       bench->runs, (double)bench->budget_ns * 1e-9);
    vyre_strbuf_puts(html, "<div class=\"tiles\">\n");
    for (size_t i = 0; i < figures->summary_count; i++) {
        const cli_bench_summary *summary = &figures->summaries[i];
        if (summary->routed < CLI_BENCH_DEVICES && summary->routed_ratio > 0) {
            vyre_strbuf figure = {0}, words = {0};
            vyre_strbuf_printf(&figure, "%.3f\xc3\x97", summary->routed_ratio);
            vyre_strbuf_printf(&words, "time when routed, against %s alone, %s data",
                               bench->devices[summary->best_single].name, summary->data);
            put_tile(html, vyre_strbuf_string(&figure), summary->routed_ratio < 1 ? "good" : "",
                     vyre_strbuf_string(&words));
            html->failed |= figure.failed || words.failed;
            vyre_strbuf_free(&figure);
            vyre_strbuf_free(&words);
        }
    }
    put_count(html, count_operations(bench), "", "operations");
    put_count(html, figures->crossovers.count, "", "crossovers");
    put_count(html, figures->measured, "", "cells measured, all bytes equal");
    put_count(html, figures->skipped, "", "cells skipped");
    put_count(html, figures->mismatches, figures->mismatches ? "bad" : "",
              "cells with wrong bytes");
    if (figures->failed) {
        put_count(html, figures->failed, "bad", "cells failed");
    }
    vyre_strbuf_puts(html, "</div>\n");
}

static void put_devices(const cli_bench *bench, vyre_strbuf *html) {
    vyre_strbuf_puts(html, "<section id=\"devices\"><h2>Devices</h2>\n<div class=\"card\">");
    open_table(html, "device|hardware|#copy, host data|#copy, resident data|#arithmetic peak");
    for (size_t i = 0; i < bench->device_count; i++) {
        const cli_bench_device *device = &bench->devices[i];
        vyre_strbuf_puts(html, "<tr");
        attribute(html, "kind", "device");
        attribute(html, "device", device->name);
        attribute_number(html, "copy-host", device->ceiling.copy[VYRE_DATA_HOST]);
        attribute_number(html, "copy-resident", device->ceiling.copy[VYRE_DATA_RESIDENT]);
        attribute_number(html, "peak", device->ceiling.peak);
        vyre_strbuf_puts(html, "><td class=\"w\">");
        put_device(html, bench, i);
        vyre_strbuf_puts(html, "</td><td class=\"h\">");
        if (device->reason) {
            vyre_strbuf_puts(html, "<span class=\"bad\">unavailable:</span> ");
            cli_bench_put_escaped(html, device->reason);
        } else if (device->is_auto) {
            vyre_strbuf_puts(html, "what the router chooses by <code>");
            cli_bench_put_escaped(html, bench->table ? bench->table : "");
            vyre_strbuf_puts(html, "</code>");
        } else {
            cli_bench_put_escaped(html, device->hardware ? device->hardware : "");
        }
        vyre_strbuf_puts(html, "</td>");
        cell_rate(html, device->ceiling.copy[VYRE_DATA_HOST], "B/s");
        cell_rate(html, device->ceiling.copy[VYRE_DATA_RESIDENT], "B/s");
        cell_rate(html, device->ceiling.peak, "FLOP/s");
        vyre_strbuf_puts(html, "</tr>\n");
    }
    close_table(html);
    vyre_strbuf_puts(html,
                     "</div>\n<p class=\"soft\">Copies and arithmetic (chains of fma in f32) are "
                     "programs of vyre&rsquo;s own, measured in this run. A copy counts the bytes "
                     "read and those written.</p></section>\n");
}

static void put_means(const cli_bench_report *report, vyre_strbuf *html) {
    const cli_bench *bench = report->bench;
    vyre_strbuf_puts(
        html, "<section id=\"means\"><h2>Geometric means of time</h2>\n<p class=\"soft\">"
              "Relative to the best single device, over the rows that every device could run; "
              "below 1 is faster.</p>\n<div class=\"card\">");
    open_table(html, "data|device|#time|");
    for (size_t i = 0; i < report->figures->summary_count; i++) {
        const cli_bench_summary *summary = &report->figures->summaries[i];
        for (size_t k = 0; k < summary->mean_count; k++) {
            const cli_bench_mean *mean = &summary->means[k];
            vyre_strbuf_puts(html, "<tr");
            attribute(html, "kind", "mean");
            attribute(html, "data", summary->data);
            attribute(html, "device", bench->devices[mean->device].name);
            attribute_number(html, "ratio", mean->ratio);
            vyre_strbuf_puts(html, ">");
            cell_text(html, summary->data);
            vyre_strbuf_puts(html, "<td class=\"w\">");
            put_device(html, bench, mean->device);
            vyre_strbuf_printf(html, "</td><td class=\"n\">%.3f</td><td>", mean->ratio);
            if (mean->device == summary->best_single) {
                vyre_strbuf_printf(html, "the best single device; %zu of %zu rows", summary->rows,
                                   summary->total);
            } else if (mean->device == summary->routed) {
                vyre_strbuf_printf(html,
                                   "routed: clearly faster in %zu rows, clearly slower in %zu",
                                   summary->routed_faster, summary->routed_slower);
            }
            vyre_strbuf_puts(html, "</td></tr>\n");
        }
    }
    close_table(html);
    vyre_strbuf_puts(html, "</div></section>\n");
}

static void put_crossovers(const cli_bench_report *report, vyre_strbuf *html) {
    const cli_bench *bench = report->bench;
    vyre_strbuf_puts(html, "<section id=\"crossovers\"><h2>Crossovers</h2>\n");
    if (!report->figures->crossovers.count) {
        vyre_strbuf_puts(html,
                         "<p class=\"soft\">None: for each operation one device is the fastest "
                         "at all sizes.</p></section>\n");
        return;
    }
    vyre_strbuf_puts(html, "<p class=\"soft\">Sizes between which another device becomes the "
                           "fastest.</p>\n<div class=\"card\">");
    open_table(html, "operation|data|below|above|#from|#to|#about|");
    for (size_t i = 0; i < report->figures->crossovers.count; i++) {
        const cli_bench_crossover *crossover = &report->figures->crossovers.items[i];
        vyre_strbuf_puts(html, "<tr");
        attribute(html, "kind", "crossover");
        attribute(html, "operation", crossover->operation);
        attribute(html, "data", vyre_data_name(crossover->data));
        attribute(html, "before", bench->devices[crossover->before].name);
        attribute(html, "after", bench->devices[crossover->after].name);
        attribute_whole(html, "from", crossover->from_size);
        attribute_whole(html, "to", crossover->to_size);
        vyre_strbuf_puts(html, "><td><code>");
        cli_bench_put_escaped(html, crossover->operation);
        vyre_strbuf_puts(html, "</code></td>");
        cell_text(html, vyre_data_name(crossover->data));
        vyre_strbuf_puts(html, "<td class=\"w\">");
        put_device(html, bench, crossover->before);
        vyre_strbuf_puts(html, "</td><td class=\"w\">");
        put_device(html, bench, crossover->after);
        vyre_strbuf_puts(html, "</td>");
        cell_size(html, crossover->from_size);
        cell_size(html, crossover->to_size);
        vyre_strbuf_puts(html, "<td class=\"n\">");
        vyre_strbuf_printf(html, "%.0f", crossover->at_size);
        vyre_strbuf_printf(html, "</td><td>%s</td></tr>\n",
                           crossover->is_clear ? "" : "within the spread");
    }
    close_table(html);
    vyre_strbuf_puts(html, "</div></section>\n");
}

/* Operations. */

static void put_row(const cli_bench *bench, const cli_bench_row *row, size_t device,
                    vyre_strbuf *html) {
    const cli_bench_cell *cell = &row->cells[device];
    const cli_bench_rates rates = cli_bench_rates_of(bench, row, device);
    bool is_measured = cell->state == CLI_BENCH_MEASURED;
    vyre_strbuf_puts(html, "<tr");
    attribute(html, "kind", "cell");
    attribute(html, "operation", row->operation);
    attribute(html, "data", vyre_data_name(row->data));
    attribute_whole(html, "size", row->size);
    attribute(html, "device", bench->devices[device].name);
    attribute(html, "state", cli_bench_state_name(cell->state));
    attribute_whole(html, "runs", cell->host.runs);
    attribute_number(html, "best-ns", cell->host.best);
    attribute_number(html, "low-ns", cell->host.low);
    attribute_number(html, "median-ns", cell->host.median);
    attribute_number(html, "high-ns", cell->host.high);
    attribute_number(html, "device-median-ns", cell->device.median);
    attribute_number(html, "gb-per-s", rates.bytes * 1e-9);
    attribute_number(html, "gflop-per-s", rates.operations * 1e-9);
    attribute_number(html, "share-of-copy", rates.copy);
    vyre_strbuf_puts(html, ">");
    cell_text(html, vyre_data_name(row->data));
    cell_size(html, row->size);
    vyre_strbuf_puts(html, "<td class=\"w\">");
    put_device(html, bench, device);
    vyre_strbuf_puts(html, "</td>");
    cell_time(html, is_measured ? cell->host.median : 0);
    vyre_strbuf_puts(html, "<td class=\"n\">");
    if (is_measured) {
        cli_bench_put_time(html, cell->host.low);
        vyre_strbuf_puts(html, " \xe2\x80\x93 ");
        cli_bench_put_time(html, cell->host.high);
    }
    vyre_strbuf_puts(html, "</td>");
    cell_time(html, is_measured ? cell->host.best : 0);
    cell_time(html, is_measured ? cell->device.median : 0);
    cell_rate(html, rates.bytes, "B/s");
    cell_rate(html, rates.operations, "FLOP/s");
    vyre_strbuf_puts(html, "<td class=\"n\">");
    vyre_strbuf share = {0};
    cli_bench_put_share(&share, rates.copy);
    cli_bench_put_escaped(html, vyre_strbuf_string(&share));
    html->failed |= share.failed;
    vyre_strbuf_free(&share);
    vyre_strbuf_puts(html, "</td><td>");
    if (!is_measured) {
        vyre_strbuf_printf(html, "<span class=\"%s\">%s</span> ",
                           cell->state == CLI_BENCH_SKIPPED ? "" : "bad",
                           cli_bench_state_name(cell->state));
    } else if (cell->ran_on) {
        vyre_strbuf_puts(html, "on ");
        cli_bench_put_escaped(html, cell->ran_on);
        vyre_strbuf_puts(html, cell->note ? "; " : "");
    }
    cli_bench_put_escaped(html, cell->note ? cell->note : "");
    vyre_strbuf_puts(html, "</td></tr>\n");
}

static bool is_first_of(const cli_bench *bench, size_t index) {
    for (size_t i = 0; i < index; i++) {
        if (!strcmp(bench->rows.items[i].operation, bench->rows.items[index].operation)) {
            return false;
        }
    }
    return true;
}

static bool has_rows(const cli_bench *bench, const char *operation, vyre_data data) {
    bool has = false;
    for (size_t i = 0; i < bench->rows.count; i++) {
        const cli_bench_row *row = &bench->rows.items[i];
        has = has || (row->data == data && (!operation || !strcmp(row->operation, operation)));
    }
    return has;
}

static void put_operation(const cli_bench_report *report, const char *operation,
                          vyre_strbuf *html) {
    const cli_bench *bench = report->bench;
    vyre_strbuf_puts(html, "<article class=\"card\"><h3><code>");
    cli_bench_put_escaped(html, operation);
    vyre_strbuf_puts(html, "</code></h3>\n<div class=\"plots\">");
    for (vyre_data data = 0; data < CLI_BENCH_PLACES; data++) {
        if (has_rows(bench, operation, data)) {
            vyre_strbuf_printf(html, "<figure><figcaption>%s data</figcaption>\n",
                               vyre_data_name(data));
            cli_bench_plot_times(report, operation, data, html);
            vyre_strbuf_puts(html, "</figure>\n");
        }
    }
    vyre_strbuf_puts(html, "</div>\n<details><summary>All figures</summary>\n");
    open_table(html, "data|#size|device|#median|#quartiles|#best|#on the "
                     "device|#bytes|#arithmetic|#of copy|");
    for (vyre_data data = 0; data < CLI_BENCH_PLACES; data++) {
        for (size_t i = 0; i < bench->rows.count; i++) {
            const cli_bench_row *row = &bench->rows.items[i];
            for (size_t k = 0;
                 row->data == data && !strcmp(row->operation, operation) && k < bench->device_count;
                 k++) {
                if (!bench->devices[k].reason) {
                    put_row(bench, row, k, html);
                }
            }
        }
    }
    close_table(html);
    vyre_strbuf_puts(html, "</details></article>\n");
}

static void put_legend(const cli_bench *bench, bool with_auto, vyre_strbuf *html) {
    vyre_strbuf_puts(html, "<ul class=\"legend\">");
    for (size_t i = 0; i < bench->device_count; i++) {
        if (!bench->devices[i].reason && (with_auto || !bench->devices[i].is_auto)) {
            vyre_strbuf_puts(html, "<li>");
            put_device(html, bench, i);
            vyre_strbuf_puts(html, bench->devices[i].is_auto ? " (dashed)</li>" : "</li>");
        }
    }
    vyre_strbuf_puts(html, "</ul>\n");
}

static void put_operations(const cli_bench_report *report, vyre_strbuf *html) {
    const cli_bench *bench = report->bench;
    vyre_strbuf_puts(html,
                     "<section id=\"times\"><h2>Time by size</h2>\n<p class=\"soft\">Medians by "
                     "the host&rsquo;s clock, from call to result; bands are the quartiles, "
                     "rings the crossovers.</p>\n");
    put_legend(bench, true, html);
    for (size_t i = 0; i < bench->rows.count; i++) {
        if (is_first_of(bench, i)) {
            put_operation(report, bench->rows.items[i].operation, html);
        }
    }
    vyre_strbuf_puts(html, "</section>\n");
}

/* Rates of data that stays on the device, where there is any. */
static void put_rooflines(const cli_bench_report *report, vyre_strbuf *html) {
    const cli_bench *bench = report->bench;
    vyre_data data =
        has_rows(bench, NULL, VYRE_DATA_RESIDENT) ? VYRE_DATA_RESIDENT : VYRE_DATA_HOST;
    vyre_strbuf plots = {0};
    for (size_t i = 0; i < bench->device_count; i++) {
        vyre_strbuf plot = {0};
        if (!bench->devices[i].is_auto) {
            cli_bench_plot_roofline(report, i, data, &plot);
        }
        if (plot.size) {
            vyre_strbuf_puts(&plots, "<figure><figcaption>");
            put_device(&plots, bench, i);
            vyre_strbuf_printf(&plots, ", %s data</figcaption>\n%s</figure>\n",
                               vyre_data_name(data), vyre_strbuf_string(&plot));
        }
        plots.failed |= plot.failed;
        vyre_strbuf_free(&plot);
    }
    if (plots.size) {
        vyre_strbuf_printf(
            html,
            "<section id=\"roofline\"><h2>Roofline</h2>\n<p class=\"soft\">Operations "
            "that say how much they compute, at the largest size measured. The roof is "
            "what copies and arithmetic reached in this run; marks above it worked in "
            "caches.</p>\n<div class=\"plots cards\">%s</div></section>\n",
            vyre_strbuf_string(&plots));
    }
    html->failed |= plots.failed;
    vyre_strbuf_free(&plots);
}

static void put_shares(const cli_bench_report *report, vyre_strbuf *html) {
    const cli_bench *bench = report->bench;
    vyre_strbuf_puts(html, "<section id=\"shares\"><h2>Share of copy bandwidth</h2>\n<p "
                           "class=\"soft\">Bytes read and written a second, at the largest size "
                           "measured. ");
    vyre_strbuf_puts(html, cli_bench_copy_words);
    vyre_strbuf_puts(html, "</p>\n");
    put_legend(bench, false, html);
    vyre_strbuf_puts(html, "<div class=\"plots cards\">");
    for (vyre_data data = 0; data < CLI_BENCH_PLACES; data++) {
        if (has_rows(bench, NULL, data)) {
            vyre_strbuf_printf(html, "<figure><figcaption>%s data</figcaption>\n",
                               vyre_data_name(data));
            cli_bench_plot_shares(report, data, html);
            vyre_strbuf_puts(html, "</figure>\n");
        }
    }
    vyre_strbuf_puts(html, "</div></section>\n");
}

static void put_comparison(const cli_bench_report *report, vyre_strbuf *html) {
    const cli_bench_comparison *comparison = report->comparison;
    const cli_bench *bench = report->bench;
    if (!comparison) {
        return;
    }
    vyre_strbuf_puts(html, "<section id=\"comparison\"><h2>Compared with <code>");
    cli_bench_put_escaped(html, comparison->file);
    vyre_strbuf_printf(
        html,
        "</code></h2>\n<p class=\"soft\">%zu clearly faster, %zu clearly slower, %zu "
        "not there before. More than 1 is faster now.</p>\n<div class=\"card\">",
        comparison->faster, comparison->slower, comparison->missing);
    open_table(html, "operation|data|#size|device|#before|#now|#ratio|");
    for (size_t i = 0; i < comparison->changes.count; i++) {
        const cli_bench_change *change = &comparison->changes.items[i];
        vyre_strbuf_puts(html, "<tr");
        attribute(html, "kind", "change");
        attribute_number(html, "ratio", change->before / change->after);
        vyre_strbuf_puts(html, "><td><code>");
        cli_bench_put_escaped(html, change->row->operation);
        vyre_strbuf_puts(html, "</code></td>");
        cell_text(html, vyre_data_name(change->row->data));
        cell_size(html, change->row->size);
        vyre_strbuf_puts(html, "<td class=\"w\">");
        put_device(html, bench, change->device);
        vyre_strbuf_puts(html, "</td>");
        cell_time(html, change->before);
        cell_time(html, change->after);
        vyre_strbuf_printf(html, "<td class=\"n\">%.2f</td><td>%s</td></tr>\n",
                           change->before / change->after,
                           change->direction > 0   ? "<span class=\"good\">faster</span>"
                           : change->direction < 0 ? "<span class=\"bad\">slower</span>"
                                                   : "within the spread");
    }
    close_table(html);
    vyre_strbuf_puts(html, "</div></section>\n");
}

void cli_bench_html(const cli_bench_report *report, vyre_strbuf *html) {
    vyre_strbuf_puts(html,
                     "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "style-src 'unsafe-inline'\">\n<meta name=\"generator\" content=\"vyre ");
    cli_bench_put_escaped(html, report->bench->version);
    vyre_strbuf_puts(html, "\">\n<title>vyre bench</title>\n<style>\n");
    for (size_t i = 0; i < sizeof style / sizeof *style; i++) {
        vyre_strbuf_puts(html, style[i]);
    }
    /* The columns' colours: what is drawn and what is filled. */
    for (int i = 0; i < CLI_BENCH_DEVICES; i++) {
        vyre_strbuf_printf(
            html,
            "svg .mark.d%d,svg .band.d%d,svg .bar.d%d,svg .direct.d%d{fill:var(--d%d)}"
            "svg .curve.d%d{stroke:var(--d%d)}\n",
            i, i, i, i, i, i, i);
    }
    vyre_strbuf_puts(html, "</style>\n</head>\n<body>\n<main>\n");
    put_summary(report, html);
    put_devices(report->bench, html);
    put_means(report, html);
    put_comparison(report, html);
    put_crossovers(report, html);
    put_operations(report, html);
    put_rooflines(report, html);
    put_shares(report, html);
    vyre_strbuf_puts(html, "</main>\n</body>\n</html>\n");
}
