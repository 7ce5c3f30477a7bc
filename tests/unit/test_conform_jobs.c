/* Conformance in several processes: what comes out is the same as in one, and what becomes of a
 * process is told. conform_session_run starts the threads, by pthread_create.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/reference/backend.h"
#include "base/status.h"
#include "conform/session.h"
#include "runtime/device.h"

/* A device that runs programs as the reference backend does, but for one. */
typedef struct subject {
    vyre_digest odd;     /* the program that it gives wrong bytes for */
    bool is_deadly;      /* it ends the process instead, by a signal */
    bool is_quiet;       /* the same by _exit, as if all were well */
    bool is_wrong;       /* it gives wrong bytes for all programs */
    vyre_digest endless; /* the program that does not end */
    long pause_ns;       /* before each program */
} subject;

static const char *subject_id(const vyre_backend *backend) {
    (void)backend;
    return "subject";
}

static uint32_t subject_features(const vyre_backend *backend) {
    (void)backend;
    return VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC | VYRE_FEATURE_STEPS |
           VYRE_FEATURE_CONSTANT_ARRAYS | VYRE_FEATURE_RECORDS;
}

static atomic_uint dispatches; /* of this process */

static bool is_same(vyre_digest one, vyre_digest other) {
    return one.high == other.high && one.low == other.low;
}

static vyre_status subject_dispatch(const vyre_backend *backend, const vyre_call *call,
                                    vyre_output *outputs) {
    const subject *s = backend->state;
    vyre_digest digest = vyre_program_digest(call->program);
    bool is_odd = is_same(digest, s->odd);
    vyre_outputs own = {0};
    atomic_fetch_add(&dispatches, 1);
    nanosleep(&(struct timespec){.tv_nsec = s->pause_ns}, NULL);
    if (is_odd && s->is_deadly) {
        raise(SIGKILL);
    }
    if (is_odd && s->is_quiet) {
        _exit(0);
    }
    while (is_same(digest, s->endless)) {
        pause();
    }
    VYRE_TRY(vyre_reference_run(call->program, call->inputs, call->input_count, call->config, NULL,
                                &own));
    for (size_t i = 0; i < own.count; i++) {
        if (own.items[i].size) {
            memcpy(outputs[i].data, own.items[i].data, own.items[i].size);
            outputs[i].data[0] ^= is_odd || s->is_wrong;
        }
    }
    vyre_outputs_free(&own);
    return VYRE_OK;
}

static void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

static vyre_device *open_subject(subject *s) {
    const vyre_backend_slots slots = {
        VYRE_BACKEND_HEAD,
        .id = subject_id,
        .dispatch = subject_dispatch,
        .dispatch_borrowed = subject_dispatch,
        .features = subject_features,
        .max_workgroup_size = vyre_any_workgroup_size,
        .max_workgroups_per_dimension = vyre_any_workgroup_count,
    };
    const vyre_backend made = {&slots, s, NULL};
    vyre_device *device;
    expect_ok(vyre_device_open(&made, "subject", 0, &device));
    return device;
}

static conform_session some_cases(void) {
    return (conform_session){.suites = 1u << CONFORM_SUITE_SIZES | 1u << CONFORM_SUITE_SMALL,
                             .glob = "sizes.repeat*,small.*",
                             .seed = 1,
                             .programs = 60,
                             .runs = 1};
}

/* What the worker of a driver does. The device is opened in each process. */
static vyre_status run(conform_session *c, subject *s, uint32_t jobs, vyre_device **out_device) {
    expect_ok(conform_session_list(c));
    expect_ok(jobs > 1 ? conform_jobs_start(c, jobs) : VYRE_OK);
    *out_device = open_subject(s);
    vyre_status status = conform_session_run(c, *out_device);
    if (conform_jobs_is_worker(c)) {
        if (status) {
            conform_jobs_fail(c, status);
        }
        _exit(0);
    }
    return status;
}

static vyre_digest digest_of_seed(uint64_t seed) {
    conform_trial trial;
    expect_ok(conform_generate_small(seed, &trial));
    vyre_digest digest = vyre_program_digest(trial.program);
    conform_trial_free(&trial);
    return digest;
}

