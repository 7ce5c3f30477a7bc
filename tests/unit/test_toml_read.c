#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/toml.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/toml_equal.h"

static vyre_toml *read_text(const char *text) {
    vyre_toml *document;
    vyre_status status = vyre_toml_read("test.toml", text, strlen(text), &document);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    return document;
}

/* The value at a path of keys and indices such as "a.2.b". */
static const vyre_toml_value *look(const vyre_toml *document, const char *path) {
    const vyre_toml_value *value = vyre_toml_root(document);
    while (*path) {
        size_t size = strcspn(path, ".");
        if (value->type == VYRE_TOML_ARRAY) {
            size_t index = strtoul(path, NULL, 10);
            assert_true(index < value->array.count);
            value = &value->array.items[index];
        } else {
            char key[100];
            assert_int_equal(value->type, VYRE_TOML_TABLE);
            assert_true(size < sizeof key);
            memcpy(key, path, size);
            key[size] = '\0';
            value = vyre_toml_find(value, key);
            assert_non_null(value);
        }
        path += size + (path[size] == '.');
    }
    return value;
}

/* Pairs of texts that mean the same. */
static void toml_different_ways_to_write_are_equal(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"a.b.c = 1", "[a.b]\nc = 1"},
        {"a.b.c = 1", "a = { b = { c = 1 } }"},
        {"[a]\n[a.b]\nc = 1", "[a.b]\nc = 1\n[a]"},
        {"a = [ { b = 1 }, { b = 2 } ]", "[[a]]\nb = 1\n[[a]]\nb = 2"},
        {"x = 1 # comment\r\n\r\ny = 2\r\n", "y=2\nx=1"},
        {"'a' . \"b\" = 1", "a.b = 1"},
        {"\"\\u0061\" = 'x'", "a = \"x\""},
        {"s = \"\"\"\none\r\ntwo\"\"\"", "s = \"one\\ntwo\""},
        {"s = \"\"\"a \\  \n\n   b\"\"\"", "s = 'a b'"},
        {"s = '''\n'a'\\n'''", "s = \"'a'\\\\n\""},
        {"s = \"\"\"\"quoted\"\"\"\"\"", "s = \"\\\"quoted\\\"\\\"\""},
        {"s = ''''''", "s = ''"},
        {"i = 0xff_FF", "i = 65_535"},
        {"i = 0o17\nj = 0b101", "i = 15\nj = 5"},
        {"i = -9223372036854775808", "i = -9_223_372_036_854_775_808"},
        {"f = 1_0.5e+0_1", "f = 105.0"},
        {"f = +inf\ng = -nan", "f = inf\ng = nan"},
        {"t = 1979-05-27t07:32:00z", "t = 1979-05-27 07:32:00.000+00:00"},
        {"t = 07:32:00.1234567891", "t = 07:32:00.123456789"},
        {"a = [\n1, # one\n2,\n]", "a = [1,2]"},
        /* What TOML 1.1 adds. */
        {"a = {\n  b = 1, # one\n  c = {\n  },\n}", "a = { b = 1, c = {} }"},
        {"a = { # nothing\n}", "a = {}"},
        {"s = \"\\e\\x41\\xe9\"", "s = \"\\u001bA\\u00e9\""},
        {"t = 07:32", "t = 07:32:00"},
        {"t = 1979-05-27 07:32", "t = 1979-05-27T07:32:00"},
        {"t = 1979-05-27T07:32-07:00", "t = 1979-05-27T07:32:00-07:00"},
        {"[ a . b ]\n[ a . 'c' ]", "[a.b]\n[a.c]"},
        {"[a.b.c]\n[a]\nb.d = 1", "a.b = {c = {}, d = 1}"},
        {"[a]\nb.c = 1\n[a.b.d]\ne = 2", "a.b = {c = 1, d = {e = 2}}"},
        {"[[a]]\n[a.b]\nx = 1\n[[a]]\n[a.b]\nx = 2", "a = [{b = {x = 1}}, {b = {x = 2}}]"},
        {"[[a.b]]\n[[a.b.c]]\n[[a.b.c]]", "a.b = [{c = [{}, {}]}]"},
        {"\xef\xbb\xbf"
         "a = 1",
         "a = 1"},
        {"", "\n# nothing\n"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        vyre_toml *left = read_text(pairs[i][0]), *right = read_text(pairs[i][1]);
        if (!toml_equal(vyre_toml_root(left), vyre_toml_root(right))) {
            fail_msg("not equal:\n%s\nand\n%s", pairs[i][0], pairs[i][1]);
        }
        vyre_toml_free(left);
        vyre_toml_free(right);
    }
}

