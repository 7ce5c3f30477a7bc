/* The probe: which corrections the arithmetic of a device needs. What it finds is kept in the store,
 * by the identity of device and driver. */
#ifndef VYRE_VULKAN_PROBE_H
#define VYRE_VULKAN_PROBE_H

#include "backend/vulkan/device.h"

/* Sets device->needed and its text, if they are known from an earlier probe or process. */
VYRE_MUST_USE vyre_status vulkan_probe_recall(vulkan_device *device, bool *out_known);
/* Runs the probe on an open device, and remembers. */
VYRE_MUST_USE vyre_status vulkan_probe_run(vulkan_device *device);

#endif
