/* The one hash of the project: XXH3, 64 bits for tables and checksums, 128 for content. */
#ifndef VYRE_BASE_HASH_H
#define VYRE_BASE_HASH_H

#include <vyre/base.h>

typedef struct vyre_hash128 {
    uint64_t low, high;
} vyre_hash128;

/* The same on every machine: for checksums and anything that is stored. */
uint64_t vyre_hash(const void *data, size_t size);
vyre_hash128 vyre_hash_128(const void *data, size_t size);
/* The digest of a list, one item after the other: starts with 0. */
uint64_t vyre_hash_next(uint64_t digest, const void *data, size_t size);

/* Different in each process, so that nobody can prepare names that collide: for tables. */
uint64_t vyre_hash_key(const void *data, size_t size);

#endif
