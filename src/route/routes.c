/* What routes hold. Strings are kept once each; arrays of a route that was replaced stay in the
 * arena until the routes are saved or freed. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/status.h"
#include "route/route.h"
#include "runtime/device.h"

uint64_t vyre_route_now(const vyre_route_clock *clock) {
    return clock->now ? clock->now(clock->user) : vyre_now_ns();
}

const char *vyre_data_name(vyre_data data) {
    switch (data) {
#define NAME(name, text)                                                                           \
    case VYRE_DATA_##name: return text;
        VYRE_DATA_PLACES(NAME)
#undef NAME
    }
    return "unknown";
}

const char *vyre_exclusion_cause_name(vyre_exclusion_cause cause) {
    switch (cause) {
#define NAME(name, text)                                                                           \
    case VYRE_EXCLUDED_##name: return text;
        VYRE_EXCLUSIONS(NAME)
#undef NAME
    }
    return "unknown";
}

uint32_t vyre_route_class(uint64_t bytes) {
    return bytes ? 63 - (uint32_t)__builtin_clzll(bytes) : 0;
}

vyre_identity vyre_device_identity(const vyre_device *device) {
    const char *driver = device->profile.driver;
    return (vyre_identity){
        .backend = device->name,
        .device = device->profile.device ? device->profile.device : "",
        .driver = driver && *driver ? driver : vyre_device_version(device),
    };
}

bool vyre_identity_same(const vyre_identity *left, const vyre_identity *right) {
    return !strcmp(left->backend, right->backend) && !strcmp(left->device, right->device) &&
           !strcmp(left->driver, right->driver);
}

static int compare_identities(const vyre_identity *left, const vyre_identity *right) {
    int order = strcmp(left->backend, right->backend);
    order = order ? order : strcmp(left->device, right->device);
    return order ? order : strcmp(left->driver, right->driver);
}

vyre_status vyre_routes_create(vyre_routes **out_routes) {
    vyre_routes *routes = vyre_alloc_zeroed(1, sizeof *routes);
    *out_routes = routes;
    if (!routes) {
        return vyre_no_memory("for the routes");
    }
    vyre_arena_init(&routes->arena);
    routes->extra = "";
    return VYRE_OK;
}

void vyre_routes_free(vyre_routes *routes) {
    if (!routes) {
        return;
    }
    for (size_t i = 0; i < routes->entries.count; i++) {
        vyre_vec_free(&routes->entries.items[i]->rows);
        vyre_vec_free(&routes->entries.items[i]->bans);
    }
    vyre_vec_free(&routes->entries);
    vyre_vec_free(&routes->strings);
    vyre_map_free(&routes->index);
    vyre_arena_deinit(&routes->arena);
    vyre_free(routes);
}

typedef struct wanted_string {
    const vyre_routes *routes;
    const char *string;
} wanted_string;

static bool same_string(const void *context, uint32_t value) {
    const wanted_string *wanted = context;
    return !strcmp(wanted->routes->strings.items[value], wanted->string);
}

const char *vyre_routes_string(vyre_routes *routes, const char *string) {
    if (!*string) {
        return "";
    }
    size_t size = strlen(string);
    uint64_t hash = vyre_hash_key(string, size);
    const wanted_string wanted = {routes, string};
    const uint32_t *known = vyre_map_find(&routes->index, hash, same_string, &wanted);
    if (known) {
        return routes->strings.items[*known];
    }
    const char *copy = vyre_arena_copy(&routes->arena, string, size);
    if (!copy || !vyre_vec_push(&routes->strings, copy)) {
        return NULL;
    }
    if (!vyre_map_add(&routes->index, hash, (uint32_t)(routes->strings.count - 1))) {
        routes->strings.count--;
        return NULL;
    }
    return copy;
}

/* The first entry that is not before `op`. */
static size_t find_place(const vyre_routes *routes, const char *op) {
    size_t low = 0, high = routes->entries.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(routes->entries.items[middle]->route.op, op) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

vyre_route_entry *vyre_routes_entry(const vyre_routes *routes, const char *op) {
    size_t place = find_place(routes, op);
    return place < routes->entries.count && !strcmp(routes->entries.items[place]->route.op, op)
               ? routes->entries.items[place]
               : NULL;
}

/* NULL without memory. */
static vyre_route_entry *make_entry(vyre_routes *routes, const char *op) {
    vyre_route_entry *entry = vyre_routes_entry(routes, op);
    if (entry) {
        return entry;
    }
    const char *name = vyre_routes_string(routes, op);
    entry = name ? vyre_arena_alloc(&routes->arena, sizeof *entry) : NULL;
    if (!entry || !vyre_vec_reserve(&routes->entries, 1)) {
        return NULL;
    }
    *entry = (vyre_route_entry){.route.op = name, .extra = ""};
    size_t place = find_place(routes, op);
    vyre_route_entry **items = routes->entries.items;
    memmove(items + place + 1, items + place, (routes->entries.count - place) * sizeof *items);
    items[place] = entry;
    routes->entries.count++;
    return entry;
}

static bool copy_identity(vyre_routes *routes, vyre_identity *who) {
    who->backend = vyre_routes_string(routes, who->backend);
    who->device = vyre_routes_string(routes, who->device);
    who->driver = vyre_routes_string(routes, who->driver);
    return who->backend && who->device && who->driver;
}

static bool copy_extra(vyre_routes *routes, const char **extra) {
    *extra = *extra ? vyre_routes_string(routes, *extra) : "";
    return *extra;
}

/* The extras of a list; NULL without memory. */
static const char *const *copy_extras(vyre_routes *routes, const char *const *extras,
                                      size_t count) {
    const char **copy = vyre_arena_alloc(&routes->arena, count * sizeof *copy);
    bool made = copy;
    for (size_t i = 0; made && i < count; i++) {
        copy[i] = extras ? extras[i] : NULL;
        made = copy_extra(routes, &copy[i]);
    }
    return made ? copy : NULL;
}

static bool copy_exclusion(vyre_routes *routes, vyre_exclusion *exclusion) {
    exclusion->reason = vyre_routes_string(routes, exclusion->reason);
    return exclusion->reason && copy_identity(routes, &exclusion->who);
}

/* A copy of the list in the arena; false without memory. */
static bool copy_excluded(vyre_routes *routes, const vyre_exclusion *list, size_t count,
                          const char *const *extras, const vyre_exclusion **out_list,
                          const char *const **out_extras) {
    vyre_exclusion *copy = vyre_arena_alloc(&routes->arena, count * sizeof *copy);
    bool made = copy;
    for (size_t i = 0; made && i < count; i++) {
        copy[i] = list[i];
        made = copy_exclusion(routes, &copy[i]);
    }
    *out_list = copy;
    *out_extras = made ? copy_extras(routes, extras, count) : NULL;
    return *out_extras;
}

vyre_status vyre_routes_put_excluded(vyre_routes *routes, const char *op,
                                     const vyre_exclusion *excluded, size_t count,
                                     const char *const *extras) {
    const vyre_exclusion *list;
    const char *const *list_extras;
    bool made = copy_excluded(routes, excluded, count, extras, &list, &list_extras);
    vyre_route_entry *entry = made ? make_entry(routes, op) : NULL;
    if (!entry) {
        return vyre_no_memory("for the routes");
    }
    entry->route.excluded = list;
    entry->route.excluded_count = count;
    entry->excluded_extras = list_extras;
    return VYRE_OK;
}

vyre_status vyre_routes_put_route(vyre_routes *routes, const vyre_route *route, const char *extra,
                                  const char *const *observation_extras, bool is_new) {
    vyre_route copy = *route;
    const char *const *list_extras = NULL, *const *excluded_extras = NULL;
    vyre_latency *list = vyre_arena_alloc(&routes->arena, route->observation_count * sizeof *list);
    bool made = list && copy_extra(routes, &extra);
    for (size_t i = 0; made && i < route->observation_count; i++) {
        list[i] = route->observations[i];
        list[i].backend = vyre_routes_string(routes, list[i].backend);
        made = list[i].backend;
    }
    if (made && copy.backend) {
        copy.backend = vyre_routes_string(routes, copy.backend);
        made = copy.backend;
    }
    if (made && copy.backend && copy.device && copy.driver) {
        copy.device = vyre_routes_string(routes, copy.device);
        copy.driver = vyre_routes_string(routes, copy.driver);
        made = copy.device && copy.driver;
    } else {
        copy.device = copy.driver = NULL;
    }
    copy.observations = list;
    made = made && copy_excluded(routes, route->excluded, route->excluded_count, NULL,
                                 &copy.excluded, &excluded_extras);
    list_extras = made ? copy_extras(routes, observation_extras, route->observation_count) : NULL;
    vyre_route_entry *entry = list_extras ? make_entry(routes, route->op) : NULL;
    if (!entry) {
        return vyre_no_memory("for the routes");
    }
    copy.op = entry->route.op;
    entry->route = copy;
    entry->has_route = true;
    entry->is_new = is_new;
    entry->extra = extra;
    entry->observation_extras = list_extras;
    entry->excluded_extras = excluded_extras;
    return VYRE_OK;
}

static int compare_rows(const vyre_class_row *left, const vyre_class_row *right) {
    if (left->data != right->data) {
        return left->data < right->data ? -1 : 1;
    }
    if (left->size_class != right->size_class) {
        return left->size_class < right->size_class ? -1 : 1;
    }
    if (left->latency_ns != right->latency_ns) {
        return left->latency_ns < right->latency_ns ? -1 : 1;
    }
    return compare_identities(&left->who, &right->who);
}

static int compare_bans(const vyre_exclusion *left, const vyre_exclusion *right) {
    if (left->data != right->data) {
        return left->data < right->data ? -1 : 1;
    }
    if (left->size_class != right->size_class) {
        return left->size_class < right->size_class ? -1 : 1;
    }
    return compare_identities(&left->who, &right->who);
}

/* Whatever is known of a device for a class goes. */
static void forget(vyre_route_entry *entry, const vyre_identity *who, vyre_data data,
                   uint32_t size_class) {
    size_t kept = 0;
    for (size_t i = 0; i < entry->rows.count; i++) {
        const vyre_class_row *row = &entry->rows.items[i].row;
        if (row->data != data || row->size_class != size_class ||
            !vyre_identity_same(&row->who, who)) {
            entry->rows.items[kept++] = entry->rows.items[i];
        }
    }
    entry->rows.count = kept;
    kept = 0;
    for (size_t i = 0; i < entry->bans.count; i++) {
        const vyre_exclusion *ban = &entry->bans.items[i].exclusion;
        if (ban->data != data || ban->size_class != size_class ||
            !vyre_identity_same(&ban->who, who)) {
            entry->bans.items[kept++] = entry->bans.items[i];
        }
    }
    entry->bans.count = kept;
}

static void insert_row(vyre_route_entry *entry, const vyre_route_measured *row) {
    forget(entry, &row->row.who, row->row.data, row->row.size_class);
    size_t place = entry->rows.count++;
    for (; place && compare_rows(&entry->rows.items[place - 1].row, &row->row) > 0; place--) {
        entry->rows.items[place] = entry->rows.items[place - 1];
    }
    entry->rows.items[place] = *row;
}

static void insert_ban(vyre_route_entry *entry, const vyre_route_banned *ban) {
    forget(entry, &ban->exclusion.who, ban->exclusion.data, ban->exclusion.size_class);
    size_t place = entry->bans.count++;
    for (; place && compare_bans(&entry->bans.items[place - 1].exclusion, &ban->exclusion) > 0;
         place--) {
        entry->bans.items[place] = entry->bans.items[place - 1];
    }
    entry->bans.items[place] = *ban;
}

vyre_status vyre_routes_put_classes(vyre_routes *routes, const char *op,
                                    const vyre_route_measured *rows, size_t row_count,
                                    const vyre_route_banned *bans, size_t ban_count) {
    vyre_route_measured *row_copies =
        vyre_arena_alloc(&routes->arena, row_count * sizeof *row_copies);
    vyre_route_banned *ban_copies =
        vyre_arena_alloc(&routes->arena, ban_count * sizeof *ban_copies);
    bool made = row_copies && ban_copies;
    for (size_t i = 0; made && i < row_count; i++) {
        row_copies[i] = rows[i];
        made = copy_identity(routes, &row_copies[i].row.who) &&
               copy_extra(routes, &row_copies[i].extra);
    }
    for (size_t i = 0; made && i < ban_count; i++) {
        ban_copies[i] = bans[i];
        made = copy_exclusion(routes, &ban_copies[i].exclusion) &&
               copy_extra(routes, &ban_copies[i].extra);
    }
    vyre_route_entry *entry = made ? make_entry(routes, op) : NULL;
    if (!entry || !vyre_vec_reserve(&entry->rows, row_count) ||
        !vyre_vec_reserve(&entry->bans, ban_count)) {
        return vyre_no_memory("for the routes");
    }
    for (size_t i = 0; i < row_count; i++) {
        insert_row(entry, &row_copies[i]);
    }
    for (size_t i = 0; i < ban_count; i++) {
        insert_ban(entry, &ban_copies[i]);
    }
    return VYRE_OK;
}

vyre_status vyre_routes_overlay(vyre_routes *into, const vyre_routes *routes) {
    vyre_status status = VYRE_OK;
    for (size_t i = 0; i < routes->entries.count && !status; i++) {
        const vyre_route_entry *entry = routes->entries.items[i];
        const char *op = entry->route.op;
        if (entry->has_route && entry->is_new) {
            status = vyre_routes_put_route(into, &entry->route, entry->extra,
                                           entry->observation_extras, true);
        }
        for (size_t k = 0; k < entry->rows.count && !status; k++) {
            if (entry->rows.items[k].is_new) {
                status = vyre_routes_put_classes(into, op, &entry->rows.items[k], 1, NULL, 0);
            }
        }
        for (size_t k = 0; k < entry->bans.count && !status; k++) {
            if (entry->bans.items[k].is_new) {
                status = vyre_routes_put_classes(into, op, NULL, 0, &entry->bans.items[k], 1);
            }
        }
    }
    return status;
}

bool vyre_routes_has_new(const vyre_routes *routes) {
    bool any = false;
    for (size_t i = 0; i < routes->entries.count && !any; i++) {
        const vyre_route_entry *entry = routes->entries.items[i];
        any = entry->has_route && entry->is_new;
        for (size_t k = 0; k < entry->rows.count && !any; k++) {
            any = entry->rows.items[k].is_new;
        }
        for (size_t k = 0; k < entry->bans.count && !any; k++) {
            any = entry->bans.items[k].is_new;
        }
    }
    return any;
}

size_t vyre_routes_count(const vyre_routes *routes) {
    size_t count = 0;
    for (size_t i = 0; i < routes->entries.count; i++) {
        count += routes->entries.items[i]->has_route;
    }
    return count;
}

const vyre_route *vyre_routes_at(const vyre_routes *routes, size_t index) {
    for (size_t i = 0; i < routes->entries.count; i++) {
        if (routes->entries.items[i]->has_route && index-- == 0) {
            return &routes->entries.items[i]->route;
        }
    }
    return NULL;
}

const vyre_route *vyre_routes_find(const vyre_routes *routes, const char *op) {
    const vyre_route_entry *entry = vyre_routes_entry(routes, op);
    return entry && entry->has_route ? &entry->route : NULL;
}

const char *vyre_routes_fastest(const vyre_routes *routes, const char *op) {
    const vyre_route *route = vyre_routes_find(routes, op);
    return route ? route->backend : NULL;
}

const vyre_class_row *vyre_routes_class_at(const vyre_routes *routes, const char *op,
                                           size_t index) {
    const vyre_route_entry *entry = vyre_routes_entry(routes, op);
    return entry && index < entry->rows.count ? &entry->rows.items[index].row : NULL;
}

const vyre_exclusion *vyre_routes_class_excluded_at(const vyre_routes *routes, const char *op,
                                                    size_t index) {
    const vyre_route_entry *entry = vyre_routes_entry(routes, op);
    return entry && index < entry->bans.count ? &entry->bans.items[index].exclusion : NULL;
}

/* Where memory ran out an entry may be left that says nothing. */
static bool says_anything(const vyre_route_entry *entry) {
    return entry->has_route || entry->rows.count || entry->bans.count ||
           entry->route.excluded_count;
}

const char *vyre_routes_op_at(const vyre_routes *routes, size_t index) {
    for (size_t i = 0; i < routes->entries.count; i++) {
        if (says_anything(routes->entries.items[i]) && index-- == 0) {
            return routes->entries.items[i]->route.op;
        }
    }
    return NULL;
}
