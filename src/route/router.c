/* Asking the router, what it keeps, and when it reads the file of routes again. */
#include "route/router.h"

#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/option.h"
#include "base/status.h"
#include "ir/program.h"
#include "registry/registry.h"

enum {
    LOOK_EVERY_NS = 500000000, /* at the file */
    MOST_CHOICES = 4096        /* texts that are made up as they run are not kept for ever */
};

static char *copy_text(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = vyre_alloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

const char *vyre_router_source_name(vyre_router_source source) {
    switch (source) {
#define NAME(name, text)                                                                           \
    case VYRE_ROUTER_BY_##name: return text;
        VYRE_ROUTER_SOURCES(NAME)
#undef NAME
    }
    return "unknown";
}

vyre_status vyre_router_create(vyre_registry *registry, const char *path, vyre_route_clock clock,
                               vyre_router **out_router) {
    vyre_router *router = vyre_alloc_zeroed(1, sizeof *router);
    vyre_status status =
        router ? vyre_routes_create(&router->routes) : vyre_no_memory("to route a run");
    *out_router = NULL;
    if (!status && path) {
        router->path = copy_text(path);
        status = router->path ? VYRE_OK : vyre_no_memory("to route a run");
    }
    if (status) {
        if (router) {
            vyre_routes_free(router->routes);
        }
        vyre_free(router);
        return status;
    }
    router->registry = registry;
    router->forks = vyre_fork_count();
    router->clock = clock;
    router->routes->clock = clock;
    router->checked_ns = UINT64_MAX; /* never */
    router->saved_ns = UINT64_MAX;
    pthread_rwlock_init(&router->lock, NULL);
    *out_router = router;
    return VYRE_OK;
}

void vyre_router_free(vyre_router *router) {
    if (!router) {
        return;
    }
    vyre_router_forget(router);
    vyre_vec_free(&router->choices);
    vyre_router_times_free(router);
    for (size_t i = 0; i < router->devices.count; i++) {
        vyre_device_release(router->devices.items[i].device);
        vyre_free(router->devices.items[i].name);
        vyre_free(router->devices.items[i].failure);
    }
    vyre_vec_free(&router->devices);
    vyre_routes_free(router->routes);
    vyre_free(router->preferred_why);
    vyre_free(router->problem);
    vyre_free(router->path);
    pthread_rwlock_destroy(&router->lock);
    vyre_free(router);
}

/* Where the routes of the process lie; NULL for none. */
static vyre_status find_path(char **out_path) {
    vyre_option_info said = vyre_option_describe(VYRE_OPTION_ROUTES);
    *out_path = NULL;
    if (!strcmp(said.text, "off")) {
        return VYRE_OK;
    }
    if (!*said.text) {
        return vyre_routes_default_path(out_path);
    }
    *out_path = copy_text(said.text);
    return *out_path ? VYRE_OK : vyre_no_memory("to route a run");
}

vyre_status vyre_router_default(vyre_router **out_router) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static _Atomic(vyre_router *) made;
    *out_router = atomic_load_explicit(&made, memory_order_acquire);
    if (*out_router && (*out_router)->forks == vyre_fork_count()) {
        return VYRE_OK;
    }
    vyre_status status = VYRE_OK;
    char *path = NULL;
    uint32_t learn = 0;
    pthread_mutex_lock(&lock);
    *out_router = atomic_load(&made);
    if (!*out_router || (*out_router)->forks != vyre_fork_count()) {
        status = vyre_option_number(VYRE_OPTION_LEARN, &learn);
        status = status ? status : find_path(&path);
        status = status ? status
                        : vyre_router_create(vyre_registry_default(), path, (vyre_route_clock){0},
                                             out_router);
        if (!status) {
            atomic_store(&(*out_router)->learns, learn);
            atomic_store_explicit(&made, *out_router, memory_order_release);
        }
        vyre_routes_path_free(path);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* Choices that are kept. */

static uint64_t hash_key(const vyre_router_key *key) {
    uint64_t hash = key->op.size ? vyre_hash_key(key->op.data, key->op.size)
                                 : vyre_hash_key(&key->digest, sizeof key->digest);
    uint64_t rest = (uint64_t)key->size_class << 8 | (uint64_t)key->data << 4 | key->grade;
    return hash ^ (rest + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

typedef struct wanted_choice {
    const vyre_router *router;
    const vyre_router_key *key;
    uint64_t hash;
} wanted_choice;

static bool same_choice(const void *context, uint32_t value) {
    const wanted_choice *wanted = context;
    const vyre_router_kept *kept = wanted->router->choices.items[value];
    const vyre_router_key *a = &kept->key, *b = wanted->key;
    return kept->hash == wanted->hash && a->size_class == b->size_class && a->data == b->data &&
           a->grade == b->grade && a->op.size == b->op.size &&
           (a->op.size ? !memcmp(a->op.data, b->op.data, a->op.size)
                       : a->digest.low == b->digest.low && a->digest.high == b->digest.high);
}

static vyre_router_kept *find_kept(const vyre_router *router, const vyre_router_key *key,
                                   uint64_t hash) {
    const wanted_choice wanted = {router, key, hash};
    const uint32_t *found = vyre_map_find(&router->index, hash, same_choice, &wanted);
    return found ? router->choices.items[*found] : NULL;
}

vyre_status vyre_router_make_choice(const vyre_router_choice *facts, const vyre_router_key *key,
                                    vyre_router_kept **out_kept) {
    size_t op_size = key->op.size + 1, why_size = strlen(facts->why) + 1,
           note_size = strlen(facts->note) + 1;
    vyre_router_kept *kept = vyre_alloc_zeroed(1, sizeof *kept + op_size + why_size + note_size);
    *out_kept = kept;
    if (!kept) {
        return vyre_no_memory("to route a run");
    }
    char *texts = kept->texts;
    kept->choice = *facts;
    kept->choice.why = memcpy(texts + op_size, facts->why, why_size);
    kept->choice.note = memcpy(texts + op_size + why_size, facts->note, note_size);
    kept->key = *key;
    if (key->op.size) {
        memcpy(texts, key->op.data, key->op.size);
    }
    kept->key.op.data = texts;
    kept->hash = hash_key(key);
    atomic_init(&kept->references, 1);
    vyre_device_retain(facts->device);
    return VYRE_OK;
}

static vyre_router_kept *kept_of(const vyre_router_choice *choice) {
    return (vyre_router_kept *)(uintptr_t)choice;
}

void vyre_router_choice_release(const vyre_router_choice *choice) {
    if (choice && atomic_fetch_sub(&kept_of(choice)->references, 1) == 1) {
        vyre_device_release(choice->device);
        vyre_free(kept_of(choice));
    }
}

void vyre_router_choice_log(const vyre_router_choice *choice) {
    if (*choice->note && !atomic_exchange(&kept_of(choice)->is_told, true)) {
        vyre_log(VYRE_LOG_WARNING, "routing: %s", choice->note);
    }
}

void vyre_router_forget(vyre_router *router) {
    for (size_t i = 0; i < router->choices.count; i++) {
        vyre_router_choice_release(&router->choices.items[i]->choice);
    }
    router->choices.count = 0;
    vyre_map_free(&router->index);
}

/* Keeping it is a kindness: without memory it is decided again. */
static void keep_choice(vyre_router *router, vyre_router_kept *kept) {
    if (router->choices.count >= MOST_CHOICES) {
        vyre_router_forget(router);
    }
    if (vyre_vec_reserve(&router->choices, 1) &&
        vyre_map_add(&router->index, kept->hash, (uint32_t)router->choices.count)) {
        router->choices.items[router->choices.count++] = kept;
        atomic_fetch_add(&kept->references, 1);
    }
}

/* The file. */

vyre_router_stamp vyre_router_look(const char *path) {
    struct stat about;
    vyre_router_stamp stamp;
    memset(&stamp, 0, sizeof stamp);
    if (path && stat(path, &about) == 0) {
        stamp.device = about.st_dev;
        stamp.inode = about.st_ino;
        stamp.size = about.st_size;
        stamp.modified = about.st_mtim;
    }
    return stamp;
}

static bool same_stamp(const vyre_router_stamp *left, const vyre_router_stamp *right) {
    return left->device == right->device && left->inode == right->inode &&
           left->size == right->size && left->modified.tv_sec == right->modified.tv_sec &&
           left->modified.tv_nsec == right->modified.tv_nsec;
}

/* Reads the routes again; what was learned and not saved yet stays. A file that cannot be read is
 * as if empty, and every choice says so. */
static vyre_status read_table(vyre_router *router) {
    vyre_routes *routes = NULL;
    char *problem = NULL;
    vyre_status status = vyre_routes_load(router->path, &routes);
    if (status && vyre_status_code_of(status) != VYRE_STATUS_OUT_OF_MEMORY) {
        problem = copy_text(vyre_status_text(status));
        vyre_status_free(status);
        status = problem ? vyre_routes_create(&routes) : vyre_no_memory("to route a run");
    }
    status = status ? status : vyre_routes_overlay(routes, router->routes);
    if (status) {
        vyre_free(problem);
        vyre_routes_free(routes);
        return status;
    }
    routes->clock = router->clock;
    vyre_routes_free(router->routes);
    vyre_free(router->problem);
    router->routes = routes;
    router->problem = problem;
    vyre_router_forget(router);
    for (size_t i = 0; i < router->devices.count; i++) { /* those that failed may try again */
        vyre_router_device *row = &router->devices.items[i];
        if (!row->device) {
            vyre_free(row->name);
            vyre_free(row->failure);
            *row = router->devices.items[--router->devices.count];
            i--;
        }
    }
    return VYRE_OK;
}

static bool must_look(const vyre_router *router, uint64_t now) {
    uint64_t since = router->checked_ns;
    /* A later caller may have looked already. */
    return router->path && (since == UINT64_MAX || (now > since && now - since >= LOOK_EVERY_NS));
}

static vyre_status look(vyre_router *router, uint64_t now) {
    vyre_router_stamp stamp = vyre_router_look(router->path);
    bool is_first = router->checked_ns == UINT64_MAX;
    vyre_status status = VYRE_OK;
    if (is_first || !same_stamp(&stamp, &router->stamp)) {
        status = read_table(router);
    }
    if (!status) {
        router->stamp = stamp;
        router->checked_ns = now;
    }
    return status;
}

/* Devices. */

void vyre_router_drop(vyre_router *router, vyre_router_device *row) {
    if (router->preferred == row->device) {
        router->preferred = NULL;
    }
    for (size_t i = 0; i < router->times.count; i++) {
        if (router->times.items[i].device == row->device) {
            router->times.items[i].count = 0;
            router->times.items[i].device = NULL;
        }
    }
    vyre_router_forget(router);
    vyre_device_release(row->device);
    row->device = NULL;
}

vyre_status vyre_router_keep(vyre_router *router, const char *name,
                             vyre_router_device **out_device) {
    vyre_router_device *row = NULL;
    *out_device = NULL;
    for (size_t i = 0; i < router->devices.count && !row; i++) {
        row = strcmp(router->devices.items[i].name, name) ? NULL : &router->devices.items[i];
    }
    if (row && row->device && vyre_device_lost(row->device)) {
        vyre_router_drop(router, row);
    } else if (row) {
        *out_device = row;
        return VYRE_OK;
    }
    if (!row) {
        vyre_router_device made = {.name = copy_text(name)};
        if (!made.name || !vyre_vec_push(&router->devices, made)) {
            vyre_free(made.name);
            return vyre_no_memory("to route a run");
        }
        row = &router->devices.items[router->devices.count - 1];
    }
    vyre_status status = vyre_registry_acquire_named(router->registry, name, &row->device);
    if (status) {
        vyre_free(row->failure);
        row->failure = copy_text(vyre_status_text(status));
        bool is_lack = vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY || !row->failure;
        vyre_status_free(status);
        if (is_lack) { /* is no property of the device */
            vyre_free(row->name);
            vyre_free(row->failure);
            *row = router->devices.items[--router->devices.count];
            return vyre_no_memory("to route a run");
        }
    }
    *out_device = row;
    return VYRE_OK;
}

/* A device that is kept and not lost; NULL without one. */
static vyre_device *find_device(const vyre_router *router, const char *name) {
    vyre_device *found = strcmp(name, "preferred") ? NULL : router->preferred;
    for (size_t i = 0; i < router->devices.count && !found; i++) {
        const vyre_router_device *row = &router->devices.items[i];
        found = strcmp(row->name, name) ? NULL : row->device;
    }
    return found && !vyre_device_lost(found) ? found : NULL;
}

static vyre_status keep_device(vyre_router *router, const char *name, vyre_device **out_kept) {
    if (!strcmp(name, "preferred")) {
        return vyre_router_prefer(router, out_kept);
    }
    vyre_router_device *row;
    VYRE_TRY(vyre_router_keep(router, name, &row));
    *out_kept = row->device;
    return VYRE_OK;
}

vyre_status vyre_router_name(vyre_router *router, const char *name, vyre_device **out_device) {
    vyre_device *kept;
    *out_device = NULL;
    pthread_rwlock_rdlock(&router->lock);
    kept = find_device(router, name);
    *out_device = kept ? vyre_device_retain(kept) : NULL;
    pthread_rwlock_unlock(&router->lock);
    if (*out_device) {
        return VYRE_OK;
    }
    pthread_rwlock_wrlock(&router->lock);
    vyre_status status = keep_device(router, name, &kept);
    *out_device = !status && kept ? vyre_device_retain(kept) : NULL;
    pthread_rwlock_unlock(&router->lock);
    /* The caller wants to know why there is no such device now. */
    return status || *out_device ? status
                                 : vyre_registry_acquire(router->registry, name, out_device);
}

/* Asking. */

static vyre_status make_key(const vyre_router_request *request, vyre_router_key *out_key) {
    *out_key = (vyre_router_key){.size_class = vyre_route_class(request->bytes),
                                 .grade = request->grade,
                                 .data = request->data};
    if (request->op && *request->op) {
        out_key->op = (vyre_str){request->op, strlen(request->op)};
    } else if (request->program) {
        out_key->digest = vyre_program_whole_digest(request->program);
    } else {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "name an operation, or give a program",
                                "a routing request names neither an operation nor a program");
    }
    return VYRE_OK;
}

static const vyre_router_choice *take(vyre_router_kept *kept) {
    if (!kept || vyre_device_lost(kept->choice.device)) {
        return NULL;
    }
    atomic_fetch_add_explicit(&kept->references, 1, memory_order_relaxed);
    return &kept->choice;
}

static vyre_status decide(vyre_router *router, const vyre_router_request *request,
                          const vyre_router_key *key, uint64_t now,
                          const vyre_router_choice **out_choice) {
    if (must_look(router, now)) {
        VYRE_TRY(look(router, now));
    }
    vyre_router_kept *kept = find_kept(router, key, hash_key(key));
    *out_choice = take(kept);
    if (*out_choice) { /* somebody else was here before, or the file is as it was */
        return VYRE_OK;
    }
    if (kept) { /* its device is lost */
        vyre_router_forget(router);
    }
    char of_program[VYRE_ROUTE_KEY_BYTES];
    const char *op = request->op;
    if (!key->op.size) {
        vyre_route_key(request->program, of_program);
        op = of_program;
    }
    VYRE_TRY(vyre_router_decide(router, request, key, op, &kept));
    keep_choice(router, kept);
    *out_choice = &kept->choice;
    return VYRE_OK;
}

vyre_status vyre_router_ask(vyre_router *router, const vyre_router_request *request,
                            const vyre_router_choice **out_choice) {
    vyre_router_key key;
    *out_choice = NULL;
    VYRE_TRY(make_key(request, &key));
    /* Whether to look at the file is no question of nanoseconds. */
    uint64_t now = router->clock.now ? vyre_route_now(&router->clock) : vyre_now_about_ns();
    uint64_t hash = hash_key(&key);
    pthread_rwlock_rdlock(&router->lock);
    if (!must_look(router, now)) {
        *out_choice = take(find_kept(router, &key, hash));
    }
    pthread_rwlock_unlock(&router->lock);
    if (*out_choice) {
        return VYRE_OK;
    }
    pthread_rwlock_wrlock(&router->lock);
    vyre_status status = decide(router, request, &key, now, out_choice);
    pthread_rwlock_unlock(&router->lock);
    return status;
}

vyre_status vyre_router_choose(const vyre_router_request *request,
                               const vyre_router_choice **out_choice) {
    vyre_router *router;
    *out_choice = NULL;
    VYRE_TRY(vyre_router_default(&router));
    return vyre_router_ask(router, request, out_choice);
}

void vyre_router_learn(bool on) {
    vyre_router *router;
    vyre_status status = vyre_router_default(&router);
    if (status) {
        vyre_status_free(status); /* the next run says it */
    } else {
        atomic_store(&router->learns, on);
    }
}

bool vyre_router_learns(void) {
    vyre_router *router;
    vyre_status status = vyre_router_default(&router);
    bool learns = !status && atomic_load_explicit(&router->learns, memory_order_relaxed);
    vyre_status_free(status);
    return learns;
}

vyre_status vyre_router_flush(void) {
    vyre_router *router;
    VYRE_TRY(vyre_router_default(&router));
    return vyre_router_save(router);
}
