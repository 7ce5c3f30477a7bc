#include "backend/cpu/codegen/write_parts.h"
#include "ir/eval.h"
#include "ir/lookup.h"

#include <stdio.h>

/* What LLVM does not do right for vectors on AArch64: a 64-bit integer becomes an f32 by way of an
 * f64, and a choice between a float and a bound an instruction that keeps a NaN that signals. */
#if defined(__aarch64__)
static const bool rounds_twice = true, may_keep_nan = true;
#else
static const bool rounds_twice = false, may_keep_nan = false;
#endif

/* f16 and bf16 */

/* LLVM's half, which needs the machine's instructions: without them it would call functions. */
static uint32_t half_cast(cpu_site s, const char *name, const char *from, uint32_t a,
                          const char *to) {
    if (s.lanes == 1) {
        return cpu_put(s, "%s %s %%t%u to %s", name, from, a, to);
    }
    return cpu_put(s, "%s <%u x %s> %%t%u to <%u x %s>", name, s.lanes, from, a, s.lanes, to);
}

/* As in src/ir/eval_half.h, where the integer forms are explained. */
uint32_t cpu_widen(cpu_site s, vyre_type type, uint32_t a) {
    const vyre_type u32 = VYRE_TYPE_U32;
    if (type == VYRE_TYPE_BF16) {
        uint32_t bits = cpu_put_cast(s, "zext", type, u32, a);
        return cpu_put_from_bits(s, VYRE_TYPE_F32, cpu_put_with(s, "shl", u32, bits, 16));
    }
    if (s.w->has_half) {
        /* The fence keeps LLVM from computing in half, one lane at a time. */
        a = half_cast(s, "fpext", "half", half_cast(s, "bitcast", "i16", a, "half"), "float");
        return cpu_put_call(s, "arithmetic.fence", VYRE_TYPE_F32, 1, a, 0, 0);
    }
    uint32_t bits = cpu_put_cast(s, "sext", type, u32, a);
    uint32_t sign = cpu_put_with(s, "and", u32, bits, 0x80000000);
    uint32_t rest = cpu_put_with(s, "and", u32, cpu_put_with(s, "shl", u32, bits, 13), 0x0fffe000);
    uint32_t scaled = cpu_put_with(s, "fmul", VYRE_TYPE_F32,
                                   cpu_put_from_bits(s, VYRE_TYPE_F32, rest), 0x77800000);
    uint32_t special = cpu_put_with(s, "or", u32, rest, 0x7f800000);
    uint32_t is_special = cpu_put_with(s, "icmp sgt", u32, rest, 0x0f7fffff);
    uint32_t value =
        cpu_put_select(s, u32, is_special, special, cpu_put_bits(s, VYRE_TYPE_F32, scaled));
    return cpu_put_from_bits(s, VYRE_TYPE_F32, cpu_put_two(s, "or", u32, value, sign));
}

/* An f32's NaN becomes `nan`, everything else the lower half of `bits`. */
static uint32_t narrow_bits(cpu_site s, vyre_type type, uint32_t a, uint32_t bits, uint64_t nan) {
    uint32_t is_nan = cpu_put_two(s, "fcmp uno", VYRE_TYPE_F32, a, a);
    uint32_t canonical = cpu_put_const(s, VYRE_TYPE_U32, nan);
    bits = cpu_put_select(s, VYRE_TYPE_U32, is_nan, canonical, bits);
    return cpu_put_cast(s, "trunc", VYRE_TYPE_U32, type, bits);
}

