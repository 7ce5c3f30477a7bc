#include "trace/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <vyre/program.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/option.h"
#include "base/status.h"
#include "trace/file.h"

enum { TRACKS = 64, ROWS = 64, NAME_MAX_BYTES = 96, TICKETS = 256, GRIDS = 8 };

/* Numbers of the viewer's threads: a row of a track, and beside it the device's own times. */
enum { TRACK_STEP = 1000, ROW_STEP = 2, DEVICE_TIME = 1 };

/* Work that was enqueued and whose end was not seen. */
typedef struct enqueued {
    const vyre_backend *backend; /* NULL: the row is free */
    uint64_t ticket, id;
    char name[NAME_MAX_BYTES];
} enqueued;

atomic_bool vyre_trace_active;

/* The last lock that anybody takes: no backend is called inside. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *name; /* of the file, with %p */
    char name_text[4096];
    bool must_open; /* in a process that was forked */
    vyre_trace_line line;
    char tracks[TRACKS][NAME_MAX_BYTES]; /* from 1 on; the last one is of all that are too many */
    uint32_t track_count;
    uint64_t busy[TRACKS], named[TRACKS], device_named[TRACKS]; /* rows, by bit */
    enqueued tickets[TICKETS];
    uint64_t next_id;
} trace;
/* Beside it, so that all of that is zeros, which take no room in the library. */
static vyre_trace_file trace_file = {.file = -1};

static _Thread_local struct {
    vyre_trace_place place; /* of what it is doing; track 0: of nothing */
    uint32_t disk, cold;
} thread;

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork_parent(void) {
    pthread_mutex_unlock(&lock);
}

/* The file is the parent's. A child has one of its own, or none. */
static void after_fork_child(void) {
    vyre_trace_file_close(&trace_file);
    trace.must_open = trace.name && vyre_trace_file_is_own(trace.name);
    if (!trace.must_open) {
        atomic_store(&vyre_trace_active, false);
    }
    memset(trace.busy, 0, sizeof trace.busy);
    memset(trace.named, 0, sizeof trace.named);
    memset(trace.device_named, 0, sizeof trace.device_named);
    memset(trace.tickets, 0, sizeof trace.tickets);
    thread.place = (vyre_trace_place){0, 0};
    pthread_mutex_unlock(&lock);
}

static vyre_trace_line *begin_line(void) {
    trace.line.size = 0;
    return &trace.line;
}

/* The program that runs, for the heading in the viewer. */
static void read_process_name(char name[NAME_MAX_BYTES]) {
    size_t size = 0;
    FILE *file = fopen("/proc/self/comm", "re");
    if (file) {
        size = fread(name, 1, NAME_MAX_BYTES - 1, file);
        fclose(file);
    }
    name[size] = '\0';
    name[strcspn(name, "\n")] = '\0';
}

/* All of these in the lock. What goes wrong ends the trace; it is told out of the lock. */

static vyre_status open_file(void) {
    char name[NAME_MAX_BYTES];
    read_process_name(name);
    vyre_trace_line *line = begin_line();
    vyre_trace_put(line, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%ld,\"args\":{\"name\":",
                   (long)getpid());
    vyre_trace_put_string(line, *name ? name : "vyre");
    vyre_trace_put(line, "}}");
    trace.must_open = false;
    return vyre_trace_file_open(&trace_file, trace.name, line);
}

static vyre_status add_line(void) {
    if (trace.must_open) {
        vyre_trace_line kept = trace.line;
        vyre_status status = open_file();
        if (status) {
            atomic_store(&vyre_trace_active, false);
            return status;
        }
        trace.line = kept;
    }
    if (trace_file.file < 0) {
        return VYRE_OK;
    }
    int error = vyre_trace_file_add(&trace_file, &trace.line);
    if (!error) {
        return VYRE_OK;
    }
    vyre_trace_file_close(&trace_file);
    atomic_store(&vyre_trace_active, false);
    return vyre_status_make(VYRE_STATUS_IO,
                            error == EBADF ? "do not close file descriptors that your program did "
                                             "not open"
                                           : "free some space on that file system",
                            "cannot write %s: %s", trace.name, strerror(error));
}

