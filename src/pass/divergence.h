/* Divergence: which values differ among invocations that run side by side in one piece of code, and
 * where their ways part. Side by side are the lanes of a vector, or the parts of a thread; what
 * does not vary among them is computed once.
 *
 * Where ways part, a backend runs the code of all of them under masks, or writes it once for each:
 * then everything that such a block carries or gives is there once for each, too. */
#ifndef VYRE_PASS_DIVERGENCE_H
#define VYRE_PASS_DIVERGENCE_H

#include "ir/lookup.h"

typedef struct vyre_divergence_fact {
    bool varying;   /* values: differs */
    bool divergent; /* blocks: ways part there; jumps: not all that are in the target go */
    bool partial;   /* blocks: some may leave before the end of the block */
    bool blends;    /* loops: several ways lead to the next iteration, at different times */
} vyre_divergence_fact;

typedef struct vyre_divergence_rules {
    /* Whether a value varies, `operands` being whether one that it is computed from does. */
    bool (*varies)(const void *user, uint32_t inst, bool operands);
    /* Whether a block, of which VYRE_NONE is the phase, is one that all enter and leave together
     * whatever varies, also with others that are not side by side. NULL if none is. */
    bool (*is_joint)(const void *user, uint32_t owner);
    const void *user;
    bool is_alone; /* one invocation by itself: nothing varies */
    bool copies;   /* blocks where ways part are written once for each */
} vyre_divergence_rules;

typedef struct vyre_divergence {
    const vyre_phase *phase;
    vyre_divergence_fact *rows; /* by instruction of the phase */
    bool partial;               /* some may end before the phase does */
} vyre_divergence;

/* The rules may ask what is known so far, which only ever becomes more. False without memory. */
bool vyre_divergence_init(vyre_divergence *divergence, const vyre_ir *ir, const vyre_phase *phase,
                          const vyre_divergence_rules *rules);
void vyre_divergence_deinit(vyre_divergence *divergence);

static inline const vyre_divergence_fact *vyre_divergence_of(const vyre_divergence *divergence,
                                                             uint32_t inst) {
    return &divergence->rows[inst - divergence->phase->first];
}

static inline bool vyre_operand_varies(const vyre_divergence *divergence, uint32_t operand) {
    return vyre_operand_is_value(operand) && vyre_divergence_of(divergence, operand)->varying;
}

#endif
