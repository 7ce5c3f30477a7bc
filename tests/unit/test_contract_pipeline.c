/* Pipelines: compiling once, running often, and what a device remembers of it. */
#include <stdio.h>

#include <vyre/reference.h>

#include "runtime/device.h"
#include "tests/unit/contract_check.h"

typedef struct twice_run {
    mock *m;
    vyre_device *device;
    vyre_program *program;
    uint32_t x[CONTRACT_LENGTH];
    vyre_input input;
} twice_run;

static void start(twice_run *run, const mock_spec *spec) {
    run->m = mock_create(spec);
    run->program = contract_program(TWICE);
    run->device = contract_device(run->m);
    contract_numbers(run->x, CONTRACT_LENGTH);
    run->input = (vyre_input){run->x, sizeof run->x};
}

static void end(twice_run *run) {
    vyre_program_release(run->program);
    vyre_device_release(run->device);
    assert_int_equal(mock_pipelines(run->m), 0);
    mock_free(run->m);
}

static vyre_pipeline *compile(vyre_device *device, const vyre_program *program) {
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    assert_non_null(pipeline);
    return pipeline;
}

static void pipeline_S61_passthrough_dispatches_each_time(void **state) {
    (void)state;
    twice_run run;
    start(&run, &(mock_spec){0});
    vyre_pipeline *pipeline = compile(run.device, run.program);
    assert_false(vyre_pipeline_is_native(pipeline));
    assert_int_equal(mock_count(run.m, MOCK_dispatch), 0);
    vyre_outputs outputs;
    for (uint64_t i = 1; i <= 3; i++) {
        expect_ok(vyre_pipeline_dispatch(pipeline, &run.input, 1, NULL, &outputs));
        expect_twice(&outputs);
        assert_int_equal(mock_count(run.m, MOCK_dispatch), i);
        assert_string_equal(vyre_program_name(mock_last(run.m, MOCK_dispatch).program), "twice");
    }
    vyre_timing timing;
    expect_ok(vyre_pipeline_dispatch_timed(pipeline, &run.input, 1, NULL, &outputs, &timing));
    expect_twice(&outputs);
    expect_ok(vyre_pipeline_dispatch_into(pipeline, &run.input, 1, NULL, &outputs));
    expect_twice(&outputs);
    vyre_output owned = {(uint8_t *)run.x, sizeof run.x};
    expect_ok(vyre_pipeline_dispatch_owned(pipeline, &owned, 1, NULL, &outputs));
    expect_twice(&outputs);
    assert_int_equal(mock_count(run.m, MOCK_dispatch), 6);
    vyre_pipeline_release(pipeline);
    end(&run);
}

/* Forms that are slots of the backend alone get the pipeline in the call. */
static void pipeline_runs_asynchronously_and_on_resident_buffers(void **state) {
    (void)state;
    twice_run run;
    start(&run, &(mock_spec){.slots = MOCK_COMPILE | MOCK_ASYNC | MOCK_RESIDENT,
                             .mode = MOCK_RUNS_AT_WAIT});
    vyre_pipeline *pipeline = compile(run.device, run.program);
    vyre_pending *pending;
    vyre_outputs outputs;
    expect_ok(vyre_pipeline_dispatch_async(pipeline, &run.input, 1, NULL, &pending));
    assert_true(mock_last(run.m, MOCK_dispatch_borrowed_async).native_is_own);
    expect_ok(vyre_pending_await(pending, &outputs));
    expect_twice(&outputs);
    vyre_pending_free(pending);
    vyre_output owned = {(uint8_t *)run.x, sizeof run.x};
    expect_ok(vyre_pipeline_dispatch_owned_async(pipeline, &owned, 1, NULL, &pending));
    assert_true(mock_last(run.m, MOCK_dispatch_async).native_is_own);
    expect_ok(vyre_pending_await(pending, &outputs));
    expect_twice(&outputs);
    vyre_pipeline_release(pipeline); /* the run keeps it */
    vyre_pending_free(pending);
    expect_fail(vyre_device_dispatch_async(run.device, run.program, NULL, 0, NULL, &pending),
                VYRE_STATUS_INVALID_ARGUMENT, "twice");
    assert_null(pending);

    pipeline = compile(run.device, run.program);
    vyre_resident x = contract_resident(run.device, 1), y = contract_resident(run.device, 9);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    vyre_timing timing = {0};
    expect_ok(vyre_pipeline_dispatch_resident(pipeline, bindings, 2, NULL, &timing));
    expect_resident(run.device, y, 2);
    expect_ok(vyre_pipeline_dispatch_resident(pipeline, bindings, 2, NULL, NULL));
    assert_true(mock_last(run.m, MOCK_resident_dispatch_timed).native_is_own);
    expect_fail(vyre_pipeline_dispatch_resident(pipeline, bindings, 1, NULL, &timing),
                VYRE_STATUS_INVALID_ARGUMENT, "2 arguments");
    assert_int_equal(timing.wall_ns, VYRE_NO_TIME);
    vyre_pipeline_release(pipeline);
    end(&run);
}

