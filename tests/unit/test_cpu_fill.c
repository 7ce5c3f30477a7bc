/* The cpu backend on memory that is full of garbage: outputs, resident buffers and scratch arrays
 * start as zeros for everybody who looks, whether they were filled or not. */
#include "tests/unit/cpu_check.h"

#include <vyre/reference.h>

#include "backend/cpu/runtime/backend.h"
#include "backend/cpu/runtime/memory.h"
#include "base/alloc.h"
#include "conform/trial.h"
#include "runtime/device.h"
#include "tests/unit/settings.h"

enum { LENGTH = 1003, GARBAGE = 0xaa };

/* All take a number and a buffer of LENGTH. In some all is overwritten, in others a part, or it is
 * read before. */
static const char *const texts[] = {
    "program all(n: u32, x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid]; }",
    "program odd(n: u32, x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { "
    "if x[gid] % 2 == 1 { y[gid] = 1; } }",
    "program first(n: u32, x: buffer<u32>, y: out buffer<u32>[len(x)]) over n { y[gid] = 1; }",
    "program four(n: u32, x: buffer<u32>, y: out buffer<u32>[len(x) * 4]) over x { "
    "for i in 0..4 { y[gid * 4 + i] = i; } }",
    "program three(n: u32, x: buffer<u32>, y: out buffer<u32>[len(x) * 4]) over x { "
    "for i in 1..4 { y[gid * 4 + i] = i; } }",
    "program early(n: u32, x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { "
    "if x[gid] == 7 { return; } y[gid] = 1; }",
    "program before(n: u32, x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { "
    "y[gid] += x[gid]; }",
    "program count(n: u32, x: buffer<u32>, y: out buffer<u32>[16]) over x { "
    "atomic_add(y[x[gid] % 16], 1); }",
    "program groups(n: u32, x: buffer<u32>, y: out buffer<u32>[ceil_div(len(x), 32)]) over x "
    "workgroup 32 { if lid == 0 { y[wid] = x[gid]; } }",
    "program through(n: u32, x: buffer<u32>, y: out buffer<u32>[len(x)]) { "
    "scratch a: u32[len(x)]; scratch b: u32[len(x)]; scratch c: u32[len(x)]; "
    "phase over x { a[gid] = x[gid]; } phase over n { b[gid] = a[gid + 1]; } "
    "phase over x { y[gid] = a[gid] + b[gid] + c[gid]; } }",
    "program turns(n: u32, x: buffer<u32>, y: out buffer<u32>[len(x)]) { scratch a: u32[len(x)]; "
    "repeat i in 2 { phase over x { y[gid] += a[gid]; } phase over x { a[gid] = i + 1; } } }",
    "program maybe(n: u32, x: buffer<u32>, y: out buffer<u32>[len(x)]) { "
    "repeat n / 1000 { phase over x { y[gid] = 1; } } }",
    "program meet(n: u32, x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 64 { "
    "y[gid] = x[gid]; let a = y[gid]; grid_barrier; y[len(x) - 1 - gid] = a; }",
};
enum { TEXTS = sizeof texts / sizeof *texts };

static vyre_device *device;
static uint32_t numbers[LENGTH];

static int open_device(void **state) {
    (void)state;
    vyre_backend made = {.host = vyre_host_services()};
    expect_ok(cpu_bundle.registrations[0].create(vyre_host_services(), 0, &made));
    expect_ok(vyre_device_open(&made, "cpu", 0, &device));
    contract_numbers(numbers, LENGTH);
    return 0;
}

static int close_device(void **state) {
    (void)state;
    vyre_device_release(device);
    return 0;
}

/* Fills the memory that scratch arrays and outputs set apart are taken from. */
static void soil_memory(void) {
    uint8_t *taken[24];
    for (size_t i = 0; i < 24; i++) {
        taken[i] = cpu_memory_take((size_t)64 << i / 3);
        assert_non_null(taken[i]);
        memset(taken[i], GARBAGE, (size_t)64 << i / 3);
    }
    for (size_t i = 0; i < 24; i++) {
        cpu_memory_give(taken[i]);
    }
}

/* A run into outputs of garbage that lie `shift` bytes beside where they should. */
static void expect_into(vyre_pipeline *pipeline, const vyre_input *inputs, size_t count,
                        const vyre_dispatch_config *config, const vyre_outputs *expected,
                        size_t shift) {
    uint8_t *memory[64];
    vyre_output items[64];
    assert_true(expected->count <= 64);
    for (size_t i = 0; i < expected->count; i++) {
        memory[i] = malloc(expected->items[i].size + shift + 1);
        assert_non_null(memory[i]);
        memset(memory[i], GARBAGE, expected->items[i].size + shift + 1);
        items[i] = (vyre_output){memory[i] + shift, expected->items[i].size};
    }
    vyre_outputs outputs = {items, expected->count};
    soil_memory();
    expect_ok(vyre_pipeline_dispatch_into(pipeline, inputs, count, config, &outputs));
    for (size_t i = 0; i < expected->count; i++) {
        assert_ptr_equal(items[i].data, memory[i] + shift);
        if (items[i].size) {
            assert_memory_equal(items[i].data, expected->items[i].data, items[i].size);
        }
        free(memory[i]);
    }
}

static void outputs_start_as_zeros(void **state) {
    (void)state;
    uint32_t n = 700;
    const vyre_input inputs[] = {{&n, 4}, {numbers, sizeof numbers}};
    for (size_t i = 0; i < TEXTS; i++) {
        vyre_program *program = contract_program(texts[i]);
        vyre_pipeline *pipeline;
        vyre_outputs expected;
        expect_ok(vyre_reference_run(program, inputs, 2, NULL, NULL, &expected));
        expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
        expect_into(pipeline, inputs, 2, NULL, &expected, 0);
        expect_into(pipeline, inputs, 2, NULL, &expected, 1);
        vyre_pipeline_release(pipeline);
        vyre_outputs_free(&expected);
        vyre_program_release(program);
    }
}

