/* Resident buffers: handles, sizes, who may share them, and the order of work on them. */
#include <pthread.h>

#include "runtime/device.h"
#include "tests/unit/contract_check.h"
#include "tests/unit/failing_allocator.h"

enum { BYTES = CONTRACT_LENGTH * sizeof(uint32_t) };

static const uint64_t queued = MOCK_RESIDENT | MOCK_QUEUE | MOCK_COMPILE;

static void resident_S58_S59_defaults_are_unsupported(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.id = "plain"});
    vyre_device *device = contract_device(m);
    vyre_resident resident;
    expect_fail(vyre_resident_allocate(device, 4, &resident), VYRE_STATUS_UNSUPPORTED,
                "resident buffer allocation");
    expect_fail(vyre_resident_allocate(device, 4, &resident), VYRE_STATUS_UNSUPPORTED, "`plain`");
    vyre_device_release(device);
    mock_free(m);
}

/* Behind an allocate of its own a device can come to each of the other defaults. */
static void resident_S59_each_default_names_feature_and_backend(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.id = "plain", .slots = MOCK_BIT(resident_allocate)});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(TWICE);
    uint32_t x[CONTRACT_LENGTH] = {0};
    vyre_resident a, b;
    vyre_timing timing;
    expect_ok(vyre_resident_allocate(device, BYTES, &a));
    expect_ok(vyre_resident_allocate(device, BYTES, &b));
    static const char *const features[] = {"resident buffer upload", "resident buffer free",
                                           "resident timed dispatch", "read"};
    for (size_t i = 0; i < 4; i++) {
        const char *parts[] = {features[i], "`plain`"};
        for (size_t p = 0; p < 2; p++) {
            const vyre_binding bindings[] = {vyre_bind(a), vyre_bind(b)};
            vyre_status status = i == 0   ? vyre_resident_upload(device, a, x, BYTES)
                                 : i == 1 ? vyre_resident_free(device, a)
                                 : i == 2 ? vyre_device_dispatch_resident(device, program, bindings,
                                                                          2, NULL, &timing)
                                          : vyre_resident_read(device, a, 0, x, BYTES);
            expect_fail(status, VYRE_STATUS_UNSUPPORTED, parts[p]);
        }
    }
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

static void resident_round_trip(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_RESIDENT});
    vyre_device *device = contract_device(m);
    vyre_resident a = contract_resident(device, 3);
    expect_resident(device, a, 3);
    uint32_t part[2];
    expect_ok(vyre_resident_read(device, a, 4, part, sizeof part));
    assert_int_equal(part[0], 6);
    assert_int_equal(part[1], 9);
    expect_ok(vyre_resident_read(device, a, BYTES, NULL, 0));
    expect_ok(vyre_resident_free(device, a));
    assert_int_equal(mock_residents(m), 0);
    vyre_resident none;
    expect_ok(vyre_resident_allocate(device, 0, &none));
    expect_ok(vyre_resident_upload(device, none, NULL, 0));
    expect_ok(vyre_resident_free(device, none));
    vyre_device_release(device);
    mock_free(m);
}

static void resident_upload_of_a_part(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = queued, .mode = MOCK_RUNS_AT_WAIT});
    vyre_device *device = contract_device(m);
    vyre_resident a = contract_resident(device, 3);
    uint32_t found[CONTRACT_LENGTH], part[2] = {70, 80};
    expect_ok(vyre_resident_upload_at(device, a, 4, part, sizeof part));
    expect_ok(vyre_resident_upload_at(device, a, BYTES, NULL, 0));
    expect_ok(vyre_resident_read(device, a, 0, found, sizeof found));
    assert_true(found[0] == 3 && found[1] == 70 && found[2] == 80 && found[3] == 12);
    mock_forget(m);
    expect_fail(vyre_resident_upload_at(device, a, BYTES - 4, part, sizeof part),
                VYRE_STATUS_INVALID_ARGUMENT, "8 bytes at offset 28");
    expect_fail(vyre_resident_upload_at(device, a, SIZE_MAX, part, 2), VYRE_STATUS_INVALID_ARGUMENT,
                "32");
    assert_int_equal(mock_count(m, MOCK_resident_upload), 0);

    /* The rest is still what work left there that failed. */
    vyre_program *program = contract_program(TWICE);
    vyre_pipeline *pipeline;
    vyre_resident b = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind(a), vyre_bind(b)};
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    mock_fail(m, MOCK_execution, 1, VYRE_FAIL_BACKEND, NULL);
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, NULL));
    expect_ok(vyre_resident_upload_at(device, b, 4, part, sizeof part));
    expect_fail(vyre_resident_read(device, b, 0, found, sizeof found), VYRE_STATUS_BACKEND,
                "execution failed");
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

