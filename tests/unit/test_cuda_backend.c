/* The cuda backend's runtime on a driver that needs no GPU: phases, graphs, resident buffers,
 * tickets, timeouts. What kernels compute is the reference's; that they are started with the right
 * arguments in the right order is what is tested. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include <vyre/reference.h>

#include "backend/cuda/runtime/backend.h"
#include "backend/cuda/runtime/executable.h"
#include "backend/reference/backend.h"
#include "base/clock.h"
#include "conform/compare.h"
#include "runtime/device.h"
#include "tests/fake_cuda/device.h"
#include "tests/unit/settings.h"
#include "tests/unit/trial_check.h"

static const fake_cuda *fake;

#define STEPS                                                                                      \
    "program steps(n: u32, x: buffer<u32>, y: inout buffer<u32>, z: out buffer<u32>[len(x)]) { "   \
    "scratch s: u32[len(x)]; scratch left: u32[2]; "                                               \
    "phase over x { s[gid] = s[gid] + x[gid]; if gid == 0 { left[0] = 5; left[1] = n; } } "        \
    "repeat i in 3 { phase over x { s[gid] = s[gid] * 3 + i; } } "                                 \
    "phase over left[1] max len(x) { z[gid] = s[gid]; } "                                          \
    "repeat while left[0] { phase over x { y[gid] = y[gid] + s[gid]; } "                           \
    "phase over 1 { left[0] = left[0] - 1; } } }"
/* y = (2 x + 1) * 3^3 in five launches and a fill of scratch; a graph. */
#define ROW                                                                                        \
    "program row(x: buffer<u32>, y: inout buffer<u32>) { scratch s: u32[len(x)]; "                 \
    "phase over x { s[gid] = s[gid] + x[gid] * 2; } phase over x { s[gid] = s[gid] + 1; } "        \
    "repeat i in 3 { phase over x { s[gid] = s[gid] * 3; } } "                                     \
    "phase over x { y[gid] = s[gid]; } }"
#define GRID                                                                                       \
    "program grid(x: buffer<u32>, s: out buffer<u32>[len(x)], y: out buffer<u32>[len(x)]) "        \
    "over x workgroup 64 { s[gid] = x[gid]; grid_barrier; y[gid] = s[len(x) - 1 - gid]; }"
/* The phase overwrites the number that its own domain comes from. */
#define OVERWRITES                                                                                 \
    "program overwrites(x: buffer<u32>, y: out buffer<u32>[len(x)]) { scratch n: u32[1]; "         \
    "phase over 1 { n[0] = x[1]; } "                                                               \
    "phase over n[0] max len(x) { y[gid] = x[gid] + 1; if gid == 0 { n[0] = 0; } } "               \
    "phase over n[0] max len(x) { y[gid] = 99; } }"
#define ENDLESS                                                                                    \
    "program endless(go: buffer<u32>, y: out buffer<u32>[64]) over 64 workgroup 8 { "              \
    "var n = 0u; loop { if atomic_add(y[gid], 0) == 1 || go[0] == 0 { break; } n += 1; } "         \
    "y[gid] = n + 7; }"
#define ENDLESS_REPEAT                                                                             \
    "program endless_repeat(x: buffer<u32>, y: inout buffer<u32>) { "                              \
    "repeat while x[0] { phase over y { y[gid] = y[gid] + 1; } } }"

static int begin(void **state) {
    (void)state;
    fake->reset();
    fake->on_launch(fake_device_run);
    return 0;
}

/* Whatever a test did, nothing of it is left on the device. */
static int end(void **state) {
    (void)state;
    fake_device_forget();
    fake_live live = fake->live();
    const fake_live none = {0};
    return memcmp(&live, &none, sizeof live) ? -1 : 0;
}

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
    const conform_pair both = {oracle, device, vyre_reference_has_one_answer};
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

