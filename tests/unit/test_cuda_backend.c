/* The cuda backend's runtime on a driver that needs no GPU: phases, graphs, resident buffers, what
 * is launched and copied. What kernels compute is the reference's; that they are started with the
 * right arguments in the right order is what is tested. */
#include <stdio.h>

#include <vyre/reference.h>

#include "backend/cuda/runtime/backend.h"
#include "backend/cuda/runtime/executable.h"
#include "backend/reference/backend.h"
#include "conform/compare.h"
#include "runtime/device.h"
#include "tests/unit/cuda_check.h"
#include "tests/unit/settings.h"
#include "tests/unit/trial_check.h"

#define GRID                                                                                       \
    "program grid(x: buffer<u32>, s: out buffer<u32>[len(x)], y: out buffer<u32>[len(x)]) "        \
    "over x workgroup 64 { s[gid] = x[gid]; grid_barrier; y[gid] = s[len(x) - 1 - gid]; }"
/* The phase overwrites the number that its own domain comes from. */
#define OVERWRITES                                                                                 \
    "program overwrites(x: buffer<u32>, y: out buffer<u32>[len(x)]) { scratch n: u32[1]; "         \
    "phase over 1 { n[0] = x[1]; } "                                                               \
    "phase over n[0] max len(x) { y[gid] = x[gid] + 1; if gid == 0 { n[0] = 0; } } "               \
    "phase over n[0] max len(x) { y[gid] = 99; } }"

static void expect_reference(vyre_device *device, const char *text, const vyre_input *inputs,
                             size_t count) {
    vyre_program *program = fake_device_program(text);
    vyre_outputs found, expected;
    expect_ok(vyre_reference_run(program, inputs, count, NULL, NULL, &expected));
    expect_ok(vyre_device_dispatch(device, program, inputs, count, NULL, &found));
    assert_int_equal(found.count, expected.count);
    for (size_t i = 0; i < found.count; i++) {
        assert_int_equal(found.items[i].size, expected.items[i].size);
        if (found.items[i].size) {
            assert_memory_equal(found.items[i].data, expected.items[i].data, found.items[i].size);
        }
    }
    vyre_outputs_free(&found);
    vyre_outputs_free(&expected);
    vyre_program_release(program);
}

static void backend_says_what_it_is(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(1);
    vyre_profile profile;
    vyre_device_profile(device, &profile);
    assert_string_equal(vyre_device_name(device), "cuda:1");
    assert_string_equal(profile.device, "Fake GPU 1");
    assert_string_equal(profile.driver, "CUDA 12.4");
    assert_non_null(strstr(vyre_device_version(device), "sm_90"));
    assert_true((profile.flags & VYRE_PROFILE_IS_GPU) &&
                !(profile.flags & VYRE_PROFILE_IS_SOFTWARE));
    assert_int_equal(profile.compute_units, 4);
    assert_int_equal(profile.memory_bandwidth_gbps, 4916);
    assert_int_equal(profile.grade, VYRE_GRADE_EXACT);
    assert_int_equal(profile.timing_quality, VYRE_TIMING_DEVICE_TIMESTAMPS);
    assert_int_equal(profile.subgroup_size, 32);
    assert_true(vyre_device_features(device) & VYRE_FEATURE_GRID_SYNC);
    assert_true(vyre_device_features(device) & VYRE_FEATURE_TENSOR_CORES);
    assert_true(profile.flags & VYRE_PROFILE_SUPPORTS_TENSOR_CORES);
    assert_int_equal(profile.max_workgroup_size[2], 1024);
    /* A look costs no context. */
    assert_int_equal(fake->calls(FAKE_cuDevicePrimaryCtxRetain), 0);
    vyre_device_release(device);
    vyre_backend made = {.host = vyre_host_services()};
    expect_fail(cuda_bundle.registrations[0].create(vyre_host_services(), 2, &made),
                VYRE_STATUS_NOT_FOUND, "there is no device 2");
}

