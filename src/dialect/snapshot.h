/* Snapshot: a set of operations that never changes, found by their interned names. */
#ifndef VYRE_DIALECT_SNAPSHOT_H
#define VYRE_DIALECT_SNAPSHOT_H

#include <stdatomic.h>

#include <vyre/dialect.h>

#include "base/arena.h"
#include "base/vec.h"

struct vyre_dialects {
    /* By name, from `first_name` on: as many as lie between the lowest and the highest. */
    uint32_t first_name, name_count;
    const vyre_operation **by_name;

    vyre_operation *operations; /* by dialect, then id */
    size_t count;

    atomic_size_t references;
    vyre_arena arena;                  /* of everything but itself */
    VYRE_VEC(vyre_program *) programs; /* that it keeps */

    /* Of who replaces snapshots, under its lock. */
    vyre_dialects *next; /* replaced before it */
    size_t replaced;     /* how often it was, each time with a reference that is still there */
};

/* One without operations, which is never freed. */
extern vyre_dialects vyre_dialects_empty;

/* Gives back `count` references and says whether it must be freed now, by the call below. */
bool vyre_dialects_drop(vyre_dialects *snapshot, size_t count);
void vyre_dialects_free(vyre_dialects *snapshot);

/* Out of memory, or of numbers, for so many slots of a kind. */
VYRE_MUST_USE vyre_status vyre_dialects_no_room(size_t count, const char *kind);

/* The error for one that there is not, with near ids; `what` is what the word could have been:
 * "operation". */
VYRE_MUST_USE vyre_status vyre_dialects_unknown(const vyre_dialects *snapshot, const char *what,
                                                const char *id);

#endif
