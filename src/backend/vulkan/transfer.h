/* Copies between the host and blocks: directly where the host reaches them, else through memory
 * that both reach, in parts: while the device copies one, the host copies the next. No work uses
 * the block meanwhile. */
#ifndef VYRE_VULKAN_TRANSFER_H
#define VYRE_VULKAN_TRANSFER_H

#include "backend/vulkan/batch.h"

VYRE_MUST_USE vyre_status vulkan_upload(vulkan_device *device, vulkan_block *to, uint64_t offset,
                                        const void *from, uint64_t bytes);
VYRE_MUST_USE vyre_status vulkan_download(vulkan_device *device, void *to, const vulkan_block *from,
                                          uint64_t offset, uint64_t bytes);
/* Inside the device. */
VYRE_MUST_USE vyre_status vulkan_copy(vulkan_device *device, vulkan_block *to, uint64_t to_offset,
                                      const vulkan_block *from, uint64_t from_offset,
                                      uint64_t bytes);
/* Repeats a pattern of 1, 2, 4, 8 or 16 bytes; `bytes` is a multiple of it. */
VYRE_MUST_USE vyre_status vulkan_fill(vulkan_device *device, vulkan_block *to, uint64_t offset,
                                      uint64_t bytes, const void *pattern, size_t pattern_size);

#endif
