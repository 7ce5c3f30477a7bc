/* The whole cuda backend held against the oracle: its runtime on the driver for tests, whose
 * kernels are run by the machine of tests/ptx. */
#include "backend/reference/backend.h"
#include "conform/compare.h"
#include "runtime/device.h"
#include "tests/fake_cuda/device.h"
#include "tests/gpu/loops.h"
#include "tests/ptx/launch.h"
#include "tests/unit/settings.h"
#include "tests/unit/trial_check.h"

static const fake_cuda *fake;

static void conform_with(vyre_status (*generate)(uint64_t seed, conform_trial *out_trial),
                         uint64_t first, uint64_t count) {
    vyre_device *oracle, *cuda = fake_device_open(0);
    expect_ok(vyre_reference_open_oracle(&oracle));
    vyre_device_cache_limit(cuda, 0);
    const conform_pair both = {
        .oracle = oracle, .subject = cuda, .has_one_answer = vyre_reference_has_one_answer};
    for (uint64_t seed = first; seed < first + count; seed++) {
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
    vyre_device_release(cuda);
    vyre_device_release(oracle);
}

static void random_programs(void **state) {
    (void)state;
    conform_with(trial_generate, test_seed() * 200000, test_work(40, 3));
}

static void records_are_those_of_the_oracle(void **state) {
    (void)state;
    conform_with(trial_generate_records, test_seed() * 1000, test_work(98, 14));
}

static void turns_are_those_of_the_oracle(void **state) {
    (void)state;
    vyre_device *oracle, *cuda = fake_device_open(0);
    expect_ok(vyre_reference_open_oracle(&oracle));
    for (size_t p = 0; p < sizeof loops / sizeof *loops; p++) {
        vyre_program *program = contract_program(loops[p]);
        for (size_t c = 0; c < 2 * sizeof loop_turns / sizeof *loop_turns; c++) {
            if (!test_takes(c / 2 + p)) {
                continue;
            }
            uint32_t left = loop_turns[c / 2], y[70];
            size_t length = c % 4 < 2 ? 70 : 33; /* rows are kept, and changed */
            for (uint32_t i = 0; i < 70; i++) {
                y[i] = i * 77;
            }
            const vyre_input inputs[] = {{&left, sizeof left}, {y, length * sizeof *y}};
            vyre_outputs expected, found;
            expect_ok(vyre_device_dispatch(oracle, program, inputs, 2, NULL, &expected));
            expect_ok(vyre_device_dispatch(cuda, program, inputs, 2, NULL, &found));
            for (size_t i = 0; i < 2; i++) {
                if (memcmp(expected.items[i].data, found.items[i].data, found.items[i].size)) {
                    fail_msg("`%s`, %u turns: output %zu differs", vyre_program_name(program), left,
                             i);
                }
            }
            vyre_outputs_free(&expected);
            vyre_outputs_free(&found);
        }
        vyre_program_release(program);
    }
    vyre_device_release(cuda);
    vyre_device_release(oracle);
}

/* Hardly any turn needs the host: four before there is a row, then one. Two more launches are that
 * of the probe and that behind the repeat. */
static void turns_need_no_host(void **state) {
    (void)state;
    vyre_device *cuda = fake_device_open(0);
    vyre_program *program = contract_program(loops[0]);
    uint32_t left = 300, y[4] = {0};
    const vyre_input inputs[] = {{&left, sizeof left}, {y, sizeof y}};
    for (int round = 0; round < 2; round++) {
        uint64_t looks = fake->calls(FAKE_cuStreamSynchronize);
        uint64_t launches = fake->calls(FAKE_cuLaunchKernel);
        uint64_t graphs = fake->calls(FAKE_cuGraphInstantiate);
        vyre_outputs outputs;
        expect_ok(vyre_device_dispatch(cuda, program, inputs, 2, NULL, &outputs));
        vyre_outputs_free(&outputs);
        assert_in_range(fake->calls(FAKE_cuStreamSynchronize) - looks, 5, 24);
        assert_int_equal(fake->calls(FAKE_cuLaunchKernel) - launches, round ? 4 : 14);
        assert_int_equal(fake->calls(FAKE_cuGraphInstantiate) - graphs, round ? 0 : 1);
    }
    assert_true(fake->live().execs == 1);
    vyre_program_release(program);
    vyre_device_release(cuda);
    assert_true(fake->live().execs == 0 && fake->live().blocks == 0);
}

int main(void) {
    fake = fake_device_start();
    fake->on_launch(ptx_launch_fake);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_those_of_the_oracle),
        cmocka_unit_test(turns_need_no_host),
        cmocka_unit_test(random_programs),
        cmocka_unit_test(records_are_those_of_the_oracle),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ptx_launch_forget();
    return failed;
}
