/* Packages: a manifest with the sources that it names, on the way to definitions.
 *
 *     vyre_package_read(&file, &package);           the manifest: what operations there are
 *     vyre_packages_resolve(list, count, streams);  the sources: what they mean
 *
 * Everything that is wrong with a package is collected in it; one mistake and it gives no
 * operation. What is returned as a status is never the package's fault. */
#ifndef VYRE_DIALECT_PACKAGE_H
#define VYRE_DIALECT_PACKAGE_H

#include <vyre/library.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "dialect/registry.h"

enum {
    VYRE_MANIFEST_BYTES = 1 << 20,   /* of a manifest */
    VYRE_SOURCE_BYTES = 1 << 22,     /* of a source */
    VYRE_MANIFEST_OPERATIONS = 4096, /* of a manifest */
    VYRE_PACKAGE_MISTAKES = 64,      /* that are told */
};

typedef struct vyre_package_source {
    const char *name; /* as the manifest has it */
    const char *path; /* for messages */
    const char *text;
    size_t size;
    /* Once it is resolved: the text, and behind it a program for each function of an operation. */
    const char *extended;
    size_t extended_size;
} vyre_package_source;

/* Where a thing of a manifest is written. */
typedef struct vyre_package_place {
    uint32_t line, column;
} vyre_package_place;

/* What the manifest says of an operation besides its definition. */
typedef struct vyre_package_row {
    vyre_package_place place; /* of its id */
    vyre_package_place entry; /* of the name of the entry, or of the id where it is not given */
    vyre_package_place *variants, *witnesses;
    vyre_package_place sample; /* where there is one */
    size_t source;             /* among the sources */
} vyre_package_row;

typedef struct vyre_package {
    uint32_t references; /* of one thread */
    vyre_arena arena;    /* of what the manifest says */
    const char *path;    /* of the manifest, for messages */
    uint64_t contents;   /* a hash of the manifest and its sources */
    const char *dialect, *version, *doc;
    VYRE_VEC(vyre_package_source) sources;
    vyre_operation *operations; /* without a meaning until they are resolved */
    vyre_package_row *rows;     /* by operation */
    size_t operation_count;
    vyre_arena resolved; /* of what the sources say */
    VYRE_VEC(vyre_program *) programs;
    VYRE_VEC(vyre_status) mistakes;
} vyre_package;

/* How a package is read: its manifest, and sources by the name that it gives them. */
typedef struct vyre_package_file {
    const char *path; /* for messages */
    const char *data;
    size_t size;
    /* Appends the text of a source, and its path for messages; a status is the package's fault. */
    vyre_status (*read)(void *user, const char *name, vyre_strbuf *out_text, vyre_strbuf *out_path);
    void *user;
} vyre_package_file;

/* There is a package whatever the file says; see its mistakes. */
VYRE_MUST_USE vyre_status vyre_package_read(const vyre_package_file *file,
                                            vyre_package **out_package);
vyre_package *vyre_package_retain(vyre_package *package);
void vyre_package_release(vyre_package *package); /* NULL is allowed */

/* Gives a mistake its place in the manifest and takes it over; running out of memory is passed on
 * instead. */
VYRE_MUST_USE vyre_status vyre_package_mistake(vyre_package *package, vyre_package_place place,
                                               vyre_status mistake);

VYRE_MUST_USE vyre_status vyre_package_no_memory(const vyre_package *package);

/* All mistakes, one a line. */
void vyre_package_describe(const vyre_package *package, vyre_strbuf *text);

/* The version's numbers compared: 1.10.0 is above 1.9.0. */
int vyre_version_compare(const char *left, const char *right);

/* Reads the sources of packages that may call each other, and what `streams` has. Those that have
 * mistakes in the end, or call one that has, give nothing. */
VYRE_MUST_USE vyre_status vyre_packages_resolve(vyre_package *const *packages, size_t count,
                                                const vyre_streams *streams);

/* Reads the sources of one package, which may call the operations of `library`; part of the
 * above. */
VYRE_MUST_USE vyre_status vyre_package_resolve(vyre_package *package, const vyre_library *library);

/* Takes back what was found wrong with the sources, to read them again in other company. */
void vyre_package_forgive(vyre_package *package);

/* Forgets what the sources said. */
void vyre_package_unresolve(vyre_package *package);

#endif
