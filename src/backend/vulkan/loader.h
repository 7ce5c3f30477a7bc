/* The Vulkan loader: opened at run time, when the first device is asked for, never closed. */
#ifndef VYRE_VULKAN_LOADER_H
#define VYRE_VULKAN_LOADER_H

#include <vyre/status.h>

#include "backend/vulkan/table.h"

/* The instance of the process; or what is missing on this machine, with the package to install. */
VYRE_MUST_USE vyre_status vulkan_loader_open(const vulkan_instance **out_instance);

/* "VK_ERROR_DEVICE_LOST (-4)" */
enum { VULKAN_ERROR_TEXT_BYTES = 64 };
void vulkan_error_text(VkResult result, char out_text[VULKAN_ERROR_TEXT_BYTES]);

#endif
