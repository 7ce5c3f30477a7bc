#include "backend/cuda/runtime/probe.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "backend/cuda/runtime/module.h"
#include "backend/cuda/runtime/transfer.h"
#include "base/alloc.h"
#include "base/status.h"

/* Layouts are known to the kernel. */
typedef struct operands {
    double a, b, c;
    float x, y, z, zero;
} operands;

enum { OPS = 5, PAIRS = 40, RANDOM = 4096, COUNT = PAIRS * PAIRS + RANDOM, THREADS = 128 };

typedef struct results {
    double wide[OPS]; /* a + b, a * b, a / b, sqrt(a), fma(a, b, c) */
    float narrow[OPS];
    float zero;
} results;

static const char *const op_names[OPS] = {"+", "*", "/", "sqrt", "fma"};

static const char kernel[] =
    ".version 6.3\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry probe(.param .u64 from, .param .u64 to, .param .u32 count)\n"
    "{\n"
    "    .reg .pred %p;\n"
    "    .reg .u32 %r<4>;\n"
    "    .reg .u64 %d<4>;\n"
    "    .reg .f64 %w<8>;\n"
    "    .reg .f32 %n<8>;\n"
    "    mov.u32 %r0, %ctaid.x;\n"
    "    mov.u32 %r1, %ntid.x;\n"
    "    mov.u32 %r2, %tid.x;\n"
    "    mad.lo.u32 %r0, %r0, %r1, %r2;\n"
    "    ld.param.u32 %r3, [count];\n"
    "    setp.ge.u32 %p, %r0, %r3;\n"
    "    @%p ret;\n"
    "    ld.param.u64 %d0, [from];\n"
    "    ld.param.u64 %d1, [to];\n"
    "    mad.wide.u32 %d0, %r0, 40, %d0;\n"
    "    mad.wide.u32 %d1, %r0, 64, %d1;\n"
    "    ld.global.f64 %w0, [%d0];\n"
    "    ld.global.f64 %w1, [%d0+8];\n"
    "    ld.global.f64 %w2, [%d0+16];\n"
    "    ld.global.f32 %n0, [%d0+24];\n"
    "    ld.global.f32 %n1, [%d0+28];\n"
    "    ld.global.f32 %n2, [%d0+32];\n"
    "    add.rn.f64 %w3, %w0, %w1;\n"
    "    mul.rn.f64 %w4, %w0, %w1;\n"
    "    div.rn.f64 %w5, %w0, %w1;\n"
    "    sqrt.rn.f64 %w6, %w0;\n"
    "    fma.rn.f64 %w7, %w0, %w1, %w2;\n"
    "    add.rn.f32 %n3, %n0, %n1;\n"
    "    mul.rn.f32 %n4, %n0, %n1;\n"
    "    div.rn.f32 %n5, %n0, %n1;\n"
    "    sqrt.rn.f32 %n6, %n0;\n"
    "    fma.rn.f32 %n7, %n0, %n1, %n2;\n"
    "    st.global.f64 [%d1], %w3;\n"
    "    st.global.f64 [%d1+8], %w4;\n"
    "    st.global.f64 [%d1+16], %w5;\n"
    "    st.global.f64 [%d1+24], %w6;\n"
    "    st.global.f64 [%d1+32], %w7;\n"
    "    st.global.f32 [%d1+40], %n3;\n"
    "    st.global.f32 [%d1+44], %n4;\n"
    "    st.global.f32 [%d1+48], %n5;\n"
    "    st.global.f32 [%d1+52], %n6;\n"
    "    st.global.f32 [%d1+56], %n7;\n"
    "    ret;\n"
    "}\n";

/* Numbers where rounding is decided: ends of ranges, subnormals, halves of the last place. */
static void special(uint32_t index, double *out_wide, float *out_narrow) {
    static const uint32_t narrow[PAIRS / 2] = {
        0x00000000, 0x00000001, 0x00000003, 0x00400000, 0x007fffff, 0x00800000, 0x00800001,
        0x01000001, 0x33800000, 0x33ffffff, 0x3eaaaaab, 0x3f7fffff, 0x3f800000, 0x3f800001,
        0x3fb504f3, 0x40490fdb, 0x4b7fffff, 0x7e800001, 0x7f7fffff, 0x7f800000};
    static const uint64_t wide[PAIRS / 2] = {
        0x0000000000000000, 0x0000000000000001, 0x0000000000000003, 0x0008000000000000,
        0x000fffffffffffff, 0x0010000000000000, 0x0010000000000001, 0x0020000000000001,
        0x3ca0000000000000, 0x3caffffffffffff1, 0x3fd5555555555555, 0x3fefffffffffffff,
        0x3ff0000000000000, 0x3ff0000000000001, 0x3ff6a09e667f3bcd, 0x400921fb54442d18,
        0x433fffffffffffff, 0x7fd0000000000001, 0x7fefffffffffffff, 0x7ff0000000000000};
    uint32_t sign = index % 2;
    uint32_t bits = narrow[index / 2] | sign << 31;
    uint64_t wide_bits = wide[index / 2] | (uint64_t)sign << 63;
    memcpy(out_narrow, &bits, sizeof bits);
    memcpy(out_wide, &wide_bits, sizeof wide_bits);
}

