#include "backend/cpu/runtime/run.h"

#include "backend/cpu/runtime/arithmetic.h"
#include "backend/cpu/runtime/fill.h"
#include "backend/cpu/runtime/memory.h"
#include "backend/cpu/runtime/pool.h"
#include "backend/cpu/runtime/watch.h"
#include "base/clock.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "runtime/places.h"
#include "runtime/plan.h"

/* A run. Everything by resource covers buffers and scratch arrays, which come first. */
typedef struct run {
    const cpu_executable *executable;
    const vyre_call *call;
    vyre_plan plan; /* of a program that was split, like `own` */
    vyre_call own;
    const vyre_ir *ir;
    uint32_t array_count;
    uint8_t **arrays;
    uint64_t *lengths;
    uint32_t *iterations; /* by step */
    bool swaps;
    uint8_t **homes;  /* of a program that swaps: by resource, as arrays were at the start */
    uint32_t *places; /* the same: whose home the contents are in */
    uint8_t *spare;   /* memory for exchanging two buffers */
    cpu_frame frame;
    atomic_uint *stop;
    cpu_deadline deadline;
    uint8_t *block; /* where the lists are, if `room` is too small */
    uint64_t room[96];
} run;

static vyre_status check_stop(const run *r) {
    unsigned reason = atomic_load_explicit(r->stop, memory_order_relaxed);
    if (!reason) {
        return VYRE_OK;
    }
    const char *name = vyre_program_name(r->executable->program);
    return reason == CPU_STOP_TIMEOUT
               ? vyre_status_make(VYRE_STATUS_TIMEOUT,
                                  "raise the timeout, or pass smaller "
                                  "arguments",
                                  "`%s` took longer than its timeout", name)
               : vyre_status_make(VYRE_STATUS_BACKEND, "run it again, and await it",
                                  "`%s` was stopped before it finished", name);
}

/* The number that a domain or a repeat goes by; 0 past the end. */
static int64_t read_element(const run *r, uint32_t resource, uint64_t index) {
    vyre_type type = (vyre_type)r->ir->resources[resource].type;
    return index < r->lengths[resource]
               ? vyre_plan_element(type, r->arrays[resource] + index * vyre_type_bytes(type))
               : 0;
}

static uint64_t size_now(const run *r, uint32_t size) {
    return vyre_call_size(r->ir, r->call, size, r->iterations);
}

/* Blocks small enough that each thread gets several, where there are not enough rows for that, and
 * more of those that take long, so that nobody waits long for the last one. */
static uint64_t block_of(const cpu_phase *phase, const vyre_grid *grid, uint32_t threads) {
    enum { SHARES = 8, MOST_SHARES = 32, LEAST = 64, LEAST_HEAVY = 32, HEAVY_CYCLES = 8192 };
    uint64_t block = phase->info.block, most = (uint64_t)threads * MOST_SHARES;
    uint64_t rows = grid->domain[1] > most ? most : grid->domain[1] * grid->domain[2];
    while (block > LEAST_HEAVY) {
        uint64_t units = (grid->domain[0] + block - 1) / block * rows;
        bool are_few = block > LEAST && units < (uint64_t)threads * SHARES;
        bool are_heavy = phase->weight / phase->info.block * block >= HEAVY_CYCLES;
        if (!are_few && !(are_heavy && units < most)) {
            break;
        }
        block /= 2;
    }
    return block;
}

/* Sets domain and groups of the frame; returns the number of units. Products that 64 bits do not
 * hold end at a number that is out of reach. */
static uint64_t enter_phase(run *r, const cpu_phase *compiled, uint32_t index, uint32_t threads) {
    const vyre_phase *phase = &r->ir->phases[index];
    const uint64_t most = UINT64_MAX / 4;
    uint64_t units = 1;
    int64_t counts[3] = {0};
    for (uint32_t i = 0; i < phase->dimensions && phase->from_resource != VYRE_NONE; i++) {
        counts[i] = read_element(r, phase->from_resource, size_now(r, phase->from_index) + i);
    }
    const vyre_grid grid = vyre_call_grid(r->ir, r->call, index, r->iterations, counts);
    r->frame.block = block_of(compiled, &grid, threads);
    for (int i = 0; i < 3; i++) {
        uint64_t size = grid.domain[i];
        uint64_t group = phase->workgroup[0] ? phase->workgroup[i] : i ? 1 : r->frame.block;
        r->frame.domain[i] = size;
        r->frame.groups[i] = (size + group - 1) / group;
        units = r->frame.groups[i] && units > most / r->frame.groups[i]
                    ? most
                    : units * r->frame.groups[i];
    }
    return units;
}

/* Units that a thread takes at a time: enough to be worth it, few enough that all threads end
 * together. */
