/* The cpu backend as the driver and the command see it. */
#ifndef VYRE_CPU_RUNTIME_BACKEND_H
#define VYRE_CPU_RUNTIME_BACKEND_H

#include "runtime/builtin.h"

extern const vyre_bundle cpu_bundle;
extern const vyre_emitter cpu_emitter;
extern const vyre_builtin cpu_builtin;

/* X(name, documentation, function) */
#define CPU_STAGES(X)                                                                              \
    X("llvm", "the optimised LLVM IR of the cpu backend", show_llvm)                               \
    X("asm", "the assembly of the cpu backend, for the CPU of this machine", show_assembly)

#endif
