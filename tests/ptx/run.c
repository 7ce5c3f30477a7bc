#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "tests/ptx/parts.h"

enum { WARP = 32 };

void ptx_fail(ptx_run *run, const ptx_instruction *at, const char *format, ...) {
    if (run->failed) {
        return;
    }
    run->failed = true;
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(run->error->text, sizeof run->error->text, "%s, line %u: %s", run->entry->name,
             at ? at->line : 0, text);
}

static uint64_t special(ptx_run *run, const ptx_block *block, const ptx_thread *thread,
                        uint32_t which) {
    switch (which) {
    case PTX_TID_X: return thread->number;
    case PTX_CTAID_X: return block->number[0];
    case PTX_CTAID_Y: return block->number[1];
    case PTX_CTAID_Z: return block->number[2];
    case PTX_NCTAID_X: return run->launch->grid[0];
    case PTX_NCTAID_Y: return run->launch->grid[1];
    case PTX_CLOCK: return run->clock++;
    default: return run->launch->grid[2];
    }
}

uint64_t ptx_read(ptx_run *run, ptx_block *block, ptx_thread *thread, const ptx_instruction *at,
                  const ptx_operand *operand) {
    switch (operand->kind) {
    case PTX_REGISTER:
        if (!thread->written[operand->index]) {
            ptx_fail(run, at, "a register is read that nobody wrote");
        }
        return thread->registers[operand->index];
    case PTX_SPECIAL: return special(run, block, thread, operand->index);
    default: return operand->bits;
    }
}

void ptx_write(ptx_thread *thread, const ptx_operand *operand, uint64_t value) {
    thread->registers[operand->index] = value;
    thread->written[operand->index] = 1;
}

/* Threads of a warp that the mask names, and that have not ended; whether all of them are here. */
static bool warp_meets(const ptx_run *run, ptx_block *block, const ptx_thread *thread) {
    uint32_t first = thread->number / WARP * WARP;
    for (uint32_t lane = 0; lane < WARP; lane++) {
        if (!(thread->mask >> lane & 1)) {
            continue;
        }
        if (first + lane >= run->launch->threads) {
            continue;
        }
        const ptx_thread *other = &block->threads[first + lane];
        if (other->state != PTX_ENDED && (other->state != PTX_IN_WARP || other->at != thread->at ||
                                          other->mask != thread->mask)) {
            return false;
        }
    }
    return true;
}

/* Words of all lanes as one. */
static uint32_t reduced(const ptx_instruction *i, const uint64_t *values, uint32_t members) {
    uint32_t result = 0, lane = 0;
    while (!(members >> lane & 1)) {
        lane++;
    }
    result = (uint32_t)values[lane];
    while (++lane < WARP) {
        uint32_t value = (uint32_t)values[lane];
        bool less = i->type == PTX_S32 ? (int32_t)value < (int32_t)result : value < result;
        if (!(members >> lane & 1)) {
            continue;
        }
        result = ptx_has(i, PTX_WORD_DO_ADD)           ? result + value
                 : ptx_has(i, PTX_WORD_DO_AND)         ? result & value
                 : ptx_has(i, PTX_WORD_DO_OR)          ? result | value
                 : ptx_has(i, PTX_WORD_DO_XOR)         ? result ^ value
                 : less == ptx_has(i, PTX_WORD_DO_MIN) ? value
                                                       : result;
    }
    return result;
}

/* A product of matrices of s8, added to one of s32, whose elements the lanes have as PTX says: four
 * neighbours along k a register of A or B, two neighbours of a row of C. */
