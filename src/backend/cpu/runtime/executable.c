#include "backend/cpu/runtime/executable.h"

#include <stdio.h>
#include <string.h>

#include <pthread.h>

#include "backend/cpu/codegen/option.h"
#include "backend/cpu/runtime/artifact.h"
#include "backend/cpu/runtime/backend.h"
#include "backend/cpu/runtime/compiler.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "pass/fill.h"
#include "pass/pass.h"
#include "pass/split.h"

/* What code is written for. VYRE_CPU_LANES says how many lanes vectors have, or that there are
 * none. */
static vyre_status find_target(cpu_target *out_target, int *out_option) {
    cpu_llvm_info info;
    int option = 0;
    VYRE_TRY(cpu_compiler_info(&info));
    VYRE_TRY(vyre_option_choice(VYRE_OPTION_CPU_LANES, &option));
    bool is_arm = !strncmp(info.triple, "aarch64", 7);
    bool has_512 = cpu_llvm_has_feature(&info, "avx512vl") &&
                   cpu_llvm_has_feature(&info, "avx512bw") &&
                   cpu_llvm_has_feature(&info, "avx512dq");
    bool has_256 = cpu_llvm_has_feature(&info, "avx2");
    *out_option = option;
    *out_target = (cpu_target){
        .lanes = has_512   ? 16
                 : has_256 ? 8
                           : 4,
        .has_half = is_arm || cpu_llvm_has_feature(&info, "f16c"),
        .has_long = is_arm || cpu_llvm_has_feature(&info, "avx512dq"),
        .has_gather = has_256,
        .has_quick_gather = has_512 && strstr(info.cpu, "rapids"),
        .has_scatter = has_512,
        .forced = option > CPU_LANES_SCALARS ? 1 : (uint32_t)option,
        .forced_side = option > CPU_LANES_SCALARS ? (uint32_t)(option - CPU_LANES_SCALARS) : 1,
    };
    if (out_target->forced > 1) {
        out_target->lanes = out_target->forced;
    }
    return VYRE_OK;
}

vyre_status cpu_executable_lanes(uint32_t *out_lanes) {
    cpu_target target = {0};
    int option;
    vyre_status status = find_target(&target, &option);
    *out_lanes = target.lanes;
    return status;
}

/* Threads cannot wait for all workgroups, so there are phases in the place of grid barriers. */
static vyre_status split(const vyre_program *program, bool *out_split, vyre_program **out_program) {
    vyre_status status = vyre_split_grid_barriers(program, out_program);
    *out_split = *out_program;
    if (!status && !*out_program) {
        *out_program = vyre_program_retain((vyre_program *)(uintptr_t)program);
    }
    return status;
}

/* What a phase costs, and whether its workgroups can wait for one another: then they look at an
 * array again and again. */
static void weigh(const vyre_ir *ir, uint32_t index, cpu_phase *out_phase) {
    enum { ITERATIONS = 32 }; /* how often a loop goes round, if one must guess */
    const vyre_phase *phase = &ir->phases[index];
    uint64_t cost = 0;
    uint32_t loop_end = phase->first;
    for (uint32_t i = phase->first; i < phase->end; i++) {
        const vyre_inst *inst = &ir->insts[i];
        const vyre_op_info *info = vyre_op_info_of(inst->op);
        bool in_loop = i < loop_end;
        if (vyre_op_is_loop(inst->op)) {
            uint32_t end = vyre_owner_end(ir, i);
            loop_end = end > loop_end ? end : loop_end;
            out_phase->has_loops = true;
        }
        cost += (uint64_t)info->cost * (in_loop ? ITERATIONS : 1);
        out_phase->may_wait |= in_loop && info->effects & VYRE_EFFECT_ATOMIC &&
                               info->effects & VYRE_EFFECT_READ &&
                               vyre_resource_is_global(vyre_access_array(ir, inst));
    }
    uint32_t invocations = phase->workgroup[0]
                               ? phase->workgroup[0] * phase->workgroup[1] * phase->workgroup[2]
                               : out_phase->info.block;
    out_phase->weight = (cost / 8 + 1) * invocations; /* vectors have about so many lanes */
}

/* Loads what an artifact holds into the executable program. */
static vyre_status load(cpu_executable *executable, const cpu_phase_info *infos,
                        const uint8_t *object, size_t size) {
    const vyre_ir *ir = vyre_program_ir(executable->program);
    cpu_kernel *kernels = vyre_alloc_array(executable->phase_count, sizeof *kernels);
    if (!kernels) {
        return vyre_no_memory("to compile `%s`", vyre_program_name(executable->program));
    }
    vyre_status status =
        cpu_code_load(object, size, executable->phase_count, &executable->code, kernels);
    for (uint32_t i = 0; i < executable->phase_count && !status; i++) {
        executable->phases[i] = (cpu_phase){.kernel = kernels[i], .info = infos[i]};
        weigh(ir, i, &executable->phases[i]);
    }
    vyre_free(kernels);
    return status;
}

