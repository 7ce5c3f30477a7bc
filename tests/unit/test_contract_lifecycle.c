/* From the first prepare to the end: flush, shutdown, loss and recovery of a device. */
#include <pthread.h>
#include <time.h>

#include "runtime/device.h"
#include "tests/unit/contract_check.h"

static const uint64_t all_runs = MOCK_RESIDENT | MOCK_QUEUE | MOCK_COMPILE | MOCK_ASYNC;

static void lifecycle_S77_defaults_succeed_without_effect(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){0});
    vyre_device *device = contract_device(m);
    mock_forget(m);
    for (int i = 0; i < 2; i++) {
        expect_ok(vyre_device_prepare(device));
        expect_ok(vyre_device_flush(device));
    }
    assert_int_equal(mock_count(m, MOCK_dispatch), 0);
    expect_works(device);
    expect_ok(vyre_device_shutdown(device));
    vyre_device_release(device);

    vyre_backend made = mock_made(m);
    vyre_backend *adopted;
    expect_ok(vyre_backend_adopt(&made, "mock", &adopted));
    expect_ok(adopted->slots->prepare(adopted));
    expect_ok(adopted->slots->flush(adopted));
    expect_ok(adopted->slots->shutdown(adopted));
    vyre_backend_drop(adopted);
    mock_free(m);
}

static void lifecycle_prepare_comes_before_the_first_run(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_BIT(prepare)});
    vyre_device *device = contract_device(m);
    assert_int_equal(mock_count(m, MOCK_prepare), 0);
    expect_works(device);
    assert_int_equal(mock_count(m, MOCK_prepare), 1);
    assert_true(mock_last(m, MOCK_prepare).number < mock_last(m, MOCK_dispatch).number);
    expect_works(device);
    assert_int_equal(mock_count(m, MOCK_prepare), 1);
    vyre_device_release(device);

    device = contract_device(m);
    mock_forget(m);
    mock_fail(m, MOCK_prepare, 1, VYRE_FAIL_BACKEND, NULL);
    expect_fail(vyre_device_prepare(device), VYRE_STATUS_BACKEND, "prepare failed");
    mock_fail(m, MOCK_prepare, 1, VYRE_FAIL_BACKEND, NULL);
    vyre_resident resident;
    expect_fail(vyre_resident_allocate(device, 4, &resident), VYRE_STATUS_BACKEND,
                "prepare failed");
    expect_works(device);
    assert_int_equal(mock_count(m, MOCK_prepare), 3);
    vyre_device_release(device);
    mock_free(m);
}

/* A program whose run is refused once the device is shut down, in every form. */
static void lifecycle_S78_nothing_runs_after_shutdown(void **state) {
    (void)state;
    mock *m = mock_create(
        &(mock_spec){.slots = all_runs | MOCK_LOSS | MOCK_BIT(prepare) | MOCK_BIT(shutdown)});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(TWICE);
    uint32_t numbers[CONTRACT_LENGTH];
    contract_numbers(numbers, CONTRACT_LENGTH);
    vyre_input input = {numbers, sizeof numbers};
    vyre_output owned = {(uint8_t *)numbers, sizeof numbers};
    vyre_pipeline *pipeline, *late;
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1), z;
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    vyre_outputs outputs = {0};
    vyre_timing timing;
    vyre_pending *pending;
    vyre_ticket ticket, before;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &before));
    expect_ok(vyre_device_shutdown(device));
    assert_int_equal(mock_count(m, MOCK_shutdown), 1);
    assert_int_equal(mock_residents(m), 0);
    mock_forget(m);
