/* Runs with data of the host. The walk of one: compile, through the device's memory of pipelines;
 * plan, which checks every argument; make room for outputs; call the backend. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "runtime/device.h"
#include "runtime/message.h"
#include "runtime/shared.h"
#include "trace/trace.h"

void vyre_outputs_free(vyre_outputs *outputs) {
    for (size_t i = 0; i < outputs->count; i++) {
        vyre_free(outputs->items[i].data);
    }
    vyre_free(outputs->items);
    *outputs = (vyre_outputs){0};
}

const vyre_dispatch_config *vyre_config_or_default(const vyre_dispatch_config *config) {
    static const vyre_dispatch_config defaults;
    return config ? config : &defaults;
}

vyre_status vyre_config_rest(const vyre_dispatch_config *config, uint64_t start_ns,
                             const vyre_program *program, vyre_dispatch_config *out_config) {
    *out_config = *vyre_config_or_default(config);
    uint64_t spent_ns = out_config->timeout_ns ? vyre_now_ns() - start_ns : 0;
    if (spent_ns && spent_ns >= out_config->timeout_ns) {
        return vyre_status_make(VYRE_STATUS_TIMEOUT, "raise the timeout, or make it smaller",
                                "`%s` took longer to compile than its timeout",
                                vyre_program_name(program));
    }
    out_config->timeout_ns -= spent_ns;
    return VYRE_OK;
}

vyre_status vyre_outputs_make(const vyre_plan *plan, vyre_outputs *out_outputs) {
    *out_outputs = (vyre_outputs){0};
    vyre_outputs outputs = {vyre_alloc_zeroed((size_t)plan->output_count + 1, sizeof(vyre_output)),
                            0};
    bool made = outputs.items;
    for (uint32_t i = 0; made && i < plan->output_count; i++) {
        size_t size = (size_t)vyre_plan_output_bytes(plan, i);
        outputs.items[i] = (vyre_output){vyre_alloc(size), size};
        outputs.count++;
        made = outputs.items[i].data;
    }
    if (!made) {
        vyre_outputs_free(&outputs);
        return vyre_no_memory("for the outputs of `%s`, %llu bytes",
                              vyre_program_name(plan->program),
                              (unsigned long long)plan->output_bytes);
    }
    *out_outputs = outputs;
    return VYRE_OK;
}

/* A sequence has one form. The others follow from it as the contract's defaults do. */
static vyre_status run_sequence(const vyre_sequence *sequence, vyre_run_form form,
                                const vyre_call *call, vyre_output *outputs,
                                vyre_timing *out_timing) {
    uint64_t start = form == VYRE_RUN_TIMED ? vyre_now_ns() : 0;
    if (form == VYRE_RUN_INTO) {
        vyre_output *aside = vyre_outputs_aside(outputs, call->output_count);
        vyre_status status = aside ? vyre_sequence_run(sequence, call, aside, NULL) : VYRE_OK;
        return vyre_outputs_settle(aside, outputs, call->output_count, status);
    }
    vyre_status status = vyre_sequence_run(sequence, call, outputs, NULL);
    if (form == VYRE_RUN_TIMED) {
        *out_timing = vyre_wall_time(start);
    }
    return status;
}

static vyre_status run_call(vyre_pipeline *pipeline, vyre_run_form form, const vyre_call *call,
                            vyre_output *outputs, vyre_timing *out_timing) {
    const vyre_backend *backend = pipeline->device->backend;
    if (pipeline->sequence) {
        return run_sequence(pipeline->sequence, form, call, outputs, out_timing);
    }
    switch (form) {
    case VYRE_RUN_OWNED: return VYRE_CALL_SLOT(dispatch, backend, call, outputs);
    case VYRE_RUN_BORROWED: return VYRE_CALL_SLOT(dispatch_borrowed, backend, call, outputs);
    case VYRE_RUN_TIMED:
        return VYRE_CALL_SLOT(dispatch_borrowed_timed, backend, call, outputs, out_timing);
    case VYRE_RUN_INTO: return VYRE_CALL_SLOT(dispatch_borrowed_into, backend, call, outputs);
    }
    return vyre_internal_error("unknown form %d of a run", (int)form);
}

