/* The wrapper that gives phases and grid barriers to backends without: a backend that refuses
 * programs of more than one phase is held against the oracle, and every other slot goes through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/text.h>

#include "backend/reference/backend.h"
#include "conform/compare.h"
#include "runtime/device.h"
#include "runtime/wrap.h"
#include "tests/mock/mock.h"
#include "tests/unit/failing_allocator.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { PROGRAMS = 100 };
#else
enum { PROGRAMS = 2000 };
#endif

static void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

#define LIMITS                                                                                     \
    (MOCK_BIT(max_workgroup_size) | MOCK_BIT(max_workgroups_per_dimension) |                       \
     MOCK_BIT(max_invocations_per_workgroup) | MOCK_BIT(max_storage_buffer_bytes))

/* A device that takes programs of one phase alone. */
static mock *make_single(uint64_t slots, uint32_t features) {
    return mock_create(&(mock_spec){
        .single_phase = true,
        .slots = LIMITS | slots,
        .features = features,
        .max_workgroup_size = {1024, 1024, 1024},
        .max_invocations = 1024,
        .max_workgroups = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
        .max_storage_buffer_bytes = UINT32_MAX,
        .without_artifact = true,
    });
}

static bool has_loop_barrier(const vyre_ir *ir) {
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        const vyre_inst *inst = &ir->insts[i];
        if (inst->op != VYRE_OP_FOR && inst->op != VYRE_OP_LOOP) {
            continue;
        }
        for (uint32_t k = i; k < inst->c; k++) {
            if (ir->insts[k].op == VYRE_OP_GRID_BARRIER) {
                return true;
            }
        }
    }
    return false;
}

typedef struct tally {
    uint64_t programs, grid_barriers, in_loops, atomics, phases;
} tally;

/* Random programs until `wanted` of them had a grid barrier; any other than the oracle's bytes
 * fails the test. */
static tally conform_on(vyre_device *device, uint64_t wanted, uint64_t first_seed) {
    conform_pair conform = {.subject = device, .has_one_answer = vyre_reference_has_one_answer};
    tally t = {0};
    expect_ok(vyre_reference_open_oracle(&conform.oracle));
    for (uint64_t seed = first_seed; t.grid_barriers < wanted; seed++) {
        conform_trial trial;
        vyre_outputs expected;
        conform_comparison comparison;
        expect_ok(conform_generate(seed, &trial));
        vyre_stats stats = vyre_program_stats(trial.program);
        const vyre_ir *ir = vyre_program_ir(trial.program);
        if (stats.grid_barriers || ir->step_count > 1) {
            t.programs++;
            t.grid_barriers += stats.grid_barriers > 0;
            t.in_loops += has_loop_barrier(ir);
            t.atomics += stats.grid_barriers && stats.atomics;
            t.phases += ir->step_count > 1;
            expect_ok(conform_expect(&conform, &trial, trial.program, &expected));
            expect_ok(conform_compare(&conform, &trial, trial.program, &expected, &comparison));
            if (comparison.verdict != CONFORM_VERDICT_SAME) {
                fail_msg("seed %llu: %s", (unsigned long long)seed, comparison.text);
            }
            vyre_outputs_free(&expected);
        }
        conform_trial_free(&trial);
    }
    vyre_device_release(conform.oracle);
    return t;
}

static void conform_kind(const char *name, uint64_t slots, uint32_t features, uint64_t wanted,
                         uint64_t first_seed) {
    mock *m = make_single(slots, features);
    vyre_device *device;
    expect_ok(mock_open(m, &device));
    tally t = conform_on(device, wanted, first_seed);
    print_message("%s: %llu programs, %llu with grid barriers (%llu in loops, %llu with atomics), "
                  "%llu of several steps, the oracle's bytes\n",
                  name, (unsigned long long)t.programs, (unsigned long long)t.grid_barriers,
                  (unsigned long long)t.in_loops, (unsigned long long)t.atomics,
                  (unsigned long long)t.phases);
    assert_true(t.in_loops > wanted / 50);
    assert_true(t.atomics > wanted / 50);
    vyre_device_release(device);
    assert_int_equal(mock_residents(m), 0);
    assert_int_equal(mock_pipelines(m), 0);
    mock_free(m);
}

