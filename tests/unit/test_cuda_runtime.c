/* The cuda backend's runtime on a driver that needs no GPU: what outlasts a launch. Timeouts,
 * tickets and asynchronous runs, compiled code, memory, and threads that share a device. */
#include <pthread.h>
#include <sched.h>

#include "backend/cuda/runtime/backend.h"
#include "backend/cuda/runtime/executable.h"
#include "base/clock.h"
#include "runtime/device.h"
#include "tests/unit/cuda_check.h"
#include "tests/unit/settings.h"

#define ENDLESS                                                                                    \
    "program endless(go: buffer<u32>, y: out buffer<u32>[64]) over 64 workgroup 8 { "              \
    "var n = 0u; loop { if atomic_add(y[gid], 0) == 1 || go[0] == 0 { break; } n += 1; } "         \
    "y[gid] = n + 7; }"
#define ENDLESS_REPEAT                                                                             \
    "program endless_repeat(x: buffer<u32>, y: inout buffer<u32>) { "                              \
    "repeat while x[0] { phase over y { y[gid] = y[gid] + 1; } } }"

static void runs_end_in_time(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *twice = fake_device_program(TWICE);
    vyre_program *programs[] = {fake_device_program(ENDLESS), fake_device_program(ENDLESS_REPEAT)};
    uint32_t go = 1, y[3] = {0};
    for (int turn = 0; turn < 4; turn++) {
        const vyre_input inputs[] = {{&go, 4}, {y, sizeof y}};
        const vyre_dispatch_config config = {.timeout_ns = 30000000};
        vyre_outputs outputs;
        vyre_pipeline *pipeline;
        expect_ok(vyre_device_compile(device, programs[turn % 2], NULL, &pipeline));
        uint64_t start = vyre_now_ns();
        expect_fail(
            vyre_pipeline_dispatch(pipeline, inputs, 1 + (size_t)turn % 2, &config, &outputs),
            VYRE_STATUS_TIMEOUT, "took longer than its timeout");
        vyre_pipeline_release(pipeline);
        assert_true(vyre_now_ns() - start >= config.timeout_ns);
        assert_null(outputs.items);
        assert_false(vyre_device_lost(device));
        expect_works(device);
    }
    vyre_program_release(twice);
    vyre_program_release(programs[0]);
    vyre_program_release(programs[1]);
    vyre_device_release(device);
}

static void compiling_ends_in_time(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(TWICE);
    const vyre_dispatch_config config = {.timeout_ns = 100000000};
    vyre_pipeline *pipeline;
    fake->spec()->compile_ms = 1000;
    uint64_t start = vyre_now_ns();
    expect_fail(vyre_device_compile(device, program, &config, &pipeline), VYRE_STATUS_TIMEOUT,
                "took longer to compile than its timeout");
    uint64_t took = vyre_now_ns() - start;
    assert_true(took >= config.timeout_ns && took < 1000000000);
    assert_null(pipeline);
    __atomic_store_n(&fake->spec()->compile_ms, 0, __ATOMIC_RELAXED);
    expect_works(device);
    /* The thread that was left gives back what it made, and holds up the end of the device. */
    expect_ok(vyre_device_shutdown(device));
    assert_int_equal(fake->live().links, 0);
    assert_int_equal(fake->live().modules, 0);
    vyre_program_release(program);
    vyre_device_release(device);
}

static void a_ticket_tells_what_went_wrong(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(ENDLESS_REPEAT), *add = fake_device_program(ADD);
    vyre_pipeline *pipeline, *adds;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    expect_ok(vyre_device_compile(device, add, NULL, &adds));
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    const vyre_dispatch_config config = {.timeout_ns = 10000000};
    vyre_ticket first, second, third;
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, &config, &first));
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, &config, &second));
    /* Needs no host itself, but comes after those that do. */
    const vyre_binding behind[] = {vyre_bind_bits(0), vyre_bind(y), vyre_bind(x)};
    expect_ok(vyre_pipeline_enqueue(adds, behind, 3, NULL, &third));
    assert_true(third > second && second > first);
    expect_fail(vyre_resident_free(device, y), VYRE_STATUS_INVALID_ARGUMENT, "in use");
    expect_ok(vyre_device_wait(device, third));
    for (int i = 0; i < 2; i++) {
        expect_fail(vyre_device_wait(device, second), VYRE_STATUS_TIMEOUT, "`endless_repeat` took");
        expect_fail(vyre_device_wait(device, first), VYRE_STATUS_TIMEOUT, "`endless_repeat` took");
    }
    assert_true(vyre_device_is_done(device, first));
    vyre_timing timing;
    expect_fail(vyre_device_dispatch_resident(device, program, bindings, 2, &config, &timing),
                VYRE_STATUS_TIMEOUT, "`endless_repeat` took");
    expect_ok(vyre_resident_free(device, x));
    expect_ok(vyre_resident_free(device, y));
    vyre_pipeline_release(pipeline);
    vyre_pipeline_release(adds);
    vyre_program_release(program);
    vyre_program_release(add);
    vyre_device_release(device);
}

