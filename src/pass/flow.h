/* Flow: which block every instruction stands in, and where the ends of blocks lead. */
#ifndef VYRE_PASS_FLOW_H
#define VYRE_PASS_FLOW_H

#include <vyre/program.h>

/* Arrays by instruction; VYRE_NONE where there is nothing to name. */
typedef struct vyre_flow {
    uint32_t *owner;  /* whose block it stands in; none at the level of the phase */
    uint32_t *target; /* of an end: the `if`, loop or `inline` that it leaves or goes on with */
    uint32_t *end;    /* of a block's owner: the last of the ends that lead to it... */
    uint32_t *before; /* ...and of an end: the one before it with the same target */
} vyre_flow;

/* False without memory. */
VYRE_MUST_USE bool vyre_flow_init(vyre_flow *flow, const vyre_ir *ir);
void vyre_flow_deinit(vyre_flow *flow);

/* Over the ends that lead to `to`, last one first. */
#define VYRE_FLOW_ENDS(flow, to, at)                                                               \
    for (uint32_t at = (flow)->end[to]; at != VYRE_NONE; at = (flow)->before[at])

#endif