static void warp_multiplies(ptx_run *run, ptx_block *block, const ptx_thread *thread) {
    const ptx_instruction *i = &run->entry->instructions[thread->at];
    bool large = ptx_has(i, PTX_WORD_M16N8K32);
    uint32_t rows = large ? 16 : 8, depth = large ? 32 : 16, of_a = large ? 4 : 1;
    uint32_t of_b = large ? 2 : 1, of_c = large ? 4 : 2, first = thread->number / WARP * WARP;
    int8_t a[16][32] = {{0}}, b[32][8] = {{0}};
    uint32_t c[16][8] = {{0}};
    if (i->count != 2 * of_c + of_a + of_b || large == ptx_has(i, PTX_WORD_M8N8K16) ||
        first + WARP > run->launch->threads) {
        ptx_fail(run, i, "a product of matrices of another form, or without a whole warp");
        return;
    }
    for (uint32_t lane = 0; lane < WARP; lane++) {
        ptx_thread *other = &block->threads[first + lane];
        uint32_t group = lane / 4, in_group = lane % 4;
        const ptx_operand *operand = &i->operands[of_c];
        if (other->state != PTX_IN_WARP) {
            ptx_fail(run, i, "a lane is missing");
            return;
        }
        for (uint32_t k = 0; k < of_a; k++) {
            uint64_t word = ptx_read(run, block, other, i, operand++);
            for (uint32_t j = 0; j < 4; j++) {
                a[group + k % 2 * 8][in_group * 4 + j + k / 2 * 16] = (int8_t)(word >> 8 * j);
            }
        }
        for (uint32_t k = 0; k < of_b; k++) {
            uint64_t word = ptx_read(run, block, other, i, operand++);
            for (uint32_t j = 0; j < 4; j++) {
                b[in_group * 4 + j + k * 16][group] = (int8_t)(word >> 8 * j);
            }
        }
        for (uint32_t k = 0; k < of_c; k++) {
            c[group + k / 2 * 8][in_group * 2 + k % 2] =
                (uint32_t)ptx_read(run, block, other, i, operand++);
        }
    }
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t column = 0; column < 8; column++) {
            for (uint32_t k = 0; k < depth; k++) {
                c[row][column] += (uint32_t)(a[row][k] * b[k][column]);
            }
        }
    }
    for (uint32_t lane = 0; lane < WARP; lane++) {
        ptx_thread *other = &block->threads[first + lane];
        for (uint32_t k = 0; k < of_c; k++) {
            ptx_write(other, &i->operands[k], c[lane / 4 + k / 2 * 8][lane % 4 * 2 + k % 2]);
        }
        other->state = PTX_RUNS;
        other->at++;
    }
}

/* All lanes at once, from the registers as they were. */
static void warp_runs(ptx_run *run, ptx_block *block, const ptx_thread *thread) {
    uint32_t first = thread->number / WARP * WARP, mask = thread->mask, ballot = 0, members = 0;
    const ptx_instruction *i = &run->entry->instructions[thread->at];
    bool is_up = i->op == PTX_OP_SHFL && ptx_has(i, PTX_WORD_UP); /* has a predicate, too */
    uint64_t values[WARP] = {0}, results[WARP] = {0};
    for (uint32_t lane = 0; lane < WARP && first + lane < run->launch->threads; lane++) {
        ptx_thread *other = &block->threads[first + lane];
        if (mask >> lane & 1 && other->state == PTX_IN_WARP) {
            values[lane] = ptx_read(run, block, other, i, &i->operands[is_up ? 2 : 1]);
            members |= (uint32_t)1 << lane;
            ballot |= (uint32_t)(values[lane] & 1) << lane;
        }
    }
    for (uint32_t lane = 0; lane < WARP; lane++) {
        if (!(members >> lane & 1)) {
            continue;
        }
        ptx_thread *other = &block->threads[first + lane];
        if (is_up) {
            uint64_t by = ptx_read(run, block, other, i, &i->operands[3]);
            bool exists = by <= lane && members >> (lane - by) & 1;
            results[lane] = (uint32_t)values[exists ? lane - by : lane];
            ptx_write(other, &i->operands[1], by <= lane);
        } else if (i->op == PTX_OP_REDUX) {
            results[lane] = reduced(i, values, members);
        } else if (i->op == PTX_OP_SHFL) {
            uint64_t from = ptx_read(run, block, other, i, &i->operands[2]);
            if (from >= WARP || !(members >> from & 1)) {
                ptx_fail(run, i, "lane %u reads lane %llu, which is not there", lane,
                         (unsigned long long)from);
                return;
            }
            results[lane] = (uint32_t)values[from];
        } else {
            results[lane] = ptx_has(i, PTX_WORD_BALLOT) ? ballot
                            : ptx_has(i, PTX_WORD_ALL)  ? ballot == members
                                                        : ballot != 0;
        }
    }
    for (uint32_t lane = 0; lane < WARP; lane++) {
        if (members >> lane & 1) {
            ptx_thread *other = &block->threads[first + lane];
            ptx_write(other, &i->operands[0], results[lane]);
            other->state = PTX_RUNS;
            other->at++;
        }
    }
}

