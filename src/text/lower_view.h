/* Lowering of views: `view words: buffer<u32> = bytes;` sees the bytes of an array as elements of
 * another type, lowest byte first.
 *
 * A view is no array of the program. Its handle is a number of its own, and loads and stores of its
 * elements become those of the array, so whatever looks at the program sees one array. */
#ifndef VYRE_TEXT_LOWER_VIEW_H
#define VYRE_TEXT_LOWER_VIEW_H

#include "text/lower.h"

/* A VIEW. */
void lower_view(vyre_lower *lower, vyre_node node);

/* The resource behind the handle of a scalar of an array; most are that resource. */
uint32_t lower_viewed(const vyre_lower *lower, uint32_t handle);
/* The one behind the first scalar of an array. */
uint32_t lower_resource_of(const vyre_lower *lower, const vyre_name_binding *array);

/* The length of an array, a load or uniform load of a scalar of its elements, and a store. */
uint32_t lower_len(vyre_lower *lower, const vyre_name_binding *array);
uint32_t lower_load(vyre_lower *lower, uint32_t handle, uint32_t index, vyre_op op);
void lower_store(vyre_lower *lower, uint32_t handle, uint32_t index, uint32_t value);

/* True, after a report, for a view, which `what` does not take. */
bool lower_refuse_view(vyre_lower *lower, uint32_t handle, uint32_t symbol, const char *what,
                       vyre_spot spot);

#endif
