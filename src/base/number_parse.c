#include "base/number.h"

#include <string.h>

#include "base/big.h"

__extension__ typedef unsigned __int128 uint128;

enum {
    FAST_DIGITS = 19, /* below 2^64 */
    FAST_POWER = VYRE_POWERS_OF_5,
    EXACT_DIGITS = 800,   /* no value halfway between two f64 has more than 767 */
    LARGEST_POWER = 310,  /* 1e310 overflows every format, */
    SMALLEST_POWER = -400 /* 1e-400 is zero in every one */
};

/* A finite number other than 0: significand * 2^exponent, the significand's top bit set, plus less
 * than one unit if `more`. */
typedef struct binary {
    uint64_t significand;
    int exponent;
    bool more;
} binary;

/* What a decimal text says: `first` holds the first FAST_DIGITS digits from the first that is not
 * 0; the number is those digits, all `count` of them, times 10^exponent. */
typedef struct decimal {
    const char *start, *end; /* the text from its first digit that is not 0, with '.' and '_' */
    uint64_t first;
    size_t count;
    int64_t exponent;
} decimal;

static uint64_t infinity_of(vyre_float_format format) {
    return ((1ull << format.exponent_bits) - 1) << format.mantissa_bits;
}

static uint64_t nan_of(vyre_float_format format) {
    return infinity_of(format) | 1ull << (format.mantissa_bits - 1);
}

static uint64_t sign_of(vyre_float_format format, bool negative) {
    return (uint64_t)negative << (format.mantissa_bits + format.exponent_bits);
}

static uint64_t round_binary(binary number, vyre_float_format format, bool *overflow) {
    int bias = (1 << (format.exponent_bits - 1)) - 1;
    int exponent = number.exponent + 63 + bias; /* biased; 1 is the smallest normal one */
    bool normal = exponent >= 1;
    int dropped = 63 - format.mantissa_bits + (normal ? 0 : 1 - exponent);
    if (exponent >= (1 << format.exponent_bits) - 1) {
        *overflow = true;
        return infinity_of(format);
    }
    if (dropped > 64) {
        return 0; /* below half of the smallest subnormal */
    }
    uint64_t kept = dropped == 64 ? 0 : number.significand >> dropped;
    uint64_t rest = dropped == 64 ? number.significand : number.significand << (64 - dropped);
    const uint64_t half = 1ull << 63;
    kept += rest > half || (rest == half && (number.more || (kept & 1)));
    /* A carry out of the mantissa goes on into the exponent, which is what it means. */
    uint64_t bits = normal ? ((uint64_t)(exponent - 1) << format.mantissa_bits) + kept : kept;
    *overflow = bits >= infinity_of(format);
    return bits;
}

static binary normalise(uint128 number, int exponent, bool more) {
    uint64_t high = (uint64_t)(number >> 64), low = (uint64_t)number;
    if (!high) {
        int zeros = __builtin_clzll(low);
        return (binary){low << zeros, exponent - zeros, more};
    }
    int zeros = __builtin_clzll(high);
    number <<= zeros;
    return (binary){(uint64_t)(number >> 64), exponent - zeros + 64, more || (uint64_t)number != 0};
}

/* first * 10^power, where both are small: one multiplication or division is exact enough, because
 * what it leaves out is known to be zero or not. */
static binary scale_fast(uint64_t first, int power) {
    if (power >= 0) {
        return normalise((uint128)first * vyre_power_of_5((unsigned)power), power, false);
    }
    int zeros = __builtin_clzll(first);
    uint128 dividend = (uint128)(first << zeros) << 64;
    uint64_t divisor = vyre_power_of_5((unsigned)-power);
    return normalise(dividend / divisor, power - zeros - 64, dividend % divisor != 0);
}

