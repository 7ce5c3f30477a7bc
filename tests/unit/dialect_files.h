/* A folder of its own for tests that write manifests, and things to put in there. */
#ifndef VYRE_TESTS_DIALECT_FILES_H
#define VYRE_TESTS_DIALECT_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <vyre/status.h>

static char dialect_root[64];

static inline void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

/* Frees the status. */
static inline void expect_error(vyre_status status, vyre_status_code code, const char *part) {
    assert_int_equal(vyre_status_code_of(status), code);
    if (!strstr(vyre_status_text(status), part)) {
        fail_msg("%s, and it should say %s", vyre_status_text(status), part);
    }
    assert_true(*vyre_status_fix(status));
    vyre_status_free(status);
}

/* A path below the folder; one of four that live at a time. */
static inline const char *below(const char *path) {
    static char paths[4][256];
    static unsigned next;
    char *out = paths[next++ % 4];
    snprintf(out, sizeof paths[0], "%s/%s", dialect_root, path);
    return out;
}

static inline void make_folder(const char *path, mode_t mode) {
    assert_int_equal(mkdir(below(path), 0755), 0);
    assert_int_equal(chmod(below(path), mode), 0);
}

/* As editors do: whole, and then in its place. */
static inline void write_file(const char *path, const char *text) {
    char name[300];
    snprintf(name, sizeof name, "%s~", below(path));
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(name, 0644), 0);
    assert_int_equal(rename(name, below(path)), 0);
}

/* A dialect with one fn `f` whose body is given, and the id DIALECT.f. */
static inline void write_dialect(const char *folder, const char *dialect, const char *version,
                                 const char *body) {
    char path[128], text[1024];
    snprintf(path, sizeof path, "%s/%s.vyre", folder, dialect);
    snprintf(text, sizeof text, "fn f(a: u32) -> u32 { return %s; }\n", body);
    write_file(path, text);
    snprintf(path, sizeof path, "%s/%s.toml", folder, dialect);
    snprintf(text, sizeof text,
             "dialect = \"%s\"\nversion = \"%s\"\ndoc = \"For tests.\"\n[[operation]]\n"
             "id = \"%s.f\"\ndoc = \"F.\"\n[[operation.witness]]\narguments = [\"a=1\"]\n"
             "expected = [\"result=1\"]\n",
             dialect, version, dialect);
    write_file(path, text);
}

static inline int dialect_root_make(void **state) {
    (void)state;
    strcpy(dialect_root, P_tmpdir "/vyre-dialect-XXXXXX");
    return mkdtemp(dialect_root) ? 0 : -1;
}

static inline int dialect_root_remove(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dialect_root);
    return system(command);
}

#endif
