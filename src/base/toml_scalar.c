#include <string.h>

#include "base/number.h"
#include "base/status.h"
#include "base/toml_parser.h"
#include "base/utf8.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static size_t left(const vyre_toml_parser *parser) {
    return (size_t)(parser->end - parser->at);
}

static size_t count_quotes(const vyre_toml_parser *parser, char quote) {
    size_t count = 0;
    while (count < left(parser) && parser->at[count] == quote) {
        count++;
    }
    return count;
}

/* \xXX, \uXXXX and \UXXXXXXXX, with `at` on the first digit. */
static vyre_status parse_code_point(vyre_toml_parser *parser, size_t digits,
                                    vyre_toml_place place) {
    uint32_t code = 0;
    for (size_t i = 0; i < digits; i++) {
        unsigned digit = parser->at < parser->end ? vyre_digit_value(*parser->at) : 16;
        if (digit >= 16) {
            return vyre_toml_unexpected(parser,
                                        "write 2 digits after \\x, 4 after \\u and 8 after \\U",
                                        "a hexadecimal digit of the escape");
        }
        code = code << 4 | digit;
        parser->at++;
    }
    char bytes[4];
    size_t size = vyre_utf8_write(code, bytes);
    if (size == 0) {
        return vyre_toml_fail(parser, place, "use a number up to 10FFFF outside D800 to DFFF",
                              "the escape's number %x is not a character", code);
    }
    vyre_strbuf_add(&parser->buffer, bytes, size);
    return VYRE_OK;
}

/* A backslash at the end of a line takes all white space up to the next text. False, and nothing
 * taken, where other text follows it on its line. */
static bool take_line_join(vyre_toml_parser *parser) {
    const char *start = parser->at;
    while (vyre_toml_at_char(parser, ' ') || vyre_toml_at_char(parser, '\t')) {
        parser->at++;
    }
    if (!vyre_toml_newline_size(parser)) {
        parser->at = start;
        return false;
    }
    for (;;) {
        size_t newline = vyre_toml_newline_size(parser);
        if (newline) {
            vyre_toml_take_newline(parser, newline);
        } else if (vyre_toml_at_char(parser, ' ') || vyre_toml_at_char(parser, '\t')) {
            parser->at++;
        } else {
            return true;
        }
    }
}

static vyre_status parse_escape(vyre_toml_parser *parser, bool multiline) {
    static const char letters[] = "btnfre\"\\";
    static const char meanings[] = "\b\t\n\f\r\x1b\"\\";
    vyre_toml_place place = vyre_toml_here(parser);
    parser->at++;
    if (multiline && take_line_join(parser)) {
        return VYRE_OK;
    }
    int c = parser->at < parser->end ? *parser->at : '\0';
    const char *letter = c ? strchr(letters, c) : NULL;
    if (letter) {
        parser->at++;
        vyre_strbuf_putc(&parser->buffer, meanings[letter - letters]);
        return VYRE_OK;
    }
    if (c == 'x' || c == 'u' || c == 'U') {
        parser->at++;
        return parse_code_point(parser, c == 'x' ? 2 : c == 'u' ? 4 : 8, place);
    }
    return vyre_toml_unexpected(parser, "double the backslash, or use single quotes",
                                "one of b t n f r e x u U \" \\ after a backslash");
}

static vyre_status keep_string(vyre_toml_parser *parser, vyre_str *out) {
    const vyre_strbuf *text = &parser->buffer;
    char *copy =
        text->failed ? NULL : vyre_arena_copy(&parser->document->arena, text->data, text->size);
    *out = (vyre_str){copy, text->size};
    return copy ? VYRE_OK : vyre_toml_no_memory();
}

static vyre_status not_closed(const vyre_toml_parser *parser, vyre_toml_place place,
                              const char *quotes) {
    vyre_strbuf fix = {0};
    vyre_strbuf_printf(&fix, "close it with %s", quotes);
    vyre_status status =
        vyre_toml_fail(parser, place, vyre_strbuf_string(&fix), "the string is not closed");
    vyre_strbuf_free(&fix);
    return status;
}

