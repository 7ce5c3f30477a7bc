#include "backend/vulkan/probe.h"

#include <stdio.h>
#include <string.h>

#include <vyre/builder.h>

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
static const char probe_version[] = VYRE_VERSION_STRING " probe 8";

/* What is found and stored. */
typedef struct findings {
    vyre_corrections needed;
    uint32_t most_turns, no_fences, folds_zeros;
} findings;

static void take_over(vulkan_device *device, const findings *found) {
    vyre_strbuf text = {0};
    device->needed = found->needed;
    device->target.flushes_chosen = found->needed.f32 & VYRE_CORRECT_FLUSHED(VYRE_CORRECT_COMPARE);
    device->target.most_turns = found->most_turns;
    device->target.no_fences = found->no_fences;
    device->target.folds_zeros = found->folds_zeros;
    vyre_corrections_print(&found->needed, &text);
    if (found->most_turns) {
        vyre_strbuf_printf(&text, "; loops end after %u turns", found->most_turns);
    }
    if (found->no_fences) {
        vyre_strbuf_puts(&text, "; no fences");
    }
    if (found->folds_zeros) {
        vyre_strbuf_puts(&text, "; hides zeros");
    }
    snprintf(device->corrections, sizeof device->corrections, "%s", vyre_strbuf_string(&text));
    vyre_strbuf_free(&text);
}

static vyre_store_key make_key(const vulkan_device *device) {
    return (vyre_store_key){
        .semantics = VYRE_SEMANTICS,
        .backend = vyre_str_of("vulkan"),
        .backend_version = vyre_str_of(probe_version),
        .device = vyre_str_of(device->info.identity),
        .driver_version = vyre_str_of(device->info.version),
        .name = vyre_str_of("arithmetic of a Vulkan device"),
    };
}

bool vulkan_probe_recall(vulkan_device *device) {
    const vyre_store_key key = make_key(device);
    vyre_strbuf stored = {0};
    findings found;
    bool known =
        !vulkan_drill.forgets && vyre_store_get(&key, &stored) && stored.size == sizeof found;
    if (known) {
        memcpy(&found, stored.data, sizeof found);
        take_over(device, &found);
    }
    vyre_strbuf_free(&stored);
    return known;
}

/* Runs a program as it is. */
static vyre_status run(vulkan_device *device, const vyre_program *program, const vyre_input *inputs,
                       uint32_t count, vyre_output *outputs) {
    static const vyre_dispatch_config config = {.timeout_ns = UINT64_C(60) * 1000000000};
    vulkan_executable *executable;
    vyre_plan plan;
    VYRE_TRY(vulkan_executable_make_plain(device, program, &executable));
    vyre_status status = vyre_plan_init(&plan, program, inputs, count, &config);
    if (!status) {
        const vyre_call call = vyre_plan_call(&plan, inputs, NULL);
        status = vulkan_dispatch(executable, &call, outputs, NULL);
        vyre_plan_deinit(&plan);
    }
    vulkan_executable_release(executable);
    return status;
}

static vyre_status probe_arithmetic(vulkan_device *device, vyre_corrections *out_needed) {
    vyre_program *program = NULL;
    vyre_probe probe;
    vyre_input inputs[VYRE_PROBE_ARRAYS];
    vyre_output outputs[VYRE_PROBE_ARRAYS] = {{NULL, 0}};
    const void *found[VYRE_PROBE_ARRAYS] = {NULL};
    VYRE_TRY(vyre_probe_inputs(device->info.float64, &probe));
    vyre_status status = vyre_probe_program(device->info.float64, &program);
    for (uint32_t i = 0; i < probe.count && !status; i++) {
        inputs[i] = (vyre_input){probe.inputs[i], probe.input_bytes[i]};
        outputs[i] =
            (vyre_output){vyre_alloc_zeroed(1, probe.output_bytes[i]), probe.output_bytes[i]};
        found[i] = outputs[i].data;
        status = found[i] ? VYRE_OK : vyre_no_memory("to probe a device");
    }
    status = status ? status : run(device, program, inputs, probe.count, outputs);
    status = status ? status : vyre_probe_judge(&probe, found, out_needed);
    for (uint32_t i = 0; i < VYRE_PROBE_ARRAYS; i++) {
        vyre_free(outputs[i].data);
    }
    vyre_program_release(program);
    vyre_probe_deinit(&probe);
    return status;
}

