/* The plots of the page, as SVG. Colours and fonts come from the page's style: a device is class dN
 * by its column, and has a shape of its own for those who do not tell colours apart. Every mark
 * says its figures in data attributes and in a title. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "bench/bench.h"

enum { WIDTH = 440, HEIGHT = 300, LEFT = 58, RIGHT = 82, TOP = 30, BOTTOM = 44 };
enum { LABEL_GAP = 13, LABELS_MOST = 64 };

static const char *const shapes[CLI_BENCH_DEVICES] = {
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.6-3.6h7.2v7.2h-7.2z",
    "M0-4.6L4.6 3.4h-9.2z",
    "M0-5L5 0L0 5L-5 0z",
    "M0 4.6L4.6-3.4h-9.2z",
    "M-5-1.6h3.4V-5h3.2v3.4H5v3.2H1.6V5h-3.2V1.6H-5z",
    "M-5-3L-3-5L0-2L3-5L5-3L2 0L5 3L3 5L0 2L-3 5L-5 3L-2 0z",
    "M-5-2.5h10v5h-10z",
};

/* What auto chose lies upon the others: it is drawn without colour, and hollow. */
static const char *class_of(const cli_bench *bench, size_t device) {
    static const char *const classes[CLI_BENCH_DEVICES] = {"d0", "d1", "d2", "d3",
                                                           "d4", "d5", "d6", "d7"};
    return bench->devices[device].is_auto ? "auto" : classes[device];
}

void cli_bench_put_shape(const cli_bench *bench, size_t device, double x, double y,
                         vyre_strbuf *html) {
    vyre_strbuf_printf(html, "<path class=\"mark %s\" transform=\"translate(%.1f %.1f)\" d=\"%s\"",
                       class_of(bench, device), x, y, shapes[device]);
}

/* A logarithmic axis: which part of it lies where. */
typedef struct axis {
    double low, high; /* logarithms, base 10 */
    double from, to;  /* where they lie */
    bool is_set;
} axis;

static double place(const axis *a, double number) {
    return a->from + (a->to - a->from) * (log10(number) - a->low) / (a->high - a->low);
}

static void widen(axis *a, double number) {
    double here = log10(number);
    a->low = !a->is_set || here < a->low ? here : a->low;
    a->high = !a->is_set || here > a->high ? here : a->high;
    a->is_set = true;
}

/* Some room around the marks, and at least so many decades. */
static void loosen(axis *a, double by, double least) {
    double missing = least - (a->high - a->low);
    by += missing > 0 ? missing / 2 : 0;
    a->low -= by;
    a->high += by;
}

static void open_plot(vyre_strbuf *html, const char *kind, double height) {
    vyre_strbuf_printf(html,
                       "<svg class=\"plot\" data-plot=\"%s\" viewBox=\"0 0 %d %.0f\" role=\"img\" ",
                       kind, WIDTH, height);
}

