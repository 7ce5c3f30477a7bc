#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text/plain.h"

/* The source that all numbers of a test stand in. */
static char source[4096];
static uint32_t source_size;

static vyre_plain number(const char *text) {
    bool negative = *text == '-';
    uint32_t offset = source_size;
    vyre_str digits = {source + offset, strlen(text + negative)};
    assert_true(offset + digits.size < sizeof source);
    memcpy(source + offset, text + negative, digits.size);
    source_size += (uint32_t)digits.size;
    vyre_literal literal = {.base = 10, .body = (uint32_t)digits.size};
    vyre_plain plain;
    if (*digits.data != 'i' && *digits.data != 'n') {
        assert_true(vyre_literal_read(digits, &literal));
    }
    assert_int_equal(vyre_plain_read(source, offset, &literal, negative, &plain), VYRE_PLAIN_OK);
    return plain;
}

static void check_fit(const char *text, vyre_type type, uint64_t bits) {
    source_size = 0;
    vyre_plain plain = number(text);
    uint64_t found;
    if (!vyre_plain_fit(source, &plain, type, &found)) {
        fail_msg("%s does not fit %s", text, vyre_type_name(type));
    }
    if (found != bits) {
        fail_msg("%s as %s is 0x%llx, expected 0x%llx", text, vyre_type_name(type),
                 (unsigned long long)found, (unsigned long long)bits);
    }
}

static void check_unfit(const char *text, vyre_type type) {
    source_size = 0;
    vyre_plain plain = number(text);
    uint64_t found;
    if (vyre_plain_fit(source, &plain, type, &found)) {
        fail_msg("%s fits %s", text, vyre_type_name(type));
    }
}

static void integers_fit_their_range(void **state) {
    (void)state;
    check_fit("255", VYRE_TYPE_U8, 255);
    check_unfit("256", VYRE_TYPE_U8);
    check_unfit("-1", VYRE_TYPE_U8);
    check_fit("127", VYRE_TYPE_I8, 127);
    check_unfit("128", VYRE_TYPE_I8);
    check_fit("-128", VYRE_TYPE_I8, 0x80);
    check_unfit("-129", VYRE_TYPE_I8);
    check_fit("0xffff", VYRE_TYPE_U16, 0xffff);
    check_fit("-32768", VYRE_TYPE_I16, 0x8000);
    check_fit("0xffff_ffff", VYRE_TYPE_U32, 0xffffffff);
    check_unfit("2147483648", VYRE_TYPE_I32);
    check_fit("-2147483648", VYRE_TYPE_I32, 0x80000000);
    check_fit("18446744073709551615", VYRE_TYPE_U64, UINT64_MAX);
    check_fit("-9223372036854775808", VYRE_TYPE_I64, (uint64_t)1 << 63);
    check_unfit("-9223372036854775809", VYRE_TYPE_I64);
    check_unfit("1.0", VYRE_TYPE_I32);
    check_unfit("1", VYRE_TYPE_BOOL);
    check_fit("0b101", VYRE_TYPE_U8, 5);
    check_fit("'a'", VYRE_TYPE_U8, 'a');
    check_fit("'\\x7f'", VYRE_TYPE_U8, 0x7f);
    check_fit("'\xe2\x82\xac'", VYRE_TYPE_U32, 0x20ac);
}

