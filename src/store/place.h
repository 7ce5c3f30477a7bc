/* The folder of the store: where it lies, who holds its lock, what is in it. */
#ifndef VYRE_STORE_PLACE_H
#define VYRE_STORE_PLACE_H

#include <vyre/status.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "store/entry.h"

typedef struct vyre_store_place {
    vyre_strbuf path; /* empty: the environment names none */
    int folder;       /* descriptor; -1: there is no such folder (yet) */
} vyre_store_place;

/* Finds the folder, and makes it if asked to. One that others own or may write to is an error. The
 * place is to be closed after an error, too. */
VYRE_MUST_USE vyre_status vyre_store_open(vyre_store_place *place, bool make);
void vyre_store_close(vyre_store_place *place);

/* Whoever adds or drops entries holds the lock, and only its holder writes temporary files: those
 * of others were left behind by processes that were killed. Waits a second or two at most, or not
 * at all. */
VYRE_MUST_USE vyre_status vyre_store_lock(const vyre_store_place *place, bool wait, int *out_lock);
void vyre_store_unlock(int lock);

typedef struct vyre_store_file {
    char name[80];
    bool is_temporary;
    uint64_t bytes;
    int64_t used_ns; /* since 1970 */
} vyre_store_file;

typedef struct vyre_store_files {
    VYRE_VEC(vyre_store_file) list;
} vyre_store_files;

/* The files that are the store's, the one not used for the longest time first. Free the list with
 * vyre_vec_free, after an error too. */
VYRE_MUST_USE vyre_status vyre_store_scan(const vyre_store_place *place, vyre_store_files *files);

/* False if the file is still there. */
bool vyre_store_remove(const vyre_store_place *place, const char *name);

/* Reads one file into `out`, which must be empty and stays so on an error. A missing file is
 * NOT_FOUND. INVALID_ARGUMENT says that it is not this user's alone to write. */
VYRE_MUST_USE vyre_status vyre_store_read(const vyre_store_place *place, const char *name,
                                          uint64_t limit, vyre_strbuf *out);

/* Writes one file, for this user alone, in place of whatever has that name. */
VYRE_MUST_USE vyre_status vyre_store_write(const vyre_store_place *place, const char *name,
                                           const void *data, size_t size);

/* Marks an entry as used now, as far as that is possible. */
void vyre_store_touch(const vyre_store_place *place, const char *name);

#endif
