#include "bench/routes.h"

#include <string.h>

#include "base/option.h"
#include "base/status.h"
#include "base/units.h"
#include "route/route.h"

void bench_put_class(vyre_strbuf *text, uint32_t size_class) {
    static const char *const units[] = {"byte", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned number = 1u << size_class % 10;
    vyre_strbuf_printf(text, "%u %s%s", number, units[size_class / 10 % 7],
                       size_class < 10 ? vyre_plural(number) : "");
}

static bool is_among(const vyre_identity *who, vyre_device *const *devices, size_t device_count) {
    for (size_t i = 0; devices && i < device_count; i++) {
        vyre_identity identity = vyre_device_identity(devices[i]);
        if (vyre_identity_same(who, &identity)) {
            return true;
        }
    }
    return !devices;
}

vyre_status bench_routes_path(const char *given, vyre_strbuf *out_path) {
    const char *set = vyre_option_describe(VYRE_OPTION_ROUTES).text;
    if (given && !*given) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "check that the shell variable in its place is set",
                                "the name of the file of routes is empty");
    }
    if (!given && !strcmp(set, "off")) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "unset VYRE_ROUTES, or use --routes",
                                "VYRE_ROUTES is off, so there are no routes");
    }
    if (given || *set) {
        vyre_strbuf_puts(out_path, given ? given : set);
        return VYRE_OK;
    }
    char *path;
    VYRE_TRY(vyre_routes_default_path(&path));
    if (!path) {
        return vyre_status_make(VYRE_STATUS_NOT_FOUND,
                                "set HOME to an absolute path, or use --routes",
                                "there is no place for routes: neither XDG_CONFIG_HOME nor HOME is "
                                "an absolute path");
    }
    vyre_strbuf_puts(out_path, path);
    vyre_routes_path_free(path);
    return VYRE_OK;
}

/* Steps */

void bench_route_steps_find(bench_route_steps *steps, const vyre_routes *table, const char *op,
                            vyre_device *const *devices, size_t device_count) {
    const vyre_class_row *row;
    for (size_t i = 0; (row = vyre_routes_class_at(table, op, i)); i++) {
        if (!is_among(&row->who, devices, device_count)) {
            continue;
        }
        bench_route_step *last =
            steps->list.count ? &steps->list.items[steps->list.count - 1] : NULL;
        if (last && last->data == row->data && last->size_class == row->size_class) {
            last->next_ns = last->next ? last->next_ns : row->latency_ns;
            last->next = last->next ? last->next : row->who.backend;
        } else if (!vyre_vec_push(&steps->list, (bench_route_step){.data = row->data,
                                                                   .size_class = row->size_class,
                                                                   .winner = row->who.backend,
                                                                   .winner_ns = row->latency_ns})) {
            steps->failed = true;
        }
    }
}

void bench_route_steps_free(bench_route_steps *steps) {
    vyre_vec_free(&steps->list);
}

/* Text */

static void put_next(vyre_strbuf *text, const char *next, uint64_t next_ns) {
    if (next) {
        vyre_strbuf_printf(text, ", before %s with ", next);
        vyre_units_time(text, next_ns);
    }
}

/* The best of the others in the class that decided, if there is any. */
static void put_next_of(vyre_strbuf *text, const vyre_router_choice *routing,
                        const vyre_router_request *request) {
    char key[VYRE_ROUTE_KEY_BYTES] = "";
    vyre_strbuf path = {0};
    vyre_routes *table = NULL;
    const vyre_class_row *row;
    if (!request->op) {
        vyre_route_key(request->program, key);
    }
    vyre_status status = bench_routes_path(NULL, &path);
    status = status ? status : vyre_routes_load(vyre_strbuf_string(&path), &table);
    const char *op = request->op ? request->op : key;
    for (size_t i = 0; !status && (row = vyre_routes_class_at(table, op, i)); i++) {
        if (row->data == request->data && row->size_class == routing->measured_class &&
            row->latency_ns >= routing->latency_ns &&
            strcmp(row->who.backend, vyre_device_name(routing->device)) != 0) {
            put_next(text, row->who.backend, row->latency_ns);
            break;
        }
    }
    vyre_routes_free(table);
    vyre_strbuf_free(&path);
    vyre_status_free(status); /* the decision stands without it */
}

