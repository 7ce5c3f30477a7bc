/* Reductions of the standard library against plain loops. Sums of floats are added up as the
 * manifest says, recursively, by index. */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp */
#include "tests/ops/ops_check.h"

#include <math.h>

enum { MOST = 70001 };

static const size_t sizes[] = {0, 1, 2, 31, 127, 8191, 8192, 8193, 20011, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static uint32_t words[MOST];
static int32_t numbers[MOST];
static float floats[MOST], others[MOST];
static uint8_t bytes[140001];

static void fill(void) {
    uint64_t state = 7;
    for (size_t i = 0; i < MOST; i++) {
        words[i] = ops_random(&state);
        numbers[i] = (int32_t)ops_random(&state);
        floats[i] = ((float)(int32_t)ops_random(&state)) / 1048576.0f;
        others[i] = ((float)(int32_t)ops_random(&state)) / 16777216.0f;
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(ops_random(&state) % (i % 3 ? 256 : 5));
    }
}

static void sums_of_integers(void **state) {
    (void)state;
    for (size_t s = 0; s < SIZES; s++) {
        uint32_t total = 0, signed_total = 0, filled = 0;
        int32_t signed_result;
        for (size_t i = 0; i < sizes[s]; i++) {
            total += words[i];
            signed_total += (uint32_t)numbers[i];
            filled += words[i] % 4 != 0;
        }
        memcpy(&signed_result, &signed_total, sizeof signed_result);
        ops_expect("reduce.sum_u32", OPS(OPS_NAMED("x", words, sizes[s])),
                   OPS(OPS_SCALAR("total", total)));
        ops_expect("reduce.sum_i32", OPS(OPS_NAMED("x", numbers, sizes[s])),
                   OPS(OPS_SCALAR("total", signed_result)));
        uint32_t *rest = calloc(sizes[s] + 1, sizeof *rest);
        for (size_t i = 0; i < sizes[s]; i++) {
            rest[i] = words[i] % 4;
        }
        ops_expect("reduce.count", OPS(OPS_NAMED("x", rest, sizes[s])),
                   OPS(OPS_SCALAR("total", filled)));
        free(rest);
    }
}

/* What is half of all apart, until one is left. */
static float add_halves(float *sums, size_t count) {
    for (size_t half = count / 2; half; half /= 2) {
        for (size_t i = 0; i < half; i++) {
            sums[i] += sums[i + half];
        }
    }
    return sums[0];
}

static void add_running(const float *values, size_t count, float *sums, size_t sum_count) {
    memset(sums, 0, sum_count * sizeof *sums);
    for (size_t i = 0; i < count; i++) {
        sums[i % sum_count] += values[i];
    }
}

static float add_tile(const float *values, size_t count) {
    float sums[128], fours[32];
    add_running(values, count, sums, 128);
    for (size_t i = 0; i < 32; i++) {
        fours[i] = add_halves(sums + 4 * i, 4);
    }
    return add_halves(fours, 32);
}

static float add_tiles(const float *tiles, size_t count) {
    float sums[1024], near[32];
    add_running(tiles, count, sums, 1024);
    for (size_t i = 0; i < 32; i++) {
        near[i] = add_halves(sums + 32 * i, 32);
    }
    return add_halves(near, 32);
}

static float add_all(const float *values, size_t count) {
    float tiles[2048];
    size_t tile_count = 0;
    for (size_t first = 0; first < count; first += 8192) {
        size_t here = count - first < 8192 ? count - first : 8192;
        tiles[tile_count++] = add_tile(values + first, here);
    }
    return add_tiles(tiles, tile_count);
}

static void sums_of_floats(void **state) {
    (void)state;
    static float products[MOST];
    for (size_t s = 0; s < SIZES; s++) {
        size_t n = sizes[s];
        float total = add_all(floats, n), product;
        for (size_t i = 0; i < n; i++) {
            products[i] = floats[i] * others[i];
        }
        product = add_all(products, n);
        ops_expect("reduce.sum_f32", OPS(OPS_NAMED("x", floats, n)),
                   OPS(OPS_SCALAR("total", total)));
        ops_expect("reduce.dot_f32", OPS(OPS_NAMED("x", floats, n), OPS_NAMED("y", others, n)),
                   OPS(OPS_SCALAR("product", product)));
    }
}

/* Infinities meet, and what comes of them is NaN's one form. */
static void sums_of_infinities(void **state) {
    (void)state;
    const float x[] = {INFINITY, 1, -INFINITY, -0.0f}, zeros[] = {-0.0f, -0.0f};
    const uint32_t canonical = 0x7fc00000, none = 0;
    ops_expect("reduce.sum_f32", OPS(OPS_NAMED("x", x, 4)), OPS(OPS_SCALAR("total", canonical)));
    ops_expect("reduce.sum_f32", OPS(OPS_NAMED("x", zeros, 2)), OPS(OPS_SCALAR("total", none)));
}

static void extremes_of_integers(void **state) {
    (void)state;
    for (size_t s = 0; s < SIZES; s++) {
        size_t n = sizes[s];
        uint32_t largest = 0, smallest = UINT32_MAX;
        int32_t most = INT32_MIN, least = INT32_MAX;
        for (size_t i = 0; i < n; i++) {
            largest = words[i] > largest ? words[i] : largest;
            smallest = words[i] < smallest ? words[i] : smallest;
            most = numbers[i] > most ? numbers[i] : most;
            least = numbers[i] < least ? numbers[i] : least;
        }
        ops_expect("reduce.max_u32", OPS(OPS_NAMED("x", words, n)),
                   OPS(OPS_SCALAR("largest", largest)));
        ops_expect("reduce.min_u32", OPS(OPS_NAMED("x", words, n)),
                   OPS(OPS_SCALAR("smallest", smallest)));
        ops_expect("reduce.max_i32", OPS(OPS_NAMED("x", numbers, n)),
                   OPS(OPS_SCALAR("largest", most)));
        ops_expect("reduce.min_i32", OPS(OPS_NAMED("x", numbers, n)),
                   OPS(OPS_SCALAR("smallest", least)));
    }
}

static void expect_floats(const float *x, size_t n) {
    float largest = -INFINITY, smallest = INFINITY;
    uint32_t index = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        if (x[i] > largest || (x[i] == largest && !signbit(x[i]))) {
            largest = x[i];
        }
        if (x[i] < smallest || (x[i] == smallest && signbit(x[i]))) {
            smallest = x[i];
        }
        if (!isnan(x[i]) && (index == UINT32_MAX || x[i] > x[index])) {
            index = (uint32_t)i;
        }
    }
    ops_expect("reduce.max_f32", OPS(OPS_NAMED("x", x, n)), OPS(OPS_SCALAR("largest", largest)));
    ops_expect("reduce.min_f32", OPS(OPS_NAMED("x", x, n)), OPS(OPS_SCALAR("smallest", smallest)));
    ops_expect("reduce.argmax_f32", OPS(OPS_NAMED("x", x, n)), OPS(OPS_SCALAR("index", index)));
}

