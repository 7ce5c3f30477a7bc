/* What an earlier process learned of libLLVM: a run whose code is stored needs neither LLVM nor a
 * helper, but it has to know which LLVM it would be. What is stored holds as long as the CPU, the
 * library's file, the linker's list of libraries and the variables that lead to it are the same. */
#ifndef VYRE_CPU_RUNTIME_LIBRARY_H
#define VYRE_CPU_RUNTIME_LIBRARY_H

#include "base/strbuf.h"

/* Recall puts the text that was remembered into `out_text`, which must be empty. `name` is the
 * value of VYRE_LLVM, `llvmlite` the path of llvmlite's library; both may be NULL. `path` is the
 * path of the library that was opened. */
bool cpu_library_recall(const char *name, const char *llvmlite, vyre_strbuf *out_text);
void cpu_library_remember(const char *name, const char *llvmlite, const char *path,
                          const vyre_strbuf *text);

#endif
