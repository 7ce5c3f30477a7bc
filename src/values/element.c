#include "values/element.h"

#include <string.h>

#include "ir/lookup.h"
#include "ir/message.h"

vyre_float_format values_float_format(vyre_type type) {
    switch (type) {
    case VYRE_TYPE_F16: return VYRE_FLOAT_F16;
    case VYRE_TYPE_BF16: return VYRE_FLOAT_BF16;
    case VYRE_TYPE_F32: return VYRE_FLOAT_F32;
    default: return VYRE_FLOAT_F64;
    }
}

uint64_t values_float_from(vyre_type type, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return type == VYRE_TYPE_F64
               ? bits
               : vyre_float_convert(VYRE_FLOAT_F64, values_float_format(type), bits);
}

double values_float_to(vyre_type type, uint64_t bits) {
    double number;
    float narrow;
    if (type == VYRE_TYPE_F32) { /* by far the most common, and fast that way */
        uint32_t low = (uint32_t)bits;
        memcpy(&narrow, &low, sizeof narrow);
        return (double)narrow;
    }
    bits = type == VYRE_TYPE_F64
               ? bits
               : vyre_float_convert(values_float_format(type), VYRE_FLOAT_F64, bits);
    memcpy(&number, &bits, sizeof number);
    return number;
}

uint64_t values_element_load(vyre_type type, const uint8_t *element) {
    uint64_t bits = 0;
    for (uint32_t i = vyre_type_bytes(type); i-- > 0;) {
        bits = bits << 8 | element[i];
    }
    return bits;
}

void values_element_store(vyre_strbuf *bytes, vyre_type type, uint64_t bits) {
    char element[8];
    uint32_t width = vyre_type_bytes(type);
    for (uint32_t i = 0; i < width; i++) {
        element[i] = (char)(bits >> 8 * i & 0xff);
    }
    vyre_strbuf_add(bytes, element, width);
}

/* Long or unprintable text is not repeated in full. */
static vyre_status refuse(const char *argument, vyre_type type, vyre_str text, const char *what,
                          const char *fix) {
    int shown = text.size < 40 ? (int)text.size : 40;
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix, "`%s`: `%.*s%s` %s %s", argument,
                            shown, text.data, text.size > 40 ? "..." : "", what,
                            vyre_type_name(type));
}

static bool is_word(vyre_str text, const char *word) {
    return text.size == strlen(word) && !memcmp(text.data, word, text.size);
}

static vyre_status parse_bool(const char *argument, vyre_str text, uint64_t *bits) {
    *bits = is_word(text, "true") || is_word(text, "1");
    if (*bits || is_word(text, "false") || is_word(text, "0")) {
        return VYRE_OK;
    }
    return refuse(argument, VYRE_TYPE_BOOL, text, "is not a valid", "write true or false");
}

/* 0x10 is the number 16, not its bits. A float of the language needs a p there. */
static bool parse_hex_float(vyre_str text, vyre_float_format format, uint64_t *bits,
                            bool *overflow) {
    size_t sign = text.size && (text.data[0] == '-' || text.data[0] == '+');
    bool is_hex = text.size > sign + 2 && text.data[sign] == '0' && text.data[sign + 1] == 'x';
    if (!is_hex || memchr(text.data, '.', text.size) || memchr(text.data, 'p', text.size)) {
        return false;
    }
    vyre_strbuf number = {0};
    vyre_strbuf_add(&number, text.data, text.size);
    vyre_strbuf_puts(&number, "p0");
    bool is_number =
        !number.failed && vyre_float_parse(number.data, number.size, format, bits, overflow);
    vyre_strbuf_free(&number);
    return is_number;
}

static vyre_status parse_float(const char *argument, vyre_type type, vyre_str text,
                               uint64_t *bits) {
    bool overflow = false;
    vyre_float_format format = values_float_format(type);
    if (!vyre_float_parse(text.data, text.size, format, bits, &overflow) &&
        !parse_hex_float(text, format, bits, &overflow)) {
        return refuse(argument, type, text, "is not a valid",
                      "write a number such as 1.5, -3e8, 0x10, 0x1.8p3, nan or inf");
    }
    return overflow
               ? refuse(argument, type, text, "is larger than any finite", "write inf for infinity")
               : VYRE_OK;
}

