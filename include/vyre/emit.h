/* Emit: a program ahead of time, as the bytes that a target takes.
 *
 *     const vyre_emitter *emitter = vyre_emitter_find("secondary_text");
 *     if (emitter) {
 *         status = vyre_emit(emitter, program, NULL, &bytes, &size);
 *     }
 *
 * Emitters are found by the id of their target (dialect.h); a target without one has none. */
#ifndef VYRE_EMIT_H
#define VYRE_EMIT_H

#include <vyre/dialect.h>
#include <vyre/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_emit_options {
    /* What the bytes are for, in the target's own words: "sm_90". NULL: all devices of the target
     * where there is such a thing, else this machine. */
    const char *device;
} vyre_emit_options;

typedef struct vyre_emitter {
    const char *target; /* its id: "primary_text" */
    const char *makes;  /* for people: "PTX of the cuda backend" */
    const char *needs;  /* for people: "libLLVM 16 to 19"; NULL: nothing but itself */
    bool is_text;
    bool has_devices; /* it makes different bytes for different ones, and knows them by name */
    /* A program that it cannot translate is UNSUPPORTED, a machine that lacks what it needs is
     * UNAVAILABLE. `options` is never NULL. The bytes are given up to vyre_bytes_free, so they come
     * from the allocator of the library. */
    vyre_status (*emit)(const struct vyre_emitter *emitter, const vyre_program *program,
                        const vyre_emit_options *options, uint8_t **out_bytes, size_t *out_size);
} vyre_emitter;

/* NULL if there is none. */
VYRE_API const vyre_emitter *vyre_emitter_find(const char *target);
/* Those that there are, in the order in which they came, those of the library first. NULL past the
 * last. */
VYRE_API const vyre_emitter *vyre_emitter_at(size_t index);

/* Adds one, in static storage, for a target that has none. */
VYRE_API VYRE_MUST_USE vyre_status vyre_emitter_register(const vyre_emitter *emitter);

/* `options` may be NULL. Free the bytes with vyre_bytes_free. */
VYRE_API VYRE_MUST_USE vyre_status vyre_emit(const vyre_emitter *emitter,
                                             const vyre_program *program,
                                             const vyre_emit_options *options, uint8_t **out_bytes,
                                             size_t *out_size);

/* Emits an operation: the program that was registered for the emitter's target, else its own. */
VYRE_API VYRE_MUST_USE vyre_status vyre_emit_operation(const vyre_emitter *emitter,
                                                       const vyre_operation *operation,
                                                       const vyre_emit_options *options,
                                                       uint8_t **out_bytes, size_t *out_size);

#ifdef __cplusplus
}
#endif

#endif
