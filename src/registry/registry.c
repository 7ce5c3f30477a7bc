#include "registry/registry.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/status.h"
#include "base/vec.h"

/* What is made of the bundles when the registry is frozen. X(name, text, builder): a builder uses
 * tables before its own. */
#define TABLES(X)                                                                                  \
    X(LIST, "registration list", build_list)                                                       \
    X(CAPABILITY, "dispatch capability table", build_capability)                                   \
    X(PRECEDENCE, "precedence table", build_precedence)                                            \
    X(SORTED, "sorted-by-precedence table", build_sorted)                                          \
    X(BY_ID, "by-id table", build_by_id)

typedef enum table_kind {
#define TABLE_ENUM(name, text, builder) TABLE_##name,
    TABLES(TABLE_ENUM)
#undef TABLE_ENUM
        TABLE_COUNT
} table_kind;

static const char *const table_names[TABLE_COUNT] = {
#define TABLE_NAME(name, text, builder) text,
    TABLES(TABLE_NAME)
#undef TABLE_NAME
};

typedef struct named_number {
    const char *id;
    size_t size;
    uint32_t number;
} named_number;

typedef struct registry_table {
    vyre_status failure;                          /* why it could not be built */
    vyre_map map;                                 /* by id: the place in `numbers` */
    VYRE_VEC(named_number) numbers;               /* of the capability, precedence, by-id tables */
    VYRE_VEC(const vyre_registration *) backends; /* of the list and the sorted table */
} registry_table;

typedef struct admission {
    const vyre_bundle *bundle;
    char *path; /* of a plugin; NULL: the program's */
} admission;

struct vyre_registry {
    _Atomic(const vyre_bundle *const *) built_in; /* ends with NULL */
    _Atomic(vyre_known_software) known_software;  /* of those built in; or NULL */
    vyre_plugin_loader load_plugins;              /* NULL: there are none */

    pthread_mutex_t lock; /* guards what follows until it is frozen; then nobody writes to it */
    atomic_bool frozen;
    atomic_uint begun; /* vyre_fork_count plus 1 when a thread began to freeze it; 0 before */
    VYRE_VEC(admission) admitted;
    vyre_plugin_list plugins;
    vyre_status plugins_status;
    registry_table tables[TABLE_COUNT];
};

static vyre_registry process = {
    .load_plugins = vyre_plugins_load,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

/* The registry whose plugins this thread is loading: code of a plugin that asks it must not wait
 * for itself. */
static _Thread_local const vyre_registry *loading;

vyre_registry *vyre_registry_process(const vyre_bundle *const *built_in,
                                     vyre_known_software known_software) {
    atomic_store_explicit(&process.built_in, built_in, memory_order_relaxed);
    atomic_store_explicit(&process.known_software, known_software, memory_order_relaxed);
    return &process;
}

bool vyre_registry_knows_software(const vyre_registry *registry, const char *id, uint32_t device) {
    vyre_known_software known =
        atomic_load_explicit(&registry->known_software, memory_order_relaxed);
    const char *origin = known ? vyre_registry_origin(registry, id) : NULL;
    return origin && !strcmp(origin, "built in") && known(id, device);
}

vyre_status vyre_registry_make(const vyre_bundle *const *built_in, vyre_plugin_loader load_plugins,
                               vyre_registry **out_registry) {
    *out_registry = NULL;
    vyre_registry *registry = vyre_alloc_zeroed(1, sizeof *registry);
    if (!registry) {
        return vyre_no_memory("for a registry");
    }
    atomic_init(&registry->built_in, built_in);
    registry->load_plugins = load_plugins;
    pthread_mutex_init(&registry->lock, NULL);
    vyre_plugin_list_init(&registry->plugins);
    *out_registry = registry;
    return VYRE_OK;
}

vyre_status vyre_registry_create(vyre_registry **out_registry) {
    static const vyre_bundle *const nothing[] = {NULL};
    return vyre_registry_make(nothing, NULL, out_registry);
}

void vyre_registry_free(vyre_registry *registry) {
    if (!registry || registry == &process) {
        return;
    }
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        registry_table *table = &registry->tables[i];
        vyre_status_free(table->failure);
        vyre_map_free(&table->map);
        vyre_vec_free(&table->numbers);
        vyre_vec_free(&table->backends);
    }
    for (size_t i = 0; i < registry->admitted.count; i++) {
        vyre_free(registry->admitted.items[i].path);
    }
    vyre_vec_free(&registry->admitted);
    vyre_plugin_list_deinit(&registry->plugins);
    vyre_status_free(registry->plugins_status);
    pthread_mutex_destroy(&registry->lock);
    vyre_free(registry);
}