/* A backend may also say at run time that it has none for this program. */
static vyre_status compile_to_nothing(const vyre_backend *backend, const vyre_compile *request,
                                      vyre_native *out_native) {
    (void)backend;
    (void)request;
    (void)out_native;
    return NULL;
}

static void pipeline_S61_none_for_this_program(void **state) {
    (void)state;
    twice_run run = {.m = mock_create(&(mock_spec){0}), .program = contract_program(TWICE)};
    mock_table(run.m)->compile_native = compile_to_nothing;
    run.device = contract_device(run.m);
    vyre_pipeline *pipeline = compile(run.device, run.program);
    assert_false(vyre_pipeline_is_native(pipeline));
    vyre_pipeline_release(pipeline);
    expect_works(run.device);
    assert_int_equal(mock_count(run.m, MOCK_dispatch), 1);
    end(&run);
}

/* Two programs of the same hash are two programs: what a hit by the hash alone would run is not
 * what was asked for. */
static void pipeline_S62_R12_programs_of_one_hash_are_told_apart(void **state) {
    (void)state;
    twice_run run;
    start(&run, &(mock_spec){.slots = MOCK_COMPILE});
    vyre_program *other = contract_program(
        "program thrice(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid] * 3; "
        "}");
    vyre_pipeline *first = compile(run.device, run.program);
    /* The first moves to where the other one is looked for. */
    vyre_device *device = run.device;
    vyre_pipeline **from = &device->buckets[first->hash % VYRE_PIPELINE_BUCKETS];
    assert_ptr_equal(*from, first);
    *from = first->next;
    first->hash = vyre_program_digest(other).low;
    vyre_pipeline **to = &device->buckets[first->hash % VYRE_PIPELINE_BUCKETS];
    first->next = *to;
    *to = first;
    vyre_pipeline *second = compile(device, other);
    assert_ptr_not_equal(second, first);
    vyre_outputs outputs;
    expect_ok(vyre_pipeline_dispatch(second, &run.input, 1, NULL, &outputs));
    expect_numbers(outputs.items[0].data, CONTRACT_LENGTH, 3);
    vyre_outputs_free(&outputs);
    vyre_pipeline_release(second);
    vyre_pipeline_release(first);
    vyre_program_release(other);
    end(&run);
}

/* One without a dispatch of its own runs through the backend, in each form. */
static void pipeline_S62_without_dispatch_gives_the_bytes_too(void **state) {
    (void)state;
    twice_run run;
    start(&run, &(mock_spec){.slots = MOCK_BIT(compile_native) | MOCK_BIT(pipeline_destroy)});
    vyre_pipeline *pipeline = compile(run.device, run.program);
    assert_true(vyre_pipeline_is_native(pipeline));
    vyre_outputs outputs;
    expect_ok(vyre_pipeline_dispatch(pipeline, &run.input, 1, NULL, &outputs));
    expect_twice(&outputs);
    vyre_output owned = {(uint8_t *)run.x, sizeof run.x};
    expect_ok(vyre_pipeline_dispatch_owned(pipeline, &owned, 1, NULL, &outputs));
    expect_twice(&outputs);
    vyre_pipeline_release(pipeline);
    end(&run);
}