static vyre_status parse_integer(const char *argument, vyre_type type, vyre_str text,
                                 uint64_t *bits) {
    static const struct {
        char letter;
        unsigned base;
    } prefixes[] = {{'x', 16}, {'o', 8}, {'b', 2}};
    uint32_t width = vyre_type_bytes(type) * 8;
    bool is_signed = vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
    bool negative = text.size && text.data[0] == '-', overflow = false;
    size_t sign = text.size && (negative || text.data[0] == '+');
    vyre_str digits = {text.data + sign, text.size - sign};
    unsigned base = 10;
    for (size_t i = 0; i < 3 && digits.size > 2 && digits.data[0] == '0'; i++) {
        if (digits.data[1] == prefixes[i].letter) {
            base = prefixes[i].base;
            digits = (vyre_str){digits.data + 2, digits.size - 2};
            break;
        }
    }
    uint64_t value;
    if (!vyre_u64_parse(digits.data, digits.size, base, &value, &overflow)) {
        return refuse(argument, type, text, "is not a valid",
                      "write an integer such as 12, -3 or 0xff");
    }
    uint64_t mask = width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX;
    uint64_t largest = is_signed ? mask >> 1 : mask;
    uint64_t limit = !negative ? largest : is_signed ? largest + 1 : 0;
    if (overflow || value > limit) {
        vyre_strbuf fix = {0};
        vyre_strbuf_printf(&fix, "%s holds ", vyre_type_name(type));
        vyre_strbuf_printf(&fix, is_signed ? "-%llu to %llu" : "0 to %llu",
                           (unsigned long long)(is_signed ? largest + 1 : largest),
                           (unsigned long long)largest);
        vyre_status status =
            refuse(argument, type, text, "does not fit in", vyre_strbuf_string(&fix));
        vyre_strbuf_free(&fix);
        return status;
    }
    *bits = (negative ? 0 - value : value) & mask;
    return VYRE_OK;
}

vyre_status values_element_parse(const char *argument, vyre_type type, vyre_str text,
                                 uint64_t *out_bits) {
    *out_bits = 0;
    switch (vyre_type_class_of(type)) {
    case VYRE_CLASS_BOOL: return parse_bool(argument, text, out_bits);
    case VYRE_CLASS_FLOAT: return parse_float(argument, type, text, out_bits);
    default: return parse_integer(argument, type, text, out_bits);
    }
}

void values_element_print(vyre_strbuf *text, vyre_type type, const uint8_t *element) {
    vyre_bits_print(text, type, values_element_load(type, element));
}

void values_element_json(vyre_json *json, vyre_type type, const uint8_t *element) {
    if (vyre_type_class_of(type) == VYRE_CLASS_BOOL) {
        vyre_json_bool(json, values_element_load(type, element) != 0);
        return;
    }
    vyre_strbuf number = {0};
    values_element_print(&number, type, element);
    bool is_number = !strpbrk(vyre_strbuf_string(&number), "nf");
    if (is_number) {
        vyre_json_paste(json, (vyre_str){vyre_strbuf_string(&number), number.size});
    } else {
        vyre_json_string(json, vyre_strbuf_string(&number));
    }
    json->text->failed |= number.failed;
    vyre_strbuf_free(&number);
}

vyre_status values_number_parse(const char *name, const char *text, uint64_t *out) {
    return values_element_parse(name, VYRE_TYPE_U64, (vyre_str){text, strlen(text)}, out);
}

vyre_status values_seconds_parse(const char *name, const char *text, uint64_t *out_ns) {
    double seconds = 0;
    uint64_t bits = 0;
    bool overflow;
    const double most = 1e9;
    if (vyre_float_parse(text, strlen(text), VYRE_FLOAT_F64, &bits, &overflow)) {
        memcpy(&seconds, &bits, sizeof seconds);
    }
    if (!(seconds >= 1e-9 && seconds <= most)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "write seconds, such as 10 or 0.5, at most 1e9",
                                "%s cannot be `%s`", name, text);
    }
    *out_ns = (uint64_t)(seconds * 1e9);
    return VYRE_OK;
}

vyre_type values_argument_type(const vyre_ir *ir, uint32_t arg) {
    uint32_t buffer = ir->args[arg].resource, bytes = 0;
    vyre_type type = vyre_arg_shown_type(&ir->args[arg]);
    bool are_alike = true;
    for (uint32_t i = 0; i < ir->resource_count && buffer != VYRE_NONE; i++) {
        const vyre_resource *field = &ir->resources[i];
        if (vyre_resource_is_field(field) && field->size == buffer) {
            are_alike = are_alike && (!bytes || vyre_resource_type(field) == type);
            type = vyre_resource_type(field);
            bytes += vyre_type_bytes(type);
        }
    }
    bool is_known = are_alike && bytes == vyre_arg_bytes(ir, &ir->args[arg]);
    return is_known ? type : vyre_arg_shown_type(&ir->args[arg]);
}
