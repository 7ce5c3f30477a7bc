/* Another provider of operations for the language was there first. A process of its own, since the
 * first one stays. */
#include "tests/unit/dialect_check.h"

#include <vyre/log.h>

#include "text/library.h"

static vyre_status enter(vyre_library_view *view) {
    view->held[0] = view;
    return VYRE_OK;
}

static bool find(const vyre_library_view *view, vyre_str id, vyre_library_source *out_source) {
    (void)view;
    *out_source = (vyre_library_source){.id = "theirs"};
    return id.size == 6 && !memcmp(id.data, "theirs", 6);
}

static vyre_str at(const vyre_library_view *view, size_t index) {
    (void)view;
    return index ? (vyre_str){0} : (vyre_str){"theirs", 6};
}

static void leave(vyre_library_view *view) {
    (void)view;
}

static const vyre_library theirs = {"their-provider", enter, find, at, leave};
static const vyre_library same_id = {"their-provider", enter, find, at, leave};

static char logged[1024];

static void remember(void *user, vyre_log_level level, const char *message) {
    (void)user;
    (void)level;
    snprintf(logged, sizeof logged, "%s", message);
}

static void provider_S102_of_the_same_id_is_accepted_again(void **state) {
    (void)state;
    assert_string_equal(vyre_library_builtin.id, "vyre-driver::DialectRegistry");
    expect_ok(vyre_library_install(&theirs));
    expect_ok(vyre_library_install(&theirs));
    expect_ok(vyre_library_install(&same_id));
    vyre_library_view view;
    expect_ok(vyre_library_enter(&view));
    assert_ptr_equal(view.library, &theirs); /* the first one stays */
    vyre_library_source source;
    assert_true(vyre_library_find(&view, (vyre_str){"theirs", 6}, &source));
    assert_false(vyre_library_find(&view, (vyre_str){"io.dma_from_nvme", 16}, &source));
    assert_int_equal(vyre_library_at(&view, 0).size, 6);
    assert_null(vyre_library_at(&view, 1).data);
    vyre_library_leave(&view);
}

static void provider_S101_another_fails_try_and_is_logged_by_enter(void **state) {
    (void)state;
    vyre_dialects_guard guard;
    const vyre_dialects *now;
    for (int i = 0; i < 2; i++) {
        expect_words(vyre_dialects_try_enter(&guard, &now), VYRE_STATUS_INVALID_ARGUMENT,
                     "`their-provider`", "`vyre-driver::DialectRegistry`", "exactly one", NULL);
        assert_null(now);
        logged[0] = '\0';
        vyre_log_set(remember, NULL, VYRE_LOG_ERROR);
        now = vyre_dialects_enter(&guard);
        vyre_log_set(NULL, NULL, VYRE_LOG_ERROR);
        assert_non_null(strstr(logged, "`their-provider`"));
        assert_non_null(strstr(logged, "Fix: "));
        assert_non_null(check_find(now, "io.dma_from_nvme")); /* and still it is the registry */
        vyre_dialects_leave(&guard);
    }
}

static void provider_of_a_thread_is_asked_instead(void **state) {
    (void)state;
    static const vyre_library mine = {"mine", enter, find, at, leave};
    assert_null(vyre_library_use(&mine));
    vyre_library_view view;
    expect_ok(vyre_library_enter(&view));
    assert_ptr_equal(view.library, &mine);
    vyre_library_leave(&view);
    assert_ptr_equal(vyre_library_use(NULL), &mine);
    expect_ok(vyre_library_enter(&view));
    assert_ptr_equal(view.library, &theirs);
    vyre_library_leave(&view);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(provider_S102_of_the_same_id_is_accepted_again),
        cmocka_unit_test(provider_S101_another_fails_try_and_is_logged_by_enter),
        cmocka_unit_test(provider_of_a_thread_is_asked_instead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
