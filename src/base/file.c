#define _XOPEN_SOURCE 700 /* realpath */

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_READ = 65536, NAME_TRIES = 100 };

static vyre_status file_error(const char *doing, const char *path, int error) {
    const char *fix = error == ENOENT || error == ENOTDIR  ? "check the path and its spelling"
                      : error == EACCES || error == EPERM  ? "give this user permission to do that"
                      : error == EISDIR                    ? "name a file, not a directory"
                      : error == ENOSPC || error == EDQUOT ? "free some space on that file system"
                      : error == EFBIG                     ? "raise the file size limit (ulimit -f)"
                      : error == ENOMEM                    ? "free memory, then try again"
                      : error == EROFS                     ? "name a file on another file system"
                      : error == ELOOP                     ? "check the target of the symbolic link"
                                       : "check the file system, then try again";
    vyre_status_code code = error == ENOENT   ? VYRE_STATUS_NOT_FOUND
                            : error == ENOMEM ? VYRE_STATUS_OUT_OF_MEMORY
                                              : VYRE_STATUS_IO;
    return vyre_status_make(code, fix, "cannot %s %s: %s", doing, path, strerror(error));
}

/* Reads on until `out` holds `wanted` bytes or the file ends; 0 or errno. */
static int read_until(int file, vyre_strbuf *out, size_t wanted) {
    while (out->size < wanted) {
        size_t before = out->size;
        size_t chunk = wanted - before;
        chunk = chunk > SSIZE_MAX ? SSIZE_MAX : chunk;
        vyre_strbuf_repeat(out, '\0', chunk);
        if (out->failed) {
            return ENOMEM;
        }
        ssize_t got;
        do {
            got = read(file, out->data + before, chunk);
        } while (got < 0 && errno == EINTR);
        int error = got < 0 ? errno : 0;
        vyre_strbuf_cut(out, before + (got > 0 ? (size_t)got : 0));
        if (got <= 0) {
            return error;
        }
    }
    return 0;
}

vyre_status vyre_file_read_open(int file, const char *name, size_t limit, vyre_strbuf *out) {
    vyre_status status = VYRE_OK;
    struct stat about;
    int error = fstat(file, &about) == 0 ? 0 : errno;
    /* The size is a hint: pipes have none, and files may grow. One byte more shows the end. */
    size_t wanted = !error && about.st_size > 0 && (uintmax_t)about.st_size < SIZE_MAX
                        ? (size_t)about.st_size + 1
                        : FIRST_READ;
    size_t most = limit < SIZE_MAX ? limit + 1 : limit;
    bool too_large = !error && S_ISREG(about.st_mode) && (uintmax_t)about.st_size > limit;
    while (!error && !too_large) {
        wanted = wanted < most ? wanted : most;
        error = read_until(file, out, wanted);
        if (error || out->size < wanted || out->size > limit) {
            break;
        }
        wanted = wanted < SIZE_MAX / 2 ? wanted * 2 : SIZE_MAX;
    }
    if (error) {
        status = file_error("read", name, error);
    } else if (too_large || out->size > limit) {
        status =
            vyre_status_make(VYRE_STATUS_LIMIT, "use a smaller file, or split this one",
                             "%s is larger than %zu bytes, the most that vyre reads", name, limit);
    }
    if (status) {
        vyre_strbuf_free(out);
    }
    return status;
}

vyre_status vyre_file_read(const char *path, size_t limit, vyre_strbuf *out) {
    int file;
    do {
        file = open(path, O_RDONLY | O_CLOEXEC);
    } while (file < 0 && errno == EINTR);
    if (file < 0) {
        return file_error("open", path, errno);
    }
    vyre_status status = vyre_file_read_open(file, path, limit, out);
    close(file);
    return status;
}

int vyre_file_write_open(int file, const void *data, size_t size) {
    const char *rest = data;
    while (size > 0) {
        ssize_t written = write(file, rest, size > SSIZE_MAX ? SSIZE_MAX : size);
        if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            /* Somebody made the pipe or terminal non-blocking, for us as well. */
            poll(&(struct pollfd){.fd = file, .events = POLLOUT}, 1, -1);
        } else if (written < 0 && errno != EINTR) {
            return errno;
        }
        if (written > 0) {
            rest += written;
            size -= (size_t)written;
        }
    }
    return 0;
}