/* A backend gets a list of its own: what it does to that changes neither sizes nor memory that the
 * host believes in. */
enum { FEW_OUTPUTS = 8 };

static vyre_status run_guarded(vyre_pipeline *pipeline, vyre_run_form form, const vyre_call *call,
                               vyre_output *outputs, vyre_timing *out_timing) {
    vyre_output few[FEW_OUTPUTS], *given = few;
    size_t count = call->output_count;
    if (count > FEW_OUTPUTS) {
        given = vyre_alloc_array(count, sizeof *given);
    }
    if (!given) {
        return vyre_no_memory("for a list of %zu outputs", count);
    }
    if (count) {
        memcpy(given, outputs, count * sizeof *given);
    }
    vyre_status status = run_call(pipeline, form, call, given, out_timing);
    if (!status) {
        status = vyre_outputs_check(given, outputs, count);
    }
    if (given != few) {
        vyre_free(given);
    }
    return status;
}

uint64_t vyre_call_input_bytes(const vyre_call *call) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < call->input_count; i++) {
        bytes += call->inputs[i].size;
    }
    return bytes;
}

uint64_t vyre_call_output_bytes(const vyre_call *call, const vyre_output *outputs) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < call->output_count; i++) {
        bytes += outputs[i].size;
    }
    return bytes;
}

/* A trace changes nothing: no slot is called that would not be without. */
vyre_status vyre_pipeline_run(vyre_pipeline *pipeline, vyre_run_form form, const vyre_plan *plan,
                              const vyre_input *inputs, vyre_output *outputs,
                              vyre_timing *out_timing) {
    vyre_call call = vyre_plan_call(plan, inputs, pipeline->native);
    call.program = pipeline->program; /* without messages, if the plan's has some */
    vyre_timing untimed = vyre_no_times, *timing = out_timing ? out_timing : &untimed;
    vyre_status status;
    VYRE_TRACED(pipeline->device->track,
                status = run_guarded(pipeline, form, &call, outputs, timing), .kind = "dispatch",
                VYRE_TRACE_CALL(&call, outputs), .timing = timing, .failed = status);
    return vyre_device_explain(pipeline->device, plan->program, &plan->config, status);
}

vyre_status vyre_pipeline_begin(const vyre_pipeline *pipeline, const vyre_dispatch_config *config) {
    vyre_device *device = pipeline->device;
    VYRE_TRY(vyre_device_check_grade(device, config));
    VYRE_TRY(vyre_device_begin(device));
    if (pipeline->epoch == atomic_load_explicit(&device->epoch, memory_order_relaxed)) {
        return VYRE_OK;
    }
    vyre_device_end(device);
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "compile the program again",
                            "the pipeline of `%s` was compiled before device %s was recovered",
                            vyre_program_name(pipeline->program), device->name);
}

/* In a call of the device. */
static vyre_status make_plan(vyre_pipeline *pipeline, vyre_plan *plan, const vyre_input *inputs,
                             size_t input_count, const vyre_dispatch_config *config) {
    VYRE_TRY(vyre_plan_init(plan, pipeline->program, inputs, input_count, config));
    vyre_status status = vyre_device_check_plan(pipeline->device, plan);
    if (status) {
        vyre_plan_deinit(plan);
    }
    return status;
}

vyre_status vyre_run_begin(vyre_pipeline *pipeline, vyre_plan *plan, const vyre_input *inputs,
                           size_t input_count, const vyre_dispatch_config *config) {
    config = vyre_config_or_default(config);
    vyre_status status = vyre_pipeline_begin(pipeline, config);
    if (!status) {
        status = make_plan(pipeline, plan, inputs, input_count, config);
        if (status) {
            vyre_device_end(pipeline->device);
        }
    }
    return vyre_device_explain(pipeline->device, pipeline->program, config, status);
}

void vyre_run_end(vyre_pipeline *pipeline, vyre_plan *plan) {
    vyre_plan_deinit(plan);
    vyre_device_end(pipeline->device);
}

