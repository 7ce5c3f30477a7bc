/* Functions that expressions call. A program gets those that its operations need: each one costs
 * time in compilers of devices. */
#include "backend/opencl/codegen/write.h"
#include "ir/lookup.h"

static const vyre_type integers[] = {VYRE_TYPE_I8,  VYRE_TYPE_U8,  VYRE_TYPE_I16, VYRE_TYPE_U16,
                                     VYRE_TYPE_I32, VYRE_TYPE_U32, VYRE_TYPE_I64, VYRE_TYPE_U64};
enum { INTEGERS = sizeof integers / sizeof *integers };

static uint32_t truncation_of(vyre_type from, vyre_type to) {
    uint32_t functions = 0;
    for (uint32_t i = 0; i < INTEGERS; i++) {
        uint32_t function =
            OPENCL_TRUNCATION + (from == VYRE_TYPE_F64 ? (uint32_t)INTEGERS : 0) + i;
        functions |= to == integers[i] ? OPENCL_FUNCTION(function) : 0;
    }
    return functions;
}

/* That for f32, for f64, or none. */
static uint32_t by_type(vyre_type type, opencl_function f32, opencl_function f64) {
    return type == VYRE_TYPE_F32   ? OPENCL_FUNCTION(f32)
           : type == VYRE_TYPE_F64 ? OPENCL_FUNCTION(f64)
                                   : 0;
}

uint32_t opencl_functions_of(vyre_op op, vyre_type type, vyre_type result) {
    uint32_t functions = 0;
    if (op == VYRE_OP_MIN) {
        functions = by_type(type, OPENCL_MIN_F32, OPENCL_MIN_F64);
    } else if (op == VYRE_OP_MAX) {
        functions = by_type(type, OPENCL_MAX_F32, OPENCL_MAX_F64);
    } else if (op == VYRE_OP_CONVERT && (type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64)) {
        functions = truncation_of(type, result);
    } else if (op == VYRE_OP_REVERSE_BITS) {
        functions = OPENCL_FUNCTION(OPENCL_REVERSE_32);
        functions |= vyre_type_bytes(type) == 8 ? OPENCL_FUNCTION(OPENCL_REVERSE_64) : 0;
    }
    return functions;
}

static void write_reverses(vyre_strbuf *out, bool wide) {
    vyre_strbuf_puts(out, wide ? "static inline ulong vyre_reverse_64(ulong x) {\n"
                                 "    return (ulong)vyre_reverse_32((uint)x) << 32 |\n"
                                 "           vyre_reverse_32((uint)(x >> 32));\n}\n"
                               : "static inline uint vyre_reverse_32(uint x) {\n"
                                 "    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;\n"
                                 "    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;\n"
                                 "    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;\n"
                                 "    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;\n"
                                 "    return x >> 16 | x << 16;\n}\n");
}

/* The smaller or the larger number: the other one where one is NaN, -0 before +0. */
static void write_extreme(vyre_strbuf *out, vyre_type of, bool is_max) {
    const char *type = opencl_type(of), *bits = opencl_unsigned_type(of);
    const char *less = is_max ? ">" : "<", *more = is_max ? "<" : ">";
    vyre_strbuf_printf(out,
                       "static inline %s vyre_%s_%s(%s a, %s b) {\n"
                       "    %s same = as_%s(as_%s(a) %s as_%s(b));\n"
                       "    return a %s b || b != b ? a : a %s b || a != a ? b : same;\n}\n",
                       type, is_max ? "max" : "min", type, type, type, type, type, bits,
                       is_max ? "&" : "|", bits, less, more);
}

/* A NaN gives -infinity and +infinity, and any other number twice itself: what both have, and what
 * they differ in moved behind the exponent. There is no comparison in it. */
static void write_canonical(vyre_strbuf *out, vyre_type of) {
    bool is_f64 = of == VYRE_TYPE_F64;
    const char *type = opencl_type(of), *bits = opencl_unsigned_type(of), *end = is_f64 ? "" : "f";
    vyre_strbuf_printf(out,
                       "static inline %s vyre_canonical_%s(%s x) {\n"
                       "    const %s low = as_%s(__builtin_fmax%s(x, -INFINITY));\n"
                       "    const %s high = as_%s(__builtin_fmin%s(x, INFINITY));\n"
                       "    return as_%s((low & high) | (low ^ high) >> %u);\n}\n",
                       type, type, type, bits, bits, end, bits, bits, end, type, is_f64 ? 12 : 9);
}

/* Truncated, then clamped to the type; 0 for a NaN. What the cast makes of other numbers is not
 * taken. Each choice is between variables, so that no compiler makes branches of them, which PoCL
 * makes no vectors of. */
