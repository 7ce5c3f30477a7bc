#include "store/store.h"

#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/option.h"
#include "store/ledger.h"

enum { SCAN_AFTER = 256 };

/* Logs and frees a status. What stays wrong is said once, not at every dispatch. */
static void tell(vyre_status status) {
    static _Atomic uint64_t last;
    if (status) {
        const char *text = vyre_status_text(status);
        uint64_t hash = vyre_hash(text, strlen(text));
        if (atomic_exchange(&last, hash) != hash) {
            vyre_log(VYRE_LOG_WARNING, "%s", text);
        }
        vyre_status_free(status);
    }
}

/* The place and the budget of an operation; false if there is no cache. */
static bool start(vyre_store_place *place, bool make, uint64_t *out_budget) {
    *place = (vyre_store_place){.folder = -1};
    *out_budget = 0;
    vyre_status status = vyre_option_size(VYRE_OPTION_CACHE_LIMIT, out_budget);
    if (!status && *out_budget) {
        status = vyre_store_open(place, make);
    }
    bool usable = !status && place->path.size;
    tell(status);
    return usable;
}

static void drop_damaged(const vyre_store_place *place, const char *name) {
    vyre_store_count(VYRE_STORE_COUNTER_DAMAGED);
    vyre_log(VYRE_LOG_WARNING,
             "dropped the damaged file %s/%s of the cache of compiled programs. Fix: none is "
             "needed; check the disk if this happens again",
             vyre_strbuf_string(&place->path), name);
    vyre_store_remove(place, name);
}

/* Reads the entry's file and leaves in `out` its payload alone; false if that is not there. */
static bool load(const vyre_store_place *place, vyre_str key, uint64_t budget, vyre_strbuf *out) {
    char name[VYRE_STORE_NAME_SIZE + 1];
    vyre_store_entry entry;
    vyre_store_file_name(key, name);
    vyre_status status = vyre_store_read(place, name, budget, out);
    if (status) {
        /* One that does not fit into the budget any more is left to the next eviction. */
        vyre_status_code code = vyre_status_code_of(status);
        if (code == VYRE_STATUS_NOT_FOUND || code == VYRE_STATUS_LIMIT) {
            vyre_status_free(status);
        } else {
            tell(status);
        }
        if (code == VYRE_STATUS_INVALID_ARGUMENT) {
            vyre_store_count(VYRE_STORE_COUNTER_DAMAGED);
            vyre_store_remove(place, name);
        }
        return false;
    }
    vyre_store_verdict verdict = vyre_store_entry_decode((vyre_str){out->data, out->size}, &entry);
    if (verdict == VYRE_STORE_DAMAGED) {
        drop_damaged(place, name);
    }
    if (verdict != VYRE_STORE_VALID || entry.key.size != key.size ||
        memcmp(entry.key.data, key.data, key.size) != 0) {
        vyre_strbuf_free(out);
        return false;
    }
    vyre_store_touch(place, name);
    memmove(out->data, entry.payload.data, entry.payload.size);
    vyre_strbuf_cut(out, entry.payload.size);
    return true;
}

bool vyre_store_get(const vyre_store_key *key, vyre_strbuf *out_payload) {
    vyre_store_place place;
    vyre_strbuf bytes = {0};
    uint64_t budget;
    bool hit = false;
    if (start(&place, false, &budget)) {
        vyre_store_key_encode(key, &bytes);
        hit = place.folder >= 0 && !bytes.failed &&
              load(&place, (vyre_str){bytes.data, bytes.size}, budget, out_payload);
        vyre_store_count(hit ? VYRE_STORE_COUNTER_HITS : VYRE_STORE_COUNTER_MISSES);
    }
    vyre_strbuf_free(&bytes);
    vyre_store_close(&place);
    return hit;
}

/* Looks at all files: drops what was left behind, and entries until `room` more bytes fit into the
 * budget. The file `name` is about to be replaced and does not count. */