static void runs_end_in_time(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *twice = fake_device_program(TWICE);
    vyre_program *programs[] = {fake_device_program(ENDLESS), fake_device_program(ENDLESS_REPEAT)};
    uint32_t go = 1, y[3] = {0};
    for (int turn = 0; turn < 4; turn++) {
        const vyre_input inputs[] = {{&go, 4}, {y, sizeof y}};
        const vyre_dispatch_config config = {.timeout_ns = 30000000};
        vyre_outputs outputs;
        vyre_pipeline *pipeline;
        expect_ok(vyre_device_compile(device, programs[turn % 2], NULL, &pipeline));
        uint64_t start = vyre_now_ns();
        expect_fail(
            vyre_pipeline_dispatch(pipeline, inputs, 1 + (size_t)turn % 2, &config, &outputs),
            VYRE_STATUS_TIMEOUT, "took longer than its timeout");
        vyre_pipeline_release(pipeline);
        assert_true(vyre_now_ns() - start >= config.timeout_ns);
        assert_null(outputs.items);
        assert_false(vyre_device_lost(device));
        expect_works(device);
    }
    vyre_program_release(twice);
    vyre_program_release(programs[0]);
    vyre_program_release(programs[1]);
    vyre_device_release(device);
}

static void compiling_ends_in_time(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(TWICE);
    const vyre_dispatch_config config = {.timeout_ns = 100000000};
    vyre_pipeline *pipeline;
    fake->spec()->compile_ms = 1000;
    uint64_t start = vyre_now_ns();
    expect_fail(vyre_device_compile(device, program, &config, &pipeline), VYRE_STATUS_TIMEOUT,
                "took longer to compile than its timeout");
    uint64_t took = vyre_now_ns() - start;
    assert_true(took >= config.timeout_ns && took < 1000000000);
    assert_null(pipeline);
    __atomic_store_n(&fake->spec()->compile_ms, 0, __ATOMIC_RELAXED);
    expect_works(device);
    /* The thread that was left gives back what it made, and holds up the end of the device. */
    expect_ok(vyre_device_shutdown(device));
    assert_int_equal(fake->live().links, 0);
    assert_int_equal(fake->live().modules, 0);
    vyre_program_release(program);
    vyre_device_release(device);
}

static void a_ticket_tells_what_went_wrong(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(ENDLESS_REPEAT), *add = fake_device_program(ADD);
    vyre_pipeline *pipeline, *adds;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    expect_ok(vyre_device_compile(device, add, NULL, &adds));
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    const vyre_dispatch_config config = {.timeout_ns = 10000000};
    vyre_ticket first, second, third;
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, &config, &first));
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, &config, &second));
    /* Needs no host itself, but comes after those that do. */
    const vyre_binding behind[] = {vyre_bind_bits(0), vyre_bind(y), vyre_bind(x)};
    expect_ok(vyre_pipeline_enqueue(adds, behind, 3, NULL, &third));
    assert_true(third > second && second > first);
    expect_fail(vyre_resident_free(device, y), VYRE_STATUS_INVALID_ARGUMENT, "in use");
    expect_ok(vyre_device_wait(device, third));
    for (int i = 0; i < 2; i++) {
        expect_fail(vyre_device_wait(device, second), VYRE_STATUS_TIMEOUT, "`endless_repeat` took");
        expect_fail(vyre_device_wait(device, first), VYRE_STATUS_TIMEOUT, "`endless_repeat` took");
    }
    assert_true(vyre_device_is_done(device, first));
    vyre_timing timing;
    expect_fail(vyre_device_dispatch_resident(device, program, bindings, 2, &config, &timing),
                VYRE_STATUS_TIMEOUT, "`endless_repeat` took");
    expect_ok(vyre_resident_free(device, x));
    expect_ok(vyre_resident_free(device, y));
    vyre_pipeline_release(pipeline);
    vyre_pipeline_release(adds);
    vyre_program_release(program);
    vyre_program_release(add);
    vyre_device_release(device);
}

