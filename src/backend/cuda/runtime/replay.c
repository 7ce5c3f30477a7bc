#include "backend/cuda/runtime/replay.h"

#include <string.h>

#include "backend/cuda/runtime/run.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/lookup.h"

void cuda_replays_init(cuda_replays *replays) {
    memset(replays, 0, sizeof *replays);
    pthread_mutex_init(&replays->lock, NULL);
}

static void give_all(cuda_device *device, cuda_block *list) {
    while (list) {
        cuda_block *next = list->next;
        cuda_memory_give(device, list);
        list = next;
    }
}

void cuda_replay_drop(cuda_device *device, cuda_replay *replay) {
    const cuda_table *cuda = device->cuda;
    if (!atomic_load(&device->is_lost)) {
        CUresult first = replay->exec ? cuda->cuGraphExecDestroy(replay->exec) : CUDA_SUCCESS;
        CUresult second = replay->graph ? cuda->cuGraphDestroy(replay->graph) : CUDA_SUCCESS;
        vyre_status_free(cuda_check(device, first ? first : second, "ending a graph"));
    }
    give_all(device, replay->scratch);
    give_all(device, replay->spares);
    cuda_memory_give(device, replay->counters);
    vyre_vec_free(&replay->nodes);
    vyre_free(replay->key);
    memset(replay, 0, sizeof *replay);
}

void cuda_replays_deinit(cuda_device *device, cuda_replays *replays) {
    for (int i = 0; i < CUDA_REPLAYS; i++) {
        cuda_replay_drop(device, &replays->items[i]);
    }
}

/* Launches of these steps, as far as they are worth counting. */
static uint64_t count_steps(const cuda_code *code, const vyre_call *call, uint32_t first,
                            uint32_t end) {
    uint64_t count = 0;
    for (uint32_t i = first; i < end; i = code->ir->steps[i].end) {
        const vyre_step *step = &code->ir->steps[i];
        if (step->kind == VYRE_STEP_PHASE) {
            count += call->grids[step->size].domain[0] != 0;
            continue;
        }
        if (step->kind == VYRE_STEP_SWAP) {
            continue;
        }
        uint64_t iterations = call->sizes[step->size];
        uint64_t inside = count_steps(code, call, i + 1, step->end);
        count += inside && iterations > CUDA_REPLAY_MOST / inside ? CUDA_REPLAY_MOST + 1
                                                                  : iterations * inside;
    }
    return count > CUDA_REPLAY_MOST ? CUDA_REPLAY_MOST + 1 : count;
}

/* A node of a graph copies less than 2 GiB. */
static bool can_copy(const cuda_code *code, const vyre_call *call) {
    bool can = true;
    for (uint32_t arg = 0; arg < code->ir->arg_count && can; arg++) {
        can = code->ir->args[arg].resource == VYRE_NONE ||
              call->arguments[arg] * vyre_arg_bytes(code->ir, &code->ir->args[arg]) <= INT32_MAX;
    }
    return can;
}

bool cuda_replay_is_worth(const cuda_code *code, const vyre_call *call) {
    bool can = !code->has_while && !code->layout.by_pointer && !code->copies_element;
    for (uint32_t i = 0; i < code->phase_count && can; i++) {
        can = !code->phases[i].info.cooperative;
    }
    if (!can) {
        return false;
    }
    uint64_t count = count_steps(code, call, 0, code->ir->step_count);
    for (uint32_t i = 0; i < code->layout.array_count; i++) {
        count += cuda_run_fills(code, call, i);
    }
    if (code->swaps && !can_copy(code, call)) {
        return false;
    }
    return count >= CUDA_REPLAY_LEAST && count <= CUDA_REPLAY_MOST;
}

/* One node behind the other: a phase sees what those before it wrote. */
static vyre_status add_node(cuda_device *device, cuda_replay *replay, CUgraphNode node,
                            CUfunction function, bool is_copy, CUresult result) {
    if (!result && !vyre_vec_push(&replay->nodes, (cuda_node){node, function, is_copy})) {
        return vyre_no_memory("for a graph of launches");
    }
    return cuda_check(device, result, "adding to a graph");
}

/* The node to be updated next; NULL if the shape is another one. */
static cuda_node *next_node(cuda_replay *replay, CUfunction function, bool is_copy) {
    cuda_node *node =
        replay->next < replay->nodes.count ? &replay->nodes.items[replay->next++] : NULL;
    if (!node || node->function != function || node->is_copy != is_copy) {
        replay->is_changed = true;
        node = NULL;
    }
    return replay->is_changed ? NULL : node;
}

vyre_status cuda_replay_kernel(cuda_device *device, cuda_replay *replay,
                               const CUDA_KERNEL_NODE_PARAMS *parameters) {
    const cuda_table *cuda = device->cuda;
    if (replay->exec) {
        cuda_node *known = next_node(replay, parameters->func, false);
        return known ? cuda_check(device,
                                  cuda->cuGraphExecKernelNodeSetParams(replay->exec, known->node,
                                                                       parameters),
                                  "changing a graph")
                     : VYRE_OK;
    }
    size_t count = replay->nodes.count;
    CUgraphNode node = NULL;
    CUresult result = cuda->cuGraphAddKernelNode(
        &node, replay->graph, count ? &replay->nodes.items[count - 1].node : NULL, count != 0,
        parameters);
    return add_node(device, replay, node, parameters->func, false, result);
}

