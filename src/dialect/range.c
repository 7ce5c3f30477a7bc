/* Ranges of files, read and written in pieces by several threads. */
#define _GNU_SOURCE /* O_DIRECT */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vyre/io.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"

#ifndef O_DIRECT
#define O_DIRECT 0 /* there is none: every way is plain */
#endif

/* Blocks of all disks are this long, or a part of it. */
enum { BLOCK = 4096, PIECE = 1 << 20, WORKERS = 4 };

const char *vyre_io_way_name(vyre_io_way way) {
    static const char *const names[] = {
#define NAME(name, text) [VYRE_IO_##name] = text,
        VYRE_IO_WAYS(NAME)
#undef NAME
    };
    return names[way];
}

/* What the pieces share. */
typedef struct transfer {
    const char *path;
    int file;  /* direct or plain */
    int plain; /* for parts of blocks of what is written; else -1 */
    bool is_write, is_direct;
    uint8_t *data; /* byte 0 of it is byte `offset` of the file */
    uint64_t offset, end;
    uint64_t first; /* where the first piece starts: at a block's start if it is direct */
    atomic_size_t next;
    atomic_int error;
} transfer;

static vyre_status failed(const char *path, bool is_write, int error) {
    const char *fix = error == ENOENT                     ? "check the path"
                      : error == EACCES || error == EPERM ? "give this user permission to do that"
                      : error == ENOSPC || error == EDQUOT
                          ? "free some space on that file system, or "
                            "write to another one"
                      : error == EFBIG  ? "write fewer bytes, or use a file system that allows "
                                          "larger files"
                      : error == EROFS  ? "write to a file system that is not read-only"
                      : error == EISDIR ? "name a file in it"
                                        : "check the disk and the system log";
    return vyre_status_make(error == ENOENT ? VYRE_STATUS_NOT_FOUND : VYRE_STATUS_IO, fix,
                            "%s cannot be %s: %s", path, is_write ? "written" : "read",
                            strerror(error));
}

/* All of it, or an error. A file that ends too early gives ENODATA. */
static int move_bytes(int file, bool is_write, uint8_t *data, size_t size, uint64_t offset) {
    for (size_t done = 0; done < size;) {
        ssize_t count = is_write ? pwrite(file, data + done, size - done, (off_t)(offset + done))
                                 : pread(file, data + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno != EINTR) {
            return errno;
        }
        if (count == 0) {
            return ENODATA;
        }
        done += count > 0 ? (size_t)count : 0;
    }
    return 0;
}

static int move_all(int file, bool is_write, uint8_t *data, size_t size, uint64_t offset) {
    vyre_file_guard guard;
    vyre_file_guard_begin(&guard);
    int error = move_bytes(file, is_write, data, size, offset);
    vyre_file_guard_end(&guard);
    return error;
}

/* The same for blocks of which the last may lie behind the end of the file. */
static int read_blocks(int file, uint8_t *data, size_t size, size_t needed, uint64_t offset) {
    for (size_t done = 0; done < needed;) {
        ssize_t count = pread(file, data + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno != EINTR) {
            return errno;
        }
        if (count == 0) {
            return ENODATA;
        }
        done += count > 0 ? (size_t)count : 0;
        if (done < needed && done % BLOCK) {
            return ENODATA; /* a block that is not whole is the last one */
        }
    }
    return 0;
}

static bool is_aligned(const void *memory) {
    return (uintptr_t)memory % BLOCK == 0;
}

