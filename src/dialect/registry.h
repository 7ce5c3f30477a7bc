/* The registry of the process: what loads it on first use. */
#ifndef VYRE_DIALECT_REGISTRY_H
#define VYRE_DIALECT_REGISTRY_H

#include "dialect/linked.h"

/* Loads a snapshot and puts it in force, unless one is. A failure is remembered, unless it was for
 * want of memory. */
VYRE_MUST_USE vyre_status vyre_dialects_prepare(void);
/* In a child after a fork: whoever was loading is not there. */
void vyre_dialects_forget_loading(void);

/* The extern stream: every dialect and operation that was registered, in order, or all that is
 * wrong with them. */
VYRE_MUST_USE vyre_status vyre_extern_read(vyre_streams *streams);

/* All that cannot change while the process runs: what is linked in, and what was registered. */
VYRE_MUST_USE vyre_status vyre_streams_read_fixed(vyre_streams *streams);

#endif
