/* A device that runs programs as the cuda backend's PTX on the machine: whole programs, with
 * phases, repeats and grid barriers. */
#ifndef VYRE_TESTS_PTX_DEVICE_H
#define VYRE_TESTS_PTX_DEVICE_H

#include <vyre/device.h>

VYRE_MUST_USE vyre_status ptx_device_open(vyre_device **out_device);

#endif
