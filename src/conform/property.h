/* Properties: how an output of a program is compared, where its bytes may depend on the schedule.
 *
 * Whatever a property lets vary is taken out of the bytes: sorted, added up. What remains must be
 * the same, and is what digests are made of. */
#ifndef VYRE_CONFORM_PROPERTY_H
#define VYRE_CONFORM_PROPERTY_H

#include <vyre/types.h>

/* X(name, text, meaning) */
#define CONFORM_PROPERTIES(X)                                                                      \
    X(SAME, "same", "the same bytes")                                                              \
    X(PERMUTATION, "permutation", "the same elements, in any order")                               \
    X(TOTAL, "total", "elements whose sum is the same")

typedef enum conform_property {
#define CONFORM_PROPERTY_ENUM(name, text, meaning) CONFORM_PROPERTY_##name,
    CONFORM_PROPERTIES(CONFORM_PROPERTY_ENUM)
#undef CONFORM_PROPERTY_ENUM
        CONFORM_PROPERTY_COUNT
} conform_property;

const char *conform_property_name(conform_property property);
const char *conform_property_meaning(conform_property property);

/* Brings the elements of an output into the one form that all outputs with that property have. A
 * total stands in the first element, and the others are 0. */
void conform_property_settle(conform_property property, vyre_type type, uint8_t *data, size_t size);

#endif
