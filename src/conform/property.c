#include "conform/property.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text, *meaning;
} rows[] = {
#define ROW(name, text, meaning) [CONFORM_PROPERTY_##name] = {text, meaning},
    CONFORM_PROPERTIES(ROW)
#undef ROW
};

const char *conform_property_name(conform_property property) {
    return rows[property].text;
}

const char *conform_property_meaning(conform_property property) {
    return rows[property].meaning;
}

/* Bytes as they lie in memory: any order will do. */
#define COMPARE(bytes)                                                                             \
    static int compare_##bytes(const void *left, const void *right) {                              \
        return memcmp(left, right, bytes);                                                         \
    }
COMPARE(1)
COMPARE(2)
COMPARE(4)
COMPARE(8)

/* Modulo 2^width, the carry going from byte to byte. */
static void add_up(uint32_t bytes, uint8_t *data, size_t size) {
    for (size_t at = bytes; at < size; at += bytes) {
        unsigned carry = 0;
        for (uint32_t k = 0; k < bytes; k++) {
            carry += (unsigned)data[k] + data[at + k];
            data[k] = (uint8_t)carry;
            carry >>= 8;
        }
    }
    memset(data + bytes, 0, size - bytes);
}

void conform_property_settle(conform_property property, vyre_type type, uint8_t *data,
                             size_t size) {
    uint32_t bytes = vyre_type_bytes(type);
    if (property == CONFORM_PROPERTY_SAME || size <= bytes) {
        return;
    }
    if (property == CONFORM_PROPERTY_TOTAL) {
        add_up(bytes, data, size);
        return;
    }
    qsort(data, size / bytes, bytes,
          bytes == 1   ? compare_1
          : bytes == 2 ? compare_2
          : bytes == 4 ? compare_4
                       : compare_8);
}
