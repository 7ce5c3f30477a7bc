#define _DEFAULT_SOURCE /* flock, fdopendir */

#include "store/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/home.h"
#include "base/status.h"

enum { LOCK_TRIES = 1000, LOCK_PAUSE_NS = 2000000 };

static vyre_status trouble(const vyre_store_place *place, const char *doing, int error) {
    return vyre_status_make(
        VYRE_STATUS_IO, "check that folder, or set VYRE_CACHE_LIMIT to 0 to run without a cache",
        "cannot %s the cache of compiled programs in %s: %s", doing,
        vyre_strbuf_string(&place->path), strerror(error));
}

/* Compiled programs are executed: whoever can write them can do what this user can. */
typedef enum verdict { SAFE, FOREIGN, WRITABLE } verdict;

static verdict judge(const struct stat *about) {
    return about->st_uid != geteuid()             ? FOREIGN
           : about->st_mode & (S_IWGRP | S_IWOTH) ? WRITABLE
                                                  : SAFE;
}

static vyre_status check_folder(const vyre_store_place *place) {
    struct stat about;
    const char *path = vyre_strbuf_string(&place->path);
    if (fstat(place->folder, &about) != 0) {
        return trouble(place, "look into", errno);
    }
    switch (judge(&about)) {
    case SAFE: break;
    case FOREIGN:
        return vyre_status_make(VYRE_STATUS_IO,
                                "set XDG_CACHE_HOME to your own folder, or remove that one",
                                "the cache of compiled programs is not used: %s belongs to another "
                                "user",
                                path);
    case WRITABLE:
        return vyre_status_make(VYRE_STATUS_IO,
                                "inspect its contents, then remove that permission with chmod 700",
                                "the cache of compiled programs is not used: other users may write "
                                "to %s",
                                path);
    }
    return VYRE_OK;
}

/* About the open file: what its name stands for may change meanwhile. */
static vyre_status check_file(const vyre_store_place *place, const char *name, int file) {
    struct stat about;
    const char *path = vyre_strbuf_string(&place->path);
    if (fstat(file, &about) != 0) {
        return trouble(place, "read", errno);
    }
    if (!S_ISREG(about.st_mode)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "remove it",
                                "a compiled program is not used: %s/%s is not a file", path, name);
    }
    switch (judge(&about)) {
    case SAFE: break;
    case FOREIGN:
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "remove it, and check who may write to that folder",
                                "a compiled program is not used: %s/%s belongs to another user, "
                                "with ID %lu",
                                path, name, (unsigned long)about.st_uid);
    case WRITABLE:
        return vyre_status_make(
            VYRE_STATUS_INVALID_ARGUMENT, "nothing is lost: it is compiled and stored again",
            "a compiled program is not used: other users may write to %s/%s", path, name);
    }
    return VYRE_OK;
}

vyre_status vyre_store_open(vyre_store_place *place, bool make) {
    *place = (vyre_store_place){.folder = -1};
    (void)vyre_home_path(VYRE_HOME_CACHE, "pipelines", &place->path);
    if (place->path.failed) {
        return vyre_no_memory("for the cache of compiled programs");
    }
    if (!place->path.size) {
        return VYRE_OK;
    }
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    place->folder = open(place->path.data, flags);
    if (place->folder < 0 && errno == ENOENT) {
        if (!make) {
            return VYRE_OK;
        }
        vyre_status status = vyre_folder_make(place->path.data);
        if (status) {
            return vyre_status_annotate(status, "for the cache of compiled programs");
        }
        place->folder = open(place->path.data, flags);
    }
    return place->folder < 0 ? trouble(place, "open", errno) : check_folder(place);
}

void vyre_store_close(vyre_store_place *place) {
    if (place->folder >= 0) {
        close(place->folder);
    }
    vyre_strbuf_free(&place->path);
    place->folder = -1;
}

