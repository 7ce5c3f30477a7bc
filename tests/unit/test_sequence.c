/* Sequences: programs that the host runs in parts for a backend without phases or grid barriers. A
 * backend that refuses programs of more than one phase must give the oracle's bytes, in every form
 * of a run. */
#include <stdio.h>

#include "backend/reference/backend.h"
#include "conform/compare.h"
#include "pass/records.h"
#include "runtime/device.h"
#include "tests/unit/contract_check.h"
#include "tests/unit/failing_allocator.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { PROGRAMS = 100 };
#else
enum { PROGRAMS = 2000 };
#endif

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
    uint64_t programs, grid_barriers, in_loops, atomics, phases, records;
} tally;

/* Whether the host refuses to lower records: atomics need fields that become one number. */
static bool is_refused(const vyre_program *program) {
    vyre_program *lowered = NULL;
    vyre_status status = vyre_has_records(program) ? vyre_lower_records(program, &lowered) : NULL;
    bool refused = vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED;
    assert_true(!status || refused);
    vyre_status_free(status);
    vyre_program_release(lowered);
    return refused;
}

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
        bool has_records = vyre_has_records(trial.program);
        if ((has_records || stats.grid_barriers || ir->step_count > 1) &&
            !is_refused(trial.program)) {
            t.programs++;
            t.records += has_records;
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
                  "%llu of several steps, %llu with records, the oracle's bytes\n",
                  name, (unsigned long long)t.programs, (unsigned long long)t.grid_barriers,
                  (unsigned long long)t.in_loops, (unsigned long long)t.atomics,
                  (unsigned long long)t.phases, (unsigned long long)t.records);
    assert_true(t.records > wanted / 50);
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