/* From an artifact; false if it does not fit, or does not load, which is as good as none. */
static bool load_artifact(cpu_executable *executable, const cpu_artifact_key *key,
                          const uint8_t *artifact, size_t size, cpu_phase_info *infos) {
    const uint8_t *object;
    size_t object_size;
    if (!artifact || !cpu_artifact_read(key, artifact, size, infos, &object, &object_size)) {
        return false;
    }
    vyre_status status = load(executable, infos, object, object_size);
    if (status) {
        vyre_log(VYRE_LOG_INFO,
                 "cpu: `%s` is compiled again, because the stored code cannot be "
                 "used: %s",
                 vyre_program_name(executable->program), vyre_status_text(status));
        vyre_status_free(status);
    }
    return !status;
}

static vyre_status compile(cpu_executable *executable, const cpu_artifact_key *key,
                           const cpu_target *target, uint64_t deadline_ns, cpu_phase_info *infos,
                           vyre_strbuf *out_artifact) {
    vyre_strbuf ir = {0}, object = {0};
    vyre_status status = cpu_lower_and_emit(executable->program, target, &ir, infos);
    status = status ? status : cpu_compiler_run(&ir, CPU_LLVM_OBJECT, deadline_ns, &object);
    if (!status) {
        cpu_artifact_write(key, infos, &object, out_artifact);
        status = out_artifact->failed
                     ? vyre_no_memory("to compile `%s`", vyre_program_name(executable->program))
                     : load(executable, infos, (const uint8_t *)object.data, object.size);
    }
    vyre_strbuf_free(&ir);
    vyre_strbuf_free(&object);
    return status;
}

/* `program` as it runs; takes it over. */
static vyre_status make(vyre_program *program, bool was_split, bool any_domain,
                        const cpu_source *source, vyre_strbuf *out_artifact,
                        cpu_executable **out_executable) {
    cpu_llvm_info info;
    cpu_artifact_key key = {.phase_count = vyre_program_ir(program)->phase_count};
    cpu_target target;
    int option;
    vyre_status status = cpu_compiler_info(&info);
    status = status ? status : find_target(&target, &option);
    cpu_executable *executable = vyre_alloc_zeroed(1, sizeof *executable);
    cpu_phase *phases = vyre_alloc_zeroed(key.phase_count, sizeof *phases);
    cpu_phase_info *infos = vyre_alloc_zeroed(key.phase_count, sizeof *infos);
    uint32_t *overwritten =
        vyre_alloc_array(vyre_program_ir(program)->resource_count, sizeof *overwritten);
    if (status || !executable || !phases || !infos || !overwritten) {
        status = status ? status : vyre_no_memory("to compile `%s`", vyre_program_name(program));
        vyre_free(executable);
        vyre_free(phases);
        vyre_free(infos);
        vyre_free(overwritten);
        vyre_program_release(program);
        return status;
    }
    target.any_domain = any_domain;
    key.lanes = (uint32_t)option;
    key.cpu = info.cpu;
    key.features = info.features;
    atomic_init(&executable->references, 1);
    executable->program = program;
    executable->was_split = was_split;
    executable->phases = phases;
    executable->phase_count = key.phase_count;
    executable->overwritten = overwritten;
    status = vyre_fill_find(program, overwritten);
    if (!status &&
        !load_artifact(executable, &key, source->artifact, source->artifact_size, infos)) {
        status = compile(executable, &key, &target, source->deadline_ns, infos, out_artifact);
    }
    vyre_free(infos);
    if (status) {
        vyre_strbuf_free(out_artifact);
        cpu_executable_release(executable);
        return status;
    }
    *out_executable = executable;
    return VYRE_OK;
}

vyre_status cpu_executable_make(const vyre_program *program, const cpu_source *source,
                                vyre_strbuf *out_artifact, cpu_executable **out_executable) {
    *out_executable = NULL;
    bool was_split;
    vyre_program *own;
    VYRE_TRY(split(program, &was_split, &own));
    return make(own, was_split, false, source, out_artifact, out_executable);
}

vyre_status cpu_executable_for_large_grids(const cpu_executable *executable, uint64_t deadline_ns,
                                           const cpu_executable **out_executable) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    cpu_executable *own = (cpu_executable *)(uintptr_t)executable;
    vyre_strbuf artifact = {0};
    vyre_status status = VYRE_OK;
    pthread_mutex_lock(&lock);
    if (!own->large_grid) {
        status = make(vyre_program_retain(own->program), own->was_split, true,
                      &(cpu_source){.deadline_ns = deadline_ns}, &artifact, &own->large_grid);
    }
    *out_executable = own->large_grid;
    pthread_mutex_unlock(&lock);
    vyre_strbuf_free(&artifact);
    return status;
}

