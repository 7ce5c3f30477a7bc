/* Packages that know of each other before anybody else does. */
#include "base/hash.h"
#include "base/map.h"
#include "base/status.h"
#include "dialect/package.h"
#include "dialect/provider.h"

/* What the sources of a group may call. */
typedef struct group {
    vyre_library library; /* first: a view leads here */
    VYRE_VEC(const vyre_operation *) operations;
    vyre_map by_id;
} group;

static const group *of(const vyre_library_view *view) {
    return (const group *)(const void *)view->library;
}

typedef struct wanted {
    const group *group;
    vyre_str id;
} wanted;

static bool is_same(const void *context, uint32_t value) {
    const wanted *w = context;
    return vyre_str_is(w->id, w->group->operations.items[value]->id);
}

static const uint32_t *find_index(const group *g, vyre_str id) {
    wanted w = {g, id};
    return vyre_map_find(&g->by_id, vyre_hash_128(id.data, id.size).low, is_same, &w);
}

static bool find(const vyre_library_view *view, vyre_str id, vyre_library_source *out_source) {
    const group *g = of(view);
    const uint32_t *index = find_index(g, id);
    if (index) {
        *out_source = vyre_library_source_of(g->operations.items[*index]);
    }
    return index;
}

static vyre_str at(const vyre_library_view *view, size_t index) {
    const group *g = of(view);
    return index < g->operations.count ? vyre_str_of(g->operations.items[index]->id)
                                       : (vyre_str){0};
}

static bool join(group *g, const vyre_operation *operation) {
    vyre_str id = vyre_str_of(operation->id);
    if (find_index(g, id)) {
        return true; /* a duplicate, which is told elsewhere */
    }
    uint32_t index = (uint32_t)g->operations.count;
    return vyre_vec_push(&g->operations, operation) &&
           vyre_map_add(&g->by_id, vyre_hash_128(id.data, id.size).low, index);
}

static vyre_status gather(group *g, vyre_package *const *packages, size_t count,
                          const vyre_streams *streams) {
    bool stored = true;
    *g = (group){.library = {.id = "packages", .find = find, .at = at}};
    for (size_t i = 0; i < streams->operations.count && stored; i++) {
        stored = join(g, streams->operations.items[i]);
    }
    for (size_t i = 0; i < count && stored; i++) {
        for (size_t k = 0; k < packages[i]->operation_count && stored; k++) {
            const vyre_operation *operation = &packages[i]->operations[k];
            stored = packages[i]->mistakes.count || join(g, operation);
        }
    }
    return stored ? VYRE_OK : vyre_no_memory("to read dialects");
}

vyre_status vyre_packages_resolve(vyre_package *const *packages, size_t count,
                                  const vyre_streams *streams) {
    vyre_status status = VYRE_OK;
    /* Whoever calls an operation of a package that has a mistake has one, too: once again without
     * those, until no more are found. */
    for (bool again = true; again && !status;) {
        group g;
        again = false;
        status = gather(&g, packages, count, streams);
        for (size_t i = 0; i < count && !status; i++) {
            if (!packages[i]->mistakes.count) {
                status = vyre_package_resolve(packages[i], &g.library);
                again |= packages[i]->mistakes.count > 0;
            }
        }
        vyre_vec_free(&g.operations);
        vyre_map_free(&g.by_id);
    }
    for (size_t i = 0; i < count; i++) {
        if (packages[i]->mistakes.count) {
            vyre_package_unresolve(packages[i]);
        }
    }
    return status;
}