/* Lets a barrier's threads go on when all are there. */
static bool open_barriers(const ptx_run *run, ptx_block *block) {
    bool opened = false;
    for (uint32_t number = 0; number < 16; number++) {
        uint32_t waiting = 0, count = 0;
        for (uint32_t t = 0; t < run->launch->threads; t++) {
            const ptx_thread *thread = &block->threads[t];
            if (thread->state == PTX_AT_BARRIER && thread->barrier == number) {
                waiting++;
                count = thread->barrier_count;
            }
        }
        if (!waiting || waiting != (count ? count : block->left)) {
            continue;
        }
        for (uint32_t t = 0; t < run->launch->threads; t++) {
            ptx_thread *thread = &block->threads[t];
            if (thread->state == PTX_AT_BARRIER && thread->barrier == number) {
                thread->state = PTX_RUNS;
                thread->at++;
            }
        }
        opened = true;
    }
    return opened;
}

/* Runs a thread for some instructions, or until it waits or ends. Returns how many. */
static uint64_t run_thread(ptx_run *run, ptx_block *block, ptx_thread *thread, uint64_t most) {
    uint64_t steps = 0;
    while (steps < most && thread->state == PTX_RUNS && !run->failed) {
        if (thread->at >= run->entry->instruction_count) {
            ptx_fail(run, NULL, "a thread ran beyond the end");
            break;
        }
        const ptx_instruction *i = &run->entry->instructions[thread->at];
        steps++;
        if (i->guard != PTX_NOTHING) {
            ptx_operand guard = {PTX_REGISTER, i->guard, 0};
            bool holds = ptx_read(run, block, thread, i, &guard) & 1;
            if (holds == i->guard_not) {
                thread->at++;
                continue;
            }
        }
        switch (i->op) {
        case PTX_OP_BRA: thread->at = i->operands[0].index; break;
        case PTX_OP_RET:
        case PTX_OP_EXIT:
            thread->state = PTX_ENDED;
            block->left--;
            break;
        case PTX_OP_BAR:
            thread->state = PTX_AT_BARRIER;
            thread->barrier = (uint32_t)ptx_read(run, block, thread, i, &i->operands[0]);
            thread->barrier_count = i->count > 1 ? (uint32_t)i->operands[1].bits : 0;
            if (thread->barrier >= 16) {
                ptx_fail(run, i, "there is no barrier %u", thread->barrier);
            }
            break;
        case PTX_OP_MMA:
            thread->state = PTX_IN_WARP;
            thread->mask = UINT32_MAX;
            break;
        case PTX_OP_SHFL:
        case PTX_OP_REDUX:
        case PTX_OP_VOTE:
            thread->state = PTX_IN_WARP;
            thread->mask = (uint32_t)ptx_read(run, block, thread, i, &i->operands[i->count - 1]);
            if (!(thread->mask >> thread->number % WARP & 1)) {
                ptx_fail(run, i, "a thread that is not in its own mask");
            }
            break;
        default:
            ptx_operate(run, block, thread, i);
            thread->at++;
            break;
        }
    }
    return steps;
}

static void *zeroed(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        abort();
    }
    return memory;
}

