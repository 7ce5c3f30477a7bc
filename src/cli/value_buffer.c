#include <string.h>
#include <unistd.h>

#include <vyre/reference.h>

#include "base/file.h"
#include "base/random.h"
#include "cli/npy.h"
#include "cli/value.h"

static const char fix_forms[] = "write 1,2,3 or zeros:N, iota:N, rand:N[:SEED[:BOUND]], @FILE";

static vyre_status no_memory(const char *argument) {
    return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "make it smaller, or free memory",
                            "no memory for the elements of `%s`", argument);
}

/* Reads elements parted by commas. */
static vyre_status parse_list(const cli_buffer_source *source, const char *value, vyre_text *out) {
    for (;;) {
        vyre_str text = {value, strcspn(value, ",")};
        uint64_t bits;
        vyre_status status = cli_value_parse(source->argument, source->type, text, &bits);
        if (status) {
            return vyre_status_annotate(status, "in element %zu",
                                        out->size / vyre_type_bytes(source->type));
        }
        cli_value_store(out, source->type, bits);
        if (!text.data[text.size]) {
            return VYRE_OK;
        }
        value += text.size + 1;
    }
}

/* The numbers behind a word: "rand:8:1" has two. */
enum { NUMBERS = 3 };
typedef struct numbers {
    uint64_t at[NUMBERS];
    size_t count;
} numbers;

static vyre_status parse_numbers(const cli_buffer_source *source, const char *text, size_t most,
                                 numbers *out) {
    *out = (numbers){0};
    for (const char *at = strchr(text, ':'); at; at = strchr(at + 1, ':')) {
        if (out->count == most) {
            return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix_forms,
                                    "`%s`: `%s` has one number too many", source->argument, text);
        }
        vyre_str digits = {at + 1, strcspn(at + 1, ":")};
        vyre_status status =
            cli_value_parse(source->argument, VYRE_TYPE_U64, digits, &out->at[out->count++]);
        if (status) {
            return vyre_status_annotate(status, "in `%s`", text);
        }
    }
    return VYRE_OK;
}

/* A number that an f64 holds exactly, in the format of another type. */
static uint64_t from_double(vyre_type type, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return type == VYRE_TYPE_F64 ? bits
                                 : vyre_float_convert(VYRE_FLOAT_F64, cli_float_format(type), bits);
}

/* Upper bits of what these two give are not stored. */
static uint64_t from_index(vyre_type type, uint64_t index) {
    bool is_float = vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
    return is_float ? from_double(type, (double)index) : index;
}

static uint64_t from_draw(vyre_type type, uint64_t draw) {
    if (vyre_type_class_of(type) != VYRE_CLASS_FLOAT) {
        return draw;
    }
    uint32_t digits = cli_float_format(type).mantissa_bits + 1u; /* the leading one is implied */
    return from_double(type, (double)(draw >> (64 - digits)) / (double)((uint64_t)1 << digits));
}

static vyre_status check_bound(const cli_buffer_source *source, const char *value,
                               const numbers *given) {
    uint32_t width = vyre_type_bytes(source->type) * 8;
    vyre_type_class class_of = vyre_type_class_of(source->type);
    uint32_t usable = width - (class_of == VYRE_CLASS_SIGNED);
    bool is_integer = class_of & VYRE_CLASS_INTEGER;
    bool fits = given->at[2] && (usable >= 64 || given->at[2] <= (uint64_t)1 << usable);
    if (given->count < 3 || (is_integer && fits)) {
        return VYRE_OK;
    }
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                            is_integer ? "take a bound from 1 to one more than the largest number "
                                         "of the type"
                                       : "leave the bound out; only integers have one",
                            "`%s`: `%s` has a bound that %s cannot have", source->argument, value,
                            vyre_type_name(source->type));
}

typedef enum fill { FILL_ZEROS, FILL_IOTA, FILL_RAND, FILL_COUNT } fill;

