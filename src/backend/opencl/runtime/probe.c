#include "backend/opencl/runtime/probe.h"

#include <stdio.h>

#include "backend/opencl/runtime/dispatch.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "pass/probe.h"
#include "runtime/plan.h"
#include "store/store.h"

/* What the store has of a device. */
typedef struct record {
    uint32_t f32, f64;
} record;

static vyre_store_key key_of(const opencl_device *device) {
    static const char program[] = "probe 4";
    return (vyre_store_key){
        .semantics = VYRE_SEMANTICS,
        .backend = vyre_str_of("opencl"),
        .backend_version = vyre_str_of(device->info.version),
        .device = vyre_str_of(device->info.found.name),
        .driver_version = vyre_str_of(device->info.key),
        .program = vyre_str_of(program),
        .name = vyre_str_of(program),
    };
}

static bool recall(opencl_device *device) {
    const vyre_store_key key = key_of(device);
    vyre_strbuf bytes = {0};
    record found;
    bool fits = vyre_store_get(&key, &bytes) && bytes.size == sizeof found;
    if (fits) {
        memcpy(&found, bytes.data, sizeof found);
        device->corrections = (vyre_corrections){found.f32, found.f64};
    }
    vyre_strbuf_free(&bytes);
    return fits;
}

static void remember(const opencl_device *device) {
    const vyre_store_key key = key_of(device);
    const record own = {device->corrections.f32, device->corrections.f64};
    vyre_store_put(&key, &own, sizeof own);
}

/* Runs the probe's program, one input and one output for each of its arrays. */
static vyre_status run(opencl_executable *executable, const vyre_program *program,
                       const vyre_probe *probe, vyre_output *outputs) {
    vyre_input inputs[VYRE_PROBE_ARRAYS];
    vyre_plan plan;
    for (uint32_t i = 0; i < probe->count; i++) {
        inputs[i] = (vyre_input){probe->inputs[i], probe->input_bytes[i]};
    }
    vyre_status status =
        vyre_plan_init(&plan, program, inputs, probe->count, &(vyre_dispatch_config){0});
    if (!status) {
        const vyre_call call = vyre_plan_call(&plan, inputs, NULL);
        status = opencl_dispatch(executable, &call, outputs, NULL);
        vyre_plan_deinit(&plan);
    }
    return status;
}

static vyre_status judge(opencl_device *device, const vyre_probe *probe,
                         opencl_executable *executable, const vyre_program *program) {
    vyre_output outputs[VYRE_PROBE_ARRAYS] = {{0}};
    const void *results[VYRE_PROBE_ARRAYS] = {0};
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < probe->count && !status; i++) {
        outputs[i] =
            (vyre_output){vyre_alloc_zeroed(probe->output_bytes[i], 1), probe->output_bytes[i]};
        results[i] = outputs[i].data;
        status = outputs[i].data ? VYRE_OK : vyre_no_memory("to probe a device");
    }
    status = status ? status : run(executable, program, probe, outputs);
    status = status ? status : vyre_probe_judge(probe, results, &device->corrections);
    for (uint32_t i = 0; i < probe->count; i++) {
        vyre_free(outputs[i].data);
    }
    return status;
}

static vyre_status ask(opencl_device *device) {
    bool has_f64 = device->info.target.has_f64;
    vyre_program *program;
    vyre_probe probe;
    opencl_executable *executable = NULL;
    VYRE_TRY(vyre_probe_program(has_f64, &program));
    vyre_status status = vyre_probe_inputs(has_f64, &probe);
    if (!status) {
        status = opencl_executable_bare(device, program, &executable);
        status = status ? status : judge(device, &probe, executable, program);
        opencl_executable_release(executable);
        vyre_probe_deinit(&probe);
    }
    vyre_program_release(program);
    return status;
}

vyre_status opencl_probe(opencl_device *device) {
    bool is_known = device->is_probed || recall(device);
    vyre_status status = is_known ? VYRE_OK : ask(device);
    if (!status && !is_known) {
        remember(device);
    }
    if (!status && !device->is_probed) {
        vyre_strbuf text = {0};
        vyre_corrections_print(&device->corrections, &text);
        vyre_log(VYRE_LOG_INFO, "opencl: %s is corrected: %s", device->info.found.name,
                 vyre_strbuf_string(&text));
        vyre_strbuf_free(&text);
        device->is_probed = true;
    }
    return status;
}

/* One device in the description. */
static void describe(uint32_t index, vyre_strbuf *out) {
    opencl_device *device;
    vyre_status status = opencl_device_create(index, &device);
    if (status) {
        vyre_status_free(status);
        return;
    }
    vyre_strbuf_printf(out, "%s%s: ", out->size ? "; " : "", device->info.found.name);
    if (recall(device)) {
        vyre_strbuf_puts(out, "corrected are ");
        vyre_corrections_print(&device->corrections, out);
    } else {
        vyre_strbuf_puts(out, "its floats are probed before the first run");
    }
    if (device->info.target.is_serial) {
        vyre_strbuf_puts(out, "; PoCL gets some kernels with barriers wrong (docs/opencl.md)");
    }
    opencl_device_free(device);
}

const char *opencl_probe_describe(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char text[1024];
    vyre_strbuf found = {0};
    uint32_t count = opencl_device_count();
    for (uint32_t i = 0; i < count; i++) {
        describe(i, &found);
    }
    pthread_mutex_lock(&lock);
    snprintf(text, sizeof text, "%s", vyre_strbuf_string(&found));
    pthread_mutex_unlock(&lock);
    vyre_strbuf_free(&found);
    return text[0] ? text : NULL;
}
