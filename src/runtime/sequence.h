/* Sequence: a program that the host runs in parts, because the backend has no phases, grid barriers
 * or buffers of records of its own. The host walks the steps of the program and gives the backend
 * programs of one phase. Arrays lie in the host's memory, or on the device where the backend has
 * resident buffers. */
#ifndef VYRE_RUNTIME_SEQUENCE_H
#define VYRE_RUNTIME_SEQUENCE_H

#include <vyre/device.h>

#include "runtime/slots.h"

typedef struct vyre_sequence vyre_sequence;

/* Whether a program needs phases, grid barriers or records that the backend does not have. */
bool vyre_sequence_needed(const vyre_backend *backend, const vyre_program *program);

/* Takes the program apart and compiles the parts, until the deadline; 0: none. Keeps the address of
 * the backend. */
VYRE_MUST_USE vyre_status vyre_sequence_make(vyre_device *device, const vyre_program *program,
                                             uint64_t deadline_ns, vyre_sequence **out_sequence);
void vyre_sequence_free(vyre_sequence *sequence); /* NULL is allowed */

/* Runs the program it was made from. Both return when all parts are done. `arguments` is NULL
 * unless the run is in place; then `inout` buffers are the same memory as inputs and outputs. */
VYRE_MUST_USE vyre_status vyre_sequence_run(const vyre_sequence *sequence, const vyre_call *call,
                                            vyre_output *outputs, const vyre_output *arguments);
VYRE_MUST_USE vyre_status vyre_sequence_run_resident(const vyre_sequence *sequence,
                                                     const vyre_call *call,
                                                     const uint64_t *buffers);

/* Whether the backend compiled any of it. */
bool vyre_sequence_is_compiled(const vyre_sequence *sequence);

/* What it holds in memory. */
uint64_t vyre_sequence_bytes(const vyre_sequence *sequence);

#endif
