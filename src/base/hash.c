#include "base/hash.h"

#include <stdatomic.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t vyre_hash(const void *data, size_t size) {
    return XXH3_64bits(data, size);
}

vyre_hash128 vyre_hash_128(const void *data, size_t size) {
    XXH128_hash_t hash = XXH3_128bits(data, size);
    return (vyre_hash128){hash.low64, hash.high64};
}

static uint64_t process_seed(void) {
    static _Atomic uint64_t seed;
    uint64_t found = atomic_load_explicit(&seed, memory_order_relaxed);
    if (!found) {
        struct timespec now = {0};
        timespec_get(&now, TIME_UTC);
        const void *place[2] = {&seed, &now}; /* moved by address space randomisation */
        uint64_t drawn = XXH3_64bits(&now, sizeof now) ^ XXH3_64bits(place, sizeof place);
        drawn = drawn ? drawn : 1;
        /* The first thread's draw stays. */
        found = atomic_compare_exchange_strong(&seed, &found, drawn) ? drawn : found;
    }
    return found;
}

uint64_t vyre_hash_key(const void *data, size_t size) {
    return XXH3_64bits_withSeed(data, size, process_seed());
}

uint64_t vyre_hash_next(uint64_t digest, const void *data, size_t size) {
    const uint64_t parts[2] = {digest, vyre_hash(data, size)};
    uint8_t bytes[16];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(parts[i / 8] >> i % 8 * 8);
    }
    return vyre_hash(bytes, sizeof bytes);
}
