/* The file of a trace: a JSON array that is whole after each event that is added, so that a process
 * may be killed at any moment. */
#ifndef VYRE_TRACE_FILE_H
#define VYRE_TRACE_FILE_H

#include <sys/types.h>

#include <vyre/status.h>

/* An event as it is put together, with room for a dozen strings where each byte is escaped. */
enum { VYRE_TRACE_LINE = 16384 };

typedef struct vyre_trace_line {
    char text[VYRE_TRACE_LINE];
    size_t size;
} vyre_trace_line;

void vyre_trace_put(vyre_trace_line *line, const char *format, ...) VYRE_PRINTF(2, 3);
/* As JSON, in quotes, cut after some 200 bytes; what is not UTF-8 becomes U+FFFD. */
void vyre_trace_put_string(vyre_trace_line *line, const char *string);
/* Microseconds, with the nanoseconds behind the point. */
void vyre_trace_put_time(vyre_trace_line *line, uint64_t ns);

typedef struct vyre_trace_file {
    int file;     /* -1: none */
    uint64_t end; /* behind the last event */
    dev_t device; /* what the descriptor was opened for */
    ino_t node;
} vyre_trace_file;

/* Takes the place of whatever has that name, %p being the number of the process. */
VYRE_MUST_USE vyre_status vyre_trace_file_open(vyre_trace_file *out_file, const char *name,
                                               const vyre_trace_line *first);
/* 0 or errno; after an error the file is whole without the event, as far as that can be done. A
 * descriptor that somebody closed, and that may be another file by now, is EBADF. */
int vyre_trace_file_add(vyre_trace_file *file, const vyre_trace_line *line);
void vyre_trace_file_close(vyre_trace_file *file);

/* Whether each process has a file of its own. */
bool vyre_trace_file_is_own(const char *name);

#endif
