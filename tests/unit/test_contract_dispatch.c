/* The forms of a run: borrowed, owned, timed, into memory of the caller, asynchronous. */
#include <stdatomic.h>
#include <stdio.h>

#include <vyre/allocator.h>
#include <vyre/reference.h>

#include "runtime/device.h"
#include "tests/unit/contract_check.h"

/* Programs that between them have scalars, all kinds of access, several outputs, and none. */
static const char *const programs[] = {
    TWICE,
    "program both(k: u32, x: buffer<u32>, y: inout buffer<u32>, z: out buffer<u16>[len(x)]) over x "
    "{ y[gid] = y[gid] + k * x[gid]; z[gid] = u16(x[gid]); }",
    "program floats(x: buffer<f32>, y: out buffer<f32>[len(x)]) over x { y[gid] = sin(x[gid]) / "
    "3.0; }",
    "program counts(x: buffer<u32>, bins: out buffer<u32>[4]) over x { atomic_add(bins[x[gid] % "
    "4], 1); }",
};

enum { PROGRAMS = sizeof programs / sizeof *programs, MOST_INPUTS = 3 };

/* Inputs of one of them. */
static size_t make_inputs(size_t which, uint32_t values[MOST_INPUTS][CONTRACT_LENGTH],
                          vyre_input inputs[MOST_INPUTS]) {
    for (size_t i = 0; i < MOST_INPUTS; i++) {
        for (uint32_t k = 0; k < CONTRACT_LENGTH; k++) { /* no input could stand for another */
            values[i][k] = (uint32_t)(i + 1) * 100 + k;
        }
        inputs[i] = (vyre_input){values[i], sizeof values[i]};
    }
    if (which == 1) {
        inputs[0].size = sizeof(uint32_t);
        return 3;
    }
    if (which == 2) {
        for (size_t i = 0; i < CONTRACT_LENGTH; i++) {
            float x = (float)i * 0.37f;
            memcpy(&values[0][i], &x, sizeof x);
        }
    }
    return 1;
}

static void expect_same_outputs(const vyre_outputs *found, const vyre_outputs *expected) {
    assert_int_equal(found->count, expected->count);
    for (size_t i = 0; i < found->count; i++) {
        assert_int_equal(found->items[i].size, expected->items[i].size);
        assert_memory_equal(found->items[i].data, expected->items[i].data, found->items[i].size);
    }
}

/* Every form twice, against the reference, with inputs that must not change. */
static void check_forms(vyre_device *device, size_t which) {
    vyre_program *program = contract_program(programs[which]);
    uint32_t values[MOST_INPUTS][CONTRACT_LENGTH], before[MOST_INPUTS][CONTRACT_LENGTH];
    uint32_t owned[MOST_INPUTS][CONTRACT_LENGTH];
    vyre_input inputs[MOST_INPUTS];
    vyre_output given[MOST_INPUTS];
    size_t count = make_inputs(which, values, inputs);
    memcpy(before, values, sizeof values);
    vyre_outputs expected, found, into = {0};
    vyre_timing timing;
    expect_ok(vyre_reference_run(program, inputs, count, NULL, NULL, &expected));
    for (int round = 0; round < 2; round++) {
        expect_ok(vyre_device_dispatch(device, program, inputs, count, NULL, &found));
        expect_same_outputs(&found, &expected);
        vyre_outputs_free(&found);

        memcpy(owned, values, sizeof values);
        for (size_t i = 0; i < count; i++) {
            given[i] = (vyre_output){(uint8_t *)owned[i], inputs[i].size};
        }
        expect_ok(vyre_device_dispatch_owned(device, program, given, count, NULL, &found));
        expect_same_outputs(&found, &expected);
        vyre_outputs_free(&found);

        expect_ok(
            vyre_device_dispatch_timed(device, program, inputs, count, NULL, &found, &timing));
        expect_same_outputs(&found, &expected);
        vyre_outputs_free(&found);

        expect_ok(vyre_device_dispatch_into(device, program, inputs, count, NULL, &into));
        expect_same_outputs(&into, &expected);

        vyre_pending *pending;
        expect_ok(vyre_device_dispatch_async(device, program, inputs, count, NULL, &pending));
        expect_ok(vyre_pending_await(pending, &found));
        expect_same_outputs(&found, &expected);
        vyre_outputs_free(&found);
        vyre_pending_free(pending);
        assert_memory_equal(values, before, sizeof values);
    }
    vyre_outputs_free(&into);
    vyre_outputs_free(&expected);
    vyre_program_release(program);
}