static uint64_t mix(uint64_t *state) {
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Any bits: of every size, subnormals among them. */
static void any(uint64_t *state, double *out_wide, float *out_narrow) {
    uint64_t bits = mix(state), low = mix(state);
    uint32_t narrow = (uint32_t)low;
    if (low >> 62 == 0) { /* a quarter is small */
        bits &= UINT64_C(0x803fffffffffffff);
        narrow &= 0x81ffffff;
    }
    memcpy(out_narrow, &narrow, sizeof narrow);
    memcpy(out_wide, &bits, sizeof bits);
}

static void make_operands(operands *out) {
    uint64_t state = 1;
    for (uint32_t i = 0; i < COUNT; i++) {
        operands *o = &out[i];
        o->zero = 0;
        if (i < PAIRS * PAIRS) {
            special(i / PAIRS, &o->a, &o->x);
            special(i % PAIRS, &o->b, &o->y);
            special((i * 7 + i / PAIRS) % PAIRS, &o->c, &o->z);
        } else {
            any(&state, &o->a, &o->x);
            any(&state, &o->b, &o->y);
            any(&state, &o->c, &o->z);
        }
    }
}

static results compute(const operands *o) {
    return (results){
        .wide = {o->a + o->b, o->a * o->b, o->a / o->b, sqrt(o->a), fma(o->a, o->b, o->c)},
        .narrow = {o->x + o->y, o->x * o->y, o->x / o->y, sqrtf(o->x), fmaf(o->x, o->y, o->z)},
    };
}

/* NaNs have no bits of their own here: code makes them canonical. */
static bool same_wide(double left, double right) {
    uint64_t bits[2];
    memcpy(&bits[0], &left, sizeof left);
    memcpy(&bits[1], &right, sizeof right);
    return (isnan(left) && isnan(right)) || bits[0] == bits[1];
}

static bool same_narrow(float left, float right) {
    uint32_t bits[2];
    memcpy(&bits[0], &left, sizeof left);
    memcpy(&bits[1], &right, sizeof right);
    return (isnan(left) && isnan(right)) || bits[0] == bits[1];
}

static vyre_status compare(cuda_device *device, const operands *from, const results *found) {
    uint32_t wrong[2][OPS] = {{0}}, all = 0;
    fenv_t callers;
    if (fegetenv(&callers) || fesetenv(FE_DFL_ENV)) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED, "use it on another thread",
                                "cannot set the floating-point environment of this thread");
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        const results expected = compute(&from[i]);
        for (uint32_t op = 0; op < OPS; op++) {
            wrong[0][op] += !same_narrow(expected.narrow[op], found[i].narrow[op]);
            wrong[1][op] += !same_wide(expected.wide[op], found[i].wide[op]);
        }
    }
    fesetenv(&callers);
    vyre_strbuf text = {0};
    for (uint32_t kind = 0; kind < 2; kind++) {
        for (uint32_t op = 0; op < OPS; op++) {
            if (wrong[kind][op]) {
                vyre_strbuf_printf(&text, "%s%s of %s %u", all ? ", " : "", op_names[op],
                                   kind ? "f64" : "f32", wrong[kind][op]);
                all += wrong[kind][op];
            }
        }
    }
    vyre_status status =
        all ? vyre_status_make(VYRE_STATUS_UNSUPPORTED, "use another device",
                               "the arithmetic of %s is not exact; wrong results, of %u each: %s",
                               device->info.name, (unsigned)COUNT, vyre_strbuf_string(&text))
            : VYRE_OK;
    vyre_strbuf_free(&text);
    return status;
}

static vyre_status run(cuda_stream *stream, CUmodule module, const operands *from, results *to) {
    cuda_device *device = stream->device;
    const cuda_table *cuda = device->cuda;
    cuda_block *in = NULL, *out = NULL;
    CUfunction function;
    uint32_t count = COUNT;
    vyre_status status =
        cuda_check(device, cuda->cuModuleGetFunction(&function, module, "probe"), "finding probe");
    status = status ? status : cuda_memory_take(device, COUNT * sizeof *from, &in);
    status = status ? status : cuda_memory_take(device, COUNT * sizeof *to, &out);
    status = status ? status : cuda_upload(stream, in->address, from, COUNT * sizeof *from);
    if (!status) {
        void *parameters[] = {&in->address, &out->address, &count};
        status =
            cuda_check(device,
                       cuda->cuLaunchKernel(function, (COUNT + THREADS - 1) / THREADS, 1, 1,
                                            THREADS, 1, 1, 0, stream->handle, parameters, NULL),
                       "starting the probe");
    }
    status = status ? status : cuda_download(stream, to, out->address, COUNT * sizeof *to);
    status = cuda_stream_finish(stream, status);
    cuda_memory_give(device, in);
    cuda_memory_give(device, out);
    return status;
}

vyre_status cuda_probe(cuda_device *device) {
    operands *from = vyre_alloc_array(COUNT, sizeof *from);
    results *to = vyre_alloc_zeroed(COUNT, sizeof *to);
    cuda_stream *stream = NULL;
    CUmodule module = NULL;
    vyre_status status = VYRE_OK;
    if (!from || !to) {
        status = vyre_no_memory("to probe %s", device->info.name);
        goto done;
    }
    make_operands(from);
    status = cuda_module_load(device, kernel, sizeof kernel, &module);
    status = status ? status : cuda_stream_take(device, &stream);
    status = status ? status : run(stream, module, from, to);
    status = status ? status : compare(device, from, to);
done:
    cuda_stream_give(stream);
    if (module && !atomic_load(&device->is_lost)) {
        vyre_status_free(
            cuda_check(device, device->cuda->cuModuleUnload(module), "unloading the probe"));
    }
    vyre_free(from);
    vyre_free(to);
    return status;
}
