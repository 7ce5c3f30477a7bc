/* fork() while other threads use a device: the child refuses what it inherited, at once and with a
 * reason, and can acquire devices of its own. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fork.h"
#include "runtime/device.h"
#include "tests/unit/contract_check.h"
#include "tests/unit/settings.h"

enum { THREADS = 3, MOST_SECONDS = 120 };

typedef struct shared {
    mock *m;
    vyre_device *device;
    vyre_program *programs[2];
    vyre_pipeline *pipeline;
    vyre_pending *pending;
    vyre_resident resident;
    atomic_bool ended;
} shared;

/* Compiles, runs and forgets, so that every lock of the device is held now and then. */
static void *work(void *argument) {
    shared *s = argument;
    uint32_t x[CONTRACT_LENGTH];
    const vyre_input input = {x, sizeof x};
    contract_numbers(x, CONTRACT_LENGTH);
    for (size_t i = 0; !atomic_load(&s->ended); i++) {
        vyre_outputs outputs;
        vyre_pipeline *pipeline;
        vyre_status status = vyre_device_compile(s->device, s->programs[i % 2], NULL, &pipeline);
        if (!status) {
            status = vyre_pipeline_dispatch(pipeline, &input, 1, NULL, &outputs);
            vyre_outputs_free(&outputs);
            vyre_pipeline_release(pipeline);
        }
        vyre_resident made = {0};
        status = status ? status : vyre_resident_allocate(s->device, 64, &made);
        status = status ? status : vyre_resident_free(s->device, made);
        if (status) {
            return status;
        }
    }
    return NULL;
}

static bool is_refused(vyre_status status) {
    bool refused = vyre_status_code_of(status) == VYRE_STATUS_INVALID_ARGUMENT &&
                   strstr(vyre_status_text(status), "before fork()") &&
                   strstr(vyre_status_text(status), "Fix: acquire the device again");
    vyre_status_free(status);
    return refused;
}

/* What a child does, as an exit status: 0, or the number of what was wrong. */
static int try_in_child(shared *s) {
    uint32_t x[CONTRACT_LENGTH] = {0};
    const vyre_input input = {x, sizeof x};
    const vyre_binding bindings[] = {vyre_bind(s->resident), vyre_bind(s->resident)};
    vyre_outputs outputs, none = {0};
    vyre_pipeline *pipeline;
    vyre_pending *pending;
    vyre_resident made;
    vyre_ticket ticket;
    vyre_cache_counts counts;
    vyre_device *device = s->device;
#define REFUSED(call)                                                                              \
    if (!is_refused(call)) {                                                                       \
        return __LINE__ % 100 + 100;                                                               \
    }
    REFUSED(vyre_device_compile(device, s->programs[0], NULL, &pipeline))
    REFUSED(vyre_device_dispatch(device, s->programs[0], &input, 1, NULL, &outputs))
    REFUSED(vyre_device_dispatch_into(device, s->programs[0], &input, 1, NULL, &none))
    REFUSED(vyre_device_dispatch_async(device, s->programs[0], &input, 1, NULL, &pending))
    REFUSED(vyre_pipeline_dispatch(s->pipeline, &input, 1, NULL, &outputs))
    REFUSED(vyre_pipeline_dispatch_async(s->pipeline, &input, 1, NULL, &pending))
    REFUSED(vyre_pipeline_enqueue(s->pipeline, bindings, 2, NULL, &ticket))
    REFUSED(vyre_pending_await(s->pending, &outputs))
    REFUSED(vyre_resident_allocate(device, 64, &made))
    REFUSED(vyre_resident_upload(device, s->resident, x, sizeof x))
    REFUSED(vyre_resident_read(device, s->resident, 0, x, sizeof x))
    REFUSED(vyre_resident_free(device, s->resident))
    REFUSED(vyre_device_prepare(device))
    REFUSED(vyre_device_flush(device))
    REFUSED(vyre_device_wait(device, 1))
    REFUSED(vyre_device_recover(device))
    REFUSED(vyre_device_shutdown(device))
#undef REFUSED
    if (!vyre_device_is_done(device, 1) || !vyre_device_lost(device) ||
        !vyre_pending_is_ready(s->pending)) {
        return 1;
    }
    vyre_device_cache_counts(device, &counts);
    vyre_device_cache_limit(device, 0);
    vyre_pending_free(s->pending);
    vyre_pipeline_release(s->pipeline);
    vyre_device_release(device);

    vyre_device *own;
    if (vyre_acquire("reference", &own) ||
        vyre_device_dispatch(own, s->programs[0], &input, 1, NULL, &outputs)) {
        return 2;
    }
    vyre_outputs_free(&outputs);
    vyre_device_release(own);
    return 0;
}

static void child_refuses_devices_of_its_parent(void **state) {
    (void)state;
    shared s = {.m = mock_create(&(mock_spec){.slots = MOCK_RESIDENT | MOCK_COMPILE})};
    uint32_t x[CONTRACT_LENGTH] = {0};
    const vyre_input input = {x, sizeof x};
    pthread_t threads[THREADS];
    assert_true(vyre_fork_watch());
    uint32_t forks = vyre_fork_count();
    vyre_device *first; /* the registry loads its plugins */
    expect_ok(vyre_acquire("reference", &first));
    vyre_device_release(first);
    s.device = contract_device(s.m);
    s.programs[0] = contract_program(TWICE);
    s.programs[1] = contract_program(
        "program thrice(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid] * 3; "
        "}");
    s.resident = contract_resident(s.device, 1);
    expect_ok(vyre_device_compile(s.device, s.programs[0], NULL, &s.pipeline));
    expect_ok(vyre_pipeline_dispatch_async(s.pipeline, &input, 1, NULL, &s.pending));
    vyre_device_cache_limit(s.device, 0);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, &s), 0);
    }
    for (size_t i = 0; i < test_work(900, 90); i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            alarm(MOST_SECONDS); /* one that hangs is ended, and told of */
            _exit(try_in_child(&s));
        }
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        if (!WIFEXITED(how) || WEXITSTATUS(how)) {
            fail_msg("child %zu: %s %d", i, WIFEXITED(how) ? "exit status" : "signal",
                     WIFEXITED(how) ? WEXITSTATUS(how) : WTERMSIG(how));
        }
    }
    atomic_store(&s.ended, true);
    for (size_t i = 0; i < THREADS; i++) {
        void *failure;
        pthread_join(threads[i], &failure);
        expect_ok(failure);
    }
    /* The parent's device is as it was. */
    assert_int_equal(vyre_fork_count(), forks);
    vyre_outputs outputs;
    expect_ok(vyre_pending_await(s.pending, &outputs));
    vyre_outputs_free(&outputs);
    expect_works(s.device);
    vyre_pending_free(s.pending);
    vyre_pipeline_release(s.pipeline);
    vyre_program_release(s.programs[0]);
    vyre_program_release(s.programs[1]);
    vyre_device_release(s.device);
    mock_free(s.m);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(child_refuses_devices_of_its_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