static void several_processes_find_what_one_finds(void **state) {
    (void)state;
    for (uint64_t odd = 0; odd <= 33; odd += 33) {
        subject s = {.odd = odd ? digest_of_seed(odd) : (vyre_digest){0, 0}};
        conform_session one = some_cases(), many = some_cases();
        vyre_device *devices[2];
        expect_ok(run(&one, &s, 1, &devices[0]));
        expect_ok(run(&many, &s, 3, &devices[1]));
        assert_int_equal(conform_session_total(&one, CONFORM_FATE_FAILED), odd != 0);
        for (size_t i = 0; i < one.cases.count; i++) {
            assert_int_equal(one.cases.items[i].fate, many.cases.items[i].fate);
            assert_int_equal(one.cases.items[i].digest, many.cases.items[i].digest);
        }
        for (size_t i = 0; i < CONFORM_SUITE_COUNT; i++) {
            assert_memory_equal(one.tallies[i].counts, many.tallies[i].counts,
                                sizeof one.tallies[i].counts);
            assert_int_equal(one.tallies[i].digest, many.tallies[i].digest);
            assert_true((many.tallies[i].seconds > 0) == (one.tallies[i].seconds > 0));
        }
        assert_int_equal(one.failure.is_known, odd != 0);
        assert_int_equal(many.failure.is_known, odd != 0);
        if (odd) {
            assert_int_equal(many.failure.seed, odd);
            assert_string_equal(one.failure.original.text, many.failure.original.text);
            assert_string_equal(one.failure.text, many.failure.text);
        } else {
            assert_int_equal(one.instructions, many.instructions);
        }
        for (int i = 0; i < 2; i++) {
            vyre_device_release(devices[i]);
        }
        conform_session_deinit(&one);
        conform_session_deinit(&many);
    }
}

static void count_done(void *user, uint64_t done, const char *now) {
    (void)now;
    *(uint64_t *)user = done;
}

/* No more than those that had begun. */
static void none_runs_behind_one_that_failed(void **state) {
    (void)state;
    for (uint32_t jobs = 1; jobs <= 2; jobs++) {
        subject s = {.odd = digest_of_seed(3), .pause_ns = 1000000};
        uint64_t done = 0;
        conform_session c = some_cases();
        vyre_device *device;
        c.glob = "small.*";
        c.programs = 4000;
        c.step = count_done;
        c.user = &done;
        expect_ok(run(&c, &s, jobs, &device));
        assert_int_equal(c.tallies[CONFORM_SUITE_SMALL].counts[CONFORM_FATE_PASSED], 2);
        assert_in_range(done, 3, 1000);
        vyre_device_release(device);
        conform_session_deinit(&c);
    }
}

static void a_process_that_ends_is_told_with_its_case(void **state) {
    (void)state;
    static const char *const ends[] = {"ended with signal 9 while it ran ",
                                       "ended with exit status 0 while it ran "};
    for (int quiet = 0; quiet < 2; quiet++) {
        subject s = {.odd = digest_of_seed(20), .is_deadly = !quiet, .is_quiet = quiet};
        conform_session c = some_cases();
        vyre_device *device;
        c.glob = "small.*";
        vyre_status status = run(&c, &s, 3, &device);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_BACKEND);
        assert_non_null(strstr(vyre_status_text(status), ends[quiet]));
        assert_non_null(strstr(vyre_status_text(status), "small.20"));
        vyre_status_free(status);
        vyre_device_release(device);
        conform_session_deinit(&c);
    }
}

static void trouble_of_a_process_is_told(void **state) {
    (void)state;
    conform_session c = some_cases();
    subject s = {0};
    expect_ok(conform_session_list(&c));
    expect_ok(conform_jobs_start(&c, 2));
    if (conform_jobs_is_worker(&c)) {
        conform_jobs_fail(&c, vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free some, or so",
                                               "there is no place. Fix: it: not"));
        _exit(0);
    }
    vyre_device *device = open_subject(&s);
    vyre_status status = conform_session_run(&c, device);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_OUT_OF_MEMORY);
    assert_string_equal(vyre_status_message(status), "there is no place. Fix: it: not");
    assert_string_equal(vyre_status_fix(status), "free some, or so");
    vyre_status_free(status);
    vyre_device_release(device);
    conform_session_deinit(&c);
}

