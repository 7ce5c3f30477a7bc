#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "tests/unit/settings.h"

enum { MAX_TEXT = 2400 };

static uint64_t next_random(void) {
    static uint64_t seed = 0x853c49e6748fea9bu; /* xorshift64* */
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * 0x2545f4914f6cdd1du;
}

static uint64_t parse(const char *text, vyre_float_format format) {
    uint64_t bits = 0;
    bool overflow = true;
    if (!vyre_float_parse(text, strlen(text), format, &bits, &overflow)) {
        fail_msg("not read: %s", text);
    }
    return bits;
}

static const char *print(vyre_float_format format, uint64_t bits) {
    static vyre_strbuf text;
    vyre_strbuf_cut(&text, 0);
    vyre_float_print(&text, format, bits);
    return vyre_strbuf_string(&text);
}

static uint64_t f64_bits(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static double f64_value(uint64_t bits) {
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* What a small format's finite bits mean, by the definition of the format. */
static double small_value(vyre_float_format format, uint64_t bits) {
    int field = (int)(bits >> format.mantissa_bits) & ((1 << format.exponent_bits) - 1);
    double mantissa = (double)(bits & ((1ull << format.mantissa_bits) - 1));
    int bias = (1 << (format.exponent_bits - 1)) - 1;
    if (field) {
        mantissa += (double)(1ull << format.mantissa_bits);
    }
    double value = ldexp(mantissa, (field ? field : 1) - bias - format.mantissa_bits);
    return bits >> (format.mantissa_bits + format.exponent_bits) & 1 ? -value : value;
}

static const vyre_float_format small[] = {{10, 5}, {7, 8}};

static uint64_t infinity_bits(vyre_float_format format) {
    return ((1ull << format.exponent_bits) - 1) << format.mantissa_bits;
}

static void number_every_f16_and_bf16_reads_back_as_itself(void **state) {
    (void)state;
    for (size_t f = 0; f < 2; f++) {
        uint64_t infinity = infinity_bits(small[f]);
        uint64_t canonical = infinity | 1ull << (small[f].mantissa_bits - 1);
        for (uint64_t bits = 0; bits < 65536; bits++) {
            const char *text = print(small[f], bits);
            bool is_nan = (bits & 0x7fff) > infinity;
            assert_int_equal(parse(text, small[f]), is_nan ? canonical : bits);
            assert_true(strpbrk(text, ".e") || strstr(text, "inf") || strcmp(text, "nan") == 0);
        }
    }
}

/* The digits of a printed number, and how many they are. */
static size_t count_digits(const char *text) {
    size_t count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9') {
            zeros = *text == '0' ? zeros + (count > 0) : 0;
            count += count > 0 || *text != '0';
        }
    }
    return count - zeros;
}

/* Text with one digit less cannot read back: neither the nearest such text nor its neighbours. */
static void number_every_f16_and_bf16_is_printed_as_short_as_possible(void **state) {
    (void)state;
    for (size_t f = 0; f < 2; f++) {
        for (uint64_t bits = 1; bits < infinity_bits(small[f]); bits++) {
            size_t digits = count_digits(print(small[f], bits));
            assert_true(digits >= 1 && digits <= 5);
            char shorter[64];
            if (digits == 1) {
                continue;
            }
            snprintf(shorter, sizeof shorter, "%.*e", (int)digits - 2, small_value(small[f], bits));
            char *exponent = strchr(shorter, 'e');
            long power = strtol(exponent + 1, NULL, 10) - ((long)digits - 2);
            *exponent = '\0';
            if (shorter[1] == '.') {
                memmove(shorter + 1, shorter + 2, strlen(shorter + 2) + 1);
            }
            long number = strtol(shorter, NULL, 10);
            for (long near = number - 1; near <= number + 1; near++) {
                char candidate[64];
                snprintf(candidate, sizeof candidate, "%lde%ld", near, power);
                assert_int_not_equal(parse(candidate, small[f]), bits);
            }
        }
    }
}

