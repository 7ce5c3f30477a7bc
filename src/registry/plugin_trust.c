#define _GNU_SOURCE /* dladdr1, realpath */

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/trust.h"
#include "registry/plugin_parts.h"

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

/* Whoever owns `self` could do as much there. */
static uid_t trusted(const vyre_plugin_self *self) {
    return *self->path ? self->owner : VYRE_TRUST_NOBODY;
}

vyre_status vyre_plugin_check_owner(const vyre_plugin_self *self, const char *path,
                                    const struct stat *about) {
    return vyre_trust_check(trusted(self), path, about);
}

vyre_status vyre_plugin_open_file(const vyre_plugin_self *self, const char *path,
                                  char real[PATH_MAX], int *out_file) {
    return vyre_trust_open(trusted(self), path, real, out_file);
}
