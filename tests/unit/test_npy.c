/* .npy files: headers byte for byte as NumPy writes them, every way in which a file can be wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "values/npy.h"

#define F4 "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"

/* A file of that version whose header is `header` padded to 64 bytes, and these elements. */
static vyre_strbuf make(int version, const char *header, const char *elements, size_t size) {
    vyre_strbuf text = {0};
    size_t width = version == 1 ? 2 : 4, length = strlen(header) + 1;
    while ((8 + width + length) % 64) {
        length++;
    }
    vyre_strbuf_add(&text, "\x93NUMPY", 6);
    vyre_strbuf_putc(&text, (char)version);
    vyre_strbuf_putc(&text, 0);
    for (size_t i = 0; i < width; i++) {
        vyre_strbuf_putc(&text, (char)(length >> 8 * i & 0xff));
    }
    vyre_strbuf_puts(&text, header);
    vyre_strbuf_repeat(&text, ' ', length - strlen(header) - 1);
    vyre_strbuf_putc(&text, '\n');
    vyre_strbuf_add(&text, elements, size);
    assert_false(text.failed);
    return text;
}

static void expect_elements(vyre_strbuf file, vyre_type type, const char *elements, size_t size) {
    size_t offset;
    values_shape shape = {0};
    vyre_status status = values_npy_read(&file, "x.npy", "x", type, &offset, &shape);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    assert_int_equal(file.size - offset, size);
    assert_memory_equal(file.data + offset, elements, size);
    vyre_strbuf_free(&file);
}

static void expect_error(vyre_strbuf file, vyre_type type, vyre_status_code code,
                         const char *part) {
    size_t offset;
    values_shape shape = {0};
    vyre_status status = values_npy_read(&file, "x.npy", "x", type, &offset, &shape);
    assert_non_null(status);
    assert_int_equal(vyre_status_code_of(status), code);
    if (!strstr(vyre_status_text(status), part)) {
        fail_msg("`%s` is not in: %s", part, vyre_status_text(status));
    }
    assert_non_null(strstr(vyre_status_text(status), "Fix: "));
    vyre_status_free(status);
    vyre_strbuf_free(&file);
}

/* What numpy.save writes for numpy.array([1, -2], 'float32'). */
static void test_header_bytes(void **state) {
    (void)state;
    vyre_strbuf out = {0};
    const values_shape two = values_shape_vector(2);
    values_npy_header(&out, VYRE_TYPE_F32, &two);
    char expected[128] = "\x93NUMPY\x01\x00\x76\x00" F4;
    memset(expected + 10 + strlen(F4), ' ', sizeof expected - 11 - strlen(F4));
    expected[127] = '\n';
    assert_int_equal(out.size, 128);
    assert_memory_equal(out.data, expected, 128);
    vyre_strbuf_free(&out);
}

static void test_types(void **state) {
    (void)state;
    static const struct {
        vyre_type type;
        const char *code;
    } rows[] = {
        {VYRE_TYPE_I8, "'|i1'"},   {VYRE_TYPE_U8, "'|u1'"},  {VYRE_TYPE_I16, "'<i2'"},
        {VYRE_TYPE_U16, "'<u2'"},  {VYRE_TYPE_I32, "'<i4'"}, {VYRE_TYPE_U32, "'<u4'"},
        {VYRE_TYPE_I64, "'<i8'"},  {VYRE_TYPE_U64, "'<u8'"}, {VYRE_TYPE_F16, "'<f2'"},
        {VYRE_TYPE_BF16, "'<u2'"}, {VYRE_TYPE_F32, "'<f4'"}, {VYRE_TYPE_F64, "'<f8'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_strbuf out = {0};
        char elements[16] = {1, 0, 1};
        size_t size = 2 * (size_t)vyre_type_bytes(rows[i].type);
        const values_shape two = values_shape_vector(2);
        values_npy_header(&out, rows[i].type, &two);
        assert_int_equal(out.size % 64, 0);
        assert_non_null(strstr(out.data + 10, rows[i].code));
        vyre_strbuf_add(&out, elements, size);
        expect_elements(out, rows[i].type, elements, size);
    }
}

/* 4294967295 elements: the header's longest number. */
static void test_header_aligned(void **state) {
    (void)state;
    for (uint64_t count = 0; count <= UINT32_MAX; count = count * 10 + 9) {
        vyre_strbuf out = {0};
        const values_shape shape = values_shape_vector(count);
        values_npy_header(&out, VYRE_TYPE_U8, &shape);
        assert_int_equal(out.size, 128);
        assert_int_equal(out.data[127], '\n');
        vyre_strbuf_free(&out);
    }
}

static void test_versions_and_shapes(void **state) {
    (void)state;
    const char bytes[24] = "abcdefghijklmnopqrstuvwx";
    static const char *const shapes[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (6,), }",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 6, 1), }",
        "{\"shape\":(6,),\"fortran_order\":False,\"descr\":\"<f4\"}",
        "{ 'shape' : ( 3L , 2L ) , 'descr' : '=f4' , 'fortran_order' : False }",
    };
    for (int version = 1; version <= 3; version++) {
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            expect_elements(make(version, shapes[i], bytes, 24), VYRE_TYPE_F32, bytes, 24);
        }
    }
    expect_elements(make(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", bytes, 4),
                    VYRE_TYPE_F32, bytes, 4);
    expect_elements(make(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 0, 5), }", "", 0),
                    VYRE_TYPE_F32, "", 0);
}