/* c = 0; for i in 0..n { c = c * 3 + i; } */
static vyre_status make_loop(vyre_program **out_program) {
    vyre_builder *b;
    *out_program = NULL;
    VYRE_TRY(vyre_builder_create("turns", &b));
    uint32_t n = vyre_build_scalar(b, "n", VYRE_TYPE_U32);
    uint32_t one = vyre_build_size_const(b, 1);
    uint32_t y = vyre_build_buffer(b, "y", VYRE_ACCESS_OUT, VYRE_TYPE_U32, one);
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 1)}});
    uint32_t zero = vyre_build_u32(b, 0), carried, result;
    uint32_t i =
        vyre_build_for(b, zero, vyre_build_param(b, n), vyre_build_u32(b, 1), 1, &zero, &carried);
    uint32_t three = vyre_build_op(b, VYRE_OP_MUL, carried, vyre_build_u32(b, 3), VYRE_NONE);
    uint32_t next = vyre_build_op(b, VYRE_OP_ADD, three, i, VYRE_NONE);
    vyre_build_continue(b, 1, &next);
    vyre_build_loop_end(b, 1, &result);
    vyre_build_store(b, y, zero, result);
    vyre_build_phase_end(b);
    vyre_status status = vyre_builder_finish(b, NULL, out_program);
    vyre_builder_free(b);
    return status;
}

/* After how many turns the driver ends a loop; 0: after none of many. */
static vyre_status probe_turns(vulkan_device *device, uint32_t *out_most) {
    enum { TURNS = 1 << 20 };
    vyre_program *program;
    const uint32_t count = TURNS;
    uint32_t found = 0, expected = 0;
    const vyre_input input = {&count, sizeof count};
    vyre_output output = {(uint8_t *)&found, sizeof found};
    *out_most = 0;
    VYRE_TRY(make_loop(&program));
    vyre_status status = run(device, program, &input, 1, &output);
    vyre_program_release(program);
    for (uint32_t i = 0; i < TURNS && !status; i++) {
        *out_most = found == expected && !*out_most ? i : *out_most;
        expected = expected * 3 + i;
    }
    if (status || found == expected) {
        *out_most = 0;
        return status;
    }
    return *out_most ? VYRE_OK
                     : vyre_status_make(VYRE_STATUS_INTERNAL, "update the driver",
                                        "a loop over integers gave a wrong result");
}

/* for i in 0..n { atomic_add(y[0], 1, acq_rel); } */
static vyre_status make_fences(vyre_program **out_program) {
    vyre_builder *b;
    *out_program = NULL;
    VYRE_TRY(vyre_builder_create("fences", &b));
    uint32_t n = vyre_build_scalar(b, "n", VYRE_TYPE_U32);
    uint32_t y =
        vyre_build_buffer(b, "y", VYRE_ACCESS_OUT, VYRE_TYPE_U32, vyre_build_size_const(b, 1));
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 1)}});
    uint32_t zero = vyre_build_u32(b, 0), one = vyre_build_u32(b, 1);
    vyre_build_for(b, zero, vyre_build_param(b, n), one, 0, NULL, NULL);
    vyre_build_atomic(b, VYRE_OP_ATOMIC_ADD, y, zero, one, VYRE_NONE, VYRE_ORDERING_ACQ_REL,
                      VYRE_SCOPE_DEVICE);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_phase_end(b);
    vyre_status status = vyre_builder_finish(b, NULL, out_program);
    vyre_builder_free(b);
    return status;
}

