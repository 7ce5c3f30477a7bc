/* The cuda backend as the driver sees it. */
#ifndef VYRE_CUDA_RUNTIME_BACKEND_H
#define VYRE_CUDA_RUNTIME_BACKEND_H

#include <vyre/backend.h>

extern const vyre_bundle cuda_bundle;

#endif