/* A shape that is written is read again, from a single element to the most dimensions. */
static void test_shapes_survive(void **state) {
    (void)state;
    values_shape most = {.is_known = true, .rank = VALUES_RANK_MAX};
    for (uint32_t i = 0; i < VALUES_RANK_MAX; i++) {
        most.sizes[i] = 1;
    }
    const values_shape shapes[] = {{.is_known = true},
                                   {.is_known = true, .rank = 1, .sizes = {0}},
                                   {.is_known = true, .rank = 2, .sizes = {1, 1}},
                                   {.is_known = true, .rank = 3, .sizes = {2, 1, 3}},
                                   most};
    static const char *const texts[] = {"'shape': (), }", "'shape': (0,), }", "'shape': (1, 1), }",
                                        "'shape': (2, 1, 3), }", "'shape': (1, 1, 1, "};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        vyre_strbuf out = {0};
        size_t offset, count = 1;
        values_shape found = {0};
        for (uint32_t k = 0; k < shapes[i].rank; k++) {
            count *= shapes[i].sizes[k];
        }
        values_npy_header(&out, VYRE_TYPE_U8, &shapes[i]);
        assert_int_equal(out.size % 64, 0);
        assert_non_null(strstr(out.data + 10, texts[i]));
        vyre_strbuf_repeat(&out, 7, count);
        assert_null(values_npy_read(&out, "x.npy", "x", VYRE_TYPE_U8, &offset, &found));
        assert_true(found.is_known && found.rank == shapes[i].rank);
        assert_memory_equal(found.sizes, shapes[i].sizes, sizeof found.sizes);
        vyre_strbuf_free(&out);
    }
}

static void test_byte_order(void **state) {
    (void)state;
    expect_elements(make(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }",
                         "\x3f\x80\x00\x00\xc0\x00\x00\x01", 8),
                    VYRE_TYPE_F32, "\x00\x00\x80\x3f\x01\x00\x00\xc0", 8);
    expect_elements(make(1, "{'descr': '>i8', 'fortran_order': False, 'shape': (1,), }",
                         "\x01\x02\x03\x04\x05\x06\x07\x08", 8),
                    VYRE_TYPE_I64, "\x08\x07\x06\x05\x04\x03\x02\x01", 8);
    expect_elements(
        make(1, "{'descr': '>u2', 'fortran_order': False, 'shape': (1,), }", "\x3f\x80", 2),
        VYRE_TYPE_BF16, "\x80\x3f", 2);
    expect_elements(
        make(1, "{'descr': '|V2', 'fortran_order': False, 'shape': (1,), }", "\x80\x3f", 2),
        VYRE_TYPE_BF16, "\x80\x3f", 2);
}

