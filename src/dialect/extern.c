/* Extern dialects: names that objects outside of the library bring. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/strbuf.h"
#include "dialect/registry.h"
#include "dialect/snapshot.h"

static const char prefix[] = "vyre-libs-";

typedef struct registration {
    const vyre_extern_dialect *dialects;
    const vyre_extern_operation *operations;
    size_t dialect_count, operation_count;
} registration;

static struct {
    pthread_mutex_t lock;
    VYRE_VEC(registration) items;
} registered = {.lock = PTHREAD_MUTEX_INITIALIZER};

vyre_status vyre_dialects_register_extern(const vyre_extern_dialect *dialects, size_t dialect_count,
                                          const vyre_extern_operation *operations,
                                          size_t operation_count) {
    registration added = {dialects, operations, dialect_count, operation_count};
    pthread_mutex_lock(&registered.lock);
    bool room = vyre_vec_push(&registered.items, added);
    pthread_mutex_unlock(&registered.lock);
    return room ? VYRE_OK : vyre_dialects_no_room(1, "extern registration");
}

/* What was registered, in order, and the definitions that come of it. */
typedef struct inventory {
    const vyre_extern_dialect **dialects;
    const vyre_extern_operation **operations;
    size_t dialect_count, operation_count;
    vyre_operation *definitions;
} inventory;

static void free_inventory(void *context) {
    inventory *all = context;
    vyre_free(all->dialects);
    vyre_free(all->operations);
    vyre_free(all->definitions);
    vyre_free(all);
}

static const char *or_empty(const char *text) {
    return text ? text : "";
}

static int compare_dialects(const void *left, const void *right) {
    return strcmp(or_empty((*(const vyre_extern_dialect *const *)left)->name),
                  or_empty((*(const vyre_extern_dialect *const *)right)->name));
}

static int compare_operations(const void *left_item, const void *right_item) {
    const vyre_extern_operation *left = *(const vyre_extern_operation *const *)left_item;
    const vyre_extern_operation *right = *(const vyre_extern_operation *const *)right_item;
    int order = strcmp(or_empty(left->dialect), or_empty(right->dialect));
    return order ? order : strcmp(or_empty(left->id), or_empty(right->id));
}

static vyre_status gather(inventory *all) {
    vyre_status status = VYRE_OK;
    pthread_mutex_lock(&registered.lock);
    size_t dialects = 0, operations = 0;
    bool overflow = false;
    for (size_t i = 0; i < registered.items.count; i++) {
        const registration *r = &registered.items.items[i];
        overflow |= __builtin_add_overflow(dialects, r->dialect_count, &dialects) ||
                    __builtin_add_overflow(operations, r->operation_count, &operations);
    }
    if (overflow) {
        status = vyre_dialects_no_room(SIZE_MAX, "extern dialect and operation");
        goto done;
    }
    all->dialects = vyre_alloc_array(dialects, sizeof *all->dialects);
    if (!all->dialects) {
        status = vyre_dialects_no_room(dialects, "extern dialect");
        goto done;
    }
    all->operations = vyre_alloc_array(operations, sizeof *all->operations);
    if (!all->operations) {
        status = vyre_dialects_no_room(operations, "extern operation");
        goto done;
    }
    for (size_t i = 0; i < registered.items.count; i++) {
        const registration *r = &registered.items.items[i];
        for (size_t k = 0; k < r->dialect_count; k++) {
            all->dialects[all->dialect_count++] = &r->dialects[k];
        }
        for (size_t k = 0; k < r->operation_count; k++) {
            all->operations[all->operation_count++] = &r->operations[k];
        }
    }
    qsort(all->dialects, dialects, sizeof *all->dialects, compare_dialects);
    qsort(all->operations, operations, sizeof *all->operations, compare_operations);
done:
    pthread_mutex_unlock(&registered.lock);
    return status;
}

static void separate(vyre_strbuf *errors) {
    vyre_strbuf_puts(errors, errors->size ? "; " : "");
}

