#include "backend/cuda/runtime/run.h"

#include <string.h>

#include "backend/cuda/runtime/swap.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "pass/walk.h"

static const uint64_t most_x = INT32_MAX, most_yz = 65535;

static void put_u64(const cuda_run *run, uint32_t at, uint64_t value) {
    memcpy(run->frame + at, &value, sizeof value);
}

static uint64_t get_u64(const cuda_run *run, uint32_t at) {
    uint64_t value;
    memcpy(&value, run->frame + at, sizeof value);
    return value;
}

void cuda_run_set_array(cuda_run *run, uint32_t array, CUdeviceptr address) {
    put_u64(run, run->code->layout.arrays + array * 8, address);
}

CUdeviceptr cuda_run_array(const cuda_run *run, uint32_t array) {
    return get_u64(run, run->code->layout.arrays + array * 8);
}

static uint64_t array_length(const cuda_run *run, uint32_t array) {
    return get_u64(run, run->code->layout.lengths + array * 8);
}

static const uint32_t *iterations_of(const cuda_run *run) {
    return (const uint32_t *)(const void *)(run->frame + run->code->layout.iterations);
}

uint64_t cuda_run_size(const cuda_run *run, uint32_t size) {
    return vyre_call_size(run->code->ir, run->call, size, iterations_of(run));
}

void cuda_run_set_iteration(cuda_run *run, uint32_t step, uint32_t number) {
    memcpy(run->frame + run->code->layout.iterations + (size_t)step * 4, &number, sizeof number);
}

uint64_t cuda_run_bytes(const cuda_run *run, uint32_t array) {
    return array_length(run, array) *
           vyre_resource_stride(run->code->ir, &run->code->ir->resources[array]);
}

vyre_status cuda_run_init(cuda_run *run, cuda_stream *stream, cuda_code *code,
                          const vyre_call *call, const atomic_uint *cancel) {
    const cuda_layout *layout = &code->layout;
    const vyre_ir *ir = code->ir;
    uint64_t timeout = call->config->timeout_ns, now = timeout ? vyre_now_ns() : 0;
    run->device = stream->device;
    run->stream = stream;
    run->code = code;
    run->call = call;
    run->replay = NULL;
    run->iterations = run->held_iterations = NULL;
    run->deadline_ns = timeout && timeout < UINT64_MAX - now ? now + timeout : 0;
    run->cancel = cancel;
    run->stop = 0;
    run->memory = NULL;
    run->counters = 0;
    run->own_counters = NULL;
    run->places = NULL;
    run->spares = NULL;
    run->grid[0] = 0; /* nothing was launched */
    run->frame = (uint8_t *)run->room;
    run->blocks = run->few;
    if (layout->bytes > sizeof run->room || layout->array_count > CUDA_RUN_ARRAYS) {
        run->memory = vyre_alloc(layout->bytes + layout->array_count * sizeof *run->blocks);
        if (!run->memory) {
            return vyre_no_memory("to run `%s`", vyre_program_name(code->program));
        }
        run->blocks = run->memory;
        run->frame = (uint8_t *)(run->blocks + layout->array_count);
    }
    if (code->swaps) {
        run->places = vyre_alloc_array(layout->array_count, sizeof *run->places);
        if (!run->places) {
            vyre_free(run->memory);
            return vyre_no_memory("to run `%s`", vyre_program_name(code->program));
        }
        for (uint32_t i = 0; i < layout->array_count; i++) {
            run->places[i] = i;
        }
    }
    memset(run->frame, 0, layout->bytes);
    for (uint32_t i = 0; i < layout->array_count; i++) {
        const vyre_resource *row = &ir->resources[i];
        run->blocks[i] = NULL;
        if (row->kind == VYRE_RESOURCE_SCRATCH) {
            put_u64(run, layout->lengths + i * 8, call->sizes[row->size]);
        }
    }
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t row = ir->args[arg].resource;
        put_u64(run, row == VYRE_NONE ? layout->arguments + arg * 8 : layout->lengths + row * 8,
                call->arguments[arg]);
    }
    put_u64(run, layout->stop,
            run->deadline_ns || cancel ? stream->words->address + CUDA_STOP_AT : 0);
    return VYRE_OK;
}

uint64_t cuda_counter_bytes(const cuda_code *code) {
    return (uint64_t)code->phase_count * CUDA_COUNTER_BYTES;
}