/* The same for any number of digits and any power, in exact arithmetic. */
static binary scale_exact(const decimal *number) {
    vyre_big dividend, divisor;
    vyre_big_set(&dividend, 0);
    vyre_big_set(&divisor, 1);
    size_t used = 0;
    bool more = false;
    uint64_t group = 0, group_scale = 1;
    for (const char *at = number->start; at < number->end; at++) {
        if (*at == '.' || *at == '_') {
            continue;
        }
        if (used == EXACT_DIGITS) {
            more |= *at != '0';
            continue;
        }
        group = group * 10 + (uint64_t)(*at - '0');
        group_scale *= 10;
        used++;
        if (used % FAST_DIGITS == 0 || used == EXACT_DIGITS) {
            vyre_big_multiply_add(&dividend, group_scale, group);
            group = 0;
            group_scale = 1;
        }
    }
    vyre_big_multiply_add(&dividend, group_scale, group);
    int power = (int)(number->exponent + (int64_t)(number->count - used));
    if (more) {
        /* Beyond the digits that can decide, any rest is as good as a 1. */
        vyre_big_multiply_add(&dividend, 10, 1);
        power--;
    }
    vyre_big_multiply_power_of_5(power < 0 ? &divisor : &dividend,
                                 (unsigned)(power < 0 ? -power : power));

    /* Bring the quotient into [1, 2), then take its bits one by one. */
    int exponent = power;
    int shift = (int)vyre_big_bits(&divisor) - (int)vyre_big_bits(&dividend);
    vyre_big_shift_left(shift > 0 ? &dividend : &divisor, (unsigned)(shift > 0 ? shift : -shift));
    exponent -= shift;
    if (vyre_big_compare(&dividend, &divisor) < 0) {
        vyre_big_shift_left(&dividend, 1);
        exponent--;
    }
    uint64_t significand = 0;
    for (int i = 0; i < 64; i++) {
        significand <<= 1;
        if (vyre_big_compare(&dividend, &divisor) >= 0) {
            vyre_big_subtract(&dividend, &divisor);
            significand |= 1;
        }
        vyre_big_shift_left(&dividend, 1);
    }
    return (binary){significand, exponent - 63, dividend.count != 0};
}

unsigned vyre_digit_value(char c) {
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10 : 16;
}

/* Where the digits that start at `at` end; NULL if there are none or a '_' is not between two. */
static const char *skip_digits(const char *at, const char *end, unsigned base) {
    for (bool first = true;; first = false) {
        if (at < end && !first && *at == '_') {
            at++;
        } else if (!first) {
            return at;
        }
        if (at == end || vyre_digit_value(*at) >= base) {
            return NULL;
        }
        while (at < end && vyre_digit_value(*at) < base) {
            at++;
        }
    }
}

/* Behind a point there may be no digits. */
static const char *skip_fraction(const char *at, const char *end, unsigned base) {
    bool digits = at < end && (vyre_digit_value(*at) < base || *at == '_');
    return digits ? skip_digits(at, end, base) : at;
}

/* An exponent's sign and digits up to `end`; far values stay far but cannot overflow. */
static bool read_exponent(const char *at, const char *end, int64_t *exponent) {
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) {
        at++;
    }
    if (skip_digits(at, end, 10) != end) {
        return false;
    }
    int64_t value = 0;
    for (; at < end; at++) {
        if (*at != '_' && value < INT64_MAX / 100) {
            value = value * 10 + (*at - '0');
        }
    }
    *exponent = negative ? -value : value;
    return true;
}

static bool read_decimal(const char *at, const char *end, decimal *out) {
    const char *point = NULL, *integer_end = skip_digits(at, end, 10);
    const char *digits_end = integer_end;
    if (integer_end && integer_end < end && *integer_end == '.') {
        point = integer_end;
        digits_end = skip_fraction(point + 1, end, 10);
    }
    if (!digits_end) {
        return false;
    }
    *out = (decimal){.end = digits_end};
    if (digits_end < end &&
        ((*digits_end | 0x20) != 'e' || !read_exponent(digits_end + 1, end, &out->exponent))) {
        return false;
    }
    for (; at < digits_end; at++) {
        if (*at == '.' || *at == '_') {
            continue;
        }
        if (*at != '0' || out->count) {
            if (!out->count) {
                out->start = at;
            }
            if (out->count < FAST_DIGITS) {
                out->first = out->first * 10 + (uint64_t)(*at - '0');
            }
            out->count++;
        }
        out->exponent -= point && at > point;
    }
    return true;
}