static uint32_t narrow_f16(cpu_site s, uint32_t a) {
    const vyre_type u32 = VYRE_TYPE_U32, f32 = VYRE_TYPE_F32;
    if (s.w->has_half) {
        uint32_t half = half_cast(s, "fptrunc", "float", a, "half");
        uint32_t bits = half_cast(s, "bitcast", "half", half, "i16");
        uint32_t magnitude = cpu_put_with(s, "and", VYRE_TYPE_I16, bits, 0x7fff);
        uint32_t is_nan = cpu_put_with(s, "icmp sgt", VYRE_TYPE_I16, magnitude, 0x7c00);
        return cpu_put_select(s, VYRE_TYPE_I16, is_nan, cpu_put_const(s, VYRE_TYPE_I16, 0x7e00),
                              bits);
    }
    uint32_t bits = cpu_put_bits(s, f32, a);
    uint32_t rest = cpu_put_with(s, "and", u32, bits, 0x7fffffff);
    uint32_t sign = cpu_put_with(s, "lshr", u32, cpu_put_two(s, "xor", u32, bits, rest), 16);
    uint32_t last = cpu_put_with(s, "and", u32, cpu_put_with(s, "lshr", u32, rest, 13), 1);
    uint32_t normal = cpu_put_two(s, "add", u32, rest, last);
    /* Less the difference of the exponents' zeros, in the same addition. */
    normal = cpu_put_with(s, "add", u32, normal, 0xfff - ((uint64_t)112 << 23));
    normal = cpu_put_with(s, "lshr", u32, normal, 13);
    uint32_t sum = cpu_put_with(s, "fadd", f32, cpu_put_from_bits(s, f32, rest), 0x3f000000);
    uint32_t subnormal = cpu_put_with(s, "sub", u32, cpu_put_bits(s, f32, sum), 0x3f000000);
    uint32_t is_subnormal = cpu_put_with(s, "icmp slt", u32, rest, 0x38800000);
    uint32_t result = cpu_put_select(s, u32, is_subnormal, subnormal, normal);
    uint32_t overflows = cpu_put_with(s, "icmp sgt", u32, rest, 0x477fefff);
    result = cpu_put_select(s, u32, overflows, cpu_put_const(s, u32, 0x7c00), result);
    result = cpu_put_two(s, "or", u32, result, sign);
    return narrow_bits(s, VYRE_TYPE_F16, a, result, 0x7e00);
}

uint32_t cpu_narrow(cpu_site s, vyre_type type, uint32_t a) {
    if (type == VYRE_TYPE_F16) {
        return narrow_f16(s, a);
    }
    const vyre_type u32 = VYRE_TYPE_U32;
    uint32_t bits = cpu_put_bits(s, VYRE_TYPE_F32, a);
    uint32_t last = cpu_put_with(s, "and", u32, cpu_put_with(s, "lshr", u32, bits, 16), 1);
    bits = cpu_put_with(s, "add", u32, cpu_put_two(s, "add", u32, bits, last), 0x7fff);
    return narrow_bits(s, type, a, cpu_put_with(s, "lshr", u32, bits, 16), 0x7fc0);
}

uint32_t cpu_narrow_exact(cpu_site s, vyre_type type, uint32_t a) {
    if (type == VYRE_TYPE_F16) {
        return narrow_f16(s, a);
    }
    uint32_t bits = cpu_put_bits(s, VYRE_TYPE_F32, a);
    return narrow_bits(s, type, a, cpu_put_with(s, "lshr", VYRE_TYPE_U32, bits, 16), 0x7fc0);
}

/* f64 to f16 or bf16 goes through an f32 that remembers in its last bit that something was lost: it
 * rounds as the f64 would have. */
static uint32_t narrow_f64(cpu_site s, vyre_type type, uint32_t a) {
    const vyre_type u32 = VYRE_TYPE_U32, u64 = VYRE_TYPE_U64, f32 = VYRE_TYPE_F32,
                    f64 = VYRE_TYPE_F64;
    if (type == VYRE_TYPE_F16) {
        /* A number too small for a normal f32 is 0 for an f16 in any case. */
        const uint64_t lost = 0x1fffffff;
        uint32_t bits = cpu_put_bits(s, f64, a);
        uint32_t sticky = cpu_put_with(s, "and", u64, bits, lost);
        sticky = cpu_put_two(s, "or", u64, cpu_put_with(s, "add", u64, sticky, lost), bits);
        sticky = cpu_put_with(s, "and", u64, sticky, ~lost);
        uint32_t cut = cpu_put_from_bits(s, f64, sticky);
        return cpu_narrow(s, type, cpu_put_cast(s, "fptrunc", f64, f32, cut));
    }
    /* To zero, whatever the direction it was rounded in, then the last bit. */
    uint32_t rounded = cpu_put_cast(s, "fptrunc", f64, f32, a);
    uint32_t back = cpu_put_cast(s, "fpext", f32, f64, rounded);
    uint32_t above = cpu_put_two(s, "fcmp ogt", f64, cpu_put_call(s, "fabs", f64, 1, back, 0, 0),
                                 cpu_put_call(s, "fabs", f64, 1, a, 0, 0));
    uint32_t inexact = cpu_put_two(s, "fcmp une", f64, back, a);
    uint32_t bits = cpu_put_bits(s, f32, rounded);
    bits = cpu_put_two(s, "add", u32, bits, cpu_put_cast(s, "sext", VYRE_TYPE_BOOL, u32, above));
    bits = cpu_put_two(s, "or", u32, bits, cpu_put_cast(s, "zext", VYRE_TYPE_BOOL, u32, inexact));
    return cpu_narrow(s, type, cpu_put_from_bits(s, f32, bits));
}

