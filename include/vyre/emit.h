/* Emit: compiles a program ahead of time, to the bytes of a target.
 *
 *     const vyre_emitter *emitter = vyre_emitter_find("secondary_text");
 *     if (emitter) {
 *         status = vyre_emit(emitter, program, NULL, &bytes, &size);
 *         ...
 *         vyre_bytes_free(bytes);
 *     }
 *
 * An emitter is found by the id of its target (dialect.h). Not every target has one. Any thread may
 * make these calls. */
#ifndef VYRE_EMIT_H
#define VYRE_EMIT_H

#include <vyre/dialect.h>
#include <vyre/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_emit_options {
    /* The device to compile for, in the target's own terms: "sm_90". NULL means all devices of the
     * target where that is possible, otherwise this machine. */
    const char *device;
} vyre_emit_options;

typedef struct vyre_emitter {
    const char *target; /* the target's id: "primary_text" */
    const char *makes;  /* for messages: "PTX of the cuda backend" */
    const char *needs;  /* for messages: "libLLVM 16 to 22"; NULL: nothing */
    bool is_text;
    bool has_devices; /* it accepts a device by name in its options */
    /* Fails with UNSUPPORTED if it cannot translate the program, and with UNAVAILABLE if this
     * machine lacks what it needs. `options` is never NULL. */
    vyre_status (*emit)(const struct vyre_emitter *emitter, const vyre_program *program,
                        const vyre_emit_options *options, uint8_t **out_bytes, size_t *out_size);
} vyre_emitter;

/* Returns NULL if the target has no emitter. */
VYRE_API const vyre_emitter *vyre_emitter_find(const char *target);
/* Enumerates the emitters. Returns NULL past the last. */
VYRE_API const vyre_emitter *vyre_emitter_at(size_t index);

/* Emits a program. `options` may be NULL. The caller frees the bytes with vyre_bytes_free. */
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
