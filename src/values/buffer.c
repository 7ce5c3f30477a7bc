#include "values/buffer.h"

#include <string.h>

#include <vyre/reference.h>

#include "base/status.h"
#include "values/element.h"
#include "values/file.h"
#include "values/fill.h"

static const char fix_forms[] =
    "write 1,2,3 or [1, 2, 3], zeros:N, ones:N, full:V:N, iota:N[:STEP], cycle:N:1,2,3[:STEP], "
    "rand:N[:SEED[:BOUND]], words:A,B, @FILE";

/* Whether so many elements are no more than a run may use; `value` is what they are written as. */
static vyre_status check_count(const values_buffer_source *source, vyre_str value, uint64_t count) {
    if (count <= VYRE_REFERENCE_MEMORY_BYTES / vyre_type_bytes(source->type)) {
        return VYRE_OK;
    }
    return vyre_status_make(
        VYRE_STATUS_INVALID_ARGUMENT, "ask for fewer elements",
        "`%s`: the elements of `%.*s` take more than %llu bytes, the most that a "
        "run may use",
        source->argument, (int)value.size, value.data,
        (unsigned long long)VYRE_REFERENCE_MEMORY_BYTES);
}

/* Without the spaces around it. */
static vyre_str trim(vyre_str text) {
    while (text.size && text.data[text.size - 1] == ' ') {
        text.size--;
    }
    while (text.size && *text.data == ' ') {
        text = (vyre_str){text.data + 1, text.size - 1};
    }
    return text;
}

/* An element, and behind a * how often it comes. */
static vyre_status parse_element(const values_buffer_source *source, vyre_str text,
                                 vyre_strbuf *out) {
    const char *star = memchr(text.data, '*', text.size);
    vyre_str element = {text.data, star ? (size_t)(star - text.data) : text.size};
    uint64_t bits, times = 1;
    VYRE_TRY(values_element_parse(source->argument, source->type, element, &bits));
    if (star) {
        vyre_str digits = {star + 1, text.size - element.size - 1};
        VYRE_TRY(values_element_parse(source->argument, VYRE_TYPE_U32, digits, &times));
    }
    uint64_t before = out->size / vyre_type_bytes(source->type);
    VYRE_TRY(check_count(source, text, before + times));
    if (times == 1) {
        values_element_store(out, source->type, bits);
        return VYRE_OK;
    }
    vyre_strbuf one = {0};
    values_element_store(&one, source->type, bits);
    out->failed |= one.failed;
    if (!out->failed) {
        values_fill_cycle(out, source->type, times, &one, 0);
    }
    vyre_strbuf_free(&one);
    return VYRE_OK;
}

/* Reads elements parted by commas, up to `end`. */
static vyre_status parse_list(const values_buffer_source *source, const char *value,
                              const char *end, vyre_strbuf *out) {
    for (;;) {
        vyre_str text = {value, strcspn(value, ",")};
        text.size = value + text.size > end ? (size_t)(end - value) : text.size;
        vyre_status status = parse_element(source, trim(text), out);
        if (status) {
            return vyre_status_annotate(status, "in element %zu",
                                        out->size / vyre_type_bytes(source->type));
        }
        if (value + text.size == end) {
            return VYRE_OK;
        }
        value += text.size + 1;
    }
}

/* Rules that elements follow, and how many things may stand behind their names. */
typedef enum rule {
    RULE_ZEROS,
    RULE_ONES,
    RULE_FULL,
    RULE_IOTA,
    RULE_CYCLE,
    RULE_RAND,
    RULE_COUNT
} rule;
static const struct {
    const char *name;
    size_t most;
} rules[RULE_COUNT] = {
    [RULE_ZEROS] = {"zeros", 1}, [RULE_ONES] = {"ones", 1},   [RULE_FULL] = {"full", 2},
    [RULE_IOTA] = {"iota", 2},   [RULE_CYCLE] = {"cycle", 3}, [RULE_RAND] = {"rand", 3}};

