#include "backend/spirv/ahead.h"

#include "base/alloc.h"
#include "base/status.h"
#include "ir/program.h"
#include "pass/correct.h"
#include "pass/subgroup.h"

static vyre_status no_memory(const vyre_program *program) {
    return vyre_no_memory("to write `%s` as SPIR-V", vyre_program_name(program));
}

/* What code is written for: the device is one that has the widths of subgroups that phases state.
 */
static vyre_status lower(const vyre_program *program, const spirv_target *target,
                         vyre_program **out_lowered) {
    const vyre_corrections nothing = {0};
    vyre_program *shared;
    VYRE_TRY(vyre_subgroups_share(program, target->widths, &shared));
    vyre_status status =
        vyre_lower_corrected(shared ? shared : program, !target->general, &nothing, out_lowered);
    vyre_program_release(shared);
    return status;
}

static vyre_status write_module(const vyre_program *program, spirv_module *out_module) {
    const spirv_target target = spirv_baseline();
    vyre_program *lowered;
    *out_module = (spirv_module){0};
    VYRE_TRY(lower(vyre_program_suited(program, "vulkan", true), &target, &lowered));
    spirv_phase_info *infos =
        vyre_alloc_array(vyre_program_ir(lowered)->phase_count, sizeof *infos);
    vyre_status status =
        infos ? spirv_emit(lowered, &target, VYRE_NONE, out_module, infos) : no_memory(program);
    vyre_free(infos);
    vyre_program_release(lowered);
    return status;
}

vyre_status spirv_show(const vyre_program *program, vyre_strbuf *out) {
    spirv_module module;
    VYRE_TRY(write_module(program, &module));
    bool made = spirv_disassemble(&module, out);
    spirv_module_free(&module);
    return made ? VYRE_OK : no_memory(program);
}

static vyre_status emit(const vyre_emitter *emitter, const vyre_program *program,
                        const vyre_emit_options *options, uint8_t **out_bytes, size_t *out_size) {
    (void)emitter;
    (void)options;
    spirv_module module;
    VYRE_TRY(write_module(program, &module));
    *out_bytes = (uint8_t *)module.words;
    *out_size = module.count * sizeof *module.words;
    return VYRE_OK;
}

const vyre_emitter spirv_emitter = {
    .target = "spv",
    .makes = "SPIR-V for Vulkan, with an entry point for each phase",
    .is_text = false,
    .has_devices = false,
    .emit = emit,
};
