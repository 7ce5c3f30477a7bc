/* Threads of the library's own: detached, with every signal blocked. */
#ifndef VYRE_BASE_THREAD_H
#define VYRE_BASE_THREAD_H

#include <vyre/base.h>

/* Starts one that never has to be joined. It may run until the process ends, so the library stays
 * loaded from now on. False if the system gives none. */
bool vyre_thread_start(const char *name, void *(*run)(void *argument), void *argument);

/* Lets another thread of the same core go on; for loops that wait. */
static inline void vyre_relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
