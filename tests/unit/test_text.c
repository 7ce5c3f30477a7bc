#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "tests/unit/failing_allocator.h"

static void text_collects_what_is_appended(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    assert_string_equal(vyre_strbuf_string(&text), "");
    vyre_strbuf_puts(&text, "abc");
    vyre_strbuf_putc(&text, '-');
    vyre_strbuf_add(&text, "defgh", 3);
    vyre_strbuf_repeat(&text, '.', 4);
    vyre_strbuf_printf(&text, "%d/%s", -5, "x");
    assert_string_equal(vyre_strbuf_string(&text), "abc-def....-5/x");
    assert_int_equal(text.size, 15);
    vyre_strbuf_free(&text);
    assert_string_equal(vyre_strbuf_string(&text), "");
}

static void text_keeps_nul_bytes_and_ends_with_one(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_strbuf_add(&text, "a\0b", 3);
    assert_int_equal(text.size, 3);
    assert_memory_equal(text.data, "a\0b", 4);
    vyre_strbuf_free(&text);
}

static void text_appending_nothing_is_harmless(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_strbuf_add(&text, NULL, 0);
    vyre_strbuf_repeat(&text, 'x', 0);
    vyre_strbuf_printf(&text, "%s", "");
    assert_false(text.failed);
    assert_int_equal(text.size, 0);
    assert_string_equal(vyre_strbuf_string(&text), "");
    vyre_strbuf_free(&text);
}

static void text_prints_u64_to_its_limits(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_strbuf_u64(&text, 0);
    vyre_strbuf_putc(&text, ' ');
    vyre_strbuf_u64(&text, 1234567890);
    vyre_strbuf_putc(&text, ' ');
    vyre_strbuf_u64(&text, UINT64_MAX);
    assert_string_equal(vyre_strbuf_string(&text), "0 1234567890 18446744073709551615");
    vyre_strbuf_free(&text);
}

static void text_cut_drops_the_end_only(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_strbuf_cut(&text, 0);
    vyre_strbuf_puts(&text, "abcdef");
    vyre_strbuf_cut(&text, 10);
    assert_string_equal(vyre_strbuf_string(&text), "abcdef");
    vyre_strbuf_cut(&text, 2);
    assert_string_equal(vyre_strbuf_string(&text), "ab");
    vyre_strbuf_putc(&text, 'z');
    assert_string_equal(vyre_strbuf_string(&text), "abz");
    vyre_strbuf_free(&text);
}

static void text_of_a_megabyte_takes_few_allocations(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    failing_allocator_start(0);
    for (int i = 0; i < 1000000; i++) {
        vyre_strbuf_putc(&text, (char)('a' + i % 26));
    }
    assert_int_equal(text.size, 1000000);
    assert_int_equal(text.data[999999], 'a' + 999999 % 26);
    assert_true(failing_allocator_state.count < 30);
    vyre_strbuf_free(&text);
    failing_allocator_stop();
}

static void append_everything(vyre_strbuf *text) {
    vyre_strbuf_puts(text,
                     "a name that is longer than the first block of the buffer is, so that it");
    vyre_strbuf_printf(text, " grows %d times", 2);
    vyre_strbuf_repeat(text, '=', 300);
    vyre_strbuf_u64(text, UINT64_MAX);
    vyre_strbuf_putc(text, '!');
}

static void text_remembers_a_failure_and_keeps_its_contents(void **state) {
    (void)state;
    vyre_strbuf whole = {0};
    append_everything(&whole);
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_strbuf text = {0};
        append_everything(&text);
        bool failed = text.failed;
        assert_true(text.size <= whole.size);
        assert_memory_equal(vyre_strbuf_string(&text), vyre_strbuf_string(&whole), text.size);
        assert_int_equal(vyre_strbuf_string(&text)[text.size], '\0');
        vyre_strbuf_free(&text);
        failing_allocator_stop();
        assert_int_equal(failed, failing_allocator_failed());
        if (!failed) {
            assert_true(n > 2);
            break;
        }
    }
    vyre_strbuf_free(&whole);
}

static void text_refuses_sizes_that_overflow(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text, "abc");
    vyre_strbuf_repeat(&text, 'x', SIZE_MAX - 2);
    assert_true(text.failed);
    assert_string_equal(vyre_strbuf_string(&text), "abc");
    vyre_strbuf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_collects_what_is_appended),
        cmocka_unit_test(text_keeps_nul_bytes_and_ends_with_one),
        cmocka_unit_test(text_appending_nothing_is_harmless),
        cmocka_unit_test(text_prints_u64_to_its_limits),
        cmocka_unit_test(text_cut_drops_the_end_only),
        cmocka_unit_test(text_of_a_megabyte_takes_few_allocations),
        cmocka_unit_test(text_remembers_a_failure_and_keeps_its_contents),
        cmocka_unit_test(text_refuses_sizes_that_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