static void grid_sync_S71_split_by_plain_dispatch(void **state) {
    (void)state;
    conform_kind("plain dispatch", 0, 0, PROGRAMS, 1);
}

static void grid_sync_S71_split_on_resident_buffers(void **state) {
    (void)state;
    conform_kind("resident buffers", MOCK_RESIDENT, 0, PROGRAMS / 4, 100000);
}

static void grid_sync_S71_split_by_compiled_parts(void **state) {
    (void)state;
    conform_kind("compiled parts", MOCK_RESIDENT | MOCK_QUEUE | MOCK_COMPILE, 0, PROGRAMS / 4,
                 200000);
}

/* With phases of its own a backend gets the split program whole. */
static void grid_sync_S71_split_for_native_phases(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){
        .slots = LIMITS | MOCK_BIT(features),
        .features = VYRE_FEATURE_PHASES,
        .max_workgroup_size = {1024, 1024, 1024},
        .max_invocations = 1024,
        .max_workgroups = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
    });
    vyre_device *device;
    expect_ok(mock_open(m, &device));
    conform_on(device, PROGRAMS / 4, 300000);
    vyre_device_release(device);
    mock_free(m);
}

static vyre_program *parse(const char *text) {
    vyre_module *module;
    expect_ok(vyre_module_parse("test.vyre", text, strlen(text), NULL, &module));
    vyre_program *program = vyre_program_retain(vyre_module_program(module, 0));
    vyre_module_free(module);
    return program;
}

static const char two_halves[] = "program halves(x: inout buffer<u32>) over x workgroup 4 {"
                                 " let before = x[gid];"
                                 " grid_barrier;"
                                 " x[gid] = before + x[len(x) - 1 - gid];"
                                 " grid_barrier;"
                                 " x[gid] = x[gid] * 2;"
                                 "}";

/* The host reads a domain from memory for such a backend, and so looks at its workgroups. */
static void domains_from_memory_have_limits(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){
        .single_phase = true,
        .slots = LIMITS,
        .max_workgroup_size = {1024, 1024, 1024},
        .max_invocations = 1024,
        .max_workgroups = {3, 3, 3},
        .max_storage_buffer_bytes = UINT32_MAX,
        .without_artifact = true,
    });
    vyre_device *device;
    expect_ok(mock_open(m, &device));
    vyre_program *program =
        parse("program p(n: buffer<u32>, y: out buffer<u32>[64]) {"
              " phase all over n[0] max 64 workgroup 4 { y[gid] = gid + 1; } }");
    for (uint32_t count = 0; count <= 64; count += 4) {
        const vyre_input input = {&count, sizeof count};
        vyre_outputs outputs;
        vyre_status status = vyre_device_dispatch(device, program, &input, 1, NULL, &outputs);
        assert_int_equal(vyre_status_code_of(status), count > 12 ? VYRE_STATUS_LIMIT : 0);
        if (status) {
            assert_non_null(strstr(vyre_status_text(status), "at most 3 x 3 x 3"));
        }
        vyre_status_free(status);
        vyre_outputs_free(&outputs);
    }
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

static void run_halves(vyre_device *device, vyre_status *out_status, uint32_t result[8]) {
    vyre_program *program = parse(two_halves);
    const uint32_t x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const vyre_input input = {x, sizeof x};
    vyre_outputs outputs;
    *out_status = vyre_device_dispatch(device, program, &input, 1, NULL, &outputs);
    if (!*out_status) {
        memcpy(result, outputs.items[0].data, sizeof x);
    }
    vyre_outputs_free(&outputs);
    vyre_program_release(program);
}

static vyre_status dispatch_halves_once(vyre_device *device, vyre_program *program) {
    const uint32_t x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const vyre_input input = {x, sizeof x};
    vyre_outputs outputs;
    vyre_status status = vyre_device_dispatch(device, program, &input, 1, NULL, &outputs);
    vyre_outputs_free(&outputs);
    return status;
}