/* With any set of the slots that run, the bytes are the reference's. */
static void dispatch_S47_every_form_gives_the_references_bytes(void **state) {
    (void)state;
    static const mock_slot runs[] = {MOCK_dispatch_borrowed, MOCK_dispatch_borrowed_timed,
                                     MOCK_dispatch_borrowed_into, MOCK_dispatch_borrowed_async};
    for (unsigned mask = 0; mask < 64; mask++) {
        uint64_t slots = (mask & 16 ? MOCK_COMPILE : 0) | (mask & 32 ? MOCK_BIT(features) : 0);
        for (unsigned i = 0; i < 4; i++) {
            slots |= (uint64_t)(mask >> i & 1) << runs[i];
        }
        mock *m = mock_create(
            &(mock_spec){.slots = slots, .mode = MOCK_RUNS_AT_WAIT, .features = CONTRACT_WHOLE});
        vyre_device *device = contract_device(m);
        for (size_t which = 0; which < PROGRAMS; which++) {
            check_forms(device, which);
        }
        vyre_device_release(device);
        assert_int_equal(mock_pipelines(m), 0);
        assert_int_equal(mock_runs(m), 0);
        mock_free(m);
    }
}

typedef struct twice_run {
    mock *m;
    vyre_device *device;
    vyre_program *program;
    uint32_t x[CONTRACT_LENGTH];
    vyre_input input;
} twice_run;

static twice_run start(const mock_spec *spec) {
    twice_run run = {.m = mock_create(spec), .program = contract_program(TWICE)};
    run.device = contract_device(run.m);
    return run;
}

static vyre_input *input_of(twice_run *run) {
    contract_numbers(run->x, CONTRACT_LENGTH);
    run->input = (vyre_input){run->x, sizeof run->x};
    return &run->input;
}

static void end(twice_run *run) {
    vyre_program_release(run->program);
    vyre_device_release(run->device);
    mock_free(run->m);
}

static void dispatch_S54_failures_have_a_fix(void **state) {
    (void)state;
    twice_run run = start(&(mock_spec){0});
    vyre_outputs outputs;
    mock_fail(run.m, MOCK_dispatch, 1, VYRE_FAIL_BACKEND, "no advice in this text");
    expect_fail(vyre_device_dispatch(run.device, run.program, input_of(&run), 1, NULL, &outputs),
                VYRE_STATUS_BACKEND, "no advice in this text");
    assert_int_equal(outputs.count, 0);
    assert_null(outputs.items);
    mock_fail(run.m, MOCK_dispatch, 1, VYRE_FAIL_LIMIT, "broken. Fix: mend it");
    vyre_status status =
        vyre_device_dispatch(run.device, run.program, input_of(&run), 1, NULL, &outputs);
    const char *text = vyre_status_text(status), *fix = strstr(text, "Fix: ");
    assert_non_null(fix);
    assert_non_null(strstr(text, "mend it"));
    assert_null(strstr(fix + 1, "Fix: "));
    vyre_status_free(status);
    expect_works(run.device);
    end(&run);
}

/* An allocator that adds up what is asked of it. */
static size_t allocated;

static void *count_resize(void *user, void *memory, size_t size) {
    (void)user;
    allocated += size;
    return realloc(memory, size);
}

static void count_free(void *user, void *memory) {
    (void)user;
    free(memory);
}

static void dispatch_S55_borrowed_copies_once_and_calls_once(void **state) {
    (void)state;
    enum { BYTES = 1 << 20 };
    /* The reference backend allocates, too: so a backend that does not. */
    mock *m = mock_create(&(mock_spec){.null = true});
    mock_table(m)->dispatch_borrowed = NULL;
    mock_table(m)->compile_native = NULL;
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(
        "program few(x: buffer<u8>, y: out buffer<u8>[1]) over 1 { y[0] = x[0]; }");
    vyre_input input = {calloc(BYTES, 1), BYTES};
    vyre_outputs outputs;
    expect_ok(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs));
    vyre_outputs_free(&outputs);
    const vyre_allocator counting = {count_resize, count_free, NULL};
    allocated = 0;
    vyre_allocator_set(&counting);
    expect_ok(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs));
    vyre_outputs_free(&outputs);
    vyre_allocator_set(NULL);
    assert_in_range(allocated, BYTES, BYTES + 4096);
    free((void *)(uintptr_t)input.data);
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