static void resident_S60_wrong_lengths(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_RESIDENT});
    vyre_device *device = contract_device(m);
    vyre_resident a = contract_resident(device, 3);
    uint32_t x[CONTRACT_LENGTH + 1] = {0};
    mock_forget(m);
    expect_fail(vyre_resident_upload(device, a, x, BYTES - 1), VYRE_STATUS_INVALID_ARGUMENT, "31");
    expect_fail(vyre_resident_upload(device, a, x, BYTES + 1), VYRE_STATUS_INVALID_ARGUMENT, "33");
    expect_fail(vyre_resident_upload(device, a, x, 0), VYRE_STATUS_INVALID_ARGUMENT, "32");
    expect_fail(vyre_resident_read(device, a, 0, x, BYTES + 1), VYRE_STATUS_INVALID_ARGUMENT, "33");
    expect_fail(vyre_resident_read(device, a, BYTES, x, 1), VYRE_STATUS_INVALID_ARGUMENT, "32");
    expect_fail(vyre_resident_read(device, a, SIZE_MAX, x, 2), VYRE_STATUS_INVALID_ARGUMENT, "32");
    expect_fail(vyre_resident_read(device, a, 2, x, SIZE_MAX), VYRE_STATUS_INVALID_ARGUMENT, "32");
    assert_int_equal(mock_count(m, MOCK_resident_upload) + mock_count(m, MOCK_resident_read), 0);
    expect_resident(device, a, 3);
    vyre_device_release(device);
    mock_free(m);
}

/* Every use of a handle that is not one of the device must be refused before the backend. */
static void expect_handle_refused(mock *m, vyre_device *device, vyre_resident bad) {
    uint32_t x[CONTRACT_LENGTH] = {0};
    vyre_program *program = contract_program(TWICE);
    vyre_pipeline *pipeline;
    vyre_ticket ticket;
    vyre_resident good = contract_resident(device, 1);
    const vyre_binding first[] = {vyre_bind(bad), vyre_bind(good)};
    const vyre_binding second[] = {vyre_bind(good), vyre_bind(bad)};
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    mock_forget(m);
    expect_fail(vyre_resident_upload(device, bad, x, BYTES), VYRE_STATUS_INVALID_ARGUMENT,
                "resident buffer");
    expect_fail(vyre_resident_read(device, bad, 0, x, BYTES), VYRE_STATUS_INVALID_ARGUMENT,
                "resident buffer");
    expect_fail(vyre_resident_free(device, bad), VYRE_STATUS_INVALID_ARGUMENT, "resident buffer");
    expect_fail(vyre_device_dispatch_resident(device, program, first, 2, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "resident buffer");
    expect_fail(vyre_pipeline_enqueue(pipeline, second, 2, NULL, &ticket),
                VYRE_STATUS_INVALID_ARGUMENT, "resident buffer");
    assert_true(ticket == 0);
    assert_int_equal(mock_count(m, MOCK_resident_upload), 0);
    assert_int_equal(mock_count(m, MOCK_resident_read), 0);
    assert_int_equal(mock_count(m, MOCK_resident_free), 0);
    assert_int_equal(mock_count(m, MOCK_resident_dispatch_timed), 0);
    assert_int_equal(mock_count(m, MOCK_pipeline_enqueue), 0);
    /* The good one of a refused run is not in use any more. */
    expect_ok(vyre_resident_free(device, good));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
}

static void resident_S60_foreign_handles(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = queued});
    mock *other = mock_create(&(mock_spec){.slots = queued, .id = "other"});
    vyre_device *device = contract_device(m), *twin = contract_device(m),
                *stranger = contract_device(other);
    /* Two devices of the same backend have the same numbers inside, and are still two. */
    vyre_resident of_twin = contract_resident(twin, 1),
                  of_stranger = contract_resident(stranger, 1);
    vyre_resident own = contract_resident(device, 1);
    assert_int_equal(own.index, of_twin.index);
    expect_handle_refused(m, device, of_twin);
    expect_handle_refused(m, device, of_stranger);
    expect_handle_refused(m, device, (vyre_resident){0});
    expect_handle_refused(m, device, (vyre_resident){own.owner, own.index + 1000, own.generation});
    expect_handle_refused(m, device, (vyre_resident){own.owner, UINT32_MAX, own.generation});
    expect_handle_refused(m, device, (vyre_resident){own.owner, own.index, own.generation + 1});
    expect_resident(device, own, 1);
    vyre_device_release(device);
    vyre_device_release(twin);
    vyre_device_release(stranger);
    mock_free(m);
    mock_free(other);
}

