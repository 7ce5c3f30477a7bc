#include "base/random.h"
#include "conform/law.h"
#include "values/element.h"

enum { RANDOM_VALUES = 12 };

/* Whether all values of a type are few enough to try each: those of 8 bits. */
static bool is_small(vyre_type type) {
    return vyre_type_bytes(type) == 1;
}

/* Zero, one, the neighbours of infinity, of the smallest normal number, and what is none. Every
 * NaN of the language is one. */
static void add_floats(vyre_strbuf *bytes, vyre_type type) {
    static const double plain[] = {0.0, 1.0, 2.0, 3.0, 0.5, 0.1, 1.5};
    uint32_t mantissa = values_float_format(type).mantissa_bits;
    uint64_t sign = (uint64_t)1 << (vyre_type_bytes(type) * 8 - 1);
    uint64_t infinity = (sign - 1) & ~(((uint64_t)1 << mantissa) - 1);
    uint64_t smallest = (uint64_t)1 << mantissa;
    const uint64_t special[] = {infinity, infinity - 1, smallest, smallest - 1, 1};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        values_element_store(bytes, type, values_float_from(type, plain[i]));
        values_element_store(bytes, type, values_float_from(type, plain[i]) | sign);
    }
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        values_element_store(bytes, type, special[i]);
        values_element_store(bytes, type, special[i] | sign);
    }
    values_element_store(bytes, type, infinity | smallest >> 1); /* NaN */
}

static void add_integers(vyre_strbuf *bytes, vyre_type type) {
    uint32_t width = vyre_type_bytes(type) * 8;
    uint64_t top = (uint64_t)1 << (width - 1);
    const uint64_t some[] = {0,
                             1,
                             2,
                             3,
                             5,
                             7,
                             255,
                             256,
                             top,
                             top - 1,
                             top + 1,
                             ~(uint64_t)0,
                             ~(uint64_t)1,
                             0x5555555555555555u,
                             0xaaaaaaaaaaaaaaaau};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        values_element_store(bytes, type, some[i]);
    }
}

void conform_law_random(vyre_strbuf *bytes, vyre_type type, size_t count, uint64_t *seed) {
    bool is_float = vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
    for (size_t i = 0; i < count; i++) {
        uint64_t draw = vyre_random(seed), small = draw >> 32 & 15;
        bool is_small = draw & 1;
        if (type == VYRE_TYPE_BOOL) {
            values_element_store(bytes, type, draw >> 8 & 1);
        } else if (is_float) {
            double number = (double)(int64_t)(draw >> 40) / (is_small ? 1048576.0 : 256.0);
            values_element_store(
                bytes, type, values_float_from(type, is_small ? (double)small : number - 32768.0));
        } else {
            values_element_store(bytes, type, is_small ? small : draw >> 1);
        }
    }
}

void conform_law_values(vyre_strbuf *bytes, vyre_type type) {
    uint64_t seed = 7;
    size_t count = type == VYRE_TYPE_BOOL ? 2 : 256;
    if (is_small(type)) {
        for (uint64_t i = 0; i < count; i++) {
            values_element_store(bytes, type, i);
        }
        return;
    }
    if (vyre_type_class_of(type) == VYRE_CLASS_FLOAT) {
        add_floats(bytes, type);
    } else {
        add_integers(bytes, type);
    }
    conform_law_random(bytes, type, RANDOM_VALUES, &seed);
}

int conform_law_order(vyre_type type, const uint8_t *left, const uint8_t *right) {
    uint64_t a = values_element_load(type, left), b = values_element_load(type, right);
    if (vyre_type_class_of(type) == VYRE_CLASS_FLOAT) {
        double x = values_float_to(type, a), y = values_float_to(type, b);
        return x != x || y != y ? 2 : (x > y) - (x < y);
    }
    if (vyre_type_class_of(type) == VYRE_CLASS_SIGNED) {
        uint64_t flip = (uint64_t)1 << (vyre_type_bytes(type) * 8 - 1);
        a ^= flip;
        b ^= flip;
    }
    return (a > b) - (a < b);
}
