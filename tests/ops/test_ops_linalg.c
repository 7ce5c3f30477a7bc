/* Vectors and matrices: sizes around the tiles, held against plain loops that add in the order that
 * the manifest states. */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp */
#include <math.h>

#include "tests/ops/ops_check.h"

static float *numbers(size_t count, uint64_t seed) {
    float *all = test_malloc((count + 1) * sizeof *all);
    for (size_t k = 0; k < count; k++) {
        all[k] = (float)(ops_random(&seed) & 0xffff) / 32768.0f - 1.0f;
    }
    return all;
}

static void axpy(void **state) {
    (void)state;
    const size_t sizes[] = {0, 1, 77, 100001};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s];
        float a = 1.25f, *x = numbers(n, 1), *y = numbers(n, 2), *sums = numbers(n, 3);
        for (size_t k = 0; k < n; k++) {
            sums[k] = fmaf(a, x[k], y[k]);
        }
        ops_expect("linalg.axpy", OPS(OPS_SCALAR("a", a), OPS_ARRAY(x, n), OPS_ARRAY(y, n)),
                   OPS(OPS_NAMED("y", sums, n)));
        test_free(x);
        test_free(y);
        test_free(sums);
    }
}

static void transpose(void **state) {
    (void)state;
    const uint32_t shapes[][2] = {{0, 5}, {1, 1}, {1, 100}, {33, 31}, {64, 32}, {301, 77}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        uint32_t rows = shapes[s][0], columns = shapes[s][1];
        size_t n = (size_t)rows * columns;
        float *x = numbers(n, 1), *y = numbers(n, 2);
        for (size_t k = 0; k < n; k++) {
            y[k % columns * rows + k / columns] = x[k];
        }
        ops_expect("linalg.transpose",
                   OPS(OPS_SCALAR("rows", rows), OPS_SCALAR("columns", columns), OPS_ARRAY(x, n)),
                   OPS(OPS_ARRAY(y, n)));
        test_free(x);
        test_free(y);
    }
}

/* Sum l of `lanes` takes elements l, l + lanes, ...; then halves are added. `col` may be NULL. */
static float row_product(const float *a, const uint32_t *col, size_t count, const float *x,
                         size_t lanes) {
    float sums[64] = {0};
    for (size_t k = 0; k < count; k++) {
        sums[k % lanes] = fmaf(a[k], x[col ? col[k] : k], sums[k % lanes]);
    }
    for (size_t half = lanes / 2; half; half /= 2) {
        for (size_t k = 0; k < half; k++) {
            sums[k] += sums[k + half];
        }
    }
    return sums[0];
}

static void matvec(void **state) {
    (void)state;
    const uint32_t shapes[][2] = {{0, 5}, {1, 1}, {3, 0}, {9, 33}, {77, 1000}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        uint32_t rows = shapes[s][0], columns = shapes[s][1];
        float *a = numbers((size_t)rows * columns, 1), *x = numbers(columns, 2);
        float *y = numbers(rows, 3);
        for (size_t r = 0; r < rows; r++) {
            y[r] = row_product(a + r * columns, NULL, columns, x, 32);
        }
        ops_expect(
            "linalg.matvec",
            OPS(OPS_SCALAR("rows", rows), OPS_ARRAY(a, rows * columns), OPS_ARRAY(x, columns)),
            OPS(OPS_ARRAY(y, rows)));
        test_free(a);
        test_free(x);
        test_free(y);
    }
}

static void spmv(void **state) {
    (void)state;
    const uint32_t sizes[] = {0, 1, 77, 3001};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint32_t n = sizes[s], *row = test_calloc(n + 1, sizeof *row);
        uint64_t seed = n + 1;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t some = ops_random(&seed) % 20;
            row[k + 1] = row[k] + (some < 15 ? some : some * 10);
        }
        uint32_t *col = test_malloc((row[n] + 1) * sizeof *col);
        for (uint32_t k = 0; k < row[n]; k++) {
            col[k] = ops_random(&seed) % n;
        }
        float *values = numbers(row[n], 1), *x = numbers(n, 2), *y = numbers(n, 3);
        for (uint32_t k = 0; k < n; k++) {
            y[k] = row_product(values + row[k], col + row[k], row[k + 1] - row[k], x, 8);
        }
        ops_expect("linalg.spmv",
                   OPS(OPS_ARRAY(row, n + 1), OPS_ARRAY(col, row[n]), OPS_ARRAY(values, row[n]),
                       OPS_ARRAY(x, n)),
                   OPS(OPS_ARRAY(y, n)));
        test_free(row);
        test_free(col);
        test_free(values);
        test_free(x);
        test_free(y);
    }
}

