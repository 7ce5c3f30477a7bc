/* Shapes: the sizes of an array's dimensions, the slowest first, as files of arrays state them. */
#ifndef VYRE_VALUES_SHAPE_H
#define VYRE_VALUES_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

enum { VALUES_RANK_MAX = 64 }; /* NumPy's */

typedef struct values_shape {
    bool is_known;
    uint32_t rank; /* 0: a single element */
    uint64_t sizes[VALUES_RANK_MAX];
} values_shape;

static inline values_shape values_shape_vector(uint64_t length) {
    return (values_shape){.is_known = true, .rank = 1, .sizes = {length}};
}

#endif
