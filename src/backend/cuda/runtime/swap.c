#include "backend/cuda/runtime/swap.h"

#include <string.h>

#include "backend/cuda/runtime/run.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "runtime/places.h"

static CUdeviceptr *addresses_of(const cuda_run *run) {
    return (CUdeviceptr *)(void *)(run->frame + run->code->layout.arrays);
}

void cuda_swap(cuda_run *run, uint32_t first, uint32_t second) {
    CUdeviceptr *addresses = addresses_of(run), address = addresses[first];
    addresses[first] = addresses[second];
    addresses[second] = address;
    uint32_t place = run->places[first];
    run->places[first] = run->places[second];
    run->places[second] = place;
}

void cuda_swap_steps(cuda_run *run, uint32_t first, uint32_t end) {
    const vyre_step *steps = run->code->ir->steps;
    for (uint32_t i = first; i < end; i = steps[i].end) {
        if (steps[i].kind == VYRE_STEP_SWAP) {
            cuda_swap(run, steps[i].resource, steps[i].size);
        } else if (steps[i].kind == VYRE_STEP_REPEAT_COUNT) {
            uint64_t count = cuda_run_size(run, steps[i].size);
            for (uint64_t k = 0; k < count; k++) {
                cuda_run_set_iteration(run, i, (uint32_t)k);
                cuda_swap_steps(run, i + 1, steps[i].end);
            }
        }
    }
}

static bool has_swaps(const vyre_ir *ir, uint32_t first, uint32_t end) {
    while (first < end && ir->steps[first].kind != VYRE_STEP_SWAP) {
        first++;
    }
    return first < end;
}

uint32_t cuda_swap_period(cuda_run *run, uint32_t repeat, uint32_t most) {
    const vyre_ir *ir = run->code->ir;
    uint32_t end = ir->steps[repeat].end, count = run->code->layout.array_count, period = 0;
    if (!has_swaps(ir, repeat + 1, end)) {
        return 1;
    }
    CUdeviceptr *addresses = vyre_alloc_array(count, sizeof *addresses);
    uint32_t *places = vyre_alloc_array(count, sizeof *places);
    bool is_back = false;
    if (addresses && places) { /* else the host runs the iterations one by one */
        memcpy(addresses, addresses_of(run), count * sizeof *addresses);
        memcpy(places, run->places, count * sizeof *places);
        for (; period < most && !is_back; period++) {
            cuda_swap_steps(run, repeat + 1, end);
            is_back = !memcmp(places, run->places, count * sizeof *places);
        }
        memcpy(addresses_of(run), addresses, count * sizeof *addresses);
        memcpy(run->places, places, count * sizeof *places);
    }
    vyre_free(addresses);
    vyre_free(places);
    return is_back ? period : 0;
}

/* Bringing contents home */

typedef struct settling {
    cuda_run *run;
    CUdeviceptr *homes; /* by array */
} settling;

/* Memory for exchanging two buffers, a block a circle: the graph's own, or the run's. */
static vyre_status take_spare(cuda_run *run, uint64_t bytes) {
    cuda_block **list = run->replay ? &run->replay->spares : &run->spares, *taken = NULL;
    VYRE_TRY(run->replay ? cuda_memory_take(run->device, bytes, &taken)
                         : cuda_stream_memory(run->stream, bytes, &taken));
    taken->next = *list;
    *list = taken;
    return VYRE_OK;
}

static vyre_status copy_place(void *user, uint32_t to, uint32_t from, uint32_t like) {
    const settling *s = user;
    cuda_run *run = s->run;
    uint64_t bytes = cuda_run_bytes(run, like);
    if (!bytes) {
        return VYRE_OK;
    }
    if (to == VYRE_NONE) {
        VYRE_TRY(take_spare(run, bytes));
    }
    const cuda_block *spare = run->replay ? run->replay->spares : run->spares;
    CUdeviceptr target = to == VYRE_NONE ? spare->address : s->homes[to];
    CUdeviceptr source = from == VYRE_NONE ? spare->address : s->homes[from];
    if (run->replay) {
        return cuda_replay_copy(run->device, run->replay, target, source, bytes);
    }
    return cuda_check(
        run->device,
        run->device->cuda->cuMemcpyDtoDAsync(target, source, (size_t)bytes, run->stream->handle),
        "copying %llu bytes", (unsigned long long)bytes);
}

vyre_status cuda_swap_settle(cuda_run *run) {
    uint32_t count = run->code->layout.array_count;
    CUdeviceptr *addresses = addresses_of(run);
    settling s = {run, vyre_alloc_array(count, sizeof *s.homes)};
    if (!s.homes) {
        return vyre_no_memory("to run `%s`", vyre_program_name(run->code->program));
    }
    for (uint32_t i = 0; i < count; i++) {
        s.homes[run->places[i]] = addresses[i];
    }
    vyre_status status = vyre_places_settle(run->code->ir, run->places, count, copy_place, &s);
    memcpy(addresses, s.homes, count * sizeof *addresses);
    vyre_free(s.homes);
    return status;
}
