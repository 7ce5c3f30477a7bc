/* The exactness probe: a battery of operands through the device's own arithmetic, compared with the
 * host's. What code rests on is that + - * / sqrt and fma are correctly rounded in f32 and f64 and
 * that subnormals are kept; a device of which this is not true is refused. */
#ifndef VYRE_CUDA_RUNTIME_PROBE_H
#define VYRE_CUDA_RUNTIME_PROBE_H

#include "backend/cuda/runtime/device.h"

/* In the device's context, which is open. */
VYRE_MUST_USE vyre_status cuda_probe(cuda_device *device);

#endif
