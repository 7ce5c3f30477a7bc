/* The registry of the process: what loads it on first use. */
#ifndef VYRE_DIALECT_REGISTRY_H
#define VYRE_DIALECT_REGISTRY_H

#include <vyre/dialect.h>

#include "base/vec.h"

/* Definitions on their way into a snapshot. They and what they point to live until
 * vyre_streams_free calls `release` of each batch, which is after the snapshot has copied them. */
typedef struct vyre_batch {
    void *context;
    void (*release)(void *context);
} vyre_batch;

typedef struct vyre_streams {
    VYRE_VEC(const vyre_operation *) operations;
    VYRE_VEC(vyre_batch) batches; /* who owns them */
} vyre_streams;

/* Adds a definition that lives long enough; names what there is no room for. */
VYRE_MUST_USE vyre_status vyre_streams_add(vyre_streams *streams, const vyre_operation *operation);
/* Has `release(context)` called when the definitions are no longer needed, also on an error. */
VYRE_MUST_USE vyre_status vyre_streams_own(vyre_streams *streams, void (*release)(void *context),
                                           void *context);
void vyre_streams_free(vyre_streams *streams);

/* Loads a snapshot and puts it in force, unless one is. A failure is remembered, unless it was for
 * want of memory. */
VYRE_MUST_USE vyre_status vyre_dialects_prepare(void);
/* In a child after a fork: whoever was loading is not there. */
void vyre_dialects_forget_loading(void);

/* As vyre_dialects_watch_open; `looks` as for vyre_notice_open. For tests. */
VYRE_MUST_USE vyre_status vyre_dialects_watch_start(const char *const *folders, size_t count,
                                                    bool looks, vyre_dialects_watch **out_watch);

/* The extern stream: every dialect and operation that was registered, in order, or all that is
 * wrong with them. */
VYRE_MUST_USE vyre_status vyre_extern_read(vyre_streams *streams);

/* All that cannot change while the process runs: what is linked in, and what was registered. */
VYRE_MUST_USE vyre_status vyre_streams_read_fixed(vyre_streams *streams);
/* A snapshot of all that was read. */
VYRE_MUST_USE vyre_status vyre_streams_make(const vyre_streams *streams,
                                            vyre_dialects **out_snapshot);

#endif
