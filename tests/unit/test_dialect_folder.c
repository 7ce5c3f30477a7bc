/* Folders of manifests: where they are looked for, in which order, whom they may belong to, and
 * which of several dialects holds. */
#define _GNU_SOURCE /* P_tmpdir, mkdtemp, setenv */

#include "tests/unit/dialect_files.h"

#include <vyre/reference.h>

#include "dialect/folder.h"
#include "tests/unit/failing_allocator.h"

static vyre_folder_list list = {0};
static vyre_folder_search found, older;
static vyre_streams none;

static int setup(void **state) {
    unsetenv("VYRE_DIALECT_PATH");
    return dialect_root_make(state);
}

static int teardown(void **state) {
    vyre_folder_search_deinit(&found);
    vyre_folder_search_deinit(&older);
    vyre_folder_list_deinit(&list);
    return dialect_root_remove(state);
}

static void look(const char *folders) {
    char copy[64];
    strcpy(copy, folders);
    for (char *at = strtok(copy, " "); at; at = strtok(NULL, " ")) {
        expect_ok(vyre_folder_list_add(&list, below(at), "the test", false));
    }
    expect_ok(vyre_folder_search_run(&found, &list, NULL, &none));
}

/* Looks again, with what there was in mind. */
static void look_again(void) {
    vyre_folder_search_deinit(&older);
    older = found;
    expect_ok(vyre_folder_search_run(&found, &list, &older, &none));
}

static const vyre_folder_record *record_of(const char *path) {
    const char *whole = below(path);
    for (size_t i = 0; i < found.records.count; i++) {
        if (!strcmp(found.records.items[i].path, whole)) {
            return &found.records.items[i];
        }
    }
    fail_msg("nothing is written down about %s", path);
    return NULL;
}

static void expect_fate(const char *path, vyre_folder_fate fate, const char *part) {
    const vyre_folder_record *record = record_of(path);
    if (record->fate != fate || !strstr(record->detail, part)) {
        fail_msg("%s: %s: %s", path, vyre_folder_fate_name(record->fate), record->detail);
    }
}

/* What the operation makes of 5. */
static uint32_t result_of(const char *id) {
    for (size_t i = 0; i < found.packages.count; i++) {
        const vyre_package *package = found.packages.items[i];
        for (size_t k = 0; k < package->operation_count; k++) {
            if (!strcmp(package->operations[k].id, id)) {
                uint32_t five = 5, result;
                vyre_outputs outputs;
                vyre_input input = {&five, sizeof five};
                expect_ok(vyre_reference_run(package->operations[k].built, &input, 1, NULL, NULL,
                                             &outputs));
                memcpy(&result, outputs.items[0].data, sizeof result);
                vyre_outputs_free(&outputs);
                return result;
            }
        }
    }
    return 0;
}

static void manifests_are_read_in_order(void **state) {
    (void)state;
    make_folder("two", 0755);
    make_folder("one", 0755);
    write_dialect("two", "b", "1.0.0", "a + 1");
    write_dialect("two", "a", "1.0.0", "a + 2");
    write_dialect("one", "c", "1.0.0", "a + 3");
    write_file("two/.hidden.toml", "nonsense");
    write_file("two/notes.txt", "nonsense");
    look("two one three");
    const char *const expected[] = {"two", "two/a.toml", "two/b.toml",
                                    "one", "one/c.toml", "three"};
    assert_int_equal(found.records.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < found.records.count; i++) {
        assert_string_equal(found.records.items[i].path, below(expected[i]));
    }
    expect_fate("two", VYRE_FOLDER_SEARCHED, "the test");
    expect_fate("two/a.toml", VYRE_FOLDER_ADMITTED, "a 1.0.0, 1 operation");
    expect_fate("three", VYRE_FOLDER_ABSENT, "the test");
    assert_int_equal(result_of("b.f"), 6);
    assert_int_equal(result_of("c.f"), 8);
}

static void usual_places(void **state) {
    (void)state;
    char paths[256];
    setenv("XDG_CONFIG_HOME", "/config", 1);
    setenv("HOME", "/users/me", 1);
    expect_ok(vyre_folder_list_usual(&list));
    assert_int_equal(list.folders.count, 2);
    assert_string_equal(list.folders.items[0].path, "/config/vyre/dialects");
    assert_string_equal(list.folders.items[1].path, "/etc/vyre/dialects");
    unsetenv("XDG_CONFIG_HOME");
    expect_ok(vyre_folder_list_usual(&list));
    assert_string_equal(list.folders.items[2].path, "/users/me/.config/vyre/dialects");
    snprintf(paths, sizeof paths, ":%s::relative", below("x"));
    setenv("VYRE_DIALECT_PATH", paths, 1);
    vyre_folder_list_deinit(&list);
    expect_ok(vyre_folder_list_usual(&list));
    assert_int_equal(list.folders.count, 2);
    assert_string_equal(list.folders.items[0].path, below("x"));
    assert_string_equal(list.folders.items[0].origin, "VYRE_DIALECT_PATH");
    expect_ok(vyre_folder_search_run(&found, &list, NULL, &none));
    assert_int_equal(found.records.items[1].fate, VYRE_FOLDER_REFUSED);
    assert_non_null(strstr(found.records.items[1].detail, "vyre searches only absolute ones"));
    setenv("VYRE_DIALECT_PATH", "none", 1);
    vyre_folder_list_deinit(&list);
    expect_ok(vyre_folder_list_usual(&list));
    assert_int_equal(list.folders.count, 0);
    unsetenv("VYRE_DIALECT_PATH");
}