vyre_status cuda_replay_fill(cuda_device *device, cuda_replay *replay, CUdeviceptr address,
                             uint64_t bytes) {
    const cuda_table *cuda = device->cuda;
    const CUDA_MEMSET_NODE_PARAMS parameters = {address, 0, 0, 1, (size_t)bytes, 1};
    if (replay->exec) {
        cuda_node *known = next_node(replay, NULL, false);
        return known ? cuda_check(device,
                                  cuda->cuGraphExecMemsetNodeSetParams(
                                      replay->exec, known->node, &parameters, device->context),
                                  "changing a graph")
                     : VYRE_OK;
    }
    size_t count = replay->nodes.count;
    CUgraphNode node = NULL;
    CUresult result = cuda->cuGraphAddMemsetNode(
        &node, replay->graph, count ? &replay->nodes.items[count - 1].node : NULL, count != 0,
        &parameters, device->context);
    return add_node(device, replay, node, NULL, false, result);
}

vyre_status cuda_replay_copy(cuda_device *device, cuda_replay *replay, CUdeviceptr to,
                             CUdeviceptr from, uint64_t bytes) {
    const cuda_table *cuda = device->cuda;
    const CUDA_MEMCPY3D parameters = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                      .srcDevice = from,
                                      .srcPitch = (size_t)bytes,
                                      .srcHeight = 1,
                                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                      .dstDevice = to,
                                      .dstPitch = (size_t)bytes,
                                      .dstHeight = 1,
                                      .WidthInBytes = (size_t)bytes,
                                      .Height = 1,
                                      .Depth = 1};
    if (replay->exec) {
        cuda_node *known = next_node(replay, NULL, true);
        return known ? cuda_check(device,
                                  cuda->cuGraphExecMemcpyNodeSetParams(
                                      replay->exec, known->node, &parameters, device->context),
                                  "changing a graph")
                     : VYRE_OK;
    }
    size_t count = replay->nodes.count;
    CUgraphNode node = NULL;
    CUresult result = cuda->cuGraphAddMemcpyNode(
        &node, replay->graph, count ? &replay->nodes.items[count - 1].node : NULL, count != 0,
        &parameters, device->context);
    return add_node(device, replay, node, NULL, true, result);
}

/* What a graph depends on: buffers, arguments and grids; all else follows from them. */
static size_t key_words(const vyre_call *call) {
    return 1 + call->argument_count * 2 + call->grid_count * (sizeof(vyre_grid) / 8);
}

static void write_key(const cuda_code *code, const vyre_call *call, const CUdeviceptr *buffers,
                      uint64_t *key) {
    *key++ = (uintptr_t)code;
    memcpy(key, call->arguments, call->argument_count * 8);
    key += call->argument_count;
    for (size_t arg = 0; arg < call->argument_count; arg++) {
        uint32_t row = code->ir->args[arg].resource;
        *key++ = row == VYRE_NONE ? 0 : buffers[row];
    }
    memcpy(key, call->grids, call->grid_count * sizeof(vyre_grid));
}

static bool is_for(const cuda_replay *replay, const cuda_code *code, const vyre_call *call,
                   const CUdeviceptr *buffers) {
    if (!replay->exec || replay->key_words != key_words(call) ||
        replay->key[0] != (uintptr_t)code) {
        return false;
    }
    const uint64_t *key = replay->key + 1;
    bool same = !memcmp(key, call->arguments, call->argument_count * 8);
    key += call->argument_count;
    for (size_t arg = 0; arg < call->argument_count && same; arg++) {
        uint32_t row = code->ir->args[arg].resource;
        same = *key++ == (row == VYRE_NONE ? 0 : buffers[row]);
    }
    return same && !memcmp(key, call->grids, call->grid_count * sizeof(vyre_grid));
}

/* Scratch arrays and counters of the graph's own. */
static vyre_status place(cuda_device *device, cuda_replay *replay, cuda_run *run,
                         cuda_stream *stream) {
    const vyre_ir *ir = run->code->ir;
    vyre_status status = VYRE_OK;
    bool is_new = !replay->counters;
    if (is_new) {
        status = cuda_memory_take(device, cuda_counter_bytes(run->code), &replay->counters);
        status = status ? status
                        : cuda_check(device,
                                     device->cuda->cuMemsetD8Async(
                                         replay->counters->address, 0,
                                         (size_t)cuda_counter_bytes(run->code), stream->handle),
                                     "clearing the counters of a graph");
    }
    if (status) {
        return status;
    }
    cuda_run_set_counters(run, replay->counters->address);
    cuda_block **at = &replay->scratch;
    for (uint32_t i = 0; i < run->code->layout.array_count && !status; i++) {
        if (ir->resources[i].kind != VYRE_RESOURCE_SCRATCH) {
            continue;
        }
        uint64_t bytes = cuda_run_bytes(run, i);
        if (is_new) {
            status = cuda_memory_take(device, bytes, at);
        } else if (!*at || (*at)->size < bytes) {
            replay->is_changed = true;
            break;
        }
        if (!status) {
            (*at)->next = is_new ? NULL : (*at)->next;
            cuda_run_set_array(run, i, (*at)->address);
            at = &(*at)->next;
        }
    }
    return status;
}