static void runs_give_the_bytes_of_the_reference(void **state) {
    (void)state;
    enum { LENGTH = 1003 };
    uint32_t x[LENGTH], y[LENGTH], k = 3, n = 700;
    contract_numbers(x, LENGTH);
    contract_numbers(y, LENGTH);
    vyre_device *device = fake_device_open(0);
    const vyre_input whole = {x, sizeof x}, none = {NULL, 0};
    const vyre_input add[] = {{&k, 4}, {x, sizeof x}, {y, sizeof y}};
    const vyre_input steps[] = {{&n, 4}, {x, sizeof x}, {y, sizeof y}};
    expect_reference(device, TWICE, &whole, 1);
    expect_reference(device, TWICE, &none, 1);
    expect_reference(device, ADD, add, 3);
    expect_reference(device, STEPS, steps, 3);
    expect_reference(device, ROW, &add[1], 2);
    expect_reference(device, OVERWRITES, &whole, 1);
    const vyre_input some = {x, 500 * sizeof *x};
    expect_reference(device, GRID, &some, 1); /* 8 workgroups: the device has room for 8 */
    assert_int_equal(fake->calls(FAKE_cuLaunchCooperativeKernel), 1);
    expect_reference(device, GRID, &whole, 1); /* 16 of them run split */
    assert_int_equal(fake->calls(FAKE_cuLaunchCooperativeKernel), 1);
    vyre_device_release(device);
}

/* More than goes through pages in one part, in both directions. */
static void large_data_goes_in_parts(void **state) {
    (void)state;
    enum { LENGTH = (9 << 20) / 4 + 7 };
    uint32_t *x = malloc(LENGTH * sizeof *x);
    vyre_device *device = fake_device_open(0);
    vyre_resident resident;
    contract_numbers(x, LENGTH);
    expect_ok(vyre_resident_allocate(device, LENGTH * sizeof *x, &resident));
    expect_ok(vyre_resident_upload(device, resident, x, LENGTH * sizeof *x));
    memset(x, 0, LENGTH * sizeof *x);
    expect_ok(vyre_resident_read(device, resident, 0, x, LENGTH * sizeof *x));
    expect_numbers(x, LENGTH, 1);
    expect_ok(vyre_resident_read(device, resident, 4 * (LENGTH - 3), x, 8));
    assert_int_equal(x[1], LENGTH - 1);
    expect_ok(vyre_resident_free(device, resident));
    vyre_device_release(device);
    free(x);
}

/* Frames that are larger than parameters may be. */
static void many_arguments_go_through_memory(void **state) {
    (void)state;
    enum { BUFFERS = 250 };
    char text[16384];
    size_t size = (size_t)snprintf(text, sizeof text, "program many(");
    for (int i = 0; i < BUFFERS; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size, "b%d: buffer<u32>, ", i);
    }
    size += (size_t)snprintf(text + size, sizeof text - size,
                             "y: out buffer<u32>[1]) over 1 { y[0] = b0[0]");
    for (int i = 1; i < BUFFERS; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size, " + b%d[0]", i);
    }
    snprintf(text + size, sizeof text - size, "; }");
    uint32_t values[BUFFERS];
    vyre_input inputs[BUFFERS];
    contract_numbers(values, BUFFERS);
    for (int i = 0; i < BUFFERS; i++) {
        inputs[i] = (vyre_input){&values[i], 4};
    }
    vyre_device *device = fake_device_open(0);
    expect_reference(device, text, inputs, BUFFERS);
    vyre_device_release(device);
}

static void random_programs_conform(void **state) {
    (void)state;
    vyre_device *oracle, *device = fake_device_open(0);
    expect_ok(vyre_reference_open_oracle(&oracle));
    const conform_pair both = {
        .oracle = oracle, .subject = device, .has_one_answer = vyre_reference_has_one_answer};
    for (uint64_t seed = 1; seed <= test_work(200, 30); seed++) {
        conform_trial trial;
        vyre_outputs expected;
        conform_comparison comparison;
        expect_ok(trial_generate(seed, &trial));
        fake_device_know(trial.program);
        expect_ok(conform_expect(&both, &trial, trial.program, &expected));
        expect_ok(conform_compare(&both, &trial, trial.program, &expected, &comparison));
        if (comparison.verdict != CONFORM_VERDICT_SAME) {
            fail_msg("seed %llu: %s", (unsigned long long)seed, comparison.text);
        }
        vyre_outputs_free(&expected);
        conform_trial_free(&trial);
    }
    vyre_device_release(device);
    vyre_device_release(oracle);
}

