/* Walk: the instructions of a phase in their order, with the blocks that are open around each.
 *
 *     vyre_walk at;
 *     uint32_t inst;
 *     vyre_walk_begin(&at, ir, phase);
 *     while (vyre_walk_next(&at, &inst)) { ... at.stack[at.depth - 1].owner ... }
 */
#ifndef VYRE_PASS_WALK_H
#define VYRE_PASS_WALK_H

#include <vyre/limits.h>
#include <vyre/program.h>

typedef struct vyre_walk_block {
    uint32_t owner; /* VYRE_NONE: the phase itself, at level 0 */
    uint32_t end;
    bool in_then;
} vyre_walk_block;

typedef struct vyre_walk {
    const vyre_ir *ir;
    const vyre_phase *phase;
    uint32_t next, last; /* instructions */
    vyre_walk_block stack[VYRE_LIMIT_NESTING + 2];
    uint32_t depth;
} vyre_walk;

void vyre_walk_begin(vyre_walk *walk, const vyre_ir *ir, const vyre_phase *phase);
bool vyre_walk_next(vyre_walk *walk, uint32_t *out_inst);

/* The level that a jump leads to from where the walk is. */
uint32_t vyre_walk_target(const vyre_walk *walk, uint32_t jump);

/* Whether a loop may go on until somebody else does something. */
bool vyre_loop_is_open(const vyre_ir *ir, uint32_t loop);

/* Whether the instruction stands in such a loop. */
bool vyre_walk_in_open_loop(const vyre_walk *walk);

/* Whether a phase may write a buffer or scratch array. */
bool vyre_phase_writes(const vyre_ir *ir, uint32_t phase, uint32_t array);

#endif