static vyre_status bad_character(const vyre_toml_parser *parser) {
    return vyre_toml_unexpected(parser, "write it as an escape such as \\u0007 in double quotes",
                                "printable text in the string");
}

/* At the quotes that may end a string of several lines: takes them, and says whether they do. Two
 * more may stand directly before the closing three. */
static bool take_quotes(vyre_toml_parser *parser, char quote) {
    size_t quotes = count_quotes(parser, quote);
    quotes = quotes > 5 ? 5 : quotes;
    vyre_strbuf_add(&parser->buffer, parser->at, quotes >= 3 ? quotes - 3 : quotes);
    parser->at += quotes;
    return quotes >= 3;
}

/* The rest of a string, with `at` behind the opening quotes. */
static vyre_status parse_text(vyre_toml_parser *parser, char quote, bool multiline,
                              vyre_toml_place place, vyre_str *out_string) {
    const char *end = multiline      ? quote == '"' ? "\"\"\"" : "'''"
                      : quote == '"' ? "\" on the same line, or use \"\"\""
                                     : "' on the same line, or use '''";
    vyre_strbuf_cut(&parser->buffer, 0);
    for (;;) {
        const char *run = parser->at;
        while (parser->at < parser->end && *parser->at != quote &&
               (*parser->at != '\\' || quote == '\'') && !vyre_toml_is_control(*parser->at)) {
            parser->at++;
        }
        vyre_strbuf_add(&parser->buffer, run, (size_t)(parser->at - run));
        size_t newline = vyre_toml_newline_size(parser);
        if (vyre_toml_at_char(parser, quote)) {
            parser->at += !multiline; /* the first quote ends a line's string */
            if (!multiline || take_quotes(parser, quote)) {
                return keep_string(parser, out_string);
            }
        } else if (vyre_toml_at_char(parser, '\\')) {
            VYRE_TRY(parse_escape(parser, multiline));
        } else if (newline && multiline) {
            vyre_strbuf_putc(&parser->buffer, '\n');
            vyre_toml_take_newline(parser, newline);
        } else if (parser->at == parser->end || newline) {
            return not_closed(parser, place, end);
        } else {
            return bad_character(parser);
        }
    }
}

vyre_status vyre_toml_parse_line_string(vyre_toml_parser *parser, vyre_str *out_string) {
    vyre_toml_place place = vyre_toml_here(parser);
    char quote = *parser->at++;
    return parse_text(parser, quote, false, place, out_string);
}

vyre_status vyre_toml_parse_string(vyre_toml_parser *parser, vyre_str *out_string) {
    char quote = *parser->at;
    if (count_quotes(parser, quote) < 3) {
        return vyre_toml_parse_line_string(parser, out_string);
    }
    vyre_toml_place place = vyre_toml_here(parser);
    parser->at += 3;
    size_t newline = vyre_toml_newline_size(parser);
    if (newline) {
        vyre_toml_take_newline(parser, newline); /* the first one is for looks */
    }
    return parse_text(parser, quote, true, place, out_string);
}

/* Takes exactly `digits` digits as a number from `low` to `high`. */
static vyre_status take_digits(vyre_toml_parser *parser, size_t digits, unsigned low, unsigned high,
                               const char *what, unsigned *out) {
    static const char fix[] = "write it like 1979-05-27, 07:32:00.5 or 1979-05-27T07:32:00-07:00";
    vyre_toml_place place = vyre_toml_here(parser);
    *out = 0;
    for (size_t i = 0; i < digits; i++) {
        if (parser->at == parser->end || !is_digit(*parser->at)) {
            return vyre_toml_unexpected(parser, fix, what);
        }
        *out = *out * 10 + (unsigned)(*parser->at++ - '0');
    }
    if (*out < low || *out > high) {
        return vyre_toml_fail(parser, place, fix, "expected %s from %u to %u, found %u", what, low,
                              high, *out);
    }
    return VYRE_OK;
}

static vyre_status take_mark(vyre_toml_parser *parser, char mark, const char *what) {
    if (!vyre_toml_at_char(parser, mark)) {
        return vyre_toml_unexpected(parser, "write a date like 1979-05-27 and a time like 07:32:00",
                                    what);
    }
    parser->at++;
    return VYRE_OK;
}