static uint64_t grain_of(const run *r, const cpu_phase *phase, uint64_t units, uint32_t threads) {
    enum { LEAST_CYCLES = 8192, SHARES = 32 };
    if (phase->may_wait) {
        return 1;
    }
    uint64_t weight =
        phase->info.block ? phase->weight * r->frame.block / phase->info.block + 1 : phase->weight;
    uint64_t least = phase->has_loops ? 1 : LEAST_CYCLES / weight + 1;
    uint64_t share = units / threads / SHARES;
    return share > least ? share : least;
}

/* Whether the config has a domain that is larger than the one the code was written for. */
static bool is_larger(const run *r, uint32_t index) {
    const vyre_phase *phase = &r->ir->phases[index];
    for (uint32_t i = 0; i < phase->dimensions; i++) {
        if (r->call->grids[index].domain[i] > r->call->sizes[phase->domain[i]]) {
            return true;
        }
    }
    return false;
}

static vyre_status run_phase(run *r, uint32_t index) {
    const cpu_executable *executable = r->executable;
    uint32_t threads;
    VYRE_TRY(check_stop(r));
    VYRE_TRY(cpu_pool_size(&threads));
    if (is_larger(r, index)) {
        uint64_t deadline_ns = r->call->config->timeout_ns ? r->deadline.at_ns : 0;
        VYRE_TRY(cpu_executable_for_large_grids(r->executable, deadline_ns, &executable));
    }
    const cpu_phase *phase = &executable->phases[index];
    uint64_t units = enter_phase(r, phase, index, threads);
    if (!units) {
        return VYRE_OK;
    }
    const cpu_work work = {
        .kernel = phase->kernel,
        .frame = &r->frame,
        .units = units,
        .grain = grain_of(r, phase, units, threads),
        .storage_bytes = phase->info.storage_bytes,
    };
    VYRE_TRY(cpu_pool_run(&work));
    return check_stop(r);
}

static vyre_status run_steps(run *r, uint32_t first, uint32_t end);

static vyre_status run_repeat(run *r, uint32_t index) {
    const vyre_step *step = &r->ir->steps[index];
    uint64_t size = size_now(r, step->size);
    VYRE_TRY(check_stop(r));
    for (uint64_t iteration = 0;; iteration++) {
        bool more = step->kind == VYRE_STEP_REPEAT_COUNT
                        ? iteration < size
                        : read_element(r, step->resource, size) != 0;
        if (!more) {
            return VYRE_OK;
        }
        r->iterations[index] = (uint32_t)iteration;
        VYRE_TRY(run_steps(r, index + 1, step->end));
        VYRE_TRY(check_stop(r));
    }
}

static void swap_arrays(run *r, const vyre_step *step) {
    uint8_t *kept = r->arrays[step->resource];
    r->arrays[step->resource] = r->arrays[step->size];
    r->arrays[step->size] = kept;
    uint32_t place = r->places[step->resource];
    r->places[step->resource] = r->places[step->size];
    r->places[step->size] = place;
}

static vyre_status run_steps(run *r, uint32_t first, uint32_t end) {
    const vyre_step *steps = r->ir->steps;
    bool was_taken = false; /* the `if` in front of an `else` */
    for (uint32_t i = first; i < end; i = steps[i].end) {
        switch (steps[i].kind) {
        case VYRE_STEP_PHASE: VYRE_TRY(run_phase(r, steps[i].size)); break;
        case VYRE_STEP_SWAP: swap_arrays(r, &steps[i]); break;
        case VYRE_STEP_IF:
            was_taken = read_element(r, steps[i].resource, size_now(r, steps[i].size)) != 0;
            VYRE_TRY(was_taken ? run_steps(r, i + 1, steps[i].end) : VYRE_OK);
            break;
        case VYRE_STEP_ELSE:
            VYRE_TRY(was_taken ? VYRE_OK : run_steps(r, i + 1, steps[i].end));
            break;
        case VYRE_STEP_REPEAT_COUNT:
        case VYRE_STEP_REPEAT_WHILE: VYRE_TRY(run_repeat(r, i)); break;
        }
    }
    return VYRE_OK;
}

static uint64_t array_bytes(const run *r, uint32_t resource) {
    return r->lengths[resource] * vyre_resource_stride(r->ir, &r->ir->resources[resource]);
}

/* Fills an array with the zeros that it starts as, unless the program overwrites them all unseen.
 * That is known for its own domains alone. */
static void fill(const run *r, uint32_t resource, uint8_t *memory) {
    if (r->executable->overwritten[resource] == VYRE_NONE || r->call->config->grid[0]) {
        cpu_fill_zero(memory, array_bytes(r, resource));
    }
}