vyre_status vyre_run_fit(vyre_pipeline *pipeline, const vyre_input *inputs, size_t input_count,
                         const vyre_dispatch_config *config, vyre_dispatch_config *out_rest,
                         vyre_pipeline **out_pipeline) {
    vyre_device *device = pipeline->device;
    vyre_plan plan;
    vyre_program *program;
    uint64_t start_ns = config && config->timeout_ns ? vyre_now_ns() : 0;
    VYRE_TRY(vyre_run_begin(pipeline, &plan, inputs, input_count, config));
    vyre_status status =
        vyre_shared_program(&plan, device->profile.max_shared_memory_bytes, device->name, &program);
    vyre_run_end(pipeline, &plan);
    if (status) {
        return vyre_device_explain(device, pipeline->program, vyre_config_or_default(config),
                                   status);
    }
    status = vyre_device_compile(device, program, config, out_pipeline);
    vyre_program_release(program);
    if (!status) {
        status = vyre_config_rest(config, start_ns, pipeline->program, out_rest);
        if (status) {
            vyre_pipeline_release(*out_pipeline);
        }
    }
    return status;
}

static vyre_status run_messages(vyre_pipeline *pipeline, uint32_t kinds,
                                const vyre_message_run *run) {
    vyre_plan plan;
    VYRE_TRY(vyre_run_begin(pipeline, &plan, run->inputs, run->input_count, run->config));
    vyre_run_end(pipeline, &plan);
    return vyre_messages_run(pipeline, kinds, run);
}

/* Runs into new outputs. */
static vyre_status run_new(vyre_pipeline *pipeline, vyre_run_form form, const vyre_input *inputs,
                           size_t input_count, const vyre_dispatch_config *config,
                           vyre_outputs *out_outputs, vyre_timing *out_timing) {
    vyre_plan plan;
    *out_outputs = (vyre_outputs){0};
    uint32_t kinds = vyre_messages_start(pipeline, config);
    if (kinds) {
        const vyre_message_run run = {form, inputs, input_count, config, out_outputs, out_timing};
        return run_messages(pipeline, kinds, &run);
    }
    if (pipeline->is_sized) {
        vyre_pipeline *own;
        vyre_dispatch_config rest;
        VYRE_TRY(vyre_run_fit(pipeline, inputs, input_count, config, &rest, &own));
        vyre_status sized = run_new(own, form, inputs, input_count, &rest, out_outputs, out_timing);
        vyre_pipeline_release(own);
        return sized;
    }
    VYRE_TRY(vyre_run_begin(pipeline, &plan, inputs, input_count, config));
    vyre_outputs outputs;
    vyre_status status = vyre_outputs_make(&plan, &outputs);
    if (!status) {
        status = vyre_pipeline_run(pipeline, form, &plan, inputs, outputs.items, out_timing);
        if (status) {
            vyre_outputs_free(&outputs);
        } else {
            *out_outputs = outputs;
        }
    }
    vyre_run_end(pipeline, &plan);
    return status;
}

vyre_status vyre_pipeline_dispatch(vyre_pipeline *pipeline, const vyre_input *inputs,
                                   size_t input_count, const vyre_dispatch_config *config,
                                   vyre_outputs *out_outputs) {
    return run_new(pipeline, VYRE_RUN_BORROWED, inputs, input_count, config, out_outputs, NULL);
}

enum { FEW_INPUTS = 16 };

/* The contract has one type for inputs; that these may be overwritten is part of the form. The list
 * is `few`, or to be freed. */
static vyre_status list_inputs(const vyre_output *inputs, size_t count, vyre_input *few,
                               vyre_input **out_list) {
    *out_list = few;
    if (count > FEW_INPUTS) {
        *out_list = vyre_alloc_array(count, sizeof **out_list);
    }
    for (size_t i = 0; *out_list && i < count; i++) {
        (*out_list)[i] = (vyre_input){inputs[i].data, inputs[i].size};
    }
    return *out_list ? VYRE_OK : vyre_no_memory("for a list of %zu inputs", count);
}

vyre_status vyre_pipeline_dispatch_owned(vyre_pipeline *pipeline, const vyre_output *inputs,
                                         size_t input_count, const vyre_dispatch_config *config,
                                         vyre_outputs *out_outputs) {
    vyre_input few[FEW_INPUTS] = {{NULL, 0}}, *list;
    *out_outputs = (vyre_outputs){0};
    VYRE_TRY(list_inputs(inputs, input_count, few, &list));
    vyre_status status =
        run_new(pipeline, VYRE_RUN_OWNED, list, input_count, config, out_outputs, NULL);
    if (list != few) {
        vyre_free(list);
    }
    return status;
}