#define TOTAL                                                                                      \
    "program total(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 4 { "              \
    "y[gid] = x[gid]; grid_barrier; var sum = 0u; "                                                \
    "for i in 0..len(x) { sum = sum + y[i]; } grid_barrier; y[gid] = sum; }"

/* The mock refuses a grid barrier that it does not claim to have, so the host has to split. */
static void grid_sync_S71_is_split_whatever_else_a_backend_has(void **state) {
    (void)state;
    static const uint32_t features[] = {0, VYRE_FEATURE_PHASES};
    for (size_t i = 0; i < 2; i++) {
        mock *m = mock_create(&(mock_spec){
            .slots = MOCK_BIT(features) | MOCK_BIT(max_workgroup_size) |
                     MOCK_BIT(max_workgroups_per_dimension),
            .features = features[i],
            .max_workgroup_size = {4, 1, 1},
            .max_workgroups = {CONTRACT_LENGTH, 1, 1},
        });
        vyre_device *device = contract_device(m);
        vyre_program *program = contract_program(TOTAL);
        uint32_t x[CONTRACT_LENGTH], sum;
        contract_numbers(x, CONTRACT_LENGTH);
        const vyre_input input = {x, sizeof x};
        vyre_outputs outputs;
        expect_ok(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs));
        for (size_t k = 0; k < CONTRACT_LENGTH; k++) {
            memcpy(&sum, outputs.items[0].data + k * sizeof sum, sizeof sum);
            assert_int_equal(sum, CONTRACT_LENGTH * (CONTRACT_LENGTH + 1) / 2);
        }
        vyre_outputs_free(&outputs);
        /* Several dispatches, or one of a program of several phases. */
        assert_int_equal(mock_count(m, MOCK_dispatch), i ? 1 : 3);
        assert_true(mock_last(m, MOCK_dispatch).grid_count == (i ? 3 : 1));
        vyre_program_release(program);
        vyre_device_release(device);
        mock_free(m);
    }
}

static void pipeline_S62_gives_the_bytes_of_dispatch(void **state) {
    (void)state;
    static const char *const texts[] = {
        TWICE,
        "program roots(x: buffer<u32>, y: out buffer<f32>[len(x)], z: out buffer<f64>[len(x)]) "
        "over "
        "x { y[gid] = sqrt(f32(x[gid])) / 3.0; z[gid] = 1.0 / f64(x[gid]); }",
    };
    for (size_t i = 0; i < 2; i++) {
        for (int shared = 0; shared < 2; shared++) {
            uint64_t slots = MOCK_COMPILE | (shared ? MOCK_BIT(compile_native_shared) : 0);
            mock *m = mock_create(&(mock_spec){.slots = slots});
            vyre_device *device = contract_device(m);
            vyre_program *program = contract_program(texts[i]);
            vyre_pipeline *pipeline = compile(device, program);
            assert_true(vyre_pipeline_is_native(pipeline));
            uint32_t x[CONTRACT_LENGTH];
            contract_numbers(x, CONTRACT_LENGTH);
            vyre_input input = {x, sizeof x};
            vyre_outputs expected, found;
            expect_ok(vyre_reference_run(program, &input, 1, NULL, NULL, &expected));
            for (int round = 0; round < 3; round++) {
                expect_ok(vyre_pipeline_dispatch(pipeline, &input, 1, NULL, &found));
                assert_int_equal(found.count, expected.count);
                for (size_t k = 0; k < found.count; k++) {
                    assert_int_equal(found.items[k].size, expected.items[k].size);
                    assert_memory_equal(found.items[k].data, expected.items[k].data,
                                        found.items[k].size);
                }
                vyre_outputs_free(&found);
            }
            vyre_outputs_free(&expected);
            assert_int_equal(mock_count(m, MOCK_pipeline_dispatch), 3);
            assert_int_equal(mock_count(m, MOCK_dispatch), 0);
            vyre_program_release(program);
            vyre_pipeline_release(pipeline);
            vyre_device_release(device);
            mock_free(m);
        }
    }
}

