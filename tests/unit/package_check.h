/* A package that lies in memory: a manifest and the source beside it. */
#ifndef VYRE_TESTS_PACKAGE_CHECK_H
#define VYRE_TESTS_PACKAGE_CHECK_H

#include <stdio.h>
#include <string.h>

#include "dialect/package.h"

typedef struct package_check_files {
    const char *dialect, *source;
} package_check_files;

static inline vyre_status package_check_read(void *user, const char *name, vyre_strbuf *out_text,
                                             vyre_strbuf *out_path) {
    const package_check_files *files = user;
    vyre_strbuf_printf(out_path, "ops/%s", name);
    size_t size = strlen(files->dialect);
    if (strncmp(name, files->dialect, size) != 0 || strcmp(name + size, ".vyre") != 0) {
        return vyre_status_make(VYRE_STATUS_NOT_FOUND, "put it there", "ops/%s is not there", name);
    }
    vyre_strbuf_puts(out_text, files->source);
    return VYRE_OK;
}

static inline void package_check_release(void *context) {
    vyre_package_release(context);
}

/* Adds the operations of ops/DIALECT.toml and ops/DIALECT.vyre, or gives the first mistake. */
static inline vyre_status package_check_add(vyre_streams *streams, const char *dialect,
                                            const char *manifest, const char *source) {
    package_check_files files = {dialect, source};
    char path[64];
    snprintf(path, sizeof path, "ops/%s.toml", dialect);
    vyre_package_file file = {path, manifest, strlen(manifest), package_check_read, &files};
    vyre_package *package;
    vyre_status status = vyre_package_read(&file, &package);
    if (status) {
        return status;
    }
    status = vyre_streams_own(streams, package_check_release, package);
    if (status) {
        return status; /* and the package is released */
    }
    status = vyre_packages_resolve(&package, 1, streams);
    if (!status && package->mistakes.count) {
        status = package->mistakes.items[0];
        package->mistakes.items[0] = NULL;
    }
    for (size_t i = 0; i < package->operation_count && !status; i++) {
        status = vyre_streams_add(streams, &package->operations[i]);
    }
    return status;
}

#endif
