#include "backend/cpu/runtime/fill.h"

#include <string.h>

#include "backend/cpu/runtime/pool.h"

enum { PIECE = 256 << 10, ALONE = 4 * PIECE, PATTERN = 16 }; /* bytes; ALONE for one thread */

static uint64_t piece_bytes(const cpu_frame *frame, uint64_t unit) {
    uint64_t rest = frame->lengths[0] - unit * PIECE;
    return rest < PIECE ? rest : PIECE;
}

static void fill_pieces(const cpu_frame *frame, uint64_t first, uint64_t end, void *storage) {
    (void)storage;
    for (uint64_t unit = first; unit < end; unit++) {
        memset(frame->arrays[0] + unit * PIECE, 0, piece_bytes(frame, unit));
    }
}

static void copy_pieces(const cpu_frame *frame, uint64_t first, uint64_t end, void *storage) {
    (void)storage;
    for (uint64_t unit = first; unit < end; unit++) {
        memcpy(frame->arrays[0] + unit * PIECE, frame->arrays[1] + unit * PIECE,
               piece_bytes(frame, unit));
    }
}

/* The second array holds 16 bytes, which repeat the pattern. */
static void repeat_pieces(const cpu_frame *frame, uint64_t first, uint64_t end, void *storage) {
    (void)storage;
    for (uint64_t unit = first; unit < end; unit++) {
        uint8_t *to = frame->arrays[0] + unit * PIECE;
        uint64_t bytes = piece_bytes(frame, unit), at = 0;
        for (; at + PATTERN <= bytes; at += PATTERN) {
            memcpy(to + at, frame->arrays[1], PATTERN);
        }
        memcpy(to + at, frame->arrays[1], bytes - at);
    }
}

static void run_pieces(cpu_kernel kernel, uint8_t *to, uint8_t *from, uint64_t size) {
    uint8_t *const arrays[] = {to, from};
    const cpu_frame frame = {.arrays = arrays, .lengths = &size};
    const cpu_work work = {.kernel = kernel,
                           .frame = &frame,
                           .units = (size + PIECE - 1) / PIECE,
                           .grain = size < ALONE ? ALONE / PIECE : 1};
    vyre_status_free(cpu_pool_run(&work)); /* cannot fail: it needs no storage */
}

void cpu_fill_zero(uint8_t *to, uint64_t size) {
    if (size) {
        run_pieces(fill_pieces, to, NULL, size);
    }
}

void cpu_fill(uint8_t *to, uint64_t size, const void *pattern, size_t pattern_size) {
    uint8_t whole[PATTERN];
    for (size_t at = 0; at < PATTERN; at += pattern_size) {
        memcpy(whole + at, pattern, pattern_size);
    }
    if (size) {
        run_pieces(repeat_pieces, to, whole, size);
    }
}

void cpu_copy(uint8_t *to, const void *from, uint64_t size) {
    if (size) {
        run_pieces(copy_pieces, to, (uint8_t *)(uintptr_t)from, size); /* read alone */
    }
}