/* The raw backend is asked for several runs over the same buffers, none with a barrier. */
static void grid_sync_S71_becomes_several_dispatches(void **state) {
    (void)state;
    mock *m = make_single(0, 0);
    vyre_device *device;
    vyre_status status;
    uint32_t result[8] = {0};
    expect_ok(mock_open(m, &device));
    run_halves(device, &status, result);
    expect_ok(status);
    assert_int_equal(mock_count(m, MOCK_dispatch), 3);
    for (int i = 0; i < 8; i++) {
        assert_true(result[i] > 0);
    }
    vyre_device_release(device);
    mock_free(m);
}

static void errors_of_a_part_reach_the_caller(void **state) {
    (void)state;
    for (uint64_t nth = 1; nth <= 3; nth++) {
        mock *m = make_single(0, 0);
        vyre_device *device;
        vyre_status status;
        uint32_t result[8];
        expect_ok(mock_open(m, &device));
        mock_fail(m, MOCK_dispatch, nth, VYRE_FAIL_BACKEND, "part went wrong");
        run_halves(device, &status, result);
        assert_non_null(status);
        assert_non_null(strstr(vyre_status_text(status), "part went wrong"));
        assert_non_null(strstr(vyre_status_text(status), "Fix: "));
        vyre_status_free(status);
        run_halves(device, &status, result);
        expect_ok(status);
        vyre_device_release(device);
        mock_free(m);
    }
}

static void endless_repeat_ends_with_the_timeout(void **state) {
    (void)state;
    mock *m = make_single(0, 0);
    vyre_device *device;
    expect_ok(mock_open(m, &device));
    vyre_program *program = parse("program p(x: out buffer<u32>[1]) { scratch go: u32[1];"
                                  " phase a over 1 { go[0] = 1; }"
                                  " repeat while go[0] { phase b over 1 { x[0] = x[0] + 1; } } }");
    vyre_outputs outputs;
    const vyre_dispatch_config config = {.timeout_ns = 20000000};
    vyre_status status = vyre_device_dispatch(device, program, NULL, 0, &config, &outputs);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_TIMEOUT);
    vyre_status_free(status);
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

/* Parts that are enqueued share the time of the run: none starts its own. */
static void timeout_is_that_of_all_parts(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.single_phase = true,
                                       .slots = MOCK_RESIDENT | MOCK_QUEUE | MOCK_COMPILE,
                                       .mode = MOCK_RUNS_ON_THREAD,
                                       .without_artifact = true});
    vyre_device *device;
    expect_ok(mock_open(m, &device));
    vyre_program *program = parse("program p(x: out buffer<u32>[1]) { repeat 8 {"
                                  " phase a over 1 { x[0] = x[0] + 1; } } }");
    vyre_outputs outputs;
    const vyre_dispatch_config config = {.timeout_ns = 60000000};
    mock_delay(m, MOCK_execution, 20000000);
    vyre_status status = vyre_device_dispatch(device, program, NULL, 0, &config, &outputs);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_TIMEOUT);
    vyre_status_free(status);
    assert_true(mock_count(m, MOCK_execution) < 8);
    expect_ok(vyre_device_dispatch(device, program, NULL, 0, NULL, &outputs));
    assert_int_equal(outputs.items[0].data[0], 8);
    vyre_outputs_free(&outputs);
    vyre_program_release(program);
    vyre_device_release(device);
    assert_int_equal(mock_residents(m), 0);
    mock_free(m);
}

/* Whether it is compiled says the backend, whatever the wrapper keeps. */
static void taken_apart_is_not_compiled(void **state) {
    (void)state;
    for (int compiles = 0; compiles < 2; compiles++) {
        mock *m = make_single(compiles ? MOCK_COMPILE : 0, 0);
        vyre_device *device;
        vyre_pipeline *pipeline;
        vyre_program *program = parse(two_halves);
        expect_ok(mock_open(m, &device));
        expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
        assert_int_equal(vyre_pipeline_is_native(pipeline), compiles);
        vyre_pipeline_release(pipeline);
        vyre_program_release(program);
        vyre_device_release(device);
        mock_free(m);
    }
}

