/* Routes on disk: reading, merging with what others saved, and replacing the file at once. */
#define _DEFAULT_SOURCE /* flock, realpath */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/home.h"
#include "base/status.h"
#include "base/toml.h"
#include "base/trust.h"
#include "route/route.h"

/* About ten seconds: each of those that came before syncs two files. */
enum { LOCK_TRIES = 10000, LOCK_PAUSE_NS = 1000000 };

vyre_status vyre_routes_default_path(char **out_path) {
    vyre_strbuf path = {0};
    *out_path = NULL;
    (void)vyre_home_path(VYRE_HOME_CONFIG, "pgo.toml", &path);
    if (path.failed) {
        vyre_strbuf_free(&path);
        return vyre_no_memory("for the routes");
    }
    *out_path = path.data;
    return VYRE_OK;
}

void vyre_routes_path_free(char *path) {
    vyre_free(path);
}

/* The same failure with what it means here; memory that ran out stays what it is. */
static vyre_status explain(vyre_status status, vyre_status_code code, const char *fix,
                           const char *doing, const char *path) {
    if (vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY) {
        return vyre_status_annotate(status, "trying to %s the routes in %s", doing, path);
    }
    const char *file = NULL;
    uint32_t line = 0, column = 0;
    bool has_place = vyre_status_place(status, &file, &line, &column);
    vyre_status told = vyre_status_make(code, fix, "cannot %s the routes in %s: %s", doing, path,
                                        vyre_status_message(status));
    if (has_place) {
        told = vyre_status_at(told, path, line, column);
    }
    vyre_status_free(status);
    return told;
}

/* Routes decide which device runs a program, so that nobody else may write them. */
static vyre_status read_file(const char *path, vyre_strbuf *data) {
    char real[PATH_MAX];
    struct stat about;
    int file;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "make ~/.config/vyre readable: name a file, or set VYRE_ROUTES=off",
                                "%s is a folder, a pipe or a device, not a file of routes", path);
    }
    VYRE_TRY(vyre_trust_open(VYRE_TRUST_NOBODY, path, real, &file));
    vyre_status status = vyre_file_read_open(file, path, VYRE_TOML_MAX_BYTES, data);
    close(file);
    return status;
}

static vyre_status too_large(const char *path) {
    return vyre_status_make(VYRE_STATUS_IO,
                            "make ~/.config/vyre readable: remove the file, or entries that are "
                            "not needed",
                            "the routes in %s take more than %d bytes, the most that vyre reads",
                            path, VYRE_TOML_MAX_BYTES);
}

vyre_status vyre_routes_load(const char *path, vyre_routes **out_routes) {
    vyre_strbuf data = {0};
    *out_routes = NULL;
    VYRE_TRY(vyre_routes_create(out_routes));
    vyre_status status = read_file(path, &data);
    if (vyre_status_code_of(status) == VYRE_STATUS_NOT_FOUND) {
        vyre_status_free(status);
        return VYRE_OK;
    }
    if (vyre_status_code_of(status) == VYRE_STATUS_LIMIT) {
        vyre_status_free(status);
        status = too_large(path);
    } else if (vyre_status_code_of(status) == VYRE_STATUS_INVALID_ARGUMENT) {
        status = explain(status, VYRE_STATUS_IO, vyre_status_fix(status), "use", path);
    } else if (status) {
        status = explain(status, VYRE_STATUS_IO,
                         "make ~/.config/vyre readable, or the folder of that file", "read", path);
    } else {
        status = vyre_routes_decode(path, vyre_strbuf_string(&data), data.size, *out_routes);
        if (status) {
            status = explain(status, VYRE_STATUS_MALFORMED,
                             "regenerate it with the cert gate: remove it, then run `vyre certify`",
                             "parse", path);
        }
    }
    vyre_strbuf_free(&data);
    if (status) {
        vyre_routes_free(*out_routes);
        *out_routes = NULL;
    }
    return status;
}

