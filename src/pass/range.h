/* Ranges: between which numbers the integers of a phase lie, and which accesses cannot miss their
 * array.
 *
 * Facts about a finished program, by instruction; nothing is changed. What is said holds for every
 * invocation that gets to the instruction, whatever the buffers hold. Known are: the domain, sizes
 * that arrays are declared with (the host compares them with the real lengths before anything
 * runs), lengths below 2^32, counters of loops, and the conditions of the branches around. A value
 * that may wrap around has the range of its type. */
#ifndef VYRE_PASS_RANGE_H
#define VYRE_PASS_RANGE_H

#include <vyre/program.h>

/* Holds the numbers of all integer types. */
__extension__ typedef __int128 vyre_wide;

typedef struct vyre_range {
    vyre_wide min, max; /* integers and bools; others have 0, 0 */
    bool exact;         /* arithmetic: the result is the number itself, nothing wraps around */
    bool always;        /* the same for invocations that branches around keep away, too */
    bool in_bounds;     /* accesses: the index is one of the array */

    /* Accesses: the index is a sum of a constant and something else, which is the same number for
     * all accesses of one place where nothing is done in between. */
    int64_t offset;
    uint32_t place;    /* number of that something; VYRE_NONE if it is unknown */
    uint32_t multiple; /* of which it is one; 0 if it is 0 */
} vyre_range;

typedef struct vyre_ranges {
    uint32_t first, count; /* instructions of the phase */
    vyre_range *rows;
} vyre_ranges;

/* False without memory; `ranges` is then empty. `own_domain`: the phase runs over the domain that
 * the program gives it or a part of it, not over a larger one that the config of a run brings. */
bool vyre_ranges_init(vyre_ranges *ranges, const vyre_ir *ir, uint32_t phase, bool own_domain);
/* The same, and tries to prove comparisons by `<` that are asked for, by instruction of the phase:
 * one that always holds has the range 1..1, one that never does 0..0. */
bool vyre_ranges_decide(vyre_ranges *ranges, const vyre_ir *ir, uint32_t phase, bool own_domain,
                        const uint8_t *asked);
void vyre_ranges_deinit(vyre_ranges *ranges);

static inline const vyre_range *vyre_range_of(const vyre_ranges *ranges, uint32_t inst) {
    return &ranges->rows[inst - ranges->first];
}

/* Of an operand, constants too. */
vyre_range vyre_range_operand(const vyre_ranges *ranges, const vyre_ir *ir, uint32_t operand);

#endif
