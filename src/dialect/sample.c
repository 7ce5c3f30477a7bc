#include "dialect/sample.h"

#include <inttypes.h>
#include <string.h>

#include "base/status.h"

enum { DEPTH = 64 };

/* An expression under way: the first thing that is wrong ends it. */
typedef struct reader {
    vyre_str text;
    size_t at;
    uint64_t n;
    uint32_t depth;
    vyre_status status;
} reader;

static uint64_t read_sum(reader *r);

static void refuse(reader *r, const char *found) {
    if (!r->status) {
        r->status = vyre_status_make(
            VYRE_STATUS_MALFORMED,
            "write numbers, n, + - * / ( ), root(a), log2(a), min(a, b), max(a, b)",
            "the expression `%.*s` has %s at character %zu", (int)r->text.size, r->text.data, found,
            r->at + 1);
    }
}

static uint64_t refuse_value(reader *r, const char *what) {
    if (!r->status) {
        r->status = vyre_status_make(VYRE_STATUS_LIMIT,
                                     "make it valid for every size, for example with max(1, n)",
                                     "the expression `%.*s` has no value for n = %" PRIu64 ": %s",
                                     (int)r->text.size, r->text.data, r->n, what);
    }
    return 0;
}

/* The next character that is no space, 0 at the end. */
static char peek(reader *r) {
    while (r->at < r->text.size && r->text.data[r->at] == ' ') {
        r->at++;
    }
    return r->at < r->text.size ? r->text.data[r->at] : '\0';
}

static bool take(reader *r, char wanted) {
    bool found = peek(r) == wanted;
    r->at += found;
    return found;
}

static uint64_t root(uint64_t a) {
    uint64_t low = 0, high = UINT32_MAX;
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (middle <= a / middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

static uint64_t log2_of(uint64_t a) {
    return a ? 63 - (uint64_t)__builtin_clzll(a) : 0;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static uint64_t read_call(reader *r, vyre_str name) {
    static const struct {
        const char *name;
        uint64_t (*one)(uint64_t a);
        uint64_t (*two)(uint64_t a, uint64_t b);
    } functions[] = {
        {"root", root, NULL}, {"log2", log2_of, NULL}, {"min", NULL, least}, {"max", NULL, most}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!vyre_str_is(name, functions[i].name)) {
            continue;
        }
        if (!take(r, '(')) {
            refuse(r, "no parenthesis");
            return 0;
        }
        uint64_t a = read_sum(r), b = 0;
        if (functions[i].two) {
            if (!take(r, ',')) {
                refuse(r, "no comma");
                return 0;
            }
            b = read_sum(r);
        }
        if (!take(r, ')')) {
            refuse(r, "a missing closing parenthesis");
        }
        return functions[i].one ? functions[i].one(a) : functions[i].two(a, b);
    }
    r->at = (size_t)(name.data - r->text.data);
    refuse(r, "an unknown name");
    return 0;
}

static uint64_t read_number(reader *r) {
    uint64_t number = 0;
    for (; r->at < r->text.size; r->at++) {
        char c = r->text.data[r->at];
        if (c < '0' || c > '9') {
            break;
        }
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(c - '0'), &number)) {
            refuse(r, "a number that is too large");
            return 0;
        }
    }
    return number;
}

static uint64_t read_atom(reader *r) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    char next = peek(r);
    if (next >= '0' && next <= '9') {
        return read_number(r);
    }
    if (next == '(') {
        r->at++;
        uint64_t value = read_sum(r);
        if (!take(r, ')')) {
            refuse(r, "a missing closing parenthesis");
        }
        return value;
    }
    vyre_str name = {r->text.data + r->at, 0};
    while (r->at < r->text.size && strchr(letters, r->text.data[r->at])) {
        r->at++;
        name.size++;
    }
    if (!name.size) {
        refuse(r, "no value");
        return 0;
    }
    return name.size == 1 && *name.data == 'n' ? r->n : read_call(r, name);
}

static uint64_t read_product(reader *r) {
    uint64_t value = read_atom(r);
    while (!r->status && (peek(r) == '*' || peek(r) == '/')) {
        bool is_division = r->text.data[r->at++] == '/';
        uint64_t right = read_atom(r);
        if (is_division && !right) {
            return refuse_value(r, "it divides by 0");
        }
        if (is_division) {
            value /= right;
        } else if (__builtin_mul_overflow(value, right, &value)) {
            return refuse_value(r, "it exceeds the largest number");
        }
    }
    return value;
}

static uint64_t read_sum(reader *r) {
    if (++r->depth > DEPTH) {
        refuse(r, "too many nested parentheses");
    }
    uint64_t value = r->status ? 0 : read_product(r);
    while (!r->status && (peek(r) == '+' || peek(r) == '-')) {
        bool is_difference = r->text.data[r->at++] == '-';
        uint64_t right = read_product(r);
        if (is_difference && __builtin_sub_overflow(value, right, &value)) {
            return refuse_value(r, "it is below 0");
        }
        if (!is_difference && __builtin_add_overflow(value, right, &value)) {
            return refuse_value(r, "it exceeds the largest number");
        }
    }
    r->depth--;
    return value;
}

vyre_status vyre_sample_number(vyre_str expression, uint64_t n, uint64_t *out) {
    reader r = {.text = expression, .n = n};
    *out = read_sum(&r);
    if (!r.status && peek(&r)) {
        refuse(&r, "an unexpected character");
    }
    return r.status;
}

vyre_status vyre_sample_expand(const char *words, uint64_t n, vyre_strbuf *out) {
    while (*words) {
        size_t plain = strcspn(words, "{}");
        vyre_strbuf_add(out, words, plain);
        words += plain;
        if (!*words) {
            break;
        }
        size_t size = *words == '{' ? strcspn(words + 1, "{}\n") : 0;
        if (*words != '{' || words[size + 1] != '}') {
            return vyre_status_make(
                VYRE_STATUS_MALFORMED, "write {, an expression over n, and }, as in x=rand:{2 * n}",
                "`%.*s` has an unmatched brace", (int)strcspn(words, "\n"), words);
        }
        uint64_t value;
        VYRE_TRY(vyre_sample_number((vyre_str){words + 1, size}, n, &value));
        vyre_strbuf_u64(out, value);
        words += size + 2;
    }
    return out->failed ? vyre_no_memory("for a sample") : VYRE_OK;
}
