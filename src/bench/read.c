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
    return vyre_status_make(VYRE_STATUS_MALFORMED,
                            "give a file that `vyre bench --format json` "
                            "wrote",
                            "%s is not a saved report: in %s %zu, `%s` %s", s->path, s->what,
                            s->number, key, how);
}

static vyre_status take(const source *s, const vyre_json_value *from, const char *key,
                        vyre_json_type type, const vyre_json_value **out) {
    *out = vyre_json_find(from, key);
    return !*out                  ? wrong(s, key, "is missing")
           : (*out)->type != type ? wrong(s, key, "has the wrong type")
                                  : VYRE_OK;
}

/* A string, borrowed. What would move a terminal's cursor is refused. */
static vyre_status take_string(const source *s, const vyre_json_value *from, const char *key,
                               const char **out) {
    const vyre_json_value *value;
    *out = "";
    VYRE_TRY(take(s, from, key, VYRE_JSON_STRING, &value));
    for (size_t i = 0; i < value->string.size; i++) {
        unsigned char c = (unsigned char)value->string.data[i];
        if (c < 0x20 || c == 0x7f) {
            return wrong(s, key, "contains a control character");
        }
    }
    *out = value->string.data;
    return VYRE_OK;
}

static bool is_null(const vyre_json_value *from, const char *key) {
    const vyre_json_value *value = vyre_json_find(from, key);
    return !value || value->type == VYRE_JSON_NULL;
}

/* A copy; and the same where null, which is NULL, is allowed. */
static vyre_status copy(const source *s, const vyre_json_value *from, const char *key, char **out) {
    const char *string;
    VYRE_TRY(take_string(s, from, key, &string));
    *out = vyre_copy_string(string);
    return *out ? VYRE_OK : vyre_no_memory("to read %s", s->path);
}

static vyre_status copy_known(const source *s, const vyre_json_value *from, const char *key,
                              char **out) {
    return is_null(from, key) ? VYRE_OK : copy(s, from, key, out);
}

/* A number from 0 on; and the same where null, which is 0, is allowed. */
static vyre_status take_number(const source *s, const vyre_json_value *from, const char *key,
                               double *out) {
    const vyre_json_value *value;
    VYRE_TRY(take(s, from, key, VYRE_JSON_NUMBER, &value));
    *out = value->number;
    return *out >= 0 && *out < 1e18 ? VYRE_OK : wrong(s, key, "is not a number from 0 to 1e18");
}

static vyre_status take_known(const source *s, const vyre_json_value *from, const char *key,
                              double *out) {
    return is_null(from, key) ? VYRE_OK : take_number(s, from, key, out);
}

static vyre_status take_whole(const source *s, const vyre_json_value *from, const char *key,
                              double most, uint64_t *out) {
    double number;
    VYRE_TRY(take_number(s, from, key, &number));
    *out = (uint64_t)number;
    return number <= most && number == (double)*out
               ? VYRE_OK
               : wrong(s, key, "is not an integer, or is too large");
}

static vyre_status take_bool(const source *s, const vyre_json_value *from, const char *key,
                             bool *out) {
    const vyre_json_value *value;
    VYRE_TRY(take(s, from, key, VYRE_JSON_BOOL, &value));
    *out = value->boolean;
    return VYRE_OK;
}

static vyre_status read_times(const source *s, const vyre_json_value *from, const char *key,
                              bench_times *out) {
    const vyre_json_value *value;
    uint64_t runs;
    if (is_null(from, key)) {
        return VYRE_OK;
    }
    VYRE_TRY(take(s, from, key, VYRE_JSON_OBJECT, &value));
    VYRE_TRY(take_whole(s, value, "runs", UINT32_MAX, &runs));
    VYRE_TRY(take_number(s, value, "best_ns", &out->best));
    VYRE_TRY(take_number(s, value, "low_ns", &out->low));
    VYRE_TRY(take_number(s, value, "median_ns", &out->median));
    VYRE_TRY(take_number(s, value, "high_ns", &out->high));
    out->runs = (uint32_t)runs;
    bool is_ordered = out->best > 0 && out->best <= out->low && out->low <= out->median &&
                      out->median <= out->high && runs;
    return is_ordered ? VYRE_OK : wrong(s, key, "has best, quartiles and median out of order");
}

static vyre_status read_state(const source *s, const vyre_json_value *from, bench_cell *out) {
    const char *state;
    VYRE_TRY(take_string(s, from, "state", &state));
    for (bench_state i = 0; i <= BENCH_FAILED; i++) {
        if (!strcmp(state, bench_state_name(i))) {
            out->state = i;
            return VYRE_OK;
        }
    }
    return wrong(s, "state", "is not a known state");
}

