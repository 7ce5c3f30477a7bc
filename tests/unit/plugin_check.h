/* Folders with plugins in them, for the tests of the search.
 *
 *     plugin_setup and plugin_teardown around each test: `place` is a new folder, the environment
 *     names nothing else. plugin_install puts a library and its manifest somewhere, plugin_search
 *     loads what there is, plugin_record finds what became of one. */
#ifndef VYRE_TESTS_PLUGIN_CHECK_H
#define VYRE_TESTS_PLUGIN_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "registry/plugin.h"
#include "registry/registry.h"

enum { PLUGIN_PATH = 4096, MAX_LIBRARY = 256 << 20 };

static char place[256];
static vyre_registry *registry;

/* A path below the place; the last few are kept. */
__attribute__((format(printf, 1, 2))) static const char *below(const char *format, ...) {
    static char paths[8][PLUGIN_PATH];
    static size_t next;
    char *path = paths[next++ % 8];
    int size = snprintf(path, PLUGIN_PATH, "%s/", place);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path + size, (size_t)(PLUGIN_PATH - size), format, arguments);
    va_end(arguments);
    return path;
}

static inline void write_file(const char *path, const void *data, size_t size) {
    assert_null(vyre_file_replace(path, data, size));
    assert_int_equal(chmod(path, 0644), 0);
}

static inline void write_text(const char *path, const char *text) {
    write_file(path, text, strlen(text));
}

/* A library as it was built. */
static inline vyre_strbuf read_library(const char *name) {
    vyre_strbuf library = {0};
    char path[PLUGIN_PATH];
    snprintf(path, sizeof path, "%s/%s.so", PLUGIN_FOLDER, name);
    assert_null(vyre_file_read(path, MAX_LIBRARY, &library));
    return library;
}

static inline void make_folder(const char *path) {
    assert_null(vyre_folder_make(path));
}

/* Copies a library into a folder below the place, which is made, with a manifest of that name. */
static inline void plugin_install(const char *folder, const char *manifest, const char *name) {
    char text[256];
    vyre_strbuf library = read_library(name);
    make_folder(below("%s", folder));
    write_file(below("%s/%s.so", folder, name), library.data, library.size);
    vyre_strbuf_free(&library);
    snprintf(text, sizeof text, "library = \"%s.so\"\n", name);
    write_text(below("%s/%s.toml", folder, manifest), text);
}

static inline void set_folder(const char *variable, const char *folder) {
    assert_int_equal(setenv(variable, below("%s", folder), 1), 0);
}

static inline void plugin_search(void) {
    vyre_registry_free(registry);
    assert_null(vyre_registry_create(&registry));
    assert_null(vyre_plugins_load(registry));
}

/* The record of a path below the place; NULL if there is none. */
static inline const vyre_plugin_record *find_record(const char *path) {
    size_t count;
    const vyre_plugin_record *records = vyre_plugin_records(registry, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(records[i].path, path) == 0) {
            return &records[i];
        }
    }
    return NULL;
}

static inline const vyre_plugin_record *plugin_record(const char *path) {
    const vyre_plugin_record *found = find_record(below("%s", path));
    if (!found) {
        print_message("no record of %s\n", path);
    }
    assert_non_null(found);
    return found;
}

/* That it was refused for this reason, with this to do about it. */
static inline void assert_refused(const char *path, const char *reason, const char *fix) {
    const vyre_plugin_record *found = plugin_record(path);
    const char *advice = strstr(found->detail, "Fix: ");
    if (found->fate != VYRE_PLUGIN_REFUSED || !strstr(found->detail, reason) || !advice ||
        !strstr(advice, fix)) {
        print_message("%s: %s: %s\n", path, vyre_plugin_fate_name(found->fate), found->detail);
    }
    assert_int_equal(found->fate, VYRE_PLUGIN_REFUSED);
    assert_non_null(strstr(found->detail, reason));
    assert_non_null(advice);
    assert_non_null(strstr(advice, fix));
}

static inline void assert_admitted(const char *path, const char *ids) {
    const vyre_plugin_record *found = plugin_record(path);
    if (found->fate != VYRE_PLUGIN_ADMITTED) {
        print_message("%s: %s\n", path, found->detail);
    }
    assert_int_equal(found->fate, VYRE_PLUGIN_ADMITTED);
    assert_string_equal(found->detail, ids);
}

static inline bool has_backend(const char *id) {
    return vyre_registry_origin(registry, id) != NULL;
}

static inline int plugin_setup(void **state) {
    (void)state;
    char made[] = P_tmpdir "/vyre-plugin-XXXXXX";
    assert_non_null(mkdtemp(made));
    assert_non_null(realpath(made, place));
    assert_int_equal(chmod(place, 0755), 0);
    unsetenv("VYRE_BACKEND_PATH");
    unsetenv("XDG_CONFIG_HOME");
    set_folder("HOME", "home");
    assert_int_equal(mkdir(below("home"), 0700), 0); /* nothing else makes it */
    return 0;
}

static inline int plugin_teardown(void **state) {
    (void)state;
    char command[PLUGIN_PATH];
    vyre_registry_free(registry);
    registry = NULL;
    snprintf(command, sizeof command, "chmod -R u+rwX '%s' && rm -rf '%s'", place, place);
    return system(command) != 0;
}

#define PLUGIN_TEST(name) cmocka_unit_test_setup_teardown(name, plugin_setup, plugin_teardown)

#endif
