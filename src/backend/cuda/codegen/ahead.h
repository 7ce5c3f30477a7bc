/* PTX ahead of time: without a device. */
#ifndef VYRE_CUDA_CODEGEN_AHEAD_H
#define VYRE_CUDA_CODEGEN_AHEAD_H

#include <vyre/emit.h>

#include "base/strbuf.h"

/* For a device by name, "sm_90", or for all that the backend runs on where it is NULL. */
VYRE_MUST_USE vyre_status cuda_ahead(const vyre_program *program, const char *device,
                                     vyre_strbuf *out_ptx);

/* The same as an emitter. */
extern const vyre_emitter cuda_emitter;

#endif
