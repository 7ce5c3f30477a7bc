/* The emitters: those of the library itself, then those of the built-in backends. */
#include <string.h>

#include <vyre/dialect.h>
#include <vyre/emit.h>
#include <vyre/wire.h>

#include "backend/table.h"

static vyre_status emit_text(const vyre_emitter *emitter, const vyre_program *program,
                             const vyre_emit_options *options, uint8_t **out_bytes,
                             size_t *out_size) {
    (void)emitter;
    (void)options;
    char *text;
    vyre_status status = vyre_program_print(program, &text, out_size);
    *out_bytes = status ? NULL : (uint8_t *)text;
    return status;
}

static vyre_status emit_wire(const vyre_emitter *emitter, const vyre_program *program,
                             const vyre_emit_options *options, uint8_t **out_bytes,
                             size_t *out_size) {
    (void)emitter;
    (void)options;
    return vyre_wire_encode(program, 0, out_bytes, out_size);
}

/* Names of locals and places are for people; the oracle asks for the program alone. */
static vyre_status emit_reference(const vyre_emitter *emitter, const vyre_program *program,
                                  const vyre_emit_options *options, uint8_t **out_bytes,
                                  size_t *out_size) {
    (void)emitter;
    (void)options;
    return vyre_wire_encode(program, VYRE_WIRE_NO_DEBUG, out_bytes, out_size);
}

static const vyre_emitter own[] = {
    {"primary_text", "the program as source text, one instruction a line", NULL, true, false,
     emit_text},
    {"primary_binary", "the program in binary form, with names and source locations", NULL, false,
     false, emit_wire},
    {"reference_backend", "the program in binary form, for the reference backend", NULL, false,
     false, emit_reference},
};
enum { OWN = sizeof own / sizeof *own };

const vyre_emitter *vyre_emitter_at(size_t index) {
    if (index < OWN) {
        return &own[index];
    }
    index -= OWN;
    for (const vyre_builtin *const *built_in = vyre_builtins; *built_in; built_in++) {
        if ((*built_in)->emitter && !index--) {
            return (*built_in)->emitter;
        }
    }
    return NULL;
}

const vyre_emitter *vyre_emitter_find(const char *target) {
    const vyre_emitter *emitter;
    for (size_t i = 0; (emitter = vyre_emitter_at(i)) != NULL; i++) {
        if (!strcmp(emitter->target, target)) {
            return emitter;
        }
    }
    return NULL;
}

vyre_status vyre_emit(const vyre_emitter *emitter, const vyre_program *program,
                      const vyre_emit_options *options, uint8_t **out_bytes, size_t *out_size) {
    static const vyre_emit_options nothing;
    *out_bytes = NULL;
    *out_size = 0;
    options = options ? options : &nothing;
    if (options->device && !emitter->has_devices) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "remove --device",
                                "the code for target `%s` is the same on all devices, so it takes "
                                "no device `%s`",
                                emitter->target, options->device);
    }
    for (const vyre_builtin *const *built_in = vyre_builtins; *built_in; built_in++) {
        program =
            (*built_in)->emitter == emitter ? vyre_builtin_suited(*built_in, program) : program;
    }
    return emitter->emit(emitter, program, options, out_bytes, out_size);
}
