/* Watching a run for data races and other mistakes that no result shows. All of it counts to the
 * machine's memory budget. Where a function returns false, there is no memory or the budget is used
 * up, and the machine's status says so if it was the budget. */
#ifndef VYRE_REFERENCE_SANITIZER_H
#define VYRE_REFERENCE_SANITIZER_H

#include <vyre/sanitize.h>

#include "backend/reference/clock.h"

typedef struct fiber fiber;
typedef struct sanitizer sanitizer;
typedef struct fiber_watch fiber_watch; /* what is remembered of a workgroup in flight */

/* Makes the machine's sanitizer, once its arrays are there; the status says why not. */
bool sanitizer_init(machine *m, vyre_findings *findings);
void sanitizer_free(sanitizer *watch);

/* The phase at hand starts. The status says why not. */
bool sanitizer_enter(machine *m);

/* Two arrays, buffers or scratch, exchange their contents. */
void sanitizer_swap(sanitizer *watch, uint32_t first, uint32_t second);

uint64_t fiber_watch_bytes(const machine *m);
/* NULL without memory; the bytes are reserved already. */
fiber_watch *fiber_watch_new(const machine *m);
void fiber_watch_start(machine *m, fiber_watch *watch);
void fiber_watch_free(const machine *m, fiber_watch *watch);

/* Every access so far happened before every one to come: a new phase starts, or a grid barrier lies
 * between. */
void sanitizer_separate(sanitizer *watch);

/* A load or store is about to happen: looks at the machine's indices and the mask. */
bool sanitizer_access(machine *m, fiber *f, uint32_t at);

/* An atomic has happened in one lane. Lanes come in the order they are carried out; `writes` says
 * whether this one wrote, which a compare-exchange need not. */
bool sanitizer_atomic(machine *m, fiber *f, uint32_t at, uint32_t lane, bool writes);

/* A barrier, or an operation that is one, is reached. */
bool sanitizer_barrier(machine *m, fiber *f, uint32_t at);

#endif