static void async_runs_go_on_by_themselves(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *endless = fake_device_program(ENDLESS_REPEAT);
    vyre_program *spins = fake_device_program(ENDLESS), *twice = fake_device_program(TWICE);
    uint32_t x[CONTRACT_LENGTH], y[4] = {0};
    contract_numbers(x, CONTRACT_LENGTH);
    const vyre_input one[] = {{x, sizeof x}, {y, sizeof y}};
    vyre_pending *first, *second, *third;
    vyre_outputs outputs;
    expect_ok(vyre_device_dispatch_async(device, endless, one, 2, NULL, &first));
    expect_ok(vyre_device_dispatch_async(device, spins, one, 1, NULL, &third));
    expect_ok(vyre_device_dispatch_async(device, twice, one, 1, NULL, &second));
    memset(x, 0, sizeof x); /* borrowed inputs are gone */
    expect_works(device);   /* other runs do not wait for them */
    assert_false(vyre_pending_is_ready(first) || vyre_pending_is_ready(third));
    uint64_t start = vyre_now_ns();
    while (!vyre_pending_is_ready(second) && vyre_now_ns() - start < UINT64_C(10000000000)) {
        sched_yield();
    }
    assert_true(vyre_pending_is_ready(second));
    expect_ok(vyre_pending_await(second, &outputs));
    expect_twice(&outputs);
    vyre_pending_free(second);
    vyre_pending_free(third); /* while they run, which ends them */
    vyre_pending_free(first);
    expect_works(device);
    vyre_program_release(endless);
    vyre_program_release(spins);
    vyre_program_release(twice);
    vyre_device_release(device);
}

static void artifacts_are_taken_or_made_again(void **state) {
    (void)state;
    vyre_program *program = fake_device_program(STEPS);
    vyre_device *device = fake_device_open(0);
    expect_ok(vyre_device_prepare(device));
    cuda_device *own = device->backend->state;
    vyre_strbuf artifact = {0}, none = {0};
    cuda_executable *native;
    uint64_t before = fake->calls(FAKE_cuLinkCreate);
    expect_ok(cuda_executable_make(own, program, NULL, 0, &artifact, &native));
    assert_true(artifact.size > 100);
    cuda_executable_release(native);
    uint64_t links = fake->calls(FAKE_cuLinkCreate), made = links - before;
    assert_true(made >= 1); /* one a binary */
    expect_ok(cuda_executable_make(own, program, (uint8_t *)artifact.data, artifact.size, &none,
                                   &native));
    assert_int_equal(none.size, 0); /* nothing new to store */
    assert_int_equal(fake->calls(FAKE_cuLinkCreate), links);
    cuda_executable_release(native);
    /* Of other semantics, which the head has behind its name and five numbers. */
    enum { SEMANTICS_AT = 28 };
    assert_int_equal(artifact.data[SEMANTICS_AT], VYRE_SEMANTICS);
    artifact.data[SEMANTICS_AT]--;
    expect_ok(cuda_executable_make(own, program, (uint8_t *)artifact.data, artifact.size, &none,
                                   &native));
    assert_int_equal(none.size, artifact.size);
    cuda_executable_release(native);
    vyre_strbuf_free(&none);
    artifact.data[SEMANTICS_AT]++;
    artifact.data[artifact.size / 2] ^= 1;
    expect_ok(cuda_executable_make(own, program, (uint8_t *)artifact.data, artifact.size, &none,
                                   &native));
    assert_int_equal(fake->calls(FAKE_cuLinkCreate), links + 2 * made);
    assert_int_equal(none.size, artifact.size);
    cuda_executable_release(native);
    vyre_strbuf_free(&none);
    vyre_strbuf_free(&artifact);
    vyre_program_release(program);
    vyre_device_release(device);
}

