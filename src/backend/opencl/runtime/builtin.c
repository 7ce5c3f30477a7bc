#include "backend/opencl/runtime/backend.h"
#include "backend/opencl/runtime/driver.h"
#include "backend/opencl/runtime/executable.h"
#include "backend/opencl/runtime/probe.h"
#include "base/alloc.h"
#include "base/status.h"

OPENCL_OPTIONS(VYRE_OPTION_DEFINE)

static vyre_status show(const vyre_program *program, const opencl_target *target,
                        const vyre_corrections *corrections, vyre_strbuf *out) {
    vyre_program *lowered;
    VYRE_TRY(opencl_lower(program, target, corrections, true, &lowered));
    uint32_t count = vyre_program_ir(lowered)->phase_count;
    opencl_phase_info *infos = vyre_alloc_zeroed(count, sizeof *infos);
    vyre_status status =
        infos ? opencl_emit(lowered, target, out, infos)
              : vyre_no_memory("to write `%s` as OpenCL C", vyre_program_name(program));
    opencl_infos_free(infos, count);
    vyre_free(infos);
    vyre_program_release(lowered);
    return status;
}

static vyre_status show_opencl(const vyre_program *program, vyre_strbuf *out) {
    const opencl_target target = opencl_any_target();
    const vyre_corrections none = {0};
    return show(program, &target, &none, out);
}

static vyre_status show_for(const vyre_backend *backend, const vyre_program *program,
                            vyre_strbuf *out) {
    opencl_device *device = backend->state;
    VYRE_TRY(opencl_device_open(device));
    VYRE_TRY(opencl_probe(device));
    vyre_strbuf_printf(out, "// for %s, corrects ", device->info.found.name);
    vyre_corrections_print(&device->corrections, out);
    vyre_strbuf_putc(out, '\n');
    return show(program, &device->info.target, &device->corrections, out);
}

#define STAGE(name, documentation, function) {name, function},
static const vyre_stage stages[] = {OPENCL_STAGES(STAGE){NULL, NULL}};
static const vyre_option *const options[] = {OPENCL_OPTIONS(VYRE_OPTION_LIST) NULL};

const vyre_builtin opencl_builtin = {.bundle = &opencl_bundle,
                                     .is_gpu = true,
                                     .stages = stages,
                                     .show_for = show_for,
                                     .options = options,
                                     .is_known_software = opencl_driver_known_software,
                                     .note = opencl_probe_describe};
