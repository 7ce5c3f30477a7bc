#include "tests/unit/cpu_check.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>

#include <sys/wait.h>
#include <unistd.h>

#include "backend/cpu/runtime/fill.h"
#include "backend/cpu/runtime/memory.h"
#include "backend/cpu/runtime/pool.h"
#include "backend/cpu/runtime/watch.h"
#include "base/clock.h"
#include "tests/unit/settings.h"

enum { THREADS = 4, UNITS = 20000 };

/* What the kernels of these tests work on: array 0. */
typedef struct field {
    atomic_uint runs[UNITS];
    atomic_uint done; /* units in a row, from 0 on */
    atomic_uint faults;
    atomic_uint stop;
} field;

static field *field_of(const cpu_frame *frame) {
    return (field *)(void *)frame->arrays[0];
}

typedef struct setting {
    field *at;
    uint8_t *arrays[1];
    cpu_frame frame;
} setting;

static void setting_init(setting *s) {
    s->at = calloc(1, sizeof *s->at);
    assert_non_null(s->at);
    s->arrays[0] = (uint8_t *)s->at;
    s->frame = (cpu_frame){.arrays = s->arrays, .stop = (const uint32_t *)(void *)&s->at->stop};
}

static void count_units(const cpu_frame *frame, uint64_t first, uint64_t end, void *storage) {
    field *f = field_of(frame);
    if (storage) {
        atomic_fetch_add(&f->faults, (uintptr_t)storage % 64 != 0);
        memset(storage, (int)first, 1000);
    }
    for (uint64_t unit = first; unit < end; unit++) {
        atomic_fetch_add(&f->runs[unit], 1);
    }
}

static void expect_each_once(const field *f, uint64_t units) {
    for (uint64_t unit = 0; unit < UNITS; unit++) {
        assert_int_equal(atomic_load(&f->runs[unit]), unit < units);
    }
    assert_int_equal(atomic_load(&f->faults), 0);
}

static void pool_runs_each_unit_once(void **state) {
    (void)state;
    static const uint64_t grains[] = {1, 7, 1000, UNITS, 10 * UNITS};
    static const uint64_t counts[] = {0, 1, 2, 999, UNITS};
    for (size_t g = 0; g < sizeof grains / sizeof *grains; g++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            setting s;
            setting_init(&s);
            expect_ok(cpu_pool_run(
                &(cpu_work){count_units, &s.frame, counts[c], grains[g], g % 2 ? 1000 : 0}));
            expect_each_once(s.at, counts[c]);
            free(s.at);
        }
    }
}

/* Each unit waits for the one before it, which must have been started. */
static void wait_for_earlier(const cpu_frame *frame, uint64_t first, uint64_t end, void *storage) {
    (void)storage;
    field *f = field_of(frame);
    for (uint64_t unit = first; unit < end; unit++) {
        while (atomic_load(&f->done) != unit) {
            if (atomic_load(&f->stop)) {
                return;
            }
            sched_yield();
        }
        atomic_fetch_add(&f->runs[unit], 1);
        atomic_store(&f->done, (unsigned)unit + 1);
    }
}

static void pool_lets_units_wait_for_earlier_ones(void **state) {
    (void)state;
    static const uint64_t grains[] = {1, 13};
    for (size_t g = 0; g < 2; g++) {
        setting s;
        setting_init(&s);
        expect_ok(cpu_pool_run(&(cpu_work){wait_for_earlier, &s.frame, 2000, grains[g], 0}));
        expect_each_once(s.at, 2000);
        free(s.at);
    }
}

typedef struct caller {
    pthread_t thread;
    uint64_t turns;
    uint64_t end;
    bool failed;
} caller;

static void *call_again_and_again(void *argument) {
    caller *c = argument;
    setting s;
    setting_init(&s);
    while (c->turns < c->end && !c->failed) {
        uint64_t units = 1 + c->turns % 300;
        vyre_status status =
            cpu_pool_run(&(cpu_work){count_units, &s.frame, units, 1 + c->turns % 5, 1000});
        c->failed = status;
        vyre_status_free(status);
        c->turns++;
        for (uint64_t unit = 0; unit < units; unit++) {
            c->failed = c->failed || atomic_exchange(&s.at->runs[unit], 0) != 1;
        }
    }
    free(s.at);
    return NULL;
}