static void floats_are_rounded_once(void **state) {
    (void)state;
    check_fit("0.1", VYRE_TYPE_F32, 0x3dcccccd);
    check_fit("0.1", VYRE_TYPE_F64, 0x3fb999999999999a);
    check_fit("0.1", VYRE_TYPE_F16, 0x2e66);
    check_fit("0.1", VYRE_TYPE_BF16, 0x3dcd);
    /* Halfway between two f32, and a little more than an f64 can tell. */
    check_fit("1.00000005960464477540", VYRE_TYPE_F32, 0x3f800001);
    check_fit("1.00000005960464477539", VYRE_TYPE_F32, 0x3f800000);
    check_fit("-0.0", VYRE_TYPE_F32, 0x80000000);
    check_fit("-0", VYRE_TYPE_F32, 0);
    check_fit("16777217", VYRE_TYPE_F32, 0x4b800000);
    check_fit("18446744073709551615", VYRE_TYPE_F32, 0x5f800000);
    check_fit("9007199254740993", VYRE_TYPE_F64, 0x4340000000000000);
    check_fit("9007199254740995", VYRE_TYPE_F64, 0x4340000000000002);
    check_fit("65504", VYRE_TYPE_F16, 0x7bff);
    check_unfit("65520", VYRE_TYPE_F16);
    check_unfit("1e39", VYRE_TYPE_F32);
    check_unfit("1e400", VYRE_TYPE_F64);
    check_fit("-inf", VYRE_TYPE_F32, 0xff800000);
    check_fit("nan", VYRE_TYPE_F16, 0x7e00);
    check_fit("0x1.8p3", VYRE_TYPE_F32, 0x41400000);
    check_fit("7f64", VYRE_TYPE_F64, 0x401c000000000000);
}

static void check_binary(const char *left, vyre_token_kind operation, const char *right,
                         const char *expected) {
    source_size = 0;
    vyre_plain a = number(left), b = number(right), result;
    vyre_plain_error error = vyre_plain_binary(source, operation, &a, &b, &result);
    assert_int_equal(error, VYRE_PLAIN_OK);
    char shown[VYRE_PLAIN_SHOWN];
    vyre_plain_show(source, &result, shown);
    if (strcmp(shown, expected) != 0) {
        fail_msg("%s %s %s is %s, expected %s", left, vyre_token_text(operation), right, shown,
                 expected);
    }
}

static void check_error(const char *left, vyre_token_kind operation, const char *right,
                        vyre_plain_error expected) {
    source_size = 0;
    vyre_plain a = number(left), b = number(right), result;
    assert_int_equal(vyre_plain_binary(source, operation, &a, &b, &result), expected);
}

static void integer_arithmetic_is_exact(void **state) {
    (void)state;
    check_binary("3", VYRE_TOKEN_MINUS, "5", "-2");
    check_binary("-3", VYRE_TOKEN_PLUS, "3", "0");
    check_binary("-3", VYRE_TOKEN_MINUS, "-5", "2");
    check_binary("0", VYRE_TOKEN_MINUS, "5", "-5");
    check_binary("18446744073709551615", VYRE_TOKEN_MINUS, "1", "18446744073709551614");
    check_binary("-7", VYRE_TOKEN_SLASH, "2", "-3");
    check_binary("-7", VYRE_TOKEN_PERCENT, "2", "-1");
    check_binary("7", VYRE_TOKEN_PERCENT, "-2", "1");
    check_binary("-6", VYRE_TOKEN_STAR, "7", "-42");
    check_binary("1", VYRE_TOKEN_SHIFT_LEFT, "63", "9223372036854775808");
    check_binary("-5", VYRE_TOKEN_SHIFT_RIGHT, "1", "-3");
    check_binary("-1", VYRE_TOKEN_SHIFT_RIGHT, "63", "-1");
    check_binary("-4", VYRE_TOKEN_AND, "7", "4");
    check_binary("-4", VYRE_TOKEN_OR, "1", "-3");
    check_binary("-1", VYRE_TOKEN_XOR, "5", "-6");
    check_error("18446744073709551615", VYRE_TOKEN_PLUS, "1", VYRE_PLAIN_TOO_LARGE);
    check_error("4294967296", VYRE_TOKEN_STAR, "4294967296", VYRE_PLAIN_TOO_LARGE);
    check_error("3", VYRE_TOKEN_SHIFT_LEFT, "63", VYRE_PLAIN_TOO_LARGE);
    check_error("1", VYRE_TOKEN_SHIFT_LEFT, "64", VYRE_PLAIN_SHIFT);
    check_error("1", VYRE_TOKEN_SHIFT_RIGHT, "-1", VYRE_PLAIN_SHIFT);
    check_error("1", VYRE_TOKEN_SLASH, "0", VYRE_PLAIN_ZERO_DIVISOR);
    check_error("1", VYRE_TOKEN_PERCENT, "0", VYRE_PLAIN_ZERO_DIVISOR);
}

