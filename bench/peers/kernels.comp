/* Peer: GLSL compute, compiled to SPIR-V once per workload (-DW_name). Binding i is buffer i;
   sums are marked precise, so that a*b+c is not contracted. A dispatch is told `arg`. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "sizes.h"
#define F(i, name) layout(binding = i) buffer B##name { float name[]; }
#define V(i, name) layout(binding = i) buffer B##name { vec4 name[]; }
#define U(i, name) layout(binding = i) buffer B##name { uint name[]; }
#define GROUP(x, y) layout(local_size_x = x, local_size_y = y) in
#define GID gl_GlobalInvocationID
layout(push_constant) uniform P { uint arg; };

#if defined(W_saxpy)
GROUP(128, 1); V(0, x); V(1, y);
void main() {
    precise vec4 r = SAXPY_A * x[GID.x] + y[GID.x];
    y[GID.x] = r;
}

#elif defined(W_dot) /* a group per chunk, then one for all of them */
GROUP(DOT_LANES, 1); F(0, x); F(1, y); F(2, part); F(3, result);
shared float acc[DOT_LANES];
void main() {
    uint l = gl_LocalInvocationID.x, base = gl_WorkGroupID.x * DOT_CHUNK + l;
    precise float a = 0;
    if (arg == 0) {
        for (uint i = 0; i < DOT_CHUNK; i += DOT_LANES) a += x[base + i] * y[base + i];
    } else {
        precise float even = part[l] + part[l + 128], odd = part[l + 64] + part[l + 192];
        a = even + odd;
    }
    acc[l] = a;
    for (uint n = DOT_LANES / 2; n > 0; n /= 2) {
        barrier();
        if (l < n) acc[l] += acc[l + n];
    }
    if (l == 0 && arg == 0) part[gl_WorkGroupID.x] = acc[0];
    if (l == 0 && arg == 1) result[0] = acc[0];
}

#elif defined(W_histogram) /* HIST_PARTS groups; counts in shared memory, then added to the total */
GROUP(256, 1); U(0, src); U(1, total);
shared uint h[256];
void main() {
    uint l = gl_LocalInvocationID.x, n = NHIST / 4 / HIST_PARTS, base = gl_WorkGroupID.x * n;
    if (arg == 0) { /* the first dispatch clears */
        total[l] = 0;
        return;
    }
    h[l] = 0;
    barrier();
    for (uint i = l; i < n; i += 256) {
        uint v = src[base + i];
        atomicAdd(h[v & 255], 1);
        atomicAdd(h[v >> 8 & 255], 1);
        atomicAdd(h[v >> 16 & 255], 1);
        atomicAdd(h[v >> 24], 1);
    }
    barrier();
    atomicAdd(total[l], h[l]);
}

#elif defined(W_matmul) /* 8x4 elements an invocation; tiles in shared memory were slower on lavapipe */
GROUP(16, 8); F(0, A); V(1, B); V(2, C);
void main() {
    uint col = GID.x, row = GID.y * 8;
    precise vec4 c[8];
    for (uint m = 0; m < 8; m++) c[m] = vec4(0);
    for (uint k = 0; k < MM; k++) {
        vec4 b = B[k * (MM / 4) + col];
        for (uint m = 0; m < 8; m++) c[m] += A[(row + m) * MM + k] * b;
    }
    for (uint m = 0; m < 8; m++) C[(row + m) * (MM / 4) + col] = c[m];
}

#elif defined(W_conv3x3)
GROUP(64, 1); F(0, src); F(1, dst);
const float w[9] = float[9](CONV_W);
void main() {
    uint a = GID.y * (IMG + 2) + GID.x, b = a + IMG + 2, c = b + IMG + 2;
    precise float r = src[a] * w[0] + src[a + 1] * w[1] + src[a + 2] * w[2] + src[b] * w[3] + src[b + 1] * w[4] +
                      src[b + 2] * w[5] + src[c] * w[6] + src[c + 1] * w[7] + src[c + 2] * w[8];
    dst[GID.y * IMG + GID.x] = r;
}