static void resident_S60_freed_handles_and_their_successors(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = queued});
    vyre_device *device = contract_device(m);
    vyre_resident old = contract_resident(device, 1);
    expect_ok(vyre_resident_free(device, old));
    expect_handle_refused(m, device, old);
    vyre_resident next = contract_resident(device, 2);
    assert_int_equal(next.index, old.index);
    assert_int_not_equal(next.generation, old.generation);
    expect_handle_refused(m, device, old);
    expect_resident(device, next, 2);
    vyre_device_release(device);
    mock_free(m);
}

static void resident_S60_in_use_is_not_freed(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = queued, .mode = MOCK_RUNS_AT_WAIT});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(TWICE);
    vyre_pipeline *pipeline;
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 5);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    vyre_ticket ticket;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket));
    assert_true(ticket != 0);
    assert_false(vyre_device_is_done(device, ticket));
    expect_fail(vyre_resident_free(device, x), VYRE_STATUS_INVALID_ARGUMENT, "in use");
    expect_fail(vyre_resident_free(device, y), VYRE_STATUS_INVALID_ARGUMENT, "in use");
    assert_int_equal(mock_count(m, MOCK_resident_free), 0);
    expect_ok(vyre_device_wait(device, ticket));
    assert_true(vyre_device_is_done(device, ticket));
    expect_resident(device, y, 2);
    expect_ok(vyre_resident_free(device, x));
    expect_ok(vyre_resident_free(device, y));
    assert_int_equal(mock_residents(m), 0);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

