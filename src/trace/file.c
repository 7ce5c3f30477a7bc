#define _DEFAULT_SOURCE /* pwritev */

#include "trace/file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/status.h"
#include "base/utf8.h"
#include "base/visible.h"

enum { STRING_MAX = 200 };

static const char head[] = "[\n", between[] = ",\n", tail[] = "\n]\n";

void vyre_trace_put(vyre_trace_line *line, const char *format, ...) {
    size_t room = sizeof line->text - line->size;
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line->text + line->size, room, format, arguments);
    va_end(arguments);
    line->size += size > 0 && (size_t)size < room ? (size_t)size : 0;
}

void vyre_trace_put_string(vyre_trace_line *line, const char *string) {
    size_t size = strnlen(string, STRING_MAX);
    vyre_trace_put(line, "\"");
    for (size_t i = 0; i < size;) {
        bool shown;
        size_t bytes = vyre_visible_next(string + i, size - i, &shown);
        unsigned char c = (unsigned char)string[i];
        if (bytes == 1 && c >= 0x80) {
            vyre_trace_put(line, "\\ufffd"); /* no character of UTF-8 */
        } else if (c == '"' || c == '\\' || !shown) {
            vyre_trace_put(line, "\\u%04x", (unsigned)vyre_utf8_read(string + i));
        } else {
            vyre_trace_put(line, "%.*s", (int)bytes, string + i);
        }
        i += bytes;
    }
    vyre_trace_put(line, "\"");
}

void vyre_trace_put_time(vyre_trace_line *line, uint64_t ns) {
    vyre_trace_put(line, "%llu.%03u", (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

static const char *find_number(const char *name) {
    return strstr(name, "%p");
}

bool vyre_trace_file_is_own(const char *name) {
    return find_number(name);
}

vyre_status vyre_trace_file_open(vyre_trace_file *out_file, const char *name,
                                 const vyre_trace_line *first) {
    *out_file = (vyre_trace_file){.file = -1};
    vyre_strbuf path = {0}, begin = {0};
    const char *rest = name;
    for (const char *number; (number = find_number(rest)) != NULL; rest = number + 2) {
        vyre_strbuf_add(&path, rest, (size_t)(number - rest));
        vyre_strbuf_printf(&path, "%ld", (long)getpid());
    }
    vyre_strbuf_puts(&path, rest);
    vyre_strbuf_puts(&begin, head);
    vyre_strbuf_add(&begin, first->text, first->size);
    uint64_t end = begin.size;
    vyre_strbuf_puts(&begin, tail);
    vyre_status status =
        path.failed || begin.failed
            ? vyre_no_memory("to begin a trace")
            : vyre_file_replace_open(path.data, begin.data, begin.size, &out_file->file);
    struct stat about;
    if (!status && fstat(out_file->file, &about) == 0) {
        out_file->device = about.st_dev;
        out_file->node = about.st_ino;
    }
    out_file->end = end;
    vyre_strbuf_free(&path);
    vyre_strbuf_free(&begin);
    return status;
}

static int add(vyre_trace_file *file, const vyre_trace_line *line) {
    const struct iovec parts[] = {
        {(void *)(uintptr_t)between, sizeof between - 1},
        {(void *)(uintptr_t)line->text, line->size},
        {(void *)(uintptr_t)tail, sizeof tail - 1},
    };
    size_t all = parts[0].iov_len + parts[1].iov_len + parts[2].iov_len;
    struct stat about;
    if (fstat(file->file, &about) != 0 || about.st_dev != file->device ||
        about.st_ino != file->node) {
        file->file = -1;
        return EBADF;
    }
    ssize_t written;
    do { /* over the end of before: one call, so that no moment shows half of an event */
        written = pwritev(file->file, parts, 3, (off_t)file->end);
    } while (written < 0 && errno == EINTR);
    if (written >= 0 && (size_t)written == all) {
        file->end += parts[0].iov_len + line->size;
        return 0;
    }
    int error = written < 0 ? errno : ENOSPC;
    if (pwrite(file->file, tail, sizeof tail - 1, (off_t)file->end) < 0 ||
        ftruncate(file->file, (off_t)(file->end + sizeof tail - 1)) != 0) {
        return error; /* nothing more can be done for it */
    }
    return error;
}

int vyre_trace_file_add(vyre_trace_file *file, const vyre_trace_line *line) {
    vyre_file_guard guard;
    vyre_file_guard_begin(&guard);
    int error = add(file, line);
    vyre_file_guard_end(&guard);
    return error;
}

void vyre_trace_file_close(vyre_trace_file *file) {
    if (file->file >= 0) {
        close(file->file);
    }
    file->file = -1;
}
