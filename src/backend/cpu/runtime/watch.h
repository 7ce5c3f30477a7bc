/* Deadlines: one thread of the process sleeps until the next one and then sets its flag. Kernels
 * look at the flag and return, so that a run ends in time even where every thread is busy with it.
 */
#ifndef VYRE_CPU_RUNTIME_WATCH_H
#define VYRE_CPU_RUNTIME_WATCH_H

#include <stdatomic.h>

#include <vyre/status.h>

/* Why a run is to stop; 0 means that it is not. */
enum { CPU_STOP_TIMEOUT = 1, CPU_STOP_CANCEL = 2 };

typedef struct cpu_deadline {
    uint64_t at_ns; /* by vyre_now_ns */
    atomic_uint *stop;
    struct cpu_deadline *next, *previous;
} cpu_deadline;

/* Sets `stop` to CPU_STOP_TIMEOUT when the time comes, unless it is set already. The caller keeps
 * the structure where it is until it is removed. */
VYRE_MUST_USE vyre_status cpu_watch_add(cpu_deadline *deadline, uint64_t at_ns, atomic_uint *stop);
/* When it returns the flag is not touched any more. */
void cpu_watch_remove(cpu_deadline *deadline);

#endif
