#include "dialect/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/status.h"
#include "base/trust.h"
#include "base/units.h"

static vyre_status no_memory(void) {
    return vyre_no_memory("to look for dialects");
}

const char *vyre_folder_fate_name(vyre_folder_fate fate) {
    static const char *const names[] = {
#define NAME(name, text) [VYRE_FOLDER_##name] = text,
        VYRE_FOLDER_FATES(NAME)
#undef NAME
    };
    return names[fate];
}

/* What was found, written down */

typedef struct candidate {
    vyre_package *package;
    size_t record; /* its own */
    bool is_old;   /* what it was before */
    bool is_older; /* another one has the dialect in a higher version */
} candidate;

typedef struct search {
    vyre_folder_search *out;
    const vyre_folder_search *previous;
    const vyre_streams *streams;
    VYRE_VEC(candidate) candidates;
    VYRE_VEC(struct stat) seen; /* folders that were searched */
} search;

static vyre_status record(search *s, vyre_folder_record row) {
    row.path = vyre_arena_copy(&s->out->arena, row.path, strlen(row.path));
    row.detail = vyre_arena_copy(&s->out->arena, row.detail, strlen(row.detail));
    return row.path && row.detail && vyre_vec_push(&s->out->records, row) ? VYRE_OK : no_memory();
}

/* Writes down why a folder is refused, and frees the reason. */
static vyre_status refuse_folder(search *s, const char *path, vyre_status reason) {
    if (vyre_status_code_of(reason) == VYRE_STATUS_OUT_OF_MEMORY) {
        return reason;
    }
    vyre_status status =
        record(s, (vyre_folder_record){VYRE_FOLDER_REFUSED, true, path, vyre_status_text(reason)});
    vyre_status_free(reason);
    return status;
}

static vyre_status settle(search *s, size_t index, vyre_folder_fate fate, const char *detail) {
    vyre_folder_record *row = &s->out->records.items[index];
    row->fate = fate;
    row->detail = vyre_arena_copy(&s->out->arena, detail, strlen(detail));
    return row->detail ? VYRE_OK : no_memory();
}

/* Reading */

/* Opens as the folder is trusted. */
static vyre_status open_file(const vyre_folder *folder, const char *path, int *out_file) {
    char real[PATH_MAX];
    struct stat about;
    if (!folder->is_named) {
        return vyre_trust_open(VYRE_TRUST_NOBODY, path, real, out_file);
    }
    *out_file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*out_file < 0) {
        int error = errno;
        return vyre_status_make(error == ENOENT ? VYRE_STATUS_NOT_FOUND : VYRE_STATUS_IO,
                                error == ENOENT ? "create it, or name another file"
                                                : "give this user permission to read it",
                                "%s cannot be opened: %s", path, strerror(error));
    }
    if (fstat(*out_file, &about) != 0 || !S_ISREG(about.st_mode)) {
        close(*out_file);
        *out_file = -1;
        return vyre_status_make(VYRE_STATUS_IO, "replace it with a regular file, or remove it",
                                "%s is not a regular file", path);
    }
    return VYRE_OK;
}

static vyre_status read_file(const vyre_folder *folder, const char *path, size_t limit,
                             vyre_strbuf *out) {
    int file;
    vyre_status status = open_file(folder, path, &file);
    if (!status) {
        status = vyre_file_read_open(file, path, limit, out);
        close(file);
    }
    return status;
}

static vyre_status read_source(void *user, const char *name, vyre_strbuf *out_text,
                               vyre_strbuf *out_path) {
    const vyre_folder *folder = user;
    vyre_strbuf_printf(out_path, "%s/%s", folder->path, name);
    return out_path->failed ? no_memory()
                            : read_file(folder, out_path->data, VYRE_SOURCE_BYTES, out_text);
}

