#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

static void utf8_every_character_is_written_and_read_back(void **state) {
    (void)state;
    for (uint32_t c = 0; c < 0x120000; c++) {
        char bytes[4];
        size_t size = vyre_utf8_write(c, bytes);
        bool is_character = c < 0x110000 && (c < 0xd800 || c > 0xdfff);
        assert_int_equal(size > 0, is_character);
        if (is_character) {
            assert_int_equal(size, c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4);
            assert_int_equal(vyre_utf8_size(bytes, size), size);
            assert_int_equal(vyre_utf8_read(bytes), c);
            assert_int_equal(vyre_utf8_size(bytes, size - 1), 0);
        }
    }
    char bytes[4];
    assert_int_equal(vyre_utf8_write(UINT32_MAX, bytes), 0);
}

/* All sequences of three bytes: those accepted are exactly what writing can give. */
static void utf8_accepts_nothing_else(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 0x1000000; i++) {
        char bytes[4] = {(char)(i >> 16), (char)(i >> 8), (char)i, (char)0x80};
        size_t size = vyre_utf8_size(bytes, 4);
        if (size > 0) {
            char again[4];
            assert_int_equal(vyre_utf8_write(vyre_utf8_read(bytes), again), size);
            assert_memory_equal(bytes, again, size);
        }
    }
}

static void utf8_check_finds_the_first_bad_byte(void **state) {
    (void)state;
    static const char *const bad[] = {
        "\x80",         "\xc0\x80",         "\xc1\xbf",         "\xe0\x9f\xbf",
        "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xff",         "\xe2\x82",         "\xf0\x9f\x98"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        for (size_t before = 0; before < 20; before++) {
            char text[64];
            size_t size = strlen(bad[i]);
            memset(text, 'a', sizeof text);
            memcpy(text + before, bad[i], size);
            assert_int_equal(vyre_utf8_check(text, before + size), before);
            assert_int_equal(vyre_utf8_check(text, sizeof text), before);
        }
    }
    const char good[] = "a\xc2\xa2\xe2\x82\xac\xf0\x9f\x98\x80 plain text that is long enough";
    assert_int_equal(vyre_utf8_check(good, sizeof good), sizeof good);
    assert_int_equal(vyre_utf8_check(NULL, 0), 0);
    assert_int_equal(vyre_utf8_size("a", 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_every_character_is_written_and_read_back),
        cmocka_unit_test(utf8_accepts_nothing_else),
        cmocka_unit_test(utf8_check_finds_the_first_bad_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