static void extremes_of_floats(void **state) {
    (void)state;
    static float few[MOST];
    const float odd[] = {NAN, -INFINITY, -0.0f, 0.0f, -0.0f, NAN}, none[] = {NAN, NAN};
    const float low[] = {-INFINITY, NAN, -INFINITY};
    uint64_t seed = 3;
    for (size_t i = 0; i < MOST; i++) {
        few[i] = ops_random(&seed) % 9 ? (float)(ops_random(&seed) % 50) - 25.0f : NAN;
    }
    for (size_t s = 0; s < SIZES; s++) {
        expect_floats(floats, sizes[s]);
        expect_floats(few, sizes[s]);
    }
    expect_floats(odd, 6);
    expect_floats(odd, 3);
    expect_floats(none, 2);
    expect_floats(low, 3);
}

static void any_and_all(void **state) {
    (void)state;
    static uint32_t zeros[MOST], ones[MOST];
    for (size_t i = 0; i < MOST; i++) {
        ones[i] = (uint32_t)i + 1;
    }
    for (size_t s = 0; s < SIZES; s++) {
        size_t n = sizes[s];
        const uint32_t yes = 1, no = 0, is_filled = n > 0;
        ops_expect("reduce.any", OPS(OPS_NAMED("x", zeros, n)), OPS(OPS_SCALAR("found", no)));
        ops_expect("reduce.all", OPS(OPS_NAMED("x", ones, n)), OPS(OPS_SCALAR("found", yes)));
        if (is_filled) { /* one element alone is different, at either end and in the middle */
            for (size_t k = 0; k < 3; k++) {
                size_t at = k == 2 ? n - 1 : k * (n / 2);
                zeros[at] = 0x80000000;
                uint32_t kept = ones[at];
                ones[at] = 0;
                ops_expect("reduce.any", OPS(OPS_NAMED("x", zeros, n)),
                           OPS(OPS_SCALAR("found", yes)));
                ops_expect("reduce.all", OPS(OPS_NAMED("x", ones, n)),
                           OPS(OPS_SCALAR("found", no)));
                zeros[at] = 0;
                ones[at] = kept;
            }
        }
    }
}