static vyre_status read_manifest(search *s, const vyre_folder *folder, const char *name) {
    vyre_strbuf path = {0}, data = {0};
    vyre_package *package = NULL;
    vyre_strbuf_printf(&path, "%s/%s", folder->path, name);
    vyre_status status = path.failed ? no_memory() : VYRE_OK;
    vyre_status reason = VYRE_OK;
    if (!status) {
        reason = read_file(folder, path.data, VYRE_MANIFEST_BYTES, &data);
        vyre_package_file file = {.path = path.data,
                                  .data = vyre_strbuf_string(&data),
                                  .size = data.size,
                                  .read = read_source,
                                  .user = (void *)(uintptr_t)folder};
        status = vyre_package_read(&file, &package);
    }
    if (!status && reason) { /* a package of nothing carries the reason, and nothing else */
        vyre_package_forgive(package);
        status = vyre_package_mistake(package, (vyre_package_place){0}, reason);
        reason = VYRE_OK;
    }
    vyre_status_free(reason);
    if (!status) {
        status = record(s, (vyre_folder_record){VYRE_FOLDER_ADMITTED, false, path.data, ""});
    }
    if (!status &&
        vyre_vec_push(&s->candidates,
                      (candidate){.package = package, .record = s->out->records.count - 1})) {
        package = NULL;
    } else if (!status) {
        status = no_memory();
    }
    vyre_package_release(package);
    vyre_strbuf_free(&data);
    vyre_strbuf_free(&path);
    return status;
}

/* Folders */

static bool is_manifest(const char *name) {
    size_t size = strlen(name);
    return *name != '.' && size > 5 && strcmp(name + size - 5, ".toml") == 0;
}

static int compare_names(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static vyre_status read_names(search *s, const vyre_folder *folder, DIR *open_folder) {
    vyre_arena arena = {0};
    VYRE_VEC(const char *) names = {0};
    vyre_status status =
        record(s, (vyre_folder_record){VYRE_FOLDER_SEARCHED, true, folder->path, folder->origin});
    for (const struct dirent *item; !status && (item = readdir(open_folder));) {
        if (is_manifest(item->d_name)) {
            const char *copy = vyre_arena_copy(&arena, item->d_name, strlen(item->d_name));
            status = copy && vyre_vec_push(&names, copy) ? VYRE_OK : no_memory();
        }
    }
    if (names.count) {
        qsort(names.items, names.count, sizeof *names.items, compare_names);
    }
    for (size_t i = 0; !status && i < names.count; i++) {
        status = read_manifest(s, folder, names.items[i]);
    }
    vyre_vec_free(&names);
    vyre_arena_deinit(&arena);
    return status;
}

/* Two places may be one folder, whose dialects would be duplicates of themselves. */
static bool was_seen(const search *s, const struct stat *about) {
    for (size_t i = 0; i < s->seen.count; i++) {
        const struct stat *other = &s->seen.items[i];
        if (other->st_dev == about->st_dev && other->st_ino == about->st_ino) {
            return true;
        }
    }
    return false;
}

static vyre_status read_folder(search *s, const vyre_folder *folder) {
    struct stat about;
    if (*folder->path != '/' && !folder->is_named) {
        return refuse_folder(
            s, folder->path,
            vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "write an absolute path",
                             "%s has a relative path, and vyre searches only absolute ones",
                             folder->origin));
    }
    DIR *open_folder = opendir(folder->path);
    int error = errno;
    if (!open_folder && error == ENOENT) {
        return record(s,
                      (vyre_folder_record){VYRE_FOLDER_ABSENT, true, folder->path, folder->origin});
    }
    if (!open_folder || fstat(dirfd(open_folder), &about) != 0) {
        if (open_folder) {
            closedir(open_folder);
        }
        return refuse_folder(s, folder->path,
                             vyre_status_make(VYRE_STATUS_IO,
                                              error == ENOTDIR
                                                  ? "name the folder that holds the manifest"
                                                  : "give this user permission to read it",
                                              "cannot read the folder: %s", strerror(error)));
    }
    vyre_status status = VYRE_OK;
    if (!was_seen(s, &about)) {
        vyre_status reason =
            folder->is_named ? VYRE_OK : vyre_trust_check(VYRE_TRUST_NOBODY, folder->path, &about);
        if (reason) {
            status = refuse_folder(s, folder->path, reason);
        } else if (!vyre_vec_push(&s->seen, about)) {
            status = no_memory();
        } else {
            status = read_names(s, folder, open_folder);
        }
    }
    closedir(open_folder);
    return status;
}

/* Who stays */

