/* A watch: loads the dialects again when something changes in their folders. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/status.h"
#include "base/vec.h"
#include "dialect/folder.h"
#include "dialect/notice.h"
#include "dialect/registry.h"

/* What is known of an operation to tell whether it has changed. */
typedef struct known {
    const char *id; /* of the search that is kept */
    vyre_hash128 print;
} known;
typedef VYRE_VEC(known) known_list;

struct vyre_dialects_watch {
    vyre_folder_list list;
    vyre_notice notice;
    vyre_streams fixed; /* what does not change: read once */
    vyre_folder_search found;
    known_list operations; /* by id */
    bool was_told;         /* what there is at the start */
};

/* What an operation is, as one number */

static void print_program(vyre_strbuf *text, const vyre_program *program) {
    vyre_digest digest = vyre_program_digest(program);
    vyre_strbuf_add(text, (const char *)&digest, sizeof digest);
}

/* A NUL parts what is written. */
static void print_string(vyre_strbuf *text, const char *string) {
    vyre_strbuf_puts(text, string ? string : "");
    vyre_strbuf_putc(text, '\0');
}

static void print_operation(vyre_strbuf *text, const vyre_operation *operation) {
    print_string(text, operation->version);
    print_string(text, operation->doc);
    for (size_t i = 0; i < operation->parameter_count; i++) {
        const vyre_parameter *parameter = &operation->parameters[i];
        print_string(text, parameter->name);
        vyre_strbuf_printf(text, "%d %d %d ", (int)parameter->role, (int)parameter->type,
                           parameter->is_buffer);
    }
    for (size_t i = 0; i < operation->law_count; i++) {
        vyre_strbuf_printf(text, "%d", (int)operation->laws[i].kind);
        print_string(text, operation->laws[i].operand);
    }
    for (size_t i = 0; i < operation->witness_count; i++) {
        print_string(text, operation->witnesses[i].arguments);
        print_string(text, operation->witnesses[i].expected);
    }
    print_string(text, operation->sample);
    print_string(text, operation->work);
    for (size_t i = 0; i < operation->variant_count; i++) {
        print_string(text, operation->variants[i].entry);
        print_string(text, operation->variants[i].suits);
        print_program(text, operation->variants[i].built);
    }
    print_program(text, operation->built);
}

static int compare_known(const void *left, const void *right) {
    return strcmp(((const known *)left)->id, ((const known *)right)->id);
}

static vyre_status list_known(const vyre_folder_search *found, known_list *out) {
    vyre_strbuf text = {0};
    bool stored = true;
    for (size_t i = 0; i < found->packages.count; i++) {
        const vyre_package *package = found->packages.items[i];
        for (size_t k = 0; k < package->operation_count && stored; k++) {
            const vyre_operation *operation = &package->operations[k];
            vyre_strbuf_cut(&text, 0);
            print_operation(&text, operation);
            known row = {operation->id, vyre_hash_128(vyre_strbuf_string(&text), text.size)};
            stored = !text.failed && vyre_vec_push(out, row);
        }
    }
    vyre_strbuf_free(&text);
    if (out->count) {
        qsort(out->items, out->count, sizeof *out->items, compare_known);
    }
    return stored ? VYRE_OK : vyre_no_memory("to watch dialects");
}

/* Telling */

typedef struct teller {
    vyre_dialect_listener listener;
    void *user;
    const vyre_dialects *snapshot;
} teller;

static void tell(const teller *t, vyre_dialect_event event) {
    if (t->listener) {
        event.snapshot = t->snapshot;
        event.detail = event.detail ? event.detail : "";
        t->listener(t->user, &event);
    }
}

/* Walks both lists in order; tells where `t` is given, and counts. */
static size_t compare_operations(const known_list *before, const known_list *after,
                                 const teller *t) {
    size_t i = 0, k = 0, count = 0;
    while (i < before->count || k < after->count) {
        const known *old = i < before->count ? &before->items[i] : NULL;
        const known *new = k < after->count ? &after->items[k] : NULL;
        int order = !old ? 1 : !new ? -1 : strcmp(old->id, new->id);
        vyre_dialect_event event = {.kind = order < 0   ? VYRE_DIALECT_EVENT_REMOVED
                                            : order > 0 ? VYRE_DIALECT_EVENT_ADDED
                                                        : VYRE_DIALECT_EVENT_CHANGED,
                                    .name = order > 0 ? new->id : old->id};
        i += order <= 0;
        k += order >= 0;
        if (order || old->print.low != new->print.low || old->print.high != new->print.high) {
            count++;
            if (t) {
                tell(t, event);
            }
        }
    }
    return count;
}

static bool is_refused(const vyre_folder_record *record) {
    return record->fate == VYRE_FOLDER_REFUSED || record->fate == VYRE_FOLDER_KEPT;
}

static const vyre_folder_record *find_record(const vyre_folder_search *found, const char *path) {
    for (size_t i = 0; i < found->records.count; i++) {
        if (!strcmp(found->records.items[i].path, path)) {
            return &found->records.items[i];
        }
    }
    return NULL;
}

