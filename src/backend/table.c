/* The backends that are part of the library, and the emitters of theirs. A new one is one line
 * here. */
#include "backend/cpu/runtime/backend.h"
#include "backend/cuda/codegen/ahead.h"
#include "backend/cuda/runtime/backend.h"
#include "backend/reference/backend.h"
#include "dialect/emit.h"
#include "registry/registry.h"

const vyre_bundle *const vyre_builtin_bundles[] = {
    &cuda_bundle,
    &cpu_bundle,
    &vyre_reference_bundle,
    NULL,
};

const vyre_emitter *const vyre_builtin_emitters[] = {
    &cuda_emitter,
    &cpu_emitter,
    NULL,
};
