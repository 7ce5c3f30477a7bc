/* The fault drill: every slot fails in turn, on every way that leads to it; the device is lost at
 * every point; every allocation fails. Each time there is an error with a Fix, nothing is leaked,
 * and the next run works where it should. */
#include "tests/unit/contract_check.h"
#include "tests/unit/failing_allocator.h"

/* One device with everything a path may need, made anew for each fault. */
typedef struct drill {
    mock *m;
    vyre_device *device;
    vyre_program *program;
    vyre_pipeline *pipeline;
    vyre_resident x, y;
    uint32_t numbers[CONTRACT_LENGTH];
    vyre_input input;
} drill;

static const uint64_t runs = MOCK_BIT(dispatch_borrowed) | MOCK_BIT(dispatch_borrowed_timed) |
                             MOCK_BIT(dispatch_borrowed_into) | MOCK_ASYNC;
static const uint64_t pipeline_runs = MOCK_COMPILE | MOCK_BIT(pipeline_dispatch_borrowed) |
                                      MOCK_BIT(pipeline_dispatch_borrowed_timed) |
                                      MOCK_BIT(pipeline_dispatch_borrowed_into);
static const uint64_t others = MOCK_RESIDENT | MOCK_QUEUE | MOCK_LOSS | MOCK_BIT(prepare) |
                               MOCK_BIT(shutdown) | MOCK_BIT(destroy);

static void begin(drill *d, uint64_t slots) {
    *d = (drill){.m = mock_create(&(mock_spec){
                     .slots = slots, .mode = MOCK_RUNS_AT_WAIT, .features = CONTRACT_WHOLE})};
    d->device = contract_device(d->m);
    d->program = contract_program(TWICE);
    contract_numbers(d->numbers, CONTRACT_LENGTH);
    d->input = (vyre_input){d->numbers, sizeof d->numbers};
}

/* With a pipeline and two buffers, for paths that begin there. */
static void begin_whole(drill *d, uint64_t slots) {
    begin(d, slots);
    expect_ok(vyre_device_compile(d->device, d->program, NULL, &d->pipeline));
    d->x = contract_resident(d->device, 1);
    d->y = contract_resident(d->device, 1);
}

static void end(drill *d) {
    vyre_pipeline_release(d->pipeline);
    vyre_program_release(d->program);
    vyre_device_release(d->device);
    assert_int_equal(mock_pipelines(d->m), 0);
    assert_int_equal(mock_residents(d->m), 0);
    assert_int_equal(mock_runs(d->m), 0);
    mock_free(d->m);
}

/* The ways into the library. Each leaves nothing behind, whether it succeeds or not. */

static vyre_status run_dispatch(drill *d) {
    vyre_outputs outputs;
    vyre_status status = vyre_device_dispatch(d->device, d->program, &d->input, 1, NULL, &outputs);
    if (status) {
        assert_int_equal(outputs.count, 0);
        assert_null(outputs.items);
        return status;
    }
    expect_twice(&outputs);
    return NULL;
}