static void mixed_arithmetic_is_f64(void **state) {
    (void)state;
    check_binary("1", VYRE_TOKEN_PLUS, "0.5", "1.5");
    check_binary("0.1", VYRE_TOKEN_PLUS, "0.2", "0.30000000000000004");
    check_binary("1", VYRE_TOKEN_SLASH, "4.0", "0.25");
    check_binary("-1.5", VYRE_TOKEN_STAR, "2", "-3.0");
    check_error("1.5", VYRE_TOKEN_PERCENT, "1", VYRE_PLAIN_NOT_INTEGER);
    check_error("1.5", VYRE_TOKEN_AND, "1", VYRE_PLAIN_NOT_INTEGER);
    check_error("1.5", VYRE_TOKEN_SLASH, "0", VYRE_PLAIN_ZERO_DIVISOR);
}

static void comparisons_order_all_numbers(void **state) {
    (void)state;
    static const char *const ascending[] = {"-inf", "-18446744073709551615", "-3.5", "-3", "0", "1",
                                            "2.5",  "18446744073709551615",  "inf"};
    for (size_t i = 0; i < 9; i++) {
        for (size_t k = 0; k < 9; k++) {
            check_binary(ascending[i], VYRE_TOKEN_LESS, ascending[k], i < k ? "1" : "0");
            check_binary(ascending[i], VYRE_TOKEN_LESS_EQUAL, ascending[k], i <= k ? "1" : "0");
            check_binary(ascending[i], VYRE_TOKEN_GREATER, ascending[k], i > k ? "1" : "0");
            check_binary(ascending[i], VYRE_TOKEN_GREATER_EQUAL, ascending[k], i >= k ? "1" : "0");
            check_binary(ascending[i], VYRE_TOKEN_EQUAL, ascending[k], i == k ? "1" : "0");
        }
    }
    check_binary("nan", VYRE_TOKEN_EQUAL, "nan", "0");
    check_binary("nan", VYRE_TOKEN_NOT_EQUAL, "1", "1");
    check_binary("nan", VYRE_TOKEN_GREATER_EQUAL, "1", "0");
}

static void complement_fits_by_its_bits(void **state) {
    (void)state;
    vyre_plain three = number("3"), result;
    uint64_t bits;
    assert_int_equal(vyre_plain_unary(VYRE_TOKEN_COMPLEMENT, &three, &result), VYRE_PLAIN_OK);
    assert_true(vyre_plain_fit(source, &result, VYRE_TYPE_U32, &bits));
    assert_int_equal(bits, 0xfffffffc);
    assert_true(vyre_plain_fit(source, &result, VYRE_TYPE_I8, &bits));
    assert_int_equal(bits, 0xfc);
    vyre_plain wide = number("0x100");
    assert_int_equal(vyre_plain_unary(VYRE_TOKEN_COMPLEMENT, &wide, &result), VYRE_PLAIN_OK);
    assert_false(vyre_plain_fit(source, &result, VYRE_TYPE_U8, &bits));
}

/* From a type's bits and back. */
static void numbers_of_types_are_exact(void **state) {
    (void)state;
    static const uint64_t patterns[] = {0,
                                        1,
                                        0x7f,
                                        0x80,
                                        0xff,
                                        0x3c00,
                                        0x8000,
                                        0x3f800000,
                                        0x80000000,
                                        0x3ff0000000000000,
                                        (uint64_t)1 << 63};
    for (vyre_type type = VYRE_TYPE_I8; type < VYRE_TYPE_COUNT; type++) {
        unsigned width = vyre_type_bytes(type) * 8;
        uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
            vyre_plain plain = vyre_plain_from(type, patterns[i] & mask);
            uint64_t bits;
            assert_true(vyre_plain_fit(source, &plain, type, &bits));
            assert_int_equal(bits, patterns[i] & mask);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_fit_their_range),
        cmocka_unit_test(floats_are_rounded_once),
        cmocka_unit_test(integer_arithmetic_is_exact),
        cmocka_unit_test(mixed_arithmetic_is_f64),
        cmocka_unit_test(comparisons_order_all_numbers),
        cmocka_unit_test(complement_fits_by_its_bits),
        cmocka_unit_test(numbers_of_types_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
