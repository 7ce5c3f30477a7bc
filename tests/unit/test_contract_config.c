/* What a run can be told: label, timeout, limits and grid, grade and determinism. */
#include <stdio.h>

#include "tests/unit/contract_check.h"

/* An endless loop, as far as the verifier can tell. */
#define ENDLESS                                                                                    \
    "program endless(x: buffer<u32>, y: out buffer<u32>[1]) over 1 { while x[0] != 0 { } y[0] = "  \
    "1; }"
#define ORDER                                                                                      \
    "program order(y: out buffer<u32>[4], n: out buffer<u32>[1]) over 4 { "                        \
    "y[atomic_add(n[0], 1)] = gid; }"
#define CLAIMED                                                                                    \
    "program order(y: out buffer<u32>[4], n: out buffer<u32>[1]) deterministic over 4 { "          \
    "y[atomic_add(n[0], 1)] = gid; }"

typedef struct config_run {
    mock *m;
    vyre_device *device;
    uint32_t x[CONTRACT_LENGTH];
    vyre_input input;
} config_run;

static void start(config_run *run, const mock_spec *spec) {
    run->m = mock_create(spec);
    run->device = contract_device(run->m);
    contract_numbers(run->x, CONTRACT_LENGTH);
    run->input = (vyre_input){run->x, sizeof run->x};
}

static void end(config_run *run) {
    vyre_device_release(run->device);
    mock_free(run->m);
}

static void config_label_is_in_errors_and_calls(void **state) {
    (void)state;
    config_run run;
    start(&run, &(mock_spec){0});
    vyre_program *program = contract_program(TWICE);
    const vyre_dispatch_config config = {.label = "frame 17"};
    vyre_outputs outputs;
    expect_ok(vyre_device_dispatch(run.device, program, &run.input, 1, &config, &outputs));
    expect_twice(&outputs);
    assert_string_equal(mock_last(run.m, MOCK_dispatch).label, "frame 17");
    mock_fail(run.m, MOCK_dispatch, 1, VYRE_FAIL_BACKEND, NULL);
    expect_fail(vyre_device_dispatch(run.device, program, &run.input, 1, &config, &outputs),
                VYRE_STATUS_BACKEND, "frame 17");
    mock_fail(run.m, MOCK_dispatch, 1, VYRE_FAIL_BACKEND, NULL);
    expect_fail(vyre_device_dispatch(run.device, program, &run.input, 1, NULL, &outputs),
                VYRE_STATUS_BACKEND, "`twice`");
    vyre_program_release(program);
    end(&run);
}

static void config_label_is_in_errors_of_compiling(void **state) {
    (void)state;
    config_run run;
    start(&run, &(mock_spec){.slots = MOCK_COMPILE});
    vyre_program *program = contract_program(TWICE);
    const vyre_dispatch_config config = {.label = "frame 17"};
    vyre_pipeline *pipeline;
    mock_fail(run.m, MOCK_compile_native, 1, VYRE_FAIL_BACKEND, NULL);
    expect_fail(vyre_device_compile(run.device, program, &config, &pipeline), VYRE_STATUS_BACKEND,
                "frame 17");
    vyre_program_release(program);
    end(&run);
}