static void times_are_the_device_s(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(TWICE);
    uint32_t x[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    const vyre_input input = {x, sizeof x};
    vyre_outputs outputs;
    vyre_timing timing;
    expect_ok(vyre_device_dispatch_timed(device, program, &input, 1, NULL, &outputs, &timing));
    expect_twice(&outputs);
    assert_int_equal(timing.device_ns, 500000);
    assert_true(timing.enqueue_ns <= timing.wall_ns && timing.wait_ns <= timing.wall_ns);
    vyre_resident a = contract_resident(device, 1), b = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind(a), vyre_bind(b)};
    expect_ok(vyre_device_dispatch_resident(device, program, bindings, 2, NULL, &timing));
    assert_int_equal(timing.device_ns, 500000);
    expect_resident(device, b, 2);
    expect_ok(vyre_resident_free(device, a));
    expect_ok(vyre_resident_free(device, b));
    vyre_program_release(program);
    vyre_device_release(device);
}

static void enqueued_runs_keep_their_order(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(ADD);
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    assert_true(vyre_pipeline_is_native(pipeline));
    vyre_resident a = contract_resident(device, 1), b = contract_resident(device, 1);
    vyre_ticket ticket = 0, before;
    for (int i = 0; i < 10; i++) { /* b += a; a += b: Fibonacci */
        before = ticket;
        const vyre_binding first[] = {vyre_bind_bits(1), vyre_bind(a), vyre_bind(b)};
        const vyre_binding second[] = {vyre_bind_bits(1), vyre_bind(b), vyre_bind(a)};
        expect_ok(vyre_pipeline_enqueue(pipeline, first, 3, NULL, &ticket));
        expect_ok(vyre_pipeline_enqueue(pipeline, second, 3, NULL, &ticket));
        assert_true(ticket > before);
    }
    expect_resident(device, a, 17711); /* reading waits for it */
    expect_ok(vyre_device_wait(device, ticket));
    assert_true(vyre_device_is_done(device, ticket));
    const vyre_binding last[] = {vyre_bind_bits(2), vyre_bind(a), vyre_bind(b)};
    expect_ok(vyre_pipeline_enqueue(pipeline, last, 3, NULL, &ticket));
    vyre_device_cache_limit(device, 0);
    vyre_pipeline_release(pipeline); /* the run has what it needs */
    vyre_program_release(program);
    expect_ok(vyre_device_flush(device));
    expect_resident(device, b, 10946 + 2 * 17711);
    expect_ok(vyre_resident_free(device, a));
    expect_ok(vyre_resident_free(device, b));
    vyre_device_release(device);
}

