/* The compilers of OpenCL drivers: a text or a stored binary becomes code for a device. What they
 * have to say becomes part of a status, and is never printed. */
#ifndef VYRE_OPENCL_RUNTIME_BUILD_H
#define VYRE_OPENCL_RUNTIME_BUILD_H

#include "backend/opencl/runtime/device.h"
#include "base/strbuf.h"

VYRE_MUST_USE vyre_status opencl_build_text(opencl_device *device, const vyre_strbuf *text,
                                            const char *name, cl_program *out_code);
VYRE_MUST_USE vyre_status opencl_build_binary(opencl_device *device, const uint8_t *binary,
                                              size_t size, const char *name, cl_program *out_code);

/* Whether a device's binaries are worth storing: what building them costs is saved later. */
bool opencl_build_stores(const opencl_device *device);
/* False if the driver gives none. */
bool opencl_build_get_binary(opencl_device *device, cl_program code, vyre_strbuf *out_binary);

#endif
