/* Places of arrays: where swaps have left their contents, and how these come home.
 *
 * A swap exchanges the places of two arrays and copies nothing. At the end of a run the contents of
 * the caller's buffers must be in the caller's memory, and are copied there if they are elsewhere:
 * once each, and once more for buffers that have only exchanged places with one another. */
#ifndef VYRE_RUNTIME_PLACES_H
#define VYRE_RUNTIME_PLACES_H

#include <vyre/program.h>

/* Whether a program swaps arrays. */
bool vyre_places_change(const vyre_ir *ir);

/* Copies the contents of one place to another. A place is that of the array with this number;
 * VYRE_NONE is spare memory, which the first copy to it makes. `like` is an array of that size. */
typedef vyre_status (*vyre_place_copy)(void *user, uint32_t to, uint32_t from, uint32_t like);

/* Brings the contents of all buffers home. `places` has the place of each array, buffers and
 * scratch, and is as it was at the start afterwards. */
VYRE_MUST_USE vyre_status vyre_places_settle(const vyre_ir *ir, uint32_t *places, uint32_t count,
                                             vyre_place_copy copy, void *user);

#endif
