/* Samples: expressions over n, what a manifest may say, and the arguments that come of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

#include "dialect/package.h"
#include "dialect/sample.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/package_check.h"
#include "values/element.h"
#include "values/sample.h"

static void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

/* Frees the status. */
static void expect_error(vyre_status status, vyre_status_code code, const char *part) {
    if (vyre_status_code_of(status) != code || !strstr(vyre_status_text(status), part)) {
        fail_msg("%s, and it should say %s", vyre_status_text(status), part);
    }
    assert_true(*vyre_status_fix(status));
    vyre_status_free(status);
}

static vyre_status number_of(const char *text, uint64_t n, uint64_t *out) {
    return vyre_sample_number((vyre_str){text, strlen(text)}, n, out);
}

static void expressions_have_values(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t n, value;
    } rows[] = {
        {"n", 7, 7},
        {"17", 7, 17},
        {" 2 * n + 3 ", 7, 17},
        {"3 + n * 2", 7, 17},
        {"n - 2 - 3", 7, 2},
        {"n - (2 - 1)", 7, 6},
        {"100 / n / 2", 7, 7},
        {"100 / (n / 2)", 7, 33},
        {"root(n)", 0, 0},
        {"root(n)", 1, 1},
        {"root(n)", 99, 9},
        {"root(n)", 100, 10},
        {"root(n)", UINT64_MAX, UINT32_MAX},
        {"root(n)", (uint64_t)UINT32_MAX * UINT32_MAX, UINT32_MAX},
        {"root(n)", (uint64_t)UINT32_MAX * UINT32_MAX - 1, UINT32_MAX - 1},
        {"log2(n)", 0, 0},
        {"log2(n)", 1, 0},
        {"log2(n)", 1023, 9},
        {"log2(n)", 1024, 10},
        {"log2(n)", UINT64_MAX, 63},
        {"min(n, 5)", 7, 5},
        {"max(1, n / 8) * min(n, 8)", 7, 7},
        {"max (min(n,3),root( n*n ))", 7, 7},
        {"18446744073709551615", 1, UINT64_MAX},
        {"((((n))))", 3, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value;
        expect_ok(number_of(rows[i].text, rows[i].n, &value));
        if (value != rows[i].value) {
            fail_msg("%s is %llu", rows[i].text, (unsigned long long)value);
        }
    }
}

static void expressions_that_are_wrong_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        vyre_status_code code;
        const char *part;
    } rows[] = {
        {"", VYRE_STATUS_MALFORMED, "no value at character 1"},
        {"n +", VYRE_STATUS_MALFORMED, "no value at character 4"},
        {"2 n", VYRE_STATUS_MALFORMED, "an unexpected character at character 3"},
        {"(n", VYRE_STATUS_MALFORMED, "a missing closing parenthesis"},
        {"n)", VYRE_STATUS_MALFORMED, "an unexpected character"},
        {"square(n)", VYRE_STATUS_MALFORMED, "an unknown name at character 1"},
        {"n + m", VYRE_STATUS_MALFORMED, "an unknown name at character 5"},
        {"root n", VYRE_STATUS_MALFORMED, "no parenthesis"},
        {"root(n", VYRE_STATUS_MALFORMED, "a missing closing parenthesis"},
        {"min(n)", VYRE_STATUS_MALFORMED, "no comma"},
        {"n % 2", VYRE_STATUS_MALFORMED, "an unexpected character"},
        {"-1", VYRE_STATUS_MALFORMED, "no value"},
        {"18446744073709551616", VYRE_STATUS_MALFORMED, "too large"},
        {"n - 4", VYRE_STATUS_LIMIT, "for n = 3: it is below 0"},
        {"1 / (n - 3)", VYRE_STATUS_LIMIT, "it divides by 0"},
        {"n * 9223372036854775807", VYRE_STATUS_LIMIT, "exceeds the largest"},
        {"n + 18446744073709551615", VYRE_STATUS_LIMIT, "exceeds the largest"},
    };
    uint64_t value;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_error(number_of(rows[i].text, 3, &value), rows[i].code, rows[i].part);
    }
    char deep[202] = {0};
    memset(deep, '(', 100);
    deep[100] = 'n';
    memset(deep + 101, ')', 100);
    expect_error(number_of(deep, 3, &value), VYRE_STATUS_MALFORMED, "too many nested parentheses");
}

static void words_are_expanded(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    expect_ok(vyre_sample_expand("x=rand:{2 * n}:1:{n}\na=2", 5, &text));
    assert_string_equal(text.data, "x=rand:10:1:5\na=2");
    vyre_strbuf_free(&text);
    expect_error(vyre_sample_expand("x=rand:{n", 5, &text), VYRE_STATUS_MALFORMED, "brace");
    expect_error(vyre_sample_expand("x=rand:n}", 5, &text), VYRE_STATUS_MALFORMED, "brace");
    expect_error(vyre_sample_expand("x={n\n}", 5, &text), VYRE_STATUS_MALFORMED, "brace");
    expect_error(vyre_sample_expand("x={{n}}", 5, &text), VYRE_STATUS_MALFORMED, "brace");
    vyre_strbuf_free(&text);
}

