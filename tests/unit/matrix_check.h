/* Products of matrices of i8 computed by subgroup_matrix_mad, and plainly: tiles of A by rows, of B
 * by columns, so that four neighbours along k are a word, and of C by rows. */
#ifndef VYRE_TESTS_MATRIX_CHECK_H
#define VYRE_TESTS_MATRIX_CHECK_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
