/* Routes as text.
 *
 *     [routes."reduce.sum_u32"]
 *     backend = "cuda"
 *
 *     [[routes."reduce.sum_u32".observations]]
 *     backend = "cuda"
 *     latency_ns = 41210
 *
 * and beside it the winner's identity in `winners`, rows of `excluded` and `classes`. Keys that are
 * not known here are kept where they are: a newer version of vyre may share the file. */
#include <string.h>

#include "base/status.h"
#include "base/toml.h"
#include "base/utf8.h"
#include "route/route.h"

/* Reading. */

static vyre_status refuse(const vyre_toml *document, const vyre_toml_value *value,
                          const char *what) {
    return vyre_toml_at(
        vyre_status_make(VYRE_STATUS_MALFORMED, "regenerate it with the cert gate", "%s", what),
        document, value);
}

/* A string that is there; some are needed as C strings. */
static vyre_status get_string(const vyre_toml_value *table, const char *key, const char **out) {
    const vyre_toml_value *value;
    vyre_status status = vyre_toml_get(table, key, VYRE_TOML_STRING, &value);
    if (!status && strlen(value->string.data) != value->string.size) {
        status = refuse(table->table->document, value, "the string contains a NUL");
    }
    *out = status ? NULL : value->string.data;
    return status;
}

static vyre_status get_number(const vyre_toml_value *table, const char *key, int64_t most,
                              uint64_t *out) {
    const vyre_toml_value *value;
    vyre_status status = vyre_toml_get(table, key, VYRE_TOML_INTEGER, &value);
    if (!status && (value->integer < 0 || value->integer > most)) {
        status = refuse(table->table->document, value, "the number is out of range");
    }
    *out = status ? 0 : (uint64_t)value->integer;
    return status;
}

static vyre_status get_identity(const vyre_toml_value *table, vyre_identity *out) {
    VYRE_TRY(get_string(table, "backend", &out->backend));
    VYRE_TRY(get_string(table, "device", &out->device));
    return get_string(table, "driver", &out->driver);
}

static vyre_status get_data(const vyre_toml_value *table, vyre_data *out) {
    const char *text;
    VYRE_TRY(get_string(table, "data", &text));
#define MATCH(name, word)                                                                          \
    if (!strcmp(text, word)) {                                                                     \
        *out = VYRE_DATA_##name;                                                                   \
        return VYRE_OK;                                                                            \
    }
    VYRE_DATA_PLACES(MATCH)
#undef MATCH
    return refuse(table->table->document, vyre_toml_find(table, "data"),
                  "`data` is neither host nor resident");
}

static vyre_status get_class(const vyre_toml_value *table, uint32_t *out) {
    uint64_t number;
    vyre_status status = get_number(table, "class", 63, &number);
    *out = (uint32_t)number;
    return status;
}

static vyre_status get_cause(const vyre_toml_value *table, vyre_exclusion_cause *out) {
    const char *text;
    VYRE_TRY(get_string(table, "cause", &text));
#define MATCH(name, word)                                                                          \
    if (!strcmp(text, word)) {                                                                     \
        *out = VYRE_EXCLUDED_##name;                                                               \
        return VYRE_OK;                                                                            \
    }
    VYRE_EXCLUSIONS(MATCH)
#undef MATCH
    return refuse(table->table->document, vyre_toml_find(table, "cause"),
                  "`cause` is not a known cause");
}

/* All keys but those, as lines. */
static vyre_status get_extra(vyre_routes *routes, const vyre_toml_value *from,
                             const char *const *known, size_t count, const char **out) {
    vyre_strbuf text = {0};
    vyre_toml_writer writer = {.text = &text};
    for (const vyre_toml_entry *entry = from->table->first; entry; entry = entry->next) {
        bool is_known = false;
        for (size_t i = 0; i < count && !is_known; i++) {
            is_known = entry->key.size == strlen(known[i]) &&
                       !memcmp(entry->key.data, known[i], entry->key.size);
        }
        if (!is_known) {
            vyre_toml_write_key(&writer, entry->key);
            vyre_toml_write_value(&writer, &entry->value);
        }
    }
    *out = text.failed ? NULL : vyre_routes_string(routes, vyre_strbuf_string(&text));
    vyre_strbuf_free(&text);
    return *out ? VYRE_OK : vyre_no_memory("for the routes");
}