static void dispatch_S55_borrowed_passes_an_aligned_copy(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){0});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(SUM);
    _Alignas(16) uint8_t memory[2][CONTRACT_LENGTH * sizeof(uint32_t) + 1];
    vyre_input inputs[2];
    for (size_t i = 0; i < 2; i++) {
        uint32_t numbers[CONTRACT_LENGTH];
        contract_numbers(numbers, CONTRACT_LENGTH);
        memcpy(memory[i] + 1, numbers, sizeof numbers);
        inputs[i] = (vyre_input){memory[i] + 1, sizeof numbers};
    }
    vyre_outputs outputs;
    expect_ok(vyre_device_dispatch(device, program, inputs, 2, NULL, &outputs));
    expect_twice(&outputs);
    assert_int_equal(mock_count(m, MOCK_dispatch), 1);
    mock_record last = mock_last(m, MOCK_dispatch);
    assert_true(last.aligned);
    assert_int_equal(last.input_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_ptr_not_equal(last.inputs[i].data, inputs[i].data);
        assert_int_equal(last.inputs[i].size, inputs[i].size);
    }
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

static void dispatch_S55_borrowed_of_the_backend_gets_the_callers_memory(void **state) {
    (void)state;
    twice_run run = start(&(mock_spec){.slots = MOCK_BIT(dispatch_borrowed)});
    vyre_outputs outputs;
    expect_ok(vyre_device_dispatch(run.device, run.program, input_of(&run), 1, NULL, &outputs));
    expect_twice(&outputs);
    assert_int_equal(mock_count(run.m, MOCK_dispatch_borrowed), 1);
    assert_int_equal(mock_count(run.m, MOCK_dispatch), 0);
    assert_ptr_equal(mock_last(run.m, MOCK_dispatch_borrowed).inputs[0].data, run.x);
    end(&run);
}

static void dispatch_owned_saves_the_copy(void **state) {
    (void)state;
    twice_run run = start(&(mock_spec){0});
    _Alignas(16) uint32_t x[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    vyre_output owned = {(uint8_t *)x, sizeof x};
    vyre_outputs outputs;
    expect_ok(vyre_device_dispatch_owned(run.device, run.program, &owned, 1, NULL, &outputs));
    expect_twice(&outputs);
    assert_int_equal(mock_count(run.m, MOCK_dispatch), 1);
    assert_ptr_equal(mock_last(run.m, MOCK_dispatch).inputs[0].data, x);
    end(&run);
}

static void dispatch_S56_timed_has_wall_time_alone(void **state) {
    (void)state;
    twice_run run = start(&(mock_spec){0});
    mock_delay(run.m, MOCK_dispatch, 2000000);
    vyre_outputs outputs;
    vyre_timing timing = {0};
    expect_ok(vyre_device_dispatch_timed(run.device, run.program, input_of(&run), 1, NULL, &outputs,
                                         &timing));
    expect_twice(&outputs);
    assert_in_range(timing.wall_ns, 2000000, UINT64_C(60000000000));
    assert_true(timing.device_ns == VYRE_NO_TIME);
    assert_true(timing.enqueue_ns == VYRE_NO_TIME);
    assert_true(timing.wait_ns == VYRE_NO_TIME);
    assert_int_equal(mock_count(run.m, MOCK_dispatch), 1);
    end(&run);
}

static void dispatch_S56_timed_goes_through_borrowed(void **state) {
    (void)state;
    twice_run run = start(&(mock_spec){.slots = MOCK_BIT(dispatch_borrowed)});
    vyre_outputs outputs;
    vyre_timing timing;
    expect_ok(vyre_device_dispatch_timed(run.device, run.program, input_of(&run), 1, NULL, &outputs,
                                         &timing));
    expect_twice(&outputs);
    assert_int_equal(mock_count(run.m, MOCK_dispatch_borrowed), 1);
    assert_true(timing.device_ns == VYRE_NO_TIME);
    end(&run);
    run = start(&(mock_spec){.slots = MOCK_BIT(dispatch_borrowed_timed)});
    expect_ok(vyre_device_dispatch_timed(run.device, run.program, input_of(&run), 1, NULL, &outputs,
                                         &timing));
    expect_twice(&outputs);
    assert_int_equal(timing.wall_ns, 1000);
    assert_int_equal(timing.device_ns, 700);
    assert_int_equal(timing.enqueue_ns, 200);
    assert_int_equal(timing.wait_ns, 100);
    end(&run);
}

/* Outputs of the caller's making, from the allocator that the library frees with. */
static vyre_outputs make_outputs(size_t size) {
    const vyre_host *host = vyre_host_services();
    vyre_outputs outputs = {host->alloc(sizeof *outputs.items), 1};
    outputs.items[0] = (vyre_output){host->alloc(size), size};
    memset(outputs.items[0].data, 0x77, size);
    return outputs;
}

static void check_untouched(const vyre_outputs *outputs, const vyre_outputs *before,
                            const uint8_t *data, size_t size) {
    assert_ptr_equal(outputs->items, before->items);
    assert_int_equal(outputs->count, before->count);
    assert_ptr_equal(outputs->items[0].data, data);
    assert_int_equal(outputs->items[0].size, size);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(data[i], 0x77);
    }
}