/* A backend in the middle of a call: it says so, and waits for the test. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_inside, may_go;
} slow = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static vyre_status slow_upload(const vyre_backend *backend, uint64_t buffer, size_t offset,
                               const void *data, size_t size) {
    (void)backend, (void)buffer, (void)offset, (void)data, (void)size;
    pthread_mutex_lock(&slow.lock);
    slow.is_inside = true;
    pthread_cond_broadcast(&slow.changed);
    while (!slow.may_go) {
        pthread_cond_wait(&slow.changed, &slow.lock);
    }
    pthread_mutex_unlock(&slow.lock);
    return VYRE_OK;
}

typedef struct uploading {
    vyre_device *device;
    vyre_resident x;
} uploading;

static void *upload_slowly(void *argument) {
    const uploading *self = argument;
    uint32_t numbers[CONTRACT_LENGTH] = {0};
    return vyre_resident_upload(self->device, self->x, numbers, sizeof numbers);
}

/* In use is also a buffer that a call of another thread has, with nothing enqueued. */
static void resident_S60_in_use_by_a_call_is_not_freed(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_RESIDENT});
    mock_table(m)->resident_upload = slow_upload;
    vyre_device *device = contract_device(m);
    uploading self = {.device = device};
    expect_ok(vyre_resident_allocate(device, CONTRACT_LENGTH * sizeof(uint32_t), &self.x));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, upload_slowly, &self), 0);
    pthread_mutex_lock(&slow.lock);
    while (!slow.is_inside) {
        pthread_cond_wait(&slow.changed, &slow.lock);
    }
    pthread_mutex_unlock(&slow.lock);
    vyre_status refused = vyre_resident_free(device, self.x);
    pthread_mutex_lock(&slow.lock);
    slow.may_go = true;
    pthread_cond_broadcast(&slow.changed);
    pthread_mutex_unlock(&slow.lock);
    void *result;
    pthread_join(thread, &result);
    assert_null(result);
    expect_fail(refused, VYRE_STATUS_INVALID_ARGUMENT, "in use");
    expect_ok(vyre_resident_free(device, self.x));
    vyre_device_release(device);
    mock_free(m);
}

/* Waiting for work that nobody enqueued would never end. */
static void resident_tickets_that_were_never_given(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = queued, .mode = MOCK_RUNS_AT_WAIT});
    vyre_device *device = contract_device(m);
    expect_fail(vyre_device_wait(device, 1), VYRE_STATUS_INVALID_ARGUMENT, "never gave");
    assert_true(vyre_device_is_done(device, 1));
    vyre_program *program = contract_program(TWICE);
    vyre_pipeline *pipeline;
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 5);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    vyre_ticket ticket;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket));
    expect_fail(vyre_device_wait(device, ticket + 1), VYRE_STATUS_INVALID_ARGUMENT, "never gave");
    expect_fail(vyre_device_wait(device, UINT64_MAX), VYRE_STATUS_INVALID_ARGUMENT, "never gave");
    assert_false(vyre_device_is_done(device, ticket));
    expect_ok(vyre_device_wait(device, ticket));
    expect_resident(device, y, 2);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

static void resident_dispatch_leaves_outputs_on_the_device(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_RESIDENT});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(ADD);
    vyre_resident x = contract_resident(device, 2), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind_bits(3), vyre_bind(x), vyre_bind(y)};
    vyre_timing timing = {0};
    expect_ok(vyre_device_dispatch_resident(device, program, bindings, 3, NULL, &timing));
    assert_int_equal(timing.device_ns, 700);
    expect_resident(device, y, 7);
    expect_resident(device, x, 2);
    mock_record last = mock_last(m, MOCK_resident_dispatch_timed);
    assert_int_equal(last.buffers[0], 0);
    assert_int_equal(last.arguments[0], 3);
    assert_int_equal(last.arguments[1], CONTRACT_LENGTH);
    assert_null(last.input_list);
    expect_ok(vyre_device_dispatch_resident(device, program, bindings, 3, NULL, NULL));
    expect_resident(device, y, 13);
    vyre_program_release(program);
    vyre_device_release(device);
    assert_int_equal(mock_residents(m), 0);
    mock_free(m);
}