/* A pipeline has the forms that follow from its own slots, in the way of the backend's. */
static void pipeline_slots_follow_from_its_dispatch(void **state) {
    (void)state;
    static const mock_slot forms[] = {MOCK_pipeline_dispatch_borrowed,
                                      MOCK_pipeline_dispatch_borrowed_timed,
                                      MOCK_pipeline_dispatch_borrowed_into};
    for (unsigned mask = 0; mask < 8; mask++) {
        uint64_t slots = MOCK_COMPILE;
        for (unsigned i = 0; i < 3; i++) {
            slots |= (uint64_t)(mask >> i & 1) << forms[i];
        }
        twice_run run;
        start(&run, &(mock_spec){.slots = slots});
        vyre_pipeline *pipeline = compile(run.device, run.program);
        vyre_outputs outputs, into = {0};
        vyre_timing timing;
        expect_ok(vyre_pipeline_dispatch(pipeline, &run.input, 1, NULL, &outputs));
        expect_twice(&outputs);
        assert_int_equal(
            mock_count(run.m, mask & 1 ? MOCK_pipeline_dispatch_borrowed : MOCK_pipeline_dispatch),
            1);
        mock_forget(run.m);
        expect_ok(vyre_pipeline_dispatch_timed(pipeline, &run.input, 1, NULL, &outputs, &timing));
        expect_twice(&outputs);
        assert_int_equal(timing.device_ns == VYRE_NO_TIME, !(mask & 2));
        assert_int_equal(mock_count(run.m, mask & 2   ? MOCK_pipeline_dispatch_borrowed_timed
                                           : mask & 1 ? MOCK_pipeline_dispatch_borrowed
                                                      : MOCK_pipeline_dispatch),
                         1);
        expect_ok(vyre_pipeline_dispatch_into(pipeline, &run.input, 1, NULL, &into));
        mock_forget(run.m);
        expect_ok(vyre_pipeline_dispatch_into(pipeline, &run.input, 1, NULL, &into));
        expect_twice(&into);
        assert_int_equal(mock_count(run.m, mask & 4   ? MOCK_pipeline_dispatch_borrowed_into
                                           : mask & 1 ? MOCK_pipeline_dispatch_borrowed
                                                      : MOCK_pipeline_dispatch),
                         1);
        assert_int_equal(mock_count(run.m, MOCK_dispatch), 0);
        vyre_pipeline_release(pipeline);
        end(&run);
    }
}

/* Slots of the backend that run a compiled program are told its pipeline: their own, whether
 * the host splits programs for the backend or not. */
static void pipeline_is_known_to_the_backends_slots(void **state) {
    (void)state;
    const uint32_t features[] = {0, VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC};
    for (size_t i = 0; i < 2; i++) {
        twice_run run;
        start(&run,
              &(mock_spec){.slots = MOCK_COMPILE | MOCK_RESIDENT | MOCK_ASYNC | MOCK_BIT(features),
                           .features = features[i]});
        vyre_resident x = contract_resident(run.device, 1), y = contract_resident(run.device, 1);
        const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
        vyre_pending *pending;
        vyre_outputs outputs;
        expect_ok(
            vyre_device_dispatch_async(run.device, run.program, &run.input, 1, NULL, &pending));
        expect_ok(vyre_pending_await(pending, &outputs));
        expect_twice(&outputs);
        vyre_pending_free(pending);
        expect_ok(vyre_device_dispatch_resident(run.device, run.program, bindings, 2, NULL, NULL));
        expect_resident(run.device, y, 2);
        expect_ok(vyre_device_dispatch(run.device, run.program, &run.input, 1, NULL, &outputs));
        expect_twice(&outputs);
        assert_true(mock_last(run.m, MOCK_dispatch_borrowed_async).native_is_own);
        assert_true(mock_last(run.m, MOCK_resident_dispatch_timed).native_is_own);
        assert_true(mock_last(run.m, MOCK_pipeline_dispatch).native_is_own);
        end(&run);
        start(&run, &(mock_spec){.slots = MOCK_BIT(features), .features = features[i]});
        expect_works(run.device);
        assert_false(mock_last(run.m, MOCK_dispatch).has_native);
        end(&run);
    }
}

