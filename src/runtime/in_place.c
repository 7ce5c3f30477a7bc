/* Runs on the caller's memory, without copies where the program and the memory allow it. */
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "runtime/device.h"
#include "runtime/message.h"
#include "trace/trace.h"

static const char *argument_name(const vyre_ir *ir, uint32_t arg) {
    return ir->strings + ir->args[arg].name;
}

static vyre_status check_count(const vyre_program *program, size_t count) {
    uint32_t expected = vyre_program_ir(program)->arg_count;
    return count == expected
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                  "pass memory for every argument, including scalars and `out` "
                                  "buffers, in declaration order",
                                  "program `%s` has %u argument%s, found %zu",
                                  vyre_program_name(program), expected, expected == 1 ? "" : "s",
                                  count);
}

/* The first argument that overlaps argument `written`; the number of arguments if none does. */
static uint32_t find_overlap(const vyre_ir *ir, const vyre_output *arguments, uint32_t written) {
    const vyre_output *own = &arguments[written];
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        const vyre_output *other = &arguments[i];
        if (i != written && vyre_memory_overlaps(own->data, own->size, other->data, other->size)) {
            return i;
        }
    }
    return ir->arg_count;
}

bool vyre_arguments_overlap(const vyre_ir *ir, const vyre_output *arguments, uint32_t *out_written,
                            uint32_t *out_other) {
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t other =
            vyre_ir_is_output(ir, arg) ? find_overlap(ir, arguments, arg) : ir->arg_count;
        if (other < ir->arg_count) {
            *out_written = arg;
            *out_other = other;
            return true;
        }
    }
    return false;
}

static vyre_status check_apart(const vyre_program *program, const vyre_output *arguments) {
    const vyre_ir *ir = vyre_program_ir(program);
    uint32_t written, other;
    return vyre_arguments_overlap(ir, arguments, &written, &other)
               ? vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                  "give each argument that the run writes memory of its own",
                                  "program `%s`: the run writes argument `%s`, whose memory "
                                  "overlaps that of argument `%s`",
                                  vyre_program_name(program), argument_name(ir, written),
                                  argument_name(ir, other))
               : VYRE_OK;
}

static vyre_status check_output(const vyre_program *program, uint32_t arg, const vyre_output *given,
                                uint64_t bytes) {
    const char *name = argument_name(vyre_program_ir(program), arg);
    if (given->size != bytes) {
        return vyre_status_make(
            VYRE_STATUS_INVALID_ARGUMENT, "pass memory of the size that the program declares",
            "program `%s`, argument `%s`: the output has %llu bytes, and the "
            "memory %zu",
            vyre_program_name(program), name, (unsigned long long)bytes, given->size);
    }
    return given->data || !given->size
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "pass its memory",
                                  "program `%s`, argument `%s`: no memory for %zu bytes",
                                  vyre_program_name(program), name, given->size);
}

/* Backends run in place only on memory that is aligned to its elements. */
static bool is_aligned(const vyre_ir *ir, const vyre_output *arguments) {
    bool aligned = true;
    for (uint32_t arg = 0; arg < ir->arg_count && aligned; arg++) {
        uint32_t resource = ir->args[arg].resource;
        aligned = resource == VYRE_NONE ||
                  (uintptr_t)arguments[arg].data %
                          vyre_resource_alignment(ir, &ir->resources[resource]) ==
                      0;
    }
    return aligned;
}

static size_t list_inputs(const vyre_ir *ir, const vyre_output *arguments, vyre_input *inputs) {
    size_t count = 0;
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        if (!vyre_ir_is_out(ir, arg)) {
            inputs[count++] = (vyre_input){arguments[arg].data, arguments[arg].size};
        }
    }
    return count;
}