static void toml_values_have_their_types_and_numbers(void **state) {
    (void)state;
    vyre_toml *document = read_text("string = \"a\\u00e9\\U0001F600\\u0000b\"\n"
                                    "integer = -42\n"
                                    "float = 6.26e-34\n"
                                    "bool = true\n"
                                    "offset = 1979-05-27T07:32:01.5-07:30\n"
                                    "local = 1979-05-27T07:32:60\n"
                                    "date = 2000-02-29\n"
                                    "time = 23:59:59.000000001\n"
                                    "array = [[1, 2], 'x', {y = 3}]\n");
    vyre_str string = look(document, "string")->string;
    assert_int_equal(string.size, 9);
    assert_memory_equal(string.data, "a\xc3\xa9\xf0\x9f\x98\x80\0b", 10);
    assert_int_equal(look(document, "integer")->integer, -42);
    assert_true(look(document, "float")->number == 6.26e-34);
    assert_true(look(document, "bool")->boolean);
    const vyre_toml_value *offset = look(document, "offset");
    assert_int_equal(offset->type, VYRE_TOML_OFFSET_DATE_TIME);
    assert_int_equal(offset->time.offset_minutes, -450);
    assert_int_equal(offset->time.nanosecond, 500000000);
    assert_int_equal(look(document, "local")->type, VYRE_TOML_LOCAL_DATE_TIME);
    assert_int_equal(look(document, "local")->time.second, 60);
    assert_int_equal(look(document, "date")->type, VYRE_TOML_LOCAL_DATE);
    assert_int_equal(look(document, "date")->time.day, 29);
    assert_int_equal(look(document, "time")->time.nanosecond, 1);
    assert_int_equal(look(document, "array.0.1")->integer, 2);
    assert_int_equal(look(document, "array.2.y")->integer, 3);
    vyre_toml_free(document);
}

static void check_place(const vyre_toml_value *value, uint32_t line, uint32_t column) {
    assert_int_equal(value->line, line);
    assert_int_equal(value->column, column);
}

static void toml_keys_and_values_know_their_places(void **state) {
    (void)state;
    vyre_toml *document = read_text("first = 1\r\n"
                                    "  a.b = [ 1,\n"
                                    "    \"\"\"x\n"
                                    "y\"\"\", 2 ]\n"
                                    "[ table ]\n"
                                    "key = { in = 5 }\n"
                                    "[[ items ]]\n"
                                    "[[ items ]]\n"
                                    "[under.neath]\n"
                                    "[under]\n");
    check_place(look(document, ""), 1, 1);
    check_place(look(document, "first"), 1, 9);
    check_place(look(document, "a"), 2, 3);
    check_place(look(document, "a.b"), 2, 9);
    check_place(look(document, "a.b.0"), 2, 11);
    check_place(look(document, "a.b.1"), 3, 5);
    check_place(look(document, "a.b.2"), 4, 7);
    check_place(look(document, "table"), 5, 3);
    check_place(look(document, "table.key"), 6, 7);
    check_place(look(document, "table.key.in"), 6, 14);
    check_place(look(document, "items"), 7, 4);
    check_place(look(document, "items.1"), 8, 4);
    check_place(look(document, "under"), 10, 2);
    const vyre_toml_entry *entry = look(document, "table")->table->first;
    assert_int_equal(entry->line, 6);
    assert_int_equal(entry->column, 1);
    vyre_toml_free(document);
}