void bench_route_explain(vyre_strbuf *text, const vyre_router_choice *routing,
                         const vyre_router_request *request) {
    const char *name = vyre_device_name(routing->device), *why = routing->why;
    size_t size = strlen(name);
    if (routing->source != VYRE_ROUTER_BY_CLASS) { /* the device is named already */
        why += !strncmp(why, name, size) && !strncmp(why + size, ": ", 2) ? size + 2 : 0;
        vyre_strbuf_puts(text, why);
        return;
    }
    bool is_near = routing->measured_class != routing->wanted_class;
    vyre_strbuf_puts(text, "measured ");
    vyre_units_time(text, routing->latency_ns);
    vyre_strbuf_puts(text, is_near ? " for the nearest size, " : " for ");
    bench_put_class(text, routing->measured_class);
    vyre_strbuf_printf(text, " of %s data", vyre_data_name(request->data));
    put_next_of(text, routing, request);
}

static void put_range(vyre_strbuf *text, const bench_route_step *first,
                      const bench_route_step *last) {
    vyre_strbuf_printf(text, "%s, ", first->winner);
    bench_put_class(text, first->size_class);
    if (first != last) {
        vyre_strbuf_puts(text, " to ");
        bench_put_class(text, last->size_class);
    }
    if (first->winner_ns == VYRE_NO_TIME || last->winner_ns == VYRE_NO_TIME) {
        vyre_strbuf_puts(text, ": not measured\n");
        return;
    }
    vyre_strbuf_puts(text, ": ");
    vyre_units_time(text, first->winner_ns);
    if (first != last) {
        vyre_strbuf_puts(text, " to ");
        vyre_units_time(text, last->winner_ns);
    }
    put_next(text, last->next, last->next_ns);
    vyre_strbuf_putc(text, '\n');
}

void bench_route_put_ranges(vyre_strbuf *text, const bench_route_steps *steps) {
    const bench_route_step *items = steps->list.items;
    for (size_t i = 0; i < steps->list.count;) {
        size_t end = i + 1;
        while (end < steps->list.count && items[end].data == items[i].data &&
               !strcmp(items[end].winner, items[i].winner)) {
            end++;
        }
        bool goes_on = i && items[i - 1].data == items[i].data;
        vyre_strbuf_printf(text, "  %-9s ", goes_on ? "" : vyre_data_name(items[i].data));
        put_range(text, &items[i], &items[end - 1]);
        i = end;
    }
    text->failed |= steps->failed;
}

/* The exclusion by number: those of the plain route come first. */
static const vyre_exclusion *excluded_at(const vyre_routes *table, const char *op, size_t index) {
    const vyre_route *route = vyre_routes_find(table, op);
    size_t count = route ? route->excluded_count : 0;
    return index < count ? &route->excluded[index]
                         : vyre_routes_class_excluded_at(table, op, index - count);
}

/* A device that is excluded for one cause is mostly so for all sizes: that is told once, and of
 * wrong bytes, which count everywhere, once for all places of data. */
static bool is_told(const vyre_routes *table, const char *op, size_t index) {
    const vyre_exclusion *this = excluded_at(table, op, index);
    for (size_t i = 0; i < index; i++) {
        const vyre_exclusion *other = excluded_at(table, op, i);
        if (other->cause == this->cause && vyre_identity_same(&other->who, &this->who) &&
            (other->data == this->data || this->cause == VYRE_EXCLUDED_BYTES)) {
            return true;
        }
    }
    return false;
}

void bench_route_put_excluded(vyre_strbuf *text, const vyre_routes *table, const char *op,
                              vyre_device *const *devices, size_t device_count) {
    const vyre_exclusion *excluded;
    for (size_t i = 0; (excluded = excluded_at(table, op, i)); i++) {
        if (!is_among(&excluded->who, devices, device_count) || is_told(table, op, i)) {
            continue;
        }
        vyre_strbuf_printf(text, "  %-9s %s", "excluded", excluded->who.backend);
        if (excluded->size_class != VYRE_NO_CLASS) {
            vyre_strbuf_puts(text, ", ");
            bench_put_class(text, excluded->size_class);
            vyre_strbuf_printf(text, " of %s data", vyre_data_name(excluded->data));
        }
        vyre_strbuf_printf(text, ": %s\n", excluded->reason);
    }
}

bool bench_route_has_wrong_bytes(const vyre_routes *table, const char *op,
                                 vyre_device *const *devices, size_t device_count) {
    const vyre_exclusion *excluded;
    for (size_t i = 0; (excluded = excluded_at(table, op, i)); i++) {
        if (excluded->cause == VYRE_EXCLUDED_BYTES &&
            is_among(&excluded->who, devices, device_count)) {
            return true;
        }
    }
    return false;
}