#define GET_EXTRA(routes, from, out, ...)                                                          \
    get_extra((routes), (from), (const char *const[]){__VA_ARGS__},                                \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), (out))

static vyre_status read_observations(vyre_routes *routes, const vyre_toml_value *list,
                                     vyre_latency *rows, const char **extras) {
    for (size_t i = 0; i < list->array.count; i++) {
        const vyre_toml_value *item = &list->array.items[i];
        VYRE_TRY(get_string(item, "backend", &rows[i].backend));
        VYRE_TRY(get_number(item, "latency_ns", INT64_MAX, &rows[i].latency_ns));
        VYRE_TRY(GET_EXTRA(routes, item, &extras[i], "backend", "latency_ns"));
    }
    return VYRE_OK;
}

static vyre_status expect_tables(const vyre_toml *document, const vyre_toml_value *list) {
    VYRE_TRY(vyre_toml_expect(document, list, VYRE_TOML_ARRAY));
    for (size_t i = 0; i < list->array.count; i++) {
        VYRE_TRY(vyre_toml_expect(document, &list->array.items[i], VYRE_TOML_TABLE));
    }
    return VYRE_OK;
}

static vyre_status read_route(vyre_routes *routes, const char *op, const vyre_toml_value *from) {
    const vyre_toml_value *list;
    const char *backend, *extra = NULL;
    VYRE_TRY(get_string(from, "backend", &backend));
    VYRE_TRY(vyre_toml_get(from, "observations", VYRE_TOML_ARRAY, &list));
    VYRE_TRY(expect_tables(from->table->document, list));
    VYRE_TRY(GET_EXTRA(routes, from, &extra, "backend", "observations"));
    vyre_latency *rows = vyre_alloc_array(list->array.count, sizeof *rows);
    const char **extras = vyre_alloc_zeroed(list->array.count, sizeof *extras);
    vyre_status status = rows && extras ? read_observations(routes, list, rows, extras)
                                        : vyre_no_memory("for the routes");
    if (!status) {
        const vyre_route route = {.op = op,
                                  .backend = *backend ? backend : NULL,
                                  .observations = rows,
                                  .observation_count = list->array.count};
        status = vyre_routes_put_route(routes, &route, extra, extras, false);
    }
    vyre_free(rows);
    vyre_free(extras);
    return status;
}

static vyre_status read_rows(vyre_routes *routes, const char *op, const vyre_toml_value *list) {
    for (size_t i = 0; i < list->array.count; i++) {
        const vyre_toml_value *item = &list->array.items[i];
        vyre_route_measured row = {0};
        VYRE_TRY(get_identity(item, &row.row.who));
        VYRE_TRY(get_data(item, &row.row.data));
        VYRE_TRY(get_class(item, &row.row.size_class));
        VYRE_TRY(get_number(item, "latency_ns", INT64_MAX, &row.row.latency_ns));
        VYRE_TRY(GET_EXTRA(routes, item, &row.extra, "backend", "device", "driver", "data", "class",
                           "latency_ns"));
        VYRE_TRY(vyre_routes_put_classes(routes, op, &row, 1, NULL, 0));
    }
    return VYRE_OK;
}

/* Without a class it is one of the route: its class is VYRE_NO_CLASS then. */
static vyre_status read_exclusion(vyre_routes *routes, const vyre_toml_value *item,
                                  vyre_route_banned *out) {
    vyre_exclusion *exclusion = &out->exclusion;
    *out = (vyre_route_banned){.exclusion = {.size_class = VYRE_NO_CLASS}};
    VYRE_TRY(get_identity(item, &exclusion->who));
    VYRE_TRY(get_cause(item, &exclusion->cause));
    VYRE_TRY(get_string(item, "reason", &exclusion->reason));
    if (vyre_toml_find(item, "class") || vyre_toml_find(item, "data")) {
        VYRE_TRY(get_data(item, &exclusion->data));
        VYRE_TRY(get_class(item, &exclusion->size_class));
    }
    return GET_EXTRA(routes, item, &out->extra, "backend", "device", "driver", "cause", "reason",
                     "data", "class");
}