static vyre_package *find_previous(const search *s, const char *path) {
    for (size_t i = 0; s->previous && i < s->previous->packages.count; i++) {
        if (!strcmp(s->previous->packages.items[i]->path, path)) {
            return s->previous->packages.items[i];
        }
    }
    return NULL;
}

/* Refuses a candidate, or puts what it was before in its place. */
static vyre_status give_up(search *s, candidate *c) {
    vyre_package *old = c->is_old ? NULL : find_previous(s, c->package->path);
    old = old && old->contents != c->package->contents ? old : NULL; /* it would fail again */
    vyre_strbuf reasons = {0};
    vyre_package_describe(c->package, &reasons);
    vyre_status status = reasons.failed
                             ? no_memory()
                             : settle(s, c->record, old ? VYRE_FOLDER_KEPT : VYRE_FOLDER_REFUSED,
                                      vyre_strbuf_string(&reasons));
    vyre_strbuf_free(&reasons);
    vyre_package_release(c->package);
    c->package = old ? vyre_package_retain(old) : NULL;
    c->is_old = true;
    return status;
}

static vyre_status drop_mistaken(search *s) {
    for (size_t i = 0; i < s->candidates.count; i++) {
        candidate *c = &s->candidates.items[i];
        if (c->package && c->package->mistakes.count) {
            VYRE_TRY(give_up(s, c));
        }
    }
    return VYRE_OK;
}

/* Whether somebody stands aside for it. */
static bool is_newer(const search *s, const candidate *c) {
    for (size_t i = 0; i < s->candidates.count; i++) {
        const candidate *other = &s->candidates.items[i];
        if (other->package && other->is_older &&
            !strcmp(other->package->dialect, c->package->dialect)) {
            return true;
        }
    }
    return false;
}

/* After sources were read: who was edited and has mistakes is what it was before, who has them in a
 * newer version makes way, and all others that had some are read again, as they may have called it.
 * Tells whether there was one. */
static vyre_status undo_edits(search *s, bool *out_undone) {
    vyre_status status = VYRE_OK;
    *out_undone = false;
    for (size_t i = 0; i < s->candidates.count && !status; i++) {
        candidate *c = &s->candidates.items[i];
        if (!c->package || !c->package->mistakes.count) {
            continue;
        }
        const vyre_package *old = c->is_old ? NULL : find_previous(s, c->package->path);
        if ((old && old->contents != c->package->contents) || is_newer(s, c)) {
            status = give_up(s, c);
            *out_undone = true;
        }
    }
    for (size_t i = 0; i < s->candidates.count && *out_undone; i++) {
        if (s->candidates.items[i].package) {
            vyre_package_forgive(s->candidates.items[i].package);
        }
    }
    return status;
}

/* A dialect has one owner: of several manifests the one with the highest version. */
static vyre_status compare_versions(search *s, candidate *first, candidate *second) {
    const char *dialect = first->package->dialect;
    int order = vyre_version_compare(first->package->version, second->package->version);
    if (strcmp(dialect, second->package->dialect) != 0) {
        return VYRE_OK;
    }
    if (!order) {
        return vyre_package_mistake(
            second->package, (vyre_package_place){1, 1},
            vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                             "remove one of them, or give the one to use a higher version",
                             "the dialect `%s` %s is already defined in %s", dialect,
                             second->package->version, first->package->path));
    }
    candidate *loser = order < 0 ? first : second, *winner = order < 0 ? second : first;
    loser->is_older = true;
    return settle(s, loser->record, VYRE_FOLDER_OLDER, winner->package->path);
}

static vyre_status check_linked(const search *s, vyre_package *package) {
    for (size_t i = 0; i < s->streams->operations.count; i++) {
        if (!strcmp(s->streams->operations.items[i]->dialect, package->dialect)) {
            return vyre_package_mistake(
                package, (vyre_package_place){1, 1},
                vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "choose another name for it",
                                 "vyre or the program that uses it already has a dialect `%s`",
                                 package->dialect));
        }
    }
    return VYRE_OK;
}

/* It has no mistake so far, and nobody has its dialect in a higher version. */
static bool stands(const candidate *c) {
    return c->package && !c->is_older && !c->package->mistakes.count;
}

