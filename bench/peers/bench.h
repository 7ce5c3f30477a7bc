/* What the harness (bench.c) gives a peer, and what a peer must supply. */
#ifndef BENCH_H
#define BENCH_H
#include "sizes.h"
#include <stddef.h>
#include <stdint.h>

typedef uint32_t u32;
typedef uint8_t u8;

enum {
    W_SAXPY,
    W_DOT,
    W_SCAN,
    W_HIST,
    W_SORT,
    W_MATMUL,
    W_CONV,
    W_MANDEL,
    W_BLACK,
    W_FNV,
    W_CRC,
    W_DFA,
    W_BFS,
    W_NBODY,
    W_SAXPY_VEC4,
    W_BODIES,
    NWORK
};

typedef struct {
    const char *name;
    size_t size[6]; /* bytes of each buffer; 0 ends the list */
    int out,
        reset; /* output buffer; in-place buffer, restored before the run that is checked, or -1 */
    char type; /* output words: 'f' f32, 'u' u32 */
    const char *unit; /* rate unit, and the amount of it (in 1e9) one run does */
    double amount;
} Work;

extern const Work works[NWORK];
extern void *buf[6];      /* the current workload's buffers */
extern u32 dfa_accept;    /* DFA states >= this one are accepting */
extern double compile_ms; /* a JIT peer adds its compile time here */
double now_ms(void);

/* A peer supplies these. */
#define ALIGN (2 << 20) /* the harness asks for 2 MiB pages (THP) on every peer's buffers */
void *peer_alloc(int i, size_t bytes); /* memory for buffer i; optional, the default is ALIGN-ed */
int peer_setup(int w);                 /* 0: this peer does not do workload w */
void peer_run(int w); /* one full run; output visible on return, or after peer_download */
/* A peer whose buffers are not buf[] itself: buf[i] was written, buf[i] will be read; never timed.
 * Optional. */
void peer_upload(int i);
void peer_download(int i);
#endif