static void resident_arguments_are_checked(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_RESIDENT});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(TWICE);
    vyre_program *flags = contract_program(
        "program flag(on: bool, small: u8, y: out buffer<u32>[1]) over 1 { y[0] = select(on, "
        "u32(small), 9); }");
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1), shorter, odd,
                  one;
    expect_ok(vyre_resident_allocate(device, BYTES - 4, &shorter));
    expect_ok(vyre_resident_allocate(device, BYTES - 1, &odd));
    expect_ok(vyre_resident_allocate(device, 4, &one));
    const vyre_binding too_short[] = {vyre_bind(x), vyre_bind(shorter)};
    const vyre_binding not_whole[] = {vyre_bind(odd), vyre_bind(y)};
    const vyre_binding three[] = {vyre_bind(x), vyre_bind(y), vyre_bind(y)};
    mock_forget(m);
    expect_fail(vyre_device_dispatch_resident(device, program, too_short, 2, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "`y`");
    expect_fail(vyre_device_dispatch_resident(device, program, not_whole, 2, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "`x`");
    expect_fail(vyre_device_dispatch_resident(device, program, three, 3, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "2 arguments");
    expect_fail(vyre_device_dispatch_resident(device, program, three, 1, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "2 arguments");
    vyre_binding scalars[] = {vyre_bind_bits(2), vyre_bind_bits(7), vyre_bind(one)};
    expect_fail(vyre_device_dispatch_resident(device, flags, scalars, 3, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "`on`");
    scalars[0] = vyre_bind_bits(1);
    scalars[1] = vyre_bind_bits(256);
    expect_fail(vyre_device_dispatch_resident(device, flags, scalars, 3, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "`small`");
    assert_int_equal(mock_count(m, MOCK_resident_dispatch_timed), 0);
    scalars[1] = vyre_bind_bits(255);
    expect_ok(vyre_device_dispatch_resident(device, flags, scalars, 3, NULL, NULL));
    uint32_t found;
    expect_ok(vyre_resident_read(device, one, 0, &found, 4));
    assert_int_equal(found, 255);
    /* Nothing that was refused is still in use. */
    expect_ok(vyre_resident_free(device, x));
    expect_ok(vyre_resident_free(device, shorter));
    expect_ok(vyre_resident_free(device, odd));
    vyre_program_release(program);
    vyre_program_release(flags);
    vyre_device_release(device);
    mock_free(m);
}

static void resident_bound_twice_only_if_read_alone(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = queued, .mode = MOCK_RUNS_AT_WAIT});
    vyre_device *device = contract_device(m);
    vyre_program *sum = contract_program(SUM), *add = contract_program(ADD);
    vyre_resident x = contract_resident(device, 1), z = contract_resident(device, 9);
    vyre_pipeline *pipeline;
    vyre_ticket ticket;
    const vyre_binding readers[] = {vyre_bind(x), vyre_bind(x), vyre_bind(z)};
    const vyre_binding in_and_out[] = {vyre_bind(x), vyre_bind(z), vyre_bind(z)};
    const vyre_binding in_and_inout[] = {vyre_bind_bits(1), vyre_bind(x), vyre_bind(x)};
    expect_ok(vyre_device_dispatch_resident(device, sum, readers, 3, NULL, NULL));
    expect_resident(device, z, 2);
    expect_fail(vyre_device_dispatch_resident(device, sum, in_and_out, 3, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "`z`");
    expect_fail(vyre_device_dispatch_resident(device, add, in_and_inout, 3, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "`y`");
    expect_ok(vyre_device_compile(device, sum, NULL, &pipeline));
    expect_fail(vyre_pipeline_enqueue(pipeline, in_and_out, 3, NULL, &ticket),
                VYRE_STATUS_INVALID_ARGUMENT, "`z`");
    expect_ok(vyre_pipeline_enqueue(pipeline, readers, 3, NULL, &ticket));
    expect_ok(vyre_device_wait(device, ticket));
    expect_resident(device, z, 2);
    expect_ok(vyre_resident_free(device, x));
    expect_ok(vyre_resident_free(device, z));
    vyre_pipeline_release(pipeline);
    vyre_program_release(sum);
    vyre_program_release(add);
    vyre_device_release(device);
    mock_free(m);
}

/* Reads, uploads and runs see what was enqueued before them, and what comes after sees them. */
static void resident_work_runs_in_the_order_of_submission(void **state) {
    (void)state;
    for (int mode = MOCK_RUNS_AT_ONCE; mode <= MOCK_RUNS_ON_THREAD; mode++) {
        mock *m = mock_create(&(mock_spec){.slots = queued, .mode = (mock_mode)mode});
        vyre_device *device = contract_device(m);
        vyre_program *program = contract_program(ADD);
        vyre_pipeline *pipeline;
        vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
        const vyre_binding bindings[] = {vyre_bind_bits(1), vyre_bind(x), vyre_bind(y)};
        vyre_ticket before = 0, ticket = 0;
        expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
        mock_delay(m, MOCK_execution, 100000);
        for (int i = 0; i < 10; i++) {
            expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &ticket));
            assert_true(ticket > before);
            before = ticket;
        }
        expect_resident(device, y, 11);
        uint32_t numbers[CONTRACT_LENGTH];
        contract_numbers(numbers, CONTRACT_LENGTH);
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, NULL));
        expect_ok(vyre_resident_upload(device, y, numbers, sizeof numbers));
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, NULL));
        expect_ok(vyre_device_dispatch_resident(device, program, bindings, 3, NULL, NULL));
        expect_resident(device, y, 3);
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &ticket));
        expect_ok(vyre_device_flush(device));
        assert_true(vyre_device_is_done(device, ticket));
        expect_resident(device, y, 4);
        vyre_pipeline_release(pipeline);
        vyre_program_release(program);
        vyre_device_release(device);
        assert_int_equal(mock_residents(m), 0);
        mock_free(m);
    }
}

