#include <fenv.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "backend/cpu/codegen/llvm_effort.h"
#include "backend/cpu/codegen/llvm_lite.h"
#include "backend/cpu/codegen/llvm_parts.h"
#include "backend/cpu/codegen/llvm_table.h"
#include "base/alloc.h"
#include "base/status.h"

/* The emitter writes vectors, so nothing has to find them: this takes half the time of LLVM's own
 * second level, and kernels run as fast. `combine` is instcombine, which from version 18 on ends
 * the process if one round does not do, unless it is told not to. */
#define PASSES(combine)                                                                            \
    "always-inline,function(sroa,early-cse<memssa>," combine ",simplifycfg,"                       \
    "loop-mssa(loop-rotate,licm),gvn," combine ",simplifycfg,adce)"
static const char passes[] = PASSES("instcombine<no-verify-fixpoint>");
static const char old_passes[] = PASSES("instcombine");

/* A translation under way. What LLVM has to say goes to `objection`, the first error alone. */
typedef struct translation {
    const llvm_table *llvm;
    const cpu_llvm_info *info; /* of the CPU it is for */
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    LLVMMemoryBufferRef code; /* what came out, unless it is IR */
    cpu_llvm_effort effort;
    bool is_too_deep; /* a function wants more stack than the emitter allows it */
    char objection[1024];
} translation;

static void object(translation *t, const char *message) {
    if (!t->objection[0]) {
        snprintf(t->objection, sizeof t->objection, "%s", message && *message ? message : "?");
    }
}

/* Takes over a message of LLVM's. */
static void object_and_dispose(translation *t, char *message) {
    object(t, message);
    t->llvm->LLVMDisposeMessage(message);
}

/* Without optimisation every value that leaves its block has a place of its own on the stack. */
static bool is_about_stack(const char *message) {
    return strstr(message, "stack frame size");
}

static void hear_diagnostic(LLVMDiagnosticInfoRef info, void *argument) {
    translation *t = argument;
    int severity = t->llvm->LLVMGetDiagInfoSeverity(info);
    if (severity != LLVM_SEVERITY_ERROR && severity != LLVM_SEVERITY_WARNING) {
        return;
    }
    char *message = t->llvm->LLVMGetDiagInfoDescription(info);
    t->is_too_deep |= is_about_stack(message);
    if (severity == LLVM_SEVERITY_ERROR || t->is_too_deep) {
        object(t, message);
    }
    t->llvm->LLVMDisposeMessage(message);
}

static bool parse(translation *t, const vyre_strbuf *ir) {
    const llvm_table *llvm = t->llvm;
    char *message = NULL;
    LLVMMemoryBufferRef source =
        llvm->LLVMCreateMemoryBufferWithMemoryRange(vyre_strbuf_string(ir), ir->size, "program", 1);
    if (llvm->LLVMParseIRInContext(t->context, source, &t->module, &message)) {
        t->module = NULL;
        object_and_dispose(t, message);
        return false;
    }
    return true;
}

static bool aim(translation *t) {
    const llvm_table *llvm = t->llvm;
    const cpu_llvm_info *info = t->info;
    int level = t->effort == CPU_LLVM_FULL ? LLVM_CODE_DEFAULT : LLVM_CODE_NONE;
    t->machine =
        llvm->LLVMCreateTargetMachine(llvm->target, info->triple, info->cpu, info->features, level,
                                      LLVM_RELOCATION_PIC, LLVM_CODE_MODEL_SMALL);
    if (!t->machine) {
        object(t, "no target machine");
        return false;
    }
    LLVMTargetDataRef layout = llvm->LLVMCreateTargetDataLayout(t->machine);
    llvm->LLVMSetTarget(t->module, info->triple);
    llvm->LLVMSetModuleDataLayout(t->module, layout);
    llvm->LLVMDisposeTargetData(layout);
    return true;
}