/* Integers to floats */

/* An integer of more bits than `kept` with those that do not fit folded into the lowest that does:
 * it converts exactly to a float of that many bits, and rounds from there as it would itself. */
static uint32_t fold(cpu_site s, vyre_type type, uint32_t a, uint32_t kept) {
    uint64_t lost = ((uint64_t)1 << (cpu_width(type) - kept)) - 1;
    uint32_t folded = cpu_put_with(s, "add", type, cpu_put_with(s, "and", type, a, lost), lost);
    folded = cpu_put_with(s, "and", type, cpu_put_two(s, "or", type, folded, a), ~lost);
    uint32_t rest = a, shift = kept;
    if (cpu_is_signed(type)) {
        rest = cpu_put_with(s, "add", type, a, (uint64_t)1 << kept);
        shift++;
    }
    rest = cpu_put_with(s, "lshr", type, rest, shift);
    uint32_t fits = cpu_put_with(s, "icmp eq", type, rest, 0);
    return cpu_put_select(s, type, fits, a, folded);
}

/* 64-bit integers to f64 without an instruction for it: the halves become mantissas of 2^84 and
 * 2^52, and the sum without these is rounded once. */
static uint32_t f64_from_halves(cpu_site s, vyre_type type, uint32_t a) {
    const vyre_type u64 = VYRE_TYPE_U64, f64 = VYRE_TYPE_F64;
    uint32_t high = a;
    uint64_t excess = 0x4530000000100000; /* 2^84 + 2^52 */
    if (cpu_is_signed(type)) {
        high = cpu_put_with(s, "xor", u64, a, 0x8000000000000000);
        excess = 0x4530000080100000; /* 2^84 + 2^63 + 2^52 */
    }
    high = cpu_put_with(s, "or", u64, cpu_put_with(s, "lshr", u64, high, 32), 0x4530000000000000);
    uint32_t low = cpu_put_with(s, "and", u64, a, 0xffffffff);
    low = cpu_put_with(s, "or", u64, low, 0x4330000000000000);
    uint32_t sum = cpu_put_with(s, "fsub", f64, cpu_put_from_bits(s, f64, high), excess);
    return cpu_put_two(s, "fadd", f64, sum, cpu_put_from_bits(s, f64, low));
}

/* To f32 or f64. */
static uint32_t wide_from_integer(cpu_site s, vyre_type from, vyre_type to, uint32_t a) {
    if (cpu_width(from) < 32) {
        const char *extend = cpu_is_signed(from) ? "sext" : "zext";
        a = cpu_put_cast(s, extend, from, VYRE_TYPE_I32, a);
        return cpu_put_cast(s, "sitofp", VYRE_TYPE_I32, to, a);
    }
    bool is_long = cpu_width(from) == 64 && s.lanes > 1;
    if (is_long && to == VYRE_TYPE_F32 && (!s.w->has_long || rounds_twice)) {
        uint32_t exact = wide_from_integer(s, from, VYRE_TYPE_F64, fold(s, from, a, 53));
        return cpu_put_cast(s, "fptrunc", VYRE_TYPE_F64, to, exact);
    }
    if (is_long && !s.w->has_long) {
        return f64_from_halves(s, from, a);
    }
    return cpu_put_cast(s, cpu_is_signed(from) ? "sitofp" : "uitofp", from, to, a);
}

