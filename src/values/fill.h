/* Elements of buffers that follow a rule; see value.h. */
#ifndef VYRE_VALUES_FILL_H
#define VYRE_VALUES_FILL_H

#include <vyre/types.h>

#include "base/strbuf.h"

/* Appends `count` random elements; integers below `bound` unless it is 0. */
void values_fill_random(vyre_strbuf *out, vyre_type type, uint64_t count, uint64_t seed,
                        uint64_t bound);

/* Appends `count` elements that repeat those of `list`, each time with `step` added to them: the
 * bits of an integer, which wraps around, or of an f64 for floats. The list is not empty and lies
 * elsewhere. */
void values_fill_cycle(vyre_strbuf *out, vyre_type type, uint64_t count, const vyre_strbuf *list,
                       uint64_t step);

#endif
