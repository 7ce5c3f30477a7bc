#include "backend/cpu/runtime/pool.h"

#include <fenv.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "backend/cpu/codegen/option.h"
#include "backend/cpu/runtime/memory.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"

/* A kernel under way; lives in the stack of who called. */
typedef struct job {
    const cpu_work *work;
    atomic_ullong next; /* unit that nobody has taken; only this is touched all the time */
} job;

/* Where workers find a job. They join and leave without a lock, by the state alone: bits, and how
 * many are at it. The job stays until its caller has closed the place and all have left. */
typedef struct place {
    _Alignas(64) atomic_uint state;
    job *job;
} place;

enum {
    TAKEN = 1 << 30,   /* by somebody's job */
    OPEN = 1 << 29,    /* workers may join: there was work to take a moment ago */
    AWAITED = 1 << 28, /* its caller sleeps until the last one leaves */
    HELPERS = AWAITED - 1,
    PLACES = 64, /* jobs beyond that are their callers' alone */
    SPIN_NS = 30000,
    SPIN_LOOPS = 64,
    WAKES = 2 /* sleepers that whoever is awake wakes; these wake others */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* who starts workers, or waits for them */
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;   /* a job has lost its last helper */
static place places[PLACES];
static atomic_uint places_used; /* those from there on never had a job */
static atomic_uint post_count;
static atomic_uint worker_count;
static atomic_uint sleeper_count; /* who sleeps, or is about to, and is not to be woken yet */
static atomic_uint wake_count;    /* who is to be woken by the next one that is awake */
static sem_t sleepers;
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
    for (size_t i = 0; i < PLACES; i++) {
        atomic_store(&places[i].state, 0);
    }
    atomic_store(&worker_count, 0);
    atomic_store(&sleeper_count, 0);
    atomic_store(&wake_count, 0);
    sem_init(&sleepers, 0, 0);
    pthread_cond_init(&left, NULL);
    pthread_mutex_unlock(&lock);
}

