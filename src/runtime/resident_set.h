/* Resident set: the arguments of a run as buffers on a device, for programs that run often.
 *
 *     vyre_resident_set set = {0};
 *     status = vyre_resident_set_init(&set, device, &plan, inputs);
 *     status = vyre_pipeline_dispatch_resident(pipeline, set.bindings, set.count, ...);
 *     status = vyre_resident_set_read(&set, &outputs);
 *     status = vyre_resident_set_deinit(&set);
 */
#ifndef VYRE_RUNTIME_RESIDENT_SET_H
#define VYRE_RUNTIME_RESIDENT_SET_H

#include <vyre/pipeline.h>

#include "runtime/plan.h"

typedef struct vyre_resident_set {
    vyre_device *device;    /* borrowed, as the plan is */
    const vyre_plan *plan;  /* with the lengths of all arguments */
    vyre_binding *bindings; /* by argument */
    vyre_resident *buffers; /* likewise; scalars have none */
    uint32_t count;
    uint32_t made; /* arguments that are seen to */
} vyre_resident_set;

/* Makes buffers for all arguments and uploads what is read; to be deinitialized whatever comes
 * out. */
VYRE_MUST_USE vyre_status vyre_resident_set_init(vyre_resident_set *set, vyre_device *device,
                                                 const vyre_plan *plan, const vyre_input *inputs);
/* Uploads again what a run overwrites. */
VYRE_MUST_USE vyre_status vyre_resident_set_renew(vyre_resident_set *set, const vyre_input *inputs);
/* Reads what the buffers hold into outputs that vyre_outputs_make made by the same plan. */
VYRE_MUST_USE vyre_status vyre_resident_set_read(const vyre_resident_set *set,
                                                 vyre_outputs *outputs);
/* Frees all of it; the first failure of it. */
VYRE_MUST_USE vyre_status vyre_resident_set_deinit(vyre_resident_set *set);

#endif
