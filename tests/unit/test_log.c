#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "tests/unit/failing_allocator.h"

typedef struct record {
    int calls;
    vyre_log_level level;
    char message[200];
} record;

static void keep(void *user, vyre_log_level level, const char *message) {
    record *kept = user;
    kept->calls++;
    kept->level = level;
    strncpy(kept->message, message, sizeof kept->message - 1);
}

static void log_is_silent_until_someone_listens(void **state) {
    (void)state;
    vyre_log(VYRE_LOG_ERROR, "nobody hears %d", 1);
}

static void log_sends_messages_up_to_the_level(void **state) {
    (void)state;
    record kept = {0};
    vyre_log_set(keep, &kept, VYRE_LOG_INFO);
    vyre_log(VYRE_LOG_INFO, "loaded %d of %s", 3, "four");
    assert_int_equal(kept.calls, 1);
    assert_int_equal(kept.level, VYRE_LOG_INFO);
    assert_string_equal(kept.message, "loaded 3 of four");
    vyre_log(VYRE_LOG_ERROR, "bad");
    assert_int_equal(kept.calls, 2);
    vyre_log(VYRE_LOG_DEBUG, "detail");
    assert_int_equal(kept.calls, 2);
    vyre_log_set(NULL, NULL, VYRE_LOG_TRACE);
    vyre_log(VYRE_LOG_ERROR, "bad");
    assert_int_equal(kept.calls, 2);
}

static void log_says_so_when_there_is_no_memory_for_a_message(void **state) {
    (void)state;
    record kept = {0};
    vyre_log_set(keep, &kept, VYRE_LOG_INFO);
    failing_allocator_start(1);
    vyre_log(VYRE_LOG_ERROR, "number %d", 5);
    failing_allocator_stop();
    vyre_log_set(NULL, NULL, VYRE_LOG_ERROR);
    assert_int_equal(kept.calls, 1);
    assert_non_null(strstr(kept.message, "out of memory"));
}

static void log_levels_have_names(void **state) {
    (void)state;
    assert_string_equal(vyre_log_level_name(VYRE_LOG_ERROR), "error");
    assert_string_equal(vyre_log_level_name(VYRE_LOG_TRACE), "trace");
    assert_string_equal(vyre_log_level_name((vyre_log_level)99), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_is_silent_until_someone_listens),
        cmocka_unit_test(log_sends_messages_up_to_the_level),
        cmocka_unit_test(log_says_so_when_there_is_no_memory_for_a_message),
        cmocka_unit_test(log_levels_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