/* The host checks arguments before the backend is called; that is a run, too. */
static void config_label_is_in_errors_of_arguments(void **state) {
    (void)state;
    config_run run;
    start(&run, &(mock_spec){0});
    vyre_program *program = contract_program(TWICE);
    const vyre_dispatch_config config = {.label = "frame 17"};
    vyre_outputs outputs;
    vyre_input odd = {run.x, 3};
    expect_fail(vyre_device_dispatch(run.device, program, &odd, 1, &config, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "frame 17");
    expect_fail(vyre_device_dispatch_resident(run.device, program, NULL, 0, &config, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "frame 17");
    vyre_program_release(program);
    end(&run);
}

static void config_timeout(void **state) {
    (void)state;
    config_run run;
    start(&run, &(mock_spec){0});
    vyre_program *program = contract_program(ENDLESS);
    const vyre_dispatch_config config = {.timeout_ns = 20000000};
    vyre_outputs outputs;
    expect_fail(vyre_device_dispatch(run.device, program, &run.input, 1, &config, &outputs),
                VYRE_STATUS_TIMEOUT, "endless");
    /* What compiling has left of it. */
    uint64_t rest = mock_last(run.m, MOCK_dispatch).config.timeout_ns;
    assert_true(rest > 0 && rest <= 20000000);
    expect_works(run.device);
    vyre_program_release(program);
    end(&run);
}

static void config_max_output_bytes(void **state) {
    (void)state;
    config_run run;
    start(&run, &(mock_spec){.slots = MOCK_RESIDENT});
    vyre_program *program = contract_program(TWICE);
    vyre_dispatch_config config = {.max_output_bytes = sizeof run.x - 1};
    vyre_outputs outputs;
    expect_fail(vyre_device_dispatch(run.device, program, &run.input, 1, &config, &outputs),
                VYRE_STATUS_LIMIT, "31");
    assert_int_equal(mock_count(run.m, MOCK_dispatch), 0);
    config.max_output_bytes++;
    expect_ok(vyre_device_dispatch(run.device, program, &run.input, 1, &config, &outputs));
    expect_twice(&outputs);
    vyre_program_release(program);
    end(&run);
}

static void limits_of_workgroups_are_the_hosts_to_check(void **state) {
    (void)state;
    config_run run;
    start(&run, &(mock_spec){.slots = MOCK_BIT(max_workgroup_size) |
                                      MOCK_BIT(max_invocations_per_workgroup) |
                                      MOCK_BIT(max_workgroups_per_dimension),
                             .max_workgroup_size = {64, 8, 8},
                             .max_invocations = 128,
                             .max_workgroups = {2, 2, 1}});
    vyre_outputs outputs;
    static const struct {
        const char *clause; /* workgroup and domain */
        vyre_status_code code;
        const char *reason;
    } cases[] = {
        {"over x workgroup 4", VYRE_STATUS_OK, NULL},
        {"over x workgroup 64", VYRE_STATUS_OK, NULL},
        {"over x workgroup 65", VYRE_STATUS_UNSUPPORTED, "128 invocations"},
        {"over (8, 8) workgroup 16, 9", VYRE_STATUS_UNSUPPORTED, "16 x 9 x 1"},
        {"over (8, 8) workgroup 64, 4", VYRE_STATUS_UNSUPPORTED, "128 invocations"},
        {"over x workgroup 2", VYRE_STATUS_LIMIT, "4 x 1 x 1 workgroups"},
        {"over (8, 8) workgroup 4, 4", VYRE_STATUS_OK, NULL},
        {"over (8, 8) workgroup 8, 2", VYRE_STATUS_LIMIT, "1 x 4 x 1 workgroups"},
        {"over (2, 2, 2) workgroup 1, 1, 1", VYRE_STATUS_LIMIT, "at most 2 x 2 x 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) %s { "
                 "y[0] = x[0]; }",
                 cases[i].clause);
        vyre_program *program = contract_program(text);
        mock_forget(run.m);
        vyre_status status =
            vyre_device_dispatch(run.device, program, &run.input, 1, NULL, &outputs);
        if (cases[i].reason) {
            expect_fail(status, cases[i].code, cases[i].reason);
        } else {
            expect_ok(status);
        }
        assert_int_equal(mock_count(run.m, MOCK_dispatch), !cases[i].reason);
        vyre_outputs_free(&outputs);
        vyre_program_release(program);
    }
    end(&run);
}

/* Also of runs on resident buffers, and of scratch arrays. */
static void limits_of_buffers_are_the_hosts_to_check(void **state) {
    (void)state;
    config_run run;
    start(&run, &(mock_spec){.slots = MOCK_RESIDENT | MOCK_BIT(max_storage_buffer_bytes) |
                                      MOCK_BIT(features),
                             .features = VYRE_FEATURE_PHASES,
                             .max_storage_buffer_bytes = sizeof run.x});
    vyre_program *program = contract_program(TWICE);
    vyre_outputs outputs;
    expect_ok(vyre_device_dispatch(run.device, program, &run.input, 1, NULL, &outputs));
    expect_twice(&outputs);
    uint32_t more[CONTRACT_LENGTH + 1] = {0};
    const vyre_input large = {more, sizeof more};
    mock_forget(run.m);
    expect_fail(vyre_device_dispatch(run.device, program, &large, 1, NULL, &outputs),
                VYRE_STATUS_LIMIT, "x has 36 bytes, and device mock takes at most 32");
    vyre_binding bindings[2] = {0};
    for (size_t i = 0; i < 2; i++) {
        expect_ok(vyre_resident_allocate(run.device, sizeof more, &bindings[i].buffer));
    }
    expect_fail(vyre_device_dispatch_resident(run.device, program, bindings, 2, NULL, NULL),
                VYRE_STATUS_LIMIT, "x has 36 bytes");
    vyre_program *scratch = contract_program(
        "program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) { scratch s: u32[9]; "
        "phase over x { s[gid] = x[gid]; } phase over x { y[gid] = s[gid]; } }");
    expect_fail(vyre_device_dispatch(run.device, scratch, &run.input, 1, NULL, &outputs),
                VYRE_STATUS_LIMIT, "a scratch array has 36 bytes");
    assert_int_equal(mock_count(run.m, MOCK_dispatch), 0);
    assert_int_equal(mock_count(run.m, MOCK_resident_dispatch_timed), 0);
    vyre_program_release(program);
    vyre_program_release(scratch);
    end(&run);
}

static void config_reserved_words_are_not_ignored(void **state) {
    (void)state;
    config_run run;
    start(&run, &(mock_spec){0});
    vyre_program *program = contract_program(TWICE);
    vyre_outputs outputs;
    const vyre_dispatch_config unknown[] = {
        {.reserved = {1}}, {.stream = 1}, {.flags = VYRE_DISPATCH_STREAM << 1}};
    for (size_t i = 0; i < 3; i++) {
        const vyre_dispatch_config config = unknown[i];
        expect_fail(vyre_device_dispatch(run.device, program, &run.input, 1, &config, &outputs),
                    VYRE_STATUS_INVALID_ARGUMENT, "does not know");
    }
    assert_int_equal(mock_count(run.m, MOCK_dispatch), 0);
    vyre_program_release(program);
    end(&run);
}

static void config_grid(void **state) {
    (void)state;
    config_run run;
    start(&run, &(mock_spec){.slots = MOCK_RESIDENT});
    vyre_program *program = contract_program(TWICE);
    vyre_dispatch_config config = {.grid = {3, 0, 0}};
    vyre_outputs outputs;
    expect_ok(vyre_device_dispatch(run.device, program, &run.input, 1, &config, &outputs));
    assert_int_equal(outputs.items[0].size, sizeof run.x);
    for (uint32_t i = 0; i < CONTRACT_LENGTH; i++) {
        uint32_t found;
        memcpy(&found, outputs.items[0].data + i * sizeof found, sizeof found);
        assert_int_equal(found, i < 3 ? 2 * (i + 1) : 0);
    }
    vyre_outputs_free(&outputs);
    assert_true(mock_last(run.m, MOCK_dispatch).grid.domain[0] == 3);
    assert_true(mock_last(run.m, MOCK_dispatch).grid.domain[1] == 1);
    /* More than the program's: what lies past the ends of buffers does nothing. */
    config.grid[0] = 1000;
    expect_ok(vyre_device_dispatch(run.device, program, &run.input, 1, &config, &outputs));
    expect_twice(&outputs);

    vyre_resident x = contract_resident(run.device, 1), y = contract_resident(run.device, 1);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    uint32_t found[CONTRACT_LENGTH];
    config.grid[0] = 2;
    expect_ok(vyre_device_dispatch_resident(run.device, program, bindings, 2, &config, NULL));
    expect_ok(vyre_resident_read(run.device, y, 0, found, sizeof found));
    for (uint32_t i = 0; i < CONTRACT_LENGTH; i++) {
        assert_int_equal(found[i], i < 2 ? 2 * (i + 1) : 0);
    }
    vyre_program_release(program);

    program = contract_program(
        "program plane(y: out buffer<u32>[12]) over (4, 3) { y[gid.y * 4 + gid.x] = 1; }");
    config = (vyre_dispatch_config){.grid = {2, 2, 0}};
    expect_ok(vyre_device_dispatch(run.device, program, NULL, 0, &config, &outputs));
    for (uint32_t i = 0; i < 12; i++) {
        assert_int_equal(outputs.items[0].data[i * 4], i % 4 < 2 && i / 4 < 2);
    }
    vyre_outputs_free(&outputs);
    config.grid[1] = 0;
    expect_fail(vyre_device_dispatch(run.device, program, NULL, 0, &config, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "grid");
    config = (vyre_dispatch_config){.grid = {2, 2, 1}};
    expect_fail(vyre_device_dispatch(run.device, program, NULL, 0, &config, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "grid");
    vyre_program_release(program);

    program =
        contract_program("program two(y: out buffer<u32>[4]) { phase a over y { y[gid] = 1; } "
                         "phase b over y { y[gid] = y[gid] + 1; } }");
    config = (vyre_dispatch_config){.grid = {2, 0, 0}};
    expect_fail(vyre_device_dispatch(run.device, program, NULL, 0, &config, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "grid");
    vyre_program_release(program);
    end(&run);
}

static void config_grade(void **state) {
    (void)state;
    config_run run;
    start(&run, &(mock_spec){.slots = MOCK_BIT(device_profile) | MOCK_RESIDENT,
                             .profile = {.grade = VYRE_GRADE_NORMAL_RANGE}});
    vyre_program *program = contract_program(TWICE);
    vyre_dispatch_config config = {.grade = VYRE_GRADE_NORMAL_RANGE};
    vyre_outputs outputs;
    vyre_pipeline *pipeline;
    vyre_pending *pending;
    for (int round = 0; round < 2; round++) {
        expect_fail(vyre_device_dispatch(run.device, program, &run.input, 1, NULL, &outputs),
                    VYRE_STATUS_UNSUPPORTED, "normal-range");
        expect_fail(vyre_device_compile(run.device, program, NULL, &pipeline),
                    VYRE_STATUS_UNSUPPORTED, "normal-range");
        expect_fail(vyre_device_dispatch_async(run.device, program, &run.input, 1, NULL, &pending),
                    VYRE_STATUS_UNSUPPORTED, "normal-range");
        assert_int_equal(mock_count(run.m, MOCK_dispatch), round);
        expect_ok(vyre_device_dispatch(run.device, program, &run.input, 1, &config, &outputs));
        expect_twice(&outputs);
    }
    /* A pipeline does not accept on behalf of each run. */
    expect_ok(vyre_device_compile(run.device, program, &config, &pipeline));
    expect_fail(vyre_pipeline_dispatch(pipeline, &run.input, 1, NULL, &outputs),
                VYRE_STATUS_UNSUPPORTED, "normal-range");
    expect_ok(vyre_pipeline_dispatch(pipeline, &run.input, 1, &config, &outputs));
    expect_twice(&outputs);
    vyre_pipeline_release(pipeline);
    end(&run);

    start(&run, &(mock_spec){0}); /* an exact device will always do */
    expect_ok(vyre_device_dispatch(run.device, program, &run.input, 1, &config, &outputs));
    expect_twice(&outputs);
    vyre_program_release(program);
    end(&run);
}

static void config_determinism(void **state) {
    (void)state;
    config_run run;
    start(&run, &(mock_spec){0});
    vyre_program *proven = contract_program(TWICE), *claimed = contract_program(CLAIMED),
                 *order = contract_program(ORDER);
    assert_int_equal(vyre_program_determinism(proven), VYRE_DETERMINISTIC);
    assert_int_equal(vyre_program_determinism(claimed), VYRE_CLAIMED);
    assert_int_equal(vyre_program_determinism(order), VYRE_SCHEDULE_DEPENDENT);
    const struct {
        vyre_program *program;
        uint32_t demand;
        bool met;
    } cases[] = {
        {order, VYRE_DEMAND_NOTHING, true},   {order, VYRE_DEMAND_CLAIMED, false},
        {order, VYRE_DEMAND_PROVEN, false},   {claimed, VYRE_DEMAND_NOTHING, true},
        {claimed, VYRE_DEMAND_CLAIMED, true}, {claimed, VYRE_DEMAND_PROVEN, false},
        {proven, VYRE_DEMAND_NOTHING, true},  {proven, VYRE_DEMAND_CLAIMED, true},
        {proven, VYRE_DEMAND_PROVEN, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const vyre_dispatch_config config = {.determinism = cases[i].demand};
        vyre_outputs outputs;
        vyre_pipeline *pipeline;
        size_t inputs = cases[i].program == proven;
        uint64_t before = mock_count(run.m, MOCK_dispatch);
        if (cases[i].met) {
            expect_ok(vyre_device_dispatch(run.device, cases[i].program, &run.input, inputs,
                                           &config, &outputs));
            vyre_outputs_free(&outputs);
            expect_ok(vyre_device_compile(run.device, cases[i].program, &config, &pipeline));
            vyre_pipeline_release(pipeline);
        } else {
            expect_fail(vyre_device_dispatch(run.device, cases[i].program, &run.input, inputs,
                                             &config, &outputs),
                        VYRE_STATUS_INVALID_ARGUMENT, "demands");
            assert_int_equal(mock_count(run.m, MOCK_dispatch), before);
            /* What a config demands of the program counts when it is compiled, too. */
            expect_fail(vyre_device_compile(run.device, cases[i].program, &config, &pipeline),
                        VYRE_STATUS_INVALID_ARGUMENT, "demands");
            /* And so does what a single run demands. */
            expect_ok(vyre_device_compile(run.device, cases[i].program, NULL, &pipeline));
            expect_fail(vyre_pipeline_dispatch(pipeline, &run.input, inputs, &config, &outputs),
                        VYRE_STATUS_INVALID_ARGUMENT, "demands");
            assert_int_equal(mock_count(run.m, MOCK_dispatch), before);
            vyre_pipeline_release(pipeline);
        }
    }
    /* Numbers that are none of the grades and demands ask for nothing that could be kept. */
    const vyre_dispatch_config wrong[] = {{.determinism = VYRE_DEMAND_PROVEN + 1},
                                          {.grade = VYRE_GRADE_NORMAL_RANGE + 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        vyre_outputs outputs;
        vyre_pipeline *pipeline;
        expect_fail(vyre_device_dispatch(run.device, proven, &run.input, 1, &wrong[i], &outputs),
                    VYRE_STATUS_INVALID_ARGUMENT, "one of them is not a valid value");
        expect_fail(vyre_device_compile(run.device, proven, &wrong[i], &pipeline),
                    VYRE_STATUS_INVALID_ARGUMENT, "one of them is not a valid value");
    }
    vyre_program_release(proven);
    vyre_program_release(claimed);
    vyre_program_release(order);
    end(&run);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(config_label_is_in_errors_and_calls),
        cmocka_unit_test(config_label_is_in_errors_of_compiling),
        cmocka_unit_test(config_label_is_in_errors_of_arguments),
        cmocka_unit_test(config_timeout),
        cmocka_unit_test(config_max_output_bytes),
        cmocka_unit_test(limits_of_workgroups_are_the_hosts_to_check),
        cmocka_unit_test(limits_of_buffers_are_the_hosts_to_check),
        cmocka_unit_test(config_reserved_words_are_not_ignored),
        cmocka_unit_test(config_grid),
        cmocka_unit_test(config_grade),
        cmocka_unit_test(config_determinism),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
