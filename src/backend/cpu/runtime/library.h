/* What an earlier process learned of libLLVM: a run whose code is stored needs neither LLVM nor a
 * helper, but it has to know which LLVM it would be. What is stored holds as long as the CPU, the
 * library's file, the linker's list of libraries and the variables that lead to it are the same. */
#ifndef VYRE_CPU_RUNTIME_LIBRARY_H
#define VYRE_CPU_RUNTIME_LIBRARY_H

#include "base/strbuf.h"

/* The text that was remembered, in `out_text`, which must be empty. `name` is what VYRE_LLVM says
 * and `llvmlite` where llvmlite is, or NULL; `path` is that of the library's file. */
bool cpu_library_recall(const char *name, const char *llvmlite, vyre_strbuf *out_text);
void cpu_library_remember(const char *name, const char *llvmlite, const char *path,
                          const vyre_strbuf *text);

#endif
