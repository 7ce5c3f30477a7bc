/* Values of the command line: every type, its limits, buffers and their wrong forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "values/buffer.h"
#include "values/element.h"

static vyre_str str(const char *string) {
    return (vyre_str){string, strlen(string)};
}

typedef struct row {
    vyre_type type;
    const char *text;
    uint64_t bits;
} row;

static void test_scalars(void **state) {
    (void)state;
    static const row rows[] = {
        {VYRE_TYPE_BOOL, "true", 1},
        {VYRE_TYPE_BOOL, "0", 0},
        {VYRE_TYPE_I8, "-128", 0x80},
        {VYRE_TYPE_I8, "127", 0x7f},
        {VYRE_TYPE_I8, "-0x80", 0x80},
        {VYRE_TYPE_U8, "0b1111_1111", 0xff},
        {VYRE_TYPE_U8, "-0", 0},
        {VYRE_TYPE_I16, "-1", 0xffff},
        {VYRE_TYPE_U16, "0o17", 15},
        {VYRE_TYPE_I32, "-2147483648", 0x80000000},
        {VYRE_TYPE_U32, "0xffffffff", 0xffffffff},
        {VYRE_TYPE_U32, "+4_000_000_000", 4000000000},
        {VYRE_TYPE_I64, "-9223372036854775808", 0x8000000000000000},
        {VYRE_TYPE_U64, "18446744073709551615", UINT64_MAX},
        {VYRE_TYPE_F16, "1", 0x3c00},
        {VYRE_TYPE_F16, "65504", 0x7bff},
        {VYRE_TYPE_F16, "65519.99", 0x7bff},
        {VYRE_TYPE_F16, "5.9604645e-8", 0x0001},
        /* Half way between 1 and the next: to even, also if digits far behind decide. */
        {VYRE_TYPE_F16, "1.00048828125", 0x3c00},
        {VYRE_TYPE_F16, "1.000488281250000000000000000000000001", 0x3c01},
        {VYRE_TYPE_BF16, "1.00390625", 0x3f80},
        {VYRE_TYPE_BF16, "1.0039062500000000000000000000000001", 0x3f81},
        {VYRE_TYPE_BF16, "-inf", 0xff80},
        {VYRE_TYPE_F32, "nan", 0x7fc00000},
        {VYRE_TYPE_F32, "-0.0", 0x80000000},
        {VYRE_TYPE_F32, "0x1.8p1", 0x40400000},
        {VYRE_TYPE_F32, "0x10", 0x41800000},
        {VYRE_TYPE_F32, "-0xff", 0xc37f0000},
        {VYRE_TYPE_F16, "0x800", 0x6800},
        {VYRE_TYPE_F32, "0.1", 0x3dcccccd},
        {VYRE_TYPE_F64, "0.1", 0x3fb999999999999a},
        {VYRE_TYPE_F64, "inf", 0x7ff0000000000000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t bits;
        vyre_status status = values_element_parse("a", rows[i].type, str(rows[i].text), &bits);
        if (status || bits != rows[i].bits) {
            fail_msg("%s: %llx, %s", rows[i].text, (unsigned long long)bits,
                     vyre_status_text(status));
        }
    }
}