vyre_status vyre_pipeline_dispatch_timed(vyre_pipeline *pipeline, const vyre_input *inputs,
                                         size_t input_count, const vyre_dispatch_config *config,
                                         vyre_outputs *out_outputs, vyre_timing *out_timing) {
    *out_timing = vyre_no_times;
    return run_new(pipeline, VYRE_RUN_TIMED, inputs, input_count, config, out_outputs, out_timing);
}

/* A backend may write outputs while it still reads inputs, and several at once. */
static vyre_status check_apart(const vyre_pipeline *pipeline, const vyre_input *inputs,
                               size_t input_count, const vyre_outputs *outputs) {
    const char *other = NULL;
    size_t at = 0;
    for (size_t i = 0; i < outputs->count && !other; i++) {
        const vyre_output *output = &outputs->items[i];
        at = i;
        for (size_t k = 0; k < input_count && !other; k++) {
            bool both =
                vyre_memory_overlaps(output->data, output->size, inputs[k].data, inputs[k].size);
            other = both ? "an input" : NULL;
        }
        for (size_t k = 0; k < i && !other; k++) {
            const vyre_output *before = &outputs->items[k];
            bool both =
                vyre_memory_overlaps(output->data, output->size, before->data, before->size);
            other = both ? "another output" : NULL;
        }
    }
    return other ? vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                    "give each output its own memory, or let the run allocate it",
                                    "program `%s`: output %zu overlaps %s in memory",
                                    vyre_program_name(pipeline->program), at, other)
                 : VYRE_OK;
}

static bool outputs_fit(const vyre_plan *plan, const vyre_outputs *outputs) {
    bool fit = outputs->count == plan->output_count;
    for (uint32_t i = 0; fit && i < plan->output_count; i++) {
        fit = outputs->items[i].size == vyre_plan_output_bytes(plan, i);
    }
    return fit;
}

vyre_status vyre_pipeline_dispatch_into(vyre_pipeline *pipeline, const vyre_input *inputs,
                                        size_t input_count, const vyre_dispatch_config *config,
                                        vyre_outputs *outputs) {
    vyre_plan plan;
    uint32_t kinds = vyre_messages_start(pipeline, config);
    if (kinds) {
        const vyre_message_run run = {VYRE_RUN_INTO, inputs, input_count, config, outputs, NULL};
        return run_messages(pipeline, kinds, &run);
    }
    if (pipeline->is_sized) {
        vyre_pipeline *own;
        vyre_dispatch_config rest;
        VYRE_TRY(vyre_run_fit(pipeline, inputs, input_count, config, &rest, &own));
        vyre_status sized = vyre_pipeline_dispatch_into(own, inputs, input_count, &rest, outputs);
        vyre_pipeline_release(own);
        return sized;
    }
    VYRE_TRY(vyre_run_begin(pipeline, &plan, inputs, input_count, config));
    vyre_status status = check_apart(pipeline, inputs, input_count, outputs);
    if (status) {
        status = vyre_device_explain(pipeline->device, pipeline->program, &plan.config, status);
        vyre_run_end(pipeline, &plan);
        return status;
    }
    bool fit = outputs_fit(&plan, outputs);
    if (fit) {
        status = vyre_pipeline_run(pipeline, VYRE_RUN_INTO, &plan, inputs, outputs->items, NULL);
    }
    vyre_run_end(pipeline, &plan);
    if (fit) {
        return status;
    }
    vyre_outputs made;
    status = run_new(pipeline, VYRE_RUN_BORROWED, inputs, input_count, config, &made, NULL);
    if (!status) {
        vyre_outputs_free(outputs);
        *outputs = made;
    }
    return status;
}

