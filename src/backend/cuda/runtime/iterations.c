#include "backend/cuda/runtime/iterations.h"

#include <string.h>

#include "backend/cuda/runtime/run.h"
#include "backend/cuda/runtime/swap.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/size.h"
#include "pass/walk.h"

enum { GATE, NEXT, NUMBERS };            /* words on the device */
enum { MOST_NODES = 64, MOST_EACH = 8 }; /* of a row, but for one of a single iteration */
enum { MOST_LAUNCHES = 512 };            /* of an iteration that is worth a row */
enum {
    MOST_AT_ONCE = 64,
    MOST_KEPT = 4
};                    /* iterations until the host looks again; rows of a code */
enum { BY_HOST = 4 }; /* iterations before a row is made */
enum { MOST_PERIOD = 8 };

/* The parameters of the kernel. */
typedef struct iteration_frame {
    CUdeviceptr element, stop, words, number; /* number: where that of the iteration goes */
    uint32_t bytes;                           /* of the element; 0: there is none, but a value */
    uint32_t value;
} iteration_frame;

void cuda_iterations_write(vyre_strbuf *out_ptx) {
    vyre_strbuf_puts(out_ptx, "\n.visible .entry iteration(.param .align 8 .b8 frame[40])\n"
                              ".maxntid 1, 1, 1\n{\n"
                              "\t.reg .pred %p<8>;\n\t.reg .b32 %r<8>;\n\t.reg .b64 %d<7>;\n"
                              "\tld.param.u64 %d1, [frame+0];\n"
                              "\tld.param.u64 %d2, [frame+8];\n"
                              "\tld.param.u64 %d3, [frame+16];\n"
                              "\tld.param.u64 %d4, [frame+24];\n"
                              "\tld.param.u32 %r1, [frame+32];\n"
                              "\tld.param.u32 %r2, [frame+36];\n"
                              "\tsetp.eq.u32 %p1, %r1, 0;\n"
                              "\t@%p1 st.global.u32 [%d4], %r2;\n"
                              "\t@%p1 exit;\n"
                              "\tmov.b32 %r3, 0;\n"
                              "\tmov.b64 %d5, 0;\n"
                              "\tsetp.eq.u32 %p2, %r1, 1;\n"
                              "\tsetp.eq.u32 %p3, %r1, 2;\n"
                              "\tsetp.eq.u32 %p4, %r1, 4;\n"
                              "\tsetp.eq.u32 %p5, %r1, 8;\n"
                              "\t@%p2 ld.global.u8 %r3, [%d1];\n"
                              "\t@%p3 ld.global.u16 %r3, [%d1];\n"
                              "\t@%p4 ld.global.u32 %r3, [%d1];\n"
                              "\t@%p5 ld.global.u64 %d5, [%d1];\n"
                              "\tld.relaxed.sys.global.u32 %r4, [%d2];\n"
                              "\tld.global.u32 %r5, [%d3+4];\n"
                              "\tcvt.u64.u32 %d6, %r3;\n"
                              "\tor.b64 %d5, %d5, %d6;\n"
                              "\tsetp.ne.u64 %p6, %d5, 0;\n"
                              "\tsetp.eq.u32 %p7, %r4, 0;\n"
                              "\tand.pred %p6, %p6, %p7;\n"
                              "\tselp.b32 %r6, 1, 0, %p6;\n"
                              "\tst.global.u32 [%d3], %r6;\n"
                              "\tadd.u32 %r7, %r5, 1;\n"
                              "\t@%p6 st.global.u32 [%d4], %r5;\n"
                              "\t@%p6 st.global.u32 [%d3+4], %r7;\n"
                              "\tret;\n}\n");
}

static CUdeviceptr word_at(const cuda_iterations *iterations, uint32_t word) {
    return iterations->words->address + 4 * (CUdeviceptr)word;
}

static vyre_status put_kernel(cuda_run *run, iteration_frame *frame) {
    void *parameters[] = {frame};
    const CUDA_KERNEL_NODE_PARAMS node = {run->code->iteration, 1,   1, 1, 1, 1, 1, 0,
                                          parameters,           NULL};
    return cuda_replay_kernel(run->device, run->replay, &node);
}

vyre_status cuda_iterations_number(cuda_run *run, uint32_t step, uint32_t number) {
    iteration_frame frame = {.number = word_at(run->iterations, NUMBERS + step), .value = number};
    return put_kernel(run, &frame);
}

/* What a row depends on: all that its frames are made of but numbers of iterations. */
typedef struct piece {
    const void *data;
    size_t bytes;
} piece;
enum { PIECES = 4, WORDS = 3 };

