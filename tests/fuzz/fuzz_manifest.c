/* Any bytes as a manifest, and behind a NUL as its source: what comes out is operations that are
 * whole, or mistakes that each have a fix. */
#include <stdlib.h>
#include <string.h>

#include "dialect/package.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct source {
    const char *text;
    size_t size;
} source;

static vyre_status read_source(void *user, const char *name, vyre_strbuf *out_text,
                               vyre_strbuf *out_path) {
    const source *s = user;
    vyre_strbuf_puts(out_path, name);
    vyre_strbuf_add(out_text, s->text, s->size);
    return VYRE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data, *end = size ? memchr(text, 0, size) : NULL;
    size_t head = end ? (size_t)(end - text) : size;
    source s = {end ? end + 1 : "fn f(a: u32) -> u32 { return a; }", end ? size - head - 1 : 33};
    vyre_package_file file = {"fuzz.toml", size ? text : "", head, read_source, &s};
    vyre_streams none = {0};
    vyre_package *package;
    vyre_strbuf told = {0};
    vyre_status status = vyre_package_read(&file, &package);
    status = status ? status : vyre_packages_resolve(&package, 1, &none);
    if (status) {
        abort(); /* there is memory */
    }
    vyre_package_describe(package, &told);
    for (size_t i = 0; i < package->mistakes.count; i++) {
        if (!*vyre_status_fix(package->mistakes.items[i])) {
            abort();
        }
    }
    for (size_t i = 0; i < package->operation_count; i++) {
        const vyre_operation *operation = &package->operations[i];
        if (!operation->built != (package->mistakes.count > 0) ||
            (!package->mistakes.count && (!*operation->id || !*operation->doc || !operation->file ||
                                          !operation->witness_count))) {
            abort();
        }
    }
    vyre_strbuf_free(&told);
    vyre_package_release(package);
    return 0;
}
