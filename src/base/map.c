#include "base/map.h"

#include "base/alloc.h"

static uint32_t tag_of(uint64_t hash) {
    uint32_t tag = (uint32_t)hash;
    return tag ? tag : 1;
}

/* Tags alone place the slots, so that growing needs no key. */
static void place(vyre_map_slot *slots, size_t capacity, vyre_map_slot slot) {
    size_t at = slot.tag & (capacity - 1);
    while (slots[at].tag) {
        at = (at + 1) & (capacity - 1);
    }
    slots[at] = slot;
}

uint32_t *vyre_map_find(const vyre_map *map, uint64_t hash, vyre_map_same same,
                        const void *context) {
    if (!map->capacity) {
        return NULL;
    }
    uint32_t tag = tag_of(hash);
    size_t mask = map->capacity - 1;
    for (size_t at = tag & mask; map->slots[at].tag; at = (at + 1) & mask) {
        if (map->slots[at].tag == tag && same(context, map->slots[at].value)) {
            return &map->slots[at].value;
        }
    }
    return NULL;
}

bool vyre_map_add(vyre_map *map, uint64_t hash, uint32_t value) {
    if (map->count + 1 > map->capacity / 4 * 3) {
        size_t capacity = map->capacity ? map->capacity * 2 : 16;
        vyre_map_slot *slots = vyre_alloc_zeroed(capacity, sizeof *slots);
        if (!slots) {
            return false;
        }
        for (size_t i = 0; i < map->capacity; i++) {
            if (map->slots[i].tag) {
                place(slots, capacity, map->slots[i]);
            }
        }
        vyre_free(map->slots);
        map->slots = slots;
        map->capacity = capacity;
    }
    place(map->slots, map->capacity, (vyre_map_slot){tag_of(hash), value});
    map->count++;
    return true;
}

void vyre_map_free(vyre_map *map) {
    vyre_free(map->slots);
    *map = (vyre_map){0};
}
