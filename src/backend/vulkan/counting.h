/* Domains from memory: a kernel of one invocation looks at the elements and writes how many
 * workgroups there are, and the device dispatches as many (vkCmdDispatchIndirect). The host does
 * not wait for it. One pipeline counts for all phases of a device. */
#ifndef VYRE_VULKAN_COUNTING_H
#define VYRE_VULKAN_COUNTING_H

#include "backend/vulkan/batch.h"

/* Makes the pipeline, unless it is there. For every executable that counts. */
VYRE_MUST_USE vyre_status vulkan_counting_make(vulkan_device *device);
/* Nothing runs it any more. */
void vulkan_counting_drop(vulkan_device *device);

/* Counts, for the dispatch that comes next. What the kernel gets is a spirv_count at that address,
 * in the batch's frames. */
void vulkan_put_counting(vulkan_batch *batch, uint64_t address);
/* Dispatches what it counted, with the pipeline at hand. */
void vulkan_put_indirect(vulkan_batch *batch, uint64_t address);

#endif