/* A native pipeline that runs nothing itself: all runs are the backend's. */
static void pipeline_without_dispatch_runs_through_the_backend(void **state) {
    (void)state;
    twice_run run;
    start(&run, &(mock_spec){.slots = MOCK_BIT(compile_native) | MOCK_BIT(pipeline_destroy) |
                                      MOCK_BIT(dispatch_borrowed)});
    vyre_pipeline *pipeline = compile(run.device, run.program);
    assert_true(vyre_pipeline_is_native(pipeline));
    vyre_outputs outputs;
    expect_ok(vyre_pipeline_dispatch(pipeline, &run.input, 1, NULL, &outputs));
    expect_twice(&outputs);
    assert_int_equal(mock_count(run.m, MOCK_dispatch_borrowed), 1);
    vyre_pipeline_release(pipeline);
    end(&run);
}

/* The program is refused in every form of a run, and no other slot is tried in its place. */
static void pipeline_S63_a_compile_error_is_fatal_on_every_path(void **state) {
    (void)state;
    twice_run run;
    start(&run, &(mock_spec){.slots = MOCK_COMPILE | MOCK_RESIDENT | MOCK_ASYNC});
    mock_fail_always(run.m, MOCK_compile_native, VYRE_FAIL_UNSUPPORTED, "it cannot be compiled");
    vyre_resident x = contract_resident(run.device, 1), y = contract_resident(run.device, 1);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    vyre_pipeline *pipeline;
    vyre_outputs outputs = {0};
    vyre_timing timing;
    vyre_pending *pending;
    vyre_output owned = {(uint8_t *)run.x, sizeof run.x};
    mock_forget(run.m);
    for (int round = 0; round < 2; round++) {
#define IS_FATAL(call) expect_fail(call, VYRE_STATUS_UNSUPPORTED, "it cannot be compiled")
        IS_FATAL(vyre_device_compile(run.device, run.program, NULL, &pipeline));
        assert_null(pipeline);
        IS_FATAL(vyre_device_dispatch(run.device, run.program, &run.input, 1, NULL, &outputs));
        IS_FATAL(vyre_device_dispatch_owned(run.device, run.program, &owned, 1, NULL, &outputs));
        IS_FATAL(vyre_device_dispatch_timed(run.device, run.program, &run.input, 1, NULL, &outputs,
                                            &timing));
        IS_FATAL(vyre_device_dispatch_into(run.device, run.program, &run.input, 1, NULL, &outputs));
        IS_FATAL(
            vyre_device_dispatch_async(run.device, run.program, &run.input, 1, NULL, &pending));
        IS_FATAL(vyre_device_dispatch_resident(run.device, run.program, bindings, 2, NULL, NULL));
#undef IS_FATAL
    }
    assert_int_equal(mock_count(run.m, MOCK_dispatch), 0);
    assert_int_equal(mock_count(run.m, MOCK_dispatch_async), 0);
    assert_int_equal(mock_count(run.m, MOCK_dispatch_borrowed_async), 0);
    assert_int_equal(mock_count(run.m, MOCK_resident_dispatch_timed), 0);
    /* The device is not concerned. */
    mock_fail_never(run.m, MOCK_compile_native);
    expect_works(run.device);
    end(&run);
}

