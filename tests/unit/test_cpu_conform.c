/* The cpu backend held against the oracle: random programs for each width of vectors and as
 * scalars, and the same between guard pages, where a step beside a buffer ends the process. */
#define _GNU_SOURCE /* guarded.h */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "conform/compare.h"
#include "runtime/device.h"
#include "tests/unit/guarded.h"
#include "tests/unit/settings.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { PROGRAMS = 8 };
#else
enum { PROGRAMS = 60 };
#endif

static vyre_device *oracle, *cpu;

static void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

static int open_devices(void **state) {
    (void)state;
    expect_ok(vyre_reference_open_oracle(&oracle));
    vyre_status status = vyre_acquire("cpu", &cpu);
    if (vyre_status_code_of(status) == VYRE_STATUS_UNAVAILABLE) {
        print_message("not run, because %s\n", vyre_status_text(status));
        vyre_status_free(status);
        return 0;
    }
    expect_ok(status);
    return 0;
}

static int close_devices(void **state) {
    (void)state;
    vyre_device_release(oracle);
    vyre_device_release(cpu);
    return 0;
}

static void conform_from(const char *lanes, uint64_t first, uint64_t programs) {
    if (!cpu) {
        skip();
    }
    setenv("VYRE_CPU_LANES", lanes, 1);
    const conform_pair both = {oracle, cpu, vyre_reference_has_one_answer};
    vyre_device_cache_limit(cpu, 0); /* another width is other code */
    for (uint64_t seed = first; seed < first + programs; seed++) {
        conform_trial trial;
        vyre_outputs expected;
        conform_comparison comparison;
        expect_ok(conform_generate(seed, &trial));
        expect_ok(conform_expect(&both, &trial, trial.program, &expected));
        expect_ok(conform_compare(&both, &trial, trial.program, &expected, &comparison));
        if (comparison.verdict != CONFORM_VERDICT_SAME) {
            fail_msg("seed %llu: %s", (unsigned long long)seed, comparison.text);
        }
        vyre_outputs_free(&expected);
        conform_trial_free(&trial);
    }
    unsetenv("VYRE_CPU_LANES");
}

static void conform(const char *lanes) {
    conform_from(lanes, number_from("VYRE_TEST_SEED", 1) * 1000 + (uint64_t)atoi(lanes),
                 number_from("VYRE_TEST_PROGRAMS", PROGRAMS));
}

/* Programs that were wrong once. */
static void conform_what_was_wrong_before(void **state) {
    (void)state;
    conform_from("16", 541, 1);   /* lanes that leave an inlined call behind a barrier */
    conform_from("16", 867, 1);   /* a shuffle from a lane far below the first */
    conform_from("4", 306492, 1); /* the sign of a NaN, taken by copysign */
}

static void conform_with_scalars(void **state) {
    (void)state;
    conform("1");
}

static void conform_with_scalars_side_by_side(void **state) {
    (void)state;
    conform("1x2");
    conform("1x8");
}

/* In what form a phase runs is then its own affair, so forms meet in one program. */
static void conform_as_is_best(void **state) {
    (void)state;
    conform("auto");
}

static void conform_with_4_lanes(void **state) {
    (void)state;
    conform("4");
}

static void conform_with_8_lanes(void **state) {
    (void)state;
    conform("8");
}

static void conform_with_16_lanes(void **state) {
    (void)state;
    conform("16");
}

static void stay_inside(const char *lanes) {
    if (!cpu) {
        skip();
    }
    setenv("VYRE_CPU_LANES", lanes, 1);
    vyre_device_cache_limit(cpu, 0);
    vyre_device_cache_limit(cpu, 1 << 20); /* each program runs twice */
    uint64_t first = number_from("VYRE_TEST_SEED", 1) * 1000 + 500;
    uint64_t programs = number_from("VYRE_TEST_PROGRAMS", PROGRAMS);
    for (uint64_t seed = first; seed < first + programs; seed++) {
        conform_trial trial;
        expect_ok(conform_generate(seed, &trial));
        size_t count;
        vyre_input *inputs = conform_trial_inputs(&trial, trial.program, &count);
        assert_non_null(inputs);
        guarded_run(oracle, cpu, trial.program, inputs, count, NULL, true);
        guarded_run(oracle, cpu, trial.program, inputs, count, NULL, false);
        vyre_free(inputs);
        conform_trial_free(&trial);
    }
    unsetenv("VYRE_CPU_LANES");
}

static void programs_stay_inside_their_buffers(void **state) {
    (void)state;
    stay_inside("auto");
    stay_inside("16");
}

static void scalars_stay_inside_their_buffers(void **state) {
    (void)state;
    stay_inside("1");
    stay_inside("1x4");
}

/* With a pattern, the tests whose names match: long runs of one of them. */
int main(int argc, char **argv) {
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conform_what_was_wrong_before),
        cmocka_unit_test(conform_with_scalars),
        cmocka_unit_test(conform_with_scalars_side_by_side),
        cmocka_unit_test(conform_as_is_best),
        cmocka_unit_test(conform_with_4_lanes),
        cmocka_unit_test(conform_with_8_lanes),
        cmocka_unit_test(conform_with_16_lanes),
        cmocka_unit_test(programs_stay_inside_their_buffers),
        cmocka_unit_test(scalars_stay_inside_their_buffers),
    };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
