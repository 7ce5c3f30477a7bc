/* Cache: compiled programs on disk, shared by all processes of a user.
 *
 *     const vyre_cache_list *list;
 *     status = vyre_cache_list_read(&list);
 *     printf("%zu programs in %s\n", list->entry_count, list->path ? list->path : "no folder");
 *     vyre_cache_list_free(list);
 *
 * Backends that compile store their code in $XDG_CACHE_HOME/vyre/pipelines, or else in
 * $HOME/.cache/vyre/pipelines. VYRE_CACHE_LIMIT limits its size in bytes; the least recently used
 * entries are dropped first. The files never exceed the limit, even if a process is killed, except
 * that replacing an entry briefly keeps both versions.
 *
 * Only their user can read and write entries. vyre drops an entry unread if somebody else owns it
 * or can write to it. A process with more rights than its user (setuid) has no cache. A cache error
 * never fails a dispatch: it is logged. Any thread may make these calls. */
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
    uint64_t evictions; /* entries dropped to stay within the limit */
    uint64_t damaged;   /* damaged or unsafe files, dropped */
} vyre_cache_disk_counts;

/* Returns the counts of this process since it started. They stay 0 without a cache. */
VYRE_API vyre_cache_disk_counts vyre_cache_count_disk(void);

typedef struct vyre_cache_entry {
    const char *backend, *backend_version;
    const char *device, *driver_version;
    const char *program; /* its name, or "" */
    vyre_digest digest;  /* of the program */
    uint64_t bytes;      /* of the file */
    int64_t used_ns;     /* last use, in nanoseconds since 1970-01-01 UTC */
} vyre_cache_entry;

typedef struct vyre_cache_list {
    const char *path;                /* NULL: there is no folder to use */
    uint64_t limit_bytes;            /* 0: the cache is off */
    uint64_t total_bytes;            /* of all files, entries or not */
    const vyre_cache_entry *entries; /* most recently used first */
    size_t entry_count;
    size_t other_count; /* files that are damaged, left over or of another version of vyre */
    vyre_cache_disk_counts counts; /* of all processes since the last clear */
    size_t refused_count; /* other files that somebody else owns or can write to; never used */
    const char *refusal;  /* why the first of them is refused; NULL if there is none */
} vyre_cache_list;

/* Reads every entry. The caller frees the list.
 *
 * A process adds its own counts to `counts` when it stores a program and when it closes a device.
 * Until then only its own lists include them. If the file of counts is damaged, they start at 0
 * again. */
VYRE_API VYRE_MUST_USE vyre_status vyre_cache_list_read(const vyre_cache_list **out_list);
/* NULL is allowed. */
VYRE_API void vyre_cache_list_free(const vyre_cache_list *list);

/* Deletes all files and resets the counts of all processes. Counts that another process has not
 * added yet are added later. Returns how many files and bytes were deleted, also after an error. */
VYRE_API VYRE_MUST_USE vyre_status vyre_cache_clear(uint64_t *out_files, uint64_t *out_bytes);

#ifdef __cplusplus
}
#endif

#endif
