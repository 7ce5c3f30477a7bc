/* Names of files of values: what the suffix, a format in front and a detail behind mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "values/path.h"

static void test_formats(void **state) {
    (void)state;
    static const struct {
        const char *text;
        values_format format;
        const char *path, *detail;
    } rows[] = {
        {"a.npy", VALUES_FORMAT_NPY, "a.npy", NULL},
        {"a.NPY", VALUES_FORMAT_NPY, "a.NPY", NULL},
        {"n.PNG:4", VALUES_FORMAT_PNG, "n.PNG", "4"},
        {"n.png:4x3", VALUES_FORMAT_PNG, "n.png", "4x3"},
        {"d/a.npz:b", VALUES_FORMAT_NPZ, "d/a.npz", "b"},
        {"a.npz:b.npy", VALUES_FORMAT_NPZ, "a.npz", "b.npy"},
        {"a.Csv", VALUES_FORMAT_CSV, "a.Csv", NULL},
        {"a.tsv:name", VALUES_FORMAT_TSV, "a.tsv", "name"},
        {"a.bin", VALUES_FORMAT_RAW, "a.bin", NULL},
        {"a:b.bin", VALUES_FORMAT_RAW, "a:b.bin", NULL},
        {"a", VALUES_FORMAT_RAW, "a", NULL},
        {".png", VALUES_FORMAT_RAW, ".png", NULL},
        {"a.png/b", VALUES_FORMAT_RAW, "a.png/b", NULL},
        {"a.npy:4", VALUES_FORMAT_RAW, "a.npy:4", NULL},
        {"-", VALUES_FORMAT_RAW, "-", NULL},
        {"npy:-", VALUES_FORMAT_NPY, "-", NULL},
        {"raw:a.png", VALUES_FORMAT_RAW, "a.png", NULL},
        {"raw:a.jpg", VALUES_FORMAT_RAW, "a.jpg", NULL},
        {"csv:a.txt", VALUES_FORMAT_CSV, "a.txt", NULL},
        {"CSV:a.txt:2", VALUES_FORMAT_CSV, "a.txt", "2"},
        {"raw:a:b", VALUES_FORMAT_RAW, "a:b", NULL},
        {"./raw:a", VALUES_FORMAT_RAW, "./raw:a", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int is_output = 0; is_output < 2; is_output++) {
            values_path found;
            assert_null(is_output
                            ? values_path_parse_output("--out", rows[i].text, &found)
                            : values_path_parse_input("x", rows[i].text, VYRE_TYPE_F32, &found));
            assert_int_equal(found.format, rows[i].format);
            assert_true(vyre_str_is(found.path, rows[i].path));
            assert_true(rows[i].detail ? found.detail && !strcmp(found.detail, rows[i].detail)
                                       : !found.detail);
        }
    }
}

static void expect_refused(vyre_status status, const char *part) {
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
    if (!strstr(vyre_status_text(status), part)) {
        fail_msg("`%s` is not in: %s", part, vyre_status_text(status));
    }
    vyre_status_free(status);
}

static void test_other_formats(void **state) {
    (void)state;
    static const char *const names[] = {"a.jpg", "a.JPEG", "a.tiff", "a.h5", "a.npy.gz", "a.xlsx"};
    values_path found;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        expect_refused(values_path_parse_input("x", names[i], VYRE_TYPE_U8, &found),
                       "x: vyre does not read .");
        expect_refused(values_path_parse_output("--out", names[i], &found),
                       "--out: vyre does not write .");
    }
    /* A text is the bytes of a buffer of u8, and no numbers. */
    assert_null(values_path_parse_input("x", "a.txt", VYRE_TYPE_U8, &found));
    assert_int_equal(found.format, VALUES_FORMAT_RAW);
    expect_refused(values_path_parse_input("x", "a.txt", VYRE_TYPE_F32, &found),
                   "Fix: read numbers with @csv:FILE");
    expect_refused(values_path_parse_output("--out", "a.txt", &found), "Fix: write a .csv file");
    expect_refused(values_path_parse_input("x", "", VYRE_TYPE_U8, &found), "x: `@` names no file");
    expect_refused(values_path_parse_input("x", "csv:", VYRE_TYPE_U8, &found),
                   "x: `@csv:` names no file");
    expect_refused(values_path_parse_output("--out", "png:", &found), "`png:` names no file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_other_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
