/* Folders that are watched: edits come into force, broken ones do not, and both are told. */
#define _GNU_SOURCE /* P_tmpdir, mkdtemp, setenv */

#include "tests/unit/dialect_files.h"

#include <vyre/dialect.h>
#include <vyre/reference.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "dialect/registry.h"

static vyre_dialects_watch *watch;
static vyre_strbuf told;

static void tell(void *user, const vyre_dialect_event *event) {
    static const char *const names[] = {
#define NAME(name, text) [VYRE_DIALECT_EVENT_##name] = text,
        VYRE_DIALECT_EVENTS(NAME)
#undef NAME
    };
    assert_ptr_equal(user, &told);
    assert_non_null(event->snapshot);
    const char *slash = strrchr(event->name, '/');
    vyre_strbuf_printf(&told, "%s%s %s", told.size ? ", " : "", names[event->kind],
                       slash ? slash + 1 : event->name);
    if (event->kind == VYRE_DIALECT_EVENT_REFUSED) {
        vyre_strbuf_puts(&told, event->is_kept ? " (kept)" : "");
        assert_non_null(strstr(event->detail, "Fix: "));
    }
}

static int setup(void **state) {
    setenv("VYRE_DIALECT_PATH", "none", 1);
    if (dialect_root_make(state)) {
        return -1;
    }
    make_folder("d", 0775); /* named by the test, so that this does not matter */
    return 0;
}

static int teardown(void **state) {
    vyre_dialects_watch_close(watch);
    watch = NULL;
    vyre_strbuf_free(&told);
    return dialect_root_remove(state);
}

static void start(bool looks) {
    const char *folder = below("d");
    expect_ok(vyre_dialects_watch_start(&folder, 1, looks, &watch));
}

/* Waits until something is told, and compares. */
static void expect_told(const char *expected) {
    vyre_strbuf_cut(&told, 0);
    for (int i = 0; i < 100 && !told.size; i++) {
        expect_ok(vyre_dialects_watch_wait(watch, 50, tell, &told));
    }
    assert_string_equal(vyre_strbuf_string(&told), expected);
}

/* What the operation in force makes of 5; 0 if there is none. */
static uint32_t result_of(const char *id) {
    vyre_dialects_guard guard;
    uint32_t five = 5, result = 0;
    vyre_outputs outputs;
    vyre_input input = {&five, sizeof five};
    const vyre_dialects *snapshot;
    expect_ok(vyre_dialects_try_enter(&guard, &snapshot));
    const vyre_operation *found = vyre_dialects_find(snapshot, id);
    if (found) {
        expect_ok(vyre_reference_run(found->built, &input, 1, NULL, NULL, &outputs));
        memcpy(&result, outputs.items[0].data, sizeof result);
        vyre_outputs_free(&outputs);
    }
    vyre_dialects_leave(&guard);
    return result;
}

static void follow_edits(bool looks) {
    write_dialect("d", "w", "1.0.0", "a + 1");
    start(looks);
    expect_told("added w.f");
    assert_int_equal(result_of("w.f"), 6);
    write_dialect("d", "w", "1.0.0", "a + 2");
    expect_told("changed w.f");
    assert_int_equal(result_of("w.f"), 7);
    /* Broken: the version before goes on. */
    write_file("d/w.vyre", "fn f(a: u32) -> u32 { return a +; }\n");
    expect_told("refused w.toml (kept)");
    assert_int_equal(result_of("w.f"), 7);
    /* Another edit takes effect all the same. */
    write_dialect("d", "x", "1.0.0", "w.f(a) * 10");
    expect_told("added x.f");
    assert_int_equal(result_of("x.f"), 70);
    write_dialect("d", "w", "1.0.0", "a + 3");
    expect_told("restored w.toml, changed w.f, changed x.f");
    assert_int_equal(result_of("x.f"), 80);
    assert_int_equal(unlink(below("d/x.toml")), 0);
    expect_told("removed x.f");
    assert_int_equal(result_of("x.f"), 0);
    /* New and broken: there is nothing to keep. */
    write_dialect("d", "y", "1.0.0", "nothing");
    expect_told("refused y.toml");
    assert_int_equal(result_of("w.f"), 8);
}

static void edits_are_followed_by_events(void **state) {
    (void)state;
    follow_edits(false);
}

static void edits_are_followed_by_looking(void **state) {
    (void)state;
    follow_edits(true);
}