/* A dialect of three operations: one with a sample, one with the usual one, one without. */
static const char source_text[] =
    "program scale(a: f32, x: buffer<f32>, y: inout buffer<f32>[len(x)], z: out buffer<f32>[1])\n"
    "    over y { y[gid] = a * x[gid]; }\n"
    "program plain(x: buffer<u8>, y: buffer<u32>[2 * len(x)], z: out buffer<u32>[len(y)])\n"
    "    over z { z[gid] = y[gid]; }\n"
    "program scalar(a: u32, z: out buffer<u32>[4]) over z { z[gid] = a; }\n"
    "fn add(a: u32, b: u32) -> u32 { return a + b; }\n";

#define OPERATION(id, sample, arguments, expected)                                                 \
    "[[operation]]\nid = \"" id "\"\ndoc = \"D.\"\n" sample                                        \
    "[[operation.witness]]\narguments = [" arguments "]\nexpected = [\"" expected "\"]\n"
#define SCALE(sample) OPERATION("s.scale", sample, "\"a=1\", \"x=1\", \"y=1\"", "y=1")
#define HEAD "dialect = \"s\"\nversion = \"1.0.0\"\ndoc = \"For tests.\"\n"

static const char manifest[] =
    HEAD SCALE("sample = [\"a=2\", \"x=iota:{n}\", \"y=zeros:{n}\"]\nwork = \"2 * n\"\n")
        OPERATION("s.plain", "", "\"x=1\", \"y=1,2\"", "z=1,2")
            OPERATION("s.scalar", "", "\"a=1\"", "z=1,1,1,1")
                OPERATION("s.add", "", "\"a=1\", \"b=1\"", "result=2");

static vyre_status load(const char *text, vyre_dialects **out) {
    vyre_streams streams = {0};
    *out = NULL;
    vyre_status status = package_check_add(&streams, "s", text, source_text);
    status = status ? status
                    : vyre_dialects_make(streams.operations.items, streams.operations.count, out);
    vyre_streams_free(&streams);
    return status;
}

static void snapshots_keep_samples(void **state) {
    (void)state;
    vyre_dialects *dialects;
    expect_ok(load(manifest, &dialects));
    const vyre_operation *scale = vyre_dialects_find(dialects, "s.scale");
    const vyre_operation *plain = vyre_dialects_find(dialects, "s.plain");
    assert_string_equal(scale->sample, "a=2\nx=iota:{n}\ny=zeros:{n}");
    assert_string_equal(scale->work, "2 * n");
    assert_null(plain->sample);
    assert_null(plain->work);
    assert_true(values_sample_exists(scale));
    assert_true(values_sample_exists(plain));
    assert_true(values_sample_exists(vyre_dialects_find(dialects, "s.add")));
    assert_false(values_sample_exists(vyre_dialects_find(dialects, "s.scalar")));
    double work;
    assert_true(values_sample_work(scale, 21, &work));
    assert_true(work == 42);
    assert_false(values_sample_work(scale, UINT64_MAX, &work));
    assert_false(values_sample_work(plain, 21, &work));
    vyre_dialects_release(dialects);
}

static void arguments_have_the_size(void **state) {
    (void)state;
    vyre_dialects *dialects;
    values_binding binding;
    expect_ok(load(manifest, &dialects));
    const vyre_operation *scale = vyre_dialects_find(dialects, "s.scale");
    expect_ok(values_sample_bind(&binding, scale, scale->built, 100));
    assert_int_equal(binding.input_count, 3);
    assert_int_equal(binding.inputs[0].size, 4);
    assert_int_equal(binding.inputs[1].size, 400);
    assert_int_equal(binding.inputs[2].size, 400);
    float last;
    memcpy(&last, (const char *)binding.inputs[1].data + 396, 4);
    assert_true(last == 99);
    values_binding_deinit(&binding);

    /* Where nothing is said, lengths that are declared follow from the others. */
    const vyre_operation *plain = vyre_dialects_find(dialects, "s.plain");
    expect_ok(values_sample_bind(&binding, plain, plain->built, 100));
    assert_int_equal(binding.inputs[0].size, 100);
    assert_int_equal(binding.inputs[1].size, 800);
    values_binding_deinit(&binding);

    /* What is given stays. */
    const char *given[] = {"x=5,6,7", "a=9"};
    expect_ok(values_sample_complete(&binding, scale, scale->built, 3, given, 2, true));
    assert_int_equal(binding.inputs[1].size, 12);
    memcpy(&last, binding.inputs[1].data, 4);
    assert_true(last == 5);
    values_binding_deinit(&binding);

    const vyre_operation *scalar = vyre_dialects_find(dialects, "s.scalar");
    expect_error(values_sample_bind(&binding, scalar, scalar->built, 3),
                 VYRE_STATUS_INVALID_ARGUMENT, "`s.scalar` has arguments other than buffers");
    values_binding_deinit(&binding);
    expect_error(values_sample_bind(&binding, scale, scale->built, 0), VYRE_STATUS_INVALID_ARGUMENT,
                 "the size of a sample is 0");
    values_binding_deinit(&binding);
    expect_error(values_sample_bind(&binding, scale, scale->built, UINT64_MAX),
                 VYRE_STATUS_INVALID_ARGUMENT, "number of elements");
    values_binding_deinit(&binding);
    vyre_dialects_release(dialects);
}

