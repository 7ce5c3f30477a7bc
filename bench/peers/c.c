/* Peer: plain C kernels. Where the natural loop carries a dependence, a block of LANES independent
   items is advanced together, so that the compiler can vectorise or at least overlap them. */
#include "kernels.h"
#include <math.h>
#include <string.h>

void saxpy(const float *restrict x, float *restrict y, int from, int to) {
    for (int i = from; i < to; i++)
        y[i] = SAXPY_A * x[i] + y[i];
}

void saxpy_vec4(const vec4 *restrict x, vec4 *restrict y, int from, int to) {
    for (int i = from; i < to; i++) {
        y[i].x = SAXPY_A * x[i].x + y[i].x;
        y[i].y = SAXPY_A * x[i].y + y[i].y;
        y[i].z = SAXPY_A * x[i].z + y[i].z;
        y[i].w = SAXPY_A * x[i].w + y[i].w;
    }
}

void bodies(body *b, int from, int to) {
    for (int i = from; i < to; i++) {
        body o = b[i];
        o.x += DT * o.u, o.y += DT * o.v, o.z += DT * o.w;
        o.mass -= DT * o.burn;
        o.u *= 0.99f, o.v *= 0.99f, o.w *= 0.99f;
        o.burn *= 0.5f;
        b[i] = o;
    }
}

void dot_chunk(const float *x, const float *y, float *part, int c) {
    float acc[DOT_LANES] = {0};
    for (int i = c * DOT_CHUNK; i < (c + 1) * DOT_CHUNK; i += DOT_LANES)
        for (int l = 0; l < DOT_LANES; l++)
            acc[l] += x[i + l] * y[i + l];
    for (int n = DOT_LANES; n /= 2;)
        for (int l = 0; l < n; l++)
            acc[l] += acc[l + n];
    part[c] = acc[0];
}

void scan_sum(const u32 *src, u32 *sum, int b) {
    u32 s = 0;
    for (int i = 0; i < SCAN_BLOCK; i++)
        s += src[b * SCAN_BLOCK + i];
    sum[b] = s;
}
void scan_write(const u32 *src, u32 *dst, const u32 *sum, int b) {
    u32 s = sum[b];
    for (int i = b * SCAN_BLOCK; i < (b + 1) * SCAN_BLOCK; i++)
        dst[i] = s += src[i];
}

void hist_part(const u32 *src, u32 *part, int g) {
    const int n = NHIST / 4 / HIST_PARTS;
    u32 h[4][256] = {{0}}; /* four copies, so that repeated bytes do not chain */
    for (int i = g * n; i < (g + 1) * n; i++) {
        u32 v = src[i];
        h[0][v & 255]++, h[1][v >> 8 & 255]++, h[2][v >> 16 & 255]++, h[3][v >> 24]++;
    }
    for (int k = 0; k < 256; k++)
        part[g * 256 + k] = h[0][k] + h[1][k] + h[2][k] + h[3][k];
}

void sort_count(const u32 *src, u32 *cnt, int bit, int c) {
    const int per = NSORT / SORT_CHUNKS;
    u32 h[256] = {0};
    for (int i = c * per; i < (c + 1) * per; i++)
        h[src[i] >> bit & 255]++;
    memcpy(cnt + c * 256, h, sizeof h);
}
void sort_scatter(const u32 *src, u32 *dst, const u32 *cnt, int bit, int c) {
    const int per = NSORT / SORT_CHUNKS;
    u32 pos[256];
    memcpy(pos, cnt + c * 256, sizeof pos);
    for (int i = c * per; i < (c + 1) * per; i++)
        dst[pos[src[i] >> bit & 255]++] = src[i];
}

typedef float v8 __attribute__((vector_size(32)));
void mm_rows(const float *A, const float *P, float *C,
             int row) { /* 64 rows, in 4x16 register tiles */
    for (int j = 0; j < MM / 16; j++)
        for (int r = row; r < row + 64; r += 4) {
            const float *a = A + r * MM;
            const v8(*p)[2] = (const void *)(P + j * MM * 16);
            v8 c[4][2] = {{{0}}};
            for (int k = 0; k < MM; k++)
                for (int m = 0; m < 4; m++)
                    for (int n = 0; n < 2; n++)
                        c[m][n] += a[m * MM + k] * p[k][n];
            for (int m = 0; m < 4; m++)
                memcpy(C + (r + m) * MM + j * 16, c[m], 64);
        }
}

void conv_row(const float *src, float *dst, int y) {
    const float *a = src + y * (IMG + 2), *b = a + IMG + 2, *c = b + IMG + 2, k[9] = {CONV_W};
    float *restrict o = dst + y * IMG;
    for (int x = 0; x < IMG; x++)
        o[x] = a[x] * k[0] + a[x + 1] * k[1] + a[x + 2] * k[2] + b[x] * k[3] + b[x + 1] * k[4] +
               b[x + 2] * k[5] + c[x] * k[6] + c[x + 1] * k[7] + c[x + 2] * k[8];
}