static unsigned days_of_month(unsigned year, unsigned month) {
    static const unsigned char days[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month];
}

static vyre_status parse_date(vyre_toml_parser *parser, vyre_toml_time *out) {
    unsigned year, month, day;
    VYRE_TRY(take_digits(parser, 4, 0, 9999, "a year of four digits", &year));
    VYRE_TRY(take_mark(parser, '-', "`-` after the year"));
    VYRE_TRY(take_digits(parser, 2, 1, 12, "a month of two digits", &month));
    VYRE_TRY(take_mark(parser, '-', "`-` after the month"));
    VYRE_TRY(take_digits(parser, 2, 1, days_of_month(year, month), "a day of two digits", &day));
    out->year = (uint16_t)year;
    out->month = (uint8_t)month;
    out->day = (uint8_t)day;
    return VYRE_OK;
}

static vyre_status parse_time(vyre_toml_parser *parser, vyre_toml_time *out) {
    unsigned hour, minute, second;
    VYRE_TRY(take_digits(parser, 2, 0, 23, "an hour of two digits", &hour));
    VYRE_TRY(take_mark(parser, ':', "`:` after the hour"));
    VYRE_TRY(take_digits(parser, 2, 0, 59, "a minute of two digits", &minute));
    out->hour = (uint8_t)hour;
    out->minute = (uint8_t)minute;
    if (!vyre_toml_at_char(parser, ':')) {
        return VYRE_OK; /* seconds may be left out */
    }
    parser->at++;
    /* 60 is a leap second; which minutes have one cannot be known here. */
    VYRE_TRY(take_digits(parser, 2, 0, 60, "a second of two digits", &second));
    out->second = (uint8_t)second;
    if (vyre_toml_at_char(parser, '.')) {
        unsigned digit;
        parser->at++;
        VYRE_TRY(take_digits(parser, 1, 0, 9, "a digit of the fraction", &digit));
        for (uint32_t scale = 100000000;; scale /= 10) {
            out->nanosecond += digit * scale; /* digits beyond the ninth are dropped */
            if (parser->at == parser->end || !is_digit(*parser->at)) {
                break;
            }
            digit = (unsigned)(*parser->at++ - '0');
        }
    }
    return VYRE_OK;
}

static vyre_status parse_offset(vyre_toml_parser *parser, vyre_toml_time *out) {
    char sign = *parser->at++;
    if (sign == 'Z' || sign == 'z') {
        return VYRE_OK;
    }
    unsigned hours, minutes;
    VYRE_TRY(take_digits(parser, 2, 0, 23, "the offset's hours", &hours));
    VYRE_TRY(take_mark(parser, ':', "`:` after the offset's hours"));
    VYRE_TRY(take_digits(parser, 2, 0, 59, "the offset's minutes", &minutes));
    int offset = (int)(hours * 60 + minutes);
    out->offset_minutes = (int16_t)(sign == '-' ? -offset : offset);
    return VYRE_OK;
}

static vyre_status parse_date_time(vyre_toml_parser *parser, vyre_toml_value *out) {
    out->time = (vyre_toml_time){0};
    if (parser->at[2] == ':') {
        out->type = VYRE_TOML_LOCAL_TIME;
        return parse_time(parser, &out->time);
    }
    out->type = VYRE_TOML_LOCAL_DATE;
    vyre_status status = parse_date(parser, &out->time);
    bool marked = vyre_toml_at_char(parser, 'T') || vyre_toml_at_char(parser, 't');
    bool spaced = vyre_toml_at_char(parser, ' ') && left(parser) > 1 && is_digit(parser->at[1]);
    if (status || (!marked && !spaced)) {
        return status;
    }
    parser->at++;
    out->type = VYRE_TOML_LOCAL_DATE_TIME;
    status = parse_time(parser, &out->time);
    if (!status && parser->at < parser->end && strchr("Zz+-", *parser->at) && *parser->at) {
        out->type = VYRE_TOML_OFFSET_DATE_TIME;
        status = parse_offset(parser, &out->time);
    }
    return status;
}

