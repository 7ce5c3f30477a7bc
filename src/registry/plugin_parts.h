/* The parts of loading a plugin. Each refuses with a status that says why and what to do. */
#ifndef VYRE_REGISTRY_PLUGIN_PARTS_H
#define VYRE_REGISTRY_PLUGIN_PARTS_H

#include <limits.h>
#include <sys/stat.h>

#include <vyre/registry.h>
#include <vyre/status.h>

#include "base/strbuf.h"

/* The file that this library is part of: libvyre itself, or a program or library that it is linked
 * into. */
typedef struct vyre_plugin_self {
    char path[PATH_MAX]; /* absolute, without symbolic links; "" if it cannot be found out */
    bool is_program;     /* the process's executable */
    uid_t owner;
    const void *header; /* its ELF header in memory; NULL if it cannot be found out */
} vyre_plugin_self;

void vyre_plugin_find_self(vyre_plugin_self *self);

/* Whoever can write to a plugin can do what this process can. So nobody may but its owner, and that
 * must be root, the process's user, or the owner of `self`, who could do as much there. */
VYRE_MUST_USE vyre_status vyre_plugin_check_owner(const vyre_plugin_self *self, const char *path,
                                                  const struct stat *about);

/* Opens a file for reading if the same is true of it and of the folder where it really lies. The
 * descriptor is -1 after an error; `real` gets its path without symbolic links. */
VYRE_MUST_USE vyre_status vyre_plugin_open_file(const vyre_plugin_self *self, const char *path,
                                                char real[PATH_MAX], int *out_file);

typedef struct vyre_manifest {
    vyre_strbuf library; /* its path, made absolute */
    bool enabled;
} vyre_manifest;

/* Reads the manifest `folder`/`name`. The result is to be freed after an error, too. */
VYRE_MUST_USE vyre_status vyre_manifest_read(const vyre_plugin_self *self, const char *folder,
                                             const char *name, vyre_manifest *out_manifest);
void vyre_manifest_free(vyre_manifest *manifest);

/* Loads a library and asks it for its bundle, whose ABI is checked. */
VYRE_MUST_USE vyre_status vyre_plugin_open(const vyre_plugin_self *self, const char *library,
                                           const vyre_bundle **out_bundle);

/* Whether a bundle can be admitted to a registry: every row makes sense and is about a backend of
 * its own that nobody else brings. */
VYRE_MUST_USE vyre_status vyre_plugin_check_bundle(vyre_registry *registry,
                                                   const vyre_bundle *bundle);

#endif
