/* A sample of what tools/prove-math proves in full: special values, all exponents, hard cases and a
 * million random inputs of each elementary function; all inputs of f16 and bf16. On f64, special
 * values, all exponents and 2^16 others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "evaluate.h"
#include "oracle.h"
#include "tests/unit/settings.h"

static const char path[] = "src/pass/math.vyre";

static vyre_module *load(void) {
    vyre_module *module;
    vyre_status status = proof_module(path, &module);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    return module;
}

static proof_result run_format(const vyre_module *module, const char *name,
                               const math_format *format, const executor *how,
                               input_extent extent) {
    const math_function *function = math_function_find(name);
    proof_result result;
    vyre_status status = proof_run(function, format, how, proof_program(module, function, format),
                                   extent, 0, 1, &result);
    if (status) {
        fail_msg("%s: %s", name, vyre_status_text(status));
    }
    return result;
}

static proof_result run(const vyre_module *module, const char *name, const executor *how,
                        input_extent extent) {
    return run_format(module, name, &math_formats[FORMAT_F32], how, extent);
}

static void check(const char *name, const proof_result *result) {
    if (result->failures) {
        const proof_difference *first = &result->shown[0];
        fail_msg("%s: %llu wrong results, the first for %llx %llx: %llx instead of %llx", name,
                 (unsigned long long)result->failures, (unsigned long long)first->x,
                 (unsigned long long)first->y, (unsigned long long)first->found,
                 (unsigned long long)first->truth);
    }
}

static void every_function_is_right_for_special_values_exponents_and_hard_cases(void **state) {
    (void)state;
    vyre_module *module = load();
    for (size_t i = 0; i < math_function_count; i++) {
        const char *name = math_functions[i].name;
        proof_result result = run(module, name, &evaluator_executor, INPUTS_SPECIAL);
        check(name, &result);
        assert_true(result.inputs > 4000);
        assert_int_equal(result.uncertain, result.inputs);
    }
    vyre_module_free(module);
}

static void every_function_is_right_for_a_million_random_inputs(void **state) {
    (void)state;
    vyre_module *module = load();
    for (size_t i = 0; i < math_function_count; i++) {
        if (!test_takes(i)) {
            continue;
        }
        const char *name = math_functions[i].name;
        proof_result result = run(module, name, &evaluator_executor, INPUTS_RANDOM);
        check(name, &result);
        assert_int_equal(result.inputs, 1000000);
    }
    vyre_module_free(module);
}

/* One operand: all 65,536, each asked of MPFR. Two: a million pairs. */
static void every_function_is_right_for_16_bits(const executor *how) {
    vyre_module *module = load();
    for (size_t i = 0; i < math_function_count; i++) {
        bool one = math_functions[i].operands == 1;
        for (math_format_kind kind = FORMAT_F16; kind <= FORMAT_BF16 && test_takes(i); kind++) {
            const char *name = math_functions[i].name;
            proof_result result = run_format(module, name, &math_formats[kind], how,
                                             one ? INPUTS_FULL : INPUTS_RANDOM);
            check(name, &result);
            assert_int_equal(result.inexact, 0);
            assert_int_equal(result.inputs, one ? 0x10000 : 1000000);
            assert_true(!one || result.uncertain == result.inputs);
        }
    }
    vyre_module_free(module);
}

static void every_function_is_right_for_all_f16_and_bf16(void **state) {
    (void)state;
    every_function_is_right_for_16_bits(&evaluator_executor);
}

static void no_result_of_16_bits_depends_on_which_nan_an_operation_gives(void **state) {
    (void)state;
    every_function_is_right_for_16_bits(&noisy_executor);
}

static void no_result_depends_on_which_nan_an_operation_gives(void **state) {
    (void)state;
    vyre_module *module = load();
    for (size_t i = 0; i < math_function_count; i++) {
        const char *name = math_functions[i].name;
        proof_result result = run(module, name, &noisy_executor, INPUTS_SPECIAL);
        check(name, &result);
    }
    vyre_module_free(module);
}

static vyre_module *load_f64(void) {
    vyre_module *module;
    vyre_status status =
        proof_module_f64("src/pass/polynomials.vyre", "src/pass/math_f64.vyre", &module);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    return module;
}