static void test_wrong_scalars(void **state) {
    (void)state;
    static const row rows[] = {
        {VYRE_TYPE_BOOL, "2", 0},      {VYRE_TYPE_BOOL, "True", 0},
        {VYRE_TYPE_I8, "128", 0},      {VYRE_TYPE_I8, "-129", 0},
        {VYRE_TYPE_U8, "256", 0},      {VYRE_TYPE_U8, "-1", 0},
        {VYRE_TYPE_I16, "0x8000", 0},  {VYRE_TYPE_U16, "65536", 0},
        {VYRE_TYPE_I32, "1.0", 0},     {VYRE_TYPE_I32, "2147483648", 0},
        {VYRE_TYPE_U32, "", 0},        {VYRE_TYPE_U32, "-", 0},
        {VYRE_TYPE_U32, "0x", 0},      {VYRE_TYPE_U32, "1e3", 0},
        {VYRE_TYPE_U32, " 1", 0},      {VYRE_TYPE_U32, "1 ", 0},
        {VYRE_TYPE_U32, "--1", 0},     {VYRE_TYPE_I64, "9223372036854775808", 0},
        {VYRE_TYPE_U64, "1u", 0},      {VYRE_TYPE_U64, "18446744073709551616", 0},
        {VYRE_TYPE_F16, "65520", 0},   {VYRE_TYPE_BF16, "3.4e38x", 0},
        {VYRE_TYPE_F32, "1e39", 0},    {VYRE_TYPE_F32, "-1e39", 0},
        {VYRE_TYPE_F32, "1,5", 0},     {VYRE_TYPE_F32, "1.5f", 0},
        {VYRE_TYPE_F32, "NaN", 0},     {VYRE_TYPE_F32, "infinity", 0},
        {VYRE_TYPE_F64, "0x1.8", 0},   {VYRE_TYPE_F64, ".", 0},
        {VYRE_TYPE_F64, "1e400", 0},   {VYRE_TYPE_F64, "0x", 0},
        {VYRE_TYPE_F16, "0x10000", 0}, {VYRE_TYPE_F64, "0x1g", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t bits;
        vyre_status status = values_element_parse("a", rows[i].type, str(rows[i].text), &bits);
        if (!status) {
            fail_msg("%s is taken for %s", rows[i].text, vyre_type_name(rows[i].type));
        }
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
        assert_non_null(strstr(vyre_status_text(status), "`a`"));
        assert_non_null(strstr(vyre_status_text(status), "Fix: "));
        vyre_status_free(status);
    }
}

/* What is printed reads back as the same bits: all of the small types, samples of the others. */
static void test_round_trip(void **state) {
    (void)state;
    for (int type = VYRE_TYPE_BOOL; type < VYRE_TYPE_COUNT; type++) {
        uint32_t width = vyre_type_bytes((vyre_type)type) * 8;
        uint64_t count = type == VYRE_TYPE_BOOL ? 2 : width <= 8 ? 256 : 4096;
        for (uint64_t i = 0; i < count; i++) {
            uint64_t bits = width <= 8 ? i : i * 0x9e3779b97f4a7c15u >> (64 - width), back;
            vyre_strbuf bytes = {0}, text = {0};
            values_element_store(&bytes, (vyre_type)type, bits);
            assert_int_equal(values_element_load((vyre_type)type, (uint8_t *)bytes.data), bits);
            values_element_print(&text, (vyre_type)type, (uint8_t *)bytes.data);
            vyre_status status = values_element_parse("a", (vyre_type)type, str(text.data), &back);
            assert_null(status);
            if (strcmp(text.data, "nan") != 0 && back != bits) {
                fail_msg("%s: %s", vyre_type_name((vyre_type)type), text.data);
            }
            vyre_strbuf_free(&bytes);
            vyre_strbuf_free(&text);
        }
    }
}

static vyre_status parse(vyre_type type, const char *value, vyre_strbuf *bytes, size_t *offset) {
    static bool stdin_used;
    stdin_used = true;
    values_buffer_source source = {"x", type, 1, 0, &stdin_used, NULL};
    *bytes = (vyre_strbuf){0};
    return values_buffer_parse(&source, value, bytes, offset);
}

static void expect_buffer(vyre_type type, const char *value, const char *expected, size_t size) {
    vyre_strbuf bytes;
    size_t offset;
    vyre_status status = parse(type, value, &bytes, &offset);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    assert_int_equal(offset, 0);
    assert_int_equal(bytes.size, size);
    assert_memory_equal(bytes.data, expected, size);
    vyre_strbuf_free(&bytes);
}

static void test_buffers(void **state) {
    (void)state;
    expect_buffer(VYRE_TYPE_U16, "1,0x1ff,0", "\x01\x00\xff\x01\x00\x00", 6);
    expect_buffer(VYRE_TYPE_F32, "-1.5", "\x00\x00\xc0\xbf", 4);
    expect_buffer(VYRE_TYPE_I32, "zeros:2", "\0\0\0\0\0\0\0\0", 8);
    expect_buffer(VYRE_TYPE_I8, "iota:3", "\x00\x01\x02", 3);
    expect_buffer(VYRE_TYPE_F16, "iota:3", "\x00\x00\x00\x3c\x00\x40", 6);
    expect_buffer(VYRE_TYPE_BF16, "iota:2", "\x00\x00\x80\x3f", 4);
    vyre_strbuf bytes;
    size_t offset;
    assert_null(parse(VYRE_TYPE_U8, "iota:258", &bytes, &offset));
    assert_int_equal(bytes.data[257], 1);
    vyre_strbuf_free(&bytes);
    /* 257 has no place in bf16, between 256 and 258: it is rounded to even. */
    assert_null(parse(VYRE_TYPE_BF16, "iota:258", &bytes, &offset));
    assert_memory_equal(bytes.data + 257 * 2, "\x80\x43", 2);
    vyre_strbuf_free(&bytes);
    expect_buffer(VYRE_TYPE_U8, "zeros:0", "", 0);
}

static void test_same_elements(void **state) {
    (void)state;
    expect_buffer(VYRE_TYPE_U8, "ones:3", "\1\1\1", 3);
    expect_buffer(VYRE_TYPE_F32, "ones:1", "\x00\x00\x80\x3f", 4);
    expect_buffer(VYRE_TYPE_I16, "full:-2:2", "\xfe\xff\xfe\xff", 4);
    expect_buffer(VYRE_TYPE_F16, "full:0.5:2", "\x00\x38\x00\x38", 4);
    expect_buffer(VYRE_TYPE_F32, "full:0:1", "\0\0\0\0", 4);
    expect_buffer(VYRE_TYPE_U8, "full:7:0", "", 0);
}

static void test_lists(void **state) {
    (void)state;
    static const char *const lists[] = {"1, 2,3", "[1,2,3]", "[1, 2, 3]", " [ 1 , 2 , 3 ] ",
                                        "1 , 2 ,3 "};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        expect_buffer(VYRE_TYPE_U8, lists[i], "\1\2\3", 3);
    }
    expect_buffer(VYRE_TYPE_U8, "[0*2, 5]", "\0\0\5", 3);
    expect_buffer(VYRE_TYPE_U8, "[]", "", 0);
    expect_buffer(VYRE_TYPE_U8, "cycle:3:1, 2", "\1\2\1", 3);
}