static vyre_status evict(const vyre_store_place *place, const char *name, uint64_t room,
                         uint64_t budget, uint64_t *out_bytes) {
    vyre_store_files files;
    uint64_t total = 0;
    bool stuck = false;
    vyre_status status = vyre_store_scan(place, &files);
    for (size_t i = 0; i < files.list.count && !status; i++) {
        vyre_store_file *file = &files.list.items[i];
        if (file->is_temporary) {
            stuck |= !vyre_store_remove(place, file->name);
        } else if (strcmp(file->name, name) != 0) {
            total += file->bytes;
        }
    }
    for (size_t i = 0; i < files.list.count && !status && total > budget - room; i++) {
        vyre_store_file *file = &files.list.items[i];
        if (file->is_temporary || !strcmp(file->name, name)) {
            continue;
        }
        if (vyre_store_remove(place, file->name)) {
            total -= file->bytes;
            vyre_store_count(VYRE_STORE_COUNTER_EVICTIONS);
        } else {
            stuck = true;
        }
    }
    if (!status && stuck) {
        status = vyre_status_make(VYRE_STATUS_IO,
                                  "remove that folder, or make it writable for this user",
                                  "cannot remove files of the cache of compiled programs in %s",
                                  vyre_strbuf_string(&place->path));
    }
    vyre_vec_free(&files.list);
    *out_bytes = total;
    return status;
}

/* Sees to it that `bytes` more fit into the budget. The ledger counts them before they are there,
 * so that it is never too low, whenever a process is killed. Only the loss of power may bring an
 * old one back: then it is right again after SCAN_AFTER stores. */
static vyre_status make_room(const vyre_store_place *place, int lock, const char *name,
                             uint64_t bytes, uint64_t budget) {
    vyre_store_ledger ledger;
    vyre_store_ledger_read(lock, &ledger);
    if (ledger.bytes > budget - bytes || ledger.stores >= SCAN_AFTER) {
        /* Some more room, so that the next store need not look at all files again. */
        uint64_t room = bytes > budget / 16 ? bytes : budget / 16;
        vyre_status status = evict(place, name, room, budget, &ledger.bytes);
        if (status) {
            return status;
        }
        ledger.stores = 0;
    }
    ledger.bytes += bytes;
    ledger.stores++;
    return vyre_store_ledger_write(lock, &ledger)
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_IO, "free some space on that file system",
                                  "cannot write to %s/lock", vyre_strbuf_string(&place->path));
}

static vyre_status store(const vyre_store_place *place, const vyre_store_entry *entry,
                         const vyre_strbuf *file, uint64_t budget) {
    char name[VYRE_STORE_NAME_SIZE + 1];
    int lock;
    vyre_store_file_name(entry->key, name);
    vyre_status status = file->failed ? vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, NULL,
                                                         "no memory to store a compiled program")
                                      : vyre_store_lock(place, true, &lock);
    if (!status) {
        status = make_room(place, lock, name, file->size, budget);
        status = status ? status : vyre_store_write(place, name, file->data, file->size);
        if (!status) {
            vyre_store_count(VYRE_STORE_COUNTER_STORES);
        }
        vyre_store_counts_save(lock);
        vyre_store_unlock(lock);
    }
    return status;
}

void vyre_store_put(const vyre_store_key *key, const void *payload, size_t size) {
    vyre_store_place place;
    vyre_strbuf bytes = {0}, file = {0};
    uint64_t budget;
    if (start(&place, true, &budget)) {
        vyre_store_key_encode(key, &bytes);
        const vyre_store_entry entry = {key->name, {bytes.data, bytes.size}, {payload, size}};
        uint64_t total = vyre_store_entry_bytes(&entry);
        if (total > budget) {
            vyre_log(VYRE_LOG_INFO,
                     "a compiled program of %zu bytes is larger than the cache and is not stored. "
                     "Fix: raise VYRE_CACHE_LIMIT",
                     size);
        } else {
            file.failed = bytes.failed;
            vyre_store_entry_encode(&entry, &file);
            tell(store(&place, &entry, &file, budget));
        }
    }
    vyre_strbuf_free(&bytes);
    vyre_strbuf_free(&file);
    vyre_store_close(&place);
}

void vyre_store_flush_counts(void) {
    vyre_store_place place;
    uint64_t budget;
    int lock;
    if (!vyre_store_counts_pending()) {
        return;
    }
    if (start(&place, false, &budget) && place.folder >= 0) {
        vyre_status status = vyre_store_lock(&place, false, &lock);
        if (!status) {
            vyre_store_counts_save(lock);
            vyre_store_unlock(lock);
        }
        vyre_status_free(status);
    }
    vyre_store_close(&place);
}