vyre_status vyre_registry_admit(vyre_registry *registry, const vyre_bundle *bundle,
                                const char *origin) {
    VYRE_TRY(vyre_registry_check(bundle));
    char *path = NULL;
    if (origin) {
        size_t size = strlen(origin) + 1;
        path = vyre_alloc(size);
        if (path) {
            memcpy(path, origin, size);
        }
    }
    if ((origin && !path) || !vyre_vec_push(&registry->admitted, (admission){bundle, path})) {
        vyre_free(path);
        return vyre_no_memory("to add a bundle to the registry");
    }
    return VYRE_OK;
}

static vyre_status refuse_frozen(void) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                            "add it before the first query or acquisition, or to another registry",
                            "the registry is frozen: it was queried before this bundle was added");
}

/* Whether a thread that this process does not have was freezing it when the process was forked. */
static bool is_abandoned(const vyre_registry *registry) {
    uint32_t begun = atomic_load(&registry->begun);
    return begun && begun != vyre_fork_count() + 1 && !atomic_load(&registry->frozen);
}

vyre_status vyre_registry_add(vyre_registry *registry, const vyre_bundle *bundle) {
    if (loading == registry || is_abandoned(registry)) {
        return refuse_frozen();
    }
    pthread_mutex_lock(&registry->lock);
    vyre_status status = atomic_load(&registry->frozen)
                             ? refuse_frozen()
                             : vyre_registry_admit(registry, bundle, NULL);
    pthread_mutex_unlock(&registry->lock);
    return status;
}

static const vyre_bundle *bundle_at(const vyre_registry *registry, size_t index,
                                    const char **out_origin) {
    const vyre_bundle *const *built_in =
        atomic_load_explicit(&registry->built_in, memory_order_relaxed);
    for (; *built_in; built_in++, index--) {
        if (!index) {
            *out_origin = "built in";
            return *built_in;
        }
    }
    if (index >= registry->admitted.count) {
        return NULL;
    }
    const admission *found = &registry->admitted.items[index];
    *out_origin = found->path ? found->path : "program";
    return found->bundle;
}

const char *vyre_registry_origin(const vyre_registry *registry, const char *id) {
    const char *origin = NULL;
    const vyre_bundle *bundle;
    for (size_t at = 0; (bundle = bundle_at(registry, at, &origin)) != NULL; at++) {
        for (size_t i = 0; i < bundle->registration_count; i++) {
            if (!strcmp(vyre_bundle_registration(bundle, i)->id, id)) {
                return origin;
            }
        }
    }
    return NULL;
}

vyre_plugin_list *vyre_registry_plugin_list(vyre_registry *registry) {
    return &registry->plugins;
}

typedef struct wanted_id {
    const registry_table *table;
    const char *id;
    size_t size;
} wanted_id;

static bool same_id(const void *context, uint32_t value) {
    const wanted_id *wanted = context;
    const named_number *number = &wanted->table->numbers.items[value];
    return number->size == wanted->size && !memcmp(number->id, wanted->id, wanted->size);
}

static named_number *number_of(const registry_table *table, const char *id) {
    wanted_id wanted = {table, id, strlen(id)};
    const uint32_t *at =
        vyre_map_find(&table->map, vyre_hash_key(id, wanted.size), same_id, &wanted);
    return at ? &table->numbers.items[*at] : NULL;
}

static vyre_status no_room(const char *what) {
    return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY,
                            "link fewer backends, or give the process more memory",
                            "no memory for one more %s", what);
}

static bool put(registry_table *table, const char *id, uint32_t number) {
    size_t size = strlen(id);
    return table->numbers.count < UINT32_MAX &&
           vyre_map_add(&table->map, vyre_hash_key(id, size), (uint32_t)table->numbers.count) &&
           vyre_vec_push(&table->numbers, (named_number){id, size, number});
}

/* Of several entries the last one counts. */
static bool put_last(registry_table *table, const char *id, uint32_t number) {
    named_number *found = number_of(table, id);
    if (found) {
        found->number = number;
        return true;
    }
    return put(table, id, number);
}

static vyre_status build_list(vyre_registry *registry) {
    registry_table *list = &registry->tables[TABLE_LIST];
    const char *origin;
    const vyre_bundle *bundle;
    size_t count = 0;
    for (size_t at = 0; (bundle = bundle_at(registry, at, &origin)) != NULL; at++) {
        count += bundle->registration_count;
    }
    /* If there is no room for all at once there may be for one after the other. */
    (void)vyre_vec_reserve(&list->backends, count);
    for (size_t at = 0; (bundle = bundle_at(registry, at, &origin)) != NULL; at++) {
        for (size_t i = 0; i < bundle->registration_count; i++) {
            if (!vyre_vec_push(&list->backends, vyre_bundle_registration(bundle, i))) {
                return no_room("registration");
            }
        }
    }
    return VYRE_OK;
}

