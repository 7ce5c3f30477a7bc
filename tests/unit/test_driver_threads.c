/* Sixteen threads acquire, compile, dispatch, enqueue, allocate and free, on one backend and on
 * several. Every result is looked at. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/random.h"
#include "tests/unit/contract_check.h"
#include "tests/unit/settings.h"

enum { THREADS = 16, SEVERAL = 4, PROGRAMS = 24, BYTES = CONTRACT_LENGTH * sizeof(uint32_t) };
enum { SHARED_RUNS = 40 };

typedef struct crowd {
    vyre_registry *registry;
    mock *mocks[SEVERAL];
    char names[SEVERAL][32];
    vyre_device *devices[SEVERAL]; /* that all threads share */
    vyre_resident shared[SEVERAL]; /* with the numbers, read alone */
    size_t count;
    vyre_program *twice, *add;
    vyre_program *numbered[PROGRAMS]; /* give their number */
    uint64_t turns;                   /* of each thread */
    atomic_int failed_line;
    atomic_ullong rounds;
} crowd;

typedef struct member {
    crowd *crowd;
    pthread_t thread;
    uint64_t seed;
    uint32_t x[CONTRACT_LENGTH];
    vyre_input input;
} member;

/* Assertions of cmocka belong to the main thread: others remember the first line that failed. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            atomic_compare_exchange_strong(&self->crowd->failed_line, &(int){0}, __LINE__);        \
            return;                                                                                \
        }                                                                                          \
    } while (0)

static bool ok(vyre_status status) {
    if (status) {
        print_error("%s\n", vyre_status_text(status));
    }
    vyre_status_free(status);
    return !status;
}

static bool are_numbers(const void *data, size_t size, uint32_t factor) {
    bool same = size == BYTES;
    for (uint32_t i = 0; same && i < CONTRACT_LENGTH; i++) {
        uint32_t value;
        memcpy(&value, (const uint8_t *)data + i * sizeof value, sizeof value);
        same = value == factor * (i + 1);
    }
    return same;
}

static bool is_twice(vyre_outputs *outputs) {
    bool same =
        outputs->count == 1 && are_numbers(outputs->items[0].data, outputs->items[0].size, 2);
    vyre_outputs_free(outputs);
    return same;
}

static void dispatch(member *self, vyre_device *device) {
    vyre_outputs outputs;
    vyre_timing timing;
    const vyre_program *program = self->crowd->twice;
    CHECK(ok(vyre_device_dispatch(device, program, &self->input, 1, NULL, &outputs)));
    CHECK(is_twice(&outputs));
    CHECK(
        ok(vyre_device_dispatch_timed(device, program, &self->input, 1, NULL, &outputs, &timing)));
    CHECK(is_twice(&outputs));
    CHECK(ok(vyre_device_dispatch_into(device, program, &self->input, 1, NULL, &outputs)));
    CHECK(is_twice(&outputs));
}

static void dispatch_async(member *self, vyre_device *device) {
    vyre_pending *pending[3];
    vyre_outputs outputs;
    for (int i = 0; i < 3; i++) {
        uint32_t x[CONTRACT_LENGTH];
        contract_numbers(x, CONTRACT_LENGTH);
        vyre_input input = {x, sizeof x};
        CHECK(ok(
            vyre_device_dispatch_async(device, self->crowd->twice, &input, 1, NULL, &pending[i])));
        memset(x, 0, sizeof x);
    }
    vyre_pending_free(pending[1]);
    (void)vyre_pending_is_ready(pending[2]);
    CHECK(ok(vyre_pending_await(pending[2], &outputs)));
    CHECK(is_twice(&outputs));
    CHECK(ok(vyre_pending_await(pending[0], &outputs)));
    CHECK(is_twice(&outputs));
    vyre_pending_free(pending[0]);
    vyre_pending_free(pending[2]);
}

/* More programs than the cache keeps. */
static void compile(member *self, vyre_device *device, uint32_t number) {
    vyre_pipeline *pipeline;
    vyre_outputs outputs;
    CHECK(ok(vyre_device_compile(device, self->crowd->numbered[number], NULL, &pipeline)));
    vyre_pipeline *again = vyre_pipeline_retain(pipeline);
    vyre_pipeline_release(pipeline);
    CHECK(ok(vyre_pipeline_dispatch(again, NULL, 0, NULL, &outputs)));
    CHECK(outputs.count == 1 && outputs.items[0].data[0] == number);
    vyre_outputs_free(&outputs);
    vyre_pipeline_release(again);
}

