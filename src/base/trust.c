#define _GNU_SOURCE /* realpath */

#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

vyre_status vyre_trust_check(uid_t owner, const char *path, const struct stat *about) {
    bool is_trusted = owner != VYRE_TRUST_NOBODY && about->st_uid == owner;
    if (about->st_uid != 0 && about->st_uid != geteuid() && !is_trusted) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "give it to root or to the user of this process, with chown",
                                "%s belongs to another user, with ID %lu", path,
                                (unsigned long)about->st_uid);
    }
    if (about->st_mode & (S_IWGRP | S_IWOTH)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "inspect its contents, then remove that permission with chmod go-w",
                                "users other than its owner may write to %s", path);
    }
    return VYRE_OK;
}

static vyre_status cannot_open(const char *path) {
    int error = errno;
    return vyre_status_make(error == ENOENT ? VYRE_STATUS_NOT_FOUND : VYRE_STATUS_IO,
                            error == ENOENT   ? "create it, or remove the manifest"
                            : error == EACCES ? "give this user permission to read it"
                                              : "correct that path, or remove the manifest",
                            "%s cannot be opened: %s", path, strerror(error));
}

vyre_status vyre_trust_open(uid_t owner, const char *path, char real[PATH_MAX], int *out_file) {
    struct stat about;
    vyre_status status = VYRE_OK;
    *out_file = -1;
    int file = realpath(path, real) ? open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (file < 0 || fstat(file, &about) != 0) {
        status = cannot_open(path);
    } else if (!S_ISREG(about.st_mode)) {
        status = vyre_status_make(VYRE_STATUS_IO, "replace it with a regular file, or remove it",
                                  "%s is not a regular file", path);
    } else {
        status = vyre_trust_check(owner, real, &about);
    }
    if (!status) {
        /* Writers of the folder that a link leads to could replace the file. */
        char folder[PATH_MAX];
        size_t size = (size_t)(strrchr(real, '/') - real);
        snprintf(folder, sizeof folder, "%.*s", size ? (int)size : 1, real);
        status = stat(folder, &about) == 0 ? vyre_trust_check(owner, folder, &about)
                                           : cannot_open(folder);
    }
    if (!status) {
        *out_file = file;
    } else if (file >= 0) {
        close(file);
    }
    return status;
}