static void tell(vyre_status status) {
    if (status) {
        vyre_log(VYRE_LOG_WARNING, "the trace ends here: %s", vyre_status_text(status));
        vyre_status_free(status);
    }
}

static void start(void) {
    vyre_option_info info = vyre_option_describe(VYRE_OPTION_TRACE);
    size_t size = info.from_environment ? strlen(info.text) : 0;
    if (!size || size >= sizeof trace.name_text) {
        tell(size ? vyre_status_make(VYRE_STATUS_LIMIT, "use a shorter name",
                                     "VYRE_TRACE is longer than a path can be")
                  : VYRE_OK);
        return;
    }
    pthread_mutex_lock(&lock);
    trace.name = memcpy(trace.name_text, info.text, size + 1);
    vyre_status status = open_file();
    pthread_mutex_unlock(&lock);
    if (!status) {
        pthread_atfork(before_fork, after_fork_parent, after_fork_child);
        atomic_store(&vyre_trace_active, true);
    }
    tell(status);
}

/* A device's name, and what it calls itself. */
static uint32_t find_track(const char *name, const char *device) {
    char full[NAME_MAX_BYTES];
    snprintf(full, sizeof full, *device ? "%s: %s" : "%s", name, device);
    for (uint32_t i = 1; i <= trace.track_count; i++) {
        if (!strcmp(trace.tracks[i], full)) {
            return i;
        }
    }
    if (trace.track_count == TRACKS - 2) { /* the last one takes all that are left */
        return trace.track_count;
    }
    uint32_t track = ++trace.track_count;
    memcpy(trace.tracks[track], full, sizeof full);
    return track;
}

uint32_t vyre_trace_track(const vyre_backend *backend, const char *name) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    if (!vyre_trace_is_on()) {
        return 0;
    }
    vyre_profile profile;
    backend->slots->device_profile(backend, &profile);
    pthread_mutex_lock(&lock);
    uint32_t track = find_track(name, profile.device);
    pthread_mutex_unlock(&lock);
    return track;
}

static uint32_t number_of(vyre_trace_place place, bool device_time) {
    return place.track * TRACK_STEP + place.row * ROW_STEP + (device_time ? DEVICE_TIME : 0);
}

/* A row has its name in the file before its first event. */
static vyre_status name_row(vyre_trace_place place, bool device_time) {
    uint64_t *named = device_time ? trace.device_named : trace.named;
    uint64_t bit = (uint64_t)1 << place.row;
    if (named[place.track] & bit) {
        return VYRE_OK;
    }
    named[place.track] |= bit;
    char name[2 * NAME_MAX_BYTES];
    int size = snprintf(name, sizeof name, "%s%s", trace.tracks[place.track],
                        device_time ? ", device time" : "");
    if (place.row && size > 0) {
        snprintf(name + size, sizeof name - (size_t)size, " (%u at once)", place.row + 1);
    }
    uint32_t number = number_of(place, device_time);
    vyre_trace_line *line = begin_line();
    vyre_trace_put(
        line, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%ld,\"tid\":%u,\"args\":{\"name\":",
        (long)getpid(), number);
    vyre_trace_put_string(line, name);
    vyre_trace_put(line, "}}");
    VYRE_TRY(add_line());
    line = begin_line();
    vyre_trace_put(line,
                   "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%ld,\"tid\":%u,"
                   "\"args\":{\"sort_index\":%u}}",
                   (long)getpid(), number, number);
    return add_line();
}

