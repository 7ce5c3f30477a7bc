#define _GNU_SOURCE /* dladdr */

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "backend/cpu/codegen/llvm_lite.h"
#include "backend/cpu/codegen/llvm_table.h"
#include "base/status.h"

/* File names by version: since 18, and those that distributions used before. */
static const char *const name_forms[] = {"libLLVM.so.%d.1", "libLLVM-%d.so.1", "libLLVM-%d.so"};
enum { OLDEST = 15, OLDEST_LIBRARY = 16, NEWEST = 22 }; /* libLLVM 15 reports no version */

static const char fix_text[] = "install libLLVM 16 to 22 (on Debian `apt install libllvm19`), or "
                               "for Python `pip install vyre[cpu]`";
static const char memory_fix_text[] =
    "free memory, or give the process more, then try again: `ulimit -v` shows a limit";

/* Written in the lock, by the first call that succeeds, then only read. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static llvm_table table;
static bool is_open;
static char why_not[512];
static bool is_short_of_memory; /* that is why, and it may be better later */
static char version_text[96];

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

/* The path of the library, which the linker finds by the address of one of its functions. */
static const char *path_of_library(void *library, bool is_lite, const char *name) {
    Dl_info found;
    const void *address = dlsym(library, is_lite ? LLVM_LITE_MARK : "LLVMGetVersion");
    return address && dladdr(address, &found) && found.dli_fname ? found.dli_fname : name;
}

/* Includes llvmlite's version, because llvmlite patches its LLVM. */
static void write_version(unsigned major, unsigned minor, unsigned patch, bool is_lite,
                          const char *path) {
    char lite_version[32] = "";
    if (is_lite) {
        cpu_llvm_lite_version(path, lite_version);
    }
    snprintf(version_text, sizeof version_text, "LLVM %u.%u.%u%s%s%s", major, minor, patch,
             is_lite ? " of llvmlite" : "", *lite_version ? " " : "", lite_version);
}

/* What LLVM says of the machine. The strings are LLVM's, and stay. */
static const char *describe(bool is_lite, const char *path) {
    static char features[8192];
    unsigned major = 0, minor = 0, patch = 0;
    table.LLVMGetVersion(&major, &minor, &patch);
    table.LLVMInstallFatalErrorHandler(cpu_llvm_give_up);
    if (major < OLDEST || major > NEWEST) {
        return "a supported version";
    }
    table.major = major;
    write_version(major, minor, patch, is_lite, path);
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
    table.info = (cpu_llvm_info){
        .version = version_text, .triple = triple, .cpu = cpu, .features = features, .path = path};
    return NULL;
}

/* What the dynamic linker says where the file exists and cannot be mapped. */
static bool is_about_memory(const char *error) {
    static const char *const words[] = {"allocate", "map segment", "memory", "zero-fill"};
    bool found = false;
    for (size_t i = 0; i < sizeof words / sizeof *words && !found; i++) {
        found = strstr(error, words[i]);
    }
    return found;
}

static const char *prepare(void *library) {
    const char *missing = resolve(library);
    return missing ? missing : initialise_target(library);
}

static const char no_process[] = "it must run in a process of its own, which did not start";

/* An error of llvmlite's LLVM ends the process, and its messages are read from stderr. */
static const char *prepare_lite(void *library, bool is_own_process) {
    if (!is_own_process || !cpu_llvm_lite_listen()) {
        return no_process;
    }
    return cpu_llvm_lite_fill(library, &table);
}

/* False if there is no such library; else it is open, or `why_not` says what it lacks. */
static bool open_library(const char *name, bool is_own_process) {
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        const char *error = dlerror();
        is_short_of_memory = error && is_about_memory(error);
        if (is_short_of_memory) {
            snprintf(why_not, sizeof why_not, "there is no memory to open it: %s", error);
        }
        return is_short_of_memory;
    }
    bool is_lite = dlsym(library, LLVM_LITE_MARK);
    const char *missing = is_lite ? prepare_lite(library, is_own_process) : prepare(library);
    missing = missing ? missing : describe(is_lite, path_of_library(library, is_lite, name));
    if (missing) {
        snprintf(why_not, sizeof why_not, "%s was found, but %s%s%s", name,
                 missing == no_process ? "" : "lacks ", missing,
                 is_lite && strstr(missing, "LLVMPY_") ? ", as before llvmlite 0.44" : "");
    }
    is_open = !missing;
    return true;
}

static void open_newest(bool is_own_process) {
    size_t count = sizeof name_forms / sizeof *name_forms;
    for (size_t i = 0; i < (NEWEST - OLDEST_LIBRARY + 1) * count; i++) {
        char name[32];
        snprintf(name, sizeof name, name_forms[i % count], NEWEST - (int)(i / count));
        if (open_library(name, is_own_process) && (is_open || is_short_of_memory)) {
            return;
        }
    }
}

/* Opens the newest libLLVM, or else llvmlite. */
static void search_all(const cpu_llvm_search *search) {
    snprintf(why_not, sizeof why_not, "neither libLLVM %d to %d nor a path to llvmlite was found",
             OLDEST_LIBRARY, NEWEST);
    open_newest(search->is_own_process);
    if (!is_open && !is_short_of_memory && search->llvmlite &&
        !open_library(search->llvmlite, search->is_own_process)) {
        snprintf(why_not, sizeof why_not,
                 "neither libLLVM %d to %d was found, nor does llvmlite's `%s` open",
                 OLDEST_LIBRARY, NEWEST, search->llvmlite);
    }
}

static vyre_status open_in_lock(const cpu_llvm_search *search) {
    is_short_of_memory = false;
    if (!search->library) {
        search_all(search);
    } else if (!open_library(search->library, search->is_own_process)) {
        snprintf(why_not, sizeof why_not, "`%s`, which VYRE_LLVM names, cannot be opened",
                 search->library);
    }
    return is_open ? VYRE_OK
                   : vyre_status_make(is_short_of_memory ? VYRE_STATUS_OUT_OF_MEMORY
                                                         : VYRE_STATUS_UNAVAILABLE,
                                      is_short_of_memory ? memory_fix_text : fix_text,
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

vyre_status cpu_llvm_narrow(int number, cpu_llvm_info *info) {
    if (!number) {
        return VYRE_OK;
    }
    size_t size;
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

vyre_status cpu_llvm_open(const cpu_llvm_search *search, cpu_llvm_info *out_info) {
    pthread_mutex_lock(&lock);
    vyre_status status = is_open ? VYRE_OK : open_in_lock(search);
    *out_info = table.info;
    pthread_mutex_unlock(&lock);
    return status;
}

vyre_status cpu_llvm_functions(const llvm_table **out_table) {
    pthread_mutex_lock(&lock);
    bool opened = is_open;
    pthread_mutex_unlock(&lock);
    *out_table = &table;
    return opened ? VYRE_OK : vyre_internal_error("libLLVM is used before it is opened");
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
