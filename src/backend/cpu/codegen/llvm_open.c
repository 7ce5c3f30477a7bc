#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "backend/cpu/codegen/llvm_table.h"
#include "backend/cpu/codegen/option.h"
#include "base/status.h"

/* Newest first; Debian's name and that of others. */
static const char *const candidates[] = {
    "libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so", "libLLVM.so.18.1", "libLLVM-18.so.1",
    "libLLVM-18.so",   "libLLVM-17.so.1", "libLLVM-17.so", "libLLVM-16.so.1", "libLLVM-16.so",
};
enum { OLDEST = 16, NEWEST = 19 };

static const char fix_text[] = "install libLLVM 16 to 19, on Debian the package libllvm19";

/* Written once, by whoever comes first, then read alone. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static llvm_table table;
static bool is_open;
static char why_not[256];
static char version_text[48];

/* Finds every function; the name of one that is missing, or NULL. */
static const char *resolve(void *library) {
#define LLVM_RESOLVE(result, name, parameters)                                                     \
    *(void **)(void *)&table.name = dlsym(library, #name);                                         \
    if (!table.name) {                                                                             \
        return #name;                                                                              \
    }
    LLVM_FUNCTIONS(LLVM_RESOLVE)
#undef LLVM_RESOLVE
    return NULL;
}

#ifdef LLVM_ARCHITECTURE
#define JOIN_TEXT(architecture, what) "LLVMInitialize" #architecture what
#define JOIN(architecture, what) JOIN_TEXT(architecture, what)

/* Makes the target of this machine known to LLVM. */
static const char *initialise_target(void *library) {
    static const char *const names[] = {
        JOIN(LLVM_ARCHITECTURE, "TargetInfo"),
        JOIN(LLVM_ARCHITECTURE, "Target"),
        JOIN(LLVM_ARCHITECTURE, "TargetMC"),
        JOIN(LLVM_ARCHITECTURE, "AsmPrinter"),
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void (*initialise)(void);
        *(void **)(void *)&initialise = dlsym(library, names[i]);
        if (!initialise) {
            return names[i];
        }
        initialise();
    }
    return NULL;
}
#else
#define LLVM_TUNING ""
static const char *initialise_target(void *library) {
    (void)library;
    return "the code generator of this architecture";
}
#endif

/* What LLVM says of the machine. The strings are LLVM's, and stay. */
static const char *describe(void) {
    static char features[8192];
    unsigned major = 0, minor = 0, patch = 0;
    table.LLVMGetVersion(&major, &minor, &patch);
    table.LLVMInstallFatalErrorHandler(cpu_llvm_give_up);
    if (major < OLDEST || major > NEWEST) {
        return "a supported version";
    }
    table.major = major;
    snprintf(version_text, sizeof version_text, "LLVM %u.%u.%u", major, minor, patch);
    const char *triple = table.LLVMGetDefaultTargetTriple();
    const char *cpu = table.LLVMGetHostCPUName();
    char *found = table.LLVMGetHostCPUFeatures();
    int length = found ? snprintf(features, sizeof features, "%s" LLVM_TUNING, found) : -1;
    table.LLVMDisposeMessage(found);
    char *message = NULL;
    if (!triple || !cpu || length < 0 || (size_t)length >= sizeof features ||
        table.LLVMGetTargetFromTriple(triple, &table.target, &message)) {
        table.LLVMDisposeMessage(message);
        return "a target for this machine";
    }
    table.info = (cpu_llvm_info){version_text, triple, cpu, features};
    return NULL;
}

/* False if there is no such library; else it is open, or `why_not` says what it lacks. */
static bool open_library(const char *name) {
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        return false;
    }
    const char *missing = resolve(library);
    missing = missing ? missing : initialise_target(library);
    missing = missing ? missing : describe();
    if (missing) {
        snprintf(why_not, sizeof why_not, "%s was found, but lacks %s", name, missing);
    }
    is_open = !missing;
    return true;
}

static void open_once(void) {
    vyre_option_info chosen = vyre_option_describe(VYRE_OPTION_LLVM);
    if (chosen.from_environment) {
        if (!open_library(chosen.text)) {
            snprintf(why_not, sizeof why_not, "`%s`, which VYRE_LLVM names, cannot be opened",
                     chosen.text);
        }
        return;
    }
    snprintf(why_not, sizeof why_not, "no libLLVM was found");
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates && !is_open; i++) {
        open_library(candidates[i]);
    }
}

vyre_status cpu_llvm_functions(const llvm_table **out_table) {
    *out_table = &table;
    pthread_once(&once, open_once);
    return is_open ? VYRE_OK
                   : vyre_status_make(VYRE_STATUS_UNAVAILABLE, fix_text,
                                      "backend `cpu` translates with LLVM, and %s", why_not);
}

/* A CPU that LLVM knows by name. Its features are what x86-64 itself does not have. */
typedef struct cpu_level {
    const char *cpu, *features;
} cpu_level;

#define LEVEL_2 "+cx16,+popcnt,+sahf,+sse3,+sse4.1,+sse4.2,+ssse3"
#define LEVEL_3 LEVEL_2 ",+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
#define LEVEL_4 LEVEL_3 ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"
static const cpu_level levels[] = {
    {NULL, NULL},
    {"x86-64", "+sse2" LLVM_TUNING},
    {"x86-64-v2", LEVEL_2 LLVM_TUNING},
    {"x86-64-v3", LEVEL_3 LLVM_TUNING},
    {"x86-64-v4", LEVEL_4 LLVM_TUNING},
};

/* The first feature of a list, "+avx,+avx2", that a CPU lacks, with its length; NULL if none. */
static const char *lacks_feature(const cpu_llvm_info *info, const char *list, size_t *out_size) {
    for (const char *at = list; (at = strchr(at, '+')) != NULL; at += *out_size) {
        char name[16];
        *out_size = strcspn(++at, ",");
        snprintf(name, sizeof name, "%.*s", (int)*out_size, at);
        if (!cpu_llvm_has_feature(info, name)) {
            return at;
        }
    }
    return NULL;
}

/* Narrows the description to the level that VYRE_CPU_FEATURES names. */
static vyre_status take_level(cpu_llvm_info *info) {
    int number;
    size_t size;
    VYRE_TRY(vyre_option_choice(VYRE_OPTION_CPU_FEATURES, &number));
    if (!number) {
        return VYRE_OK;
    }
    const cpu_level *level = &levels[number];
    const char *lacking = lacks_feature(info, level->features, &size);
    if (lacking) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "name a lower level, or unset the variable",
                                "VYRE_CPU_FEATURES is %s, and this CPU, which LLVM calls %s, lacks "
                                "%.*s",
                                level->cpu, info->cpu, (int)size, lacking);
    }
    info->cpu = level->cpu;
    info->features = level->features;
    return VYRE_OK;
}

vyre_status cpu_llvm_open(cpu_llvm_info *out_info) {
    const llvm_table *llvm;
    vyre_status status = cpu_llvm_functions(&llvm);
    *out_info = llvm->info;
    return status ? status : take_level(out_info);
}

bool cpu_llvm_has_feature(const cpu_llvm_info *info, const char *name) {
    size_t size = strlen(name);
    for (const char *at = info->features; (at = strchr(at, '+')) != NULL; at++) {
        if (!strncmp(at + 1, name, size) && (at[1 + size] == ',' || !at[1 + size])) {
            return true;
        }
    }
    return false;
}
