/* A libllvmlite without LLVM. What it emits is a list of the calls that led there, so that a test
 * can look at them. FAKE_LLVMLITE says what goes wrong:
 *
 *   parse, verify, emit    that step returns an error
 *   target                 there is no code generator for this machine
 *   version                it holds LLVM 14
 *   abort                  LLVM writes a fatal error and aborts while it optimises
 *   exit                   LLVM writes a diagnostic that is an error and ends the process
 *   stack                  LLVM warns that a function takes too much stack
 *   chatter                it does so in the second compile; in the first it warns of much else
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/codegen/llvm_lite.h"

#define DECLARE(result, name, parameters) result name parameters;
LITE_FUNCTIONS(DECLARE)

static int is_asked_to(const char *what) {
    const char *chosen = getenv("FAKE_LLVMLITE");
    return chosen && !strcmp(chosen, what);
}

/* What functions return that must return something. */
static char something[] = "fake";
static char calls[1024];

static void note(const char *call) {
    strncat(calls, call, sizeof calls - strlen(calls) - 1);
    strncat(calls, ";", sizeof calls - strlen(calls) - 1);
}

static char *copy(const char *text) {
    size_t size = strlen(text) + 1;
    char *made = malloc(size);
    return made ? memcpy(made, text, size) : NULL;
}