/* Those with a class go to the measurements, those without to the route. */
static vyre_status read_excluded(vyre_routes *routes, const char *op, const vyre_toml_value *list) {
    vyre_exclusion *plain = vyre_alloc_array(list->array.count, sizeof *plain);
    const char **extras = vyre_alloc_zeroed(list->array.count, sizeof *extras);
    size_t count = 0;
    vyre_status status = plain && extras ? VYRE_OK : vyre_no_memory("for the routes");
    for (size_t i = 0; i < list->array.count && !status; i++) {
        vyre_route_banned ban;
        status = read_exclusion(routes, &list->array.items[i], &ban);
        if (!status && ban.exclusion.size_class != VYRE_NO_CLASS) {
            status = vyre_routes_put_classes(routes, op, NULL, 0, &ban, 1);
        } else if (!status) {
            plain[count] = ban.exclusion;
            extras[count++] = ban.extra;
        }
    }
    if (!status && count) {
        status = vyre_routes_put_excluded(routes, op, plain, count, extras);
    }
    vyre_free(plain);
    vyre_free(extras);
    return status;
}

/* Of the route as it stands: an identity of another winner is from before. */
static vyre_status read_winner(vyre_routes *routes, const char *op, const vyre_toml_value *from) {
    vyre_identity who;
    VYRE_TRY(get_identity(from, &who));
    const vyre_route_entry *entry = vyre_routes_entry(routes, op);
    if (!entry || !entry->has_route || !entry->route.backend ||
        strcmp(entry->route.backend, who.backend) != 0) {
        return VYRE_OK;
    }
    vyre_route route = entry->route;
    route.device = who.device;
    route.driver = who.driver;
    return vyre_routes_put_route(routes, &route, entry->extra, entry->observation_extras, false);
}

typedef vyre_status (*read_op)(vyre_routes *routes, const char *op, const vyre_toml_value *from);

/* A table of the document, by operation; it may be missing. */
static vyre_status read_each(vyre_routes *routes, const vyre_toml *document, const char *key,
                             bool of_rows, read_op read) {
    const vyre_toml_value *all;
    VYRE_TRY(vyre_toml_get_optional(vyre_toml_root(document), key, VYRE_TOML_TABLE, &all));
    for (const vyre_toml_entry *entry = all ? all->table->first : NULL; entry;
         entry = entry->next) {
        if (!entry->key.size || strlen(entry->key.data) != entry->key.size) {
            return refuse(document, &entry->value, "the key is not the ID of an operation");
        }
        VYRE_TRY(of_rows ? expect_tables(document, &entry->value)
                         : vyre_toml_expect(document, &entry->value, VYRE_TOML_TABLE));
        VYRE_TRY(read(routes, entry->key.data, &entry->value));
    }
    return VYRE_OK;
}

static vyre_status read_document(vyre_routes *routes, const vyre_toml *document) {
    VYRE_TRY(read_each(routes, document, "routes", false, read_route));
    VYRE_TRY(read_each(routes, document, "winners", false, read_winner));
    VYRE_TRY(read_each(routes, document, "excluded", true, read_excluded));
    VYRE_TRY(read_each(routes, document, "classes", true, read_rows));
    return GET_EXTRA(routes, vyre_toml_root(document), &routes->extra, "routes", "winners",
                     "excluded", "classes");
}

vyre_status vyre_routes_decode(const char *path, const char *data, size_t size,
                               vyre_routes *routes) {
    vyre_toml *document;
    VYRE_TRY(vyre_toml_read(path, data, size, &document));
    vyre_status status = read_document(routes, document);
    vyre_toml_free(document);
    return status;
}

/* Writing. */

static vyre_str str(const char *text) {
    return (vyre_str){text, strlen(text)};
}

typedef struct writing {
    vyre_toml_writer writer;
    const char *not_utf8; /* a string that cannot be written */
} writing;

static vyre_str check(writing *w, const char *text) {
    vyre_str string = str(text);
    if (vyre_utf8_check(string.data, string.size) != string.size) {
        w->not_utf8 = text;
    }
    return string;
}

static void write_text(writing *w, const char *key, const char *text) {
    vyre_toml_write_key(&w->writer, str(key));
    vyre_toml_write_string(&w->writer, check(w, text));
}

static void write_number(writing *w, const char *key, uint64_t number) {
    vyre_toml_write_key(&w->writer, str(key));
    vyre_toml_write_integer(&w->writer, (int64_t)number);
}

