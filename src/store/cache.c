#include <vyre/cache.h>

#include <string.h>

#include "base/arena.h"
#include "base/option.h"
#include "base/status.h"
#include "store/ledger.h"

/* A list in the making; `list` is what users see of it. */
typedef struct listing {
    vyre_cache_list list;
    vyre_arena arena;
    VYRE_VEC(vyre_cache_entry) entries;
} listing;

/* Adds what one file holds; one that is no entry is only counted. */
static vyre_status add_file(listing *l, const vyre_store_place *place,
                            const vyre_store_file *file) {
    vyre_strbuf bytes = {0};
    vyre_store_entry entry;
    vyre_store_key key;
    l->list.total_bytes += file->bytes;
    vyre_status status =
        file->is_temporary ? VYRE_OK : vyre_store_read(place, file->name, file->bytes, &bytes);
    if (vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY) {
        return status;
    }
    if (vyre_status_code_of(status) == VYRE_STATUS_INVALID_ARGUMENT && !l->list.refused_count++) {
        const char *why = vyre_status_text(status);
        l->list.refusal = vyre_arena_copy(&l->arena, why, strlen(why));
    }
    if (status || file->is_temporary ||
        vyre_store_entry_decode((vyre_str){bytes.data, bytes.size}, &entry) != VYRE_STORE_VALID ||
        !vyre_store_key_decode(entry.key, &key)) {
        l->list.other_count++;
        vyre_status_free(status);
        vyre_strbuf_free(&bytes);
        return !l->list.refused_count || l->list.refusal
                   ? VYRE_OK
                   : vyre_no_memory("for the list of compiled programs");
    }
    vyre_cache_entry made = {.digest = key.digest, .bytes = file->bytes, .used_ns = file->used_ns};
    const struct {
        const char **to;
        vyre_str from;
    } texts[] = {{&made.backend, key.backend},
                 {&made.backend_version, key.backend_version},
                 {&made.device, key.device},
                 {&made.driver_version, key.driver_version},
                 {&made.program, entry.name}};
    bool enough = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i].to = vyre_arena_copy(&l->arena, texts[i].from.data, texts[i].from.size);
        enough = enough && *texts[i].to;
    }
    enough = enough && vyre_vec_push(&l->entries, made);
    vyre_strbuf_free(&bytes);
    return enough ? VYRE_OK : vyre_no_memory("for the list of compiled programs");
}

static vyre_status add_all(listing *l, const vyre_store_place *place) {
    vyre_store_files files;
    vyre_status status = vyre_store_scan(place, &files);
    for (size_t i = files.list.count; i > 0 && !status; i--) {
        status = add_file(l, place, &files.list.items[i - 1]);
    }
    vyre_vec_free(&files.list);
    return status;
}

vyre_status vyre_cache_list_read(const vyre_cache_list **out_list) {
    vyre_store_place place = {.folder = -1};
    *out_list = NULL;
    listing *l = vyre_alloc_zeroed(1, sizeof *l);
    if (!l) {
        return vyre_no_memory("for the list of compiled programs");
    }
    vyre_arena_init(&l->arena);
    vyre_status status = vyre_option_size(VYRE_OPTION_CACHE_LIMIT, &l->list.limit_bytes);
    status = status ? status : vyre_store_open(&place, false);
    if (!status && place.path.size) {
        l->list.path = vyre_arena_copy(&l->arena, place.path.data, place.path.size);
        status = l->list.path ? VYRE_OK : vyre_no_memory("for the list of compiled programs");
    }
    if (!status && place.folder >= 0) {
        status = add_all(l, &place);
    }
    if (!status) {
        l->list.counts = vyre_store_counts_total(&place);
    }
    vyre_store_close(&place);
    l->list.entries = l->entries.items;
    l->list.entry_count = l->entries.count;
    if (status) {
        vyre_cache_list_free(&l->list);
        return status;
    }
    *out_list = &l->list;
    return VYRE_OK;
}

void vyre_cache_list_free(const vyre_cache_list *list) {
    if (list) {
        listing *l = (listing *)(uintptr_t)list; /* its first member */
        vyre_arena_deinit(&l->arena);
        vyre_vec_free(&l->entries);
        vyre_free(l);
    }
}

vyre_status vyre_cache_clear(uint64_t *out_files, uint64_t *out_bytes) {
    vyre_store_place place;
    vyre_store_files files = {0};
    int lock;
    *out_files = *out_bytes = 0;
    vyre_status status = vyre_store_open(&place, false);
    if (status) {
        goto done;
    }
    if (place.folder < 0) {
        vyre_store_counts_drop();
        goto done;
    }
    status = vyre_store_lock(&place, true, &lock);
    if (status) {
        goto done;
    }
    status = vyre_store_scan(&place, &files);
    for (size_t i = 0; i < files.list.count && !status; i++) {
        if (vyre_store_remove(&place, files.list.items[i].name)) {
            ++*out_files;
            *out_bytes += files.list.items[i].bytes;
        } else {
            status =
                vyre_status_make(VYRE_STATUS_IO, "give this user permission to do that",
                                 "cannot remove %s/%s", place.path.data, files.list.items[i].name);
        }
    }
    if (!status && vyre_store_ledger_write(lock, &(vyre_store_ledger){0})) {
        vyre_store_counts_drop();
    }
    vyre_store_unlock(lock);
done:
    vyre_vec_free(&files.list);
    vyre_store_close(&place);
    return status;
}