/* Whether fences by a single invocation confuse the driver. */
static vyre_status probe_fences(vulkan_device *device, uint32_t *out_none) {
    const uint32_t count = 1000;
    vyre_program *program;
    uint32_t found = 0;
    const vyre_input input = {&count, sizeof count};
    vyre_output output = {(uint8_t *)&found, sizeof found};
    VYRE_TRY(make_fences(&program));
    vyre_status status = run(device, program, &input, 1, &output);
    vyre_program_release(program);
    *out_none = found != count;
    return status;
}

enum { ZEROS = 3 };

/* z = f32(sub_sat(n, n)); y = { x * z, x / z, x + z }; */
static vyre_status make_zeros(vyre_program **out_program) {
    vyre_builder *b;
    *out_program = NULL;
    VYRE_TRY(vyre_builder_create("zeros", &b));
    uint32_t n = vyre_build_scalar(b, "n", VYRE_TYPE_U32);
    uint32_t x = vyre_build_scalar(b, "x", VYRE_TYPE_F32);
    uint32_t y =
        vyre_build_buffer(b, "y", VYRE_ACCESS_OUT, VYRE_TYPE_F32, vyre_build_size_const(b, ZEROS));
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 1)}});
    uint32_t count = vyre_build_param(b, n), number = vyre_build_param(b, x);
    uint32_t nothing = vyre_build_op(b, VYRE_OP_SUB_SAT, count, count, VYRE_NONE);
    uint32_t zero = vyre_build_convert(b, VYRE_TYPE_F32, nothing);
    static const vyre_op ops[ZEROS] = {VYRE_OP_MUL, VYRE_OP_DIV, VYRE_OP_ADD};
    for (uint32_t i = 0; i < ZEROS; i++) {
        vyre_build_store(b, y, vyre_build_u32(b, i),
                         vyre_build_op(b, ops[i], number, zero, VYRE_NONE));
    }
    vyre_build_phase_end(b);
    vyre_status status = vyre_builder_finish(b, NULL, out_program);
    vyre_builder_free(b);
    return status;
}

/* Whether the driver computes otherwise with a zero that it finds out itself: -0 times it is -0, by
 * it no number, and with it +0. */
static vyre_status probe_zeros(vulkan_device *device, uint32_t *out_folds) {
    const uint32_t count = 1000, number = 0x80000000;
    vyre_program *program;
    uint32_t found[ZEROS] = {0};
    const vyre_input inputs[] = {{&count, sizeof count}, {&number, sizeof number}};
    vyre_output output = {(uint8_t *)found, sizeof found};
    VYRE_TRY(make_zeros(&program));
    vyre_status status = run(device, program, inputs, 2, &output);
    vyre_program_release(program);
    *out_folds = found[0] != number || (found[1] & 0x7fffffff) <= 0x7f800000 || found[2];
    return status;
}

vyre_status vulkan_probe_run(vulkan_device *device) {
    findings found = {{0, 0}, 0, 0, 0};
    device->target.most_turns = 0;
    device->target.no_fences = false;
    device->target.folds_zeros = false;
    vyre_status status = probe_arithmetic(device, &found.needed);
    status = status ? status : probe_turns(device, &found.most_turns);
    status = status ? status : probe_fences(device, &found.no_fences);
    status = status ? status : probe_zeros(device, &found.folds_zeros);
    if (status) {
        return vyre_status_annotate(status, "probing the arithmetic of %s", device->info.name);
    }
    take_over(device, &found);
    vyre_log(VYRE_LOG_INFO, "vulkan: %s needs corrections of %s", device->info.name,
             device->corrections);
    if (!vulkan_drill.forgets) {
        const vyre_store_key key = make_key(device);
        vyre_store_put(&key, &found, sizeof found);
    }
    return VYRE_OK;
}
