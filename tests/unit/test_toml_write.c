#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/toml.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/toml_equal.h"

static vyre_str str(const char *string) {
    return (vyre_str){string, strlen(string)};
}

static vyre_toml *read_text(vyre_str text) {
    vyre_toml *document;
    vyre_status status = vyre_toml_read("test.toml", text.data, text.size, &document);
    if (status) {
        fail_msg("%s\n%s", vyre_status_text(status), text.data);
    }
    return document;
}

/* Reads, writes, compares the text, reads again, compares the documents. */
static void check(const char *text, const char *expected) {
    vyre_strbuf written = {0};
    vyre_toml *document = read_text(str(text));
    toml_write_all(&written, document);
    assert_string_equal(vyre_strbuf_string(&written), expected);
    vyre_toml *again = read_text((vyre_str){vyre_strbuf_string(&written), written.size});
    assert_true(toml_equal(vyre_toml_root(document), vyre_toml_root(again)));
    vyre_toml_free(again);
    vyre_toml_free(document);
    vyre_strbuf_free(&written);
}

static void toml_write_uses_inline_tables_in_mixed_arrays(void **state) {
    (void)state;
    check("a = [1, { b = { c = [] } }, {}]", "a = [1, {b = {c = []}}, {}]\n");
    check("a = [[{}]]", "a = [[{}]]\n");
    check("a = []", "a = []\n");
}

static void toml_write_quotes_what_must_be(void **state) {
    (void)state;
    check("'' = 1\n'a b' = 2\n'a.b' = 3\n-_9 = 4\n\"\\u00e9\" = 5",
          "\"\" = 1\n\"a b\" = 2\n\"a.b\" = 3\n-_9 = 4\n\"\xc3\xa9\" = 5\n");
    check("s = \"q\\\"b\\\\ \\b\\t\\n\\f\\r \\u0000\\u001f\\u007f \xc3\xa9'\"",
          "s = \"q\\\"b\\\\ \\b\\t\\n\\f\\r \\u0000\\u001F\\u007F \xc3\xa9'\"\n");
    check("['a b'.c]\nx = 1", "\"a b\" = {c = {x = 1}}\n");
}

static void toml_write_keeps_every_kind_of_value(void **state) {
    (void)state;
    check("a = -9223372036854775808\nb = 9223372036854775807\nc = 0.1\nd = 1e300\ne = -0.0\n"
          "f = -inf\ng = nan\nh = true\ni = false\n",
          "a = -9223372036854775808\nb = 9223372036854775807\nc = 0.1\nd = 1e300\ne = -0.0\n"
          "f = -inf\ng = nan\nh = true\ni = false\n");
}

static void toml_write_keeps_dates_and_times(void **state) {
    (void)state;
    check("a = 1979-05-27 07:32:00.250z\nb = 0001-01-01T00:00:00-00:30\nc = 9999-12-31t23:59:60\n"
          "d = 1979-05-27\ne = 07:32:00.000000001\nf = 1979-05-27T00:00:00+14:00",
          "a = 1979-05-27T07:32:00.25Z\nb = 0001-01-01T00:00:00-00:30\nc = 9999-12-31T23:59:60\n"
          "d = 1979-05-27\ne = 07:32:00.000000001\nf = 1979-05-27T00:00:00+14:00\n");
}

static void toml_write_breaks_long_arrays_into_lines(void **state) {
    (void)state;
    vyre_strbuf text = {0}, written = {0};
    vyre_strbuf_puts(&text, "a = [");
    for (int i = 0; i < 200; i++) {
        vyre_strbuf_printf(&text, "{n = %d, list = [1, 2, 3]}, ", i);
    }
    vyre_strbuf_puts(&text, "1]\nb = 2\n");
    vyre_toml *document = read_text((vyre_str){text.data, text.size});
    toml_write_all(&written, document);
    for (const char *line = vyre_strbuf_string(&written); *line; line = strchr(line, '\n') + 1) {
        assert_true(strcspn(line, "\n") < 130);
    }
    vyre_toml *again = read_text((vyre_str){written.data, written.size});
    assert_true(toml_equal(vyre_toml_root(document), vyre_toml_root(again)));
    vyre_toml_free(again);
    vyre_toml_free(document);
    vyre_strbuf_free(&written);
    vyre_strbuf_free(&text);
}

