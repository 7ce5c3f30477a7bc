/* The machine's own ceilings, with 1 thread and with all: memory bandwidth (64 MiB arrays; bytes
   counted as STREAM does, without write-allocate traffic) and AVX2 f32 FLOP/s. Prints one JSON
   line. */
#include <immintrin.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { N = 1 << 24 }; /* as saxpy */
static float *a, *b;
static volatile float sink;

static void copy(void) {
#pragma omp for simd
    for (int i = 0; i < N; i++)
        b[i] = a[i];
}
static void copy_stream(void) { /* non-temporal stores */
#pragma omp for
    for (int i = 0; i < N; i += 8)
        _mm256_stream_ps(b + i, _mm256_load_ps(a + i));
}
static void read_only(void) {
    __m256 s[8] = {{0}};
#pragma omp for
    for (int i = 0; i < N; i += 64)
        for (int k = 0; k < 8; k++)
            s[k] = _mm256_max_ps(s[k], _mm256_load_ps(a + i + 8 * k));
    for (int k = 0; k < 8; k++)
        sink = s[k][0] + s[k][7];
}

enum { LOOPS = 1 << 24, CHAINS = 12 };
#define FLOP_LOOP(step)                                                                            \
    __m256 m = _mm256_set1_ps(0.999f + sink), c = m, x[CHAINS];                                    \
    for (int k = 0; k < CHAINS; k++)                                                               \
        x[k] = _mm256_set1_ps(k);                                                                  \
    for (int i = 0; i < LOOPS; i++)                                                                \
        _Pragma("GCC unroll 12") for (int k = 0; k < CHAINS; k++) x[k] = step;                     \
    for (int k = 0; k < CHAINS; k++)                                                               \
    sink = 0 * x[k][0]
static void fma_flops(void) {
    FLOP_LOOP(_mm256_fmadd_ps(x[k], m, c));
}
static void muladd_flops(void) {
    FLOP_LOOP(_mm256_add_ps(_mm256_mul_ps(x[k], m), c));
}

static double best(void (*f)(void), int threads) { /* seconds, best of 9 after 2 */
    double least = 1e9;
    for (int r = 0; r < 11; r++) {
        double t = omp_get_wtime();
#pragma omp parallel num_threads(threads)
        f();
        t = omp_get_wtime() - t;
        if (r >= 2 && t < least)
            least = t;
    }
    return least;
}

int main(void) {
    int all = omp_get_max_threads();
    a = aligned_alloc(2 << 20, 4L * N), b = aligned_alloc(2 << 20, 4L * N);
    madvise(a, 4L * N, MADV_HUGEPAGE), madvise(b, 4L * N, MADV_HUGEPAGE);
    for (int i = 0; i < N; i++)
        a[i] = i, b[i] = 0;
    printf("{\"threads\": %d", all);
    for (int t = 1; t <= all; t += all > 1 ? all - 1 : 1) {
        double flops = 16.0 * CHAINS * LOOPS * t / 1e9;
        printf(", \"copy%d\": %.2f", t, 8.0 * N / best(copy, t) / 1e9);
        printf(", \"stream_copy%d\": %.2f", t, 8.0 * N / best(copy_stream, t) / 1e9);
        printf(", \"read%d\": %.2f", t, 4.0 * N / best(read_only, t) / 1e9);
        printf(", \"fma%d\": %.1f", t, flops / best(fma_flops, t));
        printf(", \"muladd%d\": %.1f", t, flops / best(muladd_flops, t));
    }
    printf("}\n");
    return 0;
}
