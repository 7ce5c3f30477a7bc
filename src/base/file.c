#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/status.h"

enum { FIRST_READ = 65536, DEVICE_MAX = 1 << 20, STREAM_MAX = 1 << 30 };

vyre_status vyre_file_error(const char *doing, const char *path, int error) {
    const char *fix = error == ENOENT || error == ENOTDIR  ? "check the path and its spelling"
                      : error == EACCES || error == EPERM  ? "give this user permission to do that"
                      : error == EISDIR                    ? "name a file, not a directory"
                      : error == ENOSPC || error == EDQUOT ? "free some space on that file system"
                      : error == EFBIG                     ? "raise the file size limit (ulimit -f)"
                      : error == ENOMEM                    ? "free memory, then try again"
                      : error == EROFS                     ? "name a file on another file system"
                      : error == ELOOP                     ? "check the target of the symbolic link"
                      : error == ENXIO                     ? "name a file, not a socket"
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

/* What has no length may have no end. Devices such as /dev/zero have none; of people and programs
 * some is expected. */
static size_t bound(int file, const struct stat *about, size_t limit) {
    size_t most = S_ISREG(about->st_mode)                        ? limit
                  : S_ISCHR(about->st_mode) && isatty(file) == 0 ? DEVICE_MAX
                                                                 : STREAM_MAX;
    return limit < most ? limit : most;
}

vyre_status vyre_file_read_open(int file, const char *name, size_t limit, vyre_strbuf *out) {
    vyre_status status = VYRE_OK;
    struct stat about;
    int error = fstat(file, &about) == 0 ? 0 : errno;
    /* The size is a hint: pipes have none, and files may grow. One byte more shows the end. */
    size_t wanted = !error && about.st_size > 0 && (uintmax_t)about.st_size < SIZE_MAX
                        ? (size_t)about.st_size + 1
                        : FIRST_READ;
    if (!error) {
        limit = bound(file, &about, limit);
    }
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
        status = vyre_file_error("read", name, error);
    } else if (too_large || out->size > limit) {
        status =
            S_ISREG(about.st_mode)
                ? vyre_status_make(VYRE_STATUS_LIMIT, "use a smaller file, or split this one",
                                   "%s is larger than %zu bytes, the most that vyre reads", name,
                                   limit)
                : vyre_status_make(VYRE_STATUS_LIMIT,
                                   "write the part you need to a file, with `head -c`, and name "
                                   "that file",
                                   "%s is %s with more than %zu bytes, the most that vyre reads "
                                   "from one",
                                   name, S_ISCHR(about.st_mode) ? "a device" : "a stream", limit);
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
        return vyre_file_error("open", path, errno);
    }
    vyre_status status = vyre_file_read_open(file, path, limit, out);
    close(file);
    return status;
}

/* 0 or errno. */
static int write_all(int file, const void *data, size_t size) {
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

static sigset_t only_size_limit(void) {
    sigset_t limit;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    return limit;
}

static bool is_pending(void) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ);
}

void vyre_file_guard_begin(vyre_file_guard *guard) {
    const sigset_t limit = only_size_limit();
    guard->was_pending = is_pending();
    pthread_sigmask(SIG_BLOCK, &limit, &guard->before);
}

void vyre_file_guard_end(const vyre_file_guard *guard) {
    const sigset_t limit = only_size_limit();
    if (!guard->was_pending && is_pending()) {
        (void)sigtimedwait(&limit, NULL, &(struct timespec){0});
    }
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}

int vyre_file_write_open(int file, const void *data, size_t size) {
    vyre_file_guard guard;
    vyre_file_guard_begin(&guard);
    int error = write_all(file, data, size);
    vyre_file_guard_end(&guard);
    return error;
}

/* Whether this is HOME or a folder above it. A user without a home, such as a service, gets none.
 */
static bool is_above_home(const char *path) {
    const char *home = vyre_environment_get("HOME");
    size_t size = strlen(path);
    return home && *home == '/' && !strncmp(home, path, size) &&
           (!home[size] || home[size] == '/' || path[size - 1] == '/');
}

/* Makes one folder; `parent` is the one above it. 0 or errno. */
static int make_folder(const char *path, const char *parent) {
    struct stat about;
    if (stat(path, &about) == 0) {
        return S_ISDIR(about.st_mode) ? 0 : ENOTDIR;
    }
    if (is_above_home(path)) {
        return ENOENT;
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
    vyre_status status = VYRE_OK;
    if (error == ENOENT) {
        status = vyre_status_make(VYRE_STATUS_IO, "set HOME to a folder that exists",
                                  "cannot make the folder %s: HOME is not there", path);
    } else if (error) {
        status = vyre_file_error("make the folder", path, error);
    }
    vyre_strbuf_free(&prefix);
    vyre_strbuf_free(&parent);
    return status;
}
