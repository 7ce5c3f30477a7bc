/* f16 and bf16 on every backend there is here: the elementary functions of one argument on all
 * 65,536 inputs against MPFR, and fma against whole numbers, where rounding twice goes wrong. The
 * reference; the cpu backend at several lane widths; what the cuda backend writes, on the machine
 * of tests/ptx. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/vyre.h>

#include "backend/reference/backend.h"
#include "oracle.h"
#include "tests/ptx/device.h"
#include "tests/unit/cpu_check.h"
#include "tests/unit/half_fma.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STRIDE = 64 };
#else
enum { STRIDE = 1 };
#endif
enum { ALL = 0x10000, FUNCTIONS = 15, TRIPLES = 4 * ALL / STRIDE, INPUTS = ALL / STRIDE };

static const half_format *const formats[] = {&half_f16, &half_bf16};
static const char *const type_names[] = {"f16", "bf16"};

/* By type and function: the results that are right. By type: operands of fma, and theirs. */
static uint16_t inputs[INPUTS], truths[2][FUNCTIONS][INPUTS];
static uint16_t triples[2][3][TRIPLES], sums[2][TRIPLES];

static uint16_t half_of(const half_format *format, float value) {
    uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffff;
    half_number n = {bits >> 31, (magnitude & 0x7fffff) | 0x800000, (int)(magnitude >> 23) - 150};
    if (magnitude > 0x7f800000) {
        return format->nan;
    }
    if (magnitude < 0x800000) {
        n = (half_number){bits >> 31, magnitude, -149};
    }
    return half_round(format, n);
}

static int compute_truths(void **state) {
    (void)state;
    for (uint32_t i = 0; i < INPUTS; i++) {
        inputs[i] = (uint16_t)(i * STRIDE + i % STRIDE);
    }
    for (size_t type = 0; type < 2; type++) {
        const math_format *format = &math_formats[FORMAT_F16 + type];
        for (size_t k = 0; k < FUNCTIONS; k++) {
            oracle truth;
            oracle_init(&truth, &math_functions[k], format, true);
            for (uint32_t i = 0; i < INPUTS; i++) {
                uint32_t x = bits_of(format_value(format, inputs[i]));
                truths[type][k][i] =
                    half_of(formats[type], float_of((uint32_t)oracle_truth(&truth, x, 0)));
            }
            oracle_deinit(&truth);
        }
        uint64_t random = 7;
        for (uint32_t i = 0; i < TRIPLES; i++) {
            uint16_t x[3];
            half_hard_case(formats[type], i, &random, x);
            for (size_t k = 0; k < 3; k++) {
                triples[type][k][i] = x[k];
            }
            sums[type][i] = half_fma(formats[type], x[0], x[1], x[2]);
        }
    }
    mpfr_free_cache();
    return 0;
}

static void check(vyre_device *device, const char *text, const vyre_input *given, size_t count,
                  const uint16_t *right, size_t length) {
    vyre_program *program = contract_program(text);
    vyre_outputs outputs;
    expect_ok(vyre_device_dispatch(device, program, given, count, NULL, &outputs));
    assert_int_equal(outputs.count, 1);
    assert_int_equal(outputs.items[0].size, length * 2);
    const uint16_t *found = (const uint16_t *)(const void *)outputs.items[0].data;
    for (size_t i = 0; i < length; i++) {
        if (found[i] != right[i]) {
            const uint16_t *x = given[0].data;
            fail_msg("%s\nelement %zu, %04x: %04x instead of %04x", text, i, x[i], found[i],
                     right[i]);
        }
    }
    vyre_outputs_free(&outputs);
    vyre_program_release(program);
}

static void functions_are_right(vyre_device *device) {
    const vyre_input given[] = {{inputs, sizeof inputs}};
    for (size_t type = 0; type < 2; type++) {
        for (size_t k = 0; k < FUNCTIONS; k++) {
            char text[200];
            const char *name = type_names[type];
            snprintf(text, sizeof text,
                     "program p(x: buffer<%s>, y: out buffer<%s>[len(x)]) over x { "
                     "y[gid] = %s(x[gid]); }",
                     name, name, math_functions[k].name);
            check(device, text, given, 1, truths[type][k], INPUTS);
        }
    }
}