static void toml_write_goes_as_deep_as_reading_does(void **state) {
    (void)state;
    vyre_strbuf text = {0}, written = {0};
    for (int i = 0; i < VYRE_TOML_MAX_DEPTH - 1; i++) {
        vyre_strbuf_puts(&text, i == 0 ? "[a" : ".a");
    }
    vyre_strbuf_puts(&text, "]\nb = [1]\n");
    vyre_toml *document = read_text((vyre_str){text.data, text.size});
    toml_write_all(&written, document);
    vyre_toml *again = read_text((vyre_str){written.data, written.size});
    assert_true(toml_equal(vyre_toml_root(document), vyre_toml_root(again)));
    vyre_toml_free(again);
    vyre_toml_free(document);
    vyre_strbuf_free(&written);
    vyre_strbuf_free(&text);
}

static void write_by_calls(vyre_strbuf *text) {
    vyre_toml_writer writer = {.text = text};
    vyre_toml_write_key(&writer, str("version"));
    vyre_toml_write_integer(&writer, -1);
    vyre_toml_write_header(&writer, (vyre_str[]){str("routes"), str("hash.fnv")}, 2);
    vyre_toml_write_key(&writer, str("backend"));
    vyre_toml_write_string(&writer, str("cu\"da"));
    vyre_toml_write_key(&writer, str("sizes"));
    vyre_toml_write_array(&writer);
    vyre_toml_write_integer(&writer, 1);
    vyre_toml_write_array(&writer);
    vyre_toml_write_float(&writer, 2);
    vyre_toml_write_bool(&writer, true);
    vyre_toml_write_array_end(&writer);
    vyre_toml_write_array_end(&writer);
    vyre_str observations[] = {str("routes"), str("hash.fnv"), str("observations")};
    for (int i = 0; i < 2; i++) {
        vyre_toml_write_item_header(&writer, observations, 3);
        vyre_toml_write_key(&writer, str("latency_ns"));
        vyre_toml_write_integer(&writer, 100 + i);
    }
}

static const char by_calls[] = "version = -1\n"
                               "\n"
                               "[routes.\"hash.fnv\"]\n"
                               "backend = \"cu\\\"da\"\n"
                               "sizes = [1, [2.0, true]]\n"
                               "\n"
                               "[[routes.\"hash.fnv\".observations]]\n"
                               "latency_ns = 100\n"
                               "\n"
                               "[[routes.\"hash.fnv\".observations]]\n"
                               "latency_ns = 101\n";

static void toml_write_by_calls_gives_text_that_reads(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    write_by_calls(&text);
    assert_string_equal(vyre_strbuf_string(&text), by_calls);
    vyre_toml_free(read_text((vyre_str){text.data, text.size}));
    vyre_strbuf_free(&text);
}

static void toml_write_shows_every_failed_allocation(void **state) {
    (void)state;
    vyre_toml *document = read_text(str(by_calls));
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_strbuf from_calls = {0}, from_document = {0};
        write_by_calls(&from_calls);
        toml_write_all(&from_document, document);
        bool failed = from_calls.failed || from_document.failed;
        vyre_strbuf_free(&from_calls);
        vyre_strbuf_free(&from_document);
        failing_allocator_stop();
        assert_int_equal(failed, failing_allocator_failed());
        if (!failed) {
            assert_true(n > 3);
            break;
        }
    }
    vyre_toml_free(document);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(toml_write_uses_inline_tables_in_mixed_arrays),
        cmocka_unit_test(toml_write_quotes_what_must_be),
        cmocka_unit_test(toml_write_keeps_every_kind_of_value),
        cmocka_unit_test(toml_write_keeps_dates_and_times),
        cmocka_unit_test(toml_write_breaks_long_arrays_into_lines),
        cmocka_unit_test(toml_write_goes_as_deep_as_reading_does),
        cmocka_unit_test(toml_write_by_calls_gives_text_that_reads),
        cmocka_unit_test(toml_write_shows_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