static void toml_entries_keep_the_order_of_the_text(void **state) {
    (void)state;
    vyre_toml *document = read_text("z = 1\na.x = 2\nm = 3\na.y = 4\n");
    static const char *const keys[] = {"z", "a", "m"};
    size_t i = 0;
    for (const vyre_toml_entry *entry = vyre_toml_root(document)->table->first; entry;
         entry = entry->next) {
        assert_string_equal(entry->key.data, keys[i++]);
    }
    assert_int_equal(i, 3);
    assert_int_equal(vyre_toml_root(document)->table->count, 3);
    vyre_toml_free(document);
}

/* Each with the place of its error and a part of the message. */
static const struct {
    const char *text;
    uint32_t line, column;
    const char *part;
} mistakes[] = {
    {"a", 1, 2, "expected `=` after the key, found the end of the file"},
    {"a =", 1, 4, "expected a value, found the end of the file"},
    {"a = \n", 1, 5, "expected a value, found the end of the line"},
    {"= 1", 1, 1, "expected a key, found `=`"},
    {"a = 1 b = 2", 1, 7, "expected the end of the line, found `b`"},
    {"a = 1\na = 2", 2, 1, "`a` is already an integer, defined on line 1"},
    {"a = 1\n'a' = 2", 2, 1, "`a` is already"},
    {"a.b = 1\na = 2", 2, 1, "`a` is already a table"},
    {"a = 1\na.b = 2", 2, 1, "`a` is already an integer"},
    {"a = {}\na.b = 2", 2, 1, "`a` is already a table"},
    {"a = {b.c = 1, b = 2}", 1, 15, "`b` is already a table"},
    {"a = {b = {}, b.c = 1}", 1, 14, "`b` is already a table"},
    {"[a]\n[a]", 2, 2, "`a` is already a table, defined on line 1"},
    {"[a]\nb = 1\n[a.b]", 3, 4, "`b` is already an integer, defined on line 2"},
    {"[a]\nb.c = 1\n[a.b]", 3, 4, "`b` is already a table"},
    {"[a]\nb.c.d = 1\n[a.b.c]", 3, 6, "`c` is already a table"},
    {"[a.b]\n[a]\nb.c = 1", 3, 1, "`b` is already a table"},
    {"[a]\nb.c = 1\n[x]\n[a.b.d]\n[a.b]", 5, 4, "`b` is already a table"},
    {"a = []\n[[a]]", 2, 3, "`a` is already an array"},
    {"a = [{}]\n[[a]]", 2, 3, "`a` is already an array"},
    {"a = [{}]\n[a.b]", 2, 2, "`a` is already an array"},
    {"a = [{}, 1]\n[a.b]", 2, 2, "`a` is already an array"},
    {"[[a]]\n[a]", 2, 2, "`a` is already an array"},
    {"[a]\n[[a]]", 2, 3, "`a` is already a table"},
    {"[a.b]\n[[a]]", 2, 3, "`a` is already a table"},
    {"[[a.b]]\n[a]\nb.c = 1", 3, 1, "`b` is already an array"},
    {"a = {}\n[a.b]", 2, 2, "`a` is already a table"},
    {"[]", 1, 2, "expected a key, found `]`"},
    {"[a", 1, 3, "expected `]` after the name"},
    {"[a.]", 1, 4, "expected a key"},
    {"[[a]", 1, 5, "expected `]]` after the name"},
    {"[ [a]]", 1, 3, "expected a key, found `[`"},
    {"[a] b = 1", 1, 5, "expected the end of the line"},
    {"a = [1, 2", 1, 10, "expected `,` or `]` in the array"},
    {"a = [1 2]", 1, 8, "expected `,` or `]` in the array, found `2`"},
    {"a = [,]", 1, 6, "expected a value, found `,`"},
    {"a = [\n1,\n", 3, 1, "expected a value, found the end of the file"},
    {"a = {b = 1,,}", 1, 12, "expected a key, found `,`"},
    {"a = {,}", 1, 6, "expected a key, found `,`"},
    {"a = {b = 1\nc = 2}", 2, 1, "expected `,` or `}` in the inline table, found `c`"},
    {"a = {b\n= 1}", 1, 7, "expected `=` after the key"},
    {"a = \"\\x4\"", 1, 9, "a hexadecimal digit of the escape"},
    {"a = {b = 1", 1, 11, "found the end of the file"},
    {"a = \"x", 1, 5, "the string is not closed"},
    {"a = 'x\ny'", 1, 5, "the string is not closed"},
    {"a = \"\"\"x\ny", 1, 5, "the string is not closed"},
    {"a = '''x''", 1, 5, "the string is not closed"},
    {"\"\"\"a\"\"\" = 1", 1, 3, "expected `=`"},
    {"a = \"\\q\"", 1, 7, "after a backslash, found `q`"},
    {"a = \"\\u12\"", 1, 10, "a hexadecimal digit of the escape"},
    {"a = \"\\uD800\"", 1, 6, "d800 is not a character"},
    {"a = \"\\U00110000\"", 1, 6, "110000 is not a character"},
    {"a = \"x\ty\x01\"", 1, 9, "U+0001"},
    {"a = '\x7f'", 1, 6, "U+007f"},
    {"a = \"\"\"\\ x\"\"\"", 1, 9, "after a backslash"},
    {"a = 1 # \x1f", 1, 9, "U+001f"},
    {"a = [1 # \x1f\n]", 1, 10, "U+001f"},
    {"a = 1\rb = 2", 1, 6, "U+000d"},
    {"a = \"\xff\"", 1, 6, "0xff is not part of valid UTF-8"},
    {"# fine\nk\xc3\xa9 = 1", 2, 2, "expected `=` after the key, found `\xc3\xa9`"},
    {"# \xc3\xa9\nb = '\xed\xa0\x80'", 2, 6, "0xed is not part"},
    {"a = 01", 1, 5, "`01` is not a number"},
    {"a = 1__0", 1, 5, "is not a number"},
    {"a = 0xg", 1, 5, "`0xg` is not a number"},
    {"a = +0x1", 1, 5, "is not a number"},
    {"a = 0X1", 1, 5, "is not a number"},
    {"a = 1.", 1, 5, "is not a number"},
    {"a = 1.e5", 1, 5, "is not a number"},
    {"a = 03.5", 1, 5, "is not a number"},
    {"a = 1e1.5", 1, 5, "is not a number"},
    {"a = .5", 1, 5, "expected a value, found `.`"},
    {"a = 9223372036854775808", 1, 5, "does not fit in a signed integer of 64 bits"},
    {"a = -9223372036854775809", 1, 5, "does not fit"},
    {"a = 0xffffffffffffffff", 1, 5, "does not fit"},
    {"a = 1e400", 1, 5, "does not fit in a float of 64 bits"},
    {"a = True", 1, 5, "expected a value, found `T`"},
    {"a = truely", 1, 5, "expected a value, found `t`"},
    {"a = 2021-02-29", 1, 13, "expected a day of two digits from 1 to 28, found 29"},
    {"a = 1900-02-29", 1, 13, "from 1 to 28"},
    {"a = 2021-13-01", 1, 10, "a month of two digits from 1 to 12, found 13"},
    {"a = 2021-1-1", 1, 11, "expected a month of two digits, found `-`"},
    {"a = 24:00:00", 1, 5, "an hour of two digits from 0 to 23"},
    {"a = 23:60:00", 1, 8, "a minute"},
    {"a = 23:59:61", 1, 11, "a second"},
    {"a = 23:59:", 1, 11, "expected a second of two digits"},
    {"a = 23:59.5", 1, 10, "expected the end of the line"},
    {"a = 23:59:59.", 1, 14, "a digit of the fraction"},
    {"a = 2021-01-01T", 1, 16, "an hour of two digits"},
    {"a = 2021-01-01T00:00:00+24:00", 1, 25, "the offset's hours"},
    {"a = 2021-01-01T00:00:00+1:00", 1, 26, "the offset's hours"},
    {"a = 12:00:00Z", 1, 13, "expected the end of the line"},
};