static void fma_is_right(vyre_device *device) {
    for (size_t type = 0; type < 2; type++) {
        const char *name = type_names[type];
        char text[300];
        snprintf(text, sizeof text,
                 "program p(a: buffer<%s>, b: buffer<%s>[len(a)], c: buffer<%s>[len(a)], "
                 "y: out buffer<%s>[len(a)]) over a { y[gid] = fma(a[gid], b[gid], c[gid]); }",
                 name, name, name, name);
        const vyre_input given[] = {{triples[type][0], sizeof triples[type][0]},
                                    {triples[type][1], sizeof triples[type][1]},
                                    {triples[type][2], sizeof triples[type][2]}};
        check(device, text, given, 3, sums[type], TRIPLES);
    }
}

/* The tests below must be able to fail: what goes through f32 is often wrong for these. */
static void rounding_twice_would_show(void **state) {
    (void)state;
    for (size_t type = 0; type < 2; type++) {
        const math_format *format = &math_formats[FORMAT_F16 + type];
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < TRIPLES; i++) {
            float x[3];
            for (size_t k = 0; k < 3; k++) {
                x[k] = format_value(format, triples[type][k][i]);
            }
            wrong += half_of(formats[type], fmaf(x[0], x[1], x[2])) != sums[type][i];
        }
        printf("%s: %u of %d sums are wrong if they are rounded twice\n", type_names[type], wrong,
               TRIPLES);
        assert_true(wrong > TRIPLES / 100);
    }
}

/* T(x) of an x that has type T is x: no NaN becomes the canonical one. */
static void conversion_to_its_own_type_keeps_bits(vyre_device *device) {
    const vyre_input given[] = {{inputs, sizeof inputs}};
    check(device,
          "program p(x: buffer<f16>, y: out buffer<f16>[len(x)]) over x { y[gid] = f16(x[gid]); }",
          given, 1, inputs, INPUTS);
    check(device,
          "program p(x: buffer<bf16>, y: out buffer<bf16>[len(x)]) over x { "
          "y[gid] = bf16(x[gid]); }",
          given, 1, inputs, INPUTS);
    static const uint32_t nans[] = {0x7f800001, 0xffc00001, 0x7fffffff, 0xff812345};
    const vyre_input wide[] = {{nans, sizeof nans}};
    check(device,
          "program p(x: buffer<f32>, y: out buffer<f32>[len(x)]) over x { y[gid] = f32(x[gid]); }",
          wide, 1, (const uint16_t *)(const void *)nans, sizeof nans / 2);
    static const uint64_t doubles[] = {0x7ff0000000000001, 0xfff8000000000001, 0x7ff4000000000000};
    const vyre_input wider[] = {{doubles, sizeof doubles}};
    check(device,
          "program p(x: buffer<f64>, y: out buffer<f64>[len(x)]) over x { y[gid] = f64(x[gid]); }",
          wider, 1, (const uint16_t *)(const void *)doubles, sizeof doubles / 2);
}

static void on_device(vyre_status opened, vyre_device **device) {
    expect_ok(opened);
    vyre_device_cache_limit(*device, 0);
    functions_are_right(*device);
    fma_is_right(*device);
    conversion_to_its_own_type_keeps_bits(*device);
    vyre_device_release(*device);
}

static void reference_is_right(void **state) {
    (void)state;
    vyre_device *device = NULL;
    on_device(vyre_reference_open_oracle(&device), &device);
}

static void cpu_is_right_at_every_width(void **state) {
    (void)state;
    static const char *const lanes[] = {"1", "1x4", "4", "8", "16", "auto"};
    if (!cpu_check_available()) {
        skip();
    }
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        setenv("VYRE_CPU_LANES", lanes[i], 1);
        vyre_device *device = NULL;
        on_device(vyre_acquire("cpu", &device), &device);
    }
    unsetenv("VYRE_CPU_LANES");
}

static void ptx_is_right(void **state) {
    (void)state;
    vyre_device *device = NULL;
    on_device(ptx_device_open(&device), &device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_twice_would_show),
        cmocka_unit_test(reference_is_right),
        cmocka_unit_test(cpu_is_right_at_every_width),
        cmocka_unit_test(ptx_is_right),
    };
    return cmocka_run_group_tests(tests, compute_truths, NULL);
}