void cuda_run_set_counters(cuda_run *run, CUdeviceptr counters) {
    run->counters = counters;
}

static vyre_status place_counters(cuda_run *run) {
    uint64_t bytes = cuda_counter_bytes(run->code);
    vyre_status status = cuda_memory_take(run->device, bytes, &run->own_counters);
    if (!status) {
        run->counters = run->own_counters->address;
        status = cuda_check(run->device,
                            run->device->cuda->cuMemsetD8Async(run->counters, 0, (size_t)bytes,
                                                               run->stream->handle),
                            "clearing counters");
    }
    return status;
}

static void give_back(cuda_run *run, cuda_block *block, bool is_shared) {
    if (is_shared) {
        cuda_stream_memory_back(run->stream, block);
    } else {
        cuda_memory_give(run->device, block);
    }
}

void cuda_run_deinit(cuda_run *run, bool is_shared) {
    cuda_iterations_end(run);
    for (uint32_t i = 0; i < run->code->layout.array_count; i++) {
        if (run->blocks[i]) {
            give_back(run, run->blocks[i], is_shared);
        }
    }
    while (run->spares) {
        cuda_block *next = run->spares->next;
        give_back(run, run->spares, is_shared);
        run->spares = next;
    }
    cuda_memory_give(run->device, run->own_counters);
    vyre_free(run->places);
    vyre_free(run->memory);
}

vyre_status cuda_run_place(cuda_run *run, uint32_t array) {
    cuda_block **block = &run->blocks[array];
    vyre_status status = cuda_stream_memory(run->stream, cuda_run_bytes(run, array), block);
    if (!status) {
        cuda_run_set_array(run, array, (*block)->address);
    }
    return vyre_status_annotate(status, "array %u of `%s`", array,
                                vyre_program_name(run->code->program));
}

bool cuda_run_fills(const cuda_code *code, const vyre_call *call, uint32_t array) {
    const vyre_resource *row = &code->ir->resources[array];
    const uint64_t *grid = call->config->grid;
    return (row->kind == VYRE_RESOURCE_SCRATCH || row->access == VYRE_ACCESS_OUT) &&
           (code->overwritten[array] == VYRE_NONE || grid[0] || grid[1] || grid[2]);
}

static vyre_status clear(cuda_run *run, uint32_t array) {
    uint64_t bytes = cuda_run_bytes(run, array);
    if (!bytes) {
        return VYRE_OK;
    }
    CUdeviceptr address = cuda_run_array(run, array);
    return run->replay ? cuda_replay_fill(run->device, run->replay, address, bytes)
                       : cuda_check(run->device,
                                    run->device->cuda->cuMemsetD8Async(address, 0, (size_t)bytes,
                                                                       run->stream->handle),
                                    "clearing %llu bytes", (unsigned long long)bytes);
}

static vyre_status stopped(const cuda_run *run) {
    const char *name = vyre_program_name(run->code->program);
    return run->stop == CUDA_STOP_TIMEOUT
               ? vyre_status_make(VYRE_STATUS_TIMEOUT,
                                  "raise the timeout, or pass smaller "
                                  "arguments",
                                  "`%s` took longer than its timeout", name)
               : vyre_status_make(VYRE_STATUS_BACKEND, "run it again, and await it",
                                  "`%s` was stopped before it finished", name);
}

/* Between launches, so that long rows of them end in time, too. */
static vyre_status check_stop(cuda_run *run) {
    if (!run->stop && run->cancel && atomic_load(run->cancel)) {
        run->stop = CUDA_STOP_CANCEL;
    } else if (!run->stop && run->deadline_ns && vyre_now_ns() >= run->deadline_ns) {
        run->stop = CUDA_STOP_TIMEOUT;
    }
    if (!run->stop) {
        return VYRE_OK;
    }
    atomic_store(run->stream->stop, run->stop);
    return stopped(run);
}

/* Copies a frame that is too large for parameters to the device. The driver has taken it when the
 * call returns, since it is in memory of the usual kind. */