/* Who takes part; those that have mistakes then are dropped. */
static vyre_status choose_owners(search *s) {
    for (size_t i = 0; i < s->candidates.count; i++) {
        candidate *c = &s->candidates.items[i];
        c->is_older = false;
        VYRE_TRY(c->package ? check_linked(s, c->package) : VYRE_OK);
    }
    for (size_t i = 0; i < s->candidates.count; i++) {
        candidate *first = &s->candidates.items[i];
        for (size_t k = i + 1; k < s->candidates.count && stands(first); k++) {
            if (stands(&s->candidates.items[k])) {
                VYRE_TRY(compare_versions(s, first, &s->candidates.items[k]));
            }
        }
    }
    return drop_mistaken(s);
}

/* Reads the sources until everybody who is left is right. */
static vyre_status resolve(search *s) {
    for (bool again = true; again;) {
        VYRE_VEC(vyre_package *) packages = {0};
        bool stored = true;
        for (size_t i = 0; i < s->candidates.count && stored; i++) {
            const candidate *c = &s->candidates.items[i];
            stored = !stands(c) || vyre_vec_push(&packages, c->package);
        }
        vyre_status status = stored
                                 ? vyre_packages_resolve(packages.items, packages.count, s->streams)
                                 : no_memory();
        vyre_vec_free(&packages);
        VYRE_TRY(status);
        VYRE_TRY(undo_edits(s, &again));
        VYRE_TRY(again ? choose_owners(s) : VYRE_OK);
    }
    return drop_mistaken(s);
}

static vyre_status admit(search *s) {
    for (size_t i = 0; i < s->candidates.count; i++) {
        candidate *c = &s->candidates.items[i];
        if (!stands(c)) {
            continue;
        }
        if (!c->is_old) {
            vyre_strbuf about = {0};
            vyre_strbuf_printf(&about, "%s %s, %zu operation%s", c->package->dialect,
                               c->package->version, c->package->operation_count,
                               vyre_plural(c->package->operation_count));
            vyre_status status = about.failed ? no_memory()
                                              : settle(s, c->record, VYRE_FOLDER_ADMITTED,
                                                       vyre_strbuf_string(&about));
            vyre_strbuf_free(&about);
            VYRE_TRY(status);
        }
        if (!vyre_vec_push(&s->out->packages, c->package)) {
            return no_memory();
        }
        c->package = NULL;
    }
    return VYRE_OK;
}

static vyre_status run(search *s, const vyre_folder_list *list) {
    for (size_t i = 0; i < list->folders.count; i++) {
        VYRE_TRY(read_folder(s, &list->folders.items[i]));
    }
    VYRE_TRY(drop_mistaken(s));
    VYRE_TRY(choose_owners(s));
    VYRE_TRY(resolve(s));
    return admit(s);
}

vyre_status vyre_folder_search_run(vyre_folder_search *out, const vyre_folder_list *list,
                                   const vyre_folder_search *previous,
                                   const vyre_streams *streams) {
    search s = {.out = out, .previous = previous, .streams = streams};
    *out = (vyre_folder_search){0};
    vyre_status status = run(&s, list);
    for (size_t i = 0; i < s.candidates.count; i++) {
        vyre_package_release(s.candidates.items[i].package);
    }
    vyre_vec_free(&s.candidates);
    vyre_vec_free(&s.seen);
    return status;
}

void vyre_folder_search_deinit(vyre_folder_search *found) {
    for (size_t i = 0; i < found->packages.count; i++) {
        vyre_package_release(found->packages.items[i]);
    }
    vyre_vec_free(&found->packages);
    vyre_vec_free(&found->records);
    vyre_arena_deinit(&found->arena);
    *found = (vyre_folder_search){0};
}

static void release(void *context) {
    vyre_package_release(context);
}

vyre_status vyre_folder_search_give(const vyre_folder_search *found, vyre_streams *streams) {
    for (size_t i = 0; i < found->packages.count; i++) {
        vyre_package *package = found->packages.items[i];
        VYRE_TRY(vyre_streams_own(streams, release, vyre_package_retain(package)));
        for (size_t k = 0; k < package->operation_count; k++) {
            VYRE_TRY(vyre_streams_add(streams, &package->operations[k]));
        }
    }
    return VYRE_OK;
}
