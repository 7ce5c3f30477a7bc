#include "backend/opencl/runtime/executable.h"

#include <stdio.h>

#include "backend/opencl/runtime/artifact.h"
#include "backend/opencl/runtime/build.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "pass/fill.h"
#include "pass/pass.h"
#include "pass/subgroup.h"

vyre_status opencl_lower(const vyre_program *program, const opencl_target *target,
                         const vyre_corrections *corrections, bool own_domain,
                         vyre_program **out_program) {
    vyre_program *shared;
    *out_program = NULL;
    VYRE_TRY(vyre_subgroups_share(program, opencl_widths(target), &shared));
    vyre_status status =
        vyre_lower_corrected(shared ? shared : program, own_domain, corrections, out_program);
    vyre_program_release(shared);
    return status;
}

/* Whether what runs depends on elements of arrays. */
static bool reads_elements(const vyre_ir *ir) {
    bool found = false;
    for (uint32_t i = 0; i < ir->step_count; i++) {
        found = found || ir->steps[i].kind == VYRE_STEP_REPEAT_WHILE ||
                ir->steps[i].kind == VYRE_STEP_IF;
    }
    for (uint32_t i = 0; i < ir->phase_count; i++) {
        found = found || ir->phases[i].from_resource != VYRE_NONE;
    }
    return found;
}

static vyre_status find_kernel(opencl_executable *executable, const char *kind, uint32_t index,
                               cl_kernel *out_kernel) {
    cl_int result;
    char name[32];
    snprintf(name, sizeof name, "%s_%u", kind, index);
    *out_kernel = executable->device->cl->clCreateKernel(executable->code, name, &result);
    return opencl_check(executable->device, result, "finding %s of `%s`", name,
                        vyre_program_name(executable->program));
}

/* The invocations of a workgroup that a kernel has room for; of the device where the driver does
 * not say. */