static void dispatch_S57_into_leaves_outputs_alone_on_failure(void **state) {
    (void)state;
    const uint64_t variants[] = {0, MOCK_BIT(dispatch_borrowed), MOCK_COMPILE,
                                 MOCK_COMPILE | MOCK_BIT(pipeline_dispatch_borrowed)};
    const size_t sizes[] = {CONTRACT_LENGTH * sizeof(uint32_t), 5};
    for (size_t i = 0; i < 8; i++) {
        twice_run run = start(&(mock_spec){.slots = variants[i / 2]});
        size_t size = sizes[i % 2];
        vyre_outputs outputs = make_outputs(size), before = outputs;
        uint8_t *data = outputs.items[0].data;
        const mock_slot slots[] = {MOCK_dispatch, MOCK_dispatch_borrowed, MOCK_pipeline_dispatch,
                                   MOCK_pipeline_dispatch_borrowed};
        mock_fail(run.m, slots[i / 2], 1, VYRE_FAIL_BACKEND, NULL);
        expect_fail(
            vyre_device_dispatch_into(run.device, run.program, input_of(&run), 1, NULL, &outputs),
            VYRE_STATUS_BACKEND, "dispatch");
        check_untouched(&outputs, &before, data, size);
        vyre_input odd = {run.x, 3};
        expect_fail(vyre_device_dispatch_into(run.device, run.program, &odd, 1, NULL, &outputs),
                    VYRE_STATUS_INVALID_ARGUMENT, "`x`");
        check_untouched(&outputs, &before, data, size);
        expect_ok(
            vyre_device_dispatch_into(run.device, run.program, input_of(&run), 1, NULL, &outputs));
        if (i % 2 == 0) {
            assert_ptr_equal(outputs.items[0].data, data);
        }
        expect_twice(&outputs);
        end(&run);
    }
}

