/* Conformance on the opencl backend: a part of each suite, random programs, and the same on a
 * device whose compiler is told to be careless with floats. Drivers take most of a second for a
 * kernel, so these are few; `vyre conform -b opencl` runs all. */
#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "conform/compare.h"
#include "conform/suite.h"
#include "tests/unit/opencl_check.h"
#include "tests/unit/settings.h"
#include "tests/unit/trial_check.h"

enum { MOST_GROUP = 64 };

static vyre_device *oracle, *device;

static void run_suite(conform_suite_kind kind, uint64_t part) {
    const conform_suite_runner runner = {.oracle = oracle, .device = device, .runs = 1};
    conform_suite suite;
    size_t compared = 0, failed = 0, group = 0;
    expect_ok(conform_suite_make(kind, &suite));
    for (size_t first = 0, end; first < suite.case_count; first = end) {
        const conform_suite_case *cases[MOST_GROUP];
        conform_suite_result results[MOST_GROUP];
        end = conform_suite_group_end(&suite, first);
        assert_true(end - first <= MOST_GROUP);
        for (size_t i = first; i < end; i++) {
            cases[i - first] = &suite.cases[i];
        }
        if (suite.cases[first].tags & CONFORM_TAG_BIT(CONFORM_TAG_SLOW) || group++ % part) {
            continue;
        }
        expect_ok(conform_suite_run(&runner, &suite, cases, end - first, results));
        for (size_t i = 0; i < end - first; i++) {
            bool refused = results[i].verdict == CONFORM_VERDICT_UNSUPPORTED;
            compared += !refused;
            if (results[i].verdict && !refused) {
                print_message("%s: %s\n", cases[i]->id, results[i].text);
                failed++;
            }
            vyre_free(results[i].text);
        }
    }
    print_message("%zu cases\n", compared);
    conform_suite_free(&suite);
    assert_int_equal(failed, 0);
    assert_true(compared);
}

/* One group of so many; all of them with VYRE_TEST_WORK. */
static uint64_t part_of(uint64_t usual) {
    uint64_t work = test_work(100, 25), part = usual * 100 / work;
    return part ? part : 1;
}

static void operations(void **state) {
    (void)state;
    run_suite(CONFORM_SUITE_OPERATIONS, part_of(15));
}

static void special_values(void **state) {
    (void)state;
    run_suite(CONFORM_SUITE_SPECIAL, part_of(6));
}

static void sizes(void **state) {
    (void)state;
    run_suite(CONFORM_SUITE_SIZES, part_of(8));
}

typedef vyre_status (*generate_function)(uint64_t seed, conform_trial *out_trial);

static void run_programs(generate_function generate, uint64_t first, uint64_t programs) {
    const conform_pair both = {oracle, device, vyre_reference_has_one_answer};
    for (uint64_t seed = first; seed < first + programs; seed++) {
        conform_trial trial;
        vyre_outputs expected;
        conform_comparison comparison;
        expect_ok(generate(seed, &trial));
        expect_ok(conform_expect(&both, &trial, trial.program, &expected));
        expect_ok(conform_compare(&both, &trial, trial.program, &expected, &comparison));
        if (comparison.verdict != CONFORM_VERDICT_SAME &&
            comparison.verdict != CONFORM_VERDICT_UNSUPPORTED) {
            fail_msg("seed %llu: %s", (unsigned long long)seed, comparison.text);
        }
        vyre_outputs_free(&expected);
        conform_trial_free(&trial);
    }
}

static void random_programs(void **state) {
    (void)state;
    run_programs(trial_generate, test_seed() * 1000, test_work(10, 2));
}

static void random_records(void **state) {
    (void)state;
    run_programs(trial_generate_records, test_seed() * 1000, test_work(10, 2));
}

static int open_devices(void **state) {
    (void)state;
    expect_ok(vyre_reference_open_oracle(&oracle));
    device = open_opencl();
    return 0;
}

static int close_devices(void **state) {
    (void)state;
    vyre_device_release(oracle);
    vyre_device_release(device);
    return 0;
}

/* The compiler may contract, flush and divide as it likes: what it then does is corrected. */
static int open_worse(void **state) {
    setenv("VYRE_OPENCL_OPTIONS", "-cl-denorms-are-zero -cl-mad-enable", 1);
    return open_devices(state);
}

static int close_worse(void **state) {
    unsetenv("VYRE_OPENCL_OPTIONS");
    return close_devices(state);
}

int main(int argc, char **argv) {
    if (!opencl_check_available()) {
        return OPENCL_SKIPPED;
    }
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations),     cmocka_unit_test(special_values),
        cmocka_unit_test(sizes),          cmocka_unit_test(random_programs),
        cmocka_unit_test(random_records),
    };
    const struct CMUnitTest worse[] = {cmocka_unit_test(special_values)};
    int failed = cmocka_run_group_tests(tests, open_devices, close_devices);
    return failed + cmocka_run_group_tests(worse, open_worse, close_worse);
}