vyre_trace_span vyre_trace_begin_now(uint32_t track) {
    vyre_trace_span span = {.outer = thread.place, .disk = thread.disk, .cold = thread.cold};
    if (track == VYRE_TRACE_HERE) {
        track = thread.place.track;
    }
    if (!track) {
        return span;
    }
    if (thread.place.track != track) {
        pthread_mutex_lock(&lock);
        uint32_t row = 0;
        while (row < ROWS && trace.busy[track] >> row & 1) {
            row++;
        }
        bool found = row < ROWS;
        trace.busy[track] |= found ? (uint64_t)1 << row : 0;
        pthread_mutex_unlock(&lock);
        if (!found) { /* more at once than anybody could look at */
            return span;
        }
        thread.place = (vyre_trace_place){track, row};
    }
    span.place = thread.place;
    span.start_ns = vyre_now_ns();
    return span;
}

static void put_grid(vyre_trace_line *line, const vyre_grid *grid) {
    const uint64_t *domain = grid->domain, *groups = grid->groups;
    vyre_trace_put(line, "{\"domain\":[%llu,%llu,%llu]", (unsigned long long)domain[0],
                   (unsigned long long)domain[1], (unsigned long long)domain[2]);
    if (groups[0]) {
        vyre_trace_put(line, ",\"workgroups\":[%llu,%llu,%llu]", (unsigned long long)groups[0],
                       (unsigned long long)groups[1], (unsigned long long)groups[2]);
    }
    vyre_trace_put(line, "}");
}

static void put_number(vyre_trace_line *line, const char *key, uint64_t number) {
    vyre_trace_put(line, ",\"%s\":%llu", key, (unsigned long long)number);
}

static void put_text(vyre_trace_line *line, const char *key, const char *text) {
    if (text) {
        vyre_trace_put(line, ",\"%s\":", key);
        vyre_trace_put_string(line, text);
    }
}

static void put_times(vyre_trace_line *line, const vyre_timing *timing) {
    const struct {
        const char *key;
        uint64_t ns;
    } times[] = {{"device_ns", timing->device_ns},
                 {"enqueue_ns", timing->enqueue_ns},
                 {"wait_ns", timing->wait_ns}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (times[i].ns != VYRE_NO_TIME) {
            put_number(line, times[i].key, times[i].ns);
        }
    }
}

/* The arguments that the viewer shows of an event. */
static void put_facts(vyre_trace_line *line, uint32_t track, const vyre_trace_facts *facts) {
    vyre_trace_put(line, ",\"args\":{\"device\":");
    vyre_trace_put_string(line, trace.tracks[track]);
    if (facts->program) {
        vyre_digest digest = vyre_program_digest(facts->program);
        put_text(line, "program", vyre_program_name(facts->program));
        vyre_trace_put(line, ",\"digest\":\"%016llx%016llx\"", (unsigned long long)digest.high,
                       (unsigned long long)digest.low);
    }
    put_text(line, "label", facts->label);
    put_text(line, "cache", facts->cache);
    if (facts->phase) {
        put_number(line, "phase", *facts->phase);
    }
    if (facts->bytes) {
        put_number(line, "bytes", facts->bytes);
    }
    if (facts->bytes_in || facts->bytes_out) {
        put_number(line, "bytes_in", facts->bytes_in);
        put_number(line, "bytes_out", facts->bytes_out);
    }
    if (facts->ticket) {
        put_number(line, "ticket", facts->ticket);
    }
    if (facts->grid) {
        vyre_trace_put(line, ",\"grid\":");
        put_grid(line, facts->grid);
    }
    if (facts->call) {
        vyre_trace_put(line, ",\"phases\":%zu,\"grids\":[", facts->call->grid_count);
        for (size_t i = 0; i < facts->call->grid_count && i < GRIDS; i++) {
            vyre_trace_put(line, i ? "," : "");
            put_grid(line, &facts->call->grids[i]);
        }
        vyre_trace_put(line, "]");
    }
    if (facts->timing) {
        put_times(line, facts->timing);
    }
    vyre_trace_put(line, facts->failed ? ",\"failed\":true}" : "}");
}

/* "dispatch saxpy" */
static void make_name(char name[NAME_MAX_BYTES], const vyre_trace_facts *facts) {
    snprintf(name, NAME_MAX_BYTES, facts->program ? "%s %s" : "%s", facts->kind,
             facts->program ? vyre_program_name(facts->program) : "");
}