static void enqueue(member *self, vyre_device *device, vyre_resident x, bool waits) {
    vyre_pipeline *pipeline;
    vyre_resident y;
    vyre_ticket ticket = 0, last = 0;
    uint32_t found[CONTRACT_LENGTH];
    CHECK(ok(vyre_resident_allocate(device, BYTES, &y)));
    CHECK(ok(vyre_resident_upload(device, y, self->x, BYTES)));
    CHECK(ok(vyre_device_compile(device, self->crowd->add, NULL, &pipeline)));
    const vyre_binding bindings[] = {vyre_bind_bits(2), vyre_bind(x), vyre_bind(y)};
    for (int i = 0; i < 3; i++) {
        CHECK(ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &ticket)));
        CHECK(ticket > last);
        last = ticket;
    }
    if (waits) {
        CHECK(ok(vyre_device_wait(device, ticket)));
        CHECK(vyre_device_is_done(device, ticket));
    }
    CHECK(ok(vyre_resident_read(device, y, 0, found, BYTES)));
    CHECK(are_numbers(found, BYTES, 7));
    CHECK(ok(vyre_device_dispatch_resident(device, self->crowd->add, bindings, 3, NULL, NULL)));
    CHECK(ok(vyre_resident_read(device, y, 0, found, BYTES)));
    CHECK(are_numbers(found, BYTES, 9));
    CHECK(ok(vyre_resident_free(device, y)));
    vyre_status status = vyre_resident_free(device, y);
    CHECK(status);
    vyre_status_free(status);
    vyre_pipeline_release(pipeline);
}

/* A device of its own, used and given back. */
static void acquire(member *self, size_t which) {
    vyre_device *device;
    CHECK(ok(vyre_registry_acquire(self->crowd->registry, self->crowd->names[which], &device)));
    dispatch(self, device);
    vyre_resident x;
    CHECK(ok(vyre_resident_allocate(device, BYTES, &x)));
    CHECK(ok(vyre_resident_upload(device, x, self->x, BYTES)));
    enqueue(self, device, x, false);
    if (self->seed & 1) {
        CHECK(ok(vyre_device_shutdown(device)));
    }
    vyre_device_release(device);
}

static void ask(member *self, vyre_device *device, size_t which) {
    vyre_cache_counts counts;
    vyre_profile profile;
    vyre_device_cache_counts(device, &counts);
    vyre_device_profile(device, &profile);
    CHECK(!strcmp(profile.backend, self->crowd->names[which]));
    CHECK(!vyre_device_lost(device));
    CHECK(ok(vyre_device_flush(device)));
    CHECK(vyre_registry_dispatches(self->crowd->registry, self->crowd->names[which]));
    vyre_device *same = vyre_device_retain(device);
    vyre_device_release(same);
}

static void *live(void *argument) {
    member *self = argument;
    crowd *c = self->crowd;
    uint64_t random = self->seed;
    for (uint64_t turn = 0; turn < c->turns && !atomic_load(&c->failed_line); turn++) {
        size_t which = vyre_random_below(&random, c->count);
        self->seed = vyre_random(&random);
        switch (vyre_random_below(&random, 7)) {
        case 0: acquire(self, which); break;
        case 1: dispatch_async(self, c->devices[which]); break;
        case 2:
            compile(self, c->devices[which], (uint32_t)vyre_random_below(&random, PROGRAMS));
            break;
        case 3: enqueue(self, c->devices[which], c->shared[which], true); break;
        case 4: enqueue(self, c->devices[which], c->shared[which], false); break;
        case 5: ask(self, c->devices[which], which); break;
        default: dispatch(self, c->devices[which]); break;
        }
        atomic_fetch_add(&c->rounds, 1);
    }
    return NULL;
}

