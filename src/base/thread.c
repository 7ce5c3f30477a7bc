#define _GNU_SOURCE /* dladdr, pthread_setname_np, sched_getaffinity */

#include "base/thread.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <unistd.h>

/* A library that is closed while its threads run would take their code away. */
static void stay_loaded(void) {
    Dl_info self;
    static const char anchor;
    if (dladdr(&anchor, &self) && self.dli_fname) {
        dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
}

bool vyre_thread_start(const char *name, void *(*run)(void *argument), void *argument) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, stay_loaded);
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    if (pthread_attr_init(&attributes)) {
        return false;
    }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = !pthread_create(&thread, &attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (started) {
        pthread_setname_np(thread, name);
    }
    return started;
}

uint32_t vyre_thread_cpus(void) {
    enum { MOST_CPUS = 8192 };
    cpu_set_t sets[MOST_CPUS / CPU_SETSIZE];
    int count = sched_getaffinity(0, sizeof sets, sets) ? (int)sysconf(_SC_NPROCESSORS_ONLN)
                                                        : CPU_COUNT_S(sizeof sets, sets);
    return count > 0 ? (uint32_t)count : 1;
}