#define IS_OVER(call) expect_fail(call, VYRE_STATUS_INVALID_ARGUMENT, "shut down")
    IS_OVER(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs));
    IS_OVER(vyre_device_dispatch_owned(device, program, &owned, 1, NULL, &outputs));
    IS_OVER(vyre_device_dispatch_timed(device, program, &input, 1, NULL, &outputs, &timing));
    IS_OVER(vyre_device_dispatch_into(device, program, &input, 1, NULL, &outputs));
    IS_OVER(vyre_device_dispatch_async(device, program, &input, 1, NULL, &pending));
    IS_OVER(vyre_device_dispatch_resident(device, program, bindings, 2, NULL, NULL));
    IS_OVER(vyre_device_compile(device, program, NULL, &late));
    IS_OVER(vyre_pipeline_dispatch(pipeline, &input, 1, NULL, &outputs));
    IS_OVER(vyre_pipeline_dispatch_owned(pipeline, &owned, 1, NULL, &outputs));
    IS_OVER(vyre_pipeline_dispatch_timed(pipeline, &input, 1, NULL, &outputs, &timing));
    IS_OVER(vyre_pipeline_dispatch_into(pipeline, &input, 1, NULL, &outputs));
    IS_OVER(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket));
    IS_OVER(vyre_resident_allocate(device, 4, &z));
    IS_OVER(vyre_resident_upload(device, x, numbers, sizeof numbers));
    IS_OVER(vyre_resident_read(device, x, 0, numbers, sizeof numbers));
    IS_OVER(vyre_resident_free(device, x));
    IS_OVER(vyre_device_prepare(device));
    IS_OVER(vyre_device_flush(device));
    IS_OVER(vyre_device_recover(device));
#undef IS_OVER
    /* Work of before was done before, which can still be asked; again is no error. */
    assert_true(vyre_device_is_done(device, before));
    expect_ok(vyre_device_wait(device, before));
    (void)vyre_device_lost(device);
    expect_ok(vyre_device_shutdown(device));
    for (int slot = MOCK_dispatch; slot < MOCK_SLOT_COUNT; slot++) {
        if (slot != MOCK_pipeline_destroy) {
            if (mock_count(m, (mock_slot)slot)) {
                fail_msg("%s was called after shutdown", mock_slot_name((mock_slot)slot));
            }
        }
    }
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    assert_int_equal(mock_count(m, MOCK_shutdown), 0);
    assert_int_equal(mock_pipelines(m), 0);
    mock_free(m);
}

static void lifecycle_S78_shutdown_waits_for_work(void **state) {
    (void)state;
    mock *m = mock_create(
        &(mock_spec){.slots = all_runs | MOCK_BIT(shutdown), .mode = MOCK_RUNS_AT_WAIT});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(TWICE);
    vyre_pipeline *pipeline;
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, NULL));
    vyre_pipeline_release(pipeline);
    expect_ok(vyre_device_shutdown(device));
    assert_int_equal(mock_count(m, MOCK_execution), 1);
    assert_true(mock_last(m, MOCK_execution).number < mock_last(m, MOCK_shutdown).number);
    assert_true(mock_last(m, MOCK_pipeline_destroy).number < mock_last(m, MOCK_shutdown).number);
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

static void lifecycle_shutdown_that_fails_is_over_too(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_BIT(shutdown) | MOCK_BIT(flush)});
    static const mock_slot slots[] = {MOCK_shutdown, MOCK_flush};
    for (size_t i = 0; i < 2; i++) {
        vyre_device *device = contract_device(m);
        mock_forget(m);
        mock_fail(m, slots[i], 1, VYRE_FAIL_BACKEND, NULL);
        expect_fail(vyre_device_shutdown(device), VYRE_STATUS_BACKEND, mock_slot_name(slots[i]));
        assert_int_equal(mock_count(m, MOCK_shutdown), 1);
        expect_fail(vyre_device_prepare(device), VYRE_STATUS_INVALID_ARGUMENT, "shut down");
        vyre_device_release(device);
        assert_int_equal(mock_count(m, MOCK_shutdown), 1);
    }
    mock_free(m);
}

