/* The emitters: those of the library itself, of the built-in backends, and registered ones. */
#include <stdatomic.h>
#include <string.h>

#include <vyre/dialect.h>
#include <vyre/emit.h>
#include <vyre/wire.h>

#include "backend/table.h"

/* Those that were registered, of which only the last place is ever written to. */
enum { REGISTERED = 64 };
static _Atomic(const vyre_emitter *) registered[REGISTERED];

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
    return index < REGISTERED ? atomic_load_explicit(&registered[index], memory_order_acquire)
                              : NULL;
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

vyre_status vyre_emitter_register(const vyre_emitter *emitter) {
    if (!emitter->target || !*emitter->target || !emitter->makes || !emitter->emit) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "set `target`, `makes` and `emit`",
                                "an emitter lacks its target, its description or its function");
    }
    for (;;) {
        if (vyre_emitter_find(emitter->target)) {
            return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                    "register one emitter per target, or use another target ID",
                                    "the target `%s` already has an emitter", emitter->target);
        }
        size_t at = 0;
        while (at < REGISTERED && atomic_load(&registered[at])) {
            at++;
        }
        if (at == REGISTERED) {
            return vyre_status_make(VYRE_STATUS_LIMIT, "register fewer emitters",
                                    "%d emitters are registered, and no more are allowed",
                                    REGISTERED);
        }
        const vyre_emitter *none = NULL;
        if (atomic_compare_exchange_strong(&registered[at], &none, emitter)) {
            return VYRE_OK;
        }
    }
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
    return emitter->emit(emitter, program, options, out_bytes, out_size);
}
