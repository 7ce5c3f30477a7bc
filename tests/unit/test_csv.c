/* Tables of numbers: separators, headers, and errors with line and column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "tests/unit/failing_allocator.h"
#include "values/csv.h"

static vyre_strbuf make(const char *text) {
    vyre_strbuf file = {0};
    vyre_strbuf_puts(&file, text);
    return file;
}

static void test_tables(void **state) {
    (void)state;
    static const struct {
        const char *text, *column;
        uint32_t rank;
        uint64_t rows, columns;
        const char *bytes;
        size_t size;
    } rows[] = {
        {"1,2,3\n4,5,6\n", NULL, 2, 2, 3, "\1\2\3\4\5\6", 6},
        {"1;2;3\r\n4;5;6", NULL, 2, 2, 3, "\1\2\3\4\5\6", 6},
        {"1\t2\t3\n4\t5\t6\n", NULL, 2, 2, 3, "\1\2\3\4\5\6", 6},
        {"  1   2 3\n4 5\t6  \n", NULL, 2, 2, 3, "\1\2\3\4\5\6", 6},
        {"1, 2,3\n\n# no row\n4 ,5,6\n", NULL, 2, 2, 3, "\1\2\3\4\5\6", 6},
        {"\xef\xbb\xbfwidth,\"the, height\"\n1,2\n\"3\",4\n", NULL, 2, 2, 2, "\1\2\3\4", 4},
        {"width,height\n1,2\n3,4\n", "height", 1, 2, 0, "\2\4", 2},
        {"width,height\n1,2\n3,4\n", "1", 1, 2, 0, "\1\3", 2},
        {"1,2\n3,4\n", "2", 1, 2, 0, "\2\4", 2},
        {"1\n2\n3", NULL, 1, 3, 0, "\1\2\3", 3},
        {"price\n1\n2\n", NULL, 1, 2, 0, "\1\2", 2},
        {"# numpy.savetxt\n1.000000000000000000e+00 2.5e+01\n", NULL, 2, 1, 2, "\1\x19", 2},
        {"0x10,0b11,-0\n", NULL, 2, 1, 3, "\x10\3\0", 3},
        {"", NULL, 1, 0, 0, "", 0},
        {"only,a,header\n", NULL, 2, 0, 3, "", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_strbuf file = make(rows[i].text);
        values_shape shape = {0};
        vyre_status status = values_csv_read(&file, "t.csv", rows[i].column, VYRE_TYPE_U8, &shape);
        if (status) {
            fail_msg("%s: %s", rows[i].text, vyre_status_text(status));
        }
        assert_int_equal(shape.rank, rows[i].rank);
        assert_int_equal(shape.sizes[0], rows[i].rows);
        assert_int_equal(shape.rank == 2 ? shape.sizes[1] : 0, rows[i].columns);
        assert_int_equal(file.size, rows[i].size);
        if (file.size) {
            assert_memory_equal(file.data, rows[i].bytes, file.size);
        }
        vyre_strbuf_free(&file);
    }
}

static void test_floats(void **state) {
    (void)state;
    vyre_strbuf file = make("1.5E+00,-0.5,NaN,-INF,0x10\n");
    values_shape shape;
    assert_null(values_csv_read(&file, "t.csv", NULL, VYRE_TYPE_F32, &shape));
    assert_int_equal(file.size, 20);
    assert_memory_equal(file.data, "\0\0\xc0\x3f\0\0\0\xbf\0\0\xc0\x7f\0\0\x80\xff\0\0\x80\x41",
                        20);
    vyre_strbuf_free(&file);
}

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *column, *part;
    } rows[] = {
        {"1,2\n3,x\n", NULL, "t.csv:2, column 2: `x` is not a valid u8. Fix: "},
        {"a,b\n1,2\n# skipped\n\n3,x\n", NULL, "t.csv:5, column 2: `x` is not"},
        {"1,b\n", NULL, "t.csv:1, column 2: `b` is not"},
        {"1,256\n", NULL, "t.csv:1, column 2: `256` is not a valid u8"},
        {"1,-1\n", NULL, "`-1` is not a valid u8"},
        {"1,1.5\n", NULL, "`1.5` is not a valid u8"},
        {"1,2\n3\n", NULL, "t.csv:2: the row has 1 cells, and the first line has 2"},
        {"1,2\n3,4,5\n", NULL, "t.csv:2: the row has 3 cells"},
        {"1,2\n3,\n", NULL, "t.csv:2, column 2: the cell is empty"},
        {"1\t2\n3\t\n", NULL, "t.csv:2, column 2: the cell is empty"},
        {"1;2,5\n", NULL, "column 2: `2,5` is not a valid u8. Fix: write a point"},
        {"a,b\n1,2\n", "c", "t.csv:1: there is no column `c`; there are 2. Fix: "},
        {"1,2\n", "3", "there is no column `3`"},
        {"1,2\n", "0", "there is no column `0`"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_strbuf file = make(rows[i].text);
        values_shape shape;
        vyre_status status = values_csv_read(&file, "t.csv", rows[i].column, VYRE_TYPE_U8, &shape);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
        if (!strstr(vyre_status_text(status), rows[i].part)) {
            fail_msg("`%s` is not in: %s", rows[i].part, vyre_status_text(status));
        }
        vyre_status_free(status);
        vyre_strbuf_free(&file);
    }
}

/* Any bytes are read or refused. */
static void test_every_byte(void **state) {
    (void)state;
    static const char text[] = "a;b\n1;\"2\"\n# c\n3;4\n";
    for (size_t i = 0; i < sizeof text - 1; i++) {
        for (int byte = 0; byte < 256; byte++) {
            vyre_strbuf file = make(text);
            values_shape shape;
            file.data[i] = (char)byte;
            vyre_status status = values_csv_read(&file, "t.csv", NULL, VYRE_TYPE_U8, &shape);
            assert_true(status || file.size <= 8);
            vyre_status_free(status);
            vyre_strbuf_free(&file);
        }
    }
}

static void test_no_memory(void **state) {
    (void)state;
    for (size_t n = 1;; n++) {
        vyre_strbuf file = make("a,b\n1,2\n");
        values_shape shape;
        failing_allocator_start(n);
        vyre_status status = values_csv_read(&file, "t.csv", NULL, VYRE_TYPE_F32, &shape);
        bool failed = failing_allocator_failed();
        assert_true(failed || !status);
        vyre_status_free(status);
        vyre_strbuf_free(&file);
        failing_allocator_end();
        if (!failed) {
            assert_true(n > 1);
            break;
        }
    }
}

static void test_written(void **state) {
    (void)state;
    const values_shape shape = {.is_known = true, .rank = 3, .sizes = {1, 2, 3}};
    const uint8_t elements[6] = {1, 2, 3, 4, 5, 255};
    uint64_t columns;
    vyre_strbuf out = {0};
    assert_null(values_csv_columns("y", 6, &shape, 0, &columns));
    assert_int_equal(columns, 3);
    values_csv_write(&out, VYRE_TYPE_U8, elements, 6, columns, ',');
    assert_string_equal(out.data, "1,2,3\n4,5,255\n");
    vyre_strbuf_free(&out);
    assert_null(values_csv_columns("y", 6, NULL, 0, &columns));
    assert_int_equal(columns, 1);
    assert_null(values_csv_columns("y", 6, &shape, 2, &columns));
    assert_int_equal(columns, 2);
    vyre_status status = values_csv_columns("y", 6, NULL, 4, &columns);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
    vyre_status_free(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),    cmocka_unit_test(test_floats),
        cmocka_unit_test(test_errors),    cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
