/* LLVM as the rest of the backend sees it: IR goes in, code or a status comes out.
 *
 * LLVM runs in helper processes, one for each compile under way. A helper starts with the first
 * compile and is kept for the next. One that crashes, runs out of its memory or is late is ended:
 * that compile fails with a status, and the next one gets a new helper. Where the system lets us
 * start none, LLVM runs in this process, which the log and cpu_compiler_note say.
 *
 * Any number of threads may call this. After a fork the child starts helpers of its own. */
#ifndef VYRE_CPU_RUNTIME_COMPILER_H
#define VYRE_CPU_RUNTIME_COMPILER_H

#include "backend/cpu/codegen/llvm.h"

/* Describes libLLVM and the CPU; valid as long as the process. An earlier process may have stored
 * the description; otherwise this starts a helper. UNAVAILABLE if there is neither libLLVM nor
 * llvmlite. */
VYRE_MUST_USE vyre_status cpu_compiler_info(cpu_llvm_info *out_info);

/* Like cpu_llvm_compile. TIMEOUT if LLVM is not done at the deadline, by vyre_now_ns; 0: none but
 * the one that ends a helper which never answers. `out` must be empty, and stays so on an error. */
VYRE_MUST_USE vyre_status cpu_compiler_run(const vyre_strbuf *ir, cpu_llvm_form form,
                                           uint64_t deadline_ns, vyre_strbuf *out);

/* Describes the LLVM in a line: "LLVM 19.1.7 from /usr/lib/libLLVM.so.19.1", and the note of
 * cpu_compiler_note. */
const char *cpu_compiler_describe(void);

/* Sees whether a helper starts. Why LLVM runs in this process; NULL if it does not. */
const char *cpu_compiler_note(void);

#endif