static vyre_status copy_outputs(const vyre_program *program, const vyre_outputs *outputs,
                                const vyre_output *arguments) {
    const vyre_ir *ir = vyre_program_ir(program);
    size_t output = 0;
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        if (vyre_ir_is_output(ir, arg)) {
            VYRE_TRY(check_output(program, arg, &arguments[arg], outputs->items[output++].size));
        }
    }
    output = 0;
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        if (vyre_ir_is_output(ir, arg)) {
            const vyre_output *from = &outputs->items[output++];
            if (from->size) {
                memcpy(arguments[arg].data, from->data, from->size);
            }
        }
    }
    return VYRE_OK;
}

/* Runs into other memory; a failure changes none of the caller's. */
static vyre_status run_copies(vyre_pipeline *pipeline, const vyre_output *arguments,
                              const vyre_input *inputs, size_t input_count,
                              const vyre_dispatch_config *config) {
    vyre_outputs outputs;
    VYRE_TRY(vyre_pipeline_dispatch(pipeline, inputs, input_count, config, &outputs));
    vyre_status status = copy_outputs(pipeline->program, &outputs, arguments);
    vyre_outputs_free(&outputs);
    return vyre_device_explain(pipeline->device, pipeline->program, vyre_config_or_default(config),
                               status);
}

static vyre_status call_backend(vyre_pipeline *pipeline, const vyre_call *call,
                                vyre_output *outputs, const vyre_output *arguments) {
    return pipeline->sequence
               ? vyre_sequence_run(pipeline->sequence, call, outputs, arguments)
               : VYRE_CALL_SLOT(dispatch_in_place, pipeline->device->backend, call, arguments);
}

static vyre_status run_planned(vyre_pipeline *pipeline, const vyre_plan *plan,
                               const vyre_output *arguments, const vyre_input *inputs) {
    vyre_output outputs[VYRE_LIMIT_ARGUMENTS];
    for (uint32_t i = 0; i < plan->output_count; i++) {
        uint32_t arg = plan->outputs[i];
        VYRE_TRY(
            check_output(plan->program, arg, &arguments[arg], vyre_plan_output_bytes(plan, i)));
        outputs[i] = arguments[arg];
    }
    const vyre_call call = vyre_plan_call(plan, inputs, pipeline->native);
    vyre_status status;
    VYRE_TRACED(pipeline->device->track, status = call_backend(pipeline, &call, outputs, arguments),
                .kind = "dispatch", VYRE_TRACE_CALL(&call, outputs), .failed = status);
    return vyre_status_annotate(status, "the contents of the outputs are now unspecified");
}

static vyre_status run_direct(vyre_pipeline *pipeline, const vyre_output *arguments,
                              const vyre_input *inputs, size_t input_count,
                              const vyre_dispatch_config *config) {
    vyre_plan plan;
    if (pipeline->is_sized) {
        vyre_pipeline *own;
        vyre_dispatch_config rest;
        VYRE_TRY(vyre_run_fit(pipeline, inputs, input_count, config, &rest, &own));
        vyre_status sized = run_direct(own, arguments, inputs, input_count, &rest);
        vyre_pipeline_release(own);
        return sized;
    }
    VYRE_TRY(vyre_run_begin(pipeline, &plan, inputs, input_count, config));
    vyre_status status = run_planned(pipeline, &plan, arguments, inputs);
    status = vyre_device_explain(pipeline->device, plan.program, &plan.config, status);
    vyre_run_end(pipeline, &plan);
    return status;
}

vyre_status vyre_pipeline_dispatch_in_place(vyre_pipeline *pipeline, const vyre_output *arguments,
                                            size_t count, const vyre_dispatch_config *config) {
    const vyre_program *program = pipeline->program;
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_input inputs[VYRE_LIMIT_ARGUMENTS];
    vyre_status status = check_count(program, count);
    status = status ? status : check_apart(program, arguments);
    if (status) {
        return vyre_device_explain(pipeline->device, program, vyre_config_or_default(config),
                                   status);
    }
    size_t input_count = list_inputs(ir, arguments, inputs);
    bool copies = vyre_messages_wanted(pipeline, config) || !is_aligned(ir, arguments);
    return (copies ? run_copies : run_direct)(pipeline, arguments, inputs, input_count, config);
}