/* The exact number halfway between two neighbours goes to the even one, and a hair more or less to
 * the nearer. The C library prints doubles exactly, and such numbers are doubles. */
static void number_every_f16_and_bf16_halfway_goes_to_even(void **state) {
    (void)state;
    static char text[MAX_TEXT];
    for (size_t f = 0; f < 2; f++) {
        for (uint64_t low = 0; low < infinity_bits(small[f]); low++) {
            double half = (small_value(small[f], low) + small_value(small[f], low + 1)) / 2;
            uint64_t even = low & 1 ? low + 1 : low;
            snprintf(text, sizeof text, "%.160e", half);
            assert_int_equal(parse(text, small[f]), even);
            snprintf(text, sizeof text, "%a", half);
            assert_int_equal(parse(text, small[f]), even);
            snprintf(text, sizeof text, "%.220e", nextafter(half, 0));
            assert_int_equal(parse(text, small[f]), low);
            snprintf(text, sizeof text, "%.220e", nextafter(half, INFINITY));
            assert_int_equal(parse(text, small[f]), low + 1);

            /* So little more that a double could not tell. */
            snprintf(text, sizeof text, "%.160f", half);
            strcat(text, "000000000000000000000001");
            assert_int_equal(parse(text, small[f]), low + 1);
            snprintf(text, sizeof text, "%a", half);
            char *exponent = strchr(text, 'p'), tail[16];
            memcpy(tail, exponent, strlen(exponent) + 1);
            sprintf(exponent, "%s00000000000000000001%s", strchr(text, '.') ? "" : ".", tail);
            assert_int_equal(parse(text, small[f]), low + 1);
        }
    }
}

static void number_f32_agrees_with_the_c_library(void **state) {
    (void)state;
    uint64_t patterns = test_work(600000, 150000);
    for (size_t i = 0; i < patterns; i++) {
        uint32_t bits = (uint32_t)next_random();
        float number;
        memcpy(&number, &bits, sizeof number);
        if (number != number) {
            continue;
        }
        char text[64];
        if (i % 3 == 0) {
            const char *printed = print(VYRE_FLOAT_F32, bits);
            assert_int_equal(parse(printed, VYRE_FLOAT_F32), bits);
            float again = strtof(printed, NULL);
            assert_memory_equal(&again, &number, sizeof again);
            assert_true(isinf(number) || count_digits(printed) <= 9);
        } else if (i % 3 == 1) {
            snprintf(text, sizeof text, "%.9g", (double)number);
            assert_int_equal(parse(text, VYRE_FLOAT_F32), bits);
        } else {
            /* Random digits near some float, most of them hard to round. */
            snprintf(text, sizeof text, "%.*g", (int)(next_random() % 24) + 1,
                     (double)number * (1 + ldexp(1, -24)));
            float wanted = strtof(text, NULL);
            uint32_t wanted_bits;
            memcpy(&wanted_bits, &wanted, sizeof wanted);
            assert_int_equal(parse(text, VYRE_FLOAT_F32), wanted_bits);
        }
    }
}

static void number_f32_halfway_goes_to_even(void **state) {
    (void)state;
    static char text[MAX_TEXT];
    for (size_t i = 0; i < 30000; i++) {
        uint32_t low = (uint32_t)(next_random() % 0x7f800000u);
        double half = (small_value(VYRE_FLOAT_F32, low) + small_value(VYRE_FLOAT_F32, low + 1)) / 2;
        snprintf(text, sizeof text, "%.200e", half);
        assert_int_equal(parse(text, VYRE_FLOAT_F32), low & 1 ? low + 1 : low);
        snprintf(text, sizeof text, "%.250e", nextafter(half, 0));
        assert_int_equal(parse(text, VYRE_FLOAT_F32), low);
        snprintf(text, sizeof text, "%.220f", half);
        strcat(text, "000000001");
        assert_int_equal(parse(text, VYRE_FLOAT_F32), low + 1);
    }
}