static void toml_mistakes_are_refused_with_place_message_and_fix(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        vyre_toml *document;
        const char *text = mistakes[i].text, *file;
        uint32_t line, column;
        vyre_status status = vyre_toml_read("test.toml", text, strlen(text), &document);
        if (!status) {
            fail_msg("accepted: %s", text);
        }
        assert_null(document);
        assert_true(vyre_status_place(status, &file, &line, &column));
        assert_string_equal(file, "test.toml");
        if (line != mistakes[i].line || column != mistakes[i].column ||
            !strstr(vyre_status_message(status), mistakes[i].part)) {
            fail_msg("%s\ngives %s", text, vyre_status_text(status));
        }
        assert_true(strlen(vyre_status_fix(status)) > 5);
        vyre_status_free(status);
    }
}

static void toml_nul_byte_is_refused(void **state) {
    (void)state;
    vyre_toml *document;
    vyre_status status = vyre_toml_read("test.toml", "a = 1\0", 6, &document);
    assert_non_null(strstr(vyre_status_text(status), "test.toml:1:6: "));
    assert_non_null(strstr(vyre_status_text(status), "U+0000"));
    vyre_status_free(status);
}

static vyre_status_code read_repeated(const char *before, const char *part, size_t count,
                                      const char *after) {
    vyre_strbuf text = {0};
    vyre_toml *document;
    vyre_strbuf_puts(&text, before);
    for (size_t i = 0; i < count; i++) {
        vyre_strbuf_puts(&text, part);
    }
    vyre_strbuf_puts(&text, after);
    vyre_status status = vyre_toml_read("deep", vyre_strbuf_string(&text), text.size, &document);
    vyre_status_code code = vyre_status_code_of(status);
    vyre_status_free(status);
    vyre_toml_free(document);
    vyre_strbuf_free(&text);
    return code;
}

