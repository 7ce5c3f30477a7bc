/* Harness: builds a workload's inputs, times the peer, checks and prints one JSON line.
   usage: PEER WORKLOAD [REFFILE]   (REFFILE: written when absent, else compared with)
   PEER_RUNS=N in the environment: N runs and no more, none of them to warm up; to check a slow
   peer. */
#define _GNU_SOURCE
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define GB(x) "GB/s", (x) / 1e9
#define GF(x) "GFLOP/s", (x) / 1e9
const Work works[NWORK] = {
    {"saxpy", {4 * NV, 4 * NV}, 1, 1, 'f', GB(12.0 * NV)},
    {"dot", {4 * NV, 4 * NV, 4 * DOT_CHUNKS, 4}, 3, -1, 'f', GB(8.0 * NV)},
    {"scan", {4 * NV, 4 * NV, 4 * SCAN_BLOCKS}, 1, -1, 'u', GB(8.0 * NV)},
    {"histogram", {NHIST, 4 * 256, 4 * 256 * HIST_PARTS}, 1, -1, 'u', GB((double)NHIST)},
    {"radixsort", {4 * NSORT, 4 * NSORT, 4 * 256 * SORT_CHUNKS}, 0, 0, 'u', "Gkey/s", NSORT / 1e9},
    {"matmul",
     {4 * MM * MM, 4 * MM *MM, 4 * MM *MM, 4 * MM *MM},
     2,
     -1,
     'f',
     GF(2.0 * MM * MM * MM)},
    {"conv3x3", {4 * (IMG + 2) * (IMG + 2), 4 * IMG *IMG}, 1, -1, 'f', GB(8.0 * IMG * IMG)},
    {"mandelbrot",
     {4 * MANDEL * MANDEL},
     0,
     -1,
     'u',
     "GFLOP/s",
     0 /* 8 per iteration, from the output */},
    {"blackscholes", {4 * 3 * NOPT, 4 * 2 * NOPT}, 1, -1, 'f', "Gopt/s", NOPT / 1e9},
    {"fnv1a", {64 * NREC, 4 * NREC}, 1, -1, 'u', GB(64.0 * NREC)},
    {"crc32", {64 * NREC, 4 * NREC, 4 * 256}, 1, -1, 'u', GB(64.0 * NREC)},
    {"dfa", {NTEXT, 65536, 4 * NCHUNK}, 2, -1, 'u', GB((double)NTEXT)},
    {"bfs",
     {4 * (NNODE + 1), 4 * NEDGE, 4 * NNODE, 4 * NNODE, 4 * NNODE, 64},
     2,
     -1,
     'u',
     "Gedge/s",
     NEDGE / 1e9},
    {"nbody", {4 * 4 * NBODY, 4 * 3 * NBODY, 4 * 6 * NBODY}, 2, -1, 'f', GF(20.0 * NBODY * NBODY)},
    {"saxpy_vec4", {4 * NV, 4 * NV}, 1, 1, 'f', GB(12.0 * NV)},
    {"bodies", {4 * NV}, 0, 0, 'f', GB(8.0 * NV)},
};

void *buf[6];
u32 dfa_accept;
double compile_ms;

double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

__attribute__((weak)) void *peer_alloc(int i, size_t bytes) {
    return (void)i, aligned_alloc(ALIGN, (bytes + ALIGN - 1) & -(size_t)ALIGN);
}

__attribute__((weak)) void peer_upload(int i) {
    (void)i;
}
__attribute__((weak)) void peer_download(int i) {
    (void)i;
}

static uint64_t state; /* splitmix64 */
static u32 rnd(void) {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (z ^ z >> 31) >> 32;
}
static void fill(int b, size_t from, size_t n, float lo, float hi) {
    for (size_t i = 0; i < n; i++)
        ((float *)buf[b])[from + i] = lo + (hi - lo) * ((rnd() >> 8) * 0x1p-24f);
}

/* Aho-Corasick automaton of random words over a..p, grown to exactly 256 states, then
   renumbered so that the accepting states come last; and a text sprinkled with the words. */