vyre_status vyre_store_lock(const vyre_store_place *place, bool wait, int *out_lock) {
    int lock = openat(place->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int error = lock < 0 ? errno : 0;
    for (int i = 0; !error && flock(lock, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno == EWOULDBLOCK && wait && i < LOCK_TRIES) {
            nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE_NS}, NULL);
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    *out_lock = lock;
    if (!error) {
        return VYRE_OK;
    }
    if (lock >= 0) {
        close(lock);
    }
    if (error == EWOULDBLOCK) {
        return vyre_status_make(
            VYRE_STATUS_TIMEOUT, "find the process that has it open, then try again",
            "another process holds the file lock in %s", vyre_strbuf_string(&place->path));
    }
    return trouble(place, "lock", error);
}

void vyre_store_unlock(int lock) {
    /* Closing is not enough where a process that was forked meanwhile has the descriptor, too. */
    flock(lock, LOCK_UN);
    close(lock);
}

/* Whether a file is the store's: 32 hexadecimal digits, or those and what vyre_file_put adds.
 */
static bool is_ours(const char *name, bool *out_temporary) {
    size_t size = strlen(name);
    *out_temporary = size > VYRE_STORE_NAME_SIZE;
    if (strspn(name, "0123456789abcdef") != VYRE_STORE_NAME_SIZE ||
        size >= sizeof((vyre_store_file *)0)->name) {
        return false;
    }
    return !*out_temporary ||
           (name[VYRE_STORE_NAME_SIZE] == '.' && !strcmp(name + size - 4, ".new"));
}

/* Since 1970; times that do not fit, which somebody made up, are cut off. */
static int64_t nanoseconds(const struct timespec *time) {
    const int64_t unit = 1000000000, most = INT64_MAX / unit - 1;
    int64_t seconds = time->tv_sec > most    ? most
                      : time->tv_sec < -most ? -most
                                             : (int64_t)time->tv_sec;
    return seconds * unit + time->tv_nsec;
}

static int compare_files(const void *left, const void *right) {
    const vyre_store_file *a = left, *b = right;
    return a->used_ns != b->used_ns ? (a->used_ns < b->used_ns ? -1 : 1) : strcmp(a->name, b->name);
}

vyre_status vyre_store_scan(const vyre_store_place *place, vyre_store_files *files) {
    vyre_status status = VYRE_OK;
    *files = (vyre_store_files){0};
    int copy = openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *opened = copy < 0 ? NULL : fdopendir(copy);
    if (!opened) {
        status = trouble(place, "read", errno);
        if (copy >= 0) {
            close(copy);
        }
        return status;
    }
    for (struct dirent *item; !status && (item = readdir(opened));) {
        struct stat about;
        vyre_store_file file = {0};
        if (!is_ours(item->d_name, &file.is_temporary) ||
            fstatat(place->folder, item->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            S_ISDIR(about.st_mode)) {
            continue; /* or it went meanwhile */
        }
        memcpy(file.name, item->d_name, strlen(item->d_name));
        file.bytes = (uint64_t)about.st_size;
        file.used_ns = nanoseconds(&about.st_mtim);
        if (!vyre_vec_push(&files->list, file)) {
            status = vyre_no_memory("for the cache of compiled programs");
        }
    }
    closedir(opened);
    if (!status && files->list.count) {
        qsort(files->list.items, files->list.count, sizeof *files->list.items, compare_files);
    }
    return status;
}

bool vyre_store_remove(const vyre_store_place *place, const char *name) {
    return unlinkat(place->folder, name, 0) == 0 || errno == ENOENT;
}

vyre_status vyre_store_read(const vyre_store_place *place, const char *name, uint64_t limit,
                            vyre_strbuf *out) {
    int file = openat(place->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) {
        return errno == ENOENT ? vyre_status_make(VYRE_STATUS_NOT_FOUND, NULL, "no such entry")
                               : trouble(place, "read", errno);
    }
    vyre_status status = check_file(place, name, file);
    if (!status) {
        status = vyre_file_read_open(file, name, limit < SIZE_MAX ? (size_t)limit : SIZE_MAX, out);
    }
    close(file);
    return status;
}

vyre_status vyre_store_write(const vyre_store_place *place, const char *name, const void *data,
                             size_t size) {
    return vyre_file_put(place->folder, vyre_strbuf_string(&place->path), name, data, size);
}

void vyre_store_touch(const vyre_store_place *place, const char *name) {
    (void)utimensat(place->folder, name, NULL, AT_SYMLINK_NOFOLLOW);
}