static void the_compiler_s_words_are_told(void **state) {
    (void)state;
    vyre_program *program = fake_device_program(TWICE);
    vyre_device *device = fake_device_open(0);
    vyre_pipeline *pipeline;
    fake->spec()->log = "line 7: no such instruction";
    expect_fail(vyre_device_compile(device, program, NULL, &pipeline), VYRE_STATUS_BACKEND,
                "line 7: no such instruction");
    fake->spec()->log = NULL;
    expect_works(device);
    vyre_program_release(program);
    vyre_device_release(device);
}

static void memory_that_is_not_there_is_told(void **state) {
    (void)state;
    vyre_program *program = fake_device_program(TWICE);
    vyre_device *device = fake_device_open(0);
    vyre_resident small, large;
    expect_ok(vyre_resident_allocate(device, 64 << 20, &small));
    expect_ok(vyre_resident_free(device, small)); /* kept, and given up when it is needed */
    assert_true(fake->live().block_bytes >= 64 << 20 || fake->calls(FAKE_cuMemFree) > 0);
    expect_ok(vyre_resident_allocate(device, 200 << 20, &large));
    expect_fail(vyre_resident_allocate(device, 100 << 20, &small), VYRE_STATUS_OUT_OF_MEMORY,
                "for 104857600 bytes: ");
    expect_ok(vyre_resident_free(device, large));
    expect_works(device);
    vyre_program_release(program);
    vyre_device_release(device);
}

/* Runs of about one size take memory from the driver once. */
static void memory_is_used_again(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(TWICE);
    expect_works(device);
    uint64_t taken = fake->calls(FAKE_cuMemAlloc);
    for (int i = 0; i < 20; i++) {
        expect_works(device);
    }
    assert_int_equal(fake->calls(FAKE_cuMemAlloc), taken);
    assert_int_equal(fake->calls(FAKE_cuMemFree), 0);
    vyre_program_release(program);
    vyre_device_release(device);
    assert_int_equal(cuda_memory_round(0), 256);
    assert_int_equal(cuda_memory_round(257), 512);
    assert_int_equal(cuda_memory_round(1 << 20), 1 << 20);
    assert_int_equal(cuda_memory_round((1 << 20) + 1), (1 << 20) + (1 << 17));
    assert_int_equal(cuda_memory_round(((uint64_t)3 << 30) + 1), ((uint64_t)3 << 30) + (2 << 20));
}

/* Threads that compile, run, enqueue, cancel and wait on one device. */
typedef struct member {
    pthread_t thread;
    vyre_device *device;
    const vyre_program *add, *row, *steps, *endless;
    uint32_t number, turns;
    uint64_t end;
} member;

/* The driver waits for all that runs before it unloads code: not while somebody may still have to
 * call a run off. */
static void code_goes_when_nothing_runs(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *twice = fake_device_program(TWICE), *endless = fake_device_program(ENDLESS);
    vyre_device_cache_limit(device, 0);
    uint64_t before = fake->live().modules;
    uint32_t go = 1;
    const vyre_input input = {&go, sizeof go};
    vyre_pending *pending[2];
    for (size_t i = 0; i < 2; i++) {
        expect_ok(vyre_device_dispatch_async(device, endless, &input, 1, NULL, &pending[i]));
    }
    while (fake->calls(FAKE_cuStreamQuery) < 10) { /* both are under way, or will be */
        sched_yield();
    }
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, twice, NULL, &pipeline));
    vyre_pipeline_release(pipeline);
    assert_true(fake->live().modules > before);
    vyre_pending_free(pending[0]);
    assert_true(fake->live().modules > before);
    vyre_pending_free(pending[1]);
    assert_int_equal(fake->live().modules, before);
    vyre_program_release(twice);
    vyre_program_release(endless);
    vyre_device_release(device);
}