static void resident_tickets_carry_the_errors_of_their_work(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = queued, .mode = MOCK_RUNS_AT_WAIT});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(ADD);
    vyre_pipeline *pipeline;
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind_bits(1), vyre_bind(x), vyre_bind(y)};
    vyre_ticket tickets[3];
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    mock_fail(m, MOCK_execution, 2, VYRE_FAIL_BACKEND, NULL);
    for (int i = 0; i < 3; i++) {
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &tickets[i]));
    }
    expect_ok(vyre_device_wait(device, tickets[2]));
    expect_fail(vyre_device_wait(device, tickets[1]), VYRE_STATUS_BACKEND, "execution failed");
    expect_ok(vyre_device_wait(device, tickets[0]));
    expect_ok(vyre_device_wait(device, 0));
    assert_true(vyre_device_is_done(device, 0));
    expect_resident(device, y, 3);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

/* Who reads back without having waited hears of it, as long as the contents are what it left. */
static void resident_read_tells_that_its_contents_failed(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = queued, .mode = MOCK_RUNS_AT_WAIT});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(ADD);
    vyre_pipeline *pipeline;
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind_bits(1), vyre_bind(x), vyre_bind(y)};
    uint32_t numbers[CONTRACT_LENGTH];
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    mock_fail(m, MOCK_execution, 1, VYRE_FAIL_TIMEOUT, NULL);
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, NULL));
    expect_fail(vyre_resident_read(device, y, 0, numbers, BYTES), VYRE_STATUS_TIMEOUT, "execution");
    expect_fail(vyre_resident_read(device, y, 0, numbers, 4), VYRE_STATUS_TIMEOUT, "execution");
    expect_resident(device, x, 1); /* that was only read */
    contract_numbers(numbers, CONTRACT_LENGTH);
    expect_ok(vyre_resident_upload(device, y, numbers, BYTES));
    expect_resident(device, y, 1);
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, NULL));
    expect_resident(device, y, 2);
    expect_ok(vyre_resident_free(device, y));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

/* Without an enqueue of its own a pipeline runs at once, and the ticket is 0. */
static void resident_enqueue_without_a_queue(void **state) {
    (void)state;
    const uint64_t variants[] = {MOCK_RESIDENT, MOCK_RESIDENT | MOCK_COMPILE};
    for (size_t i = 0; i < 2; i++) {
        mock *m = mock_create(&(mock_spec){.slots = variants[i]});
        vyre_device *device = contract_device(m);
        vyre_program *program = contract_program(TWICE);
        vyre_pipeline *pipeline;
        vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
        const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
        vyre_ticket ticket = 9;
        expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket));
        assert_true(ticket == 0);
        assert_int_equal(mock_count(m, MOCK_resident_dispatch_timed), 1);
        expect_resident(device, y, 2);
        mock_fail(m, MOCK_resident_dispatch_timed, 1, VYRE_FAIL_BACKEND, NULL);
        expect_fail(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket),
                    VYRE_STATUS_BACKEND, "failed");
        expect_ok(vyre_resident_free(device, x));
        vyre_pipeline_release(pipeline);
        vyre_program_release(program);
        vyre_device_release(device);
        mock_free(m);
    }
}