static void pipeline_S64_shared_forwards_to_native(void **state) {
    (void)state;
    twice_run run;
    start(&run, &(mock_spec){.slots = MOCK_COMPILE});
    vyre_pipeline *pipeline = compile(run.device, run.program);
    assert_int_equal(mock_count(run.m, MOCK_compile_native), 1);
    mock_record last = mock_last(run.m, MOCK_compile_native);
    assert_ptr_equal(last.program, run.program);
    vyre_pipeline_release(pipeline);
    end(&run);

    start(&run, &(mock_spec){.slots = MOCK_COMPILE | MOCK_BIT(compile_native_shared)});
    pipeline = compile(run.device, run.program);
    assert_int_equal(mock_count(run.m, MOCK_compile_native), 0);
    assert_int_equal(mock_count(run.m, MOCK_compile_native_shared), 1);
    assert_ptr_equal(mock_last(run.m, MOCK_compile_native_shared).program, run.program);
    vyre_pipeline_release(pipeline);
    end(&run);

    vyre_backend *adopted;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_COMPILE, .without_artifact = true});
    vyre_backend made = mock_made(m);
    vyre_program *program = contract_program(TWICE);
    vyre_native native = {0};
    expect_ok(vyre_backend_adopt(&made, "mock", &adopted));
    const vyre_compile request = {.program = program};
    expect_ok(adopted->slots->compile_native_shared(adopted, &request, &native));
    assert_ptr_equal(mock_last(m, MOCK_compile_native).program, program);
    vyre_native *own;
    expect_ok(vyre_native_adopt(&native, adopted, &own));
    vyre_native_drop(own);
    vyre_backend_drop(adopted);
    vyre_program_release(program);
    mock_free(m);
}

static void pipeline_S65_snapshot_of_the_backends_cache(void **state) {
    (void)state;
    twice_run run;
    start(&run, &(mock_spec){.slots = MOCK_COMPILE});
    vyre_cache_counts counts;
    expect_works(run.device);
    assert_false(vyre_device_backend_cache(run.device, &counts));
    end(&run);
    start(&run, &(mock_spec){.slots = MOCK_BIT(cache_snapshot)});
    assert_true(vyre_device_backend_cache(run.device, &counts));
    assert_int_equal(counts.hits, 3);
    assert_int_equal(counts.misses, 2);
    assert_int_equal(counts.entries, 1);
    assert_int_equal(counts.bytes, 100);
    end(&run);
}

static vyre_cache_counts counts_of(vyre_device *device) {
    vyre_cache_counts counts;
    vyre_device_cache_counts(device, &counts);
    return counts;
}

static void cache_hits_and_misses(void **state) {
    (void)state;
    twice_run run;
    start(&run, &(mock_spec){.slots = MOCK_COMPILE});
    vyre_outputs outputs;
    for (uint64_t i = 0; i < 4; i++) {
        expect_ok(vyre_device_dispatch(run.device, run.program, &run.input, 1, NULL, &outputs));
        expect_twice(&outputs);
        vyre_cache_counts counts = counts_of(run.device);
        assert_int_equal(counts.misses, 1);
        assert_int_equal(counts.hits, i);
        assert_int_equal(counts.entries, 1);
        assert_true(counts.bytes > 0);
    }
    assert_int_equal(mock_count(run.m, MOCK_compile_native), 1);
    vyre_pipeline *a = compile(run.device, run.program), *b = compile(run.device, run.program);
    assert_ptr_equal(a, b);
    assert_int_equal(counts_of(run.device).hits, 5);
    vyre_pipeline_release(a);
    vyre_pipeline_release(b);
    vyre_pipeline_release(NULL);
    end(&run);
}