static void write_truncation(vyre_strbuf *out, vyre_type from, vyre_type to) {
    bool is_signed = opencl_is_signed(to);
    uint32_t bits = vyre_type_bytes(to) * 8, k = bits - is_signed;
    const char *suffix = from == VYRE_TYPE_F64 ? "" : "f", *type = opencl_type(to);
    const char *number = opencl_type(from);
    uint64_t most = UINT64_MAX >> (64 - bits) >> is_signed;
    opencl_name greatest = opencl_constant(to, most);
    opencl_name least = opencl_constant(to, is_signed ? most + 1 : 0);
    vyre_strbuf_printf(out,
                       "static inline %s vyre_%s_of_%s(%s x) {\n"
                       "    const %s least = %s, most = %s, zero = 0;\n"
                       "    const %s whole = (%s)%sx;\n"
                       "    const %s low = x >= 0x1p%u%s ? most : whole;\n",
                       type, type, number, number, type, least.text, greatest.text, type, type,
                       bits >= 32  ? ""
                       : is_signed ? "(int)"
                                   : "(uint)",
                       type, k, suffix);
    if (is_signed) {
        vyre_strbuf_printf(out,
                           "    const %s inside = x <= -0x1p%u%s ? least : low;\n"
                           "    return x != x ? zero : inside;\n}\n",
                           type, k, suffix);
    } else {
        vyre_strbuf_printf(out, "    return x > 0.0%s ? low : zero;\n}\n", suffix);
    }
}

/* What lanes of a warp do together. A compiler may not move it to where fewer of them are. */
static const char shuffle_32[] =
    "static inline uint vyre_shuffle_32(uint x, uint lane, uint members) {\n"
    "    uint found;\n"
    "    asm volatile(\"shfl.sync.idx.b32 %0, %1, %2, 31, %3;\"\n"
    "                 : \"=r\"(found) : \"r\"(x), \"r\"(lane), \"r\"(members));\n"
    "    return found;\n}\n";
static const char shuffle_64[] =
    "static inline ulong vyre_shuffle_64(ulong x, uint lane, uint members) {\n"
    "    const uint low = vyre_shuffle_32((uint)x, lane, members);\n"
    "    const uint high = vyre_shuffle_32((uint)(x >> 32), lane, members);\n"
    "    return (ulong)high << 32 | low;\n}\n";
static const char ballot[] = "static inline uint vyre_ballot(uint x, uint members) {\n"
                             "    uint found;\n"
                             "    asm volatile(\"{ .reg .pred p; setp.ne.u32 p, %1, 0; \"\n"
                             "                 \"vote.sync.ballot.b32 %0, p, %2; }\"\n"
                             "                 : \"=r\"(found) : \"r\"(x), \"r\"(members));\n"
                             "    return found;\n}\n";
static const char dot[] =
    "static inline int vyre_dot(uint x, uint y, int sum) {\n"
    "    int found;\n"
    "    asm(\"dp4a.s32.s32 %0, %1, %2, %3;\" : \"=r\"(found) : \"r\"(x), \"r\"(y), \"r\"(sum));\n"
    "    return found;\n}\n";

static void write_function(vyre_strbuf *out, opencl_function function) {
    switch (function) {
    case OPENCL_REVERSE_32: write_reverses(out, false); return;
    case OPENCL_REVERSE_64: write_reverses(out, true); return;
    case OPENCL_MIN_F32: write_extreme(out, VYRE_TYPE_F32, false); return;
    case OPENCL_MIN_F64: write_extreme(out, VYRE_TYPE_F64, false); return;
    case OPENCL_MAX_F32: write_extreme(out, VYRE_TYPE_F32, true); return;
    case OPENCL_MAX_F64: write_extreme(out, VYRE_TYPE_F64, true); return;
    case OPENCL_CANONICAL_F32: write_canonical(out, VYRE_TYPE_F32); return;
    case OPENCL_CANONICAL_F64: write_canonical(out, VYRE_TYPE_F64); return;
    case OPENCL_FENCE:
        vyre_strbuf_puts(out, "static inline void vyre_fence(void) {\n"
                              "    asm volatile(\"membar.gl;\" ::: \"memory\");\n}\n");
        return;
    case OPENCL_SHUFFLE_32: vyre_strbuf_puts(out, shuffle_32); return;
    case OPENCL_SHUFFLE_64: vyre_strbuf_puts(out, shuffle_64); return;
    case OPENCL_BALLOT: vyre_strbuf_puts(out, ballot); return;
    case OPENCL_DOT: vyre_strbuf_puts(out, dot); return;
    case OPENCL_TRUNCATION:
    case OPENCL_FUNCTION_COUNT: break;
    }
    uint32_t number = function - OPENCL_TRUNCATION;
    write_truncation(out, number < INTEGERS ? VYRE_TYPE_F32 : VYRE_TYPE_F64,
                     integers[number % INTEGERS]);
}

void opencl_write_functions(vyre_strbuf *out, uint32_t functions) {
    for (uint32_t i = 0; i < OPENCL_FUNCTION_COUNT; i++) {
        if (functions & OPENCL_FUNCTION(i)) {
            write_function(out, (opencl_function)i);
        }
    }
}