static void resident_outputs_start_as_zeros(void **state) {
    (void)state;
    uint32_t n = 700;
    const vyre_input inputs[] = {{&n, 4}, {numbers, sizeof numbers}};
    vyre_resident x;
    expect_ok(vyre_resident_allocate(device, sizeof numbers, &x));
    expect_ok(vyre_resident_upload(device, x, numbers, sizeof numbers));
    for (size_t i = 0; i < TEXTS; i++) {
        vyre_program *program = contract_program(texts[i]);
        vyre_pipeline *pipeline;
        vyre_outputs expected;
        expect_ok(vyre_reference_run(program, inputs, 2, NULL, NULL, &expected));
        expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
        size_t size = expected.items[0].size;
        uint8_t *bytes = malloc(size);
        assert_non_null(bytes);
        vyre_resident y;
        expect_ok(vyre_resident_allocate(device, size, &y));
        for (int turn = 0; turn < 2; turn++) {
            memset(bytes, GARBAGE, size);
            expect_ok(vyre_resident_upload(device, y, bytes, size));
            const vyre_binding bindings[] = {vyre_bind_bits(n), vyre_bind(x), vyre_bind(y)};
            vyre_ticket ticket;
            soil_memory();
            expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &ticket));
            expect_ok(vyre_resident_read(device, y, 0, bytes, size));
            assert_memory_equal(bytes, expected.items[0].data, size);
        }
        expect_ok(vyre_resident_free(device, y));
        free(bytes);
        vyre_pipeline_release(pipeline);
        vyre_outputs_free(&expected);
        vyre_program_release(program);
    }
    expect_ok(vyre_resident_free(device, x));
}

/* Over a part of its domain, a program overwrites a part alone. */
static void another_grid_needs_all_zeros(void **state) {
    (void)state;
    uint32_t n = 700;
    const vyre_input inputs[] = {{&n, 4}, {numbers, sizeof numbers}};
    const vyre_dispatch_config config = {.grid = {LENGTH / 2}};
    vyre_program *program = contract_program(texts[0]);
    vyre_pipeline *pipeline;
    vyre_outputs expected;
    expect_ok(vyre_reference_run(program, inputs, 2, &config, NULL, &expected));
    assert_int_equal(((const uint32_t *)(const void *)expected.items[0].data)[LENGTH - 1], 0);
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    expect_into(pipeline, inputs, 2, &config, &expected, 0);
    vyre_pipeline_release(pipeline);
    vyre_outputs_free(&expected);
    vyre_program_release(program);
}

/* Nobody fills what is overwritten: a run that is ended before that shows it. */
static void what_is_overwritten_is_not_filled(void **state) {
    (void)state;
    static const char text[] =
        "program waits(x: buffer<u32>, y: out buffer<u32>[len(x)], z: out buffer<u32>[len(x)]) { "
        "phase over 1 { loop { if x[0] == 0 { break; } } } "
        "phase over x { y[gid] = 1; if x[gid] != 0 { z[gid] = 1; } } }";
    vyre_program *program = contract_program(text);
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    const vyre_input input = {numbers, sizeof numbers};
    vyre_dispatch_config config = {.timeout_ns = 5000000};
    static uint32_t y[LENGTH], z[LENGTH];
    memset(z, GARBAGE, sizeof z);
    /* On a busy machine time may be up before anything is filled. */
    for (; z[LENGTH - 1]; config.timeout_ns *= 2) {
        memset(y, GARBAGE, sizeof y);
        vyre_output items[] = {{(uint8_t *)y, sizeof y}, {(uint8_t *)z, sizeof z}};
        vyre_outputs outputs = {items, 2};
        expect_fail(vyre_pipeline_dispatch_into(pipeline, &input, 1, &config, &outputs),
                    VYRE_STATUS_TIMEOUT, "took longer");
        assert_true(config.timeout_ns < UINT64_C(60000000000));
    }
    for (size_t i = 0; i < LENGTH; i++) {
        assert_int_equal(y[i], 0xaaaaaaaa);
        assert_int_equal(z[i], 0);
    }
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
}

static void random_programs(void **state) {
    (void)state;
    const vyre_dispatch_config config = {.flags = VYRE_DISPATCH_NO_ASSERTS};
    for (uint64_t seed = 70000; seed < 70000 + test_work(30, 8); seed++) {
        conform_trial trial;
        vyre_outputs expected;
        vyre_pipeline *pipeline;
        size_t count;
        expect_ok(conform_generate(seed, &trial));
        vyre_input *inputs = conform_trial_inputs(&trial, trial.program, &count);
        assert_non_null(inputs);
        expect_ok(vyre_reference_run(trial.program, inputs, count, NULL, NULL, &expected));
        expect_ok(vyre_device_compile(device, trial.program, NULL, &pipeline));
        expect_into(pipeline, inputs, count, &config, &expected, 0);
        vyre_pipeline_release(pipeline);
        vyre_outputs_free(&expected);
        vyre_free(inputs);
        conform_trial_free(&trial);
    }
}

int main(void) {
    if (!cpu_check_available()) {
        return CPU_SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_start_as_zeros),
        cmocka_unit_test(resident_outputs_start_as_zeros),
        cmocka_unit_test(another_grid_needs_all_zeros),
        cmocka_unit_test(what_is_overwritten_is_not_filled),
        cmocka_unit_test(random_programs),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
