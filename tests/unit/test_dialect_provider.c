/* Another provider of operations for the language was there first. A process of its own, since the
 * first one stays. */
#include "tests/unit/dialect_check.h"

#include <vyre/log.h>

#include "dialect/provider.h"

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

static int install_theirs(void **state) {
    (void)state;
    expect_ok(vyre_provider_install(&theirs));
    return 0;
}

static void provider_S102_of_the_same_id_is_accepted_again(void **state) {
    (void)state;
    assert_string_equal(vyre_dialects_library.id, "vyre-driver::DialectRegistry");
    expect_ok(vyre_provider_install(&theirs));
    expect_ok(vyre_provider_install(&same_id));
    assert_ptr_equal(vyre_provider(), &theirs); /* the first one stays */
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

static void check_unknown(const char *call, const char *fix) {
    char text[128];
    vyre_module *module;
    snprintf(text, sizeof text, "program p(x: inout buffer<u32>) { %s(x); }", call);
    vyre_status status = vyre_module_parse("my.vyre", text, strlen(text), NULL, &module);
    expect_words(status, VYRE_STATUS_INVALID_PROGRAM, call, fix, NULL);
}

static void parse_S101_asks_the_provider_that_is_installed(void **state) {
    (void)state;
    check_unknown("their.s", "did you mean `theirs`");
    check_unknown("scan.sum_u32", "`vyre ops` lists the operations"); /* which the registry has */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(provider_S102_of_the_same_id_is_accepted_again),
        cmocka_unit_test(provider_S101_another_fails_try_and_is_logged_by_enter),
        cmocka_unit_test(parse_S101_asks_the_provider_that_is_installed),
    };
    return cmocka_run_group_tests(tests, install_theirs, NULL);
}