static void pool_serves_many_callers(void **state) {
    (void)state;
    caller callers[6];
    uint64_t turns = test_work(6000, 3000);
    for (size_t i = 0; i < 6; i++) {
        callers[i] = (caller){.turns = i * 50, .end = i * 50 + turns};
        assert_int_equal(
            pthread_create(&callers[i].thread, NULL, call_again_and_again, &callers[i]), 0);
    }
    for (size_t i = 0; i < 6; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_false(callers[i].failed);
        assert_int_equal(callers[i].turns, i * 50 + turns);
    }
}

/* A kernel that runs another one. */
static void nest(const cpu_frame *frame, uint64_t first, uint64_t end, void *storage) {
    (void)storage;
    field *f = field_of(frame);
    for (uint64_t unit = first; unit < end; unit++) {
        field *inner = calloc(1, sizeof *inner);
        uint8_t *const arrays[] = {(uint8_t *)inner};
        const cpu_frame own = {.arrays = arrays};
        vyre_status status = cpu_pool_run(&(cpu_work){count_units, &own, 100, 1, 0});
        unsigned sum = 0;
        for (int i = 0; i < 100; i++) {
            sum += atomic_load(&inner->runs[i]);
        }
        atomic_fetch_add(&f->faults, status || sum != 100);
        atomic_fetch_add(&f->runs[unit], 1);
        free(inner);
    }
}

static void pool_runs_inside_of_itself(void **state) {
    (void)state;
    setting s;
    setting_init(&s);
    expect_ok(cpu_pool_run(&(cpu_work){nest, &s.frame, 50, 1, 0}));
    expect_each_once(s.at, 50);
    free(s.at);
}

/* Goes on until it is told to stop. */
static void never_end(const cpu_frame *frame, uint64_t first, uint64_t end, void *storage) {
    (void)storage, (void)end;
    field *f = field_of(frame);
    atomic_fetch_add(&f->runs[first], 1);
    while (!atomic_load(&f->stop)) {
        sched_yield();
    }
}

static void watch_ends_what_takes_too_long(void **state) {
    (void)state;
    for (int turn = 0; turn < 5; turn++) {
        setting s;
        setting_init(&s);
        cpu_deadline late, soon;
        uint64_t start = vyre_now_ns();
        atomic_uint other = 0;
        expect_ok(cpu_watch_add(&late, start + UINT64_C(3600000000000), &other));
        expect_ok(cpu_watch_add(&soon, start + 20000000, &s.at->stop));
        expect_ok(cpu_pool_run(&(cpu_work){never_end, &s.frame, UNITS, 1, 0}));
        cpu_watch_remove(&soon);
        cpu_watch_remove(&late);
        assert_true(vyre_now_ns() - start >= 20000000);
        assert_int_equal(atomic_load(&s.at->stop), CPU_STOP_TIMEOUT);
        assert_int_equal(atomic_load(&other), 0);
        assert_int_equal(atomic_load(&s.at->runs[THREADS]), 0); /* no more were started */
        free(s.at);
    }
}

static void watch_leaves_another_reason_alone(void **state) {
    (void)state;
    cpu_deadline deadline;
    atomic_uint stop = CPU_STOP_CANCEL;
    expect_ok(cpu_watch_add(&deadline, vyre_now_ns(), &stop));
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    cpu_watch_remove(&deadline);
    assert_int_equal(atomic_load(&stop), CPU_STOP_CANCEL);
}

static void note_rounding(const cpu_frame *frame, uint64_t first, uint64_t end, void *storage) {
    count_units(frame, first, end, storage);
    atomic_fetch_add(&field_of(frame)->faults, fegetround() != FE_TONEAREST);
}

static void *round_upwards(void *argument) {
    setting *s = argument;
    fesetround(FE_UPWARD);
    /* The caller's own units are the run's to set; workers must not have what it has. */
    vyre_status_free(cpu_pool_run(&(cpu_work){wait_for_earlier, &s->frame, 1000, 1, 0}));
    fesetround(FE_TONEAREST);
    vyre_status_free(cpu_pool_run(&(cpu_work){note_rounding, &s->frame, 1000, 1, 0}));
    return NULL;
}

static void workers_round_to_nearest(void **state) {
    (void)state;
    setting s;
    pthread_t thread;
    setting_init(&s);
    assert_int_equal(pthread_create(&thread, NULL, round_upwards, &s), 0);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&s.at->faults), 0);
    free(s.at);
}

