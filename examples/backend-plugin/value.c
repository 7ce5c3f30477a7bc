#include "value.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

__extension__ typedef __int128 wide; /* holds every sum and, wrapping, every product */
__extension__ typedef unsigned __int128 unsigned_wide;

static unsigned width_of(vyre_type type) {
    return type == VYRE_TYPE_BOOL ? 1 : 8 * vyre_type_bytes(type);
}

static bool is_float(vyre_type type) {
    return vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
}

static bool is_signed(vyre_type type) {
    return vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
}

uint64_t value_cut(vyre_type type, uint64_t bits) {
    return bits & UINT64_MAX >> (64 - width_of(type));
}

int64_t value_signed(vyre_type type, uint64_t bits) {
    uint64_t sign = UINT64_C(1) << (width_of(type) - 1);
    return (int64_t)(is_signed(type) ? (bits ^ sign) - sign : bits);
}

/* Floats of every format are computed as doubles, which hold each of them exactly. A double has
 * more than twice the digits of an f32, so that rounding + - * / and sqrt once more to the format
 * gives what rounding once would have given. */

static int mantissa_bits(vyre_type type) {
    return type == VYRE_TYPE_F16    ? 10
           : type == VYRE_TYPE_BF16 ? 7
           : type == VYRE_TYPE_F32  ? 23
                                    : 52;
}

static int largest_exponent(vyre_type type) {
    return type == VYRE_TYPE_F16 ? 15 : type == VYRE_TYPE_F64 ? 1023 : 127;
}

static double unpack(vyre_type type, uint64_t bits) {
    int digits = mantissa_bits(type), bias = largest_exponent(type);
    uint64_t mantissa = bits & ((UINT64_C(1) << digits) - 1);
    int exponent = (int)(bits >> digits) & (2 * bias + 1);
    bool negative = bits >> (width_of(type) - 1);
    double value;
    if (exponent == 2 * bias + 1) {
        value = mantissa ? NAN : INFINITY;
    } else if (exponent) {
        value = ldexp((double)(mantissa | UINT64_C(1) << digits), exponent - bias - digits);
    } else {
        value = ldexp((double)mantissa, 1 - bias - digits);
    }
    return negative ? -value : value;
}

/* Rounds to the format, to nearest even. Every NaN becomes the canonical one. */
static uint64_t pack(vyre_type type, double value) {
    int digits = mantissa_bits(type), bias = largest_exponent(type);
    uint64_t infinity = (uint64_t)(2 * bias + 1) << digits;
    uint64_t sign = signbit(value) ? UINT64_C(1) << (width_of(type) - 1) : 0;
    double size = fabs(value);
    if (isnan(value)) {
        return infinity | UINT64_C(1) << (digits - 1);
    }
    if (size == 0 || isinf(value)) {
        return sign | (isinf(value) ? infinity : 0);
    }
    int exponent = ilogb(size);
    int lowest = exponent > -bias ? exponent : 1 - bias; /* subnormals share the smallest one */
    uint64_t steps = (uint64_t)nearbyint(ldexp(size, digits - lowest));
    /* The highest digit, where there is one, adds itself to the exponent; so does a carry. */
    uint64_t bits = ((uint64_t)(lowest + bias - 1) << digits) + steps;
    return sign | (bits > infinity ? infinity : bits);
}

/* Ignores one NaN, and orders -0 before +0. */
static double smaller(double x, double y) {
    if (isnan(x) || isnan(y)) {
        return isnan(x) ? y : x;
    }
    return x < y || (x == y && signbit(x)) ? x : y;
}

/* x y + z of f16 and bf16, rounded to odd: the product is exact, and a sum that is not becomes the
 * one of its two neighbours whose last bit is set. Rounding that to the format gives what rounding
 * the exact sum once would have given. */
static double fused_narrow(double x, double y, double z) {
    double product = x * y, sum = product + z;
    double part = sum - product, error = (product - (sum - part)) + (z - part);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    bool is_exact = !(error < 0 || error > 0); /* also where it is infinite */
    return is_exact || bits & 1 ? sum : nextafter(sum, error > 0 ? INFINITY : -INFINITY);
}

static double fused(vyre_type type, double x, double y, double z) {
    return type == VYRE_TYPE_F64   ? fma(x, y, z)
           : type == VYRE_TYPE_F32 ? fmaf((float)x, (float)y, (float)z)
                                   : fused_narrow(x, y, z);
}

static uint64_t compute_float(vyre_op op, vyre_type type, uint64_t a, uint64_t b, uint64_t c) {
    uint64_t sign = UINT64_C(1) << (width_of(type) - 1);
    double x = unpack(type, a), y = unpack(type, b);
    switch (op) {
    case VYRE_OP_NEG: return a ^ sign;
    case VYRE_OP_ABS: return a & ~sign;
    case VYRE_OP_COPYSIGN: return (a & ~sign) | (b & sign);
    case VYRE_OP_EQ: return x == y;
    case VYRE_OP_NE: return x != y;
    case VYRE_OP_LT: return x < y;
    case VYRE_OP_LE: return x <= y;
    case VYRE_OP_ADD: return pack(type, x + y);
    case VYRE_OP_SUB: return pack(type, x - y);
    case VYRE_OP_MUL: return pack(type, x * y);
    case VYRE_OP_DIV: return pack(type, x / y);
    case VYRE_OP_MIN: return pack(type, smaller(x, y));
    case VYRE_OP_MAX: return pack(type, -smaller(-x, -y));
    case VYRE_OP_FMA: return pack(type, fused(type, x, y, unpack(type, c)));
    case VYRE_OP_SQRT: return pack(type, sqrt(x));
    case VYRE_OP_FLOOR: return pack(type, floor(x));
    case VYRE_OP_CEIL: return pack(type, ceil(x));
    case VYRE_OP_TRUNC: return pack(type, trunc(x));
    case VYRE_OP_ROUND: return pack(type, nearbyint(x));
    default: return 0; /* not among the operations of backend.c */
    }
}