static void number_f64_agrees_with_the_c_library(void **state) {
    (void)state;
    uint64_t patterns = test_work(80000, 20000);
    for (size_t i = 0; i < patterns; i++) {
        uint64_t bits = next_random();
        double number = f64_value(bits);
        if (!isfinite(number)) {
            continue;
        }
        if (i % 2) { /* most random exponents are extreme; these are everyday ones */
            number = ldexp((double)(bits >> 11), (int)(bits % 160) - 120);
            bits = f64_bits(number);
        }
        const char *printed = print(VYRE_FLOAT_F64, bits);
        assert_int_equal(parse(printed, VYRE_FLOAT_F64), bits);
        assert_int_equal(f64_bits(strtod(printed, NULL)), bits);
        /* If fewer digits were enough, the library's nearest ones would read back. */
        size_t digits = count_digits(printed);
        char text[64];
        if (digits > 1) {
            snprintf(text, sizeof text, "%.*e", (int)digits - 2, number);
            assert_true(strtod(text, NULL) != number);
        }
        snprintf(text, sizeof text, "%.*e", (int)(next_random() % 30), number);
        assert_int_equal(parse(text, VYRE_FLOAT_F64), f64_bits(strtod(text, NULL)));
    }
}

#if LDBL_MANT_DIG >= 64
static void number_f64_halfway_goes_to_even(void **state) {
    (void)state;
    static char text[MAX_TEXT];
    uint64_t halves = test_work(2000, 500);
    for (size_t i = 0; i < halves; i++) {
        uint64_t low = next_random() % 0x7fe0000000000000u;
        low = i % 8 == 0 ? low % 0x0020000000000000u : low; /* subnormal and just above */
        long double half = ((long double)f64_value(low) + (long double)f64_value(low + 1)) / 2;
        snprintf(text, sizeof text, "%.1100Le", half);
        assert_int_equal(parse(text, VYRE_FLOAT_F64), low & 1 ? low + 1 : low);
        char *exponent = strchr(text, 'e'), tail[16];
        memcpy(tail, exponent, strlen(exponent) + 1);
        sprintf(exponent, "1%s", tail);
        assert_int_equal(parse(text, VYRE_FLOAT_F64), low + 1);
        snprintf(text, sizeof text, "%.1100Le", nextafterl(half, 0));
        assert_int_equal(parse(text, VYRE_FLOAT_F64), low);
        snprintf(text, sizeof text, "%La", half);
        assert_int_equal(parse(text, VYRE_FLOAT_F64), low & 1 ? low + 1 : low);
    }
}
#endif

static void number_hard_cases_agree_with_the_c_library(void **state) {
    (void)state;
    static const char *const texts[] = {
        "0",
        "0.0",
        "-0.0",
        "+0e5",
        "1e23",
        "8.442911973260991817129021e15",
        "9007199254740993",
        "9007199254740991.4999999999999999999999999999999995",
        "9007199254740993.0000000000000001",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "0.500000000000000166533453693773481063544750213623046875",
        "3.518437208883201171875e13",
        "62.5364939768271845828",
        "8.10109172351e-10",
        "1.50000000000000011102230246251565",
        "123456789012345678901234567890",
        "1e-400",
        "17976931348623158079372897140530341507993413271003782693617377898044496829276475e229",
        "6.631236846766476e-316",
        "3.23788391330290128958835241250153217486303766942310805990129704954970150e-319",
        "1.4821969375237396e-323",
        "0x1.fffffffffffff8p0",
        "0x1.fffffffffffff7p0",
        "0x0.0000000000001p-1022",
        "0x1p-1075",
        "0x1.0000001p-1075",
        "0x1.fffffffffffff7p1023",
        "0x123456789abcdef01p-3",
        "0x8000000000000400p0",
        "0x8000000000000400.00001p0",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(parse(texts[i], VYRE_FLOAT_F64), f64_bits(strtod(texts[i], NULL)));
        float wanted = strtof(texts[i], NULL);
        uint32_t wanted_bits;
        memcpy(&wanted_bits, &wanted, sizeof wanted);
        assert_int_equal(parse(texts[i], VYRE_FLOAT_F32), wanted_bits);
    }
}