vyre_status cuda_replay_begin(cuda_device *device, cuda_replay *replay) {
    replay->next = 0;
    replay->is_changed = replay->exec && replay->spares; /* these belong to the sizes it was for */
    return replay->graph ? VYRE_OK
                         : cuda_check(device, device->cuda->cuGraphCreate(&replay->graph, 0),
                                      "making a graph");
}

vyre_status cuda_replay_end(cuda_device *device, cuda_replay *replay) {
    if (replay->exec) {
        replay->is_changed |= replay->next != replay->nodes.count;
        return VYRE_OK;
    }
    return cuda_check(device, device->cuda->cuGraphInstantiate(&replay->exec, replay->graph, 0),
                      "preparing a graph");
}

/* Makes the graph, or gives its nodes other parameters. */
static vyre_status fill(cuda_device *device, cuda_replay *replay, cuda_code *code,
                        const vyre_call *call, cuda_stream *stream, const CUdeviceptr *buffers) {
    cuda_run run;
    VYRE_TRY(cuda_run_init(&run, stream, code, call, NULL));
    run.replay = replay;
    for (uint32_t i = 0; i < code->layout.array_count; i++) {
        if (code->ir->resources[i].kind == VYRE_RESOURCE_BUFFER) {
            cuda_run_set_array(&run, i, buffers[i]);
        }
    }
    vyre_status status = cuda_replay_begin(device, replay);
    status = status ? status : place(device, replay, &run, stream);
    if (!status && !replay->is_changed) {
        status = cuda_run_put(&run);
    }
    status = status ? status : cuda_replay_end(device, replay);
    cuda_run_deinit(&run, true);
    return status;
}

/* Waits until no graph of the executable is under way. */
static vyre_status settle(cuda_executable *executable) {
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < CUDA_SHARED_STREAMS && !status; i++) {
        uint64_t last = atomic_load(&executable->last[i]);
        status = last ? cuda_stream_settle(&executable->device->streams.shared[i], last) : VYRE_OK;
    }
    return status;
}

/* A graph for this call: the one that is, or the one that was not used for longest. */
static vyre_status find(cuda_executable *executable, cuda_code *code, const vyre_call *call,
                        cuda_stream *stream, const CUdeviceptr *buffers, cuda_replay **out_replay) {
    cuda_device *device = executable->device;
    cuda_replays *replays = &executable->replays;
    cuda_replay *best = &replays->items[0];
    for (int i = 0; i < CUDA_REPLAYS; i++) {
        cuda_replay *replay = &replays->items[i];
        if (is_for(replay, code, call, buffers)) {
            *out_replay = replay;
            return VYRE_OK;
        }
        best = replay->used < best->used ? replay : best;
    }
    *out_replay = best;
    vyre_status status = VYRE_OK;
    if (best->exec && best->key[0] == (uintptr_t)code) {
        status = fill(device, best, code, call, stream, buffers);
    } else {
        best->is_changed = true;
    }
    if (!status && best->is_changed) {
        status = settle(executable);
        if (!status) {
            cuda_replay_drop(device, best);
            status = fill(device, best, code, call, stream, buffers);
        }
    }
    size_t words = key_words(call);
    if (!status && best->key_words != words) {
        vyre_free(best->key);
        best->key = vyre_alloc_array(words, sizeof *best->key);
        best->key_words = best->key ? words : 0;
        if (!best->key) {
            status = vyre_no_memory("for a graph of launches");
        }
    }
    if (status) { /* half of it may be changed */
        vyre_status_free(settle(executable));
        cuda_replay_drop(device, best);
    } else {
        write_key(code, call, buffers, best->key);
    }
    return status;
}

vyre_status cuda_replay_run(cuda_executable *executable, cuda_code *code, const vyre_call *call,
                            cuda_stream *stream, const CUdeviceptr *buffers, uint64_t ticket) {
    cuda_replay *replay;
    pthread_mutex_lock(&executable->replays.lock);
    vyre_status status = find(executable, code, call, stream, buffers, &replay);
    if (!status) {
        replay->used = ++executable->replays.uses;
        atomic_store(&executable->last[cuda_ticket_stream(ticket)],
                     ticket); /* whoever drops it waits */
        status = cuda_check(executable->device,
                            executable->device->cuda->cuGraphLaunch(replay->exec, stream->handle),
                            "starting a graph of `%s`", vyre_program_name(code->program));
    }
    pthread_mutex_unlock(&executable->replays.lock);
    return status;
}
