#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/environment.h"
#include "store/recall.h"

enum { MOST_NAMES = 256 };

static int by_name(const void *left, const void *right) {
    return strcmp(left, right);
}

/* A line for a file, or one for each file of a folder, in the order of their names. */
static void describe_path(const char *path, vyre_strbuf *out) {
    typedef char file_name[sizeof((struct dirent *)NULL)->d_name];
    DIR *folder = opendir(path);
    vyre_describe_file(path, out);
    if (!folder) {
        return;
    }
    file_name *names = vyre_alloc_array(MOST_NAMES, sizeof *names);
    size_t count = 0;
    out->failed |= !names;
    for (struct dirent *entry; names && count < MOST_NAMES && (entry = readdir(folder));) {
        if (entry->d_name[0] != '.') {
            strcpy(names[count++], entry->d_name);
        }
    }
    closedir(folder);
    if (count) {
        qsort(names, count, sizeof *names, by_name);
    }
    for (size_t i = 0; i < count; i++) {
        vyre_strbuf file = {0};
        vyre_strbuf_printf(&file, "%s/%s", path, names[i]);
        vyre_strbuf_printf(out, "%s ", names[i]);
        vyre_describe_file(vyre_strbuf_string(&file), out);
        out->failed |= file.failed;
        vyre_strbuf_free(&file);
    }
    vyre_free(names);
}

static void describe(const vyre_finder *finder, vyre_strbuf *out) {
    vyre_strbuf_puts(out, "devices\n" VYRE_VERSION_STRING "\n");
    for (const char *const *name = finder->variables; *name; name++) {
        const char *value = vyre_environment_get(*name);
        vyre_strbuf_printf(out, "%s=%s\n", *name, value ? value : "");
    }
    for (const char *const *path = finder->paths; *path; path++) {
        vyre_strbuf_printf(out, "%s ", *path);
        describe_path(*path, out);
    }
}

static const char software[] = "software\n", other[] = "other\n";

static bool recall(const vyre_finder *finder, const vyre_strbuf *key, vyre_strbuf *out_value) {
    return !key->failed && vyre_recall(finder->kind, key, out_value);
}

static bool is_software(const vyre_strbuf *value) {
    return value->size == sizeof software - 1 && !memcmp(value->data, software, value->size);
}

bool vyre_recall_software(const vyre_finder *finder) {
    vyre_strbuf key = {0}, value = {0};
    describe(finder, &key);
    bool answer = recall(finder, &key, &value) && is_software(&value);
    vyre_strbuf_free(&key);
    vyre_strbuf_free(&value);
    return answer;
}

void vyre_remember_software(const vyre_finder *finder, bool only_software) {
    vyre_strbuf key = {0}, known = {0}, value = {0};
    describe(finder, &key);
    bool is_known = recall(finder, &key, &known) && is_software(&known) == only_software;
    if (!is_known && !key.failed) {
        vyre_strbuf_puts(&value, only_software ? software : other);
        vyre_remember(finder->kind, &key, &value);
    }
    vyre_strbuf_free(&key);
    vyre_strbuf_free(&known);
    vyre_strbuf_free(&value);
}
