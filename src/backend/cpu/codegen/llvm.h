/* libLLVM in this process: LLVM IR as text becomes an object file, assembly or better IR.
 *
 * LLVM may end the process it runs in, take all its memory, or never return. The process meant for
 * that is the helper (backend/cpu/helper); cpu/runtime/compiler.h starts it and is what others
 * call. Everything here may be called by several threads at once. */
#ifndef VYRE_CPU_CODEGEN_LLVM_H
#define VYRE_CPU_CODEGEN_LLVM_H

#include <vyre/status.h>

#include "base/strbuf.h"

/* What is known once it is open; valid as long as the process. */
typedef struct cpu_llvm_info {
    const char *version;  /* "LLVM 19.1.7", "LLVM 22.1.0 of llvmlite 0.50.0" */
    const char *triple;   /* "x86_64-pc-linux-gnu" */
    const char *cpu;      /* "znver3" */
    const char *features; /* "+avx2,-avx512f,..." */
    const char *path;     /* of the library's file, as the dynamic linker names it */
} cpu_llvm_info;

/* Which library to open. */
typedef struct cpu_llvm_search {
    const char
        *library; /* libLLVM or libllvmlite by its name; NULL: the newest libLLVM, 16 to 22 */
    const char *llvmlite; /* the path of libllvmlite.so, if there is no libLLVM; NULL: unknown */
    bool is_own_process;  /* LLVM may end this process; llvmlite's LLVM runs only in such a one */
} cpu_llvm_search;

/* Opens a library. The first that opens stays open; later calls return that one. UNAVAILABLE if no
 * library can be used, OUT_OF_MEMORY if there is one and no memory to open it. */
VYRE_MUST_USE vyre_status cpu_llvm_open(const cpu_llvm_search *search, cpu_llvm_info *out_info);

/* Narrows the description of a CPU to a level of x86-64, by its number in CPU_FEATURE_LEVELS; 0
 * leaves it. INVALID_ARGUMENT if the CPU lacks the level. */
VYRE_MUST_USE vyre_status cpu_llvm_narrow(int level, cpu_llvm_info *info);

/* Whether the CPU has a feature, by LLVM's name for it: "avx2". */
bool cpu_llvm_has_feature(const cpu_llvm_info *info, const char *name);

typedef enum cpu_llvm_form {
    CPU_LLVM_OBJECT,   /* relocatable ELF files for code.h */
    CPU_LLVM_MODULE,   /* one that has all phases, for other linkers */
    CPU_LLVM_ASSEMBLY, /* text, for people */
    CPU_LLVM_IR        /* text, after optimisation, for people */
} cpu_llvm_form;

/* Copies what llvmlite's LLVM has written to stderr since the last compile began; nothing for
 * libLLVM, which passes on diagnostics. Returns the size of the text, which ends with NUL. A signal
 * handler may call it. */
size_t cpu_llvm_words(char *out_text, size_t capacity);

/* Threads that the caller lends. `run` calls `part` for each number below `count`, on any of them,
 * and returns when all is done. */
typedef struct cpu_llvm_threads {
    uint32_t count;
    vyre_status (*run)(void (*part)(void *user, uint32_t index), void *user, uint32_t count);
} cpu_llvm_threads;

/* Call it after cpu_llvm_open. Optimises and translates for the CPU at hand, narrowed to a level
 * of cpu_llvm_narrow, without fast math or contraction. `out` must be empty, and stays so on an
 * error. What LLVM objects to is a BACKEND status with its words. The threads share the phases of a
 * program: objects then stand one behind the other. */
VYRE_MUST_USE vyre_status cpu_llvm_compile(const vyre_strbuf *ir, cpu_llvm_form form, int level,
                                           const cpu_llvm_threads *threads, vyre_strbuf *out);

#endif