static void start_block(const ptx_run *run, ptx_block *block, uint32_t number) {
    const ptx_launch *launch = run->launch;
    *block = (ptx_block){
        .number = {number % launch->grid[0], number / launch->grid[0] % launch->grid[1],
                   number / launch->grid[0] / launch->grid[1]},
        .threads = zeroed(launch->threads, sizeof *block->threads),
        .shared_bytes = run->entry->shared_bytes + launch->dynamic_bytes,
        .left = launch->threads,
    };
    block->shared = zeroed(block->shared_bytes, 1);
    memset(block->shared, 0xa5, block->shared_bytes);
    for (uint32_t t = 0; t < launch->threads; t++) {
        ptx_thread *thread = &block->threads[t];
        thread->number = t;
        thread->registers = zeroed(run->entry->register_count, sizeof *thread->registers);
        thread->written = zeroed(run->entry->register_count, 1);
        thread->local = zeroed(run->entry->local_bytes, 1);
        memset(thread->local, 0xa5, run->entry->local_bytes);
    }
}

static void end_block(const ptx_run *run, ptx_block *block) {
    for (uint32_t t = 0; block->threads && t < run->launch->threads; t++) {
        free(block->threads[t].registers);
        free(block->threads[t].written);
        free(block->threads[t].local);
    }
    free(block->threads);
    free(block->shared);
    *block = (ptx_block){0};
}

/* A turn of a block: each thread some steps. Returns how many in all, and whether anybody moved. */
static uint64_t run_block(ptx_run *run, ptx_block *block, uint64_t *random, bool *moved) {
    uint64_t steps = 0;
    uint32_t count = run->launch->threads, first = (uint32_t)vyre_random_below(random, count);
    for (uint32_t k = 0; k < count && !run->failed; k++) {
        ptx_thread *thread = &block->threads[(first + k) % count];
        if (thread->state == PTX_RUNS) {
            steps += run_thread(run, block, thread, 1 + vyre_random_below(random, 4096));
            *moved = true;
        }
        if (thread->state == PTX_IN_WARP && warp_meets(run, block, thread)) {
            bool multiplies = run->entry->instructions[thread->at].op == PTX_OP_MMA;
            (multiplies ? warp_multiplies : warp_runs)(run, block, thread);
            *moved = true;
        }
    }
    if (open_barriers(run, block)) {
        *moved = true;
    }
    return steps;
}

bool ptx_launch_run(const ptx_module *module, const ptx_launch *launch, ptx_error *out_error) {
    ptx_run run = {.module = module, .launch = launch, .error = out_error};
    out_error->text[0] = '\0';
    for (uint32_t k = 0; k < module->entry_count && !run.entry; k++) {
        run.entry = strcmp(module->entries[k].name, launch->entry) ? NULL : &module->entries[k];
    }
    if (!run.entry || launch->threads != run.entry->threads) {
        snprintf(out_error->text, sizeof out_error->text, "no entry `%s` of %u threads",
                 launch->entry, launch->threads);
        return false;
    }
    uint64_t random = launch->seed, steps = 0;
    uint64_t most = launch->max_steps ? launch->max_steps : UINT64_C(4000000000);
    uint32_t total = launch->grid[0] * launch->grid[1] * launch->grid[2], left = total;
    ptx_block *blocks = zeroed(total, sizeof *blocks);
    uint32_t started = 0;
    while (left && !run.failed) {
        bool moved = false;
        for (; started < total; started++) { /* all at once, as a cooperative launch is */
            start_block(&run, &blocks[started], started);
        }
        for (uint32_t b = 0; b < started && !run.failed; b++) {
            if (!blocks[b].threads) {
                continue;
            }
            steps += run_block(&run, &blocks[b], &random, &moved);
            if (!blocks[b].left) {
                end_block(&run, &blocks[b]);
                left--;
            }
        }
        if (!moved && !run.failed) {
            ptx_fail(&run, NULL, "all threads wait");
        } else if (steps > most) {
            ptx_fail(&run, NULL, "more than %llu steps", (unsigned long long)most);
        }
    }
    for (uint32_t b = 0; b < started; b++) {
        end_block(&run, &blocks[b]);
    }
    free(blocks);
    return !run.failed;
}
