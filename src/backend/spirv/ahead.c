#include "backend/spirv/ahead.h"

#include "base/alloc.h"
#include "base/status.h"
#include "pass/correct.h"

static vyre_status no_memory(const vyre_program *program) {
    return vyre_no_memory("to write `%s` as SPIR-V", vyre_program_name(program));
}

static vyre_status write_module(const vyre_program *program, spirv_module *out_module) {
    const spirv_target target = spirv_baseline();
    const vyre_corrections nothing = {0};
    vyre_program *lowered;
    *out_module = (spirv_module){0};
    VYRE_TRY(vyre_lower_corrected(program, !target.general, &nothing, &lowered));
    spirv_phase_info *infos =
        vyre_alloc_array(vyre_program_ir(lowered)->phase_count, sizeof *infos);
    vyre_status status = infos ? spirv_emit(lowered, &target, VYRE_NONE, out_module, infos)
                               : no_memory(program);
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
