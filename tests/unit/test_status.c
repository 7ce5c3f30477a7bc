#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/status.h>

#include "tests/unit/failing_allocator.h"

static void status_ok_is_null_and_answers_every_question(void **state) {
    (void)state;
    const char *file;
    uint32_t line, column;
    assert_int_equal(vyre_status_code_of(VYRE_OK), VYRE_STATUS_OK);
    assert_string_equal(vyre_status_text(VYRE_OK), "ok");
    assert_string_equal(vyre_status_message(VYRE_OK), "ok");
    assert_string_equal(vyre_status_fix(VYRE_OK), "");
    assert_false(vyre_status_place(VYRE_OK, &file, &line, &column));
    assert_null(vyre_status_annotate(VYRE_OK, "while %s", "nothing"));
    assert_null(vyre_status_at(VYRE_OK, "file", 1, 1));
    vyre_status_free(VYRE_OK);
}

static void status_says_what_failed_and_the_fix(void **state) {
    (void)state;
    vyre_status status =
        vyre_status_make(VYRE_STATUS_LIMIT, "use fewer", "%d are too %s", 7, "many");
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_LIMIT);
    assert_string_equal(vyre_status_message(status), "7 are too many");
    assert_string_equal(vyre_status_fix(status), "use fewer");
    assert_string_equal(vyre_status_text(status), "7 are too many. Fix: use fewer");
    vyre_status_free(status);
}

static void status_does_not_double_the_full_stop(void **state) {
    (void)state;
    vyre_status status = vyre_status_make(VYRE_STATUS_IO, "look", "Is it there?");
    assert_string_equal(vyre_status_text(status), "Is it there? Fix: look");
    vyre_status_free(status);
}

static void status_keeps_a_fix_that_the_message_brings(void **state) {
    (void)state;
    vyre_status status = vyre_status_make(VYRE_STATUS_IO, NULL, "It broke. Fix: mend it.");
    assert_string_equal(vyre_status_text(status), "It broke. Fix: mend it.");
    assert_string_equal(vyre_status_fix(status), "mend it.");
    vyre_status_free(status);
}

static void status_always_has_a_fix(void **state) {
    (void)state;
    vyre_status status = vyre_status_make(VYRE_STATUS_IO, NULL, "it broke");
    assert_non_null(strstr(vyre_status_text(status), "it broke. Fix: "));
    assert_true(strlen(vyre_status_fix(status)) > 0);
    vyre_status_free(status);
}

static void status_annotations_follow_outermost_last(void **state) {
    (void)state;
    vyre_status status = vyre_status_make(VYRE_STATUS_IO, "look", "no file");
    status = vyre_status_annotate(status, "while reading %s", "a");
    status = vyre_status_annotate(status, "while loading %s", "b");
    assert_string_equal(vyre_status_text(status),
                        "no file; while reading a; while loading b. Fix: look");
    assert_string_equal(vyre_status_message(status), "no file");
    vyre_status_free(status);
}

static void status_place_is_the_innermost_one(void **state) {
    (void)state;
    const char *file;
    uint32_t line, column;
    vyre_status status = vyre_status_make(VYRE_STATUS_MALFORMED, "correct it", "bad");
    assert_false(vyre_status_place(status, &file, &line, &column));
    status = vyre_status_at(status, "inner.toml", 3, 14);
    status = vyre_status_at(status, "outer.toml", 1, 1);
    assert_true(vyre_status_place(status, &file, &line, &column));
    assert_string_equal(file, "inner.toml");
    assert_int_equal(line, 3);
    assert_int_equal(column, 14);
    assert_string_equal(vyre_status_text(status), "inner.toml:3:14: bad. Fix: correct it");
    vyre_status_free(status);
}

static void status_codes_have_stable_numbers_and_names(void **state) {
    (void)state;
    assert_int_equal(VYRE_STATUS_OK, 0);
    assert_int_equal(VYRE_STATUS_OUT_OF_MEMORY, 5);
    assert_int_equal(VYRE_STATUS_IO, 8);
    assert_string_equal(vyre_status_code_name(VYRE_STATUS_NOT_FOUND), "not found");
    assert_string_equal(vyre_status_code_name((vyre_status_code)1000), "unknown status");
}

/* Making, annotating and placing a status with every allocation failing once. */
static void status_survives_every_failed_allocation(void **state) {
    (void)state;
    size_t lost = 0;
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_status status = vyre_status_make(VYRE_STATUS_LIMIT, "use fewer", "%d items", 7);
        assert_non_null(status);
        status = vyre_status_annotate(status, "while %s", "counting");
        status = vyre_status_at(status, "items.toml", 1, 2);
        assert_non_null(strstr(vyre_status_text(status), "Fix: "));
        vyre_status_code code = vyre_status_code_of(status);
        assert_true(code == VYRE_STATUS_LIMIT || code == VYRE_STATUS_OUT_OF_MEMORY);
        assert_true(code == VYRE_STATUS_OUT_OF_MEMORY ||
                    strstr(vyre_status_text(status), "7 items"));
        lost += code == VYRE_STATUS_OUT_OF_MEMORY;
        bool whole = strcmp(vyre_status_text(status),
                            "items.toml:1:2: 7 items; while counting. Fix: use fewer") == 0;
        vyre_status_free(status);
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            assert_true(whole);
            break;
        }
    }
    assert_true(lost >= 3);
}

static void status_out_of_memory_can_be_used_and_freed_many_times(void **state) {
    (void)state;
    failing_allocator_start(1);
    vyre_status status = vyre_status_make(VYRE_STATUS_IO, "look", "no file");
    failing_allocator_stop();
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_OUT_OF_MEMORY);
    assert_string_equal(vyre_status_message(status), "out of memory");
    assert_non_null(strstr(vyre_status_text(status), vyre_status_fix(status)));
    assert_ptr_equal(vyre_status_annotate(status, "x"), status);
    assert_ptr_equal(vyre_status_at(status, "f", 1, 1), status);
    assert_null(strstr(vyre_status_text(status), "x;"));
    vyre_status_free(status);
    vyre_status_free(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_ok_is_null_and_answers_every_question),
        cmocka_unit_test(status_says_what_failed_and_the_fix),
        cmocka_unit_test(status_does_not_double_the_full_stop),
        cmocka_unit_test(status_keeps_a_fix_that_the_message_brings),
        cmocka_unit_test(status_always_has_a_fix),
        cmocka_unit_test(status_annotations_follow_outermost_last),
        cmocka_unit_test(status_place_is_the_innermost_one),
        cmocka_unit_test(status_codes_have_stable_numbers_and_names),
        cmocka_unit_test(status_survives_every_failed_allocation),
        cmocka_unit_test(status_out_of_memory_can_be_used_and_freed_many_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