static void higher_versions_hold(void **state) {
    (void)state;
    make_folder("one", 0755);
    make_folder("two", 0755);
    make_folder("three", 0755);
    write_dialect("one", "d", "1.9.0", "a + 1");
    write_dialect("two", "d", "1.10.0", "a + 2");
    write_dialect("three", "d", "1.2.0", "a + 3");
    look("one two three");
    expect_fate("one/d.toml", VYRE_FOLDER_OLDER, below("two/d.toml"));
    expect_fate("two/d.toml", VYRE_FOLDER_ADMITTED, "d 1.10.0");
    expect_fate("three/d.toml", VYRE_FOLDER_OLDER, below("two/d.toml"));
    assert_int_equal(result_of("d.f"), 7);
}

/* Only who is right has the dialect: a newer version with mistakes takes no older one away, neither
 * at the start nor in a folder that is watched, and whoever calls it goes on. */
static void a_newer_version_with_mistakes_makes_way(void **state) {
    (void)state;
    make_folder("new", 0755);
    make_folder("old", 0755);
    write_dialect("new", "a", "1.10.0", "a +");
    write_dialect("old", "a", "1.9.0", "a + 1");
    write_dialect("old", "b", "1.0.0", "a.f(a) + 10");
    look("new old");
    expect_fate("new/a.toml", VYRE_FOLDER_REFUSED, "a.vyre:1:");
    expect_fate("old/a.toml", VYRE_FOLDER_ADMITTED, "a 1.9.0");
    expect_fate("old/b.toml", VYRE_FOLDER_ADMITTED, "b 1.0.0");
    assert_int_equal(result_of("a.f"), 6);
    assert_int_equal(result_of("b.f"), 16);
    write_dialect("new", "a", "1.10.0", "a + 2");
    look_again();
    expect_fate("new/a.toml", VYRE_FOLDER_ADMITTED, "a 1.10.0");
    expect_fate("old/a.toml", VYRE_FOLDER_OLDER, "new/a.toml");
    assert_int_equal(result_of("b.f"), 17);
    write_dialect("new", "a", "1.11.0", "a +"); /* what it was before is right, and newer */
    look_again();
    expect_fate("new/a.toml", VYRE_FOLDER_KEPT, "a.vyre:1:");
    expect_fate("old/a.toml", VYRE_FOLDER_OLDER, "new/a.toml");
    assert_int_equal(result_of("b.f"), 17);
}

static void equal_versions_are_refused(void **state) {
    (void)state;
    make_folder("one", 0755);
    make_folder("two", 0755);
    write_dialect("one", "d", "1.0.0", "a + 1");
    write_dialect("two", "d", "1.0.0", "a + 2");
    look("one two");
    expect_fate("one/d.toml", VYRE_FOLDER_ADMITTED, "d 1.0.0");
    expect_fate("two/d.toml", VYRE_FOLDER_REFUSED, "the dialect `d` 1.0.0 is already defined in");
    assert_int_equal(result_of("d.f"), 6);
}

static void linked_dialects_stay(void **state) {
    (void)state;
    static const vyre_operation linked = {.id = "d.g", .dialect = "d"};
    vyre_streams streams = {0};
    expect_ok(vyre_streams_add(&streams, &linked));
    make_folder("one", 0755);
    write_dialect("one", "d", "9.0.0", "a");
    expect_ok(vyre_folder_list_add(&list, below("one"), "the test", false));
    expect_ok(vyre_folder_search_run(&found, &list, NULL, &streams));
    expect_fate("one/d.toml", VYRE_FOLDER_REFUSED, "already has a dialect `d`");
    vyre_streams_free(&streams);
}

/* Whoever calls an operation that is refused is refused, too; all others stay. */
static void one_mistake_rejects_its_file(void **state) {
    (void)state;
    make_folder("one", 0755);
    write_dialect("one", "good", "1.0.0", "a + 1");
    write_dialect("one", "calls", "1.0.0", "wrong.f(a)");
    write_dialect("one", "fine", "1.0.0", "good.f(a) * 2");
    write_dialect("one", "wrong", "1.0.0", "b");
    look("one");
    expect_fate("one/wrong.toml", VYRE_FOLDER_REFUSED, "V0201: unknown name `b`");
    expect_fate("one/wrong.toml", VYRE_FOLDER_REFUSED, below("one/wrong.vyre:1:30"));
    expect_fate("one/calls.toml", VYRE_FOLDER_REFUSED, "Fix: ");
    assert_int_equal(result_of("fine.f"), 12);
    assert_int_equal(result_of("calls.f"), 0);
}

