/* The whole cuda backend held against the oracle: its runtime on the driver for tests, whose
 * kernels are run by the machine of tests/ptx. */
#include <stdio.h>
#include <stdlib.h>

#include "backend/reference/backend.h"
#include "driver/conform.h"
#include "driver/device.h"
#include "tests/fake_cuda/device.h"
#include "tests/ptx/machine.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { PROGRAMS = 10 };
#else
enum { PROGRAMS = 100 };
#endif

/* The module of the last launch: most have the same. */
static char *image;
static ptx_module *module;

static fake_result run_launch(const fake_launch *launch) {
    static uint64_t launches;
    ptx_error error;
    if (!image || strcmp(image, launch->image) != 0) {
        ptx_module_free(module);
        free(image);
        image = strdup(launch->image);
        const char *text = strstr(image, ".version"); /* behind the mark of a binary */
        module = ptx_module_make(text ? text : image, &error);
        if (!module) {
            print_error("%s\n", error.text);
            free(image);
            image = NULL;
            return FAKE_FAULT;
        }
    }
    const ptx_launch run = {
        .entry = launch->entry,
        .frame = launch->parameters,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .threads = launch->threads,
        .dynamic_bytes = launch->dynamic_bytes,
        .seed = ++launches,
        .max_steps = 1000000000,
    };
    if (!ptx_launch_run(module, &run, &error)) {
        print_error("%s\n", error.text);
        return FAKE_FAULT;
    }
    return FAKE_DONE;
}

/* How many programs, and the first seed; longer runs set them. */
static uint64_t number_from(const char *variable, uint64_t otherwise) {
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void random_programs(void **state) {
    (void)state;
    vyre_device *oracle, *cuda = fake_device_open(0);
    expect_ok(vyre_reference_open_oracle(&oracle));
    vyre_device_cache_limit(cuda, 0);
    const vyre_conform both = {oracle, cuda, vyre_reference_has_one_answer};
    uint64_t first = number_from("VYRE_TEST_SEED", 1) * 200000;
    uint64_t count = number_from("VYRE_TEST_PROGRAMS", PROGRAMS);
    for (uint64_t seed = first; seed < first + count; seed++) {
        vyre_trial trial;
        vyre_outputs expected;
        vyre_comparison comparison;
        expect_ok(vyre_generate(seed, &trial));
        expect_ok(vyre_conform_expect(&both, &trial, trial.program, &expected));
        expect_ok(vyre_conform_compare(&both, &trial, trial.program, &expected, &comparison));
        if (comparison.verdict != VYRE_VERDICT_SAME) {
            fail_msg("seed %llu: %s", (unsigned long long)seed, comparison.text);
        }
        vyre_outputs_free(&expected);
        vyre_trial_free(&trial);
    }
    vyre_device_release(cuda);
    vyre_device_release(oracle);
}

int main(void) {
    const fake_cuda *fake = fake_device_start();
    fake->on_launch(run_launch);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ptx_module_free(module);
    free(image);
    return failed;
}
