/* A program as LLVM IR: one function a phase, many invocations at once in the lanes of vectors, or
 * a few as scalars. */
#ifndef VYRE_CPU_CODEGEN_EMIT_H
#define VYRE_CPU_CODEGEN_EMIT_H

#include <vyre/program.h>

#include "backend/cpu/codegen/choose.h"
#include "base/strbuf.h"

/* What a kernel gets. Its layout is known to emit.c. */
typedef struct cpu_frame {
    uint8_t *const *arrays;     /* by resource: buffers and scratch arrays; aligned to elements */
    const uint64_t *lengths;    /* by resource: elements of these */
    const uint64_t *arguments;  /* by argument: a scalar's bits, extended by its sign */
    const uint32_t *iterations; /* by step: iterations of repeats */
    uint64_t domain[3];
    uint64_t groups[3];   /* workgroups; without a workgroup clause, blocks of invocations */
    uint64_t block;       /* invocations of such a block, along x */
    const uint32_t *stop; /* read now and then: not 0 means to return soon */
} cpu_frame;

/* Runs the units `first` to `end` - 1 in this order, a unit being a workgroup or a block, numbered
 * with x fastest. `storage` has the phase's storage_bytes, aligned to 64 bytes, with anything in
 * them, and belongs to the calling thread during the call. The function is called phase_N. */
typedef void (*cpu_kernel)(const cpu_frame *frame, uint64_t first, uint64_t end, void *storage);

typedef struct cpu_phase_info {
    uint64_t storage_bytes;
    uint32_t block; /* the most invocations that a block should have; 0 with a workgroup clause */
    cpu_choice choice; /* known where code was written, not where it was stored */
} cpu_phase_info;

/* `program` has no grid barriers. `out_infos` has room for one a phase. UNSUPPORTED for a program
 * that LLVM cannot compile in reasonable time. */
VYRE_MUST_USE vyre_status cpu_lower_and_emit(const vyre_program *program, const cpu_target *target,
                                             vyre_strbuf *out_ir, cpu_phase_info *out_infos);
/* The same for a program that has no elementary functions, as it is. */
VYRE_MUST_USE vyre_status cpu_emit(const vyre_program *program, const cpu_target *target,
                                   vyre_strbuf *out_ir, cpu_phase_info *out_infos);

#endif