/* Nobody is left that waits for work. */
static void processes_end_with_their_session(void **state) {
    (void)state;
    conform_session c = some_cases();
    expect_ok(conform_session_list(&c));
    expect_ok(conform_jobs_start(&c, 2));
    if (conform_jobs_is_worker(&c)) {
        sleep(1000);
        _exit(0);
    }
    pid_t first = c.jobs.pids[0], second = c.jobs.pids[1];
    assert_int_equal(kill(first, 0), 0);
    conform_session_deinit(&c);
    assert_int_equal(kill(first, 0), -1);
    assert_int_equal(kill(second, 0), -1);
}

/* What began is taken down, and the rest is skipped. */
static void time_that_is_over_keeps_what_was_found(void **state) {
    (void)state;
    for (uint32_t jobs = 1; jobs <= 2; jobs++) {
        subject s = {.pause_ns = 20000000};
        conform_session c = some_cases();
        vyre_device *device;
        c.programs = 100000;
        c.seconds_most = 1;
        expect_ok(run(&c, &s, jobs, &device));
        const uint64_t *counts = c.tallies[CONFORM_SUITE_SMALL].counts;
        uint64_t passed = counts[CONFORM_FATE_PASSED], seed;
        assert_true(passed > 0 && counts[CONFORM_FATE_SKIPPED] > 0);
        assert_int_equal(passed + counts[CONFORM_FATE_SKIPPED], c.programs);
        assert_string_equal(
            conform_seeds_reason(&c, CONFORM_SUITE_SMALL, CONFORM_FATE_SKIPPED, &seed),
            CONFORM_LATE);
        assert_int_equal(seed, passed + 1);
        vyre_device_release(device);
        conform_session_deinit(&c);
    }
}

/* The cases before the programs of seeds. */
static void cases_without_a_turn_are_skipped(void **state) {
    (void)state;
    subject s = {.pause_ns = 60000000};
    conform_session c = some_cases();
    vyre_device *device;
    c.glob = "sizes.*";
    c.suites = 1u << CONFORM_SUITE_SIZES;
    c.seconds_most = 1;
    expect_ok(run(&c, &s, 1, &device));
    const uint64_t *counts = c.tallies[CONFORM_SUITE_SIZES].counts;
    assert_true(counts[CONFORM_FATE_PASSED] > 0 && counts[CONFORM_FATE_SKIPPED] > 0);
    assert_int_equal(counts[CONFORM_FATE_PASSED] + counts[CONFORM_FATE_SKIPPED], c.cases.count);
    const conform_case *last = &c.cases.items[c.cases.count - 1];
    assert_int_equal(last->fate, CONFORM_FATE_SKIPPED);
    assert_string_equal(last->text, CONFORM_LATE);
    vyre_device_release(device);
    conform_session_deinit(&c);
}

/* A program that would take for ever ends with its process, and is skipped. */
static void what_does_not_end_in_time_is_skipped(void **state) {
    (void)state;
    subject s = {.endless = digest_of_seed(7)};
    conform_session c = some_cases();
    vyre_device *device;
    c.seconds_most = 2;
    expect_ok(run(&c, &s, 2, &device));
    const uint64_t *counts = c.tallies[CONFORM_SUITE_SMALL].counts;
    uint64_t seed;
    assert_int_equal(counts[CONFORM_FATE_PASSED], c.programs - 1);
    assert_int_equal(counts[CONFORM_FATE_SKIPPED], 1);
    assert_non_null(conform_seeds_reason(&c, CONFORM_SUITE_SMALL, CONFORM_FATE_SKIPPED, &seed));
    assert_int_equal(seed, 7);
    assert_int_equal(conform_session_fate(&c), CONFORM_FATE_PASSED);
    vyre_device_release(device);
    conform_session_deinit(&c);
}