static bool parse_decimal(const char *at, const char *end, vyre_float_format format, uint64_t *bits,
                          bool *overflow) {
    decimal number;
    if (!read_decimal(at, end, &number)) {
        return false;
    }
    *bits = 0;
    int64_t power = number.exponent + (int64_t)number.count; /* below 10^power, at least a tenth */
    if (number.count == 0 || power < SMALLEST_POWER) {
        return true;
    }
    if (power > LARGEST_POWER) {
        *bits = infinity_of(format);
        *overflow = true;
        return true;
    }
    bool fast = number.count <= FAST_DIGITS && number.exponent >= -FAST_POWER &&
                number.exponent <= FAST_POWER;
    binary value = fast ? scale_fast(number.first, (int)number.exponent) : scale_exact(&number);
    *bits = round_binary(value, format, overflow);
    return true;
}

static bool parse_hexadecimal(const char *at, const char *end, vyre_float_format format,
                              uint64_t *bits, bool *overflow) {
    const char *point = NULL, *digits_end = skip_digits(at, end, 16);
    if (digits_end && digits_end < end && *digits_end == '.') {
        point = digits_end;
        digits_end = skip_fraction(point + 1, end, 16);
    }
    int64_t exponent;
    if (!digits_end || digits_end == end || (*digits_end | 0x20) != 'p' ||
        !read_exponent(digits_end + 1, end, &exponent)) {
        return false;
    }
    uint64_t significand = 0;
    bool more = false;
    for (; at < digits_end; at++) {
        unsigned digit = vyre_digit_value(*at);
        if (digit >= 16) {
            continue;
        }
        if (significand >> 60) {
            more |= digit != 0;
            exponent += 4;
        } else {
            significand = significand << 4 | digit;
        }
        exponent -= point && at > point ? 4 : 0;
    }
    *bits = 0;
    if (significand == 0 || exponent < INT16_MIN) {
        return true;
    }
    int near = exponent > INT16_MAX ? INT16_MAX : (int)exponent;
    *bits = round_binary(normalise(significand, near, more), format, overflow);
    return true;
}

bool vyre_float_parse(const char *data, size_t size, vyre_float_format format, uint64_t *bits,
                      bool *overflow) {
    const char *at = data, *end = data + size;
    *overflow = false;
    bool negative = size && *at == '-';
    if (size && (*at == '-' || *at == '+')) {
        at++;
    }
    bool read = true;
    if (end - at >= 2 && at[0] == '0' && (at[1] | 0x20) == 'x') {
        read = parse_hexadecimal(at + 2, end, format, bits, overflow);
    } else if (end - at == 3 && memcmp(at, "inf", 3) == 0) {
        *bits = infinity_of(format);
    } else if (end - at == 3 && memcmp(at, "nan", 3) == 0) {
        *bits = nan_of(format);
        return true;
    } else {
        read = parse_decimal(at, end, format, bits, overflow);
    }
    if (read) {
        *bits |= sign_of(format, negative);
    }
    return read;
}

uint64_t vyre_float_convert(vyre_float_format from, vyre_float_format to, uint64_t bits) {
    uint64_t magnitude = bits & (sign_of(from, true) - 1);
    uint64_t sign = sign_of(to, (bits & sign_of(from, true)) != 0);
    if (magnitude > infinity_of(from)) {
        return nan_of(to);
    }
    if (magnitude == infinity_of(from)) {
        return sign | infinity_of(to);
    }
    if (magnitude == 0) {
        return sign;
    }
    uint64_t mantissa = magnitude & ((1ull << from.mantissa_bits) - 1);
    int exponent = (int)(magnitude >> from.mantissa_bits);
    if (exponent) {
        mantissa |= 1ull << from.mantissa_bits;
        exponent--;
    }
    int bias = (1 << (from.exponent_bits - 1)) - 1;
    bool overflow;
    return sign | round_binary(normalise(mantissa, exponent + 1 - bias - from.mantissa_bits, false),
                               to, &overflow);
}

bool vyre_u64_parse(const char *data, size_t size, unsigned base, uint64_t *value, bool *overflow) {
    const char *end = data + size;
    *overflow = false;
    *value = 0;
    if (skip_digits(data, end, base) != end) {
        return false;
    }
    for (const char *at = data; at < end; at++) {
        if (*at != '_') {
            uint128 wide = (uint128)*value * base + vyre_digit_value(*at);
            *overflow |= wide >> 64 != 0;
            *value = (uint64_t)wide;
        }
    }
    return true;
}