static vyre_status bad_number(vyre_toml_parser *parser, const char *start, size_t size) {
    parser->at = start;
    return vyre_toml_fail(parser, vyre_toml_here(parser),
                          "write it like 1_000, -3, 0xff, 0o17, 0b101, 1.5 or 2e-3",
                          "`%.*s` is not a number", size < 64 ? (int)size : 64, start);
}

static vyre_status too_large(vyre_toml_parser *parser, const char *start, const char *kind,
                             const char *fix) {
    parser->at = start;
    return vyre_toml_fail(parser, vyre_toml_here(parser), fix, "the number does not fit in %s",
                          kind);
}

static vyre_status parse_integer(vyre_toml_parser *parser, const char *start, size_t size,
                                 vyre_toml_value *out) {
    bool negative = *start == '-';
    size_t sign = negative || *start == '+';
    const char *digits = start + sign;
    size_t count = size - sign;
    unsigned base = 10;
    if (!sign && count >= 2 && digits[0] == '0') {
        base = digits[1] == 'x' ? 16 : digits[1] == 'o' ? 8 : digits[1] == 'b' ? 2 : 10;
        digits += base != 10 ? 2 : 0;
        count -= base != 10 ? 2 : 0;
    }
    uint64_t magnitude;
    bool overflow;
    if (!vyre_u64_parse(digits, count, base, &magnitude, &overflow) ||
        (base == 10 && count > 1 && digits[0] == '0')) {
        return bad_number(parser, start, size);
    }
    if (overflow || magnitude > (uint64_t)INT64_MAX + negative) {
        return too_large(parser, start, "a signed integer of 64 bits",
                         "use a number from -9223372036854775808 to 9223372036854775807");
    }
    out->type = VYRE_TOML_INTEGER;
    out->integer = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return VYRE_OK;
}

static vyre_status parse_float(vyre_toml_parser *parser, const char *start, size_t size,
                               vyre_toml_value *out) {
    size_t sign = *start == '+' || *start == '-';
    const char *digits = start + sign;
    const char *point = memchr(start, '.', size);
    bool leading_zero =
        size > sign + 1 && digits[0] == '0' && (is_digit(digits[1]) || digits[1] == '_');
    bool bare_point = point && (point + 1 == start + size || !is_digit(point[1]));
    uint64_t bits;
    bool overflow;
    if (leading_zero || bare_point ||
        !vyre_float_parse(start, size, VYRE_FLOAT_F64, &bits, &overflow)) {
        return bad_number(parser, start, size);
    }
    if (overflow) {
        return too_large(parser, start, "a float of 64 bits", "write inf, or a smaller number");
    }
    out->type = VYRE_TOML_FLOAT;
    memcpy(&out->number, &bits, sizeof bits);
    return VYRE_OK;
}

/* Whether `at` starts like 1979- or 07: does. */
static bool looks_like_date_time(const vyre_toml_parser *parser) {
    size_t digits = 0;
    while (digits < left(parser) && digits < 5 && is_digit(parser->at[digits])) {
        digits++;
    }
    int next = digits < left(parser) ? parser->at[digits] : '\0';
    return (digits == 4 && next == '-') || (digits == 2 && next == ':');
}

static bool in_number(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '+' || c == '-' || c == ':';
}

vyre_status vyre_toml_parse_number(vyre_toml_parser *parser, vyre_toml_value *out_value) {
    if (looks_like_date_time(parser)) {
        return parse_date_time(parser, out_value);
    }
    const char *start = parser->at;
    while (parser->at < parser->end && in_number(*parser->at)) {
        parser->at++;
    }
    size_t size = (size_t)(parser->at - start);
    size_t sign = *start == '+' || *start == '-';
    bool prefixed = size > sign + 1 && start[sign] == '0' && strchr("xob", start[sign + 1]);
    bool is_float = !prefixed && (memchr(start, '.', size) || memchr(start, 'e', size) ||
                                  memchr(start, 'E', size) || memchr(start, 'n', size));
    return is_float ? parse_float(parser, start, size, out_value)
                    : parse_integer(parser, start, size, out_value);
}
