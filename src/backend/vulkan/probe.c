#include "backend/vulkan/probe.h"

#include <stdio.h>
#include <string.h>

#include "backend/vulkan/dispatch.h"
#include "backend/vulkan/executable.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "ir/program.h"
#include "pass/probe.h"
#include "runtime/plan.h"
#include "store/store.h"

/* Grows whenever the code of the probe becomes other code by this version of the library. */
static const char probe_version[] = VYRE_VERSION_STRING " probe 1";

static void take_over(vulkan_device *device, const vyre_corrections *needed) {
    vyre_strbuf text = {0};
    device->needed = *needed;
    vyre_corrections_print(needed, &text);
    snprintf(device->corrections, sizeof device->corrections, "%s", vyre_strbuf_string(&text));
    vyre_strbuf_free(&text);
}

static vyre_store_key make_key(const vulkan_device *device, vyre_digest digest) {
    return (vyre_store_key){
        .semantics = VYRE_SEMANTICS,
        .backend = vyre_str_of("vulkan"),
        .backend_version = vyre_str_of(probe_version),
        .device = vyre_str_of(device->info.identity),
        .driver_version = vyre_str_of(device->info.version),
        .digest = digest,
        .name = vyre_str_of("arithmetic of a Vulkan device"),
    };
}

vyre_status vulkan_probe_recall(vulkan_device *device, bool *out_known) {
    vyre_program *program;
    vyre_strbuf found = {0};
    vyre_corrections needed;
    *out_known = false;
    if (vulkan_drill.forgets) {
        return VYRE_OK;
    }
    VYRE_TRY(vyre_probe_program(device->info.float64, &program));
    const vyre_store_key key = make_key(device, vyre_program_digest(program));
    if (vyre_store_get(&key, &found) && found.size == sizeof needed) {
        memcpy(&needed, found.data, sizeof needed);
        take_over(device, &needed);
        *out_known = true;
    }
    vyre_strbuf_free(&found);
    vyre_program_release(program);
    return VYRE_OK;
}

/* Runs the program on the inputs; the outputs are those of the probe. */
static vyre_status run(vulkan_device *device, const vyre_program *program, const vyre_probe *probe,
                       void *const *outputs) {
    static const vyre_dispatch_config config = {.timeout_ns = UINT64_C(60) * 1000000000};
    vulkan_executable *executable;
    vyre_input inputs[VYRE_PROBE_ARRAYS];
    vyre_output out[VYRE_PROBE_ARRAYS];
    vyre_plan plan;
    for (uint32_t i = 0; i < probe->count; i++) {
        inputs[i] = (vyre_input){probe->inputs[i], probe->input_bytes[i]};
        out[i] = (vyre_output){outputs[i], probe->output_bytes[i]};
    }
    VYRE_TRY(vulkan_executable_make_plain(device, program, &executable));
    vyre_status status = vyre_plan_init(&plan, program, inputs, probe->count, &config);
    if (!status) {
        const vyre_call call = vyre_plan_call(&plan, inputs, NULL);
        status = vulkan_dispatch(executable, &call, out, NULL);
        vyre_plan_deinit(&plan);
    }
    vulkan_executable_release(executable);
    return status;
}

vyre_status vulkan_probe_run(vulkan_device *device) {
    vyre_program *program = NULL;
    vyre_probe probe;
    vyre_corrections needed;
    void *outputs[VYRE_PROBE_ARRAYS] = {NULL, NULL};
    VYRE_TRY(vyre_probe_inputs(device->info.float64, &probe));
    vyre_status status = vyre_probe_program(device->info.float64, &program);
    for (uint32_t i = 0; i < probe.count && !status; i++) {
        outputs[i] = vyre_alloc_zeroed(1, probe.output_bytes[i]);
        status = outputs[i] ? VYRE_OK : vyre_no_memory("to probe a device");
    }
    status = status ? status : run(device, program, &probe, outputs);
    status = status
                 ? status
                 : vyre_probe_judge(&probe, (const void *const *)(const void *)outputs, &needed);
    if (!status) {
        take_over(device, &needed);
        vyre_log(VYRE_LOG_INFO, "vulkan: %s needs corrections of %s", device->info.name,
                 device->corrections);
    }
    if (!status && !vulkan_drill.forgets) {
        const vyre_store_key key = make_key(device, vyre_program_digest(program));
        vyre_store_put(&key, &needed, sizeof needed);
    }
    for (uint32_t i = 0; i < VYRE_PROBE_ARRAYS; i++) {
        vyre_free(outputs[i]);
    }
    vyre_program_release(program);
    vyre_probe_deinit(&probe);
    return vyre_status_annotate(status, "probing the arithmetic of %s", device->info.name);
}