/* Code that is not valid makes later parts of LLVM end the process, so it is looked at first. */
static bool verify(translation *t) {
    char *message = NULL;
    bool valid = !t->llvm->LLVMVerifyModule(t->module, LLVM_RETURN_STATUS, &message);
    if (!valid) {
        object(t, message);
    }
    t->llvm->LLVMDisposeMessage(message);
    return valid;
}

static bool optimise(translation *t) {
    const llvm_table *llvm = t->llvm;
    if (t->effort >= CPU_LLVM_LEAST) {
        return true;
    }
    LLVMPassBuilderOptionsRef options = llvm->LLVMCreatePassBuilderOptions();
    LLVMErrorRef error =
        llvm->LLVMRunPasses(t->module, llvm->major < 18 ? old_passes : passes, t->machine, options);
    llvm->LLVMDisposePassBuilderOptions(options);
    if (error) {
        char *message = llvm->LLVMGetErrorMessage(error);
        object(t, message);
        llvm->LLVMDisposeErrorMessage(message);
    }
    return !error;
}

static bool write_ir(translation *t, vyre_strbuf *out) {
    char *text = t->llvm->LLVMPrintModuleToString(t->module);
    vyre_strbuf_puts(out, text);
    t->llvm->LLVMDisposeMessage(text);
    return true;
}

static bool write_code(translation *t, int file) {
    char *message = NULL;
    if (t->llvm->LLVMTargetMachineEmitToMemoryBuffer(t->machine, t->module, file, &message,
                                                     &t->code)) {
        t->code = NULL;
        object_and_dispose(t, message);
        return false;
    }
    return true;
}

static bool write_form(translation *t, cpu_llvm_form form, vyre_strbuf *out) {
    switch (form) {
    case CPU_LLVM_IR: return write_ir(t, out);
    case CPU_LLVM_ASSEMBLY: return write_code(t, LLVM_ASSEMBLY_FILE);
    case CPU_LLVM_OBJECT:
    case CPU_LLVM_MODULE: return write_code(t, LLVM_OBJECT_FILE);
    }
    return false;
}

/* Some versions of LLVM end the process on code they have no instructions for. Then the way back is
 * a jump out of it, which leaves behind what it holds: a program that cannot run here, not a
 * process that ends. */
static _Thread_local struct {
    jmp_buf back;
    bool is_set;
    char reason[1024];
} escape;

void cpu_llvm_give_up(const char *reason) {
    if (escape.is_set) {
        snprintf(escape.reason, sizeof escape.reason, "%s", reason ? reason : "?");
        longjmp(escape.back, 1);
    }
}

/* Takes llvmlite's messages as diagnostics. They may be about another part of the program, but an
 * error in one part fails the whole program anyway. */
static void hear_words(translation *t) {
    char words[1024];
    if (cpu_llvm_words(words, sizeof words) && is_about_stack(words)) {
        t->is_too_deep = true;
        object(t, words);
    }
}

static vyre_status no_memory(void) {
    return vyre_no_memory("for the code of a program");
}

/* A module as a whole, or parts of it that threads share. */
typedef struct work {
    const llvm_table *llvm;
    cpu_llvm_info info; /* of the CPU it is for */
    cpu_llvm_form form;
    cpu_llvm_effort effort; /* by the whole, so that it does not depend on the threads */
    const vyre_strbuf *ir;
    vyre_strbuf *out;
    uint32_t count;
    vyre_strbuf parts[CPU_MOST_PARTS];
    LLVMMemoryBufferRef codes[CPU_MOST_PARTS];
    vyre_status statuses[CPU_MOST_PARTS];
} work;

