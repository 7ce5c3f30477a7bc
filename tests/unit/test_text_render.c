#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/text.h>

#include "ir/diagnostic.h"

static vyre_diagnostics *make(void) {
    vyre_diagnostics *list;
    vyre_status status = vyre_diagnostics_create(&list);
    assert_null(status);
    return list;
}

static void check(vyre_diagnostics *list, const char *text, vyre_diagnostic_form form,
                  const char *expected) {
    char *out;
    size_t size;
    vyre_status status =
        vyre_diagnostics_render(list, "file.vyre", text, strlen(text), form, &out, &size);
    assert_null(status);
    assert_string_equal(out, expected);
    assert_int_equal(size, strlen(expected));
    vyre_string_free(out);
    vyre_diagnostics_free(list);
}

static vyre_diagnostic at(uint32_t line, uint32_t column, uint32_t length) {
    return (vyre_diagnostic){.line = line, .column = column, .length = length, .inst = VYRE_NONE};
}

static void nothing_is_an_empty_text(void **state) {
    (void)state;
    check(make(), "", VYRE_FORM_TEXT, "");
    check(make(), "", VYRE_FORM_JSON, "[]\n");
}

static void a_diagnostic_shows_its_line(void **state) {
    (void)state;
    vyre_diagnostics *list = make();
    vyre_diagnostic place = at(2, 9, 3);
    vyre_diagnostics_add(list, &place, 301, "convert it", "operand 2 is %s", "f32");
    check(list, "first\nlet y = 1.5;\nthird\n", VYRE_FORM_TEXT,
          "file.vyre:2:9: error[V0301]: operand 2 is f32\n"
          " 2 | let y = 1.5;\n"
          "   |         ^~~\n"
          "   = Fix: convert it\n");
}

static void colours_are_put_around(void **state) {
    (void)state;
    vyre_diagnostics *list = make();
    vyre_diagnostic place = at(1, 1, 1);
    vyre_diagnostics_add(list, &place, 801, "remove it", "not used");
    check(list, "x", VYRE_FORM_COLOR_TEXT,
          "\033[1mfile.vyre:1:1:\033[0m \033[1;35mwarning[V0801]\033[0m\033[1m: not used\033[0m\n"
          " \033[34m1 |\033[0m x\n"
          "   \033[34m|\033[0m \033[1;32m^\033[0m\n"
          "   \033[36m= Fix: \033[0mremove it\n");
}

static void functions_and_calls_are_named(void **state) {
    (void)state;
    vyre_diagnostics *list = make();
    vyre_diagnostic place = at(10, 1, 0);
    place.calls = &(vyre_diagnostic_call){.function = "f", .line = 3, .column = 7};
    vyre_diagnostics_add(list, &place, 302, "convert", "differ");
    check(list, "\n\n\n\n\n\n\n\n\nname+1", VYRE_FORM_TEXT,
          "file.vyre:10:1: error[V0302]: differ\n"
          " 10 | name+1\n"
          "    | ^~~~\n"
          "    = In: function `f`, called in line 3, column 7\n"
          "    = Fix: convert\n");
}

static void what_has_no_place_has_no_line(void **state) {
    (void)state;
    vyre_diagnostics *list = make();
    vyre_diagnostic place = at(0, 0, 0);
    vyre_diagnostics_add(list, &place, 701, "split it", "too large");
    check(list, "text", VYRE_FORM_TEXT,
          "file.vyre: error[V0701]: too large\n"
          "   = Fix: split it\n");
    list = make();
    place = at(9, 3, 1);
    vyre_diagnostics_add(list, &place, 102, "end it", "beyond");
    check(list, "text", VYRE_FORM_TEXT,
          "file.vyre:9:3: error[V0102]: beyond\n"
          "   = Fix: end it\n");
}

static void carets_stand_under_tabs_and_wide_text(void **state) {
    (void)state;
    vyre_diagnostics *list = make();
    vyre_diagnostic place = at(1, 9, 4);
    vyre_diagnostics_add(list, &place, 201, "fix", "tab");
    check(list, "\t\xc3\xa4 \xe2\x82\xac b\tc", VYRE_FORM_TEXT,
          "file.vyre:1:9: error[V0201]: tab\n"
          " 1 |     \xc3\xa4 \xe2\x82\xac b   c\n"
          "   |         ^~~~~\n"
          "   = Fix: fix\n");
}

