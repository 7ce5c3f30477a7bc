/* Activations and norms of rows. The oracles round once from double, and add in the order that the
 * manifest states. */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp */
#include <math.h>

#include "tests/ops/ops_check.h"

enum { SUMS = 256 };

static const size_t row_lengths[] = {1, 2, 255, 256, 257, 1000};

static float *numbers(size_t count, float scale) {
    uint64_t state = count + 1;
    float *all = test_malloc((count + 1) * sizeof *all);
    for (size_t k = 0; k < count; k++) {
        all[k] = ((float)(ops_random(&state) & 0xffff) / 32768.0f - 1.0f) * scale;
    }
    return all;
}

/* One rounding of the true value, as far as double tells. */
static float rounded_exp(float x) {
    return (float)exp((double)x);
}

static float relu(float x) {
    return x > 0 ? x : 0;
}
static float sigmoid(float x) {
    return 1.0f / (1.0f + rounded_exp(-x));
}
static float silu(float x) {
    return x / (1.0f + rounded_exp(-x));
}
static float gelu(float x) {
    return 0.5f * x * (1.0f + (float)erf((double)(x * 0.70710678118654752f)));
}

static void activation(const char *id, float (*oracle)(float)) {
    const size_t sizes[] = {0, 1, 77, 100000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s];
        float *x = numbers(n, 20), *result = test_malloc((n + 1) * sizeof *result);
        for (size_t k = 0; k < n; k++) {
            result[k] = oracle(x[k]);
        }
        ops_expect(id, OPS(OPS_ARRAY(x, n)), OPS(OPS_ARRAY(result, n)));
        test_free(x);
        test_free(result);
    }
}

static void activations(void **state) {
    (void)state;
    activation("nn.relu", relu);
    activation("nn.sigmoid", sigmoid);
    activation("nn.silu", silu);
    activation("nn.gelu", gelu);
}

/* Sum l takes elements l, l + 256, ... by `add`, then halves are added. */
static float sum_of(const float *x, size_t count, float (*add)(float sum, float x, float with),
                    float with) {
    float sums[SUMS] = {0};
    for (size_t k = 0; k < count; k++) {
        sums[k % SUMS] = add(sums[k % SUMS], x[k], with);
    }
    for (size_t half = SUMS / 2; half; half /= 2) {
        for (size_t k = 0; k < half; k++) {
            sums[k] += sums[k + half];
        }
    }
    return sums[0];
}

static float plain(float sum, float x, float with) {
    (void)with;
    return sum + x;
}
static float square_off(float sum, float x, float mean) {
    return fmaf(x - mean, x - mean, sum);
}
static float exponential_off(float sum, float x, float top) {
    return sum + rounded_exp(x - top);
}

static void softmax_row(const float *x, size_t columns, float *y) {
    float top = -INFINITY;
    for (size_t k = 0; k < columns; k++) {
        top = x[k] > top ? x[k] : top;
    }
    float share = 1 / sum_of(x, columns, exponential_off, top);
    for (size_t k = 0; k < columns; k++) {
        y[k] = rounded_exp(x[k] - top) * share;
    }
}

static void layer_row(const float *x, size_t columns, const float *scale, const float *shift,
                      float epsilon, float *y) {
    float mean = sum_of(x, columns, plain, 0) / (float)columns;
    float inverse = 1 / sqrtf(sum_of(x, columns, square_off, mean) / (float)columns + epsilon);
    for (size_t k = 0; k < columns; k++) {
        y[k] = fmaf((x[k] - mean) * inverse, scale[k], shift[k]);
    }
}

static void rms_row(const float *x, size_t columns, const float *scale, float epsilon, float *y) {
    float inverse = 1 / sqrtf(sum_of(x, columns, square_off, 0) / (float)columns + epsilon);
    for (size_t k = 0; k < columns; k++) {
        y[k] = x[k] * inverse * scale[k];
    }
}

static void rows(void **state) {
    (void)state;
    const size_t counts[] = {0, 1, 7, 100};
    for (size_t c = 0; c < sizeof row_lengths / sizeof *row_lengths; c++) {
        for (size_t r = 0; r < sizeof counts / sizeof *counts; r++) {
            uint32_t columns = (uint32_t)row_lengths[c];
            size_t n = columns * counts[r];
            float epsilon = 1e-5f;
            float *x = numbers(n, 3), *scale = numbers(columns, 2), *shift = numbers(columns, 1);
            float *y = test_malloc((n + 1) * sizeof *y);
            for (size_t k = 0; k < n; k += columns) {
                softmax_row(x + k, columns, y + k);
            }
            ops_expect("nn.softmax", OPS(OPS_ARRAY(x, n), OPS_SCALAR("columns", columns)),
                       OPS(OPS_ARRAY(y, n)));
            for (size_t k = 0; k < n; k += columns) {
                layer_row(x + k, columns, scale, shift, epsilon, y + k);
            }
            ops_expect("nn.layer_norm",
                       OPS(OPS_ARRAY(x, n), OPS_ARRAY(scale, columns), OPS_ARRAY(shift, columns),
                           OPS_SCALAR("epsilon", epsilon)),
                       OPS(OPS_ARRAY(y, n)));
            for (size_t k = 0; k < n; k += columns) {
                rms_row(x + k, columns, scale, epsilon, y + k);
            }
            ops_expect(
                "nn.rms_norm",
                OPS(OPS_ARRAY(x, n), OPS_ARRAY(scale, columns), OPS_SCALAR("epsilon", epsilon)),
                OPS(OPS_ARRAY(y, n)));
            test_free(x);
            test_free(scale);
            test_free(shift);
            test_free(y);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(activations), cmocka_unit_test(rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
