/* The backends that are part of the library. */
#ifndef VYRE_BACKEND_TABLE_H
#define VYRE_BACKEND_TABLE_H

#include "backend/cpu/runtime/backend.h"
#include "backend/cuda/runtime/backend.h"
#include "backend/spirv/ahead.h"
#include "backend/vulkan/backend.h"
#include "runtime/builtin.h"

/* In the order in which the registry visits them; ends with NULL. */
extern const vyre_builtin *const vyre_builtins[];

/* The id of the target that the backend of that id takes programs of: its emitter's, or its own id
 * where it has none. */
const char *vyre_backend_target(const char *id);

/* The program that was registered for an operation and a target; NULL if none was. */
const vyre_program *vyre_operation_registered(const struct vyre_operation *operation,
                                              const char *target);

/* The program, or the variant of it, that devices of a backend run. */
const vyre_program *vyre_builtin_suited(const vyre_builtin *built_in, const vyre_program *program);

/* The stages of all of them: X(name, documentation, function). */
#define VYRE_BUILTIN_STAGES(X)                                                                     \
    CPU_STAGES(X)                                                                                  \
    CUDA_STAGES(X)                                                                                 \
    SPIRV_STAGES(X)

#endif
