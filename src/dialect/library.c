#include "dialect/library.h"

#include <string.h>

#include "dialect/package.h"

#include "base/status.h"

typedef VYRE_VEC(vyre_package *) package_list;

static const vyre_library_file *find(const vyre_library_file *files, const char *name) {
    while (files->name && strcmp(files->name, name) != 0) {
        files++;
    }
    return files->name ? files : NULL;
}

static vyre_status read_source(void *user, const char *name, vyre_strbuf *out_text,
                               vyre_strbuf *out_path) {
    const vyre_library_file *file = find(user, name);
    vyre_strbuf_printf(out_path, "ops/%s", name);
    if (!file) {
        return vyre_status_make(VYRE_STATUS_NOT_FOUND, "put it there", "ops/%s is not there", name);
    }
    vyre_strbuf_add(out_text, file->data, file->size);
    return VYRE_OK;
}

static vyre_status no_memory(void) {
    return vyre_no_memory("to read the library of operations");
}

static bool is_manifest(const char *name) {
    size_t size = strlen(name);
    return size > 5 && !strcmp(name + size - 5, ".toml");
}

static vyre_status read_packages(const vyre_library_file *files, package_list *packages) {
    vyre_status status = VYRE_OK;
    for (const vyre_library_file *file = files; file->name && !status; file++) {
        if (!is_manifest(file->name)) {
            continue;
        }
        vyre_strbuf path = {0};
        vyre_package *package = NULL;
        vyre_strbuf_printf(&path, "ops/%s", file->name);
        vyre_package_file found = {.path = vyre_strbuf_string(&path),
                                   .data = file->data,
                                   .size = file->size,
                                   .read = read_source,
                                   .user = (void *)(uintptr_t)files};
        status = path.failed ? no_memory() : vyre_package_read(&found, &package);
        vyre_strbuf_free(&path);
        if (!status && !vyre_vec_push(packages, package)) {
            vyre_package_release(package);
            status = no_memory();
        }
    }
    return status;
}

/* A library with a mistake cannot be used at all: the first one is told. */
static vyre_status refuse(vyre_package *package) {
    vyre_status status = package->mistakes.items[0];
    package->mistakes.items[0] = NULL;
    return vyre_status_annotate(status, "in the library of operations");
}

static void release(void *context) {
    vyre_package_release(context);
}

/* Takes over the caller's reference. */
static vyre_status give(vyre_streams *streams, vyre_package *package) {
    vyre_status status = vyre_streams_own(streams, release, package);
    for (size_t i = 0; !status && i < package->operation_count; i++) {
        status = vyre_streams_add(streams, &package->operations[i]);
    }
    return status;
}

vyre_status vyre_library_add(vyre_streams *streams, const vyre_library_file *files) {
    package_list packages = {0};
    vyre_status status = read_packages(files, &packages);
    if (!status) {
        status = vyre_packages_resolve(packages.items, packages.count, streams);
    }
    for (size_t i = 0; i < packages.count && !status; i++) {
        status = packages.items[i]->mistakes.count ? refuse(packages.items[i]) : VYRE_OK;
    }
    for (size_t i = 0; i < packages.count; i++) {
        if (status) {
            vyre_package_release(packages.items[i]);
        } else {
            status = give(streams, packages.items[i]);
        }
    }
    vyre_vec_free(&packages);
    return status;
}

vyre_status vyre_linked_library(vyre_streams *streams) {
    return vyre_library_add(streams, vyre_library_files);
}