/* Pairs of buffers on lanes of their own, then a run that has one of each: its lane waits. */
static void lanes_wait_for_one_another(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *add = fake_device_program(ADD), *sum = fake_device_program(SUM);
    vyre_pipeline *adds, *sums;
    expect_ok(vyre_device_compile(device, add, NULL, &adds));
    expect_ok(vyre_device_compile(device, sum, NULL, &sums));
    vyre_resident all[6], total = contract_resident(device, 0);
    for (int i = 0; i < 6; i++) {
        all[i] = contract_resident(device, 1);
    }
    uint64_t waits = fake->calls(FAKE_cuStreamWaitEvent);
    for (int i = 0; i < 6; i += 2) {
        const vyre_binding own[] = {vyre_bind_bits(1), vyre_bind(all[i]), vyre_bind(all[i + 1])};
        for (int turn = 0; turn < 3; turn++) {
            expect_ok(vyre_pipeline_enqueue(adds, own, 3, NULL, NULL)); /* 1 + 3 * 1 */
        }
    }
    assert_int_equal(fake->calls(FAKE_cuStreamWaitEvent), waits);
    vyre_ticket ticket;
    const vyre_binding both[] = {vyre_bind(all[1]), vyre_bind(all[3]), vyre_bind(total)};
    expect_ok(vyre_pipeline_enqueue(sums, both, 3, NULL, &ticket));
    assert_int_equal(fake->calls(FAKE_cuStreamWaitEvent), waits + 1);
    while (!vyre_device_is_done(device, ticket)) {
    }
    expect_resident(device, total, 8);
    for (int i = 0; i < 6; i++) {
        expect_ok(vyre_device_flush(device));
        expect_ok(vyre_resident_free(device, all[i]));
    }
    expect_ok(vyre_resident_free(device, total));
    vyre_pipeline_release(adds);
    vyre_pipeline_release(sums);
    vyre_program_release(add);
    vyre_program_release(sum);
    vyre_device_release(device);
}

/* One launch of the driver a run, and other buffers without making the graph again. */
static void rows_of_launches_are_replayed(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(ROW);
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    vyre_resident x[6], y[6];
    for (uint32_t i = 0; i < 6; i++) {
        x[i] = contract_resident(device, i);
        y[i] = contract_resident(device, 0);
    }
    uint64_t launches = fake->calls(FAKE_cuLaunchKernel);
    for (int turn = 0; turn < 3; turn++) {
        for (uint32_t i = 0; i < 6; i++) {
            const vyre_binding bindings[] = {vyre_bind(x[i]), vyre_bind(y[i])};
            expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, NULL));
        }
    }
    assert_int_equal(fake->calls(FAKE_cuLaunchKernel), launches);
    assert_int_equal(fake->calls(FAKE_cuGraphLaunch), 18);
    assert_int_equal(fake->calls(FAKE_cuGraphInstantiate), CUDA_REPLAYS);
    assert_true(fake->calls(FAKE_cuGraphExecKernelNodeSetParams) > 0);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t found[CONTRACT_LENGTH];
        expect_ok(vyre_resident_read(device, y[i], 0, found, sizeof found));
        for (uint32_t k = 0; k < CONTRACT_LENGTH; k++) {
            assert_int_equal(found[k], (i * (k + 1) * 2 + 1) * 27);
        }
    }
    /* The same buffers again: nothing but the launch. */
    uint64_t changes = fake->calls(FAKE_cuGraphExecKernelNodeSetParams);
    const vyre_binding again[] = {vyre_bind(x[5]), vyre_bind(y[5])};
    expect_ok(vyre_pipeline_enqueue(pipeline, again, 2, NULL, NULL));
    assert_int_equal(fake->calls(FAKE_cuGraphExecKernelNodeSetParams), changes);
    expect_ok(vyre_device_flush(device));
    for (uint32_t i = 0; i < 6; i++) {
        expect_ok(vyre_resident_free(device, x[i]));
        expect_ok(vyre_resident_free(device, y[i]));
    }
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
}

/* What an enqueue costs: one launch, and nothing else of the driver but a look at the context. */
static void an_enqueue_is_one_launch(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(ADD);
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    vyre_resident a = contract_resident(device, 1), b = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind_bits(1), vyre_bind(a), vyre_bind(b)};
    uint64_t before[FAKE_ENTRY_COUNT];
    for (int i = 0; i < FAKE_ENTRY_COUNT; i++) {
        before[i] = fake->calls((fake_entry)i);
    }
    for (int i = 0; i < 100; i++) {
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, NULL));
    }
    for (int i = 0; i < FAKE_ENTRY_COUNT; i++) {
        uint64_t calls = fake->calls((fake_entry)i) - before[i];
        assert_int_equal(calls, i == FAKE_cuLaunchKernel || i == FAKE_cuCtxGetCurrent ? 100 : 0);
    }
    expect_resident(device, b, 101);
    expect_ok(vyre_resident_free(device, a));
    expect_ok(vyre_resident_free(device, b));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
}

