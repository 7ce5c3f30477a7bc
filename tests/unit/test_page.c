/* Pages, tables and amounts, as people and spreadsheets read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/page.h"
#include "base/units.h"
#include "tests/unit/failing_allocator.h"

static void fill(vyre_table *table) {
    vyre_strbuf last = {0};
    *table = (vyre_table){.right = 1 << 1, .code = 1};
    VYRE_TABLE_CELLS(table, "name", "size", "note");
    VYRE_TABLE_CELLS(table, "a|b", "1024", "says \"hi\", twice");
    vyre_table_add(table, "%s-%d", "c", 7);
    VYRE_TABLE_CELLS(table, NULL);
    vyre_strbuf_puts(&last, "two\nlines");
    vyre_table_add_strbuf(table, &last);
    vyre_strbuf_free(&last);
}

static void expect_table(vyre_format format, const char *expected) {
    vyre_strbuf text = {0};
    vyre_table table;
    fill(&table);
    vyre_table_write(&text, &table, format);
    assert_string_equal(vyre_strbuf_string(&text), expected);
    vyre_strbuf_free(&text);
}

static void table_is_text_markdown_or_csv(void **state) {
    (void)state;
    expect_table(VYRE_FORMAT_TEXT, "name  size  note\n"
                                   "a|b   1024  says \"hi\", twice\n"
                                   "c-7         two\nlines\n");
    expect_table(VYRE_FORMAT_MARKDOWN, "| name | size | note |\n"
                                       "|---|---:|---|\n"
                                       "| `a\\|b` | 1024 | says \"hi\", twice |\n"
                                       "| `c-7` |  | two lines |\n");
    expect_table(VYRE_FORMAT_CSV, "name,size,note\n"
                                  "a|b,1024,\"says \"\"hi\"\", twice\"\n"
                                  "c-7,,\"two\nlines\"\n");
}

static void table_fails_the_text_without_memory(void **state) {
    (void)state;
    size_t n = 1;
    for (; failing_allocator_start(n); n++) {
        vyre_strbuf text = {0};
        vyre_table table;
        fill(&table);
        vyre_table_write(&text, &table, VYRE_FORMAT_TEXT);
        bool failed = text.failed;
        vyre_strbuf_free(&text);
        failing_allocator_stop();
        assert_int_equal(failed, failing_allocator_failed());
        if (!failed) {
            break;
        }
    }
    assert_true(n > 3);
}

static void page_wraps_words_at_its_width(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_page_wrap(&text,
                   "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 01234567 "
                   "0123456789",
                   4, 0);
    assert_string_equal(vyre_strbuf_string(&text),
                        "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
                        "01234567\n    0123456789\n");
    vyre_strbuf_free(&text);
}

static void units_suit_their_amounts(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    static const uint64_t times[] = {0, 999, 1000, 12345, 999999, 2000000000, 3500000000000};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        vyre_units_time(&text, times[i]);
        vyre_strbuf_putc(&text, ' ');
    }
    assert_string_equal(vyre_strbuf_string(&text),
                        "0 ns 999 ns 1.00 us 12.34 us 999.99 us 2.00 s 3500.00 s ");
    vyre_strbuf_cut(&text, 0);
    static const uint64_t sizes[] = {0, 1, 1023, 1024, 1536, (uint64_t)1 << 30, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        vyre_units_bytes(&text, sizes[i]);
        vyre_strbuf_putc(&text, ' ');
    }
    assert_string_equal(vyre_strbuf_string(&text), "0 bytes 1 byte 1023 bytes 1.0 KiB 1.5 KiB "
                                                   "1.0 GiB 16777216.0 TiB ");
    vyre_strbuf_cut(&text, 0);
    vyre_units_rate(&text, 3.14159e9, "B/s");
    vyre_units_rate(&text, 12, "B/s");
    assert_string_equal(vyre_strbuf_string(&text), "3.14 GB/s0.0120 kB/s");
    assert_string_equal(vyre_plural(1), "");
    assert_string_equal(vyre_plural(0), "s");
    vyre_strbuf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_text_markdown_or_csv),
        cmocka_unit_test(table_fails_the_text_without_memory),
        cmocka_unit_test(page_wraps_words_at_its_width),
        cmocka_unit_test(units_suit_their_amounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