static void cache_is_by_meaning(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_COMPILE});
    vyre_device *device = contract_device(m);
    /* Names of locals mean nothing. */
    vyre_program *t = contract_program(TWICE_BY("t")), *u = contract_program(TWICE_BY("u"));
    vyre_pipeline *first = compile(device, t), *second = compile(device, u);
    assert_ptr_equal(first, second);
    assert_int_equal(mock_count(m, MOCK_compile_native), 1);
    vyre_pipeline_release(first);
    vyre_pipeline_release(second);
    vyre_program_release(t);
    vyre_program_release(u);

    /* Anything else does. */
    static const char *const texts[] = {
        TWICE,
        "program twice(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid] * 3; }",
        "program twice(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid] + 2; }",
        "program twice(x: buffer<i32>, y: out buffer<i32>[len(x)]) over x { y[gid] = x[gid] * 2; }",
        "program twice(x: buffer<u32>, y: out buffer<u32>[len(x) + 1]) over x { y[gid] = x[gid] * "
        "2; }",
        "program twice(x: buffer<u32>, y: inout buffer<u32>[len(x)]) over x { y[gid] = x[gid] * 2; "
        "}",
        "program twice(x: buffer<u32>, y: out buffer<u32>[len(x)]) over 1 { y[gid] = x[gid] * 2; }",
        "program twice(x: buffer<u32>, y: out buffer<u32>[len(x)]) deterministic over x { y[gid] = "
        "x[gid] * 2; }",
    };
    enum { TEXTS = sizeof texts / sizeof *texts };
    vyre_pipeline *made[TEXTS];
    mock_forget(m);
    for (size_t i = 0; i < TEXTS; i++) {
        vyre_program *program = contract_program(texts[i]);
        made[i] = compile(device, program);
        vyre_program_release(program);
        for (size_t k = 0; k < i; k++) {
            assert_ptr_not_equal(made[k], made[i]);
        }
    }
    assert_int_equal(mock_count(m, MOCK_compile_native), TEXTS);
    for (size_t i = 0; i < TEXTS; i++) {
        vyre_pipeline_release(made[i]);
    }
    vyre_device_release(device);
    mock_free(m);
}

static vyre_program *numbered(unsigned number) {
    char text[128];
    snprintf(text, sizeof text, "program p(y: out buffer<u32>[1]) over 1 { y[gid] = %u; }", number);
    return contract_program(text);
}

static void cache_drops_the_least_recently_used(void **state) {
    (void)state;
    enum { SIZE = 1 << 20, ROOM = 3 };
    mock *m = mock_create(&(mock_spec){.slots = MOCK_COMPILE | MOCK_BIT(pipeline_size_bytes),
                                       .pipeline_bytes = SIZE});
    vyre_device *device = contract_device(m);
    vyre_device_cache_limit(device, ROOM * SIZE + SIZE / 2);
    vyre_program *programs[ROOM + 1];
    for (unsigned i = 0; i <= ROOM; i++) {
        programs[i] = numbered(i);
    }
    for (unsigned i = 0; i < ROOM; i++) {
        vyre_pipeline_release(compile(device, programs[i]));
    }
    assert_int_equal(counts_of(device).entries, ROOM);
    assert_int_equal(mock_pipelines(m), ROOM);
    vyre_pipeline_release(compile(device, programs[0])); /* now 1 is the oldest */
    assert_int_equal(mock_count(m, MOCK_compile_native), ROOM);
    vyre_pipeline_release(compile(device, programs[ROOM]));
    assert_int_equal(counts_of(device).entries, ROOM);
    assert_true(counts_of(device).bytes <= ROOM * SIZE + SIZE / 2);
    assert_true(counts_of(device).bytes >= (uint64_t)ROOM * SIZE);
    assert_int_equal(mock_pipelines(m), ROOM);
    mock_forget(m);
    vyre_pipeline_release(compile(device, programs[0]));
    vyre_pipeline_release(compile(device, programs[2]));
    vyre_pipeline_release(compile(device, programs[ROOM]));
    assert_int_equal(mock_count(m, MOCK_compile_native), 0);
    vyre_pipeline_release(compile(device, programs[1]));
    assert_int_equal(mock_count(m, MOCK_compile_native), 1);

    /* What somebody holds lives on, and works, though the cache forgot it. */
    vyre_pipeline *held = compile(device, programs[2]);
    vyre_device_cache_limit(device, 0);
    assert_int_equal(counts_of(device).entries, 0);
    assert_int_equal(counts_of(device).bytes, 0);
    assert_int_equal(mock_pipelines(m), 1);
    vyre_outputs outputs;
    expect_ok(vyre_pipeline_dispatch(held, NULL, 0, NULL, &outputs));
    assert_int_equal(outputs.items[0].data[0], 2);
    vyre_outputs_free(&outputs);
    vyre_pipeline_release(held);
    assert_int_equal(mock_pipelines(m), 0);
    expect_works(device);
    assert_int_equal(counts_of(device).entries, 0);
    for (unsigned i = 0; i <= ROOM; i++) {
        vyre_program_release(programs[i]);
    }
    vyre_device_release(device);
    mock_free(m);
}

