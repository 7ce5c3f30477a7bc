/* Host memory that devices keep pinned. */
#ifndef VYRE_RUNTIME_MEMORY_H
#define VYRE_RUNTIME_MEMORY_H

#include <vyre/device.h>
#include <vyre/memory.h>

/* Pins all pinned memory of the process for a device that has been prepared, and from now on what
 * is pinned later. If the device cannot pin some of it, it copies that like pageable memory; the
 * first failure is logged. */
void vyre_memory_attach(vyre_device *device);
/* Unpins it, before the device is shut down or recovered. Does nothing for other devices. */
void vyre_memory_detach(vyre_device *device);

#endif