/* The functions of a device are those of the pipeline that it has, or now makes, of the program. */
#define THROUGH_PIPELINE(call)                                                                     \
    vyre_pipeline *pipeline;                                                                       \
    vyre_dispatch_config rest;                                                                     \
    uint64_t start_ns = config && config->timeout_ns ? vyre_now_ns() : 0;                          \
    vyre_status status = vyre_device_compile(device, program, config, &pipeline);                  \
    if (!status) {                                                                                 \
        status = vyre_config_rest(config, start_ns, program, &rest);                               \
        config = &rest;                                                                            \
        status = status ? status : call;                                                           \
        vyre_pipeline_release(pipeline);                                                           \
    }                                                                                              \
    return status

vyre_status vyre_device_dispatch(vyre_device *device, const vyre_program *program,
                                 const vyre_input *inputs, size_t input_count,
                                 const vyre_dispatch_config *config, vyre_outputs *out_outputs) {
    *out_outputs = (vyre_outputs){0};
    THROUGH_PIPELINE(vyre_pipeline_dispatch(pipeline, inputs, input_count, config, out_outputs));
}

vyre_status vyre_device_dispatch_owned(vyre_device *device, const vyre_program *program,
                                       const vyre_output *inputs, size_t input_count,
                                       const vyre_dispatch_config *config,
                                       vyre_outputs *out_outputs) {
    *out_outputs = (vyre_outputs){0};
    THROUGH_PIPELINE(
        vyre_pipeline_dispatch_owned(pipeline, inputs, input_count, config, out_outputs));
}

vyre_status vyre_device_dispatch_timed(vyre_device *device, const vyre_program *program,
                                       const vyre_input *inputs, size_t input_count,
                                       const vyre_dispatch_config *config,
                                       vyre_outputs *out_outputs, vyre_timing *out_timing) {
    *out_outputs = (vyre_outputs){0};
    *out_timing = vyre_no_times;
    THROUGH_PIPELINE(vyre_pipeline_dispatch_timed(pipeline, inputs, input_count, config,
                                                  out_outputs, out_timing));
}

vyre_status vyre_device_dispatch_into(vyre_device *device, const vyre_program *program,
                                      const vyre_input *inputs, size_t input_count,
                                      const vyre_dispatch_config *config, vyre_outputs *outputs) {
    THROUGH_PIPELINE(vyre_pipeline_dispatch_into(pipeline, inputs, input_count, config, outputs));
}

vyre_status vyre_device_dispatch_in_place(vyre_device *device, const vyre_program *program,
                                          const vyre_output *arguments, size_t count,
                                          const vyre_dispatch_config *config) {
    THROUGH_PIPELINE(vyre_pipeline_dispatch_in_place(pipeline, arguments, count, config));
}

vyre_status vyre_pipeline_dispatch_resident(vyre_pipeline *pipeline, const vyre_binding *bindings,
                                            size_t count, const vyre_dispatch_config *config,
                                            vyre_timing *out_timing) {
    vyre_timing unasked;
    vyre_timing *timing = out_timing ? out_timing : &unasked;
    *timing = vyre_no_times;
    return vyre_pipeline_run_resident(pipeline, bindings, count, config, timing, NULL);
}

vyre_status vyre_device_dispatch_resident(vyre_device *device, const vyre_program *program,
                                          const vyre_binding *bindings, size_t count,
                                          const vyre_dispatch_config *config,
                                          vyre_timing *out_timing) {
    if (out_timing) {
        *out_timing = vyre_no_times;
    }
    THROUGH_PIPELINE(
        vyre_pipeline_dispatch_resident(pipeline, bindings, count, config, out_timing));
}

struct vyre_pending {
    vyre_pipeline *pipeline; /* which keeps the device */
    vyre_outputs outputs;
    vyre_output *given; /* the backend's own list of them */
    vyre_pending_run run;
    vyre_dispatch_config config; /* with a label of its own */
    atomic_bool awaited;
    atomic_ullong traced; /* the number of its event that has no end yet */
    char label[];
};