static void histograms(void **state) {
    (void)state;
    const size_t lengths[] = {0, 1, 15, 17, 65535, 65536, 131072, sizeof bytes};
    for (size_t s = 0; s < sizeof lengths / sizeof *lengths; s++) {
        uint32_t bins[256] = {0};
        for (size_t i = 0; i < lengths[s]; i++) {
            bins[bytes[i]]++;
        }
        ops_expect("reduce.histogram_u8", OPS(OPS_NAMED("x", bytes, lengths[s])),
                   OPS(OPS_ARRAY(bins, 256)));
    }
}

static void histograms_of_words(void **state) {
    (void)state;
    const uint32_t counts[] = {0, 1, 3, 256, 1000, 8192, 8193, 20000};
    static uint32_t values[MOST], bins[20000];
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        uint32_t n = counts[c];
        for (size_t s = 0; s < SIZES; s++) {
            memset(bins, 0, sizeof bins);
            for (size_t i = 0; i < sizes[s]; i++) {
                values[i] = i % 17 ? words[i] % (n + 1 + n / 8) : words[i];
                if (values[i] < n) {
                    bins[values[i]]++;
                }
            }
            ops_expect("reduce.histogram_u32",
                       OPS(OPS_SCALAR("n", n), OPS_NAMED("x", values, sizes[s])),
                       OPS(OPS_ARRAY(bins, n)));
        }
    }
}

/* More tiles than running sums of these. */
static void reduces_many(void **state) {
    (void)state;
    enum { LARGE = 1500 * 8192 + 4321 };
    float *x = malloc(LARGE * sizeof *x);
    uint32_t *all = malloc(LARGE * sizeof *all), sum = 0, largest = 0, bins[256] = {0}, index = 0;
    uint64_t seed = 17;
    for (size_t i = 0; i < LARGE; i++) {
        all[i] = ops_random(&seed);
        x[i] = (float)(int32_t)all[i] / 65536.0f;
        index = x[i] > x[index] ? (uint32_t)i : index;
        sum += all[i];
        largest = all[i] > largest ? all[i] : largest;
        for (int shift = 0; shift < 32; shift += 8) {
            bins[all[i] >> shift & 255]++;
        }
    }
    float total = add_all(x, LARGE);
    ops_expect_large("reduce.sum_f32", OPS(OPS_ARRAY(x, LARGE)), OPS(OPS_SCALAR("total", total)));
    ops_expect_large("reduce.argmax_f32", OPS(OPS_ARRAY(x, LARGE)),
                     OPS(OPS_SCALAR("index", index)));
    ops_expect_large("reduce.sum_u32", OPS(OPS_NAMED("x", all, LARGE)),
                     OPS(OPS_SCALAR("total", sum)));
    ops_expect_large("reduce.max_u32", OPS(OPS_NAMED("x", all, LARGE)),
                     OPS(OPS_SCALAR("largest", largest)));
    ops_expect_large("reduce.histogram_u8", OPS({"x", all, LARGE * sizeof *all}),
                     OPS(OPS_ARRAY(bins, 256)));
    free(x);
    free(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_integers),   cmocka_unit_test(sums_of_floats),
        cmocka_unit_test(sums_of_infinities), cmocka_unit_test(extremes_of_integers),
        cmocka_unit_test(extremes_of_floats), cmocka_unit_test(any_and_all),
        cmocka_unit_test(histograms),         cmocka_unit_test(histograms_of_words),
        cmocka_unit_test(reduces_many),
    };
    fill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
