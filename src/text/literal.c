#include "text/lexer.h"

#include <string.h>

#include "base/number.h"
#include "base/utf8.h"

static bool fail(vyre_literal *literal, const char *problem, const char *fix) {
    literal->problem = problem;
    literal->fix = fix;
    return false;
}

static bool is_digit(char c, uint32_t base) {
    return vyre_digit_value(c) < base;
}

/* Reads digits with single underscores between them; false if there is none at all. */
static bool skip_digits(vyre_str text, uint32_t *at, uint32_t base) {
    uint32_t start = *at;
    while (*at < text.size && (is_digit(text.data[*at], base) ||
                               (text.data[*at] == '_' && *at > start && text.data[*at - 1] != '_' &&
                                *at + 1 < text.size && is_digit(text.data[*at + 1], base)))) {
        (*at)++;
    }
    return *at > start;
}

static bool read_suffix(vyre_str suffix, vyre_literal *literal) {
    if (!suffix.size) {
        return true;
    }
    bool one = suffix.size == 1;
    vyre_type type = one && *suffix.data == 'u'   ? VYRE_TYPE_U32
                     : one && *suffix.data == 'i' ? VYRE_TYPE_I32
                     : one && *suffix.data == 'f' ? VYRE_TYPE_F32
                                                  : vyre_type_from_name(suffix);
    if (type == VYRE_TYPE_VOID || type == VYRE_TYPE_BOOL) {
        return fail(literal, "the letters after the number are not a type",
                    "end it with u, i, f or a type as in 7u8 and 1.5f16, or insert a space");
    }
    bool is_float = vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
    if (literal->real && !is_float) {
        return fail(literal, "a number with a point or an exponent cannot have an integer type",
                    "remove the point, or use a type such as f32");
    }
    if (!literal->real && literal->base != 10 && is_float) {
        return fail(literal, "a binary or hexadecimal integer cannot have a float type",
                    "write it in decimal, or convert it as in f32(0x10)");
    }
    literal->suffix = type;
    return true;
}

static bool read_escape(vyre_str content, vyre_literal *literal) {
    static const char letters[] = "nrt0\\'";
    static const char meanings[] = "\n\r\t\0\\'";
    const char *letter = content.size == 2 ? memchr(letters, content.data[1], 6) : NULL;
    if (letter) {
        literal->character = (unsigned char)meanings[letter - letters];
        return true;
    }
    if (content.size == 4 && content.data[1] == 'x' && is_digit(content.data[2], 16) &&
        is_digit(content.data[3], 16)) {
        literal->character =
            vyre_digit_value(content.data[2]) * 16 + vyre_digit_value(content.data[3]);
        return true;
    }
    return fail(literal, "unknown escape in a character",
                "use one of \\n \\r \\t \\0 \\\\ \\' or two hexadecimal digits as in \\x41");
}

static bool read_character(vyre_str content, vyre_literal *literal) {
    static const char fix[] = "write exactly one character between the quotes, as in 'a'";
    literal->base = 0;
    if (!content.size) {
        return fail(literal, "there is no character between the quotes", fix);
    }
    if (*content.data == '\\') {
        return read_escape(content, literal);
    }
    if (content.size != vyre_utf8_size(content.data, content.size)) {
        return fail(literal, "there is more than one character between the quotes", fix);
    }
    literal->character = vyre_utf8_read(content.data);
    return true;
}

bool vyre_literal_read(vyre_str text, vyre_literal *out_literal) {
    vyre_literal *literal = out_literal;
    *literal = (vyre_literal){.base = 10, .body = (uint32_t)text.size};
    if (*text.data == '\'') {
        return read_character((vyre_str){text.data + 1, text.size - 2}, literal);
    }
    uint32_t at = 0;
    if (text.size > 1 && *text.data == '0' && (text.data[1] == 'x' || text.data[1] == 'b')) {
        literal->base = text.data[1] == 'x' ? 16 : 2;
        at = 2;
    } else if (text.size > 1 && *text.data == '0' && (text.data[1] == 'X' || text.data[1] == 'B')) {
        return fail(literal, "the letter after the 0 must be lower case", "write 0x or 0b");
    }
    if (!skip_digits(text, &at, literal->base)) {
        return fail(literal,
                    literal->base == 2 ? "no binary digit follows 0b"
                                       : "no hexadecimal digit follows 0x",
                    "write at least one digit");
    }
    if (at < text.size && text.data[at] == '.') {
        at++;
        literal->real = true;
        if (literal->base == 2) {
            return fail(literal, "a binary number cannot have a point", "write it in decimal");
        }
        skip_digits(text, &at, literal->base);
    }
    char exponent = literal->base == 16 ? 'p' : 'e';
    if (literal->base != 2 && at < text.size && (text.data[at] | 0x20) == exponent) {
        at++;
        literal->real = true;
        at += at < text.size && (text.data[at] == '+' || text.data[at] == '-');
        if (!skip_digits(text, &at, 10)) {
            return fail(literal, "the exponent has no digits",
                        "write a number after it, as in 2e-3");
        }
    } else if (literal->base == 16 && literal->real) {
        return fail(literal, "a hexadecimal number with a point needs an exponent",
                    "end it with a power of two, as in 0x1.8p0");
    }
    literal->body = at;
    if (at < text.size && text.data[at] == '_') {
        return fail(literal, "an underscore must stand between two digits", "remove it");
    }
    if (at < text.size && text.data[at] == '.') {
        return fail(literal, "the number has a second point", "remove one of them");
    }
    if (at < text.size && literal->base == 2 && text.data[at] >= '2' && text.data[at] <= '9') {
        return fail(literal, "a binary number has a digit other than 0 and 1",
                    "use only 0 and 1 after 0b");
    }
    return read_suffix((vyre_str){text.data + at, text.size - at}, literal);
}