static void test_steps_and_cycles(void **state) {
    (void)state;
    expect_buffer(VYRE_TYPE_U8, "1*3,7,2*0,9*1", "\x01\x01\x01\x07\x09", 5);
    expect_buffer(VYRE_TYPE_U16, "0x1ff*2", "\xff\x01\xff\x01", 4);
    expect_buffer(VYRE_TYPE_U8, "iota:4:100", "\x00\x64\xc8\x2c", 4);
    expect_buffer(VYRE_TYPE_I8, "iota:3:-2", "\x00\xfe\xfc", 3);
    expect_buffer(VYRE_TYPE_F16, "iota:3:-0.5", "\x00\x00\x00\xb8\x00\xbc", 6);
    expect_buffer(VYRE_TYPE_F32, "iota:2:0.1", "\x00\x00\x00\x00\xcd\xcc\xcc\x3d", 8);
    expect_buffer(VYRE_TYPE_U8, "cycle:7:1,2,3", "\x01\x02\x03\x01\x02\x03\x01", 7);
    expect_buffer(VYRE_TYPE_U8, "cycle:2:1,2,3", "\x01\x02", 2);
    expect_buffer(VYRE_TYPE_U8, "cycle:5:8,0*2", "\x08\x00\x00\x08\x00", 5);
    expect_buffer(VYRE_TYPE_U8, "cycle:5:1,0:2", "\x01\x00\x03\x02\x05", 5);
    expect_buffer(VYRE_TYPE_U8, "cycle:0:1", "", 0);
    expect_buffer(VYRE_TYPE_F32, "cycle:2:1:0.5", "\x00\x00\x80\x3f\x00\x00\xc0\x3f", 8);
    /* Past the first block of elements. */
    vyre_strbuf bytes;
    size_t offset;
    assert_null(parse(VYRE_TYPE_U32, "cycle:5000:0,1,5:3", &bytes, &offset));
    for (uint32_t i = 0; i < 5000; i++) {
        static const uint32_t list[] = {0, 1, 5};
        assert_int_equal(values_element_load(VYRE_TYPE_U32, (uint8_t *)bytes.data + i * 4),
                         list[i % 3] + i / 3 * 3);
    }
    vyre_strbuf_free(&bytes);
}

