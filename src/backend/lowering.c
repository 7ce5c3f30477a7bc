/* What becomes of an operation for a target. */
#include <string.h>

#include <vyre/dialect.h>
#include <vyre/emit.h>

#include "backend/table.h"
#include "base/status.h"

/* The reference of what has no meaning here. */
static vyre_status refuse(const vyre_operation *operation, const vyre_input *inputs,
                          size_t input_count, vyre_outputs *out_outputs) {
    (void)inputs;
    (void)input_count;
    *out_outputs = (vyre_outputs){0};
    return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                            "run it through the API that registers it, or use an operation with a "
                            "program",
                            "the operation `%s` was registered without a program, so nothing can "
                            "run it",
                            operation->id);
}

static const vyre_lowering *find_registered(const vyre_operation *operation, const char *target) {
    for (size_t i = 0; i < operation->lowering_count; i++) {
        if (!strcmp(vyre_target_id(operation->lowerings[i].target), target)) {
            return &operation->lowerings[i];
        }
    }
    return NULL;
}

const vyre_program *vyre_operation_registered(const vyre_operation *operation, const char *target) {
    const vyre_lowering *lowering = find_registered(operation, target);
    return lowering ? lowering->program : NULL;
}

vyre_status vyre_emit_operation(const vyre_emitter *emitter, const vyre_operation *operation,
                                const vyre_emit_options *options, uint8_t **out_bytes,
                                size_t *out_size) {
    *out_bytes = NULL;
    *out_size = 0;
    const vyre_program *program = vyre_operation_registered(operation, emitter->target);
    if (!program) {
        VYRE_TRY(vyre_operation_program(operation, NULL, &program));
    }
    return program ? vyre_emit(emitter, program, options, out_bytes, out_size)
                   : vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                      "register a lowering for the target, or choose an operation "
                                      "that has a program",
                                      "the operation `%s` has nothing to emit for `%s`",
                                      operation->id, emitter->target);
}

vyre_status vyre_dialects_get_lowering(const vyre_dialects *snapshot, uint32_t name,
                                       vyre_target target, bool *out_found,
                                       vyre_lowering *out_lowering) {
    *out_lowering = (vyre_lowering){.target = target};
    const vyre_operation *operation = vyre_dialects_lookup(snapshot, name);
    *out_found = operation;
    if (!operation) {
        return VYRE_OK;
    }
    const char *id = vyre_target_id(target);
    const vyre_lowering *registered = find_registered(operation, id);
    if (registered) {
        *out_lowering = *registered;
        return VYRE_OK;
    }
    bool is_reference = target.kind == VYRE_TARGET_REFERENCE_BACKEND;
    if (vyre_operation_has_program(operation) && (is_reference || vyre_emitter_find(id))) {
        return vyre_operation_program(operation, NULL, &out_lowering->program);
    }
    out_lowering->reference = is_reference ? refuse : NULL;
    *out_found = is_reference;
    return VYRE_OK;
}