static const char two_halves[] = "program halves(x: inout buffer<u32>) over x workgroup 4 {"
                                 " let sum = x[gid] + x[len(x) - 1 - gid];"
                                 " grid_barrier;"
                                 " x[gid] = sum;"
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
        contract_program("program p(n: buffer<u32>, y: out buffer<u32>[64]) {"
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
    vyre_program *program = contract_program(two_halves);
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
        assert_int_equal(result[i], 18);
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
    vyre_program *program =
        contract_program("program p(x: out buffer<u32>[1]) { scratch go: u32[1];"
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
    vyre_program *program = contract_program("program p(x: out buffer<u32>[1]) { repeat 8 {"
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

/* Whether a sequence is native depends on the backend: on whether it compiled the parts. */
static void sequence_is_native_if_its_parts_are(void **state) {
    (void)state;
    for (int compiles = 0; compiles < 2; compiles++) {
        mock *m = make_single(compiles ? MOCK_COMPILE : 0, 0);
        vyre_device *device;
        vyre_pipeline *pipeline;
        vyre_program *program = contract_program(two_halves);
        expect_ok(mock_open(m, &device));
        expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
        assert_int_equal(vyre_pipeline_is_native(pipeline), compiles);
        vyre_pipeline_release(pipeline);
        vyre_program_release(program);
        vyre_device_release(device);
        mock_free(m);
    }
}

/* The host takes an operation out of programs where the backend lacks the feature, not elsewhere.
 */
static void operations_of_a_feature_that_the_backend_has(void **state) {
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
        vyre_program *program = contract_program(cases[i].text);
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
    vyre_program *split = contract_program(two_halves);
    vyre_program *plain = contract_program("program p(x: out buffer<u32>[4]) { scratch s: u32[4];"
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
    vyre_program *program = contract_program(two_halves);
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
    vyre_program *program = contract_program(two_halves);
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

/* Every form of a run of `halves`, each with what it promises. */
static void every_form_runs_a_sequence(void **state) {
    (void)state;
    static const uint64_t kinds[] = {0, MOCK_COMPILE, MOCK_RESIDENT | MOCK_QUEUE | MOCK_COMPILE};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        mock *m = make_single(kinds[kind] | MOCK_ASYNC | MOCK_BIT(dispatch_borrowed_timed), 0);
        vyre_device *device = contract_device(m);
        vyre_program *program = contract_program(two_halves);
        vyre_pipeline *pipeline;
        expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
        assert_non_null(pipeline->sequence);
        uint32_t x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, owned[8], expected[8];
        for (uint32_t i = 0; i < 8; i++) {
            expected[i] = (x[i] + x[7 - i]) * 2;
        }
        const vyre_input input = {x, sizeof x};
        const vyre_output given = {(uint8_t *)owned, sizeof owned};
        vyre_outputs outputs, into = {0};
        vyre_timing timing;
        vyre_pending *pending;
#define EXPECT_HALVES(found)                                                                       \
    assert_int_equal((found).count, 1);                                                            \
    assert_memory_equal((found).items[0].data, expected, sizeof expected);                         \
    vyre_outputs_free(&(found))
        expect_ok(vyre_pipeline_dispatch(pipeline, &input, 1, NULL, &outputs));
        EXPECT_HALVES(outputs);
        memcpy(owned, x, sizeof x);
        expect_ok(vyre_pipeline_dispatch_owned(pipeline, &given, 1, NULL, &outputs));
        EXPECT_HALVES(outputs);
        expect_ok(vyre_pipeline_dispatch_timed(pipeline, &input, 1, NULL, &outputs, &timing));
        EXPECT_HALVES(outputs);
        assert_true(timing.wall_ns != VYRE_NO_TIME && timing.wall_ns > 0);
        assert_true(timing.device_ns == VYRE_NO_TIME && timing.enqueue_ns == VYRE_NO_TIME &&
                    timing.wait_ns == VYRE_NO_TIME);
        expect_ok(vyre_pipeline_dispatch_into(pipeline, &input, 1, NULL, &into));
        const void *before = into.items[0].data;
        memset(into.items[0].data, 0x11, into.items[0].size);
        expect_ok(vyre_pipeline_dispatch_into(pipeline, &input, 1, NULL, &into));
        assert_ptr_equal(into.items[0].data, before);
        EXPECT_HALVES(into);
        expect_ok(vyre_pipeline_dispatch_async(pipeline, &input, 1, NULL, &pending));
        assert_true(vyre_pending_is_ready(pending));
        expect_ok(vyre_pending_await(pending, &outputs));
        vyre_pending_free(pending);
        EXPECT_HALVES(outputs);
        memcpy(owned, x, sizeof x);
        expect_ok(vyre_pipeline_dispatch_owned_async(pipeline, &given, 1, NULL, &pending));
        expect_ok(vyre_pending_await(pending, &outputs));
        vyre_pending_free(pending);
        EXPECT_HALVES(outputs);
        assert_int_equal(mock_count(m, MOCK_dispatch_async), 0);
        assert_int_equal(mock_count(m, MOCK_dispatch_borrowed_async), 0);
        vyre_pipeline_release(pipeline);
        vyre_program_release(program);
        vyre_device_release(device);
        assert_int_equal(mock_residents(m), 0);
        mock_free(m);
    }
}

/* Outputs that the caller gave are as they were when a part fails; an asynchronous run does not
 * start. */
static void a_part_that_fails_changes_nothing(void **state) {
    (void)state;
    for (uint64_t nth = 1; nth <= 3; nth++) {
        mock *m = make_single(0, 0);
        vyre_device *device = contract_device(m);
        vyre_program *program = contract_program(two_halves);
        uint32_t x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, before[8];
        const vyre_input input = {x, sizeof x};
        vyre_outputs into = {0};
        vyre_pending *pending;
        expect_ok(vyre_device_dispatch_into(device, program, &input, 1, NULL, &into));
        memset(into.items[0].data, 0x11, into.items[0].size);
        memset(before, 0x11, sizeof before);
        mock_fail(m, MOCK_dispatch, nth, VYRE_FAIL_BACKEND, "part went wrong");
        expect_fail(vyre_device_dispatch_into(device, program, &input, 1, NULL, &into),
                    VYRE_STATUS_BACKEND, "part went wrong");
        assert_memory_equal(into.items[0].data, before, sizeof before);
        mock_fail(m, MOCK_dispatch, nth, VYRE_FAIL_BACKEND, "part went wrong");
        expect_fail(vyre_device_dispatch_async(device, program, &input, 1, NULL, &pending),
                    VYRE_STATUS_BACKEND, "part went wrong");
        assert_null(pending);
        vyre_outputs_free(&into);
        vyre_program_release(program);
        vyre_device_release(device);
        mock_free(m);
    }
}

/* The timed form on buffers of the device, and the order of enqueued sequences. */
static void sequences_on_resident_buffers(void **state) {
    (void)state;
    mock *m = make_single(MOCK_RESIDENT | MOCK_QUEUE | MOCK_COMPILE, 0);
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(two_halves);
    vyre_pipeline *pipeline;
    vyre_timing timing;
    vyre_ticket ticket = 1;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    vyre_resident buffer = contract_resident(device, 1);
    const vyre_binding binding = vyre_bind(buffer);
    expect_ok(vyre_pipeline_dispatch_resident(pipeline, &binding, 1, NULL, &timing));
    assert_true(timing.wall_ns != VYRE_NO_TIME && timing.device_ns == VYRE_NO_TIME);
    expect_ok(vyre_pipeline_enqueue(pipeline, &binding, 1, NULL, &ticket));
    assert_int_equal(ticket, 0); /* it is over */
    uint32_t found[8];
    expect_ok(vyre_resident_read(device, buffer, 0, found, sizeof found));
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(found[i], 2 * (18 + 18)); /* the second run on what the first left */
    }
    mock_fail(m, MOCK_execution, 2, VYRE_FAIL_BACKEND, NULL);
    expect_fail(vyre_pipeline_enqueue(pipeline, &binding, 1, NULL, &ticket), VYRE_STATUS_BACKEND,
                "execution failed");
    expect_ok(vyre_resident_free(device, buffer));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    assert_int_equal(mock_residents(m), 0);
    mock_free(m);
}

/* The cache counts the executables of all parts. */
static void cache_counts_the_parts_of_a_sequence(void **state) {
    (void)state;
    enum { PART_BYTES = 1000000 };
    uint64_t bytes[2];
    for (int large = 0; large < 2; large++) {
        mock *m = mock_create(&(mock_spec){
            .single_phase = true,
            .slots = LIMITS | MOCK_COMPILE | MOCK_BIT(pipeline_size_bytes),
            .max_workgroup_size = {4, 1, 1},
            .max_workgroups = {8, 1, 1},
            .max_invocations = 4,
            .without_artifact = true,
            .pipeline_bytes = large ? PART_BYTES : 0,
        });
        vyre_device *device = contract_device(m);
        vyre_program *program = contract_program(two_halves);
        vyre_cache_counts counts;
        expect_ok(dispatch_halves_once(device, program));
        vyre_device_cache_counts(device, &counts);
        assert_int_equal(counts.entries, 1);
        assert_int_equal(mock_pipelines(m), 3);
        bytes[large] = counts.bytes;
        vyre_device_cache_limit(device, 0);
        assert_int_equal(mock_pipelines(m), 0);
        vyre_program_release(program);
        vyre_device_release(device);
        mock_free(m);
    }
    assert_int_equal(bytes[1] - bytes[0], 3 * PART_BYTES);
}

/* A device that is lost in the middle of a sequence says so; what was compiled before its recovery
 * is refused after it. */
static void loss_and_recovery_in_a_sequence(void **state) {
    (void)state;
    mock *m = make_single(MOCK_LOSS | MOCK_COMPILE, 0);
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(two_halves);
    vyre_pipeline *pipeline;
    uint32_t x[8] = {0};
    const vyre_input input = {x, sizeof x};
    vyre_outputs outputs;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    mock_fail(m, MOCK_pipeline_dispatch, 2, VYRE_FAIL_DEVICE_LOST, NULL);
    expect_fail(vyre_pipeline_dispatch(pipeline, &input, 1, NULL, &outputs),
                VYRE_STATUS_DEVICE_LOST, "the device is lost until vyre_device_recover");
    expect_ok(vyre_device_recover(device));
    expect_fail(vyre_pipeline_dispatch(pipeline, &input, 1, NULL, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "compiled before device mock was recovered");
    vyre_pipeline_release(pipeline);
    expect_ok(dispatch_halves_once(device, program));
    vyre_program_release(program);
    vyre_device_release(device);
    assert_int_equal(mock_pipelines(m), 0);
    mock_free(m);
}

/* Only a program that needs it becomes a sequence, and only where the feature is missing. */
static void sequences_are_made_where_a_feature_is_missing(void **state) {
    (void)state;
    static const char phases[] =
        "program p(x: inout buffer<u32>) {"
        " phase a over x { x[gid] += 1; } phase b over x { x[gid] += 1; } }";
    static const struct {
        uint32_t features;
        bool splits_phases, splits_barriers;
    } cases[] = {
        {0, true, true},
        {VYRE_FEATURE_PHASES, false, true},
        {VYRE_FEATURE_GRID_SYNC, true, false},
        {CONTRACT_WHOLE, false, false},
    };
    const char *const texts[] = {TWICE, phases, two_halves};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mock *m = mock_create(&(mock_spec){.slots = LIMITS | MOCK_BIT(features),
                                           .features = cases[i].features,
                                           .max_workgroup_size = {4, 1, 1},
                                           .max_workgroups = {8, 1, 1},
                                           .max_invocations = 4});
        vyre_device *device = contract_device(m);
        for (size_t k = 0; k < 3; k++) {
            bool splits = k && (k == 1 ? cases[i].splits_phases : cases[i].splits_barriers);
            vyre_program *program = contract_program(texts[k]);
            vyre_pipeline *pipeline;
            expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
            assert_int_equal(pipeline->sequence != NULL, splits);
            vyre_pipeline_release(pipeline);
            vyre_program_release(program);
        }
        vyre_device_release(device);
        mock_free(m);
    }
}

int main(void) {
    contract_without_cache();
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
        cmocka_unit_test(sequence_is_native_if_its_parts_are),
        cmocka_unit_test(operations_of_a_feature_that_the_backend_has),
        cmocka_unit_test(grid_of_the_caller),
        cmocka_unit_test(resident_run_of_a_split_program),
        cmocka_unit_test(lack_of_memory_leaves_nothing_behind),
        cmocka_unit_test(every_form_runs_a_sequence),
        cmocka_unit_test(a_part_that_fails_changes_nothing),
        cmocka_unit_test(sequences_on_resident_buffers),
        cmocka_unit_test(cache_counts_the_parts_of_a_sequence),
        cmocka_unit_test(loss_and_recovery_in_a_sequence),
        cmocka_unit_test(sequences_are_made_where_a_feature_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
