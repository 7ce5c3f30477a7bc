/* A run: the steps of a program, recorded one behind the other. */
#ifndef VYRE_VULKAN_RUN_H
#define VYRE_VULKAN_RUN_H

#include <vyre/backend.h>

#include "backend/vulkan/batch.h"
#include "backend/vulkan/executable.h"

/* Where an array's contents are. */
typedef struct vulkan_place {
    vulkan_block *block;
    uint64_t offset;
} vulkan_place;

typedef struct vulkan_run {
    vulkan_device *device;
    vulkan_executable *executable;
    const vyre_call *call;
    vulkan_batch *batch;
    uint64_t deadline_ns;      /* 0: none */
    const atomic_uint *cancel; /* set by who wants it to end; or NULL */
    unsigned stop;             /* why it was told to end */
    bool is_dirty;             /* commands were recorded since the last barrier */
    uint32_t dispatches;       /* recorded since the last submission */
    uint64_t groups;           /* the same, of grids that the host knows */
    uint64_t submissions;

    vulkan_place *places; /* by array */
    uint32_t *swapped;    /* by array, as vyre_places_settle takes them */
    uint8_t *frame;       /* what kernels get */
    vulkan_block *counters;
    void *memory; /* where these are */
} vulkan_run;

/* Takes a batch and begins it. On failure there is nothing to end. `cancel` may be NULL. */
VYRE_MUST_USE vyre_status vulkan_run_init(vulkan_run *run, vulkan_executable *executable,
                                          const vyre_call *call, const atomic_uint *cancel);
/* Gives back what the run has: at once if it is over, or when its batch is. */
void vulkan_run_deinit(vulkan_run *run, bool is_flying);

/* Elements of an array, in bytes. */
uint64_t vulkan_run_bytes(const vulkan_run *run, uint32_t array);
void vulkan_run_set_array(vulkan_run *run, uint32_t array, vulkan_block *block, uint64_t offset);
/* Memory that is given back with the run. */
VYRE_MUST_USE vyre_status vulkan_run_take(vulkan_run *run, uint64_t bytes,
                                          vulkan_block **out_block);
void vulkan_run_keep(vulkan_run *run, vulkan_block *block);
/* Whether an array starts as zeros that anybody sees: all of them if the grid is not the program's.
 */
bool vulkan_run_fills(const vulkan_executable *executable, const vyre_call *call, uint32_t array);

/* Scratch arrays, zeros where they are due, all steps; what swaps have left elsewhere is copied to
 * where it was at the start. */
VYRE_MUST_USE vyre_status vulkan_run_put(vulkan_run *run);
/* Between the begin and the end of the steps, for a run whose time is taken. */
void vulkan_run_stamp(vulkan_run *run, bool is_end);
/* NO_TIME where the device has no clock. The run is over. */
uint64_t vulkan_run_time(const vulkan_run *run);

/* Submits what was recorded. */
VYRE_MUST_USE vyre_status vulkan_run_submit(vulkan_run *run);
/* Waits for it; a timeout and a cancellation are failures. */
VYRE_MUST_USE vyre_status vulkan_run_wait(vulkan_run *run);

#endif
