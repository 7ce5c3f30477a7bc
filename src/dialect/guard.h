/* The snapshot in force, and its readers.
 *
 * One pointer is in force. Each thread has a line of memory with a few slots. Entering writes the
 * pointer into a free slot and checks that it is still the one in force; leaving clears the slot.
 * Readers write no memory that others write, so they do not slow each other down.
 *
 * Installing exchanges the pointer and looks at all slots. A snapshot in none of them has no reader
 * and can get none any more, so it is freed at once. One that is read stays in a list: whoever
 * leaves a snapshot that is no longer in force looks at the list again, so the last reader frees
 * it. Nobody waits for a reader, and one that sleeps keeps its own snapshot alone.
 *
 * A reader's write must be visible before it checks the pointer. A fence in every reader would cost
 * 7 ns. On Linux the installing thread asks the kernel to run a barrier on all threads of the
 * process instead (membarrier). Where the kernel refuses, and under the thread sanitizer, which
 * does not know of it, readers have their own fence.
 *
 * A thread with more guards than slots, or without memory for its line, takes a reference under a
 * lock. A thread that ends takes its slots with it; a child process begins with the slots of the
 * thread that forked. */
#ifndef VYRE_DIALECT_GUARD_H
#define VYRE_DIALECT_GUARD_H

#include "dialect/snapshot.h"

/* Puts it in force if nothing is, taking over the reference; else releases it. */
void vyre_guards_first(vyre_dialects *snapshot);

/* Whether anything is in force. */
bool vyre_guards_filled(void);

/* Grows after each install of a snapshot. A caller that reads it first and then enters sees the
 * snapshot of this number, or a later one. */
uint64_t vyre_guards_generation(void);

/* Makes every reader use a fence of its own. Call it before the first guard of the process. */
void vyre_guards_portable(void);

/* The number of replaced snapshots that still have a reader. */
size_t vyre_guards_replaced(void);

#endif
