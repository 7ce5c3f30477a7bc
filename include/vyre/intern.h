/* Intern: a number for each name, the same in all threads for the life of the process.
 *
 *     uint32_t id;
 *     status = vyre_intern((vyre_str){"reduce.sum_u32", 14}, &id);
 *
 * Numbers start at 0 without gaps, so they can index an array. A name is any sequence of bytes.
 * Names are never freed. Any thread may make these calls. Only interning a new name takes a lock,
 * lookups never do. */
#ifndef VYRE_INTERN_H
#define VYRE_INTERN_H

#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VYRE_INTERN_NONE 0xffffffffu /* no name */

/* Copies the name and returns its number. If memory runs out, `*out_id` is VYRE_INTERN_NONE. */
VYRE_API VYRE_MUST_USE vyre_status vyre_intern(vyre_str name, uint32_t *out_id);

/* Returns VYRE_INTERN_NONE if the name was never interned. */
VYRE_API uint32_t vyre_intern_find(vyre_str name);

/* Returns the name with a NUL behind it, valid for the life of the process. `data` is NULL if no
 * name has that number. */
VYRE_API vyre_str vyre_intern_name(uint32_t id);

#ifdef __cplusplus
}
#endif

#endif