static vyre_status start_call(vyre_pending *pending, bool owned, const vyre_call *call) {
    const vyre_backend *backend = pending->pipeline->device->backend;
    size_t count = pending->outputs.count;
    vyre_output *outputs = pending->given = vyre_alloc_array(count, sizeof *outputs);
    if (!outputs) {
        return vyre_no_memory("for a list of %zu outputs", count);
    }
    if (count) {
        memcpy(outputs, pending->outputs.items, count * sizeof *outputs);
    }
    if (pending->pipeline->sequence) {
        pending->run = vyre_ready_run;
        return vyre_sequence_run(pending->pipeline->sequence, call, outputs, NULL);
    }
    VYRE_TRY(owned
                 ? backend->slots->dispatch_async(backend, call, outputs, &pending->run)
                 : backend->slots->dispatch_borrowed_async(backend, call, outputs, &pending->run));
    return vyre_check_run(backend, &pending->run);
}

static vyre_status start_planned(vyre_pending *pending, bool owned, const vyre_plan *plan,
                                 const vyre_input *inputs) {
    uint32_t track = pending->pipeline->device->track;
    VYRE_TRY(vyre_outputs_make(plan, &pending->outputs));
    const vyre_call call = vyre_plan_call(plan, inputs, pending->pipeline->native);
    const vyre_output *outputs = pending->outputs.items;
    if (vyre_trace_is_on()) {
        const vyre_trace_facts facts = {.kind = "async", VYRE_TRACE_CALL(&call, outputs)};
        atomic_store(&pending->traced, vyre_trace_async_begin(track, &facts));
    }
    vyre_status status;
    VYRE_TRACED(track, status = start_call(pending, owned, &call), .kind = "dispatch",
                VYRE_TRACE_CALL(&call, outputs), .failed = status);
    if (status) {
        pending->run = (vyre_pending_run){0};
    }
    return vyre_device_explain(pending->pipeline->device, plan->program, &plan->config, status);
}

/* A run whose messages the host has to look at is over when it has started. */
static vyre_status start_messages_run(vyre_pending *pending, uint32_t kinds,
                                      const vyre_message_run *run) {
    VYRE_TRY(run_messages(pending->pipeline, kinds, run));
    size_t count = pending->outputs.count;
    pending->given = vyre_alloc_array(count, sizeof *pending->given);
    if (!pending->given) {
        return vyre_no_memory("for a list of %zu outputs", count);
    }
    if (count) {
        memcpy(pending->given, pending->outputs.items, count * sizeof *pending->given);
    }
    pending->run = vyre_ready_run;
    return VYRE_OK;
}

static vyre_status start(vyre_pending *pending, bool owned, const vyre_input *inputs,
                         size_t input_count, const vyre_dispatch_config *config) {
    vyre_plan plan;
    uint32_t kinds = vyre_messages_start(pending->pipeline, config);
    if (kinds) {
        const vyre_message_run run = {VYRE_RUN_BORROWED, inputs, input_count, config,
                                      &pending->outputs, NULL};
        return start_messages_run(pending, kinds, &run);
    }
    VYRE_TRY(vyre_run_begin(pending->pipeline, &plan, inputs, input_count, config));
    vyre_status status = start_planned(pending, owned, &plan, inputs);
    vyre_run_end(pending->pipeline, &plan);
    return status;
}

static vyre_status dispatch_async(vyre_pipeline *pipeline, bool owned, const vyre_input *inputs,
                                  size_t input_count, const vyre_dispatch_config *config,
                                  vyre_pending **out_pending) {
    *out_pending = NULL;
    if (pipeline->is_sized && !vyre_messages_wanted(pipeline, config)) {
        vyre_pipeline *own;
        vyre_dispatch_config rest;
        VYRE_TRY(vyre_run_fit(pipeline, inputs, input_count, config, &rest, &own));
        vyre_status sized = dispatch_async(own, owned, inputs, input_count, &rest, out_pending);
        vyre_pipeline_release(own);
        return sized;
    }
    config = vyre_config_or_default(config);
    size_t label_bytes = config->label ? strlen(config->label) + 1 : 0;
    vyre_pending *pending = vyre_alloc_zeroed(1, sizeof *pending + label_bytes);
    if (!pending) {
        return vyre_no_memory("for a pending run");
    }
    pending->config = *config;
    if (label_bytes) {
        pending->config.label = memcpy(pending->label, config->label, label_bytes);
    }
    pending->pipeline = vyre_pipeline_retain(pipeline);
    vyre_status status = start(pending, owned, inputs, input_count, config);
    if (status) {
        vyre_pending_free(pending);
        return status;
    }
    *out_pending = pending;
    return VYRE_OK;
}

