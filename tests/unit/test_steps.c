/* Steps: sizes that use counters of repeats, swaps, branches, domains from memory in several
 * dimensions. What they compute, what is refused before the run, and that backends which know
 * nothing of them give the same bytes. */
#include <string.h>

#include "backend/cpu/runtime/backend.h"
#include "base/strbuf.h"
#include "runtime/device.h"
#include "runtime/plan.h"
#include "tests/unit/cpu_check.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/step_check.h"

/* What the reference gives for x and y of 12 elements. */
static void expect_numbers_of(const char *text, uint32_t n, const uint32_t *wanted_x,
                              const uint32_t *wanted_y) {
    uint32_t x[STEP_LENGTH], y[STEP_LENGTH];
    const vyre_input inputs[] = {{&n, 4}, {x, sizeof x}, {y, sizeof y}};
    vyre_program *program = contract_program(text);
    vyre_outputs outputs;
    for (uint32_t i = 0; i < STEP_LENGTH; i++) {
        x[i] = i;
        y[i] = 100 + i;
    }
    expect_ok(vyre_reference_run(program, inputs, 3, NULL, NULL, &outputs));
    assert_memory_equal(outputs.items[0].data, wanted_x, sizeof x);
    assert_memory_equal(outputs.items[1].data, wanted_y, sizeof y);
    vyre_outputs_free(&outputs);
    vyre_program_release(program);
}