static void async_runs_go_on_by_themselves(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *endless = fake_device_program(ENDLESS_REPEAT);
    vyre_program *spins = fake_device_program(ENDLESS), *twice = fake_device_program(TWICE);
    uint32_t x[CONTRACT_LENGTH], y[4] = {0};
    contract_numbers(x, CONTRACT_LENGTH);
    const vyre_input one[] = {{x, sizeof x}, {y, sizeof y}};
    vyre_pending *first, *second, *third;
    vyre_outputs outputs;
    expect_ok(vyre_device_dispatch_async(device, endless, one, 2, NULL, &first));
    expect_ok(vyre_device_dispatch_async(device, spins, one, 1, NULL, &third));
    expect_ok(vyre_device_dispatch_async(device, twice, one, 1, NULL, &second));
    memset(x, 0, sizeof x); /* borrowed inputs are gone */
    expect_works(device);   /* other runs do not wait for them */
    assert_false(vyre_pending_is_ready(first) || vyre_pending_is_ready(third));
    uint64_t start = vyre_now_ns();
    while (!vyre_pending_is_ready(second) && vyre_now_ns() - start < UINT64_C(10000000000)) {
        sched_yield();
    }
    assert_true(vyre_pending_is_ready(second));
    expect_ok(vyre_pending_await(second, &outputs));
    expect_twice(&outputs);
    vyre_pending_free(second);
    vyre_pending_free(third); /* while they run, which ends them */
    vyre_pending_free(first);
    expect_works(device);
    vyre_program_release(endless);
    vyre_program_release(spins);
    vyre_program_release(twice);
    vyre_device_release(device);
}

static void artifacts_are_taken_or_made_again(void **state) {
    (void)state;
    vyre_program *program = fake_device_program(STEPS);
    vyre_device *device = fake_device_open(0);
    expect_ok(vyre_device_prepare(device));
    cuda_device *own = device->backend->state;
    vyre_strbuf artifact = {0}, none = {0};
    cuda_executable *native;
    uint64_t before = fake->calls(FAKE_cuLinkCreate);
    expect_ok(cuda_executable_make(own, program, NULL, 0, &artifact, &native));
    assert_true(artifact.size > 100);
    cuda_executable_release(native);
    uint64_t links = fake->calls(FAKE_cuLinkCreate), made = links - before;
    assert_true(made >= 1); /* one a binary */
    expect_ok(cuda_executable_make(own, program, (uint8_t *)artifact.data, artifact.size, &none,
                                   &native));
    assert_int_equal(none.size, 0); /* nothing new to store */
    assert_int_equal(fake->calls(FAKE_cuLinkCreate), links);
    cuda_executable_release(native);
    /* Of other semantics, which the head has behind its name and five numbers. */
    enum { SEMANTICS_AT = 28 };
    assert_int_equal(artifact.data[SEMANTICS_AT], VYRE_SEMANTICS);
    artifact.data[SEMANTICS_AT]--;
    expect_ok(cuda_executable_make(own, program, (uint8_t *)artifact.data, artifact.size, &none,
                                   &native));
    assert_int_equal(none.size, artifact.size);
    cuda_executable_release(native);
    vyre_strbuf_free(&none);
    artifact.data[SEMANTICS_AT]++;
    artifact.data[artifact.size / 2] ^= 1;
    expect_ok(cuda_executable_make(own, program, (uint8_t *)artifact.data, artifact.size, &none,
                                   &native));
    assert_int_equal(fake->calls(FAKE_cuLinkCreate), links + 2 * made);
    assert_int_equal(none.size, artifact.size);
    cuda_executable_release(native);
    vyre_strbuf_free(&none);
    vyre_strbuf_free(&artifact);
    vyre_program_release(program);
    vyre_device_release(device);
}

static void the_compiler_s_words_are_told(void **state) {
    (void)state;
    vyre_program *program = fake_device_program(TWICE);
    vyre_device *device = fake_device_open(0);
    vyre_pipeline *pipeline;
    fake->spec()->log = "line 7: no such instruction";
    expect_fail(vyre_device_compile(device, program, NULL, &pipeline), VYRE_STATUS_BACKEND,
                "line 7: no such instruction");
    fake->spec()->log = NULL;
    expect_works(device);
    vyre_program_release(program);
    vyre_device_release(device);
}

