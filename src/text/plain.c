#include "text/plain.h"

#include <stdio.h>
#include <string.h>

#include "ir/print.h"

static uint64_t bits_of(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static vyre_str literal_of(const char *source, const vyre_plain *plain) {
    return (vyre_str){source + (uint32_t)plain->number, plain->number >> 32};
}

static double real_of(const char *source, const vyre_plain *plain) {
    double magnitude = (double)plain->number;
    if (plain->real) {
        uint64_t bits = plain->number;
        bool overflow;
        if (plain->literal) {
            vyre_str text = literal_of(source, plain);
            vyre_float_parse(text.data, text.size, VYRE_FLOAT_F64, &bits, &overflow);
        }
        memcpy(&magnitude, &bits, sizeof magnitude);
    }
    return plain->negative ? -magnitude : magnitude;
}

enum { SIGN_BIT = 63 };

static vyre_plain real_from_bits(uint64_t bits) {
    return (vyre_plain){
        .real = true, .negative = bits >> SIGN_BIT, .number = bits & (UINT64_MAX >> 1)};
}

static vyre_plain make_real(double number) {
    return real_from_bits(bits_of(number));
}

static vyre_plain make_integer(bool negative, uint64_t magnitude) {
    return (vyre_plain){.negative = negative && magnitude, .number = magnitude};
}

vyre_plain_error vyre_plain_read(const char *source, uint32_t offset, const vyre_literal *literal,
                                 bool negative, vyre_plain *out_plain) {
    const char *text = source + offset;
    if (literal->base == 0) {
        *out_plain = make_integer(negative, literal->character);
        return VYRE_PLAIN_OK;
    }
    bool overflow = false;
    uint64_t number = 0;
    bool is_float = vyre_type_class_of(literal->suffix) == VYRE_CLASS_FLOAT;
    if (literal->real || is_float || *text == 'i' || *text == 'n') {
        *out_plain = (vyre_plain){.real = true,
                                  .negative = negative,
                                  .literal = true,
                                  .number = offset | (uint64_t)literal->body << 32};
        return VYRE_PLAIN_OK;
    }
    uint32_t skip = literal->base == 10 ? 0 : 2;
    vyre_u64_parse(text + skip, literal->body - skip, literal->base, &number, &overflow);
    *out_plain = make_integer(negative, number);
    return overflow ? VYRE_PLAIN_TOO_LARGE : VYRE_PLAIN_OK;
}

vyre_plain vyre_plain_from(vyre_type type, uint64_t bits) {
    vyre_type_class class = vyre_type_class_of(type);
    if (class == VYRE_CLASS_FLOAT) {
        return real_from_bits(vyre_float_convert(vyre_type_format(type), VYRE_FLOAT_F64, bits));
    }
    unsigned width = vyre_type_bytes(type) * 8;
    bool negative = class == VYRE_CLASS_SIGNED && bits >> (width - 1);
    uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    return make_integer(negative, negative ? (~bits + 1) & mask : bits);
}

/* Two's complement without end: the low 64 bits, the rest being all `negative`. */
static uint64_t low_bits(const vyre_plain *plain) {
    return plain->negative ? ~plain->number + 1 : plain->number;
}

/* The number of such bits; a negative one may need a 65th. */
static vyre_plain_error from_low_bits(uint64_t low, bool negative, bool wraps, vyre_plain *out) {
    if (negative && !low) {
        return VYRE_PLAIN_TOO_LARGE;
    }
    *out = make_integer(negative, negative ? ~low + 1 : low);
    out->wraps = wraps;
    return VYRE_PLAIN_OK;
}

vyre_plain_error vyre_plain_unary(vyre_token_kind operation, const vyre_plain *operand,
                                  vyre_plain *out_plain) {
    if (operation == VYRE_TOKEN_MINUS) {
        *out_plain = *operand;
        out_plain->negative = !operand->negative && (operand->real || operand->number);
        return VYRE_PLAIN_OK;
    }
    if (operand->real) {
        return VYRE_PLAIN_NOT_INTEGER;
    }
    return from_low_bits(~low_bits(operand), !operand->negative, true, out_plain);
}

static vyre_plain_error add(const vyre_plain *left, const vyre_plain *right, bool subtract,
                            vyre_plain *out) {
    bool right_negative = right->negative != subtract && right->number;
    if (left->negative == right_negative || !left->number || !right->number) {
        uint64_t sum;
        if (__builtin_add_overflow(left->number, right->number, &sum)) {
            return VYRE_PLAIN_TOO_LARGE;
        }
        *out = make_integer(left->number ? left->negative : right_negative, sum);
        return VYRE_PLAIN_OK;
    }
    bool left_wins = left->number >= right->number;
    *out = left_wins ? make_integer(left->negative, left->number - right->number)
                     : make_integer(right_negative, right->number - left->number);
    return VYRE_PLAIN_OK;
}

static vyre_plain_error shift(vyre_token_kind operation, const vyre_plain *left,
                              const vyre_plain *right, vyre_plain *out) {
    if (right->negative || right->number > 63) {
        return VYRE_PLAIN_SHIFT;
    }
    uint64_t count = right->number;
    if (operation == VYRE_TOKEN_SHIFT_LEFT) {
        if (left->number << count >> count != left->number) {
            return VYRE_PLAIN_TOO_LARGE;
        }
        *out = make_integer(left->negative, left->number << count);
        return VYRE_PLAIN_OK;
    }
    /* Towards minus infinity, as a signed shift does. */
    uint64_t dropped = left->number & (((uint64_t)1 << count) - 1);
    uint64_t kept = (left->number >> count) + (left->negative && dropped);
    *out = make_integer(left->negative, kept);
    return VYRE_PLAIN_OK;
}

static vyre_plain_error integer_binary(vyre_token_kind operation, const vyre_plain *left,
                                       const vyre_plain *right, vyre_plain *out) {
    bool wraps = left->wraps || right->wraps;
    switch (operation) {
    case VYRE_TOKEN_PLUS: return add(left, right, false, out);
    case VYRE_TOKEN_MINUS: return add(left, right, true, out);
    case VYRE_TOKEN_STAR: {
        uint64_t product;
        if (__builtin_mul_overflow(left->number, right->number, &product)) {
            return VYRE_PLAIN_TOO_LARGE;
        }
        *out = make_integer(left->negative != right->negative, product);
        return VYRE_PLAIN_OK;
    }
    case VYRE_TOKEN_SLASH:
    case VYRE_TOKEN_PERCENT:
        if (!right->number) {
            return VYRE_PLAIN_ZERO_DIVISOR;
        }
        *out = operation == VYRE_TOKEN_SLASH
                   ? make_integer(left->negative != right->negative, left->number / right->number)
                   : make_integer(left->negative, left->number % right->number);
        return VYRE_PLAIN_OK;
    case VYRE_TOKEN_AND:
        return from_low_bits(low_bits(left) & low_bits(right), left->negative && right->negative,
                             wraps, out);
    case VYRE_TOKEN_OR:
        return from_low_bits(low_bits(left) | low_bits(right), left->negative || right->negative,
                             wraps, out);
    case VYRE_TOKEN_XOR:
        return from_low_bits(low_bits(left) ^ low_bits(right), left->negative != right->negative,
                             wraps, out);
    default: return shift(operation, left, right, out);
    }
}

static bool compare(const char *source, vyre_token_kind operation, const vyre_plain *left,
                    const vyre_plain *right) {
    bool less, equal;
    if (left->real || right->real) {
        double a = real_of(source, left), b = real_of(source, right);
        less = a < b;
        equal = a == b;
        if (a != a || b != b) {
            return operation == VYRE_TOKEN_NOT_EQUAL;
        }
    } else {
        equal = left->negative == right->negative && left->number == right->number;
        less = left->negative != right->negative ? left->negative
               : left->negative                  ? left->number > right->number
                                                 : left->number < right->number;
    }
    switch (operation) {
    case VYRE_TOKEN_EQUAL: return equal;
    case VYRE_TOKEN_NOT_EQUAL: return !equal;
    case VYRE_TOKEN_LESS: return less;
    case VYRE_TOKEN_LESS_EQUAL: return less || equal;
    case VYRE_TOKEN_GREATER: return !less && !equal;
    default: return !less;
    }
}

vyre_plain_error vyre_plain_binary(const char *source, vyre_token_kind operation,
                                   const vyre_plain *left, const vyre_plain *right,
                                   vyre_plain *out_plain) {
    if (vyre_token_is_comparison(operation)) {
        *out_plain = make_integer(false, compare(source, operation, left, right));
        return VYRE_PLAIN_OK;
    }
    if (!left->real && !right->real) {
        return integer_binary(operation, left, right, out_plain);
    }
    double a = real_of(source, left), b = real_of(source, right);
    switch (operation) {
    case VYRE_TOKEN_PLUS: *out_plain = make_real(a + b); return VYRE_PLAIN_OK;
    case VYRE_TOKEN_MINUS: *out_plain = make_real(a - b); return VYRE_PLAIN_OK;
    case VYRE_TOKEN_STAR: *out_plain = make_real(a * b); return VYRE_PLAIN_OK;
    case VYRE_TOKEN_SLASH:
        if (b == 0) {
            return VYRE_PLAIN_ZERO_DIVISOR;
        }
        *out_plain = make_real(a / b);
        return VYRE_PLAIN_OK;
    default: return VYRE_PLAIN_NOT_INTEGER;
    }
}

bool vyre_plain_is_zero(const char *source, const vyre_plain *plain) {
    return plain->real ? real_of(source, plain) == 0 : plain->number == 0;
}

/* A float of the type, correctly rounded; false if it is finite and the type's is not. */
static bool fit_float(const char *source, const vyre_plain *plain, vyre_type type,
                      uint64_t *out_bits) {
    vyre_float_format format = vyre_type_format(type);
    unsigned sign_bit = format.mantissa_bits + format.exponent_bits;
    bool overflow = false;
    if (plain->literal) {
        vyre_str text = literal_of(source, plain);
        vyre_float_parse(text.data, text.size, format, out_bits, &overflow);
        *out_bits |= (uint64_t)plain->negative << sign_bit;
        return !overflow;
    }
    if (!plain->real && plain->number >> 53) {
        char digits[24];
        int size = snprintf(digits, sizeof digits, "%s%llu", plain->negative ? "-" : "",
                            (unsigned long long)plain->number);
        vyre_float_parse(digits, (size_t)size, format, out_bits, &overflow);
        return !overflow;
    }
    uint64_t wide = bits_of(real_of(source, plain));
    *out_bits = vyre_float_convert(VYRE_FLOAT_F64, format, wide);
    uint64_t infinity = (((uint64_t)1 << format.exponent_bits) - 1) << format.mantissa_bits;
    bool was_finite = (wide >> 52 & 0x7ff) != 0x7ff;
    return !was_finite || (*out_bits & (((uint64_t)1 << sign_bit) - 1)) != infinity;
}

bool vyre_plain_fit(const char *source, const vyre_plain *plain, vyre_type type,
                    uint64_t *out_bits) {
    vyre_type_class class = vyre_type_class_of(type);
    if (class == VYRE_CLASS_FLOAT) {
        return fit_float(source, plain, type, out_bits);
    }
    if (plain->real || !(class & VYRE_CLASS_INTEGER)) {
        return false;
    }
    unsigned width = vyre_type_bytes(type) * 8;
    uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    uint64_t largest = class == VYRE_CLASS_SIGNED ? mask >> 1 : mask;
    *out_bits = low_bits(plain) & mask;
    if (plain->negative) {
        uint64_t lowest = class == VYRE_CLASS_SIGNED ? largest + 1 : plain->wraps ? mask : 0;
        return plain->number <= lowest;
    }
    return plain->number <= largest;
}

void vyre_plain_show(const char *source, const vyre_plain *plain, char out[VYRE_PLAIN_SHOWN]) {
    if (!plain->real) {
        snprintf(out, VYRE_PLAIN_SHOWN, "%s%llu", plain->negative ? "-" : "",
                 (unsigned long long)plain->number);
        return;
    }
    const char *sign = plain->negative ? "-" : "";
    if (plain->literal) {
        vyre_str literal = literal_of(source, plain);
        bool cut = literal.size > VYRE_PLAIN_SHOWN - 8;
        snprintf(out, VYRE_PLAIN_SHOWN, "%s%.*s%s", sign,
                 cut ? VYRE_PLAIN_SHOWN - 8 : (int)literal.size, literal.data, cut ? "..." : "");
        return;
    }
    vyre_strbuf text = {0};
    vyre_float_print(&text, VYRE_FLOAT_F64, plain->number);
    snprintf(out, VYRE_PLAIN_SHOWN, "%s%s", sign, vyre_strbuf_string(&text));
    vyre_strbuf_free(&text);
}