/* Tells of a refusal once, and when it is over. */
static void compare_refusals(const vyre_folder_search *before, const vyre_folder_search *after,
                             const teller *t) {
    for (size_t i = 0; i < after->records.count; i++) {
        const vyre_folder_record *record = &after->records.items[i];
        const vyre_folder_record *old = find_record(before, record->path);
        bool was_refused = old && is_refused(old);
        if (is_refused(record) && (!was_refused || strcmp(old->detail, record->detail) != 0)) {
            tell(t, (vyre_dialect_event){.kind = VYRE_DIALECT_EVENT_REFUSED,
                                         .name = record->path,
                                         .detail = record->detail,
                                         .is_kept = record->fate == VYRE_FOLDER_KEPT});
        } else if (!is_refused(record) && was_refused) {
            tell(t,
                 (vyre_dialect_event){.kind = VYRE_DIALECT_EVENT_RESTORED, .name = record->path});
        }
    }
}

/* Loading */

/* Everything there is: what does not change, and what was found. */
static vyre_status gather(const vyre_dialects_watch *watch, const vyre_folder_search *found,
                          vyre_streams *streams) {
    for (size_t i = 0; i < watch->fixed.operations.count; i++) {
        VYRE_TRY(vyre_streams_add(streams, watch->fixed.operations.items[i]));
    }
    return vyre_folder_search_give(found, streams);
}

static vyre_status install(const vyre_dialects_watch *watch, const vyre_folder_search *found) {
    vyre_streams streams = {0};
    vyre_dialects *snapshot;
    vyre_status status = gather(watch, found, &streams);
    status = status ? status : vyre_streams_make(&streams, &snapshot);
    if (!status) {
        vyre_dialects_install(snapshot);
    }
    vyre_streams_free(&streams);
    return status;
}

static vyre_status reload(vyre_dialects_watch *watch, vyre_dialect_listener listener, void *user) {
    vyre_folder_search found;
    known_list operations = {0};
    vyre_dialects_guard guard;
    const vyre_dialects *snapshot = NULL;
    vyre_status status = vyre_folder_search_run(&found, &watch->list, &watch->found, &watch->fixed);
    status = status ? status : list_known(&found, &operations);
    if (!status &&
        (!watch->was_told || compare_operations(&watch->operations, &operations, NULL))) {
        status = install(watch, &found);
    }
    status = status ? status : vyre_dialects_try_enter(&guard, &snapshot);
    if (!status) {
        teller t = {listener, user, snapshot};
        compare_refusals(&watch->found, &found, &t);
        (void)compare_operations(&watch->operations, &operations, &t);
        vyre_dialects_leave(&guard);
        vyre_folder_search old = watch->found;
        watch->found = found;
        found = old;
        known_list old_operations = watch->operations;
        watch->operations = operations;
        operations = old_operations;
        watch->was_told = true;
    }
    vyre_vec_free(&operations);
    vyre_folder_search_deinit(&found);
    return status;
}

/* The interface */

static vyre_status check_folder(const char *path) {
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        return VYRE_OK;
    }
    return vyre_status_make(VYRE_STATUS_NOT_FOUND, "name an existing folder",
                            "the folder %s does not exist", path);
}

static vyre_status set_up(vyre_dialects_watch *watch, const char *const *folders, size_t count) {
    VYRE_TRY(vyre_folder_list_usual(&watch->list));
    for (size_t i = 0; i < count; i++) {
        VYRE_TRY(check_folder(folders[i]));
        VYRE_TRY(vyre_folder_list_add(&watch->list, folders[i], "the watch", true));
    }
    return vyre_streams_read_fixed(&watch->fixed);
}

vyre_status vyre_dialects_watch_start(const char *const *folders, size_t count, bool looks,
                                      vyre_dialects_watch **out_watch) {
    vyre_dialects_watch *watch = vyre_alloc_zeroed(1, sizeof *watch);
    *out_watch = NULL;
    if (!watch) {
        return vyre_no_memory("to watch dialects");
    }
    watch->notice.descriptor = -1;
    vyre_status status = set_up(watch, folders, count);
    if (status) {
        vyre_dialects_watch_close(watch);
        return status;
    }
    vyre_notice_open(&watch->notice, &watch->list, looks);
    *out_watch = watch;
    return VYRE_OK;
}

vyre_status vyre_dialects_watch_open(const char *const *folders, size_t count,
                                     vyre_dialects_watch **out_watch) {
    return vyre_dialects_watch_start(folders, count, false, out_watch);
}

vyre_status vyre_dialects_watch_wait(vyre_dialects_watch *watch, uint32_t timeout_ms,
                                     vyre_dialect_listener listener, void *user) {
    if (!watch->was_told || vyre_notice_wait(&watch->notice, timeout_ms)) {
        return reload(watch, listener, user);
    }
    return VYRE_OK;
}

void vyre_dialects_watch_close(vyre_dialects_watch *watch) {
    if (watch) {
        vyre_notice_close(&watch->notice);
        vyre_vec_free(&watch->operations);
        vyre_folder_search_deinit(&watch->found);
        vyre_streams_free(&watch->fixed);
        vyre_folder_list_deinit(&watch->list);
        vyre_free(watch);
    }
}