/* The wrapper answers for the operations that it takes out of programs, and for no others. */
static void operations_of_a_feature_that_is_not_wrapped(void **state) {
    (void)state;
    static const struct {
        uint32_t feature, op;
        const char *text, *name;
    } cases[] = {
        {VYRE_FEATURE_PHASES, VYRE_OP_ITERATION,
         "program p(x: inout buffer<u32>) { repeat k in 3 { phase a over x { x[gid] += k; } } }",
         "`iteration`"},
        {VYRE_FEATURE_GRID_SYNC, VYRE_OP_GRID_BARRIER, two_halves, "`grid_barrier`"},
    };
    for (size_t i = 0; i < 2; i++) {
        vyre_op_set ops = *vyre_core_supported_ops();
        ops.words[cases[i].op / 64] &= ~(UINT64_C(1) << cases[i].op % 64);
        mock *m = mock_create(&(mock_spec){
            .slots = LIMITS | MOCK_BIT(features) | MOCK_BIT(supported_ops),
            .features = cases[i].feature,
            .ops = &ops,
            .max_workgroup_size = {64, 1, 1},
            .max_invocations = 64,
        });
        vyre_device *device;
        vyre_program *program = parse(cases[i].text);
        expect_ok(mock_open(m, &device));
        vyre_status status = dispatch_halves_once(device, program);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNSUPPORTED);
        assert_non_null(strstr(vyre_status_text(status), cases[i].name));
        vyre_status_free(status);
        assert_int_equal(mock_count(m, MOCK_dispatch), 0);
        vyre_program_release(program);
        vyre_device_release(device);
        mock_free(m);
    }
}

/* A caller's grid and a split domain do not go together; without a barrier they do. */
static void grid_of_the_caller(void **state) {
    (void)state;
    mock *m = make_single(0, 0);
    vyre_device *device;
    expect_ok(mock_open(m, &device));
    vyre_program *split = parse(two_halves);
    vyre_program *plain = parse("program p(x: out buffer<u32>[4]) { scratch s: u32[4];"
                                " phase a over x { s[gid] = 7; x[gid] = s[gid]; } }");
    const uint32_t x[8] = {0};
    const vyre_input input = {x, sizeof x};
    const vyre_dispatch_config config = {.grid = {2}};
    vyre_outputs outputs;
    vyre_status status = vyre_device_dispatch(device, split, &input, 1, &config, &outputs);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNSUPPORTED);
    vyre_status_free(status);
    expect_ok(vyre_device_dispatch(device, plain, NULL, 0, &config, &outputs));
    const uint32_t expected[4] = {7, 7, 0, 0};
    assert_memory_equal(outputs.items[0].data, expected, sizeof expected);
    vyre_outputs_free(&outputs);
    vyre_program_release(split);
    vyre_program_release(plain);
    vyre_device_release(device);
    mock_free(m);
}

static void resident_run_of_a_split_program(void **state) {
    (void)state;
    mock *m = make_single(MOCK_RESIDENT | MOCK_QUEUE | MOCK_COMPILE, 0);
    vyre_device *device;
    vyre_status status;
    expect_ok(mock_open(m, &device));
    uint32_t expected[8], found[8], x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    run_halves(device, &status, expected);
    expect_ok(status);
    vyre_program *program = parse(two_halves);
    vyre_pipeline *pipeline;
    vyre_resident buffer;
    vyre_ticket ticket;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    assert_true(vyre_pipeline_is_native(pipeline));
    expect_ok(vyre_resident_allocate(device, sizeof x, &buffer));
    expect_ok(vyre_resident_upload(device, buffer, x, sizeof x));
    const vyre_binding binding = vyre_bind(buffer);
    expect_ok(vyre_pipeline_enqueue(pipeline, &binding, 1, NULL, &ticket));
    expect_ok(vyre_device_wait(device, ticket));
    expect_ok(vyre_resident_read(device, buffer, 0, found, sizeof found));
    assert_memory_equal(found, expected, sizeof expected);
    expect_ok(vyre_resident_free(device, buffer));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    assert_int_equal(mock_residents(m), 0);
    mock_free(m);
}

