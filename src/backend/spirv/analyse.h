/* What the emitter must know of a phase before it writes code. */
#ifndef VYRE_SPIRV_ANALYSE_H
#define VYRE_SPIRV_ANALYSE_H

#include "ir/lookup.h"
#include "pass/nan.h"
#include "pass/range.h"

/* Where a `return` leaves from. */
enum {
    SPIRV_LEAVES_EARLY = 1, /* not the end of its block alone: there is code to jump over */
    SPIRV_LEAVES_LOOPS = 2  /* an `inline` or the phase: from inside loops in it; a loop: through it
                             */
};

typedef struct spirv_facts {
    const vyre_ir *ir;
    const vyre_phase *phase;
    vyre_nans nans;
    vyre_ranges ranges;
    uint8_t *leaves;      /* by instruction of the phase: SPIRV_LEAVES_ bits of loops and inlines */
    uint8_t phase_leaves; /* of the phase itself */
    bool *written;        /* by resource: the phase writes it */
    bool *used;           /* by resource: the phase touches it, or asks for its length */
    uint32_t *uses;       /* by instruction of the phase */
    bool has_grid_barriers;
    bool has_subgroups; /* operations that exchange values, or numbers of lanes and subgroups */
    bool has_loops;     /* that may run for long */
    bool may_wait;      /* for what an earlier workgroup does */
    bool synchronises;  /* invocations see what others write */
    bool writes_halves; /* elements of 16 bits, to memory */
    bool orders;        /* atomics or subgroups order other accesses */
} spirv_facts;

/* False without memory. `own_domain`: the phase runs over the domain that the program gives it or a
 * part of it. */
bool spirv_analyse(spirv_facts *facts, const vyre_ir *ir, uint32_t phase, bool own_domain);
void spirv_facts_free(spirv_facts *facts);

static inline uint32_t spirv_leaves(const spirv_facts *facts, uint32_t owner) {
    return owner == VYRE_NONE ? facts->phase_leaves : facts->leaves[owner - facts->phase->first];
}

/* Whether an access stays in its array. */
static inline bool spirv_is_inside(const spirv_facts *facts, uint32_t inst) {
    return vyre_range_of(&facts->ranges, inst)->in_bounds;
}

/* Whether a loop ends soon whatever happens, so that nobody has to be able to stop it. */
bool spirv_ends_soon(const vyre_ir *ir, uint32_t loop);
/* How many iterations it has at most; 0 if that is not known. */
uint32_t spirv_constant_iterations(const vyre_ir *ir, uint32_t loop);
/* Private arrays of more elements are cleared by a loop. */
enum { SPIRV_CLEARED_AT_ONCE = 64 };

/* Loops that stand in a block, at any depth, with those that clear a private array. */
uint32_t spirv_loops_within(const vyre_ir *ir, vyre_block block);

#endif