static void init(void) {
    uint32_t cpus = vyre_thread_cpus(), wanted = 0;
    vyre_status status = vyre_option_number(VYRE_OPTION_THREADS, &wanted);
    thread_count = status ? 0 : wanted ? wanted : cpus;
    spins = thread_count <= cpus;
    vyre_status_free(status);
    sem_init(&sleepers, 0, 0);
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

/* The place that is open and has the fewest helpers; NULL if none is. */
static place *choose(void) {
    place *best = NULL;
    unsigned fewest = HELPERS;
    for (unsigned i = 0, end = atomic_load(&places_used); i < end; i++) {
        unsigned state = atomic_load_explicit(&places[i].state, memory_order_relaxed);
        if (state & OPEN && (state & HELPERS) < fewest) {
            best = &places[i];
            fewest = state & HELPERS;
        }
    }
    return best;
}

static bool join(place *p) {
    unsigned state = atomic_load_explicit(&p->state, memory_order_relaxed);
    while (state & OPEN) {
        if (atomic_compare_exchange_weak_explicit(&p->state, &state, state + 1,
                                                  memory_order_acquire, memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

static void leave(place *p) {
    unsigned before = atomic_fetch_sub_explicit(&p->state, 1, memory_order_release);
    if (before & AWAITED && (before & HELPERS) == 1) {
        pthread_mutex_lock(&lock);
        pthread_cond_broadcast(&left);
        pthread_mutex_unlock(&lock);
    }
}

static void close_place(place *p) {
    atomic_fetch_and_explicit(&p->state, ~(unsigned)OPEN, memory_order_relaxed);
}

/* Takes part in the job of a place that was joined, and leaves it. A worker without memory does not
 * take part. */
static void help(place *p) {
    uint64_t bytes = p->job->work->storage_bytes;
    uint8_t *storage = bytes ? cpu_memory_take((size_t)bytes) : NULL;
    if (storage || !bytes) {
        take_part(p->job, storage);
        cpu_memory_give(storage);
        close_place(p); /* there is nothing more to take */
    }
    leave(p);
}

/* Takes one from a count, if there is one. */
static bool take_one(atomic_uint *count) {
    unsigned found = atomic_load(count);
    while (found && !atomic_compare_exchange_weak(count, &found, found - 1)) {
    }
    return found;
}

static void wake_some(void) {
    for (int i = 0; i < WAKES && take_one(&wake_count); i++) {
        sem_post(&sleepers);
    }
}

static void wake(uint32_t wanted) {
    unsigned asleep = atomic_load(&sleeper_count), chosen;
    do {
        chosen = asleep < wanted ? asleep : wanted;
    } while (chosen && !atomic_compare_exchange_weak(&sleeper_count, &asleep, asleep - chosen));
    if (chosen) {
        atomic_fetch_add(&wake_count, chosen);
        wake_some();
    }
}

/* Sleeps until something is posted. Either who posts sees the sleeper, or the sleeper the post. */
static void sleep_until_post(unsigned seen) {
    atomic_fetch_add(&sleeper_count, 1);
    if (atomic_load(&post_count) != seen && take_one(&sleeper_count)) {
        return;
    }
    while (sem_wait(&sleepers)) { /* a signal */
    }
    wake_some();
}

/* Whether something was posted within a short while. */
static bool spin_for_post(unsigned seen) {
    uint64_t start = vyre_now_ns();
    do {
        for (int i = 0; i < SPIN_LOOPS; i++) {
            if (atomic_load_explicit(&post_count, memory_order_relaxed) != seen) {
                return true;
            }
            vyre_relax();
        }
    } while (vyre_now_ns() - start < SPIN_NS);
    return false;
}

static void *worker(void *argument) {
    (void)argument;
    fesetenv(FE_DFL_ENV); /* the thread that started it may have had another one */
    for (;;) {
        unsigned seen = atomic_load(&post_count);
        place *p = choose();
        if (p && join(p)) {
            help(p);
        } else if (!p && !(spins && spin_for_post(seen))) {
            sleep_until_post(seen);
        }
    }
    return NULL;
}

static void start_workers(uint32_t wanted) {
    pthread_mutex_lock(&lock);
    while (atomic_load(&worker_count) < wanted && vyre_thread_start("vyre-cpu", worker, NULL)) {
        atomic_fetch_add(&worker_count, 1);
    }
    pthread_mutex_unlock(&lock);
}

/* Lets workers join a job, as many as have something to do; NULL where there is no place. */
static place *post(job *j, uint64_t useful) {
    uint32_t wanted = useful < thread_count - 1 ? (uint32_t)useful : thread_count - 1;
    for (unsigned i = 0; i < PLACES; i++) {
        unsigned none = 0;
        if (!atomic_compare_exchange_strong(&places[i].state, &none, TAKEN)) {
            continue;
        }
        unsigned used = atomic_load(&places_used);
        while (used <= i && !atomic_compare_exchange_weak(&places_used, &used, i + 1)) {
        }
        if (atomic_load(&worker_count) < wanted) {
            start_workers(wanted);
        }
        places[i].job = j;
        atomic_store_explicit(&places[i].state, TAKEN | OPEN, memory_order_release);
        atomic_fetch_add(&post_count, 1);
        wake(wanted);
        return &places[i];
    }
    return NULL;
}

static bool has_helpers(place *p) {
    return atomic_load_explicit(&p->state, memory_order_acquire) & HELPERS;
}

/* Nobody joins any more; waits for those who have. */
static void withdraw(place *p) {
    close_place(p);
    uint64_t start = has_helpers(p) ? vyre_now_ns() : 0;
    while (spins && has_helpers(p) && vyre_now_ns() - start < SPIN_NS) {
        vyre_relax();
    }
    if (has_helpers(p)) {
        pthread_mutex_lock(&lock);
        atomic_fetch_or(&p->state, AWAITED);
        while (has_helpers(p)) {
            pthread_cond_wait(&left, &lock);
        }
        pthread_mutex_unlock(&lock);
    }
    atomic_store_explicit(&p->state, 0, memory_order_release);
}

vyre_status cpu_pool_run(const cpu_work *work) {
    uint8_t *storage = NULL;
    if (work->storage_bytes) {
        storage = cpu_memory_take((size_t)work->storage_bytes);
        if (!storage) {
            return vyre_no_memory("for the %llu bytes that a workgroup needs",
                                  (unsigned long long)work->storage_bytes);
        }
    }
    pthread_once(&once, init);
    uint64_t chunks = work->units / work->grain + (work->units % work->grain != 0);
    job j = {.work = work};
    if (chunks > 1 && thread_count > 1) {
        place *p = post(&j, chunks - 1);
        take_part(&j, storage);
        if (p) {
            withdraw(p);
        }
    } else {
        take_part(&j, storage);
    }
    cpu_memory_give(storage);
    return VYRE_OK;
}

typedef struct parts {
    void (*part)(void *user, uint32_t index);
    void *user;
} parts;

static void run_parts(const cpu_frame *frame, uint64_t first, uint64_t end, void *storage) {
    (void)storage;
    const parts *all = (const parts *)(const void *)frame->arrays[0];
    for (uint64_t i = first; i < end; i++) {
        all->part(all->user, (uint32_t)i);
    }
}

static vyre_status run_each(void (*part)(void *user, uint32_t index), void *user, uint32_t count) {
    parts all = {part, user};
    uint8_t *const arrays[] = {(uint8_t *)&all};
    const cpu_frame frame = {.arrays = arrays};
    return cpu_pool_run(&(cpu_work){run_parts, &frame, count, 1, 0});
}

vyre_status cpu_pool_lend(cpu_llvm_threads *out_threads) {
    out_threads->run = run_each;
    return cpu_pool_size(&out_threads->count);
}