static void write_extra(writing *w, const char *extra) {
    vyre_strbuf_puts(w->writer.text, extra);
}

static void write_identity(writing *w, const vyre_identity *who) {
    write_text(w, "backend", who->backend);
    write_text(w, "device", who->device);
    write_text(w, "driver", who->driver);
}

static void write_route(writing *w, const vyre_route_entry *entry) {
    const vyre_route *route = &entry->route;
    const vyre_str path[] = {str("routes"), check(w, route->op), str("observations")};
    vyre_toml_write_header(&w->writer, path, 2);
    write_text(w, "backend", route->backend ? route->backend : "");
    if (!route->observation_count) {
        vyre_toml_write_key(&w->writer, path[2]);
        vyre_toml_write_array(&w->writer);
        vyre_toml_write_array_end(&w->writer);
    }
    write_extra(w, entry->extra);
    for (size_t i = 0; i < route->observation_count; i++) {
        vyre_toml_write_item_header(&w->writer, path, 3);
        write_text(w, "backend", route->observations[i].backend);
        write_number(w, "latency_ns", route->observations[i].latency_ns);
        write_extra(w, entry->observation_extras[i]);
    }
}

static void write_winner(writing *w, const vyre_route *route) {
    const vyre_str path[] = {str("winners"), check(w, route->op)};
    vyre_toml_write_header(&w->writer, path, 2);
    write_identity(w, &(vyre_identity){route->backend, route->device, route->driver});
}

static void write_exclusion(writing *w, const char *op, const vyre_exclusion *exclusion,
                            const char *extra) {
    const vyre_str path[] = {str("excluded"), check(w, op)};
    vyre_toml_write_item_header(&w->writer, path, 2);
    write_identity(w, &exclusion->who);
    write_text(w, "cause", vyre_exclusion_cause_name(exclusion->cause));
    write_text(w, "reason", exclusion->reason);
    if (exclusion->size_class != VYRE_NO_CLASS) {
        write_text(w, "data", vyre_data_name(exclusion->data));
        write_number(w, "class", exclusion->size_class);
    }
    write_extra(w, extra);
}

static void write_excluded(writing *w, const vyre_route_entry *entry) {
    for (size_t i = 0; i < entry->route.excluded_count; i++) {
        write_exclusion(w, entry->route.op, &entry->route.excluded[i], entry->excluded_extras[i]);
    }
    for (size_t i = 0; i < entry->bans.count; i++) {
        write_exclusion(w, entry->route.op, &entry->bans.items[i].exclusion,
                        entry->bans.items[i].extra);
    }
}

static void write_rows(writing *w, const vyre_route_entry *entry) {
    const vyre_str path[] = {str("classes"), check(w, entry->route.op)};
    for (size_t i = 0; i < entry->rows.count; i++) {
        const vyre_class_row *row = &entry->rows.items[i].row;
        vyre_toml_write_item_header(&w->writer, path, 2);
        write_text(w, "data", vyre_data_name(row->data));
        write_number(w, "class", row->size_class);
        write_identity(w, &row->who);
        write_number(w, "latency_ns", row->latency_ns);
        write_extra(w, entry->rows.items[i].extra);
    }
}

vyre_status vyre_routes_encode(const vyre_routes *routes, vyre_strbuf *out) {
    writing w = {.writer = {.text = out}};
    write_extra(&w, routes->extra);
    for (size_t i = 0; i < routes->entries.count; i++) {
        if (routes->entries.items[i]->has_route) {
            write_route(&w, routes->entries.items[i]);
        }
    }
    for (size_t i = 0; i < routes->entries.count; i++) {
        if (routes->entries.items[i]->has_route && routes->entries.items[i]->route.device) {
            write_winner(&w, &routes->entries.items[i]->route);
        }
    }
    for (size_t i = 0; i < routes->entries.count; i++) {
        write_excluded(&w, routes->entries.items[i]);
    }
    for (size_t i = 0; i < routes->entries.count; i++) {
        write_rows(&w, routes->entries.items[i]);
    }
    if (w.not_utf8) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "use UTF-8 in the IDs of operations and the names of devices",
                                "cannot encode the routes: a text is not UTF-8");
    }
    return out->failed ? vyre_status_annotate(vyre_no_memory("for the routes"), "encoding it")
                       : VYRE_OK;
}