/* What failed is told as it is: nothing runs behind the end. */
static void nothing_is_cut_down_when_time_is_over(void **state) {
    (void)state;
    subject s = {.is_wrong = true, .endless = digest_of_seed(1)};
    conform_session c = some_cases();
    vyre_device *device;
    c.seconds_most = 1;
    atomic_store(&dispatches, 0);
    expect_ok(run(&c, &s, 2, &device));
    assert_int_equal(atomic_load(&dispatches), 0);
    assert_true(c.tallies[CONFORM_SUITE_SIZES].counts[CONFORM_FATE_FAILED] > 0);
    assert_int_equal(c.tallies[CONFORM_SUITE_SMALL].counts[CONFORM_FATE_SKIPPED], 1);
    assert_true(c.failure.is_known && c.failure.is_seeded && c.failure.size);
    assert_int_equal(c.failure.seed, 2);
    vyre_device_release(device);
    conform_session_deinit(&c);
}

static void what_failed_is_repeated_on_as_many_vectors(void **state) {
    (void)state;
    static const struct {
        uint64_t vectors;
        const char *repeat;
    } rows[] = {{777, "'floats.f32.add' --runs 1 --vectors 777`"},
                {CONFORM_VECTORS, "'floats.f32.add' --runs 1`"}};
    for (size_t i = 0; i < 2; i++) {
        subject s = {.is_wrong = true};
        conform_session c = some_cases();
        vyre_device *device;
        vyre_strbuf text = {0};
        c.suites = 1u << CONFORM_SUITE_FLOATS;
        c.glob = "floats.f32.add";
        c.vectors = rows[i].vectors;
        expect_ok(run(&c, &s, 1, &device));
        conform_session_print(&c, &text);
        assert_non_null(strstr(vyre_strbuf_string(&text), rows[i].repeat));
        vyre_strbuf_free(&text);
        vyre_device_release(device);
        conform_session_deinit(&c);
    }
}

/* A process that is ended between taking a task and telling so leaves it behind without a word. */
static void what_nobody_told_of_is_skipped(void **state) {
    (void)state;
    static const char *const globs[] = {"small.*", "sizes.repeat*"};
    for (size_t i = 0; i < 2; i++) {
        subject s = {0};
        conform_session c = some_cases();
        c.glob = globs[i];
        c.seconds_most = 1;
        expect_ok(conform_session_list(&c));
        expect_ok(conform_jobs_start(&c, 2));
        vyre_device *device = open_subject(&s);
        if (c.jobs.worker == 1) {
            atomic_fetch_add(&c.jobs.queue->next, 1);
            pause();
        }
        while (conform_jobs_is_worker(&c) && !atomic_load(&c.jobs.queue->next)) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
        vyre_status status = conform_session_run(&c, device);
        if (conform_jobs_is_worker(&c)) {
            _exit(status != NULL);
        }
        expect_ok(status);
        assert_true(conform_session_total(&c, CONFORM_FATE_PASSED) > 0);
        assert_true(conform_session_total(&c, CONFORM_FATE_SKIPPED) > 0);
        assert_int_equal(conform_session_total(&c, CONFORM_FATE_PASSED) +
                             conform_session_total(&c, CONFORM_FATE_SKIPPED),
                         conform_session_count(&c));
        vyre_device_release(device);
        conform_session_deinit(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_processes_find_what_one_finds),
        cmocka_unit_test(none_runs_behind_one_that_failed),
        cmocka_unit_test(a_process_that_ends_is_told_with_its_case),
        cmocka_unit_test(trouble_of_a_process_is_told),
        cmocka_unit_test(processes_end_with_their_session),
        cmocka_unit_test(time_that_is_over_keeps_what_was_found),
        cmocka_unit_test(cases_without_a_turn_are_skipped),
        cmocka_unit_test(what_does_not_end_in_time_is_skipped),
        cmocka_unit_test(what_nobody_told_of_is_skipped),
        cmocka_unit_test(nothing_is_cut_down_when_time_is_over),
        cmocka_unit_test(what_failed_is_repeated_on_as_many_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
