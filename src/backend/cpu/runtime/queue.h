/* Runs that go on while the host does other things: one queue for the process, with a thread that
 * takes runs in the order in which they came, one at a time, each on all threads of the pool. Who
 * waits for a run does not leave it to that thread: the next run in line is then the waiter's. */
#ifndef VYRE_CPU_RUNTIME_QUEUE_H
#define VYRE_CPU_RUNTIME_QUEUE_H

#include <vyre/backend.h>

#include "backend/cpu/runtime/executable.h"

/* Appends a run on memory by argument; everything else is copied. Tickets grow by the order. */
VYRE_MUST_USE vyre_status cpu_queue_enqueue(cpu_executable *executable, const vyre_call *call,
                                            uint8_t *const *memory, uint64_t *out_ticket);

/* The same, and waits for it. */
VYRE_MUST_USE vyre_status cpu_queue_run(cpu_executable *executable, const vyre_call *call,
                                        uint8_t *const *memory);

/* Appends a run with buffers of the host, whose inputs are copied where they are borrowed. */
VYRE_MUST_USE vyre_status cpu_queue_start(cpu_executable *executable, const vyre_call *call,
                                          vyre_output *outputs, bool is_borrowed,
                                          vyre_pending_run *out_run);

bool cpu_queue_is_done(uint64_t ticket);
/* What went wrong with a run that was enqueued; of the last thousand that failed. */
VYRE_MUST_USE vyre_status cpu_queue_wait(uint64_t ticket);
/* Waits until a run is over, however it went. */
void cpu_queue_settle(uint64_t ticket);
/* Waits until all are. */
void cpu_queue_flush(void);
/* Forgets what went wrong. */
void cpu_queue_forget(void);

#endif
