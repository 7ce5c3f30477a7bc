/* The suite `floats`: its operands, and that it finds what devices get wrong, or their corrections.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/reference.h>

#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "base/status.h"
#include "conform/suite.h"
#include "pass/correct.h"
#include "runtime/device.h"
#include "tests/unit/settings.h"
#include "tests/unit/worsen.h"

static vyre_device *oracle;

static void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

/* Operands */

enum { PAIRS = 352 * 352 };

static int by_value(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Each bound of one operand meets each of the other, once; some are the same numbers. */
static void all_pairs_of_bounds_come_up(void **state) {
    (void)state;
    static uint64_t pairs[PAIRS];
    for (uint64_t i = 0; i < PAIRS; i++) {
        uint64_t x[3];
        conform_vector(VYRE_TYPE_F32, 2, 2 * i, x);
        pairs[i] = x[0] << 32 | x[1];
    }
    qsort(pairs, PAIRS, sizeof *pairs, by_value);
    size_t left = 0, all = 0;
    for (size_t i = 0; i < PAIRS; i++) {
        left += !i || pairs[i] >> 32 != pairs[i - 1] >> 32;
        all += !i || pairs[i] != pairs[i - 1];
    }
    assert_true(left > 300);
    assert_int_equal(all, left * left);
}

static void all_halves_come_up(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 65536; i++) {
        uint64_t x[3];
        conform_vector(VYRE_TYPE_BF16, 1, i, x);
        assert_int_equal(x[0], i);
    }
}

/* What rounding has to do with a result. */
typedef struct kinds {
    size_t subnormal, overflow, inexact, cancelled, nan, zero;
} kinds;

static void count_kinds(double exact, float result, float a, kinds *out) {
    out->subnormal += result != 0 && result > -0x1p-126f && result < 0x1p-126f;
    out->overflow += exact - exact == 0 && result - result != 0;
    out->inexact += (double)result != exact && exact == exact;
    out->cancelled += result != 0 && exact * exact < 0x1p-20 * (double)a * (double)a;
    out->nan += result != result;
    out->zero += result == 0;
}

static void random_vectors_meet_every_kind_of_result(void **state) {
    (void)state;
    kinds sums = {0}, products = {0}, quotients = {0};
    for (uint64_t i = 1; i < 20000; i += 2) {
        uint64_t x[3];
        conform_vector(VYRE_TYPE_F32, 2, i, x);
        const uint32_t bits[] = {(uint32_t)x[0], (uint32_t)x[1]};
        volatile float a, b;
        memcpy((void *)&a, &bits[0], 4);
        memcpy((void *)&b, &bits[1], 4);
        count_kinds((double)a + b, a + b, a, &sums);
        count_kinds((double)a * b, a * b, 0, &products);
        count_kinds((double)a / b, a / b, 0, &quotients);
    }
    print_message("%zu sums cancel\n", sums.cancelled);
    assert_true(sums.subnormal > 100 && sums.overflow > 20 && sums.inexact > 1000);
    assert_true(sums.cancelled > 200 && sums.nan > 100 && sums.zero > 10);
    assert_true(products.subnormal > 300 && products.overflow > 300 && products.inexact > 1000);
    assert_true(quotients.subnormal > 300 && quotients.overflow > 300 && quotients.zero > 100);
}

/* A case has the same vectors in parts as at once. */
static void parts_are_parts_of_the_whole(void **state) {
    (void)state;
    conform_suite suite;
    expect_ok(conform_suite_make(CONFORM_SUITE_FLOATS, &suite));
    suite.vectors = CONFORM_PART_VECTORS + 5;
    assert_int_equal(conform_suite_parts(&suite), 2);
    const conform_suite_case *chosen = NULL;
    for (size_t i = 0; i < suite.case_count; i++) {
        chosen = strcmp(suite.cases[i].id, "floats.f64.fma") ? chosen : &suite.cases[i];
    }
    assert_non_null(chosen);
    conform_suite_trial made;
    expect_ok(conform_suite_build(&suite, &chosen, 1, &made));
    assert_int_equal(made.trial.value_count, 3);
    assert_int_equal(made.trial.values[2].size, (size_t)CONFORM_PART_VECTORS * 8);
    expect_ok(conform_suite_take_part(&suite, chosen, 1, &made.trial));
    assert_int_equal(made.trial.value_count, 3);
    assert_int_equal(made.trial.values[2].size, 5 * 8);
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t x[3], found;
        conform_vector(VYRE_TYPE_F64, 3, CONFORM_PART_VECTORS + i, x);
        memcpy(&found, made.trial.values[2].data + i * 8, 8);
        assert_true(found == x[2]);
    }
    conform_trial_free(&made.trial);
    conform_suite_free(&suite);
}

/* Devices whose floats are worse, with some of the corrections that they need */

typedef struct model {
    vyre_corrections bad, corrected;
} model;

static const char *model_id(const vyre_backend *backend) {
    (void)backend;
    return "model";
}

static vyre_status model_dispatch(const vyre_backend *backend, const vyre_call *call,
                                  vyre_output *outputs) {
    const model *m = backend->state;
    vyre_program *corrected = NULL;
    vyre_outputs own = {0};
    VYRE_TRY(vyre_lower_corrected(call->program, true, &m->corrected, &corrected));
    vyre_program *worse = worsen(corrected, &m->bad);
    vyre_status status =
        vyre_reference_run(worse, call->inputs, call->input_count, call->config, NULL, &own);
    for (size_t i = 0; i < own.count; i++) {
        memcpy(outputs[i].data, own.items[i].data, own.items[i].size);
    }
    vyre_outputs_free(&own);
    vyre_program_release(worse);
    vyre_program_release(corrected);
    return status;
}

