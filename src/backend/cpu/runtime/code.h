/* Machine code in memory: the object files of a program, linked by hand.
 *
 * An object from LLVM has a few sections and a handful of relocation kinds, and may call functions
 * of one fixed table alone, so linking it takes microseconds and needs no library: a program from
 * the cache runs without waking LLVM's linker. What does not look like such an object is refused.
 */
#ifndef VYRE_CPU_RUNTIME_CODE_H
#define VYRE_CPU_RUNTIME_CODE_H

#include <vyre/status.h>

#include "backend/cpu/codegen/emit.h"

typedef struct cpu_code {
    void *mapping; /* NULL: nothing is loaded */
    size_t size;   /* bytes of it */
} cpu_code;

/* Loads objects, one behind the other, that define phase_0 to phase_N among them. They may be
 * anywhere, of any alignment, and are not needed afterwards. */
VYRE_MUST_USE vyre_status cpu_code_load(const uint8_t *objects, size_t size, uint32_t kernel_count,
                                        cpu_code *out_code, cpu_kernel *out_kernels);
/* Nobody may be running it. */
void cpu_code_unload(cpu_code *code);

#endif
