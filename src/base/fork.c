#include "base/fork.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_uint count;
static bool is_watched;

/* In the child, before fork() returns there. */
static void count_fork(void) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
}

static void watch(void) {
    is_watched = pthread_atfork(NULL, NULL, count_fork) == 0;
}

bool vyre_fork_watch(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
    return is_watched;
}

uint32_t vyre_fork_count(void) {
    return atomic_load_explicit(&count, memory_order_relaxed);
}