void mandel_row(u32 *dst, int y) {
    enum { LANES = 32 };
    for (int x = 0; x < MANDEL; x += LANES) {
        float cr[LANES], zr[LANES] = {0}, zi[LANES] = {0}, ci = MANDEL_Y(y);
        u32 n[LANES] = {0}, before[LANES];
        for (int l = 0; l < LANES; l++)
            cr[l] = MANDEL_X(x + l);
        for (int it = 0, alive = 1; it < MAXIT && alive; it += 8) { /* look every 8 iterations */
            memcpy(before, n, sizeof n);
            for (int l = 0; l < LANES; l++) {
                float r = zr[l], i = zi[l];
                u32 c = n[l];
                for (int s = 0; s < 8; s++) { /* a point that left the disc stays out */
                    float r2 = r * r, i2 = i * i;
                    c += r2 + i2 <= 4.0f;
                    i = (r + r) * i + ci, r = r2 - i2 + cr[l];
                }
                zr[l] = r, zi[l] = i, n[l] = c;
            }
            alive = memcmp(before, n, sizeof n);
        }
        memcpy(dst + y * MANDEL + x, n, sizeof n);
    }
}

#define FN static inline
#define INT(x) ((int)(x))
#define FLT(x) ((float)(x))
#define FLOOR floorf
#define SQRT sqrtf
#define ABS fabsf
static inline int AS_INT(float x) {
    int i;
    memcpy(&i, &x, 4);
    return i;
}
static inline float AS_FLOAT(int i) {
    float x;
    memcpy(&x, &i, 4);
    return x;
}
#include "bs.h"
void black(const float *src, float *restrict dst, int from, int to) {
#pragma omp simd
    for (int i = from; i < to; i++) {
        float s = src[i], k = src[NOPT + i], t = src[2 * NOPT + i];
        float disc = bs_exp(-RISKFREE * t), c = bs_call(s, k, t, disc);
        dst[i] = c, dst[NOPT + i] = c - s + k * disc;
    }
}

void fnv(const u32 *rec, u32 *dst, int from, int to) {
    enum { LANES = 16 };
    for (int r = from; r < to; r += LANES) {
        u32 h[LANES];
        for (int l = 0; l < LANES; l++)
            h[l] = FNV_BASIS;
        for (int w = 0; w < 16; w++)
            for (int l = 0; l < LANES; l++) {
                u32 v = rec[(r + l) * 16 + w], x = h[l];
                for (int b = 0; b < 32; b += 8)
                    x = (x ^ (v >> b & 255)) * FNV_PRIME;
                h[l] = x;
            }
        memcpy(dst + r, h, sizeof h);
    }
}

void crc(const u8 *rec, u32 *dst, const u32 *tab, int from, int to) {
    enum { LANES = 16 };
    for (int r = from; r < to; r += LANES) {
        u32 c[LANES];
        for (int l = 0; l < LANES; l++)
            c[l] = ~0u;
        for (int i = 0; i < 64; i++)
            for (int l = 0; l < LANES; l++)
                c[l] = tab[(c[l] ^ rec[(r + l) * 64 + i]) & 255] ^ c[l] >> 8;
        for (int l = 0; l < LANES; l++)
            dst[r + l] = ~c[l];
    }
}

void dfa(const u8 *text, const u8 *tab, u32 *dst, u32 accept, int from, int to) {
    enum { LANES = 4 };
    for (int c = from; c < to; c += LANES) {
        u32 s[LANES] = {0}, n[LANES] = {0};
        for (int i = 0; i < CHUNK; i++)
            for (int l = 0; l < LANES; l++) {
                s[l] = tab[s[l] << 8 | text[(c + l) * CHUNK + i]];
                n[l] += s[l] >= accept;
            }
        memcpy(dst + c, n, sizeof n);
    }
}

int bfs_slice(const u32 *row, const u32 *col, u32 *level, const u32 *q, u32 *found, u32 depth,
              int from, int to) {
    int n = 0;
    for (int i = from; i < to; i++)
        for (u32 e = row[q[i]], end = row[q[i] + 1]; e < end; e++) {
            u32 v = col[e];
            if (level[v] == UNSEEN && __sync_bool_compare_and_swap(&level[v], UNSEEN, depth))
                found[n++] = v;
        }
    return n;
}

void nbody(const float *p, const float *v, float *dst, int from, int to) {
    enum { LANES = 32 };
    const float *x = p, *y = x + NBODY, *z = y + NBODY, *m = z + NBODY;
    for (int i = from; i < to; i += LANES) {
        float a[3][LANES] = {{0}};
        for (int j = 0; j < NBODY; j++)
            for (int l = 0; l < LANES; l++) {
                float dx = x[j] - x[i + l], dy = y[j] - y[i + l], dz = z[j] - z[i + l];
                float inv = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + SOFTEN),
                      s = m[j] * (inv * inv * inv);
                a[0][l] += dx * s, a[1][l] += dy * s, a[2][l] += dz * s;
            }
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < LANES; l++) {
                float nv = v[k * NBODY + i + l] + a[k][l] * DT;
                dst[(3 + k) * NBODY + i + l] = nv;
                dst[k * NBODY + i + l] = x[k * NBODY + i + l] + nv * DT;
            }
    }
}