/* Every element is what its own draw gives, whatever the way it is computed. */
static void test_many_random(void **state) {
    (void)state;
    static const uint64_t bounds[] = {1, 2, 3, 7, 1000, 1u << 20, (1u << 31) + 11, UINT32_MAX};
    enum { COUNT = 5000 };
    vyre_strbuf bytes, value = {0};
    size_t offset;
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++) {
        uint64_t seed = 5;
        vyre_strbuf_cut(&value, 0);
        vyre_strbuf_printf(&value, "rand:%d:5:%llu", COUNT, (unsigned long long)bounds[k]);
        assert_null(parse(VYRE_TYPE_U32, value.data, &bytes, &offset));
        assert_int_equal(bytes.size, COUNT * 4);
        for (size_t i = 0; i < COUNT; i++) {
            assert_int_equal(values_element_load(VYRE_TYPE_U32, (uint8_t *)bytes.data + i * 4),
                             vyre_random(&seed) % bounds[k]);
        }
        vyre_strbuf_free(&bytes);
    }
    vyre_strbuf_free(&value);
    static const vyre_type types[] = {VYRE_TYPE_F16, VYRE_TYPE_BF16, VYRE_TYPE_F32, VYRE_TYPE_F64};
    for (size_t k = 0; k < 4; k++) {
        uint32_t digits = values_float_format(types[k]).mantissa_bits + 1u;
        uint32_t width = vyre_type_bytes(types[k]);
        uint64_t seed = 0;
        assert_null(parse(types[k], "rand:5000", &bytes, &offset));
        for (size_t i = 0; i < COUNT; i++) {
            double wanted =
                (double)(vyre_random(&seed) >> (64 - digits)) / (double)((uint64_t)1 << digits);
            uint64_t found = vyre_float_convert(
                values_float_format(types[k]), VYRE_FLOAT_F64,
                values_element_load(types[k], (uint8_t *)bytes.data + i * width));
            assert_memory_equal(&found, &wanted, 8);
        }
        vyre_strbuf_free(&bytes);
    }
}

/* The published first outputs of splitmix64 for seed 0, and 1234567. */
static void test_random(void **state) {
    (void)state;
    expect_buffer(VYRE_TYPE_U64, "rand:2",
                  "\xaf\xcd\x1d\x7b\x39\xa8\x20\xe2"
                  "\xf4\x65\xb9\xa1\x6a\x9e\x78\x6e",
                  16);
    vyre_strbuf bytes;
    size_t offset;
    assert_null(parse(VYRE_TYPE_U64, "rand:1:1234567", &bytes, &offset));
    assert_int_equal(values_element_load(VYRE_TYPE_U64, (uint8_t *)bytes.data),
                     6457827717110365317u);
    vyre_strbuf_free(&bytes);
    assert_null(parse(VYRE_TYPE_U64, "rand:1:1234567:1000", &bytes, &offset));
    assert_int_equal(values_element_load(VYRE_TYPE_U64, (uint8_t *)bytes.data), 317);
    vyre_strbuf_free(&bytes);
    /* 0xe220a8... of seed 0: the high bits are the fraction, exactly, the low ones the integer. */
    expect_buffer(VYRE_TYPE_U32, "rand:1:0", "\xaf\xcd\x1d\x7b", 4);
    expect_buffer(VYRE_TYPE_U8, "rand:1:0", "\xaf", 1);
    assert_null(parse(VYRE_TYPE_F32, "rand:1:0", &bytes, &offset));
    float f32;
    memcpy(&f32, bytes.data, sizeof f32);
    assert_true(f32 == (float)0xe220a8 / 16777216.0f);
    vyre_strbuf_free(&bytes);
    assert_null(parse(VYRE_TYPE_F64, "rand:1:0", &bytes, &offset));
    double f64;
    memcpy(&f64, bytes.data, sizeof f64);
    assert_true(f64 == (double)(0xe220a8397b1dcdafu >> 11) / 9007199254740992.0);
    vyre_strbuf_free(&bytes);
    /* 0xe2 = 226 of 256, and 0x711 of 2048 = 0xe22 / 2. */
    expect_buffer(VYRE_TYPE_BF16, "rand:1:0", "\x62\x3f", 2);
    expect_buffer(VYRE_TYPE_F16, "rand:1:0", "\x11\x3b", 2);
}

