#define _GNU_SOURCE /* dladdr1, realpath */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/plugin_parts.h"

void vyre_plugin_find_self(vyre_plugin_self *self) {
    Dl_info info;
    struct link_map *map = NULL;
    struct stat about;
    static const char anchor = 0; /* something of this library's own that has an address */
    memset(self, 0, sizeof *self);
    /* A static program is known to nobody. The name that the C library has for any other executable
     * is whatever the caller of exec said. */
    bool known = dladdr1(&anchor, &info, (void **)&map, RTLD_DL_LINKMAP) && map;
    self->is_program = !known || !*map->l_name;
    if (known && memcmp(info.dli_fbase, ELFMAG, SELFMAG) == 0) {
        self->header = info.dli_fbase;
    }
    const char *name = self->is_program ? "/proc/self/exe" : map->l_name;
    /* A library found through a relative path is nowhere: the working directory is not trusted. */
    if (*name != '/' || !realpath(name, self->path) || stat(self->path, &about) != 0) {
        *self->path = '\0';
        return;
    }
    self->owner = about.st_uid;
}

vyre_status vyre_plugin_check_owner(const vyre_plugin_self *self, const char *path,
                                    const struct stat *about) {
    bool self_owns = *self->path && about->st_uid == self->owner;
    if (about->st_uid != 0 && about->st_uid != geteuid() && !self_owns) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "give it to root or to the user of this process, with chown",
                                "%s belongs to another user, number %lu", path,
                                (unsigned long)about->st_uid);
    }
    if (about->st_mode & (S_IWGRP | S_IWOTH)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "look at what is in it, then take that right away with chmod go-w",
                                "others than its owner may write to %s", path);
    }
    return VYRE_OK;
}

static vyre_status cannot_open(const char *path) {
    int error = errno;
    return vyre_status_make(error == ENOENT ? VYRE_STATUS_NOT_FOUND : VYRE_STATUS_IO,
                            error == ENOENT   ? "see to it that it is there, or remove the manifest"
                            : error == EACCES ? "see to it that this user may read it"
                                              : "see to that path, or remove the manifest",
                            "%s cannot be opened: %s", path, strerror(error));
}

vyre_status vyre_plugin_open_file(const vyre_plugin_self *self, const char *path,
                                  char real[PATH_MAX], int *out_file) {
    struct stat about;
    vyre_status status = VYRE_OK;
    *out_file = -1;
    int file = realpath(path, real) ? open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (file < 0 || fstat(file, &about) != 0) {
        status = cannot_open(path);
    } else if (!S_ISREG(about.st_mode)) {
        status = vyre_status_make(VYRE_STATUS_IO, "put a file in its place, or remove it",
                                  "%s is not a file", path);
    } else {
        status = vyre_plugin_check_owner(self, real, &about);
    }
    if (!status) {
        /* Writers of the folder that a link leads to could replace the file. */
        char folder[PATH_MAX];
        size_t size = (size_t)(strrchr(real, '/') - real);
        snprintf(folder, sizeof folder, "%.*s", size ? (int)size : 1, real);
        status = stat(folder, &about) == 0 ? vyre_plugin_check_owner(self, folder, &about)
                                           : cannot_open(folder);
    }
    if (!status) {
        *out_file = file;
    } else if (file >= 0) {
        close(file);
    }
    return status;
}
