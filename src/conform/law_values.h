/* Values to test laws on, and the order of numbers. */
#ifndef VYRE_CONFORM_LAW_VALUES_H
#define VYRE_CONFORM_LAW_VALUES_H

#include <vyre/types.h>

#include "base/strbuf.h"

/* Appends the values of a type to try, as elements: all where they are few, else zeros, ones,
 * extremes, subnormals, infinities, NaN and some random ones. */
void conform_law_values(vyre_strbuf *bytes, vyre_type type);

/* Appends random elements: any bits, or small whole numbers, which meet more often. */
void conform_law_random(vyre_strbuf *bytes, vyre_type type, size_t count, uint64_t *seed);

/* -1, 0, 1; 2 where there is no order, as with NaN. */
int conform_law_order(vyre_type type, const uint8_t *left, const uint8_t *right);

#endif
