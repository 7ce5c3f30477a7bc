#include "backend/cpu/runtime/bandwidth.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "backend/cpu/runtime/memory.h"
#include "backend/cpu/runtime/pool.h"
#include "backend/cpu/runtime/profile.h"
#include "base/clock.h"
#include "base/number.h"
#include "store/recall.h"

/* More than caches keep, in pieces that a thread reads at a time; again and again for a while,
 * since others on the machine disturb, and the best round tells. */
enum {
    PIECES = 128,
    PIECE_BYTES = 1 << 19,
    LEAST_ROUNDS = 3,
    MOST_ROUNDS = 16,
    ENOUGH_NS = 30000000
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* whoever measures */
static atomic_ullong known;

/* What the number depends on, as the file tells it. */
static void describe(vyre_strbuf *out) {
    char name[CPU_NAME_BYTES];
    uint32_t threads = 0;
    cpu_brand(name);
    vyre_status_free(cpu_pool_size(&threads));
    vyre_strbuf_printf(out, "%s, %u threads, GB/s: ", name, threads);
}

static const char kind[] = "memory";

/* What an earlier process has left; anything else in the file is as good as none. */
static void read_number(void) {
    vyre_strbuf key = {0}, found = {0};
    uint64_t number;
    bool too_large = false;
    describe(&key);
    if (vyre_recall(kind, &key, &found) && found.data[found.size - 1] == '\n' &&
        vyre_u64_parse(found.data, found.size - 1, 10, &number, &too_large) && !too_large) {
        atomic_store(&known, number);
    }
    vyre_strbuf_free(&key);
    vyre_strbuf_free(&found);
}

static void write_number(uint64_t number) {
    vyre_strbuf key = {0}, text = {0};
    describe(&key);
    vyre_strbuf_u64(&text, number);
    vyre_strbuf_puts(&text, "\n");
    vyre_remember(kind, &key, &text);
    vyre_strbuf_free(&key);
    vyre_strbuf_free(&text);
}

uint64_t cpu_bandwidth_known(void) {
    pthread_once(&once, read_number);
    return atomic_load(&known);
}

static void fill_pieces(const cpu_frame *frame, uint64_t first, uint64_t end, void *storage) {
    (void)storage;
    memset(frame->arrays[0] + first * PIECE_BYTES, 1, (end - first) * PIECE_BYTES);
}

static void read_pieces(const cpu_frame *frame, uint64_t first, uint64_t end, void *storage) {
    (void)storage;
    for (uint64_t piece = first; piece < end; piece++) {
        const uint64_t *words =
            (const uint64_t *)(const void *)(frame->arrays[0] + piece * PIECE_BYTES);
        uint64_t sum = 0;
        for (size_t i = 0; i < PIECE_BYTES / sizeof *words; i++) {
            sum += words[i];
        }
        ((uint64_t *)(void *)frame->arrays[1])[piece] = sum;
    }
}

/* Nanoseconds until all threads are through; 0 without memory. */
static uint64_t run(cpu_kernel kernel, uint8_t *const *arrays) {
    const cpu_frame frame = {.arrays = arrays};
    const cpu_work work = {.kernel = kernel, .frame = &frame, .units = PIECES, .grain = 1};
    uint64_t start = vyre_now_ns();
    vyre_status status = cpu_pool_run(&work);
    uint64_t time = vyre_now_ns() - start;
    vyre_status_free(status);
    return status ? 0 : time;
}

static uint64_t measure(void) {
    uint64_t sums[PIECES], best = UINT64_MAX;
    uint8_t *const arrays[] = {cpu_memory_take((size_t)PIECES * PIECE_BYTES), (uint8_t *)sums};
    bool done = arrays[0] && run(fill_pieces, arrays);
    uint64_t spent = 0;
    for (int round = 0;
         done && (round < LEAST_ROUNDS || (round < MOST_ROUNDS && spent < ENOUGH_NS)); round++) {
        uint64_t time = run(read_pieces, arrays);
        best = time < best ? time : best;
        spent += time;
        done = time;
    }
    cpu_memory_give(arrays[0]);
    cpu_memory_trim();
    uint64_t number = done ? ((uint64_t)PIECES * PIECE_BYTES + best / 2) / best : 0;
    return done && !number ? 1 : number; /* bytes a nanosecond are GB/s */
}

void cpu_bandwidth_learn(void) {
    if (cpu_bandwidth_known()) {
        return;
    }
    pthread_mutex_lock(&lock);
    if (!atomic_load(&known)) {
        uint64_t number = measure();
        atomic_store(&known, number);
        if (number) {
            write_number(number);
        }
    }
    pthread_mutex_unlock(&lock);
}