static vyre_status send_frame(cuda_run *run, CUdeviceptr *out_address) {
    cuda_stream *stream = run->stream;
    uint32_t bytes = run->code->layout.bytes;
    if (stream->frame && stream->frame->size < bytes) {
        cuda_stream_memory_back(stream, stream->frame);
        stream->frame = NULL;
    }
    VYRE_TRY(stream->frame ? VYRE_OK : cuda_stream_memory(stream, bytes, &stream->frame));
    *out_address = stream->frame->address;
    return cuda_check(
        run->device,
        run->device->cuda->cuMemcpyHtoDAsync(*out_address, run->frame, bytes, stream->handle),
        "sending the arguments of a kernel");
}

static vyre_status launch(cuda_run *run, const cuda_phase *phase, const uint32_t grid[3]) {
    const cuda_table *cuda = run->device->cuda;
    CUstream handle = run->stream->handle;
    CUdeviceptr sent = 0;
    void *parameters[] = {run->frame};
    if (run->code->layout.by_pointer) {
        vyre_status status = send_frame(run, &sent);
        if (status) {
            return status;
        }
        parameters[0] = &sent;
    }
    if (run->replay) {
        const CUDA_KERNEL_NODE_PARAMS node = {
            phase->function,           grid[0],    grid[1], grid[2], phase->info.threads, 1, 1,
            phase->info.dynamic_bytes, parameters, NULL};
        return cuda_replay_kernel(run->device, run->replay, &node);
    }
    CUresult result =
        phase->info.cooperative
            ? cuda->cuLaunchCooperativeKernel(phase->function, grid[0], grid[1], grid[2],
                                              phase->info.threads, 1, 1, phase->info.dynamic_bytes,
                                              handle, parameters)
            : cuda->cuLaunchKernel(phase->function, grid[0], grid[1], grid[2], phase->info.threads,
                                   1, 1, phase->info.dynamic_bytes, handle, parameters, NULL);
    return cuda_check(run->device, result, "starting `%s`", vyre_program_name(run->code->program));
}

static uint64_t product(const uint64_t groups[3]) {
    const uint64_t most = UINT64_MAX / 4;
    uint64_t all = 1;
    for (int i = 0; i < 3; i++) {
        all = groups[i] && all > most / groups[i] ? most : all * groups[i];
    }
    return all;
}

static uint64_t at_most(uint64_t number, uint64_t most) {
    return number < most ? number : most;
}

static cuda_shape count_groups(const cuda_code *code, uint32_t index, const vyre_grid *grid,
                               uint64_t out_groups[3]) {
    cuda_shape shape = cuda_shape_of(&code->ir->phases[index], &code->phases[index].info,
                                     grid->domain, CUDA_FEW_THREADS);
    for (int i = 0; i < 3; i++) {
        uint32_t tile = shape.tile[i]; /* mostly 1 beyond x, and divisions take long */
        uint64_t domain = grid->domain[i];
        out_groups[i] = tile == 1 ? domain : domain / tile + (domain % tile != 0);
    }
    return shape;
}

/* The grid that covers the groups. */
static vyre_status fold(const cuda_run *run, const cuda_phase *phase, bool is_from_memory,
                        const uint64_t groups[3], uint32_t out_grid[3]) {
    uint64_t room = phase->most_blocks, sizes[3] = {groups[0], groups[1], groups[2]};
    if (phase->info.ordered) {
        sizes[0] = at_most(product(groups), room);
        sizes[1] = sizes[2] = 1;
    } else if (phase->info.strides) {
        /* Of a domain from memory only the largest size is known: no more than fit at once. */
        for (int i = 0; i < 3; i++) {
            sizes[i] = at_most(groups[i], i ? most_yz : most_x);
            if (is_from_memory) {
                sizes[i] = at_most(sizes[i], room);
                room = room / sizes[i] ? room / sizes[i] : 1;
            }
        }
    }
    if (sizes[0] > most_x || sizes[1] > most_yz || sizes[2] > most_yz) {
        return vyre_status_make(
            VYRE_STATUS_UNSUPPORTED, "make y and z of the domain smaller; x may be large",
            "`%s` needs %llu x %llu x %llu blocks, and %s takes at most %llu x %llu x %llu",
            vyre_program_name(run->code->program), (unsigned long long)sizes[0],
            (unsigned long long)sizes[1], (unsigned long long)sizes[2], run->device->info.name,
            (unsigned long long)most_x, (unsigned long long)most_yz, (unsigned long long)most_yz);
    }
    for (int i = 0; i < 3; i++) {
        out_grid[i] = (uint32_t)sizes[i];
    }
    return VYRE_OK;
}

