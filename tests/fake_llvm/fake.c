/* A libLLVM that goes wrong, for tests of the process that LLVM runs in. It has every function that
 * the backend asks for and does nothing, until it is to optimise: then FAKE_LLVM says what happens.
 *
 *   abort      as LLVM does on code that it has no instructions for
 *   crash      reads from address 0
 *   exit       ends the process without a word
 *   hang       never returns
 *   give-up    tells its error handler that it cannot go on, with memory that takes the system
 *              a while to take back
 *   memory     allocates, and aborts when there is nothing left
 *   load       aborts as soon as it is asked for its version
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "backend/cpu/codegen/llvm_table.h"

#define DECLARE(result, name, parameters) result name parameters;
LLVM_FUNCTIONS(DECLARE)

static int is_asked_to(const char *what) {
    const char *chosen = getenv("FAKE_LLVM");
    return chosen && !strcmp(chosen, what);
}

/* What every function without a body here returns: something that is not NULL. */
static char something[] = "fake";

void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) {
    if (is_asked_to("load")) {
        abort();
    }
    *major = 19;
    *minor = *patch = 0;
}

static LLVMFatalErrorHandler told_handler;

void LLVMInstallFatalErrorHandler(LLVMFatalErrorHandler handler) {
    told_handler = handler;
}
/* NOLINTNEXTLINE(readability-non-const-parameter): LLVM's prototype */
void LLVMDisposeMessage(char *message) {
    (void)message;
}
LLVMContextRef LLVMContextCreate(void) {
    return (void *)something;
}
void LLVMContextDispose(LLVMContextRef context) {
    (void)context;
}
void LLVMContextSetDiagnosticHandler(LLVMContextRef context, LLVMDiagnosticHandler handler,
                                     void *argument) {
    (void)context;
    (void)handler;
    (void)argument;
}
char *LLVMGetDiagInfoDescription(LLVMDiagnosticInfoRef info) {
    (void)info;
    return something;
}
int LLVMGetDiagInfoSeverity(LLVMDiagnosticInfoRef info) {
    (void)info;
    return 1;
}
LLVMMemoryBufferRef LLVMCreateMemoryBufferWithMemoryRange(const char *data, size_t size,
                                                          const char *name,
                                                          LLVMBool ends_with_nul) {
    (void)data;
    (void)size;
    (void)name;
    (void)ends_with_nul;
    return (void *)something;
}
void LLVMDisposeMemoryBuffer(LLVMMemoryBufferRef buffer) {
    (void)buffer;
}
const char *LLVMGetBufferStart(LLVMMemoryBufferRef buffer) {
    (void)buffer;
    return something;
}
size_t LLVMGetBufferSize(LLVMMemoryBufferRef buffer) {
    (void)buffer;
    return sizeof something;
}
LLVMBool LLVMParseIRInContext(LLVMContextRef context, LLVMMemoryBufferRef buffer,
                              LLVMModuleRef *out_module, char **out_message) {
    (void)context;
    (void)buffer;
    (void)out_message;
    *out_module = (void *)something;
    return 0;
}
LLVMBool LLVMVerifyModule(LLVMModuleRef module, int action, char **out_message) {
    (void)module;
    (void)action;
    (void)out_message;
    return 0;
}
void LLVMDisposeModule(LLVMModuleRef module) {
    (void)module;
}
void LLVMSetTarget(LLVMModuleRef module, const char *triple) {
    (void)module;
    (void)triple;
}
void LLVMSetModuleDataLayout(LLVMModuleRef module, LLVMTargetDataRef layout) {
    (void)module;
    (void)layout;
}
char *LLVMPrintModuleToString(LLVMModuleRef module) {
    (void)module;
    return something;
}
char *LLVMGetDefaultTargetTriple(void) {
    return something;
}
LLVMBool LLVMGetTargetFromTriple(const char *triple, LLVMTargetRef *out_target,
                                 char **out_message) {
    (void)triple;
    (void)out_message;
    *out_target = (void *)something;
    return 0;
}
char *LLVMGetHostCPUName(void) {
    return something;
}
char *LLVMGetHostCPUFeatures(void) {
    return something;
}
LLVMTargetMachineRef LLVMCreateTargetMachine(LLVMTargetRef target, const char *triple,
                                             const char *cpu, const char *features, int level,
                                             int relocation, int model) {
    (void)target;
    (void)triple;
    (void)cpu;
    (void)features;
    (void)level;
    (void)relocation;
    (void)model;
    return (void *)something;
}
void LLVMDisposeTargetMachine(LLVMTargetMachineRef machine) {
    (void)machine;
}
LLVMTargetDataRef LLVMCreateTargetDataLayout(LLVMTargetMachineRef machine) {
    (void)machine;
    return (void *)something;
}
void LLVMDisposeTargetData(LLVMTargetDataRef layout) {
    (void)layout;
}
LLVMBool LLVMTargetMachineEmitToMemoryBuffer(LLVMTargetMachineRef machine, LLVMModuleRef module,
                                             int file, char **out_message,
                                             LLVMMemoryBufferRef *out_buffer) {
    (void)machine;
    (void)module;
    (void)file;
    (void)out_message;
    *out_buffer = (void *)something;
    return 0;
}
LLVMPassBuilderOptionsRef LLVMCreatePassBuilderOptions(void) {
    return (void *)something;
}
void LLVMDisposePassBuilderOptions(LLVMPassBuilderOptionsRef options) {
    (void)options;
}

static void take_all_memory(void) {
    enum { PIECE = 1 << 20 };
    char *piece;
    while ((piece = malloc(PIECE))) {
        memset(piece, 1, PIECE);
    }
    abort();
}

static void use_memory(void) {
    enum { BYTES = 128 << 20 };
    char *volatile used = malloc(BYTES);
    if (used) {
        memset(used, 1, BYTES);
    }
}

LLVMErrorRef LLVMRunPasses(LLVMModuleRef module, const char *passes, LLVMTargetMachineRef machine,
                           LLVMPassBuilderOptionsRef options) {
    (void)module;
    (void)passes;
    (void)machine;
    (void)options;
    if (is_asked_to("abort")) {
        abort();
    } else if (is_asked_to("crash")) {
        raise(SIGSEGV);
    } else if (is_asked_to("exit")) {
        _exit(3);
    } else if (is_asked_to("give-up")) {
        use_memory();
        told_handler("it is fake");
    } else if (is_asked_to("memory")) {
        take_all_memory();
    }
    while (is_asked_to("hang")) {
        pause();
    }
    return NULL;
}

char *LLVMGetErrorMessage(LLVMErrorRef error) {
    (void)error;
    return something;
}
/* NOLINTNEXTLINE(readability-non-const-parameter): LLVM's prototype */
void LLVMDisposeErrorMessage(char *message) {
    (void)message;
}

/* Each architecture has its own names for these. */
#define INITIALISERS(X)                                                                            \
    X(LLVMInitializeX86TargetInfo)                                                                 \
    X(LLVMInitializeX86Target)                                                                     \
    X(LLVMInitializeX86TargetMC)                                                                   \
    X(LLVMInitializeX86AsmPrinter)                                                                 \
    X(LLVMInitializeAArch64TargetInfo)                                                             \
    X(LLVMInitializeAArch64Target)                                                                 \
    X(LLVMInitializeAArch64TargetMC)                                                               \
    X(LLVMInitializeAArch64AsmPrinter)
#define INITIALISER(name)                                                                          \
    void name(void);                                                                               \
    void name(void) {                                                                              \
    }
INITIALISERS(INITIALISER)