#elif defined(W_mandelbrot)
GROUP(64, 1); U(0, dst);
void main() {
    float cr = float(GID.x) * (3.0f / MANDEL) - 2.0f, ci = float(GID.y) * (3.0f / MANDEL) - 1.5f;
    precise float r = 0, i = 0;
    uint n = 0;
    for (; n < MAXIT; n++) {
        precise float r2 = r * r, i2 = i * i, d = r2 + i2;
        if (d > 4.0f) break;
        i = (r + r) * i + ci;
        r = r2 - i2 + cr;
    }
    dst[GID.y * MANDEL + GID.x] = n;
}

#elif defined(W_blackscholes)
GROUP(64, 1); F(0, src); F(1, dst);
#define FN
#define INT(x) int(x)
#define FLT(x) (x) /* made a float where it is assigned */
#define AS_INT floatBitsToInt
#define AS_FLOAT intBitsToFloat
#define FLOOR floor
#define SQRT sqrt
#define ABS abs
#define float precise float
#include "bs.h"
#undef float
void main() {
    float s = src[GID.x], k = src[NOPT + GID.x], t = src[2 * NOPT + GID.x];
    precise float disc = bs_exp(-RISKFREE * t), c = bs_call(s, k, t, disc), put = c - s + k * disc;
    dst[GID.x] = c;
    dst[NOPT + GID.x] = put;
}

#elif defined(W_fnv1a)
GROUP(64, 1); U(0, rec); U(1, dst);
void main() {
    uint h = FNV_BASIS;
    for (uint w = 0; w < 16; w++) {
        uint v = rec[GID.x * 16 + w];
        for (uint b = 0; b < 32; b += 8) h = (h ^ (v >> b & 255)) * FNV_PRIME;
    }
    dst[GID.x] = h;
}

#elif defined(W_crc32)
GROUP(64, 1); U(0, rec); U(1, dst); U(2, tab);
void main() {
    uint c = ~0u;
    for (uint w = 0; w < 16; w++) {
        uint v = rec[GID.x * 16 + w];
        for (uint b = 0; b < 32; b += 8) c = tab[(c ^ v >> b) & 255] ^ c >> 8;
    }
    dst[GID.x] = ~c;
}

#elif defined(W_dfa) /* four bytes of the text, and of the table, are a word */
GROUP(64, 1); U(0, text); U(1, tab); U(2, dst);
void main() {
    uint s = 0, n = 0, base = GID.x * (CHUNK / 4);
    for (uint i = 0; i < CHUNK / 4; i++) {
        uint v = text[base + i];
        for (uint b = 0; b < 32; b += 8) {
            uint at = s << 8 | (v >> b & 255);
            s = tab[at / 4] >> (at & 3) * 8 & 255;
            n += uint(s >= arg);
        }
    }
    dst[GID.x] = n;
}

#elif defined(W_nbody)
GROUP(64, 1); F(0, p); F(1, v); F(2, dst);
void main() {
    uint g = GID.x;
    vec3 at = vec3(p[g], p[NBODY + g], p[2 * NBODY + g]);
    precise vec3 a = vec3(0);
    for (uint j = 0; j < NBODY; j++) {
        precise vec3 d = vec3(p[j], p[NBODY + j], p[2 * NBODY + j]) - at;
        precise float sum = d.x * d.x + d.y * d.y + d.z * d.z + SOFTEN, inv = 1.0f / sqrt(sum);
        precise float pull = p[3 * NBODY + j] * (inv * inv * inv);
        a += d * pull;
    }
    precise vec3 fast = vec3(v[g], v[NBODY + g], v[2 * NBODY + g]) + a * DT, to = at + fast * DT;
    for (uint c = 0; c < 3; c++) {
        dst[c * NBODY + g] = to[c];
        dst[(c + 3) * NBODY + g] = fast[c];
    }
}
#endif