/* What stands between the colons: "rand:8:1" has two parts. */
enum { PARTS = 3 };
typedef struct parts {
    const values_buffer_source *source;
    const char *value; /* all of it */
    vyre_str at[PARTS];
    size_t count;
} parts;

static vyre_status split(parts *p, size_t most) {
    for (const char *at = strchr(p->value, ':'); at; at = strchr(at + 1, ':')) {
        if (p->count == most) {
            return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix_forms,
                                    "`%s`: `%s` has one number too many", p->source->argument,
                                    p->value);
        }
        p->at[p->count++] = (vyre_str){at + 1, strcspn(at + 1, ":")};
    }
    return VYRE_OK;
}

/* The number that is a part; left as it is where there is none. */
static vyre_status parse_part(const parts *p, size_t index, vyre_type type, uint64_t *out) {
    if (index >= p->count) {
        return VYRE_OK;
    }
    return vyre_status_annotate(values_element_parse(p->source->argument, type, p->at[index], out),
                                "in `%s`", p->value);
}

static vyre_status check_bound(const parts *p, uint64_t bound) {
    vyre_type type = p->source->type;
    vyre_type_class class_of = vyre_type_class_of(type);
    uint32_t usable = vyre_type_bytes(type) * 8 - (class_of == VYRE_CLASS_SIGNED);
    bool is_integer = class_of & VYRE_CLASS_INTEGER;
    bool fits = bound && (usable >= 64 || bound <= (uint64_t)1 << usable);
    if (p->count < 3 || (is_integer && fits)) {
        return VYRE_OK;
    }
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                            is_integer ? "use a bound from 1 to the type's largest number plus 1"
                                       : "remove the bound; only integers take one",
                            "`%s`: `%s` has a bound that is not valid for %s", p->source->argument,
                            p->value, vyre_type_name(type));
}

static vyre_status check_length(const parts *p, uint64_t count) {
    if (!p->count || count > UINT32_MAX) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "give the number of elements, as in zeros:1024; at most 4294967295",
                                "`%s`: `%s` is not a number of elements", p->source->argument,
                                p->value);
    }
    return check_count(p->source, vyre_str_of(p->value), count);
}

static vyre_status parse_rand(const parts *p, uint64_t count, vyre_strbuf *out) {
    uint64_t seed = p->source->seed, bound = 0;
    VYRE_TRY(parse_part(p, 1, VYRE_TYPE_U64, &seed));
    VYRE_TRY(parse_part(p, 2, VYRE_TYPE_U64, &bound));
    VYRE_TRY(check_bound(p, bound));
    VYRE_TRY(check_length(p, count));
    values_fill_random(out, p->source->type, count, seed, bound);
    return VYRE_OK;
}

/* The STEP is a number of the type; of floats it may be any f64. */
static vyre_status parse_cycle(const parts *p, rule kind, uint64_t count, vyre_strbuf *out) {
    vyre_type type = p->source->type;
    bool is_iota = kind == RULE_IOTA, is_float = vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
    double one = 1;
    uint64_t step = is_iota;
    vyre_strbuf list = {0};
    if (is_iota && is_float) {
        memcpy(&step, &one, sizeof step);
    }
    VYRE_TRY(parse_part(p, is_iota ? 1 : 2, is_float ? VYRE_TYPE_F64 : type, &step));
    VYRE_TRY(check_length(p, count));
    vyre_status status = VYRE_OK;
    if (is_iota) {
        values_element_store(&list, type, 0);
    } else if (p->count < 2) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "write the elements after their number, as in cycle:8:1,2,3",
                                "`%s`: `%s` has no elements to repeat", p->source->argument,
                                p->value);
    } else {
        vyre_str text = p->at[1];
        status = parse_list(p->source, text.data, text.data + text.size, &list);
    }
    if (list.failed) {
        out->failed = true;
    } else if (!status) {
        values_fill_cycle(out, type, count, &list, step);
    }
    vyre_strbuf_free(&list);
    return status;
}