static void test_wrong_types(void **state) {
    (void)state;
    static const char f8[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }";
    static const char fields[] =
        "{'descr': [('a', '<f4'), ('b]', '<i4')], 'fortran_order': False, 'shape': (1,), }";
    static const char text[] = "{'descr': '<U4', 'fortran_order': False, 'shape': (1,), }";
    static const char bytes[] = "12345678";
    expect_error(make(1, f8, bytes, 8), VYRE_TYPE_F32, VYRE_STATUS_INVALID_ARGUMENT,
                 "holds `<f8` (float64), and the elements of `x` are f32 (`<f4`, float32)");
    expect_error(make(1, f8, bytes, 8), VYRE_TYPE_F32, VYRE_STATUS_INVALID_ARGUMENT,
                 "Fix: save a.astype('float32')");
    expect_error(make(1, f8, bytes, 8), VYRE_TYPE_BF16, VYRE_STATUS_INVALID_ARGUMENT,
                 "a.view('uint16')");
    expect_error(make(1, f8, bytes, 8), VYRE_TYPE_U64, VYRE_STATUS_INVALID_ARGUMENT, "uint64");
    expect_error(make(1, fields, bytes, 8), VYRE_TYPE_F32, VYRE_STATUS_INVALID_ARGUMENT,
                 "a type with fields");
    expect_error(make(1, text, bytes, 8), VYRE_TYPE_F32, VYRE_STATUS_INVALID_ARGUMENT,
                 "not a type of vyre");
    expect_error(
        make(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1, 1, 2), }", bytes, 16 - 8),
        VYRE_TYPE_F32, VYRE_STATUS_INVALID_ARGUMENT, "ascontiguousarray");
    expect_error(make(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }", "\1", 1),
                 VYRE_TYPE_I8, VYRE_STATUS_INVALID_ARGUMENT, "`|b1` (bool)");
    /* V2 is bf16's alone. */
    expect_error(make(1, "{'descr': '|V2', 'fortran_order': False, 'shape': (1,), }", bytes, 2),
                 VYRE_TYPE_F16, VYRE_STATUS_INVALID_ARGUMENT, "`|V2`");
}

static void test_damage(void **state) {
    (void)state;
    static const char *const headers[] = {
        "",
        "[]",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'shape': (2,)}",
        "{'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,) 'x': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}",
        "{'descr': [('a', '<f4', 'fortran_order': False, 'shape': (2,)}",
        F4 " 7",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        expect_error(make(1, headers[i], "12345678", 8), VYRE_TYPE_F32, VYRE_STATUS_MALFORMED,
                     "header");
    }
    expect_error(make(1, F4, "1234567", 7), VYRE_TYPE_F32, VYRE_STATUS_MALFORMED, "has 7 bytes");
    expect_error(make(1, F4, "123456789", 9), VYRE_TYPE_F32, VYRE_STATUS_MALFORMED, "has 9 bytes");
    expect_error(make(4, F4, "12345678", 8), VYRE_TYPE_F32, VYRE_STATUS_MALFORMED, "version 4.0");
    expect_error(make(0, F4, "12345678", 8), VYRE_TYPE_F32, VYRE_STATUS_MALFORMED, "version 0.0");
}

/* Cut anywhere, and with any byte changed, it is read or refused, but never read past its end. */
static void test_every_cut_and_byte(void **state) {
    (void)state;
    size_t offset;
    values_shape shape;
    vyre_strbuf whole = make(2, F4, "12345678", 8);
    for (size_t size = 0; size < whole.size; size++) {
        vyre_strbuf part = {0};
        vyre_strbuf_add(&part, whole.data, size);
        vyre_status status = values_npy_read(&part, "x.npy", "x", VYRE_TYPE_F32, &offset, &shape);
        assert_non_null(status);
        vyre_status_free(status);
        vyre_strbuf_free(&part);
    }
    for (size_t i = 0; i < whole.size - 8; i++) {
        for (int byte = 0; byte < 256; byte += 5) {
            vyre_strbuf copy = {0};
            vyre_strbuf_add(&copy, whole.data, whole.size);
            copy.data[i] = (char)byte;
            vyre_status status =
                values_npy_read(&copy, "x.npy", "x", VYRE_TYPE_F32, &offset, &shape);
            assert_true(status || copy.size - offset == 8);
            vyre_status_free(status);
            vyre_strbuf_free(&copy);
        }
    }
    vyre_strbuf_free(&whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header_bytes),       cmocka_unit_test(test_types),
        cmocka_unit_test(test_header_aligned),     cmocka_unit_test(test_versions_and_shapes),
        cmocka_unit_test(test_byte_order),         cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_shapes_survive),     cmocka_unit_test(test_damage),
        cmocka_unit_test(test_every_cut_and_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
