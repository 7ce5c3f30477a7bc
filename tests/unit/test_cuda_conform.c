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

static const fake_cuda *fake;

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

/* Programs whose turns the host does not know beforehand. Each has `left`, how many are to be. */
static const char *const loops[] = {
    /* The condition changes in the first phase of a turn; the others belong to it all the same. */
    "program first(left: inout buffer<u32>, y: inout buffer<u32>) { "
    "repeat i while left[0] { phase over 1 { left[0] = left[0] - 1; } "
    "phase over y { y[gid] = y[gid] * 3 + i; } phase over y { y[gid] = y[gid] + gid + i; } } "
    "phase over y { y[gid] = y[gid] ^ 1; } }",
    /* It is 0 in the middle of a turn. */
    "program middle(left: inout buffer<u32>, y: inout buffer<u32>) { scratch more: u8[3]; "
    "phase over 1 { more[2] = u8(min(left[0], 1)); } "
    "repeat i while more[2] { phase over 1 { more[2] = 0; } "
    "phase over y { y[gid] = y[gid] + i * 7; if gid == 0 && i + 1 < left[0] { more[2] = 128; } } "
    "} phase over 1 { left[0] = left[0] + 1; } }",
    /* Repeats inside, which have numbers, too; and domains from memory. */
    "program inner(left: inout buffer<u32>, y: inout buffer<u32>) { scratch n: i64[1]; "
    "phase over 1 { n[0] = 0 - i64(left[0]); } "
    "repeat i while n[0] { repeat j in 3 { phase over y { y[gid] = y[gid] * 5 + i * 10 + j; } } "
    "phase over left[0] max 4 { y[gid] = y[gid] + 1; } phase over 1 { n[0] = n[0] + 1; } } }",
    /* Repeats around it. */
    "program outer(left: inout buffer<u32>, y: inout buffer<u32>) { scratch n: u64[1]; "
    "repeat k in 3 { phase over 1 { n[0] = u64(left[0]) << 32; } "
    "repeat i while n[0] { phase over y { y[gid] = y[gid] * 2 + i + k * 100; } "
    "phase over 1 { n[0] = n[0] - (u64(1) << 32); } } } }",
    "program both(left: inout buffer<u32>, y: inout buffer<u32>) { scratch n: u16[1]; "
    "repeat k while left[0] { phase over 1 { n[0] = u16(left[0] * 2); left[0] = left[0] / 2; } "
    "repeat i while n[0] { phase over y { y[gid] = y[gid] * 2 + i + k * 100; } "
    "phase over 1 { n[0] = n[0] - 1; } } } }",
    /* What only the host can do: a phase with a grid barrier, a domain that is overwritten. */
    "program barrier_inside(left: inout buffer<u32>, y: inout buffer<u32>) { "
    "repeat i while left[0] { phase over y workgroup 32 { y[gid] = y[gid] + i; grid_barrier; "
    "if gid == 0 { left[0] = left[0] - 1; } } } }",
    "program shrinks(left: inout buffer<u32>, y: inout buffer<u32>) { "
    "repeat i while left[0] { phase over left[0] max 1000 { "
    "if gid == 0 { left[0] = left[0] - 1; } if gid < len(y) { y[gid] = y[gid] + i; } } } }",
};

static void turns_are_those_of_the_oracle(void **state) {
    (void)state;
    static const uint32_t counts[] = {0, 1, 2, 3, 4, 5, 11, 12, 13, 28, 29, 60, 61, 200};
    vyre_device *oracle, *cuda = fake_device_open(0);
    expect_ok(vyre_reference_open_oracle(&oracle));
    for (size_t p = 0; p < sizeof loops / sizeof *loops; p++) {
        vyre_program *program = contract_program(loops[p]);
        for (size_t c = 0; c < 2 * sizeof counts / sizeof *counts; c++) {
            uint32_t left = counts[c / 2], y[70];
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
    fake->on_launch(run_launch);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_those_of_the_oracle),
        cmocka_unit_test(turns_need_no_host),
        cmocka_unit_test(random_programs),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ptx_module_free(module);
    free(image);
    return failed;
}
