/* Turns of a `repeat while` that need no host: several in a row, as a graph, each behind a kernel
 * of one thread that looks whether it is to be. Where it is not, its phases do nothing (the frame's
 * gate), so that nothing changes any more and no later one is, either: who launched too many has
 * lost a little time. */
#ifndef VYRE_CUDA_RUNTIME_ITERATIONS_H
#define VYRE_CUDA_RUNTIME_ITERATIONS_H

#include "backend/cuda/runtime/replay.h"
#include "base/text.h"

struct cuda_run;
struct cuda_code;

/* One such row, of a repeat. On the device, words of 32 bits: the gate, the number of the next
 * turn, then the numbers that the frame's `turns` is about. */
typedef struct cuda_turns {
    cuda_replay replay;
    cuda_block *words;
    uint32_t *host_words; /* what they start as */
    uint32_t step, each;  /* turns of one launch */
    struct cuda_turns *next;
} cuda_turns;

/* The kernel between turns, called turn. */
void cuda_turns_write(vyre_text *out_ptx);

/* Puts turns on the run's lane, the first of them being number `turn`, whose condition holds; says
 * how many, 0 if this repeat, or this turn, is one for the host. `done` are those that were put
 * there so before. */
VYRE_MUST_USE vyre_status cuda_turns_put(struct cuda_run *run, uint32_t step, uint64_t turn,
                                         uint64_t done, uint64_t *out_count);
/* For a run whose launches go into such a row: the number of a repeat inside of it. */
VYRE_MUST_USE vyre_status cuda_turns_number(struct cuda_run *run, uint32_t step, uint32_t number);
/* The run is over, and nothing of it is under way. */
void cuda_turns_end(struct cuda_run *run);

/* Frees a list; nothing runs them. With a context that is gone, only our own memory. */
void cuda_turns_free(struct cuda_device *device, cuda_turns *list);

#endif