static void put_name(vyre_trace_line *line, const char *kind, const char *name) {
    vyre_trace_put(line, "\"name\":");
    vyre_trace_put_string(line, name);
    vyre_trace_put(line, ",\"cat\":\"%s\"", kind);
}

static vyre_status add_span(vyre_trace_place place, bool device_time, uint64_t start_ns,
                            uint64_t end_ns, const vyre_trace_facts *facts) {
    VYRE_TRY(name_row(place, device_time));
    char name[NAME_MAX_BYTES];
    make_name(name, facts);
    vyre_trace_line *line = begin_line();
    vyre_trace_put(line, "{\"ph\":\"X\",\"pid\":%ld,\"tid\":%u,\"ts\":", (long)getpid(),
                   number_of(place, device_time));
    vyre_trace_put_time(line, start_ns);
    vyre_trace_put(line, ",\"dur\":");
    vyre_trace_put_time(line, end_ns - start_ns);
    vyre_trace_put(line, ",");
    put_name(line, facts->kind, name);
    put_facts(line, place.track, facts);
    vyre_trace_put(line, "}");
    return add_line();
}

static uint64_t at_most(uint64_t value, uint64_t most) {
    return value < most ? value : most;
}

/* A device tells how long, not when: its work is shown as ending with the host's wait for it. */
static vyre_status add_device_time(const vyre_trace_span *span, uint64_t end_ns,
                                   const vyre_trace_facts *facts) {
    const vyre_timing *timing = facts->timing;
    uint64_t most = end_ns - span->start_ns, wait_end = most;
    if (timing->enqueue_ns != VYRE_NO_TIME && timing->wait_ns != VYRE_NO_TIME) {
        wait_end = at_most(timing->enqueue_ns, most);
        wait_end += at_most(timing->wait_ns, most - wait_end);
    }
    uint64_t length = at_most(timing->device_ns, most);
    wait_end = wait_end < length ? length : wait_end;
    return add_span(span->place, true, span->start_ns + wait_end - length,
                    span->start_ns + wait_end, facts);
}

/* A run with data of the host is one call; what it consists of follows from the times that it
 * tells: until the device had its work, until that was done, and the way back. */
static vyre_status add_parts(const vyre_trace_span *span, uint64_t end_ns,
                             const vyre_trace_facts *facts) {
    const vyre_timing *timing = facts->timing;
    if (timing->enqueue_ns == VYRE_NO_TIME || timing->wait_ns == VYRE_NO_TIME) {
        return VYRE_OK;
    }
    uint64_t most = end_ns - span->start_ns;
    uint64_t given = at_most(timing->enqueue_ns, most);
    uint64_t done = given + at_most(timing->wait_ns, most - given);
    const uint64_t ends[] = {given, done, most};
    const vyre_trace_facts parts[] = {
        {.kind = "upload", .bytes = facts->bytes_in},
        {.kind = "wait"},
        {.kind = "readback", .bytes = facts->bytes_out},
    };
    vyre_status status = VYRE_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !status; i++) {
        status = add_span(span->place, false, span->start_ns + (i ? ends[i - 1] : 0),
                          span->start_ns + ends[i], &parts[i]);
    }
    return status;
}

void vyre_trace_end(const vyre_trace_span *span, const vyre_trace_facts *facts) {
    uint64_t now = vyre_now_ns();
    pthread_mutex_lock(&lock);
    vyre_status status = add_span(span->place, false, span->start_ns, now, facts);
    if (!status && facts->timing && !facts->failed) {
        if (facts->bytes_in || facts->bytes_out) {
            status = add_parts(span, now, facts);
        }
        if (!status && facts->timing->device_ns != VYRE_NO_TIME) {
            status = add_device_time(span, now, facts);
        }
    }
    if (span->outer.track != span->place.track) {
        trace.busy[span->place.track] &= ~((uint64_t)1 << span->place.row);
        thread.place = span->outer;
    }
    pthread_mutex_unlock(&lock);
    tell(status);
}