static vyre_status build_capability(vyre_registry *registry) {
    const char *origin;
    const vyre_bundle *bundle;
    for (size_t at = 0; (bundle = bundle_at(registry, at, &origin)) != NULL; at++) {
        for (size_t i = 0; i < bundle->capability_count; i++) {
            const vyre_capability *entry = vyre_bundle_capability(bundle, i);
            if (!put_last(&registry->tables[TABLE_CAPABILITY], entry->id, entry->dispatches)) {
                return no_room("capability entry");
            }
        }
    }
    return VYRE_OK;
}

static vyre_status build_precedence(vyre_registry *registry) {
    const char *origin;
    const vyre_bundle *bundle;
    for (size_t at = 0; (bundle = bundle_at(registry, at, &origin)) != NULL; at++) {
        for (size_t i = 0; i < bundle->precedence_count; i++) {
            const vyre_precedence *entry = vyre_bundle_precedence(bundle, i);
            if (!put_last(&registry->tables[TABLE_PRECEDENCE], entry->id, entry->rank)) {
                return no_room("precedence entry");
            }
        }
    }
    return VYRE_OK;
}

/* The failure of a table, for a table or a caller that needs it. */
static vyre_status check_table(const vyre_registry *registry, table_kind kind) {
    vyre_status cause = registry->tables[kind].failure;
    return !cause ? VYRE_OK
                  : vyre_status_make(
                        vyre_status_code_of(cause),
                        "reduce the linked backend inventory, increase available memory, or "
                        "split registry initialization",
                        "backend registry %s is unavailable: %s initialization failed: %s",
                        table_names[kind], table_names[kind], vyre_status_text(cause));
}

typedef struct ranked {
    uint32_t rank;
    uint32_t place; /* in the list: what decides between two of the same id */
    const vyre_registration *registration;
} ranked;

static int compare_ranked(const void *left_item, const void *right_item) {
    const ranked *left = left_item, *right = right_item;
    if (left->rank != right->rank) {
        return left->rank < right->rank ? -1 : 1;
    }
    int order = strcmp(left->registration->id, right->registration->id);
    return order ? order : left->place < right->place ? -1 : 1;
}

static vyre_status build_sorted(vyre_registry *registry) {
    VYRE_TRY(check_table(registry, TABLE_LIST));
    VYRE_TRY(check_table(registry, TABLE_PRECEDENCE));
    const registry_table *list = &registry->tables[TABLE_LIST];
    registry_table *sorted = &registry->tables[TABLE_SORTED];
    size_t count = list->backends.count;
    ranked *keys = vyre_alloc_array(count, sizeof *keys);
    if (!keys || !vyre_vec_reserve(&sorted->backends, count)) {
        vyre_free(keys);
        return no_room("sorted registration");
    }
    for (size_t i = 0; i < count; i++) {
        const vyre_registration *registration = list->backends.items[i];
        const named_number *rank = number_of(&registry->tables[TABLE_PRECEDENCE], registration->id);
        keys[i] = (ranked){rank ? rank->number : VYRE_NO_RANK, (uint32_t)i, registration};
    }
    qsort(keys, count, sizeof *keys, compare_ranked);
    for (size_t i = 0; i < count; i++) {
        sorted->backends.items[sorted->backends.count++] = keys[i].registration;
    }
    vyre_free(keys);
    return VYRE_OK;
}

/* Of several registrations the first one counts. */
static vyre_status build_by_id(vyre_registry *registry) {
    VYRE_TRY(check_table(registry, TABLE_LIST));
    const registry_table *list = &registry->tables[TABLE_LIST];
    registry_table *by_id = &registry->tables[TABLE_BY_ID];
    for (size_t i = 0; i < list->backends.count; i++) {
        const char *id = list->backends.items[i]->id;
        if (!number_of(by_id, id) && !put(by_id, id, (uint32_t)i)) {
            return no_room("id");
        }
    }
    return VYRE_OK;
}

static void load_plugins(vyre_registry *registry) {
    const vyre_registry *outer = loading; /* a plugin may ask another registry */
    loading = registry;
    registry->plugins_status = registry->load_plugins(registry);
    loading = outer;
    if (registry->plugins_status) {
        vyre_log(VYRE_LOG_WARNING, "plugins could not be loaded: %s",
                 vyre_status_text(registry->plugins_status));
    }
}

