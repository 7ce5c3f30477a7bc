/* Interned names: each name has one number in the process, the same from every thread and for good.
 *
 * Numbers are dense from 0, so that an array finds what belongs to a name. Names need not be known
 * to anybody: any bytes are a name. Names are never forgotten. All calls may come from any thread;
 * only interning a new name takes a lock, looking up never does. */
#ifndef VYRE_INTERN_H
#define VYRE_INTERN_H

#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VYRE_INTERN_NONE 0xffffffffu /* the number of no name */

/* The name is copied. Without memory the name stays unknown and `*out_id` is VYRE_INTERN_NONE. */
VYRE_API VYRE_MUST_USE vyre_status vyre_intern(vyre_str name, uint32_t *out_id);

/* VYRE_INTERN_NONE if nobody has interned it. */
VYRE_API uint32_t vyre_intern_find(vyre_str name);

/* The name, valid for good, with a NUL after its end; a NULL pointer for a number that is none. */
VYRE_API vyre_str vyre_intern_name(uint32_t id);

#ifdef __cplusplus
}
#endif

#endif
