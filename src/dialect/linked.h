/* The definitions that are linked in: the first stream of the registry. */
#ifndef VYRE_DIALECT_LINKED_H
#define VYRE_DIALECT_LINKED_H

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

/* One part of what is linked in: adds its definitions. A new part is a row of vyre_linked. */
typedef vyre_status (*vyre_linked_part)(vyre_streams *streams);
extern const vyre_linked_part vyre_linked[]; /* ends with NULL */

#endif