static void cache_forgets_failures(void **state) {
    (void)state;
    twice_run run;
    start(&run, &(mock_spec){.slots = MOCK_COMPILE});
    vyre_pipeline *pipeline;
    mock_fail(run.m, MOCK_compile_native, 1, VYRE_FAIL_OUT_OF_MEMORY, NULL);
    expect_fail(vyre_device_compile(run.device, run.program, NULL, &pipeline),
                VYRE_STATUS_OUT_OF_MEMORY, "compile_native");
    assert_int_equal(counts_of(run.device).entries, 0);
    vyre_pipeline_release(compile(run.device, run.program));
    assert_int_equal(counts_of(run.device).entries, 1);
    end(&run);
}

static void pipeline_keeps_program_and_device(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_COMPILE | MOCK_BIT(destroy)});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(TWICE);
    vyre_pipeline *pipeline = compile(device, program);
    vyre_program_release(program);
    vyre_device_release(device);
    assert_int_equal(mock_count(m, MOCK_destroy), 0);
    uint32_t x[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    vyre_input input = {x, sizeof x};
    vyre_outputs outputs;
    expect_ok(vyre_pipeline_dispatch(pipeline, &input, 1, NULL, &outputs));
    expect_twice(&outputs);
    assert_string_equal(vyre_program_name(vyre_pipeline_program(pipeline)), "twice");
    assert_ptr_equal(vyre_pipeline_retain(pipeline), pipeline);
    vyre_pipeline_release(pipeline);
    assert_int_equal(mock_count(m, MOCK_destroy), 0);
    vyre_pipeline_release(pipeline);
    assert_int_equal(mock_count(m, MOCK_destroy), 1);
    assert_int_equal(mock_pipelines(m), 0);
    mock_free(m);
}

static void pipeline_table_of_another_abi_is_refused(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){0});
    vyre_backend made = mock_made(m);
    vyre_backend *adopted;
    vyre_native *native;
    expect_ok(vyre_backend_adopt(&made, "mock", &adopted));
    vyre_pipeline_slots table = {VYRE_PIPELINE_HEAD, .dispatch = NULL};
    table.abi++;
    expect_fail(vyre_native_adopt(&(vyre_native){.slots = &table}, adopted, &native),
                VYRE_STATUS_BACKEND, "ABI");
    assert_null(native);
    table.abi--;
    table.struct_size = 4;
    expect_fail(vyre_native_adopt(&(vyre_native){.slots = &table}, adopted, &native),
                VYRE_STATUS_BACKEND, "mock");
    vyre_backend_drop(adopted);
    mock_free(m);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipeline_runs_asynchronously_and_on_resident_buffers),
        cmocka_unit_test(pipeline_S61_passthrough_dispatches_each_time),
        cmocka_unit_test(pipeline_S61_none_for_this_program),
        cmocka_unit_test(pipeline_S62_gives_the_bytes_of_dispatch),
        cmocka_unit_test(pipeline_S62_without_dispatch_gives_the_bytes_too),
        cmocka_unit_test(pipeline_S62_R12_programs_of_one_hash_are_told_apart),
        cmocka_unit_test(grid_sync_S71_is_split_whatever_else_a_backend_has),
        cmocka_unit_test(pipeline_slots_follow_from_its_dispatch),
        cmocka_unit_test(pipeline_is_known_to_the_backends_slots),
        cmocka_unit_test(pipeline_without_dispatch_runs_through_the_backend),
        cmocka_unit_test(pipeline_S63_a_compile_error_is_fatal_on_every_path),
        cmocka_unit_test(pipeline_S64_shared_forwards_to_native),
        cmocka_unit_test(pipeline_S65_snapshot_of_the_backends_cache),
        cmocka_unit_test(cache_hits_and_misses),
        cmocka_unit_test(cache_is_by_meaning),
        cmocka_unit_test(cache_drops_the_least_recently_used),
        cmocka_unit_test(cache_forgets_failures),
        cmocka_unit_test(pipeline_keeps_program_and_device),
        cmocka_unit_test(pipeline_table_of_another_abi_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
