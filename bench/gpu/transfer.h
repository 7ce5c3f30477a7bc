/* Copies between the host and a GPU, through the public API and through the driver. */
#ifndef VYRE_BENCH_GPU_TRANSFER_H
#define VYRE_BENCH_GPU_TRANSFER_H

#include <vyre/device.h>

/* Prints GB/s each way, by size and by kind of memory: pageable, and pinned if it is wanted. */
void transfer(vyre_device *device, bool is_pageable_only);

#endif