static void test_wrong_buffers(void **state) {
    (void)state;
    static const row rows[] = {
        {VYRE_TYPE_U32, "", 0},
        {VYRE_TYPE_U32, "1,", 0},
        {VYRE_TYPE_U32, ",1", 0},
        {VYRE_TYPE_U32, "1,,2", 0},
        {VYRE_TYPE_U8, "1,256", 0},
        {VYRE_TYPE_U32, "zeros", 0},
        {VYRE_TYPE_U32, "zeros:", 0},
        {VYRE_TYPE_U32, "zeros:-1", 0},
        {VYRE_TYPE_U32, "zeros:1:2", 0},
        {VYRE_TYPE_U32, "zeros:4294967296", 0},
        {VYRE_TYPE_U32, "iota:x", 0},
        {VYRE_TYPE_U32, "iota:1:-1", 0},
        {VYRE_TYPE_U32, "iota:1:0.5", 0},
        {VYRE_TYPE_U32, "iota:1:2:3", 0},
        {VYRE_TYPE_U32, "cycle", 0},
        {VYRE_TYPE_U32, "cycle:3", 0},
        {VYRE_TYPE_U32, "cycle:3:", 0},
        {VYRE_TYPE_U32, "cycle::1", 0},
        {VYRE_TYPE_U32, "cycle:3:1,x", 0},
        {VYRE_TYPE_U32, "cycle:3:1,2:x", 0},
        {VYRE_TYPE_U32, "cycle:3:1,2:1:1", 0},
        {VYRE_TYPE_U32, "cycle:4294967296:1", 0},
        {VYRE_TYPE_U64, "cycle:4294967295:1", 0},
        {VYRE_TYPE_U32, "1*", 0},
        {VYRE_TYPE_U32, "*2", 0},
        {VYRE_TYPE_U32, "1*2*3", 0},
        {VYRE_TYPE_U32, "1*-1", 0},
        {VYRE_TYPE_U64, "1*4294967295", 0},
        {VYRE_TYPE_U32, "ones", 0},
        {VYRE_TYPE_U32, "ones:2:3", 0},
        {VYRE_TYPE_U32, "full:3", 0},
        {VYRE_TYPE_U32, "full:x:3", 0},
        {VYRE_TYPE_U8, "full:256:3", 0},
        {VYRE_TYPE_U32, "full:1:", 0},
        {VYRE_TYPE_U32, "full:1:2:3", 0},
        {VYRE_TYPE_U64, "full:1:4294967295", 0},
        {VYRE_TYPE_U32, "[1,2", 0},
        {VYRE_TYPE_U32, "1,2]", 0},
        {VYRE_TYPE_U32, "[", 0},
        {VYRE_TYPE_U32, "[1,2],3", 0},
        {VYRE_TYPE_U32, "[[1,2],[3,4]]", 0},
        {VYRE_TYPE_U32, "1 2", 0},
        {VYRE_TYPE_U32, "1, ", 0},
        {VYRE_TYPE_U32, "rand:1:2:3:4", 0},
        {VYRE_TYPE_U32, "rand:1:2:0", 0},
        {VYRE_TYPE_I8, "rand:1:2:129", 0},
        {VYRE_TYPE_U8, "rand:1:2:257", 0},
        {VYRE_TYPE_F32, "rand:1:2:5", 0},
        {VYRE_TYPE_BOOL, "rand:1:2:2", 0},
        {VYRE_TYPE_U32, "@", 0},
        {VYRE_TYPE_U32, "@-", 0}, /* stdin is taken */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_strbuf bytes;
        size_t offset;
        vyre_status status = parse(rows[i].type, rows[i].text, &bytes, &offset);
        if (!status) {
            fail_msg("`%s` is taken", rows[i].text);
        }
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
        assert_non_null(strstr(vyre_status_text(status), "Fix: "));
        vyre_status_free(status);
        vyre_strbuf_free(&bytes);
    }
    expect_buffer(VYRE_TYPE_I8, "rand:1:0:128", "\x2f", 1);
}

static void test_options(void **state) {
    (void)state;
    uint64_t number;
    assert_null(values_number_parse("--seed", "0x10", &number));
    assert_int_equal(number, 16);
    assert_null(values_seconds_parse("--timeout", "0.25", &number));
    assert_int_equal(number, 250000000);
    static const char *const wrong[] = {"", "0", "-1", "nan", "inf", "1e10", "1s", "1e-10"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        vyre_status status = values_seconds_parse("--timeout", wrong[i], &number);
        assert_non_null(status);
        vyre_status_free(status);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),     cmocka_unit_test(test_wrong_scalars),
        cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_random),      cmocka_unit_test(test_same_elements),
        cmocka_unit_test(test_lists),       cmocka_unit_test(test_steps_and_cycles),
        cmocka_unit_test(test_many_random), cmocka_unit_test(test_wrong_buffers),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
