/* Peers C and ISPC: spreads kernels.h's kernels over threads with OpenMP, and does their serial
 * parts. */
#include "kernels.h"
#include <string.h>

#define EACH(n) _Pragma("omp parallel for schedule(static)") for (int i = 0; i < (n); i++)
#define RANGES(n)                                                                                  \
    enum { CUT = (n) / 64 }; /* 64 equal ranges */                                                 \
    _Pragma("omp parallel for schedule(static)") for (int i = 0; i < (n); i += CUT)

int peer_setup(int w) {
    return w < NWORK;
}

static void dot(void) {
    float *part = buf[2];
    EACH(DOT_CHUNKS) dot_chunk(buf[0], buf[1], part, i);
    for (int n = DOT_CHUNKS; n /= 2;)
        for (int l = 0; l < n; l++)
            part[l] += part[l + n];
    *(float *)buf[3] = part[0];
}

static void scan(void) {
    u32 *sum = buf[2], total = 0;
    EACH(SCAN_BLOCKS) scan_sum(buf[0], sum, i);
    for (int b = 0; b < SCAN_BLOCKS; b++) {
        u32 s = sum[b];
        sum[b] = total, total += s;
    }
    EACH(SCAN_BLOCKS) scan_write(buf[0], buf[1], sum, i);
}

static void histogram(void) {
    u32 *out = buf[1], *part = buf[2];
    EACH(HIST_PARTS) hist_part(buf[0], part, i);
    memset(out, 0, 4 * 256);
    for (int g = 0; g < HIST_PARTS; g++)
        for (int k = 0; k < 256; k++)
            out[k] += part[g * 256 + k];
}

static void radixsort(void) { /* LSD, 8 bits a pass, stable */
    for (int pass = 0; pass < 4; pass++) {
        u32 *src = buf[pass & 1], *dst = buf[~pass & 1], *cnt = buf[2], at = 0;
        EACH(SORT_CHUNKS) sort_count(src, cnt, 8 * pass, i);
        for (int k = 0; k < 256; k++)
            for (int c = 0; c < SORT_CHUNKS; c++) {
                u32 n = cnt[c * 256 + k];
                cnt[c * 256 + k] = at, at += n;
            }
        EACH(SORT_CHUNKS) sort_scatter(src, dst, cnt, 8 * pass, i);
    }
}

static void matmul(void) { /* B is packed in 16-column panels, timed with the rest */
    float *B = buf[1], *P = buf[3];
    EACH(MM / 16)
    for (int k = 0; k < MM; k++)
        memcpy(P + (i * MM + k) * 16, B + k * MM + i * 16, 64);
    EACH(MM / 64) mm_rows(buf[0], P, buf[2], i * 64);
}

static void mandelbrot(void) {
#pragma omp parallel for schedule(dynamic, 16)
    for (int y = 0; y < MANDEL; y++)
        mandel_row(buf[0], y);
}

static void bfs(void) { /* top-down, one queue a level */
    enum { SLICE = 256 };
    u32 *level = buf[2], *q = buf[3], *next = buf[4], n = 1;
    memset(level, 0xff, 4 * NNODE);
    level[0] = q[0] = 0;
    for (u32 d = 1; n; d++) {
        u32 tail = 0;
#pragma omp parallel for schedule(dynamic, 1)
        for (u32 i = 0; i < n; i += SLICE) {
            static __thread u32 found[1 << 16]; /* a slice has far fewer edges than this */
            int k = bfs_slice(buf[0], buf[1], level, q, found, d, i, i + SLICE < n ? i + SLICE : n);
            memcpy(next + __sync_fetch_and_add(&tail, k), found, 4 * k);
        }
        u32 *t = q;
        q = next, next = t, n = tail;
    }
}

void peer_run(int w) {
    void **b = buf;
    switch (w) {
    case W_SAXPY: {
        RANGES(NV) saxpy(b[0], b[1], i, i + CUT);
        break;
    }
    case W_SAXPY_VEC4: {
        RANGES(NV / 4) saxpy_vec4(b[0], b[1], i, i + CUT);
        break;
    }
    case W_BODIES: {
        RANGES(NV / 8) bodies(b[0], i, i + CUT);
        break;
    }
    case W_DOT: dot(); break;
    case W_SCAN: scan(); break;
    case W_HIST: histogram(); break;
    case W_SORT: radixsort(); break;
    case W_MATMUL: matmul(); break;
    case W_CONV: EACH(IMG) conv_row(b[0], b[1], i); break;
    case W_MANDEL: mandelbrot(); break;
    case W_BLACK: {
        RANGES(NOPT) black(b[0], b[1], i, i + CUT);
        break;
    }
    case W_FNV: {
        RANGES(NREC) fnv(b[0], b[1], i, i + CUT);
        break;
    }
    case W_CRC: {
        RANGES(NREC) crc(b[0], b[1], b[2], i, i + CUT);
        break;
    }
    case W_DFA: {
        RANGES(NCHUNK) dfa(b[0], b[1], b[2], dfa_accept, i, i + CUT);
        break;
    }
    case W_BFS: bfs(); break;
    case W_NBODY: {
        RANGES(NBODY) nbody(b[0], b[1], b[2], i, i + CUT);
        break;
    }
    }
}