static void run_crowd(size_t count, uint64_t turns) {
    static const mock_mode modes[] = {MOCK_RUNS_ON_THREAD, MOCK_RUNS_AT_WAIT, MOCK_RUNS_AT_ONCE,
                                      MOCK_RUNS_ON_THREAD};
    const uint64_t slots[] = {
        MOCK_RESIDENT | MOCK_QUEUE | MOCK_COMPILE | MOCK_ASYNC | MOCK_LOSS | MOCK_BIT(prepare),
        MOCK_RESIDENT | MOCK_QUEUE | MOCK_COMPILE | MOCK_BIT(compile_native_shared),
        MOCK_ALL & ~(MOCK_BIT(supported_ops) | MOCK_BIT(device_profile) | MOCK_BIT(features)),
        MOCK_RESIDENT | MOCK_QUEUE | MOCK_COMPILE | MOCK_BIT(dispatch_borrowed) | MOCK_ASYNC |
            MOCK_BIT(features),
    };
    crowd c = {.count = count, .turns = turns};
    expect_ok(vyre_registry_create(&c.registry));
    for (size_t i = 0; i < count; i++) {
        snprintf(c.names[i], sizeof c.names[i], "mock%zu", i);
        c.mocks[i] = mock_create(&(mock_spec){.id = c.names[i],
                                              .slots = slots[i],
                                              .mode = modes[i],
                                              .features = CONTRACT_WHOLE,
                                              .max_workgroup_size = {1, 1, 1},
                                              .max_workgroups = {1, 1, 1},
                                              .max_invocations = 1});
        expect_ok(vyre_registry_add(c.registry, mock_bundle(c.mocks[i])));
    }
    for (size_t i = 0; i < count; i++) {
        expect_ok(vyre_registry_acquire(c.registry, c.names[i], &c.devices[i]));
        vyre_device_cache_limit(c.devices[i], 16384);
        c.shared[i] = contract_resident(c.devices[i], 1);
    }
    c.twice = contract_program(TWICE);
    c.add = contract_program(ADD);
    for (unsigned i = 0; i < PROGRAMS; i++) {
        char text[128];
        snprintf(text, sizeof text, "program p(y: out buffer<u32>[1]) over 1 { y[gid] = %u; }", i);
        c.numbered[i] = contract_program(text);
    }
    member members[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        members[i] = (member){.crowd = &c, .seed = i + 1};
        contract_numbers(members[i].x, CONTRACT_LENGTH);
        members[i].input = (vyre_input){members[i].x, sizeof members[i].x};
        assert_int_equal(pthread_create(&members[i].thread, NULL, live, &members[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(members[i].thread, NULL);
    }
    if (c.failed_line) {
        fail_msg("%s:%d failed in a thread", __FILE__, c.failed_line);
    }
    assert_int_equal(c.rounds, THREADS * turns);
    vyre_program_release(c.twice);
    vyre_program_release(c.add);
    for (size_t i = 0; i < PROGRAMS; i++) {
        vyre_program_release(c.numbered[i]);
    }
    for (size_t i = 0; i < count; i++) {
        vyre_device_release(c.devices[i]);
        assert_int_equal(mock_pipelines(c.mocks[i]), 0);
        assert_int_equal(mock_residents(c.mocks[i]), 0);
        assert_int_equal(mock_runs(c.mocks[i]), 0);
    }
    vyre_registry_free(c.registry);
    for (size_t i = 0; i < count; i++) {
        mock_free(c.mocks[i]);
    }
    print_message("%llu rounds\n", (unsigned long long)c.rounds);
}

static void threads_S47_on_one_backend(void **state) {
    (void)state;
    run_crowd(1, test_work(3000, 800));
}

static void threads_S47_on_several_backends(void **state) {
    (void)state;
    run_crowd(SEVERAL, test_work(3000, 800));
}

/* One buffer that all threads write: each run is one to the others, also one of several phases. */
static void *write_shared(void *argument) {
    member *self = argument;
    crowd *c = self->crowd;
    const vyre_binding binding = vyre_bind(c->shared[0]);
    for (int i = 0; i < SHARED_RUNS; i++) {
        vyre_pipeline *pipeline;
        bool fine =
            i % 2
                ? ok(vyre_device_dispatch_resident(c->devices[0], c->add, &binding, 1, NULL, NULL))
                : ok(vyre_device_compile(c->devices[0], c->add, NULL, &pipeline));
        if (fine && i % 2 == 0) {
            fine = ok(vyre_pipeline_enqueue(pipeline, &binding, 1, NULL, NULL));
            vyre_pipeline_release(pipeline);
        }
        if (!fine) {
            atomic_store(&c->failed_line, __LINE__);
            break;
        }
    }
    return NULL;
}

static void write_shared_on(vyre_device *device, const char *text) {
    crowd c = {.count = 1, .devices = {device}, .add = contract_program(text)};
    uint32_t value = 1, expected = 1;
    expect_ok(vyre_resident_allocate(device, sizeof value, &c.shared[0]));
    expect_ok(vyre_resident_upload(device, c.shared[0], &value, sizeof value));
    member members[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        members[i] = (member){.crowd = &c};
        assert_int_equal(pthread_create(&members[i].thread, NULL, write_shared, &members[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(members[i].thread, NULL);
    }
    assert_int_equal(c.failed_line, 0);
    for (size_t i = 0; i < (size_t)THREADS * SHARED_RUNS; i++) {
        expected = expected * 3 + 1;
    }
    expect_ok(vyre_resident_read(device, c.shared[0], 0, &value, sizeof value));
    assert_int_equal(value, expected);
    expect_ok(vyre_resident_free(device, c.shared[0]));
    vyre_program_release(c.add);
    vyre_device_release(device);
}

static void threads_write_one_buffer(void **state) {
    (void)state;
    static const char one[] =
        "program one(y: inout buffer<u32>) over y { y[gid] = y[gid] * 3 + 1; }";
    static const char two[] =
        "program two(y: inout buffer<u32>) { phase a over y { y[gid] = y[gid] "
        "* 3; } phase b over y { y[gid] = y[gid] + 1; } }";
    vyre_device *device;
    expect_ok(vyre_acquire("reference", &device));
    write_shared_on(device, one);
    for (int mode = MOCK_RUNS_AT_ONCE; mode <= MOCK_RUNS_ON_THREAD; mode++) {
        mock *m = mock_create(&(mock_spec){.slots = MOCK_RESIDENT | MOCK_QUEUE | MOCK_COMPILE,
                                           .mode = (mock_mode)mode,
                                           .single_phase = true});
        write_shared_on(contract_device(m), one);
        write_shared_on(contract_device(m), two);
        mock_free(m);
    }
}

/* Success, and the first failure of a row of calls. */
static bool goes_on(vyre_status *first, vyre_status next) {
    *first = next;
    return !next;
}

/* Buffers that are lost at any moment: what is read back is right. */
static vyre_status use_residents(member *self, vyre_device *device, bool *out_right) {
    vyre_status status = VYRE_OK;
    vyre_resident x, y;
    uint32_t found[CONTRACT_LENGTH];
    *out_right = true;
    if (!goes_on(&status, vyre_resident_allocate(device, BYTES, &x))) {
        return status;
    }
    if (goes_on(&status, vyre_resident_allocate(device, BYTES, &y))) {
        const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
        vyre_pipeline *pipeline = NULL;
        if (goes_on(&status, vyre_resident_upload(device, x, self->x, BYTES)) &&
            goes_on(&status, vyre_device_compile(device, self->crowd->twice, NULL, &pipeline)) &&
            goes_on(&status, vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, NULL)) &&
            goes_on(&status, vyre_resident_read(device, y, 0, found, BYTES))) {
            *out_right = are_numbers(found, BYTES, 2);
        }
        vyre_pipeline_release(pipeline);
        vyre_status_free(vyre_resident_free(device, y));
    }
    vyre_status_free(vyre_resident_free(device, x));
    return status;
}

static bool is_loss(vyre_status status) {
    vyre_status_code code = vyre_status_code_of(status);
    return code == VYRE_STATUS_DEVICE_LOST || code == VYRE_STATUS_INVALID_ARGUMENT;
}

/* A device that is lost and recovered all the time: each run is right, or says so. */
static void *live_through_losses(void *argument) {
    member *self = argument;
    crowd *c = self->crowd;
    for (uint64_t turn = 0; turn < c->turns && !atomic_load(&c->failed_line); turn++) {
        vyre_outputs outputs;
        vyre_status status =
            vyre_device_dispatch(c->devices[0], c->twice, &self->input, 1, NULL, &outputs);
        bool fine = status ? is_loss(status) : is_twice(&outputs), right;
        vyre_status_free(status);
        status = use_residents(self, c->devices[0], &right);
        fine = fine && right && (!status || is_loss(status));
        vyre_status_free(status);
        if (self->seed == 1) {
            mock_lose(c->mocks[0]);
            fine = fine && ok(vyre_device_recover(c->devices[0]));
        }
        if (!fine) {
            atomic_store(&c->failed_line, __LINE__);
        }
        atomic_fetch_add(&c->rounds, 1);
    }
    return NULL;
}

static void threads_lose_and_recover(void **state) {
    (void)state;
    crowd c = {.count = 1, .turns = test_work(1000, 300), .twice = contract_program(TWICE)};
    c.mocks[0] = mock_create(&(mock_spec){.slots = MOCK_RESIDENT | MOCK_QUEUE | MOCK_COMPILE |
                                                   MOCK_LOSS | MOCK_BIT(prepare)});
    c.devices[0] = contract_device(c.mocks[0]);
    member members[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        members[i] = (member){.crowd = &c, .seed = i + 1};
        contract_numbers(members[i].x, CONTRACT_LENGTH);
        members[i].input = (vyre_input){members[i].x, sizeof members[i].x};
        assert_int_equal(pthread_create(&members[i].thread, NULL, live_through_losses, &members[i]),
                         0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(members[i].thread, NULL);
    }
    assert_int_equal(c.failed_line, 0);
    expect_works(c.devices[0]);
    vyre_program_release(c.twice);
    vyre_device_release(c.devices[0]);
    assert_int_equal(mock_pipelines(c.mocks[0]), 0);
    assert_int_equal(mock_residents(c.mocks[0]), 0);
    mock_free(c.mocks[0]);
}

/* A backend that has to wait, to free a pipeline, for somebody who needs the device. */
typedef struct patient {
    vyre_device *device;
    vyre_status (*compile)(const vyre_backend *backend, const vyre_compile *compile,
                           vyre_native *out_native);
    void (*destroy)(const vyre_native *native);
    vyre_pipeline_slots slots;
    atomic_int freed;
} patient;
static patient waiting;

static void *ask_device(void *argument) {
    vyre_cache_counts counts;
    (void)argument;
    vyre_device_cache_counts(waiting.device, &counts);
    return NULL;
}

static void destroy_patiently(const vyre_native *native) {
    pthread_t thread;
    if (!pthread_create(&thread, NULL, ask_device, NULL)) {
        pthread_join(thread, NULL);
        atomic_fetch_add(&waiting.freed, 1);
    }
    waiting.destroy(native);
}

static vyre_status compile_patient(const vyre_backend *backend, const vyre_compile *compile,
                                   vyre_native *out_native) {
    vyre_status status = waiting.compile(backend, compile, out_native);
    if (!status) {
        waiting.slots = *out_native->slots;
        waiting.destroy = waiting.slots.destroy;
        waiting.slots.destroy = destroy_patiently;
        out_native->slots = &waiting.slots;
    }
    return status;
}

/* Pipelines are freed outside of every lock: this test hangs otherwise. */
static void freeing_keeps_nobody_waiting(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_COMPILE});
    vyre_program *twice = contract_program(TWICE), *add = contract_program(ADD);
    vyre_pipeline *pipeline;
    waiting.compile = mock_table(m)->compile_native;
    mock_table(m)->compile_native = compile_patient;
    waiting.device = contract_device(m);
    expect_ok(vyre_device_compile(waiting.device, twice, NULL, &pipeline));
    vyre_pipeline_release(pipeline);
    vyre_device_cache_limit(waiting.device, 0); /* frees it */
    expect_ok(vyre_device_compile(waiting.device, add, NULL, &pipeline));
    vyre_pipeline_release(pipeline); /* not kept: freed here */
    assert_int_equal(waiting.freed, 2);
    vyre_program_release(twice);
    vyre_program_release(add);
    vyre_device_release(waiting.device);
    mock_free(m);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_S47_on_one_backend),
        cmocka_unit_test(threads_S47_on_several_backends),
        cmocka_unit_test(threads_write_one_buffer),
        cmocka_unit_test(threads_lose_and_recover),
        cmocka_unit_test(freeing_keeps_nobody_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