static void toml_nesting_is_bounded_however_it_is_written(void **state) {
    (void)state;
    enum { DEEP = VYRE_TOML_MAX_DEPTH };
    char close[DEEP + 2];
    memset(close, ']', sizeof close);
    close[DEEP] = '\0';
    assert_int_equal(read_repeated("a = ", "[", DEEP, close), VYRE_STATUS_OK);
    assert_int_equal(read_repeated("a = ", "[", DEEP + 1, close), VYRE_STATUS_LIMIT);
    assert_int_equal(read_repeated("a = ", "[", 1000000, ""), VYRE_STATUS_LIMIT);
    assert_int_equal(read_repeated("a = ", "{a=", 1000000, ""), VYRE_STATUS_LIMIT);
    assert_int_equal(read_repeated("a = ", "[{a=", 1000000, ""), VYRE_STATUS_LIMIT);
    assert_int_equal(read_repeated("", "a.", 1000000, "a = 1"), VYRE_STATUS_LIMIT);
    assert_int_equal(read_repeated("[", "a.", DEEP - 1, "a]"), VYRE_STATUS_OK);
    assert_int_equal(read_repeated("[", "a.", DEEP, "a]"), VYRE_STATUS_LIMIT);
    assert_int_equal(read_repeated("[", "a.", DEEP - 1, "a]\nb.c = 1"), VYRE_STATUS_LIMIT);
    assert_int_equal(read_repeated("[", "a.", DEEP - 1, "a]\nb = []"), VYRE_STATUS_LIMIT);
    assert_int_equal(read_repeated("[", "a.", DEEP - 1, "a]\nb = 1"), VYRE_STATUS_OK);
    assert_int_equal(read_repeated("[[", "a.", DEEP - 1, "a]]"), VYRE_STATUS_LIMIT);
    /* Arrays of tables count twice, also when a later header only passes through them. */
    assert_int_equal(read_repeated("[[a]]\n[", "a.", DEEP - 2, "a]"), VYRE_STATUS_OK);
    assert_int_equal(read_repeated("[[a]]\n[", "a.", DEEP - 1, "a]"), VYRE_STATUS_LIMIT);
}