static vyre_status lock_file(const char *path, int tries, int *out_lock) {
    vyre_strbuf name = {0};
    vyre_strbuf_printf(&name, "%s.lock", path);
    if (name.failed) {
        vyre_strbuf_free(&name);
        return vyre_no_memory("for the routes");
    }
    int lock = open(name.data, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int error = lock < 0 ? errno : 0;
    for (int i = 0; !error && flock(lock, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno == EWOULDBLOCK && i < tries) {
            nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE_NS}, NULL);
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    vyre_status status = VYRE_OK;
    if (error == EWOULDBLOCK) {
        status = vyre_status_make(VYRE_STATUS_TIMEOUT,
                                  "find the process that has it open, then try "
                                  "again",
                                  "another process holds the file lock %s", name.data);
    } else if (error) {
        status = vyre_status_make(
            VYRE_STATUS_IO, "make ~/.config/vyre writable, or the folder of that file",
            "cannot write the routes in %s: cannot lock %s: %s", path, name.data, strerror(error));
    }
    if (error && lock >= 0) {
        close(lock);
    }
    vyre_strbuf_free(&name);
    *out_lock = lock;
    return status;
}

static void unlock_file(int lock) {
    /* Closing is not enough where a process that was forked meanwhile has the descriptor, too. */
    flock(lock, LOCK_UN);
    close(lock);
}

/* Only the holder of the lock writes files beside the routes: those that are there were left behind
 * by processes that were killed. */
static void sweep(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t size = strlen(name);
    vyre_strbuf folder = {0};
    vyre_strbuf_add(&folder, path, (size_t)(name - path));
    vyre_strbuf_puts(&folder, slash ? "" : ".");
    DIR *opened = folder.failed ? NULL : opendir(folder.data);
    for (struct dirent *item; opened && (item = readdir(opened));) {
        size_t length = strlen(item->d_name);
        if (length > size + 5 && !memcmp(item->d_name, name, size) && item->d_name[size] == '.' &&
            !strcmp(item->d_name + length - 4, ".new")) {
            (void)unlinkat(dirfd(opened), item->d_name, 0);
        }
    }
    if (opened) {
        closedir(opened);
    }
    vyre_strbuf_free(&folder);
}

static vyre_status make_parent(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path) {
        return VYRE_OK;
    }
    vyre_strbuf folder = {0};
    vyre_strbuf_add(&folder, path, (size_t)(slash - path));
    vyre_status status =
        folder.failed ? vyre_no_memory("for the routes") : vyre_folder_make(folder.data);
    if (status) {
        status = explain(status, VYRE_STATUS_IO,
                         "make ~/.config/vyre writable, or the folder of that file",
                         "make the folder for", path);
    }
    vyre_strbuf_free(&folder);
    return status;
}

static void mark_saved(vyre_routes *routes) {
    for (size_t i = 0; i < routes->entries.count; i++) {
        vyre_route_entry *entry = routes->entries.items[i];
        entry->is_new = false;
        for (size_t k = 0; k < entry->rows.count; k++) {
            entry->rows.items[k].is_new = false;
        }
        for (size_t k = 0; k < entry->bans.count; k++) {
            entry->bans.items[k].is_new = false;
        }
    }
}

/* With the lock held. */
static vyre_status merge_and_write(vyre_routes *routes, const char *path) {
    vyre_routes *merged = NULL;
    vyre_strbuf text = {0};
    vyre_status status = vyre_routes_load(path, &merged);
    status = status ? status : vyre_routes_overlay(merged, routes);
    status = status ? status : vyre_routes_encode(merged, &text);
    if (!status && text.size > VYRE_TOML_MAX_BYTES) {
        status = too_large(path); /* nobody could read it again */
    }
    if (!status) {
        sweep(path);
        status = vyre_file_replace_own(path, vyre_strbuf_string(&text), text.size);
        if (status) {
            status =
                explain(status, VYRE_STATUS_IO,
                        "make ~/.config/vyre writable, or the folder of that file", "write", path);
        }
    }
    if (!status) {
        mark_saved(merged);
        vyre_routes old = *routes;
        merged->clock = routes->clock;
        *routes = *merged;
        *merged = old;
    }
    vyre_strbuf_free(&text);
    vyre_routes_free(merged);
    return status;
}

static vyre_status save(vyre_routes *routes, const char *path, int tries) {
    /* One file has one lock, whatever links lead to it. */
    char target[PATH_MAX];
    if (realpath(path, target)) {
        path = target;
    }
    int lock = -1;
    VYRE_TRY(make_parent(path));
    VYRE_TRY(lock_file(path, tries, &lock));
    vyre_status status = merge_and_write(routes, path);
    unlock_file(lock);
    return status;
}

vyre_status vyre_routes_save(vyre_routes *routes, const char *path) {
    return save(routes, path, LOCK_TRIES);
}

vyre_status vyre_routes_try_save(vyre_routes *routes, const char *path) {
    return save(routes, path, 0);
}
