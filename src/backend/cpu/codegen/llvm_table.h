/* The part of LLVM's C interface that is used, with prototypes that fit versions 15 to 22. */
#ifndef VYRE_CPU_CODEGEN_LLVM_TABLE_H
#define VYRE_CPU_CODEGEN_LLVM_TABLE_H

#include <vyre/status.h>

#include "backend/cpu/codegen/llvm.h"

typedef struct LLVMOpaqueContext *LLVMContextRef;
typedef struct LLVMOpaqueModule *LLVMModuleRef;
typedef struct LLVMOpaqueMemoryBuffer *LLVMMemoryBufferRef;
typedef struct LLVMOpaqueDiagnosticInfo *LLVMDiagnosticInfoRef;
typedef struct LLVMTarget *LLVMTargetRef;
typedef struct LLVMOpaqueTargetMachine *LLVMTargetMachineRef;
typedef struct LLVMOpaqueTargetData *LLVMTargetDataRef;
typedef struct LLVMOpaquePassBuilderOptions *LLVMPassBuilderOptionsRef;
typedef struct LLVMOpaqueError *LLVMErrorRef;
typedef int LLVMBool;
typedef void (*LLVMDiagnosticHandler)(LLVMDiagnosticInfoRef info, void *context);
typedef void (*LLVMFatalErrorHandler)(const char *reason);

/* Numbers of LLVM's enumerations. */
enum {
    LLVM_ASSEMBLY_FILE = 0,
    LLVM_OBJECT_FILE = 1,
    LLVM_RETURN_STATUS = 2,
    LLVM_SEVERITY_ERROR = 0,
    LLVM_SEVERITY_WARNING = 1,
    LLVM_CODE_NONE = 0,
    LLVM_CODE_DEFAULT = 2,
    LLVM_RELOCATION_PIC = 2,
    LLVM_CODE_MODEL_SMALL = 3
};

/* How LLVM calls the architecture that this library is compiled for. */
#if defined(__x86_64__)
#define LLVM_ARCHITECTURE X86
/* Vectors of 512 bits are there because we want them; with f16 as a type of registers LLVM 17 fails
 * on masks that become halves. */
#define LLVM_TUNING ",-prefer-256-bit,-avx512fp16"
#elif defined(__aarch64__)
#define LLVM_ARCHITECTURE AArch64
#define LLVM_TUNING ""
#endif

/* X(result, name, parameters) */
#define LLVM_FUNCTIONS(X)                                                                          \
    X(void, LLVMGetVersion, (unsigned *major, unsigned *minor, unsigned *patch))                   \
    X(void, LLVMInstallFatalErrorHandler, (LLVMFatalErrorHandler handler))                         \
    X(void, LLVMDisposeMessage, (char *message))                                                   \
    X(LLVMContextRef, LLVMContextCreate, (void))                                                   \
    X(void, LLVMContextDispose, (LLVMContextRef context))                                          \
    X(void, LLVMContextSetDiagnosticHandler,                                                       \
      (LLVMContextRef context, LLVMDiagnosticHandler handler, void *argument))                     \
    X(char *, LLVMGetDiagInfoDescription, (LLVMDiagnosticInfoRef info))                            \
    X(int, LLVMGetDiagInfoSeverity, (LLVMDiagnosticInfoRef info))                                  \
    X(LLVMMemoryBufferRef, LLVMCreateMemoryBufferWithMemoryRange,                                  \
      (const char *data, size_t size, const char *name, LLVMBool ends_with_nul))                   \
    X(void, LLVMDisposeMemoryBuffer, (LLVMMemoryBufferRef buffer))                                 \
    X(const char *, LLVMGetBufferStart, (LLVMMemoryBufferRef buffer))                              \
    X(size_t, LLVMGetBufferSize, (LLVMMemoryBufferRef buffer))                                     \
    X(LLVMBool, LLVMParseIRInContext,                                                              \
      (LLVMContextRef context, LLVMMemoryBufferRef buffer, LLVMModuleRef * out_module,             \
       char **out_message))                                                                        \
    X(LLVMBool, LLVMVerifyModule, (LLVMModuleRef module, int action, char **out_message))          \
    X(void, LLVMDisposeModule, (LLVMModuleRef module))                                             \
    X(void, LLVMSetTarget, (LLVMModuleRef module, const char *triple))                             \
    X(void, LLVMSetModuleDataLayout, (LLVMModuleRef module, LLVMTargetDataRef layout))             \
    X(char *, LLVMPrintModuleToString, (LLVMModuleRef module))                                     \
    X(char *, LLVMGetDefaultTargetTriple, (void))                                                  \
    X(LLVMBool, LLVMGetTargetFromTriple,                                                           \
      (const char *triple, LLVMTargetRef *out_target, char **out_message))                         \
    X(char *, LLVMGetHostCPUName, (void))                                                          \
    X(char *, LLVMGetHostCPUFeatures, (void))                                                      \
    X(LLVMTargetMachineRef, LLVMCreateTargetMachine,                                               \
      (LLVMTargetRef target, const char *triple, const char *cpu, const char *features, int level, \
       int relocation, int model))                                                                 \
    X(void, LLVMDisposeTargetMachine, (LLVMTargetMachineRef machine))                              \
    X(LLVMTargetDataRef, LLVMCreateTargetDataLayout, (LLVMTargetMachineRef machine))               \
    X(void, LLVMDisposeTargetData, (LLVMTargetDataRef layout))                                     \
    X(LLVMBool, LLVMTargetMachineEmitToMemoryBuffer,                                               \
      (LLVMTargetMachineRef machine, LLVMModuleRef module, int file, char **out_message,           \
       LLVMMemoryBufferRef *out_buffer))                                                           \
    X(LLVMPassBuilderOptionsRef, LLVMCreatePassBuilderOptions, (void))                             \
    X(void, LLVMDisposePassBuilderOptions, (LLVMPassBuilderOptionsRef options))                    \
    X(LLVMErrorRef, LLVMRunPasses,                                                                 \
      (LLVMModuleRef module, const char *passes, LLVMTargetMachineRef machine,                     \
       LLVMPassBuilderOptionsRef options))                                                         \
    X(char *, LLVMGetErrorMessage, (LLVMErrorRef error))                                           \
    X(void, LLVMDisposeErrorMessage, (char *message))

typedef struct llvm_table {
#define LLVM_MEMBER(result, name, parameters) result(*name) parameters;
    LLVM_FUNCTIONS(LLVM_MEMBER)
#undef LLVM_MEMBER
    unsigned major; /* version */
    LLVMTargetRef target;
    cpu_llvm_info info;
} llvm_table;

/* Where LLVM would end the process, it comes here. */
void cpu_llvm_give_up(const char *reason);

/* The functions of the library that is open. */
VYRE_MUST_USE vyre_status cpu_llvm_functions(const llvm_table **out_table);

#endif