static void toml_hundreds_of_thousands_of_keys_and_items_are_read(void **state) {
    (void)state;
    enum { KEYS = 200000 };
    vyre_strbuf text = {0};
    vyre_toml *document;
    for (int i = 0; i < KEYS; i++) {
        vyre_strbuf_printf(&text, "key-%d = %d\n", i, i);
    }
    for (int i = 0; i < KEYS; i++) {
        vyre_strbuf_puts(&text, "[[items]]\nx = 1\n");
    }
    vyre_strbuf_puts(&text, "[list]\narray = [");
    for (int i = 0; i < KEYS; i++) {
        vyre_strbuf_puts(&text, "'\xc3\xa9', ");
    }
    vyre_strbuf_puts(&text, "]\n");
    assert_null(vyre_toml_read("large", vyre_strbuf_string(&text), text.size, &document));
    assert_int_equal(look(document, "key-199999")->integer, 199999);
    assert_int_equal(look(document, "items")->array.count, KEYS);
    assert_int_equal(look(document, "items.131072.x")->integer, 1);
    assert_int_equal(look(document, "list.array")->array.count, KEYS);
    vyre_toml_free(document);
    vyre_strbuf_free(&text);
}

static void toml_document_beyond_the_size_limit_is_refused(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_toml *document;
    vyre_strbuf_repeat(&text, '\n', VYRE_TOML_MAX_BYTES);
    assert_null(vyre_toml_read("large", vyre_strbuf_string(&text), text.size, &document));
    vyre_toml_free(document);
    vyre_strbuf_putc(&text, '\n');
    vyre_status status = vyre_toml_read("large", vyre_strbuf_string(&text), text.size, &document);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_LIMIT);
    vyre_status_free(status);
    vyre_strbuf_free(&text);
}

static void toml_get_checks_key_and_type(void **state) {
    (void)state;
    vyre_toml *document = read_text("[backend]\n"
                                    "name = 'cuda'\n"
                                    "sizes = [1, 'two']\n");
    const vyre_toml_value *backend, *value;
    const vyre_toml_value *root = vyre_toml_root(document);
    assert_null(vyre_toml_get(root, "backend", VYRE_TOML_TABLE, &backend));
    assert_null(vyre_toml_get(backend, "name", VYRE_TOML_STRING, &value));
    assert_string_equal(value->string.data, "cuda");

    vyre_status status = vyre_toml_get(backend, "name", VYRE_TOML_INTEGER, &value);
    assert_null(value);
    assert_string_equal(vyre_status_text(status),
                        "test.toml:2:8: the value of name is a string, not an integer. "
                        "Fix: write an integer there");
    vyre_status_free(status);

    status = vyre_toml_get(backend, "device", VYRE_TOML_INTEGER, &value);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_NOT_FOUND);
    assert_string_equal(vyre_status_text(status), "test.toml:1:2: the table has no key device. "
                                                  "Fix: add device = with an integer");
    vyre_status_free(status);

    assert_null(vyre_toml_get_optional(backend, "device", VYRE_TOML_INTEGER, &value));
    assert_null(value);
    status = vyre_toml_get_optional(backend, "name", VYRE_TOML_ARRAY, &value);
    assert_non_null(status);
    vyre_status_free(status);

    const vyre_toml_array *sizes = &look(document, "backend.sizes")->array;
    assert_null(vyre_toml_expect(document, &sizes->items[0], VYRE_TOML_INTEGER));
    status = vyre_toml_expect(document, &sizes->items[1], VYRE_TOML_INTEGER);
    assert_non_null(strstr(vyre_status_text(status), "test.toml:3:13: the value is a string"));
    vyre_status_free(status);
    vyre_toml_free(document);
}

