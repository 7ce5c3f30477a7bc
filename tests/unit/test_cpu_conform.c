/* The cpu backend held against the oracle: random programs in every form of code, with the CPU's
 * own features and with those of each level of x86-64 that it has, and the same between guard
 * pages, where a step beside a buffer ends the process. */
#define _GNU_SOURCE /* guarded.h */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cpu/runtime/compiler.h"
#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "conform/compare.h"
#include "runtime/device.h"
#include "tests/unit/guarded.h"
#include "tests/unit/settings.h"
#include "tests/unit/trial_check.h"

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

typedef vyre_status (*generate_function)(uint64_t seed, conform_trial *out_trial);

static void conform_with(const char *lanes, generate_function generate, uint64_t first,
                         uint64_t programs) {
    if (!cpu) {
        skip();
    }
    setenv("VYRE_CPU_LANES", lanes, 1);
    const conform_pair both = {
        .oracle = oracle, .subject = cpu, .has_one_answer = vyre_reference_has_one_answer};
    vyre_device_cache_limit(cpu, 0); /* another width is other code */
    for (uint64_t seed = first; seed < first + programs; seed++) {
        conform_trial trial;
        vyre_outputs expected;
        conform_comparison comparison;
        expect_ok(generate(seed, &trial));
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

static void conform_from(const char *lanes, uint64_t first, uint64_t programs) {
    conform_with(lanes, trial_generate, first, programs);
}

/* Every value of VYRE_CPU_LANES. With auto a phase takes the form it likes, so forms meet in one
 * program. */
static const char *const forms[] = {"auto", "1", "1x2", "1x4", "1x8", "4", "8", "16", "32"};
enum { FORMS = sizeof forms / sizeof *forms };

static void conform_in_every_form(uint64_t first, uint64_t programs) {
    for (size_t i = 0; i < FORMS; i++) {
        conform_from(forms[i], test_seed() * 1000 + first + i * programs, programs);
    }
}

/* Programs that were wrong once. */
static void conform_what_was_wrong_before(void **state) {
    (void)state;
    conform_from("16", 541, 1);   /* lanes that leave an inlined call behind a barrier */
    conform_from("16", 867, 1);   /* a shuffle from a lane far below the first */
    conform_from("4", 306492, 1); /* the sign of a NaN, taken by copysign */
}

static void conform_with_all_features(void **state) {
    (void)state;
    conform_in_every_form(0, test_work(12, 3));
}

static void records_conform_in_every_form(void **state) {
    (void)state;
    uint64_t programs = test_work(21, 7);
    for (size_t i = 0; i < FORMS; i++) {
        conform_with(forms[i], trial_generate_records, test_seed() * 1000 + i * programs, programs);
    }
}

/* The same on a CPU that has no more than a level. One that lacks the level says so. */
static void conform_at_level(const char *level) {
    cpu_llvm_info info;
    setenv("VYRE_CPU_FEATURES", level, 1);
    vyre_status status = cpu_compiler_info(&info);
    if (status) {
        print_message("not run, because %s\n", vyre_status_text(status));
        vyre_status_free(status);
        unsetenv("VYRE_CPU_FEATURES");
        skip();
    }
    conform_in_every_form(700, test_work(3, 1));
    unsetenv("VYRE_CPU_FEATURES");
}

static void conform_at_x86_64(void **state) {
    (void)state;
    conform_at_level("x86-64");
}

static void conform_at_x86_64_v2(void **state) {
    (void)state;
    conform_at_level("x86-64-v2");
}

static void conform_at_x86_64_v3(void **state) {
    (void)state;
    conform_at_level("x86-64-v3");
}

static void conform_at_x86_64_v4(void **state) {
    (void)state;
    conform_at_level("x86-64-v4");
}

static void stay_inside(const char *lanes, generate_function generate) {
    if (!cpu) {
        skip();
    }
    setenv("VYRE_CPU_LANES", lanes, 1);
    vyre_device_cache_limit(cpu, 0);
    vyre_device_cache_limit(cpu, 1 << 20); /* each program runs twice */
    uint64_t first = test_seed() * 1000 + 500;
    uint64_t programs = test_work(12, 3);
    for (uint64_t seed = first; seed < first + programs; seed++) {
        conform_trial trial;
        expect_ok(generate(seed, &trial));
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
    stay_inside("auto", trial_generate);
    stay_inside("16", trial_generate);
}

static void records_stay_inside_their_buffers(void **state) {
    (void)state;
    stay_inside("4", trial_generate_records);
    stay_inside("16", trial_generate_records);
}

static void scalars_stay_inside_their_buffers(void **state) {
    (void)state;
    stay_inside("1", trial_generate);
    stay_inside("1x4", trial_generate);
}

/* With a pattern, the tests whose names match: long runs of one of them. */
int main(int argc, char **argv) {
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conform_what_was_wrong_before),
        cmocka_unit_test(conform_with_all_features),
        cmocka_unit_test(conform_at_x86_64),
        cmocka_unit_test(conform_at_x86_64_v2),
        cmocka_unit_test(conform_at_x86_64_v3),
        cmocka_unit_test(conform_at_x86_64_v4),
        cmocka_unit_test(records_conform_in_every_form),
        cmocka_unit_test(records_stay_inside_their_buffers),
        cmocka_unit_test(programs_stay_inside_their_buffers),
        cmocka_unit_test(scalars_stay_inside_their_buffers),
    };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
