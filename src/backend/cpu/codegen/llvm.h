/* libLLVM, opened at run time: LLVM IR as text becomes an object file, assembly or better IR.
 *
 * The newest of versions 16 to 19 that is installed is opened once a process, at the first call,
 * and never closed. Everything here may be called by several threads at once. */
#ifndef VYRE_CPU_CODEGEN_LLVM_H
#define VYRE_CPU_CODEGEN_LLVM_H

#include <vyre/status.h>

#include "base/strbuf.h"

/* What is known once it is open; valid as long as the process. */
typedef struct cpu_llvm_info {
    const char *version;  /* "LLVM 19.1.7" */
    const char *triple;   /* "x86_64-pc-linux-gnu" */
    const char *cpu;      /* "znver3" */
    const char *features; /* "+avx2,-avx512f,..." */
} cpu_llvm_info;

/* Describes LLVM and the CPU it translates for: the one at hand, or the level of x86-64 that
 * VYRE_CPU_FEATURES names. UNAVAILABLE where there is no libLLVM that can be used; the same answer
 * every time. INVALID_ARGUMENT for a level that this CPU does not have. */
VYRE_MUST_USE vyre_status cpu_llvm_open(cpu_llvm_info *out_info);

/* Whether the CPU has a feature, by LLVM's name for it: "avx2". */
bool cpu_llvm_has_feature(const cpu_llvm_info *info, const char *name);

typedef enum cpu_llvm_form {
    CPU_LLVM_OBJECT,   /* relocatable ELF files for code.h */
    CPU_LLVM_MODULE,   /* one that has all phases, for other linkers */
    CPU_LLVM_ASSEMBLY, /* text, for people */
    CPU_LLVM_IR        /* text, after optimisation, for people */
} cpu_llvm_form;

/* Threads that the caller lends. `run` calls `part` for each number below `count`, on any of them,
 * and returns when all is done. */
typedef struct cpu_llvm_threads {
    uint32_t count;
    vyre_status (*run)(void (*part)(void *user, uint32_t index), void *user, uint32_t count);
} cpu_llvm_threads;

/* Optimises and translates for the CPU that cpu_llvm_open describes, without fast math or
 * contraction. `out` must be empty, and stays so on an error. What LLVM objects to is a BACKEND
 * status with its words. The threads share the phases of a program: objects then stand one behind
 * the other. */
VYRE_MUST_USE vyre_status cpu_llvm_compile(const vyre_strbuf *ir, cpu_llvm_form form,
                                           const cpu_llvm_threads *threads, vyre_strbuf *out);

#endif
