#define _GNU_SOURCE /* sched_getaffinity */

#include "backend/cpu/pool.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include <unistd.h>

#include "backend/cpu/memory.h"
#include "backend/cpu/thread.h"
#include "base/clock.h"
#include "base/option.h"

/* A kernel under way; lives in the stack of who called. */
typedef struct job {
    const cpu_work *work;
    atomic_ullong next;  /* unit that nobody has taken; only this is touched all the time */
    atomic_uint helpers; /* workers that are at it; changed in the lock */
    bool is_awaited;     /* by somebody asleep */
    struct job *older, *newer;
} job;

enum { SPIN_NS = 30000, SPIN_LOOPS = 64 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t posted = PTHREAD_COND_INITIALIZER; /* there is work */
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;   /* a job has lost its last helper */
static job *oldest, *newest;                             /* jobs that workers may join */
static atomic_uint post_count;
static uint32_t worker_count, sleeper_count;
static uint32_t thread_count; /* of all; 0 where the option has a wrong value */
static bool spins;            /* whether there is a CPU for each thread */

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork_parent(void) {
    pthread_mutex_unlock(&lock);
}

/* No worker is there, nor whoever ran the jobs. */
static void after_fork_child(void) {
    oldest = newest = NULL;
    worker_count = sleeper_count = 0;
    pthread_cond_init(&posted, NULL);
    pthread_cond_init(&left, NULL);
    pthread_mutex_unlock(&lock);
}

/* CPUs that this process may use. */
static uint32_t usable_cpus(void) {
    enum { MOST_CPUS = 8192 };
    cpu_set_t sets[MOST_CPUS / CPU_SETSIZE];
    int count = sched_getaffinity(0, sizeof sets, sets) ? (int)sysconf(_SC_NPROCESSORS_ONLN)
                                                        : CPU_COUNT_S(sizeof sets, sets);
    return count > 0 ? (uint32_t)count : 1;
}

static void init(void) {
    uint32_t cpus = usable_cpus(), wanted = 0;
    vyre_status status = vyre_option_number(VYRE_OPTION_THREADS, &wanted);
    thread_count = status ? 0 : wanted ? wanted : cpus;
    spins = thread_count <= cpus;
    vyre_status_free(status);
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

vyre_status cpu_pool_size(uint32_t *out_threads) {
    pthread_once(&once, init);
    *out_threads = thread_count;
    uint32_t wrong;
    return thread_count ? VYRE_OK : vyre_option_number(VYRE_OPTION_THREADS, &wrong);
}

static bool is_stopped(const cpu_work *work) {
    const uint32_t *stop = work->frame->stop;
    return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

static void take_part(job *j, uint8_t *storage) {
    const cpu_work *work = j->work;
    while (!is_stopped(work)) {
        uint64_t first = atomic_fetch_add_explicit(&j->next, work->grain, memory_order_relaxed);
        if (first >= work->units) {
            break;
        }
        uint64_t rest = work->units - first;
        uint64_t end = first + (rest < work->grain ? rest : work->grain);
        work->kernel(work->frame, first, end, storage);
    }
}

static bool has_units(job *j) {
    return atomic_load_explicit(&j->next, memory_order_relaxed) < j->work->units;
}

/* The job that has the fewest helpers; in the lock. */
static job *choose(void) {
    job *best = NULL;
    for (job *j = oldest; j; j = j->newer) {
        if (has_units(j) && !is_stopped(j->work) &&
            (!best || atomic_load(&j->helpers) < atomic_load(&best->helpers))) {
            best = j;
        }
    }
    return best;
}

/* Takes part in a job and leaves it. Called and returns in the lock. A worker without memory does
 * not take part. */
static void help(job *j) {
    atomic_fetch_add(&j->helpers, 1);
    pthread_mutex_unlock(&lock);
    uint64_t bytes = j->work->storage_bytes;
    uint8_t *storage = bytes ? cpu_memory_take((size_t)bytes) : NULL;
    if (storage || !bytes) {
        take_part(j, storage);
        cpu_memory_give(storage);
    }
    pthread_mutex_lock(&lock);
    bool awaited = j->is_awaited;
    if (atomic_fetch_sub(&j->helpers, 1) == 1 && awaited) { /* the job may be gone now */
        pthread_cond_broadcast(&left);
    }
}

/* Whether something was posted within a short while. */
static bool spin_for_post(unsigned seen) {
    uint64_t start = vyre_now_ns();
    do {
        for (int i = 0; i < SPIN_LOOPS; i++) {
            if (atomic_load_explicit(&post_count, memory_order_relaxed) != seen) {
                return true;
            }
            cpu_relax();
        }
    } while (vyre_now_ns() - start < SPIN_NS);
    return false;
}

static void *worker(void *argument) {
    (void)argument;
    fesetenv(FE_DFL_ENV); /* the thread that started it may have had another one */
    pthread_mutex_lock(&lock);
    for (;;) {
        unsigned seen = atomic_load(&post_count);
        job *j = choose();
        if (j) {
            help(j);
            continue;
        }
        if (spins) {
            pthread_mutex_unlock(&lock);
            bool found = spin_for_post(seen);
            pthread_mutex_lock(&lock);
            if (found) {
                continue;
            }
        }
        sleeper_count++;
        while (atomic_load(&post_count) == seen) {
            pthread_cond_wait(&posted, &lock);
        }
        sleeper_count--;
    }
    return NULL;
}

/* Lets workers join a job, as many as have something to do. */
static void post(job *j, uint64_t useful) {
    uint32_t wanted = useful < thread_count - 1 ? (uint32_t)useful : thread_count - 1;
    pthread_mutex_lock(&lock);
    while (worker_count < wanted && cpu_thread_start("vyre-cpu", worker, NULL)) {
        worker_count++;
    }
    j->older = newest;
    *(newest ? &newest->newer : &oldest) = j;
    newest = j;
    atomic_fetch_add(&post_count, 1);
    uint32_t asleep = sleeper_count;
    if (asleep && wanted >= asleep) {
        pthread_cond_broadcast(&posted);
    } else {
        for (uint32_t i = 0; asleep && i < wanted; i++) {
            pthread_cond_signal(&posted);
        }
    }
    pthread_mutex_unlock(&lock);
}

/* Nobody joins any more; waits for those who have. */
static void withdraw(job *j) {
    pthread_mutex_lock(&lock);
    *(j->older ? &j->older->newer : &oldest) = j->newer;
    *(j->newer ? &j->newer->older : &newest) = j->older;
    pthread_mutex_unlock(&lock);
    uint64_t start = atomic_load(&j->helpers) ? vyre_now_ns() : 0;
    while (spins && atomic_load(&j->helpers) && vyre_now_ns() - start < SPIN_NS) {
        cpu_relax();
    }
    if (!atomic_load(&j->helpers)) { /* who leaves does not look at the job any more */
        return;
    }
    pthread_mutex_lock(&lock);
    j->is_awaited = true;
    while (atomic_load(&j->helpers)) {
        pthread_cond_wait(&left, &lock);
    }
    pthread_mutex_unlock(&lock);
}

vyre_status cpu_pool_run(const cpu_work *work) {
    uint8_t *storage = NULL;
    if (work->storage_bytes) {
        storage = cpu_memory_take((size_t)work->storage_bytes);
        if (!storage) {
            return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory and try again",
                                    "no memory for the %llu bytes that a workgroup needs",
                                    (unsigned long long)work->storage_bytes);
        }
    }
    pthread_once(&once, init);
    uint64_t chunks = work->units / work->grain + (work->units % work->grain != 0);
    job j = {.work = work};
    if (chunks > 1 && thread_count > 1) {
        post(&j, chunks - 1);
        take_part(&j, storage);
        withdraw(&j);
    } else {
        take_part(&j, storage);
    }
    cpu_memory_give(storage);
    return VYRE_OK;
}