static void make_dfa(u8 *text, u8 *table) {
    static int go[256][256], fail[256], queue[256];
    static u8 accept[256], words[256][8], len[256], id[256];
    int n = 1, nw = 0, head = 0, tail = 0;
    for (; n < 256; nw++) {
        int s = 0, want = 4 + rnd() % 5;
        while (len[nw] < want && n < 256) {
            u8 c = words[nw][len[nw]++] = 'a' + rnd() % 16;
            s = go[s][c] ? go[s][c] : (go[s][c] = n++);
        }
        accept[s] = 1;
    }
    for (int c = 0; c < 256; c++)
        if (go[0][c])
            queue[tail++] = go[0][c];
    while (head < tail) {
        int s = queue[head++];
        accept[s] |= accept[fail[s]];
        for (int c = 0; c < 256; c++)
            if (go[s][c])
                fail[queue[tail++] = go[s][c]] = go[fail[s]][c];
            else
                go[s][c] = go[fail[s]][c];
    }
    for (int pass = n = 0; pass < 2; pass++) {
        for (int s = 0; s < 256; s++)
            if (accept[s] == pass)
                id[s] = n++;
        if (pass == 0)
            dfa_accept = n;
    }
    for (int s = 0; s < 256; s++)
        for (int c = 0; c < 256; c++)
            table[id[s] * 256 + c] = id[go[s][c]];
    for (size_t i = 0; i < NTEXT;) {
        u32 r = rnd(), w = (r >> 8) % nw;
        if (r % 8)
            text[i++] = 'a' + (r >> 8) % 16;
        else
            for (int k = 0; k < len[w] && i < NTEXT; k++)
                text[i++] = words[w][k];
    }
}

static void make_graph(u32 *row, u32 *col) { /* CSR of NEDGE random directed edges */
    u32 *src = malloc(4 * (size_t)NEDGE);
    memset(row, 0, 4 * (NNODE + 1));
    for (u32 e = 0; e < NEDGE; e++)
        row[1 + (src[e] = rnd() % NNODE)]++;
    for (u32 v = 0; v < NNODE; v++)
        row[v + 1] += row[v];
    for (u32 e = 0; e < NEDGE; e++)
        col[row[src[e]]++] = rnd() % NNODE;
    memmove(row + 1, row, 4 * NNODE), row[0] = 0;
    free(src);
}

static void make_inputs(int w) {
    u32 *u = buf[0];
    state = 1000 + w;
    switch (w) {
    case W_BODIES: fill(0, 0, NV, -1, 1); break;
    case W_SAXPY:
    case W_SAXPY_VEC4:
    case W_DOT: fill(0, 0, NV, -1, 1), fill(1, 0, NV, -1, 1); break;
    case W_MATMUL: fill(0, 0, MM * MM, -1, 1), fill(1, 0, MM * MM, -1, 1); break;
    case W_CONV: fill(0, 0, (IMG + 2) * (IMG + 2), 0, 1); break;
    case W_BLACK: fill(0, 0, 2 * NOPT, 5, 30), fill(0, 2 * NOPT, NOPT, 0.25f, 10); break;
    case W_NBODY:
        fill(0, 0, 3 * NBODY, -1, 1), fill(0, 3 * NBODY, NBODY, 0.1f, 1),
            fill(1, 0, 3 * NBODY, -1, 1);
        break;
    case W_DFA: make_dfa(buf[0], buf[1]); break;
    case W_BFS: make_graph(buf[0], buf[1]); break;
    case W_CRC:
        for (u32 i = 0, c, k; i < 256; ((u32 *)buf[2])[i++] = c)
            for (c = i, k = 0; k < 8; k++)
                c = c >> 1 ^ (c & 1 ? 0xEDB88320u : 0);
        /* fall through */
    case W_SCAN:
    case W_HIST:
    case W_SORT:
    case W_FNV:
        for (size_t i = 0; i < works[w].size[0] / 4; i++)
            u[i] = rnd();
    }
}

