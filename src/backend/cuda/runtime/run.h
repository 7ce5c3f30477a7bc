/* A run: the steps of a program, put on a stream one behind the other. */
#ifndef VYRE_CUDA_RUNTIME_RUN_H
#define VYRE_CUDA_RUNTIME_RUN_H

#include <vyre/backend.h>

#include "backend/cuda/runtime/executable.h"
#include "runtime/plan.h"

enum { CUDA_RUN_ARRAYS = 32 };

typedef struct cuda_run {
    cuda_device *device;
    cuda_stream *stream;
    cuda_code *code;
    const vyre_call *call;
    cuda_replay *replay;              /* where launches go instead of on the stream; or NULL */
    cuda_iterations *iterations;      /* whose replay that is; or NULL */
    cuda_iterations *held_iterations; /* a list */
    uint64_t deadline_ns;             /* 0: none */
    const atomic_uint *cancel;        /* set by who wants it to end; or NULL */
    unsigned stop;                    /* why it was told to end */

    uint8_t *frame;           /* what kernels get */
    uint32_t grid[3];         /* of the last launch */
    CUdeviceptr counters;     /* by phase; 0: none are needed, or not yet there */
    cuda_block *own_counters; /* or NULL */
    uint32_t *places;    /* of a program that swaps, as vyre_places_settle takes them; or NULL */
    cuda_block *spares;  /* a list: for exchanging buffers */
    cuda_block **blocks; /* by array: memory of the run's own, or NULL */
    void *memory;        /* where the two are, if the room is too small */
    cuda_block *few[CUDA_RUN_ARRAYS];
    uint64_t room[CUDA_FRAME_LIMIT / 8];
} cuda_run;

/* Prepares a run on a stream. What `cancel` and the deadline of the call ask for holds on streams
 * of one's own. On failure there is nothing to end. */
VYRE_MUST_USE vyre_status cuda_run_init(cuda_run *run, cuda_stream *stream, cuda_code *code,
                                        const vyre_call *call, const atomic_uint *cancel);
/* Gives back memory of the run's own: to its stream where work may still use it (`is_shared`). */
void cuda_run_deinit(cuda_run *run, bool is_shared);

/* Elements of an array, in bytes. */
uint64_t cuda_run_bytes(const cuda_run *run, uint32_t array);
void cuda_run_set_array(cuda_run *run, uint32_t array, CUdeviceptr address);
/* Where the contents of an array are now. */
CUdeviceptr cuda_run_array(const cuda_run *run, uint32_t array);
/* A size in the iterations at hand, and the number of one. */
uint64_t cuda_run_size(const cuda_run *run, uint32_t size);
void cuda_run_set_iteration(cuda_run *run, uint32_t step, uint32_t number);
/* Bytes of the counters of all phases; and to be called with such, where there are any: zero before
 * the first run that has them. Without, a run has some of its own. */
uint64_t cuda_counter_bytes(const cuda_code *code);
void cuda_run_set_counters(cuda_run *run, CUdeviceptr counters);
/* Memory of the run's own for an array, with anything in it. */
VYRE_MUST_USE vyre_status cuda_run_place(cuda_run *run, uint32_t array);

/* Whether an array starts as zeros that anybody sees: all of them if the grid is not the program's.
 */
bool cuda_run_fills(const cuda_code *code, const vyre_call *call, uint32_t array);

/* Scratch arrays, zeros where they are due, then all steps. `out` buffers are cleared, too. What
 * swaps have left elsewhere is copied to the caller's buffers, but not to the run's own. */
VYRE_MUST_USE vyre_status cuda_run_put(cuda_run *run);

/* Some of them. */
VYRE_MUST_USE vyre_status cuda_run_steps(cuda_run *run, uint32_t first, uint32_t end);

/* Waits for a run on a stream of one's own; a timeout and a cancellation are failures. */
VYRE_MUST_USE vyre_status cuda_run_wait(cuda_run *run);

/* The code that a call is run with: with grid barriers if the grid fits, else split. Then the call
 * is planned anew, in `plan`, which is to be ended if `*out_call` is not `call`. */
VYRE_MUST_USE vyre_status cuda_run_choose(cuda_executable *executable, const vyre_call *call,
                                          vyre_plan *plan, vyre_call *own, cuda_code **out_code,
                                          const vyre_call **out_call);

#endif
