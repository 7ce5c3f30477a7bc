/* Tracing: what a process did on its devices and when, in the file that VYRE_TRACE names, as
 * Chrome's trace events, which ui.perfetto.dev and chrome://tracing show. docs/tracing.md describes
 * the events.
 *
 *     VYRE_TRACED(device->track, status = slots->resident_upload(...), .kind = "upload",
 *                 .bytes = size, .failed = status);
 *
 * The runtime calls all hooks, so backends do nothing for a trace. Without a trace a hook is a
 * branch that is never taken. The trace needs no memory but its own tables of fixed size. */
#ifndef VYRE_TRACE_TRACE_H
#define VYRE_TRACE_TRACE_H

#include <stdatomic.h>

#include <vyre/backend.h>
#include <vyre/status.h>

/* Whether there is a trace: from before the first device on, until its file cannot be written. */
extern atomic_bool vyre_trace_active;

static inline bool vyre_trace_is_on(void) {
    return __builtin_expect(atomic_load_explicit(&vyre_trace_active, memory_order_relaxed), 0);
}

/* The track of a device; all of the same name share one. Starts the trace if the environment asks
 * for one. 0 without. */
uint32_t vyre_trace_track(const vyre_backend *backend, const char *name);

/* A track's events that do not nest lie in rows of their own, one below the other. */
typedef struct vyre_trace_place {
    uint32_t track, row;
} vyre_trace_place;

/* Something that goes on in this thread. */
typedef struct vyre_trace_span {
    uint64_t start_ns; /* 0: it is not traced */
    vyre_trace_place place, outer;
    uint32_t disk, cold; /* compiles of this thread before it */
} vyre_trace_span;

vyre_trace_span vyre_trace_begin_now(uint32_t track);

/* VYRE_TRACE_HERE: on the track of what this thread is doing already. */
#define VYRE_TRACE_HERE UINT32_MAX
static inline vyre_trace_span vyre_trace_begin(uint32_t track) {
    return vyre_trace_is_on() && track ? vyre_trace_begin_now(track) : (vyre_trace_span){0};
}

/* What is said of an event; what is not known is left 0. */
typedef struct vyre_trace_facts {
    const char *kind; /* "upload"; the program's name is put behind it */
    const vyre_program *program;
    const char *label, *cache;
    uint64_t bytes;               /* moved, of uploads and the like */
    uint64_t bytes_in, bytes_out; /* of a run with data of the host */
    const vyre_call *call;        /* its grids */
    const vyre_grid *grid;        /* of one phase */
    const uint32_t *phase;        /* its number */
    const vyre_timing *timing;
    uint64_t ticket;
    bool failed;
} vyre_trace_facts;

void vyre_trace_end(const vyre_trace_span *span, const vyre_trace_facts *facts);

/* Runs a statement as an event of a track. The facts behind it are initialisers of
 * vyre_trace_facts; they are evaluated afterwards, only in a trace, and may use `span`. */
#define VYRE_TRACED(track, statement, ...)                                                         \
    do {                                                                                           \
        vyre_trace_span span = vyre_trace_begin(track);                                            \
        statement;                                                                                 \
        if (span.start_ns) {                                                                       \
            vyre_trace_end(&span, &(vyre_trace_facts){__VA_ARGS__});                               \
        }                                                                                          \
    } while (0)

/* A compile of this thread found what it needs on disk, or did not. Spans around it know. */
void vyre_trace_compiled(bool from_disk);
/* "disk", "cold", or "none" where nothing was compiled since the span began. */
const char *vyre_trace_cache(const vyre_trace_span *span);

/* Work that goes on by itself: an event from here to vyre_trace_async_end; 0 is no event. */
uint64_t vyre_trace_async_begin(uint32_t track, const vyre_trace_facts *facts);
void vyre_trace_async_end(uint32_t track, uint64_t id, const vyre_trace_facts *facts);

/* The same for work with a ticket. Its end becomes known when somebody looks for it, as every wait
 * on the device does. The trace remembers a fixed number of tickets; beyond it, work has no end. */
void vyre_trace_enqueued(uint32_t track, const vyre_backend *backend,
                         const vyre_trace_facts *facts);
void vyre_trace_look_now(uint32_t track, const vyre_backend *backend);
static inline void vyre_trace_look(uint32_t track, const vyre_backend *backend) {
    if (vyre_trace_is_on()) {
        vyre_trace_look_now(track, backend);
    }
}
/* The backend is about to go. */
void vyre_trace_forget(const vyre_backend *backend);

#endif
