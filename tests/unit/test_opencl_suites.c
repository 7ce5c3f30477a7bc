/* Conformance on the opencl backend: a part of each suite, random programs, and the same on a
 * device whose compiler is told to be careless with floats. Drivers take most of a second for a
 * kernel, so these are few; `vyre conform -b opencl` runs all. */
#include <vyre/reference.h>

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

static void floats(void **state) {
    (void)state;
    run_suite(CONFORM_SUITE_FLOATS, part_of(3));
}

static void sizes(void **state) {
    (void)state;
    run_suite(CONFORM_SUITE_SIZES, part_of(8));
}

typedef vyre_status (*generate_function)(uint64_t seed, conform_trial *out_trial);

static void run_programs(generate_function generate, uint64_t first, uint64_t programs) {
    const conform_pair both = {
        .oracle = oracle, .subject = device, .has_one_answer = vyre_reference_has_one_answer};
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

/* Programs of which PoCL's compiler makes something else than their bytes or never ends, if the
 * code is not written for it. Runs with a timeout have code of their own. */
static void branches_around_barriers(void **state) {
    (void)state;
    enum { COUNT = 640 };
#define OVER "(q: u32, a: buffer<u32>, x: out buffer<u32>[len(a)]) over a workgroup 64 { "
#define TURNED "shared s: u32[64]; let l = lid.x; s[l] = a[gid.x]; "
    static const char *const texts[] = {
        /* some leave the outer loop, and the inner one looks the same for all */
        "program leave" OVER TURNED "barrier; var u = s[63 - l]; for _i in 0u..3 { "
        "for _k in 0u..q % 4 { u = u + a[u % 640]; } if u % 3 == 0 { break; } } x[gid.x] = u; }",
        /* the way into the inner loop and the ways back end with the same store */
        "program store" OVER TURNED "barrier; let v = s[63 - l]; let c = s[q % 64] % 3 == 0; "
        "let k = v % 2 == 0; var i = 0u; while i < v % 4 { i = i + 1; x[gid.x] = gid.x; "
        "var k2 = 0u; while k2 < 3 { k2 = k2 + 1; if c && k { x[gid.x] = v; } } } }",
        /* three ways lead from a barrier to the end of its block */
        "program part" OVER TURNED "if q > 2 { barrier; let v = s[63 - l]; "
        "if v % 2 == 0 { x[gid.x] = v; } else { if v % 3 == 0 { x[gid.x] = 1; } } } "
        "if l == 0 { x[gid.x] = 5; } }",
    };
#undef TURNED
#undef OVER
    uint32_t q = 5, a[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        a[i] = i;
    }
    const vyre_input inputs[] = {{&q, sizeof q}, {a, sizeof a}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (uint64_t timeout_ns = 0; timeout_ns <= 100000000000; timeout_ns += 100000000000) {
            vyre_program *program = contract_program(texts[i]);
            const vyre_dispatch_config config = {.timeout_ns = timeout_ns};
            vyre_outputs expected, found;
            expect_ok(vyre_reference_run(program, inputs, 2, NULL, NULL, &expected));
            expect_ok(vyre_device_dispatch(device, program, inputs, 2, &config, &found));
            assert_memory_equal(expected.items[0].data, found.items[0].data, sizeof a);
            vyre_outputs_free(&expected);
            vyre_outputs_free(&found);
            vyre_program_release(program);
        }
    }
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

/* The compiler may contract and flush as it likes: what it then does is corrected. */
static int open_worse(void **state) {
    setenv("VYRE_OPENCL_OPTIONS", "-cl-denorms-are-zero -cl-mad-enable", 1);
    return open_devices(state);
}

static int close_worse(void **state) {
    unsetenv("VYRE_OPENCL_OPTIONS");
    return close_devices(state);
}

/* Pairs of numbers of all kinds: subnormals, zeros, ties, large ones, infinities and NaNs. */
static void careless_floats_are_corrected(void **state) {
    (void)state;
    static const uint32_t kinds[] = {
        0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00000007, 0x003fffff, 0x00400000,
        0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x00ffffff, 0x01000001, 0x33800000,
        0x3f000000, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40400000, 0x4b000001,
        0x4b7fffff, 0x5f000000, 0x7e800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc12345};
    enum { KINDS = sizeof kinds / sizeof *kinds, PAIRS = KINDS * KINDS };
    static const char text[] =
        "program careless(x: buffer<u32>, y: buffer<u32>, r: out buffer<f32>[5 * len(x)], "
        "q: out buffer<u32>[len(x)]) over x { "
        "let a = bitcast<f32>(x[gid]); let b = bitcast<f32>(y[gid]); "
        "r[5 * gid] = a + b; r[5 * gid + 1] = a * b + 1e-40; r[5 * gid + 2] = a / b; "
        "r[5 * gid + 3] = fma(a, b, a); r[5 * gid + 4] = min(a, b); "
        "q[gid] = select(a < b, 1u, 0u) + select(a == b, 2u, 0u); }";
    uint32_t x[PAIRS], y[PAIRS];
    for (size_t i = 0; i < PAIRS; i++) {
        x[i] = kinds[i / KINDS];
        y[i] = kinds[i % KINDS];
    }
    const vyre_input inputs[] = {{x, sizeof x}, {y, sizeof y}};
    vyre_program *program = contract_program(text);
    vyre_outputs expected, found;
    expect_ok(vyre_reference_run(program, inputs, 2, NULL, NULL, &expected));
    expect_ok(vyre_device_dispatch(device, program, inputs, 2, NULL, &found));
    for (size_t i = 0; i < 2; i++) {
        assert_memory_equal(expected.items[i].data, found.items[i].data, expected.items[i].size);
    }
    vyre_outputs_free(&expected);
    vyre_outputs_free(&found);
    vyre_program_release(program);
}

int main(int argc, char **argv) {
    if (!opencl_check_available()) {
        return OPENCL_SKIPPED;
    }
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations),
        cmocka_unit_test(special_values),
        cmocka_unit_test(floats),
        cmocka_unit_test(sizes),
        cmocka_unit_test(random_programs),
        cmocka_unit_test(random_records),
        cmocka_unit_test(branches_around_barriers),
    };
    const struct CMUnitTest worse[] = {cmocka_unit_test(careless_floats_are_corrected)};
    int failed = cmocka_run_group_tests(tests, open_devices, close_devices);
    return failed + cmocka_run_group_tests(worse, open_worse, close_worse);
}