/* Whether the sizes fit or not, memory that the run reads is not written, nor any twice. */
static void dispatch_into_refuses_outputs_that_overlap(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_BIT(dispatch_borrowed_into)});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(
        "program two(x: buffer<u32>, y: out buffer<u32>[len(x)], z: out buffer<u32>[len(x)]) "
        "over x { y[gid] = x[gid]; z[gid] = x[gid] * 2; }");
    enum { LENGTH = 4 };
    uint32_t memory[4 * LENGTH];
    contract_numbers(memory, 4 * LENGTH);
    uint8_t *base = (uint8_t *)memory;
    const size_t size = LENGTH * sizeof *memory;
    const vyre_input input = {base + size, size};
    static const struct {
        size_t y, z; /* where they begin */
        size_t z_size;
        const char *reason;
    } cases[] = {
        {0, 32, 16, NULL},
        {48, 32, 16, NULL},
        {16, 32, 16, "output 0 overlaps an input"},
        {1, 32, 16, "output 0 overlaps an input"},
        {31, 48, 16, "output 0 overlaps an input"},
        {32, 8, 16, "output 1 overlaps an input"},
        {32, 47, 16, "output 1 overlaps another"},
        {32, 32, 16, "output 1 overlaps another"},
        {0, 32, 8, "output 1 overlaps another"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vyre_output items[] = {{base + cases[i].y, size}, {base + cases[i].z, cases[i].z_size}};
        if (cases[i].z_size != size) { /* too small for the result, and on top of the other */
            items[1].data = items[0].data;
        }
        vyre_outputs outputs = {items, 2};
        mock_forget(m);
        vyre_status status = vyre_device_dispatch_into(device, program, &input, 1, NULL, &outputs);
        if (cases[i].reason) {
            expect_fail(status, VYRE_STATUS_INVALID_ARGUMENT, cases[i].reason);
        } else {
            expect_ok(status);
        }
        assert_int_equal(mock_count(m, MOCK_dispatch_borrowed_into), !cases[i].reason);
        assert_ptr_equal(outputs.items, items);
    }
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

static vyre_status start_nothing(const vyre_backend *backend, const vyre_call *call,
                                 vyre_output *outputs, vyre_pending_run *out_run) {
    static const vyre_run_slots cut = {.struct_size = 8, .abi = VYRE_ABI};
    (void)backend, (void)call, (void)outputs;
    out_run->slots = &cut;
    return NULL;
}

static void async_run_without_a_table_is_refused(void **state) {
    (void)state;
    twice_run run = start(&(mock_spec){0});
    vyre_device_release(run.device);
    mock_table(run.m)->dispatch_borrowed_async = start_nothing;
    run.device = contract_device(run.m);
    vyre_pending *pending;
    expect_fail(
        vyre_device_dispatch_async(run.device, run.program, input_of(&run), 1, NULL, &pending),
        VYRE_STATUS_BACKEND, "table of a run");
    assert_null(pending);
    end(&run);
}

static void dispatch_S57_into_replaces_what_was_there(void **state) {
    (void)state;
    twice_run run = start(&(mock_spec){.slots = MOCK_BIT(dispatch_borrowed_into)});
    vyre_outputs outputs = {0};
    expect_ok(
        vyre_device_dispatch_into(run.device, run.program, input_of(&run), 1, NULL, &outputs));
    uint8_t *data = outputs.items[0].data;
    memset(data, 0, outputs.items[0].size);
    expect_ok(
        vyre_device_dispatch_into(run.device, run.program, input_of(&run), 1, NULL, &outputs));
    assert_ptr_equal(outputs.items[0].data, data);
    assert_ptr_equal(mock_last(run.m, MOCK_dispatch_borrowed_into).outputs[0].data, data);
    expect_twice(&outputs);

    /* Memory of any alignment, which the caller keeps. */
    uint8_t memory[CONTRACT_LENGTH * sizeof(uint32_t) + 1];
    vyre_output item = {memory + 1, sizeof memory - 1};
    vyre_outputs own = {&item, 1};
    expect_ok(vyre_device_dispatch_into(run.device, run.program, input_of(&run), 1, NULL, &own));
    assert_ptr_equal(own.items, &item);
    expect_numbers(memory + 1, CONTRACT_LENGTH, 2);
    end(&run);
}

/* What a backend may do to the list that it is given. */
enum { LARGER, SMALLER, ELSEWHERE };
static int damage;

static vyre_status damaging_dispatch(const vyre_backend *backend, const vyre_call *call,
                                     vyre_output *outputs) {
    static uint8_t elsewhere[256];
    (void)backend, (void)call;
    outputs[0].size = damage == LARGER ? SIZE_MAX / 2 : damage == SMALLER ? 1 : outputs[0].size;
    outputs[0].data = damage == ELSEWHERE ? elsewhere : outputs[0].data;
    return VYRE_OK;
}

/* Sizes and places of outputs are the host's: nothing is read or freed by what a backend says. */
static void outputs_that_a_backend_changes_are_refused(void **state) {
    (void)state;
    vyre_program *program = contract_program(TWICE);
    uint32_t x[CONTRACT_LENGTH] = {0};
    const vyre_input input = {x, sizeof x};
    static const char said[] = "changed the place or the size of output 0";
    for (int kind = LARGER; kind <= ELSEWHERE; kind++) {
        damage = kind;
        mock *m = mock_create(&(mock_spec){0});
        mock_table(m)->dispatch = damaging_dispatch;
        vyre_device *device = contract_device(m);
        vyre_outputs outputs, into = {0};
        vyre_timing timing;
        vyre_pending *pending;
        expect_fail(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs),
                    VYRE_STATUS_BACKEND, said);
        expect_fail(vyre_device_dispatch_timed(device, program, &input, 1, NULL, &outputs, &timing),
                    VYRE_STATUS_BACKEND, said);
        uint8_t own[sizeof x] = {0};
        vyre_output item = {own, sizeof own};
        into = (vyre_outputs){&item, 1};
        expect_fail(vyre_device_dispatch_into(device, program, &input, 1, NULL, &into),
                    VYRE_STATUS_BACKEND, said);
        assert_ptr_equal(item.data, own);
        assert_int_equal(item.size, sizeof own);
        expect_ok(vyre_device_dispatch_async(device, program, &input, 1, NULL, &pending));
        expect_fail(vyre_pending_await(pending, &outputs), VYRE_STATUS_BACKEND, said);
        vyre_pending_free(pending);
        vyre_device_release(device);
        mock_free(m);
    }
    vyre_program_release(program);
}

