/* Code for a device: from PTX to a binary, and a binary on the device. In the device's context. */
#ifndef VYRE_CUDA_RUNTIME_MODULE_H
#define VYRE_CUDA_RUNTIME_MODULE_H

#include "backend/cuda/runtime/device.h"
#include "base/strbuf.h"

/* Translates with the driver's compiler, each text in a thread of its own. A text ends with a NUL
 * that its size does not count; `name` is for messages. `out_images` must be empty. */
VYRE_MUST_USE vyre_status cuda_module_translate(cuda_device *device, const vyre_strbuf *texts,
                                                uint32_t count, const char *name,
                                                vyre_strbuf *out_images);
/* An image of any alignment, which is not needed afterwards. */
VYRE_MUST_USE vyre_status cuda_module_load(cuda_device *device, const void *image, size_t size,
                                           CUmodule *out_module);

#endif
