/* A program that was compiled for this machine: code, and what the host must know to run it. */
#ifndef VYRE_CPU_RUNTIME_EXECUTABLE_H
#define VYRE_CPU_RUNTIME_EXECUTABLE_H

#include <stdatomic.h>

#include <vyre/program.h>

#include "backend/cpu/runtime/code.h"
#include "base/strbuf.h"

typedef struct cpu_phase {
    cpu_kernel kernel;
    cpu_phase_info info;
    uint64_t weight; /* rough count of cycles that a unit takes on one thread */
    bool may_wait;   /* a workgroup may wait for an earlier one */
    bool has_loops;  /* so that a unit may take much longer than that */
} cpu_phase;

typedef struct cpu_executable {
    atomic_uint references; /* of the pipeline, and of runs that are enqueued */
    vyre_program *program;  /* as it runs */
    bool was_split;         /* it had grid barriers: sizes and phases are not the driver's */
    cpu_phase *phases;
    uint32_t phase_count;
    uint32_t *overwritten; /* by resource, as vyre_fill_find says */
    cpu_code code;
    struct cpu_executable *large_grid; /* made when a run asks for it */
} cpu_executable;

/* Number of 32-bit lanes that vectors have: VYRE_CPU_LANES, or what suits the CPU. */
VYRE_MUST_USE vyre_status cpu_executable_lanes(uint32_t *out_lanes);

/* Where code comes from. */
typedef struct cpu_source {
    const uint8_t *artifact; /* what was stored; NULL: nothing */
    size_t artifact_size;
    uint64_t deadline_ns; /* of compiling, by vyre_now_ns; 0: none */
} cpu_source;

/* Takes the code of a program from an artifact that fits. Where there is none it is compiled, and
 * `out_artifact`, which must be empty, has what can be stored. */
VYRE_MUST_USE vyre_status cpu_executable_make(const vyre_program *program, const cpu_source *source,
                                              vyre_strbuf *out_artifact,
                                              cpu_executable **out_executable);
/* The same program for runs whose config has a domain larger than the program's own, about which
 * the code knows nothing; compiled the first time. It lives as long as `executable`. */
VYRE_MUST_USE vyre_status cpu_executable_for_large_grids(const cpu_executable *executable,
                                                         uint64_t deadline_ns,
                                                         const cpu_executable **out_executable);
cpu_executable *cpu_executable_retain(cpu_executable *executable);
void cpu_executable_release(cpu_executable *executable); /* NULL is allowed */

/* What LLVM makes of a program, as text for people. `out` must be empty. */
VYRE_MUST_USE vyre_status cpu_executable_show(const vyre_program *program, bool assembly,
                                              vyre_strbuf *out);

#endif
