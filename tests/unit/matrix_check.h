/* Products of matrices of i8 computed by subgroup_matrix_mad, and plainly: tiles of A by rows, of B
 * by columns, so that four neighbours along k are a word, and of C by rows. */
#ifndef VYRE_TESTS_MATRIX_CHECK_H
#define VYRE_TESTS_MATRIX_CHECK_H

#include <stdio.h>

#include "tests/unit/contract_check.h"

enum { MATRIX_TILES = 12 };

/* One subgroup a tile; workgroups of 96, so that a subgroup is not a workgroup. The lanes take
 * their elements where docs/semantics.md says that they lie. */
#define MATRIX_TEXT                                                                                \
    "program tiles(a: buffer<u32>, b: buffer<u32>, c: inout buffer<i32>) over len(c) / 4 "         \
    "workgroup 96 {\n"                                                                             \
    "    let g = lane / 4;\n"                                                                      \
    "    let t = lane % 4;\n"                                                                      \
    "    let tile = gid / 32;\n"                                                                   \
    "    let row = tile * 128 + g * 8 + t;\n"                                                      \
    "    let column = tile * 64 + g * 8 + t;\n"                                                    \
    "    let sum = tile * 128 + g * 8 + 2 * t;\n"                                                  \
    "    let (d0, d1, d2, d3) = subgroup_matrix_mad(a[row], a[row + 64], a[row + 4], a[row + "     \
    "68],\n"                                                                                       \
    "        b[column], b[column + 4], c[sum], c[sum + 1], c[sum + 64], c[sum + 65]);\n"           \
    "    c[sum] = d0;\n"                                                                           \
    "    c[sum + 1] = d1;\n"                                                                       \
    "    c[sum + 64] = d2;\n"                                                                      \
    "    c[sum + 65] = d3;\n"                                                                      \
    "}\n"

typedef struct matrix_data {
    int8_t a[MATRIX_TILES][16][32], b[MATRIX_TILES][8][32];
    int32_t c[MATRIX_TILES][16][8], expected[MATRIX_TILES][16][8];
} matrix_data;

static inline uint32_t matrix_draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* The first tiles are extremes: the largest sums that there are, and sums that wrap. */
static inline void matrix_fill(matrix_data *m, uint64_t seed) {
    static const int8_t of_a[] = {-128, 127, -128, 127, -1};
    static const int8_t of_b[] = {-128, -128, -128, -128, 127};
    uint64_t state = seed;
    for (uint32_t tile = 0; tile < MATRIX_TILES; tile++) {
        bool extreme = tile < sizeof of_a;
        for (uint32_t i = 0; i < 16 * 32; i++) {
            m->a[tile][i / 32][i % 32] = extreme ? of_a[tile] : (int8_t)matrix_draw(&state);
        }
        for (uint32_t i = 0; i < 8 * 32; i++) {
            m->b[tile][i / 32][i % 32] = extreme ? of_b[tile] : (int8_t)matrix_draw(&state);
        }
        for (uint32_t i = 0; i < 16 * 8; i++) {
            uint32_t any = matrix_draw(&state) ^ matrix_draw(&state) << 16;
            m->c[tile][i / 8][i % 8] = !tile         ? 0
                                       : tile == 2   ? INT32_MAX
                                       : tile == 3   ? INT32_MIN
                                       : any % 3 < 1 ? (int32_t)(any % 7)
                                                     : (int32_t)any;
        }
    }
    for (uint32_t tile = 0; tile < MATRIX_TILES; tile++) {
        for (uint32_t row = 0; row < 16; row++) {
            for (uint32_t column = 0; column < 8; column++) {
                int64_t sum = m->c[tile][row][column];
                for (uint32_t k = 0; k < 32; k++) {
                    sum += (int64_t)m->a[tile][row][k] * m->b[tile][column][k];
                }
                m->expected[tile][row][column] = (int32_t)(uint32_t)sum;
            }
        }
    }
}

/* What bench/kernels/matmul_i8.vyre takes, and what it gives: a by rows, b by columns. */
enum { WHOLE_M = 2 * 128, WHOLE_N = 256, WHOLE_DEPTH = 3, WHOLE_K = 64 * WHOLE_DEPTH };
typedef struct matrix_whole {
    uint32_t rows, columns, depth;
    int8_t a[WHOLE_M][WHOLE_K], b[WHOLE_N][WHOLE_K];
    int32_t c[WHOLE_M][WHOLE_N];
} matrix_whole;

static inline void matrix_whole_fill(matrix_whole *m) {
    uint64_t state = 11;
    m->rows = WHOLE_M / 128;
    m->columns = WHOLE_N / 256;
    m->depth = WHOLE_DEPTH;
    for (uint32_t k = 0; k < WHOLE_K; k++) {
        for (uint32_t row = 0; row < WHOLE_M; row++) {
            m->a[row][k] = row % 50 ? (int8_t)matrix_draw(&state) : -128;
        }
        for (uint32_t column = 0; column < WHOLE_N; column++) {
            m->b[column][k] = column % 50 ? (int8_t)matrix_draw(&state) : -128;
        }
    }
    for (uint32_t row = 0; row < WHOLE_M; row++) {
        for (uint32_t column = 0; column < WHOLE_N; column++) {
            m->c[row][column] = 0;
            for (uint32_t k = 0; k < WHOLE_K; k++) {
                m->c[row][column] += m->a[row][k] * m->b[column][k];
            }
        }
    }
}

/* The program of the benchmarks. Release it. */
static inline vyre_program *matrix_whole_program(void) {
    static char text[1 << 16];
    FILE *file = fopen("bench/kernels/matmul_i8.vyre", "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return contract_program(text);
}

static inline void matrix_whole_check(vyre_device *device) {
    static matrix_whole m;
    vyre_program *program = matrix_whole_program();
    matrix_whole_fill(&m);
    static int32_t garbage[WHOLE_M][WHOLE_N];
    memset(garbage, 0x5a, sizeof garbage);
    const vyre_input inputs[] = {{&m.rows, 4},      {&m.columns, 4},   {&m.depth, 4},
                                 {m.a, sizeof m.a}, {m.b, sizeof m.b}, {garbage, sizeof garbage}};
    vyre_outputs outputs;
    expect_ok(vyre_device_dispatch(device, program, inputs, 6, NULL, &outputs));
    assert_int_equal(outputs.items[0].size, sizeof m.c);
    assert_memory_equal(outputs.items[0].data, m.c, sizeof m.c);
    vyre_outputs_free(&outputs);
    vyre_program_release(program);
}

#endif
