#define _GNU_SOURCE /* memfd_create */

#include "backend/cpu/codegen/llvm_lite.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>

/* The open library. It is global, because LLVM's functions have no argument for it. */
static struct {
#define LITE_MEMBER(result, name, parameters) result(*name) parameters;
    LITE_FUNCTIONS(LITE_MEMBER)
#undef LITE_MEMBER
} lite;

/* The name of a function that is missing, or NULL. */
static const char *resolve(void *library) {
#define LITE_RESOLVE(result, name, parameters)                                                     \
    *(void **)(void *)&lite.name = dlsym(library, #name);                                          \
    if (!lite.name) {                                                                              \
        return #name;                                                                              \
    }
    LITE_FUNCTIONS(LITE_RESOLVE)
#undef LITE_RESOLVE
    return NULL;
}

static void get_version(unsigned *major, unsigned *minor, unsigned *patch) {
    unsigned version = lite.LLVMPY_GetVersionInfo();
    *major = version >> 16;
    *minor = version >> 8 & 0xff;
    *patch = version & 0xff;
}

/* llvmlite has no handlers to set: LLVM writes its messages to stderr. */
static void set_no_fatal_handler(LLVMFatalErrorHandler handler) {
    (void)handler;
}

static void set_no_diagnostic_handler(LLVMContextRef context, LLVMDiagnosticHandler handler,
                                      void *argument) {
    (void)context;
    (void)handler;
    (void)argument;
}

/* llvmlite 0.44 takes whether pointers are opaque. */
static LLVMContextRef create_context(void) {
    return lite.LLVMPY_ContextCreate(true);
}

static void dispose_message(char *message) {
    lite.LLVMPY_DisposeString(message);
}

/* llvmlite parses text that ends with NUL, so a buffer is its text. */
static LLVMMemoryBufferRef wrap_text(const char *data, size_t size, const char *name,
                                     LLVMBool ends_with_nul) {
    (void)size;
    (void)name;
    (void)ends_with_nul;
    return (LLVMMemoryBufferRef)(uintptr_t)data;
}

static LLVMBool parse(LLVMContextRef context, LLVMMemoryBufferRef text, LLVMModuleRef *out_module,
                      char **out_message) {
    *out_module = lite.LLVMPY_ParseAssembly(context, (const char *)text, out_message);
    return !*out_module;
}

static LLVMBool verify(LLVMModuleRef module, int action, char **out_message) {
    (void)action;
    return lite.LLVMPY_VerifyModule(module, out_message);
}

static void set_layout(LLVMModuleRef module, LLVMTargetDataRef layout) {
    char *text = NULL;
    lite.LLVMPY_CopyStringRepOfTargetData(layout, &text);
    lite.LLVMPY_SetDataLayout(module, text);
    lite.LLVMPY_DisposeString(text);
}

static char *print_module(LLVMModuleRef module) {
    char *text = NULL;
    lite.LLVMPY_PrintModuleToString(module, &text);
    return text;
}

static char *get_triple(void) {
    char *text = NULL;
    lite.LLVMPY_GetDefaultTargetTriple(&text);
    return text;
}

static LLVMBool get_target(const char *triple, LLVMTargetRef *out_target, char **out_message) {
    *out_target = lite.LLVMPY_GetTargetFromTriple(triple, out_message);
    return !*out_target;
}

static char *get_cpu(void) {
    char *text = NULL;
    lite.LLVMPY_GetHostCPUName(&text);
    return text;
}

static char *get_features(void) {
    char *text = NULL;
    return lite.LLVMPY_GetHostCPUFeatures(&text) ? text : NULL;
}

/* Callers always pass the same relocation and code model: pic and small. */
static LLVMTargetMachineRef create_machine(LLVMTargetRef target, const char *triple,
                                           const char *cpu, const char *features, int level,
                                           int relocation, int model) {
    (void)relocation;
    (void)model;
    return lite.LLVMPY_CreateTargetMachine(target, triple, cpu, features, level, "pic", "small", 0,
                                           0, "");
}

static LLVMBool emit(LLVMTargetMachineRef machine, LLVMModuleRef module, int file,
                     char **out_message, LLVMMemoryBufferRef *out_buffer) {
    *out_buffer = lite.LLVMPY_TargetMachineEmitToMemory(machine, module, file == LLVM_OBJECT_FILE,
                                                        out_message);
    return !*out_buffer;
}

static LLVMPassBuilderOptionsRef create_tuning(void) {
    LiteTuningRef tuning = lite.LLVMPY_CreatePipelineTuningOptions();
    lite.LLVMPY_PTOSetLoopUnrolling(tuning, false);
    return (LLVMPassBuilderOptionsRef)(void *)tuning;
}

static void dispose_tuning(LLVMPassBuilderOptionsRef tuning) {
    lite.LLVMPY_DisposePipelineTuningOptions((LiteTuningRef)(void *)tuning);
}

/* The pipeline of level 0 inlines functions that are marked alwaysinline. */
static void inline_functions(LLVMModuleRef module, LLVMTargetMachineRef machine,
                             LiteTuningRef tuning) {
    LiteBuilderRef builder = lite.LLVMPY_CreatePassBuilder(machine, tuning);
    LiteModulePassesRef passes = lite.LLVMPY_buildPerModuleDefaultPipeline(builder, 0, 0);
    lite.LLVMPY_RunNewModulePassManager(passes, module, builder);
    lite.LLVMPY_DisposeNewModulePassManger(passes);
    lite.LLVMPY_DisposePassBuilder(builder);
}

/* A builder keeps state of its run, so each run needs a new one. */
static void simplify(LiteValueRef function, LLVMTargetMachineRef machine, LiteTuningRef tuning) {
    LiteBuilderRef builder = lite.LLVMPY_CreatePassBuilder(machine, tuning);
    LiteFunctionPassesRef passes = lite.LLVMPY_buildFunctionSimplificationPipeline(builder, 1, 0);
    lite.LLVMPY_RunNewFunctionPassManager(passes, function, builder);
    lite.LLVMPY_DisposeNewFunctionPassManger(passes);
    lite.LLVMPY_DisposePassBuilder(builder);
}

static LLVMErrorRef run_passes(LLVMModuleRef module, const char *passes,
                               LLVMTargetMachineRef machine, LLVMPassBuilderOptionsRef options) {
    (void)passes;
    LiteTuningRef tuning = (LiteTuningRef)(void *)options;
    inline_functions(module, machine, tuning);
    LiteFunctionsRef functions = lite.LLVMPY_ModuleFunctionsIter(module);
    for (LiteValueRef function; (function = lite.LLVMPY_FunctionsIterNext(functions));) {
        simplify(function, machine, tuning);
    }
    lite.LLVMPY_DisposeFunctionsIter(functions);
    return NULL;
}

/* Never called: there are neither diagnostics nor errors to describe. */
static char *describe_diagnostic(LLVMDiagnosticInfoRef info) {
    (void)info;
    return NULL;
}

static int severity_of(LLVMDiagnosticInfoRef info) {
    (void)info;
    return LLVM_SEVERITY_WARNING;
}

static char *describe_error(LLVMErrorRef error) {
    (void)error;
    return NULL;
}

const char *cpu_llvm_lite_fill(void *library, llvm_table *table) {
    const char *missing = resolve(library);
    if (missing) {
        return missing;
    }
    *table = (llvm_table){
        .LLVMGetVersion = get_version,
        .LLVMInstallFatalErrorHandler = set_no_fatal_handler,
        .LLVMDisposeMessage = dispose_message,
        .LLVMContextCreate = create_context,
        .LLVMContextDispose = lite.LLVMPY_ContextDispose,
        .LLVMContextSetDiagnosticHandler = set_no_diagnostic_handler,
        .LLVMGetDiagInfoDescription = describe_diagnostic,
        .LLVMGetDiagInfoSeverity = severity_of,
        .LLVMCreateMemoryBufferWithMemoryRange = wrap_text,
        .LLVMDisposeMemoryBuffer = lite.LLVMPY_DisposeMemoryBuffer,
        .LLVMGetBufferStart = lite.LLVMPY_GetBufferStart,
        .LLVMGetBufferSize = lite.LLVMPY_GetBufferSize,
        .LLVMParseIRInContext = parse,
        .LLVMVerifyModule = verify,
        .LLVMDisposeModule = lite.LLVMPY_DisposeModule,
        .LLVMSetTarget = lite.LLVMPY_SetTarget,
        .LLVMSetModuleDataLayout = set_layout,
        .LLVMPrintModuleToString = print_module,
        .LLVMGetDefaultTargetTriple = get_triple,
        .LLVMGetTargetFromTriple = get_target,
        .LLVMGetHostCPUName = get_cpu,
        .LLVMGetHostCPUFeatures = get_features,
        .LLVMCreateTargetMachine = create_machine,
        .LLVMDisposeTargetMachine = lite.LLVMPY_DisposeTargetMachine,
        .LLVMCreateTargetDataLayout = lite.LLVMPY_CreateTargetMachineData,
        .LLVMDisposeTargetData = lite.LLVMPY_DisposeTargetData,
        .LLVMTargetMachineEmitToMemoryBuffer = emit,
        .LLVMCreatePassBuilderOptions = create_tuning,
        .LLVMDisposePassBuilderOptions = dispose_tuning,
        .LLVMRunPasses = run_passes,
        .LLVMGetErrorMessage = describe_error,
        .LLVMDisposeErrorMessage = dispose_message,
    };
    lite.LLVMPY_InitializeNativeTarget();
    lite.LLVMPY_InitializeNativeAsmPrinter();
    return NULL;
}

/* Whether stderr is redirected to an anonymous file. */
static bool is_listening;

bool cpu_llvm_lite_listen(void) {
    int file = memfd_create("llvm-words", MFD_CLOEXEC);
    is_listening = file >= 0 && dup2(file, STDERR_FILENO) >= 0;
    if (file >= 0) {
        close(file);
    }
    return is_listening;
}

void cpu_llvm_lite_forget(void) {
    if (is_listening && !ftruncate(STDERR_FILENO, 0)) {
        lseek(STDERR_FILENO, 0, SEEK_SET);
    }
}

size_t cpu_llvm_words(char *out_text, size_t capacity) {
    ssize_t size = is_listening ? pread(STDERR_FILENO, out_text, capacity - 1, 0) : 0;
    size = size < 0 ? 0 : size;
    out_text[size] = '\0';
    return (size_t)size;
}

void cpu_llvm_lite_version(const char *path, char out_version[32]) {
    static const char folder[] = "/binding/libllvmlite.so";
    char line[256], name[4096];
    size_t size = strlen(path), tail = sizeof folder - 1;
    out_version[0] = '\0';
    if (size < tail || strcmp(path + size - tail, folder) != 0) {
        return;
    }
    snprintf(name, sizeof name, "%.*s/_version.py", (int)(size - tail), path);
    FILE *file = fopen(name, "re");
    while (file && !out_version[0] && fgets(line, sizeof line, file)) {
        if (sscanf(line, "version_version = '%31[0-9a-z.]'", out_version) != 1) {
            out_version[0] = '\0';
        }
    }
    if (file) {
        fclose(file);
    }
}