static void lifecycle_flush_waits(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = all_runs, .mode = MOCK_RUNS_AT_WAIT});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(TWICE);
    vyre_pipeline *pipeline;
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    vyre_ticket ticket;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket));
    assert_false(vyre_device_is_done(device, ticket));
    expect_ok(vyre_device_flush(device));
    assert_true(vyre_device_is_done(device, ticket));
    mock_fail(m, MOCK_flush, 1, VYRE_FAIL_BACKEND, NULL);
    expect_fail(vyre_device_flush(device), VYRE_STATUS_BACKEND, "flush failed");
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

static void lifecycle_S79_not_lost_by_default(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){0});
    vyre_device *device = contract_device(m);
    assert_false(vyre_device_lost(device));
    mock_lose(m);
    assert_false(vyre_device_lost(device));
    vyre_device_release(device);
    mock_free(m);
    m = mock_create(&(mock_spec){.slots = MOCK_BIT(device_lost)});
    device = contract_device(m);
    assert_false(vyre_device_lost(device));
    mock_lose(m);
    assert_true(vyre_device_lost(device));
    vyre_device_release(device);
    mock_free(m);
}

static void lifecycle_S80_recovery_is_opt_in(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.id = "fragile", .slots = all_runs | MOCK_BIT(device_lost)});
    vyre_device *device = contract_device(m);
    vyre_resident x = contract_resident(device, 4);
    expect_fail(vyre_device_recover(device), VYRE_STATUS_UNSUPPORTED, "device recovery");
    expect_fail(vyre_device_recover(device), VYRE_STATUS_UNSUPPORTED, "`fragile`");
    /* Which changed nothing. */
    expect_resident(device, x, 4);
    expect_works(device);
    vyre_device_release(device);
    mock_free(m);
}

static void recover_invalidates_what_was_there(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = all_runs | MOCK_LOSS | MOCK_BIT(prepare)});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(TWICE);
    uint32_t numbers[CONTRACT_LENGTH];
    contract_numbers(numbers, CONTRACT_LENGTH);
    vyre_input input = {numbers, sizeof numbers};
    vyre_pipeline *pipeline, *fresh;
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    vyre_outputs outputs;
    vyre_ticket ticket;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    mock_lose(m);
    assert_true(vyre_device_lost(device));
    vyre_status status = vyre_pipeline_dispatch(pipeline, &input, 1, NULL, &outputs);
    assert_non_null(strstr(vyre_status_text(status), "vyre_device_recover"));
    expect_fail(status, VYRE_STATUS_DEVICE_LOST, "lost");
    expect_fail(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs),
                VYRE_STATUS_DEVICE_LOST, "lost");
    expect_fail(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket),
                VYRE_STATUS_DEVICE_LOST, "lost");
    expect_fail(vyre_resident_read(device, x, 0, numbers, sizeof numbers), VYRE_STATUS_DEVICE_LOST,
                "lost");

    mock_fail(m, MOCK_try_recover, 1, VYRE_FAIL_UNAVAILABLE, "the card fell out");
    expect_fail(vyre_device_recover(device), VYRE_STATUS_UNAVAILABLE, "the card fell out");
    assert_true(vyre_device_lost(device));
    expect_fail(vyre_pipeline_dispatch(pipeline, &input, 1, NULL, &outputs),
                VYRE_STATUS_DEVICE_LOST, "lost");

    expect_ok(vyre_device_recover(device));
    assert_false(vyre_device_lost(device));
    mock_forget(m);
    expect_fail(vyre_pipeline_dispatch(pipeline, &input, 1, NULL, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "recovered");
    expect_fail(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket),
                VYRE_STATUS_INVALID_ARGUMENT, "recovered");
    expect_fail(vyre_resident_read(device, x, 0, numbers, sizeof numbers),
                VYRE_STATUS_INVALID_ARGUMENT, "lost");
    expect_fail(vyre_resident_upload(device, y, numbers, sizeof numbers),
                VYRE_STATUS_INVALID_ARGUMENT, "lost");
    expect_fail(vyre_resident_free(device, x), VYRE_STATUS_INVALID_ARGUMENT, "lost");
    expect_fail(vyre_device_dispatch_resident(device, program, bindings, 2, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "lost");
    assert_int_equal(mock_count(m, MOCK_resident_free), 0);
    assert_int_equal(mock_count(m, MOCK_pipeline_dispatch), 0);

    /* All of it can be made again. */
    expect_works(device);
    assert_int_equal(mock_count(m, MOCK_prepare), 1);
    expect_ok(vyre_device_compile(device, program, NULL, &fresh));
    assert_ptr_not_equal(fresh, pipeline);
    vyre_resident u = contract_resident(device, 1), v = contract_resident(device, 1);
    const vyre_binding again[] = {vyre_bind(u), vyre_bind(v)};
    expect_fail(vyre_resident_free(device, x), VYRE_STATUS_INVALID_ARGUMENT, "lost");
    expect_ok(vyre_pipeline_enqueue(fresh, again, 2, NULL, &ticket));
    expect_ok(vyre_device_wait(device, ticket));
    expect_resident(device, v, 2);
    vyre_pipeline_release(fresh);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    assert_int_equal(mock_pipelines(m), 0);
    assert_int_equal(mock_residents(m), 0);
    mock_free(m);
}