static void check_dialects(const inventory *all, vyre_strbuf *errors) {
    for (size_t i = 0, end; i < all->dialect_count; i = end) {
        const char *name = or_empty(all->dialects[i]->name);
        for (end = i + 1;
             end < all->dialect_count && !strcmp(or_empty(all->dialects[end]->name), name);) {
            end++;
        }
        if (end - i > 1) {
            separate(errors);
            vyre_strbuf_printf(errors,
                               "the extern dialect `%s` is registered %zu times. Fix: register it "
                               "once",
                               name, end - i);
        }
        if (strncmp(name, prefix, sizeof prefix - 1) != 0) {
            separate(errors);
            vyre_strbuf_printf(errors,
                               "the name of the extern dialect `%s` does not start with `%s`. Fix: "
                               "rename it to `%s%s`",
                               name, prefix, prefix, name);
        }
    }
}

static void check_operations(const inventory *all, vyre_strbuf *errors) {
    for (size_t i = 0; i < all->operation_count; i++) {
        const vyre_extern_operation *operation = all->operations[i];
        const char *name = or_empty(operation->dialect), *id = or_empty(operation->id);
        const vyre_extern_dialect wanted = {.name = name};
        const vyre_extern_dialect *key = &wanted;
        if (!bsearch(&key, all->dialects, all->dialect_count, sizeof *all->dialects,
                     compare_dialects)) {
            separate(errors);
            vyre_strbuf_printf(errors,
                               "the extern operation `%s` names the dialect `%s`, which is not "
                               "registered. Fix: register the dialect, or correct its name",
                               id, name);
        }
        if (!*id) {
            separate(errors);
            vyre_strbuf_printf(errors,
                               "an extern operation of the dialect `%s` has an empty ID. Fix: give "
                               "it one",
                               name);
        }
    }
}

static vyre_status verify(const inventory *all) {
    vyre_strbuf errors = {0};
    check_dialects(all, &errors);
    check_operations(all, &errors);
    vyre_status status = VYRE_OK;
    if (errors.failed) {
        status = vyre_dialects_no_room(all->operation_count, "extern verification");
    } else if (errors.size) {
        status = vyre_status_make(
            VYRE_STATUS_INVALID_ARGUMENT,
            "register each extern operation under a submitted extern dialect before the registry "
            "is built; invalid ones must not be ignored",
            "the inventory of extern dialects is invalid: %s", vyre_strbuf_string(&errors));
    }
    vyre_strbuf_free(&errors);
    return status;
}

static const char *version_of(const inventory *all, const char *dialect) {
    const vyre_extern_dialect wanted = {.name = dialect};
    const vyre_extern_dialect *key = &wanted;
    const vyre_extern_dialect *const *found =
        bsearch(&key, all->dialects, all->dialect_count, sizeof *all->dialects, compare_dialects);
    return found ? or_empty((*found)->version) : "";
}

static vyre_status define(inventory *all, vyre_streams *streams) {
    size_t count = all->operation_count;
    all->definitions = vyre_alloc_zeroed(count, sizeof *all->definitions);
    if (!all->definitions) {
        return vyre_dialects_no_room(count, "extern operation definition");
    }
    for (size_t i = 0; i < count; i++) {
        all->definitions[i] = (vyre_operation){
            .id = all->operations[i]->id,
            .dialect = all->operations[i]->dialect,
            .version = version_of(all, all->operations[i]->dialect),
            .doc = "",
            .category = VYRE_CATEGORY_EXTENSION,
        };
        VYRE_TRY(vyre_streams_add(streams, &all->definitions[i]));
    }
    return VYRE_OK;
}

vyre_status vyre_extern_read(vyre_streams *streams) {
    inventory *all = vyre_alloc_zeroed(1, sizeof *all);
    if (!all) {
        return vyre_dialects_no_room(1, "extern inventory");
    }
    VYRE_TRY(vyre_streams_own(streams, free_inventory, all));
    VYRE_TRY(gather(all));
    VYRE_TRY(verify(all));
    return define(all, streams);
}
