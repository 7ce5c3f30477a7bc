/* What a run costs beside its kernel, on any backend of a GPU. */
#ifndef VYRE_BENCH_GPU_WAITS_H
#define VYRE_BENCH_GPU_WAITS_H

#include <vyre/device.h>

/* Prints the time of a small kernel that is enqueued and waited for, and of many that are waited
 * for at once; for opencl beside the same kernel through the driver. */
void waits(vyre_device *device);

#endif
