#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/near.h"
#include "base/status.h"
#include "base/toml.h"
#include "registry/plugin_parts.h"

enum { MAX_MANIFEST_BYTES = 65536 };

void vyre_manifest_free(vyre_manifest *manifest) {
    vyre_strbuf_free(&manifest->library);
}

static vyre_status unknown_key(const vyre_toml_entry *entry) {
    static const char *const known[] = {"library", "enabled"};
    vyre_near near;
    vyre_strbuf fix = {0};
    vyre_near_init(&near, entry->key);
    vyre_strbuf_puts(&fix, "remove it, or use `library` or `enabled`");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        vyre_near_add(&near, (vyre_str){known[i], strlen(known[i])});
    }
    vyre_near_print(&near, &fix, ", perhaps ");
    vyre_status status = vyre_status_make(VYRE_STATUS_MALFORMED, vyre_strbuf_string(&fix),
                                          "unknown key \"%s\"", entry->key.data);
    vyre_strbuf_free(&fix);
    return status;
}

/* What the document says; `folder` is where the manifest lies. */
static vyre_status take_keys(const vyre_toml *document, const char *path, const char *folder,
                             vyre_manifest *manifest) {
    const vyre_toml_value *root = vyre_toml_root(document), *library, *enabled;
    for (const vyre_toml_entry *entry = root->table->first; entry; entry = entry->next) {
        if (strcmp(entry->key.data, "library") != 0 && strcmp(entry->key.data, "enabled") != 0) {
            return vyre_status_at(unknown_key(entry), path, entry->line, entry->column);
        }
    }
    vyre_status status = vyre_toml_get(root, "library", VYRE_TOML_STRING, &library);
    if (!status) {
        status = vyre_toml_get_optional(root, "enabled", VYRE_TOML_BOOL, &enabled);
    }
    if (status) {
        return status;
    }
    manifest->enabled = !enabled || enabled->boolean;
    if (!library->string.size || strlen(library->string.data) != library->string.size) {
        status = vyre_status_make(VYRE_STATUS_MALFORMED,
                                  "write the library's path, absolute or relative to the manifest",
                                  "the path of the library is %s",
                                  library->string.size ? "interrupted by a NUL" : "empty");
        return vyre_toml_at(status, document, library);
    }
    if (*library->string.data != '/') {
        vyre_strbuf_printf(&manifest->library, "%s/", folder);
    }
    vyre_strbuf_puts(&manifest->library, library->string.data);
    return VYRE_OK;
}

vyre_status vyre_manifest_read(const vyre_plugin_self *self, const char *folder, const char *name,
                               vyre_manifest *out_manifest) {
    vyre_strbuf path = {0}, content = {0};
    vyre_toml *document = NULL;
    vyre_status status = VYRE_OK;
    char real[PATH_MAX];
    int file = -1;
    *out_manifest = (vyre_manifest){0};
    vyre_strbuf_printf(&path, "%s/%s", folder, name);
    if (path.failed) {
        goto done;
    }
    status = vyre_plugin_open_file(self, path.data, real, &file);
    if (!status) {
        status = vyre_file_read_open(file, path.data, MAX_MANIFEST_BYTES, &content);
    }
    if (!status) {
        status = vyre_toml_read(path.data, vyre_strbuf_string(&content), content.size, &document);
    }
    if (!status) {
        status = take_keys(document, path.data, folder, out_manifest);
    }
done:
    if (!status && (path.failed || out_manifest->library.failed)) {
        status = vyre_no_memory("to read a manifest in %s", folder);
    }
    if (file >= 0) {
        close(file);
    }
    vyre_toml_free(document);
    vyre_strbuf_free(&content);
    vyre_strbuf_free(&path);
    return status;
}