static void memory_that_is_not_there_is_told(void **state) {
    (void)state;
    vyre_program *program = fake_device_program(TWICE);
    vyre_device *device = fake_device_open(0);
    vyre_resident small, large;
    expect_ok(vyre_resident_allocate(device, 64 << 20, &small));
    expect_ok(vyre_resident_free(device, small)); /* kept, and given up when it is needed */
    assert_true(fake->live().block_bytes >= 64 << 20 || fake->calls(FAKE_cuMemFree) > 0);
    expect_ok(vyre_resident_allocate(device, 200 << 20, &large));
    expect_fail(vyre_resident_allocate(device, 100 << 20, &small), VYRE_STATUS_OUT_OF_MEMORY,
                "for 104857600 bytes: ");
    expect_ok(vyre_resident_free(device, large));
    expect_works(device);
    vyre_program_release(program);
    vyre_device_release(device);
}

/* Runs of about one size take memory from the driver once. */
static void memory_is_used_again(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(TWICE);
    expect_works(device);
    uint64_t taken = fake->calls(FAKE_cuMemAlloc);
    for (int i = 0; i < 20; i++) {
        expect_works(device);
    }
    assert_int_equal(fake->calls(FAKE_cuMemAlloc), taken);
    assert_int_equal(fake->calls(FAKE_cuMemFree), 0);
    vyre_program_release(program);
    vyre_device_release(device);
    assert_int_equal(cuda_memory_round(0), 256);
    assert_int_equal(cuda_memory_round(257), 512);
    assert_int_equal(cuda_memory_round(1 << 20), 1 << 20);
    assert_int_equal(cuda_memory_round((1 << 20) + 1), (1 << 20) + (1 << 17));
    assert_int_equal(cuda_memory_round(((uint64_t)3 << 30) + 1), ((uint64_t)3 << 30) + (2 << 20));
}

/* Threads that compile, run, enqueue, cancel and wait on one device. */
typedef struct member {
    pthread_t thread;
    vyre_device *device;
    const vyre_program *add, *row, *steps, *endless;
    uint32_t number, turns;
    uint64_t end;
} member;

/* The driver waits for all that runs before it unloads code: not while somebody may still have to
 * call a run off. */
static void code_goes_when_nothing_runs(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *twice = fake_device_program(TWICE), *endless = fake_device_program(ENDLESS);
    vyre_device_cache_limit(device, 0);
    uint64_t before = fake->live().modules;
    uint32_t go = 1;
    const vyre_input input = {&go, sizeof go};
    vyre_pending *pending[2];
    for (size_t i = 0; i < 2; i++) {
        expect_ok(vyre_device_dispatch_async(device, endless, &input, 1, NULL, &pending[i]));
    }
    while (fake->calls(FAKE_cuStreamQuery) < 10) { /* both are under way, or will be */
        sched_yield();
    }
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, twice, NULL, &pipeline));
    vyre_pipeline_release(pipeline);
    assert_true(fake->live().modules > before);
    vyre_pending_free(pending[0]);
    assert_true(fake->live().modules > before);
    vyre_pending_free(pending[1]);
    assert_int_equal(fake->live().modules, before);
    vyre_program_release(twice);
    vyre_program_release(endless);
    vyre_device_release(device);
}