static void lack_of_memory_leaves_nothing_behind(void **state) {
    (void)state;
    const uint64_t kinds[] = {0, MOCK_RESIDENT, MOCK_RESIDENT | MOCK_COMPILE};
    vyre_program *program = parse(two_halves);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        mock *m = make_single(kinds[kind], 0);
        size_t swept = 0;
        for (size_t n = 1; failing_allocator_start(n); n++) {
            vyre_device *device;
            vyre_status status = mock_open(m, &device);
            if (!status) {
                status = dispatch_halves_once(device, program);
                vyre_device_release(device);
            }
            if (status) {
                assert_non_null(strstr(vyre_status_text(status), "Fix: "));
                vyre_status_free(status);
            }
            bool done = !failing_allocator_failed();
            failing_allocator_stop();
            assert_int_equal(mock_residents(m), 0);
            if (done) {
                assert_null(status);
                break;
            }
            swept++;
        }
        assert_true(swept > 50);
        mock_free(m);
    }
    vyre_program_release(program);
}

/* Slot by slot: what is asked of the wrapper is asked of the backend, and its answer comes back. */

static vyre_backend *wrap_mock(mock *m) {
    vyre_backend made = mock_made(m), *inner, *wrapped;
    expect_ok(vyre_backend_adopt(&made, "mock", &inner));
    expect_ok(vyre_wrap_phases(inner, &wrapped));
    assert_ptr_not_equal(inner, wrapped);
    return wrapped;
}

static void wrapper_R14_forwards_every_slot(void **state) {
    (void)state;
    vyre_op_set ops;
    memset(&ops, 0xff, sizeof ops);
    mock_spec spec = {
        .slots = MOCK_ALL,
        .version = "7.8",
        .ops = &ops,
        .features = VYRE_FEATURE_F16 | VYRE_FEATURE_SPECULATION,
        .max_workgroup_size = {3, 5, 7},
        .max_workgroups = {11, 12, 13},
        .max_invocations = 13,
        .subgroup_size = 17,
        .max_storage_buffer_bytes = 19,
        .profile = {.device = "a device",
                    .driver = "a driver",
                    .l2_cache_bytes = 23,
                    .flags = VYRE_PROFILE_HAS_MUL_HIGH,
                    .timing_quality = VYRE_TIMING_DEVICE_TIMESTAMPS},
        .without_artifact = true,
    };
    mock *m = mock_create(&spec);
    vyre_backend *b = wrap_mock(m);
    const vyre_backend_slots *s = b->slots;
    vyre_program *program = parse("program p(x: inout buffer<u32>) over x { x[gid] += 1; }");
    uint32_t x[2] = {1, 2}, y[2];
    const vyre_input input = {x, sizeof x};
    vyre_output output = {(uint8_t *)y, sizeof y};
    const vyre_dispatch_config config = {0};
    vyre_plan plan;
    vyre_timing timing;
    vyre_pending_run run;
    uint64_t buffer;
    expect_ok(vyre_plan_init(&plan, program, &input, 1, &config));
    vyre_call call = vyre_plan_call(&plan, &input);

    assert_string_equal(s->id(b), "mock");
    assert_string_equal(s->version(b), "7.8");
    assert_memory_equal(s->supported_ops(b), &ops, sizeof ops);
    assert_int_equal(s->features(b), spec.features);
    uint32_t size[3];
    s->max_workgroup_size(b, size);
    assert_memory_equal(size, spec.max_workgroup_size, sizeof size);
    uint32_t most[3];
    s->max_workgroups_per_dimension(b, most);
    assert_true(most[0] == 11 && most[1] == 12 && most[2] == 13);
    assert_int_equal(s->max_invocations_per_workgroup(b), 13);
    assert_int_equal(s->subgroup_size(b), 17);
    assert_int_equal(s->max_storage_buffer_bytes(b), 19);
    vyre_profile profile = {0};
    s->device_profile(b, &profile);
    assert_string_equal(profile.device, "a device");
    assert_string_equal(profile.driver, "a driver");
    assert_int_equal(profile.l2_cache_bytes, 23);
    assert_true(profile.flags & VYRE_PROFILE_HAS_MUL_HIGH);
    assert_int_equal(profile.timing_quality, VYRE_TIMING_DEVICE_TIMESTAMPS);

    expect_ok(s->dispatch_borrowed(b, &call, &output));
    assert_int_equal(y[1], 3);
    expect_ok(s->dispatch_borrowed_timed(b, &call, &output, &timing));
    expect_ok(s->dispatch_borrowed_into(b, &call, &output));
    expect_ok(s->dispatch_borrowed_async(b, &call, &output, &run));
    expect_ok(run.slots->wait(run.state));
    run.slots->free(run.state);
    expect_ok(s->resident_allocate(b, sizeof x, &buffer));
    expect_ok(s->resident_upload(b, buffer, 0, x, sizeof x));
    expect_ok(s->resident_dispatch_timed(b, &call, &buffer, &timing));
    expect_ok(s->resident_read(b, buffer, 0, y, sizeof y));
    assert_int_equal(y[0], 2);

    vyre_native made = {0}, *native;
    const vyre_compile compile = {.program = program};
    expect_ok(s->compile_native(b, &compile, &made));
    expect_ok(vyre_native_adopt(&made, b, &native));
    expect_ok(native->slots->dispatch_borrowed(native, &call, &output));
    expect_ok(native->slots->dispatch_borrowed_timed(native, &call, &output, &timing));
    expect_ok(native->slots->dispatch_borrowed_into(native, &call, &output));
    uint64_t ticket = 0;
    expect_ok(native->slots->enqueue(native, &call, &buffer, &ticket));
    (void)s->ticket_done(b, ticket);
    expect_ok(s->ticket_wait(b, ticket));
    assert_true(native->slots->size_bytes(native) > 0);
    expect_ok(native->slots->dispatch(native, &call, &output)); /* may spoil its input */
    vyre_native_drop(native);
    expect_ok(s->resident_free(b, buffer));

    x[0] = 1, x[1] = 2;
    expect_ok(s->dispatch_async(b, &call, &output, &run));
    expect_ok(run.slots->wait(run.state));
    run.slots->free(run.state);
    x[0] = 1, x[1] = 2;
    expect_ok(s->dispatch(b, &call, &output));

    vyre_cache_counts counts;
    assert_true(s->cache_snapshot(b, &counts));
    expect_ok(s->prepare(b));
    expect_ok(s->flush(b));
    assert_false(s->device_lost(b));
    mock_lose(m);
    assert_true(s->device_lost(b));
    expect_ok(s->try_recover(b));
    expect_ok(s->shutdown(b));
    vyre_plan_deinit(&plan);
    vyre_program_release(program);
    vyre_backend_drop(b);

    /* Every slot of the mock was reached, through one of the wrapper's. */
    for (int slot = MOCK_id; slot < MOCK_execution; slot++) {
        /* One of the two compiles is enough: both lead to the shared one. */
        if (slot != MOCK_compile_native && !mock_count(m, (mock_slot)slot)) {
            fail_msg("the wrapper does not forward %s", mock_slot_name((mock_slot)slot));
        }
    }
    mock_free(m);
}