/* 0: same bits. Otherwise f32: largest difference over largest reference value;
   u32: share of words that differ. -1: no reference. */
static double check(const Work *k, const char *ref) {
    size_t n = k->size[k->out];
    FILE *f = ref ? fopen(ref, "rb") : 0;
    double diff = 0, top = 0;
    if (!f) {
        if (ref && (f = fopen(ref, "wb")))
            fwrite(buf[k->out], 1, n, f), fclose(f);
        return ref ? 0 : -1;
    }
    void *r = malloc(n);
    if (fread(r, 1, n, f) != n)
        diff = INFINITY;
    fclose(f);
    if (memcmp(r, buf[k->out], n))
        for (size_t i = 0; i < n / 4; i++) {
            float a = ((float *)buf[k->out])[i], b = ((float *)r)[i];
            if (k->type == 'u')
                diff += ((u32 *)r)[i] != ((u32 *)buf[k->out])[i], top = n / 4;
            else
                diff = !(fabs(a - b) <= diff) ? fabs(a - b) : diff, top = fmax(top, fabs(b));
        }
    free(r);
    return top ? diff / top : diff;
}

static int by_value(const void *a, const void *b) {
    return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b);
}

int main(int argc, char **argv) {
    int w = 0, n = 0;
    while (w < NWORK && (argc < 2 || strcmp(argv[1], works[w].name)))
        w++;
    if (w == NWORK)
        return fprintf(stderr, "usage: %s WORKLOAD [REFFILE]\n", argv[0]), 2;
    const Work *k = &works[w];
    for (int i = 0; i < 6 && k->size[i]; i++) {
        buf[i] = peer_alloc(i, k->size[i]);
        madvise((void *)((uintptr_t)buf[i] & -4096), k->size[i], MADV_HUGEPAGE);
        memset(buf[i], 0, k->size[i]);
    }
    make_inputs(w);
    if (!peer_setup(w))
        return 3;

    size_t keep_size = k->reset < 0 ? 0 : k->size[k->reset];
    void *keep = malloc(keep_size + 1);
    if (keep_size)
        memcpy(keep, buf[k->reset], keep_size);
    double t[64], spent = 0, first = 0;
    int only = getenv("PEER_RUNS") ? atoi(getenv("PEER_RUNS")) : 0, warm = only > 0 ? 0 : 2;
    if (only > 40)
        only = 40;
    for (int i = 0; only > 0 ? n < only : n < 7 || (n < 40 && spent < 600); i++) {
        if (w == W_SORT && i)
            memcpy(buf[k->reset], keep, keep_size), peer_upload(k->reset);
        double t0 = now_ms();
        peer_run(w);
        double ms = now_ms() - t0;
        if (i == 0)
            first = ms;
        if (i >= warm)
            spent += t[n++] = ms;
    }
    qsort(t, n, sizeof *t, by_value);
    if (keep_size) { /* the run that is checked */
        memcpy(buf[k->reset], keep, keep_size), peer_upload(k->reset);
        peer_run(w);
    }
    peer_download(k->out);

    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a 64 of the output bytes */
    for (size_t i = 0; i < k->size[k->out]; i++)
        h = (h ^ ((u8 *)buf[k->out])[i]) * 0x100000001b3u;
    double amount = k->amount;
    if (w == W_MANDEL)
        for (size_t i = 0; i < k->size[0] / 4; i++)
            amount += 8e-9 * ((u32 *)buf[0])[i];
    printf("{\"work\": \"%s\", \"best_ms\": %.4f, \"median_ms\": %.4f, \"runs\": %d, \"first_ms\": "
           "%.3f, "
           "\"compile_ms\": %.3f, \"hash\": \"%016llx\", \"err\": %.3g, \"unit\": \"%s\", "
           "\"amount\": %.9g}\n",
           k->name, t[0], t[n / 2], n, first, compile_ms, (unsigned long long)h,
           check(k, argc > 2 ? argv[2] : 0), k->unit, amount);
    return 0;
}
