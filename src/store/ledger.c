#include "store/ledger.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"

enum {
    WORD_COUNT = sizeof(vyre_store_ledger) / sizeof(uint64_t),
    READ_TRIES = 4,
};

static uint64_t sign(const uint64_t words[WORD_COUNT]) {
    return vyre_hash(words, WORD_COUNT * sizeof *words);
}

bool vyre_store_ledger_read(int lock, vyre_store_ledger *out_ledger) {
    uint64_t words[WORD_COUNT + 1];
    if (pread(lock, words, sizeof words, 0) != sizeof words || words[WORD_COUNT] != sign(words)) {
        *out_ledger = (vyre_store_ledger){.bytes = UINT64_MAX};
        return false;
    }
    memcpy(out_ledger, words, sizeof *out_ledger);
    return true;
}

bool vyre_store_ledger_write(int lock, const vyre_store_ledger *ledger) {
    uint64_t words[WORD_COUNT + 1];
    memcpy(words, ledger, sizeof *ledger);
    words[WORD_COUNT] = sign(words);
    vyre_file_guard guard;
    vyre_file_guard_begin(&guard);
    bool is_written = pwrite(lock, words, sizeof words, 0) == sizeof words;
    vyre_file_guard_end(&guard);
    return is_written;
}

/* Of this process: since it started, and what the ledger does not have yet. */
static _Atomic uint64_t counted[VYRE_STORE_COUNTER_COUNT], pending[VYRE_STORE_COUNTER_COUNT];

void vyre_store_counts_drop(void) {
    for (size_t i = 0; i < VYRE_STORE_COUNTER_COUNT; i++) {
        atomic_store(&pending[i], 0);
    }
}

/* What a process counted before it forked is not for the new one to add. */
static void drop_inherited(void) {
    static _Atomic pid_t owner;
    pid_t self = getpid(), before = atomic_exchange(&owner, self);
    if (before && before != self) {
        vyre_store_counts_drop();
    }
}

void vyre_store_count(vyre_store_counter counter) {
    drop_inherited();
    atomic_fetch_add(&counted[counter], 1);
    atomic_fetch_add(&pending[counter], 1);
}

bool vyre_store_counts_pending(void) {
    bool any = false;
    drop_inherited();
    for (size_t i = 0; i < VYRE_STORE_COUNTER_COUNT; i++) {
        any = any || atomic_load(&pending[i]);
    }
    return any;
}

void vyre_store_counts_save(int lock) {
    uint64_t added[VYRE_STORE_COUNTER_COUNT];
    vyre_store_ledger ledger;
    if (!vyre_store_counts_pending()) {
        return;
    }
    vyre_store_ledger_read(lock, &ledger);
    for (size_t i = 0; i < VYRE_STORE_COUNTER_COUNT; i++) {
        added[i] = atomic_exchange(&pending[i], 0);
        ledger.counts[i] += added[i];
    }
    if (!vyre_store_ledger_write(lock, &ledger)) {
        for (size_t i = 0; i < VYRE_STORE_COUNTER_COUNT; i++) {
            atomic_fetch_add(&pending[i], added[i]);
        }
    }
}

static vyre_cache_disk_counts name_counts(const uint64_t counts[VYRE_STORE_COUNTER_COUNT]) {
    return (vyre_cache_disk_counts){
#define FIELD(NAME, field) .field = counts[VYRE_STORE_COUNTER_##NAME],
        VYRE_STORE_COUNTERS(FIELD)
#undef FIELD
    };
}

vyre_cache_disk_counts vyre_cache_count_disk(void) {
    uint64_t counts[VYRE_STORE_COUNTER_COUNT];
    for (size_t i = 0; i < VYRE_STORE_COUNTER_COUNT; i++) {
        counts[i] = atomic_load(&counted[i]);
    }
    return name_counts(counts);
}

vyre_cache_disk_counts vyre_store_counts_total(const vyre_store_place *place) {
    vyre_store_ledger ledger = {0};
    int file = place->folder < 0
                   ? -1
                   : openat(place->folder, "lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file >= 0) {
        /* Without the lock half of what somebody is just writing may be seen. */
        for (int i = 0; i < READ_TRIES && !vyre_store_ledger_read(file, &ledger); i++) {
        }
        close(file);
    }
    drop_inherited();
    for (size_t i = 0; i < VYRE_STORE_COUNTER_COUNT; i++) {
        ledger.counts[i] += atomic_load(&pending[i]);
    }
    return name_counts(ledger.counts);
}