static void number_prints_as_people_write(void **state) {
    (void)state;
    static const struct {
        double number;
        const char *text;
    } cases[] = {
        {0, "0.0"},
        {-0.0, "-0.0"},
        {1, "1.0"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {100, "100.0"},
        {0.001, "0.001"},
        {0.0001, "0.0001"},
        {0.00001, "1e-5"},
        {1.5e-7, "1.5e-7"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e16"},
        {1e22, "1e22"},
        {1.25e100, "1.25e100"},
        {123456.789, "123456.789"},
        {5e-324, "5e-324"},
        {DBL_MAX, "1.7976931348623157e308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {9007199254740993.0, "9007199254740992.0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(print(VYRE_FLOAT_F64, f64_bits(cases[i].number)), cases[i].text);
    }
    assert_string_equal(print(VYRE_FLOAT_F32, 0x3dcccccd), "0.1");
    assert_string_equal(print(VYRE_FLOAT_F32, 0x7f800000), "inf");
    assert_string_equal(print(VYRE_FLOAT_F32, 0xff800000), "-inf");
    assert_string_equal(print(VYRE_FLOAT_F32, 0xffc12345), "nan");
    assert_string_equal(print(VYRE_FLOAT_F16, 0x7bff), "65500.0");
    assert_string_equal(print(VYRE_FLOAT_F16, 1), "6e-8");
    assert_string_equal(print(VYRE_FLOAT_BF16, 0x3f80), "1.0");
    assert_string_equal(print(VYRE_FLOAT_BF16, 0x7f7f), "3.39e38");
}

static void number_beyond_the_largest_is_reported(void **state) {
    (void)state;
    static const struct {
        vyre_float_format format;
        const char *text;
        bool overflow;
    } cases[] = {
        {{10, 5}, "65519.99", false},
        {{10, 5}, "65520", true},
        {{10, 5}, "-65520", true},
        {{7, 8}, "3.39e38", false},
        {{7, 8}, "3.4e38", true},
        {{23, 8}, "3.4028235e38", false},
        {{23, 8}, "3.4028236e38", true},
        {{52, 11}, "1.7976931348623158e308", false},
        {{52, 11}, "1.7976931348623159e308", true},
        {{52, 11}, "1e400", true},
        {{52, 11}, "-1e999999999999999999999999", true},
        {{52, 11}, "0x1p1024", true},
        {{52, 11}, "0x1p99999999999999999999", true},
        {{52, 11}, "0e99999", false},
        {{52, 11}, "1e-99999999999999999999", false},
        {{52, 11}, "0x1p-99999999999999999", false},
        {{52, 11}, "inf", false},
        {{52, 11}, "-inf", false},
        {{52, 11}, "nan", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t bits;
        bool overflow;
        const char *text = cases[i].text;
        assert_true(vyre_float_parse(text, strlen(text), cases[i].format, &bits, &overflow));
        assert_int_equal(overflow, cases[i].overflow);
        uint64_t sign = 1ull << (cases[i].format.mantissa_bits + cases[i].format.exponent_bits);
        uint64_t magnitude = bits & (sign - 1);
        assert_int_equal(magnitude == infinity_bits(cases[i].format),
                         overflow || strstr(text, "inf") != NULL);
        assert_int_equal((bits & sign) != 0, text[0] == '-');
    }
}

static void number_malformed_text_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",          "+",        "-",     ".",  ".5",     "e5",   "1e",    "1e+",  "1e-",
        "1.5e",      "1..5",     "1.5.5", "_1", "1_",     "1__0", "1_.5",  "1._5", "1.5_",
        "1e_5",      "1e5_",     "1_e5",  "0x", "0x.8p1", "0x1",  "0x1.8", "0x1p", "0x1p+",
        "0x1.8p1.5", "0xgp1",    "1p5",   "1 ", " 1",     "1f",   "--1",   "+-1",  "in",
        "inff",      "infinity", "Inf",   "na", "NaN",    "nan1", "1,5",   "0b1",  "1e5x",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        uint64_t bits;
        bool overflow;
        if (vyre_float_parse(texts[i], strlen(texts[i]), VYRE_FLOAT_F64, &bits, &overflow)) {
            fail_msg("read: %s", texts[i]);
        }
    }
}

static void number_reads_underscores_and_only_its_own_bytes(void **state) {
    (void)state;
    uint64_t bits;
    bool overflow;
    assert_int_equal(parse("1_000.000_1e1_0", VYRE_FLOAT_F64), f64_bits(1000.0001e10));
    assert_int_equal(parse("0xf_f.8p0_3", VYRE_FLOAT_F64), f64_bits(0xff.8p3));
    assert_int_equal(parse("1.", VYRE_FLOAT_F64), f64_bits(1));
    assert_int_equal(parse("1.e3", VYRE_FLOAT_F64), f64_bits(1000));
    assert_int_equal(parse("1E+3", VYRE_FLOAT_F64), f64_bits(1000));
    assert_true(vyre_float_parse("12345", 3, VYRE_FLOAT_F64, &bits, &overflow));
    assert_int_equal(bits, f64_bits(123));
}

static void number_of_a_million_digits_is_read_exactly(void **state) {
    (void)state;
    enum { DIGITS = 1000000 };
    char *text = malloc(DIGITS + 20);
    assert_non_null(text);
    /* 1.000...0001, then the same with the one where it decides a tie. */
    memset(text, '0', DIGITS);
    memcpy(text, "1.", 2);
    strcpy(text + DIGITS, "1");
    assert_int_equal(parse(text, VYRE_FLOAT_F64), f64_bits(1));
    static const char tie[] = "9007199254740993.";
    memcpy(text, tie, strlen(tie));
    assert_int_equal(parse(text, VYRE_FLOAT_F64), f64_bits(9007199254740994.0));
    text[DIGITS] = '0';
    assert_int_equal(parse(text, VYRE_FLOAT_F64), f64_bits(9007199254740992.0));
    /* 0.000...0001e999999 */
    memcpy(text, "0.", 2);
    memset(text + 2, '0', DIGITS - 2);
    strcpy(text + DIGITS, "1e999999");
    assert_int_equal(parse(text, VYRE_FLOAT_F64), f64_bits(1));
    /* 1000...000e-1000000 */
    memset(text, '0', DIGITS);
    text[0] = '1';
    strcpy(text + DIGITS, "e-999999");
    assert_int_equal(parse(text, VYRE_FLOAT_F64), f64_bits(1));
    free(text);
}

static void number_converts_between_formats_with_one_rounding(void **state) {
    (void)state;
    static char text[64];
    for (size_t f = 0; f < 2; f++) {
        for (uint64_t bits = 0; bits < 65536; bits++) {
            uint64_t wide = vyre_float_convert(small[f], VYRE_FLOAT_F64, bits);
            if ((bits & 0x7fff) > infinity_bits(small[f])) {
                assert_int_equal(wide, 0x7ff8000000000000u);
                continue;
            }
            if ((bits & 0x7fff) < infinity_bits(small[f])) {
                assert_int_equal(wide, f64_bits(small_value(small[f], bits)));
            }
            assert_int_equal(vyre_float_convert(VYRE_FLOAT_F64, small[f], wide), bits);
        }
    }
    uint64_t draws = test_work(500000, 100000);
    for (size_t i = 0; i < draws; i++) {
        double number = ldexp((double)(next_random() >> 11), (int)(next_random() % 340) - 200);
        float narrow = (float)number;
        uint32_t narrow_bits;
        memcpy(&narrow_bits, &narrow, sizeof narrow);
        assert_int_equal(vyre_float_convert(VYRE_FLOAT_F64, VYRE_FLOAT_F32, f64_bits(number)),
                         narrow_bits);
        for (size_t f = 0; i % 16 == 0 && f < 2; f++) {
            snprintf(text, sizeof text, "%a", number);
            assert_int_equal(vyre_float_convert(VYRE_FLOAT_F64, small[f], f64_bits(number)),
                             parse(text, small[f]));
        }
    }
    assert_int_equal(vyre_float_convert(VYRE_FLOAT_F32, VYRE_FLOAT_F16, 0xff800000), 0xfc00);
    assert_int_equal(vyre_float_convert(VYRE_FLOAT_F32, VYRE_FLOAT_F16, 0x80000000), 0x8000);
}

static void number_does_not_depend_on_the_locale(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8",
                                        "fr_FR.utf8",  "de_DE",       "ru_RU.UTF-8"};
    const char *set = NULL;
    for (size_t i = 0; !set && i < sizeof names / sizeof names[0]; i++) {
        set = setlocale(LC_ALL, names[i]);
    }
    if (!set || strcmp(localeconv()->decimal_point, ",") != 0) {
        setlocale(LC_ALL, "C");
        skip(); /* no locale with a decimal comma is installed */
    }
    const char *printed = print(VYRE_FLOAT_F64, f64_bits(1.5));
    uint64_t bits = parse("2.25", VYRE_FLOAT_F64);
    setlocale(LC_ALL, "C");
    assert_string_equal(printed, "1.5");
    assert_int_equal(bits, f64_bits(2.25));
}

static void number_u64_reads_all_bases_to_their_limits(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned base;
        uint64_t value;
        bool overflow;
    } cases[] = {
        {"0", 10, 0, false},
        {"007", 10, 7, false},
        {"1_000_000", 10, 1000000, false},
        {"18446744073709551615", 10, UINT64_MAX, false},
        {"18446744073709551616", 10, 0, true},
        {"99999999999999999999999", 10, 0, true},
        {"FFFFffffFFFFffff", 16, UINT64_MAX, false},
        {"10000000000000000", 16, 0, true},
        {"dead_beef", 16, 0xdeadbeef, false},
        {"1777777777777777777777", 8, UINT64_MAX, false},
        {"2000000000000000000000", 8, 0, true},
        {"1_0_1", 2, 5, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t value;
        bool overflow;
        assert_true(
            vyre_u64_parse(cases[i].text, strlen(cases[i].text), cases[i].base, &value, &overflow));
        assert_int_equal(overflow, cases[i].overflow);
        assert_true(overflow || value == cases[i].value);
    }
    static const struct {
        const char *text;
        unsigned base;
    } bad[] = {{"", 10},    {"_1", 10}, {"1_", 10}, {"1__1", 10}, {"12a", 10},
               {"-1", 10},  {"+1", 10}, {"2", 2},   {"8", 8},     {"g", 16},
               {"0x1", 16}, {" 1", 10}, {"1 ", 10}, {"1.0", 10}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t value;
        bool overflow;
        assert_false(
            vyre_u64_parse(bad[i].text, strlen(bad[i].text), bad[i].base, &value, &overflow));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_every_f16_and_bf16_reads_back_as_itself),
        cmocka_unit_test(number_every_f16_and_bf16_is_printed_as_short_as_possible),
        cmocka_unit_test(number_every_f16_and_bf16_halfway_goes_to_even),
        cmocka_unit_test(number_f32_agrees_with_the_c_library),
        cmocka_unit_test(number_f32_halfway_goes_to_even),
        cmocka_unit_test(number_f64_agrees_with_the_c_library),
#if LDBL_MANT_DIG >= 64
        cmocka_unit_test(number_f64_halfway_goes_to_even),
#endif
        cmocka_unit_test(number_hard_cases_agree_with_the_c_library),
        cmocka_unit_test(number_prints_as_people_write),
        cmocka_unit_test(number_beyond_the_largest_is_reported),
        cmocka_unit_test(number_malformed_text_is_refused),
        cmocka_unit_test(number_reads_underscores_and_only_its_own_bytes),
        cmocka_unit_test(number_of_a_million_digits_is_read_exactly),
        cmocka_unit_test(number_converts_between_formats_with_one_rounding),
        cmocka_unit_test(number_does_not_depend_on_the_locale),
        cmocka_unit_test(number_u64_reads_all_bases_to_their_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
