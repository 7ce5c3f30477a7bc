/* Readers walk structures that only ever grow: an entry is written before the slot that leads to it
 * is published, a larger table is filled before it replaces the smaller one, and nothing is
 * freed. */
#include <vyre/intern.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/hash.h"

enum {
    FIRST_CHUNK_BITS = 8, /* chunk k holds 256 << k entries */
    CHUNKS = 32 - FIRST_CHUNK_BITS,
    FIRST_SLOTS = 512
};

/* The sum of all chunks. */
#define MAX_NAMES ((uint32_t)(((1ull << CHUNKS) - 1) << FIRST_CHUNK_BITS))

/* A slot is 0 while empty, else the upper half of the hash and the id plus one. */
typedef struct table {
    struct table *previous; /* kept: a reader may still be in it */
    size_t mask;
    _Atomic uint64_t slots[];
} table;

static struct {
    pthread_mutex_t lock; /* held by whoever adds a name */
    vyre_arena names;
    _Atomic(table *) table;
    _Atomic(vyre_str *) chunks[CHUNKS];
    _Atomic uint32_t count;
} interned = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint32_t chunk_of(uint32_t id, uint32_t *out_index) {
    uint32_t shifted = id + (1u << FIRST_CHUNK_BITS);
    uint32_t top = 31 - (uint32_t)__builtin_clz(shifted);
    *out_index = shifted - (1u << top);
    return top - FIRST_CHUNK_BITS;
}

static vyre_str entry(uint32_t id) {
    uint32_t index;
    uint32_t chunk = chunk_of(id, &index);
    return atomic_load_explicit(&interned.chunks[chunk], memory_order_acquire)[index];
}

static uint32_t find(vyre_str name, uint64_t hash) {
    table *slots = atomic_load_explicit(&interned.table, memory_order_acquire);
    if (!slots) {
        return VYRE_INTERN_NONE;
    }
    for (size_t at = (size_t)hash & slots->mask;; at = (at + 1) & slots->mask) {
        uint64_t slot = atomic_load_explicit(&slots->slots[at], memory_order_acquire);
        if (!slot) {
            return VYRE_INTERN_NONE; /* one is always empty */
        }
        if (slot >> 32 == hash >> 32) {
            uint32_t id = (uint32_t)slot - 1;
            vyre_str found = entry(id);
            if (found.size == name.size &&
                (!name.size || !memcmp(found.data, name.data, name.size))) {
                return id;
            }
        }
    }
}

static void place(table *slots, uint64_t hash, uint32_t id) {
    size_t at = (size_t)hash & slots->mask;
    while (atomic_load_explicit(&slots->slots[at], memory_order_relaxed)) {
        at = (at + 1) & slots->mask;
    }
    uint64_t slot = (hash >> 32 << 32) | (id + 1);
    atomic_store_explicit(&slots->slots[at], slot, memory_order_release);
}

/* The table with room for one more name, at most three quarters full; NULL without memory. */
static table *table_with_room(uint32_t count) {
    table *old = atomic_load_explicit(&interned.table, memory_order_relaxed);
    size_t capacity = old ? old->mask + 1 : 0;
    if (count < capacity / 4 * 3) {
        return old;
    }
    capacity = capacity ? capacity * 2 : FIRST_SLOTS;
    table *grown = vyre_alloc_zeroed(1, sizeof *grown + capacity * sizeof grown->slots[0]);
    if (!grown) {
        return NULL;
    }
    grown->previous = old;
    grown->mask = capacity - 1;
    for (uint32_t id = 0; id < count; id++) {
        vyre_str name = entry(id);
        place(grown, vyre_hash_key(name.data, name.size), id);
    }
    atomic_store_explicit(&interned.table, grown, memory_order_release);
    return grown;
}

/* With the lock held: false without memory, nothing having changed that anyone can see. */
static bool add(vyre_str name, uint64_t hash, uint32_t id) {
    uint32_t index;
    uint32_t chunk = chunk_of(id, &index);
    vyre_str *entries = atomic_load_explicit(&interned.chunks[chunk], memory_order_relaxed);
    if (!entries) {
        entries = vyre_alloc_array((size_t)1 << (FIRST_CHUNK_BITS + chunk), sizeof *entries);
        if (!entries) {
            return false;
        }
        atomic_store_explicit(&interned.chunks[chunk], entries, memory_order_release);
    }
    table *slots = table_with_room(id);
    char *copy = slots ? vyre_arena_copy(&interned.names, name.data, name.size) : NULL;
    if (!copy) {
        return false;
    }
    entries[index] = (vyre_str){copy, name.size};
    atomic_store_explicit(&interned.count, id + 1, memory_order_release);
    place(slots, hash, id);
    return true;
}

vyre_status vyre_intern(vyre_str name, uint32_t *out_id) {
    uint64_t hash = vyre_hash_key(name.data, name.size);
    *out_id = find(name, hash);
    if (*out_id != VYRE_INTERN_NONE) {
        return VYRE_OK;
    }
    vyre_status status = VYRE_OK;
    pthread_mutex_lock(&interned.lock);
    *out_id = find(name, hash); /* another thread may have been faster */
    if (*out_id == VYRE_INTERN_NONE) {
        uint32_t id = atomic_load_explicit(&interned.count, memory_order_relaxed);
        if (id == MAX_NAMES) {
            status = vyre_status_make(VYRE_STATUS_LIMIT, "intern fewer different names",
                                      "all %u numbers of interned names are taken", MAX_NAMES);
        } else if (!add(name, hash, id)) {
            status =
                vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory and try again",
                                 "out of memory while interning a name of %zu bytes", name.size);
        } else {
            *out_id = id;
        }
    }
    pthread_mutex_unlock(&interned.lock);
    return status;
}

uint32_t vyre_intern_find(vyre_str name) {
    return find(name, vyre_hash_key(name.data, name.size));
}

vyre_str vyre_intern_name(uint32_t id) {
    return id < atomic_load_explicit(&interned.count, memory_order_acquire) ? entry(id)
                                                                            : (vyre_str){0};
}