/* The child has no workers, and gets its own. */
static void pool_works_after_a_fork(void **state) {
    (void)state;
    if (getenv("VYRE_TEST_EMULATED")) {
        skip(); /* a child of several threads that starts some itself is beyond qemu-user */
    }
#ifdef __SANITIZE_THREAD__
    skip(); /* it does not follow threads into a child that was forked from several */
#endif
    for (int turn = 0; turn < 3; turn++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            setting s;
            cpu_deadline deadline;
            s.at = calloc(1, sizeof *s.at);
            s.arrays[0] = (uint8_t *)s.at;
            s.frame = (cpu_frame){.arrays = s.arrays};
            vyre_status status = cpu_pool_run(&(cpu_work){count_units, &s.frame, UNITS, 10, 1000});
            bool fine = !status;
            for (uint64_t unit = 0; unit < UNITS; unit++) {
                fine = fine && atomic_load(&s.at->runs[unit]) == 1;
            }
            s.frame.stop = (const uint32_t *)(void *)&s.at->stop;
            status = cpu_watch_add(&deadline, vyre_now_ns() + 1000000, &s.at->stop);
            fine = fine && !status;
            vyre_status_free(cpu_pool_run(&(cpu_work){never_end, &s.frame, 2, 1, 0}));
            _exit(fine ? 0 : 1);
        }
        int ended;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    }
}

static void memory_is_aligned_and_used_again(void **state) {
    (void)state;
    cpu_memory_trim();
    uint8_t *first = cpu_memory_take(100000), *second = cpu_memory_take(1);
    assert_true((uintptr_t)first % 64 == 0 && (uintptr_t)second % 64 == 0);
    memset(first, 1, 100000);
    cpu_memory_give(first);
    assert_ptr_equal(cpu_memory_take(70000), first); /* no far too large one for a small need */
    cpu_memory_give(first);
    uint8_t *small = cpu_memory_take(1000);
    assert_ptr_not_equal(small, first);
    cpu_memory_give(small);
    cpu_memory_give(second);
    cpu_memory_give(NULL);
    cpu_memory_trim();
    assert_null(cpu_memory_take(SIZE_MAX));
    assert_null(cpu_memory_take(SIZE_MAX - 64));
}

static void fills_and_copies_are_whole(void **state) {
    (void)state;
    enum { MOST = 3 << 20 };
    uint8_t *from = malloc(MOST + 2), *to = malloc(MOST + 2);
    assert_true(from && to);
    for (size_t i = 0; i < MOST + 2; i++) {
        from[i] = (uint8_t)(i * 7 + (i >> 11) + 1);
    }
    static const size_t sizes[] = {0, 1, 1000, 256 << 10, (256 << 10) + 1, 1 << 20, MOST - 3, MOST};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(to, 99, MOST + 2);
        cpu_copy(to + 1, from, sizes[i]);
        assert_true(!sizes[i] || !memcmp(to + 1, from, sizes[i]));
        assert_true(to[0] == 99 && to[sizes[i] + 1] == 99);
        cpu_fill_zero(to + 1, sizes[i]);
        for (size_t k = 0; k < sizes[i]; k++) {
            assert_true(!to[k + 1]);
        }
        assert_true(to[0] == 99 && to[sizes[i] + 1] == 99);
    }
    free(from);
    free(to);
}

static void pool_has_the_size_that_was_asked_for(void **state) {
    (void)state;
    uint32_t threads;
    expect_ok(cpu_pool_size(&threads));
    assert_int_equal(threads, THREADS);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_has_the_size_that_was_asked_for),
        cmocka_unit_test(workers_round_to_nearest),
        cmocka_unit_test(pool_runs_each_unit_once),
        cmocka_unit_test(pool_lets_units_wait_for_earlier_ones),
        cmocka_unit_test(pool_serves_many_callers),
        cmocka_unit_test(pool_runs_inside_of_itself),
        cmocka_unit_test(watch_ends_what_takes_too_long),
        cmocka_unit_test(watch_leaves_another_reason_alone),
        cmocka_unit_test(pool_works_after_a_fork),
        cmocka_unit_test(memory_is_aligned_and_used_again),
        cmocka_unit_test(fills_and_copies_are_whole),
    };
    setenv("VYRE_THREADS", "4", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