/* N times the same: zeros:N, ones:N, full:V:N. */
static vyre_status parse_same(const parts *p, rule kind, uint64_t count, vyre_strbuf *out) {
    vyre_type type = p->source->type;
    uint64_t bits = 0;
    if (kind == RULE_ONES) {
        VYRE_TRY(values_element_parse(p->source->argument, type, vyre_str_of("1"), &bits));
    } else if (kind == RULE_FULL && p->count == 2) {
        VYRE_TRY(parse_part(p, 0, type, &bits));
    } else if (kind == RULE_FULL) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "write the value, then how many times, as in full:0.5:1024",
                                "`%s`: `%s` has no number of elements", p->source->argument,
                                p->value);
    }
    VYRE_TRY(check_length(p, count));
    vyre_strbuf one = {0};
    values_element_store(&one, type, bits);
    out->failed |= one.failed;
    if (!bits) {
        vyre_strbuf_repeat(out, 0, count * vyre_type_bytes(type));
    } else if (!out->failed) {
        values_fill_cycle(out, type, count, &one, 0);
    }
    vyre_strbuf_free(&one);
    return VYRE_OK;
}

static vyre_status parse_rule(const values_buffer_source *source, rule kind, const char *value,
                              vyre_strbuf *out) {
    parts p = {.source = source, .value = value};
    uint64_t count = 0;
    VYRE_TRY(split(&p, rules[kind].most));
    VYRE_TRY(parse_part(&p, kind == RULE_FULL ? 1 : 0, VYRE_TYPE_U64, &count));
    count = count > UINT64_MAX / source->scale ? UINT64_MAX : count * source->scale;
    switch (kind) {
    case RULE_RAND: return parse_rand(&p, count, out);
    case RULE_IOTA:
    case RULE_CYCLE: return parse_cycle(&p, kind, count, out);
    default: return parse_same(&p, kind, count, out);
    }
}

/* A list, with or without brackets. */
static vyre_status parse_elements(const values_buffer_source *source, const char *value,
                                  vyre_strbuf *out) {
    vyre_str text = trim(vyre_str_of(value));
    bool opens = text.size && text.data[0] == '[',
         closes = text.size && text.data[text.size - 1] == ']';
    if (opens != closes || (opens && text.size < 2)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "write [1, 2, 3] or 1,2,3",
                                "`%s`: `%s` has one bracket only", source->argument, value);
    }
    text = opens ? trim((vyre_str){text.data + 1, text.size - 2}) : text;
    if (opens && !text.size) {
        return VYRE_OK;
    }
    return parse_list(source, text.data, text.data + text.size, out);
}

vyre_status values_buffer_parse(const values_buffer_source *source, const char *value,
                                vyre_strbuf *out_bytes, size_t *out_offset) {
    *out_offset = 0;
    if (*value == '@') {
        return values_file_read(source, value + 1, out_bytes, out_offset);
    }
    int kind = 0;
    size_t size = strcspn(value, ":");
    while (kind < RULE_COUNT &&
           (strlen(rules[kind].name) != size || memcmp(rules[kind].name, value, size) != 0)) {
        kind++;
    }
    if (!*value) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "write zeros:0 for a buffer without elements", "`%s` has no value",
                                source->argument);
    }
    if (kind == RULE_COUNT && value[size]) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix_forms,
                                "`%s`: `%s` is not a value for a buffer", source->argument, value);
    }
    VYRE_TRY(kind < RULE_COUNT ? parse_rule(source, (rule)kind, value, out_bytes)
                               : parse_elements(source, value, out_bytes));
    return out_bytes->failed
               ? vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "make it smaller, or free memory",
                                  "no memory for the elements of `%s`", source->argument)
               : VYRE_OK;
}