/* A launch is kept for the next one that is the same; others are others. */
static void launches_follow_their_arguments(void **state) {
    (void)state;
    enum { ELEMENTS = 40 };
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(
        "program p(k: u32, x: buffer<u32>, y: inout buffer<u32>) over x { y[gid] = x[gid] + k; }");
    vyre_pipeline *pipeline;
    vyre_resident x[2], y[2];
    uint32_t numbers[2 * ELEMENTS], expected[2][ELEMENTS] = {{0}}, found[ELEMENTS];
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    for (uint32_t i = 0; i < 2 * ELEMENTS; i++) {
        numbers[i] = i * i;
    }
    for (uint32_t i = 0; i < 2; i++) { /* of other lengths, too */
        size_t bytes = (ELEMENTS - i * 7) * sizeof *numbers;
        expect_ok(vyre_resident_allocate(device, bytes, &x[i]));
        expect_ok(vyre_resident_upload(device, x[i], numbers + i * ELEMENTS, bytes));
        expect_ok(vyre_resident_allocate(device, sizeof found, &y[i]));
    }
    for (uint32_t turn = 0; turn < 64; turn++) {
        uint32_t from = turn >> 1 & 1, to = turn >> 2 & 1, k = turn >> 3;
        const vyre_binding bindings[] = {vyre_bind_bits(k), vyre_bind(x[from]), vyre_bind(y[to])};
        const vyre_dispatch_config config = {.grid = {5}};
        bool has_grid = turn % 16 == 15;
        for (uint32_t i = 0; i < (has_grid ? 5 : ELEMENTS - from * 7); i++) {
            expected[to][i] = numbers[from * ELEMENTS + i] + k;
        }
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, has_grid ? &config : NULL, NULL));
        expect_ok(vyre_resident_read(device, y[to], 0, found, sizeof found));
        assert_memory_equal(found, expected[to], sizeof found);
    }
    for (uint32_t i = 0; i < 2; i++) {
        expect_ok(vyre_resident_free(device, x[i]));
        expect_ok(vyre_resident_free(device, y[i]));
    }
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
}

/* Memory of the fake is full of other things, so what is left out shows. */
static void zeros_that_nobody_sees_are_not_written(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(TWICE);
    uint32_t x[100];
    for (uint32_t i = 0; i < 100; i++) {
        x[i] = i + 1;
    }
    const vyre_input input = {x, sizeof x};
    const vyre_dispatch_config own = {0}, other = {.grid = {40}};
    const vyre_dispatch_config *const configs[] = {&own, &own, &other, &own};
    for (int round = 0; round < 4; round++) {
        vyre_outputs outputs;
        uint64_t before = fake->calls(FAKE_cuMemsetD8Async);
        expect_ok(vyre_device_dispatch(device, program, &input, 1, configs[round], &outputs));
        if (round) { /* the first one makes a lane, too */
            assert_int_equal(fake->calls(FAKE_cuMemsetD8Async) - before, round == 2);
        }
        const uint32_t *y = (const uint32_t *)(const void *)outputs.items[0].data;
        for (uint32_t i = 0; i < 100; i++) {
            assert_int_equal(y[i], round == 2 && i >= 40 ? 0 : 2 * x[i]);
        }
        vyre_outputs_free(&outputs);
    }
    vyre_program_release(program);
    vyre_device_release(device);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        TEST(backend_says_what_it_is),         TEST(runs_give_the_bytes_of_the_reference),
        TEST(large_data_goes_in_parts),        TEST(many_arguments_go_through_memory),
        TEST(random_programs_conform),         TEST(times_are_the_device_s),
        TEST(enqueued_runs_keep_their_order),  TEST(lanes_wait_for_one_another),
        TEST(rows_of_launches_are_replayed),   TEST(an_enqueue_is_one_launch),
        TEST(launches_follow_their_arguments), TEST(zeros_that_nobody_sees_are_not_written),
    };
    fake = fake_device_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
