#include "backend/cuda/runtime/iterations.h"

#include <string.h>

#include "backend/cuda/runtime/run.h"
#include "base/alloc.h"

enum { GATE, NEXT, NUMBERS };              /* words on the device */
enum { MOST_NODES = 64, MOST_EACH = 8 };   /* of a row, but for one of a single turn */
enum { MOST_LAUNCHES = 512 };              /* of a turn that is worth a row */
enum { MOST_AT_ONCE = 64, MOST_KEPT = 4 }; /* turns until the host looks again; rows of a code */
enum { BY_HOST = 4 };                      /* turns before a row is made */

/* The parameters of the kernel. */
typedef struct turn_frame {
    CUdeviceptr element, stop, words, number; /* number: where that of the turn goes */
    uint32_t bytes;                           /* of the element; 0: there is none, but a value */
    uint32_t value;
} turn_frame;

void cuda_turns_write(vyre_text *out_ptx) {
    vyre_text_puts(out_ptx, "\n.visible .entry turn(.param .align 8 .b8 frame[40])\n"
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

static CUdeviceptr word_at(const cuda_turns *turns, uint32_t word) {
    return turns->words->address + 4 * (CUdeviceptr)word;
}

static vyre_status put_kernel(cuda_run *run, turn_frame *frame) {
    void *parameters[] = {frame};
    const CUDA_KERNEL_NODE_PARAMS node = {run->code->turn, 1, 1, 1, 1, 1, 1, 0, parameters, NULL};
    return cuda_replay_kernel(run->device, run->replay, &node);
}

vyre_status cuda_turns_number(cuda_run *run, uint32_t step, uint32_t number) {
    turn_frame frame = {.number = word_at(run->turns, NUMBERS + step), .value = number};
    return put_kernel(run, &frame);
}

/* What a row depends on: all that its frames are made of but numbers of turns. */
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

static bool is_for(const cuda_turns *turns, const cuda_run *run, uint32_t step) {
    const uint64_t words[WORDS] = {step, run->counters, run->lane->stop_at};
    const uint8_t *key = (const uint8_t *)turns->replay.key;
    piece pieces[PIECES];
    bool same = key != NULL;
    list_pieces(run, words, pieces);
    for (int i = 0; i < PIECES && same; i++) {
        same = !memcmp(key, pieces[i].data, pieces[i].bytes);
        key += pieces[i].bytes;
    }
    return same;
}

static bool write_key(cuda_turns *turns, const cuda_run *run) {
    const uint64_t words[WORDS] = {turns->step, run->counters, run->lane->stop_at};
    piece pieces[PIECES];
    size_t bytes = 0;
    list_pieces(run, words, pieces);
    for (int i = 0; i < PIECES; i++) {
        bytes += pieces[i].bytes;
    }
    if (!turns->replay.key) { /* of one code, all keys have the same size */
        turns->replay.key = vyre_alloc(bytes);
    }
    uint8_t *key = (uint8_t *)turns->replay.key;
    for (int i = 0; i < PIECES && key; i++) {
        memcpy(key, pieces[i].data, pieces[i].bytes);
        key += pieces[i].bytes;
    }
    return key;
}

/* Launches of a turn; 0 if only the host can do it. */
static uint64_t count_launches(const cuda_run *run, uint32_t first, uint32_t end) {
    const cuda_code *code = run->code;
    uint64_t count = 0;
    for (uint32_t i = first; i < end; i = code->ir->steps[i].end) {
        const vyre_step *step = &code->ir->steps[i];
        if (step->kind == VYRE_STEP_REPEAT_WHILE) {
            return 0;
        }
        if (step->kind == VYRE_STEP_PHASE) {
            uint32_t from = code->ir->phases[step->size].from_resource;
            if (code->phases[step->size].info.cooperative ||
                (from != VYRE_NONE && cuda_phase_writes(code->ir, step->size, from))) {
                return 0;
            }
            count++;
            continue;
        }
        uint64_t size = run->call->sizes[step->size];
        uint64_t inside = 1 + count_launches(run, i + 1, step->end);
        if (inside == 1) {
            return 0;
        }
        count += size > MOST_LAUNCHES ? MOST_LAUNCHES + 1 : size * inside;
    }
    return count > MOST_LAUNCHES ? 0 : count;
}

static void free_turns(cuda_device *device, cuda_turns *turns) {
    cuda_replay_drop(device, &turns->replay);
    cuda_memory_give(device, turns->words);
    vyre_free(turns->host_words);
    vyre_free(turns);
}

void cuda_turns_free(cuda_device *device, cuda_turns *list) {
    while (list) {
        cuda_turns *next = list->next;
        free_turns(device, list);
        list = next;
    }
}

/* Takes a row of this repeat out of those that the code keeps: for this call, or for another one.
 */
static cuda_turns *take_kept(cuda_run *run, uint32_t step) {
    cuda_code *code = run->code;
    cuda_turns *taken = NULL;
    pthread_mutex_lock(&run->device->lock);
    for (cuda_turns **at = &code->kept_turns; *at; at = &(*at)->next) {
        if ((*at)->step == step && (!taken || is_for(*at, run, step))) {
            taken = *at;
        }
    }
    cuda_turns **at = &code->kept_turns;
    while (taken && *at != taken) {
        at = &(*at)->next;
    }
    if (taken) {
        *at = taken->next;
        code->kept_turn_count--;
    }
    pthread_mutex_unlock(&run->device->lock);
    return taken;
}

void cuda_turns_end(cuda_run *run) {
    cuda_code *code = run->code;
    while (run->held_turns) {
        cuda_turns *turns = run->held_turns;
        run->held_turns = turns->next;
        pthread_mutex_lock(&run->device->lock);
        bool keeps = turns->replay.exec && code->kept_turn_count < MOST_KEPT &&
                     !atomic_load(&run->device->is_lost);
        if (keeps) {
            turns->next = code->kept_turns;
            code->kept_turns = turns;
            code->kept_turn_count++;
        }
        pthread_mutex_unlock(&run->device->lock);
        if (!keeps) {
            free_turns(run->device, turns);
        }
    }
}

static vyre_status no_memory(const cuda_run *run) {
    return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory and try again",
                            "no memory for the turns of `%s`",
                            vyre_program_name(run->code->program));
}

static vyre_status make_turns(cuda_run *run, uint32_t step, cuda_turns **out_turns) {
    size_t count = NUMBERS + run->code->ir->step_count;
    cuda_turns *turns = vyre_alloc_zeroed(1, sizeof *turns);
    vyre_status status = turns ? VYRE_OK : no_memory(run);
    if (turns) {
        turns->step = step;
        turns->host_words = vyre_alloc_zeroed(count, sizeof *turns->host_words);
        status = turns->host_words ? cuda_memory_take(run->device, count * 4, &turns->words)
                                   : no_memory(run);
    }
    if (status && turns) {
        free_turns(run->device, turns);
        turns = NULL;
    }
    *out_turns = turns;
    return status;
}

/* The nodes of all turns. */
static vyre_status put_nodes(cuda_run *run, cuda_turns *turns) {
    const cuda_layout *layout = &run->code->layout;
    const vyre_step *step = &run->code->ir->steps[turns->step];
    uint32_t bytes = vyre_type_bytes((vyre_type)run->code->ir->resources[step->resource].type);
    turn_frame frame = {.stop = run->lane->stop_at, /* phases may have none, a turn always */
                        .words = turns->words->address,
                        .number = word_at(turns, NUMBERS + turns->step),
                        .bytes = bytes};
    const uint64_t gate = word_at(turns, GATE), numbers = word_at(turns, NUMBERS), none = 0;
    memcpy(&frame.element, run->frame + layout->arrays + (size_t)step->resource * 8, 8);
    frame.element += run->call->sizes[step->size] * bytes;
    memcpy(run->frame + layout->gate, &gate, 8);
    memcpy(run->frame + layout->turns, &numbers, 8);
    run->replay = &turns->replay;
    run->turns = turns;
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < turns->each && !status; i++) {
        status = put_kernel(run, &frame);
        status = status ? status : cuda_run_steps(run, turns->step + 1, step->end);
    }
    run->replay = NULL;
    run->turns = NULL;
    memcpy(run->frame + layout->gate, &none, 8);
    memcpy(run->frame + layout->turns, &none, 8);
    return status;
}