static vyre_status silent_dispatch(const vyre_backend *backend, const vyre_call *call,
                                   vyre_output *outputs) {
    (void)call, (void)outputs;
    backend->host->log(0, NULL);
    return backend->host->status_make(VYRE_FAIL_BACKEND, NULL, NULL);
}

static void failures_without_a_message_have_one(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){0});
    mock_table(m)->dispatch = silent_dispatch;
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(TWICE);
    uint32_t x[CONTRACT_LENGTH] = {0};
    const vyre_input input = {x, sizeof x};
    vyre_outputs outputs;
    expect_fail(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs),
                VYRE_STATUS_BACKEND, "gave no message");
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

static void async_S66_default_is_ready_and_gives_outputs_once(void **state) {
    (void)state;
    twice_run run = start(&(mock_spec){0});
    vyre_pending *pending;
    vyre_outputs outputs;
    expect_ok(
        vyre_device_dispatch_async(run.device, run.program, input_of(&run), 1, NULL, &pending));
    assert_int_equal(mock_count(run.m, MOCK_dispatch), 1);
    assert_true(vyre_pending_is_ready(pending));
    expect_ok(vyre_pending_await(pending, &outputs));
    expect_twice(&outputs);
    expect_fail(vyre_pending_await(pending, &outputs), VYRE_STATUS_INVALID_ARGUMENT,
                "already awaited");
    assert_int_equal(outputs.count, 0);
    assert_true(vyre_pending_is_ready(pending));
    vyre_pending_free(pending);
    vyre_pending_free(NULL);
    assert_int_equal(mock_count(run.m, MOCK_dispatch), 1);

    vyre_backend made = mock_made(run.m);
    vyre_backend *adopted;
    expect_ok(vyre_backend_adopt(&made, "mock", &adopted));
    const vyre_dispatch_config config = {0};
    uint32_t y[CONTRACT_LENGTH];
    vyre_output output = {(uint8_t *)y, sizeof y};
    vyre_call call = {.program = run.program,
                      .config = &config,
                      .inputs = input_of(&run),
                      .input_count = 1,
                      .output_count = 1};
    vyre_pending_run ready;
    mock_forget(run.m);
    expect_ok(adopted->slots->dispatch_async(adopted, &call, &output, &ready));
    assert_int_equal(mock_count(run.m, MOCK_dispatch), 1);
    assert_ptr_equal(mock_last(run.m, MOCK_dispatch).inputs[0].data, run.x);
    assert_true(ready.slots->is_ready(ready.state));
    expect_ok(ready.slots->wait(ready.state));
    expect_numbers(y, CONTRACT_LENGTH, 2);
    ready.slots->free(ready.state);
    vyre_backend_drop(adopted);
    end(&run);
}

/* The inputs go to the backend as they are, which may overwrite them. */
static void async_S66_owned_default_is_ready_and_saves_the_copy(void **state) {
    (void)state;
    twice_run run = start(&(mock_spec){0});
    vyre_pending *pending;
    vyre_outputs outputs;
    const vyre_output owned = {(uint8_t *)run.x, input_of(&run)->size};
    expect_ok(vyre_device_dispatch_owned_async(run.device, run.program, &owned, 1, NULL, &pending));
    assert_int_equal(mock_count(run.m, MOCK_dispatch), 1);
    assert_ptr_equal(mock_last(run.m, MOCK_dispatch).inputs[0].data, run.x);
    assert_true(vyre_pending_is_ready(pending));
    expect_ok(vyre_pending_await(pending, &outputs));
    expect_twice(&outputs);
    vyre_pending_free(pending);
    end(&run);

    run = start(&(mock_spec){.slots = MOCK_ASYNC, .mode = MOCK_RUNS_AT_WAIT});
    const vyre_output kept = {(uint8_t *)run.x, input_of(&run)->size};
    expect_ok(vyre_device_dispatch_owned_async(run.device, run.program, &kept, 1, NULL, &pending));
    assert_int_equal(mock_count(run.m, MOCK_dispatch_async), 1);
    assert_false(vyre_pending_is_ready(pending));
    expect_ok(vyre_pending_await(pending, &outputs));
    expect_twice(&outputs);
    vyre_pending_free(pending);
    end(&run);
}

