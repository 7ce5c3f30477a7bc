/* Problem sizes and constants, shared by C, OpenCL C and ISPC. */
#define NV 16777216 /* saxpy, dot, scan: elements */
#define SAXPY_A 1.7f
#define DOT_CHUNK 65536 /* dot: elements per chunk, DOT_LANES running sums each */
#define DOT_LANES 64
#define DOT_CHUNKS 256
#define SCAN_BLOCK 16384
#define SCAN_BLOCKS 1024
#define NHIST 67108864 /* bytes */
#define HIST_PARTS 64
#define NSORT 4194304
#define SORT_CHUNKS 16 /* each is counted and scattered by one worker */
#define MM 1024        /* matrix order */
#define IMG 4096       /* image side; input has a 1-pixel rim, pitch IMG + 2 */
#define CONV_W 0.07f, 0.12f, 0.08f, 0.11f, 0.24f, 0.13f, 0.09f, 0.10f, 0.06f
#define MANDEL 2048
#define MAXIT 256
#define MANDEL_X(x) ((float)(x) * (3.0f / MANDEL) - 2.0f)
#define MANDEL_Y(y) ((float)(y) * (3.0f / MANDEL) - 1.5f)
#define NOPT 4194304
#define RISKFREE 0.02f
#define VOLATILITY 0.30f
#define NREC 1048576 /* 64-byte records: 16 little-endian u32 words */
#define FNV_BASIS 2166136261u
#define FNV_PRIME 16777619u
#define NTEXT 67108864 /* bytes */
#define NCHUNK 4096
#define CHUNK 16384 /* NTEXT / NCHUNK */
#define NNODE 1048576
#define NEDGE 8388608
#define UNSEEN 0xffffffffu
#define NBODY 8192
#define SOFTEN 0.01f
#define DT 0.01f