/* Integers and bools */

static wide extend(vyre_type type, uint64_t bits) {
    return is_signed(type) ? (wide)value_signed(type, bits) : (wide)bits;
}

static wide clamp(vyre_type type, wide number) {
    wide above = (wide)1 << (width_of(type) - is_signed(type)); /* the first that is too large */
    wide least = is_signed(type) ? -above : 0;
    return number < least ? least : number >= above ? above - 1 : number;
}

static uint64_t reverse(unsigned width, uint64_t bits) {
    uint64_t result = 0;
    for (unsigned i = 0; i < width; i++) {
        result |= (bits >> i & 1) << (width - 1 - i);
    }
    return result;
}

static uint64_t count_ones(uint64_t bits) {
    uint64_t count = 0;
    for (; bits; bits &= bits - 1) {
        count++;
    }
    return count;
}

static uint64_t trailing_zeros(unsigned width, uint64_t bits) {
    return bits ? count_ones((bits & -bits) - 1) : width;
}

static uint64_t compute_integer(vyre_op op, vyre_type type, uint64_t a, uint64_t b) {
    unsigned width = width_of(type), n = (unsigned)b % width;
    wide x = extend(type, a), y = extend(type, b);
    switch (op) {
    case VYRE_OP_ADD: return (uint64_t)(x + y);
    case VYRE_OP_SUB: return (uint64_t)(x - y);
    case VYRE_OP_MUL: return a * b;
    case VYRE_OP_DIV: return (uint64_t)(y == 0 ? x : x / y);
    case VYRE_OP_REM: return (uint64_t)(y == 0 ? 0 : x % y);
    case VYRE_OP_MIN: return x < y ? a : b;
    case VYRE_OP_MAX: return x > y ? a : b;
    case VYRE_OP_NEG: return -a;
    case VYRE_OP_ABS: return x < 0 ? -a : a;
    case VYRE_OP_MUL_HIGH: return (uint64_t)((unsigned_wide)x * (unsigned_wide)y >> width);
    case VYRE_OP_ADD_SAT: return (uint64_t)clamp(type, x + y);
    case VYRE_OP_SUB_SAT: return (uint64_t)clamp(type, x - y);
    case VYRE_OP_AND: return a & b;
    case VYRE_OP_OR: return a | b;
    case VYRE_OP_XOR: return a ^ b;
    case VYRE_OP_NOT: return ~a;
    case VYRE_OP_SHL: return a << n;
    case VYRE_OP_SHR: return (uint64_t)(x >> n);
    case VYRE_OP_ROTL: return a << n | (n ? a >> (width - n) : 0);
    case VYRE_OP_ROTR: return a >> n | (n ? a << (width - n) : 0);
    case VYRE_OP_CLZ: return trailing_zeros(width, reverse(width, a));
    case VYRE_OP_CTZ: return trailing_zeros(width, a);
    case VYRE_OP_POPCOUNT: return count_ones(a);
    case VYRE_OP_REVERSE_BITS: return reverse(width, a);
    case VYRE_OP_EQ: return x == y;
    case VYRE_OP_NE: return x != y;
    case VYRE_OP_LT: return x < y;
    case VYRE_OP_LE: return x <= y;
    default: return 0; /* not among the operations of backend.c */
    }
}

/* Conversions */

static uint64_t float_to_integer(vyre_type to, double value) {
    if (isnan(value)) {
        return 0;
    }
    double bound = ldexp(1, 65); /* beyond every type, inside of `wide` */
    value = value > bound ? bound : value < -bound ? -bound : value;
    return (uint64_t)clamp(to, (wide)value);
}

static uint64_t integer_to_float(vyre_type to, wide number) {
    if (to == VYRE_TYPE_F64) {
        return pack(to, (double)number);
    }
    /* What a double cannot hold is folded into its last digit, so that rounding happens once. */
    uint64_t size = (uint64_t)(number < 0 ? -number : number);
    double value =
        size >> 53 ? ldexp((double)(size >> 11 | ((size & 0x7ff) != 0)), 11) : (double)size;
    return pack(to, number < 0 ? -value : value);
}

static uint64_t convert(vyre_type from, vyre_type to, uint64_t a) {
    if (to == VYRE_TYPE_BOOL) {
        return is_float(from) ? unpack(from, a) != 0 : a != 0;
    }
    if (is_float(from)) {
        double value = unpack(from, a);
        return is_float(to) ? pack(to, value) : float_to_integer(to, value);
    }
    return is_float(to) ? integer_to_float(to, extend(from, a)) : (uint64_t)extend(from, a);
}

uint64_t value_compute(vyre_op op, vyre_type type, vyre_type to, uint64_t a, uint64_t b,
                       uint64_t c) {
    uint64_t result;
    switch (op) {
    case VYRE_OP_SELECT: return a ? b : c;
    case VYRE_OP_BITCAST: return a;
    case VYRE_OP_CONVERT: result = convert(type, to, a); break;
    default:
        result =
            is_float(type) ? compute_float(op, type, a, b, c) : compute_integer(op, type, a, b);
    }
    return value_cut(to, result);
}