void vyre_trace_compiled(bool from_disk) {
    if (from_disk) {
        thread.disk++;
    } else {
        thread.cold++;
    }
}

const char *vyre_trace_cache(const vyre_trace_span *span) {
    return thread.cold != span->cold ? "cold" : thread.disk != span->disk ? "disk" : "none";
}

/* In the lock: the beginning or the end of what goes on by itself; both have the same name. */
static vyre_status add_async(char phase, uint32_t track, uint64_t id, const char *name,
                             const vyre_trace_facts *facts) {
    const vyre_trace_place place = {track, 0};
    VYRE_TRY(name_row(place, false));
    vyre_trace_line *line = begin_line();
    vyre_trace_put(
        line, "{\"ph\":\"%c\",\"pid\":%ld,\"tid\":%u,\"id2\":{\"local\":\"0x%llx\"},\"ts\":", phase,
        (long)getpid(), number_of(place, false), (unsigned long long)id);
    vyre_trace_put_time(line, vyre_now_ns());
    vyre_trace_put(line, ",");
    put_name(line, facts->kind, name);
    put_facts(line, track, facts);
    vyre_trace_put(line, "}");
    return add_line();
}

uint64_t vyre_trace_async_begin(uint32_t track, const vyre_trace_facts *facts) {
    char name[NAME_MAX_BYTES];
    make_name(name, facts);
    pthread_mutex_lock(&lock);
    uint64_t id = ++trace.next_id;
    vyre_status status = add_async('b', track, id, name, facts);
    pthread_mutex_unlock(&lock);
    tell(status);
    return id;
}

void vyre_trace_async_end(uint32_t track, uint64_t id, const vyre_trace_facts *facts) {
    char name[NAME_MAX_BYTES];
    make_name(name, facts);
    pthread_mutex_lock(&lock);
    vyre_status status = add_async('e', track, id, name, facts);
    pthread_mutex_unlock(&lock);
    tell(status);
}

void vyre_trace_enqueued(uint32_t track, const vyre_backend *backend,
                         const vyre_trace_facts *facts) {
    if (!facts->ticket) { /* it is over already */
        return;
    }
    pthread_mutex_lock(&lock);
    enqueued *row = trace.tickets, *end = row + TICKETS;
    while (row < end && row->backend) {
        row++;
    }
    vyre_status status = VYRE_OK;
    if (row < end) {
        *row = (enqueued){.backend = backend, .ticket = facts->ticket, .id = ++trace.next_id};
        make_name(row->name, facts);
        status = add_async('b', track, row->id, row->name, facts);
    }
    pthread_mutex_unlock(&lock);
    tell(status);
    vyre_trace_look_now(track, backend);
}

void vyre_trace_look_now(uint32_t track, const vyre_backend *backend) {
    enqueued seen[TICKETS];
    size_t count = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < TICKETS; i++) {
        if (trace.tickets[i].backend == backend) {
            seen[count++] = trace.tickets[i];
        }
    }
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < count; i++) {
        if (!backend->slots->ticket_done(backend, seen[i].ticket)) {
            seen[i].backend = NULL;
        }
    }
    vyre_status status = VYRE_OK;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < TICKETS; i++) {
        enqueued *row = &trace.tickets[i];
        bool done = false;
        for (size_t k = 0; row->backend == backend && k < count && !done; k++) {
            done = seen[k].backend && seen[k].id == row->id;
        }
        if (done && !status) {
            const vyre_trace_facts facts = {.kind = "enqueued", .ticket = row->ticket};
            status = add_async('e', track, row->id, row->name, &facts);
        }
        if (done) {
            row->backend = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    tell(status);
}

void vyre_trace_forget(const vyre_backend *backend) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < TICKETS; i++) {
        if (trace.tickets[i].backend == backend) {
            trace.tickets[i].backend = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
}
