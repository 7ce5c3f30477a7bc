#include "values/fill.h"

#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "values/element.h"

__extension__ typedef unsigned __int128 uint128;

/* Elements are made and stored so many at a time. */
enum { BLOCK = 512 };

/* Room behind what is there; NULL without memory. */
static char *make_room(vyre_strbuf *out, vyre_type type, uint64_t count) {
    size_t start = out->size, width = vyre_type_bytes(type);
    if (count > SIZE_MAX / width) {
        out->failed = true;
    } else {
        vyre_strbuf_repeat(out, 0, count * width);
    }
    return out->failed ? NULL : out->data + start;
}

static inline void store_as(char *to, const uint64_t *bits, size_t count, uint32_t width) {
    for (size_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < width; k++) {
            to[i * width + k] = (char)(bits[i] >> 8 * k & 0xff);
        }
    }
}

/* Little-endian; upper bits are not stored. A loop for each width is several times faster. */
static void store(char *to, const uint64_t *bits, size_t count, uint32_t width) {
    switch (width) {
    case 1: store_as(to, bits, count, 1); break;
    case 2: store_as(to, bits, count, 2); break;
    case 4: store_as(to, bits, count, 4); break;
    default: store_as(to, bits, count, 8); break;
    }
}

/* What `%` gives: the product with the reciprocal is at most a little too small. */
static void reduce(uint64_t *draws, size_t count, uint64_t bound) {
    if (!(bound & (bound - 1))) {
        for (size_t i = 0; i < count; i++) {
            draws[i] &= bound - 1;
        }
        return;
    }
    uint64_t reciprocal = UINT64_MAX / bound;
    for (size_t i = 0; i < count; i++) {
        uint64_t quotient = (uint64_t)((uint128)draws[i] * reciprocal >> 64);
        uint64_t rest = draws[i] - quotient * bound;
        while (rest >= bound) {
            rest -= bound;
        }
        draws[i] = rest;
    }
}

/* The upper bits of a draw, as many as the format has, as a fraction. */
static void make_fractions(vyre_type type, uint64_t *draws, size_t count, const uint64_t *small) {
    uint32_t digits = values_float_format(type).mantissa_bits + 1u; /* the leading one is implied */
    for (size_t i = 0; i < count && type == VYRE_TYPE_F32; i++) {
        float number = (float)(int32_t)(draws[i] >> 40) * 0x1p-24f;
        uint32_t bits;
        memcpy(&bits, &number, sizeof bits);
        draws[i] = bits;
    }
    for (size_t i = 0; i < count && type == VYRE_TYPE_F64; i++) {
        double number = (double)(int64_t)(draws[i] >> 11) * 0x1p-53;
        memcpy(&draws[i], &number, sizeof number);
    }
    for (size_t i = 0; i < count && vyre_type_bytes(type) == 2; i++) {
        draws[i] = small[draws[i] >> (64 - digits)];
    }
}

void values_fill_random(vyre_strbuf *out, vyre_type type, uint64_t count, uint64_t seed,
                        uint64_t bound) {
    enum { SMALL_DIGITS = 11 }; /* of f16; bf16 has 8 */
    uint64_t draws[BLOCK], small[1 << SMALL_DIGITS];
    bool is_float = vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
    uint32_t width = vyre_type_bytes(type);
    char *to = make_room(out, type, count);
    if (is_float && width == 2) {
        uint32_t digits = values_float_format(type).mantissa_bits + 1u;
        for (uint32_t i = 0; i < 1u << digits; i++) {
            small[i] = values_float_from(type, (double)i / (double)(1u << digits));
        }
    }
    for (uint64_t done = 0; to && done < count; done += BLOCK) {
        size_t here = count - done < BLOCK ? (size_t)(count - done) : BLOCK;
        for (size_t i = 0; i < here; i++) {
            draws[i] = vyre_random(&seed);
        }
        if (is_float) {
            make_fractions(type, draws, here, small);
        } else if (bound) {
            reduce(draws, here, bound);
        }
        store(to + done * width, draws, here, width);
    }
}

/* Copies what is there until it is all. */
static void repeat(char *to, size_t size, const vyre_strbuf *list) {
    size_t done = size < list->size ? size : list->size;
    memcpy(to, list->data, done);
    while (done < size) {
        size_t more = size - done < done ? size - done : done;
        memcpy(to + done, to, more);
        done += more;
    }
}

/* A float of the list after so many turns. */
static uint64_t step_float(vyre_type type, double first, double step, uint64_t turn) {
    double number = first + (double)turn * step;
    float rounded = (float)number;
    uint32_t bits;
    if (type != VYRE_TYPE_F32) {
        return values_float_from(type, number);
    }
    memcpy(&bits, &rounded, sizeof bits);
    return bits;
}

void values_fill_cycle(vyre_strbuf *out, vyre_type type, uint64_t count, const vyre_strbuf *list,
                       uint64_t step) {
    bool is_float = vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
    uint32_t width = vyre_type_bytes(type);
    size_t length = list->size / width, at = 0;
    uint64_t values[BLOCK], turn = 0;
    char *to = make_room(out, type, count);
    if (to && !step) {
        repeat(to, count * width, list);
        return;
    }
    uint64_t *first = to ? vyre_alloc_array(length, sizeof *first) : NULL;
    out->failed |= !first;
    for (size_t i = 0; first && i < length; i++) {
        first[i] = values_element_load(type, (const uint8_t *)list->data + i * width);
    }
    for (uint64_t done = 0; first && done < count; done += BLOCK) {
        size_t here = count - done < BLOCK ? (size_t)(count - done) : BLOCK;
        for (size_t i = 0; i < here; i++) {
            values[i] = is_float ? step_float(type, values_float_to(type, first[at]),
                                              values_float_to(VYRE_TYPE_F64, step), turn)
                                 : first[at] + turn * step;
            at = at + 1 < length ? at + 1 : 0;
            turn += !at;
        }
        store(to + done * width, values, here, width);
    }
    vyre_free(first);
}