static vyre_status read_cell(const source *s, const vyre_json_value *from, const char *device,
                             bench_cell *out) {
    const char *name;
    VYRE_TRY(take_string(s, from, "device", &name));
    if (strcmp(name, device) != 0) {
        return wrong(s, "device", "is not the one at this position in `devices`");
    }
    VYRE_TRY(read_state(s, from, out));
    VYRE_TRY(copy_known(s, from, "note", &out->note));
    VYRE_TRY(copy_known(s, from, "ran_on", &out->ran_on));
    VYRE_TRY(read_times(s, from, "host", &out->host));
    VYRE_TRY(read_times(s, from, "on_device", &out->device));
    return out->state == BENCH_MEASURED && !out->host.runs
               ? wrong(s, "host", "is missing from a measured cell")
               : VYRE_OK;
}

static vyre_status read_place(const source *s, const vyre_json_value *from, vyre_data *out) {
    const char *data;
    VYRE_TRY(take_string(s, from, "data", &data));
    for (vyre_data i = 0; i < BENCH_PLACES; i++) {
        if (!strcmp(data, vyre_data_name(i))) {
            *out = i;
            return VYRE_OK;
        }
    }
    return wrong(s, "data", "is neither host nor resident");
}

static vyre_status read_row(const source *s, const vyre_json_value *from, bench_run *run) {
    const vyre_json_value *cells;
    if (!vyre_vec_push(&run->rows, (bench_row){0})) {
        return vyre_no_memory("to read %s", s->path);
    }
    bench_row *out = &run->rows.items[run->rows.count - 1];
    VYRE_TRY(copy(s, from, "operation", &out->operation));
    VYRE_TRY(take_whole(s, from, "size", 1e15, &out->size));
    VYRE_TRY(take_whole(s, from, "bytes", 1e17, &out->bytes));
    VYRE_TRY(take_known(s, from, "work", &out->work));
    VYRE_TRY(take_bool(s, from, "oracle", &out->by_oracle));
    VYRE_TRY(out->size ? VYRE_OK : wrong(s, "size", "is 0"));
    VYRE_TRY(read_place(s, from, &out->data));
    VYRE_TRY(take(s, from, "cells", VYRE_JSON_ARRAY, &cells));
    if (cells->count != run->device_count) {
        return wrong(s, "cells", "does not have one cell for each device");
    }
    size_t k = 0;
    for (const vyre_json_value *cell = cells->first; cell; cell = cell->next, k++) {
        VYRE_TRY(read_cell(s, cell, run->devices[k].name, &out->cells[k]));
    }
    return VYRE_OK;
}

static vyre_status read_device(const source *s, const vyre_json_value *from, bench_run *run) {
    bench_device *out = &run->devices[run->device_count++];
    double bytes = 0;
    VYRE_TRY(copy(s, from, "name", &out->name));
    VYRE_TRY(take_bool(s, from, "auto", &out->is_auto));
    VYRE_TRY(copy_known(s, from, "hardware", &out->hardware));
    VYRE_TRY(copy_known(s, from, "unavailable", &out->reason));
    VYRE_TRY(take_known(s, from, "copy_host_bytes_per_s", &out->ceiling.copy[VYRE_DATA_HOST]));
    VYRE_TRY(
        take_known(s, from, "copy_resident_bytes_per_s", &out->ceiling.copy[VYRE_DATA_RESIDENT]));
    VYRE_TRY(take_known(s, from, "copy_bytes", &bytes));
    out->ceiling.copy_bytes = (uint64_t)bytes;
    return take_known(s, from, "peak_operations_per_s", &out->ceiling.peak);
}

static vyre_status read_all(source *s, const vyre_json_value *root, bench_run *out) {
    const vyre_json_value *devices, *rows;
    uint64_t threads, runs;
    double budget;
    VYRE_TRY(copy(s, root, "vyre", &out->version));
    VYRE_TRY(copy(s, root, "date", &out->date));
    VYRE_TRY(copy(s, root, "machine", &out->machine));
    VYRE_TRY(take_whole(s, root, "threads", 1e6, &threads));
    VYRE_TRY(copy_known(s, root, "table", &out->table));
    VYRE_TRY(take_number(s, root, "budget_s", &budget));
    VYRE_TRY(take_whole(s, root, "runs", UINT32_MAX, &runs));
    VYRE_TRY(take(s, root, "devices", VYRE_JSON_ARRAY, &devices));
    VYRE_TRY(take(s, root, "rows", VYRE_JSON_ARRAY, &rows));
    if (devices->count > BENCH_DEVICES) {
        return wrong(s, "devices", "has too many entries");
    }
    out->threads = (uint32_t)threads;
    out->runs = (uint32_t)runs;
    out->budget_ns = (uint64_t)((budget < 1e9 ? budget : 1e9) * 1e9);
    *s = (source){s->path, "device", 0};
    for (const vyre_json_value *i = devices->first; i; i = i->next) {
        s->number++;
        VYRE_TRY(read_device(s, i, out));
    }
    *s = (source){s->path, "row", 0};
    for (const vyre_json_value *i = rows->first; i; i = i->next) {
        s->number++;
        VYRE_TRY(read_row(s, i, out));
    }
    return VYRE_OK;
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