static uint64_t min64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t max64(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* Bytes [start, end) of the file, through the stage where the memory does not lie as blocks do. */
static int read_piece(const transfer *t, uint64_t start, uint64_t end, uint8_t *stage) {
    uint64_t from = max64(start, t->offset), to = min64(end, t->end);
    uint8_t *target = t->data + (from - t->offset);
    if (!t->is_direct || (from == start && to == end && is_aligned(target))) {
        return move_all(t->file, false, target, (size_t)(to - from), from);
    }
    int error = read_blocks(t->file, stage, (size_t)(end - start), (size_t)(to - start), start);
    if (!error) {
        memcpy(target, stage + (from - start), (size_t)(to - from));
    }
    return error;
}

/* Whole blocks go the direct way, parts of them the plain one. */
static int write_piece(const transfer *t, uint64_t start, uint64_t end, uint8_t *stage) {
    uint64_t from = max64(start, t->offset), to = min64(end, t->end);
    uint8_t *source = t->data + (from - t->offset);
    if (!t->is_direct) {
        return move_all(t->file, true, source, (size_t)(to - from), from);
    }
    uint64_t first = (from + BLOCK - 1) / BLOCK * BLOCK, last = to / BLOCK * BLOCK;
    if (first >= last) {
        return move_all(t->plain, true, source, (size_t)(to - from), from);
    }
    uint8_t *blocks = t->data + (first - t->offset);
    if (!is_aligned(blocks)) {
        memcpy(stage, blocks, (size_t)(last - first));
        blocks = stage;
    }
    int error = move_all(t->file, true, blocks, (size_t)(last - first), first);
    if (!error && first > from) {
        error = move_all(t->plain, true, source, (size_t)(first - from), from);
    }
    if (!error && to > last) {
        error = move_all(t->plain, true, t->data + (last - t->offset), (size_t)(to - last), last);
    }
    return error;
}

/* Takes one piece after the other until there are none, or one fails. */
static void *work(void *user) {
    transfer *t = user;
    uint8_t *memory = t->is_direct ? vyre_alloc(PIECE + BLOCK) : NULL;
    uint8_t *stage = memory ? memory + (BLOCK - (uintptr_t)memory % BLOCK) % BLOCK : NULL;
    if (t->is_direct && !memory) {
        atomic_store(&t->error, ENOMEM);
        return NULL;
    }
    while (!atomic_load(&t->error)) {
        uint64_t start = t->first + (uint64_t)atomic_fetch_add(&t->next, 1) * PIECE;
        if (start >= t->end) {
            break;
        }
        uint64_t end = t->is_direct ? start + PIECE : min64(start + PIECE, t->end);
        if (t->is_direct) {
            end = min64(end, (t->end + BLOCK - 1) / BLOCK * BLOCK);
        }
        int error =
            t->is_write ? write_piece(t, start, end, stage) : read_piece(t, start, end, stage);
        if (error) {
            atomic_store(&t->error, error);
        }
    }
    vyre_free(memory);
    return NULL;
}

/* Moves all pieces; 0 or an error. */
static int run(transfer *t) {
    pthread_t threads[WORKERS - 1];
    size_t count = 0, pieces = (size_t)((t->end - t->first + PIECE - 1) / PIECE);
    atomic_store(&t->next, 0);
    atomic_store(&t->error, 0);
    while (count + 1 < pieces && count < WORKERS - 1 &&
           pthread_create(&threads[count], NULL, work, t) == 0) {
        count++;
    }
    (void)work(t);
    for (size_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    return atomic_load(&t->error);
}

/* Without waiting: opening a pipe waits for its other end, which may never come. */
static int open_file(const char *path, bool is_write, int flags) {
    return open(path, (is_write ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | flags,
                0666);
}

/* Whether the range lies in what is there. */
static vyre_status check_range(const transfer *t, const struct stat *about) {
    if (t->is_write) {
        return VYRE_OK;
    }
    off_t length = S_ISBLK(about->st_mode) ? lseek(t->plain, 0, SEEK_END) : about->st_size;
    return length >= 0 && t->end <= (uint64_t)length
               ? VYRE_OK
               : vyre_status_make(
                     VYRE_STATUS_INVALID_ARGUMENT, "use an offset and a size within the file",
                     "%s has %lld bytes, and the range is from %llu to %llu", t->path,
                     (long long)length, (unsigned long long)t->offset, (unsigned long long)t->end);
}

static vyre_status move_range(transfer *t, vyre_io_report *report) {
    struct stat about;
    vyre_status status = VYRE_OK;
    int direct = -1, error = 0;
    if (t->is_write) {
        VYRE_TRY(vyre_file_check_planted(t->path));
    }
    t->plain = open_file(t->path, t->is_write, 0);
    if (t->plain < 0 || fstat(t->plain, &about) != 0) {
        status = failed(t->path, t->is_write, errno);
        goto done;
    }
    if (!S_ISREG(about.st_mode) && !S_ISBLK(about.st_mode)) {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "name a file or a block device",
                                  "%s is neither a file nor a block device", t->path);
        goto done;
    }
    status = check_range(t, &about);
    if (status || t->offset == t->end) {
        goto done;
    }
    direct = O_DIRECT ? open_file(t->path, t->is_write, O_DIRECT) : -1;
    report->why = "the file system does not support direct access";
    if (direct >= 0) {
        t->file = direct;
        t->is_direct = true;
        t->first = t->offset / BLOCK * BLOCK;
        error = run(t);
        report->why = error ? "the file system refuses direct access in blocks of 4096" : "";
        report->way = error ? VYRE_IO_PLAIN : VYRE_IO_DIRECT;
    }
    if (direct < 0 || error == EINVAL) {
        t->file = t->plain;
        t->is_direct = false;
        t->first = t->offset;
        error = run(t);
    }
    if (!error && t->is_write && fdatasync(t->plain) != 0) {
        error = errno;
    }
    if (error == ENOMEM) {
        status = vyre_no_memory("to move bytes of %s", t->path);
    } else if (error == ENODATA) {
        status = vyre_status_make(VYRE_STATUS_IO,
                                  "make sure that no other process truncates it "
                                  "meanwhile",
                                  "%s was truncated while it was read", t->path);
    } else if (error) {
        status = failed(t->path, t->is_write, error);
    }
done:
    if (direct >= 0) {
        close(direct);
    }
    if (t->plain >= 0) {
        close(t->plain);
    }
    return status;
}

/* What is written is only read, so that the cast is harmless. */
static vyre_status transfer_range(bool is_write, const void *data, size_t size, const char *path,
                                  uint64_t offset, vyre_io_report *out_report) {
    vyre_io_report report = {.way = VYRE_IO_PLAIN, .why = "there is nothing to move"};
    uint64_t start = vyre_now_ns();
    transfer t = {.path = path,
                  .is_write = is_write,
                  .data = (uint8_t *)(uintptr_t)data,
                  .plain = -1,
                  .offset = offset,
                  .end = offset + size};
    if (out_report) {
        *out_report = report;
    }
    if (!path || !*path) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "name a file",
                                "the path of the file is empty");
    }
    if (offset > INT64_MAX || size > INT64_MAX - offset) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "use a smaller offset or size",
                                "the range of %zu bytes at offset %llu is beyond the largest "
                                "possible file",
                                size, (unsigned long long)offset);
    }
    vyre_status status = move_range(&t, &report);
    report.bytes = status ? 0 : size;
    report.time_ns = vyre_now_ns() - start;
    if (out_report) {
        *out_report = report;
    }
    return status;
}

vyre_status vyre_io_read(void *data, size_t size, const char *path, uint64_t offset,
                         vyre_io_report *out_report) {
    return transfer_range(false, data, size, path, offset, out_report);
}

vyre_status vyre_io_write(const void *data, size_t size, const char *path, uint64_t offset,
                          vyre_io_report *out_report) {
    return transfer_range(true, data, size, path, offset, out_report);
}
