/* A run that `vyre bench --format json` wrote. */
#include <string.h>

#include "base/file.h"
#include "base/json_read.h"
#include "base/status.h"
#include "bench/bench.h"

typedef struct source {
    const char *path;
    const char *what; /* is being read */
    size_t number;    /* which of them */
} source;

static vyre_status wrong(const source *s, const char *key, const char *how) {
    return vyre_status_make(VYRE_STATUS_MALFORMED, "give what `vyre bench --format json` wrote",
                            "%s is no saved benchmark: in %s %zu `%s` %s", s->path, s->what,
                            s->number, key, how);
}

static vyre_status no_memory(const source *s) {
    return vyre_no_memory("to read %s", s->path);
}

static vyre_status take(const source *s, const vyre_json_value *from, const char *key,
                        vyre_json_type type, const vyre_json_value **out) {
    *out = vyre_json_find(from, key);
    return !*out                  ? wrong(s, key, "is missing")
           : (*out)->type != type ? wrong(s, key, "is of another type")
                                  : VYRE_OK;
}

/* A copy; a null is NULL where that is allowed. What would move a terminal's cursor is refused. */
static vyre_status take_text(const source *s, const vyre_json_value *from, const char *key,
                             bool is_optional, char **out) {
    const vyre_json_value *value = vyre_json_find(from, key);
    if (is_optional && (!value || value->type == VYRE_JSON_NULL)) {
        return VYRE_OK;
    }
    VYRE_TRY(take(s, from, key, VYRE_JSON_STRING, &value));
    for (size_t i = 0; i < value->string.size; i++) {
        unsigned char c = (unsigned char)value->string.data[i];
        if (c < 0x20 || c == 0x7f) {
            return wrong(s, key, "has a control character in it");
        }
    }
    vyre_strbuf copy = {0};
    vyre_strbuf_add(&copy, value->string.data, value->string.size);
    vyre_strbuf_puts(&copy, "");
    if (!copy.data && !copy.failed) {
        vyre_strbuf_repeat(&copy, ' ', 1);
        vyre_strbuf_cut(&copy, 0);
    }
    *out = copy.data;
    return copy.failed || !copy.data ? no_memory(s) : VYRE_OK;
}

/* A number from 0 on; null, where that is allowed, is 0. */
static vyre_status take_number(const source *s, const vyre_json_value *from, const char *key,
                               bool is_optional, double *out) {
    const vyre_json_value *value = vyre_json_find(from, key);
    *out = 0;
    if (is_optional && (!value || value->type == VYRE_JSON_NULL)) {
        return VYRE_OK;
    }
    vyre_status status = take(s, from, key, VYRE_JSON_NUMBER, &value);
    if (!status && !(value->number >= 0 && value->number < 1e18)) {
        status = wrong(s, key, "is no number from 0 to 1e18");
    }
    *out = status ? 0 : value->number;
    return status;
}

static vyre_status take_whole(const source *s, const vyre_json_value *from, const char *key,
                              double most, uint64_t *out) {
    double number;
    vyre_status status = take_number(s, from, key, false, &number);
    if (!status && (number > most || number != (double)(uint64_t)number)) {
        status = wrong(s, key, "is no whole number, or too large a one");
    }
    *out = status ? 0 : (uint64_t)number;
    return status;
}

static vyre_status take_bool(const source *s, const vyre_json_value *from, const char *key,
                             bool *out) {
    const vyre_json_value *value;
    vyre_status status = take(s, from, key, VYRE_JSON_BOOL, &value);
    *out = !status && value->boolean;
    return status;
}

static vyre_status read_times(const source *s, const vyre_json_value *from, const char *key,
                              bench_times *out) {
    const vyre_json_value *value = vyre_json_find(from, key);
    if (!value || value->type == VYRE_JSON_NULL) {
        return VYRE_OK;
    }
    uint64_t runs = 0;
    vyre_status status = take(s, from, key, VYRE_JSON_OBJECT, &value);
    const struct {
        const char *key;
        double *out;
    } numbers[] = {{"best_ns", &out->best},
                   {"low_ns", &out->low},
                   {"median_ns", &out->median},
                   {"high_ns", &out->high}};
    status = status ? status : take_whole(s, value, "runs", UINT32_MAX, &runs);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !status; i++) {
        status = take_number(s, value, numbers[i].key, false, numbers[i].out);
    }
    out->runs = (uint32_t)runs;
    bool is_ordered = out->best > 0 && out->best <= out->low && out->low <= out->median &&
                      out->median <= out->high && runs;
    return status || is_ordered ? status : wrong(s, key, "has times that are in no order");
}

static vyre_status read_cell(const source *s, const vyre_json_value *from, const char *device,
                             bench_cell *out) {
    char *name = NULL, *state = NULL;
    vyre_status status = take_text(s, from, "device", false, &name);
    if (!status && strcmp(name, device) != 0) {
        status = wrong(s, "device", "is not the one that stands at this place under `devices`");
    }
    status = status ? status : take_text(s, from, "state", false, &state);
    bool is_known = false;
    for (bench_state i = 0; i <= BENCH_FAILED && !status; i++) {
        if (!strcmp(state, bench_state_name(i))) {
            out->state = i;
            is_known = true;
        }
    }
    if (!status && !is_known) {
        status = wrong(s, "state", "is none that there is");
    }
    status = status ? status : take_text(s, from, "note", true, &out->note);
    status = status ? status : take_text(s, from, "ran_on", true, &out->ran_on);
    status = status ? status : read_times(s, from, "host", &out->host);
    status = status ? status : read_times(s, from, "on_device", &out->device);
    if (!status && out->state == BENCH_MEASURED && !out->host.runs) {
        status = wrong(s, "host", "is missing in what was measured");
    }
    vyre_free(name);
    vyre_free(state);
    return status;
}

