/* The snapshot in force, and who reads it.
 *
 * A reader writes the pointer it reads into a slot of its own thread, and looks whether it is still
 * the one in force. Who replaces a snapshot looks at all slots: where it stands in none, nobody has
 * it or can get it any more. Between a reader's write and its look there must be a barrier; where
 * the kernel can have all threads of a process do one at once (membarrier), who replaces pays for
 * both, and readers write and read memory that nobody else writes. */
#ifndef VYRE_DIALECT_GUARD_H
#define VYRE_DIALECT_GUARD_H

#include "dialect/snapshot.h"

/* Puts it in force if nothing is, taking over the reference; else releases it. */
void vyre_guards_first(vyre_dialects *snapshot);

/* Whether anything is in force. */
bool vyre_guards_filled(void);

/* Has every reader pay for its own barrier, as where the kernel has none for all. Before the first
 * guard of the process. */
void vyre_guards_portable(void);

/* How many snapshots that were replaced are still there, because somebody reads them. */
size_t vyre_guards_replaced(void);

#endif