/* Makes the graph for this run, or changes it so that it is for this run. */
static vyre_status prepare(cuda_run *run, cuda_turns *turns, uint64_t launches) {
    cuda_replay *replay = &turns->replay;
    uint64_t each = MOST_NODES / (launches + 1);
    turns->each = each > MOST_EACH ? MOST_EACH : each ? (uint32_t)each : 1;
    vyre_status status = cuda_replay_begin(run->device, replay);
    status = status ? status : put_nodes(run, turns);
    status = status ? status : cuda_replay_end(run->device, replay);
    if (!status && replay->is_changed) {
        cuda_replay_drop(run->device, replay);
        status = cuda_replay_begin(run->device, replay);
        status = status ? status : put_nodes(run, turns);
        status = status ? status : cuda_replay_end(run->device, replay);
    }
    if (!status && !write_key(turns, run)) {
        status = no_memory(run);
    }
    if (status) { /* half of it may be changed */
        cuda_replay_drop(run->device, replay);
    }
    return status;
}

/* The row of a repeat for this run; NULL if it is too early to make one. */
static vyre_status find(cuda_run *run, uint32_t step, uint64_t turn, cuda_turns **out_turns) {
    cuda_turns *turns = run->held_turns;
    while (turns && turns->step != step) {
        turns = turns->next;
    }
    *out_turns = turns;
    if (turns) {
        return VYRE_OK;
    }
    uint64_t launches = run->code->layout.by_pointer
                            ? 0
                            : count_launches(run, step + 1, run->code->ir->steps[step].end);
    if (!launches) {
        return VYRE_OK;
    }
    vyre_status status = VYRE_OK;
    turns = take_kept(run, step);
    if (!turns && turn >= BY_HOST) {
        status = make_turns(run, step, &turns);
    }
    if (!turns) {
        return status;
    }
    turns->next = run->held_turns;
    run->held_turns = turns;
    if (!turns->replay.exec || !is_for(turns, run, step)) {
        status = prepare(run, turns, launches);
    }
    *out_turns = turns;
    return status;
}

