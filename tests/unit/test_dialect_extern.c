/* Extern dialects with everything wrong: nothing is loaded, all errors are told, and what is
 * installed stays. A process of its own, since what is registered stays. */
#include "tests/unit/dialect_check.h"

#include <vyre/log.h>

#include "tests/unit/failing_allocator.h"

static const vyre_extern_dialect dialects[] = {
    {"vyre-libs-good", "1.0.0", "https://good.example"},
    {"vyre-libs-many", "1.0.0", "https://many.example"},
    {"zlib", "1.3.0", "https://zlib.example"},
    {"vyre-libs-many", "1.0.1", "https://many.example"},
    {"vyre-libs-many", "1.0.2", "https://many.example"},
};
static const vyre_extern_operation operations[] = {
    {"vyre-libs-lost", "vyre-libs-lost::operation"},
    {"vyre-libs-good", ""},
    {"vyre-libs-good", "vyre-libs-good::fine"},
};

static char logged[4096];

static void remember(void *user, vyre_log_level level, const char *message) {
    (void)user;
    snprintf(logged, sizeof logged, "%d %s", (int)level, message);
}

static const char *const errors[] = {
    "`vyre-libs-many` is registered 3 times. Fix: ",
    "`zlib` does not start with `vyre-libs-`. Fix: rename it to `vyre-libs-zlib`",
    "an extern operation of the dialect `vyre-libs-good` has an empty ID. Fix: ",
    ("`vyre-libs-lost::operation` names the dialect `vyre-libs-lost`, which is not registered. "
     "Fix: "),
};
enum { ERRORS = sizeof errors / sizeof *errors };

static void check_errors(const char *text) {
    for (size_t i = 0; i < ERRORS; i++) {
        const char *at = strstr(text, errors[i]);
        assert_non_null(at);
        assert_null(strstr(at + 1, errors[i])); /* once each */
    }
    assert_null(strstr(text, "vyre-libs-good::fine"));
}

static int register_all(void **state) {
    (void)state;
    expect_ok(vyre_dialects_register_extern(dialects, 5, operations, 3));
    return 0;
}

static void inventory_S88_collects_every_error(void **state) {
    (void)state;
    vyre_dialects *snapshot;
    vyre_status status = vyre_dialects_load(&snapshot);
    assert_null(snapshot);
    assert_non_null(status);
    check_errors(vyre_status_message(status));
    vyre_status_free(status);
}

static void inventory_S87_errors_are_joined_and_end_with_a_fix(void **state) {
    (void)state;
    vyre_dialects *snapshot;
    vyre_status status = vyre_dialects_load(&snapshot);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
    const char *text = vyre_status_text(status);
    assert_non_null(strstr(text, "the inventory of extern dialects is invalid: "));
    size_t joints = 0;
    for (const char *at = text; (at = strstr(at, "; ")) != NULL; at++) {
        joints++;
    }
    assert_int_equal(joints, ERRORS - 1 + 1); /* the last Fix has one, too */
    static const char end[] =
        "Fix: register each extern operation under a submitted extern dialect before the registry "
        "is built; invalid ones must not be ignored";
    assert_true(strlen(text) > strlen(end));
    assert_string_equal(text + strlen(text) - strlen(end), end);
    vyre_status_free(status);
}

/* R8: returned, never an abort. */
static void first_use_S87_fails_with_the_reasons_or_is_empty_and_logged(void **state) {
    (void)state;
    vyre_dialects_guard guard;
    const vyre_dialects *now = NULL;
    size_t first = 0;
    for (int i = 0; i < 2; i++) {
        failing_allocator_start(0);
        vyre_status status = vyre_dialects_try_enter(&guard, &now);
        failing_allocator_end();
        first = i ? first : failing_allocator_state.count;
        assert_non_null(status);
        check_errors(vyre_status_text(status));
        vyre_status_free(status);
        assert_null(now);
    }
    assert_true(failing_allocator_state.count < first); /* remembered, not tried again */
    vyre_log_set(remember, NULL, VYRE_LOG_ERROR);
    now = vyre_dialects_enter(&guard);
    vyre_log_set(NULL, NULL, VYRE_LOG_ERROR);
    assert_true(logged[0] == '0');
    check_errors(logged);
    assert_int_equal(vyre_dialects_count(now), 0);
    assert_null(check_find(now, "io.dma_from_nvme"));
    assert_null(vyre_dialects_at(now, 0));
    vyre_dialects_release(vyre_dialects_retain(now));
    vyre_dialects_leave(&guard);
}

static void failure_S87_leaves_what_is_installed_in_force(void **state) {
    (void)state;
    vyre_dialects_install(check_snapshot(1, "s90.kept"));
    vyre_dialects *snapshot;
    vyre_status status = vyre_dialects_load(&snapshot);
    assert_non_null(status);
    vyre_status_free(status);
    vyre_dialects_guard guard;
    const vyre_dialects *now;
    expect_ok(vyre_dialects_try_enter(&guard, &now));
    assert_non_null(check_find(now, "s90.kept"));
    vyre_dialects_leave(&guard);
}

static void counts_S104_that_overflow_are_an_error(void **state) {
    (void)state;
    expect_ok(vyre_dialects_register_extern(NULL, SIZE_MAX, NULL, SIZE_MAX));
    vyre_dialects *snapshot;
    expect_words(vyre_dialects_load(&snapshot), VYRE_STATUS_LIMIT, "extern dialect", " slot(s)",
                 "split registry initialization", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inventory_S88_collects_every_error),
        cmocka_unit_test(inventory_S87_errors_are_joined_and_end_with_a_fix),
        cmocka_unit_test(first_use_S87_fails_with_the_reasons_or_is_empty_and_logged),
        cmocka_unit_test(failure_S87_leaves_what_is_installed_in_force),
        cmocka_unit_test(counts_S104_that_overflow_are_an_error),
    };
    return cmocka_run_group_tests(tests, register_all, NULL);
}
