/* The threads that kernels run on: those of the process, shared by all devices.
 *
 * A kernel's units are handed out from the lowest on, so that a workgroup may wait for an earlier
 * one: whoever has that is running and comes to it. The calling thread takes part and needs nobody
 * else, so any number of threads may run kernels at once, and one that the system gives no threads
 * still gets its work done. Workers start when first needed, look for work a short while when they
 * have none, and then sleep. */
#ifndef VYRE_CPU_RUNTIME_POOL_H
#define VYRE_CPU_RUNTIME_POOL_H

#include <vyre/status.h>

#include "backend/cpu/codegen/emit.h"
#include "backend/cpu/codegen/llvm.h"

/* Threads that work on a kernel, the calling one among them: VYRE_THREADS, read at the first call.
 */
VYRE_MUST_USE vyre_status cpu_pool_size(uint32_t *out_threads);

typedef struct cpu_work {
    cpu_kernel kernel;
    const cpu_frame *frame; /* its stop flag ends the work early */
    uint64_t units;
    uint64_t grain; /* units that a thread takes at a time, at least 1 */
    uint64_t storage_bytes;
} cpu_work;

/* Runs a kernel and returns when all of it is done, or all threads have seen the stop flag. Fails
 * only without memory for the storage, before anything ran. */
VYRE_MUST_USE vyre_status cpu_pool_run(const cpu_work *work);

/* The same threads for the compiler. */
VYRE_MUST_USE vyre_status cpu_pool_lend(cpu_llvm_threads *out_threads);

#endif
