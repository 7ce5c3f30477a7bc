/* The rows of resident buffers, for calls that use them.
 *
 * Ranges share the memory of a root: a buffer that was allocated or imported. The root records the
 * users of the memory, so that calls on buffers that share it wait for each other. */
#ifndef VYRE_RUNTIME_RESIDENT_H
#define VYRE_RUNTIME_RESIDENT_H

#include "runtime/device.h"

/* All of these are called in the lock of the device's residents, which may move the rows. */

/* The row of a handle; NULL if the handle is not valid any more. */
vyre_resident_row *vyre_resident_find(const vyre_device *device, vyre_resident handle);

static inline vyre_resident_row *vyre_resident_root(const vyre_device *device,
                                                    const vyre_resident_row *row) {
    return &device->rows[row->root];
}

/* One call may write a root, or several may read it. */
bool vyre_resident_is_available(const vyre_resident_row *root, bool writes);
void vyre_resident_take(vyre_resident_row *root, bool writes);
void vyre_resident_give(vyre_resident_row *root);

/* Whether two buffers have bytes in common. */
bool vyre_resident_overlap(const vyre_resident_row *one, const vyre_resident_row *other);

/* Waits until a call gives buffers back, outside of the lock; wakes the calls that wait. */
void vyre_residents_wait(vyre_device *device);
void vyre_residents_wake(vyre_device *device);

/* The error for a handle without a buffer. */
VYRE_MUST_USE vyre_status vyre_resident_refuse(const vyre_device *device, vyre_resident handle);

#endif