static vyre_status read_row(const source *s, const vyre_json_value *from, bench_run *bench) {
    bench_row row = {0};
    char *data = NULL;
    const vyre_json_value *cells = NULL;
    if (!vyre_vec_push(&bench->rows, row)) {
        return no_memory(s);
    }
    bench_row *out = &bench->rows.items[bench->rows.count - 1];
    vyre_status status = take_text(s, from, "operation", false, &out->operation);
    status = status ? status : take_text(s, from, "data", false, &data);
    status = status ? status : take_whole(s, from, "size", 1e15, &out->size);
    status = status ? status : take_whole(s, from, "bytes", 1e17, &out->bytes);
    status = status ? status : take_number(s, from, "work", true, &out->work);
    status = status ? status : take_bool(s, from, "oracle", &out->by_oracle);
    if (!status && !out->size) {
        status = wrong(s, "size", "is 0");
    }
    bool is_known = false;
    for (vyre_data i = 0; i < BENCH_PLACES && !status; i++) {
        if (!strcmp(data, vyre_data_name(i))) {
            out->data = i;
            is_known = true;
        }
    }
    if (!status && !is_known) {
        status = wrong(s, "data", "is no place of data");
    }
    status = status ? status : take(s, from, "cells", VYRE_JSON_ARRAY, &cells);
    if (!status && cells->count != bench->device_count) {
        status = wrong(s, "cells", "has not one cell for each device");
    }
    size_t k = 0;
    for (const vyre_json_value *cell = status ? NULL : cells->first; cell && !status;
         cell = cell->next, k++) {
        status = read_cell(s, cell, bench->devices[k].name, &out->cells[k]);
    }
    vyre_free(data);
    return status;
}

static vyre_status read_device(const source *s, const vyre_json_value *from, bench_run *bench) {
    bench_device *out = &bench->devices[bench->device_count++];
    double bytes = 0;
    vyre_status status = take_text(s, from, "name", false, &out->name);
    status = status ? status : take_bool(s, from, "auto", &out->is_auto);
    status = status ? status : take_text(s, from, "hardware", true, &out->hardware);
    status = status ? status : take_text(s, from, "unavailable", true, &out->reason);
    status = status ? status
                    : take_number(s, from, "copy_host_bytes_per_s", true,
                                  &out->ceiling.copy[VYRE_DATA_HOST]);
    status = status ? status
                    : take_number(s, from, "copy_resident_bytes_per_s", true,
                                  &out->ceiling.copy[VYRE_DATA_RESIDENT]);
    status = status ? status : take_number(s, from, "copy_bytes", true, &bytes);
    status =
        status ? status : take_number(s, from, "peak_operations_per_s", true, &out->ceiling.peak);
    out->ceiling.copy_bytes = (uint64_t)bytes;
    return status;
}

static vyre_status read_all(source *s, const vyre_json_value *root, bench_run *out) {
    const vyre_json_value *devices = NULL, *rows = NULL;
    uint64_t threads = 0, runs = 0;
    double budget = 0;
    vyre_status status = take_text(s, root, "vyre", false, &out->version);
    status = status ? status : take_text(s, root, "date", false, &out->date);
    status = status ? status : take_text(s, root, "machine", false, &out->machine);
    status = status ? status : take_whole(s, root, "threads", 1e6, &threads);
    status = status ? status : take_text(s, root, "table", true, &out->table);
    status = status ? status : take_number(s, root, "budget_s", false, &budget);
    status = status ? status : take_whole(s, root, "runs", UINT32_MAX, &runs);
    status = status ? status : take(s, root, "devices", VYRE_JSON_ARRAY, &devices);
    status = status ? status : take(s, root, "rows", VYRE_JSON_ARRAY, &rows);
    if (!status && devices->count > BENCH_DEVICES) {
        status = wrong(s, "devices", "has too many of them");
    }
    out->threads = (uint32_t)threads;
    out->runs = (uint32_t)runs;
    out->budget_ns = (uint64_t)((budget < 1e9 ? budget : 1e9) * 1e9);
    s->what = "device";
    s->number = 0;
    for (const vyre_json_value *i = status ? NULL : devices->first; i && !status; i = i->next) {
        s->number++;
        status = read_device(s, i, out);
    }
    s->what = "row";
    s->number = 0;
    for (const vyre_json_value *i = status ? NULL : rows->first; i && !status; i = i->next) {
        s->number++;
        status = read_row(s, i, out);
    }
    return status;
}

vyre_status bench_run_read(const char *path, bench_run *out) {
    vyre_strbuf contents = {0};
    vyre_json_document *document = NULL;
    source s = {.path = path, .what = "document", .number = 1};
    *out = (bench_run){0};
    vyre_status status = vyre_file_read(path, VYRE_JSON_MAX_BYTES, &contents);
    status = status ? status : vyre_json_read(path, contents.data, contents.size, &document);
    status = status ? status : read_all(&s, vyre_json_root(document), out);
    vyre_json_free(document);
    vyre_strbuf_free(&contents);
    if (status) {
        bench_run_deinit(out);
    }
    return status;
}
