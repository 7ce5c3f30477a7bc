/* Trust: whether files that decide what this process does are safe from others.
 *
 * Whoever can write to such a file can do what this process can. So nobody may but its owner, and
 * that must be root, the process's user, or `owner`, whom the caller trusts as well. */
#ifndef VYRE_BASE_TRUST_H
#define VYRE_BASE_TRUST_H

#include <limits.h>
#include <sys/stat.h>

#include <vyre/status.h>

#define VYRE_TRUST_NOBODY ((uid_t)-1)

/* About a file or a folder. */
VYRE_MUST_USE vyre_status vyre_trust_check(uid_t owner, const char *path, const struct stat *about);

/* Opens a file for reading if all this is true of it and of the folder where it really lies. The
 * descriptor is -1 after an error; `real` gets its path without symbolic links. */
VYRE_MUST_USE vyre_status vyre_trust_open(uid_t owner, const char *path, char real[PATH_MAX],
                                          int *out_file);

#endif