/* IR goes to `out`, anything else to `out_code`, which is LLVM's. */
static vyre_status translate(const work *w, const vyre_strbuf *ir, LLVMMemoryBufferRef *out_code) {
    const llvm_table *llvm = w->llvm;
    translation t = {.llvm = llvm, .info = &w->info, .effort = w->effort};
    vyre_status status = VYRE_OK;
    t.context = llvm->LLVMContextCreate();
    llvm->LLVMContextSetDiagnosticHandler(t.context, hear_diagnostic, &t);
    bool made = parse(&t, ir) && aim(&t) && verify(&t) && optimise(&t) &&
                write_form(&t, w->form, w->out) && !t.objection[0];
    hear_words(&t);
    if (t.is_too_deep) {
        status = vyre_status_make(
            VYRE_STATUS_UNSUPPORTED, "split it into several programs, or use another backend",
            "the program is too large for backend `cpu`: %.200s", t.objection);
    } else if (!made) {
        status = vyre_status_make(VYRE_STATUS_BACKEND,
                                  "use another backend, and report a bug with the program and this "
                                  "message",
                                  "%s refuses the code generated for the program: %s",
                                  w->info.version, t.objection);
    }
    if (status && t.code) {
        llvm->LLVMDisposeMemoryBuffer(t.code);
        t.code = NULL;
    }
    *out_code = t.code;
    if (t.machine) {
        llvm->LLVMDisposeTargetMachine(t.machine);
    }
    if (t.module) {
        llvm->LLVMDisposeModule(t.module);
    }
    llvm->LLVMContextDispose(t.context);
    return status;
}

static vyre_status translate_or_escape(const work *w, const vyre_strbuf *ir,
                                       LLVMMemoryBufferRef *out_code) {
    *out_code = NULL;
    if (setjmp(escape.back)) {
        escape.is_set = false;
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED, "use another backend, or a newer libLLVM",
                                "LLVM cannot compile the program: %.200s", escape.reason);
    }
    escape.is_set = true;
    vyre_status status = translate(w, ir, out_code);
    escape.is_set = false;
    return status;
}

/* LLVM folds some functions of constants in the arithmetic that the thread has set. */
static void translate_part(void *user, uint32_t i) {
    work *w = user;
    fenv_t callers;
    bool is_set = !fegetenv(&callers) && !fesetenv(FE_DFL_ENV);
    w->statuses[i] = translate_or_escape(w, w->count > 1 ? &w->parts[i] : w->ir, &w->codes[i]);
    if (is_set) {
        fesetenv(&callers);
    }
}

/* What came out, one behind the other. */
static vyre_status collect(work *w, vyre_status status) {
    for (uint32_t i = 0; i < w->count; i++) {
        if (status) {
            vyre_status_free(w->statuses[i]);
        } else {
            status = w->statuses[i];
        }
        if (w->codes[i] && !status) {
            vyre_strbuf_add(w->out, w->llvm->LLVMGetBufferStart(w->codes[i]),
                            w->llvm->LLVMGetBufferSize(w->codes[i]));
        }
        if (w->codes[i]) {
            w->llvm->LLVMDisposeMemoryBuffer(w->codes[i]);
        }
        vyre_strbuf_free(&w->parts[i]);
    }
    status = !status && w->out->failed ? no_memory() : status;
    if (status) {
        vyre_strbuf_free(w->out);
    }
    return status;
}

vyre_status cpu_llvm_compile(const vyre_strbuf *ir, cpu_llvm_form form, int level,
                             const cpu_llvm_threads *threads, vyre_strbuf *out) {
    const llvm_table *llvm;
    VYRE_TRY(cpu_llvm_functions(&llvm));
    cpu_llvm_info info = llvm->info;
    VYRE_TRY(cpu_llvm_narrow(level, &info));
    work *w = vyre_alloc_zeroed(1, sizeof *w);
    if (!w) {
        return no_memory();
    }
    *w = (work){.llvm = llvm, .info = info, .form = form, .ir = ir, .out = out};
    w->effort = cpu_llvm_effort_of(vyre_strbuf_string(ir));
    cpu_llvm_lite_forget();
    w->count = form == CPU_LLVM_OBJECT ? cpu_llvm_cut(ir, threads->count, w->parts) : 1;
    vyre_status status = w->count ? threads->run(translate_part, w, w->count) : no_memory();
    status = collect(w, status);
    vyre_free(w);
    return status;
}