static void list_pieces(const cuda_run *run, const uint64_t words[WORDS], piece pieces[PIECES]) {
    const cuda_layout *layout = &run->code->layout;
    pieces[0] = (piece){words, WORDS * sizeof *words};
    pieces[1] = (piece){run->frame + layout->arrays, layout->iterations - layout->arrays};
    pieces[2] = (piece){run->call->grids, run->call->grid_count * sizeof *run->call->grids};
    pieces[3] = (piece){run->frame + layout->stop, 8};
}

static bool is_for(const cuda_iterations *iterations, const cuda_run *run, uint32_t step) {
    const uint64_t words[WORDS] = {step, run->counters, run->stream->stop_at};
    const uint8_t *key = (const uint8_t *)iterations->replay.key;
    piece pieces[PIECES];
    bool same = key != NULL;
    list_pieces(run, words, pieces);
    for (int i = 0; i < PIECES && same; i++) {
        same = !memcmp(key, pieces[i].data, pieces[i].bytes);
        key += pieces[i].bytes;
    }
    return same;
}

static bool write_key(cuda_iterations *iterations, const cuda_run *run) {
    const uint64_t words[WORDS] = {iterations->step, run->counters, run->stream->stop_at};
    piece pieces[PIECES];
    size_t bytes = 0;
    list_pieces(run, words, pieces);
    for (int i = 0; i < PIECES; i++) {
        bytes += pieces[i].bytes;
    }
    if (!iterations->replay.key) { /* of one code, all keys have the same size */
        iterations->replay.key = vyre_alloc(bytes);
    }
    uint8_t *key = (uint8_t *)iterations->replay.key;
    for (int i = 0; i < PIECES && key; i++) {
        memcpy(key, pieces[i].data, pieces[i].bytes);
        key += pieces[i].bytes;
    }
    return key;
}

/* Whether a size uses a counter that a row does not set: the row's own, or one further out. */
static bool uses_outside(const vyre_ir *ir, uint32_t size, uint32_t row) {
    bool found = false;
    if (size != VYRE_NONE) {
        for (uint32_t i = vyre_size_first(ir, size); i <= size && !found; i++) {
            found = ir->sizes[i].op == VYRE_SIZE_ITERATION && ir->sizes[i].a <= row;
        }
    }
    return found;
}

static bool counts_outside(const vyre_ir *ir, uint32_t step, uint32_t row) {
    if (ir->steps[step].kind == VYRE_STEP_REPEAT_COUNT) {
        return uses_outside(ir, ir->steps[step].size, row);
    }
    const vyre_phase *phase = &ir->phases[ir->steps[step].size];
    bool found = uses_outside(ir, phase->from_index, row);
    for (uint32_t i = 0; i < phase->dimensions && !found; i++) {
        found = uses_outside(ir, phase->domain[i], row);
    }
    return found;
}

/* Launches of an iteration; 0 if only the host can do it. */
static uint64_t count_launches(const cuda_run *run, uint32_t row, uint32_t first, uint32_t end) {
    const cuda_code *code = run->code;
    uint64_t count = 0;
    for (uint32_t i = first; i < end; i = code->ir->steps[i].end) {
        const vyre_step *step = &code->ir->steps[i];
        if (step->kind == VYRE_STEP_SWAP) {
            continue;
        }
        if (step->kind != VYRE_STEP_PHASE && step->kind != VYRE_STEP_REPEAT_COUNT) {
            return 0;
        }
        if (counts_outside(code->ir, i, row)) {
            return 0;
        }
        if (step->kind == VYRE_STEP_PHASE) {
            uint32_t from = code->ir->phases[step->size].from_resource;
            if (code->phases[step->size].info.cooperative ||
                (from != VYRE_NONE && vyre_phase_writes(code->ir, step->size, from))) {
                return 0;
            }
            count++;
            continue;
        }
        uint64_t size = run->call->sizes[step->size];
        uint64_t inside = 1 + count_launches(run, row, i + 1, step->end);
        if (inside == 1) {
            return 0;
        }
        count += size > MOST_LAUNCHES ? MOST_LAUNCHES + 1 : size * inside;
    }
    return count > MOST_LAUNCHES ? 0 : count;
}

static void free_iterations(cuda_device *device, cuda_iterations *iterations) {
    cuda_replay_drop(device, &iterations->replay);
    cuda_memory_give(device, iterations->words);
    vyre_free(iterations->host_words);
    vyre_free(iterations);
}

void cuda_iterations_free(cuda_device *device, cuda_iterations *list) {
    while (list) {
        cuda_iterations *next = list->next;
        free_iterations(device, list);
        list = next;
    }
}

/* Takes a row of this repeat out of those that the code keeps: for this call, or for another one.
 */
