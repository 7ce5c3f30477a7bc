/* Threads of the library's own, and the CPUs for them. */
#ifndef VYRE_BASE_THREAD_H
#define VYRE_BASE_THREAD_H

#include <vyre/base.h>

/* Starts a detached thread, with every signal blocked. It may run until the process ends, so the
 * library stays loaded from now on. False if the system gives none. */
bool vyre_thread_start(const char *name, void *(*run)(void *argument), void *argument);

/* CPUs that this process may use, at least 1. */
uint32_t vyre_thread_cpus(void);

/* Lets another thread of the same core go on; for loops that wait. */
static inline void vyre_relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
