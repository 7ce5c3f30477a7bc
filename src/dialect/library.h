/* The standard library: the files of ops/, linked in, and what needs no file. */
#ifndef VYRE_DIALECT_LIBRARY_H
#define VYRE_DIALECT_LIBRARY_H

#include "dialect/linked.h"

typedef struct vyre_library_file {
    const char *name; /* "reduce.toml" */
    const char *data;
    size_t size;
} vyre_library_file;

/* Made by the build, ordered by name; ends with one whose name is NULL. */
extern const vyre_library_file vyre_library_files[];

/* The part of what is linked in that the host does: the dialect `io`. */
VYRE_MUST_USE vyre_status vyre_linked_io(vyre_streams *streams);

/* Its part of what is linked in. */
VYRE_MUST_USE vyre_status vyre_linked_library(vyre_streams *streams);

/* The same for any such list of files. */
VYRE_MUST_USE vyre_status vyre_library_add(vyre_streams *streams, const vyre_library_file *files);

#endif
