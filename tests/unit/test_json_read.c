#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_read.h"
#include "tests/unit/failing_allocator.h"

static vyre_json_document *read_text(const char *text) {
    vyre_json_document *document;
    vyre_status status = vyre_json_read("a.json", text, strlen(text), &document);
    if (status) {
        print_error("%s\n", vyre_status_text(status));
    }
    assert_null(status);
    return document;
}

static void json_read_gives_every_kind_of_value(void **state) {
    (void)state;
    vyre_json_document *document = read_text(
        " {\"a\": [1, -2.5e3, 0, true, false, null, \"x\"], \"b\": {}, \"c\": [], \"b\": 7}\r\n");
    const vyre_json_value *root = vyre_json_root(document);
    assert_int_equal(root->type, VYRE_JSON_OBJECT);
    assert_int_equal(root->count, 4);
    const vyre_json_value *item = vyre_json_find(root, "a")->first;
    assert_true(item->type == VYRE_JSON_NUMBER && item->number == 1);
    item = item->next;
    assert_true(item->number == -2500);
    item = item->next;
    assert_true(item->number == 0);
    item = item->next;
    assert_true(item->type == VYRE_JSON_BOOL && item->boolean);
    item = item->next;
    assert_true(item->type == VYRE_JSON_BOOL && !item->boolean);
    item = item->next;
    assert_true(item->type == VYRE_JSON_NULL);
    item = item->next;
    assert_true(item->type == VYRE_JSON_STRING);
    assert_string_equal(item->string.data, "x");
    assert_null(item->next);
    assert_true(vyre_json_find(root, "b")->number == 7); /* the last one */
    assert_int_equal(vyre_json_find(root, "c")->count, 0);
    assert_null(vyre_json_find(root, "d"));
    assert_null(vyre_json_find(vyre_json_find(root, "c"), "a"));
    vyre_json_free(document);
}

static void json_read_resolves_escapes(void **state) {
    (void)state;
    vyre_json_document *document =
        read_text("\"\\\"\\\\\\/\\b\\f\\n\\r\\t \\u00e9 \\ud83d\\ude00 \\u0000!\"");
    const vyre_json_value *root = vyre_json_root(document);
    const char expected[] = "\"\\/\b\f\n\r\t \xc3\xa9 \xf0\x9f\x98\x80 \0!";
    assert_int_equal(root->string.size, sizeof expected - 1);
    assert_memory_equal(root->string.data, expected, sizeof expected);
    vyre_json_free(document);
}

static void json_read_rounds_numbers_once(void **state) {
    (void)state;
    vyre_json_document *document = read_text("[0.1, 1e400, 9007199254740993, 5e-324]");
    const vyre_json_value *item = vyre_json_root(document)->first;
    assert_true(item->number == 0.1);
    item = item->next;
    assert_true(isinf(item->number));
    item = item->next;
    assert_true(item->number == 9007199254740992.0);
    item = item->next;
    assert_true(item->number == 5e-324);
    vyre_json_free(document);
}

static void json_read_refuses_what_is_no_json(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "   ",
        "{",
        "[1,]",
        "[1 2]",
        "{\"a\" 1}",
        "{\"a\":1,}",
        "{1:2}",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "+1",
        "nan",
        "tru",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\n\"",
        "\"\xff\"",
        "1 2",
        "[1",
        "{\"a\":",
        "0x10",
        "1_0",
        "'a'",
        "[\"\xc3\"]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        vyre_json_document *document;
        vyre_status status = vyre_json_read("a.json", texts[i], strlen(texts[i]), &document);
        if (!status) {
            print_error("was read: %s\n", texts[i]);
        }
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_MALFORMED);
        assert_null(document);
        assert_non_null(strstr(vyre_status_text(status), "Fix: "));
        vyre_status_free(status);
    }
    vyre_json_document *document;
    vyre_status status = vyre_json_read("a.json", "[1,\n  x]", 8, &document);
    assert_non_null(strstr(vyre_status_text(status), "a.json:2:3"));
    vyre_status_free(status);
    const char with_nul[] = "[1,\0]";
    status = vyre_json_read("a.json", with_nul, sizeof with_nul - 1, &document);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_MALFORMED);
    vyre_status_free(status);
}

static void json_read_has_a_depth(void **state) {
    (void)state;
    char text[2 * VYRE_JSON_MAX_DEPTH + 4];
    for (int deep = VYRE_JSON_MAX_DEPTH; deep <= VYRE_JSON_MAX_DEPTH + 1; deep++) {
        memset(text, '[', (size_t)deep);
        memset(text + deep, ']', (size_t)deep);
        vyre_json_document *document;
        vyre_status status = vyre_json_read("a.json", text, 2 * (size_t)deep, &document);
        assert_true((status != NULL) == (deep > VYRE_JSON_MAX_DEPTH));
        vyre_status_free(status);
        vyre_json_free(document);
    }
}

static void json_read_survives_failing_allocations(void **state) {
    (void)state;
    static const char text[] =
        "{\"name\": \"a longer string than that\", \"list\": [1, {\"b\": []}]}";
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_json_document *document;
        vyre_status status = vyre_json_read("a.json", text, sizeof text - 1, &document);
        assert_true((status == NULL) == (document != NULL));
        vyre_status_code code = vyre_status_code_of(status);
        vyre_status_free(status);
        vyre_json_free(document);
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            break;
        }
        assert_int_equal(code, VYRE_STATUS_OUT_OF_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_read_gives_every_kind_of_value),
        cmocka_unit_test(json_read_resolves_escapes),
        cmocka_unit_test(json_read_rounds_numbers_once),
        cmocka_unit_test(json_read_refuses_what_is_no_json),
        cmocka_unit_test(json_read_has_a_depth),
        cmocka_unit_test(json_read_survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