vyre_status cuda_turns_put(cuda_run *run, uint32_t step, uint64_t turn, uint64_t done,
                           uint64_t *out_count) {
    cuda_device *device = run->device;
    const cuda_table *cuda = device->cuda;
    cuda_turns *turns = NULL;
    *out_count = 0;
    vyre_status status = turn ? find(run, step, turn, &turns) : VYRE_OK; /* many have but one */
    if (status || !turns) {
        return status;
    }
    if (!done) {
        const cuda_layout *layout = &run->code->layout;
        uint32_t count = NUMBERS + run->code->ir->step_count;
        turns->host_words[NEXT] = (uint32_t)turn;
        memcpy(turns->host_words + NUMBERS, run->frame + layout->iterations,
               (size_t)(count - NUMBERS) * 4);
        status = cuda_check(device,
                            cuda->cuMemcpyHtoDAsync(turns->words->address, turns->host_words,
                                                    (size_t)count * 4, run->lane->stream),
                            "sending the numbers of turns");
    }
    /* As many as there were, so that at most half of all are in vain. */
    uint64_t wanted = done < turns->each ? turns->each : done;
    wanted = wanted < MOST_AT_ONCE ? wanted : MOST_AT_ONCE;
    for (uint64_t i = 0; i < wanted && !status; i += turns->each) {
        status = cuda_check(device, cuda->cuGraphLaunch(turns->replay.exec, run->lane->stream),
                            "starting turns of `%s`", vyre_program_name(run->code->program));
        *out_count += turns->each;
    }
    return status;
}
