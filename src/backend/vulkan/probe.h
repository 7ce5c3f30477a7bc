/* The probe: which corrections the arithmetic of a device needs, and whether its driver ends loops
 * that go on for long. What it finds is kept in the store,
 * by the identity of device and driver. */
#ifndef VYRE_VULKAN_PROBE_H
#define VYRE_VULKAN_PROBE_H

#include "backend/vulkan/device.h"

/* Takes over what an earlier probe found, if there was one. */
bool vulkan_probe_recall(vulkan_device *device);
/* Runs the probe on an open device, and remembers. */
VYRE_MUST_USE vyre_status vulkan_probe_run(vulkan_device *device);

#endif
