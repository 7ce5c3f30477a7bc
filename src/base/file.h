/* Whole files, and the folders they lie in. */
#ifndef VYRE_BASE_FILE_H
#define VYRE_BASE_FILE_H

#include <vyre/status.h>

#include "base/strbuf.h"

/* Reads a file, a pipe or a device to its end into `out`, which must be empty and stays so on an
 * error. More than `limit` bytes are refused without being kept. A missing file is NOT_FOUND. */
VYRE_MUST_USE vyre_status vyre_file_read(const char *path, size_t limit, vyre_strbuf *out);

/* The same for a descriptor, which stays open, such as stdin's; `name` is for errors. */
VYRE_MUST_USE vyre_status vyre_file_read_open(int file, const char *name, size_t limit,
                                              vyre_strbuf *out);

/* Replaces or creates a file such that everyone, also after a crash, finds either the old contents
 * or the new. Follows symbolic links that lead to a file, and keeps its permissions. */
VYRE_MUST_USE vyre_status vyre_file_replace(const char *path, const void *data, size_t size);

/* The same for a file that goes on growing: it gets its name with this beginning, and the
 * descriptor stays open for writing, -1 after an error. Who replaces it later leaves this one a
 * file without a name. What is in it reaches the disk when the system pleases. */
VYRE_MUST_USE vyre_status vyre_file_replace_open(const char *path, const void *data, size_t size,
                                                 int *out_file);

/* Makes a folder, and those above it, where they are missing, for this user alone. Root makes none
 * in a folder of somebody else, who could not use it then. */
VYRE_MUST_USE vyre_status vyre_folder_make(const char *path);

/* Writes all of it to a descriptor, which stays open; 0 or errno. */
int vyre_file_write_open(int file, const void *data, size_t size);

#endif
