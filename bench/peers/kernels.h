/* The kernels of the C peer (c.c) and of the ISPC peer (kernels.ispc); driver.c calls them. */
#include "bench.h"
void saxpy(const float *x, float *y, int from, int to);
void dot_chunk(const float *x, const float *y, float *part, int c);
void scan_sum(const u32 *src, u32 *sum, int b);
void scan_write(const u32 *src, u32 *dst, const u32 *sum, int b);
void hist_part(const u32 *src, u32 *part, int g);
void sort_count(const u32 *src, u32 *cnt, int bit, int c);
void sort_scatter(const u32 *src, u32 *dst, const u32 *cnt, int bit, int c);
void mm_rows(const float *A, const float *P, float *C, int row);
void conv_row(const float *src, float *dst, int y);
void mandel_row(u32 *dst, int y);
void black(const float *src, float *dst, int from, int to);
void fnv(const u32 *rec, u32 *dst, int from, int to);
void crc(const u8 *rec, u32 *dst, const u32 *tab, int from, int to);
void dfa(const u8 *text, const u8 *tab, u32 *dst, u32 accept, int from, int to);
int bfs_slice(const u32 *row, const u32 *col, u32 *level, const u32 *q, u32 *found, u32 depth,
              int from, int to);
typedef struct {
    float x, y, z, w;
} vec4;
typedef struct {
    float x, y, z, mass, u, v, w, burn;
} body;
void saxpy_vec4(const vec4 *x, vec4 *y, int from, int to);
void bodies(body *b, int from, int to);
void nbody(const float *p, const float *v, float *dst, int from, int to);