static void mistakes_are_told_at_their_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *part;
    } rows[] = {
        {HEAD SCALE("sample = [\"x\"]\n"), "s.toml:7:11: \"x\" is not of the form NAME=VALUE"},
        {HEAD SCALE("sample = [\"a=2\",\n  \"x=rand:{n +}\", \"y=zeros:{n}\"]\n"),
         "s.toml:8:3: the expression `n +` has no value at character 4"},
        {HEAD SCALE("sample = [\"a=2\", \"x=rand:{n - 2}\", \"y=zeros:{n}\"]\n"),
         "has no value for n = 1: it is below 0"},
        {HEAD SCALE("sample = [\"a=2\", \"x=rand:{n * n * n}\", \"y=zeros:{n}\"]\n"),
         "has no value for n = 67108864: it exceeds the largest"},
        {HEAD SCALE("sample = [\"a=2\", \"x=rand:{n\", \"y=zeros:{n}\"]\n"), "an unmatched brace"},
        {HEAD SCALE("sample = [\"a=2\", \"x=@file\", \"y=zeros:{n}\"]\n"),
         "names a file, and a sample cannot read files"},
        {HEAD SCALE("sample = [\"a=2\", \"x=rand:{n}\"]\n"),
         "s.toml:7:10: the sample of `s.scale` gives `y` no value"},
        {HEAD SCALE("sample = [\"a=2\", \"x=rand:{n}\", \"x=1\", \"y=zeros:{n}\"]\n"),
         "the sample of `s.scale` gives `x` two values"},
        {HEAD SCALE("sample = [\"a=2\", \"x=rand:{n}\", \"yy=1\", \"y=zeros:{n}\"]\n"),
         "a sample names `yy`, which is not an input of `s.scale`"},
        {HEAD SCALE("sample = [\"a=2\", \"x=rand:{n}\", \"z=1\", \"y=zeros:{n}\"]\n"),
         "a sample names `z`, which is not an input"},
        {HEAD SCALE("sample = 7\n"), "s.toml:7"},
        {HEAD SCALE("sample = [7]\n"), "s.toml:7"},
        {HEAD SCALE("work = \"2 m\"\n"), "s.toml:7:8: the expression `2 m`"},
        {HEAD SCALE("work = \"\"\n"), "`work` is empty"},
        {HEAD SCALE("work = 2\n"), "s.toml:7"},
        {HEAD SCALE("samples = []\n"), "perhaps `sample`"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_dialects *dialects;
        vyre_status status = load(rows[i].text, &dialects);
        assert_non_null(status);
        if (!strstr(vyre_status_text(status), rows[i].part) || !*vyre_status_fix(status)) {
            fail_msg("%s, and it should say %s", vyre_status_text(status), rows[i].part);
        }
        vyre_status_free(status);
    }
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    vyre_dialects *dialects;
    expect_ok(load(manifest, &dialects));
    static const char *const ids[] = {"s.scale", "s.plain"};
    static const char *const given[] = {"x=cycle:3:1,2*2:3"};
    for (size_t i = 0; i < 2; i++) {
        const vyre_operation *operation = vyre_dialects_find(dialects, ids[i]);
        for (size_t n = 1; failing_allocator_start(n); n++) {
            values_binding binding;
            vyre_status status =
                values_sample_complete(&binding, operation, operation->built, 3, given, 1, true);
            bool failed = status != VYRE_OK;
            vyre_status_free(status);
            values_binding_deinit(&binding);
            failing_allocator_stop();
            if (!failing_allocator_failed()) {
                assert_false(failed);
                break;
            }
            assert_true(failed);
        }
    }
    vyre_dialects_release(dialects);
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_status status = load(manifest, &dialects);
        bool is_memory = vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY;
        const vyre_operation *scale = status ? NULL : vyre_dialects_find(dialects, "s.scale");
        bool whole = scale && !strcmp(scale->sample, "a=2\nx=iota:{n}\ny=zeros:{n}") &&
                     !strcmp(scale->work, "2 * n");
        vyre_status_free(status);
        vyre_dialects_release(dialects);
        failing_allocator_end(); /* names that were interned stay */
        if (!failing_allocator_failed()) {
            assert_true(whole);
            break;
        }
        assert_true(whole || is_memory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_have_values),
        cmocka_unit_test(expressions_that_are_wrong_are_refused),
        cmocka_unit_test(words_are_expanded),
        cmocka_unit_test(snapshots_keep_samples),
        cmocka_unit_test(arguments_have_the_size),
        cmocka_unit_test(mistakes_are_told_at_their_place),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