static void circles_are_refused(void **state) {
    (void)state;
    make_folder("one", 0755);
    write_dialect("one", "x", "1.0.0", "y.f(a)");
    write_dialect("one", "y", "1.0.0", "x.f(a)");
    look("one");
    expect_fate("one/x.toml", VYRE_FOLDER_REFUSED, "V0205");
    expect_fate("one/y.toml", VYRE_FOLDER_REFUSED, "V020");
}

static void others_may_not_write(void **state) {
    (void)state;
    make_folder("one", 0775);
    make_folder("two", 0755);
    write_dialect("one", "d", "1.0.0", "a");
    write_dialect("two", "e", "1.0.0", "a");
    write_dialect("two", "s", "1.0.0", "a");
    assert_int_equal(chmod(below("two/e.toml"), 0666), 0);
    assert_int_equal(chmod(below("two/s.vyre"), 0664), 0);
    look("one two");
    expect_fate("one", VYRE_FOLDER_REFUSED, "users other than its owner may write");
    expect_fate("two/e.toml", VYRE_FOLDER_REFUSED, "users other than its owner may write");
    expect_fate("two/s.toml", VYRE_FOLDER_REFUSED, "users other than its owner may write");
    /* What a user names is his affair. */
    expect_ok(vyre_folder_list_add(&list, below("one"), "the test", true));
    look_again();
    assert_int_equal(result_of("d.f"), 5);
}

static void files_that_are_too_large(void **state) {
    (void)state;
    make_folder("one", 0755);
    char *text = malloc(VYRE_MANIFEST_BYTES + 2);
    memset(text, '#', VYRE_MANIFEST_BYTES + 1);
    text[VYRE_MANIFEST_BYTES + 1] = '\0';
    write_file("one/big.toml", text);
    free(text);
    write_dialect("one", "s", "1.0.0", "a");
    text = malloc(VYRE_SOURCE_BYTES + 2);
    memset(text, ' ', VYRE_SOURCE_BYTES + 1);
    text[VYRE_SOURCE_BYTES + 1] = '\0';
    write_file("one/s.vyre", text);
    free(text);
    make_folder("one/folder.toml", 0755);
    look("one");
    expect_fate("one/big.toml", VYRE_FOLDER_REFUSED, "1048576");
    expect_fate("one/s.toml", VYRE_FOLDER_REFUSED, "4194304");
    expect_fate("one/folder.toml", VYRE_FOLDER_REFUSED, "is not a regular file");
}

/* A search that knows an earlier one keeps what is broken now. */
static void broken_edits_leave_what_was(void **state) {
    (void)state;
    make_folder("one", 0755);
    write_dialect("one", "d", "1.0.0", "a + 1");
    write_dialect("one", "e", "1.0.0", "d.f(a) * 10");
    look("one");
    assert_int_equal(result_of("e.f"), 60);
    write_dialect("one", "d", "1.0.0", "a + ");
    look_again();
    expect_fate("one/d.toml", VYRE_FOLDER_KEPT, "V0102");
    assert_int_equal(result_of("d.f"), 6);
    assert_int_equal(result_of("e.f"), 60);
    write_file("one/d.toml", "dialect = ");
    look_again();
    expect_fate("one/d.toml", VYRE_FOLDER_KEPT, "expected a value");
    assert_int_equal(result_of("e.f"), 60);
    write_dialect("one", "d", "1.0.0", "a + 2");
    look_again();
    expect_fate("one/d.toml", VYRE_FOLDER_ADMITTED, "d 1.0.0");
    assert_int_equal(result_of("e.f"), 70);
    assert_int_equal(unlink(below("one/d.toml")), 0);
    look_again();
    expect_fate("one/e.toml", VYRE_FOLDER_REFUSED, "V0206");
    assert_int_equal(result_of("e.f"), 0);
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    make_folder("one", 0755);
    write_dialect("one", "d", "1.0.0", "a + 1");
    write_dialect("one", "e", "1.0.0", "d.f(a)");
    expect_ok(vyre_folder_list_add(&list, below("one"), "the test", false));
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_folder_search search;
        vyre_streams streams = {0};
        vyre_status status = vyre_folder_search_run(&search, &list, NULL, &none);
        status = status ? status : vyre_folder_search_give(&search, &streams);
        bool ok = !status;
        bool is_memory = vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY;
        vyre_status_free(status);
        vyre_streams_free(&streams);
        vyre_folder_search_deinit(&search);
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            assert_true(ok);
            break;
        }
        assert_true(ok || is_memory);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(manifests_are_read_in_order),  TEST(usual_places),
        TEST(higher_versions_hold),         TEST(a_newer_version_with_mistakes_makes_way),
        TEST(equal_versions_are_refused),   TEST(linked_dialects_stay),
        TEST(one_mistake_rejects_its_file), TEST(circles_are_refused),
        TEST(others_may_not_write),         TEST(files_that_are_too_large),
        TEST(broken_edits_leave_what_was),  TEST(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