static uint32_t float_from_integer(cpu_site s, vyre_type from, vyre_type to, uint32_t a) {
    const vyre_type f32 = VYRE_TYPE_F32, f64 = VYRE_TYPE_F64;
    if (vyre_type_bytes(to) > 2) {
        return wide_from_integer(s, from, to, a);
    }
    if (to == VYRE_TYPE_F16 && cpu_width(from) == 64) {
        /* Beyond 65536 all is infinite. */
        uint32_t above = cpu_put_const(s, from, 65536);
        a = cpu_put_call(s, cpu_is_signed(from) ? "smin" : "umin", from, 2, a, above, 0);
        if (cpu_is_signed(from)) {
            uint32_t below = cpu_put_const(s, from, (uint64_t)0 - 65536);
            a = cpu_put_call(s, "smax", from, 2, a, below, 0);
        }
        a = cpu_put_cast(s, "trunc", from, VYRE_TYPE_I32, a);
        from = VYRE_TYPE_I32;
    }
    if (to == VYRE_TYPE_BF16 && cpu_width(from) == 64) {
        return narrow_f64(s, to, wide_from_integer(s, from, f64, fold(s, from, a, 53)));
    }
    if (to == VYRE_TYPE_BF16 && cpu_width(from) == 32) {
        a = fold(s, from, a, 24);
    }
    return cpu_narrow(s, to, wide_from_integer(s, from, f32, a));
}

/* Floats to integers */

static uint64_t power_of_two(vyre_type type, uint32_t exponent) {
    return type == VYRE_TYPE_F32 ? (uint64_t)(127 + exponent) << 23
                                 : (uint64_t)(1023 + exponent) << 52;
}

/* The larger one, and `low` for a NaN: an instruction of x86. */
static uint32_t at_least(cpu_site s, vyre_type type, uint32_t a, uint64_t low) {
    uint32_t bound = cpu_put_const(s, type, low);
    return cpu_put_select(s, type, cpu_put_two(s, "fcmp ogt", type, a, bound), a, bound);
}

static uint32_t at_most(cpu_site s, vyre_type type, uint32_t a, uint64_t high) {
    uint32_t bound = cpu_put_const(s, type, high);
    return cpu_put_select(s, type, cpu_put_two(s, "fcmp olt", type, a, bound), a, bound);
}

/* An f64 in the range of a 64-bit type, towards zero, without an instruction for it: halves as
 * above. */
static uint32_t halves_from_f64(cpu_site s, uint32_t a) {
    const vyre_type u64 = VYRE_TYPE_U64, f64 = VYRE_TYPE_F64;
    uint32_t whole = cpu_put_call(s, "trunc", f64, 1, a, 0, 0);
    uint32_t high = cpu_put_with(s, "fmul", f64, whole, 0x3df0000000000000);
    high = cpu_put_call(s, "floor", f64, 1, high, 0, 0);
    uint32_t low =
        cpu_put_two(s, "fsub", f64, whole, cpu_put_with(s, "fmul", f64, high, 0x41f0000000000000));
    high = cpu_put_bits(s, f64, cpu_put_with(s, "fadd", f64, high, 0x4338000000000000));
    low = cpu_put_bits(s, f64, cpu_put_with(s, "fadd", f64, low, 0x4330000000000000));
    low = cpu_put_with(s, "and", u64, low, 0xffffffff);
    return cpu_put_two(s, "or", u64, cpu_put_with(s, "shl", u64, high, 32), low);
}

/* One scalar: an intrinsic has the very rules. */
static uint32_t integer_from_scalar(cpu_site s, vyre_type from, vyre_type to, uint32_t a) {
    char name[CPU_INTRINSIC_BYTES];
    cpu_type_text source = cpu_type(from, 1), target = cpu_type(to, 1);
    snprintf(name, sizeof name, "llvm.fpto%si.sat.%s.f%u", cpu_is_signed(to) ? "s" : "u",
             target.text, (unsigned)cpu_width(from));
    cpu_write_declare(s.w, "declare %s @%s(%s)", target.text, name, source.text);
    return cpu_put(s, "call %s @%s(%s %%t%u)", target.text, name, source.text, a);
}

/* A vector, from f32 or f64. A bound that the float cannot tell from the next number is left out
 * before the conversion, whose result then is anything, and chosen after it. */
