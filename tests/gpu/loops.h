/* Programs with `repeat while`, for the cuda backend on the fake and on a GPU. */
#ifndef VYRE_TESTS_GPU_LOOPS_H
#define VYRE_TESTS_GPU_LOOPS_H

#include <stdint.h>

/* Each takes `left: inout buffer<u32>`, how many turns are to be, and `y: inout buffer<u32>`. */
static const char *const loops[] = {
    /* The condition changes in the first phase of a turn; the others belong to it all the same. */
    "program first(left: inout buffer<u32>, y: inout buffer<u32>) { "
    "repeat i while left[0] { phase over 1 { left[0] = left[0] - 1; } "
    "phase over y { y[gid] = y[gid] * 3 + i; } phase over y { y[gid] = y[gid] + gid + i; } } "
    "phase over y { y[gid] = y[gid] ^ 1; } }",
    /* It is 0 in the middle of a turn. */
    "program middle(left: inout buffer<u32>, y: inout buffer<u32>) { scratch more: u8[3]; "
    "phase over 1 { more[2] = u8(min(left[0], 1)); } "
    "repeat i while more[2] { phase over 1 { more[2] = 0; } "
    "phase over y { y[gid] = y[gid] + i * 7; if gid == 0 && i + 1 < left[0] { more[2] = 128; } } "
    "} phase over 1 { left[0] = left[0] + 1; } }",
    /* Repeats inside, which have numbers, too; and domains from memory. */
    "program inner(left: inout buffer<u32>, y: inout buffer<u32>) { scratch n: i64[1]; "
    "phase over 1 { n[0] = 0 - i64(left[0]); } "
    "repeat i while n[0] { repeat j in 3 { phase over y { y[gid] = y[gid] * 5 + i * 10 + j; } } "
    "phase over left[0] max 4 { y[gid] = y[gid] + 1; } phase over 1 { n[0] = n[0] + 1; } } }",
    /* Repeats around it. */
    "program outer(left: inout buffer<u32>, y: inout buffer<u32>) { scratch n: u64[1]; "
    "repeat k in 3 { phase over 1 { n[0] = u64(left[0]) << 32; } "
    "repeat i while n[0] { phase over y { y[gid] = y[gid] * 2 + i + k * 100; } "
    "phase over 1 { n[0] = n[0] - (u64(1) << 32); } } } }",
    "program both(left: inout buffer<u32>, y: inout buffer<u32>) { scratch n: u16[1]; "
    "repeat k while left[0] { phase over 1 { n[0] = u16(left[0] * 2); left[0] = left[0] / 2; } "
    "repeat i while n[0] { phase over y { y[gid] = y[gid] * 2 + i + k * 100; } "
    "phase over 1 { n[0] = n[0] - 1; } } } }",
    /* What only the host can do: a phase with a grid barrier, a domain that is overwritten. */
    "program barrier_inside(left: inout buffer<u32>, y: inout buffer<u32>) { "
    "repeat i while left[0] { phase over y workgroup 32 { y[gid] = y[gid] + i; grid_barrier; "
    "if gid == 0 { left[0] = left[0] - 1; } } } }",
    "program shrinks(left: inout buffer<u32>, y: inout buffer<u32>) { "
    "repeat i while left[0] { phase over left[0] max 1000 { "
    "if gid == 0 { left[0] = left[0] - 1; } if gid < len(y) { y[gid] = y[gid] + i; } } } }",
};

/* Around what changes between turns by the host, the first rows and longer ones. */
static const uint32_t loop_turns[] = {0, 1, 2, 3, 4, 5, 11, 12, 13, 28, 29, 60, 61, 200};

#endif
