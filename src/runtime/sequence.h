/* Sequence: a program run as a row of programs of one phase each, for a backend that knows no
 * others. The host walks the steps; scratch arrays and buffers lie in its own memory, or stay on
 * the device where the backend has resident buffers. */
#ifndef VYRE_RUNTIME_SEQUENCE_H
#define VYRE_RUNTIME_SEQUENCE_H

#include "runtime/slots.h"

typedef struct vyre_sequence vyre_sequence;

/* Whether a backend with these features needs one to run the program. */
bool vyre_sequence_needed(const vyre_program *program, uint32_t features);

/* Takes the program apart and, with `compile`, compiles the parts. Keeps the backend's address. */
VYRE_MUST_USE vyre_status vyre_sequence_make(const vyre_backend *backend,
                                             const vyre_program *program, bool compile,
                                             vyre_sequence **out_sequence);
void vyre_sequence_free(vyre_sequence *sequence); /* NULL is allowed */

/* Calls for the program it was made from. */
VYRE_MUST_USE vyre_status vyre_sequence_run(const vyre_sequence *sequence, const vyre_call *call,
                                            vyre_output *outputs);
VYRE_MUST_USE vyre_status vyre_sequence_run_resident(const vyre_sequence *sequence,
                                                     const vyre_call *call,
                                                     const uint64_t *buffers);

/* Whether the backend compiled any of it. */
bool vyre_sequence_is_compiled(const vyre_sequence *sequence);

/* What it holds in memory. */
uint64_t vyre_sequence_bytes(const vyre_sequence *sequence);

#endif