static size_t room_of(const opencl_device *device, cl_kernel kernel) {
    size_t most = 0;
    cl_int result = device->cl->clGetKernelWorkGroupInfo(
        kernel, device->info.found.device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    return result || !most ? device->info.target.most_threads : most;
}

/* The invocations for whose private arrays a workgroup has room. */
static size_t private_room(const opencl_executable *executable, uint32_t index) {
    const vyre_ir *ir = vyre_program_ir(executable->program);
    const vyre_phase *phase = &ir->phases[index];
    uint64_t most = executable->device->info.private_bytes, bytes = 0;
    for (uint32_t r = phase->first_resource; r < phase->end_resource; r++) {
        const vyre_resource *row = &ir->resources[r];
        bytes += row->kind == VYRE_RESOURCE_PRIVATE ? vyre_resource_bytes(row) : 0;
    }
    return !most || !bytes ? SIZE_MAX : most > bytes ? (size_t)(most / bytes) : 1;
}

/* Whether a kernel was compiled for the workgroups of its phase. */
static bool is_compiled_for(const opencl_device *device, cl_kernel kernel, size_t threads) {
    size_t size[3] = {0};
    cl_int result = device->cl->clGetKernelWorkGroupInfo(kernel, device->info.found.device,
                                                         CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                                         sizeof size, size, NULL);
    return !result && size[0] == threads && size[1] == 1 && size[2] == 1;
}

vyre_status opencl_executable_refuse(const opencl_executable *executable,
                                     const opencl_phase *phase) {
    return vyre_status_make(
        VYRE_STATUS_UNSUPPORTED,
        "use a smaller workgroup, smaller private arrays, or another device",
        "phase %u of `%s` needs workgroups of %u invocations, and %s has room for %zu of them",
        (unsigned)(phase - executable->phases), vyre_program_name(executable->program),
        phase->info.threads, executable->device->info.found.name, phase->room);
}

/* Finds the kernels. One that cannot have workgroups of its size is refused. `is_stored`: none was
 * when the code was made; not every driver says of stored code what it was compiled for. */
static vyre_status load_kernels(opencl_executable *executable, bool is_stored) {
    opencl_device *device = executable->device;
    size_t most = device->info.target.most_threads;
    for (uint32_t i = 0; i < executable->phase_count; i++) {
        opencl_phase *phase = &executable->phases[i];
        VYRE_TRY(find_kernel(executable, "phase", i, &phase->kernel));
        phase->room = room_of(device, phase->kernel);
        if (phase->info.assumption_count) {
            VYRE_TRY(find_kernel(executable, "inner", i, &phase->inner));
            size_t own = room_of(device, phase->inner);
            phase->room = own < phase->room ? own : phase->room;
        }
        size_t threads = phase->info.threads, by_arrays = private_room(executable, i);
        bool is_tried = is_stored || is_compiled_for(device, phase->kernel, threads);
        phase->room = by_arrays < phase->room ? by_arrays : phase->room;
        phase->most_threads = most < phase->room ? most : phase->room;
        if (threads > by_arrays || (threads > phase->room && !is_tried)) {
            return opencl_executable_refuse(executable, phase);
        }
    }
    return VYRE_OK;
}

/* From an artifact; false if it does not fit, or does not load, which is as good as none. */
static bool load_artifact(opencl_executable *executable, const opencl_artifact_key *key,
                          opencl_phase_info *infos, const uint8_t *artifact, size_t size) {
    const uint8_t *binary;
    size_t bytes;
    if (!artifact || !opencl_artifact_read(key, artifact, size, infos, &binary, &bytes)) {
        return false;
    }
    vyre_status status =
        opencl_build_binary(executable->device, binary, bytes,
                            vyre_program_name(executable->program), &executable->code);
    if (status) {
        vyre_log(VYRE_LOG_INFO,
                 "opencl: `%s` is compiled again, because the stored code cannot be used: %s",
                 vyre_program_name(executable->program), vyre_status_text(status));
        vyre_status_free(status);
        return false;
    }
    return true;
}

static vyre_status compile(opencl_executable *executable, const opencl_artifact_key *key,
                           unsigned variant, opencl_phase_info *infos, vyre_strbuf *out_artifact) {
    opencl_device *device = executable->device;
    opencl_target target = device->info.target;
    vyre_strbuf text = {0}, binary = {0};
    target.general = variant & OPENCL_LARGE;
    target.polls = target.polls || variant & OPENCL_STOPS;
    vyre_status status = opencl_emit(executable->program, &target, &text, infos);
    status = status ? status
                    : opencl_build_text(device, &text, vyre_program_name(executable->program),
                                        &executable->code);
    executable->text_bytes = text.size;
    if (!status && out_artifact && opencl_build_stores(device) &&
        opencl_build_get_binary(device, executable->code, &binary)) {
        opencl_artifact_write(key, infos, &binary, out_artifact);
        if (out_artifact->failed) { /* then there is none */
            vyre_strbuf_free(out_artifact);
            *out_artifact = (vyre_strbuf){0};
        }
    }
    vyre_strbuf_free(&text);
    vyre_strbuf_free(&binary);
    return status;
}

/* What an artifact has, or what the compiler makes. */
static vyre_status fill_in(opencl_executable *executable, unsigned variant, const uint8_t *artifact,
                           size_t artifact_size, vyre_strbuf *out_artifact) {
    opencl_device *device = executable->device;
    const opencl_artifact_key key = {.device = device->info.key,
                                     .name = device->info.found.name,
                                     .corrections = device->corrections,
                                     .phase_count = executable->phase_count};
    opencl_phase_info *infos = vyre_alloc_zeroed(executable->phase_count, sizeof *infos);
    if (!infos) {
        return vyre_no_memory("to compile `%s`", vyre_program_name(executable->program));
    }
    vyre_status status = VYRE_OK;
    bool is_stored = load_artifact(executable, &key, infos, artifact, artifact_size);
    if (!is_stored) {
        opencl_infos_free(infos, executable->phase_count);
        memset(infos, 0, executable->phase_count * sizeof *infos);
        status = compile(executable, &key, variant, infos, out_artifact);
    }
    for (uint32_t i = 0; i < executable->phase_count; i++) {
        executable->phases[i].info = infos[i];
    }
    vyre_free(infos);
    return status ? status : load_kernels(executable, is_stored);
}

/* Takes the lowered program over. */
static vyre_status make(opencl_device *device, vyre_program *program, unsigned variant,
                        const uint8_t *artifact, size_t artifact_size, vyre_strbuf *out_artifact,
                        opencl_executable **out_executable) {
    const vyre_ir *ir = vyre_program_ir(program);
    opencl_executable *executable = vyre_alloc_zeroed(1, sizeof *executable);
    opencl_phase *phases = vyre_alloc_zeroed(ir->phase_count, sizeof *phases);
    uint32_t *overwritten = vyre_alloc_array(ir->resource_count + 1, sizeof *overwritten);
    if (!executable || !phases || !overwritten) {
        vyre_status status = vyre_no_memory("to compile `%s`", vyre_program_name(program));
        vyre_free(executable);
        vyre_free(phases);
        vyre_free(overwritten);
        vyre_program_release(program);
        return status;
    }
    atomic_init(&executable->references, 1);
    executable->device = device;
    executable->program = program;
    executable->phases = phases;
    executable->phase_count = ir->phase_count;
    executable->overwritten = overwritten;
    executable->reads_elements = reads_elements(ir);
    pthread_mutex_init(&executable->lock, NULL);
    for (uint32_t i = 0; i < ir->phase_count; i++) {
        pthread_mutex_init(&phases[i].lock, NULL);
    }
    vyre_status status = vyre_fill_find(program, overwritten);
    status = status ? status : fill_in(executable, variant, artifact, artifact_size, out_artifact);
    if (status) {
        opencl_executable_release(executable);
        return status;
    }
    *out_executable = executable;
    return VYRE_OK;
}

vyre_status opencl_executable_make(opencl_device *device, const vyre_program *program,
                                   const uint8_t *artifact, size_t artifact_size,
                                   vyre_strbuf *out_artifact, opencl_executable **out_executable) {
    vyre_program *lowered;
    *out_executable = NULL;
    VYRE_TRY(opencl_lower(program, &device->info.target, &device->corrections, true, &lowered));
    return make(device, lowered, 0, artifact, artifact_size, out_artifact, out_executable);
}

vyre_status opencl_executable_bare(opencl_device *device, const vyre_program *program,
                                   opencl_executable **out_executable) {
    vyre_program *lowered;
    *out_executable = NULL;
    VYRE_TRY(vyre_lower_program(program, true, &lowered));
    return make(device, lowered, 0, NULL, 0, NULL, out_executable);
}

vyre_status opencl_executable_variant(opencl_executable *executable, unsigned variant,
                                      opencl_executable **out_executable) {
    if (!variant) {
        *out_executable = executable;
        return VYRE_OK;
    }
    vyre_status status = VYRE_OK;
    opencl_executable **kept = &executable->variants[variant - 1];
    pthread_mutex_lock(&executable->lock);
    if (!*kept) {
        /* Comparisons that its own domain decides stay decided: what is larger is another
         * program. */
        status = make(executable->device, vyre_program_retain(executable->program), variant, NULL,
                      0, NULL, kept);
    }
    *out_executable = *kept;
    pthread_mutex_unlock(&executable->lock);
    return status;
}

opencl_executable *opencl_executable_retain(opencl_executable *executable) {
    atomic_fetch_add(&executable->references, 1);
    return executable;
}

void opencl_executable_release(opencl_executable *executable) {
    if (!executable || atomic_fetch_sub(&executable->references, 1) != 1) {
        return;
    }
    const opencl_table *cl = executable->device->cl;
    for (int i = 0; i < OPENCL_VARIANTS; i++) {
        opencl_executable_release(executable->variants[i]);
    }
    for (uint32_t i = 0; i < executable->phase_count; i++) {
        opencl_phase *phase = &executable->phases[i];
        if (phase->kernel) {
            cl->clReleaseKernel(phase->kernel);
        }
        if (phase->inner) {
            cl->clReleaseKernel(phase->inner);
        }
        vyre_free(phase->info.parameters);
        vyre_free(phase->info.assumptions);
        pthread_mutex_destroy(&phase->lock);
    }
    if (executable->code) {
        cl->clReleaseProgram(executable->code);
    }
    pthread_mutex_destroy(&executable->lock);
    vyre_program_release(executable->program);
    vyre_free(executable->phases);
    vyre_free(executable->overwritten);
    vyre_free(executable);
}