static void async_S67_errors_of_starting_and_of_running(void **state) {
    (void)state;
    twice_run run = start(&(mock_spec){0});
    vyre_pending *pending;
    vyre_outputs outputs;
    mock_fail(run.m, MOCK_dispatch, 1, VYRE_FAIL_BACKEND, NULL);
    expect_fail(
        vyre_device_dispatch_async(run.device, run.program, input_of(&run), 1, NULL, &pending),
        VYRE_STATUS_BACKEND, "dispatch failed");
    assert_null(pending);
    vyre_input odd = {run.x, 3};
    expect_fail(vyre_device_dispatch_async(run.device, run.program, &odd, 1, NULL, &pending),
                VYRE_STATUS_INVALID_ARGUMENT, "`x`");
    assert_null(pending);
    end(&run);

    run = start(&(mock_spec){.slots = MOCK_ASYNC, .mode = MOCK_RUNS_AT_WAIT});
    mock_fail(run.m, MOCK_dispatch_borrowed_async, 1, VYRE_FAIL_BACKEND, NULL);
    expect_fail(
        vyre_device_dispatch_async(run.device, run.program, input_of(&run), 1, NULL, &pending),
        VYRE_STATUS_BACKEND, "async failed");
    assert_null(pending);
    mock_fail(run.m, MOCK_execution, 1, VYRE_FAIL_BACKEND, NULL);
    expect_ok(vyre_device_dispatch_async(run.device, run.program, input_of(&run), 1,
                                         &(vyre_dispatch_config){.label = "the sixth run"},
                                         &pending));
    assert_false(vyre_pending_is_ready(pending));
    vyre_status status = vyre_pending_await(pending, &outputs);
    assert_non_null(strstr(vyre_status_text(status), "the sixth run"));
    expect_fail(status, VYRE_STATUS_BACKEND, "execution failed");
    assert_int_equal(outputs.count, 0);
    assert_true(vyre_pending_is_ready(pending));
    vyre_pending_free(pending);
    assert_int_equal(mock_runs(run.m), 0);
    end(&run);
}

static void async_S68_inputs_are_gone_when_it_returns(void **state) {
    (void)state;
    const uint64_t variants[] = {0, MOCK_BIT(dispatch_borrowed), MOCK_ASYNC};
    for (size_t i = 0; i < 3; i++) {
        twice_run run = start(&(mock_spec){.slots = variants[i], .mode = MOCK_RUNS_AT_WAIT});
        uint32_t *x = malloc(sizeof run.x);
        contract_numbers(x, CONTRACT_LENGTH);
        vyre_input *input = malloc(sizeof *input);
        *input = (vyre_input){x, sizeof run.x};
        char *label = strdup("gone, too");
        vyre_dispatch_config *config = calloc(1, sizeof *config);
        config->label = label;
        vyre_pending *pending;
        vyre_outputs outputs;
        expect_ok(vyre_device_dispatch_async(run.device, run.program, input, 1, config, &pending));
        memset(x, 0xff, sizeof run.x);
        free(x);
        free(input);
        free(label);
        free(config);
        if (i == 1) {
            assert_int_equal(mock_count(run.m, MOCK_dispatch_borrowed), 1);
            assert_int_equal(mock_count(run.m, MOCK_dispatch), 0);
        } else if (i == 2) {
            assert_int_equal(mock_count(run.m, MOCK_dispatch_borrowed_async), 1);
            assert_false(vyre_pending_is_ready(pending));
            mock_run_queue(run.m);
            assert_true(vyre_pending_is_ready(pending));
        }
        expect_ok(vyre_pending_await(pending, &outputs));
        expect_twice(&outputs);
        vyre_pending_free(pending);
        end(&run);
    }
}

static void async_ends_without_being_waited_for(void **state) {
    (void)state;
    for (int mode = MOCK_RUNS_AT_ONCE; mode <= MOCK_RUNS_ON_THREAD; mode++) {
        twice_run run = start(&(mock_spec){.slots = MOCK_ASYNC, .mode = (mock_mode)mode});
        vyre_pending *pending[3];
        for (int i = 0; i < 3; i++) {
            expect_ok(vyre_device_dispatch_async(run.device, run.program, input_of(&run), 1, NULL,
                                                 &pending[i]));
        }
        vyre_pending_free(pending[1]);
        vyre_outputs outputs;
        expect_ok(vyre_pending_await(pending[2], &outputs));
        expect_twice(&outputs);
        vyre_pending_free(pending[2]);
        vyre_pending_free(pending[0]);
        assert_int_equal(mock_runs(run.m), 0);
        end(&run);
    }
}