static cuda_iterations *take_kept(cuda_run *run, uint32_t step) {
    cuda_code *code = run->code;
    cuda_iterations *taken = NULL;
    pthread_mutex_lock(&run->device->lock);
    for (cuda_iterations **at = &code->kept_iterations; *at; at = &(*at)->next) {
        if ((*at)->step == step && (!taken || is_for(*at, run, step))) {
            taken = *at;
        }
    }
    cuda_iterations **at = &code->kept_iterations;
    while (taken && *at != taken) {
        at = &(*at)->next;
    }
    if (taken) {
        *at = taken->next;
        code->kept_iteration_count--;
    }
    pthread_mutex_unlock(&run->device->lock);
    return taken;
}

void cuda_iterations_end(cuda_run *run) {
    cuda_code *code = run->code;
    while (run->held_iterations) {
        cuda_iterations *iterations = run->held_iterations;
        run->held_iterations = iterations->next;
        pthread_mutex_lock(&run->device->lock);
        bool keeps = iterations->replay.exec && code->kept_iteration_count < MOST_KEPT &&
                     !atomic_load(&run->device->is_lost);
        if (keeps) {
            iterations->next = code->kept_iterations;
            code->kept_iterations = iterations;
            code->kept_iteration_count++;
        }
        pthread_mutex_unlock(&run->device->lock);
        if (!keeps) {
            free_iterations(run->device, iterations);
        }
    }
}

static vyre_status make_iterations(cuda_run *run, uint32_t step, cuda_iterations **out_iterations) {
    size_t count = NUMBERS + run->code->ir->step_count;
    cuda_iterations *iterations = vyre_alloc_zeroed(1, sizeof *iterations);
    vyre_status status = iterations ? VYRE_OK
                                    : vyre_no_memory("for the iterations of `%s`",
                                                     vyre_program_name(run->code->program));
    if (iterations) {
        iterations->step = step;
        iterations->host_words = vyre_alloc_zeroed(count, sizeof *iterations->host_words);
        status = iterations->host_words
                     ? cuda_memory_take(run->device, count * 4, &iterations->words)
                     : vyre_no_memory("for the iterations of `%s`",
                                      vyre_program_name(run->code->program));
    }
    if (status && iterations) {
        free_iterations(run->device, iterations);
        iterations = NULL;
    }
    *out_iterations = iterations;
    return status;
}

/* The nodes of all iterations. */
static vyre_status put_nodes(cuda_run *run, cuda_iterations *iterations) {
    const cuda_layout *layout = &run->code->layout;
    const vyre_step *step = &run->code->ir->steps[iterations->step];
    uint32_t bytes = vyre_type_bytes((vyre_type)run->code->ir->resources[step->resource].type);
    iteration_frame frame = {
        .stop = run->stream->stop_at, /* phases may have none, an iteration always */
        .words = iterations->words->address,
        .number = word_at(iterations, NUMBERS + iterations->step),
        .bytes = bytes};
    const uint64_t gate = word_at(iterations, GATE), numbers = word_at(iterations, NUMBERS),
                   none = 0;
    memcpy(&frame.element, run->frame + layout->arrays + (size_t)step->resource * 8, 8);
    frame.element += cuda_run_size(run, step->size) * bytes;
    memcpy(run->frame + layout->gate, &gate, 8);
    memcpy(run->frame + layout->device_iterations, &numbers, 8);
    run->replay = &iterations->replay;
    run->iterations = iterations;
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < iterations->each && !status; i++) {
        status = put_kernel(run, &frame);
        status = status ? status : cuda_run_steps(run, iterations->step + 1, step->end);
    }
    run->replay = NULL;
    run->iterations = NULL;
    memcpy(run->frame + layout->gate, &none, 8);
    memcpy(run->frame + layout->device_iterations, &none, 8);
    return status;
}

/* Makes the graph for this run, or changes it so that it is for this run. */
static vyre_status prepare(cuda_run *run, cuda_iterations *iterations, uint64_t launches) {
    cuda_replay *replay = &iterations->replay;
    uint64_t each = MOST_NODES / (launches + 1);
    each = each > MOST_EACH ? MOST_EACH : each ? each : 1;
    iterations->each = (uint32_t)(each < iterations->period ? iterations->period
                                                            : each - each % iterations->period);
    vyre_status status = cuda_replay_begin(run->device, replay);
    status = status ? status : put_nodes(run, iterations);
    status = status ? status : cuda_replay_end(run->device, replay);
    if (!status && replay->is_changed) {
        cuda_replay_drop(run->device, replay);
        status = cuda_replay_begin(run->device, replay);
        status = status ? status : put_nodes(run, iterations);
        status = status ? status : cuda_replay_end(run->device, replay);
    }
    if (!status && !write_key(iterations, run)) {
        status =
            vyre_no_memory("for the iterations of `%s`", vyre_program_name(run->code->program));
    }
    if (status) { /* half of it may be changed */
        cuda_replay_drop(run->device, replay);
    }
    return status;
}

