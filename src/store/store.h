/* The store: compiled programs kept on disk from one process to the next.
 *
 * An entry is found by everything that its contents depend on, compared byte for byte on a hit.
 * Nothing here fails for whoever runs a program: trouble goes to the log and reads as a miss, or as
 * not stored. Any number of threads and processes may use the same folder.
 *
 *     vyre_strbuf artifact = {0};
 *     if (!vyre_store_get(&key, &artifact)) {
 *         ... compile ...
 *         vyre_store_put(&key, artifact.data, artifact.size);
 *     }
 *
 * include/vyre/cache.h is the side of it that users see, and says where the folder lies. */
#ifndef VYRE_STORE_STORE_H
#define VYRE_STORE_STORE_H

#include <vyre/program.h>

#include "base/strbuf.h"

/* Any bytes; all borrowed. */
typedef struct vyre_store_key {
    uint32_t semantics; /* VYRE_SEMANTICS of the library that compiled */
    vyre_str backend, backend_version;
    vyre_str device, driver_version;
    vyre_digest digest;
    vyre_str program; /* its wire bytes without debug */
    vyre_str name;    /* of the program; for people, not compared */
} vyre_store_key;

/* Whether there is such an entry; then `out_payload`, which must be empty, holds it. A hit makes
 * the entry the last one to be dropped. Waits for nobody. */
bool vyre_store_get(const vyre_store_key *key, vyre_strbuf *out_payload);

/* Replaces what the key had. Entries that were not used for the longest time go until the new one
 * fits; one that is larger than the whole budget is not stored. Waits for other processes that
 * store, but not for long: then it is not stored either. */
void vyre_store_put(const vyre_store_key *key, const void *payload, size_t size);

/* Adds what this process counted to the counts of all. Waits for nobody: where somebody else is at
 * it, or there is no folder, what was counted stays for the next time. */
void vyre_store_flush_counts(void);

#endif