/* A run that goes on keeps its device. */
static void async_outlives_the_callers_device(void **state) {
    (void)state;
    mock *m = mock_create(
        &(mock_spec){.slots = MOCK_ASYNC | MOCK_BIT(destroy), .mode = MOCK_RUNS_AT_WAIT});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(TWICE);
    uint32_t x[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    vyre_input input = {x, sizeof x};
    vyre_pending *pending;
    vyre_outputs outputs;
    expect_ok(vyre_device_dispatch_async(device, program, &input, 1, NULL, &pending));
    vyre_program_release(program);
    vyre_device_release(device);
    assert_int_equal(mock_count(m, MOCK_destroy), 0);
    expect_ok(vyre_pending_await(pending, &outputs));
    expect_twice(&outputs);
    vyre_pending_free(pending);
    assert_int_equal(mock_count(m, MOCK_destroy), 1);
    mock_free(m);
}

static void dispatch_wrong_inputs_never_reach_the_backend(void **state) {
    (void)state;
    twice_run run = start(&(mock_spec){0});
    vyre_outputs outputs;
    vyre_input *input = input_of(&run);
    vyre_input two[2] = {*input, *input};
    expect_fail(vyre_device_dispatch(run.device, run.program, input, 0, NULL, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "1 input");
    expect_fail(vyre_device_dispatch(run.device, run.program, two, 2, NULL, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "1 input");
    input->size = 7;
    expect_fail(vyre_device_dispatch(run.device, run.program, input, 1, NULL, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "`x`");
    assert_int_equal(mock_count(run.m, MOCK_dispatch), 0);
    end(&run);
}

static void dispatch_of_nothing(void **state) {
    (void)state;
    twice_run run = start(&(mock_spec){0});
    vyre_input none = {NULL, 0};
    vyre_outputs outputs;
    expect_ok(vyre_device_dispatch(run.device, run.program, &none, 1, NULL, &outputs));
    assert_int_equal(outputs.count, 1);
    assert_int_equal(outputs.items[0].size, 0);
    vyre_outputs_free(&outputs);
    vyre_pending *pending;
    expect_ok(vyre_device_dispatch_async(run.device, run.program, &none, 1, NULL, &pending));
    vyre_pending_free(pending);
    end(&run);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dispatch_S47_every_form_gives_the_references_bytes),
        cmocka_unit_test(dispatch_S54_failures_have_a_fix),
        cmocka_unit_test(dispatch_S55_borrowed_copies_once_and_calls_once),
        cmocka_unit_test(dispatch_S55_borrowed_passes_an_aligned_copy),
        cmocka_unit_test(dispatch_S55_borrowed_of_the_backend_gets_the_callers_memory),
        cmocka_unit_test(dispatch_owned_saves_the_copy),
        cmocka_unit_test(dispatch_S56_timed_has_wall_time_alone),
        cmocka_unit_test(dispatch_S56_timed_goes_through_borrowed),
        cmocka_unit_test(dispatch_S57_into_leaves_outputs_alone_on_failure),
        cmocka_unit_test(dispatch_S57_into_replaces_what_was_there),
        cmocka_unit_test(dispatch_into_refuses_outputs_that_overlap),
        cmocka_unit_test(async_run_without_a_table_is_refused),
        cmocka_unit_test(outputs_that_a_backend_changes_are_refused),
        cmocka_unit_test(failures_without_a_message_have_one),
        cmocka_unit_test(async_S66_default_is_ready_and_gives_outputs_once),
        cmocka_unit_test(async_S66_owned_default_is_ready_and_saves_the_copy),
        cmocka_unit_test(async_S67_errors_of_starting_and_of_running),
        cmocka_unit_test(async_S68_inputs_are_gone_when_it_returns),
        cmocka_unit_test(async_ends_without_being_waited_for),
        cmocka_unit_test(async_outlives_the_callers_device),
        cmocka_unit_test(dispatch_wrong_inputs_never_reach_the_backend),
        cmocka_unit_test(dispatch_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
