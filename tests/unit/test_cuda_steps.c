/* The cuda backend's runtime on a driver that needs no GPU: swaps, branches, and sizes that use
 * counters, in launches, graphs and rows of iterations. */
#include "pass/shared.h"
#include "runtime/device.h"
#include "runtime/shared.h"
#include "tests/unit/cuda_check.h"
#include "tests/unit/step_check.h"

/* What a run of a program is one of if its shared arrays have sizes from arguments. */
static void know_sized(const vyre_program *program, uint32_t n) {
    uint32_t x[STEP_LENGTH] = {0};
    const vyre_input inputs[] = {{&n, 4}, {x, sizeof x}, {x, sizeof x}};
    vyre_plan plan;
    vyre_program *fixed;
    if (vyre_shared_is_sized(vyre_program_ir(program))) {
        expect_ok(vyre_plan_init(&plan, program, inputs, 3, &(vyre_dispatch_config){0}));
        expect_ok(vyre_shared_program(&plan, 0, "", &fixed));
        fake_device_know(fixed);
        vyre_program_release(fixed);
        vyre_plan_deinit(&plan);
    }
}

/* Many iterations go in rows, of which the last ends anywhere. */
static void steps_give_the_bytes_of_the_reference(void **state) {
    (void)state;
    static const uint32_t numbers[] = {0, 1, 2, 5, 6, 9, 10, 11};
    vyre_device *device = fake_device_open(0);
    for (uint32_t i = 0; i < STEP_TEXTS; i++) {
        vyre_program *program = fake_device_program(step_texts[i]);
        for (uint32_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            know_sized(program, numbers[k]);
            step_check(device, program, step_texts[i], numbers[k]);
        }
        vyre_program_release(program);
    }
    vyre_device_release(device);
}

/* Rows of a `repeat while` are longer than the ranges above. */
static void swaps_in_long_repeats(void **state) {
    (void)state;
    static const char *const texts[] = {
        STEP_GO "repeat k while go[0] { phase over x { t[gid] = x[gid] * 3 + k; } swap(x, t);"
                " phase over 1 { go[0] -= 1; } } }",
        STEP_GO "repeat k while go[0] { phase over x { x[gid] += k; } swap(x, y); swap(y, t);"
                " phase over 1 { go[0] -= 1; } } }",
        STEP_GO "repeat k while go[0] { repeat 3 { phase over x { x[gid] += y[gid]; } swap(x, y); }"
                " phase over 1 { go[0] -= 1; } } }",
        STEP_GO "repeat 2 { phase over 1 { go[0] = n; } repeat k while go[0] {"
                " phase over x { x[gid] += k; } phase over 1 { go[0] -= 1; } } swap(x, y); } }",
    };
    vyre_device *device = fake_device_open(0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        vyre_program *program = fake_device_program(texts[i]);
        for (uint32_t n = 12; n < 90; n += 7) {
            step_check(device, program, texts[i], n);
        }
        vyre_program_release(program);
    }
    vyre_device_release(device);
    assert_true(fake->calls(FAKE_cuGraphLaunch) > 20);
}

/* Counted repeats with swaps and counters in domains are one graph, and the copy home is in it. */
static void counted_repeats_are_one_graph(void **state) {
    (void)state;
    const char *text = STEP_TEMP "repeat k in n { phase over len(x) - k { t[gid] = x[gid] + k; }"
                                 " phase over k { t[len(x) - 1 - gid] = 5; } swap(x, t); } }";
    uint32_t x[STEP_LENGTH], y[STEP_LENGTH];
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(text);
    vyre_resident buffers[2];
    vyre_pipeline *pipeline;
    step_numbers(x, y);
    for (int i = 0; i < 2; i++) {
        expect_ok(vyre_resident_allocate(device, sizeof x, &buffers[i]));
        expect_ok(vyre_resident_upload(device, buffers[i], x, sizeof x));
    }
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    uint64_t launches = fake->calls(FAKE_cuLaunchKernel),
             copies = fake->calls(FAKE_cuMemcpyDtoDAsync);
    for (uint32_t n = 5; n < 7; n++) { /* one copy home, then none */
        const vyre_binding bindings[] = {vyre_bind_bits(n), vyre_bind(buffers[0]),
                                         vyre_bind(buffers[1])};
        vyre_ticket ticket;
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &ticket));
        expect_ok(vyre_device_wait(device, ticket));
        assert_int_equal(fake->calls(FAKE_cuGraphAddMemcpyNode), 1);
    }
    assert_int_equal(fake->calls(FAKE_cuGraphLaunch), 2);
    assert_int_equal(fake->calls(FAKE_cuLaunchKernel), launches);
    assert_int_equal(fake->calls(FAKE_cuMemcpyDtoDAsync), copies);
    vyre_pipeline_release(pipeline);
    for (int i = 0; i < 2; i++) {
        expect_ok(vyre_resident_free(device, buffers[i]));
    }
    vyre_program_release(program);
    vyre_device_release(device);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        TEST(steps_give_the_bytes_of_the_reference),
        TEST(swaps_in_long_repeats),
        TEST(counted_repeats_are_one_graph),
    };
    fake = fake_device_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