static vyre_status start(run *r, const cpu_executable *executable, const vyre_call *call,
                         atomic_uint *stop) {
    const vyre_ir *ir = vyre_program_ir(executable->program);
    uint32_t count = 0;
    while (count < ir->resource_count && ir->resources[count].kind <= VYRE_RESOURCE_SCRATCH) {
        count++;
    }
    r->executable = executable;
    r->ir = ir;
    r->array_count = count;
    r->stop = stop;
    r->block = NULL;
    r->plan.block = NULL;
    r->swaps = vyre_places_change(ir);
    r->spare = NULL;
    if (executable->was_split) {
        vyre_status status =
            vyre_plan_init_again(&r->plan, executable->program, executable->program, true, call);
        if (status) {
            return status;
        }
        r->own = vyre_plan_call(&r->plan, call->inputs, call->native);
        call = &r->own;
    }
    r->call = call;
    uint64_t *lists = r->room;
    size_t words = (size_t)count * 2 + (ir->step_count + 1) / 2 + (r->swaps ? count * 2 : 0);
    if (words > sizeof r->room / sizeof *r->room) {
        r->block = cpu_memory_take(words * sizeof *lists);
        lists = (uint64_t *)(void *)r->block;
        if (!lists) {
            return vyre_no_memory("to run `%s`", vyre_program_name(r->executable->program));
        }
    }
    r->arrays = (uint8_t **)(void *)lists;
    r->lengths = lists + count;
    r->iterations = (uint32_t *)(void *)(lists + (size_t)count * 2);
    r->homes = (uint8_t **)(void *)(lists + words - (r->swaps ? count * 2 : 0));
    r->places = (uint32_t *)(void *)(r->homes + count);
    for (uint32_t i = 0; i < count; i++) {
        r->arrays[i] = NULL;
        r->lengths[i] =
            ir->resources[i].kind == VYRE_RESOURCE_SCRATCH ? call->sizes[ir->resources[i].size] : 0;
    }
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        if (ir->args[arg].resource != VYRE_NONE) {
            r->lengths[ir->args[arg].resource] = call->arguments[arg];
        }
    }
    for (uint32_t i = 0; i < ir->step_count; i++) {
        r->iterations[i] = 0;
    }
    r->frame = (cpu_frame){
        .arrays = (uint8_t *const *)r->arrays,
        .lengths = r->lengths,
        .arguments = call->arguments,
        .iterations = r->iterations,
        .stop = (const uint32_t *)(const void *)stop,
    };
    return call->config->timeout_ns
               ? cpu_watch_add(&r->deadline, vyre_now_ns() + call->config->timeout_ns, stop)
               : VYRE_OK;
}

/* Gives back what start and place_scratch took. */
static void finish(run *r, bool started) {
    if (started && r->call->config->timeout_ns) {
        cpu_watch_remove(&r->deadline);
    }
    for (uint32_t i = 0; i < r->array_count; i++) {
        if (started && r->ir->resources[i].kind == VYRE_RESOURCE_SCRATCH) {
            cpu_memory_give(r->arrays[i]);
        }
    }
    cpu_memory_give(r->block);
    vyre_plan_deinit(&r->plan);
}

static vyre_status place_scratch(run *r) {
    for (uint32_t i = 0; i < r->array_count; i++) {
        if (r->ir->resources[i].kind == VYRE_RESOURCE_SCRATCH) {
            uint64_t bytes = array_bytes(r, i);
            r->arrays[i] = bytes <= SIZE_MAX ? cpu_memory_take((size_t)bytes) : NULL;
            if (!r->arrays[i]) {
                return vyre_no_memory("to run `%s`", vyre_program_name(r->executable->program));
            }
            fill(r, i, r->arrays[i]);
        }
    }
    return VYRE_OK;
}

static vyre_status copy_place(void *user, uint32_t to, uint32_t from, uint32_t like) {
    run *r = user;
    uint64_t bytes = array_bytes(r, like);
    if (to == VYRE_NONE && !r->spare) {
        r->spare = cpu_memory_take((size_t)bytes);
        if (!r->spare) {
            return vyre_no_memory("to run `%s`", vyre_program_name(r->executable->program));
        }
    }
    cpu_copy(to == VYRE_NONE ? r->spare : r->homes[to],
             from == VYRE_NONE ? r->spare : r->homes[from], bytes);
    if (from == VYRE_NONE) { /* the next one may be larger */
        cpu_memory_give(r->spare);
        r->spare = NULL;
    }
    return VYRE_OK;
}

