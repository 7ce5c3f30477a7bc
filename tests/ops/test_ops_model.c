/* Models, held against the same formulas in C; elementary functions rounded once from double. */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp */
#include <math.h>

#include "tests/ops/ops_check.h"

static float *numbers(size_t count, uint64_t seed, float low, float high) {
    float *all = test_malloc((count + 1) * sizeof *all);
    for (size_t k = 0; k < count; k++) {
        all[k] = low + (high - low) * ((float)(ops_random(&seed) & 0xffff) / 65536.0f);
    }
    return all;
}

static void mandelbrot(void **state) {
    (void)state;
    const uint32_t shapes[][3] = {{0, 4, 5}, {1, 1, 0}, {7, 5, 3}, {7, 5, 8}, {301, 77, 100}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        uint32_t width = shapes[s][0], height = shapes[s][1], limit = shapes[s][2];
        float left = -2, top = -1.2f, step = 0.01f;
        size_t n = (size_t)width * height;
        uint32_t *turns = test_malloc((n + 1) * sizeof *turns);
        for (size_t k = 0; k < n; k++) {
            float cx = (float)(k % width) * step + left, cy = (float)(k / width) * step + top;
            float x = 0, y = 0;
            uint32_t count = 0;
            while (count < limit && x * x + y * y <= 4) {
                float next = x * x - y * y + cx;
                y = (x + x) * y + cy;
                x = next;
                count++;
            }
            turns[k] = count;
        }
        ops_expect("model.mandelbrot",
                   OPS(OPS_SCALAR("width", width), OPS_SCALAR("height", height),
                       OPS_SCALAR("left", left), OPS_SCALAR("top", top), OPS_SCALAR("step", step),
                       OPS_SCALAR("limit", limit)),
                   OPS(OPS_ARRAY(turns, n)));
        test_free(turns);
    }
}

static void nbody_step(void **state) {
    (void)state;
    const size_t sizes[] = {0, 1, 77, 500};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s];
        float soften = 0.01f, step = 0.02f, *mass = numbers(n, 9, 0, 1), *at[3], *to[3], *v[3],
              *w[3];
        for (size_t d = 0; d < 3; d++) {
            at[d] = numbers(n, d, -1, 1);
            to[d] = numbers(n, 0, 0, 0);
            v[d] = numbers(n, d + 3, -1, 1);
            w[d] = numbers(n, 0, 0, 0);
        }
        for (size_t k = 0; k < n; k++) {
            float sum[3] = {0};
            for (size_t j = 0; j < n; j++) {
                float dx = at[0][j] - at[0][k], dy = at[1][j] - at[1][k], dz = at[2][j] - at[2][k];
                float near = 1 / sqrtf(dx * dx + dy * dy + dz * dz + soften);
                float pull = mass[j] * (near * near * near);
                sum[0] += dx * pull;
                sum[1] += dy * pull;
                sum[2] += dz * pull;
            }
            for (size_t d = 0; d < 3; d++) {
                w[d][k] = v[d][k] + sum[d] * step;
                to[d][k] = at[d][k] + w[d][k] * step;
            }
        }
        ops_expect(
            "model.nbody_step",
            OPS(OPS_NAMED("x", at[0], n), OPS_NAMED("y", at[1], n), OPS_NAMED("z", at[2], n),
                OPS_ARRAY(mass, n), OPS_NAMED("vx", v[0], n), OPS_NAMED("vy", v[1], n),
                OPS_NAMED("vz", v[2], n), OPS_SCALAR("soften", soften), OPS_SCALAR("step", step)),
            OPS(OPS_NAMED("x", to[0], n), OPS_NAMED("y", to[1], n), OPS_NAMED("z", to[2], n),
                OPS_NAMED("vx", w[0], n), OPS_NAMED("vy", w[1], n), OPS_NAMED("vz", w[2], n)));
        for (size_t d = 0; d < 3; d++) {
            test_free(at[d]);
            test_free(to[d]);
            test_free(v[d]);
            test_free(w[d]);
        }
        test_free(mass);
    }
}

static float normal(float d) {
    return 0.5f + 0.5f * (float)erf((double)(d * 0.70710678118654752f));
}

static void black_scholes(void **state) {
    (void)state;
    const size_t sizes[] = {0, 1, 77, 10000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s];
        float rate = 0.02f, volatility = 0.3f;
        float *stock = numbers(n, 1, 5, 30), *strike = numbers(n, 2, 1, 100);
        float *years = numbers(n, 3, 0.25f, 10), *call = numbers(n, 0, 0, 0);
        float *put = numbers(n, 0, 0, 0);
        for (size_t k = 0; k < n; k++) {
            float spread = volatility * sqrtf(years[k]);
            float drift = rate + 0.5f * volatility * volatility;
            float ratio = (float)log((double)(stock[k] / strike[k]));
            float d = (ratio + drift * years[k]) / spread;
            float later = strike[k] * (float)exp((double)(-rate * years[k]));
            call[k] = stock[k] * normal(d) - later * normal(d - spread);
            put[k] = call[k] - stock[k] + later;
        }
        ops_expect("model.black_scholes",
                   OPS(OPS_ARRAY(stock, n), OPS_ARRAY(strike, n), OPS_ARRAY(years, n),
                       OPS_SCALAR("rate", rate), OPS_SCALAR("volatility", volatility)),
                   OPS(OPS_ARRAY(call, n), OPS_ARRAY(put, n)));
        test_free(stock);
        test_free(strike);
        test_free(years);
        test_free(call);
        test_free(put);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mandelbrot),
        cmocka_unit_test(nbody_step),
        cmocka_unit_test(black_scholes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
