/* llvmlite's library in the place of libLLVM: implements functions of LLVM's C interface with those
 * that libllvmlite.so exports for Python. Versions 0.44 and later have all of them.
 *
 * Two things differ. The optimiser runs LLVM's own pipeline of level 1, because it is the only one
 * that every version of llvmlite offers. And llvmlite passes on no diagnostics: LLVM writes them to
 * stderr and ends the process on an error. So llvmlite runs only in a process of its own, which
 * redirects stderr to a file and reads it. */
#ifndef VYRE_CPU_CODEGEN_LLVM_LITE_H
#define VYRE_CPU_CODEGEN_LLVM_LITE_H

#include "backend/cpu/codegen/llvm_table.h"

/* A library that exports this function is llvmlite's. Its address leads to the library's file. */
#define LLVM_LITE_MARK "LLVMPY_GetVersionInfo"

typedef struct LiteModulePasses *LiteModulePassesRef;
typedef struct LiteFunctionPasses *LiteFunctionPassesRef;
typedef struct LiteBuilder *LiteBuilderRef;
typedef struct LiteTuning *LiteTuningRef;
typedef struct LiteFunctions *LiteFunctionsRef;
typedef struct LiteValue *LiteValueRef;

/* X(result, name, parameters), of llvmlite 0.44 to 0.50. Newer versions have dropped the parameter
 * of ContextCreate and the size level of pipelines, and ignore what is passed for them. */
#define LITE_FUNCTIONS(X)                                                                          \
    X(unsigned, LLVMPY_GetVersionInfo, (void))                                                     \
    X(void, LLVMPY_InitializeNativeTarget, (void))                                                 \
    X(void, LLVMPY_InitializeNativeAsmPrinter, (void))                                             \
    X(void, LLVMPY_DisposeString, (const char *text))                                              \
    X(LLVMContextRef, LLVMPY_ContextCreate, (bool has_opaque_pointers))                            \
    X(void, LLVMPY_ContextDispose, (LLVMContextRef context))                                       \
    X(LLVMModuleRef, LLVMPY_ParseAssembly,                                                         \
      (LLVMContextRef context, const char *text, char **out_message))                              \
    X(int, LLVMPY_VerifyModule, (LLVMModuleRef module, char **out_message))                        \
    X(void, LLVMPY_DisposeModule, (LLVMModuleRef module))                                          \
    X(void, LLVMPY_SetTarget, (LLVMModuleRef module, const char *triple))                          \
    X(void, LLVMPY_SetDataLayout, (LLVMModuleRef module, const char *layout))                      \
    X(void, LLVMPY_PrintModuleToString, (LLVMModuleRef module, char **out_text))                   \
    X(void, LLVMPY_GetDefaultTargetTriple, (char **out_text))                                      \
    X(LLVMTargetRef, LLVMPY_GetTargetFromTriple, (const char *triple, char **out_message))         \
    X(void, LLVMPY_GetHostCPUName, (char **out_text))                                              \
    X(int, LLVMPY_GetHostCPUFeatures, (char **out_text))                                           \
    X(LLVMTargetMachineRef, LLVMPY_CreateTargetMachine,                                            \
      (LLVMTargetRef target, const char *triple, const char *cpu, const char *features, int level, \
       const char *relocation, const char *model, int print, int jit, const char *abi))            \
    X(void, LLVMPY_DisposeTargetMachine, (LLVMTargetMachineRef machine))                           \
    X(LLVMTargetDataRef, LLVMPY_CreateTargetMachineData, (LLVMTargetMachineRef machine))           \
    X(void, LLVMPY_CopyStringRepOfTargetData, (LLVMTargetDataRef layout, char **out_text))         \
    X(void, LLVMPY_DisposeTargetData, (LLVMTargetDataRef layout))                                  \
    X(LLVMMemoryBufferRef, LLVMPY_TargetMachineEmitToMemory,                                       \
      (LLVMTargetMachineRef machine, LLVMModuleRef module, int is_object, char **out_message))     \
    X(const char *, LLVMPY_GetBufferStart, (LLVMMemoryBufferRef buffer))                           \
    X(size_t, LLVMPY_GetBufferSize, (LLVMMemoryBufferRef buffer))                                  \
    X(void, LLVMPY_DisposeMemoryBuffer, (LLVMMemoryBufferRef buffer))                              \
    X(LiteTuningRef, LLVMPY_CreatePipelineTuningOptions, (void))                                   \
    X(void, LLVMPY_DisposePipelineTuningOptions, (LiteTuningRef tuning))                           \
    X(void, LLVMPY_PTOSetLoopUnrolling, (LiteTuningRef tuning, bool is_on))                        \
    X(LiteBuilderRef, LLVMPY_CreatePassBuilder,                                                    \
      (LLVMTargetMachineRef machine, LiteTuningRef tuning))                                        \
    X(void, LLVMPY_DisposePassBuilder, (LiteBuilderRef builder))                                   \
    X(LiteModulePassesRef, LLVMPY_buildPerModuleDefaultPipeline,                                   \
      (LiteBuilderRef builder, int speed, int size))                                               \
    X(void, LLVMPY_RunNewModulePassManager,                                                        \
      (LiteModulePassesRef passes, LLVMModuleRef module, LiteBuilderRef builder))                  \
    X(void, LLVMPY_DisposeNewModulePassManger, (LiteModulePassesRef passes))                       \
    X(LiteFunctionPassesRef, LLVMPY_buildFunctionSimplificationPipeline,                           \
      (LiteBuilderRef builder, int speed, int size))                                               \
    X(void, LLVMPY_RunNewFunctionPassManager,                                                      \
      (LiteFunctionPassesRef passes, LiteValueRef function, LiteBuilderRef builder))               \
    X(void, LLVMPY_DisposeNewFunctionPassManger, (LiteFunctionPassesRef passes))                   \
    X(LiteFunctionsRef, LLVMPY_ModuleFunctionsIter, (LLVMModuleRef module))                        \
    X(LiteValueRef, LLVMPY_FunctionsIterNext, (LiteFunctionsRef functions))                        \
    X(void, LLVMPY_DisposeFunctionsIter, (LiteFunctionsRef functions))

/* Fills in the table and prepares the target of this machine. Returns the name of a function that
 * the library lacks, or NULL. */
const char *cpu_llvm_lite_fill(void *library, llvm_table *table);

/* Redirects stderr to a file, for cpu_llvm_words. Returns false if the system refuses. */
bool cpu_llvm_lite_listen(void);
void cpu_llvm_lite_forget(void); /* empties that file */

/* The version of the Python package that a library's file belongs to, from `_version.py` in the
 * package: "0.50.0"; empty if there is none. */
void cpu_llvm_lite_version(const char *path, char out_version[32]);

#endif
