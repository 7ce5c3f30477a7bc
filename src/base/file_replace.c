/* Replacing files, whoever else may write to the folder. */
#define _XOPEN_SOURCE 700 /* S_ISVTX */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/status.h"

enum { NAME_TRIES = 100, LINKS_MAX = 40 };

/* What a file is to be written from. */
typedef struct contents {
    const void *data;
    size_t size;
    bool is_synced; /* it must be on the disk before it gets its name */
} contents;

/* Makes an empty file whose name begins with `path` and puts that name into `name`; a descriptor,
 * or -1 with errno set. O_EXCL follows no link that somebody planted there. */
static int create_beside(int folder, const char *path, mode_t mode, vyre_strbuf *name) {
    static _Atomic unsigned counter;
    for (int i = 0; i < NAME_TRIES; i++) {
        vyre_strbuf_cut(name, 0);
        vyre_strbuf_printf(name, "%s.%ld-%u.new", path, (long)getpid(),
                           atomic_fetch_add(&counter, 1));
        if (name->failed) {
            errno = ENOMEM;
            return -1;
        }
        int file = openat(folder, name->data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (file >= 0 || (errno != EEXIST && errno != EINTR)) {
            return file;
        }
    }
    return -1;
}

static int write_contents(int file, const contents *what) {
    int error = vyre_file_write_open(file, what->data, what->size);
    return !error && what->is_synced && fsync(file) != 0 ? errno : error;
}

vyre_status vyre_file_put(int folder, const char *folder_path, const char *name, const void *data,
                          size_t size) {
    vyre_strbuf beside = {0};
    int file = create_beside(folder, name, 0600, &beside);
    int error = file < 0 ? errno : write_contents(file, &(contents){data, size, true});
    if (file >= 0 && close(file) != 0 && !error) {
        error = errno;
    }
    if (!error && renameat(folder, beside.data, folder, name) != 0) {
        error = errno;
    }
    if (file >= 0 && error) {
        unlinkat(folder, beside.data, 0);
    }
    if (!error) {
        fsync(folder); /* some file systems cannot, and nothing more can be done then */
    }
    vyre_strbuf_free(&beside);
    return error ? vyre_status_annotate(vyre_file_error("write", name, error), "in %s", folder_path)
                 : VYRE_OK;
}

/* The folder that a path of less than PATH_MAX bytes lies in. */
static void find_folder(const char *path, char folder[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    size_t size = !slash || slash == path ? 1 : (size_t)(slash - path);
    memcpy(folder, slash ? path : ".", size);
    folder[size] = '\0';
}

/* The rename itself must be on the disk, too. Some file systems cannot sync a directory; then there
 * is nothing more to be done. */
static void sync_folder_of(const char *path) {
    char folder[PATH_MAX];
    find_folder(path, folder);
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file >= 0) {
        fsync(file);
        close(file);
    }
}

/* A file about to be replaced. */
typedef struct target {
    char path[PATH_MAX]; /* of the file itself, behind all links */
    bool exists;
    struct stat about; /* if it exists */
} target;

/* In a folder such as /tmp anybody may have put a link, a pipe or a file under the name that this
 * user is going to write. As Linux does with protected_symlinks and its like, only what belongs to
 * this user or to the folder's owner counts there. A file with a second name may be one of theirs
 * that somebody gave this name to. */
static vyre_status check_planted(const char *name, const char *path, const struct stat *about) {
    struct stat around;
    char folder[PATH_MAX];
    find_folder(path, folder);
    if (stat(folder, &around) != 0 || !(around.st_mode & S_ISVTX) || !(around.st_mode & S_IWOTH)) {
        return VYRE_OK;
    }
    bool is_foreign = about->st_uid != geteuid() && about->st_uid != around.st_uid;
    if (!is_foreign && S_ISREG(about->st_mode) && about->st_nlink > 1) {
        return vyre_status_make(
            VYRE_STATUS_IO, "name another file, or remove this name of it",
            "%s is not written: it is a hard link, in a folder that everybody may write to", name);
    }
    return is_foreign ? vyre_status_make(VYRE_STATUS_IO,
                                         "name a file in your own folder, or have the other one "
                                         "removed",
                                         "%s is not written: it is a %s of another user, with ID "
                                         "%lu, in a folder that everybody may write to",
                                         name, S_ISLNK(about->st_mode) ? "link" : "file",
                                         (unsigned long)about->st_uid)
                      : VYRE_OK;
}

/* Puts in place of the link at `to->path` where it leads; errno, or 0. */
static int follow_link(target *to) {
    char text[PATH_MAX], *slash = strrchr(to->path, '/');
    ssize_t size = readlink(to->path, text, sizeof text - 1);
    if (size < 0) {
        return errno;
    }
    text[size] = '\0';
    size_t kept = *text == '/' || !slash ? 0 : (size_t)(slash + 1 - to->path);
    if (kept + (size_t)size >= sizeof to->path) {
        return ENAMETOOLONG;
    }
    memcpy(to->path + kept, text, (size_t)size + 1);
    return 0;
}

/* Finds the file that `path` stands for, behind links that can be trusted. */
static vyre_status find_target(const char *path, target *to) {
    if (strlen(path) >= sizeof to->path) {
        return vyre_file_error("write", path, ENAMETOOLONG);
    }
    memcpy(to->path, path, strlen(path) + 1);
    for (int links = 0;; links++) {
        to->exists = lstat(to->path, &to->about) == 0;
        if (!to->exists) {
            return errno == ENOENT ? VYRE_OK : vyre_file_error("write", path, errno);
        }
        VYRE_TRY(check_planted(path, to->path, &to->about));
        if (!S_ISLNK(to->about.st_mode)) {
            return VYRE_OK;
        }
        int error = links < LINKS_MAX ? follow_link(to) : ELOOP;
        if (error) {
            return vyre_file_error("write", path, error);
        }
    }
}

vyre_status vyre_file_check_planted(const char *path) {
    target to;
    return find_target(path, &to);
}

/* Gives a new file the owner, group and mode of the old one; false where it may not. */
static bool take_over(int file, const struct stat *old, mode_t banned) {
    struct stat about;
    if (fstat(file, &about) != 0) {
        return false;
    }
    bool is_same = about.st_uid == old->st_uid && about.st_gid == old->st_gid;
    return (is_same || fchown(file, old->st_uid, old->st_gid) == 0) &&
           fchmod(file, old->st_mode & 07777 & ~banned) == 0;
}

/* Writes into the file itself, which keeps its owner and all its names; errno, or 0. A killed
 * process may leave half of it: the whole lies beside it until it is done. */
static int write_in_place(const target *to, const contents *what, int *out_file) {
    struct stat about;
    int file = open(to->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) {
        return errno;
    }
    bool is_same = fstat(file, &about) == 0 && about.st_ino == to->about.st_ino &&
                   about.st_dev == to->about.st_dev;
    int error = is_same ? write_contents(file, what) : ESTALE;
    if (!error && ftruncate(file, (off_t)what->size) != 0) {
        error = errno;
    }
    if (out_file && !error) {
        *out_file = file;
    } else if (close(file) != 0 && !error) {
        error = errno;
    }
    return error;
}

/* Fills the new file `file` and puts it into the place of `to`; or its contents, where that would
 * take a file from its owner or from its other names. With `out_file` the file that has the name
 * then stays open for writing. The new file is closed or handed out. */
static int move_to_target(int file, const char *name, const target *to, const contents *what,
                          mode_t banned, int *out_file) {
    bool in_place = to->exists && (to->about.st_nlink > 1 || !take_over(file, &to->about, banned));
    int error = write_contents(file, what);
    if (!error && in_place) {
        error = write_in_place(to, what, out_file);
    } else if (!error && rename(name, to->path) != 0) {
        error = errno;
    }
    if (error || in_place) {
        unlink(name);
    }
    if (!error && !in_place && out_file) {
        *out_file = file;
    } else if (close(file) != 0 && !error) {
        error = errno;
    }
    return error;
}

static vyre_status replace(const char *path, const contents *what, mode_t banned, int *out_file) {
    target to;
    VYRE_TRY(find_target(path, &to));
    if (to.exists && S_ISDIR(to.about.st_mode)) {
        return vyre_file_error("replace", path, EISDIR);
    }
    if (to.exists && !S_ISREG(to.about.st_mode)) {
        return vyre_status_make(VYRE_STATUS_IO, "name a regular file",
                                "cannot replace %s: it is a pipe, a socket or a device", path);
    }
    vyre_strbuf name = {0};
    /* What lies beside a file may be seen by nobody who may not see that file. */
    mode_t mode = to.exists ? S_IRUSR | S_IWUSR : 0666 & ~banned;
    int file = create_beside(AT_FDCWD, to.path, mode, &name);
    int error = file < 0 ? errno : 0;
    const char *doing = error ? "create a file beside" : "write";
    error = error ? error : move_to_target(file, name.data, &to, what, banned, out_file);
    if (!error && what->is_synced) {
        sync_folder_of(to.path);
    }
    vyre_strbuf_free(&name);
    return error ? vyre_file_error(doing, path, error) : VYRE_OK;
}

vyre_status vyre_file_replace(const char *path, const void *data, size_t size) {
    return replace(path, &(contents){data, size, true}, 0, NULL);
}

vyre_status vyre_file_replace_own(const char *path, const void *data, size_t size) {
    return replace(path, &(contents){data, size, true}, S_IWGRP | S_IWOTH, NULL);
}

vyre_status vyre_file_replace_open(const char *path, const void *data, size_t size, int *out_file) {
    *out_file = -1;
    return replace(path, &(contents){data, size, false}, 0, out_file);
}