/* These inputs are always the same, and none is so hard that 1 ULP is needed. */
static void check_f64(const char *name, const proof_result *result, uint64_t inputs) {
    check(name, result);
    assert_int_equal(result->inexact, 0);
    assert_true(result->inputs >= inputs);
    assert_true(result->uncertain == result->inputs || result->inputs > 500000);
}

static void every_function_of_f64_is_right_for_special_values_and_exponents(void **state) {
    (void)state;
    const executor *executors[] = {&evaluator_executor, &noisy_executor};
    vyre_module *module = load_f64();
    for (size_t i = 0; i < 2 * math_function_count; i++) {
        const char *name = math_functions[i / 2].name;
        proof_result result =
            run_format(module, name, &math_formats[FORMAT_F64], executors[i % 2], INPUTS_SPECIAL);
        check_f64(name, &result, 32768);
    }
    vyre_module_free(module);
}

static void every_function_of_f64_is_right_for_random_inputs(void **state) {
    (void)state;
    const math_format *format = &math_formats[FORMAT_F64];
    uint64_t count = test_work(1 << 16, 1 << 10);
    vyre_module *module = load_f64();
    for (size_t i = 0; i < math_function_count; i++) {
        const math_function *function = &math_functions[i];
        proof_result result;
        assert_null(proof_run(function, format, &evaluator_executor,
                              proof_program(module, function, format), INPUTS_FULL, count, 1,
                              &result));
        check_f64(function->name, &result, count);
    }
    vyre_module_free(module);
}

/* Of functions of one argument even one result that is not the nearest is too many. */
static void functions_of_one_argument_may_not_be_off_at_all(void **state) {
    (void)state;
    for (size_t i = 0; i < math_function_count; i++) {
        assert_int_equal(math_functions[i].allowed_ulp, math_functions[i].operands == 1 ? 0 : 1);
    }
}

static void a_wrong_function_is_found_out(void **state) {
    (void)state;
    vyre_module *module = load();
    proof_result result;
    const math_format *format = &math_formats[FORMAT_F32];
    vyre_status status = proof_run(math_function_find("sinh"), format, &evaluator_executor,
                                   proof_program(module, math_function_find("tan"), format),
                                   INPUTS_SPECIAL, 0, 1, &result);
    assert_null(status);
    assert_true(result.failures > 1000);
    assert_int_equal(result.shown_count, PROOF_SHOWN);
    assert_true(result.worst_ulp > 1000);
    vyre_module_free(module);
}

static void a_last_bit_is_found_out(void **state) {
    (void)state;
    static const char text[] =
        "program off(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x {\n"
        "    let v = f32(sqrt(f64(bitcast<f32>(x[gid]))));\n"
        "    y[gid] = select(x[gid] == 0x40800000, bitcast<u32>(v) + 1, bitcast<u32>(v));\n"
        "}\n";
    vyre_module *module;
    assert_null(vyre_module_parse("off.vyre", text, sizeof(text) - 1, NULL, &module));
    const math_function root = {
        .name = "sin", .operands = 1, .host1 = math_functions[0].host1, .exact1 = mpfr_sqrt};
    proof_result result;
    assert_null(proof_run(&root, &math_formats[FORMAT_F32], &evaluator_executor,
                          vyre_module_program(module, 0), INPUTS_SPECIAL, 0, 1, &result));
    assert_int_equal(result.worst_ulp, 1);
    assert_int_equal(result.failures, result.inexact);
    for (size_t i = 0; i < result.shown_count; i++) {
        assert_int_equal(result.shown[i].x, 0x40800000);
    }
    assert_true(result.failures > 0);
    vyre_module_free(module);
}

static void the_evaluator_refuses_what_it_does_not_know(void **state) {
    (void)state;
    static const char text[] = "program sums(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x {\n"
                               "    var sum = 0u;\n"
                               "    for i in 0..x[gid] { sum += i; }\n"
                               "    y[gid] = sum;\n"
                               "}\n";
    vyre_module *module;
    assert_null(vyre_module_parse("sums.vyre", text, sizeof(text) - 1, NULL, &module));
    void *evaluator;
    vyre_status status = evaluator_executor.create(vyre_module_program(module, 0), &evaluator);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNSUPPORTED);
    assert_null(evaluator);
    vyre_status_free(status);
    vyre_module_free(module);
}