/* On the path that must cost next to nothing, memory is taken once and never again. */
static void resident_enqueue_allocates_nothing(void **state) {
    (void)state;
    const uint32_t features[] = {0, VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC};
    for (size_t i = 0; i < 2; i++) {
        mock *m = mock_create(&(mock_spec){.null = true, .features = features[i]});
        vyre_device *device = contract_device(m);
        vyre_program *program = contract_program(ADD);
        vyre_pipeline *pipeline;
        vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
        const vyre_binding bindings[] = {vyre_bind_bits(2), vyre_bind(x), vyre_bind(y)};
        vyre_ticket ticket;
        expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &ticket));
        assert_true(ticket != 0);
        failing_allocator_start(1);
        for (int round = 0; round < 100; round++) {
            expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &ticket));
            expect_ok(vyre_device_wait(device, ticket));
        }
        failing_allocator_stop();
        assert_int_equal(failing_allocator_state.count, 0);
        vyre_pipeline_release(pipeline);
        vyre_program_release(program);
        vyre_device_release(device);
        mock_free(m);
    }
}

static void resident_last_release_waits_and_frees(void **state) {
    (void)state;
    mock *m =
        mock_create(&(mock_spec){.slots = queued | MOCK_BIT(destroy), .mode = MOCK_RUNS_AT_WAIT});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(TWICE);
    vyre_pipeline *pipeline;
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, NULL));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    assert_int_equal(mock_count(m, MOCK_execution), 0);
    vyre_device_release(device);
    assert_int_equal(mock_count(m, MOCK_execution), 1);
    assert_int_equal(mock_residents(m), 0);
    assert_int_equal(mock_pipelines(m), 0);
    assert_int_equal(mock_count(m, MOCK_destroy), 1);
    assert_true(mock_last(m, MOCK_execution).number < mock_last(m, MOCK_resident_free).number);
    assert_true(mock_last(m, MOCK_resident_free).number < mock_last(m, MOCK_destroy).number);
    assert_true(mock_last(m, MOCK_pipeline_destroy).number < mock_last(m, MOCK_destroy).number);
    mock_free(m);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resident_S58_S59_defaults_are_unsupported),
        cmocka_unit_test(resident_S59_each_default_names_feature_and_backend),
        cmocka_unit_test(resident_round_trip),
        cmocka_unit_test(resident_upload_of_a_part),
        cmocka_unit_test(resident_S60_wrong_lengths),
        cmocka_unit_test(resident_S60_foreign_handles),
        cmocka_unit_test(resident_S60_freed_handles_and_their_successors),
        cmocka_unit_test(resident_S60_in_use_is_not_freed),
        cmocka_unit_test(resident_S60_in_use_by_a_call_is_not_freed),
        cmocka_unit_test(resident_tickets_that_were_never_given),
        cmocka_unit_test(resident_dispatch_leaves_outputs_on_the_device),
        cmocka_unit_test(resident_arguments_are_checked),
        cmocka_unit_test(resident_bound_twice_only_if_read_alone),
        cmocka_unit_test(resident_work_runs_in_the_order_of_submission),
        cmocka_unit_test(resident_tickets_carry_the_errors_of_their_work),
        cmocka_unit_test(resident_read_tells_that_its_contents_failed),
        cmocka_unit_test(resident_enqueue_without_a_queue),
        cmocka_unit_test(resident_enqueue_allocates_nothing),
        cmocka_unit_test(resident_last_release_waits_and_frees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