/* JSON */

static void json_identity(vyre_json *json, const vyre_identity *who) {
    vyre_json_add_string(json, "backend", who->backend);
    vyre_json_add_string(json, "device", who->device);
    vyre_json_add_string(json, "driver", who->driver);
}

static void json_class(vyre_json *json, vyre_data data, uint32_t size_class) {
    vyre_json_add_string(json, "data", vyre_data_name(data));
    vyre_json_add_u64(json, "class", size_class);
}

static void json_route(vyre_json *json, const vyre_route *route) {
    vyre_json_add_string(json, "backend", route && route->backend ? route->backend : NULL);
    vyre_json_add_array(json, "observations");
    for (size_t i = 0; route && i < route->observation_count; i++) {
        vyre_json_object(json);
        vyre_json_add_string(json, "backend", route->observations[i].backend);
        vyre_json_add_u64(json, "latency_ns", route->observations[i].latency_ns);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

void bench_routes_json(vyre_json *json, const vyre_routes *table, const char *op) {
    const vyre_class_row *row;
    const vyre_exclusion *excluded;
    vyre_json_object(json);
    vyre_json_add_string(json, "operation", op);
    json_route(json, vyre_routes_find(table, op));
    vyre_json_add_array(json, "classes");
    for (size_t i = 0; (row = vyre_routes_class_at(table, op, i)); i++) {
        vyre_json_object(json);
        json_class(json, row->data, row->size_class);
        json_identity(json, &row->who);
        vyre_json_add_u64(json, "latency_ns", row->latency_ns);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
    vyre_json_add_array(json, "excluded");
    for (size_t i = 0; (excluded = excluded_at(table, op, i)); i++) {
        vyre_json_object(json);
        if (excluded->size_class != VYRE_NO_CLASS) {
            json_class(json, excluded->data, excluded->size_class);
        }
        json_identity(json, &excluded->who);
        vyre_json_add_string(json, "cause", vyre_exclusion_cause_name(excluded->cause));
        vyre_json_add_string(json, "reason", excluded->reason);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
    vyre_json_object_end(json);
}

/* Tables */

void bench_routes_table_begin(vyre_table *table) {
    enum { CLASS = 1 << 2, LATENCY = 1 << 6 };
    *table = (vyre_table){.right = CLASS | LATENCY, .code = 1};
    VYRE_TABLE_CELLS(table, "operation", "data", "class", "backend", "device", "driver",
                     "latency_ns", "excluded", "reason");
}

/* The cells that measurements and exclusions share. */
static void add_class(vyre_table *table, const char *op, vyre_data data, uint32_t size_class,
                      const vyre_identity *who) {
    bool has_class = size_class != VYRE_NO_CLASS;
    VYRE_TABLE_CELLS(table, op, has_class ? vyre_data_name(data) : "");
    if (has_class) {
        vyre_table_add(table, "%u", size_class);
    } else {
        vyre_table_add(table, "%s", "");
    }
    VYRE_TABLE_CELLS(table, who->backend, who->device, who->driver);
}

void bench_routes_table_add(vyre_table *table, const vyre_routes *routes, const char *op) {
    const vyre_route *route = vyre_routes_find(routes, op);
    const vyre_class_row *row;
    const vyre_exclusion *excluded;
    for (size_t i = 0; route && i < route->observation_count; i++) {
        const vyre_identity who = {route->observations[i].backend, "", ""};
        add_class(table, op, VYRE_DATA_HOST, VYRE_NO_CLASS, &who);
        vyre_table_add(table, "%llu", (unsigned long long)route->observations[i].latency_ns);
        VYRE_TABLE_CELLS(table, "", "");
    }
    for (size_t i = 0; (row = vyre_routes_class_at(routes, op, i)); i++) {
        add_class(table, op, row->data, row->size_class, &row->who);
        vyre_table_add(table, "%llu", (unsigned long long)row->latency_ns);
        VYRE_TABLE_CELLS(table, "", "");
    }
    for (size_t i = 0; (excluded = excluded_at(routes, op, i)); i++) {
        add_class(table, op, excluded->data, excluded->size_class, &excluded->who);
        VYRE_TABLE_CELLS(table, "", vyre_exclusion_cause_name(excluded->cause), excluded->reason);
    }
}
