/* The backends that are part of the library. A new one is one line here. */
#include "backend/cpu/backend.h"
#include "backend/cuda/backend.h"
#include "backend/reference/backend.h"
#include "driver/registry.h"

const vyre_bundle *const vyre_builtin_bundles[] = {
    &cuda_bundle,
    &cpu_bundle,
    &vyre_reference_bundle,
    NULL,
};
