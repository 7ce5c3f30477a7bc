/* Hash map from any key to a 32-bit value. The keys stay with the caller: the map stores a hash and
 * the value, and asks `same` whether a value with that hash is the one looked for.
 *
 *     vyre_map names = {0};
 *     uint32_t *slot = vyre_map_find(&names, hash, same_name, &context);
 *     if (!slot && !vyre_map_add(&names, hash, id)) { ... no memory ... }
 *     vyre_map_free(&names);
 */
#ifndef VYRE_BASE_MAP_H
#define VYRE_BASE_MAP_H

#include <vyre/base.h>

typedef struct vyre_map_slot {
    uint32_t tag; /* the low half of the hash, never 0 in a used slot */
    uint32_t value;
} vyre_map_slot;

typedef struct vyre_map {
    vyre_map_slot *slots;
    size_t count, capacity; /* capacity is 0 or a power of two */
} vyre_map;

typedef bool (*vyre_map_same)(const void *context, uint32_t value);

/* The stored value, to read or replace; NULL when absent. Valid until the next add. */
uint32_t *vyre_map_find(const vyre_map *map, uint64_t hash, vyre_map_same same,
                        const void *context);

/* The key must be absent. False without memory, the map then being unchanged. */
bool vyre_map_add(vyre_map *map, uint64_t hash, uint32_t value);

void vyre_map_free(vyre_map *map);

#endif