/* Recovery in the middle of something: it waits, and what was begun before it belongs to before. */
static struct {
    mock *m;
    vyre_device *device;
    pthread_t thread;
    vyre_status (*allocate)(const vyre_backend *, size_t, uint64_t *);
    vyre_status (*compile)(const vyre_backend *, const vyre_compile *, vyre_native *);
    void (*profile)(const vyre_backend *, vyre_profile *);
} meanwhile;

static void *recover_now(void *argument) {
    (void)argument;
    return vyre_device_recover(meanwhile.device);
}

/* Has another thread recover the device, which it cannot as long as this call goes on. */
static void start_recovery(void) {
    uint64_t before = mock_count(meanwhile.m, MOCK_try_recover);
    assert_int_equal(pthread_create(&meanwhile.thread, NULL, recover_now, NULL), 0);
    nanosleep(&(struct timespec){0, 30000000}, NULL);
    assert_int_equal(mock_count(meanwhile.m, MOCK_try_recover), before);
}

static void end_recovery(void) {
    void *status;
    pthread_join(meanwhile.thread, &status);
    expect_ok(status);
}

static vyre_status allocate_and_recover(const vyre_backend *backend, size_t size,
                                        uint64_t *out_buffer) {
    start_recovery();
    return meanwhile.allocate(backend, size, out_buffer);
}

static vyre_status compile_and_recover(const vyre_backend *backend, const vyre_compile *compile,
                                       vyre_native *out_native) {
    start_recovery();
    return meanwhile.compile(backend, compile, out_native);
}

static void recover_while_something_is_made(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = all_runs | MOCK_LOSS});
    meanwhile.allocate = mock_table(m)->resident_allocate;
    meanwhile.compile = mock_table(m)->compile_native;
    mock_table(m)->resident_allocate = allocate_and_recover;
    mock_table(m)->compile_native = compile_and_recover;
    vyre_device *device = meanwhile.device = contract_device(m);
    meanwhile.m = m;
    vyre_resident resident;
    expect_ok(vyre_resident_allocate(device, 4, &resident));
    end_recovery();
    expect_fail(vyre_resident_free(device, resident), VYRE_STATUS_INVALID_ARGUMENT, "lost");
    assert_int_equal(mock_count(m, MOCK_resident_free), 0);
    vyre_program *program = contract_program(TWICE);
    uint32_t numbers[CONTRACT_LENGTH];
    contract_numbers(numbers, CONTRACT_LENGTH);
    vyre_input input = {numbers, sizeof numbers};
    vyre_outputs outputs;
    expect_fail(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "recovered");
    end_recovery();
    vyre_cache_counts counts;
    vyre_device_cache_counts(device, &counts);
    assert_int_equal(counts.entries, 0);
    assert_int_equal(mock_pipelines(m), 0);
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