static void put_line(vyre_strbuf *html, const char *class, double x1, double y1, double x2,
                     double y2) {
    vyre_strbuf_printf(html,
                       "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                       class, x1, y1, x2, y2);
}

static void put_label(vyre_strbuf *html, const char *class, double x, double y, const char *words) {
    vyre_strbuf_printf(html, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    cli_bench_put_escaped(html, words);
    vyre_strbuf_puts(html, "</text>\n");
}

/* "2" with a raised exponent. */
static void put_power(vyre_strbuf *html, const char *class, double x, double y, int base,
                      int power) {
    vyre_strbuf_printf(html,
                       "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%d<tspan class=\"up\" "
                       "dy=\"-4\">%d</tspan></text>\n",
                       class, x, y, base, power);
}

static void put_axis_names(vyre_strbuf *html, const char *x_name, const char *y_name) {
    put_label(html, "name middle", (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 6, x_name);
    put_label(html, "name", 4, 13, y_name);
}

/* Lines and labels at powers of 10, and between them where there are few. */
static void put_decades(vyre_strbuf *html, const axis *a, bool is_x,
                        void (*put)(vyre_strbuf *text, double number)) {
    static const double parts[] = {1, 2, 5};
    double decades = a->high - a->low;
    int every = decades > 9 ? 2 : 1;
    size_t part_count = decades < 2 ? 3 : 1;
    for (int decade = (int)floor(a->low); decade <= (int)ceil(a->high); decade++) {
        for (size_t i = 0; i < part_count; i++) {
            double number = pow(10, decade) * parts[i], at = place(a, number);
            if (log10(number) < a->low || log10(number) > a->high || decade % every != 0) {
                continue;
            }
            vyre_strbuf words = {0};
            put(&words, number);
            if (is_x) {
                put_line(html, "grid", at, TOP, at, HEIGHT - BOTTOM);
                put_label(html, "tick middle", at, HEIGHT - BOTTOM + 15,
                          vyre_strbuf_string(&words));
            } else {
                put_line(html, "grid", LEFT, at, WIDTH - RIGHT, at);
                put_label(html, "tick end", LEFT - 6, at + 4, vyre_strbuf_string(&words));
            }
            html->failed |= words.failed;
            vyre_strbuf_free(&words);
        }
    }
}

static void put_time_tick(vyre_strbuf *text, double ns) {
    static const char *const names[] = {"ns", "us", "ms", "s"};
    size_t i = 0;
    for (; i < 3 && ns > 999; i++) {
        ns /= 1000;
    }
    vyre_strbuf_printf(text, "%.4g %s", ns, names[i]);
}

static void put_number_tick(vyre_strbuf *text, double number) {
    static const char *const units[] = {"", "k", "M", "G"};
    size_t i = 0;
    for (; i < 3 && number > 9999; i++) {
        number /= 1000;
    }
    vyre_strbuf_printf(text, "%.4g%s", number, units[i]);
}

/* Labels beside one another, none over another. */
typedef struct label {
    double x, y, wanted;
    size_t device;
    const char *words;
} label;

typedef struct labels {
    label items[LABELS_MOST];
    size_t count;
} labels;

static void add_label(labels *list, double x, double y, size_t device, const char *words) {
    if (list->count < LABELS_MOST) {
        list->items[list->count++] = (label){x, y, y, device, words};
    }
}

static int by_height(const void *a, const void *b) {
    double left = ((const label *)a)->y, right = ((const label *)b)->y;
    return left < right ? -1 : left > right;
}

/* Moves them apart, downwards, and up again where they leave the plot. */
static void spread_labels(labels *list, double top, double bottom) {
    qsort(list->items, list->count, sizeof *list->items, by_height);
    double least = top;
    for (size_t i = 0; i < list->count; i++) {
        label *l = &list->items[i];
        l->y = l->y < least ? least : l->y;
        least = l->y + LABEL_GAP;
    }
    double most = bottom;
    for (size_t i = list->count; i-- > 0;) {
        label *l = &list->items[i];
        l->y = l->y > most ? most : l->y;
        most = l->y - LABEL_GAP;
    }
}

static bool is_measured(const cli_bench_cell *cell) {
    return cell->state == CLI_BENCH_MEASURED && cell->host.runs;
}

/* Time by size. */

typedef struct curves {
    const cli_bench_report *report;
    const char *operation;
    vyre_data data;
    axis x, y;
} curves;

static bool is_of(const curves *c, const cli_bench_row *row) {
    return row->data == c->data && !strcmp(row->operation, c->operation);
}

/* At the sizes that were measured, as many of them as there is room for. */
static void put_size_ticks(const curves *c, vyre_strbuf *html) {
    enum { MOST = 7 };
    const cli_bench *bench = c->report->bench;
    size_t count = 0, number = 0;
    for (size_t i = 0; i < bench->rows.count; i++) {
        count += is_of(c, &bench->rows.items[i]);
    }
    size_t every = (count + MOST - 1) / MOST;
    for (size_t i = 0; i < bench->rows.count; i++) {
        const cli_bench_row *row = &bench->rows.items[i];
        double at = place(&c->x, (double)row->size);
        if (!is_of(c, row) || number++ % every != 0 || at < c->x.from || at > c->x.to) {
            continue;
        }
        put_line(html, "grid", at, TOP, at, HEIGHT - BOTTOM);
        if (row->size & (row->size - 1)) {
            vyre_strbuf words = {0};
            vyre_strbuf_printf(&words, "%.3g", (double)row->size);
            put_label(html, "tick middle", at, HEIGHT - BOTTOM + 16, vyre_strbuf_string(&words));
            html->failed |= words.failed;
            vyre_strbuf_free(&words);
        } else {
            put_power(html, "tick middle", at, HEIGHT - BOTTOM + 16, 2,
                      (int)lround(log2((double)row->size)));
        }
    }
}

/* The quartiles as a band, then the medians as a line. */
static void put_curve(const curves *c, size_t device, vyre_strbuf *html) {
    const cli_bench *bench = c->report->bench;
    vyre_strbuf band = {0}, back = {0}, line = {0};
    size_t count = 0;
    for (size_t i = 0; i < bench->rows.count; i++) {
        const cli_bench_row *row = &bench->rows.items[i];
        const cli_bench_cell *cell = &row->cells[device];
        if (is_of(c, row) && is_measured(cell)) {
            double x = place(&c->x, (double)row->size);
            vyre_strbuf_printf(&line, "%s%.1f %.1f", count ? "L" : "M", x,
                               place(&c->y, cell->host.median));
            vyre_strbuf_printf(&band, "%s%.1f %.1f", count++ ? "L" : "M", x,
                               place(&c->y, cell->host.high));
        }
    }
    for (size_t i = bench->rows.count; i-- > 0;) {
        const cli_bench_row *row = &bench->rows.items[i];
        const cli_bench_cell *cell = &row->cells[device];
        if (is_of(c, row) && is_measured(cell)) {
            vyre_strbuf_printf(&back, "L%.1f %.1f", place(&c->x, (double)row->size),
                               place(&c->y, cell->host.low));
        }
    }
    if (count > 1) {
        vyre_strbuf_printf(html, "<path class=\"band %s\" d=\"%s%sz\"/>\n", class_of(bench, device),
                           vyre_strbuf_string(&band), vyre_strbuf_string(&back));
        vyre_strbuf_printf(html, "<path class=\"curve %s\" d=\"%s\"/>\n", class_of(bench, device),
                           vyre_strbuf_string(&line));
    }
    html->failed |= band.failed || back.failed || line.failed;
    vyre_strbuf_free(&band);
    vyre_strbuf_free(&back);
    vyre_strbuf_free(&line);
}

static void put_curve_marks(const curves *c, size_t device, labels *ends, vyre_strbuf *html) {
    const cli_bench *bench = c->report->bench;
    const cli_bench_row *last = NULL;
    for (size_t i = 0; i < bench->rows.count; i++) {
        const cli_bench_row *row = &bench->rows.items[i];
        const cli_bench_cell *cell = &row->cells[device];
        if (!is_of(c, row) || !is_measured(cell)) {
            continue;
        }
        cli_bench_put_shape(bench, device, place(&c->x, (double)row->size),
                            place(&c->y, cell->host.median), html);
        vyre_strbuf_printf(html, " data-size=\"%llu\" data-median-ns=\"",
                           (unsigned long long)row->size);
        cli_bench_put_exact(html, cell->host.median);
        vyre_strbuf_puts(html, "\"><title>");
        cli_bench_put_escaped(html, bench->devices[device].name);
        if (cell->ran_on) {
            vyre_strbuf_puts(html, " on ");
            cli_bench_put_escaped(html, cell->ran_on);
        }
        vyre_strbuf_puts(html, ", ");
        cli_bench_put_size(html, row->size);
        vyre_strbuf_puts(html, ": ");
        vyre_units_time(html, cell->host.median);
        vyre_strbuf_puts(html, " (");
        vyre_units_time(html, cell->host.low);
        vyre_strbuf_puts(html, " to ");
        vyre_units_time(html, cell->host.high);
        vyre_strbuf_puts(html, ")</title></path>\n");
        last = row;
    }
    if (last) {
        add_label(ends, place(&c->x, (double)last->size) + 9,
                  place(&c->y, last->cells[device].host.median) + 4, device,
                  bench->devices[device].name);
    }
}

static void put_crossover_marks(const curves *c, vyre_strbuf *html) {
    const cli_bench_figures *figures = c->report->figures;
    size_t count = 0;
    for (size_t i = 0; i < figures->crossovers.count; i++) {
        const cli_bench_crossover *crossover = &figures->crossovers.items[i];
        if (crossover->data != c->data || strcmp(crossover->operation, c->operation) != 0) {
            continue;
        }
        double x = place(&c->x, crossover->at_size);
        vyre_strbuf words = {0};
        vyre_strbuf_printf(&words, "\xe2\x86\x92 %s",
                           c->report->bench->devices[crossover->after].name);
        vyre_strbuf_printf(html, "<g class=\"crossover\" data-from=\"%llu\" data-to=\"%llu\">\n",
                           (unsigned long long)crossover->from_size,
                           (unsigned long long)crossover->to_size);
        put_line(html, "cross", x, TOP, x, HEIGHT - BOTTOM);
        vyre_strbuf_printf(html, "<circle class=\"ring\" cx=\"%.1f\" cy=\"%.1f\" r=\"7\"/>\n", x,
                           place(&c->y, crossover->at_ns));
        bool is_late = x > WIDTH - RIGHT - 50;
        put_label(html, is_late ? "note end" : "note", x + (is_late ? -4 : 4),
                  TOP + 11 + 13 * (double)(count++ % 3), vyre_strbuf_string(&words));
        vyre_strbuf_puts(html, "</g>\n");
        html->failed |= words.failed;
        vyre_strbuf_free(&words);
    }
}

static void put_end_labels(const cli_bench *bench, labels *list, vyre_strbuf *html) {
    spread_labels(list, TOP + 4, HEIGHT - BOTTOM);
    for (size_t i = 0; i < list->count; i++) {
        const label *l = &list->items[i];
        vyre_strbuf name = {0};
        vyre_strbuf_printf(&name, "direct %s", class_of(bench, l->device));
        put_label(html, vyre_strbuf_string(&name), l->x, l->y, l->words);
        html->failed |= name.failed;
        vyre_strbuf_free(&name);
    }
}

void cli_bench_plot_times(const cli_bench_report *report, const char *operation, vyre_data data,
                          vyre_strbuf *html) {
    const cli_bench *bench = report->bench;
    curves c = {.report = report, .operation = operation, .data = data};
    labels ends = {.count = 0};
    c.x.from = LEFT, c.x.to = WIDTH - RIGHT;
    c.y.from = HEIGHT - BOTTOM, c.y.to = TOP;
    for (size_t i = 0; i < bench->rows.count; i++) {
        const cli_bench_row *row = &bench->rows.items[i];
        for (size_t k = 0; is_of(&c, row) && k < bench->device_count; k++) {
            if (is_measured(&row->cells[k])) {
                widen(&c.x, (double)row->size);
                widen(&c.y, row->cells[k].host.low);
                widen(&c.y, row->cells[k].host.high);
            }
        }
    }
    if (!c.x.is_set) {
        return;
    }
    loosen(&c.x, 0.08, 0.6);
    loosen(&c.y, 0.1, 1);
    open_plot(html, "times", HEIGHT);
    vyre_strbuf_puts(html, "data-operation=\"");
    cli_bench_put_escaped(html, operation);
    vyre_strbuf_printf(html, "\" data-data=\"%s\" aria-label=\"Time by size of ",
                       vyre_data_name(data));
    cli_bench_put_escaped(html, operation);
    vyre_strbuf_printf(html, " with %s data\">\n", vyre_data_name(data));
    put_size_ticks(&c, html);
    put_decades(html, &c.y, false, put_time_tick);
    put_axis_names(html, "size, elements", "median time");
    for (size_t k = 0; k < bench->device_count; k++) {
        put_curve(&c, k, html);
    }
    put_crossover_marks(&c, html);
    for (size_t k = 0; k < bench->device_count; k++) {
        put_curve_marks(&c, k, &ends, html);
    }
    put_end_labels(bench, &ends, html);
    vyre_strbuf_puts(html, "</svg>\n");
}

/* Largest sizes: what rooflines and shares show. */

static const cli_bench_row *largest(const cli_bench *bench, const char *operation, vyre_data data,
                                    size_t device) {
    const cli_bench_row *found = NULL;
    for (size_t i = 0; i < bench->rows.count; i++) {
        const cli_bench_row *row = &bench->rows.items[i];
        if (row->data == data && !strcmp(row->operation, operation) &&
            is_measured(&row->cells[device]) && (!found || row->size > found->size)) {
            found = row;
        }
    }
    return found;
}

static const char *short_name(const char *operation) {
    const char *point = strrchr(operation, '.');
    return point ? point + 1 : operation;
}

/* Roofline: arithmetic a byte against the rate, under what the device reaches by measured copies
 * and arithmetic. */

static void put_roof(const cli_bench_ceiling *ceiling, vyre_data data, const axis *x, const axis *y,
                     vyre_strbuf *html) {
    double copy = ceiling->copy[data], peak = ceiling->peak;
    double left = pow(10, x->low), right = pow(10, x->high);
    double knee = peak > 0 && copy > 0 ? peak / copy : right;
    vyre_strbuf words = {0};
    if (copy > 0) {
        double top = pow(10, y->high) / copy;
        double end = knee < right ? knee : right;
        end = end < top ? end : top;
        put_line(html, "roof", place(x, left), place(y, left * copy), place(x, end),
                 place(y, end * copy));
        double slope =
            (place(y, end * copy) - place(y, left * copy)) / (place(x, end) - place(x, left));
        vyre_strbuf_puts(&words, "copy ");
        vyre_units_rate(&words, copy, "B/s");
        double at = place(x, left) * 0.45 + place(x, end) * 0.55;
        double height = place(y, left * copy) + slope * (at - place(x, left));
        vyre_strbuf_printf(
            html,
            "<text class=\"note\" x=\"%.1f\" y=\"%.1f\" transform=\"rotate(%.1f %.1f "
            "%.1f)\">%s</text>\n",
            at, height - 6, atan(slope) * 57.29578, at, height - 6, vyre_strbuf_string(&words));
    }
    if (peak > 0) {
        double start = knee > left && copy > 0 ? knee : left;
        put_line(html, "roof", place(x, start), place(y, peak), place(x, right), place(y, peak));
        vyre_strbuf_cut(&words, 0);
        vyre_strbuf_puts(&words, "fma ");
        vyre_units_rate(&words, peak, "FLOP/s");
        put_label(html, "note end", place(x, right) - 2, place(y, peak) - 6,
                  vyre_strbuf_string(&words));
    }
    html->failed |= words.failed;
    vyre_strbuf_free(&words);
}

/* An operation at the largest size at which it has a rate on the device. */
typedef struct point_of {
    const cli_bench_row *row;
    double intensity, rate;
} point_of;

static size_t collect_points(const cli_bench *bench, size_t device, vyre_data data,
                             point_of *points) {
    size_t count = 0;
    for (size_t i = 0; i < bench->rows.count && count < LABELS_MOST; i++) {
        const cli_bench_row *row = &bench->rows.items[i];
        if (row->data == data && row->work > 0 && row->bytes &&
            row == largest(bench, row->operation, data, device)) {
            points[count++] = (point_of){row, row->work / (double)row->bytes,
                                         cli_bench_rates_of(bench, row, device).operations};
        }
    }
    return count;
}

static void put_points(const cli_bench *bench, size_t device, const point_of *points, size_t count,
                       const axis *x, const axis *y, vyre_strbuf *html) {
    labels list = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        const point_of *p = &points[i];
        double at = place(x, p->intensity), height = place(y, p->rate);
        cli_bench_put_shape(bench, device, at, height, html);
        vyre_strbuf_puts(html, " data-operation=\"");
        cli_bench_put_escaped(html, p->row->operation);
        vyre_strbuf_puts(html, "\" data-intensity=\"");
        cli_bench_put_exact(html, p->intensity);
        vyre_strbuf_puts(html, "\" data-gflop-per-s=\"");
        cli_bench_put_exact(html, p->rate * 1e-9);
        vyre_strbuf_puts(html, "\"><title>");
        cli_bench_put_escaped(html, p->row->operation);
        vyre_strbuf_puts(html, ", ");
        cli_bench_put_size(html, p->row->size);
        vyre_strbuf_printf(html, ": %.3g FLOP a byte, ", p->intensity);
        vyre_units_rate(html, p->rate, "FLOP/s");
        vyre_strbuf_puts(html, " on ");
        cli_bench_put_escaped(html, bench->devices[device].name);
        vyre_strbuf_puts(html, "</title></path>\n");
        add_label(&list, at + 8, height + 4, device, short_name(p->row->operation));
    }
    spread_labels(&list, TOP + 4, HEIGHT - BOTTOM - 2);
    for (size_t i = 0; i < list.count; i++) {
        const label *l = &list.items[i];
        double apart = l->y - l->wanted;
        if (apart > 5 || apart < -5) {
            put_line(html, "leader", l->x - 5, l->wanted - 4, l->x - 1, l->y - 4);
        }
        put_label(html, "point", l->x, l->y, l->words);
    }
}

void cli_bench_plot_roofline(const cli_bench_report *report, size_t device, vyre_data data,
                             vyre_strbuf *html) {
    const cli_bench *bench = report->bench;
    const cli_bench_ceiling *ceiling = &bench->devices[device].ceiling;
    point_of points[LABELS_MOST];
    size_t count = collect_points(bench, device, data, points);
    axis x = {.from = LEFT, .to = WIDTH - RIGHT}, y = {.from = HEIGHT - BOTTOM, .to = TOP};
    if (!count) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        widen(&x, points[i].intensity);
        widen(&y, points[i].rate * 1e-9);
    }
    if (ceiling->peak > 0 && ceiling->copy[data] > 0) {
        widen(&x, ceiling->peak / ceiling->copy[data]); /* where the roof bends */
    }
    loosen(&x, 0.25, 2);
    if (ceiling->peak > 0) {
        widen(&y, ceiling->peak * 1e-9);
    }
    if (ceiling->copy[data] > 0) {
        widen(&y, pow(10, x.low) * ceiling->copy[data] * 1e-9);
    }
    loosen(&y, 0.2, 2);
    open_plot(html, "roofline", HEIGHT);
    vyre_strbuf_puts(html, "data-device=\"");
    cli_bench_put_escaped(html, bench->devices[device].name);
    vyre_strbuf_printf(html, "\" data-data=\"%s\" aria-label=\"Roofline of ", vyre_data_name(data));
    cli_bench_put_escaped(html, bench->devices[device].name);
    vyre_strbuf_puts(html, "\">\n");
    put_decades(html, &x, true, put_number_tick);
    put_decades(html, &y, false, put_number_tick);
    put_axis_names(html, "arithmetic intensity, FLOP a byte", "GFLOP/s");
    axis in_units = y; /* the roof is in operations a second */
    in_units.low += 9;
    in_units.high += 9;
    put_roof(ceiling, data, &x, &in_units, html);
    put_points(bench, device, points, count, &x, &in_units, html);
    vyre_strbuf_puts(html, "</svg>\n");
}

/* Shares of the copy's rate, as bars. */

enum { BAR = 13, BAR_GAP = 8, BAR_LEFT = 128, BAR_RIGHT = 52, BAR_TOP = 8, BAR_BOTTOM = 38 };

static bool is_first_of(const cli_bench *bench, size_t index, vyre_data data) {
    const cli_bench_row *row = &bench->rows.items[index];
    bool is_first = row->data == data;
    for (size_t i = 0; i < index && is_first; i++) {
        is_first = bench->rows.items[i].data != data ||
                   strcmp(bench->rows.items[i].operation, row->operation) != 0;
    }
    return is_first;
}

static double share_of(const cli_bench *bench, const char *operation, vyre_data data, size_t device,
                       const cli_bench_row **out_row) {
    *out_row = bench->devices[device].is_auto ? NULL : largest(bench, operation, data, device);
    return *out_row ? cli_bench_rates_of(bench, *out_row, device).copy : 0;
}

static void put_bar(const cli_bench *bench, size_t device, const cli_bench_row *row, double share,
                    double most, double y, vyre_strbuf *html) {
    double whole = WIDTH - BAR_LEFT - BAR_RIGHT;
    double width = whole * (share < most ? share : most) / most;
    vyre_strbuf_printf(html,
                       "<rect class=\"bar %s\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" "
                       "data-operation=\"",
                       class_of(bench, device), BAR_LEFT, y, width, BAR - 2);
    cli_bench_put_escaped(html, row->operation);
    vyre_strbuf_puts(html, "\" data-device=\"");
    cli_bench_put_escaped(html, bench->devices[device].name);
    vyre_strbuf_printf(html, "\" data-size=\"%llu\" data-share=\"", (unsigned long long)row->size);
    cli_bench_put_exact(html, share);
    vyre_strbuf_puts(html, "\"><title>");
    cli_bench_put_escaped(html, row->operation);
    vyre_strbuf_puts(html, ", ");
    cli_bench_put_size(html, row->size);
    vyre_strbuf_puts(html, ", ");
    cli_bench_put_escaped(html, bench->devices[device].name);
    vyre_strbuf_printf(html, ": %.1f %% of the copy</title></rect>\n", share * 100);
    vyre_strbuf words = {0};
    vyre_strbuf_puts(&words, share > most ? "\xe2\x80\xba " : "");
    cli_bench_put_share(&words, share);
    put_label(html, "value", BAR_LEFT + width + 4, y + BAR - 3.5, vyre_strbuf_string(&words));
    html->failed |= words.failed;
    vyre_strbuf_free(&words);
}

void cli_bench_plot_shares(const cli_bench_report *report, vyre_data data, vyre_strbuf *html) {
    const cli_bench *bench = report->bench;
    const double cap = 2;
    double most = 1.05, height = BAR_TOP;
    const cli_bench_row *row;
    for (size_t i = 0; i < bench->rows.count; i++) {
        size_t bars = 0;
        for (size_t k = 0; is_first_of(bench, i, data) && k < bench->device_count; k++) {
            double share = share_of(bench, bench->rows.items[i].operation, data, k, &row);
            bars += share > 0;
            most = share > most ? share : most;
        }
        height += bars ? (double)bars * BAR + BAR_GAP : 0;
    }
    if (height <= BAR_TOP) {
        return;
    }
    most = most < cap ? most : cap;
    double bottom = height;
    open_plot(html, "shares", height + BAR_BOTTOM);
    vyre_strbuf_printf(html, "data-data=\"%s\" aria-label=\"Share of copy bandwidth, %s data\">\n",
                       vyre_data_name(data), vyre_data_name(data));
    double whole = WIDTH - BAR_LEFT - BAR_RIGHT;
    for (int percent = 0; percent <= most * 100; percent += most > 1.3 ? 50 : 25) {
        double x = BAR_LEFT + whole * percent / (most * 100);
        vyre_strbuf words = {0};
        vyre_strbuf_printf(&words, "%d %%", percent);
        put_line(html, percent == 100 ? "roof" : "grid", x, BAR_TOP, x, bottom);
        put_label(html, "tick middle", x, bottom + 15, vyre_strbuf_string(&words));
        html->failed |= words.failed;
        vyre_strbuf_free(&words);
    }
    put_label(html, "name middle", BAR_LEFT + whole / 2, bottom + 32, "share of copy bandwidth");
    double y = BAR_TOP + BAR_GAP / 2.0;
    for (size_t i = 0; i < bench->rows.count; i++) {
        const char *operation = bench->rows.items[i].operation;
        double start = y;
        for (size_t k = 0; is_first_of(bench, i, data) && k < bench->device_count; k++) {
            double share = share_of(bench, operation, data, k, &row);
            if (share > 0) {
                put_bar(bench, k, row, share, most, y, html);
                y += BAR;
            }
        }
        if (y > start) {
            put_label(html, "tick end", BAR_LEFT - 6, (start + y) / 2 + 3, short_name(operation));
            y += BAR_GAP;
        }
    }
    vyre_strbuf_puts(html, "</svg>\n");
}
