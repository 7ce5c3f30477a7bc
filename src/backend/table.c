/* The built-in backends, and the registry of the process, which begins with them. A new backend is
 * one line of the list. */
#include "backend/table.h"

#include <string.h>

#include <vyre/dialect.h>

#include "backend/reference/backend.h"
#include "ir/program.h"
#include "registry/registry.h"

#define BUILTINS(X)                                                                                \
    X(cuda)                                                                                        \
    X(cpu)                                                                                         \
    X(vulkan)                                                                                      \
    X(vyre_reference)

#define BUILTIN(name) &name##_builtin,
#define BUNDLE(name) &name##_bundle,
const vyre_builtin *const vyre_builtins[] = {BUILTINS(BUILTIN) NULL};
static const vyre_bundle *const bundles[] = {BUILTINS(BUNDLE) NULL};

const char *vyre_backend_target(const char *id) {
    for (const vyre_builtin *const *built_in = vyre_builtins; *built_in; built_in++) {
        if (!strcmp((*built_in)->bundle->registrations->id, id)) {
            return (*built_in)->emitter
                       ? (*built_in)->emitter->target
                       : vyre_target_id((vyre_target){.kind = VYRE_TARGET_REFERENCE_BACKEND});
        }
    }
    return id;
}

const vyre_program *vyre_builtin_suited(const vyre_builtin *built_in, const vyre_program *program) {
    return vyre_program_suited(program, built_in->bundle->registrations->id, built_in->is_gpu);
}

vyre_registry *vyre_registry_default(void) {
    return vyre_registry_process(bundles);
}

vyre_status vyre_acquire(const char *name, vyre_device **out_device) {
    return vyre_registry_acquire(vyre_registry_default(), name, out_device);
}
