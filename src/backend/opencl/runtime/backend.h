/* The opencl backend as the driver and the command see it. */
#ifndef VYRE_OPENCL_RUNTIME_BACKEND_H
#define VYRE_OPENCL_RUNTIME_BACKEND_H

#include "runtime/builtin.h"

extern const vyre_bundle opencl_bundle;
extern const vyre_builtin opencl_builtin;

/* X(name, documentation, function) */
#define OPENCL_STAGES(X)                                                                           \
    X("opencl", "the OpenCL C of the opencl backend, for a device that has everything", show_opencl)

/* The environment variables of the backend; base/option.h says what a row is. */
#define OPENCL_OPTIONS(X)                                                                          \
    X(OPENCL, PATHS, "a library, or none", "",                                                     \
      "the OpenCL loader that the opencl backend opens instead of libOpenCL.so.1; none: no "       \
      "loader")                                                                                    \
    X(OPENCL_OPTIONS, PATHS, "options of clBuildProgram", "",                                      \
      "options for the compilers of OpenCL devices, behind the backend's own, for tests")

OPENCL_OPTIONS(VYRE_OPTION_DECLARE)

#endif