vyre_status vyre_pipeline_dispatch_async(vyre_pipeline *pipeline, const vyre_input *inputs,
                                         size_t input_count, const vyre_dispatch_config *config,
                                         vyre_pending **out_pending) {
    return dispatch_async(pipeline, false, inputs, input_count, config, out_pending);
}

vyre_status vyre_device_dispatch_async(vyre_device *device, const vyre_program *program,
                                       const vyre_input *inputs, size_t input_count,
                                       const vyre_dispatch_config *config,
                                       vyre_pending **out_pending) {
    *out_pending = NULL;
    THROUGH_PIPELINE(
        vyre_pipeline_dispatch_async(pipeline, inputs, input_count, config, out_pending));
}

vyre_status vyre_pipeline_dispatch_owned_async(vyre_pipeline *pipeline, const vyre_output *inputs,
                                               size_t input_count,
                                               const vyre_dispatch_config *config,
                                               vyre_pending **out_pending) {
    vyre_input few[FEW_INPUTS] = {{NULL, 0}}, *list;
    *out_pending = NULL;
    VYRE_TRY(list_inputs(inputs, input_count, few, &list));
    vyre_status status = dispatch_async(pipeline, true, list, input_count, config, out_pending);
    if (list != few) {
        vyre_free(list);
    }
    return status;
}

vyre_status vyre_device_dispatch_owned_async(vyre_device *device, const vyre_program *program,
                                             const vyre_output *inputs, size_t input_count,
                                             const vyre_dispatch_config *config,
                                             vyre_pending **out_pending) {
    *out_pending = NULL;
    THROUGH_PIPELINE(
        vyre_pipeline_dispatch_owned_async(pipeline, inputs, input_count, config, out_pending));
}

/* The run is over, or the caller gives it up. */
static void end_trace(vyre_pending *pending, bool failed) {
    uint64_t id = atomic_exchange(&pending->traced, 0);
    if (id) {
        const vyre_trace_facts facts = {
            .kind = "async", .program = pending->pipeline->program, .failed = failed};
        vyre_trace_async_end(pending->pipeline->device->track, id, &facts);
    }
}

bool vyre_pending_is_ready(vyre_pending *pending) {
    if (vyre_device_is_inherited(pending->pipeline->device)) {
        return true; /* waiting says why there will be no outputs */
    }
    bool ready = atomic_load(&pending->awaited) || pending->run.slots->is_ready(pending->run.state);
    if (ready && vyre_trace_is_on()) {
        end_trace(pending, false);
    }
    return ready;
}

vyre_status vyre_pending_await(vyre_pending *pending, vyre_outputs *out_outputs) {
    *out_outputs = (vyre_outputs){0};
    VYRE_TRY(vyre_device_check_process(pending->pipeline->device));
    if (atomic_exchange(&pending->awaited, true)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "await each pending run once, and keep "
                                "its outputs",
                                "the pending run was already awaited");
    }
    vyre_device *device = pending->pipeline->device;
    vyre_status status;
    VYRE_TRACED(device->track, status = pending->run.slots->wait(pending->run.state),
                .kind = "wait", .program = pending->pipeline->program, .failed = status);
    if (vyre_trace_is_on()) {
        end_trace(pending, status);
    }
    if (!status) {
        status = vyre_outputs_check(pending->given, pending->outputs.items, pending->outputs.count);
    }
    status = vyre_device_explain(device, pending->pipeline->program, &pending->config, status);
    if (!status) {
        *out_outputs = pending->outputs;
        pending->outputs = (vyre_outputs){0};
    }
    return status;
}

void vyre_pending_free(vyre_pending *pending) {
    if (!pending || vyre_device_is_inherited(pending->pipeline->device)) {
        return;
    }
    if (pending->run.slots) {
        pending->run.slots->free(pending->run.state);
    }
    if (vyre_trace_is_on()) {
        end_trace(pending, false);
    }
    vyre_free(pending->given);
    vyre_outputs_free(&pending->outputs);
    vyre_pipeline_release(pending->pipeline);
    vyre_free(pending);
}
