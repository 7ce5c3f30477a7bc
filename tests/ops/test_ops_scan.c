/* Running sums of the standard library against plain loops; those of floats as the manifest says.
 */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp */
#include "tests/ops/ops_check.h"

enum { MOST = 50021 };

static const size_t sizes[] = {0,    1,    3,    127,  128,  129,   4095,
                               4096, 4097, 8191, 8192, 8193, 12288, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static uint32_t x[MOST], sums[MOST];

static void fill(void) {
    uint64_t state = 11;
    for (size_t i = 0; i < MOST; i++) {
        x[i] = ops_random(&state);
    }
}

static void sums_of_integers(void **state) {
    (void)state;
    for (size_t s = 0; s < SIZES; s++) {
        uint32_t sum = 0;
        for (size_t i = 0; i < sizes[s]; i++) {
            sums[i] = sum += x[i];
        }
        ops_expect("scan.inclusive_u32", OPS(OPS_ARRAY(x, sizes[s])),
                   OPS(OPS_ARRAY(sums, sizes[s])));
        for (size_t i = 0; i < sizes[s]; i++) {
            sums[i] -= x[i];
        }
        ops_expect("scan.exclusive_u32", OPS(OPS_ARRAY(x, sizes[s])),
                   OPS(OPS_ARRAY(sums, sizes[s])));
    }
}

/* Heads from seldom to everywhere. */
static void sums_of_segments(void **state) {
    (void)state;
    static uint32_t heads[MOST];
    const uint32_t distances[] = {1, 2, 5, 40, 3000, 20000, UINT32_MAX};
    uint64_t seed = 5;
    for (size_t d = 0; d < sizeof distances / sizeof *distances; d++) {
        for (size_t s = 0; s < SIZES; s++) {
            uint32_t sum = 0;
            for (size_t i = 0; i < sizes[s]; i++) {
                uint32_t draw = ops_random(&seed);
                heads[i] = draw % distances[d] ? 0 : draw | 1;
                sums[i] = sum = heads[i] ? x[i] : sum + x[i];
            }
            ops_expect("scan.segmented_u32",
                       OPS(OPS_ARRAY(x, sizes[s]), OPS_ARRAY(heads, sizes[s])),
                       OPS(OPS_ARRAY(sums, sizes[s])));
        }
    }
}

enum { LANES = 32, ROWS = 4, STRIPS = 8, TILE = 4 * LANES * ROWS * STRIPS };

/* A tile from `front` on: sums without what is in front of the tile, those as inner and outer parts
 * because that is how they are added later. */
static float scan_tile(const float *values, size_t count, float *inner, float *outer) {
    float tile = 0;
    for (size_t strip = 0; strip < STRIPS; strip++) {
        float of_strip = 0;
        for (size_t row = 0; row < ROWS; row++) {
            float lanes[LANES], next[LANES];
            size_t first = (strip * ROWS + row) * 4 * LANES;
            for (size_t i = 0; i < 4 * LANES; i++) {
                float value = first + i < count ? values[first + i] : 0;
                inner[first + i] = i % 4 ? inner[first + i - 1] + value : value;
                lanes[i / 4] = inner[first + i];
            }
            for (size_t distance = 1; distance < LANES; distance *= 2) {
                for (size_t i = 0; i < LANES; i++) {
                    next[i] = i >= distance ? lanes[i - distance] + lanes[i] : lanes[i];
                }
                memcpy(lanes, next, sizeof lanes);
            }
            for (size_t i = 0; i < 4 * LANES; i++) {
                float front = i < 4 ? 0 : lanes[i / 4 - 1];
                outer[first + i] = tile + (of_strip + front);
            }
            of_strip += lanes[LANES - 1];
        }
        tile += of_strip;
    }
    return tile;
}

/* Of all, by tiles whose fronts are `fronts`. */
static void scan_tiles(const float *values, size_t count, const float *fronts, float *out,
                       float *out_tiles) {
    for (size_t tile = 0; tile * TILE < count; tile++) {
        float inner[TILE], outer[TILE];
        size_t first = tile * TILE, here = count - first < TILE ? count - first : TILE;
        out_tiles[tile] = scan_tile(values + first, here, inner, outer);
        for (size_t i = 0; i < here && fronts; i++) {
            out[first + i] = (fronts[tile] + outer[i]) + inner[i];
        }
    }
}

static void sums_of_floats(void **state) {
    (void)state;
    enum { LARGE = 4096 * 4097 + 77 }; /* more tiles than a tile has elements */
    const size_t lengths[] = {0, 1, 3, 129, 4095, 4097, MOST, LARGE};
    size_t most = LARGE / TILE + 2;
    float *values = malloc(LARGE * sizeof *values), *expected = malloc(LARGE * sizeof *values);
    float *tiles = malloc(most * sizeof *tiles), *ends = malloc(most * sizeof *ends);
    float *fronts = malloc(most * sizeof *fronts), outer_tiles[4];
    uint64_t seed = 9;
    for (size_t i = 0; i < LARGE; i++) {
        values[i] = (float)(int32_t)ops_random(&seed) / 4194304.0f;
    }
    for (size_t s = 0; s < sizeof lengths / sizeof *lengths; s++) {
        size_t n = lengths[s], tile_count = (n + TILE - 1) / TILE;
        scan_tiles(values, n, NULL, NULL, tiles);
        float before[4] = {0};
        scan_tiles(tiles, tile_count, NULL, NULL, outer_tiles);
        for (size_t k = 1; k < 4 && k * TILE < tile_count; k++) {
            before[k] = before[k - 1] + outer_tiles[k - 1];
        }
        scan_tiles(tiles, tile_count, before, ends, outer_tiles);
        for (size_t k = 0; k < tile_count; k++) {
            fronts[k] = k ? ends[k - 1] : 0;
        }
        scan_tiles(values, n, fronts, expected, tiles);
        (n == LARGE ? ops_expect_large : ops_expect)("scan.inclusive_f32",
                                                     OPS(OPS_NAMED("x", values, n)),
                                                     OPS(OPS_NAMED("sums", expected, n)));
    }
    free(values);
    free(expected);
    free(tiles);
    free(ends);
    free(fronts);
}

static void sums_of_many(void **state) {
    (void)state;
    enum { LARGE = 3000017 };
    uint32_t *values = malloc(LARGE * sizeof *values), *heads = malloc(LARGE * sizeof *heads);
    uint32_t *all = malloc(LARGE * sizeof *all), *parts = malloc(LARGE * sizeof *parts);
    uint32_t sum = 0, part = 0;
    uint64_t seed = 13;
    for (size_t i = 0; i < LARGE; i++) {
        values[i] = ops_random(&seed);
        heads[i] = ops_random(&seed) % 10000 == 0;
        all[i] = sum += values[i];
        parts[i] = part = heads[i] ? values[i] : part + values[i];
    }
    ops_expect_large("scan.inclusive_u32", OPS(OPS_NAMED("x", values, LARGE)),
                     OPS(OPS_NAMED("sums", all, LARGE)));
    ops_expect_large("scan.segmented_u32",
                     OPS(OPS_NAMED("x", values, LARGE), OPS_NAMED("heads", heads, LARGE)),
                     OPS(OPS_NAMED("sums", parts, LARGE)));
    for (size_t i = 0; i < LARGE; i++) {
        all[i] -= values[i];
    }
    ops_expect_large("scan.exclusive_u32", OPS(OPS_NAMED("x", values, LARGE)),
                     OPS(OPS_NAMED("sums", all, LARGE)));
    free(values);
    free(heads);
    free(all);
    free(parts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_integers),
        cmocka_unit_test(sums_of_segments),
        cmocka_unit_test(sums_of_floats),
        cmocka_unit_test(sums_of_many),
    };
    fill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
