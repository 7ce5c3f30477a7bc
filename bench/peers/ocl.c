/* Peer: OpenCL (PoCL's CPU device). Buffers wrap host memory; a run is its kernels plus clFinish.
   PEER_FLAGS may hold "-D FMA" (allow a*b+c contraction, OpenCL's default) and "-D VEC" (see
   kernels.cl). */
#define CL_TARGET_OPENCL_VERSION 120
#include "bench.h"
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* vec: how many of its work-items one does under -D VEC; the build sees it as LANES */
typedef struct {
    int w;
    const char *name;
    size_t x, y, local, vec;
    u32 arg;
} Step;
#define SORT_PASS(s)                                                                               \
    {W_SORT, "sort_count", SORT_CHUNKS, 1, 1, 1, s}, {W_SORT, "sort_offsets", 1, 1, 1, 1, s}, {    \
        W_SORT, "sort_scatter", SORT_CHUNKS, 1, 1, 1, s                                            \
    }
static const Step steps[] = {
    {W_SAXPY, "saxpy", NV, 1, 1024, 1, 0},
    {W_DOT, "dot_chunk", DOT_CHUNKS *DOT_LANES, 1, DOT_LANES, DOT_LANES, 0},
    {W_DOT, "dot_fold", 1, 1, 1, 1, 0},
    {W_SCAN, "scan_sum", SCAN_BLOCKS, 1, 1, 1, 0},
    {W_SCAN, "scan_offsets", 1, 1, 1, 1, 0},
    {W_SCAN, "scan_write", SCAN_BLOCKS, 1, 1, 1, 0},
    {W_HIST, "hist_part", HIST_PARTS, 1, 1, 1, 0},
    {W_HIST, "hist_fold", 256, 1, 64, 1, 0},
    SORT_PASS(0),
    SORT_PASS(8),
    SORT_PASS(16),
    SORT_PASS(24),
    {W_MATMUL, "mm_pack", MM *MM / 16, 1, MM, 1, 0},
    {W_MATMUL, "mm", MM *MM / 64, 1, 32, 1, 0},
    {W_CONV, "conv", IMG, IMG, 1024, 1, 0},
    {W_MANDEL, "mandel", MANDEL, MANDEL, 64, 8, 0},
    {W_BLACK, "black", NOPT, 1, 256, 1, 0},
    {W_FNV, "fnv", NREC, 1, 512, 8, 0},
    {W_CRC, "crc", NREC, 1, 1024, 16, 0},
    {W_DFA, "dfa", NCHUNK, 1, 8, 8, 0},
    {W_BFS, "bfs_init", NNODE, 1, 256, 1, 0},
    {W_BFS, "bfs_level", 0, 1, 64, 1, 0},
    {W_NBODY, "nbody", NBODY, 1, 64, 8, 0},
};
enum { NSTEP = sizeof steps / sizeof *steps };

static cl_command_queue queue;
static cl_kernel kernel[NSTEP];
static cl_uint nbuf;
static int vec;

static void ok(cl_int e, const char *what) {
    if (e)
        fprintf(stderr, "ocl: %s: error %d\n", what, e), exit(1);
}

int peer_setup(int w) {
    static char src[1 << 16];
    char opt[128], log[8192] = "";
    cl_platform_id plat;
    cl_device_id dev;
    cl_int e;
    int known = 0;
    for (int s = 0; s < NSTEP; s++)
        known |= steps[s].w == w;
    if (!known)
        return 0;
    FILE *f = fopen("kernels.cl", "r");
    if (!f || !fread(src, 1, sizeof src - 1, f))
        return 0;
    fclose(f);
    ok(clGetPlatformIDs(1, &plat, 0), "platform");
    ok(clGetDeviceIDs(plat, CL_DEVICE_TYPE_CPU, 1, &dev, 0), "device");
    cl_context ctx = clCreateContext(0, 1, &dev, 0, 0, &e);
    ok(e, "context");
    queue = clCreateCommandQueue(ctx, dev, 0, &e);
    ok(e, "queue");
    const char *flags = getenv("PEER_FLAGS") ? getenv("PEER_FLAGS") : "";
    vec = strstr(flags, "VEC") != 0;
    size_t lanes = 1;
    for (int s = 0; s < NSTEP && vec; s++)
        if (steps[s].w == w && steps[s].vec > lanes)
            lanes = steps[s].vec;
    snprintf(opt, sizeof opt, "-I . -D W_%s -D LANES=%zu %s", works[w].name, lanes, flags);
    double t0 = now_ms();
    cl_program prog = clCreateProgramWithSource(ctx, 1, &(const char *){src}, 0, &e);
    ok(e, "program");
    if (clBuildProgram(prog, 1, &dev, opt, 0, 0)) {
        clGetProgramBuildInfo(prog, dev, CL_PROGRAM_BUILD_LOG, sizeof log, log, 0);
        fprintf(stderr, "%s\n", log);
        return 0;
    }
    compile_ms = now_ms() - t0; /* the first enqueue compiles the rest: see first_ms */
    cl_mem mem[6];
    for (; nbuf < 6 && works[w].size[nbuf]; nbuf++)
        mem[nbuf] = clCreateBuffer(ctx, CL_MEM_USE_HOST_PTR, works[w].size[nbuf], buf[nbuf], &e),
        ok(e, "buffer");
    for (int s = 0; s < NSTEP; s++) {
        if (steps[s].w != w)
            continue;
        u32 arg = w == W_DFA ? dfa_accept : steps[s].arg;
        kernel[s] = clCreateKernel(prog, steps[s].name, &e), ok(e, steps[s].name);
        for (cl_uint i = 0; i < nbuf; i++)
            ok(clSetKernelArg(kernel[s], i, sizeof(cl_mem), &mem[i]), "arg");
        ok(clSetKernelArg(kernel[s], nbuf, 4, &arg), "arg");
    }
    return 1;
}

static void launch(int s, size_t x) {
    size_t per = vec ? steps[s].vec : 1, l = steps[s].local;
    size_t global[2] = {x / per, steps[s].y}, local[2] = {l > per ? l / per : 1, 1};
    ok(clEnqueueNDRangeKernel(queue, kernel[s], 2, 0, global, local, 0, 0, 0), steps[s].name);
}

void peer_run(int w) {
    for (int s = 0; s < NSTEP; s++) {
        if (steps[s].w != w)
            continue;
        if (steps[s].x) {
            launch(s, steps[s].x);
            continue;
        }
        volatile u32 *ctl = buf[5]; /* BFS: the host reads the frontier's length after each level */
        clFinish(queue);
        for (u32 d = 1; ctl[~d & 1]; d++) {
            size_t l = steps[s].local, n = (ctl[~d & 1] + l - 1) / l * l;
            ctl[d & 1] = 0;
            clSetKernelArg(kernel[s], nbuf, 4, &d);
            launch(s, n);
            clFinish(queue);
        }
    }
    clFinish(queue);
}
