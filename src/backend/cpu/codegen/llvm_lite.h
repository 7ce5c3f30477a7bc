/* llvmlite's library in the place of libLLVM: functions of LLVM's C interface, made of those that
 * libllvmlite.so exports for Python. Versions 0.44 and later have what it takes.
 *
 * Two things are different. LLVM's optimiser runs its own first level, since llvmlite offers no
 * other pipeline that every version has. And llvmlite hands on no diagnostics: LLVM writes them to
 * the standard error stream and ends the process on one that is an error. So it runs only in a
 * process of its own, where that stream is kept and read. */
#ifndef VYRE_CPU_CODEGEN_LLVM_LITE_H
#define VYRE_CPU_CODEGEN_LLVM_LITE_H

#include "backend/cpu/codegen/llvm_table.h"

/* The function that says what a library is, and where its file lies. */
#define LLVM_LITE_MARK "LLVMPY_GetVersionInfo"

/* Fills the functions of the table and prepares the target of this machine. What the library lacks,
 * or NULL. */
const char *cpu_llvm_lite_fill(void *library, llvm_table *table);

/* From now on keeps what LLVM writes, for cpu_llvm_words. False if the system refuses. */
bool cpu_llvm_lite_listen(void);
void cpu_llvm_lite_forget(void); /* what it has written so far */

/* The version of the Python package that a library's file is of, from the file `_version.py` next
 * to it: "0.50.0"; empty where there is none. */
void cpu_llvm_lite_version(const char *path, char out_version[32]);

#endif
