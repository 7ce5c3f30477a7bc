/* Sizes, and places of data, to measure at.
 *
 * --sizes A..B[:STEP] stands for 2^A elements, 2^(A+STEP) and so on, and 2^B in any case; --sizes A
 * for one size. Several of these, with commas between them, stand for all their sizes. --data is a
 * list of host and resident. */
#ifndef VYRE_VALUES_SIZES_H
#define VYRE_VALUES_SIZES_H

#include <vyre/route.h>

enum { VALUES_SIZES_STEP = 4, VALUES_SIZES_LAST = 40 };

typedef struct values_sizes {
    uint32_t exponents[VALUES_SIZES_LAST + 1]; /* of 2, ascending, each once */
    uint32_t count;
} values_sizes;

/* NULL is what holds if nothing is given. */
VYRE_MUST_USE vyre_status values_sizes_parse(const char *text, values_sizes *out_sizes);

/* How many there are; and one of them, in ascending order, as a number of elements. */
size_t values_sizes_count(const values_sizes *sizes);
uint64_t values_sizes_at(const values_sizes *sizes, size_t index);

/* Which places of data are meant, by vyre_data. */
typedef struct values_places {
    bool wanted[VYRE_DATA_RESIDENT + 1];
} values_places;
VYRE_MUST_USE vyre_status values_places_parse(const char *text, values_places *out_places);

#endif
