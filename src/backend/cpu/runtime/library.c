#include "backend/cpu/runtime/library.h"

#include <string.h>

#include "backend/cpu/runtime/profile.h"
#include "base/environment.h"
#include "store/recall.h"

static const char kind[] = "llvm";

/* Everything that decides which library the linker finds, and what it says of the CPU. */
static void describe_search(const char *name, const char *llvmlite, vyre_strbuf *out) {
    const char *folders = vyre_environment_get("LD_LIBRARY_PATH");
    vyre_strbuf_puts(out, "libLLVM\n" VYRE_VERSION_STRING "\n");
    cpu_identity(out);
    vyre_strbuf_printf(out, "\n%s\n%s\n%s\n", name ? name : "", llvmlite ? llvmlite : "",
                       folders ? folders : "");
    vyre_describe_file("/etc/ld.so.cache", out);
}

/* The text begins behind a line about the library's file and one with its path. */
bool cpu_library_recall(const char *name, const char *llvmlite, vyre_strbuf *out_text) {
    vyre_strbuf key = {0}, found = {0}, file = {0};
    describe_search(name, llvmlite, &key);
    bool known = vyre_recall(kind, &key, &found);
    char *line = known ? strchr(found.data, '\n') : NULL;
    char *end = line ? strchr(line + 1, '\n') : NULL;
    if (end) {
        *line = '\0';
        vyre_describe_file(found.data, &file);
        size_t size = (size_t)(end - line); /* of the second line with its end */
        known = !file.failed && file.size == size && !memcmp(file.data, line + 1, size);
        vyre_strbuf_add(out_text, end + 1, found.size - (size_t)(end + 1 - found.data));
    }
    vyre_strbuf_free(&key);
    vyre_strbuf_free(&found);
    vyre_strbuf_free(&file);
    return end && known && !out_text->failed;
}

void cpu_library_remember(const char *name, const char *llvmlite, const char *path,
                          const vyre_strbuf *text) {
    vyre_strbuf key = {0}, value = {0};
    describe_search(name, llvmlite, &key);
    if (path[0] == '/' && !strchr(path, '\n')) {
        vyre_strbuf_printf(&value, "%s\n", path);
        vyre_describe_file(path, &value);
        vyre_strbuf_add(&value, text->data, text->size);
        vyre_remember(kind, &key, &value);
    }
    vyre_strbuf_free(&key);
    vyre_strbuf_free(&value);
}
