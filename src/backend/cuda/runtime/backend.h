/* The cuda backend as the driver and the command see it. */
#ifndef VYRE_CUDA_RUNTIME_BACKEND_H
#define VYRE_CUDA_RUNTIME_BACKEND_H

#include "runtime/builtin.h"

extern const vyre_bundle cuda_bundle;
extern const vyre_builtin cuda_builtin;

/* X(name, documentation, function) */
#define CUDA_STAGES(X)                                                                             \
    X("ptx", "the PTX of the cuda backend, which runs on all its devices", show_ptx)

/* The environment variables of the backend; base/option.h says what a row is. */
#define CUDA_OPTIONS(X)                                                                            \
    X(CUDA, PATHS, "a library, or none", "",                                                       \
      "the libcuda that the cuda backend opens instead of libcuda.so.1; none: no driver")

CUDA_OPTIONS(VYRE_OPTION_DECLARE)

#endif
