#include "store/recall.h"

#include <string.h>

#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/option.h"
#include "store/place.h"

enum { FILE_LIMIT = 32 << 10 };

static bool is_kept(void) {
    uint64_t limit = 0;
    vyre_status status = vyre_option_size(VYRE_OPTION_CACHE_LIMIT, &limit);
    vyre_status_free(status);
    return !status && limit;
}

static void file_name(const char *kind, const vyre_strbuf *key, vyre_strbuf *out) {
    vyre_strbuf_printf(out, "%s-%016llx", kind,
                       (unsigned long long)vyre_hash(vyre_strbuf_string(key), key->size));
}

bool vyre_recall(const char *kind, const vyre_strbuf *key, vyre_strbuf *out_value) {
    vyre_store_place place = {.folder = -1};
    vyre_strbuf name = {0}, found = {0};
    file_name(kind, key, &name);
    vyre_status status = is_kept() ? vyre_store_open(&place, false) : VYRE_OK;
    if (!status && place.folder >= 0 && !key->failed && !name.failed) {
        status = vyre_store_read(&place, vyre_strbuf_string(&name), FILE_LIMIT, &found);
    }
    bool fits = !status && found.size > key->size && !memcmp(found.data, key->data, key->size);
    if (fits) {
        vyre_strbuf_add(out_value, found.data + key->size, found.size - key->size);
    }
    vyre_status_free(status);
    vyre_store_close(&place);
    vyre_strbuf_free(&name);
    vyre_strbuf_free(&found);
    return fits && !out_value->failed;
}

void vyre_remember(const char *kind, const vyre_strbuf *key, const vyre_strbuf *value) {
    vyre_store_place place = {.folder = -1};
    vyre_strbuf text = {0}, path = {0};
    vyre_status status = is_kept() ? vyre_store_open(&place, true) : VYRE_OK;
    if (!status && place.folder >= 0) {
        vyre_strbuf_printf(&path, "%s/", vyre_strbuf_string(&place.path));
        file_name(kind, key, &path);
        vyre_strbuf_add(&text, vyre_strbuf_string(key), key->size);
        vyre_strbuf_add(&text, vyre_strbuf_string(value), value->size);
        if (!text.failed && !path.failed && !key->failed && !value->failed) {
            status = vyre_file_replace(vyre_strbuf_string(&path), text.data, text.size);
        }
    }
    vyre_status_free(status);
    vyre_store_close(&place);
    vyre_strbuf_free(&text);
    vyre_strbuf_free(&path);
}

void vyre_describe_file(const char *path, vyre_strbuf *out) {
    struct stat found;
    if (!stat(path, &found)) {
        vyre_strbuf_printf(out, "%llu %llu %llu %lld.%09ld %lld.%09ld",
                           (unsigned long long)found.st_dev, (unsigned long long)found.st_ino,
                           (unsigned long long)found.st_size, (long long)found.st_mtim.tv_sec,
                           found.st_mtim.tv_nsec, (long long)found.st_ctim.tv_sec,
                           found.st_ctim.tv_nsec);
    }
    vyre_strbuf_putc(out, '\n');
}