/* A file that a source uses is part of it. */
static void used_files_are_followed(void **state) {
    (void)state;
    write_dialect("d", "w", "1.0.0", "grow(a)");
    write_file("d/w.vyre", "use \"grow.vyre\";\nfn f(a: u32) -> u32 { return grow(a); }\n");
    write_file("d/grow.vyre", "fn grow(a: u32) -> u32 { return a + 1; }\n");
    start(false);
    expect_told("added w.f");
    assert_int_equal(result_of("w.f"), 6);
    write_file("d/grow.vyre", "fn grow(a: u32) -> u32 { return a + 2; }\n");
    expect_told("changed w.f");
    assert_int_equal(result_of("w.f"), 7);
    write_dialect("d", "x", "1.0.0", "w.f(a) * 10");
    expect_told("added x.f");
    assert_int_equal(result_of("x.f"), 70);
    assert_int_equal(unlink(below("d/grow.vyre")), 0);
    expect_told("refused w.toml (kept)");
    assert_int_equal(result_of("w.f"), 7);
    write_file("d/w.vyre", "use \"../grow.vyre\";\nfn f(a: u32) -> u32 { return grow(a); }\n");
    write_file("grow.vyre", "fn grow(a: u32) -> u32 { return a + 3; }\n");
    expect_told("refused w.toml (kept)");
    assert_int_equal(result_of("w.f"), 7);
}

/* Nothing is told, or installed, where nothing has changed. */
static void idle_changes_are_not_told(void **state) {
    (void)state;
    vyre_dialects_guard first, second;
    write_dialect("d", "w", "1.0.0", "a + 1");
    start(false);
    expect_told("added w.f");
    vyre_strbuf_cut(&told, 0);
    const vyre_dialects *before = vyre_dialects_enter(&first);
    write_dialect("d", "w", "1.0.0", "a + 1");
    write_file("d/notes.txt", "nothing");
    expect_ok(vyre_dialects_watch_wait(watch, 1000, tell, &told));
    assert_int_equal(told.size, 0);
    assert_ptr_equal(vyre_dialects_enter(&second), before);
    vyre_dialects_leave(&second);
    vyre_dialects_leave(&first);
}

/* Several writes of one edit are one change. */
static void steps_of_an_edit_are_one(void **state) {
    (void)state;
    write_dialect("d", "w", "1.0.0", "a + 1");
    start(false);
    expect_told("added w.f");
    FILE *file = fopen(below("d/w.vyre"), "wb"); /* in place, byte by byte */
    assert_non_null(file);
    for (const char *at = "fn f(a: u32) -> u32 { return a + 9; }\n"; *at; at++) {
        fputc(*at, file);
        fflush(file);
    }
    fclose(file);
    expect_told("changed w.f");
    assert_int_equal(result_of("w.f"), 14);
}

/* A folder that goes away and comes back. */
static void folders_may_go_and_come(void **state) {
    (void)state;
    write_dialect("d", "w", "1.0.0", "a + 1");
    start(false);
    expect_told("added w.f");
    assert_int_equal(rename(below("d"), below("e")), 0);
    expect_told("removed w.f");
    assert_int_equal(rename(below("e"), below("d")), 0);
    expect_told("added w.f");
}

static void missing_folders_are_errors(void **state) {
    (void)state;
    const char *folder = below("nowhere");
    expect_error(vyre_dialects_watch_open(&folder, 1, &watch), VYRE_STATUS_NOT_FOUND,
                 "does not exist");
    assert_null(watch);
    vyre_dialects_watch_close(NULL);
}

/* From the end of an edit to its operation in force: less than 100 ms where the machine has time.
 */
static void reload_is_quick(void **state) {
    (void)state;
    uint64_t best = UINT64_MAX;
    char body[32];
    write_dialect("d", "w", "1.0.0", "a");
    start(false);
    expect_told("added w.f");
    for (unsigned i = 1; i <= 5; i++) {
        snprintf(body, sizeof body, "a + %u", i);
        uint64_t begin = vyre_now_ns();
        write_dialect("d", "w", "1.0.0", body);
        expect_told("changed w.f");
        assert_int_equal(result_of("w.f"), 5 + i);
        uint64_t time = vyre_now_ns() - begin;
        best = time < best ? time : best;
    }
    printf("an edit takes %.1f ms to come into force\n", (double)best / 1e6);
    assert_in_range(best, 0, 100000000);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(edits_are_followed_by_events), TEST(edits_are_followed_by_looking),
        TEST(used_files_are_followed),      TEST(idle_changes_are_not_told),
        TEST(steps_of_an_edit_are_one),     TEST(folders_may_go_and_come),
        TEST(missing_folders_are_errors),   TEST(reload_is_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
