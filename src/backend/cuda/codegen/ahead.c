#include "backend/cuda/codegen/ahead.h"

#include <string.h>

#include "backend/cuda/codegen/emit.h"
#include "base/alloc.h"
#include "base/status.h"
#include "pass/pass.h"

/* X(name, sm, isa): the version of PTX that was the first to know the device. */
#define DEVICES(X)                                                                                 \
    X("sm_70", 70, 63)                                                                             \
    X("sm_72", 72, 63)                                                                             \
    X("sm_75", 75, 63)                                                                             \
    X("sm_80", 80, 70)                                                                             \
    X("sm_86", 86, 71)                                                                             \
    X("sm_87", 87, 74)                                                                             \
    X("sm_89", 89, 78)                                                                             \
    X("sm_90", 90, 78)                                                                             \
    X("sm_100", 100, 86)                                                                           \
    X("sm_120", 120, 87)

#define NAME(name, sm, isa) ", " name
static const char names[] = DEVICES(NAME);
#undef NAME

static vyre_status find_target(const char *device, cuda_target *out_target) {
#define DEVICE(name, sm, isa) {name, {sm, isa, "phase", false, 1}},
    static const struct {
        const char *name;
        cuda_target target;
    } devices[] = {DEVICES(DEVICE)};
#undef DEVICE
    *out_target = cuda_baseline();
    if (!device) {
        return VYRE_OK;
    }
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        if (!strcmp(devices[i].name, device)) {
            *out_target = devices[i].target;
            return VYRE_OK;
        }
    }
    vyre_strbuf fix = {0};
    vyre_strbuf_printf(&fix, "name one of %s, or none for PTX that runs on all of them", &names[2]);
    vyre_status status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, vyre_strbuf_string(&fix),
                                          "there is no PTX for the device `%s`", device);
    vyre_strbuf_free(&fix);
    return status;
}

static vyre_status no_memory(const vyre_program *program) {
    return vyre_no_memory("to write `%s` as PTX", vyre_program_name(program));
}

vyre_status cuda_ahead(const vyre_program *program, const char *device, vyre_strbuf *out_ptx) {
    cuda_target target;
    vyre_program *lowered;
    VYRE_TRY(find_target(device, &target));
    VYRE_TRY(vyre_lower_program(program, !target.general, &lowered));
    cuda_phase_info *infos = vyre_alloc_array(vyre_program_ir(lowered)->phase_count, sizeof *infos);
    vyre_status status = infos ? cuda_emit(lowered, &target, out_ptx, infos) : no_memory(program);
    vyre_free(infos);
    vyre_program_release(lowered);
    return status;
}

static vyre_status emit(const vyre_emitter *emitter, const vyre_program *program,
                        const vyre_emit_options *options, uint8_t **out_bytes, size_t *out_size) {
    (void)emitter;
    vyre_strbuf ptx = {0};
    vyre_status status = cuda_ahead(program, options->device, &ptx);
    if (!status && ptx.failed) {
        status = no_memory(program);
    }
    if (status) {
        vyre_strbuf_free(&ptx);
        return status;
    }
    *out_bytes = (uint8_t *)ptx.data;
    *out_size = ptx.size;
    return VYRE_OK;
}

const vyre_emitter cuda_emitter = {
    .target = "secondary_text",
    .makes = "PTX, as the cuda backend passes it to the driver",
    .is_text = true,
    .has_devices = true,
    .emit = emit,
};
