/* Facts about programs: each tests/golden/passes/facts/NAME.vyre with what is known of its values
 * and accesses beside them in NAME.expected, which --update or VYRE_UPDATE=1 writes again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>

#include <cmocka.h>

#include <vyre/text.h>

#include "pass/access.h"

#define FOLDER "tests/golden/passes/facts"

static bool update;

/* To be freed; NULL if there is no such file. */
static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    char *text = NULL;
    size_t size = 0, got;
    do {
        text = realloc(text, size + 65537);
        assert_non_null(text);
        got = fread(text + size, 1, 65536, file);
        size += got;
    } while (got);
    fclose(file);
    text[size] = 0;
    return text;
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void expect_ok(const char *path, vyre_status status) {
    if (status) {
        fail_msg("%s: %s", path, vyre_status_text(status));
    }
}

static void check_file(const char *name) {
    char path[512], expected_path[512];
    snprintf(path, sizeof path, FOLDER "/%s", name);
    snprintf(expected_path, sizeof expected_path, FOLDER "/%.*s.expected", (int)strlen(name) - 5,
             name);
    char *text = read_file(path), *printed;
    size_t size;
    vyre_module *module;
    assert_non_null(text);
    expect_ok(path, vyre_module_parse(path, text, strlen(text), NULL, &module));
    expect_ok(path, vyre_facts_print(vyre_module_program(module, 0), &printed, &size));
    if (update) {
        write_file(expected_path, printed);
    }
    char *expected = read_file(expected_path);
    if (!expected || strcmp(expected, printed) != 0) {
        fail_msg("%s: expected\n%s\nfound\n%s", path, expected ? expected : "(no file)", printed);
    }
    free(expected);
    free(text);
    vyre_string_free(printed);
    vyre_module_free(module);
}

static void facts_are_as_expected(void **state) {
    (void)state;
    DIR *folder = opendir(FOLDER);
    size_t files = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (length > 5 && !strcmp(entry->d_name + length - 5, ".vyre")) {
            check_file(entry->d_name);
            files++;
        }
    }
    closedir(folder);
    assert_true(files >= 8);
}

int main(int argc, char **argv) {
    update = (argc > 1 && !strcmp(argv[1], "--update")) || getenv("VYRE_UPDATE");
    const struct CMUnitTest tests[] = {cmocka_unit_test(facts_are_as_expected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