static const char everything[] = "title = \"an \\u00e9scaped string\"\n"
                                 "[a.'b c'.\"d\\n\"]\n"
                                 "x.y.z = [1, 2.5, [true, 1979-05-27], {k = 'v', l.m = 07:32:00}]\n"
                                 "text = \"\"\"\nlines\n\\\n  more\"\"\"\n"
                                 "[[items]]\nn = 1\n[[items]]\nn = 2\n[[items]]\n[[items]]\n"
                                 "[[items]]\n[items.sub]\nn = 3\n";

/* Enough of everything that each kind of thing meets the end of the memory at hand. */
static void build_large(vyre_strbuf *text) {
    vyre_strbuf_puts(text, everything);
    for (int i = 0; i < 600; i++) {
        vyre_strbuf_printf(text, "[[items]]\nn%d = 'a longer string %d'\n", i, i);
    }
    vyre_strbuf_puts(text, "[more]\n");
    for (int i = 0; i < 300; i++) {
        vyre_strbuf_printf(text, "k%d = {a.b = 1, c = [2, 3]}\nl%d.m = []\n", i, i);
    }
    for (int i = 0; i < 300; i++) {
        vyre_strbuf_printf(text, "[h%d.i]\nx = \"\\u00e9\"\n", i);
    }
    vyre_strbuf_puts(text, "[last]\nlist = [");
    for (int i = 0; i < 1000; i++) {
        vyre_strbuf_puts(text, "[{}, 1], ");
    }
    vyre_strbuf_puts(text, "]\n");
}

static void toml_reading_survives_every_failed_allocation(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    build_large(&text);
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_toml *document;
        vyre_status status = vyre_toml_read("test.toml", text.data, text.size, &document);
        assert_int_equal(document == NULL, status != VYRE_OK);
        bool failed = status != VYRE_OK;
        if (failed) {
            assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_OUT_OF_MEMORY);
        }
        vyre_status_free(status);
        vyre_toml_free(document);
        failing_allocator_stop();
        assert_int_equal(failed, failing_allocator_failed());
        if (!failed) {
            assert_true(n > 50);
            break;
        }
    }
    vyre_strbuf_free(&text);
}

static void toml_errors_survive_every_failed_allocation(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        for (size_t n = 1; failing_allocator_start(n); n++) {
            vyre_toml *document;
            const char *text = mistakes[i].text;
            vyre_status status = vyre_toml_read("test.toml", text, strlen(text), &document);
            assert_non_null(status);
            assert_null(document);
            vyre_status_free(status);
            failing_allocator_stop();
            if (!failing_allocator_failed()) {
                break;
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(toml_different_ways_to_write_are_equal),
        cmocka_unit_test(toml_values_have_their_types_and_numbers),
        cmocka_unit_test(toml_keys_and_values_know_their_places),
        cmocka_unit_test(toml_entries_keep_the_order_of_the_text),
        cmocka_unit_test(toml_mistakes_are_refused_with_place_message_and_fix),
        cmocka_unit_test(toml_nul_byte_is_refused),
        cmocka_unit_test(toml_nesting_is_bounded_however_it_is_written),
        cmocka_unit_test(toml_hundreds_of_thousands_of_keys_and_items_are_read),
        cmocka_unit_test(toml_document_beyond_the_size_limit_is_refused),
        cmocka_unit_test(toml_get_checks_key_and_type),
        cmocka_unit_test(toml_reading_survives_every_failed_allocation),
        cmocka_unit_test(toml_errors_survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