static vyre_status run_owned(drill *d) {
    uint32_t x[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    vyre_output owned = {(uint8_t *)x, sizeof x};
    vyre_outputs outputs;
    vyre_status status =
        vyre_device_dispatch_owned(d->device, d->program, &owned, 1, NULL, &outputs);
    if (status) {
        assert_null(outputs.items);
        return status;
    }
    expect_twice(&outputs);
    return NULL;
}

static vyre_status run_timed(drill *d) {
    vyre_outputs outputs;
    vyre_timing timing;
    vyre_status status =
        vyre_device_dispatch_timed(d->device, d->program, &d->input, 1, NULL, &outputs, &timing);
    if (status) {
        assert_null(outputs.items);
        return status;
    }
    expect_twice(&outputs);
    return NULL;
}

/* Into memory of its own, and into nothing, which has to be made. */
static vyre_status run_into(drill *d) {
    uint32_t y[CONTRACT_LENGTH];
    vyre_output item = {(uint8_t *)y, sizeof y};
    vyre_outputs outputs = {&item, 1};
    vyre_status status =
        vyre_device_dispatch_into(d->device, d->program, &d->input, 1, NULL, &outputs);
    assert_ptr_equal(outputs.items, &item);
    if (!status) {
        expect_numbers(y, CONTRACT_LENGTH, 2);
    }
    return status;
}

static vyre_status run_into_nothing(drill *d) {
    vyre_outputs outputs = {0};
    vyre_status status =
        vyre_device_dispatch_into(d->device, d->program, &d->input, 1, NULL, &outputs);
    if (status) {
        assert_null(outputs.items);
        return status;
    }
    expect_twice(&outputs);
    return NULL;
}

static vyre_status run_async(drill *d) {
    vyre_pending *pending;
    vyre_outputs outputs;
    vyre_status status = vyre_device_dispatch_async(
        d->device, d->program, &d->input, 1, &(vyre_dispatch_config){.label = "async"}, &pending);
    if (status) {
        assert_null(pending);
        return status;
    }
    status = vyre_pending_await(pending, &outputs);
    if (status) {
        assert_null(outputs.items);
    } else {
        expect_twice(&outputs);
    }
    vyre_pending_free(pending);
    return status;
}

static vyre_status run_compile(drill *d) {
    vyre_pipeline *pipeline;
    vyre_status status = vyre_device_compile(d->device, d->program, NULL, &pipeline);
    assert_int_equal(pipeline == NULL, status != NULL);
    vyre_pipeline_release(pipeline);
    return status;
}

static vyre_status run_pipeline(drill *d) {
    vyre_pipeline *pipeline;
    vyre_outputs outputs;
    vyre_status status = vyre_device_compile(d->device, d->program, NULL, &pipeline);
    if (status) {
        return status;
    }
    status = vyre_pipeline_dispatch(pipeline, &d->input, 1, NULL, &outputs);
    if (!status) {
        expect_twice(&outputs);
    }
    vyre_pipeline_release(pipeline);
    return status;
}

static vyre_status run_allocate(drill *d) {
    vyre_resident resident;
    vyre_status status = vyre_resident_allocate(d->device, 64, &resident);
    if (status) {
        assert_int_equal(resident.owner, 0);
        return status;
    }
    status = vyre_resident_free(d->device, resident);
    if (status) { /* it is still there, unless the device is gone */
        vyre_status_free(vyre_resident_free(d->device, resident));
    }
    return status;
}

static vyre_status run_upload(drill *d) {
    return vyre_resident_upload(d->device, d->x, d->numbers, sizeof d->numbers);
}

static vyre_status run_read(drill *d) {
    uint32_t found[CONTRACT_LENGTH];
    vyre_status status = vyre_resident_read(d->device, d->x, 0, found, sizeof found);
    if (!status) {
        expect_numbers(found, CONTRACT_LENGTH, 1);
    }
    return status;
}

static vyre_status run_resident(drill *d) {
    const vyre_binding bindings[] = {vyre_bind(d->x), vyre_bind(d->y)};
    return vyre_device_dispatch_resident(d->device, d->program, bindings, 2, NULL, NULL);
}

static vyre_status run_enqueue(drill *d) {
    const vyre_binding bindings[] = {vyre_bind(d->x), vyre_bind(d->y)};
    vyre_ticket ticket;
    vyre_status status = vyre_pipeline_enqueue(d->pipeline, bindings, 2, NULL, &ticket);
    if (status) {
        assert_true(ticket == 0);
        return status;
    }
    return vyre_device_wait(d->device, ticket);
}

static vyre_status run_prepare(drill *d) {
    return vyre_device_prepare(d->device);
}

static vyre_status run_flush(drill *d) {
    return vyre_device_flush(d->device);
}

typedef struct way {
    const char *name;
    vyre_status (*run)(drill *d);
    bool is_whole; /* starts from a pipeline and buffers */
} way;

static const way ways[] = {
    {"dispatch", run_dispatch, false},
    {"owned", run_owned, false},
    {"timed", run_timed, false},
    {"into", run_into, false},
    {"into nothing", run_into_nothing, false},
    {"async", run_async, false},
    {"compile", run_compile, false},
    {"pipeline", run_pipeline, false},
    {"allocate", run_allocate, false},
    {"upload", run_upload, true},
    {"read", run_read, true},
    {"resident", run_resident, true},
    {"enqueue", run_enqueue, true},
    {"prepare", run_prepare, false},
    {"flush", run_flush, false},
};
enum { WAYS = sizeof ways / sizeof *ways };

static const uint64_t variants[] = {
    /* Without executables and with them, where the host splits programs and where not. */
    0,
    MOCK_COMPILE,
    MOCK_COMPILE | MOCK_BIT(compile_native_shared),
    MOCK_BIT(features),
    MOCK_COMPILE | MOCK_BIT(features),
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static uint64_t slots_of(size_t variant, bool all_forms) {
    return others | variants[variant] | (all_forms ? runs : 0) |
           (all_forms && variants[variant] & MOCK_BIT(compile_native) ? pipeline_runs : 0);
}

static void begin_way(drill *d, const way *w, uint64_t slots) {
    if (w->is_whole) {
        begin_whole(d, slots);
    } else {
        begin(d, slots);
    }
}

/* Which calls a way makes; the fault is then put into each of them. */
static void drill_fault(const way *w, uint64_t slots, mock_slot slot, uint32_t code,
                        bool reached[MOCK_SLOT_COUNT]) {
    drill d;
    begin_way(&d, w, slots);
    mock_forget(d.m);
    vyre_status status = w->run(&d);
    if (status) {
        fail_msg("%s: %s", w->name, vyre_status_text(status));
    }
    uint64_t calls = mock_count(d.m, slot);
    end(&d);
    for (uint64_t n = 1; n <= calls; n++) {
        begin_way(&d, w, slots);
        mock_fail(d.m, slot, n, code, NULL);
        status = w->run(&d);
        if (!status) {
            fail_msg("%s: call %llu of %s fails, and nobody notices", w->name,
                     (unsigned long long)n, mock_slot_name(slot));
        }
        reached[slot] = true;
        if (code == VYRE_FAIL_DEVICE_LOST) {
            assert_true(vyre_device_lost(d.device));
            expect_fail(status, VYRE_STATUS_DEVICE_LOST, "");
            expect_fail(run_dispatch(&d), VYRE_STATUS_DEVICE_LOST, "");
            expect_ok(vyre_device_recover(d.device));
            vyre_pipeline_release(d.pipeline);
            d.pipeline = NULL;
        } else {
            expect_fail(status, VYRE_STATUS_BACKEND, mock_slot_name(slot));
            status = w->run(&d);
            if (status) {
                fail_msg("%s, again after %s failed: %s", w->name, mock_slot_name(slot),
                         vyre_status_text(status));
            }
        }
        expect_works(d.device);
        end(&d);
    }
}

static const mock_slot fallible[] = {MOCK_dispatch,
                                     MOCK_dispatch_borrowed,
                                     MOCK_dispatch_borrowed_timed,
                                     MOCK_dispatch_borrowed_into,
                                     MOCK_dispatch_borrowed_async,
                                     MOCK_resident_allocate,
                                     MOCK_resident_upload,
                                     MOCK_resident_read,
                                     MOCK_resident_free,
                                     MOCK_resident_dispatch_timed,
                                     MOCK_ticket_wait,
                                     MOCK_compile_native,
                                     MOCK_compile_native_shared,
                                     MOCK_prepare,
                                     MOCK_flush,
                                     MOCK_pipeline_dispatch,
                                     MOCK_pipeline_dispatch_borrowed,
                                     MOCK_pipeline_dispatch_borrowed_timed,
                                     MOCK_pipeline_dispatch_borrowed_into,
                                     MOCK_pipeline_enqueue,
                                     MOCK_execution};
enum { FALLIBLE = sizeof fallible / sizeof *fallible };

static void drill_all(uint32_t code) {
    bool reached[MOCK_SLOT_COUNT] = {false};
    for (size_t variant = 0; variant < VARIANTS; variant++) {
        for (int all_forms = 0; all_forms < 2; all_forms++) {
            for (size_t w = 0; w < WAYS; w++) {
                for (size_t s = 0; s < FALLIBLE; s++) {
                    drill_fault(&ways[w], slots_of(variant, all_forms), fallible[s], code, reached);
                }
            }
        }
    }
    for (size_t s = 0; s < FALLIBLE; s++) {
        if (!reached[fallible[s]]) {
            fail_msg("no way leads to %s", mock_slot_name(fallible[s]));
        }
    }
}

static void drill_every_slot_fails(void **state) {
    (void)state;
    drill_all(VYRE_FAIL_BACKEND);
}

static void drill_the_device_is_lost_in_every_slot(void **state) {
    (void)state;
    drill_all(VYRE_FAIL_DEVICE_LOST);
}

/* Shutdown and recovery end or begin everything, so they stand apart. */
static void drill_shutdown_and_recovery_fail(void **state) {
    (void)state;
    drill d;
    begin_whole(&d, slots_of(1, true));
    mock_fail(d.m, MOCK_shutdown, 1, VYRE_FAIL_BACKEND, NULL);
    expect_fail(vyre_device_shutdown(d.device), VYRE_STATUS_BACKEND, "shutdown failed");
    expect_fail(run_dispatch(&d), VYRE_STATUS_INVALID_ARGUMENT, "shut down");
    end(&d);

    begin_whole(&d, slots_of(1, true));
    mock_lose(d.m);
    mock_fail(d.m, MOCK_try_recover, 2, VYRE_FAIL_BACKEND, NULL);
    expect_ok(vyre_device_recover(d.device));
    mock_lose(d.m);
    expect_fail(vyre_device_recover(d.device), VYRE_STATUS_BACKEND, "try_recover failed");
    expect_fail(run_dispatch(&d), VYRE_STATUS_DEVICE_LOST, "lost");
    expect_ok(vyre_device_recover(d.device));
    expect_works(d.device);
    end(&d);

    /* A device that is lost for good can still be given back. */
    begin_whole(&d, slots_of(1, true));
    expect_ok(vyre_resident_free(d.device, d.x));
    expect_ok(vyre_resident_free(d.device, d.y));
    mock_lose(d.m);
    end(&d);
}

/* Work that was under way when the device was lost. */
static void drill_lost_during_async_and_enqueue(void **state) {
    (void)state;
    for (int threads = 0; threads < 2; threads++) {
        drill d = {.m = mock_create(
                       &(mock_spec){.slots = slots_of(1, true),
                                    .mode = threads ? MOCK_RUNS_ON_THREAD : MOCK_RUNS_AT_WAIT})};
        d.device = contract_device(d.m);
        d.program = contract_program(TWICE);
        contract_numbers(d.numbers, CONTRACT_LENGTH);
        d.input = (vyre_input){d.numbers, sizeof d.numbers};
        expect_ok(vyre_device_compile(d.device, d.program, NULL, &d.pipeline));
        d.x = contract_resident(d.device, 1);
        d.y = contract_resident(d.device, 1);
        const vyre_binding bindings[] = {vyre_bind(d.x), vyre_bind(d.y)};
        vyre_pending *first, *second;
        vyre_ticket ticket;
        vyre_outputs outputs;
        mock_delay(d.m, MOCK_execution, 3000000);
        mock_fail(d.m, MOCK_execution, 2, VYRE_FAIL_DEVICE_LOST, NULL);
        expect_ok(vyre_device_dispatch_async(d.device, d.program, &d.input, 1, NULL, &first));
        expect_ok(vyre_device_dispatch_async(d.device, d.program, &d.input, 1, NULL, &second));
        expect_ok(vyre_pipeline_enqueue(d.pipeline, bindings, 2, NULL, &ticket));
        expect_ok(vyre_pending_await(first, &outputs));
        expect_twice(&outputs);
        expect_fail(vyre_pending_await(second, &outputs), VYRE_STATUS_DEVICE_LOST, "");
        assert_null(outputs.items);
        expect_fail(vyre_device_wait(d.device, ticket), VYRE_STATUS_DEVICE_LOST, "lost");
        assert_true(vyre_device_lost(d.device));
        vyre_pending_free(first);
        vyre_pending_free(second);
        expect_ok(vyre_device_recover(d.device));
        expect_fail(run_enqueue(&d), VYRE_STATUS_INVALID_ARGUMENT, "recovered");
        mock_delay(d.m, MOCK_execution, 0);
        expect_works(d.device);
        end(&d);
    }
}

/* Every allocation of every way fails. */
static void drill_every_allocation_fails(void **state) {
    (void)state;
    for (size_t variant = 0; variant < VARIANTS; variant++) {
        for (int all_forms = 0; all_forms < 2; all_forms++) {
            for (size_t w = 0; w < WAYS; w++) {
                for (size_t n = 1;; n++) {
                    drill d;
                    begin_way(&d, &ways[w], slots_of(variant, all_forms));
                    /* The pipeline that the cache keeps would count as a leak. */
                    vyre_device_cache_limit(d.device, 0);
                    if (ways[w].run == run_allocate) {
                        expect_ok(run_allocate(&d)); /* the table of handles stays, too */
                    }
                    failing_allocator_start(n);
                    vyre_status status = ways[w].run(&d);
                    bool failed = failing_allocator_failed();
                    if (status) {
                        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_OUT_OF_MEMORY);
                        assert_non_null(strstr(vyre_status_text(status), "Fix: "));
                    }
                    vyre_status_free(status);
                    failing_allocator_end();
                    if (failing_allocator_state.live) {
                        fail_msg("%s, allocation %zu: %td blocks are left", ways[w].name, n,
                                 failing_allocator_state.live);
                    }
                    expect_works(d.device);
                    end(&d);
                    if (!failed) {
                        assert_null(status);
                        break;
                    }
                }
            }
        }
    }
}

static void drill_every_allocation_of_opening_fails(void **state) {
    (void)state;
    for (size_t n = 1;; n++) {
        mock *m = mock_create(&(mock_spec){.slots = MOCK_BIT(destroy)});
        vyre_device *device;
        failing_allocator_start(n);
        vyre_status status = mock_open_index(m, 2, &device);
        bool failed = failing_allocator_failed();
        if (status) {
            assert_null(device);
            assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_OUT_OF_MEMORY);
        }
        vyre_status_free(status);
        vyre_device_release(device);
        failing_allocator_stop();
        assert_int_equal(mock_count(m, MOCK_destroy), 1);
        mock_free(m);
        if (!failed) {
            break;
        }
        assert_true(n < 100);
    }
}

/* The table of handles grows: a buffer that it has no room for is given back. */
static void drill_no_memory_to_remember_a_buffer(void **state) {
    (void)state;
    drill d;
    begin(&d, slots_of(0, false));
    vyre_resident resident;
    expect_ok(vyre_device_prepare(d.device));
    failing_allocator_start(1);
    vyre_status status = vyre_resident_allocate(d.device, 64, &resident);
    failing_allocator_end();
    assert_true(failing_allocator_failed());
    expect_fail(status, VYRE_STATUS_OUT_OF_MEMORY, "");
    assert_int_equal(mock_residents(d.m), 0);
    end(&d);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drill_every_slot_fails),
        cmocka_unit_test(drill_the_device_is_lost_in_every_slot),
        cmocka_unit_test(drill_shutdown_and_recovery_fail),
        cmocka_unit_test(drill_lost_during_async_and_enqueue),
        cmocka_unit_test(drill_every_allocation_fails),
        cmocka_unit_test(drill_every_allocation_of_opening_fails),
        cmocka_unit_test(drill_no_memory_to_remember_a_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