/* Whether the repeat swaps the array that its condition is in. */
static bool is_swapped(const vyre_ir *ir, uint32_t repeat) {
    const vyre_step *steps = ir->steps;
    bool found = false;
    for (uint32_t i = repeat + 1; i < steps[repeat].end && !found; i++) {
        found = steps[i].kind == VYRE_STEP_SWAP && (steps[i].resource == steps[repeat].resource ||
                                                    steps[i].size == steps[repeat].resource);
    }
    return found;
}

/* The row of a repeat for this run; NULL if it is too early to make one. */
static vyre_status find(cuda_run *run, uint32_t step, uint64_t iteration,
                        cuda_iterations **out_iterations) {
    cuda_iterations *iterations = run->held_iterations;
    while (iterations && iterations->step != step) {
        iterations = iterations->next;
    }
    *out_iterations = iterations;
    if (iterations && (!run->code->swaps || is_for(iterations, run, step))) {
        return VYRE_OK;
    }
    *out_iterations = NULL;
    uint64_t launches = run->code->layout.by_pointer
                            ? 0
                            : count_launches(run, step, step + 1, run->code->ir->steps[step].end);
    uint32_t period = launches ? cuda_swap_period(run, step, MOST_PERIOD) : 0;
    if (!period || is_swapped(run->code->ir, step)) {
        return VYRE_OK;
    }
    if (iterations) { /* a swap further out has moved the arrays */
        *out_iterations = iterations;
        return prepare(run, iterations, launches);
    }
    vyre_status status = VYRE_OK;
    iterations = take_kept(run, step);
    if (!iterations && iteration >= BY_HOST) {
        status = make_iterations(run, step, &iterations);
    }
    if (!iterations) {
        return status;
    }
    iterations->next = run->held_iterations;
    run->held_iterations = iterations;
    iterations->period = period;
    if (!iterations->replay.exec || !is_for(iterations, run, step)) {
        status = prepare(run, iterations, launches);
    }
    *out_iterations = iterations;
    return status;
}

vyre_status cuda_iterations_put(cuda_run *run, uint32_t step, uint64_t iteration, uint64_t done,
                                uint64_t *out_count) {
    cuda_device *device = run->device;
    const cuda_table *cuda = device->cuda;
    cuda_iterations *iterations = NULL;
    *out_count = 0;
    vyre_status status =
        iteration ? find(run, step, iteration, &iterations) : VYRE_OK; /* many have but one */
    if (status || !iterations) {
        return status;
    }
    if (!done) {
        const cuda_layout *layout = &run->code->layout;
        uint32_t count = NUMBERS + run->code->ir->step_count;
        iterations->host_words[NEXT] = (uint32_t)iteration;
        memcpy(iterations->host_words + NUMBERS, run->frame + layout->iterations,
               (size_t)(count - NUMBERS) * 4);
        status =
            cuda_check(device,
                       cuda->cuMemcpyHtoDAsync(iterations->words->address, iterations->host_words,
                                               (size_t)count * 4, run->stream->handle),
                       "sending the iteration counts");
    }
    /* As many as there were, so that at most half of all are in vain. */
    uint64_t wanted = done < iterations->each ? iterations->each : done;
    wanted = wanted < MOST_AT_ONCE ? wanted : MOST_AT_ONCE;
    for (uint64_t i = 0; i < wanted && !status; i += iterations->each) {
        status =
            cuda_check(device, cuda->cuGraphLaunch(iterations->replay.exec, run->stream->handle),
                       "starting iterations of `%s`", vyre_program_name(run->code->program));
        *out_count += iterations->each;
    }
    return status;
}

vyre_status cuda_iterations_swap(cuda_run *run, uint32_t step, uint64_t first) {
    const cuda_iterations *iterations = run->held_iterations;
    while (iterations && iterations->step != step) {
        iterations = iterations->next;
    }
    if (!iterations || iterations->period == 1) {
        return VYRE_OK;
    }
    uint32_t next;
    VYRE_TRY(cuda_check(run->device,
                        run->device->cuda->cuMemcpyDtoHAsync(
                            run->stream->word, word_at(iterations, NEXT), 4, run->stream->handle),
                        "reading the iteration count"));
    VYRE_TRY(cuda_run_wait(run));
    memcpy(&next, run->stream->word, sizeof next);
    uint32_t done = (next - (uint32_t)first) % iterations->period;
    for (uint32_t i = 0; i < done; i++) {
        cuda_swap_steps(run, step + 1, run->code->ir->steps[step].end);
    }
    return VYRE_OK;
}