static void freeze(vyre_registry *registry) {
    static vyre_status (*const builders[TABLE_COUNT])(vyre_registry *) = {
#define TABLE_BUILDER(name, text, builder) builder,
        TABLES(TABLE_BUILDER)
#undef TABLE_BUILDER
    };
    if (!vyre_fork_watch()) {
        vyre_log(VYRE_LOG_WARNING,
                 "no memory to notice fork(): do without it, or exec in the child");
    }
    atomic_store(&registry->begun, vyre_fork_count() + 1);
    pthread_mutex_lock(&registry->lock);
    if (!atomic_load(&registry->frozen)) {
        if (registry->load_plugins) {
            load_plugins(registry);
        }
        for (size_t i = 0; i < TABLE_COUNT; i++) {
            registry->tables[i].failure = builders[i](registry);
        }
        atomic_store_explicit(&registry->frozen, true, memory_order_release);
    }
    pthread_mutex_unlock(&registry->lock);
}

/* Freezes on the first question; false for plugins that ask while they are loaded. */
static bool is_frozen(vyre_registry *registry) {
    if (atomic_load_explicit(&registry->frozen, memory_order_acquire)) {
        return true;
    }
    if (loading == registry || is_abandoned(registry)) {
        return false;
    }
    freeze(registry);
    return true;
}

static bool is_ready(vyre_registry *registry, table_kind kind) {
    return is_frozen(registry) && !registry->tables[kind].failure;
}

/* is_ready with the reason. */
static vyre_status check_ready(vyre_registry *registry, table_kind kind) {
    return is_frozen(registry)
               ? check_table(registry, kind)
               : vyre_status_make(VYRE_STATUS_UNAVAILABLE,
                                  "do not query the registry from a plugin's constructor or query "
                                  "function, and fork() only after the first query",
                                  "the registry was queried while it loads plugins");
}

static const vyre_registration *const *list_of(vyre_registry *registry, table_kind kind,
                                               size_t *out_count) {
    bool ready = is_ready(registry, kind);
    *out_count = ready ? registry->tables[kind].backends.count : 0;
    return ready ? registry->tables[kind].backends.items : NULL;
}

const vyre_registration *const *vyre_registry_backends(vyre_registry *registry, size_t *out_count) {
    return list_of(registry, TABLE_LIST, out_count);
}

const vyre_registration *const *vyre_registry_by_rank(vyre_registry *registry, size_t *out_count) {
    return list_of(registry, TABLE_SORTED, out_count);
}

vyre_status vyre_registry_sorted(vyre_registry *registry, const vyre_registration *const **out_list,
                                 size_t *out_count) {
    *out_list = vyre_registry_by_rank(registry, out_count);
    return check_ready(registry, TABLE_SORTED);
}

vyre_status vyre_registry_by_rank_copy(vyre_registry *registry, const vyre_registration ***out_list,
                                       size_t *out_count) {
    *out_list = NULL;
    *out_count = 0;
    size_t count;
    const vyre_registration *const *list = vyre_registry_by_rank(registry, &count);
    if (!count) {
        return VYRE_OK;
    }
    const vyre_registration **copy = vyre_alloc_array(count, sizeof *copy);
    if (!copy) {
        return vyre_no_memory("to copy a list of %zu registrations", count);
    }
    memcpy(copy, list, count * sizeof *copy);
    *out_list = copy;
    *out_count = count;
    return VYRE_OK;
}

void vyre_registry_list_free(const vyre_registration **list) {
    vyre_free(list);
}

static const named_number *look_up(vyre_registry *registry, table_kind kind, const char *id) {
    return id && is_ready(registry, kind) ? number_of(&registry->tables[kind], id) : NULL;
}

vyre_status vyre_registry_find(vyre_registry *registry, const char *id,
                               const vyre_registration **out_registration) {
    *out_registration = NULL;
    if (!is_ready(registry, TABLE_BY_ID)) {
        return check_ready(registry, TABLE_BY_ID);
    }
    const named_number *found = id ? number_of(&registry->tables[TABLE_BY_ID], id) : NULL;
    if (found) {
        *out_registration = registry->tables[TABLE_LIST].backends.items[found->number];
    }
    return VYRE_OK;
}

bool vyre_registry_dispatches(vyre_registry *registry, const char *id) {
    const named_number *found = look_up(registry, TABLE_CAPABILITY, id);
    return found && found->number;
}

vyre_status vyre_registry_capable(vyre_registry *registry, const char *id, bool *out_dispatches) {
    *out_dispatches = vyre_registry_dispatches(registry, id);
    return check_ready(registry, TABLE_CAPABILITY);
}

uint32_t vyre_registry_rank(vyre_registry *registry, const char *id) {
    const named_number *found = look_up(registry, TABLE_PRECEDENCE, id);
    return found ? found->number : VYRE_NO_RANK;
}

const vyre_bundle *vyre_registry_bundle(vyre_registry *registry, size_t index,
                                        const char **out_origin) {
    *out_origin = "";
    return is_frozen(registry) ? bundle_at(registry, index, out_origin) : NULL;
}

vyre_status vyre_registry_plugins_status(vyre_registry *registry) {
    return is_frozen(registry) ? registry->plugins_status : VYRE_OK;
}