/* Makes an empty file beside `path`, its name in `name`; a descriptor, or -1 with errno set. The
 * mode is left to the umask, as for any new file. */
static int create_beside(const char *path, vyre_strbuf *name) {
    static _Atomic unsigned counter;
    for (int i = 0; i < NAME_TRIES; i++) {
        vyre_strbuf_cut(name, 0);
        vyre_strbuf_printf(name, "%s.%ld-%u.new", path, (long)getpid(),
                           atomic_fetch_add(&counter, 1));
        if (name->failed) {
            errno = ENOMEM;
            return -1;
        }
        int file = open(name->data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || (errno != EEXIST && errno != EINTR)) {
            return file;
        }
    }
    return -1;
}

/* The rename itself must be on the disk, too. Some file systems cannot sync a directory; then there
 * is nothing more to be done. */
static void sync_folder_of(char *path) {
    char *slash = strrchr(path, '/');
    const char *folder = ".";
    if (slash) {
        slash[slash == path] = '\0';
        folder = path;
    }
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file >= 0) {
        fsync(file);
        close(file);
    }
}

/* With `out_file` it stays open for writing, and is not waited for until it is on the disk. */
static vyre_status replace(const char *path, const void *data, size_t size, int *out_file) {
    vyre_status status = VYRE_OK;
    vyre_strbuf name = {0};
    char target[PATH_MAX];
    struct stat about;
    bool exists = realpath(path, target) && stat(target, &about) == 0;
    if (!exists && strlen(path) >= sizeof target) {
        return file_error("write", path, ENAMETOOLONG);
    }
    if (!exists) {
        memcpy(target, path, strlen(path) + 1);
    }
    if (exists && S_ISDIR(about.st_mode)) {
        return file_error("replace", path, EISDIR);
    }
    if (exists && !S_ISREG(about.st_mode)) {
        return vyre_status_make(VYRE_STATUS_IO, "name a regular file",
                                "cannot replace %s: it is a pipe, a socket or a device", path);
    }
    int file = create_beside(target, &name);
    if (file < 0) {
        status = file_error("create a file beside", path, errno);
        goto done;
    }
    int error = exists && fchmod(file, about.st_mode & 07777) != 0 ? errno : 0;
    error = error ? error : vyre_file_write_open(file, data, size);
    if (!error && !out_file && fsync(file) != 0) {
        error = errno;
    }
    if (!out_file && close(file) != 0 && !error) {
        error = errno;
    }
    if (!error && rename(name.data, target) != 0) {
        error = errno;
    }
    if (error) {
        if (out_file) {
            close(file);
        }
        unlink(name.data);
        status = file_error("write", path, error);
        goto done;
    }
    if (out_file) {
        *out_file = file;
    } else {
        sync_folder_of(target);
    }
done:
    vyre_strbuf_free(&name);
    return status;
}

vyre_status vyre_file_replace(const char *path, const void *data, size_t size) {
    return replace(path, data, size, NULL);
}

vyre_status vyre_file_replace_open(const char *path, const void *data, size_t size, int *out_file) {
    *out_file = -1;
    return replace(path, data, size, out_file);
}

/* Makes one folder; `parent` is the one above it. 0 or errno. */
static int make_folder(const char *path, const char *parent) {
    struct stat about;
    if (stat(path, &about) == 0) {
        return S_ISDIR(about.st_mode) ? 0 : ENOTDIR;
    }
    if (geteuid() == 0 && stat(parent, &about) == 0 && about.st_uid != 0) {
        return EPERM;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
}

vyre_status vyre_folder_make(const char *path) {
    vyre_strbuf prefix = {0}, parent = {0};
    int error = 0;
    vyre_strbuf_puts(&parent, *path == '/' ? "/" : ".");
    for (const char *end = path; *end && !error;) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        vyre_strbuf_cut(&prefix, 0);
        vyre_strbuf_add(&prefix, path, (size_t)(end - path));
        error = prefix.failed || parent.failed
                    ? ENOMEM
                    : make_folder(vyre_strbuf_string(&prefix), vyre_strbuf_string(&parent));
        vyre_strbuf_cut(&parent, 0);
        vyre_strbuf_add(&parent, prefix.data, prefix.size);
    }
    vyre_status status = error ? file_error("make the folder", path, error) : VYRE_OK;
    vyre_strbuf_free(&prefix);
    vyre_strbuf_free(&parent);
    return status;
}
