/* Stop words: how a run that is under way is told to end. Kernels look at the word from time to
 * time. On a CPU it is memory of the host; elsewhere a command of a queue of its own writes it. */
#ifndef VYRE_OPENCL_RUNTIME_STOP_H
#define VYRE_OPENCL_RUNTIME_STOP_H

#include "backend/opencl/runtime/device.h"

/* A word that is 0, for one run, until it is given back: when the run is over. */
VYRE_MUST_USE vyre_status opencl_stop_take(opencl_device *device, opencl_stop **out_stop);
void opencl_stop_give(opencl_device *device, opencl_stop *stop);

/* Sets it. */
VYRE_MUST_USE vyre_status opencl_stop_set(opencl_device *device, opencl_stop *stop);

void opencl_stops_free(opencl_device *device);

#endif