static void wrapper_is_left_out_where_nothing_is_missing(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_BIT(features),
                                       .features = VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC});
    vyre_backend made = mock_made(m), *inner, *wrapped;
    expect_ok(vyre_backend_adopt(&made, "mock", &inner));
    expect_ok(vyre_wrap_phases(inner, &wrapped));
    assert_ptr_equal(inner, wrapped);
    vyre_backend_drop(wrapped);
    mock_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grid_sync_S71_split_by_plain_dispatch),
        cmocka_unit_test(grid_sync_S71_split_on_resident_buffers),
        cmocka_unit_test(grid_sync_S71_split_by_compiled_parts),
        cmocka_unit_test(domains_from_memory_have_limits),
        cmocka_unit_test(grid_sync_S71_split_for_native_phases),
        cmocka_unit_test(grid_sync_S71_becomes_several_dispatches),
        cmocka_unit_test(errors_of_a_part_reach_the_caller),
        cmocka_unit_test(endless_repeat_ends_with_the_timeout),
        cmocka_unit_test(timeout_is_that_of_all_parts),
        cmocka_unit_test(taken_apart_is_not_compiled),
        cmocka_unit_test(operations_of_a_feature_that_is_not_wrapped),
        cmocka_unit_test(grid_of_the_caller),
        cmocka_unit_test(resident_run_of_a_split_program),
        cmocka_unit_test(lack_of_memory_leaves_nothing_behind),
        cmocka_unit_test(wrapper_R14_forwards_every_slot),
        cmocka_unit_test(wrapper_is_left_out_where_nothing_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