static void profile_and_recover(const vyre_backend *backend, vyre_profile *out_profile) {
    if (meanwhile.device) {
        start_recovery();
    }
    meanwhile.profile(backend, out_profile);
}

/* With a timeout the compiler runs on another thread, which starts while a recovery waits. */
static void recover_while_a_compile_with_a_timeout_begins(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = all_runs | MOCK_LOSS | MOCK_BIT(device_profile)});
    meanwhile.m = m;
    meanwhile.device = NULL;
    meanwhile.profile = mock_table(m)->device_profile;
    mock_table(m)->device_profile = profile_and_recover;
    vyre_device *device = contract_device(m);
    meanwhile.device = device;
    vyre_program *program = contract_program(TWICE);
    vyre_pipeline *pipeline;
    const vyre_dispatch_config config = {.timeout_ns = UINT64_C(20000000000)};
    expect_ok(vyre_device_compile(device, program, &config, &pipeline));
    end_recovery();
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

/* A compile that goes on past its timeout still uses the backend. Its thread may be the last user
 * of the device, so the mock lives until the device is closed. */
static void recover_waits_for_a_compile_that_is_late(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = all_runs | MOCK_LOSS | MOCK_BIT(destroy)});
    meanwhile.m = m;
    meanwhile.device = contract_device(m);
    vyre_program *program = contract_program(TWICE);
    vyre_pipeline *pipeline;
    const vyre_dispatch_config config = {.timeout_ns = 20000000};
    mock_delay(m, MOCK_compile_native, 300000000);
    expect_fail(vyre_device_compile(meanwhile.device, program, &config, &pipeline),
                VYRE_STATUS_TIMEOUT, "longer to compile");
    assert_int_equal(mock_count(m, MOCK_pipeline_destroy), 0);
    expect_ok(vyre_device_recover(meanwhile.device));
    assert_int_equal(mock_count(m, MOCK_pipeline_destroy), 1);
    vyre_program_release(program);
    vyre_device_release(meanwhile.device);
    while (!mock_count(m, MOCK_destroy)) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    mock_free(m);
}

/* The last user closes the device, in order. */
static void lifecycle_release(void **state) {
    (void)state;
    mock *m = mock_create(
        &(mock_spec){.slots = MOCK_BIT(destroy) | MOCK_BIT(shutdown) | MOCK_BIT(flush)});
    vyre_device *device = contract_device(m);
    assert_ptr_equal(vyre_device_retain(device), device);
    vyre_device_release(device);
    assert_int_equal(mock_count(m, MOCK_destroy), 0);
    expect_works(device);
    vyre_device_release(device);
    assert_int_equal(mock_count(m, MOCK_destroy), 1);
    assert_int_equal(mock_count(m, MOCK_shutdown), 1);
    assert_true(mock_last(m, MOCK_flush).number < mock_last(m, MOCK_shutdown).number);
    assert_true(mock_last(m, MOCK_shutdown).number < mock_last(m, MOCK_destroy).number);
    vyre_device_release(NULL);
    mock_free(m);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lifecycle_S77_defaults_succeed_without_effect),
        cmocka_unit_test(lifecycle_prepare_comes_before_the_first_run),
        cmocka_unit_test(lifecycle_S78_nothing_runs_after_shutdown),
        cmocka_unit_test(lifecycle_S78_shutdown_waits_for_work),
        cmocka_unit_test(lifecycle_shutdown_that_fails_is_over_too),
        cmocka_unit_test(lifecycle_flush_waits),
        cmocka_unit_test(lifecycle_S79_not_lost_by_default),
        cmocka_unit_test(lifecycle_S80_recovery_is_opt_in),
        cmocka_unit_test(recover_invalidates_what_was_there),
        cmocka_unit_test(recover_while_something_is_made),
        cmocka_unit_test(recover_while_a_compile_with_a_timeout_begins),
        cmocka_unit_test(recover_waits_for_a_compile_that_is_late),
        cmocka_unit_test(lifecycle_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