static void work_once(member *m) {
    uint32_t x[CONTRACT_LENGTH], y[CONTRACT_LENGTH], n = 3, go = 1;
    contract_numbers(x, CONTRACT_LENGTH);
    contract_numbers(y, CONTRACT_LENGTH);
    const vyre_input inputs[] = {{&n, 4}, {x, sizeof x}, {y, sizeof y}};
    const vyre_program *program = m->turns % 3 ? m->add : m->steps;
    vyre_pipeline *pipeline;
    vyre_outputs outputs;
    vyre_ticket ticket;
    expect_ok(vyre_device_dispatch(m->device, program, inputs, 3, NULL, &outputs));
    if (program == m->add) {
        expect_numbers(outputs.items[0].data, CONTRACT_LENGTH, 4);
    }
    vyre_outputs_free(&outputs);
    vyre_resident a = contract_resident(m->device, 1), b = contract_resident(m->device, 0);
    const vyre_binding bindings[] = {vyre_bind(a), vyre_bind(b)};
    const vyre_dispatch_config config = {.timeout_ns = m->turns % 4 ? 0 : UINT64_C(1) << 40};
    expect_ok(vyre_device_compile(m->device, m->row, NULL, &pipeline));
    for (int i = 0; i < 3; i++) {
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, i == 1 ? &config : NULL, &ticket));
    }
    if (m->turns % 2) {
        expect_ok(vyre_device_wait(m->device, ticket));
    }
    uint32_t found[CONTRACT_LENGTH];
    expect_ok(vyre_resident_read(m->device, b, 0, found, sizeof found));
    assert_int_equal(found[2], (3 * 2 + 1) * 27);
    expect_ok(vyre_device_wait(m->device, ticket));
    expect_ok(vyre_resident_free(m->device, a));
    expect_ok(vyre_resident_free(m->device, b));
    vyre_pipeline_release(pipeline);
    const vyre_input endless = {&go, 4};
    vyre_pending *pending;
    expect_ok(vyre_device_dispatch_async(m->device, m->endless, &endless, 1, NULL, &pending));
    if (m->turns % 2) {
        sched_yield();
    }
    vyre_pending_free(pending);
}

static void *work(void *argument) {
    member *m = argument;
    while (m->turns < m->end) {
        work_once(m);
        m->turns++;
    }
    return NULL;
}

static void threads_share_a_device(void **state) {
    (void)state;
    enum { THREADS = 8 };
    /* Another one keeps the context, in which nothing of the threads' device may be left. */
    vyre_device *other = fake_device_open(0);
    vyre_program *twice = fake_device_program(TWICE);
    expect_works(other);
    fake_live before = fake->live();
    vyre_device *device = fake_device_open(0);
    vyre_program *add = fake_device_program(ADD), *row = fake_device_program(ROW);
    vyre_program *steps = fake_device_program(STEPS), *endless = fake_device_program(ENDLESS);
    member members[THREADS];
    uint64_t turns = test_work(150, 40);
    for (uint32_t i = 0; i < THREADS; i++) {
        members[i] = (member){.device = device,
                              .add = add,
                              .row = row,
                              .steps = steps,
                              .endless = endless,
                              .number = i,
                              .turns = i,
                              .end = i + turns};
        assert_int_equal(pthread_create(&members[i].thread, NULL, work, &members[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(members[i].thread, NULL);
        assert_int_equal(members[i].turns, i + turns);
    }
    vyre_program_release(add);
    vyre_program_release(row);
    vyre_program_release(steps);
    vyre_program_release(endless);
    vyre_device_release(device);
    fake_live after = fake->live();
    assert_memory_equal(&after, &before, sizeof after);
    vyre_program_release(twice);
    vyre_device_release(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    static const struct CMUnitTest tests[] = {
        TEST(backend_says_what_it_is),
        TEST(runs_give_the_bytes_of_the_reference),
        TEST(large_data_goes_in_parts),
        TEST(many_arguments_go_through_memory),
        TEST(random_programs_conform),
        TEST(times_are_the_device_s),
        TEST(enqueued_runs_keep_their_order),
        TEST(lanes_wait_for_one_another),
        TEST(rows_of_launches_are_replayed),
        TEST(an_enqueue_is_one_launch),
        TEST(launches_follow_their_arguments),
        TEST(zeros_that_nobody_sees_are_not_written),
        TEST(runs_end_in_time),
        TEST(compiling_ends_in_time),
        TEST(a_ticket_tells_what_went_wrong),
        TEST(async_runs_go_on_by_themselves),
        TEST(code_goes_when_nothing_runs),
        TEST(artifacts_are_taken_or_made_again),
        TEST(the_compiler_s_words_are_told),
        TEST(memory_that_is_not_there_is_told),
        TEST(memory_is_used_again),
        TEST(threads_share_a_device),
    };
    fake = fake_device_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
