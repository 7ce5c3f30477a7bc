/* The ledger of the store: what the lock's file says of the folder, so that not every store has to
 * look at all files, and what all processes counted. Words of the machine, a checksum last.
 *
 * A process counts for itself, and adds to the ledger what is new whenever it has the lock. */
#ifndef VYRE_STORE_LEDGER_H
#define VYRE_STORE_LEDGER_H

#include <vyre/cache.h>

#include "store/place.h"

/* X(NAME, field of vyre_cache_disk_counts) */
#define VYRE_STORE_COUNTERS(X)                                                                     \
    X(HITS, hits)                                                                                  \
    X(MISSES, misses)                                                                              \
    X(STORES, stores)                                                                              \
    X(EVICTIONS, evictions)                                                                        \
    X(DAMAGED, damaged)

typedef enum vyre_store_counter {
#define COUNTER(NAME, field) VYRE_STORE_COUNTER_##NAME,
    VYRE_STORE_COUNTERS(COUNTER)
#undef COUNTER
        VYRE_STORE_COUNTER_COUNT
} vyre_store_counter;

typedef struct vyre_store_ledger {
    uint64_t bytes;                            /* at most that many are in the folder */
    uint64_t stores;                           /* since that was counted */
    uint64_t counts[VYRE_STORE_COUNTER_COUNT]; /* since everything was dropped */
} vyre_store_ledger;

/* False if nothing valid was written: then nothing was counted, and any number of bytes may be
 * there. `lock` may be any descriptor of the file. */
bool vyre_store_ledger_read(int lock, vyre_store_ledger *out_ledger);
bool vyre_store_ledger_write(int lock, const vyre_store_ledger *ledger);

void vyre_store_count(vyre_store_counter counter);

/* Whether there is something that the ledger does not have yet. */
bool vyre_store_counts_pending(void);

/* Adds it. The caller has the lock. What cannot be written stays for the next time. */
void vyre_store_counts_save(int lock);

/* Forgets it. */
void vyre_store_counts_drop(void);

/* What the ledger has, and what it does not have yet of this process. Waits for nobody. */
vyre_cache_disk_counts vyre_store_counts_total(const vyre_store_place *place);

#endif