static vyre_status parse_fill(const cli_buffer_source *source, fill kind, const char *value,
                              vyre_text *out) {
    numbers given;
    vyre_status status = parse_numbers(source, value, kind == FILL_RAND ? 3 : 1, &given);
    status = status ? status : check_bound(source, value, &given);
    if (status) {
        return status;
    }
    if (!given.count || given.at[0] > UINT32_MAX) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "say how many there are, as in zeros:1024; at most 4294967295",
                                "`%s`: `%s` is no number of elements", source->argument, value);
    }
    if (given.at[0] > VYRE_REFERENCE_MEMORY_BYTES / vyre_type_bytes(source->type)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "ask for fewer",
                                "`%s`: the elements of `%s` take more than %llu bytes, all that a "
                                "run may use",
                                source->argument, value,
                                (unsigned long long)VYRE_REFERENCE_MEMORY_BYTES);
    }
    uint64_t count = given.at[0], state = given.count > 1 ? given.at[1] : source->seed;
    if (kind == FILL_ZEROS) {
        vyre_text_repeat(out, 0, count * vyre_type_bytes(source->type));
        return VYRE_OK;
    }
    for (uint64_t i = 0; i < count && !out->failed; i++) {
        uint64_t bits = kind == FILL_IOTA  ? from_index(source->type, i)
                        : given.count == 3 ? vyre_random_below(&state, given.at[2])
                                           : from_draw(source->type, vyre_random(&state));
        cli_value_store(out, source->type, bits);
    }
    return VYRE_OK;
}

static vyre_status parse_file(const cli_buffer_source *source, const char *path, vyre_text *out,
                              size_t *offset) {
    const size_t header_room = 1 << 20;
    size_t width = vyre_type_bytes(source->type), length = strlen(path);
    size_t limit = (size_t)VYRE_REFERENCE_MEMORY_BYTES + header_room;
    bool is_stdin = !strcmp(path, "-");
    bool is_npy = length > 4 && !strcmp(path + length - 4, ".npy");
    const char *name = is_stdin ? "<stdin>" : path;
    if (!length) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "write the file's name behind the @, - for stdin",
                                "`%s`: `@` names no file", source->argument);
    }
    if (is_stdin && *source->stdin_used) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "put one of them into a file",
                                "`%s` is to come from stdin, which something else is read from",
                                source->argument);
    }
    *source->stdin_used |= is_stdin;
    vyre_status status = is_stdin ? vyre_file_read_open(STDIN_FILENO, name, limit, out)
                                  : vyre_file_read(path, limit, out);
    if (!status && is_npy) {
        status = cli_npy_read(out, name, source->argument, source->type, offset);
    } else if (!status && out->size % width) {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                  "see that the file holds elements of that type and is whole",
                                  "%s has %zu bytes, and the elements of `%s` are %s of %zu", name,
                                  out->size, source->argument, vyre_type_name(source->type), width);
    }
    return status;
}

vyre_status cli_buffer_parse(const cli_buffer_source *source, const char *value,
                             vyre_text *out_bytes, size_t *out_offset) {
    static const char *const names[FILL_COUNT] = {"zeros", "iota", "rand"};
    *out_offset = 0;
    if (*value == '@') {
        return parse_file(source, value + 1, out_bytes, out_offset);
    }
    vyre_status status = VYRE_OK;
    int kind = 0;
    size_t size = strcspn(value, ":");
    while (kind < FILL_COUNT &&
           (strlen(names[kind]) != size || memcmp(names[kind], value, size) != 0)) {
        kind++;
    }
    if (!*value) {
        status =
            vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "zeros:0 is a buffer without elements",
                             "`%s` has no value", source->argument);
    } else if (kind < FILL_COUNT) {
        status = parse_fill(source, (fill)kind, value, out_bytes);
    } else if (value[size]) {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix_forms,
                                  "`%s`: `%s` is no buffer", source->argument, value);
    } else {
        status = parse_list(source, value, out_bytes);
    }
    return status || !out_bytes->failed ? status : no_memory(source->argument);
}