static void steps_compute_what_they_say(void **state) {
    (void)state;
    const uint32_t same_x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const uint32_t same_y[] = {100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111};
    /* 3, 2 and 1 invocations. */
    const uint32_t fewer[] = {0 + 1 + 2 + 3, 1 + 1 + 2, 2 + 1, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    expect_numbers_of(STEP_HEAD "repeat k in n { phase over n - k { x[gid] += k + 1; } } }", 3,
                      fewer, same_y);
    /* From 2 to 4. */
    const uint32_t ranged[] = {9, 10, 9, 7, 4, 5, 6, 7, 8, 9, 10, 11};
    expect_numbers_of(STEP_HEAD "repeat k in 2..n { phase over k { x[gid] += k; } } }", 5, ranged,
                      same_y);
    expect_numbers_of(STEP_HEAD "repeat k in 2..n { phase over k { x[gid] += k; } } }", 1, same_x,
                      same_y);
    /* Below zero is 0 in a `repeat while`. */
    const uint32_t cut[] = {2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    expect_numbers_of(STEP_GO "repeat k while go[0] { phase over 2 - k { x[gid] += 1; }"
                              " phase over 1 { go[0] -= 1; } } }",
                      6, cut, same_y);
    expect_numbers_of(STEP_HEAD "phase over 1 { x[0] += 0; } swap(x, y); }", 0, same_y, same_x);
    const uint32_t zeros[STEP_LENGTH] = {0};
    expect_numbers_of(STEP_TEMP "phase over 1 { x[0] += 0; } swap(x, t); }", 0, zeros, same_y);
    expect_numbers_of(STEP_HEAD "if x[n] { phase over 1 { x[0] += 0; } } else { swap(x, y); "
                                "phase over 1 { x[0] += 0; } } }",
                      1, same_x, same_y);
    expect_numbers_of(STEP_HEAD "if x[n] { phase over 1 { x[0] += 0; } } else { swap(x, y); "
                                "phase over 1 { x[0] += 0; } } }",
                      0, same_y, same_x);
}

static void check_all(vyre_device *device) {
    static const uint32_t numbers[] = {0, 1, 2, 5, 9};
    for (uint32_t i = 0; i < STEP_TEXTS; i++) {
        vyre_program *program = contract_program(step_texts[i]);
        for (uint32_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            step_check(device, program, step_texts[i], numbers[k]);
        }
        vyre_program_release(program);
    }
}

static void cpu_gives_the_bytes_of_the_reference(void **state) {
    (void)state;
    if (!cpu_check_available()) {
        skip();
    }
    vyre_backend made = {.host = vyre_host_services()};
    vyre_device *device;
    expect_ok(cpu_bundle.registrations[0].create(vyre_host_services(), 0, &made));
    expect_ok(vyre_device_open(&made, "cpu", 0, &device));
    check_all(device);
    vyre_device_release(device);
}

/* A backend built before these steps existed: without phases of its own, or with. */
static void backends_without_steps_S70_never_see_them(void **state) {
    (void)state;
    static const struct {
        uint64_t slots;
        uint32_t features;
    } rows[] = {
        {0, 0},
        {MOCK_RESIDENT, 0},
        {MOCK_RESIDENT | MOCK_QUEUE | MOCK_COMPILE, 0},
        {MOCK_BIT(features), VYRE_FEATURE_PHASES},
        {MOCK_BIT(features) | MOCK_RESIDENT, VYRE_FEATURE_PHASES},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mock *m = mock_create(&(mock_spec){
            .single_phase = true,
            .slots = rows[i].slots | MOCK_BIT(max_workgroup_size) |
                     MOCK_BIT(max_workgroups_per_dimension) |
                     MOCK_BIT(max_invocations_per_workgroup) | MOCK_BIT(max_storage_buffer_bytes),
            .features = rows[i].features,
            .max_workgroup_size = {1024, 1024, 1024},
            .max_invocations = 1024,
            .max_workgroups = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
            .max_storage_buffer_bytes = UINT32_MAX,
            .without_artifact = true,
        });
        vyre_device *device;
        expect_ok(mock_open(m, &device));
        static const uint32_t numbers[] = {0, 2, 5};
        for (uint32_t t = 0; t < STEP_TEXTS; t++) {
            vyre_program *program = contract_program(step_texts[t]);
            for (uint32_t k = 0; k < 3; k++) {
                step_check(device, program, step_texts[t], numbers[k]);
            }
            vyre_program_release(program);
        }
        vyre_device_release(device);
        assert_int_equal(mock_residents(m), 0);
        mock_free(m);
    }
}

static void sizes_are_checked_for_all_iterations(void **state) {
    (void)state;
    static const struct {
        const char *steps;
        uint32_t n;
        const char *words[3]; /* none: accepted */
    } rows[] = {
        {"repeat k in n { phase over n - k { x[gid] = 1; } }", 5, {NULL}},
        {"repeat k in n { phase over n - k - 1 { x[gid] = 1; } }", 5, {NULL}},
        {"repeat k in n { phase over n - k - 1 { x[gid] = 1; } }", 0, {NULL}},
        {"repeat k in n { phase over 3 - k { x[gid] = 1; } }", 4, {NULL}},
        {"repeat k in n { phase over 3 - k { x[gid] = 1; } }",
         5,
         {"the size 3 - k is less than zero, with operands 3 and 4", "iteration 4 of repeat k"}},
        {"repeat k in n { repeat j in n - k { phase over n - k - j { x[gid] = 1; } } }",
         40,
         {NULL}},
        {"repeat k in n { repeat j in n { phase over n - k - j { x[gid] = 1; } } }", 2, {NULL}},
        {"repeat k in n { repeat j in n { phase over n - k - j { x[gid] = 1; } } }",
         3,
         {"is less than zero, with operands 1 and 2", "iteration 2 of repeat j",
          "iteration 2 of repeat k"}},
        {"repeat k in n { phase over 12 / k { x[gid] = 1; } }", 0, {NULL}},
        {"repeat k in n { phase over 12 / k { x[gid] = 1; } }",
         1,
         {"the size 12 / k divides by zero", "iteration 0"}},
        {"repeat k in n { phase over 12 % (k + 1) { x[gid] = 1; } }", 9, {NULL}},
        {"repeat k in n { phase over 9000000000000000000 * k { x[gid] = 1; } }",
         2,
         {"is too large"}},
        {"repeat k in n { phase over 9000000000000000000 * k { x[gid] = 1; } }",
         4,
         {"is too large", "iteration 1 of repeat k"}},
        {"repeat k in n { phase over min(9000000000000000000 * k, 5) { x[gid] = 1; } }",
         4,
         {"is larger than 64 bits can hold", "iteration 3 of repeat k"}},
        {"repeat k in n { phase over 65536 * k { x[gid] = 1; } }", 65537, {NULL}},
        {"repeat k in n { phase over 65537 * k { x[gid] = 1; } }", 65537, {"is too large"}},
        {"repeat k in n { repeat 3 - k { phase over x { x[gid] = 1; } } }",
         5,
         {"is less than zero", "iteration 4"}},
        {"repeat k in n { phase over x[3 - k] max 5 { x[gid] = 1; } }", 5, {"is less than zero"}},
        {"repeat k in n { if x[3 - k] { phase over x { x[gid] = 1; } } }",
         5,
         {"is less than zero"}},
        {"repeat k in n { if x[0] { phase over 3 - k { x[gid] = 1; } } }",
         5,
         {"is less than zero"}},
        {"repeat k while x[0] { phase over 3 - k { x[0] -= 1; } }", 5, {NULL}},
        {"repeat k while x[0] { repeat j in k { phase over 3 - j { x[0] -= 1; } } }", 5, {NULL}},
        {"repeat k while x[0] { repeat j in 5 { phase over 3 - j { x[0] -= 1; } } }",
         5,
         {"is less than zero, with operands 3 and 4"}},
        {"repeat k while x[0] { phase over k * 2 { x[0] -= 1; } }", 5, {"is too large"}},
        {"repeat k while x[0] { phase over min(k * 2, n) { x[0] -= 1; } }", 5, {NULL}},
        {"repeat k while x[0] { phase over 12 / k { x[0] -= 1; } }",
         5,
         {"the size 12 / k divides by zero in some iteration of a `repeat while`"}},
        {"repeat k in n { repeat j in n { phase over 20000 - k - j { x[gid] = 1; } } }",
         10000,
         {NULL}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300];
        snprintf(text, sizeof text, STEP_HEAD "%s }", rows[i].steps);
        uint32_t x[STEP_LENGTH] = {0}, n = rows[i].n;
        const vyre_input inputs[] = {{&n, 4}, {x, sizeof x}, {x, sizeof x}};
        vyre_program *program = contract_program(text);
        vyre_plan plan;
        vyre_status status = vyre_plan_init(&plan, program, inputs, 3, &(vyre_dispatch_config){0});
        if (!rows[i].words[0] != !status) {
            fail_msg("%s, n = %u: %s", rows[i].steps, n, status ? vyre_status_text(status) : "ok");
        }
        for (int w = 0; w < 3 && status && rows[i].words[w]; w++) {
            if (!strstr(vyre_status_text(status), rows[i].words[w])) {
                fail_msg("\"%s\" is not in \"%s\"", rows[i].words[w], vyre_status_text(status));
            }
        }
        if (!status) {
            vyre_plan_deinit(&plan);
        }
        vyre_status_free(status);
        vyre_program_release(program);
    }
}

/* Where each iteration has to be looked at, there is an end to it. */
static void too_many_iterations_are_not_looked_at(void **state) {
    (void)state;
    vyre_program *program = contract_program(
        STEP_HEAD "repeat k in n { repeat j in n - k { phase over n - k - j { x[gid] = 1; } } } }");
    uint32_t x[STEP_LENGTH] = {0}, n = 20000;
    const vyre_input inputs[] = {{&n, 4}, {x, sizeof x}, {x, sizeof x}};
    vyre_plan plan;
    expect_fail(vyre_plan_init(&plan, program, inputs, 3, &(vyre_dispatch_config){0}),
                VYRE_STATUS_LIMIT, "cannot be checked before the run");
    vyre_program_release(program);
}

/* Before anything runs, and by the argument's name. */
static void shared_sizes_have_limits(void **state) {
    (void)state;
    vyre_program *program = contract_program(
        STEP_HEAD "phase over x workgroup 4 { shared t: u32[n * 2]; shared u: u8[8];"
                  " t[lid] = u32(u[0]); x[gid] = len(t); } }");
    mock *m = mock_create(
        &(mock_spec){.single_phase = true,
                     .slots = MOCK_BIT(max_workgroup_size) | MOCK_BIT(max_workgroups_per_dimension),
                     .max_workgroup_size = {1024, 1024, 1024},
                     .max_workgroups = {9, 9, 9},
                     .without_artifact = true});
    static const struct {
        uint32_t n;
        vyre_status_code code;
        const char *words;
    } rows[] = {
        {32767, VYRE_STATUS_OK, NULL}, /* all that there is */
        {32768, VYRE_STATUS_LIMIT,     /* the array that has no size of its own is not to blame */
         "shared array `t` has n * 2 elements, with n = 32768; the phase then takes 262152 bytes"},
        {UINT32_MAX, VYRE_STATUS_LIMIT,
         "shared array `t` has n * 2 elements, with n = 4294967295; the phase then takes "
         "34359738368 bytes of shared memory, and mock has at most 262144"},
        {0, VYRE_STATUS_INVALID_ARGUMENT,
         "shared array `t` has n * 2 elements, which is 0 with n = 0"},
    };
    uint32_t x[STEP_LENGTH] = {0};
    vyre_device *device;
    expect_ok(mock_open(m, &device));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t n = rows[i].n;
        const vyre_input inputs[] = {{&n, 4}, {x, sizeof x}, {x, sizeof x}};
        vyre_outputs outputs;
        vyre_status status = vyre_device_dispatch(device, program, inputs, 3, NULL, &outputs);
        if (rows[i].words) {
            assert_int_equal(vyre_status_code_of(status), rows[i].code);
            if (!strstr(vyre_status_text(status), rows[i].words)) {
                fail_msg("%s", vyre_status_text(status));
            }
        } else {
            expect_ok(status);
            status = VYRE_OK;
            assert_int_equal(((const uint32_t *)(const void *)outputs.items[0].data)[0], 2 * n);
        }
        vyre_status_free(status);
        vyre_outputs_free(&outputs);
    }
    vyre_device_release(device);
    mock_free(m);
    vyre_program_release(program);
}

static void swapped_arrays_have_one_length(void **state) {
    (void)state;
    vyre_program *program =
        contract_program(STEP_HEAD "phase over x { x[gid] = 1; } swap(x, y); }");
    uint32_t x[STEP_LENGTH] = {0}, n = 0;
    const vyre_input inputs[] = {{&n, 4}, {x, sizeof x}, {x, sizeof x - 4}};
    vyre_plan plan;
    expect_fail(vyre_plan_init(&plan, program, inputs, 3, &(vyre_dispatch_config){0}),
                VYRE_STATUS_INVALID_ARGUMENT,
                "swaps `x`, which has 12 elements, and `y`, which has 11");
    vyre_program_release(program);
}

/* A negative argument is refused even where its size belongs to no iteration: passes rely on it. */
static void negative_arguments_are_refused_in_idle_repeats(void **state) {
    (void)state;
    vyre_program *program = contract_program(
        "program p(n: i32, x: inout buffer<u32>) { repeat k in 0 { phase over n - k {"
        " x[gid] = 1; } } }");
    uint32_t x[STEP_LENGTH] = {0};
    int32_t n = -1;
    const vyre_input inputs[] = {{&n, 4}, {x, sizeof x}};
    vyre_plan plan;
    expect_fail(vyre_plan_init(&plan, program, inputs, 2, &(vyre_dispatch_config){0}),
                VYRE_STATUS_INVALID_ARGUMENT, "argument `n` is -1");
    vyre_program_release(program);
}

/* The largest grid of any iteration is what limits are held against. */
static void plans_have_the_largest_grid(void **state) {
    (void)state;
    vyre_program *program = contract_program(
        STEP_HEAD "repeat k in n { phase over (n - k, k + 1) workgroup 4, 1 { x[gid.x] = 1; } } }");
    uint32_t x[STEP_LENGTH] = {0}, n = 10;
    const vyre_input inputs[] = {{&n, 4}, {x, sizeof x}, {x, sizeof x}};
    vyre_plan plan;
    expect_ok(vyre_plan_init(&plan, program, inputs, 3, &(vyre_dispatch_config){0}));
    assert_int_equal(plan.grids[0].domain[0], 10);
    assert_int_equal(plan.grids[0].domain[1], 10);
    assert_int_equal(plan.grids[0].groups[0], 3);
    const vyre_call call = vyre_plan_call(&plan, NULL, NULL);
    const uint32_t iterations[] = {7, 0};
    vyre_grid now = vyre_call_grid(plan.ir, &call, 0, iterations, NULL);
    assert_int_equal(now.domain[0], 3);
    assert_int_equal(now.domain[1], 8);
    assert_int_equal(now.groups[0], 1);
    assert_int_equal(now.groups[1], 8);
    vyre_plan_deinit(&plan);
    vyre_program_release(program);
}

/* Without memory, a run says so and leaves nothing behind. */
static void every_allocation_may_fail(void **state) {
    (void)state;
    vyre_program *program = contract_program(
        STEP_TEMP "repeat k in n { repeat j in n - k { phase over n - k - j { x[gid] += 1; } }"
                  " swap(x, y); swap(y, t); } }");
    uint32_t x[STEP_LENGTH], y[STEP_LENGTH], n = 2;
    const vyre_input inputs[] = {{&n, 4}, {x, sizeof x}, {y, sizeof y}};
    step_numbers(x, y);
    uint64_t count = 1;
    for (bool failed = true; failed; count++) {
        failing_allocator_start(count);
        vyre_outputs outputs;
        vyre_status status = vyre_reference_run(program, inputs, 3, NULL, NULL, &outputs);
        failed = failing_allocator_failed();
        assert_int_equal(vyre_status_code_of(status),
                         failed ? VYRE_STATUS_OUT_OF_MEMORY : VYRE_STATUS_OK);
        vyre_status_free(status);
        vyre_outputs_free(&outputs);
        failing_allocator_stop();
    }
    assert_true(count > 5);
    vyre_program_release(program);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_compute_what_they_say),
        cmocka_unit_test(cpu_gives_the_bytes_of_the_reference),
        cmocka_unit_test(backends_without_steps_S70_never_see_them),
        cmocka_unit_test(sizes_are_checked_for_all_iterations),
        cmocka_unit_test(too_many_iterations_are_not_looked_at),
        cmocka_unit_test(shared_sizes_have_limits),
        cmocka_unit_test(swapped_arrays_have_one_length),
        cmocka_unit_test(negative_arguments_are_refused_in_idle_repeats),
        cmocka_unit_test(plans_have_the_largest_grid),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