static uint32_t truth(const char *name, bool ask_mpfr, float x, float y) {
    oracle asked;
    oracle_init(&asked, math_function_find(name), &math_formats[FORMAT_F32], ask_mpfr);
    uint32_t result = (uint32_t)oracle_truth(&asked, bits_of(x), bits_of(y));
    oracle_deinit(&asked);
    mpfr_free_cache();
    return result;
}

static void the_oracle_knows_what_everybody_knows(void **state) {
    (void)state;
    const float infinity = float_of(0x7f800000), nan = float_of(0x7fc00001);
    const struct {
        const char *name;
        float x, y;
        uint32_t result;
    } known[] = {
        {"exp", -0.0f, 0, 0x3f800000},
        {"exp", 100, 0, 0x7f800000},
        {"exp", -infinity, 0, 0},
        {"exp2", -149, 0, 1},
        {"exp2", -150, 0, 0},
        {"exp2", 127, 0, 0x7f000000},
        {"exp10", 2, 0, 0x42c80000},
        {"exp10", -50, 0, 0},
        {"log10", 1000, 0, 0x40400000},
        {"log", 0, 0, 0xff800000},
        {"log", -0.0f, 0, 0xff800000},
        {"log", -1, 0, 0x7fc00000},
        {"log2", 8, 0, 0x40400000},
        {"sin", -0.0f, 0, 0x80000000},
        {"cos", 0, 0, 0x3f800000},
        {"tan", infinity, 0, 0x7fc00000},
        {"asin", 1, 0, 0x3fc90fdb},
        {"acos", 1, 0, 0},
        {"atan", -infinity, 0, 0xbfc90fdb},
        {"tanh", -20, 0, 0xbf800000},
        {"erf", infinity, 0, 0x3f800000},
        {"cbrt", -27, 0, 0xc0400000},
        {"cosh", nan, 0, 0x7fc00000},
        {"pow", nan, 0, 0x3f800000},
        {"pow", 1, nan, 0x3f800000},
        {"pow", -2, 3, 0xc1000000},
        {"pow", -8, 0.5f, 0x7fc00000},
        {"pow", -1, -infinity, 0x3f800000},
        {"pow", -0.0f, -3, 0xff800000},
        {"pow", -infinity, -3, 0x80000000},
        {"pow", 4097, 2, 0x4b801000},
        {"atan2", -0.0f, -0.0f, 0xc0490fdb},
        {"atan2", 0, 0, 0},
        {"atan2", infinity, -infinity, 0x4016cbe4},
        {"hypot", 3, -4, 0x40a00000},
        {"hypot", nan, -infinity, 0x7f800000},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        for (int ask_mpfr = 0; ask_mpfr < 2; ask_mpfr++) {
            uint32_t result = truth(known[i].name, ask_mpfr, known[i].x, known[i].y);
            if (result != known[i].result) {
                fail_msg("%s(%a, %a): %08x instead of %08x", known[i].name, (double)known[i].x,
                         (double)known[i].y, result, known[i].result);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_knows_what_everybody_knows),
        cmocka_unit_test(every_function_is_right_for_special_values_exponents_and_hard_cases),
        cmocka_unit_test(every_function_is_right_for_a_million_random_inputs),
        cmocka_unit_test(every_function_is_right_for_all_f16_and_bf16),
        cmocka_unit_test(every_function_of_f64_is_right_for_special_values_and_exponents),
        cmocka_unit_test(every_function_of_f64_is_right_for_random_inputs),
        cmocka_unit_test(no_result_depends_on_which_nan_an_operation_gives),
        cmocka_unit_test(no_result_of_16_bits_depends_on_which_nan_an_operation_gives),
        cmocka_unit_test(functions_of_one_argument_may_not_be_off_at_all),
        cmocka_unit_test(a_wrong_function_is_found_out),
        cmocka_unit_test(a_last_bit_is_found_out),
        cmocka_unit_test(the_evaluator_refuses_what_it_does_not_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