/* Where a domain from memory is read from: the array, or a copy where the phase overwrites it. */
static vyre_status find_element(cuda_run *run, uint32_t index) {
    const vyre_phase *row = &run->code->ir->phases[index];
    uint32_t array = row->from_resource;
    uint64_t element = cuda_run_size(run, row->from_index);
    uint32_t bytes = vyre_type_bytes((vyre_type)run->code->ir->resources[array].type);
    uint64_t length = array_length(run, array);
    uint64_t count = element < length ? at_most(length - element, row->dimensions) : 0;
    CUdeviceptr from = count ? cuda_run_array(run, array) + element * bytes : 0;
    CUresult result = CUDA_SUCCESS;
    if (from && vyre_phase_writes(run->code->ir, index, array)) {
        CUdeviceptr copy = run->stream->words->address + CUDA_ELEMENT_AT;
        result = run->device->cuda->cuMemcpyDtoDAsync(copy, from, (size_t)count * bytes,
                                                      run->stream->handle);
        from = copy;
    }
    put_u64(run, run->code->layout.from, from);
    put_u64(run, run->code->layout.groups, count);
    return cuda_check(run->device, result, "copying an element");
}

static vyre_status run_phase(cuda_run *run, uint32_t index) {
    const cuda_layout *layout = &run->code->layout;
    const cuda_phase *phase = &run->code->phases[index];
    const vyre_phase *row = &run->code->ir->phases[index];
    const vyre_grid grid =
        vyre_call_grid(run->code->ir, run->call, index, iterations_of(run), NULL);
    uint64_t groups[3];
    uint32_t blocks[3] = {0};
    vyre_status status = check_stop(run);
    cuda_shape shape = count_groups(run->code, index, &grid, groups);
    if (status || !groups[0] || !groups[1] || !groups[2]) {
        return status;
    }
    for (uint32_t i = 0; i < 3; i++) {
        put_u64(run, layout->domain + i * 8, grid.domain[i]);
        put_u64(run, layout->groups + i * 8, groups[i]);
    }
    memcpy(run->frame + layout->shape, shape.bits, sizeof shape.bits);
    put_u64(run, layout->counters,
            run->counters ? run->counters + (uint64_t)index * CUDA_COUNTER_BYTES : 0);
    if (row->from_resource != VYRE_NONE) {
        status = find_element(run, index);
    }
    status = status ? status : fold(run, phase, row->from_resource != VYRE_NONE, groups, blocks);
    memcpy(run->grid, blocks, sizeof run->grid);
    return status ? status : launch(run, phase, blocks);
}

/* The number that a repeat goes by; 0 past the end. Waits for what is under way. */
static vyre_status read_element(cuda_run *run, uint32_t array, uint64_t index, int64_t *out_value) {
    vyre_type type = (vyre_type)run->code->ir->resources[array].type;
    uint32_t bytes = vyre_type_bytes(type);
    *out_value = 0;
    if (index >= array_length(run, array)) {
        return VYRE_OK;
    }
    vyre_status status =
        cuda_check(run->device,
                   run->device->cuda->cuMemcpyDtoHAsync(run->stream->word,
                                                        cuda_run_array(run, array) + index * bytes,
                                                        bytes, run->stream->handle),
                   "reading an element");
    status = status ? status : cuda_run_wait(run);
    if (!status) {
        *out_value = vyre_plan_element(type, run->stream->word);
    }
    return status;
}

static vyre_status run_repeat(cuda_run *run, uint32_t index) {
    const vyre_step *step = &run->code->ir->steps[index];
    uint64_t size = cuda_run_size(run, step->size);
    vyre_status status = VYRE_OK;
    uint64_t in_rows = 0, row = 0, next;
    for (uint64_t iteration = 0; !status; iteration = next) {
        int64_t more = iteration < size;
        next = iteration + 1;
        status = check_stop(run);
        if (!status && step->kind == VYRE_STEP_REPEAT_WHILE) {
            status = read_element(run, step->resource, size, &more);
        }
        if (status || !more) {
            /* The last row may have ended before its end. */
            return status || !in_rows || !run->code->swaps ? status
                                                           : cuda_iterations_swap(run, index, row);
        }
        if (step->kind == VYRE_STEP_REPEAT_WHILE) {
            uint64_t count;
            status = cuda_iterations_put(run, index, iteration, in_rows, &count);
            if (status || count) {
                in_rows += count;
                row = iteration;
                next = iteration + count;
                continue;
            }
        }
        cuda_run_set_iteration(run, index, (uint32_t)iteration);
        status =
            run->iterations ? cuda_iterations_number(run, index, (uint32_t)iteration) : VYRE_OK;
        status = status ? status : cuda_run_steps(run, index + 1, step->end);
    }
    return status;
}

