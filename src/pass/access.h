/* Accesses: loads and stores of one invocation to neighbouring elements, which may be done as one.
 *
 * A group lies in one block. Its members are all loads or all stores of one array, of elements
 * i, i + 1, ..., and whoever gets to the first of them gets to all. Loads may be done with the
 * first, since nothing in between changes the array or waits for anybody; stores with the last,
 * since nothing in between touches it.
 *
 * The members of a group of fields are fields of one record instead, one behind the other. They
 * have as many bytes each, and one type if these are fewer than 4. */
#ifndef VYRE_PASS_ACCESS_H
#define VYRE_PASS_ACCESS_H

#include "pass/range.h"

enum { VYRE_ACCESS_MEMBERS = 16 };

typedef struct vyre_access_group {
    uint32_t head, count;                  /* the instruction that comes first; members */
    bool aligned;                          /* i is a multiple of the count, which is a power of 2 */
    bool in_bounds;                        /* all of them are */
    bool fields;                           /* of one record; `aligned` says nothing then */
    uint32_t members[VYRE_ACCESS_MEMBERS]; /* by element */
} vyre_access_group;

typedef struct vyre_accesses {
    uint32_t first, count;
    uint32_t *groups; /* by instruction of the phase: its group, VYRE_NONE if it has none */
    vyre_access_group *rows;
    uint32_t group_count;
} vyre_accesses;

/* False without memory. */
bool vyre_accesses_init(vyre_accesses *accesses, const vyre_ir *ir, uint32_t phase,
                        const vyre_ranges *ranges);
void vyre_accesses_deinit(vyre_accesses *accesses);

/* The group of an access, or NULL. */
static inline const vyre_access_group *vyre_access_group_of(const vyre_accesses *accesses,
                                                            uint32_t inst) {
    uint32_t group = accesses->groups[inst - accesses->first];
    return group == VYRE_NONE ? NULL : &accesses->rows[group];
}

/* The program as text, with what is known of its values and accesses beside them. Free the text
 * with vyre_string_free. */
VYRE_MUST_USE vyre_status vyre_facts_print(const vyre_program *program, char **out_text,
                                           size_t *out_size);

#endif
