/* Threads of the backend: detached, deaf to signals, and with the arithmetic that programs need. */
#ifndef VYRE_CPU_RUNTIME_THREAD_H
#define VYRE_CPU_RUNTIME_THREAD_H

#include <vyre/base.h>

/* Starts one that never has to be joined. It may run until the process ends, so the library stays
 * loaded from now on. False if the system gives none. */
bool cpu_thread_start(const char *name, void *(*run)(void *argument), void *argument);

/* Lets another thread of the same core go on; for loops that wait. */
static inline void cpu_relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