vyre_status cuda_run_steps(cuda_run *run, uint32_t first, uint32_t end) {
    const vyre_step *steps = run->code->ir->steps;
    int64_t flag = 0; /* of the `if` in front of an `else` */
    for (uint32_t i = first; i < end; i = steps[i].end) {
        switch (steps[i].kind) {
        case VYRE_STEP_PHASE: VYRE_TRY(run_phase(run, steps[i].size)); break;
        case VYRE_STEP_SWAP: cuda_swap(run, steps[i].resource, steps[i].size); break;
        case VYRE_STEP_IF:
            VYRE_TRY(check_stop(run));
            VYRE_TRY(
                read_element(run, steps[i].resource, cuda_run_size(run, steps[i].size), &flag));
            VYRE_TRY(flag ? cuda_run_steps(run, i + 1, steps[i].end) : VYRE_OK);
            break;
        case VYRE_STEP_ELSE:
            VYRE_TRY(flag ? VYRE_OK : cuda_run_steps(run, i + 1, steps[i].end));
            break;
        case VYRE_STEP_REPEAT_COUNT:
        case VYRE_STEP_REPEAT_WHILE: VYRE_TRY(run_repeat(run, i)); break;
        }
    }
    return VYRE_OK;
}

/* Whether buffers are the caller's, and not the run's own. */
static bool is_on_buffers(const cuda_run *run) {
    bool found = false;
    for (uint32_t i = 0; i < run->code->layout.array_count && !found; i++) {
        found = run->code->ir->resources[i].kind == VYRE_RESOURCE_BUFFER && !run->blocks[i];
    }
    return found;
}

vyre_status cuda_run_put(cuda_run *run) {
    const vyre_ir *ir = run->code->ir;
    if (run->code->has_counters && !run->counters) {
        VYRE_TRY(place_counters(run));
    }
    for (uint32_t i = 0; i < run->code->layout.array_count; i++) {
        bool is_scratch = ir->resources[i].kind == VYRE_RESOURCE_SCRATCH;
        if (is_scratch && !cuda_run_array(run, i)) {
            VYRE_TRY(cuda_run_place(run, i));
        }
        if (cuda_run_fills(run->code, run->call, i)) {
            VYRE_TRY(clear(run, i));
        }
    }
    VYRE_TRY(cuda_run_steps(run, 0, ir->step_count));
    return run->code->swaps && is_on_buffers(run) ? cuda_swap_settle(run) : VYRE_OK;
}

vyre_status cuda_run_wait(cuda_run *run) {
    unsigned stop;
    vyre_status status = cuda_stream_wait(run->stream, run->deadline_ns, run->cancel, &stop);
    run->stop = run->stop ? run->stop : stop;
    return status || !run->stop ? status : stopped(run);
}

static bool fits(const cuda_code *code, const vyre_call *call) {
    bool fit = true;
    for (uint32_t i = 0; i < code->phase_count && fit; i++) {
        uint64_t groups[3];
        count_groups(code, i, &call->grids[i], groups);
        fit = !code->phases[i].info.cooperative || product(groups) <= code->phases[i].most_blocks;
    }
    return fit;
}

vyre_status cuda_run_choose(cuda_executable *executable, const vyre_call *call, vyre_plan *plan,
                            vyre_call *own, cuda_code **out_code, const vyre_call **out_call) {
    if (call->config->grid[0]) {
        vyre_status made = cuda_executable_general(executable, &executable);
        if (made) {
            return made;
        }
    }
    *out_code = &executable->codes[0];
    *out_call = call;
    if (executable->code_count == 1 || fits(&executable->codes[0], call)) {
        return VYRE_OK;
    }
    cuda_code *code = &executable->codes[1];
    vyre_status status = vyre_plan_init_again(plan, code->program, code->program, true, call);
    if (!status) {
        *own = vyre_plan_call(plan, call->inputs, call->native);
        *out_code = code;
        *out_call = own;
    }
    return status;
}