static uint32_t integer_from_vector(cpu_site s, vyre_type from, vyre_type to, uint32_t a) {
    bool sign = cpu_is_signed(to);
    uint32_t magnitude = cpu_width(to) - sign;
    uint64_t low = sign ? power_of_two(from, magnitude) | (uint64_t)1 << (cpu_width(from) - 1) : 0;
    bool exact = cpu_width(to) < 32 || (cpu_width(to) == 32 && from == VYRE_TYPE_F64);
    uint64_t highest = ~(uint64_t)0 >> (64 - magnitude);
    vyre_type through = cpu_width(to) < 32 ? VYRE_TYPE_I32 : to;
    uint32_t inside = at_least(s, from, a, low), result;
    if (exact) {
        /* 2^n less the last unit of a number below it: as many ones as the type has. */
        uint64_t top = power_of_two(from, magnitude) -
                       ((uint64_t)1 << ((from == VYRE_TYPE_F32 ? 24 : 53) - magnitude));
        inside = at_most(s, from, inside, top);
    }
    if (cpu_width(to) == 64 && !s.w->has_long) {
        inside =
            from == VYRE_TYPE_F64 ? inside : cpu_put_cast(s, "fpext", from, VYRE_TYPE_F64, inside);
        result = halves_from_f64(s, inside);
    } else {
        result =
            cpu_put_cast(s, cpu_is_signed(through) ? "fptosi" : "fptoui", from, through, inside);
    }
    if (!exact) {
        uint32_t above = cpu_put_with(s, "fcmp oge", from, a, power_of_two(from, magnitude));
        result = cpu_put_select(s, to, above, cpu_put_const(s, to, highest), result);
    }
    if (sign || may_keep_nan) {
        uint32_t number = cpu_put_two(s, "fcmp ord", from, a, a);
        result = cpu_put_select(s, through, number, result, cpu_put_const(s, through, 0));
    }
    return through == to ? result : cpu_put_cast(s, "trunc", through, to, result);
}

static uint32_t integer_from_float(cpu_site s, vyre_type from, vyre_type to, uint32_t a) {
    if (vyre_type_bytes(from) == 2) {
        a = cpu_widen(s, from, a);
        from = VYRE_TYPE_F32;
    }
    return s.lanes == 1 ? integer_from_scalar(s, from, to, a) : integer_from_vector(s, from, to, a);
}

/* All of them */

static uint32_t float_from_float(cpu_site s, vyre_type from, vyre_type to, uint32_t a) {
    if (from == VYRE_TYPE_F64) {
        return to == VYRE_TYPE_F32 ? cpu_put_cast(s, "fptrunc", from, to, a) : narrow_f64(s, to, a);
    }
    if (from != VYRE_TYPE_F32) {
        a = cpu_widen(s, from, a);
    }
    return to == VYRE_TYPE_F32   ? a
           : to == VYRE_TYPE_F64 ? cpu_put_cast(s, "fpext", VYRE_TYPE_F32, to, a)
                                 : cpu_narrow(s, to, a);
}

static uint32_t to_bool(cpu_site s, vyre_type from, uint32_t a) {
    if (from == VYRE_TYPE_F32 || from == VYRE_TYPE_F64) {
        return cpu_put_with(s, "fcmp une", from, a, 0);
    }
    if (vyre_lookup_class(from) == VYRE_CLASS_FLOAT) {
        a = cpu_put_with(s, "and", from, a, 0x7fff);
    }
    return cpu_put_with(s, "icmp ne", from, a, 0);
}

static uint32_t from_bool(cpu_site s, vyre_type to, uint32_t a) {
    uint64_t one = vyre_eval_identity(VYRE_COMBINE_MUL, to);
    if (vyre_lookup_class(to) != VYRE_CLASS_FLOAT) {
        return cpu_put_cast(s, "zext", VYRE_TYPE_BOOL, to, a);
    }
    return cpu_put_select(s, to, a, cpu_put_const(s, to, one), cpu_put_const(s, to, 0));
}

static uint32_t integer_from_integer(cpu_site s, vyre_type from, vyre_type to, uint32_t a) {
    if (cpu_width(from) == cpu_width(to)) {
        return a;
    }
    const char *extend = cpu_is_signed(from) ? "sext" : "zext";
    return cpu_put_cast(s, cpu_width(to) < cpu_width(from) ? "trunc" : extend, from, to, a);
}

uint32_t cpu_convert(cpu_site s, vyre_type from, vyre_type to, uint32_t a) {
    bool from_float = vyre_lookup_class(from) == VYRE_CLASS_FLOAT;
    bool to_float = vyre_lookup_class(to) == VYRE_CLASS_FLOAT;
    if (to == VYRE_TYPE_BOOL) {
        return to_bool(s, from, a);
    }
    if (from == VYRE_TYPE_BOOL) {
        return from_bool(s, to, a);
    }
    if (from_float) {
        return to_float ? float_from_float(s, from, to, a) : integer_from_float(s, from, to, a);
    }
    return to_float ? float_from_integer(s, from, to, a) : integer_from_integer(s, from, to, a);
}