cpu_executable *cpu_executable_retain(cpu_executable *executable) {
    atomic_fetch_add(&executable->references, 1);
    return executable;
}

void cpu_executable_release(cpu_executable *executable) {
    if (!executable || atomic_fetch_sub(&executable->references, 1) != 1) {
        return;
    }
    cpu_executable_release(executable->large_grid);
    cpu_code_unload(&executable->code);
    vyre_program_release(executable->program);
    vyre_free(executable->phases);
    vyre_free(executable->overwritten);
    vyre_free(executable);
}

/* How a phase runs, and why. */
static void print_choice(const vyre_ir *ir, uint32_t phase, const cpu_choice *choice,
                         const char *comment, vyre_strbuf *out) {
    vyre_strbuf_printf(out, "%s phase", comment);
    for (uint32_t k = 0; k < ir->step_name_count; k++) {
        const vyre_step *step = &ir->steps[k];
        if (step->kind == VYRE_STEP_PHASE && step->size == phase && ir->step_names[k]) {
            vyre_strbuf_printf(out, " %s", ir->debug_strings + ir->step_names[k]);
        }
    }
    vyre_strbuf_puts(out, ": ");
    cpu_choice_print(choice, out);
    vyre_strbuf_putc(out, '\n');
}

/* The text with a comment in front of each phase's function. */
static void explain(const vyre_program *program, bool assembly, const cpu_phase_info *infos,
                    const char *text, vyre_strbuf *out) {
    const vyre_ir *ir = vyre_program_ir(program);
    const char *format = assembly ? "\nphase_%u:" : "\ndefine void @phase_%u(";
    for (uint32_t phase = 0; phase < ir->phase_count; phase++) {
        char start[64];
        snprintf(start, sizeof start, format, phase);
        const char *at = strstr(text, start);
        if (at) {
            at++; /* the end of the line before */
            vyre_strbuf_add(out, text, (size_t)(at - text));
            text = at;
        }
        print_choice(ir, phase, &infos[phase].choice, assembly ? "#" : ";", out);
    }
    vyre_strbuf_puts(out, text);
}

/* A program in one of LLVM's forms, the program as it runs, and what is known of its phases: to be
 * freed, also after an error. */
static vyre_status translate(const vyre_program *program, cpu_llvm_form form, vyre_strbuf *out,
                             vyre_program **out_program, cpu_phase_info **out_infos) {
    cpu_target target;
    int option;
    bool was_split;
    vyre_strbuf ir = {0};
    *out_program = NULL;
    *out_infos = NULL;
    vyre_status status = find_target(&target, &option);
    status = status ? status : split(program, &was_split, out_program);
    if (!status) {
        *out_infos =
            vyre_alloc_zeroed(vyre_program_ir(*out_program)->phase_count, sizeof **out_infos);
        status = *out_infos ? cpu_lower_and_emit(*out_program, &target, &ir, *out_infos)
                            : vyre_no_memory("to compile `%s`", vyre_program_name(program));
    }
    status = status ? status : cpu_compiler_run(&ir, form, 0, out);
    vyre_strbuf_free(&ir);
    return status;
}

vyre_status cpu_executable_show(const vyre_program *program, bool assembly, vyre_strbuf *out) {
    vyre_strbuf text = {0};
    vyre_program *own;
    cpu_phase_info *infos;
    vyre_status status =
        translate(program, assembly ? CPU_LLVM_ASSEMBLY : CPU_LLVM_IR, &text, &own, &infos);
    if (!status) {
        explain(own, assembly, infos, vyre_strbuf_string(&text), out);
        status =
            out->failed ? vyre_no_memory("to compile `%s`", vyre_program_name(program)) : VYRE_OK;
    }
    vyre_free(infos);
    vyre_strbuf_free(&text);
    vyre_program_release(own);
    return status;
}

static vyre_status emit_module(const vyre_emitter *emitter, const vyre_program *program,
                               const vyre_emit_options *options, uint8_t **out_bytes,
                               size_t *out_size) {
    (void)emitter;
    (void)options;
    vyre_strbuf object = {0};
    vyre_program *own;
    cpu_phase_info *infos;
    vyre_status status = translate(program, CPU_LLVM_MODULE, &object, &own, &infos);
    if (!status) {
        *out_bytes = (uint8_t *)object.data;
        *out_size = object.size;
    }
    vyre_free(infos);
    vyre_program_release(own);
    return status;
}

const vyre_emitter cpu_emitter = {
    .target = "native_module",
    .makes = "a relocatable object for the CPU of this machine: a function phase_N for each phase",
    .needs = "libLLVM 16 to 22",
    .emit = emit_module,
};
