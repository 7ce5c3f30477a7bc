/* Swaps: arrays exchange their addresses in the frame, and buffers of the caller get their contents
 * back at the end. */
#ifndef VYRE_CUDA_RUNTIME_SWAP_H
#define VYRE_CUDA_RUNTIME_SWAP_H

#include <vyre/status.h>

struct cuda_run;
struct cuda_iterations;

/* Exchanges two arrays of a run whose program swaps. */
void cuda_swap(struct cuda_run *run, uint32_t first, uint32_t second);

/* The swaps among some steps, without their phases, as often as counts say. */
void cuda_swap_steps(struct cuda_run *run, uint32_t first, uint32_t end);

/* After how many iterations of a repeat all arrays are where they were: 1 if it swaps none, 0 if
 * that takes more than `most`. */
uint32_t cuda_swap_period(struct cuda_run *run, uint32_t repeat, uint32_t most);

/* Puts the copies on the stream, or into the graph, that bring the caller's contents home. */
VYRE_MUST_USE vyre_status cuda_swap_settle(struct cuda_run *run);

#endif
