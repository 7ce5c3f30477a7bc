#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "tests/unit/failing_allocator.h"

static void json_nests_objects_and_arrays(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_json json = {.text = &text};
    vyre_json_object(&json);
    vyre_json_key(&json, "name");
    vyre_json_string(&json, "saxpy");
    vyre_json_key(&json, "sizes");
    vyre_json_array(&json);
    vyre_json_u64(&json, 1);
    vyre_json_array(&json);
    vyre_json_array_end(&json);
    vyre_json_object(&json);
    vyre_json_object_end(&json);
    vyre_json_array_end(&json);
    vyre_json_key(&json, "last");
    vyre_json_null(&json);
    vyre_json_object_end(&json);
    assert_string_equal(vyre_strbuf_string(&text), "{\n"
                                                   "  \"name\": \"saxpy\",\n"
                                                   "  \"sizes\": [\n"
                                                   "    1,\n"
                                                   "    [],\n"
                                                   "    {}\n"
                                                   "  ],\n"
                                                   "  \"last\": null\n"
                                                   "}");
    vyre_strbuf_free(&text);
}

static void json_writes_every_kind_of_value_to_its_limits(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_json json = {.text = &text};
    vyre_json_array(&json);
    vyre_json_u64(&json, UINT64_MAX);
    vyre_json_u64(&json, 0);
    vyre_json_bool(&json, true);
    vyre_json_bool(&json, false);
    vyre_json_f64(&json, 0.1);
    vyre_json_f64(&json, 1.0);
    vyre_json_f64(&json, -0.0);
    vyre_json_f64(&json, 1e300);
    vyre_json_f64(&json, 5e-324);
    vyre_json_f64(&json, (double)NAN);
    vyre_json_f64(&json, (double)-INFINITY);
    vyre_json_array_end(&json);
    assert_string_equal(vyre_strbuf_string(&text), "[\n"
                                                   "  18446744073709551615,\n"
                                                   "  0,\n"
                                                   "  true,\n"
                                                   "  false,\n"
                                                   "  0.1,\n"
                                                   "  1.0,\n"
                                                   "  -0.0,\n"
                                                   "  1e300,\n"
                                                   "  5e-324,\n"
                                                   "  null,\n"
                                                   "  null\n"
                                                   "]");
    vyre_strbuf_free(&text);
}

static void check_string(vyre_str string, const char *expected) {
    vyre_strbuf text = {0};
    vyre_json json = {.text = &text};
    vyre_json_str(&json, string);
    assert_string_equal(vyre_strbuf_string(&text), expected);
    vyre_strbuf_free(&text);
}

static void json_escapes_what_must_be(void **state) {
    (void)state;
    check_string((vyre_str){"a\"b\\c/\n\r\t", 9}, "\"a\\\"b\\\\c/\\n\\r\\t\"");
    check_string((vyre_str){"\0\x01\x1f\x7f", 4}, "\"\\u0000\\u0001\\u001f\\u007f\"");
    check_string((vyre_str){NULL, 0}, "\"\"");
}

/* A reader that decodes finds the same characters; a terminal does not. */
static void json_escapes_what_could_act_on_a_terminal(void **state) {
    (void)state;
    check_string((vyre_str){"\x1b\x7f\xc2\x9b\xe2\x80\xae\xe2\x81\xa9\xe2\x80\xa8", 13},
                 "\"\\u001b\\u007f\\u009b\\u202e\\u2069\\u2028\"");
}

static void json_keeps_utf8_and_replaces_the_rest(void **state) {
    (void)state;
    check_string((vyre_str){"\xc3\xa9\xf0\x9f\x98\x80", 6}, "\"\xc3\xa9\xf0\x9f\x98\x80\"");
    check_string((vyre_str){"a\xff\xc3", 3}, "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
    check_string((vyre_str){"\xed\xa0\x80", 3}, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void json_shows_every_failed_allocation(void **state) {
    (void)state;
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_strbuf text = {0};
        vyre_json json = {.text = &text};
        vyre_json_object(&json);
        for (int i = 0; i < 100; i++) {
            vyre_json_key(&json, "a key");
            vyre_json_f64(&json, 1.0 / 3);
        }
        vyre_json_object_end(&json);
        bool failed = text.failed;
        vyre_strbuf_free(&text);
        failing_allocator_stop();
        assert_int_equal(failed, failing_allocator_failed());
        if (!failed) {
            assert_true(n > 3);
            break;
        }
    }
}

static void json_pastes_what_another_writer_wrote(void **state) {
    (void)state;
    const char *value = "[\n  \"a\\n\"\n]\n";
    vyre_strbuf text = {0};
    vyre_json json = {.text = &text};
    vyre_json_object(&json);
    vyre_json_key(&json, "list");
    vyre_json_paste(&json, (vyre_str){value, 12});
    vyre_json_key(&json, "next");
    vyre_json_paste(&json, (vyre_str){"1", 1});
    vyre_json_object_end(&json);
    assert_string_equal(vyre_strbuf_string(&text), "{\n"
                                                   "  \"list\": [\n"
                                                   "    \"a\\n\"\n"
                                                   "  ],\n"
                                                   "  \"next\": 1\n"
                                                   "}");
    vyre_strbuf_free(&text);
}

static void json_members_have_key_and_value(void **state) {
    (void)state;
    vyre_strbuf text = {0}, part = {0};
    vyre_json json = {.text = &text};
    vyre_strbuf_puts(&part, "made up");
    vyre_json_object(&json);
    vyre_json_add_string(&json, "name", "saxpy");
    vyre_json_add_string(&json, "none", NULL);
    vyre_json_add_u64(&json, "count", UINT64_MAX);
    vyre_json_add_f64(&json, "share", 0.25);
    vyre_json_add_bool(&json, "valid", true);
    vyre_json_add_strbuf(&json, "part", &part);
    vyre_json_add_object(&json, "object");
    vyre_json_object_end(&json);
    vyre_json_add_array(&json, "array");
    vyre_json_array_end(&json);
    vyre_json_object_end(&json);
    assert_null(part.data);
    assert_string_equal(vyre_strbuf_string(&text), "{\n"
                                                   "  \"name\": \"saxpy\",\n"
                                                   "  \"none\": null,\n"
                                                   "  \"count\": 18446744073709551615,\n"
                                                   "  \"share\": 0.25,\n"
                                                   "  \"valid\": true,\n"
                                                   "  \"part\": \"made up\",\n"
                                                   "  \"object\": {},\n"
                                                   "  \"array\": []\n"
                                                   "}");
    vyre_strbuf_free(&text);
    part.failed = true;
    vyre_json_add_strbuf(&json, "part", &part);
    assert_true(text.failed);
    vyre_strbuf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_nests_objects_and_arrays),
        cmocka_unit_test(json_writes_every_kind_of_value_to_its_limits),
        cmocka_unit_test(json_escapes_what_must_be),
        cmocka_unit_test(json_escapes_what_could_act_on_a_terminal),
        cmocka_unit_test(json_keeps_utf8_and_replaces_the_rest),
        cmocka_unit_test(json_pastes_what_another_writer_wrote),
        cmocka_unit_test(json_members_have_key_and_value),
        cmocka_unit_test(json_shows_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