unsigned LLVMPY_GetVersionInfo(void) {
    return is_asked_to("version") ? 14 << 16 : 20 << 16 | 1 << 8 | 8;
}
void LLVMPY_InitializeNativeTarget(void) {
}
void LLVMPY_InitializeNativeAsmPrinter(void) {
}
void LLVMPY_DisposeString(const char *text) {
    free((void *)(uintptr_t)text);
}
LLVMContextRef LLVMPY_ContextCreate(bool has_opaque_pointers) {
    calls[0] = '\0';
    note(has_opaque_pointers ? "opaque" : "typed");
    return (void *)something;
}
void LLVMPY_ContextDispose(LLVMContextRef context) {
    (void)context;
}
LLVMModuleRef LLVMPY_ParseAssembly(LLVMContextRef context, const char *text, char **out_message) {
    (void)context;
    note(strstr(text, "define void @phase_0") ? "parse" : "parse what is none");
    *out_message = is_asked_to("parse") ? copy("line 1: it is fake") : NULL;
    return is_asked_to("parse") ? NULL : (void *)something;
}
int LLVMPY_VerifyModule(LLVMModuleRef module, char **out_message) {
    (void)module;
    note("verify");
    *out_message = copy(is_asked_to("verify") ? "it is not valid" : "");
    return is_asked_to("verify");
}
void LLVMPY_DisposeModule(LLVMModuleRef module) {
    (void)module;
}
void LLVMPY_SetTarget(LLVMModuleRef module, const char *triple) {
    (void)module;
    note(triple);
}
void LLVMPY_SetDataLayout(LLVMModuleRef module, const char *layout) {
    (void)module;
    note(layout);
}
void LLVMPY_PrintModuleToString(LLVMModuleRef module, char **out_text) {
    (void)module;
    *out_text = copy("IR");
}
void LLVMPY_GetDefaultTargetTriple(char **out_text) {
    *out_text = copy("triple");
}
LLVMTargetRef LLVMPY_GetTargetFromTriple(const char *triple, char **out_message) {
    (void)triple;
    *out_message = is_asked_to("target") ? copy("there is none") : NULL;
    return is_asked_to("target") ? NULL : (void *)something;
}
void LLVMPY_GetHostCPUName(char **out_text) {
    *out_text = copy("cpu");
}
int LLVMPY_GetHostCPUFeatures(char **out_text) {
    *out_text = copy("+sse2");
    return 1;
}
LLVMTargetMachineRef LLVMPY_CreateTargetMachine(LLVMTargetRef target, const char *triple,
                                                const char *cpu, const char *features, int level,
                                                const char *relocation, const char *model,
                                                int print, int jit, const char *abi) {
    char call[128];
    (void)target;
    (void)triple;
    snprintf(call, sizeof call, "machine %s %.5s %d %s %s %d %d%s", cpu, features, level,
             relocation, model, print, jit, abi);
    note(call);
    return (void *)something;
}
void LLVMPY_DisposeTargetMachine(LLVMTargetMachineRef machine) {
    (void)machine;
}
LLVMTargetDataRef LLVMPY_CreateTargetMachineData(LLVMTargetMachineRef machine) {
    (void)machine;
    return (void *)something;
}
void LLVMPY_CopyStringRepOfTargetData(LLVMTargetDataRef layout, char **out_text) {
    (void)layout;
    *out_text = copy("layout");
}
void LLVMPY_DisposeTargetData(LLVMTargetDataRef layout) {
    (void)layout;
}
LLVMMemoryBufferRef LLVMPY_TargetMachineEmitToMemory(LLVMTargetMachineRef machine,
                                                     LLVMModuleRef module, int is_object,
                                                     char **out_message) {
    (void)machine;
    (void)module;
    note(is_object ? "object" : "assembly");
    static int earlier;
    for (int i = 0; i < 100 && !earlier && is_asked_to("chatter"); i++) {
        fputs("warning: it is a fake one\n", stderr);
    }
    if (is_asked_to("stack") || (earlier++ && is_asked_to("chatter"))) {
        fputs("warning: stack frame size (200000) exceeds limit (163840)\n", stderr);
    }
    *out_message = is_asked_to("emit") ? copy("it has no instructions") : NULL;
    return is_asked_to("emit") ? NULL : (void *)something;
}
const char *LLVMPY_GetBufferStart(LLVMMemoryBufferRef buffer) {
    (void)buffer;
    return calls;
}
size_t LLVMPY_GetBufferSize(LLVMMemoryBufferRef buffer) {
    (void)buffer;
    return strlen(calls);
}
void LLVMPY_DisposeMemoryBuffer(LLVMMemoryBufferRef buffer) {
    (void)buffer;
}
LiteTuningRef LLVMPY_CreatePipelineTuningOptions(void) {
    return (void *)something;
}
void LLVMPY_DisposePipelineTuningOptions(LiteTuningRef tuning) {
    (void)tuning;
}
void LLVMPY_PTOSetLoopUnrolling(LiteTuningRef tuning, bool is_on) {
    (void)tuning;
    note(is_on ? "unroll" : "no unrolling");
}
#ifndef FAKE_LLVMLITE_IS_OLD
LiteBuilderRef LLVMPY_CreatePassBuilder(LLVMTargetMachineRef machine, LiteTuningRef tuning) {
    (void)machine;
    (void)tuning;
    return (void *)something;
}
#endif
void LLVMPY_DisposePassBuilder(LiteBuilderRef builder) {
    (void)builder;
}
LiteModulePassesRef LLVMPY_buildPerModuleDefaultPipeline(LiteBuilderRef builder, int speed,
                                                         int size) {
    (void)builder;
    note(!speed && !size ? "inline" : "optimise the module");
    return (void *)something;
}
void LLVMPY_RunNewModulePassManager(LiteModulePassesRef passes, LLVMModuleRef module,
                                    LiteBuilderRef builder) {
    (void)passes;
    (void)module;
    (void)builder;
}
void LLVMPY_DisposeNewModulePassManger(LiteModulePassesRef passes) {
    (void)passes;
}
LiteFunctionPassesRef LLVMPY_buildFunctionSimplificationPipeline(LiteBuilderRef builder, int speed,
                                                                 int size) {
    (void)builder;
    note(speed == 1 && !size ? "simplify" : "simplify otherwise");
    return (void *)something;
}
void LLVMPY_RunNewFunctionPassManager(LiteFunctionPassesRef passes, LiteValueRef function,
                                      LiteBuilderRef builder) {
    (void)passes;
    (void)function;
    (void)builder;
    if (is_asked_to("abort")) {
        fputs("LLVM ERROR: cannot select it\n", stderr);
        abort();
    }
    if (is_asked_to("exit")) {
        fputs("error: it does not fit\n", stderr);
        exit(1); /* NOLINT(concurrency-mt-unsafe): as LLVM does */
    }
}
void LLVMPY_DisposeNewFunctionPassManger(LiteFunctionPassesRef passes) {
    (void)passes;
}

/* Every module has two functions. */
LiteFunctionsRef LLVMPY_ModuleFunctionsIter(LLVMModuleRef module) {
    (void)module;
    return calloc(1, 1);
}
LiteValueRef LLVMPY_FunctionsIterNext(LiteFunctionsRef functions) {
    char *count = (char *)functions;
    return ++*count <= 2 ? (void *)something : NULL;
}
void LLVMPY_DisposeFunctionsIter(LiteFunctionsRef functions) {
    free(functions);
}