static void nothing_can_act_on_a_terminal(void **state) {
    (void)state;
    vyre_diagnostics *list = make();
    vyre_diagnostic place = at(1, 3, 1);
    vyre_diagnostics_add(list, &place, 101, "remove \033[31m it", "found \x07 here");
    check(list,
          "a\033b\xff\xe2\x80\xae"
          "c\x9b",
          VYRE_FORM_TEXT,
          "file.vyre:1:3: error[V0101]: found \\x07 here\n"
          " 1 | a\\x1bb\\xff\\u{202e}c\\x9b\n"
          "   |      ^\n"
          "   = Fix: remove \\x1b[31m it\n");
}

static void long_lines_are_cut(void **state) {
    (void)state;
    char text[1001];
    memset(text, 'a', 1000);
    text[1000] = '\0';
    text[500] = 'b';
    vyre_diagnostics *list = make();
    vyre_diagnostic place = at(1, 501, 1);
    vyre_diagnostics_add(list, &place, 201, "fix", "long");
    char *out;
    size_t size;
    vyre_status status =
        vyre_diagnostics_render(list, "f", text, 1000, VYRE_FORM_TEXT, &out, &size);
    assert_null(status);
    assert_true(size < 300);
    const char *line = strstr(out, " 1 | ...a"), *caret = strchr(out, '^');
    assert_non_null(line);
    assert_non_null(caret);
    const char *under = strstr(out, "   | ");
    assert_int_equal(strchr(line, 'b') - line, caret - under);
    vyre_string_free(out);
    vyre_diagnostics_free(list);
}

static void json_has_every_field(void **state) {
    (void)state;
    vyre_diagnostics *list = make();
    vyre_diagnostic place = at(2, 3, 4);
    place.calls = &(vyre_diagnostic_call){.function = "f", .line = 7, .column = 8};
    place.inst = 5;
    vyre_diagnostics_add(list, &place, 107, "say \"so\"", "no effect");
    check(list, "", VYRE_FORM_JSON,
          "[\n"
          "  {\n"
          "    \"severity\": \"error\",\n"
          "    \"code\": \"V0107\",\n"
          "    \"title\": \"statement without effect\",\n"
          "    \"message\": \"no effect\",\n"
          "    \"fix\": \"say \\\"so\\\"\",\n"
          "    \"file\": \"file.vyre\",\n"
          "    \"line\": 2,\n"
          "    \"column\": 3,\n"
          "    \"length\": 4,\n"
          "    \"function\": \"f\",\n"
          "    \"call_line\": 7,\n"
          "    \"call_column\": 8,\n"
          "    \"instruction\": 5\n"
          "  }\n"
          "]\n");
}

static void a_text_without_a_name_is_called_text(void **state) {
    (void)state;
    static const struct {
        vyre_diagnostic_form form;
        const char *words;
    } rows[] = {{VYRE_FORM_TEXT, "text:1:1: error"},
                {VYRE_FORM_COLOR_TEXT, "text:1:1:"},
                {VYRE_FORM_JSON, "\"file\": \"text\""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_diagnostics *list = make();
        vyre_diagnostic place = at(1, 1, 1);
        vyre_diagnostics_add(list, &place, 301, "convert it", "wrong");
        char *out;
        size_t size;
        vyre_status status = vyre_diagnostics_render(list, NULL, "x", 1, rows[i].form, &out, &size);
        assert_null(status);
        assert_non_null(strstr(out, rows[i].words));
        vyre_string_free(out);
        vyre_diagnostics_free(list);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_an_empty_text),
        cmocka_unit_test(a_diagnostic_shows_its_line),
        cmocka_unit_test(colours_are_put_around),
        cmocka_unit_test(functions_and_calls_are_named),
        cmocka_unit_test(what_has_no_place_has_no_line),
        cmocka_unit_test(carets_stand_under_tabs_and_wide_text),
        cmocka_unit_test(nothing_can_act_on_a_terminal),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(json_has_every_field),
        cmocka_unit_test(a_text_without_a_name_is_called_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
