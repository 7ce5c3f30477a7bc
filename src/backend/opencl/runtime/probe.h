/* What a device's arithmetic needs corrections for: found out once by running pass/probe.h, and
 * remembered in the store for this device, driver and set of options. */
#ifndef VYRE_OPENCL_RUNTIME_PROBE_H
#define VYRE_OPENCL_RUNTIME_PROBE_H

#include "backend/opencl/runtime/device.h"

/* Sets the device's corrections. Does nothing if they are known. */
VYRE_MUST_USE vyre_status opencl_probe(opencl_device *device);

/* Says what is corrected on each device, as far as the store knows; NULL without a device. The text
 * is valid until the next call. */
const char *opencl_probe_describe(void);

#endif
