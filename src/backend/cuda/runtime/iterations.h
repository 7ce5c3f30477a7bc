/* Iterations of a `repeat while` that need no host: several in a row, as a graph, each behind a
 * kernel of one thread that looks whether it is to be. Where it is not, its phases do nothing (the
 * frame's gate), so that nothing changes any more and no later one is, either: who launched too
 * many has lost a little time. */
#ifndef VYRE_CUDA_RUNTIME_ITERATIONS_H
#define VYRE_CUDA_RUNTIME_ITERATIONS_H

#include "backend/cuda/runtime/replay.h"
#include "base/strbuf.h"

struct cuda_run;
struct cuda_code;

/* One such row, of a repeat. On the device, words of 32 bits: the gate, the number of the next
 * iteration, then the numbers that the frame's `iterations` is about. */
typedef struct cuda_iterations {
    cuda_replay replay;
    cuda_block *words;
    uint32_t *host_words; /* what they start as */
    uint32_t step, each;  /* iterations of one launch */
    uint32_t period;      /* iterations after which all arrays are where they were; each is as many
                           * times that */
    struct cuda_iterations *next;
} cuda_iterations;

/* The kernel between iterations, called iteration. */
void cuda_iterations_write(vyre_strbuf *out_ptx);

/* Puts turns on the run's stream, the first of them being number `iteration`, whose condition
 * holds; says how many, 0 if this repeat, or this iteration, is one for the host. `done` are those
 * that were put there so before. */
VYRE_MUST_USE vyre_status cuda_iterations_put(struct cuda_run *run, uint32_t step,
                                              uint64_t iteration, uint64_t done,
                                              uint64_t *out_count);
/* For a run whose launches go into such a row: the number of a repeat inside of it. */
VYRE_MUST_USE vyre_status cuda_iterations_number(struct cuda_run *run, uint32_t step,
                                                 uint32_t number);
/* The last row of a repeat, which started with iteration `first`, is through: gives the run's
 * arrays the places where the iterations that were have left them. */
VYRE_MUST_USE vyre_status cuda_iterations_swap(struct cuda_run *run, uint32_t step, uint64_t first);
/* The run is over, and nothing of it is under way. */
void cuda_iterations_end(struct cuda_run *run);

/* Frees a list; nothing runs them. With a context that is gone, only our own memory. */
void cuda_iterations_free(struct cuda_device *device, cuda_iterations *list);

#endif