/* Runs the steps of a program that swaps, and brings the contents of buffers home. */
static vyre_status run_swapping(run *r) {
    for (uint32_t i = 0; i < r->array_count; i++) {
        r->homes[i] = r->arrays[i];
        r->places[i] = i;
    }
    vyre_status status = run_steps(r, 0, r->ir->step_count);
    status = status ? status : vyre_places_settle(r->ir, r->places, r->array_count, copy_place, r);
    for (uint32_t i = 0; i < r->array_count; i++) {
        r->arrays[i] = r->homes[i];
    }
    cpu_memory_give(r->spare);
    return status;
}

/* Runs the steps with the arithmetic that programs need, whatever the calling thread has set. */
static vyre_status run_all(run *r) {
    vyre_status status = place_scratch(r);
    cpu_arithmetic callers;
    if (!status && !cpu_arithmetic_enter(&callers)) {
        status = vyre_status_make(VYRE_STATUS_UNSUPPORTED, "run it on another thread",
                                  "cannot set the floating-point environment of this thread");
    }
    if (!status) {
        status = r->swaps ? run_swapping(r) : run_steps(r, 0, r->ir->step_count);
        cpu_arithmetic_leave(&callers);
    }
    return status;
}

static bool is_aligned(const run *r, const void *data, uint32_t resource) {
    return (uintptr_t)data % vyre_resource_alignment(r->ir, &r->ir->resources[resource]) == 0;
}

/* Puts the buffers of a run in place. What is not aligned to its elements works in memory of its
 * own, `aside` by argument. */
static vyre_status place_on_host(run *r, vyre_output *outputs, uint8_t **aside) {
    uint32_t input = 0, output = 0;
    for (uint32_t arg = 0; arg < r->ir->arg_count; arg++) {
        uint32_t row = r->ir->args[arg].resource;
        const void *from = vyre_ir_is_out(r->ir, arg) ? NULL : r->call->inputs[input++].data;
        if (row == VYRE_NONE) {
            continue;
        }
        bool is_input = r->ir->resources[row].access == VYRE_ACCESS_IN;
        uint8_t *place = is_input ? (uint8_t *)(uintptr_t)from : outputs[output++].data;
        uint64_t bytes = array_bytes(r, row);
        bool moves = !is_aligned(r, place, row);
        if (moves) {
            place = aside[arg] = cpu_memory_take((size_t)bytes);
            if (!place) {
                return vyre_no_memory("to run `%s`", vyre_program_name(r->executable->program));
            }
        }
        r->arrays[row] = place;
        if (!is_input && !from) {
            fill(r, row, place);
        } else if (!is_input || moves) {
            cpu_copy(place, from, bytes);
        }
    }
    return VYRE_OK;
}

/* Copies outputs that worked elsewhere into the caller's memory, if all went well. */
static void take_from_aside(run *r, vyre_output *outputs, uint8_t *const *aside) {
    uint32_t output = 0;
    for (uint32_t arg = 0; arg < r->ir->arg_count; arg++) {
        uint32_t row = r->ir->args[arg].resource;
        if (row != VYRE_NONE && r->ir->resources[row].access != VYRE_ACCESS_IN) {
            if (aside[arg]) {
                cpu_copy(outputs[output].data, aside[arg], outputs[output].size);
            }
            output++;
        }
    }
}

vyre_status cpu_run_host(const cpu_executable *executable, const vyre_call *call,
                         vyre_output *outputs, atomic_uint *stop) {
    run r;
    uint8_t *aside[VYRE_LIMIT_ARGUMENTS];
    uint32_t arg_count = vyre_program_ir(executable->program)->arg_count;
    for (uint32_t i = 0; i < arg_count; i++) {
        aside[i] = NULL;
    }
    vyre_status status = start(&r, executable, call, stop);
    bool started = !status;
    status = status ? status : place_on_host(&r, outputs, aside);
    status = status ? status : run_all(&r);
    if (!status) {
        take_from_aside(&r, outputs, aside);
    }
    for (uint32_t i = 0; i < arg_count; i++) {
        cpu_memory_give(aside[i]);
    }
    finish(&r, started);
    return status;
}

vyre_status cpu_run_resident(const cpu_executable *executable, const vyre_call *call,
                             uint8_t *const *memory, atomic_uint *stop) {
    run r;
    vyre_status status = start(&r, executable, call, stop);
    bool started = !status;
    for (uint32_t arg = 0; arg < r.ir->arg_count && !status; arg++) {
        uint32_t row = r.ir->args[arg].resource;
        if (row != VYRE_NONE) {
            r.arrays[row] = memory[arg];
            if (vyre_ir_is_out(r.ir, arg)) {
                fill(&r, row, memory[arg]);
            }
        }
    }
    status = status ? status : run_all(&r);
    finish(&r, started);
    return status;
}
