/* The cache of compiled programs on disk: what it did, and what lies in it.
 *
 * Backends that compile keep what they made in $XDG_CACHE_HOME/vyre/pipelines, or else
 * $HOME/.cache/vyre/pipelines, for all processes of the user. The variable VYRE_CACHE_LIMIT says
 * how many bytes it may take; entries that were not used for the longest time go first. While an
 * entry is replaced, the old and the new one are both there; apart from that no process, whatever
 * happens to it, takes the files beyond the limit. Entries are for their user alone; one that
 * somebody else owns or may write to is dropped unread. A process that runs with more rights than
 * its user has no cache. Dispatches never fail because of the cache: trouble is logged. */
#ifndef VYRE_CACHE_H
#define VYRE_CACHE_H

#include <vyre/program.h>
#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_cache_disk_counts {
    uint64_t hits, misses;
    uint64_t stores;
    uint64_t evictions; /* entries dropped to make room */
    uint64_t damaged;   /* files that were found damaged or unsafe, and dropped */
} vyre_cache_disk_counts;

/* Of this process, since it started. Without a cache nothing counts. */
VYRE_API vyre_cache_disk_counts vyre_cache_count_disk(void);

typedef struct vyre_cache_entry {
    const char *backend, *backend_version;
    const char *device, *driver_version;
    const char *program; /* its name, "" if it has none */
    vyre_digest digest;  /* of the program */
    uint64_t bytes;      /* of its file */
    int64_t used_ns;     /* the last use, since the start of 1970 in UTC */
} vyre_cache_entry;

typedef struct vyre_cache_list {
    const char *path;                /* the folder; NULL: there is no place for one */
    uint64_t limit_bytes;            /* 0: nothing is read or stored */
    uint64_t total_bytes;            /* of all files, also of those that are no entries */
    const vyre_cache_entry *entries; /* the one used last is the first */
    size_t entry_count;
    size_t other_count; /* files that are damaged, left behind or of another version of vyre */
    vyre_cache_disk_counts counts; /* of all processes, since everything was dropped last */
    size_t refused_count; /* of the other files those that others own or may write to; not used */
    const char *refusal;  /* what is wrong with the first of them, NULL if there is none */
} vyre_cache_list;

/* Reads every entry. A process adds what it counted to the counts of all when it stores a program
 * and when it closes a device. One that does neither, or is killed before, is not in them, save in
 * a list that it reads itself; where their file is damaged, they start from 0 again. Free the list
 * with vyre_cache_list_free; NULL is allowed there. */
VYRE_API VYRE_MUST_USE vyre_status vyre_cache_list_read(const vyre_cache_list **out_list);
VYRE_API void vyre_cache_list_free(const vyre_cache_list *list);

/* Drops everything, and says how many files and bytes that were, also after an error. The counts of
 * all processes start from 0 again; what others have not added by now, they add to that. */
VYRE_API VYRE_MUST_USE vyre_status vyre_cache_clear(uint64_t *out_files, uint64_t *out_bytes);

#ifdef __cplusplus
}
#endif

#endif
