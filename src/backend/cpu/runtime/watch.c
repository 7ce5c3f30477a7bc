#include "backend/cpu/runtime/watch.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/thread.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static cpu_deadline *first;
static bool is_running;
static uint64_t sleeps_until; /* UINT64_MAX: until somebody comes */

static void init_condition(void) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork_parent(void) {
    pthread_mutex_unlock(&lock);
}

/* Neither the thread nor the runs that it watched over are there. */
static void after_fork_child(void) {
    first = NULL;
    is_running = false;
    init_condition();
    pthread_mutex_unlock(&lock);
}

static void init(void) {
    init_condition();
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

/* Sets the flags whose time has come; returns when the next one is due. */
static uint64_t fire(uint64_t now) {
    uint64_t next = UINT64_MAX;
    for (cpu_deadline *d = first; d; d = d->next) {
        if (d->at_ns <= now) {
            unsigned none = 0;
            atomic_compare_exchange_strong(d->stop, &none, CPU_STOP_TIMEOUT);
        } else if (d->at_ns < next) {
            next = d->at_ns;
        }
    }
    return next;
}

static void *run(void *argument) {
    (void)argument;
    pthread_mutex_lock(&lock);
    for (;;) {
        sleeps_until = fire(vyre_now_ns());
        if (sleeps_until == UINT64_MAX) {
            pthread_cond_wait(&changed, &lock);
        } else {
            const struct timespec until = {(time_t)(sleeps_until / 1000000000),
                                           (long)(sleeps_until % 1000000000)};
            pthread_cond_timedwait(&changed, &lock, &until);
        }
    }
    return NULL;
}

vyre_status cpu_watch_add(cpu_deadline *deadline, uint64_t at_ns, atomic_uint *stop) {
    pthread_once(&once, init);
    pthread_mutex_lock(&lock);
    if (!is_running) {
        sleeps_until = 0; /* it looks at all deadlines first */
        is_running = vyre_thread_start("vyre-watch", run, NULL);
    }
    bool watched = is_running;
    if (watched) {
        *deadline = (cpu_deadline){at_ns, stop, first, NULL};
        if (first) {
            first->previous = deadline;
        }
        first = deadline;
        if (at_ns < sleeps_until) {
            pthread_cond_signal(&changed);
        }
    }
    pthread_mutex_unlock(&lock);
    return watched ? VYRE_OK
                   : vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY,
                                      "stop other threads, or run without a timeout",
                                      "cannot start the thread that watches the timeout");
}

void cpu_watch_remove(cpu_deadline *deadline) {
    pthread_mutex_lock(&lock);
    *(deadline->previous ? &deadline->previous->next : &first) = deadline->next;
    if (deadline->next) {
        deadline->next->previous = deadline->previous;
    }
    pthread_mutex_unlock(&lock);
}
