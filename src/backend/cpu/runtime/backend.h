/* The cpu backend as the driver sees it. */
#ifndef VYRE_CPU_RUNTIME_BACKEND_H
#define VYRE_CPU_RUNTIME_BACKEND_H

#include <vyre/backend.h>
#include <vyre/emit.h>

extern const vyre_bundle cpu_bundle;
extern const vyre_emitter cpu_emitter;

#endif
