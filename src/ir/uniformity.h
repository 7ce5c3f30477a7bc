/* Uniformity: which values are the same for whom, and who reaches an instruction together.
 *
 * The rules are WGSL's, carried over to structured SSA. A value's level says how large a group is
 * sure to agree on it; control flow has a level too: how large a group is sure to arrive together.
 * Invocations that part at an `if` or a loop meet again behind it, unless some left by an outer
 * jump.
 *
 * The analysis builds a graph of what depends on what and lowers levels along it until nothing
 * changes, in time and memory linear in the size of the phase.
 */
#ifndef VYRE_IR_UNIFORMITY_H
#define VYRE_IR_UNIFORMITY_H

#include <vyre/program.h>

typedef enum vyre_uniformity {
    VYRE_VARYING,
    VYRE_UNIFORM_SUBGROUP,
    VYRE_UNIFORM_WORKGROUP,
    VYRE_UNIFORM_GRID
} vyre_uniformity;

/* An instruction that others must reach together with it, and the node of its control flow. */
typedef struct vyre_sync {
    uint32_t inst, control;
} vyre_sync;

typedef struct vyre_uniformity_map {
    uint32_t first;  /* the phase's first instruction */
    uint32_t count;  /* nodes: the phase's instructions, then points of control flow */
    uint8_t *levels; /* by node: vyre_uniformity */
    uint32_t
        *causes; /* by node: the node that lowered it; itself at the root, VYRE_NONE if nobody */
    vyre_sync *syncs; /* in the order of the instructions */
    uint32_t sync_count;
    uint32_t *controls; /* by instruction of the phase: the node of its control flow, or NULL */
} vyre_uniformity_map;

/* False without memory; `map` is then empty. Causes are for explanations, controls for those who
 * take code apart; both cost memory and time. */
bool vyre_uniformity_init(vyre_uniformity_map *map, const vyre_ir *ir, uint32_t phase,
                          bool with_causes, bool with_controls);
void vyre_uniformity_deinit(vyre_uniformity_map *map);

#endif
