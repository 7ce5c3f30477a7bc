/* Text from outside, made visible. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/log.h>
#include <vyre/status.h>

#include "base/log.h"
#include "base/page.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "tests/unit/failing_allocator.h"

static void check(const char *text, const char *expected) {
    vyre_strbuf out = {0};
    vyre_strbuf_visible(&out, text, strlen(text));
    assert_string_equal(vyre_strbuf_string(&out), expected);
    vyre_strbuf_free(&out);
}

static void visible_keeps_text_and_shows_the_rest(void **state) {
    (void)state;
    check("", "");
    check("plain \\x1b, gr\xc3\xb6\xc3\x9f"
          "e \xe2\x82\xac",
          "plain \\x1b, gr\xc3\xb6\xc3\x9f"
          "e \xe2\x82\xac");
    check("\033[2J\a\r\n\t\x7f", "\\x1b[2J\\x07\\x0d\\x0a\\x09\\x7f");
    check("\xc2\x9b"
          "31m",
          "\\u{9b}31m");               /* CSI as one character */
    check("a\xff\xc3", "a\\xff\\xc3"); /* no UTF-8 */
    check("\xe2\x80\xae"
          "txt\xe2\x81\xa9",
          "\\u{202e}txt\\u{2069}");
    check("\xd8\x9c\xe2\x80\x8f\xe2\x80\xa8", "\\u{61c}\\u{200f}\\u{2028}");
}

/* Of all characters exactly these may not be shown. */
static void visible_hides_exactly_controls_and_directions(void **state) {
    (void)state;
    for (uint32_t c = 1; c < 0x110000; c++) {
        char text[4];
        size_t size = vyre_utf8_write(c, text);
        bool shown, control = c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
        bool turns = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
                     (c >= 0x2066 && c <= 0x2069);
        if (size) {
            assert_int_equal(vyre_visible_next(text, size, &shown), size);
            assert_int_equal(shown, !control && !turns);
        }
    }
}

static void visible_clean_keeps_lines_where_asked(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text, "\033own\n\tone\033[1m two\xff\n");
    vyre_visible_clean(&text, 4, true);
    assert_string_equal(text.data, "\033own\n\tone\\x1b[1m two\\xff\n");
    vyre_visible_clean(&text, 0, false);
    assert_string_equal(text.data, "\\x1bown\\x0a\\x09one\\x1b[1m two\\xff\\x0a");
    vyre_strbuf_free(&text);
    vyre_visible_clean(&text, 0, false);
    assert_null(text.data);
}

static void visible_clean_needs_no_memory(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text, "a\033[1m\xe2\x80\xae\xff z");
    assert_true(failing_allocator_start(1));
    vyre_visible_clean(&text, 0, true);
    failing_allocator_stop();
    assert_true(failing_allocator_failed());
    assert_string_equal(text.data, "a?[1m???? z");
    vyre_strbuf_free(&text);
}

static void statuses_are_visible(void **state) {
    (void)state;
    vyre_status status = vyre_status_make(VYRE_STATUS_IO, "remove \033[8mit", "found %s", "a\nb\r");
    status = vyre_status_annotate(status, "in %s", "\xe2\x80\xae.npy");
    status = vyre_status_at(status, "file\033", 1, 2);
    assert_string_equal(vyre_status_text(status), "file\\x1b:1:2: found a\\x0ab\\x0d; in "
                                                  "\\u{202e}.npy. Fix: remove \\x1b[8mit");
    assert_string_equal(vyre_status_message(status), "found a\\x0ab\\x0d");
    vyre_status_free(status);
}

static char logged[64];

static void keep_log(void *user, vyre_log_level level, const char *message) {
    (void)user, (void)level;
    snprintf(logged, sizeof logged, "%s", message);
}

static void logs_and_tables_are_visible(void **state) {
    (void)state;
    vyre_log_set(keep_log, NULL, VYRE_LOG_TRACE);
    vyre_log(VYRE_LOG_WARNING, "%s", "\033]0;title\a");
    vyre_log_set(NULL, NULL, VYRE_LOG_ERROR);
    assert_string_equal(logged, "\\x1b]0;title\\x07");
    vyre_table table = {.columns = 1};
    vyre_strbuf text = {0};
    vyre_table_add(&table, "%s", "cell\033c");
    vyre_table_write(&text, &table, VYRE_FORMAT_CSV);
    assert_string_equal(text.data, "cell\\x1bc\n");
    vyre_strbuf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visible_keeps_text_and_shows_the_rest),
        cmocka_unit_test(visible_hides_exactly_controls_and_directions),
        cmocka_unit_test(visible_clean_keeps_lines_where_asked),
        cmocka_unit_test(visible_clean_needs_no_memory),
        cmocka_unit_test(statuses_are_visible),
        cmocka_unit_test(logs_and_tables_are_visible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