static vyre_device *open_model(model *m) {
    const vyre_backend_slots slots = {
        VYRE_BACKEND_HEAD,
        .id = model_id,
        .dispatch = model_dispatch,
        .dispatch_borrowed = model_dispatch,
        .max_workgroup_size = vyre_any_workgroup_size,
        .max_workgroups_per_dimension = vyre_any_workgroup_count,
    };
    const vyre_backend made = {&slots, m, NULL};
    vyre_device *device;
    expect_ok(vyre_device_open(&made, "model", 0, &device));
    return device;
}

/* Whether a case gives the right bytes there, by the oracle or, where the device itself is in its
 * place, by the records. */
static bool is_right_by(bool by_records, conform_suite_kind kind, model *m, const char *id,
                        uint64_t vectors) {
    conform_suite suite;
    conform_suite_result result = {0};
    vyre_device *device = open_model(m);
    const conform_suite_runner runner = {
        .oracle = by_records ? device : oracle, .device = device, .runs = 1};
    expect_ok(conform_suite_make(kind, &suite));
    suite.vectors = vectors;
    bool is_known = false;
    for (size_t i = 0; i < suite.case_count; i++) {
        const conform_suite_case *one = &suite.cases[i];
        if (!strcmp(one->id, id)) {
            expect_ok(conform_suite_run(&runner, &suite, &one, 1, &result));
            is_known = true;
        }
    }
    assert_true(is_known);
    if (result.verdict && result.verdict != CONFORM_VERDICT_DIFFERENT) {
        fail_msg("%s: %s", id, result.text);
    }
    bool right = !result.verdict;
    vyre_free(result.text);
    conform_suite_free(&suite);
    vyre_device_release(device);
    return right;
}

static bool is_right(model *m, const char *id, uint64_t vectors) {
    return is_right_by(false, CONFORM_SUITE_FLOATS, m, id, vectors);
}

static const struct wrong_row {
    uint32_t bad;
    const char *operation;
} wrong_rows[] = {
    {FLUSH, "add"},   {FLUSH, "sub"},  {FLUSH, "mul"},
    {FLUSH, "div"},   {FLUSH, "sqrt"}, {FLUSH, "fma"},
    {FLUSH, "min"},   {FLUSH, "lt"},   {FLUSH, "eq"},
    {LINEAR, "add"},  {LINEAR, "mul"}, {DIV, "div"},
    {SQRT, "sqrt"},   {FMA, "fma"},    {ROUND, "floor"},
    {COMPARE, "max"}, {COMPARE, "le"}, {CONVERT, "convert_i32"},
    {ROUND, "round"},
};

/* Without its correction each mistake shows. */
static void a_worse_device_is_found(void **state) {
    (void)state;
    for (size_t i = 0; i < 2 * sizeof wrong_rows / sizeof *wrong_rows; i++) {
        const struct wrong_row *row = &wrong_rows[i / 2];
        bool is_single = i & 1;
        model m = {.bad = is_single ? (vyre_corrections){.f32 = row->bad}
                                    : (vyre_corrections){.f64 = row->bad}};
        char id[40];
        snprintf(id, sizeof id, "floats.%s.%s", is_single ? "f32" : "f64", row->operation);
        if (is_right(&m, id, 4000)) {
            fail_msg("%s does not find a device that is %#x", id, row->bad);
        }
    }
}

/* The oracle is held against the records, but for a number of vectors that has none. */
static void an_oracle_that_is_wrong_is_found(void **state) {
    (void)state;
    model m = {.bad = {.f32 = FLUSH}};
    assert_false(is_right_by(true, CONFORM_SUITE_FLOATS, &m, "floats.f32.mul", CONFORM_VECTORS));
    assert_true(is_right_by(true, CONFORM_SUITE_FLOATS, &m, "floats.f32.mul", 999));
    assert_false(is_right_by(true, CONFORM_SUITE_SPECIAL, &m, "special.f32.mul", 999));
}

static void corrected_devices_are_exact(void **state) {
    (void)state;
    static const vyre_corrections devices[] = {
        {FLUSH, FLUSH},
        {DIV | SQRT, DIV | SQRT},
        {FMA, 0},
        {FLUSH | LINEAR | ROUND | COMPARE | CONVERT | DIV | SQRT | FMA, ABSENT},
    };
    static const char *const operations[] = {
        "f32.add",         "f32.sub",         "f32.mul",   "f32.div",        "f32.sqrt",
        "f32.fma",         "f32.min",         "f32.lt",    "f64.add",        "f64.mul",
        "f64.div",         "f64.sqrt",        "f64.fma",   "f16.fma",        "bf16.div",
        "f32.convert_i64", "u64.convert_f32", "f32.round", "f64.convert_f32"};
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
            model m = {devices[d], devices[d]};
            char id[40];
            snprintf(id, sizeof id, "floats.%s", operations[i]);
            if (!is_right(&m, id, test_work(4000, 500))) {
                fail_msg("%s is wrong on a device that is %#x and %#x, and corrected", id,
                         devices[d].f32, devices[d].f64);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_of_bounds_come_up),
        cmocka_unit_test(all_halves_come_up),
        cmocka_unit_test(random_vectors_meet_every_kind_of_result),
        cmocka_unit_test(parts_are_parts_of_the_whole),
        cmocka_unit_test(a_worse_device_is_found),
        cmocka_unit_test(an_oracle_that_is_wrong_is_found),
        cmocka_unit_test(corrected_devices_are_exact),
    };
    expect_ok(vyre_reference_open_oracle(&oracle));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    vyre_device_release(oracle);
    return failed;
}