static void conv3x3(void **state) {
    (void)state;
    const uint32_t shapes[][2] = {{0, 3}, {1, 1}, {7, 5}, {301, 99}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        uint32_t width = shapes[s][0], height = shapes[s][1];
        size_t all = (size_t)(width + 2) * (height + 2), n = (size_t)width * height;
        float *image = numbers(all, 1), *weights = numbers(9, 2), *result = numbers(n, 3);
        for (size_t k = 0; k < n; k++) {
            float sum = 0;
            for (size_t w = 0; w < 9; w++) {
                size_t at = (k / width + w / 3) * (width + 2) + k % width + w % 3;
                sum = fmaf(image[at], weights[w], sum);
            }
            result[k] = sum;
        }
        ops_expect("linalg.conv3x3",
                   OPS(OPS_SCALAR("width", width), OPS_SCALAR("height", height),
                       OPS_ARRAY(image, all), OPS_ARRAY(weights, 9)),
                   OPS(OPS_ARRAY(result, n)));
        test_free(image);
        test_free(weights);
        test_free(result);
    }
}

static const uint32_t products[][3] = {{0, 3, 4},  {3, 4, 0},     {1, 1, 1},      {4, 32, 16},
                                       {5, 33, 7}, {67, 45, 129}, {130, 257, 65}, {333, 516, 128}};
enum { PRODUCTS = sizeof products / sizeof *products };

static void matmul(void **state) {
    (void)state;
    for (size_t s = 0; s < PRODUCTS; s++) {
        uint32_t m = products[s][0], n = products[s][1], k = products[s][2];
        float *a = numbers((size_t)m * k, 1), *b = numbers((size_t)k * n, 2);
        float *c = numbers((size_t)m * n, 3);
        for (size_t e = 0; e < (size_t)m * n; e++) {
            float sum = 0;
            for (size_t i = 0; i < k; i++) {
                sum = fmaf(a[e / n * k + i], b[i * n + e % n], sum);
            }
            c[e] = sum;
        }
        ops_expect("linalg.matmul",
                   OPS(OPS_SCALAR("m", m), OPS_SCALAR("n", n), OPS_SCALAR("k", k),
                       OPS_ARRAY(a, (size_t)m * k), OPS_ARRAY(b, (size_t)k * n)),
                   OPS(OPS_ARRAY(c, (size_t)m * n)));
        test_free(a);
        test_free(b);
        test_free(c);
    }
}

static int8_t *small_numbers(size_t count, uint64_t seed) {
    int8_t *all = test_malloc(count + 1);
    for (size_t k = 0; k < count; k++) {
        uint32_t random = ops_random(&seed);
        all[k] = random % 4 ? (int8_t)(uint8_t)random : INT8_MIN; /* sums as large as can be */
    }
    return all;
}

static void matmul_i8(void **state) {
    (void)state;
    for (size_t s = 0; s < PRODUCTS; s++) {
        uint32_t m = products[s][0], n = products[s][1], k = products[s][2];
        int8_t *a = small_numbers((size_t)m * k, 1), *b = small_numbers((size_t)k * n, 2);
        int32_t *c = test_malloc(((size_t)m * n + 1) * sizeof *c);
        for (size_t e = 0; e < (size_t)m * n; e++) {
            c[e] = 0;
            for (size_t i = 0; i < k; i++) {
                c[e] += a[e / n * k + i] * b[i * n + e % n];
            }
        }
        ops_expect("linalg.matmul_i8",
                   OPS(OPS_SCALAR("m", m), OPS_SCALAR("n", n), OPS_SCALAR("k", k),
                       OPS_ARRAY(a, (size_t)m * k), OPS_ARRAY(b, (size_t)k * n)),
                   OPS(OPS_ARRAY(c, (size_t)m * n)));
        test_free(a);
        test_free(b);
        test_free(c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axpy),      cmocka_unit_test(transpose), cmocka_unit_test(matvec),
        cmocka_unit_test(spmv),      cmocka_unit_test(conv3x3),   cmocka_unit_test(matmul),
        cmocka_unit_test(matmul_i8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
