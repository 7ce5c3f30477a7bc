/* Whole files, and the folders they lie in. */
#ifndef VYRE_BASE_FILE_H
#define VYRE_BASE_FILE_H

#include <signal.h>

#include <vyre/status.h>

#include "base/strbuf.h"

/* The status for an errno that `doing` something to a file gave: "open", "write". */
VYRE_MUST_USE vyre_status vyre_file_error(const char *doing, const char *path, int error);

/* Reads a file, a pipe or a device to its end into `out`, which must be empty and stays so on an
 * error. More than `limit` bytes are refused without being kept, and so is more than 1 GiB of a
 * pipe or terminal and 1 MiB of another device, which may never end. A missing file is NOT_FOUND.
 */
VYRE_MUST_USE vyre_status vyre_file_read(const char *path, size_t limit, vyre_strbuf *out);

/* The same for a descriptor, which stays open, such as stdin's; `name` is for errors. */
VYRE_MUST_USE vyre_status vyre_file_read_open(int file, const char *name, size_t limit,
                                              vyre_strbuf *out);

/* Replaces or creates a file such that everyone, also after a crash, finds either the old contents
 * or the new. Follows symbolic links and keeps owner, group and permissions. A file with several
 * names, or whose owner this process cannot keep, is written in place instead; the whole contents
 * lie beside it meanwhile, for this user alone. In a folder that everybody may write to and that is
 * sticky, such as /tmp, links and files of others and hard links are refused: somebody may have
 * planted them. */
VYRE_MUST_USE vyre_status vyre_file_replace(const char *path, const void *data, size_t size);

/* The same for a file that vyre reads again and trusts: nobody but its owner may write to it,
 * whatever the umask. */
VYRE_MUST_USE vyre_status vyre_file_replace_own(const char *path, const void *data, size_t size);

/* Refuses what vyre_file_replace would because of who owns it. */
VYRE_MUST_USE vyre_status vyre_file_check_planted(const char *path);

/* Puts a new file, for this user alone, into an open folder in place of whatever has that name; no
 * link is followed. `folder_path` is for errors. */
VYRE_MUST_USE vyre_status vyre_file_put(int folder, const char *folder_path, const char *name,
                                        const void *data, size_t size);

/* The same for a file that goes on growing: it gets its name with this beginning, and the
 * descriptor stays open for writing, -1 after an error. Who replaces it later leaves this one a
 * file without a name. What is in it reaches the disk when the system pleases. */
VYRE_MUST_USE vyre_status vyre_file_replace_open(const char *path, const void *data, size_t size,
                                                 int *out_file);

/* Makes a folder, and those above it, where they are missing, for this user alone; never HOME or
 * what lies above it. Root makes none in a folder of somebody else, who could not use it then. */
VYRE_MUST_USE vyre_status vyre_folder_make(const char *path);

/* In between, a file that grows past the limit on its size (RLIMIT_FSIZE) is EFBIG for this thread
 * alone, without the signal that would end the process. */
typedef struct vyre_file_guard {
    sigset_t before;
    bool was_pending;
} vyre_file_guard;

void vyre_file_guard_begin(vyre_file_guard *guard);
void vyre_file_guard_end(const vyre_file_guard *guard);

/* Writes all of it to a descriptor, which stays open; 0 or errno. Past the limit on the size of
 * files that is EFBIG, and no signal. */
int vyre_file_write_open(int file, const void *data, size_t size);

#endif