static void work_once(member *m) {
    uint32_t x[CONTRACT_LENGTH], y[CONTRACT_LENGTH], n = 3, go = 1;
    contract_numbers(x, CONTRACT_LENGTH);
    contract_numbers(y, CONTRACT_LENGTH);
    const vyre_input inputs[] = {{&n, 4}, {x, sizeof x}, {y, sizeof y}};
    const vyre_program *program = m->turns % 3 ? m->add : m->steps;
    vyre_pipeline *pipeline;
    vyre_outputs outputs;
    vyre_ticket ticket;
    expect_ok(vyre_device_dispatch(m->device, program, inputs, 3, NULL, &outputs));
    if (program == m->add) {
        expect_numbers(outputs.items[0].data, CONTRACT_LENGTH, 4);
    }
    vyre_outputs_free(&outputs);
    vyre_resident a = contract_resident(m->device, 1), b = contract_resident(m->device, 0);
    const vyre_binding bindings[] = {vyre_bind(a), vyre_bind(b)};
    const vyre_dispatch_config config = {.timeout_ns = m->turns % 4 ? 0 : UINT64_C(1) << 40};
    expect_ok(vyre_device_compile(m->device, m->row, NULL, &pipeline));
    for (int i = 0; i < 3; i++) {
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, i == 1 ? &config : NULL, &ticket));
    }
    if (m->turns % 2) {
        expect_ok(vyre_device_wait(m->device, ticket));
    }
    uint32_t found[CONTRACT_LENGTH];
    expect_ok(vyre_resident_read(m->device, b, 0, found, sizeof found));
    assert_int_equal(found[2], (3 * 2 + 1) * 27);
    expect_ok(vyre_device_wait(m->device, ticket));
    expect_ok(vyre_resident_free(m->device, a));
    expect_ok(vyre_resident_free(m->device, b));
    vyre_pipeline_release(pipeline);
    const vyre_input endless = {&go, 4};
    vyre_pending *pending;
    expect_ok(vyre_device_dispatch_async(m->device, m->endless, &endless, 1, NULL, &pending));
    if (m->turns % 2) {
        sched_yield();
    }
    vyre_pending_free(pending);
}

static void *work(void *argument) {
    member *m = argument;
    while (m->turns < m->end) {
        work_once(m);
        m->turns++;
    }
    return NULL;
}

static void threads_share_a_device(void **state) {
    (void)state;
    enum { THREADS = 8 };
    /* Another one keeps the context, in which nothing of the threads' device may be left. */
    vyre_device *other = fake_device_open(0);
    vyre_program *twice = fake_device_program(TWICE);
    expect_works(other);
    fake_live before = fake->live();
    vyre_device *device = fake_device_open(0);
    vyre_program *add = fake_device_program(ADD), *row = fake_device_program(ROW);
    vyre_program *steps = fake_device_program(STEPS), *endless = fake_device_program(ENDLESS);
    member members[THREADS];
    uint64_t turns = test_work(150, 40);
    for (uint32_t i = 0; i < THREADS; i++) {
        members[i] = (member){.device = device,
                              .add = add,
                              .row = row,
                              .steps = steps,
                              .endless = endless,
                              .number = i,
                              .turns = i,
                              .end = i + turns};
        assert_int_equal(pthread_create(&members[i].thread, NULL, work, &members[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(members[i].thread, NULL);
        assert_int_equal(members[i].turns, i + turns);
    }
    vyre_program_release(add);
    vyre_program_release(row);
    vyre_program_release(steps);
    vyre_program_release(endless);
    vyre_device_release(device);
    fake_live after = fake->live();
    assert_memory_equal(&after, &before, sizeof after);
    vyre_program_release(twice);
    vyre_device_release(other);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        TEST(runs_end_in_time),
        TEST(compiling_ends_in_time),
        TEST(a_ticket_tells_what_went_wrong),
        TEST(async_runs_go_on_by_themselves),
        TEST(code_goes_when_nothing_runs),
        TEST(artifacts_are_taken_or_made_again),
        TEST(the_compiler_s_words_are_told),
        TEST(memory_that_is_not_there_is_told),
        TEST(memory_is_used_again),
        TEST(threads_share_a_device),
    };
    fake = fake_device_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
